//! Writing pcap files: classic format, nanosecond timestamps, Ethernet.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::PortError;

/// Writes packets to a file or anything else. Buffered: call [`PcapWriter::flush`] before others read the file; dropping flushes too.
pub struct PcapWriter<W: Write> {
    name: String,
    output: BufWriter<W>,
}

impl PcapWriter<File> {
    /// Creates or empties `path`.
    ///
    /// # Errors
    /// [`PortError::Config`] if it cannot be created.
    pub fn create(path: &Path) -> Result<PcapWriter<File>, PortError> {
        let name = path.display().to_string();
        let file = File::create(path).map_err(|e| PortError::Config(format!("cannot write {name}: {e}")))?;
        PcapWriter::new(&name, file)
    }
}

impl<W: Write> PcapWriter<W> {
    /// Writes to `output`, which errors call `name`.
    ///
    /// # Errors
    /// [`PortError::Io`] if the file header cannot be written.
    pub fn new(name: &str, output: W) -> Result<PcapWriter<W>, PortError> {
        let mut writer = PcapWriter { name: name.to_owned(), output: BufWriter::with_capacity(1 << 16, output) };
        let mut header = [0; 24];
        header[..4].copy_from_slice(&super::read::MAGIC_NS.to_le_bytes());
        header[4..6].copy_from_slice(&2u16.to_le_bytes());
        header[6..8].copy_from_slice(&4u16.to_le_bytes());
        header[16..20].copy_from_slice(&super::read::MAX_CAPTURED.to_le_bytes());
        header[20..24].copy_from_slice(&1u32.to_le_bytes());
        let written = writer.output.write_all(&header);
        writer.explain(written)?;
        Ok(writer)
    }

    /// Adds a frame captured at `time_ns` (nanoseconds since 1970; the format ends in 2106, later times are stored as that end).
    ///
    /// # Errors
    /// [`PortError::Io`] if the file cannot be written; [`PortError::Config`] for a frame beyond 256 KiB, which readers refuse.
    pub fn write(&mut self, time_ns: u64, frame: &[u8]) -> Result<(), PortError> {
        let length = match u32::try_from(frame.len()) {
            Ok(length) if length <= super::read::MAX_CAPTURED => length,
            _ => return Err(PortError::Config(format!("{}: a frame of {} bytes is too long for a pcap file", self.name, frame.len()))),
        };
        let (seconds, nanoseconds) = match u32::try_from(time_ns / 1_000_000_000) {
            Ok(seconds) => (seconds, (time_ns % 1_000_000_000) as u32),
            Err(_) => (u32::MAX, 999_999_999),
        };
        let mut header = [0; 16];
        for (to, value) in header.chunks_exact_mut(4).zip([seconds, nanoseconds, length, length]) {
            to.copy_from_slice(&value.to_le_bytes());
        }
        let written = self.output.write_all(&header).and_then(|()| self.output.write_all(frame));
        self.explain(written)
    }

    /// Hands everything written so far to the system.
    ///
    /// # Errors
    /// [`PortError::Io`], e.g. when the disk is full.
    pub fn flush(&mut self) -> Result<(), PortError> {
        let flushed = self.output.flush();
        self.explain(flushed)
    }

    fn explain(&self, result: io::Result<()>) -> Result<(), PortError> {
        result.map_err(|e| PortError::io(format!("writing {}", self.name), e))
    }
}
