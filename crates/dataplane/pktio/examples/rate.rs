//! How fast packets go through a port: `rate KIND SENDER RECEIVER [BYTES] [SECONDS]`.
//!
//! KIND is `memory`, `af_packet` or `af_xdp`; SENDER and RECEIVER are the two ends of one cable, e.g. of a veth pair (any words for
//! `memory`). One thread sends, one receives; the receiver's rate and the losses that the ports know of are printed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base::{Packet, PortId};
use pktio::{AfPacket, AfXdp, Port, PortError, memory};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, sender, receiver, rest @ ..] = &arguments[..] else {
        return Err("usage: rate memory|af_packet|af_xdp SENDER RECEIVER [BYTES] [SECONDS]".into());
    };
    let bytes: usize = rest.first().map_or(Ok(64), |text| text.parse())?;
    let seconds: u64 = rest.get(1).map_or(Ok(3), |text| text.parse())?;
    let (mut out, mut into) = open(kind, sender, receiver)?;
    if !(14..=out.max_frame()).contains(&bytes) {
        return Err(format!("frames of {} bytes: from 14 to {}", bytes, out.max_frame()).into());
    }
    let mut frame = vec![0; bytes];
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);

    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    let thread = std::thread::spawn(move || -> Result<(u64, Box<dyn Port>), PortError> {
        let burst: Vec<Packet> = (0..64).map(|_| Packet::new(&frame, PortId(0))).collect();
        let mut sent = 0;
        while !stopped.load(Ordering::Relaxed) {
            let taken = out.transmit(&burst)?;
            out.flush()?;
            sent += taken as u64;
            if taken == 0 {
                std::thread::yield_now();
            }
        }
        Ok((sent, out))
    });
    let mut packets: Vec<Packet> = (0..64).map(|_| Packet::empty(bytes)).collect();
    let started = Instant::now();
    let mut received = 0;
    while started.elapsed() < Duration::from_secs(seconds) {
        let n = into.receive(&mut packets)?;
        received += n as u64;
        if n == 0 {
            std::thread::yield_now();
        }
    }
    let elapsed = started.elapsed().as_secs_f64();
    stop.store(true, Ordering::Relaxed);
    let (sent, mut out) = thread.join().map_err(|_| "the sender panicked")??;
    let mpps = received as f64 / elapsed / 1e6;
    println!("{kind} {bytes} B: {mpps:.3} Mpps, {:.2} Gbit/s received; {sent} sent, {received} received", mpps * bytes as f64 * 8e-3);
    for port in [&mut out, &mut into] {
        let drops = port.device_drops();
        println!("  {}: {drops:?}", port.name());
    }
    Ok(())
}

type Ends = (Box<dyn Port>, Box<dyn Port>);

fn open(kind: &str, sender: &str, receiver: &str) -> Result<Ends, PortError> {
    Ok(match kind {
        "memory" => {
            let (a, b) = memory::pair(sender, receiver, 1024);
            (Box::new(a), Box::new(b))
        }
        "af_packet" => {
            (Box::new(AfPacket::open("out", sender, Default::default())?), Box::new(AfPacket::open("in", receiver, Default::default())?))
        }
        "af_xdp" => (Box::new(AfXdp::open("out", sender, Default::default())?), Box::new(AfXdp::open("in", receiver, Default::default())?)),
        other => return Err(PortError::Config(format!("unknown kind `{other}`: memory, af_packet or af_xdp"))),
    })
}
