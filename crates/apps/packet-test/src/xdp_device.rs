//! How does a packet test run in the kernel's XDP hook? As a device, each packet a test run; and which tests do not fit there?

use base::PortId;
use p4_interp::stf;
use program::Program;
use std::sync::Arc;
use target_api::{Lane, Target};
use target_xdp::{LoadError, Options, Xdp};

/// Room of each table: more than a packet test fills.
const ENTRIES: u64 = 4096;

/// A program in the kernel as the device of a packet test. It holds the whole of every table, as a packet test knows no next
/// target.
pub struct XdpDevice {
    xdp: Xdp,
    lane: Box<dyn Lane>,
    now_ns: u64,
}

impl XdpDevice {
    /// Compiles and loads it.
    pub fn new(program: &Program, text: &str) -> Result<XdpDevice, LoadError> {
        let options = Options { subset: false, short_packets: true, entries: ENTRIES, ..Options::default() };
        let xdp = Xdp::load(Arc::new(program.clone()), text, &options)?;
        Ok(XdpDevice { lane: xdp.lane(0), xdp, now_ns: 0 })
    }
}

impl stf::Device for XdpDevice {
    fn apply(&mut self, batch: &program::Batch) -> Result<(), program::ApplyError> {
        self.xdp.apply(batch)
    }

    fn process(&mut self, port: PortId, bytes: &[u8]) -> Vec<(PortId, Vec<u8>)> {
        if bytes.len() > base::MAX_PACKET {
            return Vec::new();
        }
        let (mut packets, mut verdicts) = ([base::Packet::new(bytes, port)], [base::Verdict::default()]);
        self.now_ns += 1000;
        self.lane.process(&mut packets, &mut verdicts, self.now_ns);
        stf::way_out(verdicts[0]).map(|port| (port, packets[0].data().to_vec())).into_iter().collect()
    }

    fn counter(&mut self, counter: program::CounterId, index: u64) -> p4_interp::Count {
        let count = self.xdp.counter(counter, index);
        p4_interp::Count { packets: count.packets, bytes: count.bytes }
    }

    fn register(&mut self, register: program::RegisterId, index: u64) -> Option<u128> {
        self.xdp.register(register, index).map(u128::from)
    }

    fn set_register(&mut self, register: program::RegisterId, index: u64, value: u128) -> bool {
        // The emitter takes no wider registers.
        self.xdp.set_register(register, index, value as u64)
    }
}
