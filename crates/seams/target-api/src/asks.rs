//! Calls of services that a lane makes while its burst runs: its packets stay as they are, parsed, and go on with the answers.

use program::TableId;
use service::Question;

/// Who answers.
pub trait Asks {
    /// The questions of one look-up, in the order of their packets: each has its place in the burst as [`Question::packet`], and its program goes on if it is
    /// answered. Of any other, one that was declined too, it stops at the call. `in_order`: whether the service is asked in the order of the packets, wherever the
    /// program calls it; else those of an earlier packet may come later.
    fn ask(&mut self, table: TableId, questions: &mut [Question<'_>], in_order: bool);
}
