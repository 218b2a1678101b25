// PNA's externs: what each gives is left in the packet.
#include <core.p4>
#include <pna.p4>

header numbers_t {
    bit<8>  what;
    bit<8>  colour;      // of the meter, and of the entry's
    bit<16> sum;
    bit<32> crc;
    bit<16> low;         // random, 5 to 9
    bit<32> cell;        // the register's, counted up from its initial value
    bit<8>  kind;
    bit<32> extra;
    bit<16> check;       // ones' complement sum over the header, made by the deparser
}
struct headers_t { numbers_t n; }
struct meta_t { bit<16> length; }
struct none_t {}
struct pair_t { bit<8> kind; bit<32> extra; }

parser Parse(packet_in p, out headers_t h, inout meta_t m, in pna_main_parser_input_metadata_t istd) {
    InternetChecksum() sum;
    state start {
        p.extract(h.n);
        sum.clear();
        sum.add({ h.n.what, h.n.kind, h.n.extra });
        h.n.sum = sum.get();
        transition accept;
    }
}

control Pre(in none_t hdr, inout none_t m, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply { }
}

control Use(inout headers_t h, inout meta_t m, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    Hash<bit<32>>(PNA_HashAlgorithm_t.TARGET_DEFAULT) crc;
    Random<bit<16>>(5, 9) random;
    Meter<bit<8>>(4, PNA_MeterType_t.PACKETS) meter;
    DirectMeter(PNA_MeterType_t.PACKETS) of_entry;
    DirectCounter<bit<32>>(PNA_CounterType_t.PACKETS) counted;
    Counter<bit<32>, bit<8>>(16, PNA_CounterType_t.PACKETS_AND_BYTES) kinds;
    Register<bit<32>, bit<8>>(4, 0x1000) cells;
    ActionProfile(8) profile;
    ActionSelector(PNA_HashAlgorithm_t.TARGET_DEFAULT, 16, 8) selector;
    Digest<pair_t>() seen;

    action metered() {
        counted.count();
        PNA_MeterColor_t c = of_entry.execute();
        h.n.colour = h.n.colour | (c == PNA_MeterColor_t.RED ? 8w2 : c == PNA_MeterColor_t.YELLOW ? 8w1 : 8w0) << 4;
    }
    table entries {
        key = { h.n.kind : exact; }
        actions = { metered; NoAction; }
        default_action = NoAction();
        pna_direct_counter = counted;
        pna_direct_meter = of_entry;
        pna_idle_timeout = PNA_IdleTimeout_t.NO_TIMEOUT;
        add_on_miss = false;
    }
    action marked(bit<8> with) { h.n.kind = with; }
    table profiled {
        key = { h.n.what : exact; }
        actions = { marked; NoAction; }
        default_action = NoAction();
        pna_implementation = profile;
    }
    action leave(PortId_t port) { send_to_port(port); }
    table first {
        key = { h.n.what : exact; h.n.extra : selector; }
        actions = { leave; NoAction; }
        default_action = NoAction();
        pna_implementation = selector;
    }
    // Shares it, and so the members.
    table second {
        key = { h.n.kind : exact; h.n.extra : selector; }
        actions = { leave; NoAction; }
        default_action = NoAction();
        pna_implementation = selector;
    }

    apply {
        h.n.crc = crc.get_hash({ h.n.kind, h.n.extra });
        h.n.low = random.read();
        PNA_MeterColor_t c = meter.execute(h.n.what, PNA_MeterColor_t.GREEN);
        h.n.colour = c == PNA_MeterColor_t.RED ? 8w2 : c == PNA_MeterColor_t.YELLOW ? 8w1 : 8w0;
        entries.apply();
        kinds.count(h.n.kind);
        bit<32> before = cells.read(h.n.what);
        cells.write(h.n.what, before + 1);
        h.n.cell = before;
        if (h.n.what == 1) { seen.pack({ h.n.kind, h.n.extra }); }
        send_to_port((PortId_t) 3);
        first.apply();
        second.apply();
        profiled.apply();
    }
}

control Deparse(packet_out p, in headers_t h, in meta_t m, in pna_main_output_metadata_t ostd) {
    InternetChecksum() sum;
    headers_t left;
    apply {
        left = h;
        sum.clear();
        sum.add({ h.n.what, h.n.colour, h.n.sum, h.n.crc });
        sum.subtract({ h.n.crc });
        left.n.check = sum.get();
        p.emit(left.n);
    }
}

PNA_NIC(Parse(), Pre(), Use(), Deparse()) main;
