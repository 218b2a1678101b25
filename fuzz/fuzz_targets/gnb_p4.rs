//! libFuzzer's way into [`fuzz::gnb_p4`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::gnb_p4::run(data));
