//! libFuzzer's way into [`fuzz::p4_source`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::p4_source::run(data));
