//! Picking the fastest port that an interface offers.

use crate::{AfPacket, AfXdp, Port, PortError, af_packet, af_xdp};

/// What [`open_best`] opened.
pub struct Opened {
    /// The port.
    pub port: Box<dyn Port>,
    /// Why it is not AF_XDP, if it is not.
    pub fell_back: Option<String>,
}

/// Opens `interface` with AF_XDP in native mode, or else with AF_PACKET, as the port that the configuration calls `label`.
///
/// # Errors
/// [`PortError::Config`] if there is no such interface or it is down; [`PortError::Permission`] if not even CAP_NET_RAW is there.
pub fn open_best(label: &str, interface: &str) -> Result<Opened, PortError> {
    // What neither kind can mend is reported once, as itself.
    let index = crate::Interface::find(label, interface)?.require_up()?.index;
    let reason = match AfXdp::open(label, interface, af_xdp::Options::default()) {
        Ok(port) => return Ok(Opened { port: Box::new(port), fell_back: None }),
        Err(e) => match &e {
            PortError::Io { source, .. } => format!("{e}: {source}"),
            _ => e.to_string(),
        },
    };
    tracing::info!(interface, index, reason, "no af_xdp: using af_packet");
    let port = AfPacket::open(label, interface, af_packet::Options::default())?;
    Ok(Opened { port: Box::new(port), fell_back: Some(reason) })
}
