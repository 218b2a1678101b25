//! What is a bearer's setting? Formats, windows and timers of the receiving sides, as bytes of a fixed length.

use ::service::SettingError;
use gnb::pdcp::pdu::Format;
use gnb::pdcp::{CountGuard, Kind, OrderConfig};
use gnb::rlc::SnLength;
use gnb::rlc::am_rx::{self, AmRx};
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::{UmRx, UmRxConfig};

/// RLC's receiving side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RlcConfig {
    /// Transparent mode.
    Tm,
    /// Unacknowledged mode.
    Um(UmRxConfig),
    /// Acknowledged mode.
    Am(am_rx::RxConfig),
}

/// A bearer's receiving side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BearerConfig {
    /// RLC.
    pub rlc: RlcConfig,
    /// How PDCP's PDUs look.
    pub format: Format,
    /// PDCP's reordering. Length of sequence numbers and the COUNT to stop at are those of `format` and of [`CountGuard::default`].
    pub order: OrderConfig,
}

const MS: u64 = 1_000_000;
const LEN: usize = 40;
/// In place of a timer: infinity.
const NEVER: u32 = u32::MAX;

const INTEGRITY: u8 = 1;
const SDAP_HEADER: u8 = 2;
const OUT_OF_ORDER: u8 = 4;

fn sn_bits(sn_length: SnLength) -> u8 {
    match sn_length {
        SnLength::Bits12 => 12,
        SnLength::Bits18 => 18,
    }
}

fn sn_length(bits: u8) -> Option<SnLength> {
    match bits {
        12 => Some(SnLength::Bits12),
        18 => Some(SnLength::Bits18),
        _ => None,
    }
}

/// A bearer's setting: its index is the bearer's number. Timers are kept in whole milliseconds.
pub fn bearer_setting(config: &BearerConfig) -> Vec<u8> {
    let BearerConfig { rlc, format, order } = config;
    let ms = |ns: u64| (ns / MS).min(u64::from(NEVER - 1)) as u32;
    let (mode, bits, window, bytes, reassembly, prohibit) = match rlc {
        RlcConfig::Tm => (0, 0, 0, 0, 0, 0),
        RlcConfig::Um(um) => (1, if um.sn_length == UmSnLength::Bits6 { 6 } else { 12 }, 0, um.partial_bytes, ms(um.reassembly_ns), 0),
        RlcConfig::Am(am) => (2, sn_bits(am.sn_length), am.window, am.partial_bytes, ms(am.reassembly_ns), ms(am.status_prohibit_ns)),
    };
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let flags = flag(format.integrity, INTEGRITY) | flag(format.sdap_header, SDAP_HEADER) | flag(order.out_of_order, OUT_OF_ORDER);
    let mut value = vec![mode, bits, sn_bits(format.sn_length), flags];
    value.extend(window.to_be_bytes());
    value.extend((bytes as u64).to_be_bytes());
    value.extend(reassembly.to_be_bytes());
    value.extend(prohibit.to_be_bytes());
    value.extend(order.window.to_be_bytes());
    value.extend(order.bytes.to_be_bytes());
    value.extend(order.reordering_ns.map_or(NEVER, ms).to_be_bytes());
    value
}

impl BearerConfig {
    /// Whether its numbers are in their ranges.
    ///
    /// # Errors
    /// Which is not, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        // Entities check their own.
        match &self.rlc {
            RlcConfig::Tm => {}
            RlcConfig::Um(um) => UmRx::new(*um).map(drop).map_err(|e| e.to_string())?,
            RlcConfig::Am(am) => AmRx::new(*am).map(drop).map_err(|e| e.to_string())?,
        }
        self.order.check().map_err(|e| e.to_string())
    }
}

/// Reads and checks a setting.
pub(crate) fn read(index: u32, value: &[u8]) -> Result<BearerConfig, SettingError> {
    let wrong = |what: String| SettingError::Value { index, what };
    let config = split(value).ok_or_else(|| wrong(format!("expected a bearer's {LEN} bytes: TM, UM of 6 or 12 bits, AM of 12 or 18")))?;
    config.check().map_err(wrong)?;
    Ok(config)
}

fn split(value: &[u8]) -> Option<BearerConfig> {
    let value: &[u8; LEN] = value.try_into().ok()?;
    let (&[mode, bits, pdcp_bits, flags], rest) = value.split_first_chunk()?;
    let (window, rest) = rest.split_first_chunk()?;
    let (bytes, rest) = rest.split_first_chunk()?;
    let (reassembly, rest) = rest.split_first_chunk()?;
    let (prohibit, rest) = rest.split_first_chunk()?;
    let (order_window, rest) = rest.split_first_chunk()?;
    let (order_bytes, rest) = rest.split_first_chunk()?;
    let reordering = u32::from_be_bytes(rest.try_into().ok()?);
    let ns = |ms: &[u8; 4]| u64::from(u32::from_be_bytes(*ms)) * MS;
    let partial_bytes = usize::try_from(u64::from_be_bytes(*bytes)).ok()?;
    let rlc = match (mode, bits) {
        (0, 0) => RlcConfig::Tm,
        (1, 6) => RlcConfig::Um(UmRxConfig { sn_length: UmSnLength::Bits6, partial_bytes, reassembly_ns: ns(reassembly) }),
        (1, 12) => RlcConfig::Um(UmRxConfig { sn_length: UmSnLength::Bits12, partial_bytes, reassembly_ns: ns(reassembly) }),
        (2, bits) => RlcConfig::Am(am_rx::RxConfig {
            sn_length: sn_length(bits)?,
            window: u32::from_be_bytes(*window),
            partial_bytes,
            reassembly_ns: ns(reassembly),
            status_prohibit_ns: ns(prohibit),
        }),
        _ => return None,
    };
    if flags & !(INTEGRITY | SDAP_HEADER | OUT_OF_ORDER) != 0 {
        return None;
    }
    let sn_length = sn_length(pdcp_bits)?;
    let format = Format { kind: Kind::Drb, sn_length, integrity: flags & INTEGRITY != 0, sdap_header: flags & SDAP_HEADER != 0 };
    let order = OrderConfig {
        sn_length,
        window: u32::from_be_bytes(*order_window),
        bytes: u64::from_be_bytes(*order_bytes),
        reordering_ns: (reordering != NEVER).then_some(u64::from(reordering) * MS),
        out_of_order: flags & OUT_OF_ORDER != 0,
        stop: CountGuard::default().stop,
    };
    Some(BearerConfig { rlc, format, order })
}
