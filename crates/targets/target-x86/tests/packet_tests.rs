//! Do programs whose meaning has been in doubt, or that were refused, do natively what their packet tests and the interpreter say?

use base::{Packet, PortId, Verdict, VerdictKind};
use p4_interp::stf::{self, Device};
use p4_interp::{Machine, Mode};
use p4_ir::Ir;
use program::{ApplyError, Batch, CounterId, RegisterId};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use target_api::{Lane, Replicating, Target};
use target_x86::{Options, X86};

/// A program as native code, cut where it copies packets.
fn native(ir: &Ir) -> Box<dyn Target> {
    let load = |ir: &Ir| {
        let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
        let options = Options { flags: vec!["-O1".into()], ..Options::default() };
        X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"))
    };
    match p4_passes::bridge::cut(ir).unwrap_or_else(|e| panic!("{e}")) {
        None => Box::new(load(ir)),
        Some((mut cut, bridge)) => {
            p4_passes::optimise(&mut cut).expect("keeps the invariants");
            Box::new(Replicating::new(load(&cut), bridge))
        }
    }
}

struct Native {
    target: Box<dyn Target>,
    lane: Box<dyn Lane>,
}

impl Device for Native {
    fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError> {
        self.target.apply(batch)
    }

    fn process(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)> {
        let (mut packets, mut verdicts, mut extra) = ([Packet::new(bytes, port)], [Verdict::default()], Vec::new());
        self.lane.process(&mut packets, &mut verdicts, 1000);
        self.lane.take_extra(&mut extra);
        let all = packets.iter().zip(verdicts).chain(extra.iter().map(|x| (&x.packet, x.verdict)));
        all.filter_map(|(packet, verdict)| Some((stf::way_out(verdict)?, packet.data().to_vec()))).collect()
    }

    fn counter(&mut self, counter: CounterId, index: u64) -> p4_interp::Count {
        let count = self.target.counter(counter, index);
        p4_interp::Count { packets: count.packets, bytes: count.bytes }
    }

    fn register(&mut self, _: RegisterId, _: u64) -> Option<u128> {
        None
    }

    fn set_register(&mut self, _: RegisterId, _: u64, _: u128) -> bool {
        false
    }
}

fn compile(name: &str, compiled: Result<p4_check::Compiled, p4_check::Failure>) -> Ir {
    let mut ir = compiled.unwrap_or_else(|failure| panic!("{name}: {}", failure.render())).ir;
    p4_passes::optimise(&mut ir).expect("keeps the invariants");
    ir
}

