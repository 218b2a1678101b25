/* What the shim offers to src/ipsec_mb.rs, which has the same declarations in Rust: change both, and VERSION in both.
 *
 * The manager of libipsec-mb is a structure of functions whose layout changes from release to release: C that is compiled against its
 * header turns it into one call for each algorithm's part of a burst. */
#include <intel-ipsec-mb.h>

#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SP_VERSION 2
/* Most operations in one call of the library. */
#define SP_CHUNK 64
/* Lanes of SNOW 3G with AVX-512. */
#define SP_LANES 16
/* Longest message of a MAC, with what NIA2 has before it. */
#define SP_LONGEST (9216 + 16)
/* Longest message of sp_nea2_short(): its counters are of one byte. */
#define SP_SHORT 256
/* Operations that are copied for NIA2 at once. */
#define SP_COPIES 16
/* Messages of NIA2 that are under way together: their rounds hide each other's latency. */
#define SP_CHAINS 8

enum sp_algorithm { SP_NEA1 = 1, SP_NEA2, SP_NEA3, SP_NIA1, SP_NIA2, SP_NIA3, SP_NIA2_WHOLE };

/* A key as the library takes it. */
struct sp_key {
	uint8_t expanded[176]; /* AES; SNOW 3G's schedule; ZUC's key */
	uint8_t subkey1[16];   /* CMAC */
	uint8_t subkey2[16];
	uint8_t spare[48];
};

/* One packet's part in one algorithm. */
struct sp_op {
	uint8_t *data;
	const struct sp_key *key;
	uint8_t iv[16];
	uint32_t len;  /* bytes, not 0 */
	uint32_t mac;  /* as it lies in memory */
	uint32_t done; /* set to 1 */
	uint32_t job;  /* the caller's */
};

struct sp_mb {
	IMB_MGR *mgr;
	uint32_t done; /* operations of this call */
	IMB_JOB jobs[SP_CHUNK]; /* of NEA2 */
	uint8_t copies[SP_COPIES * SP_LONGEST];
};

static const char *sp_version(void)
{
	return imb_get_version_str();
}

static void sp_close(struct sp_mb *mb)
{
	if (!mb)
		return;
	/* Lanes keep keys and data until they are used again. */
	if (mb->mgr) {
		imb_clear_mem(mb->mgr, imb_get_mb_mgr_size());
		free(mb->mgr);
	}
	imb_clear_mem(mb, sizeof(*mb));
	free(mb);
}

/* What is the same for all operations of NEA2. */
static void ctr_job(IMB_JOB *job)
{
	job->key_len_in_bytes = 16;
	job->cipher_mode = IMB_CIPHER_CNTR;
	job->cipher_direction = IMB_DIR_ENCRYPT;
	job->hash_alg = IMB_AUTH_NULL;
	job->chain_order = IMB_ORDER_CIPHER_HASH;
	job->iv_len_in_bytes = 16;
	job->cipher_start_src_offset_in_bytes = 0;
}

/* NULL without memory, or on a processor that the library does not support. */
static struct sp_mb *sp_open(uint32_t *arch)
{
	struct sp_mb *mb = NULL;
	void *memory = NULL;
	IMB_ARCH used = IMB_ARCH_NONE;

	if (posix_memalign((void **)&mb, 64, sizeof(*mb)))
		return NULL;
	memset(mb, 0, sizeof(*mb));
	if (posix_memalign(&memory, 64, imb_get_mb_mgr_size()))
		goto fail;
	memset(memory, 0, imb_get_mb_mgr_size());
	mb->mgr = imb_set_pointers_mb_mgr(memory, 0, 1);
	if (!mb->mgr) {
		free(memory);
		goto fail;
	}
	for (uint32_t i = 0; i < SP_CHUNK; i++)
		ctr_job(&mb->jobs[i]);
	init_mb_mgr_auto(mb->mgr, &used);
	if (used == IMB_ARCH_NONE || imb_get_errno(mb->mgr))
		goto fail;
	*arch = used;
	return mb;
fail:
	sp_close(mb);
	return NULL;
}

