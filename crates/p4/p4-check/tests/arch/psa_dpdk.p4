// PSA as DPDK has it: packet lengths that the program gives.
#include <dpdk/psa.p4>

control C(in bit<32> len, in bit<8> at) {
    Counter<bit<64>, bit<8>>(256, PSA_CounterType_t.BYTES) bytes;
    Meter<bit<8>>(256, PSA_MeterType_t.BYTES) police;
    apply {
        bytes.count(at, len);
        if (police.dpdk_execute(at, PSA_MeterColor_t.GREEN, len) == PSA_MeterColor_t.RED) { bytes.count(at); }
    }
}
