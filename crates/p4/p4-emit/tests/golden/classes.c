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
    6, 2, 0, 1, 0, 0, 0,
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

#define SP_STAGES 11
#define SP_CLASSES 3
#define SP_WAITS 7
#define SP_KEY_STRIDE 8

/* ... run.h ... */

/* ... lookup.h ... */

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
        struct sp_context *const c = sp_context(run, i);
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
    const struct sp_meters meter_rate = run->lane->meters[METER_rate];
    struct sp_table *const table = &run->lane->tables[TABLE_rules];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = sp_context(run, i);
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
        struct sp_context *const c = sp_context(run, i);
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
        meta_colour = (sp_meter(run, pk, meter_rate, meta_id, pk->length) & 0x3);
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
            struct sp_context *const c = sp_context(run, i);
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
        struct sp_context *const c = sp_context(run, i);
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
        struct sp_context *const c = sp_context(run, i);
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

static void class_1_stage_1_rules(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_1_rules(struct sp_run *const run, const uint64_t todo);

/* The class of a packet; 0: none. */
static inline uint32_t sp_class(const struct sp_packet *const pk)
{
    const uint8_t *const p = pk->buffer + pk->start;
    if (pk->length > 9216) return 0;
    if (pk->length < 14) return 0;
    if ((sp_ld16(p + 12) == 0x8100u)) {
        if (pk->length < 18) return 0;
        return 1;
    }
    if ((sp_ld16(p + 12) == 0x9100u)) {
        return 0;
    }
    return 2;
}

static __attribute__((noinline)) void class_1_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_5 = 0;
    uint64_t to_6 = 0;
    struct sp_wait *const wait_5 = &run->wait[1];
    uint32_t n_5 = wait_5->keys;
    uint32_t begin_5 = n_5;
    uint64_t word_5_0 = 0;
    struct sp_table *const table_rules = &run->lane->tables[TABLE_rules];
    const uint32_t skip_rules = !table_rules->lookup && ((const struct record_rules *)table_rules->miss)->action == ACTION_permit;
    uint64_t skipped_rules = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        if (skip_rules) {
            skipped_rules++;
            to_6 |= bit;
            goto done;
        }
        const uint64_t x1 = (uint64_t)(sp_ld16(p + 14) & 0xfff) << 48 | (uint64_t)(sp_ld64(p + 6) >> 16);
        n_5 += (n_5 == begin_5) | (x1 != word_5_0);
        wait_5->key_of[i] = n_5 - 1;
        sp_st64(wait_5->bytes + (n_5 - 1) * 8 + 0, x1);
        word_5_0 = x1;
        to_5 |= bit;
        done:;
    }
    run->todo[5] |= to_5;
    run->todo[6] |= to_6;
    wait_5->keys = n_5;
    sp_looked_up(table_rules, 0, skipped_rules);
}


static __attribute__((noinline)) void class_1_stage_2_join(struct sp_run *const run, const uint64_t todo)
{
    struct sp_table *const table_stations = &run->lane->tables[TABLE_stations];
    const struct record_stations *near_stations = 0;
    uint64_t key_stations_0 = 0;
    uint64_t found_stations = 0;
    uint32_t asked_stations = 0;
    const struct sp_meters meter_rate = run->lane->meters[METER_rate];
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        uint64_t valid = 0x5;
        uint32_t meta_colour = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t I_send_port = 0u;
        uint32_t I_send_id = 0u;
        uint32_t f_made_0_kind = 0;
        uint32_t f_made_1_id = 0;
        uint32_t f_made_2_ethertype = 0;
        meta_colour = (sp_meter(run, pk, meter_rate, (sp_ld16(p + 14) & 0xfff), pk->length) & 0x3);
        if (meta_colour == 2u) {
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0, 0);
            goto done;
        }
        {
            const uint64_t x2 = (uint64_t)(sp_ld64(p) >> 16) << 16 | (uint64_t)(sp_ld16(p + 14) & 0xfff);
            if (!near_stations | (x2 != key_stations_0)) {
                key_stations_0 = x2;
                near_stations = sp_near(run, TABLE_stations, (const uint64_t[1]){x2}, 8);
                asked_stations++;
            }
            const struct record_stations *const r = near_stations;
            const uint32_t hit = r != table_stations->miss;
            found_stations += 1 + ((uint64_t)hit << 32);
            switch (r->action) {
                case ACTION_send: {
                    I_send_port = r->send.port_0;
                    I_send_id = r->send.id_1;
                    standard_metadata_egress_spec = I_send_port;
                    valid &= ~SP_BIT(V_tag);
                    if (I_send_id != 0u) {
                        f_made_0_kind = f_made_1_id = f_made_2_ethertype = 0;
                        valid |= SP_BIT(V_made);
                        f_made_0_kind = 3u;
                        f_made_1_id = I_send_id;
                        f_made_2_ethertype = 0x8100u;
                        sp_st16(p + 12, 0x8100u);
                    }
                    break;
                }
                case ACTION_drop: {
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0, 0);
                    goto done;
                }
                default:
                    __builtin_unreachable();
            }
            goto node_2;
        }
        node_2:;
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
        if (valid == 0x1ull) {
            sp_block4 b3_0_0; __builtin_memcpy(&b3_0_0, p, 4);
            sp_block2 b3_1_0; __builtin_memcpy(&b3_1_0, p + 4, 2);
            sp_block4 b3_2_0; __builtin_memcpy(&b3_2_0, p + 6, 4);
            sp_block2 b3_3_0; __builtin_memcpy(&b3_3_0, p + 10, 2);
            sp_block2 b3_4_0; __builtin_memcpy(&b3_4_0, p + 12, 2);
            __builtin_memcpy(p + 4, &b3_0_0, 4);
            __builtin_memcpy(p + 8, &b3_1_0, 2);
            __builtin_memcpy(p + 10, &b3_2_0, 4);
            __builtin_memcpy(p + 14, &b3_3_0, 2);
            __builtin_memcpy(p + 16, &b3_4_0, 2);
            pk->start += 4;
            pk->length -= 4;
            sp_pass(run, i, standard_metadata_egress_port, 0, 0);
            goto done;
        }
        sp_st32(p + 14, (uint32_t)((uint64_t)f_made_0_kind << 28 | (uint64_t)f_made_1_id << 16 | (uint64_t)f_made_2_ethertype));
        sp_pass(run, i, standard_metadata_egress_port, 0, 0);
        done:;
    }
    sp_count_near(run, table_stations, (uint32_t)found_stations, found_stations >> 32, asked_stations);
}

