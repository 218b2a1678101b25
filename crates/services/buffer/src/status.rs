//! What does an RLC AM STATUS PDU acknowledge, and what does it say is missing (TS 38.322 §6.2.2.5)?

/// Length of an RLC AM sequence number (TS 38.322 §6.2.3.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SnLength {
    /// 12 bits.
    Bits12,
    /// 18 bits.
    Bits18,
}

impl SnLength {
    /// Number of sequence numbers.
    pub const fn modulus(self) -> u32 {
        match self {
            SnLength::Bits12 => 1 << 12,
            SnLength::Bits18 => 1 << 18,
        }
    }

    /// `AM_Window_Size` (TS 38.322 §7.2): half of the numbers.
    pub const fn window(self) -> u32 {
        self.modulus() / 2
    }

    /// What is left of a number that wraps around.
    pub const fn mask(self) -> u32 {
        self.modulus() - 1
    }
}

/// Why a STATUS PDU is ignored as a whole. Nothing has changed then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum StatusFault {
    /// There is no such bearer.
    NoBearer,
    /// It ends within a field, or goes on behind its end.
    Length,
    /// A data PDU, or a control PDU of another type.
    NotStatus,
    /// A NACK range of no packet.
    Field,
    /// `ACK_SN` is before `TX_Next_Ack`: late, a newer status has been processed.
    Stale,
    /// `ACK_SN` is neither: it acknowledges what was not sent.
    OutsideWindow,
}

impl StatusFault {
    /// All of them, in the order of their numbers.
    pub const ALL: [StatusFault; 6] = [
        StatusFault::NoBearer,
        StatusFault::Length,
        StatusFault::NotStatus,
        StatusFault::Field,
        StatusFault::Stale,
        StatusFault::OutsideWindow,
    ];

    /// Its name in counters.
    pub fn name(self) -> &'static str {
        match self {
            StatusFault::NoBearer => "no_bearer",
            StatusFault::Length => "length",
            StatusFault::NotStatus => "not_status",
            StatusFault::Field => "field",
            StatusFault::Stale => "stale",
            StatusFault::OutsideWindow => "outside_window",
        }
    }
}

/// Some packets that are missing, or parts of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nack {
    /// The first of them.
    pub sn: u32,
    /// How many, from `sn` on; 1 to 255. More than 1 is sent as a NACK range.
    pub range: u8,
    /// `SOstart` in the first packet and `SOend` in the last; [`SO_END`]: up to its last byte. `None`: whole packets.
    pub segment: Option<(u16, u16)>,
}

/// `SOend` of a segment that reaches to the last byte (TS 38.322 §6.2.3.14).
pub const SO_END: u16 = 0xffff;

impl Nack {
    /// One packet, whole.
    pub fn of(sn: u32) -> Nack {
        Nack { sn, range: 1, segment: None }
    }
}

/// Packets that are missing, or parts of them, by their offsets from `TX_Next_Ack` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Missing {
    /// The first; negative where it is acknowledged already.
    pub first: i32,
    /// The last; 0 or more, and sent.
    pub last: i32,
    /// As [`Nack::segment`].
    pub segment: Option<(u16, u16)>,
}

/// A STATUS PDU whose lengths and fields are checked.
#[derive(Clone, Copy, Debug)]
pub struct Status<'a> {
    sn_length: SnLength,
    ack_sn: u32,
    nacks: &'a [u8],
}

/// Bytes before the first NACK, with either length of numbers.
const HEADER: usize = 3;

