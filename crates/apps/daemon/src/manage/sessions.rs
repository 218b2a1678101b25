//! What is told of sessions: which ones are asked for, page by page, and one of them whole.

use crate::manage::report::Count;
use pfcp::rules::SessionRules;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use utoipa::{IntoParams, ToSchema};

/// Sessions of a page, if nothing else is asked for.
pub const PAGE: u32 = 100;
/// Most sessions of a page: a reply stays below a megabyte.
pub const MOST: u32 = 1000;
/// Most sessions that are looked at for a page: some tenths of a second or so. A page may have fewer sessions than were asked for, none even, and still a next one.
pub const MOST_LOOKED_AT: u64 = 1 << 14;
/// Longest DNN that is asked for (RFC 1035: a name has 255 octets).
const MAX_DNN: usize = 255;

/// A SEID as text: a JSON number is exact up to 2^53 only. Written as `0x1f`, read in hexadecimal and in decimal.
pub mod seid_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// As `0x1f`.
    pub fn text(seid: u64) -> String {
        format!("{seid:#x}")
    }

    /// From `0x1f` or `31`; why it is none.
    pub fn parse(text: &str) -> Result<u64, String> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let parsed = digits.map_or_else(|| text.parse(), |digits| u64::from_str_radix(digits, 16));
        let wrong = |_| "expected a SEID in hexadecimal or decimal, such as \"0x1f\"".to_owned();
        // The standard library takes a sign.
        parsed.map_err(wrong).and_then(|seid| if text.contains('+') { Err("expected a SEID without sign".into()) } else { Ok(seid) })
    }

    pub(crate) fn serialize<S: Serializer>(seid: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&text(*seid))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        parse(&String::deserialize(from)?).map_err(D::Error::custom)
    }

    /// The same where there may be none.
    pub mod option {
        use super::{parse, text};
        use serde::{Deserialize, Deserializer, Serializer, de::Error};

        pub(crate) fn serialize<S: Serializer>(seid: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
            match seid {
                Some(seid) => to.serialize_some(&text(*seid)),
                None => to.serialize_none(),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
            Option::<String>::deserialize(from)?.map(|text| parse(&text).map_err(D::Error::custom)).transpose()
        }
    }
}

/// Which sessions. All conditions must hold; none: every session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub struct SessionQuery {
    /// A UE address: an IPv4 address, or an IPv6 address in the UE's prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub ue: Option<IpAddr>,
    /// A TEID of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teid: Option<u32>,
    /// DNN, or network instance of a PDR, without regard to case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dnn: Option<String>,
    /// Slice: `1` (any of this type) or `1-010203`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slice: Option<String>,
    /// Name of the target that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Only sessions with a larger SEID: the `next` of the page before.
    #[serde(with = "seid_text::option", skip_serializing_if = "Option::is_none")]
    #[param(value_type = Option<String>)]
    pub after: Option<u64>,
    /// Sessions of the page, 1 to [`MOST`]; default [`PAGE`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

impl SessionQuery {
    /// Checks ranges.
    ///
    /// # Errors
    /// The value at fault and what was expected.
    pub fn validate(&self) -> Result<(), String> {
        if self.limit.is_some_and(|limit| !(1..=MOST).contains(&limit)) {
            return Err(format!("limit: expected 1 to {MOST}"));
        }
        if self.dnn.as_ref().is_some_and(|dnn| dnn.is_empty() || dnn.len() > MAX_DNN) {
            return Err(format!("dnn: expected 1 to {MAX_DNN} characters"));
        }
        if self.slice.as_deref().is_some_and(|slice| crate::config::placement::slice(slice).is_none()) {
            return Err("slice: expected a type with or without a differentiator, such as \"1\" or \"1-010203\"".into());
        }
        if self.target.as_ref().is_some_and(|target| target.is_empty() || target.len() > 64) {
            return Err("target: expected the name of a target".into());
        }
        Ok(())
    }

    /// Sessions of the page.
    pub fn page(&self) -> usize {
        self.limit.unwrap_or(PAGE).clamp(1, MOST) as usize
    }

