//! libFuzzer's way into [`fuzz::chip`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::chip::run(data));
