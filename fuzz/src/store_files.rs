//! The files of N4's store, whatever became of them on a disk: a start with them says what is wrong, or goes on with what is left. What is left
//! was there before, and the rest can be written again.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use daemon::n4::store::{Moment, Opened, PersistMode};
use pfcp::codec::{ApplyActionFlags, FSeid, FTeid, Ie, Message, MessageType, NodeId};
use pfcp::config::{Config, GtpuAddress};
use pfcp::node::Node;

use super::pfcp::{Recorder, check};

const UP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 7);
const CP: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 4);
/// Of the store that is damaged; written in batches, as sessions come, change and go.
const SESSIONS: u32 = 24;
const UNIX: Duration = Duration::from_secs(1_700_000_000);
/// Damages at most, each of so many octets.
const MAX_DAMAGES: usize = 8;
const DAMAGE: usize = 5;
/// What is overwritten at a time, at most.
const LONGEST: usize = 4096;

/// A file before it was damaged: its name, what it begins with, and how many zeros follow.
struct Whole {
    name: PathBuf,
    octets: Vec<u8>,
    length: u64,
}

/// What a file begins with, and how long it is.
type Content = (Vec<u8>, u64);

/// Reads `data` as damages: which file, what kind, where (two octets, of 65536 parts of the file), and a value.
pub fn run(data: &[u8]) {
    static STORE: OnceLock<(Vec<Whole>, BTreeSet<u64>)> = OnceLock::new();
    let (files, seids) = STORE.get_or_init(store);
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    write(files, data, folder.path());
    match start(folder.path(), seids) {
        Ok(()) => {}
        // What the operator is to do is in it.
        Err(why) => {
            assert!((why.contains("cannot be read") || why.contains("cannot be written")) && why.contains("move it away"), "{why}")
        }
    }
}

/// Starts with what is there, twice: what the first start leaves is whole.
fn start(folder: &Path, seids: &BTreeSet<u64>) -> Result<(), String> {
    let left = go_on(folder, 10, seids)?;
    let again = go_on(folder, 20, seids).expect("what was just written can be read");
    assert_eq!(again, left);
    Ok(())
}

/// A start after so many seconds; the sessions that there are.
fn go_on(folder: &Path, after_s: u64, seids: &BTreeSet<u64>) -> Result<BTreeSet<u64>, String> {
    let mut opened = Opened::open_folder(folder, PersistMode::Buffer)?;
    let mut plane = Recorder::default();
    let now = Moment::new(UNIX + Duration::from_secs(after_s), Instant::now());
    let mut node = opened.bring_back(config(), now, &mut plane)?.node;
    check(&mut node, &plane);
    let there: BTreeSet<u64> = node.sessions().map(|session| session.seid).collect();
    assert!(there.is_subset(seids), "{there:x?} of {seids:x?}");
    node.checkpoint_all(Duration::from_secs(after_s), &mut plane);
    opened.write_now(node.take_changes())?;
    Ok(there)
}

/// The files of a node that was killed, and the SEIDs that it had.
fn store() -> (Vec<Whole>, BTreeSet<u64>) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let mut opened = Opened::open_folder(folder.path(), PersistMode::Buffer).expect("a new store");
    let (mut plane, now) = (Recorder::default(), Duration::from_secs(1));
    let mut node = opened.bring_back(config(), Moment::new(UNIX, Instant::now()), &mut plane).expect("a new node").node;
    let mut write = |node: &mut Node| opened.write_now(node.take_changes()).expect("it can be written");
    let own = Ie::NodeId(NodeId::Ipv4(CP));
    let setup = Message::node(MessageType::AssociationSetupRequest, 0, vec![own.clone(), Ie::RecoveryTimeStamp(1)]);
    tell(&mut node, &mut plane, setup, now);
    write(&mut node);
    for n in 1..=SESSIONS {
        let teid = Ie::FTeid(FTeid::Given { teid: n, ipv4: Some(UP), ipv6: None });
        let pdr = Ie::CreatePdr(vec![Ie::PdrId(1), Ie::Precedence(1), Ie::Pdi(vec![Ie::SourceInterface(0), teid]), Ie::FarId(1)]);
        let far = Ie::CreateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::DROP)]);
        let ies = vec![own.clone(), Ie::FSeid(FSeid { seid: n.into(), ipv4: Some(CP), ipv6: None }), pdr, far];
        tell(&mut node, &mut plane, Message::session(MessageType::SessionEstablishmentRequest, 0, n, ies), now);
        write(&mut node);
    }
    let seids: BTreeSet<u64> = node.sessions().map(|session| session.seid).collect();
    assert_eq!(seids.len(), SESSIONS as usize);
    // Some are gone again: their records are there, and that they are not.
    for (sequence, seid) in (SESSIONS + 1..).zip(seids.iter().copied().step_by(3)) {
        tell(&mut node, &mut plane, Message::session(MessageType::SessionDeletionRequest, seid, sequence, Vec::new()), now);
        write(&mut node);
    }
    drop(opened);
    let mut files = Vec::new();
    read(folder.path(), folder.path(), &mut files);
    files.sort_by(|a, b| a.name.cmp(&b.name));
    (files, seids)
}

