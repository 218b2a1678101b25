#include "../frame/head.p4"
#define OWN_TYPES
enum bit<8> reason_t { none = 0, bad = 200 }
struct headers_t { eth_t eth; }
struct meta_t { @drop_reason reason_t r; @mark bit<64> m; }
#include "../frame/tail.p4"
