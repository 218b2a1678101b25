//! How does a P4 program call the ciphers? As a [`::service::Service`]: a key by its index, COUNT, BEARER and DIRECTION as fields.
//!
//! The payload is a PDCP PDU without its MAC-I where it is to be protected, and with it where it is to be recovered: a MAC-I is put behind the payload, or
//! taken off. The PDU may begin with headers that the program has parsed or will emit: they are in the request then, covered by the MAC-I and not
//! ciphered. Keys come as settings, expanded once, and are wiped when they are replaced or dropped.

use crate::engine::Burst;
use crate::iv::Inputs;
use crate::job::{Direction, Fault, Job, MAC_LEN, Outcome, Step, check_plain};
use crate::key::{KEY_LEN, Key, Nea, Nia};
use crate::{Choice, Engine, Error};
use ::service::{Access, AtOnce, Call, FIELDS_MAX, Field, Interface, Question, Reason, Service, Setting, SettingError};
use zeroize::Zeroizing;

/// Most keys of an instance: the field that names one has 16 bits.
pub const MAX_KEYS: usize = 1 << 16;

/// Fields and reasons.
pub static INTERFACE: Interface = Interface {
    name: "cipher",
    request: &[
        Field { name: "key_index", width: 16 },
        Field { name: "count", width: 32 },
        Field { name: "bearer", width: 8 },
        Field { name: "direction", width: 8 },
        Field { name: "step", width: 8 },
        Field { name: "clear_bytes", width: 16 },
        Field { name: "prefix", width: 32 },
        Field { name: "prefix_bytes", width: 8 },
    ],
    // Of the payload, with the MAC-I if there is one.
    answer: &[Field { name: "payload_bytes", width: 16 }],
    key: Some(0),
    reasons: &["no_key", "wrong_mac", "too_long", "too_short", "bearer", "library"],
    access: |_| Access::Write,
    sends_own: false,
    check_setting: |index, value| match value {
        _ if index as usize >= MAX_KEYS => Err(SettingError::Index { index, limit: MAX_KEYS as u32 }),
        Some(value) => read(index, value).map(drop),
        None => Ok(()),
    },
};

/// There is no key of that index.
pub const NO_KEY: Reason = Reason::own(0);
/// The MAC-I is wrong (TS 38.323 §5.9).
pub const WRONG_MAC: Reason = Reason::own(1);

/// A request, as a program's fields say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which key.
    pub key_index: u16,
    /// COUNT.
    pub count: u32,
    /// BEARER, 0 to 31.
    pub bearer: u8,
    /// DIRECTION: the field is 0 for uplink and 1 for downlink.
    pub direction: Direction,
    /// The field is 0 to protect and 1 to recover.
    pub step: Step,
    /// Leading bytes of the payload that are not ciphered.
    pub clear_bytes: u16,
    /// What the PDU has in front of the payload, in the last `prefix_bytes` bytes.
    pub prefix: u32,
    /// 0 to 4.
    pub prefix_bytes: u8,
}

impl Request {
    /// As fields.
    pub fn fields(self) -> [u8; FIELDS_MAX] {
        let mut fields = [0; FIELDS_MAX];
        fields[..2].copy_from_slice(&self.key_index.to_be_bytes());
        fields[2..6].copy_from_slice(&self.count.to_be_bytes());
        fields[6] = self.bearer;
        fields[7] = self.direction.bit();
        fields[8] = u8::from(self.step == Step::Recover);
        fields[9..11].copy_from_slice(&self.clear_bytes.to_be_bytes());
        fields[11..15].copy_from_slice(&self.prefix.to_be_bytes());
        fields[15] = self.prefix_bytes;
        fields
    }

    /// From fields; `None` if a step or direction is neither 0 nor 1, or the header is longer than its field.
    #[inline]
    pub fn read(fields: &[u8; FIELDS_MAX]) -> Option<Request> {
        // By words: what is read byte by byte costs two nanoseconds.
        let (words, _) = fields.as_chunks::<8>();
        let [first, second] = [words[0], words[1]].map(u64::from_be_bytes);
        let (direction, step, prefix_bytes) = (first as u8, (second >> 56) as u8, second as u8);
        if prefix_bytes > 4 {
            return None;
        }
        Some(Request {
            key_index: (first >> 48) as u16,
            count: (first >> 16) as u32,
            bearer: (first >> 8) as u8,
            direction: *[Direction::Uplink, Direction::Downlink].get(usize::from(direction))?,
            step: *[Step::Protect, Step::Recover].get(usize::from(step))?,
            clear_bytes: (second >> 40) as u16,
            prefix: (second >> 8) as u32,
            prefix_bytes,
        })
    }
}

