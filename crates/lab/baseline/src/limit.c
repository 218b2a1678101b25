/* How fast can the UPF's two paths be, if somebody writes them by hand for this machine?
 *
 * The function of p4/upf.p4 for what the benchmarks configure, on the same packets in the same buffers with the same verdicts:
 *
 *   station, IPv4 lengths and checksums, PDR by UE address or by tunnel, disposition (gates, quotas, buffering), source check,
 *   route by longest prefix, next hop, MTU, MBR meter, TTL, encapsulation with or without session container, decapsulation,
 *   usage counter.
 *
 * Left out, and refused where it would be configured: IPv6, SDF filters, firewall rules, traffic classes, VXLAN, IPv4
 * options, rows of GTP-U extension headers other than one session container of one unit, more than one meter a PDR. A packet
 * that needs one of them is dropped with OUT_OF_SCOPE, never treated wrongly.
 *
 * A burst goes through in four loops, so that memory latency of up to 64 packets overlaps:
 *   parse     checks the packet, makes the key, prefetches the bucket
 *   probe     compares eight tags at once, prefetches the rule's and the session's lines
 *   confirm   compares the key, prefetches the route
 *   finish    decides, meters, counts, rewrites
 *
 * With LIMIT_RTE_HASH the buckets are DPDK's rte_hash and its bulk look-up; all else is the same text.
 */
#include "hand.h"

#include <stdio.h>

#ifdef LIMIT_RTE_HASH
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>
#include <rte_lcore.h>
#include <rte_memory.h>
#endif

#define VRFS 16
#define PORTS 512
#define STATIONS 8
#define LOCALS 256
#define NEXTHOPS 65536
#define TBL8_GROUPS 32768
#define PROFILES 65536

/* Reasons: p4/include/metadata.p4. */
enum {
    ARP = 1, HOST = 3, GTPU_SIGNALLING = 4, UNKNOWN_TEID = 5, NEIGHBOUR_UNKNOWN = 6,
    MALFORMED = 16, IPV4_CHECKSUM = 17, LENGTH_MISMATCH = 18, NOT_OUR_MAC = 19, UNSUPPORTED_PROTOCOL = 20,
    FRAGMENTED_TUNNEL = 21, GTPU_VERSION = 22, GTPU_NOT_LOCAL = 24, NO_SESSION = 26, FAR_DROP = 28, GATE_CLOSED = 29,
    QUOTA_EXHAUSTED = 30, SOURCE_SPOOFED = 31, RATE_EXCEEDED = 32, TTL_EXPIRED = 35, NO_ROUTE = 36, TOO_BIG = 37, MARTIAN = 40, MULTICAST = 41,
    LINK_BROADCAST = 42,
    NO_HEADROOM = 129, OUT_OF_SCOPE = 135 /* base::DropReason::TARGET_FAILED */
};
enum { DISPOSITION_FORWARD, DISPOSITION_DROP, DISPOSITION_BUFFER, DISPOSITION_GATE, DISPOSITION_QUOTA };
enum { PLAIN, GTPU, PSC_DOWNLINK, PSC_UPLINK };
enum { DECREMENT_TTL = 1, CHECK_SOURCE = 2 };

/* What the control plane says of a PDR. Addresses and TEIDs in host order. */
struct pdr {
    uint32_t number, usage, meter, profile;
    uint32_t ue_ipv4, teid, tunnel_dst, tunnel_src;
    uint16_t out_vrf;
    uint8_t disposition, flags, encapsulation, qos, tos, unused;
};

/* What packets of a session and direction change: usage (16 bytes) and meter (32 bytes) in one line.
 * Each rule has one behind it, so that both lines are asked for at once; a rule that shares another's usage cell uses that one's.
 * The meter is table::Meter without its divisions: buckets hold 10^-9 units, and the rates are in a profile that sessions share. */
struct state {
    uint64_t packets, bytes;
    uint64_t committed, peak, last_ns;
    uint32_t profile, meter;
} __attribute__((aligned(64)));

/* A PDR as packets need it: one line. Addresses and TEIDs as they lie in the packet. */
struct rule {
    uint64_t key;
    struct state *state;
    uint32_t pdr;
    uint32_t ue_ipv4, teid, tunnel_dst, tunnel_src;
    uint32_t route_dst; /* tunnel_dst in host order */
    uint32_t outer_sum; /* of the outer header without its length */
    uint16_t out_vrf;
    uint8_t disposition, flags, encapsulation, qos, tos;
    struct state own __attribute__((aligned(64)));
} __attribute__((aligned(128)));

struct profile {
    uint64_t cir, cbs, pir, pbs; /* units a second, 10^-9 units */
    uint64_t full_ns;            /* after so long both buckets are full, and before, nothing overflows */
    uint32_t one_rate;           /* both buckets are always the same */
};

