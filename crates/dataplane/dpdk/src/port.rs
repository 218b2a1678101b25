//! A DPDK device as ports: its queue pairs are divided among the workers, one port each.
//!
//! Packets are copied between DPDK's buffers and ours, a burst a call, so that a packet can wait for a paged UE, or go out by a port
//! that is not DPDK's, without holding a buffer that the device needs. The price: two copies are most of what 1500 bytes cost over 64
//! (`cargo run --release -p dpdk --example ports` shows both).
//!
//! Absent: receive interrupts (a worker without packets naps and polls), checksum and segmentation offloads, frames longer than one
//! buffer on the way out, flow rules.

use std::ffi::{CString, c_int};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{MAX_PACKET, Packet};
use pktio::{DeviceDrops, Port, PortError};

use crate::shim::{Api, BURST, Frame, Info, Queue, Stats, api, error_text};
use crate::{Device, Error, eal, log};

/// How to open a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Queue pairs: ports that [`open`] returns.
    pub queues: u16,
    /// Longest IP packet, in bytes; `None`: as the device has it.
    pub mtu: Option<u16>,
    /// MAC address to receive for; `None`: the device's.
    pub mac: Option<[u8; 6]>,
    /// Packets in each direction of a queue; a device may have fewer or more.
    pub descriptors: u16,
}

impl Default for Options {
    fn default() -> Options {
        Options { queues: 1, mtu: None, mac: None, descriptors: 1024 }
    }
}

/// One queue pair of a device. See the file's top.
pub struct DpdkPort {
    name: String,
    queue: NonNull<Queue>,
    opened: Arc<Opened>,
    max_frame: usize,
    /// Packets that are given to the device at once.
    tx_burst: usize,
    /// What is queued for a busy kernel waits for a kick: af_xdp.
    wants_kicks: bool,
    /// Receives in a row that found nothing.
    idle: u32,
    /// For packets in several pieces.
    whole: Vec<u8>,
    rx_invalid: u64,
    refused: u64,
    /// Of the device; kept by its first queue's port.
    device: Option<DeviceCounts>,
}

// SAFETY: a queue may be used by any thread, by one at a time: DPDK's promise for queues, and ours by `&mut self`. Threads make themselves
// known before they touch it.
unsafe impl Send for DpdkPort {}

/// A started device; closed when its last port goes.
struct Opened {
    api: &'static Api,
    port: u16,
    queues: Vec<*mut Queue>,
    mac: [u8; 6],
    device: String,
}

