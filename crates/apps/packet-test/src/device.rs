//! How does a packet test run on a native target? As a device: a batch of entries, one packet, what leaves.

use base::PortId;
use p4_driver::{Error, X86Program};
use p4_interp::stf;
use service::Deployment;
use std::sync::Arc;

/// A native target as the device of a packet test.
pub struct TargetDevice {
    target: Box<dyn target_api::Target>,
    lane: Box<dyn target_api::Lane>,
    now_ns: u64,
}

impl TargetDevice {
    /// The program as native code, on one lane, with its services.
    pub fn x86(program: &X86Program, services: &[Arc<Deployment>]) -> Result<TargetDevice, Error> {
        let target = program.load(&Default::default(), services)?;
        Ok(TargetDevice { lane: target.lane(0), target, now_ns: 0 })
    }
}

impl stf::Device for TargetDevice {
    fn apply(&mut self, batch: &program::Batch) -> Result<(), program::ApplyError> {
        self.target.apply(batch)
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
        // What services give back at once; a packet that they keep for longer comes out with a later one.
        let mut back = Vec::new();
        for _ in 0..=program::Bridge::MAX_STOPS {
            if self.lane.next_poll_ns().is_some_and(|at_ns| at_ns <= self.now_ns) {
                self.lane.poll(self.now_ns, &mut back);
            }
        }
        let all = packets.iter().zip(verdicts).chain(extra.iter().map(|x| (&x.packet, x.verdict)));
        let all = all.chain(back.iter().map(|returned| (&returned.packet, returned.verdict)));
        all.filter_map(|(packet, verdict)| Some((stf::way_out(verdict)?, packet.data().to_vec()))).collect()
    }

    fn counter(&mut self, counter: program::CounterId, index: u64) -> p4_interp::Count {
        let count = self.target.counter(counter, index);
        p4_interp::Count { packets: count.packets, bytes: count.bytes }
    }

    fn register(&mut self, register: program::RegisterId, index: u64) -> Option<u128> {
        let mut cell = Vec::new();
        self.target.facets().registers?.read_registers(register, index..index.checked_add(1)?, &mut cell).ok()?;
        cell.first().map(|cell| u128::from(*cell))
    }

    fn set_register(&mut self, register: program::RegisterId, index: u64, value: u128) -> bool {
        // Targets show registers of up to 64 bits; bits beyond a register's width are left out in any case.
        let registers = self.target.facets().registers;
        registers.is_some_and(|r| r.set_register(register, index, value as u64).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn a_program_that_calls_services_is_refused_by_their_name() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/p4-check/tests/ok/services.p4");
        let include = [Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/include")];
        let program = p4_driver::Program::compile(&path, &include, &[]).unwrap();
        let service = program.ir.program.services.values().next().unwrap().name.clone();
        let refused = super::TargetDevice::x86(program.x86().unwrap(), &[]).err().unwrap().to_string();
        assert!(refused.contains(&format!("calls service {service}, which is not configured")), "{refused}");
    }
}
