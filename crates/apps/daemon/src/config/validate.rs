//! Checks across keys: values that must fit each other.

use super::{Api, Config, Driver, FastTarget, Fault, Policy, Port, Prefix, Rates, Role, Steering};
use std::net::IpAddr;

/// Most `[[port]]` blocks: their numbers are the program's.
const MOST_PORTS: usize = 64;
/// 10 Tbit/s.
const MOST_RATE_KBPS: u64 = 10_000_000_000;

fn fault<T>(key: impl Into<String>, what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(key, what))
}

impl Config {
    /// Checks what can be known from the file alone.
    pub(super) fn validate(&self) -> Result<(), Fault> {
        self.validate_n4()?;
        self.validate_ports()?;
        crate::config::dpdk::validate(&self.ports, &self.dpdk)?;
        self.validate_networks()?;
        self.validate_pools()?;
        self.workers.validate()?;
        self.validate_steering()?;
        self.validate_queues()?;
        self.validate_classes()?;
        self.qos.validate()?;
        self.validate_services()?;
        self.validate_api()?;
        self.log.validate()?;
        self.validate_split()
    }

    fn validate_api(&self) -> Result<(), Fault> {
        let Api { listen, token_file, requests_per_s } = &self.api;
        if listen.is_none() && token_file.is_some() {
            return fault("api.token_file", "expected `api.listen` with it: without that there is no HTTP server");
        }
        if listen.is_some_and(|listen| !listen.ip().is_loopback()) && token_file.is_none() {
            return fault("api.listen", "expected a loopback address, such as 127.0.0.1:9090, or `api.token_file` with it");
        }
        if *requests_per_s == 0 {
            return fault("api.requests_per_s", "expected 1 or more");
        }
        Ok(())
    }

    fn validate_n4(&self) -> Result<(), Fault> {
        if self.n4.listen.ip().is_unspecified() {
            return fault("n4.listen", "expected one address of this machine: it goes into the F-SEIDs that peers answer to");
        }
        if let Some(name) = &self.n4.node_id {
            let label = |l: &str| (1..=63).contains(&l.len()) && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            if name.parse::<IpAddr>().is_err() && (name.len() > 253 || !name.split('.').all(label)) {
                return fault("n4.node_id", "expected an IP address or a domain name");
            }
        }
        for (key, value) in [
            ("max_sessions", self.n4.max_sessions),
            ("max_sessions_per_peer", self.n4.max_sessions_per_peer.unwrap_or(1)),
            ("max_associations_per_peer", self.n4.max_associations_per_peer),
            ("max_outstanding_per_peer", self.n4.max_outstanding_per_peer),
        ] {
            if value == 0 {
                return fault(format!("n4.{key}"), "expected 1 or more");
            }
        }
        for (i, smf) in self.n4.associate.iter().enumerate() {
            let key = format!("n4.associate[{i}]");
            if smf.is_ipv4() != self.n4.listen.is_ipv4() {
                return fault(key, "expected an address of the same IP version as `n4.listen`");
            }
            if smf.is_unspecified() || smf.is_multicast() {
                return fault(key, "expected the address of one SMF");
            }
            let allowed = self.n4.peers.is_some().then(|| crate::config::peers::allowed(&self.n4).peers);
            if allowed.is_some_and(|allowed| !allowed.iter().any(|peers| peers.contains(*smf))) {
                return fault(key, "expected one of `n4.peers`: its answers would be dropped");
            }
        }
        // TS 29.281 §7.2.1.
        if !matches!(self.host.gtpu_echo_s, 0 | 60..=3600) {
            return fault("host.gtpu_echo_s", "expected 60 to 3600 seconds, or 0 for none");
        }
        if self.n4.graceful_release_s > 3600 {
            return fault("n4.graceful_release_s", "expected 0 to 3600 seconds");
        }
        if let Some(store) = &self.n4.store {
            match (&store.path, &store.shared) {
                (None, None) => return fault("n4.store.path", "expected a folder, or a server in [n4.store.shared]"),
                (Some(_), Some(_)) => return fault("n4.store.path", "expected a folder or a server in [n4.store.shared], not both"),
                (Some(path), None) if path.as_os_str().is_empty() => return fault("n4.store.path", "expected a folder"),
                _ => {}
            }
            if let Some(shared) = &store.shared {
                if store.survives.is_some() {
                    return fault("n4.store.survives", "it is for files: what a server survives is set there");
                }
                if !(200..=60_000).contains(&shared.lease_ms) {
                    return fault("n4.store.shared.lease_ms", "expected 200 to 60000 milliseconds");
                }
                if shared.outage_s > 3600 {
                    return fault("n4.store.shared.outage_s", "expected 0 to 3600 seconds");
                }
                if self.n4.peers.is_none() && !self.n4.listen.ip().is_loopback() {
                    return fault(
                        "n4.peers",
                        "expected with [n4.store.shared]: the networks of an address that is elsewhere are not known",
                    );
                }
                self.shared_store().transpose()?;
            }
            if !(1..=3600).contains(&store.counters_within_s) {
                return fault("n4.store.counters_within_s", "expected 1 to 3600 seconds");
            }
        }
        if self.n4.peers.as_ref().is_some_and(Vec::is_empty) {
            return fault("n4.peers", "expected at least one peer: otherwise no SMF can associate");
        }
        Ok(())
    }

