//! libFuzzer's way into [`fuzz::nru`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::nru::run(data));
