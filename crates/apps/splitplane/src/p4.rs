//! `splitplane p4`: the compiler's commands. Each stops after one step and prints what is there.

use base::PortId;
use cli::failure::Failure;
use cli::output::print_out;
use p4_driver::objects::{self, Ahead};
use p4_driver::stages::STAGES;
use p4_driver::{Good, Program};
use p4_interp::{Machine, Mode, Recorder, render_trace, stf};
use p4_ir::Ir;
use packet_test::device::TargetDevice;
use packet_test::{services, xdp_device};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Commands of the compiler. A PROGRAM is a file, or one of the shipped ones: upf.p4, gnb.p4, l2fwd.p4, l2switch.p4, p4wire.p4, ceupf.p4, and tna/upf.p4, tna/heavy.p4, tna/published.p4
/// (which are checked and planned).
#[derive(clap::Subcommand, Debug)]
pub(crate) enum P4Command {
    /// Parses and type-checks; prints errors, or the program's fingerprint: what tells it from others, with its build options.
    Check {
        #[command(flatten)]
        source: Source,
        /// Writes the program's P4Info there, as text; `-`: to standard output.
        #[arg(long, value_name = "FILE")]
        p4info: Option<PathBuf>,
        /// Fails if there are warnings. `@noWarn("KIND")` in front of a declaration turns a kind off in it.
        #[arg(long)]
        werror: bool,
        /// Prints errors and warnings as JSON, for editors.
        #[arg(long, conflicts_with = "p4info")]
        json: bool,
    },
    /// Prints the IR.
    Ir {
        #[command(flatten)]
        source: Source,
        /// Stops after this pass; `none`: before the first. Default: after the last.
        #[arg(long, value_name = "PASS")]
        after: Option<String>,
        /// Lists the passes.
        #[arg(long)]
        passes: bool,
    },
    /// Prints the generated C.
    Emit {
        #[command(flatten)]
        source: Source,
        /// The target.
        #[arg(long, default_value = "x86", value_parser = ["x86", "xdp"])]
        target: String,
    },
    /// Compiles ahead: a program, or without one all shipped programs, for machines without a C compiler. `run` finds the objects in
    /// ../lib/splitplane/objects, seen from the folder of the binary.
    Compile {
        /// The program, whose objects are added. Without one the folder has the shipped programs' objects afterwards, and no others.
        program: Option<PathBuf>,
        /// Folder to search for includes.
        #[arg(short = 'I', value_name = "DIR", requires = "program")]
        include: Vec<PathBuf>,
        /// Macro, as NAME or NAME=VALUE.
        #[arg(short = 'D', value_name = "MACRO", requires = "program")]
        define: Vec<String>,
        /// Folder for the objects; made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// The C compiler; clang, as BPF needs it. Default: clang on PATH.
        #[arg(long, value_name = "PATH")]
        cc: Option<PathBuf>,
    },
    /// Runs an STF packet test.
    Run {
        #[command(flatten)]
        source: Source,
        /// The test.
        #[arg(long, value_name = "FILE")]
        stf: PathBuf,
        /// Where to run it: the interpreter, x86, or XDP (as root).
        #[arg(long, default_value = "interp", value_parser = ["interp", "x86", "xdp"])]
        target: String,
        /// A setting of a service that the program calls, as of `trace`. May be repeated.
        #[arg(long, value_name = "SERVICE.INDEX=HEX")]
        setting: Vec<services::Setting>,
    },
    /// Follows one packet through the program: states, tables, actions, rewrites, verdict.
    Trace {
        #[command(flatten)]
        source: Source,
        /// The frame, in hexadecimal; blanks are ignored.
        #[arg(long, value_name = "HEX")]
        packet: String,
        /// Ingress port.
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=508))]
        port: u16,
        /// Table entries: the `add`, `setdefault` and `remove` lines of an STF file.
        #[arg(long, value_name = "FILE")]
        entries: Option<PathBuf>,
        /// A setting of a service that the program calls, in hexadecimal: a key of `cipher`, a bearer of `buffer` or `radio_bearer`. May be repeated.
        #[arg(long, value_name = "SERVICE.INDEX=HEX")]
        setting: Vec<services::Setting>,
        /// Also prints assignments to variables, not only to headers.
        #[arg(long)]
        all: bool,
    },
    /// Serves an editor over standard input and output (Language Server Protocol): errors and warnings as one types, where a name is
    /// declared, what it is, which fields a value has. Point the editor's client for P4 at `splitplane p4 lsp`.
    Lsp {
        /// Folder to search for includes.
        #[arg(short = 'I', value_name = "DIR")]
        include: Vec<PathBuf>,
        /// Macro, as NAME or NAME=VALUE.
        #[arg(short = 'D', value_name = "MACRO")]
        define: Vec<String>,
    },
}

