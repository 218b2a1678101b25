/* An SWX pipeline between two ports in memory: one delivers frames in turn, the other counts what comes out, or keeps it for comparison.
 *
 * The pipeline is either configured call by call, and then interpreted by DPDK, or loaded as a library of generated code. The latter takes
 * only ports of DPDK's own types: it is given rings, and the library (see src/swx/generate.rs) puts ours in their place. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_meter.h>
#include <rte_ring.h>
#include <rte_swx_ctl.h>
#include <rte_swx_pipeline.h>
#include <rte_swx_port.h>
#include <rte_swx_port_ring.h>

#include "shim.h"

/* Buffers that packets come in by turns: more than the pipeline works on at once (RTE_SWX_PIPELINE_THREADS_MAX, 16). */
#define SLOTS 32
#define SLOT 2304
/* Room for a tunnel header. */
#define HEADROOM 256
/* Instructions between two looks at whether all packets are through. */
#define SLICE 2000
/* Slices without a packet after which the pipeline is taken to be stuck. */
#define STUCK 1000

struct sp_swx {
	struct rte_swx_pipeline *pipeline;
	struct rte_swx_ctl_pipeline *control;
	struct rte_ring *ring;
	struct sp_swx_frames frames;
	/* Ahead: frames still to be delivered, and where in the turn. */
	uint64_t ahead;
	uint32_t next;
	uint32_t slot;
	/* Came out, and was dropped, since it was made. */
	uint64_t out;
	uint64_t dropped;
	uint8_t *keep;
	uint32_t keep_slot;
	uint32_t *lengths;
	uint32_t most;
	uint32_t kept;
	uint8_t *buffers;
};

static void *port_create(void *args)
{
	return args;
}

static void port_free(void *port)
{
	(void)port;
}

static int receive(void *port, struct rte_swx_pkt *packet)
{
	struct sp_swx *swx = port;
	uint8_t *buffer;
	uint32_t from;

	if (!swx->ahead)
		return 0;
	swx->ahead--;
	buffer = swx->buffers + (size_t)swx->slot * SLOT;
	swx->slot = (swx->slot + 1) % SLOTS;
	from = swx->frames.offsets[swx->next];
	packet->handle = buffer;
	packet->pkt = buffer;
	packet->offset = HEADROOM;
	packet->length = swx->frames.offsets[swx->next + 1] - from;
	memcpy(buffer + HEADROOM, swx->frames.bytes + from, packet->length);
	if (++swx->next == swx->frames.count)
		swx->next = 0;
	return 1;
}

static void transmit(void *port, struct rte_swx_pkt *packet)
{
	struct sp_swx *swx = port;

	swx->out++;
	if (swx->kept < swx->most) {
		uint32_t length = RTE_MIN(packet->length, swx->keep_slot);

		memcpy(swx->keep + (size_t)swx->kept * swx->keep_slot, packet->pkt + packet->offset, length);
		swx->lengths[swx->kept++] = packet->length;
	}
}

static void drop(void *port, struct rte_swx_pkt *packet)
{
	struct sp_swx *swx = port;

	(void)packet;
	swx->dropped++;
}

static void clone_whole(void *port, struct rte_swx_pkt *packet)
{
	(void)port;
	(void)packet;
}

static void clone_cut(void *port, struct rte_swx_pkt *packet, uint32_t length)
{
	(void)port;
	(void)packet;
	(void)length;
}

static void flush(void *port)
{
	(void)port;
}

static void in_stats(void *port, struct rte_swx_port_in_stats *stats)
{
	(void)port;
	memset(stats, 0, sizeof(*stats));
}

static void out_stats(void *port, struct rte_swx_port_out_stats *stats)
{
	(void)port;
	memset(stats, 0, sizeof(*stats));
}

static struct sp_swx *make(void)
{
	struct sp_swx *swx = calloc(1, sizeof(*swx));

	if (!swx)
		return NULL;
	swx->buffers = aligned_alloc(64, (size_t)SLOTS * SLOT);
	if (!swx->buffers) {
		free(swx);
		return NULL;
	}
	memset(swx->buffers, 0, (size_t)SLOTS * SLOT);
	return swx;
}

static void swx_free(struct sp_swx *swx)
{
	if (!swx)
		return;
	if (swx->control)
		rte_swx_ctl_pipeline_free(swx->control);
	if (swx->pipeline)
		rte_swx_pipeline_free(swx->pipeline);
	rte_ring_free(swx->ring);
	free(swx->buffers);
	free(swx);
}

/* An empty pipeline with its ports: one in, one out, and one that the programs send packets to that they drop. (SWX's own instruction
 * for that frees mbufs, which ours are not.) */
