//! libFuzzer's way into [`fuzz::rlc_status`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rlc_status::run(data));