    fn validate_ports(&self) -> Result<(), Fault> {
        if self.ports.is_empty() {
            return fault("port", "expected at least one [[port]] of role \"access\" and one of role \"core\"");
        }
        if self.ports.len() > MOST_PORTS {
            return fault(format!("port[{MOST_PORTS}]"), format!("expected at most {MOST_PORTS} ports"));
        }
        for (i, port) in self.ports.iter().enumerate() {
            let key = |name: &str| format!("port[{i}].{name}");
            let before = &self.ports[..i];
            if port.name.is_empty() {
                return fault(key("name"), "expected a name");
            }
            if let Some(other) = before.iter().position(|p| p.name == port.name) {
                return fault(key("name"), format!("expected a unique name: port[{other}] has it"));
            }
            let same_interface = before.iter().position(|p| p.interface.is_some() && p.interface == port.interface);
            if let (Some(other), true) = (same_interface, port.driver != Driver::Pcap) {
                return fault(key("interface"), format!("expected an unused interface: port[{other}] has it"));
            }
            match port.driver {
                Driver::Udp => port.check_udp(key)?,
                Driver::Tun => port.check_tun(key)?,
                Driver::Pcap if port.input.is_none() && port.output.is_none() => {
                    return fault(key("input"), "driver \"pcap\" needs `input`, `output` or both");
                }
                Driver::Pcap => {}
                Driver::Dpdk if port.interface.is_some() => return fault(key("interface"), "driver \"dpdk\" takes `device` instead"),
                Driver::Dpdk => {}
                _ if port.interface.is_none() => return fault(key("interface"), "expected the name of a kernel interface"),
                _ => {}
            }
            validate_kind(port, before, key)?;
            for (n, address) in port.gtpu.iter().enumerate() {
                if port.driver != Driver::Udp && !port.addresses.iter().any(|p| p.address == IpAddr::V4(*address)) {
                    return fault(key(&format!("gtpu[{n}]")), "expected one of the port's `addresses`");
                }
            }
            for (n, address) in port.addresses.iter().enumerate() {
                if let Some(other) = before.iter().position(|p| shares(p, port, address.address)) {
                    let what = format!("expected a unique address: port[{other}] has it too");
                    return fault(key(&format!("addresses[{n}]")), what);
                }
            }
        }
        for (role, name) in [(Role::Access, "access"), (Role::Core, "core")] {
            if !self.ports.iter().any(|p| p.role == role || p.role == Role::Both) {
                return fault("port", format!("expected at least one [[port]] of role \"{name}\" (or \"both\"); there is none"));
            }
        }
        if !self.ports.iter().any(|p| p.role != Role::Cp && !p.endpoints().is_empty()) {
            return fault("port[0].gtpu", "expected an address in at least one port: GTP-U tunnels need an endpoint");
        }
        Ok(())
    }

    fn knows_instance(&self, name: &str) -> bool {
        let vnis = self.vxlan.iter().flat_map(|v| &v.networks).map(|n| &n.network_instance);
        self.ports.iter().map(|p| &p.network_instance).chain(vnis).any(|known| known.eq_ignore_ascii_case(name))
    }

