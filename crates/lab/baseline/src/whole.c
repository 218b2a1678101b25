/* How fast can the whole downlink of the gNodeB be, if somebody writes it by hand for this machine?
 *
 * The function of p4/gnb.p4, on the same packets in the same buffers with the same verdicts, for RLC AM (12 or 18 bits) without ciphering:
 *
 *   Downlink  Ethernet, IPv4 with its checksum, UDP and GTP-U with at most one PDU session container, bearer by TEID and QFI or the TEID's default, the UPF's
 *             address, a place in the bearer's window, COUNT, SDAP and PDCP, a copy that is kept until the UE acknowledges it, RLC, the radio's framing, the
 *             peer's addresses, counters.
 *   Uplink    STATUS PDUs: framing, bearer by UE and DRB, the radio unit's address; what they acknowledge is kept no longer.
 *
 * Left out: ciphers, RLC UM and TM, segments (a packet longer than a grant is dropped as malformed, and so is an uplink data PDU), the radio's rate,
 * limits of bytes, t-PollRetransmit and what it or a NACK would send again, change and removal of bearers, and a second lane. A STATUS with NACKs frees
 * what it acknowledges; what it names stays.
 *
 * A burst goes through in four loops, so that memory latency of up to 64 packets overlaps:
 *   parse     checks the packet by a comparison of its first 64 bytes with the port's pattern, makes the key, prefetches the bucket
 *   probe     compares eight keys at once, prefetches the bearer's two lines
 *   reserve   prefetches the place in the bearer's window, takes a block for the copy
 *   finish    in the order of the burst: a packet is copied and gets its headers, a STATUS frees blocks
 */
#include "hand.h"

/* p4/gnb/metadata.p4, and base::DropReason. */
enum {
    ARP = 1, HOST = 3, GTPU_SIGNALLING = 4, UNKNOWN_TEID = 5,
    MALFORMED = 16, IPV4_CHECKSUM, LENGTH_MISMATCH, NOT_OUR_MAC, UNSUPPORTED_PROTOCOL, HEADER_CHAIN, GTPU_VERSION, GTPU_EXTENSION, TOO_BIG,
    RADIO_FRAMING, NO_BEARER, COUNT_EXHAUSTED, WRONG_SOURCE = 31, STATUS_PROCESSED = 48,
    NO_HEADROOM = 129, SERVICE_REFUSED = 146
};
enum { RLC_LONG = 1, PDCP_LONG = 2, SDAP_HEADER = 4, REFLECTIVE = 8 };
/* In the place of a QFI: the bearer of flows that no rule maps. */
#define DEFAULT_FLOW 0x40
/* Longest SDU, and p4/gnb/bearer.p4's COUNT from which on packets are counted. */
#define MAX_SDU 9000
#define COUNT_NOTIFY 0xc0000000u
/* Ethernet, IPv4, UDP, and the radio's framing. */
#define FRONT 60
#define PORTS 512
#define RADIO_PORT 0x80
#define SERVICE_PORT 509

/* ---- What is there. ---- */

/* What a frame of a port begins with if there is nothing special about it, where `care` has bits. */
struct station {
    uint8_t want[64], care[64];
} __attribute__((aligned(64)));

/* Eight flows in a line. A word is key and bearer; 0 is free. */
struct bucket_of_flows {
    uint64_t word[8];
} __attribute__((aligned(64)));

/* A bearer: what packets and STATUS PDUs change or read is in the first line, the headers of what is sent in the second. */
struct bearer {
    uint32_t next, ack;        /* TX_Next and TX_Next_Ack, not cut to their length; `next` also counts packets */
    uint32_t exhausted;        /* places that were given beyond the last COUNT */
    uint32_t count_base;
    uint32_t upf, unit;
    uint16_t unit_port;        /* 0: any */
    uint16_t longest;          /* user's packet that fits a PDU */
    uint8_t formats;
    uint8_t prefix_bytes;      /* PDCP and SDAP */
    uint8_t header_bytes;      /* and RLC */
    uint8_t up;                /* it has an entry by UE */
    uint64_t bytes;            /* of users' packets */
    uint64_t received, received_bytes;
    uint64_t unused;
    uint8_t front[FRONT];      /* the sum of IPv4's constant fields in place of the checksum */
    uint16_t port, peer;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct bearer) == 128 && __builtin_offsetof(struct bearer, front) == 64, "a bearer has two lines");

/* A kept SDU as PDCP has made it: the last `bytes` of what its block has up to byte 4 and the user's packet. */
struct slot {
    uint32_t block;
    uint16_t bytes;
    uint8_t size, is_missing; /* is_missing: while a STATUS is processed */
};

/* Blocks of one size. Numbers of blocks count lines of 64 bytes from the arena's begin. */
struct blocks {
    uint32_t *free;
    uint32_t free_count;
    uint32_t next, end; /* of the slab that blocks were never taken from */
};

