//! What do honest users lose? Numbered packets both ways at a steady rate, through plain sockets of the kernel: a gNodeB's and a server's.

use crate::demo::netns::Networks;
use cli::failure::Failure;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use traffic::SessionRecord;
use wire::{gtpu, ipv4, udp};

/// The gNodeB and the server.
pub(super) const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
pub(super) const SERVER: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);
const SERVER_PORT: u16 = 7000;
const UE_PORT: u16 = 7001;
/// Each packet: one up and one down, by the users in turn.
const PERIOD: Duration = Duration::from_millis(2);
/// A socket that is not read for a second loses nothing.
const SOCKET_BYTES: usize = 8 << 20;
/// After this long without a packet, missing ones are lost.
const SILENCE: Duration = Duration::from_secs(2);
/// How often threads look whether to end.
const LOOK: Duration = Duration::from_millis(50);
const MAGIC: u32 = 0x7370_6c74;
/// Magic, round, user, number.
const PAYLOAD: usize = 20;

/// What became of honest packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    /// Packets sent, both ways.
    pub sent: u64,
    /// Of those, that arrived, at least once.
    pub received: u64,
    /// That came after a later one of their flow.
    pub reordered: u64,
    /// Duplicates.
    pub twice: u64,
}

impl Count {
    /// Packets that did not arrive.
    pub(super) fn lost(&self) -> u64 {
        self.sent - self.received
    }

    /// Their share, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        if self.sent == 0 { 0.0 } else { self.lost() as f64 / self.sent as f64 }
    }
}

/// One user, one direction.
#[derive(Default)]
struct Flow {
    /// By number: whether it has come.
    came: Vec<bool>,
    /// The highest that has.
    last: Option<u64>,
    count: Count,
}

/// The honest users and their sockets.
pub(super) struct Users {
    records: Vec<SessionRecord>,
    gnb: Arc<UdpSocket>,
    server: Arc<UdpSocket>,
    round: u32,
}

/// Their traffic, as long as it runs.
pub(super) struct Traffic {
    /// Uplink flows, then downlink flows.
    flows: Arc<Mutex<Vec<Flow>>>,
    sending: Arc<AtomicBool>,
    receiving: Arc<AtomicBool>,
    sender: JoinHandle<()>,
    receivers: [JoinHandle<()>; 2],
}

impl Users {
    /// Opens the sockets of both ends.
    pub(super) fn open(net: &Networks) -> Result<Users, Failure> {
        let open = |address: SocketAddrV4| {
            let socket = UdpSocket::bind(address)?;
            set_socket_recv_buffer_size_force(&socket, SOCKET_BYTES)?;
            socket.set_read_timeout(Some(LOOK))?;
            Ok::<_, std::io::Error>(Arc::new(socket))
        };
        let fail = |e: std::io::Error| Failure::Failed(format!("cannot open the honest users' sockets: {e}"));
        let gnb = net.ran.inside(|| open(SocketAddrV4::new(GNB, gtpu::PORT)))?.map_err(fail)?;
        let server = net.dn.inside(|| open(SocketAddrV4::new(SERVER, SERVER_PORT)))?.map_err(fail)?;
        Ok(Users { records: Vec::new(), gnb, server, round: 0 })
    }

    /// These are the users from now on.
    pub(super) fn are(&mut self, records: Vec<SessionRecord>) {
        self.records = records;
    }

    /// Starts their traffic with new numbers: late packets of an earlier round are not counted.
    pub(super) fn start(&mut self) -> Traffic {
        self.round += 1;
        let round = self.round;
        let users = self.records.len();
        let flows: Arc<Mutex<Vec<Flow>>> = Arc::new(Mutex::new((0..2 * users).map(|_| Flow::default()).collect()));
        let (sending, receiving) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicBool::new(true)));
        let sender = {
            let (flows, on, records) = (flows.clone(), sending.clone(), self.records.clone());
            let (gnb, server) = (self.gnb.clone(), self.server.clone());
            std::thread::spawn(move || send(round, &records, &gnb, &server, &flows, &on))
        };
        let up = {
            let (flows, on, socket) = (flows.clone(), receiving.clone(), self.server.clone());
            std::thread::spawn(move || receive(&socket, &on, |bytes| arrived(&flows, round, users, 0, bytes)))
        };
        let by_teid: HashMap<u32, usize> = self.records.iter().enumerate().map(|(n, r)| (r.downlink.teid, n)).collect();
        let down = {
            let (flows, on, socket) = (flows.clone(), receiving.clone(), self.gnb.clone());
            std::thread::spawn(move || {
                receive(&socket, &on, |bytes| {
                    let Ok(packet) = gtpu::Packet::new_checked(bytes) else { return };
                    if by_teid.contains_key(&packet.teid()) {
                        arrived(&flows, round, users, users, packet.payload());
                    }
                });
            })
        };
        Traffic { flows, sending, receiving, sender, receivers: [up, down] }
    }
}

