SP_INLINE struct sp_context *sp_context(void)
{
    uint32_t cpu = bpf_get_smp_processor_id();
    struct sp_context *c = sp_contexts_at(cpu);
    if (c) c->cpu = cpu;
    return c;
}

/* Whoever waits for packets in flight (target-xdp/src/cores.rs) finds this one from here on, before it reads the generation, to sp_end. Stores and
   loads of other cores' may pass each other here; who waits makes this core wait for its stores, by an interrupt, unless the core has been told
   that it rests: then it does so by itself, in its first packet. */
SP_INLINE void sp_begin(struct sp_context *c)
{
    *(volatile uint64_t *)&c->begun += 1;
    if (*(volatile uint64_t *)&c->rests) __sync_lock_test_and_set(&c->rests, 0);
}

/* It reads no table any more. */
SP_INLINE void sp_end(struct sp_context *c, int kind)
{
    SP_BARRIER();
    *(volatile uint64_t *)&c->ends[kind & 7] += 1;
}

SP_INLINE void sp_add(struct sp_row *row, uint64_t bytes)
{
    row->packets++;
    row->bytes += bytes;
}

/* What keeps links and paths alive, and has a socket of its own, so that users' packets that fill theirs do not displace it: ARP, neighbour discovery
   (RFC 4861 §6.1), and where there are tunnels GTP-U's messages of paths and errors (TS 29.281 §6.1). As `pktio::ue_program` has it. */
SP_INLINE uint32_t sp_is_urgent(struct xdp_md *ctx, uint32_t port)
{
    uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
    if (frame + 14 > end) return 0;
    uint32_t type = (uint32_t)frame[12] << 8 | frame[13];
    if (type == 0x0806) return 1;
    if (type == 0x86dd) return frame + 55 <= end && frame[20] == 58 && frame[21] == 255 && frame[54] >= 133 && frame[54] <= 137;
    // Only port numbers without this bit expect tunnels (p4/include/splitplane.p4).
    if (type != 0x0800 || port & 128 || frame + 34 > end || frame[23] != 17 || (frame[20] & 0x3f) | frame[21]) return 0;
    uint8_t *udp = frame + 14 + (frame[14] & 15) * 4;
    return udp + 10 <= end && udp[2] == 2152 >> 8 && udp[3] == (2152 & 255) && udp[9] < 32;
}

/* To the next target: to the socket of the UE's worker, if there is a program that knows it, or else by the queue's socket, or, where none waits, up
   the kernel's stack. The packet is as it came, so that program finds what it would have found without us. */
SP_INLINE int sp_pass_on(struct xdp_md *ctx, uint64_t port)
{
    bpf_tail_call(ctx, &sp_steerers, (uint32_t)(port >> 32));
    uint32_t queue = ctx->rx_queue_index;
    if (queue >= SP_QUEUES) return XDP_PASS;
    uint32_t first = sp_is_urgent(ctx, (uint16_t)port - 1) ? SP_RESERVE : 0;
    return (int)bpf_redirect_map(&sp_sockets, first + (uint32_t)(port >> 32) * SP_QUEUES + queue, XDP_PASS);
}

/* Attached to interfaces. */
SEC("xdp") int sp_xdp(struct xdp_md *ctx)
{
    struct sp_context *c = sp_context();
    uint32_t interface = ctx->ingress_ifindex;
    uint64_t *entry = sp_ports_at(interface);
    if (!c || !entry) return XDP_PASS;
    uint64_t port = *(volatile uint64_t *)entry;
    if (!(uint16_t)port) return XDP_PASS;
    sp_begin(c);
    int kind = SP_NEXT;
    if (!(port & SP_CLOSED)) {
        c->port = ((uint16_t)port - 1) & 511;
        c->timed = 0;
        c->reason = 0;
        c->attached = 1;
        kind = sp_packet(ctx, c);
        if (kind == SP_NEXT && c->flow) sp_follow(ctx, c);
    }
    sp_end(c, kind);
    uint32_t cpu = c->cpu;
    struct sp_ledger *ledger = sp_ledgers_at(cpu);
    if (!ledger) return XDP_ABORTED;
    if (kind == SP_FORWARD) {
        uint64_t sent = (uint64_t)((uint8_t *)(long)ctx->data_end - (uint8_t *)(long)ctx->data);
        int action = (int)bpf_redirect_map(&sp_out, c->out_port, XDP_DROP);
        sp_add(&ledger->received[c->port & 511], c->length);
        if (action == XDP_REDIRECT) sp_add(&ledger->sent[c->out_port & 511], sent);
        else sp_add(&ledger->dropped[SP_NO_PORT], c->length);
        return action;
    }
    if (kind == SP_DROP) {
        sp_add(&ledger->received[c->port & 511], c->length);
        sp_add(&ledger->dropped[(c->reason ? c->reason : SP_REASON(c)) & 255], c->length);
        return XDP_DROP;
    }
    return sp_pass_on(ctx, port);
}

/* Attached until the kernel has verified sp_xdp, which takes it a while: all packets go to the next target. */
SEC("xdp") int sp_pass(struct xdp_md *ctx)
{
    struct sp_context *c = sp_context();
    uint32_t interface = ctx->ingress_ifindex;
    uint64_t *entry = sp_ports_at(interface);
    if (!c || !entry) return XDP_PASS;
    uint64_t port = *(volatile uint64_t *)entry;
    if (!(uint16_t)port) return XDP_PASS;
    sp_begin(c);
    sp_end(c, SP_NEXT);
    return sp_pass_on(ctx, port);
}

/* Run as a test: port and time come in front of the packet, and the verdict is left there. */
SEC("xdp") int sp_test(struct xdp_md *ctx)
{
    struct sp_context *c = sp_context();
    struct sp_test *t = (struct sp_test *)(long)ctx->data_meta;
    if (!c || (void *)(t + 1) > (void *)(long)ctx->data) return XDP_ABORTED;
    sp_begin(c);
    c->port = t->port;
    c->now_ns = t->now_ns;
    c->timed = 1;
    c->reason = 0;
    c->attached = 0;
    int kind = sp_packet(ctx, c);
    sp_end(c, SP_TESTED);
    t = (struct sp_test *)(long)ctx->data_meta;
    if ((void *)(t + 1) > (void *)(long)ctx->data) return XDP_ABORTED;
    t->kind = (uint8_t)kind;
    t->reason = (uint8_t)(c->reason ? c->reason : SP_REASON(c));
    t->out_port = (uint16_t)c->out_port;
    t->mark = SP_MARK(c);
    return XDP_PASS;
}

char sp_license[] SEC("license") = "Apache-2.0";
