//! `splitplane-lab reproduce`: the papers' experiments, run again. Each prints the paper's numbers beside ours, says of each of ours whether
//! it was measured, modelled or cited and by which rule, and writes JSON and a picture. `docs/reproduce.md` explains them.

mod singh_table4;
mod singh_table5;
mod singh_table6;

mod singh_figure10;
mod singh_figure11;
mod singh_figure12;
mod singh_figure13;
mod singh_figure14;
mod singh_figure15;
mod singh_figure7;
mod singh_figure7b;
mod singh_figure8;
mod singh_figure9;

mod singh_cipher;

mod bose_table1;
mod bose_table2;

mod bose_figure3;
mod bose_figure4;
mod bose_figure5;

mod memarian_figure7;
mod memarian_figure8;
mod memarian_figure9;

mod memarian_figure10;
mod memarian_figure11;

mod memarian_figure12;
mod memarian_figure13;
mod memarian_table1;

mod ceupf_figure2;

// What they share, in the order of use.
mod bed;
mod chart;
mod cores;
mod downloads;
mod gnb_latency;
mod gnb_steps;
mod link;
mod offload_cases;
mod outcome;
mod paced;
mod papers;
mod shares;
mod world;

use cli::failure::Failure;
use outcome::Outcome;
use std::path::PathBuf;

/// Options of `reproduce`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Experiment: `list` prints their names, `all` runs all.
    name: String,
    /// Output folder for NAME.json and NAME.svg.
    #[arg(long, default_value = "reproduction")]
    out: PathBuf,
    /// Runs everything small and short; the figures mean nothing.
    #[arg(long)]
    pub quick: bool,
    /// Sessions that singh-table5 installs on x86 [default: 15,000,000; with --quick: 2000].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(crate::bench::sessions::MOST)))]
    sessions: Option<u32>,
    /// Rounds of each measurement; medians are shown [default: 5; with --quick: 2].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=101))]
    rounds: Option<u32>,
    /// Milliseconds of a round [default: 100; with --quick: 2].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    round_ms: Option<u64>,
}

impl Args {
    fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 2 } else { 5 })
    }

    fn round(&self) -> std::time::Duration {
        std::time::Duration::from_millis(self.round_ms.unwrap_or(if self.quick { 2 } else { 100 }))
    }

    /// The same for what a benchmark measures.
    fn common(&self) -> crate::bench::options::Common {
        crate::bench::options::Common::of(self.rounds(), self.round(), self.quick)
    }

    /// `full`, or with `--quick` the other.
    fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}

/// An experiment.
struct Experiment {
    /// Paper's author, and item.
    name: &'static str,
    /// Its name before papers were told apart, if it had one.
    alias: Option<&'static str>,
    title: &'static str,
    run: fn(&Args) -> Result<Outcome, Failure>,
}

macro_rules! experiment {
    ($of:ident) => {
        experiment!($of, None)
    };
    ($of:ident, $alias:expr) => {
        Experiment { name: $of::NAME, alias: $alias, title: $of::TITLE, run: $of::run }
    };
}

/// All that can be run again, in the papers' order.
const EXPERIMENTS: &[Experiment] = &[
    experiment!(singh_table4, Some("table4")),
    experiment!(singh_table5, Some("table5")),
    experiment!(singh_table6, Some("table6")),
    experiment!(singh_figure7, Some("figure7")),
    experiment!(singh_figure7b),
    experiment!(singh_figure8),
    experiment!(singh_figure9),
    experiment!(singh_figure10, Some("figure10")),
    experiment!(singh_figure11),
    experiment!(singh_figure12),
    experiment!(singh_figure13),
    experiment!(singh_figure14),
    experiment!(singh_figure15),
    experiment!(singh_cipher),
    experiment!(bose_table1),
    experiment!(bose_table2),
    experiment!(bose_figure3),
    experiment!(bose_figure4),
    experiment!(bose_figure5),
    experiment!(memarian_figure7),
    experiment!(memarian_figure8),
    experiment!(memarian_figure9),
    experiment!(memarian_figure10),
    experiment!(memarian_figure11),
    experiment!(memarian_figure12),
    experiment!(memarian_figure13),
    experiment!(memarian_table1),
    experiment!(ceupf_figure2, Some("ceupf")),
];

/// Runs one, or all.
pub fn reproduce(args: &Args) -> Result<(), Failure> {
    if args.name == "list" {
        EXPERIMENTS.iter().for_each(|e| println!("{:<17} {}", e.name, e.title));
        return Ok(());
    }
    let chosen: Vec<&Experiment> =
        EXPERIMENTS.iter().filter(|e| args.name == "all" || args.name == e.name || e.alias == Some(args.name.as_str())).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|e| e.name).collect();
        return Err(Failure::Usage(format!(
            "nothing is called `{}`; there are {}, list and all",
            args.name.escape_debug(),
            names.join(", ")
        )));
    }
    let fail = |path: &std::path::Path, e: &dyn std::fmt::Display| Failure::Usage(format!("cannot write {}: {e}", path.display()));
    std::fs::create_dir_all(&args.out).map_err(|e| fail(&args.out, &e))?;
    let machine = crate::bench::report::machine();
    crate::bench::report::print_machine(&machine);
    for experiment in chosen {
        let mut outcome = (experiment.run)(args)?;
        outcome.machine = machine.clone();
        outcome.print();
        let json = args.out.join(format!("{}.json", experiment.name));
        let text = serde_json::to_string_pretty(&outcome).map_err(|e| Failure::Failed(e.to_string()))?;
        std::fs::write(&json, text + "\n").map_err(|e| fail(&json, &e))?;
        outcome.chart.write(outcome.title, &args.out.join(format!("{}.svg", experiment.name)))?;
    }
    println!("JSON and pictures are in {}", args.out.display());
    Ok(())
}
