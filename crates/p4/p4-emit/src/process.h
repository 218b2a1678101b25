
void sp_process(struct sp_lane *lane, struct sp_packet *packets, struct sp_verdict *verdicts, uint32_t n, uint64_t now_ns)
{
    struct sp_run *const run = lane->run;
    run->lane = lane;
    run->burst++;
    run->now_ns = now_ns;
    run->now_us = now_ns / 1000;
    run->pendings = 0;
    run->reds = 0;
    __atomic_store_n(&run->classes, SP_CLASSES, __ATOMIC_RELAXED);
    for (uint32_t at = 0; at < n; at += SP_SUB_BURST) {
        const uint32_t here = n - at < SP_SUB_BURST ? n - at : SP_SUB_BURST;
        __builtin_memset(run->todo, 0, sizeof run->todo);
        run->packets = packets + at;
        run->verdicts = verdicts + at;
        sp_stages(run, ~0ull >> (64 - here));
    }
    sp_flush(run);
    sp_end_reds(run);
}
