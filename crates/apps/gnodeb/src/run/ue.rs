//! UEs between their devices and the radio: one socket, and a TUN device for each.

use std::collections::HashMap;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;

use base::Packet;
use ciphering::{Choice, Engine};
use gnb::framing;
use traffic::ran::UeDevice;
use traffic::{SessionRecord, Tunnel};

use super::control::Requests;
use super::{BURST, Clock, MAX_DATAGRAM, RunError, open, receive, send, wait};
use crate::config::{self, ConfigError, UeTable, Ues, UesTables};
use crate::control::{Reply, UeRequest};
use crate::counts::{Drops, Report, count};
use crate::ue::Ue;

/// SDUs of a UE that wait, from which on its device is not read: the kernel's queue holds more, and its TCP slows down.
const ENOUGH: usize = 4096;
/// Length of the Ethernet header in front of a device's packets, in bytes.
const ETHERNET: usize = 14;
/// UE `n` of the file has the routing table of this number plus `n`, and rules of that priority.
const TABLE_BASE: u32 = 14_500;

/// UEs with their devices.
pub struct RunningUes {
    tables: UesTables,
    requests: Option<Requests<UeRequest<UeTable>, Reply<()>>>,
    ues: Vec<One>,
    by_id: HashMap<u16, usize>,
    radio: UdpSocket,
    drops: Drops,
    unsent: u64,
}

struct One {
    ue: Ue,
    device: UeDevice,
    refused: u64,
}

impl RunningUes {
    /// Makes the devices, called `prefix` and a number from 1, and opens the socket.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn start(tables: UesTables, config: &Ues, prefix: &str) -> Result<RunningUes, RunError> {
        let radio = open("radio.address", config.radio.address)?;
        let mut ues = Vec::with_capacity(config.ues.len());
        for (number, ue) in (1u32..).zip(&config.ues) {
            let device = UeDevice::create(&format!("{prefix}{number}"), config.mtu, &record(ue), TABLE_BASE + number)?;
            ues.push(One { ue: Ue::new(ue, &config.radio, Engine::new(Choice::Fastest)?), device, refused: 0 });
        }
        let by_id = config.ues.iter().enumerate().map(|(at, ue)| (ue.id, at)).collect();
        let requests = Requests::start(config.control.as_deref())?;
        Ok(RunningUes { tables, requests, ues, by_id, radio, drops: Drops::new(), unsent: 0 })
    }

    /// Carries packets while `goes_on` says so; what was counted.
    ///
    /// # Errors
    /// [`RunError::Poll`].
    pub fn run(mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Report, RunError> {
        let clock = Clock::start();
        let mut buffer = vec![0; MAX_DATAGRAM];
        let mut packet = [Packet::empty(0)];
        while goes_on() {
            let now = clock.now_ns();
            self.serve(now);
            let open = |one: &&One| one.ue.queued() < ENOUGH;
            let mut fds = vec![self.radio.as_fd()];
            fds.extend(self.ues.iter().filter(open).map(|one| one.device.as_fd()));
            let held = self.ues.iter().filter(open).any(|one| one.device.holds_packets());
            let deadline = if held { Some(now) } else { self.ues.iter().filter_map(|one| one.ue.next_deadline(now)).min() };
            wait(&fds, deadline, now)?;
            let now = clock.now_ns();
            let (ues, by_id, drops) = (&mut self.ues, &self.by_id, &mut self.drops);
            receive(&self.radio, &mut buffer, |datagram, from| {
                let of = framing::Rlc::parse(datagram).ok().and_then(|(of, _)| by_id.get(&of.ue));
                match of.and_then(|at| ues.get_mut(*at)) {
                    Some(one) => {
                        let One { ue, device, refused } = one;
                        ue.radio(datagram, from, now, &mut |packet| *refused += u64::from(!device.send_one(packet)));
                    }
                    None => count(drops, "radio.unknown_ue"),
                }
            });
            for one in &mut self.ues {
                let One { ue, device, refused } = one;
                for _ in 0..BURST {
                    if ue.queued() >= ENOUGH {
                        break;
                    }
                    if !matches!(device.receive(&mut packet), Ok(1)) {
                        break;
                    }
                    ue.packet(&packet[0].data()[ETHERNET..], now);
                }
                let user = &mut |packet: &[u8]| *refused += u64::from(!device.send_one(packet));
                ue.run(now, user, &mut |to, datagram| send(&self.radio, datagram, to, &mut self.unsent));
            }
        }
        Ok(self.report())
    }

    /// Answers what was asked.
    fn serve(&mut self, now_ns: u64) {
        let RunningUes { tables, requests, ues, by_id, .. } = self;
        let Some(requests) = requests else { return };
        requests.serve(|request| {
            let (recovers, set) = match request {
                UeRequest::Reconfigure { ue } => (false, tables.reconfigure(ue).map(|(changed, _, set)| (Some(changed), set))),
                UeRequest::Recover { ue } => (true, tables.named(&ue).map(|set| (None, set))),
            };
            match set {
                Ok((changed, set)) => {
                    if let Some(changed) = changed {
                        *tables = changed;
                    }
                    for config in &set {
                        let Some(One { ue, device, refused }) = by_id.get(&config.id).and_then(|at| ues.get_mut(*at)) else { continue };
                        if recovers {
                            ue.recover(config, now_ns);
                        } else {
                            ue.reconfigure(config, now_ns, &mut |packet| *refused += u64::from(!device.send_one(packet)));
                        }
                    }
                    Reply::Done { ues: set.len() }
                }
                Err(ConfigError(message)) => Reply::Error { message },
            }
        });
    }

    fn report(mut self) -> Report {
        if self.unsent > 0 {
            self.drops.insert("socket.unsent".to_owned(), self.unsent);
        }
        let ues = self.ues.iter().map(|one| {
            let mut report = one.ue.report();
            if one.refused > 0 {
                report.drops.insert("user.device_refused".to_owned(), one.refused);
            }
            if let Some((sent, received, dropped)) = one.device.kernel_counts() {
                (report.kernel_tx, report.kernel_rx) = (Some(sent), Some(received));
                if dropped > 0 {
                    report.drops.insert("user.device_queue".to_owned(), dropped);
                }
            }
            report
        });
        Report { ues: ues.collect(), drops: self.drops }
    }
}

/// What a device needs to know: addresses. A UE has no end of a tunnel.
fn record(ue: &config::Ue) -> SessionRecord {
    let none = Tunnel { addr: Ipv4Addr::UNSPECIFIED, teid: 0 };
    SessionRecord {
        seid: u64::from(ue.id),
        ue_ipv4: ue.ipv4,
        ue_ipv6: ue.ipv6,
        uplink: none,
        downlink: none,
        qfi: Some(ue.qfi.get()),
        flows: Vec::new(),
    }
}
