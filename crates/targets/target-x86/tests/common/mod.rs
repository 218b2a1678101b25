//! x86 as one of the two that are compared.
#![allow(dead_code, unused_imports)]

use p4_interp::Mode;
use p4_ir::Ir;
use program::{Entry, RegisterId};
use std::sync::Arc;
use target_api::Count;
pub(crate) use target_kit::twin::{self, rng};
use target_x86::{Options, X86};

/// The interpreter and x86, side by side.
pub(crate) type Pair = twin::Pair<NativeX86>;

/// Compiled with `flags`.
pub(crate) fn pair(ir: Ir, seed: u64, flags: &[&'static str]) -> Pair {
    Pair::load(ir, seed, Mode::Whole, flags)
}

/// The kind of target.
pub(crate) struct NativeX86;

impl twin::Native for NativeX86 {
    type Target = X86;
    type Choice = [&'static str];
    const NAME: &'static str = "x86";

    fn load(ir: &Arc<Ir>, seed: u64, _mode: Mode, flags: &[&'static str]) -> X86 {
        let text = p4_emit::emit_x86(ir).unwrap_or_else(|e| panic!("{e}"));
        if let Some(path) = std::env::var_os("KEEP") {
            std::fs::write(path, &text).unwrap();
        }
        let options = Options { flags: flags.iter().map(|f| f.to_string()).collect(), seed, ..Options::default() };
        X86::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| {
            let path = std::env::temp_dir().join("splitplane-failed.c");
            std::fs::write(&path, &text).unwrap();
            panic!("{e}; the text is in {}", path.display())
        })
    }

    fn register(target: &X86, register: RegisterId, index: u64) -> Option<u128> {
        X86::register(target, register, index)
    }

    fn entry_count(target: &X86, entry: &Entry) -> Option<Count> {
        X86::entry_count(target, entry)
    }
}
