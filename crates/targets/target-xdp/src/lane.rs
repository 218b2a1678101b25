//! Packets through the program without an interface: one system call each.

use crate::sys::test_run;
use base::{DropReason, Packet, Verdict, VerdictKind};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use target_api::{BURST, Lane};

/// Bytes in front of a packet: `struct sp_test` of the emitted text.
const META: usize = 24;
/// Longest packet that one page holds beside the kernel's own data.
const MOST: usize = 3500;
/// Room for what a packet grows by.
const ROOM: usize = 4096;

/// A worker's share.
pub(crate) struct XdpLane {
    program: Arc<aya::programs::ProgramFd>,
    /// Bytes behind the packet that are none of it.
    behind: usize,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl XdpLane {
    pub(crate) fn new(program: Arc<aya::programs::ProgramFd>, behind: usize) -> XdpLane {
        XdpLane { program, behind, input: Vec::with_capacity(ROOM), output: vec![0; ROOM] }
    }

    fn run(&mut self, packet: &mut Packet, now_ns: u64) -> Verdict {
        if packet.len() > MOST {
            return Verdict::next();
        }
        self.input.clear();
        self.input.extend(now_ns.to_ne_bytes());
        self.input.extend(u32::from(packet.port.0).to_ne_bytes());
        self.input.resize(META, 0);
        self.input.extend_from_slice(packet.data());
        self.input.resize(META + packet.len() + self.behind, 0);
        let run = match test_run(self.program.as_fd().as_raw_fd(), &self.input, META, &mut self.output, 1) {
            Ok(run) if run.len >= META + self.behind && run.action == XDP_PASS => run,
            // The kernel takes no packet below 14 bytes.
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => return Verdict::next(),
            Ok(_) => return Verdict::drop(DropReason::TARGET_FAILED),
            Err(e) => {
                tracing::warn!("a packet could not be run in the kernel: {e}");
                return Verdict::next();
            }
        };
        let (kind, reason) = (self.output[12], self.output[13]);
        let out_port = u16::from_ne_bytes([self.output[14], self.output[15]]);
        let mark = u32::from_ne_bytes([self.output[16], self.output[17], self.output[18], self.output[19]]);
        let kind = match kind {
            0 => VerdictKind::Forward,
            1 => VerdictKind::Buffer,
            2 => VerdictKind::Punt,
            3 => VerdictKind::Drop,
            _ => return Verdict::next(),
        };
        if kind != VerdictKind::Drop {
            packet.set(&self.output[META..run.len - self.behind]);
        }
        let port = if kind == VerdictKind::Forward { out_port } else { 0 };
        Verdict { kind, reason, port, mark }.of_program()
    }
}

/// The lane of a target on interfaces: packets that arrive here were passed to the slow path already.
pub(crate) struct HandingOn;

impl Lane for HandingOn {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        verdicts.fill(Verdict::next());
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}

const XDP_PASS: u32 = 2;

impl Lane for XdpLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        for (packet, verdict) in packets.iter_mut().zip(verdicts) {
            *verdict = self.run(packet, now_ns);
        }
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, count, with_rates);
}
