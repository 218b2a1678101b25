//! libFuzzer's way into [`fuzz::sdap`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::sdap::run(data));
