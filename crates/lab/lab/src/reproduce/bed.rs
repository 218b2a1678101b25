//! Where is a design of the UPF measured from interface to interface? The daemon in a network namespace, on veth pairs; in another one, on both of its
//! sides, the tester `splitplane load`; an SMF's emulator for the sessions. As root.

use super::outcome::number;
use crate::bench::qos::place::{CONFIG, SERVER, establish, recorded};
use crate::demo::netns::TesterNetworks;
use crate::demo::process::Part;
use cli::failure::Failure;
use daemon::manage::report::Report;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use traffic::plan::Qos;
use traffic::smf::Smf;

/// What is said of figures that come from here.
pub(super) const RULE: &str = "Measured through the running daemon, from veth to veth, by `splitplane load`, with one packet up for two down, as the paper has it. Tester and daemon share this machine's cores and the kernel's veths are no NIC: compare designs of one run, not microseconds with the paper's.";

/// Most trials that are made where nothing comes through.
const TRIALS: u32 = 10;
/// How long any part may take to start or to end, on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
/// Of what is sent, so much may be lost while the throughput is searched for, in percent: a machine that others use loses some at any rate.
const LOSS: &str = "0.1";

/// A running daemon with its sessions, and the tester's place.
pub(super) struct Bed {
    net: TesterNetworks,
    folder: tempfile::TempDir,
    upf: Part,
    /// The sessions are its.
    _smf: Smf,
}

/// Times of a trial, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// Mean of all packets.
    pub mean_us: f64,
    /// Quantiles of the direction with more packets.
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub p99_9_us: f64,
    pub max_us: f64,
    /// Packets that were timed.
    pub packets: u64,
}

/// What came of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trial {
    /// Packets a second that arrived, both directions.
    pub received_pps: f64,
    /// Of those that were sent, 0 to 1.
    pub lost: f64,
    /// From when a packet was due until it arrived.
    pub one_way: Times,
    /// Until what the sink mirrored was back, if it mirrored.
    pub rtt: Times,
}

/// Whether it can be made here; why not.
pub(super) fn usable(with_xdp: bool) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("needs root: network namespaces".into());
    }
    if with_xdp { target_xdp::sys::require_capabilities().map_err(|e| e.to_string()) } else { Ok(()) }
}

impl Bed {
    /// With these settings of the daemon. `name` tells beds of this process apart.
    pub(super) fn make(name: &str, settings: &str, sessions: u32, queues: u8) -> Result<Bed, Failure> {
        let folder = tempfile::tempdir().map_err(|e| Failure::Failed(format!("cannot create a folder: {e}")))?;
        let path = |name: &str| folder.path().join(name);
        let net = TesterNetworks::create(name, queues)?;
        let (config, report) = (path("upf.toml"), path("upf.json").display().to_string());
        write(&config, format!("{settings}{CONFIG}").as_bytes())?;
        let args = ["run", "--config", &config.display().to_string(), "--report", &report, "--until-input-ends"];
        let mut upf = Part::start("UPF", &net.upf, &args, folder.path(), false)?;
        upf.wait_for("ready", PATIENCE)?;
        let users = vec![Qos::default(); sessions as usize];
        let (smf, sessions) = net.upf.inside(|| establish(&users))?.map_err(|e| Failure::Failed(format!("the SMF: {e}")))?;
        write(&path("sessions"), &recorded(&sessions)?)?;
        Ok(Bed { net, folder, upf, _smf: smf })
    }

    /// Sends at a rate for a time, up and down together; `None`: as much as goes. With `mirror` every packet is sent back. A trial of which nothing comes back, as the
    /// daemon may not run at all in a short one on a busy machine, is made again, and that is said.
    ///
    /// # Errors
    /// Nothing came back of [`TRIALS`].
    pub(super) fn trial(&self, size: &str, rate_pps: Option<f64>, seconds: f64, mirror: bool) -> Result<Trial, Failure> {
        for number in 1..=TRIALS {
            let trial = self.one_trial(size, rate_pps, seconds, mirror)?;
            if 0 < if mirror { trial.rtt.packets } else { trial.one_way.packets } {
                return Ok(trial);
            }
            eprintln!("frames of {size} bytes: nothing came through in trial {number} of at most {TRIALS}");
        }
        Err(Failure::Failed(format!("frames of {size} bytes: nothing came through")))
    }

