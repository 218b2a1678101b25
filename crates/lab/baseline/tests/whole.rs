//! Does the hand-written gNodeB do what the whole program does, down? The interpreter with its services says, over bursts of packets and STATUS PDUs that are right,
//! wrong in one place, or cut.

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use baseline::LimitError;
use baseline::whole::{Counts, Whole};
use buffer::Limits;
use buffer::rlc::BearerConfig;
use buffer::service::{BufferService, bearer_setting};
use buffer::status::{Nack, SnLength, emit};
use ciphering::Choice;
use ciphering::service::CipherService;
use p4_check::Options;
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, Op};
use radio_bearer::RadioBearerService;
use rand::Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use target_api::{BURST, Count, Lane};

const BEARERS: u32 = 240;
const N3: PortId = PortId(0);
/// A port without a station.
const BARE: PortId = PortId(5);
const RADIO: PortId = PortId(128);
type Station = ([u8; 6], [u8; 4]);
const OURS: Station = ([2, 0, 0, 0, 0, 1], [10, 3, 0, 1]);
const NOBODY: Station = ([0; 6], [0; 4]);
const UPF: Station = ([2, 0, 0, 0, 0, 2], [10, 3, 0, 9]);
const UNIT: Station = ([2, 0, 0, 0, 0, 3], [10, 4, 0, 7]);
const UNIT_PORT: u16 = 40_001;

fn compile() -> Arc<Ir> {
    static IR: OnceLock<Arc<Ir>> = OnceLock::new();
    let compiled = || {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/gnb.p4");
        let mut options = Options::default();
        options.defines.insert("BEARERS".to_owned(), "1024".to_owned());
        let mut ir = p4_check::compile_file(&path, &options).unwrap_or_else(|failure| panic!("{}", failure.render())).ir;
        p4_passes::optimise(&mut ir).expect("keeps the invariants");
        Arc::new(ir)
    };
    IR.get_or_init(compiled).clone()
}

/// Bearer `n` of a test.
#[derive(Clone, Copy)]
struct Bearer {
    n: u32,
    rlc_long: bool,
    pdcp_long: bool,
    sdap: bool,
    reflective: bool,
    count_base: u32,
    unit_port: u16,
}

impl Bearer {
    /// Formats by the bits of its number; COUNTs of some come near their end.
    fn new(n: u32) -> Bearer {
        let bit = |at: u32| n >> at & 1 == 1;
        let count_base = match n % 10 {
            0 => u32::MAX - 20,
            1 => 0xc000_0000 - 30,
            2 => 0xd000_0000,
            _ => n * 977,
        };
        let unit_port = if n.is_multiple_of(7) { 0 } else { UNIT_PORT };
        Bearer { n, rlc_long: bit(0), pdcp_long: bit(1), sdap: bit(2), reflective: bit(3), count_base, unit_port }
    }

    fn sn_length(&self) -> SnLength {
        if self.rlc_long { SnLength::Bits18 } else { SnLength::Bits12 }
    }

    fn teid(&self) -> u32 {
        0x1000_0000 + self.n
    }

    fn ue(&self) -> u16 {
        0x0101_u16.wrapping_mul(self.n as u16)
    }

    fn drb(&self) -> u8 {
        1 + (self.n % 3) as u8
    }

    /// Entries of its tables: each third has two flows, each second is its TEID's default.
    fn ops(&self, ir: &Ir) -> Vec<Op> {
        let number = u128::from(self.n);
        let formats = [number, 2, self.rlc_long.into(), self.pdcp_long.into()];
        let (ue, drb) = (u128::from(self.ue()), u128::from(self.drb()));
        let mut down = formats.to_vec();
        down.extend([self.sdap.into(), self.reflective.into(), 0, 0, ue, drb, self.count_base.into(), 16_000, 2, address(UPF)]);
        let mut up = formats.to_vec();
        up.extend([1, 0, 0, 9, self.teid().into(), 2, 1, address(UNIT), self.unit_port.into()]);
        let teid = u128::from(self.teid());
        let mut ops = vec![insert(ir, "bearer_by_flow", "set_bearer", &[teid, 9], down.clone())];
        if self.n.is_multiple_of(3) {
            ops.push(insert(ir, "bearer_by_flow", "set_bearer", &[teid, 10], down.clone()));
        }
        if self.n.is_multiple_of(2) {
            ops.push(insert(ir, "default_bearer", "set_bearer", &[teid], down));
        }
        ops.push(insert(ir, "bearer_by_ue", "set_bearer", &[ue, drb], up));
        ops.push(insert(ir, "bearer_by_number", "set_bearer", &[number], vec![2, self.rlc_long.into(), ue, drb, 2]));
        ops
    }

