//! From C text to an object: the system's compiler as a child process, run so that nobody else has a say in what comes out, and its
//! objects kept from one start to the next.
//!
//! What is compiled is loaded into a process with privileges. So
//! - the compiler works in a folder of mode 0700 ([`work`]), whatever the umask, with an environment of its own; it ends with us, and a
//!   folder that a killed process left is cleared away by the next;
//! - where a process has more privileges than its caller, the caller's environment says nothing ([`environment`]);
//! - an object is kept ([`Cache`]) only where no other user can have written, and one that comes with the program ([`Shipped`]) is used only then.
//!
//! `unsafe` is for one call between `fork` and `exec`, and for one word of the auxiliary vector.
#![warn(missing_docs)]

mod cache;
pub mod environment;
mod run;
mod shipped;
mod work;

pub use cache::{Cache, CacheError};
pub use run::{Error, Job, compile, find, kept};
pub use shipped::Shipped;
pub use work::clear_away;
