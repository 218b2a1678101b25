//! `bench compile`: how long from P4 to packets, and does it grow in a straight line with the program?
//!
//! Check is parser, types, lowering and warnings; passes and emission are the rest of our work; native is the system's C compiler and loading. All is
//! time on processors, of all threads and of the compiler's process, so that what else runs does not count.
//! Programs of up to 100,000 lines are generated: tables with actions of their own, applied in a row. Those with more look-ups than can be emitted are
//! only checked and optimised.

use super::measure::{Rounds, children_time, process_time};
use super::options::Common;
use super::report;
use cli::failure::Failure;
use p4_driver::X86Program;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Options of `bench compile`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Lines of the generated programs [default: 8000,16000,32000,64000,100000; with --quick: 500,1000].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(100..=200_000))]
    lines: Vec<u32>,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { lines: Vec::new(), common }
    }
}

/// Runs it; the figures as JSON.
pub(super) fn compile(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    println!("bench compile: milliseconds of processors' time, medians");
    println!(
        "  {:<22} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11}",
        "", "lines", "check", "passes", "emit", "C lines", "native", "us a line"
    );
    let full = [8_000, 16_000, 32_000, 64_000, 100_000];
    let all: &[u32] = if !args.lines.is_empty() { &args.lines } else { common.size(&full, &[500, 1_000]) };
    let bar = report::progress(all.len() as u64 + 1);
    let mut rows = Vec::new();
    let upf_lines = upf_lines();
    let row = measure("upf.p4", upf_lines, true, common, || Ok(p4_driver::compile_unoptimised(Path::new("upf.p4"), &[], &[])?))?;
    bar.suspend(|| print(&row));
    bar.inc(1);
    rows.push(row);
    for lines in all {
        let text = generated(*lines);
        let name = format!("generated, {} tables", tables(*lines));
        let row = measure(&name, text.lines().count(), false, common, || {
            p4_check::compile_str("generated.p4", &text, &Default::default()).map(|c| c.ir).map_err(|f| Failure::Failed(f.render()))
        })?;
        bar.suspend(|| print(&row));
        bar.inc(1);
        rows.push(row);
    }
    bar.finish_and_clear();
    // Longest against shortest of the generated ones: 1 is a straight line.
    let per_line = |row: &Value| row["check_ms"]["median"].as_f64().unwrap_or(f64::NAN) / row["lines"].as_f64().unwrap_or(f64::NAN);
    let growth = match rows[1..] {
        [ref first, .., ref last] => per_line(last) / per_line(first),
        _ => 1.0,
    };
    println!("  to check a line of the longest costs {growth:.2} times that of the shortest generated program");
    let figures = json!({ "bench": "compile", "machine": machine, "growth": growth, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// Lines of the UPF and of what it includes.
fn upf_lines() -> usize {
    p4_driver::shipped::lines("upf.p4")
}

fn measure(
    name: &str,
    lines: usize,
    native: bool,
    common: &Common,
    front: impl Fn() -> Result<p4_ir::Ir, Failure>,
) -> Result<Value, Failure> {
    let (mut check, mut passes, mut emit, mut loading) = (Rounds::default(), Rounds::default(), Rounds::default(), Rounds::default());
    let (mut c_lines, mut tables) = (0, 0);
    // Long programs need no many rounds to be steady.
    let rounds = if lines > 2_000 { common.rounds().min(3) } else { common.rounds() };
    for round in 0..rounds {
        let (ir, time) = timed(&front);
        let ir = ir?;
        check.0.push(time);
        let (ir, time) = timed(|| p4_driver::optimise(ir));
        let ir = ir?;
        passes.0.push(time);
        p4_ir::verify(&ir).map_err(|errors| Failure::Failed(format!("{name}: {} broken invariants", errors.len())))?;
        tables = ir.program.tables.len();
        // Each is looked up once.
        if tables > p4_driver::MAX_CUTS {
            continue;
        }
        let (x86, time) = timed(|| X86Program::of(&ir));
        let x86 = x86?;
        emit.0.push(time);
        c_lines = x86.text.lines().count();
        // The C compiler takes a second or more, and its figure is steady enough.
        if native && round < 3 {
            let before = children_time();
            let (loaded, time) = timed(|| x86.load(&Default::default(), &[]));
            loaded?;
            loading.0.push(time + ms(children_time() - before));
        }
    }
    let ours = check.median() + passes.median() + emit.median();
    Ok(json!({
        "what": name, "lines": lines, "c_lines": c_lines, "tables": tables,
        // Tables that came out of the other end of a program that keeps its invariants.
        "verified": tables,
        "unit": "ms", "rate": { "median": ours }, "us_a_line": ours * 1e3 / lines as f64,
        "check_ms": check.json(), "passes_ms": passes.json(),
        "emit_ms": if emit.0.is_empty() { Value::Null } else { emit.json() },
        "native_ms": if native { loading.json() } else { Value::Null },
    }))
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    // The checker and the emitter have threads of their own, for their stacks.
    let begin = process_time();
    let result = work();
    (result, ms(process_time() - begin))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn print(row: &Value) {
    let median = |key: &str| row[key]["median"].as_f64().map_or_else(String::new, |ms| format!("{ms:.1}"));
    println!(
        "  {:<22} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11.1}",
        row["what"].as_str().unwrap_or_default(),
        row["lines"],
        median("check_ms"),
        median("passes_ms"),
        median("emit_ms"),
        row["c_lines"],
        median("native_ms"),
        row["us_a_line"].as_f64().unwrap_or_default()
    );
}

/// Lines of a table with its two actions, and of its application.
const LINES_A_TABLE: u32 = 17;

fn tables(lines: u32) -> u32 {
    (lines / LINES_A_TABLE).max(1)
}

/// A program of about so many lines.
fn generated(lines: u32) -> String {
    let mut body = String::new();
    let mut applies = String::new();
    for i in 0..tables(lines) {
        let (key, kind) = [("hdr.ip.dst", "exact"), ("hdr.ip.src", "lpm"), ("meta.x", "ternary")][i as usize % 3];
        let _ = write!(
            body,
            "    action set_{i}(bit<32> value, bit<8> ttl) {{
        meta.x = meta.x + value;
        if (hdr.ip.ttl > ttl) {{
            hdr.ip.ttl = hdr.ip.ttl - 1;
        }}
        hdr.ip.tos = (bit<8>)(meta.x ^ {i});
    }}
    action drop_{i}() {{
        mark_to_drop(sm);
    }}
    table t_{i} {{
        key = {{ {key}: {kind}; }}
        actions = {{ set_{i}; drop_{i}; }}
        default_action = drop_{i}();
        size = 16;
    }}
"
        );
        let _ = writeln!(applies, "        t_{i}.apply();");
    }
    let arguments = "inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm";
    format!(
        "#include <core.p4>
#include <v1model.p4>
header ip_t {{ bit<8> tos; bit<8> ttl; bit<32> src; bit<32> dst; }}
struct headers_t {{ ip_t ip; }}
struct meta_t {{ bit<32> x; }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.ip); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I({arguments}) {{
{body}    apply {{
{applies}    }}
}}
control E({arguments}) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.ip); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}