// SAFETY: the pointers are used only to free the queues, by the last owner.
unsafe impl Send for Opened {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Opened {}

/// What the device counted, as of a moment ago: reading it may take as long as a hundred packets.
struct DeviceCounts {
    stats: Stats,
    read_at: Option<Instant>,
}

/// Age at which a device's counts are read again.
const COUNTS_AGE: Duration = Duration::from_millis(20);
/// Packets that the kernel sends at a kick of an AF_XDP socket in copy mode; DPDK's driver kicks once a burst.
const AF_XDP_BURST: usize = 32;
/// Idle receives after which such a device is kicked for what a kick left over.
const IDLE_KICK: u32 = 512;
/// Ethernet header.
const ETHERNET: usize = 14;

/// Opens `device` as the port that the configuration calls `label`: one port for each queue pair. DPDK must be [started](eal::start).
///
/// # Errors
/// [`Error::Config`] if there is no such device, or it has too few queues or another MTU; [`Error::Device`] if it does not start.
pub fn open(label: &str, device: &Device, options: Options) -> Result<Vec<DpdkPort>, Error> {
    let api = api()?;
    eal::require_started()?;
    eal::register_thread();
    let (opened, max_frame) = {
        let mut open = eal::open_devices();
        if open.iter().any(|name| name == device.name()) {
            return Err(Error::Config(format!("device `{}` is open already", device.name())));
        }
        log::forget();
        let port = probe(api, device)?;
        match start(api, device, port, options) {
            Ok((queues, info)) => {
                open.push(device.name().to_owned());
                let mac = options.mac.unwrap_or(info.mac);
                let max_frame = (usize::from(info.mtu) + ETHERNET).min(MAX_PACKET);
                (Arc::new(Opened { api, port, queues, mac, device: device.name().to_owned() }), max_frame)
            }
            Err(e) => {
                // SAFETY: the port was found, and has no queues of ours.
                unsafe { (api.stop)(port, std::ptr::null_mut(), 0) };
                return Err(e);
            }
        }
    };
    let several = opened.queues.len() > 1;
    let wants_kicks = device.name().starts_with("net_af_xdp");
    let ports = opened.queues.iter().enumerate().filter_map(|(number, queue)| {
        let suffix = if several { format!(" queue {number}") } else { String::new() };
        Some(DpdkPort {
            name: format!("{label} (dpdk {}{suffix})", device.name()),
            queue: NonNull::new(*queue)?,
            opened: opened.clone(),
            max_frame,
            tx_burst: if wants_kicks { AF_XDP_BURST } else { BURST },
            wants_kicks,
            idle: 0,
            whole: Vec::new(),
            rx_invalid: 0,
            refused: 0,
            device: (number == 0).then(|| DeviceCounts { stats: Stats::default(), read_at: None }),
        })
    });
    Ok(ports.collect())
}

/// DPDK's number of the device's port.
fn probe(api: &Api, device: &Device) -> Result<u16, Error> {
    let text = |text: &str| CString::new(text).map_err(|_| Error::Config(format!("device `{device}` has a zero byte")));
    let (devargs, name) = (text(device.text())?, text(device.name())?);
    let mut port = 0;
    // SAFETY: strings of C and a place for the answer, all of which outlive the call.
    let error = unsafe { (api.probe)(devargs.as_ptr(), name.as_ptr(), &mut port) };
    if error == 0 { Ok(port) } else { Err(explain_probe(api, device, error)) }
}

fn describe(api: &Api, port: u16, device: &Device) -> Result<Info, Error> {
    let mut info = Info::default();
    // SAFETY: a place for the answer that outlives the call; any number of a port will do.
    let error = unsafe { (api.describe)(port, &mut info) };
    if error == 0 { Ok(info) } else { Err(Error::Device(format!("device `{device}`: {}", error_text(api, error)))) }
}

/// Checks a device that was found, and starts it: its queues, and what it says of itself then.
fn start(api: &Api, device: &Device, port: u16, options: Options) -> Result<(Vec<*mut Queue>, Info), Error> {
    let info = describe(api, port, device)?;
    let most = info.max_rx_queues.min(info.max_tx_queues);
    if options.queues == 0 || options.queues > most {
        return Err(Error::Config(format!(
            "device `{}` has {most} queues, {} are needed, one for each worker: lower engine.workers{}",
            device.name(),
            options.queues,
            if device.is_pci() { "" } else { " or give the device more, as its driver calls them" }
        )));
    }
    if let Some(mtu) = options.mtu.filter(|mtu| *mtu < info.min_mtu || *mtu > info.max_mtu || usize::from(*mtu) + ETHERNET > MAX_PACKET) {
        let most = usize::from(info.max_mtu).min(MAX_PACKET - ETHERNET);
        return Err(Error::Config(format!("device `{}`: MTU {mtu} is not between {} and {most}", device.name(), info.min_mtu)));
    }
    let mut queues = vec![std::ptr::null_mut(); usize::from(options.queues)];
    let mac = options.mac.as_ref().map_or(std::ptr::null(), |mac| mac.as_ptr());
    let (mtu, descriptors) = (options.mtu.unwrap_or(0), u32::from(options.descriptors));
    // SAFETY: `queues` has a place for each queue, `mac` is null or points to six bytes; all outlive the call.
    let error = unsafe { (api.start)(port, options.queues, mtu, descriptors, mac, c_int::from(device.is_pci()), queues.as_mut_ptr()) };
    if error != 0 {
        return Err(explain_start(api, device, error));
    }
    // Now with the MTU that was set.
    Ok((queues, describe(api, port, device).unwrap_or(info)))
}

fn explain_probe(api: &Api, device: &Device, error: c_int) -> Error {
    let name = device.name();
    let said = log::complaints();
    if device.is_pci() {
        return Error::Config(format!(
            "no device `{name}` for DPDK: {}{said}. Bind it to vfio-pci: `modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci {name}` \
             (`dpdk-devbind.py --status` lists what there is)",
            error_text(api, error)
        ));
    }
    let hint = match (-error, device.argument("iface")) {
        (_, Some(interface)) => format!("; is there an interface `{interface}`, and are we root?"),
        (libc::EPERM | libc::EACCES, None) => "; it may need root".to_owned(),
        _ => String::new(),
    };
    Error::Config(format!("device `{device}`: {}{said}{hint}", error_text(api, error)))
}

fn explain_start(api: &Api, device: &Device, error: c_int) -> Error {
    let said = log::complaints();
    // Drivers say ENOMEM of other things too, but explain themselves then.
    let hint = if -error == libc::ENOMEM && said.is_empty() { ": raise dpdk.memory_mib, or lower the number of queues" } else { "" };
    Error::Device(format!("device `{}` does not start: {}{said}{hint}", device.name(), error_text(api, error)))
}

impl DpdkPort {
    /// MAC address that it receives for.
    pub fn mac(&self) -> [u8; 6] {
        self.opened.mac
    }

