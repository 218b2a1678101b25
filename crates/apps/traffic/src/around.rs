//! The surroundings of a UPF with two ports, as configuration and as frames. For our own demo and tests.

use crate::expect::Upf;
use std::net::{Ipv4Addr, SocketAddr};

/// One gNodeB behind N3, one router behind N6.
pub const AROUND: Upf = Upf {
    n3_addr: Ipv4Addr::new(10, 3, 0, 1),
    n3_mac: [2, 0, 0, 0, 3, 1],
    gnb_mac: [2, 0, 0, 0, 3, 2],
    n6_mac: [2, 0, 0, 0, 6, 1],
    dn_mac: [2, 0, 0, 0, 6, 2],
};

/// The configuration of `splitplane run` that goes with it, on interfaces `n3` and `n6`, whose neighbours are given. It has no fast
/// target; tables may be appended.
pub fn config(n4: SocketAddr) -> String {
    include_str!("around.toml").replace("127.0.0.1:8805", &n4.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_and_frames_have_the_same_addresses() {
        let text = config("10.4.0.1:8805".parse().unwrap());
        let mac = |m: [u8; 6]| m.map(|b| format!("{b:02x}")).join(":");
        let expected = [
            "listen = \"10.4.0.1:8805\"".to_owned(),
            format!("gtpu = [\"{}\"]", AROUND.n3_addr),
            format!("port = \"n3\"\nip = \"10.3.0.2\"\nmac = \"{}\"", mac(AROUND.gnb_mac)),
            format!("port = \"n6\"\nip = \"10.6.0.2\"\nmac = \"{}\"", mac(AROUND.dn_mac)),
        ];
        for line in expected {
            assert!(text.contains(&line), "{line}");
        }
    }
}
