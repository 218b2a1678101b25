//! What does a user with a guaranteed rate get in a port that others congest? Datagrams at that rate downlink, beside connections that take what they get.

use super::place::Place;
use super::{Args, Cell, Load, flows};
use crate::bench::options::Common;
use cli::failure::Failure;
use serde_json::{Value, json};
use std::time::Duration;
use traffic::plan::Qos;

/// What the user may expect: share of its rate, and the 99th percentile of what packets wait.
const SHARE_AIM: f64 = 0.98;
const DELAY_AIM_MS: f64 = 10.0;
/// Share of the port's rate, as IP packets of full frames in tunnels, from which on it is congested: TCP's payload is less.
const CONGESTED: f64 = 0.85;
const RTT_MS: u32 = 10;

/// Runs it; the figures as JSON.
pub(super) fn run(args: &Args, rate_mbps: u32, machine: &Value) -> Result<Value, Failure> {
    let port_mbps = args.port_rate.unwrap_or(if args.quick { 20 } else { 1000 });
    let greedy = usize::from(args.greedy.unwrap_or(if args.quick { 8 } else { 200 }));
    if rate_mbps > port_mbps {
        return Err(Failure::Usage(format!("bench qos: {rate_mbps} Mbit/s cannot be guaranteed in a port of {port_mbps}")));
    }
    let seconds =
        |i: usize, full, quick| Duration::from_secs(args.seconds.get(i).copied().unwrap_or(if args.quick { quick } else { full }));
    let (window, warm_up) = (seconds(0, 10, 1), seconds(1, 4, 1));
    println!(
        "bench qos: {rate_mbps} Mbit/s guaranteed beside {greedy} TCP connections in a port of {port_mbps} Mbit/s, with and without the guarantee"
    );
    let mut rows = Vec::new();
    for is_guaranteed in [true, false] {
        let kbps = u64::from(rate_mbps) * 1000;
        let first = Qos { gbr_kbps: is_guaranteed.then_some((kbps, kbps)), ..Qos::default() };
        let users: Vec<Qos> = std::iter::once(first).chain(std::iter::repeat_n(Qos::default(), greedy)).collect();
        let place = Place::make("", &format!("rate_kbps = {}\n", u64::from(port_mbps) * 1000), &users)?;
        place.line.delay(Duration::from_millis(RTT_MS.into()) / 2);
        let cell = |load| Cell { rate_mbps, rtt_ms: RTT_MS, uplink: false, load };
        let loads =
            std::iter::once(Load::Udp { over_percent: 0 }).chain(std::iter::repeat_n(Load::Tcp { congestion: "cubic", flows: 1 }, greedy));
        let users: Vec<_> = loads.enumerate().map(|(i, load)| (place.user(i), cell(load))).collect();
        let measured = flows::run(&place.net, &users, warm_up, window)?;
        let charged = place.end()?;
        let [of, others @ ..] = &measured[..] else { return Err(Failure::Failed("nobody was measured".into())) };
        let share = of.ip_bps / cell(Load::Udp { over_percent: 0 }).rate_bps() as f64;
        let all_bps = of.ip_bps + others.iter().map(|of| of.payload_bps).sum::<f64>();
        let congested = all_bps / (f64::from(port_mbps) * 1e6);
        let delay = of.delay_p99_ms.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
        let aimed = match is_guaranteed {
            true if share >= SHARE_AIM && of.delay_p99_ms.is_some_and(|ms| ms <= DELAY_AIM_MS) => ", as aimed".to_owned(),
            true => format!("; the aim is {SHARE_AIM} and {DELAY_AIM_MS} ms"),
            false => String::new(),
        };
        let name = if is_guaranteed { "with the guarantee" } else { "without" };
        println!("  {name:<18} {share:.3} of its rate, {delay} ms added (p99), port {:.0} % used{aimed}", congested * 100.0);
        if congested < CONGESTED {
            println!("    the machine did not congest the port: choose a lower --port-rate");
        }
        rows.push(json!({
            "guaranteed": is_guaranteed, "rate_mbps": rate_mbps, "port_mbps": port_mbps, "greedy": greedy, "share": share,
            "delay_p99_ms": of.delay_p99_ms, "port_used": congested, "charged": charged,
            "verified": measured.iter().map(|of| of.verified).sum::<u64>(),
        }));
    }
    let figures = json!({ "bench": "qos", "machine": machine, "rows": rows });
    let mut common = Common::of(1, window, args.quick);
    common.json.clone_from(&args.json);
    common.write(&figures)?;
    Ok(figures)
}
