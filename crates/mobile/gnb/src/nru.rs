//! What do CU and DU tell each other with a user's packet? NR-U (TS 38.425): the content of GTP-U's NR RAN container (TS 29.281 §5.2.2.6).
//!
//! The CU's frame numbers a packet and asks for reports; the DU's says what it has sent, what it has delivered, what was lost on the way, and how
//! many bytes it wants. Sequence numbers of PDCP are as in its PDUs, 12 or 18 bits in a field of 24.
//!
//! Left out: assistance information data (PDU type 2, §5.5.2.3). Spare bits are not looked at, and what follows the fields that we know is
//! padding (§5.5.3.2).

/// GTP-U extension header type of the NR RAN container (TS 29.281 §5.2.1).
pub const EXTENSION_TYPE: u8 = 0x84;
/// Most discard blocks that are written: a header of 1020 bytes (255 units of 4, TS 29.281 §5.2.1) holds them beside all other fields.
pub const MAX_BLOCKS: usize = 245;
/// Most ranges of each list that are written, for the same reason.
pub const MAX_RANGES: usize = 80;
/// Discard blocks that our CU writes in a frame: other DUs drop a frame that has more.
pub const COMMON_BLOCKS: usize = 16;
/// Lost ranges that our DU writes in a frame: other CUs drop a frame that has more.
pub const COMMON_RANGES: usize = 2;

reasons! {
    /// Why bytes are not a frame.
    Fault {
        /// They end within a field.
        Length = "length",
        /// A PDU type that is not taken.
        PduType = "pdu_type",
        /// A discard block of no packet.
        Block = "block",
    }
}

/// PDCP SDUs that the DU need not send any more (§5.5.3.10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Block {
    /// The first.
    pub start: u32,
    /// How many: at least 1.
    pub many: u8,
}

/// DL USER DATA (PDU type 0, §5.5.2.1): from the CU, with a PDCP PDU or without.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UserData {
    /// NR-U sequence number of the packet, 24 bits.
    pub sn: u32,
    /// The DU is to report.
    pub report_polling: bool,
    /// The packet was sent before, by this CU or another.
    pub retransmission: bool,
    /// There is more to come in the CU.
    pub user_data_exists: bool,
    /// The DU is to send assistance information.
    pub assistance_polling: bool,
    /// The DU is to report what was delivered out of sequence.
    pub out_of_sequence_report: bool,
    /// All PDCP SDUs up to this one may be dropped.
    pub flush: Option<u32>,
    /// PDCP SDUs that may be dropped; at most [`MAX_BLOCKS`] are written.
    pub discard: Vec<Block>,
    /// The DU is to report when the PDCP SDUs up to this one are delivered.
    pub report_delivered: Option<u32>,
}

/// DL DATA DELIVERY STATUS (PDU type 1, §5.5.2.2): from the DU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DeliveryStatus {
    /// Bytes that the DU wants for the bearer.
    pub desired_buffer: u32,
    /// Bytes that it wants in a second.
    pub desired_rate: Option<u32>,
    /// The last frame of this bearer.
    pub final_frame: bool,
    /// NR-U sequence numbers that did not come, from and to; at most [`MAX_RANGES`] are written.
    pub lost: Vec<(u32, u32)>,
    /// The highest PDCP SN delivered in sequence, among the PDUs that the DU has received; those sent again apart.
    pub highest_delivered: Option<u32>,
    /// The highest PDCP SN that was given to lower layers, among the same.
    pub highest_transmitted: Option<u32>,
    /// Why the radio has changed (§5.5.3.23).
    pub cause: Option<u8>,
    /// Of the PDUs that were sent again, in sequence of their NR-U SNs: the PDCP SN of the last one that was delivered.
    pub delivered_retransmitted: Option<u32>,
    /// Likewise, the PDCP SN of the last one that was given to lower layers.
    pub retransmitted: Option<u32>,
    /// PDCP SNs that were delivered out of sequence, from and to; at most [`MAX_RANGES`] are written.
    pub delivered_ranges: Vec<(u32, u32)>,
}

