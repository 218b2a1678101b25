//! The Portable Switch Architecture (PSA 1.2 §6): a pass through the ingress pipe or through the egress pipe, and what comes between.
//!
//! - Each pipe parses bytes and deparses bytes. Nothing of a packet goes from one to the other but its bytes and the metadata of
//!   its path ([`p4_ir::Intrinsics::field_lists`]); the egress pipe is a pass of its own, also for the one packet that goes straight on.
//! - **Behind ingress**: clones of the packet as received, then drop, else resubmit, else the copies of a group, else one packet.
//! - **Behind egress**: clones of the packet as deparsed, then drop, else recirculate, else out.
//! - Ports from 0xfffffff0 on are the architecture's: recirculation, and the CPU's, to which a packet is punted. Others fit 16 bits; a
//!   packet to a wider one is dropped.
//!
//! Left out: `class_of_service` reaches egress but orders no queue; clone sessions do not truncate.

use super::replicate::From;
use super::{Halt, Run, Why};
use crate::trace::Tracer;
use base::{DropReason, PortId, Verdict, VerdictKind};
use p4_ir::{PipeId, Role, VarId};

/// `PSA_PacketPath_t`.
mod path {
    pub(super) const UNICAST: u32 = 1;
    pub(super) const MULTICAST: u32 = 2;
    pub(super) const CLONE_I2E: u32 = 3;
    pub(super) const CLONE_E2E: u32 = 4;
    pub(super) const RESUBMIT: u32 = 5;
    pub(super) const RECIRCULATE: u32 = 6;
}

const OWN_PORTS: u128 = 0xffff_fff0;
const RECIRCULATE: PortId = PortId(0xfffa);
const CPU: PortId = PortId(0xfffd);

/// A port as the program numbers it.
fn wide(port: PortId) -> u128 {
    if port == RECIRCULATE || port == CPU { 0xffff_0000 | u128::from(port.0) } else { port.0.into() }
}

/// The port that a program means, if there can be one.
fn narrow(number: u128) -> Option<PortId> {
    let port = PortId(number as u16);
    match number {
        0..0xfff0 => Some(port),
        OWN_PORTS.. if port == RECIRCULATE || port == CPU => Some(port),
        _ => None,
    }
}

impl<T: Tracer> Run<'_, '_, T> {
    fn var_of(&self, name: &str) -> Option<VarId> {
        self.ir.intrinsic.standard.get(name).copied()
    }

    fn get(&self, name: &str) -> u128 {
        self.standard(self.var_of(name))
    }

    fn set(&mut self, name: &str, value: u128) {
        self.set_standard(self.var_of(name), value);
    }

    /// From the ingress parser to the replication engine; `path` says how the packet came.
    pub(super) fn psa_ingress(&mut self, path: u32) -> Result<(Verdict, Why), Halt> {
        self.only_whole()?;
        let port = if path == path::RECIRCULATE { RECIRCULATE } else { self.input.port };
        for input in ["ingress_parser_input", "ingress_input"] {
            self.set(&format!("{input}.ingress_port"), wide(port));
            self.set(&format!("{input}.packet_path"), path.into());
        }
        self.set("ingress_input.ingress_timestamp", u128::from(self.input.now_ns / 1000));
        self.set("ingress_output.drop", 1);
        if !self.psa_pipe(0, "ingress_input.parser_error")? {
            return Ok((self.verdict(VerdictKind::Drop, Some(DropReason::NO_HEADROOM)), Why::NoRoom));
        }
        let class = self.var_of("egress_input.class_of_service").map(|v| (v, self.get("ingress_output.class_of_service")));
        let taken = |run: &Self, path: u32| {
            let mut keep = run.kept(Some(path as u8));
            keep.extend(class);
            keep
        };
        if self.get("ingress_output.clone") != 0 {
            let keep = taken(self, path::CLONE_I2E);
            for egress in self.mirrored(self.get("ingress_output.clone_session_id") as u32) {
                self.later(false, path::CLONE_I2E, From::Parser, self.input.bytes.to_vec(), keep.clone(), Some(egress));
            }
        }
        if self.get("ingress_output.drop") != 0 {
            return Ok((self.verdict(VerdictKind::Drop, None), Why::DropSet("ingress")));
        }
        if self.get("ingress_output.resubmit") != 0 {
            let keep = self.kept(Some(path::RESUBMIT as u8));
            self.later(self.main, path::RESUBMIT, From::Parser, self.input.bytes.to_vec(), keep, None);
            return Ok((Verdict::default(), Why::SentOn("resubmitted")));
        }
        let group = self.get("ingress_output.multicast_group");
        if group != 0 {
            let Ok(group) = u16::try_from(group) else {
                return Ok((self.verdict(VerdictKind::Drop, None), Why::EmptyGroup(u16::MAX)));
            };
            let replicas = self.state.groups.get(&group).cloned().unwrap_or_default();
            if replicas.is_empty() {
                return Ok((self.verdict(VerdictKind::Drop, None), Why::EmptyGroup(group)));
            }
            for (i, r) in replicas.iter().enumerate() {
                let (main, keep) = (self.main && i == 0, taken(self, path::MULTICAST));
                self.later(main, path::MULTICAST, From::Parser, self.p.out.clone(), keep, Some((r.port, r.rid)));
            }
            return Ok((Verdict::default(), Why::SentOn("multicast")));
        }
        let Some(port) = narrow(self.get("ingress_output.egress_port")) else {
            return Ok((self.verdict(VerdictKind::Drop, Some(DropReason::NO_PORT)), Why::NoPort));
        };
        let keep = taken(self, path::UNICAST);
        self.later(self.main, path::UNICAST, From::Parser, self.p.out.clone(), keep, Some((port, 0)));
        Ok((Verdict::default(), Why::SentOn("to egress")))
    }