    fn status(&self, ack_sn: u32, nacks: &[Nack]) -> Vec<u8> {
        let mut pdu = Vec::new();
        emit(self.sn_length(), ack_sn, nacks, &mut pdu);
        pdu
    }

    /// A frame of the radio with an RLC PDU.
    fn uplink(&self, pdu: &[u8]) -> Vec<u8> {
        let [ue0, ue1] = self.ue().to_be_bytes();
        let bits = if self.rlc_long { 18 } else { 12 };
        let mut framed = b"rlc-nr".to_vec();
        framed.extend([4, bits, 2, 0, 3, ue0, ue1, 4, 5, 5, self.drb(), 1]);
        framed.extend(pdu);
        datagram(UNIT, OURS, UNIT_PORT, &framed)
    }
}

fn address((_, address): Station) -> u128 {
    u32::from_be_bytes(address).into()
}

fn mac((mac, _): Station) -> u128 {
    mac.iter().fold(0, |all, byte| all << 8 | u128::from(*byte))
}

fn insert(ir: &Ir, table: &str, action: &str, keys: &[u128], args: Vec<u128>) -> Op {
    let table = ir.program.table(table).expect("a table of the program");
    let mut actions = ir.program.tables[table].actions.iter().map(|used| used.action);
    let is_meant = |name: &str| name.rsplit('.').next() == Some(action);
    let action = actions.find(|a| is_meant(&ir.program.actions[*a].name)).expect("its action");
    Op::Insert(Entry { table, keys: keys.iter().map(|key| KeyMatch::Exact(*key)).collect(), priority: 0, action, args })
}

fn stations(ir: &Ir) -> Vec<Op> {
    let mut ops = Vec::new();
    for port in [N3, RADIO] {
        ops.push(insert(ir, "station", "ours", &[port.0.into()], vec![mac(OURS), address(OURS)]));
    }
    for (peer, port, to, udp) in [(1, N3, UPF, 2152), (2, RADIO, UNIT, UNIT_PORT)] {
        let args = vec![port.0.into(), mac(OURS), mac(to), address(OURS), address(to), udp.into(), udp.into()];
        ops.push(insert(ir, "peer", "send", &[peer], args));
    }
    ops
}

