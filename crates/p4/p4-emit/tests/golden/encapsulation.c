/* encapsulation.p4: generated; changes are lost. */

/* ... runtime.h ... */

/* ... meter.h ... */

enum {
    V_ethernet = 0,
    V_outer = 1,
    V_ipv4 = 2,
};

enum {
    TABLE_routes = 0,
    TABLE_tunnels = 1,
};

enum {
    ACTION_route = 0,
    ACTION_drop = 1,
    ACTION_tunnel = 2,
    ACTION_NoAction = 3,
};

enum {
    COUNTER_by_next = 0,
    COUNTER_by_route = 1,
};

enum {
    METER_rate = 0,
};

/* What the pointers of invalid headers lead to. Never written. */
static const uint8_t sp_zeroes[20];
#define sp_nothing ((uint8_t *)sp_zeroes)

struct record_routes {
    union {
        struct {
            uint32_t handle;
            uint16_t action;
        };
        struct {
            uint32_t handle_;
            uint16_t action_;
            uint16_t next_0;
        } route;
    };
};

struct record_tunnels {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t port_2;
            uint32_t src_0;
            uint32_t dst_1;
        } tunnel;
    };
};

const uint32_t sp_layout[] = {
    6, 2, 2, 1, 0, 0, 0,
    /* routes */ 4, 1, 0,4,0,
        sizeof(struct record_routes), __builtin_offsetof(struct record_routes, action), __builtin_offsetof(struct record_routes, handle), 2,
        0, 1, __builtin_offsetof(struct record_routes, route.next_0), 2,
        1, 0,
    /* tunnels */ 2, 1, 0,2,0,
        sizeof(struct record_tunnels), __builtin_offsetof(struct record_tunnels, action), 4294967295, 2,
        2, 3, __builtin_offsetof(struct record_tunnels, tunnel.src_0), 4, __builtin_offsetof(struct record_tunnels, tunnel.dst_1), 4, __builtin_offsetof(struct record_tunnels, tunnel.port_2), 2,
        3, 0,
};
const uint32_t sp_layout_len = sizeof sp_layout / sizeof sp_layout[0];

/* What a packet takes from stage to stage. */
struct sp_context {
    uint8_t *payload;
    uint64_t valid;
    struct {
        uint16_t meta_next;
        uint16_t standard_metadata_egress_spec;
    } v;
    uint8_t *h_ethernet;
    uint8_t *h_ipv4;
    uint8_t s[20];
} __attribute__((aligned(64)));

/* Where in `s` headers lie that did not come in the packet, or were moved out of it. */
enum {
    S_outer = 0,
};

#define SP_STAGES 5
#define SP_CLASSES 1
#define SP_WAITS 0
#define SP_KEY_STRIDE 8

/* ... run.h ... */

/* ... lookup.h ... */

static inline void sp_move_14(uint8_t *to, const uint8_t *from)
{
    sp_block8 b0; __builtin_memcpy(&b0, from + 0, 8);
    sp_block4 b8; __builtin_memcpy(&b8, from + 8, 4);
    sp_block2 b12; __builtin_memcpy(&b12, from + 12, 2);
    __builtin_memcpy(to + 0, &b0, 8);
    __builtin_memcpy(to + 8, &b8, 4);
    __builtin_memcpy(to + 12, &b12, 2);
}

static inline void sp_move_20(uint8_t *to, const uint8_t *from)
{
    sp_block16 b0; __builtin_memcpy(&b0, from + 0, 16);
    sp_block4 b16; __builtin_memcpy(&b16, from + 16, 4);
    __builtin_memcpy(to + 0, &b0, 16);
    __builtin_memcpy(to + 16, &b16, 4);
}

