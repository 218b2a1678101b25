//! Which fields has a service, and do they agree with the program's?

use crate::SettingError;
use crate::call::{FIELDS_MAX, Reason};

/// A field of a request or an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Its bits.
    pub width: u32,
}

/// What a service does with the payload of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// It does not look at it: its length is enough.
    None,
    /// It reads it.
    Read,
    /// It changes it.
    Write,
}

/// What a service declares about itself.
#[derive(Debug)]
pub struct Interface {
    /// Its name, as programs and configurations call it.
    pub name: &'static str,
    /// Fields of a request.
    pub request: &'static [Field],
    /// Fields of an answer.
    pub answer: &'static [Field],
    /// The field of the request by which calls are steered: those with one value are of one owner, and stay in order. None: any owner will do.
    pub key: Option<usize>,
    /// Names of the service's own reasons, in the order of [`Reason::own`].
    pub reasons: &'static [&'static str],
    /// What it does with the payload, by the bytes of the request. A service in another process is given no more.
    pub access: fn(&[u8; FIELDS_MAX]) -> Access,
    /// Whether it sends packets of its own ([`crate::Call::own`]). Of one in another process that does not say so they are refused.
    pub sends_own: bool,
    /// Whether a value may be set at an index, or removed there (`None`), as far as that can be told without an instance.
    pub check_setting: fn(u32, Option<&[u8]>) -> Result<(), SettingError>,
}

/// Why a program cannot call a service.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("service {service}: {part} of the program: {program}; of the service: {expected}: declare the extern as the service does")]
pub struct Mismatch {
    /// The service.
    pub service: &'static str,
    /// `request` or `answer`.
    pub part: &'static str,
    /// What the program declares.
    pub program: String,
    /// What the service has.
    pub expected: String,
}

impl Interface {
    /// Whether a program's fields, by name and width in bits, are the service's.
    ///
    /// # Errors
    /// [`Mismatch`] about the request, or the answer.
    pub fn check<'a>(
        &self,
        request: impl IntoIterator<Item = (&'a str, u32)>,
        answer: impl IntoIterator<Item = (&'a str, u32)>,
    ) -> Result<(), Mismatch> {
        let compare = |part, program: Vec<(&str, u32)>, own: &[Field]| {
            let own: Vec<(&str, u32)> = own.iter().map(|field| (field.name, field.width)).collect();
            if program == own {
                return Ok(());
            }
            Err(Mismatch { service: self.name, part, program: text(&program), expected: text(&own) })
        };
        compare("request", request.into_iter().collect(), self.request)?;
        compare("answer", answer.into_iter().collect(), self.answer)
    }

    /// Name of a reason.
    pub fn reason_name(&self, reason: Reason) -> &'static str {
        let own = |code: u8| self.reasons.get(usize::from(code.checked_sub(Reason::FIRST_OWN)?)).copied();
        reason.seam_name().or_else(|| own(reason.code())).unwrap_or("unknown")
    }

    /// The value that steers a request.
    pub fn steering_key(&self, fields: &[u8; FIELDS_MAX]) -> u64 {
        let Some(key) = self.key else { return 0 };
        let offset: u32 = self.request[..key].iter().map(|field| field.width).sum();
        let end = offset + self.request[key].width;
        // The bytes that hold the field, without the neighbours' bits.
        let mut value = 0;
        for at in offset / 8..end.div_ceil(8) {
            value = value << 8 | u64::from(fields[at as usize]);
        }
        let value = value >> ((8 - end % 8) % 8);
        let width = end - offset;
        if width >= 64 { value } else { value & ((1 << width) - 1) }
    }

    /// Words of 8 bytes that a request's fields take.
    pub(crate) fn request_words(&self) -> usize {
        words(self.request)
    }

    /// The same of an answer's.
    pub(crate) fn answer_words(&self) -> usize {
        words(self.answer)
    }

    /// Panics where a declaration is wrong: called when a service is set up.
    pub(crate) fn assert_sound(&self) {
        for fields in [self.request, self.answer] {
            let bits: u32 = fields.iter().map(|field| field.width).sum();
            assert!(bits as usize <= 8 * FIELDS_MAX, "service {}: {bits} bits of fields, at most {}", self.name, 8 * FIELDS_MAX);
        }
        let narrow = |key: usize| self.request.get(key).is_some_and(|field| (1..=32).contains(&field.width));
        assert!(self.key.is_none_or(narrow), "service {}: the key is a field of 1 to 32 bits of the request", self.name);
        assert!(self.reasons.len() <= 48, "service {}: at most 48 reasons", self.name);
    }
}

fn words(fields: &[Field]) -> usize {
    let bits: u32 = fields.iter().map(|field| field.width).sum();
    (bits.div_ceil(64) as usize).min(FIELDS_MAX / 8)
}

fn text(fields: &[(&str, u32)]) -> String {
    let all: Vec<String> = fields.iter().map(|(name, width)| format!("bit<{width}> {name}")).collect();
    if all.is_empty() { "no fields".to_owned() } else { all.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[Field { name: "step", width: 4 }, Field { name: "bearer", width: 12 }, Field { name: "sn", width: 18 }];

    fn interface(key: Option<usize>) -> Interface {
        Interface {
            name: "test",
            request: FIELDS,
            answer: &[],
            key,
            reasons: &["odd"],
            access: |_| Access::None,
            sends_own: false,
            check_setting: |_, _| Ok(()),
        }
    }

    #[test]
    fn a_program_with_other_fields_is_refused_by_the_names_of_both() {
        let interface = interface(None);
        assert_eq!(interface.check([("step", 4), ("bearer", 12), ("sn", 18)], []), Ok(()));
        let error = interface.check([("step", 4), ("bearer", 12)], []).unwrap_err();
        assert_eq!(
            error.to_string(),
            "service test: request of the program: bit<4> step, bit<12> bearer; of the service: bit<4> step, bit<12> bearer, bit<18> sn: \
             declare the extern as the service does"
        );
        assert_eq!(interface.check([("step", 4), ("bearer", 12), ("sn", 18)], [("x", 1)]).unwrap_err().part, "answer");
    }

    #[test]
    fn the_key_is_read_from_between_other_bits() {
        let mut fields = [0; FIELDS_MAX];
        fields[..5].copy_from_slice(&[0xfa, 0xbc, 0x12, 0x34, 0xff]);
        assert_eq!(interface(Some(0)).steering_key(&fields), 0xf);
        assert_eq!(interface(Some(1)).steering_key(&fields), 0xabc);
        assert_eq!(interface(Some(2)).steering_key(&fields), 0x0012_34ff_u64 >> 6 & 0x3_ffff);
        assert_eq!(interface(None).steering_key(&fields), 0);
    }

    #[test]
    fn reasons_have_names() {
        let interface = interface(None);
        assert_eq!(interface.reason_name(Reason::FULL), "full");
        assert_eq!(interface.reason_name(Reason::MALFORMED), "malformed");
        assert_eq!(interface.reason_name(Reason::own(0)), "odd");
        assert_eq!(interface.reason_name(Reason::own(1)), "unknown");
    }
}
