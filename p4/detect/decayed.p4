/* Heavy hitters by decayed bytes, in two ways, with admission by chance: for a place that knows nothing of sessions.
 *
 * Its twin is crates/lab/detect/src/decayed_two_way.rs, which says what each step means. Shifts, additions, comparisons and a
 * table of sixteen entries are all that it needs; a chip without shifts by a variable has a table of 31 of them. Cells
 * are read and written in one pass here: a chip that reaches each cell once makes the change of a cell's owner in a
 * second pass, which few packets need, as in ipg.p4.
 */
#include <core.p4>
#include <v1model.p4>

#include "flow.p4"

/* Cells of a way, a power of two up to 2^16. 1024 are 20 KiB. */
#ifndef CELLS
#define CELLS 1024
#endif

const bit<32> MOST_BYTES  = 0x7fff_ffff;
const bit<16> LATE_EPOCHS = 16;

/* What decays: a cell of a register, taken apart. */
struct cell_t {
    bit<32> flow;
    bit<16> epoch;
    bit<1>  reported;
    bit<32> bytes;           // 31 bits
}

/* A cell as it is in that epoch. A packet that is a little late halves nothing and leaves the epoch. */
control Decay(inout cell_t cell, in bit<48> state, in bit<16> epoch) {
    apply {
        cell.epoch = state[47:32];
        cell.reported = state[31:31];
        cell.bytes = (bit<32>)state[30:0];
        bit<16> passed = epoch - cell.epoch;
        if (passed <= 0xffff - LATE_EPOCHS) {
            cell.epoch = epoch;
            cell.bytes = passed > 31 ? 0 : cell.bytes >> (bit<8>)passed;
        }
    }
}

control DecayedIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<32>>(CELLS) flow_0;
    register<bit<48>>(CELLS) state_0;    // epoch 16, reported 1, bytes 31
    register<bit<32>>(CELLS) flow_1;
    register<bit<48>>(CELLS) state_1;

    FlowNumber() number;
    Decay() decay_0;
    Decay() decay_1;
    FlowOut() out_port;

    bit<32> threshold_bytes = MOST_BYTES;
    bit<1>  detects = 0;

    action set_threshold(bit<32> bytes) {
        threshold_bytes = bytes;
        detects = 1;
    }

    action no_threshold() { }

    /* Bytes from which on a flow is heavy, by sixteenths of an epoch: cells fill up through it and are halved at its end. */
    table thresholds {
        key = { standard_metadata.ingress_global_timestamp[17:14]: exact @name("step"); }
        actions = { set_threshold; no_threshold; }
        default_action = no_threshold();
        size = 16;
    }

    apply {
        if (meta.is_flow == 1) {
            number.apply(hdr, meta);
            bit<32> place_1;
            hash(place_1, HashAlgorithm.crc16, 32w0,
                 { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, meta.src_port, meta.dst_port }, 32w0x1_0000);
            bit<32> place_0 = meta.flow & (CELLS - 1);
            place_1 = place_1 & (CELLS - 1);
            bit<16> epoch = standard_metadata.ingress_global_timestamp[33:18];
            thresholds.apply();

            cell_t cell_0;
            cell_t cell_1;
            bit<48> state;
            flow_0.read(cell_0.flow, place_0);
            state_0.read(state, place_0);
            decay_0.apply(cell_0, state, epoch);
            flow_1.read(cell_1.flow, place_1);
            state_1.read(state, place_1);
            decay_1.apply(cell_1, state, epoch);

            bit<1> way;
            bool changes = true;
            cell_t cell;
            if (cell_0.flow == meta.flow) {
                way = 0;
                cell = cell_0;
            } else if (cell_1.flow == meta.flow) {
                way = 1;
                cell = cell_1;
            } else {
                if (cell_1.bytes < cell_0.bytes) {
                    way = 1;
                    cell = cell_1;
                } else {
                    way = 0;
                    cell = cell_0;
                }
                // Ones in all bits up to the highest of the bytes left: the chance is the packet's length by one more.
                bit<32> below = cell.bytes;
                below = below | below >> 1;
                below = below | below >> 2;
                below = below | below >> 4;
                below = below | below >> 8;
                below = below | below >> 16;
                bit<32> number_drawn;
                random(number_drawn, 32w0, 32w0xffff_ffff);
                changes = (number_drawn & below) < standard_metadata.packet_length;
                cell.flow = meta.flow;
                cell.reported = 0;
                cell.bytes = 0;
            }

            if (changes) {
                // Fits: 31 bits and a packet's length.
                cell.bytes = cell.bytes + standard_metadata.packet_length;
                if (cell.bytes > MOST_BYTES) {
                    cell.bytes = MOST_BYTES;
                }
                if (detects == 1 && cell.reported == 0 && cell.bytes >= threshold_bytes) {
                    cell.reported = 1;
                    meta.is_heavy = 1;
                    meta.mark = cell.bytes;
                } else if (cell.bytes < threshold_bytes >> 1) {
                    cell.reported = 0;
                }
                state = cell.epoch ++ cell.reported ++ cell.bytes[30:0];
                if (way == 0) {
                    flow_0.write(place_0, cell.flow);
                    state_0.write(place_0, state);
                } else {
                    flow_1.write(place_1, cell.flow);
                    state_1.write(place_1, state);
                }
            }
        }
        out_port.apply(meta, standard_metadata);
    }
}

V1Switch(FlowParser(), FlowVerifyChecksum(), DecayedIngress(), FlowEgress(), FlowComputeChecksum(), FlowDeparser()) main;
