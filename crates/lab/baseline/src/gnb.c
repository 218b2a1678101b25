/* How fast can step 3 of the gNodeB's downlink be, if somebody writes it by hand for this machine?
 *
 * The function of p4/gnb.p4 with STEP=3, on the same packets in the same buffers with the same verdicts:
 *
 *   Ethernet, IPv4, UDP and GTP-U with at most one PDU session container, bearer by TEID and QFI or the TEID's default, COUNT, headers of SDAP,
 *   PDCP (12 or 18 bits) and RLC (TM, UM, AM of 12 or 18 bits), MAC addresses swapped, back by the port that the frame came by.
 *
 * Left out: change and removal of bearers, and a second lane.
 *
 * A burst goes through in three loops, so that memory latency of up to 64 packets overlaps:
 *   parse     checks the packet, makes the key, prefetches the bucket
 *   probe     compares eight tags at once, prefetches the bearer's line
 *   finish    compares the key, spends a COUNT, writes the headers
 */
#include "hand.h"

/* p4/gnb/metadata.p4. */
enum { UNKNOWN_TEID = 5, MALFORMED = 16, COUNT_EXHAUSTED = 27 };
enum { TM, UM, AM };
enum { RLC_LONG = 1, PDCP_LONG = 2, SDAP_HEADER = 4, REFLECTIVE = 8 };
/* In the place of a QFI: the bearer of flows that no rule maps. */
#define DEFAULT_FLOW 0x40

/* A flow's bearer as packets need it: one line. */
struct flow {
    uint64_t key;
    uint32_t *spent; /* of the bearer: `own`, or that of another flow of it */
    uint32_t count_base;
    uint8_t rlc_mode, formats;
    uint32_t own;
} __attribute__((aligned(64)));

struct gnb {
    struct flow *flows; /* flow 0 is not used */
    uint64_t capacity, used;
    struct bucket *buckets;
    uint64_t bucket_count;
    struct flow **first; /* by bearer: its first flow */
    uint64_t bearers;
};

/* ---- The packets' side. ---- */

struct work {
    uint64_t key, hash;
    struct flow *flow;
    uint8_t index, at, qos; /* at: where the user's packet begins */
};

/* TEID and flow. */
static inline uint64_t key_of(uint32_t teid, uint8_t flow) { return (uint64_t)flow << 32 | teid; }

static struct flow *in_bucket(const struct gnb *g, const struct bucket *b, uint16_t tag, uint64_t key)
{
    for (uint32_t same = same_tags(b, tag); same; same &= same - 1, same &= same - 1) {
        struct flow *f = &g->flows[b->record[__builtin_ctz(same) / 2]];
        if (f->key == key)
            return f;
    }
    return 0;
}

static __attribute__((noinline)) struct flow *find(const struct gnb *g, uint64_t key)
{
    uint64_t hash = hash_of(key);
    struct flow *f = in_bucket(g, first_bucket(g->buckets, g->bucket_count, hash), tag_of(hash), key);
    return f ? f : in_bucket(g, second_bucket(g->buckets, g->bucket_count, hash), tag_of(hash), key);
}

/* Whether it is a user's packet in a tunnel; makes its key. */
static inline int parse(const struct view *v, struct work *w)
{
    const uint8_t *p = v->buffer + v->start, *ip = p + 14, *g = p + 42;
    if (unlikely(v->length < 50 || get16(p + 12) != be16(0x0800) || ip[0] != 0x45 || (get16(ip + 6) & be16(0x3fff)) || ip[9] != 17
                 || (v->port & 0x80) || get16(p + 36) != be16(2152) || g[1] != 255))
        return 0;
    w->at = 50;
    w->qos = 0;
    if (likely((g[0] & 0xf0) == 0x30 && (g[0] & 7))) {
        if (unlikely(v->length < 54))
            return 0;
        w->at = 54;
        if (likely((g[0] & 4) && g[11] == 0x85)) {
            if (unlikely(v->length < 58))
                return 0;
            w->at = 58;
            w->qos = g[14];
        }
    }
    w->key = key_of(get32(g + 4), w->qos & 63);
    return 1;
}

/* No bearer: to the control plane, which answers with an error indication. */
static __attribute__((noinline)) void unknown(struct view *v, struct verdict *o)
{
    uint8_t *p = v->buffer + v->start, macs[6];
    memcpy(macs, p, 6);
    memcpy(p, p + 6, 6);
    memcpy(p + 6, macs, 6);
    put16(p + 24, 0);
    uint32_t sum = 0;
    for (int i = 14; i < 34; i += 2)
        sum += be16(get16(p + i));
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(p + 24, be16((uint16_t)~sum));
    end(o, PUNT, UNKNOWN_TEID, 0);
}