static __attribute__((noinline)) void stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_1 = 0;
    uint64_t to_2 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = 0;
        uint8_t *h_ethernet = sp_nothing;
        uint8_t *h_ipv4 = sp_nothing;
        uint32_t meta_next = 0;
        uint32_t standard_metadata_checksum_error = 0;
        uint32_t standard_metadata_parser_error = 0;
        c->h_ethernet = sp_nothing;
        c->h_ipv4 = sp_nothing;
        __builtin_memset(&c->v, 0, sizeof c->v);
        if (pk->length > SP_MAX_PACKET) {
            sp_drop(run, i, SP_RX_TOO_LONG, 0);
            goto done;
        }
        uint8_t *payload = pk->buffer + pk->start;
        const uint8_t *const end = payload + pk->length;
        if (end - payload < 14) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ethernet = payload; c->h_ethernet = h_ethernet;
        valid |= SP_BIT(V_ethernet);
        payload += 14;
        switch (sp_ld16(h_ethernet + 12)) {
            case 0x800u:
                goto state_1_parse_ipv4;
            default:
                goto parsed;
        }
        state_1_parse_ipv4:;
        if (end - payload < 20) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ipv4 = payload; c->h_ipv4 = h_ipv4;
        valid |= SP_BIT(V_ipv4);
        payload += 20;
        if (!((sp_ld8(h_ipv4) >> 4) == 4u)) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        parsed:;
        if (sp_bit(valid, V_ipv4)) {
            struct sp_sum sum1 = {0, 0, 0};
            sp_sum_bytes(&sum1, h_ipv4, 10);
            sp_sum_bytes(&sum1, h_ipv4 + 12, 8);
            if (((uint32_t)sp_csum16(&sum1) & 0xffff) != sp_ld16(h_ipv4 + 10)) {
                standard_metadata_checksum_error = 1u;
            }
        }
        if (sp_bit(valid, V_ipv4)) {
            to_1 |= bit;
            goto done;
        } else {
            meta_next = 1u; c->v.meta_next = meta_next;
            to_2 |= bit;
            goto done;
        }
        done:;
        c->payload = payload;
        c->valid = valid;
    }
    run->todo[1] |= to_1;
    run->todo[2] |= to_2;
}

static __attribute__((noinline)) void stage_1_routes(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_2 = 0;
    uint64_t to_4 = 0;
    const struct sp_counter counter_by_route = run->lane->counters[COUNTER_by_route];
    struct sp_table *const table = &run->lane->tables[TABLE_routes];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = sp_context(run, i);
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ipv4 = c->h_ipv4;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st32(key, sp_ld32(h_ipv4 + 16));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_routes *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_next = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t I_route_next = 0;
        switch (r->action) {
            case ACTION_route: {
                I_route_next = r->route.next_0;
                sp_count(run, counter_by_route, r->handle, 1, 0);
                meta_next = I_route_next; c->v.meta_next = meta_next;
                break;
            }
            case ACTION_drop: {
                sp_count(run, counter_by_route, r->handle, 1, 0);
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_4 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_2 |= bit;
        done:;
    }
    run->todo[2] |= to_2;
    run->todo[4] |= to_4;
}

static __attribute__((noinline)) void stage_2_join(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_3 = 0;
    uint64_t to_4 = 0;
    const struct sp_counter counter_by_next = run->lane->counters[COUNTER_by_next];
    const struct sp_meters meter_rate = run->lane->meters[METER_rate];
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint32_t meta_next = c->v.meta_next;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t I_colour = 0;
        sp_count(run, counter_by_next, meta_next, 1, pk->length);
        I_colour = (sp_meter(run, pk, meter_rate, meta_next, pk->length) & 0x3);
        if (I_colour == 2u) {
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_4 |= bit;
            goto done;
        }
        to_3 |= bit;
        done:;
    }
    run->todo[3] |= to_3;
    run->todo[4] |= to_4;
}

static __attribute__((noinline)) void stage_3_tunnels(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_tunnels];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = sp_context(run, i);
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_next = c->v.meta_next;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_next);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_tunnels *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_ipv4 = c->h_ipv4;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t I_tunnel_src = 0;
        uint32_t I_tunnel_dst = 0;
        uint32_t I_tunnel_port = 0;
        switch (r->action) {
            case ACTION_tunnel: {
                I_tunnel_src = r->tunnel.src_0;
                I_tunnel_dst = r->tunnel.dst_1;
                I_tunnel_port = r->tunnel.port_2;
                if (!sp_bit(valid, V_outer)) {
                    sp_zero(c->s + S_outer, 20);
                    valid |= SP_BIT(V_outer);
                }
                sp_st8(c->s + S_outer, (sp_ld8(c->s + S_outer) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->s + S_outer, (sp_ld8(c->s + S_outer) & 0xf0u) | (uint32_t)(5u));
                sp_st16(c->s + S_outer + 2, ((sp_ld16(h_ipv4 + 2) + 0x14u) & 0xffff));
                sp_st8(c->s + S_outer + 8, 0x40u);
                sp_st8(c->s + S_outer + 9, 4u);
                sp_st32(c->s + S_outer + 12, I_tunnel_src);
                sp_st32(c->s + S_outer + 16, I_tunnel_dst);
                standard_metadata_egress_spec = I_tunnel_port; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                break;
            }
            case ACTION_NoAction:
                break;
            default:
                __builtin_unreachable();
        }
        to_4 |= bit;
        c->valid = valid;
    }
    run->todo[4] |= to_4;
}

