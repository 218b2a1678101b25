//! A user-plane program built by hand: GTP-U decapsulation and encapsulation, PDR, FAR, meter, counters, routing, ACL.
//! It is the size of a real one, so it serves the speed example too.
#![allow(dead_code)]

use p4_ir::*;
use program::{Batch, CountUnit, Entry, KeyMatch, MatchKind, Op};

/// The program and the ids that tests need.
pub(crate) struct Upf {
    pub ir: Ir,
    pub uplink: TableId,
    pub downlink: TableId,
    pub far: TableId,
    pub route: TableId,
    pub acl: TableId,
    pub set_session: ActionId,
    pub far_forward: ActionId,
    pub far_tunnel: ActionId,
    pub far_buffer: ActionId,
    pub set_next_hop: ActionId,
    pub deny: ActionId,
    pub no_action: ActionId,
    pub drop_miss: ActionId,
    pub sessions: CounterId,
    pub ambr: MeterId,
}

pub(crate) const REASON_NO_SESSION: u8 = 1;
pub(crate) const REASON_NO_ROUTE: u8 = 2;
pub(crate) const REASON_ACL: u8 = 3;
pub(crate) const REASON_RATE: u8 = 4;

pub(crate) fn set(v: VarId, value: Expr) -> Stmt {
    Stmt::Assign(LValue::Var(v), value)
}

pub(crate) fn put(ir: &Ir, h: HeaderId, field: &str, value: Expr) -> Stmt {
    Stmt::Assign(LValue::field(ir, h, field), value)
}

fn value_case(width: u32, value: u128, next: Next) -> SelectCase {
    let mask = Bits::new(width, u128::MAX);
    SelectCase { sets: vec![KeySet::Value { value: Bits::new(width, value), mask }], next }
}

fn other(next: Next) -> SelectCase {
    SelectCase { sets: vec![KeySet::Any], next }
}

fn extract(h: HeaderId) -> Stmt {
    Stmt::Extract { header: HeaderRef::Static(h), varbit_bits: None }
}

const IPV4: [(&str, u32); 12] = [
    ("version", 4),
    ("ihl", 4),
    ("tos", 8),
    ("total_len", 16),
    ("id", 16),
    ("flags", 3),
    ("frag", 13),
    ("ttl", 8),
    ("proto", 8),
    ("checksum", 16),
    ("src", 32),
    ("dst", 32),
];

