//! Options that all benchmarks take: how long, how often, where the figures go.

use cli::failure::Failure;
use std::path::PathBuf;
use std::time::Duration;

/// They are the same everywhere, so that `bench all` can pass them on.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Common {
    /// Rounds of each contestant; medians are shown [default: 7; with --quick: 2].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=101))]
    rounds: Option<u32>,
    /// Milliseconds of a round [default: 150; with --quick: 3].
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    round_ms: Option<u64>,
    /// Runs everything small and short; the figures mean nothing.
    #[arg(long)]
    pub quick: bool,
    /// Writes the figures to this file, as JSON.
    #[arg(long)]
    pub json: Option<PathBuf>,
}

impl Common {
    /// Of somebody who has options of its own.
    pub(crate) fn of(rounds: u32, round: Duration, quick: bool) -> Common {
        Common { rounds: Some(rounds), round_ms: Some(round.as_millis() as u64), quick, json: None }
    }

    /// Rounds of each contestant.
    pub fn rounds(&self) -> u32 {
        self.rounds.unwrap_or(if self.quick { 2 } else { 7 })
    }

    /// Length of a round.
    pub fn round(&self) -> Duration {
        Duration::from_millis(self.round_ms.unwrap_or(if self.quick { 3 } else { 150 }))
    }

    /// `full`, or with `--quick` the other.
    pub fn size<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The same without a file: who asks writes its own.
    pub fn without_file(&self) -> Common {
        Common { json: None, ..self.clone() }
    }

    /// The figures as JSON, if requested.
    pub fn write(&self, figures: &serde_json::Value) -> Result<(), Failure> {
        let Some(path) = &self.json else { return Ok(()) };
        std::fs::write(path, format!("{figures:#}\n")).map_err(|e| Failure::Usage(format!("cannot write {}: {e}", path.display())))
    }
}
