//! A transmit-only port, for workers that share an interface from which only one receives.

use base::Packet;

use crate::{DeviceDrops, Port, PortError};

/// Passes on what is transmitted; nothing is ever received.
pub struct TransmitOnly<P>(pub P);

impl<P: Port> Port for TransmitOnly<P> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn receive(&mut self, _: &mut [Packet]) -> Result<usize, PortError> {
        Ok(0)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        self.0.transmit(packets)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        self.0.flush()
    }

    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        Some(self.0.reopen()?.map(|port| Box::new(TransmitOnly(port)) as Box<dyn Port>))
    }

    fn unsent(&self) -> usize {
        self.0.unsent()
    }

    fn receives(&self) -> bool {
        false
    }

    fn max_frame(&self) -> usize {
        self.0.max_frame()
    }

    /// What the device receives for us is not lost: the worker that receives has it.
    fn device_drops(&mut self) -> DeviceDrops {
        DeviceDrops { tx_invalid: self.0.device_drops().tx_invalid, ..DeviceDrops::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    #[test]
    fn it_sends_and_never_receives() {
        let (near, mut far) = crate::memory::pair("near", "far", 8);
        let mut near = TransmitOnly(near);
        let mut packets = [Packet::new(&[1; 60], PortId(0))];
        assert_eq!(near.transmit(&packets).unwrap(), 1);
        assert_eq!(far.receive(&mut packets).unwrap(), 1);
        assert_eq!(far.transmit(&packets).unwrap(), 1);
        assert_eq!(near.receive(&mut packets).unwrap(), 0);
    }
}
