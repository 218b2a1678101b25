//! STF scripts: any text is read or refused with its line, and what is read plays the same each time.

use std::sync::{Arc, LazyLock};

use p4_interp::Machine;
use p4_interp::stf::{MachineDevice, parse, run as play};
use p4_ir::Ir;

/// The program that scripts are for.
static PROGRAM: LazyLock<Arc<Ir>> = LazyLock::new(|| {
    let compiled = p4_check::compile_str("stf.p4", include_str!("stf.p4"), &p4_check::Options::default());
    Arc::new(compiled.unwrap_or_else(|failure| panic!("{failure}")).ir)
});

/// Reads and plays `data` as a script.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let script = match parse(&text, &PROGRAM.program) {
        Ok(script) => script,
        Err(error) => {
            assert!((1..=text.lines().count()).contains(&error.line), "line {} of {text:?}", error.line);
            return;
        }
    };
    let report = || {
        let machine = Machine::new(PROGRAM.clone()).expect("the program can run");
        play(&script, &mut MachineDevice::new(machine))
    };
    assert_eq!(report(), report(), "{text:?}");
}
