//! What the tests of DPDK's devices share: DPDK started without huge pages, frames that tell which one they are, and their exchange.
#![allow(dead_code)]

use std::time::{Duration, Instant};

use base::{Packet, PortId};
use dpdk::{DpdkPort, Error, Options, Settings};
use pktio::Port;
pub(crate) use testkit::skip;

/// How long anything may take that does not depend on how busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Starts DPDK as every machine can; false, with the reason, where it is not.
pub(crate) fn started() -> bool {
    let settings = Settings { huge_pages: Some(false), memory_mib: 512, ..Settings::default() };
    match dpdk::start(&settings) {
        Ok(()) => true,
        Err(Error::Absent(why)) => {
            skip(&why);
            false
        }
        Err(e) => panic!("{e}"),
    }
}

pub(crate) fn open(device: &str, options: Options) -> Result<Vec<DpdkPort>, Error> {
    dpdk::open("n3", &device.parse()?, options)
}

pub(crate) fn open_one(device: &str) -> DpdkPort {
    open(device, Options::default()).unwrap().remove(0)
}

pub(crate) fn buffers(count: usize) -> Vec<Packet> {
    (0..count).map(|_| Packet::empty(0)).collect()
}

/// A frame of the local experimental EtherType (IEEE 802, 88b5), whose bytes tell which one it is.
pub(crate) fn frame(number: u32, length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0xbb, 2, 0, 0, 0, 0, 0xaa, 0x88, 0xb5];
    frame.extend(number.to_be_bytes());
    frame.extend((frame.len()..length).map(|i| (i as u32 ^ number.wrapping_mul(31)) as u8));
    frame
}

/// Whether a frame is one of [`frame`]'s and not the kernel's.
pub(crate) fn is_ours(data: &[u8]) -> bool {
    data.get(12..14) == Some(&[0x88, 0xb5])
}

/// Receives until `wanted` of our frames have come; fewer if they do not come at all.
pub(crate) fn collect(port: &mut dyn Port, wanted: usize) -> Vec<Vec<u8>> {
    let mut packets = buffers(32);
    let mut got = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    while got.len() < wanted && Instant::now() < deadline {
        let n = port.receive(&mut packets).unwrap();
        got.extend(packets[..n].iter().map(|p| p.data().to_vec()).filter(|data| is_ours(data)));
        if n == 0 {
            std::thread::yield_now();
        }
    }
    got
}

/// Transmits all of `frames`, however many calls it takes.
pub(crate) fn send(port: &mut dyn Port, frames: &[Vec<u8>]) {
    let packets: Vec<Packet> = frames.iter().map(|frame| Packet::new(frame, PortId(0))).collect();
    let deadline = Instant::now() + PATIENCE;
    let mut sent = 0;
    while sent < packets.len() {
        assert!(Instant::now() < deadline, "{}: sent only {sent} of {}", port.name(), packets.len());
        sent += port.transmit(&packets[sent..]).unwrap();
        port.flush().unwrap();
    }
}

/// A burst of frames of all lengths from 60 to `longest`; `number` counts on.
pub(crate) fn burst(number: &mut u32, longest: usize, count: usize) -> Vec<Vec<u8>> {
    let next = |_| {
        *number += 1;
        frame(*number, if number.is_multiple_of(8) { longest } else { 60 + (*number as usize * 37) % (longest - 59) })
    };
    (0..count).map(next).collect()
}