pub(crate) fn upf() -> Upf {
    let mut ir = Ir::v1model("hand_upf.p4");
    ir.program.reasons = vec![(1, "no_session".into()), (2, "no_route".into()), (3, "acl".into()), (4, "rate".into())];
    let eth_t = ir.add_header_type("ethernet_t", &[("dst", 48), ("src", 48), ("etype", 16)], None);
    let ip_t = ir.add_header_type("ipv4_t", &IPV4, None);
    let udp_t = ir.add_header_type("udp_t", &[("sport", 16), ("dport", 16), ("len", 16), ("checksum", 16)], None);
    let gtp_fields = [("version", 3), ("pt", 1), ("spare", 1), ("e", 1), ("s", 1), ("pn", 1), ("type", 8), ("len", 16), ("teid", 32)];
    let gtp_t = ir.add_header_type("gtpu_t", &gtp_fields, None);
    let opt_t = ir.add_header_type("gtpu_opt_t", &[("seq", 16), ("npdu", 8), ("next", 8)], None);
    let psc_t =
        ir.add_header_type("psc_t", &[("len", 8), ("type", 4), ("spare", 4), ("ppp", 1), ("rqi", 1), ("qfi", 6), ("next", 8)], None);
    let eth = ir.add_header("hdr.eth", eth_t);
    let ip = ir.add_header("hdr.ip", ip_t);
    let udp = ir.add_header("hdr.udp", udp_t);
    let gtp = ir.add_header("hdr.gtpu", gtp_t);
    let opt = ir.add_header("hdr.opt", opt_t);
    let psc = ir.add_header("hdr.psc", psc_t);
    let inner = ir.add_header("hdr.inner_ip", ip_t);
    let inner_udp = ir.add_header("hdr.inner_udp", udp_t);

    let reason = ir.add_var("meta.reason", Ty::Bit(8));
    let mark = ir.add_var("meta.mark", Ty::Bit(32));
    let pdu = ir.add_var("meta.pdu_length", Ty::Bit(16));
    let session = ir.add_var("meta.session", Ty::Bit(32));
    let far_id = ir.add_var("meta.far_id", Ty::Bit(32));
    let qfi = ir.add_var("meta.qfi", Ty::Bit(6));
    let colour = ir.add_var("meta.colour", Ty::Bit(2));
    let hit = ir.add_var("tmp.hit", Ty::Bool);
    let needs_tunnel = ir.add_var("meta.needs_tunnel", Ty::Bool);
    let tunnel_teid = ir.add_var("meta.tunnel_teid", Ty::Bit(32));
    let tunnel_src = ir.add_var("meta.tunnel_src", Ty::Bit(32));
    let tunnel_dst = ir.add_var("meta.tunnel_dst", Ty::Bit(32));
    let l4_sport = ir.add_var("meta.l4_sport", Ty::Bit(16));
    let l4_dport = ir.add_var("meta.l4_dport", Ty::Bit(16));
    ir.intrinsic.drop_reason = Some(reason);
    ir.intrinsic.mark = Some(mark);
    ir.intrinsic.pdu_length = Some(pdu);

    // Parser, last state first.
    let accept = Transition::Goto(Next::Accept);
    let inner_l4 = ir.add_state("inner_udp", vec![extract(inner_udp)], accept.clone());
    let proto = Expr::field(&ir, inner, "proto");
    let by_proto = Transition::Select { keys: vec![proto], cases: vec![value_case(8, 17, Next::State(inner_l4)), other(Next::Accept)] };
    let inner_ip = ir.add_state("inner_ip", vec![extract(inner)], by_proto);
    let with_psc = ir.add_state("psc", vec![extract(psc)], Transition::Goto(Next::State(inner_ip)));
    let by_next = Transition::Select {
        keys: vec![Expr::field(&ir, opt, "next")],
        cases: vec![value_case(8, 0x85, Next::State(with_psc)), other(Next::State(inner_ip))],
    };
    let with_opt = ir.add_state("gtpu_opt", vec![extract(opt)], by_next);
    let flags = Transition::Select {
        keys: vec![Expr::field(&ir, gtp, "e")],
        cases: vec![value_case(1, 1, Next::State(with_opt)), other(Next::State(inner_ip))],
    };
    let gtpu = ir.add_state("gtpu", vec![extract(gtp)], flags);
    let by_port = Transition::Select {
        keys: vec![Expr::field(&ir, udp, "dport")],
        cases: vec![value_case(16, 2152, Next::State(gtpu)), other(Next::Accept)],
    };
    let udp_state = ir.add_state("udp", vec![extract(udp)], by_port);
    let by_proto = Transition::Select {
        keys: vec![Expr::field(&ir, ip, "proto")],
        cases: vec![value_case(8, 17, Next::State(udp_state)), other(Next::Accept)],
    };
    let ip_state = ir.add_state("ipv4", vec![extract(ip)], by_proto);
    let by_type = Transition::Select {
        keys: vec![Expr::field(&ir, eth, "etype")],
        cases: vec![value_case(16, 0x800, Next::State(ip_state)), other(Next::Accept)],
    };
    ir.parser_mut().start = None;
    let start = ir.add_state("start", vec![extract(eth)], by_type);
    ir.parser_mut().start = Some(start);

    let egress_spec = ir.standard("egress_spec");
    let drop_with = |code: u8| vec![set(reason, Expr::bit(8, code.into())), Stmt::Extern(Extern::MarkToDrop), Stmt::Exit];
    let drop_miss = ir.add_action("drop_no_session", &[], |_, _| drop_with(REASON_NO_SESSION));
    let drop_route = ir.add_action("drop_no_route", &[], |_, _| drop_with(REASON_NO_ROUTE));
    let deny = ir.add_action("deny", &[], |_, _| drop_with(REASON_ACL));
    let no_action = ir.add_action("NoAction", &[], |_, _| vec![]);
    let set_session = ir.add_action("set_session", &[("session", 32), ("far_id", 32), ("qfi", 6)], |ir, p| {
        vec![set(session, Expr::var(ir, p[0])), set(far_id, Expr::var(ir, p[1])), set(qfi, Expr::var(ir, p[2]))]
    });
    let far_forward = ir.add_action("far_forward", &[], |_, _| vec![set(needs_tunnel, Expr::bool(false))]);
    let far_tunnel = ir.add_action("far_tunnel", &[("teid", 32), ("src", 32), ("dst", 32)], |ir, p| {
        vec![
            set(needs_tunnel, Expr::bool(true)),
            set(tunnel_teid, Expr::var(ir, p[0])),
            set(tunnel_src, Expr::var(ir, p[1])),
            set(tunnel_dst, Expr::var(ir, p[2])),
        ]
    });
    let far_buffer = ir.add_action("far_buffer", &[("queue", 32)], |ir, p| {
        vec![set(mark, Expr::var(ir, p[0])), set(egress_spec, Expr::bit(9, 509)), Stmt::Exit]
    });
    let set_next_hop = ir.add_action("set_next_hop", &[("port", 9), ("dmac", 48), ("smac", 48)], |ir, p| {
        vec![set(egress_spec, Expr::var(ir, p[0])), put(ir, eth, "dst", Expr::var(ir, p[1])), put(ir, eth, "src", Expr::var(ir, p[2]))]
    });

    let teid = Expr::field(&ir, gtp, "teid");
    let dst = Expr::field(&ir, ip, "dst");
    let uplink = ir.add_table("pdr_by_teid", vec![("teid", teid, MatchKind::Exact)], &[set_session], drop_miss);
    let downlink = ir.add_table("pdr_by_ue", vec![("ue", dst.clone(), MatchKind::Exact)], &[set_session], drop_miss);
    let far_key = Expr::var(&ir, far_id);
    let far = ir.add_table("far", vec![("far_id", far_key, MatchKind::Exact)], &[far_forward, far_tunnel, far_buffer], drop_miss);
    let acl_keys = vec![
        ("src", Expr::field(&ir, ip, "src"), MatchKind::Ternary),
        ("dst", dst.clone(), MatchKind::Ternary),
        ("proto", Expr::field(&ir, ip, "proto"), MatchKind::Optional),
        ("dport", Expr::var(&ir, l4_dport), MatchKind::Range),
    ];
    let acl = ir.add_table("acl", acl_keys, &[deny, no_action], no_action);
    let route = ir.add_table("route", vec![("dst", dst, MatchKind::Lpm)], &[set_next_hop], drop_route);
    for t in [uplink, downlink, far] {
        ir.program.tables[t].split = true;
        ir.program.tables[t].size = 1 << 17;
    }
    let sessions = ir.add_counter("sessions", 1 << 17, None);
    ir.program.counters[sessions].length = program::LengthSource::Pdu;
    let ambr = ir.add_meter("ambr", 1 << 17, CountUnit::Bytes);
    ir.program.meters[ambr].length = program::LengthSource::Pdu;

    let apply = |table, hit| Stmt::Apply { table, hit, action_run: None };
    let session_index = || Expr { kind: ExprKind::Var(session), ty: Ty::Bit(32) };
    let decap = vec![
        set(pdu, Expr::field(&ir, inner, "total_len")),
        apply(uplink, Some(hit)),
        Stmt::CopyHeader { dst: HeaderRef::Static(ip), src: HeaderRef::Static(inner) },
        Stmt::CopyHeader { dst: HeaderRef::Static(udp), src: HeaderRef::Static(inner_udp) },
        Stmt::SetValid(HeaderRef::Static(inner), false),
        Stmt::SetValid(HeaderRef::Static(inner_udp), false),
        Stmt::SetValid(HeaderRef::Static(gtp), false),
        Stmt::SetValid(HeaderRef::Static(opt), false),
        Stmt::SetValid(HeaderRef::Static(psc), false),
    ];
    let down = vec![set(pdu, Expr::field(&ir, ip, "total_len")), apply(downlink, Some(hit))];
    let l4 = vec![set(l4_sport, Expr::field(&ir, udp, "sport")), set(l4_dport, Expr::field(&ir, udp, "dport"))];
    let field = |h, name: &str| Expr::field(&ir, h, name);
    let total = |extra: u128| Expr::binary(BinOp::Add, field(ip, "total_len"), Expr::bit(16, extra));
    let encap = vec![
        Stmt::CopyHeader { dst: HeaderRef::Static(inner), src: HeaderRef::Static(ip) },
        Stmt::CopyHeader { dst: HeaderRef::Static(inner_udp), src: HeaderRef::Static(udp) },
        Stmt::SetValid(HeaderRef::Static(udp), true),
        Stmt::SetValid(HeaderRef::Static(gtp), true),
        Stmt::SetValid(HeaderRef::Static(opt), true),
        Stmt::SetValid(HeaderRef::Static(psc), true),
        put(&ir, udp, "sport", Expr::bit(16, 2152)),
        put(&ir, udp, "dport", Expr::bit(16, 2152)),
        put(&ir, udp, "len", total(24)),
        put(&ir, udp, "checksum", Expr::bit(16, 0)),
        put(&ir, gtp, "version", Expr::bit(3, 1)),
        put(&ir, gtp, "pt", Expr::bit(1, 1)),
        put(&ir, gtp, "e", Expr::bit(1, 1)),
        put(&ir, gtp, "type", Expr::bit(8, 255)),
        put(&ir, gtp, "len", total(8)),
        put(&ir, gtp, "teid", Expr::var(&ir, tunnel_teid)),
        put(&ir, opt, "next", Expr::bit(8, 0x85)),
        put(&ir, psc, "len", Expr::bit(8, 1)),
        put(&ir, psc, "qfi", Expr::var(&ir, qfi)),
        put(&ir, ip, "total_len", total(44)),
        put(&ir, ip, "ttl", Expr::bit(8, 64)),
        put(&ir, ip, "proto", Expr::bit(8, 17)),
        put(&ir, ip, "src", Expr::var(&ir, tunnel_src)),
        put(&ir, ip, "dst", Expr::var(&ir, tunnel_dst)),
    ];
    let mut too_fast = drop_with(REASON_RATE);
    too_fast.pop();
    too_fast.push(Stmt::Exit);
    *ir.ingress_mut() = vec![
        Stmt::If(Expr::unary(UnOp::Not, Expr::is_valid(ip)), drop_with(REASON_NO_SESSION), vec![]),
        Stmt::If(Expr::is_valid(gtp), decap, down),
    ];
    ir.ingress_mut().extend(l4);
    ir.ingress_mut().push(apply(acl, None));
    ir.ingress_mut().push(apply(far, None));
    ir.ingress_mut().push(Stmt::Extern(Extern::Meter { meter: ambr, index: session_index(), result: LValue::Var(colour) }));
    let red = Expr::binary(BinOp::Eq, Expr::var(&ir, colour), Expr::bit(2, 2));
    ir.ingress_mut().push(Stmt::If(red, too_fast, vec![]));
    ir.ingress_mut().push(Stmt::Extern(Extern::Count { counter: sessions, index: session_index() }));
    let tunnelled = Expr::var(&ir, needs_tunnel);
    ir.ingress_mut().push(Stmt::If(tunnelled, encap, vec![]));
    ir.ingress_mut().push(apply(route, None));
    let ttl = Expr::binary(BinOp::Sub, Expr::field(&ir, ip, "ttl"), Expr::bit(8, 1));
    *ir.egress_mut() = vec![put(&ir, ip, "ttl", ttl)];
    let summed = IPV4.iter().filter(|(n, _)| *n != "checksum").map(|(n, _)| CheckData::Value(Expr::field(&ir, ip, n))).collect();
    *ir.control_mut(Role::ComputeChecksum) = vec![Stmt::Extern(Extern::UpdateChecksum {
        condition: Expr::is_valid(ip),
        data: summed,
        checksum: LValue::field(&ir, ip, "checksum"),
        algorithm: HashAlgorithm::Csum16,
        payload: false,
    })];
    let emit = |h| Stmt::Emit(HeaderRef::Static(h));
    *ir.deparser_mut() = [eth, ip, udp, gtp, opt, psc, inner, inner_udp].map(emit).to_vec();
    verify(&ir).expect("the program is sound");
    Upf {
        ir,
        uplink,
        downlink,
        far,
        route,
        acl,
        set_session,
        far_forward,
        far_tunnel,
        far_buffer,
        set_next_hop,
        deny,
        no_action,
        drop_miss,
        sessions,
        ambr,
    }
}

