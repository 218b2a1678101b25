/* labels.p4: generated; changes are lost. */

/* ... runtime.h ... */

/* ... meter.h ... */

enum {
    V_mpls_0 = 0,
    V_mpls_1 = 1,
    V_mpls_2 = 2,
};

enum {
    TABLE_labels = 0,
};

enum {
    ACTION_pop = 0,
    ACTION_NoAction = 1,
};

/* What the pointers of invalid headers lead to. Never written. */
static const uint8_t sp_zeroes[16];
#define sp_nothing ((uint8_t *)sp_zeroes)

struct record_labels {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t port_0;
        } pop;
    };
};

const uint32_t sp_layout[] = {
    6, 1, 0, 0, 0, 0, 0,
    /* labels */ 4, 2, 0,3,0, 3,1,0,
        sizeof(struct record_labels), __builtin_offsetof(struct record_labels, action), 4294967295, 2,
        0, 1, __builtin_offsetof(struct record_labels, pop.port_0), 2,
        1, 0,
};
const uint32_t sp_layout_len = sizeof sp_layout / sizeof sp_layout[0];

/* What a packet takes from stage to stage. */
struct sp_context {
    uint8_t *payload;
    uint64_t valid;
    struct {
        uint16_t standard_metadata_egress_spec;
    } v;
    uint8_t *h_mpls_0;
    uint8_t *h_mpls_1;
    uint8_t *h_mpls_2;
    uint32_t next_mpls;
    uint8_t s[12];
} __attribute__((aligned(64)));

/* Where in `s` headers lie that did not come in the packet, or were moved out of it. */
enum {
    S_mpls_0 = 0,
    S_mpls_1 = 4,
    S_mpls_2 = 8,
};

#define SP_STAGES 2
#define SP_CLASSES 1
#define SP_WAITS 0
#define SP_KEY_STRIDE 8

/* ... run.h ... */

/* ... lookup.h ... */

static inline void sp_move_4(uint8_t *to, const uint8_t *from)
{
    sp_block4 b0; __builtin_memcpy(&b0, from + 0, 4);
    __builtin_memcpy(to + 0, &b0, 4);
}

static __attribute__((noinline)) void stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_1 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = 0;
        uint8_t *h_mpls_0 = sp_nothing;
        uint8_t *h_mpls_1 = sp_nothing;
        uint8_t *h_mpls_2 = sp_nothing;
        uint32_t next_mpls = 0;
        uint32_t standard_metadata_parser_error = 0;
        c->h_mpls_0 = sp_nothing;
        c->h_mpls_1 = sp_nothing;
        c->h_mpls_2 = sp_nothing;
        c->next_mpls = 0;
        __builtin_memset(&c->v, 0, sizeof c->v);
        if (pk->length > SP_MAX_PACKET) {
            sp_drop(run, i, SP_RX_TOO_LONG, 0);
            goto done;
        }
        uint8_t *payload = pk->buffer + pk->start;
        const uint8_t *const end = payload + pk->length;
        uint32_t steps = 0;
        state_0_start:;
        if (++steps > SP_STEP_LIMIT) {
            standard_metadata_parser_error = 5u;
            goto parsed;
        }
        if (next_mpls >= 3) {
            standard_metadata_parser_error = 3u;
            goto parsed;
        }
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        switch (next_mpls) {
            case 0: {
                h_mpls_0 = payload; c->h_mpls_0 = h_mpls_0;
                valid |= SP_BIT(V_mpls_0);
                break;
            }
            case 1: {
                h_mpls_1 = payload; c->h_mpls_1 = h_mpls_1;
                valid |= SP_BIT(V_mpls_1);
                break;
            }
            case 2: {
                h_mpls_2 = payload; c->h_mpls_2 = h_mpls_2;
                valid |= SP_BIT(V_mpls_2);
                break;
            }
        }
        next_mpls = next_mpls + 1; c->next_mpls = next_mpls;
        payload += 4;
        switch ((next_mpls - 1) == 0 ? (sp_ld8(h_mpls_0 + 2) & 0x1) : ((next_mpls - 1) == 1 ? (sp_ld8(h_mpls_1 + 2) & 0x1) : ((next_mpls - 1) == 2 ? (sp_ld8(h_mpls_2 + 2) & 0x1) : 0))) {
            case 0u:
                goto state_0_start;
            default:
                goto parsed;
        }
        parsed:;
        to_1 |= bit;
        done:;
        c->payload = payload;
        c->valid = valid;
    }
    run->todo[1] |= to_1;
}

