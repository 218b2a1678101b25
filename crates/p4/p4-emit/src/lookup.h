/* Look-ups in exact tables (crate `table`, `ffi::ExactIndex`). A key is hashed where it is made, and its bucket asked for; behind the burst's keys tags are compared
 * and records asked for, then keys. What is not found at the first place is left to the table's function. */
struct sp_bucket {
    uint16_t tags[8];
    uint32_t handles[9];
    uint32_t away;
    uint8_t hidden[2];
    uint8_t guests;
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct sp_bucket) == 64 && __builtin_offsetof(struct sp_bucket, handles) == 16, "a bucket of crate `table`");
_Static_assert(__builtin_offsetof(struct sp_bucket, hidden) == 56 && sizeof(struct sp_exact) == 64, "an index of crate `table`");

static inline uint64_t sp_fold_product(uint64_t a, uint64_t b)
{
    const sp_u128 product = (sp_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t sp_exact_home(uint64_t live, uint64_t hash)
{
    const uint64_t mask = live > 1 ? ~0ull >> __builtin_clzll(live - 1) : 0, home = hash & mask;
    return home < live ? home : home & mask >> 1;
}

/* What a stage knows of a table that its packets will look up; `live` is 0 if it is not exact, or empty. */
struct sp_hashing {
    const uint8_t *buckets;
    uint64_t live;
    uint64_t start;
    uint64_t multiplier;
    uint64_t finish;
};

static inline struct sp_hashing sp_hashing(const struct sp_run *run, uint32_t number)
{
    const struct sp_exact *const of = run->lane->tables[number].exact;
    if (!of) return (struct sp_hashing){0};
    return (struct sp_hashing){of->buckets, __atomic_load_n(of->live, __ATOMIC_RELAXED), of->start, of->multiplier, of->finish};
}

/* The hash of a key, given as numbers whose highest bytes are the first. Asks for its bucket. */
static inline __attribute__((always_inline)) uint64_t sp_exact_hash(const struct sp_hashing *of, const uint64_t *key, size_t words)
{
    uint64_t hash = of->start;
    for (size_t w = 0; w < words; w++) hash = sp_fold_product(hash ^ __builtin_bswap64(key[w]), of->multiplier);
    hash = sp_fold_product(hash ^ of->finish, of->multiplier);
    __builtin_prefetch(of->buckets + 64 * sp_exact_home(of->live, hash));
    return hash;
}

/* The record in the lowest slot with the hash's tag; that of no entry if there is none, or it is hidden. */
static inline __attribute__((always_inline)) uint8_t *sp_exact_record(
    const struct sp_exact *of, uint64_t side, uint64_t live, uint64_t hash)
{
    const struct sp_bucket *const bucket = (const void *)(of->buckets + 64 * sp_exact_home(live, hash));
    const uint16_t tag = hash >> 48 | 1;
    uint32_t slots = 0;
#ifdef __SSE2__
    typedef short sp_tags __attribute__((vector_size(16)));
    typedef char sp_bytes __attribute__((vector_size(16)));
    /* Each tag is old or new. What is read next depends on them. */
    const sp_tags tags = *(const volatile sp_tags *)bucket->tags, all = (sp_tags){0} + (short)tag, none = {0};
    slots = __builtin_ia32_pmovmskb128((sp_bytes)__builtin_ia32_packsswb128((sp_tags)(tags == all), none));
#else
    for (uint32_t i = 0; i < 8; i++) slots |= (uint32_t)(__atomic_load_n(&bucket->tags[i], __ATOMIC_ACQUIRE) == tag) << i;
#endif
    /* Slot 8 stands for none. */
    const uint32_t slot = __builtin_ctz(slots | 1u << 8);
    const uint32_t handle = __atomic_load_n(&bucket->handles[slot], __ATOMIC_ACQUIRE);
    const uint32_t hidden = __atomic_load_n(&bucket->hidden[side], __ATOMIC_ACQUIRE) >> slot & 1;
    return of->records + (uint64_t)(handle & (hidden - 1)) * of->stride;
}

/* The keys that are not at the first place, by the table's function. */
static __attribute__((noinline)) uint64_t sp_exact_left(
    struct sp_run *run, const struct sp_table *table, struct sp_wait *wait, size_t stride, uint64_t left)
{
    uint8_t keys[64 * SP_KEY_STRIDE] __attribute__((aligned(64))), *records[64];
    uint64_t hits = 0;
    uint32_t n = 0;
    __atomic_store_n(&run->further, run->further + __builtin_popcountll(left), __ATOMIC_RELAXED);
    for (uint64_t l = left; l; l &= l - 1) __builtin_memcpy(keys + n++ * stride, wait->bytes + __builtin_ctzll(l) * stride, stride);
    const uint64_t found = table->lookup(table->table, keys, stride, n, records);
    n = 0;
    for (uint64_t l = left; l; l &= l - 1, n++) {
        wait->records[__builtin_ctzll(l)] = records[n];
        hits |= (found >> n & 1) << __builtin_ctzll(l);
    }
    return hits;
}

static inline __attribute__((always_inline)) uint64_t sp_exact_look_up(
    struct sp_run *run, const struct sp_table *table, struct sp_wait *wait, const size_t words)
{
    const struct sp_exact of = *table->exact;
    const uint64_t side = (uint64_t)table->table & 1, moves = __atomic_load_n(of.moves, __ATOMIC_ACQUIRE);
    const uint64_t live = __atomic_load_n(of.live, __ATOMIC_ACQUIRE);
    const uint32_t n = wait->keys;
    if (n == 0) return 0;
    for (uint32_t k = 0; k < n; k++) {
        uint8_t *const record = sp_exact_record(&of, side, live, wait->hashes[k]);
        __builtin_prefetch(record);
        if (of.stride > 64) __builtin_prefetch(record + 64);
        wait->records[k] = record;
    }
    uint64_t hits = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint64_t other = wait->records[k] == of.records;
        for (size_t w = 0; w < words; w++) {
            uint64_t mine, its;
            __builtin_memcpy(&mine, wait->bytes + (k * words + w) * 8, 8);
            __builtin_memcpy(&its, wait->records[k] + 8 * w, 8);
            other |= mine ^ its;
        }
        hits |= (uint64_t)!other << k;
        wait->records[k] += 8 * words;
    }
    const uint64_t left = ~hits & ~0ull >> (64 - n);
    if (left) hits |= sp_exact_left(run, table, wait, 8 * words, left);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__builtin_expect(__atomic_load_n(of.moves, __ATOMIC_RELAXED) != moves, 0)) {
        hits = table->lookup(table->table, wait->bytes, 8 * words, n, wait->records);
    }
    return hits;
}

