//! libFuzzer's way into [`fuzz::rules`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::rules::run(data));
