//! libFuzzer's way into [`fuzz::config`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::config::run(data));
