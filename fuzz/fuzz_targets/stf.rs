//! libFuzzer's way into [`fuzz::stf`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::stf::run(data));
