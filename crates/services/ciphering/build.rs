//! Compiles the shim over libipsec-mb into a shared object that the crate carries in itself: see `src/ipsec_mb.rs`.
//!
//! Without the library's header, or with the feature `ipsec-mb` off, there is no shim, and the crate says so.

use std::path::{Path, PathBuf};

/// Where Debian's libipsec-mb-dev has it. The library brings no file for pkg-config.
const HEADER: &str = "/usr/include/intel-ipsec-mb.h";

fn main() {
    println!("cargo::rustc-check-cfg=cfg(ipsec_mb)");
    println!("cargo::rerun-if-changed=shim");
    if std::env::var_os("CARGO_FEATURE_IPSEC_MB").is_none() {
        return absent("it was built without the feature `ipsec-mb`");
    }
    if !Path::new(HEADER).exists() {
        println!("cargo::rerun-if-changed=/usr/include");
        return absent("install libipsec-mb-dev and build again");
    }
    println!("cargo::rerun-if-changed={HEADER}");
    match compile() {
        Ok(object) => {
            println!("cargo::rustc-cfg=ipsec_mb");
            println!("cargo::rustc-env=IPSEC_MB_SHIM={}", object.display());
        }
        Err(why) => {
            println!("cargo::warning=no libipsec-mb in this build: {why}");
            absent("libipsec-mb-dev is installed, but the shim over it did not compile: see the build's warnings");
        }
    }
}

fn absent(why: &str) {
    println!("cargo::rustc-env=IPSEC_MB_ABSENT={why}");
}

fn compile() -> Result<PathBuf, String> {
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let object = out.join("libsplitplane_ipsec_mb.so");
    let mut build = cc::Build::new();
    build.opt_level(3).pic(true).flag("-Wall").flag("-Wextra");
    let mut command = build.try_get_compiler().map_err(|e| e.to_string())?.to_command();
    command.args(["-shared", "-o"]).arg(&object).args(["shim/ipsec_mb.c", "-Wl,-z,defs", "-lIPSec_MB"]);
    let output = command.output().map_err(|e| format!("cannot run the C compiler: {e}"))?;
    for line in String::from_utf8_lossy(&output.stderr).lines() {
        println!("cargo::warning={line}");
    }
    if output.status.success() { Ok(object) } else { Err("the C compiler failed".to_owned()) }
}