static int swx_create(const char *name, struct sp_swx **out)
{
	static struct rte_swx_port_in_ops in = { .create = port_create, .free = port_free, .pkt_rx = receive, .stats_read = in_stats };
	static struct rte_swx_port_out_ops sink = { .create = port_create, .free = port_free, .pkt_tx = transmit, .pkt_fast_clone_tx = clone_whole,
						    .pkt_clone_tx = clone_cut, .flush = flush, .stats_read = out_stats };
	static struct rte_swx_port_out_ops dropper = { .create = port_create, .free = port_free, .pkt_tx = drop,
						       .pkt_fast_clone_tx = clone_whole, .pkt_clone_tx = clone_cut, .flush = flush,
						       .stats_read = out_stats };
	struct sp_swx *swx = make();
	int error;

	if (!swx)
		return -ENOMEM;
	error = rte_swx_pipeline_config(&swx->pipeline, name, 0);
	if (!error)
		error = rte_swx_pipeline_port_in_type_register(swx->pipeline, "memory_frames", &in);
	if (!error)
		error = rte_swx_pipeline_port_out_type_register(swx->pipeline, "memory_sink", &sink);
	if (!error)
		error = rte_swx_pipeline_port_out_type_register(swx->pipeline, "memory_dropper", &dropper);
	if (!error)
		error = rte_swx_pipeline_port_in_config(swx->pipeline, 0, "memory_frames", swx);
	if (!error)
		error = rte_swx_pipeline_port_out_config(swx->pipeline, 0, "memory_sink", swx);
	if (!error)
		error = rte_swx_pipeline_port_out_config(swx->pipeline, 1, "memory_dropper", swx);
	if (error) {
		swx_free(swx);
		return error;
	}
	*out = swx;
	return 0;
}

static int swx_struct(struct sp_swx *swx, const char *name, const char **fields, const uint32_t *bits, uint32_t count)
{
	struct rte_swx_field_params *params = calloc(count, sizeof(*params));
	uint32_t i;
	int error;

	if (!params)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		params[i].name = fields[i];
		params[i].n_bits = bits[i];
	}
	error = rte_swx_pipeline_struct_type_register(swx->pipeline, name, params, count, 0);
	free(params);
	return error;
}

static int swx_header(struct sp_swx *swx, const char *name, const char *type)
{
	return rte_swx_pipeline_packet_header_register(swx->pipeline, name, type);
}

static int swx_metadata(struct sp_swx *swx, const char *type)
{
	return rte_swx_pipeline_packet_metadata_register(swx->pipeline, type);
}

static int swx_regarray(struct sp_swx *swx, const char *name, uint32_t size)
{
	return rte_swx_pipeline_regarray_config(swx->pipeline, name, size, 0);
}

static int swx_metarray(struct sp_swx *swx, const char *name, uint32_t size)
{
	return rte_swx_pipeline_metarray_config(swx->pipeline, name, size);
}

/* `args` NULL: none. */
static int swx_action(struct sp_swx *swx, const char *name, const char *args, const char **lines, uint32_t count)
{
	return rte_swx_pipeline_action_config(swx->pipeline, name, args, lines, count);
}

/* All keys are exact. */
static int swx_table(struct sp_swx *swx, const char *name, const char **keys, uint32_t n_keys, const char **actions, uint32_t n_actions,
		     const char *default_action, uint32_t size)
{
	struct rte_swx_match_field_params fields[8];
	struct rte_swx_pipeline_table_params params = {
		.fields = fields,
		.n_fields = n_keys,
		.action_names = actions,
		.n_actions = n_actions,
		.default_action_name = default_action,
		.default_action_is_const = 1,
	};
	uint32_t i;

	if (n_keys > RTE_DIM(fields))
		return -E2BIG;
	for (i = 0; i < n_keys; i++) {
		fields[i].name = keys[i];
		fields[i].match_type = RTE_SWX_TABLE_MATCH_EXACT;
	}
	return rte_swx_pipeline_table_config(swx->pipeline, name, &params, NULL, NULL, size);
}

static int swx_apply(struct sp_swx *swx, const char **lines, uint32_t count)
{
	return rte_swx_pipeline_instructions_config(swx->pipeline, lines, count);
}

static int open_control(struct sp_swx *swx)
{
	swx->control = rte_swx_ctl_pipeline_create(swx->pipeline);
	return swx->control ? 0 : -ENODEV;
}

static int swx_build(struct sp_swx *swx)
{
	int error = rte_swx_pipeline_build(swx->pipeline);

	return error ? error : open_control(swx);
}

/* C code of the specification in the file `spec`, into the file `code`. */
static int swx_generate(const char *spec, const char *code, char *error, uint32_t error_room)
{
	FILE *from = fopen(spec, "r"), *to = fopen(code, "w");
	const char *text = "cannot open the files";
	uint32_t line = 0;
	int result = -EIO;

	if (from && to)
		result = rte_swx_pipeline_codegen(from, to, &line, &text);
	if (result)
		snprintf(error, error_room, "line %u: %s", line, text ? text : "");
	if (from)
		fclose(from);
	if (to && fclose(to) && !result) {
		snprintf(error, error_room, "cannot write the code");
		result = -EIO;
	}
	return result;
}

typedef void (*take_ports_fn)(struct rte_swx_pipeline *pipeline, rte_swx_port_in_pkt_rx_t receive, rte_swx_port_out_pkt_tx_t transmit,
			      rte_swx_port_out_pkt_tx_t drop, rte_swx_port_out_flush_t flush, void *port);