static __attribute__((noinline)) void class_2_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_9 = 0;
    uint64_t to_10 = 0;
    struct sp_wait *const wait_9 = &run->wait[5];
    uint32_t n_9 = wait_9->keys;
    uint32_t begin_9 = n_9;
    uint64_t word_9_0 = 0;
    struct sp_table *const table_rules = &run->lane->tables[TABLE_rules];
    const uint32_t skip_rules = !table_rules->lookup && ((const struct record_rules *)table_rules->miss)->action == ACTION_permit;
    uint64_t skipped_rules = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        if (skip_rules) {
            skipped_rules++;
            to_10 |= bit;
            goto done;
        }
        const uint64_t x1 = (uint64_t)0u << 48 | (uint64_t)(sp_ld64(p + 6) >> 16);
        n_9 += (n_9 == begin_9) | (x1 != word_9_0);
        wait_9->key_of[i] = n_9 - 1;
        sp_st64(wait_9->bytes + (n_9 - 1) * 8 + 0, x1);
        word_9_0 = x1;
        to_9 |= bit;
        done:;
    }
    run->todo[9] |= to_9;
    run->todo[10] |= to_10;
    wait_9->keys = n_9;
    sp_looked_up(table_rules, 0, skipped_rules);
}


static __attribute__((noinline)) void class_2_stage_2_join(struct sp_run *const run, const uint64_t todo)
{
    struct sp_table *const table_stations = &run->lane->tables[TABLE_stations];
    const struct record_stations *near_stations = 0;
    uint64_t key_stations_0 = 0;
    uint64_t found_stations = 0;
    uint32_t asked_stations = 0;
    const struct sp_meters meter_rate = run->lane->meters[METER_rate];
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        uint64_t valid = 0x1;
        uint32_t meta_colour = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t I_send_port = 0u;
        uint32_t I_send_id = 0u;
        uint32_t f_made_0_kind = 0;
        uint32_t f_made_1_id = 0;
        uint32_t f_made_2_ethertype = 0;
        meta_colour = (sp_meter(run, pk, meter_rate, 0u, pk->length) & 0x3);
        if (meta_colour == 2u) {
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0, 0);
            goto done;
        }
        {
            const uint64_t x2 = (uint64_t)(sp_ld64(p) >> 16) << 16 | (uint64_t)0u;
            if (!near_stations | (x2 != key_stations_0)) {
                key_stations_0 = x2;
                near_stations = sp_near(run, TABLE_stations, (const uint64_t[1]){x2}, 8);
                asked_stations++;
            }
            const struct record_stations *const r = near_stations;
            const uint32_t hit = r != table_stations->miss;
            found_stations += 1 + ((uint64_t)hit << 32);
            switch (r->action) {
                case ACTION_send: {
                    I_send_port = r->send.port_0;
                    I_send_id = r->send.id_1;
                    standard_metadata_egress_spec = I_send_port;
                    if (I_send_id != 0u) {
                        f_made_0_kind = f_made_1_id = f_made_2_ethertype = 0;
                        valid |= SP_BIT(V_made);
                        f_made_0_kind = 3u;
                        f_made_1_id = I_send_id;
                        f_made_2_ethertype = sp_ld16(p + 12);
                        sp_st16(p + 12, 0x8100u);
                    }
                    break;
                }
                case ACTION_drop: {
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0, 0);
                    goto done;
                }
                default:
                    __builtin_unreachable();
            }
            goto node_2;
        }
        node_2:;
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
        if (valid == 0x1ull) {
            sp_pass(run, i, standard_metadata_egress_port, 0, 0);
            goto done;
        }
        if (pk->start < 4 || pk->length + 4 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, 0);
            goto done;
        }
        sp_block4 b4_0_0; __builtin_memcpy(&b4_0_0, p, 4);
        sp_block2 b4_1_0; __builtin_memcpy(&b4_1_0, p + 4, 2);
        sp_block4 b4_2_0; __builtin_memcpy(&b4_2_0, p + 6, 4);
        sp_block2 b4_3_0; __builtin_memcpy(&b4_3_0, p + 10, 2);
        sp_block2 b4_4_0; __builtin_memcpy(&b4_4_0, p + 12, 2);
        __builtin_memcpy(p - 4, &b4_0_0, 4);
        __builtin_memcpy(p + 0, &b4_1_0, 2);
        __builtin_memcpy(p + 2, &b4_2_0, 4);
        __builtin_memcpy(p + 6, &b4_3_0, 2);
        __builtin_memcpy(p + 8, &b4_4_0, 2);
        sp_st32(p + 10, (uint32_t)((uint64_t)f_made_0_kind << 28 | (uint64_t)f_made_1_id << 16 | (uint64_t)f_made_2_ethertype));
        pk->start -= 4;
        pk->length += 4;
        sp_pass(run, i, standard_metadata_egress_port, 0, 0);
        done:;
    }
    sp_count_near(run, table_stations, (uint32_t)found_stations, found_stations >> 32, asked_stations);
}

