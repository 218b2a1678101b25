/* Programs that find the session of an uplink packet in one of the kernel's maps, and do nothing else. Keys and values are as long as
 * those of upf.p4's table pdr_by_teid: tunnel endpoint and TEID; the arguments of its action, of which the first is added up, so
 * that the value is really read. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
#define SEC(name) __attribute__((section(name), used))
#define be32(x) __builtin_bswap32(x)
struct xdp_md { u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; };
struct bpf_map_def { u32 type, key_size, value_size, max_entries, map_flags; };
static void *(*lookup)(void *, const void *) = (void *)1;
enum { HASH = 1, ARRAY = 2, NO_PREALLOC = 1, MMAPABLE = 1 << 10 };

struct key { u32 endpoint, teid; };
struct value { u32 pdr, others[13]; };
struct bpf_map_def SEC("maps") ahead = {HASH, sizeof(struct key), sizeof(struct value), 1, 0};
struct bpf_map_def SEC("maps") lazy = {HASH, sizeof(struct key), sizeof(struct value), 1, NO_PREALLOC};
struct bpf_map_def SEC("maps") array = {ARRAY, 4, sizeof(struct value), 1, MMAPABLE};
/* As many bytes as upf.p4's table takes: whole cache lines for each entry, and half of them free. */
struct wide { u32 pdr, others[31]; };
struct bpf_map_def SEC("maps") spread = {ARRAY, 4, sizeof(struct wide), 1, MMAPABLE};
struct found { u64 times, sum; };
struct bpf_map_def SEC("maps") found = {ARRAY, 4, sizeof(struct found), 1, MMAPABLE};

#define PROGRAM(name, find)                                                                                                        \
    SEC("xdp") int name(struct xdp_md *ctx)                                                                                        \
    {                                                                                                                              \
        u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;                                                           \
        u32 zero = 0;                                                                                                              \
        struct found *f = lookup(&found, &zero);                                                                                   \
        if (!f || p + 104 > end) return 0;                                                                                         \
        struct key key = {*(u32 *)(p + 30), *(u32 *)(p + 46)};                                                                     \
        find;                                                                                                                      \
        f->times++;                                                                                                                \
        return 4;                                                                                                                  \
    }
#define IN(map, key)                                                                                                               \
    u32 *v = lookup(&map, &(key));                                                                                        \
    if (!v) return 0;                                                                                                              \
    f->sum += *v

PROGRAM(no_table, f->sum += 2 * be32(key.teid) - 1)
PROGRAM(in_ahead, IN(ahead, key))
PROGRAM(in_lazy, IN(lazy, key))
/* Where TEIDs are given out as indices. The index hangs on both fields, as hashes do: from the TEID alone, a word that the driver has just
 * stored, the core would know it before its stores have left, and misses of several packets would overlap for this map only. */
#define INDEX (be32(key.endpoint) - 0x0a030001 + be32(key.teid) - 1)
PROGRAM(in_array, u32 index = INDEX; IN(array, index))
PROGRAM(in_spread, u32 index = 2 * INDEX; IN(spread, index))

char sp_license[] SEC("license") = "Apache-2.0";
