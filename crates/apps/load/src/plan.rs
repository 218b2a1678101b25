//! Whose packets are sent, between which addresses, and how long are they?

use crate::Error;
use std::net::Ipv4Addr;
use traffic::SessionRecord;

/// Most sessions of a plan.
pub const MOST_SESSIONS: usize = 4_000_000;
/// Ethernet's check sequence: counted in the sizes of RFC 2544, and in no port's frames.
pub const FCS: usize = 4;
/// Ethernet's header and check sequence.
pub const ETHERNET: usize = 14 + FCS;
/// The sizes of RFC 2544 §9.1 for Ethernet, in bytes.
pub const RFC2544_SIZES: [usize; 7] = [64, 128, 256, 512, 1024, 1280, 1518];
/// Shortest frame: it has just room for the tag.
pub const SHORTEST: usize = 64;
/// Longest frame: jumbo frames of 9000 bytes of IP.
pub const LONGEST: usize = 9018;
/// The Internet mix, in its order: 7 of 64, 4 of 594, 1 of 1418, whose packets of 576 and 1400 bytes fit a tunnel.
const IMIX: [usize; 3] = [64, 594, 1418];
const IMIX_ORDER: [u8; 12] = [0, 1, 0, 0, 1, 0, 2, 0, 1, 0, 1, 0];

/// A session of a UE, or a user behind a plain device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The UE's address.
    pub ue: Ipv4Addr,
    /// TEID of its uplink tunnel, at the UPF.
    pub uplink_teid: u32,
    /// TEID of its downlink tunnel, at the gNodeB.
    pub downlink_teid: u32,
    /// QoS flow; the same for all sessions in whether there is one.
    pub qfi: Option<u8>,
}

/// Both sides of the device.
#[derive(Clone, Debug)]
pub struct Plan {
    /// They take turns.
    pub sessions: Vec<Session>,
    /// Whether packets are in GTP-U on the access side.
    pub tunnels: bool,
    /// Our address on the access side: the gNodeB's.
    pub gnb: Ipv4Addr,
    /// The device's on the access side: where uplink tunnels end, or the next hop without tunnels.
    pub upf: Ipv4Addr,
    /// Our address on the core side, with which users speak.
    pub dn: Ipv4Addr,
}

impl Plan {
    /// Sessions `0..count`, whose TEIDs and addresses count on from these.
    ///
    /// # Errors
    /// [`Error::Usage`] for more sessions than there are TEIDs or addresses.
    pub fn counted(count: usize, ue: Ipv4Addr, uplink_teid: u32, downlink_teid: u32, qfi: Option<u8>) -> Result<Vec<Session>, Error> {
        let session = |n: u32| {
            Some(Session {
                ue: Ipv4Addr::from(u32::from(ue).checked_add(n)?),
                uplink_teid: uplink_teid.checked_add(n)?,
                downlink_teid: downlink_teid.checked_add(n)?,
                qfi,
            })
        };
        let all: Option<Vec<Session>> = (0..count.min(MOST_SESSIONS + 1)).map(|n| session(n as u32)).collect();
        all.ok_or_else(|| Error::Usage(format!("{count} sessions: UE addresses from {ue} or TEIDs are not so many")))
    }

    /// The sessions of records, and the addresses of the UPF and the gNodeB in them.
    ///
    /// # Errors
    /// [`Error::Usage`] if sessions have no IPv4 address, or tunnels that end at several addresses: the text names the session.
    pub fn recorded(records: &[SessionRecord]) -> Result<(Vec<Session>, Ipv4Addr, Ipv4Addr), Error> {
        let wrong = |n: usize, what: &str| Error::Usage(format!("session {} of the records: {what}", n + 1));
        let first = records.first().ok_or_else(|| Error::Usage("the records have no session".into()))?;
        let (upf, gnb) = (first.uplink.addr, first.downlink.addr);
        let mut sessions = Vec::with_capacity(records.len());
        for (n, record) in records.iter().enumerate() {
            let ue = record.ue_ipv4.ok_or_else(|| wrong(n, "it has no IPv4 address, and packets are of IPv4"))?;
            if (record.uplink.addr, record.downlink.addr) != (upf, gnb) {
                return Err(wrong(n, "its tunnels end elsewhere than those of the first: one UPF and one gNodeB a run"));
            }
            sessions.push(Session { ue, uplink_teid: record.uplink.teid, downlink_teid: record.downlink.teid, qfi: record.qfi });
        }
        Ok((sessions, upf, gnb))
    }

    /// Checks what the types do not.
    ///
    /// # Errors
    /// [`Error::Usage`] names what is wrong.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Usage(what));
        let Some(first) = self.sessions.first() else { return wrong("no sessions".into()) };
        if self.sessions.len() > MOST_SESSIONS {
            return wrong(format!("{} sessions: at most {MOST_SESSIONS}", self.sessions.len()));
        }
        for (n, session) in self.sessions.iter().enumerate() {
            // It is for path messages (TS 29.281 §5.1).
            if self.tunnels && (session.uplink_teid == 0 || session.downlink_teid == 0) {
                return wrong(format!("session {}: TEID 0", n + 1));
            }
            if session.qfi.is_some_and(|qfi| qfi > 63) {
                return wrong(format!("session {}: a QFI has 6 bits", n + 1));
            }
            if session.qfi.is_some() != first.qfi.is_some() {
                return wrong(format!("session {}: either all sessions have a QFI or none has", n + 1));
            }
        }
        Ok(())
    }

    /// Whose packet it is.
    #[inline]
    pub fn session(&self, sequence: u64) -> &Session {
        &self.sessions[(sequence % self.sessions.len() as u64) as usize]
    }

    /// Bytes that a tunnel adds to a frame: IPv4, UDP, GTP-U, and a PDU session container where there is a QFI.
    pub fn tunnel_bytes(&self) -> usize {
        match (self.tunnels, self.sessions.first().is_some_and(|session| session.qfi.is_some())) {
            (false, _) => 0,
            (true, false) => 36,
            (true, true) => 44,
        }
    }
}