#define SIZES 4
#define SLAB (2u << 20)
static const uint32_t block_bytes[SIZES] = { 128, 512, 2048, 9216 };

struct peer {
    uint16_t number, port;
    uint8_t front[42];
};

struct whole {
    struct station *stations;
    struct bucket_of_flows *buckets;
    struct bearer *bearers; /* from 1 on */
    struct slot *slots;     /* `places` of each bearer */
    uint32_t *by_ue;        /* by DRB and UE */
    uint8_t *arena;
    uint64_t arena_bytes, arena_used;
    struct blocks blocks[SIZES];
    uint64_t bucket_count, bearer_count, capacity, used;
    uint32_t window, places;
    struct peer *peers;
    uint32_t peer_count;
};

#define UES (1u << 24)
#define BEARER_BITS 25

/* ---- Flows. ---- */

/* TEID and flow; never 0. */
static inline uint64_t key_of(uint32_t teid, uint8_t flow) { return (uint64_t)(flow + 1) << 32 | teid; }

static inline struct bucket_of_flows *first_of(const struct whole *s, uint64_t hash)
{
    return &s->buckets[(uint64_t)(uint32_t)hash * s->bucket_count >> 32];
}

static inline struct bucket_of_flows *second_of(const struct whole *s, uint64_t hash)
{
    return &s->buckets[(uint64_t)((uint32_t)(hash >> 32) * 0x9e3779b1u ^ (uint32_t)hash >> 7) * s->bucket_count >> 32];
}

/* The bearer of a key, or 0. */
static inline uint32_t in_bucket(const struct bucket_of_flows *b, uint64_t key)
{
#ifdef __AVX512F__
    __m512i words = _mm512_load_si512(b->word);
    uint32_t same = _mm512_cmpeq_epi64_mask(_mm512_srli_epi64(words, BEARER_BITS), _mm512_set1_epi64(key));
    return same ? b->word[__builtin_ctz(same)] & ((1u << BEARER_BITS) - 1) : 0;
#else
    uint64_t found = 0;
    for (int i = 0; i < 8; i++)
        found |= b->word[i] >> BEARER_BITS == key ? b->word[i] : 0;
    return found & ((1u << BEARER_BITS) - 1);
#endif
}

static uint32_t find(const struct whole *s, uint64_t key)
{
    uint64_t hash = hash_of(key);
    uint32_t bearer = in_bucket(first_of(s, hash), key);
    return bearer ? bearer : in_bucket(second_of(s, hash), key);
}

static __attribute__((noinline)) uint32_t find_or_default(const struct whole *s, uint64_t key)
{
    uint32_t bearer = find(s, key);
    return bearer ? bearer : find(s, key_of((uint32_t)key, DEFAULT_FLOW));
}

/* ---- Blocks. ---- */

static inline uint8_t *block_at(const struct whole *s, uint32_t block) { return s->arena + (uint64_t)block * 64; }

/* A block that was never taken; 0: no memory. */
static __attribute__((noinline)) uint32_t new_block(struct whole *s, uint32_t size)
{
    struct blocks *b = &s->blocks[size];
    if (b->next == b->end) {
        if (s->arena_used + SLAB > s->arena_bytes)
            return 0;
        b->next = s->arena_used / 64;
        b->end = b->next + SLAB / block_bytes[size] * (block_bytes[size] / 64);
        s->arena_used += SLAB;
    }
    uint32_t block = b->next;
    b->next += block_bytes[size] / 64;
    return block;
}

static inline uint32_t take_block(struct whole *s, uint32_t size)
{
    struct blocks *b = &s->blocks[size];
    return likely(b->free_count) ? b->free[--b->free_count] : new_block(s, size);
}

static inline void free_block(struct whole *s, uint32_t size, uint32_t block)
{
    struct blocks *b = &s->blocks[size];
    b->free[b->free_count++] = block;
}

static inline uint32_t size_for(uint32_t bytes) { return bytes <= 128 ? 0 : bytes <= 512 ? 1 : bytes <= 2048 ? 2 : 3; }

static inline struct slot *slot_of(const struct whole *s, uint32_t bearer, uint32_t count)
{
    return &s->slots[(uint64_t)bearer * s->places + (count & (s->places - 1))];
}

/* ---- Parsing. ---- */

enum { ENDED, CORE, RADIO };

struct work {
    uint64_t key, hash;
    uint32_t bearer, block;
    uint16_t payload; /* bytes of the user's packet */
    uint8_t index, kind, size;
    uint8_t at, qos;  /* where the user's packet begins */
};

static inline int is_alike(const uint8_t *p, const struct station *st)
{
#ifdef __AVX512F__
    __m512i differ = _mm512_xor_si512(_mm512_loadu_si512(p), _mm512_load_si512(st->want));
    return !_mm512_test_epi64_mask(differ, _mm512_load_si512(st->care));
#else
    uint64_t differ = 0;
    for (int i = 0; i < 64; i += 8)
        differ |= (get64(p + i) ^ get64(st->want + i)) & get64(st->care + i);
    return !differ;
#endif
}

