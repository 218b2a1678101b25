//! `bench n4 --scrape`: what does a scrape of the metrics cost the agent's thread, which answers N4, the thread that writes the text, and packets?
//!
//! The agent's answer and the text are the daemon's own; HTTP is left out, which has a thread of its own. Packets go by one worker, in turns with a scrape a
//! second and without.

use super::{Args, FRAMES, Kept, PATIENCE, Running, median, sessions, start};
use crate::bench::measure::threads_time;
use cli::failure::Failure;
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use daemon::manage::request::Request;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// From one scrape to the next: more often than Prometheus asks by default (every 15 s to 60 s).
const EVERY: Duration = Duration::from_secs(1);

/// Time of processors for one scrape, and the text's length.
struct Scraped {
    agent: Duration,
    text: Duration,
    bytes: usize,
}

/// Runs it; the figures as JSON.
pub(super) fn scrape(args: &Args, machine: Value, levels: &[u32]) -> Result<Value, Failure> {
    let common = &args.common;
    let (rounds, window) = (common.size(7, 2), common.size(Duration::from_secs(4), Duration::from_millis(600)));
    println!("bench n4 --scrape: in turns without and with a scrape a second, {rounds} times {} s each; medians", window.as_secs_f64());
    println!(
        "  {:>10} {:>14} {:>14} {:>12} {:>14} {:>14} {:>7}",
        "sessions", "agent, us", "text, us", "bytes", "without/s", "with/s", "ratio"
    );
    let mut running = start(args, levels.iter().max().copied().unwrap_or(0) + 1, Kept::Nowhere)?;
    running.smf.associate(1)?;
    let (mut rows, mut there) = (Vec::new(), 0);
    for &level in levels {
        running.smf.establish(there, level)?;
        there = there.max(level);
        let Scraped { agent, text, bytes } = alone(&running.requests, common.size(300, 20))?;
        let mut rates = [Vec::new(), Vec::new()];
        let mut scrapes = 0;
        for _ in 0..rounds {
            rates[0].push(packets(&running, level, window, false)?.0);
            let (rate, of_it) = packets(&running, level, window, true)?;
            rates[1].push(rate);
            scrapes += of_it;
        }
        let dropped: u64 = running.engine.ledger().dropped.values().map(|count| count.packets).sum();
        let [without, with] = rates.map(median);
        if dropped > 0 || without == 0.0 || scrapes < rounds {
            return Err(Failure::Failed(format!("{dropped} packets were dropped, {without} a second came out, {scrapes} scrapes")));
        }
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        println!(
            "  {level:>10} {:>14.1} {:>14.1} {bytes:>12} {without:>14.0} {with:>14.0} {:>7.3}",
            micros(agent),
            micros(text),
            with / without
        );
        rows.push(json!({
            "sessions": level, "verified": scrapes, "agent_us": micros(agent), "text_us": micros(text), "text_bytes": bytes,
            "without_per_s": without, "with_per_s": with, "ratio": with / without,
        }));
    }
    let _ = running.requests.send(Request::Stop);
    running.agent.join().map_err(|_| Failure::Failed("the agent failed".into()))?;
    let figures = json!({ "bench": "n4-scrape", "machine": machine, "every_s": EVERY.as_secs(), "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

/// As the HTTP server has it: the report, and the text of it.
fn once(requests: &Sender<Request>) -> Result<String, Failure> {
    let (reply, answer) = bounded(1);
    let gone = || Failure::Failed("the agent has ended".into());
    requests.send(Request::Report { reply }).map_err(|_| gone())?;
    Ok(daemon::manage::metrics::text(answer.recv_timeout(PATIENCE).map_err(|_| gone())?))
}

/// Many in a row, without packets.
fn alone(requests: &Sender<Request>, count: u32) -> Result<Scraped, Failure> {
    let own = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let (agent, text, mut bytes) = (threads_time("agent"), own(), 0);
    for _ in 0..count {
        let text = once(requests)?;
        if !text.ends_with("# EOF\n") {
            return Err(Failure::Failed("the text of the metrics has no end".into()));
        }
        bytes = text.len();
    }
    let (agent, text) = (threads_time("agent").saturating_sub(agent), own() - text);
    Ok(Scraped { agent: agent / count, text: text / count, bytes })
}

/// Packets a second of some of the sessions, and how many scrapes there were meanwhile.
fn packets(running: &Running, level: u32, window: Duration, scraped: bool) -> Result<(f64, u32), Failure> {
    let sent = || running.engine.ledger().ports.get(&sessions::N3).map_or(0, |port| port.transmitted.packets);
    running.packets.store(level.min(FRAMES), Ordering::SeqCst);
    let rate = std::thread::scope(|scope| {
        let (done, is_done) = bounded::<()>(0);
        let requests = &running.requests;
        let scraping = scraped.then(|| {
            scope.spawn(move || {
                let mut count = 0;
                loop {
                    once(requests)?;
                    count += 1;
                    if is_done.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                        return Ok(count);
                    }
                }
            })
        });
        let (before, began) = (sent(), Instant::now());
        std::thread::sleep(window);
        let (after, took) = (sent(), began.elapsed());
        drop(done);
        let scrapes = scraping.map_or(Ok(Ok(0)), std::thread::ScopedJoinHandle::join);
        let scrapes: Result<u32, Failure> = scrapes.map_err(|_| Failure::Failed("the thread that scrapes has failed".into()))?;
        Ok(((after - before) as f64 / took.as_secs_f64(), scrapes?))
    });
    running.packets.store(0, Ordering::SeqCst);
    rate
}
