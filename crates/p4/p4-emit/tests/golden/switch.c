/* switch.p4: generated; changes are lost. */

/* ... runtime.h ... */

/* ... meter.h ... */

enum {
    V_ethernet = 0,
};

enum {
    TABLE_stations = 0,
};

enum {
    ACTION_forward = 0,
    ACTION_drop = 1,
};

/* What the pointers of invalid headers lead to. Never written. */
static const uint8_t sp_zeroes[16];
#define sp_nothing ((uint8_t *)sp_zeroes)

struct record_stations {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t port_0;
        } forward;
    };
};

const uint32_t sp_layout[] = {
    6, 1, 0, 0, 0, 0, 0,
    /* stations */ 6, 1, 0,6,0,
        sizeof(struct record_stations), __builtin_offsetof(struct record_stations, action), 4294967295, 2,
        0, 1, __builtin_offsetof(struct record_stations, forward.port_0), 2,
        1, 0,
};
const uint32_t sp_layout_len = sizeof sp_layout / sizeof sp_layout[0];

/* What a packet takes from stage to stage. */
struct sp_context {
    uint8_t *payload;
    uint64_t valid;
    uint8_t *h_ethernet;
} __attribute__((aligned(64)));

#define SP_STAGES 2
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

static __attribute__((noinline)) void stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_1 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = 0;
        uint8_t *h_ethernet = sp_nothing;
        uint32_t standard_metadata_parser_error = 0;
        c->h_ethernet = sp_nothing;
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
        parsed:;
        to_1 |= bit;
        done:;
        c->payload = payload;
        c->valid = valid;
    }
    run->todo[1] |= to_1;
}

static __attribute__((noinline)) void stage_1_stations(struct sp_run *const run, const uint64_t todo)
{
    struct sp_table *const table = &run->lane->tables[TABLE_stations];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = sp_context(run, i);
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ethernet = c->h_ethernet;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st48(key, (sp_ld64(h_ethernet) >> 16));
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
        const struct record_stations *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_ethernet = c->h_ethernet;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_egress_port = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t I_forward_port = 0;
        uint8_t *const payload = c->payload;
        const uint8_t *const end = pk->buffer + pk->start + pk->length;
        switch (r->action) {
            case ACTION_forward: {
                I_forward_port = r->forward.port_0;
                standard_metadata_egress_spec = I_forward_port;
                break;
            }
            case ACTION_drop: {
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                break;
            }
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
        } else {
            uint8_t gathered[14 + 1], *at = gathered;
            if (sp_bit(valid, V_ethernet)) {
                sp_copy(at, h_ethernet, 14);
                at += 14;
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
    if (run->todo[1]) stage_1_stations(run, run->todo[1]);
}

#define SP_SUB_BURST 64
/* ... process.h ... */

