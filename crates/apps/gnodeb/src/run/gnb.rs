//! A gNodeB between N3, F1-U and radio.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use ciphering::Engine;

use super::control::Control;
use super::pipeline::OverPipeline;
use super::{Clock, MAX_DATAGRAM, RunError, open, receive, send, wait};
use crate::config::{self, Datapath, Gnb, GnbTables};
use crate::counts::Report;
use crate::node::{Node, Output};
use crate::pipeline::Build;

/// A gNodeB with its sockets.
pub enum RunningGnb {
    /// Of the entities.
    Entities(Box<OverEntities>),
    /// Of the program.
    P4(Box<OverPipeline>),
}

impl RunningGnb {
    /// Opens its sockets. `build` says how the program is compiled, if it is one.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn start(tables: GnbTables, config: Gnb, build: Build) -> Result<RunningGnb, RunError> {
        Ok(match config.datapath {
            Datapath::Entities => RunningGnb::Entities(Box::new(OverEntities::start(tables, config, build)?)),
            Datapath::P4 => RunningGnb::P4(Box::new(OverPipeline::start(tables, config, build)?)),
        })
    }

    /// Carries packets while `goes_on` says so; what was counted.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn run(self, goes_on: &mut dyn FnMut() -> bool) -> Result<Report, RunError> {
        match self {
            RunningGnb::Entities(running) => running.run(goes_on),
            RunningGnb::P4(running) => running.run(goes_on),
        }
    }
}

/// A gNodeB of the entities with its sockets: one thread.
pub struct OverEntities {
    node: Node,
    n3: Option<UdpSocket>,
    f1u: Option<UdpSocket>,
    radio: Option<UdpSocket>,
    control: Control,
    unsent: u64,
}

impl OverEntities {
    fn start(tables: GnbTables, config: Gnb, build: Build) -> Result<OverEntities, RunError> {
        let gtpu = |what, address| open(what, SocketAddr::V4(config::gtpu(address)));
        Ok(OverEntities {
            n3: config.n3.map(|address| gtpu("n3", address)).transpose()?,
            f1u: config.f1u.map(|(address, _)| gtpu("f1u.address", address)).transpose()?,
            radio: config.radio.map(|radio| open("radio.address", radio.address)).transpose()?,
            node: Node::new(&config, Engine::new(build.ciphers)?),
            control: Control::start(tables, config)?,
            unsent: 0,
        })
    }

    fn run(mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<Report, RunError> {
        let clock = Clock::start();
        let (mut buffer, mut out) = (vec![0; MAX_DATAGRAM], Output::default());
        while goes_on() {
            let (node, now) = (&mut self.node, clock.now_ns());
            self.control.serve(&mut |action| node.act(action, now, &mut out));
            let sockets: Vec<_> = [&self.n3, &self.f1u, &self.radio].into_iter().flatten().map(AsFd::as_fd).collect();
            wait(&sockets, self.node.next_deadline(now), now)?;
            let (node, now) = (&mut self.node, clock.now_ns());
            if let Some(socket) = &self.n3 {
                receive(socket, &mut buffer, |datagram, from| {
                    if let SocketAddr::V4(from) = from {
                        node.n3(datagram, from, now);
                    }
                });
            }
            if let Some(socket) = &self.f1u {
                receive(socket, &mut buffer, |datagram, from| {
                    if let SocketAddr::V4(from) = from {
                        node.f1u(datagram, from, now, &mut out);
                    }
                });
            }
            if let Some(socket) = &self.radio {
                receive(socket, &mut buffer, |datagram, from| node.radio(datagram, from, now));
            }
            node.run(now, &mut out);
            for (socket, datagrams) in [(&self.n3, &mut out.n3), (&self.f1u, &mut out.f1u)] {
                for (to, datagram) in datagrams.drain(..) {
                    socket.iter().for_each(|socket| send(socket, &datagram, SocketAddr::V4(to), &mut self.unsent));
                }
            }
            for (to, datagram) in out.radio.drain(..) {
                self.radio.iter().for_each(|socket| send(socket, &datagram, to, &mut self.unsent));
            }
        }
        let mut report = self.node.report();
        if self.unsent > 0 {
            report.drops.insert("socket.unsent".to_owned(), self.unsent);
        }
        Ok(report)
    }
}
