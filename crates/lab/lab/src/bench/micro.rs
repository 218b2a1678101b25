//! Programs that only look up: the cost of a table per packet, and what changes cost readers.

use super::contestant::load_x86;
use cli::failure::Failure;
use p4_ir::Ir;
use std::sync::Arc;
use target_asic::Asic;
use target_x86::X86;

/// Frame: a key of eight bytes. Table `t` sends it to the port that its entry says.
pub(super) fn exact(size: u64) -> Result<Arc<Ir>, Failure> {
    let action = "action act(bit<9> port) { sm.egress_spec = port; }";
    program("exact.p4", "bit<64> key;", action, &format!("key = {{ hdr.k.key: exact; }} size = {size};"))
}

/// Frame: the key fields of the UPF's table `sdf_ipv4`, and a byte that gets the class.
pub(super) fn sdf(size: u64) -> Result<Arc<Ir>, Failure> {
    let fields = "bit<16> filter_set; bit<32> remote; bit<32> local; bit<8> protocol; bit<16> remote_port; bit<16> local_port; \
                  bit<8> tos; bit<2> spare; bit<6> qfi; bit<8> class;";
    let action = "action act(bit<8> class) { hdr.k.class = class; sm.egress_spec = 1; }";
    let key = "hdr.k.filter_set: exact; hdr.k.remote: ternary; hdr.k.local: ternary; hdr.k.protocol: ternary; \
               hdr.k.remote_port: range; hdr.k.local_port: range; hdr.k.tos: ternary; hdr.k.qfi: ternary;";
    program("sdf.p4", fields, action, &format!("key = {{ {key} }} size = {size};"))
}

fn program(name: &str, fields: &str, action: &str, table: &str) -> Result<Arc<Ir>, Failure> {
    let arguments = "inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm";
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header key_h {{ {fields} }}
struct headers_t {{ key_h k; }}
struct meta_t {{ }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.k); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I({arguments}) {{
    {action}
    action miss() {{ mark_to_drop(sm); }}
    table t {{ actions = {{ act; miss; }} default_action = miss(); {table} }}
    apply {{ t.apply(); }}
}}
control E({arguments}) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.k); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    );
    Ok(p4_driver::Program::compile_text(name, &text, &[])?.ir)
}

/// The program as native code and as judge.
pub(super) fn load(ir: &Arc<Ir>) -> Result<(X86, Asic), Failure> {
    Ok((load_x86(ir)?, Asic::oracle(ir.clone()).map_err(|e| Failure::Failed(e.to_string()))?))
}