impl<'a> Status<'a> {
    /// Checks an RLC control PDU, from its first byte on.
    ///
    /// # Errors
    /// [`StatusFault::Length`], [`StatusFault::NotStatus`] or [`StatusFault::Field`].
    pub fn new_checked(pdu: &'a [u8], sn_length: SnLength) -> Result<Status<'a>, StatusFault> {
        let (header, nacks) = pdu.split_at_checked(HEADER).ok_or(StatusFault::Length)?;
        // D/C is 0 for control, CPT is 0 for STATUS.
        if header[0] >> 4 != 0 {
            return Err(StatusFault::NotStatus);
        }
        let bits = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let (ack_sn, more) = match sn_length {
            SnLength::Bits12 => (bits >> 8 & 0xfff, bits & 0x80 != 0),
            SnLength::Bits18 => (bits >> 2 & 0x3_ffff, bits & 2 != 0),
        };
        let mut rest = nacks;
        let mut expected = more;
        while expected {
            let (nack, more, after) = read_nack(rest, sn_length).ok_or(StatusFault::Length)?;
            if nack.range == 0 {
                return Err(StatusFault::Field);
            }
            (rest, expected) = (after, more);
        }
        if !rest.is_empty() {
            return Err(StatusFault::Length);
        }
        Ok(Status { sn_length, ack_sn, nacks })
    }

    /// All before it is received, but for what the NACKs name.
    pub fn ack_sn(&self) -> u32 {
        self.ack_sn
    }

    /// The length of its numbers.
    pub fn sn_length(&self) -> SnLength {
        self.sn_length
    }

    /// What is missing of the first `in_flight` packets from `TX_Next_Ack` on, of which `offset` says where they are, in ascending order.
    ///
    /// A NACK may reach `ACK_SN` and what is behind it: TS 38.322 §5.3.2 bounds it by what was sent alone, and a STATUS PDU that a grant has cut within an SDU's segments has
    /// such NACKs. They are written in ascending order (§5.3.4). Where they are not, or one lies in another, they are taken all the same, each for whole packets: a
    /// packet that is sent once too often costs less than a bearer that stands still, since its peer would say the same again.
    pub fn missing(&self, offset: impl Fn(u32) -> i32, in_flight: i32, missing: &mut Vec<Missing>) {
        missing.clear();
        let mut in_order = true;
        for Nack { sn, range, segment } in self.nacks() {
            let first = offset(sn);
            if let Some(before) = missing.last() {
                // Segments of one packet follow each other.
                let is_next_segment = first == before.last && before.segment.is_some() && segment.is_some();
                in_order &= first > before.last || is_next_segment;
            }
            missing.push(Missing { first, last: first + i32::from(range) - 1, segment });
        }
        if !in_order {
            missing.iter_mut().for_each(|of| of.segment = None);
            missing.sort_unstable_by_key(|of| (of.first, of.last));
            missing.dedup_by(|next, before| {
                let meets = next.first <= before.last + 1;
                before.last = if meets { before.last.max(next.last) } else { before.last };
                meets
            });
        }
        missing.retain_mut(|of| {
            if of.last >= in_flight {
                of.last = in_flight - 1;
                of.segment = of.segment.map(|(start, _)| (start, SO_END));
            }
            of.last >= of.first.max(0)
        });
    }

    /// In the order of the PDU.
    pub fn nacks(&self) -> impl Iterator<Item = Nack> + use<'a> {
        let (mut rest, sn_length) = (self.nacks, self.sn_length);
        std::iter::from_fn(move || {
            let (nack, _, after) = read_nack(rest, sn_length)?;
            rest = after;
            Some(nack)
        })
    }
}

/// A NACK, whether another follows, and the bytes behind it.
#[inline]
fn read_nack(bytes: &[u8], sn_length: SnLength) -> Option<(Nack, bool, &[u8])> {
    let (sn, flags, mut rest) = match (sn_length, bytes) {
        (SnLength::Bits12, [a, b, rest @ ..]) => (u32::from(*a) << 4 | u32::from(*b) >> 4, b >> 1 & 7, rest),
        (SnLength::Bits18, [a, b, c, rest @ ..]) => (u32::from(*a) << 10 | u32::from(*b) << 2 | u32::from(*c) >> 6, c >> 3 & 7, rest),
        _ => return None,
    };
    let (e1, e2, e3) = (flags & 4 != 0, flags & 2 != 0, flags & 1 != 0);
    let mut segment = None;
    if e2 {
        let ([a, b, c, d], after) = rest.split_first_chunk()?;
        segment = Some((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])));
        rest = after;
    }
    let mut range = 1;
    if e3 {
        (range, rest) = rest.split_first().map(|(range, rest)| (*range, rest))?;
    }
    Some((Nack { sn, range, segment }, e1, rest))
}