/// A packet as the ciphers are given it: a call with a packet of its own, or a question about one that stays where it is.
trait Pdu {
    fn fields(&self) -> &[u8; FIELDS_MAX];
    fn payload_len(&self) -> usize;
    /// As [`Call::resize_payload`].
    fn resize_payload(&mut self, len: usize) -> bool;
    /// Puts the header in front of the payload, so that the PDU is in one piece. Gives where that begins, and what was there before; `None` if there is no room.
    fn put_prefix(&mut self, prefix: &[u8]) -> Option<(usize, [u8; 4])>;
    /// Undoes [`Pdu::put_prefix`].
    fn take_prefix(&mut self, len: usize, before: [u8; 4]);
    /// From there to the end.
    fn bytes_from(&mut self, start: usize) -> &mut [u8];
    fn payload_start(&self) -> usize;
    fn is_dropped(&self) -> bool;
    fn answer(&mut self, answer: &[u8]);
    fn drop_for(&mut self, reason: Reason);
}

impl Pdu for Call {
    #[inline]
    fn fields(&self) -> &[u8; FIELDS_MAX] {
        &self.fields
    }

    #[inline]
    fn payload_len(&self) -> usize {
        self.payload().len()
    }

    fn resize_payload(&mut self, len: usize) -> bool {
        Call::resize_payload(self, len)
    }

    fn put_prefix(&mut self, prefix: &[u8]) -> Option<(usize, [u8; 4])> {
        let (payload, len) = (self.payload as usize, prefix.len());
        let mut before = [0; 4];
        if payload >= len {
            let place = &mut self.packet.data_mut()[payload - len..payload];
            before[..len].copy_from_slice(place);
            place.copy_from_slice(prefix);
            return Some((payload - len, before));
        }
        // Only where the caller has given nothing but the payload.
        let end = self.packet.len();
        if !self.packet.resize(end + len) {
            return None;
        }
        let bytes = self.packet.data_mut();
        bytes.copy_within(payload..end, payload + len);
        bytes[payload..payload + len].copy_from_slice(prefix);
        Some((payload, before))
    }

    fn take_prefix(&mut self, len: usize, before: [u8; 4]) {
        let payload = self.payload as usize;
        if payload >= len {
            return self.packet.data_mut()[payload - len..payload].copy_from_slice(&before[..len]);
        }
        let end = self.packet.len();
        self.packet.data_mut().copy_within(payload + len.., payload);
        let shorter = self.packet.resize(end - len);
        debug_assert!(shorter);
    }

    #[inline]
    fn bytes_from(&mut self, start: usize) -> &mut [u8] {
        &mut self.packet.data_mut()[start..]
    }

    #[inline]
    fn payload_start(&self) -> usize {
        self.payload as usize
    }

    #[inline]
    fn is_dropped(&self) -> bool {
        matches!(self.outcome, ::service::Outcome::Dropped(_))
    }

    #[inline]
    fn answer(&mut self, answer: &[u8]) {
        Call::answer(self, answer);
    }

    #[inline]
    fn drop_for(&mut self, reason: Reason) {
        Call::drop_for(self, reason);
    }
}

/// What is in front of the payload are the program's headers, so the payload makes room.
impl Pdu for Question<'_> {
    #[inline]
    fn fields(&self) -> &[u8; FIELDS_MAX] {
        &self.fields
    }

    #[inline]
    fn payload_len(&self) -> usize {
        self.len as usize
    }

    fn resize_payload(&mut self, len: usize) -> bool {
        Question::resize_payload(self, len)
    }

    fn put_prefix(&mut self, prefix: &[u8]) -> Option<(usize, [u8; 4])> {
        let (end, len) = (self.len as usize, prefix.len());
        if !Question::resize_payload(self, end + len) {
            return None;
        }
        self.room.copy_within(..end, len);
        self.room[..len].copy_from_slice(prefix);
        Some((0, [0; 4]))
    }

    fn take_prefix(&mut self, len: usize, _: [u8; 4]) {
        let end = self.len as usize;
        self.room.copy_within(len..end, 0);
        self.len = (end - len) as u32;
    }

    #[inline]
    fn bytes_from(&mut self, start: usize) -> &mut [u8] {
        &mut self.room[start..self.len as usize]
    }

    #[inline]
    fn payload_start(&self) -> usize {
        0
    }

    #[inline]
    fn is_dropped(&self) -> bool {
        matches!(self.outcome, ::service::Outcome::Dropped(_))
    }

    #[inline]
    fn answer(&mut self, answer: &[u8]) {
        Question::answer(self, answer);
    }

    #[inline]
    fn drop_for(&mut self, reason: Reason) {
        Question::drop_for(self, reason);
    }
}

