//! A device to be tested, without threads or sockets: what it makes of a frame is computed by `traffic::expect`, which shares no code with the
//! tester; how fast it is, how long it takes and what it does wrong, a test says.

use base::Packet;
use load::Direction;
use load::plan::{Plan, Session};
use load::side::{Link, Side};
use load::tester::Tester;
use pktio::{DeviceDrops, Port, PortError};
use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use traffic::expect::Upf;
use traffic::{SessionRecord, Tunnel};
use wire::ethernet::Mac;
use wire::{arp, ethernet, gtpu, ipv4};

pub(crate) const GNB: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 2);
pub(crate) const N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
pub(crate) const DN: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);
pub(crate) const N6: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 1);
const UPF: Upf =
    Upf { n3_addr: N3, n3_mac: [2, 0, 0, 0, 0, 3], gnb_mac: [2, 0, 0, 0, 1, 3], n6_mac: [2, 0, 0, 0, 0, 6], dn_mac: [2, 0, 0, 0, 1, 6] };
/// What a look at the clock takes at first, in nanoseconds.
const LOOK_NS: u64 = 400;

/// What the device does wrong with each packet of that number, counted from 1.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) drop: u64,
    pub(crate) duplicate: u64,
    /// It comes after the next one.
    pub(crate) swap: u64,
    /// Into the next session's tunnel.
    pub(crate) misdeliver: u64,
}

/// The device.
pub(crate) struct World {
    now_ns: Arc<AtomicU64>,
    /// What a look at the clock takes, in nanoseconds.
    pub(crate) look_ns: Arc<AtomicU64>,
    /// What arrives on each side, and when.
    queues: [VecDeque<(u64, Vec<u8>)>; 2],
    sessions: Vec<SessionRecord>,
    pub(crate) delay_ns: u64,
    /// Packets a second, and how many it holds beyond.
    pub(crate) capacity: f64,
    tokens: f64,
    filled_ns: u64,
    pub(crate) faults: Faults,
    carried: u64,
    held: Option<(usize, Vec<u8>)>,
    /// Whether it is asked by ARP and asks by ARP.
    pub(crate) arp: bool,
    pub(crate) deaf: bool,
    neighbours: [bool; 2],
    echoes_asked: bool,
    /// Sequence numbers of echo responses.
    pub(crate) echoes: Vec<u16>,
}

impl World {
    fn carry(&mut self, side: usize, frame: &[u8]) {
        if frame[12..14] == ethernet::ARP.to_be_bytes() {
            return self.take_arp(side, frame);
        }
        assert_eq!(frame[..6], [UPF.n3_mac, UPF.n6_mac][side], "to us");
        if let Some(sequence) = echo_response(frame) {
            return self.echoes.push(sequence);
        }
        if self.arp && !self.neighbours[1 - side] {
            let (ours, mac, theirs) = [(N3, UPF.n3_mac, GNB), (N6, UPF.n6_mac, DN)][1 - side];
            let (operation, target_mac) = (arp::Operation::Request, Mac::default());
            return self.send_arp(1 - side, arp::Repr { operation, sender_mac: Mac(mac), sender_ip: ours, target_mac, target_ip: theirs });
        }
        if self.arp && !std::mem::replace(&mut self.echoes_asked, true) {
            self.ask_echo();
        }
        let now_ns = self.now_ns.load(Relaxed);
        self.tokens = (self.tokens + (now_ns - self.filled_ns) as f64 * self.capacity / 1e9).min(256.0);
        self.filled_ns = now_ns;
        if self.tokens < 1.0 {
            return;
        }
        self.tokens -= 1.0;
        self.carried += 1;
        let is = |every: u64| every > 0 && self.carried.is_multiple_of(every);
        if is(self.faults.drop) {
            return;
        }
        let misdelivered = is(self.faults.misdeliver);
        let Some(out) = self.process(side, frame, misdelivered) else { return };
        let (duplicate, swap) = (is(self.faults.duplicate), is(self.faults.swap));
        if swap {
            self.held = Some((1 - side, out));
            return;
        }
        let at = now_ns + self.delay_ns;
        let queue = &mut self.queues[1 - side];
        if duplicate {
            queue.push_back((at, out.clone()));
        }
        queue.push_back((at, out));
        if let Some((side, held)) = self.held.take() {
            self.queues[side].push_back((at, held));
        }
    }

    fn process(&self, side: usize, frame: &[u8], misdelivered: bool) -> Option<Vec<u8>> {
        let of = |at: usize| <[u8; 4]>::try_from(&frame[at..at + 4]).unwrap();
        let find = |is: &dyn Fn(&SessionRecord) -> bool| self.sessions.iter().position(is);
        let up = side == Direction::Up as usize;
        let n = if up { find(&|s| s.uplink.teid.to_be_bytes() == of(46)) } else { find(&|s| s.ue_ipv4.unwrap().octets() == of(30)) }?;
        let other = &self.sessions[(n + 1) % self.sessions.len()];
        match (up, misdelivered) {
            (true, _) => UPF.uplink(&self.sessions[n], frame).ok(),
            (false, false) => UPF.downlink(&self.sessions[n], frame, 0).ok(),
            (false, true) => UPF.downlink(other, frame, 0).ok(),
        }
    }

