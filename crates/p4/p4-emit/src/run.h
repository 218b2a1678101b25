/* Counts that are still to be made: cells of large counters are asked for when a packet counts and written behind the
 * burst, when they have come. */
#define SP_PENDING 256

struct sp_pending {
    struct sp_cell *cell;
    uint64_t packets;
    uint64_t bytes;
};

/* Bits of cells that became red within this burst: one for each packet, if the program lets no packet wait for two cells. */
#define SP_REDS 64

struct sp_red {
    uint64_t *word;
    uint64_t bit;
};

/* Packets of a class that wait for a look-up: their keys, but those like that of the packet before, and which is whose. */
struct sp_wait {
    uint64_t hits;
    uint32_t keys;
    uint8_t key_of[64];
    uint8_t *records[64];
    /* Of the keys of an exact table. */
    uint64_t hashes[64];
    uint8_t bytes[64 * SP_KEY_STRIDE] __attribute__((aligned(64)));
};

/* Records of near tables that packets of this burst have found, by table and key. */
#define SP_REMEMBERED 64

struct sp_remembered {
    /* Of the burst. */
    uint64_t burst;
    uint64_t table;
    const void *record;
    uint64_t key[SP_KEY_STRIDE / 8];
};

/* An odd number of cache lines: the first lines of all contexts, which are used most, lie in different sets of the cache then. */
#define SP_CONTEXT_STRIDE (sizeof(struct sp_context) | 64)
#define sp_context(run, i) ((struct sp_context *)((run)->contexts + (i) * SP_CONTEXT_STRIDE))

/* A burst on its way. */
struct sp_run {
    /* For the host: how many classes there are, that of no class included; look-ups that packets had in common with the packet
     * before; keys of exact tables that were not at their first place; and packets by class. */
    uint64_t classes;
    uint64_t spared;
    uint64_t further;
    uint64_t of_class[SP_CLASSES];
    /* Its number. */
    uint64_t burst;
    struct sp_lane *lane;
    struct sp_packet *packets;
    struct sp_verdict *verdicts;
    uint64_t now_ns;
    uint64_t now_us;
    /* Packets that wait for each stage. */
    uint64_t todo[SP_STAGES];
    uint32_t pendings;
    uint32_t reds;
    uint8_t *records[64];
    struct sp_pending pending[SP_PENDING];
    struct sp_red red[SP_REDS];
    uint8_t contexts[64 * SP_CONTEXT_STRIDE] __attribute__((aligned(64)));
    struct sp_wait wait[SP_WAITS];
    struct sp_remembered remembered[SP_REMEMBERED];
    uint8_t keys[64 * SP_KEY_STRIDE] __attribute__((aligned(64)));
};

const uint64_t sp_run_size = sizeof(struct sp_run);

static inline void sp_drop(struct sp_run *run, uint32_t i, uint32_t reason, uint32_t mark)
{
    run->verdicts[i] = (struct sp_verdict){3, (uint8_t)reason, 0, mark};
}

static inline void sp_pass(struct sp_run *run, uint32_t i, uint32_t port, uint32_t reason, uint32_t mark)
{
    const uint8_t kind = port == 510 ? 2 : port == 509 ? 1 : 0;
    run->verdicts[i] = (struct sp_verdict){kind, (uint8_t)reason, kind ? 0 : (uint16_t)port, mark};
}

/* Hosts read cells of running lanes, so a cell's halves are written whole. */
static inline void sp_add(struct sp_cell *cell, uint64_t packets, uint64_t bytes)
{
    __atomic_store_n(&cell->packets, cell->packets + packets, __ATOMIC_RELAXED);
    __atomic_store_n(&cell->bytes, cell->bytes + bytes, __ATOMIC_RELAXED);
}

static inline void sp_flush(struct sp_run *run)
{
    for (uint32_t i = 0; i < run->pendings; i++) sp_add(run->pending[i].cell, run->pending[i].packets, run->pending[i].bytes);
    run->pendings = 0;
}

/* Address of a cell. */
#define sp_at(of, index) ((__typeof__((of).cells))((uint8_t *)(of).cells + (index) * (of).stride))

/* Arrays of cells are passed by value, and a stage reads them once: a compiler must assume that a store to a packet's bytes changes any memory. */
static inline void sp_count(struct sp_run *run, const struct sp_counter of, uint64_t index, uint64_t packets, uint64_t bytes)
{
    if (index >= of.size) return;
    struct sp_cell *const cell = sp_at(of, index);
    __builtin_prefetch(cell, 1);
    if (run->pendings == SP_PENDING) sp_flush(run);
    run->pending[run->pendings++] = (struct sp_pending){cell, packets, bytes};
}

static inline void sp_count_now(const struct sp_counter of, uint64_t index, uint64_t packets, uint64_t bytes)
{
    if (index < of.size) sp_add(sp_at(of, index), packets, bytes);
}

