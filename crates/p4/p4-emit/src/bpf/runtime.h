SP_INLINE uint64_t sp_now(struct sp_context *c)
{
    if (!c->timed) {
        c->now_ns = bpf_ktime_get_ns();
        c->timed = 1;
    }
    return c->now_ns;
}

/* Whether earlier packets of the flow are in flight, having been handed on: this one follows them, if it is not dropped. None of a test run's are. */
SP_INLINE uint32_t sp_follows(struct sp_context *c, struct sp_control *control)
{
    // At most times nothing is.
    if (*(volatile uint64_t *)&control->until_ns <= *(volatile uint64_t *)&control->out_ns || !c->attached) return 0;
    struct sp_flow *flow = sp_flows_at(c->flow - 1);
    if (!flow) return 0;
    uint64_t first = *(volatile uint64_t *)&flow->counts[0], second = *(volatile uint64_t *)&flow->counts[1];
    return first >> 32 != (uint32_t)first || second >> 32 != (uint32_t)second;
}

/* The packet will be handed on: counts it as in flight, and marks it, so that it is counted as left. */
SP_INLINE void sp_follow(struct xdp_md *ctx, struct sp_context *c)
{
    struct sp_flow *flow = sp_flows_at(c->flow - 1);
    struct sp_control *control = sp_control_at(0);
    // Where a driver has no room for a mark nobody could count it as left, and the flow would never be run again.
    if (!flow || !control || bpf_xdp_adjust_meta(ctx, -8)) return;
    uint64_t *mark = (uint64_t *)(long)ctx->data_meta;
    if ((void *)(mark + 1) > (void *)(long)ctx->data) return;
    uint64_t turn = *(volatile uint64_t *)&control->turn & 1;
    *mark = SP_FLOW_MARK | (uint64_t)c->flow << 1 | turn;
    // All cores read that word with each packet, so it is seldom written.
    uint64_t now = bpf_ktime_get_ns(), until = *(volatile uint64_t *)&control->until_ns;
    if (until <= now) __sync_val_compare_and_swap(&control->until_ns, until, now + SP_SLACK_NS);
    uint64_t before = __sync_fetch_and_add(turn ? &flow->counts[1] : &flow->counts[0], 1ull << 32);
    SP_OPAQUE(before);
}

/* Whether a packet can leave by its port from here: a test run's always can. */
SP_INLINE int sp_leaves(struct sp_context *c)
{
    if (!c->attached) return 1;
    uint64_t *way = sp_ways_at(c->out_port);
    return way && *way;
}

/* Begins to fetch a cell into the cache; the packet goes on meanwhile. Whether there is one: the next target has those that have no memory here. */
SP_INLINE int sp_touch(void *cell)
{
    if (!cell) return 0;
    (void)*(volatile uint64_t *)cell;
    return 1;
}

/* Where an array's cells are. Known at each call, and so no call remains. */
typedef struct sp_meter *sp_meter_at(uint32_t);
typedef struct sp_profile *sp_profile_at(uint32_t);
typedef uint64_t *sp_register_at(uint32_t);
typedef struct sp_row *sp_counter_at(uint32_t);

/* Whoever holds a cell is some instructions from its end; but a worker may have been stopped there, by this very packet's arrival
   even, and then no wait helps: the packet is handed on. A loop in the text would be verified turn by turn, for each place that waits. */
enum { SP_TRIES = 256 };
struct sp_wait {
    uint32_t *lock;
    uint64_t held;
};
SP_CALL uint64_t sp_try(uint32_t turn, struct sp_wait *wait)
{
    (void)turn;
    uint32_t *lock = wait->lock;
    if (*(volatile uint32_t *)lock || __sync_val_compare_and_swap(lock, 0, 1)) return 0;
    wait->held = 1;
    return 1;
}

SP_CALL int sp_lock_slowly(uint32_t *lock)
{
    struct sp_wait wait = {lock, 0};
    bpf_loop(SP_TRIES, sp_try, &wait, 0);
    return (int)*(volatile uint64_t *)&wait.held;
}

SP_INLINE int sp_lock(struct sp_meter *m)
{
    return __sync_val_compare_and_swap(&m->lock, 0, 1) == 0 || sp_lock_slowly(&m->lock);
}

/* What was written before is seen before: as on x86. */
SP_INLINE void sp_unlock(struct sp_meter *m)
{
    SP_BARRIER();
    *(volatile uint32_t *)&m->lock = 0;
}

/* What does not fit 64 bits is more than any burst. BPF has no wide product, which the compiler would make of the quotient, and a quotient takes time:
   so it is asked for only where it may matter. */
SP_INLINE uint64_t sp_refill(uint64_t tokens, uint64_t rate, uint64_t burst, uint64_t elapsed_ns)
{
    if ((rate | elapsed_ns) >> 32 && rate) {
        uint64_t most_ns = ~0ull / rate;
        SP_OPAQUE(most_ns);
        if (elapsed_ns > most_ns) return burst;
    }
    uint64_t sum = tokens + rate * elapsed_ns;
    return sum < tokens || sum > burst ? burst : sum;
}

/* Colour, under the cell's lock. What is in the buckets is taken unless the packet is going to be handed on: one that is red even so would be it
   behind those that it follows. */
