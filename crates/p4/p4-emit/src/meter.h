
/* Two-rate three-colour meter, colour-blind (RFC 2698 section 3). Buckets hold 10^-9 units, so that rates in units a second times
 * nanoseconds need no division. What does not fit 64 bits is more than any burst, so that a product or sum that overflows is a
 * full bucket, and a packet that costs more is red. */
enum { SP_GREEN, SP_YELLOW, SP_RED };

/* A cell, of half a cache line. All zeros: not configured, always green. */
struct sp_meter {
    uint64_t committed;
    uint64_t peak;
    /* Latest time seen. */
    uint64_t last_ns;
    /* Number of its profile, SP_ONE_RATE, and in how many workers packets wait for the cell. */
    uint32_t profile;
    /* 1 while a lane or the host uses the cell, if there are several lanes. */
    uint32_t lock;
} __attribute__((aligned(32)));

/* Both buckets are alike, so always equally full: only the peak bucket is kept. */
#define SP_ONE_RATE 0x80000000u
/* Of other workers' or targets' packets: a lane knows its own. */
#define SP_WAITING 0x7f000000u

/* What cells of equal configuration share: units a second, 10^-9 units. */
struct sp_profile {
    uint64_t cir;
    uint64_t cbs;
    uint64_t pir;
    uint64_t pbs;
};

static inline uint64_t sp_refill(uint64_t tokens, uint64_t rate, uint64_t burst, uint64_t elapsed_ns)
{
    uint64_t gained, sum;
    if (__builtin_mul_overflow(rate, elapsed_ns, &gained) || __builtin_add_overflow(tokens, gained, &sum)) return burst;
    return sum < burst ? sum : burst;
}

static inline __attribute__((always_inline)) uint32_t sp_meter_execute(
    struct sp_meter *cell, const struct sp_profile *profiles, uint64_t now_ns, uint64_t units)
{
    const uint32_t profile = cell->profile & ~SP_WAITING;
    if (profile == 0) return SP_GREEN;
    const struct sp_profile *const of = &profiles[profile & ~SP_ONE_RATE];
    const uint64_t last_ns = cell->last_ns;
    uint64_t peak = cell->peak, cost;
    if (now_ns > last_ns) {
        cell->last_ns = now_ns;
        peak = sp_refill(peak, of->pir, of->pbs, now_ns - last_ns);
        if (!(profile & SP_ONE_RATE)) cell->committed = sp_refill(cell->committed, of->cir, of->cbs, now_ns - last_ns);
    }
    if (__builtin_mul_overflow(units, 1000000000ull, &cost) || peak < cost) {
        cell->peak = peak;
        return SP_RED;
    }
    cell->peak = peak - cost;
    if (profile & SP_ONE_RATE) return SP_GREEN;
    if (cell->committed < cost) return SP_YELLOW;
    cell->committed -= cost;
    return SP_GREEN;
}

#ifdef __x86_64__
#define SP_PAUSE() __builtin_ia32_pause()
#else
#define SP_PAUSE() ((void)0)
#endif

/* The same where others use the cell too. */
static __attribute__((noinline, cold)) uint32_t sp_meter_locked(
    struct sp_meter *cell, const struct sp_profile *profiles, uint64_t now_ns, uint64_t units)
{
    while (__atomic_exchange_n(&cell->lock, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(&cell->lock, __ATOMIC_RELAXED)) SP_PAUSE();
    }
    const uint32_t colour = sp_meter_execute(cell, profiles, now_ns, units);
    __atomic_store_n(&cell->lock, 0, __ATOMIC_RELEASE);
    return colour;
}
