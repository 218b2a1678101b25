//! SWX pipelines: output bytes and counters against an expectation of their own, for both programs, with and without meters.

mod common;

use std::time::Duration;

use common::*;
use dpdk::swx::{Direction, Mode, Swx, frames, generate, sessions};

const DIRECTIONS: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

/// Frames of all lengths, of every session, and among them such as must be dropped.
fn mixed(direction: Direction, sessions: &[dpdk::swx::Session]) -> (Vec<Vec<u8>>, usize) {
    let mut all = Vec::new();
    for (i, len) in (28..1500).step_by(31).enumerate() {
        all.extend(frames(direction, sessions, 20 + i, len));
    }
    let good = all.len();
    let mut bad = 0;
    for i in (0..good).step_by(7) {
        let mut frame = all[i].clone();
        match (direction, bad % 4) {
            (_, 0) => frame[12] = 0x86,
            (Direction::Downlink, _) => frame[30] ^= 0x80,
            (Direction::Uplink, 1) => frame[14 + 32] ^= 0x80,
            (Direction::Uplink, 2) => frame[14 + 42] ^= 1,
            (Direction::Uplink, _) => frame[14 + 44 + 12] ^= 1,
        }
        all.insert(i, frame);
        bad += 1;
    }
    assert!(good > 1000 && bad > 150);
    (all, good)
}

fn check(headers: Option<&std::path::Path>, mode: Mode) {
    let sessions = sessions(300);
    for direction in DIRECTIONS {
        for meter in [false, true] {
            let mut swx = Swx::with_headers(direction, &sessions, meter, headers).unwrap();
            assert_eq!(swx.mode(), mode);
            let (all, good) = mixed(direction, &sessions);
            swx.set_frames(&all).unwrap();
            assert_eq!(swx.verify().unwrap(), good, "{direction:?}");
            // A round of drops is no round.
            assert!(swx.round(Duration::from_millis(1)).unwrap_err().to_string().contains("did not come out"));
            swx.set_frames(&frames(direction, &sessions, 1000, 46)).unwrap();
            let (packets, _) = swx.round(Duration::from_millis(5)).unwrap();
            assert!(packets > 0);
            assert_eq!(swx.verify().unwrap(), 1000);
            let counted: u64 = swx.counters().unwrap().iter().map(|(packets, _)| packets).sum();
            assert!(counted >= packets + 2000, "{counted} counted");
        }
    }
}

#[test]
fn interpreted_pipelines_give_the_right_bytes_and_counts() {
    if started() {
        check(None, Mode::Interpreted);
    }
}

#[test]
fn generated_pipelines_give_the_right_bytes_and_counts() {
    if !started() {
        return;
    }
    match generate::headers().unwrap() {
        Some(folder) => check(Some(&folder), Mode::Generated),
        None => skip(&format!("{} names no folder with rte_swx_pipeline_internal.h", generate::HEADERS)),
    }
}

#[test]
fn what_swx_cannot_take_is_refused() {
    if !started() {
        return;
    }
    assert!(Swx::with_headers(Direction::Downlink, &[], false, None).is_err());
    let some = sessions(10);
    let mut swx = Swx::with_headers(Direction::Downlink, &some, false, None).unwrap();
    assert!(swx.round(Duration::from_millis(1)).unwrap_err().to_string().contains("no frames"));
    assert!(swx.set_frames(&[]).is_err());
    assert!(swx.set_frames(&[vec![0; 2049]]).is_err());
    // A wrong expectation is noticed: the frames are of sessions that the pipeline does not have.
    swx.set_frames(&frames(Direction::Downlink, &sessions(1000)[500..], 100, 46)).unwrap();
    assert_eq!(swx.verify().unwrap(), 0);
    let folder = tempfile::tempdir().unwrap();
    let error = Swx::with_headers(Direction::Uplink, &some, false, Some(folder.path())).map(drop).unwrap_err();
    assert!(error.to_string().contains("the C compiler"), "{error}");
}
