//! DPDK's SWX pipeline as a contestant of `bench upf`.
//!
//! It does less than the others: session, source and QFI checks, a meter and counters for each session, tunnel; no routes, TTL, header
//! checksums or MTU. So its output is compared with an expectation of its own, and not with the interpreter's. It receives and sends in
//! memory as the others do, but from frames that were made beforehand: 65,536 of them go round.

use super::contestant::{Contestant, Judge, Traffic, resident_bytes, start_dpdk};
use super::sessions::{self, Direction};
use cli::failure::Failure;
use dpdk::swx::{Mode, Session, Swx, generate};
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;
use target_api::Count;

/// Sessions at most: DPDK looks through all for each that is added.
const MOST: u32 = 65_536;
/// Frames that go round.
const FRAMES: usize = 65_536;
/// What figures call it.
pub(super) const SWX: &str = "DPDK's SWX";

/// Both directions.
pub(super) struct OnSwx {
    /// Downlink and uplink.
    ways: [Way; 2],
    mode: Mode,
    resident_bytes: u64,
}

struct Way {
    swx: Swx,
    /// What it has counted for the verified packets.
    counted: Vec<(u64, u64)>,
    ready: bool,
}

impl OnSwx {
    /// With the same sessions as the others; as generated code if `headers`, or else the environment, names the folder with the header
    /// ([`generate::HEADERS`]).
    pub(super) fn new(sessions: u32, headers: Option<&Path>) -> Result<OnSwx, Failure> {
        if sessions > MOST {
            return Err(Failure::Usage(format!("it takes time with the square of the sessions to add them: at most {MOST}")));
        }
        let usage = |e: dpdk::Error| Failure::Usage(e.to_string());
        start_dpdk()?;
        let before = resident_bytes();
        let headers = match headers {
            Some(folder) => Some(folder.to_owned()),
            None => generate::headers().map_err(usage)?,
        };
        let way = |direction| {
            let all: Vec<Session> = (0..sessions).map(session).collect();
            let swx = Swx::with_headers(direction, &all, true, headers.as_deref())?;
            Ok(Way { swx, counted: vec![(0, 0); sessions as usize], ready: false })
        };
        let ways = [way(dpdk::swx::Direction::Downlink).map_err(usage)?, way(dpdk::swx::Direction::Uplink).map_err(usage)?];
        Ok(OnSwx { mode: ways[0].swx.mode(), ways, resident_bytes: resident_bytes().saturating_sub(before) })
    }

    fn way(&mut self, direction: Direction) -> &mut Way {
        &mut self.ways[usize::from(direction == Direction::Uplink)]
    }
}

/// A session of the benchmarks.
fn session(n: u32) -> Session {
    Session {
        ue: sessions::ue(n).into(),
        uplink_teid: sessions::teid(n),
        downlink_teid: sessions::teid(n),
        gnb: Ipv4Addr::new(10, 3, 0, 2),
        upf: Ipv4Addr::new(10, 3, 0, 1),
        qfi: 9,
        macs: ([2, 0, 0, 0, 3, 2], [2, 0, 0, 0, 3, 1]),
    }
}

fn frames(traffic: &Traffic, count: usize) -> Vec<Vec<u8>> {
    traffic.numbers.iter().take(count).map(|n| sessions::frame(traffic.direction, *n)).collect()
}

fn failed(e: dpdk::Error) -> Failure {
    Failure::Failed(e.to_string())
}

impl Contestant for OnSwx {
    fn name(&self) -> &'static str {
        SWX
    }

    fn note(&self) -> String {
        format!("{}; does less", self.mode)
    }

    fn resident_bytes(&self) -> u64 {
        self.resident_bytes
    }

    /// Against its own expectation: see the file's top.
    fn verify(&mut self, _: &mut dyn Judge, traffic: &Traffic, count: usize) -> Result<(), Failure> {
        let way = self.way(traffic.direction);
        way.ready = false;
        let all = frames(traffic, count);
        let before = way.swx.counters().map_err(failed)?;
        way.swx.set_frames(&all).map_err(failed)?;
        let verified = way.swx.verify().map_err(failed)?;
        if verified != all.len() {
            return Err(Failure::Failed(format!("SWX, {}: {verified} of {} packets came out", traffic.direction, all.len())));
        }
        let after = way.swx.counters().map_err(failed)?;
        way.counted = before.iter().zip(&after).map(|(before, after)| (after.0 - before.0, after.1 - before.1)).collect();
        Ok(())
    }

    fn usage(&self, direction: Direction, n: u32) -> Option<Count> {
        let counted = &self.ways[usize::from(direction == Direction::Uplink)].counted;
        let (packets, bytes) = *counted.get(n as usize)?;
        Some(Count { packets, bytes })
    }

    fn round(&mut self, traffic: &Traffic, length: Duration) -> Result<f64, Failure> {
        let way = self.way(traffic.direction);
        if !way.ready {
            way.swx.set_frames(&frames(traffic, FRAMES)).map_err(failed)?;
            way.ready = true;
        }
        let (packets, time) = way.swx.round(length).map_err(failed)?;
        Ok(packets as f64 / time.as_secs_f64() / 1e6)
    }
}