/* Whether the checksum of a header of 20 bytes is what a sender computes: never 0xffff, as no header is all zeros. */
static inline int is_sound(const uint8_t *ip)
{
    uint64_t a = get64(ip), b = get64(ip + 8), sum;
    uint32_t carry = __builtin_add_overflow(a, b, &sum);
    carry += __builtin_add_overflow(sum, (uint64_t)get32(ip + 16), &sum);
    sum = (sum & 0xffffffff) + (sum >> 32) + carry;
    sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff && get16(ip + 10) != 0xffff;
}

/* What no pattern is for: as the program's parser, frame.p4 and FromCore, in their order. */
static __attribute__((noinline)) int parse_any(const struct whole *s, const struct view *v, struct work *w, struct verdict *o)
{
#define END(kind, reason) return end(o, kind, reason, 0), ENDED
    const uint8_t *p = v->buffer + v->start, *ip = p + 14, *g = p + 42;
    const struct station *st = &s->stations[v->port & (PORTS - 1)];
    uint32_t length = v->length;
    int is_radio = v->port & RADIO_PORT, is_ipv4 = length >= 14 && get16(p + 12) == be16(0x0800), is_udp = 0, is_gtpu = 0, is_optional = 0, is_psc = 0;
    if (length < 14 || v->port == SERVICE_PORT)
        END(DROP, MALFORMED);
    if (is_ipv4) {
        if (length < 34)
            END(DROP, MALFORMED);
        is_udp = ip[0] == 0x45 && !(get16(ip + 6) & be16(0x3fff)) && ip[9] == 17;
    }
    if (is_udp) {
        if (length < 42 || (is_radio && length < 61))
            END(DROP, MALFORMED);
        is_gtpu = !is_radio && get16(p + 36) == be16(2152);
    }
    if (is_gtpu) {
        if (length < 50)
            END(DROP, MALFORMED);
        is_optional = (g[0] & 0xf0) == 0x30 && (g[0] & 7);
        if (is_optional && length < 54)
            END(DROP, MALFORMED);
        is_psc = is_optional && g[1] == 255 && (g[0] & 4) && g[11] == 0x85;
        if (is_psc && length < 58)
            END(DROP, MALFORMED);
    }
    if (get16(p + 12) == be16(0x0806))
        END(PUNT, ARP);
    if (memcmp(p, st->want, 6))
        END(DROP, NOT_OUR_MAC);
    if (!is_ipv4)
        END(DROP, UNSUPPORTED_PROTOCOL);
    if ((ip[0] & 15) == 5 && !is_sound(ip))
        END(DROP, IPV4_CHECKSUM);
    if (get32(ip + 16) != get32(st->want + 30))
        END(DROP, NOT_OUR_MAC);
    if (!is_udp) {
        if (ip[0] != 0x45 || (get16(ip + 6) & be16(0x3fff)))
            END(DROP, HEADER_CHAIN);
        END(PUNT, HOST);
    }
    if (be16(get16(p + 16)) + 14u != length || be16(get16(p + 38)) + 34u != length)
        END(DROP, LENGTH_MISMATCH);
    if (is_radio) {
        static const uint8_t framing[18] = { 'r', 'l', 'c', '-', 'n', 'r', 0, 0, 2, 0, 3, 0, 0, 4, 5, 5, 0, 1 };
        for (int i = 0; i < 18; i++)
            if (i != 6 && i != 7 && i != 11 && i != 12 && i != 16 && g[i] != framing[i])
                END(DROP, RADIO_FRAMING);
        return RADIO;
    }
    if (!is_gtpu)
        END(PUNT, HOST);
    if ((g[0] & 0xf0) != 0x30)
        END(DROP, GTPU_VERSION);
    if (g[1] != 255)
        END(PUNT, GTPU_SIGNALLING);
    if (be16(get16(g + 2)) + 50u != length)
        END(DROP, LENGTH_MISMATCH);
    w->at = 50;
    w->qos = 0;
    if (is_optional)
        w->at = 54;
    if (is_psc) {
        if (g[12] != 1 || g[13] >> 4 || g[15])
            END(DROP, GTPU_EXTENSION);
        w->at = 58;
        w->qos = g[14];
    } else if ((g[0] & 4) && g[11]) {
        END(DROP, GTPU_EXTENSION);
    }
    if (length == w->at)
        END(DROP, MALFORMED);
    if (length - w->at > MAX_SDU)
        END(DROP, TOO_BIG);
    w->payload = length - w->at;
    return CORE;
#undef END
}