    /// Whether a session is asked for.
    pub fn matches(&self, session: &SessionRow) -> bool {
        let SessionQuery { ue, teid, dnn, slice, target, after, limit: _ } = self;
        let has_ue = |ue: &IpAddr| match ue {
            IpAddr::V4(address) => session.ue_ipv4s.contains(address),
            IpAddr::V6(address) => session.ue_ipv6s.iter().any(|prefix| prefix.octets()[..8] == address.octets()[..8]),
        };
        let has_dnn = |dnn: &String| {
            session.dnn.as_ref().is_some_and(|of| of.eq_ignore_ascii_case(dnn))
                || session.network_instances.iter().any(|of| of.eq_ignore_ascii_case(dnn))
        };
        let has_slice = |text: &String| match crate::config::placement::slice(text) {
            Some(slice) => session
                .slice
                .as_deref()
                .and_then(crate::config::placement::slice)
                .is_some_and(|of| of.sst == slice.sst && (slice.sd.is_none() || of.sd == slice.sd)),
            None => false,
        };
        after.is_none_or(|after| session.seid > after)
            && ue.as_ref().is_none_or(has_ue)
            && teid.as_ref().is_none_or(|teid| session.teids.contains(teid))
            && dnn.as_ref().is_none_or(has_dnn)
            && slice.as_ref().is_none_or(has_slice)
            && target.as_ref().is_none_or(|target| session.target == *target)
    }
}

/// One session in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionRow {
    /// Our SEID.
    #[serde(with = "seid_text")]
    #[schema(value_type = String)]
    pub seid: u64,
    /// The SMF's SEID.
    #[serde(with = "seid_text")]
    #[schema(value_type = String)]
    pub cp_seid: u64,
    /// Node ID of the SMF.
    pub smf: String,
    /// The UE's IPv4 addresses.
    #[schema(value_type = Vec<String>)]
    pub ue_ipv4s: Vec<Ipv4Addr>,
    /// The UE's IPv6 prefixes (/64).
    #[schema(value_type = Vec<String>)]
    pub ue_ipv6s: Vec<Ipv6Addr>,
    /// DNN, if the SMF sent it.
    pub dnn: Option<String>,
    /// Network instances of its PDRs.
    pub network_instances: Vec<String>,
    /// S-NSSAI: `1` or `1-010203`.
    pub slice: Option<String>,
    /// TEIDs of ours that its packets come by.
    pub teids: Vec<u32>,
    /// Target that holds it.
    pub target: String,
    /// Why it is there: a word of docs/operating.md, such as `policy`.
    #[serde(default)]
    pub reason: String,
    /// Milliseconds since it was established.
    pub age_ms: u64,
    /// Whether a PDR of it buffers: the UE is idle.
    pub buffers: bool,
    /// User IP packets and bytes towards the network since it was established, whatever URRs it has; of one that came back from a store from what its URRs
    /// had counted.
    pub uplink: Count,
    /// User IP packets and bytes towards the UE.
    pub downlink: Count,
}

/// A page of sessions, by ascending SEID.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionRow>,
    /// Ask for the next page with `after` set to this; none: there are no more. A page that is not full has one, too, where more sessions are to be looked at.
    #[serde(with = "seid_text::option")]
    #[schema(value_type = Option<String>)]
    pub next: Option<u64>,
    /// Sessions of the UPF, whether asked for or not.
    pub total: u64,
    /// Sessions that were looked at for this page.
    #[serde(default)]
    pub looked_at: u64,
}

/// One session whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionDetail {
    /// As in a list.
    pub session: SessionRow,
    /// Where reports to the SMF go.
    pub reports_to: String,
    /// Why it is where it is.
    pub placement: PlacementReport,
    /// Its rules, as the SMF gave them and as they are executed (TS 29.244 §5.2).
    #[schema(value_type = Object)]
    pub rules: SessionRules,
    /// What each URR has counted, by its ID.
    pub usage: BTreeMap<u32, UsageReport>,
    /// Packets that wait for the UE, by the ID of the PDR that buffers them.
    pub waiting: BTreeMap<u16, u64>,
    /// The rates that are enforced.
    pub rates: Vec<RateReport>,
    /// Entries of its own in the tables.
    pub entries: u64,
}

