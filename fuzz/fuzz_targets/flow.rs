//! libFuzzer's way into [`fuzz::flow`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::flow::run(data));
