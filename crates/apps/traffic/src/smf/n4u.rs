//! N4-U: the SMF's GTP-U socket, where router solicitations of UEs arrive and router advertisements leave
//! (TS 29.244 §5.3.2, TS 23.501 §5.8.2.2.3).

use std::io::ErrorKind;
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::Duration;

use wire::gtpu::{self, Message};

use super::{Event, Shared, SmfError, lock};
use crate::record::Tunnel;
use crate::router::{advertisement, solicitation};

/// The socket and its thread. Dropping it ends the thread.
pub(super) struct N4u {
    local: SocketAddrV4,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl N4u {
    pub(crate) fn open(address: SocketAddrV4, shared: Arc<Shared>, events: SyncSender<Event>) -> Result<N4u, SmfError> {
        let what = || format!("N4-U socket {address}");
        if address.ip().is_unspecified() {
            return Err(SmfError::Plan(format!("{}: must be one address, the UPF is told it", what())));
        }
        let socket = UdpSocket::bind(address).map_err(|e| SmfError::io(what(), e))?;
        socket.set_read_timeout(Some(Duration::from_millis(100))).map_err(|e| SmfError::io(what(), e))?;
        let local = match socket.local_addr().map_err(|e| SmfError::io(what(), e))? {
            SocketAddr::V4(local) => local,
            SocketAddr::V6(_) => return Err(SmfError::Plan(format!("{}: is not IPv4", what()))),
        };
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = stopping.clone();
        let run = move || {
            let mut buffer = vec![0; 65_536];
            while !stop.load(Ordering::Relaxed) {
                match socket.recv_from(&mut buffer) {
                    Ok((length, from)) => {
                        if let Some((to, answer)) = answer(&buffer[..length], from, &shared, &events)
                            && let Err(error) = socket.send_to(&answer, to)
                        {
                            tracing::debug!(%error, %to, "N4-U answer not sent");
                        }
                    }
                    Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {}
                    Err(error) => {
                        tracing::debug!(%error, "N4-U socket");
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("smf-n4u".into()).spawn(run);
        let thread = thread.map_err(|e| SmfError::io("starting a thread", e))?;
        Ok(N4u { local, stopping, thread: Some(thread) })
    }

    pub(crate) fn local(&self) -> SocketAddrV4 {
        self.local
    }
}

impl Drop for N4u {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the N4-U thread has panicked");
        }
    }
}

/// The answer to a datagram, if it has one: echo requests and router solicitations do.
pub(super) fn answer(octets: &[u8], from: SocketAddr, shared: &Shared, events: &SyncSender<Event>) -> Option<(SocketAddr, Vec<u8>)> {
    let packet = gtpu::Packet::new_checked(octets).ok()?;
    let repr = gtpu::Repr::parse(&packet).ok()?;
    let mut out = Vec::new();
    match repr.message {
        Message::EchoRequest => {
            gtpu::Repr::new(0, repr.sequence, Message::EchoResponse).emit(&mut out);
            Some((from, out))
        }
        Message::GPdu { payload } => {
            let from_ue = solicitation(payload)?;
            let (seid, prefix, tunnel) = {
                let state = lock(&shared.state);
                let kept = state.sessions.get(state.by_n4u_teid.get(&repr.teid)?)?;
                (kept.up_seid, kept.ue_ipv6?, kept.from_cp?)
            };
            let Tunnel { addr, teid } = tunnel;
            gtpu::Repr::g_pdu(teid, None, &advertisement(prefix, from_ue)).emit(&mut out);
            shared.advertised.fetch_add(1, Ordering::Relaxed);
            let _ = events.try_send(Event::RouterSolicitation { seid });
            Some((SocketAddrV4::new(addr, gtpu::PORT).into(), out))
        }
        _ => None,
    }
}
