//! How each value is read and written, in the order of their declaration.

use super::super::reader::{Flaw, Reader};
use super::*;

/// Octets of a domain name or network instance at most.
const MAX_NAME: usize = 255;

impl Value for Cause {
    fn read(r: &mut Reader<'_>) -> Result<Cause, Flaw> {
        r.u8().map(Cause)
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.0);
    }
}

impl Value for NodeId {
    fn read(r: &mut Reader<'_>) -> Result<NodeId, Flaw> {
        match r.u8()? & 0x0f {
            0 => r.ipv4().map(NodeId::Ipv4),
            1 => r.ipv6().map(NodeId::Ipv6),
            2 => {
                // A domain name has at most 255 octets (RFC 1035 §3.1).
                let octets = Some(r.all()).filter(|octets| octets.len() <= MAX_NAME).ok_or(Flaw::Length)?;
                // Labels as in RFC 1035; some nodes write plain text.
                dns_labels(octets).or_else(|| plain_text(octets)).map(NodeId::Fqdn).ok_or(Flaw::Value)
            }
            _ => Err(Flaw::Value),
        }
    }
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            NodeId::Ipv4(address) => {
                out.push(0);
                out.extend(address.octets());
            }
            NodeId::Ipv6(address) => {
                out.push(1);
                out.extend(address.octets());
            }
            NodeId::Fqdn(name) => {
                out.push(2);
                write_labels(name, out);
            }
        }
    }
}

impl Value for AlternativeSmfIpAddress {
    fn read(r: &mut Reader<'_>) -> Result<AlternativeSmfIpAddress, Flaw> {
        let flags = r.u8()?;
        let ipv4 = r.when(flags & 0x02 != 0, Reader::ipv4)?;
        let ipv6 = r.when(flags & 0x01 != 0, Reader::ipv6)?;
        Ok(AlternativeSmfIpAddress { preferred: flags & 0x04 != 0, ipv4, ipv6 })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(bit(self.ipv6.is_some(), 0) | bit(self.ipv4.is_some(), 1) | bit(self.preferred, 2));
        write_addresses(self.ipv4, self.ipv6, out);
    }
}

impl Value for SmfSetId {
    fn read(r: &mut Reader<'_>) -> Result<SmfSetId, Flaw> {
        let all = r.all();
        // Behind a spare octet; go-pfcp writes none. No name begins with an empty label.
        let octets = all.strip_prefix(&[0]).unwrap_or(all);
        let octets = Some(octets).filter(|octets| octets.len() <= MAX_NAME).ok_or(Flaw::Length)?;
        dns_labels(octets).or_else(|| plain_text(octets)).map(SmfSetId).ok_or(Flaw::Value)
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(0);
        write_labels(&self.0, out);
    }
}

impl Value for FqCsid {
    fn read(r: &mut Reader<'_>) -> Result<FqCsid, Flaw> {
        let first = r.u8()?;
        let node = match first >> 4 {
            0 => CsidNode::Ipv4(r.ipv4()?),
            1 => CsidNode::Ipv6(r.ipv6()?),
            2 => CsidNode::Number(r.u32()?),
            _ => return Err(Flaw::Value),
        };
        let csids = (0..first & 0x0f).map(|_| r.u16()).collect::<Result<_, _>>()?;
        let node_type = r.when(!r.is_empty(), Reader::u8)?.map(|octet| octet & 0x0f);
        Ok(FqCsid { node, csids, node_type })
    }
    fn write(&self, out: &mut Vec<u8>) {
        let count = self.csids.len().min(15);
        let node_type = match self.node {
            CsidNode::Ipv4(_) => 0,
            CsidNode::Ipv6(_) => 1,
            CsidNode::Number(_) => 2,
        };
        out.push(node_type << 4 | count as u8);
        match self.node {
            CsidNode::Ipv4(address) => out.extend(address.octets()),
            CsidNode::Ipv6(address) => out.extend(address.octets()),
            CsidNode::Number(number) => out.extend(number.to_be_bytes()),
        }
        self.csids.iter().take(count).for_each(|csid| out.extend(csid.to_be_bytes()));
        out.extend(self.node_type);
    }
}

