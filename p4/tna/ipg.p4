/* Heavy hitters by the gap between their packets (Singh et al., "Revisiting heavy-hitters: don't count packets, compute flow
 * inter-packet metrics in the data plane", as released for this architecture). One row of slots, each with a flow:
 *
 *   free         the flow takes the slot: weighted gap INIT, score 0
 *   its own      gap since its last packet: the weighted gap follows it by sixteenths; when the clock has gone round, the score
 *                grows by a table of the weighted gap; beyond TAU it is reported and begins again
 *   another's    the weighted gap grows by CONST; once it was above INIT, the packet is sent round to take the slot
 *
 * Registers are read, worked on and written in one go, so each step is a register of its own, a stage behind the one whose result
 * it needs. Their ALUs do not shift: a sixteenth of the gap comes with the packet, a sixteenth of the weighted gap from the ALU's
 * math unit, which goes by the first four bits of a number, so that it is up to an eighth too small. Whether another's gap is above
 * INIT the ALU says itself: a gateway has room for twelve bits that are compared for more or less.
 *
 * What is done with a report is the digest's reader's business. Times are ticks of 1.024 us that go round after 4.19 ms: a longer
 * pause cannot be told from a short one, which is the published algorithm's own limit.
 */
#ifndef IPG_P4
#define IPG_P4

const bit<32> SLOTS = 2048;
const bit<16> INIT  = 1600;   // gap of 1000-byte packets at 5 Mbit/s, in ticks
const bit<16> CONST = 20;
const bit<16> TAU   = 300;
const bit<16> CLOCK = 0x0FFF;

const bit<3> RESUBMIT_TAKE = 1;
const bit<3> DIGEST_HEAVY  = 1;

struct heavy_metadata_t {
    bit<1>  counts;          // TCP or UDP over IPv4
    bit<1>  again;           // the packet has been sent round to take the slot
    bit<11> slot;
    bit<32> flow;
    bit<16> now;
    bit<1>  used;
    bit<1>  own;
    bit<16> last;
    bit<16> passed;          // now - last: negative if the clock has gone round
    bit<16> gap;
    bit<16> gap_sixteenth;
    bit<1>  wrapped;
    bit<16> weighted;        // of the slot, as it was
    bit<1>  light;           // its gap was above INIT
    bit<16> increment;
    bit<1>  heavy;
}

control Heavy(in ipv4_h ipv4, in ports_h ports, inout heavy_metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
              inout ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) flow_hash;
    Hash<bit<11>>(HashAlgorithm_t.CRC32) slot_hash;

    Register<bit<8>, bit<11>>(SLOTS) used;
    RegisterAction<bit<8>, bit<11>, bit<1>>(used) take_if_free = {
        void apply(inout bit<8> value, out bit<1> was) {
            was = value[0:0];
            value = 1;
        }
    };

    Register<bit<32>, bit<11>>(SLOTS) flow;
    RegisterAction<bit<32>, bit<11>, bit<1>>(flow) take_flow = {
        void apply(inout bit<32> value, out bit<1> own) {
            value = meta.flow;
            own = 1;
        }
    };
    RegisterAction<bit<32>, bit<11>, bit<1>>(flow) is_own = {
        void apply(inout bit<32> value, out bit<1> own) {
            own = 0;
            if (value == meta.flow) {
                own = 1;
            }
        }
    };

    Register<bit<16>, bit<11>>(SLOTS) last;
    RegisterAction<bit<16>, bit<11>, bit<16>>(last) exchange_time = {
        void apply(inout bit<16> value, out bit<16> before) {
            before = value;
            value = meta.now;
        }
    };

    Register<bit<16>, bit<11>>(SLOTS) weighted;
    RegisterAction<bit<16>, bit<11>, bit<16>>(weighted) begin_weighted = {
        void apply(inout bit<16> value, out bit<16> before) {
            before = value;
            value = INIT;
        }
    };
    MathUnit<bit<16>>(MathOp_t.MUL, 1, 16) sixteenth;
    RegisterAction<bit<16>, bit<11>, bit<16>>(weighted) follow_gap = {
        void apply(inout bit<16> value, out bit<16> before) {
            before = value;
            if (value > meta.gap) {
                value = value - sixteenth.execute(value);
            } else {
                value = value + meta.gap_sixteenth;
            }
        }
    };
    RegisterAction<bit<16>, bit<11>, bit<1>>(weighted) wear = {
        void apply(inout bit<16> value, out bit<1> light) {
            light = 0;
            if (value > INIT) {
                light = 1;
            }
            value = value + CONST;
        }
    };

    Register<bit<16>, bit<11>>(SLOTS) score;
    RegisterAction<bit<16>, bit<11>, bit<1>>(score) begin_score = {
        void apply(inout bit<16> value, out bit<1> heavy) {
            heavy = 0;
            value = 0;
        }
    };
    RegisterAction<bit<16>, bit<11>, bit<1>>(score) add_score = {
        void apply(inout bit<16> value, out bit<1> heavy) {
            heavy = 0;
            if (value > TAU) {
                heavy = 1;
                value = 0;
            } else {
                value = value + meta.increment;
            }
        }
    };

    action identify() {
        meta.flow = flow_hash.get({ ipv4.src, ipv4.dst, ipv4.protocol, ports.src, ports.dst });
    }

    /* An action has 32 bits of hashes at most. */
    action locate() {
        meta.slot = slot_hash.get({ ipv4.src, ipv4.dst, ipv4.protocol, ports.src, ports.dst });
        meta.now = (bit<16>)intrinsic.ingress_mac_tstamp[21:10];
    }

    /* The clock has 12 bits. */
    action measure() {
        meta.gap = meta.passed & CLOCK;
        meta.gap_sixteenth = (bit<16>)meta.passed[11:4];
        meta.wrapped = meta.passed[15:15];
    }

    action set_increment(bit<16> increment) {
        meta.increment = increment;
    }

    action no_increment() {
        meta.increment = 0;
    }

    /* increment = max(1, TAU / packets that a flow of that gap sends in a round of the clock), filled by the control plane. */
    table increments {
        key = { meta.weighted: range; }
        actions = { set_increment; no_increment; }
        default_action = no_increment();
        size = 512;
    }

    apply {
        if (meta.counts == 1) {
            identify();
            locate();
            meta.used = take_if_free.execute(meta.slot);
            if (meta.used == 0 || meta.again == 1) {
                meta.own = take_flow.execute(meta.slot);
                meta.last = exchange_time.execute(meta.slot);
                meta.weighted = begin_weighted.execute(meta.slot);
                meta.heavy = begin_score.execute(meta.slot);
            } else {
                meta.own = is_own.execute(meta.slot);
                if (meta.own == 1) {
                    meta.last = exchange_time.execute(meta.slot);
                    meta.passed = meta.now - meta.last;
                    measure();
                    meta.weighted = follow_gap.execute(meta.slot);
                    if (meta.wrapped == 1) {
                        increments.apply();
                        meta.heavy = add_score.execute(meta.slot);
                        if (meta.heavy == 1) {
                            for_deparser.digest_type = DIGEST_HEAVY;
                        }
                    }
                } else {
                    meta.light = wear.execute(meta.slot);
                    if (meta.light == 1) {
                        for_deparser.resubmit_type = RESUBMIT_TAKE;
                    }
                }
            }
        }
    }
}

#endif
