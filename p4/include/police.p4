/* Rates: MBR of QERs (TS 29.244 §5.4.4) and of 5-tuple classes (Singh et al., Table 3). They come when it is certain that
 * the packet goes out: one that is punted for its next hop returns and is policed then, once. */
#ifndef POLICE_P4
#define POLICE_P4

/* SHAPE: packets over an MBR wait until their rate lets them pass, and run through the program again (splitplane.p4). So rates come
 * before the way out, while the packet is as it came in. */

control Police(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    /* Maximum bit rates: one cell for each direction of a QER, shared by its PDRs. And volume quotas of URRs (TS 29.244 §5.2.2.2.1): a bucket of
     * what is left, which nothing fills. Only as cells of one array they are one for all workers and targets, without a step more. */
    @pdu_length
    meter(SESSIONS * 4, MeterType.bytes) mbr;

    @pdu_length
    meter(1024, MeterType.bytes) class_rate;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

#ifdef SHAPE
    action over_rate(bit<32> cell) {
        meta.reason = Reason.rate_exceeded;
        meta.mark = cell;
        standard_metadata.egress_spec = BUFFER_PORT;
        exit;
    }
#else
    action over_rate(bit<32> _cell) {
        drop(Reason.rate_exceeded);
    }
#endif

    apply {
        bit<2> colour = 0;
        if (meta.meter_1 != 0) {
            mbr.execute_meter(meta.meter_1, colour);
            if (colour == 2) {
                if ((meta.flags & PDR_QUOTA_1) != 0) {
                    drop(Reason.quota_exhausted);
                }
                over_rate(meta.meter_1);
            }
        }
        if (meta.meter_2 != 0) {
            mbr.execute_meter(meta.meter_2, colour);
            if (colour == 2) {
                if ((meta.flags & PDR_QUOTA_2) != 0) {
                    drop(Reason.quota_exhausted);
                }
                over_rate(meta.meter_2);
            }
        }
        if (meta.meter_3 != 0) {
            mbr.execute_meter(meta.meter_3, colour);
            if (colour == 2) {
                if ((meta.flags & PDR_QUOTA_3) != 0) {
                    drop(Reason.quota_exhausted);
                }
                over_rate(meta.meter_3);
            }
        }
        if (meta.class_meter != 0) {
            class_rate.execute_meter((bit<32>)meta.class_meter, colour);
            if (colour == 2) {
                drop(Reason.class_rate_exceeded);
            }
        }
    }
}

#endif