static inline int parse(const struct whole *s, const struct view *v, struct work *w, struct verdict *o)
{
    const uint8_t *p = v->buffer + v->start;
    const struct station *st = &s->stations[v->port & (PORTS - 1)];
    uint32_t length = v->length;
    if (unlikely(length < 61 || v->start + 64 > v->capacity || !is_alike(p, st) || !is_sound(p + 14) || be16(get16(p + 16)) + 14u != length
                 || be16(get16(p + 38)) + 34u != length))
        return parse_any(s, v, w, o);
    if (v->port & RADIO_PORT)
        return RADIO;
    if (unlikely(be16(get16(p + 44)) + 50u != length || length > MAX_SDU + 58))
        return parse_any(s, v, w, o);
    w->at = 58;
    w->qos = p[56];
    w->payload = length - 58;
    return CORE;
}

/* ---- Packets. ---- */

/* Bytes at `from` of a packet, in whole lines where the buffer has them, to a block that has them. */
static inline void copy_lines(uint8_t *to, const uint8_t *from, uint32_t bytes, uint64_t readable)
{
    uint32_t lines = (bytes + 63) / 64;
    if (likely(lines * 64ull <= readable)) {
        do {
            memcpy(to, from, 64);
            to += 64;
            from += 64;
        } while (--lines);
    } else {
        memcpy(to, from, bytes);
    }
}

static inline void send(struct whole *s, struct view *v, struct work *w, struct verdict *o)
{
    struct bearer *b = &s->bearers[w->bearer];
    uint8_t *p = v->buffer + v->start, *user = p + w->at, *q = user - b->header_bytes - FRONT;
    uint32_t payload = w->payload, number = b->next + b->exhausted, reason = 0;
    uint32_t count = number + b->count_base;
    if (unlikely(get32(p + 26) != b->upf))
        reason = WRONG_SOURCE;
    else if (unlikely(payload > b->longest))
        reason = MALFORMED;
    else if (unlikely(number - b->ack >= s->window || !w->block))
        reason = SERVICE_REFUSED;
    else if (unlikely(count < number || count == 0xffffffff))
        /* The place is spent all the same; behind the last number there is none. */
        reason = COUNT_EXHAUSTED, b->exhausted += number != 0xffffffff;
    else if (unlikely(q < v->buffer))
        reason = NO_HEADROOM;
    if (unlikely(reason)) {
        if (w->block)
            free_block(s, w->size, w->block);
        end(o, DROP, reason, 0);
        return;
    }
    uint8_t *block = block_at(s, w->block);
    copy_lines(block, user - 4, payload + 4, v->capacity - (uint64_t)(user - 4 - v->buffer));
    *slot_of(s, w->bearer, number) = (struct slot){ .block = w->block, .bytes = (uint16_t)(payload + b->prefix_bytes), .size = w->size };
    b->next++;
    b->bytes += payload;
    /* RLC with the P bit, PDCP, SDAP, from the left. Each of the first two is a D/C bit and the number. */
    uint64_t headers = b->formats & RLC_LONG ? 0xc00000 | (number & 0x3ffff) : 0xc000 | (number & 0xfff);
    if (likely(b->formats & PDCP_LONG))
        headers = headers << 24 | 0x800000 | (count & 0x3ffff);
    else
        headers = headers << 16 | 0x8000 | (count & 0xfff);
    if (likely(b->formats & SDAP_HEADER))
        headers = headers << 8 | (b->formats & REFLECTIVE) << 4 | (w->qos & 0x7f);
    uint32_t last = be32((uint32_t)headers);
    put32(block, last);
    /* They are 4 to 7 bytes. The line is the front and four bytes more, which they overwrite. */
    memcpy(q, b->front, 64);
    put32(q + FRONT, be32((uint32_t)(headers >> 8 * (b->header_bytes - 4))));
    put32(user - 4, last);
    uint32_t total = (uint32_t)(v->start + v->length - (q - v->buffer)) - 14;
    uint32_t sum = be16(get16(b->front + 24)) + total;
    put16(q + 16, be16((uint16_t)total));
    put16(q + 24, be16((uint16_t)~((sum & 0xffff) + (sum >> 16))));
    put16(q + 38, be16((uint16_t)(total - 20)));
    v->start = (uint32_t)(q - v->buffer);
    v->length = total + 14;
    *o = (struct verdict){ .kind = FORWARD, .port = b->port };
}

/* Reads a NACK: its number and how many packets from that on. Whether it is sound. */
static int read_nack(const uint8_t **at, const uint8_t *stop, int is_long, uint32_t *sn, uint32_t *range, int *more)
{
    const uint8_t *nack = *at;
    uint32_t flags;
    if (stop - nack < (is_long ? 3 : 2))
        return 0;
    if (is_long) {
        *sn = (uint32_t)nack[0] << 10 | (uint32_t)nack[1] << 2 | nack[2] >> 6;
        flags = nack[2] >> 3;
        nack += 3;
    } else {
        *sn = (uint32_t)nack[0] << 4 | nack[1] >> 4;
        flags = nack[1] >> 1;
        nack += 2;
    }
    *more = flags & 4;
    *range = 1;
    if (flags & 2) {
        if (stop - nack < 4)
            return 0;
        nack += 4;
    }
    if (flags & 1) {
        if (nack == stop || !(*range = *nack++))
            return 0;
    }
    *at = nack;
    return 1;
}

