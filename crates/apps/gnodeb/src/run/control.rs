//! The control socket of a running gNodeB: its threads take requests, the gNodeB's own loop answers them between packets.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use daemon::control_socket::Server;

use super::RunError;
use crate::config::{Gnb, GnbTables, GnbUeTable};
use crate::control::{Bearers, Change, MAX_REQUEST, Reply, Request};

/// How long a request may wait for the loop.
const PATIENCE: Duration = Duration::from_secs(60);
/// Requests that wait: a connection has one.
const WAITING: usize = 8;

struct Asked {
    request: Request<GnbUeTable>,
    reply: Sender<Reply<GnbUeTable>>,
}

/// What UEs there are, and who asks for others.
pub(super) struct Control {
    bearers: Bearers,
    /// The server ends with us.
    socket: Option<(Server, Receiver<Asked>)>,
}

impl Control {
    /// Listens, if the configuration says where.
    pub(super) fn start(tables: GnbTables, config: Gnb) -> Result<Control, RunError> {
        let socket = config.control.as_ref().map(|path| {
            let (sender, asked) = bounded(WAITING);
            let server = Server::start(path, MAX_REQUEST, move |request, _| ask(&sender, request))?;
            Ok::<_, daemon::failure::Failure>((server, asked))
        });
        let socket = socket.transpose().map_err(|failure| RunError::Control(failure.to_string()))?;
        Ok(Control { bearers: Bearers::new(tables, config), socket })
    }

    /// Answers what was asked; `apply` does it.
    pub(super) fn serve(&mut self, mut apply: impl FnMut(&Change) -> Result<(), String>) {
        let Some((_, asked)) = &self.socket else { return };
        for Asked { request, reply } in asked.try_iter() {
            // Nobody may wait for it any more.
            let _ = reply.send(self.bearers.ask(request, &mut apply));
        }
    }
}

fn ask(loop_of: &Sender<Asked>, request: Request<GnbUeTable>) -> Reply<GnbUeTable> {
    let (reply, answer) = bounded(1);
    let ended = || Reply::Error { message: "the gNodeB is ending, or too busy: nothing may have changed; list what is there".into() };
    if loop_of.send_timeout(Asked { request, reply }, PATIENCE).is_err() {
        return ended();
    }
    answer.recv_timeout(PATIENCE).unwrap_or_else(|_| ended())
}