/// Plays a packet test on the interpreter and natively.
fn play(path: &Path) {
    let name = path.display().to_string();
    let ir = compile(&name, p4_check::compile_file(&path.with_extension("p4"), &p4_check::Options::default()));
    let script = stf::parse(&std::fs::read_to_string(path).unwrap(), &ir.program).unwrap_or_else(|e| panic!("{name}: {e}"));
    let interpreted = stf::run(&script, &mut stf::MachineDevice::new(Machine::new(Arc::new(ir.clone())).expect("runs")));
    assert_eq!(interpreted.failures, [], "{name} on the interpreter");
    let target = native(&ir);
    let lane = target.lane(0);
    let report = stf::run(&script, &mut Native { target, lane });
    assert_eq!(report.failures, [], "{name} on x86");
    assert!(report.received > 0, "{name}");
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn unions_parser_variables_and_wide_slices_mean_natively_what_the_specification_says() {
    for name in ["unions", "unions_emptied", "union_stacks_emptied", "places", "parser_locals", "wide_slices"] {
        play(&crates().join(format!("p4/p4-interp/tests/meaning/{name}.stf")));
    }
}

#[test]
fn copies_may_be_truncated_and_keep_256_bytes_of_metadata() {
    for name in ["copies_truncated", "copies_with_much_data", "truncate", "keys_by_name", "own_architecture"] {
        play(&crates().join(format!("apps/splitplane/tests/corpus/{name}.stf")));
    }
}

/// A parser of several states that go round, each of which extracts into one stack.
fn deep(depth: usize) -> String {
    let state = |i: usize| {
        let (next, back) = ((i + 1) % 8, i.saturating_sub(1));
        format!(
            "state s{i} {{ k.extract(h.ls.next); m.sum = m.sum + (bit<32>)h.ls.last.label; transition select(h.ls.last.tc, h.ls.last.bos) {{ \
             (1, 0): s{next}; (2, 0): s{back}; (_, 0): s{i}; default: accept; }} }}\n"
        )
    };
    let states: String = (0..8).map(state).collect();
    format!(
        "#include <core.p4>\n#include <v1model.p4>\nheader e_t {{ bit<32> sum; bit<8> i; bit<8> op; }}
        header l_t {{ bit<20> label; bit<3> tc; bit<1> bos; bit<8> ttl; }}
        struct H {{ e_t e; l_t[{depth}] ls; }}\nstruct M {{ bit<32> sum; }}
        parser P(packet_in k, out H h, inout M m, inout standard_metadata_t s) {{ state start {{ k.extract(h.e); transition s0; }}\n{states} }}
        control V(inout H h, inout M m) {{ apply {{ }} }}
        control I(inout H h, inout M m, inout standard_metadata_t s) {{
            apply {{
                s.egress_spec = 1;
                h.e.sum = m.sum;
                if (h.e.op == 1) {{ h.ls.pop_front(2); }}
                else if (h.e.op == 2) {{ h.ls.push_front(1); h.ls[0] = {{ 7, 1, 0, 9 }}; }}
                else if (h.e.op == 3) {{ h.ls[h.e.i].ttl = h.ls[h.e.i].ttl - 1; }}
                else if (h.e.op == 4) {{ h.ls[h.e.i].setInvalid(); }}
                else if (h.e.op == 5) {{ h.ls[h.e.i] = h.ls[0]; h.e.sum = (bit<32>)h.ls[h.e.i].label; }}
                else if (h.e.op == 6) {{ h.ls[h.e.i].setValid(); h.ls[h.e.i].label = 5; }}
                if (s.parser_error == error.StackOutOfBounds) {{ h.e.op = 0xee; }}
                if (!h.ls[h.e.i].isValid()) {{ h.e.i = 0xff; }}
            }}
        }}
        control E(inout H h, inout M m, inout standard_metadata_t s) {{ apply {{ }} }}
        control C(inout H h, inout M m) {{ apply {{ }} }}
        control D(packet_out k, in H h) {{ apply {{ k.emit(h.e); k.emit(h.ls); }} }}
        V1Switch(P(), V(), I(), E(), C(), D()) main;\n"
    )
}

#[test]
fn a_deep_stack_is_the_same_natively() {
    for depth in [9, 40, 70] {
        let ir = compile("deep", p4_check::compile_str("deep.p4", &deep(depth), &p4_check::Options::default()));
        let mut machine = Machine::new(Arc::new(ir.clone())).expect("runs");
        let target = native(&ir);
        let mut lane = target.lane(0);
        let (mut forwarded, mut beyond) = (0, 0);
        for n in 0..6 * (depth + 4) {
            let (labels, op) = (n / 6, n % 6 + 1);
            let mut bytes = vec![0, 0, 0, 0, (labels / 2) as u8, op as u8];
            for l in 0..labels {
                let bottom = u8::from(l + 1 == labels);
                bytes.extend([l as u8, n as u8, 0x10 | ((l % 3) as u8) << 1 | bottom, 64]);
            }
            bytes.extend([0xab; 5]);
            let theirs = machine.process(&bytes, PortId(2), 1000, Mode::Whole);
            let (mut packets, mut verdicts) = ([Packet::new(&bytes, PortId(2))], [Verdict::default()]);
            lane.process(&mut packets, &mut verdicts, 1000);
            assert_eq!(verdicts[0], theirs.verdict, "depth {depth}, {labels} labels, {op}");
            if theirs.verdict.kind != VerdictKind::Drop {
                assert_eq!(packets[0].data(), theirs.bytes, "depth {depth}, {labels} labels, {op}");
                forwarded += 1;
            }
            beyond += usize::from(packets[0].data().get(5) == Some(&0xee));
        }
        assert!(forwarded > 5 * depth && beyond > 5, "{forwarded} {beyond}");
    }
}

/// What the C compiler's time depends on: how many places there are where one of many pointers may change.
#[test]
fn the_text_of_a_deep_stack_grows_with_its_depth_and_not_with_its_square() {
    let text = |depth: usize| {
        let ir = compile("deep", p4_check::compile_str("deep.p4", &deep(depth), &p4_check::Options::default()));
        p4_emit::emit_x86(&ir).unwrap_or_else(|e| panic!("{e}"))
    };
    let (small, middle, large) = (text(32), text(64), text(128));
    assert!(large.len() - middle.len() < 3 * (middle.len() - small.len()), "{} {} {}", small.len(), middle.len(), large.len());
    assert!(!large.contains("uint8_t *h_p4_h_ls_5 "), "pointers are no locals");
}