/// A program and how to read it.
#[derive(clap::Args, Debug)]
pub(crate) struct Source {
    /// The program.
    program: PathBuf,
    /// Folder to search for includes.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Macro, as NAME or NAME=VALUE.
    #[arg(short = 'D', value_name = "MACRO")]
    define: Vec<String>,
}

fn defines(given: &[String]) -> Vec<(String, String)> {
    let pair = |d: &String| d.split_once('=').map_or_else(|| (d.clone(), "1".to_owned()), |(n, v)| (n.to_owned(), v.to_owned()));
    given.iter().map(pair).collect()
}

impl Source {
    fn defines(&self) -> Vec<(String, String)> {
        defines(&self.define)
    }

    fn unoptimised(&self) -> Result<Ir, Failure> {
        Ok(p4_driver::compile_unoptimised(&self.program, &self.include, &self.defines())?)
    }

    /// For a chip, whose compiler defines these macros; the command's own come first.
    pub(crate) fn compile_for_chip(&self, macros: &BTreeMap<String, String>) -> Result<Ir, Failure> {
        let known = macros.iter().map(|(name, value)| (name.clone(), value.clone()));
        Ok(p4_driver::compile_for_chip(&self.program, &self.include, &known.chain(self.defines()).collect::<Vec<_>>())?)
    }

    fn compile(&self) -> Result<Program, Failure> {
        Ok(Program::compile(&self.program, &self.include, &self.defines())?)
    }
}

/// Does one.
pub(crate) fn p4(command: &P4Command) -> Result<(), Failure> {
    match command {
        P4Command::Check { source, p4info, werror, json } => check(source, p4info.as_deref(), *werror, *json),
        P4Command::Ir { source, after, passes } => ir(source, after.as_deref(), *passes),
        P4Command::Emit { source, target } if target == "xdp" => print_out(source.compile()?.xdp_text()?),
        P4Command::Emit { source, target: _ } => print_out(&source.compile()?.x86()?.text),
        P4Command::Compile { program, include, define, out, cc } => {
            let source = program.clone().map(|program| Source { program, include: include.clone(), define: define.clone() });
            compile_ahead(source.as_ref(), out, cc.as_deref())
        }
        P4Command::Run { source, stf, target, setting } => run_stf(source, stf, target, setting),
        P4Command::Trace { source, packet, port, entries, setting, all } => {
            trace(source, packet, PortId(*port), entries.as_deref(), setting, *all)
        }
        P4Command::Lsp { include, define } => serve_editor(include, define),
    }
}

fn serve_editor(include: &[PathBuf], define: &[String]) -> Result<(), Failure> {
    let options = p4_driver::options(include, &defines(define));
    p4_lsp::serve_stdio(options).map_err(|e| Failure::Failed(e.to_string()))
}

fn compile_ahead(source: Option<&Source>, out: &Path, cc: Option<&Path>) -> Result<(), Failure> {
    let names = match source {
        Some(source) => {
            let xdp = p4_driver::xdp_text(&source.compile()?.ir);
            if let Err(why) = &xdp {
                eprintln!("splitplane: warning: no object for XDP: {why}");
            }
            let (program, include, defines) = (source.program.clone(), source.include.clone(), source.defines());
            objects::compile_ahead(&[Ahead { program, include, defines, xdp: xdp.is_ok() }], out, cc)?
        }
        None => {
            let names = objects::compile_ahead(&objects::all(), out, cc)?;
            objects::remove_others(out, &names)?;
            names
        }
    };
    print_out(format!("{}: {} objects\n", out.display(), names.len()))
}