    /// From the egress parser to the port.
    pub(super) fn psa_egress(&mut self, path: u32, port: PortId, instance: u16) -> Result<(Verdict, Why), Halt> {
        for input in ["egress_parser_input", "egress_input"] {
            self.set(&format!("{input}.egress_port"), wide(port));
            self.set(&format!("{input}.packet_path"), path.into());
        }
        self.set("egress_input.instance", instance.into());
        self.set("egress_input.egress_timestamp", u128::from(self.input.now_ns / 1000));
        self.set("egress_deparser_input.egress_port", wide(port));
        if !self.psa_pipe(1, "egress_input.parser_error")? {
            return Ok((self.verdict(VerdictKind::Drop, Some(DropReason::NO_HEADROOM)), Why::NoRoom));
        }
        if self.get("egress_output.clone") != 0 {
            let mut keep = self.kept(Some(path::CLONE_E2E as u8));
            keep.extend(self.var_of("egress_input.class_of_service").map(|v| (v, self.p.var(v))));
            for egress in self.mirrored(self.get("egress_output.clone_session_id") as u32) {
                self.later(false, path::CLONE_E2E, From::Parser, self.p.out.clone(), keep.clone(), Some(egress));
            }
        }
        if self.get("egress_output.drop") != 0 {
            return Ok((self.verdict(VerdictKind::Drop, None), Why::DropSet("egress")));
        }
        if port == RECIRCULATE {
            let keep = self.kept(Some(path::RECIRCULATE as u8));
            self.later(self.main, path::RECIRCULATE, From::Parser, self.p.out.clone(), keep, None);
            return Ok((Verdict::default(), Why::SentOn("recirculated")));
        }
        let kind = if port == CPU { VerdictKind::Punt } else { VerdictKind::Forward };
        let port = if port == CPU { 0 } else { port.0 };
        Ok((Verdict { port, ..self.verdict(kind, None) }, Why::Deparsed))
    }

    /// Parser, control and deparser of a pipe; tells whether the packet fits its room.
    fn psa_pipe(&mut self, pipe: u32, error: &str) -> Result<bool, Halt> {
        self.set_standard(self.std.packet_length, self.input.bytes.len() as u128);
        let pipe = &self.ir.pipes[PipeId::from_u32(pipe)];
        if let Some(code) = self.parse(&pipe.parser)? {
            self.set(error, code.into());
        }
        self.steps = 0;
        for control in &pipe.controls {
            self.top(control.role.name(), &control.body)?;
        }
        debug_assert!(pipe.controls.iter().all(|c| matches!(c.role, Role::Ingress | Role::Egress)));
        self.top("deparser", &pipe.deparser)?;
        Ok(self.append_payload())
    }
}
