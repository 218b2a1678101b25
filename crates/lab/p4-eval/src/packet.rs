//! One packet's way through v1model's blocks.

use crate::call::Argument;
use crate::place::Place;
use crate::value::{Value, pattern};
use crate::{Evaluator, FUEL, Object, R, Stop};
use base::{DropReason, HEADROOM, MAX_PACKET, PortId, Verdict, VerdictKind};

/// What became of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The decision.
    pub verdict: Verdict,
    /// The deparsed packet; empty for a drop.
    pub bytes: Vec<u8>,
}

/// The packet in flight.
#[derive(Default)]
pub(crate) struct Packet {
    pub bytes: Vec<u8>,
    /// Bits that the parser has consumed.
    pub cursor: usize,
    /// Bits that were emitted.
    pub out: Vec<bool>,
    /// Parser states so far.
    pub states: u32,
    /// Set by `truncate`.
    pub keep_bytes: Option<usize>,
    /// Where the standard metadata are.
    pub standard: Option<Place>,
}

impl Packet {
    pub(crate) fn bits_from(&self, bit: usize) -> Vec<bool> {
        let all = self.bytes.iter().flat_map(|b| (0..8).rev().map(move |i| b >> i & 1 == 1));
        all.skip(bit).collect()
    }

    /// What the parser has left.
    pub(crate) fn payload(&self) -> Vec<u8> {
        self.bytes[self.cursor / 8..].to_vec()
    }
}

impl<'a> Evaluator<'a> {
    /// Runs the program on a packet.
    pub fn process(&mut self, bytes: &[u8], port: PortId, now_ns: u64) -> Result<Outcome, Stop> {
        self.store.clear();
        self.fuel = FUEL;
        self.packet = Packet { bytes: bytes.to_vec(), ..Packet::default() };
        let scopes = self.scopes.count();
        let anonymous = self.anonymous.len();
        let end = self.pipeline(port, now_ns);
        if self.anonymous.len() == anonymous {
            self.scopes.leave(scopes);
        }
        end
    }

    fn pipeline(&mut self, port: PortId, now_ns: u64) -> R<Outcome> {
        let [parser, verify, ingress, egress, compute, deparser] = self.blocks[..] else {
            return Err(Stop::cannot("a package other than V1Switch"));
        };
        let Object::Block(p) = &self.objects[parser] else { return Err(Stop::cannot("this parser")) };
        let (params, from) = (p.decl.params(), p.scope);
        let [_, h, m, s] = params else { return Err(Stop::cannot("this parser")) };
        let mut slots = Vec::new();
        for p in [h, m, s] {
            let start = self.resolve(&p.ty, from)?.start();
            slots.push(Place::variable(self.new_slot(start)));
        }
        let [headers, meta, standard] = &slots[..] else { return Err(Stop::cannot("this parser")) };
        self.packet.standard = Some(standard.clone());
        self.set_field(standard, "ingress_port", u64::from(port.0))?;
        self.set_field(standard, "packet_length", self.packet.bytes.len() as u64)?;
        self.set_field(standard, "ingress_global_timestamp", now_ns / 1000)?;

        match self.run_stage(parser, &[None, Some(headers), Some(meta), Some(standard)]) {
            Err(Stop::Reject(error)) if !error.is_empty() => self.set_standard("parser_error", Value::Error(error))?,
            Err(Stop::Reject(_)) | Ok(()) => {}
            Err(stop) => return Err(stop),
        }
        self.packet.states = 0;
        self.run_stage(verify, &[Some(headers), Some(meta)])?;
        self.run_stage(ingress, &[Some(headers), Some(meta), Some(standard)])?;
        if self.standard("mcast_grp")? != 0 {
            return Err(Stop::cannot("multicast"));
        }
        if self.standard("egress_spec")? == u64::from(PortId::DROP.0) {
            return self.outcome(VerdictKind::Drop, None, meta);
        }
        let port = self.standard("egress_spec")?;
        self.set_standard("egress_port", Value::Number(port.into()))?;
        self.run_stage(egress, &[Some(headers), Some(meta), Some(standard)])?;
        if self.standard("egress_spec")? == u64::from(PortId::DROP.0) {
            return self.outcome(VerdictKind::Drop, None, meta);
        }
        self.run_stage(compute, &[Some(headers), Some(meta)])?;
        self.run_stage(deparser, &[None, Some(headers)])?;

        let (emitted, cursor) = (self.packet.out.len() / 8, self.packet.cursor / 8);
        let payload = self.packet.payload();
        if emitted > HEADROOM + cursor || emitted + payload.len() > MAX_PACKET {
            return self.outcome(VerdictKind::Drop, Some(DropReason::NO_HEADROOM), meta);
        }
        let kind = match PortId(self.standard("egress_port")? as u16) {
            PortId::PUNT => VerdictKind::Punt,
            PortId::BUFFER => VerdictKind::Buffer,
            _ => VerdictKind::Forward,
        };
        self.outcome(kind, None, meta)
    }

    /// A block of the pipeline; `exit` ends it like its end does.
    fn run_stage(&mut self, block: usize, args: &[Option<&Place>]) -> R<()> {
        let mut given = Vec::new();
        for (order, place) in args.iter().enumerate() {
            given.push(match place {
                None => Argument { to: None, value: None, object: Some(0), order },
                Some(p) => Argument { to: Some((*p).clone()), value: Some(self.read(p)?), object: None, order },
            });
        }
        match self.run_block(block, given) {
            Err(Stop::Exit) => Ok(()),
            end => end,
        }
    }

    fn standard_field(&self, field: &str) -> R<Place> {
        let place = self.packet.standard.clone().ok_or_else(|| Stop::cannot(field))?;
        let Value::Struct(c, _) = self.read(&place)? else { return Err(Stop::cannot(field)) };
        Ok(place.field(c.position(field).ok_or_else(|| Stop::cannot(field))?))
    }

    fn standard(&self, field: &str) -> R<u64> {
        let n = self.read(&self.standard_field(field)?)?.number()?;
        u64::try_from(&n).map_err(|_| Stop::cannot(field))
    }

    fn set_standard(&mut self, field: &str, value: Value) -> R<()> {
        let place = self.standard_field(field)?;
        self.write(&place, value)
    }

    fn outcome(&self, kind: VerdictKind, reason: Option<DropReason>, meta: &Place) -> R<Outcome> {
        let meta = self.read(meta)?;
        let own = marked(&meta, "drop_reason").unwrap_or_default() as u8;
        let mark = marked(&meta, "mark").unwrap_or_default() as u32;
        let port = if kind == VerdictKind::Forward { self.standard("egress_port")? as u16 } else { 0 };
        let verdict = Verdict { kind, reason: reason.map_or(own, |r| r.0), port, mark }.of_program();
        let mut bytes = Vec::new();
        if kind != VerdictKind::Drop {
            bytes = self.packet.out.chunks(8).map(|b| b.iter().fold(0, |n, bit| n << 1 | u8::from(*bit))).collect();
            bytes.extend(self.packet.payload());
            bytes.truncate(self.packet.keep_bytes.unwrap_or(usize::MAX));
        }
        Ok(Outcome { verdict, bytes })
    }
}

/// The bits of the field with that annotation.
fn marked(v: &Value, mark: &str) -> Option<u128> {
    let Value::Struct(c, fields) = v else { return None };
    c.fields.iter().zip(fields).find_map(|(f, v)| match v {
        Value::Bits { value, width, .. } if f.marks.iter().any(|m| m == mark) => u128::try_from(&pattern(value, *width)).ok(),
        other => marked(other, mark),
    })
}
