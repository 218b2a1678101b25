//! libFuzzer's way into [`fuzz::gnb_front`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gnb_front::run(data));