/// A frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Frame {
    /// Of the CU.
    UserData(UserData),
    /// Of the DU.
    DeliveryStatus(DeliveryStatus),
}

/// Reads fields one behind the other.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Fault::Length)?;
        self.0 = rest;
        Ok(*bytes)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    fn sn(&mut self) -> Result<u32, Fault> {
        self.bytes().map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]))
    }

    fn word(&mut self) -> Result<u32, Fault> {
        self.bytes().map(u32::from_be_bytes)
    }

    /// A field that a flag announces.
    fn given<T>(&mut self, flag: bool, read: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Option<T>, Fault> {
        flag.then(|| read(self)).transpose()
    }

    /// Fields behind their number, where a flag announces them.
    fn list<T>(&mut self, flag: bool, read: impl Fn(&mut Self) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let many = self.given(flag, Self::byte)?.unwrap_or(0);
        (0..many).map(|_| read(self)).collect()
    }

    fn range(&mut self) -> Result<(u32, u32), Fault> {
        Ok((self.sn()?, self.sn()?))
    }
}

impl Frame {
    /// Reads the content of the extension header, without its length and next-type bytes.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn parse(content: &[u8]) -> Result<Frame, Fault> {
        let mut reader = Reader(content);
        let [first, second] = reader.bytes()?;
        let bit = |byte: u8, bit: u8| byte >> bit & 1 != 0;
        match first >> 4 {
            0 => {
                let sn = reader.sn()?;
                let flush = reader.given(bit(first, 1), Reader::sn)?;
                let discard = reader.list(bit(first, 2), |reader| match (reader.sn()?, reader.byte()?) {
                    (_, 0) => Err(Fault::Block),
                    (start, many) => Ok(Block { start, many }),
                })?;
                let report_delivered = reader.given(bit(second, 3), Reader::sn)?;
                Ok(Frame::UserData(UserData {
                    sn,
                    report_polling: bit(first, 0),
                    retransmission: bit(second, 0),
                    assistance_polling: bit(second, 1),
                    user_data_exists: bit(second, 2),
                    out_of_sequence_report: bit(second, 4),
                    flush,
                    discard,
                    report_delivered,
                }))
            }
            1 => Ok(Frame::DeliveryStatus(DeliveryStatus {
                final_frame: bit(first, 1),
                desired_buffer: reader.word()?,
                desired_rate: reader.given(bit(second, 3), Reader::word)?,
                lost: reader.list(bit(first, 0), Reader::range)?,
                highest_delivered: reader.given(bit(first, 2), Reader::sn)?,
                highest_transmitted: reader.given(bit(first, 3), Reader::sn)?,
                cause: reader.given(bit(second, 0), Reader::byte)?,
                delivered_retransmitted: reader.given(bit(second, 1), Reader::sn)?,
                retransmitted: reader.given(bit(second, 2), Reader::sn)?,
                delivered_ranges: reader.list(bit(second, 4), Reader::range)?,
            })),
            _ => Err(Fault::PduType),
        }
    }

    /// Appends the extension header: length, content, padding, and `next`, the type of the header behind it (TS 29.281 §5.2.1).
    ///
    /// # Limits
    /// Sequence numbers are cut to 24 bits, lists to [`MAX_BLOCKS`] and [`MAX_RANGES`].
    pub fn emit(&self, next: u8, out: &mut Vec<u8>) {
        let at = out.len();
        out.push(0);
        match self {
            Frame::UserData(frame) => frame.emit(out),
            Frame::DeliveryStatus(frame) => frame.emit(out),
        }
        // Length, content and next type are a multiple of 4 bytes.
        out.resize(at + (out.len() - at + 1).next_multiple_of(4) - 1, 0);
        out.push(next);
        out[at] = ((out.len() - at) / 4) as u8;
    }
}

fn flags(bits: &[(bool, u8)]) -> u8 {
    bits.iter().fold(0, |flags, (set, bit)| flags | u8::from(*set) << bit)
}

fn emit_sn(sn: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&sn.to_be_bytes()[1..]);
}

