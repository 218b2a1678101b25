/* An Ethernet device of DPDK with as many queue pairs as it has users. Nobody else is told of mbufs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>

#include "shim.h"

/* mbufs that wait in a memory pool's cache for the thread that freed them. */
#define CACHE 256
/* Ethernet header, two VLAN tags, check sequence. */
#define FRAME_OVERHEAD 26
/* What drivers that make frames themselves expect at least. */
#define LEAST_ROOM 2048

struct sp_queue {
	uint16_t port;
	uint16_t queue;
	uint32_t held_count;
	uint32_t room;
	struct rte_mempool *pool;
	struct rte_mbuf *held[SP_BURST];
};

/* Makes a device of `devargs` and looks for its port. */
static int probe(const char *devargs, const char *name, uint16_t *port)
{
	int error = rte_dev_probe(devargs);

	if (error)
		return error;
	if (rte_eth_dev_get_port_by_name(name, port))
		return -ENODEV;
	return 0;
}

static int describe(uint16_t port, struct sp_info *out)
{
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	int error;

	memset(out, 0, sizeof(*out));
	error = rte_eth_dev_info_get(port, &info);
	if (error)
		return error;
	error = rte_eth_macaddr_get(port, &mac);
	if (error)
		return error;
	memcpy(out->mac, mac.addr_bytes, sizeof(out->mac));
	error = rte_eth_dev_get_mtu(port, &out->mtu);
	if (error)
		return error;
	snprintf(out->driver, sizeof(out->driver), "%s", info.driver_name ? info.driver_name : "");
	out->max_rx_queues = info.max_rx_queues;
	out->max_tx_queues = info.max_tx_queues;
	out->min_mtu = info.min_mtu;
	out->max_mtu = info.max_mtu;
	return 0;
}

static void free_queues(struct sp_queue **queues, uint16_t count)
{
	uint16_t i;

	for (i = 0; i < count; i++) {
		if (!queues[i])
			continue;
		rte_mempool_free(queues[i]->pool);
		free(queues[i]);
		queues[i] = NULL;
	}
}

/* As rte_pktmbuf_pool_create makes one, but without hardware that reads the mbufs they need not lie in one page each. With normal pages
 * that is half of the memory, and net_af_xdp of DPDK 22.11 takes for granted that they lie side by side: else the kernel refuses
 * to send those at the end. */
static struct rte_mempool *make_pool(const char *name, uint32_t mbufs, uint16_t room, int socket, int dma)
{
	struct rte_pktmbuf_pool_private private = { .mbuf_data_room_size = room };
	uint32_t flags = dma ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_mempool *pool;

	pool = rte_mempool_create_empty(name, mbufs, sizeof(struct rte_mbuf) + room, CACHE, sizeof(private), socket, flags);
	if (!pool)
		return NULL;
	if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), NULL)) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_pktmbuf_pool_init(pool, &private);
	if (rte_mempool_populate_default(pool) < 0) {
		rte_mempool_free(pool);
		return NULL;
	}
	rte_mempool_obj_iter(pool, rte_pktmbuf_init, NULL);
	return pool;
}

static struct sp_queue *make_queue(uint16_t port, uint16_t queue, uint32_t mbufs, uint32_t room, int dma)
{
	/* Two ports after each other may have one number, and the first one's pools be still in use. */
	static uint32_t serial;
	struct sp_queue *q = calloc(1, sizeof(*q));
	char name[RTE_MEMPOOL_NAMESIZE];

	if (!q)
		return NULL;
	snprintf(name, sizeof(name), "sp%u_%u_%u", port, queue, __atomic_fetch_add(&serial, 1, __ATOMIC_RELAXED));
	q->port = port;
	q->queue = queue;
	q->room = room - RTE_PKTMBUF_HEADROOM;
	q->pool = make_pool(name, mbufs, (uint16_t)room, rte_eth_dev_socket_id(port), dma);
	if (!q->pool) {
		free(q);
		return NULL;
	}
	return q;
}

