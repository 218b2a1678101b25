//! What an interface can do for XDP, as the kernel says: family `netdev` of generic netlink (Documentation/netlink/specs/netdev.yaml,
//! Linux 6.3). Two questions of a few bytes each; crates for generic netlink bring an async runtime or macros along.

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, netlink, recv, send, socket};

/// `NETDEV_XDP_ACT_NDO_XMIT`: sends what programs of other interfaces redirect to it.
pub(crate) const SENDS_REDIRECTED: u64 = 1 << 2;

const REQUEST: u16 = 1;
const ERROR: u16 = 2;
const CONTROLLER: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const GET_DEVICE: u8 = 1;
const DEVICE_IFINDEX: u16 = 1;
const DEVICE_FEATURES: u16 = 3;
/// `struct nlmsghdr` and `struct genlmsghdr`.
const HEADERS: usize = 16 + 4;

/// The interface's XDP features, as a set of bits; `None` if the kernel does not say.
pub(crate) fn of(ifindex: u32) -> Option<u64> {
    let answer = ask(CONTROLLER, GET_FAMILY, FAMILY_NAME, b"netdev\0")?;
    let family = u16::from_ne_bytes(attribute(&answer, FAMILY_ID)?.try_into().ok()?);
    let answer = ask(family, GET_DEVICE, DEVICE_IFINDEX, &ifindex.to_ne_bytes())?;
    Some(u64::from_ne_bytes(attribute(&answer, DEVICE_FEATURES)?.try_into().ok()?))
}

/// One question with one attribute. The answer's attributes.
fn ask(family: u16, command: u8, name: u16, value: &[u8]) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    let attribute_len = 4 + value.len();
    message.extend(((HEADERS + attribute_len.next_multiple_of(4)) as u32).to_ne_bytes());
    message.extend(family.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    // Sequence number and sender: one question a socket.
    message.extend([0; 8]);
    message.extend([command, 1, 0, 0]);
    message.extend((attribute_len as u16).to_ne_bytes());
    message.extend(name.to_ne_bytes());
    message.extend(value);
    message.resize(message.len().next_multiple_of(4), 0);
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, Some(netlink::GENERIC)).ok()?;
    send(&socket, &message, SendFlags::empty()).ok()?;
    let mut answer = vec![0; 8192];
    let (_, n) = recv(&socket, answer.as_mut_slice(), RecvFlags::empty()).ok()?;
    answer.truncate(n);
    let len = u32::from_ne_bytes(answer.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    (kind != ERROR).then_some(())?;
    answer.get(HEADERS..len).map(<[u8]>::to_vec)
}

/// The attribute of that name.
fn attribute(mut attributes: &[u8], name: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16::from_ne_bytes(attributes.get(..2)?.try_into().ok()?));
        let found = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        let value = attributes.get(4..len)?;
        if found == name {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_by_name_and_broken_ones_end_the_search() {
        let bytes = [5, 0, 1, 0, 7, 0, 0, 0, 8, 0, 3, 0, 1, 2, 3, 4];
        assert_eq!(attribute(&bytes, 1), Some(&[7][..]));
        assert_eq!(attribute(&bytes, 3), Some(&[1, 2, 3, 4][..]));
        assert_eq!(attribute(&bytes, 4), None);
        for n in 0..bytes.len() {
            assert_eq!(attribute(&bytes[..n], 3), None);
        }
        assert_eq!(attribute(&[0, 0, 0, 0], 1), None);
        assert_eq!(attribute(&[255, 255, 1, 0], 1), None);
    }

    /// No interface has this number.
    #[test]
    fn an_interface_that_is_not_there_has_no_features() {
        assert_eq!(of(0x7fff_ffff), None);
    }
}
