/* Steps 0 to 3 of p4/gnb.p4 (p4/gnb/steps.p4), written by hand for XDP as one would: the kernel's hash map of bearers, an array of COUNTs. Each leaves
 * by the interface that it came by, in two ways: as the compiled program does, by a device map (redirect), or at once (XDP_TX). */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define be16(x) __builtin_bswap16(x)
#define be32(x) __builtin_bswap32(x)
#define be64(x) __builtin_bswap64(x)
struct xdp_md { u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; };
struct bpf_map_def { u32 type, key_size, value_size, max_entries, map_flags; };
static void *(*lookup)(void *, const void *) = (void *)1;
static long (*adjust_head)(void *, int) = (void *)44;
static long (*redirect)(void *, u64, u64) = (void *)51;
enum { DROP = 1, PASS = 2, TX = 3 };

/* TEID as it lies in the packet, and QFI. */
struct flow { u32 teid, qfi; };
enum { RLC_LONG = 1, PDCP_LONG = 2, SDAP_HEADER = 4, REFLECTIVE = 8 };
struct bearer { u32 number, count_base, formats, spare; };
struct bpf_map_def SEC("maps") bearers = {1, sizeof(struct flow), sizeof(struct bearer), 1, 0};
struct bpf_map_def SEC("maps") spent = {2, 4, 8, 1, 0};
struct bpf_map_def SEC("maps") out = {14, 4, 4, 512, 0};
struct bpf_map_def SEC("maps") ports = {2, 4, 4, 1024, 1 << 10};

/* The frame with its MAC addresses swapped and what `step` says; DROP or PASS, or 0 if it goes on. */
INLINE int edit(struct xdp_md *ctx, int step)
{
    u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
    if (p + 14 > end) return DROP;
    u64 macs = *(u64 *)p;
    u32 src = *(u32 *)(p + 8);
    int off = 14, type = be16(0x0800);
    u64 headers = 0;
    u32 bytes = 0;
    if (step >= 1) {
        u8 *ip = p + 14, *gtp = p + 42;
        if (p + 58 > end || *(u16 *)(p + 12) != be16(0x0800) || ip[0] != 0x45 || (*(u16 *)(ip + 6) & be16(0x3fff)) || ip[9] != 17
            || *(u16 *)(p + 36) != be16(2152) || gtp[1] != 255)
            return DROP;
        /* Without a container, or with another extension: for the slow path. */
        if ((gtp[0] & 0xf4) != 0x34 || gtp[11] != 0x85) return PASS;
        off = 58;
        u32 teid = *(u32 *)(gtp + 4), count = be32(teid), formats = RLC_LONG | PDCP_LONG | SDAP_HEADER;
        u8 qos = gtp[14];
        if (step >= 3) {
            struct flow flow = {teid, qos & 63};
            struct bearer *b = lookup(&bearers, &flow);
            if (!b) return PASS;
            formats = b->formats;
            u32 number = b->number;
            u64 *cell = lookup(&spent, &number);
            if (!cell) return DROP;
            count = (u32)__sync_fetch_and_add(cell, 1) + b->count_base;
            if (count == 0xffffffff) return DROP;
        }
        if (step >= 2) {
            u64 longs = 0x800000 | (count & 0x3ffff), shorts = 0x8000 | (count & 0xfff);
            headers = formats & RLC_LONG ? longs : shorts;
            bytes = formats & RLC_LONG ? 3 : 2;
            headers = formats & PDCP_LONG ? headers << 24 | longs : headers << 16 | shorts;
            bytes += formats & PDCP_LONG ? 3 : 2;
            if (formats & SDAP_HEADER) {
                headers = headers << 8 | (formats & REFLECTIVE) << 4 | (qos & 0x7f);
                bytes += 1;
            }
            off -= bytes;
            type = be16(0x88b5);
        }
        if (adjust_head(ctx, off - 14)) return DROP;
        p = (u8 *)(long)ctx->data;
        end = (u8 *)(long)ctx->data_end;
        if (p + 21 > end) return DROP;
        if (step >= 2) {
            /* Eight bytes that end with the headers; what is in front of them is overwritten next. */
            u32 at = 6 + bytes;
            if (at > 13) return DROP;
            if (p + at + 8 > end) return DROP;
            *(u64 *)(p + at) = be64(headers);
        }
        *(u16 *)(p + 12) = (u16)type;
    }
    *(u32 *)p = (u32)(macs >> 48) | src << 16;
    *(u32 *)(p + 4) = (u32)macs << 16 | src >> 16;
    *(u32 *)(p + 8) = (u32)(macs >> 16);
    return 0;
}

#define STEP(n)                                                                                                                    \
    SEC("xdp") int redirect##n(struct xdp_md *ctx)                                                                                 \
    {                                                                                                                              \
        u32 interface = ctx->ingress_ifindex, *port = lookup(&ports, &interface);                                                  \
        if (!port) return PASS;                                                                                                    \
        int why = edit(ctx, n);                                                                                                    \
        return why ? why : (int)redirect(&out, *port, DROP);                                                                       \
    }                                                                                                                              \
    SEC("xdp") int tx##n(struct xdp_md *ctx)                                                                                       \
    {                                                                                                                              \
        int why = edit(ctx, n);                                                                                                    \
        return why ? why : TX;                                                                                                     \
    }
STEP(0)
STEP(1)
STEP(2)
STEP(3)

char sp_license[] SEC("license") = "Apache-2.0";
