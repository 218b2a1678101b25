//! Reading pcap and pcapng as a stream of packets.
//!
//! Files come from anywhere. Each record's or block's length is checked against a limit before memory is set aside for it, and what a
//! block holds is parsed only once it is whole in memory (pcapng blocks by the `pcap-parser` crate). Formats:
//! draft-ietf-opsawg-pcap and draft-ietf-opsawg-pcapng.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use pcap_parser::pcapng::{Block, OptionCode, parse_block_be, parse_block_le};

use crate::PortError;

/// Most bytes captured of one packet: what capture programs themselves allow.
pub(crate) const MAX_CAPTURED: u32 = 262_144;
/// Longest pcapng block that is read into memory: a packet with generous options. Blocks of other kinds are skipped unread.
const MAX_BLOCK: u32 = 1 << 20;
/// Most interfaces in one pcapng section.
const MAX_INTERFACES: usize = 4096;
/// First word of a classic file with nanoseconds.
pub(crate) const MAGIC_NS: u32 = 0xa1b2_3c4d;
const MAGIC_US: u32 = 0xa1b2_c3d4;
/// Alexey Kuznetsov's variant: 8 more bytes in each record header.
const MAGIC_MODIFIED: u32 = 0xa1b2_cd34;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// A captured packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcapPacket {
    /// Its place in the file, from 1, as capture viewers number it.
    pub number: u64,
    /// When it was captured, in nanoseconds since 1970; 0 if the file does not say.
    pub time_ns: u64,
    /// Length on the wire; more than `data` if the capture was cut short (with raw IP: plus the 14 bytes added).
    pub original_len: u32,
    /// The Ethernet frame, as far as captured.
    pub data: Vec<u8>,
}

/// Reads packets one by one: an iterator that ends after the last packet or the first error.
pub struct PcapReader<R: Read> {
    name: String,
    input: Input<R>,
    format: Format,
    number: u64,
    done: bool,
}

impl PcapReader<File> {
    /// Opens a pcap or pcapng file.
    ///
    /// # Errors
    /// [`PortError::Config`] if it cannot be opened, is no capture file, or has a link type that cannot be used.
    pub fn open(path: &Path) -> Result<PcapReader<File>, PortError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| PortError::Config(format!("cannot read {name}: {e}")))?;
        PcapReader::new(&name, file)
    }
}

impl<R: Read> PcapReader<R> {
    /// Reads from `input`, which errors call `name`.
    ///
    /// # Errors
    /// As [`PcapReader::open`].
    pub fn new(name: &str, input: R) -> Result<PcapReader<R>, PortError> {
        let mut input = Input { reader: BufReader::with_capacity(1 << 16, input), buffer: Vec::new(), steps: 0 };
        let format = Format::detect(&mut input).map_err(|fault| fault.explain(name, None))?;
        Ok(PcapReader { name: name.to_owned(), input, format, number: 0, done: false })
    }

    /// What errors call the input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What has been done so far: pieces of the file, each read or passed over once, and options looked at. At most one for four octets.
    pub fn steps(&self) -> u64 {
        self.input.steps
    }
}

impl<R: Read> Iterator for PcapReader<R> {
    type Item = Result<PcapPacket, PortError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let number = self.number + 1;
        match self.format.next(&mut self.input, number) {
            Ok(Some(packet)) => {
                self.number = number;
                Some(Ok(packet))
            }
            Ok(None) => {
                self.done = true;
                None
            }
            Err(fault) => {
                self.done = true;
                Some(Err(fault.explain(&self.name, Some(number))))
            }
        }
    }
}

/// All packets of a capture file in memory. Takes time and memory in proportion to `bytes`, whatever they are.
///
/// # Errors
/// [`PortError::Config`] saying at which packet the file is broken, and how.
pub fn read_all(bytes: &[u8]) -> Result<Vec<PcapPacket>, PortError> {
    PcapReader::new("capture", bytes)?.collect()
}

/// What is wrong, before file and packet are known.
enum Fault {
    Broken(String),
    Io(std::io::Error),
}

impl Fault {
    fn broken<T>(text: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Broken(text.into()))
    }

    fn explain(self, name: &str, packet: Option<u64>) -> PortError {
        match (self, packet) {
            (Fault::Broken(text), Some(number)) => PortError::Config(format!("{name}: packet {number}: {text}")),
            (Fault::Broken(text), None) => PortError::Config(format!("{name}: {text}")),
            (Fault::Io(e), _) => PortError::io(format!("reading {name}"), e),
        }
    }
}

/// The file, read in pieces whose length was checked.
struct Input<R: Read> {
    reader: BufReader<R>,
    buffer: Vec<u8>,
    /// See [`PcapReader::steps`].
    steps: u64,
}

