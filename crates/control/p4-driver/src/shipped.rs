//! Which programs are shipped with the binary, and what do they include?

/// The shipped programs and what they include, by the path that an `#include` names.
const BUILT_IN: &[(&str, &str)] = &[
    ("upf.p4", include_str!("../../../../p4/upf.p4")),
    ("l2fwd.p4", include_str!("../../../../p4/l2fwd.p4")),
    ("l2switch.p4", include_str!("../../../../p4/l2switch.p4")),
    ("p4wire.p4", include_str!("../../../../p4/p4wire.p4")),
    ("ceupf.p4", include_str!("../../../../p4/ceupf.p4")),
    ("gnb.p4", include_str!("../../../../p4/gnb.p4")),
    ("tna/upf.p4", include_str!("../../../../p4/tna/upf.p4")),
    ("tna/heavy.p4", include_str!("../../../../p4/tna/heavy.p4")),
    ("tna/published.p4", include_str!("../../../../p4/tna/published.p4")),
    // What those share among themselves, by the name that they include it by.
    ("standard.p4", include_str!("../../../../p4/tna/standard.p4")),
    ("ipg.p4", include_str!("../../../../p4/tna/ipg.p4")),
    ("tunnel.p4", include_str!("../../../../p4/tna/tunnel.p4")),
    // The steps of the gNodeB.
    ("gnb/headers.p4", include_str!("../../../../p4/gnb/headers.p4")),
    ("gnb/metadata.p4", include_str!("../../../../p4/gnb/metadata.p4")),
    ("gnb/parser.p4", include_str!("../../../../p4/gnb/parser.p4")),
    ("gnb/frame.p4", include_str!("../../../../p4/gnb/frame.p4")),
    ("gnb/bearer.p4", include_str!("../../../../p4/gnb/bearer.p4")),
    ("gnb/pdcp.p4", include_str!("../../../../p4/gnb/pdcp.p4")),
    ("gnb/rlc.p4", include_str!("../../../../p4/gnb/rlc.p4")),
    ("gnb/radio.p4", include_str!("../../../../p4/gnb/radio.p4")),
    ("gnb/peer.p4", include_str!("../../../../p4/gnb/peer.p4")),
    ("gnb/downlink.p4", include_str!("../../../../p4/gnb/downlink.p4")),
    ("gnb/uplink.p4", include_str!("../../../../p4/gnb/uplink.p4")),
    ("gnb/front.p4", include_str!("../../../../p4/gnb/front.p4")),
    ("gnb/steps.p4", include_str!("../../../../p4/gnb/steps.p4")),
    ("include/splitplane.p4", include_str!("../../../../p4/include/splitplane.p4")),
    ("include/headers.p4", include_str!("../../../../p4/include/headers.p4")),
    ("include/metadata.p4", include_str!("../../../../p4/include/metadata.p4")),
    ("include/parser.p4", include_str!("../../../../p4/include/parser.p4")),
    ("include/checksum.p4", include_str!("../../../../p4/include/checksum.p4")),
    ("include/station.p4", include_str!("../../../../p4/include/station.p4")),
    ("include/user.p4", include_str!("../../../../p4/include/user.p4")),
    ("include/firewall.p4", include_str!("../../../../p4/include/firewall.p4")),
    ("include/session.p4", include_str!("../../../../p4/include/session.p4")),
    ("include/enforce.p4", include_str!("../../../../p4/include/enforce.p4")),
    ("include/route.p4", include_str!("../../../../p4/include/route.p4")),
    ("include/trim.p4", include_str!("../../../../p4/include/trim.p4")),
    ("include/police.p4", include_str!("../../../../p4/include/police.p4")),
    ("include/tunnel.p4", include_str!("../../../../p4/include/tunnel.p4")),
    ("include/relay.p4", include_str!("../../../../p4/include/relay.p4")),
    ("include/usage.p4", include_str!("../../../../p4/include/usage.p4")),
    ("include/heavy.p4", include_str!("../../../../p4/include/heavy.p4")),
];

/// Those that a user may name, as messages list them.
pub const PROGRAMS: &[&str] =
    &["upf.p4", "gnb.p4", "l2fwd.p4", "l2switch.p4", "p4wire.p4", "ceupf.p4", "tna/upf.p4", "tna/heavy.p4", "tna/published.p4"];

/// The text of a shipped program, or of what one includes.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    // Programs in a folder of their own go one up for what they share.
    let name = name.strip_prefix("../").unwrap_or(name);
    BUILT_IN.iter().find(|(path, _)| *path == name).map(|(_, text)| *text)
}

/// Lines of a shipped program and of all that shipped programs include.
pub fn lines(name: &str) -> usize {
    let parts = BUILT_IN.iter().filter(|(path, _)| *path == name || path.starts_with("include/"));
    parts.map(|(_, text)| text.lines().count()).sum()
}
