//! Packets through the interpreter and through this crate.

use base::{PortId, VerdictKind};
use p4_eval::{Evaluator, Outcome, Stop};
use p4_interp::{Machine, Mode};
use program::Batch;
use std::sync::Arc;

/// Both at once; every packet and change goes to both.
pub(crate) struct Both<'a> {
    pub machine: Machine,
    pub second: Evaluator<'a>,
    /// Packets, and those that were not dropped.
    pub packets: u64,
    pub forwarded: u64,
    now_ns: u64,
}

impl<'a> Both<'a> {
    pub(crate) fn new(ir: p4_ir::Ir, second: Evaluator<'a>) -> Both<'a> {
        Both { machine: Machine::new(Arc::new(ir)).expect("runs"), second, packets: 0, forwarded: 0, now_ns: 0 }
    }

    pub(crate) fn apply(&mut self, batch: &Batch) -> Result<(), String> {
        self.machine.apply(batch).map_err(|e| format!("{e:?}"))?;
        let program = &self.machine.ir().program;
        self.second.apply(batch, program).map_err(|e| format!("{e:?}"))
    }

    /// What becomes of a packet, or how the two differ.
    pub(crate) fn process(&mut self, port: PortId, bytes: &[u8]) -> Result<Outcome, String> {
        self.now_ns += 1_000_000;
        let out = self.machine.process(bytes, port, self.now_ns, Mode::Whole);
        let bytes_out = if out.verdict.kind == VerdictKind::Drop { Vec::new() } else { out.bytes.to_vec() };
        let expected = Outcome { verdict: out.verdict, bytes: bytes_out };
        let got = self.second.process(bytes, port, self.now_ns).map_err(|e| match e {
            Stop::Cannot(what) => format!("cannot: {what}"),
            other => format!("{other:?}"),
        })?;
        if got != expected {
            return Err(format!("packet {bytes:02x?} on port {port}\n  interpreter    {expected:02x?}\n  second opinion {got:02x?}"));
        }
        self.packets += 1;
        self.forwarded += u64::from(got.verdict.kind != VerdictKind::Drop);
        Ok(got)
    }

    /// Whether tables, counters and registers are alike at the end; gives hits and misses.
    pub(crate) fn state(&self) -> Result<(u64, u64), String> {
        let program = &self.machine.ir().program;
        let (mut hits, mut misses) = (0, 0);
        for (id, t) in &program.tables {
            let a = self.machine.table_stats(id);
            let b = self.second.table_stats(&t.full_name).unwrap_or_default();
            if (a.hits, a.misses) != b {
                return Err(format!("table {}: {a:?}, second opinion {b:?}", t.full_name));
            }
            (hits, misses) = (hits + a.hits, misses + a.misses);
        }
        for (id, c) in program.counters.iter().filter(|(_, c)| c.table.is_none() && c.unit != program::CountUnit::Bytes) {
            for i in 0..c.size.min(64) {
                let (a, b) = (self.machine.counter(id, i).packets, self.second.counter(&c.name, i));
                if Some(a) != b {
                    return Err(format!("counter {}[{i}]: {a}, second opinion {b:?}", c.name));
                }
            }
        }
        for (id, r) in &program.registers {
            for i in 0..r.size.min(64) {
                let (a, b) = (self.machine.register(id, i), self.second.register(&r.name, i));
                // One wider than 128 bits is several in the IR.
                if b.is_some() && a != b {
                    return Err(format!("register {}[{i}]: {a:?}, second opinion {b:?}", r.name));
                }
            }
        }
        Ok((hits, misses))
    }
}
