/* What every program begins with: types, the kernel's helpers by number, maps. No other header file is needed. */
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef unsigned __int128 sp_u128;

#define SEC(name) __attribute__((section(name), used))
#define SP_INLINE static inline __attribute__((always_inline))
#define SP_CALL static __attribute__((noinline))
/* The verifier walks through a global function once, not for each call: it takes memory that may be null, and gives a number. */
#define SP_GLOBAL __attribute__((noinline))

/* The kernel's view of a packet: <linux/bpf.h>, struct xdp_md. */
struct xdp_md {
    uint32_t data;
    uint32_t data_end;
    uint32_t data_meta;
    uint32_t ingress_ifindex;
    uint32_t rx_queue_index;
    uint32_t egress_ifindex;
};
enum { XDP_ABORTED, XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT };

/* Helpers, by their numbers in <linux/bpf.h>. */
/* Pure: arrays stay where they are, so what is known of the context stays known. */
static void *(*bpf_map_lookup_elem)(void *map, const void *key) __attribute__((pure)) = (void *)1;
static uint64_t (*bpf_ktime_get_ns)(void) = (void *)5;
static uint32_t (*bpf_get_prandom_u32)(void) = (void *)7;
static uint32_t (*bpf_get_smp_processor_id)(void) = (void *)8;
static int64_t (*bpf_tail_call)(struct xdp_md *ctx, void *programs, uint32_t index) = (void *)12;
static int64_t (*bpf_xdp_adjust_head)(struct xdp_md *ctx, int32_t delta) = (void *)44;
static int64_t (*bpf_xdp_adjust_tail)(struct xdp_md *ctx, int32_t delta) = (void *)65;
static int64_t (*bpf_xdp_adjust_meta)(struct xdp_md *ctx, int32_t delta) = (void *)54;
static int64_t (*bpf_redirect_map)(void *map, uint64_t key, uint64_t flags) = (void *)51;
static int64_t (*bpf_loop)(uint32_t rounds, void *step, void *arg, uint64_t flags) = (void *)181;
static int64_t (*bpf_xdp_load_bytes)(struct xdp_md *ctx, uint32_t offset, void *to, uint32_t len) = (void *)189;
static int64_t (*bpf_xdp_store_bytes)(struct xdp_md *ctx, uint32_t offset, void *from, uint32_t len) = (void *)190;

/* Maps. */
struct bpf_map_def {
    uint32_t type;
    uint32_t key_size;
    uint32_t value_size;
    uint32_t max_entries;
    uint32_t map_flags;
};
enum { ARRAY = 2, PROG_ARRAY = 3, DEVMAP = 14, XSKMAP = 17, MMAPABLE = 1 << 10 };

/* Numbers and bits. */
#define SP_U128(high, low) ((sp_u128)(high) << 64 | (low))
#define SP_BIT(n) (1ull << (n))
/* The compiler must not know how a pointer came about, or it takes another way to it, which the verifier has not checked. */
#define SP_OPAQUE(p) __asm__("" : "+r"(p))
#define SP_BARRIER() __asm__ volatile("" ::: "memory")

/* Arrays that user space maps into its memory; `name_at` gives an entry's address, 0 beyond the end. */
/* All entries as one value of a map, whose address is in the text: the loader puts it where the number is. So no look-up is between, and where an
   entry lies depends on its index only. How many entries it has (SP_SIZED), how many home cells a table and how many cells a core's row of a counter
   is the loader's to say, too: one object fits all machines and sizes. */
struct sp_memory {
    uint32_t number;
    uint32_t len;
    /* 0: the loader says. */
    uint32_t entries;
    uint32_t segmented;
};
#define SP_MEMORY_NUMBER 0x53706c6974700000ll
#define SP_ENTRIES_NUMBER 0x53706c6974710000ll
#define SP_HOMES_NUMBER 0x53706c6974720000ll
#define SP_CELLS_NUMBER 0x53706c6974730000ll
#define SP_BASE_NUMBER 0x53706c6974740000ll
#define SP_SEGMENTS_NUMBER 0x53706c6974750000ll
/* What the loader puts in the place of a number. */
#define SP_LOADED(n)                                                                                                                  \
    ({                                                                                                                                \
        uint64_t loaded;                                                                                                              \
        __asm__("%0 = %1 ll" : "=r"(loaded) : "i"(n));                                                                                \
        loaded;                                                                                                                       \
    })
