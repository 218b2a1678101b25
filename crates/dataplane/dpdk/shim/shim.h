/* What the shim offers to src/shim.rs, which has the same declarations in Rust: change both, and VERSION in both.
 *
 * DPDK's headers are inline functions and structures whose layout changes from release to release: C that is compiled against them
 * turns them into a few calls, one a burst. All functions return 0 or a negative errno unless said otherwise. */
#ifndef SPLITPLANE_DPDK_SHIM_H
#define SPLITPLANE_DPDK_SHIM_H

#include <stddef.h>
#include <stdint.h>

#define SP_VERSION 1
/* Most packets in one call. */
#define SP_BURST 64

/* A line of DPDK's log; level 1 (emergency) to 8 (debug). */
typedef void (*sp_log_fn)(int level, const char *text, size_t len);

struct sp_info {
	char driver[32];
	uint8_t mac[6];
	uint16_t mtu;
	uint16_t max_rx_queues;
	uint16_t max_tx_queues;
	uint16_t min_mtu;
	uint16_t max_mtu;
};

struct sp_stats {
	uint64_t rx_missed;
	uint64_t rx_no_mbuf;
	uint64_t rx_errors;
	uint64_t tx_errors;
};

struct sp_frame {
	const uint8_t *data; /* NULL: in several pieces, see copy */
	uint32_t len;
	uint32_t reserved;
};

struct sp_queue;
struct sp_swx;

/* Frames that an SWX pipeline receives in turn. They live as long as it runs. */
struct sp_swx_frames {
	const uint8_t *bytes; /* all frames, one after the other */
	const uint32_t *offsets; /* count + 1 of them */
	uint32_t count;
};

struct sp_api {
	uint32_t version;
	/* eal.c */
	int (*eal_init)(int argc, char **argv, sp_log_fn log);
	int (*thread_register)(void);
	void (*thread_unregister)(void);
	const char *(*error_text)(int error);
	/* port.c */
	int (*probe)(const char *devargs, const char *name, uint16_t *port);
	int (*describe)(uint16_t port, struct sp_info *info);
	int (*start)(uint16_t port, uint16_t queues, uint16_t mtu, uint32_t descriptors, const uint8_t *mac, int dma,
		     struct sp_queue **out);
	int (*stop)(uint16_t port, struct sp_queue **queues, uint16_t count);
	uint32_t (*receive)(struct sp_queue *queue, struct sp_frame *frames, uint32_t count);
	uint32_t (*copy)(struct sp_queue *queue, uint32_t index, uint8_t *to, uint32_t room);
	void (*release)(struct sp_queue *queue);
	uint32_t (*transmit)(struct sp_queue *queue, const struct sp_frame *frames, uint32_t count);
	int (*link_is_up)(uint16_t port);
	int (*stats)(uint16_t port, struct sp_stats *stats);
	/* swx.c */
	int (*swx_create)(const char *name, struct sp_swx **out);
	int (*swx_struct)(struct sp_swx *swx, const char *name, const char **fields, const uint32_t *bits, uint32_t count);
	int (*swx_header)(struct sp_swx *swx, const char *name, const char *type);
	int (*swx_metadata)(struct sp_swx *swx, const char *type);
	int (*swx_regarray)(struct sp_swx *swx, const char *name, uint32_t size);
	int (*swx_metarray)(struct sp_swx *swx, const char *name, uint32_t size);
	int (*swx_action)(struct sp_swx *swx, const char *name, const char *args, const char **lines, uint32_t count);
	int (*swx_table)(struct sp_swx *swx, const char *name, const char **keys, uint32_t n_keys, const char **actions, uint32_t n_actions,
			 const char *default_action, uint32_t size);
	int (*swx_apply)(struct sp_swx *swx, const char **lines, uint32_t count);
	int (*swx_build)(struct sp_swx *swx);
	int (*swx_generate)(const char *spec, const char *code, char *error, uint32_t error_room);
	int (*swx_load)(const char *name, const char *library, struct sp_swx **out);
	int (*swx_entry)(struct sp_swx *swx, const char *table, const char *text);
	int (*swx_commit)(struct sp_swx *swx);
	int (*swx_meters)(struct sp_swx *swx, const char *array, uint32_t count, uint64_t bytes_per_s, uint64_t burst);
	int (*swx_register)(struct sp_swx *swx, const char *array, uint32_t index, uint64_t *value);
	void (*swx_input)(struct sp_swx *swx, struct sp_swx_frames frames);
	/* Packets that came out; up to `most` of them are kept, `slot` bytes apart. */
	uint64_t (*swx_run)(struct sp_swx *swx, uint64_t packets, uint8_t *keep, uint32_t slot, uint32_t *lengths, uint32_t most);
	uint64_t (*swx_dropped)(struct sp_swx *swx);
	void (*swx_free)(struct sp_swx *swx);
};

/* The one symbol that is looked up. */
const struct sp_api *sp_api(void);

int sp_thread_register(void);
void sp_thread_unregister(void);

#endif
