//! Values written as text: networks and MAC addresses.

use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An address and a prefix length: `10.0.0.1/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Prefix {
    /// Address, host bits as written.
    pub address: IpAddr,
    /// Length in bits.
    pub len: u8,
}

impl TryFrom<String> for Prefix {
    type Error = String;

    fn try_from(text: String) -> Result<Prefix, String> {
        let wrong = || "expected an address with a prefix length, such as 10.0.0.0/8 or 2001:db8::/32".to_owned();
        let (address, len) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let len: u8 = len.parse().map_err(|_| wrong())?;
        if len > if address.is_ipv4() { 32 } else { 128 } {
            return Err(wrong());
        }
        Ok(Prefix { address, len })
    }
}

impl Prefix {
    /// The network: host bits cleared.
    pub fn network(self) -> (IpAddr, u8) {
        let address = match self.address {
            IpAddr::V4(a) => IpAddr::V4(Ipv4Addr::from(u32::from(a) & u32::MAX.checked_shl(32 - u32::from(self.len)).unwrap_or(0))),
            IpAddr::V6(a) => IpAddr::V6(Ipv6Addr::from(u128::from(a) & u128::MAX.checked_shl(128 - u32::from(self.len)).unwrap_or(0))),
        };
        (address, self.len)
    }

    /// Whether an address is in both networks.
    pub fn overlaps(self, other: Prefix) -> bool {
        let len = self.len.min(other.len);
        Prefix { len, ..self }.network() == Prefix { len, ..other }.network()
    }
}

/// A MAC address: `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Mac, String> {
        let wrong = || "expected a MAC address, such as 02:00:00:00:00:01".to_owned();
        let mut mac = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut mac {
            *byte = parts
                .next()
                .filter(|p| p.len() == 2 && p.bytes().all(|digit| digit.is_ascii_hexdigit()))
                .and_then(|p| u8::from_str_radix(p, 16).ok())
                .ok_or_else(wrong)?;
        }
        if parts.next().is_some() { Err(wrong()) } else { Ok(Mac(mac)) }
    }
}