struct table {
    struct rule *rules;
    uint64_t capacity, used; /* rule 0 is not used */
#ifdef LIMIT_RTE_HASH
    struct rte_hash *hash;
#else
    struct bucket *buckets;
    uint64_t bucket_count;
#endif
};

struct nexthop {
    uint8_t kind; /* 0 none, 1 send, 2 unresolved */
    uint16_t port, mtu;
    uint8_t macs[16]; /* destination, source, EtherType IPv4 */
};

struct station {
    uint64_t mac; /* six bytes as they lie in the packet */
    uint16_t vrf, group;
};

struct limit {
    struct table ue, tunnel;
    struct state **usage; /* of each usage cell */
    uint64_t usage_count;
    struct profile *profiles;
    struct nexthop *nexthops;
    uint16_t *tbl24[VRFS], *tbl8; /* next hop; or with bit 15 a group of tbl8 */
    uint32_t tbl8_used;
    struct { struct station list[STATIONS]; uint32_t count; } stations[PORTS];
    struct { uint32_t address; uint16_t vrf; uint8_t endpoint; } locals[LOCALS];
    uint32_t local_count;
};

/* ---- The packets' side. ---- */

struct work {
    struct table *table;
    uint64_t key, hash;
    struct rule *rule;
    uint8_t *user;      /* the user's IP packet; null: there is none that we know */
    uint16_t pdu_length;
    uint8_t index, gtpu;
    uint16_t vrf;
};

/* RFC 1071 over 20 bytes, with the checksum in it. The stored sum is never 0xFFFF, as the sum of the rest is never 0. */
static inline int checksum_ok(const uint8_t *ip)
{
    uint64_t a = get64(ip), b = get64(ip + 8), s = a + b;
    s += s < b;
    uint64_t t = s + get32(ip + 16);
    t += t < s;
    t = (t >> 32) + (t & 0xffffffff);
    t = (t >> 16) + (t & 0xffff);
    t = (t >> 16) + (t & 0xffff);
    t = (t >> 16) + (t & 0xffff);
    return t == 0xffff && get16(ip + 10) != 0xffff;
}

/* An address of ours: 1 endpoint, 0 host, -1 neither. */
static int local(const struct limit *l, uint16_t vrf, uint32_t address)
{
    for (uint32_t i = 0; i < l->local_count; i++)
        if (l->locals[i].vrf == vrf && l->locals[i].address == address)
            return l->locals[i].endpoint;
    return -1;
}

/* What stops an IPv4 packet in that frame, or 0. */
static inline int station(const struct limit *l, uint32_t port, const uint8_t *p, uint16_t *vrf)
{
    uint64_t mac = get64(p) & 0xffffffffffff;
    for (uint32_t i = 0; i < l->stations[port].count; i++)
        if (l->stations[port].list[i].mac == mac) {
            *vrf = l->stations[port].list[i].vrf;
            return l->stations[port].list[i].group ? LINK_BROADCAST : 0;
        }
    return NOT_OUR_MAC;
}

/* What sends from no address that a router takes (0/8, 127/8, 224/4 and above), or from its receiver's. */
static inline int martian_peer(const uint8_t *ip)
{
    return ip[12] == 0 || ip[12] == 127 || ip[12] >= 224 || get32(ip + 12) == get32(ip + 16);
}

static inline int has_ports(uint8_t protocol) { return protocol == 17 || protocol == 6 || protocol == 132; }

/* Not IPv4, too short for it, or a VXLAN port: the first half of the pipeline for what has no session. */
static __attribute__((noinline)) void no_ipv4(const struct limit *l, struct view *v, struct verdict *o)
{
    const uint8_t *p = v->buffer + v->start;
    uint16_t vrf, type = v->length >= 14 ? be16(get16(p + 12)) : 0;
    if (v->port >= 256)
        end(o, DROP, OUT_OF_SCOPE, 0); /* VXLAN */
    else if (v->length < 14 || (type == 0x0800 && v->length < 34))
        end(o, DROP, MALFORMED, 0);
    else if (type == 0x86dd)
        end(o, DROP, OUT_OF_SCOPE, 0);
    else if (station(l, v->port, p, &vrf) == NOT_OUR_MAC)
        end(o, DROP, NOT_OUR_MAC, 0);
    else if (type == 0x0806)
        end(o, PUNT, ARP, 0);
    else
        end(o, DROP, UNSUPPORTED_PROTOCOL, 0);
}