static int sp_prepare(struct sp_mb *mb, uint32_t algorithm, const uint8_t *key, struct sp_key *out)
{
	uint8_t unused[176] __attribute__((aligned(16)));

	memset(out, 0, sizeof(*out));
	switch (algorithm) {
	case SP_NEA1:
	case SP_NIA1:
		if (IMB_SNOW3G_KEY_SCHED_SIZE(mb->mgr) > sizeof(out->expanded))
			return -1;
		return IMB_SNOW3G_INIT_KEY_SCHED(mb->mgr, key, (snow3g_key_schedule_t *)out->expanded);
	case SP_NEA2:
	case SP_NIA2:
		IMB_AES_KEYEXP_128(mb->mgr, key, out->expanded, unused);
		imb_clear_mem(unused, sizeof(unused));
		if (algorithm == SP_NIA2)
			IMB_AES_CMAC_SUBKEY_GEN_128(mb->mgr, out->expanded, out->subkey1, out->subkey2);
		return 0;
	case SP_NEA3:
	case SP_NIA3:
		memcpy(out->expanded, key, 16);
		return 0;
	}
	return -1;
}

static void done(struct sp_mb *mb, struct sp_op *op)
{
	op->done = 1;
	mb->done++;
}

static void complete(struct sp_mb *mb, const IMB_JOB *job)
{
	if (job->status == IMB_STATUS_COMPLETED)
		done(mb, job->user_data);
}

static void submit(struct sp_mb *mb)
{
	IMB_JOB *job = IMB_SUBMIT_JOB_NOCHECK(mb->mgr);

	for (; job; job = IMB_GET_COMPLETED_JOB(mb->mgr))
		complete(mb, job);
}

static void flush(struct sp_mb *mb)
{
	IMB_JOB *job;

	while ((job = IMB_FLUSH_JOB(mb->mgr)))
		complete(mb, job);
}

static IMB_JOB *next(struct sp_mb *mb, struct sp_op *op)
{
	IMB_JOB *job = IMB_GET_NEXT_JOB(mb->mgr);

	job->user_data = op;
	job->src = op->data;
	job->cipher_direction = IMB_DIR_ENCRYPT;
	job->chain_order = IMB_ORDER_CIPHER_HASH;
	job->cipher_mode = IMB_CIPHER_NULL;
	job->hash_alg = IMB_AUTH_NULL;
	return job;
}

/* Jobs of one length fill all lanes and leave them together. A flush of lanes that are not full costs a pass for each that is empty
 * (13 us for one packet of 64 bytes, 125 us for one of 1400 with release 1.3), so all others go by the direct call. */
static void nea1(struct sp_mb *mb, struct sp_op *ops, uint32_t n)
{
	const snow3g_key_schedule_t *keys[SP_LANES];
	const void *ivs[SP_LANES], *in[SP_LANES];
	void *out[SP_LANES];
	uint32_t lens[SP_LANES];

	for (uint32_t at = 0; at < n;) {
		uint32_t left = n - at, count = left < SP_LANES ? left : SP_LANES;
		struct sp_op *group = ops + at;

		at += count;
		/* The caller sorts by length. */
		if (count == SP_LANES && group[0].len == group[SP_LANES - 1].len) {
			for (uint32_t i = 0; i < count; i++) {
				IMB_JOB *job = next(mb, &group[i]);

				job->cipher_mode = IMB_CIPHER_SNOW3G_UEA2_BITLEN;
				job->dst = group[i].data;
				job->enc_keys = group[i].key->expanded;
				job->key_len_in_bytes = 16;
				job->iv = group[i].iv;
				job->iv_len_in_bytes = 16;
				job->cipher_start_src_offset_in_bits = 0;
				job->msg_len_to_cipher_in_bits = 8ull * group[i].len;
				submit(mb);
			}
			flush(mb);
			continue;
		}
		for (uint32_t i = 0; i < count; i++) {
			keys[i] = (const snow3g_key_schedule_t *)group[i].key->expanded;
			ivs[i] = group[i].iv;
			in[i] = out[i] = group[i].data;
			lens[i] = group[i].len;
			done(mb, &group[i]);
		}
		if (count == 1)
			IMB_SNOW3G_F8_1_BUFFER(mb->mgr, keys[0], ivs[0], in[0], out[0], lens[0]);
		else
			IMB_SNOW3G_F8_N_BUFFER_MULTIKEY(mb->mgr, keys, ivs, in, out, lens, count);
	}
}

static void nea2(struct sp_mb *mb, struct sp_op *ops, uint32_t n)
{
	for (uint32_t at = 0; at < n; at += SP_CHUNK) {
		uint32_t count = n - at < SP_CHUNK ? n - at : SP_CHUNK;

		for (uint32_t i = 0; i < count; i++) {
			struct sp_op *op = &ops[at + i];
			IMB_JOB *job = &mb->jobs[i];

			job->src = job->dst = op->data;
			job->enc_keys = job->dec_keys = op->key->expanded;
			job->iv = op->iv;
			job->msg_len_to_cipher_in_bytes = op->len;
			job->status = IMB_STATUS_BEING_PROCESSED;
		}
		IMB_SUBMIT_CIPHER_BURST_NOCHECK(mb->mgr, mb->jobs, count, IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT, IMB_KEY_128_BYTES);
		for (uint32_t i = 0; i < count; i++)
			if (mb->jobs[i].status == IMB_STATUS_COMPLETED)
				done(mb, &ops[at + i]);
	}
}

