//! `[host]`: the UPF as a host on its networks: limits of what anybody can make it do, and what it asks itself.

use serde::Deserialize;

/// `[host]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Host {
    /// Answers of each kind (ARP and neighbour discovery, ICMP echo, GTP-U echo) in a second, for each port.
    pub answers_per_s: u32,
    /// Error Indications and notifications of GTP-U sent in a second, and as many taken, for each port.
    pub error_indications_per_s: u32,
    /// ICMP errors to senders of what is not sent on, in a second, for each port; a tenth of them to one sender. 0: none.
    pub icmp_errors_per_s: u32,
    /// Hosts on our networks that are asked for the first time in a second.
    pub neighbours_per_s: u32,
    /// Seconds between echo requests to each GTP-U peer of sessions; 0: none.
    pub gtpu_echo_s: u32,
}

impl Default for Host {
    fn default() -> Host {
        let upf::config::HostLimits { answers_per_s, error_indications_per_s, icmp_errors_per_s, neighbours_per_s, gtpu_echo_s } =
            Default::default();
        Host { answers_per_s, error_indications_per_s, icmp_errors_per_s, neighbours_per_s, gtpu_echo_s }
    }
}
