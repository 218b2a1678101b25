SP_INLINE struct sp_context *sp_context(void)
{
    uint32_t cpu = bpf_get_smp_processor_id();
    return bpf_map_lookup_elem(&sp_contexts, &cpu);
}

/* Attached to interfaces. */
SEC("xdp") int sp_xdp(struct xdp_md *ctx)
{
    struct sp_context *c = sp_context();
    uint32_t interface = ctx->ingress_ifindex;
    uint64_t *port = bpf_map_lookup_elem(&sp_ports, &interface);
    if (!c || !port || !*port) return XDP_PASS;
    c->port = (uint32_t)(*port - 1);
    c->timed = 0;
    c->reason = 0;
    int kind = sp_packet(ctx, c);
    c->ends[kind & 7]++;
    if (kind == SP_FORWARD) return (int)bpf_redirect_map(&sp_out, c->out_port, XDP_DROP);
    if (kind == SP_DROP) {
        c->drops[(c->reason ? c->reason : SP_REASON(c)) & 255]++;
        return XDP_DROP;
    }
    // To the next target, by its socket, or, where none waits, up the kernel's stack.
    return (int)bpf_redirect_map(&sp_sockets, ctx->rx_queue_index, XDP_PASS);
}

/* Run as a test: port and time come in front of the packet, and the verdict is left there. */
SEC("xdp") int sp_test(struct xdp_md *ctx)
{
    struct sp_context *c = sp_context();
    struct sp_test *t = (struct sp_test *)(long)ctx->data_meta;
    if (!c || (void *)(t + 1) > (void *)(long)ctx->data) return XDP_ABORTED;
    c->port = t->port;
    c->now_ns = t->now_ns;
    c->timed = 1;
    c->reason = 0;
    int kind = sp_packet(ctx, c);
    t = (struct sp_test *)(long)ctx->data_meta;
    if ((void *)(t + 1) > (void *)(long)ctx->data) return XDP_ABORTED;
    t->kind = (uint8_t)kind;
    t->reason = (uint8_t)(c->reason ? c->reason : SP_REASON(c));
    t->out_port = (uint16_t)c->out_port;
    t->mark = SP_MARK(c);
    return XDP_PASS;
}

char sp_license[] SEC("license") = "Apache-2.0";
