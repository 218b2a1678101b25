//! How is a request made at full rate? It is encoded once, by `pfcp`; for each session a few octets of it are replaced.

use crate::Error;
use pfcp::codec::Message;
use std::net::Ipv4Addr;

/// What is different from session to session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Our SEID.
    pub cp_seid: u64,
    /// The UE's IPv4 address.
    pub ue: Ipv4Addr,
    /// TEID of the uplink tunnel, at the UPF, where we choose it.
    pub teid: u32,
    /// TEID of the downlink tunnel, at the gNodeB.
    pub gnb_teid: u32,
}

/// An encoded request, and where in it a [`Subject`]'s values are.
#[derive(Clone, Debug)]
pub struct Template {
    octets: Vec<u8>,
    cp_seids: Vec<usize>,
    ues: Vec<usize>,
    teids: Vec<usize>,
    gnb_teids: Vec<usize>,
}

/// Where the header of a session related message has the SEID and the sequence number (TS 29.244 figure 7.2.2.3-1).
const SEID: usize = 4;
const SEQUENCE: usize = 12;

impl Template {
    /// Of a session related message: `message` is called for several subjects, and what changes with a value is where it is.
    ///
    /// # Errors
    /// [`Error::Usage`] if it is longer than a message can be.
    pub fn of(message: impl Fn(&Subject) -> Message) -> Result<Template, Error> {
        let encode = |subject: &Subject| message(subject).encode().map_err(|e| Error::Usage(e.to_string()));
        let base = Subject { cp_seid: 0, ue: Ipv4Addr::from(0), teid: 0x0101_0101, gnb_teid: 0x0101_0101 };
        let octets = encode(&base)?;
        let places = |changed, length| Ok::<_, Error>(differences(&octets, &encode(&changed)?, length));
        Ok(Template {
            cp_seids: places(Subject { cp_seid: u64::MAX, ..base }, size_of::<u64>())?,
            ues: places(Subject { ue: Ipv4Addr::BROADCAST, ..base }, size_of::<u32>())?,
            teids: places(Subject { teid: u32::MAX, ..base }, size_of::<u32>())?,
            gnb_teids: places(Subject { gnb_teid: u32::MAX, ..base }, size_of::<u32>())?,
            octets,
        })
    }

    /// Writes the request of a session to `to`, in place of what is there. `seid`: the UPF's; only the lower 24 bits of `sequence` count.
    pub fn write(&self, subject: &Subject, seid: u64, sequence: u32, to: &mut Vec<u8>) {
        to.clear();
        to.extend(&self.octets);
        let mut put = |places: &[usize], value: &[u8]| places.iter().for_each(|at| to[*at..*at + value.len()].copy_from_slice(value));
        put(&[SEID], &seid.to_be_bytes());
        put(&[SEQUENCE], &sequence.to_be_bytes()[1..]);
        put(&self.cp_seids, &subject.cp_seid.to_be_bytes());
        put(&self.ues, &subject.ue.octets());
        put(&self.teids, &subject.teid.to_be_bytes());
        put(&self.gnb_teids, &subject.gnb_teid.to_be_bytes());
    }
}

/// Where two texts of equal length differ, in steps of `length`.
fn differences(a: &[u8], b: &[u8], length: usize) -> Vec<usize> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = a.iter().zip(b).skip(at).position(|(a, b)| a != b) {
        found.push(at + next);
        at += next + length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::n4::plan::{Plan, Request};
    use proptest::prelude::*;
    use traffic::plan::Shape;

    proptest! {
        /// The codec is the slow twin.
        #[test]
        fn a_template_writes_what_the_codec_encodes(
            cp_seid: u64, ue: u32, teid: u32, gnb_teid: u32, seid: u64, sequence in 0u32..1 << 24, shape in 0..3usize,
        ) {
            let shape = [Shape::Simple, Shape::Open5gs, Shape::Free5gc][shape];
            let plan = Plan { shape, ..Plan::example() };
            let subject = Subject { cp_seid, ue: ue.into(), teid, gnb_teid };
            let mut written = Vec::new();
            for request in [Request::Establish, Request::Activate, Request::Idle, Request::Delete] {
                Template::of(|subject| plan.message(request, subject)).unwrap().write(&subject, seid, sequence, &mut written);
                let expected = Message { seid: Some(seid), sequence, ..plan.message(request, &subject) };
                prop_assert_eq!(&written, &expected.encode().unwrap());
            }
        }
    }
}
