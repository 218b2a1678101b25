//! `upf.p4` as plain data, written by hand: what these tests need of it, without the compiler.

use ::program::MatchKind::{Exact, Lpm, Range, Ternary};
use ::program::*;

/// Tables, actions, counters and meters of `upf.p4`, each table with room for `size` entries, cells for `size` sessions.
pub(crate) fn upf(size: u64) -> Program {
    let mut p = Program { name: "upf.p4".into(), ..Program::default() };
    let mut action = |name: &str, params: &[(&str, u32)]| {
        let params = params.iter().map(|(name, width)| ParamInfo { name: (*name).into(), width: *width }).collect();
        p.actions.push(ActionInfo { name: name.rsplit('/').next().unwrap().into(), full_name: format!("UpfIngress.{name}"), params })
    };
    let station_route = action("station.route", &[("vrf", 16)]);
    let loopback = action("station.loopback", &[("vrf", 16)]);
    let group = action("station.group", &[("vrf", 16)]);
    let drop = action("station.drop", &[("reason", 8)]);
    let set_pdr = action(
        "set_pdr",
        &[
            ("pdr", 32),
            ("disposition", 8),
            ("flags", 8),
            ("usage", 32),
            ("meter_1", 32),
            ("meter_2", 32),
            ("meter_3", 32),
            ("ue_ipv4", 32),
            ("ue_prefix", 64),
            ("encapsulation", 8),
            ("tunnel_teid", 32),
            ("tunnel_dst", 32),
            ("tunnel_src", 32),
            ("psc_qos", 8),
            ("tunnel_tos", 8),
            ("out_vrf", 16),
        ],
    );
    let classify = action("classify", &[("group", 32), ("filter_set", 16)]);
    let miss = action("miss", &[]);
    let gtpu_endpoint = action("gtpu_endpoint", &[]);
    let host = action("host", &[]);
    let not_local = action("not_local", &[]);
    let set_filter = action("set_filter", &[("class", 8)]);
    let no_filter = action("no_filter", &[]);
    let no_pdr = action("no_pdr", &[]);
    let permit = action("permit", &[]);
    let deny = action("deny", &[]);
    let best_effort = action("best_effort", &[]);
    let set_class = action("set_class", &[("queue", 3), ("meter_cell", 16)]);
    let set_nexthop = action("set_nexthop", &[("nexthop", 16)]);
    let send = action("send", &[("port", 9), ("src_mac", 48), ("dst_mac", 48), ("mtu", 16)]);
    let send_vxlan = action(
        "send_vxlan",
        &[
            ("port", 9),
            ("src_mac", 48),
            ("dst_mac", 48),
            ("vni", 24),
            ("vtep_src", 32),
            ("vtep_dst", 32),
            ("underlay_src_mac", 48),
            ("underlay_dst_mac", 48),
            ("mtu", 16),
        ],
    );
    let unresolved = action("unresolved", &[("nexthop", 32)]);

    let mut table = |name: &str, keys: &[(&str, u32, MatchKind)], actions: &[ActionId], size: u64| {
        let keys = keys.iter().map(|(name, width, kind)| KeyInfo { name: (*name).into(), width: *width, kind: *kind }).collect();
        let used = actions.iter().map(|action| ActionUse { action: *action, entry: true, default: true }).collect();
        let default = actions[actions.len() - 1];
        let args = if default == drop { vec![0] } else { vec![] };
        p.tables.push(TableInfo {
            name: name.into(),
            full_name: format!("UpfIngress.{name}"),
            keys,
            actions: used,
            default_action: (default, args),
            const_default: false,
            size,
            entries: vec![],
            const_entries: false,
            split: false,
            direct_counter: None,
            direct_meter: None,
        });
    };
    let vrf = ("vrf", 16, Exact);
    table("station", &[("port", 9, Exact), ("mac", 48, Exact)], &[station_route, loopback, group, drop], 1024);
    table("vxlan_termination", &[("vtep", 32, Exact), ("vni", 24, Exact)], &[station_route, drop], 1024);
    let pdr = [set_pdr, classify, miss];
    table("pdr_by_teid", &[("endpoint", 32, Exact), ("teid", 32, Exact)], &pdr, size);
    table("pdr_by_ue_ipv4", &[vrf, ("ue", 32, Exact)], &pdr, size);
    table("pdr_by_ue_ipv6", &[vrf, ("ue_prefix", 64, Exact)], &pdr, size);
    let ports = [("remote_port", 16, Range), ("local_port", 16, Range)];
    let sdf = |width| [("remote", width, Ternary), ("local", width, Ternary), ("protocol", 8, Ternary)];
    let last = |name| [(name, 8, Ternary)];
    let set = [("set", 16, Exact)];
    let qfi = [("qfi", 6, Ternary)];
    table("sdf_ipv4", &[&set[..], &sdf(32), &ports, &last("tos"), &qfi].concat(), &[set_filter, no_filter], 65536);
    let label = [("flow_label", 20, Ternary)];
    table("sdf_ipv6", &[&set[..], &sdf(128), &ports, &last("tos"), &label, &qfi].concat(), &[set_filter, no_filter], 65536);
    table("pdr_by_class", &[("group", 32, Exact), ("class", 8, Exact)], &[set_pdr, no_pdr], size);
    table("local_ipv4", &[vrf, ("address", 32, Exact)], &[gtpu_endpoint, host, not_local], 256);
    table("local_ipv6", &[vrf, ("address", 128, Ternary)], &[host, not_local], 256);
    let vrf_any = [("vrf", 16, Ternary)];
    let tuple = |width| [("src", width, Ternary), ("dst", width, Ternary), ("protocol", 8, Ternary)];
    table("firewall_v4", &[&vrf_any[..], &tuple(32), &ports].concat(), &[deny, permit], 4096);
    table("firewall_v6", &[&vrf_any[..], &tuple(128), &ports].concat(), &[deny, permit], 4096);
    let class = [("version", 4, Ternary), ("tos", 8, Ternary)];
    table("traffic_class", &[&class[..], &tuple(32), &ports].concat(), &[set_class, best_effort], 1024);
    table("route_ipv4", &[vrf, ("destination", 32, Lpm)], &[set_nexthop, drop], 1 << 20);
    table("route_ipv6", &[vrf, ("destination", 128, Lpm)], &[set_nexthop, drop], 1 << 18);
    table("nexthop", &[("nexthop", 16, Exact)], &[send, send_vxlan, unresolved, drop], 4096);

    let length = LengthSource::Pdu;
    p.counters.push(CounterInfo { name: "usage".into(), size: size * 4, unit: CountUnit::Both, length, table: None, bits: None });
    for (name, size) in [("mbr", size * 4), ("class_rate", 1024)] {
        p.meters.push(MeterInfo { name: name.into(), size, unit: CountUnit::Bytes, length, table: None });
    }
    let reasons = [
        (0, "none"),
        (1, "arp"),
        (3, "host"),
        (4, "gtpu_signalling"),
        (5, "unknown_teid"),
        (6, "neighbour_unknown"),
        (35, "ttl_expired"),
        (37, "too_big"),
        (43, "machine_address"),
    ];
    p.reasons = reasons.iter().map(|(code, name)| (*code, (*name).to_owned())).collect();
    p
}