    fn validate_networks(&self) -> Result<(), Fault> {
        if self.vxlan.is_none()
            && let Some(i) = self.ports.iter().position(|p| p.vxlan)
        {
            return fault(format!("port[{i}].vxlan"), "needs a [vxlan] section");
        }
        for (i, remote) in self.vxlan.iter().flat_map(|v| &v.remotes).enumerate() {
            if !self.ports.iter().any(|p| p.name == remote.port && p.vxlan) {
                return fault(format!("vxlan.remote[{i}].port"), "expected the name of a port with `vxlan = true`");
            }
        }
        for (i, route) in self.routes.iter().enumerate() {
            if !self.knows_instance(&route.network_instance) {
                return fault(format!("route[{i}].network_instance"), "expected the network_instance of a port or of a vxlan.network");
            }
            without_host_bits(&format!("route[{i}].prefix"), Some(route.prefix))?;
            if route.prefix.address.is_ipv4() != route.via.is_ipv4() {
                return fault(format!("route[{i}].via"), "expected an address of the same IP version as `prefix`");
            }
        }
        for (i, neighbour) in self.neighbours.iter().enumerate() {
            if !self.ports.iter().any(|p| p.name == neighbour.port) {
                return fault(format!("neighbour[{i}].port"), "expected the name of a port");
            }
        }
        for (i, rule) in self.firewall.iter().enumerate() {
            without_host_bits(&format!("firewall[{i}].from"), rule.from)?;
            without_host_bits(&format!("firewall[{i}].to"), rule.to)?;
        }
        Ok(())
    }