pub(crate) fn entry(table: TableId, keys: Vec<KeyMatch>, action: ActionId, args: &[u128]) -> Entry {
    Entry { table, keys, priority: 0, action, args: args.to_vec() }
}

impl Upf {
    /// Sessions 0..n: uplink TEID 1000+i to the network, downlink address 10.0.0.0+i into tunnel 5000+i.
    pub(crate) fn sessions(&self, n: u128) -> Batch {
        let mut ops = Vec::new();
        let mut insert = |t, key: u128, a, args: &[u128]| ops.push(Op::Insert(entry(t, vec![KeyMatch::Exact(key)], a, args)));
        for i in 0..n {
            insert(self.uplink, 1000 + i, self.set_session, &[i, 2 * i, 9]);
            insert(self.downlink, 0x0a00_0000 + i, self.set_session, &[i, 2 * i + 1, 9]);
            insert(self.far, 2 * i, self.far_forward, &[]);
            insert(self.far, 2 * i + 1, self.far_tunnel, &[5000 + i, 0xc0a8_0001, 0xc0a8_0100 + (i & 0xff)]);
        }
        for (value, prefix_len, port) in [(0u128, 0, 3u128), (0xc0a8_0000, 16, 2), (0x0800_0000, 8, 4)] {
            let key = KeyMatch::Lpm { value, prefix_len };
            ops.push(Op::Insert(entry(self.route, vec![key], self.set_next_hop, &[port, 0x0200_0000_0000 + port, 0x0200_0000_00ff])));
        }
        let mut rule = entry(
            self.acl,
            vec![
                KeyMatch::Ternary { value: 0, mask: 0 },
                KeyMatch::Ternary { value: 0x0606_0000, mask: 0xffff_0000 },
                KeyMatch::Optional(Some(17)),
                KeyMatch::Range { low: 100, high: 200 },
            ],
            self.deny,
            &[],
        );
        rule.priority = 10;
        ops.push(Op::Insert(rule));
        Batch { ops }
    }
}

/// Ethernet, IPv4 (checksum zero), UDP and `payload`.
pub(crate) fn udp_packet(src: u32, dst: u32, sport: u16, dport: u16, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let total = 28 + payload.len() as u16;
    p.extend([0x45, 0]);
    p.extend(total.to_be_bytes());
    p.extend([0, 0, 0, 0, 64, 17, 0, 0]);
    p.extend(src.to_be_bytes());
    p.extend(dst.to_be_bytes());
    p.extend(sport.to_be_bytes());
    p.extend(dport.to_be_bytes());
    p.extend((total - 20).to_be_bytes());
    p.extend([0, 0]);
    p.extend(payload);
    p
}

/// The same inside GTP-U without extension headers.
pub(crate) fn gtpu_packet(teid: u32, inner: &[u8]) -> Vec<u8> {
    let mut gtp = vec![0x30, 255];
    gtp.extend((inner.len() as u16 - 14).to_be_bytes());
    gtp.extend(teid.to_be_bytes());
    gtp.extend(&inner[14..]);
    udp_packet(0xc0a8_0100, 0xc0a8_0001, 2152, 2152, &gtp)
}
