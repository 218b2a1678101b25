//! The binary: all of it is in the library, which the fuzzer uses too.
#![forbid(unsafe_code)]

/// Gives memory back to the system when sessions have ended: see `bench n4`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    splitplane::main()
}
