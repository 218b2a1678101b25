//! Frames of a population of sessions, made from a seed: the same seed gives the same frames everywhere.
//!
//! Downlink frames are what a UPF receives on N6 (Ethernet, IP, UDP or TCP), uplink frames what it receives on N3 (the same in
//! GTP-U over UDP over IPv4). Checksums are right, lengths agree, nothing is padded. [`crate::expect`] says what must come out.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::expect::{Upf, internet_checksum};
use crate::record::SessionRecord;

/// What the frames are like. [`Config::new`] gives usual values.
#[derive(Clone, Debug)]
pub struct Config {
    /// Random seed.
    pub seed: u64,
    /// Whose packet is next.
    pub pick: Pick,
    /// Lengths of user packets.
    pub sizes: Sizes,
    /// DSCPs of user packets with their weights; empty: 0.
    pub dscps: Vec<(u8, u32)>,
    /// Share of TCP; the rest is UDP.
    pub tcp_share: f64,
    /// Share of IPv6 in sessions that have both versions.
    pub ipv6_share: f64,
    /// Correspondents on N6: this address and the ones after it.
    pub remote_ipv4: Ipv4Addr,
    /// As `remote_ipv4`.
    pub remote_ipv6: Ipv6Addr,
    /// How many correspondents.
    pub remotes: u32,
    /// Connections of each session, IP version and protocol, with another correspondent and port each: packets are of any of them. 0: each packet is of one
    /// of its own.
    pub connections: u16,
    /// The UPF's surroundings: MAC addresses of the frames.
    pub upf: Upf,
}

impl Config {
    /// Uniform choice, an Internet mix of lengths, no DSCP, a quarter TCP, a quarter IPv6, 1000 correspondents from 198.18.0.1 and
    /// 2001:db8:6::100.
    pub fn new(seed: u64, upf: Upf) -> Config {
        Config {
            seed,
            pick: Pick::Uniform,
            sizes: Sizes::Imix,
            dscps: Vec::new(),
            tcp_share: 0.25,
            ipv6_share: 0.25,
            remote_ipv4: Ipv4Addr::new(198, 18, 0, 1),
            remote_ipv6: Ipv6Addr::new(0x2001, 0xdb8, 6, 0, 0, 0, 0, 0x100),
            remotes: 1000,
            connections: 0,
            upf,
        }
    }
}

/// Whose packet is next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pick {
    /// One session after the other.
    RoundRobin,
    /// Each as likely as any other.
    Uniform,
    /// Session `n`, counted from 1, with weight `n^-exponent`: few heavy ones, many light ones.
    Zipf(f64),
}

/// Lengths of user packets, in bytes from their IP header on. Too little for the headers is made enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(usize),
    /// Any from the first to the second.
    Uniform(usize, usize),
    /// 7 of 64, 4 of 576, 1 of 1400 bytes: the usual mix, the longest fit for a tunnel.
    Imix,
}

/// Configurations that make no frames.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("synthetic traffic: {0}")]
pub struct SynthError(String);

/// Longest user packet, in bytes.
const MAX_USER: usize = 9000;

/// See the file's top.
pub struct Synth {
    config: Config,
    sessions: Vec<SessionRecord>,
    numbers: ChaCha8Rng,
    next: usize,
    /// Sums of the weights up to each session, for [`Pick::Zipf`].
    cumulated: Vec<f64>,
    dscp_weights: u32,
    user: Vec<u8>,
}

/// A frame that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Position of its session.
    pub session: usize,
    /// DSCP of the user packet.
    pub dscp: u8,
    /// Where the user packet is in the frame.
    pub user: Range<usize>,
}