    fn take_arp(&mut self, side: usize, frame: &[u8]) {
        let message = arp::Repr::parse(&arp::Packet::new_checked(&frame[14..]).unwrap()).unwrap();
        let (address, mac) = [(N3, UPF.n3_mac), (N6, UPF.n6_mac)][side];
        assert_eq!(message.target_ip, address);
        match message.operation {
            arp::Operation::Reply => self.neighbours[side] = true,
            arp::Operation::Request if self.deaf => {}
            arp::Operation::Request => {
                let (target_mac, target_ip) = (message.sender_mac, message.sender_ip);
                let operation = arp::Operation::Reply;
                self.send_arp(side, arp::Repr { operation, sender_mac: Mac(mac), sender_ip: address, target_mac, target_ip });
            }
        }
    }

    fn send_arp(&mut self, side: usize, message: arp::Repr) {
        let mut frame = Vec::new();
        ethernet::Repr { dst: Mac::BROADCAST, src: message.sender_mac, ethertype: ethernet::ARP }.emit(&mut frame);
        message.emit(&mut frame);
        self.queues[side].push_back((0, frame));
    }

    /// As a UPF asks a gNodeB that it has a tunnel to (TS 29.281 §7.2.1).
    fn ask_echo(&mut self) {
        let mut message = Vec::new();
        gtpu::Repr::new(0, Some(77), gtpu::Message::EchoRequest).emit(&mut message);
        let mut frame = Vec::new();
        ethernet::Repr { dst: Mac(UPF.gnb_mac), src: Mac(UPF.n3_mac), ethertype: ethernet::IPV4 }.emit(&mut frame);
        ipv4::Repr { src: N3, dst: GNB, protocol: 17, tos: 0, ttl: 64, payload_len: message.len() + 8 }.emit(&mut frame);
        frame.extend([0x08, 0x68, 0x08, 0x68, 0, message.len() as u8 + 8, 0, 0]);
        frame.extend(message);
        self.queues[0].push_back((0, frame));
    }
}

fn echo_response(frame: &[u8]) -> Option<u16> {
    let is = frame.len() >= 54 && frame[23] == 17 && frame[36..38] == [0x08, 0x68] && frame[43] == gtpu::message_type::ECHO_RESPONSE;
    is.then(|| u16::from_be_bytes([frame[50], frame[51]]))
}

/// One of its two ends, as the tester has it.
struct End {
    side: usize,
    world: Arc<Mutex<World>>,
}

impl Port for End {
    fn name(&self) -> &str {
        ["access (test)", "core (test)"][self.side]
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let mut world = self.world.lock().unwrap();
        let now_ns = world.now_ns.load(Relaxed);
        let queue = &mut world.queues[self.side];
        let mut count = 0;
        while count < packets.len() && queue.front().is_some_and(|(at, _)| *at <= now_ns) {
            packets[count].set(&queue.pop_front().unwrap().1);
            count += 1;
        }
        Ok(count)
    }

    /// Eight at a time, as a busy port does.
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        let mut world = self.world.lock().unwrap();
        let taken = packets.len().min(8);
        packets[..taken].iter().for_each(|packet| world.carry(self.side, packet.data()));
        Ok(taken)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        1600
    }

    fn device_drops(&mut self) -> DeviceDrops {
        DeviceDrops::default()
    }
}

/// A tester around a device that carries `capacity` packets a second and takes `delay_ns`.
pub(crate) fn around(sessions: usize, qfi: Option<u8>, capacity: f64, delay_ns: u64) -> (Tester, Arc<Mutex<World>>) {
    build(sessions, qfi, capacity, delay_ns, false)
}

/// The same that knows no MAC addresses, nor does the device.
pub(crate) fn with_arp(sessions: usize) -> (Tester, Arc<Mutex<World>>) {
    build(sessions, None, 1e9, 10_000, true)
}

fn build(sessions: usize, qfi: Option<u8>, capacity: f64, delay_ns: u64, arp: bool) -> (Tester, Arc<Mutex<World>>) {
    let sessions = Plan::counted(sessions, Ipv4Addr::new(10, 45, 0, 2), 0x100, 1, qfi).unwrap();
    let record = |session: &Session| SessionRecord {
        seid: session.downlink_teid.into(),
        ue_ipv4: Some(session.ue),
        ue_ipv6: None,
        uplink: Tunnel { addr: N3, teid: session.uplink_teid },
        downlink: Tunnel { addr: GNB, teid: session.downlink_teid },
        qfi: session.qfi,
        flows: Vec::new(),
    };
    let (now_ns, look_ns) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(LOOK_NS)));
    let world = Arc::new(Mutex::new(World {
        now_ns: now_ns.clone(),
        look_ns: look_ns.clone(),
        queues: Default::default(),
        sessions: sessions.iter().map(record).collect(),
        delay_ns,
        capacity,
        tokens: 256.0,
        filled_ns: 0,
        faults: Faults::default(),
        carried: 0,
        held: None,
        arp,
        deaf: false,
        neighbours: [false; 2],
        echoes_asked: false,
        echoes: Vec::new(),
    }));
    let plan = Arc::new(Plan { sessions, tunnels: true, gnb: GNB, upf: N3, dn: DN });
    let side = |side: usize| {
        let (mac, address, gateway, next_hop) = [(UPF.gnb_mac, GNB, N3, UPF.n3_mac), (UPF.dn_mac, DN, N6, UPF.n6_mac)][side];
        let link = Link { mac: Mac(mac), address, gateway, next_hop: (!arp).then_some(Mac(next_hop)) };
        let port = Box::new(End { side, world: world.clone() });
        Side::new(Direction::BOTH[side], plan.clone(), vec![port], link).unwrap()
    };
    let clock = Arc::new(move || now_ns.fetch_add(look_ns.load(Relaxed), Relaxed));
    (Tester::new(plan.clone(), [side(0), side(1)], false, clock), world)
}