impl<R: Read> Input<R> {
    /// Reads up to `length` bytes behind what `buffer` holds; returns how many there were.
    fn more(&mut self, length: usize) -> Result<usize, Fault> {
        let reader = &mut self.reader;
        self.steps += 1;
        reader.take(length as u64).read_to_end(&mut self.buffer).map_err(Fault::Io)
    }

    /// Fills `header`; `false` at the end of the file.
    fn header(&mut self, header: &mut [u8], what: &str) -> Result<bool, Fault> {
        self.buffer.clear();
        let got = self.more(header.len())?;
        if got == 0 {
            return Ok(false);
        }
        if got < header.len() {
            return Fault::broken(format!("the file ends inside {what}: {got} of {} bytes", header.len()));
        }
        header.copy_from_slice(&self.buffer);
        Ok(true)
    }

    /// `length` bytes, which the caller has limited.
    fn exact(&mut self, length: usize, what: &str) -> Result<&[u8], Fault> {
        self.buffer.clear();
        self.append(length, what)?;
        Ok(&self.buffer)
    }

    fn append(&mut self, length: usize, what: &str) -> Result<(), Fault> {
        let got = self.more(length)?;
        if got < length {
            return Fault::broken(format!("the file ends inside {what}: {got} of {length} bytes"));
        }
        Ok(())
    }

    /// Passes over `length` bytes without keeping them.
    fn skip(&mut self, length: u64, what: &str) -> Result<(), Fault> {
        let reader = &mut self.reader;
        self.steps += 1;
        match std::io::copy(&mut reader.take(length), &mut std::io::sink()) {
            Ok(got) if got == length => Ok(()),
            Ok(got) => Fault::broken(format!("the file ends inside {what}: {got} of {length} bytes")),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Fault::broken(format!("the file ends inside {what}")),
            Err(e) => Err(Fault::Io(e)),
        }
    }
}

enum Format {
    Classic(Classic),
    Ng(Section),
}

impl Format {
    fn detect<R: Read>(input: &mut Input<R>) -> Result<Format, Fault> {
        let mut first = [0; 4];
        if !input.header(&mut first, "its first word")? {
            return Fault::broken("the file is empty");
        }
        let big_endian = match u32::from_le_bytes(first) {
            SECTION_HEADER => {
                let mut section = Section::default();
                section.read_header(input)?;
                return Ok(Format::Ng(section));
            }
            MAGIC_US | MAGIC_NS | MAGIC_MODIFIED => false,
            word if matches!(word.swap_bytes(), MAGIC_US | MAGIC_NS | MAGIC_MODIFIED) => true,
            _ if first[..2] == [0x1f, 0x8b] => return Fault::broken("the file is compressed: run gunzip first"),
            _ if first == [0x28, 0xb5, 0x2f, 0xfd] => return Fault::broken("the file is compressed: run unzstd first"),
            word => return Fault::broken(format!("not a pcap or pcapng file: it begins with {word:08x}")),
        };
        Classic::read_header(input, first, big_endian).map(Format::Classic)
    }

    fn next<R: Read>(&mut self, input: &mut Input<R>, number: u64) -> Result<Option<PcapPacket>, Fault> {
        match self {
            Format::Classic(classic) => classic.next(input, number),
            Format::Ng(section) => section.next(input, number),
        }
    }
}

/// A classic file: one header, then records.
struct Classic {
    big_endian: bool,
    nanoseconds: bool,
    /// Record headers have 24 bytes, not 16.
    modified: bool,
    link: Link,
}

impl Classic {
    fn read_header<R: Read>(input: &mut Input<R>, magic: [u8; 4], big_endian: bool) -> Result<Classic, Fault> {
        let rest = input.exact(20, "the file header")?;
        let word = |at: usize| word(&rest[at..], big_endian);
        // The upper bits of the link type word hold the length of a frame check sequence.
        let link = Link::new(word(16) & 0xffff)?;
        let magic = self::word(&magic, big_endian);
        Ok(Classic { big_endian, nanoseconds: magic == MAGIC_NS, modified: magic == MAGIC_MODIFIED, link })
    }

    fn next<R: Read>(&self, input: &mut Input<R>, number: u64) -> Result<Option<PcapPacket>, Fault> {
        let mut header = [0; 24];
        let header = &mut header[..if self.modified { 24 } else { 16 }];
        if !input.header(header, "a record header")? {
            return Ok(None);
        }
        let field = |i: usize| word(&header[4 * i..], self.big_endian);
        let (seconds, fraction, captured, original_len) = (field(0), field(1), field(2), field(3));
        if captured > MAX_CAPTURED {
            return Fault::broken(format!("claims {captured} captured bytes; at most {MAX_CAPTURED} are allowed"));
        }
        let fraction_ns = u64::from(fraction) * if self.nanoseconds { 1 } else { 1000 };
        let time_ns = u64::from(seconds) * 1_000_000_000 + fraction_ns;
        let data = self.link.frame(input.exact(captured as usize, "the packet")?)?;
        let original_len = self.link.frame_len(original_len);
        Ok(Some(PcapPacket { number, time_ns, original_len, data }))
    }
}

