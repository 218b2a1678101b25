//! What is a packet to the buffer? A handle that is moved in and out, and a length.

/// A handle of a packet. The buffer moves it and never looks at the bytes behind it.
pub trait Payload {
    /// Length of the RLC SDU in bytes: segment offsets of a STATUS PDU count in it (TS 38.322 §6.2.3.13, §6.2.3.14).
    fn sdu_bytes(&self) -> usize;
}

/// The bytes stay in the packet's heap buffer; 32 bytes of handle are moved.
impl Payload for base::Packet {
    fn sdu_bytes(&self) -> usize {
        self.len()
    }
}

impl<T: Payload> Payload for Box<T> {
    fn sdu_bytes(&self) -> usize {
        T::sdu_bytes(self)
    }
}
