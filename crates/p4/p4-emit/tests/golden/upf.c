/* upf.p4: generated; changes are lost. */

/* ... runtime.h ... */

/* ... meter.h ... */

enum {
    V_underlay_ethernet = 0,
    V_underlay_ipv4 = 1,
    V_underlay_udp = 2,
    V_vxlan = 3,
    V_ethernet = 4,
    V_tunnel_ipv4 = 5,
    V_tunnel_udp = 6,
    V_tunnel_gtpu = 7,
    V_tunnel_optional = 8,
    V_tunnel_psc = 9,
    V_ipv4 = 10,
    V_ipv4_options = 11,
    V_ipv6 = 12,
    V_ports = 13,
    V_udp_rest = 14,
    V_gtpu = 15,
    V_gtpu_optional = 16,
    V_gtpu_psc = 17,
    V_gtpu_numbers = 18,
    V_gtpu_container = 19,
    V_gtpu_extension_1 = 20,
    V_gtpu_extension_2 = 21,
    V_gtpu_extension_3 = 22,
    V_gtpu_extension_4 = 23,
    V_gtpu_end = 24,
    V_inner_ipv4 = 25,
    V_inner_ipv4_options = 26,
    V_inner_ipv6 = 27,
    V_extension_1 = 28,
    V_extension_2 = 29,
    V_extension_3 = 30,
    V_extension_4 = 31,
    V_inner_ports = 32,
};

enum {
    TABLE_station = 0,
    TABLE_vxlan_termination = 1,
    TABLE_pdr_by_teid = 2,
    TABLE_pdr_by_ue_ipv4 = 3,
    TABLE_pdr_by_ue_ipv6 = 4,
    TABLE_local_ipv4 = 5,
    TABLE_local_ipv6 = 6,
    TABLE_sdf_ipv4 = 7,
    TABLE_sdf_ipv6 = 8,
    TABLE_pdr_by_class = 9,
    TABLE_firewall_v4 = 10,
    TABLE_firewall_v6 = 11,
    TABLE_traffic_class = 12,
    TABLE_route_ipv4 = 13,
    TABLE_route_ipv6 = 14,
    TABLE_nexthop = 15,
};

enum {
    ACTION_route = 0,
    ACTION_loopback = 1,
    ACTION_group = 2,
    ACTION_UpfIngress_station_drop = 3,
    ACTION_set_pdr = 4,
    ACTION_classify = 5,
    ACTION_p4_miss = 6,
    ACTION_gtpu_endpoint = 7,
    ACTION_host = 8,
    ACTION_not_local = 9,
    ACTION_set_filter = 10,
    ACTION_no_filter = 11,
    ACTION_no_pdr = 12,
    ACTION_permit = 13,
    ACTION_deny = 14,
    ACTION_best_effort = 15,
    ACTION_set_class = 16,
    ACTION_set_nexthop = 17,
    ACTION_UpfIngress_route_drop = 18,
    ACTION_send = 19,
    ACTION_send_vxlan = 20,
    ACTION_unresolved = 21,
};

enum {
    COUNTER_usage = 0,
};

enum {
    METER_mbr = 0,
    METER_class_rate = 1,
};

/* What the pointers of invalid headers lead to. Never written. */
static const uint8_t sp_zeroes[40];
#define sp_nothing ((uint8_t *)sp_zeroes)

struct record_station {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t vrf_0;
        } route;
        struct {
            uint16_t action_;
            uint16_t vrf_0;
        } loopback;
        struct {
            uint16_t action_;
            uint16_t vrf_0;
        } group;
        struct {
            uint16_t action_;
            uint8_t reason_0;
        } UpfIngress_station_drop;
    };
};

struct record_vxlan_termination {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t vrf_0;
        } route;
        struct {
            uint16_t action_;
            uint8_t reason_0;
        } UpfIngress_station_drop;
    };
};

struct record_pdr_by_teid {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t disposition_1;
            uint8_t flags_2;
            uint8_t encapsulation_9;
            uint8_t psc_qos_13;
            uint8_t tunnel_tos_14;
            uint16_t out_vrf_15;
            uint32_t pdr_0;
            uint32_t usage_3;
            uint32_t meter_1_4;
            uint32_t meter_2_5;
            uint32_t meter_3_6;
            uint32_t ue_ipv4_7;
            uint32_t tunnel_teid_10;
            uint32_t tunnel_dst_11;
            uint32_t tunnel_src_12;
            uint64_t ue_prefix_8;
        } set_pdr;
        struct {
            uint16_t action_;
            uint16_t filter_set_1;
            uint32_t group_0;
        } classify;
    };
};

struct record_pdr_by_ue_ipv4 {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t disposition_1;
            uint8_t flags_2;
            uint8_t encapsulation_9;
            uint8_t psc_qos_13;
            uint8_t tunnel_tos_14;
            uint16_t out_vrf_15;
            uint32_t pdr_0;
            uint32_t usage_3;
            uint32_t meter_1_4;
            uint32_t meter_2_5;
            uint32_t meter_3_6;
            uint32_t ue_ipv4_7;
            uint32_t tunnel_teid_10;
            uint32_t tunnel_dst_11;
            uint32_t tunnel_src_12;
            uint64_t ue_prefix_8;
        } set_pdr;
        struct {
            uint16_t action_;
            uint16_t filter_set_1;
            uint32_t group_0;
        } classify;
    };
};

struct record_pdr_by_ue_ipv6 {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t disposition_1;
            uint8_t flags_2;
            uint8_t encapsulation_9;
            uint8_t psc_qos_13;
            uint8_t tunnel_tos_14;
            uint16_t out_vrf_15;
            uint32_t pdr_0;
            uint32_t usage_3;
            uint32_t meter_1_4;
            uint32_t meter_2_5;
            uint32_t meter_3_6;
            uint32_t ue_ipv4_7;
            uint32_t tunnel_teid_10;
            uint32_t tunnel_dst_11;
            uint32_t tunnel_src_12;
            uint64_t ue_prefix_8;
        } set_pdr;
        struct {
            uint16_t action_;
            uint16_t filter_set_1;
            uint32_t group_0;
        } classify;
    };
};

struct record_local_ipv4 {
    union {
        struct {
            uint16_t action;
        };
    };
};

struct record_local_ipv6 {
    union {
        struct {
            uint16_t action;
        };
    };
};

struct record_sdf_ipv4 {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t class_0;
        } set_filter;
    };
};

struct record_sdf_ipv6 {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t class_0;
        } set_filter;
    };
};

struct record_pdr_by_class {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t disposition_1;
            uint8_t flags_2;
            uint8_t encapsulation_9;
            uint8_t psc_qos_13;
            uint8_t tunnel_tos_14;
            uint16_t out_vrf_15;
            uint32_t pdr_0;
            uint32_t usage_3;
            uint32_t meter_1_4;
            uint32_t meter_2_5;
            uint32_t meter_3_6;
            uint32_t ue_ipv4_7;
            uint32_t tunnel_teid_10;
            uint32_t tunnel_dst_11;
            uint32_t tunnel_src_12;
            uint64_t ue_prefix_8;
        } set_pdr;
    };
};

struct record_firewall_v4 {
    union {
        struct {
            uint16_t action;
        };
    };
};

struct record_firewall_v6 {
    union {
        struct {
            uint16_t action;
        };
    };
};

struct record_traffic_class {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint8_t queue_0;
            uint16_t meter_cell_1;
        } set_class;
    };
};

struct record_route_ipv4 {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t nexthop_0;
        } set_nexthop;
        struct {
            uint16_t action_;
            uint8_t reason_0;
        } UpfIngress_route_drop;
    };
};

struct record_route_ipv6 {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t nexthop_0;
        } set_nexthop;
        struct {
            uint16_t action_;
            uint8_t reason_0;
        } UpfIngress_route_drop;
    };
};

struct record_nexthop {
    union {
        struct {
            uint16_t action;
        };
        struct {
            uint16_t action_;
            uint16_t port_0;
            uint16_t mtu_3;
            uint64_t src_mac_1;
            uint64_t dst_mac_2;
        } send;
        struct {
            uint16_t action_;
            uint16_t port_0;
            uint16_t mtu_8;
            uint32_t vni_3;
            uint32_t vtep_src_4;
            uint32_t vtep_dst_5;
            uint64_t src_mac_1;
            uint64_t dst_mac_2;
            uint64_t underlay_src_mac_6;
            uint64_t underlay_dst_mac_7;
        } send_vxlan;
        struct {
            uint16_t action_;
            uint32_t nexthop_0;
        } unresolved;
        struct {
            uint16_t action_;
            uint8_t reason_0;
        } UpfIngress_route_drop;
    };
};

const uint32_t sp_layout[] = {
    5, 16, 1, 2, 0, 0, 0,
    /* station */ 8, 2, 0,2,0, 2,6,0,
        sizeof(struct record_station), __builtin_offsetof(struct record_station, action), 4294967295, 4,
        0, 1, __builtin_offsetof(struct record_station, route.vrf_0), 2,
        1, 1, __builtin_offsetof(struct record_station, loopback.vrf_0), 2,
        2, 1, __builtin_offsetof(struct record_station, group.vrf_0), 2,
        3, 1, __builtin_offsetof(struct record_station, UpfIngress_station_drop.reason_0), 1,
    /* vxlan_termination */ 7, 2, 0,4,0, 4,3,0,
        sizeof(struct record_vxlan_termination), __builtin_offsetof(struct record_vxlan_termination, action), 4294967295, 2,
        0, 1, __builtin_offsetof(struct record_vxlan_termination, route.vrf_0), 2,
        3, 1, __builtin_offsetof(struct record_vxlan_termination, UpfIngress_station_drop.reason_0), 1,
    /* pdr_by_teid */ 8, 2, 0,4,0, 4,4,0,
        sizeof(struct record_pdr_by_teid), __builtin_offsetof(struct record_pdr_by_teid, action), 4294967295, 3,
        4, 16, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.pdr_0), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.disposition_1), 1, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.flags_2), 1, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.usage_3), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.meter_1_4), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.meter_2_5), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.meter_3_6), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.ue_ipv4_7), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.ue_prefix_8), 8, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.encapsulation_9), 1, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.tunnel_teid_10), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.tunnel_dst_11), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.tunnel_src_12), 4, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.psc_qos_13), 1, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.tunnel_tos_14), 1, __builtin_offsetof(struct record_pdr_by_teid, set_pdr.out_vrf_15), 2,
        5, 2, __builtin_offsetof(struct record_pdr_by_teid, classify.group_0), 4, __builtin_offsetof(struct record_pdr_by_teid, classify.filter_set_1), 2,
        6, 0,
    /* pdr_by_ue_ipv4 */ 6, 2, 0,2,0, 2,4,0,
        sizeof(struct record_pdr_by_ue_ipv4), __builtin_offsetof(struct record_pdr_by_ue_ipv4, action), 4294967295, 3,
        4, 16, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.pdr_0), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.disposition_1), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.flags_2), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.usage_3), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.meter_1_4), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.meter_2_5), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.meter_3_6), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.ue_ipv4_7), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.ue_prefix_8), 8, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.encapsulation_9), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.tunnel_teid_10), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.tunnel_dst_11), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.tunnel_src_12), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.psc_qos_13), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.tunnel_tos_14), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv4, set_pdr.out_vrf_15), 2,
        5, 2, __builtin_offsetof(struct record_pdr_by_ue_ipv4, classify.group_0), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv4, classify.filter_set_1), 2,
        6, 0,
    /* pdr_by_ue_ipv6 */ 10, 2, 0,2,0, 2,8,0,
        sizeof(struct record_pdr_by_ue_ipv6), __builtin_offsetof(struct record_pdr_by_ue_ipv6, action), 4294967295, 3,
        4, 16, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.pdr_0), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.disposition_1), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.flags_2), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.usage_3), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.meter_1_4), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.meter_2_5), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.meter_3_6), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.ue_ipv4_7), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.ue_prefix_8), 8, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.encapsulation_9), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.tunnel_teid_10), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.tunnel_dst_11), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.tunnel_src_12), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.psc_qos_13), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.tunnel_tos_14), 1, __builtin_offsetof(struct record_pdr_by_ue_ipv6, set_pdr.out_vrf_15), 2,
        5, 2, __builtin_offsetof(struct record_pdr_by_ue_ipv6, classify.group_0), 4, __builtin_offsetof(struct record_pdr_by_ue_ipv6, classify.filter_set_1), 2,
        6, 0,
    /* local_ipv4 */ 6, 2, 0,2,0, 2,4,0,
        sizeof(struct record_local_ipv4), __builtin_offsetof(struct record_local_ipv4, action), 4294967295, 3,
        7, 0,
        8, 0,
        9, 0,
    /* local_ipv6 */ 18, 2, 0,2,0, 2,16,0,
        sizeof(struct record_local_ipv6), __builtin_offsetof(struct record_local_ipv6, action), 4294967295, 2,
        8, 0,
        9, 0,
    /* sdf_ipv4 */ 17, 8, 0,2,0, 2,4,0, 6,4,0, 10,1,0, 11,2,0, 13,2,0, 15,1,0, 16,1,0,
        sizeof(struct record_sdf_ipv4), __builtin_offsetof(struct record_sdf_ipv4, action), 4294967295, 2,
        10, 1, __builtin_offsetof(struct record_sdf_ipv4, set_filter.class_0), 1,
        11, 0,
    /* sdf_ipv6 */ 44, 9, 0,2,0, 2,16,0, 18,16,0, 34,1,0, 35,2,0, 37,2,0, 39,1,0, 40,3,0, 43,1,0,
        sizeof(struct record_sdf_ipv6), __builtin_offsetof(struct record_sdf_ipv6, action), 4294967295, 2,
        10, 1, __builtin_offsetof(struct record_sdf_ipv6, set_filter.class_0), 1,
        11, 0,
    /* pdr_by_class */ 5, 2, 0,4,0, 4,1,0,
        sizeof(struct record_pdr_by_class), __builtin_offsetof(struct record_pdr_by_class, action), 4294967295, 2,
        4, 16, __builtin_offsetof(struct record_pdr_by_class, set_pdr.pdr_0), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.disposition_1), 1, __builtin_offsetof(struct record_pdr_by_class, set_pdr.flags_2), 1, __builtin_offsetof(struct record_pdr_by_class, set_pdr.usage_3), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.meter_1_4), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.meter_2_5), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.meter_3_6), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.ue_ipv4_7), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.ue_prefix_8), 8, __builtin_offsetof(struct record_pdr_by_class, set_pdr.encapsulation_9), 1, __builtin_offsetof(struct record_pdr_by_class, set_pdr.tunnel_teid_10), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.tunnel_dst_11), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.tunnel_src_12), 4, __builtin_offsetof(struct record_pdr_by_class, set_pdr.psc_qos_13), 1, __builtin_offsetof(struct record_pdr_by_class, set_pdr.tunnel_tos_14), 1, __builtin_offsetof(struct record_pdr_by_class, set_pdr.out_vrf_15), 2,
        12, 0,
    /* firewall_v4 */ 15, 6, 0,2,0, 2,4,0, 6,4,0, 10,1,0, 11,2,0, 13,2,0,
        sizeof(struct record_firewall_v4), __builtin_offsetof(struct record_firewall_v4, action), 4294967295, 2,
        13, 0,
        14, 0,
    /* firewall_v6 */ 39, 6, 0,2,0, 2,16,0, 18,16,0, 34,1,0, 35,2,0, 37,2,0,
        sizeof(struct record_firewall_v6), __builtin_offsetof(struct record_firewall_v6, action), 4294967295, 2,
        13, 0,
        14, 0,
    /* traffic_class */ 15, 7, 0,1,0, 1,1,0, 2,4,0, 6,4,0, 10,1,0, 11,2,0, 13,2,0,
        sizeof(struct record_traffic_class), __builtin_offsetof(struct record_traffic_class, action), 4294967295, 2,
        15, 0,
        16, 2, __builtin_offsetof(struct record_traffic_class, set_class.queue_0), 1, __builtin_offsetof(struct record_traffic_class, set_class.meter_cell_1), 2,
    /* route_ipv4 */ 6, 2, 0,2,0, 2,4,0,
        sizeof(struct record_route_ipv4), __builtin_offsetof(struct record_route_ipv4, action), 4294967295, 2,
        17, 1, __builtin_offsetof(struct record_route_ipv4, set_nexthop.nexthop_0), 2,
        18, 1, __builtin_offsetof(struct record_route_ipv4, UpfIngress_route_drop.reason_0), 1,
    /* route_ipv6 */ 18, 2, 0,2,0, 2,16,0,
        sizeof(struct record_route_ipv6), __builtin_offsetof(struct record_route_ipv6, action), 4294967295, 2,
        17, 1, __builtin_offsetof(struct record_route_ipv6, set_nexthop.nexthop_0), 2,
        18, 1, __builtin_offsetof(struct record_route_ipv6, UpfIngress_route_drop.reason_0), 1,
    /* nexthop */ 2, 1, 0,2,0,
        sizeof(struct record_nexthop), __builtin_offsetof(struct record_nexthop, action), 4294967295, 4,
        19, 4, __builtin_offsetof(struct record_nexthop, send.port_0), 2, __builtin_offsetof(struct record_nexthop, send.src_mac_1), 8, __builtin_offsetof(struct record_nexthop, send.dst_mac_2), 8, __builtin_offsetof(struct record_nexthop, send.mtu_3), 2,
        20, 9, __builtin_offsetof(struct record_nexthop, send_vxlan.port_0), 2, __builtin_offsetof(struct record_nexthop, send_vxlan.src_mac_1), 8, __builtin_offsetof(struct record_nexthop, send_vxlan.dst_mac_2), 8, __builtin_offsetof(struct record_nexthop, send_vxlan.vni_3), 4, __builtin_offsetof(struct record_nexthop, send_vxlan.vtep_src_4), 4, __builtin_offsetof(struct record_nexthop, send_vxlan.vtep_dst_5), 4, __builtin_offsetof(struct record_nexthop, send_vxlan.underlay_src_mac_6), 8, __builtin_offsetof(struct record_nexthop, send_vxlan.underlay_dst_mac_7), 8, __builtin_offsetof(struct record_nexthop, send_vxlan.mtu_8), 2,
        21, 1, __builtin_offsetof(struct record_nexthop, unresolved.nexthop_0), 4,
        18, 1, __builtin_offsetof(struct record_nexthop, UpfIngress_route_drop.reason_0), 1,
};
const uint32_t sp_layout_len = sizeof sp_layout / sizeof sp_layout[0];

static const struct record_pdr_by_teid sp_zero_set_pdr;

/* What a packet takes from stage to stage. */
struct sp_context {
    uint8_t *payload;
    uint64_t valid;
    const struct record_pdr_by_teid *rule_set_pdr;
    uint32_t keep;
    struct {
        uint32_t meta_dst_v4;
        uint32_t meta_group;
        uint32_t meta_out_length;
        uint32_t meta_mark;
        uint16_t meta_relayed_bytes;
        uint16_t meta_vrf;
        uint16_t meta_class_meter;
        uint8_t meta_new_container;
        uint8_t meta_loopback;
        sp_kept128 meta_src_v6;
        sp_kept128 meta_dst_v6;
        sp_kept128 UpfIngress_session_remote_v6;
        sp_kept128 UpfIngress_session_local_v6;
        uint32_t meta_src_v4;
        uint32_t meta_pdu_length;
        uint32_t UpfIngress_session_remote_v4;
        uint32_t UpfIngress_session_local_v4;
        uint32_t UpfIngress_session_flow_label;
        uint16_t meta_src_port;
        uint16_t meta_dst_port;
        uint16_t meta_container_bytes;
        uint16_t meta_filter_set;
        uint16_t meta_nexthop;
        uint16_t standard_metadata_egress_spec;
        uint16_t UpfIngress_session_remote_port;
        uint16_t UpfIngress_session_local_port;
        uint8_t meta_user_is_inner;
        uint8_t meta_ip_version;
        uint8_t meta_protocol;
        uint8_t meta_tos;
        uint8_t meta_unknown_extension;
        uint8_t meta_endpoint_extension;
        uint8_t meta_qfi;
        uint8_t meta_uplink;
        uint8_t meta_classified;
        uint8_t meta_class;
        uint8_t meta_reason;
    } v;
    uint8_t *h_underlay_ethernet;
    uint8_t *h_underlay_ipv4;
    uint8_t *h_underlay_udp;
    uint8_t *h_vxlan;
    uint8_t *h_ethernet;
    uint8_t *h_ipv4;
    uint8_t *h_ipv4_options;
    uint8_t *h_ipv6;
    uint8_t *h_ports;
    uint8_t *h_udp_rest;
    uint8_t *h_gtpu;
    uint8_t *h_gtpu_optional;
    uint8_t *h_gtpu_psc;
    uint8_t *h_gtpu_numbers;
    uint8_t *h_gtpu_extension_1;
    uint8_t *h_gtpu_extension_2;
    uint8_t *h_gtpu_extension_3;
    uint8_t *h_gtpu_extension_4;
    uint8_t *h_gtpu_end;
    uint8_t *h_inner_ipv4;
    uint8_t *h_inner_ipv4_options;
    uint8_t *h_inner_ipv6;
    uint8_t *h_extension_1;
    uint8_t *h_extension_2;
    uint8_t *h_extension_3;
    uint8_t *h_extension_4;
    uint8_t *h_inner_ports;
    uint16_t n_ipv4_options;
    uint16_t n_gtpu_extension_1;
    uint16_t n_gtpu_extension_2;
    uint16_t n_gtpu_extension_3;
    uint16_t n_gtpu_extension_4;
    uint16_t n_inner_ipv4_options;
    uint16_t n_extension_1;
    uint16_t n_extension_2;
    uint16_t n_extension_3;
    uint16_t n_extension_4;
    uint8_t s[98];
} __attribute__((aligned(64)));

/* Where in `s` headers lie that did not come in the packet, or were moved out of it. */
enum {
    S_underlay_ethernet = 0,
    S_underlay_ipv4 = 14,
    S_underlay_udp = 34,
    S_vxlan = 42,
    S_tunnel_ipv4 = 50,
    S_tunnel_udp = 70,
    S_tunnel_gtpu = 78,
    S_tunnel_optional = 86,
    S_tunnel_psc = 90,
    S_gtpu_container = 94,
};

#define SP_STAGES 145
#define SP_CLASSES 7
#define SP_WAITS 120
#define SP_KEY_STRIDE 48

/* ... run.h ... */

static inline void sp_move_1(uint8_t *to, const uint8_t *from)
{
    sp_block1 b0; __builtin_memcpy(&b0, from + 0, 1);
    __builtin_memcpy(to + 0, &b0, 1);
}

static inline void sp_move_3(uint8_t *to, const uint8_t *from)
{
    sp_block2 b0; __builtin_memcpy(&b0, from + 0, 2);
    sp_block1 b2; __builtin_memcpy(&b2, from + 2, 1);
    __builtin_memcpy(to + 0, &b0, 2);
    __builtin_memcpy(to + 2, &b2, 1);
}

static inline void sp_move_4(uint8_t *to, const uint8_t *from)
{
    sp_block4 b0; __builtin_memcpy(&b0, from + 0, 4);
    __builtin_memcpy(to + 0, &b0, 4);
}

static inline void sp_move_8(uint8_t *to, const uint8_t *from)
{
    sp_block8 b0; __builtin_memcpy(&b0, from + 0, 8);
    __builtin_memcpy(to + 0, &b0, 8);
}

static inline void sp_move_14(uint8_t *to, const uint8_t *from)
{
    sp_block8 b0; __builtin_memcpy(&b0, from + 0, 8);
    sp_block4 b8; __builtin_memcpy(&b8, from + 8, 4);
    sp_block2 b12; __builtin_memcpy(&b12, from + 12, 2);
    __builtin_memcpy(to + 0, &b0, 8);
    __builtin_memcpy(to + 8, &b8, 4);
    __builtin_memcpy(to + 12, &b12, 2);
}

static inline void sp_move_20(uint8_t *to, const uint8_t *from)
{
    sp_block16 b0; __builtin_memcpy(&b0, from + 0, 16);
    sp_block4 b16; __builtin_memcpy(&b16, from + 16, 4);
    __builtin_memcpy(to + 0, &b0, 16);
    __builtin_memcpy(to + 16, &b16, 4);
}

static inline void sp_move_40(uint8_t *to, const uint8_t *from)
{
    sp_block32 b0; __builtin_memcpy(&b0, from + 0, 32);
    sp_block8 b32; __builtin_memcpy(&b32, from + 32, 8);
    __builtin_memcpy(to + 0, &b0, 32);
    __builtin_memcpy(to + 32, &b32, 8);
}

static inline void sp_move_44(uint8_t *to, const uint8_t *from)
{
    sp_block32 b0; __builtin_memcpy(&b0, from + 0, 32);
    sp_block8 b32; __builtin_memcpy(&b32, from + 32, 8);
    sp_block4 b40; __builtin_memcpy(&b40, from + 40, 4);
    __builtin_memcpy(to + 0, &b0, 32);
    __builtin_memcpy(to + 32, &b32, 8);
    __builtin_memcpy(to + 40, &b40, 4);
}

static __attribute__((noinline)) void stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_1 = 0;
    uint64_t to_24 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = 0;
        uint8_t *h_underlay_ethernet = sp_nothing;
        uint8_t *h_underlay_ipv4 = sp_nothing;
        uint8_t *h_underlay_udp = sp_nothing;
        uint8_t *h_vxlan = sp_nothing;
        uint8_t *h_ethernet = sp_nothing;
        uint8_t *h_ipv4 = sp_nothing;
        uint8_t *h_ipv4_options = sp_nothing;
        uint8_t *h_ipv6 = sp_nothing;
        uint8_t *h_ports = sp_nothing;
        uint8_t *h_udp_rest = sp_nothing;
        uint8_t *h_gtpu = sp_nothing;
        uint8_t *h_gtpu_optional = sp_nothing;
        uint8_t *h_gtpu_psc = sp_nothing;
        uint8_t *h_gtpu_numbers = sp_nothing;
        uint8_t *h_gtpu_extension_1 = sp_nothing;
        uint8_t *h_gtpu_extension_2 = sp_nothing;
        uint8_t *h_gtpu_extension_3 = sp_nothing;
        uint8_t *h_gtpu_extension_4 = sp_nothing;
        uint8_t *h_gtpu_end = sp_nothing;
        uint8_t *h_inner_ipv4 = sp_nothing;
        uint8_t *h_inner_ipv4_options = sp_nothing;
        uint8_t *h_inner_ipv6 = sp_nothing;
        uint8_t *h_extension_1 = sp_nothing;
        uint8_t *h_extension_2 = sp_nothing;
        uint8_t *h_extension_3 = sp_nothing;
        uint8_t *h_extension_4 = sp_nothing;
        uint8_t *h_inner_ports = sp_nothing;
        uint32_t n_ipv4_options = 0;
        uint32_t n_gtpu_extension_1 = 0;
        uint32_t n_gtpu_extension_2 = 0;
        uint32_t n_gtpu_extension_3 = 0;
        uint32_t n_gtpu_extension_4 = 0;
        uint32_t n_inner_ipv4_options = 0;
        uint32_t n_extension_1 = 0;
        uint32_t n_extension_2 = 0;
        uint32_t n_extension_3 = 0;
        uint32_t n_extension_4 = 0;
        uint32_t meta_user_is_inner = 0;
        uint32_t meta_ip_version = 0;
        uint32_t meta_src_v4 = 0;
        uint32_t meta_dst_v4 = 0;
        sp_u128 meta_src_v6 = 0;
        sp_u128 meta_dst_v6 = 0;
        uint32_t meta_protocol = 0;
        uint32_t meta_tos = 0;
        uint32_t meta_src_port = 0;
        uint32_t meta_dst_port = 0;
        uint32_t meta_user_offset = 0;
        uint32_t meta_pdu_length = 0;
        uint32_t meta_header_length = 0;
        uint32_t meta_next_header = 0;
        uint32_t meta_extension_bytes = 0;
        uint32_t meta_source_routed = 0;
        uint32_t meta_options = 0;
        uint32_t meta_inner_options = 0;
        uint32_t meta_unknown_extension = 0;
        uint32_t meta_endpoint_extension = 0;
        uint32_t meta_qfi = 0;
        uint32_t meta_relayed_bytes = 0;
        uint32_t meta_container_bytes = 0;
        uint32_t meta_reason = 0;
        uint32_t meta_mark = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t standard_metadata_checksum_error = 0;
        uint32_t standard_metadata_parser_error = 0;
        uint32_t UpfParser_tmp = 0;
        uint32_t UpfParser_tmp_2 = 0;
        uint32_t UpfParser_optional = 0;
        uint64_t UpfParser_tmp_3 = 0;
        uint64_t UpfParser_head = 0;
        uint32_t UpfParser_tmp_4 = 0;
        uint32_t UpfParser_tmp_5 = 0;
        uint32_t UpfParser_head_2 = 0;
        uint32_t UpfParser_bytes = 0;
        uint32_t UpfParser_tmp_6 = 0;
        uint32_t UpfParser_tmp_7 = 0;
        uint32_t UpfParser_head_3 = 0;
        uint32_t UpfParser_bytes_2 = 0;
        uint32_t UpfParser_tmp_8 = 0;
        uint32_t UpfParser_tmp_9 = 0;
        uint32_t UpfParser_head_4 = 0;
        uint32_t UpfParser_bytes_3 = 0;
        uint32_t UpfParser_tmp_10 = 0;
        uint32_t UpfParser_tmp_11 = 0;
        uint32_t UpfParser_head_5 = 0;
        uint32_t UpfParser_bytes_4 = 0;
        uint32_t UpfParser_tmp_12 = 0;
        uint32_t UpfParser_tmp_13 = 0;
        uint32_t UpfParser_tmp_14 = 0;
        uint32_t UpfParser_tmp_15 = 0;
        uint32_t UpfParser_tmp_16 = 0;
        uint32_t UpfParser_tmp_17 = 0;
        uint32_t UpfParser_tmp_18 = 0;
        uint32_t UpfParser_tmp_19 = 0;
        uint32_t UpfParser_tmp_20 = 0;
        uint32_t UpfParser_tmp_21 = 0;
        uint32_t UpfParser_tmp_22 = 0;
        uint32_t UpfIngress_user_packet_reason = 0;
        uint32_t UpfIngress_user_packet_options_ihl = 0;
        uint32_t UpfIngress_user_packet_options_reason = 0;
        uint32_t UpfIngress_user_packet_options_option = 0;
        uint32_t UpfIngress_user_packet_options_seen = 0;
        uint32_t UpfIngress_user_packet_options_all = 0;
        uint32_t UpfIngress_user_packet_options_option_2 = 0;
        uint32_t UpfIngress_user_packet_options_seen_2 = 0;
        uint32_t UpfIngress_user_packet_options_all_2 = 0;
        uint32_t UpfIngress_user_packet_end = 0;
        uint32_t UpfIngress_user_packet_tunnel = 0;
        uint32_t UpfIngress_user_packet_udp = 0;
        uint32_t UpfIngress_user_packet_gtpu_end = 0;
        uint32_t UpfIngress_user_packet_udp_end = 0;
        uint32_t UpfIngress_user_packet_tunnel_end = 0;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->h_underlay_ethernet = sp_nothing;
        c->h_underlay_ipv4 = sp_nothing;
        c->h_underlay_udp = sp_nothing;
        c->h_vxlan = sp_nothing;
        c->h_ethernet = sp_nothing;
        c->h_ipv4 = sp_nothing;
        c->h_ipv4_options = sp_nothing;
        c->h_ipv6 = sp_nothing;
        c->h_ports = sp_nothing;
        c->h_udp_rest = sp_nothing;
        c->h_gtpu = sp_nothing;
        c->h_gtpu_optional = sp_nothing;
        c->h_gtpu_psc = sp_nothing;
        c->h_gtpu_numbers = sp_nothing;
        c->h_gtpu_extension_1 = sp_nothing;
        c->h_gtpu_extension_2 = sp_nothing;
        c->h_gtpu_extension_3 = sp_nothing;
        c->h_gtpu_extension_4 = sp_nothing;
        c->h_gtpu_end = sp_nothing;
        c->h_inner_ipv4 = sp_nothing;
        c->h_inner_ipv4_options = sp_nothing;
        c->h_inner_ipv6 = sp_nothing;
        c->h_extension_1 = sp_nothing;
        c->h_extension_2 = sp_nothing;
        c->h_extension_3 = sp_nothing;
        c->h_extension_4 = sp_nothing;
        c->h_inner_ports = sp_nothing;
        c->n_ipv4_options = 0;
        c->n_gtpu_extension_1 = 0;
        c->n_gtpu_extension_2 = 0;
        c->n_gtpu_extension_3 = 0;
        c->n_gtpu_extension_4 = 0;
        c->n_inner_ipv4_options = 0;
        c->n_extension_1 = 0;
        c->n_extension_2 = 0;
        c->n_extension_3 = 0;
        c->n_extension_4 = 0;
        __builtin_memset(&c->v, 0, sizeof c->v);
        c->keep = 0xffffffffu;
        if (pk->length > SP_MAX_PACKET) {
            sp_drop(run, i, SP_RX_TOO_LONG, meta_mark);
            goto done;
        }
        uint8_t *payload = pk->buffer + pk->start;
        const uint8_t *const end = payload + pk->length;
        meta_user_offset = 0xeu;
        switch (((uint32_t)pk->port & 0x1ff) & 0x100u) {
            case 0u:
                goto state_5_parse_ethernet;
            default:
                goto state_1_parse_underlay;
        }
        state_1_parse_underlay:;
        if (end - payload < 14) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_underlay_ethernet = payload; c->h_underlay_ethernet = h_underlay_ethernet;
        valid |= SP_BIT(V_underlay_ethernet);
        payload += 14;
        switch (sp_ld16(h_underlay_ethernet + 12)) {
            case 0x800u:
                goto state_2_parse_underlay_ipv4;
            default:
                goto parsed;
        }
        state_2_parse_underlay_ipv4:;
        if (end - payload < 20) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_underlay_ipv4 = payload; c->h_underlay_ipv4 = h_underlay_ipv4;
        valid |= SP_BIT(V_underlay_ipv4);
        payload += 20;
        const uint32_t x1 = (sp_ld8(h_underlay_ipv4) & 0xf);
        const uint32_t x2 = ((sp_ld8(h_underlay_ipv4 + 6) >> 5) & 0x1);
        const uint32_t x3 = (sp_ld16(h_underlay_ipv4 + 6) & 0x1fff);
        const uint32_t x4 = sp_ld8(h_underlay_ipv4 + 9);
        if ((x1 == 5u) && (x2 == 0u) && (x3 == 0u) && (x4 == 0x11u)) {
            goto state_3_parse_underlay_udp;
        }
        goto parsed;
        state_3_parse_underlay_udp:;
        if (end - payload < 8) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_underlay_udp = payload; c->h_underlay_udp = h_underlay_udp;
        valid |= SP_BIT(V_underlay_udp);
        payload += 8;
        switch (sp_ld16(h_underlay_udp + 2)) {
            case 0x12b5u:
                goto state_4_parse_vxlan;
            default:
                goto parsed;
        }
        state_4_parse_vxlan:;
        if (end - payload < 8) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_vxlan = payload; c->h_vxlan = h_vxlan;
        valid |= SP_BIT(V_vxlan);
        payload += 8;
        meta_user_offset = 0x40u;
        state_5_parse_ethernet:;
        if (end - payload < 14) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ethernet = payload; c->h_ethernet = h_ethernet;
        valid |= SP_BIT(V_ethernet);
        payload += 14;
        switch (sp_ld16(h_ethernet + 12)) {
            case 0x800u:
                goto state_6_parse_ipv4;
            case 0x86ddu:
                goto state_9_parse_ipv6;
            default:
                goto parsed;
        }
        state_9_parse_ipv6:;
        if (end - payload < 40) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ipv6 = payload; c->h_ipv6 = h_ipv6;
        valid |= SP_BIT(V_ipv6);
        payload += 40;
        if (!((sp_ld8(h_ipv6) >> 4) == 6u)) {
            standard_metadata_parser_error = 8u;
            goto parsed;
        }
        switch (sp_ld8(h_ipv6 + 6)) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_11_parse_ports;
            case 0u:
            case 0x2bu:
            case 0x2cu:
            case 0x3cu:
            case 0x87u:
            case 0x8bu:
            case 0x8cu:
                goto state_10_parse_extensions_of_ipv6;
            default:
                goto parsed;
        }
        state_10_parse_extensions_of_ipv6:;
        meta_next_header = sp_ld8(h_ipv6 + 6);
        goto state_48_extension_1;
        state_6_parse_ipv4:;
        if (end - payload < 20) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ipv4 = payload; c->h_ipv4 = h_ipv4;
        valid |= SP_BIT(V_ipv4);
        payload += 20;
        if (!(((sp_ld8(h_ipv4) >> 4) == 4u) && ((sp_ld8(h_ipv4) & 0xf) >= 5u))) {
            standard_metadata_parser_error = 8u;
            goto parsed;
        }
        switch (sp_ld8(h_ipv4) & 0xf) {
            case 5u:
                goto state_8_parse_ipv4_payload;
            default:
                goto state_7_parse_ipv4_options;
        }
        state_7_parse_ipv4_options:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp = sp_ld32(payload);
        meta_options = UpfParser_tmp;
        const uint32_t x5 = ((((sp_ld8(h_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (x5 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x5 / 8 + 0 > (uint32_t)(end - payload) || x5 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x5 / 8 > 40) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_ipv4_options = payload; c->h_ipv4_options = h_ipv4_options;
        n_ipv4_options = (x5 / 8); c->n_ipv4_options = n_ipv4_options;
        valid |= SP_BIT(V_ipv4_options);
        payload += 0 + (x5 / 8);
        state_8_parse_ipv4_payload:;
        const uint32_t x6 = (sp_ld16(h_ipv4 + 6) & 0x1fff);
        const uint32_t x7 = sp_ld8(h_ipv4 + 9);
        if ((x6 == 0u) && (x7 == 0x11u)) {
            goto state_12_parse_udp;
        }
        if ((x6 == 0u) && (x7 == 6u)) {
            goto state_11_parse_ports;
        }
        if ((x6 == 0u) && (x7 == 0x84u)) {
            goto state_11_parse_ports;
        }
        goto parsed;
        state_11_parse_ports:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ports = payload; c->h_ports = h_ports;
        valid |= SP_BIT(V_ports);
        payload += 4;
        goto parsed;
        state_12_parse_udp:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_ports = payload; c->h_ports = h_ports;
        valid |= SP_BIT(V_ports);
        payload += 4;
        const uint32_t x8 = (((uint32_t)pk->port & 0x1ff) & 0x80u);
        const uint32_t x9 = ((sp_ld8(h_ipv4 + 6) >> 5) & 0x1);
        const uint32_t x10 = sp_ld16(h_ports + 2);
        if ((x8 == 0u) && (x9 == 0u) && (x10 == 0x868u)) {
            goto state_13_parse_gtpu;
        }
        goto parsed;
        state_13_parse_gtpu:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_udp_rest = payload; c->h_udp_rest = h_udp_rest;
        valid |= SP_BIT(V_udp_rest);
        payload += 4;
        if (end - payload < 8) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu = payload; c->h_gtpu = h_gtpu;
        valid |= SP_BIT(V_gtpu);
        payload += 8;
        meta_user_offset = ((((meta_user_offset + 0x10u) & 0xffff) + (((sp_ld8(h_ipv4) & 0xf) << 2) & 0xffff)) & 0xffff);
        const uint32_t x11 = (sp_ld8(h_gtpu) >> 5);
        const uint32_t x12 = ((sp_ld8(h_gtpu) >> 4) & 0x1);
        const uint32_t x13 = ((sp_ld8(h_gtpu) >> 2) & 0x1);
        const uint32_t x14 = ((sp_ld8(h_gtpu) >> 1) & 0x1);
        const uint32_t x15 = (sp_ld8(h_gtpu) & 0x1);
        const uint32_t x16 = sp_ld8(h_gtpu + 1);
        if ((x11 == 1u) && (x12 == 1u) && (x13 == 0u) && (x14 == 0u) && (x15 == 0u) && (x16 == 0xffu)) {
            goto state_42_parse_user;
        }
        if ((x11 == 1u) && (x12 == 1u) && (x13 == 1u) && (x16 == 0xffu)) {
            goto state_15_parse_extensions;
        }
        if ((x11 == 1u) && (x12 == 1u) && (x13 == 0u) && (x16 == 0xffu)) {
            goto state_18_parse_numbers;
        }
        if ((x11 == 1u) && (x12 == 1u) && (x13 == 0u) && (x14 == 0u) && (x15 == 0u)) {
            goto parsed;
        }
        if ((x11 == 1u) && (x12 == 1u)) {
            goto state_14_parse_gtpu_optional;
        }
        goto parsed;
        state_14_parse_gtpu_optional:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu_optional = payload; c->h_gtpu_optional = h_gtpu_optional;
        valid |= SP_BIT(V_gtpu_optional);
        payload += 4;
        goto parsed;
        state_18_parse_numbers:;
        if (end - payload < 3) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu_numbers = payload; c->h_gtpu_numbers = h_gtpu_numbers;
        valid |= SP_BIT(V_gtpu_numbers);
        payload += 3;
        meta_user_offset = ((meta_user_offset + 4u) & 0xffff);
        goto state_41_end_of_extensions;
        state_15_parse_extensions:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_2 = sp_ld32(payload);
        UpfParser_optional = UpfParser_tmp_2;
        switch (UpfParser_optional & 0xff) {
            case 0x85u:
                goto state_16_parse_container;
            default:
                goto state_19_parse_row;
        }
        state_16_parse_container:;
        if (end - payload < 8) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_3 = sp_ld64(payload);
        UpfParser_head = UpfParser_tmp_3;
        const uint32_t x17 = ((uint32_t)(UpfParser_head >> 24) & 0xff);
        const uint32_t x18 = ((uint32_t)UpfParser_head & 0xff);
        if ((x17 == 1u) && (x18 == 0u)) {
            goto state_17_parse_psc;
        }
        state_19_parse_row:;
        if (end - payload < 3) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu_numbers = payload; c->h_gtpu_numbers = h_gtpu_numbers;
        valid |= SP_BIT(V_gtpu_numbers);
        payload += 3;
        meta_user_offset = ((meta_user_offset + 4u) & 0xffff);
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_4 = sp_ld8(payload);
        switch (UpfParser_tmp_4) {
            case 0u:
                goto state_41_end_of_extensions;
            default:
                goto state_21_take_gtpu_extension_1;
        }
        state_21_take_gtpu_extension_1:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_5 = sp_ld16(payload);
        UpfParser_head_2 = UpfParser_tmp_5;
        if (!(((UpfParser_tmp_5 & 0xff) != 0u) && ((UpfParser_tmp_5 & 0xff) <= 0x10u))) {
            standard_metadata_parser_error = 7u;
            goto parsed;
        }
        const uint32_t x19 = (((UpfParser_tmp_5 & 0xff) - 1u) << 5);
        if (x19 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x19 / 8 + 4 > (uint32_t)(end - payload) || x19 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x19 / 8 > 60) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_gtpu_extension_1 = payload; c->h_gtpu_extension_1 = h_gtpu_extension_1;
        n_gtpu_extension_1 = (x19 / 8); c->n_gtpu_extension_1 = n_gtpu_extension_1;
        valid |= SP_BIT(V_gtpu_extension_1);
        payload += 4 + (x19 / 8);
        UpfParser_bytes = (((UpfParser_tmp_5 & 0xff) << 2) & 0xffff);
        meta_user_offset = ((meta_user_offset + UpfParser_bytes) & 0xffff);
        meta_relayed_bytes = ((meta_relayed_bytes + ((((UpfParser_tmp_5 >> 14) & 0x3) == 1u) ? 0u : UpfParser_bytes)) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
        const uint32_t x20 = ((UpfParser_head_2 >> 8) & 0xff);
        if (x20 == 0x85u) {
            goto state_22_gtpu_container_1;
        }
        if (x20 == 0xc0u) {
            goto state_23_gtpu_for_endpoint_1;
        }
        if ((x20 & 0xc0u) == 0x80u) {
            goto state_23_gtpu_for_endpoint_1;
        }
        if ((x20 & 0xc0u) == 0xc0u) {
            goto state_24_gtpu_mandatory_1;
        }
        goto state_25_gtpu_extension_2;
        state_24_gtpu_mandatory_1:;
        meta_unknown_extension = 1u; c->v.meta_unknown_extension = meta_unknown_extension;
        goto state_25_gtpu_extension_2;
        state_23_gtpu_for_endpoint_1:;
        meta_endpoint_extension = 1u; c->v.meta_endpoint_extension = meta_endpoint_extension;
        goto state_25_gtpu_extension_2;
        state_22_gtpu_container_1:;
        meta_qfi = (sp_ld8(h_gtpu_extension_1 + 3) & 0x3f); c->v.meta_qfi = meta_qfi;
        meta_container_bytes = ((meta_container_bytes + ((sp_ld8(h_gtpu_extension_1 + 1) << 2) & 0xffff)) & 0xffff); c->v.meta_container_bytes = meta_container_bytes;
        state_25_gtpu_extension_2:;
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_6 = sp_ld8(payload);
        switch (UpfParser_tmp_6) {
            case 0u:
                goto state_41_end_of_extensions;
            default:
                goto state_26_take_gtpu_extension_2;
        }
        state_26_take_gtpu_extension_2:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_7 = sp_ld16(payload);
        UpfParser_head_3 = UpfParser_tmp_7;
        if (!(((UpfParser_tmp_7 & 0xff) != 0u) && ((UpfParser_tmp_7 & 0xff) <= 0x10u))) {
            standard_metadata_parser_error = 7u;
            goto parsed;
        }
        const uint32_t x21 = (((UpfParser_tmp_7 & 0xff) - 1u) << 5);
        if (x21 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x21 / 8 + 4 > (uint32_t)(end - payload) || x21 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x21 / 8 > 60) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_gtpu_extension_2 = payload; c->h_gtpu_extension_2 = h_gtpu_extension_2;
        n_gtpu_extension_2 = (x21 / 8); c->n_gtpu_extension_2 = n_gtpu_extension_2;
        valid |= SP_BIT(V_gtpu_extension_2);
        payload += 4 + (x21 / 8);
        UpfParser_bytes_2 = (((UpfParser_tmp_7 & 0xff) << 2) & 0xffff);
        meta_user_offset = ((meta_user_offset + UpfParser_bytes_2) & 0xffff);
        meta_relayed_bytes = ((meta_relayed_bytes + ((((UpfParser_tmp_7 >> 14) & 0x3) == 1u) ? 0u : UpfParser_bytes_2)) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
        const uint32_t x22 = ((UpfParser_head_3 >> 8) & 0xff);
        if (x22 == 0x85u) {
            goto state_27_gtpu_container_2;
        }
        if (x22 == 0xc0u) {
            goto state_28_gtpu_for_endpoint_2;
        }
        if ((x22 & 0xc0u) == 0x80u) {
            goto state_28_gtpu_for_endpoint_2;
        }
        if ((x22 & 0xc0u) == 0xc0u) {
            goto state_29_gtpu_mandatory_2;
        }
        goto state_30_gtpu_extension_3;
        state_29_gtpu_mandatory_2:;
        meta_unknown_extension = 1u; c->v.meta_unknown_extension = meta_unknown_extension;
        goto state_30_gtpu_extension_3;
        state_28_gtpu_for_endpoint_2:;
        meta_endpoint_extension = 1u; c->v.meta_endpoint_extension = meta_endpoint_extension;
        goto state_30_gtpu_extension_3;
        state_27_gtpu_container_2:;
        meta_qfi = (sp_ld8(h_gtpu_extension_2 + 3) & 0x3f); c->v.meta_qfi = meta_qfi;
        meta_container_bytes = ((meta_container_bytes + ((sp_ld8(h_gtpu_extension_2 + 1) << 2) & 0xffff)) & 0xffff); c->v.meta_container_bytes = meta_container_bytes;
        state_30_gtpu_extension_3:;
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_8 = sp_ld8(payload);
        switch (UpfParser_tmp_8) {
            case 0u:
                goto state_41_end_of_extensions;
            default:
                goto state_31_take_gtpu_extension_3;
        }
        state_31_take_gtpu_extension_3:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_9 = sp_ld16(payload);
        UpfParser_head_4 = UpfParser_tmp_9;
        if (!(((UpfParser_tmp_9 & 0xff) != 0u) && ((UpfParser_tmp_9 & 0xff) <= 0x10u))) {
            standard_metadata_parser_error = 7u;
            goto parsed;
        }
        const uint32_t x23 = (((UpfParser_tmp_9 & 0xff) - 1u) << 5);
        if (x23 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x23 / 8 + 4 > (uint32_t)(end - payload) || x23 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x23 / 8 > 60) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_gtpu_extension_3 = payload; c->h_gtpu_extension_3 = h_gtpu_extension_3;
        n_gtpu_extension_3 = (x23 / 8); c->n_gtpu_extension_3 = n_gtpu_extension_3;
        valid |= SP_BIT(V_gtpu_extension_3);
        payload += 4 + (x23 / 8);
        UpfParser_bytes_3 = (((UpfParser_tmp_9 & 0xff) << 2) & 0xffff);
        meta_user_offset = ((meta_user_offset + UpfParser_bytes_3) & 0xffff);
        meta_relayed_bytes = ((meta_relayed_bytes + ((((UpfParser_tmp_9 >> 14) & 0x3) == 1u) ? 0u : UpfParser_bytes_3)) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
        const uint32_t x24 = ((UpfParser_head_4 >> 8) & 0xff);
        if (x24 == 0x85u) {
            goto state_32_gtpu_container_3;
        }
        if (x24 == 0xc0u) {
            goto state_33_gtpu_for_endpoint_3;
        }
        if ((x24 & 0xc0u) == 0x80u) {
            goto state_33_gtpu_for_endpoint_3;
        }
        if ((x24 & 0xc0u) == 0xc0u) {
            goto state_34_gtpu_mandatory_3;
        }
        goto state_35_gtpu_extension_4;
        state_34_gtpu_mandatory_3:;
        meta_unknown_extension = 1u; c->v.meta_unknown_extension = meta_unknown_extension;
        goto state_35_gtpu_extension_4;
        state_33_gtpu_for_endpoint_3:;
        meta_endpoint_extension = 1u; c->v.meta_endpoint_extension = meta_endpoint_extension;
        goto state_35_gtpu_extension_4;
        state_32_gtpu_container_3:;
        meta_qfi = (sp_ld8(h_gtpu_extension_3 + 3) & 0x3f); c->v.meta_qfi = meta_qfi;
        meta_container_bytes = ((meta_container_bytes + ((sp_ld8(h_gtpu_extension_3 + 1) << 2) & 0xffff)) & 0xffff); c->v.meta_container_bytes = meta_container_bytes;
        state_35_gtpu_extension_4:;
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_10 = sp_ld8(payload);
        switch (UpfParser_tmp_10) {
            case 0u:
                goto state_41_end_of_extensions;
            default:
                goto state_36_take_gtpu_extension_4;
        }
        state_36_take_gtpu_extension_4:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_11 = sp_ld16(payload);
        UpfParser_head_5 = UpfParser_tmp_11;
        if (!(((UpfParser_tmp_11 & 0xff) != 0u) && ((UpfParser_tmp_11 & 0xff) <= 0x10u))) {
            standard_metadata_parser_error = 7u;
            goto parsed;
        }
        const uint32_t x25 = (((UpfParser_tmp_11 & 0xff) - 1u) << 5);
        if (x25 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x25 / 8 + 4 > (uint32_t)(end - payload) || x25 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x25 / 8 > 60) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_gtpu_extension_4 = payload; c->h_gtpu_extension_4 = h_gtpu_extension_4;
        n_gtpu_extension_4 = (x25 / 8); c->n_gtpu_extension_4 = n_gtpu_extension_4;
        valid |= SP_BIT(V_gtpu_extension_4);
        payload += 4 + (x25 / 8);
        UpfParser_bytes_4 = (((UpfParser_tmp_11 & 0xff) << 2) & 0xffff);
        meta_user_offset = ((meta_user_offset + UpfParser_bytes_4) & 0xffff);
        meta_relayed_bytes = ((meta_relayed_bytes + ((((UpfParser_tmp_11 >> 14) & 0x3) == 1u) ? 0u : UpfParser_bytes_4)) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
        const uint32_t x26 = ((UpfParser_head_5 >> 8) & 0xff);
        if (x26 == 0x85u) {
            goto state_37_gtpu_container_4;
        }
        if (x26 == 0xc0u) {
            goto state_38_gtpu_for_endpoint_4;
        }
        if ((x26 & 0xc0u) == 0x80u) {
            goto state_38_gtpu_for_endpoint_4;
        }
        if ((x26 & 0xc0u) == 0xc0u) {
            goto state_39_gtpu_mandatory_4;
        }
        goto state_40_gtpu_extension_5;
        state_39_gtpu_mandatory_4:;
        meta_unknown_extension = 1u; c->v.meta_unknown_extension = meta_unknown_extension;
        goto state_40_gtpu_extension_5;
        state_38_gtpu_for_endpoint_4:;
        meta_endpoint_extension = 1u; c->v.meta_endpoint_extension = meta_endpoint_extension;
        goto state_40_gtpu_extension_5;
        state_37_gtpu_container_4:;
        meta_qfi = (sp_ld8(h_gtpu_extension_4 + 3) & 0x3f); c->v.meta_qfi = meta_qfi;
        meta_container_bytes = ((meta_container_bytes + ((sp_ld8(h_gtpu_extension_4 + 1) << 2) & 0xffff)) & 0xffff); c->v.meta_container_bytes = meta_container_bytes;
        state_40_gtpu_extension_5:;
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_12 = sp_ld8(payload);
        if (!(UpfParser_tmp_12 == 0u)) {
            standard_metadata_parser_error = 7u;
            goto parsed;
        }
        state_41_end_of_extensions:;
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu_end = payload; c->h_gtpu_end = h_gtpu_end;
        valid |= SP_BIT(V_gtpu_end);
        payload += 1;
        goto state_42_parse_user;
        state_17_parse_psc:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu_optional = payload; c->h_gtpu_optional = h_gtpu_optional;
        valid |= SP_BIT(V_gtpu_optional);
        payload += 4;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_gtpu_psc = payload; c->h_gtpu_psc = h_gtpu_psc;
        valid |= SP_BIT(V_gtpu_psc);
        payload += 4;
        meta_qfi = (sp_ld8(h_gtpu_psc + 2) & 0x3f); c->v.meta_qfi = meta_qfi;
        meta_user_offset = ((meta_user_offset + 8u) & 0xffff);
        state_42_parse_user:;
        if (end - payload < 1) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_13 = (sp_ld8(payload) >> 4);
        switch (UpfParser_tmp_13) {
            case 4u:
                goto state_43_parse_inner_ipv4;
            case 6u:
                goto state_46_parse_inner_ipv6;
            default:
                goto parsed;
        }
        state_46_parse_inner_ipv6:;
        if (end - payload < 40) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_inner_ipv6 = payload; c->h_inner_ipv6 = h_inner_ipv6;
        valid |= SP_BIT(V_inner_ipv6);
        payload += 40;
        switch (sp_ld8(h_inner_ipv6 + 6)) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_66_parse_inner_ports;
            case 0u:
            case 0x2bu:
            case 0x2cu:
            case 0x3cu:
            case 0x87u:
            case 0x8bu:
            case 0x8cu:
                goto state_47_parse_extensions_of_inner_ipv6;
            default:
                goto parsed;
        }
        state_47_parse_extensions_of_inner_ipv6:;
        meta_next_header = sp_ld8(h_inner_ipv6 + 6);
        state_48_extension_1:;
        switch (meta_next_header) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_65_parse_inner_ports_behind_extensions;
            case 0x2cu:
                goto state_49_fragment_1;
            case 0x2bu:
                goto state_50_routing_1;
            case 0u:
            case 0x3cu:
            case 0x87u:
            case 0x8bu:
            case 0x8cu:
                goto state_51_options_1;
            default:
                goto parsed;
        }
        state_50_routing_1:;
        if (end - payload < 3) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_15 = (uint32_t)sp_get_bits(payload, 0, 24);
        meta_source_routed = (((UpfParser_tmp_15 & 0xff) == 0u) ? 1u : meta_source_routed);
        state_51_options_1:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_16 = sp_ld16(payload);
        if (!((UpfParser_tmp_16 & 0xff) <= 7u)) {
            standard_metadata_parser_error = 9u;
            goto parsed;
        }
        const uint32_t x27 = ((UpfParser_tmp_16 & 0xff) << 6);
        if (x27 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x27 / 8 + 8 > (uint32_t)(end - payload) || x27 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x27 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_1 = payload; c->h_extension_1 = h_extension_1;
        n_extension_1 = (x27 / 8); c->n_extension_1 = n_extension_1;
        valid |= SP_BIT(V_extension_1);
        payload += 8 + (x27 / 8);
        meta_next_header = ((UpfParser_tmp_16 >> 8) & 0xff);
        meta_extension_bytes = ((meta_extension_bytes + 8u) + ((UpfParser_tmp_16 & 0xff) << 3));
        goto state_52_extension_2;
        state_49_fragment_1:;
        const uint32_t x28 = 0u;
        if (x28 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x28 / 8 + 8 > (uint32_t)(end - payload) || x28 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x28 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_1 = payload; c->h_extension_1 = h_extension_1;
        n_extension_1 = (x28 / 8); c->n_extension_1 = n_extension_1;
        valid |= SP_BIT(V_extension_1);
        payload += 8 + (x28 / 8);
        meta_next_header = sp_ld8(h_extension_1);
        meta_extension_bytes = (meta_extension_bytes + 8u);
        switch (sp_ld16(h_extension_1 + 2) >> 3) {
            case 0u:
                goto state_52_extension_2;
            default:
                goto parsed;
        }
        state_52_extension_2:;
        switch (meta_next_header) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_65_parse_inner_ports_behind_extensions;
            case 0x2cu:
                goto state_53_fragment_2;
            case 0x2bu:
                goto state_54_routing_2;
            case 0u:
            case 0x3cu:
            case 0x87u:
            case 0x8bu:
            case 0x8cu:
                goto state_55_options_2;
            default:
                goto parsed;
        }
        state_54_routing_2:;
        if (end - payload < 3) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_17 = (uint32_t)sp_get_bits(payload, 0, 24);
        meta_source_routed = (((UpfParser_tmp_17 & 0xff) == 0u) ? 1u : meta_source_routed);
        state_55_options_2:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_18 = sp_ld16(payload);
        if (!((UpfParser_tmp_18 & 0xff) <= 7u)) {
            standard_metadata_parser_error = 9u;
            goto parsed;
        }
        const uint32_t x29 = ((UpfParser_tmp_18 & 0xff) << 6);
        if (x29 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x29 / 8 + 8 > (uint32_t)(end - payload) || x29 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x29 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_2 = payload; c->h_extension_2 = h_extension_2;
        n_extension_2 = (x29 / 8); c->n_extension_2 = n_extension_2;
        valid |= SP_BIT(V_extension_2);
        payload += 8 + (x29 / 8);
        meta_next_header = ((UpfParser_tmp_18 >> 8) & 0xff);
        meta_extension_bytes = ((meta_extension_bytes + 8u) + ((UpfParser_tmp_18 & 0xff) << 3));
        goto state_56_extension_3;
        state_53_fragment_2:;
        const uint32_t x30 = 0u;
        if (x30 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x30 / 8 + 8 > (uint32_t)(end - payload) || x30 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x30 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_2 = payload; c->h_extension_2 = h_extension_2;
        n_extension_2 = (x30 / 8); c->n_extension_2 = n_extension_2;
        valid |= SP_BIT(V_extension_2);
        payload += 8 + (x30 / 8);
        meta_next_header = sp_ld8(h_extension_2);
        meta_extension_bytes = (meta_extension_bytes + 8u);
        switch (sp_ld16(h_extension_2 + 2) >> 3) {
            case 0u:
                goto state_56_extension_3;
            default:
                goto parsed;
        }
        state_56_extension_3:;
        switch (meta_next_header) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_65_parse_inner_ports_behind_extensions;
            case 0x2cu:
                goto state_57_fragment_3;
            case 0x2bu:
                goto state_58_routing_3;
            case 0u:
            case 0x3cu:
            case 0x87u:
            case 0x8bu:
            case 0x8cu:
                goto state_59_options_3;
            default:
                goto parsed;
        }
        state_58_routing_3:;
        if (end - payload < 3) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_19 = (uint32_t)sp_get_bits(payload, 0, 24);
        meta_source_routed = (((UpfParser_tmp_19 & 0xff) == 0u) ? 1u : meta_source_routed);
        state_59_options_3:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_20 = sp_ld16(payload);
        if (!((UpfParser_tmp_20 & 0xff) <= 7u)) {
            standard_metadata_parser_error = 9u;
            goto parsed;
        }
        const uint32_t x31 = ((UpfParser_tmp_20 & 0xff) << 6);
        if (x31 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x31 / 8 + 8 > (uint32_t)(end - payload) || x31 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x31 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_3 = payload; c->h_extension_3 = h_extension_3;
        n_extension_3 = (x31 / 8); c->n_extension_3 = n_extension_3;
        valid |= SP_BIT(V_extension_3);
        payload += 8 + (x31 / 8);
        meta_next_header = ((UpfParser_tmp_20 >> 8) & 0xff);
        meta_extension_bytes = ((meta_extension_bytes + 8u) + ((UpfParser_tmp_20 & 0xff) << 3));
        goto state_60_extension_4;
        state_57_fragment_3:;
        const uint32_t x32 = 0u;
        if (x32 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x32 / 8 + 8 > (uint32_t)(end - payload) || x32 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x32 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_3 = payload; c->h_extension_3 = h_extension_3;
        n_extension_3 = (x32 / 8); c->n_extension_3 = n_extension_3;
        valid |= SP_BIT(V_extension_3);
        payload += 8 + (x32 / 8);
        meta_next_header = sp_ld8(h_extension_3);
        meta_extension_bytes = (meta_extension_bytes + 8u);
        switch (sp_ld16(h_extension_3 + 2) >> 3) {
            case 0u:
                goto state_60_extension_4;
            default:
                goto parsed;
        }
        state_60_extension_4:;
        switch (meta_next_header) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_65_parse_inner_ports_behind_extensions;
            case 0x2cu:
                goto state_61_fragment_4;
            case 0x2bu:
                goto state_62_routing_4;
            case 0u:
            case 0x3cu:
            case 0x87u:
            case 0x8bu:
            case 0x8cu:
                goto state_63_options_4;
            default:
                goto parsed;
        }
        state_62_routing_4:;
        if (end - payload < 3) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_21 = (uint32_t)sp_get_bits(payload, 0, 24);
        meta_source_routed = (((UpfParser_tmp_21 & 0xff) == 0u) ? 1u : meta_source_routed);
        state_63_options_4:;
        if (end - payload < 2) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_22 = sp_ld16(payload);
        if (!((UpfParser_tmp_22 & 0xff) <= 7u)) {
            standard_metadata_parser_error = 9u;
            goto parsed;
        }
        const uint32_t x33 = ((UpfParser_tmp_22 & 0xff) << 6);
        if (x33 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x33 / 8 + 8 > (uint32_t)(end - payload) || x33 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x33 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_4 = payload; c->h_extension_4 = h_extension_4;
        n_extension_4 = (x33 / 8); c->n_extension_4 = n_extension_4;
        valid |= SP_BIT(V_extension_4);
        payload += 8 + (x33 / 8);
        meta_next_header = ((UpfParser_tmp_22 >> 8) & 0xff);
        meta_extension_bytes = ((meta_extension_bytes + 8u) + ((UpfParser_tmp_22 & 0xff) << 3));
        goto state_64_extension_5;
        state_61_fragment_4:;
        const uint32_t x34 = 0u;
        if (x34 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x34 / 8 + 8 > (uint32_t)(end - payload) || x34 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x34 / 8 > 56) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_extension_4 = payload; c->h_extension_4 = h_extension_4;
        n_extension_4 = (x34 / 8); c->n_extension_4 = n_extension_4;
        valid |= SP_BIT(V_extension_4);
        payload += 8 + (x34 / 8);
        meta_next_header = sp_ld8(h_extension_4);
        meta_extension_bytes = (meta_extension_bytes + 8u);
        switch (sp_ld16(h_extension_4 + 2) >> 3) {
            case 0u:
                goto state_64_extension_5;
            default:
                goto parsed;
        }
        state_64_extension_5:;
        if (!(((((((meta_next_header != 0u) && (meta_next_header != 0x2bu)) && (meta_next_header != 0x2cu)) && (meta_next_header != 0x3cu)) && (meta_next_header != 0x87u)) && (meta_next_header != 0x8bu)) && (meta_next_header != 0x8cu))) {
            standard_metadata_parser_error = 9u;
            goto parsed;
        }
        switch (meta_next_header) {
            case 0x11u:
            case 6u:
            case 0x84u:
                goto state_65_parse_inner_ports_behind_extensions;
            default:
                goto parsed;
        }
        state_65_parse_inner_ports_behind_extensions:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_inner_ports = payload; c->h_inner_ports = h_inner_ports;
        valid |= SP_BIT(V_inner_ports);
        payload += 4;
        goto parsed;
        state_43_parse_inner_ipv4:;
        if (end - payload < 20) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_inner_ipv4 = payload; c->h_inner_ipv4 = h_inner_ipv4;
        valid |= SP_BIT(V_inner_ipv4);
        payload += 20;
        if (!((sp_ld8(h_inner_ipv4) & 0xf) >= 5u)) {
            standard_metadata_parser_error = 8u;
            goto parsed;
        }
        switch (sp_ld8(h_inner_ipv4) & 0xf) {
            case 5u:
                goto state_45_parse_inner_ipv4_payload;
            default:
                goto state_44_parse_inner_ipv4_options;
        }
        state_44_parse_inner_ipv4_options:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        UpfParser_tmp_14 = sp_ld32(payload);
        meta_inner_options = UpfParser_tmp_14;
        const uint32_t x35 = ((((sp_ld8(h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (x35 % 8) {
            standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (x35 / 8 + 0 > (uint32_t)(end - payload) || x35 / 8 > SP_MAX_PACKET) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (x35 / 8 > 40) {
            standard_metadata_parser_error = 4u;
            goto parsed;
        }
        h_inner_ipv4_options = payload; c->h_inner_ipv4_options = h_inner_ipv4_options;
        n_inner_ipv4_options = (x35 / 8); c->n_inner_ipv4_options = n_inner_ipv4_options;
        valid |= SP_BIT(V_inner_ipv4_options);
        payload += 0 + (x35 / 8);
        state_45_parse_inner_ipv4_payload:;
        const uint32_t x36 = (sp_ld16(h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t x37 = sp_ld8(h_inner_ipv4 + 9);
        if ((x36 == 0u) && (x37 == 0x11u)) {
            goto state_66_parse_inner_ports;
        }
        if ((x36 == 0u) && (x37 == 6u)) {
            goto state_66_parse_inner_ports;
        }
        if ((x36 == 0u) && (x37 == 0x84u)) {
            goto state_66_parse_inner_ports;
        }
        goto parsed;
        state_66_parse_inner_ports:;
        if (end - payload < 4) {
            standard_metadata_parser_error = 1u;
            goto parsed;
        }
        h_inner_ports = payload; c->h_inner_ports = h_inner_ports;
        valid |= SP_BIT(V_inner_ports);
        payload += 4;
        parsed:;
        if (sp_bit(valid, V_underlay_ipv4) && ((sp_ld8(h_underlay_ipv4) & 0xf) == 5u)) {
            struct sp_sum sum38 = {0, 0, 0};
            sp_sum_bytes(&sum38, h_underlay_ipv4, 10);
            sp_sum_bytes(&sum38, h_underlay_ipv4 + 12, 8);
            if (((uint32_t)sp_csum16(&sum38) & 0xffff) != sp_ld16(h_underlay_ipv4 + 10)) {
                standard_metadata_checksum_error = 1u;
            }
        }
        if (sp_bit(valid, V_ipv4) && (!sp_bit(valid, V_ipv4_options))) {
            struct sp_sum sum39 = {0, 0, 0};
            sp_sum_bytes(&sum39, h_ipv4, 10);
            sp_sum_bytes(&sum39, h_ipv4 + 12, 8);
            if (((uint32_t)sp_csum16(&sum39) & 0xffff) != sp_ld16(h_ipv4 + 10)) {
                standard_metadata_checksum_error = 1u;
            }
        }
        if (sp_bit(valid, V_ipv4_options)) {
            struct sp_sum sum40 = {0, 0, 0};
            sp_sum_bytes(&sum40, h_ipv4, 10);
            sp_sum_bytes(&sum40, h_ipv4 + 12, 8);
            sp_sum_bytes(&sum40, h_ipv4_options, n_ipv4_options);
            if (((uint32_t)sp_csum16(&sum40) & 0xffff) != sp_ld16(h_ipv4 + 10)) {
                standard_metadata_checksum_error = 1u;
            }
        }
        if (sp_bit(valid, V_inner_ipv4) && (!sp_bit(valid, V_inner_ipv4_options))) {
            struct sp_sum sum41 = {0, 0, 0};
            sp_sum_bytes(&sum41, h_inner_ipv4, 10);
            sp_sum_bytes(&sum41, h_inner_ipv4 + 12, 8);
            if (((uint32_t)sp_csum16(&sum41) & 0xffff) != sp_ld16(h_inner_ipv4 + 10)) {
                standard_metadata_checksum_error = 1u;
            }
        }
        if (sp_bit(valid, V_inner_ipv4_options)) {
            struct sp_sum sum42 = {0, 0, 0};
            sp_sum_bytes(&sum42, h_inner_ipv4, 10);
            sp_sum_bytes(&sum42, h_inner_ipv4 + 12, 8);
            sp_sum_bytes(&sum42, h_inner_ipv4_options, n_inner_ipv4_options);
            if (((uint32_t)sp_csum16(&sum42) & 0xffff) != sp_ld16(h_inner_ipv4 + 10)) {
                standard_metadata_checksum_error = 1u;
            }
        }
        if (standard_metadata_parser_error != 0u) {
            if (standard_metadata_parser_error == 9u) {
                meta_reason = 0x26u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            meta_reason = 0x10u; c->v.meta_reason = meta_reason;
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_24 |= bit;
            goto done;
        }
        if (standard_metadata_checksum_error == 1u) {
            meta_reason = 0x11u; c->v.meta_reason = meta_reason;
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_24 |= bit;
            goto done;
        }
        UpfIngress_user_packet_reason = 0u;
        if (sp_bit(valid, V_ipv4_options)) {
            UpfIngress_user_packet_options_ihl = (sp_ld8(h_ipv4) & 0xf);
            UpfIngress_user_packet_options_reason = 0u;
            UpfIngress_user_packet_options_option = (meta_options & 0xff);
            UpfIngress_user_packet_options_seen = 4u;
            if (((meta_options >> 24) & 0xff) != 1u) {
                UpfIngress_user_packet_options_option = ((meta_options >> 24) & 0xff);
                UpfIngress_user_packet_options_seen = ((meta_options >> 16) & 0xff);
            } else {
                if (((meta_options >> 16) & 0xff) != 1u) {
                    UpfIngress_user_packet_options_option = ((meta_options >> 16) & 0xff);
                    UpfIngress_user_packet_options_seen = ((((meta_options >> 8) & 0xff) + 1u) & 0xff);
                } else {
                    if (((meta_options >> 8) & 0xff) != 1u) {
                        UpfIngress_user_packet_options_option = ((meta_options >> 8) & 0xff);
                        UpfIngress_user_packet_options_seen = (((meta_options & 0xff) + 2u) & 0xff);
                    }
                }
            }
            UpfIngress_user_packet_options_all = ((((UpfIngress_user_packet_options_ihl - 5u) & 0xff) << 2) & 0xff);
            if ((UpfIngress_user_packet_options_option == 0x83u) || (UpfIngress_user_packet_options_option == 0x89u)) {
                UpfIngress_user_packet_options_reason = 0x27u;
            } else {
                if ((UpfIngress_user_packet_options_option != 0u) && ((UpfIngress_user_packet_options_seen < 2u) || ((UpfIngress_user_packet_options_seen < UpfIngress_user_packet_options_all) && (((UpfIngress_user_packet_options_all - UpfIngress_user_packet_options_seen) & 0xff) > 6u)))) {
                    UpfIngress_user_packet_options_reason = 0x26u;
                }
            }
            UpfIngress_user_packet_reason = UpfIngress_user_packet_options_reason;
        }
        if (sp_bit(valid, V_inner_ipv4_options) && (UpfIngress_user_packet_reason == 0u)) {
            UpfIngress_user_packet_options_ihl = (sp_ld8(h_inner_ipv4) & 0xf);
            UpfIngress_user_packet_options_reason = UpfIngress_user_packet_reason;
            UpfIngress_user_packet_options_option_2 = (meta_inner_options & 0xff);
            UpfIngress_user_packet_options_seen_2 = 4u;
            if (((meta_inner_options >> 24) & 0xff) != 1u) {
                UpfIngress_user_packet_options_option_2 = ((meta_inner_options >> 24) & 0xff);
                UpfIngress_user_packet_options_seen_2 = ((meta_inner_options >> 16) & 0xff);
            } else {
                if (((meta_inner_options >> 16) & 0xff) != 1u) {
                    UpfIngress_user_packet_options_option_2 = ((meta_inner_options >> 16) & 0xff);
                    UpfIngress_user_packet_options_seen_2 = ((((meta_inner_options >> 8) & 0xff) + 1u) & 0xff);
                } else {
                    if (((meta_inner_options >> 8) & 0xff) != 1u) {
                        UpfIngress_user_packet_options_option_2 = ((meta_inner_options >> 8) & 0xff);
                        UpfIngress_user_packet_options_seen_2 = (((meta_inner_options & 0xff) + 2u) & 0xff);
                    }
                }
            }
            UpfIngress_user_packet_options_all_2 = ((((UpfIngress_user_packet_options_ihl - 5u) & 0xff) << 2) & 0xff);
            if ((UpfIngress_user_packet_options_option_2 == 0x83u) || (UpfIngress_user_packet_options_option_2 == 0x89u)) {
                UpfIngress_user_packet_options_reason = 0x27u;
            } else {
                if ((UpfIngress_user_packet_options_option_2 != 0u) && ((UpfIngress_user_packet_options_seen_2 < 2u) || ((UpfIngress_user_packet_options_seen_2 < UpfIngress_user_packet_options_all_2) && (((UpfIngress_user_packet_options_all_2 - UpfIngress_user_packet_options_seen_2) & 0xff) > 6u)))) {
                    UpfIngress_user_packet_options_reason = 0x26u;
                }
            }
            UpfIngress_user_packet_reason = UpfIngress_user_packet_options_reason;
        }
        if (meta_source_routed == 1u) {
            UpfIngress_user_packet_reason = 0x27u;
        }
        if (UpfIngress_user_packet_reason != 0u) {
            meta_reason = UpfIngress_user_packet_reason; c->v.meta_reason = meta_reason;
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_24 |= bit;
            goto done;
        }
        if (sp_bit(valid, V_inner_ipv4)) {
            meta_user_is_inner = 1u; c->v.meta_user_is_inner = meta_user_is_inner;
            meta_ip_version = 4u; c->v.meta_ip_version = meta_ip_version;
            meta_src_v4 = sp_ld32(h_inner_ipv4 + 12); c->v.meta_src_v4 = meta_src_v4;
            meta_dst_v4 = sp_ld32(h_inner_ipv4 + 16); c->v.meta_dst_v4 = meta_dst_v4;
            meta_protocol = sp_ld8(h_inner_ipv4 + 9); c->v.meta_protocol = meta_protocol;
            meta_tos = sp_ld8(h_inner_ipv4 + 1); c->v.meta_tos = meta_tos;
            meta_pdu_length = sp_ld16(h_inner_ipv4 + 2); c->v.meta_pdu_length = meta_pdu_length;
            meta_header_length = ((sp_ld8(h_inner_ipv4) & 0xf) << 2);
        } else {
            if (sp_bit(valid, V_inner_ipv6)) {
                meta_user_is_inner = 1u; c->v.meta_user_is_inner = meta_user_is_inner;
                meta_ip_version = 6u; c->v.meta_ip_version = meta_ip_version;
                meta_src_v6 = sp_ld128(h_inner_ipv6 + 8); c->v.meta_src_v6 = meta_src_v6;
                meta_dst_v6 = sp_ld128(h_inner_ipv6 + 24); c->v.meta_dst_v6 = meta_dst_v6;
                meta_protocol = sp_ld8(h_inner_ipv6 + 6); c->v.meta_protocol = meta_protocol;
                meta_tos = ((sp_ld16(h_inner_ipv6) >> 4) & 0xff); c->v.meta_tos = meta_tos;
                meta_pdu_length = (sp_ld16(h_inner_ipv6 + 4) + 0x28u); c->v.meta_pdu_length = meta_pdu_length;
                meta_header_length = 0x28u;
            } else {
                if (sp_bit(valid, V_gtpu)) {
                    meta_user_is_inner = 1u; c->v.meta_user_is_inner = meta_user_is_inner;
                } else {
                    if (sp_bit(valid, V_ipv4)) {
                        meta_ip_version = 4u; c->v.meta_ip_version = meta_ip_version;
                        meta_src_v4 = sp_ld32(h_ipv4 + 12); c->v.meta_src_v4 = meta_src_v4;
                        meta_dst_v4 = sp_ld32(h_ipv4 + 16); c->v.meta_dst_v4 = meta_dst_v4;
                        meta_protocol = sp_ld8(h_ipv4 + 9); c->v.meta_protocol = meta_protocol;
                        meta_tos = sp_ld8(h_ipv4 + 1); c->v.meta_tos = meta_tos;
                        meta_pdu_length = sp_ld16(h_ipv4 + 2); c->v.meta_pdu_length = meta_pdu_length;
                        meta_header_length = ((sp_ld8(h_ipv4) & 0xf) << 2);
                    } else {
                        if (sp_bit(valid, V_ipv6)) {
                            meta_ip_version = 6u; c->v.meta_ip_version = meta_ip_version;
                            meta_src_v6 = sp_ld128(h_ipv6 + 8); c->v.meta_src_v6 = meta_src_v6;
                            meta_dst_v6 = sp_ld128(h_ipv6 + 24); c->v.meta_dst_v6 = meta_dst_v6;
                            meta_protocol = sp_ld8(h_ipv6 + 6); c->v.meta_protocol = meta_protocol;
                            meta_tos = ((sp_ld16(h_ipv6) >> 4) & 0xff); c->v.meta_tos = meta_tos;
                            meta_pdu_length = (sp_ld16(h_ipv6 + 4) + 0x28u); c->v.meta_pdu_length = meta_pdu_length;
                            meta_header_length = 0x28u;
                        }
                    }
                }
            }
        }
        if (sp_bit(valid, V_extension_1)) {
            meta_protocol = meta_next_header; c->v.meta_protocol = meta_protocol;
            meta_header_length = (meta_header_length + meta_extension_bytes);
        }
        if (sp_bit(valid, V_inner_ports)) {
            meta_src_port = sp_ld16(h_inner_ports); c->v.meta_src_port = meta_src_port;
            meta_dst_port = sp_ld16(h_inner_ports + 2); c->v.meta_dst_port = meta_dst_port;
            meta_header_length = (meta_header_length + 4u);
        } else {
            if ((meta_user_is_inner == 0u) && sp_bit(valid, V_ports)) {
                meta_src_port = sp_ld16(h_ports); c->v.meta_src_port = meta_src_port;
                meta_dst_port = sp_ld16(h_ports + 2); c->v.meta_dst_port = meta_dst_port;
                meta_header_length = (meta_header_length + 4u);
            }
        }
        if (meta_ip_version != 0u) {
            UpfIngress_user_packet_end = (meta_pdu_length + meta_user_offset);
            if ((UpfIngress_user_packet_end > ((uint32_t)pk->length)) || (meta_pdu_length < meta_header_length)) {
                meta_reason = 0x12u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            if (sp_bit(valid, V_gtpu)) {
                UpfIngress_user_packet_tunnel = (sp_bit(valid, V_underlay_ethernet) ? 0x40u : 0xeu);
                UpfIngress_user_packet_udp = (UpfIngress_user_packet_tunnel + ((sp_ld8(h_ipv4) & 0xf) << 2));
                UpfIngress_user_packet_gtpu_end = ((UpfIngress_user_packet_udp + 0x10u) + sp_ld16(h_gtpu + 2));
                UpfIngress_user_packet_udp_end = (UpfIngress_user_packet_udp + sp_ld16(h_udp_rest));
                UpfIngress_user_packet_tunnel_end = (UpfIngress_user_packet_tunnel + sp_ld16(h_ipv4 + 2));
                if ((((UpfIngress_user_packet_end > UpfIngress_user_packet_gtpu_end) || (UpfIngress_user_packet_gtpu_end > UpfIngress_user_packet_udp_end)) || (UpfIngress_user_packet_udp_end > UpfIngress_user_packet_tunnel_end)) || (UpfIngress_user_packet_tunnel_end > ((uint32_t)pk->length))) {
                    meta_reason = 0x12u; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
            }
        }
        if (sp_bit(valid, V_underlay_ethernet) && (!sp_bit(valid, V_vxlan))) {
            if (sp_ld16(h_underlay_ethernet + 12) == 0x806u) {
                meta_reason = 1u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            meta_reason = 0x19u; c->v.meta_reason = meta_reason;
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_24 |= bit;
            goto done;
        }
        to_1 |= bit;
        done:;
        c->payload = payload;
        c->valid = valid;
    }
    run->todo[1] |= to_1;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_2 = 0;
    uint64_t to_3 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_station];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ethernet = c->h_ethernet;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, ((uint32_t)pk->port & 0x1ff));
            sp_st48(key + 2, (sp_ld64(h_ethernet) >> 16));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_station *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_underlay_ethernet = c->h_underlay_ethernet;
        uint8_t *h_ipv6 = c->h_ipv6;
        uint32_t meta_vrf = 0;
        uint32_t meta_loopback = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_station_route_vrf = 0;
        uint32_t UpfIngress_station_loopback_vrf = 0;
        uint32_t UpfIngress_station_group_vrf = 0;
        uint32_t UpfIngress_station_drop_reason = 0;
        uint32_t UpfIngress_station_tmp = 0;
        UpfIngress_station_tmp = r->action;
        switch (r->action) {
            case ACTION_route: {
                UpfIngress_station_route_vrf = r->route.vrf_0;
                meta_vrf = UpfIngress_station_route_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_loopback: {
                UpfIngress_station_loopback_vrf = r->loopback.vrf_0;
                meta_vrf = UpfIngress_station_loopback_vrf; c->v.meta_vrf = meta_vrf;
                meta_loopback = 1u; c->v.meta_loopback = meta_loopback;
                break;
            }
            case ACTION_group: {
                UpfIngress_station_group_vrf = r->group.vrf_0;
                meta_vrf = UpfIngress_station_group_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_UpfIngress_station_drop: {
                UpfIngress_station_drop_reason = r->UpfIngress_station_drop.reason_0;
                meta_reason = UpfIngress_station_drop_reason; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_station_tmp) {
            case 2u: {
                if (sp_bit(valid, V_ipv4) || (sp_bit(valid, V_ipv6) && (((uint32_t)(sp_ld128(h_ipv6 + 24) >> 120) & 0xff) != 0xffu))) {
                    meta_reason = 0x2au; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
                break;
            }
            default: {
                break;
            }
        }
        if (sp_bit(valid, V_vxlan)) {
            if (((uint32_t)((sp_ld64(h_underlay_ethernet) >> 16) >> 40) & 0x1) == 1u) {
                meta_reason = 0x2au; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            to_2 |= bit;
            goto done;
        } else {
            to_3 |= bit;
            goto done;
        }
        done:;
    }
    run->todo[2] |= to_2;
    run->todo[3] |= to_3;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_2_vxlan_termination(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_3 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_vxlan_termination];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_underlay_ipv4 = c->h_underlay_ipv4;
            uint8_t *h_vxlan = c->h_vxlan;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st32(key, sp_ld32(h_underlay_ipv4 + 16));
            sp_st24(key + 4, (sp_ld32(h_vxlan + 4) >> 8));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_vxlan_termination *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_vrf = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_station_route_vrf = 0;
        uint32_t UpfIngress_station_drop_reason = 0;
        switch (r->action) {
            case ACTION_route: {
                UpfIngress_station_route_vrf = r->route.vrf_0;
                meta_vrf = UpfIngress_station_route_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_UpfIngress_station_drop: {
                UpfIngress_station_drop_reason = r->UpfIngress_station_drop.reason_0;
                meta_reason = UpfIngress_station_drop_reason; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_3 |= bit;
        done:;
    }
    run->todo[3] |= to_3;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_3_join(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_4 = 0;
    uint64_t to_6 = 0;
    uint64_t to_8 = 0;
    uint64_t to_9 = 0;
    uint64_t to_24 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = c->valid;
        uint8_t *h_ethernet = c->h_ethernet;
        uint8_t *h_ipv4 = c->h_ipv4;
        uint8_t *h_gtpu = c->h_gtpu;
        uint32_t meta_ip_version = c->v.meta_ip_version;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_uplink = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_remote_v4 = 0;
        uint32_t UpfIngress_session_local_v4 = 0;
        sp_u128 UpfIngress_session_remote_v6 = 0;
        sp_u128 UpfIngress_session_local_v6 = 0;
        uint32_t UpfIngress_session_remote_port = 0;
        uint32_t UpfIngress_session_local_port = 0;
        uint32_t UpfIngress_session_flow_label = 0;
        uint32_t UpfIngress_session_src = 0;
        UpfIngress_session_remote_v4 = 0u; c->v.UpfIngress_session_remote_v4 = UpfIngress_session_remote_v4;
        UpfIngress_session_local_v4 = 0u; c->v.UpfIngress_session_local_v4 = UpfIngress_session_local_v4;
        UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull); c->v.UpfIngress_session_remote_v6 = UpfIngress_session_remote_v6;
        UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull); c->v.UpfIngress_session_local_v6 = UpfIngress_session_local_v6;
        UpfIngress_session_remote_port = 0u; c->v.UpfIngress_session_remote_port = UpfIngress_session_remote_port;
        UpfIngress_session_local_port = 0u; c->v.UpfIngress_session_local_port = UpfIngress_session_local_port;
        UpfIngress_session_flow_label = 0u; c->v.UpfIngress_session_flow_label = UpfIngress_session_flow_label;
        if (sp_bit(valid, V_gtpu)) {
            meta_uplink = 1u; c->v.meta_uplink = meta_uplink;
            UpfIngress_session_src = ((sp_ld32(h_ipv4 + 12) >> 24) & 0xff);
            if (((UpfIngress_session_src == 0u) || (UpfIngress_session_src >= 0xe0u)) || (((UpfIngress_session_src == 0x7fu) || (sp_ld32(h_ipv4 + 12) == sp_ld32(h_ipv4 + 16))) && (meta_loopback == 0u))) {
                meta_reason = 0x28u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            if (((sp_ld8(h_gtpu) >> 5) != 1u) || (((sp_ld8(h_gtpu) >> 4) & 0x1) != 1u)) {
                meta_reason = 0x16u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            if (sp_ld8(h_gtpu + 1) != 0xffu) {
                to_8 |= bit;
                goto done;
            } else {
                to_9 |= bit;
                goto done;
            }
        } else {
            if (meta_ip_version == 4u) {
                to_6 |= bit;
                goto done;
            } else {
                if (meta_ip_version == 6u) {
                    to_4 |= bit;
                    goto done;
                } else {
                    if (sp_ld16(h_ethernet + 12) == 0x806u) {
                        meta_reason = 1u; c->v.meta_reason = meta_reason;
                        standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                        to_24 |= bit;
                        goto done;
                    } else {
                        meta_reason = 0x14u; c->v.meta_reason = meta_reason;
                        standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                        standard_metadata_mcast_grp = 0u;
                        to_24 |= bit;
                        goto done;
                    }
                }
            }
        }
        done:;
    }
    run->todo[4] |= to_4;
    run->todo[6] |= to_6;
    run->todo[8] |= to_8;
    run->todo[9] |= to_9;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_4_pdr_by_ue_ipv6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_5 = 0;
    uint64_t to_11 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_ue_ipv6];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            sp_u128 meta_dst_v6 = c->v.meta_dst_v6;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 16;
            sp_st16(key, meta_vrf);
            sp_st64(key + 2, (uint64_t)(meta_dst_v6 >> 64));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 16, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_pdr_by_ue_ipv6 *const r = hit ? (const void *)run->records[n] : table->miss;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        sp_u128 meta_src_v6 = c->v.meta_src_v6;
        sp_u128 meta_dst_v6 = c->v.meta_dst_v6;
        uint32_t meta_classified = 0;
        uint32_t meta_group = 0;
        uint32_t meta_filter_set = 0;
        uint32_t meta_reason = 0;
        uint32_t meta_mark = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        uint32_t UpfIngress_session_classify_group = 0;
        uint32_t UpfIngress_session_classify_filter_set = 0;
        uint32_t UpfIngress_session_tmp_6 = 0;
        UpfIngress_session_tmp_6 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u; c->v.meta_classified = meta_classified;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set; c->v.meta_filter_set = meta_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_6) {
            if (((((((meta_src_v6 >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) && (((uint32_t)meta_src_v6) != 0u)) || (((meta_src_v6 >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(meta_src_v6 >> 120) & 0xff) == 0xffu)) || (meta_src_v6 == meta_dst_v6)) {
                meta_reason = 0x28u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            to_5 |= bit;
            goto done;
        } else {
            to_11 |= bit;
            goto done;
        }
        done:;
    }
    run->todo[5] |= to_5;
    run->todo[11] |= to_11;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_5_local_ipv6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv6];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ipv6 = c->h_ipv6;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 24;
            sp_st16(key, meta_vrf);
            sp_st128(key + 2, sp_ld128(h_ipv6 + 24));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 24, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_local_ipv6 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        meta_reason = 0x1au; c->v.meta_reason = meta_reason;
        standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
        standard_metadata_mcast_grp = 0u;
        to_24 |= bit;
        done:;
    }
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_6_pdr_by_ue_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_7 = 0;
    uint64_t to_11 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_ue_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_dst_v4 = c->v.meta_dst_v4;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_vrf);
            sp_st32(key + 2, meta_dst_v4);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_pdr_by_ue_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint8_t *h_ipv4 = c->h_ipv4;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_classified = 0;
        uint32_t meta_group = 0;
        uint32_t meta_filter_set = 0;
        uint32_t meta_reason = 0;
        uint32_t meta_mark = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        uint32_t UpfIngress_session_classify_group = 0;
        uint32_t UpfIngress_session_classify_filter_set = 0;
        uint32_t UpfIngress_session_tmp_4 = 0;
        uint32_t UpfIngress_session_src_2 = 0;
        UpfIngress_session_tmp_4 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u; c->v.meta_classified = meta_classified;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set; c->v.meta_filter_set = meta_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_4) {
            UpfIngress_session_src_2 = ((sp_ld32(h_ipv4 + 12) >> 24) & 0xff);
            if (((UpfIngress_session_src_2 == 0u) || (UpfIngress_session_src_2 >= 0xe0u)) || (((UpfIngress_session_src_2 == 0x7fu) || (sp_ld32(h_ipv4 + 12) == sp_ld32(h_ipv4 + 16))) && (meta_loopback == 0u))) {
                meta_reason = 0x28u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            to_7 |= bit;
            goto done;
        } else {
            to_11 |= bit;
            goto done;
        }
        done:;
    }
    run->todo[7] |= to_7;
    run->todo[11] |= to_11;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_7_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ipv4 = c->h_ipv4;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_vrf);
            sp_st32(key + 2, sp_ld32(h_ipv4 + 16));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_local_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint8_t *h_ipv4 = c->h_ipv4;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_tmp_5 = 0;
        UpfIngress_session_tmp_5 = r->action;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            case ACTION_gtpu_endpoint:
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_session_tmp_5) {
            case 7u: {
                if ((sp_ld8(h_ipv4 + 9) == 0x11u) && ((((sp_ld8(h_ipv4 + 6) >> 5) & 0x1) == 1u) || ((sp_ld16(h_ipv4 + 6) & 0x1fff) != 0u))) {
                    meta_reason = 0x15u; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
                meta_reason = 3u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            default: {
                meta_reason = 0x1au; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        done:;
    }
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_8_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ipv4 = c->h_ipv4;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_vrf);
            sp_st32(key + 2, sp_ld32(h_ipv4 + 16));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_local_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_tmp = 0;
        UpfIngress_session_tmp = r->action;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            case ACTION_gtpu_endpoint:
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_session_tmp) {
            case 7u: {
                meta_reason = 4u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            default: {
                meta_reason = 0x18u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        done:;
    }
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_9_pdr_by_teid(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_10 = 0;
    uint64_t to_11 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_teid];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ipv4 = c->h_ipv4;
            uint8_t *h_gtpu = c->h_gtpu;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st32(key, sp_ld32(h_ipv4 + 16));
            sp_st32(key + 4, sp_ld32(h_gtpu + 4));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_pdr_by_teid *const r = hit ? (const void *)run->records[n] : table->miss;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_classified = 0;
        uint32_t meta_group = 0;
        uint32_t meta_filter_set = 0;
        uint32_t meta_mark = 0;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        uint32_t UpfIngress_session_classify_group = 0;
        uint32_t UpfIngress_session_classify_filter_set = 0;
        uint32_t UpfIngress_session_tmp_2 = 0;
        UpfIngress_session_tmp_2 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u; c->v.meta_classified = meta_classified;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set; c->v.meta_filter_set = meta_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_2) {
            to_10 |= bit;
            goto done;
        } else {
            to_11 |= bit;
            goto done;
        }
        done:;
    }
    run->todo[10] |= to_10;
    run->todo[11] |= to_11;
}

static __attribute__((noinline)) void stage_10_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint8_t *h_ipv4 = c->h_ipv4;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_vrf);
            sp_st32(key + 2, sp_ld32(h_ipv4 + 16));
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_local_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_tmp_3 = 0;
        UpfIngress_session_tmp_3 = r->action;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            case ACTION_gtpu_endpoint:
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_session_tmp_3) {
            case 7u: {
                meta_reason = 5u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            default: {
                meta_reason = 0x18u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        done:;
    }
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_11_join(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_12 = 0;
    uint64_t to_13 = 0;
    uint64_t to_15 = 0;
    uint64_t to_24 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *h_ipv6 = c->h_ipv6;
        uint8_t *h_inner_ipv6 = c->h_inner_ipv6;
        uint32_t meta_user_is_inner = c->v.meta_user_is_inner;
        uint32_t meta_ip_version = c->v.meta_ip_version;
        uint32_t meta_src_v4 = c->v.meta_src_v4;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        sp_u128 meta_src_v6 = c->v.meta_src_v6;
        sp_u128 meta_dst_v6 = c->v.meta_dst_v6;
        uint32_t meta_src_port = c->v.meta_src_port;
        uint32_t meta_dst_port = c->v.meta_dst_port;
        uint32_t meta_uplink = c->v.meta_uplink;
        uint32_t meta_classified = c->v.meta_classified;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_remote_v4 = 0;
        uint32_t UpfIngress_session_local_v4 = 0;
        sp_u128 UpfIngress_session_remote_v6 = 0;
        sp_u128 UpfIngress_session_local_v6 = 0;
        uint32_t UpfIngress_session_remote_port = 0;
        uint32_t UpfIngress_session_local_port = 0;
        uint32_t UpfIngress_session_flow_label = 0;
        if (meta_ip_version == 0u) {
            meta_reason = 0x14u; c->v.meta_reason = meta_reason;
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_24 |= bit;
            goto done;
        }
        if (meta_classified == 1u) {
            if (meta_uplink == 1u) {
                UpfIngress_session_remote_v4 = meta_dst_v4; c->v.UpfIngress_session_remote_v4 = UpfIngress_session_remote_v4;
                UpfIngress_session_local_v4 = meta_src_v4; c->v.UpfIngress_session_local_v4 = UpfIngress_session_local_v4;
                UpfIngress_session_remote_v6 = meta_dst_v6; c->v.UpfIngress_session_remote_v6 = UpfIngress_session_remote_v6;
                UpfIngress_session_local_v6 = meta_src_v6; c->v.UpfIngress_session_local_v6 = UpfIngress_session_local_v6;
                UpfIngress_session_remote_port = meta_dst_port; c->v.UpfIngress_session_remote_port = UpfIngress_session_remote_port;
                UpfIngress_session_local_port = meta_src_port; c->v.UpfIngress_session_local_port = UpfIngress_session_local_port;
            } else {
                UpfIngress_session_remote_v4 = meta_src_v4; c->v.UpfIngress_session_remote_v4 = UpfIngress_session_remote_v4;
                UpfIngress_session_local_v4 = meta_dst_v4; c->v.UpfIngress_session_local_v4 = UpfIngress_session_local_v4;
                UpfIngress_session_remote_v6 = meta_src_v6; c->v.UpfIngress_session_remote_v6 = UpfIngress_session_remote_v6;
                UpfIngress_session_local_v6 = meta_dst_v6; c->v.UpfIngress_session_local_v6 = UpfIngress_session_local_v6;
                UpfIngress_session_remote_port = meta_src_port; c->v.UpfIngress_session_remote_port = UpfIngress_session_remote_port;
                UpfIngress_session_local_port = meta_dst_port; c->v.UpfIngress_session_local_port = UpfIngress_session_local_port;
            }
            if (meta_ip_version == 4u) {
                to_13 |= bit;
                goto done;
            } else {
                UpfIngress_session_flow_label = ((meta_user_is_inner == 1u) ? ((sp_ld32(h_inner_ipv6 + 1) >> 8) & 0xfffff) : ((sp_ld32(h_ipv6 + 1) >> 8) & 0xfffff)); c->v.UpfIngress_session_flow_label = UpfIngress_session_flow_label;
                to_12 |= bit;
                goto done;
            }
        } else {
            to_15 |= bit;
            goto done;
        }
        done:;
    }
    run->todo[12] |= to_12;
    run->todo[13] |= to_13;
    run->todo[15] |= to_15;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_12_sdf_ipv6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_14 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_sdf_ipv6];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_protocol = c->v.meta_protocol;
            uint32_t meta_tos = c->v.meta_tos;
            uint32_t meta_qfi = c->v.meta_qfi;
            uint32_t meta_filter_set = c->v.meta_filter_set;
            sp_u128 UpfIngress_session_remote_v6 = c->v.UpfIngress_session_remote_v6;
            sp_u128 UpfIngress_session_local_v6 = c->v.UpfIngress_session_local_v6;
            uint32_t UpfIngress_session_remote_port = c->v.UpfIngress_session_remote_port;
            uint32_t UpfIngress_session_local_port = c->v.UpfIngress_session_local_port;
            uint32_t UpfIngress_session_flow_label = c->v.UpfIngress_session_flow_label;
            uint8_t *const key = run->keys + n++ * 48;
            sp_st16(key, meta_filter_set);
            sp_st128(key + 2, UpfIngress_session_remote_v6);
            sp_st128(key + 18, UpfIngress_session_local_v6);
            sp_st8(key + 34, meta_protocol);
            sp_st16(key + 35, UpfIngress_session_remote_port);
            sp_st16(key + 37, UpfIngress_session_local_port);
            sp_st8(key + 39, meta_tos);
            sp_st24(key + 40, UpfIngress_session_flow_label);
            sp_st8(key + 43, meta_qfi);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 48, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_sdf_ipv6 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_class = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_set_filter_class = 0;
        switch (r->action) {
            case ACTION_set_filter: {
                UpfIngress_session_set_filter_class = r->set_filter.class_0;
                meta_class = UpfIngress_session_set_filter_class; c->v.meta_class = meta_class;
                break;
            }
            case ACTION_no_filter: {
                meta_reason = 0x1bu; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_14 |= bit;
        done:;
    }
    run->todo[14] |= to_14;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_13_sdf_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_14 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_sdf_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_protocol = c->v.meta_protocol;
            uint32_t meta_tos = c->v.meta_tos;
            uint32_t meta_qfi = c->v.meta_qfi;
            uint32_t meta_filter_set = c->v.meta_filter_set;
            uint32_t UpfIngress_session_remote_v4 = c->v.UpfIngress_session_remote_v4;
            uint32_t UpfIngress_session_local_v4 = c->v.UpfIngress_session_local_v4;
            uint32_t UpfIngress_session_remote_port = c->v.UpfIngress_session_remote_port;
            uint32_t UpfIngress_session_local_port = c->v.UpfIngress_session_local_port;
            uint8_t *const key = run->keys + n++ * 24;
            sp_st16(key, meta_filter_set);
            sp_st32(key + 2, UpfIngress_session_remote_v4);
            sp_st32(key + 6, UpfIngress_session_local_v4);
            sp_st8(key + 10, meta_protocol);
            sp_st16(key + 11, UpfIngress_session_remote_port);
            sp_st16(key + 13, UpfIngress_session_local_port);
            sp_st8(key + 15, meta_tos);
            sp_st8(key + 16, meta_qfi);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 24, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_sdf_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_class = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_set_filter_class = 0;
        switch (r->action) {
            case ACTION_set_filter: {
                UpfIngress_session_set_filter_class = r->set_filter.class_0;
                meta_class = UpfIngress_session_set_filter_class; c->v.meta_class = meta_class;
                break;
            }
            case ACTION_no_filter: {
                meta_reason = 0x1bu; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_14 |= bit;
        done:;
    }
    run->todo[14] |= to_14;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_14_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_15 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_class];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_group = c->v.meta_group;
            uint32_t meta_class = c->v.meta_class;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st32(key, meta_group);
            sp_st8(key + 4, meta_class);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_pdr_by_class *const r = hit ? (const void *)run->records[n] : table->miss;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_reason = 0;
        uint32_t meta_mark = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_no_pdr: {
                meta_reason = 0x1bu; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_15 |= bit;
        done:;
    }
    run->todo[15] |= to_15;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_15_join(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_16 = 0;
    uint64_t to_17 = 0;
    uint64_t to_18 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint32_t meta_ip_version = c->v.meta_ip_version;
        if (meta_ip_version == 4u) {
            to_17 |= bit;
            goto done;
        } else {
            if (meta_ip_version == 6u) {
                to_16 |= bit;
                goto done;
            } else {
                to_18 |= bit;
                goto done;
            }
        }
        done:;
    }
    run->todo[16] |= to_16;
    run->todo[17] |= to_17;
    run->todo[18] |= to_18;
}

static __attribute__((noinline)) void stage_16_firewall_v6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_18 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_firewall_v6];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            sp_u128 meta_src_v6 = c->v.meta_src_v6;
            sp_u128 meta_dst_v6 = c->v.meta_dst_v6;
            uint32_t meta_protocol = c->v.meta_protocol;
            uint32_t meta_src_port = c->v.meta_src_port;
            uint32_t meta_dst_port = c->v.meta_dst_port;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 40;
            sp_st16(key, meta_vrf);
            sp_st128(key + 2, meta_src_v6);
            sp_st128(key + 18, meta_dst_v6);
            sp_st8(key + 34, meta_protocol);
            sp_st16(key + 35, meta_src_port);
            sp_st16(key + 37, meta_dst_port);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 40, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_firewall_v6 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        switch (r->action) {
            case ACTION_deny: {
                meta_reason = 0x21u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        to_18 |= bit;
        done:;
    }
    run->todo[18] |= to_18;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_17_firewall_v4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_18 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_firewall_v4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_src_v4 = c->v.meta_src_v4;
            uint32_t meta_dst_v4 = c->v.meta_dst_v4;
            uint32_t meta_protocol = c->v.meta_protocol;
            uint32_t meta_src_port = c->v.meta_src_port;
            uint32_t meta_dst_port = c->v.meta_dst_port;
            uint32_t meta_vrf = c->v.meta_vrf;
            uint8_t *const key = run->keys + n++ * 16;
            sp_st16(key, meta_vrf);
            sp_st32(key + 2, meta_src_v4);
            sp_st32(key + 6, meta_dst_v4);
            sp_st8(key + 10, meta_protocol);
            sp_st16(key + 11, meta_src_port);
            sp_st16(key + 13, meta_dst_port);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 16, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_firewall_v4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        switch (r->action) {
            case ACTION_deny: {
                meta_reason = 0x21u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        to_18 |= bit;
        done:;
    }
    run->todo[18] |= to_18;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_18_join(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_19 = 0;
    uint64_t to_24 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = c->valid;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_ip_version = c->v.meta_ip_version;
        uint32_t meta_src_v4 = c->v.meta_src_v4;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        sp_u128 meta_src_v6 = c->v.meta_src_v6;
        sp_u128 meta_dst_v6 = c->v.meta_dst_v6;
        uint32_t meta_unknown_extension = c->v.meta_unknown_extension;
        uint32_t meta_endpoint_extension = c->v.meta_endpoint_extension;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_enforce_src = 0;
        uint32_t UpfIngress_enforce_dst = 0;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu; c->v.meta_reason = meta_reason;
                        standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                        standard_metadata_mcast_grp = 0u;
                        to_24 |= bit;
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu; c->v.meta_reason = meta_reason;
            standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
            standard_metadata_mcast_grp = 0u;
            to_24 |= bit;
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (meta_ip_version == 4u) {
                if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (meta_src_v4 != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                    meta_reason = 0x1fu; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
            } else {
                if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(meta_src_v6 >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                    meta_reason = 0x1fu; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (meta_ip_version == 4u) {
                UpfIngress_enforce_src = ((meta_src_v4 >> 24) & 0xff);
                UpfIngress_enforce_dst = ((meta_dst_v4 >> 24) & 0xff);
                if (((((UpfIngress_enforce_src == 0u) || (UpfIngress_enforce_src >= 0xe0u)) || (UpfIngress_enforce_dst == 0u)) || (UpfIngress_enforce_dst >= 0xf0u)) || (((UpfIngress_enforce_src == 0x7fu) || (UpfIngress_enforce_dst == 0x7fu)) && (meta_loopback == 0u))) {
                    meta_reason = 0x28u; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                } else {
                    if (UpfIngress_enforce_dst >= 0xe0u) {
                        meta_reason = 0x29u; c->v.meta_reason = meta_reason;
                        standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                        standard_metadata_mcast_grp = 0u;
                        to_24 |= bit;
                        goto done;
                    }
                }
            } else {
                if (((((((((meta_src_v6 >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((meta_src_v6 >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(meta_src_v6 >> 120) & 0xff) == 0xffu)) || (((uint32_t)(meta_src_v6 >> 118) & 0x3ff) == 0x3fau)) || (((meta_dst_v6 >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((meta_dst_v6 >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(meta_dst_v6 >> 118) & 0x3ff) == 0x3fau)) {
                    meta_reason = 0x28u; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                } else {
                    if (((uint32_t)(meta_dst_v6 >> 120) & 0xff) == 0xffu) {
                        meta_reason = 0x29u; c->v.meta_reason = meta_reason;
                        standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                        standard_metadata_mcast_grp = 0u;
                        to_24 |= bit;
                        goto done;
                    }
                }
            }
        }
        if (sp_bit(valid, V_gtpu_numbers)) {
            if ((meta_unknown_extension == 1u) || ((meta_endpoint_extension == 1u) && ((rule_set_pdr->set_pdr.encapsulation_9) == 0u))) {
                meta_reason = 4u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
        }
        to_19 |= bit;
        done:;
    }
    run->todo[19] |= to_19;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_19_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_20 = 0;
    uint64_t to_21 = 0;
    uint64_t to_22 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_traffic_class];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_ip_version = c->v.meta_ip_version;
            uint32_t meta_src_v4 = c->v.meta_src_v4;
            uint32_t meta_dst_v4 = c->v.meta_dst_v4;
            uint32_t meta_protocol = c->v.meta_protocol;
            uint32_t meta_tos = c->v.meta_tos;
            uint32_t meta_src_port = c->v.meta_src_port;
            uint32_t meta_dst_port = c->v.meta_dst_port;
            uint8_t *const key = run->keys + n++ * 16;
            sp_st8(key, meta_ip_version);
            sp_st8(key + 1, meta_tos);
            sp_st32(key + 2, meta_src_v4);
            sp_st32(key + 6, meta_dst_v4);
            sp_st8(key + 10, meta_protocol);
            sp_st16(key + 11, meta_src_port);
            sp_st16(key + 13, meta_dst_port);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 16, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_traffic_class *const r = hit ? (const void *)run->records[n] : table->miss;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_ip_version = c->v.meta_ip_version;
        uint32_t meta_dst_v4 = 0;
        uint32_t meta_pdu_length = c->v.meta_pdu_length;
        uint32_t meta_class_meter = 0;
        uint32_t meta_out_length = 0;
        uint32_t standard_metadata_priority = 0;
        uint32_t UpfIngress_traffic_class_set_class_queue = 0;
        uint32_t UpfIngress_traffic_class_set_class_meter_cell = 0;
        switch (r->action) {
            case ACTION_set_class: {
                UpfIngress_traffic_class_set_class_queue = r->set_class.queue_0;
                UpfIngress_traffic_class_set_class_meter_cell = r->set_class.meter_cell_1;
                standard_metadata_priority = UpfIngress_traffic_class_set_class_queue;
                meta_class_meter = UpfIngress_traffic_class_set_class_meter_cell; c->v.meta_class_meter = meta_class_meter;
                break;
            }
            case ACTION_best_effort:
                break;
            default:
                __builtin_unreachable();
        }
        meta_out_length = meta_pdu_length; c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (meta_pdu_length + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((meta_pdu_length + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            to_22 |= bit;
            goto done;
        } else {
            if (meta_ip_version == 4u) {
                to_21 |= bit;
                goto done;
            } else {
                to_20 |= bit;
                goto done;
            }
        }
        done:;
    }
    run->todo[20] |= to_20;
    run->todo[21] |= to_21;
    run->todo[22] |= to_22;
}

static __attribute__((noinline)) void stage_20_route_ipv6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_23 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv6];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
            sp_u128 meta_dst_v6 = c->v.meta_dst_v6;
            uint8_t *const key = run->keys + n++ * 24;
            sp_st16(key, rule_set_pdr->set_pdr.out_vrf_15);
            sp_st128(key + 2, meta_dst_v6);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 24, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_route_ipv6 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_nexthop = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0;
        uint32_t UpfIngress_route_drop_reason = 0;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop; c->v.meta_nexthop = meta_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_23 |= bit;
        done:;
    }
    run->todo[23] |= to_23;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_21_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_23 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
            uint32_t meta_dst_v4 = c->v.meta_dst_v4;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, rule_set_pdr->set_pdr.out_vrf_15);
            sp_st32(key + 2, meta_dst_v4);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_route_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint32_t meta_nexthop = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0;
        uint32_t UpfIngress_route_drop_reason = 0;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop; c->v.meta_nexthop = meta_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        to_23 |= bit;
        done:;
    }
    run->todo[23] |= to_23;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_22_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_23 = 0;
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv4];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
            uint32_t meta_dst_v4 = c->v.meta_dst_v4;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, rule_set_pdr->set_pdr.out_vrf_15);
            sp_st32(key + 2, meta_dst_v4);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_route_ipv4 *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_gtpu = c->h_gtpu;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = c->v.meta_pdu_length;
        uint32_t meta_relayed_bytes = c->v.meta_relayed_bytes;
        uint32_t meta_container_bytes = c->v.meta_container_bytes;
        uint32_t meta_new_container = 0;
        uint32_t meta_nexthop = 0;
        uint32_t meta_out_length = 0;
        uint32_t meta_reason = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0;
        uint32_t UpfIngress_route_drop_reason = 0;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop; c->v.meta_nexthop = meta_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (sp_bit(valid, V_gtpu_psc) || sp_bit(valid, V_gtpu_numbers)) {
            if (sp_bit(valid, V_gtpu_psc)) {
                meta_relayed_bytes = 4u; c->v.meta_relayed_bytes = meta_relayed_bytes;
                meta_container_bytes = 4u; c->v.meta_container_bytes = meta_container_bytes;
            }
            if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
                meta_relayed_bytes = ((meta_relayed_bytes - meta_container_bytes) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
                meta_container_bytes = 0u; c->v.meta_container_bytes = meta_container_bytes;
            }
            if (((rule_set_pdr->set_pdr.encapsulation_9) != 1u) && (meta_container_bytes == 0u)) {
                meta_new_container = 1u; c->v.meta_new_container = meta_new_container;
                meta_relayed_bytes = ((meta_relayed_bytes + 4u) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
            }
            meta_out_length = ((meta_pdu_length + 0x24u) + meta_relayed_bytes); c->v.meta_out_length = meta_out_length;
            if (((meta_relayed_bytes != 0u) || (((sp_ld8(h_gtpu) >> 1) & 0x1) == 1u)) || ((sp_ld8(h_gtpu) & 0x1) == 1u)) {
                meta_out_length = (meta_out_length + 4u); c->v.meta_out_length = meta_out_length;
            }
        }
        to_23 |= bit;
        done:;
    }
    run->todo[23] |= to_23;
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_23_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    uint32_t n = 0;
    if (table->lookup) {
        for (uint64_t left = todo; left; left &= left - 1) {
            const uint32_t i = __builtin_ctzll(left);
            const uint64_t bit = left & -left;
            struct sp_context *const c = &run->contexts[i];
            struct sp_packet *const pk = &run->packets[i];
            uint32_t meta_nexthop = c->v.meta_nexthop;
            uint8_t *const key = run->keys + n++ * 8;
            sp_st16(key, meta_nexthop);
        }
    }
    const uint64_t hits = sp_lookup(run, table, 8, n, __builtin_popcountll(todo));
    n = 0;
    for (uint64_t left = todo; left; left &= left - 1, n++) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        const uint32_t hit = hits >> n & 1;
        const struct record_nexthop *const r = hit ? (const void *)run->records[n] : table->miss;
        uint64_t valid = c->valid;
        uint8_t *h_underlay_ethernet = c->h_underlay_ethernet;
        uint8_t *h_underlay_ipv4 = c->h_underlay_ipv4;
        uint8_t *h_underlay_udp = c->h_underlay_udp;
        uint8_t *h_vxlan = c->h_vxlan;
        uint8_t *h_ethernet = c->h_ethernet;
        uint8_t *h_ipv4 = c->h_ipv4;
        uint8_t *h_ipv4_options = c->h_ipv4_options;
        uint8_t *h_ipv6 = c->h_ipv6;
        uint8_t *h_ports = c->h_ports;
        uint8_t *h_udp_rest = c->h_udp_rest;
        uint8_t *h_gtpu = c->h_gtpu;
        uint8_t *h_gtpu_optional = c->h_gtpu_optional;
        uint8_t *h_gtpu_psc = c->h_gtpu_psc;
        uint8_t *h_gtpu_numbers = c->h_gtpu_numbers;
        uint8_t *h_gtpu_extension_1 = c->h_gtpu_extension_1;
        uint8_t *h_gtpu_extension_2 = c->h_gtpu_extension_2;
        uint8_t *h_gtpu_extension_3 = c->h_gtpu_extension_3;
        uint8_t *h_gtpu_extension_4 = c->h_gtpu_extension_4;
        uint8_t *h_gtpu_end = c->h_gtpu_end;
        uint8_t *h_inner_ipv4 = c->h_inner_ipv4;
        uint8_t *h_inner_ipv6 = c->h_inner_ipv6;
        uint32_t n_ipv4_options = c->n_ipv4_options;
        uint32_t n_gtpu_extension_1 = c->n_gtpu_extension_1;
        uint32_t n_gtpu_extension_2 = c->n_gtpu_extension_2;
        uint32_t n_gtpu_extension_3 = c->n_gtpu_extension_3;
        uint32_t n_gtpu_extension_4 = c->n_gtpu_extension_4;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_ip_version = c->v.meta_ip_version;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_src_port = c->v.meta_src_port;
        uint32_t meta_pdu_length = c->v.meta_pdu_length;
        uint32_t meta_relayed_bytes = c->v.meta_relayed_bytes;
        uint32_t meta_new_container = c->v.meta_new_container;
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0;
        uint32_t meta_reason = 0;
        uint32_t meta_mark = 0;
        uint32_t standard_metadata_egress_spec = 0;
        uint32_t standard_metadata_mcast_grp = 0;
        uint32_t UpfIngress_route_drop_reason = 0;
        uint32_t UpfIngress_route_send_port = 0;
        uint64_t UpfIngress_route_send_src_mac = 0;
        uint64_t UpfIngress_route_send_dst_mac = 0;
        uint32_t UpfIngress_route_send_mtu = 0;
        uint32_t UpfIngress_route_send_vxlan_port = 0;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0;
        uint32_t UpfIngress_route_send_vxlan_vni = 0;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0;
        uint32_t UpfIngress_route_send_vxlan_frame = 0;
        uint32_t UpfIngress_route_unresolved_nexthop = 0;
        uint32_t UpfIngress_route_ttl = 0;
        uint32_t UpfIngress_route_tell_fits = 0;
        uint32_t UpfIngress_police_colour = 0;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl = 0;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum = 0;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum = 0;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl_2 = 0;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum_2 = 0;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum_2 = 0;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0;
        uint32_t UpfIngress_tunnel_relay_pdu_type = 0;
        uint32_t UpfIngress_tunnel_relay_qfi = 0;
        uint32_t UpfIngress_tunnel_relay_kept = 0;
        uint32_t UpfIngress_tunnel_relay_empty = 0;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                h_underlay_ethernet = sp_nothing; c->h_underlay_ethernet = h_underlay_ethernet;
                valid &= ~SP_BIT(V_underlay_ethernet);
                h_underlay_ipv4 = sp_nothing; c->h_underlay_ipv4 = h_underlay_ipv4;
                valid &= ~SP_BIT(V_underlay_ipv4);
                h_underlay_udp = sp_nothing; c->h_underlay_udp = h_underlay_udp;
                valid &= ~SP_BIT(V_underlay_udp);
                h_vxlan = sp_nothing; c->h_vxlan = h_vxlan;
                valid &= ~SP_BIT(V_vxlan);
                standard_metadata_egress_spec = UpfIngress_route_send_port; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                if (sp_bit(valid, V_ethernet)) sp_st48(h_ethernet + 6, UpfIngress_route_send_src_mac);
                if (sp_bit(valid, V_ethernet)) sp_st48(h_ethernet, UpfIngress_route_send_dst_mac);
                break;
            }
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                h_underlay_ethernet = sp_nothing; c->h_underlay_ethernet = h_underlay_ethernet;
                valid &= ~SP_BIT(V_underlay_ethernet);
                h_underlay_ipv4 = sp_nothing; c->h_underlay_ipv4 = h_underlay_ipv4;
                valid &= ~SP_BIT(V_underlay_ipv4);
                h_underlay_udp = sp_nothing; c->h_underlay_udp = h_underlay_udp;
                valid &= ~SP_BIT(V_underlay_udp);
                h_vxlan = sp_nothing; c->h_vxlan = h_vxlan;
                valid &= ~SP_BIT(V_vxlan);
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                if (sp_bit(valid, V_ethernet)) sp_st48(h_ethernet + 6, UpfIngress_route_send_vxlan_src_mac);
                if (sp_bit(valid, V_ethernet)) sp_st48(h_ethernet, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                sp_zero(c->s + S_underlay_ethernet, 14);
                h_underlay_ethernet = c->s + S_underlay_ethernet; c->h_underlay_ethernet = h_underlay_ethernet;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x43 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                sp_st48(h_underlay_ethernet, x43);
                const uint64_t x44 = UpfIngress_route_send_vxlan_underlay_src_mac;
                sp_st48(h_underlay_ethernet + 6, x44);
                sp_st16(h_underlay_ethernet + 12, 0x800u);
                sp_zero(c->s + S_underlay_ipv4, 20);
                h_underlay_ipv4 = c->s + S_underlay_ipv4; c->h_underlay_ipv4 = h_underlay_ipv4;
                valid |= SP_BIT(V_underlay_ipv4);
                sp_st8(h_underlay_ipv4, (sp_ld8(h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(h_underlay_ipv4, (sp_ld8(h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(h_underlay_ipv4 + 1, 0u);
                sp_st16(h_underlay_ipv4 + 4, 0u);
                sp_st8(h_underlay_ipv4 + 6, (sp_ld8(h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(h_underlay_ipv4 + 6, (sp_ld8(h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(h_underlay_ipv4 + 6, (sp_ld16(h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st16(h_underlay_ipv4 + 10, 0u);
                const uint32_t x45 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                sp_st16(h_underlay_ipv4 + 2, x45);
                sp_st8(h_underlay_ipv4 + 6, (sp_ld8(h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(h_underlay_ipv4 + 8, 0x40u);
                sp_st8(h_underlay_ipv4 + 9, 0x11u);
                sp_st32(h_underlay_ipv4 + 12, UpfIngress_route_send_vxlan_vtep_src);
                sp_st32(h_underlay_ipv4 + 16, UpfIngress_route_send_vxlan_vtep_dst);
                sp_zero(c->s + S_underlay_udp, 8);
                h_underlay_udp = c->s + S_underlay_udp; c->h_underlay_udp = h_underlay_udp;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x46 = (((meta_dst_v4 & 0xffff) ^ meta_src_port) | 0xc000u);
                sp_st16(h_underlay_udp, x46);
                sp_st16(h_underlay_udp + 2, 0x12b5u);
                const uint32_t x47 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                sp_st16(h_underlay_udp + 4, x47);
                sp_st16(h_underlay_udp + 6, 0u);
                sp_zero(c->s + S_vxlan, 8);
                h_vxlan = c->s + S_vxlan; c->h_vxlan = h_vxlan;
                valid |= SP_BIT(V_vxlan);
                sp_st8(h_vxlan, 8u);
                sp_st24(h_vxlan + 4, UpfIngress_route_send_vxlan_vni);
                sp_st24(h_vxlan + 1, 0u);
                sp_st8(h_vxlan + 7, 0u);
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (sp_bit(valid, V_inner_ipv4)) {
                UpfIngress_route_ttl = sp_ld8(h_inner_ipv4 + 8);
            } else {
                if (sp_bit(valid, V_inner_ipv6)) {
                    UpfIngress_route_ttl = sp_ld8(h_inner_ipv6 + 7);
                } else {
                    if (sp_bit(valid, V_ipv4)) {
                        UpfIngress_route_ttl = sp_ld8(h_ipv4 + 8);
                    } else {
                        UpfIngress_route_ttl = sp_ld8(h_ipv6 + 7);
                    }
                }
            }
            if (UpfIngress_route_ttl <= 1u) {
                h_underlay_ethernet = sp_nothing; c->h_underlay_ethernet = h_underlay_ethernet;
                valid &= ~SP_BIT(V_underlay_ethernet);
                h_underlay_ipv4 = sp_nothing; c->h_underlay_ipv4 = h_underlay_ipv4;
                valid &= ~SP_BIT(V_underlay_ipv4);
                h_underlay_udp = sp_nothing; c->h_underlay_udp = h_underlay_udp;
                valid &= ~SP_BIT(V_underlay_udp);
                h_vxlan = sp_nothing; c->h_vxlan = h_vxlan;
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - meta_pdu_length) & 0xffff)) & 0xffff);
                h_underlay_ethernet = sp_nothing; c->h_underlay_ethernet = h_underlay_ethernet;
                valid &= ~SP_BIT(V_underlay_ethernet);
                h_underlay_ipv4 = sp_nothing; c->h_underlay_ipv4 = h_underlay_ipv4;
                valid &= ~SP_BIT(V_underlay_ipv4);
                h_underlay_udp = sp_nothing; c->h_underlay_udp = h_underlay_udp;
                valid &= ~SP_BIT(V_underlay_udp);
                h_vxlan = sp_nothing; c->h_vxlan = h_vxlan;
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 0x1feu; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)meta_pdu_length) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
                meta_reason = 0x20u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)meta_pdu_length) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
                meta_reason = 0x20u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)meta_pdu_length) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu; c->v.meta_reason = meta_reason;
                    standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                    standard_metadata_mcast_grp = 0u;
                    to_24 |= bit;
                    goto done;
                }
                meta_reason = 0x20u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)meta_pdu_length) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u; c->v.meta_reason = meta_reason;
                standard_metadata_egress_spec = 511u; c->v.standard_metadata_egress_spec = standard_metadata_egress_spec;
                standard_metadata_mcast_grp = 0u;
                to_24 |= bit;
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (sp_bit(valid, V_inner_ipv4)) {
                UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(h_inner_ipv4 + 8);
                UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(h_inner_ipv4 + 10);
                UpfIngress_tunnel_decrement_ipv4_ttl = ((UpfIngress_tunnel_decrement_ipv4_ttl - 1u) & 0xff);
                UpfIngress_tunnel_decrement_ipv4_sum = ((UpfIngress_tunnel_decrement_ipv4_checksum + 0x100u) & 0x1ffff);
                UpfIngress_tunnel_decrement_ipv4_checksum = ((UpfIngress_tunnel_decrement_ipv4_sum >= 0xffffu) ? (((UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : (UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(h_inner_ipv4 + 8, UpfIngress_tunnel_decrement_ipv4_ttl);
                const uint32_t x48 = UpfIngress_tunnel_decrement_ipv4_checksum;
                sp_st16(h_inner_ipv4 + 10, x48);
            } else {
                if (sp_bit(valid, V_inner_ipv6)) {
                    sp_st8(h_inner_ipv6 + 7, ((sp_ld8(h_inner_ipv6 + 7) - 1u) & 0xff));
                } else {
                    if (sp_bit(valid, V_ipv4)) {
                        UpfIngress_tunnel_decrement_ipv4_ttl_2 = sp_ld8(h_ipv4 + 8);
                        UpfIngress_tunnel_decrement_ipv4_checksum_2 = sp_ld16(h_ipv4 + 10);
                        UpfIngress_tunnel_decrement_ipv4_ttl_2 = ((UpfIngress_tunnel_decrement_ipv4_ttl_2 - 1u) & 0xff);
                        UpfIngress_tunnel_decrement_ipv4_sum_2 = ((UpfIngress_tunnel_decrement_ipv4_checksum_2 + 0x100u) & 0x1ffff);
                        UpfIngress_tunnel_decrement_ipv4_checksum_2 = ((UpfIngress_tunnel_decrement_ipv4_sum_2 >= 0xffffu) ? (((UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff) + 1u) & 0xffff) : (UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff));
                        sp_st8(h_ipv4 + 8, UpfIngress_tunnel_decrement_ipv4_ttl_2);
                        const uint32_t x49 = UpfIngress_tunnel_decrement_ipv4_checksum_2;
                        sp_st16(h_ipv4 + 10, x49);
                    } else {
                        if (sp_bit(valid, V_ipv6)) sp_st8(h_ipv6 + 7, ((sp_ld8(h_ipv6 + 7) - 1u) & 0xff));
                    }
                }
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            const uint32_t x50 = ((meta_ip_version == 4u) ? 0x800u : 0x86ddu);
            if (sp_bit(valid, V_ethernet)) sp_st16(h_ethernet + 12, x50);
            if (sp_bit(valid, V_gtpu)) {
                h_ipv4 = sp_nothing; c->h_ipv4 = h_ipv4;
                valid &= ~SP_BIT(V_ipv4);
                h_ipv4_options = sp_nothing; c->h_ipv4_options = h_ipv4_options;
                n_ipv4_options = 0; c->n_ipv4_options = n_ipv4_options;
                valid &= ~SP_BIT(V_ipv4_options);
                h_ports = sp_nothing; c->h_ports = h_ports;
                valid &= ~SP_BIT(V_ports);
                h_udp_rest = sp_nothing; c->h_udp_rest = h_udp_rest;
                valid &= ~SP_BIT(V_udp_rest);
                h_gtpu = sp_nothing; c->h_gtpu = h_gtpu;
                valid &= ~SP_BIT(V_gtpu);
                h_gtpu_optional = sp_nothing; c->h_gtpu_optional = h_gtpu_optional;
                valid &= ~SP_BIT(V_gtpu_optional);
                h_gtpu_psc = sp_nothing; c->h_gtpu_psc = h_gtpu_psc;
                valid &= ~SP_BIT(V_gtpu_psc);
                h_gtpu_numbers = sp_nothing; c->h_gtpu_numbers = h_gtpu_numbers;
                valid &= ~SP_BIT(V_gtpu_numbers);
                h_gtpu_extension_1 = sp_nothing; c->h_gtpu_extension_1 = h_gtpu_extension_1;
                n_gtpu_extension_1 = 0; c->n_gtpu_extension_1 = n_gtpu_extension_1;
                valid &= ~SP_BIT(V_gtpu_extension_1);
                h_gtpu_extension_2 = sp_nothing; c->h_gtpu_extension_2 = h_gtpu_extension_2;
                n_gtpu_extension_2 = 0; c->n_gtpu_extension_2 = n_gtpu_extension_2;
                valid &= ~SP_BIT(V_gtpu_extension_2);
                h_gtpu_extension_3 = sp_nothing; c->h_gtpu_extension_3 = h_gtpu_extension_3;
                n_gtpu_extension_3 = 0; c->n_gtpu_extension_3 = n_gtpu_extension_3;
                valid &= ~SP_BIT(V_gtpu_extension_3);
                h_gtpu_extension_4 = sp_nothing; c->h_gtpu_extension_4 = h_gtpu_extension_4;
                n_gtpu_extension_4 = 0; c->n_gtpu_extension_4 = n_gtpu_extension_4;
                valid &= ~SP_BIT(V_gtpu_extension_4);
                h_gtpu_end = sp_nothing; c->h_gtpu_end = h_gtpu_end;
                valid &= ~SP_BIT(V_gtpu_end);
            }
        } else {
            if (sp_bit(valid, V_ethernet)) sp_st16(h_ethernet + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            if (!sp_bit(valid, V_tunnel_ipv4)) {
                sp_zero(c->s + S_tunnel_ipv4, 20);
                valid |= SP_BIT(V_tunnel_ipv4);
            }
            sp_st8(c->s + S_tunnel_ipv4, (sp_ld8(c->s + S_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
            sp_st8(c->s + S_tunnel_ipv4, (sp_ld8(c->s + S_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
            sp_st8(c->s + S_tunnel_ipv4 + 1, rule_set_pdr->set_pdr.tunnel_tos_14);
            sp_st16(c->s + S_tunnel_ipv4 + 2, (meta_out_length & 0xffff));
            sp_st16(c->s + S_tunnel_ipv4 + 4, 0u);
            sp_st8(c->s + S_tunnel_ipv4 + 6, (sp_ld8(c->s + S_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
            sp_st8(c->s + S_tunnel_ipv4 + 6, (sp_ld8(c->s + S_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
            sp_st8(c->s + S_tunnel_ipv4 + 6, (sp_ld8(c->s + S_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
            sp_st16(c->s + S_tunnel_ipv4 + 6, (sp_ld16(c->s + S_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
            sp_st8(c->s + S_tunnel_ipv4 + 8, 0x40u);
            sp_st8(c->s + S_tunnel_ipv4 + 9, 0x11u);
            sp_st16(c->s + S_tunnel_ipv4 + 10, 0u);
            sp_st32(c->s + S_tunnel_ipv4 + 12, rule_set_pdr->set_pdr.tunnel_src_12);
            sp_st32(c->s + S_tunnel_ipv4 + 16, rule_set_pdr->set_pdr.tunnel_dst_11);
            if (!sp_bit(valid, V_tunnel_udp)) {
                sp_zero(c->s + S_tunnel_udp, 8);
                valid |= SP_BIT(V_tunnel_udp);
            }
            sp_st16(c->s + S_tunnel_udp, 0x868u);
            sp_st16(c->s + S_tunnel_udp + 2, 0x868u);
            const uint32_t x51 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            sp_st16(c->s + S_tunnel_udp + 4, x51);
            sp_st16(c->s + S_tunnel_udp + 6, 0u);
            if (!sp_bit(valid, V_tunnel_gtpu)) {
                sp_zero(c->s + S_tunnel_gtpu, 8);
                valid |= SP_BIT(V_tunnel_gtpu);
            }
            sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
            sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
            sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
            sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
            sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
            sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
            sp_st8(c->s + S_tunnel_gtpu + 1, 0xffu);
            const uint32_t x52 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            sp_st16(c->s + S_tunnel_gtpu + 2, x52);
            sp_st32(c->s + S_tunnel_gtpu + 4, rule_set_pdr->set_pdr.tunnel_teid_10);
            if (sp_bit(valid, V_gtpu_psc) || sp_bit(valid, V_gtpu_numbers)) {
                UpfIngress_tunnel_relay_pdu_type = 0u;
                UpfIngress_tunnel_relay_qfi = 0u;
                UpfIngress_tunnel_relay_kept = 0xffu;
                if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                    UpfIngress_tunnel_relay_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 0x10u : 0u);
                    if (((rule_set_pdr->set_pdr.flags_2) & 0x40u) == 0u) {
                        UpfIngress_tunnel_relay_qfi = rule_set_pdr->set_pdr.psc_qos_13;
                        UpfIngress_tunnel_relay_kept = 0xc0u;
                    }
                }
                sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfbu) | ((uint32_t)(((meta_relayed_bytes == 0u) ? 0u : 1u)) << 2));
                sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfdu) | ((uint32_t)(((sp_ld8(h_gtpu) >> 1) & 0x1)) << 1));
                sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfeu) | (uint32_t)((sp_ld8(h_gtpu) & 0x1)));
                UpfIngress_tunnel_relay_empty = (((meta_relayed_bytes == 0u) && (((sp_ld8(h_gtpu) >> 1) & 0x1) == 0u)) && ((sp_ld8(h_gtpu) & 0x1) == 0u));
                if (sp_bit(valid, V_gtpu_psc)) {
                    if (meta_new_container == 1u) {
                        const uint32_t x53 = ((UpfIngress_tunnel_relay_pdu_type >> 4) & 0xf);
                        sp_st8(h_gtpu_psc + 1, (sp_ld8(h_gtpu_psc + 1) & 0xfu) | ((uint32_t)(x53) << 4));
                        sp_st8(h_gtpu_psc + 1, (sp_ld8(h_gtpu_psc + 1) & 0xf0u) | (uint32_t)(0u));
                        sp_st8(h_gtpu_psc + 2, rule_set_pdr->set_pdr.psc_qos_13);
                    } else {
                        if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) == 0u) {
                            const uint32_t x54 = ((sp_ld8(h_gtpu_psc + 2) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                            sp_st8(h_gtpu_psc + 2, x54);
                        } else {
                            h_gtpu_psc = sp_nothing; c->h_gtpu_psc = h_gtpu_psc;
                            valid &= ~SP_BIT(V_gtpu_psc);
                            if (sp_bit(valid, V_gtpu_optional)) sp_st8(h_gtpu_optional + 3, 0u);
                            if (UpfIngress_tunnel_relay_empty) {
                                h_gtpu_optional = sp_nothing; c->h_gtpu_optional = h_gtpu_optional;
                                valid &= ~SP_BIT(V_gtpu_optional);
                            }
                        }
                    }
                } else {
                    if (sp_bit(valid, V_gtpu_extension_1)) {
                        if (((sp_ld8(h_gtpu_extension_1) >> 6) & 0x3) == 1u) {
                            h_gtpu_extension_1 = sp_nothing; c->h_gtpu_extension_1 = h_gtpu_extension_1;
                            n_gtpu_extension_1 = 0; c->n_gtpu_extension_1 = n_gtpu_extension_1;
                            valid &= ~SP_BIT(V_gtpu_extension_1);
                        } else {
                            if (sp_ld8(h_gtpu_extension_1) == 0x85u) {
                                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
                                    h_gtpu_extension_1 = sp_nothing; c->h_gtpu_extension_1 = h_gtpu_extension_1;
                                    n_gtpu_extension_1 = 0; c->n_gtpu_extension_1 = n_gtpu_extension_1;
                                    valid &= ~SP_BIT(V_gtpu_extension_1);
                                } else {
                                    const uint32_t x55 = ((sp_ld8(h_gtpu_extension_1 + 3) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                                    sp_st8(h_gtpu_extension_1 + 3, x55);
                                }
                            }
                        }
                    }
                    if (sp_bit(valid, V_gtpu_extension_2)) {
                        if (((sp_ld8(h_gtpu_extension_2) >> 6) & 0x3) == 1u) {
                            h_gtpu_extension_2 = sp_nothing; c->h_gtpu_extension_2 = h_gtpu_extension_2;
                            n_gtpu_extension_2 = 0; c->n_gtpu_extension_2 = n_gtpu_extension_2;
                            valid &= ~SP_BIT(V_gtpu_extension_2);
                        } else {
                            if (sp_ld8(h_gtpu_extension_2) == 0x85u) {
                                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
                                    h_gtpu_extension_2 = sp_nothing; c->h_gtpu_extension_2 = h_gtpu_extension_2;
                                    n_gtpu_extension_2 = 0; c->n_gtpu_extension_2 = n_gtpu_extension_2;
                                    valid &= ~SP_BIT(V_gtpu_extension_2);
                                } else {
                                    const uint32_t x56 = ((sp_ld8(h_gtpu_extension_2 + 3) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                                    sp_st8(h_gtpu_extension_2 + 3, x56);
                                }
                            }
                        }
                    }
                    if (sp_bit(valid, V_gtpu_extension_3)) {
                        if (((sp_ld8(h_gtpu_extension_3) >> 6) & 0x3) == 1u) {
                            h_gtpu_extension_3 = sp_nothing; c->h_gtpu_extension_3 = h_gtpu_extension_3;
                            n_gtpu_extension_3 = 0; c->n_gtpu_extension_3 = n_gtpu_extension_3;
                            valid &= ~SP_BIT(V_gtpu_extension_3);
                        } else {
                            if (sp_ld8(h_gtpu_extension_3) == 0x85u) {
                                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
                                    h_gtpu_extension_3 = sp_nothing; c->h_gtpu_extension_3 = h_gtpu_extension_3;
                                    n_gtpu_extension_3 = 0; c->n_gtpu_extension_3 = n_gtpu_extension_3;
                                    valid &= ~SP_BIT(V_gtpu_extension_3);
                                } else {
                                    const uint32_t x57 = ((sp_ld8(h_gtpu_extension_3 + 3) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                                    sp_st8(h_gtpu_extension_3 + 3, x57);
                                }
                            }
                        }
                    }
                    if (sp_bit(valid, V_gtpu_extension_4)) {
                        if (((sp_ld8(h_gtpu_extension_4) >> 6) & 0x3) == 1u) {
                            h_gtpu_extension_4 = sp_nothing; c->h_gtpu_extension_4 = h_gtpu_extension_4;
                            n_gtpu_extension_4 = 0; c->n_gtpu_extension_4 = n_gtpu_extension_4;
                            valid &= ~SP_BIT(V_gtpu_extension_4);
                        } else {
                            if (sp_ld8(h_gtpu_extension_4) == 0x85u) {
                                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
                                    h_gtpu_extension_4 = sp_nothing; c->h_gtpu_extension_4 = h_gtpu_extension_4;
                                    n_gtpu_extension_4 = 0; c->n_gtpu_extension_4 = n_gtpu_extension_4;
                                    valid &= ~SP_BIT(V_gtpu_extension_4);
                                } else {
                                    const uint32_t x58 = ((sp_ld8(h_gtpu_extension_4 + 3) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                                    sp_st8(h_gtpu_extension_4 + 3, x58);
                                }
                            }
                        }
                    }
                    if (sp_bit(valid, V_gtpu_end)) sp_st8(h_gtpu_end, 0u);
                    if (meta_new_container == 1u) {
                        if (!sp_bit(valid, V_gtpu_container)) {
                            sp_zero(c->s + S_gtpu_container, 4);
                            valid |= SP_BIT(V_gtpu_container);
                        }
                        sp_st8(c->s + S_gtpu_container, 0x85u);
                        sp_st8(c->s + S_gtpu_container + 1, 1u);
                        sp_st8(c->s + S_gtpu_container + 2, UpfIngress_tunnel_relay_pdu_type);
                        sp_st8(c->s + S_gtpu_container + 3, rule_set_pdr->set_pdr.psc_qos_13);
                    } else {
                        if (UpfIngress_tunnel_relay_empty) {
                            h_gtpu_numbers = sp_nothing; c->h_gtpu_numbers = h_gtpu_numbers;
                            valid &= ~SP_BIT(V_gtpu_numbers);
                            h_gtpu_end = sp_nothing; c->h_gtpu_end = h_gtpu_end;
                            valid &= ~SP_BIT(V_gtpu_end);
                        }
                    }
                }
            } else {
                if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                    UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                    sp_st8(c->s + S_tunnel_gtpu, (sp_ld8(c->s + S_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2));
                    if (!sp_bit(valid, V_tunnel_optional)) {
                        sp_zero(c->s + S_tunnel_optional, 4);
                        valid |= SP_BIT(V_tunnel_optional);
                    }
                    sp_st16(c->s + S_tunnel_optional, 0u);
                    sp_st8(c->s + S_tunnel_optional + 2, 0u);
                    sp_st8(c->s + S_tunnel_optional + 3, 0x85u);
                    if (!sp_bit(valid, V_tunnel_psc)) {
                        sp_zero(c->s + S_tunnel_psc, 4);
                        valid |= SP_BIT(V_tunnel_psc);
                    }
                    sp_st8(c->s + S_tunnel_psc, 1u);
                    const uint32_t x59 = UpfIngress_tunnel_add_session_container_pdu_type;
                    sp_st8(c->s + S_tunnel_psc + 1, (sp_ld8(c->s + S_tunnel_psc + 1) & 0xfu) | ((uint32_t)(x59) << 4));
                    sp_st8(c->s + S_tunnel_psc + 1, (sp_ld8(c->s + S_tunnel_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->s + S_tunnel_psc + 2, rule_set_pdr->set_pdr.psc_qos_13);
                    sp_st8(c->s + S_tunnel_psc + 3, 0u);
                }
            }
            if (sp_bit(valid, V_gtpu)) {
                h_ipv4 = sp_nothing; c->h_ipv4 = h_ipv4;
                valid &= ~SP_BIT(V_ipv4);
                h_ipv4_options = sp_nothing; c->h_ipv4_options = h_ipv4_options;
                n_ipv4_options = 0; c->n_ipv4_options = n_ipv4_options;
                valid &= ~SP_BIT(V_ipv4_options);
                h_ports = sp_nothing; c->h_ports = h_ports;
                valid &= ~SP_BIT(V_ports);
                h_udp_rest = sp_nothing; c->h_udp_rest = h_udp_rest;
                valid &= ~SP_BIT(V_udp_rest);
                h_gtpu = sp_nothing; c->h_gtpu = h_gtpu;
                valid &= ~SP_BIT(V_gtpu);
            }
        }
        c->keep = (meta_out_length + (sp_bit(valid, V_underlay_ethernet) ? 0x40u : 0xeu));
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        to_24 |= bit;
        done:;
        c->valid = valid;
    }
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void stage_24_end_of_ingress(struct sp_run *const run, const uint64_t todo)
{
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint64_t valid = c->valid;
        uint8_t *h_underlay_ethernet = c->h_underlay_ethernet;
        uint8_t *h_underlay_ipv4 = c->h_underlay_ipv4;
        uint8_t *h_underlay_udp = c->h_underlay_udp;
        uint8_t *h_vxlan = c->h_vxlan;
        uint8_t *h_ethernet = c->h_ethernet;
        uint8_t *h_ipv4 = c->h_ipv4;
        uint8_t *h_ipv4_options = c->h_ipv4_options;
        uint8_t *h_ipv6 = c->h_ipv6;
        uint8_t *h_ports = c->h_ports;
        uint8_t *h_udp_rest = c->h_udp_rest;
        uint8_t *h_gtpu = c->h_gtpu;
        uint8_t *h_gtpu_optional = c->h_gtpu_optional;
        uint8_t *h_gtpu_psc = c->h_gtpu_psc;
        uint8_t *h_gtpu_numbers = c->h_gtpu_numbers;
        uint8_t *h_gtpu_extension_1 = c->h_gtpu_extension_1;
        uint8_t *h_gtpu_extension_2 = c->h_gtpu_extension_2;
        uint8_t *h_gtpu_extension_3 = c->h_gtpu_extension_3;
        uint8_t *h_gtpu_extension_4 = c->h_gtpu_extension_4;
        uint8_t *h_gtpu_end = c->h_gtpu_end;
        uint8_t *h_inner_ipv4 = c->h_inner_ipv4;
        uint8_t *h_inner_ipv4_options = c->h_inner_ipv4_options;
        uint8_t *h_inner_ipv6 = c->h_inner_ipv6;
        uint8_t *h_extension_1 = c->h_extension_1;
        uint8_t *h_extension_2 = c->h_extension_2;
        uint8_t *h_extension_3 = c->h_extension_3;
        uint8_t *h_extension_4 = c->h_extension_4;
        uint8_t *h_inner_ports = c->h_inner_ports;
        uint32_t n_ipv4_options = c->n_ipv4_options;
        uint32_t n_gtpu_extension_1 = c->n_gtpu_extension_1;
        uint32_t n_gtpu_extension_2 = c->n_gtpu_extension_2;
        uint32_t n_gtpu_extension_3 = c->n_gtpu_extension_3;
        uint32_t n_gtpu_extension_4 = c->n_gtpu_extension_4;
        uint32_t n_inner_ipv4_options = c->n_inner_ipv4_options;
        uint32_t n_extension_1 = c->n_extension_1;
        uint32_t n_extension_2 = c->n_extension_2;
        uint32_t n_extension_3 = c->n_extension_3;
        uint32_t n_extension_4 = c->n_extension_4;
        uint32_t meta_reason = c->v.meta_reason;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = c->v.standard_metadata_egress_spec;
        uint32_t standard_metadata_egress_port = 0;
        uint8_t *const payload = c->payload;
        const uint8_t *const end = pk->buffer + pk->start + pk->length;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, meta_reason, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, meta_reason, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum60 = {0, 0, 0};
            sp_sum_bytes(&sum60, c->s + S_tunnel_ipv4, 10);
            sp_sum_bytes(&sum60, c->s + S_tunnel_ipv4 + 12, 8);
            sp_st16(c->s + S_tunnel_ipv4 + 10, ((uint32_t)sp_csum16(&sum60) & 0xffff));
        }
        if (sp_bit(valid, V_underlay_ipv4)) {
            struct sp_sum sum61 = {0, 0, 0};
            sp_sum_bytes(&sum61, h_underlay_ipv4, 10);
            sp_sum_bytes(&sum61, h_underlay_ipv4 + 12, 8);
            sp_st16(h_underlay_ipv4 + 10, ((uint32_t)sp_csum16(&sum61) & 0xffff));
        }
        /* deparser */
        uint8_t *first = payload;
        uint32_t moved = 0;
        if (sp_bit(valid, V_inner_ports)) {
            first -= 4;
            moved |= sp_move(h_inner_ports, first);
        }
        if (valid & (SP_BIT(V_extension_1) | SP_BIT(V_extension_2) | SP_BIT(V_extension_3) | SP_BIT(V_extension_4))) {
            if (sp_bit(valid, V_extension_4)) {
                first -= (8 + n_extension_4);
                moved |= sp_move(h_extension_4, first);
            }
            if (sp_bit(valid, V_extension_3)) {
                first -= (8 + n_extension_3);
                moved |= sp_move(h_extension_3, first);
            }
            if (sp_bit(valid, V_extension_2)) {
                first -= (8 + n_extension_2);
                moved |= sp_move(h_extension_2, first);
            }
            if (sp_bit(valid, V_extension_1)) {
                first -= (8 + n_extension_1);
                moved |= sp_move(h_extension_1, first);
            }
        }
        if (valid & (SP_BIT(V_gtpu_end) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ipv4_options) | SP_BIT(V_inner_ipv6))) {
            if (sp_bit(valid, V_inner_ipv6)) {
                first -= 40;
                moved |= sp_move(h_inner_ipv6, first);
            }
            if (sp_bit(valid, V_inner_ipv4_options)) {
                first -= (0 + n_inner_ipv4_options);
                moved |= sp_move(h_inner_ipv4_options, first);
            }
            if (sp_bit(valid, V_inner_ipv4)) {
                first -= 20;
                moved |= sp_move(h_inner_ipv4, first);
            }
            if (sp_bit(valid, V_gtpu_end)) {
                first -= 1;
                moved |= sp_move(h_gtpu_end, first);
            }
        }
        if (valid & (SP_BIT(V_gtpu_extension_1) | SP_BIT(V_gtpu_extension_2) | SP_BIT(V_gtpu_extension_3) | SP_BIT(V_gtpu_extension_4))) {
            if (sp_bit(valid, V_gtpu_extension_4)) {
                first -= (4 + n_gtpu_extension_4);
                moved |= sp_move(h_gtpu_extension_4, first);
            }
            if (sp_bit(valid, V_gtpu_extension_3)) {
                first -= (4 + n_gtpu_extension_3);
                moved |= sp_move(h_gtpu_extension_3, first);
            }
            if (sp_bit(valid, V_gtpu_extension_2)) {
                first -= (4 + n_gtpu_extension_2);
                moved |= sp_move(h_gtpu_extension_2, first);
            }
            if (sp_bit(valid, V_gtpu_extension_1)) {
                first -= (4 + n_gtpu_extension_1);
                moved |= sp_move(h_gtpu_extension_1, first);
            }
        }
        if (sp_bit(valid, V_gtpu_container)) {
            first -= 4;
        }
        if (sp_bit(valid, V_gtpu_numbers)) {
            first -= 3;
            moved |= sp_move(h_gtpu_numbers, first);
        }
        if (valid & (SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc))) {
            if (sp_bit(valid, V_gtpu_psc)) {
                first -= 4;
                moved |= sp_move(h_gtpu_psc, first);
            }
            if (sp_bit(valid, V_gtpu_optional)) {
                first -= 4;
                moved |= sp_move(h_gtpu_optional, first);
            }
            if (sp_bit(valid, V_gtpu)) {
                first -= 8;
                moved |= sp_move(h_gtpu, first);
            }
            if (sp_bit(valid, V_udp_rest)) {
                first -= 4;
                moved |= sp_move(h_udp_rest, first);
            }
        }
        if (valid & (SP_BIT(V_ipv4) | SP_BIT(V_ipv4_options) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
            if (sp_bit(valid, V_ports)) {
                first -= 4;
                moved |= sp_move(h_ports, first);
            }
            if (sp_bit(valid, V_ipv6)) {
                first -= 40;
                moved |= sp_move(h_ipv6, first);
            }
            if (sp_bit(valid, V_ipv4_options)) {
                first -= (0 + n_ipv4_options);
                moved |= sp_move(h_ipv4_options, first);
            }
            if (sp_bit(valid, V_ipv4)) {
                first -= 20;
                moved |= sp_move(h_ipv4, first);
            }
        }
        if ((valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) == (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
            first -= 44;
        } else if (valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
            if (sp_bit(valid, V_tunnel_psc)) {
                first -= 4;
            }
            if (sp_bit(valid, V_tunnel_optional)) {
                first -= 4;
            }
            if (sp_bit(valid, V_tunnel_gtpu)) {
                first -= 8;
            }
            if (sp_bit(valid, V_tunnel_udp)) {
                first -= 8;
            }
            if (sp_bit(valid, V_tunnel_ipv4)) {
                first -= 20;
            }
        }
        if (sp_bit(valid, V_ethernet)) {
            first -= 14;
            moved |= sp_move(h_ethernet, first);
        }
        if (valid & (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan))) {
            if (sp_bit(valid, V_vxlan)) {
                first -= 8;
                if (h_vxlan != c->s + S_vxlan) moved |= sp_move(h_vxlan, first);
            }
            if (sp_bit(valid, V_underlay_udp)) {
                first -= 8;
                if (h_underlay_udp != c->s + S_underlay_udp) moved |= sp_move(h_underlay_udp, first);
            }
            if (sp_bit(valid, V_underlay_ipv4)) {
                first -= 20;
                if (h_underlay_ipv4 != c->s + S_underlay_ipv4) moved |= sp_move(h_underlay_ipv4, first);
            }
            if (sp_bit(valid, V_underlay_ethernet)) {
                first -= 14;
                if (h_underlay_ethernet != c->s + S_underlay_ethernet) moved |= sp_move(h_underlay_ethernet, first);
            }
        }
        if (first < pk->buffer || end - first > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        if (!(moved & SP_TO_FRONT)) {
            uint8_t *at = payload;
            if (sp_bit(valid, V_inner_ports)) {
                at -= 4;
                if (at != h_inner_ports) sp_move_4(at, h_inner_ports);
            }
            if (valid & (SP_BIT(V_extension_1) | SP_BIT(V_extension_2) | SP_BIT(V_extension_3) | SP_BIT(V_extension_4))) {
                if (sp_bit(valid, V_extension_4)) {
                    at -= (8 + n_extension_4);
                    if (at != h_extension_4) __builtin_memmove(at, h_extension_4, (8 + n_extension_4));
                }
                if (sp_bit(valid, V_extension_3)) {
                    at -= (8 + n_extension_3);
                    if (at != h_extension_3) __builtin_memmove(at, h_extension_3, (8 + n_extension_3));
                }
                if (sp_bit(valid, V_extension_2)) {
                    at -= (8 + n_extension_2);
                    if (at != h_extension_2) __builtin_memmove(at, h_extension_2, (8 + n_extension_2));
                }
                if (sp_bit(valid, V_extension_1)) {
                    at -= (8 + n_extension_1);
                    if (at != h_extension_1) __builtin_memmove(at, h_extension_1, (8 + n_extension_1));
                }
            }
            if (valid & (SP_BIT(V_gtpu_end) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ipv4_options) | SP_BIT(V_inner_ipv6))) {
                if (sp_bit(valid, V_inner_ipv6)) {
                    at -= 40;
                    if (at != h_inner_ipv6) sp_move_40(at, h_inner_ipv6);
                }
                if (sp_bit(valid, V_inner_ipv4_options)) {
                    at -= (0 + n_inner_ipv4_options);
                    if (at != h_inner_ipv4_options) __builtin_memmove(at, h_inner_ipv4_options, (0 + n_inner_ipv4_options));
                }
                if (sp_bit(valid, V_inner_ipv4)) {
                    at -= 20;
                    if (at != h_inner_ipv4) sp_move_20(at, h_inner_ipv4);
                }
                if (sp_bit(valid, V_gtpu_end)) {
                    at -= 1;
                    if (at != h_gtpu_end) sp_move_1(at, h_gtpu_end);
                }
            }
            if (valid & (SP_BIT(V_gtpu_extension_1) | SP_BIT(V_gtpu_extension_2) | SP_BIT(V_gtpu_extension_3) | SP_BIT(V_gtpu_extension_4))) {
                if (sp_bit(valid, V_gtpu_extension_4)) {
                    at -= (4 + n_gtpu_extension_4);
                    if (at != h_gtpu_extension_4) __builtin_memmove(at, h_gtpu_extension_4, (4 + n_gtpu_extension_4));
                }
                if (sp_bit(valid, V_gtpu_extension_3)) {
                    at -= (4 + n_gtpu_extension_3);
                    if (at != h_gtpu_extension_3) __builtin_memmove(at, h_gtpu_extension_3, (4 + n_gtpu_extension_3));
                }
                if (sp_bit(valid, V_gtpu_extension_2)) {
                    at -= (4 + n_gtpu_extension_2);
                    if (at != h_gtpu_extension_2) __builtin_memmove(at, h_gtpu_extension_2, (4 + n_gtpu_extension_2));
                }
                if (sp_bit(valid, V_gtpu_extension_1)) {
                    at -= (4 + n_gtpu_extension_1);
                    if (at != h_gtpu_extension_1) __builtin_memmove(at, h_gtpu_extension_1, (4 + n_gtpu_extension_1));
                }
            }
            if (sp_bit(valid, V_gtpu_container)) {
                at -= 4;
                sp_move_4(at, c->s + S_gtpu_container);
            }
            if (sp_bit(valid, V_gtpu_numbers)) {
                at -= 3;
                if (at != h_gtpu_numbers) sp_move_3(at, h_gtpu_numbers);
            }
            if (valid & (SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc))) {
                if (sp_bit(valid, V_gtpu_psc)) {
                    at -= 4;
                    if (at != h_gtpu_psc) sp_move_4(at, h_gtpu_psc);
                }
                if (sp_bit(valid, V_gtpu_optional)) {
                    at -= 4;
                    if (at != h_gtpu_optional) sp_move_4(at, h_gtpu_optional);
                }
                if (sp_bit(valid, V_gtpu)) {
                    at -= 8;
                    if (at != h_gtpu) sp_move_8(at, h_gtpu);
                }
                if (sp_bit(valid, V_udp_rest)) {
                    at -= 4;
                    if (at != h_udp_rest) sp_move_4(at, h_udp_rest);
                }
            }
            if (valid & (SP_BIT(V_ipv4) | SP_BIT(V_ipv4_options) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
                if (sp_bit(valid, V_ports)) {
                    at -= 4;
                    if (at != h_ports) sp_move_4(at, h_ports);
                }
                if (sp_bit(valid, V_ipv6)) {
                    at -= 40;
                    if (at != h_ipv6) sp_move_40(at, h_ipv6);
                }
                if (sp_bit(valid, V_ipv4_options)) {
                    at -= (0 + n_ipv4_options);
                    if (at != h_ipv4_options) __builtin_memmove(at, h_ipv4_options, (0 + n_ipv4_options));
                }
                if (sp_bit(valid, V_ipv4)) {
                    at -= 20;
                    if (at != h_ipv4) sp_move_20(at, h_ipv4);
                }
            }
            if ((valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) == (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
                at -= 44;
                sp_move_44(at, c->s + S_tunnel_ipv4);
            } else if (valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
                if (sp_bit(valid, V_tunnel_psc)) {
                    at -= 4;
                    sp_move_4(at, c->s + S_tunnel_psc);
                }
                if (sp_bit(valid, V_tunnel_optional)) {
                    at -= 4;
                    sp_move_4(at, c->s + S_tunnel_optional);
                }
                if (sp_bit(valid, V_tunnel_gtpu)) {
                    at -= 8;
                    sp_move_8(at, c->s + S_tunnel_gtpu);
                }
                if (sp_bit(valid, V_tunnel_udp)) {
                    at -= 8;
                    sp_move_8(at, c->s + S_tunnel_udp);
                }
                if (sp_bit(valid, V_tunnel_ipv4)) {
                    at -= 20;
                    sp_move_20(at, c->s + S_tunnel_ipv4);
                }
            }
            if (sp_bit(valid, V_ethernet)) {
                at -= 14;
                if (at != h_ethernet) sp_move_14(at, h_ethernet);
            }
            if (valid & (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan))) {
                if (sp_bit(valid, V_vxlan)) {
                    at -= 8;
                    if (at != h_vxlan) sp_move_8(at, h_vxlan);
                }
                if (sp_bit(valid, V_underlay_udp)) {
                    at -= 8;
                    if (at != h_underlay_udp) sp_move_8(at, h_underlay_udp);
                }
                if (sp_bit(valid, V_underlay_ipv4)) {
                    at -= 20;
                    if (at != h_underlay_ipv4) sp_move_20(at, h_underlay_ipv4);
                }
                if (sp_bit(valid, V_underlay_ethernet)) {
                    at -= 14;
                    if (at != h_underlay_ethernet) sp_move_14(at, h_underlay_ethernet);
                }
            }
        } else if (!(moved & SP_TO_BACK)) {
            uint8_t *at = first;
            if (valid & (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan))) {
                if (sp_bit(valid, V_underlay_ethernet)) {
                    if (at != h_underlay_ethernet) sp_move_14(at, h_underlay_ethernet);
                    at += 14;
                }
                if (sp_bit(valid, V_underlay_ipv4)) {
                    if (at != h_underlay_ipv4) sp_move_20(at, h_underlay_ipv4);
                    at += 20;
                }
                if (sp_bit(valid, V_underlay_udp)) {
                    if (at != h_underlay_udp) sp_move_8(at, h_underlay_udp);
                    at += 8;
                }
                if (sp_bit(valid, V_vxlan)) {
                    if (at != h_vxlan) sp_move_8(at, h_vxlan);
                    at += 8;
                }
            }
            if (sp_bit(valid, V_ethernet)) {
                if (at != h_ethernet) sp_move_14(at, h_ethernet);
                at += 14;
            }
            if ((valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) == (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
                sp_move_44(at, c->s + S_tunnel_ipv4);
                at += 44;
            } else if (valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
                if (sp_bit(valid, V_tunnel_ipv4)) {
                    sp_move_20(at, c->s + S_tunnel_ipv4);
                    at += 20;
                }
                if (sp_bit(valid, V_tunnel_udp)) {
                    sp_move_8(at, c->s + S_tunnel_udp);
                    at += 8;
                }
                if (sp_bit(valid, V_tunnel_gtpu)) {
                    sp_move_8(at, c->s + S_tunnel_gtpu);
                    at += 8;
                }
                if (sp_bit(valid, V_tunnel_optional)) {
                    sp_move_4(at, c->s + S_tunnel_optional);
                    at += 4;
                }
                if (sp_bit(valid, V_tunnel_psc)) {
                    sp_move_4(at, c->s + S_tunnel_psc);
                    at += 4;
                }
            }
            if (valid & (SP_BIT(V_ipv4) | SP_BIT(V_ipv4_options) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
                if (sp_bit(valid, V_ipv4)) {
                    if (at != h_ipv4) sp_move_20(at, h_ipv4);
                    at += 20;
                }
                if (sp_bit(valid, V_ipv4_options)) {
                    if (at != h_ipv4_options) __builtin_memmove(at, h_ipv4_options, (0 + n_ipv4_options));
                    at += (0 + n_ipv4_options);
                }
                if (sp_bit(valid, V_ipv6)) {
                    if (at != h_ipv6) sp_move_40(at, h_ipv6);
                    at += 40;
                }
                if (sp_bit(valid, V_ports)) {
                    if (at != h_ports) sp_move_4(at, h_ports);
                    at += 4;
                }
            }
            if (valid & (SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc))) {
                if (sp_bit(valid, V_udp_rest)) {
                    if (at != h_udp_rest) sp_move_4(at, h_udp_rest);
                    at += 4;
                }
                if (sp_bit(valid, V_gtpu)) {
                    if (at != h_gtpu) sp_move_8(at, h_gtpu);
                    at += 8;
                }
                if (sp_bit(valid, V_gtpu_optional)) {
                    if (at != h_gtpu_optional) sp_move_4(at, h_gtpu_optional);
                    at += 4;
                }
                if (sp_bit(valid, V_gtpu_psc)) {
                    if (at != h_gtpu_psc) sp_move_4(at, h_gtpu_psc);
                    at += 4;
                }
            }
            if (sp_bit(valid, V_gtpu_numbers)) {
                if (at != h_gtpu_numbers) sp_move_3(at, h_gtpu_numbers);
                at += 3;
            }
            if (sp_bit(valid, V_gtpu_container)) {
                sp_move_4(at, c->s + S_gtpu_container);
                at += 4;
            }
            if (valid & (SP_BIT(V_gtpu_extension_1) | SP_BIT(V_gtpu_extension_2) | SP_BIT(V_gtpu_extension_3) | SP_BIT(V_gtpu_extension_4))) {
                if (sp_bit(valid, V_gtpu_extension_1)) {
                    if (at != h_gtpu_extension_1) __builtin_memmove(at, h_gtpu_extension_1, (4 + n_gtpu_extension_1));
                    at += (4 + n_gtpu_extension_1);
                }
                if (sp_bit(valid, V_gtpu_extension_2)) {
                    if (at != h_gtpu_extension_2) __builtin_memmove(at, h_gtpu_extension_2, (4 + n_gtpu_extension_2));
                    at += (4 + n_gtpu_extension_2);
                }
                if (sp_bit(valid, V_gtpu_extension_3)) {
                    if (at != h_gtpu_extension_3) __builtin_memmove(at, h_gtpu_extension_3, (4 + n_gtpu_extension_3));
                    at += (4 + n_gtpu_extension_3);
                }
                if (sp_bit(valid, V_gtpu_extension_4)) {
                    if (at != h_gtpu_extension_4) __builtin_memmove(at, h_gtpu_extension_4, (4 + n_gtpu_extension_4));
                    at += (4 + n_gtpu_extension_4);
                }
            }
            if (valid & (SP_BIT(V_gtpu_end) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ipv4_options) | SP_BIT(V_inner_ipv6))) {
                if (sp_bit(valid, V_gtpu_end)) {
                    if (at != h_gtpu_end) sp_move_1(at, h_gtpu_end);
                    at += 1;
                }
                if (sp_bit(valid, V_inner_ipv4)) {
                    if (at != h_inner_ipv4) sp_move_20(at, h_inner_ipv4);
                    at += 20;
                }
                if (sp_bit(valid, V_inner_ipv4_options)) {
                    if (at != h_inner_ipv4_options) __builtin_memmove(at, h_inner_ipv4_options, (0 + n_inner_ipv4_options));
                    at += (0 + n_inner_ipv4_options);
                }
                if (sp_bit(valid, V_inner_ipv6)) {
                    if (at != h_inner_ipv6) sp_move_40(at, h_inner_ipv6);
                    at += 40;
                }
            }
            if (valid & (SP_BIT(V_extension_1) | SP_BIT(V_extension_2) | SP_BIT(V_extension_3) | SP_BIT(V_extension_4))) {
                if (sp_bit(valid, V_extension_1)) {
                    if (at != h_extension_1) __builtin_memmove(at, h_extension_1, (8 + n_extension_1));
                    at += (8 + n_extension_1);
                }
                if (sp_bit(valid, V_extension_2)) {
                    if (at != h_extension_2) __builtin_memmove(at, h_extension_2, (8 + n_extension_2));
                    at += (8 + n_extension_2);
                }
                if (sp_bit(valid, V_extension_3)) {
                    if (at != h_extension_3) __builtin_memmove(at, h_extension_3, (8 + n_extension_3));
                    at += (8 + n_extension_3);
                }
                if (sp_bit(valid, V_extension_4)) {
                    if (at != h_extension_4) __builtin_memmove(at, h_extension_4, (8 + n_extension_4));
                    at += (8 + n_extension_4);
                }
            }
            if (sp_bit(valid, V_inner_ports)) {
                if (at != h_inner_ports) sp_move_4(at, h_inner_ports);
                at += 4;
            }
        } else {
            uint8_t gathered[856 + 1], *at = gathered;
            if (valid & (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan))) {
                if (sp_bit(valid, V_underlay_ethernet)) {
                    sp_copy(at, h_underlay_ethernet, 14);
                    at += 14;
                }
                if (sp_bit(valid, V_underlay_ipv4)) {
                    sp_copy(at, h_underlay_ipv4, 20);
                    at += 20;
                }
                if (sp_bit(valid, V_underlay_udp)) {
                    sp_copy(at, h_underlay_udp, 8);
                    at += 8;
                }
                if (sp_bit(valid, V_vxlan)) {
                    sp_copy(at, h_vxlan, 8);
                    at += 8;
                }
            }
            if (sp_bit(valid, V_ethernet)) {
                sp_copy(at, h_ethernet, 14);
                at += 14;
            }
            if (valid & (SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc))) {
                if (sp_bit(valid, V_tunnel_ipv4)) {
                    sp_copy(at, c->s + S_tunnel_ipv4, 20);
                    at += 20;
                }
                if (sp_bit(valid, V_tunnel_udp)) {
                    sp_copy(at, c->s + S_tunnel_udp, 8);
                    at += 8;
                }
                if (sp_bit(valid, V_tunnel_gtpu)) {
                    sp_copy(at, c->s + S_tunnel_gtpu, 8);
                    at += 8;
                }
                if (sp_bit(valid, V_tunnel_optional)) {
                    sp_copy(at, c->s + S_tunnel_optional, 4);
                    at += 4;
                }
                if (sp_bit(valid, V_tunnel_psc)) {
                    sp_copy(at, c->s + S_tunnel_psc, 4);
                    at += 4;
                }
            }
            if (valid & (SP_BIT(V_ipv4) | SP_BIT(V_ipv4_options) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
                if (sp_bit(valid, V_ipv4)) {
                    sp_copy(at, h_ipv4, 20);
                    at += 20;
                }
                if (sp_bit(valid, V_ipv4_options)) {
                    sp_copy(at, h_ipv4_options, (0 + n_ipv4_options));
                    at += (0 + n_ipv4_options);
                }
                if (sp_bit(valid, V_ipv6)) {
                    sp_copy(at, h_ipv6, 40);
                    at += 40;
                }
                if (sp_bit(valid, V_ports)) {
                    sp_copy(at, h_ports, 4);
                    at += 4;
                }
            }
            if (valid & (SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc))) {
                if (sp_bit(valid, V_udp_rest)) {
                    sp_copy(at, h_udp_rest, 4);
                    at += 4;
                }
                if (sp_bit(valid, V_gtpu)) {
                    sp_copy(at, h_gtpu, 8);
                    at += 8;
                }
                if (sp_bit(valid, V_gtpu_optional)) {
                    sp_copy(at, h_gtpu_optional, 4);
                    at += 4;
                }
                if (sp_bit(valid, V_gtpu_psc)) {
                    sp_copy(at, h_gtpu_psc, 4);
                    at += 4;
                }
            }
            if (sp_bit(valid, V_gtpu_numbers)) {
                sp_copy(at, h_gtpu_numbers, 3);
                at += 3;
            }
            if (sp_bit(valid, V_gtpu_container)) {
                sp_copy(at, c->s + S_gtpu_container, 4);
                at += 4;
            }
            if (valid & (SP_BIT(V_gtpu_extension_1) | SP_BIT(V_gtpu_extension_2) | SP_BIT(V_gtpu_extension_3) | SP_BIT(V_gtpu_extension_4))) {
                if (sp_bit(valid, V_gtpu_extension_1)) {
                    sp_copy(at, h_gtpu_extension_1, (4 + n_gtpu_extension_1));
                    at += (4 + n_gtpu_extension_1);
                }
                if (sp_bit(valid, V_gtpu_extension_2)) {
                    sp_copy(at, h_gtpu_extension_2, (4 + n_gtpu_extension_2));
                    at += (4 + n_gtpu_extension_2);
                }
                if (sp_bit(valid, V_gtpu_extension_3)) {
                    sp_copy(at, h_gtpu_extension_3, (4 + n_gtpu_extension_3));
                    at += (4 + n_gtpu_extension_3);
                }
                if (sp_bit(valid, V_gtpu_extension_4)) {
                    sp_copy(at, h_gtpu_extension_4, (4 + n_gtpu_extension_4));
                    at += (4 + n_gtpu_extension_4);
                }
            }
            if (valid & (SP_BIT(V_gtpu_end) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ipv4_options) | SP_BIT(V_inner_ipv6))) {
                if (sp_bit(valid, V_gtpu_end)) {
                    sp_copy(at, h_gtpu_end, 1);
                    at += 1;
                }
                if (sp_bit(valid, V_inner_ipv4)) {
                    sp_copy(at, h_inner_ipv4, 20);
                    at += 20;
                }
                if (sp_bit(valid, V_inner_ipv4_options)) {
                    sp_copy(at, h_inner_ipv4_options, (0 + n_inner_ipv4_options));
                    at += (0 + n_inner_ipv4_options);
                }
                if (sp_bit(valid, V_inner_ipv6)) {
                    sp_copy(at, h_inner_ipv6, 40);
                    at += 40;
                }
            }
            if (valid & (SP_BIT(V_extension_1) | SP_BIT(V_extension_2) | SP_BIT(V_extension_3) | SP_BIT(V_extension_4))) {
                if (sp_bit(valid, V_extension_1)) {
                    sp_copy(at, h_extension_1, (8 + n_extension_1));
                    at += (8 + n_extension_1);
                }
                if (sp_bit(valid, V_extension_2)) {
                    sp_copy(at, h_extension_2, (8 + n_extension_2));
                    at += (8 + n_extension_2);
                }
                if (sp_bit(valid, V_extension_3)) {
                    sp_copy(at, h_extension_3, (8 + n_extension_3));
                    at += (8 + n_extension_3);
                }
                if (sp_bit(valid, V_extension_4)) {
                    sp_copy(at, h_extension_4, (8 + n_extension_4));
                    at += (8 + n_extension_4);
                }
            }
            if (sp_bit(valid, V_inner_ports)) {
                sp_copy(at, h_inner_ports, 4);
                at += 4;
            }
            sp_copy(first, gathered, at - gathered);
        }
        pk->start = first - pk->buffer;
        pk->length = end - first;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, meta_reason, meta_mark);
        done:;
    }
}

static void class_1_stage_1_station(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_1_station(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_5_stage_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_14_firewall_v4(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_14_firewall_v4(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo);
static void class_5_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_17_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_1_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_3_stage_17_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_5_stage_17_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_5_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_6_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_1_station(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_1_station(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo);
static void class_6_stage_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_13_firewall_v6(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_13_firewall_v6(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo);
static void class_6_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo);
static void class_2_stage_16_route_ipv6(struct sp_run *const run, const uint64_t todo);
static void class_4_stage_16_route_ipv6(struct sp_run *const run, const uint64_t todo);
static void class_6_stage_16_route_ipv6(struct sp_run *const run, const uint64_t todo);

/* The class of a packet; 0: none. */
static inline uint32_t sp_class(const struct sp_packet *const pk)
{
    const uint8_t *const p = pk->buffer + pk->start;
    if (pk->length > 9216) return 0;
    if (((((uint32_t)pk->port & 0x1ff) & 0x100u) == 0u)) {
        if (pk->length < 14) return 0;
        if ((sp_ld16(p + 12) == 0x800u)) {
            if (pk->length < 34) return 0;
            if (!(((sp_ld8(p + 14) >> 4) == 4u) && ((sp_ld8(p + 14) & 0xf) >= 5u))) return 0;
            if (((sp_ld8(p + 14) & 0xf) == 5u)) {
                if ((((sp_ld16(p + 14 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 14 + 9) == 0x11u))) {
                    if (pk->length < 38) return 0;
                    if ((((((uint32_t)pk->port & 0x1ff) & 0x80u) == 0u) && (((sp_ld8(p + 14 + 6) >> 5) & 0x1) == 0u) && (sp_ld16(p + 34 + 2) == 0x868u))) {
                        if (pk->length < 42) return 0;
                        if (pk->length < 50) return 0;
                        if ((((sp_ld8(p + 42) >> 5) == 1u) && (((sp_ld8(p + 42) >> 4) & 0x1) == 1u) && (((sp_ld8(p + 42) >> 2) & 0x1) == 0u) && (((sp_ld8(p + 42) >> 1) & 0x1) == 0u) && ((sp_ld8(p + 42) & 0x1) == 0u) && (sp_ld8(p + 42 + 1) == 0xffu))) {
                            if (pk->length < 51) return 0;
                            if (((sp_ld8(p + 50) >> 4) == 4u)) {
                                if (pk->length < 70) return 0;
                                if (!((sp_ld8(p + 50) & 0xf) >= 5u)) return 0;
                                if (((sp_ld8(p + 50) & 0xf) == 5u)) {
                                    if ((((sp_ld16(p + 50 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 50 + 9) == 0x11u)) || (((sp_ld16(p + 50 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 50 + 9) == 6u)) || (((sp_ld16(p + 50 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 50 + 9) == 0x84u))) {
                                        if (pk->length < 74) return 0;
                                        return 1;
                                    }
                                    return 0;
                                }
                                return 0;
                            }
                            if (((sp_ld8(p + 50) >> 4) == 6u)) {
                                if (pk->length < 90) return 0;
                                if ((sp_ld8(p + 50 + 6) == 0x11u) || (sp_ld8(p + 50 + 6) == 6u) || (sp_ld8(p + 50 + 6) == 0x84u)) {
                                    if (pk->length < 94) return 0;
                                    return 2;
                                }
                                return 0;
                            }
                            return 0;
                        }
                        if ((((sp_ld8(p + 42) >> 5) == 1u) && (((sp_ld8(p + 42) >> 4) & 0x1) == 1u) && (((sp_ld8(p + 42) >> 2) & 0x1) == 1u) && (sp_ld8(p + 42 + 1) == 0xffu))) {
                            if (pk->length < 54) return 0;
                            if (((sp_ld32(p + 50) & 0xff) == 0x85u)) {
                                if (pk->length < 58) return 0;
                                if (((((uint32_t)(sp_ld64(p + 50) >> 24) & 0xff) == 1u) && (((uint32_t)sp_ld64(p + 50) & 0xff) == 0u))) {
                                    if (pk->length < 59) return 0;
                                    if (((sp_ld8(p + 58) >> 4) == 4u)) {
                                        if (pk->length < 78) return 0;
                                        if (!((sp_ld8(p + 58) & 0xf) >= 5u)) return 0;
                                        if (((sp_ld8(p + 58) & 0xf) == 5u)) {
                                            if ((((sp_ld16(p + 58 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 58 + 9) == 0x11u)) || (((sp_ld16(p + 58 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 58 + 9) == 6u)) || (((sp_ld16(p + 58 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 58 + 9) == 0x84u))) {
                                                if (pk->length < 82) return 0;
                                                return 3;
                                            }
                                            return 0;
                                        }
                                        return 0;
                                    }
                                    if (((sp_ld8(p + 58) >> 4) == 6u)) {
                                        if (pk->length < 98) return 0;
                                        if ((sp_ld8(p + 58 + 6) == 0x11u) || (sp_ld8(p + 58 + 6) == 6u) || (sp_ld8(p + 58 + 6) == 0x84u)) {
                                            if (pk->length < 102) return 0;
                                            return 4;
                                        }
                                        return 0;
                                    }
                                    return 0;
                                }
                                return 0;
                            }
                            return 0;
                        }
                        return 0;
                    }
                    return 5;
                }
                if ((((sp_ld16(p + 14 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 14 + 9) == 6u)) || (((sp_ld16(p + 14 + 6) & 0x1fff) == 0u) && (sp_ld8(p + 14 + 9) == 0x84u))) {
                    if (pk->length < 38) return 0;
                    return 5;
                }
                return 0;
            }
            return 0;
        }
        if ((sp_ld16(p + 12) == 0x86ddu)) {
            if (pk->length < 54) return 0;
            if (!((sp_ld8(p + 14) >> 4) == 6u)) return 0;
            if ((sp_ld8(p + 14 + 6) == 0x11u) || (sp_ld8(p + 14 + 6) == 6u) || (sp_ld8(p + 14 + 6) == 0x84u)) {
                if (pk->length < 58) return 0;
                return 6;
            }
            return 0;
        }
        return 0;
    }
    return 0;
}

static __attribute__((noinline, cold)) void class_1_leave_0(struct sp_context *const c, uint8_t *const p)
{
    c->payload = p + 74;
    c->h_underlay_ethernet = sp_nothing;
    c->h_underlay_ipv4 = sp_nothing;
    c->h_underlay_udp = sp_nothing;
    c->h_vxlan = sp_nothing;
    c->h_ethernet = p;
    c->h_ipv4 = p + 14;
    c->h_ipv4_options = sp_nothing;
    c->h_ipv6 = sp_nothing;
    c->h_ports = p + 34;
    c->h_udp_rest = p + 38;
    c->h_gtpu = p + 42;
    c->h_gtpu_optional = sp_nothing;
    c->h_gtpu_psc = sp_nothing;
    c->h_gtpu_numbers = sp_nothing;
    c->h_gtpu_extension_1 = sp_nothing;
    c->h_gtpu_extension_2 = sp_nothing;
    c->h_gtpu_extension_3 = sp_nothing;
    c->h_gtpu_extension_4 = sp_nothing;
    c->h_gtpu_end = sp_nothing;
    c->h_inner_ipv4 = p + 50;
    c->h_inner_ipv4_options = sp_nothing;
    c->h_inner_ipv6 = sp_nothing;
    c->h_extension_1 = sp_nothing;
    c->h_extension_2 = sp_nothing;
    c->h_extension_3 = sp_nothing;
    c->h_extension_4 = sp_nothing;
    c->h_inner_ports = p + 70;
    c->n_ipv4_options = 0;
    c->n_gtpu_extension_1 = 0;
    c->n_gtpu_extension_2 = 0;
    c->n_gtpu_extension_3 = 0;
    c->n_gtpu_extension_4 = 0;
    c->n_inner_ipv4_options = 0;
    c->n_extension_1 = 0;
    c->n_extension_2 = 0;
    c->n_extension_3 = 0;
    c->n_extension_4 = 0;
}

static __attribute__((noinline)) void class_1_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_26 = 0;
    struct sp_wait *const wait_26 = &run->wait[1];
    uint32_t n_26 = wait_26->keys;
    uint32_t begin_26 = n_26;
    uint64_t word_26_0 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->keep = 0xffffffffu;
        c->v.meta_dst_v4 = 0u;
        c->v.meta_vrf = 0u;
        c->v.meta_loopback = 0u;
        c->v.meta_group = 0u;
        c->v.meta_class_meter = 0u;
        c->v.meta_out_length = 0u;
        c->v.meta_mark = 0u;
        uint32_t meta_user_is_inner = 0u;
        uint32_t meta_ip_version = 0u;
        uint32_t meta_src_v4 = 0u;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_protocol = 0u;
        uint32_t meta_tos = 0u;
        uint32_t meta_src_port = 0u;
        uint32_t meta_dst_port = 0u;
        uint32_t meta_pdu_length = 0u;
        uint32_t meta_header_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t standard_metadata_checksum_error = 0u;
        uint32_t UpfIngress_user_packet_reason = 0u;
        uint32_t UpfIngress_user_packet_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel = 0u;
        uint32_t UpfIngress_user_packet_udp = 0u;
        uint32_t UpfIngress_user_packet_gtpu_end = 0u;
        uint32_t UpfIngress_user_packet_udp_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel_end = 0u;
        struct sp_sum sum1 = {0, 0, 0};
        sp_sum_bytes(&sum1, p + 14, 10);
        sp_sum_bytes(&sum1, p + 14 + 12, 8);
        if (((uint32_t)sp_csum16(&sum1) & 0xffff) != sp_ld16(p + 14 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        struct sp_sum sum2 = {0, 0, 0};
        sp_sum_bytes(&sum2, p + 50, 10);
        sp_sum_bytes(&sum2, p + 50 + 12, 8);
        if (((uint32_t)sp_csum16(&sum2) & 0xffff) != sp_ld16(p + 50 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        if (standard_metadata_checksum_error == 1u) {
            meta_reason = 0x11u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x11u, 0u);
            goto done;
        }
        UpfIngress_user_packet_reason = 0u;
        meta_user_is_inner = 1u;
        meta_ip_version = 4u;
        meta_src_v4 = sp_ld32(p + 50 + 12);
        meta_dst_v4 = sp_ld32(p + 50 + 16); c->v.meta_dst_v4 = meta_dst_v4;
        meta_protocol = sp_ld8(p + 50 + 9);
        meta_tos = sp_ld8(p + 50 + 1);
        meta_pdu_length = sp_ld16(p + 50 + 2);
        meta_header_length = 0x14u;
        meta_src_port = sp_ld16(p + 70);
        meta_dst_port = sp_ld16(p + 70 + 2);
        meta_header_length = 0x18u;
        UpfIngress_user_packet_end = (sp_ld16(p + 50 + 2) + 0x32u);
        if (((sp_ld16(p + 50 + 2) + 0x32u) > ((uint32_t)pk->length)) || (sp_ld16(p + 50 + 2) < 0x18u)) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        UpfIngress_user_packet_tunnel = 0xeu;
        UpfIngress_user_packet_udp = 0x22u;
        UpfIngress_user_packet_gtpu_end = (0x32u + sp_ld16(p + 42 + 2));
        UpfIngress_user_packet_udp_end = (0x22u + sp_ld16(p + 38));
        UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(p + 14 + 2));
        if (((((sp_ld16(p + 50 + 2) + 0x32u) > (0x32u + sp_ld16(p + 42 + 2))) || ((0x32u + sp_ld16(p + 42 + 2)) > (0x22u + sp_ld16(p + 38)))) || ((0x22u + sp_ld16(p + 38)) > (0xeu + sp_ld16(p + 14 + 2)))) || ((0xeu + sp_ld16(p + 14 + 2)) > ((uint32_t)pk->length))) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        const uint64_t x3 = (uint64_t)((uint32_t)pk->port & 0x1ff) << 48 | (uint64_t)(sp_ld64(p) >> 16);
        n_26 += (n_26 == begin_26) | (x3 != word_26_0);
        wait_26->key_of[i] = n_26 - 1;
        sp_st64(wait_26->bytes + (n_26 - 1) * 8 + 0, x3);
        word_26_0 = x3;
        to_26 |= bit;
        done:;
    }
    run->todo[26] |= to_26;
    wait_26->keys = n_26;
}


static __attribute__((noinline)) void class_1_stage_8_pdr_by_teid(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_34 = 0;
    uint64_t to_36 = 0;
    uint64_t to_39 = 0;
    uint64_t to_40 = 0;
    uint64_t to_42 = 0;
    uint64_t to_43 = 0;
    struct sp_wait *const wait_34 = &run->wait[9];
    uint32_t n_34 = wait_34->keys;
    uint32_t begin_34 = n_34;
    uint64_t word_34_0 = 0;
    struct sp_wait *const wait_36 = &run->wait[11];
    uint32_t n_36 = wait_36->keys;
    uint32_t begin_36 = n_36;
    uint64_t word_36_0 = 0;
    uint64_t word_36_1 = 0;
    uint64_t word_36_2 = 0;
    struct sp_wait *const wait_39 = &run->wait[14];
    uint32_t n_39 = wait_39->keys;
    uint32_t begin_39 = n_39;
    uint64_t word_39_0 = 0;
    uint64_t word_39_1 = 0;
    struct sp_wait *const wait_40 = &run->wait[15];
    uint32_t n_40 = wait_40->keys;
    uint32_t begin_40 = n_40;
    uint64_t word_40_0 = 0;
    uint64_t word_40_1 = 0;
    struct sp_wait *const wait_42 = &run->wait[17];
    uint32_t n_42 = wait_42->keys;
    uint32_t begin_42 = n_42;
    uint64_t word_42_0 = 0;
    struct sp_wait *const wait_43 = &run->wait[18];
    uint32_t n_43 = wait_43->keys;
    uint32_t begin_43 = n_43;
    uint64_t word_43_0 = 0;
    struct sp_table *const table_firewall_v4 = &run->lane->tables[TABLE_firewall_v4];
    const uint32_t skip_firewall_v4 = !table_firewall_v4->lookup && ((const struct record_firewall_v4 *)table_firewall_v4->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v4 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_teid];
    const struct sp_wait *const wait = &run->wait[8];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_teid *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10200e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + 50 + 16);
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_classified = 0u;
        uint32_t meta_group = 0u;
        uint32_t meta_filter_set = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0u;
        uint32_t UpfIngress_session_set_pdr_disposition = 0u;
        uint32_t UpfIngress_session_set_pdr_flags = 0u;
        uint32_t UpfIngress_session_set_pdr_usage = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0u;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0u;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0x0ull;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0u;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0u;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0u;
        uint32_t UpfIngress_session_classify_group = 0u;
        uint32_t UpfIngress_session_classify_filter_set = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_tmp_2 = 0u;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        UpfIngress_session_tmp_2 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_2) {
            const uint64_t x5 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_34 += (n_34 == begin_34) | (x5 != word_34_0);
            wait_34->key_of[i] = n_34 - 1;
            sp_st64(wait_34->bytes + (n_34 - 1) * 8 + 0, x5);
            word_34_0 = x5;
            to_34 |= bit;
            goto done;
        } else {
            goto node_11;
        }
        node_11:;
        if (meta_classified == 1u) {
            UpfIngress_session_remote_v4 = sp_ld32(p + 50 + 16);
            UpfIngress_session_local_v4 = sp_ld32(p + 50 + 12);
            UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            UpfIngress_session_remote_port = sp_ld16(p + 70 + 2);
            UpfIngress_session_local_port = sp_ld16(p + 70);
            const uint32_t x6 = sp_ld32(p + 50 + 12);
            const uint64_t x7 = (uint64_t)meta_filter_set << 48 | (uint64_t)sp_ld32(p + 50 + 16) << 16 | (uint64_t)(x6 >> 16);
            const uint64_t x8 = (uint64_t)x6 << 48 | (uint64_t)sp_ld8(p + 50 + 9) << 40 | (uint64_t)sp_ld16(p + 70 + 2) << 24 | (uint64_t)sp_ld16(p + 70) << 8 | (uint64_t)sp_ld8(p + 50 + 1);
            const uint64_t x9 = (uint64_t)0u << 56;
            n_36 += (n_36 == begin_36) | (x7 != word_36_0) | (x8 != word_36_1) | (x9 != word_36_2);
            wait_36->key_of[i] = n_36 - 1;
            sp_st64(wait_36->bytes + (n_36 - 1) * 24 + 0, x7);
            word_36_0 = x7;
            sp_st64(wait_36->bytes + (n_36 - 1) * 24 + 8, x8);
            word_36_1 = x8;
            sp_st64(wait_36->bytes + (n_36 - 1) * 24 + 16, x9);
            word_36_2 = x9;
            to_36 |= bit;
            goto done;
        } else {
            goto node_9;
        }
        node_9:;
        if (skip_firewall_v4) {
            skipped_firewall_v4++;
            goto node_8;
        }
        const uint32_t x10 = sp_ld32(p + 50 + 16);
        const uint64_t x11 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 50 + 12) << 16 | (uint64_t)(x10 >> 16);
        const uint64_t x12 = (uint64_t)x10 << 48 | (uint64_t)sp_ld8(p + 50 + 9) << 40 | (uint64_t)sp_ld16(p + 70) << 24 | (uint64_t)sp_ld16(p + 70 + 2) << 8;
        n_39 += (n_39 == begin_39) | (x11 != word_39_0) | (x12 != word_39_1);
        wait_39->key_of[i] = n_39 - 1;
        sp_st64(wait_39->bytes + (n_39 - 1) * 16 + 0, x11);
        word_39_0 = x11;
        sp_st64(wait_39->bytes + (n_39 - 1) * 16 + 8, x12);
        word_39_1 = x12;
        to_39 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_1_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + 50 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + 50 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + 50 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + 50 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 50 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + 50 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + 50 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + 50 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + 50 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + 50 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x13 = sp_ld32(p + 50 + 16);
        const uint64_t x14 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + 50 + 1) << 48 | (uint64_t)sp_ld32(p + 50 + 12) << 16 | (uint64_t)(x13 >> 16);
        const uint64_t x15 = (uint64_t)x13 << 48 | (uint64_t)sp_ld8(p + 50 + 9) << 40 | (uint64_t)sp_ld16(p + 70) << 24 | (uint64_t)sp_ld16(p + 70 + 2) << 8;
        n_40 += (n_40 == begin_40) | (x14 != word_40_0) | (x15 != word_40_1);
        wait_40->key_of[i] = n_40 - 1;
        sp_st64(wait_40->bytes + (n_40 - 1) * 16 + 0, x14);
        word_40_0 = x14;
        sp_st64(wait_40->bytes + (n_40 - 1) * 16 + 8, x15);
        word_40_1 = x15;
        to_40 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + 50 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + 50 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + 50 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x16 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_43 += (n_43 == begin_43) | (x16 != word_43_0);
            wait_43->key_of[i] = n_43 - 1;
            sp_st64(wait_43->bytes + (n_43 - 1) * 8 + 0, x16);
            word_43_0 = x16;
            to_43 |= bit;
            goto done;
        } else {
            const uint64_t x17 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + 50 + 16) << 16;
            n_42 += (n_42 == begin_42) | (x17 != word_42_0);
            wait_42->key_of[i] = n_42 - 1;
            sp_st64(wait_42->bytes + (n_42 - 1) * 8 + 0, x17);
            word_42_0 = x17;
            to_42 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[34] |= to_34;
    run->todo[36] |= to_36;
    run->todo[39] |= to_39;
    run->todo[40] |= to_40;
    run->todo[42] |= to_42;
    run->todo[43] |= to_43;
    wait_34->keys = n_34;
    wait_36->keys = n_36;
    wait_39->keys = n_39;
    wait_40->keys = n_40;
    wait_42->keys = n_42;
    wait_43->keys = n_43;
    sp_looked_up(table_firewall_v4, 0, skipped_firewall_v4);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}








static __attribute__((noinline)) void class_1_stage_19_nexthop_others(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[19];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10200e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_pdu_length = sp_ld16(p + 50 + 2);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        uint32_t UpfIngress_route_send_vxlan_port = 0u;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_vni = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0u;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0u;
        uint32_t UpfIngress_route_send_vxlan_frame = 0u;
        uint32_t UpfIngress_route_unresolved_nexthop = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint64_t f_underlay_ethernet_0_dst = 0;
        uint64_t f_underlay_ethernet_1_src = 0;
        uint32_t f_underlay_ethernet_2_ethertype = 0;
        uint32_t f_underlay_ipv4_0_version = 0;
        uint32_t f_underlay_ipv4_1_ihl = 0;
        uint32_t f_underlay_ipv4_2_tos = 0;
        uint32_t f_underlay_ipv4_3_total_length = 0;
        uint32_t f_underlay_ipv4_4_identification = 0;
        uint32_t f_underlay_ipv4_5_reserved = 0;
        uint32_t f_underlay_ipv4_6_dont_fragment = 0;
        uint32_t f_underlay_ipv4_7_more_fragments = 0;
        uint32_t f_underlay_ipv4_8_fragment_offset = 0;
        uint32_t f_underlay_ipv4_9_ttl = 0;
        uint32_t f_underlay_ipv4_10_protocol = 0;
        uint32_t f_underlay_ipv4_11_checksum = 0;
        uint32_t f_underlay_ipv4_12_src = 0;
        uint32_t f_underlay_ipv4_13_dst = 0;
        uint32_t f_underlay_udp_0_src = 0;
        uint32_t f_underlay_udp_1_dst = 0;
        uint32_t f_underlay_udp_2_length = 0;
        uint32_t f_underlay_udp_3_checksum = 0;
        uint32_t f_vxlan_0_flags = 0;
        uint32_t f_vxlan_1_reserved = 0;
        uint32_t f_vxlan_2_vni = 0;
        uint32_t f_vxlan_3_reserved2 = 0;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port;
                sp_st48(p + 6, UpfIngress_route_send_vxlan_src_mac);
                sp_st48(p, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                f_underlay_ethernet_0_dst = f_underlay_ethernet_1_src = f_underlay_ethernet_2_ethertype = 0;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x44 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                f_underlay_ethernet_0_dst = x44;
                const uint64_t x45 = UpfIngress_route_send_vxlan_underlay_src_mac;
                f_underlay_ethernet_1_src = x45;
                f_underlay_ethernet_2_ethertype = 0x800u;
                f_underlay_ipv4_0_version = f_underlay_ipv4_1_ihl = f_underlay_ipv4_2_tos = f_underlay_ipv4_3_total_length = f_underlay_ipv4_4_identification = f_underlay_ipv4_5_reserved = f_underlay_ipv4_6_dont_fragment = f_underlay_ipv4_7_more_fragments = f_underlay_ipv4_8_fragment_offset = f_underlay_ipv4_9_ttl = f_underlay_ipv4_10_protocol = f_underlay_ipv4_11_checksum = f_underlay_ipv4_12_src = f_underlay_ipv4_13_dst = 0;
                valid |= SP_BIT(V_underlay_ipv4);
                f_underlay_ipv4_0_version = 4u;
                f_underlay_ipv4_1_ihl = 5u;
                f_underlay_ipv4_2_tos = 0u;
                f_underlay_ipv4_4_identification = 0u;
                f_underlay_ipv4_5_reserved = 0u;
                f_underlay_ipv4_7_more_fragments = 0u;
                f_underlay_ipv4_8_fragment_offset = 0u;
                f_underlay_ipv4_11_checksum = 0u;
                const uint32_t x46 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                f_underlay_ipv4_3_total_length = x46;
                f_underlay_ipv4_6_dont_fragment = 1u;
                f_underlay_ipv4_9_ttl = 0x40u;
                f_underlay_ipv4_10_protocol = 0x11u;
                f_underlay_ipv4_12_src = UpfIngress_route_send_vxlan_vtep_src;
                f_underlay_ipv4_13_dst = UpfIngress_route_send_vxlan_vtep_dst;
                f_underlay_udp_0_src = f_underlay_udp_1_dst = f_underlay_udp_2_length = f_underlay_udp_3_checksum = 0;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x47 = (((meta_dst_v4 & 0xffff) ^ sp_ld16(p + 70)) | 0xc000u);
                f_underlay_udp_0_src = x47;
                f_underlay_udp_1_dst = 0x12b5u;
                const uint32_t x48 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                f_underlay_udp_2_length = x48;
                f_underlay_udp_3_checksum = 0u;
                f_vxlan_0_flags = f_vxlan_1_reserved = f_vxlan_2_vni = f_vxlan_3_reserved2 = 0;
                valid |= SP_BIT(V_vxlan);
                f_vxlan_0_flags = 8u;
                f_vxlan_2_vni = UpfIngress_route_send_vxlan_vni;
                f_vxlan_1_reserved = 0u;
                f_vxlan_3_reserved2 = 0u;
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u;
                standard_metadata_egress_spec = 0x1feu;
                class_1_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 50 + 8);
            if (sp_ld8(p + 50 + 8) <= 1u) {
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_1_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - sp_ld16(p + 50 + 2)) & 0xffff)) & 0xffff);
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_1_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(p + 50 + 8);
            UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(p + 50 + 10);
            UpfIngress_tunnel_decrement_ipv4_ttl = ((sp_ld8(p + 50 + 8) - 1u) & 0xff);
            UpfIngress_tunnel_decrement_ipv4_sum = ((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff);
            UpfIngress_tunnel_decrement_ipv4_checksum = ((((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff) >= 0xffffu) ? (((((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff) & 0xffff) + 1u) & 0xffff) : (((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff) & 0xffff));
            sp_st8(p + 50 + 8, ((sp_ld8(p + 50 + 8) - 1u) & 0xff));
            const uint32_t x49 = UpfIngress_tunnel_decrement_ipv4_checksum;
            sp_st16(p + 50 + 10, x49);
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x800u);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x50 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x50;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x51 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x51;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x52 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x52;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0x40u);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum53 = {0, 0, 0};
            sp_sum_value(&sum53, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum53, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum53, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum53, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum53, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum53, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum53, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum53, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum53, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum53, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum53, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum53, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum53, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum53) & 0xffff);
        }
        struct sp_sum sum54 = {0, 0, 0};
        sp_sum_value(&sum54, f_underlay_ipv4_0_version, 4);
        sp_sum_value(&sum54, f_underlay_ipv4_1_ihl, 4);
        sp_sum_value(&sum54, f_underlay_ipv4_2_tos, 8);
        sp_sum_value(&sum54, f_underlay_ipv4_3_total_length, 16);
        sp_sum_value(&sum54, f_underlay_ipv4_4_identification, 16);
        sp_sum_value(&sum54, f_underlay_ipv4_5_reserved, 1);
        sp_sum_value(&sum54, f_underlay_ipv4_6_dont_fragment, 1);
        sp_sum_value(&sum54, f_underlay_ipv4_7_more_fragments, 1);
        sp_sum_value(&sum54, f_underlay_ipv4_8_fragment_offset, 13);
        sp_sum_value(&sum54, f_underlay_ipv4_9_ttl, 8);
        sp_sum_value(&sum54, f_underlay_ipv4_10_protocol, 8);
        sp_sum_value(&sum54, f_underlay_ipv4_12_src, 32);
        sp_sum_value(&sum54, f_underlay_ipv4_13_dst, 32);
        f_underlay_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum54) & 0xffff);
        /* deparser */
        if (valid == 0x1020003ffull) {
            if (pk->start < 58 || pk->length + 58 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b55_0_0; __builtin_memcpy(&b55_0_0, p, 4);
            sp_block2 b55_1_0; __builtin_memcpy(&b55_1_0, p + 4, 2);
            sp_block4 b55_2_0; __builtin_memcpy(&b55_2_0, p + 6, 4);
            sp_block2 b55_3_0; __builtin_memcpy(&b55_3_0, p + 10, 2);
            sp_block2 b55_4_0; __builtin_memcpy(&b55_4_0, p + 12, 2);
            __builtin_memcpy(p - 8, &b55_0_0, 4);
            __builtin_memcpy(p - 4, &b55_1_0, 2);
            __builtin_memcpy(p - 2, &b55_2_0, 4);
            __builtin_memcpy(p + 2, &b55_3_0, 2);
            __builtin_memcpy(p + 4, &b55_4_0, 2);
            sp_st64(p - 58, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 50, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 46, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 44, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 36, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 28, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 24, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 16, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 6, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 22, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 26, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 34, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 42, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 46, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 58;
            pk->length += 58;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1020000ffull) {
            if (pk->start < 50 || pk->length + 50 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_st64(p - 50, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 42, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 36, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 28, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 20, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 16, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 8, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 50;
            pk->length += 50;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->start < 14 || pk->length + 14 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        sp_block4 b57_0_0; __builtin_memcpy(&b57_0_0, p, 4);
        sp_block2 b57_1_0; __builtin_memcpy(&b57_1_0, p + 4, 2);
        sp_block4 b57_2_0; __builtin_memcpy(&b57_2_0, p + 6, 4);
        sp_block2 b57_3_0; __builtin_memcpy(&b57_3_0, p + 10, 2);
        sp_block2 b57_4_0; __builtin_memcpy(&b57_4_0, p + 12, 2);
        __builtin_memcpy(p + 36, &b57_0_0, 4);
        __builtin_memcpy(p + 40, &b57_1_0, 2);
        __builtin_memcpy(p + 42, &b57_2_0, 4);
        __builtin_memcpy(p + 46, &b57_3_0, 2);
        __builtin_memcpy(p + 48, &b57_4_0, 2);
        sp_st64(p - 14, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
        sp_st32(p - 6, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
        sp_st16(p - 2, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
        sp_st64(p + 0, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
        sp_st64(p + 8, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
        sp_st32(p + 16, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
        sp_st64(p + 20, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
        sp_st64(p + 28, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
        pk->start -= 14;
        pk->length += 14;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void class_1_stage_19_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[19];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    uint32_t others = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        if (__builtin_expect(r->action != ACTION_send, 0)) {
            const uint64_t row = sp_row(wait, table, left, ACTION_send);
            
            class_1_stage_19_nexthop_others(run, row);
            
            others += __builtin_popcountll(row);
            left &= ~row | bit;
            continue;
        }
        found += hit;
        uint64_t valid = 0x10200e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = sp_ld16(p + 50 + 2);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_send_port = 0u;
        uint64_t UpfIngress_route_send_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_mtu = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_port;
                sp_st48(p + 6, UpfIngress_route_send_src_mac);
                sp_st48(p, UpfIngress_route_send_dst_mac);
                break;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 50 + 8);
            if (sp_ld8(p + 50 + 8) <= 1u) {
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_1_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - sp_ld16(p + 50 + 2)) & 0xffff)) & 0xffff);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_1_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)sp_ld16(p + 50 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(p + 50 + 8);
            UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(p + 50 + 10);
            UpfIngress_tunnel_decrement_ipv4_ttl = ((sp_ld8(p + 50 + 8) - 1u) & 0xff);
            UpfIngress_tunnel_decrement_ipv4_sum = ((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff);
            UpfIngress_tunnel_decrement_ipv4_checksum = ((((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff) >= 0xffffu) ? (((((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff) & 0xffff) + 1u) & 0xffff) : (((sp_ld16(p + 50 + 10) + 0x100u) & 0x1ffff) & 0xffff));
            sp_st8(p + 50 + 8, ((sp_ld8(p + 50 + 8) - 1u) & 0xff));
            const uint32_t x36 = UpfIngress_tunnel_decrement_ipv4_checksum;
            sp_st16(p + 50 + 10, x36);
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x800u);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x37 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x37;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x38 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x38;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x39 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x39;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0xeu);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum40 = {0, 0, 0};
            sp_sum_value(&sum40, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum40, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum40, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum40, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum40, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum40, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum40, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum40, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum40, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum40, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum40, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum40, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum40, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum40) & 0xffff);
        }
        /* deparser */
        if (valid == 0x1020003f0ull) {
            if (pk->start < 8 || pk->length + 8 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b41_0_0; __builtin_memcpy(&b41_0_0, p, 4);
            sp_block2 b41_1_0; __builtin_memcpy(&b41_1_0, p + 4, 2);
            sp_block4 b41_2_0; __builtin_memcpy(&b41_2_0, p + 6, 4);
            sp_block2 b41_3_0; __builtin_memcpy(&b41_3_0, p + 10, 2);
            sp_block2 b41_4_0; __builtin_memcpy(&b41_4_0, p + 12, 2);
            __builtin_memcpy(p - 8, &b41_0_0, 4);
            __builtin_memcpy(p - 4, &b41_1_0, 2);
            __builtin_memcpy(p - 2, &b41_2_0, 4);
            __builtin_memcpy(p + 2, &b41_3_0, 2);
            __builtin_memcpy(p + 4, &b41_4_0, 2);
            sp_st64(p + 6, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 22, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 26, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 34, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 42, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 46, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 8;
            pk->length += 8;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1020000f0ull) {
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        sp_block4 b43_0_0; __builtin_memcpy(&b43_0_0, p, 4);
        sp_block2 b43_1_0; __builtin_memcpy(&b43_1_0, p + 4, 2);
        sp_block4 b43_2_0; __builtin_memcpy(&b43_2_0, p + 6, 4);
        sp_block2 b43_3_0; __builtin_memcpy(&b43_3_0, p + 10, 2);
        sp_block2 b43_4_0; __builtin_memcpy(&b43_4_0, p + 12, 2);
        __builtin_memcpy(p + 36, &b43_0_0, 4);
        __builtin_memcpy(p + 40, &b43_1_0, 2);
        __builtin_memcpy(p + 42, &b43_2_0, 4);
        __builtin_memcpy(p + 46, &b43_3_0, 2);
        __builtin_memcpy(p + 48, &b43_4_0, 2);
        pk->start += 36;
        pk->length -= 36;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - others - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline, cold)) void class_2_leave_0(struct sp_context *const c, uint8_t *const p)
{
    c->payload = p + 94;
    c->h_underlay_ethernet = sp_nothing;
    c->h_underlay_ipv4 = sp_nothing;
    c->h_underlay_udp = sp_nothing;
    c->h_vxlan = sp_nothing;
    c->h_ethernet = p;
    c->h_ipv4 = p + 14;
    c->h_ipv4_options = sp_nothing;
    c->h_ipv6 = sp_nothing;
    c->h_ports = p + 34;
    c->h_udp_rest = p + 38;
    c->h_gtpu = p + 42;
    c->h_gtpu_optional = sp_nothing;
    c->h_gtpu_psc = sp_nothing;
    c->h_gtpu_numbers = sp_nothing;
    c->h_gtpu_extension_1 = sp_nothing;
    c->h_gtpu_extension_2 = sp_nothing;
    c->h_gtpu_extension_3 = sp_nothing;
    c->h_gtpu_extension_4 = sp_nothing;
    c->h_gtpu_end = sp_nothing;
    c->h_inner_ipv4 = sp_nothing;
    c->h_inner_ipv4_options = sp_nothing;
    c->h_inner_ipv6 = p + 50;
    c->h_extension_1 = sp_nothing;
    c->h_extension_2 = sp_nothing;
    c->h_extension_3 = sp_nothing;
    c->h_extension_4 = sp_nothing;
    c->h_inner_ports = p + 90;
    c->n_ipv4_options = 0;
    c->n_gtpu_extension_1 = 0;
    c->n_gtpu_extension_2 = 0;
    c->n_gtpu_extension_3 = 0;
    c->n_gtpu_extension_4 = 0;
    c->n_inner_ipv4_options = 0;
    c->n_extension_1 = 0;
    c->n_extension_2 = 0;
    c->n_extension_3 = 0;
    c->n_extension_4 = 0;
}

static __attribute__((noinline)) void class_2_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_46 = 0;
    struct sp_wait *const wait_46 = &run->wait[21];
    uint32_t n_46 = wait_46->keys;
    uint32_t begin_46 = n_46;
    uint64_t word_46_0 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->keep = 0xffffffffu;
        c->v.meta_dst_v4 = 0u;
        c->v.meta_vrf = 0u;
        c->v.meta_group = 0u;
        c->v.meta_class_meter = 0u;
        c->v.meta_out_length = 0u;
        c->v.meta_mark = 0u;
        uint32_t meta_user_is_inner = 0u;
        uint32_t meta_ip_version = 0u;
        sp_u128 meta_src_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 meta_dst_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t meta_protocol = 0u;
        uint32_t meta_tos = 0u;
        uint32_t meta_src_port = 0u;
        uint32_t meta_dst_port = 0u;
        uint32_t meta_pdu_length = 0u;
        uint32_t meta_header_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t standard_metadata_checksum_error = 0u;
        uint32_t UpfIngress_user_packet_reason = 0u;
        uint32_t UpfIngress_user_packet_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel = 0u;
        uint32_t UpfIngress_user_packet_udp = 0u;
        uint32_t UpfIngress_user_packet_gtpu_end = 0u;
        uint32_t UpfIngress_user_packet_udp_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel_end = 0u;
        struct sp_sum sum1 = {0, 0, 0};
        sp_sum_bytes(&sum1, p + 14, 10);
        sp_sum_bytes(&sum1, p + 14 + 12, 8);
        if (((uint32_t)sp_csum16(&sum1) & 0xffff) != sp_ld16(p + 14 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        if (standard_metadata_checksum_error == 1u) {
            meta_reason = 0x11u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x11u, 0u);
            goto done;
        }
        UpfIngress_user_packet_reason = 0u;
        meta_user_is_inner = 1u;
        meta_ip_version = 6u;
        meta_src_v6 = sp_ld128(p + 50 + 8);
        meta_dst_v6 = sp_ld128(p + 50 + 24);
        meta_protocol = sp_ld8(p + 50 + 6);
        meta_tos = ((sp_ld16(p + 50) >> 4) & 0xff);
        meta_pdu_length = (sp_ld16(p + 50 + 4) + 0x28u);
        meta_header_length = 0x28u;
        meta_src_port = sp_ld16(p + 90);
        meta_dst_port = sp_ld16(p + 90 + 2);
        meta_header_length = 0x2cu;
        UpfIngress_user_packet_end = ((sp_ld16(p + 50 + 4) + 0x28u) + 0x32u);
        if ((((sp_ld16(p + 50 + 4) + 0x28u) + 0x32u) > ((uint32_t)pk->length)) || ((sp_ld16(p + 50 + 4) + 0x28u) < 0x2cu)) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        UpfIngress_user_packet_tunnel = 0xeu;
        UpfIngress_user_packet_udp = 0x22u;
        UpfIngress_user_packet_gtpu_end = (0x32u + sp_ld16(p + 42 + 2));
        UpfIngress_user_packet_udp_end = (0x22u + sp_ld16(p + 38));
        UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(p + 14 + 2));
        if ((((((sp_ld16(p + 50 + 4) + 0x28u) + 0x32u) > (0x32u + sp_ld16(p + 42 + 2))) || ((0x32u + sp_ld16(p + 42 + 2)) > (0x22u + sp_ld16(p + 38)))) || ((0x22u + sp_ld16(p + 38)) > (0xeu + sp_ld16(p + 14 + 2)))) || ((0xeu + sp_ld16(p + 14 + 2)) > ((uint32_t)pk->length))) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        const uint64_t x2 = (uint64_t)((uint32_t)pk->port & 0x1ff) << 48 | (uint64_t)(sp_ld64(p) >> 16);
        n_46 += (n_46 == begin_46) | (x2 != word_46_0);
        wait_46->key_of[i] = n_46 - 1;
        sp_st64(wait_46->bytes + (n_46 - 1) * 8 + 0, x2);
        word_46_0 = x2;
        to_46 |= bit;
        done:;
    }
    run->todo[46] |= to_46;
    wait_46->keys = n_46;
}


static __attribute__((noinline)) void class_2_stage_8_pdr_by_teid(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_54 = 0;
    uint64_t to_55 = 0;
    uint64_t to_58 = 0;
    uint64_t to_60 = 0;
    uint64_t to_61 = 0;
    uint64_t to_63 = 0;
    struct sp_wait *const wait_54 = &run->wait[29];
    uint32_t n_54 = wait_54->keys;
    uint32_t begin_54 = n_54;
    uint64_t word_54_0 = 0;
    struct sp_wait *const wait_55 = &run->wait[30];
    uint32_t n_55 = wait_55->keys;
    uint32_t begin_55 = n_55;
    uint64_t word_55_0 = 0;
    uint64_t word_55_1 = 0;
    uint64_t word_55_2 = 0;
    uint64_t word_55_3 = 0;
    uint64_t word_55_4 = 0;
    uint64_t word_55_5 = 0;
    struct sp_wait *const wait_58 = &run->wait[33];
    uint32_t n_58 = wait_58->keys;
    uint32_t begin_58 = n_58;
    uint64_t word_58_0 = 0;
    uint64_t word_58_1 = 0;
    uint64_t word_58_2 = 0;
    uint64_t word_58_3 = 0;
    uint64_t word_58_4 = 0;
    struct sp_wait *const wait_60 = &run->wait[35];
    uint32_t n_60 = wait_60->keys;
    uint32_t begin_60 = n_60;
    uint64_t word_60_0 = 0;
    uint64_t word_60_1 = 0;
    struct sp_wait *const wait_61 = &run->wait[36];
    uint32_t n_61 = wait_61->keys;
    uint32_t begin_61 = n_61;
    uint64_t word_61_0 = 0;
    uint64_t word_61_1 = 0;
    uint64_t word_61_2 = 0;
    struct sp_wait *const wait_63 = &run->wait[38];
    uint32_t n_63 = wait_63->keys;
    uint32_t begin_63 = n_63;
    uint64_t word_63_0 = 0;
    struct sp_table *const table_firewall_v6 = &run->lane->tables[TABLE_firewall_v6];
    const uint32_t skip_firewall_v6 = !table_firewall_v6->lookup && ((const struct record_firewall_v6 *)table_firewall_v6->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v6 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_teid];
    const struct sp_wait *const wait = &run->wait[28];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_teid *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10800e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_classified = 0u;
        uint32_t meta_group = 0u;
        uint32_t meta_filter_set = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0u;
        uint32_t UpfIngress_session_set_pdr_disposition = 0u;
        uint32_t UpfIngress_session_set_pdr_flags = 0u;
        uint32_t UpfIngress_session_set_pdr_usage = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0u;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0u;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0x0ull;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0u;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0u;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0u;
        uint32_t UpfIngress_session_classify_group = 0u;
        uint32_t UpfIngress_session_classify_filter_set = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        uint32_t UpfIngress_session_tmp_2 = 0u;
        UpfIngress_session_tmp_2 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_2) {
            const uint64_t x4 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_54 += (n_54 == begin_54) | (x4 != word_54_0);
            wait_54->key_of[i] = n_54 - 1;
            sp_st64(wait_54->bytes + (n_54 - 1) * 8 + 0, x4);
            word_54_0 = x4;
            to_54 |= bit;
            goto done;
        } else {
            goto node_11;
        }
        node_11:;
        if (meta_classified == 1u) {
            UpfIngress_session_remote_v4 = 0u;
            UpfIngress_session_local_v4 = 0u;
            UpfIngress_session_remote_v6 = sp_ld128(p + 50 + 24);
            UpfIngress_session_local_v6 = sp_ld128(p + 50 + 8);
            UpfIngress_session_remote_port = sp_ld16(p + 90 + 2);
            UpfIngress_session_local_port = sp_ld16(p + 90);
            UpfIngress_session_flow_label = (1 ? ((sp_ld32(p + 50 + 1) >> 8) & 0xfffff) : 0u);
            const sp_u128 x5 = sp_ld128(p + 50 + 24);
            const sp_u128 x6 = sp_ld128(p + 50 + 8);
            const uint64_t x7 = (uint64_t)meta_filter_set << 48 | (uint64_t)(x5 >> 80);
            const uint64_t x8 = (uint64_t)(x5 >> 16);
            const uint64_t x9 = (uint64_t)x5 << 48 | (uint64_t)(x6 >> 80);
            const uint64_t x10 = (uint64_t)(x6 >> 16);
            const uint64_t x11 = (uint64_t)x6 << 48 | (uint64_t)sp_ld8(p + 50 + 6) << 40 | (uint64_t)sp_ld16(p + 90 + 2) << 24 | (uint64_t)sp_ld16(p + 90) << 8 | (uint64_t)((sp_ld16(p + 50) >> 4) & 0xff);
            const uint64_t x12 = (uint64_t)(1 ? ((sp_ld32(p + 50 + 1) >> 8) & 0xfffff) : 0u) << 40 | (uint64_t)0u << 32;
            n_55 += (n_55 == begin_55) | (x7 != word_55_0) | (x8 != word_55_1) | (x9 != word_55_2) | (x10 != word_55_3) | (x11 != word_55_4) | (x12 != word_55_5);
            wait_55->key_of[i] = n_55 - 1;
            sp_st64(wait_55->bytes + (n_55 - 1) * 48 + 0, x7);
            word_55_0 = x7;
            sp_st64(wait_55->bytes + (n_55 - 1) * 48 + 8, x8);
            word_55_1 = x8;
            sp_st64(wait_55->bytes + (n_55 - 1) * 48 + 16, x9);
            word_55_2 = x9;
            sp_st64(wait_55->bytes + (n_55 - 1) * 48 + 24, x10);
            word_55_3 = x10;
            sp_st64(wait_55->bytes + (n_55 - 1) * 48 + 32, x11);
            word_55_4 = x11;
            sp_st64(wait_55->bytes + (n_55 - 1) * 48 + 40, x12);
            word_55_5 = x12;
            to_55 |= bit;
            goto done;
        } else {
            goto node_9;
        }
        node_9:;
        if (skip_firewall_v6) {
            skipped_firewall_v6++;
            goto node_8;
        }
        const sp_u128 x13 = sp_ld128(p + 50 + 8);
        const sp_u128 x14 = sp_ld128(p + 50 + 24);
        const uint64_t x15 = (uint64_t)meta_vrf << 48 | (uint64_t)(x13 >> 80);
        const uint64_t x16 = (uint64_t)(x13 >> 16);
        const uint64_t x17 = (uint64_t)x13 << 48 | (uint64_t)(x14 >> 80);
        const uint64_t x18 = (uint64_t)(x14 >> 16);
        const uint64_t x19 = (uint64_t)x14 << 48 | (uint64_t)sp_ld8(p + 50 + 6) << 40 | (uint64_t)sp_ld16(p + 90) << 24 | (uint64_t)sp_ld16(p + 90 + 2) << 8;
        n_58 += (n_58 == begin_58) | (x15 != word_58_0) | (x16 != word_58_1) | (x17 != word_58_2) | (x18 != word_58_3) | (x19 != word_58_4);
        wait_58->key_of[i] = n_58 - 1;
        sp_st64(wait_58->bytes + (n_58 - 1) * 40 + 0, x15);
        word_58_0 = x15;
        sp_st64(wait_58->bytes + (n_58 - 1) * 40 + 8, x16);
        word_58_1 = x16;
        sp_st64(wait_58->bytes + (n_58 - 1) * 40 + 16, x17);
        word_58_2 = x17;
        sp_st64(wait_58->bytes + (n_58 - 1) * 40 + 24, x18);
        word_58_3 = x18;
        sp_st64(wait_58->bytes + (n_58 - 1) * 40 + 32, x19);
        word_58_4 = x19;
        to_58 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_2_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + 50 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + 50 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + 50 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 50 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + 50 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + 50 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + 50 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 50 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + 50 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x20 = 0u;
        const uint64_t x21 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + 50) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x20 >> 16);
        const uint64_t x22 = (uint64_t)x20 << 48 | (uint64_t)sp_ld8(p + 50 + 6) << 40 | (uint64_t)sp_ld16(p + 90) << 24 | (uint64_t)sp_ld16(p + 90 + 2) << 8;
        n_60 += (n_60 == begin_60) | (x21 != word_60_0) | (x22 != word_60_1);
        wait_60->key_of[i] = n_60 - 1;
        sp_st64(wait_60->bytes + (n_60 - 1) * 16 + 0, x21);
        word_60_0 = x21;
        sp_st64(wait_60->bytes + (n_60 - 1) * 16 + 8, x22);
        word_60_1 = x22;
        to_60 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + 50 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + 50 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + 50 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x23 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_63 += (n_63 == begin_63) | (x23 != word_63_0);
            wait_63->key_of[i] = n_63 - 1;
            sp_st64(wait_63->bytes + (n_63 - 1) * 8 + 0, x23);
            word_63_0 = x23;
            to_63 |= bit;
            goto done;
        } else {
            const sp_u128 x24 = sp_ld128(p + 50 + 24);
            const uint64_t x25 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x24 >> 80);
            const uint64_t x26 = (uint64_t)(x24 >> 16);
            const uint64_t x27 = (uint64_t)x24 << 48;
            n_61 += (n_61 == begin_61) | (x25 != word_61_0) | (x26 != word_61_1) | (x27 != word_61_2);
            wait_61->key_of[i] = n_61 - 1;
            sp_st64(wait_61->bytes + (n_61 - 1) * 24 + 0, x25);
            word_61_0 = x25;
            sp_st64(wait_61->bytes + (n_61 - 1) * 24 + 8, x26);
            word_61_1 = x26;
            sp_st64(wait_61->bytes + (n_61 - 1) * 24 + 16, x27);
            word_61_2 = x27;
            to_61 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[54] |= to_54;
    run->todo[55] |= to_55;
    run->todo[58] |= to_58;
    run->todo[60] |= to_60;
    run->todo[61] |= to_61;
    run->todo[63] |= to_63;
    wait_54->keys = n_54;
    wait_55->keys = n_55;
    wait_58->keys = n_58;
    wait_60->keys = n_60;
    wait_61->keys = n_61;
    wait_63->keys = n_63;
    sp_looked_up(table_firewall_v6, 0, skipped_firewall_v6);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}








static __attribute__((noinline)) void class_2_stage_19_nexthop_others(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[39];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10800e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_pdu_length = (sp_ld16(p + 50 + 4) + 0x28u);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        uint32_t UpfIngress_route_send_vxlan_port = 0u;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_vni = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0u;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0u;
        uint32_t UpfIngress_route_send_vxlan_frame = 0u;
        uint32_t UpfIngress_route_unresolved_nexthop = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint64_t f_underlay_ethernet_0_dst = 0;
        uint64_t f_underlay_ethernet_1_src = 0;
        uint32_t f_underlay_ethernet_2_ethertype = 0;
        uint32_t f_underlay_ipv4_0_version = 0;
        uint32_t f_underlay_ipv4_1_ihl = 0;
        uint32_t f_underlay_ipv4_2_tos = 0;
        uint32_t f_underlay_ipv4_3_total_length = 0;
        uint32_t f_underlay_ipv4_4_identification = 0;
        uint32_t f_underlay_ipv4_5_reserved = 0;
        uint32_t f_underlay_ipv4_6_dont_fragment = 0;
        uint32_t f_underlay_ipv4_7_more_fragments = 0;
        uint32_t f_underlay_ipv4_8_fragment_offset = 0;
        uint32_t f_underlay_ipv4_9_ttl = 0;
        uint32_t f_underlay_ipv4_10_protocol = 0;
        uint32_t f_underlay_ipv4_11_checksum = 0;
        uint32_t f_underlay_ipv4_12_src = 0;
        uint32_t f_underlay_ipv4_13_dst = 0;
        uint32_t f_underlay_udp_0_src = 0;
        uint32_t f_underlay_udp_1_dst = 0;
        uint32_t f_underlay_udp_2_length = 0;
        uint32_t f_underlay_udp_3_checksum = 0;
        uint32_t f_vxlan_0_flags = 0;
        uint32_t f_vxlan_1_reserved = 0;
        uint32_t f_vxlan_2_vni = 0;
        uint32_t f_vxlan_3_reserved2 = 0;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port;
                sp_st48(p + 6, UpfIngress_route_send_vxlan_src_mac);
                sp_st48(p, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                f_underlay_ethernet_0_dst = f_underlay_ethernet_1_src = f_underlay_ethernet_2_ethertype = 0;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x66 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                f_underlay_ethernet_0_dst = x66;
                const uint64_t x67 = UpfIngress_route_send_vxlan_underlay_src_mac;
                f_underlay_ethernet_1_src = x67;
                f_underlay_ethernet_2_ethertype = 0x800u;
                f_underlay_ipv4_0_version = f_underlay_ipv4_1_ihl = f_underlay_ipv4_2_tos = f_underlay_ipv4_3_total_length = f_underlay_ipv4_4_identification = f_underlay_ipv4_5_reserved = f_underlay_ipv4_6_dont_fragment = f_underlay_ipv4_7_more_fragments = f_underlay_ipv4_8_fragment_offset = f_underlay_ipv4_9_ttl = f_underlay_ipv4_10_protocol = f_underlay_ipv4_11_checksum = f_underlay_ipv4_12_src = f_underlay_ipv4_13_dst = 0;
                valid |= SP_BIT(V_underlay_ipv4);
                f_underlay_ipv4_0_version = 4u;
                f_underlay_ipv4_1_ihl = 5u;
                f_underlay_ipv4_2_tos = 0u;
                f_underlay_ipv4_4_identification = 0u;
                f_underlay_ipv4_5_reserved = 0u;
                f_underlay_ipv4_7_more_fragments = 0u;
                f_underlay_ipv4_8_fragment_offset = 0u;
                f_underlay_ipv4_11_checksum = 0u;
                const uint32_t x68 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                f_underlay_ipv4_3_total_length = x68;
                f_underlay_ipv4_6_dont_fragment = 1u;
                f_underlay_ipv4_9_ttl = 0x40u;
                f_underlay_ipv4_10_protocol = 0x11u;
                f_underlay_ipv4_12_src = UpfIngress_route_send_vxlan_vtep_src;
                f_underlay_ipv4_13_dst = UpfIngress_route_send_vxlan_vtep_dst;
                f_underlay_udp_0_src = f_underlay_udp_1_dst = f_underlay_udp_2_length = f_underlay_udp_3_checksum = 0;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x69 = (((meta_dst_v4 & 0xffff) ^ sp_ld16(p + 90)) | 0xc000u);
                f_underlay_udp_0_src = x69;
                f_underlay_udp_1_dst = 0x12b5u;
                const uint32_t x70 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                f_underlay_udp_2_length = x70;
                f_underlay_udp_3_checksum = 0u;
                f_vxlan_0_flags = f_vxlan_1_reserved = f_vxlan_2_vni = f_vxlan_3_reserved2 = 0;
                valid |= SP_BIT(V_vxlan);
                f_vxlan_0_flags = 8u;
                f_vxlan_2_vni = UpfIngress_route_send_vxlan_vni;
                f_vxlan_1_reserved = 0u;
                f_vxlan_3_reserved2 = 0u;
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u;
                standard_metadata_egress_spec = 0x1feu;
                class_2_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 50 + 7);
            if (sp_ld8(p + 50 + 7) <= 1u) {
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_2_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - (sp_ld16(p + 50 + 4) + 0x28u)) & 0xffff)) & 0xffff);
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_2_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            sp_st8(p + 50 + 7, ((sp_ld8(p + 50 + 7) - 1u) & 0xff));
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x86ddu);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x71 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x71;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x72 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x72;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x73 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x73;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0x40u);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum74 = {0, 0, 0};
            sp_sum_value(&sum74, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum74, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum74, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum74, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum74, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum74, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum74, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum74, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum74, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum74, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum74, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum74, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum74, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum74) & 0xffff);
        }
        struct sp_sum sum75 = {0, 0, 0};
        sp_sum_value(&sum75, f_underlay_ipv4_0_version, 4);
        sp_sum_value(&sum75, f_underlay_ipv4_1_ihl, 4);
        sp_sum_value(&sum75, f_underlay_ipv4_2_tos, 8);
        sp_sum_value(&sum75, f_underlay_ipv4_3_total_length, 16);
        sp_sum_value(&sum75, f_underlay_ipv4_4_identification, 16);
        sp_sum_value(&sum75, f_underlay_ipv4_5_reserved, 1);
        sp_sum_value(&sum75, f_underlay_ipv4_6_dont_fragment, 1);
        sp_sum_value(&sum75, f_underlay_ipv4_7_more_fragments, 1);
        sp_sum_value(&sum75, f_underlay_ipv4_8_fragment_offset, 13);
        sp_sum_value(&sum75, f_underlay_ipv4_9_ttl, 8);
        sp_sum_value(&sum75, f_underlay_ipv4_10_protocol, 8);
        sp_sum_value(&sum75, f_underlay_ipv4_12_src, 32);
        sp_sum_value(&sum75, f_underlay_ipv4_13_dst, 32);
        f_underlay_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum75) & 0xffff);
        /* deparser */
        if (valid == 0x1080003ffull) {
            if (pk->start < 58 || pk->length + 58 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b76_0_0; __builtin_memcpy(&b76_0_0, p, 4);
            sp_block2 b76_1_0; __builtin_memcpy(&b76_1_0, p + 4, 2);
            sp_block4 b76_2_0; __builtin_memcpy(&b76_2_0, p + 6, 4);
            sp_block2 b76_3_0; __builtin_memcpy(&b76_3_0, p + 10, 2);
            sp_block2 b76_4_0; __builtin_memcpy(&b76_4_0, p + 12, 2);
            __builtin_memcpy(p - 8, &b76_0_0, 4);
            __builtin_memcpy(p - 4, &b76_1_0, 2);
            __builtin_memcpy(p - 2, &b76_2_0, 4);
            __builtin_memcpy(p + 2, &b76_3_0, 2);
            __builtin_memcpy(p + 4, &b76_4_0, 2);
            sp_st64(p - 58, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 50, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 46, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 44, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 36, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 28, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 24, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 16, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 6, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 22, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 26, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 34, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 42, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 46, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 58;
            pk->length += 58;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1080000ffull) {
            if (pk->start < 50 || pk->length + 50 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_st64(p - 50, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 42, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 36, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 28, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 20, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 16, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 8, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 50;
            pk->length += 50;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->start < 14 || pk->length + 14 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        sp_block4 b78_0_0; __builtin_memcpy(&b78_0_0, p, 4);
        sp_block2 b78_1_0; __builtin_memcpy(&b78_1_0, p + 4, 2);
        sp_block4 b78_2_0; __builtin_memcpy(&b78_2_0, p + 6, 4);
        sp_block2 b78_3_0; __builtin_memcpy(&b78_3_0, p + 10, 2);
        sp_block2 b78_4_0; __builtin_memcpy(&b78_4_0, p + 12, 2);
        __builtin_memcpy(p + 36, &b78_0_0, 4);
        __builtin_memcpy(p + 40, &b78_1_0, 2);
        __builtin_memcpy(p + 42, &b78_2_0, 4);
        __builtin_memcpy(p + 46, &b78_3_0, 2);
        __builtin_memcpy(p + 48, &b78_4_0, 2);
        sp_st64(p - 14, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
        sp_st32(p - 6, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
        sp_st16(p - 2, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
        sp_st64(p + 0, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
        sp_st64(p + 8, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
        sp_st32(p + 16, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
        sp_st64(p + 20, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
        sp_st64(p + 28, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
        pk->start -= 14;
        pk->length += 14;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void class_2_stage_19_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[39];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    uint32_t others = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        if (__builtin_expect(r->action != ACTION_send, 0)) {
            const uint64_t row = sp_row(wait, table, left, ACTION_send);
            
            class_2_stage_19_nexthop_others(run, row);
            
            others += __builtin_popcountll(row);
            left &= ~row | bit;
            continue;
        }
        found += hit;
        uint64_t valid = 0x10800e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = (sp_ld16(p + 50 + 4) + 0x28u);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_send_port = 0u;
        uint64_t UpfIngress_route_send_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_mtu = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_port;
                sp_st48(p + 6, UpfIngress_route_send_src_mac);
                sp_st48(p, UpfIngress_route_send_dst_mac);
                break;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 50 + 7);
            if (sp_ld8(p + 50 + 7) <= 1u) {
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_2_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - (sp_ld16(p + 50 + 4) + 0x28u)) & 0xffff)) & 0xffff);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_2_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)(sp_ld16(p + 50 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            sp_st8(p + 50 + 7, ((sp_ld8(p + 50 + 7) - 1u) & 0xff));
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x86ddu);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x59 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x59;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x60 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x60;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x61 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x61;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0xeu);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum62 = {0, 0, 0};
            sp_sum_value(&sum62, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum62, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum62, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum62, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum62, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum62, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum62, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum62, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum62, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum62, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum62, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum62, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum62, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum62) & 0xffff);
        }
        /* deparser */
        if (valid == 0x1080003f0ull) {
            if (pk->start < 8 || pk->length + 8 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b63_0_0; __builtin_memcpy(&b63_0_0, p, 4);
            sp_block2 b63_1_0; __builtin_memcpy(&b63_1_0, p + 4, 2);
            sp_block4 b63_2_0; __builtin_memcpy(&b63_2_0, p + 6, 4);
            sp_block2 b63_3_0; __builtin_memcpy(&b63_3_0, p + 10, 2);
            sp_block2 b63_4_0; __builtin_memcpy(&b63_4_0, p + 12, 2);
            __builtin_memcpy(p - 8, &b63_0_0, 4);
            __builtin_memcpy(p - 4, &b63_1_0, 2);
            __builtin_memcpy(p - 2, &b63_2_0, 4);
            __builtin_memcpy(p + 2, &b63_3_0, 2);
            __builtin_memcpy(p + 4, &b63_4_0, 2);
            sp_st64(p + 6, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 22, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 26, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 34, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 42, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 46, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 8;
            pk->length += 8;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1080000f0ull) {
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        sp_block4 b65_0_0; __builtin_memcpy(&b65_0_0, p, 4);
        sp_block2 b65_1_0; __builtin_memcpy(&b65_1_0, p + 4, 2);
        sp_block4 b65_2_0; __builtin_memcpy(&b65_2_0, p + 6, 4);
        sp_block2 b65_3_0; __builtin_memcpy(&b65_3_0, p + 10, 2);
        sp_block2 b65_4_0; __builtin_memcpy(&b65_4_0, p + 12, 2);
        __builtin_memcpy(p + 36, &b65_0_0, 4);
        __builtin_memcpy(p + 40, &b65_1_0, 2);
        __builtin_memcpy(p + 42, &b65_2_0, 4);
        __builtin_memcpy(p + 46, &b65_3_0, 2);
        __builtin_memcpy(p + 48, &b65_4_0, 2);
        pk->start += 36;
        pk->length -= 36;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - others - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline, cold)) void class_3_leave_0(struct sp_context *const c, uint8_t *const p)
{
    c->payload = p + 82;
    c->h_underlay_ethernet = sp_nothing;
    c->h_underlay_ipv4 = sp_nothing;
    c->h_underlay_udp = sp_nothing;
    c->h_vxlan = sp_nothing;
    c->h_ethernet = p;
    c->h_ipv4 = p + 14;
    c->h_ipv4_options = sp_nothing;
    c->h_ipv6 = sp_nothing;
    c->h_ports = p + 34;
    c->h_udp_rest = p + 38;
    c->h_gtpu = p + 42;
    c->h_gtpu_optional = p + 50;
    c->h_gtpu_psc = p + 54;
    c->h_gtpu_numbers = sp_nothing;
    c->h_gtpu_extension_1 = sp_nothing;
    c->h_gtpu_extension_2 = sp_nothing;
    c->h_gtpu_extension_3 = sp_nothing;
    c->h_gtpu_extension_4 = sp_nothing;
    c->h_gtpu_end = sp_nothing;
    c->h_inner_ipv4 = p + 58;
    c->h_inner_ipv4_options = sp_nothing;
    c->h_inner_ipv6 = sp_nothing;
    c->h_extension_1 = sp_nothing;
    c->h_extension_2 = sp_nothing;
    c->h_extension_3 = sp_nothing;
    c->h_extension_4 = sp_nothing;
    c->h_inner_ports = p + 78;
    c->n_ipv4_options = 0;
    c->n_gtpu_extension_1 = 0;
    c->n_gtpu_extension_2 = 0;
    c->n_gtpu_extension_3 = 0;
    c->n_gtpu_extension_4 = 0;
    c->n_inner_ipv4_options = 0;
    c->n_extension_1 = 0;
    c->n_extension_2 = 0;
    c->n_extension_3 = 0;
    c->n_extension_4 = 0;
}

static __attribute__((noinline)) void class_3_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_66 = 0;
    struct sp_wait *const wait_66 = &run->wait[41];
    uint32_t n_66 = wait_66->keys;
    uint32_t begin_66 = n_66;
    uint64_t word_66_0 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->keep = 0xffffffffu;
        c->v.meta_dst_v4 = 0u;
        c->v.meta_relayed_bytes = 0u;
        c->v.meta_new_container = 0u;
        c->v.meta_vrf = 0u;
        c->v.meta_loopback = 0u;
        c->v.meta_group = 0u;
        c->v.meta_class_meter = 0u;
        c->v.meta_out_length = 0u;
        c->v.meta_mark = 0u;
        uint32_t meta_user_is_inner = 0u;
        uint32_t meta_ip_version = 0u;
        uint32_t meta_src_v4 = 0u;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_protocol = 0u;
        uint32_t meta_tos = 0u;
        uint32_t meta_src_port = 0u;
        uint32_t meta_dst_port = 0u;
        uint32_t meta_pdu_length = 0u;
        uint32_t meta_header_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t standard_metadata_checksum_error = 0u;
        uint32_t UpfIngress_user_packet_reason = 0u;
        uint32_t UpfIngress_user_packet_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel = 0u;
        uint32_t UpfIngress_user_packet_udp = 0u;
        uint32_t UpfIngress_user_packet_gtpu_end = 0u;
        uint32_t UpfIngress_user_packet_udp_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel_end = 0u;
        struct sp_sum sum1 = {0, 0, 0};
        sp_sum_bytes(&sum1, p + 14, 10);
        sp_sum_bytes(&sum1, p + 14 + 12, 8);
        if (((uint32_t)sp_csum16(&sum1) & 0xffff) != sp_ld16(p + 14 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        struct sp_sum sum2 = {0, 0, 0};
        sp_sum_bytes(&sum2, p + 58, 10);
        sp_sum_bytes(&sum2, p + 58 + 12, 8);
        if (((uint32_t)sp_csum16(&sum2) & 0xffff) != sp_ld16(p + 58 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        if (standard_metadata_checksum_error == 1u) {
            meta_reason = 0x11u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x11u, 0u);
            goto done;
        }
        UpfIngress_user_packet_reason = 0u;
        meta_user_is_inner = 1u;
        meta_ip_version = 4u;
        meta_src_v4 = sp_ld32(p + 58 + 12);
        meta_dst_v4 = sp_ld32(p + 58 + 16); c->v.meta_dst_v4 = meta_dst_v4;
        meta_protocol = sp_ld8(p + 58 + 9);
        meta_tos = sp_ld8(p + 58 + 1);
        meta_pdu_length = sp_ld16(p + 58 + 2);
        meta_header_length = 0x14u;
        meta_src_port = sp_ld16(p + 78);
        meta_dst_port = sp_ld16(p + 78 + 2);
        meta_header_length = 0x18u;
        UpfIngress_user_packet_end = (sp_ld16(p + 58 + 2) + 0x3au);
        if (((sp_ld16(p + 58 + 2) + 0x3au) > ((uint32_t)pk->length)) || (sp_ld16(p + 58 + 2) < 0x18u)) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        UpfIngress_user_packet_tunnel = 0xeu;
        UpfIngress_user_packet_udp = 0x22u;
        UpfIngress_user_packet_gtpu_end = (0x32u + sp_ld16(p + 42 + 2));
        UpfIngress_user_packet_udp_end = (0x22u + sp_ld16(p + 38));
        UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(p + 14 + 2));
        if (((((sp_ld16(p + 58 + 2) + 0x3au) > (0x32u + sp_ld16(p + 42 + 2))) || ((0x32u + sp_ld16(p + 42 + 2)) > (0x22u + sp_ld16(p + 38)))) || ((0x22u + sp_ld16(p + 38)) > (0xeu + sp_ld16(p + 14 + 2)))) || ((0xeu + sp_ld16(p + 14 + 2)) > ((uint32_t)pk->length))) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        const uint64_t x3 = (uint64_t)((uint32_t)pk->port & 0x1ff) << 48 | (uint64_t)(sp_ld64(p) >> 16);
        n_66 += (n_66 == begin_66) | (x3 != word_66_0);
        wait_66->key_of[i] = n_66 - 1;
        sp_st64(wait_66->bytes + (n_66 - 1) * 8 + 0, x3);
        word_66_0 = x3;
        to_66 |= bit;
        done:;
    }
    run->todo[66] |= to_66;
    wait_66->keys = n_66;
}


static __attribute__((noinline)) void class_3_stage_8_pdr_by_teid(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_74 = 0;
    uint64_t to_76 = 0;
    uint64_t to_79 = 0;
    uint64_t to_80 = 0;
    uint64_t to_82 = 0;
    uint64_t to_83 = 0;
    struct sp_wait *const wait_74 = &run->wait[49];
    uint32_t n_74 = wait_74->keys;
    uint32_t begin_74 = n_74;
    uint64_t word_74_0 = 0;
    struct sp_wait *const wait_76 = &run->wait[51];
    uint32_t n_76 = wait_76->keys;
    uint32_t begin_76 = n_76;
    uint64_t word_76_0 = 0;
    uint64_t word_76_1 = 0;
    uint64_t word_76_2 = 0;
    struct sp_wait *const wait_79 = &run->wait[54];
    uint32_t n_79 = wait_79->keys;
    uint32_t begin_79 = n_79;
    uint64_t word_79_0 = 0;
    uint64_t word_79_1 = 0;
    struct sp_wait *const wait_80 = &run->wait[55];
    uint32_t n_80 = wait_80->keys;
    uint32_t begin_80 = n_80;
    uint64_t word_80_0 = 0;
    uint64_t word_80_1 = 0;
    struct sp_wait *const wait_82 = &run->wait[57];
    uint32_t n_82 = wait_82->keys;
    uint32_t begin_82 = n_82;
    uint64_t word_82_0 = 0;
    struct sp_wait *const wait_83 = &run->wait[58];
    uint32_t n_83 = wait_83->keys;
    uint32_t begin_83 = n_83;
    uint64_t word_83_0 = 0;
    struct sp_table *const table_firewall_v4 = &run->lane->tables[TABLE_firewall_v4];
    const uint32_t skip_firewall_v4 = !table_firewall_v4->lookup && ((const struct record_firewall_v4 *)table_firewall_v4->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v4 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_teid];
    const struct sp_wait *const wait = &run->wait[48];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_teid *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10203e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + 58 + 16);
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_classified = 0u;
        uint32_t meta_group = 0u;
        uint32_t meta_filter_set = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0u;
        uint32_t UpfIngress_session_set_pdr_disposition = 0u;
        uint32_t UpfIngress_session_set_pdr_flags = 0u;
        uint32_t UpfIngress_session_set_pdr_usage = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0u;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0u;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0x0ull;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0u;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0u;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0u;
        uint32_t UpfIngress_session_classify_group = 0u;
        uint32_t UpfIngress_session_classify_filter_set = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_tmp_2 = 0u;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        UpfIngress_session_tmp_2 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_2) {
            const uint64_t x5 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_74 += (n_74 == begin_74) | (x5 != word_74_0);
            wait_74->key_of[i] = n_74 - 1;
            sp_st64(wait_74->bytes + (n_74 - 1) * 8 + 0, x5);
            word_74_0 = x5;
            to_74 |= bit;
            goto done;
        } else {
            goto node_11;
        }
        node_11:;
        if (meta_classified == 1u) {
            UpfIngress_session_remote_v4 = sp_ld32(p + 58 + 16);
            UpfIngress_session_local_v4 = sp_ld32(p + 58 + 12);
            UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            UpfIngress_session_remote_port = sp_ld16(p + 78 + 2);
            UpfIngress_session_local_port = sp_ld16(p + 78);
            const uint32_t x6 = sp_ld32(p + 58 + 12);
            const uint64_t x7 = (uint64_t)meta_filter_set << 48 | (uint64_t)sp_ld32(p + 58 + 16) << 16 | (uint64_t)(x6 >> 16);
            const uint64_t x8 = (uint64_t)x6 << 48 | (uint64_t)sp_ld8(p + 58 + 9) << 40 | (uint64_t)sp_ld16(p + 78 + 2) << 24 | (uint64_t)sp_ld16(p + 78) << 8 | (uint64_t)sp_ld8(p + 58 + 1);
            const uint64_t x9 = (uint64_t)(sp_ld8(p + 54 + 2) & 0x3f) << 56;
            n_76 += (n_76 == begin_76) | (x7 != word_76_0) | (x8 != word_76_1) | (x9 != word_76_2);
            wait_76->key_of[i] = n_76 - 1;
            sp_st64(wait_76->bytes + (n_76 - 1) * 24 + 0, x7);
            word_76_0 = x7;
            sp_st64(wait_76->bytes + (n_76 - 1) * 24 + 8, x8);
            word_76_1 = x8;
            sp_st64(wait_76->bytes + (n_76 - 1) * 24 + 16, x9);
            word_76_2 = x9;
            to_76 |= bit;
            goto done;
        } else {
            goto node_9;
        }
        node_9:;
        if (skip_firewall_v4) {
            skipped_firewall_v4++;
            goto node_8;
        }
        const uint32_t x10 = sp_ld32(p + 58 + 16);
        const uint64_t x11 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 58 + 12) << 16 | (uint64_t)(x10 >> 16);
        const uint64_t x12 = (uint64_t)x10 << 48 | (uint64_t)sp_ld8(p + 58 + 9) << 40 | (uint64_t)sp_ld16(p + 78) << 24 | (uint64_t)sp_ld16(p + 78 + 2) << 8;
        n_79 += (n_79 == begin_79) | (x11 != word_79_0) | (x12 != word_79_1);
        wait_79->key_of[i] = n_79 - 1;
        sp_st64(wait_79->bytes + (n_79 - 1) * 16 + 0, x11);
        word_79_0 = x11;
        sp_st64(wait_79->bytes + (n_79 - 1) * 16 + 8, x12);
        word_79_1 = x12;
        to_79 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_3_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + 58 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + 58 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + 58 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + 58 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 58 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + 58 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + 58 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + 58 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + 58 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + 58 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x13 = sp_ld32(p + 58 + 16);
        const uint64_t x14 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + 58 + 1) << 48 | (uint64_t)sp_ld32(p + 58 + 12) << 16 | (uint64_t)(x13 >> 16);
        const uint64_t x15 = (uint64_t)x13 << 48 | (uint64_t)sp_ld8(p + 58 + 9) << 40 | (uint64_t)sp_ld16(p + 78) << 24 | (uint64_t)sp_ld16(p + 78 + 2) << 8;
        n_80 += (n_80 == begin_80) | (x14 != word_80_0) | (x15 != word_80_1);
        wait_80->key_of[i] = n_80 - 1;
        sp_st64(wait_80->bytes + (n_80 - 1) * 16 + 0, x14);
        word_80_0 = x14;
        sp_st64(wait_80->bytes + (n_80 - 1) * 16 + 8, x15);
        word_80_1 = x15;
        to_80 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + 58 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + 58 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + 58 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x16 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_83 += (n_83 == begin_83) | (x16 != word_83_0);
            wait_83->key_of[i] = n_83 - 1;
            sp_st64(wait_83->bytes + (n_83 - 1) * 8 + 0, x16);
            word_83_0 = x16;
            to_83 |= bit;
            goto done;
        } else {
            const uint64_t x17 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + 58 + 16) << 16;
            n_82 += (n_82 == begin_82) | (x17 != word_82_0);
            wait_82->key_of[i] = n_82 - 1;
            sp_st64(wait_82->bytes + (n_82 - 1) * 8 + 0, x17);
            word_82_0 = x17;
            to_82 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[74] |= to_74;
    run->todo[76] |= to_76;
    run->todo[79] |= to_79;
    run->todo[80] |= to_80;
    run->todo[82] |= to_82;
    run->todo[83] |= to_83;
    wait_74->keys = n_74;
    wait_76->keys = n_76;
    wait_79->keys = n_79;
    wait_80->keys = n_80;
    wait_82->keys = n_82;
    wait_83->keys = n_83;
    sp_looked_up(table_firewall_v4, 0, skipped_firewall_v4);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}







static __attribute__((noinline)) void class_3_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_84 = 0;
    struct sp_wait *const wait_84 = &run->wait[59];
    uint32_t n_84 = wait_84->keys;
    uint32_t begin_84 = n_84;
    uint64_t word_84_0 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv4];
    const struct sp_wait *const wait = &run->wait[58];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_route_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_relayed_bytes = 0u;
        uint32_t meta_container_bytes = 0u;
        uint32_t meta_new_container = 0u;
        uint32_t meta_nexthop = 0u;
        uint32_t meta_out_length = 0;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        meta_relayed_bytes = 4u; c->v.meta_relayed_bytes = meta_relayed_bytes;
        meta_container_bytes = 4u;
        if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
            meta_relayed_bytes = 0u; c->v.meta_relayed_bytes = meta_relayed_bytes;
            meta_container_bytes = 0u;
        }
        if (((rule_set_pdr->set_pdr.encapsulation_9) != 1u) && (meta_container_bytes == 0u)) {
            meta_new_container = 1u; c->v.meta_new_container = meta_new_container;
            meta_relayed_bytes = ((meta_relayed_bytes + 4u) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
        }
        meta_out_length = ((sp_ld16(p + 58 + 2) + 0x24u) + meta_relayed_bytes); c->v.meta_out_length = meta_out_length;
        if (((meta_relayed_bytes != 0u) || (((sp_ld8(p + 42) >> 1) & 0x1) == 1u)) || ((sp_ld8(p + 42) & 0x1) == 1u)) {
            meta_out_length = (meta_out_length + 4u); c->v.meta_out_length = meta_out_length;
        }
        const uint64_t x35 = (uint64_t)meta_nexthop << 48;
        n_84 += (n_84 == begin_84) | (x35 != word_84_0);
        wait_84->key_of[i] = n_84 - 1;
        sp_st64(wait_84->bytes + (n_84 - 1) * 8 + 0, x35);
        word_84_0 = x35;
        to_84 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[84] |= to_84;
    wait_84->keys = n_84;
}

static __attribute__((noinline)) void class_3_stage_19_nexthop_others(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[59];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10203e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_pdu_length = sp_ld16(p + 58 + 2);
        uint32_t meta_relayed_bytes = c->v.meta_relayed_bytes;
        uint32_t meta_new_container = c->v.meta_new_container;
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        uint32_t UpfIngress_route_send_vxlan_port = 0u;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_vni = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0u;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0u;
        uint32_t UpfIngress_route_send_vxlan_frame = 0u;
        uint32_t UpfIngress_route_unresolved_nexthop = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_relay_pdu_type = 0u;
        uint32_t UpfIngress_tunnel_relay_qfi = 0u;
        uint32_t UpfIngress_tunnel_relay_kept = 0u;
        uint32_t UpfIngress_tunnel_relay_empty = 0u;
        uint64_t f_underlay_ethernet_0_dst = 0;
        uint64_t f_underlay_ethernet_1_src = 0;
        uint32_t f_underlay_ethernet_2_ethertype = 0;
        uint32_t f_underlay_ipv4_0_version = 0;
        uint32_t f_underlay_ipv4_1_ihl = 0;
        uint32_t f_underlay_ipv4_2_tos = 0;
        uint32_t f_underlay_ipv4_3_total_length = 0;
        uint32_t f_underlay_ipv4_4_identification = 0;
        uint32_t f_underlay_ipv4_5_reserved = 0;
        uint32_t f_underlay_ipv4_6_dont_fragment = 0;
        uint32_t f_underlay_ipv4_7_more_fragments = 0;
        uint32_t f_underlay_ipv4_8_fragment_offset = 0;
        uint32_t f_underlay_ipv4_9_ttl = 0;
        uint32_t f_underlay_ipv4_10_protocol = 0;
        uint32_t f_underlay_ipv4_11_checksum = 0;
        uint32_t f_underlay_ipv4_12_src = 0;
        uint32_t f_underlay_ipv4_13_dst = 0;
        uint32_t f_underlay_udp_0_src = 0;
        uint32_t f_underlay_udp_1_dst = 0;
        uint32_t f_underlay_udp_2_length = 0;
        uint32_t f_underlay_udp_3_checksum = 0;
        uint32_t f_vxlan_0_flags = 0;
        uint32_t f_vxlan_1_reserved = 0;
        uint32_t f_vxlan_2_vni = 0;
        uint32_t f_vxlan_3_reserved2 = 0;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        switch (r->action) {
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port;
                sp_st48(p + 6, UpfIngress_route_send_vxlan_src_mac);
                sp_st48(p, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                f_underlay_ethernet_0_dst = f_underlay_ethernet_1_src = f_underlay_ethernet_2_ethertype = 0;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x46 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                f_underlay_ethernet_0_dst = x46;
                const uint64_t x47 = UpfIngress_route_send_vxlan_underlay_src_mac;
                f_underlay_ethernet_1_src = x47;
                f_underlay_ethernet_2_ethertype = 0x800u;
                f_underlay_ipv4_0_version = f_underlay_ipv4_1_ihl = f_underlay_ipv4_2_tos = f_underlay_ipv4_3_total_length = f_underlay_ipv4_4_identification = f_underlay_ipv4_5_reserved = f_underlay_ipv4_6_dont_fragment = f_underlay_ipv4_7_more_fragments = f_underlay_ipv4_8_fragment_offset = f_underlay_ipv4_9_ttl = f_underlay_ipv4_10_protocol = f_underlay_ipv4_11_checksum = f_underlay_ipv4_12_src = f_underlay_ipv4_13_dst = 0;
                valid |= SP_BIT(V_underlay_ipv4);
                f_underlay_ipv4_0_version = 4u;
                f_underlay_ipv4_1_ihl = 5u;
                f_underlay_ipv4_2_tos = 0u;
                f_underlay_ipv4_4_identification = 0u;
                f_underlay_ipv4_5_reserved = 0u;
                f_underlay_ipv4_7_more_fragments = 0u;
                f_underlay_ipv4_8_fragment_offset = 0u;
                f_underlay_ipv4_11_checksum = 0u;
                const uint32_t x48 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                f_underlay_ipv4_3_total_length = x48;
                f_underlay_ipv4_6_dont_fragment = 1u;
                f_underlay_ipv4_9_ttl = 0x40u;
                f_underlay_ipv4_10_protocol = 0x11u;
                f_underlay_ipv4_12_src = UpfIngress_route_send_vxlan_vtep_src;
                f_underlay_ipv4_13_dst = UpfIngress_route_send_vxlan_vtep_dst;
                f_underlay_udp_0_src = f_underlay_udp_1_dst = f_underlay_udp_2_length = f_underlay_udp_3_checksum = 0;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x49 = (((meta_dst_v4 & 0xffff) ^ sp_ld16(p + 78)) | 0xc000u);
                f_underlay_udp_0_src = x49;
                f_underlay_udp_1_dst = 0x12b5u;
                const uint32_t x50 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                f_underlay_udp_2_length = x50;
                f_underlay_udp_3_checksum = 0u;
                f_vxlan_0_flags = f_vxlan_1_reserved = f_vxlan_2_vni = f_vxlan_3_reserved2 = 0;
                valid |= SP_BIT(V_vxlan);
                f_vxlan_0_flags = 8u;
                f_vxlan_2_vni = UpfIngress_route_send_vxlan_vni;
                f_vxlan_1_reserved = 0u;
                f_vxlan_3_reserved2 = 0u;
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u;
                standard_metadata_egress_spec = 0x1feu;
                class_3_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 58 + 8);
            if (sp_ld8(p + 58 + 8) <= 1u) {
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_3_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - sp_ld16(p + 58 + 2)) & 0xffff)) & 0xffff);
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_3_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(p + 58 + 8);
            UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(p + 58 + 10);
            UpfIngress_tunnel_decrement_ipv4_ttl = ((sp_ld8(p + 58 + 8) - 1u) & 0xff);
            UpfIngress_tunnel_decrement_ipv4_sum = ((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff);
            UpfIngress_tunnel_decrement_ipv4_checksum = ((((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff) >= 0xffffu) ? (((((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff) & 0xffff) + 1u) & 0xffff) : (((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff) & 0xffff));
            sp_st8(p + 58 + 8, ((sp_ld8(p + 58 + 8) - 1u) & 0xff));
            const uint32_t x51 = UpfIngress_tunnel_decrement_ipv4_checksum;
            sp_st16(p + 58 + 10, x51);
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x800u);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
            valid &= ~SP_BIT(V_gtpu_optional);
            valid &= ~SP_BIT(V_gtpu_psc);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x52 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x52;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x53 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x53;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            UpfIngress_tunnel_relay_pdu_type = 0u;
            UpfIngress_tunnel_relay_qfi = 0u;
            UpfIngress_tunnel_relay_kept = 0xffu;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_relay_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 0x10u : 0u);
                if (((rule_set_pdr->set_pdr.flags_2) & 0x40u) == 0u) {
                    UpfIngress_tunnel_relay_qfi = rule_set_pdr->set_pdr.psc_qos_13;
                    UpfIngress_tunnel_relay_kept = 0xc0u;
                }
            }
            f_tunnel_gtpu_3_has_extension = ((meta_relayed_bytes == 0u) ? 0u : 1u);
            f_tunnel_gtpu_4_has_sequence = ((sp_ld8(p + 42) >> 1) & 0x1);
            f_tunnel_gtpu_5_has_npdu = (sp_ld8(p + 42) & 0x1);
            UpfIngress_tunnel_relay_empty = (((meta_relayed_bytes == 0u) && (((sp_ld8(p + 42) >> 1) & 0x1) == 0u)) && ((sp_ld8(p + 42) & 0x1) == 0u));
            if (meta_new_container == 1u) {
                const uint32_t x54 = ((UpfIngress_tunnel_relay_pdu_type >> 4) & 0xf);
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xfu) | ((uint32_t)(x54) << 4));
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xf0u) | (uint32_t)(0u));
                sp_st8(p + 54 + 2, rule_set_pdr->set_pdr.psc_qos_13);
            } else {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) == 0u) {
                    const uint32_t x55 = ((sp_ld8(p + 54 + 2) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                    sp_st8(p + 54 + 2, x55);
                } else {
                    valid &= ~SP_BIT(V_gtpu_psc);
                    sp_st8(p + 50 + 3, 0u);
                    if (UpfIngress_tunnel_relay_empty) {
                        valid &= ~SP_BIT(V_gtpu_optional);
                    }
                }
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0x40u);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum56 = {0, 0, 0};
            sp_sum_value(&sum56, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum56, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum56, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum56, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum56, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum56, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum56, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum56, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum56, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum56, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum56, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum56, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum56, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum56) & 0xffff);
        }
        struct sp_sum sum57 = {0, 0, 0};
        sp_sum_value(&sum57, f_underlay_ipv4_0_version, 4);
        sp_sum_value(&sum57, f_underlay_ipv4_1_ihl, 4);
        sp_sum_value(&sum57, f_underlay_ipv4_2_tos, 8);
        sp_sum_value(&sum57, f_underlay_ipv4_3_total_length, 16);
        sp_sum_value(&sum57, f_underlay_ipv4_4_identification, 16);
        sp_sum_value(&sum57, f_underlay_ipv4_5_reserved, 1);
        sp_sum_value(&sum57, f_underlay_ipv4_6_dont_fragment, 1);
        sp_sum_value(&sum57, f_underlay_ipv4_7_more_fragments, 1);
        sp_sum_value(&sum57, f_underlay_ipv4_8_fragment_offset, 13);
        sp_sum_value(&sum57, f_underlay_ipv4_9_ttl, 8);
        sp_sum_value(&sum57, f_underlay_ipv4_10_protocol, 8);
        sp_sum_value(&sum57, f_underlay_ipv4_12_src, 32);
        sp_sum_value(&sum57, f_underlay_ipv4_13_dst, 32);
        f_underlay_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum57) & 0xffff);
        /* deparser */
        if (valid == 0x1020300ffull) {
            if (pk->start < 50 || pk->length + 50 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_st64(p - 50, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 42, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 36, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 28, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 20, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 16, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 8, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 50;
            pk->length += 50;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1020100ffull) {
            if (pk->start < 46 || pk->length + 46 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b59_0_0; __builtin_memcpy(&b59_0_0, p, 4);
            sp_block2 b59_1_0; __builtin_memcpy(&b59_1_0, p + 4, 2);
            sp_block4 b59_2_0; __builtin_memcpy(&b59_2_0, p + 6, 4);
            sp_block2 b59_3_0; __builtin_memcpy(&b59_3_0, p + 10, 2);
            sp_block2 b59_4_0; __builtin_memcpy(&b59_4_0, p + 12, 2);
            sp_block2 b59_5_0; __builtin_memcpy(&b59_5_0, p + 50, 2);
            sp_block1 b59_6_0; __builtin_memcpy(&b59_6_0, p + 52, 1);
            sp_block1 b59_7_0; __builtin_memcpy(&b59_7_0, p + 53, 1);
            __builtin_memcpy(p + 4, &b59_0_0, 4);
            __builtin_memcpy(p + 8, &b59_1_0, 2);
            __builtin_memcpy(p + 10, &b59_2_0, 4);
            __builtin_memcpy(p + 14, &b59_3_0, 2);
            __builtin_memcpy(p + 16, &b59_4_0, 2);
            __builtin_memcpy(p + 54, &b59_5_0, 2);
            __builtin_memcpy(p + 56, &b59_6_0, 1);
            __builtin_memcpy(p + 57, &b59_7_0, 1);
            sp_st64(p - 46, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 34, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 32, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 24, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 16, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 12, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 4, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 18, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 26, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 34, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 38, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 46, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 46;
            pk->length += 46;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1020000ffull) {
            if (pk->start < 42 || pk->length + 42 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b60_0_0; __builtin_memcpy(&b60_0_0, p, 4);
            sp_block2 b60_1_0; __builtin_memcpy(&b60_1_0, p + 4, 2);
            sp_block4 b60_2_0; __builtin_memcpy(&b60_2_0, p + 6, 4);
            sp_block2 b60_3_0; __builtin_memcpy(&b60_3_0, p + 10, 2);
            sp_block2 b60_4_0; __builtin_memcpy(&b60_4_0, p + 12, 2);
            __builtin_memcpy(p + 8, &b60_0_0, 4);
            __builtin_memcpy(p + 12, &b60_1_0, 2);
            __builtin_memcpy(p + 14, &b60_2_0, 4);
            __builtin_memcpy(p + 18, &b60_3_0, 2);
            __builtin_memcpy(p + 20, &b60_4_0, 2);
            sp_st64(p - 42, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 34, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 30, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 28, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 20, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 12, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 8, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p + 0, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 30, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 38, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 42, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 50, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 42;
            pk->length += 42;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->start < 6 || pk->length + 6 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        sp_block4 b61_0_0; __builtin_memcpy(&b61_0_0, p, 4);
        sp_block2 b61_1_0; __builtin_memcpy(&b61_1_0, p + 4, 2);
        sp_block4 b61_2_0; __builtin_memcpy(&b61_2_0, p + 6, 4);
        sp_block2 b61_3_0; __builtin_memcpy(&b61_3_0, p + 10, 2);
        sp_block2 b61_4_0; __builtin_memcpy(&b61_4_0, p + 12, 2);
        __builtin_memcpy(p + 44, &b61_0_0, 4);
        __builtin_memcpy(p + 48, &b61_1_0, 2);
        __builtin_memcpy(p + 50, &b61_2_0, 4);
        __builtin_memcpy(p + 54, &b61_3_0, 2);
        __builtin_memcpy(p + 56, &b61_4_0, 2);
        sp_st64(p - 6, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
        sp_st32(p + 2, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
        sp_st16(p + 6, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
        sp_st64(p + 8, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
        sp_st64(p + 16, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
        sp_st32(p + 24, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
        sp_st64(p + 28, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
        sp_st64(p + 36, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
        pk->start -= 6;
        pk->length += 6;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void class_3_stage_19_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[59];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    uint32_t others = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        if (__builtin_expect(r->action != ACTION_send, 0)) {
            const uint64_t row = sp_row(wait, table, left, ACTION_send);
            
            class_3_stage_19_nexthop_others(run, row);
            
            others += __builtin_popcountll(row);
            left &= ~row | bit;
            continue;
        }
        found += hit;
        uint64_t valid = 0x10203e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = sp_ld16(p + 58 + 2);
        uint32_t meta_relayed_bytes = c->v.meta_relayed_bytes;
        uint32_t meta_new_container = c->v.meta_new_container;
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_send_port = 0u;
        uint64_t UpfIngress_route_send_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_mtu = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_relay_pdu_type = 0u;
        uint32_t UpfIngress_tunnel_relay_qfi = 0u;
        uint32_t UpfIngress_tunnel_relay_kept = 0u;
        uint32_t UpfIngress_tunnel_relay_empty = 0u;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_port;
                sp_st48(p + 6, UpfIngress_route_send_src_mac);
                sp_st48(p, UpfIngress_route_send_dst_mac);
                break;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 58 + 8);
            if (sp_ld8(p + 58 + 8) <= 1u) {
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_3_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - sp_ld16(p + 58 + 2)) & 0xffff)) & 0xffff);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_3_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)sp_ld16(p + 58 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(p + 58 + 8);
            UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(p + 58 + 10);
            UpfIngress_tunnel_decrement_ipv4_ttl = ((sp_ld8(p + 58 + 8) - 1u) & 0xff);
            UpfIngress_tunnel_decrement_ipv4_sum = ((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff);
            UpfIngress_tunnel_decrement_ipv4_checksum = ((((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff) >= 0xffffu) ? (((((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff) & 0xffff) + 1u) & 0xffff) : (((sp_ld16(p + 58 + 10) + 0x100u) & 0x1ffff) & 0xffff));
            sp_st8(p + 58 + 8, ((sp_ld8(p + 58 + 8) - 1u) & 0xff));
            const uint32_t x36 = UpfIngress_tunnel_decrement_ipv4_checksum;
            sp_st16(p + 58 + 10, x36);
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x800u);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
            valid &= ~SP_BIT(V_gtpu_optional);
            valid &= ~SP_BIT(V_gtpu_psc);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x37 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x37;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x38 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x38;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            UpfIngress_tunnel_relay_pdu_type = 0u;
            UpfIngress_tunnel_relay_qfi = 0u;
            UpfIngress_tunnel_relay_kept = 0xffu;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_relay_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 0x10u : 0u);
                if (((rule_set_pdr->set_pdr.flags_2) & 0x40u) == 0u) {
                    UpfIngress_tunnel_relay_qfi = rule_set_pdr->set_pdr.psc_qos_13;
                    UpfIngress_tunnel_relay_kept = 0xc0u;
                }
            }
            f_tunnel_gtpu_3_has_extension = ((meta_relayed_bytes == 0u) ? 0u : 1u);
            f_tunnel_gtpu_4_has_sequence = ((sp_ld8(p + 42) >> 1) & 0x1);
            f_tunnel_gtpu_5_has_npdu = (sp_ld8(p + 42) & 0x1);
            UpfIngress_tunnel_relay_empty = (((meta_relayed_bytes == 0u) && (((sp_ld8(p + 42) >> 1) & 0x1) == 0u)) && ((sp_ld8(p + 42) & 0x1) == 0u));
            if (meta_new_container == 1u) {
                const uint32_t x39 = ((UpfIngress_tunnel_relay_pdu_type >> 4) & 0xf);
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xfu) | ((uint32_t)(x39) << 4));
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xf0u) | (uint32_t)(0u));
                sp_st8(p + 54 + 2, rule_set_pdr->set_pdr.psc_qos_13);
            } else {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) == 0u) {
                    const uint32_t x40 = ((sp_ld8(p + 54 + 2) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                    sp_st8(p + 54 + 2, x40);
                } else {
                    valid &= ~SP_BIT(V_gtpu_psc);
                    sp_st8(p + 50 + 3, 0u);
                    if (UpfIngress_tunnel_relay_empty) {
                        valid &= ~SP_BIT(V_gtpu_optional);
                    }
                }
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0xeu);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum41 = {0, 0, 0};
            sp_sum_value(&sum41, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum41, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum41, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum41, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum41, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum41, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum41, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum41, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum41, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum41, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum41, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum41, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum41, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum41) & 0xffff);
        }
        /* deparser */
        if (valid == 0x1020300f0ull) {
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1020100f0ull) {
            sp_block4 b43_0_0; __builtin_memcpy(&b43_0_0, p, 4);
            sp_block2 b43_1_0; __builtin_memcpy(&b43_1_0, p + 4, 2);
            sp_block4 b43_2_0; __builtin_memcpy(&b43_2_0, p + 6, 4);
            sp_block2 b43_3_0; __builtin_memcpy(&b43_3_0, p + 10, 2);
            sp_block2 b43_4_0; __builtin_memcpy(&b43_4_0, p + 12, 2);
            sp_block2 b43_5_0; __builtin_memcpy(&b43_5_0, p + 50, 2);
            sp_block1 b43_6_0; __builtin_memcpy(&b43_6_0, p + 52, 1);
            sp_block1 b43_7_0; __builtin_memcpy(&b43_7_0, p + 53, 1);
            __builtin_memcpy(p + 4, &b43_0_0, 4);
            __builtin_memcpy(p + 8, &b43_1_0, 2);
            __builtin_memcpy(p + 10, &b43_2_0, 4);
            __builtin_memcpy(p + 14, &b43_3_0, 2);
            __builtin_memcpy(p + 16, &b43_4_0, 2);
            __builtin_memcpy(p + 54, &b43_5_0, 2);
            __builtin_memcpy(p + 56, &b43_6_0, 1);
            __builtin_memcpy(p + 57, &b43_7_0, 1);
            sp_st64(p + 18, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 26, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 34, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 38, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 46, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start += 4;
            pk->length -= 4;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1020000f0ull) {
            sp_block4 b44_0_0; __builtin_memcpy(&b44_0_0, p, 4);
            sp_block2 b44_1_0; __builtin_memcpy(&b44_1_0, p + 4, 2);
            sp_block4 b44_2_0; __builtin_memcpy(&b44_2_0, p + 6, 4);
            sp_block2 b44_3_0; __builtin_memcpy(&b44_3_0, p + 10, 2);
            sp_block2 b44_4_0; __builtin_memcpy(&b44_4_0, p + 12, 2);
            __builtin_memcpy(p + 8, &b44_0_0, 4);
            __builtin_memcpy(p + 12, &b44_1_0, 2);
            __builtin_memcpy(p + 14, &b44_2_0, 4);
            __builtin_memcpy(p + 18, &b44_3_0, 2);
            __builtin_memcpy(p + 20, &b44_4_0, 2);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 30, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 38, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 42, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 50, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start += 8;
            pk->length -= 8;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        sp_block4 b45_0_0; __builtin_memcpy(&b45_0_0, p, 4);
        sp_block2 b45_1_0; __builtin_memcpy(&b45_1_0, p + 4, 2);
        sp_block4 b45_2_0; __builtin_memcpy(&b45_2_0, p + 6, 4);
        sp_block2 b45_3_0; __builtin_memcpy(&b45_3_0, p + 10, 2);
        sp_block2 b45_4_0; __builtin_memcpy(&b45_4_0, p + 12, 2);
        __builtin_memcpy(p + 44, &b45_0_0, 4);
        __builtin_memcpy(p + 48, &b45_1_0, 2);
        __builtin_memcpy(p + 50, &b45_2_0, 4);
        __builtin_memcpy(p + 54, &b45_3_0, 2);
        __builtin_memcpy(p + 56, &b45_4_0, 2);
        pk->start += 44;
        pk->length -= 44;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - others - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline, cold)) void class_4_leave_0(struct sp_context *const c, uint8_t *const p)
{
    c->payload = p + 102;
    c->h_underlay_ethernet = sp_nothing;
    c->h_underlay_ipv4 = sp_nothing;
    c->h_underlay_udp = sp_nothing;
    c->h_vxlan = sp_nothing;
    c->h_ethernet = p;
    c->h_ipv4 = p + 14;
    c->h_ipv4_options = sp_nothing;
    c->h_ipv6 = sp_nothing;
    c->h_ports = p + 34;
    c->h_udp_rest = p + 38;
    c->h_gtpu = p + 42;
    c->h_gtpu_optional = p + 50;
    c->h_gtpu_psc = p + 54;
    c->h_gtpu_numbers = sp_nothing;
    c->h_gtpu_extension_1 = sp_nothing;
    c->h_gtpu_extension_2 = sp_nothing;
    c->h_gtpu_extension_3 = sp_nothing;
    c->h_gtpu_extension_4 = sp_nothing;
    c->h_gtpu_end = sp_nothing;
    c->h_inner_ipv4 = sp_nothing;
    c->h_inner_ipv4_options = sp_nothing;
    c->h_inner_ipv6 = p + 58;
    c->h_extension_1 = sp_nothing;
    c->h_extension_2 = sp_nothing;
    c->h_extension_3 = sp_nothing;
    c->h_extension_4 = sp_nothing;
    c->h_inner_ports = p + 98;
    c->n_ipv4_options = 0;
    c->n_gtpu_extension_1 = 0;
    c->n_gtpu_extension_2 = 0;
    c->n_gtpu_extension_3 = 0;
    c->n_gtpu_extension_4 = 0;
    c->n_inner_ipv4_options = 0;
    c->n_extension_1 = 0;
    c->n_extension_2 = 0;
    c->n_extension_3 = 0;
    c->n_extension_4 = 0;
}

static __attribute__((noinline)) void class_4_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_86 = 0;
    struct sp_wait *const wait_86 = &run->wait[61];
    uint32_t n_86 = wait_86->keys;
    uint32_t begin_86 = n_86;
    uint64_t word_86_0 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->keep = 0xffffffffu;
        c->v.meta_dst_v4 = 0u;
        c->v.meta_relayed_bytes = 0u;
        c->v.meta_new_container = 0u;
        c->v.meta_vrf = 0u;
        c->v.meta_group = 0u;
        c->v.meta_class_meter = 0u;
        c->v.meta_out_length = 0u;
        c->v.meta_mark = 0u;
        uint32_t meta_user_is_inner = 0u;
        uint32_t meta_ip_version = 0u;
        sp_u128 meta_src_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 meta_dst_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t meta_protocol = 0u;
        uint32_t meta_tos = 0u;
        uint32_t meta_src_port = 0u;
        uint32_t meta_dst_port = 0u;
        uint32_t meta_pdu_length = 0u;
        uint32_t meta_header_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t standard_metadata_checksum_error = 0u;
        uint32_t UpfIngress_user_packet_reason = 0u;
        uint32_t UpfIngress_user_packet_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel = 0u;
        uint32_t UpfIngress_user_packet_udp = 0u;
        uint32_t UpfIngress_user_packet_gtpu_end = 0u;
        uint32_t UpfIngress_user_packet_udp_end = 0u;
        uint32_t UpfIngress_user_packet_tunnel_end = 0u;
        struct sp_sum sum1 = {0, 0, 0};
        sp_sum_bytes(&sum1, p + 14, 10);
        sp_sum_bytes(&sum1, p + 14 + 12, 8);
        if (((uint32_t)sp_csum16(&sum1) & 0xffff) != sp_ld16(p + 14 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        if (standard_metadata_checksum_error == 1u) {
            meta_reason = 0x11u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x11u, 0u);
            goto done;
        }
        UpfIngress_user_packet_reason = 0u;
        meta_user_is_inner = 1u;
        meta_ip_version = 6u;
        meta_src_v6 = sp_ld128(p + 58 + 8);
        meta_dst_v6 = sp_ld128(p + 58 + 24);
        meta_protocol = sp_ld8(p + 58 + 6);
        meta_tos = ((sp_ld16(p + 58) >> 4) & 0xff);
        meta_pdu_length = (sp_ld16(p + 58 + 4) + 0x28u);
        meta_header_length = 0x28u;
        meta_src_port = sp_ld16(p + 98);
        meta_dst_port = sp_ld16(p + 98 + 2);
        meta_header_length = 0x2cu;
        UpfIngress_user_packet_end = ((sp_ld16(p + 58 + 4) + 0x28u) + 0x3au);
        if ((((sp_ld16(p + 58 + 4) + 0x28u) + 0x3au) > ((uint32_t)pk->length)) || ((sp_ld16(p + 58 + 4) + 0x28u) < 0x2cu)) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        UpfIngress_user_packet_tunnel = 0xeu;
        UpfIngress_user_packet_udp = 0x22u;
        UpfIngress_user_packet_gtpu_end = (0x32u + sp_ld16(p + 42 + 2));
        UpfIngress_user_packet_udp_end = (0x22u + sp_ld16(p + 38));
        UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(p + 14 + 2));
        if ((((((sp_ld16(p + 58 + 4) + 0x28u) + 0x3au) > (0x32u + sp_ld16(p + 42 + 2))) || ((0x32u + sp_ld16(p + 42 + 2)) > (0x22u + sp_ld16(p + 38)))) || ((0x22u + sp_ld16(p + 38)) > (0xeu + sp_ld16(p + 14 + 2)))) || ((0xeu + sp_ld16(p + 14 + 2)) > ((uint32_t)pk->length))) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        const uint64_t x2 = (uint64_t)((uint32_t)pk->port & 0x1ff) << 48 | (uint64_t)(sp_ld64(p) >> 16);
        n_86 += (n_86 == begin_86) | (x2 != word_86_0);
        wait_86->key_of[i] = n_86 - 1;
        sp_st64(wait_86->bytes + (n_86 - 1) * 8 + 0, x2);
        word_86_0 = x2;
        to_86 |= bit;
        done:;
    }
    run->todo[86] |= to_86;
    wait_86->keys = n_86;
}


static __attribute__((noinline)) void class_4_stage_8_pdr_by_teid(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_94 = 0;
    uint64_t to_95 = 0;
    uint64_t to_98 = 0;
    uint64_t to_100 = 0;
    uint64_t to_101 = 0;
    uint64_t to_103 = 0;
    struct sp_wait *const wait_94 = &run->wait[69];
    uint32_t n_94 = wait_94->keys;
    uint32_t begin_94 = n_94;
    uint64_t word_94_0 = 0;
    struct sp_wait *const wait_95 = &run->wait[70];
    uint32_t n_95 = wait_95->keys;
    uint32_t begin_95 = n_95;
    uint64_t word_95_0 = 0;
    uint64_t word_95_1 = 0;
    uint64_t word_95_2 = 0;
    uint64_t word_95_3 = 0;
    uint64_t word_95_4 = 0;
    uint64_t word_95_5 = 0;
    struct sp_wait *const wait_98 = &run->wait[73];
    uint32_t n_98 = wait_98->keys;
    uint32_t begin_98 = n_98;
    uint64_t word_98_0 = 0;
    uint64_t word_98_1 = 0;
    uint64_t word_98_2 = 0;
    uint64_t word_98_3 = 0;
    uint64_t word_98_4 = 0;
    struct sp_wait *const wait_100 = &run->wait[75];
    uint32_t n_100 = wait_100->keys;
    uint32_t begin_100 = n_100;
    uint64_t word_100_0 = 0;
    uint64_t word_100_1 = 0;
    struct sp_wait *const wait_101 = &run->wait[76];
    uint32_t n_101 = wait_101->keys;
    uint32_t begin_101 = n_101;
    uint64_t word_101_0 = 0;
    uint64_t word_101_1 = 0;
    uint64_t word_101_2 = 0;
    struct sp_wait *const wait_103 = &run->wait[78];
    uint32_t n_103 = wait_103->keys;
    uint32_t begin_103 = n_103;
    uint64_t word_103_0 = 0;
    struct sp_table *const table_firewall_v6 = &run->lane->tables[TABLE_firewall_v6];
    const uint32_t skip_firewall_v6 = !table_firewall_v6->lookup && ((const struct record_firewall_v6 *)table_firewall_v6->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v6 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_teid];
    const struct sp_wait *const wait = &run->wait[68];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_teid *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10803e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_classified = 0u;
        uint32_t meta_group = 0u;
        uint32_t meta_filter_set = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0u;
        uint32_t UpfIngress_session_set_pdr_disposition = 0u;
        uint32_t UpfIngress_session_set_pdr_flags = 0u;
        uint32_t UpfIngress_session_set_pdr_usage = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0u;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0u;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0x0ull;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0u;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0u;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0u;
        uint32_t UpfIngress_session_classify_group = 0u;
        uint32_t UpfIngress_session_classify_filter_set = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        uint32_t UpfIngress_session_tmp_2 = 0u;
        UpfIngress_session_tmp_2 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_2) {
            const uint64_t x4 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_94 += (n_94 == begin_94) | (x4 != word_94_0);
            wait_94->key_of[i] = n_94 - 1;
            sp_st64(wait_94->bytes + (n_94 - 1) * 8 + 0, x4);
            word_94_0 = x4;
            to_94 |= bit;
            goto done;
        } else {
            goto node_11;
        }
        node_11:;
        if (meta_classified == 1u) {
            UpfIngress_session_remote_v4 = 0u;
            UpfIngress_session_local_v4 = 0u;
            UpfIngress_session_remote_v6 = sp_ld128(p + 58 + 24);
            UpfIngress_session_local_v6 = sp_ld128(p + 58 + 8);
            UpfIngress_session_remote_port = sp_ld16(p + 98 + 2);
            UpfIngress_session_local_port = sp_ld16(p + 98);
            UpfIngress_session_flow_label = (1 ? ((sp_ld32(p + 58 + 1) >> 8) & 0xfffff) : 0u);
            const sp_u128 x5 = sp_ld128(p + 58 + 24);
            const sp_u128 x6 = sp_ld128(p + 58 + 8);
            const uint64_t x7 = (uint64_t)meta_filter_set << 48 | (uint64_t)(x5 >> 80);
            const uint64_t x8 = (uint64_t)(x5 >> 16);
            const uint64_t x9 = (uint64_t)x5 << 48 | (uint64_t)(x6 >> 80);
            const uint64_t x10 = (uint64_t)(x6 >> 16);
            const uint64_t x11 = (uint64_t)x6 << 48 | (uint64_t)sp_ld8(p + 58 + 6) << 40 | (uint64_t)sp_ld16(p + 98 + 2) << 24 | (uint64_t)sp_ld16(p + 98) << 8 | (uint64_t)((sp_ld16(p + 58) >> 4) & 0xff);
            const uint64_t x12 = (uint64_t)(1 ? ((sp_ld32(p + 58 + 1) >> 8) & 0xfffff) : 0u) << 40 | (uint64_t)(sp_ld8(p + 54 + 2) & 0x3f) << 32;
            n_95 += (n_95 == begin_95) | (x7 != word_95_0) | (x8 != word_95_1) | (x9 != word_95_2) | (x10 != word_95_3) | (x11 != word_95_4) | (x12 != word_95_5);
            wait_95->key_of[i] = n_95 - 1;
            sp_st64(wait_95->bytes + (n_95 - 1) * 48 + 0, x7);
            word_95_0 = x7;
            sp_st64(wait_95->bytes + (n_95 - 1) * 48 + 8, x8);
            word_95_1 = x8;
            sp_st64(wait_95->bytes + (n_95 - 1) * 48 + 16, x9);
            word_95_2 = x9;
            sp_st64(wait_95->bytes + (n_95 - 1) * 48 + 24, x10);
            word_95_3 = x10;
            sp_st64(wait_95->bytes + (n_95 - 1) * 48 + 32, x11);
            word_95_4 = x11;
            sp_st64(wait_95->bytes + (n_95 - 1) * 48 + 40, x12);
            word_95_5 = x12;
            to_95 |= bit;
            goto done;
        } else {
            goto node_9;
        }
        node_9:;
        if (skip_firewall_v6) {
            skipped_firewall_v6++;
            goto node_8;
        }
        const sp_u128 x13 = sp_ld128(p + 58 + 8);
        const sp_u128 x14 = sp_ld128(p + 58 + 24);
        const uint64_t x15 = (uint64_t)meta_vrf << 48 | (uint64_t)(x13 >> 80);
        const uint64_t x16 = (uint64_t)(x13 >> 16);
        const uint64_t x17 = (uint64_t)x13 << 48 | (uint64_t)(x14 >> 80);
        const uint64_t x18 = (uint64_t)(x14 >> 16);
        const uint64_t x19 = (uint64_t)x14 << 48 | (uint64_t)sp_ld8(p + 58 + 6) << 40 | (uint64_t)sp_ld16(p + 98) << 24 | (uint64_t)sp_ld16(p + 98 + 2) << 8;
        n_98 += (n_98 == begin_98) | (x15 != word_98_0) | (x16 != word_98_1) | (x17 != word_98_2) | (x18 != word_98_3) | (x19 != word_98_4);
        wait_98->key_of[i] = n_98 - 1;
        sp_st64(wait_98->bytes + (n_98 - 1) * 40 + 0, x15);
        word_98_0 = x15;
        sp_st64(wait_98->bytes + (n_98 - 1) * 40 + 8, x16);
        word_98_1 = x16;
        sp_st64(wait_98->bytes + (n_98 - 1) * 40 + 16, x17);
        word_98_2 = x17;
        sp_st64(wait_98->bytes + (n_98 - 1) * 40 + 24, x18);
        word_98_3 = x18;
        sp_st64(wait_98->bytes + (n_98 - 1) * 40 + 32, x19);
        word_98_4 = x19;
        to_98 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_4_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + 58 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + 58 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + 58 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 58 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + 58 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + 58 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + 58 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 58 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + 58 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x20 = 0u;
        const uint64_t x21 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + 58) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x20 >> 16);
        const uint64_t x22 = (uint64_t)x20 << 48 | (uint64_t)sp_ld8(p + 58 + 6) << 40 | (uint64_t)sp_ld16(p + 98) << 24 | (uint64_t)sp_ld16(p + 98 + 2) << 8;
        n_100 += (n_100 == begin_100) | (x21 != word_100_0) | (x22 != word_100_1);
        wait_100->key_of[i] = n_100 - 1;
        sp_st64(wait_100->bytes + (n_100 - 1) * 16 + 0, x21);
        word_100_0 = x21;
        sp_st64(wait_100->bytes + (n_100 - 1) * 16 + 8, x22);
        word_100_1 = x22;
        to_100 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + 58 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + 58 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + 58 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x23 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_103 += (n_103 == begin_103) | (x23 != word_103_0);
            wait_103->key_of[i] = n_103 - 1;
            sp_st64(wait_103->bytes + (n_103 - 1) * 8 + 0, x23);
            word_103_0 = x23;
            to_103 |= bit;
            goto done;
        } else {
            const sp_u128 x24 = sp_ld128(p + 58 + 24);
            const uint64_t x25 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x24 >> 80);
            const uint64_t x26 = (uint64_t)(x24 >> 16);
            const uint64_t x27 = (uint64_t)x24 << 48;
            n_101 += (n_101 == begin_101) | (x25 != word_101_0) | (x26 != word_101_1) | (x27 != word_101_2);
            wait_101->key_of[i] = n_101 - 1;
            sp_st64(wait_101->bytes + (n_101 - 1) * 24 + 0, x25);
            word_101_0 = x25;
            sp_st64(wait_101->bytes + (n_101 - 1) * 24 + 8, x26);
            word_101_1 = x26;
            sp_st64(wait_101->bytes + (n_101 - 1) * 24 + 16, x27);
            word_101_2 = x27;
            to_101 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[94] |= to_94;
    run->todo[95] |= to_95;
    run->todo[98] |= to_98;
    run->todo[100] |= to_100;
    run->todo[101] |= to_101;
    run->todo[103] |= to_103;
    wait_94->keys = n_94;
    wait_95->keys = n_95;
    wait_98->keys = n_98;
    wait_100->keys = n_100;
    wait_101->keys = n_101;
    wait_103->keys = n_103;
    sp_looked_up(table_firewall_v6, 0, skipped_firewall_v6);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}







static __attribute__((noinline)) void class_4_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_104 = 0;
    struct sp_wait *const wait_104 = &run->wait[79];
    uint32_t n_104 = wait_104->keys;
    uint32_t begin_104 = n_104;
    uint64_t word_104_0 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv4];
    const struct sp_wait *const wait = &run->wait[78];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_route_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_relayed_bytes = 0u;
        uint32_t meta_container_bytes = 0u;
        uint32_t meta_new_container = 0u;
        uint32_t meta_nexthop = 0u;
        uint32_t meta_out_length = 0;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        meta_relayed_bytes = 4u; c->v.meta_relayed_bytes = meta_relayed_bytes;
        meta_container_bytes = 4u;
        if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) != 0u) {
            meta_relayed_bytes = 0u; c->v.meta_relayed_bytes = meta_relayed_bytes;
            meta_container_bytes = 0u;
        }
        if (((rule_set_pdr->set_pdr.encapsulation_9) != 1u) && (meta_container_bytes == 0u)) {
            meta_new_container = 1u; c->v.meta_new_container = meta_new_container;
            meta_relayed_bytes = ((meta_relayed_bytes + 4u) & 0xffff); c->v.meta_relayed_bytes = meta_relayed_bytes;
        }
        meta_out_length = (((sp_ld16(p + 58 + 4) + 0x28u) + 0x24u) + meta_relayed_bytes); c->v.meta_out_length = meta_out_length;
        if (((meta_relayed_bytes != 0u) || (((sp_ld8(p + 42) >> 1) & 0x1) == 1u)) || ((sp_ld8(p + 42) & 0x1) == 1u)) {
            meta_out_length = (meta_out_length + 4u); c->v.meta_out_length = meta_out_length;
        }
        const uint64_t x58 = (uint64_t)meta_nexthop << 48;
        n_104 += (n_104 == begin_104) | (x58 != word_104_0);
        wait_104->key_of[i] = n_104 - 1;
        sp_st64(wait_104->bytes + (n_104 - 1) * 8 + 0, x58);
        word_104_0 = x58;
        to_104 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[104] |= to_104;
    wait_104->keys = n_104;
}

static __attribute__((noinline)) void class_4_stage_19_nexthop_others(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[79];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x10803e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_pdu_length = (sp_ld16(p + 58 + 4) + 0x28u);
        uint32_t meta_relayed_bytes = c->v.meta_relayed_bytes;
        uint32_t meta_new_container = c->v.meta_new_container;
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        uint32_t UpfIngress_route_send_vxlan_port = 0u;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_vni = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0u;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0u;
        uint32_t UpfIngress_route_send_vxlan_frame = 0u;
        uint32_t UpfIngress_route_unresolved_nexthop = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_relay_pdu_type = 0u;
        uint32_t UpfIngress_tunnel_relay_qfi = 0u;
        uint32_t UpfIngress_tunnel_relay_kept = 0u;
        uint32_t UpfIngress_tunnel_relay_empty = 0u;
        uint64_t f_underlay_ethernet_0_dst = 0;
        uint64_t f_underlay_ethernet_1_src = 0;
        uint32_t f_underlay_ethernet_2_ethertype = 0;
        uint32_t f_underlay_ipv4_0_version = 0;
        uint32_t f_underlay_ipv4_1_ihl = 0;
        uint32_t f_underlay_ipv4_2_tos = 0;
        uint32_t f_underlay_ipv4_3_total_length = 0;
        uint32_t f_underlay_ipv4_4_identification = 0;
        uint32_t f_underlay_ipv4_5_reserved = 0;
        uint32_t f_underlay_ipv4_6_dont_fragment = 0;
        uint32_t f_underlay_ipv4_7_more_fragments = 0;
        uint32_t f_underlay_ipv4_8_fragment_offset = 0;
        uint32_t f_underlay_ipv4_9_ttl = 0;
        uint32_t f_underlay_ipv4_10_protocol = 0;
        uint32_t f_underlay_ipv4_11_checksum = 0;
        uint32_t f_underlay_ipv4_12_src = 0;
        uint32_t f_underlay_ipv4_13_dst = 0;
        uint32_t f_underlay_udp_0_src = 0;
        uint32_t f_underlay_udp_1_dst = 0;
        uint32_t f_underlay_udp_2_length = 0;
        uint32_t f_underlay_udp_3_checksum = 0;
        uint32_t f_vxlan_0_flags = 0;
        uint32_t f_vxlan_1_reserved = 0;
        uint32_t f_vxlan_2_vni = 0;
        uint32_t f_vxlan_3_reserved2 = 0;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        switch (r->action) {
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port;
                sp_st48(p + 6, UpfIngress_route_send_vxlan_src_mac);
                sp_st48(p, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                f_underlay_ethernet_0_dst = f_underlay_ethernet_1_src = f_underlay_ethernet_2_ethertype = 0;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x68 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                f_underlay_ethernet_0_dst = x68;
                const uint64_t x69 = UpfIngress_route_send_vxlan_underlay_src_mac;
                f_underlay_ethernet_1_src = x69;
                f_underlay_ethernet_2_ethertype = 0x800u;
                f_underlay_ipv4_0_version = f_underlay_ipv4_1_ihl = f_underlay_ipv4_2_tos = f_underlay_ipv4_3_total_length = f_underlay_ipv4_4_identification = f_underlay_ipv4_5_reserved = f_underlay_ipv4_6_dont_fragment = f_underlay_ipv4_7_more_fragments = f_underlay_ipv4_8_fragment_offset = f_underlay_ipv4_9_ttl = f_underlay_ipv4_10_protocol = f_underlay_ipv4_11_checksum = f_underlay_ipv4_12_src = f_underlay_ipv4_13_dst = 0;
                valid |= SP_BIT(V_underlay_ipv4);
                f_underlay_ipv4_0_version = 4u;
                f_underlay_ipv4_1_ihl = 5u;
                f_underlay_ipv4_2_tos = 0u;
                f_underlay_ipv4_4_identification = 0u;
                f_underlay_ipv4_5_reserved = 0u;
                f_underlay_ipv4_7_more_fragments = 0u;
                f_underlay_ipv4_8_fragment_offset = 0u;
                f_underlay_ipv4_11_checksum = 0u;
                const uint32_t x70 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                f_underlay_ipv4_3_total_length = x70;
                f_underlay_ipv4_6_dont_fragment = 1u;
                f_underlay_ipv4_9_ttl = 0x40u;
                f_underlay_ipv4_10_protocol = 0x11u;
                f_underlay_ipv4_12_src = UpfIngress_route_send_vxlan_vtep_src;
                f_underlay_ipv4_13_dst = UpfIngress_route_send_vxlan_vtep_dst;
                f_underlay_udp_0_src = f_underlay_udp_1_dst = f_underlay_udp_2_length = f_underlay_udp_3_checksum = 0;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x71 = (((meta_dst_v4 & 0xffff) ^ sp_ld16(p + 98)) | 0xc000u);
                f_underlay_udp_0_src = x71;
                f_underlay_udp_1_dst = 0x12b5u;
                const uint32_t x72 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                f_underlay_udp_2_length = x72;
                f_underlay_udp_3_checksum = 0u;
                f_vxlan_0_flags = f_vxlan_1_reserved = f_vxlan_2_vni = f_vxlan_3_reserved2 = 0;
                valid |= SP_BIT(V_vxlan);
                f_vxlan_0_flags = 8u;
                f_vxlan_2_vni = UpfIngress_route_send_vxlan_vni;
                f_vxlan_1_reserved = 0u;
                f_vxlan_3_reserved2 = 0u;
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u;
                standard_metadata_egress_spec = 0x1feu;
                class_4_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 58 + 7);
            if (sp_ld8(p + 58 + 7) <= 1u) {
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_4_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - (sp_ld16(p + 58 + 4) + 0x28u)) & 0xffff)) & 0xffff);
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_4_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            sp_st8(p + 58 + 7, ((sp_ld8(p + 58 + 7) - 1u) & 0xff));
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x86ddu);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
            valid &= ~SP_BIT(V_gtpu_optional);
            valid &= ~SP_BIT(V_gtpu_psc);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x73 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x73;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x74 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x74;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            UpfIngress_tunnel_relay_pdu_type = 0u;
            UpfIngress_tunnel_relay_qfi = 0u;
            UpfIngress_tunnel_relay_kept = 0xffu;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_relay_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 0x10u : 0u);
                if (((rule_set_pdr->set_pdr.flags_2) & 0x40u) == 0u) {
                    UpfIngress_tunnel_relay_qfi = rule_set_pdr->set_pdr.psc_qos_13;
                    UpfIngress_tunnel_relay_kept = 0xc0u;
                }
            }
            f_tunnel_gtpu_3_has_extension = ((meta_relayed_bytes == 0u) ? 0u : 1u);
            f_tunnel_gtpu_4_has_sequence = ((sp_ld8(p + 42) >> 1) & 0x1);
            f_tunnel_gtpu_5_has_npdu = (sp_ld8(p + 42) & 0x1);
            UpfIngress_tunnel_relay_empty = (((meta_relayed_bytes == 0u) && (((sp_ld8(p + 42) >> 1) & 0x1) == 0u)) && ((sp_ld8(p + 42) & 0x1) == 0u));
            if (meta_new_container == 1u) {
                const uint32_t x75 = ((UpfIngress_tunnel_relay_pdu_type >> 4) & 0xf);
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xfu) | ((uint32_t)(x75) << 4));
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xf0u) | (uint32_t)(0u));
                sp_st8(p + 54 + 2, rule_set_pdr->set_pdr.psc_qos_13);
            } else {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) == 0u) {
                    const uint32_t x76 = ((sp_ld8(p + 54 + 2) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                    sp_st8(p + 54 + 2, x76);
                } else {
                    valid &= ~SP_BIT(V_gtpu_psc);
                    sp_st8(p + 50 + 3, 0u);
                    if (UpfIngress_tunnel_relay_empty) {
                        valid &= ~SP_BIT(V_gtpu_optional);
                    }
                }
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0x40u);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum77 = {0, 0, 0};
            sp_sum_value(&sum77, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum77, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum77, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum77, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum77, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum77, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum77, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum77, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum77, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum77, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum77, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum77, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum77, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum77) & 0xffff);
        }
        struct sp_sum sum78 = {0, 0, 0};
        sp_sum_value(&sum78, f_underlay_ipv4_0_version, 4);
        sp_sum_value(&sum78, f_underlay_ipv4_1_ihl, 4);
        sp_sum_value(&sum78, f_underlay_ipv4_2_tos, 8);
        sp_sum_value(&sum78, f_underlay_ipv4_3_total_length, 16);
        sp_sum_value(&sum78, f_underlay_ipv4_4_identification, 16);
        sp_sum_value(&sum78, f_underlay_ipv4_5_reserved, 1);
        sp_sum_value(&sum78, f_underlay_ipv4_6_dont_fragment, 1);
        sp_sum_value(&sum78, f_underlay_ipv4_7_more_fragments, 1);
        sp_sum_value(&sum78, f_underlay_ipv4_8_fragment_offset, 13);
        sp_sum_value(&sum78, f_underlay_ipv4_9_ttl, 8);
        sp_sum_value(&sum78, f_underlay_ipv4_10_protocol, 8);
        sp_sum_value(&sum78, f_underlay_ipv4_12_src, 32);
        sp_sum_value(&sum78, f_underlay_ipv4_13_dst, 32);
        f_underlay_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum78) & 0xffff);
        /* deparser */
        if (valid == 0x1080300ffull) {
            if (pk->start < 50 || pk->length + 50 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_st64(p - 50, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 42, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 36, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 28, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 20, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 16, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 8, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 50;
            pk->length += 50;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1080100ffull) {
            if (pk->start < 46 || pk->length + 46 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b80_0_0; __builtin_memcpy(&b80_0_0, p, 4);
            sp_block2 b80_1_0; __builtin_memcpy(&b80_1_0, p + 4, 2);
            sp_block4 b80_2_0; __builtin_memcpy(&b80_2_0, p + 6, 4);
            sp_block2 b80_3_0; __builtin_memcpy(&b80_3_0, p + 10, 2);
            sp_block2 b80_4_0; __builtin_memcpy(&b80_4_0, p + 12, 2);
            sp_block2 b80_5_0; __builtin_memcpy(&b80_5_0, p + 50, 2);
            sp_block1 b80_6_0; __builtin_memcpy(&b80_6_0, p + 52, 1);
            sp_block1 b80_7_0; __builtin_memcpy(&b80_7_0, p + 53, 1);
            __builtin_memcpy(p + 4, &b80_0_0, 4);
            __builtin_memcpy(p + 8, &b80_1_0, 2);
            __builtin_memcpy(p + 10, &b80_2_0, 4);
            __builtin_memcpy(p + 14, &b80_3_0, 2);
            __builtin_memcpy(p + 16, &b80_4_0, 2);
            __builtin_memcpy(p + 54, &b80_5_0, 2);
            __builtin_memcpy(p + 56, &b80_6_0, 1);
            __builtin_memcpy(p + 57, &b80_7_0, 1);
            sp_st64(p - 46, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 34, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 32, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 24, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 16, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 12, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 4, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 18, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 26, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 34, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 38, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 46, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 46;
            pk->length += 46;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1080000ffull) {
            if (pk->start < 42 || pk->length + 42 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b81_0_0; __builtin_memcpy(&b81_0_0, p, 4);
            sp_block2 b81_1_0; __builtin_memcpy(&b81_1_0, p + 4, 2);
            sp_block4 b81_2_0; __builtin_memcpy(&b81_2_0, p + 6, 4);
            sp_block2 b81_3_0; __builtin_memcpy(&b81_3_0, p + 10, 2);
            sp_block2 b81_4_0; __builtin_memcpy(&b81_4_0, p + 12, 2);
            __builtin_memcpy(p + 8, &b81_0_0, 4);
            __builtin_memcpy(p + 12, &b81_1_0, 2);
            __builtin_memcpy(p + 14, &b81_2_0, 4);
            __builtin_memcpy(p + 18, &b81_3_0, 2);
            __builtin_memcpy(p + 20, &b81_4_0, 2);
            sp_st64(p - 42, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 34, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 30, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 28, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 20, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 12, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 8, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p + 0, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 30, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 38, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 42, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 50, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 42;
            pk->length += 42;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->start < 6 || pk->length + 6 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        sp_block4 b82_0_0; __builtin_memcpy(&b82_0_0, p, 4);
        sp_block2 b82_1_0; __builtin_memcpy(&b82_1_0, p + 4, 2);
        sp_block4 b82_2_0; __builtin_memcpy(&b82_2_0, p + 6, 4);
        sp_block2 b82_3_0; __builtin_memcpy(&b82_3_0, p + 10, 2);
        sp_block2 b82_4_0; __builtin_memcpy(&b82_4_0, p + 12, 2);
        __builtin_memcpy(p + 44, &b82_0_0, 4);
        __builtin_memcpy(p + 48, &b82_1_0, 2);
        __builtin_memcpy(p + 50, &b82_2_0, 4);
        __builtin_memcpy(p + 54, &b82_3_0, 2);
        __builtin_memcpy(p + 56, &b82_4_0, 2);
        sp_st64(p - 6, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
        sp_st32(p + 2, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
        sp_st16(p + 6, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
        sp_st64(p + 8, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
        sp_st64(p + 16, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
        sp_st32(p + 24, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
        sp_st64(p + 28, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
        sp_st64(p + 36, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
        pk->start -= 6;
        pk->length += 6;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void class_4_stage_19_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[79];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    uint32_t others = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        if (__builtin_expect(r->action != ACTION_send, 0)) {
            const uint64_t row = sp_row(wait, table, left, ACTION_send);
            
            class_4_stage_19_nexthop_others(run, row);
            
            others += __builtin_popcountll(row);
            left &= ~row | bit;
            continue;
        }
        found += hit;
        uint64_t valid = 0x10803e410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = (sp_ld16(p + 58 + 4) + 0x28u);
        uint32_t meta_relayed_bytes = c->v.meta_relayed_bytes;
        uint32_t meta_new_container = c->v.meta_new_container;
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_send_port = 0u;
        uint64_t UpfIngress_route_send_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_mtu = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_relay_pdu_type = 0u;
        uint32_t UpfIngress_tunnel_relay_qfi = 0u;
        uint32_t UpfIngress_tunnel_relay_kept = 0u;
        uint32_t UpfIngress_tunnel_relay_empty = 0u;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_port;
                sp_st48(p + 6, UpfIngress_route_send_src_mac);
                sp_st48(p, UpfIngress_route_send_dst_mac);
                break;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 58 + 7);
            if (sp_ld8(p + 58 + 7) <= 1u) {
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_4_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - (sp_ld16(p + 58 + 4) + 0x28u)) & 0xffff)) & 0xffff);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_4_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)(sp_ld16(p + 58 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            sp_st8(p + 58 + 7, ((sp_ld8(p + 58 + 7) - 1u) & 0xff));
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x86ddu);
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
            valid &= ~SP_BIT(V_gtpu_optional);
            valid &= ~SP_BIT(V_gtpu_psc);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x59 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x59;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x60 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x60;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            UpfIngress_tunnel_relay_pdu_type = 0u;
            UpfIngress_tunnel_relay_qfi = 0u;
            UpfIngress_tunnel_relay_kept = 0xffu;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_relay_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 0x10u : 0u);
                if (((rule_set_pdr->set_pdr.flags_2) & 0x40u) == 0u) {
                    UpfIngress_tunnel_relay_qfi = rule_set_pdr->set_pdr.psc_qos_13;
                    UpfIngress_tunnel_relay_kept = 0xc0u;
                }
            }
            f_tunnel_gtpu_3_has_extension = ((meta_relayed_bytes == 0u) ? 0u : 1u);
            f_tunnel_gtpu_4_has_sequence = ((sp_ld8(p + 42) >> 1) & 0x1);
            f_tunnel_gtpu_5_has_npdu = (sp_ld8(p + 42) & 0x1);
            UpfIngress_tunnel_relay_empty = (((meta_relayed_bytes == 0u) && (((sp_ld8(p + 42) >> 1) & 0x1) == 0u)) && ((sp_ld8(p + 42) & 0x1) == 0u));
            if (meta_new_container == 1u) {
                const uint32_t x61 = ((UpfIngress_tunnel_relay_pdu_type >> 4) & 0xf);
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xfu) | ((uint32_t)(x61) << 4));
                sp_st8(p + 54 + 1, (sp_ld8(p + 54 + 1) & 0xf0u) | (uint32_t)(0u));
                sp_st8(p + 54 + 2, rule_set_pdr->set_pdr.psc_qos_13);
            } else {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x20u) == 0u) {
                    const uint32_t x62 = ((sp_ld8(p + 54 + 2) & UpfIngress_tunnel_relay_kept) | UpfIngress_tunnel_relay_qfi);
                    sp_st8(p + 54 + 2, x62);
                } else {
                    valid &= ~SP_BIT(V_gtpu_psc);
                    sp_st8(p + 50 + 3, 0u);
                    if (UpfIngress_tunnel_relay_empty) {
                        valid &= ~SP_BIT(V_gtpu_optional);
                    }
                }
            }
            valid &= ~SP_BIT(V_ipv4);
            valid &= ~SP_BIT(V_ports);
            valid &= ~SP_BIT(V_udp_rest);
            valid &= ~SP_BIT(V_gtpu);
        }
        c->keep = (meta_out_length + 0xeu);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum63 = {0, 0, 0};
            sp_sum_value(&sum63, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum63, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum63, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum63, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum63, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum63, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum63, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum63, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum63, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum63, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum63, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum63, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum63, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum63) & 0xffff);
        }
        /* deparser */
        if (valid == 0x1080300f0ull) {
            sp_st64(p + 14, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 30, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 34, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 42, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1080100f0ull) {
            sp_block4 b65_0_0; __builtin_memcpy(&b65_0_0, p, 4);
            sp_block2 b65_1_0; __builtin_memcpy(&b65_1_0, p + 4, 2);
            sp_block4 b65_2_0; __builtin_memcpy(&b65_2_0, p + 6, 4);
            sp_block2 b65_3_0; __builtin_memcpy(&b65_3_0, p + 10, 2);
            sp_block2 b65_4_0; __builtin_memcpy(&b65_4_0, p + 12, 2);
            sp_block2 b65_5_0; __builtin_memcpy(&b65_5_0, p + 50, 2);
            sp_block1 b65_6_0; __builtin_memcpy(&b65_6_0, p + 52, 1);
            sp_block1 b65_7_0; __builtin_memcpy(&b65_7_0, p + 53, 1);
            __builtin_memcpy(p + 4, &b65_0_0, 4);
            __builtin_memcpy(p + 8, &b65_1_0, 2);
            __builtin_memcpy(p + 10, &b65_2_0, 4);
            __builtin_memcpy(p + 14, &b65_3_0, 2);
            __builtin_memcpy(p + 16, &b65_4_0, 2);
            __builtin_memcpy(p + 54, &b65_5_0, 2);
            __builtin_memcpy(p + 56, &b65_6_0, 1);
            __builtin_memcpy(p + 57, &b65_7_0, 1);
            sp_st64(p + 18, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 26, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 34, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 38, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 46, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start += 4;
            pk->length -= 4;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x1080000f0ull) {
            sp_block4 b66_0_0; __builtin_memcpy(&b66_0_0, p, 4);
            sp_block2 b66_1_0; __builtin_memcpy(&b66_1_0, p + 4, 2);
            sp_block4 b66_2_0; __builtin_memcpy(&b66_2_0, p + 6, 4);
            sp_block2 b66_3_0; __builtin_memcpy(&b66_3_0, p + 10, 2);
            sp_block2 b66_4_0; __builtin_memcpy(&b66_4_0, p + 12, 2);
            __builtin_memcpy(p + 8, &b66_0_0, 4);
            __builtin_memcpy(p + 12, &b66_1_0, 2);
            __builtin_memcpy(p + 14, &b66_2_0, 4);
            __builtin_memcpy(p + 18, &b66_3_0, 2);
            __builtin_memcpy(p + 20, &b66_4_0, 2);
            sp_st64(p + 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p + 30, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p + 38, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p + 42, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 50, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start += 8;
            pk->length -= 8;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        sp_block4 b67_0_0; __builtin_memcpy(&b67_0_0, p, 4);
        sp_block2 b67_1_0; __builtin_memcpy(&b67_1_0, p + 4, 2);
        sp_block4 b67_2_0; __builtin_memcpy(&b67_2_0, p + 6, 4);
        sp_block2 b67_3_0; __builtin_memcpy(&b67_3_0, p + 10, 2);
        sp_block2 b67_4_0; __builtin_memcpy(&b67_4_0, p + 12, 2);
        __builtin_memcpy(p + 44, &b67_0_0, 4);
        __builtin_memcpy(p + 48, &b67_1_0, 2);
        __builtin_memcpy(p + 50, &b67_2_0, 4);
        __builtin_memcpy(p + 54, &b67_3_0, 2);
        __builtin_memcpy(p + 56, &b67_4_0, 2);
        pk->start += 44;
        pk->length -= 44;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - others - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline, cold)) void class_5_leave_0(struct sp_context *const c, uint8_t *const p)
{
    c->payload = p + 38;
    c->h_underlay_ethernet = sp_nothing;
    c->h_underlay_ipv4 = sp_nothing;
    c->h_underlay_udp = sp_nothing;
    c->h_vxlan = sp_nothing;
    c->h_ethernet = p;
    c->h_ipv4 = p + 14;
    c->h_ipv4_options = sp_nothing;
    c->h_ipv6 = sp_nothing;
    c->h_ports = p + 34;
    c->h_udp_rest = sp_nothing;
    c->h_gtpu = sp_nothing;
    c->h_gtpu_optional = sp_nothing;
    c->h_gtpu_psc = sp_nothing;
    c->h_gtpu_numbers = sp_nothing;
    c->h_gtpu_extension_1 = sp_nothing;
    c->h_gtpu_extension_2 = sp_nothing;
    c->h_gtpu_extension_3 = sp_nothing;
    c->h_gtpu_extension_4 = sp_nothing;
    c->h_gtpu_end = sp_nothing;
    c->h_inner_ipv4 = sp_nothing;
    c->h_inner_ipv4_options = sp_nothing;
    c->h_inner_ipv6 = sp_nothing;
    c->h_extension_1 = sp_nothing;
    c->h_extension_2 = sp_nothing;
    c->h_extension_3 = sp_nothing;
    c->h_extension_4 = sp_nothing;
    c->h_inner_ports = sp_nothing;
    c->n_ipv4_options = 0;
    c->n_gtpu_extension_1 = 0;
    c->n_gtpu_extension_2 = 0;
    c->n_gtpu_extension_3 = 0;
    c->n_gtpu_extension_4 = 0;
    c->n_inner_ipv4_options = 0;
    c->n_extension_1 = 0;
    c->n_extension_2 = 0;
    c->n_extension_3 = 0;
    c->n_extension_4 = 0;
}

static __attribute__((noinline)) void class_5_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_106 = 0;
    struct sp_wait *const wait_106 = &run->wait[81];
    uint32_t n_106 = wait_106->keys;
    uint32_t begin_106 = n_106;
    uint64_t word_106_0 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->keep = 0xffffffffu;
        c->v.meta_dst_v4 = 0u;
        c->v.meta_vrf = 0u;
        c->v.meta_loopback = 0u;
        c->v.meta_group = 0u;
        c->v.meta_class_meter = 0u;
        c->v.meta_out_length = 0u;
        c->v.meta_mark = 0u;
        uint32_t meta_ip_version = 0u;
        uint32_t meta_src_v4 = 0u;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_protocol = 0u;
        uint32_t meta_tos = 0u;
        uint32_t meta_src_port = 0u;
        uint32_t meta_dst_port = 0u;
        uint32_t meta_pdu_length = 0u;
        uint32_t meta_header_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t standard_metadata_checksum_error = 0u;
        uint32_t UpfIngress_user_packet_reason = 0u;
        uint32_t UpfIngress_user_packet_end = 0u;
        struct sp_sum sum1 = {0, 0, 0};
        sp_sum_bytes(&sum1, p + 14, 10);
        sp_sum_bytes(&sum1, p + 14 + 12, 8);
        if (((uint32_t)sp_csum16(&sum1) & 0xffff) != sp_ld16(p + 14 + 10)) {
            standard_metadata_checksum_error = 1u;
        }
        if (standard_metadata_checksum_error == 1u) {
            meta_reason = 0x11u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x11u, 0u);
            goto done;
        }
        UpfIngress_user_packet_reason = 0u;
        meta_ip_version = 4u;
        meta_src_v4 = sp_ld32(p + 14 + 12);
        meta_dst_v4 = sp_ld32(p + 14 + 16); c->v.meta_dst_v4 = meta_dst_v4;
        meta_protocol = sp_ld8(p + 14 + 9);
        meta_tos = sp_ld8(p + 14 + 1);
        meta_pdu_length = sp_ld16(p + 14 + 2);
        meta_header_length = 0x14u;
        meta_src_port = sp_ld16(p + 34);
        meta_dst_port = sp_ld16(p + 34 + 2);
        meta_header_length = 0x18u;
        UpfIngress_user_packet_end = (sp_ld16(p + 14 + 2) + 0xeu);
        if (((sp_ld16(p + 14 + 2) + 0xeu) > ((uint32_t)pk->length)) || (sp_ld16(p + 14 + 2) < 0x18u)) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        const uint64_t x2 = (uint64_t)((uint32_t)pk->port & 0x1ff) << 48 | (uint64_t)(sp_ld64(p) >> 16);
        n_106 += (n_106 == begin_106) | (x2 != word_106_0);
        wait_106->key_of[i] = n_106 - 1;
        sp_st64(wait_106->bytes + (n_106 - 1) * 8 + 0, x2);
        word_106_0 = x2;
        to_106 |= bit;
        done:;
    }
    run->todo[106] |= to_106;
    wait_106->keys = n_106;
}

static __attribute__((noinline)) void class_5_stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_110 = 0;
    struct sp_wait *const wait_110 = &run->wait[85];
    uint32_t n_110 = wait_110->keys;
    uint32_t begin_110 = n_110;
    uint64_t word_110_0 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_station];
    const struct sp_wait *const wait = &run->wait[81];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_station *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_vrf = 0u;
        uint32_t meta_loopback = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_station_route_vrf = 0u;
        uint32_t UpfIngress_station_loopback_vrf = 0u;
        uint32_t UpfIngress_station_group_vrf = 0u;
        uint32_t UpfIngress_station_drop_reason = 0u;
        uint32_t UpfIngress_station_tmp = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        UpfIngress_station_tmp = r->action;
        switch (r->action) {
            case ACTION_route: {
                UpfIngress_station_route_vrf = r->route.vrf_0;
                meta_vrf = UpfIngress_station_route_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_loopback: {
                UpfIngress_station_loopback_vrf = r->loopback.vrf_0;
                meta_vrf = UpfIngress_station_loopback_vrf; c->v.meta_vrf = meta_vrf;
                meta_loopback = 1u; c->v.meta_loopback = meta_loopback;
                break;
            }
            case ACTION_group: {
                UpfIngress_station_group_vrf = r->group.vrf_0;
                meta_vrf = UpfIngress_station_group_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_UpfIngress_station_drop: {
                UpfIngress_station_drop_reason = r->UpfIngress_station_drop.reason_0;
                meta_reason = UpfIngress_station_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, 0u);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_station_tmp) {
            case 2u: {
                meta_reason = 0x2au;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x2au, 0u);
                goto done;
            }
            default: {
                break;
            }
        }
        UpfIngress_session_remote_v4 = 0u;
        UpfIngress_session_local_v4 = 0u;
        UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_remote_port = 0u;
        UpfIngress_session_local_port = 0u;
        UpfIngress_session_flow_label = 0u;
        const uint64_t x3 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
        n_110 += (n_110 == begin_110) | (x3 != word_110_0);
        wait_110->key_of[i] = n_110 - 1;
        sp_st64(wait_110->bytes + (n_110 - 1) * 8 + 0, x3);
        word_110_0 = x3;
        to_110 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[110] |= to_110;
    wait_110->keys = n_110;
}

static __attribute__((noinline)) void class_5_stage_5_pdr_by_ue_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_111 = 0;
    uint64_t to_116 = 0;
    uint64_t to_119 = 0;
    uint64_t to_120 = 0;
    uint64_t to_122 = 0;
    uint64_t to_123 = 0;
    struct sp_wait *const wait_111 = &run->wait[86];
    uint32_t n_111 = wait_111->keys;
    uint32_t begin_111 = n_111;
    uint64_t word_111_0 = 0;
    struct sp_wait *const wait_116 = &run->wait[91];
    uint32_t n_116 = wait_116->keys;
    uint32_t begin_116 = n_116;
    uint64_t word_116_0 = 0;
    uint64_t word_116_1 = 0;
    uint64_t word_116_2 = 0;
    struct sp_wait *const wait_119 = &run->wait[94];
    uint32_t n_119 = wait_119->keys;
    uint32_t begin_119 = n_119;
    uint64_t word_119_0 = 0;
    uint64_t word_119_1 = 0;
    struct sp_wait *const wait_120 = &run->wait[95];
    uint32_t n_120 = wait_120->keys;
    uint32_t begin_120 = n_120;
    uint64_t word_120_0 = 0;
    uint64_t word_120_1 = 0;
    struct sp_wait *const wait_122 = &run->wait[97];
    uint32_t n_122 = wait_122->keys;
    uint32_t begin_122 = n_122;
    uint64_t word_122_0 = 0;
    struct sp_wait *const wait_123 = &run->wait[98];
    uint32_t n_123 = wait_123->keys;
    uint32_t begin_123 = n_123;
    uint64_t word_123_0 = 0;
    struct sp_table *const table_firewall_v4 = &run->lane->tables[TABLE_firewall_v4];
    const uint32_t skip_firewall_v4 = !table_firewall_v4->lookup && ((const struct record_firewall_v4 *)table_firewall_v4->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v4 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_ue_ipv4];
    const struct sp_wait *const wait = &run->wait[85];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_ue_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x2410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + 14 + 16);
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_classified = 0u;
        uint32_t meta_group = 0u;
        uint32_t meta_filter_set = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0u;
        uint32_t UpfIngress_session_set_pdr_disposition = 0u;
        uint32_t UpfIngress_session_set_pdr_flags = 0u;
        uint32_t UpfIngress_session_set_pdr_usage = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0u;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0u;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0x0ull;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0u;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0u;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0u;
        uint32_t UpfIngress_session_classify_group = 0u;
        uint32_t UpfIngress_session_classify_filter_set = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_tmp_4 = 0u;
        uint32_t UpfIngress_session_src_2 = 0u;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        UpfIngress_session_tmp_4 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_4) {
            UpfIngress_session_src_2 = ((sp_ld32(p + 14 + 12) >> 24) & 0xff);
            if (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 14 + 12) >> 24) & 0xff) >= 0xe0u)) || (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0x7fu) || (sp_ld32(p + 14 + 12) == sp_ld32(p + 14 + 16))) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            }
            const uint64_t x4 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_111 += (n_111 == begin_111) | (x4 != word_111_0);
            wait_111->key_of[i] = n_111 - 1;
            sp_st64(wait_111->bytes + (n_111 - 1) * 8 + 0, x4);
            word_111_0 = x4;
            to_111 |= bit;
            goto done;
        } else {
            goto node_11;
        }
        node_11:;
        if (meta_classified == 1u) {
            UpfIngress_session_remote_v4 = sp_ld32(p + 14 + 12);
            UpfIngress_session_local_v4 = sp_ld32(p + 14 + 16);
            UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            UpfIngress_session_remote_port = sp_ld16(p + 34);
            UpfIngress_session_local_port = sp_ld16(p + 34 + 2);
            const uint32_t x5 = sp_ld32(p + 14 + 16);
            const uint64_t x6 = (uint64_t)meta_filter_set << 48 | (uint64_t)sp_ld32(p + 14 + 12) << 16 | (uint64_t)(x5 >> 16);
            const uint64_t x7 = (uint64_t)x5 << 48 | (uint64_t)sp_ld8(p + 14 + 9) << 40 | (uint64_t)sp_ld16(p + 34) << 24 | (uint64_t)sp_ld16(p + 34 + 2) << 8 | (uint64_t)sp_ld8(p + 14 + 1);
            const uint64_t x8 = (uint64_t)0u << 56;
            n_116 += (n_116 == begin_116) | (x6 != word_116_0) | (x7 != word_116_1) | (x8 != word_116_2);
            wait_116->key_of[i] = n_116 - 1;
            sp_st64(wait_116->bytes + (n_116 - 1) * 24 + 0, x6);
            word_116_0 = x6;
            sp_st64(wait_116->bytes + (n_116 - 1) * 24 + 8, x7);
            word_116_1 = x7;
            sp_st64(wait_116->bytes + (n_116 - 1) * 24 + 16, x8);
            word_116_2 = x8;
            to_116 |= bit;
            goto done;
        } else {
            goto node_9;
        }
        node_9:;
        if (skip_firewall_v4) {
            skipped_firewall_v4++;
            goto node_8;
        }
        const uint32_t x9 = sp_ld32(p + 14 + 16);
        const uint64_t x10 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 12) << 16 | (uint64_t)(x9 >> 16);
        const uint64_t x11 = (uint64_t)x9 << 48 | (uint64_t)sp_ld8(p + 14 + 9) << 40 | (uint64_t)sp_ld16(p + 34) << 24 | (uint64_t)sp_ld16(p + 34 + 2) << 8;
        n_119 += (n_119 == begin_119) | (x10 != word_119_0) | (x11 != word_119_1);
        wait_119->key_of[i] = n_119 - 1;
        sp_st64(wait_119->bytes + (n_119 - 1) * 16 + 0, x10);
        word_119_0 = x10;
        sp_st64(wait_119->bytes + (n_119 - 1) * 16 + 8, x11);
        word_119_1 = x11;
        to_119 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + 14 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + 14 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + 14 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 14 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + 14 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x12 = sp_ld32(p + 14 + 16);
        const uint64_t x13 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + 14 + 1) << 48 | (uint64_t)sp_ld32(p + 14 + 12) << 16 | (uint64_t)(x12 >> 16);
        const uint64_t x14 = (uint64_t)x12 << 48 | (uint64_t)sp_ld8(p + 14 + 9) << 40 | (uint64_t)sp_ld16(p + 34) << 24 | (uint64_t)sp_ld16(p + 34 + 2) << 8;
        n_120 += (n_120 == begin_120) | (x13 != word_120_0) | (x14 != word_120_1);
        wait_120->key_of[i] = n_120 - 1;
        sp_st64(wait_120->bytes + (n_120 - 1) * 16 + 0, x13);
        word_120_0 = x13;
        sp_st64(wait_120->bytes + (n_120 - 1) * 16 + 8, x14);
        word_120_1 = x14;
        to_120 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + 14 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + 14 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + 14 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x15 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_123 += (n_123 == begin_123) | (x15 != word_123_0);
            wait_123->key_of[i] = n_123 - 1;
            sp_st64(wait_123->bytes + (n_123 - 1) * 8 + 0, x15);
            word_123_0 = x15;
            to_123 |= bit;
            goto done;
        } else {
            const uint64_t x16 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_122 += (n_122 == begin_122) | (x16 != word_122_0);
            wait_122->key_of[i] = n_122 - 1;
            sp_st64(wait_122->bytes + (n_122 - 1) * 8 + 0, x16);
            word_122_0 = x16;
            to_122 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[111] |= to_111;
    run->todo[116] |= to_116;
    run->todo[119] |= to_119;
    run->todo[120] |= to_120;
    run->todo[122] |= to_122;
    run->todo[123] |= to_123;
    wait_111->keys = n_111;
    wait_116->keys = n_116;
    wait_119->keys = n_119;
    wait_120->keys = n_120;
    wait_122->keys = n_122;
    wait_123->keys = n_123;
    sp_looked_up(table_firewall_v4, 0, skipped_firewall_v4);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static __attribute__((noinline)) void class_5_stage_6_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv4];
    const struct sp_wait *const wait = &run->wait[86];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_local_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x2410;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_tmp_5 = 0u;
        UpfIngress_session_tmp_5 = r->action;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 3u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_gtpu_endpoint:
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_session_tmp_5) {
            case 7u: {
                if ((sp_ld8(p + 14 + 9) == 0x11u) && ((((sp_ld8(p + 14 + 6) >> 5) & 0x1) == 1u) || ((sp_ld16(p + 14 + 6) & 0x1fff) != 0u))) {
                    meta_reason = 0x15u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x15u, meta_mark);
                    goto done;
                }
                meta_reason = 3u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 3u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            default: {
                meta_reason = 0x1au;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1au, meta_mark);
                goto done;
            }
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}


static __attribute__((noinline)) void class_5_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_119 = 0;
    uint64_t to_120 = 0;
    uint64_t to_122 = 0;
    uint64_t to_123 = 0;
    struct sp_wait *const wait_119 = &run->wait[94];
    uint32_t n_119 = wait_119->keys;
    uint32_t begin_119 = n_119;
    uint64_t word_119_0 = 0;
    uint64_t word_119_1 = 0;
    struct sp_wait *const wait_120 = &run->wait[95];
    uint32_t n_120 = wait_120->keys;
    uint32_t begin_120 = n_120;
    uint64_t word_120_0 = 0;
    uint64_t word_120_1 = 0;
    struct sp_wait *const wait_122 = &run->wait[97];
    uint32_t n_122 = wait_122->keys;
    uint32_t begin_122 = n_122;
    uint64_t word_122_0 = 0;
    struct sp_wait *const wait_123 = &run->wait[98];
    uint32_t n_123 = wait_123->keys;
    uint32_t begin_123 = n_123;
    uint64_t word_123_0 = 0;
    struct sp_table *const table_firewall_v4 = &run->lane->tables[TABLE_firewall_v4];
    const uint32_t skip_firewall_v4 = !table_firewall_v4->lookup && ((const struct record_firewall_v4 *)table_firewall_v4->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v4 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_class];
    const struct sp_wait *const wait = &run->wait[92];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_class *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x2410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + 14 + 16);
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_no_pdr: {
                meta_reason = 0x1bu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1bu, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (skip_firewall_v4) {
            skipped_firewall_v4++;
            goto node_8;
        }
        const uint32_t x18 = sp_ld32(p + 14 + 16);
        const uint64_t x19 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + 14 + 12) << 16 | (uint64_t)(x18 >> 16);
        const uint64_t x20 = (uint64_t)x18 << 48 | (uint64_t)sp_ld8(p + 14 + 9) << 40 | (uint64_t)sp_ld16(p + 34) << 24 | (uint64_t)sp_ld16(p + 34 + 2) << 8;
        n_119 += (n_119 == begin_119) | (x19 != word_119_0) | (x20 != word_119_1);
        wait_119->key_of[i] = n_119 - 1;
        sp_st64(wait_119->bytes + (n_119 - 1) * 16 + 0, x19);
        word_119_0 = x19;
        sp_st64(wait_119->bytes + (n_119 - 1) * 16 + 8, x20);
        word_119_1 = x20;
        to_119 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + 14 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + 14 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + 14 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 14 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + 14 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x21 = sp_ld32(p + 14 + 16);
        const uint64_t x22 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + 14 + 1) << 48 | (uint64_t)sp_ld32(p + 14 + 12) << 16 | (uint64_t)(x21 >> 16);
        const uint64_t x23 = (uint64_t)x21 << 48 | (uint64_t)sp_ld8(p + 14 + 9) << 40 | (uint64_t)sp_ld16(p + 34) << 24 | (uint64_t)sp_ld16(p + 34 + 2) << 8;
        n_120 += (n_120 == begin_120) | (x22 != word_120_0) | (x23 != word_120_1);
        wait_120->key_of[i] = n_120 - 1;
        sp_st64(wait_120->bytes + (n_120 - 1) * 16 + 0, x22);
        word_120_0 = x22;
        sp_st64(wait_120->bytes + (n_120 - 1) * 16 + 8, x23);
        word_120_1 = x23;
        to_120 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + 14 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + 14 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + 14 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x24 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_123 += (n_123 == begin_123) | (x24 != word_123_0);
            wait_123->key_of[i] = n_123 - 1;
            sp_st64(wait_123->bytes + (n_123 - 1) * 8 + 0, x24);
            word_123_0 = x24;
            to_123 |= bit;
            goto done;
        } else {
            const uint64_t x25 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_122 += (n_122 == begin_122) | (x25 != word_122_0);
            wait_122->key_of[i] = n_122 - 1;
            sp_st64(wait_122->bytes + (n_122 - 1) * 8 + 0, x25);
            word_122_0 = x25;
            to_122 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[119] |= to_119;
    run->todo[120] |= to_120;
    run->todo[122] |= to_122;
    run->todo[123] |= to_123;
    wait_119->keys = n_119;
    wait_120->keys = n_120;
    wait_122->keys = n_122;
    wait_123->keys = n_123;
    sp_looked_up(table_firewall_v4, 0, skipped_firewall_v4);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static __attribute__((noinline)) void class_5_stage_14_firewall_v4(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_120 = 0;
    uint64_t to_122 = 0;
    uint64_t to_123 = 0;
    struct sp_wait *const wait_120 = &run->wait[95];
    uint32_t n_120 = wait_120->keys;
    uint32_t begin_120 = n_120;
    uint64_t word_120_0 = 0;
    uint64_t word_120_1 = 0;
    struct sp_wait *const wait_122 = &run->wait[97];
    uint32_t n_122 = wait_122->keys;
    uint32_t begin_122 = n_122;
    uint64_t word_122_0 = 0;
    struct sp_wait *const wait_123 = &run->wait[98];
    uint32_t n_123 = wait_123->keys;
    uint32_t begin_123 = n_123;
    uint64_t word_123_0 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_firewall_v4];
    const struct sp_wait *const wait = &run->wait[94];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_firewall_v4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x2410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + 14 + 16);
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        switch (r->action) {
            case ACTION_deny: {
                meta_reason = 0x21u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x21u, meta_mark);
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + 14 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + 14 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + 14 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 14 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + 14 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + 14 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x26 = sp_ld32(p + 14 + 16);
        const uint64_t x27 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + 14 + 1) << 48 | (uint64_t)sp_ld32(p + 14 + 12) << 16 | (uint64_t)(x26 >> 16);
        const uint64_t x28 = (uint64_t)x26 << 48 | (uint64_t)sp_ld8(p + 14 + 9) << 40 | (uint64_t)sp_ld16(p + 34) << 24 | (uint64_t)sp_ld16(p + 34 + 2) << 8;
        n_120 += (n_120 == begin_120) | (x27 != word_120_0) | (x28 != word_120_1);
        wait_120->key_of[i] = n_120 - 1;
        sp_st64(wait_120->bytes + (n_120 - 1) * 16 + 0, x27);
        word_120_0 = x27;
        sp_st64(wait_120->bytes + (n_120 - 1) * 16 + 8, x28);
        word_120_1 = x28;
        to_120 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + 14 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + 14 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + 14 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x29 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_123 += (n_123 == begin_123) | (x29 != word_123_0);
            wait_123->key_of[i] = n_123 - 1;
            sp_st64(wait_123->bytes + (n_123 - 1) * 8 + 0, x29);
            word_123_0 = x29;
            to_123 |= bit;
            goto done;
        } else {
            const uint64_t x30 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + 14 + 16) << 16;
            n_122 += (n_122 == begin_122) | (x30 != word_122_0);
            wait_122->key_of[i] = n_122 - 1;
            sp_st64(wait_122->bytes + (n_122 - 1) * 8 + 0, x30);
            word_122_0 = x30;
            to_122 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[120] |= to_120;
    run->todo[122] |= to_122;
    run->todo[123] |= to_123;
    wait_120->keys = n_120;
    wait_122->keys = n_122;
    wait_123->keys = n_123;
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}




static __attribute__((noinline)) void class_5_stage_19_nexthop_others(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[99];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x2410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_pdu_length = sp_ld16(p + 14 + 2);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        uint32_t UpfIngress_route_send_vxlan_port = 0u;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_vni = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0u;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0u;
        uint32_t UpfIngress_route_send_vxlan_frame = 0u;
        uint32_t UpfIngress_route_unresolved_nexthop = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl_2 = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum_2 = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum_2 = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint64_t f_underlay_ethernet_0_dst = 0;
        uint64_t f_underlay_ethernet_1_src = 0;
        uint32_t f_underlay_ethernet_2_ethertype = 0;
        uint32_t f_underlay_ipv4_0_version = 0;
        uint32_t f_underlay_ipv4_1_ihl = 0;
        uint32_t f_underlay_ipv4_2_tos = 0;
        uint32_t f_underlay_ipv4_3_total_length = 0;
        uint32_t f_underlay_ipv4_4_identification = 0;
        uint32_t f_underlay_ipv4_5_reserved = 0;
        uint32_t f_underlay_ipv4_6_dont_fragment = 0;
        uint32_t f_underlay_ipv4_7_more_fragments = 0;
        uint32_t f_underlay_ipv4_8_fragment_offset = 0;
        uint32_t f_underlay_ipv4_9_ttl = 0;
        uint32_t f_underlay_ipv4_10_protocol = 0;
        uint32_t f_underlay_ipv4_11_checksum = 0;
        uint32_t f_underlay_ipv4_12_src = 0;
        uint32_t f_underlay_ipv4_13_dst = 0;
        uint32_t f_underlay_udp_0_src = 0;
        uint32_t f_underlay_udp_1_dst = 0;
        uint32_t f_underlay_udp_2_length = 0;
        uint32_t f_underlay_udp_3_checksum = 0;
        uint32_t f_vxlan_0_flags = 0;
        uint32_t f_vxlan_1_reserved = 0;
        uint32_t f_vxlan_2_vni = 0;
        uint32_t f_vxlan_3_reserved2 = 0;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port;
                sp_st48(p + 6, UpfIngress_route_send_vxlan_src_mac);
                sp_st48(p, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                f_underlay_ethernet_0_dst = f_underlay_ethernet_1_src = f_underlay_ethernet_2_ethertype = 0;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x43 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                f_underlay_ethernet_0_dst = x43;
                const uint64_t x44 = UpfIngress_route_send_vxlan_underlay_src_mac;
                f_underlay_ethernet_1_src = x44;
                f_underlay_ethernet_2_ethertype = 0x800u;
                f_underlay_ipv4_0_version = f_underlay_ipv4_1_ihl = f_underlay_ipv4_2_tos = f_underlay_ipv4_3_total_length = f_underlay_ipv4_4_identification = f_underlay_ipv4_5_reserved = f_underlay_ipv4_6_dont_fragment = f_underlay_ipv4_7_more_fragments = f_underlay_ipv4_8_fragment_offset = f_underlay_ipv4_9_ttl = f_underlay_ipv4_10_protocol = f_underlay_ipv4_11_checksum = f_underlay_ipv4_12_src = f_underlay_ipv4_13_dst = 0;
                valid |= SP_BIT(V_underlay_ipv4);
                f_underlay_ipv4_0_version = 4u;
                f_underlay_ipv4_1_ihl = 5u;
                f_underlay_ipv4_2_tos = 0u;
                f_underlay_ipv4_4_identification = 0u;
                f_underlay_ipv4_5_reserved = 0u;
                f_underlay_ipv4_7_more_fragments = 0u;
                f_underlay_ipv4_8_fragment_offset = 0u;
                f_underlay_ipv4_11_checksum = 0u;
                const uint32_t x45 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                f_underlay_ipv4_3_total_length = x45;
                f_underlay_ipv4_6_dont_fragment = 1u;
                f_underlay_ipv4_9_ttl = 0x40u;
                f_underlay_ipv4_10_protocol = 0x11u;
                f_underlay_ipv4_12_src = UpfIngress_route_send_vxlan_vtep_src;
                f_underlay_ipv4_13_dst = UpfIngress_route_send_vxlan_vtep_dst;
                f_underlay_udp_0_src = f_underlay_udp_1_dst = f_underlay_udp_2_length = f_underlay_udp_3_checksum = 0;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x46 = (((meta_dst_v4 & 0xffff) ^ sp_ld16(p + 34)) | 0xc000u);
                f_underlay_udp_0_src = x46;
                f_underlay_udp_1_dst = 0x12b5u;
                const uint32_t x47 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                f_underlay_udp_2_length = x47;
                f_underlay_udp_3_checksum = 0u;
                f_vxlan_0_flags = f_vxlan_1_reserved = f_vxlan_2_vni = f_vxlan_3_reserved2 = 0;
                valid |= SP_BIT(V_vxlan);
                f_vxlan_0_flags = 8u;
                f_vxlan_2_vni = UpfIngress_route_send_vxlan_vni;
                f_vxlan_1_reserved = 0u;
                f_vxlan_3_reserved2 = 0u;
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 14 + 8);
            if (sp_ld8(p + 14 + 8) <= 1u) {
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - sp_ld16(p + 14 + 2)) & 0xffff)) & 0xffff);
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_tunnel_decrement_ipv4_ttl_2 = sp_ld8(p + 14 + 8);
            UpfIngress_tunnel_decrement_ipv4_checksum_2 = sp_ld16(p + 14 + 10);
            UpfIngress_tunnel_decrement_ipv4_ttl_2 = ((sp_ld8(p + 14 + 8) - 1u) & 0xff);
            UpfIngress_tunnel_decrement_ipv4_sum_2 = ((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff);
            UpfIngress_tunnel_decrement_ipv4_checksum_2 = ((((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff) >= 0xffffu) ? (((((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff) & 0xffff) + 1u) & 0xffff) : (((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff) & 0xffff));
            sp_st8(p + 14 + 8, ((sp_ld8(p + 14 + 8) - 1u) & 0xff));
            const uint32_t x48 = UpfIngress_tunnel_decrement_ipv4_checksum_2;
            sp_st16(p + 14 + 10, x48);
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x800u);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x49 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x49;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x50 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x50;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x51 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x51;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
        }
        c->keep = (meta_out_length + 0x40u);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum52 = {0, 0, 0};
            sp_sum_value(&sum52, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum52, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum52, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum52, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum52, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum52, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum52, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum52, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum52, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum52, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum52, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum52, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum52, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum52) & 0xffff);
        }
        struct sp_sum sum53 = {0, 0, 0};
        sp_sum_value(&sum53, f_underlay_ipv4_0_version, 4);
        sp_sum_value(&sum53, f_underlay_ipv4_1_ihl, 4);
        sp_sum_value(&sum53, f_underlay_ipv4_2_tos, 8);
        sp_sum_value(&sum53, f_underlay_ipv4_3_total_length, 16);
        sp_sum_value(&sum53, f_underlay_ipv4_4_identification, 16);
        sp_sum_value(&sum53, f_underlay_ipv4_5_reserved, 1);
        sp_sum_value(&sum53, f_underlay_ipv4_6_dont_fragment, 1);
        sp_sum_value(&sum53, f_underlay_ipv4_7_more_fragments, 1);
        sp_sum_value(&sum53, f_underlay_ipv4_8_fragment_offset, 13);
        sp_sum_value(&sum53, f_underlay_ipv4_9_ttl, 8);
        sp_sum_value(&sum53, f_underlay_ipv4_10_protocol, 8);
        sp_sum_value(&sum53, f_underlay_ipv4_12_src, 32);
        sp_sum_value(&sum53, f_underlay_ipv4_13_dst, 32);
        f_underlay_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum53) & 0xffff);
        /* deparser */
        if (valid == 0x27ffull) {
            if (pk->start < 94 || pk->length + 94 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b54_0_0; __builtin_memcpy(&b54_0_0, p, 4);
            sp_block2 b54_1_0; __builtin_memcpy(&b54_1_0, p + 4, 2);
            sp_block4 b54_2_0; __builtin_memcpy(&b54_2_0, p + 6, 4);
            sp_block2 b54_3_0; __builtin_memcpy(&b54_3_0, p + 10, 2);
            sp_block2 b54_4_0; __builtin_memcpy(&b54_4_0, p + 12, 2);
            __builtin_memcpy(p - 44, &b54_0_0, 4);
            __builtin_memcpy(p - 40, &b54_1_0, 2);
            __builtin_memcpy(p - 38, &b54_2_0, 4);
            __builtin_memcpy(p - 34, &b54_3_0, 2);
            __builtin_memcpy(p - 32, &b54_4_0, 2);
            sp_st64(p - 94, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 86, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 82, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 80, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 72, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 64, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 60, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 52, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p - 30, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 14, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 10, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p - 2, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 6, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 10, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 94;
            pk->length += 94;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x24ffull) {
            if (pk->start < 86 || pk->length + 86 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b55_0_0; __builtin_memcpy(&b55_0_0, p, 4);
            sp_block2 b55_1_0; __builtin_memcpy(&b55_1_0, p + 4, 2);
            sp_block4 b55_2_0; __builtin_memcpy(&b55_2_0, p + 6, 4);
            sp_block2 b55_3_0; __builtin_memcpy(&b55_3_0, p + 10, 2);
            sp_block2 b55_4_0; __builtin_memcpy(&b55_4_0, p + 12, 2);
            __builtin_memcpy(p - 36, &b55_0_0, 4);
            __builtin_memcpy(p - 32, &b55_1_0, 2);
            __builtin_memcpy(p - 30, &b55_2_0, 4);
            __builtin_memcpy(p - 26, &b55_3_0, 2);
            __builtin_memcpy(p - 24, &b55_4_0, 2);
            sp_st64(p - 86, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 78, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 74, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 72, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 64, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 56, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 52, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 44, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 6, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 2, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 6, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 86;
            pk->length += 86;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->start < 50 || pk->length + 50 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        sp_st64(p - 50, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
        sp_st32(p - 42, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
        sp_st16(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
        sp_st64(p - 36, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
        sp_st64(p - 28, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
        sp_st32(p - 20, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
        sp_st64(p - 16, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
        sp_st64(p - 8, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
        pk->start -= 50;
        pk->length += 50;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void class_5_stage_19_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[99];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    uint32_t others = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        if (__builtin_expect(r->action != ACTION_send, 0)) {
            const uint64_t row = sp_row(wait, table, left, ACTION_send);
            
            class_5_stage_19_nexthop_others(run, row);
            
            others += __builtin_popcountll(row);
            left &= ~row | bit;
            continue;
        }
        found += hit;
        uint64_t valid = 0x2410;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = sp_ld16(p + 14 + 2);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_send_port = 0u;
        uint64_t UpfIngress_route_send_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_mtu = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_ttl_2 = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_checksum_2 = 0u;
        uint32_t UpfIngress_tunnel_decrement_ipv4_sum_2 = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_port;
                sp_st48(p + 6, UpfIngress_route_send_src_mac);
                sp_st48(p, UpfIngress_route_send_dst_mac);
                break;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 14 + 8);
            if (sp_ld8(p + 14 + 8) <= 1u) {
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - sp_ld16(p + 14 + 2)) & 0xffff)) & 0xffff);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_5_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)sp_ld16(p + 14 + 2)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_tunnel_decrement_ipv4_ttl_2 = sp_ld8(p + 14 + 8);
            UpfIngress_tunnel_decrement_ipv4_checksum_2 = sp_ld16(p + 14 + 10);
            UpfIngress_tunnel_decrement_ipv4_ttl_2 = ((sp_ld8(p + 14 + 8) - 1u) & 0xff);
            UpfIngress_tunnel_decrement_ipv4_sum_2 = ((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff);
            UpfIngress_tunnel_decrement_ipv4_checksum_2 = ((((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff) >= 0xffffu) ? (((((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff) & 0xffff) + 1u) & 0xffff) : (((sp_ld16(p + 14 + 10) + 0x100u) & 0x1ffff) & 0xffff));
            sp_st8(p + 14 + 8, ((sp_ld8(p + 14 + 8) - 1u) & 0xff));
            const uint32_t x35 = UpfIngress_tunnel_decrement_ipv4_checksum_2;
            sp_st16(p + 14 + 10, x35);
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x800u);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x36 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x36;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x37 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x37;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x38 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x38;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
        }
        c->keep = (meta_out_length + 0xeu);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum39 = {0, 0, 0};
            sp_sum_value(&sum39, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum39, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum39, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum39, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum39, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum39, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum39, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum39, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum39, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum39, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum39, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum39, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum39, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum39) & 0xffff);
        }
        /* deparser */
        if (valid == 0x27f0ull) {
            if (pk->start < 44 || pk->length + 44 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b40_0_0; __builtin_memcpy(&b40_0_0, p, 4);
            sp_block2 b40_1_0; __builtin_memcpy(&b40_1_0, p + 4, 2);
            sp_block4 b40_2_0; __builtin_memcpy(&b40_2_0, p + 6, 4);
            sp_block2 b40_3_0; __builtin_memcpy(&b40_3_0, p + 10, 2);
            sp_block2 b40_4_0; __builtin_memcpy(&b40_4_0, p + 12, 2);
            __builtin_memcpy(p - 44, &b40_0_0, 4);
            __builtin_memcpy(p - 40, &b40_1_0, 2);
            __builtin_memcpy(p - 38, &b40_2_0, 4);
            __builtin_memcpy(p - 34, &b40_3_0, 2);
            __builtin_memcpy(p - 32, &b40_4_0, 2);
            sp_st64(p - 30, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 14, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 10, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p - 2, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 6, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 10, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 44;
            pk->length += 44;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x24f0ull) {
            if (pk->start < 36 || pk->length + 36 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b41_0_0; __builtin_memcpy(&b41_0_0, p, 4);
            sp_block2 b41_1_0; __builtin_memcpy(&b41_1_0, p + 4, 2);
            sp_block4 b41_2_0; __builtin_memcpy(&b41_2_0, p + 6, 4);
            sp_block2 b41_3_0; __builtin_memcpy(&b41_3_0, p + 10, 2);
            sp_block2 b41_4_0; __builtin_memcpy(&b41_4_0, p + 12, 2);
            __builtin_memcpy(p - 36, &b41_0_0, 4);
            __builtin_memcpy(p - 32, &b41_1_0, 2);
            __builtin_memcpy(p - 30, &b41_2_0, 4);
            __builtin_memcpy(p - 26, &b41_3_0, 2);
            __builtin_memcpy(p - 24, &b41_4_0, 2);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 6, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 2, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 6, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 36;
            pk->length += 36;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - others - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline, cold)) void class_6_leave_0(struct sp_context *const c, uint8_t *const p)
{
    c->payload = p + 58;
    c->h_underlay_ethernet = sp_nothing;
    c->h_underlay_ipv4 = sp_nothing;
    c->h_underlay_udp = sp_nothing;
    c->h_vxlan = sp_nothing;
    c->h_ethernet = p;
    c->h_ipv4 = sp_nothing;
    c->h_ipv4_options = sp_nothing;
    c->h_ipv6 = p + 14;
    c->h_ports = p + 54;
    c->h_udp_rest = sp_nothing;
    c->h_gtpu = sp_nothing;
    c->h_gtpu_optional = sp_nothing;
    c->h_gtpu_psc = sp_nothing;
    c->h_gtpu_numbers = sp_nothing;
    c->h_gtpu_extension_1 = sp_nothing;
    c->h_gtpu_extension_2 = sp_nothing;
    c->h_gtpu_extension_3 = sp_nothing;
    c->h_gtpu_extension_4 = sp_nothing;
    c->h_gtpu_end = sp_nothing;
    c->h_inner_ipv4 = sp_nothing;
    c->h_inner_ipv4_options = sp_nothing;
    c->h_inner_ipv6 = sp_nothing;
    c->h_extension_1 = sp_nothing;
    c->h_extension_2 = sp_nothing;
    c->h_extension_3 = sp_nothing;
    c->h_extension_4 = sp_nothing;
    c->h_inner_ports = sp_nothing;
    c->n_ipv4_options = 0;
    c->n_gtpu_extension_1 = 0;
    c->n_gtpu_extension_2 = 0;
    c->n_gtpu_extension_3 = 0;
    c->n_gtpu_extension_4 = 0;
    c->n_inner_ipv4_options = 0;
    c->n_extension_1 = 0;
    c->n_extension_2 = 0;
    c->n_extension_3 = 0;
    c->n_extension_4 = 0;
}

static __attribute__((noinline)) void class_6_stage_0_parser(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_126 = 0;
    struct sp_wait *const wait_126 = &run->wait[101];
    uint32_t n_126 = wait_126->keys;
    uint32_t begin_126 = n_126;
    uint64_t word_126_0 = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        c->rule_set_pdr = &sp_zero_set_pdr;
        c->keep = 0xffffffffu;
        c->v.meta_dst_v4 = 0u;
        c->v.meta_vrf = 0u;
        c->v.meta_group = 0u;
        c->v.meta_class_meter = 0u;
        c->v.meta_out_length = 0u;
        c->v.meta_mark = 0u;
        uint32_t meta_ip_version = 0u;
        sp_u128 meta_src_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 meta_dst_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t meta_protocol = 0u;
        uint32_t meta_tos = 0u;
        uint32_t meta_src_port = 0u;
        uint32_t meta_dst_port = 0u;
        uint32_t meta_pdu_length = 0u;
        uint32_t meta_header_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_user_packet_reason = 0u;
        uint32_t UpfIngress_user_packet_end = 0u;
        UpfIngress_user_packet_reason = 0u;
        meta_ip_version = 6u;
        meta_src_v6 = sp_ld128(p + 14 + 8);
        meta_dst_v6 = sp_ld128(p + 14 + 24);
        meta_protocol = sp_ld8(p + 14 + 6);
        meta_tos = ((sp_ld16(p + 14) >> 4) & 0xff);
        meta_pdu_length = (sp_ld16(p + 14 + 4) + 0x28u);
        meta_header_length = 0x28u;
        meta_src_port = sp_ld16(p + 54);
        meta_dst_port = sp_ld16(p + 54 + 2);
        meta_header_length = 0x2cu;
        UpfIngress_user_packet_end = ((sp_ld16(p + 14 + 4) + 0x28u) + 0xeu);
        if ((((sp_ld16(p + 14 + 4) + 0x28u) + 0xeu) > ((uint32_t)pk->length)) || ((sp_ld16(p + 14 + 4) + 0x28u) < 0x2cu)) {
            meta_reason = 0x12u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x12u, 0u);
            goto done;
        }
        const uint64_t x1 = (uint64_t)((uint32_t)pk->port & 0x1ff) << 48 | (uint64_t)(sp_ld64(p) >> 16);
        n_126 += (n_126 == begin_126) | (x1 != word_126_0);
        wait_126->key_of[i] = n_126 - 1;
        sp_st64(wait_126->bytes + (n_126 - 1) * 8 + 0, x1);
        word_126_0 = x1;
        to_126 |= bit;
        done:;
    }
    run->todo[126] |= to_126;
    wait_126->keys = n_126;
}

static __attribute__((noinline)) void class_6_stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_128 = 0;
    struct sp_wait *const wait_128 = &run->wait[103];
    uint32_t n_128 = wait_128->keys;
    uint32_t begin_128 = n_128;
    uint64_t word_128_0 = 0;
    uint64_t word_128_1 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_station];
    const struct sp_wait *const wait = &run->wait[101];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_station *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_vrf = 0u;
        uint32_t meta_loopback = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_station_route_vrf = 0u;
        uint32_t UpfIngress_station_loopback_vrf = 0u;
        uint32_t UpfIngress_station_group_vrf = 0u;
        uint32_t UpfIngress_station_drop_reason = 0u;
        uint32_t UpfIngress_station_tmp = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        UpfIngress_station_tmp = r->action;
        switch (r->action) {
            case ACTION_route: {
                UpfIngress_station_route_vrf = r->route.vrf_0;
                meta_vrf = UpfIngress_station_route_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_loopback: {
                UpfIngress_station_loopback_vrf = r->loopback.vrf_0;
                meta_vrf = UpfIngress_station_loopback_vrf; c->v.meta_vrf = meta_vrf;
                meta_loopback = 1u;
                break;
            }
            case ACTION_group: {
                UpfIngress_station_group_vrf = r->group.vrf_0;
                meta_vrf = UpfIngress_station_group_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_UpfIngress_station_drop: {
                UpfIngress_station_drop_reason = r->UpfIngress_station_drop.reason_0;
                meta_reason = UpfIngress_station_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, 0u);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_station_tmp) {
            case 2u: {
                if (((uint32_t)(sp_ld128(p + 14 + 24) >> 120) & 0xff) != 0xffu) {
                    meta_reason = 0x2au;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x2au, 0u);
                    goto done;
                }
                break;
            }
            default: {
                break;
            }
        }
        UpfIngress_session_remote_v4 = 0u;
        UpfIngress_session_local_v4 = 0u;
        UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_remote_port = 0u;
        UpfIngress_session_local_port = 0u;
        UpfIngress_session_flow_label = 0u;
        const uint64_t x2 = (uint64_t)(sp_ld128(p + 14 + 24) >> 64);
        const uint64_t x3 = (uint64_t)meta_vrf << 48 | (uint64_t)(x2 >> 16);
        const uint64_t x4 = (uint64_t)x2 << 48;
        n_128 += (n_128 == begin_128) | (x3 != word_128_0) | (x4 != word_128_1);
        wait_128->key_of[i] = n_128 - 1;
        sp_st64(wait_128->bytes + (n_128 - 1) * 16 + 0, x3);
        word_128_0 = x3;
        sp_st64(wait_128->bytes + (n_128 - 1) * 16 + 8, x4);
        word_128_1 = x4;
        to_128 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[128] |= to_128;
    wait_128->keys = n_128;
}

static __attribute__((noinline)) void class_6_stage_3_pdr_by_ue_ipv6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_129 = 0;
    uint64_t to_135 = 0;
    uint64_t to_138 = 0;
    uint64_t to_140 = 0;
    uint64_t to_141 = 0;
    uint64_t to_143 = 0;
    struct sp_wait *const wait_129 = &run->wait[104];
    uint32_t n_129 = wait_129->keys;
    uint32_t begin_129 = n_129;
    uint64_t word_129_0 = 0;
    uint64_t word_129_1 = 0;
    uint64_t word_129_2 = 0;
    struct sp_wait *const wait_135 = &run->wait[110];
    uint32_t n_135 = wait_135->keys;
    uint32_t begin_135 = n_135;
    uint64_t word_135_0 = 0;
    uint64_t word_135_1 = 0;
    uint64_t word_135_2 = 0;
    uint64_t word_135_3 = 0;
    uint64_t word_135_4 = 0;
    uint64_t word_135_5 = 0;
    struct sp_wait *const wait_138 = &run->wait[113];
    uint32_t n_138 = wait_138->keys;
    uint32_t begin_138 = n_138;
    uint64_t word_138_0 = 0;
    uint64_t word_138_1 = 0;
    uint64_t word_138_2 = 0;
    uint64_t word_138_3 = 0;
    uint64_t word_138_4 = 0;
    struct sp_wait *const wait_140 = &run->wait[115];
    uint32_t n_140 = wait_140->keys;
    uint32_t begin_140 = n_140;
    uint64_t word_140_0 = 0;
    uint64_t word_140_1 = 0;
    struct sp_wait *const wait_141 = &run->wait[116];
    uint32_t n_141 = wait_141->keys;
    uint32_t begin_141 = n_141;
    uint64_t word_141_0 = 0;
    uint64_t word_141_1 = 0;
    uint64_t word_141_2 = 0;
    struct sp_wait *const wait_143 = &run->wait[118];
    uint32_t n_143 = wait_143->keys;
    uint32_t begin_143 = n_143;
    uint64_t word_143_0 = 0;
    struct sp_table *const table_local_ipv6 = &run->lane->tables[TABLE_local_ipv6];
    const uint32_t skip_local_ipv6 = !table_local_ipv6->lookup && ((const struct record_local_ipv6 *)table_local_ipv6->miss)->action == ACTION_not_local;
    uint64_t skipped_local_ipv6 = 0;
    struct sp_table *const table_firewall_v6 = &run->lane->tables[TABLE_firewall_v6];
    const uint32_t skip_firewall_v6 = !table_firewall_v6->lookup && ((const struct record_firewall_v6 *)table_firewall_v6->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v6 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_ue_ipv6];
    const struct sp_wait *const wait = &run->wait[103];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_ue_ipv6 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x3010;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_classified = 0u;
        uint32_t meta_group = 0u;
        uint32_t meta_filter_set = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0u;
        uint32_t UpfIngress_session_set_pdr_disposition = 0u;
        uint32_t UpfIngress_session_set_pdr_flags = 0u;
        uint32_t UpfIngress_session_set_pdr_usage = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0u;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0u;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0u;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0x0ull;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0u;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0u;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0u;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0u;
        uint32_t UpfIngress_session_classify_group = 0u;
        uint32_t UpfIngress_session_classify_filter_set = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        uint32_t UpfIngress_session_tmp_6 = 0u;
        UpfIngress_session_tmp_6 = hit;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_classify: {
                UpfIngress_session_classify_group = r->classify.group_0;
                UpfIngress_session_classify_filter_set = r->classify.filter_set_1;
                meta_classified = 1u;
                meta_group = UpfIngress_session_classify_group; c->v.meta_group = meta_group;
                meta_filter_set = UpfIngress_session_classify_filter_set;
                break;
            }
            case ACTION_p4_miss:
                break;
            default:
                __builtin_unreachable();
        }
        if (!UpfIngress_session_tmp_6) {
            if (((((((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) && (((uint32_t)sp_ld128(p + 14 + 8)) != 0u)) || (((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 120) & 0xff) == 0xffu)) || (sp_ld128(p + 14 + 8) == sp_ld128(p + 14 + 24))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            }
            if (skip_local_ipv6) {
                skipped_local_ipv6++;
                goto node_18;
            }
            const sp_u128 x5 = sp_ld128(p + 14 + 24);
            const uint64_t x6 = (uint64_t)meta_vrf << 48 | (uint64_t)(x5 >> 80);
            const uint64_t x7 = (uint64_t)(x5 >> 16);
            const uint64_t x8 = (uint64_t)x5 << 48;
            n_129 += (n_129 == begin_129) | (x6 != word_129_0) | (x7 != word_129_1) | (x8 != word_129_2);
            wait_129->key_of[i] = n_129 - 1;
            sp_st64(wait_129->bytes + (n_129 - 1) * 24 + 0, x6);
            word_129_0 = x6;
            sp_st64(wait_129->bytes + (n_129 - 1) * 24 + 8, x7);
            word_129_1 = x7;
            sp_st64(wait_129->bytes + (n_129 - 1) * 24 + 16, x8);
            word_129_2 = x8;
            to_129 |= bit;
            goto done;
        } else {
            goto node_11;
        }
        node_18:;
        meta_reason = 0x1au;
        standard_metadata_egress_spec = 511u;
        standard_metadata_mcast_grp = 0u;
        sp_drop(run, i, 0x1au, meta_mark);
        goto done;
        node_11:;
        if (meta_classified == 1u) {
            UpfIngress_session_remote_v4 = 0u;
            UpfIngress_session_local_v4 = 0u;
            UpfIngress_session_remote_v6 = sp_ld128(p + 14 + 8);
            UpfIngress_session_local_v6 = sp_ld128(p + 14 + 24);
            UpfIngress_session_remote_port = sp_ld16(p + 54);
            UpfIngress_session_local_port = sp_ld16(p + 54 + 2);
            UpfIngress_session_flow_label = (0 ? 0u : ((sp_ld32(p + 14 + 1) >> 8) & 0xfffff));
            const sp_u128 x9 = sp_ld128(p + 14 + 8);
            const sp_u128 x10 = sp_ld128(p + 14 + 24);
            const uint64_t x11 = (uint64_t)meta_filter_set << 48 | (uint64_t)(x9 >> 80);
            const uint64_t x12 = (uint64_t)(x9 >> 16);
            const uint64_t x13 = (uint64_t)x9 << 48 | (uint64_t)(x10 >> 80);
            const uint64_t x14 = (uint64_t)(x10 >> 16);
            const uint64_t x15 = (uint64_t)x10 << 48 | (uint64_t)sp_ld8(p + 14 + 6) << 40 | (uint64_t)sp_ld16(p + 54) << 24 | (uint64_t)sp_ld16(p + 54 + 2) << 8 | (uint64_t)((sp_ld16(p + 14) >> 4) & 0xff);
            const uint64_t x16 = (uint64_t)(0 ? 0u : ((sp_ld32(p + 14 + 1) >> 8) & 0xfffff)) << 40 | (uint64_t)0u << 32;
            n_135 += (n_135 == begin_135) | (x11 != word_135_0) | (x12 != word_135_1) | (x13 != word_135_2) | (x14 != word_135_3) | (x15 != word_135_4) | (x16 != word_135_5);
            wait_135->key_of[i] = n_135 - 1;
            sp_st64(wait_135->bytes + (n_135 - 1) * 48 + 0, x11);
            word_135_0 = x11;
            sp_st64(wait_135->bytes + (n_135 - 1) * 48 + 8, x12);
            word_135_1 = x12;
            sp_st64(wait_135->bytes + (n_135 - 1) * 48 + 16, x13);
            word_135_2 = x13;
            sp_st64(wait_135->bytes + (n_135 - 1) * 48 + 24, x14);
            word_135_3 = x14;
            sp_st64(wait_135->bytes + (n_135 - 1) * 48 + 32, x15);
            word_135_4 = x15;
            sp_st64(wait_135->bytes + (n_135 - 1) * 48 + 40, x16);
            word_135_5 = x16;
            to_135 |= bit;
            goto done;
        } else {
            goto node_9;
        }
        node_9:;
        if (skip_firewall_v6) {
            skipped_firewall_v6++;
            goto node_8;
        }
        const sp_u128 x17 = sp_ld128(p + 14 + 8);
        const sp_u128 x18 = sp_ld128(p + 14 + 24);
        const uint64_t x19 = (uint64_t)meta_vrf << 48 | (uint64_t)(x17 >> 80);
        const uint64_t x20 = (uint64_t)(x17 >> 16);
        const uint64_t x21 = (uint64_t)x17 << 48 | (uint64_t)(x18 >> 80);
        const uint64_t x22 = (uint64_t)(x18 >> 16);
        const uint64_t x23 = (uint64_t)x18 << 48 | (uint64_t)sp_ld8(p + 14 + 6) << 40 | (uint64_t)sp_ld16(p + 54) << 24 | (uint64_t)sp_ld16(p + 54 + 2) << 8;
        n_138 += (n_138 == begin_138) | (x19 != word_138_0) | (x20 != word_138_1) | (x21 != word_138_2) | (x22 != word_138_3) | (x23 != word_138_4);
        wait_138->key_of[i] = n_138 - 1;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 0, x19);
        word_138_0 = x19;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 8, x20);
        word_138_1 = x20;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 16, x21);
        word_138_2 = x21;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 24, x22);
        word_138_3 = x22;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 32, x23);
        word_138_4 = x23;
        to_138 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + 14 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + 14 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + 14 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + 14 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x24 = 0u;
        const uint64_t x25 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + 14) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x24 >> 16);
        const uint64_t x26 = (uint64_t)x24 << 48 | (uint64_t)sp_ld8(p + 14 + 6) << 40 | (uint64_t)sp_ld16(p + 54) << 24 | (uint64_t)sp_ld16(p + 54 + 2) << 8;
        n_140 += (n_140 == begin_140) | (x25 != word_140_0) | (x26 != word_140_1);
        wait_140->key_of[i] = n_140 - 1;
        sp_st64(wait_140->bytes + (n_140 - 1) * 16 + 0, x25);
        word_140_0 = x25;
        sp_st64(wait_140->bytes + (n_140 - 1) * 16 + 8, x26);
        word_140_1 = x26;
        to_140 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + 14 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + 14 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + 14 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x27 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_143 += (n_143 == begin_143) | (x27 != word_143_0);
            wait_143->key_of[i] = n_143 - 1;
            sp_st64(wait_143->bytes + (n_143 - 1) * 8 + 0, x27);
            word_143_0 = x27;
            to_143 |= bit;
            goto done;
        } else {
            const sp_u128 x28 = sp_ld128(p + 14 + 24);
            const uint64_t x29 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x28 >> 80);
            const uint64_t x30 = (uint64_t)(x28 >> 16);
            const uint64_t x31 = (uint64_t)x28 << 48;
            n_141 += (n_141 == begin_141) | (x29 != word_141_0) | (x30 != word_141_1) | (x31 != word_141_2);
            wait_141->key_of[i] = n_141 - 1;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 0, x29);
            word_141_0 = x29;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 8, x30);
            word_141_1 = x30;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 16, x31);
            word_141_2 = x31;
            to_141 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[129] |= to_129;
    run->todo[135] |= to_135;
    run->todo[138] |= to_138;
    run->todo[140] |= to_140;
    run->todo[141] |= to_141;
    run->todo[143] |= to_143;
    wait_129->keys = n_129;
    wait_135->keys = n_135;
    wait_138->keys = n_138;
    wait_140->keys = n_140;
    wait_141->keys = n_141;
    wait_143->keys = n_143;
    sp_looked_up(table_local_ipv6, 0, skipped_local_ipv6);
    sp_looked_up(table_firewall_v6, 0, skipped_firewall_v6);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static __attribute__((noinline)) void class_6_stage_4_local_ipv6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv6];
    const struct sp_wait *const wait = &run->wait[104];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_local_ipv6 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x3010;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u;
                standard_metadata_egress_spec = 0x1feu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 3u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        meta_reason = 0x1au;
        standard_metadata_egress_spec = 511u;
        standard_metadata_mcast_grp = 0u;
        sp_drop(run, i, 0x1au, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}


static __attribute__((noinline)) void class_6_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_138 = 0;
    uint64_t to_140 = 0;
    uint64_t to_141 = 0;
    uint64_t to_143 = 0;
    struct sp_wait *const wait_138 = &run->wait[113];
    uint32_t n_138 = wait_138->keys;
    uint32_t begin_138 = n_138;
    uint64_t word_138_0 = 0;
    uint64_t word_138_1 = 0;
    uint64_t word_138_2 = 0;
    uint64_t word_138_3 = 0;
    uint64_t word_138_4 = 0;
    struct sp_wait *const wait_140 = &run->wait[115];
    uint32_t n_140 = wait_140->keys;
    uint32_t begin_140 = n_140;
    uint64_t word_140_0 = 0;
    uint64_t word_140_1 = 0;
    struct sp_wait *const wait_141 = &run->wait[116];
    uint32_t n_141 = wait_141->keys;
    uint32_t begin_141 = n_141;
    uint64_t word_141_0 = 0;
    uint64_t word_141_1 = 0;
    uint64_t word_141_2 = 0;
    struct sp_wait *const wait_143 = &run->wait[118];
    uint32_t n_143 = wait_143->keys;
    uint32_t begin_143 = n_143;
    uint64_t word_143_0 = 0;
    struct sp_table *const table_firewall_v6 = &run->lane->tables[TABLE_firewall_v6];
    const uint32_t skip_firewall_v6 = !table_firewall_v6->lookup && ((const struct record_firewall_v6 *)table_firewall_v6->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v6 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_class];
    const struct sp_wait *const wait = &run->wait[112];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_class *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x3010;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_no_pdr: {
                meta_reason = 0x1bu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1bu, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (skip_firewall_v6) {
            skipped_firewall_v6++;
            goto node_8;
        }
        const sp_u128 x33 = sp_ld128(p + 14 + 8);
        const sp_u128 x34 = sp_ld128(p + 14 + 24);
        const uint64_t x35 = (uint64_t)meta_vrf << 48 | (uint64_t)(x33 >> 80);
        const uint64_t x36 = (uint64_t)(x33 >> 16);
        const uint64_t x37 = (uint64_t)x33 << 48 | (uint64_t)(x34 >> 80);
        const uint64_t x38 = (uint64_t)(x34 >> 16);
        const uint64_t x39 = (uint64_t)x34 << 48 | (uint64_t)sp_ld8(p + 14 + 6) << 40 | (uint64_t)sp_ld16(p + 54) << 24 | (uint64_t)sp_ld16(p + 54 + 2) << 8;
        n_138 += (n_138 == begin_138) | (x35 != word_138_0) | (x36 != word_138_1) | (x37 != word_138_2) | (x38 != word_138_3) | (x39 != word_138_4);
        wait_138->key_of[i] = n_138 - 1;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 0, x35);
        word_138_0 = x35;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 8, x36);
        word_138_1 = x36;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 16, x37);
        word_138_2 = x37;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 24, x38);
        word_138_3 = x38;
        sp_st64(wait_138->bytes + (n_138 - 1) * 40 + 32, x39);
        word_138_4 = x39;
        to_138 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + 14 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + 14 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + 14 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + 14 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x40 = 0u;
        const uint64_t x41 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + 14) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x40 >> 16);
        const uint64_t x42 = (uint64_t)x40 << 48 | (uint64_t)sp_ld8(p + 14 + 6) << 40 | (uint64_t)sp_ld16(p + 54) << 24 | (uint64_t)sp_ld16(p + 54 + 2) << 8;
        n_140 += (n_140 == begin_140) | (x41 != word_140_0) | (x42 != word_140_1);
        wait_140->key_of[i] = n_140 - 1;
        sp_st64(wait_140->bytes + (n_140 - 1) * 16 + 0, x41);
        word_140_0 = x41;
        sp_st64(wait_140->bytes + (n_140 - 1) * 16 + 8, x42);
        word_140_1 = x42;
        to_140 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + 14 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + 14 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + 14 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x43 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_143 += (n_143 == begin_143) | (x43 != word_143_0);
            wait_143->key_of[i] = n_143 - 1;
            sp_st64(wait_143->bytes + (n_143 - 1) * 8 + 0, x43);
            word_143_0 = x43;
            to_143 |= bit;
            goto done;
        } else {
            const sp_u128 x44 = sp_ld128(p + 14 + 24);
            const uint64_t x45 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x44 >> 80);
            const uint64_t x46 = (uint64_t)(x44 >> 16);
            const uint64_t x47 = (uint64_t)x44 << 48;
            n_141 += (n_141 == begin_141) | (x45 != word_141_0) | (x46 != word_141_1) | (x47 != word_141_2);
            wait_141->key_of[i] = n_141 - 1;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 0, x45);
            word_141_0 = x45;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 8, x46);
            word_141_1 = x46;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 16, x47);
            word_141_2 = x47;
            to_141 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[138] |= to_138;
    run->todo[140] |= to_140;
    run->todo[141] |= to_141;
    run->todo[143] |= to_143;
    wait_138->keys = n_138;
    wait_140->keys = n_140;
    wait_141->keys = n_141;
    wait_143->keys = n_143;
    sp_looked_up(table_firewall_v6, 0, skipped_firewall_v6);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static __attribute__((noinline)) void class_6_stage_13_firewall_v6(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    uint64_t to_140 = 0;
    uint64_t to_141 = 0;
    uint64_t to_143 = 0;
    struct sp_wait *const wait_140 = &run->wait[115];
    uint32_t n_140 = wait_140->keys;
    uint32_t begin_140 = n_140;
    uint64_t word_140_0 = 0;
    uint64_t word_140_1 = 0;
    struct sp_wait *const wait_141 = &run->wait[116];
    uint32_t n_141 = wait_141->keys;
    uint32_t begin_141 = n_141;
    uint64_t word_141_0 = 0;
    uint64_t word_141_1 = 0;
    uint64_t word_141_2 = 0;
    struct sp_wait *const wait_143 = &run->wait[118];
    uint32_t n_143 = wait_143->keys;
    uint32_t begin_143 = n_143;
    uint64_t word_143_0 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_firewall_v6];
    const struct sp_wait *const wait = &run->wait[113];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_firewall_v6 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x3010;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        switch (r->action) {
            case ACTION_deny: {
                meta_reason = 0x21u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x21u, meta_mark);
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_24 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + 14 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + 14 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + 14 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + 14 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + 14 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + 14 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + 14 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x48 = 0u;
        const uint64_t x49 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + 14) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x48 >> 16);
        const uint64_t x50 = (uint64_t)x48 << 48 | (uint64_t)sp_ld8(p + 14 + 6) << 40 | (uint64_t)sp_ld16(p + 54) << 24 | (uint64_t)sp_ld16(p + 54 + 2) << 8;
        n_140 += (n_140 == begin_140) | (x49 != word_140_0) | (x50 != word_140_1);
        wait_140->key_of[i] = n_140 - 1;
        sp_st64(wait_140->bytes + (n_140 - 1) * 16 + 0, x49);
        word_140_0 = x49;
        sp_st64(wait_140->bytes + (n_140 - 1) * 16 + 8, x50);
        word_140_1 = x50;
        to_140 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + 14 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + 14 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + 14 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x51 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_143 += (n_143 == begin_143) | (x51 != word_143_0);
            wait_143->key_of[i] = n_143 - 1;
            sp_st64(wait_143->bytes + (n_143 - 1) * 8 + 0, x51);
            word_143_0 = x51;
            to_143 |= bit;
            goto done;
        } else {
            const sp_u128 x52 = sp_ld128(p + 14 + 24);
            const uint64_t x53 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x52 >> 80);
            const uint64_t x54 = (uint64_t)(x52 >> 16);
            const uint64_t x55 = (uint64_t)x52 << 48;
            n_141 += (n_141 == begin_141) | (x53 != word_141_0) | (x54 != word_141_1) | (x55 != word_141_2);
            wait_141->key_of[i] = n_141 - 1;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 0, x53);
            word_141_0 = x53;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 8, x54);
            word_141_1 = x54;
            sp_st64(wait_141->bytes + (n_141 - 1) * 24 + 16, x55);
            word_141_2 = x55;
            to_141 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
    run->todo[140] |= to_140;
    run->todo[141] |= to_141;
    run->todo[143] |= to_143;
    wait_140->keys = n_140;
    wait_141->keys = n_141;
    wait_143->keys = n_143;
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}




static __attribute__((noinline)) void class_6_stage_19_nexthop_others(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[119];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = 0x3010;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = c->v.meta_dst_v4;
        uint32_t meta_pdu_length = (sp_ld16(p + 14 + 4) + 0x28u);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        uint32_t UpfIngress_route_send_vxlan_port = 0u;
        uint64_t UpfIngress_route_send_vxlan_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_vni = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_src = 0u;
        uint32_t UpfIngress_route_send_vxlan_vtep_dst = 0u;
        uint64_t UpfIngress_route_send_vxlan_underlay_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_vxlan_underlay_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_vxlan_mtu = 0u;
        uint32_t UpfIngress_route_send_vxlan_frame = 0u;
        uint32_t UpfIngress_route_unresolved_nexthop = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint64_t f_underlay_ethernet_0_dst = 0;
        uint64_t f_underlay_ethernet_1_src = 0;
        uint32_t f_underlay_ethernet_2_ethertype = 0;
        uint32_t f_underlay_ipv4_0_version = 0;
        uint32_t f_underlay_ipv4_1_ihl = 0;
        uint32_t f_underlay_ipv4_2_tos = 0;
        uint32_t f_underlay_ipv4_3_total_length = 0;
        uint32_t f_underlay_ipv4_4_identification = 0;
        uint32_t f_underlay_ipv4_5_reserved = 0;
        uint32_t f_underlay_ipv4_6_dont_fragment = 0;
        uint32_t f_underlay_ipv4_7_more_fragments = 0;
        uint32_t f_underlay_ipv4_8_fragment_offset = 0;
        uint32_t f_underlay_ipv4_9_ttl = 0;
        uint32_t f_underlay_ipv4_10_protocol = 0;
        uint32_t f_underlay_ipv4_11_checksum = 0;
        uint32_t f_underlay_ipv4_12_src = 0;
        uint32_t f_underlay_ipv4_13_dst = 0;
        uint32_t f_underlay_udp_0_src = 0;
        uint32_t f_underlay_udp_1_dst = 0;
        uint32_t f_underlay_udp_2_length = 0;
        uint32_t f_underlay_udp_3_checksum = 0;
        uint32_t f_vxlan_0_flags = 0;
        uint32_t f_vxlan_1_reserved = 0;
        uint32_t f_vxlan_2_vni = 0;
        uint32_t f_vxlan_3_reserved2 = 0;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send_vxlan: {
                UpfIngress_route_send_vxlan_port = r->send_vxlan.port_0;
                UpfIngress_route_send_vxlan_src_mac = r->send_vxlan.src_mac_1;
                UpfIngress_route_send_vxlan_dst_mac = r->send_vxlan.dst_mac_2;
                UpfIngress_route_send_vxlan_vni = r->send_vxlan.vni_3;
                UpfIngress_route_send_vxlan_vtep_src = r->send_vxlan.vtep_src_4;
                UpfIngress_route_send_vxlan_vtep_dst = r->send_vxlan.vtep_dst_5;
                UpfIngress_route_send_vxlan_underlay_src_mac = r->send_vxlan.underlay_src_mac_6;
                UpfIngress_route_send_vxlan_underlay_dst_mac = r->send_vxlan.underlay_dst_mac_7;
                UpfIngress_route_send_vxlan_mtu = r->send_vxlan.mtu_8;
                meta_mtu = UpfIngress_route_send_vxlan_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_vxlan_port;
                sp_st48(p + 6, UpfIngress_route_send_vxlan_src_mac);
                sp_st48(p, UpfIngress_route_send_vxlan_dst_mac);
                UpfIngress_route_send_vxlan_frame = (((meta_out_length & 0xffff) + 0xeu) & 0xffff);
                f_underlay_ethernet_0_dst = f_underlay_ethernet_1_src = f_underlay_ethernet_2_ethertype = 0;
                valid |= SP_BIT(V_underlay_ethernet);
                const uint64_t x70 = UpfIngress_route_send_vxlan_underlay_dst_mac;
                f_underlay_ethernet_0_dst = x70;
                const uint64_t x71 = UpfIngress_route_send_vxlan_underlay_src_mac;
                f_underlay_ethernet_1_src = x71;
                f_underlay_ethernet_2_ethertype = 0x800u;
                f_underlay_ipv4_0_version = f_underlay_ipv4_1_ihl = f_underlay_ipv4_2_tos = f_underlay_ipv4_3_total_length = f_underlay_ipv4_4_identification = f_underlay_ipv4_5_reserved = f_underlay_ipv4_6_dont_fragment = f_underlay_ipv4_7_more_fragments = f_underlay_ipv4_8_fragment_offset = f_underlay_ipv4_9_ttl = f_underlay_ipv4_10_protocol = f_underlay_ipv4_11_checksum = f_underlay_ipv4_12_src = f_underlay_ipv4_13_dst = 0;
                valid |= SP_BIT(V_underlay_ipv4);
                f_underlay_ipv4_0_version = 4u;
                f_underlay_ipv4_1_ihl = 5u;
                f_underlay_ipv4_2_tos = 0u;
                f_underlay_ipv4_4_identification = 0u;
                f_underlay_ipv4_5_reserved = 0u;
                f_underlay_ipv4_7_more_fragments = 0u;
                f_underlay_ipv4_8_fragment_offset = 0u;
                f_underlay_ipv4_11_checksum = 0u;
                const uint32_t x72 = ((UpfIngress_route_send_vxlan_frame + 0x24u) & 0xffff);
                f_underlay_ipv4_3_total_length = x72;
                f_underlay_ipv4_6_dont_fragment = 1u;
                f_underlay_ipv4_9_ttl = 0x40u;
                f_underlay_ipv4_10_protocol = 0x11u;
                f_underlay_ipv4_12_src = UpfIngress_route_send_vxlan_vtep_src;
                f_underlay_ipv4_13_dst = UpfIngress_route_send_vxlan_vtep_dst;
                f_underlay_udp_0_src = f_underlay_udp_1_dst = f_underlay_udp_2_length = f_underlay_udp_3_checksum = 0;
                valid |= SP_BIT(V_underlay_udp);
                const uint32_t x73 = (((meta_dst_v4 & 0xffff) ^ sp_ld16(p + 54)) | 0xc000u);
                f_underlay_udp_0_src = x73;
                f_underlay_udp_1_dst = 0x12b5u;
                const uint32_t x74 = ((UpfIngress_route_send_vxlan_frame + 0x10u) & 0xffff);
                f_underlay_udp_2_length = x74;
                f_underlay_udp_3_checksum = 0u;
                f_vxlan_0_flags = f_vxlan_1_reserved = f_vxlan_2_vni = f_vxlan_3_reserved2 = 0;
                valid |= SP_BIT(V_vxlan);
                f_vxlan_0_flags = 8u;
                f_vxlan_2_vni = UpfIngress_route_send_vxlan_vni;
                f_vxlan_1_reserved = 0u;
                f_vxlan_3_reserved2 = 0u;
                break;
            }
            case ACTION_unresolved: {
                UpfIngress_route_unresolved_nexthop = r->unresolved.nexthop_0;
                meta_mark = UpfIngress_route_unresolved_nexthop; c->v.meta_mark = meta_mark;
                meta_reason = 6u;
                standard_metadata_egress_spec = 0x1feu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 14 + 7);
            if (sp_ld8(p + 14 + 7) <= 1u) {
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - (sp_ld16(p + 14 + 4) + 0x28u)) & 0xffff)) & 0xffff);
                valid &= ~SP_BIT(V_underlay_ethernet);
                valid &= ~SP_BIT(V_underlay_ipv4);
                valid &= ~SP_BIT(V_underlay_udp);
                valid &= ~SP_BIT(V_vxlan);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            sp_st8(p + 14 + 7, ((sp_ld8(p + 14 + 7) - 1u) & 0xff));
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x86ddu);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x75 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x75;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x76 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x76;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x77 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x77;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
        }
        c->keep = (meta_out_length + 0x40u);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum78 = {0, 0, 0};
            sp_sum_value(&sum78, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum78, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum78, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum78, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum78, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum78, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum78, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum78, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum78, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum78, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum78, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum78, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum78, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum78) & 0xffff);
        }
        struct sp_sum sum79 = {0, 0, 0};
        sp_sum_value(&sum79, f_underlay_ipv4_0_version, 4);
        sp_sum_value(&sum79, f_underlay_ipv4_1_ihl, 4);
        sp_sum_value(&sum79, f_underlay_ipv4_2_tos, 8);
        sp_sum_value(&sum79, f_underlay_ipv4_3_total_length, 16);
        sp_sum_value(&sum79, f_underlay_ipv4_4_identification, 16);
        sp_sum_value(&sum79, f_underlay_ipv4_5_reserved, 1);
        sp_sum_value(&sum79, f_underlay_ipv4_6_dont_fragment, 1);
        sp_sum_value(&sum79, f_underlay_ipv4_7_more_fragments, 1);
        sp_sum_value(&sum79, f_underlay_ipv4_8_fragment_offset, 13);
        sp_sum_value(&sum79, f_underlay_ipv4_9_ttl, 8);
        sp_sum_value(&sum79, f_underlay_ipv4_10_protocol, 8);
        sp_sum_value(&sum79, f_underlay_ipv4_12_src, 32);
        sp_sum_value(&sum79, f_underlay_ipv4_13_dst, 32);
        f_underlay_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum79) & 0xffff);
        /* deparser */
        if (valid == 0x33ffull) {
            if (pk->start < 94 || pk->length + 94 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b80_0_0; __builtin_memcpy(&b80_0_0, p, 4);
            sp_block2 b80_1_0; __builtin_memcpy(&b80_1_0, p + 4, 2);
            sp_block4 b80_2_0; __builtin_memcpy(&b80_2_0, p + 6, 4);
            sp_block2 b80_3_0; __builtin_memcpy(&b80_3_0, p + 10, 2);
            sp_block2 b80_4_0; __builtin_memcpy(&b80_4_0, p + 12, 2);
            __builtin_memcpy(p - 44, &b80_0_0, 4);
            __builtin_memcpy(p - 40, &b80_1_0, 2);
            __builtin_memcpy(p - 38, &b80_2_0, 4);
            __builtin_memcpy(p - 34, &b80_3_0, 2);
            __builtin_memcpy(p - 32, &b80_4_0, 2);
            sp_st64(p - 94, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 86, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 82, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 80, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 72, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 64, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 60, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 52, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p - 30, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 14, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 10, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p - 2, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 6, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 10, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 94;
            pk->length += 94;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x30ffull) {
            if (pk->start < 86 || pk->length + 86 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b81_0_0; __builtin_memcpy(&b81_0_0, p, 4);
            sp_block2 b81_1_0; __builtin_memcpy(&b81_1_0, p + 4, 2);
            sp_block4 b81_2_0; __builtin_memcpy(&b81_2_0, p + 6, 4);
            sp_block2 b81_3_0; __builtin_memcpy(&b81_3_0, p + 10, 2);
            sp_block2 b81_4_0; __builtin_memcpy(&b81_4_0, p + 12, 2);
            __builtin_memcpy(p - 36, &b81_0_0, 4);
            __builtin_memcpy(p - 32, &b81_1_0, 2);
            __builtin_memcpy(p - 30, &b81_2_0, 4);
            __builtin_memcpy(p - 26, &b81_3_0, 2);
            __builtin_memcpy(p - 24, &b81_4_0, 2);
            sp_st64(p - 86, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
            sp_st32(p - 78, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
            sp_st16(p - 74, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
            sp_st64(p - 72, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
            sp_st64(p - 64, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
            sp_st32(p - 56, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
            sp_st64(p - 52, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
            sp_st64(p - 44, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 6, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 2, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 6, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 86;
            pk->length += 86;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->start < 50 || pk->length + 50 > SP_MAX_PACKET) {
            sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
            goto done;
        }
        sp_st64(p - 50, (uint64_t)f_underlay_ethernet_0_dst << 16 | (uint64_t)(f_underlay_ethernet_1_src >> 32));
        sp_st32(p - 42, (uint32_t)((uint64_t)f_underlay_ethernet_1_src));
        sp_st16(p - 38, (uint32_t)((uint64_t)f_underlay_ethernet_2_ethertype));
        sp_st64(p - 36, (uint64_t)f_underlay_ipv4_0_version << 60 | (uint64_t)f_underlay_ipv4_1_ihl << 56 | (uint64_t)f_underlay_ipv4_2_tos << 48 | (uint64_t)f_underlay_ipv4_3_total_length << 32 | (uint64_t)f_underlay_ipv4_4_identification << 16 | (uint64_t)f_underlay_ipv4_5_reserved << 15 | (uint64_t)f_underlay_ipv4_6_dont_fragment << 14 | (uint64_t)f_underlay_ipv4_7_more_fragments << 13 | (uint64_t)f_underlay_ipv4_8_fragment_offset);
        sp_st64(p - 28, (uint64_t)f_underlay_ipv4_9_ttl << 56 | (uint64_t)f_underlay_ipv4_10_protocol << 48 | (uint64_t)f_underlay_ipv4_11_checksum << 32 | (uint64_t)f_underlay_ipv4_12_src);
        sp_st32(p - 20, (uint32_t)((uint64_t)f_underlay_ipv4_13_dst));
        sp_st64(p - 16, (uint64_t)f_underlay_udp_0_src << 48 | (uint64_t)f_underlay_udp_1_dst << 32 | (uint64_t)f_underlay_udp_2_length << 16 | (uint64_t)f_underlay_udp_3_checksum);
        sp_st64(p - 8, (uint64_t)f_vxlan_0_flags << 56 | (uint64_t)f_vxlan_1_reserved << 32 | (uint64_t)f_vxlan_2_vni << 8 | (uint64_t)f_vxlan_3_reserved2);
        pk->start -= 50;
        pk->length += 50;
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_24;
}

static __attribute__((noinline)) void class_6_stage_19_nexthop(struct sp_run *const run, const uint64_t todo)
{
    uint64_t to_24 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_nexthop];
    const struct sp_wait *const wait = &run->wait[119];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    uint32_t others = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_nexthop *const r = hit ? (const void *)wait->records[k] : table->miss;
        if (__builtin_expect(r->action != ACTION_send, 0)) {
            const uint64_t row = sp_row(wait, table, left, ACTION_send);
            
            class_6_stage_19_nexthop_others(run, row);
            
            others += __builtin_popcountll(row);
            left &= ~row | bit;
            continue;
        }
        found += hit;
        uint64_t valid = 0x3010;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_pdu_length = (sp_ld16(p + 14 + 4) + 0x28u);
        uint32_t meta_class_meter = c->v.meta_class_meter;
        uint32_t meta_out_length = c->v.meta_out_length;
        uint32_t meta_mtu = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_egress_port = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_send_port = 0u;
        uint64_t UpfIngress_route_send_src_mac = 0x0ull;
        uint64_t UpfIngress_route_send_dst_mac = 0x0ull;
        uint32_t UpfIngress_route_send_mtu = 0u;
        uint32_t UpfIngress_route_ttl = 0u;
        uint32_t UpfIngress_route_tell_fits = 0u;
        uint32_t UpfIngress_police_colour = 0u;
        uint32_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload = 0u;
        uint32_t UpfIngress_tunnel_add_session_container_pdu_type = 0u;
        uint32_t f_tunnel_ipv4_0_version = 0;
        uint32_t f_tunnel_ipv4_1_ihl = 0;
        uint32_t f_tunnel_ipv4_2_tos = 0;
        uint32_t f_tunnel_ipv4_3_total_length = 0;
        uint32_t f_tunnel_ipv4_4_identification = 0;
        uint32_t f_tunnel_ipv4_5_reserved = 0;
        uint32_t f_tunnel_ipv4_6_dont_fragment = 0;
        uint32_t f_tunnel_ipv4_7_more_fragments = 0;
        uint32_t f_tunnel_ipv4_8_fragment_offset = 0;
        uint32_t f_tunnel_ipv4_9_ttl = 0;
        uint32_t f_tunnel_ipv4_10_protocol = 0;
        uint32_t f_tunnel_ipv4_11_checksum = 0;
        uint32_t f_tunnel_ipv4_12_src = 0;
        uint32_t f_tunnel_ipv4_13_dst = 0;
        uint32_t f_tunnel_udp_0_src = 0;
        uint32_t f_tunnel_udp_1_dst = 0;
        uint32_t f_tunnel_udp_2_length = 0;
        uint32_t f_tunnel_udp_3_checksum = 0;
        uint32_t f_tunnel_gtpu_0_version = 0;
        uint32_t f_tunnel_gtpu_1_protocol_type = 0;
        uint32_t f_tunnel_gtpu_2_spare = 0;
        uint32_t f_tunnel_gtpu_3_has_extension = 0;
        uint32_t f_tunnel_gtpu_4_has_sequence = 0;
        uint32_t f_tunnel_gtpu_5_has_npdu = 0;
        uint32_t f_tunnel_gtpu_6_message_type = 0;
        uint32_t f_tunnel_gtpu_7_length = 0;
        uint32_t f_tunnel_gtpu_8_teid = 0;
        uint32_t f_tunnel_optional_0_sequence = 0;
        uint32_t f_tunnel_optional_1_npdu = 0;
        uint32_t f_tunnel_optional_2_next_extension = 0;
        uint32_t f_tunnel_psc_0_length = 0;
        uint32_t f_tunnel_psc_1_pdu_type = 0;
        uint32_t f_tunnel_psc_2_spare = 0;
        uint32_t f_tunnel_psc_3_qos = 0;
        uint32_t f_tunnel_psc_4_next_extension = 0;
        switch (r->action) {
            case ACTION_send: {
                UpfIngress_route_send_port = r->send.port_0;
                UpfIngress_route_send_src_mac = r->send.src_mac_1;
                UpfIngress_route_send_dst_mac = r->send.dst_mac_2;
                UpfIngress_route_send_mtu = r->send.mtu_3;
                meta_mtu = UpfIngress_route_send_mtu;
                standard_metadata_egress_spec = UpfIngress_route_send_port;
                sp_st48(p + 6, UpfIngress_route_send_src_mac);
                sp_st48(p, UpfIngress_route_send_dst_mac);
                break;
            }
            default:
                __builtin_unreachable();
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_route_ttl = sp_ld8(p + 14 + 7);
            if (sp_ld8(p + 14 + 7) <= 1u) {
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | 0u); c->v.meta_mark = meta_mark;
                meta_reason = 0x23u;
                standard_metadata_egress_spec = 0x1feu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
            if (meta_out_length > meta_mtu) {
                UpfIngress_route_tell_fits = ((meta_mtu - ((meta_out_length - (sp_ld16(p + 14 + 4) + 0x28u)) & 0xffff)) & 0xffff);
                meta_mark = ((uint32_t)(rule_set_pdr->set_pdr.out_vrf_15) << 16 | UpfIngress_route_tell_fits); c->v.meta_mark = meta_mark;
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 0x1feu;
                class_6_leave_0(c, p);
                c->valid = valid;
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_24 |= bit;
                goto done;
            }
        } else {
            if (meta_out_length > meta_mtu) {
                meta_reason = 0x25u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x25u, meta_mark);
                goto done;
            }
        }
        UpfIngress_police_colour = 0u;
        if ((rule_set_pdr->set_pdr.meter_1_4) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_1_4, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 0x10u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_2_5) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_2_5, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 8u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if ((rule_set_pdr->set_pdr.meter_3_6) != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_mbr, rule_set_pdr->set_pdr.meter_3_6, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                if (((rule_set_pdr->set_pdr.flags_2) & 4u) != 0u) {
                    meta_reason = 0x1eu;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1eu, meta_mark);
                    goto done;
                }
                meta_reason = 0x20u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x20u, meta_mark);
                goto done;
            }
        }
        if (meta_class_meter != 0u) {
            UpfIngress_police_colour = (sp_meter(run, pk, METER_class_rate, meta_class_meter, (uint64_t)(sp_ld16(p + 14 + 4) + 0x28u)) & 0x3);
            if (UpfIngress_police_colour == 2u) {
                meta_reason = 0x22u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x22u, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            sp_st8(p + 14 + 7, ((sp_ld8(p + 14 + 7) - 1u) & 0xff));
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 0u) {
            sp_st16(p + 12, 0x86ddu);
        } else {
            sp_st16(p + 12, 0x800u);
            UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((meta_out_length - 0x24u) & 0xffff);
            f_tunnel_ipv4_0_version = f_tunnel_ipv4_1_ihl = f_tunnel_ipv4_2_tos = f_tunnel_ipv4_3_total_length = f_tunnel_ipv4_4_identification = f_tunnel_ipv4_5_reserved = f_tunnel_ipv4_6_dont_fragment = f_tunnel_ipv4_7_more_fragments = f_tunnel_ipv4_8_fragment_offset = f_tunnel_ipv4_9_ttl = f_tunnel_ipv4_10_protocol = f_tunnel_ipv4_11_checksum = f_tunnel_ipv4_12_src = f_tunnel_ipv4_13_dst = 0;
            valid |= SP_BIT(V_tunnel_ipv4);
            f_tunnel_ipv4_0_version = 4u;
            f_tunnel_ipv4_1_ihl = 5u;
            f_tunnel_ipv4_2_tos = rule_set_pdr->set_pdr.tunnel_tos_14;
            f_tunnel_ipv4_3_total_length = (meta_out_length & 0xffff);
            f_tunnel_ipv4_4_identification = 0u;
            f_tunnel_ipv4_5_reserved = 0u;
            f_tunnel_ipv4_6_dont_fragment = 1u;
            f_tunnel_ipv4_7_more_fragments = 0u;
            f_tunnel_ipv4_8_fragment_offset = 0u;
            f_tunnel_ipv4_9_ttl = 0x40u;
            f_tunnel_ipv4_10_protocol = 0x11u;
            f_tunnel_ipv4_11_checksum = 0u;
            f_tunnel_ipv4_12_src = rule_set_pdr->set_pdr.tunnel_src_12;
            f_tunnel_ipv4_13_dst = rule_set_pdr->set_pdr.tunnel_dst_11;
            f_tunnel_udp_0_src = f_tunnel_udp_1_dst = f_tunnel_udp_2_length = f_tunnel_udp_3_checksum = 0;
            valid |= SP_BIT(V_tunnel_udp);
            f_tunnel_udp_0_src = 0x868u;
            f_tunnel_udp_1_dst = 0x868u;
            const uint32_t x63 = ((UpfIngress_tunnel_put_in_tunnel_gtpu_payload + 0x10u) & 0xffff);
            f_tunnel_udp_2_length = x63;
            f_tunnel_udp_3_checksum = 0u;
            f_tunnel_gtpu_0_version = f_tunnel_gtpu_1_protocol_type = f_tunnel_gtpu_2_spare = f_tunnel_gtpu_3_has_extension = f_tunnel_gtpu_4_has_sequence = f_tunnel_gtpu_5_has_npdu = f_tunnel_gtpu_6_message_type = f_tunnel_gtpu_7_length = f_tunnel_gtpu_8_teid = 0;
            valid |= SP_BIT(V_tunnel_gtpu);
            f_tunnel_gtpu_0_version = 1u;
            f_tunnel_gtpu_1_protocol_type = 1u;
            f_tunnel_gtpu_2_spare = 0u;
            f_tunnel_gtpu_3_has_extension = 0u;
            f_tunnel_gtpu_4_has_sequence = 0u;
            f_tunnel_gtpu_5_has_npdu = 0u;
            f_tunnel_gtpu_6_message_type = 0xffu;
            const uint32_t x64 = UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
            f_tunnel_gtpu_7_length = x64;
            f_tunnel_gtpu_8_teid = rule_set_pdr->set_pdr.tunnel_teid_10;
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 1u) {
                UpfIngress_tunnel_add_session_container_pdu_type = (((rule_set_pdr->set_pdr.encapsulation_9) == 3u) ? 1u : 0u);
                f_tunnel_gtpu_3_has_extension = 1u;
                f_tunnel_optional_0_sequence = f_tunnel_optional_1_npdu = f_tunnel_optional_2_next_extension = 0;
                valid |= SP_BIT(V_tunnel_optional);
                f_tunnel_optional_0_sequence = 0u;
                f_tunnel_optional_1_npdu = 0u;
                f_tunnel_optional_2_next_extension = 0x85u;
                f_tunnel_psc_0_length = f_tunnel_psc_1_pdu_type = f_tunnel_psc_2_spare = f_tunnel_psc_3_qos = f_tunnel_psc_4_next_extension = 0;
                valid |= SP_BIT(V_tunnel_psc);
                f_tunnel_psc_0_length = 1u;
                const uint32_t x65 = UpfIngress_tunnel_add_session_container_pdu_type;
                f_tunnel_psc_1_pdu_type = x65;
                f_tunnel_psc_2_spare = 0u;
                f_tunnel_psc_3_qos = rule_set_pdr->set_pdr.psc_qos_13;
                f_tunnel_psc_4_next_extension = 0u;
            }
        }
        c->keep = (meta_out_length + 0xeu);
        if ((rule_set_pdr->set_pdr.usage_3) != 0u) {
            sp_count(run, COUNTER_usage, rule_set_pdr->set_pdr.usage_3, 1, (uint64_t)meta_pdu_length);
        }
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        standard_metadata_egress_port = standard_metadata_egress_spec;
        if (standard_metadata_egress_spec == 511) {
            sp_drop(run, i, 0u, meta_mark);
            goto done;
        }
        if (sp_bit(valid, V_tunnel_ipv4)) {
            struct sp_sum sum66 = {0, 0, 0};
            sp_sum_value(&sum66, f_tunnel_ipv4_0_version, 4);
            sp_sum_value(&sum66, f_tunnel_ipv4_1_ihl, 4);
            sp_sum_value(&sum66, f_tunnel_ipv4_2_tos, 8);
            sp_sum_value(&sum66, f_tunnel_ipv4_3_total_length, 16);
            sp_sum_value(&sum66, f_tunnel_ipv4_4_identification, 16);
            sp_sum_value(&sum66, f_tunnel_ipv4_5_reserved, 1);
            sp_sum_value(&sum66, f_tunnel_ipv4_6_dont_fragment, 1);
            sp_sum_value(&sum66, f_tunnel_ipv4_7_more_fragments, 1);
            sp_sum_value(&sum66, f_tunnel_ipv4_8_fragment_offset, 13);
            sp_sum_value(&sum66, f_tunnel_ipv4_9_ttl, 8);
            sp_sum_value(&sum66, f_tunnel_ipv4_10_protocol, 8);
            sp_sum_value(&sum66, f_tunnel_ipv4_12_src, 32);
            sp_sum_value(&sum66, f_tunnel_ipv4_13_dst, 32);
            f_tunnel_ipv4_11_checksum = ((uint32_t)sp_csum16(&sum66) & 0xffff);
        }
        /* deparser */
        if (valid == 0x33f0ull) {
            if (pk->start < 44 || pk->length + 44 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b67_0_0; __builtin_memcpy(&b67_0_0, p, 4);
            sp_block2 b67_1_0; __builtin_memcpy(&b67_1_0, p + 4, 2);
            sp_block4 b67_2_0; __builtin_memcpy(&b67_2_0, p + 6, 4);
            sp_block2 b67_3_0; __builtin_memcpy(&b67_3_0, p + 10, 2);
            sp_block2 b67_4_0; __builtin_memcpy(&b67_4_0, p + 12, 2);
            __builtin_memcpy(p - 44, &b67_0_0, 4);
            __builtin_memcpy(p - 40, &b67_1_0, 2);
            __builtin_memcpy(p - 38, &b67_2_0, 4);
            __builtin_memcpy(p - 34, &b67_3_0, 2);
            __builtin_memcpy(p - 32, &b67_4_0, 2);
            sp_st64(p - 30, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 14, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 10, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p - 2, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            sp_st32(p + 6, (uint32_t)((uint64_t)f_tunnel_optional_0_sequence << 16 | (uint64_t)f_tunnel_optional_1_npdu << 8 | (uint64_t)f_tunnel_optional_2_next_extension));
            sp_st32(p + 10, (uint32_t)((uint64_t)f_tunnel_psc_0_length << 24 | (uint64_t)f_tunnel_psc_1_pdu_type << 20 | (uint64_t)f_tunnel_psc_2_spare << 16 | (uint64_t)f_tunnel_psc_3_qos << 8 | (uint64_t)f_tunnel_psc_4_next_extension));
            pk->start -= 44;
            pk->length += 44;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (valid == 0x30f0ull) {
            if (pk->start < 36 || pk->length + 36 > SP_MAX_PACKET) {
                sp_drop(run, i, SP_NO_HEADROOM, meta_mark);
                goto done;
            }
            sp_block4 b68_0_0; __builtin_memcpy(&b68_0_0, p, 4);
            sp_block2 b68_1_0; __builtin_memcpy(&b68_1_0, p + 4, 2);
            sp_block4 b68_2_0; __builtin_memcpy(&b68_2_0, p + 6, 4);
            sp_block2 b68_3_0; __builtin_memcpy(&b68_3_0, p + 10, 2);
            sp_block2 b68_4_0; __builtin_memcpy(&b68_4_0, p + 12, 2);
            __builtin_memcpy(p - 36, &b68_0_0, 4);
            __builtin_memcpy(p - 32, &b68_1_0, 2);
            __builtin_memcpy(p - 30, &b68_2_0, 4);
            __builtin_memcpy(p - 26, &b68_3_0, 2);
            __builtin_memcpy(p - 24, &b68_4_0, 2);
            sp_st64(p - 22, (uint64_t)f_tunnel_ipv4_0_version << 60 | (uint64_t)f_tunnel_ipv4_1_ihl << 56 | (uint64_t)f_tunnel_ipv4_2_tos << 48 | (uint64_t)f_tunnel_ipv4_3_total_length << 32 | (uint64_t)f_tunnel_ipv4_4_identification << 16 | (uint64_t)f_tunnel_ipv4_5_reserved << 15 | (uint64_t)f_tunnel_ipv4_6_dont_fragment << 14 | (uint64_t)f_tunnel_ipv4_7_more_fragments << 13 | (uint64_t)f_tunnel_ipv4_8_fragment_offset);
            sp_st64(p - 14, (uint64_t)f_tunnel_ipv4_9_ttl << 56 | (uint64_t)f_tunnel_ipv4_10_protocol << 48 | (uint64_t)f_tunnel_ipv4_11_checksum << 32 | (uint64_t)f_tunnel_ipv4_12_src);
            sp_st32(p - 6, (uint32_t)((uint64_t)f_tunnel_ipv4_13_dst));
            sp_st64(p - 2, (uint64_t)f_tunnel_udp_0_src << 48 | (uint64_t)f_tunnel_udp_1_dst << 32 | (uint64_t)f_tunnel_udp_2_length << 16 | (uint64_t)f_tunnel_udp_3_checksum);
            sp_st64(p + 6, (uint64_t)f_tunnel_gtpu_0_version << 61 | (uint64_t)f_tunnel_gtpu_1_protocol_type << 60 | (uint64_t)f_tunnel_gtpu_2_spare << 59 | (uint64_t)f_tunnel_gtpu_3_has_extension << 58 | (uint64_t)f_tunnel_gtpu_4_has_sequence << 57 | (uint64_t)f_tunnel_gtpu_5_has_npdu << 56 | (uint64_t)f_tunnel_gtpu_6_message_type << 48 | (uint64_t)f_tunnel_gtpu_7_length << 32 | (uint64_t)f_tunnel_gtpu_8_teid);
            pk->start -= 36;
            pk->length += 36;
            if (pk->length > c->keep) pk->length = c->keep;
            sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
            goto done;
        }
        if (pk->length > c->keep) pk->length = c->keep;
        sp_pass(run, i, standard_metadata_egress_port, 0u, meta_mark);
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - others - found);
    run->todo[24] |= to_24;
}

struct alike_0 {
    int of_0;
    int of_1;
    int of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_0_1_station(struct sp_run *const run, const uint64_t todo, const struct alike_0 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_wait *const wait_l1 = &run->wait[of_0];
    uint32_t n_l2 = wait_l1->keys;
    uint32_t begin_l3 = n_l2;
    uint64_t word_l4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_station];
    const struct sp_wait *const wait = &run->wait[of_1];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_station *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_vrf = 0u;
        uint32_t meta_loopback = 0u;
        uint32_t meta_uplink = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_station_route_vrf = 0u;
        uint32_t UpfIngress_station_loopback_vrf = 0u;
        uint32_t UpfIngress_station_group_vrf = 0u;
        uint32_t UpfIngress_station_drop_reason = 0u;
        uint32_t UpfIngress_station_tmp = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        uint32_t UpfIngress_session_src = 0u;
        UpfIngress_station_tmp = r->action;
        switch (r->action) {
            case ACTION_route: {
                UpfIngress_station_route_vrf = r->route.vrf_0;
                meta_vrf = UpfIngress_station_route_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_loopback: {
                UpfIngress_station_loopback_vrf = r->loopback.vrf_0;
                meta_vrf = UpfIngress_station_loopback_vrf; c->v.meta_vrf = meta_vrf;
                meta_loopback = 1u; c->v.meta_loopback = meta_loopback;
                break;
            }
            case ACTION_group: {
                UpfIngress_station_group_vrf = r->group.vrf_0;
                meta_vrf = UpfIngress_station_group_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_UpfIngress_station_drop: {
                UpfIngress_station_drop_reason = r->UpfIngress_station_drop.reason_0;
                meta_reason = UpfIngress_station_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, 0u);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_station_tmp) {
            case 2u: {
                meta_reason = 0x2au;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x2au, 0u);
                goto done;
            }
            default: {
                break;
            }
        }
        UpfIngress_session_remote_v4 = 0u;
        UpfIngress_session_local_v4 = 0u;
        UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_remote_port = 0u;
        UpfIngress_session_local_port = 0u;
        UpfIngress_session_flow_label = 0u;
        meta_uplink = 1u;
        UpfIngress_session_src = ((sp_ld32(p + 14 + 12) >> 24) & 0xff);
        if (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 14 + 12) >> 24) & 0xff) >= 0xe0u)) || (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0x7fu) || (sp_ld32(p + 14 + 12) == sp_ld32(p + 14 + 16))) && (meta_loopback == 0u))) {
            meta_reason = 0x28u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x28u, 0u);
            goto done;
        }
        const uint64_t x_l5 = (uint64_t)sp_ld32(p + 14 + 16) << 32 | (uint64_t)sp_ld32(p + 42 + 4);
        n_l2 += (n_l2 == begin_l3) | (x_l5 != word_l4);
        wait_l1->key_of[i] = n_l2 - 1;
        sp_st64(wait_l1->bytes + (n_l2 - 1) * 8 + 0, x_l5);
        word_l4 = x_l5;
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_2] |= to_l0;
    wait_l1->keys = n_l2;
}

static void class_1_stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_0 of = {8, 1, 33, 0};
    alike_0_1_station(run, todo, &of);
}

static void class_3_stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_0 of = {48, 41, 73, 0};
    alike_0_1_station(run, todo, &of);
}

struct alike_1 {
    int of_0;
    long of_1;
    __typeof__(&class_1_leave_0) of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_1_9_local_ipv4(struct sp_run *const run, const uint64_t todo, const struct alike_1 *const of)
{
    const int of_0 = of->of_0;
    const long of_1 = of->of_1;
    const __typeof__(&class_1_leave_0) of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_local_ipv4];
    const struct sp_wait *const wait = &run->wait[of_0];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_local_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = of_1;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_tmp_3 = 0u;
        UpfIngress_session_tmp_3 = r->action;
        switch (r->action) {
            case ACTION_host: {
                meta_reason = 3u;
                standard_metadata_egress_spec = 0x1feu;
                of_2(c, p);
                c->valid = valid;
                c->v.meta_reason = 3u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_l0 |= bit;
                goto done;
            }
            case ACTION_gtpu_endpoint:
            case ACTION_not_local:
                break;
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_session_tmp_3) {
            case 7u: {
                meta_reason = 5u;
                standard_metadata_egress_spec = 0x1feu;
                of_2(c, p);
                c->valid = valid;
                c->v.meta_reason = 5u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                to_l0 |= bit;
                goto done;
            }
            default: {
                meta_reason = 0x18u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x18u, meta_mark);
                goto done;
            }
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_l0;
}

static void class_1_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_1 of = {9, 0x10200e410, class_1_leave_0, 0};
    alike_1_9_local_ipv4(run, todo, &of);
}

static void class_2_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_1 of = {29, 0x10800e410, class_2_leave_0, 0};
    alike_1_9_local_ipv4(run, todo, &of);
}

static void class_3_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_1 of = {49, 0x10203e410, class_3_leave_0, 0};
    alike_1_9_local_ipv4(run, todo, &of);
}

static void class_4_stage_9_local_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_1 of = {69, 0x10803e410, class_4_leave_0, 0};
    alike_1_9_local_ipv4(run, todo, &of);
}

struct alike_2 {
    int of_0;
    int of_1;
    int of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_2_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo, const struct alike_2 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_wait *const wait_l1 = &run->wait[of_0];
    uint32_t n_l2 = wait_l1->keys;
    uint32_t begin_l3 = n_l2;
    uint64_t word_l4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_sdf_ipv4];
    const struct sp_wait *const wait = &run->wait[of_1];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_sdf_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_group = c->v.meta_group;
        uint32_t meta_class = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_filter_class = 0u;
        switch (r->action) {
            case ACTION_set_filter: {
                UpfIngress_session_set_filter_class = r->set_filter.class_0;
                meta_class = UpfIngress_session_set_filter_class;
                break;
            }
            case ACTION_no_filter: {
                meta_reason = 0x1bu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1bu, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        const uint64_t x_l5 = (uint64_t)meta_group << 32 | (uint64_t)meta_class << 24;
        n_l2 += (n_l2 == begin_l3) | (x_l5 != word_l4);
        wait_l1->key_of[i] = n_l2 - 1;
        sp_st64(wait_l1->bytes + (n_l2 - 1) * 8 + 0, x_l5);
        word_l4 = x_l5;
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_2] |= to_l0;
    wait_l1->keys = n_l2;
}

static void class_1_stage_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_2 of = {12, 11, 37, 0};
    alike_2_11_sdf_ipv4(run, todo, &of);
}

static void class_3_stage_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_2 of = {52, 51, 77, 0};
    alike_2_11_sdf_ipv4(run, todo, &of);
}

static void class_5_stage_11_sdf_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_2 of = {92, 91, 117, 0};
    alike_2_11_sdf_ipv4(run, todo, &of);
}

struct alike_3 {
    int of_0;
    int of_1;
    int of_2;
    int of_3;
    int of_4;
    long of_5;
    int of_6;
    int of_7;
    __typeof__(&class_1_leave_0) of_8;
    int of_9;
    int of_10;
    int of_11;
    int of_12;
    uint8_t none;
};

static __attribute__((noinline)) void alike_3_12_pdr_by_class(struct sp_run *const run, const uint64_t todo, const struct alike_3 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    const int of_3 = of->of_3;
    const int of_4 = of->of_4;
    const long of_5 = of->of_5;
    const int of_6 = of->of_6;
    const int of_7 = of->of_7;
    const __typeof__(&class_1_leave_0) of_8 = of->of_8;
    const int of_9 = of->of_9;
    const int of_10 = of->of_10;
    const int of_11 = of->of_11;
    const int of_12 = of->of_12;
    uint64_t to_l0 = 0;
    uint64_t to_l1 = 0;
    uint64_t to_l2 = 0;
    uint64_t to_l3 = 0;
    uint64_t to_l4 = 0;
    struct sp_wait *const wait_l5 = &run->wait[of_0];
    uint32_t n_l6 = wait_l5->keys;
    uint32_t begin_l7 = n_l6;
    uint64_t word_l8 = 0;
    uint64_t word_l9 = 0;
    struct sp_wait *const wait_l10 = &run->wait[of_1];
    uint32_t n_l11 = wait_l10->keys;
    uint32_t begin_l12 = n_l11;
    uint64_t word_l13 = 0;
    uint64_t word_l14 = 0;
    struct sp_wait *const wait_l15 = &run->wait[of_2];
    uint32_t n_l16 = wait_l15->keys;
    uint32_t begin_l17 = n_l16;
    uint64_t word_l18 = 0;
    struct sp_wait *const wait_l19 = &run->wait[of_3];
    uint32_t n_l20 = wait_l19->keys;
    uint32_t begin_l21 = n_l20;
    uint64_t word_l22 = 0;
    struct sp_table *const table_firewall_v4 = &run->lane->tables[TABLE_firewall_v4];
    const uint32_t skip_firewall_v4 = !table_firewall_v4->lookup && ((const struct record_firewall_v4 *)table_firewall_v4->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v4 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_class];
    const struct sp_wait *const wait = &run->wait[of_4];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_class *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = of_5;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + of_6 + 16);
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_no_pdr: {
                meta_reason = 0x1bu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1bu, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (skip_firewall_v4) {
            skipped_firewall_v4++;
            goto node_8;
        }
        const uint32_t x_l23 = sp_ld32(p + of_6 + 16);
        const uint64_t x_l24 = (uint64_t)meta_vrf << 48 | (uint64_t)sp_ld32(p + of_6 + 12) << 16 | (uint64_t)(x_l23 >> 16);
        const uint64_t x_l25 = (uint64_t)x_l23 << 48 | (uint64_t)sp_ld8(p + of_6 + 9) << 40 | (uint64_t)sp_ld16(p + of_7) << 24 | (uint64_t)sp_ld16(p + of_7 + 2) << 8;
        n_l6 += (n_l6 == begin_l7) | (x_l24 != word_l8) | (x_l25 != word_l9);
        wait_l5->key_of[i] = n_l6 - 1;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 16 + 0, x_l24);
        word_l8 = x_l24;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 16 + 8, x_l25);
        word_l9 = x_l25;
        to_l1 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                of_8(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_l0 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + of_6 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + of_6 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + of_6 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + of_6 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + of_6 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + of_6 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + of_6 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + of_6 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + of_6 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + of_6 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x_l26 = sp_ld32(p + of_6 + 16);
        const uint64_t x_l27 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + of_6 + 1) << 48 | (uint64_t)sp_ld32(p + of_6 + 12) << 16 | (uint64_t)(x_l26 >> 16);
        const uint64_t x_l28 = (uint64_t)x_l26 << 48 | (uint64_t)sp_ld8(p + of_6 + 9) << 40 | (uint64_t)sp_ld16(p + of_7) << 24 | (uint64_t)sp_ld16(p + of_7 + 2) << 8;
        n_l11 += (n_l11 == begin_l12) | (x_l27 != word_l13) | (x_l28 != word_l14);
        wait_l10->key_of[i] = n_l11 - 1;
        sp_st64(wait_l10->bytes + (n_l11 - 1) * 16 + 0, x_l27);
        word_l13 = x_l27;
        sp_st64(wait_l10->bytes + (n_l11 - 1) * 16 + 8, x_l28);
        word_l14 = x_l28;
        to_l2 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + of_6 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + of_6 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + of_6 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x_l29 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_l20 += (n_l20 == begin_l21) | (x_l29 != word_l22);
            wait_l19->key_of[i] = n_l20 - 1;
            sp_st64(wait_l19->bytes + (n_l20 - 1) * 8 + 0, x_l29);
            word_l22 = x_l29;
            to_l4 |= bit;
            goto done;
        } else {
            const uint64_t x_l30 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + of_6 + 16) << 16;
            n_l16 += (n_l16 == begin_l17) | (x_l30 != word_l18);
            wait_l15->key_of[i] = n_l16 - 1;
            sp_st64(wait_l15->bytes + (n_l16 - 1) * 8 + 0, x_l30);
            word_l18 = x_l30;
            to_l3 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_l0;
    run->todo[of_9] |= to_l1;
    run->todo[of_10] |= to_l2;
    run->todo[of_11] |= to_l3;
    run->todo[of_12] |= to_l4;
    wait_l5->keys = n_l6;
    wait_l10->keys = n_l11;
    wait_l15->keys = n_l16;
    wait_l19->keys = n_l20;
    sp_looked_up(table_firewall_v4, 0, skipped_firewall_v4);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static void class_1_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_3 of = {14, 15, 17, 18, 12, 0x10200e410, 50, 70, class_1_leave_0, 39, 40, 42, 43, 0};
    alike_3_12_pdr_by_class(run, todo, &of);
}

static void class_3_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_3 of = {54, 55, 57, 58, 52, 0x10203e410, 58, 78, class_3_leave_0, 79, 80, 82, 83, 0};
    alike_3_12_pdr_by_class(run, todo, &of);
}

struct alike_4 {
    int of_0;
    int of_1;
    int of_2;
    int of_3;
    long of_4;
    int of_5;
    __typeof__(&class_1_leave_0) of_6;
    int of_7;
    int of_8;
    int of_9;
    int of_10;
    uint8_t none;
};

static __attribute__((noinline)) void alike_4_14_firewall_v4(struct sp_run *const run, const uint64_t todo, const struct alike_4 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    const int of_3 = of->of_3;
    const long of_4 = of->of_4;
    const int of_5 = of->of_5;
    const __typeof__(&class_1_leave_0) of_6 = of->of_6;
    const int of_7 = of->of_7;
    const int of_8 = of->of_8;
    const int of_9 = of->of_9;
    const int of_10 = of->of_10;
    uint64_t to_l0 = 0;
    uint64_t to_l1 = 0;
    uint64_t to_l2 = 0;
    uint64_t to_l3 = 0;
    struct sp_wait *const wait_l4 = &run->wait[of_0];
    uint32_t n_l5 = wait_l4->keys;
    uint32_t begin_l6 = n_l5;
    uint64_t word_l7 = 0;
    uint64_t word_l8 = 0;
    struct sp_wait *const wait_l9 = &run->wait[of_1];
    uint32_t n_l10 = wait_l9->keys;
    uint32_t begin_l11 = n_l10;
    uint64_t word_l12 = 0;
    struct sp_wait *const wait_l13 = &run->wait[of_2];
    uint32_t n_l14 = wait_l13->keys;
    uint32_t begin_l15 = n_l14;
    uint64_t word_l16 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_firewall_v4];
    const struct sp_wait *const wait = &run->wait[of_3];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_firewall_v4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = of_4;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + of_5 + 16);
        uint32_t meta_loopback = c->v.meta_loopback;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_enforce_src = 0u;
        uint32_t UpfIngress_enforce_dst = 0u;
        switch (r->action) {
            case ACTION_deny: {
                meta_reason = 0x21u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x21u, meta_mark);
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                of_6(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_l0 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_ipv4_7) == 0u) || (sp_ld32(p + of_5 + 12) != (rule_set_pdr->set_pdr.ue_ipv4_7))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            UpfIngress_enforce_src = ((sp_ld32(p + of_5 + 12) >> 24) & 0xff);
            UpfIngress_enforce_dst = ((sp_ld32(p + of_5 + 16) >> 24) & 0xff);
            if (((((((sp_ld32(p + of_5 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + of_5 + 12) >> 24) & 0xff) >= 0xe0u)) || (((sp_ld32(p + of_5 + 16) >> 24) & 0xff) == 0u)) || (((sp_ld32(p + of_5 + 16) >> 24) & 0xff) >= 0xf0u)) || (((((sp_ld32(p + of_5 + 12) >> 24) & 0xff) == 0x7fu) || (((sp_ld32(p + of_5 + 16) >> 24) & 0xff) == 0x7fu)) && (meta_loopback == 0u))) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((sp_ld32(p + of_5 + 16) >> 24) & 0xff) >= 0xe0u) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x_l17 = sp_ld32(p + of_5 + 16);
        const uint64_t x_l18 = (uint64_t)4u << 56 | (uint64_t)sp_ld8(p + of_5 + 1) << 48 | (uint64_t)sp_ld32(p + of_5 + 12) << 16 | (uint64_t)(x_l17 >> 16);
        const uint64_t x_l19 = (uint64_t)x_l17 << 48 | (uint64_t)sp_ld8(p + of_5 + 9) << 40 | (uint64_t)sp_ld16(p + of_7) << 24 | (uint64_t)sp_ld16(p + of_7 + 2) << 8;
        n_l5 += (n_l5 == begin_l6) | (x_l18 != word_l7) | (x_l19 != word_l8);
        wait_l4->key_of[i] = n_l5 - 1;
        sp_st64(wait_l4->bytes + (n_l5 - 1) * 16 + 0, x_l18);
        word_l7 = x_l18;
        sp_st64(wait_l4->bytes + (n_l5 - 1) * 16 + 8, x_l19);
        word_l8 = x_l19;
        to_l1 |= bit;
        goto done;
        node_7:;
        meta_out_length = sp_ld16(p + of_5 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + of_5 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + of_5 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x_l20 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_l14 += (n_l14 == begin_l15) | (x_l20 != word_l16);
            wait_l13->key_of[i] = n_l14 - 1;
            sp_st64(wait_l13->bytes + (n_l14 - 1) * 8 + 0, x_l20);
            word_l16 = x_l20;
            to_l3 |= bit;
            goto done;
        } else {
            const uint64_t x_l21 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + of_5 + 16) << 16;
            n_l10 += (n_l10 == begin_l11) | (x_l21 != word_l12);
            wait_l9->key_of[i] = n_l10 - 1;
            sp_st64(wait_l9->bytes + (n_l10 - 1) * 8 + 0, x_l21);
            word_l12 = x_l21;
            to_l2 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_l0;
    run->todo[of_8] |= to_l1;
    run->todo[of_9] |= to_l2;
    run->todo[of_10] |= to_l3;
    wait_l4->keys = n_l5;
    wait_l9->keys = n_l10;
    wait_l13->keys = n_l14;
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static void class_1_stage_14_firewall_v4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_4 of = {15, 17, 18, 14, 0x10200e410, 50, class_1_leave_0, 70, 40, 42, 43, 0};
    alike_4_14_firewall_v4(run, todo, &of);
}

static void class_3_stage_14_firewall_v4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_4 of = {55, 57, 58, 54, 0x10203e410, 58, class_3_leave_0, 78, 80, 82, 83, 0};
    alike_4_14_firewall_v4(run, todo, &of);
}

struct alike_5 {
    int of_0;
    int of_1;
    int of_2;
    int of_3;
    int of_4;
    int of_5;
    uint8_t none;
};

static __attribute__((noinline)) void alike_5_15_traffic_class(struct sp_run *const run, const uint64_t todo, const struct alike_5 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    const int of_3 = of->of_3;
    const int of_4 = of->of_4;
    const int of_5 = of->of_5;
    uint64_t to_l0 = 0;
    uint64_t to_l1 = 0;
    struct sp_wait *const wait_l2 = &run->wait[of_0];
    uint32_t n_l3 = wait_l2->keys;
    uint32_t begin_l4 = n_l3;
    uint64_t word_l5 = 0;
    struct sp_wait *const wait_l6 = &run->wait[of_1];
    uint32_t n_l7 = wait_l6->keys;
    uint32_t begin_l8 = n_l7;
    uint64_t word_l9 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_traffic_class];
    const struct sp_wait *const wait = &run->wait[of_2];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_traffic_class *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = sp_ld32(p + of_3 + 16);
        uint32_t meta_class_meter = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t standard_metadata_priority = 0u;
        uint32_t UpfIngress_traffic_class_set_class_queue = 0u;
        uint32_t UpfIngress_traffic_class_set_class_meter_cell = 0u;
        switch (r->action) {
            case ACTION_set_class: {
                UpfIngress_traffic_class_set_class_queue = r->set_class.queue_0;
                UpfIngress_traffic_class_set_class_meter_cell = r->set_class.meter_cell_1;
                standard_metadata_priority = UpfIngress_traffic_class_set_class_queue;
                meta_class_meter = UpfIngress_traffic_class_set_class_meter_cell; c->v.meta_class_meter = meta_class_meter;
                break;
            }
            case ACTION_best_effort:
                break;
            default:
                __builtin_unreachable();
        }
        meta_out_length = sp_ld16(p + of_3 + 2); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = (sp_ld16(p + of_3 + 2) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = ((sp_ld16(p + of_3 + 2) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x_l10 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_l7 += (n_l7 == begin_l8) | (x_l10 != word_l9);
            wait_l6->key_of[i] = n_l7 - 1;
            sp_st64(wait_l6->bytes + (n_l7 - 1) * 8 + 0, x_l10);
            word_l9 = x_l10;
            to_l1 |= bit;
            goto done;
        } else {
            const uint64_t x_l11 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)sp_ld32(p + of_3 + 16) << 16;
            n_l3 += (n_l3 == begin_l4) | (x_l11 != word_l5);
            wait_l2->key_of[i] = n_l3 - 1;
            sp_st64(wait_l2->bytes + (n_l3 - 1) * 8 + 0, x_l11);
            word_l5 = x_l11;
            to_l0 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_4] |= to_l0;
    run->todo[of_5] |= to_l1;
    wait_l2->keys = n_l3;
    wait_l6->keys = n_l7;
}

static void class_1_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_5 of = {17, 18, 15, 50, 42, 43, 0};
    alike_5_15_traffic_class(run, todo, &of);
}

static void class_3_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_5 of = {57, 58, 55, 58, 82, 83, 0};
    alike_5_15_traffic_class(run, todo, &of);
}

static void class_5_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_5 of = {97, 98, 95, 14, 122, 123, 0};
    alike_5_15_traffic_class(run, todo, &of);
}

struct alike_6 {
    int of_0;
    int of_1;
    int of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_6_17_route_ipv4(struct sp_run *const run, const uint64_t todo, const struct alike_6 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_wait *const wait_l1 = &run->wait[of_0];
    uint32_t n_l2 = wait_l1->keys;
    uint32_t begin_l3 = n_l2;
    uint64_t word_l4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv4];
    const struct sp_wait *const wait = &run->wait[of_1];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_route_ipv4 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_nexthop = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        const uint64_t x_l5 = (uint64_t)meta_nexthop << 48;
        n_l2 += (n_l2 == begin_l3) | (x_l5 != word_l4);
        wait_l1->key_of[i] = n_l2 - 1;
        sp_st64(wait_l1->bytes + (n_l2 - 1) * 8 + 0, x_l5);
        word_l4 = x_l5;
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_2] |= to_l0;
    wait_l1->keys = n_l2;
}

static void class_1_stage_17_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {19, 17, 44, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

static void class_1_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {19, 18, 44, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

static void class_2_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {39, 38, 64, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

static void class_3_stage_17_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {59, 57, 84, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

static void class_5_stage_17_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {99, 97, 124, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

static void class_5_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {99, 98, 124, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

static void class_6_stage_18_route_ipv4(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_6 of = {119, 118, 144, 0};
    alike_6_17_route_ipv4(run, todo, &of);
}

struct alike_7 {
    int of_0;
    int of_1;
    int of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_7_1_station(struct sp_run *const run, const uint64_t todo, const struct alike_7 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_wait *const wait_l1 = &run->wait[of_0];
    uint32_t n_l2 = wait_l1->keys;
    uint32_t begin_l3 = n_l2;
    uint64_t word_l4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_station];
    const struct sp_wait *const wait = &run->wait[of_1];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_station *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_vrf = 0u;
        uint32_t meta_loopback = 0u;
        uint32_t meta_uplink = 0u;
        uint32_t meta_reason = 0u;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_station_route_vrf = 0u;
        uint32_t UpfIngress_station_loopback_vrf = 0u;
        uint32_t UpfIngress_station_group_vrf = 0u;
        uint32_t UpfIngress_station_drop_reason = 0u;
        uint32_t UpfIngress_station_tmp = 0u;
        uint32_t UpfIngress_session_remote_v4 = 0u;
        uint32_t UpfIngress_session_local_v4 = 0u;
        sp_u128 UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        sp_u128 UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        uint32_t UpfIngress_session_remote_port = 0u;
        uint32_t UpfIngress_session_local_port = 0u;
        uint32_t UpfIngress_session_flow_label = 0u;
        uint32_t UpfIngress_session_src = 0u;
        UpfIngress_station_tmp = r->action;
        switch (r->action) {
            case ACTION_route: {
                UpfIngress_station_route_vrf = r->route.vrf_0;
                meta_vrf = UpfIngress_station_route_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_loopback: {
                UpfIngress_station_loopback_vrf = r->loopback.vrf_0;
                meta_vrf = UpfIngress_station_loopback_vrf; c->v.meta_vrf = meta_vrf;
                meta_loopback = 1u;
                break;
            }
            case ACTION_group: {
                UpfIngress_station_group_vrf = r->group.vrf_0;
                meta_vrf = UpfIngress_station_group_vrf; c->v.meta_vrf = meta_vrf;
                break;
            }
            case ACTION_UpfIngress_station_drop: {
                UpfIngress_station_drop_reason = r->UpfIngress_station_drop.reason_0;
                meta_reason = UpfIngress_station_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, 0u);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        switch (UpfIngress_station_tmp) {
            case 2u: {
                meta_reason = 0x2au;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x2au, 0u);
                goto done;
            }
            default: {
                break;
            }
        }
        UpfIngress_session_remote_v4 = 0u;
        UpfIngress_session_local_v4 = 0u;
        UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        UpfIngress_session_remote_port = 0u;
        UpfIngress_session_local_port = 0u;
        UpfIngress_session_flow_label = 0u;
        meta_uplink = 1u;
        UpfIngress_session_src = ((sp_ld32(p + 14 + 12) >> 24) & 0xff);
        if (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0u) || (((sp_ld32(p + 14 + 12) >> 24) & 0xff) >= 0xe0u)) || (((((sp_ld32(p + 14 + 12) >> 24) & 0xff) == 0x7fu) || (sp_ld32(p + 14 + 12) == sp_ld32(p + 14 + 16))) && (meta_loopback == 0u))) {
            meta_reason = 0x28u;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x28u, 0u);
            goto done;
        }
        const uint64_t x_l5 = (uint64_t)sp_ld32(p + 14 + 16) << 32 | (uint64_t)sp_ld32(p + 42 + 4);
        n_l2 += (n_l2 == begin_l3) | (x_l5 != word_l4);
        wait_l1->key_of[i] = n_l2 - 1;
        sp_st64(wait_l1->bytes + (n_l2 - 1) * 8 + 0, x_l5);
        word_l4 = x_l5;
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_2] |= to_l0;
    wait_l1->keys = n_l2;
}

static void class_2_stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_7 of = {28, 21, 53, 0};
    alike_7_1_station(run, todo, &of);
}

static void class_4_stage_1_station(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_7 of = {68, 61, 93, 0};
    alike_7_1_station(run, todo, &of);
}

struct alike_8 {
    int of_0;
    int of_1;
    int of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_8_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo, const struct alike_8 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_wait *const wait_l1 = &run->wait[of_0];
    uint32_t n_l2 = wait_l1->keys;
    uint32_t begin_l3 = n_l2;
    uint64_t word_l4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_sdf_ipv6];
    const struct sp_wait *const wait = &run->wait[of_1];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_sdf_ipv6 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_group = c->v.meta_group;
        uint32_t meta_class = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_filter_class = 0u;
        switch (r->action) {
            case ACTION_set_filter: {
                UpfIngress_session_set_filter_class = r->set_filter.class_0;
                meta_class = UpfIngress_session_set_filter_class;
                break;
            }
            case ACTION_no_filter: {
                meta_reason = 0x1bu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1bu, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        const uint64_t x_l5 = (uint64_t)meta_group << 32 | (uint64_t)meta_class << 24;
        n_l2 += (n_l2 == begin_l3) | (x_l5 != word_l4);
        wait_l1->key_of[i] = n_l2 - 1;
        sp_st64(wait_l1->bytes + (n_l2 - 1) * 8 + 0, x_l5);
        word_l4 = x_l5;
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_2] |= to_l0;
    wait_l1->keys = n_l2;
}

static void class_2_stage_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_8 of = {32, 30, 57, 0};
    alike_8_10_sdf_ipv6(run, todo, &of);
}

static void class_4_stage_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_8 of = {72, 70, 97, 0};
    alike_8_10_sdf_ipv6(run, todo, &of);
}

static void class_6_stage_10_sdf_ipv6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_8 of = {112, 110, 137, 0};
    alike_8_10_sdf_ipv6(run, todo, &of);
}

struct alike_9 {
    int of_0;
    int of_1;
    int of_2;
    int of_3;
    int of_4;
    long of_5;
    int of_6;
    int of_7;
    __typeof__(&class_2_leave_0) of_8;
    int of_9;
    int of_10;
    int of_11;
    int of_12;
    uint8_t none;
};

static __attribute__((noinline)) void alike_9_12_pdr_by_class(struct sp_run *const run, const uint64_t todo, const struct alike_9 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    const int of_3 = of->of_3;
    const int of_4 = of->of_4;
    const long of_5 = of->of_5;
    const int of_6 = of->of_6;
    const int of_7 = of->of_7;
    const __typeof__(&class_2_leave_0) of_8 = of->of_8;
    const int of_9 = of->of_9;
    const int of_10 = of->of_10;
    const int of_11 = of->of_11;
    const int of_12 = of->of_12;
    uint64_t to_l0 = 0;
    uint64_t to_l1 = 0;
    uint64_t to_l2 = 0;
    uint64_t to_l3 = 0;
    uint64_t to_l4 = 0;
    struct sp_wait *const wait_l5 = &run->wait[of_0];
    uint32_t n_l6 = wait_l5->keys;
    uint32_t begin_l7 = n_l6;
    uint64_t word_l8 = 0;
    uint64_t word_l9 = 0;
    uint64_t word_l10 = 0;
    uint64_t word_l11 = 0;
    uint64_t word_l12 = 0;
    struct sp_wait *const wait_l13 = &run->wait[of_1];
    uint32_t n_l14 = wait_l13->keys;
    uint32_t begin_l15 = n_l14;
    uint64_t word_l16 = 0;
    uint64_t word_l17 = 0;
    struct sp_wait *const wait_l18 = &run->wait[of_2];
    uint32_t n_l19 = wait_l18->keys;
    uint32_t begin_l20 = n_l19;
    uint64_t word_l21 = 0;
    uint64_t word_l22 = 0;
    uint64_t word_l23 = 0;
    struct sp_wait *const wait_l24 = &run->wait[of_3];
    uint32_t n_l25 = wait_l24->keys;
    uint32_t begin_l26 = n_l25;
    uint64_t word_l27 = 0;
    struct sp_table *const table_firewall_v6 = &run->lane->tables[TABLE_firewall_v6];
    const uint32_t skip_firewall_v6 = !table_firewall_v6->lookup && ((const struct record_firewall_v6 *)table_firewall_v6->miss)->action == ACTION_permit;
    uint64_t skipped_firewall_v6 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_pdr_by_class];
    const struct sp_wait *const wait = &run->wait[of_4];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_pdr_by_class *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = of_5;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_vrf = c->v.meta_vrf;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_session_set_pdr_pdr = 0;
        uint32_t UpfIngress_session_set_pdr_disposition = 0;
        uint32_t UpfIngress_session_set_pdr_flags = 0;
        uint32_t UpfIngress_session_set_pdr_usage = 0;
        uint32_t UpfIngress_session_set_pdr_meter_1 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_2 = 0;
        uint32_t UpfIngress_session_set_pdr_meter_3 = 0;
        uint32_t UpfIngress_session_set_pdr_ue_ipv4 = 0;
        uint64_t UpfIngress_session_set_pdr_ue_prefix = 0;
        uint32_t UpfIngress_session_set_pdr_encapsulation = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_teid = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_dst = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_src = 0;
        uint32_t UpfIngress_session_set_pdr_psc_qos = 0;
        uint32_t UpfIngress_session_set_pdr_tunnel_tos = 0;
        uint32_t UpfIngress_session_set_pdr_out_vrf = 0;
        switch (r->action) {
            case ACTION_set_pdr: {
                rule_set_pdr = (const void *)r; c->rule_set_pdr = rule_set_pdr;
                sp_expect_count(run, COUNTER_usage, r->set_pdr.usage_3);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_1_4);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_2_5);
                sp_expect_meter(run, METER_mbr, r->set_pdr.meter_3_6);
                UpfIngress_session_set_pdr_pdr = r->set_pdr.pdr_0;
                UpfIngress_session_set_pdr_disposition = r->set_pdr.disposition_1;
                UpfIngress_session_set_pdr_flags = r->set_pdr.flags_2;
                UpfIngress_session_set_pdr_usage = r->set_pdr.usage_3;
                UpfIngress_session_set_pdr_meter_1 = r->set_pdr.meter_1_4;
                UpfIngress_session_set_pdr_meter_2 = r->set_pdr.meter_2_5;
                UpfIngress_session_set_pdr_meter_3 = r->set_pdr.meter_3_6;
                UpfIngress_session_set_pdr_ue_ipv4 = r->set_pdr.ue_ipv4_7;
                UpfIngress_session_set_pdr_ue_prefix = r->set_pdr.ue_prefix_8;
                UpfIngress_session_set_pdr_encapsulation = r->set_pdr.encapsulation_9;
                UpfIngress_session_set_pdr_tunnel_teid = r->set_pdr.tunnel_teid_10;
                UpfIngress_session_set_pdr_tunnel_dst = r->set_pdr.tunnel_dst_11;
                UpfIngress_session_set_pdr_tunnel_src = r->set_pdr.tunnel_src_12;
                UpfIngress_session_set_pdr_psc_qos = r->set_pdr.psc_qos_13;
                UpfIngress_session_set_pdr_tunnel_tos = r->set_pdr.tunnel_tos_14;
                UpfIngress_session_set_pdr_out_vrf = r->set_pdr.out_vrf_15;
                meta_mark = UpfIngress_session_set_pdr_pdr; c->v.meta_mark = meta_mark;
                break;
            }
            case ACTION_no_pdr: {
                meta_reason = 0x1bu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1bu, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        if (skip_firewall_v6) {
            skipped_firewall_v6++;
            goto node_8;
        }
        const sp_u128 x_l28 = sp_ld128(p + of_6 + 8);
        const sp_u128 x_l29 = sp_ld128(p + of_6 + 24);
        const uint64_t x_l30 = (uint64_t)meta_vrf << 48 | (uint64_t)(x_l28 >> 80);
        const uint64_t x_l31 = (uint64_t)(x_l28 >> 16);
        const uint64_t x_l32 = (uint64_t)x_l28 << 48 | (uint64_t)(x_l29 >> 80);
        const uint64_t x_l33 = (uint64_t)(x_l29 >> 16);
        const uint64_t x_l34 = (uint64_t)x_l29 << 48 | (uint64_t)sp_ld8(p + of_6 + 6) << 40 | (uint64_t)sp_ld16(p + of_7) << 24 | (uint64_t)sp_ld16(p + of_7 + 2) << 8;
        n_l6 += (n_l6 == begin_l7) | (x_l30 != word_l8) | (x_l31 != word_l9) | (x_l32 != word_l10) | (x_l33 != word_l11) | (x_l34 != word_l12);
        wait_l5->key_of[i] = n_l6 - 1;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 40 + 0, x_l30);
        word_l8 = x_l30;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 40 + 8, x_l31);
        word_l9 = x_l31;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 40 + 16, x_l32);
        word_l10 = x_l32;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 40 + 24, x_l33);
        word_l11 = x_l33;
        sp_st64(wait_l5->bytes + (n_l6 - 1) * 40 + 32, x_l34);
        word_l12 = x_l34;
        to_l1 |= bit;
        goto done;
        node_8:;
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                of_8(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_l0 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + of_6 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + of_6 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + of_6 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + of_6 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + of_6 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + of_6 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + of_6 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + of_6 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + of_6 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x_l35 = 0u;
        const uint64_t x_l36 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + of_6) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x_l35 >> 16);
        const uint64_t x_l37 = (uint64_t)x_l35 << 48 | (uint64_t)sp_ld8(p + of_6 + 6) << 40 | (uint64_t)sp_ld16(p + of_7) << 24 | (uint64_t)sp_ld16(p + of_7 + 2) << 8;
        n_l14 += (n_l14 == begin_l15) | (x_l36 != word_l16) | (x_l37 != word_l17);
        wait_l13->key_of[i] = n_l14 - 1;
        sp_st64(wait_l13->bytes + (n_l14 - 1) * 16 + 0, x_l36);
        word_l16 = x_l36;
        sp_st64(wait_l13->bytes + (n_l14 - 1) * 16 + 8, x_l37);
        word_l17 = x_l37;
        to_l2 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + of_6 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + of_6 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + of_6 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x_l38 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_l25 += (n_l25 == begin_l26) | (x_l38 != word_l27);
            wait_l24->key_of[i] = n_l25 - 1;
            sp_st64(wait_l24->bytes + (n_l25 - 1) * 8 + 0, x_l38);
            word_l27 = x_l38;
            to_l4 |= bit;
            goto done;
        } else {
            const sp_u128 x_l39 = sp_ld128(p + of_6 + 24);
            const uint64_t x_l40 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x_l39 >> 80);
            const uint64_t x_l41 = (uint64_t)(x_l39 >> 16);
            const uint64_t x_l42 = (uint64_t)x_l39 << 48;
            n_l19 += (n_l19 == begin_l20) | (x_l40 != word_l21) | (x_l41 != word_l22) | (x_l42 != word_l23);
            wait_l18->key_of[i] = n_l19 - 1;
            sp_st64(wait_l18->bytes + (n_l19 - 1) * 24 + 0, x_l40);
            word_l21 = x_l40;
            sp_st64(wait_l18->bytes + (n_l19 - 1) * 24 + 8, x_l41);
            word_l22 = x_l41;
            sp_st64(wait_l18->bytes + (n_l19 - 1) * 24 + 16, x_l42);
            word_l23 = x_l42;
            to_l3 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_l0;
    run->todo[of_9] |= to_l1;
    run->todo[of_10] |= to_l2;
    run->todo[of_11] |= to_l3;
    run->todo[of_12] |= to_l4;
    wait_l5->keys = n_l6;
    wait_l13->keys = n_l14;
    wait_l18->keys = n_l19;
    wait_l24->keys = n_l25;
    sp_looked_up(table_firewall_v6, 0, skipped_firewall_v6);
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static void class_2_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_9 of = {33, 35, 36, 38, 32, 0x10800e410, 50, 90, class_2_leave_0, 58, 60, 61, 63, 0};
    alike_9_12_pdr_by_class(run, todo, &of);
}

static void class_4_stage_12_pdr_by_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_9 of = {73, 75, 76, 78, 72, 0x10803e410, 58, 98, class_4_leave_0, 98, 100, 101, 103, 0};
    alike_9_12_pdr_by_class(run, todo, &of);
}

struct alike_10 {
    int of_0;
    int of_1;
    int of_2;
    int of_3;
    long of_4;
    __typeof__(&class_2_leave_0) of_5;
    int of_6;
    int of_7;
    int of_8;
    int of_9;
    int of_10;
    uint8_t none;
};

static __attribute__((noinline)) void alike_10_13_firewall_v6(struct sp_run *const run, const uint64_t todo, const struct alike_10 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    const int of_3 = of->of_3;
    const long of_4 = of->of_4;
    const __typeof__(&class_2_leave_0) of_5 = of->of_5;
    const int of_6 = of->of_6;
    const int of_7 = of->of_7;
    const int of_8 = of->of_8;
    const int of_9 = of->of_9;
    const int of_10 = of->of_10;
    uint64_t to_l0 = 0;
    uint64_t to_l1 = 0;
    uint64_t to_l2 = 0;
    uint64_t to_l3 = 0;
    struct sp_wait *const wait_l4 = &run->wait[of_0];
    uint32_t n_l5 = wait_l4->keys;
    uint32_t begin_l6 = n_l5;
    uint64_t word_l7 = 0;
    uint64_t word_l8 = 0;
    struct sp_wait *const wait_l9 = &run->wait[of_1];
    uint32_t n_l10 = wait_l9->keys;
    uint32_t begin_l11 = n_l10;
    uint64_t word_l12 = 0;
    uint64_t word_l13 = 0;
    uint64_t word_l14 = 0;
    struct sp_wait *const wait_l15 = &run->wait[of_2];
    uint32_t n_l16 = wait_l15->keys;
    uint32_t begin_l17 = n_l16;
    uint64_t word_l18 = 0;
    struct sp_table *const table_traffic_class = &run->lane->tables[TABLE_traffic_class];
    const uint32_t skip_traffic_class = !table_traffic_class->lookup && ((const struct record_traffic_class *)table_traffic_class->miss)->action == ACTION_best_effort;
    uint64_t skipped_traffic_class = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_firewall_v6];
    const struct sp_wait *const wait = &run->wait[of_3];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_firewall_v6 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint64_t valid = of_4;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        switch (r->action) {
            case ACTION_deny: {
                meta_reason = 0x21u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x21u, meta_mark);
                goto done;
            }
            case ACTION_permit:
                break;
            default:
                __builtin_unreachable();
        }
        if ((rule_set_pdr->set_pdr.disposition_1) != 0u) {
            if ((rule_set_pdr->set_pdr.disposition_1) == 2u) {
                standard_metadata_egress_spec = 0x1fdu;
                of_5(c, p);
                c->valid = valid;
                c->v.meta_reason = 0u;
                c->v.standard_metadata_egress_spec = 0x1fdu;
                to_l0 |= bit;
                goto done;
            } else {
                if ((rule_set_pdr->set_pdr.disposition_1) == 3u) {
                    meta_reason = 0x1du;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x1du, meta_mark);
                    goto done;
                } else {
                    if ((rule_set_pdr->set_pdr.disposition_1) == 4u) {
                        meta_reason = 0x1eu;
                        standard_metadata_egress_spec = 511u;
                        standard_metadata_mcast_grp = 0u;
                        sp_drop(run, i, 0x1eu, meta_mark);
                        goto done;
                    }
                }
            }
            meta_reason = 0x1cu;
            standard_metadata_egress_spec = 511u;
            standard_metadata_mcast_grp = 0u;
            sp_drop(run, i, 0x1cu, meta_mark);
            goto done;
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 2u) != 0u) {
            if (((rule_set_pdr->set_pdr.ue_prefix_8) == 0x0ull) || (((uint64_t)(sp_ld128(p + of_6 + 8) >> 64)) != (rule_set_pdr->set_pdr.ue_prefix_8))) {
                meta_reason = 0x1fu;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x1fu, meta_mark);
                goto done;
            }
        }
        if (((rule_set_pdr->set_pdr.flags_2) & 1u) != 0u) {
            if (((((((((sp_ld128(p + of_6 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((sp_ld128(p + of_6 + 8) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + of_6 + 8) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(sp_ld128(p + of_6 + 8) >> 118) & 0x3ff) == 0x3fau)) || (((sp_ld128(p + of_6 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((sp_ld128(p + of_6 + 24) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(sp_ld128(p + of_6 + 24) >> 118) & 0x3ff) == 0x3fau)) {
                meta_reason = 0x28u;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, 0x28u, meta_mark);
                goto done;
            } else {
                if (((uint32_t)(sp_ld128(p + of_6 + 24) >> 120) & 0xff) == 0xffu) {
                    meta_reason = 0x29u;
                    standard_metadata_egress_spec = 511u;
                    standard_metadata_mcast_grp = 0u;
                    sp_drop(run, i, 0x29u, meta_mark);
                    goto done;
                }
            }
        }
        if (skip_traffic_class) {
            skipped_traffic_class++;
            goto node_7;
        }
        const uint32_t x_l19 = 0u;
        const uint64_t x_l20 = (uint64_t)6u << 56 | (uint64_t)((sp_ld16(p + of_6) >> 4) & 0xff) << 48 | (uint64_t)0u << 16 | (uint64_t)(x_l19 >> 16);
        const uint64_t x_l21 = (uint64_t)x_l19 << 48 | (uint64_t)sp_ld8(p + of_6 + 6) << 40 | (uint64_t)sp_ld16(p + of_7) << 24 | (uint64_t)sp_ld16(p + of_7 + 2) << 8;
        n_l5 += (n_l5 == begin_l6) | (x_l20 != word_l7) | (x_l21 != word_l8);
        wait_l4->key_of[i] = n_l5 - 1;
        sp_st64(wait_l4->bytes + (n_l5 - 1) * 16 + 0, x_l20);
        word_l7 = x_l20;
        sp_st64(wait_l4->bytes + (n_l5 - 1) * 16 + 8, x_l21);
        word_l8 = x_l21;
        to_l1 |= bit;
        goto done;
        node_7:;
        meta_out_length = (sp_ld16(p + of_6 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + of_6 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + of_6 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x_l22 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_l16 += (n_l16 == begin_l17) | (x_l22 != word_l18);
            wait_l15->key_of[i] = n_l16 - 1;
            sp_st64(wait_l15->bytes + (n_l16 - 1) * 8 + 0, x_l22);
            word_l18 = x_l22;
            to_l3 |= bit;
            goto done;
        } else {
            const sp_u128 x_l23 = sp_ld128(p + of_6 + 24);
            const uint64_t x_l24 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x_l23 >> 80);
            const uint64_t x_l25 = (uint64_t)(x_l23 >> 16);
            const uint64_t x_l26 = (uint64_t)x_l23 << 48;
            n_l10 += (n_l10 == begin_l11) | (x_l24 != word_l12) | (x_l25 != word_l13) | (x_l26 != word_l14);
            wait_l9->key_of[i] = n_l10 - 1;
            sp_st64(wait_l9->bytes + (n_l10 - 1) * 24 + 0, x_l24);
            word_l12 = x_l24;
            sp_st64(wait_l9->bytes + (n_l10 - 1) * 24 + 8, x_l25);
            word_l13 = x_l25;
            sp_st64(wait_l9->bytes + (n_l10 - 1) * 24 + 16, x_l26);
            word_l14 = x_l26;
            to_l2 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[24] |= to_l0;
    run->todo[of_8] |= to_l1;
    run->todo[of_9] |= to_l2;
    run->todo[of_10] |= to_l3;
    wait_l4->keys = n_l5;
    wait_l9->keys = n_l10;
    wait_l15->keys = n_l16;
    sp_looked_up(table_traffic_class, 0, skipped_traffic_class);
}

static void class_2_stage_13_firewall_v6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_10 of = {35, 36, 38, 33, 0x10800e410, class_2_leave_0, 50, 90, 60, 61, 63, 0};
    alike_10_13_firewall_v6(run, todo, &of);
}

static void class_4_stage_13_firewall_v6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_10 of = {75, 76, 78, 73, 0x10803e410, class_4_leave_0, 58, 98, 100, 101, 103, 0};
    alike_10_13_firewall_v6(run, todo, &of);
}

struct alike_11 {
    int of_0;
    int of_1;
    int of_2;
    int of_3;
    int of_4;
    int of_5;
    uint8_t none;
};

static __attribute__((noinline)) void alike_11_15_traffic_class(struct sp_run *const run, const uint64_t todo, const struct alike_11 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    const int of_3 = of->of_3;
    const int of_4 = of->of_4;
    const int of_5 = of->of_5;
    uint64_t to_l0 = 0;
    uint64_t to_l1 = 0;
    struct sp_wait *const wait_l2 = &run->wait[of_0];
    uint32_t n_l3 = wait_l2->keys;
    uint32_t begin_l4 = n_l3;
    uint64_t word_l5 = 0;
    uint64_t word_l6 = 0;
    uint64_t word_l7 = 0;
    struct sp_wait *const wait_l8 = &run->wait[of_1];
    uint32_t n_l9 = wait_l8->keys;
    uint32_t begin_l10 = n_l9;
    uint64_t word_l11 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_traffic_class];
    const struct sp_wait *const wait = &run->wait[of_2];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_traffic_class *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        const struct record_pdr_by_teid *rule_set_pdr = c->rule_set_pdr;
        uint32_t meta_dst_v4 = 0u;
        uint32_t meta_class_meter = 0u;
        uint32_t meta_out_length = 0u;
        uint32_t standard_metadata_priority = 0u;
        uint32_t UpfIngress_traffic_class_set_class_queue = 0u;
        uint32_t UpfIngress_traffic_class_set_class_meter_cell = 0u;
        switch (r->action) {
            case ACTION_set_class: {
                UpfIngress_traffic_class_set_class_queue = r->set_class.queue_0;
                UpfIngress_traffic_class_set_class_meter_cell = r->set_class.meter_cell_1;
                standard_metadata_priority = UpfIngress_traffic_class_set_class_queue;
                meta_class_meter = UpfIngress_traffic_class_set_class_meter_cell; c->v.meta_class_meter = meta_class_meter;
                break;
            }
            case ACTION_best_effort:
                break;
            default:
                __builtin_unreachable();
        }
        meta_out_length = (sp_ld16(p + of_3 + 4) + 0x28u); c->v.meta_out_length = meta_out_length;
        if ((rule_set_pdr->set_pdr.encapsulation_9) == 1u) {
            meta_out_length = ((sp_ld16(p + of_3 + 4) + 0x28u) + 0x24u); c->v.meta_out_length = meta_out_length;
        } else {
            if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
                meta_out_length = (((sp_ld16(p + of_3 + 4) + 0x28u) + 0x24u) + 8u); c->v.meta_out_length = meta_out_length;
            }
        }
        if ((rule_set_pdr->set_pdr.encapsulation_9) != 0u) {
            meta_dst_v4 = rule_set_pdr->set_pdr.tunnel_dst_11; c->v.meta_dst_v4 = meta_dst_v4;
            const uint64_t x_l12 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)meta_dst_v4 << 16;
            n_l9 += (n_l9 == begin_l10) | (x_l12 != word_l11);
            wait_l8->key_of[i] = n_l9 - 1;
            sp_st64(wait_l8->bytes + (n_l9 - 1) * 8 + 0, x_l12);
            word_l11 = x_l12;
            to_l1 |= bit;
            goto done;
        } else {
            const sp_u128 x_l13 = sp_ld128(p + of_3 + 24);
            const uint64_t x_l14 = (uint64_t)(rule_set_pdr->set_pdr.out_vrf_15) << 48 | (uint64_t)(x_l13 >> 80);
            const uint64_t x_l15 = (uint64_t)(x_l13 >> 16);
            const uint64_t x_l16 = (uint64_t)x_l13 << 48;
            n_l3 += (n_l3 == begin_l4) | (x_l14 != word_l5) | (x_l15 != word_l6) | (x_l16 != word_l7);
            wait_l2->key_of[i] = n_l3 - 1;
            sp_st64(wait_l2->bytes + (n_l3 - 1) * 24 + 0, x_l14);
            word_l5 = x_l14;
            sp_st64(wait_l2->bytes + (n_l3 - 1) * 24 + 8, x_l15);
            word_l6 = x_l15;
            sp_st64(wait_l2->bytes + (n_l3 - 1) * 24 + 16, x_l16);
            word_l7 = x_l16;
            to_l0 |= bit;
            goto done;
        }
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_4] |= to_l0;
    run->todo[of_5] |= to_l1;
    wait_l2->keys = n_l3;
    wait_l8->keys = n_l9;
}

static void class_2_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_11 of = {36, 38, 35, 50, 61, 63, 0};
    alike_11_15_traffic_class(run, todo, &of);
}

static void class_4_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_11 of = {76, 78, 75, 58, 101, 103, 0};
    alike_11_15_traffic_class(run, todo, &of);
}

static void class_6_stage_15_traffic_class(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_11 of = {116, 118, 115, 14, 141, 143, 0};
    alike_11_15_traffic_class(run, todo, &of);
}

struct alike_12 {
    int of_0;
    int of_1;
    int of_2;
    uint8_t none;
};

static __attribute__((noinline)) void alike_12_16_route_ipv6(struct sp_run *const run, const uint64_t todo, const struct alike_12 *const of)
{
    const int of_0 = of->of_0;
    const int of_1 = of->of_1;
    const int of_2 = of->of_2;
    uint64_t to_l0 = 0;
    struct sp_wait *const wait_l1 = &run->wait[of_0];
    uint32_t n_l2 = wait_l1->keys;
    uint32_t begin_l3 = n_l2;
    uint64_t word_l4 = 0;
    struct sp_table *const table = &run->lane->tables[TABLE_route_ipv6];
    const struct sp_wait *const wait = &run->wait[of_1];
    const uint64_t hits = wait->hits;
    uint32_t found = 0;
    for (uint64_t left = todo; left; left &= left - 1) {
        const uint32_t i = __builtin_ctzll(left);
        const uint64_t bit = left & -left;
        struct sp_context *const c = &run->contexts[i];
        struct sp_packet *const pk = &run->packets[i];
        uint8_t *const p = pk->buffer + pk->start;
        const uint32_t k = wait->key_of[i];
        const uint32_t hit = hits >> k & 1;
        const struct record_route_ipv6 *const r = hit ? (const void *)wait->records[k] : table->miss;
        found += hit;
        uint32_t meta_nexthop = 0u;
        uint32_t meta_reason = 0u;
        uint32_t meta_mark = c->v.meta_mark;
        uint32_t standard_metadata_egress_spec = 0u;
        uint32_t standard_metadata_mcast_grp = 0u;
        uint32_t UpfIngress_route_set_nexthop_nexthop = 0u;
        uint32_t UpfIngress_route_drop_reason = 0u;
        switch (r->action) {
            case ACTION_set_nexthop: {
                UpfIngress_route_set_nexthop_nexthop = r->set_nexthop.nexthop_0;
                meta_nexthop = UpfIngress_route_set_nexthop_nexthop;
                break;
            }
            case ACTION_UpfIngress_route_drop: {
                UpfIngress_route_drop_reason = r->UpfIngress_route_drop.reason_0;
                meta_reason = UpfIngress_route_drop_reason;
                standard_metadata_egress_spec = 511u;
                standard_metadata_mcast_grp = 0u;
                sp_drop(run, i, meta_reason, meta_mark);
                goto done;
            }
            default:
                __builtin_unreachable();
        }
        const uint64_t x_l5 = (uint64_t)meta_nexthop << 48;
        n_l2 += (n_l2 == begin_l3) | (x_l5 != word_l4);
        wait_l1->key_of[i] = n_l2 - 1;
        sp_st64(wait_l1->bytes + (n_l2 - 1) * 8 + 0, x_l5);
        word_l4 = x_l5;
        to_l0 |= bit;
        done:;
    }
    sp_looked_up(table, found, __builtin_popcountll(todo) - found);
    run->todo[of_2] |= to_l0;
    wait_l1->keys = n_l2;
}

static void class_2_stage_16_route_ipv6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_12 of = {39, 36, 64, 0};
    alike_12_16_route_ipv6(run, todo, &of);
}

static void class_4_stage_16_route_ipv6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_12 of = {79, 76, 104, 0};
    alike_12_16_route_ipv6(run, todo, &of);
}

static void class_6_stage_16_route_ipv6(struct sp_run *const run, const uint64_t todo)
{
    static const struct alike_12 of = {119, 116, 144, 0};
    alike_12_16_route_ipv6(run, todo, &of);
}

static void sp_stages(struct sp_run *const run, const uint64_t all)
{
    uint64_t class[SP_CLASSES] = {0};
    const struct sp_packet *const packets = run->packets;
    uint8_t of[64];
    const uint32_t n = __builtin_popcountll(all);
    for (uint32_t i = 0; i < n; i++) of[i] = sp_class(&packets[i]);
    for (uint32_t i = 0, first; (first = i) < n;) {
        do i++; while (i < n && of[i] == of[first]);
        class[of[first]] |= ~0ull >> (64 - (i - first)) << first;
    }
    for (uint32_t k = 0; k < SP_CLASSES; k++) {
        __atomic_store_n(&run->of_class[k], run->of_class[k] + __builtin_popcountll(class[k]), __ATOMIC_RELAXED);
    }
    run->todo[0] = class[0];
    run->todo[25] = class[1];
    run->todo[45] = class[2];
    run->todo[65] = class[3];
    run->todo[85] = class[4];
    run->todo[105] = class[5];
    run->todo[125] = class[6];
    if (run->todo[0]) stage_0_parser(run, run->todo[0]);
    if (run->todo[1]) stage_1_station(run, run->todo[1]);
    if (run->todo[2]) stage_2_vxlan_termination(run, run->todo[2]);
    if (run->todo[3]) stage_3_join(run, run->todo[3]);
    if (run->todo[4]) stage_4_pdr_by_ue_ipv6(run, run->todo[4]);
    if (run->todo[5]) stage_5_local_ipv6(run, run->todo[5]);
    if (run->todo[6]) stage_6_pdr_by_ue_ipv4(run, run->todo[6]);
    if (run->todo[7]) stage_7_local_ipv4(run, run->todo[7]);
    if (run->todo[8]) stage_8_local_ipv4(run, run->todo[8]);
    if (run->todo[9]) stage_9_pdr_by_teid(run, run->todo[9]);
    if (run->todo[10]) stage_10_local_ipv4(run, run->todo[10]);
    if (run->todo[11]) stage_11_join(run, run->todo[11]);
    if (run->todo[12]) stage_12_sdf_ipv6(run, run->todo[12]);
    if (run->todo[13]) stage_13_sdf_ipv4(run, run->todo[13]);
    if (run->todo[14]) stage_14_pdr_by_class(run, run->todo[14]);
    if (run->todo[15]) stage_15_join(run, run->todo[15]);
    if (run->todo[16]) stage_16_firewall_v6(run, run->todo[16]);
    if (run->todo[17]) stage_17_firewall_v4(run, run->todo[17]);
    if (run->todo[18]) stage_18_join(run, run->todo[18]);
    if (run->todo[19]) stage_19_traffic_class(run, run->todo[19]);
    if (run->todo[20]) stage_20_route_ipv6(run, run->todo[20]);
    if (run->todo[21]) stage_21_route_ipv4(run, run->todo[21]);
    if (run->todo[22]) stage_22_route_ipv4(run, run->todo[22]);
    if (class[1]) {
        if (run->todo[25]) class_1_stage_0_parser(run, run->todo[25]);
        if (run->todo[26]) {
            sp_look_up(run, TABLE_station, &run->wait[1], 8, run->todo[26]);
            class_1_stage_1_station(run, run->todo[26]);
        }
        if (run->todo[33]) {
            sp_look_up(run, TABLE_pdr_by_teid, &run->wait[8], 8, run->todo[33]);
            class_1_stage_8_pdr_by_teid(run, run->todo[33]);
        }
        if (run->todo[34]) {
            sp_look_up(run, TABLE_local_ipv4, &run->wait[9], 8, run->todo[34]);
            class_1_stage_9_local_ipv4(run, run->todo[34]);
        }
        if (run->todo[36]) {
            sp_look_up(run, TABLE_sdf_ipv4, &run->wait[11], 24, run->todo[36]);
            class_1_stage_11_sdf_ipv4(run, run->todo[36]);
        }
        if (run->todo[37]) {
            sp_look_up(run, TABLE_pdr_by_class, &run->wait[12], 8, run->todo[37]);
            class_1_stage_12_pdr_by_class(run, run->todo[37]);
        }
        if (run->todo[39]) {
            sp_look_up(run, TABLE_firewall_v4, &run->wait[14], 16, run->todo[39]);
            class_1_stage_14_firewall_v4(run, run->todo[39]);
        }
        if (run->todo[40]) {
            sp_look_up(run, TABLE_traffic_class, &run->wait[15], 16, run->todo[40]);
            class_1_stage_15_traffic_class(run, run->todo[40]);
        }
        if (run->todo[42]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[17], 8, run->todo[42]);
            class_1_stage_17_route_ipv4(run, run->todo[42]);
        }
        if (run->todo[43]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[18], 8, run->todo[43]);
            class_1_stage_18_route_ipv4(run, run->todo[43]);
        }
    }
    if (class[2]) {
        if (run->todo[45]) class_2_stage_0_parser(run, run->todo[45]);
        if (run->todo[46]) {
            sp_look_up(run, TABLE_station, &run->wait[21], 8, run->todo[46]);
            class_2_stage_1_station(run, run->todo[46]);
        }
        if (run->todo[53]) {
            sp_look_up(run, TABLE_pdr_by_teid, &run->wait[28], 8, run->todo[53]);
            class_2_stage_8_pdr_by_teid(run, run->todo[53]);
        }
        if (run->todo[54]) {
            sp_look_up(run, TABLE_local_ipv4, &run->wait[29], 8, run->todo[54]);
            class_2_stage_9_local_ipv4(run, run->todo[54]);
        }
        if (run->todo[55]) {
            sp_look_up(run, TABLE_sdf_ipv6, &run->wait[30], 48, run->todo[55]);
            class_2_stage_10_sdf_ipv6(run, run->todo[55]);
        }
        if (run->todo[57]) {
            sp_look_up(run, TABLE_pdr_by_class, &run->wait[32], 8, run->todo[57]);
            class_2_stage_12_pdr_by_class(run, run->todo[57]);
        }
        if (run->todo[58]) {
            sp_look_up(run, TABLE_firewall_v6, &run->wait[33], 40, run->todo[58]);
            class_2_stage_13_firewall_v6(run, run->todo[58]);
        }
        if (run->todo[60]) {
            sp_look_up(run, TABLE_traffic_class, &run->wait[35], 16, run->todo[60]);
            class_2_stage_15_traffic_class(run, run->todo[60]);
        }
        if (run->todo[61]) {
            sp_look_up(run, TABLE_route_ipv6, &run->wait[36], 24, run->todo[61]);
            class_2_stage_16_route_ipv6(run, run->todo[61]);
        }
        if (run->todo[63]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[38], 8, run->todo[63]);
            class_2_stage_18_route_ipv4(run, run->todo[63]);
        }
    }
    if (class[3]) {
        if (run->todo[65]) class_3_stage_0_parser(run, run->todo[65]);
        if (run->todo[66]) {
            sp_look_up(run, TABLE_station, &run->wait[41], 8, run->todo[66]);
            class_3_stage_1_station(run, run->todo[66]);
        }
        if (run->todo[73]) {
            sp_look_up(run, TABLE_pdr_by_teid, &run->wait[48], 8, run->todo[73]);
            class_3_stage_8_pdr_by_teid(run, run->todo[73]);
        }
        if (run->todo[74]) {
            sp_look_up(run, TABLE_local_ipv4, &run->wait[49], 8, run->todo[74]);
            class_3_stage_9_local_ipv4(run, run->todo[74]);
        }
        if (run->todo[76]) {
            sp_look_up(run, TABLE_sdf_ipv4, &run->wait[51], 24, run->todo[76]);
            class_3_stage_11_sdf_ipv4(run, run->todo[76]);
        }
        if (run->todo[77]) {
            sp_look_up(run, TABLE_pdr_by_class, &run->wait[52], 8, run->todo[77]);
            class_3_stage_12_pdr_by_class(run, run->todo[77]);
        }
        if (run->todo[79]) {
            sp_look_up(run, TABLE_firewall_v4, &run->wait[54], 16, run->todo[79]);
            class_3_stage_14_firewall_v4(run, run->todo[79]);
        }
        if (run->todo[80]) {
            sp_look_up(run, TABLE_traffic_class, &run->wait[55], 16, run->todo[80]);
            class_3_stage_15_traffic_class(run, run->todo[80]);
        }
        if (run->todo[82]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[57], 8, run->todo[82]);
            class_3_stage_17_route_ipv4(run, run->todo[82]);
        }
        if (run->todo[83]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[58], 8, run->todo[83]);
            class_3_stage_18_route_ipv4(run, run->todo[83]);
        }
    }
    if (class[4]) {
        if (run->todo[85]) class_4_stage_0_parser(run, run->todo[85]);
        if (run->todo[86]) {
            sp_look_up(run, TABLE_station, &run->wait[61], 8, run->todo[86]);
            class_4_stage_1_station(run, run->todo[86]);
        }
        if (run->todo[93]) {
            sp_look_up(run, TABLE_pdr_by_teid, &run->wait[68], 8, run->todo[93]);
            class_4_stage_8_pdr_by_teid(run, run->todo[93]);
        }
        if (run->todo[94]) {
            sp_look_up(run, TABLE_local_ipv4, &run->wait[69], 8, run->todo[94]);
            class_4_stage_9_local_ipv4(run, run->todo[94]);
        }
        if (run->todo[95]) {
            sp_look_up(run, TABLE_sdf_ipv6, &run->wait[70], 48, run->todo[95]);
            class_4_stage_10_sdf_ipv6(run, run->todo[95]);
        }
        if (run->todo[97]) {
            sp_look_up(run, TABLE_pdr_by_class, &run->wait[72], 8, run->todo[97]);
            class_4_stage_12_pdr_by_class(run, run->todo[97]);
        }
        if (run->todo[98]) {
            sp_look_up(run, TABLE_firewall_v6, &run->wait[73], 40, run->todo[98]);
            class_4_stage_13_firewall_v6(run, run->todo[98]);
        }
        if (run->todo[100]) {
            sp_look_up(run, TABLE_traffic_class, &run->wait[75], 16, run->todo[100]);
            class_4_stage_15_traffic_class(run, run->todo[100]);
        }
        if (run->todo[101]) {
            sp_look_up(run, TABLE_route_ipv6, &run->wait[76], 24, run->todo[101]);
            class_4_stage_16_route_ipv6(run, run->todo[101]);
        }
        if (run->todo[103]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[78], 8, run->todo[103]);
            class_4_stage_18_route_ipv4(run, run->todo[103]);
        }
    }
    if (class[5]) {
        if (run->todo[105]) class_5_stage_0_parser(run, run->todo[105]);
        if (run->todo[106]) {
            sp_look_up(run, TABLE_station, &run->wait[81], 8, run->todo[106]);
            class_5_stage_1_station(run, run->todo[106]);
        }
        if (run->todo[110]) {
            sp_look_up(run, TABLE_pdr_by_ue_ipv4, &run->wait[85], 8, run->todo[110]);
            class_5_stage_5_pdr_by_ue_ipv4(run, run->todo[110]);
        }
        if (run->todo[111]) {
            sp_look_up(run, TABLE_local_ipv4, &run->wait[86], 8, run->todo[111]);
            class_5_stage_6_local_ipv4(run, run->todo[111]);
        }
        if (run->todo[116]) {
            sp_look_up(run, TABLE_sdf_ipv4, &run->wait[91], 24, run->todo[116]);
            class_5_stage_11_sdf_ipv4(run, run->todo[116]);
        }
        if (run->todo[117]) {
            sp_look_up(run, TABLE_pdr_by_class, &run->wait[92], 8, run->todo[117]);
            class_5_stage_12_pdr_by_class(run, run->todo[117]);
        }
        if (run->todo[119]) {
            sp_look_up(run, TABLE_firewall_v4, &run->wait[94], 16, run->todo[119]);
            class_5_stage_14_firewall_v4(run, run->todo[119]);
        }
        if (run->todo[120]) {
            sp_look_up(run, TABLE_traffic_class, &run->wait[95], 16, run->todo[120]);
            class_5_stage_15_traffic_class(run, run->todo[120]);
        }
        if (run->todo[122]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[97], 8, run->todo[122]);
            class_5_stage_17_route_ipv4(run, run->todo[122]);
        }
        if (run->todo[123]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[98], 8, run->todo[123]);
            class_5_stage_18_route_ipv4(run, run->todo[123]);
        }
    }
    if (class[6]) {
        if (run->todo[125]) class_6_stage_0_parser(run, run->todo[125]);
        if (run->todo[126]) {
            sp_look_up(run, TABLE_station, &run->wait[101], 8, run->todo[126]);
            class_6_stage_1_station(run, run->todo[126]);
        }
        if (run->todo[128]) {
            sp_look_up(run, TABLE_pdr_by_ue_ipv6, &run->wait[103], 16, run->todo[128]);
            class_6_stage_3_pdr_by_ue_ipv6(run, run->todo[128]);
        }
        if (run->todo[129]) {
            sp_look_up(run, TABLE_local_ipv6, &run->wait[104], 24, run->todo[129]);
            class_6_stage_4_local_ipv6(run, run->todo[129]);
        }
        if (run->todo[135]) {
            sp_look_up(run, TABLE_sdf_ipv6, &run->wait[110], 48, run->todo[135]);
            class_6_stage_10_sdf_ipv6(run, run->todo[135]);
        }
        if (run->todo[137]) {
            sp_look_up(run, TABLE_pdr_by_class, &run->wait[112], 8, run->todo[137]);
            class_6_stage_12_pdr_by_class(run, run->todo[137]);
        }
        if (run->todo[138]) {
            sp_look_up(run, TABLE_firewall_v6, &run->wait[113], 40, run->todo[138]);
            class_6_stage_13_firewall_v6(run, run->todo[138]);
        }
        if (run->todo[140]) {
            sp_look_up(run, TABLE_traffic_class, &run->wait[115], 16, run->todo[140]);
            class_6_stage_15_traffic_class(run, run->todo[140]);
        }
        if (run->todo[141]) {
            sp_look_up(run, TABLE_route_ipv6, &run->wait[116], 24, run->todo[141]);
            class_6_stage_16_route_ipv6(run, run->todo[141]);
        }
        if (run->todo[143]) {
            sp_look_up(run, TABLE_route_ipv4, &run->wait[118], 8, run->todo[143]);
            class_6_stage_18_route_ipv4(run, run->todo[143]);
        }
    }
    /* In the order of packets. */
    uint64_t left = 0;
    left |= run->todo[23];
    left |= run->todo[44];
    if (run->todo[44]) sp_look_up(run, TABLE_nexthop, &run->wait[19], 8, run->todo[44]);
    left |= run->todo[64];
    if (run->todo[64]) sp_look_up(run, TABLE_nexthop, &run->wait[39], 8, run->todo[64]);
    left |= run->todo[84];
    if (run->todo[84]) sp_look_up(run, TABLE_nexthop, &run->wait[59], 8, run->todo[84]);
    left |= run->todo[104];
    if (run->todo[104]) sp_look_up(run, TABLE_nexthop, &run->wait[79], 8, run->todo[104]);
    left |= run->todo[124];
    if (run->todo[124]) sp_look_up(run, TABLE_nexthop, &run->wait[99], 8, run->todo[124]);
    left |= run->todo[144];
    if (run->todo[144]) sp_look_up(run, TABLE_nexthop, &run->wait[119], 8, run->todo[144]);
    while (left) {
        uint64_t turn = 0;
        turn = sp_turn(left, run->todo[23]);
        if (turn) stage_23_nexthop(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[44]);
        if (turn) class_1_stage_19_nexthop(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[64]);
        if (turn) class_2_stage_19_nexthop(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[84]);
        if (turn) class_3_stage_19_nexthop(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[104]);
        if (turn) class_4_stage_19_nexthop(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[124]);
        if (turn) class_5_stage_19_nexthop(run, turn);
        left &= ~turn;
        turn = sp_turn(left, run->todo[144]);
        if (turn) class_6_stage_19_nexthop(run, turn);
        left &= ~turn;
    }
    if (run->todo[24]) stage_24_end_of_ingress(run, run->todo[24]);
}

#define SP_SUB_BURST 64
/* ... process.h ... */

