//! A rule as text: which packets, and what to do with them.
//!
//! ```text
//! encap ue=10.45.0.2 [remote=192.0.2.9] teid=0x1234 gnb=10.0.0.1 [qfi=9] [via=HOP]
//! decap teid=0x77 ue=10.45.0.2 [remote=192.0.2.9] [via=HOP]
//! ```
//!
//! Keys come in any order. `remote` narrows a rule to one host of the data network, and wins over the rule without it. Numbers are decimal,
//! or hexadecimal after `0x`. In a file, empty lines and text after `#` are ignored.

use std::fmt;
use std::net::Ipv4Addr;

/// Longest line, in bytes. All keys with their longest values need less than 200.
pub const MAX_LINE: usize = 512;
/// Longest name of a hop, in bytes.
pub(crate) const MAX_NAME: usize = 32;

/// What an operator asks for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// Downlink.
    Encap(Encap),
    /// Uplink.
    Decap(Decap),
}

/// IP packets to a UE go into a tunnel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Encap {
    /// Destination.
    pub ue: Ipv4Addr,
    /// Source; none: any.
    pub remote: Option<Ipv4Addr>,
    /// The tunnel's TEID at the base station.
    pub teid: u32,
    /// The base station.
    pub gnb: Ipv4Addr,
    /// QFI of the PDU session container, 0 to 63; none: no container.
    pub qfi: Option<u8>,
    /// Name of the hop to leave by; none: the one whose network the base station is in.
    pub via: Option<String>,
}

/// A UE's packets leave their tunnel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Decap {
    /// The tunnel's TEID at the UPF.
    pub teid: u32,
    /// Source of the user's packet. What comes by the tunnel with another one is the foreign UPF's business.
    pub ue: Ipv4Addr,
    /// Its destination; none: any.
    pub remote: Option<Ipv4Addr>,
    /// Name of the hop to leave by; none: the one whose network `remote` is in, without which the default one.
    pub via: Option<String>,
}

/// What makes a rule the rule it is: two of one match cannot be there together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Match {
    /// Of an [`Encap`].
    Encap {
        /// Destination.
        ue: Ipv4Addr,
        /// Source.
        remote: Option<Ipv4Addr>,
    },
    /// Of a [`Decap`].
    Decap {
        /// TEID at the UPF.
        teid: u32,
        /// Source of the user's packet.
        ue: Ipv4Addr,
        /// Its destination.
        remote: Option<Ipv4Addr>,
    },
}

/// Which rule is meant: by its match, or by the number that it got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// `encap ue=.. [remote=..]` or `decap teid=.. ue=.. [remote=..]`.
    Match(Match),
    /// `id=..`.
    Id(u64),
}

/// What is wrong with a line. Values of the line are shown cut and escaped.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RuleError {
    /// More than [`MAX_LINE`] bytes.
    #[error("{0} bytes are more than the {MAX_LINE} of the longest rule")]
    TooLong(usize),
    /// The first word.
    #[error("{0} is neither encap nor decap")]
    Kind(String),
    /// A word that is no `key=value`.
    #[error("{0} is not of the form key=value")]
    Form(String),
    /// A key that this kind of rule does not have.
    #[error("{kind} has no key {key}; it has {has}")]
    Key {
        /// `encap` or `decap`.
        kind: &'static str,
        /// What was there.
        key: String,
        /// What may be.
        has: &'static str,
    },
    /// A key twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// A key that must be there.
    #[error("{kind} needs {key}")]
    Missing {
        /// `encap` or `decap`.
        kind: &'static str,
        /// The key.
        key: &'static str,
    },
    /// A value that its key cannot have.
    #[error("{key}={value}: {wants}")]
    Value {
        /// The key.
        key: &'static str,
        /// What was there.
        value: String,
        /// What may be.
        wants: &'static str,
    },
}

/// The rules of a file with their lines, from 1; or the first line that is none, and why.
pub fn rules_of(text: &str) -> impl Iterator<Item = (usize, Result<Rule, RuleError>)> + '_ {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.split_once('#').map_or(line, |(rule, _)| rule).trim()));
    lines.filter(|(_, line)| !line.is_empty()).map(|(number, line)| (number, line.parse()))
}

impl std::str::FromStr for Rule {
    type Err = RuleError;