/// A section of a pcapng file: its byte order and the interfaces described so far.
#[derive(Default)]
struct Section {
    big_endian: bool,
    interfaces: Vec<Described>,
}

/// An Interface Description Block, as far as it matters.
struct Described {
    link: u32,
    snaplen: u32,
    /// `if_tsresol`: a negative power of ten, or of two if the top bit is set.
    resolution: u8,
    /// `if_tsoffset`, in seconds.
    offset_s: i64,
}

impl Section {
    /// Reads a Section Header Block behind its type word; a new section forgets the interfaces.
    fn read_header<R: Read>(&mut self, input: &mut Input<R>) -> Result<(), Fault> {
        let what = "a section header";
        let mut fixed = [0; 8];
        if !input.header(&mut fixed, what)? {
            return Fault::broken("the file ends inside a section header");
        }
        self.big_endian = match u32::from_le_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]) {
            BYTE_ORDER => false,
            word if word.swap_bytes() == BYTE_ORDER => true,
            word => return Fault::broken(format!("the section header has byte-order magic {word:08x}")),
        };
        self.interfaces.clear();
        let length = block_length(word(&fixed, self.big_endian), 28, what)?;
        if length > MAX_BLOCK {
            return Fault::broken(format!("a section header of {length} bytes is too long"));
        }
        let rest = input.exact(length as usize - 12, what)?;
        let major = if self.big_endian { u16::from_be_bytes([rest[0], rest[1]]) } else { u16::from_le_bytes([rest[0], rest[1]]) };
        if major != 1 {
            return Fault::broken(format!("pcapng version {major} is unknown"));
        }
        check_trailer(rest, length, self.big_endian)
    }

    fn next<R: Read>(&mut self, input: &mut Input<R>, number: u64) -> Result<Option<PcapPacket>, Fault> {
        const INTERFACE: u32 = 1;
        const SIMPLE_PACKET: u32 = 3;
        const ENHANCED_PACKET: u32 = 6;
        loop {
            let mut kind = [0; 4];
            if !input.header(&mut kind, "a block header")? {
                return Ok(None);
            }
            let kind_word = word(&kind, self.big_endian);
            if kind_word == SECTION_HEADER {
                self.read_header(input)?;
                continue;
            }
            let mut length = [0; 4];
            if !input.header(&mut length, "a block header")? {
                return Fault::broken("the file ends inside a block header");
            }
            let what = format!("a block of type {kind_word:#x}");
            let block_len = block_length(word(&length, self.big_endian), 12, &what)?;
            if !matches!(kind_word, INTERFACE | SIMPLE_PACKET | ENHANCED_PACKET) {
                input.skip(u64::from(block_len) - 8, &what)?;
                continue;
            }
            if block_len > MAX_BLOCK {
                return Fault::broken(format!("{what} has {block_len} bytes, more than the {MAX_BLOCK} that are allowed"));
            }
            input.buffer.clear();
            input.buffer.extend(kind);
            input.buffer.extend(length);
            input.append(block_len as usize - 8, &what)?;
            check_trailer(&input.buffer, block_len, self.big_endian)?;
            let parse = if self.big_endian { parse_block_be } else { parse_block_le };
            let Ok((_, block)) = parse(&input.buffer) else {
                return Fault::broken(format!("{what} is malformed"));
            };
            if let Block::InterfaceDescription(description) = &block {
                input.steps += description.options.len() as u64;
            }
            if let Some(packet) = self.take(block, number)? {
                return Ok(Some(packet));
            }
        }
    }

    fn take(&mut self, block: Block<'_>, number: u64) -> Result<Option<PcapPacket>, Fault> {
        match block {
            Block::InterfaceDescription(description) => {
                if self.interfaces.len() == MAX_INTERFACES {
                    return Fault::broken(format!("more than {MAX_INTERFACES} interfaces"));
                }
                let offset = description.options.iter().find(|option| option.code == OptionCode::IfTsoffset);
                let offset = offset.and_then(|option| option.as_bytes().ok()).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok());
                let decode = if self.big_endian { i64::from_be_bytes } else { i64::from_le_bytes };
                self.interfaces.push(Described {
                    link: u32::try_from(description.linktype.0).unwrap_or(u32::MAX),
                    snaplen: description.snaplen,
                    resolution: description.if_tsresol,
                    offset_s: offset.map_or(0, decode),
                });
                Ok(None)
            }
            Block::EnhancedPacket(packet) => {
                let captured = packet.caplen as usize;
                if packet.caplen > MAX_CAPTURED || captured > packet.data.len() {
                    return Fault::broken(format!("claims {captured} captured bytes, more than the block holds or is allowed"));
                }
                let interface = self.interface(packet.if_id)?;
                let link = Link::new(interface.link)?;
                let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let data = link.frame(&packet.data[..captured])?;
                let original_len = link.frame_len(packet.origlen);
                Ok(Some(PcapPacket { number, time_ns: interface.time_ns(ticks), original_len, data }))
            }
            Block::SimplePacket(packet) => {
                let interface = self.interface(0)?;
                let limit = if interface.snaplen == 0 { MAX_CAPTURED } else { interface.snaplen };
                let captured = packet.origlen.min(limit) as usize;
                if captured > packet.data.len() || captured > MAX_CAPTURED as usize {
                    return Fault::broken(format!("claims {captured} captured bytes, more than the block holds or is allowed"));
                }
                let link = Link::new(interface.link)?;
                let data = link.frame(&packet.data[..captured])?;
                Ok(Some(PcapPacket { number, time_ns: 0, original_len: link.frame_len(packet.origlen), data }))
            }
            _ => Ok(None),
        }
    }

    fn interface(&self, id: u32) -> Result<&Described, Fault> {
        let count = self.interfaces.len();
        let found = self.interfaces.get(id as usize);
        found.ok_or_else(|| Fault::Broken(format!("it names interface {id}, but {count} are described")))
    }
}

