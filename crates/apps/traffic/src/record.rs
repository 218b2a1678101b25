//! What the RAN needs to know of a session: the file that passes from the SMF emulator to the gNodeB emulator.
//!
//! One JSON object a line, so that a file can be appended to, cut and read with ordinary tools.

use std::io::{BufRead, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// One end of a GTP-U tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tunnel {
    /// Address of the end, port 2152.
    pub addr: Ipv4Addr,
    /// Tunnel endpoint identifier there; never 0.
    pub teid: u32,
}

/// A PDU session as the RAN sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The UPF's SEID: names the session in all reports.
    pub seid: u64,
    /// IPv4 address of the UE.
    pub ue_ipv4: Option<Ipv4Addr>,
    /// IPv6 prefix of the UE, a /64 with host bits zero.
    pub ue_ipv6: Option<Ipv6Addr>,
    /// The UPF's end.
    pub uplink: Tunnel,
    /// The gNodeB's end.
    pub downlink: Tunnel,
    /// QoS flow of packets that no entry of `flows` takes; `None`: no PDU session container is sent or expected.
    pub qfi: Option<u8>,
    /// Other QoS flows, by the DSCP of uplink packets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<RecordFlow>,
}

/// Uplink packets of this DSCP go by this QoS flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordFlow {
    /// DSCP of the user's packet, 6 bits.
    pub dscp: u8,
    /// QoS flow identifier, 6 bits.
    pub qfi: u8,
}

/// What no session has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// The UE needs one.
    #[error("neither ue_ipv4 nor ue_ipv6")]
    NoAddress,
    /// It is for path messages (TS 29.281 §5.1).
    #[error("TEID 0")]
    TeidZero,
    /// Each UE has a /64.
    #[error("ue_ipv6 is not a /64: its lower half must be zero")]
    HostBits,
    /// Of a packet or flow.
    #[error("QFI {0} does not fit 6 bits")]
    Qfi(u8),
}

/// A record that cannot be read or used; the text names line and field.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Not one of our records.
    #[error("session record, line {line}: {why}")]
    Wrong {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: serde_json::Error,
    },
    /// One that no session can have.
    #[error("session record, line {line}: {why}")]
    Fault {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        why: RecordFault,
    },
    /// The file fails.
    #[error("session records: {0}")]
    Io(#[from] std::io::Error),
}

impl SessionRecord {
    /// The UE's own IPv6 address: interface identifier 1 in its prefix.
    pub fn ue_ipv6_address(&self) -> Option<Ipv6Addr> {
        self.ue_ipv6.map(|prefix| Ipv6Addr::from(u128::from(prefix) | 1))
    }

    /// Whether a packet to `address` is for this UE.
    pub fn owns(&self, address: std::net::IpAddr) -> bool {
        match address {
            std::net::IpAddr::V4(address) => self.ue_ipv4 == Some(address),
            std::net::IpAddr::V6(address) => self.ue_ipv6.is_some_and(|prefix| prefix_64(prefix) == prefix_64(address)),
        }
    }

    /// QFI of an uplink packet with this type of service or traffic class.
    pub fn qfi_of(&self, tos: u8) -> Option<u8> {
        self.flows.iter().find(|flow| flow.dscp == tos >> 2).map(|flow| flow.qfi).or(self.qfi)
    }

    /// Whether downlink packets may come with this QFI, or with none.
    pub fn expects_qfi(&self, qfi: Option<u8>) -> bool {
        qfi == self.qfi || self.flows.iter().any(|flow| Some(flow.qfi) == qfi)
    }

    /// Checks what the types do not.
    pub fn validate(&self) -> Result<(), RecordFault> {
        if self.ue_ipv4.is_none() && self.ue_ipv6.is_none() {
            return Err(RecordFault::NoAddress);
        }
        if self.uplink.teid == 0 || self.downlink.teid == 0 {
            return Err(RecordFault::TeidZero);
        }
        if self.ue_ipv6.is_some_and(|prefix| prefix_64(prefix) != u128::from(prefix)) {
            return Err(RecordFault::HostBits);
        }
        let qfis = self.qfi.into_iter().chain(self.flows.iter().map(|flow| flow.qfi));
        if let Some(qfi) = qfis.into_iter().find(|qfi| *qfi > 63) {
            return Err(RecordFault::Qfi(qfi));
        }
        Ok(())
    }
}

/// Reads records, one a line; empty lines are skipped.
pub fn read(from: impl BufRead) -> Result<Vec<SessionRecord>, RecordError> {
    let mut records = Vec::new();
    for (i, line) in from.lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let record: SessionRecord = serde_json::from_str(&line).map_err(|why| RecordError::Wrong { line: i + 1, why })?;
        record.validate().map_err(|why| RecordError::Fault { line: i + 1, why })?;
        records.push(record);
    }
    Ok(records)
}

/// Writes records, one a line.
pub fn write(records: &[SessionRecord], mut to: impl Write) -> std::io::Result<()> {
    for record in records {
        serde_json::to_writer(&mut to, record)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// The /64 that an address is in.
pub(crate) fn prefix_64(address: Ipv6Addr) -> u128 {
    u128::from(address) & !u128::from(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> SessionRecord {
        SessionRecord {
            seid: 7,
            ue_ipv4: Some(Ipv4Addr::new(10, 45, 0, 2)),
            ue_ipv6: Some("2001:db8:45:1::".parse().unwrap()),
            uplink: Tunnel { addr: Ipv4Addr::new(10, 3, 0, 1), teid: 0x100 },
            downlink: Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: 1 },
            qfi: Some(9),
            flows: vec![RecordFlow { dscp: 46, qfi: 5 }],
        }
    }

    #[test]
    fn records_survive_a_file() {
        let records = vec![record(), SessionRecord { seid: 8, ue_ipv6: None, qfi: None, flows: Vec::new(), ..record() }];
        let mut file = Vec::new();
        write(&records, &mut file).unwrap();
        assert_eq!(file.iter().filter(|b| **b == b'\n').count(), 2);
        assert_eq!(read(&file[..]).unwrap(), records);
        assert_eq!(read(&b"\n \n"[..]).unwrap(), []);
    }

    #[test]
    fn wrong_lines_are_named() {
        let good = serde_json::to_string(&record()).unwrap();
        for (from, to, message) in [
            ("\"teid\":256", "\"teid\":0", "line 2: TEID 0"),
            ("2001:db8:45:1::", "2001:db8:45:1::1", "line 2: ue_ipv6 is not a /64"),
            ("\"qfi\":9", "\"qfi\":64", "line 2: QFI 64"),
            ("\"seid\":7,", "", "line 2: missing field `seid`"),
        ] {
            assert!(good.contains(from), "{from} in {good}");
            let text = format!("{good}\n{}\n", good.replace(from, to));
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn addresses_and_flows_are_told_apart() {
        let r = record();
        assert_eq!(r.ue_ipv6_address().unwrap().to_string(), "2001:db8:45:1::1");
        assert!(r.owns("2001:db8:45:1:ffff::1".parse().unwrap()) && !r.owns("2001:db8:45:2::1".parse().unwrap()));
        assert!(r.owns("10.45.0.2".parse().unwrap()) && !r.owns("10.45.0.3".parse().unwrap()));
        assert_eq!((r.qfi_of(46 << 2), r.qfi_of(0)), (Some(5), Some(9)));
        assert!(r.expects_qfi(Some(5)) && r.expects_qfi(Some(9)) && !r.expects_qfi(Some(6)) && !r.expects_qfi(None));
    }
}
