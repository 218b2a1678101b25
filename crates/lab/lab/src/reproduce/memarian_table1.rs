//! Table I of Memarian et al.: memory of the card by entries of the table of bearers.

use super::Args;
use super::chart::{Chart, Series};
use super::gnb_steps::card;
use super::outcome::{How, Outcome, Row};
use super::papers::papers;
use crate::bench::gnb::bearers::compile;
use chip::{Chip, Form, Sizes, place_in_tiers};
use cli::failure::Failure;
use p4_ir::Ir;

pub(super) const NAME: &str = "memarian-table1";
pub(super) const TITLE: &str = "Memory of the card by entries of the table of bearers (Memarian et al., Table I)";

const ENTRIES: [u64; 3] = [1 << 10, 10 << 10, 64 << 10];
/// Where the paper's tables are.
const CACHE: &str = "EMU cache";

/// The paper's table: a UE's address to the number of its radio bearer.
const TABLE: &str = "
#include <core.p4>
#include <v1model.p4>
header ethernet_h { bit<48> dst; bit<48> src; bit<16> ethertype; }
header ipv4_h { bit<96> before; bit<32> src; bit<32> dst; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; }
struct meta_t { bit<16> bearer; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.ethernet); packet.extract(hdr.ipv4); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    action set_bearer(bit<16> number) { meta.bearer = number; sm.egress_spec = (bit<9>)number; }
    action none() { mark_to_drop(sm); }
    @split(\"horizontal\")
    table bearers { key = { hdr.ipv4.dst: exact; } actions = { set_bearer; none; } default_action = none(); size = 65536; }
    apply { bearers.apply(); }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let of = &papers().memarian_table1;
    let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
    let table = p4_check::compile_str("bearers.p4", TABLE, &Default::default()).map_err(|f| Failure::Failed(f.render()))?;
    let mut chip = card()?;
    let Form::Cores(cores) = &mut chip.form else { return Err(failed(&"the card's model has no cores")) };
    // There all tables lie behind the cache.
    cores.tier.iter_mut().for_each(|tier| tier.tables = tier.name == CACHE);
    let gnb = compile(Some(3), ENTRIES[2] as u32, &[])?;
    let (mut rows, mut paper, mut ours, mut with_arguments) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (column, entries) in ENTRIES.into_iter().enumerate() {
        for (row, of_row) in of.rows.iter().enumerate() {
            let percent = used(&table.ir, &chip, entries, &of_row.name)?;
            let ours_row = Row::new(format!("{} entries: {}", of.columns[column], of_row.name), How::Modelled, percent, "%");
            let claim = of.cell(row, column);
            if of_row.name == CACHE {
                paper.push(claim.as_ref().map(|claim| claim.value));
                ours.push(Some(percent));
            }
            rows.push(match claim {
                Some(claim) => ours_row.beside(&claim),
                None => ours_row,
            });
        }
    }
    // A bearer's formats and keys are more than its number: what the whole look-up of gnb.p4 would take.
    cores_of(&mut chip)?.iter_mut().for_each(|tier| tier.tables = tier.name == "EMU");
    for (column, entries) in ENTRIES.into_iter().enumerate() {
        let percent = used(&gnb, &chip, entries, "EMU")?;
        with_arguments.push(Some(percent));
        rows.push(Row::new(format!("{} entries: EMU, gnb.p4 with STEP=3", of.columns[column]), How::Modelled, percent, "%"));
    }
    Ok(Outcome {
        name: NAME,
        title: TITLE,
        rule: vec![
            "Modelled: the paper's table, a UE's address to a number, in the model of its card (`nfp4000`, docs/chips.md). What programs take before any table is the paper's own number for 1K entries; the size of an entry is assumed so that the cache fits Table I within 1.5 points. So what is found is how it grows, and no more.".into(),
            "`gnb.p4` keeps fifteen arguments a bearer, in two tables, and its COUNT: more than the cache holds with 64K bearers, so it is shown in the memory behind.".into(),
        ],
        rows,
        machine: serde_json::Value::Null,
        quick: args.quick,
        chart: Chart {
            y: "% of the cache".into(),
            logarithmic: false,
            categories: of.columns.clone(),
            series: vec![Series::paper("EMU cache", paper), Series::ours("EMU cache", How::Modelled, ours)],
        },
    })
}

fn cores_of(chip: &mut Chip) -> Result<&mut Vec<chip::Tier>, Failure> {
    match &mut chip.form {
        Form::Cores(cores) => Ok(&mut cores.tier),
        Form::Switch(_) => Err(Failure::Failed("the card's model has no cores".into())),
    }
}

/// Percent of a tier.
fn used(ir: &Ir, chip: &Chip, entries: u64, tier: &str) -> Result<f64, Failure> {
    let placed = place_in_tiers(ir, chip, &Sizes::sessions(entries)).map_err(|refusal| Failure::Failed(refusal.to_string()))?;
    let tier = placed.tiers.iter().find(|t| t.name == tier);
    tier.map(|t| t.percent()).ok_or_else(|| Failure::Failed("the card's model lacks a tier of Table I".into()))
}
