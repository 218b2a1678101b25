//! What do our ports over DPDK cost? `cargo run --release -p dpdk --example ports`
//!
//! A null device and a ring, in one thread: receive and send a burst, both copied. Mpps of this thread's time, medians of interleaved rounds.

use base::{Packet, PortId};
use pktio::Port;
use std::time::Duration;

const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(60);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    dpdk::start(&dpdk::Settings::default())?;
    let mut all = Vec::new();
    for (number, size) in [64, 128, 256, 512, 1024, 1500].into_iter().enumerate() {
        let device = format!("net_null{number},size={size}");
        all.push((device.clone(), dpdk::open("bench", &device.parse()?, Default::default())?.remove(0), Vec::new()));
    }
    let mut ring = dpdk::open("bench", &"net_ring0".parse()?, Default::default())?.remove(0);
    ring.transmit(&vec![Packet::new(&[7; 64], PortId(0)); 256])?;
    all.push(("net_ring0, 64 bytes".to_owned(), ring, Vec::new()));
    let mut packets: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    for _ in 0..ROUNDS {
        for (_, port, rates) in &mut all {
            let (begin, mut count) = (dpdk::swx::thread_time(), 0);
            while dpdk::swx::thread_time() - begin < ROUND {
                for _ in 0..64 {
                    let n = port.receive(&mut packets)?;
                    count += port.transmit(&packets[..n])?;
                }
            }
            rates.push(count as f64 / (dpdk::swx::thread_time() - begin).as_secs_f64() / 1e6);
        }
    }
    for (what, _, rates) in &mut all {
        rates.sort_by(f64::total_cmp);
        let median = rates[ROUNDS / 2];
        println!("{what:<22} {median:>6.1} Mpps ({:.1} to {:.1}), {:.1} ns a packet", rates[0], rates[ROUNDS - 1], 1e3 / median);
    }
    Ok(())
}