    fn from_str(line: &str) -> Result<Rule, RuleError> {
        if line.len() > MAX_LINE {
            return Err(RuleError::TooLong(line.len()));
        }
        let mut words = line.split_ascii_whitespace();
        match words.next().unwrap_or_default() {
            "encap" => {
                let keys = Keys::read("encap", &["ue", "remote", "teid", "gnb", "qfi", "via"], "ue remote teid gnb qfi via", words)?;
                Ok(Rule::Encap(Encap {
                    ue: keys.needed("ue", host)?,
                    remote: keys.optional("remote", host)?,
                    teid: keys.needed("teid", teid)?,
                    gnb: keys.needed("gnb", host)?,
                    qfi: keys.optional("qfi", qfi)?,
                    via: keys.optional("via", name)?,
                }))
            }
            "decap" => {
                let keys = Keys::read("decap", &["teid", "ue", "remote", "via"], "teid ue remote via", words)?;
                Ok(Rule::Decap(Decap {
                    teid: keys.needed("teid", teid)?,
                    ue: keys.needed("ue", host)?,
                    remote: keys.optional("remote", host)?,
                    via: keys.optional("via", name)?,
                }))
            }
            other => Err(RuleError::Kind(shown(other))),
        }
    }
}

impl std::str::FromStr for Selector {
    type Err = RuleError;

    fn from_str(line: &str) -> Result<Selector, RuleError> {
        if line.len() > MAX_LINE {
            return Err(RuleError::TooLong(line.len()));
        }
        let mut words = line.split_ascii_whitespace();
        match words.next().unwrap_or_default() {
            "encap" => {
                let keys = Keys::read("encap", &["ue", "remote"], "ue remote to tell which", words)?;
                Ok(Selector::Match(Match::Encap { ue: keys.needed("ue", host)?, remote: keys.optional("remote", host)? }))
            }
            "decap" => {
                let keys = Keys::read("decap", &["teid", "ue", "remote"], "teid ue remote to tell which", words)?;
                let (teid, ue) = (keys.needed("teid", teid)?, keys.needed("ue", host)?);
                Ok(Selector::Match(Match::Decap { teid, ue, remote: keys.optional("remote", host)? }))
            }
            first => {
                let keys = Keys::read("a rule", &["id"], "id", std::iter::once(first).chain(words))?;
                Ok(Selector::Id(keys.needed("id", |text| text.parse().map_err(|_| "a number that `rules list` shows"))?))
            }
        }
    }
}

/// The words of a line, each `key=value` at most once.
struct Keys<'a> {
    kind: &'static str,
    values: Vec<(&'static str, &'a str)>,
}

impl<'a> Keys<'a> {
    fn read(
        kind: &'static str,
        known: &[&'static str],
        has: &'static str,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<Keys<'a>, RuleError> {
        let mut keys = Keys { kind, values: Vec::new() };
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| RuleError::Form(shown(word)))?;
            let Some(key) = known.iter().find(|k| **k == key) else {
                return Err(RuleError::Key { kind, key: shown(key), has });
            };
            if keys.value(key).is_some() {
                return Err(RuleError::Twice(key));
            }
            keys.values.push((key, value));
        }
        Ok(keys)
    }

    fn value(&self, key: &str) -> Option<&'a str> {
        self.values.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    fn optional<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, &'static str>) -> Result<Option<T>, RuleError> {
        let Some(value) = self.value(key) else { return Ok(None) };
        read(value).map(Some).map_err(|wants| RuleError::Value { key, value: shown(value), wants })
    }

    fn needed<T>(&self, key: &'static str, read: impl Fn(&str) -> Result<T, &'static str>) -> Result<T, RuleError> {
        self.optional(key, read)?.ok_or(RuleError::Missing { kind: self.kind, key })
    }
}

fn host(text: &str) -> Result<Ipv4Addr, &'static str> {
    const WANTS: &str = "an IPv4 address of one host, such as 10.45.0.2";
    let address: Ipv4Addr = text.parse().map_err(|_| WANTS)?;
    if address.octets()[0] == 0 || address.is_multicast() || address.is_broadcast() || address.is_loopback() {
        return Err(WANTS);
    }
    Ok(address)
}

