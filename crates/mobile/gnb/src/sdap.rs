//! Which radio bearer takes a QoS flow, and which flow is a packet of? SDAP (TS 37.324), one entity for a PDU session.
//!
//! The header is one byte, there or not by bearer and direction. [`Gnb`] is the network's side, [`Ue`] the other: it follows the mapping that
//! it sees in downlink packets (reflective mapping, §5.3.2) and tells the old bearer when a flow has left it (end marker, §5.3.3).
//!
//! Left out: sidelink (§5.2.3, §5.2.4). The NAS's part of reflective QoS is the caller's: RQI is handed up (TS 24.501 §6.2.5.1.4).

/// QoS flow identifier: 0 to 63 (§6.3.4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Qfi(u8);

impl Qfi {
    /// `None` above 63.
    pub fn new(number: u8) -> Option<Qfi> {
        (number < FLOWS as u8).then_some(Qfi(number))
    }

    /// Its number.
    pub fn get(self) -> u8 {
        self.0
    }
}

/// Data radio bearer identity: 1 to 32 (TS 38.331 `DRB-Identity`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DrbId(u8);

impl DrbId {
    /// `None` if it is 0 or above 32.
    pub fn new(number: u8) -> Option<DrbId> {
        (1..=DRBS as u8).contains(&number).then_some(DrbId(number))
    }

    /// Its number.
    pub fn get(self) -> u8 {
        self.0
    }

    fn index(self) -> usize {
        usize::from(self.0 - 1)
    }
}

const FLOWS: usize = 64;
const DRBS: usize = 32;
const QFI_MASK: u8 = 0x3f;
/// D/C of an uplink PDU (§6.3.2): set for data.
const DATA: u8 = 0x80;
/// Of a downlink PDU (§6.3.5, §6.3.6).
const RDI: u8 = 0x80;
const RQI: u8 = 0x40;

/// A bearer's `SDAP-Config` (TS 38.331).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drb {
    /// Its identity.
    pub id: DrbId,
    /// `sdap-HeaderUL` is present.
    pub uplink_header: bool,
    /// `sdap-HeaderDL` is present.
    pub downlink_header: bool,
}

/// A PDU session's bearers and flows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Config {
    /// The bearers.
    pub drbs: Vec<Drb>,
    /// `defaultDRB`: takes flows that no rule maps.
    pub default_drb: Option<DrbId>,
    /// QoS flow to DRB mapping rules.
    pub flows: Vec<(Qfi, DrbId)>,
    /// The network's side: flows whose downlink packets ask the UE to map them so too (RDI). A rule maps each to a bearer with both headers.
    pub reflective: Vec<Qfi>,
}

/// Why a configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// Two bearers with one identity.
    #[error("drbs: DRB {} is there twice", .0.get())]
    TwoDrbs(DrbId),
    /// Two rules for a flow.
    #[error("flows: QFI {} is there twice", .0.get())]
    TwoRules(Qfi),
    /// A rule, or the default, names a bearer that is not there.
    #[error("flows, default_drb: DRB {} is not among `drbs`", .0.get())]
    UnknownDrb(DrbId),
    /// TS 38.331: the default bearer has an uplink header.
    #[error("default_drb: DRB {} needs `uplink_header`", .0.get())]
    DefaultWithoutHeader(DrbId),
    /// Uplink packets without header do not say which flow they are of.
    #[error("flows: DRB {} has several flows, so it needs `uplink_header`", .0.get())]
    SeveralFlows(DrbId),
    /// A downlink header says that the UE is to follow, an uplink header which flow has done so (TS 38.331 `SDAP-Config`).
    #[error("flows: QFI {} is reflective, so a rule must map it to a DRB with `uplink_header` and `downlink_header`", .0.get())]
    Reflective(Qfi),
}

reasons! {
    /// Why a packet is dropped, or a call refused.
    Drop {
        /// There is no such bearer.
        UnknownDrb = "unknown_drb",
        /// No rule maps the flow, and there is no default bearer.
        NoRule = "no_rule",
        /// No bytes where the header should be, or none behind it.
        Length = "length",
        /// An uplink packet without header on a bearer that carries no flow, or on one that carries several.
        NoFlow = "no_flow",
    }
}

/// Where a packet goes, and what is put in front of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapped {
    /// The bearer.
    pub drb: DrbId,
    /// SDAP header, if the bearer has one in this direction.
    pub header: Option<u8>,
}