/* A STATUS with NACKs: frees what it acknowledges of the first `ahead`, but for what they name. Whether it is sound; else nothing has changed. */
static __attribute__((noinline)) int acknowledge_some(struct whole *s, uint32_t bearer, const uint8_t *nacks, const uint8_t *stop, int is_long, uint32_t ahead)
{
    struct bearer *b = &s->bearers[bearer];
    int32_t half = is_long ? 1 << 17 : 1 << 11, first_kept = (int32_t)ahead;
    uint32_t sn = 0, range = 0;
    const uint8_t *at = nacks;
    for (int more = 1; more;)
        if (!read_nack(&at, stop, is_long, &sn, &range, &more))
            return 0;
    if (at != stop)
        return 0;
    at = nacks;
    for (int more = 1; more;) {
        read_nack(&at, stop, is_long, &sn, &range, &more);
        int32_t first = (int32_t)((sn - b->ack) & (uint32_t)(half * 2 - 1));
        first -= first < half ? 0 : half * 2;
        for (int32_t i = first; i < first + (int32_t)range; i++)
            if (i >= 0 && i < (int32_t)ahead)
                slot_of(s, bearer, b->ack + (uint32_t)i)->is_missing = 1;
    }
    for (int32_t i = (int32_t)ahead - 1; i >= 0; i--) {
        struct slot *slot = slot_of(s, bearer, b->ack + (uint32_t)i);
        if (slot->block && slot->is_missing) {
            first_kept = i;
        } else if (slot->block) {
            free_block(s, slot->size, slot->block);
            slot->block = 0;
        }
        slot->is_missing = 0;
    }
    b->ack += (uint32_t)first_kept;
    return 1;
}

/* An uplink PDU whose framing is right but for the mode. */
static inline void take_status(struct whole *s, const struct view *v, const struct work *w, struct verdict *o)
{
    struct bearer *b = &s->bearers[w->bearer];
    const uint8_t *p = v->buffer + v->start, *pdu = p + FRONT;
    uint32_t bytes = v->length - FRONT;
    int is_long = b->formats & RLC_LONG;
    if (unlikely(get32(p + 26) != b->unit || (b->unit_port && get16(p + 34) != b->unit_port))) {
        end(o, DROP, WRONG_SOURCE, 0);
        return;
    }
    if (unlikely(p[48] != 4 || p[49] != (is_long ? 18 : 12))) {
        end(o, DROP, RADIO_FRAMING, 0);
        return;
    }
    b->received++;
    b->received_bytes += bytes;
    if (unlikely(pdu[0] >> 4 || bytes < 3)) {
        end(o, DROP, pdu[0] & 0x80 ? MALFORMED : SERVICE_REFUSED, 0);
        return;
    }
    uint32_t bits = (uint32_t)pdu[0] << 16 | (uint32_t)pdu[1] << 8 | pdu[2];
    uint32_t ahead = is_long ? ((bits >> 2) - b->ack) & 0x3ffff : ((bits >> 8) - b->ack) & 0xfff;
    int has_nacks = !!(bits & (is_long ? 2 : 0x80));
    if (unlikely(ahead > b->next - b->ack || (has_nacks ? !acknowledge_some(s, w->bearer, pdu + 3, pdu + bytes, is_long, ahead) : bytes != 3))) {
        end(o, DROP, SERVICE_REFUSED, 0);
        return;
    }
    if (likely(!has_nacks)) {
        for (uint32_t count = b->ack, stop = b->ack + ahead; count != stop; count++) {
            const struct slot *slot = slot_of(s, w->bearer, count);
            /* An earlier STATUS with NACKs may have freed it. */
            if (likely(slot->block))
                free_block(s, slot->size, slot->block);
        }
        b->ack += ahead;
    }
    end(o, DROP, STATUS_PROCESSED, 0);
}

static inline void reserve(struct whole *s, struct work *w, struct verdict *o)
{
    if (likely(w->kind == CORE)) {
        if (unlikely(!w->bearer) && !(w->bearer = find_or_default(s, w->key))) {
            end(o, PUNT, UNKNOWN_TEID, 0);
            w->kind = ENDED;
            return;
        }
        prefetch(slot_of(s, w->bearer, s->bearers[w->bearer].next));
        w->size = (uint8_t)size_for(w->payload + 4u);
        w->block = take_block(s, w->size);
        const uint8_t *block = block_at(s, w->block);
        for (uint32_t at = 0; at < w->payload + 4u && at < 512; at += 64)
            prefetch(block + at);
    } else if (unlikely(!w->bearer)) {
        end(o, DROP, NO_BEARER, 0);
        w->kind = ENDED;
    } else {
        const struct bearer *b = &s->bearers[w->bearer];
        prefetch(slot_of(s, w->bearer, b->ack));
        prefetch(slot_of(s, w->bearer, b->next - 1));
    }
}

