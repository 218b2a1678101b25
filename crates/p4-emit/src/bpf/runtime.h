SP_INLINE uint64_t sp_now(struct sp_context *c)
{
    if (!c->timed) {
        c->now_ns = bpf_ktime_get_ns();
        c->timed = 1;
    }
    return c->now_ns;
}

/* Whether a packet can leave by its port from here, and overtakes none of its flow: a test run's always can. */
SP_INLINE int sp_leaves(struct sp_context *c, struct sp_control *control)
{
    if (!c->attached) return 1;
    uint32_t port = c->out_port;
    uint64_t *way = bpf_map_lookup_elem(&sp_ways, &port);
    if (!way || !*way) return 0;
    if (!c->flow) return 1;
    uint32_t row = c->flow - 1;
    uint64_t *handed_on = bpf_map_lookup_elem(&sp_flows, &row);
    // At most times nothing of the flow ever was.
    return !handed_on || !*handed_on || *handed_on < *(volatile uint64_t *)&control->out_ns;
}

/* Begins to fetch a cell into the cache; the packet goes on meanwhile. */
SP_INLINE void sp_touch(void *cells, uint32_t at)
{
    uint64_t *cell = bpf_map_lookup_elem(cells, &at);
    if (cell) (void)*(volatile uint64_t *)cell;
}

SP_INLINE int sp_lock(uint32_t *lock)
{
    if (sp_cpus == 1) return 0;
    // The holder is some instructions from its end, on another core: a bounded wait nearly always suffices, and after it
    // a colour may be one packet wrong.
    for (int i = 0; i < 64; i++) {
        if (__sync_val_compare_and_swap(lock, 0, 1) == 0) return 1;
    }
    return 0;
}

/* Colour: 0 green, 1 yellow, 2 red. */
SP_INLINE uint32_t sp_execute(struct sp_context *c, void *meters, uint64_t index, uint64_t units, struct sp_meter_undo *undo)
{
    if (index >> 32) return 0;
    uint32_t key = (uint32_t)index;
    struct sp_meter *m = bpf_map_lookup_elem(meters, &key);
    if (!m) return 0;
    uint32_t profile = m->profile;
    if (!profile) return 0;
    struct sp_profile *p = bpf_map_lookup_elem(&sp_profiles, &profile);
    if (!p) return 0;
    uint64_t now = sp_now(c);
    int locked = sp_lock(&m->lock);
    uint64_t last = m->last_ns, committed = m->committed, peak = m->peak;
    undo->at = index + 1;
    undo->last_ns = last;
    undo->committed = committed;
    undo->peak = peak;
    uint64_t elapsed = now > last ? now - last : 0;
    if (now > last) m->last_ns = now;
    committed = elapsed >= p->committed_fill_ns ? p->cbs : committed + p->cir * elapsed;
    if (committed > p->cbs) committed = p->cbs;
    peak = elapsed >= p->peak_fill_ns ? p->pbs : peak + p->pir * elapsed;
    if (peak > p->pbs) peak = p->pbs;
    uint32_t colour = 2;
    uint64_t cost = units * 1000000000;
    // No bucket holds 2^33 units.
    if (units >> 33 == 0 && peak >= cost) {
        peak -= cost;
        colour = 1;
        if (committed >= cost) {
            committed -= cost;
            colour = 0;
        }
    }
    m->committed = committed;
    m->peak = peak;
    if (locked) *(volatile uint32_t *)&m->lock = 0;
    return colour;
}

SP_INLINE void sp_undo_meter(void *meters, struct sp_meter_undo *undo)
{
    if (!undo->at) return;
    uint32_t key = (uint32_t)(undo->at - 1);
    struct sp_meter *m = bpf_map_lookup_elem(meters, &key);
    if (!m) return;
    m->last_ns = undo->last_ns;
    m->committed = undo->committed;
    m->peak = undo->peak;
}

SP_INLINE uint64_t sp_register_read(void *registers, uint64_t index)
{
    uint32_t key = (uint32_t)index;
    uint64_t *cell = index >> 32 ? 0 : bpf_map_lookup_elem(registers, &key);
    return cell ? *cell : 0;
}

SP_INLINE void sp_register_write(void *registers, uint64_t index, uint64_t value, struct sp_register_undo *undo)
{
    uint32_t key = (uint32_t)index;
    uint64_t *cell = index >> 32 ? 0 : bpf_map_lookup_elem(registers, &key);
    if (!cell) return;
    undo->at = index + 1;
    undo->value = *cell;
    *cell = value;
}

SP_INLINE void sp_undo_register(void *registers, struct sp_register_undo *undo)
{
    if (!undo->at) return;
    uint32_t key = (uint32_t)(undo->at - 1);
    uint64_t *cell = bpf_map_lookup_elem(registers, &key);
    if (cell) *cell = undo->value;
}

/* A packet is counted at its end: one that is handed on leaves no trace. Each core has its own row of cells. */
SP_INLINE void sp_pend(struct sp_pending *p, uint64_t index, uint64_t size, uint32_t packets, uint64_t bytes)
{
    if (index >= size) return;
    p->at = (uint32_t)index + 1;
    p->packets = packets;
    p->bytes = bytes;
}

SP_INLINE void sp_count(struct sp_context *c, void *counters, uint32_t size, struct sp_pending *p)
{
    if (!p->at) return;
    uint32_t key = c->cpu * size + p->at - 1;
    uint64_t *cell = bpf_map_lookup_elem(counters, &key);
    if (!cell) return;
    cell[0] += p->packets;
    cell[1] += p->bytes;
}
