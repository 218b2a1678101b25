//! Memory shared with a service in a second process: whatever the other side writes there is refused, or is a call or an answer that was asked for; no packet
//! is lost, none comes out twice, and what is before the payload stays as it was.
//!
//! The first two bytes say how many of the others lie in the ring of requests; the rest lies in that of answers.

use service::{Access, Interface};

static INTERFACE: Interface = Interface {
    name: "fuzz",
    request: &[service::Field { name: "access", width: 8 }],
    answer: &[service::Field { name: "answer", width: 8 }],
    key: None,
    reasons: &[],
    access: |fields| match fields[0] {
        0 => Access::None,
        1 => Access::Read,
        _ => Access::Write,
    },
    sends_own: false,
    check_setting: |_, _| Ok(()),
};

/// Lets both sides read what is in `data`.
pub fn run(data: &[u8]) {
    let Some((len, rest)) = data.split_first_chunk::<2>() else { return };
    let (requests, answers) = rest.split_at(rest.len().min(usize::from(u16::from_le_bytes(*len))));
    service::process::read_hostile(&INTERFACE, requests, answers);
}
