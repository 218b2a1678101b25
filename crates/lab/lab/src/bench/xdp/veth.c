/* What stands around the program under test where packets go from veth to veth: who sends the driver's frames, who only redirects
 * them, and who takes them at the end. */
typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
#define SEC(name) __attribute__((section(name), used))
#define be32(x) __builtin_bswap32(x)
struct xdp_md { u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; };
struct bpf_map_def { u32 type, key_size, value_size, max_entries, map_flags; };
static void *(*lookup)(void *, const void *) = (void *)1;
static u32 (*this_cpu)(void) = (void *)8;
static long (*redirect)(void *, u64, u64) = (void *)51;
enum { DROP = 1, PASS = 2 };

/* The driver's frames leave by this interface: its far end has the program under test. */
struct bpf_map_def SEC("maps") source = {14, 4, 4, 1, 0};
SEC("xdp") int send(struct xdp_md *ctx) { return (int)redirect(&source, 0, DROP); }

/* The least that a program can do: ways out by the interface that a frame came by. */
struct bpf_map_def SEC("maps") ways = {14, 4, 4, 1024, 0};
SEC("xdp") int forward(struct xdp_md *ctx) { return (int)redirect(&ways, ctx->ingress_ifindex, DROP); }

/* What must come out: frames of one length, with a number of the session (TEID or address) in network order at one place. What becomes
 * of them: they are counted and dropped; or counted for each session too; or counted and passed to the kernel's stack. */
enum { COUNT, COUNT_SESSIONS, HAND_UP };
struct expected { u32 length, at, first, mode; };
struct bpf_map_def SEC("maps") expected = {2, 4, sizeof(struct expected), 1, 1 << 10};
/* For each core, so that it shows which of them received. */
struct counts { u64 frames, sum, others, spare[5]; };
struct bpf_map_def SEC("maps") counts = {2, 4, sizeof(struct counts), 1, 1 << 10};
struct bpf_map_def SEC("maps") sessions = {2, 4, 8, 1, 1 << 10};
SEC("xdp") int sink(struct xdp_md *ctx)
{
    u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
    u32 zero = 0, cpu = this_cpu();
    struct expected *e = lookup(&expected, &zero);
    struct counts *c = lookup(&counts, &cpu);
    if (!e || !c) return DROP;
    u8 *at = p + (e->at & 127);
    if (end - p != e->length || at + 4 > end) goto other;
    u32 number = be32(*(u32 *)at);
    if (e->mode == COUNT_SESSIONS) {
        u32 session = number - e->first;
        u64 *times = lookup(&sessions, &session);
        if (!times) goto other;
        __sync_fetch_and_add(times, 1);
    }
    c->frames++;
    c->sum += number;
    return e->mode == HAND_UP ? PASS : DROP;
other:
    c->others++;
    return DROP;
}

char sp_license[] SEC("license") = "Apache-2.0";
