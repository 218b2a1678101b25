//! Reads flow descriptions: IPFilterRules (RFC 6733 §4.3.1) as TS 29.212 §5.4.2 restricts them.
//!
//! `permit out PROTO from ADDRESS [PORTS] to ADDRESS [PORTS]`, where PROTO is `ip` or a number, ADDRESS is `any`,
//! `assigned`, or an address with or without a prefix length, and PORTS is a list of ports and ranges. `permit in` is the
//! same flow written from the UE's side: it is reversed. Whichever end is `assigned` is the UE, whatever the direction says. Options, `deny` and `!`
//! are refused, as TS 29.212 says.

use std::net::IpAddr;

use crate::pool::{ipv4_prefix, ipv6_prefix};
use crate::rules::{AddressMatch, FlowDescription};

/// Ports or ranges in one list at most: more cannot come from a policy, and would cost the data plane as many entries.
const MAX_PORTS: usize = 64;

/// Why a text is no flow description that we can obey.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("flow description: {0}")]
pub struct FlowError(String);

/// Parses a flow description.
pub fn parse(text: &str) -> Result<FlowDescription, FlowError> {
    crate::work::steps(text.len());
    let mut words = text.split_ascii_whitespace().peekable();
    let mut next = |what: &str| words.next().ok_or_else(|| FlowError(format!("ends before {what}")));

    expect("permit", next("permit")?)?;
    let inward = match next("the direction")? {
        word if word.eq_ignore_ascii_case("out") => false,
        word if word.eq_ignore_ascii_case("in") => true,
        word => return Err(wrong("direction", word)),
    };
    let protocol = protocol(next("the protocol")?)?;
    expect("from", next("from")?)?;
    let from = address(next("the address after from")?)?;
    let mut from_ports = Vec::new();
    let mut word = next("to")?;
    if !word.eq_ignore_ascii_case("to") {
        from_ports = ports(word)?;
        word = next("to")?;
    }
    expect("to", word)?;
    let to = address(next("the address after to")?)?;
    let to_ports = match words.next() {
        Some(word) => ports(word)?,
        None => Vec::new(),
    };
    if let Some(word) = words.next() {
        return Err(wrong("option", word));
    }
    if let (AddressMatch::Prefix(a, _), AddressMatch::Prefix(b, _)) = (from, to)
        && a.is_ipv4() != b.is_ipv4()
    {
        return Err(FlowError("one address is IPv4, the other IPv6".into()));
    }
    if (from, to) == (AddressMatch::Assigned, AddressMatch::Assigned) {
        return Err(FlowError("both ends are assigned, which is the UE".into()));
    }
    // From the UE: by direction, unless the UE is named at one end.
    let reversed = if inward { to != AddressMatch::Assigned } else { from == AddressMatch::Assigned };
    Ok(if reversed {
        FlowDescription { protocol, remote: to, remote_ports: to_ports, local: from, local_ports: from_ports }
    } else {
        FlowDescription { protocol, remote: from, remote_ports: from_ports, local: to, local_ports: to_ports }
    })
}

fn expect(wanted: &'static str, word: &str) -> Result<(), FlowError> {
    if word.eq_ignore_ascii_case(wanted) { Ok(()) } else { Err(FlowError(format!("{} where {wanted} should be", shown(word)))) }
}

fn protocol(word: &str) -> Result<Option<u8>, FlowError> {
    if word.eq_ignore_ascii_case("ip") {
        return Ok(None);
    }
    // Names are not in the standard's grammar, but some policies have these.
    let named = [("icmp", 1), ("tcp", 6), ("udp", 17), ("icmp6", 58), ("icmpv6", 58), ("sctp", 132)];
    match named.iter().find(|(name, _)| word.eq_ignore_ascii_case(name)) {
        Some((_, number)) => Ok(Some(*number)),
        None => word.parse().map(Some).map_err(|_| wrong("protocol", word)),
    }
}

fn address(word: &str) -> Result<AddressMatch, FlowError> {
    if word.eq_ignore_ascii_case("any") {
        return Ok(AddressMatch::Any);
    }
    if word.eq_ignore_ascii_case("assigned") {
        return Ok(AddressMatch::Assigned);
    }
    let (address, length) = match word.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (word, None),
    };
    let address: IpAddr = address.parse().map_err(|_| wrong("address", word))?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        None => most,
        Some(length) => length.parse().ok().filter(|length| *length <= most).ok_or_else(|| wrong("prefix length", word))?,
    };
    Ok(match address {
        // A prefix of no bits is any address of that family; both families match `any`.
        IpAddr::V4(address) => AddressMatch::Prefix(ipv4_prefix(address, length).into(), length),
        IpAddr::V6(address) => AddressMatch::Prefix(ipv6_prefix(address, length).into(), length),
    })
}

