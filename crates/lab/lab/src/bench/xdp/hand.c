/* The UPF's user plane for one PDR each way, written by hand for XDP as one would: the kernel's hash maps, one for each
 * direction, a longest-prefix map of routes, a per-core array of counters. It does what upf.p4 does for these packets: header
 * checks and checksums, station, PDR, gate, source check, route, next hop, MTU, MBR, TTL, tunnel, usage. */
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))
#define be16(x) __builtin_bswap16(x)
#define be32(x) __builtin_bswap32(x)
struct xdp_md { u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex; };
struct bpf_map_def { u32 type, key_size, value_size, max_entries, map_flags; };
static void *(*lookup)(void *, const void *) = (void *)1;
static u64 (*now_ns)(void) = (void *)5;
static long (*adjust_head)(void *, int) = (void *)44;
static long (*redirect)(void *, u64, u64) = (void *)51;
enum { DROP = 1, PASS = 2 };

struct rule {
    u32 flags;     /* 1: TTL, 2: source, 4: gate closed */
    u32 usage;
    u32 meter;
    u32 ue;
    u32 teid;
    u32 tunnel_dst;
    u32 tunnel_src;
    u16 vrf;
    u8 qfi;
    u8 tos;
};
struct key_ul { u32 endpoint, teid; };
struct key_dl { u32 vrf, ue; };
struct bpf_map_def SEC("maps") uplink = {1, sizeof(struct key_ul), sizeof(struct rule), 1, 0};
struct bpf_map_def SEC("maps") downlink = {1, sizeof(struct key_dl), sizeof(struct rule), 1, 0};
struct key_station { u32 port; u8 mac[6]; u16 zero; };
struct bpf_map_def SEC("maps") stations = {1, sizeof(struct key_station), 4, 64, 0};
struct key_route { u32 bits; u16 vrf; u8 dst[4]; u16 zero; } __attribute__((packed));
struct bpf_map_def SEC("maps") routes = {11, sizeof(struct key_route), 4, 1024, 1};
struct hop { u32 port, mtu; u8 macs[12]; u32 spare; };
struct bpf_map_def SEC("maps") hops = {2, 4, sizeof(struct hop), 64, 0};
/* A rate is one for all cores: where there are several, its cell is locked, with a bounded wait, as upf.p4's are. */
struct meter { u64 last, rate, burst, tokens; u32 lock, spare; };
const volatile u32 cpus = 1;
struct bpf_map_def SEC("maps") meters = {2, 4, sizeof(struct meter), 1, 1 << 10};
struct usage { u64 packets, bytes; };
struct bpf_map_def SEC("maps") usages = {6, 4, sizeof(struct usage), 1, 0};
struct bpf_map_def SEC("maps") out = {14, 4, 4, 512, 0};
struct bpf_map_def SEC("maps") ports = {2, 4, 4, 1024, 1 << 10};

struct eth { u8 dst[6], src[6]; u16 type; };
struct ip { u8 ihl, tos; u16 length, id, fragment; u8 ttl, protocol; u16 checksum; u32 src, dst; };

INLINE u32 fold(u64 sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return (u32)sum;
}

INLINE u32 sum20(struct ip *ip)
{
    u32 *w = (u32 *)ip;
    return fold((u64)w[0] + w[1] + w[2] + w[3] + w[4]);
}

