/* Heavy hitters by the gaps between packets, in the form that ran on a switch (Singh et al. §5.4 and its reference [38]).
 *
 * Its twin is crates/lab/detect/src/ipg_hardware.rs, which says what each step means. Registers are as the published
 * program's: one row of slots, five cells each. Differences: v1model's clock counts microseconds, where that program took
 * 1024 ns for one; a report punts the packet, where that program left what to do to its user.
 *
 * A switch reaches a cell once in a packet's pass, so a flow that takes another's slot does so in a second pass of the
 * same packet. With ONE_PASS it does so at once, which comes to the same: for targets that may reach a cell twice.
 */
#include <core.p4>
#include <v1model.p4>

#include "flow.p4"

#ifndef SLOTS
#define SLOTS 2048
#endif

/* For 5 Mbit/s and packets of 1000 bytes; the table of evidence is filled for the same (gap::Constants). */
#ifndef THRESHOLD_GAP
#define THRESHOLD_GAP 1600
#endif
const bit<16> FOREIGN_GAP = THRESHOLD_GAP / 80;
const bit<16> TAU_LIMIT   = 300;
const bit<16> CLOCK       = 0x0fff;    // 12 bits: 4.1 ms

const bit<32> RESUBMITTED = 6;         // instance_type of a second pass

control IpgIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<1>>(SLOTS)  used;
    register<bit<32>>(SLOTS) flow;
    register<bit<16>>(SLOTS) last;
    register<bit<16>>(SLOTS) gap;
    register<bit<16>>(SLOTS) tau;

    FlowNumber() number;
    FlowOut() out_port;

    bit<16> weighted = 0;
    bit<16> tau_step = 0;

    action set_tau_step(bit<16> step) {
        tau_step = step;
    }

    action no_tau_step() { }

    /* How much evidence a flow of that weighted gap has brought when its clock has come round. */
    table tau_steps {
        key = { weighted: exact @name("gap"); }
        actions = { set_tau_step; no_tau_step; }
        default_action = no_tau_step();
        size = 65536;
    }

    apply {
        if (meta.is_flow == 1) {
            number.apply(hdr, meta);
            bit<32> slot = meta.flow & (SLOTS - 1);
            bit<16> now = (bit<16>)standard_metadata.ingress_global_timestamp & CLOCK;

            bit<1> slot_used;
            bit<32> holder;
            bit<16> then;
            bit<16> evidence;
            used.read(slot_used, slot);
            flow.read(holder, slot);
            last.read(then, slot);
            gap.read(weighted, slot);
            tau.read(evidence, slot);

            bool takes = slot_used == 0 || standard_metadata.instance_type == RESUBMITTED;
            if (!takes && holder != meta.flow) {
                bool holder_is_light = weighted > THRESHOLD_GAP;
                weighted = weighted |+| FOREIGN_GAP;
                gap.write(slot, weighted);
                if (holder_is_light) {
#ifdef ONE_PASS
                    takes = true;
#else
                    resubmit_preserving_field_list(0);
#endif
                }
            } else if (!takes) {
                // The holder's own packet. Of several rounds of the clock it sees one.
                bit<16> packet_gap = (now - then) & CLOCK;
                if (then > now) {
                    tau_steps.apply();
                }
                if (weighted > packet_gap) {
                    weighted = weighted - (weighted >> 4);
                } else {
                    weighted = weighted |+| (packet_gap >> 4);
                }
                gap.write(slot, weighted);
                last.write(slot, now);
                if (evidence > TAU_LIMIT) {
                    tau.write(slot, 0);
                    meta.is_heavy = 1;
                } else {
                    tau.write(slot, evidence |+| tau_step);
                }
                meta.mark = (bit<32>)weighted;
            }
            if (takes) {
                used.write(slot, 1);
                flow.write(slot, meta.flow);
                last.write(slot, now);
                gap.write(slot, THRESHOLD_GAP);
                tau.write(slot, 0);
            }
        }
        out_port.apply(meta, standard_metadata);
    }
}

V1Switch(FlowParser(), FlowVerifyChecksum(), IpgIngress(), FlowEgress(), FlowComputeChecksum(), FlowDeparser()) main;
