//! What goes to a service with a packet, and what may come of it?

use base::{DropReason, HEADROOM, MAX_PACKET, Packet, PortId};

/// Most bytes of the fields of a request, and of an answer.
pub const FIELDS_MAX: usize = 32;

/// A packet, what is asked for, and what came of it.
#[derive(Clone, Debug)]
pub struct Call {
    /// The packet. A service may read it from `payload` on, and change it there, its length too; what is before that is the caller's. Empty if it stays with
    /// the pipeline while the service runs in another process.
    pub packet: Packet,
    /// The caller's: it comes back with the answer, unread.
    pub tag: u32,
    /// A place's, where it serves several lanes: whose call it is. A service leaves it as it is.
    pub route: u32,
    /// Of one that is in another process: whether the payload comes back with the answer.
    pub(crate) returns_payload: bool,
    /// Where in the packet the payload starts.
    pub payload: u32,
    /// Length of the payload in bytes, which a service may count where it is not given the bytes.
    pub payload_len: u32,
    /// The request's fields; once the call is answered, the answer's. In order, packed from the first byte's top bit, as in a header. Bytes behind the
    /// last are zero.
    pub fields: [u8; FIELDS_MAX],
    /// What came of it.
    pub outcome: Outcome,
}

/// A call that a service keeps, without its fields: it is half as long.
#[derive(Debug)]
pub struct Kept {
    packet: Packet,
    tag: u32,
    route: u32,
    /// See [`Call::payload_len`].
    pub payload_len: u32,
    /// No packet is so long that it does not fit.
    payload: u16,
    returns_payload: bool,
    /// The service's that keeps it; 0 at first.
    pub own: u8,
}

const _: () = assert!(MAX_PACKET + HEADROOM <= u16::MAX as usize && size_of::<Kept>() == 48);

impl Kept {
    /// The packet.
    pub fn packet(&self) -> &Packet {
        &self.packet
    }

    /// See [`Call::tag`].
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Where in the packet the payload starts.
    pub(crate) fn payload(&self) -> usize {
        self.payload.into()
    }

    /// See [`Call::returns_payload`].
    pub(crate) fn returns_payload(&self) -> bool {
        self.returns_payload
    }

    /// As a call again, with all fields zero, and pending.
    #[inline]
    pub fn into_call(self) -> Call {
        self.into_ended([0; FIELDS_MAX], Outcome::Pending)
    }

    /// As a call again that has ended so. In one piece: what is changed after it was put together is waited for when it is moved.
    #[inline]
    pub fn into_ended(self, fields: [u8; FIELDS_MAX], outcome: Outcome) -> Call {
        let Kept { packet, tag, route, payload_len, payload, returns_payload, .. } = self;
        Call { packet, tag, route, returns_payload, payload: payload.into(), payload_len, fields, outcome }
    }

    /// As [`Call::copy`].
    pub fn copy(&self, answer: &[u8]) -> Call {
        let mut copy = Kept { packet: copy_of(&self.packet), ..*self }.into_call();
        copy.answer(answer);
        copy.outcome = Outcome::Copy;
        copy
    }
}

/// An answer as fields, with zeros behind it.
#[inline]
pub(crate) fn fields_of(answer: &[u8]) -> [u8; FIELDS_MAX] {
    let mut fields = [0; FIELDS_MAX];
    fields[..answer.len()].copy_from_slice(answer);
    fields
}

fn copy_of(packet: &Packet) -> Packet {
    if packet.is_void() { Packet::void() } else { Packet::new(packet.data(), packet.port) }
}

/// What came of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Outcome {
    /// Nothing yet.
    #[default]
    Pending,
    /// The packet goes on with the answer.
    Answered,
    /// The service has it. It comes out later by a poll.
    Kept,
    /// From a poll alone: a copy of a packet that is still kept, with an answer of its own; or a packet of the service's own.
    Copy,
    /// The packet ends here.
    Dropped(Reason),
}

/// Why a packet was dropped at the seam. Codes below [`Reason::FIRST_OWN`] are the seam's, the others the service's own
/// ([`crate::Interface::reasons`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reason(u8);

/// Number of reasons, used or not.
pub(crate) const REASONS: usize = 64;

impl Reason {
    /// The ring to the service was full, or as many packets as are allowed wait there.
    pub const FULL: Reason = Reason(0);
    /// The service ended while it had the packet.
    pub const LOST: Reason = Reason(1);
    /// The service does not run.
    pub const DOWN: Reason = Reason(2);
    /// The service gave no outcome: a fault of the service.
    pub const UNANSWERED: Reason = Reason(3);
    /// The request asks for something that the service does not do.
    pub const MALFORMED: Reason = Reason(4);
    /// Control code does not want it any more.
    pub const DISCARDED: Reason = Reason(5);
    /// The data plane stops.
    pub const STOPPING: Reason = Reason(6);
    /// The first of a service's own.
    pub const FIRST_OWN: u8 = 16;

    /// The service's own reason number `index`.
    ///
    /// # Panics
    /// If it is greater than 47.
    pub const fn own(index: usize) -> Reason {
        assert!(index + (Reason::FIRST_OWN as usize) < REASONS, "a service has at most 48 reasons");
        Reason(Reason::FIRST_OWN + index as u8)
    }

    /// As what a lane drops such a packet.
    pub fn as_drop(self) -> DropReason {
        match self {
            Reason::FULL => DropReason::SERVICE_FULL,
            Reason::LOST => DropReason::SERVICE_LOST,
            Reason::DOWN => DropReason::SERVICE_DOWN,
            Reason::DISCARDED => DropReason::BUFFER_DISCARDED,
            Reason::STOPPING => DropReason::STOPPING,
            _ => DropReason::SERVICE_REFUSED,
        }
    }

