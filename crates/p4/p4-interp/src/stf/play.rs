//! Plays a script on a device.

use super::check::{Failure, Ledger};
use super::{Command, Device, Script};
use crate::{Count, Machine, Mode};
use base::{PortId, Verdict, VerdictKind};
use program::{ApplyError, Batch, CounterId, Op, RegisterId};

/// How a script went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Packets sent.
    pub sent: usize,
    /// Packets that left.
    pub received: usize,
    /// What went wrong; empty if nothing did.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Whether the script passed.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Plays all of the script, whatever fails on the way.
pub fn run(script: &Script, device: &mut dyn Device) -> Report {
    let mut report = Report::default();
    let mut ledger = Ledger::default();
    let mut added: Vec<Op> = Vec::new();
    for (line, command) in &script.commands {
        let line = *line;
        let mut fail = |what: String| ledger.failures.push(Failure { line, what });
        match command {
            Command::Apply(batch) => match device.apply(batch) {
                Ok(()) => remember(&mut added, batch),
                Err(e) => fail(e.to_string()),
            },
            Command::RemoveAll => {
                if let Err(e) = device.apply(&Batch { ops: std::mem::take(&mut added) }) {
                    fail(e.to_string());
                }
            }
            Command::Packet { port, bytes } => {
                report.sent += 1;
                for (port, bytes) in device.process(*port, bytes) {
                    report.received += 1;
                    ledger.output(line, port, bytes);
                }
            }
            Command::Expect { port, pattern } => ledger.expect(line, *port, pattern.clone()),
            Command::NoPacket => ledger.settle(),
            Command::CheckCounter { counter, index, bytes, comparison, number } => {
                let count = device.counter(*counter, *index);
                let value = if *bytes { count.bytes } else { count.packets };
                if !comparison.holds(value, *number) {
                    fail(format!("the counter is {value}"));
                }
            }
            Command::CheckRegister { register, index, wanted } => match (device.register(*register, *index), wanted) {
                (None, _) => fail("there is no such cell to be read".into()),
                (Some(value), Some((comparison, number))) if !comparison.holds(value, *number) => fail(format!("the cell is {value:#x}")),
                _ => {}
            },
            Command::SetRegister { register, cells, value } => {
                if !cells.clone().all(|index| device.set_register(*register, index, *value)) {
                    fail("there is no such cell to be written".into());
                }
            }
            Command::Wait => {}
        }
    }
    ledger.settle();
    report.failures = ledger.failures;
    report
}

/// Keeps the deletions that `remove all` needs.
fn remember(added: &mut Vec<Op>, batch: &Batch) {
    for op in &batch.ops {
        match op {
            Op::Insert(e) => added.push(Op::Delete(e.clone())),
            Op::Delete(e) => {
                added.retain(|a| !matches!(a, Op::Delete(x) if (x.table, &x.keys, x.priority) == (e.table, &e.keys, e.priority)))
            }
            _ => {}
        }
    }
}

/// The interpreter as a device. Time advances by one microsecond per packet.
pub struct MachineDevice {
    /// The machine.
    pub machine: Machine,
    now_ns: u64,
}

impl MachineDevice {
    /// A device at time zero.
    pub fn new(machine: Machine) -> MachineDevice {
        MachineDevice { machine, now_ns: 0 }
    }
}

impl Device for MachineDevice {
    fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError> {
        Ok(self.machine.apply(batch)?)
    }

    fn process(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)> {
        self.now_ns += 1000;
        let out = self.machine.process(bytes, port, self.now_ns, Mode::Whole);
        let mut all: Vec<(PortId, Vec<u8>)> = way_out(out.verdict).map(|port| (port, out.bytes.to_vec())).into_iter().collect();
        all.extend(self.machine.extra().iter().filter_map(|x| Some((way_out(x.verdict)?, x.bytes.clone()))));
        all
    }

    fn counter(&mut self, counter: CounterId, index: u64) -> Count {
        self.machine.counter(counter, index)
    }

    fn register(&mut self, register: RegisterId, index: u64) -> Option<u128> {
        self.machine.register(register, index)
    }

    fn set_register(&mut self, register: RegisterId, index: u64, value: u128) -> bool {
        self.machine.set_register(register, index, value)
    }
}

/// The port by which a packet of that verdict leaves, as scripts number them.
pub fn way_out(verdict: Verdict) -> Option<PortId> {
    match verdict.kind {
        VerdictKind::Forward => Some(PortId(verdict.port)),
        VerdictKind::Punt => Some(PortId::PUNT),
        VerdictKind::Buffer | VerdictKind::Shape => Some(PortId::BUFFER),
        VerdictKind::Drop | VerdictKind::Next | VerdictKind::Kept | VerdictKind::Resume => None,
    }
}
