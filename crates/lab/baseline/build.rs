//! Compiles `limit.c`, `gnb.c` and `whole.c` into the crate, and `limit.c`, where DPDK is installed, once more as a shared object on DPDK's `rte_hash`.
//!
//! The object is loaded when it is asked for, so that a build with DPDK runs on a machine without.

use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = "src/limit.c";
const GNB: &str = "src/gnb.c";
const WHOLE: &str = "src/whole.c";
const HEADER: &str = "src/hand.h";

fn main() {
    [SOURCE, GNB, WHOLE, HEADER].iter().for_each(|file| println!("cargo:rerun-if-changed={file}"));
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rustc-check-cfg=cfg(limit)");
    let path = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("limit_rte_hash.so");
    if object(&path).is_none() {
        std::fs::write(&path, "").expect("cargo's folder can be written");
    }
    println!("cargo:rustc-env=BASELINE_RTE_HASH={}", path.display());
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        return;
    }
    println!("cargo:rustc-cfg=limit");
    let mut build = cc::Build::new();
    flags(&mut build);
    build.file(SOURCE).file(GNB).file(WHOLE).compile("limit");
}

/// What a hand-written data plane is compiled with, whatever the profile of the Rust around it.
fn flags(build: &mut cc::Build) {
    build.opt_level(3).debug(false).warnings(true).extra_warnings(true);
    for flag in ["-std=gnu11", "-march=native", "-fno-strict-aliasing", "-fno-stack-protector", "-fomit-frame-pointer"] {
        build.flag(flag);
    }
}

/// The object on `rte_hash`, or `None`, with a line that says why, where it cannot be made.
fn object(path: &Path) -> Option<()> {
    let include = pkg_config("--cflags")?;
    let libraries = pkg_config("--libs-only-L")?;
    let mut build = cc::Build::new();
    flags(&mut build);
    // DPDK asks for -march=corei7, which would undo -march=native.
    build.flag("-DLIMIT_RTE_HASH").flag("-w");
    for flag in include.iter().filter(|flag| !flag.starts_with("-march")) {
        build.flag(flag);
    }
    let compiler = build.try_get_compiler().ok()?;
    let mut command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-Wl,-Bsymbolic", SOURCE, "-o"]).arg(path).args(libraries);
    let output = command.args(["-lrte_hash", "-lrte_eal", "-lrte_ring", "-lrte_rcu"]).output().ok()?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let first = errors.lines().find(|line| line.contains("error")).unwrap_or("unknown error");
        println!("cargo:warning=the baseline on rte_hash is left out, as it does not compile: {first}");
        return None;
    }
    Some(())
}

/// What pkg-config says of DPDK; `None` where there is none.
fn pkg_config(what: &str) -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args([what, "libdpdk"]).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
}