fn ports(word: &str) -> Result<Vec<(u16, u16)>, FlowError> {
    let range = |part: &str| {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high) = (low.parse::<u16>().ok()?, high.parse::<u16>().ok()?);
        (low <= high).then_some((low, high))
    };
    let mut ports = Vec::new();
    for part in word.split(',') {
        if ports.len() == MAX_PORTS {
            return Err(FlowError(format!("more than {MAX_PORTS} ports")));
        }
        ports.push(range(part).ok_or_else(|| wrong("port", word))?);
    }
    // All ports are no restriction, but for the protocol's need to have ports.
    Ok(ports)
}

fn wrong(what: &str, word: &str) -> FlowError {
    FlowError(format!("{what} {}", shown(word)))
}

/// A word for the log: escaped, and not longer than a line bears.
fn shown(word: &str) -> String {
    let cut: String = word.chars().take(40).collect();
    format!("{cut:?}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prefix(text: &str, length: u8) -> AddressMatch {
        AddressMatch::Prefix(text.parse().unwrap(), length)
    }

    #[test]
    fn the_default_flow() {
        let flow = parse("permit out ip from any to assigned").unwrap();
        let wanted = FlowDescription {
            protocol: None,
            remote: AddressMatch::Any,
            remote_ports: vec![],
            local: AddressMatch::Assigned,
            local_ports: vec![],
        };
        assert_eq!(flow, wanted);
    }

    #[test]
    fn ports_prefixes_and_protocols() {
        let flow = parse("permit out 17 from 192.0.2.77/24 53,5000-5010 to 10.45.0.2 1-65535").unwrap();
        assert_eq!(flow.protocol, Some(17));
        assert_eq!(flow.remote, prefix("192.0.2.0", 24));
        assert_eq!(flow.remote_ports, [(53, 53), (5000, 5010)]);
        assert_eq!(flow.local, prefix("10.45.0.2", 32));
        assert_eq!(flow.local_ports, [(1, 65535)]);
        let flow = parse("permit out 6 from 2001:db8::1/32 80 to assigned").unwrap();
        assert_eq!(flow.remote, prefix("2001:db8::", 32));
    }

    #[test]
    fn inward_is_outward_turned_round() {
        let inward = parse("permit in udp from assigned 1000 to 192.0.2.1 53").unwrap();
        assert_eq!(inward, parse("permit out 17 from 192.0.2.1 53 to assigned 1000").unwrap());
    }

    /// SMFs write flows of the UE as it sends them: they are meant, and would match nothing otherwise.
    #[test]
    fn the_end_that_is_assigned_is_the_ue_whatever_the_direction() {
        for (written, meant) in [
            ("permit out ip from assigned to any", "permit out ip from any to assigned"),
            ("permit in ip from any to assigned", "permit out ip from any to assigned"),
            ("permit out 17 from assigned 1000 to 192.0.2.1 53", "permit out 17 from 192.0.2.1 53 to assigned 1000"),
            ("permit in 17 from 192.0.2.1 53 to assigned 1000", "permit out 17 from 192.0.2.1 53 to assigned 1000"),
            ("permit in 17 from 10.45.0.2 1000 to any 53", "permit out 17 from any 53 to 10.45.0.2 1000"),
        ] {
            assert_eq!(parse(written), parse(meant), "{written}");
        }
        assert!(parse("permit out ip from assigned to assigned").unwrap_err().to_string().contains("both ends are assigned"));
    }

    #[test]
    fn what_is_refused() {
        for text in [
            "",
            "permit",
            "deny out ip from any to any",
            "permit sideways ip from any to any",
            "permit out 256 from any to any",
            "permit out ip from !10.0.0.1 to any",
            "permit out ip from 10.0.0.1/33 to any",
            "permit out ip from 10.0.0.0/ to any",
            "permit out ip from any 80- to any",
            "permit out ip from any 90-80 to any",
            "permit out ip from any 1,,2 to any",
            "permit out ip from any to any 70000",
            "permit out ip from any to any 1 frag",
            "permit out ip from 10.0.0.1 to 2001:db8::1",
            "permit out ip any to any",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
        let many = vec!["1"; MAX_PORTS + 1].join(",");
        assert!(parse(&format!("permit out ip from any {many} to any")).is_err());
    }

    #[test]
    fn an_error_is_short_and_escaped() {
        let error = parse(&format!("permit {}\u{1b}[31m", "x".repeat(60_000))).unwrap_err().to_string();
        assert!(error.len() < 100, "{error}");
        assert!(!parse("permit \u{1b}[31m").unwrap_err().to_string().contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn any_text_is_safe(text in "\\PC{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn words_in_any_order_are_safe(
            words in prop::collection::vec(
                prop::sample::select(vec!["permit", "out", "in", "ip", "17", "from", "to", "any", "assigned", "10.0.0.0/8", "::/0", "1-2,3", "!"]),
                0..12,
            )
        ) {
            let _ = parse(&words.join(" "));
        }
    }
}
