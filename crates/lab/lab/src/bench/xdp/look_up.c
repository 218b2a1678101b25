
/* Behind the text made from upf.p4: finds the session of an uplink packet in its table, and does nothing else. What the others of
 * maps.c add up is added up here where ends of packets are counted. */
SEC("xdp") int look_up(struct xdp_md *ctx)
{
    struct sp_context *c = sp_context();
    struct sp_control *control = sp_control_at(0);
    uint8_t *p = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
    if (!c || p + 104 > end) return XDP_ABORTED;
    c->generation = *(volatile uint32_t *)&control->generation;
    struct sp_cell_pdr_by_teid *e = sp_find_pdr_by_teid(c, sp_ld32(p + 30) | (uint64_t)sp_ld32(p + 46) << 32);
    if (!e) return XDP_ABORTED;
    c->ends[0]++;
    c->ends[1] += e->args.set_pdr.p0_pdr;
    return XDP_REDIRECT;
}
