// PSA's externs: what each gives is left in the packet.
#include "common.p4"

header numbers_t {
    bit<8>  what;
    bit<8>  colour;      // of the meter, and of the entry's
    bit<16> sum;
    bit<32> crc;
    bit<16> index;       // hash within 100 to 109
    bit<16> low;         // random, 5 to 9
    bit<32> cell;        // the register's, counted up from its initial value
    bit<8>  ways;        // bits of psa_normal and its like
    bit<8>  kind;
    bit<32> extra;
}
struct numbers_headers_t { numbers_t n; }
struct pair_t { bit<8> kind; bit<32> extra; }
struct cell_t { bit<8> high; bit<24> low; }

parser IngressParse(packet_in p, out numbers_headers_t h, inout none_t m, in psa_ingress_parser_input_metadata_t istd,
                    in none_t resubmit_meta, in none_t recirculate_meta) {
    InternetChecksum() sum;
    state start {
        p.extract(h.n);
        // Over what is not taken out again.
        sum.clear();
        sum.add({ h.n.what, h.n.kind, h.n.extra });
        sum.add({ h.n.index, h.n.crc });
        sum.subtract({ h.n.crc, h.n.index });
        h.n.sum = sum.get();
        transition accept;
    }
}

control Use(inout numbers_headers_t h, inout none_t m, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
    Hash<bit<32>>(PSA_HashAlgorithm_t.CRC32) crc;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) index;
    Random<bit<16>>(5, 9) random;
    Meter<bit<8>>(4, PSA_MeterType_t.PACKETS) meter;
    DirectMeter(PSA_MeterType_t.PACKETS) of_entry;
    DirectCounter<bit<32>>(PSA_CounterType_t.PACKETS) counted;
    Register<bit<32>, bit<8>>(4, 0x1000) cells;
    Register<cell_t, bit<8>>(2, { 0x12, 0x345678 }) pairs;
    ActionProfile(8) profile;

    action coloured(bit<8> colour) { h.n.colour = colour; }
    action metered() {
        counted.count();
        PSA_MeterColor_t c = of_entry.execute();
        h.n.colour = h.n.colour | ((bit<8>) (bit<2>) (c == PSA_MeterColor_t.RED ? 3w2 : c == PSA_MeterColor_t.YELLOW ? 3w1 : 3w0)) << 4;
    }
    table entries {
        key = { h.n.kind : exact; }
        actions = { metered; NoAction; }
        default_action = NoAction();
        psa_direct_counter = counted;
        psa_direct_meter = of_entry;
    }
    table also_profiled {
        key = { h.n.kind : exact; }
        actions = { coloured; NoAction; }
        default_action = NoAction();
        psa_implementation = profile;
    }
    action marked(bit<8> with) { h.n.ways = h.n.ways | with; }
    table profiled {
        key = { h.n.what : exact; }
        actions = { marked; NoAction; }
        default_action = NoAction();
        psa_implementation = profile;
    }

    apply {
        h.n.crc = crc.get_hash((pair_t) { kind = h.n.kind, extra = h.n.extra });
        h.n.index = index.get_hash(16w100, { h.n.kind, h.n.extra }, 16w10);
        h.n.low = random.read();
        PSA_MeterColor_t c = meter.execute(h.n.what, PSA_MeterColor_t.GREEN);
        if (c == PSA_MeterColor_t.RED) { h.n.colour = 2; }
        else if (c == PSA_MeterColor_t.YELLOW) { h.n.colour = 1; }
        else if (c == PSA_MeterColor_t.GREEN) { h.n.colour = 0; }
        else { h.n.colour = 0xee; }
        entries.apply();
        bit<32> before = cells.read(h.n.what);
        cells.write(h.n.what, before + 1);
        cell_t pair = pairs.read(0);
        h.n.cell = before + (bit<32>) pair.high;
        send_to_port(ostd, (PortId_t) 3);
        if (h.n.what == 4) { ingress_drop(ostd); }
        profiled.apply();
        also_profiled.apply();
        // 12 bits are hashed with zeros before them.
        if (h.n.what == 3) { h.n.crc = 16w0 ++ index.get_hash(12w0x456); }
    }
}

control IngressDeparse(packet_out p, out none_t clone_i2e_meta, out none_t resubmit_meta, out none_t normal_meta, inout numbers_headers_t h,
                       in none_t m, in psa_ingress_output_metadata_t istd) {
    Digest<pair_t>() seen;
    apply {
        if (psa_normal(istd)) { h.n.ways = h.n.ways | 1; }
        if (psa_resubmit(istd)) { h.n.ways = h.n.ways | 2; }
        if (psa_clone_i2e(istd)) { h.n.ways = h.n.ways | 4; }
        if (h.n.what == 1) { seen.pack({ h.n.kind, h.n.extra }); }
        p.emit(h.n);
    }
}

parser EgressParse(packet_in p, out numbers_headers_t h, inout none_t m, in psa_egress_parser_input_metadata_t istd, in none_t normal_meta,
                   in none_t clone_i2e_meta, in none_t clone_e2e_meta) {
    state start {
        p.extract(h.n);
        transition accept;
    }
}

control Leave(inout numbers_headers_t h, inout none_t m, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
    apply { }
}

control EgressDeparse(packet_out p, out none_t clone_e2e_meta, out none_t recirculate_meta, inout numbers_headers_t h, in none_t m,
                      in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    Checksum<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) sum;
    apply {
        if (psa_recirculate(istd, edstd)) { h.n.ways = h.n.ways | 8; }
        if (psa_clone_e2e(istd)) { h.n.ways = h.n.ways | 16; }
        // The sum of the sum's complement and all else is 0.
        if (h.n.what == 2) {
            sum.clear();
            sum.update({ h.n.what, h.n.kind, h.n.extra, h.n.sum });
            h.n.extra = 16w0xabcd ++ sum.get();
        }
        p.emit(h.n);
    }
}

IngressPipeline(IngressParse(), Use(), IngressDeparse()) ingress;
EgressPipeline(EgressParse(), Leave(), EgressDeparse()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
