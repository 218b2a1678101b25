//! Devices that a configuration may name: PCI addresses, and DPDK's virtual devices from a list.
//!
//! DPDK parses these texts with code that trusts them, so they become a checked type here: nothing in them can be read as an option of
//! DPDK's, a second device, or a driver that is not on the list.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// Virtual devices: driver, and what it is for.
const VIRTUAL: &[(&str, &str)] = &[
    ("net_af_packet", "raw socket on a kernel interface: `iface=eth0`"),
    ("net_af_xdp", "AF_XDP socket on a kernel interface: `iface=eth0`"),
    ("net_memif", "shared memory to another process: `role=server,socket=/run/n3.sock`"),
    ("net_null", "receives frames of zeros, forgets what is sent"),
    ("net_pcap", "capture files: `rx_pcap=in.pcap,tx_pcap=out.pcap`"),
    ("net_ring", "gives back what is sent"),
    ("net_tap", "makes a kernel interface: `iface=tap0`"),
];
/// Longest text, in bytes. DPDK keeps names in 64 and sockets' paths in 108.
const LONGEST: usize = 512;
const LONGEST_NAME: usize = 32;

/// A device that DPDK may open.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Device {
    text: String,
    name_len: usize,
    pci: bool,
}

impl Device {
    /// Name by which DPDK knows it: PCI address, or driver and number.
    pub fn name(&self) -> &str {
        &self.text[..self.name_len]
    }

    /// Name and arguments, as DPDK reads them.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is hardware on the PCI bus.
    pub fn is_pci(&self) -> bool {
        self.pci
    }

    /// Value of an argument.
    pub fn argument(&self, key: &str) -> Option<&str> {
        self.text[self.name_len..].split(',').filter_map(|pair| pair.split_once('=')).find(|(k, _)| *k == key).map(|(_, value)| value)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Device, Error> {
        let (name, arguments) = match text.split_once(',') {
            Some((name, arguments)) => (name, Some(arguments)),
            None => (text, None),
        };
        // What an operator mistyped is shown to him, but not all of it.
        let wrong = |why: &str| Err(Error::Config(format!("device `{}`: {why}", text.chars().take(80).collect::<String>().escape_debug())));
        if text.len() > LONGEST {
            return wrong(&format!("longer than {LONGEST} bytes"));
        }
        let (name, pci) = match pci_address(name) {
            Some(address) => (address, true),
            None if is_virtual(name) => (name.to_owned(), false),
            None => {
                let drivers: Vec<&str> = VIRTUAL.iter().map(|(driver, _)| *driver).collect();
                return wrong(&format!(
                    "neither a PCI address, such as 0000:01:00.0, nor a virtual device of one of the drivers {}, such as net_ring0",
                    drivers.join(", ")
                ));
            }
        };
        let mut keys = Vec::new();
        for pair in arguments.iter().flat_map(|arguments| arguments.split(',')) {
            let Some((key, value)) = pair.split_once('=') else {
                return wrong("arguments are `key=value`, with commas between");
            };
            let key_fits = !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b));
            let value_fits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./:@+".contains(&b));
            if !key_fits || key.starts_with('-') || !value_fits {
                return wrong("an argument has a key of small letters and digits, and a value of letters, digits and _-./:@+");
            }
            if keys.contains(&key) {
                return wrong(&format!("argument `{key}` is there twice"));
            }
            keys.push(key);
        }
        let device =
            Device { text: arguments.map_or_else(|| name.clone(), |arguments| format!("{name},{arguments}")), name_len: name.len(), pci };
        // Its server of DPDK 22.11 touches memory that has gone when the client leaves first.
        if device.name().starts_with("net_memif") && device.argument("zero-copy").is_some_and(|value| value != "no") {
            return wrong("zero-copy of memif crashes when the other process leaves: leave it out");
        }
        if (device.name().starts_with("net_af_packet") || device.name().starts_with("net_af_xdp")) && device.argument("iface").is_none() {
            return wrong("needs `iface=` with a kernel interface");
        }
        if device.name().starts_with("net_pcap") && !keys.iter().any(|key| key.contains("pcap") || key.contains("iface")) {
            return wrong("needs `rx_pcap=` or `tx_pcap=` with a capture file, or `iface=` with a kernel interface");
        }
        Ok(device)
    }
}