SEC("xdp") int hand(struct xdp_md *ctx)
{
    u8 *p = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
    u32 frame = (u32)(end - p);
    u32 interface = ctx->ingress_ifindex, *port = lookup(&ports, &interface);
    if (!port) return PASS;
    struct eth *eth = (void *)p;
    struct ip *ip = (void *)(p + 14);
    if ((u8 *)(ip + 1) > end || eth->type != be16(0x0800) || ip->ihl != 0x45) return PASS;
    if (sum20(ip) != 0xffff) return DROP;
    struct key_station station = {.port = *port};
    *(u32 *)station.mac = *(u32 *)eth->dst;
    *(u16 *)(station.mac + 4) = *(u16 *)(eth->dst + 4);
    u32 *vrf = lookup(&stations, &station);
    if (!vrf) return DROP;

    struct rule *rule;
    struct ip *user = ip;
    int offset = 14;
    u16 *udp = (u16 *)(ip + 1);
    if ((u8 *)(udp + 4) > end) return PASS;
    int tunnel = ip->protocol == 17 && !(*port & 128) && !(ip->fragment & be16(0x3fff)) && udp[1] == be16(2152);
    if (tunnel) {
        u8 *gtp = (u8 *)(udp + 4);
        if (gtp + 16 > end || gtp[0] != 0x34 || gtp[1] != 255 || gtp[11] != 0x85 || gtp[12] != 1 || gtp[15]) return PASS;
        user = (struct ip *)(gtp + 16);
        offset = 58;
        if ((u8 *)(user + 1) > end || user->ihl != 0x45 || sum20(user) != 0xffff) return DROP;
        if (offset + be16(user->length) > 14 + be16(ip->length) || offset + be16(user->length) > 50 + be16(*(u16 *)(gtp + 2))) return DROP;
        struct key_ul key = {ip->dst, *(u32 *)(gtp + 4)};
        rule = lookup(&uplink, &key);
    } else {
        struct key_dl key = {*vrf, ip->dst};
        rule = lookup(&downlink, &key);
    }
    u32 length = be16(user->length);
    if (length + offset > frame || length < 20) return DROP;
    if (!rule) return PASS;
    if (rule->flags & 4) return DROP;
    if ((rule->flags & 2) && user->src != rule->ue) return DROP;

    u32 out_length = tunnel ? length : length + 44;
    u32 dst = tunnel ? user->dst : rule->tunnel_dst;
    struct key_route route = {.bits = 48, .vrf = rule->vrf};
    *(u32 *)route.dst = dst;
    u32 *number = lookup(&routes, &route);
    if (!number) return DROP;
    struct hop *hop = lookup(&hops, number);
    if (!hop || out_length > hop->mtu) return DROP;

    u32 cell = rule->meter;
    struct meter *m = cell ? lookup(&meters, &cell) : 0;
    if (m && m->rate) {
        u64 now = now_ns();
        int locked = 0;
        if (cpus > 1) {
            for (int i = 0; i < 64 && !locked; i++) locked = __sync_val_compare_and_swap(&m->lock, 0, 1) == 0;
        }
        u64 passed = now > m->last ? now - m->last : 0;
        if (passed > 1000000000) passed = 1000000000;
        u64 tokens = m->tokens + passed * m->rate, cost = length * 1000000000ull;
        if (tokens > m->burst) tokens = m->burst;
        m->last = now;
        int red = tokens < cost;
        m->tokens = red ? tokens : tokens - cost;
        if (locked) *(volatile u32 *)&m->lock = 0;
        if (red) return DROP;
    }

    if (rule->flags & 1) {
        if (user->ttl <= 1) return DROP;
        user->ttl--;
        u32 sum = user->checksum + be16(0x0100);
        user->checksum = (u16)(sum + (sum >= 0xffff));
    }
    u32 teid = rule->teid, src = rule->tunnel_src, usage = rule->usage, way = hop->port;
    u8 qfi = rule->qfi, tos = rule->tos;
    u64 macs0 = *(u64 *)hop->macs;
    u32 macs1 = *(u32 *)(hop->macs + 8);
    if (adjust_head(ctx, tunnel ? 44 : -44)) return DROP;
    p = (u8 *)(long)ctx->data;
    end = (u8 *)(long)ctx->data_end;
    if (p + 34 > end) return DROP;
    *(u64 *)p = macs0;
    *(u32 *)(p + 8) = macs1;
    *(u16 *)(p + 12) = be16(0x0800);
    if (!tunnel) {
        if (p + 58 > end) return DROP;
        struct ip *o = (struct ip *)(p + 14);
        *(u32 *)o = (u32)be16((u16)out_length) << 16 | (u32)tos << 8 | 0x45;
        *(u32 *)&o->id = (u32)be16(0x4000) << 16;
        *(u32 *)&o->ttl = 17u << 8 | 64;
        o->src = src;
        o->dst = dst;
        o->checksum = (u16)~sum20(o);
        u16 *u = (u16 *)(o + 1);
        u[0] = be16(2152);
        u[1] = be16(2152);
        u[2] = be16((u16)(length + 24));
        u[3] = 0;
        u8 *gtp = (u8 *)(u + 4);
        *(u32 *)gtp = (u32)be16((u16)(length + 8)) << 16 | 0xff34;
        *(u32 *)(gtp + 4) = teid;
        *(u32 *)(gtp + 8) = 0x85000000;
        *(u32 *)(gtp + 12) = (u32)qfi << 16 | 1;
    }
    if (usage) {
        struct usage *c = lookup(&usages, &usage);
        if (c) {
            c->packets++;
            c->bytes += length;
        }
    }
    return (int)redirect(&out, way, DROP);
}

char sp_license[] SEC("license") = "Apache-2.0";
