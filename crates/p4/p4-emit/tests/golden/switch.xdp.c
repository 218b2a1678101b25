/* test.p4: generated; changes are lost. */

/* ... prelude.h ... */


enum { V_ethernet = 0 };
enum { ACTION_forward = 0, ACTION_drop = 1 };

/* Of tables that grow: home cells less one. */
SP_MEMORY(sp_homes, uint32_t, 1)

/* Table I.stations. */
struct sp_cell_stations {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[1];
        struct {
            uint16_t p0_port;
        } forward;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_stations) == 32, "as the loader has it");
/* Its cells. */
#ifndef sp_t0_large
SP_SIZED(sp_t0, struct sp_cell_stations)
#else
SP_ARRAY(sp_t0, struct sp_cell_stations, 1)
#endif
SP_MEMORY(sp_d0, struct sp_cell_stations, 2)


typedef unsigned __int128 sp_kept128 __attribute__((aligned(8)));

struct sp_vars {
    /* Zero when a packet comes. */
    uint32_t standard_metadata_packet_length;
    uint16_t standard_metadata_ingress_port;
    uint16_t standard_metadata_egress_spec;
    uint16_t standard_metadata_egress_port;
    uint16_t standard_metadata_mcast_grp;
    uint16_t standard_metadata_parser_error;
    /* Written before they are read. */
    uint64_t written[0];
    uint16_t emit[1];
    uint8_t last;
} __attribute__((aligned(8)));

struct sp_scan {
    uint64_t next;
    uint64_t tuple;
    uint64_t found;
    uint64_t best;
    uint32_t at;
    uint32_t walking;
};

struct sp_context {
    uint64_t ends[8];
    uint64_t hits[1];
    uint64_t misses[1];
    uint64_t lost;
    uint64_t begun;
    uint64_t rests;
    uint64_t now_ns;
    SP_FORGOTTEN uint64_t valid;
    uint32_t timed;
    uint32_t attached;
    uint32_t flow;
    uint32_t follows;
    uint32_t home;
    uint32_t generation;
    uint32_t empty;
    uint32_t subset;
    uint32_t slow_path;
    uint32_t port;
    uint32_t out_port;
    uint32_t reason;
    uint32_t length;
    uint32_t cpu;
    uint32_t cursor;
    uint32_t keep;
    struct sp_scan scan;
    uint64_t key[1];
    uint64_t masked[1];
    SP_FORGOTTEN struct sp_vars v;
    uint8_t h_ethernet[24] __attribute__((aligned(8)));
} __attribute__((aligned(64)));
SP_SIZED(sp_contexts, struct sp_context)

/* ... runtime.h ... */


SP_INLINE struct sp_cell_stations *sp_default_stations(struct sp_context *c)
{
    struct sp_cell_stations *e = sp_d0_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d0_at(1);
}

SP_INLINE struct sp_cell_stations *sp_find_stations(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & SP_HOMES(0);
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_stations *e = sp_t0_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE void sp_clear(struct sp_context *c)
{
    sp_zero((uint8_t *)&c->v, __builtin_offsetof(struct sp_vars, written));
}

SP_INLINE void sp_commit(struct sp_context *c)
{
    (void)c;
}

SP_INLINE void sp_undo(struct sp_context *c)
{
    (void)c;
}

#define SP_REASON(c) (0)
#define SP_MARK(c) (0)

/* One packet. Gives what becomes of it. */
SP_CALL int sp_packet(struct xdp_md *ctx, struct sp_context *c)
{
    uint8_t *data = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
    uint32_t cursor = 0, rounds = 0, turns = 0, emitted = 0;
    struct sp_control *control = sp_control_at(0);
    const uint64_t seen = *(volatile uint64_t *)&control->generation;
    c->generation = (uint32_t)seen;
    c->empty = (uint32_t)(seen >> 32);
    c->subset = control->subset;
    c->slow_path = *(volatile uint32_t *)&control->slow_path;
    c->length = (uint32_t)SP_LENGTH;
    uint64_t valid = 0;
    c->valid = 0;
    c->flow = 0;
    c->follows = 0;
    sp_clear(c);
    (void)rounds, (void)turns, (void)valid;
    c->v.standard_metadata_ingress_port = c->port;
    c->v.standard_metadata_packet_length = c->length;
    
    goto state_0_start_at_0;
state_0_start_at_0:;
    {
        uint8_t *p = data + 0;
        SP_OPAQUE(p);
        if (p + 14 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 0;
            goto parsed;
        }
        sp_copy(c->h_ethernet, p, 14);
        SP_VALID |= SP_BIT(V_ethernet);
    }
    cursor = 14;
    goto parsed;
parsed:;
    c->cursor = cursor;
    c->valid = SP_VALID;
    SP_BARRIER();
    
    /* ingress */
    {
        {
            if (c->slow_path & SP_BIT(0)) goto hand_on;
            struct sp_cell_stations *e = sp_find_stations(c, (((uint32_t)(c->valid >> V_ethernet & 1)) ? (sp_ld64(c->h_ethernet) >> 16) : 0));
            if (e) {
                c->hits[0]++;
            } else {
                c->misses[0]++;
                e = sp_default_stations(c);
            }
            if (e->action == ACTION_forward) {
                c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.forward.p0_port);
            }
            else if (e->action == ACTION_drop) {
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
            }
        }
    }
    if (c->v.standard_metadata_egress_spec == 511) goto dropped;
    c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
    /* deparser */
    {
        c->v.emit[0] = 0;
        if ((uint32_t)(c->valid >> V_ethernet & 1)) { c->v.emit[0] = (uint16_t)(emitted + 1); emitted += 14; }
    }
    if (emitted > SP_HEADROOM + c->cursor || emitted + (c->length - c->cursor) > SP_MAX_PACKET) goto no_room;
    c->out_port = c->v.standard_metadata_egress_port;
    const int here = c->out_port != 510 && c->out_port != 509;
    if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
    if (emitted != c->cursor) {
        if (bpf_xdp_adjust_head(ctx, (int32_t)c->cursor - (int32_t)emitted)) goto failed;
    }
    data = (uint8_t *)(long)ctx->data;
    end = (uint8_t *)(long)ctx->data_end;
    if (*(volatile uint16_t *)&c->v.emit[0]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[0] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 14 > end) goto failed;
        sp_copy(p, c->h_ethernet, 14);
    }
    sp_commit(c);
    return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
    
dropped:;
    sp_commit(c);
    return SP_DROP;
no_room:;
    sp_commit(c);
    c->reason = SP_NO_HEADROOM;
    return SP_DROP;
failed:;
    if (!c->subset) {
        c->reason = SP_TARGET_FAILED;
        return SP_DROP;
    }
    goto hand_on;
hand_on:;
    sp_undo(c);
    return SP_NEXT;
}

/* ... entry.h ... */