impl Synth {
    /// Frames of these sessions.
    pub fn new(config: Config, sessions: Vec<SessionRecord>) -> Result<Synth, SynthError> {
        let wrong = |what: &str| Err(SynthError(what.into()));
        if sessions.is_empty() {
            return wrong("no sessions");
        }
        if let Some((i, why)) = sessions.iter().enumerate().find_map(|(i, session)| Some((i, session.validate().err()?))) {
            return wrong(&format!("session {i}: {why}"));
        }
        let share = |share: f64| (0.0..=1.0).contains(&share);
        if !share(config.tcp_share) || !share(config.ipv6_share) {
            return wrong("a share that is not between 0 and 1");
        }
        if config.remotes == 0 {
            return wrong("no correspondents");
        }
        if config.dscps.iter().any(|(dscp, _)| *dscp > 63) {
            return wrong("a DSCP that does not fit 6 bits");
        }
        let Some(dscp_weights) = config.dscps.iter().try_fold(0u32, |sum, (_, weight)| sum.checked_add(*weight)) else {
            return wrong("DSCP weights beyond 32 bits");
        };
        if dscp_weights == 0 && !config.dscps.is_empty() {
            return wrong("DSCP weights of nothing");
        }
        match config.sizes {
            Sizes::Fixed(size) if size > MAX_USER => return wrong("sizes beyond 9000 bytes"),
            Sizes::Uniform(least, most) if least > most || most > MAX_USER => return wrong("sizes that are no range up to 9000 bytes"),
            _ => {}
        }
        let mut cumulated = Vec::new();
        if let Pick::Zipf(exponent) = config.pick {
            if !exponent.is_finite() || exponent < 0.0 {
                return wrong("a Zipf exponent that is not a number from 0");
            }
            let mut sum = 0.0;
            cumulated.extend((1..=sessions.len()).map(|n| {
                sum += (n as f64).powf(-exponent);
                sum
            }));
        }
        let numbers = ChaCha8Rng::seed_from_u64(config.seed);
        Ok(Synth { config, sessions, numbers, next: 0, cumulated, dscp_weights, user: Vec::new() })
    }

    /// The sessions, by the positions of [`Made`].
    pub fn sessions(&self) -> &[SessionRecord] {
        &self.sessions
    }

