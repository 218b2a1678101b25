//! The user plane function, sound, truncated and mutated packets of all its kinds, and arguments that let them through.

use base::PortId;
use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// The program for so many sessions.
pub fn program(sessions: u32) -> p4_ir::Ir {
    program_with(sessions, &[])
}

/// The same with macros that are 1.
pub fn program_with(sessions: u32, macros: &[&str]) -> p4_ir::Ir {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../p4/upf.p4");
    let mut options = p4_check::Options::default();
    options.defines.insert("SESSIONS".into(), sessions.to_string());
    options.defines.extend(macros.iter().map(|name| (name.to_string(), "1".into())));
    let mut ir = p4_check::compile_file(&path, &options).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    ir
}

/// Few values of each kind, so that entries made for one packet serve others.
fn v4(rng: &mut ChaCha8Rng) -> [u8; 4] {
    [10, 0, 0, rng.random_range(1..7)]
}

fn v6(rng: &mut ChaCha8Rng) -> [u8; 16] {
    let mut a = [0; 16];
    a[..4].copy_from_slice(&[0x20, 1, 0xd, 0xb8]);
    a[7] = rng.random_range(0..4);
    a[15] = rng.random_range(0..3);
    if rng.random_bool(0.05) {
        // Seldom twice, so that tables of prefixes have misses to the end.
        a[1..8].fill(rng.random());
    }
    a
}

/// Ports, or the start of what else is behind IP.
fn transport(rng: &mut ChaCha8Rng) -> (u8, Vec<u8>) {
    let port = |rng: &mut ChaCha8Rng| *[53u16, 80, 443, 2152, 4789, 50000].choose(rng).unwrap();
    let mut bytes = Vec::new();
    for p in [port(rng), port(rng)] {
        bytes.extend(p.to_be_bytes());
    }
    bytes.extend((0..rng.random_range(4..60)).map(|_| rng.random::<u8>()));
    (*[6u8, 17, 17, 17, 132, 1].choose(rng).unwrap(), bytes)
}

fn ipv4(rng: &mut ChaCha8Rng, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let options = if rng.random_bool(0.1) { rng.random_range(1..=10) } else { 0 };
    let len = 20 + 4 * options + payload.len();
    let fragment: u16 = if rng.random_bool(0.07) { rng.random_range(0..3) | (rng.random::<bool>() as u16) << 13 } else { 0x4000 };
    let ttl = if rng.random_bool(0.1) { rng.random_range(0..3) } else { 64 };
    let mut ip = vec![0x45 + options as u8, rng.random_range(0..3) << 2];
    ip.extend((len as u16).to_be_bytes());
    ip.extend([0, 1]);
    ip.extend(fragment.to_be_bytes());
    ip.extend([ttl, protocol, 0, 0]);
    ip.extend(v4(rng));
    ip.extend(v4(rng));
    ip.extend((0..4 * options).map(|_| rng.random::<u8>()));
    let mut sum: u32 = ip.chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let checksum = if rng.random_bool(0.03) { rng.random() } else { !(sum as u16) };
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    ip.extend(payload);
    ip
}

fn ipv6(rng: &mut ChaCha8Rng, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut ip = vec![0x60, 0, 0, rng.random_range(0..3)];
    ip.extend((payload.len() as u16).to_be_bytes());
    ip.extend([next, if rng.random_bool(0.1) { 1 } else { 64 }]);
    ip.extend(v6(rng));
    ip.extend(v6(rng));
    ip.extend(payload);
    ip
}

fn user_packet(rng: &mut ChaCha8Rng) -> (u16, Vec<u8>) {
    let (protocol, payload) = transport(rng);
    if rng.random_bool(0.6) { (0x0800, ipv4(rng, protocol, &payload)) } else { (0x86dd, ipv6(rng, protocol, &payload)) }
}

