//! libFuzzer's way into [`fuzz::pcap`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::pcap::run(data));
