//! How does the interpreter call services? At once, one packet after the other, where lanes call in bursts. Who compares a target with it gives it services over their
//! slow twins, where they have one (`BufferService::plain`, `ResubmitService::plain`, the portable cipher).
//!
//! The interpreter waits for nothing. So what a service gives by a poll right behind the call is the answer: where a packet and copies of it come, the
//! last of them. Other packets that come out are lost here, and a packet that the service keeps for later is dropped with `SERVICE_LOST`; a lane has
//! them all. Time is the packet's own.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

use base::{DropReason, Packet, PortId};
use p4_interp::{ServiceCall, ServiceFate, Services};
use p4_ir::ServiceId;
use program::Program;
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, FIELDS_MAX, Mismatch, Outcome, Place};
use std::sync::Arc;

/// Why services cannot be given to a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InlineError {
    /// The program calls one that is not there.
    Missing(String),
    /// It has other fields.
    Fields(Mismatch),
}

impl std::fmt::Display for InlineError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InlineError::Missing(name) => write!(f, "the program calls service {name}, which is not configured"),
            InlineError::Fields(mismatch) => mismatch.fmt(f),
        }
    }
}

impl std::error::Error for InlineError {}

/// In the lane: what a packet test or a trace has.
///
/// # Panics
/// If the service's declaration is wrong.
pub fn in_lane(make: Make) -> Arc<Deployment> {
    Arc::new(Deployment::new(&Place::Lane, make, Rings::default()).expect("nothing is started in the lane"))
}

/// The services of a program, for [`p4_interp::Machine::set_services`].
pub struct Inline {
    callers: Vec<Caller>,
    tag: u32,
}

impl Inline {
    /// By the names that the program calls.
    ///
    /// # Errors
    /// [`InlineError`].
    pub fn new(program: &Program, all: &[Arc<Deployment>]) -> Result<Inline, InlineError> {
        let mut callers = Vec::new();
        for info in program.services.values() {
            let found = all.iter().find(|d| d.interface().name == info.name);
            let deployment = found.ok_or_else(|| InlineError::Missing(info.name.clone()))?;
            let request = info.request.iter().map(|f| (f.name.as_str(), f.width));
            let answer = info.answer.iter().map(|f| (f.name.as_str(), f.width));
            deployment.interface().check(request, answer).map_err(InlineError::Fields)?;
            callers.push(deployment.caller());
        }
        Ok(Inline { callers, tag: 0 })
    }
}

impl Services for Inline {
    fn call(&mut self, service: ServiceId, call: ServiceCall<'_>) -> ServiceFate {
        let caller = &mut self.callers[service.as_u32() as usize];
        if call.payload.len() > base::MAX_PACKET {
            return ServiceFate::Drop(DropReason::SERVICE_REFUSED);
        }
        self.tag = self.tag.wrapping_add(1) % (Call::NO_TAG - 1);
        let mut fields = [0; FIELDS_MAX];
        fields[..call.request.len()].copy_from_slice(call.request);
        let mut burst = [Call::new(Packet::new(call.payload, PortId::default()), 0, fields, self.tag)];
        caller.call(&mut burst, call.now_ns);
        let [mut end] = burst;
        if end.outcome == Outcome::Kept {
            let mut back = Vec::new();
            caller.poll(call.now_ns, &mut back);
            match back.into_iter().rev().find(|polled| polled.tag == self.tag) {
                Some(polled) => end = polled,
                None => return ServiceFate::Drop(DropReason::SERVICE_LOST),
            }
        }
        match end.outcome {
            Outcome::Answered | Outcome::Copy => {
                *call.payload = end.payload().to_vec();
                if let Some(answer) = call.answer {
                    let len = answer.len();
                    answer.copy_from_slice(&end.fields[..len]);
                }
                ServiceFate::Answered
            }
            Outcome::Dropped(reason) => ServiceFate::Drop(reason.as_drop()),
            Outcome::Pending | Outcome::Kept => ServiceFate::Drop(DropReason::SERVICE_LOST),
        }
    }
}