    fn validate_pools(&self) -> Result<(), Fault> {
        for (i, pool) in self.pools.iter().enumerate() {
            if let Some(name) = &pool.network_instance
                && !self.knows_instance(name)
            {
                return fault(format!("pool[{i}].network_instance"), "expected the network_instance of a port or of a vxlan.network");
            }
            if pool.ipv4.is_none() && pool.ipv6.is_none() {
                return fault(format!("pool[{i}].ipv4"), "expected `ipv4`, `ipv6` or both");
            }
            for (version, network, is_v4) in [("ipv4", pool.ipv4, true), ("ipv6", pool.ipv6, false)] {
                let key = format!("pool[{i}].{version}");
                if network.is_some_and(|n| n.address.is_ipv4() != is_v4) {
                    return fault(key, format!("expected an {} network", if is_v4 { "IPv4" } else { "IPv6" }));
                }
                without_host_bits(&key, network)?;
                let Some(network) = network else { continue };
                let most = if is_v4 { 32 } else { 64 };
                if !(1..=most).contains(&network.len) {
                    return fault(key, format!("expected a prefix length of 1 to {most}"));
                }
                // UEs of two network instances may have the same address; where a pool is for all, it is for each.
                let other = self.pools[..i].iter().position(|other| {
                    let same = match (&other.network_instance, &pool.network_instance) {
                        (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
                        _ => true,
                    };
                    same && other.ipv4.iter().chain(&other.ipv6).any(|n| n.overlaps(network))
                });
                if let Some(other) = other {
                    return fault(key, format!("expected a network that overlaps no other: pool[{other}] overlaps it"));
                }
            }
        }
        Ok(())
    }

    fn validate_steering(&self) -> Result<(), Fault> {
        if self.workers.steering == Steering::Xdp {
            // The others can receive by one worker and send by all.
            let fits = |p: &Port| p.takes_xdp() || matches!(p.driver, Driver::AfPacket | Driver::Udp | Driver::Tun);
            if let Some(i) = self.ports.iter().position(|p| !fits(p)) {
                return fault(format!("port[{i}].driver"), "XDP cannot steer beside it: workers.steering is \"xdp\"");
            }
            if !self.ports.iter().any(Port::takes_xdp) {
                return fault("workers.steering", "no port has driver \"auto\" or \"af_xdp\"");
            }
        }
        if self.workers.count > 1 && self.workers.steering == Steering::Port && self.ports.iter().any(|p| p.driver == Driver::Pcap) {
            return fault("workers.count", "expected 1: capture files are read by one worker, unless steering is \"software\"");
        }
        Ok(())
    }

    pub(crate) fn has_queues(&self) -> bool {
        self.ports.iter().any(|port| port.rate_kbps.is_some())
    }

    fn validate_queues(&self) -> Result<(), Fault> {
        for (i, port) in self.ports.iter().enumerate() {
            let Some(rate) = port.rate_kbps else { continue };
            let key = format!("port[{i}].rate_kbps");
            if !(1..=MOST_RATE_KBPS).contains(&rate) {
                return fault(key, format!("expected 1 to {MOST_RATE_KBPS} kbit/s"));
            }
            if self.split.fast == Some(FastTarget::Xdp) && port.takes_xdp() {
                let what = "cannot be combined with split.fast = \"xdp\", which sends by this port past our queues: driver \"af_packet\" keeps it off the port";
                return fault(key, what);
            }
            if self.workers.steered() {
                return fault(key, "cannot be combined with several workers and steering = \"software\", where one thread sends for all");
            }
        }
        if !self.queues.is_empty() && !self.has_queues() {
            return fault("queue[0].number", "no port has `rate_kbps`, and packets wait for no other: give it to one, or remove the block");
        }
        if !self.slices.is_empty() && !self.has_queues() {
            let key = if self.slices[0].s_nssai.is_some() { "s_nssai" } else { "network_instance" };
            let what = "no port has `rate_kbps`, and slices share nothing else: give it to one, or remove the block";
            return fault(format!("slice[0].{key}"), what);
        }
        if !self.shares.is_empty() && !self.has_queues() {
            let key = if self.shares[0].weight.is_some() { "weight" } else { "kbps_per_weight" };
            let what = "no port has `rate_kbps`, and sessions share nothing else: give it to one, or remove the block";
            return fault(format!("share[0].{key}"), what);
        }
        super::queue::validate(&self.queues)?;
        super::slice::validate(&self.slices, MOST_RATE_KBPS)?;
        super::share::validate(&self.shares, MOST_RATE_KBPS)
    }

    fn validate_classes(&self) -> Result<(), Fault> {
        for (i, class) in self.classes.iter().enumerate() {
            let key = |name: &str| format!("class[{i}].{name}");
            if usize::from(class.queue) >= shaper::QUEUES {
                return fault(key("queue"), format!("expected 0 to {}", shaper::QUEUES - 1));
            }
            if class.queue > 0 && !self.has_queues() {
                return fault(key("queue"), "no port has `rate_kbps`, and packets wait for no other: give it to one, or remove the key");
            }
            if class.dscp.is_some_and(|d| d > 63) {
                return fault(key("dscp"), "expected 0 to 63");
            }
            for (name, network) in [("from", class.from), ("to", class.to)] {
                if network.is_some_and(|p| p.address.is_ipv6()) {
                    return fault(key(name), "expected an IPv4 network");
                }
                without_host_bits(&key(name), network)?;
            }
            if class.rate_bps.is_some() && self.split.fast.is_some() {
                return fault(key("rate_bps"), "cannot be combined with split.fast: a class's rate is policed on one target only");
            }
        }
        Ok(())
    }

    fn validate_services(&self) -> Result<(), Fault> {
        let all = &self.services;
        all.iter().enumerate().try_for_each(|(at, service)| service.validate(at, &all[..at], &self.workers))
    }

    fn validate_split(&self) -> Result<(), Fault> {
        let split = &self.split;
        if split.chip.is_some() && split.fast != Some(FastTarget::Asic) {
            return fault("split.chip", "only for split.fast = \"asic\"");
        }
        if split.capacity == Some(0) {
            return fault("split.capacity", "expected 1 or more; to use no fast target, remove split.fast");
        }
        if split.capacity.is_some() && split.fast.is_none() {
            return fault("split.capacity", "needs split.fast");
        }
        if split.fast == Some(FastTarget::Xdp) {
            if !self.ports.iter().any(Port::takes_xdp) {
                return fault("split.fast", "no port has driver \"auto\" or \"af_xdp\"");
            }
            if matches!(split.policy, Policy::Dscps(_)) {
                return fault("split.policy", "`dscps` needs split.fast = \"asic\"; with split.fast = \"xdp\" choose sessions");
            }
        }
        if let Some(folder) = &split.keep {
            if split.fast != Some(FastTarget::Xdp) {
                return fault("split.keep", "only for split.fast = \"xdp\"");
            }
            if self.n4.store.is_none() {
                return fault("split.keep", "needs [n4.store]: without it no session comes back whose packets XDP forwards meanwhile");
            }
            if self.shared_store().is_some() {
                return fault(
                    "split.keep",
                    "not with [n4.store.shared]: a node that another one has taken over from would go on forwarding",
                );
            }
            if !folder.is_absolute() {
                return fault("split.keep", "expected a path from the root, such as \"/sys/fs/bpf/splitplane\"");
            }
        }
        if split.fast.is_none() && split.policy != Policy::None {
            return fault("split.policy", "needs split.fast");
        }
        if let Policy::Ues(list) = &split.policy {
            for (i, network) in list.iter().enumerate() {
                without_host_bits(&format!("split.policy.ues[{i}]"), Some(*network))?;
            }
        }
        self.validate_egress()?;
        if split.rates != Rates::Counters && split.policy != Policy::Planned {
            return fault("split.rates", "only for split.policy = \"planned\"");
        }
        split.policy.to_offload().validate().map_err(|e| Fault::new("split.policy", e.to_string()))?;
        let plan = split.plan().validate(split.policy == Policy::Planned);
        plan.map_err(|e| Fault::new(format!("split.{}", e.key()), e.to_string()))
    }
}

impl Config {
    /// `split.egress`: from a network instance to another one of the same side.
    fn validate_egress(&self) -> Result<(), Fault> {
        let roles = |name: &str| -> Vec<Role> {
            self.ports.iter().filter(|port| port.network_instance.eq_ignore_ascii_case(name)).map(|port| port.role).collect()
        };
        for (from, to) in &self.split.egress {
            let key = format!("split.egress.{from}");
            if self.split.fast.is_none() {
                return fault(key, "needs split.fast");
            }
            if self.split.keep.is_some() {
                return fault(key, "not with split.keep");
            }
            let (of_from, of_to) = (roles(from), roles(to));
            if of_from.is_empty() {
                return fault(key, format!("expected the network_instance of a port before `=`, not `{}`", from.escape_debug()));
            }
            if of_to.is_empty() || from.eq_ignore_ascii_case(to) || of_to.iter().any(|role| !of_from.contains(role)) {
                return fault(key, "expected the network_instance of another port of the same role");
            }
        }
        Ok(())
    }
}

/// Whether a port's keys go with its driver and role, and with the ports before it.
fn validate_kind(port: &Port, before: &[Port], key: impl Fn(&str) -> String) -> Result<(), Fault> {
    if port.listen.is_some() && port.driver != Driver::Udp {
        return fault(key("listen"), "only for driver \"udp\"");
    }
    if !port.reachable.is_empty() && port.driver != Driver::Tun {
        return fault(key("reachable"), "only for driver \"tun\": by others users do not reach this machine");
    }
    if port.vxlan && port.is_kernels() {
        return fault(key("vxlan"), "expected a driver with Ethernet frames");
    }
    if port.role == Role::Core && !port.gtpu.is_empty() {
        return fault(key("gtpu"), "only for ports of role \"access\", \"both\" or \"cp\"");
    }
    let beside = |p: &Port| p.is_kernels() && p.network_instance.eq_ignore_ascii_case(&port.network_instance);
    match before.iter().position(beside).filter(|_| port.is_kernels()) {
        Some(other) => {
            let what = format!("expected another network instance: the kernel already routes for port[{other}] in this one");
            fault(key("network_instance"), what)
        }
        None => Ok(()),
    }
}

/// Whether both ports have the address where there may be only one: network instances of N6 may overlap, N3 has one address space.
fn shares(a: &Port, b: &Port, address: IpAddr) -> bool {
    let one_space = a.network_instance.eq_ignore_ascii_case(&b.network_instance) || a.role != Role::Core || b.role != Role::Core;
    one_space && a.addresses.iter().any(|p| p.address == address)
}

fn without_host_bits(key: &str, prefix: Option<Prefix>) -> Result<(), Fault> {
    match prefix.map(|p| (p, p.network())) {
        Some((prefix, (network, len))) if prefix.address != network => {
            fault(key, format!("expected a network without host bits: {network}/{len}"))
        }
        _ => Ok(()),
    }
}