static inline void finish(struct view *v, const struct work *w, struct verdict *o)
{
    struct flow *f = w->flow;
    uint32_t count = *f->spent + f->count_base;
    if (unlikely(count == 0xffffffff)) {
        end(o, DROP, COUNT_EXHAUSTED, 0);
        return;
    }
    ++*f->spent;
    /* RLC, PDCP, SDAP, from the left. Each is a D/C bit and the number. */
    uint32_t longs = 0x800000 | (count & 0x3ffff), shorts = 0x8000 | (count & 0xfff);
    uint64_t headers = 0;
    uint32_t bytes = 0;
    if (likely(f->rlc_mode == AM)) {
        bytes = f->formats & RLC_LONG ? 3 : 2;
        headers = f->formats & RLC_LONG ? longs : shorts;
    } else if (f->rlc_mode == UM) {
        bytes = 1; /* a whole SDU: no number */
    }
    if (likely(f->formats & PDCP_LONG)) {
        headers = headers << 24 | longs;
        bytes += 3;
    } else {
        headers = headers << 16 | shorts;
        bytes += 2;
    }
    if (likely(f->formats & SDAP_HEADER)) {
        headers = headers << 8 | (f->formats & REFLECTIVE) << 4 | (w->qos & 0x7f);
        bytes += 1;
    }
    uint8_t *p = v->buffer + v->start, *user = p + w->at, *q = user - bytes - 14;
    uint64_t dst_src = get64(p);
    uint32_t src = get32(p + 8);
    /* Eight bytes, of which what is in front of the headers is overwritten next. */
    put64(user - 8, be64(headers));
    put32(q + 4, (uint32_t)(dst_src & 0xffffffff) << 16 | src >> 16);
    put32(q, (uint32_t)(dst_src >> 48) | src << 16);
    put32(q + 8, (uint32_t)(dst_src >> 16));
    put16(q + 12, be16(0x88b5));
    v->length -= (uint32_t)(q - p);
    v->start += (uint32_t)(q - p);
    *o = (struct verdict){ .kind = FORWARD, .port = (uint16_t)v->port };
}

static void process(void *gnb, struct view *views, struct verdict *verdicts, uint32_t n)
{
    struct gnb *g = gnb;
    struct work work[BURST];
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct work *w = &work[m];
        if (likely(parse(&views[i], w))) {
            w->index = i;
            w->hash = hash_of(w->key);
            prefetch(first_bucket(g->buckets, g->bucket_count, w->hash));
            m++;
        } else {
            end(&verdicts[i], DROP, MALFORMED, 0);
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        struct work *w = &work[i];
        struct bucket *b = first_bucket(g->buckets, g->bucket_count, w->hash);
        uint32_t same = same_tags(b, tag_of(w->hash));
        if (likely(same)) {
            w->flow = &g->flows[b->record[__builtin_ctz(same) / 2]];
            prefetch(w->flow);
        } else {
            w->flow = 0;
            prefetch(second_bucket(g->buckets, g->bucket_count, w->hash));
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        struct work *w = &work[i];
        if (unlikely(!w->flow || w->flow->key != w->key)) {
            w->flow = find(g, w->key);
            if (!w->flow)
                w->flow = find(g, key_of((uint32_t)w->key, DEFAULT_FLOW));
        }
        if (likely(w->flow))
            finish(&views[w->index], w, &verdicts[w->index]);
        else
            unknown(&views[w->index], &verdicts[w->index]);
    }
}

/* ---- The control's side. ---- */

static void destroy(void *gnb)
{
    struct gnb *g = gnb;
    release(g->flows, (g->capacity + 1) * sizeof *g->flows);
    release(g->buckets, g->bucket_count * sizeof *g->buckets);
    release(g->first, g->bearers * sizeof *g->first);
    free(g);
}

/* For so many flows of so many bearers; null: no memory. */
static void *create(uint64_t flows, uint64_t bearers)
{
    struct gnb *g = calloc(1, sizeof *g);
    if (!g)
        return 0;
    *g = (struct gnb){ .capacity = flows, .bearers = bearers, .bucket_count = flows / 6 + 2 };
    g->flows = pages((flows + 1) * sizeof *g->flows);
    g->buckets = pages(g->bucket_count * sizeof *g->buckets);
    g->first = pages(bearers * sizeof *g->first);
    if (!g->flows || !g->buckets || !g->first) {
        destroy(g);
        return 0;
    }
    return g;
}

/* Adds a flow's bearer; `flow` is a QFI or DEFAULT_FLOW. Gives 0, or why not: 1 there is one with the key or no room, 2 out of range. */
static int add(void *gnb, uint32_t teid, uint8_t flow, uint32_t bearer, uint8_t rlc_mode, uint8_t formats, uint32_t count_base)
{
    struct gnb *g = gnb;
    if (bearer >= g->bearers || flow > DEFAULT_FLOW)
        return 2;
    uint64_t key = key_of(be32(teid), flow);
    if (g->used >= g->capacity || find(g, key))
        return 1;
    uint32_t record = ++g->used;
    struct flow *f = &g->flows[record];
    *f = (struct flow){ .key = key, .count_base = count_base, .rlc_mode = rlc_mode, .formats = formats };
    if (!g->first[bearer])
        g->first[bearer] = f;
    f->spent = &g->first[bearer]->own;
    return !insert_record(g->buckets, g->bucket_count, hash_of(key), record, g->flows, sizeof *f);
}

const struct {
    int (*runs_here)(void);
    void *(*create)(uint64_t, uint64_t);
    void (*destroy)(void *);
    int (*add)(void *, uint32_t, uint8_t, uint32_t, uint8_t, uint8_t, uint32_t);
    void (*process)(void *, struct view *, struct verdict *, uint32_t);
} gnb_ops = { has_instructions, create, destroy, add, process };
