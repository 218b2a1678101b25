//! Calls of services (`service.p4`): what a service sees of a packet, and what it may do to it.
//!
//! - It sees the request and the payload: the bytes behind the parser's cursor.
//! - **Call**: the service gives the answer and may change the payload. A packet that it drops ends there, with its reason and the
//!   program's mark.
//! - **Send**: it gets a copy. Nothing comes back.
//! - A packet whose service a machine does not have is dropped with `SERVICE_DOWN`; what is sent there is lost.
//! - A subset of a program (`Mode::Subset`) calls nothing: its packet goes to the next target.

use super::{Flow, Halt, Mode, Run};
use crate::trace::{Event, Tracer};
use base::DropReason;
use p4_ir::{Expr, LValue, ServiceId};
use program::ServiceInfo;

/// What a program calls: the plain twins of the services that targets have.
pub trait Services: Send {
    /// Answers a call, or takes what is sent.
    fn call(&mut self, service: ServiceId, call: ServiceCall<'_>) -> ServiceFate;
}

/// A call, as a service sees it.
pub struct ServiceCall<'a> {
    /// Packed as [`ServiceInfo`] says.
    pub request: &'a [u8],
    /// The packet's payload, to be changed; of a packet that is sent, a copy.
    pub payload: &'a mut Vec<u8>,
    /// Receives the answer, packed as [`ServiceInfo`] says; all zero until then. `None` of a packet that is sent.
    pub answer: Option<&'a mut [u8]>,
    /// The packet's time.
    pub now_ns: u64,
}

/// What a service decides about the packet of a call. Of what is sent it decides nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceFate {
    /// The program continues with the answer.
    Answered,
    /// The packet ends here.
    Drop(DropReason),
}

impl<T: Tracer> Run<'_, '_, T> {
    pub(super) fn call_service(&mut self, service: ServiceId, request: &[Expr], answer: Option<&[LValue]>) -> Flow {
        if self.input.mode == Mode::Subset {
            return Flow::Halt(Halt::Service);
        }
        let ir = self.ir;
        let info: &ServiceInfo = &ir.program.services[service];
        let mut bytes = vec![0; info.request_len()];
        for (field, e) in info.request_fields().iter().zip(request) {
            field.set(&mut bytes, self.eval(e));
        }
        let mut payload = self.payload().to_vec();
        let mut given = answer.map(|_| vec![0; info.answer_len()]);
        let call = ServiceCall { request: &bytes, payload: &mut payload, answer: given.as_deref_mut(), now_ns: self.input.now_ns };
        let fate = match &mut self.work.services {
            Some(services) => services.call(service, call),
            None => ServiceFate::Drop(DropReason::SERVICE_DOWN),
        };
        self.tell(|_| Event::Called { service, request: bytes.clone(), answer: given.clone(), fate });
        let (Some(places), Some(given)) = (answer, given) else { return Flow::Go };
        if let ServiceFate::Drop(reason) = fate {
            return Flow::Halt(Halt::Dropped(reason));
        }
        self.p.payload = Some(payload);
        for (field, place) in info.answer_fields().iter().zip(places) {
            self.assign(place, field.get(&given));
        }
        Flow::Go
    }

    /// The bytes behind the parser's cursor, as services have left them.
    pub(super) fn payload(&self) -> &[u8] {
        match &self.p.payload {
            Some(changed) => changed,
            None => &self.input.bytes[self.p.cursor..],
        }
    }
}