impl Value for PeerAddress {
    fn read(r: &mut Reader<'_>) -> Result<PeerAddress, Flaw> {
        let flags = r.u8()?;
        let ipv4 = r.when(flags & 0x02 != 0, Reader::ipv4)?;
        let ipv6 = r.when(flags & 0x01 != 0, Reader::ipv6)?;
        Ok(PeerAddress { ipv4, ipv6 })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(bit(self.ipv6.is_some(), 0) | bit(self.ipv4.is_some(), 1));
        write_addresses(self.ipv4, self.ipv6, out);
    }
}

impl Value for FSeid {
    fn read(r: &mut Reader<'_>) -> Result<FSeid, Flaw> {
        let flags = r.u8()?;
        let seid = r.u64()?;
        let ipv4 = r.when(flags & 0x02 != 0, Reader::ipv4)?;
        let ipv6 = r.when(flags & 0x01 != 0, Reader::ipv6)?;
        if ipv4.is_none() && ipv6.is_none() { Err(Flaw::Value) } else { Ok(FSeid { seid, ipv4, ipv6 }) }
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(bit(self.ipv6.is_some(), 0) | bit(self.ipv4.is_some(), 1));
        out.extend(self.seid.to_be_bytes());
        write_addresses(self.ipv4, self.ipv6, out);
    }
}

impl Value for FTeid {
    fn read(r: &mut Reader<'_>) -> Result<FTeid, Flaw> {
        let flags = r.u8()?;
        let (v4, v6) = (flags & 0x01 != 0, flags & 0x02 != 0);
        if !v4 && !v6 {
            return Err(Flaw::Value);
        }
        if flags & 0x04 != 0 {
            return Ok(FTeid::Choose { ipv4: v4, ipv6: v6, choose_id: r.when(flags & 0x08 != 0, Reader::u8)? });
        }
        Ok(FTeid::Given { teid: r.u32()?, ipv4: r.when(v4, Reader::ipv4)?, ipv6: r.when(v6, Reader::ipv6)? })
    }
    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            FTeid::Given { teid, ipv4, ipv6 } => {
                out.push(bit(ipv4.is_some(), 0) | bit(ipv6.is_some(), 1));
                out.extend(teid.to_be_bytes());
                write_addresses(ipv4, ipv6, out);
            }
            FTeid::Choose { ipv4, ipv6, choose_id } => {
                out.push(bit(ipv4, 0) | bit(ipv6, 1) | bit(true, 2) | bit(choose_id.is_some(), 3));
                out.extend(choose_id);
            }
        }
    }
}

impl Value for Name {
    fn read(r: &mut Reader<'_>) -> Result<Name, Flaw> {
        let octets = r.all();
        if octets.is_empty() {
            return Ok(Name::Text(String::new()));
        }
        if octets.len() > MAX_NAME {
            return Err(Flaw::Length);
        }
        dns_labels(octets).map(Name::Labels).or_else(|| plain_text(octets).map(Name::Text)).ok_or(Flaw::Value)
    }
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Name::Labels(name) => write_labels(name, out),
            Name::Text(name) => out.extend(name.as_bytes()),
        }
    }
}

impl Value for SdfFilter {
    fn read(r: &mut Reader<'_>) -> Result<SdfFilter, Flaw> {
        let flags = r.u8()?;
        r.u8()?;
        Ok(SdfFilter {
            flow_description: r.when(flags & 0x01 != 0, |r| {
                let length = r.u16()?;
                let octets = r.take(usize::from(length))?;
                std::str::from_utf8(octets).map(str::to_owned).map_err(|_| Flaw::Value)
            })?,
            tos: r.when(flags & 0x02 != 0, |r| Ok((r.u8()?, r.u8()?)))?,
            spi: r.when(flags & 0x04 != 0, Reader::u32)?,
            flow_label: r.when(flags & 0x08 != 0, |r| {
                let [a, b, c] = r.array()?;
                Ok(u32::from_be_bytes([0, a & 0x0f, b, c]))
            })?,
            filter_id: r.when(flags & 0x10 != 0, Reader::u32)?,
        })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(
            bit(self.flow_description.is_some(), 0)
                | bit(self.tos.is_some(), 1)
                | bit(self.spi.is_some(), 2)
                | bit(self.flow_label.is_some(), 3)
                | bit(self.filter_id.is_some(), 4),
        );
        out.push(0);
        if let Some(flow) = &self.flow_description {
            // A text too long for its length is too long for the element too, which `write_group` finds.
            out.extend((flow.len() as u16).to_be_bytes());
            out.extend(flow.as_bytes());
        }
        if let Some((value, mask)) = self.tos {
            out.extend([value, mask]);
        }
        out.extend(self.spi.iter().flat_map(|spi| spi.to_be_bytes()));
        if let Some(label) = self.flow_label {
            out.extend(&label.to_be_bytes()[1..]);
        }
        out.extend(self.filter_id.iter().flat_map(|id| id.to_be_bytes()));
    }
}

