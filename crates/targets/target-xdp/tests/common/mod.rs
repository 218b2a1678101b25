//! The kernel as one of the two that are compared.
#![allow(dead_code, unused_imports)]

use p4_interp::Mode;
use p4_ir::Ir;
use program::{Entry, MatchKind, RegisterId, RuleError};
use std::sync::Arc;
use target_api::{Count, Target};
pub(crate) use target_kit::twin::{self, rng};
use target_xdp::{LoadError, Options, Xdp};

/// The interpreter and the kernel, side by side.
pub(crate) type Pair = twin::Pair<Kernel>;

/// Emits and loads; the text stays in a file if the environment names one.
pub(crate) fn load(ir: &Arc<Ir>, seed: u64, mode: Mode) -> Result<Xdp, LoadError> {
    load_text(ir, &p4_emit::bpf::emit_xdp(ir).unwrap_or_else(|e| panic!("{e}")), seed, mode)
}

/// As [`load`], in the form that is for programs that are too large otherwise.
pub(crate) fn load_simple(ir: &Arc<Ir>, seed: u64, mode: Mode) -> Result<Xdp, LoadError> {
    let text = p4_emit::bpf::emit_xdp(ir).unwrap_or_else(|e| panic!("{e}"));
    load_text(ir, &format!("#define SP_SIMPLE 1\n{text}"), seed, mode)
}

fn load_text(ir: &Arc<Ir>, text: &str, seed: u64, mode: Mode) -> Result<Xdp, LoadError> {
    if let Some(path) = std::env::var_os("KEEP") {
        std::fs::write(path, text).unwrap();
    }
    // The interpreter hands no table on.
    let options = Options { seed, subset: mode == Mode::Subset, hand_on_full: false, short_packets: true, ..Options::default() };
    Xdp::load(Arc::new(ir.program.clone()), text, &options)
}

/// The kind of target.
pub(crate) struct Kernel;

impl twin::Native for Kernel {
    type Target = Xdp;
    type Choice = ();
    const NAME: &'static str = "kernel";
    const FEW_MASKS: bool = true;

    fn load(ir: &Arc<Ir>, seed: u64, mode: Mode, (): &()) -> Xdp {
        load(ir, seed, mode).unwrap_or_else(|e| panic!("{e}"))
    }

    fn register(target: &Xdp, register: RegisterId, index: u64) -> Option<u128> {
        Xdp::register(target, register, index).map(u128::from)
    }

    fn entry_count(target: &Xdp, entry: &Entry) -> Option<Count> {
        Xdp::entry_count(target, entry)
    }

    /// Longer ones are longer than a page.
    fn takes(len: usize) -> bool {
        len <= 3500
    }

    fn capacity(capacity: u64) -> u64 {
        capacity.min(Options::default().entries)
    }

    /// The kernel looks through so many masks and no more.
    fn may_refuse(target: &Xdp, error: &RuleError) -> bool {
        let RuleError::Full { table, .. } = error else { return matches!(error, RuleError::Masks { .. }) };
        let program = target.program();
        let id = program.table(table).unwrap();
        let (stats, info) = (target.table_stats(id), &program.tables[id]);
        stats.entries < stats.capacity && info.keys.iter().any(|k| k.kind != MatchKind::Exact)
    }
}
