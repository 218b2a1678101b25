//! libFuzzer's way into [`fuzz::gtpu`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gtpu::run(data));
