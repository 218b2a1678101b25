//! libFuzzer's way into [`fuzz::store`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::store::run(data));
