//! How does a packet test run on a native target? As a device: a batch of entries, one packet, what leaves.

use base::PortId;
use daemon::failure::Failure;
use p4_interp::stf;
use p4_ir::Ir;
use service::Deployment;
use std::sync::Arc;

/// A native target as the device of a packet test.
pub struct TargetDevice {
    target: Box<dyn target::Target>,
    lane: Box<dyn target::Lane>,
    now_ns: u64,
}

impl TargetDevice {
    /// The program as native code, on one lane, with its services.
    pub fn x86(ir: &Ir, services: &[Arc<Deployment>]) -> Result<TargetDevice, Failure> {
        let target = x86(ir, &Default::default(), services)?;
        Ok(TargetDevice { lane: target.lane(0), target, now_ns: 0 })
    }
}

/// A program as native code; one that copies packets, sends them round or calls services is cut for that first. One that calls a service that is not
/// among `services` is refused by its name.
pub fn x86(ir: &Ir, options: &target_x86::Options, services: &[Arc<Deployment>]) -> Result<Box<dyn target::Target>, Failure> {
    match p4_passes::bridge::cut(ir).map_err(|e| refused(&e))? {
        None => Ok(Box::new(x86_uncut(ir, options)?)),
        Some((mut cut, bridge)) => {
            p4_passes::optimise(&mut cut).map_err(|e| Failure::Failed(e.to_string()))?;
            let whole = target::Replicating::new(x86_uncut(&cut, options)?, bridge).with_services(services).map_err(|e| refused(&e))?;
            Ok(Box::new(whole))
        }
    }
}

/// A program as native code that makes one packet of one.
pub fn x86_uncut(ir: &Ir, options: &target_x86::Options) -> Result<target_x86::X86, Failure> {
    let text = p4_emit::emit_x86(ir).map_err(|e| refused(&e))?;
    target_x86::X86::load(Arc::new(ir.program.clone()), &text, options).map_err(|e| refused(&e))
}

fn refused(e: &dyn std::fmt::Display) -> Failure {
    Failure::Usage(e.to_string())
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
        let ir = daemon::program::compile(&path, &include, &[]).unwrap();
        let service = ir.program.services.values().next().unwrap().name.clone();
        let refused = super::x86(&ir, &Default::default(), &[]).err().unwrap().to_string();
        assert!(refused.contains(&format!("calls service {service}, which is not configured")), "{refused}");
    }
}