fn set_checksum(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let mut sum: u32 = frame[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    frame[24..26].copy_from_slice(&(!sum as u16).to_be_bytes());
}

fn datagram(from: Station, to: Station, port: u16, payload: &[u8]) -> Vec<u8> {
    let mut frame = [&to.0[..], &from.0, &[8, 0, 0x45, 0]].concat();
    frame.extend((payload.len() as u16 + 28).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
    frame.extend(from.1);
    frame.extend(to.1);
    frame.extend(port.to_be_bytes());
    frame.extend(port.to_be_bytes());
    frame.extend((payload.len() as u16 + 8).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    set_checksum(&mut frame);
    frame
}

/// G-PDU without a container, with a sequence number, or with a container.
fn gtpu(flags: u8, teid: u32, qos: u8, user: &[u8]) -> Vec<u8> {
    let optional: &[u8] = match flags & 7 {
        0 => &[],
        1..=3 => &[1, 2, 3, 0],
        _ => &[0, 0, 0, 0x85, 1, 0, qos, 0],
    };
    let mut gtpu = vec![flags, 255];
    gtpu.extend(((user.len() + optional.len()) as u16).to_be_bytes());
    gtpu.extend(teid.to_be_bytes());
    gtpu.extend(optional);
    gtpu.extend(user);
    gtpu
}

/// Both, and what the interpreter's verdicts were.
struct Pair {
    ir: Arc<Ir>,
    bearers: Vec<Bearer>,
    /// Copies that were compared with what was sent.
    copies: u32,
    whole: Whole,
    lane: Box<dyn Lane>,
    judge: Machine,
    seen: BTreeMap<String, u32>,
}

impl Pair {
    fn new(bearers: &[Bearer], window: u32) -> Pair {
        let ir = compile();
        let limits = Limits { packets: 1 << 24, bytes: u64::MAX };
        let services = [
            inline::in_lane(Arc::new(move || Box::new(BufferService::plain(1024, limits)))),
            inline::in_lane(Arc::new(|| Box::new(CipherService::new(Choice::Portable).expect("it needs no library")))),
            inline::in_lane(Arc::new(|| Box::new(RadioBearerService::new(1024)))),
        ];
        for bearer in bearers {
            let config = BearerConfig {
                sn_length: bearer.sn_length(),
                window,
                bytes: u64::MAX,
                poll_retransmit_ms: 4000,
                poll_pdu: Some(16),
                poll_byte: None,
                max_retransmissions: 8,
            };
            services[0].set(bearer.n, Some(bearer_setting(&config).into())).unwrap();
        }
        let batch = Batch { ops: stations(&ir).into_iter().chain(bearers.iter().flat_map(|bearer| bearer.ops(&ir))).collect() };
        let mut judge = Machine::new(ir.clone()).unwrap();
        judge.set_services(Box::new(inline::Inline::new(&ir.program, &services).unwrap()));
        judge.apply(&batch).unwrap();
        let mut whole = Whole::new(Arc::new(ir.program.clone()), 1024, 1024, window).unwrap();
        whole.install(&batch).unwrap();
        Pair { lane: whole.lane(), bearers: bearers.to_vec(), copies: 0, ir, whole, judge, seen: BTreeMap::new() }
    }

    /// Runs a burst through both: the verdicts, which are the same, as the bytes are.
    fn run(&mut self, packets: &[Packet], now_ns: u64) -> Vec<Verdict> {
        let mut ours = packets.to_vec();
        let mut verdicts = vec![Verdict::default(); ours.len()];
        self.lane.process(&mut ours, &mut verdicts, now_ns);
        for ((packet, our), verdict) in packets.iter().zip(&ours).zip(&verdicts) {
            let theirs = self.judge.process(packet.data(), packet.port, now_ns, Mode::Whole);
            assert_eq!(*verdict, theirs.verdict, "in: {packet:?}");
            if verdict.kind != VerdictKind::Drop {
                assert_eq!(our.data(), theirs.bytes, "in: {packet:?}");
            }
            let name = if is_forwarded(verdict) { "forward".into() } else { self.ir.program.reason_name(verdict.reason) };
            *self.seen.entry(name).or_default() += 1;
        }
        self.check_copies(ours.iter().zip(&verdicts));
        verdicts
    }

    /// What is kept of each bearer's last packet, if it is not acknowledged yet, is the PDCP PDU that was sent.
    fn check_copies<'a>(&mut self, sent: impl Iterator<Item = (&'a Packet, &'a Verdict)>) {
        let forwarded = sent.filter(|(_, verdict)| is_forwarded(verdict));
        let of = |front: &[u8]| (u16::from_be_bytes([front[53], front[54]]), front[58]);
        let pdus = forwarded.map(|(packet, _)| (of(packet.data()), &packet.data()[60..]));
        let last: BTreeMap<(u16, u8), &[u8]> = pdus.collect();
        for bearer in &self.bearers {
            let Some(pdu) = last.get(&(bearer.ue(), bearer.drb())) else { continue };
            let next = self.whole.counts(bearer.n).downlink_packets.packets as u32;
            if let Some(kept) = self.whole.kept(bearer.n, next - 1) {
                assert_eq!(kept, pdu[if bearer.rlc_long { 3 } else { 2 }..]);
                self.copies += 1;
            }
            assert_eq!(self.whole.kept(bearer.n, next), None);
        }
    }

    /// The counters of a bearer are the interpreter's.
    fn check_counts(&self, bearer: u32) -> Counts {
        let program = &self.ir.program;
        let count = |name: &str| {
            let id = program.counter(name).or_else(|| {
                let mut found = program.counters.iter().filter(|(_, c)| c.name.rsplit('.').next() == Some(name));
                found.next().map(|(id, _)| id)
            });
            let count = self.judge.counter(id.expect("a counter of the program"), bearer.into());
            Count { packets: count.packets, bytes: count.bytes }
        };
        let theirs = Counts {
            downlink_packets: count("downlink_packets"),
            radio_sent: count("radio_sent"),
            radio_received: count("radio_received"),
            downlink_count_high: count("downlink_count_high").packets,
        };
        assert_eq!(self.whole.counts(bearer), theirs, "bearer {bearer}");
        theirs
    }

    fn check_seen(&self, least: &[(&str, u32)]) {
        println!("{:?}", self.seen);
        assert!(!self.seen.contains_key(&self.ir.program.reason_name(DropReason::TARGET_FAILED.0)), "{:?}", self.seen);
        assert!(least.iter().all(|(name, least)| self.seen.get(*name).is_some_and(|n| n >= least)), "{:?}", self.seen);
    }
}

/// Frames of a test, and what the UEs know.
struct Source {
    rng: testkit::Rng,
    bearers: Vec<Bearer>,
    /// By bearer: packets that were sent before this burst, and how many of them were acknowledged last.
    sent: Vec<u32>,
    acknowledged: Vec<u32>,
}

impl Source {
    fn new(bearers: Vec<Bearer>, seed: u64) -> Source {
        let none = vec![0; bearers.len()];
        Source { rng: testkit::rng(seed), sent: none.clone(), acknowledged: none, bearers }
    }

    /// A tunnel packet of some bearer, and the port that it comes by.
    fn downlink(&mut self) -> (PortId, Vec<u8>) {
        let rng = &mut self.rng;
        let bearer = self.bearers[rng.random_range(0..self.bearers.len())];
        let teid = if rng.random_bool(0.04) { rng.random() } else { bearer.teid() };
        let qos = [9, 9, 9, 9, 9, 9, 9, 9, 10, 0][rng.random_range(0..10)] | rng.random_range(0..4) << 6;
        let len = match rng.random_range(0..100) {
            0 => rng.random_range(8_900..9_100),
            1..5 => rng.random_range(200..3_000),
            _ => rng.random_range(0..200),
        };
        let user: Vec<u8> = (0..len).map(|_| rng.random()).collect();
        let flags = [0x34, 0x34, 0x34, 0x34, 0x34, 0x3c, 0x36, 0x30, 0x32][rng.random_range(0..9)];
        let (from, to, port) = match rng.random_range(0..40) {
            0 => (UNIT, OURS, N3),
            1 => (UPF, UNIT, N3),
            2 => (UPF, NOBODY, BARE),
            3 => (UPF, OURS, BARE),
            _ => (UPF, OURS, N3),
        };
        (port, datagram(from, to, 2152, &gtpu(flags, teid, qos, &user)))
    }

    /// A STATUS of some bearer of which something waits, as a rule.
    fn status(&mut self) -> Vec<u8> {
        let rng = &mut self.rng;
        let at = rng.random_range(0..self.bearers.len());
        let (bearer, sent, before) = (self.bearers[at], self.sent[at], self.acknowledged[at]);
        let missing = before + rng.random_range(0..3);
        let pdu = match rng.random_range(0..20) {
            // Ahead of what was sent, or behind what was acknowledged.
            0 => bearer.status(sent + rng.random_range(1..200), &[]),
            1 if before > 0 => bearer.status(before - 1, &[]),
            2 | 3 if missing < sent => {
                self.acknowledged[at] = missing;
                let segment = rng.random_bool(0.3).then_some((0, 7));
                let mut nacks = vec![Nack { sn: missing, range: rng.random_range(1..3), segment }];
                if rng.random_bool(0.3) {
                    nacks.push(Nack::of(missing + 5));
                }
                bearer.status(sent, &nacks)
            }
            4 => {
                let mut pdu = bearer.status(sent, &[Nack::of(before), Nack { sn: before + 2, range: 3, segment: None }]);
                match rng.random_range(0..3) {
                    0 => pdu.truncate(rng.random_range(1..pdu.len())),
                    1 => pdu.push(0),
                    _ => *pdu.last_mut().expect("a range") = 0,
                }
                pdu
            }
            5 => [bearer.status(sent, &[]), vec![0]].concat(),
            _ => {
                let ack = rng.random_range(before..=sent);
                self.acknowledged[at] = ack;
                bearer.status(ack, &[])
            }
        };
        bearer.uplink(&pdu)
    }

    /// One that is right, or wrong in one place, or cut, with the port that it comes by.
    fn frame(&mut self, statuses: f64) -> (PortId, Vec<u8>) {
        let is_status = self.rng.random_bool(statuses);
        let (mut port, mut frame) = if is_status { (RADIO, self.status()) } else { self.downlink() };
        let rng = &mut self.rng;
        if rng.random_bool(0.15) {
            let place = rng.random_range(0..frame.len().min(61));
            match rng.random_range(0..7) {
                // Of an uplink PDU the bit that makes it data is out of scope.
                0..4 => frame[place] ^= if place == 60 { 1 << rng.random_range(0..7) } else { rng.random_range(1..=255) },
                4 => frame.truncate(rng.random_range(0..frame.len())),
                5 if frame.len() > 14 => frame[12..14].copy_from_slice(&[8, 6]),
                _ => port = PortId(if is_status { N3.0 } else { BARE.0 }),
            }
            if rng.random_bool(0.8) && frame.len() >= 34 {
                set_checksum(&mut frame);
            }
        }
        (port, frame)
    }
}

/// Bursts with so many STATUS PDUs among packets; the acknowledged ones were sent before the burst.
fn compare(window: u32, statuses: f64, bursts: usize, seed: u64) -> Pair {
    let bearers: Vec<Bearer> = (0..BEARERS).map(Bearer::new).collect();
    let mut pair = Pair::new(&bearers, window);
    let mut source = Source::new(bearers, seed);
    for burst in 0..bursts {
        let count = source.rng.random_range(1..=BURST);
        let frames: Vec<_> = (0..count).map(|_| source.frame(statuses)).collect();
        let compact = source.rng.random_bool(0.1);
        let make = |(port, bytes): &(PortId, Vec<u8>)| if compact { Packet::compact(bytes, *port) } else { Packet::new(bytes, *port) };
        let packets: Vec<Packet> = frames.iter().map(make).collect();
        pair.run(&packets, 1_000 * (burst as u64 + 1));
        // What the UEs may acknowledge next.
        for (at, bearer) in source.bearers.iter().enumerate() {
            source.sent[at] = pair.whole.counts(bearer.n).downlink_packets.packets as u32;
        }
    }
    for bearer in &source.bearers {
        pair.check_counts(bearer.n);
    }
    pair
}

#[test]
fn it_does_what_the_program_does_in_the_interpreter() {
    let pair = compare(64, 0.1, 1_800, 3);
    let least = [
        ("forward", 20_000),
        ("status_processed", 1_500),
        ("service_refused", 300),
        ("count_exhausted", 100),
        ("unknown_teid", 500),
        ("malformed", 200),
        ("wrong_source", 400),
        ("ipv4_checksum", 50),
        ("length_mismatch", 100),
        ("not_our_mac", 500),
        ("unsupported_protocol", 20),
        ("header_chain", 10),
        ("gtpu_version", 10),
        ("gtpu_signalling", 10),
        ("gtpu_extension", 10),
        ("too_big", 50),
        ("radio_framing", 50),
        ("no_bearer", 10),
        ("host", 20),
        ("arp", 20),
    ];
    pair.check_seen(&least);
    assert!(pair.copies > 10_000, "{}", pair.copies);
    assert!((0..BEARERS).any(|n| pair.whole.counts(n).downlink_count_high > 0));
}

#[test]
fn windows_that_are_full_as_a_rule_refuse_what_the_program_refuses() {
    for (window, seed) in [(5, 4), (1, 5)] {
        compare(window, 0.3, 500, seed).check_seen(&[("forward", 1_000), ("status_processed", 400), ("service_refused", 1_500)]);
    }
}

fn packet(bearer: &Bearer, bytes: usize) -> Packet {
    Packet::new(&datagram(UPF, OURS, 2152, &gtpu(0x34, bearer.teid(), 9, &vec![7; bytes])), N3)
}

fn is_forwarded(verdict: &Verdict) -> bool {
    verdict.kind == VerdictKind::Forward
}

#[test]
fn a_status_frees_a_full_window_within_the_burst() {
    for n in [4, 5] {
        let bearer = Bearer::new(n);
        let mut pair = Pair::new(&[bearer], 8);
        let status = |ack| Packet::new(&bearer.uplink(&bearer.status(ack, &[])), RADIO);
        let mut burst: Vec<Packet> = (0..10).map(|_| packet(&bearer, 70)).collect();
        burst.push(status(3));
        burst.extend((0..4).map(|_| packet(&bearer, 300)));
        burst.extend([status(3), status(12), status(11), packet(&bearer, 9_000)]);
        let verdicts = pair.run(&burst, 1_000);
        let refused = Verdict { kind: VerdictKind::Drop, reason: DropReason::SERVICE_REFUSED.0, ..Verdict::default() };
        let processed = Verdict { reason: 48, ..refused };
        assert!(verdicts[..8].iter().all(is_forwarded) && verdicts[11..14].iter().all(is_forwarded) && is_forwarded(&verdicts[18]));
        assert_eq!(verdicts[8..11], [refused, refused, processed]);
        assert_eq!(verdicts[14..18], [refused, processed, refused, processed]);
        assert_eq!(pair.check_counts(n).downlink_packets, Count { packets: 12, bytes: 8 * 70 + 3 * 300 + 9_000 });
    }
}

#[test]
fn numbers_wrap_and_the_longest_window_is_acknowledged_at_once() {
    let bearer = Bearer { rlc_long: false, ..Bearer::new(6) };
    let mut pair = Pair::new(&[bearer], 2_048);
    for round in 1..=3 {
        for _ in 0..33 {
            let burst: Vec<Packet> = (0..BURST).map(|_| packet(&bearer, 40)).collect();
            pair.run(&burst, round);
        }
        let status = Packet::new(&bearer.uplink(&bearer.status(round as u32 * 2_048, &[])), RADIO);
        pair.run(&[status], round);
    }
    assert_eq!(
        pair.seen.into_iter().collect::<Vec<_>>(),
        [("forward".to_owned(), 3 * 2_048), ("service_refused".to_owned(), 3 * 64), ("status_processed".to_owned(), 3)]
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let ir = compile();
    let new = |program: &Ir| Whole::new(Arc::new(program.program.clone()), 3, 2, 8);
    let mut whole = new(&ir).unwrap();
    let mut install = |op: &Op| whole.install(&Batch { ops: vec![op.clone()] });
    let is_scope = |result, text: &str| matches!(result, Err(LimitError::Scope(why)) if why.contains(text));
    let is_full = |result, text: &str| matches!(result, Err(LimitError::Full(why)) if why.contains(text));
    let first = Bearer::new(0).ops(&ir);
    assert!(is_scope(install(&first[0]), "before what it refers to"));
    for op in stations(&ir) {
        install(&op).unwrap();
    }
    assert!(is_full(install(&stations(&ir)[2]), "has that entry"));
    assert!(is_scope(install(&first[3]), "before what it refers to"));
    for op in &first {
        install(op).unwrap();
    }
    assert!(is_full(install(&first[0]), "has that entry") && is_full(install(&first[3]), "has that entry"));
    assert!(is_full(install(&Bearer::new(1).ops(&ir)[0]), "no room"));
    let changed = |op: &Op, key: u128, at: usize, value: u128| {
        let Op::Insert(mut entry) = op.clone() else { unreachable!() };
        entry.keys[0] = KeyMatch::Exact(key);
        entry.args[at] = value;
        Op::Insert(entry)
    };
    // RLC UM, and ciphers, each way.
    for (op, protected) in [(&first[0], 6), (&first[3], 5)] {
        assert!(is_scope(install(&changed(op, 7, 1, 1)), "another mode of RLC"));
        assert!(is_scope(install(&changed(op, 7, protected, 1)), "ciphers"));
        assert!(is_scope(install(&changed(op, 7, 0, 2)), "out of range"));
    }
    assert!(is_scope(install(&changed(&first[3], 7, 2, 1)), "another one does not"));
    let mut roomy = Whole::new(Arc::new(ir.program.clone()), 9, 2, 8).unwrap();
    roomy.install(&Batch { ops: stations(&ir).into_iter().chain(first.clone()).collect() }).unwrap();
    let other = Batch { ops: vec![changed(&first[0], 7, 10, 5)] };
    assert!(is_scope(roomy.install(&other), "another one does not"));
    let Op::Insert(known) = first[0].clone() else { unreachable!() };
    assert!(matches!(install(&Op::Delete(known)), Err(LimitError::Scope(_))));
    let none = p4_check::compile_str("none.p4", include_str!("../../../../p4/l2fwd.p4"), &Options::default()).unwrap().ir;
    assert!(matches!(new(&none), Err(LimitError::Scope(_))));
    assert!(matches!(Whole::new(Arc::new(ir.program.clone()), 3, 2, 0), Err(LimitError::Full(_))));
}
