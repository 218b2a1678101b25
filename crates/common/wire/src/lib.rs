//! Headers as bytes and as meaning.
//!
//! Each file has two views of a header. The *view* (`Frame`, `Packet`, `Datagram`, ...) borrows bytes: `new_checked`
//! makes sure once that every getter stays inside them and that lengths and checksums hold; getters then cannot fail.
//! The `Repr` is the small set of values that we accept: `parse` makes it of a view, `emit` appends its bytes to
//! a buffer. Nothing here panics on bytes, whatever they are; where `emit` can be asked the impossible (a payload too long
//! for its length field) the length is cut to the field's maximum, which `# Limits` paragraphs say.
#![forbid(unsafe_code)]

pub mod arp;
pub mod checksum;
pub mod ethernet;
pub mod gtpu;
pub mod icmp;
pub mod ipv4;
pub mod ipv6;
pub mod ndp;
pub mod udp;
pub mod user;
pub mod vxlan;

/// Why bytes are not what they should be. The text names header and field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes end before the header or its declared length does.
    #[error("{0}: truncated")]
    Truncated(&'static str),
    /// A field has a value that the specification forbids or that we do not take.
    #[error("{0}: malformed")]
    Malformed(&'static str),
    /// Something that must be understood is not (GTP-U's extension headers, TS 29.281 §5.2.1).
    #[error("{0}: not supported")]
    Unsupported(&'static str),
    /// The checksum is wrong.
    #[error("{0}: wrong checksum")]
    Checksum(&'static str),
}

/// What reading bytes gives.
pub type Result<T> = std::result::Result<T, Error>;

/// The `N` bytes at `at`. Views call it only for ranges that `new_checked` has seen.
fn bytes<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&data[at..at + N]);
    out
}

fn u16_at(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes(bytes(data, at))
}

fn u32_at(data: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes(data, at))
}

/// `length` as a 16-bit field, cut to its maximum.
fn length_field(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes()
}
