//! Conformance of targets, for tests: a native target beside the interpreter, a target with every facet for what wraps targets, packets that wait, services in
//! each of their places, and stand-ins for what is around them.
#![forbid(unsafe_code)]

pub mod all_facets;
#[cfg(feature = "twin")]
pub mod chaos;
pub mod places;
pub mod stand_in;
#[cfg(feature = "twin")]
pub mod twin;
pub mod waiting;

pub use all_facets::{AllFacets, ask_all};
pub use places::{Story, check_places};
pub use stand_in::{StandIn, stand_in};
pub use waiting::{Watched, check_shared};