static void process(void *whole, struct view *views, struct verdict *verdicts, uint32_t n)
{
    struct whole *s = whole;
    struct work work[BURST];
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct work *w = &work[m];
        w->kind = (uint8_t)parse(s, &views[i], w, &verdicts[i]);
        w->index = (uint8_t)i;
        const uint8_t *p = views[i].buffer + views[i].start;
        if (likely(w->kind == CORE)) {
            w->key = key_of(get32(p + 46), w->qos & 63);
            w->hash = hash_of(w->key);
            prefetch(first_of(s, w->hash));
            m++;
        } else if (w->kind == RADIO) {
            w->key = (uint32_t)p[58] << 16 | be16(get16(p + 53));
            prefetch(&s->by_ue[w->key]);
            m++;
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        struct work *w = &work[i];
        w->bearer = likely(w->kind == CORE) ? in_bucket(first_of(s, w->hash), w->key) : s->by_ue[w->key];
        if (likely(w->bearer)) {
            prefetch(&s->bearers[w->bearer]);
            prefetch(s->bearers[w->bearer].front);
        } else if (w->kind == CORE) {
            prefetch(second_of(s, w->hash));
        }
    }
    for (uint32_t i = 0; i < m; i++)
        reserve(s, &work[i], &verdicts[work[i].index]);
    for (uint32_t i = 0; i < m; i++) {
        struct work *w = &work[i];
        if (likely(w->kind == CORE))
            send(s, &views[w->index], w, &verdicts[w->index]);
        else if (w->kind == RADIO)
            take_status(s, &views[w->index], w, &verdicts[w->index]);
    }
}

/* ---- The control's side. ---- */

static uint64_t free_bytes(const struct whole *s, uint32_t size) { return (s->arena_bytes / block_bytes[size] + 1) * sizeof(uint32_t); }

static void destroy(void *whole)
{
    struct whole *s = whole;
    release(s->stations, PORTS * sizeof *s->stations);
    release(s->buckets, s->bucket_count * sizeof *s->buckets);
    release(s->bearers, (s->bearer_count + 1) * sizeof *s->bearers);
    release(s->slots, (s->bearer_count + 1) * s->places * sizeof *s->slots);
    release(s->by_ue, UES * sizeof *s->by_ue);
    release(s->arena, s->arena_bytes);
    for (uint32_t size = 0; size < SIZES; size++)
        release(s->blocks[size].free, free_bytes(s, size));
    free(s->peers);
    free(s);
}

/* The pattern of a port without a station: the program's address is 0 then. */
static void make_pattern(struct station *st, uint32_t port)
{
    static const uint8_t mac[6] = { 255, 255, 255, 255, 255, 255 };
    memcpy(st->care, mac, 6);
    put16(st->want + 12, port == SERVICE_PORT ? 0 : be16(0x0800));
    put16(st->care + 12, 0xffff);
    st->want[14] = 0x45;
    st->care[14] = 255;
    put16(st->care + 20, be16(0x3fff));
    st->want[23] = 17;
    st->care[23] = 255;
    put32(st->care + 30, 0xffffffff);
    uint8_t *want = st->want + 42, *care = st->care + 42;
    if (port & RADIO_PORT) {
        /* Name, mode, tags and direction; not the bits of numbers, UE and DRB. */
        static const uint8_t framing[18] = { 'r', 'l', 'c', '-', 'n', 'r', 4, 0, 2, 0, 3, 0, 0, 4, 5, 5, 0, 1 };
        static const uint8_t fixed[18] = { 255, 255, 255, 255, 255, 255, 255, 0, 255, 255, 255, 0, 0, 255, 255, 255, 0, 255 };
        memcpy(want, framing, 18);
        memcpy(care, fixed, 18);
    } else {
        /* G-PDU with a container of downlink, and nothing behind that. */
        static const uint8_t gtpu[16] = { 0x34, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x85, 1, 0, 0, 0 };
        static const uint8_t fixed[16] = { 0xf4, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0xf0, 0, 255 };
        memcpy(want, gtpu, 16);
        memcpy(care, fixed, 16);
        put16(st->want + 36, be16(2152));
        put16(st->care + 36, 0xffff);
    }
}

