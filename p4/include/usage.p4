/* Charging (TS 29.244 §5.2.2): user IP packets and bytes, in the last step, so that what was dropped is not charged. */
#ifndef USAGE_P4
#define USAGE_P4

control Usage(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    /* One cell for each set of URRs of a session and direction: the volume of a URR is the sum over its cells, and what the session has carried
     * the sum over all, as packets that no URR counts have a cell, too. */
    @pdu_length
    counter(SESSIONS * 4, CounterType.packets_and_bytes) usage;

    apply {
        if (meta.usage != 0) {
            usage.count(meta.usage);
        }
    }
}

#endif
