//! How does a packet test run on a native target? As a device: a batch of entries, one packet, what leaves.

use crate::failure::Failure;
use base::PortId;
use p4_interp::stf;
use p4_ir::Ir;
use std::sync::Arc;

/// A native target as the device of a packet test.
pub struct TargetDevice {
    target: target_x86::X86,
    lane: Box<dyn target::Lane>,
    now_ns: u64,
}

impl TargetDevice {
    /// The program as native code, on one lane.
    pub fn x86(ir: &Ir) -> Result<TargetDevice, Failure> {
        use target::Target;
        let text = p4_emit::emit_x86(ir).map_err(|e| Failure::Usage(e.to_string()))?;
        let x86 =
            target_x86::X86::load(Arc::new(ir.program.clone()), &text, &Default::default()).map_err(|e| Failure::Usage(e.to_string()))?;
        Ok(TargetDevice { lane: x86.lane(0), target: x86, now_ns: 0 })
    }
}

impl stf::Device for TargetDevice {
    fn apply(&mut self, batch: &program::Batch) -> Result<(), program::RuleError> {
        target::Target::apply(&self.target, batch)
    }

    fn process(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)> {
        if bytes.len() > base::MAX_PACKET {
            return Vec::new();
        }
        let mut packets = [base::Packet::new(bytes, port)];
        let mut verdicts = [base::Verdict::default()];
        self.now_ns += 1000;
        self.lane.process(&mut packets, &mut verdicts, self.now_ns);
        let mut extra = Vec::new();
        self.lane.take_extra(&mut extra);
        let all = packets.iter().zip(verdicts).chain(extra.iter().map(|x| (&x.packet, x.verdict)));
        all.filter_map(|(packet, verdict)| Some((stf::way_out(verdict)?, packet.data().to_vec()))).collect()
    }

    fn counter(&mut self, counter: program::CounterId, index: u64) -> p4_interp::Count {
        let count = target::Target::counter(&self.target, counter, index);
        p4_interp::Count { packets: count.packets, bytes: count.bytes }
    }

    fn register(&mut self, _: program::RegisterId, _: u64) -> Option<u128> {
        None
    }

    fn set_register(&mut self, _: program::RegisterId, _: u64, _: u128) -> bool {
        false
    }
}
