//! At which rate is nothing lost, and how long do packets take below it? RFC 2544 §26.1 by binary search, and §26.2 at shares of what it finds.
//!
//! Other than there: every packet is timed, not one a trial; a latency is that of one trial, not the mean of twenty; trials are as long
//! as the caller wants, where the RFC asks for 60 and 120 seconds. §26.3 to 26.6 are not here.

use crate::Error;
use crate::outcome::Trial;
use serde::Serialize;
use std::fmt;

/// Trials of one search at most: a resolution of 0 would never be reached.
const MOST_TRIALS: usize = 40;

/// How throughput is searched for.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// Where the search begins, in packets a second, up and down together; `None`: what the tester can send.
    pub max_pps: Option<f64>,
    /// The search ends when the rate is known to this share of the highest, 0 to 1.
    pub resolution: f64,
    /// Share of the packets that may be lost, 0 to 1; 0 is RFC 2544's throughput.
    pub loss: f64,
}

impl Search {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`Error::Usage`] with what is allowed.
    pub fn validate(&self) -> Result<(), Error> {
        if !(0.0001..=0.5).contains(&self.resolution) {
            return Err(Error::Usage("resolution: from 0.01 to 50 percent".into()));
        }
        if !(0.0..=0.5).contains(&self.loss) {
            return Err(Error::Usage("loss: from 0 to 50 percent".into()));
        }
        Ok(())
    }

    fn passes(&self, trial: &Trial) -> bool {
        trial.loss() <= self.loss && trial.misdelivered() == 0
    }
}

/// What ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The device: a little more is lost.
    Device,
    /// The rate at which the search was to begin: the device carries that, and may carry more.
    Asked,
    /// The tester, which cannot send more: the device may carry more.
    Tester,
}

/// Of one size of frames.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    /// Sizes of frames: a number of bytes, or `imix`.
    pub frame_bytes: String,
    /// The highest rate of a trial that lost no more than it may, in packets a second, up and down together; 0 if there was none.
    pub pps: f64,
    /// The same as frames on the core side, in Mbit/s.
    pub mbps: f64,
    /// What ended the search.
    pub bound: Bound,
    /// All trials, in order: packets a second sent, share lost.
    pub trials: Vec<[f64; 2]>,
    /// Trials at shares of it.
    pub latencies: Vec<AtLoad>,
}

/// A trial below the throughput.
#[derive(Clone, Debug, Serialize)]
pub struct AtLoad {
    /// Percent of the throughput.
    pub load_percent: u32,
    /// What came of it.
    pub trial: Trial,
}

/// Searches; `trial` runs one at a rate, or at the highest that the tester can send. `mean_bytes` is the mean length of a frame.
///
/// # Errors
/// Those of `trial`.
pub fn throughput(
    search: &Search,
    mean_bytes: f64,
    mut trial: impl FnMut(Option<f64>) -> Result<Trial, Error>,
) -> Result<Throughput, Error> {
    search.validate()?;
    let mut trials = Vec::new();
    let mut run = |rate: Option<f64>| -> Result<Trial, Error> {
        let trial = trial(rate)?;
        trials.push([trial.sent_pps(), trial.loss()]);
        Ok(trial)
    };
    let first = run(search.max_pps)?;
    let frame_bytes = first.frame_bytes.clone();
    let (pps, bound) = if search.passes(&first) {
        (first.sent_pps(), if search.max_pps.is_none() || first.is_limited() { Bound::Tester } else { Bound::Asked })
    } else {
        binary(search, first.sent_pps(), &mut run)?
    };
    Ok(Throughput { frame_bytes, pps, mbps: pps * mean_bytes * 8.0 / 1e6, bound, trials, latencies: Vec::new() })
}

impl Throughput {
    /// Runs a trial at each of these percents of it. Nothing, if no rate was found.
    ///
    /// # Errors
    /// Those of `trial`.
    pub fn add_latencies(&mut self, loads: &[u32], mut trial: impl FnMut(f64) -> Result<Trial, Error>) -> Result<(), Error> {
        for load in loads.iter().filter(|_| self.pps > 0.0) {
            let trial = trial((self.pps * f64::from(*load) / 100.0).max(1.0))?;
            self.latencies.push(AtLoad { load_percent: *load, trial });
        }
        Ok(())
    }
}

/// Between 0, where nothing is lost, and `high`, where too much is.
fn binary(search: &Search, high: f64, run: &mut impl FnMut(Option<f64>) -> Result<Trial, Error>) -> Result<(f64, Bound), Error> {
    let (mut low, mut high, step) = (0.0, high, high * search.resolution);
    for _ in 0..MOST_TRIALS {
        let middle = (low + high) / 2.0;
        if high - low <= step || middle < 1.0 {
            break;
        }
        let trial = run(Some(middle))?;
        match search.passes(&trial) {
            false => high = middle,
            true if trial.is_limited() => return Ok((trial.sent_pps().max(low), Bound::Tester)),
            true => low = trial.sent_pps().min(middle),
        }
    }
    Ok((low, Bound::Device))
}

impl fmt::Display for Throughput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = match self.bound {
            Bound::Device => "",
            Bound::Asked => "  at least: the highest rate asked for",
            Bound::Tester => "  at least: the tester sends no more",
        };
        writeln!(
            f,
            "frames of {} bytes: {:.4} Mpps, {:.1} Mbit/s, {} trials{bound}",
            self.frame_bytes,
            self.pps / 1e6,
            self.mbps,
            self.trials.len()
        )?;
        for AtLoad { load_percent, trial } in &self.latencies {
            for flow in &trial.flows {
                let latency = flow.latency.as_ref().map_or_else(|| "nothing arrived".to_owned(), |latency| latency.to_string());
                write!(f, "  at {load_percent:>3} %  {:<4} latency  {latency}", flow.direction.name())?;
                if flow.lost > 0 {
                    write!(f, "  lost {}", flow.lost)?;
                }
                writeln!(f)?;
                if let Some(rtt) = flow.replies.as_ref().and_then(|replies| replies.rtt.as_ref()) {
                    writeln!(f, "                RTT      {rtt}")?;
                }
            }
        }
        Ok(())
    }
}
