/* Interface with the host. */
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INT64_TYPE__ int64_t;
typedef __SIZE_TYPE__ size_t;
typedef unsigned __int128 sp_u128;
/* As it lies in records and contexts. */
typedef unsigned __int128 sp_kept128 __attribute__((aligned(8)));

/* One packet: `length` bytes at `start` of `buffer`. */
struct sp_packet {
    uint8_t *buffer;
    uint32_t start;
    uint32_t length;
    uint32_t port;
    /* Where meters are waited for: bits 0 to 7, how many of its meters are behind it; then, of the last one that it executed, bits 8 to 15 which one it was, and
     * bits 16 to 31 what it asked for. */
    uint32_t metered;
};

/* kind: 0 forward, 1 buffer, 2 punt, 3 drop. */
struct sp_verdict {
    uint8_t kind;
    uint8_t reason;
    uint16_t port;
    uint32_t mark;
};

/* Looks up n keys, stride bytes apart; gives the hits as bits and their records in `out`. */
typedef uint64_t sp_lookup_fn(const void *table, const uint8_t *keys, size_t stride, size_t n, uint8_t **out);

/* An exact table: where its buckets and records are, and how a key is hashed. */
struct sp_exact {
    const uint8_t *buckets;
    const uint64_t *live;
    const uint64_t *moves;
    uint64_t start;
    uint64_t multiplier;
    uint64_t finish;
    uint8_t *records;
    uint64_t stride;
};

struct sp_table {
    const void *table;
    /* Null while the table is empty. */
    sp_lookup_fn *lookup;
    /* Null if it is another kind of table, or empty. */
    const struct sp_exact *exact;
    /* The record of the default action. */
    const void *miss;
    uint64_t hits;
    uint64_t misses;
    /* Whether it has few entries, so that a packet looks it up by itself. */
    uint64_t small;
};

struct sp_cell {
    uint64_t packets;
    uint64_t bytes;
};

struct sp_counter {
    struct sp_cell *cells;
    uint64_t size;
    /* Bytes from one cell to the next. */
    uint64_t stride;
};

struct sp_meter;
struct sp_profile;

struct sp_meters {
    struct sp_meter *cells;
    uint64_t size;
    /* Bytes from one cell to the next. */
    uint64_t stride;
    /* By number; the host changes one only while no cell has its number. */
    const struct sp_profile *profiles;
    /* Other lanes use the cells too. */
    uint64_t shared;
    /* A bit for each cell that packets of this lane wait for: it is red for all that come. NULL: what is red does not wait. Within a burst bits of
     * cells that were red are set here too. */
    uint64_t *waiting;
};

struct sp_register {
    uint64_t *cells;
    uint64_t size;
    /* Bytes from one cell to the next. */
    uint64_t stride;
};

/* Of a member of a value set, for each field: the value under the mask is not below the lowest nor above the highest. */
struct sp_range {
    sp_kept128 mask;
    sp_kept128 low;
    sp_kept128 high;
};

struct sp_set {
    const struct sp_range *members;
    uint64_t size;
};

/* Messages to the host: each is its number of values, then the receiver and the values, the low half of each first. */
struct sp_digests {
    uint64_t *words;
    /* A power of two; 0 if the program sends none. */
    uint64_t size;
    /* Words written so far, by generated code alone, and words that the host has read. */
    uint64_t head;
    uint64_t tail;
    /* Messages that found no room. */
    uint64_t lost;
};

struct sp_run;

/* A worker's view of the target. */
struct sp_lane {
    struct sp_table *tables;
    struct sp_counter *counters;
    struct sp_meters *meters;
    struct sp_register *registers;
    const struct sp_set *sets;
    struct sp_digests *digests;
    /* Room for `sp_run_size` bytes, aligned to 64. */
    struct sp_run *run;
    uint64_t random;
    /* Of a look-up that stands for the call of a service: the packets that wait for it, in the order of their keys, as bits and where the first bit's is; and by bit
     * how far behind the packet's first byte its payload starts. */
    uint64_t asked;
    struct sp_packet *asking;
    /* In which order the calls of its service come, wherever the program makes them: 0 any, 1 place by place in that of the packets, 2 in that of the packets. */
    uint64_t in_order;
    uint32_t payload[64];
};