    fn one_trial(&self, size: &str, rate_pps: Option<f64>, seconds: f64, mirror: bool) -> Result<Trial, Failure> {
        let rate = rate_pps.map_or_else(|| "max".to_owned(), |pps| format!("{:.0}", pps.max(1.0)));
        let mirror = if mirror { "1" } else { "0" };
        let figures = self.load(&["run", "--rate", &rate, "--seconds", &seconds.to_string(), "--size", size, "--mirror", mirror])?;
        let flows = figures["trial"]["flows"].as_array().map(Vec::as_slice).unwrap_or_default();
        let sum = |key: &str| flows.iter().filter_map(|flow| flow[key].as_f64()).sum::<f64>();
        let one_way = times(flows.iter().map(|flow| &flow["latency"]));
        let rtt = times(flows.iter().map(|flow| &flow["replies"]["rtt"]));
        Ok(Trial { received_pps: sum("received_pps"), lost: sum("lost") / sum("sent").max(1.0), one_way, rtt })
    }

    /// The highest rate that loses nothing, or nearly nothing, in packets a second.
    pub(super) fn throughput(&self, size: &str, seconds: f64) -> Result<f64, Failure> {
        let seconds = seconds.to_string();
        let search = ["rfc2544", "--sizes", size, "--trial-seconds", &seconds, "--resolution", "3", "--loss", LOSS, "--loads", "1"];
        let figures = self.load(&search)?;
        let pps = figures["sizes"][0]["pps"].as_f64().unwrap_or(0.0);
        match pps > 0.0 {
            true => Ok(pps),
            false => Err(Failure::Failed(format!("frames of {size} bytes: packets are lost at any rate"))),
        }
    }

    fn load(&self, args: &[&str]) -> Result<Value, Failure> {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let (records, json, server) = (path("sessions"), path("load.json"), SERVER.to_string());
        let ends = ["--access", "af_packet:n3", "--core", "af_packet:n6", "--dn", &server, "--core-gateway", "10.6.0.1"];
        self.net.tester.run(
            &crate::programs::splitplane()?.display().to_string(),
            &[&["load"][..], args, &ends, &["--records", &records, "--threads", "1", "--json", &json]].concat(),
        )?;
        read(&self.folder.path().join("load.json"))
    }

    /// Stops it; its report, which is balanced.
    pub(super) fn end(self) -> Result<Report, Failure> {
        let Bed { net: _net, folder, upf, _smf: smf, .. } = self;
        upf.stop(PATIENCE)?;
        drop(smf);
        let report: Report = read(&folder.path().join("upf.json"))?;
        match report.imbalance {
            0 => Ok(report),
            n => Err(Failure::Failed(format!("{n} packets are not accounted for"))),
        }
    }
}

impl Times {
    /// The quantiles in words.
    pub(super) fn text(&self) -> String {
        format!("half below {} us, 99 % below {}, {} packets", number(self.p50_us), number(self.p99_us), self.packets)
    }
}

/// The share of the users' packets that ran on a target, 0 to 1.
pub(super) fn share_of(report: &Report, target: &str) -> f64 {
    let packets = |of: &daemon::manage::report::TargetReport| (of.uplink.packets + of.downlink.packets) as f64;
    let all: f64 = report.targets.values().map(packets).sum();
    report.targets.get(target).map_or(0.0, packets) / all.max(1.0)
}

/// Of several directions: the mean is that of all packets, quantiles are those of the direction with most.
fn times<'a>(of: impl Iterator<Item = &'a Value> + Clone) -> Times {
    let packets = |of: &Value| of["packets"].as_u64().unwrap_or(0);
    let all: u64 = of.clone().map(packets).sum();
    let Some(most) = of.clone().filter(|of| packets(of) > 0).max_by_key(|of| packets(of)) else { return Times::default() };
    let us = |of: &Value, key: &str| of[key].as_f64().unwrap_or(0.0);
    let mean_us = of.map(|of| us(of, "mean_us") * packets(of) as f64).sum::<f64>() / all as f64;
    Times {
        mean_us,
        p50_us: us(most, "p50_us"),
        p90_us: us(most, "p90_us"),
        p99_us: us(most, "p99_us"),
        p99_9_us: us(most, "p99.9_us"),
        max_us: us(most, "max_us"),
        packets: all,
    }
}

pub(super) fn write(path: &PathBuf, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|e| Failure::Failed(format!("{}: {e}", path.display())))
}

pub(super) fn read<T: serde::de::DeserializeOwned>(path: &PathBuf) -> Result<T, Failure> {
    let failed = |e: &dyn std::fmt::Display| Failure::Failed(format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| failed(&e))?;
    serde_json::from_str(&text).map_err(|e| failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_mean_is_of_all_packets_and_quantiles_are_of_most() {
        let time = |packets: u64, us: f64| json!({ "packets": packets, "mean_us": us, "p50_us": us, "p90_us": us, "p99_us": us, "p99.9_us": us + 1.0, "max_us": us });
        let (up, down) = (time(1, 4.0), time(3, 8.0));
        let of = times([&up, &down, &Value::Null].into_iter());
        assert_eq!((of.mean_us, of.p50_us, of.p99_9_us, of.packets), (7.0, 8.0, 9.0, 4));
        assert_eq!(times([&Value::Null].into_iter()), Times::default());
    }
}
