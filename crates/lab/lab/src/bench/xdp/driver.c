/* Makes a packet of another session each time it is run, and goes on in the program under test. A test run that repeats does
 * not restore the packet: its length is set back here, and all of its bytes are written. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define SEC(name) __attribute__((section(name), used))
struct xdp_md { u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; };
struct bpf_map_def { u32 type, key_size, value_size, max_entries, map_flags; };
static void *(*lookup)(void *, const void *) = (void *)1;
static long (*tail_call)(void *, void *, u32) = (void *)12;
static long (*adjust_head)(void *, int) = (void *)44;

/* Where the list goes on, where a session's numbers go in the frame, and the frame. */
struct state {
    u32 next;
    u32 mask;
    u8 frame[128];
    /* A locked addition waits until all bytes have left for the cache, where a network card would have put them: else loads
     * that are wider than the stores above would wait for them in the program under test. */
    u64 written;
};
struct bpf_map_def SEC("maps") state = {2, 4, sizeof(struct state), 1, 1 << 10};
/* UE addresses and TEIDs in network order, and the checksum of the user's header. */
struct session {
    u32 ue;
    u32 teid;
    u32 checksum;
    u32 spare;
};
struct bpf_map_def SEC("maps") sessions = {2, 4, sizeof(struct session), 1, 1 << 10};
struct bpf_map_def SEC("maps") next = {3, 4, 4, 1, 0};

#define DRIVE(name, len, ue_at, sum_at, teid_at)                                                                                   \
    SEC("xdp") int name(struct xdp_md *ctx)                                                                                        \
    {                                                                                                                              \
        u32 zero = 0;                                                                                                              \
        struct state *s = lookup(&state, &zero);                                                                                   \
        if (!s) return 0;                                                                                                          \
        u32 at = s->next++ & s->mask;                                                                                              \
        struct session *n = lookup(&sessions, &at);                                                                                \
        if (!n) return 0;                                                                                                          \
        int more = (int)(ctx->data_end - ctx->data) - (len);                                                                       \
        if (more && adjust_head(ctx, more)) return 0;                                                                              \
        u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;                                                           \
        if (p + (len) > end) return 0;                                                                                             \
        _Pragma("unroll") for (int i = 0; i < (len) / 4; i++) ((u32 *)p)[i] = ((u32 *)s->frame)[i];                                \
        *(u32 *)(p + (ue_at)) = n->ue;                                                                                             \
        *(u16 *)(p + (sum_at)) = (u16)n->checksum;                                                                                 \
        if (teid_at) *(u32 *)(p + (teid_at)) = n->teid;                                                                            \
        __sync_fetch_and_add(&s->written, 1);                                                                                      \
        tail_call(ctx, &next, 0);                                                                                                  \
        return 0;                                                                                                                  \
    }

DRIVE(drive_downlink, 60, 30, 24, 0)
DRIVE(drive_uplink, 104, 70, 68, 46)
/* Downlink in a tunnel, to a gNodeB. */
DRIVE(drive_gnb, 128, 74, 68, 46)
/* And marked: instead of the UE's address the tunnel's length and Identification, with the checksum of its header. */
DRIVE(drive_gnb_marked, 128, 16, 24, 46)

/* What the driver alone costs. */
SEC("xdp") int empty(struct xdp_md *ctx) { return 4; }

char sp_license[] SEC("license") = "Apache-2.0";