/// Appends a STATUS PDU to `out`. Numbers are cut to their length.
pub fn emit(sn_length: SnLength, ack_sn: u32, nacks: &[Nack], out: &mut Vec<u8>) {
    let ack_sn = ack_sn & sn_length.mask();
    let more = u32::from(!nacks.is_empty());
    let header = match sn_length {
        SnLength::Bits12 => ack_sn << 8 | more << 7,
        SnLength::Bits18 => ack_sn << 2 | more << 1,
    };
    out.extend(&header.to_be_bytes()[1..]);
    for (at, nack) in nacks.iter().enumerate() {
        let flags = u32::from(at + 1 < nacks.len()) << 2 | u32::from(nack.segment.is_some()) << 1 | u32::from(nack.range != 1);
        let sn = nack.sn & sn_length.mask();
        match sn_length {
            SnLength::Bits12 => out.extend(&(sn << 4 | flags << 1).to_be_bytes()[2..]),
            SnLength::Bits18 => out.extend(&(sn << 6 | flags << 3).to_be_bytes()[1..]),
        }
        if let Some((start, end)) = nack.segment {
            out.extend(start.to_be_bytes());
            out.extend(end.to_be_bytes());
        }
        if nack.range != 1 {
            out.push(nack.range);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NACKS: [Nack; 4] = [
        Nack { sn: 3, range: 1, segment: None },
        Nack { sn: 5, range: 1, segment: Some((100, 299)) },
        Nack { sn: 9, range: 255, segment: None },
        Nack { sn: 0xabc, range: 7, segment: Some((8, SO_END)) },
    ];

    #[test]
    fn a_status_is_laid_out_as_the_clause_draws_it() {
        let mut pdu = Vec::new();
        emit(SnLength::Bits12, 0xdef, &NACKS, &mut pdu);
        let expected: [&[u8]; 5] = [
            // ACK_SN, E1.
            &[0x0d, 0xef, 0x80],
            &[0x00, 0x38],
            &[0x00, 0x5c, 0, 100, 1, 43],
            &[0x00, 0x9a, 255],
            &[0xab, 0xc6, 0, 8, 0xff, 0xff, 7],
        ];
        assert_eq!(pdu, expected.concat());
        pdu.clear();
        emit(SnLength::Bits18, 0x2_4def, &NACKS[1..2], &mut pdu);
        assert_eq!(pdu, [0x09, 0x37, 0xbe, 0x00, 0x01, 0x50, 0, 100, 1, 43]);
    }

    #[test]
    fn what_is_emitted_is_read_back_and_every_shorter_or_longer_pdu_is_refused() {
        for sn_length in [SnLength::Bits12, SnLength::Bits18] {
            let mut pdu = Vec::new();
            emit(sn_length, 0xdef, &NACKS, &mut pdu);
            let status = Status::new_checked(&pdu, sn_length).unwrap();
            assert_eq!(status.ack_sn(), 0xdef);
            assert_eq!(status.nacks().collect::<Vec<_>>(), NACKS);
            for len in 0..pdu.len() {
                assert_eq!(Status::new_checked(&pdu[..len], sn_length).unwrap_err(), StatusFault::Length);
            }
            pdu.push(0);
            assert_eq!(Status::new_checked(&pdu, sn_length).unwrap_err(), StatusFault::Length);
        }
    }

    #[test]
    fn a_data_pdu_and_a_range_of_none_are_refused() {
        let check = |pdu: &[u8]| Status::new_checked(pdu, SnLength::Bits12).map(|_| ()).unwrap_err();
        assert_eq!(check(&[0x80, 0, 0]), StatusFault::NotStatus);
        assert_eq!(check(&[0x10, 0, 0]), StatusFault::NotStatus);
        assert_eq!(check(&[0, 9, 0x80, 0, 0x12, 0]), StatusFault::Field);
    }

    #[test]
    fn nacks_out_of_order_name_whole_packets_and_those_of_what_was_not_sent_none() {
        let missing = |nacks: &[Nack]| {
            let (mut pdu, mut missing) = (Vec::new(), Vec::new());
            emit(SnLength::Bits12, 9, nacks, &mut pdu);
            // From 4 on, of which ten were sent.
            let offset = |sn: u32| sn as i32 - 4;
            Status::new_checked(&pdu, SnLength::Bits12).unwrap().missing(offset, 10, &mut missing);
            missing.iter().map(|of| (of.first, of.last, of.segment)).collect::<Vec<_>>()
        };
        let part = |sn, range, start, end| Nack { sn, range, segment: Some((start, end)) };
        let run = |sn, range| Nack { sn, range, segment: None };
        // ACK_SN is no bound, TX_Next is.
        assert_eq!(missing(&[part(8, 2, 481, 35)]), [(4, 5, Some((481, 35)))]);
        assert_eq!(missing(&[run(2, 1), run(3, 2), part(12, 3, 7, 8), run(15, 1)]), [(-1, 0, None), (8, 9, Some((7, SO_END)))]);
        assert_eq!(missing(&[part(5, 1, 0, 9), part(5, 1, 20, 29)]).len(), 2, "segments of one packet");
        assert_eq!(missing(&[run(7, 1), part(5, 1, 0, 9)]), [(1, 1, None), (3, 3, None)]);
        assert_eq!(missing(&[run(5, 4), run(6, 1), run(9, 1)]), [(1, 5, None)]);
    }
}
