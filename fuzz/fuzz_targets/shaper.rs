//! libFuzzer's way into [`fuzz::shaper`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::shaper::run(data));
