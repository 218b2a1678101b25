//! libFuzzer's way into [`fuzz::trains`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trains::run(data));
