//! Calls of services that a lane makes while its burst runs: its packets stay as they are, parsed, and go on with the answers.

use program::TableId;
use service::{Order, Question};

/// Who answers.
pub trait Asks {
    /// The questions of one look-up, in the order of their packets: each has its place in the burst as [`Question::packet`], and its program goes on if it is
    /// answered. Of any other, one that was declined too, it stops at the call. `order`: that in which the service is asked, wherever the program calls it.
    fn ask(&mut self, table: TableId, questions: &mut [Question<'_>], order: Order);
}