/* A pipeline of the generated code in `library`. */
static int swx_load(const char *name, const char *library, struct sp_swx **out)
{
	struct sp_swx *swx = make();
	take_ports_fn take_ports = NULL;
	char text[512], ring[RTE_RING_NAMESIZE];
	FILE *file;
	void *object;
	int error;

	if (!swx)
		return -ENOMEM;
	snprintf(ring, sizeof(ring), "r_%.20s", name);
	swx->ring = rte_ring_create(ring, 64, 0, 0);
	snprintf(text, sizeof(text), "port in 0 ring %s bsz 1\nport out 0 ring %s bsz 1\nport out 1 ring %s bsz 1\n", ring, ring, ring);
	file = swx->ring ? fmemopen(text, strlen(text), "r") : NULL;
	if (!file) {
		swx_free(swx);
		return -ENOMEM;
	}
	error = rte_swx_pipeline_build_from_lib(&swx->pipeline, name, library, file, 0);
	fclose(file);
	if (!error)
		error = open_control(swx);
	if (!error) {
		/* The pipeline holds the library open; this one goes at once. */
		object = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
		if (object) {
			*(void **)&take_ports = dlsym(object, "splitplane_take_ports");
			dlclose(object);
		}
		error = take_ports ? 0 : -EINVAL;
	}
	if (error) {
		swx_free(swx);
		return error;
	}
	take_ports(swx->pipeline, receive, transmit, drop, flush, swx);
	*out = swx;
	return 0;
}

/* `text` as DPDK reads entries: "match KEY... action NAME ARGUMENT VALUE...". */
static int swx_entry(struct sp_swx *swx, const char *table, const char *text)
{
	struct rte_swx_table_entry *entry;
	int blank = 0, error;

	entry = rte_swx_ctl_pipeline_table_entry_read(swx->control, table, text, &blank);
	if (!entry)
		return -EINVAL;
	error = rte_swx_ctl_pipeline_table_entry_add(swx->control, table, entry);
	free(entry->key);
	free(entry->key_mask);
	free(entry->action_data);
	free(entry);
	return error;
}

static int swx_commit(struct sp_swx *swx)
{
	return rte_swx_ctl_pipeline_commit(swx->control, 1);
}

/* The same two rates (RFC 2698) for each meter of an array. */
static int swx_meters(struct sp_swx *swx, const char *array, uint32_t count, uint64_t bytes_per_s, uint64_t burst)
{
	struct rte_meter_trtcm_params params = { .cir = bytes_per_s, .pir = bytes_per_s, .cbs = burst, .pbs = burst };
	uint32_t i;
	int error = rte_swx_ctl_meter_profile_add(swx->pipeline, "rate", &params);

	for (i = 0; i < count && !error; i++)
		error = rte_swx_ctl_meter_set(swx->pipeline, array, i, "rate");
	return error;
}

static int swx_register(struct sp_swx *swx, const char *array, uint32_t index, uint64_t *value)
{
	return rte_swx_ctl_pipeline_regarray_read(swx->pipeline, array, index, value);
}

static void swx_input(struct sp_swx *swx, struct sp_swx_frames frames)
{
	swx->frames = frames;
	swx->next = 0;
}

static uint64_t swx_run(struct sp_swx *swx, uint64_t packets, uint8_t *keep, uint32_t slot, uint32_t *lengths, uint32_t most)
{
	uint64_t begin = swx->out, done = swx->out + swx->dropped, end = done + packets;
	uint32_t idle = 0;

	swx->keep = keep;
	swx->keep_slot = slot;
	swx->lengths = lengths;
	swx->most = most;
	swx->kept = 0;
	swx->ahead = packets;
	while (done != end && idle < STUCK) {
		uint64_t before = done;

		rte_swx_pipeline_run(swx->pipeline, SLICE);
		done = swx->out + swx->dropped;
		idle = done == before ? idle + 1 : 0;
	}
	swx->ahead = 0;
	swx->most = 0;
	return swx->out - begin;
}

static uint64_t swx_dropped(struct sp_swx *swx)
{
	return swx->dropped;
}

extern const struct sp_api sp_swx_api;
const struct sp_api sp_swx_api = {
	.swx_create = swx_create,
	.swx_struct = swx_struct,
	.swx_header = swx_header,
	.swx_metadata = swx_metadata,
	.swx_regarray = swx_regarray,
	.swx_metarray = swx_metarray,
	.swx_action = swx_action,
	.swx_table = swx_table,
	.swx_apply = swx_apply,
	.swx_build = swx_build,
	.swx_generate = swx_generate,
	.swx_load = swx_load,
	.swx_entry = swx_entry,
	.swx_commit = swx_commit,
	.swx_meters = swx_meters,
	.swx_register = swx_register,
	.swx_input = swx_input,
	.swx_run = swx_run,
	.swx_dropped = swx_dropped,
	.swx_free = swx_free,
};
