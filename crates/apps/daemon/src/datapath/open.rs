//! Ports are opened here, and workers started on them.

use super::dpdk_ports;
use super::xdp::Kernel;
use crate::config::lower::Link;
use crate::config::{self, Config, Driver, Steering, Workers};
use crate::manage::request::PortLabel;
use base::PortId;
use cli::failure::Failure;
use crossbeam_channel::Sender;
use engine::{BalanceSettings, Engine, EngineError, Event, MarkSettings, QueueSettings, Settings, ShapeSettings, SteerFn, WorkerPorts};
use pktio::Port;
use pktio::af_xdp::Frames;
use service::SharedDeployment;
use std::net::SocketAddr;
use std::sync::Arc;
use target_api::Target;

/// A port of the configuration, opened.
pub struct OpenPort {
    /// Number in the data plane.
    pub id: PortId,
    /// For each worker the devices that it polls.
    pub of_workers: Vec<Vec<Box<dyn Port>>>,
    /// Driver in use.
    pub driver: String,
    /// Our MAC address.
    pub mac: [u8; 6],
}

impl Link {
    pub(crate) fn of(open: &OpenPort) -> Link {
        Link { id: open.id, mac: open.mac, mtu: mtu(open) }
    }
}

/// Longest IP packet that a port sends, in bytes.
fn mtu(open: &OpenPort) -> u16 {
    let frame = open.of_workers.iter().flatten().map(|p| p.max_frame()).min().unwrap_or(0);
    u16::try_from(frame.saturating_sub(14)).unwrap_or(u16::MAX).min(upf::config::MAX_MTU)
}

/// What the program that steers must know of a port's frames.
pub fn frames(id: PortId) -> Frames {
    let upf::steer::Expects { tunnels, vxlan } = upf::steer::expects(id);
    Frames { tunnels: tunnels.then_some(gtpu_steering::GTPU), vxlan }
}

/// Opens ports under these numbers.
pub fn open_each(
    ports: &[config::Port],
    ids: Vec<PortId>,
    workers: &Workers,
    dpdk: &config::dpdk::Dpdk,
    mut kernel: Option<&mut Kernel>,
) -> Result<Vec<OpenPort>, Failure> {
    let fail = |e: pktio::PortError| Failure::Usage(e.to_string());
    dpdk_ports::start(ports, dpdk)?;
    let by_ue = workers.steering == Steering::Xdp;
    let workers = workers.of_ports();
    let fits = config::longest_user_packet(ports);
    let mut open = Vec::new();
    for (port, id) in ports.iter().zip(ids) {
        let interface = port.interface.as_deref().unwrap_or_default();
        let gso = port.gso.unwrap_or(true);
        let mut device_mac = None;
        let boxed = |share: Vec<pktio::AfXdp>| share.into_iter().map(|p| Box::new(p) as Box<dyn Port>).collect();
        let (of_workers, driver): (Vec<Vec<Box<dyn Port>>>, &str) = match (port.driver, &mut kernel) {
            (Driver::AfXdp | Driver::Auto, Some(kernel)) => {
                let shares = if by_ue { kernel.open_steered(port, id, workers)? } else { kernel.open(port, id, workers)? };
                (shares.into_iter().map(boxed).collect(), "af_xdp")
            }
            (Driver::AfXdp | Driver::Auto, None) if by_ue => {
                let shares = pktio::open_steered(&port.name, interface, workers, frames(id)).map_err(fail)?;
                (shares.into_iter().map(boxed).collect(), "af_xdp")
            }
            (Driver::AfXdp, None) => {
                let shares = pktio::open_queues(&port.name, interface, workers, frames(id)).map_err(fail)?;
                (shares.into_iter().map(boxed).collect(), "af_xdp")
            }
            (Driver::AfPacket, _) => {
                let ports = pktio::open_shared(&port.name, interface, workers, gso).map_err(fail)?;
                (ports.into_iter().map(|p| vec![p]).collect(), "af_packet")
            }
            (Driver::Auto, None) => {
                let opened = pktio::open_best(&port.name, interface, workers, frames(id), gso).map_err(fail)?;
                if let Some(why) = &opened.fell_back {
                    tracing::warn!(port = port.name, "AF_XDP is not available, using AF_PACKET: {why}");
                }
                (opened.ports, if opened.fell_back.is_some() { "af_packet" } else { "af_xdp" })
            }
            (Driver::Udp, _) => {
                let Some(SocketAddr::V4(local)) = port.listen else {
                    return Err(Failure::Usage(format!("port `{}`: listen must be an IPv4 address and port", port.name)));
                };
                let mut first = pktio::UdpPort::bind(&port.name, local, port.mtu).map_err(fail)?;
                first.set_gso(gso);
                if let Some(mac) = port.mac {
                    first.set_mac(mac.0);
                }
                (of_one_queue(first, workers, pktio::UdpPort::try_clone).map_err(fail)?, "udp")
            }
            (Driver::Tun, _) => {
                let addresses: Vec<_> = port.addresses.iter().map(|p| (p.address, p.len)).collect();
                let options = pktio::tun::Options { addresses: &addresses, mtu: port.mtu, mtu_if_made: fits, gso_max_size: None };
                let mut first = pktio::TunPort::open(&port.name, interface, options).map_err(fail)?;
                first.set_gso(gso);
                if let Some(mac) = port.mac {
                    first.set_mac(mac.0);
                }
                (of_one_queue(first, workers, pktio::TunPort::try_clone).map_err(fail)?, "tun")
            }
            (Driver::Pcap, _) => {
                let opened = pktio::pcap::PcapPort::open(&port.name, port.input.as_deref(), port.output.as_deref());
                (vec![vec![Box::new(opened.map_err(fail)?)]], "pcap")
            }
            (Driver::Dpdk, _) => {
                let (ports, mac) = dpdk_ports::open(port, workers)?;
                device_mac = Some(mac);
                (ports.into_iter().map(|p| vec![Box::new(p) as Box<dyn Port>]).collect(), "dpdk")
            }
        };
        let mac = match (port.mac, port.driver) {
            (Some(mac), _) => mac.0,
            (None, Driver::Dpdk) => device_mac.unwrap_or_default(),
            (None, Driver::Udp | Driver::Tun | Driver::Pcap) => pktio::OUR_MAC,
            (None, _) => pktio::interface::Interface::find(&port.name, interface).map_err(fail)?.mac,
        };
        tracing::info!(port = port.name, driver, "open");
        open.push(OpenPort { id, of_workers, driver: driver.to_owned(), mac });
    }
    Ok(open)
}