impl Described {
    /// Nanoseconds since 1970 of a timestamp in this interface's units; out of range becomes the nearest end.
    fn time_ns(&self, ticks: u64) -> u64 {
        let exponent = u32::from(self.resolution & 0x7f);
        let ticks = u128::from(ticks) * 1_000_000_000;
        let ns = if self.resolution & 0x80 != 0 {
            ticks.checked_shr(exponent).unwrap_or(0)
        } else {
            10u128.checked_pow(exponent).map_or(0, |units| ticks / units)
        };
        let ns = ns as i128 + i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}

/// A block length that can be: at least its fixed part and a multiple of four.
fn block_length(length: u32, least: u32, what: &str) -> Result<u32, Fault> {
    if length < least || !length.is_multiple_of(4) {
        return Fault::broken(format!("{what} claims {length} bytes"));
    }
    Ok(length)
}

/// Each block ends with its length again.
fn check_trailer(block: &[u8], length: u32, big_endian: bool) -> Result<(), Fault> {
    let trailer = block.last_chunk::<4>().map(|bytes| word(bytes, big_endian));
    if trailer != Some(length) {
        return Fault::broken(format!("a block of {length} bytes ends with length {}", trailer.unwrap_or(0)));
    }
    Ok(())
}

/// The first four bytes as a number; zero if there are fewer.
fn word(bytes: &[u8], big_endian: bool) -> u32 {
    let bytes = bytes.first_chunk::<4>().copied().unwrap_or_default();
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// What captured bytes begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    Ethernet,
    /// An IPv4 or IPv6 header.
    Ip,
}

impl Link {
    fn new(number: u32) -> Result<Link, Fault> {
        match number {
            1 => Ok(Link::Ethernet),
            // LINKTYPE_RAW, its old numbers, LINKTYPE_IPV4 and LINKTYPE_IPV6.
            101 | 12 | 14 | 228 | 229 => Ok(Link::Ip),
            _ => {
                let name = match number {
                    0 => " (BSD loopback)",
                    105 | 127 => " (802.11)",
                    113 => " (Linux cooked capture: capture on one interface, not on `any`)",
                    276 => " (Linux cooked capture 2: capture on one interface, not on `any`)",
                    147..=162 => " (user-defined)",
                    _ => "",
                };
                Fault::broken(format!("link type {number}{name} is neither Ethernet nor raw IP"))
            }
        }
    }

    fn frame(self, captured: &[u8]) -> Result<Vec<u8>, Fault> {
        if self == Link::Ethernet {
            return Ok(captured.to_vec());
        }
        let ethertype: [u8; 2] = match captured.first().map(|byte| byte >> 4) {
            Some(4) => [0x08, 0x00],
            Some(6) => [0x86, 0xdd],
            Some(version) => return Fault::broken(format!("raw IP with version {version}")),
            None => return Fault::broken("raw IP without a byte"),
        };
        Ok([&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2][..], &ethertype, captured].concat())
    }

    fn frame_len(self, length: u32) -> u32 {
        length.saturating_add(if self == Link::Ip { 14 } else { 0 })
    }
}
