//! Reads integers and addresses from the front of untrusted octets, never past their end.

use std::net::{Ipv4Addr, Ipv6Addr};

/// What is wrong inside an information element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Shorter than what its flags or its type ask for, or longer than what holds it: cause 68.
    Length,
    /// A value that the element must not have: cause 69.
    Value,
}

/// Octets not read yet.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a [u8]) -> Reader<'a> {
        Reader { rest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Flaw> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Flaw::Length)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn all(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Flaw> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16, Flaw> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Flaw> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, Flaw> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// 40 bits, as bit rates are written.
    pub(super) fn u40(&mut self) -> Result<u64, Flaw> {
        let [a, b, c, d, e] = self.array()?;
        Ok(u64::from_be_bytes([0, 0, 0, a, b, c, d, e]))
    }

    pub(super) fn ipv4(&mut self) -> Result<Ipv4Addr, Flaw> {
        Ok(Ipv4Addr::from(self.array::<4>()?))
    }

    pub(super) fn ipv6(&mut self) -> Result<Ipv6Addr, Flaw> {
        Ok(Ipv6Addr::from(self.array::<16>()?))
    }

    /// The value if its flag is set.
    pub(super) fn when<T>(&mut self, present: bool, read: impl FnOnce(&mut Self) -> Result<T, Flaw>) -> Result<Option<T>, Flaw> {
        if present { read(self).map(Some) } else { Ok(None) }
    }
}
