//! What the log says of sessions: SEIDs are text there too, as a number of JSON has 53 bits for many readers.

mod common;

use common::*;
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn seids_are_text_in_the_log_as_they_are_everywhere() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().json().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let seid = tracing::subscriber::with_default(subscriber, || {
        let mut bench = Bench::new();
        let (seid, _) = bench.establish(simple_session(u64::MAX - 1, 0x101, [10, 45, 0, 2], Vec::new()));
        // One that there is not is rejected, and the line says which.
        bench.modify(seid ^ 1, Vec::new());
        bench.delete(seid);
        seid
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let values: Vec<&str> = text.match_indices("seid\":").map(|(at, name)| &text[at + name.len()..]).collect();
    assert!(values.len() >= 3, "{text}");
    assert!(values.iter().all(|value| value.starts_with("\"0x") || value.starts_with("\"\"")), "{text}");
    for named in [seid, seid ^ 1, u64::MAX - 1] {
        assert!(text.contains(&format!("\"{named:#x}\"")), "{named:#x} is not in {text}");
    }
}