fn emit_ranges(ranges: &[(u32, u32)], out: &mut Vec<u8>) {
    if ranges.is_empty() {
        return;
    }
    let ranges = &ranges[..ranges.len().min(MAX_RANGES)];
    out.push(ranges.len() as u8);
    for (start, end) in ranges {
        emit_sn(*start, out);
        emit_sn(*end, out);
    }
}

impl UserData {
    fn emit(&self, out: &mut Vec<u8>) {
        let first = [(!self.discard.is_empty(), 2), (self.flush.is_some(), 1), (self.report_polling, 0)];
        let second = [
            (self.out_of_sequence_report, 4),
            (self.report_delivered.is_some(), 3),
            (self.user_data_exists, 2),
            (self.assistance_polling, 1),
            (self.retransmission, 0),
        ];
        out.extend_from_slice(&[flags(&first), flags(&second)]);
        emit_sn(self.sn, out);
        self.flush.iter().for_each(|sn| emit_sn(*sn, out));
        if !self.discard.is_empty() {
            let blocks = &self.discard[..self.discard.len().min(MAX_BLOCKS)];
            out.push(blocks.len() as u8);
            for block in blocks {
                emit_sn(block.start, out);
                out.push(block.many);
            }
        }
        self.report_delivered.iter().for_each(|sn| emit_sn(*sn, out));
    }
}