static __attribute__((noinline)) void stage_1_labels(struct sp_run *const run, const uint64_t todo)
{
    struct sp_table *const table = &run->lane->tables[TABLE_labels];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = sp_context(run, i);
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_mpls_0 = c->h_mpls_0;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st24(key, (sp_ld32(h_mpls_0) >> 12));
            sp_st8(key + 3, sp_ld8(h_mpls_0 + 3));
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
        const struct record_labels *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_mpls_0 = c->h_mpls_0;
        uint8_t *h_mpls_1 = c->h_mpls_1;
        uint8_t *h_mpls_2 = c->h_mpls_2;
        uint32_t next_mpls = c->next_mpls;
        uint32_t standard_metadata_egress_spec = c->v.standard_metadata_egress_spec;
        uint32_t standard_metadata_egress_port = 0;
        uint32_t I_pop_port = 0;
        uint8_t *const payload = c->payload;
        const uint8_t *const end = pk->buffer + pk->start + pk->length;
        switch (r->action) {
            case ACTION_pop: {
                I_pop_port = r->pop.port_0;
                if (sp_bit(valid, V_mpls_1)) {
                    sp_copy(c->s + S_mpls_0, h_mpls_1, 4);
                    h_mpls_0 = c->s + S_mpls_0; c->h_mpls_0 = h_mpls_0;
                    valid |= SP_BIT(V_mpls_0);
                } else {
                    h_mpls_0 = sp_nothing; c->h_mpls_0 = h_mpls_0;
                    valid &= ~SP_BIT(V_mpls_0);
                }
                if (sp_bit(valid, V_mpls_2)) {
                    sp_copy(c->s + S_mpls_1, h_mpls_2, 4);
                    h_mpls_1 = c->s + S_mpls_1; c->h_mpls_1 = h_mpls_1;
                    valid |= SP_BIT(V_mpls_1);
                } else {
                    h_mpls_1 = sp_nothing; c->h_mpls_1 = h_mpls_1;
                    valid &= ~SP_BIT(V_mpls_1);
                }
                h_mpls_2 = sp_nothing; c->h_mpls_2 = h_mpls_2;
                valid &= ~SP_BIT(V_mpls_2);
                next_mpls = next_mpls > 1 ? next_mpls - 1 : 0; c->next_mpls = next_mpls;
                standard_metadata_egress_spec = I_pop_port; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                break;
            }
            case ACTION_NoAction:
                break;
            default:
                __builtin_unreachable();
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0, 0);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0, 0);
            goto done;
        }
        /* deparser */
        uint8_t *first = payload;
        uint32_t moved = 0;
        if (valid & (SP_BIT(V_mpls_0) | SP_BIT(V_mpls_1) | SP_BIT(V_mpls_2))) {
            if (sp_bit(valid, V_mpls_2)) {
                first -= 4;
                if (h_mpls_2 != c->s + S_mpls_2) moved |= sp_move(h_mpls_2, first);
            }
            if (sp_bit(valid, V_mpls_1)) {
                first -= 4;
                if (h_mpls_1 != c->s + S_mpls_1) moved |= sp_move(h_mpls_1, first);
            }
            if (sp_bit(valid, V_mpls_0)) {
                first -= 4;
                if (h_mpls_0 != c->s + S_mpls_0) moved |= sp_move(h_mpls_0, first);
            }
        }
        if (first < pk->buffer || end - first > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, 0);
            goto done;
        }
        if (!(moved & SP_TO_FRONT)) {
            uint8_t *at = payload;
            if (valid & (SP_BIT(V_mpls_0) | SP_BIT(V_mpls_1) | SP_BIT(V_mpls_2))) {
                if (sp_bit(valid, V_mpls_2)) {
                    at -= 4;
                    if (at != h_mpls_2) sp_move_4(at, h_mpls_2);
                }
                if (sp_bit(valid, V_mpls_1)) {
                    at -= 4;
                    if (at != h_mpls_1) sp_move_4(at, h_mpls_1);
                }
                if (sp_bit(valid, V_mpls_0)) {
                    at -= 4;
                    if (at != h_mpls_0) sp_move_4(at, h_mpls_0);
                }
            }
        } else if (!(moved & SP_TO_BACK)) {
            uint8_t *at = first;
            if (valid & (SP_BIT(V_mpls_0) | SP_BIT(V_mpls_1) | SP_BIT(V_mpls_2))) {
                if (sp_bit(valid, V_mpls_0)) {
                    if (at != h_mpls_0) sp_move_4(at, h_mpls_0);
                    at += 4;
                }
                if (sp_bit(valid, V_mpls_1)) {
                    if (at != h_mpls_1) sp_move_4(at, h_mpls_1);
                    at += 4;
                }
                if (sp_bit(valid, V_mpls_2)) {
                    if (at != h_mpls_2) sp_move_4(at, h_mpls_2);
                    at += 4;
                }
            }
        } else {
            uint8_t gathered[12 + 1], *at = gathered;
            if (valid & (SP_BIT(V_mpls_0) | SP_BIT(V_mpls_1) | SP_BIT(V_mpls_2))) {
                if (sp_bit(valid, V_mpls_0)) {
                    sp_copy(at, h_mpls_0, 4);
                    at += 4;
                }
                if (sp_bit(valid, V_mpls_1)) {
                    sp_copy(at, h_mpls_1, 4);
                    at += 4;
                }
                if (sp_bit(valid, V_mpls_2)) {
                    sp_copy(at, h_mpls_2, 4);
                    at += 4;
                }
            }
            sp_copy(first, gathered, at - gathered);
        }
        pk->start = first - pk->buffer;
        pk->length = end - first;
        sp_pass(run, i, standard_metadata_egress_port, 0, 0);
        done:;
        c->valid = valid;
    }
}

static void sp_stages(struct sp_run *const run, const uint64_t all)
{
    stage_0_parser(run, all);
    if (run->todo[1]) stage_1_labels(run, run->todo[1]);
}

#define SP_SUB_BURST 64
/* ... process.h ... */