/// Lengths of frames on the core side, with their check sequence, as RFC 2544 §9 counts; in a tunnel they are longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All the same, in bytes.
    Fixed(usize),
    /// 7 of 64, 4 of 594 and 1 of 1418 bytes.
    Imix,
}

impl Sizes {
    /// All that occur, in bytes.
    pub fn all(self) -> Vec<usize> {
        match self {
            Sizes::Fixed(size) => vec![size],
            Sizes::Imix => IMIX.to_vec(),
        }
    }

    /// Which of [`Sizes::all`] a packet has. All sessions get all sizes.
    #[inline]
    pub fn of(self, sequence: u64, sessions: usize) -> usize {
        match self {
            Sizes::Fixed(_) => 0,
            // Every dozen turns of all sessions the order begins one later.
            Sizes::Imix => usize::from(IMIX_ORDER[((sequence + sequence / (12 * sessions.max(1) as u64)) % 12) as usize]),
        }
    }

    /// Mean length in bytes.
    pub fn mean(self) -> f64 {
        match self {
            Sizes::Fixed(size) => size as f64,
            Sizes::Imix => IMIX_ORDER.iter().map(|i| IMIX[usize::from(*i)] as f64).sum::<f64>() / 12.0,
        }
    }

    /// Checks ranges.
    ///
    /// # Errors
    /// [`Error::Usage`] with what is allowed.
    pub fn validate(self) -> Result<(), Error> {
        match self {
            Sizes::Fixed(size) if !(SHORTEST..=LONGEST).contains(&size) => {
                Err(Error::Usage(format!("frames of {size} bytes: from {SHORTEST} to {LONGEST}, check sequence included")))
            }
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sizes::Fixed(size) => size.fmt(f),
            Sizes::Imix => f.write_str("imix"),
        }
    }
}

impl std::str::FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let sizes = match text {
            "imix" => Sizes::Imix,
            number => Sizes::Fixed(number.parse().map_err(|_| "expected a number of bytes, or imix".to_owned())?),
        };
        sizes.validate().map_err(|e| e.to_string())?;
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_is_seven_to_four_to_one_for_each_session() {
        for sessions in [1, 5, 12, 24] {
            let mut counts = vec![[0; 3]; sessions];
            (0..12 * sessions as u64 * 12).for_each(|n| counts[(n % sessions as u64) as usize][Sizes::Imix.of(n, sessions)] += 1);
            for count in &counts {
                assert!(count.iter().all(|n| *n > 0), "{sessions} sessions: {count:?}");
            }
            let all = counts.iter().fold([0; 3], |all, one| [all[0] + one[0], all[1] + one[1], all[2] + one[2]]);
            assert_eq!(all, [84, 48, 12].map(|n| n * sessions));
        }
        assert!((Sizes::Imix.mean() - 353.5).abs() < 0.1);
    }

    #[test]
    fn wrong_plans_are_named() {
        let ue = Ipv4Addr::new(10, 45, 0, 2);
        let plan = |sessions| Plan { sessions, tunnels: true, gnb: ue, upf: ue, dn: ue };
        let fault = |sessions| plan(sessions).validate().unwrap_err().to_string();
        let good = Plan::counted(3, ue, 7, 1, Some(9)).unwrap();
        assert_eq!((good[2].ue, good[2].uplink_teid, good[2].downlink_teid), (Ipv4Addr::new(10, 45, 0, 4), 9, 3));
        assert!(plan(good.clone()).validate().is_ok());
        assert_eq!(plan(good.clone()).tunnel_bytes(), 44);
        assert!(fault(Vec::new()).contains("no sessions"));
        assert!(fault(Plan::counted(1, ue, 0, 1, None).unwrap()).contains("TEID 0"));
        assert!(fault(Plan::counted(1, ue, 1, 1, Some(64)).unwrap()).contains("6 bits"));
        assert!(fault(vec![good[0], Session { qfi: None, ..good[1] }]).contains("session 2: either all"));
        assert!(Plan::counted(2, ue, u32::MAX, 1, None).is_err());
        assert!("63".parse::<Sizes>().is_err() && "imix".parse() == Ok(Sizes::Imix) && "1518".parse() == Ok(Sizes::Fixed(1518)));
    }

    #[test]
    fn records_that_end_at_several_places_are_refused() {
        let text = |addr: &str, ue: &str| {
            format!(
                r#"{{"seid":1,"ue_ipv4":{ue},"ue_ipv6":"2001:db8:45:1::","uplink":{{"addr":"10.3.0.1","teid":5}},"downlink":{{"addr":"{addr}","teid":1}},"qfi":9}}"#
            )
        };
        let read = |lines: &[String]| Plan::recorded(&traffic::record::read(lines.join("\n").as_bytes()).unwrap());
        let ue = "\"10.45.0.2\"";
        let (sessions, upf, gnb) = read(&[text("10.3.0.2", ue)]).unwrap();
        assert_eq!((sessions.len(), sessions[0].qfi), (1, Some(9)));
        assert_eq!([upf, gnb], [Ipv4Addr::new(10, 3, 0, 1), Ipv4Addr::new(10, 3, 0, 2)]);
        assert!(read(&[text("10.3.0.2", ue), text("10.3.0.3", ue)]).unwrap_err().to_string().contains("session 2"));
        assert!(read(&[text("10.3.0.2", "null")]).unwrap_err().to_string().contains("no IPv4 address"));
        assert!(read(&[]).is_err());
    }
}
