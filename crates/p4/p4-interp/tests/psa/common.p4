// What the test programs for PSA share: one header, and its parsers.
#include <core.p4>
#include <psa.p4>

header tag_t {
    bit<8> what;    // what is to be done with the packet
    bit<8> port;
    bit<8> trace;   // what has been done: a bit for each place
    bit<8> note;    // what came along as metadata
}

struct headers_t { tag_t tag; }
struct none_t {}
struct note_t { bit<8> note; }