    /// Whether the cable, or the other process, is there.
    pub fn link_is_up(&self) -> bool {
        // SAFETY: the device is open as long as we are.
        unsafe { (self.opened.api.link_is_up)(self.opened.port) == 1 }
    }
}

impl Port for DpdkPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        eal::register_thread();
        let api = self.opened.api;
        let mut frames = [Frame::NONE; BURST];
        let count = packets.len().min(BURST) as u32;
        // SAFETY: the queue is ours alone, and `frames` has `count` places.
        let received = unsafe { (api.receive)(self.queue.as_ptr(), frames.as_mut_ptr(), count) };
        let mut filled = 0;
        for (index, frame) in frames[..received as usize].iter().enumerate() {
            if frame.len as usize > MAX_PACKET || frame.len == 0 {
                self.rx_invalid += 1;
                continue;
            }
            if frame.data.is_null() {
                self.whole.resize(MAX_PACKET, 0);
                // SAFETY: `whole` has room for MAX_PACKET bytes; the frame is of the receive above.
                let len = unsafe { (api.copy)(self.queue.as_ptr(), index as u32, self.whole.as_mut_ptr(), MAX_PACKET as u32) };
                packets[filled].set(&self.whole[..len as usize]);
            } else {
                // SAFETY: the device wrote `len` bytes at `data`; they are there until `release`.
                packets[filled].set(unsafe { std::slice::from_raw_parts(frame.data, frame.len as usize) });
            }
            filled += 1;
        }
        self.idle = if received == 0 { self.idle.wrapping_add(1) } else { 0 };
        if self.wants_kicks && self.idle != 0 && self.idle.is_multiple_of(IDLE_KICK) {
            // SAFETY: the queue is ours alone; no frame is read.
            unsafe { (api.transmit)(self.queue.as_ptr(), frames.as_ptr(), 0) };
        }
        if received > 0 {
            // SAFETY: no slice of the frames is left.
            unsafe { (api.release)(self.queue.as_ptr()) }
        }
        Ok(filled)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        eal::register_thread();
        let api = self.opened.api;
        let mut taken = 0;
        while taken < packets.len() {
            let mut frames = [Frame::NONE; BURST];
            let mut ready = 0;
            for packet in &packets[taken..] {
                if ready == self.tx_burst || packet.is_empty() || packet.len() > self.max_frame {
                    break;
                }
                frames[ready] = Frame { data: packet.data().as_ptr(), len: packet.len() as u32, reserved: 0 };
                ready += 1;
            }
            if ready == 0 {
                // Its owner broke the contract.
                self.refused += 1;
                taken += 1;
                continue;
            }
            // SAFETY: the queue is ours alone; each frame points to a packet that outlives the call and fits the queue's buffers.
            let sent = unsafe { (api.transmit)(self.queue.as_ptr(), frames.as_ptr(), ready as u32) } as usize;
            taken += sent;
            if sent < ready {
                if !self.link_is_up() {
                    // Like a cable pulled out: taken and lost, so that the sender does not spin.
                    self.refused += (ready - sent) as u64;
                    taken += ready - sent;
                }
                break;
            }
        }
        Ok(taken)
    }

    /// Nothing to kick: devices are notified of each burst.
    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        self.max_frame
    }

    /// The device's counts are at most [`COUNTS_AGE`] old, and are those of all its queues: the first one's port has them.
    fn device_drops(&mut self) -> DeviceDrops {
        let mut drops = DeviceDrops { rx_full: 0, rx_invalid: self.rx_invalid, tx_invalid: self.refused };
        let Some(counts) = &mut self.device else { return drops };
        if counts.read_at.is_none_or(|at| at.elapsed() >= COUNTS_AGE) {
            let mut stats = Stats::default();
            // SAFETY: a place for the answer that outlives the call; the device is open as long as we are.
            if unsafe { (self.opened.api.stats)(self.opened.port, &mut stats) } == 0 {
                counts.stats = stats;
            }
            counts.read_at = Some(Instant::now());
        }
        drops.rx_full = counts.stats.rx_missed + counts.stats.rx_no_mbuf;
        drops.rx_invalid += counts.stats.rx_errors;
        drops.tx_invalid += counts.stats.tx_errors;
        drops
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        eal::register_thread();
        let mut open = eal::open_devices();
        open.retain(|name| *name != self.device);
        // SAFETY: the last owner: no port uses a queue any more; the pointers are the shim's own, or there are none.
        let error = unsafe { (self.api.stop)(self.port, self.queues.as_mut_ptr(), self.queues.len() as u16) };
        if error != 0 {
            tracing::warn!(device = self.device, "closing: {}", error_text(self.api, error));
        }
    }
}