impl DeliveryStatus {
    fn emit(&self, out: &mut Vec<u8>) {
        let first = [
            (self.highest_transmitted.is_some(), 3),
            (self.highest_delivered.is_some(), 2),
            (self.final_frame, 1),
            (!self.lost.is_empty(), 0),
        ];
        let second = [
            (!self.delivered_ranges.is_empty(), 4),
            (self.desired_rate.is_some(), 3),
            (self.retransmitted.is_some(), 2),
            (self.delivered_retransmitted.is_some(), 1),
            (self.cause.is_some(), 0),
        ];
        out.extend_from_slice(&[0x10 | flags(&first), flags(&second)]);
        out.extend_from_slice(&self.desired_buffer.to_be_bytes());
        self.desired_rate.iter().for_each(|rate| out.extend_from_slice(&rate.to_be_bytes()));
        emit_ranges(&self.lost, out);
        self.highest_delivered.iter().for_each(|sn| emit_sn(*sn, out));
        self.highest_transmitted.iter().for_each(|sn| emit_sn(*sn, out));
        out.extend(self.cause);
        self.delivered_retransmitted.iter().for_each(|sn| emit_sn(*sn, out));
        self.retransmitted.iter().for_each(|sn| emit_sn(*sn, out));
        emit_ranges(&self.delivered_ranges, out);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn emitted(frame: &Frame) -> Vec<u8> {
        let mut out = Vec::new();
        frame.emit(0x85, &mut out);
        out
    }

    #[test]
    fn a_user_data_frame_is_these_bytes() {
        let frame = Frame::UserData(UserData {
            sn: 0x0a_0b0c,
            report_polling: true,
            user_data_exists: true,
            flush: Some(5),
            discard: vec![Block { start: 9, many: 3 }],
            report_delivered: Some(0x3_ffff),
            ..UserData::default()
        });
        let bytes = [5, 0x07, 0x0c, 0x0a, 0x0b, 0x0c, 0, 0, 5, 1, 0, 0, 9, 3, 3, 0xff, 0xff, 0, 0, 0x85];
        assert_eq!(emitted(&frame), bytes);
        assert_eq!(Frame::parse(&bytes[1..19]), Ok(frame));
    }

    #[test]
    fn a_delivery_status_is_these_bytes() {
        let frame = Frame::DeliveryStatus(DeliveryStatus {
            desired_buffer: 0x0102_0304,
            lost: vec![(7, 9)],
            highest_delivered: Some(0x111),
            highest_transmitted: Some(0x222),
            cause: Some(1),
            ..DeliveryStatus::default()
        });
        let bytes = [6, 0x1d, 0x01, 1, 2, 3, 4, 1, 0, 0, 7, 0, 0, 9, 0, 1, 0x11, 0, 2, 0x22, 1, 0, 0, 0x85];
        assert_eq!(emitted(&frame), bytes);
        assert_eq!(Frame::parse(&bytes[1..23]), Ok(frame));
    }

    #[test]
    fn bytes_that_end_too_early_or_say_nothing_are_refused() {
        assert_eq!(Frame::parse(&[]), Err(Fault::Length));
        assert_eq!(Frame::parse(&[0x20, 0, 0, 0, 0]), Err(Fault::PduType));
        assert_eq!(Frame::parse(&[0x04, 0, 0, 0, 1, 1, 0, 0, 9, 0]), Err(Fault::Block));
        assert_eq!(Frame::parse(&[0x04, 0, 0, 0, 1, 2, 0, 0, 9, 1]), Err(Fault::Length));
    }

    #[test]
    fn a_frame_with_more_than_fits_is_cut_to_what_a_header_holds() {
        let long = Frame::UserData(UserData {
            flush: Some(1),
            report_delivered: Some(1),
            discard: (0..400).map(|start| Block { start, many: 1 }).collect(),
            ..UserData::default()
        });
        let bytes = emitted(&long);
        assert_eq!(usize::from(bytes[0]) * 4, bytes.len());
        let Ok(Frame::UserData(read)) = Frame::parse(&bytes[1..bytes.len() - 1]) else { panic!("a frame") };
        assert_eq!(read.discard.len(), MAX_BLOCKS);
        let many = vec![(1, 2); 400];
        let long = Frame::DeliveryStatus(DeliveryStatus {
            desired_rate: Some(1),
            lost: many.clone(),
            delivered_ranges: many,
            highest_delivered: Some(1),
            highest_transmitted: Some(1),
            cause: Some(1),
            delivered_retransmitted: Some(1),
            retransmitted: Some(1),
            ..DeliveryStatus::default()
        });
        let bytes = emitted(&long);
        assert_eq!(usize::from(bytes[0]) * 4, bytes.len());
    }

    fn sn() -> impl Strategy<Value = u32> {
        0u32..1 << 24
    }

    fn ranges() -> impl Strategy<Value = Vec<(u32, u32)>> {
        proptest::collection::vec((sn(), sn()), 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_back_and_every_shorter_frame_is_another_or_refused(
            flags in any::<[bool; 6]>(),
            sns in proptest::collection::vec(proptest::option::of(sn()), 6),
            words in any::<(u32, Option<u32>, Option<u8>)>(),
            (lost, delivered_ranges) in (ranges(), ranges()),
            blocks in proptest::collection::vec((sn(), 1u8..), 0..6),
        ) {
            let frame = if flags[0] {
                Frame::UserData(UserData {
                    sn: sns[0].unwrap_or(0),
                    report_polling: flags[1],
                    retransmission: flags[2],
                    user_data_exists: flags[3],
                    assistance_polling: flags[4],
                    out_of_sequence_report: flags[5],
                    flush: sns[1],
                    discard: blocks.into_iter().map(|(start, many)| Block { start, many }).collect(),
                    report_delivered: sns[2],
                })
            } else {
                Frame::DeliveryStatus(DeliveryStatus {
                    desired_buffer: words.0,
                    desired_rate: words.1,
                    final_frame: flags[1],
                    lost,
                    highest_delivered: sns[1],
                    highest_transmitted: sns[2],
                    cause: words.2,
                    delivered_retransmitted: sns[3],
                    retransmitted: sns[4],
                    delivered_ranges,
                })
            };
            let bytes = emitted(&frame);
            prop_assert_eq!(usize::from(bytes[0]) * 4, bytes.len());
            let content = &bytes[1..bytes.len() - 1];
            prop_assert_eq!(Frame::parse(content), Ok(frame.clone()));
            // Three bytes of padding at most.
            for cut in 0..content.len().saturating_sub(3) {
                prop_assert!(Frame::parse(&content[..cut]).is_err());
            }
        }
    }
}
