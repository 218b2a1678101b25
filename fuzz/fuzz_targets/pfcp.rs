//! libFuzzer's way into [`fuzz::pfcp`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::pfcp::run(data));