fn tell(node: &mut Node, plane: &mut Recorder, message: Message, now: Duration) {
    let octets = message.encode().expect("it is short");
    node.receive(SocketAddr::from((CP, 8805)), &octets, now, plane);
    check(node, plane);
}

fn read(folder: &Path, root: &Path, into: &mut Vec<Whole>) {
    for entry in std::fs::read_dir(folder).expect("it was just written") {
        let path = entry.expect("it was just written").path();
        if path.is_dir() {
            read(&path, root, into);
            continue;
        }
        let mut octets = std::fs::read(&path).expect("it was just written");
        let length = octets.len() as u64;
        octets.truncate(octets.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1));
        into.push(Whole { name: path.strip_prefix(root).expect("it is in there").into(), octets, length });
    }
}

/// Writes the files as the damages leave them.
fn write(files: &[Whole], data: &[u8], folder: &Path) {
    let mut all: Vec<(&Path, Option<Content>)> = files.iter().map(|file| (&*file.name, Some((file.octets.clone(), file.length)))).collect();
    let (damages, _) = data.as_chunks::<DAMAGE>();
    for [which, kind, high, low, value] in damages.iter().take(MAX_DAMAGES) {
        let other = usize::from(*value) % all.len();
        let others = all[other].1.clone();
        let which = usize::from(*which) % all.len();
        let Some((octets, length)) = &mut all[which].1 else { continue };
        let at = (octets.len() * usize::from(u16::from_be_bytes([*high, *low]))) >> 16;
        let to = octets.len().min(at + (16 * usize::from(*value)).min(LONGEST));
        match kind % 8 {
            0 => octets.iter_mut().skip(at).take(1).for_each(|octet| *octet ^= value.max(&1)),
            1 => {
                octets.truncate(at);
                *length = at as u64;
            }
            2 => octets[at..to].fill(0),
            3 => octets[at..to].iter_mut().for_each(|octet| *octet ^= 0x55),
            // As of two writes, one of which came twice, or not at all.
            4 => {
                let part = octets[at..to].to_vec();
                drop(octets.splice(at..at, part));
            }
            5 => drop(octets.drain(at..to)),
            6 => all[which].1 = None,
            _ => all[which].1 = others,
        }
    }
    for (name, content) in all {
        let Some((octets, length)) = content else { continue };
        let path = folder.join(name);
        let made = std::fs::create_dir_all(path.parent().expect("it is in the folder"))
            .and_then(|()| std::fs::write(&path, &octets))
            .and_then(|()| std::fs::File::options().write(true).open(&path))
            .and_then(|file| file.set_len(length.max(octets.len() as u64)));
        made.expect("there is room for temporary files");
    }
}

fn config() -> Config {
    Config {
        gtpu: vec![GtpuAddress { ipv4: UP, network_instance: None, interface: None, default: false }],
        max_sessions: 2 * SESSIONS as usize,
        heartbeat_period: None,
        records: Some(Duration::from_secs(4)),
        ..Config::new(NodeId::Ipv4(UP), IpAddr::V4(UP), 0)
    }
}
