/* classes.p4: generated; changes are lost. */

/* ... runtime.h ... */

/* ... meter.h ... */

enum {
    V_ethernet = 0,
    V_made = 1,
    V_tag = 2,
};

enum {
    TABLE_rules = 0,
    TABLE_stations = 1,
};

enum {
    ACTION_permit = 0,
    ACTION_drop = 1,
    ACTION_send = 2,
};

enum {
    METER_rate = 0,
};

/* What the pointers of invalid headers lead to. Never written. */
static const uint8_t sp_zeroes[16];
#define sp_nothing ((uint8_t *)sp_zeroes)

struct record_rules {
    union {
        struct {
            uint16_t action;
        };
    };
};

struct record_stations {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t port_0;
            uint16_t id_1;
        } send;
    };
};

const uint32_t sp_layout[] = {
    5, 2, 0, 1, 0, 0, 0,
    /* rules */ 8, 2, 0,2,0, 2,6,0,
        sizeof(struct record_rules), __builtin_offsetof(struct record_rules, action), 4294967295, 2,
        0, 0,
        1, 0,
    /* stations */ 8, 2, 0,6,0, 6,2,0,
        sizeof(struct record_stations), __builtin_offsetof(struct record_stations, action), 4294967295, 2,
        2, 2, __builtin_offsetof(struct record_stations, send.port_0), 2, __builtin_offsetof(struct record_stations, send.id_1), 2,
        1, 0,
};
const uint32_t sp_layout_len = sizeof sp_layout / sizeof sp_layout[0];

/* What a packet takes from stage to stage. */
struct sp_context {
    uint8_t *payload;
    uint64_t valid;
    struct {
        uint16_t meta_id;
        uint16_t standard_metadata_egress_spec;
    } v;
    uint8_t *h_ethernet;
    uint8_t *h_tag;
    uint8_t s[4];
} __attribute__((aligned(64)));

/* Where in `s` headers lie that did not come in the packet, or were moved out of it. */
enum {
    S_made = 0,
};

#define SP_STAGES 4
#define SP_CLASSES 1
#define SP_WAITS 0
#define SP_KEY_STRIDE 8

/* ... run.h ... */

static inline void sp_move_4(uint8_t *to, const uint8_t *from)
{
    sp_block4 b0; __builtin_memcpy(&b0, from + 0, 4);
    __builtin_memcpy(to + 0, &b0, 4);
}

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
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = 0;
        uint8_t *h_ethernet = sp_nothing;
        uint8_t *h_tag = sp_nothing;
        uint32_t meta_id = 0;
        uint32_t standard_metadata_parser_error = 0;
        c->h_ethernet = sp_nothing;
        c->h_tag = sp_nothing;
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
            case 0x8100u:
                goto state_1_parse_tag;
            case 0x9100u:
                goto state_2_parse_other;
            default:
                goto parsed;
        }
        state_2_parse_other:;
        state_1_parse_tag:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_tag = payload; c->h_tag = h_tag;
        valid |= SP_BIT(V_tag);
        payload += 4;
        meta_id = (sp_ld16(h_tag) & 0xfff); c->v.meta_id = meta_id;
        parsed:;
        to_1 |= bit;
        done:;
        c->payload = payload;
        c->valid = valid;
    }
    run->todo[1] |= to_1;
}

static __attribute__((noinline)) void stage_1_rules(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_2 = 0;
    uint64_t to_3 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_rules];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ethernet = c->h_ethernet;
            uint32_t meta_id = c->v.meta_id;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_id);
            sp_st48(key + 2, (sp_ld64(h_ethernet + 6) >> 16));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_rules *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_id = c->v.meta_id;
        uint32_t meta_colour = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        switch (r->action) {
            case ACTION_drop: {
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_3 |= bit;
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        meta_colour = (sp_meter(run, pk, METER_rate, meta_id, pk->length) & 0x3);
        if (meta_colour == 2u) {
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_3 |= bit;
            goto done;
        }
        to_2 |= bit;
        done:;
    }
    run->todo[2] |= to_2;
    run->todo[3] |= to_3;
}

static __attribute__((noinline)) void stage_2_stations(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_3 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_stations];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ethernet = c->h_ethernet;
            uint32_t meta_id = c->v.meta_id;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st48(key, (sp_ld64(h_ethernet) >> 16));
            sp_st16(key + 6, meta_id);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_stations *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_ethernet = c->h_ethernet;
        uint8_t *h_tag = c->h_tag;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t I_send_port = 0;
        uint32_t I_send_id = 0;
        switch (r->action) {
            case ACTION_send: {
                I_send_port = r->send.port_0;
                I_send_id = r->send.id_1;
                standard_metadata_egress_spec = I_send_port; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                h_tag = sp_nothing; c->h_tag = h_tag;
                valid &= ~SP_BIT(V_tag);
                if (I_send_id != 0u) {
                    if (!sp_bit(valid, V_made)) {
                        sp_zero(c->s + S_made, 4);
                        valid |= SP_BIT(V_made);
                    }
                    sp_st8(c->s + S_made, (sp_ld8(c->s + S_made) & 0xfu) | ((uint32_t)(3u) << 4));
                    sp_st16(c->s + S_made, (sp_ld16(c->s + S_made) & 0xf000u) | (uint32_t)(I_send_id));
                    sp_st16(c->s + S_made + 2, sp_ld16(h_ethernet + 12));
                    if (sp_bit(valid, V_ethernet)) sp_st16(h_ethernet + 12, 0x8100u);
                }
                break;
            }
            case ACTION_drop: {
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_3 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_3 |= bit;
        done:;
        c->valid = valid;
    }
    run->todo[3] |= to_3;
}

static __attribute__((noinline)) void stage_3_end_of_ingress(struct sp_run *const run, const uint64_t todo)
{
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = c->valid;
        uint8_t *h_ethernet = c->h_ethernet;
        uint8_t *h_tag = c->h_tag;
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
        /* deparser */
        uint8_t *first = payload;
        uint32_t moved = 0;
        if (sp_bit(valid, V_tag)) {
            first -= 4;
            moved |= sp_move(h_tag, first);
        }
        if (sp_bit(valid, V_made)) {
            first -= 4;
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
            if (sp_bit(valid, V_tag)) {
                at -= 4;
                if (at != h_tag) sp_move_4(at, h_tag);
            }
            if (sp_bit(valid, V_made)) {
                at -= 4;
                sp_move_4(at, c->s + S_made);
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
            if (sp_bit(valid, V_made)) {
                sp_move_4(at, c->s + S_made);
                at += 4;
            }
            if (sp_bit(valid, V_tag)) {
                if (at != h_tag) sp_move_4(at, h_tag);
                at += 4;
            }
        } else {
            uint8_t gathered[22 + 1], *at = gathered;
            if (sp_bit(valid, V_ethernet)) {
                sp_copy(at, h_ethernet, 14);
                at += 14;
            }
            if (sp_bit(valid, V_made)) {
                sp_copy(at, c->s + S_made, 4);
                at += 4;
            }
            if (sp_bit(valid, V_tag)) {
                sp_copy(at, h_tag, 4);
                at += 4;
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
    if (run->todo[1]) stage_1_rules(run, run->todo[1]);
    if (run->todo[2]) stage_2_stations(run, run->todo[2]);
    if (run->todo[3]) stage_3_end_of_ingress(run, run->todo[3]);
}

#define SP_SUB_BURST 64
/* ... process.h ... */

