// Key kinds, sizes, entries with priorities, direct counters and meters, names.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.bytes) hits;
    direct_counter(CounterType.packets) said;
    direct_meter<bit<2>>(MeterType.bytes) rate;
    bit<2> color = 0;
    action set(bit<8> v, bool ok) { meta.y = v; meta.ok = ok; }
    action count(bit<8> v) { said.count(); meta.y = v; }
    action color_it() { rate.read(color); }
    @name("renamed") action other(@name("value") bit<8> v) { meta.y = v; }
    table exact_one { key = { hdr.ip.dst: exact; hdr.ip.isValid(): exact @name("ip_valid"); } actions = { set; NoAction; } size = 64; }
    table prefix {
        key = { hdr.ip.dst: lpm; }
        actions = { set; @tableonly other; @defaultonly NoAction; }
        const default_action = NoAction();
        const entries = {
            0x0a000000 &&& 0xff000000: set(1, true);
            0x0a010000 &&& 0xffff0000: set(ok = false, v = 2);
            _: other(3);
        }
    }
    table ranked {
        key = { hdr.ip.src: ternary; hdr.ip.proto: range; hdr.ip.tos: optional; }
        actions = { set; NoAction; }
        entries = {
            priority = 50: (1, 2, 3): set(1, true);
            (1 &&& 0xf, 2..9, _): set(2, true);
            const priority = 10: (_, _, _): NoAction();
        }
    }
    table counted { key = { hdr.ip.ttl: exact; } actions = { set; NoAction; } counters = hits; }
    table told { key = { hdr.ip.ttl: exact; } actions = { count; } default_action = count(0); counters = said; }
    table metered { key = { hdr.ip.ttl: exact; } actions = { color_it; } meters = rate; default_action = color_it(); }
    table no_key { actions = { set; } default_action = set(1, true); }
    @name(".top") table named { key = { meta.x: exact; } actions = { other; } default_action = other(0); }
    table annotated {
        key = { hdr.ip.src: ternary; }
        actions = { set; NoAction; }
        const entries = { 1 &&& 1: NoAction() @priority(20); 3: NoAction() @priority(4); _: NoAction(); }
    }
    table smallest {
        key = { hdr.ip.src: ternary; }
        actions = { NoAction; }
        largest_priority_wins = false;
        priority_delta = 10;
        entries = { priority = 20: 1 &&& 1: NoAction(); 3: NoAction(); priority = 15: _: NoAction(); }
    }
    action_profile(32) profile;
    table shared { key = { meta.x: exact; } actions = { NoAction; } implementation = profile; }
    apply {
        exact_one.apply(); prefix.apply(); ranked.apply(); counted.apply(); told.apply(); metered.apply();
        no_key.apply(); annotated.apply(); smallest.apply(); named.apply(); shared.apply();
        if (color == 2) { mark_to_drop(std); }
    }
}
#include "../frame/tail.p4"