impl Traffic {
    /// Waits until each flow has got a packet more than it has now; whether it has in time.
    pub(super) fn flows_again(&self, patience: Duration) -> bool {
        let received = || lock(&self.flows).iter().map(|flow| flow.count.received).collect::<Vec<_>>();
        let (before, end) = (received(), Instant::now() + patience);
        loop {
            if received().iter().zip(&before).all(|(now, before)| now > before) {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Ends it, waits for packets in flight, and counts; and how many packets came, doubles with them: (uplink, downlink).
    pub(super) fn stop(self) -> (Count, (u64, u64)) {
        self.sending.store(false, Relaxed);
        let _ = self.sender.join();
        let total = || {
            let flows = lock(&self.flows);
            let sum = |f: fn(&Count) -> u64| flows.iter().map(|flow| f(&flow.count)).sum::<u64>();
            Count { sent: sum(|c| c.sent), received: sum(|c| c.received), reordered: sum(|c| c.reordered), twice: sum(|c| c.twice) }
        };
        let (mut last, mut since) = (total(), Instant::now());
        while last.lost() > 0 && since.elapsed() < SILENCE {
            std::thread::sleep(LOOK);
            let now = total();
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
        self.receiving.store(false, Relaxed);
        for receiver in self.receivers {
            let _ = receiver.join();
        }
        let flows = lock(&self.flows);
        let came = |flows: &[Flow]| flows.iter().map(|flow| flow.count.received + flow.count.twice).sum();
        let (up, down) = flows.split_at(flows.len() / 2);
        (last, (came(up), came(down)))
    }
}

fn send(round: u32, records: &[SessionRecord], gnb: &UdpSocket, server: &UdpSocket, flows: &Mutex<Vec<Flow>>, on: &AtomicBool) {
    let begin = Instant::now();
    let mut turn = 0u32;
    while on.load(Relaxed) {
        // Behind time, it does not catch up in a burst: that would be no steady rate.
        let due = begin + PERIOD * turn;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        let user = turn as usize % records.len();
        turn += 1;
        for (flow, uplink) in [(user, true), (user + records.len(), false)] {
            let number = {
                let mut flows = lock(flows);
                let flow = &mut flows[flow];
                flow.came.push(false);
                flow.count.sent += 1;
                flow.count.sent - 1
            };
            let record = &records[user];
            let (Some(ue), payload) = (record.ue_ipv4, payload(round, user, number)) else { continue };
            let sent = if uplink {
                let inner = datagram((ue, UE_PORT), (SERVER, SERVER_PORT), &payload);
                gnb.send_to(&tunnelled(record, &inner), SocketAddrV4::new(record.uplink.addr, gtpu::PORT))
            } else {
                server.send_to(&payload, SocketAddrV4::new(ue, UE_PORT))
            };
            if sent.is_err() {
                // Our own kernel had no route or link: it was never sent.
                let mut flows = lock(flows);
                flows[flow].came.pop();
                flows[flow].count.sent -= 1;
            }
        }
    }
}

fn receive(socket: &UdpSocket, on: &AtomicBool, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 65_536];
    while on.load(Relaxed) {
        if let Ok((length, _)) = socket.recv_from(&mut buffer) {
            take(&buffer[..length]);
        }
    }
}

fn payload(round: u32, user: usize, number: u64) -> Vec<u8> {
    [&MAGIC.to_be_bytes()[..], &round.to_be_bytes(), &(user as u32).to_be_bytes(), &number.to_be_bytes()].concat()
}

/// Notes what has come, by the end of its bytes. `first` is the flow of user 0.
fn arrived(flows: &Mutex<Vec<Flow>>, round: u32, users: usize, first: usize, bytes: &[u8]) {
    let Some((_, end)) = bytes.split_last_chunk::<PAYLOAD>() else { return };
    let word = |at: usize| u32::from_be_bytes([end[at], end[at + 1], end[at + 2], end[at + 3]]);
    let (user, number) = (word(8) as usize, u64::from(word(12)) << 32 | u64::from(word(16)));
    if word(0) != MAGIC || word(4) != round || user >= users {
        return;
    }
    let mut flows = lock(flows);
    let Flow { came, last, count } = &mut flows[first + user];
    match came.get_mut(number as usize) {
        Some(came) if !*came => *came = true,
        Some(_) => {
            count.twice += 1;
            return;
        }
        None => return,
    }
    count.received += 1;
    if last.is_some_and(|last| number < last) {
        count.reordered += 1;
    }
    *last = (*last).max(Some(number));
}

/// A UDP datagram with its IPv4 header.
pub(super) fn datagram(from: (Ipv4Addr, u16), to: (Ipv4Addr, u16), payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let payload_len = udp::HEADER_LEN + payload.len();
    ipv4::Repr { src: from.0, dst: to.0, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(&mut out);
    udp::Repr { src_port: from.1, dst_port: to.1 }.emit_ipv4(from.0, to.0, payload, &mut out);
    out
}

/// A user's packet as the gNodeB sends it: a G-PDU with the session's QoS flow (TS 38.415 §5.5.2.2).
pub(super) fn tunnelled(record: &SessionRecord, user: &[u8]) -> Vec<u8> {
    let length = (user.len() + 8) as u16;
    let mut out = vec![0x34, gtpu::message_type::G_PDU];
    out.extend(length.to_be_bytes());
    out.extend(record.uplink.teid.to_be_bytes());
    out.extend([0, 0, 0, gtpu::extension_type::PDU_SESSION_CONTAINER, 1, 0x10, record.qfi.unwrap_or(0), 0]);
    out.extend(user);
    out
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_order_and_doubles_are_told_apart() {
        let flows = Mutex::new(vec![Flow::default(), Flow::default()]);
        flows.lock().unwrap()[1] = Flow { came: vec![false; 5], count: Count { sent: 5, ..Count::default() }, ..Flow::default() };
        let come = |round, number| arrived(&flows, 1, 1, 1, &[&[9; 30][..], &payload(round, 0, number)].concat());
        // 1 is overtaken by 2, 3 comes twice, 4 never; 0 of another round is none of ours.
        [(1, 2), (1, 1), (1, 3), (1, 3), (7, 0), (1, 99)].into_iter().for_each(|(round, number)| come(round, number));
        let count = flows.lock().unwrap()[1].count;
        assert_eq!(count, Count { sent: 5, received: 3, reordered: 1, twice: 1 });
        assert_eq!((count.lost(), count.share()), (2, 0.4));
    }
}