/* A tunnel: from behind the ports to the user's packet. Gives what stops the packet, or 0 with `w` filled in. */
static inline int parse_gtpu(const struct limit *l, struct view *v, struct work *w, struct verdict *o)
{
    uint8_t *p = v->buffer + v->start, *g = p + 42;
    uint32_t length = v->length, at = 50;
    if (unlikely(length < 50))
        return MALFORMED;
    int ours = (g[0] & 0xf0) == 0x30, gpdu = g[1] == 255;
    uint8_t *user = 0;
    if (likely(ours)) {
        if (g[0] & 7) {
            if (unlikely(length < 54))
                return MALFORMED;
            at = 54;
            if (gpdu && (g[0] & 4) && g[11] != 0) {
                if (g[11] != 0x85)
                    return OUT_OF_SCOPE;
                if (length < 55)
                    return MALFORMED;
                if (g[12] != 1)
                    return OUT_OF_SCOPE;
                if (length < 58)
                    return MALFORMED;
                if (g[15] != 0)
                    return OUT_OF_SCOPE;
                at = 58;
            }
        }
        if (likely(gpdu)) {
            if (unlikely(length <= at))
                return MALFORMED;
            uint8_t first = p[at];
            if (likely(first == 0x45)) {
                user = p + at;
                if (unlikely(length < at + 20))
                    return MALFORMED;
                if (!(get16(user + 6) & be16(0x1fff)) && has_ports(user[9]) && unlikely(length < at + 24))
                    return MALFORMED;
            } else if (first >> 4 == 4) {
                return length < at + 20 || (first & 15) < 5 ? MALFORMED : OUT_OF_SCOPE;
            } else if (first >> 4 == 6) {
                return OUT_OF_SCOPE;
            }
        }
    }
    if (unlikely(!checksum_ok(p + 14) || (user && !checksum_ok(user))))
        return IPV4_CHECKSUM;
    w->user = user;
    if (likely(user)) {
        /* Each ends within the next: the user's packet, GTP-U, UDP, the tunnel's IPv4, the frame. */
        uint32_t pdu = be16(get16(user + 2)), gtpu = 50u + be16(get16(g + 2)), udp = 34u + be16(get16(p + 38)), ip = 14u + be16(get16(p + 16));
        uint32_t least = !(get16(user + 6) & be16(0x1fff)) && has_ports(user[9]) ? 24 : 20;
        if (unlikely(pdu < least || pdu + at > gtpu || gtpu > udp || udp > ip || ip > length))
            return LENGTH_MISMATCH;
        w->pdu_length = pdu;
    }
    int not_for_us = station(l, v->port, p, &w->vrf);
    if (unlikely(not_for_us))
        return not_for_us;
    if (unlikely(martian_peer(p + 14)))
        return MARTIAN;
    if (unlikely(!ours))
        return GTPU_VERSION;
    if (unlikely(!gpdu)) {
        int of_us = local(l, w->vrf, get32(p + 30));
        if (of_us < 0)
            return GTPU_NOT_LOCAL;
        end(o, PUNT, of_us ? GTPU_SIGNALLING : HOST, 0);
        return -1;
    }
    w->gtpu = 1;
    w->table = (struct table *)&l->tunnel;
    w->key = (uint64_t)get32(p + 30) << 32 | get32(g + 4);
    return 0;
}

/* Checks a packet and makes its key: 1, or 0 where its verdict is already given. */
static inline int parse(const struct limit *l, struct view *v, struct work *w, struct verdict *o)
{
    uint8_t *p = v->buffer + v->start, *ip = p + 14;
    uint32_t length = v->length;
    int why;
    if (unlikely(length < 34 || get16(p + 12) != be16(0x0800) || v->port >= 256)) {
        no_ipv4(l, v, o);
        return 0;
    }
    if (unlikely(ip[0] != 0x45)) {
        end(o, DROP, ip[0] >> 4 != 4 || (ip[0] & 15) < 5 ? MALFORMED : OUT_OF_SCOPE, 0);
        return 0;
    }
    uint16_t fragment = get16(ip + 6);
    if (!(fragment & be16(0x1fff)) && has_ports(ip[9])) {
        if (unlikely(length < 38)) {
            end(o, DROP, MALFORMED, 0);
            return 0;
        }
        if (ip[9] == 17 && !(v->port & 0x80) && !(fragment & be16(0x2000)) && get16(ip + 22) == be16(2152)) {
            why = parse_gtpu(l, v, w, o);
            if (unlikely(why)) {
                if (why > 0)
                    end(o, DROP, why, 0);
                return 0;
            }
            return 1;
        }
    }
    uint32_t pdu = be16(get16(ip + 2));
    if (unlikely(!checksum_ok(ip)))
        end(o, DROP, IPV4_CHECKSUM, 0);
    else if (unlikely(pdu + 14 > length || pdu < (!(fragment & be16(0x1fff)) && has_ports(ip[9]) ? 24u : 20u)))
        end(o, DROP, LENGTH_MISMATCH, 0);
    else if (unlikely((why = station(l, v->port, p, &w->vrf))))
        end(o, DROP, why, 0);
    else {
        w->user = ip;
        w->gtpu = 0;
        w->pdu_length = pdu;
        w->table = (struct table *)&l->ue;
        w->key = (uint64_t)w->vrf << 32 | get32(ip + 16);
        return 1;
    }
    return 0;
}