/* Home cells of a table less one; cells of a counter. */
#define SP_HOMES(table) ((uint32_t)SP_LOADED(SP_HOMES_NUMBER | (table)))
#define SP_CELLS(counter) ((uint32_t)SP_LOADED(SP_CELLS_NUMBER | (counter)))
#define SP_ENTRIES(name) ((uint32_t)SP_LOADED(SP_ENTRIES_NUMBER | name##_number))
#define SP_MEMORY(name, type, entries)                                                                                                \
    enum { name##_number = __COUNTER__ };                                                                                             \
    struct sp_memory SEC("memory") name = {name##_number, sizeof(type), entries, 0};                                                  \
    SP_AT(name, type, entries)
#define SP_SIZED(name, type)                                                                                                          \
    enum { name##_number = __COUNTER__ };                                                                                             \
    struct sp_memory SEC("memory") name = {name##_number, sizeof(type), 0, 0};                                                        \
    SP_AT(name, type, SP_LOADED(SP_ENTRIES_NUMBER | name##_number))
/* An array whose memory comes as it is used, in segments of equal size that never move. The first one is there from the start, and found as other arrays are: few
   sessions pay nothing. The others are in a map of maps, those of one array one behind the other: to find one takes some nanoseconds, in a function of its
   own, as the kernel puts a dozen instructions in the place of each look-up, and jumps over all of them would be too far. `name_at` gives 0 for an entry that
   has no memory, too. */
#define SP_SEGMENT_LEN (1u << 18)
#define SP_SEGMENT_SHIFT(type) (31 - __builtin_clz(SP_SEGMENT_LEN / (uint32_t)sizeof(type)))
#define SP_SEGMENTED(name, type)                                                                                                      \
    enum { name##_number = __COUNTER__ };                                                                                             \
    struct sp_memory SEC("memory") name = {name##_number, sizeof(type), 0, 1};                                                        \
    SP_CALL type *name##_far(uint32_t at)                                                                                             \
    {                                                                                                                                 \
        uint32_t first = 0, segment = (uint32_t)SP_LOADED(SP_BASE_NUMBER | name##_number) + (at >> SP_SEGMENT_SHIFT(type));           \
        if (at >= SP_ENTRIES(name)) return 0;                                                                                         \
        void *cells = bpf_map_lookup_elem((void *)SP_LOADED(SP_SEGMENTS_NUMBER), &segment);                                           \
        if (!cells) return 0;                                                                                                         \
        type *all = bpf_map_lookup_elem(cells, &first);                                                                               \
        if (!all) return 0;                                                                                                           \
        uint64_t index = at;                                                                                                          \
        /* The verifier has to see that it is cut. */                                                                                 \
        SP_OPAQUE(index);                                                                                                             \
        return &all[index & ((1u << SP_SEGMENT_SHIFT(type)) - 1)];                                                                    \
    }                                                                                                                                 \
    SP_INLINE type *name##_at(uint32_t at)                                                                                            \
    {                                                                                                                                 \
        if (at >> SP_SEGMENT_SHIFT(type)) return name##_far(at);                                                                      \
        type *all;                                                                                                                    \
        __asm__("%0 = %1 ll" : "=r"(all) : "i"(SP_MEMORY_NUMBER | name##_number));                                                    \
        uint64_t index = at;                                                                                                          \
        SP_OPAQUE(index);                                                                                                             \
        type *entry = &all[index & ((1u << SP_SEGMENT_SHIFT(type)) - 1)];                                                             \
        /* Or the address is made again for each field. */                                                                            \
        SP_OPAQUE(entry);                                                                                                             \
        if (!entry) __builtin_unreachable();                                                                                          \
        return entry;                                                                                                                 \
    }
#define SP_AT(name, type, entries)                                                                                                    \
    SP_INLINE type *name##_at(uint32_t at)                                                                                            \
    {                                                                                                                                 \
        type *all;                                                                                                                    \
        __asm__("%0 = %1 ll" : "=r"(all) : "i"(SP_MEMORY_NUMBER | name##_number));                                                    \
        uint64_t index = at;                                                                                                          \
        /* What the compiler knows of it the verifier may not: all of them compare. */                                                \
        if (!__builtin_constant_p(at)) SP_OPAQUE(index);                                                                              \
        if (index >= (entries)) return 0;                                                                                             \
        /* Or the address is made before it is compared. */                                                                           \
        if (!__builtin_constant_p(at)) __asm__ volatile("" : "+r"(index));                                                            \
        type *entry = &all[index];                                                                                                    \
        /* Or it is made again for each field. */                                                                                     \
        if (!__builtin_constant_p(at)) SP_OPAQUE(entry);                                                                              \
        if (!entry) __builtin_unreachable();                                                                                          \
        return entry;                                                                                                                 \
    }
/* Values of their own, where they are more bytes than the verifier lets a pointer be moved by. */
#define SP_ARRAY(name, type, entries)                                                                                                 \
    struct bpf_map_def SEC("maps") name = {ARRAY, 4, sizeof(type), entries, MMAPABLE};                                                \
    SP_INLINE type *name##_at(uint32_t at) { return bpf_map_lookup_elem(&name, &at); }
/* The loader sets SP_SIMPLE for a program that is too large for the verifier otherwise: without text of their own for likely
 * packets, and with variables that are always read from memory, where the verifier knows nothing of them, so that ways that differ
 * only in their values are one way to it. */
#ifdef SP_SIMPLE
#define SP_FORGOTTEN volatile
#define SP_VALID c->valid
#else
#define SP_FORGOTTEN
#define SP_VALID valid
#endif

SP_INLINE int64_t sp_signed(uint64_t v, uint32_t width) { return (int64_t)(v << (64 - width)) >> (64 - width); }
SP_INLINE __int128 sp_signed128(sp_u128 v, uint32_t width) { return (__int128)(v << (128 - width)) >> (128 - width); }
SP_INLINE sp_u128 sp_mask(uint32_t width) { return ~(sp_u128)0 >> (128 - width); }

/* Shifts by less than 128: clang would call a library. */
SP_INLINE sp_u128 sp_shl128(sp_u128 v, uint32_t by)
{
    uint64_t low = (uint64_t)v, high = (uint64_t)(v >> 64);
    if (by >= 64) return SP_U128(low << (by & 63), 0);
    if (by == 0) return v;
    return SP_U128(high << by | low >> (64 - by), low << by);
}

SP_INLINE sp_u128 sp_shr128(sp_u128 v, uint32_t by)
{
    uint64_t low = (uint64_t)v, high = (uint64_t)(v >> 64);
    if (by >= 64) return (sp_u128)(high >> (by & 63));
    if (by == 0) return v;
    return SP_U128(high >> by, low >> by | high << (64 - by));
}

SP_INLINE sp_u128 sp_add_sat(sp_u128 a, sp_u128 b, uint32_t width)
{
    sp_u128 sum = a + b;
    return sum < a || sum > sp_mask(width) ? sp_mask(width) : sum;
}

/* `v` in the bounds of a number of `width` bits with sign, up to 64; its bits above are zero. */
SP_INLINE uint64_t sp_saturate(__int128 v, uint32_t width)
{
    const __int128 most = ((__int128)1 << (width - 1)) - 1;
    if (v > most) v = most;
    if (v < -most - 1) v = -most - 1;
    return (uint64_t)v & (uint64_t)sp_mask(width);
}

SP_INLINE sp_u128 sp_sub_sat(sp_u128 a, sp_u128 b, uint32_t width) { return a > b ? a - b : 0; }

/* Bytes in network order. x86 and arm64 load words from any address. */
#define sp_ld8(p) ((uint32_t)*(const uint8_t *)(p))
#define sp_ld16(p) ((uint32_t)__builtin_bswap16(*(const uint16_t *)(p)))
#define sp_ld32(p) __builtin_bswap32(*(const uint32_t *)(p))
#define sp_ld64(p) __builtin_bswap64(*(const uint64_t *)(p))
#define sp_ld128(p) SP_U128(sp_ld64(p), sp_ld64((p) + 8))
#define sp_st8(p, v) (*(uint8_t *)(p) = (uint8_t)(v))
#define sp_st16(p, v) (*(uint16_t *)(p) = __builtin_bswap16((uint16_t)(v)))
#define sp_st32(p, v) (*(uint32_t *)(p) = __builtin_bswap32((uint32_t)(v)))
#define sp_st64(p, v) (*(uint64_t *)(p) = __builtin_bswap64(v))

SP_INLINE void sp_st24(uint8_t *p, uint32_t v)
{
    sp_st16(p, v >> 8);
    sp_st8(p + 2, v);
}

SP_INLINE void sp_st40(uint8_t *p, uint64_t v)
{
    sp_st32(p, v >> 8);
    sp_st8(p + 4, v);
}

SP_INLINE void sp_st48(uint8_t *p, uint64_t v)
{
    sp_st32(p, v >> 16);
    sp_st16(p + 4, v);
}

SP_INLINE void sp_st56(uint8_t *p, uint64_t v)
{
    sp_st48(p, v >> 8);
    sp_st8(p + 6, v);
}

SP_INLINE void sp_st128(uint8_t *p, sp_u128 v)
{
    sp_st64(p, (uint64_t)(v >> 64));
    sp_st64(p + 8, (uint64_t)v);
}

/* Bits at any place; `offset` and `width` are constants. */
SP_INLINE sp_u128 sp_get_bits(const uint8_t *p, uint32_t offset, uint32_t width)
{
    sp_u128 v = 0;
    uint32_t last = (offset + width - 1) / 8;
#pragma unroll
    for (uint32_t i = offset / 8; i <= last; i++) {
        uint32_t b = p[i];
        if (i == offset / 8) b &= 0xffu >> offset % 8;
        if (i == last) v = v << ((offset + width - 1) % 8 + 1) | b >> (7 - (offset + width - 1) % 8);
        else v = v << 8 | b;
    }
    return v;
}

SP_INLINE void sp_set_bits(uint8_t *p, uint32_t offset, uint32_t width, sp_u128 v)
{
    uint32_t left = width, at = offset;
#pragma unroll
    for (uint32_t i = 0; i < 17; i++) {
        if (left == 0) continue;
        uint32_t room = 8 - at % 8, take = left < room ? left : room, shift = room - take;
        uint8_t mask = (uint8_t)(((1u << take) - 1) << shift);
        p[at / 8] = (uint8_t)((p[at / 8] & ~mask) | (((uint8_t)sp_shr128(v, left - take) << shift) & mask));
        left -= take;
        at += take;
    }
}

/* Copies `len` bytes, a constant. */
SP_INLINE void sp_copy(uint8_t *to, const uint8_t *from, uint32_t len)
{
    uint32_t i = 0;
#pragma unroll
    for (; i + 8 <= len; i += 8) *(uint64_t *)(to + i) = *(const uint64_t *)(from + i);
    if (i + 4 <= len) *(uint32_t *)(to + i) = *(const uint32_t *)(from + i), i += 4;
    if (i + 2 <= len) *(uint16_t *)(to + i) = *(const uint16_t *)(from + i), i += 2;
    if (i < len) to[i] = from[i];
}

/* Whether `len` bytes, a constant, are equal. */
SP_INLINE uint32_t sp_same(const uint8_t *a, const uint8_t *b, uint32_t len)
{
    uint64_t differ = 0;
    uint32_t i = 0;
#pragma unroll
    for (; i + 8 <= len; i += 8) differ |= *(const uint64_t *)(a + i) ^ *(const uint64_t *)(b + i);
#pragma unroll
    for (; i < len; i++) differ |= a[i] ^ b[i];
    return !differ;
}

SP_INLINE void sp_zero(uint8_t *to, uint32_t len)
{
    uint32_t i = 0;
#pragma unroll
    for (; i + 8 <= len; i += 8) *(uint64_t *)(to + i) = 0;
#pragma unroll
    for (; i < len; i++) to[i] = 0;
}

/* RFC 1071. The sum holds fewer than 2^16 words of 48 bits. */
SP_INLINE uint32_t sp_fold(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)(~sum & 0xffff);
}

/* The same of fewer than 2^8 words of 32 bits: after each step it is less than 2^25, 2^17 and 2^16. */
SP_INLINE uint32_t sp_fold_words(uint64_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)sum ^ 0xffff;
}

/* Hash of a key: multiplication spreads each word upwards, the shift brings it down again. */
#define SP_HASH(h, word) ((((h) ^ (word)) * 0x9e3779b97f4a7c15ull) ^ ((((h) ^ (word)) * 0x9e3779b97f4a7c15ull) >> 32))

/* Whether a cell, which `from` and `to` head, is there for a generation. Both are one word, as they are written: of a cell that is used again
   meanwhile nobody takes the one from before and the other from after. */
SP_INLINE int sp_live(const uint32_t *from, uint32_t generation)
{
    const uint64_t span = *(const volatile uint64_t *)from;
    return generation >= (uint32_t)span && generation < (uint32_t)(span >> 32);
}
#define SP_LIVE(cell, generation) sp_live(&(cell)->from, generation)

/* Verdicts, what a test run is counted as, and the engine's drop reasons. */
enum { SP_FORWARD, SP_BUFFER, SP_PUNT, SP_DROP, SP_NEXT, SP_TESTED };
enum { SP_NO_HEADROOM = 129, SP_NO_PORT = 130, SP_TARGET_FAILED = 135 };
enum { SP_HEADROOM = 192, SP_MAX_PACKET = 9216, SP_ETHERNET = 14 };
/* Rounds of the parser's loops and of others, of which one that looks tables up is as many as it is longer for the verifier; a packet that
 * needs more is handed on. */
enum { SP_ROUNDS = 32, SP_TURNS = 1024, SP_TURNS_OF_A_TABLE = 32 };
/* Bytes behind a packet that are none of it. The kernel makes no test run with fewer than 14 bytes: a program that is only
 * tested has this many there, so that packets may be shorter. */
#ifndef SP_BEHIND
#define SP_BEHIND 0
#endif
#define SP_LENGTH ((uint64_t)(end - data) - SP_BEHIND)
/* Farther into a packet no header begins. */
enum { SP_FARTHEST = 2048 };

/* Set by user space. */
struct sp_control {
    /* A packet sees the entries of one generation. Of that: a bit for each of the first 32 tables that has no entries and the
       default action that the program gives it. Read as one word. */
    uint32_t generation;
    uint32_t empty;
    /* Whether others hold what is not here: a miss in a split table is handed on. */
    uint32_t subset;
    /* A bit for each table that lacks entries here, for want of room: who would look it up is handed on; the last bit is for the 32nd and all that
       follow it. Bits are set before the generation that misses something, and read after it; none goes while packets run. */
    uint32_t slow_path;
    /* All that was handed on before the first time has left, or is lost; nothing has been handed on since the second, which is ahead. */
    uint64_t out_ns;
    uint64_t until_ns;
    /* For which of two turns packets that are handed on are counted. */
    uint64_t turn;
};
SP_MEMORY(sp_control, struct sp_control, 1)

/* Interfaces, by the kernel's number. Low 16 bits: 0 for none of ours, else the port plus one; bit 16: all its packets are
   handed on and none is run; high 32 bits: the slot, which numbers our interfaces from 0. */
SP_MEMORY(sp_ports, uint64_t, 1024)
enum { SP_CLOSED = 1 << 16 };
/* Ways out by port, and which ports have one: packets to others are handed on. */
struct bpf_map_def SEC("maps") sp_out = {DEVMAP, 4, 4, 512, 0};
SP_MEMORY(sp_ways, uint64_t, 512)
/* Sockets of the next target, at slot * SP_QUEUES + queue: `target_xdp::socket_key`; and behind all of them those for what is urgent. */
enum { SP_SLOTS = 64, SP_QUEUES = 16, SP_RESERVE = SP_SLOTS * SP_QUEUES };
struct bpf_map_def SEC("maps") sp_sockets = {XSKMAP, 4, 4, 2 * SP_RESERVE, 0};
/* Programs by slot that give a packet to one of several sockets of its queue; where one is, sp_sockets is not looked at. */
struct bpf_map_def SEC("maps") sp_steerers = {PROG_ARRAY, 4, 4, SP_SLOTS, 0};

/* How many packets of these flows have been handed on (high half) and have left (low half), in two turns; a flow's row is made of its key in the
   first split table. While such packets are on their way, later ones follow them: they must not overtake (`target::InFlight`). */
enum { SP_FLOWS = 65536, SP_SLACK_NS = 1000000 };
struct sp_flow {
    uint64_t counts[2];
};
SP_MEMORY(sp_flows, struct sp_flow, SP_FLOWS)
/* In front of a packet that is handed on, with twice the row plus one, and the turn, in the low half: who has it counts it as left. */
#define SP_FLOW_MARK (0x5350464cull << 32)

/* What attached interfaces carried, for each core. What is handed on is in none of the rows. */
struct sp_row {
    uint64_t packets;
    uint64_t bytes;
};
struct sp_ledger {
    /* By port that packets came in by and by port that they left by; drops by reason. Bytes in and dropped: as received. */
    struct sp_row received[512];
    struct sp_row sent[512];
    struct sp_row dropped[256];
};
SP_SIZED(sp_ledgers, struct sp_ledger)

/* In front of a packet that is run as a test: what it comes with, and what became of it. */
struct sp_test {
    uint64_t now_ns;
    uint32_t port;
    uint8_t kind;
    uint8_t reason;
    uint16_t out_port;
    uint32_t mark;
    uint32_t spare;
};

/* Meters (RFC 2698, colour-blind): buckets hold units times 10^9. Cells and profiles lie as the x86 target's do, which may execute the
   same ones (target::SharedMeter); so every use is under the cell's lock, however few cores there are. */
struct sp_meter {
    uint64_t committed;
    uint64_t peak;
    /* Latest time seen. */
    uint64_t last_ns;
    /* Number of its profile, SP_ONE_RATE and SP_WAITING. 0: not configured, always green. */
    uint32_t profile;
    uint32_t lock;
} __attribute__((aligned(32)));
/* Both buckets are alike, so always equally full: only the peak bucket is kept. */
#define SP_ONE_RATE 0x80000000u
/* In how many of the engine's workers packets wait for the cell: it is red for all that come, which follow those there. */
#define SP_WAITING 0x7f000000u
#define SP_PROFILE 0x00ffffffu
/* What cells of equal configuration share: units a second, 10^-9 units. */
struct sp_profile {
    uint64_t cir;
    uint64_t cbs;
    uint64_t pir;
    uint64_t pbs;
};
/* What a packet took out of a cell's buckets; the cell's number plus one. */
struct sp_meter_undo {
    uint64_t at;
    uint64_t committed;
    uint64_t peak;
};
/* Busy: somebody has been stopped while holding the cell, or only the next target knows its rate. */
enum { SP_GREEN, SP_YELLOW, SP_RED, SP_BUSY };
struct sp_register_undo {
    uint64_t at;
    uint64_t value;
};
struct sp_pending {
    uint32_t at;
    uint32_t packets;
    uint64_t bytes;
};

/* The loader sets it; the verifier folds it. */
const volatile uint64_t sp_seed = 0;