/// A rate that is enforced on a session's packets in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RateReport {
    /// The QER whose MBR it is.
    pub qer_id: u32,
    /// Towards the network.
    pub uplink: bool,
    /// The MBR in kbit/s.
    pub kbps: u64,
    /// What may come at once after a pause, in bytes of users' IP packets: `qos.burst_ms` of the rate, 16 KiB at least.
    pub burst_bytes: u64,
    /// Packets that wait for it now, with `qos.mode = "shape"`.
    #[serde(default)]
    pub waiting: u64,
}

/// What a URR has counted since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsageReport {
    /// Towards the network.
    pub uplink: Count,
    /// Towards the UE.
    pub downlink: Count,
}

/// Where a session is, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlacementReport {
    /// Target that holds it.
    pub target: String,
    /// Why: one of the reasons of docs/operating.md.
    pub reason: String,
    /// The same in words.
    pub why: String,
    /// Packets a second as placement has measured them, with `policy = "planned"`.
    pub pps: Option<u64>,
    /// Bits a second.
    pub bps: Option<u64>,
    /// Milliseconds since it came to its target, with `policy = "planned"`.
    pub here_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> SessionRow {
        SessionRow {
            seid: u64::MAX,
            cp_seid: 1 << 53 | 1,
            ue_ipv4s: vec![Ipv4Addr::new(10, 45, 0, 2)],
            ue_ipv6s: vec!["2001:db8:45:7::".parse().unwrap()],
            dnn: Some("internet".into()),
            network_instances: vec!["ims".into()],
            slice: Some("1-010203".into()),
            teids: vec![7],
            target: "x86".into(),
            ..SessionRow::default()
        }
    }

    #[test]
    fn a_seid_above_2_to_the_53_is_the_same_after_json() {
        let text = serde_json::to_string(&row()).unwrap();
        assert!(text.contains("\"seid\":\"0xffffffffffffffff\"") && text.contains("\"cp_seid\":\"0x20000000000001\""), "{text}");
        assert_eq!(serde_json::from_str::<SessionRow>(&text).unwrap(), row());
        assert_eq!(seid_text::parse("18446744073709551615"), Ok(u64::MAX));
        for wrong in ["", "0x", "-1", "+1", "0x+1", "18446744073709551616", "1f", " 1"] {
            assert!(seid_text::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn each_condition_of_a_query_is_looked_at() {
        let query = |text: &str| serde_json::from_str::<SessionQuery>(text).unwrap();
        for (text, holds) in [
            ("{}", true),
            ("{\"ue\":\"10.45.0.2\"}", true),
            ("{\"ue\":\"10.45.0.3\"}", false),
            ("{\"ue\":\"2001:db8:45:7::99\"}", true),
            ("{\"ue\":\"2001:db8:45:8::\"}", false),
            ("{\"teid\":7}", true),
            ("{\"teid\":8}", false),
            ("{\"dnn\":\"Internet\"}", true),
            ("{\"dnn\":\"ims\"}", true),
            ("{\"dnn\":\"other\"}", false),
            ("{\"slice\":\"1\"}", true),
            ("{\"slice\":\"1-010203\"}", true),
            ("{\"slice\":\"1-010204\"}", false),
            ("{\"slice\":\"2\"}", false),
            ("{\"target\":\"x86\",\"teid\":7}", true),
            ("{\"target\":\"xdp\",\"teid\":7}", false),
            ("{\"after\":\"0xfffffffffffffffe\"}", true),
            ("{\"after\":\"0xffffffffffffffff\"}", false),
        ] {
            assert_eq!(query(text).matches(&row()), holds, "{text}");
            assert_eq!(query(text).validate(), Ok(()), "{text}");
            assert_eq!(query(&serde_json::to_string(&query(text)).unwrap()), query(text));
        }
        for wrong in ["{\"limit\":0}", "{\"limit\":1001}", "{\"dnn\":\"\"}", "{\"slice\":\"1-2\"}", "{\"target\":\"\"}"] {
            assert!(query(wrong).validate().is_err(), "{wrong}");
        }
        assert!(serde_json::from_str::<SessionQuery>("{\"imsi\":1}").is_err(), "nothing is ignored");
    }
}
