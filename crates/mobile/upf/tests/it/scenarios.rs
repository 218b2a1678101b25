//! The scenarios of the crate `traffic` against node, lowering and program in this process, in the manner of both SMFs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::Duration;

use base::PortId;
use pfcp::codec::NodeId;
use pfcp::config::{Config, GtpuAddress};
use pfcp::node::Node;
use pfcp::rules::Interface;
use traffic::plan::Shape;
use traffic::scenario::{ALL, Addresses, Links, Parts, Patience, fragments, what_fits};
use upf::config::{NetworkConfig, PortConfig, Role, Route, Via};
use wire::{gtpu, ipv4, udp};

use crate::host::{framed, ipv4_frame};
use crate::pipeline::{N3_PORT, N6_PORT, World};
use crate::sessions::{N3, network};

const SMF: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 4)), 8805);
const UPF: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 7);
const N9: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 1);
const N9_PORT: PortId = PortId(1);
const N9_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];

fn addresses() -> Addresses {
    Addresses {
        smf: SMF.ip(),
        upf_n3: N3,
        upf_n9: N9,
        gnbs: [Ipv4Addr::new(10, 0, 3, 50), Ipv4Addr::new(10, 0, 3, 51)],
        psa: Some(Ipv4Addr::new(10, 0, 9, 99)),
        n9_instance: "n9".into(),
        dn: Ipv4Addr::new(198, 51, 100, 7),
        dn_ports: [5000, 5001],
        ue: Ipv4Addr::new(10, 45, 0, 2),
        dnn: "internet".into(),
    }
}

/// N3 and N6 as elsewhere, and N9 on the core side. N3 has no room for what tunnels add.
fn lab() -> NetworkConfig {
    let mut config = network();
    config.ports[0].mtu = 1500;
    let n9 = PortConfig {
        id: N9_PORT,
        name: "n9".into(),
        mac: N9_MAC,
        addresses: vec![(N9.into(), 24)],
        network_instance: "n9".into(),
        role: Role::Core,
        gtpu_endpoints: vec![N9],
        ..config.ports[0].clone()
    };
    config.ports.push(n9);
    let via = Via::Gateway(Ipv4Addr::new(10, 0, 3, 254).into());
    config.routes.push(Route { network_instance: "access".into(), prefix: (Ipv4Addr::UNSPECIFIED.into(), 0), via });
    config
}

/// A UPF in this process.
struct InProcess {
    node: Node,
    world: World,
    starts: u32,
    /// What the data network's host has been told to fit.
    fits: Option<usize>,
}

impl InProcess {
    fn start(starts: u32) -> InProcess {
        let mut config = Config::new(NodeId::Ipv4(UPF), UPF.into(), 3_900_001_000 + starts);
        let address = |ipv4, interface| GtpuAddress { ipv4, network_instance: None, interface: Some(interface), default: false };
        config.gtpu = vec![address(N3, Interface::Access), address(N9, Interface::Core)];
        config.heartbeat_period = None;
        InProcess { node: Node::new(config).unwrap(), world: World::of(&lab()), starts, fits: None }
    }

    fn receive(&mut self, port: PortId, frame: &[u8]) {
        self.world.receive(port, frame);
        for (seid, pdr_id) in std::mem::take(&mut self.world.buffered) {
            self.node.downlink_data(seid, pdr_id, self.world.now);
        }
        // What is due at once: a quota of nothing has a packet.
        while self.node.next_deadline().is_some_and(|at| at <= self.world.now) {
            self.node.handle_timeout(self.world.now, &mut self.world.plane);
        }
        self.world.release();
    }

    /// Takes the first frame sent that is this.
    fn take<T>(&mut self, wanted: impl Fn(&ipv4::Packet<'_>, &udp::Datagram<'_>) -> Option<T>) -> Option<T> {
        let found = self.world.sent.iter().enumerate().find_map(|(at, (_, frame))| {
            let ip = ipv4::Packet::new_checked(&frame[14..]).ok()?;
            let datagram = udp::Datagram::new_checked(ip.payload()).ok()?;
            Some((at, wanted(&ip, &datagram)?))
        });
        let (at, found) = found?;
        self.world.sent.remove(at);
        Some(found)
    }
}

impl Links for InProcess {
    fn send_n4(&mut self, octets: &[u8]) -> io::Result<()> {
        self.world.now += Duration::from_millis(1);
        self.node.receive(SMF, octets, self.world.now, &mut self.world.plane);
        while self.node.sessions_ending() > 0 {
            self.node.handle_timeout(self.world.now, &mut self.world.plane);
        }
        self.world.release();
        Ok(())
    }

