//! libFuzzer's way into [`fuzz::store_files`].
#![no_main]

use std::sync::Once;

/// A panic in the embedded store's code is caught, and is an error that is told: libFuzzer's hook would end the process before. One that is not
/// caught ends it still, where it comes to libFuzzer.
static QUIET: Once = Once::new();

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    QUIET.call_once(|| std::panic::set_hook(Box::new(|info| eprintln!("{info}"))));
    fuzz::store_files::run(data);
});