fn teid(text: &str) -> Result<u32, &'static str> {
    // TEID 0 is for path messages only (TS 29.281 §5.1).
    const WANTS: &str = "a TEID, 1 to 0xffffffff";
    let value = match text.strip_prefix("0x") {
        // `from_str_radix` alone would take a sign.
        Some(digits) if digits.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(digits, 16).map_err(|_| WANTS)?,
        None if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().map_err(|_| WANTS)?,
        _ => return Err(WANTS),
    };
    if value == 0 { Err(WANTS) } else { Ok(value) }
}

fn qfi(text: &str) -> Result<u8, &'static str> {
    // TS 38.415 §5.5.3.3: six bits.
    const WANTS: &str = "a QoS flow identifier, 0 to 63";
    text.parse().ok().filter(|qfi| *qfi <= 63 && text.bytes().all(|b| b.is_ascii_digit())).ok_or(WANTS)
}

/// Names of hops.
pub(crate) fn name(text: &str) -> Result<String, &'static str> {
    let good = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(good) {
        return Ok(text.to_owned());
    }
    Err("a name: letters, digits, `-`, `_` and `.`, 32 at most")
}

/// User input, cut and escaped for a message.
fn shown(text: &str) -> String {
    let cut: String = text.chars().take(40).collect();
    let more = if cut.len() < text.len() { ".." } else { "" };
    format!("`{}{more}`", cut.escape_debug())
}

impl Rule {
    /// What makes it the rule it is.
    pub fn matches(&self) -> Match {
        match self {
            Rule::Encap(e) => Match::Encap { ue: e.ue, remote: e.remote },
            Rule::Decap(d) => Match::Decap { teid: d.teid, ue: d.ue, remote: d.remote },
        }
    }
}

/// As [`Rule`] reads it.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let via = match self {
            Rule::Encap(e) => {
                write!(f, "{} teid={:#x} gnb={}", self.matches(), e.teid, e.gnb)?;
                if let Some(qfi) = e.qfi {
                    write!(f, " qfi={qfi}")?;
                }
                &e.via
            }
            Rule::Decap(d) => {
                write!(f, "{}", self.matches())?;
                &d.via
            }
        };
        via.as_ref().map_or(Ok(()), |via| write!(f, " via={via}"))
    }
}