static void configuration(const struct rte_eth_dev_info *info, uint16_t queues, uint16_t mtu, struct rte_eth_conf *conf)
{
	memset(conf, 0, sizeof(*conf));
	conf->rxmode.mtu = mtu;
	if (queues > 1 && info->flow_type_rss_offloads) {
		/* GTP-U's hash, where a NIC has it, is over the TEID; others hash the tunnel's addresses and ports. */
		uint64_t wanted = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_GTPU;

		conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf->rx_adv_conf.rss_conf.rss_hf = wanted & info->flow_type_rss_offloads;
	}
	/* Each transmit queue sends mbufs of one pool, with one owner each. */
	conf->txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
}

/* What the device is to let through: its MAC address, and groups, which neighbour discovery needs. Devices that can do
 * neither have no filter. */
static void filter(uint16_t port, const uint8_t *mac)
{
	struct rte_ether_addr address;

	rte_eth_allmulticast_enable(port);
	if (!mac)
		return;
	memcpy(address.addr_bytes, mac, sizeof(address.addr_bytes));
	if (rte_eth_dev_default_mac_addr_set(port, &address))
		rte_eth_promiscuous_enable(port);
}

/* Configures and starts the device. `mtu` 0 leaves its own, `mac` NULL too. */
static int start(uint16_t port, uint16_t queues, uint16_t mtu, uint32_t descriptors, const uint8_t *mac, int dma, struct sp_queue **out)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	uint16_t rx_desc = (uint16_t)descriptors, tx_desc = (uint16_t)descriptors;
	uint32_t mbufs, room;
	uint16_t i;
	int error;

	error = rte_eth_dev_info_get(port, &info);
	if (error)
		return error;
	if (!mtu && rte_eth_dev_get_mtu(port, &mtu))
		mtu = RTE_ETHER_MTU;
	configuration(&info, queues, mtu, &conf);
	error = rte_eth_dev_configure(port, queues, queues, &conf);
	if (error)
		return error;
	error = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx_desc, &tx_desc);
	if (error)
		return error;
	/* -ENOTSUP: a device that takes any length. */
	error = rte_eth_dev_set_mtu(port, mtu);
	if (error && error != -ENOTSUP)
		return error;
	room = RTE_MAX((uint32_t)mtu + FRAME_OVERHEAD, LEAST_ROOM) + RTE_PKTMBUF_HEADROOM;
	/* Both rings full, a burst each way in hand, and the caches of the threads at both ends of a device that hands mbufs on. */
	mbufs = (uint32_t)rx_desc + tx_desc + 4 * SP_BURST + 3 * CACHE;
	for (i = 0; i < queues; i++) {
		out[i] = make_queue(port, i, mbufs, room, dma);
		if (!out[i]) {
			error = -ENOMEM;
			goto fail;
		}
		error = rte_eth_rx_queue_setup(port, i, rx_desc, rte_eth_dev_socket_id(port), NULL, out[i]->pool);
		if (error)
			goto fail;
		error = rte_eth_tx_queue_setup(port, i, tx_desc, rte_eth_dev_socket_id(port), NULL);
		if (error)
			goto fail;
	}
	error = rte_eth_dev_start(port);
	if (error)
		goto fail;
	filter(port, mac);
	rte_eth_stats_reset(port);
	return 0;
fail:
	free_queues(out, queues);
	return error;
}

/* Stops and closes the device, and lets its pools go. No queue may be in use. */
static int stop(uint16_t port, struct sp_queue **queues, uint16_t count)
{
	struct rte_eth_dev_info info;
	struct rte_device *device = NULL;
	int error;

	if (!rte_eth_dev_info_get(port, &info))
		device = info.device;
	error = rte_eth_dev_stop(port);
	/* Queues go with the port. */
	if (rte_eth_dev_close(port) && !error)
		error = -EIO;
	if (device)
		rte_dev_remove(device);
	free_queues(queues, count);
	return error;
}

