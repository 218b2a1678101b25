//! Procedures of TS 23.502 as PFCP and packets: what SMF, gNodeBs and data network send a UPF, and what must come of it.
//!
//! Each scenario is a file, to be read from top to bottom beside its clause. It runs against any UPF through [`Links`]: sockets
//! ([`Sockets`]) to one at an address, or a UPF in the same process in tests. A [`Shape`] says whose manner of asking it has.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};

use crate::plan::Shape;

mod associations;
mod call;
mod dedicated_flow;
mod flows;
mod i_upf;
mod idle;
mod lab;
mod links;
mod mtu;
mod n2_handover;
mod registration;
mod smf_restart;
mod ulcl;
mod upf_restart;
mod urr_dissociated;
mod xn_handover;
mod zero_quota;

pub use lab::{Lab, Session};
pub use links::{Links, Patience, Sockets};
pub use mtu::{Parts, fragments, what_fits};

/// A procedure to try.
#[derive(Clone, Copy)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it does, in a line.
    pub about: &'static str,
    run: fn(&mut Lab<'_>) -> Result<(), Stop>,
}

/// All of them.
pub const ALL: [Scenario; 15] = [
    Scenario { name: "registration", about: "PDU session set up, used and released (TS 23.502 §4.3.2, §4.3.4)", run: registration::run },
    Scenario { name: "call", about: "a second QoS flow set up for a call and torn down (§4.3.3)", run: call::run },
    Scenario { name: "dedicated-flow", about: "a QoS flow whose PDRs have filters and QFI alone (§4.3.3)", run: dedicated_flow::run },
    Scenario { name: "idle", about: "idle, paging and service request, two slices (§4.2.6, §4.2.3)", run: idle::run },
    Scenario { name: "xn-handover", about: "path switch of two QoS flows, an end marker each (§4.9.1.2)", run: xn_handover::run },
    Scenario { name: "n2-handover", about: "handover with indirect forwarding and end markers (§4.9.1.3)", run: n2_handover::run },
    Scenario { name: "removal-twice", about: "the same, and the forwarding tunnel is removed twice at once", run: n2_handover::run_twice },
    Scenario {
        name: "zero-quota",
        about: "a quota of nothing stops all, and is reported with its first packet (TS 29.244 §5.2.2.2)",
        run: zero_quota::run,
    },
    Scenario {
        name: "urr-dissociated",
        about: "a URR that no PDR names any more is reported (TS 29.244 §8.2.41)",
        run: urr_dissociated::run,
    },
    Scenario { name: "i-upf", about: "N9 both ways: the session container goes on as it came (TS 29.281 §5.2.1)", run: i_upf::run },
    Scenario { name: "ulcl", about: "uplink classifier with N9 inserted and removed (§4.3.5.4, §4.3.5.5)", run: ulcl::run },
    Scenario { name: "mtu", about: "full-size packets over an N3 of 1500 bytes: none vanishes (RFC 1191)", run: mtu::run },
    Scenario { name: "smf-restart", about: "the SMF restarts: its sessions end, new ones begin (TS 23.527 §4.3)", run: smf_restart::run },
    Scenario { name: "upf-restart", about: "the UPF restarts: sessions are established again (TS 23.527 §4.3)", run: upf_restart::run },
    Scenario {
        name: "associations",
        about: "many SMFs; one's release leaves the others' sessions (TS 29.244 §6.2.8)",
        run: associations::run,
    },
];

/// Why a scenario did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Something else came than was expected: the UPF's fault.
    #[error("{0}")]
    Failed(String),
    /// It cannot run so: an address is missing, a socket fails.
    #[error("{0}")]
    Unusable(String),
}

/// Who is where.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// The SMF's N4 address, in F-SEIDs.
    pub smf: IpAddr,
    /// The UPF's N3 address; [`Shape::Free5gc`]'s SMF chooses TEIDs there. With the other, tunnels are learned.
    pub upf_n3: Ipv4Addr,
    /// The UPF's N9 address, for `i-upf` and `ulcl` in [`Shape::Free5gc`].
    pub upf_n9: Ipv4Addr,
    /// Two gNodeBs.
    pub gnbs: [Ipv4Addr; 2],
    /// The other UPF behind N9, for `i-upf` and `ulcl`.
    pub psa: Option<Ipv4Addr>,
    /// Network instance of N9.
    pub n9_instance: String,
    /// A host of the data network.
    pub dn: Ipv4Addr,
    /// Its UDP ports: of the default QoS flow, and of the call.
    pub dn_ports: [u16; 2],
    /// The first UE; others have the addresses after it.
    pub ue: Ipv4Addr,
    /// DNN and network instance of N6; SMFs name it on the access side too.
    pub dnn: String,
}

/// The scenario of a name.
pub fn named(name: &str) -> Option<Scenario> {
    ALL.into_iter().find(|scenario| scenario.name == name)
}

impl Scenario {
    /// Runs it; each step goes to `out`, what was expected and what came.
    pub fn run(&self, shape: Shape, addresses: &Addresses, links: &mut dyn Links, out: &mut dyn Write) -> Result<(), Stop> {
        let mut lab = Lab::new(shape, addresses.clone(), links, out);
        (self.run)(&mut lab)
    }
}