/* Runs the program on up to 64 packets. */
void sp_process(struct sp_lane *lane, struct sp_packet *packets, struct sp_verdict *verdicts, uint32_t n, uint64_t now_ns);

/* Drop reasons of the engine. */
#define SP_NO_HEADROOM 129
#define SP_TARGET_FAILED 135
#define SP_RX_TOO_LONG 138

#define SP_MAX_PACKET 9216
#define SP_STEP_LIMIT 65536

/* Numbers and bits. */
#define SP_U128(high, low) ((sp_u128)(high) << 64 | (low))
#define SP_BIT(n) (1ull << (n))

static inline uint32_t sp_bit(uint64_t word, uint32_t n) { return word >> n & 1; }

static inline int64_t sp_signed(uint64_t v, uint32_t width) { return (int64_t)(v << (64 - width)) >> (64 - width); }

static inline __int128 sp_signed128(sp_u128 v, uint32_t width) { return (__int128)(v << (128 - width)) >> (128 - width); }

static inline uint64_t sp_index(sp_u128 v) { return v >> 64 ? ~0ull : (uint64_t)v; }

static inline sp_u128 sp_mask(uint32_t width) { return ~(sp_u128)0 >> (128 - width); }

static inline sp_u128 sp_add_sat(sp_u128 a, sp_u128 b, uint32_t width)
{
    sp_u128 sum = a + b;
    return sum < a || sum > sp_mask(width) ? sp_mask(width) : sum;
}

static inline sp_u128 sp_sub_sat(sp_u128 a, sp_u128 b, uint32_t width) { return a > b ? a - b : 0; }

static inline sp_u128 sp_clamp(__int128 v, int overflow, int negative, uint32_t width)
{
    const __int128 most = (__int128)(sp_mask(width) >> 1), least = -most - 1;
    if (overflow ? negative : v < least) v = least;
    else if (overflow || v > most) v = most;
    return (sp_u128)v & sp_mask(width);
}

static inline sp_u128 sp_add_sat_signed(sp_u128 a, sp_u128 b, uint32_t width)
{
    __int128 sum;
    int overflow = __builtin_add_overflow(sp_signed128(a, width), sp_signed128(b, width), &sum);
    return sp_clamp(sum, overflow, sp_signed128(a, width) < 0, width);
}

static inline sp_u128 sp_sub_sat_signed(sp_u128 a, sp_u128 b, uint32_t width)
{
    __int128 sum;
    int overflow = __builtin_sub_overflow(sp_signed128(a, width), sp_signed128(b, width), &sum);
    return sp_clamp(sum, overflow, sp_signed128(a, width) < 0, width);
}

/* Bytes in network order. */
static inline uint32_t sp_ld8(const uint8_t *p) { return *p; }

static inline uint32_t sp_ld16(const uint8_t *p)
{
    uint16_t v;
    __builtin_memcpy(&v, p, 2);
    return __builtin_bswap16(v);
}

static inline uint32_t sp_ld32(const uint8_t *p)
{
    uint32_t v;
    __builtin_memcpy(&v, p, 4);
    return __builtin_bswap32(v);
}

static inline uint64_t sp_ld64(const uint8_t *p)
{
    uint64_t v;
    __builtin_memcpy(&v, p, 8);
    return __builtin_bswap64(v);
}

static inline sp_u128 sp_ld128(const uint8_t *p) { return SP_U128(sp_ld64(p), sp_ld64(p + 8)); }

static inline void sp_st8(uint8_t *p, uint32_t v) { *p = v; }

static inline void sp_st16(uint8_t *p, uint32_t v)
{
    uint16_t b = __builtin_bswap16(v);
    __builtin_memcpy(p, &b, 2);
}

static inline void sp_st32(uint8_t *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    __builtin_memcpy(p, &v, 4);
}

static inline void sp_st64(uint8_t *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    __builtin_memcpy(p, &v, 8);
}

