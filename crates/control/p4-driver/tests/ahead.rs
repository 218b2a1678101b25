//! Does a program that was compiled ahead run where there is no compiler? One that copies packets and one that calls services too: what is compiled ahead
//! is what is loaded.

use base::{Packet, PortId, Verdict};
use p4_driver::objects::{Ahead, compile_ahead, remove_others};
use p4_driver::{Error, Program};
use program::{Batch, Mirror, Op};
use service::caller::{Make, Rings};
use service::{Access, Call, Deployment, Field, Interface, Place, Service, Setting, SettingError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use target_x86::{LoadError, Options};

/// The folder of objects, in the process that has no compiler.
const FOLDER: &str = "SPLITPLANE_TEST_OBJECTS";

fn programs() -> [PathBuf; 2] {
    ["corpus/copies.p4", "programs/called.p4"]
        .map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/splitplane/tests").join(name))
}

#[test]
fn programs_that_copy_packets_or_call_services_run_by_objects_that_were_compiled_ahead() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return run(&PathBuf::from(folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let ahead = programs().map(|program| Ahead { program, include: Vec::new(), defines: Vec::new(), xdp: false });
    let names = compile_ahead(&ahead, folder.path(), None).unwrap_or_else(|e| panic!("{e}"));
    assert!(names.len() > ahead.len(), "{names:?}");
    remove_others(folder.path(), &names).unwrap();
    // The same test in a process whose compiler is not there.
    let test = std::thread::current().name().expect("a test has a name").to_owned();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let status = child.args(["--exact", &test]).env(FOLDER, folder.path()).env("CC", "/nowhere/cc").status().unwrap();
    assert!(status.success());
}

fn run(folder: &Path) {
    let [copies, called] = programs().map(|path| Program::compile(&path, &[], &[]).unwrap_or_else(|e| panic!("{e}")));
    let options = Options { shipped: c_compile::Shipped::open(folder).ok(), ..Options::default() };
    assert!(options.shipped.is_some());
    let without = copies.x86().unwrap().load(&Options::default(), &[]);
    assert!(matches!(without, Err(Error::Load { error: LoadError::NoSuchCompiler(_), .. })), "there is a compiler");

    let target = copies.x86().unwrap().load(&options, &[]).unwrap_or_else(|e| panic!("{e}"));
    target.apply(&Batch { ops: vec![Op::Mirror { session: 5, to: Some(Mirror::Port(PortId(3))) }] }).unwrap();
    let mut lane = target.lane(0);
    // Of copies.stf: a clone with metadata, as received.
    let (mut packets, mut verdicts) = ([Packet::new(&[1, 0, 0, 0, 0, 2, 0xaa, 0xbb, 0x99], PortId(0))], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, 1);
    let mut extra = Vec::new();
    lane.take_extra(&mut extra);
    assert_eq!((verdicts[0], extra.len()), (Verdict::forward(PortId(1)), 1));
    assert_eq!(extra[0].packet.data(), [1, 0, 0x81, 0xcd, 0, 2, 0xaa, 0xbb, 0x99]);

    let make: Make = Arc::new(|| Box::new(Answers));
    let services = [Arc::new(Deployment::new(&Place::Lane, make, Rings::default()).unwrap())];
    let target = called.x86().unwrap().load(&options, &services).unwrap_or_else(|e| panic!("{e}"));
    let mut lane = target.lane(0);
    let (mut packets, mut verdicts) = ([Packet::new(&[1, 2, 9], PortId(0))], [Verdict::default()]);
    lane.process(&mut packets, &mut verdicts, 1);
    assert_eq!((verdicts[0], packets[0].data()), (Verdict::forward(PortId(1)), &[1, 43, 9][..]));
}

static INTERFACE: Interface = Interface {
    name: "answers",
    request: &[Field { name: "key", width: 8 }],
    answer: &[Field { name: "number", width: 8 }],
    key: None,
    reasons: &[],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |_, _| Ok(()),
};

/// Answers 40.
struct Answers;

impl Service for Answers {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        burst.iter_mut().for_each(|call| call.answer(&[40]));
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}