/// As [`Selector`] reads it.
impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remote = match self {
            Match::Encap { ue, remote } => {
                write!(f, "encap ue={ue}")?;
                remote
            }
            Match::Decap { teid, ue, remote } => {
                write!(f, "decap teid={teid:#x} ue={ue}")?;
                remote
            }
        };
        remote.map_or(Ok(()), |remote| write!(f, " remote={remote}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn error(line: &str) -> String {
        line.parse::<Rule>().expect_err(line).to_string()
    }

    #[test]
    fn rules_are_read_in_any_order_of_keys() {
        let rule: Rule = "encap gnb=10.0.0.1 qfi=9 teid=0x1234 ue=10.45.0.2".parse().unwrap();
        let plain =
            Encap { ue: Ipv4Addr::new(10, 45, 0, 2), remote: None, teid: 0x1234, gnb: Ipv4Addr::new(10, 0, 0, 1), qfi: Some(9), via: None };
        assert_eq!(rule, Rule::Encap(plain));
        assert_eq!(rule.to_string(), "encap ue=10.45.0.2 teid=0x1234 gnb=10.0.0.1 qfi=9");
        let rule: Rule = "decap  ue=10.45.0.2\tteid=119 remote=192.0.2.9 via=n6-1".parse().unwrap();
        assert_eq!(rule.to_string(), "decap teid=0x77 ue=10.45.0.2 remote=192.0.2.9 via=n6-1");
    }

    #[test]
    fn faults_are_named() {
        for (line, message) in [
            ("", "`` is neither encap nor decap"),
            ("drop ue=10.45.0.2", "`drop` is neither encap nor decap"),
            ("encap ue", "`ue` is not of the form key=value"),
            ("encap eu=1", "encap has no key `eu`; it has ue remote teid gnb qfi via"),
            ("decap gnb=10.0.0.1", "decap has no key `gnb`"),
            ("encap ue=10.45.0.2 ue=10.45.0.3", "ue is given twice"),
            ("encap teid=1 gnb=10.0.0.1", "encap needs ue"),
            ("encap ue=10.45.0.2 gnb=10.0.0.1", "encap needs teid"),
            ("encap ue=10.45.0.2 teid=1", "encap needs gnb"),
            ("decap ue=10.45.0.2", "decap needs teid"),
            ("decap teid=1", "decap needs ue"),
            ("decap teid=0 ue=10.45.0.2", "teid=`0`: a TEID, 1 to 0xffffffff"),
            ("decap teid=0x100000000 ue=10.45.0.2", "teid=`0x100000000`: a TEID"),
            ("decap teid=+1 ue=10.45.0.2", "teid=`+1`: a TEID"),
            ("decap teid=0x+1 ue=10.45.0.2", "teid=`0x+1`: a TEID"),
            ("decap teid=1 ue=10.45.0", "ue=`10.45.0`: an IPv4 address"),
            ("decap teid=1 ue=224.0.0.1", "ue=`224.0.0.1`: an IPv4 address of one host"),
            ("decap teid=1 ue=0.0.0.0", "an IPv4 address of one host"),
            ("encap ue=10.45.0.2 teid=1 gnb=10.0.0.1 qfi=64", "qfi=`64`: a QoS flow identifier, 0 to 63"),
            ("decap teid=1 ue=10.45.0.2 via=a/b", "via=`a/b`: a name"),
            ("decap teid=1 ue=10.45.0.2 via=", "via=``: a name"),
        ] {
            assert!(error(line).contains(message), "{line}: {}", error(line));
        }
        assert_eq!(error(&"x".repeat(513)), "513 bytes are more than the 512 of the longest rule");
        // What was written is cut and escaped.
        let long = error(&format!("encap ue=\u{1b}[2J{}", "9".repeat(200)));
        assert!(long.len() < 160 && !long.contains('\u{1b}') && long.contains("..`"), "{long}");
    }

    #[test]
    fn a_rule_is_chosen_by_its_match_or_number() {
        assert_eq!("id=7".parse(), Ok(Selector::Id(7)));
        let ue = Ipv4Addr::new(10, 45, 0, 2);
        assert_eq!("encap ue=10.45.0.2".parse(), Ok(Selector::Match(Match::Encap { ue, remote: None })));
        let error = "encap ue=10.45.0.2 teid=1".parse::<Selector>().unwrap_err();
        assert_eq!(error.to_string(), "encap has no key `teid`; it has ue remote to tell which");
        assert!("7".parse::<Selector>().is_err() && "".parse::<Selector>().is_err());
    }

    #[test]
    fn files_have_comments_and_lines() {
        let text = "# users\n\nencap ue=10.45.0.2 teid=1 gnb=10.0.0.1 # one\r\n  decap teid=2 ue=10.45.0.2\nwhat\n";
        let lines: Vec<_> = rules_of(text).map(|(line, rule)| (line, rule.is_ok())).collect();
        assert_eq!(lines, [(3, true), (4, true), (5, false)]);
    }

    fn host_address() -> impl Strategy<Value = Ipv4Addr> {
        (1u8..224, any::<[u8; 3]>()).prop_filter_map("loopback", |(a, [b, c, d])| (a != 127).then(|| Ipv4Addr::new(a, b, c, d)))
    }

    fn any_rule() -> impl Strategy<Value = Rule> {
        let remote = || proptest::option::of(host_address());
        let via = || proptest::option::of("[a-z0-9_.-]{1,32}");
        let encap = (host_address(), remote(), 1u32.., host_address(), proptest::option::of(0u8..64), via());
        let decap = (1u32.., host_address(), remote(), via());
        prop_oneof![
            encap.prop_map(|(ue, remote, teid, gnb, qfi, via)| Rule::Encap(Encap { ue, remote, teid, gnb, qfi, via })),
            decap.prop_map(|(teid, ue, remote, via)| Rule::Decap(Decap { teid, ue, remote, via })),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(rule in any_rule()) {
            let text = rule.to_string();
            prop_assert!(text.len() <= MAX_LINE);
            prop_assert_eq!(text.parse::<Rule>(), Ok(rule.clone()));
            prop_assert_eq!(rule.matches().to_string().parse(), Ok(Selector::Match(rule.matches())));
        }
    }
}
