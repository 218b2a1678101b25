//! Capture files as a port: one file is received from, another takes what is transmitted.

use std::fs::File;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base::{MAX_PACKET, Packet};

use super::{PcapReader, PcapWriter};
use crate::{DeviceDrops, Port, PortError};

/// Gives the time, in nanoseconds since 1970, that transmitted packets are stamped with.
pub(crate) type Clock = Box<dyn FnMut() -> u64 + Send>;

/// A port over an input file, an output file, or both. Without an input it is finished from the start; without an output
/// what is transmitted is discarded.
pub struct PcapPort {
    name: String,
    input: Option<PcapReader<File>>,
    /// What ended the input, if it was not its end: reported once the packets before it are delivered.
    fault: Option<PortError>,
    output: Option<PcapWriter<File>>,
    clock: Clock,
    times_ns: Vec<u64>,
    drops: DeviceDrops,
}

impl PcapPort {
    /// Opens the files. `label` is the port's name in the configuration, e.g. `lan`.
    ///
    /// # Errors
    /// [`PortError::Config`] as of [`PcapReader::open`] and [`PcapWriter::create`].
    pub fn open(label: &str, input: Option<&Path>, output: Option<&Path>) -> Result<PcapPort, PortError> {
        let shown = |path: Option<&Path>| path.map_or("-".to_owned(), |path| path.display().to_string());
        // The input first: a wrong name must not empty the output file.
        let reader = input.map(PcapReader::open).transpose()?;
        let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if let (Some(i), Some(o)) = (input, output)
            && same(i, o)
        {
            return Err(PortError::Config(format!("ports.{label}: {} is both read and written", i.display())));
        }
        Ok(PcapPort {
            name: format!("{label} (pcap {} > {})", shown(input), shown(output)),
            input: reader,
            fault: None,
            output: output.map(PcapWriter::create).transpose()?,
            clock: Box::new(wall_clock),
            times_ns: Vec::new(),
            drops: DeviceDrops::default(),
        })
    }

    /// Stamps transmitted packets with another clock than the system's, e.g. a simulated one.
    pub fn with_clock(mut self, clock: Clock) -> PcapPort {
        self.clock = clock;
        self
    }
}

fn wall_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

impl Port for PcapPort {
    fn name(&self) -> &str {
        &self.name
    }

    /// A broken file gives its good packets first, then the error, then is finished.
    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        self.times_ns.clear();
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let mut count = 0;
        while count < packets.len() {
            match self.input.as_mut().and_then(Iterator::next) {
                // Too long for any port: it takes no place.
                Some(Ok(captured)) if captured.data.len() > MAX_PACKET => self.drops.rx_invalid += 1,
                Some(Ok(captured)) => {
                    packets[count].set(&captured.data);
                    self.times_ns.push(captured.time_ns);
                    count += 1;
                }
                Some(Err(fault)) => {
                    self.input = None;
                    if count == 0 {
                        return Err(fault);
                    }
                    self.fault = Some(fault);
                    break;
                }
                None => {
                    self.input = None;
                    break;
                }
            }
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        if let Some(output) = &mut self.output {
            for packet in packets {
                output.write((self.clock)(), packet.data())?;
            }
        }
        Ok(packets.len())
    }

    fn flush(&mut self) -> Result<(), PortError> {
        self.output.as_mut().map_or(Ok(()), PcapWriter::flush)
    }

    fn max_frame(&self) -> usize {
        MAX_PACKET
    }

    fn device_drops(&mut self) -> DeviceDrops {
        self.drops
    }

    fn finished(&self) -> bool {
        self.input.is_none() && self.fault.is_none()
    }

    fn times_ns(&self) -> &[u64] {
        &self.times_ns
    }
}
