//! The chip model in front of x86, and its table sizes. Everything here is modelled.

use chip::{Chip, Form, Sizes};
use cli::failure::Failure;
use p4_ir::Ir;
use std::path::Path;

/// The model of a chip in front of x86: a switch chip with the shipped program of its own, a network processor with the program itself.
pub fn model(chip: &str, ir: &Ir, sessions: Option<u64>) -> Result<target_asic::Model, Failure> {
    let chip = chip_of(chip)?;
    let own = match chip.form {
        Form::Switch(_) => p4_driver::compile_shipped_for_chip("tna/upf.p4")?,
        Form::Cores(_) => ir.clone(),
    };
    let sizes = Sizes { sessions, ..Sizes::default() };
    target_asic::Model::of(&chip, &own, &sizes).map_err(|r| Failure::Usage(format!("split.chip: {}: {r}", chip.name)))
}

/// One of ours by name, or the description in a file.
pub fn chip_of(name: &str) -> Result<Chip, Failure> {
    if Path::new(name).extension().is_some_and(|e| e == "toml") {
        let text = std::fs::read_to_string(name).map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
        return Chip::parse(&text).map_err(|e| Failure::Usage(format!("{name}: {e}")));
    }
    Chip::named(name).map_err(|e| Failure::Usage(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chip_holds_what_its_program_has_room_for_or_says_why_not() {
        let whole = p4_driver::compile(Path::new("upf.p4"), &[], &[]).unwrap();
        let held = |chip: &str, sessions| model(chip, &whole, sessions).map(|m| m.capacities);
        let most = held("tofino1", None).unwrap();
        assert!(most["pdr_by_teid"] > 100_000 && most["pdr_by_teid"] == most["pdr_by_ue_ipv4"], "{most:?}");
        assert!(!most.contains_key("pdr_by_ue_ipv6"));
        assert_eq!(held("tofino1", Some(5000)).unwrap()["pdr_by_ue_ipv4"], 5000);
        assert_eq!(held("nfp4000", None).unwrap()["pdr_by_ue_ipv6"], 65_536);
        let refused = held("tofino1", Some(1_000_000)).unwrap_err().to_string();
        assert!(refused.contains("split.chip: tofino1: does not fit (modelled)"), "{refused}");
        assert!(held("tofino9", None).unwrap_err().to_string().contains("no chip `tofino9`"));
        assert!(held("missing.toml", None).unwrap_err().to_string().contains("cannot read missing.toml"));
    }
}
