/* Global firewall rules and 5-tuple traffic classes (Singh et al. §5.1 and Table 3). */
#ifndef FIREWALL_P4
#define FIREWALL_P4

control Firewall(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action permit() { }

    action deny() {
        meta.reason = Reason.firewall;
        mark_to_drop(standard_metadata);
        exit;
    }

    table firewall_v4 {
        key = {
            meta.vrf: ternary;
            meta.src_v4: ternary;
            meta.dst_v4: ternary;
            meta.protocol: ternary;
            meta.src_port: range;
            meta.dst_port: range;
        }
        actions = { permit; deny; }
        default_action = permit();
        size = 4096;
    }

    table firewall_v6 {
        key = {
            meta.vrf: ternary;
            meta.src_v6: ternary;
            meta.dst_v6: ternary;
            meta.protocol: ternary;
            meta.src_port: range;
            meta.dst_port: range;
        }
        actions = { permit; deny; }
        default_action = permit();
        size = 4096;
    }

    apply {
        if (meta.ip_version == 4) {
            firewall_v4.apply();
        } else if (meta.ip_version == 6) {
            firewall_v6.apply();
        }
    }
}

/* "The switch matches on five tuples to apply the meter and set the queue id" (Singh et al. §5.1). The addresses are
 * IPv4; IPv6 packets have zeroes there and are told apart by the version. */
control TrafficClass(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action best_effort() { }

    /* queue: v1model's priority, 0 lowest. meter: cell of class_rate (police.p4), 0 for none. QUEUES: a port has a rate, and the queue is its, if the
     * packet is sent (splitplane.p4); a reason that lives from here to the end costs every packet a store. */
    action set_class(bit<3> queue, bit<16> meter_cell) {
        standard_metadata.priority = queue;
#ifdef QUEUES
        meta.reason = (Reason)(bit<8>)queue;
#endif
        meta.class_meter = meter_cell;
    }

    table traffic_class {
        key = {
            meta.ip_version: ternary;
            meta.tos: ternary;
            meta.src_v4: ternary;
            meta.dst_v4: ternary;
            meta.protocol: ternary;
            meta.src_port: range;
            meta.dst_port: range;
        }
        actions = { best_effort; set_class; }
        default_action = best_effort();
        size = 1024;
    }

    apply {
        traffic_class.apply();
    }
}

#endif