/// A setting's bytes: NEA's number, NIA's number or [`NO_INTEGRITY`], the key for ciphering, the key for integrity.
const SETTING_LEN: usize = 2 + 2 * KEY_LEN;
/// In place of NIA's number: PDUs have no MAC-I.
const NO_INTEGRITY: u8 = 0xff;

/// A bearer's keys as a setting. The caller wipes `cipher` and `integrity`.
pub fn key_setting(nea: Nea, cipher: &[u8; KEY_LEN], integrity: Option<(Nia, &[u8; KEY_LEN])>) -> Zeroizing<Vec<u8>> {
    // As long as it gets, so that no half of it is left behind by growth.
    let mut value = Zeroizing::new(Vec::with_capacity(SETTING_LEN));
    value.extend([nea as u8, integrity.map_or(NO_INTEGRITY, |(nia, _)| nia as u8)]);
    value.extend(cipher);
    value.extend(integrity.map_or(&[0; KEY_LEN], |(_, key)| key));
    value
}

struct Keys {
    cipher: Key<Nea>,
    integrity: Option<Key<Nia>>,
}

/// A packet of the burst that has a MAC-I.
struct Picked {
    at: u32,
    /// Bytes that are taken off the payload, if all is well: a MAC-I that was checked.
    cut: u8,
    /// Bytes of the header in front, and what they have overwritten: see [`Pdu::put_prefix`].
    prefix_bytes: u8,
    before: [u8; 4],
}

/// One instance: an engine and its keys.
pub struct CipherService {
    engine: Engine,
    /// In place: what a burst needs of them is read for every packet. The keys' bytes are in boxes of their own.
    keys: Vec<Option<Keys>>,
    /// Of the burst: the packets that have a MAC-I.
    picked: Vec<Picked>,
}

impl CipherService {
    /// Without keys.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn new(choice: Choice) -> Result<CipherService, Error> {
        Ok(CipherService { engine: Engine::new(choice)?, keys: Vec::new(), picked: Vec::new() })
    }

    #[inline]
    fn serve<P: Pdu>(&mut self, pdus: &mut [P]) {
        let CipherService { engine, keys, picked } = self;
        picked.clear();
        let mut burst = engine.burst();
        for (at, pdu) in pdus.iter_mut().enumerate() {
            let at = at as u32;
            let Some(request) = Request::read(pdu.fields()) else {
                pdu.drop_for(Reason::MALFORMED);
                continue;
            };
            let Some(Keys { cipher, integrity }) = keys.get(usize::from(request.key_index)).and_then(Option::as_ref) else {
                pdu.drop_for(NO_KEY);
                continue;
            };
            match integrity {
                None => plain(&mut burst, at, pdu, request, cipher),
                Some(integrity) => protected(&mut burst, at, pdu, cipher, integrity, picked),
            }
        }
        for (at, outcome) in burst.run() {
            pdus[*at as usize].drop_for(match outcome {
                Outcome::WrongMac => WRONG_MAC,
                Outcome::Refused(fault) => reason(*fault),
                Outcome::Pending | Outcome::Done => Reason::UNANSWERED,
            });
        }
        picked.iter().for_each(|of| finish(&mut pdus[of.at as usize], of));
    }
}

/// A PDU without a MAC-I. The header in front is not ciphered, so that nobody needs it. It is answered before the work is done, as that cannot fail but with the
/// library itself: a packet is looked at once.
#[inline(always)]
fn plain<'j>(burst: &mut Burst<'_, 'j>, at: u32, pdu: &'j mut impl Pdu, request: Request, cipher: &'j Key<Nea>) {
    let (len, clear) = (pdu.payload_len(), usize::from(request.clear_bytes));
    if let Err(fault) = check_plain(len, clear, request.bearer) {
        return pdu.drop_for(reason(fault));
    }
    pdu.answer(&(len as u16).to_be_bytes());
    let inputs = Inputs { count: request.count, bearer: request.bearer, direction: request.direction };
    burst.cipher(at, cipher, inputs, pdu.bytes_from(pdu.payload_start() + clear));
}

