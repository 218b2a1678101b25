//! Memory for what packets meet at random: on huge pages where it is large. In pages of 4 KiB each packet would pay for a page walk, under a hypervisor several
//! cache misses.
#![warn(missing_docs)]

mod array;
mod prefetch;
mod region;

pub use array::{Array, Zero};
pub use prefetch::{prefetch, prefetch_line};
pub use region::{HUGE_PAGE, NoMemory, Region};
