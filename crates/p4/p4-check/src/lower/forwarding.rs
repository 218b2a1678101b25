//! Where does a program for PNA send a packet? Its forwarding functions set these variables.

use p4_ir::VarId;
use p4_syntax::Span;

/// What the forwarding functions set.
pub(crate) struct Pna {
    pub ingress_port: VarId,
    pub timestamp: VarId,
    /// Where the packet goes.
    pub port: VarId,
    /// The reason for which it is dropped, if the program has no field for one.
    pub reason: Option<VarId>,
    pub pass: VarId,
    pub recirculate: VarId,
    pub mirror: VarId,
    pub session: VarId,
    /// In the main control.
    pub in_main: bool,
    /// The mirror slot, and where it is used first.
    pub slot: Option<(u128, Span)>,
    /// Where a packet is recirculated first.
    pub recirculated: Option<Span>,
    pub host_ports: Vec<u128>,
}