/* No session. */
static __attribute__((noinline)) void missed(const struct limit *l, const struct view *v, const struct work *w, struct verdict *o)
{
    const uint8_t *ip = v->buffer + v->start + 14;
    int of_us = local(l, w->vrf, get32(ip + 16));
    if (!w->gtpu && martian_peer(ip))
        end(o, DROP, MARTIAN, 0);
    else if (of_us < 0)
        end(o, DROP, w->gtpu ? GTPU_NOT_LOCAL : NO_SESSION, 0);
    else if (of_us == 0)
        end(o, PUNT, HOST, 0);
    else if (w->gtpu)
        end(o, PUNT, UNKNOWN_TEID, 0);
    else if (ip[9] == 17 && (get16(ip + 6) & be16(0x3fff)))
        end(o, DROP, FRAGMENTED_TUNNEL, 0);
    else
        end(o, PUNT, HOST, 0);
}

static inline uint32_t route(const struct limit *l, uint16_t vrf, uint32_t dst)
{
    const uint16_t *table = l->tbl24[vrf];
    if (unlikely(!table))
        return 0;
    uint32_t hop = table[dst >> 8];
    if (unlikely(hop & 0x8000))
        hop = l->tbl8[(hop & 0x7fff) * 256 + (dst & 255)];
    return hop;
}

/* Whether `units` pass the meter: table::Meter, to the bit. */
static inline int passes(const struct limit *l, struct state *s, uint64_t now_ns, uint64_t units)
{
    const struct profile *r = &l->profiles[s->profile];
    uint64_t cost = units * 1000000000;
    uint64_t elapsed = now_ns > s->last_ns ? now_ns - s->last_ns : 0;
    uint64_t peak = s->peak;
    if (elapsed) {
        s->last_ns = now_ns;
        if (elapsed >= r->full_ns) {
            peak = r->pbs;
            s->committed = r->cbs;
        } else {
            peak += r->pir * elapsed;
            peak = peak < r->pbs ? peak : r->pbs;
            if (!r->one_rate) {
                uint64_t committed = s->committed + r->cir * elapsed;
                s->committed = committed < r->cbs ? committed : r->cbs;
            }
        }
    }
    if (unlikely(peak < cost)) {
        s->peak = peak;
        return 0;
    }
    s->peak = peak - cost;
    if (!r->one_rate && s->committed >= cost)
        s->committed -= cost;
    return 1;
}

/* To the control plane, which tells the sender: as it came, but for the link's addresses. */
static __attribute__((noinline)) void tell(struct view *v, const struct nexthop *n, struct verdict *o, uint8_t reason, uint32_t mark)
{
    uint8_t *p = v->buffer + v->start;
    put64(p, get64(n->macs));
    put32(p + 8, get32(n->macs + 8));
    end(o, PUNT, reason, mark);
}