impl Value for GateStatus {
    fn read(r: &mut Reader<'_>) -> Result<GateStatus, Flaw> {
        // Values 2 and 3 are to be taken as 1, closed (§8.2.7).
        let gates = r.u8()?;
        Ok(GateStatus { uplink_open: gates & 0x0c == 0, downlink_open: gates & 0x03 == 0 })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(bit(!self.uplink_open, 2) | bit(!self.downlink_open, 0));
    }
}

impl Value for BitRates {
    fn read(r: &mut Reader<'_>) -> Result<BitRates, Flaw> {
        Ok(BitRates { uplink_kbps: r.u40()?, downlink_kbps: r.u40()? })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(&self.uplink_kbps.to_be_bytes()[3..]);
        out.extend(&self.downlink_kbps.to_be_bytes()[3..]);
    }
}

impl Value for Volume {
    fn read(r: &mut Reader<'_>) -> Result<Volume, Flaw> {
        let flags = r.u8()?;
        if flags & 0x07 == 0 {
            return Err(Flaw::Value);
        }
        read_volume(r, flags)
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(volume_flags(self));
        write_volume(self, out);
    }
}

impl Value for VolumeMeasurement {
    fn read(r: &mut Reader<'_>) -> Result<VolumeMeasurement, Flaw> {
        let flags = r.u8()?;
        Ok(VolumeMeasurement { bytes: read_volume(r, flags)?, packets: read_volume(r, flags >> 3)? })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(volume_flags(&self.bytes) | volume_flags(&self.packets) << 3);
        write_volume(&self.bytes, out);
        write_volume(&self.packets, out);
    }
}

impl Value for Triggers {
    fn read(r: &mut Reader<'_>) -> Result<Triggers, Flaw> {
        // Octet 6 came with the first release, octet 7 with release 16; one octet alone is still readable.
        let mut octets = [0; 4];
        octets[0] = r.u8()?;
        for (octet, given) in octets[1..3].iter_mut().zip(r.all()) {
            *octet = *given;
        }
        Ok(Triggers(u32::from_le_bytes(octets)))
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(&self.0.to_le_bytes()[..3]);
    }
}

impl Value for ApplyActionFlags {
    fn read(r: &mut Reader<'_>) -> Result<ApplyActionFlags, Flaw> {
        let low = r.u8()?;
        let high = if r.is_empty() { 0 } else { r.u8()? };
        Ok(ApplyActionFlags(u16::from_le_bytes([low, high])))
    }
    fn write(&self, out: &mut Vec<u8>) {
        let [low, high] = self.0.to_le_bytes();
        out.push(low);
        if high != 0 {
            out.push(high);
        }
    }
}

impl Value for PacketCount {
    fn read(r: &mut Reader<'_>) -> Result<PacketCount, Flaw> {
        match r.all() {
            [] => Err(Flaw::Length),
            &[count] => Ok(PacketCount(count.into())),
            &[high, low, ..] => Ok(PacketCount(u16::from_be_bytes([high, low]))),
        }
    }
    fn write(&self, out: &mut Vec<u8>) {
        match u8::try_from(self.0) {
            Ok(count) => out.push(count),
            Err(_) => out.extend(self.0.to_be_bytes()),
        }
    }
}

impl Value for OuterHeaderCreation {
    fn read(r: &mut Reader<'_>) -> Result<OuterHeaderCreation, Flaw> {
        let description = r.u16()?;
        let is = |mask: u16| description & mask != 0;
        Ok(OuterHeaderCreation {
            description,
            teid: r.when(is(0x0300), Reader::u32)?,
            ipv4: r.when(is(0x1500), Reader::ipv4)?,
            ipv6: r.when(is(0x2a00), Reader::ipv6)?,
            port: r.when(is(0x0c00), Reader::u16)?,
        })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.description.to_be_bytes());
        out.extend(self.teid.iter().flat_map(|teid| teid.to_be_bytes()));
        write_addresses(self.ipv4, self.ipv6, out);
        out.extend(self.port.iter().flat_map(|port| port.to_be_bytes()));
    }
}

