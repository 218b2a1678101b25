//! Compiles the shim over DPDK into a shared object that the crate carries in itself: see `src/shim.rs`.
//!
//! Where pkg-config knows no libdpdk, or with the feature `libdpdk` off, there is no shim, and the crate says so when it is asked
//! for something.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Oldest DPDK whose functions the shim calls: Debian 12's.
const OLDEST: &str = "22.11";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(libdpdk)");
    println!("cargo::rerun-if-changed=shim");
    println!("cargo::rerun-if-env-changed=PKG_CONFIG_PATH");
    if std::env::var_os("CARGO_FEATURE_LIBDPDK").is_none() {
        return absent("it was built without the feature `dpdk`");
    }
    // With `cargo_metadata` the binary itself would be linked to libdpdk, and not start without it.
    let library = match pkg_config::Config::new().cargo_metadata(false).env_metadata(true).atleast_version(OLDEST).probe("libdpdk") {
        Ok(library) => library,
        // Installed later, it is not noticed by itself: pkg-config's files are looked at again when the folder changes.
        Err(_) => {
            for folder in ["/usr/lib/x86_64-linux-gnu/pkgconfig", "/usr/lib/pkgconfig", "/usr/local/lib/pkgconfig"] {
                if Path::new(folder).exists() {
                    println!("cargo::rerun-if-changed={folder}");
                }
            }
            return absent("install libdpdk-dev and build again");
        }
    };
    match compile(&library) {
        Ok(object) => {
            println!("cargo::rustc-cfg=libdpdk");
            println!("cargo::rustc-env=DPDK_SHIM={}", object.display());
            println!("cargo::rustc-env=DPDK_VERSION={}", library.version);
            let folders: Vec<String> = library.include_paths.iter().map(|p| p.display().to_string()).collect();
            println!("cargo::rustc-env=DPDK_INCLUDE={}", folders.join(":"));
        }
        Err(why) => {
            println!("cargo::warning=no DPDK in this build: {why}");
            absent("libdpdk-dev is installed, but the shim over it did not compile: see the build's warnings");
        }
    }
}

fn absent(why: &str) {
    println!("cargo::rustc-env=DPDK_ABSENT={why}");
}

fn compile(library: &pkg_config::Library) -> Result<PathBuf, String> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let object = out.join("libsplitplane_dpdk.so");
    let mut build = cc::Build::new();
    // pkg-config asks for -march=corei7, which the crate pkg-config leaves out: DPDK's headers need SSE4.2 at least, and what is
    // faster on newer processors DPDK and libc choose when they run.
    build.opt_level(3).pic(true).flag("-march=x86-64-v2").flag("-mtune=generic");
    build.flag("-fno-strict-aliasing").flag("-Wall").flag("-Wextra").flag("-Wno-unused-parameter");
    for (name, value) in &library.defines {
        build.define(name, value.as_deref());
    }
    let mut command: Command = build.try_get_compiler().map_err(|e| e.to_string())?.to_command();
    // System headers: their warnings are not ours.
    for folder in &library.include_paths {
        command.arg("-isystem").arg(folder);
    }
    command.args(["-include", "rte_config.h", "-DALLOW_EXPERIMENTAL_API", "-shared", "-o"]).arg(&object);
    command.args(["shim/eal.c", "shim/port.c", "shim/swx.c"]).arg("-Wl,--as-needed").arg("-Wl,-z,defs");
    for folder in &library.link_paths {
        command.arg("-L").arg(folder);
    }
    for name in &library.libs {
        command.arg(format!("-l{name}"));
    }
    let output = command.output().map_err(|e| format!("cannot run the C compiler: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    for line in text.lines() {
        println!("cargo::warning={line}");
    }
    if output.status.success() { Ok(object) } else { Err("the C compiler failed".to_owned()) }
}
