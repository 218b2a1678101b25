//! NR-U frames (TS 38.425), the content of GTP-U's NR RAN container: any bytes are refused by name or are a frame, which is written and read back
//! the same.

use gnb::nru::Frame;

/// Reads `data` as the content of one container.
pub fn run(data: &[u8]) {
    let Ok(frame) = Frame::parse(data) else { return };
    let mut written = Vec::new();
    frame.emit(0, &mut written);
    assert!(usize::from(written[0]) * 4 == written.len(), "a header says how long it is");
    // Lists of longer ones are cut.
    if data.len() <= 480 {
        assert_eq!(Frame::parse(&written[1..written.len() - 1]), Ok(frame), "what is written is read back");
    }
}
