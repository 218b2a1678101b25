/* Sends a frame of a live test run by the interface whose number is behind its Ethernet header. */
typedef __UINT32_TYPE__ uint32_t;

/* <linux/bpf.h>, struct xdp_md. */
struct xdp_md {
    uint32_t data;
    uint32_t data_end;
};

static long (*bpf_redirect)(uint32_t interface, unsigned long flags) = (void *)23;

__attribute__((section("xdp"), used)) int sp_probe(struct xdp_md *ctx)
{
    unsigned char *data = (unsigned char *)(long)ctx->data;
    if (data + 18 > (unsigned char *)(long)ctx->data_end) return 0;
    return (int)bpf_redirect(*(uint32_t *)(data + 14), 0);
}

char sp_license[] __attribute__((section("license"), used)) = "Apache-2.0";