/* For so many flows of bearers below a number, each with so many packets that are not acknowledged; null: no memory. */
static void *create(uint64_t flows, uint64_t bearers, uint32_t window)
{
    struct whole *s = calloc(1, sizeof *s);
    if (!s || !window || window > 1u << 17 || bearers >= (1u << BEARER_BITS) - 1) {
        free(s);
        return 0;
    }
    uint32_t places = 1;
    while (places < window)
        places *= 2;
    uint64_t most = bearers * window * 2304ull, limit = 64ull << 30;
    *s = (struct whole){ .capacity = flows, .bucket_count = flows / 4 + 2, .bearer_count = bearers, .window = window, .places = places };
    s->arena_bytes = rounded(most < limit ? most : limit) + (SIZES + 1) * (uint64_t)SLAB;
    /* Block 0 is none. */
    s->arena_used = SLAB;
    s->stations = pages(PORTS * sizeof *s->stations);
    s->buckets = pages(s->bucket_count * sizeof *s->buckets);
    s->bearers = pages((bearers + 1) * sizeof *s->bearers);
    s->slots = pages((bearers + 1) * places * sizeof *s->slots);
    s->by_ue = pages(UES * sizeof *s->by_ue);
    s->arena = pages(s->arena_bytes);
    int is_there = s->stations && s->buckets && s->bearers && s->slots && s->by_ue && s->arena;
    for (uint32_t size = 0; size < SIZES; size++)
        is_there &= !!(s->blocks[size].free = pages(free_bytes(s, size)));
    if (!is_there) {
        destroy(s);
        return 0;
    }
    for (uint32_t port = 0; port < PORTS; port++)
        make_pattern(&s->stations[port], port);
    return s;
}

/* Why an entry is not taken: there is one with the key or no room, a number is out of range, its peer or bearer is not there, another entry says other facts
 * of the bearer. */
enum { TAKEN, FULL, RANGE, ABSENT, DIFFERS };

static void put_mac(uint8_t *p, uint64_t mac)
{
    for (int i = 0; i < 6; i++)
        p[i] = (uint8_t)(mac >> (40 - 8 * i));
}

static int add_station(void *whole, uint16_t port, uint64_t mac, uint32_t address)
{
    struct whole *s = whole;
    if (port >= PORTS)
        return RANGE;
    put_mac(s->stations[port].want, mac);
    put32(s->stations[port].want + 30, be32(address));
    return TAKEN;
}

static struct peer *peer_of(const struct whole *s, uint16_t number)
{
    for (uint32_t i = 0; i < s->peer_count; i++)
        if (s->peers[i].number == number)
            return &s->peers[i];
    return 0;
}

static int add_peer(void *whole, uint16_t number, uint16_t port, uint64_t src_mac, uint64_t dst_mac, uint32_t src, uint32_t dst, uint16_t src_port,
                    uint16_t dst_port)
{
    struct whole *s = whole;
    struct peer *all = peer_of(s, number) ? 0 : realloc(s->peers, (s->peer_count + 1) * sizeof *all);
    if (!all)
        return FULL;
    s->peers = all;
    struct peer *peer = &all[s->peer_count++];
    *peer = (struct peer){ .number = number, .port = port };
    uint8_t *p = peer->front;
    put_mac(p, dst_mac);
    put_mac(p + 6, src_mac);
    put16(p + 12, be16(0x0800));
    p[14] = 0x45;
    p[20] = 0x40;
    p[22] = 64;
    p[23] = 17;
    put32(p + 26, be32(src));
    put32(p + 30, be32(dst));
    put16(p + 34, be16(src_port));
    put16(p + 36, be16(dst_port));
    uint32_t sum = 0;
    for (int i = 14; i < 34; i += 2)
        sum += be16(get16(p + i));
    sum = (sum & 0xffff) + (sum >> 16);
    put16(p + 24, be16((uint16_t)((sum & 0xffff) + (sum >> 16))));
    return TAKEN;
}

struct facts {
    uint32_t bearer, count_base, upf;
    uint16_t ue, pdu_bytes, peer;
    uint8_t drb, formats;
};

static uint64_t hash_of_word(uint64_t word) { return hash_of(word >> BEARER_BITS); }

static int put_word(struct bucket_of_flows *b, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        if (!b->word[i])
            return b->word[i] = word, 1;
    return 0;
}

/* In the first bucket, the second, or where a random walk makes room. */
static int insert_word(struct whole *s, uint64_t word)
{
    struct bucket_of_flows *b = first_of(s, hash_of_word(word));
    if (put_word(b, word))
        return 1;
    b = second_of(s, hash_of_word(word));
    for (uint32_t step = 0; step < 10000; step++) {
        if (put_word(b, word))
            return 1;
        uint32_t slot = (uint32_t)((step + 1) * 2654435761u) >> 29;
        uint64_t moved = b->word[slot];
        b->word[slot] = word;
        word = moved;
        struct bucket_of_flows *first = first_of(s, hash_of_word(word));
        b = b == first ? second_of(s, hash_of_word(word)) : first;
    }
    return 0;
}

