//! `splitplane rules`: an operator's rules for the switch in front of a foreign UPF, to a daemon that runs (CeUPF, §2: RPI).

use crate::ceupf::requests::{MAX_REQUEST, Reply, Request, RuleLine, RuleRow};
use crate::manage::socket::ask;
use ceupf::rules_of;
use cli::failure::Failure;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Longest file of rules, in bytes.
const MAX_FILE: u64 = 32 << 20;

/// Options of `rules`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The daemon's socket: `ceupf.control` of its configuration.
    #[arg(long, global = true, default_value = "/run/splitplane/ceupf.sock")]
    socket: PathBuf,
    /// Prints the daemon's response as JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: RulesCommand,
}

/// What to do with them.
#[derive(clap::Subcommand, Debug)]
enum RulesCommand {
    /// Adds one: `encap ue=A teid=N gnb=A [remote=A] [qfi=N] [via=HOP]` or `decap teid=N ue=A [remote=A] [via=HOP]`.
    Add {
        /// The rule.
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Deletes one: `id=N`, `encap ue=A [remote=A]` or `decap teid=N ue=A [remote=A]`; prints its counters.
    Del {
        /// Which.
        #[arg(required = true)]
        words: Vec<String>,
    },
    /// Lists them with packets and bytes.
    List,
    /// Adds all rules of a file or none. One rule per line; `#` starts a comment.
    Load {
        /// The file.
        file: PathBuf,
    },
}

/// Runs it.
pub fn rules(args: &Args) -> Result<(), Failure> {
    let one = |words: &[String]| vec![RuleLine { line: 1, text: words.join(" ") }];
    let (request, file) = match &args.command {
        RulesCommand::Add { words } => (Request::Add { rules: one(words) }, None),
        RulesCommand::Del { words } => (Request::Delete { rules: one(words) }, None),
        RulesCommand::List => (Request::List {}, None),
        RulesCommand::Load { file } => (Request::Add { rules: read(file)? }, Some(file)),
    };
    let reply = ask(&args.socket, &request, MAX_REQUEST)?;
    if args.json {
        println!("{}", serde_json::to_string(&reply).map_err(|e| Failure::Failed(e.to_string()))?);
    }
    match reply {
        Reply::Error { line, message } => Err(Failure::Failed(match (file, line) {
            (Some(file), Some(line)) => format!("{}:{line}: {message}; nothing was added", file.display()),
            _ => message,
        })),
        _ if args.json => Ok(()),
        Reply::Changed { rules } => {
            match &rules[..] {
                [one] => println!("rule {}: {}{}", one.id, one.rule, counted(one)),
                many => println!("{} rules", many.len()),
            }
            Ok(())
        }
        Reply::Rules { rules, ways, capacity, lost } => {
            println!("{:>6} {:>14} {:>16}  rule", "id", "packets", "bytes");
            rules.iter().for_each(|r| println!("{:>6} {:>14} {:>16}  {}", r.id, r.packets, r.bytes, r.rule));
            println!("{} rules of {capacity}", rules.len());
            ways.iter().for_each(|(way, count)| println!("{way}: {} packets, {} bytes", count.packets, count.bytes));
            lost.iter().for_each(|(what, packets)| println!("lost, {what}: {packets} packets"));
            Ok(())
        }
    }
}

fn counted(rule: &RuleRow) -> String {
    if rule.packets == 0 { String::new() } else { format!(" ({} packets, {} bytes)", rule.packets, rule.bytes) }
}

/// The lines of a file that are rules. They are parsed here too, so that a fault is found without a daemon.
fn read(path: &Path) -> Result<Vec<RuleLine>, Failure> {
    let fail = |e: &dyn std::fmt::Display| Failure::Usage(format!("cannot read {}: {e}", path.display()));
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| fail(&e))?;
    file.take(MAX_FILE + 1).read_to_string(&mut text).map_err(|e| fail(&e))?;
    if text.len() as u64 > MAX_FILE {
        return Err(fail(&format!("longer than {MAX_FILE} bytes")));
    }
    let rule = |(line, rule): (usize, Result<ceupf::Rule, ceupf::RuleError>)| match rule {
        Ok(rule) => Ok(RuleLine { line: line as u64, text: rule.to_string() }),
        Err(e) => Err(Failure::Usage(format!("{}:{line}: {e}; nothing was added", path.display()))),
    };
    let rules = rules_of(&text).map(rule).collect::<Result<Vec<_>, _>>()?;
    if rules.is_empty() { Err(Failure::Usage(format!("{}: no rule in it", path.display()))) } else { Ok(rules) }
}
