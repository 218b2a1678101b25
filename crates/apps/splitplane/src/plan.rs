//! `splitplane plan`: what has a program room for on a chip? Everything printed is modelled.

use chip::{Chip, Form, Placement, Sizes};
use cli::failure::Failure;
use cli::output::print_out;
use daemon::chip_model::chip_of;
use p4_ir::{Architecture, Ir};
use std::path::PathBuf;

/// The program, the chip and the sizes.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    source: crate::p4::Source,
    /// The chip: tofino1, tofino2, nfp4000, or a description (a .toml file).
    #[arg(long, default_value = "tofino1", value_name = "CHIP")]
    chip: String,
    /// Number of sessions: entries of each table marked @split. Sizes declared as multiples of those keep their ratio.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    sessions: Option<u64>,
    /// Size of a table, counter, meter or register, as NAME=ENTRIES.
    #[arg(long, value_name = "NAME=ENTRIES", value_parser = size)]
    set: Vec<(String, u64)>,
    /// Finds the largest number of sessions that fits, and prints that placement.
    #[arg(long, conflicts_with = "sessions")]
    max_sessions: bool,
    /// Writes the placement to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

fn size(text: &str) -> Result<(String, u64), String> {
    let (name, n) = text.split_once('=').ok_or_else(|| format!("`{text}` is not NAME=ENTRIES"))?;
    let n: u64 = n.trim().parse().map_err(|e| format!("{n}: {e}"))?;
    Ok((name.trim().to_owned(), n))
}

/// Does it.
pub(crate) fn plan(args: &Args) -> Result<(), Failure> {
    let chip = chip_of(&args.chip)?;
    let ir = args.source.compile_for_chip(&chip.macros)?;
    let mut sizes = Sizes { sessions: args.sessions, set: args.set.iter().cloned().collect() };
    if let Form::Cores(_) = chip.form {
        return plan_tiers(args, &ir, &chip, sizes);
    }
    if args.max_sessions {
        let Some(most) = chip::max_sessions(&ir, &chip, &sizes) else {
            // With one session the reason shows; without a session table there is nothing to be counted.
            sizes.sessions = Some(1);
            chip::place_each(&ir, &chip, &sizes).map_err(|r| Failure::Failed(format!("{}: {r}", chip.name)))?;
            return Err(Failure::Usage("--max-sessions: no table of the program is marked @split(\"horizontal\")".to_owned()));
        };
        if !args.json {
            print_out(format!("at most {most} sessions (modelled)\n"))?;
        }
        sizes.sessions = Some(most);
    }
    // The whole UPF is written for breadth; what a chip does of it is a program of its own.
    let whole_upf = ir.arch == Architecture::V1Model && ir.program.name == "upf.p4";
    let hint = if whole_upf { "\nhint: the part of it that a switch chip does is tna/upf.p4" } else { "" };
    let placements = chip::place_each(&ir, &chip, &sizes).map_err(|r| Failure::Failed(format!("{}: {r}{hint}", chip.name)))?;
    show(args, &placements, sizes.sessions)
}

/// The same for a network processor.
fn plan_tiers(args: &Args, ir: &Ir, chip: &Chip, mut sizes: Sizes) -> Result<(), Failure> {
    if args.svg.is_some() {
        return Err(Failure::Usage(format!("--svg: {} has no stages to be shown", chip.name)));
    }
    if args.max_sessions {
        let fits = |n: &u64| chip::place_in_tiers(ir, chip, &Sizes { sessions: Some(*n), ..sizes.clone() }).is_ok();
        // What a chip of cores holds is a question of whole tables: powers of two and what lies between, a bit at a time.
        let most = (0..30).rev().fold(0, |most, bit| if fits(&(most | 1 << bit)) { most | 1 << bit } else { most });
        sizes.sessions = Some(most.max(1));
        if !args.json && most > 0 {
            print_out(format!("at most {most} sessions (modelled)\n"))?;
        }
    }
    let placement = chip::place_in_tiers(ir, chip, &sizes).map_err(|r| Failure::Failed(format!("{}: {r}", chip.name)))?;
    if args.json {
        return json(&serde_json::json!({ "modelled": true, "sessions": sizes.sessions, "placement": placement }));
    }
    print_out(placement)
}

fn json(value: &serde_json::Value) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|e| Failure::Failed(e.to_string()))?;
    print_out(format!("{text}\n"))
}

/// Shows the placement of each pipeline: of nearly all programs there is one.
fn show(args: &Args, placements: &[Placement], sessions: Option<u64>) -> Result<(), Failure> {
    if let Some(path) = &args.svg {
        let [placement] = placements else {
            return Err(Failure::Usage(format!("--svg: a picture shows one pipeline; the program has {}", placements.len())));
        };
        std::fs::write(path, placement.to_svg()).map_err(|e| Failure::Failed(format!("cannot write {}: {e}", path.display())))?;
    }
    let as_json = |placement: &Placement| {
        serde_json::json!({
            "modelled": true, "sessions": sessions, "totals": placement.totals(), "placement": placement,
        })
    };
    match placements {
        [placement] if args.json => json(&as_json(placement)),
        several if args.json => json(&several.iter().map(as_json).collect()),
        all => print_out(all.iter().map(Placement::to_string).collect::<Vec<_>>().join("\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_names_with_numbers() {
        assert_eq!(size("route_ipv4 = 12"), Ok(("route_ipv4".to_owned(), 12)));
        assert!(size("route_ipv4").is_err() && size("route_ipv4=many").is_err() && size("route_ipv4=-1").is_err());
    }
}