#define SP_VAES __attribute__((target("avx512f,avx512bw,vaes")))

SP_VAES static inline __m512i four_blocks(const __m128i *keys, __m512i counters)
{
	__m512i blocks = _mm512_xor_si512(counters, _mm512_broadcast_i32x4(keys[0]));

	for (int round = 1; round < 10; round++)
		blocks = _mm512_aesenc_epi128(blocks, _mm512_broadcast_i32x4(keys[round]));
	return _mm512_aesenclast_epi128(blocks, _mm512_broadcast_i32x4(keys[10]));
}

/* A message of at most SP_SHORT bytes, four blocks at a time, as the library's job for one costs more than its blocks. Whoever calls goes on with the next
 * message while these blocks are under way. `start` is the first half of the counter, whose second half begins at 0. */
SP_VAES static void sp_nea2_short(const struct sp_key *key, uint64_t start, uint8_t *data, uint32_t len)
{
	const __m128i *keys = (const __m128i *)key->expanded;
	const __m512i next = _mm512_set_epi64(4ll << 56, 0, 4ll << 56, 0, 4ll << 56, 0, 4ll << 56, 0);
	/* Of so few blocks only a counter's last byte counts. */
	__m512i counters = _mm512_mask_set1_epi64(_mm512_set_epi64(3ll << 56, 0, 2ll << 56, 0, 1ll << 56, 0, 0, 0), 0x55, (long long)start);

	for (; len >= 64; len -= 64, data += 64) {
		_mm512_storeu_si512(data, _mm512_xor_si512(_mm512_loadu_si512(data), four_blocks(keys, counters)));
		counters = _mm512_add_epi64(counters, next);
	}
	if (len) {
		__mmask64 mask = ~0ull >> (64 - len);

		_mm512_mask_storeu_epi8(data, mask, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, data), four_blocks(keys, counters)));
	}
}

/* Round keys of sp_nea2_short() stay in no register behind a burst. */
SP_VAES static void sp_forget(void)
{
	_mm256_zeroall();
#define CLEAR(n) __asm__ volatile("vpxorq %zmm" #n ", %zmm" #n ", %zmm" #n)
	CLEAR(16);
	CLEAR(17);
	CLEAR(18);
	CLEAR(19);
	CLEAR(20);
	CLEAR(21);
	CLEAR(22);
	CLEAR(23);
	CLEAR(24);
	CLEAR(25);
	CLEAR(26);
	CLEAR(27);
	CLEAR(28);
	CLEAR(29);
	CLEAR(30);
	CLEAR(31);
#undef CLEAR
}

static void zuc(struct sp_mb *mb, struct sp_op *ops, uint32_t n, int mac)
{
	const void *keys[SP_CHUNK], *ivs[SP_CHUNK], *in[SP_CHUNK];
	void *out[SP_CHUNK];
	uint32_t *tags[SP_CHUNK];
	uint32_t lens[SP_CHUNK];

	for (uint32_t at = 0; at < n; at += SP_CHUNK) {
		uint32_t count = n - at < SP_CHUNK ? n - at : SP_CHUNK;

		for (uint32_t i = 0; i < count; i++) {
			struct sp_op *op = &ops[at + i];

			keys[i] = op->key->expanded;
			ivs[i] = op->iv;
			in[i] = out[i] = op->data;
			lens[i] = mac ? 8 * op->len : op->len;
			tags[i] = &op->mac;
			done(mb, op);
		}
		if (mac && count == 1)
			IMB_ZUC_EIA3_1_BUFFER(mb->mgr, keys[0], ivs[0], in[0], lens[0], tags[0]);
		else if (mac)
			IMB_ZUC_EIA3_N_BUFFER(mb->mgr, keys, ivs, in, lens, tags, count);
		else if (count == 1)
			IMB_ZUC_EEA3_1_BUFFER(mb->mgr, keys[0], ivs[0], in[0], out[0], lens[0]);
		else
			IMB_ZUC_EEA3_N_BUFFER(mb->mgr, keys, ivs, in, out, lens, count);
	}
}