fn check(source: &Source, p4info: Option<&Path>, werror: bool, json: bool) -> Result<(), Failure> {
    let checked = p4_driver::check(&source.program, &source.include, &source.defines())?;
    let (text, errors) = (checked.text(), checked.program.is_none());
    if json {
        print_out(checked.json())?;
    } else if errors {
        return Err(Failure::Usage(text.trim_end().to_owned()));
    } else {
        eprint!("{text}");
    }
    let Some(program) = checked.program else {
        return Err(Failure::Usage(format!("{}: it has errors", source.program.display())));
    };
    if werror && !checked.diagnostics.is_empty() {
        return Err(Failure::Usage(format!("{}: {} warnings, and --werror", source.program.display(), checked.diagnostics.len())));
    }
    match (program, p4info) {
        _ if json => Ok(()),
        (Good::Program(program), None) => print_out(format!("{}: fingerprint {}\n", program.name, program.fingerprint)),
        (Good::Program(program), Some(path)) => {
            let text = program.p4info();
            if path == Path::new("-") {
                return print_out(text);
            }
            std::fs::write(path, text).map_err(|e| Failure::Failed(format!("cannot write {}: {e}", path.display())))?;
            print_out(format!("{}: fingerprint {}\n", program.name, program.fingerprint))
        }
        (Good::Other(name), None) => {
            print_out(format!("package `{name}`: types and names are checked; it is not compiled (docs/limits.md says what is)\n"))
        }
        (Good::Other(name), Some(_)) => {
            let name = format!("package `{name}` is not compiled, so there is no P4Info (docs/limits.md says what is compiled)");
            Err(Failure::Usage(format!("{}: {name}", source.program.display())))
        }
    }
}

fn ir(source: &Source, after: Option<&str>, list: bool) -> Result<(), Failure> {
    if list {
        let lines: String = p4_passes::PASSES.iter().map(|p| format!("{:20} {}\n", p.name, p.about)).collect();
        let cut = STAGES.iter().filter(|stage| stage.name == "cut").map(|stage| format!("{:20} {}\n", stage.name, stage.about));
        return print_out(lines + &cut.collect::<String>());
    }
    match after {
        None => return print_out(&source.compile()?.ir),
        Some("none") => return print_out(source.unoptimised()?),
        Some("cut") => return print_out(cut(&source.compile()?)?),
        Some(_) => {}
    }
    let after = after.unwrap_or_default();
    if !p4_passes::PASSES.iter().any(|p| p.name == after) {
        let names: Vec<&str> = p4_passes::PASSES.iter().map(|p| p.name).collect();
        return Err(Failure::Usage(format!("unknown pass `{after}`; expected none, {}, cut", names.join(", "))));
    }
    let (mut ir, mut text) = (source.unoptimised()?, None);
    let mut keep = |round: usize, pass: &p4_passes::Pass, ir: &Ir| {
        if round == 0 && pass.name == after {
            text = Some(ir.to_string());
        }
    };
    p4_passes::run(&mut ir, &mut keep).map_err(|e| Failure::Failed(e.to_string()))?;
    print_out(text.unwrap_or_default())
}

/// The program that targets are given, and what travels with a packet from one part of it to the next.
fn cut(program: &Program) -> Result<String, Failure> {
    let none = || Failure::Usage("the program has no cut: it copies no packets and calls no services".into());
    let (cut, bridge) = program.cut()?.ok_or_else(none)?;
    let mut text = format!("{cut}bridge of {} bytes\n", bridge.len);
    for (kind, _) in bridge.stops() {
        let what = match (bridge.call(kind), bridge.stage(kind)) {
            (Some(call), _) => {
                let waits = if call.waits { "call" } else { "send" };
                format!("{waits} {}, {} bytes behind the bridge", program.ir.program.services[call.service].name, call.len)
            }
            (None, stage) => format!("stage {}", stage.unwrap_or_default()),
        };
        text.push_str(&format!("stop {kind}: {what}\n"));
    }
    Ok(text)
}

