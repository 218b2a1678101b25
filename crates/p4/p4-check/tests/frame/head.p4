// Types that the test programs share.
#include <core.p4>
#include <v1model.p4>

header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header ip_t { bit<8> tos; bit<8> ttl; bit<8> proto; bit<8> flags; bit<32> src; bit<32> dst; bit<16> sum; }
header opt_t { bit<8> len; varbit<320> data; }
header tag_t { bit<3> pri; bit<1> dei; bit<12> id; bit<16> type; }
header_union l4_t { tag_t tag; opt_t opt; }