/* Everything behind the look-up, in the order of the program's controls. */
static inline void finish(struct limit *l, struct view *v, struct work *w, struct verdict *o, uint64_t now_ns)
{
    struct rule *r = w->rule;
    uint8_t *user = w->user;
    if (unlikely(!user)) {
        end(o, DROP, UNSUPPORTED_PROTOCOL, r->pdr);
        return;
    }
    if (unlikely(r->disposition != DISPOSITION_FORWARD)) {
        if (r->disposition == DISPOSITION_BUFFER)
            end(o, BUFFER, 0, r->pdr);
        else
            end(o, DROP, r->disposition == DISPOSITION_GATE ? GATE_CLOSED : r->disposition == DISPOSITION_QUOTA ? QUOTA_EXHAUSTED : FAR_DROP, r->pdr);
        return;
    }
    if ((r->flags & CHECK_SOURCE) && unlikely(r->ue_ipv4 == 0 || get32(user + 12) != r->ue_ipv4)) {
        end(o, DROP, SOURCE_SPOOFED, r->pdr);
        return;
    }
    if ((r->flags & DECREMENT_TTL) &&
        unlikely(user[12] == 0 || user[12] == 127 || user[12] >= 224 || user[16] == 0 || user[16] == 127 || user[16] >= 240)) {
        end(o, DROP, MARTIAN, r->pdr);
        return;
    }
    if ((r->flags & DECREMENT_TTL) && unlikely(user[16] >= 224)) {
        end(o, DROP, MULTICAST, r->pdr);
        return;
    }
    uint32_t overhead = r->encapsulation == PLAIN ? 0 : r->encapsulation == GTPU ? 36 : 44;
    uint32_t out_length = w->pdu_length + overhead;
    uint32_t hop = route(l, r->out_vrf, r->encapsulation == PLAIN ? be32(get32(user + 16)) : r->route_dst);
    const struct nexthop *n = &l->nexthops[hop];
    if (unlikely(n->kind != 1)) {
        if (n->kind == 2)
            end(o, PUNT, NEIGHBOUR_UNKNOWN, hop);
        else
            end(o, DROP, NO_ROUTE, r->pdr);
        return;
    }
    if (r->flags & DECREMENT_TTL) {
        if (unlikely(user[8] <= 1 || out_length > n->mtu)) {
            tell(v, n, o, user[8] <= 1 ? TTL_EXPIRED : TOO_BIG, (uint32_t)r->out_vrf << 16 | (user[8] <= 1 ? 0 : n->mtu - overhead));
            return;
        }
    } else if (unlikely(out_length > n->mtu)) {
        end(o, DROP, TOO_BIG, r->pdr);
        return;
    }
    struct state *s = r->state;
    if (s->profile && unlikely(!passes(l, s, now_ns, w->pdu_length))) {
        end(o, DROP, RATE_EXCEEDED, r->pdr);
        return;
    }
    if (r->flags & DECREMENT_TTL) {
        uint32_t sum = (uint32_t)be16(get16(user + 10)) + 0x0100; /* RFC 1624 equation 3 */
        user[8]--;
        put16(user + 10, be16((uint16_t)(sum >= 0xffff ? sum + 1 : sum)));
    }
    uint32_t offset = user - v->buffer, tail = v->start + v->length - offset;
    if (unlikely(offset < overhead + 14 || offset + tail > v->capacity)) {
        end(o, DROP, NO_HEADROOM, r->pdr);
        return;
    }
    uint8_t *h = user - overhead;
    if (overhead) {
        uint32_t gtpu_payload = out_length - 36, sum = r->outer_sum + out_length;
        sum = (sum >> 16) + (sum & 0xffff);
        sum = (sum >> 16) + (sum & 0xffff);
        put64(h, 0x0040000000000045 | (uint64_t)r->tos << 8 | (uint64_t)be16((uint16_t)out_length) << 16);
        put64(h + 8, 0x1140 | (uint64_t)be16((uint16_t)~sum) << 16 | (uint64_t)r->tunnel_src << 32);
        put64(h + 16, r->tunnel_dst | (uint64_t)be16(2152) << 32 | (uint64_t)be16(2152) << 48);
        put64(h + 24, be16((uint16_t)(gtpu_payload + 16)) | (uint64_t)(overhead == 44 ? 0xff34 : 0xff30) << 32 |
                          (uint64_t)be16((uint16_t)gtpu_payload) << 48);
        put32(h + 32, r->teid);
        if (overhead == 44)
            put64(h + 36, 0x0000000185000000 | (uint64_t)(r->encapsulation == PSC_UPLINK ? 0x10 : 0) << 40 | (uint64_t)r->qos << 48);
    }
    put64(h - 14, get64(n->macs));
    put32(h - 6, get32(n->macs + 8));
    put16(h - 2, be16(0x0800));
    v->start = h - 14 - v->buffer;
    v->length = 14 + out_length; /* what lies behind the user's packet stays behind */
    s->packets++;
    s->bytes += w->pdu_length;
    *o = (struct verdict){ .kind = FORWARD, .port = n->port, .mark = r->pdr };
}

#ifdef LIMIT_RTE_HASH

/* Bulk look-up of those packets that want this table. */
static void bulk(struct table *t, struct work *w, uint32_t n)
{
    const void *keys[BURST];
    void *data[BURST];
    uint8_t of[BURST];
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++)
        if (w[i].table == t) {
            keys[m] = &w[i].key;
            of[m++] = i;
        }
    if (!m)
        return;
    uint64_t hits = 0;
    rte_hash_lookup_bulk_data(t->hash, keys, m, &hits, data);
    for (uint32_t j = 0; j < m; j++) {
        struct rule *r = hits >> j & 1 ? data[j] : 0;
        prefetch(r);
        prefetch(&r->own);
        w[of[j]].rule = r;
    }
}

static inline void prepare(struct work *w) { (void)w; }

static inline void probe(struct limit *l, struct work *w, uint32_t n)
{
    bulk(&l->ue, w, n);
    bulk(&l->tunnel, w, n);
}

static inline void confirm(struct work *w) { (void)w; }

#else

static inline void prepare(struct work *w)
{
    w->hash = hash_of(w->key);
    prefetch(first_bucket(w->table->buckets, w->table->bucket_count, w->hash));
}