/* Adds a flow's bearer; `flow` is a QFI or DEFAULT_FLOW. The bearer's other flows have the same facts. */
static int add_flow(void *whole, uint32_t teid, uint8_t flow, const struct facts *f)
{
    struct whole *s = whole;
    if (f->bearer >= s->bearer_count || flow > DEFAULT_FLOW)
        return RANGE;
    const struct peer *peer = peer_of(s, f->peer);
    if (!peer)
        return ABSENT;
    uint64_t key = key_of(be32(teid), flow);
    if (s->used >= s->capacity || find(s, key))
        return FULL;
    uint32_t rlc_bytes = f->formats & RLC_LONG ? 3 : 2, prefix_bytes = (f->formats & PDCP_LONG ? 3 : 2) + !!(f->formats & SDAP_HEADER);
    uint32_t header_bytes = rlc_bytes + prefix_bytes, bearer = f->bearer + 1;
    struct bearer new = {
        .count_base = f->count_base,
        .upf = be32(f->upf),
        .longest = f->pdu_bytes > header_bytes ? (uint16_t)(f->pdu_bytes - header_bytes) : 0,
        .formats = f->formats,
        .prefix_bytes = (uint8_t)prefix_bytes,
        .header_bytes = (uint8_t)header_bytes,
        .port = peer->port,
        .peer = peer->number,
    };
    uint8_t bits = f->formats & RLC_LONG ? 18 : 12;
    uint8_t framing[18] = { 'r', 'l', 'c', '-', 'n', 'r', 4, bits, 2, 1, 3, (uint8_t)(f->ue >> 8), (uint8_t)f->ue, 4, 5, 5, f->drb, 1 };
    memcpy(new.front, peer->front, 42);
    memcpy(new.front + 42, framing, 18);
    struct bearer *b = &s->bearers[bearer];
    if (!b->header_bytes)
        *b = new;
    else if (b->count_base != new.count_base || b->upf != new.upf || b->longest != new.longest || b->formats != new.formats || b->peer != new.peer
             || memcmp(b->front, new.front, FRONT))
        return DIFFERS;
    s->used++;
    return insert_word(s, key << BEARER_BITS | bearer) ? TAKEN : FULL;
}

/* Adds what the uplink knows of a bearer that has a flow. */
static int add_ue(void *whole, uint16_t ue, uint8_t drb, uint32_t bearer, uint8_t rlc_long, uint32_t unit, uint16_t unit_port)
{
    struct whole *s = whole;
    if (bearer >= s->bearer_count)
        return RANGE;
    uint32_t *place = &s->by_ue[(uint32_t)drb << 16 | ue];
    struct bearer *b = &s->bearers[bearer + 1];
    if (!b->header_bytes)
        return ABSENT;
    if (*place)
        return FULL;
    if (rlc_long != (b->formats & RLC_LONG) || (b->up && (b->unit != be32(unit) || b->unit_port != be16(unit_port))))
        return DIFFERS;
    *place = bearer + 1;
    b->up = 1;
    b->unit = be32(unit);
    b->unit_port = be16(unit_port);
    return TAKEN;
}

/* Packets and bytes of the program's counters downlink_packets, radio_sent and radio_received, and packets of downlink_count_high. Each packet of a bearer
 * is one PDU, and COUNTs follow each other: so most of it is the same number. */
static void count(void *whole, uint32_t bearer, uint64_t *out)
{
    struct whole *s = whole;
    memset(out, 0, 7 * sizeof *out);
    if (bearer >= s->bearer_count)
        return;
    const struct bearer *b = &s->bearers[bearer + 1];
    uint64_t end = (uint64_t)b->next + b->count_base, high = end > COUNT_NOTIFY ? end - COUNT_NOTIFY : 0;
    out[0] = out[2] = b->next;
    out[1] = b->bytes;
    out[3] = b->bytes + (uint64_t)b->next * b->header_bytes;
    out[4] = b->received;
    out[5] = b->received_bytes;
    out[6] = high < b->next ? high : b->next;
}

/* The copy of a bearer's packet, by its place: its bytes, of which `room` are given, or 0 if it is not kept. */
static uint32_t kept(void *whole, uint32_t bearer, uint32_t number, uint8_t *out, uint32_t room)
{
    struct whole *s = whole;
    const struct bearer *b = bearer < s->bearer_count ? &s->bearers[bearer + 1] : 0;
    if (!b || number - b->ack >= b->next - b->ack)
        return 0;
    const struct slot *slot = slot_of(s, bearer + 1, number);
    if (!slot->block)
        return 0;
    memcpy(out, block_at(s, slot->block) + 4 - b->prefix_bytes, slot->bytes < room ? slot->bytes : room);
    return slot->bytes;
}

const struct {
    int (*runs_here)(void);
    void *(*create)(uint64_t, uint64_t, uint32_t);
    void (*destroy)(void *);
    int (*add_station)(void *, uint16_t, uint64_t, uint32_t);
    int (*add_peer)(void *, uint16_t, uint16_t, uint64_t, uint64_t, uint32_t, uint32_t, uint16_t, uint16_t);
    int (*add_flow)(void *, uint32_t, uint8_t, const struct facts *);
    int (*add_ue)(void *, uint16_t, uint8_t, uint32_t, uint8_t, uint32_t, uint16_t);
    void (*count)(void *, uint32_t, uint64_t *);
    uint32_t (*kept)(void *, uint32_t, uint32_t, uint8_t *, uint32_t);
    void (*process)(void *, struct view *, struct verdict *, uint32_t);
} whole_ops = { has_instructions, create, destroy, add_station, add_peer, add_flow, add_ue, count, kept, process };