/// `[dddd:]bb:dd.f` in its long form.
fn pci_address(text: &str) -> Option<String> {
    let hex = |text: &str, len: usize| text.len() == len && text.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<&str> = text.split(':').collect();
    let (domain, bus, rest) = match parts[..] {
        [bus, rest] => ("0000", bus, rest),
        [domain, bus, rest] => (domain, bus, rest),
        _ => return None,
    };
    let (device, function) = rest.split_once('.')?;
    let fits =
        hex(domain, 4) && hex(bus, 2) && hex(device, 2) && function.len() == 1 && function.bytes().all(|b| (b'0'..=b'7').contains(&b));
    fits.then(|| format!("{domain}:{bus}:{device}.{function}").to_ascii_lowercase())
}

/// One of the drivers' names and what tells its devices apart.
fn is_virtual(name: &str) -> bool {
    let suffix = VIRTUAL.iter().filter_map(|(driver, _)| name.strip_prefix(driver)).next();
    name.len() <= LONGEST_NAME && suffix.is_some_and(|s| s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn devices_are_pci_addresses_or_drivers_of_the_list() {
        for (text, name, pci) in [
            ("0000:01:00.0", "0000:01:00.0", true),
            ("01:0A.7", "0000:01:0a.7", true),
            ("0000:01:00.0,rx_vec=1", "0000:01:00.0", true),
            ("net_ring0", "net_ring0", false),
            ("net_null", "net_null", false),
            ("net_memif3,role=server,socket=/run/n3.sock,socket-abstract=no", "net_memif3", false),
            ("net_af_packet0,iface=eth0.5", "net_af_packet0", false),
        ] {
            let device: Device = text.parse().unwrap();
            assert_eq!((device.name(), device.is_pci()), (name, pci));
        }
        let device: Device = "net_memif0,role=client,socket=/tmp/a".parse().unwrap();
        assert_eq!((device.argument("role"), device.argument("socket"), device.argument("id")), (Some("client"), Some("/tmp/a"), None));
    }

    #[test]
    fn what_dpdk_could_misread_is_refused() {
        let long = format!("net_ring0,{}", "a=b,".repeat(200));
        for (text, why) in [
            ("", "neither"),
            ("--help", "neither"),
            ("-a", "neither"),
            ("net_ring0 --vdev=x", "neither"),
            ("net_bonding0,slave=0", "neither"),
            ("net_ring0\0", "neither"),
            ("net_ring0,", "key=value"),
            ("net_ring0,a", "key=value"),
            ("net_ring0,-a=b", "an argument has"),
            ("net_ring0,a=b c", "an argument has"),
            ("net_ring0,a=[x]", "an argument has"),
            ("net_ring0,a=\n", "an argument has"),
            ("net_null0,size=1,size=2", "twice"),
            ("net_memif0,zero-copy=yes", "zero-copy"),
            ("net_af_xdp0", "iface"),
            ("net_pcap0", "rx_pcap"),
            ("0000:01:00.8", "neither"),
            ("0000:01:00", "neither"),
            (long.as_str(), "longer than"),
        ] {
            let error = text.parse::<Device>().unwrap_err().to_string();
            assert!(error.contains(why) && error.len() < 400, "{text}: {error}");
            assert!(!error.contains('\n') && !error.contains('\0'), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_text_is_one_word_without_options(text in "(net_ring0|net_null|0000:01:00\\.0|.{0,8})(,[a-z-]{0,4}=?.{0,6}){0,3}") {
            if let Ok(device) = text.parse::<Device>() {
                prop_assert!(device.text().bytes().all(|b| b.is_ascii_graphic()));
                prop_assert!(!device.text().starts_with('-'));
                prop_assert!(device.text().parse::<Device>().unwrap() == device);
            }
        }
    }
}