static void nia1(struct sp_mb *mb, struct sp_op *ops, uint32_t n)
{
	if (n == 1) {
		IMB_SNOW3G_F9_1_BUFFER(mb->mgr, (const snow3g_key_schedule_t *)ops->key->expanded, ops->iv, ops->data, 8ull * ops->len,
				       &ops->mac);
		done(mb, ops);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		IMB_JOB *job = next(mb, &ops[i]);

		job->hash_alg = IMB_AUTH_SNOW3G_UIA2_BITLEN;
		job->hash_start_src_offset_in_bytes = 0;
		job->msg_len_to_hash_in_bits = 8ull * ops[i].len;
		job->auth_tag_output = (uint8_t *)&ops[i].mac;
		job->auth_tag_output_len_in_bytes = 4;
		job->u.SNOW3G_UIA2._key = ops[i].key->expanded;
		job->u.SNOW3G_UIA2._iv = ops[i].iv;
		submit(mb);
	}
	flush(mb);
}

/* Whether the processor has what the functions below need that are beside the library. */
static int sp_vaes;

#define SP_AES __attribute__((target("aes,avx512f,avx512bw,avx512vl")))

/* Of AES-CMAC (RFC 4493): what is chained in after so many whole blocks, of a message that begins with the 8 bytes of COUNT, BEARER and DIRECTION. */
SP_AES static inline __m128i cmac_block(const struct sp_op *op, uint32_t at, uint32_t blocks)
{
	__m128i front = _mm_loadl_epi64((const __m128i *)op->iv), block;
	uint32_t left = op->len + 8 - 16 * at;
	__mmask16 mask;

	if (at + 1 < blocks)
		return at ? _mm_loadu_si128((const __m128i *)(op->data + 16 * at - 8)) :
			    _mm_unpacklo_epi64(front, _mm_loadl_epi64((const __m128i *)op->data));
	/* The last one: 1 to 16 bytes. Nothing is read behind the message. */
	if (at) {
		mask = left == 16 ? 0xffff : (__mmask16)((1u << left) - 1);
		block = _mm_maskz_loadu_epi8(mask, op->data + 16 * at - 8);
	} else {
		mask = (__mmask16)((1u << op->len) - 1);
		block = _mm_unpacklo_epi64(front, _mm_maskz_loadu_epi8(mask, op->data));
	}
	if (left == 16)
		return _mm_xor_si128(block, _mm_loadu_si128((const __m128i *)op->key->subkey1));
	block = _mm_mask_mov_epi8(block, (__mmask16)(1u << left), _mm_set1_epi8((char)0x80));
	return _mm_xor_si128(block, _mm_loadu_si128((const __m128i *)op->key->subkey2));
}

/* Blocks that are whole and not the last of any, of so many messages: their rounds in turn, from the second block on. */
SP_AES static inline void cmac_together(const struct sp_op *group, __m128i *states, uint32_t blocks)
{
	__m128i state[SP_CHAINS];
	const __m128i *keys[SP_CHAINS];

	for (int i = 0; i < SP_CHAINS; i++) {
		keys[i] = (const __m128i *)group[i].key->expanded;
		state[i] = states[i];
	}
	for (uint32_t at = 1; at < blocks; at++) {
		for (int i = 0; i < SP_CHAINS; i++) {
			__m128i block = _mm_loadu_si128((const __m128i *)(group[i].data + 16 * at - 8));

			state[i] = _mm_xor_si128(state[i], _mm_xor_si128(block, keys[i][0]));
		}
		for (int round = 1; round < 10; round++)
			for (int i = 0; i < SP_CHAINS; i++)
				state[i] = _mm_aesenc_si128(state[i], keys[i][round]);
		for (int i = 0; i < SP_CHAINS; i++)
			state[i] = _mm_aesenclast_si128(state[i], keys[i][10]);
	}
	for (int i = 0; i < SP_CHAINS; i++)
		states[i] = state[i];
}