struct alike_0 {
    int of_0;
    int of_1;
    uint8_t none;
};

static __attribute__((noinline)) void alike_0_1_rules(struct sp_run *const run, const uint64_t todo, const struct alike_0 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    uint64_t to_l0 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_rules];
    const struct sp_wait *const wait = &run->wait[of_0];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = sp_context(run, i);
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_rules *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        switch (r->action) {
            case ACTION_drop: {
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0, 0);
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_1] |= to_l0;
}

static void class_1_stage_1_rules(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_0 of = {1, 6, 0};
    alike_0_1_rules(run, todo, &of);
}

static void class_2_stage_1_rules(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_0 of = {5, 10, 0};
    alike_0_1_rules(run, todo, &of);
}

static void sp_stages(struct sp_run *const run, const uint64_t all)
{
    uint64_t class[SP_CLASSES] = {0};
    const struct sp_packet *const packets = run->packets;
    uint8_t of[64];
    const uint32_t n = __builtin_popcountll(all);
    for (uint32_t i = 0; i < n; i++) of[i] = sp_class(&packets[i]);
    for (uint32_t i = 0, first; (first = i) < n;) {
        do i++; while (i < n && of[i] == of[first]);
        class[of[first]] |= ~0ull >> (64 - (i - first)) << first;
    }
    for (uint32_t k = 0; k < SP_CLASSES; k++) {
        __atomic_store_n(&run->of_class[k], run->of_class[k] + __builtin_popcountll(class[k]), __ATOMIC_RELAXED);
    }
    run->todo[0] = class[0];
    run->todo[4] = class[1];
    run->todo[8] = class[2];
    if (run->todo[0]) stage_0_parser(run, run->todo[0]);
    if (class[1]) {
        if (run->todo[4]) class_1_stage_0_parser(run, run->todo[4]);
        if (run->todo[5]) {
            sp_look_up(run, TABLE_rules, &run->wait[1], 8, run->todo[5]);
            class_1_stage_1_rules(run, run->todo[5]);
        }
    }
    if (class[2]) {
        if (run->todo[8]) class_2_stage_0_parser(run, run->todo[8]);
        if (run->todo[9]) {
            sp_look_up(run, TABLE_rules, &run->wait[5], 8, run->todo[9]);
            class_2_stage_1_rules(run, run->todo[9]);
        }
    }
    /* In the order of packets. */
    uint64_t left = 0;
    left |= run->todo[1];
    left |= run->todo[6];
    left |= run->todo[10];
    while (left) {
        uint64_t turn = 0;
        turn = sp_turn(left, run->todo[1]);
        if (turn) stage_1_rules(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[6]);
        if (turn) class_1_stage_2_join(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[10]);
        if (turn) class_2_stage_2_join(run, turn);
        left &= ~turn;
    }
    if (run->todo[2]) stage_2_stations(run, run->todo[2]);
    if (run->todo[3]) stage_3_end_of_ingress(run, run->todo[3]);
}

#define SP_SUB_BURST 64
/* ... process.h ... */