impl Value for OuterHeaderRemoval {
    fn read(r: &mut Reader<'_>) -> Result<OuterHeaderRemoval, Flaw> {
        let description = r.u8()?;
        let more = !r.is_empty();
        Ok(OuterHeaderRemoval { description, extension_deletion: r.when(more, Reader::u8)? })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.description);
        out.extend(self.extension_deletion);
    }
}

impl Value for UeIpAddress {
    fn read(r: &mut Reader<'_>) -> Result<UeIpAddress, Flaw> {
        let flags = r.u8()?;
        let is = |bit: u8| flags & 1 << bit != 0;
        Ok(UeIpAddress {
            ipv4: r.when(is(1), Reader::ipv4)?,
            ipv6: r.when(is(0), Reader::ipv6)?,
            destination: is(2),
            delegation_bits: r.when(is(3), Reader::u8)?,
            choose_ipv4: is(4),
            choose_ipv6: is(5),
            prefix_length: r.when(is(6), Reader::u8)?,
        })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(
            bit(self.ipv6.is_some(), 0)
                | bit(self.ipv4.is_some(), 1)
                | bit(self.destination, 2)
                | bit(self.delegation_bits.is_some(), 3)
                | bit(self.choose_ipv4, 4)
                | bit(self.choose_ipv6, 5)
                | bit(self.prefix_length.is_some(), 6),
        );
        write_addresses(self.ipv4, self.ipv6, out);
        out.extend(self.delegation_bits);
        out.extend(self.prefix_length);
    }
}

impl Value for FailedRuleId {
    fn read(r: &mut Reader<'_>) -> Result<FailedRuleId, Flaw> {
        Ok(FailedRuleId(match r.u8()? & 0x1f {
            0 => RuleId::Pdr(r.u16()?),
            1 => RuleId::Far(r.u32()?),
            2 => RuleId::Qer(r.u32()?),
            3 => RuleId::Urr(r.u32()?),
            4 => RuleId::Bar(r.u8()?),
            _ => return Err(Flaw::Value),
        }))
    }
    fn write(&self, out: &mut Vec<u8>) {
        let (kind, id) = match self.0 {
            RuleId::Pdr(id) => (0, id.to_be_bytes().to_vec()),
            RuleId::Far(id) => (1, id.to_be_bytes().to_vec()),
            RuleId::Qer(id) => (2, id.to_be_bytes().to_vec()),
            RuleId::Urr(id) => (3, id.to_be_bytes().to_vec()),
            RuleId::Bar(id) => (4, vec![id]),
        };
        out.push(kind);
        out.extend(id);
    }
}

impl Value for UserPlaneIpResource {
    fn read(r: &mut Reader<'_>) -> Result<UserPlaneIpResource, Flaw> {
        let flags = r.u8()?;
        let range_bits = flags >> 2 & 0x07;
        Ok(UserPlaneIpResource {
            teid_range: r.when(range_bits != 0, |r| Ok((range_bits, r.u8()?)))?,
            ipv4: r.when(flags & 0x01 != 0, Reader::ipv4)?,
            ipv6: r.when(flags & 0x02 != 0, Reader::ipv6)?,
            // The network instance's length is what is left but for the interface after it (§8.2.82).
            network_instance: if flags & 0x20 != 0 {
                let octets = r.all();
                let (name, interface) = if flags & 0x40 != 0 {
                    octets.split_at_checked(octets.len().wrapping_sub(1)).ok_or(Flaw::Length)?
                } else {
                    (octets, &[][..])
                };
                let name = Name::read(&mut Reader::new(name))?;
                *r = Reader::new(interface);
                Some(name)
            } else {
                None
            },
            source_interface: r.when(flags & 0x40 != 0, |r| Ok(r.u8()? & 0x0f))?,
        })
    }
    fn write(&self, out: &mut Vec<u8>) {
        let (range_bits, range) = self.teid_range.unzip();
        out.push(
            bit(self.ipv4.is_some(), 0)
                | bit(self.ipv6.is_some(), 1)
                | (range_bits.unwrap_or(0) & 0x07) << 2
                | bit(self.network_instance.is_some(), 5)
                | bit(self.source_interface.is_some(), 6),
        );
        out.extend(range);
        write_addresses(self.ipv4, self.ipv6, out);
        if let Some(name) = &self.network_instance {
            name.write(out);
        }
        out.extend(self.source_interface);
    }
}

