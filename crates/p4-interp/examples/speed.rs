//! How many packets a second the interpreter runs of a user-plane program: `cargo run --release --example speed`.

#[path = "../tests/common/mod.rs"]
mod common;

use base::{PortId, VerdictKind};
use common::{gtpu_packet, udp_packet, upf};
use p4_interp::{Machine, Mode};
use std::sync::Arc;
use std::time::Instant;

const SESSIONS: u32 = 50_000;
const PACKETS: u32 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = upf();
    let mut machine = Machine::new(Arc::new(program.ir.clone()))?;
    machine.apply(&program.sessions(SESSIONS.into()))?;
    let packets: Vec<Vec<u8>> = (0..1024u32)
        .map(|i| {
            let session = i.wrapping_mul(2_654_435_761) % SESSIONS;
            let ue = 0x0a00_0000 + session;
            match i % 2 {
                0 => gtpu_packet(1000 + session, &udp_packet(ue, 0x0808_0808, 4000, 53, &[0; 64])),
                _ => udp_packet(0x0808_0808, ue, 53, 4000, &[0; 64]),
            }
        })
        .collect();
    for mode in [Mode::Whole, Mode::Subset] {
        let start = Instant::now();
        let mut forwarded = 0u32;
        for i in 0..PACKETS {
            let packet = &packets[(i % 1024) as usize];
            let out = machine.process(packet, PortId(1), u64::from(i) * 1000, mode);
            forwarded += u32::from(out.verdict.kind == VerdictKind::Forward);
        }
        let seconds = start.elapsed().as_secs_f64();
        println!("{mode:?}: {:.0} packets/s, {forwarded} of {PACKETS} forwarded", f64::from(PACKETS) / seconds);
    }
    Ok(())
}