/// An uplink PDU's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uplink<'a> {
    /// A packet of a flow.
    Data {
        /// Its flow.
        qfi: Qfi,
        /// The packet.
        sdu: &'a [u8],
    },
    /// The last packet of the flow on this bearer has been sent (§6.2.3).
    EndMarker {
        /// The flow.
        qfi: Qfi,
    },
}

/// A downlink PDU's content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Downlink<'a> {
    /// The packet.
    pub sdu: &'a [u8],
    /// Its flow, if a header says so.
    pub qfi: Option<Qfi>,
    /// The NAS must be told of a changed mapping from SDF to flow (§5.3.2).
    pub rqi: bool,
    /// An end marker to be sent: the packet has moved its flow to another bearer.
    pub end_marker: Option<EndMarker>,
}

/// An SDAP control PDU to be sent on a bearer (§6.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndMarker {
    /// The bearer that the flow has left.
    pub drb: DrbId,
    /// The PDU: one byte.
    pub pdu: u8,
}

impl EndMarker {
    fn new(drb: DrbId, qfi: Qfi) -> EndMarker {
        EndMarker { drb, pdu: qfi.0 }
    }
}

/// Bearers and rules, as both sides hold them.
#[derive(Clone, Debug)]
struct Rules {
    drbs: [Option<Drb>; DRBS],
    default_drb: Option<DrbId>,
    flows: [Option<DrbId>; FLOWS],
    dropped: [u64; Drop::ALL.len()],
}

impl Rules {
    fn new(config: &Config) -> Result<Rules, ConfigError> {
        let mut rules = Rules { drbs: [None; DRBS], default_drb: config.default_drb, flows: [None; FLOWS], dropped: [0; Drop::ALL.len()] };
        for drb in &config.drbs {
            if rules.drbs[drb.id.index()].replace(*drb).is_some() {
                return Err(ConfigError::TwoDrbs(drb.id));
            }
        }
        if let Some(id) = config.default_drb {
            let drb = rules.drbs[id.index()].ok_or(ConfigError::UnknownDrb(id))?;
            if !drb.uplink_header {
                return Err(ConfigError::DefaultWithoutHeader(id));
            }
        }
        for (qfi, id) in &config.flows {
            if rules.flows[usize::from(qfi.0)].is_some() {
                return Err(ConfigError::TwoRules(*qfi));
            }
            rules.check(*qfi, *id)?;
            rules.flows[usize::from(qfi.0)] = Some(*id);
        }
        Ok(rules)
    }

    /// Whether a flow may be mapped to a bearer.
    fn check(&self, qfi: Qfi, id: DrbId) -> Result<(), ConfigError> {
        let drb = self.drbs[id.index()].ok_or(ConfigError::UnknownDrb(id))?;
        let others = self.flows.iter().enumerate().any(|(other, at)| other != usize::from(qfi.0) && *at == Some(id));
        if others && !drb.uplink_header {
            return Err(ConfigError::SeveralFlows(id));
        }
        Ok(())
    }

    /// The bearer of a flow (§5.2.1).
    fn drb_of(&self, qfi: Qfi) -> Result<Drb, Drop> {
        let id = self.flows[usize::from(qfi.0)].or(self.default_drb).ok_or(Drop::NoRule)?;
        self.drbs[id.index()].ok_or(Drop::UnknownDrb)
    }

    fn drb(&self, id: DrbId) -> Result<Drb, Drop> {
        self.drbs[id.index()].ok_or(Drop::UnknownDrb)
    }

    /// The only flow of a bearer.
    fn flow_of(&self, id: DrbId) -> Result<Qfi, Drop> {
        let mut flows = (0..FLOWS as u8).filter(|qfi| self.flows[usize::from(*qfi)] == Some(id));
        match (flows.next(), flows.next()) {
            (Some(qfi), None) => Ok(Qfi(qfi)),
            _ => Err(Drop::NoFlow),
        }
    }

    fn counted<T>(&mut self, result: Result<T, Drop>) -> Result<T, Drop> {
        if let Err(drop) = &result {
            self.dropped[*drop as usize] += 1;
        }
        result
    }
}

/// Header and packet. A packet has at least one byte.
fn split(pdu: &[u8]) -> Result<(u8, &[u8]), Drop> {
    match pdu {
        [header, sdu @ ..] if !sdu.is_empty() => Ok((*header, sdu)),
        _ => Err(Drop::Length),
    }
}

/// The gNodeB's side of a PDU session.
#[derive(Clone, Debug)]
pub struct Gnb {
    rules: Rules,
    /// Flows whose downlink packets ask the UE to follow: RDI.
    reflective: [bool; FLOWS],
}

