//! libFuzzer's way into [`fuzz::rlc`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rlc::run(data));