/* The cell will be used. */
#define sp_expect(of, index) __builtin_prefetch(sp_at(of, index), 1)

/* The cell stays red for the rest of the burst: a shorter packet might find tokens and overtake this one, which waits. Behind the burst the host
 * says which cells are waited for. */
static inline void sp_hold_back(struct sp_run *run, uint64_t *waiting, uint64_t index)
{
    if (run->reds == SP_REDS) return;
    uint64_t *const word = &waiting[index / 64];
    const uint64_t bit = 1ull << index % 64;
    *word |= bit;
    run->red[run->reds++] = (struct sp_red){word, bit};
}

static inline void sp_end_reds(struct sp_run *run)
{
    for (uint32_t i = 0; i < run->reds; i++) *run->red[i].word &= ~run->red[i].bit;
}

static inline __attribute__((always_inline)) uint32_t sp_meter(
    struct sp_run *run, struct sp_packet *pk, const struct sp_meters of, uint64_t index, uint64_t units)
{
    if (index >= of.size) return SP_GREEN;
    if (__builtin_expect(of.waiting != 0, 0)) {
        const uint32_t behind = pk->metered & 0xff, number = (pk->metered >> 8 & 0xff) + 1;
        pk->metered = (uint32_t)units << 16 | number << 8 | behind;
        if (number <= behind) return SP_GREEN;
        if (of.waiting[index / 64] >> (index % 64) & 1) return SP_RED;
    }
    const uint32_t colour = __builtin_expect(of.shared != 0, 0) ? sp_meter_locked(sp_at(of, index), of.profiles, run->now_ns, units)
                                                                : sp_meter_execute(sp_at(of, index), of.profiles, run->now_ns, units);
    if (__builtin_expect(of.waiting != 0 && colour == SP_RED, 0)) sp_hold_back(run, of.waiting, index);
    return colour;
}

static inline uint64_t sp_register_read(const struct sp_register of, uint64_t index)
{
    return index < of.size ? __atomic_load_n(&of.cells[index], __ATOMIC_RELAXED) : 0;
}

static inline void sp_register_write(const struct sp_register of, uint64_t index, uint64_t value)
{
    if (index < of.size) __atomic_store_n(&of.cells[index], value, __ATOMIC_RELAXED);
}

/* A cell of more than 64 bits is two words, the low one first. It is read and written whole, as that of one word is: no lane sees half of what
 * another has written. */
__attribute__((target("cx16"))) static sp_u128 sp_register_read_wide(const struct sp_register of, uint64_t index)
{
    return index < of.size ? __sync_val_compare_and_swap((sp_u128 *)of.cells + index, 0, 0) : 0;
}

__attribute__((target("cx16"))) static void sp_register_write_wide(const struct sp_register of, uint64_t index, sp_u128 value)
{
    if (index >= of.size) return;
    sp_u128 *const cell = (sp_u128 *)of.cells + index;
    sp_u128 old = 0, found;
    while ((found = __sync_val_compare_and_swap(cell, old, value)) != old) old = found;
}

static inline uint32_t sp_member(const struct sp_run *run, uint32_t set, const sp_u128 *keys, uint32_t fields)
{
    const struct sp_set *const of = &run->lane->sets[set];
    const struct sp_range *r = of->members;
    for (uint64_t left = of->size; left; left--, r += fields) {
        uint32_t inside = 1;
        for (uint32_t i = 0; i < fields; i++) {
            const sp_u128 value = keys[i] & r[i].mask;
            inside &= value >= r[i].low && value <= r[i].high;
        }
        if (inside) return 1;
    }
    return 0;
}

static inline void sp_digest(struct sp_run *run, const sp_u128 *values, uint32_t n)
{
    struct sp_digests *const ring = run->lane->digests;
    const uint64_t words = 1 + 2 * (uint64_t)n;
    uint64_t head = ring->head;
    if (ring->size - (head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE)) < words) {
        __atomic_store_n(&ring->lost, ring->lost + 1, __ATOMIC_RELAXED);
        return;
    }
    ring->words[head++ & (ring->size - 1)] = n;
    for (uint32_t i = 0; i < n; i++) {
        ring->words[head++ & (ring->size - 1)] = (uint64_t)values[i];
        ring->words[head++ & (ring->size - 1)] = (uint64_t)(values[i] >> 64);
    }
    __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
}

/* splitmix64. */
static inline uint64_t sp_draw(struct sp_run *run)
{
    uint64_t z = run->lane->random += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static inline sp_u128 sp_random(struct sp_run *run, sp_u128 low, sp_u128 high)
{
    const uint64_t upper = sp_draw(run), lower = sp_draw(run);
    const sp_u128 number = SP_U128(upper, lower), count = high - low + 1;
    return high < low ? low : low + (count ? number % count : number);
}

