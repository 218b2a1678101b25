/* How much has each PDR taken lately: bytes that halve with time, for who decides where sessions live.
 *
 * Each PDR that has forwarded a packet has a cell of its own, at the number that the control plane knows it by, so no
 * sketch is needed and nothing is compared here: the control plane reads all cells at once and makes rates of them. The
 * twin of this step, and the arithmetic, is crates/common/decay/src/session_rate.rs: a cell is an epoch of 2^18 us and the
 * bytes left of it. A packet that is a little late halves nothing.
 *
 * On targets with several workers a read and a write are not one step; a session's packets come by one worker, so they
 * need not be.
 */
#ifndef HEAVY_P4
#define HEAVY_P4

const bit<16> LATE_EPOCHS = 16;
const bit<64> MOST_RECENT = 0xffff_ffff_ffff;

control Heavy(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    /* Epoch 16, bytes 48. As many as there can be PDRs, which sessions have two of or more. */
    register<bit<64>>(SESSIONS * 8) recent;

    apply {
        if (meta.pdr != 0) {
            bit<64> cell;
            recent.read(cell, meta.pdr);
            bit<16> epoch = standard_metadata.ingress_global_timestamp[33:18];
            bit<16> passed = epoch - cell[63:48];
            bit<64> left = cell & MOST_RECENT;
            if (passed > 0xffff - LATE_EPOCHS) {
                epoch = cell[63:48];
            } else if (passed > 47) {
                left = 0;
            } else {
                left = left >> (bit<8>)passed;
            }
            left = left + (bit<64>)meta.pdu_length;
            if (left > MOST_RECENT) {
                left = MOST_RECENT;
            }
            recent.write(meta.pdr, epoch ++ left[47:0]);
        }
    }
}

#endif