    /// Replaces `out` by the next downlink frame, to be received on N6.
    pub fn downlink(&mut self, out: &mut Vec<u8>) -> Made {
        let (session, dscp) = self.user_packet(false);
        out.clear();
        out.extend(self.config.upf.n6_mac);
        out.extend(self.config.upf.dn_mac);
        out.extend(if self.user[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] });
        out.extend(&self.user);
        Made { session, dscp, user: 14..out.len() }
    }

    /// Replaces `out` by the next uplink frame, to be received on N3.
    pub fn uplink(&mut self, out: &mut Vec<u8>) -> Made {
        let (session, dscp) = self.user_packet(true);
        let record = &self.sessions[session];
        out.clear();
        out.extend(self.config.upf.n3_mac);
        out.extend(self.config.upf.gnb_mac);
        out.extend([0x08, 0x00]);
        let container = record.qfi_of(dscp << 2).map(|qfi| [0, 0, 0, 0x85, 1, 0x10, qfi, 0]);
        let gtpu_len = container.map_or(0, |container| container.len()) + self.user.len();
        out.extend([0x45, dscp << 2]);
        out.extend(((gtpu_len + 36) as u16).to_be_bytes());
        out.extend([0, 0, 0x40, 0, 64, 17, 0, 0]);
        out.extend(record.downlink.addr.octets());
        out.extend(record.uplink.addr.octets());
        let sum = internet_checksum(&out[14..34]);
        out[24..26].copy_from_slice(&sum.to_be_bytes());
        out.extend([0x08, 0x68, 0x08, 0x68]);
        out.extend(((gtpu_len + 16) as u16).to_be_bytes());
        out.extend([0, 0, if container.is_some() { 0x34 } else { 0x30 }, 255]);
        out.extend((gtpu_len as u16).to_be_bytes());
        out.extend(record.uplink.teid.to_be_bytes());
        out.extend(container.into_iter().flatten());
        let start = out.len();
        out.extend(&self.user);
        Made { session, dscp, user: start..out.len() }
    }

    /// Puts the next user packet in `self.user`; its session and DSCP.
    fn user_packet(&mut self, uplink: bool) -> (usize, u8) {
        let session = self.pick();
        let dscp = self.dscp();
        let record = &self.sessions[session];
        let numbers = &mut self.numbers;
        let config = &self.config;
        let v6 = match (record.ue_ipv4, record.ue_ipv6) {
            (Some(_), Some(_)) => numbers.random_bool(config.ipv6_share),
            (_, prefix) => prefix.is_some(),
        };
        let tcp = numbers.random_bool(config.tcp_share);
        let least = if v6 { 40 } else { 20 } + if tcp { 20 } else { 8 };
        let length = match config.sizes {
            Sizes::Fixed(size) => size,
            Sizes::Uniform(least, most) => numbers.random_range(least..=most),
            Sizes::Imix => match numbers.random_range(0..12u8) {
                0..7 => 64,
                7..11 => 576,
                _ => 1400,
            },
        };
        let length = length.max(least);
        let connection = (config.connections > 0).then(|| numbers.random_range(0..config.connections));
        let remote = connection.map_or_else(|| numbers.random_range(0..config.remotes), |n| u32::from(n) % config.remotes);
        let (ue, remote): (IpAddr, IpAddr) = if v6 {
            let remote = u128::from(config.remote_ipv6).wrapping_add(remote.into());
            (record.ue_ipv6_address().unwrap_or(Ipv6Addr::UNSPECIFIED).into(), Ipv6Addr::from(remote).into())
        } else {
            let remote = u32::from(config.remote_ipv4).wrapping_add(remote);
            (record.ue_ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED).into(), Ipv4Addr::from(remote).into())
        };
        let (ue_port, remote_port) = match connection {
            Some(n) => (32_768 + n % 28_232, 443),
            None => (numbers.random_range(32_768..=60_999u16), [443, 80, 53, 5001][numbers.random_range(0..4)]),
        };
        let (ends, ports) = if uplink { ((ue, remote), (ue_port, remote_port)) } else { ((remote, ue), (remote_port, ue_port)) };
        let packet = &mut self.user;
        packet.clear();
        let protocol = if tcp { 6 } else { 17 };
        let pseudo = ip_header(packet, ends, protocol, dscp, length);
        let at = packet.len();
        packet.extend(ports.0.to_be_bytes());
        packet.extend(ports.1.to_be_bytes());
        let sum_at = if tcp {
            packet.extend(numbers.next_u64().to_be_bytes());
            // Data offset 5, ACK and PSH; window; checksum; urgent pointer.
            packet.extend([0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
            at + 16
        } else {
            packet.extend(((length - at) as u16).to_be_bytes());
            packet.extend([0, 0]);
            at + 6
        };
        let payload = packet.len();
        packet.resize(length, 0);
        numbers.fill_bytes(&mut packet[payload..]);
        let mut covered = pseudo;
        covered.extend(&packet[at..]);
        // Zero would mean "no checksum" in UDP (RFC 768).
        let sum = match internet_checksum(&covered) {
            0 if !tcp => 0xffff,
            sum => sum,
        };
        packet[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
        (session, dscp)
    }

    fn pick(&mut self) -> usize {
        match self.config.pick {
            Pick::RoundRobin => {
                let session = self.next;
                self.next = (session + 1) % self.sessions.len();
                session
            }
            Pick::Uniform => self.numbers.random_range(0..self.sessions.len()),
            Pick::Zipf(_) => {
                let total = self.cumulated.last().copied().unwrap_or(1.0);
                let point = self.numbers.random::<f64>() * total;
                self.cumulated.partition_point(|sum| *sum <= point).min(self.sessions.len() - 1)
            }
        }
    }

    fn dscp(&mut self) -> u8 {
        if self.dscp_weights == 0 {
            return 0;
        }
        let mut point = self.numbers.random_range(0..self.dscp_weights);
        for (dscp, weight) in &self.config.dscps {
            match point.checked_sub(*weight) {
                Some(rest) => point = rest,
                None => return *dscp,
            }
        }
        0
    }
}

/// Appends an IP header for a packet of `length` bytes; the pseudo header of its payload's checksum.
fn ip_header(packet: &mut Vec<u8>, ends: (IpAddr, IpAddr), protocol: u8, dscp: u8, length: usize) -> Vec<u8> {
    let mut pseudo = Vec::with_capacity(length + 40);
    match ends {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            packet.extend([0x45, dscp << 2]);
            packet.extend((length as u16).to_be_bytes());
            packet.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
            packet.extend(src.octets());
            packet.extend(dst.octets());
            let sum = internet_checksum(packet);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            pseudo.extend(src.octets());
            pseudo.extend(dst.octets());
            pseudo.extend([0, protocol]);
            pseudo.extend(((length - 20) as u16).to_be_bytes());
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            packet.extend([0x60 | dscp >> 2, dscp << 6, 0, 0]);
            packet.extend(((length - 40) as u16).to_be_bytes());
            packet.extend([protocol, 64]);
            packet.extend(src.octets());
            packet.extend(dst.octets());
            pseudo.extend(src.octets());
            pseudo.extend(dst.octets());
            pseudo.extend(((length - 40) as u32).to_be_bytes());
            pseudo.extend([0, 0, 0, protocol]);
        }
        // The ends are of one version by construction.
        _ => {}
    }
    pseudo
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RecordFlow, Tunnel};
    use wire::{checksum, ethernet, gtpu, ipv4, ipv6, udp};

    const UPF: Upf = Upf { n3_addr: Ipv4Addr::new(10, 3, 0, 1), n3_mac: [2; 6], gnb_mac: [4; 6], n6_mac: [6; 6], dn_mac: [8; 6] };

    fn sessions(count: u32) -> Vec<SessionRecord> {
        let session = |n: u32| SessionRecord {
            seid: n.into(),
            ue_ipv4: (n % 3 != 2).then(|| Ipv4Addr::from(0x0a2d_0000 + 2 + n)),
            ue_ipv6: (n % 3 != 1).then(|| Ipv6Addr::from((0x2001_0db8_0045_0000_u128 + u128::from(n)) << 64)),
            uplink: Tunnel { addr: UPF.n3_addr, teid: 1000 + n },
            downlink: Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: 1 + n },
            qfi: (n % 4 != 3).then_some(9),
            flows: if n.is_multiple_of(4) { vec![RecordFlow { dscp: 46, qfi: 5 }] } else { Vec::new() },
        };
        (0..count).map(session).collect()
    }

    fn synth(change: impl FnOnce(&mut Config)) -> Synth {
        let mut config = Config::new(1, UPF);
        change(&mut config);
        Synth::new(config, sessions(12)).unwrap()
    }

    /// Checks a user packet with the crate that others parse with; its ends and DSCP.
    fn check(user: &[u8]) -> (IpAddr, IpAddr, u8) {
        if user[0] >> 4 == 4 {
            let ip = ipv4::Packet::new_checked(user).unwrap();
            assert_eq!(ip.bytes().len(), user.len());
            let pseudo = checksum::pseudo_ipv4(ip.src(), ip.dst(), ip.protocol(), ip.payload().len());
            assert_eq!(checksum::finish(pseudo + checksum::sum(ip.payload())), 0);
            (ip.src().into(), ip.dst().into(), ip.tos() >> 2)
        } else {
            let ip = ipv6::Packet::new_checked(user).unwrap();
            assert_eq!(ip.bytes().len(), user.len());
            let pseudo = checksum::pseudo_ipv6(ip.src(), ip.dst(), ip.next_header(), ip.payload().len());
            assert_eq!(checksum::finish(pseudo + checksum::sum(ip.payload())), 0);
            (ip.src().into(), ip.dst().into(), ip.traffic_class() >> 2)
        }
    }

    #[test]
    fn frames_are_sound_and_what_must_come_out_carries_the_same_packet() {
        let mut synth = synth(|config| {
            config.dscps = vec![(0, 3), (46, 1)];
            config.sizes = Sizes::Uniform(0, 1400);
        });
        let (mut frame, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
        for _ in 0..2000 {
            let made = synth.downlink(&mut frame);
            let session = &synth.sessions()[made.session];
            let (_, dst, dscp) = check(&frame[made.user.clone()]);
            assert!(session.owns(dst) && dscp == made.dscp);
            seen.insert((dst.is_ipv4(), frame[made.user.start + if dst.is_ipv4() { 9 } else { 6 }], dscp));
            let out = UPF.downlink(session, &frame, 0).unwrap();
            let ip = ipv4::Packet::new_checked(ethernet::Frame::new_checked(&out).unwrap().payload()).unwrap();
            let datagram = udp::Datagram::new_checked(ip.payload()).unwrap();
            let repr = gtpu::Repr::parse(&gtpu::Packet::new_checked(datagram.payload()).unwrap()).unwrap();
            assert_eq!((repr.teid, repr.session_container.map(|c| c.qfi())), (session.downlink.teid, session.qfi));
            let gtpu::Message::GPdu { payload } = repr.message else { panic!() };
            check(payload);
            assert_eq!(payload.len(), made.user.len());

            let made = synth.uplink(&mut frame);
            let session = &synth.sessions()[made.session];
            let user = &frame[made.user.clone()];
            let (src, _, dscp) = check(user);
            assert!(session.owns(src));
            let ip = ipv4::Packet::new_checked(ethernet::Frame::new_checked(&frame).unwrap().payload()).unwrap();
            let datagram = udp::Datagram::new_checked(ip.payload()).unwrap();
            let repr = gtpu::Repr::parse(&gtpu::Packet::new_checked(datagram.payload()).unwrap()).unwrap();
            let container = session.qfi_of(dscp << 2).map(|qfi| gtpu::SessionContainer::Uplink { qfi });
            assert_eq!(repr, gtpu::Repr::g_pdu(session.uplink.teid, container, user));
            let out = UPF.uplink(session, &frame).unwrap();
            check(&out[14..]);
            assert_eq!(out.len(), 14 + user.len());
        }
        assert_eq!(seen.len(), 8, "IPv4 and IPv6, TCP and UDP, both DSCPs: {seen:?}");
    }

    #[test]
    fn a_seed_is_a_run() {
        let run = |seed: u64| {
            let mut synth = synth(|config| config.seed = seed);
            let mut all = Vec::new();
            for _ in 0..50 {
                let mut frame = Vec::new();
                synth.uplink(&mut frame);
                all.extend(frame);
                let mut frame = Vec::new();
                synth.downlink(&mut frame);
                all.extend(frame);
            }
            all
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn sessions_are_picked_as_told() {
        let counts = |pick: Pick| {
            let mut synth = synth(|config| config.pick = pick);
            let mut counts = [0u32; 12];
            for _ in 0..12_000 {
                counts[synth.pick()] += 1;
            }
            counts
        };
        assert_eq!(counts(Pick::RoundRobin), [1000; 12]);
        assert!(counts(Pick::Uniform).iter().all(|count| (850..1150).contains(count)));
        let zipf = counts(Pick::Zipf(1.0));
        // The harmonic number of 12 is 3.103: the first session has 1 / 3.103 of all.
        assert!((3700..4050).contains(&zipf[0]) && (1800..2080).contains(&zipf[1]) && zipf[11] > 200, "{zipf:?}");
    }

    #[test]
    fn wrong_configurations_are_named() {
        let wrong = |change: fn(&mut Config)| {
            let mut config = Config::new(1, UPF);
            change(&mut config);
            Synth::new(config, sessions(1)).err().unwrap().to_string()
        };
        assert!(wrong(|c| c.tcp_share = f64::NAN).contains("share"));
        assert!(wrong(|c| c.pick = Pick::Zipf(f64::INFINITY)).contains("Zipf"));
        assert!(wrong(|c| c.sizes = Sizes::Uniform(2, 1)).contains("range"));
        assert!(wrong(|c| c.dscps = vec![(1, u32::MAX), (2, 1)]).contains("32 bits"));
        assert!(wrong(|c| c.remotes = 0).contains("correspondents"));
        assert!(Synth::new(Config::new(1, UPF), Vec::new()).is_err());
    }
}
