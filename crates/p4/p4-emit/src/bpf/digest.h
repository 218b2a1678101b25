/* Digests, sent when a packet's end is known; what finds no room is counted. */
struct bpf_map_def SEC("maps") sp_digests = {27, 0, 0, 1 << 20, 0};
enum { SP_NO_WAKEUP = 1 };
static int64_t (*bpf_ringbuf_output)(void *ring, void *data, uint64_t len, uint64_t flags) = (void *)130;
