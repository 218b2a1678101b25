//! libFuzzer's way into [`fuzz::gnodeb`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gnodeb::run(data));