impl Gnb {
    /// From a configuration.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: &Config) -> Result<Gnb, ConfigError> {
        let (rules, mut reflective) = (Rules::new(config)?, [false; FLOWS]);
        for qfi in &config.reflective {
            let drb = rules.flows[usize::from(qfi.0)].and_then(|id| rules.drbs[id.index()]);
            if !drb.is_some_and(|drb| drb.uplink_header && drb.downlink_header) {
                return Err(ConfigError::Reflective(*qfi));
            }
            reflective[usize::from(qfi.0)] = true;
        }
        Ok(Gnb { rules, reflective })
    }

    /// Where a downlink packet goes (§5.2.1). `rqi`: as the PDU session container says; without a header it cannot be passed on.
    ///
    /// # Errors
    /// [`Drop`], which is counted.
    pub fn downlink(&mut self, qfi: Qfi, rqi: bool) -> Result<Mapped, Drop> {
        let drb = self.rules.drb_of(qfi);
        let drb = self.rules.counted(drb)?;
        let rdi = self.reflective[usize::from(qfi.0)];
        let header = (u8::from(rdi) * RDI) | (u8::from(rqi) * RQI) | qfi.0;
        Ok(Mapped { drb: drb.id, header: drb.downlink_header.then_some(header) })
    }

    /// What an uplink PDU of a bearer holds (§5.2.2).
    ///
    /// # Errors
    /// [`Drop`], which is counted.
    pub fn uplink<'a>(&mut self, drb: DrbId, pdu: &'a [u8]) -> Result<Uplink<'a>, Drop> {
        let read = self.read(drb, pdu);
        self.rules.counted(read)
    }

    fn read<'a>(&self, drb: DrbId, pdu: &'a [u8]) -> Result<Uplink<'a>, Drop> {
        if !self.rules.drb(drb)?.uplink_header {
            let qfi = self.rules.flow_of(drb)?;
            return if pdu.is_empty() { Err(Drop::Length) } else { Ok(Uplink::Data { qfi, sdu: pdu }) };
        }
        match pdu {
            [header] if header & DATA == 0 => Ok(Uplink::EndMarker { qfi: Qfi(header & QFI_MASK) }),
            [header, _, ..] if header & DATA == 0 => Err(Drop::Length),
            _ => split(pdu).map(|(header, sdu)| Uplink::Data { qfi: Qfi(header & QFI_MASK), sdu }),
        }
    }

    /// Packets that were dropped for this reason.
    pub fn dropped(&self, reason: Drop) -> u64 {
        self.rules.dropped[reason as usize]
    }
}

/// The UE's side of a PDU session.
#[derive(Clone, Debug)]
pub struct Ue {
    rules: Rules,
}