/* Frames are valid until `release`, which is due before the next call. */
static uint32_t receive(struct sp_queue *q, struct sp_frame *frames, uint32_t count)
{
	uint32_t i, n;

	n = rte_eth_rx_burst(q->port, q->queue, q->held, (uint16_t)RTE_MIN(count, (uint32_t)SP_BURST));
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = q->held[i];

		rte_prefetch0(rte_pktmbuf_mtod(m, void *));
		frames[i].data = m->nb_segs == 1 ? rte_pktmbuf_mtod(m, const uint8_t *) : NULL;
		frames[i].len = m->pkt_len;
	}
	q->held_count = n;
	return n;
}

/* A frame in several pieces, as one; its length, or 0 if it is longer than `room`. */
static uint32_t copy(struct sp_queue *q, uint32_t index, uint8_t *to, uint32_t room)
{
	const struct rte_mbuf *m;
	const void *bytes;

	if (index >= q->held_count)
		return 0;
	m = q->held[index];
	if (m->pkt_len > room)
		return 0;
	bytes = rte_pktmbuf_read(m, 0, m->pkt_len, to);
	if (!bytes)
		return 0;
	if (bytes != to)
		memcpy(to, bytes, m->pkt_len);
	return m->pkt_len;
}

static void release(struct sp_queue *q)
{
	rte_pktmbuf_free_bulk(q->held, q->held_count);
	q->held_count = 0;
}

/* As many mbufs as there are, at most `count`. */
static uint32_t allocate(struct sp_queue *q, struct rte_mbuf **mbufs, uint32_t count)
{
	uint32_t n = 0;

	if (!rte_pktmbuf_alloc_bulk(q->pool, mbufs, count))
		return count;
	/* Sent ones may wait in the device to be taken back; not every driver can be asked to. */
	rte_eth_tx_done_cleanup(q->port, q->queue, 0);
	while (n < count && (mbufs[n] = rte_pktmbuf_alloc(q->pool)))
		n++;
	return n;
}

/* A kick without frames. How many frames were taken, from the first on. None may be longer than the MTU that the queue was made for. */
static uint32_t transmit(struct sp_queue *q, const struct sp_frame *frames, uint32_t count)
{
	struct rte_mbuf *mbufs[SP_BURST];
	uint32_t i, n, sent;

	if (!count) {
		rte_eth_tx_burst(q->port, q->queue, mbufs, 0);
		return 0;
	}
	n = allocate(q, mbufs, RTE_MIN(count, (uint32_t)SP_BURST));
	for (i = 0; i < n; i++) {
		struct rte_mbuf *m = mbufs[i];

		if (frames[i].len > q->room)
			break;
		memcpy(rte_pktmbuf_mtod(m, void *), frames[i].data, frames[i].len);
		m->data_len = (uint16_t)frames[i].len;
		m->pkt_len = frames[i].len;
	}
	sent = i ? rte_eth_tx_burst(q->port, q->queue, mbufs, (uint16_t)i) : 0;
	if (sent < n)
		rte_pktmbuf_free_bulk(mbufs + sent, n - sent);
	return sent;
}

/* 1 or 0. */
static int link_is_up(uint16_t port)
{
	struct rte_eth_link link;

	return !rte_eth_link_get_nowait(port, &link) && link.link_status == RTE_ETH_LINK_UP;
}

static int stats(uint16_t port, struct sp_stats *out)
{
	struct rte_eth_stats stats;
	int error = rte_eth_stats_get(port, &stats);

	if (error)
		return error;
	out->rx_missed = stats.imissed;
	out->rx_no_mbuf = stats.rx_nombuf;
	out->rx_errors = stats.ierrors;
	out->tx_errors = stats.oerrors;
	return 0;
}

extern const struct sp_api sp_port_api;
const struct sp_api sp_port_api = {
	.probe = probe,
	.describe = describe,
	.start = start,
	.stop = stop,
	.receive = receive,
	.copy = copy,
	.release = release,
	.transmit = transmit,
	.link_is_up = link_is_up,
	.stats = stats,
};
