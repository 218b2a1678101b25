/* What the hand-written data planes share: packets and verdicts as lanes have them, the buckets of a cuckoo hash, pages. */
#pragma once
#define _GNU_SOURCE
#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BURST 64

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define prefetch(p) _mm_prefetch((const char *)(p), _MM_HINT_T0)

/* base::Verdict. */
enum { FORWARD, BUFFER, PUNT, DROP };

struct verdict {
    uint8_t kind, reason;
    uint16_t port;
    uint32_t mark;
};

struct view {
    uint8_t *buffer;
    uint32_t start, length;
    uint32_t port, capacity;
};

static inline uint16_t get16(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static inline uint32_t get32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static inline uint64_t get64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline void put16(uint8_t *p, uint16_t v) { memcpy(p, &v, 2); }
static inline void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, 4); }
static inline void put64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }
#define be16(x) __builtin_bswap16(x)
#define be32(x) __builtin_bswap32(x)
#define be64(x) __builtin_bswap64(x)

static inline void end(struct verdict *v, uint8_t kind, uint8_t reason, uint32_t mark)
{
    *v = (struct verdict){ .kind = kind, .reason = reason, .mark = mark };
}

static inline uint64_t hash_of(uint64_t key)
{
    unsigned __int128 m = (unsigned __int128)(key ^ 0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93;
    uint64_t h = (uint64_t)m ^ (uint64_t)(m >> 64);
    return h ^ (h >> 29);
}

/* ---- A cuckoo hash of records: two buckets of eight for each key. ---- */

struct bucket {
    uint16_t tag[8]; /* 0: free */
    uint32_t record[8];
} __attribute__((aligned(64)));

static inline struct bucket *first_bucket(struct bucket *buckets, uint64_t count, uint64_t hash)
{
    return &buckets[(uint64_t)(uint32_t)hash * count >> 32];
}

static inline struct bucket *second_bucket(struct bucket *buckets, uint64_t count, uint64_t hash)
{
    return &buckets[(uint64_t)((uint32_t)(hash >> 32) * 0x9e3779b1u ^ (uint32_t)hash >> 7) * count >> 32];
}

static inline uint16_t tag_of(uint64_t hash)
{
    uint16_t tag = hash >> 40;
    return tag ? tag : 1;
}

/* Two bits for each of the slots that have the tag. */
static inline uint32_t same_tags(const struct bucket *b, uint16_t tag)
{
    __m128i tags = _mm_load_si128((const __m128i *)b->tag);
    return _mm_movemask_epi8(_mm_cmpeq_epi16(tags, _mm_set1_epi16(tag)));
}

static inline int put_record(struct bucket *b, uint16_t tag, uint32_t record)
{
    uint32_t free = same_tags(b, 0);
    if (!free)
        return 0;
    uint32_t slot = __builtin_ctz(free) / 2;
    b->tag[slot] = tag;
    b->record[slot] = record;
    return 1;
}

/* Insertion: in the first bucket, the second, or where a random walk makes room. Records of `size` bytes begin with their keys. */
static inline int insert_record(struct bucket *buckets, uint64_t count, uint64_t hash, uint32_t record, const void *records, size_t size)
{
    struct bucket *b = first_bucket(buckets, count, hash);
    if (put_record(b, tag_of(hash), record))
        return 1;
    b = second_bucket(buckets, count, hash);
    uint16_t tag = tag_of(hash);
    for (uint32_t step = 0; step < 10000; step++) {
        if (put_record(b, tag, record))
            return 1;
        uint32_t slot = (uint32_t)((step + 1) * 2654435761u) >> 29;
        uint16_t moved_tag = b->tag[slot];
        uint32_t moved = b->record[slot];
        b->tag[slot] = tag;
        b->record[slot] = record;
        uint64_t moved_hash = hash_of(get64((const uint8_t *)records + moved * size));
        struct bucket *first = first_bucket(buckets, count, moved_hash);
        b = b == first ? second_bucket(buckets, count, moved_hash) : first;
        tag = moved_tag;
        record = moved;
    }
    return 0;
}

/* ---- Memory. ---- */

static inline uint64_t rounded(uint64_t bytes) { return (bytes + 0x1fffff) & ~0x1fffffull; }

/* Zero pages, huge where the kernel has any. */
static inline void *pages(uint64_t bytes)
{
    void *p = mmap(0, rounded(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return 0;
    madvise(p, rounded(bytes), MADV_HUGEPAGE);
    return p;
}

static inline void release(void *p, uint64_t bytes)
{
    if (p)
        munmap(p, rounded(bytes));
}

/* Whether this processor has what the compiler used. */
static inline int has_instructions(void)
{
#ifdef __AVX512VBMI2__
    if (!__builtin_cpu_supports("avx512vbmi2"))
        return 0;
#endif
#ifdef __AVX512F__
    if (!__builtin_cpu_supports("avx512f"))
        return 0;
#endif
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2"))
        return 0;
#endif
#ifdef __BMI2__
    if (!__builtin_cpu_supports("bmi2"))
        return 0;
#endif
    return 1;
}