/* Looks `n` keys up for `packets` packets: none while the table is empty. */
static inline uint64_t sp_lookup(struct sp_run *run, struct sp_table *table, size_t stride, uint32_t n, uint32_t packets)
{
    const uint64_t hits = n ? table->lookup(table->table, run->keys, stride, n, run->records) : 0;
    const uint32_t found = __builtin_popcountll(hits);
    __atomic_store_n(&table->hits, table->hits + found, __ATOMIC_RELAXED);
    __atomic_store_n(&table->misses, table->misses + packets - found, __ATOMIC_RELAXED);
    return hits;
}

/* Of the packets that are left, those that come first and wait there too. */
static inline uint64_t sp_turn(uint64_t left, uint64_t there)
{
    const uint64_t others = left & ~there;
    return left & there & ((others & -others) - 1);
}

static __attribute__((noinline)) void sp_look_up(struct sp_run *run, uint32_t number, struct sp_wait *wait, size_t stride, uint64_t packets)
{
    __atomic_store_n(&run->spared, run->spared + __builtin_popcountll(packets) - wait->keys, __ATOMIC_RELAXED);
    const struct sp_table *const table = &run->lane->tables[number];
    if (table->exact) wait->hits = stride == 8 ? sp_exact_look_up(run, table, wait, 1) : sp_exact_look_up(run, table, wait, stride / 8);
    else wait->hits = table->lookup ? table->lookup(table->table, wait->bytes, stride, wait->keys, wait->records) : 0;
    wait->keys = 0;
}

/* Of the packets that are left, those in front whose records have another action than the usual one. Each record begins with its action. */
static __attribute__((noinline)) uint64_t sp_row(const struct sp_wait *wait, const struct sp_table *table, uint64_t left, uint16_t usual)
{
    uint64_t row = 0;
    for (; left; left &= left - 1) {
        const uint32_t k = wait->key_of[__builtin_ctzll(left)];
        const void *const record = wait->hits >> k & 1 ? wait->records[k] : table->miss;
        uint16_t action;
        __builtin_memcpy(&action, record, 2);
        if (action == usual) break;
        row |= left & -left;
    }
    return row;
}

static inline void sp_looked_up(struct sp_table *table, uint64_t hits, uint64_t misses)
{
    __atomic_store_n(&table->hits, table->hits + hits, __ATOMIC_RELAXED);
    __atomic_store_n(&table->misses, table->misses + misses, __ATOMIC_RELAXED);
}

/* The record of a near table's key, which may be that of a miss. */
static __attribute__((noinline)) const void *sp_near(struct sp_run *run, uint32_t number, const uint64_t *key, size_t stride)
{
    const struct sp_table *const table = &run->lane->tables[number];
    uint64_t hash = number, other = 0;
    for (size_t w = 0; w < stride / 8; w++) hash = (hash ^ key[w]) * 0x9e3779b97f4a7c15ull;
    struct sp_remembered *const at = &run->remembered[hash >> 58];
    for (size_t w = 0; w < stride / 8; w++) other |= at->key[w] ^ key[w];
    if (at->burst == run->burst && at->table == number && !other) return at->record;
    uint8_t bytes[SP_KEY_STRIDE] __attribute__((aligned(64))), *found;
    for (size_t w = 0; w < stride / 8; w++) sp_st64(bytes + 8 * w, key[w]);
    const uint64_t hit = table->lookup ? table->lookup(table->table, bytes, stride, 1, &found) & 1 : 0;
    at->burst = run->burst;
    at->table = number;
    at->record = hit ? found : table->miss;
    for (size_t w = 0; w < stride / 8; w++) at->key[w] = key[w];
    return at->record;
}

static inline void sp_count_near(struct sp_run *run, struct sp_table *table, uint64_t all, uint64_t hits, uint64_t asked)
{
    sp_looked_up(table, hits, all - hits);
    __atomic_store_n(&run->spared, run->spared + all - asked, __ATOMIC_RELAXED);
}