/// A PDU with a MAC-I, or room for it.
#[inline(never)]
fn protected<'j>(
    burst: &mut Burst<'_, 'j>,
    at: u32,
    pdu: &'j mut impl Pdu,
    cipher: &'j Key<Nea>,
    integrity: &'j Key<Nia>,
    picked: &mut Vec<Picked>,
) {
    // Again, so that the others need not keep it in memory.
    let Some(request) = Request::read(pdu.fields()) else { return pdu.drop_for(Reason::MALFORMED) };
    let Some((start, before)) = make_room(pdu, &request) else { return pdu.drop_for(reason(Fault::TooLong)) };
    let cut = if request.step == Step::Recover { MAC_LEN as u8 } else { 0 };
    picked.push(Picked { at, cut, prefix_bytes: request.prefix_bytes, before });
    let job = Job {
        cipher: Some(cipher),
        integrity: Some(integrity),
        count: request.count,
        bearer: request.bearer,
        direction: request.direction,
        step: request.step,
        clear: usize::from(request.clear_bytes) + usize::from(request.prefix_bytes),
        data: pdu.bytes_from(start),
        outcome: Outcome::Pending,
    };
    burst.push(at, job);
}

/// Of a PDU with a MAC-I: room for one that will be computed, and the header in front. As [`Pdu::put_prefix`]; `None`: nothing has changed.
fn make_room(pdu: &mut impl Pdu, request: &Request) -> Option<(usize, [u8; 4])> {
    let (len, prefix_bytes) = (pdu.payload_len(), usize::from(request.prefix_bytes));
    if request.step == Step::Protect && !pdu.resize_payload(len + MAC_LEN) {
        return None;
    }
    if prefix_bytes == 0 {
        return Some((pdu.payload_start(), [0; 4]));
    }
    let put = pdu.put_prefix(&request.prefix.to_be_bytes()[4 - prefix_bytes..]);
    if put.is_none() {
        pdu.resize_payload(len);
    }
    put
}

/// A fault as a reason.
fn reason(fault: Fault) -> Reason {
    Reason::own(match fault {
        Fault::TooLong => 2,
        Fault::TooShort => 3,
        Fault::Bearer => 4,
        Fault::Library | Fault::Key => 5,
    })
}

impl Service for CipherService {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], _now_ns: u64) {
        self.serve(burst);
    }

    fn answer(&mut self, burst: &mut [Question<'_>], _now_ns: u64) {
        self.serve(burst);
    }

    /// It keeps nothing. A MAC is the most that it adds.
    fn at_once(&self) -> AtOnce {
        AtOnce::ALWAYS
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        let index = setting.index as usize;
        if index >= MAX_KEYS {
            return Err(SettingError::Index { index: setting.index, limit: MAX_KEYS as u32 });
        }
        let keys = match &setting.value {
            None => None,
            Some(value) => {
                let read = read(setting.index, value)?;
                let integrity = read.nia.map(|nia| self.engine.integrity_key(nia, read.integrity));
                Some(Keys { cipher: self.engine.cipher_key(read.nea, read.cipher), integrity })
            }
        };
        if index >= self.keys.len() {
            self.keys.resize_with(index + 1, || None);
        }
        self.keys[index] = keys;
        Ok(())
    }
}

/// Ends a PDU with a MAC-I: what was put around it is taken off.
#[inline]
fn finish(pdu: &mut impl Pdu, of: &Picked) {
    if of.prefix_bytes > 0 {
        pdu.take_prefix(of.prefix_bytes.into(), of.before);
    }
    if pdu.is_dropped() {
        return;
    }
    let len = pdu.payload_len() - usize::from(of.cut);
    if of.cut > 0 {
        pdu.resize_payload(len);
    }
    pdu.answer(&(len as u16).to_be_bytes());
}

/// Algorithms and keys of a setting.
struct Read<'a> {
    nea: Nea,
    cipher: &'a [u8; KEY_LEN],
    nia: Option<Nia>,
    integrity: &'a [u8; KEY_LEN],
}

fn read(index: u32, value: &[u8]) -> Result<Read<'_>, SettingError> {
    let wrong = |what: String| SettingError::Value { index, what };
    let ([nea, nia], keys) = value.split_first_chunk().ok_or_else(|| wrong(format!("expected {SETTING_LEN} bytes")))?;
    let nea = Nea::try_from(*nea).map_err(|error| wrong(error.to_string()))?;
    let nia = match *nia {
        NO_INTEGRITY => None,
        nia => Some(Nia::try_from(nia).map_err(|error| wrong(error.to_string()))?),
    };
    let ([cipher, integrity], []) = keys.as_chunks::<KEY_LEN>() else { return Err(wrong(format!("expected {SETTING_LEN} bytes"))) };
    Ok(Read { nea, cipher, nia, integrity })
}
