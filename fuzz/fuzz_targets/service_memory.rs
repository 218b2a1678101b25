//! libFuzzer's way into [`fuzz::service_memory`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::service_memory::run(data));