fn run_stf(source: &Source, path: &std::path::Path, target: &str, settings: &[services::Setting]) -> Result<(), Failure> {
    let program = source.compile()?;
    let ir = program.ir.clone();
    let script = read_stf(&ir, path)?;
    let report = if target == "x86" {
        stf::run(&script, &mut TargetDevice::x86(program.x86()?, &services::in_lanes(&ir.program, settings)?)?)
    } else if target == "xdp" {
        if let Some(services::Setting { service, index, .. }) = settings.first() {
            return Err(Failure::Usage(format!(
                "--setting {service}.{index}: services run on interp and x86; XDP passes what calls one to the slow path"
            )));
        }
        let device = xdp_device::XdpDevice::new(&ir.program, program.xdp_text()?);
        stf::run(&script, &mut device.map_err(|e| Failure::Usage(e.to_string()))?)
    } else {
        let mut machine = Machine::new(ir.clone()).map_err(|e| Failure::Usage(e.to_string()))?;
        if let Some(inline) = services::inline(&ir.program, settings)? {
            machine.set_services(Box::new(inline));
        }
        stf::run(&script, &mut stf::MachineDevice::new(machine))
    };
    for failure in &report.failures {
        println!("{}: line {}: {}", path.display(), failure.line, failure.what);
    }
    println!("{} packets in, {} out, {} failures", report.sent, report.received, report.failures.len());
    if report.passed() { Ok(()) } else { Err(Failure::Failed(format!("{}: the packet test failed", path.display()))) }
}

fn read_stf(ir: &Ir, path: &std::path::Path) -> Result<stf::Script, Failure> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
    stf::parse(&text, &ir.program).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
}

fn trace(
    source: &Source,
    packet: &str,
    port: PortId,
    entries: Option<&std::path::Path>,
    settings: &[services::Setting],
    all: bool,
) -> Result<(), Failure> {
    let ir = source.compile()?.ir;
    let bytes = hex(packet).map_err(|e| Failure::Usage(format!("--packet: {e}")))?;
    let mut machine = Machine::new(ir.clone()).map_err(|e| Failure::Usage(e.to_string()))?;
    if let Some(path) = entries {
        for (line, command) in read_stf(&ir, path)?.commands {
            if let stf::Command::Apply(batch) = command {
                machine.apply(&batch).map_err(|e| Failure::Usage(format!("{}: line {line}: {e}", path.display())))?;
            }
        }
    }
    if let Some(inline) = services::inline(&ir.program, settings)? {
        machine.set_services(Box::new(inline));
    }
    let mut recorder = Recorder::default();
    machine.process_traced(&bytes, port, 0, Mode::Whole, &mut recorder);
    print_out(render_trace(&ir, &recorder.events, all))
}

/// Bytes of hexadecimal text; blanks and colons are skipped.
fn hex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != ':')
        .map(|c| c.to_digit(16).ok_or_else(|| format!("`{c}` is not a hexadecimal digit")))
        .collect::<Result<_, _>>()?;
    if digits.is_empty() || digits.len() % 2 == 1 {
        return Err(format!("{} hexadecimal digits make no whole bytes", digits.len()));
    }
    if digits.len() / 2 > base::MAX_PACKET {
        return Err(format!("longer than {} bytes", base::MAX_PACKET));
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_is_read_or_refused() {
        assert_eq!(hex("01 ff:0a").unwrap(), [1, 255, 10]);
        assert!(hex("0").is_err() && hex("").is_err() && hex("zz").unwrap_err().contains('z'));
        assert!(hex(&"00".repeat(base::MAX_PACKET + 1)).is_err());
    }
}