static inline void sp_st128(uint8_t *p, sp_u128 v)
{
    sp_st64(p, v >> 64);
    sp_st64(p + 8, v);
}

static inline void sp_st24(uint8_t *p, uint32_t v)
{
    sp_st16(p, v >> 8);
    sp_st8(p + 2, v);
}

static inline void sp_st40(uint8_t *p, uint64_t v)
{
    sp_st32(p, v >> 8);
    sp_st8(p + 4, v);
}

static inline void sp_st48(uint8_t *p, uint64_t v)
{
    sp_st32(p, v >> 16);
    sp_st16(p + 4, v);
}

static inline void sp_st56(uint8_t *p, uint64_t v)
{
    sp_st32(p, v >> 24);
    sp_st24(p + 4, v);
}

/* Any bits: `width` of them from bit `offset` on, the top bit of the first byte being bit 0. */
static inline sp_u128 sp_get_bits(const uint8_t *p, uint32_t offset, uint32_t width)
{
    sp_u128 v = 0;
    while (width > 0) {
        const uint32_t room = 8 - offset % 8, take = room < width ? room : width;
        v = v << take | (p[offset / 8] >> (room - take) & ((1u << take) - 1));
        offset += take;
        width -= take;
    }
    return v;
}

static inline void sp_set_bits(uint8_t *p, uint32_t offset, uint32_t width, sp_u128 v)
{
    while (width > 0) {
        const uint32_t room = 8 - offset % 8, take = room < width ? room : width, shift = room - take;
        const uint32_t mask = ((1u << take) - 1) << shift;
        width -= take;
        p[offset / 8] = (p[offset / 8] & ~mask) | ((uint32_t)(v >> width) << shift & mask);
        offset += take;
    }
}

static inline uint32_t sp_equal(const uint8_t *a, const uint8_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i]) return 0;
    return 1;
}

static inline void sp_zero(uint8_t *to, uint32_t n) { __builtin_memset(to, 0, n); }

static inline void sp_copy(uint8_t *to, const uint8_t *from, uint32_t n) { __builtin_memcpy(to, from, n); }

#define SP_TO_FRONT 1
#define SP_TO_BACK 2
static inline uint32_t sp_move(const uint8_t *from, const uint8_t *to)
{
    return (to < from ? SP_TO_FRONT : 0) | (to > from ? SP_TO_BACK : 0);
}

/* Blocks that a move loads before it stores any. */
typedef uint8_t sp_block1;
typedef uint16_t sp_block2;
typedef uint32_t sp_block4;
typedef uint64_t sp_block8;
typedef uint64_t sp_block16 __attribute__((vector_size(16)));
typedef uint64_t sp_block32 __attribute__((vector_size(32)));
typedef uint64_t sp_block64 __attribute__((vector_size(64)));

/* One's complement sum of 16-bit words (RFC 1071). `native` sums words as they lie in memory: the sum does not depend on the
 * order of bytes, once the result is swapped (RFC 1071 §2 B). `at` counts bits so far. */
struct sp_sum {
    uint64_t native;
    uint64_t sum;
    uint32_t at;
};

/* One's complement sum of the halves: a number added to itself, rotated by half its width, has it in the upper half, the end-around carry included. */
static inline uint32_t sp_fold(uint64_t sum)
{
    sum += sum >> 32 | sum << 32;
    uint32_t half = sum >> 32;
    half += half >> 16 | half << 16;
    return half >> 16;
}

static inline void sp_sum_zero(struct sp_sum *s, uint32_t width) { s->at += width; }

/* A value below 2^48: 16 more bits of shift fit. */
static inline void sp_sum_value(struct sp_sum *s, uint64_t v, uint32_t width)
{
    s->at += width;
    v <<= -s->at & 15;
    s->sum += (v & 0xffffffff) + (v >> 32);
}

static inline void sp_sum_value_wide(struct sp_sum *s, sp_u128 v, uint32_t width)
{
    while (width > 32) {
        width -= 32;
        sp_sum_value(s, (uint32_t)(v >> width), 32);
    }
    sp_sum_value(s, (uint32_t)(v & sp_mask(width)), width);
}

