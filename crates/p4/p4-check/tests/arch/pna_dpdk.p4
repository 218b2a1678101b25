// PNA as DPDK has it: hash algorithms and the IPsec engine.
#include <core.p4>
#include <dpdk/pna.p4>

control C(in bit<32> len, inout bit<16> out_hash) {
    ipsec_accelerator() ipsec;
    Hash<bit<16>>(PNA_HashAlgorithm_t.TOEPLITZ) h;
    DirectCounter<bit<64>>(PNA_CounterType_t.PACKETS) hits;
    action a() { hits.count(len); }
    table t { key = { len: exact; } actions = { a; } default_action = a(); pna_direct_counter = hits; }
    apply {
        ipsec_status status;
        if (ipsec.from_ipsec(status) && status == ipsec_status.IPSEC_SUCCESS) {
            ipsec.set_sa_index<bit<32>>(len);
            ipsec.enable();
        }
        out_hash = h.get_hash({ len, out_hash });
        t.apply();
    }
}