/* The first rule with the right tag is nearly always it. */
static inline void probe(struct limit *l, struct work *w, uint32_t n)
{
    (void)l;
    for (uint32_t i = 0; i < n; i++) {
        struct bucket *b = first_bucket(w[i].table->buckets, w[i].table->bucket_count, w[i].hash);
        uint32_t same = same_tags(b, tag_of(w[i].hash));
        if (likely(same)) {
            w[i].rule = &w[i].table->rules[b->record[__builtin_ctz(same) / 2]];
            prefetch(w[i].rule);
            prefetch(&w[i].rule->own);
        } else {
            w[i].rule = 0;
            prefetch(second_bucket(w[i].table->buckets, w[i].table->bucket_count, w[i].hash));
        }
    }
}

static struct rule *in_bucket(const struct table *t, const struct bucket *b, uint16_t tag, uint64_t key)
{
    for (uint32_t same = same_tags(b, tag); same; same &= same - 1, same &= same - 1) {
        struct rule *r = &t->rules[b->record[__builtin_ctz(same) / 2]];
        if (r->key == key)
            return r;
    }
    return 0;
}

static struct rule *find(const struct table *t, uint64_t hash, uint64_t key)
{
    struct rule *r = in_bucket(t, first_bucket(t->buckets, t->bucket_count, hash), tag_of(hash), key);
    return r ? r : in_bucket(t, second_bucket(t->buckets, t->bucket_count, hash), tag_of(hash), key);
}

static inline void confirm(struct work *w)
{
    if (unlikely(!w->rule || w->rule->key != w->key))
        w->rule = find(w->table, w->hash, w->key);
}

#endif

static void process(void *limit, struct view *views, struct verdict *verdicts, uint32_t n, uint64_t now_ns)
{
    struct limit *l = limit;
    struct work work[BURST];
    uint32_t m = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct work *w = &work[m];
        w->index = i;
        if (likely(parse(l, &views[i], w, &verdicts[i]))) {
            prepare(w);
            m++;
        }
    }
    probe(l, work, m);
    for (uint32_t i = 0; i < m; i++) {
        struct work *w = &work[i];
        confirm(w);
        if (likely(w->rule)) {
            const struct rule *r = w->rule;
            prefetch(r->state);
            if (likely(w->user)) {
                uint32_t dst = r->encapsulation == PLAIN ? be32(get32(w->user + 16)) : r->route_dst;
                prefetch(&l->tbl24[r->out_vrf][dst >> 8]);
            }
        }
    }
    for (uint32_t i = 0; i < m; i++) {
        struct work *w = &work[i];
        if (likely(w->rule))
            finish(l, &views[w->index], w, &verdicts[w->index], now_ns);
        else
            missed(l, &views[w->index], w, &verdicts[w->index]);
    }
}

/* ---- The control's side. ---- */

static int table_create(struct table *t, uint64_t capacity, const char *name)
{
    t->capacity = capacity;
    t->rules = pages((capacity + 1) * sizeof *t->rules);
    if (!t->rules)
        return 0;
#ifdef LIMIT_RTE_HASH
    static int serial;
    char unique[RTE_HASH_NAMESIZE];
    snprintf(unique, sizeof unique, "%s%d", name, serial++);
    struct rte_hash_parameters parameters = {
        .name = unique, .entries = capacity < 8 ? 8 : capacity + capacity / 8, .key_len = 8, .hash_func = rte_hash_crc, .socket_id = SOCKET_ID_ANY,
    };
    t->hash = rte_hash_create(&parameters);
    return t->hash != 0;
#else
    (void)name;
    /* Six of eight slots used: nearly all rules are in their first bucket. */
    t->bucket_count = capacity / 6 + 2;
    t->buckets = pages(t->bucket_count * sizeof *t->buckets);
    return t->buckets != 0;
#endif
}

static void table_destroy(struct table *t)
{
    release(t->rules, (t->capacity + 1) * sizeof *t->rules);
#ifdef LIMIT_RTE_HASH
    rte_hash_free(t->hash);
#else
    release(t->buckets, t->bucket_count * sizeof *t->buckets);
#endif
}

#ifdef LIMIT_RTE_HASH

/* Asks for huge pages for what DPDK has mapped; refused for shared memory where the kernel is set so. */
static int advise(const struct rte_memseg_list *list, const struct rte_memseg *segment, size_t length, void *unused)
{
    (void)list, (void)unused;
    madvise(segment->addr, length, MADV_HUGEPAGE);
    return 0;
}

