//! libFuzzer's way into [`fuzz::lsp`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::lsp::run(data));
