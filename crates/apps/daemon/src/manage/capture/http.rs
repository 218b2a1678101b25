//! Captures and traces over HTTP: started, fetched and stopped by requests of their own. A thread fetches what workers copy, as `splitplane capture` and
//! `splitplane trace live` do, and keeps it in memory until the next one begins.
//!
//! One looks at a time. It ends after so many packets, so many seconds or so many bytes, when it is stopped, or when somebody else begins to look.

use crate::manage::capture::pcapng::PcapFile;
use crate::manage::capture::{LookQuery, MOST, SeenPacket, SeenPart};
use crate::manage::control::{Control, Reply, Request};
use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// Packets of a trace, at most: each has its story.
const MOST_TRACED: u32 = 1000;
/// Bytes that are kept: of frames with their comments, or of stories.
const MOST_BYTES: usize = 64 << 20;
/// A piece of a file that is kept: what one download copies of it, at most, and a frame.
const PIECE: usize = 256 << 10;
/// Longest time.
const MOST_SECONDS: u64 = 86_400;

/// What is kept of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The frames as they came, as a pcapng file.
    Capture,
    /// What the program did with each.
    Trace,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Capture => "capture",
            Kind::Trace => "trace",
        }
    }
}

/// Which packets, and how long.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Start {
    /// Only packets to and from this address of a UE; of IPv6 the /64 counts.
    #[schema(value_type = Option<String>)]
    ue: Option<IpAddr>,
    /// Only packets that the program drops.
    #[serde(default)]
    dropped: bool,
    /// Ends after so many packets: 10,000 of a capture (at most 100,000), 10 of a trace (at most 1000).
    count: Option<u32>,
    /// Ends after so many seconds: 60, at most 86,400.
    seconds: Option<u64>,
}

/// How far a capture or trace is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Status {
    /// Whether packets are still looked for.
    pub running: bool,
    /// Packets so far.
    pub packets: u64,
    /// Packets that came too fast to be copied.
    pub missed: u64,
    /// Bytes that are kept.
    pub bytes: u64,
    /// Why it ended; none: it runs, or there has been none.
    pub ended: Option<String>,
}

/// A trace: how far it is, and its packets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Traced {
    /// How far it is.
    pub status: Status,
    /// In the order in which each worker saw them.
    pub packets: Vec<SeenPacket>,
}

/// The one that looks, or has looked last.
#[derive(Default)]
pub(crate) struct Looks(Mutex<Option<Arc<Look>>>);

struct Look {
    kind: Kind,
    /// The agent's number.
    id: u32,
    /// Who began, for the audit log.
    who: String,
    kept: Mutex<Kept>,
}

struct Kept {
    status: Status,
    file: PcapFile<Pieces>,
    packets: Vec<SeenPacket>,
}

/// A file in memory that grows: its whole pieces are shared with who downloads it, and not copied.
#[derive(Clone, Default)]
pub(crate) struct Pieces {
    whole: Vec<Bytes>,
    last: Vec<u8>,
    bytes: u64,
}

impl Pieces {
    /// All of it, in order.
    pub(crate) fn into_all(self) -> VecDeque<Bytes> {
        let mut all: VecDeque<Bytes> = self.whole.into();
        all.extend((!self.last.is_empty()).then(|| Bytes::from(self.last)));
        all
    }

