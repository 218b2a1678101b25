//! How fast is SWX here? `SPLITPLANE_SWX_INCLUDE=... cargo run --release -p dpdk --example swx -- 1000 64000`
//!
//! For each number of sessions: downlink and uplink, with and without a meter for each session, interpreted, and generated if the variable
//! names the folder of the header. Output bytes and counters are verified first. Rounds are interleaved; Mpps of this thread's time, medians.

use std::time::{Duration, Instant};

use dpdk::swx::{Direction, Swx, frames, generate, sessions};

const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(120);

fn main() -> Result<(), dpdk::Error> {
    dpdk::start(&dpdk::Settings { memory_mib: 768, ..Default::default() })?;
    let headers = generate::headers()?;
    for count in std::env::args().skip(1) {
        let count: u32 = count.parse().map_err(|_| dpdk::Error::Config(format!("`{count}` is no number of sessions")))?;
        let sessions = sessions(count);
        for direction in [Direction::Downlink, Direction::Uplink] {
            let packets = frames(direction, &sessions, 65_536, 46);
            let mut all = Vec::new();
            for meter in [false, true] {
                for headers in [None, headers.as_deref()].into_iter().take(if headers.is_some() { 2 } else { 1 }) {
                    let begin = Instant::now();
                    let mut swx = Swx::with_headers(direction, &sessions, meter, headers)?;
                    swx.set_frames(&packets)?;
                    let verified = swx.verify()?;
                    eprintln!("{count} {direction:?}: {} meter {meter}: {verified} verified, made in {:?}", swx.mode(), begin.elapsed());
                    all.push((meter, swx, Vec::new()));
                }
            }
            for _ in 0..ROUNDS {
                for (_, swx, rates) in &mut all {
                    let (packets, time) = swx.round(ROUND)?;
                    rates.push(packets as f64 / time.as_secs_f64() / 1e6);
                }
            }
            for (meter, swx, rates) in &mut all {
                rates.sort_by(f64::total_cmp);
                let meter = if *meter { "with meter" } else { "no meter" };
                println!(
                    "{count:>6} {direction:?} {:<15} {meter:<10} {:>6.2} Mpps ({:.2} to {:.2})",
                    swx.mode(),
                    rates[ROUNDS / 2],
                    rates[0],
                    rates[ROUNDS - 1]
                );
            }
        }
    }
    Ok(())
}
