//! What operators ask of a running UPF, and how it answers: the control socket and its commands, HTTP with the page and metrics, and the reports that
//! all of them show.

pub mod api;
pub mod capture;
pub(crate) mod carried;
pub mod control;
#[cfg(test)]
mod documents;
pub mod logging;
pub mod metrics;
mod page;
mod places;
pub mod reasons;
pub mod report;
pub mod request;
pub mod sessions;
pub mod show;
pub mod socket;
