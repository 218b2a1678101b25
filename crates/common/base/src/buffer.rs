//! What the control plane decides about packets that wait in a buffer.

/// What becomes of the packets that wait in a queue, such as a PDR's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferFate {
    /// They run through the program again, in order, before any later packet of the queue.
    Release,
    /// They are dropped as `buffer_discarded`.
    Discard,
}