impl Ue {
    /// From a configuration.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: &Config) -> Result<Ue, ConfigError> {
        Ok(Ue { rules: Rules::new(config)? })
    }

    /// RRC maps a flow to a bearer from now on (§5.3.1). The end marker, if there is one, is to be sent.
    ///
    /// # Errors
    /// [`ConfigError`]; nothing has changed then.
    pub fn map(&mut self, qfi: Qfi, drb: DrbId) -> Result<Option<EndMarker>, ConfigError> {
        self.rules.check(qfi, drb)?;
        Ok(self.follow(qfi, drb))
    }

    /// Where an uplink packet goes (§5.2.1).
    ///
    /// # Errors
    /// [`Drop`], which is counted.
    pub fn uplink(&mut self, qfi: Qfi) -> Result<Mapped, Drop> {
        let drb = self.rules.drb_of(qfi);
        let drb = self.rules.counted(drb)?;
        Ok(Mapped { drb: drb.id, header: drb.uplink_header.then_some(DATA | qfi.0) })
    }

    /// What a downlink PDU of a bearer holds (§5.2.2). Follows its mapping if it says so (§5.3.2).
    ///
    /// # Errors
    /// [`Drop`], which is counted.
    pub fn downlink<'a>(&mut self, drb: DrbId, pdu: &'a [u8]) -> Result<Downlink<'a>, Drop> {
        let with_header = self.rules.drb(drb).map(|drb| drb.downlink_header);
        if !self.rules.counted(with_header)? {
            let checked = if pdu.is_empty() { Err(Drop::Length) } else { Ok(pdu) };
            return Ok(Downlink { sdu: self.rules.counted(checked)?, qfi: None, rqi: false, end_marker: None });
        }
        let (header, sdu) = self.rules.counted(split(pdu))?;
        let qfi = Qfi(header & QFI_MASK);
        // A bearer without uplink header takes one flow only: RRC does not configure reflective mapping to it.
        let follows = header & RDI != 0 && self.rules.check(qfi, drb).is_ok();
        let end_marker = if follows { self.follow(qfi, drb) } else { None };
        Ok(Downlink { sdu, qfi: Some(qfi), rqi: header & RQI != 0, end_marker })
    }

    fn follow(&mut self, qfi: Qfi, drb: DrbId) -> Option<EndMarker> {
        let old = self.rules.flows[usize::from(qfi.0)].replace(drb).or(self.rules.default_drb)?;
        let marked = old != drb && self.rules.drb(old).is_ok_and(|drb| drb.uplink_header);
        marked.then(|| EndMarker::new(old, qfi))
    }

    /// Packets that were dropped for this reason.
    pub fn dropped(&self, reason: Drop) -> u64 {
        self.rules.dropped[reason as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn qfi(number: u8) -> Qfi {
        Qfi::new(number).expect("a QFI")
    }

    fn id(number: u8) -> DrbId {
        DrbId::new(number).expect("a DRB identity")
    }

    fn drb(number: u8, uplink_header: bool, downlink_header: bool) -> Drb {
        Drb { id: id(number), uplink_header, downlink_header }
    }

    /// DRB 1 is the default, with both headers; 2 has both too; 3 has none and takes flow 5.
    fn config() -> Config {
        Config {
            drbs: vec![drb(1, true, true), drb(2, true, true), drb(3, false, false)],
            default_drb: Some(id(1)),
            flows: vec![(qfi(9), id(2)), (qfi(5), id(3))],
            reflective: Vec::new(),
        }
    }

    /// With another bearer for a flow.
    fn mapped(flow: u8, drb: u8, reflective: bool) -> Config {
        let mut config = config();
        config.flows.iter_mut().filter(|(of, _)| of.get() == flow).for_each(|(_, to)| *to = id(drb));
        config.reflective = reflective.then(|| qfi(flow)).into_iter().collect();
        config
    }

    #[test]
    fn a_flow_goes_to_its_bearer_and_every_other_to_the_default_one() {
        let (mut gnb, mut ue) = (Gnb::new(&config()).unwrap(), Ue::new(&config()).unwrap());
        assert_eq!(gnb.downlink(qfi(9), false), Ok(Mapped { drb: id(2), header: Some(9) }));
        assert_eq!(gnb.downlink(qfi(9), true), Ok(Mapped { drb: id(2), header: Some(0x49) }));
        assert_eq!(gnb.downlink(qfi(63), false), Ok(Mapped { drb: id(1), header: Some(63) }));
        assert_eq!(gnb.downlink(qfi(5), true), Ok(Mapped { drb: id(3), header: None }));
        assert_eq!(ue.uplink(qfi(9)), Ok(Mapped { drb: id(2), header: Some(0x89) }));
        assert_eq!(ue.uplink(qfi(5)), Ok(Mapped { drb: id(3), header: None }));
        let without = Config { default_drb: None, ..config() };
        let mut gnb = Gnb::new(&without).unwrap();
        assert_eq!(gnb.downlink(qfi(63), false), Err(Drop::NoRule));
        assert_eq!(gnb.dropped(Drop::NoRule), 1);
    }

    #[test]
    fn what_one_side_sends_the_other_reads() {
        let (mut gnb, mut ue) = (Gnb::new(&config()).unwrap(), Ue::new(&config()).unwrap());
        for flow in [0, 5, 9, 63] {
            let up = ue.uplink(qfi(flow)).unwrap();
            let pdu: Vec<u8> = up.header.into_iter().chain(*b"packet").collect();
            assert_eq!(gnb.uplink(up.drb, &pdu), Ok(Uplink::Data { qfi: qfi(flow), sdu: b"packet" }));
            let down = gnb.downlink(qfi(flow), flow == 9).unwrap();
            let pdu: Vec<u8> = down.header.into_iter().chain(*b"packet").collect();
            let expected = Downlink { sdu: b"packet", qfi: (flow != 5).then_some(qfi(flow)), rqi: flow == 9, end_marker: None };
            assert_eq!(ue.downlink(down.drb, &pdu), Ok(expected));
        }
    }

    #[test]
    fn a_ue_follows_a_reflected_mapping_and_marks_the_end_on_the_old_bearer_once() {
        let (mut gnb, mut ue) = (Gnb::new(&mapped(9, 1, true)).unwrap(), Ue::new(&config()).unwrap());
        let down = gnb.downlink(qfi(9), false).unwrap();
        assert_eq!(down, Mapped { drb: id(1), header: Some(0x89) });
        let read = ue.downlink(id(1), &[0x89, 1]).unwrap();
        assert_eq!(read.end_marker, Some(EndMarker { drb: id(2), pdu: 9 }));
        assert_eq!(gnb.uplink(id(2), &[9]), Ok(Uplink::EndMarker { qfi: qfi(9) }));
        assert_eq!(ue.uplink(qfi(9)).unwrap().drb, id(1));
        assert_eq!(ue.downlink(id(1), &[0x89, 1]).unwrap().end_marker, None);
        // From no rule: the default bearer carried it before.
        assert_eq!(ue.downlink(id(2), &[0x80 | 7, 1]).unwrap().end_marker, Some(EndMarker { drb: id(1), pdu: 7 }));
        // From a bearer without uplink header there is no place for a marker.
        assert_eq!(ue.map(qfi(5), id(2)), Ok(None));
    }

    #[test]
    fn a_packet_that_does_not_fit_its_bearer_is_counted_by_reason() {
        let (mut gnb, mut ue) = (Gnb::new(&config()).unwrap(), Ue::new(&config()).unwrap());
        assert_eq!(gnb.uplink(id(4), &[1, 2]), Err(Drop::UnknownDrb));
        assert_eq!(gnb.uplink(id(1), &[]), Err(Drop::Length));
        assert_eq!(gnb.uplink(id(1), &[0x89]), Err(Drop::Length), "a header without a packet");
        assert_eq!(gnb.uplink(id(1), &[0x09, 1]), Err(Drop::Length), "an end marker with a packet");
        assert_eq!(gnb.uplink(id(3), &[]), Err(Drop::Length));
        assert_eq!(gnb.dropped(Drop::Length), 4);
        assert_eq!(Gnb::new(&mapped(5, 1, false)).unwrap().uplink(id(3), &[1]), Err(Drop::NoFlow));
        assert_eq!(ue.downlink(id(1), &[9]), Err(Drop::Length));
        assert_eq!(ue.downlink(id(3), &[]), Err(Drop::Length));
        assert_eq!(ue.downlink(id(4), &[1, 2]), Err(Drop::UnknownDrb));
        assert_eq!((ue.dropped(Drop::Length), ue.dropped(Drop::UnknownDrb)), (2, 1));
    }

    #[test]
    fn a_reflected_mapping_to_a_bearer_that_cannot_tell_flows_apart_is_not_followed() {
        let mut config = config();
        config.drbs[2].downlink_header = true;
        let mut ue = Ue::new(&config).unwrap();
        assert_eq!(ue.downlink(id(3), &[0x89, 1]).unwrap().end_marker, None);
        assert_eq!(ue.uplink(qfi(9)).unwrap().drb, id(2));
    }

    #[test]
    fn a_configuration_that_contradicts_itself_is_refused() {
        let refused = |change: fn(&mut Config)| {
            let mut config = config();
            change(&mut config);
            Gnb::new(&config).map(|_| ()).unwrap_err()
        };
        assert_eq!(refused(|c| c.drbs.push(drb(1, false, false))), ConfigError::TwoDrbs(id(1)));
        assert_eq!(refused(|c| c.flows.push((qfi(9), id(1)))), ConfigError::TwoRules(qfi(9)));
        assert_eq!(refused(|c| c.flows.push((qfi(8), id(30)))), ConfigError::UnknownDrb(id(30)));
        assert_eq!(refused(|c| c.default_drb = Some(id(31))), ConfigError::UnknownDrb(id(31)));
        assert_eq!(refused(|c| c.default_drb = Some(id(3))), ConfigError::DefaultWithoutHeader(id(3)));
        assert_eq!(refused(|c| c.flows.push((qfi(8), id(3)))), ConfigError::SeveralFlows(id(3)));
        assert_eq!(ConfigError::SeveralFlows(id(3)).to_string(), "flows: DRB 3 has several flows, so it needs `uplink_header`");
        // By the default bearer, and on one that has no headers.
        assert_eq!(refused(|c| c.reflective.push(qfi(8))), ConfigError::Reflective(qfi(8)));
        assert_eq!(refused(|c| c.reflective.push(qfi(5))), ConfigError::Reflective(qfi(5)));
        assert_eq!((Qfi::new(64), DrbId::new(0), DrbId::new(33)), (None, None, None));
    }
}
