//! libFuzzer's way into [`fuzz::load`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::load::run(data));
