//! Split equals whole for programs that call services: a chip model or the kernel in front, native code behind it with services in the lane, on threads or in
//! a second process, against the interpreter that runs the whole program with the services' twins inline; while answers are late, lost and repeated.
//!
//! The second process is this test's own binary, started again: see [`the_second_process`].

mod common;

use offload::{Policy, Split};
use p4_gen::random::Shape;
use p4_interp::Mode;
use p4_ir::Ir;
use p4_passes::bridge;
use service::{Deployment, Place};
use std::path::PathBuf;
use std::sync::Arc;
use target_api::{Replicating, Target};
use target_asic::{Asic, Chip};
use target_kit::chaos::{self, Contest, Manner, Met, Second};
use target_x86::{Options, X86};

const IN_LANE: [Place; 3] = [Place::Lane, Place::Lane, Place::Lane];
const ON_THREADS: [Place; 3] = [Place::Threads(2), Place::Threads(1), Place::Threads(3)];

/// What is in front; `None`: it cannot run the program.
type Front = fn(&Arc<Ir>, u64) -> Option<Box<dyn Target>>;

fn chip(ir: &Arc<Ir>, _: u64) -> Option<Box<dyn Target>> {
    Some(Box::new(Asic::load(ir.clone(), Chip::default()).unwrap_or_else(|e| panic!("{e}"))))
}

fn kernel(ir: &Arc<Ir>, seed: u64) -> Option<Box<dyn Target>> {
    p4_emit::bpf::emit_xdp(ir).ok()?;
    match common::load(ir, seed, Mode::Subset) {
        Err(target_xdp::LoadError::Limit(_)) => None,
        loaded => Some(Box::new(loaded.unwrap_or_else(|e| panic!("{e}")))),
    }
}

/// The program on a chain of two, with its services behind the second; `None` if it calls none, or the first cannot run it.
fn chain(front: Front, seed: u64, ir: &Ir, services: &[Arc<Deployment>]) -> Option<Split> {
    let (mut cut, bridge) = bridge::cut(ir).unwrap_or_else(|e| panic!("{e}"))?;
    if !bridge.stops().any(|(kind, _)| bridge.call(kind).is_some()) {
        return None;
    }
    let front = front(&Arc::new(ir.clone()), seed)?;
    p4_passes::optimise(&mut cut).expect("keeps the invariants");
    let text = p4_emit::emit_x86(&cut).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { flags: vec!["-O0".into()], ..Options::default() };
    let x86 = X86::load(Arc::new(cut.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}"));
    let base = Replicating::new(x86, bridge).with_services(services).unwrap_or_else(|e| panic!("{e}"));
    Some(Split::new(front, Box::new(base), Policy::Share(1.0)).unwrap_or_else(|e| panic!("{e}")))
}

/// What chaos met, and how many packets ended on the first target and on the second.
fn check(
    front: Front,
    (shape, seeds): (Shape, impl Iterator<Item = u64>),
    places: &[Place; 3],
    between: &mut dyn FnMut(&mut Contest),
) -> (Met, [u64; 2]) {
    let mut ended = [0; 2];
    let met =
        chaos::chaos((shape, seeds), places, &mut |seed, ir, services| chain(front, seed, ir, services), &mut |contest, split: &Split| {
            between(contest);
            for (stage, sum) in ended.iter_mut().enumerate() {
                *sum += split.traffic_of(stage).values().map(|count| count.packets).sum::<u64>();
            }
        });
    println!("{} packets ended in front, {} behind", ended[0], ended[1]);
    assert!(ended[0] > 100 && ended[1] > 500, "in front and behind: {ended:?}");
    (met, ended)
}

/// Kills the services' processes, and starts others, `kills` at the least.
fn check_killed(front: Front, of: (Shape, impl Iterator<Item = u64>), least: u32) {
    let folder = tempfile::tempdir().expect("a folder");
    let paths: [PathBuf; 3] = std::array::from_fn(|n| folder.path().join(format!("{n}.sock")));
    let start = |n: usize| Second::start(&paths[n], n, Manner::Chaos);
    let mut seconds: Vec<Second> = (0..3).map(start).collect();
    let mut kills = 0;
    let (met, _) = check(front, of, &paths.clone().map(Place::Process), &mut |contest| {
        for (n, second) in seconds.iter_mut().enumerate() {
            second.kill();
            kills += 1;
            // What it had, and what it is given before the lane looks again, comes out.
            contest.round();
            *second = start(n);
        }
    });
    assert!(kills >= least && met.fates.down > 0, "{kills} kills, {met:?}");
}

/// Not a test: what runs in the second process.
#[test]
#[ignore = "the second process of the others"]
fn the_second_process() {
    chaos::serve_as_told();
}

#[test]
fn a_chip_model_in_front_of_services_in_the_lane_and_on_threads_equals_the_whole() {
    for (places, seeds) in [(&IN_LANE, 1040..1056), (&ON_THREADS, 1040..1056)] {
        let (met, _) = check(chip, (Shape::Calls, seeds.step_by(2)), places, &mut |_| {});
        assert!(met.fates.down == 0 && met.programs >= 4, "{met:?}");
    }
}

#[test]
fn a_chip_model_in_front_of_programs_that_copy_and_call_equals_the_whole() {
    for (places, seeds) in [(&IN_LANE, 1100..1116), (&ON_THREADS, 1120..1136)] {
        let (met, _) = check(chip, (Shape::CallsAndCopies, seeds.step_by(2)), places, &mut |_| {});
        assert!(met.fates.down == 0 && met.programs >= 4 && met.fates.whole > 0, "{met:?}");
    }
}

#[test]
fn a_chip_model_in_front_of_services_in_processes_that_are_killed_equals_the_whole() {
    check_killed(chip, (Shape::Calls, (1040..1056).step_by(2)), 12);
    check_killed(chip, (Shape::CallsAndCopies, (1140..1152).step_by(2)), 12);
}

#[test]
fn the_kernel_in_front_of_services_in_each_place_equals_the_whole() {
    if !testkit::root_or_skip("the_kernel_in_front_of_services_in_each_place_equals_the_whole") {
        return;
    }
    for (places, seeds) in [(&IN_LANE, 1200..1240), (&ON_THREADS, 1200..1240)] {
        let (met, _) = check(kernel, (Shape::Calls, seeds.step_by(2)), places, &mut |_| {});
        assert!(met.fates.down == 0 && met.programs >= 4, "{met:?}");
    }
    check_killed(kernel, (Shape::Calls, (1200..1240).step_by(2)), 12);
}
