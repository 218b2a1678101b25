//! Does the hand-written gNodeB do what step 3 of the program does? The interpreter says, over frames that are right, wrong in one place, or cut.

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use baseline::LimitError;
use baseline::gnb::Gnb;
use p4_check::Options;
use p4_ir::Ir;
use program::{Batch, Entry, KeyMatch, Op};
use rand::Rng;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use target_api::{BURST, Target};
use target_asic::Asic;

const FLOWS: u32 = 600;
const BURSTS: usize = 1_500;
/// Bearers beyond this have no COUNT left but a few.
const FEW_LEFT: u32 = 150;

fn compile() -> Arc<Ir> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/gnb.p4");
    let mut options = Options::default();
    options.defines.extend([("STEP".to_owned(), "3".to_owned()), ("BEARERS".to_owned(), "1024".to_owned())]);
    let mut ir = p4_check::compile_file(&path, &options).unwrap_or_else(|failure| panic!("{}", failure.render())).ir;
    p4_passes::optimise(&mut ir).expect("keeps the invariants");
    Arc::new(ir)
}

fn teid(n: u32) -> u32 {
    0x1000_0000 + n / 3
}

/// Flow `n`: three of each TEID, the third its default; two of them on one bearer.
fn entry(ir: &Ir, n: u32) -> Op {
    let (table, keys) = match n % 3 {
        2 => ("default_bearer", vec![teid(n)]),
        flow => ("bearer_by_flow", vec![teid(n), 9 + flow]),
    };
    let table = ir.program.table(table).expect("a table of the program");
    let actions = ir.program.tables[table].actions.iter().map(|used| used.action);
    let action = { actions }.find(|a| ir.program.actions[*a].name.ends_with("set_bearer")).expect("its action");
    let bearer = n / 2;
    let count_base = if bearer > FEW_LEFT { u32::MAX - 20 } else { bearer * 977 };
    let bit = |at: u32| u128::from(bearer >> at & 1);
    let args =
        vec![bearer.into(), u128::from(bearer % 3), bit(0), bit(1), bit(2), bit(3), 1, 7, 8, 1, count_base.into(), 1500, 2, 0x0a03_0009];
    Op::Insert(Entry { table, keys: keys.into_iter().map(|key| KeyMatch::Exact(key.into())).collect(), priority: 0, action, args })
}

/// A tunnel packet of some flow, or of none.
fn frame(rng: &mut testkit::Rng) -> Vec<u8> {
    let n = rng.random_range(0..FLOWS + 30);
    let qfi = [9, 10, 11, 0][rng.random_range(0..4)];
    let user: Vec<u8> = (0..rng.random_range(0..90)).map(|_| rng.random()).collect();
    let mut gtpu = match rng.random_range(0..10) {
        0 => vec![0x30, 255, 0, 0],
        1 => vec![0x32, 255, 0, 0],
        _ => vec![0x34, 255, 0, 0],
    };
    gtpu.extend(teid(n).to_be_bytes());
    match gtpu[0] {
        0x34 => gtpu.extend([0, 0, 0, 0x85, 1, 0, qfi | rng.random_range(0..4) << 6, 0]),
        0x32 => gtpu.extend([1, 2, 3, 0x85]),
        _ => {}
    }
    gtpu.extend(user);
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 9, 8, 8, 0, 0x45, 0];
    frame.extend((gtpu.len() as u16 + 28).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, rng.random(), rng.random(), 10, 3, 0, 9, 10, 3, 0, 1]);
    frame.extend([8, 0x68, 8, 0x68, 0, 0, 0, 0]);
    frame.extend(gtpu);
    match rng.random_range(0..8) {
        0 => {
            let at = rng.random_range(0..frame.len().min(60));
            frame[at] = rng.random();
        }
        1 => frame.truncate(rng.random_range(0..frame.len())),
        _ => {}
    }
    frame
}

#[test]
fn it_does_what_step_3_does_in_the_interpreter() {
    let ir = compile();
    let oracle = Asic::oracle(ir.clone()).unwrap();
    let mut gnb = Gnb::new(Arc::new(ir.program.clone()), FLOWS.into(), 1024).unwrap();
    let batch = Batch { ops: (0..FLOWS).map(|n| entry(&ir, n)).collect() };
    oracle.apply(&batch).unwrap();
    gnb.install(&batch).unwrap();
    let mut rng = testkit::rng(3);
    let (mut lane, mut oracle_lane) = (gnb.lane(), oracle.lane(0));
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for _ in 0..BURSTS {
        let count = rng.random_range(1..=BURST);
        let port = PortId(if rng.random_bool(0.05) { 128 } else { 3 });
        let packets: Vec<Packet> = (0..count).map(|_| Packet::new(&frame(&mut rng), port)).collect();
        let (mut ours, mut theirs) = (packets.clone(), packets.clone());
        let mut verdicts = [vec![Verdict::default(); count], vec![Verdict::default(); count]];
        lane.process(&mut ours, &mut verdicts[0], 1);
        oracle_lane.process(&mut theirs, &mut verdicts[1], 1);
        for i in 0..count {
            let (our, their) = (verdicts[0][i], verdicts[1][i]);
            assert_eq!(our, their, "in: {:?}", packets[i]);
            if their.kind != VerdictKind::Drop {
                assert_eq!(ours[i].data(), theirs[i].data(), "in: {:?}", packets[i]);
            }
            let name = if their.kind == VerdictKind::Forward { "forward".into() } else { ir.program.reason_name(their.reason) };
            *seen.entry(name).or_default() += 1;
        }
    }
    let lost = |reason: DropReason| ir.program.reason_name(reason.0);
    assert!(!seen.contains_key(&lost(DropReason::TARGET_FAILED)), "{seen:?}");
    let least = [("forward", 20_000), ("unknown_teid", 500), ("malformed", 2_000), ("count_exhausted", 500)];
    assert!(least.iter().all(|(name, least)| seen.get(*name).is_some_and(|n| n >= least)), "{seen:?}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let ir = compile();
    let mut gnb = Gnb::new(Arc::new(ir.program.clone()), 4, 2).unwrap();
    let install = |gnb: &mut Gnb, op| gnb.install(&Batch { ops: vec![op] });
    for n in 0..4 {
        install(&mut gnb, entry(&ir, n)).unwrap();
    }
    assert!(matches!(install(&mut gnb, entry(&ir, 0)), Err(LimitError::Full(why)) if why.contains("has that entry")));
    assert!(matches!(install(&mut gnb, entry(&ir, 4)), Err(LimitError::Scope(why)) if why.contains("out of range")));
    let Op::Insert(known) = entry(&ir, 0) else { unreachable!() };
    assert!(matches!(install(&mut gnb, Op::Delete(known)), Err(LimitError::Scope(_))));
    let other = p4_check::compile_str("none.p4", include_str!("../../../../p4/l2fwd.p4"), &Options::default()).unwrap().ir;
    assert!(matches!(Gnb::new(Arc::new(other.program), 4, 2), Err(LimitError::Scope(_))));
}
