//! libFuzzer's way into [`fuzz::upf`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::upf::run(data));
