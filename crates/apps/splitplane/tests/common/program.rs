//! A shipped program, compiled once, as the targets that are compared; and how many cases of which seeds a test runs.

use std::path::Path;
use std::sync::Arc;

use offload::Policy;
use p4_driver::X86Program;
use p4_ir::Ir;
use target_api::Target;
use target_asic::Chip;
use target_x86::Options;

/// A program of the repository's folder `p4` as optimised IR, with macros defined.
pub(crate) fn compile(name: &str, defines: &[(&str, &str)]) -> Arc<Ir> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4").join(name);
    let defines: Vec<(String, String)> = defines.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    p4_driver::Program::compile(&path, &[], &defines).unwrap_or_else(|e| panic!("{e}")).ir
}

/// The program as native code. `flags` are the compiler's: what is compiled fast is compared often.
pub(crate) fn native(ir: &Ir, seed: u64, flags: &[&str]) -> Arc<dyn Target> {
    let options = Options { flags: flags.iter().map(|f| f.to_string()).collect(), seed, ..Options::default() };
    Arc::from(X86Program::of(ir).and_then(|x86| x86.load(&options, &[])).unwrap_or_else(|e| panic!("{e}")))
}

/// What a case compares with the oracle: native code alone, and the pair of a chip's model and native code.
#[derive(Clone)]
pub(crate) struct Setup {
    /// The program.
    pub ir: Arc<Ir>,
    /// Native code that stands alone. Empty between cases, as its tables are used by all of them.
    pub whole: Arc<dyn Target>,
    /// Native code behind the chip; likewise.
    pub base: Arc<dyn Target>,
    /// The chip's room.
    pub chip: Chip,
    /// What goes on the chip.
    pub policy: Policy,
    /// Whether the kernel's XDP hook is the chip, instead of the model of one.
    pub kernel: bool,
}

/// The program in the kernel, with that room for sessions.
pub(super) fn kernel(ir: &Ir, chip: Chip) -> Box<dyn Target> {
    let text = p4_driver::xdp_text(ir).unwrap_or_else(|e| panic!("{e}"));
    let options =
        target_xdp::Options { split_entries: chip.session_entries, seed: 13, entry: target_xdp::EntryPoints::Lanes, ..Default::default() };
    Box::new(target_xdp::Xdp::load(Arc::new(ir.program.clone()), &text, &options).unwrap_or_else(|e| panic!("{e}")))
}

/// Seeds of the cases of a test.
pub(crate) struct Cases {
    first: u64,
    count: u64,
    enough: bool,
}

/// What a failure tells people to do.
pub(crate) const CHECKED: &str = "SPLIT_SEED=<seed> SPLIT_CASES=1 repeats a case";

impl Cases {
    /// `default` cases, unless the environment says otherwise: `SPLIT_SEED` (decimal, or hexadecimal after `0x`) is the first
    /// seed, `SPLIT_CASES` their number.
    pub(crate) fn from_env(default: u64) -> Cases {
        let number = |name: &str| {
            let text = std::env::var(name).ok()?;
            let parsed = match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            };
            Some(parsed.unwrap_or_else(|| panic!("{name}={text}: not a 64-bit number")))
        };
        let count = number("SPLIT_CASES").unwrap_or(default);
        Cases { first: number("SPLIT_SEED").unwrap_or(1), count, enough: count >= default }
    }

    /// The seeds.
    pub(crate) fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        let first = self.first;
        (0..self.count).map(move |i| first.wrapping_add(i))
    }

    /// Whether so many cases run that everything must have happened often enough.
    pub(crate) fn enough(&self) -> bool {
        self.enough
    }
}
