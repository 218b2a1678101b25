//! An SWX pipeline as generated code: DPDK writes C for a specification, the system's compiler builds a library from it.
//!
//! The code includes `rte_swx_pipeline_internal.h`, which Debian's package lacks: get it with DPDK's sources
//! (`apt-get source dpdk`, folder `lib/pipeline`) and names the folder in the environment variable [`HEADERS`].

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Error, text};
use crate::shim::{self, Api};

/// Environment variable with the folder of `rte_swx_pipeline_internal.h`.
pub const HEADERS: &str = "SPLITPLANE_SWX_INCLUDE";

/// Puts ports in memory in the place of those that DPDK made: it has no name for ours in a pipeline that is loaded.
const TAKE_PORTS: &str = r"
void splitplane_take_ports(struct rte_swx_pipeline *pipeline, rte_swx_port_in_pkt_rx_t receive, rte_swx_port_out_pkt_tx_t transmit,
			   rte_swx_port_out_pkt_tx_t drop, rte_swx_port_out_flush_t flush, void *port)
{
	pipeline->in[0].pkt_rx = receive;
	pipeline->in[0].obj = port;
	pipeline->out[0].pkt_tx = transmit;
	pipeline->out[1].pkt_tx = drop;
	for (int i = 0; i < 2; i++) {
		pipeline->out[i].flush = flush;
		pipeline->out[i].obj = port;
	}
}
";

/// The folder with the header, if the user named one.
///
/// # Errors
/// [`Error::Config`] if it has no such header.
pub fn headers() -> Result<Option<PathBuf>, Error> {
    let Some(folder) = std::env::var_os(HEADERS).filter(|folder| !folder.is_empty()) else { return Ok(None) };
    let folder = PathBuf::from(folder);
    if folder.join("rte_swx_pipeline_internal.h").is_file() {
        return Ok(Some(folder));
    }
    Err(Error::Config(format!(
        "{HEADERS}: {} has no rte_swx_pipeline_internal.h: get it with `apt-get source dpdk`, in lib/pipeline",
        folder.display()
    )))
}

/// Makes a library for a specification in `work`, a folder that goes afterwards.
pub(super) fn library(api: &Api, spec: &str, headers: &Path, work: &Path) -> Result<PathBuf, Error> {
    let failed = |what: &str, why: &dyn std::fmt::Display| Error::Device(format!("SWX's code generation: {what}: {why}"));
    let (spec_file, code_file, object) = (work.join("pipeline.spec"), work.join("pipeline.c"), work.join("pipeline.so"));
    std::fs::write(&spec_file, spec).map_err(|e| failed("writing", &e))?;
    let path = |path: &Path| -> Result<CString, Error> { text(&path.display().to_string()) };
    let (from, to) = (path(&spec_file)?, path(&code_file)?);
    let mut why = [0u8; 256];
    // SAFETY: strings of C and room for one, which outlive the call.
    if unsafe { (api.swx_generate)(from.as_ptr(), to.as_ptr(), why.as_mut_ptr().cast(), why.len() as u32) } != 0 {
        let end = why.iter().position(|byte| *byte == 0).unwrap_or(why.len());
        return Err(failed("DPDK", &String::from_utf8_lossy(&why[..end])));
    }
    let mut code = std::fs::read_to_string(&code_file).map_err(|e| failed("reading", &e))?;
    code.push_str(TAKE_PORTS);
    std::fs::write(&code_file, code).map_err(|e| failed("writing", &e))?;
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let mut command = Command::new(&compiler);
    command.args(["-O3", "-march=native", "-fno-strict-aliasing", "-fPIC", "-shared", "-w", "-DALLOW_EXPERIMENTAL_API", "-I"]).arg(headers);
    for folder in shim::HEADERS.unwrap_or_default().split(':').filter(|folder| !folder.is_empty()) {
        command.arg("-I").arg(folder);
    }
    command.args(["-include", "rte_config.h", "-o"]).arg(&object).arg(&code_file);
    let output = command.output().map_err(|e| failed(&compiler.to_string_lossy(), &e))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed("the C compiler", &said.lines().find(|line| line.contains("error")).unwrap_or("failed")));
    }
    Ok(object)
}