/* DPDK is started once a process, and not by us. */
static int eal(char *error, uint32_t length)
{
    static int advised;
    if (rte_lcore_count() == 0) {
        snprintf(error, length, "DPDK is not started");
        return 0;
    }
    if (!advised) {
        rte_memseg_contig_walk(advise, 0);
        advised = 1;
    }
    return 1;
}

/* Size of the pages that the hash is in. */
static uint64_t page_bytes(void *limit)
{
    struct limit *l = limit;
    const struct rte_memseg_list *list = rte_mem_virt2memseg_list(l->ue.hash);
    return list ? list->page_sz : 0;
}

static int table_insert(struct table *t, uint64_t key, struct rule **out)
{
    if (t->used >= t->capacity || rte_hash_lookup(t->hash, &key) >= 0)
        return 0;
    *out = &t->rules[++t->used];
    return rte_hash_add_key_data(t->hash, &key, *out) == 0;
}

#else

static int eal(char *error, uint32_t length)
{
    (void)error, (void)length;
    return 1;
}

/* As the kernel likes. */
static uint64_t page_bytes(void *limit)
{
    (void)limit;
    return 0;
}

static int table_insert(struct table *t, uint64_t key, struct rule **out)
{
    uint64_t hash = hash_of(key);
    if (t->used >= t->capacity || find(t, hash, key))
        return 0;
    uint32_t rule = ++t->used;
    *out = &t->rules[rule];
    return insert_record(t->buckets, t->bucket_count, hash, rule, t->rules, sizeof *t->rules);
}

#endif

static void destroy(void *limit)
{
    struct limit *l = limit;
    table_destroy(&l->ue);
    table_destroy(&l->tunnel);
    release(l->usage, l->usage_count * sizeof *l->usage);
    release(l->nexthops, NEXTHOPS * sizeof *l->nexthops);
    release(l->profiles, PROFILES * sizeof *l->profiles);
    for (int i = 0; i < VRFS; i++)
        release(l->tbl24[i], 2u << 24);
    release(l->tbl8, TBL8_GROUPS * 512);
    free(l);
}

static void *create(uint64_t sessions, uint64_t usage_cells, char *error, uint32_t length)
{
    if (!eal(error, length))
        return 0;
    struct limit *l = calloc(1, sizeof *l);
    if (!l)
        return 0;
    l->usage_count = usage_cells;
    l->usage = pages(usage_cells * sizeof *l->usage);
    l->nexthops = pages(NEXTHOPS * sizeof *l->nexthops);
    l->profiles = pages(PROFILES * sizeof *l->profiles);
    l->tbl8 = pages(TBL8_GROUPS * 512);
    int tables = table_create(&l->ue, sessions, "ue") & table_create(&l->tunnel, sessions, "tunnel");
    if (!tables || !l->usage || !l->nexthops || !l->profiles || !l->tbl8) {
        snprintf(error, length, "no memory for %llu sessions", (unsigned long long)sessions);
        destroy(l);
        return 0;
    }
    return l;
}

static uint64_t mac_bytes(uint64_t mac) { return __builtin_bswap64(mac << 16); }

static int add_station(void *limit, uint16_t port, uint64_t mac, uint16_t vrf, uint16_t group)
{
    struct limit *l = limit;
    if (port >= PORTS || vrf >= VRFS || l->stations[port].count == STATIONS)
        return 0;
    l->stations[port].list[l->stations[port].count++] = (struct station){ mac_bytes(mac), vrf, group };
    return 1;
}

static int add_local(void *limit, uint16_t vrf, uint32_t address, uint8_t endpoint)
{
    struct limit *l = limit;
    if (l->local_count == LOCALS)
        return 0;
    l->locals[l->local_count].vrf = vrf;
    l->locals[l->local_count].address = be32(address);
    l->locals[l->local_count++].endpoint = endpoint;
    return 1;
}

static void set_nexthop(void *limit, uint16_t number, uint8_t kind, uint16_t port, uint64_t src_mac, uint64_t dst_mac, uint16_t mtu)
{
    struct nexthop *n = &((struct limit *)limit)->nexthops[number];
    *n = (struct nexthop){ .kind = kind, .port = port, .mtu = mtu };
    put64(n->macs, mac_bytes(dst_mac));
    put64(n->macs + 6, mac_bytes(src_mac));
}

static void clear_routes(void *limit)
{
    struct limit *l = limit;
    for (int i = 0; i < VRFS; i++) {
        release(l->tbl24[i], 2u << 24);
        l->tbl24[i] = 0;
    }
    l->tbl8_used = 0;
}