    fn receive_n4(&mut self, _: Patience) -> io::Result<Option<Vec<u8>>> {
        Ok(self.node.poll_transmit().map(|(to, octets)| {
            assert_eq!(to, SMF);
            octets
        }))
    }

    fn send_tunnel(&mut self, node: usize, to: Ipv4Addr, octets: &[u8]) -> io::Result<()> {
        let addresses = addresses();
        let (from, port) = match node {
            2 => (addresses.psa.unwrap(), N9_PORT),
            gnb => (addresses.gnbs[gnb], N3_PORT),
        };
        let mut datagram = Vec::new();
        udp::Repr { src_port: gtpu::PORT, dst_port: gtpu::PORT }.emit_ipv4(from, to, octets, &mut datagram);
        let mut frame = ipv4_frame(from, to, ipv4::UDP, &datagram);
        if port == N9_PORT {
            frame[..6].copy_from_slice(&N9_MAC);
        }
        self.receive(port, &frame);
        Ok(())
    }

    fn receive_tunnel(&mut self, node: usize, _: Patience) -> io::Result<Option<Vec<u8>>> {
        let addresses = addresses();
        let here = if node == 2 { addresses.psa.unwrap() } else { addresses.gnbs[node] };
        Ok(self.take(|ip, datagram| (ip.dst() == here && datagram.dst_port() == gtpu::PORT).then(|| datagram.payload().to_vec())))
    }

    fn send_dn(&mut self, port: usize, to: SocketAddrV4, payload: &[u8]) -> io::Result<()> {
        let Addresses { dn, dn_ports, .. } = addresses();
        let (mut datagram, mut packet) = (Vec::new(), Vec::new());
        udp::Repr { src_port: dn_ports[port], dst_port: to.port() }.emit_ipv4(dn, *to.ip(), payload, &mut datagram);
        ipv4::Repr { src: dn, dst: *to.ip(), protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: datagram.len() }.emit(&mut packet);
        packet.extend(datagram);
        let parts = self.fits.filter(|fits| packet.len() > *fits).map_or_else(|| vec![packet.clone()], |fits| fragments(&packet, fits));
        parts.iter().for_each(|part| self.receive(N6_PORT, &framed(part)));
        if let [(N6_PORT, told)] = &self.world.sent[..]
            && let Some(fits) = what_fits(&told[14..], &packet)
        {
            self.fits = Some(fits);
            self.world.sent.clear();
        }
        Ok(())
    }

    fn receive_dn(&mut self, port: usize, _: Patience) -> io::Result<Option<(SocketAddrV4, Vec<u8>)>> {
        let Addresses { dn, dn_ports, .. } = addresses();
        let whole = self.take(|ip, datagram| {
            let here = ip.dst() == dn && datagram.dst_port() == dn_ports[port];
            here.then(|| (SocketAddrV4::new(ip.src(), datagram.src_port()), datagram.payload().to_vec()))
        });
        if whole.is_some() {
            return Ok(whole);
        }
        let mut parts = Parts::default();
        let datagram = self.world.sent.iter().filter(|(port, _)| *port == N6_PORT).find_map(|(_, frame)| parts.add(&frame[14..]));
        Ok(datagram.map(|bytes| {
            self.world.sent.clear();
            let datagram = udp::Datagram::new_checked(&bytes).unwrap();
            (SocketAddrV4::new(addresses().ue, datagram.src_port()), datagram.payload().to_vec())
        }))
    }

    fn restart_upf(&mut self) -> io::Result<()> {
        *self = InProcess::start(self.starts + 1);
        Ok(())
    }

    fn pause(&mut self) {}
}

#[test]
fn every_procedure_works_as_open5gs_and_free5gc_ask_for_it() {
    for shape in [Shape::Open5gs, Shape::Free5gc] {
        for scenario in ALL {
            let mut links = InProcess::start(0);
            let mut steps = Vec::new();
            let outcome = scenario.run(shape, &addresses(), &mut links, &mut steps);
            let steps = String::from_utf8(steps).unwrap();
            assert_eq!(outcome, Ok(()), "{shape:?} {}:\n{steps}\ndropped: {:?}", scenario.name, links.world.dropped);
            assert!(steps.matches("  ok  ").count() > 5 && !steps.contains("FAIL"), "{steps}");
            assert_eq!((links.node.session_count(), links.node.resources_in_use()), (0, 0), "{shape:?} {}", scenario.name);
            assert_eq!(links.world.sent, [], "{shape:?} {}: packets that nobody expected", scenario.name);
        }
    }
}