impl Value for SNssai {
    fn read(r: &mut Reader<'_>) -> Result<SNssai, Flaw> {
        let [sst, a, b, c] = r.array()?;
        Ok(SNssai { sst, sd: u32::from_be_bytes([0, a, b, c]) })
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.sst);
        out.extend(&self.sd.to_be_bytes()[1..]);
    }
}

impl Value for UpFeatures {
    fn read(r: &mut Reader<'_>) -> Result<UpFeatures, Flaw> {
        let octets = r.all();
        if octets.is_empty() {
            return Err(Flaw::Length);
        }
        let mut features = [0; 8];
        for (feature, given) in features.iter_mut().zip(octets) {
            *feature = *given;
        }
        Ok(UpFeatures(u64::from_le_bytes(features)))
    }
    fn write(&self, out: &mut Vec<u8>) {
        let octets = self.0.to_le_bytes();
        // Octets were added in pairs over the releases, and some peers know only such lengths.
        let used = octets.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
        out.extend(&octets[..used.max(2).next_multiple_of(2)]);
    }
}

/// Octets whose meaning is not ours.
impl Value for Vec<u8> {
    fn read(r: &mut Reader<'_>) -> Result<Vec<u8>, Flaw> {
        Ok(r.all().to_vec())
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.extend(self);
    }
}

/// A value and its mask.
impl Value for (u8, u8) {
    fn read(r: &mut Reader<'_>) -> Result<(u8, u8), Flaw> {
        Ok((r.u8()?, r.u8()?))
    }
    fn write(&self, out: &mut Vec<u8>) {
        out.extend([self.0, self.1]);
    }
}

fn bit(set: bool, position: u8) -> u8 {
    u8::from(set) << position
}

fn write_addresses(ipv4: Option<Ipv4Addr>, ipv6: Option<Ipv6Addr>, out: &mut Vec<u8>) {
    out.extend(ipv4.iter().flat_map(|address| address.octets()));
    out.extend(ipv6.iter().flat_map(|address| address.octets()));
}

/// Flags total, uplink, downlink in bits 0 to 2, as thresholds, quotas and measurements have them.
fn read_volume(r: &mut Reader<'_>, flags: u8) -> Result<Volume, Flaw> {
    Ok(Volume {
        total: r.when(flags & 0x01 != 0, Reader::u64)?,
        uplink: r.when(flags & 0x02 != 0, Reader::u64)?,
        downlink: r.when(flags & 0x04 != 0, Reader::u64)?,
    })
}

fn volume_flags(volume: &Volume) -> u8 {
    bit(volume.total.is_some(), 0) | bit(volume.uplink.is_some(), 1) | bit(volume.downlink.is_some(), 2)
}

fn write_volume(volume: &Volume, out: &mut Vec<u8>) {
    for value in [volume.total, volume.uplink, volume.downlink].into_iter().flatten() {
        out.extend(value.to_be_bytes());
    }
}

/// The dotted name if the octets are exactly DNS labels (RFC 1035 §3.1; a root label at the end is allowed).
fn dns_labels(octets: &[u8]) -> Option<String> {
    let mut name = String::with_capacity(octets.len());
    let mut rest = octets;
    while let Some((&length, after)) = rest.split_first() {
        if length == 0 {
            return (after.is_empty() && !name.is_empty()).then_some(name);
        }
        let (label, next) = after.split_at_checked(length.into())?;
        if length > 63 {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(&plain_text(label)?);
        rest = next;
    }
    (!name.is_empty()).then_some(name)
}

/// The text if it is printable ASCII.
fn plain_text(octets: &[u8]) -> Option<String> {
    let printable = !octets.is_empty() && octets.iter().all(|octet| (0x20..0x7f).contains(octet));
    printable.then(|| String::from_utf8_lossy(octets).into_owned())
}

/// A label is cut at 63 octets, which its length cannot exceed; empty ones are left out.
fn write_labels(name: &str, out: &mut Vec<u8>) {
    for label in name.split('.').filter(|label| !label.is_empty()) {
        let label = &label.as_bytes()[..label.len().min(63)];
        out.push(label.len() as u8);
        out.extend(label);
    }
}
