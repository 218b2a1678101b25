//! Who may use N4, and how much: the keys `n4.peers` and per-peer limits, and their defaults.

use crate::config::{N4, Prefix};
use pfcp::config::{AllowedPeers, Network};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// One entry of `n4.peers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerEntry {
    networks: Vec<Network>,
    /// The entry is a list: one SMF, or one SMF set, with several addresses.
    together: bool,
}

impl PeerEntry {
    /// Its addresses.
    pub fn networks(&self) -> &[Network] {
        &self.networks
    }
}

/// Who may speak, and whether the configuration says so.
pub(crate) struct Allowed {
    pub peers: Vec<AllowedPeers>,
    /// What the operator should know and do, if the configuration does not.
    pub warning: Option<String>,
}

/// Who may speak: what `n4.peers` lists; without it the networks of the interface that has the listen address. That lets an SMF
/// on the same network in, and none from behind a router.
pub(crate) fn allowed(n4: &N4) -> Allowed {
    if let Some(entries) = &n4.peers {
        let peers = entries.iter().map(|entry| AllowedPeers { networks: entry.networks.clone(), together: entry.together }).collect();
        return Allowed { peers, warning: None };
    }
    let networks = own_networks(n4.listen);
    let warning = (!n4.listen.ip().is_loopback()).then(|| {
        let names: Vec<String> = networks.iter().map(|network| format!("{}/{}", network.address, network.length)).collect();
        format!(
            "n4.peers is not set: every address of {} may set up an association, and no other; list your SMFs, such as peers = [\"10.0.0.4\"]",
            names.join(", ")
        )
    });
    Allowed { peers: vec![AllowedPeers { networks, together: false }], warning }
}

/// The networks that an interface of ours with the listen address is on; the address alone if none has it, as when a
/// configuration is checked on another machine.
fn own_networks(listen: SocketAddr) -> Vec<Network> {
    let own = listen.ip();
    if own.is_loopback() {
        // All of 127.0.0.0/8 is this host, whatever the interface says.
        return vec![if own.is_ipv4() { Network { address: Ipv4Addr::LOCALHOST.into(), length: 8 } } else { Network::one(own) }];
    }
    let ip = |address: Option<nix::sys::socket::SockaddrStorage>| -> Option<IpAddr> {
        let address = address?;
        let v4 = address.as_sockaddr_in().map(|a| IpAddr::V4(a.ip()));
        v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::V6(a.ip())))
    };
    let ones = |mask: IpAddr| match mask {
        IpAddr::V4(mask) => u32::from(mask).leading_ones() as u8,
        IpAddr::V6(mask) => u128::from(mask).leading_ones() as u8,
    };
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let here = interfaces.filter(|interface| ip(interface.address) == Some(own));
    let mut networks: Vec<Network> = here
        .map(|interface| Network { address: own, length: ip(interface.netmask).map_or(Network::one(own).length, ones) })
        .map(|network| Prefix { address: network.address, len: network.length }.network())
        .map(|(address, length)| Network { address, length })
        .collect();
    networks.dedup();
    if networks.is_empty() {
        networks.push(Network::one(own));
    }
    networks
}

impl<'de> Deserialize<'de> for PeerEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PeerEntry, D::Error> {
        struct Entry;
        impl<'de> Visitor<'de> for Entry {
            type Value = PeerEntry;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an address, a network, or a list of those of one SMF")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<PeerEntry, E> {
                Ok(PeerEntry { networks: vec![network(text).map_err(E::custom)?], together: false })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<PeerEntry, A::Error> {
                let mut networks = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    networks.push(network(&text).map_err(de::Error::custom)?);
                }
                if networks.is_empty() {
                    return Err(de::Error::custom("expected an address: the list is empty"));
                }
                Ok(PeerEntry { networks, together: true })
            }
        }
        deserializer.deserialize_any(Entry)
    }
}

fn network(text: &str) -> Result<Network, String> {
    if let Ok(address) = text.parse() {
        return Ok(Network::one(address));
    }
    let expected = |_| "expected an address or a network, such as 10.0.0.4 or 10.0.0.0/24".to_owned();
    let prefix = Prefix::try_from(text.to_owned()).map_err(expected)?;
    let (address, length) = prefix.network();
    Ok(Network { address, length })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n4(text: &str) -> Result<N4, String> {
        toml::from_str(&format!("listen = \"192.0.2.1:8805\"\n{text}")).map_err(|e| e.message().to_owned())
    }

    fn lets(n4: &N4, address: &str) -> bool {
        let address = address.parse().unwrap();
        allowed(n4).peers.iter().any(|peers| peers.contains(address))
    }

    #[test]
    fn peers_are_addresses_networks_and_lists_of_one_smf() {
        let n4 = n4("peers = [\"10.0.0.4\", \"10.1.2.3/16\", [\"10.2.0.1\", \"2001:db8::/64\"]]").unwrap();
        for (address, is_peer) in
            [("10.0.0.4", true), ("10.0.0.5", false), ("10.1.255.1", true), ("10.2.0.1", true), ("2001:db8::9", true), ("192.0.2.1", false)]
        {
            assert_eq!(lets(&n4, address), is_peer, "{address}");
        }
        let together: Vec<bool> = allowed(&n4).peers.iter().map(|peers| peers.together).collect();
        assert_eq!(together, [false, false, true]);
        assert_eq!(allowed(&n4).warning, None);
    }

    #[test]
    fn what_is_no_peer_is_named() {
        for (text, message) in [
            ("peers = [\"10.0.0.4/33\"]", "expected an address or a network, such as"),
            ("peers = [\"smf.example\"]", "expected an address or a network"),
            ("sd_reversed = [\"open5gs\"]", "expected an address or a network"),
            ("peers = [[]]", "the list is empty"),
            ("peers = [4]", "an address, a network, or a list"),
            ("peers = [[[\"10.0.0.4\"]]]", "expected a string"),
        ] {
            let error = n4(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn without_peers_this_host_alone_speaks_on_loopback_and_the_operator_is_told_elsewhere() {
        let mut here = n4("").unwrap();
        let warning = allowed(&here).warning.unwrap();
        assert!(warning.contains("n4.peers is not set") && warning.contains("192.0.2.1/32"), "{warning}");
        assert!(lets(&here, "192.0.2.1") && !lets(&here, "192.0.2.2"));
        here.listen = "127.0.0.7:8805".parse().unwrap();
        assert!(lets(&here, "127.0.0.4") && !lets(&here, "10.0.0.4") && allowed(&here).warning.is_none());
        here.listen = "[::1]:8805".parse().unwrap();
        assert!(lets(&here, "::1") && !lets(&here, "2001:db8::1"));
    }
}