/* Shorter prefixes first: a route overwrites what it covers. */
static int add_route(void *limit, uint16_t vrf, uint32_t prefix, uint32_t prefix_len, uint16_t hop)
{
    struct limit *l = limit;
    if (vrf >= VRFS || hop >= 0x8000 || (!l->tbl24[vrf] && !(l->tbl24[vrf] = pages(2u << 24))))
        return 0;
    uint16_t *entry = &l->tbl24[vrf][prefix >> 8];
    if (prefix_len <= 24) {
        for (uint32_t i = 0; i < 1u << (24 - prefix_len); i++)
            entry[i] = hop;
        return 1;
    }
    if (!(*entry & 0x8000)) {
        if (l->tbl8_used == TBL8_GROUPS)
            return 0;
        for (uint32_t i = 0; i < 256; i++)
            l->tbl8[l->tbl8_used * 256 + i] = *entry;
        *entry = 0x8000 | l->tbl8_used++;
    }
    uint16_t *group = &l->tbl8[(*entry & 0x7fff) * 256];
    for (uint32_t i = 0; i < 1u << (32 - prefix_len); i++)
        group[(prefix & 255) + i] = hop;
    return 1;
}

static void set_profile(void *limit, uint32_t number, uint64_t cir, uint64_t cbs, uint64_t pir, uint64_t pbs, uint64_t full_ns)
{
    ((struct limit *)limit)->profiles[number] = (struct profile){ cir, cbs, pir, pbs, full_ns, cir == pir && cbs == pbs };
}

/* Sum of the outer header's constant fields. */
static uint32_t outer_sum(const struct pdr *p)
{
    return 0x4500 + p->tos + 0x4000 + 0x4011 + (p->tunnel_src >> 16) + (p->tunnel_src & 0xffff) + (p->tunnel_dst >> 16) +
           (p->tunnel_dst & 0xffff);
}

/* Gives 0, or why not: 1 there is one with the key or no room, 2 the usage cell is used with another meter, 3 out of range. */
static int add_pdr(void *limit, uint8_t tunnel, uint32_t key_high, uint32_t key_low, const struct pdr *p)
{
    struct limit *l = limit;
    if (p->usage >= l->usage_count || p->out_vrf >= VRFS || (p->profile && !p->usage))
        return 3;
    struct state *shared = p->usage ? l->usage[p->usage] : 0;
    if (shared && shared->meter != p->meter)
        return 2;
    uint64_t key = (uint64_t)(tunnel ? be32(key_high) : key_high) << 32 | be32(key_low);
    struct rule *r;
    if (!table_insert(tunnel ? &l->tunnel : &l->ue, key, &r))
        return 1;
    *r = (struct rule){
        .key = key, .state = shared ? shared : &r->own, .pdr = p->number, .ue_ipv4 = be32(p->ue_ipv4), .teid = be32(p->teid),
        .tunnel_dst = be32(p->tunnel_dst), .tunnel_src = be32(p->tunnel_src), .route_dst = p->tunnel_dst, .outer_sum = outer_sum(p),
        .out_vrf = p->out_vrf, .disposition = p->disposition, .flags = p->flags, .encapsulation = p->encapsulation, .qos = p->qos,
        .tos = p->tos,
    };
    if (p->usage && !shared) {
        l->usage[p->usage] = &r->own;
        r->own.meter = p->meter;
        r->own.profile = p->profile;
        r->own.committed = l->profiles[p->profile].cbs;
        r->own.peak = l->profiles[p->profile].pbs;
    }
    return 0;
}

static void count(void *limit, uint32_t usage, uint64_t out[2])
{
    struct limit *l = limit;
    const struct state *s = usage && usage < l->usage_count ? l->usage[usage] : 0;
    out[0] = s ? s->packets : 0;
    out[1] = s ? s->bytes : 0;
}

#ifdef LIMIT_RTE_HASH
#define OPS limit_rte_hash_ops
#else
#define OPS limit_ops
#endif

const struct {
    int (*runs_here)(void);
    void *(*create)(uint64_t, uint64_t, char *, uint32_t);
    void (*destroy)(void *);
    int (*add_station)(void *, uint16_t, uint64_t, uint16_t, uint16_t);
    int (*add_local)(void *, uint16_t, uint32_t, uint8_t);
    void (*set_nexthop)(void *, uint16_t, uint8_t, uint16_t, uint64_t, uint64_t, uint16_t);
    void (*clear_routes)(void *);
    int (*add_route)(void *, uint16_t, uint32_t, uint32_t, uint16_t);
    void (*set_profile)(void *, uint32_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    int (*add_pdr)(void *, uint8_t, uint32_t, uint32_t, const struct pdr *);
    void (*count)(void *, uint32_t, uint64_t[2]);
    void (*process)(void *, struct view *, struct verdict *, uint32_t, uint64_t);
    uint64_t (*page_bytes)(void *);
} OPS = {
    has_instructions, create, destroy, add_station, add_local, set_nexthop, clear_routes, add_route, set_profile, add_pdr, count, process, page_bytes,
};