/* As nia2() by the library, which costs more than the AES: it wants the message in a copy, and a job for it. */
SP_AES static void nia2_in_place(struct sp_mb *mb, struct sp_op *ops, uint32_t n)
{
	for (uint32_t from = 0; from < n; from += SP_CHAINS) {
		uint32_t count = n - from < SP_CHAINS ? n - from : SP_CHAINS, most = 0, least = UINT32_MAX;
		struct sp_op *group = ops + from;
		uint32_t blocks[SP_CHAINS];
		__m128i states[SP_CHAINS];

		for (uint32_t i = 0; i < count; i++) {
			blocks[i] = (group[i].len + 8 + 15) / 16;
			most = blocks[i] > most ? blocks[i] : most;
			least = blocks[i] < least ? blocks[i] : least;
			states[i] = _mm_setzero_si128();
		}
		for (uint32_t at = 0; at < most; at++) {
			if (at == 1 && count == SP_CHAINS && least > 2) {
				cmac_together(group, states, least - 1);
				at = least - 1;
			}
			for (uint32_t i = 0; i < count; i++) {
				const __m128i *keys = (const __m128i *)group[i].key->expanded;
				__m128i state;

				if (at >= blocks[i])
					continue;
				state = _mm_xor_si128(_mm_xor_si128(states[i], cmac_block(&group[i], at, blocks[i])), keys[0]);
				for (int round = 1; round < 10; round++)
					state = _mm_aesenc_si128(state, keys[round]);
				states[i] = _mm_aesenclast_si128(state, keys[10]);
			}
		}
		for (uint32_t i = 0; i < count; i++) {
			group[i].mac = (uint32_t)_mm_cvtsi128_si32(states[i]);
			done(mb, &group[i]);
		}
	}
	/* Round keys and states stay in no register. */
	sp_forget();
}

/* The library wants COUNT, BEARER and DIRECTION before the message in one piece, so messages are copied behind them; `whole` have them. */
static void nia2(struct sp_mb *mb, struct sp_op *ops, uint32_t n, int whole)
{
	for (uint32_t at = 0; at < n; at += SP_COPIES) {
		uint32_t count = n - at < SP_COPIES ? n - at : SP_COPIES;
		uint8_t *copy = mb->copies;

		for (uint32_t i = 0; i < count; i++) {
			struct sp_op *op = &ops[at + i];
			IMB_JOB *job = next(mb, op);

			if (!whole) {
				memcpy(copy, op->iv, 8);
				memcpy(copy + 8, op->data, op->len);
				job->src = copy;
				copy += (8 + op->len + 15) & ~15u;
			}
			job->hash_alg = IMB_AUTH_AES_CMAC;
			job->hash_start_src_offset_in_bytes = 0;
			job->msg_len_to_hash_in_bytes = (whole ? 0 : 8) + op->len;
			job->auth_tag_output = (uint8_t *)&op->mac;
			job->auth_tag_output_len_in_bytes = 4;
			job->u.CMAC._key_expanded = op->key->expanded;
			job->u.CMAC._skey1 = op->key->subkey1;
			job->u.CMAC._skey2 = op->key->subkey2;
			submit(mb);
		}
		flush(mb);
	}
}

/* How many were done. */
static uint32_t sp_run(struct sp_mb *mb, uint32_t algorithm, struct sp_op *ops, uint32_t n)
{
	mb->done = 0;
	switch (algorithm) {
	case SP_NEA1:
		nea1(mb, ops, n);
		break;
	case SP_NEA2:
		nea2(mb, ops, n);
		break;
	case SP_NEA3:
		zuc(mb, ops, n, 0);
		break;
	case SP_NIA1:
		nia1(mb, ops, n);
		break;
	case SP_NIA2:
		if (sp_vaes) {
			nia2_in_place(mb, ops, n);
			break;
		}
		nia2(mb, ops, n, 0);
		break;
	case SP_NIA2_WHOLE:
		nia2(mb, ops, n, 1);
		break;
	case SP_NIA3:
		zuc(mb, ops, n, 1);
		break;
	}
	return mb->done;
}

/* The functions, in the order of `Api` in src/ipsec_mb.rs. */
struct sp_api {
	uint32_t version;
	uint32_t nea2_short_len; /* SP_SHORT */
	const char *(*library)(void);
	struct sp_mb *(*open)(uint32_t *arch);
	void (*close)(struct sp_mb *mb);
	int (*prepare)(struct sp_mb *mb, uint32_t algorithm, const uint8_t *key, struct sp_key *out);
	uint32_t (*run)(struct sp_mb *mb, uint32_t algorithm, struct sp_op *ops, uint32_t n);
	/* Both NULL on a processor that cannot. */
	void (*nea2_short)(const struct sp_key *key, uint64_t start, uint8_t *data, uint32_t len);
	void (*forget)(void);
};

const struct sp_api *sp_ipsec_mb(void);

const struct sp_api *sp_ipsec_mb(void)
{
	static struct sp_api api = { SP_VERSION, SP_SHORT, sp_version, sp_open, sp_close, sp_prepare, sp_run, NULL, NULL };

	sp_vaes = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("vaes") &&
		  __builtin_cpu_supports("aes");
	if (sp_vaes) {
		api.nea2_short = sp_nea2_short;
		api.forget = sp_forget;
	}
	return &api;
}
