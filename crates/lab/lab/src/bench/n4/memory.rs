//! `bench n4 --memory`: what do a message's reading, its decision and the change of the tables cost, without sockets, threads and workers? It is what an agent
//! could do at most. Deterministic but for the clock: under Valgrind it counts instructions by function.

use super::{Args, NODE, establishment, modification};
use crate::bench::contestant::load_x86;
use crate::bench::sessions;
use base::{BufferFate, PortId};
use cli::failure::Failure;
use pfcp::codec::{self, Cause, Group, Ie, Message, MessageType, NodeId, find};
use pfcp::node::Node;
use program::{ApplyError, Batch, CounterId};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use target_api::{Count, Target};
use target_x86::X86;
use upf::plane::{DataPlane, Plane, SessionInfo};

/// The x86 target alone.
struct Alone(X86);

impl DataPlane for Alone {
    fn apply(&mut self, _: &SessionInfo, batch: &Batch, _: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.0.apply(batch)
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> Count {
        self.0.counter(counter, cell)
    }

    fn transmit(&mut self, _: PortId, _: Vec<u8>) {}
}

/// A node and its user plane, and what it was sent.
struct Bench {
    node: Node,
    plane: Plane<Alone>,
    smf: SocketAddr,
    sequence: u32,
    seids: Vec<u64>,
}

pub(super) fn memory(args: &Args, machine: Value, levels: &[u32], sample: u32) -> Result<Value, Failure> {
    let common = &args.common;
    let failed = |e: &dyn std::fmt::Display| Failure::Failed(e.to_string());
    println!("bench n4 --memory: {sample} messages at a time; messages a second of one core, without sockets");
    let most = levels.iter().max().copied().unwrap_or(0);
    let ir = crate::bench::upf::compile(most + sample)?;
    let x86 = load_x86(&ir)?;
    let mut plane = Plane::new(&sessions::network(), &ir.program, Alone(x86)).map_err(|e| failed(&e))?;
    let initial = plane.initial_batch().clone();
    plane.data_mut().0.apply(&initial).map_err(|e| failed(&e))?;
    let node = Node::new(super::node_config(most + sample)).map_err(|e| failed(&e))?;
    let mut bench = Bench { node, plane, smf: SocketAddr::new(NODE.into(), 9), sequence: 0, seids: Vec::new() };
    let setup = vec![Ie::NodeId(NodeId::Ipv4(NODE)), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![0])];
    bench.run(vec![Message::node(MessageType::AssociationSetupRequest, 0, setup)])?;
    println!("  {:>10} {:>13} {:>13} {:>13}", "sessions", "established/s", "modified/s", "deleted/s");
    let (mut rows, mut there) = (Vec::new(), 0);
    for &level in levels {
        bench.establish(there, level)?;
        there = there.max(level);
        let rounds = common.size(5, 1);
        let mut rates = [Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..rounds {
            let sample = f64::from(sample);
            rates[0].push(sample / bench.establish(level, level + sample as u32)?.as_secs_f64());
            rates[1].push(sample / bench.ask(MessageType::SessionModificationRequest, level, modification)?.as_secs_f64());
            rates[2].push(sample / bench.ask(MessageType::SessionDeletionRequest, level, |_| Vec::new())?.as_secs_f64());
        }
        let [established, modified, deleted] = rates.map(super::median);
        println!("  {level:>10} {established:>13.0} {modified:>13.0} {deleted:>13.0}");
        rows.push(json!({
            "sessions": level, "verified": 3 * rounds * u64::from(sample), "established_per_s": established, "modified_per_s": modified, "deleted_per_s": deleted,
        }));
    }
    let figures = json!({ "bench": "n4-memory", "machine": machine, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

impl Bench {
    fn establish(&mut self, from: u32, to: u32) -> Result<Duration, Failure> {
        self.seids.truncate(from as usize);
        let requests = (from..to).map(|n| Message::session(MessageType::SessionEstablishmentRequest, 0, 0, establishment(n))).collect();
        let (answers, took) = self.run(requests)?;
        self.seids.extend(answers.iter().map(|answer| find!(answer.ies, FSeid).map_or(0, |f_seid| f_seid.seid)));
        Ok(took)
    }

    /// Of the sessions from number `from` on.
    fn ask(&mut self, kind: MessageType, from: u32, ies: fn(u32) -> Group) -> Result<Duration, Failure> {
        let of = self.seids.iter().enumerate().skip(from as usize);
        let requests = of.map(|(n, seid)| Message::session(kind, *seid, 0, ies(n as u32))).collect();
        self.run(requests).map(|(_, took)| took)
    }

    /// The answers, all of which accept, and how long they took.
    fn run(&mut self, requests: Vec<Message>) -> Result<(Vec<Message>, Duration), Failure> {
        let failed = |e: &dyn std::fmt::Debug| Failure::Failed(format!("{e:?}"));
        let mut datagrams = Vec::with_capacity(requests.len());
        for mut request in requests {
            self.sequence = (self.sequence + 1) & 0xff_ffff;
            request.sequence = self.sequence;
            datagrams.push(request.encode().map_err(|e| failed(&e))?);
        }
        let mut answers = Vec::with_capacity(datagrams.len());
        let began = Instant::now();
        for datagram in &datagrams {
            // Answers that are kept do not expire.
            self.node.receive(self.smf, datagram, Duration::ZERO, &mut self.plane);
            answers.extend(std::iter::from_fn(|| self.node.poll_transmit()).map(|(_, octets)| octets));
        }
        let took = began.elapsed();
        if answers.len() != datagrams.len() {
            return Err(Failure::Failed(format!("{} answers to {} requests", answers.len(), datagrams.len())));
        }
        let answers: Vec<Message> = answers.iter().map(|octets| codec::decode(octets)).collect::<Result<_, _>>().map_err(|e| failed(&e))?;
        match answers.iter().find(|answer| answer.cause() != Some(Cause::REQUEST_ACCEPTED)) {
            Some(refused) => Err(failed(refused)),
            None => Ok((answers, took)),
        }
    }
}