fn udp(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(from.to_be_bytes());
    bytes.extend(to.to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(payload);
    bytes
}

fn gtpu(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let inner = if rng.random_bool(0.97) { user_packet(rng).1 } else { vec![0x11; 30] };
    let mut optional = Vec::new();
    let mut flags = 0x30;
    match rng.random_range(0..5) {
        0 | 1 => {}
        2 => {
            flags |= 0x02;
            optional.extend([0, 7, 0, 0]);
        }
        _ => {
            flags |= 0x04;
            optional.extend([0, 0, 0, 0x85]);
            optional.extend([1, rng.random_range(0..2) << 4, rng.random_range(0..64)]);
            if rng.random_bool(0.2) {
                // Another extension behind the container: of two units, sometimes one that must be understood.
                optional.extend([if rng.random_bool(0.5) { 0x20 } else { 0xc0 }, 2, 0, 0, 0, 0, 0, 0, 0]);
            } else {
                optional.push(0);
            }
        }
    }
    if rng.random_bool(0.03) {
        flags = rng.random();
    }
    let kind = if rng.random_bool(0.9) { 255 } else { *[1u8, 26, 254].choose(rng).unwrap() };
    let mut bytes = vec![flags, kind];
    bytes.extend(((optional.len() + inner.len()) as u16).to_be_bytes());
    bytes.extend([0, 0, 0, rng.random_range(1..9)]);
    bytes.extend(optional);
    bytes.extend(inner);
    bytes
}

fn frame(rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, rng.random_range(1..3), 2, 0, 0, 0, 1, 1];
    let (ethertype, payload) = match rng.random_range(0..20) {
        0 => (0x0806, vec![0; 28]),
        1..=9 => {
            let tunnel = udp(2152, 2152, &gtpu(rng));
            (0x0800, ipv4(rng, 17, &tunnel))
        }
        _ => user_packet(rng),
    };
    bytes.extend(u16::to_be_bytes(ethertype));
    bytes.extend(payload);
    bytes
}

/// A packet, mostly a sound one, and the port that it comes in by.
pub fn packet(rng: &mut ChaCha8Rng) -> (Vec<u8>, PortId) {
    let port = PortId(*[0, 0, 1, 128, 129, 256, 384].choose(rng).unwrap());
    let mut bytes = frame(rng);
    if port.0 >= 256 && rng.random_bool(0.8) {
        let mut vxlan = vec![8, 0, 0, 0, 0, 0, rng.random_range(1..3), 0];
        vxlan.extend(bytes);
        let underlay = udp(50000, 4789, &vxlan);
        bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 9, 9, 8, 0];
        bytes.extend(ipv4(rng, 17, &underlay));
    }
    match rng.random_range(0..20) {
        0 => bytes.truncate(rng.random_range(0..=bytes.len())),
        1 => {
            let at = rng.random_range(0..bytes.len().min(60));
            bytes[at] = rng.random();
        }
        2 => bytes.extend([0; 20]),
        _ => {}
    }
    (bytes, port)
}

/// Arguments that let packets through to the end.
pub fn choose(rng: &mut ChaCha8Rng, action: &str, param: &str) -> Option<u128> {
    let few = |rng: &mut ChaCha8Rng, of: &[u128]| of.choose(rng).copied();
    match (action, param) {
        (_, "") if ["drop", "deny", "no_", "unresolved"].iter().any(|end| action.contains(end)) => Some(u128::from(rng.random_bool(0.1))),
        ("set_pdr", "disposition") => few(rng, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]),
        ("set_pdr", "flags") => few(rng, &[0, 0, 1, 1, 1, 3]),
        ("set_pdr", "usage") => Some(rng.random_range(0..40)),
        ("set_pdr", "meter_1" | "meter_2" | "meter_3") => few(rng, &[0, 0, 0, 1, 2, 3, 70_000]),
        ("set_pdr", "ue_ipv4") => Some(0x0a00_0001 + rng.random_range(0..6)),
        ("set_pdr", "ue_prefix") => Some(0x2001_0db8_0000_0000 + rng.random_range(0..4)),
        ("set_pdr", "encapsulation") => few(rng, &[0, 1, 2, 3]),
        ("set_pdr", "tunnel_dst" | "tunnel_src") => Some(0xc0a8_0001 + rng.random_range(0..4)),
        ("set_pdr", "out_vrf") => Some(rng.random_range(0..2)),
        ("classify", "group" | "filter_set") => Some(rng.random_range(0..3)),
        ("set_filter", "class") => Some(rng.random_range(0..3)),
        ("set_nexthop", _) => Some(rng.random_range(0..6)),
        ("set_class", "meter_cell") => Some(rng.random_range(0..3)),
        ("send" | "send_vxlan", "port") => Some(rng.random_range(0..5)),
        ("send" | "send_vxlan", "mtu") => Some([1500, 9000, 9000, 9000][rng.random_range(0..4)]),
        (_, "vrf") => Some(rng.random_range(0..2)),
        (_, "reason") => Some(rng.random_range(1..37)),
        _ => None,
    }
}
