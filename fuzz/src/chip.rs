//! Descriptions of chips: any text is read or refused, and what is read holds a program or says what it lacks, in bounded time.

use chip::{Chip, Form, Sizes, place, place_in_tiers};
use p4_ir::Ir;
use std::sync::LazyLock;

/// What is placed: tables of each kind, counters, a register.
static PROGRAM: LazyLock<Ir> = LazyLock::new(|| {
    let compiled = p4_check::compile_str("stf.p4", include_str!("stf.p4"), &p4_check::Options::default());
    compiled.unwrap_or_else(|failure| panic!("{failure}")).ir
});

/// Reads `data` as a description, and places a program on what it describes.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let chip = match Chip::parse(&text) {
        Ok(chip) => chip,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for sessions in [1, 1 << 20] {
        let sizes = Sizes::sessions(sessions);
        let refusal = match chip.form {
            Form::Switch(_) => place(&PROGRAM, &chip, &sizes).err(),
            Form::Cores(_) => place_in_tiers(&PROGRAM, &chip, &sizes).err(),
        };
        assert!(refusal.is_none_or(|refusal| !refusal.to_string().is_empty()), "a refusal says why");
    }
}
