/* Starting DPDK, its log, and threads that it knows. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "shim.h"

static sp_log_fn log_to;

/* DPDK writes one line at a time and flushes it. */
static ssize_t write_log(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	log_to(rte_log_cur_msg_loglevel(), text, len);
	return (ssize_t)len;
}

/* A second stream is never opened: DPDK starts once in a process. */
static int eal_init(int argc, char **argv, sp_log_fn log)
{
	cookie_io_functions_t functions = { .write = write_log };
	FILE *stream;

	log_to = log;
	stream = fopencookie(NULL, "w", functions);
	if (!stream)
		return -ENOMEM;
	setvbuf(stream, NULL, _IOLBF, 1024);
	rte_openlog_stream(stream);
	if (rte_eal_init(argc, argv) < 0)
		return rte_errno ? -rte_errno : -EINVAL;
	return 0;
}

int sp_thread_register(void)
{
	if (rte_lcore_id() != LCORE_ID_ANY)
		return 0;
	return rte_thread_register() ? -rte_errno : 0;
}

void sp_thread_unregister(void)
{
	rte_thread_unregister();
}

static const char *error_text(int error)
{
	return rte_strerror(error < 0 ? -error : error);
}

extern const struct sp_api sp_port_api, sp_swx_api;

const struct sp_api *sp_api(void)
{
	static struct sp_api api;

	api = sp_swx_api;
	api.version = SP_VERSION;
	api.eal_init = eal_init;
	api.thread_register = sp_thread_register;
	api.thread_unregister = sp_thread_unregister;
	api.error_text = error_text;
	api.probe = sp_port_api.probe;
	api.describe = sp_port_api.describe;
	api.start = sp_port_api.start;
	api.stop = sp_port_api.stop;
	api.receive = sp_port_api.receive;
	api.copy = sp_port_api.copy;
	api.release = sp_port_api.release;
	api.transmit = sp_port_api.transmit;
	api.link_is_up = sp_port_api.link_is_up;
	api.stats = sp_port_api.stats;
	return &api;
}