SP_INLINE uint32_t sp_colour(
    struct sp_meter *m, struct sp_profile *p, uint64_t now, uint64_t units, uint32_t follows, struct sp_meter_undo *undo)
{
    const uint32_t one_rate = m->profile & SP_ONE_RATE;
    uint64_t last = m->last_ns, peak = m->peak;
    if (now > last) {
        m->last_ns = now;
        peak = sp_refill(peak, p->pir, p->pbs, now - last);
        if (!one_rate) m->committed = sp_refill(m->committed, p->cir, p->cbs, now - last);
    }
    const uint64_t cost = units * 1000000000;
    if (units > ~0ull / 1000000000 || peak < cost) {
        m->peak = peak;
        return SP_RED;
    }
    if (follows) {
        m->peak = peak;
        return one_rate || m->committed >= cost ? SP_GREEN : SP_YELLOW;
    }
    m->peak = peak - cost;
    undo->peak = cost;
    undo->committed = 0;
    if (one_rate) return SP_GREEN;
    if (m->committed < cost) return SP_YELLOW;
    m->committed -= cost;
    undo->committed = cost;
    return SP_GREEN;
}

/* Of cells below `last` one may have no memory here: then only the next target can have configured it. */
SP_INLINE uint32_t sp_execute(struct sp_context *c, sp_meter_at *meters, sp_profile_at *profiles, uint64_t index, uint32_t last,
    uint64_t units, struct sp_meter_undo *undo)
{
    if (index >> 32) return SP_GREEN;
    struct sp_meter *m = meters((uint32_t)index);
    if (!m) return index < last ? SP_BUSY : SP_GREEN;
    if (!*(volatile uint32_t *)&m->profile) return SP_GREEN;
    uint64_t now = sp_now(c);
    if (!sp_lock(m)) return SP_BUSY;
    uint32_t colour = SP_GREEN, number = m->profile & SP_PROFILE, follows = *(volatile uint32_t *)&c->follows;
    if (m->profile & SP_WAITING) {
        colour = SP_RED;
    } else if (number) {
        struct sp_profile *p = profiles(number);
        colour = p ? sp_colour(m, p, now, units, follows, undo) : SP_BUSY;
        undo->at = colour < SP_RED && !follows ? index + 1 : 0;
    }
    sp_unlock(m);
    return colour;
}

/* Gives back what a packet took that is handed on, and which the next target charges. The time that the cell has seen stays: that
   changes nothing, as a bucket that is filled in two steps is as full as in one. */
SP_INLINE void sp_undo_meter(sp_meter_at *meters, sp_profile_at *profiles, struct sp_meter_undo *undo)
{
    if (!undo->at) return;
    struct sp_meter *m = meters((uint32_t)(undo->at - 1));
    // Of one whose holder has been stopped the packet is charged twice: never too little.
    if (!m || !sp_lock(m)) return;
    uint32_t number = m->profile & SP_PROFILE;
    struct sp_profile *p = profiles(number);
    if (p && number) {
        m->peak = p->pbs - m->peak < undo->peak ? p->pbs : m->peak + undo->peak;
        m->committed = p->cbs - m->committed < undo->committed ? p->cbs : m->committed + undo->committed;
    }
    sp_unlock(m);
}

SP_INLINE uint64_t sp_register_read(sp_register_at *registers, uint64_t index)
{
    uint64_t *cell = index >> 32 ? 0 : registers((uint32_t)index);
    return cell ? *cell : 0;
}

SP_INLINE void sp_register_write(sp_register_at *registers, uint64_t index, uint64_t value, struct sp_register_undo *undo)
{
    uint64_t *cell = index >> 32 ? 0 : registers((uint32_t)index);
    if (!cell) return;
    undo->at = index + 1;
    undo->value = *cell;
    *cell = value;
}

SP_INLINE void sp_undo_register(sp_register_at *registers, struct sp_register_undo *undo)
{
    if (!undo->at) return;
    uint64_t *cell = registers((uint32_t)(undo->at - 1));
    if (cell) *cell = undo->value;
}

/* The kernel's generator: the numbers are others than the interpreter's, and no seed repeats them. */
SP_INLINE uint64_t sp_random(uint64_t low, uint64_t high)
{
    if (high < low) return low;
    uint64_t number = (uint64_t)bpf_get_prandom_u32() << 32;
    number |= bpf_get_prandom_u32();
    uint64_t count = high - low + 1;
    return count ? low + number % count : number;
}

/* A packet is counted at its end: one that is handed on leaves no trace. Each core has its own row of cells. */
SP_INLINE void sp_pend(struct sp_pending *p, uint64_t index, uint64_t size, uint32_t packets, uint64_t bytes)
{
    if (index >= size) return;
    p->at = (uint32_t)index + 1;
    p->packets = packets;
    p->bytes = bytes;
}

SP_INLINE void sp_count(struct sp_context *c, sp_counter_at *counters, uint32_t size, struct sp_pending *p)
{
    if (!p->at) return;
    struct sp_row *cell = counters(c->cpu * size + p->at - 1);
    if (!cell) return;
    cell->packets += p->packets;
    cell->bytes += p->bytes;
}