    /// Bytes of it.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl std::io::Write for Pieces {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.last.extend_from_slice(octets);
        self.bytes += octets.len() as u64;
        if self.last.len() >= PIECE {
            self.whole.push(std::mem::take(&mut self.last).into());
        }
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Looks {
    /// Begins; who has looked until now sees no more, and what was kept is forgotten.
    ///
    /// # Errors
    /// What is wrong with the request, or why the UPF does not do it.
    pub(crate) fn start(&self, control: &Control, kind: Kind, start: &Start, who: &str) -> Result<(), String> {
        let (usual, most) = if kind == Kind::Capture { (10_000, MOST) } else { (10, MOST_TRACED) };
        let count = start.count.unwrap_or(usual);
        if !(1..=most).contains(&count) {
            return Err(format!("count: expected 1 to {most}"));
        }
        let seconds = start.seconds.unwrap_or(60);
        if !(1..=MOST_SECONDS).contains(&seconds) {
            return Err(format!("seconds: expected 1 to {MOST_SECONDS}"));
        }
        let file = PcapFile::new(Pieces::default()).map_err(|e| e.to_string())?;
        let query = LookQuery { ue: start.ue, dropped: start.dropped, count };
        // Held, so that two that begin at once end up here in the order in which the agent has them.
        let mut current = self.lock();
        let id = match control.answer(Request::Look(query), who) {
            Reply::Looking { id } => id,
            Reply::Error { message } => return Err(message),
            _ => return Err("the UPF answered something else".into()),
        };
        let status = Status { running: true, ..Status::default() };
        let look = Arc::new(Look { kind, id, who: who.to_owned(), kept: Mutex::new(Kept { status, file, packets: Vec::new() }) });
        let (of_thread, control) = (look.clone(), control.clone());
        let end = Instant::now() + Duration::from_secs(seconds);
        let fetch = move || of_thread.fetch(&control, u64::from(count), end);
        std::thread::Builder::new().name("look".into()).spawn(fetch).map_err(|e| format!("cannot start a thread: {e}"))?;
        *current = Some(look);
        Ok(())
    }

    /// Ends it; what there is so far stays.
    ///
    /// # Errors
    /// There is none of that kind.
    pub(crate) fn stop(&self, control: &Control, kind: Kind, who: &str) -> Result<(), String> {
        let look = self.of(kind)?;
        look.end("stopped");
        // An error says that somebody else looks by now.
        let _ = control.answer(Request::EndLook { id: look.id }, who);
        Ok(())
    }

    /// How far the last one of that kind is.
    pub(crate) fn status(&self, kind: Kind) -> Status {
        self.of(kind).map(|look| look.kept().status.clone()).unwrap_or_default()
    }

    /// The capture so far.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn file(&self) -> Result<Pieces, String> {
        self.of(Kind::Capture).map(|look| look.kept().file.get_mut().clone())
    }

    /// The trace so far; empty if there is none.
    pub(crate) fn traced(&self) -> Traced {
        let of = |look: Arc<Look>| {
            let kept = look.kept();
            Traced { status: kept.status.clone(), packets: kept.packets.clone() }
        };
        self.of(Kind::Trace).map(of).unwrap_or_default()
    }

    fn of(&self, kind: Kind) -> Result<Arc<Look>, String> {
        let look = self.lock().clone().filter(|look| look.kind == kind);
        look.ok_or_else(|| format!("there is no {}: POST /v1/{}/start", kind.name(), kind.name()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<Look>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Look {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches packets until it has ended.
    fn fetch(&self, control: &Control, count: u64, end: Instant) {
        while self.kept().status.running {
            let why = match control.answer(Request::Seen { id: self.id, story: self.kind == Kind::Trace }, &self.who) {
                Reply::Seen(part) => self.keep(&part, count, end),
                Reply::Error { message } => Some(message),
                _ => Some("the UPF answered something else".into()),
            };
            if let Some(why) = why {
                self.end(&why);
            }
        }
        let _ = control.answer(Request::EndLook { id: self.id }, &self.who);
    }

    /// Keeps what was seen; why that is all.
    fn keep(&self, part: &SeenPart, count: u64, end: Instant) -> Option<String> {
        let mut kept = self.kept();
        if !kept.status.running {
            return None;
        }
        kept.status.missed = part.missed;
        for packet in &part.packets {
            if self.kind == Kind::Capture {
                if let Err(e) = kept.file.write(packet) {
                    return Some(e.to_string());
                }
                kept.status.bytes = kept.file.get_mut().bytes();
            } else {
                let story = packet.story.as_ref().map_or(0, String::len);
                kept.status.bytes += (packet.packet.len() + packet.after.len() + story) as u64;
                kept.packets.push(packet.clone());
            }
            kept.status.packets += 1;
            if kept.status.bytes >= MOST_BYTES as u64 {
                return Some(format!("{} MiB are kept: no more fits", MOST_BYTES >> 20));
            }
        }
        if kept.status.packets >= count || part.left == 0 && part.packets.is_empty() {
            return Some("all packets that were asked for".into());
        }
        (Instant::now() >= end).then(|| "the time is over".into())
    }

    /// Notes the first reason.
    fn end(&self, why: &str) {
        let status = &mut self.kept().status;
        if std::mem::replace(&mut status.running, false) {
            status.ended = Some(why.to_owned());
        }
    }
}
