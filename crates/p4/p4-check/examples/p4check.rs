//! Compiles P4 files and says how each went: `p4check [--check | --chip] [--ir] [-I dir]... [-D name[=value]]... file...`
//!
//! `--check` only checks, whatever the architecture; `--chip` compiles for a model of a chip; `--ir` prints the IR. With several files, one line a file and the
//! share that was accepted: the measure for a corpus.

use p4_check::{Options, check_file, compile_file, compile_for_chip_file};
use std::path::Path;

fn main() {
    let (mut check, mut chip, mut ir, mut options, mut files) = (false, false, false, Options::default(), Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        match a.as_str() {
            "--check" => check = true,
            "--chip" => chip = true,
            "--ir" => ir = true,
            "-I" => options.include_paths.extend(args.next().map(Into::into)),
            "-D" => options.defines.extend(args.next().map(|define| match define.split_once('=') {
                Some((name, value)) => (name.to_string(), value.to_string()),
                None => (define, "1".to_string()),
            })),
            _ => files.push(a),
        }
    }
    let compile = if chip { compile_for_chip_file } else { compile_file };
    let mut accepted = 0;
    for f in &files {
        let path = Path::new(f);
        let result = match check {
            true => check_file(path, &options).map(|(map, warnings)| p4_syntax::render_all(&warnings, &map)),
            false => compile(path, &options).map(|c| {
                if ir {
                    println!("{}", c.ir);
                }
                c.render_warnings()
            }),
        };
        match result {
            Ok(text) => {
                accepted += 1;
                if files.len() == 1 {
                    print!("{text}");
                }
                println!("OK {f}");
            }
            Err(failure) if files.len() == 1 => print!("{}", failure.render()),
            Err(failure) => {
                let first = failure.diagnostics.iter().find(|d| d.is_error());
                let (at, what) =
                    first.map_or_else(Default::default, |d| (failure.map.location(d.span), format!("[{}] {}", d.code, d.message)));
                println!("ERR {f}: {what} ({at})");
            }
        }
    }
    if files.len() > 1 {
        println!("{accepted} of {} accepted", files.len());
    }
}
