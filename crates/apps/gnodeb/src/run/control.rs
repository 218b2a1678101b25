//! The control socket of what runs: its threads take requests, the loop answers them between packets.

use std::path::Path;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use daemon::manage::socket::{Refused, Server};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::RunError;
use crate::config::{Gnb, GnbTables, GnbUeTable};
use crate::control::{Apply, Bearers, MAX_REQUEST, Reply, Request};

/// How long a request may wait for the loop.
const PATIENCE: Duration = Duration::from_secs(60);
/// Requests that wait: a connection has one.
const WAITING: usize = 8;

struct Asked<Q, R> {
    request: Q,
    reply: Sender<R>,
}

/// Who asks.
pub(super) struct Requests<Q, R> {
    /// It ends with us.
    _server: Server,
    asked: Receiver<Asked<Q, R>>,
}

impl<Q, R> Requests<Q, R>
where
    Q: DeserializeOwned + Send + 'static,
    R: Serialize + From<Refused> + Send + 'static,
{
    /// Listens, if the configuration says where.
    pub(super) fn start(path: Option<&Path>) -> Result<Option<Requests<Q, R>>, RunError> {
        let Some(path) = path else { return Ok(None) };
        let (sender, asked) = bounded(WAITING);
        let server = Server::start(path, MAX_REQUEST, move |request, _| ask(&sender, request));
        Ok(Some(Requests { _server: server.map_err(|failure| RunError::Control(failure.to_string()))?, asked }))
    }

    /// Answers what was asked.
    pub(super) fn serve(&self, mut answer: impl FnMut(Q) -> R) {
        for Asked { request, reply } in self.asked.try_iter() {
            // Nobody may wait for it any more.
            let _ = reply.send(answer(request));
        }
    }
}

fn ask<Q, R: From<Refused>>(loop_of: &Sender<Asked<Q, R>>, request: Q) -> R {
    let (reply, answer) = bounded(1);
    let ended = || Refused("it is ending, or too busy: nothing may have changed; list what is there".into()).into();
    if loop_of.send_timeout(Asked { request, reply }, PATIENCE).is_err() {
        return ended();
    }
    answer.recv_timeout(PATIENCE).unwrap_or_else(|_| ended())
}

/// What UEs a gNodeB has, and who asks for others.
pub(super) struct Control {
    bearers: Bearers,
    requests: Option<Requests<Request<GnbUeTable>, Reply<GnbUeTable>>>,
}

impl Control {
    /// Listens, if the configuration says where.
    pub(super) fn start(tables: GnbTables, config: Gnb) -> Result<Control, RunError> {
        let requests = Requests::start(config.control.as_deref())?;
        Ok(Control { bearers: Bearers::new(tables, config), requests })
    }

    /// Answers what was asked; `apply` does it.
    pub(super) fn serve(&mut self, apply: Apply<'_>) {
        let Control { bearers, requests } = self;
        if let Some(requests) = requests {
            requests.serve(|request| bearers.ask(request, apply));
        }
    }
}
