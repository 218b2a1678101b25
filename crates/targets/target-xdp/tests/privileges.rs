//! Which privileges does it take to load, attach and run? Each of the three that are asked for is one that the kernel refuses without,
//! and no other is needed. As root, in threads that give up capabilities: the kernel asks the thread.

use base::{Packet, PortId, Verdict, VerdictKind};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use target_api::Target;
use target_xdp::object::{Object, Sizes};
use target_xdp::{LoadError, Mode, Options, Waited, Xdp};

/// Bits of <linux/capability.h>.
const NET_ADMIN: u32 = 12;
const SYS_ADMIN: u32 = 21;
const PERFMON: u32 = 38;
const BPF: u32 = 39;
const ASKED_FOR: [(u32, &str); 3] = [(BPF, "CAP_BPF"), (PERFMON, "CAP_PERFMON"), (NET_ADMIN, "CAP_NET_ADMIN")];

/// Gives up all others, for this thread and for good.
fn keep_only(kept: impl Iterator<Item = u32>) {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let permitted = status.lines().find_map(|l| l.strip_prefix("CapPrm:")).unwrap();
    let set = kept.fold(0u64, |set, bit| set | 1 << bit) & u64::from_str_radix(permitted.trim(), 16).unwrap();
    // `struct __user_cap_header_struct` and `__user_cap_data_struct` of version 3: effective, permitted, inheritable, low words first.
    let header: [u32; 2] = [0x2008_0522, 0];
    let (low, high) = (set as u32, (set >> 32) as u32);
    let data: [u32; 6] = [low, low, 0, high, high, 0];
    // SAFETY: the kernel reads a header and two data structures, which outlive the call; it changes this thread's capabilities only.
    let result = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) };
    assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
}

/// In a thread with these capabilities only, in a network namespace with a veth `near`.
fn with_only<T: Send>(kept: &[u32], work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: changes only this thread's namespace; no pointers.
            assert_eq!(unsafe { libc::unshare(libc::CLONE_NEWNET) }, 0);
            let ip = Command::new("ip").args(["link", "add", "near", "type", "veth", "peer", "name", "far"]).status().unwrap();
            assert!(ip.success());
            keep_only(kept.iter().copied());
            work()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn program(name: &str) -> (p4_ir::Ir, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4").join(name);
    let mut ir = p4_check::compile_file(&path, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let text = p4_emit::bpf::emit_xdp(&ir).unwrap();
    (ir, text)
}

/// As the loader compiles it.
fn object(text: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("p.c"), folder.path().join("p.o"));
    std::fs::write(&source, text).unwrap();
    let flags = ["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-fno-builtin", "-fno-strict-aliasing", "-w", "-c", "-o"];
    assert!(Command::new("clang").args(flags).arg(&object).arg(&source).status().unwrap().success());
    std::fs::read(object).unwrap()
}

/// The loader tries what the kernel can do once in a process, and must not do so first where it may not.
fn ask_what_the_kernel_can(object: &[u8], sizes: &Sizes) {
    Object::load(object, sizes, &["sp_xdp"]).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn the_kernel_refuses_without_each_that_is_asked_for() {
    if !testkit::root_or_skip("the_kernel_refuses_without_each_that_is_asked_for") {
        return;
    }
    let (ir, text) = program("l2switch.p4");
    let (object, program) = (object(&text), Arc::new(ir.program));
    let sizes = Sizes::of(&program, &Options::default(), 1).unwrap();
    ask_what_the_kernel_can(&object, &sizes);
    for (missing, name) in ASKED_FOR {
        let kept: Vec<u32> = (0..41).filter(|bit| ![missing, SYS_ADMIN].contains(bit)).collect();
        let (kernel, ours) = with_only(&kept, || {
            let kernel = Object::load(&object, &sizes, &["sp_xdp"]).err();
            (kernel, Xdp::load(program.clone(), &text, &Options::default()).err())
        });
        // What it would say if it were not asked before.
        let kernel = kernel.unwrap_or_else(|| panic!("the kernel loads without {name}: it need not be asked for")).to_string();
        println!("without {name}: {kernel}");
        let Some(LoadError::Capability(ours)) = ours else { panic!("{name}: {ours:?}") };
        assert!(ours.starts_with(name) && ASKED_FOR.iter().all(|(bit, other)| *bit == missing || !ours.contains(other)), "{ours}");
    }
}

#[test]
fn those_suffice_to_load_attach_and_run() {
    if !testkit::root_or_skip("those_suffice_to_load_attach_and_run") {
        return;
    }
    for name in ["l2switch.p4", "upf.p4"] {
        let (ir, text) = program(name);
        let program = Arc::new(ir.program);
        ask_what_the_kernel_can(&object(&text), &Sizes::of(&program, &Options::default(), 1).unwrap());
        with_only(&ASKED_FOR.map(|(bit, _)| bit), || {
            let xdp = Xdp::load(program, &text, &Options { subset: false, ..Options::default() }).unwrap_or_else(|e| panic!("{name}: {e}"));
            let mut verdict = [Verdict::forward(PortId(0))];
            xdp.lane(0).process(&mut [Packet::new(&[2; 60], PortId(0))], &mut verdict, 1);
            assert!(matches!(verdict[0].kind, VerdictKind::Drop | VerdictKind::Punt), "{name}: {verdict:?}");
            // And to run what makes this core, which has had a packet, execute a barrier.
            let as_it_is = |(table, info): (program::TableId, &program::TableInfo)| {
                let (action, args) = info.default_action.clone();
                Some(program::Op::SetDefault { table, action, args }).filter(|op| xdp.program().check_op(0, op).is_ok())
            };
            let op = xdp.program().tables.iter().find_map(as_it_is).unwrap();
            xdp.apply(&program::Batch { ops: vec![op] }).unwrap();
            assert_eq!(xdp.waited(), Waited { quick: 1, slow: 0 }, "{name}");
            let near = pktio::Interface::find("near", "near").unwrap();
            assert_eq!(xdp.attach("near", near.index).unwrap(), Mode::Native);
            // And what finds out which veths send redirected frames.
            let probe = target_xdp::probe::Probe::load(None).unwrap_or_else(|e| panic!("{e}"));
            assert!(!probe.sends_redirected("near", near.index, near.mac).unwrap());
        });
    }
}
