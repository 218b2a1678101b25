//! Does a program fit a chip? Chip descriptions, and a placement of a program's tables, conditions and
//! instructions into a switch chip's stages, or into a network processor's tiers of memory.
//!
//! ```text
//! Chip (a file of figures) ─┐
//! Ir ─ sites ─ graph ───────┼─ place ─► Placement { stages, totals, tables, latency }, as text, JSON or SVG
//! Sizes (sessions) ─────────┘        └► Refusal { what ran out, where }
//! ```
//! It is a model: no vendor's compiler is used, and nothing here has run on a chip. What is not modelled is listed at the top of
//! the file that would do it; `docs/chips.md` compares with what is published. Pure: no files, no clock, no randomness.
#![forbid(unsafe_code)]

mod copies;
mod describe;
mod graph;
mod lack;
mod memory;
mod parse;
mod phv;
mod place;
mod profile;
mod resource;
mod sites;
mod sizes;
mod slices;
mod svg;
mod text;
mod tiers;
mod varbit;

pub use describe::{Chip, Containers, Cores, DescriptionError, Form, Switch, Tier};
pub use graph::Kind;
pub use lack::{Fault, Lack, Refusal};
pub use parse::ParserUse;
pub use phv::PhvUse;
pub use place::{Part, Placement, Stage, TableUse, Total, max_sessions, place, place_each};
pub use resource::{Amounts, Resource};
pub use sizes::Sizes;
pub use tiers::{ArrayUse, TierUse, Tiers, place_in_tiers};