static __attribute__((noinline)) void stage_4_end_of_ingress(struct sp_run *const run, const uint64_t todo)
{
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = c->valid;
        uint8_t *h_ethernet = c->h_ethernet;
        uint8_t *h_ipv4 = c->h_ipv4;
        uint32_t standard_metadata_egress_spec = c->v.standard_metadata_egress_spec;
        uint32_t standard_metadata_egress_port = 0;
        uint8_t *const payload = c->payload;
        const uint8_t *const end = pk->buffer + pk->start + pk->length;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0, 0);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0, 0);
            goto done;
        }
        if (sp_bit(valid, V_outer)) {
            struct sp_sum sum2 = {0, 0, 0};
            sp_sum_bytes(&sum2, c->s + S_outer, 10);
            sp_sum_bytes(&sum2, c->s + S_outer + 12, 8);
            sp_st16(c->s + S_outer + 10, ((uint32_t)sp_csum16(&sum2) & 0xffff));
        }
        /* deparser */
        uint8_t *first = payload;
        uint32_t moved = 0;
        if (sp_bit(valid, V_ipv4)) {
            first -= 20;
            moved |= sp_move(h_ipv4, first);
        }
        if (sp_bit(valid, V_outer)) {
            first -= 20;
        }
        if (sp_bit(valid, V_ethernet)) {
            first -= 14;
            moved |= sp_move(h_ethernet, first);
        }
        if (first < pk->buffer || end - first > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, 0);
            goto done;
        }
        if (!(moved & SP_TO_FRONT)) {
            uint8_t *at = payload;
            if (sp_bit(valid, V_ipv4)) {
                at -= 20;
                if (at != h_ipv4) sp_move_20(at, h_ipv4);
            }
            if (sp_bit(valid, V_outer)) {
                at -= 20;
                sp_move_20(at, c->s + S_outer);
            }
            if (sp_bit(valid, V_ethernet)) {
                at -= 14;
                if (at != h_ethernet) sp_move_14(at, h_ethernet);
            }
        } else if (!(moved & SP_TO_BACK)) {
            uint8_t *at = first;
            if (sp_bit(valid, V_ethernet)) {
                if (at != h_ethernet) sp_move_14(at, h_ethernet);
                at += 14;
            }
            if (sp_bit(valid, V_outer)) {
                sp_move_20(at, c->s + S_outer);
                at += 20;
            }
            if (sp_bit(valid, V_ipv4)) {
                if (at != h_ipv4) sp_move_20(at, h_ipv4);
                at += 20;
            }
        } else {
            uint8_t gathered[54 + 1], *at = gathered;
            if (sp_bit(valid, V_ethernet)) {
                sp_copy(at, h_ethernet, 14);
                at += 14;
            }
            if (sp_bit(valid, V_outer)) {
                sp_copy(at, c->s + S_outer, 20);
                at += 20;
            }
            if (sp_bit(valid, V_ipv4)) {
                sp_copy(at, h_ipv4, 20);
                at += 20;
            }
            sp_copy(first, gathered, at - gathered);
        }
        pk->start = first - pk->buffer;
        pk->length = end - first;
        sp_pass(run, i, standard_metadata_egress_port, 0, 0);
        done:;
    }
}

static void sp_stages(struct sp_run *const run, const uint64_t all)
{
    stage_0_parser(run, all);
    if (run->todo[1]) stage_1_routes(run, run->todo[1]);
    if (run->todo[2]) stage_2_join(run, run->todo[2]);
    if (run->todo[3]) stage_3_tunnels(run, run->todo[3]);
    if (run->todo[4]) stage_4_end_of_ingress(run, run->todo[4]);
}

#define SP_SUB_BURST 64
/* ... process.h ... */