    /// Its number.
    pub const fn code(self) -> u8 {
        self.0
    }

    /// By its number, below 64.
    pub(crate) const fn from_code(code: u8) -> Option<Reason> {
        if (code as usize) < REASONS { Some(Reason(code)) } else { None }
    }

    /// Name of one that is the seam's.
    pub(crate) fn seam_name(self) -> Option<&'static str> {
        ["full", "lost", "down", "unanswered", "malformed", "discarded", "stopping"].get(usize::from(self.0)).copied()
    }
}

impl Call {
    /// A call for a packet whose payload starts at byte `payload`.
    ///
    /// # Panics
    /// If that is behind the packet's end.
    #[inline]
    pub fn new(packet: Packet, payload: usize, fields: [u8; FIELDS_MAX], tag: u32) -> Call {
        let payload_len = packet.len().checked_sub(payload).expect("the payload starts in the packet") as u32;
        Call { packet, tag, route: 0, returns_payload: false, payload: payload as u32, payload_len, fields, outcome: Outcome::Pending }
    }

    /// The payload's bytes. None are there where [`crate::Interface::access`] says that the service does not read them.
    #[inline]
    pub fn payload(&self) -> &[u8] {
        self.packet.data().get(self.payload as usize..).unwrap_or_default()
    }

    /// The payload's bytes, to be changed.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.packet.data_mut().get_mut(self.payload as usize..).unwrap_or_default()
    }

    /// Changes the payload's length: what is new at its end is zero. False, with nothing changed, if the packet would be too long.
    pub fn resize_payload(&mut self, len: usize) -> bool {
        if !self.packet.resize(self.payload as usize + len) {
            return false;
        }
        self.payload_len = len as u32;
        true
    }

    /// Answers it: `answer` is the answer's fields.
    ///
    /// # Panics
    /// If they are longer than [`FIELDS_MAX`].
    #[inline]
    pub fn answer(&mut self, answer: &[u8]) {
        self.fields = fields_of(answer);
        self.outcome = Outcome::Answered;
    }

    /// Ends it.
    #[inline]
    pub fn drop_for(&mut self, reason: Reason) {
        self.outcome = Outcome::Dropped(reason);
    }

    /// Moves it out, to be kept: what stays in the burst says so.
    #[inline]
    pub fn take(&mut self) -> Call {
        let packet = std::mem::replace(&mut self.packet, Packet::void());
        let taken = Call { packet, ..*self };
        self.outcome = Outcome::Kept;
        taken
    }

    /// Moves it out as [`Call::take`] does, without its fields.
    #[inline]
    pub fn keep(&mut self) -> Kept {
        self.outcome = Outcome::Kept;
        Kept {
            packet: std::mem::replace(&mut self.packet, Packet::void()),
            tag: self.tag,
            route: self.route,
            payload: u16::try_from(self.payload).expect("a packet is shorter than 64 KiB"),
            payload_len: self.payload_len,
            returns_payload: self.returns_payload,
            own: 0,
        }
    }

    /// Keeps a copy, in as little memory as it needs. The packet itself stays in the call, to be sent as a copy of what is kept: it lies in the cache, and what is kept
    /// will be cold when it comes out.
    #[inline]
    pub fn keep_copy(&mut self) -> Kept {
        let mut compact = Packet::void();
        if !self.packet.is_void() {
            compact = Packet::compact(self.packet.data(), self.packet.port);
            // What is counted elsewhere by packet goes with the one that is kept.
            (compact.flow, compact.metered) = (self.packet.flow, self.packet.metered);
            (self.packet.flow, self.packet.metered) = Default::default();
        }
        let packet = std::mem::replace(&mut self.packet, compact);
        let kept = self.keep();
        self.packet = packet;
        kept
    }

    /// A copy of a kept one, with an answer: for [`crate::Service::poll`].
    pub fn copy(&self, answer: &[u8]) -> Call {
        let mut copy = Call { packet: copy_of(&self.packet), ..*self };
        copy.answer(answer);
        copy.outcome = Outcome::Copy;
        copy
    }

    /// Stands for a packet that is lost with the service that had it: empty, with tag [`Call::NO_TAG`].
    pub(crate) fn lost() -> Call {
        let mut call = Call::new(Packet::void(), 0, [0; FIELDS_MAX], Call::NO_TAG);
        call.drop_for(Reason::LOST);
        call
    }

    /// The tag of a packet that is lost together with its name.
    pub const NO_TAG: u32 = u32::MAX;
    /// The tag of a packet that nobody waits for.
    pub const SENT_TAG: u32 = Call::NO_TAG - 1;
    /// The tag of a packet of the service's own ([`Call::own`]).
    pub const OWN_TAG: u32 = Call::SENT_TAG - 1;
    /// Bytes that such a packet has, at most: the answer in front of them must have room, too.
    pub const OWN_MAX: usize = MAX_PACKET - FIELDS_MAX;

    /// A packet of the service's own, for [`crate::Service::poll`]: it begins its way through the program, as one that came in by the port of services
    /// (`SERVICE_PORT` of p4/include/splitplane.p4). Its bytes are those of an answer's fields, and `payload` behind them.
    ///
    /// `route`: that of the call that it comes of.
    ///
    /// # Panics
    /// If `payload` is longer than [`Call::OWN_MAX`], or the answer than [`FIELDS_MAX`].
    pub fn own(payload: &[u8], answer: &[u8], route: u32) -> Call {
        assert!(payload.len() <= Call::OWN_MAX, "{} bytes of a packet of the service's own", payload.len());
        let packet = Packet::new(payload, PortId::default());
        let own = Call::new(packet, 0, fields_of(answer), Call::OWN_TAG);
        Call { route, returns_payload: true, outcome: Outcome::Copy, ..own }
    }
}