/// Ports of a device with one queue: the first worker receives, all send.
fn of_one_queue<P: Port + 'static>(
    first: P,
    workers: usize,
    another: impl Fn(&P) -> Result<P, pktio::PortError>,
) -> Result<Vec<Vec<Box<dyn Port>>>, pktio::PortError> {
    let mut of_workers: Vec<Vec<Box<dyn Port>>> = Vec::new();
    for _ in 1..workers {
        of_workers.push(vec![Box::new(pktio::TransmitOnly(another(&first)?))]);
    }
    of_workers.insert(0, vec![Box::new(first)]);
    Ok(of_workers)
}

/// Where packets wait in workers: for an idle UE, for a rate, and for a port.
#[derive(Default)]
pub struct Waiting {
    pub(crate) buffer: Option<Arc<SharedDeployment>>,
    pub(crate) shape: Option<ShapeSettings>,
    pub(crate) queues: Vec<QueueSettings>,
    pub(crate) marks: Option<MarkSettings>,
}

/// Of ports that have a rate.
pub(crate) fn queues(config: &Config, ports: &[OpenPort]) -> Vec<QueueSettings> {
    config.ports.iter().zip(ports).filter_map(|(port, open)| queues_of(config, port, open.id)).collect()
}

/// Of a port, if it has a rate.
pub(crate) fn queues_of(config: &Config, port: &config::Port, id: PortId) -> Option<QueueSettings> {
    let (queues, fill) = config.port_queues(port)?;
    Some(QueueSettings { port: id, queues, fill: Arc::new(fill) })
}

/// For reports.
pub(crate) fn label(port: &config::Port, open: &OpenPort) -> PortLabel {
    PortLabel {
        id: open.id,
        name: port.name.clone(),
        driver: open.driver.clone(),
        role: port.role,
        network_instance: port.network_instance.clone(),
        down: false,
        reopened: 0,
    }
}

/// Whether and how UEs move, and workers come and go, by themselves.
pub(crate) fn balance(workers: &Workers) -> Option<BalanceSettings> {
    let range = workers.range();
    let scaling = (range.0 < range.1).then_some(range);
    let usual = BalanceSettings::default();
    let balance = BalanceSettings { workers: scaling, moves: if workers.rebalance { usual.moves } else { 0 }, ..usual };
    (workers.rebalance || scaling.is_some()).then_some(balance)
}

/// Workers on their ports, or on those of a master.
pub fn start_engine(
    workers: &Workers,
    target: &Arc<dyn Target>,
    ports: Vec<OpenPort>,
    waiting: Waiting,
    events: Sender<Event>,
) -> Result<Engine, EngineError> {
    let balance = balance(workers);
    let by_ue = workers.steering == Steering::Xdp;
    let port_hash = by_ue.then_some(upf::steer::ue_hash as SteerFn);
    // Not so users' packets that are punted: of unknown TEIDs, and to neighbours that are asked for.
    let reasons = |names: &[&str]| names.iter().filter_map(|name| target.program().reason(name)).collect();
    let (vital_punts, told_punts) = (reasons(&["arp", "host", "gtpu_signalling"]), reasons(&["ttl_expired", "too_big"]));
    let Waiting { buffer, shape, queues, marks } = waiting;
    let cores = workers.cores.clone();
    let settings = Settings { buffer, balance, port_hash, vital_punts, told_punts, shape, queues, marks, cores, ..Settings::default() };
    let mut shares: Vec<WorkerPorts> = (0..workers.of_ports()).map(|_| Vec::new()).collect();
    for port in ports {
        for (share, devices) in shares.iter_mut().zip(port.of_workers) {
            share.extend(devices.into_iter().map(|device| (port.id, device)));
        }
    }
    if !workers.steered() {
        let count = if by_ue { workers.count } else { shares.len() };
        return Engine::start_some(target, shares, count, settings, events);
    }
    Engine::start_steered(target, shares.remove(0), upf::steer::ue_hash, workers.count, settings, events)
}
