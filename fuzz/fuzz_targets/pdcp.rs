//! libFuzzer's way into [`fuzz::pdcp`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::pdcp::run(data));
