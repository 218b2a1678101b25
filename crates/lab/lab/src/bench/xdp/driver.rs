//! Where do the packets come from? `driver.c` makes that of another random session each time it is run, and goes on in the program
//! under test. Here it is told of which sessions.

use super::super::sessions::{self, Direction};
use super::load_failure;
use cli::failure::Failure;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::atomic::Ordering;
use target_xdp::object::{Object, Sizes};
use target_xdp::sys::Shared;

const TEXT: &str = include_str!("driver.c");
/// `struct state` there: where `mask`, `frame` and `written` are, and its length.
const MASK: usize = 4;
const FRAME: usize = 8;
const WRITTEN: usize = 136;
const STATE: usize = 144;
/// Bytes of `struct session` there.
const SESSION: usize = 16;
/// Sessions of the list, a power of two, so that few sessions come often and many are not all the same few.
const SHORTEST_LIST: u32 = 1 << 12;
const LONGEST_LIST: u32 = 1 << 20;

/// Frames of up to 128 bytes that differ by session, and where in them: the UE's address, the checksum of the header that it is in, the TEID. `driver.c` writes them there.
pub(in crate::bench) struct Frames<'a> {
    pub(in crate::bench) frame: &'a dyn Fn(u32) -> Vec<u8>,
    pub(in crate::bench) ue: usize,
    pub(in crate::bench) checksum: usize,
    /// 0: frames have none.
    pub(in crate::bench) teid: usize,
}

/// The driver and its list.
pub(in crate::bench) struct Driver {
    object: Object,
    state: Shared,
    list: Shared,
    /// All sessions, or as many as the list has room for, each once and then some again, in random order.
    numbers: Vec<u32>,
    /// Of which session each packet in turn is; as many as a power of two.
    current: Vec<u32>,
}

impl Driver {
    /// For sessions 0 to `n`.
    pub(in crate::bench) fn new(n: u32) -> Result<Driver, Failure> {
        let list_len = n.next_power_of_two().clamp(SHORTEST_LIST, LONGEST_LIST);
        let sizes = Sizes { entries: vec![("sessions".into(), list_len)], ..Sizes::default() };
        let object = Object::compile(TEXT, &sizes, &["drive_downlink", "drive_uplink", "drive_gnb", "drive_gnb_marked", "empty"])
            .map_err(load_failure)?;
        let state = object.shared("state", 1, STATE).map_err(load_failure)?;
        let list = object.shared("sessions", list_len.into(), SESSION).map_err(load_failure)?;
        let mut rng = rand::rngs::StdRng::seed_from_u64(1);
        let mut numbers: Vec<u32> = (0..n).collect();
        numbers.shuffle(&mut rng);
        while numbers.len() < list_len as usize {
            numbers.push(rng.random_range(0..n));
        }
        numbers.truncate(list_len as usize);
        Ok(Driver { object, state, list, numbers, current: Vec::new() })
    }

    /// From now on it makes frames of all sessions, in random order.
    pub(super) fn prepare(&mut self, direction: Direction) {
        let all = self.numbers.clone();
        self.write(direction, all);
    }

    /// From now on it makes frames of the first sessions of its list only: of how many, a power of two. They are what this gives.
    pub(super) fn prepare_sample(&mut self, direction: Direction, count: usize) -> Vec<u32> {
        let sample = self.numbers[..count].to_vec();
        self.write(direction, sample.clone());
        sample
    }

    /// As [`Driver::prepare`], of other frames, whose program is not one of a direction.
    pub(in crate::bench) fn prepare_frames(&mut self, frames: &Frames<'_>) {
        self.write_frames(frames, self.numbers.clone());
    }

    fn write(&mut self, direction: Direction, numbers: Vec<u32>) {
        let user = sessions::user_offset(direction);
        let (ue, teid) = if direction == Direction::Downlink { (user + 16, 0) } else { (user + 12, user - 12) };
        self.write_frames(&Frames { frame: &|n| sessions::frame(direction, n), ue, checksum: user + 10, teid }, numbers);
    }

    fn write_frames(&mut self, frames: &Frames<'_>, numbers: Vec<u32>) {
        debug_assert!(numbers.len().is_power_of_two());
        self.state.write(0, &[0; MASK]);
        self.state.write(MASK, &(numbers.len() as u32 - 1).to_ne_bytes());
        self.state.write(FRAME, &(frames.frame)(0));
        for (i, n) in numbers.iter().enumerate() {
            let frame = (frames.frame)(*n);
            let mut entry = [&frame[frames.ue..][..4], &frame[frames.teid..][..4], &frame[frames.checksum..][..2]].concat();
            entry.resize(SESSION, 0);
            self.list.write(SESSION * i, &entry);
        }
        self.current = numbers;
    }

    /// The sessions of the next `count` packets.
    pub(in crate::bench) fn coming(&self, count: usize) -> impl Iterator<Item = u32> {
        let next = self.state.word(0).load(Ordering::Relaxed) as usize;
        (0..count).map(move |i| self.current[next.wrapping_add(i) % self.current.len()])
    }

    /// Packets until it starts over.
    pub(super) fn list_len(&self) -> usize {
        self.current.len()
    }

    /// Packets that it has made.
    pub(super) fn made(&self) -> u64 {
        self.state.long(WRITTEN).load(Ordering::Relaxed)
    }

    /// From now on it goes on in this program.
    pub(in crate::bench) fn go_on_in(&self, program: RawFd) -> Result<(), Failure> {
        self.object.put("next", &0u32.to_ne_bytes(), &program.to_ne_bytes()).map_err(load_failure)
    }

    /// The driver of a direction.
    pub(super) fn program(&mut self, direction: Direction) -> Result<impl AsFd + use<>, Failure> {
        self.program_named(if direction == Direction::Downlink { "drive_downlink" } else { "drive_uplink" })
    }

    /// The driver of that name in `driver.c`.
    pub(in crate::bench) fn program_named(&mut self, name: &str) -> Result<impl AsFd + use<>, Failure> {
        self.object.program_fd(name).map_err(load_failure)
    }

    /// The program that does nothing.
    pub(in crate::bench) fn empty(&mut self) -> Result<impl AsFd + use<>, Failure> {
        self.object.program_fd("empty").map_err(load_failure)
    }
}

/// A descriptor's number. It is valid as long as the descriptor.
pub(in crate::bench) fn number(fd: &impl AsFd) -> RawFd {
    fd.as_fd().as_raw_fd()
}