static inline void sp_sum_bytes(struct sp_sum *s, const uint8_t *p, uint32_t n)
{
    if (s->at % 16) {
        for (uint32_t i = 0; i < n; i++) sp_sum_value(s, p[i], 8);
        return;
    }
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint32_t v;
        __builtin_memcpy(&v, p + i, 4);
        s->native += v;
    }
    if (n & 2) {
        uint16_t v;
        __builtin_memcpy(&v, p + i, 2);
        s->native += v;
        i += 2;
    }
    if (n & 1) s->native += p[i];
    s->at += 8 * n;
}

static inline uint64_t sp_csum16(const struct sp_sum *s)
{
    const uint32_t native = __builtin_bswap16(sp_fold(s->native));
    return ~(s->sum ? sp_fold(s->sum + native) : native) & 0xffff;
}

/* Whether a header's checksum, at `at` in it, is that of the other bytes: the sum of all is a multiple of 2^16 - 1 then (RFC 1071). */
static inline __attribute__((always_inline)) uint32_t sp_sum_is_right(const uint8_t *p, uint32_t n, uint32_t at)
{
    uint64_t sum = 0;
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v;
        __builtin_memcpy(&v, p + i, 8);
        sum += v;
        sum += sum < v;
    }
    uint64_t rest = 0;
    __builtin_memcpy(&rest, p + i, n - i);
    sum += rest;
    sum += sum < rest;
    /* Of the two forms of zero only one is computed: 0 unless all other bytes are. */
    if (__builtin_expect(p[at] == 0xff && p[at + 1] == 0xff, 0)) {
        for (i = 0; i < n; i++)
            if (p[i] && i != at && i != at + 1) return 0;
        return 1;
    }
    return sum != 0 && sum % 65535 == 0;
}

/* Bits put one behind the other, for the other algorithms. */
struct sp_bits {
    uint8_t *bytes;
    uint32_t at;
};

static inline void sp_bits_zero(struct sp_bits *s, uint32_t width) { s->at += width; }

static inline void sp_bits_value_wide(struct sp_bits *s, sp_u128 v, uint32_t width)
{
    sp_set_bits(s->bytes, s->at, width, v);
    s->at += width;
}

static inline void sp_bits_value(struct sp_bits *s, uint64_t v, uint32_t width) { sp_bits_value_wide(s, v, width); }

static inline void sp_bits_bytes(struct sp_bits *s, const uint8_t *p, uint32_t n)
{
    if (s->at % 8 == 0) {
        __builtin_memcpy(s->bytes + s->at / 8, p, n);
        s->at += 8 * n;
        return;
    }
    for (uint32_t i = 0; i < n; i++) sp_bits_value(s, p[i], 8);
}

static inline uint64_t sp_xor16(const struct sp_bits *s)
{
    uint32_t n = (s->at + 7) / 8, sum = 0;
    for (uint32_t i = 0; i < n; i++) sum ^= (uint32_t)s->bytes[i] << (i % 2 ? 0 : 8);
    return sum;
}

/* CRC-16/ARC. */
static inline uint64_t sp_crc16(const struct sp_bits *s)
{
    uint32_t crc = 0;
    for (uint32_t i = 0; i < (s->at + 7) / 8; i++) {
        crc ^= s->bytes[i];
        for (uint32_t b = 0; b < 8; b++) crc = crc >> 1 ^ (crc & 1 ? 0xa001 : 0);
    }
    return crc;
}

/* CRC-32 of IEEE 802.3. */
static inline uint64_t sp_crc32(const struct sp_bits *s)
{
    uint32_t crc = ~0u;
    for (uint32_t i = 0; i < (s->at + 7) / 8; i++) {
        crc ^= s->bytes[i];
        for (uint32_t b = 0; b < 8; b++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return (uint32_t)~crc;
}

/* The first eight bytes as a number. */
static inline uint64_t sp_identity(const struct sp_bits *s)
{
    uint64_t v = 0;
    uint32_t n = (s->at + 7) / 8;
    for (uint32_t i = 0; i < n && i < 8; i++) v = v << 8 | s->bytes[i];
    return v;
}

