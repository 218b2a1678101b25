//! What do hostile bytes do to the code that reads them? One file a target; each has `run`, which panics if a promise is broken.
//!
//! Two callers: libFuzzer (`fuzz_targets/`, run by `scripts/fuzz`), which looks for new inputs, and the regression test, which
//! runs every file under `corpus/` and `regressions/` with each `cargo test`. `corpus/` holds inputs that show the way into the code;
//! `examples/seeds.rs` writes the binary ones. `regressions/` holds inputs that once broke something, named after what they broke.
#![forbid(unsafe_code)]

pub mod chip;
pub mod config;
pub mod control;
pub mod flow;
pub mod gnb_front;
pub mod gnb_p4;
pub mod gnodeb;
pub mod gtpu;
pub mod load;
pub mod lsp;
pub mod nru;
mod p4_meaning;
pub mod p4_source;
pub mod pcap;
pub mod pdcp;
pub mod pfcp;
pub mod rlc;
pub mod rlc_status;
pub mod rules;
pub mod sdap;
pub mod service_memory;
pub mod shaper;
pub mod stf;
pub mod store;
pub mod store_files;
pub mod trains;
pub mod upf;

/// A target's code: panics if a promise is broken.
pub type Run = fn(&[u8]);

/// Every target, by the name of its folders and of its binary.
pub const TARGETS: &[(&str, Run)] = &[
    ("chip", chip::run),
    ("config", config::run),
    ("control", control::run),
    ("flow", flow::run),
    ("gnb_front", gnb_front::run),
    ("gnb_p4", gnb_p4::run),
    ("gnodeb", gnodeb::run),
    ("gtpu", gtpu::run),
    ("load", load::run),
    ("lsp", lsp::run),
    ("nru", nru::run),
    ("p4_source", p4_source::run),
    ("pcap", pcap::run),
    ("pdcp", pdcp::run),
    ("pfcp", pfcp::run),
    ("rlc", rlc::run),
    ("rlc_status", rlc_status::run),
    ("rules", rules::run),
    ("sdap", sdap::run),
    ("service_memory", service_memory::run),
    ("shaper", shaper::run),
    ("stf", stf::run),
    ("store", store::run),
    ("store_files", store_files::run),
    ("trains", trains::run),
    ("upf", upf::run),
];
