/* upf.p4: generated; changes are lost. */

/* ... prelude.h ... */


enum { V_underlay_ethernet = 0, V_underlay_ipv4 = 1, V_underlay_udp = 2, V_vxlan = 3, V_ethernet = 4, V_tunnel_ipv4 = 5, V_tunnel_udp = 6, V_tunnel_gtpu = 7, V_tunnel_optional = 8, V_tunnel_psc = 9, V_ipv4 = 10, V_ipv4_options = 11, V_ipv6 = 12, V_ports = 13, V_udp_rest = 14, V_gtpu = 15, V_gtpu_optional = 16, V_gtpu_psc = 17, V_gtpu_numbers = 18, V_gtpu_container = 19, V_gtpu_extension_1 = 20, V_gtpu_extension_2 = 21, V_gtpu_extension_3 = 22, V_gtpu_extension_4 = 23, V_gtpu_end = 24, V_inner_ipv4 = 25, V_inner_ipv4_options = 26, V_inner_ipv6 = 27, V_extension_1 = 28, V_extension_2 = 29, V_extension_3 = 30, V_extension_4 = 31, V_inner_ports = 32 };
enum { ACTION_route = 0, ACTION_loopback = 1, ACTION_group = 2, ACTION_UpfIngress_station_drop = 3, ACTION_set_pdr = 4, ACTION_classify = 5, ACTION_p4_miss = 6, ACTION_gtpu_endpoint = 7, ACTION_host = 8, ACTION_not_local = 9, ACTION_set_filter = 10, ACTION_no_filter = 11, ACTION_no_pdr = 12, ACTION_permit = 13, ACTION_deny = 14, ACTION_best_effort = 15, ACTION_set_class = 16, ACTION_set_nexthop = 17, ACTION_UpfIngress_route_drop = 18, ACTION_send = 19, ACTION_send_vxlan = 20, ACTION_unresolved = 21 };

/* Of tables that grow: home cells less one. */
SP_MEMORY(sp_homes, uint32_t, 16)

/* Table UpfIngress.station.station. */
struct sp_cell_station {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[2];
    union {
        uint64_t all[4];
        struct {
            uint16_t p0_vrf;
        } route;
        struct {
            uint16_t p0_vrf;
        } loopback;
        struct {
            uint16_t p0_vrf;
        } group;
        struct {
            uint8_t p0_reason;
        } UpfIngress_station_drop;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_station) == 64, "as the loader has it");
/* Its cells. */
#ifndef sp_t0_large
SP_SIZED(sp_t0, struct sp_cell_station)
#else
SP_ARRAY(sp_t0, struct sp_cell_station, 1)
#endif
SP_MEMORY(sp_d0, struct sp_cell_station, 2)

/* Table UpfIngress.station.vxlan_termination. */
struct sp_cell_vxlan_termination {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[1];
        struct {
            uint16_t p0_vrf;
        } route;
        struct {
            uint8_t p0_reason;
        } UpfIngress_station_drop;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_vxlan_termination) == 32, "as the loader has it");
/* Its cells. */
#ifndef sp_t1_large
SP_SIZED(sp_t1, struct sp_cell_vxlan_termination)
#else
SP_ARRAY(sp_t1, struct sp_cell_vxlan_termination, 1)
#endif
SP_MEMORY(sp_d1, struct sp_cell_vxlan_termination, 2)

/* Table UpfIngress.session.pdr_by_teid. */
struct sp_cell_pdr_by_teid {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[13];
        struct {
            uint64_t p8_ue_prefix;
            uint32_t p0_pdr;
            uint32_t p3_usage;
            uint32_t p4_meter_1;
            uint32_t p5_meter_2;
            uint32_t p6_meter_3;
            uint32_t p7_ue_ipv4;
            uint32_t p10_tunnel_teid;
            uint32_t p11_tunnel_dst;
            uint32_t p12_tunnel_src;
            uint16_t p15_out_vrf;
            uint8_t p1_disposition;
            uint8_t p2_flags;
            uint8_t p9_encapsulation;
            uint8_t p13_psc_qos;
            uint8_t p14_tunnel_tos;
        } set_pdr;
        struct {
            uint32_t p0_group;
            uint16_t p1_filter_set;
        } classify;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_pdr_by_teid) == 128, "as the loader has it");
/* Its cells. */
SP_SEGMENTED(sp_t2, struct sp_cell_pdr_by_teid)
SP_MEMORY(sp_d2, struct sp_cell_pdr_by_teid, 2)

/* Table UpfIngress.session.pdr_by_ue_ipv4. */
struct sp_cell_pdr_by_ue_ipv4 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[13];
        struct {
            uint64_t p8_ue_prefix;
            uint32_t p0_pdr;
            uint32_t p3_usage;
            uint32_t p4_meter_1;
            uint32_t p5_meter_2;
            uint32_t p6_meter_3;
            uint32_t p7_ue_ipv4;
            uint32_t p10_tunnel_teid;
            uint32_t p11_tunnel_dst;
            uint32_t p12_tunnel_src;
            uint16_t p15_out_vrf;
            uint8_t p1_disposition;
            uint8_t p2_flags;
            uint8_t p9_encapsulation;
            uint8_t p13_psc_qos;
            uint8_t p14_tunnel_tos;
        } set_pdr;
        struct {
            uint32_t p0_group;
            uint16_t p1_filter_set;
        } classify;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_pdr_by_ue_ipv4) == 128, "as the loader has it");
/* Its cells. */
SP_SEGMENTED(sp_t3, struct sp_cell_pdr_by_ue_ipv4)
SP_MEMORY(sp_d3, struct sp_cell_pdr_by_ue_ipv4, 2)

/* Table UpfIngress.session.pdr_by_ue_ipv6. */
struct sp_cell_pdr_by_ue_ipv6 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[2];
    union {
        uint64_t all[12];
        struct {
            uint64_t p8_ue_prefix;
            uint32_t p0_pdr;
            uint32_t p3_usage;
            uint32_t p4_meter_1;
            uint32_t p5_meter_2;
            uint32_t p6_meter_3;
            uint32_t p7_ue_ipv4;
            uint32_t p10_tunnel_teid;
            uint32_t p11_tunnel_dst;
            uint32_t p12_tunnel_src;
            uint16_t p15_out_vrf;
            uint8_t p1_disposition;
            uint8_t p2_flags;
            uint8_t p9_encapsulation;
            uint8_t p13_psc_qos;
            uint8_t p14_tunnel_tos;
        } set_pdr;
        struct {
            uint32_t p0_group;
            uint16_t p1_filter_set;
        } classify;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_pdr_by_ue_ipv6) == 128, "as the loader has it");
/* Its cells. */
SP_SEGMENTED(sp_t4, struct sp_cell_pdr_by_ue_ipv6)
SP_MEMORY(sp_d4, struct sp_cell_pdr_by_ue_ipv6, 2)

/* Table UpfIngress.session.local_ipv4. */
struct sp_cell_local_ipv4 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[1];
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_local_ipv4) == 32, "as the loader has it");
/* Its cells. */
#ifndef sp_t5_large
SP_SIZED(sp_t5, struct sp_cell_local_ipv4)
#else
SP_ARRAY(sp_t5, struct sp_cell_local_ipv4, 1)
#endif
SP_MEMORY(sp_d5, struct sp_cell_local_ipv4, 2)

/* Table UpfIngress.session.local_ipv6. */
struct sp_cell_local_ipv6 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[3];
    uint64_t rank;
    union {
        uint64_t all[2];
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_local_ipv6) == 64, "as the loader has it");
/* Its cells. */
#ifndef sp_t6_large
SP_SIZED(sp_t6, struct sp_cell_local_ipv6)
#else
SP_ARRAY(sp_t6, struct sp_cell_local_ipv6, 1)
#endif
SP_MEMORY(sp_d6, struct sp_cell_local_ipv6, 2)
struct sp_mask_local_ipv6 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[3];
};
struct sp_masks_local_ipv6 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_local_ipv6 tuples[64];
};
SP_MEMORY(sp_m6, struct sp_masks_local_ipv6, 2)

/* Table UpfIngress.session.sdf_ipv4. */
struct sp_cell_sdf_ipv4 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[3];
    uint64_t rank;
    uint16_t low_4;
    uint16_t high_4;
    uint16_t low_5;
    uint16_t high_5;
    union {
        uint64_t all[1];
        struct {
            uint8_t p0_class;
        } set_filter;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_sdf_ipv4) == 64, "as the loader has it");
/* Its cells. */
SP_SEGMENTED(sp_t7, struct sp_cell_sdf_ipv4)
SP_MEMORY(sp_d7, struct sp_cell_sdf_ipv4, 2)
struct sp_mask_sdf_ipv4 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[3];
};
struct sp_masks_sdf_ipv4 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_sdf_ipv4 tuples[64];
};
SP_MEMORY(sp_m7, struct sp_masks_sdf_ipv4, 2)

/* Table UpfIngress.session.sdf_ipv6. */
struct sp_cell_sdf_ipv6 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[6];
    uint64_t rank;
    uint16_t low_4;
    uint16_t high_4;
    uint16_t low_5;
    uint16_t high_5;
    union {
        uint64_t all[6];
        struct {
            uint8_t p0_class;
        } set_filter;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_sdf_ipv6) == 128, "as the loader has it");
/* Its cells. */
SP_SEGMENTED(sp_t8, struct sp_cell_sdf_ipv6)
SP_MEMORY(sp_d8, struct sp_cell_sdf_ipv6, 2)
struct sp_mask_sdf_ipv6 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[6];
};
struct sp_masks_sdf_ipv6 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_sdf_ipv6 tuples[64];
};
SP_MEMORY(sp_m8, struct sp_masks_sdf_ipv6, 2)

/* Table UpfIngress.session.pdr_by_class. */
struct sp_cell_pdr_by_class {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[13];
        struct {
            uint64_t p8_ue_prefix;
            uint32_t p0_pdr;
            uint32_t p3_usage;
            uint32_t p4_meter_1;
            uint32_t p5_meter_2;
            uint32_t p6_meter_3;
            uint32_t p7_ue_ipv4;
            uint32_t p10_tunnel_teid;
            uint32_t p11_tunnel_dst;
            uint32_t p12_tunnel_src;
            uint16_t p15_out_vrf;
            uint8_t p1_disposition;
            uint8_t p2_flags;
            uint8_t p9_encapsulation;
            uint8_t p13_psc_qos;
            uint8_t p14_tunnel_tos;
        } set_pdr;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_pdr_by_class) == 128, "as the loader has it");
/* Its cells. */
SP_SEGMENTED(sp_t9, struct sp_cell_pdr_by_class)
SP_MEMORY(sp_d9, struct sp_cell_pdr_by_class, 2)

/* Table UpfIngress.firewall.firewall_v4. */
struct sp_cell_firewall_v4 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[2];
    uint64_t rank;
    uint16_t low_4;
    uint16_t high_4;
    uint16_t low_5;
    uint16_t high_5;
    union {
        uint64_t all[2];
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_firewall_v4) == 64, "as the loader has it");
/* Its cells. */
#ifndef sp_t10_large
SP_SIZED(sp_t10, struct sp_cell_firewall_v4)
#else
SP_ARRAY(sp_t10, struct sp_cell_firewall_v4, 1)
#endif
SP_MEMORY(sp_d10, struct sp_cell_firewall_v4, 2)
struct sp_mask_firewall_v4 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[2];
};
struct sp_masks_firewall_v4 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_firewall_v4 tuples[64];
};
SP_MEMORY(sp_m10, struct sp_masks_firewall_v4, 2)

/* Table UpfIngress.firewall.firewall_v6. */
struct sp_cell_firewall_v6 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[5];
    uint64_t rank;
    uint16_t low_4;
    uint16_t high_4;
    uint16_t low_5;
    uint16_t high_5;
    union {
        uint64_t all[7];
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_firewall_v6) == 128, "as the loader has it");
/* Its cells. */
#ifndef sp_t11_large
SP_SIZED(sp_t11, struct sp_cell_firewall_v6)
#else
SP_ARRAY(sp_t11, struct sp_cell_firewall_v6, 1)
#endif
SP_MEMORY(sp_d11, struct sp_cell_firewall_v6, 2)
struct sp_mask_firewall_v6 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[5];
};
struct sp_masks_firewall_v6 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_firewall_v6 tuples[64];
};
SP_MEMORY(sp_m11, struct sp_masks_firewall_v6, 2)

/* Table UpfIngress.traffic_class.traffic_class. */
struct sp_cell_traffic_class {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[2];
    uint64_t rank;
    uint16_t low_5;
    uint16_t high_5;
    uint16_t low_6;
    uint16_t high_6;
    union {
        uint64_t all[2];
        struct {
            uint16_t p1_meter_cell;
            uint8_t p0_queue;
        } set_class;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_traffic_class) == 64, "as the loader has it");
/* Its cells. */
#ifndef sp_t12_large
SP_SIZED(sp_t12, struct sp_cell_traffic_class)
#else
SP_ARRAY(sp_t12, struct sp_cell_traffic_class, 1)
#endif
SP_MEMORY(sp_d12, struct sp_cell_traffic_class, 2)
struct sp_mask_traffic_class {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[2];
};
struct sp_masks_traffic_class {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_traffic_class tuples[64];
};
SP_MEMORY(sp_m12, struct sp_masks_traffic_class, 2)

/* Table UpfIngress.route.route_ipv4. */
struct sp_cell_route_ipv4 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[1];
    uint64_t rank;
    union {
        uint64_t all[4];
        struct {
            uint16_t p0_nexthop;
        } set_nexthop;
        struct {
            uint8_t p0_reason;
        } UpfIngress_route_drop;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_route_ipv4) == 64, "as the loader has it");
/* Its cells. */
#ifndef sp_t13_large
SP_SIZED(sp_t13, struct sp_cell_route_ipv4)
#else
SP_ARRAY(sp_t13, struct sp_cell_route_ipv4, 1)
#endif
SP_MEMORY(sp_d13, struct sp_cell_route_ipv4, 2)
struct sp_mask_route_ipv4 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[1];
};
struct sp_masks_route_ipv4 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_route_ipv4 tuples[64];
};
SP_MEMORY(sp_m13, struct sp_masks_route_ipv4, 2)

/* Table UpfIngress.route.route_ipv6. */
struct sp_cell_route_ipv6 {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t tuple;
    uint64_t key[3];
    uint64_t rank;
    union {
        uint64_t all[2];
        struct {
            uint16_t p0_nexthop;
        } set_nexthop;
        struct {
            uint8_t p0_reason;
        } UpfIngress_route_drop;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_route_ipv6) == 64, "as the loader has it");
/* Its cells. */
#ifndef sp_t14_large
SP_SIZED(sp_t14, struct sp_cell_route_ipv6)
#else
SP_ARRAY(sp_t14, struct sp_cell_route_ipv6, 1)
#endif
SP_MEMORY(sp_d14, struct sp_cell_route_ipv6, 2)
struct sp_mask_route_ipv6 {
    uint64_t most;
    uint64_t tuple;
    uint64_t mask[3];
};
struct sp_masks_route_ipv6 {
    uint32_t from;
    uint32_t to;
    uint64_t count;
    struct sp_mask_route_ipv6 tuples[64];
};
SP_MEMORY(sp_m14, struct sp_masks_route_ipv6, 2)

/* Table UpfIngress.route.nexthop. */
struct sp_cell_nexthop {
    uint32_t from;
    uint32_t to;
    uint32_t next;
    uint16_t action;
    uint16_t pending;
    uint64_t key[1];
    union {
        uint64_t all[13];
        struct {
            uint64_t p1_src_mac;
            uint64_t p2_dst_mac;
            uint16_t p0_port;
            uint16_t p3_mtu;
        } send;
        struct {
            uint64_t p1_src_mac;
            uint64_t p2_dst_mac;
            uint64_t p6_underlay_src_mac;
            uint64_t p7_underlay_dst_mac;
            uint32_t p3_vni;
            uint32_t p4_vtep_src;
            uint32_t p5_vtep_dst;
            uint16_t p0_port;
            uint16_t p8_mtu;
        } send_vxlan;
        struct {
            uint32_t p0_nexthop;
        } unresolved;
        struct {
            uint8_t p0_reason;
        } UpfIngress_route_drop;
    } args __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct sp_cell_nexthop) == 128, "as the loader has it");
/* Its cells. */
#ifndef sp_t15_large
SP_SIZED(sp_t15, struct sp_cell_nexthop)
#else
SP_ARRAY(sp_t15, struct sp_cell_nexthop, 1)
#endif
SP_MEMORY(sp_d15, struct sp_cell_nexthop, 2)

/* counter usage */
SP_SEGMENTED(sp_n0, struct sp_row)
/* meter mbr */
SP_SEGMENTED(sp_p0, struct sp_meter)
/* its rates */
#ifndef sp_q0_large
SP_SIZED(sp_q0, struct sp_profile)
#else
SP_ARRAY(sp_q0, struct sp_profile, 1)
#endif
/* meter class_rate */
#ifndef sp_p1_large
SP_SIZED(sp_p1, struct sp_meter)
#else
SP_ARRAY(sp_p1, struct sp_meter, 1)
#endif
/* its rates */
#ifndef sp_q1_large
SP_SIZED(sp_q1, struct sp_profile)
#else
SP_ARRAY(sp_q1, struct sp_profile, 1)
#endif

typedef unsigned __int128 sp_kept128 __attribute__((aligned(8)));

struct sp_vars {
    /* Zero when a packet comes. */
    sp_kept128 meta_src_v6;
    sp_kept128 meta_dst_v6;
    uint64_t meta_ue_prefix;
    uint32_t meta_src_v4;
    uint32_t meta_dst_v4;
    uint32_t meta_pdu_length;
    uint32_t meta_header_length;
    uint32_t meta_extension_bytes;
    uint32_t meta_options;
    uint32_t meta_inner_options;
    uint32_t meta_group;
    uint32_t meta_usage;
    uint32_t meta_meter_1;
    uint32_t meta_meter_2;
    uint32_t meta_meter_3;
    uint32_t meta_ue_ipv4;
    uint32_t meta_tunnel_teid;
    uint32_t meta_tunnel_dst;
    uint32_t meta_tunnel_src;
    uint32_t meta_mark;
    uint32_t standard_metadata_packet_length;
    uint16_t meta_src_port;
    uint16_t meta_dst_port;
    uint16_t meta_relayed_bytes;
    uint16_t meta_container_bytes;
    uint16_t meta_filter_set;
    uint16_t meta_out_vrf;
    uint16_t meta_class_meter;
    uint16_t standard_metadata_ingress_port;
    uint16_t standard_metadata_egress_spec;
    uint16_t standard_metadata_egress_port;
    uint16_t standard_metadata_mcast_grp;
    uint16_t standard_metadata_parser_error;
    uint8_t meta_user_is_inner;
    uint8_t meta_ip_version;
    uint8_t meta_protocol;
    uint8_t meta_tos;
    uint8_t meta_next_header;
    uint8_t meta_source_routed;
    uint8_t meta_unknown_extension;
    uint8_t meta_endpoint_extension;
    uint8_t meta_qfi;
    uint8_t meta_new_container;
    uint8_t meta_loopback;
    uint8_t meta_uplink;
    uint8_t meta_classified;
    uint8_t meta_disposition;
    uint8_t meta_flags;
    uint8_t meta_encapsulation;
    uint8_t meta_psc_qos;
    uint8_t meta_tunnel_tos;
    uint8_t meta_reason;
    uint8_t standard_metadata_checksum_error;
    uint8_t standard_metadata_priority;
    /* Written before they are read. */
    uint64_t written[0];
    sp_kept128 UpfIngress_session_remote_v6;
    sp_kept128 UpfIngress_session_local_v6;
    uint64_t UpfParser_tmp_3;
    uint64_t UpfParser_head;
    uint32_t meta_out_length;
    uint32_t UpfParser_tmp;
    uint32_t UpfParser_tmp_2;
    uint32_t UpfParser_optional;
    uint32_t UpfParser_tmp_14;
    uint32_t UpfParser_tmp_15;
    uint32_t UpfParser_tmp_17;
    uint32_t UpfParser_tmp_19;
    uint32_t UpfParser_tmp_21;
    uint32_t UpfIngress_user_packet_end;
    uint32_t UpfIngress_user_packet_tunnel;
    uint32_t UpfIngress_user_packet_udp;
    uint32_t UpfIngress_user_packet_gtpu_end;
    uint32_t UpfIngress_user_packet_udp_end;
    uint32_t UpfIngress_user_packet_tunnel_end;
    uint32_t UpfIngress_station_tmp;
    uint32_t UpfIngress_session_remote_v4;
    uint32_t UpfIngress_session_local_v4;
    uint32_t UpfIngress_session_flow_label;
    uint32_t UpfIngress_session_tmp;
    uint32_t UpfIngress_session_tmp_3;
    uint32_t UpfIngress_session_tmp_5;
    uint32_t UpfIngress_tunnel_decrement_ipv4_sum;
    uint32_t UpfIngress_tunnel_decrement_ipv4_sum_2;
    uint16_t meta_user_offset;
    uint16_t meta_vrf;
    uint16_t meta_nexthop;
    uint16_t meta_mtu;
    uint16_t UpfParser_tmp_5;
    uint16_t UpfParser_head_2;
    uint16_t UpfParser_bytes;
    uint16_t UpfParser_tmp_7;
    uint16_t UpfParser_head_3;
    uint16_t UpfParser_bytes_2;
    uint16_t UpfParser_tmp_9;
    uint16_t UpfParser_head_4;
    uint16_t UpfParser_bytes_3;
    uint16_t UpfParser_tmp_11;
    uint16_t UpfParser_head_5;
    uint16_t UpfParser_bytes_4;
    uint16_t UpfParser_tmp_16;
    uint16_t UpfParser_tmp_18;
    uint16_t UpfParser_tmp_20;
    uint16_t UpfParser_tmp_22;
    uint16_t UpfIngress_session_remote_port;
    uint16_t UpfIngress_session_local_port;
    uint16_t UpfIngress_route_send_vxlan_frame;
    uint16_t UpfIngress_route_tell_fits;
    uint16_t UpfIngress_tunnel_decrement_ipv4_checksum;
    uint16_t UpfIngress_tunnel_decrement_ipv4_checksum_2;
    uint16_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
    uint8_t meta_class;
    uint8_t UpfParser_tmp_4;
    uint8_t UpfParser_tmp_6;
    uint8_t UpfParser_tmp_8;
    uint8_t UpfParser_tmp_10;
    uint8_t UpfParser_tmp_12;
    uint8_t UpfParser_tmp_13;
    uint8_t UpfIngress_user_packet_reason;
    uint8_t UpfIngress_user_packet_options_ihl;
    uint8_t UpfIngress_user_packet_options_reason;
    uint8_t UpfIngress_user_packet_options_option;
    uint8_t UpfIngress_user_packet_options_seen;
    uint8_t UpfIngress_user_packet_options_all;
    uint8_t UpfIngress_user_packet_options_option_2;
    uint8_t UpfIngress_user_packet_options_seen_2;
    uint8_t UpfIngress_user_packet_options_all_2;
    uint8_t UpfIngress_session_src;
    uint8_t UpfIngress_session_tmp_2;
    uint8_t UpfIngress_session_tmp_4;
    uint8_t UpfIngress_session_src_2;
    uint8_t UpfIngress_session_tmp_6;
    uint8_t UpfIngress_enforce_src;
    uint8_t UpfIngress_enforce_dst;
    uint8_t UpfIngress_route_ttl;
    uint8_t UpfIngress_police_colour;
    uint8_t UpfIngress_tunnel_decrement_ipv4_ttl;
    uint8_t UpfIngress_tunnel_decrement_ipv4_ttl_2;
    uint8_t UpfIngress_tunnel_relay_pdu_type;
    uint8_t UpfIngress_tunnel_relay_qfi;
    uint8_t UpfIngress_tunnel_relay_kept;
    uint8_t UpfIngress_tunnel_relay_empty;
    uint8_t UpfIngress_tunnel_add_session_container_pdu_type;
    uint16_t emit[33];
    uint8_t last;
} __attribute__((aligned(8)));

struct sp_scan {
    uint64_t next;
    uint64_t tuple;
    uint64_t found;
    uint64_t best;
    uint32_t at;
    uint32_t walking;
};

struct sp_context {
    uint64_t ends[8];
    uint64_t hits[16];
    uint64_t misses[16];
    uint64_t lost;
    uint64_t begun;
    uint64_t rests;
    uint64_t now_ns;
    SP_FORGOTTEN uint64_t valid;
    uint32_t timed;
    uint32_t attached;
    uint32_t flow;
    uint32_t follows;
    uint32_t home;
    uint32_t generation;
    uint32_t empty;
    uint32_t subset;
    uint32_t slow_path;
    uint32_t port;
    uint32_t out_port;
    uint32_t reason;
    uint32_t length;
    uint32_t cpu;
    uint32_t cursor;
    uint32_t keep;
    struct sp_scan scan;
    uint64_t key[6];
    uint64_t masked[6];
    SP_FORGOTTEN struct sp_vars v;
    struct sp_pending count[1];
    struct sp_meter_undo undo_meter[4];
    uint8_t h_underlay_ethernet[24] __attribute__((aligned(8)));
    uint8_t h_underlay_ipv4[32] __attribute__((aligned(8)));
    uint8_t h_underlay_udp[16] __attribute__((aligned(8)));
    uint8_t h_vxlan[16] __attribute__((aligned(8)));
    uint8_t h_ethernet[24] __attribute__((aligned(8)));
    uint8_t h_tunnel_ipv4[32] __attribute__((aligned(8)));
    uint8_t h_tunnel_udp[16] __attribute__((aligned(8)));
    uint8_t h_tunnel_gtpu[16] __attribute__((aligned(8)));
    uint8_t h_tunnel_optional[16] __attribute__((aligned(8)));
    uint8_t h_tunnel_psc[16] __attribute__((aligned(8)));
    uint8_t h_ipv4[32] __attribute__((aligned(8)));
    uint8_t h_ipv4_options[48] __attribute__((aligned(8)));
    uint32_t len_ipv4_options;
    uint8_t h_ipv6[48] __attribute__((aligned(8)));
    uint8_t h_ports[16] __attribute__((aligned(8)));
    uint8_t h_udp_rest[16] __attribute__((aligned(8)));
    uint8_t h_gtpu[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_optional[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_psc[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_numbers[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_container[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_extension_1[72] __attribute__((aligned(8)));
    uint32_t len_gtpu_extension_1;
    uint8_t h_gtpu_extension_2[72] __attribute__((aligned(8)));
    uint32_t len_gtpu_extension_2;
    uint8_t h_gtpu_extension_3[72] __attribute__((aligned(8)));
    uint32_t len_gtpu_extension_3;
    uint8_t h_gtpu_extension_4[72] __attribute__((aligned(8)));
    uint32_t len_gtpu_extension_4;
    uint8_t h_gtpu_end[16] __attribute__((aligned(8)));
    uint8_t h_inner_ipv4[32] __attribute__((aligned(8)));
    uint8_t h_inner_ipv4_options[48] __attribute__((aligned(8)));
    uint32_t len_inner_ipv4_options;
    uint8_t h_inner_ipv6[48] __attribute__((aligned(8)));
    uint8_t h_extension_1[72] __attribute__((aligned(8)));
    uint32_t len_extension_1;
    uint8_t h_extension_2[72] __attribute__((aligned(8)));
    uint32_t len_extension_2;
    uint8_t h_extension_3[72] __attribute__((aligned(8)));
    uint32_t len_extension_3;
    uint8_t h_extension_4[72] __attribute__((aligned(8)));
    uint32_t len_extension_4;
    uint8_t h_inner_ports[16] __attribute__((aligned(8)));
} __attribute__((aligned(64)));
SP_SIZED(sp_contexts, struct sp_context)

/* ... runtime.h ... */


SP_INLINE struct sp_cell_station *sp_default_station(struct sp_context *c)
{
    struct sp_cell_station *e = sp_d0_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d0_at(1);
}

SP_INLINE struct sp_cell_station *sp_find_station(struct sp_context *c, uint64_t k0, uint64_t k1)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    hash = SP_HASH(hash, k1);
    uint32_t at = (uint32_t)hash & SP_HOMES(0);
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_station *e = sp_t0_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && e->key[1] == k1 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_vxlan_termination *sp_default_vxlan_termination(struct sp_context *c)
{
    struct sp_cell_vxlan_termination *e = sp_d1_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d1_at(1);
}

SP_INLINE struct sp_cell_vxlan_termination *sp_find_vxlan_termination(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & SP_HOMES(1);
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_vxlan_termination *e = sp_t1_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_pdr_by_teid *sp_default_pdr_by_teid(struct sp_context *c)
{
    struct sp_cell_pdr_by_teid *e = sp_d2_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d2_at(1);
}

SP_INLINE struct sp_cell_pdr_by_teid *sp_find_pdr_by_teid(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(2);
    c->home = (uint32_t)hash;
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_pdr_by_teid *e = sp_t2_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_pdr_by_ue_ipv4 *sp_default_pdr_by_ue_ipv4(struct sp_context *c)
{
    struct sp_cell_pdr_by_ue_ipv4 *e = sp_d3_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d3_at(1);
}

SP_INLINE struct sp_cell_pdr_by_ue_ipv4 *sp_find_pdr_by_ue_ipv4(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(3);
    c->home = (uint32_t)hash;
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_pdr_by_ue_ipv4 *e = sp_t3_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_pdr_by_ue_ipv6 *sp_default_pdr_by_ue_ipv6(struct sp_context *c)
{
    struct sp_cell_pdr_by_ue_ipv6 *e = sp_d4_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d4_at(1);
}

SP_INLINE struct sp_cell_pdr_by_ue_ipv6 *sp_find_pdr_by_ue_ipv6(struct sp_context *c, uint64_t k0, uint64_t k1)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    hash = SP_HASH(hash, k1);
    uint32_t at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(4);
    c->home = (uint32_t)hash;
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_pdr_by_ue_ipv6 *e = sp_t4_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && e->key[1] == k1 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_local_ipv4 *sp_default_local_ipv4(struct sp_context *c)
{
    struct sp_cell_local_ipv4 *e = sp_d5_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d5_at(1);
}

SP_INLINE struct sp_cell_local_ipv4 *sp_find_local_ipv4(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & SP_HOMES(5);
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_local_ipv4 *e = sp_t5_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_local_ipv6 *sp_default_local_ipv6(struct sp_context *c)
{
    struct sp_cell_local_ipv6 *e = sp_d6_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d6_at(1);
}

struct sp_walk_local_ipv6 {
    struct sp_context *c;
    struct sp_masks_local_ipv6 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_local_ipv6(uint64_t step, struct sp_walk_local_ipv6 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_local_ipv6 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        word = c->key[2] & t->mask[2];
        c->masked[2] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & SP_HOMES(6);
    }
    uint32_t at = s->at;
    struct sp_cell_local_ipv6 *e = sp_t6_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1] && e->key[2] == c->masked[2]
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_local_ipv6 *sp_masks_local_ipv6(struct sp_context *c)
{
    struct sp_masks_local_ipv6 *masks = sp_m6_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m6_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_local_ipv6(struct sp_context *c, struct sp_masks_local_ipv6 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
    uint64_t found = 0, best = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return (uint32_t)found;
        struct sp_mask_local_ipv6 *t = &masks->tuples[i];
        if (found && best >= t->most) return (uint32_t)found;
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        const uint64_t w2 = c->key[2] & t->mask[2];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        hash = SP_HASH(hash, w2);
        uint32_t at = (uint32_t)hash & SP_HOMES(6);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_local_ipv6 *e = sp_t6_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1 && e->key[2] == w2 && (!found || e->rank > best)) {
                best = e->rank;
                found = at + 1ull;
            }
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4 || (found && best >= masks->tuples[4].most)) return (uint32_t)found;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_local_ipv6 walk = {c, masks};
    bpf_loop(1024, sp_step_local_ipv6, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_local_ipv6 *sp_find_local_ipv6(struct sp_context *c, struct sp_masks_local_ipv6 *masks)
{
    uint32_t found = sp_search_local_ipv6(c, masks);
    if (!found) return 0;
    return sp_t6_at(found - 1);
}

SP_INLINE struct sp_cell_sdf_ipv4 *sp_default_sdf_ipv4(struct sp_context *c)
{
    struct sp_cell_sdf_ipv4 *e = sp_d7_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d7_at(1);
}

struct sp_walk_sdf_ipv4 {
    struct sp_context *c;
    struct sp_masks_sdf_ipv4 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_sdf_ipv4(uint64_t step, struct sp_walk_sdf_ipv4 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_sdf_ipv4 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        word = c->key[2] & t->mask[2];
        c->masked[2] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(7);
    }
    uint32_t at = s->at;
    struct sp_cell_sdf_ipv4 *e = sp_t7_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1] && e->key[2] == c->masked[2]
        && (uint16_t)(c->key[1] >> 16) >= e->low_4 && (uint16_t)(c->key[1] >> 16) <= e->high_4
        && (uint16_t)(c->key[1] >> 32) >= e->low_5 && (uint16_t)(c->key[1] >> 32) <= e->high_5
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_sdf_ipv4 *sp_masks_sdf_ipv4(struct sp_context *c)
{
    struct sp_masks_sdf_ipv4 *masks = sp_m7_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m7_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_sdf_ipv4(struct sp_context *c, struct sp_masks_sdf_ipv4 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
    uint64_t found = 0, best = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return (uint32_t)found;
        struct sp_mask_sdf_ipv4 *t = &masks->tuples[i];
        if (found && best >= t->most) return (uint32_t)found;
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        const uint64_t w2 = c->key[2] & t->mask[2];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        hash = SP_HASH(hash, w2);
        uint32_t at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(7);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_sdf_ipv4 *e = sp_t7_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1 && e->key[2] == w2
        && (uint16_t)(c->key[1] >> 16) >= e->low_4 && (uint16_t)(c->key[1] >> 16) <= e->high_4
        && (uint16_t)(c->key[1] >> 32) >= e->low_5 && (uint16_t)(c->key[1] >> 32) <= e->high_5 && (!found || e->rank > best)) {
                best = e->rank;
                found = at + 1ull;
            }
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4 || (found && best >= masks->tuples[4].most)) return (uint32_t)found;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_sdf_ipv4 walk = {c, masks};
    bpf_loop(1024, sp_step_sdf_ipv4, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_sdf_ipv4 *sp_find_sdf_ipv4(struct sp_context *c, struct sp_masks_sdf_ipv4 *masks)
{
    uint32_t found = sp_search_sdf_ipv4(c, masks);
    if (!found) return 0;
    return sp_t7_at(found - 1);
}

SP_INLINE struct sp_cell_sdf_ipv6 *sp_default_sdf_ipv6(struct sp_context *c)
{
    struct sp_cell_sdf_ipv6 *e = sp_d8_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d8_at(1);
}

struct sp_walk_sdf_ipv6 {
    struct sp_context *c;
    struct sp_masks_sdf_ipv6 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_sdf_ipv6(uint64_t step, struct sp_walk_sdf_ipv6 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_sdf_ipv6 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        word = c->key[2] & t->mask[2];
        c->masked[2] = word;
        hash = SP_HASH(hash, word);
        word = c->key[3] & t->mask[3];
        c->masked[3] = word;
        hash = SP_HASH(hash, word);
        word = c->key[4] & t->mask[4];
        c->masked[4] = word;
        hash = SP_HASH(hash, word);
        word = c->key[5] & t->mask[5];
        c->masked[5] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(8);
    }
    uint32_t at = s->at;
    struct sp_cell_sdf_ipv6 *e = sp_t8_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1] && e->key[2] == c->masked[2] && e->key[3] == c->masked[3] && e->key[4] == c->masked[4] && e->key[5] == c->masked[5]
        && (uint16_t)(c->key[4] >> 48) >= e->low_4 && (uint16_t)(c->key[4] >> 48) <= e->high_4
        && (uint16_t)(c->key[5] >> 0) >= e->low_5 && (uint16_t)(c->key[5] >> 0) <= e->high_5
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_sdf_ipv6 *sp_masks_sdf_ipv6(struct sp_context *c)
{
    struct sp_masks_sdf_ipv6 *masks = sp_m8_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m8_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_sdf_ipv6(struct sp_context *c, struct sp_masks_sdf_ipv6 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
    uint64_t found = 0, best = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return (uint32_t)found;
        struct sp_mask_sdf_ipv6 *t = &masks->tuples[i];
        if (found && best >= t->most) return (uint32_t)found;
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        const uint64_t w2 = c->key[2] & t->mask[2];
        const uint64_t w3 = c->key[3] & t->mask[3];
        const uint64_t w4 = c->key[4] & t->mask[4];
        const uint64_t w5 = c->key[5] & t->mask[5];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        hash = SP_HASH(hash, w2);
        hash = SP_HASH(hash, w3);
        hash = SP_HASH(hash, w4);
        hash = SP_HASH(hash, w5);
        uint32_t at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(8);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_sdf_ipv6 *e = sp_t8_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1 && e->key[2] == w2 && e->key[3] == w3 && e->key[4] == w4 && e->key[5] == w5
        && (uint16_t)(c->key[4] >> 48) >= e->low_4 && (uint16_t)(c->key[4] >> 48) <= e->high_4
        && (uint16_t)(c->key[5] >> 0) >= e->low_5 && (uint16_t)(c->key[5] >> 0) <= e->high_5 && (!found || e->rank > best)) {
                best = e->rank;
                found = at + 1ull;
            }
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4 || (found && best >= masks->tuples[4].most)) return (uint32_t)found;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_sdf_ipv6 walk = {c, masks};
    bpf_loop(1024, sp_step_sdf_ipv6, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_sdf_ipv6 *sp_find_sdf_ipv6(struct sp_context *c, struct sp_masks_sdf_ipv6 *masks)
{
    uint32_t found = sp_search_sdf_ipv6(c, masks);
    if (!found) return 0;
    return sp_t8_at(found - 1);
}

SP_INLINE struct sp_cell_pdr_by_class *sp_default_pdr_by_class(struct sp_context *c)
{
    struct sp_cell_pdr_by_class *e = sp_d9_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d9_at(1);
}

SP_INLINE struct sp_cell_pdr_by_class *sp_find_pdr_by_class(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & *(volatile uint32_t *)sp_homes_at(9);
    c->home = (uint32_t)hash;
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_pdr_by_class *e = sp_t9_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE struct sp_cell_firewall_v4 *sp_default_firewall_v4(struct sp_context *c)
{
    struct sp_cell_firewall_v4 *e = sp_d10_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d10_at(1);
}

struct sp_walk_firewall_v4 {
    struct sp_context *c;
    struct sp_masks_firewall_v4 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_firewall_v4(uint64_t step, struct sp_walk_firewall_v4 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_firewall_v4 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & SP_HOMES(10);
    }
    uint32_t at = s->at;
    struct sp_cell_firewall_v4 *e = sp_t10_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1]
        && (uint16_t)(c->key[1] >> 16) >= e->low_4 && (uint16_t)(c->key[1] >> 16) <= e->high_4
        && (uint16_t)(c->key[1] >> 32) >= e->low_5 && (uint16_t)(c->key[1] >> 32) <= e->high_5
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_firewall_v4 *sp_masks_firewall_v4(struct sp_context *c)
{
    struct sp_masks_firewall_v4 *masks = sp_m10_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m10_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_firewall_v4(struct sp_context *c, struct sp_masks_firewall_v4 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
    uint64_t found = 0, best = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return (uint32_t)found;
        struct sp_mask_firewall_v4 *t = &masks->tuples[i];
        if (found && best >= t->most) return (uint32_t)found;
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        uint32_t at = (uint32_t)hash & SP_HOMES(10);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_firewall_v4 *e = sp_t10_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1
        && (uint16_t)(c->key[1] >> 16) >= e->low_4 && (uint16_t)(c->key[1] >> 16) <= e->high_4
        && (uint16_t)(c->key[1] >> 32) >= e->low_5 && (uint16_t)(c->key[1] >> 32) <= e->high_5 && (!found || e->rank > best)) {
                best = e->rank;
                found = at + 1ull;
            }
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4 || (found && best >= masks->tuples[4].most)) return (uint32_t)found;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_firewall_v4 walk = {c, masks};
    bpf_loop(1024, sp_step_firewall_v4, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_firewall_v4 *sp_find_firewall_v4(struct sp_context *c, struct sp_masks_firewall_v4 *masks)
{
    uint32_t found = sp_search_firewall_v4(c, masks);
    if (!found) return 0;
    return sp_t10_at(found - 1);
}

SP_INLINE struct sp_cell_firewall_v6 *sp_default_firewall_v6(struct sp_context *c)
{
    struct sp_cell_firewall_v6 *e = sp_d11_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d11_at(1);
}

struct sp_walk_firewall_v6 {
    struct sp_context *c;
    struct sp_masks_firewall_v6 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_firewall_v6(uint64_t step, struct sp_walk_firewall_v6 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_firewall_v6 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        word = c->key[2] & t->mask[2];
        c->masked[2] = word;
        hash = SP_HASH(hash, word);
        word = c->key[3] & t->mask[3];
        c->masked[3] = word;
        hash = SP_HASH(hash, word);
        word = c->key[4] & t->mask[4];
        c->masked[4] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & SP_HOMES(11);
    }
    uint32_t at = s->at;
    struct sp_cell_firewall_v6 *e = sp_t11_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1] && e->key[2] == c->masked[2] && e->key[3] == c->masked[3] && e->key[4] == c->masked[4]
        && (uint16_t)(c->key[4] >> 16) >= e->low_4 && (uint16_t)(c->key[4] >> 16) <= e->high_4
        && (uint16_t)(c->key[4] >> 32) >= e->low_5 && (uint16_t)(c->key[4] >> 32) <= e->high_5
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_firewall_v6 *sp_masks_firewall_v6(struct sp_context *c)
{
    struct sp_masks_firewall_v6 *masks = sp_m11_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m11_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_firewall_v6(struct sp_context *c, struct sp_masks_firewall_v6 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
    uint64_t found = 0, best = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return (uint32_t)found;
        struct sp_mask_firewall_v6 *t = &masks->tuples[i];
        if (found && best >= t->most) return (uint32_t)found;
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        const uint64_t w2 = c->key[2] & t->mask[2];
        const uint64_t w3 = c->key[3] & t->mask[3];
        const uint64_t w4 = c->key[4] & t->mask[4];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        hash = SP_HASH(hash, w2);
        hash = SP_HASH(hash, w3);
        hash = SP_HASH(hash, w4);
        uint32_t at = (uint32_t)hash & SP_HOMES(11);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_firewall_v6 *e = sp_t11_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1 && e->key[2] == w2 && e->key[3] == w3 && e->key[4] == w4
        && (uint16_t)(c->key[4] >> 16) >= e->low_4 && (uint16_t)(c->key[4] >> 16) <= e->high_4
        && (uint16_t)(c->key[4] >> 32) >= e->low_5 && (uint16_t)(c->key[4] >> 32) <= e->high_5 && (!found || e->rank > best)) {
                best = e->rank;
                found = at + 1ull;
            }
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4 || (found && best >= masks->tuples[4].most)) return (uint32_t)found;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_firewall_v6 walk = {c, masks};
    bpf_loop(1024, sp_step_firewall_v6, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_firewall_v6 *sp_find_firewall_v6(struct sp_context *c, struct sp_masks_firewall_v6 *masks)
{
    uint32_t found = sp_search_firewall_v6(c, masks);
    if (!found) return 0;
    return sp_t11_at(found - 1);
}

SP_INLINE struct sp_cell_traffic_class *sp_default_traffic_class(struct sp_context *c)
{
    struct sp_cell_traffic_class *e = sp_d12_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d12_at(1);
}

struct sp_walk_traffic_class {
    struct sp_context *c;
    struct sp_masks_traffic_class *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_traffic_class(uint64_t step, struct sp_walk_traffic_class *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_traffic_class *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & SP_HOMES(12);
    }
    uint32_t at = s->at;
    struct sp_cell_traffic_class *e = sp_t12_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1]
        && (uint16_t)(c->key[1] >> 0) >= e->low_5 && (uint16_t)(c->key[1] >> 0) <= e->high_5
        && (uint16_t)(c->key[1] >> 16) >= e->low_6 && (uint16_t)(c->key[1] >> 16) <= e->high_6
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_traffic_class *sp_masks_traffic_class(struct sp_context *c)
{
    struct sp_masks_traffic_class *masks = sp_m12_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m12_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_traffic_class(struct sp_context *c, struct sp_masks_traffic_class *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
    uint64_t found = 0, best = 0;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return (uint32_t)found;
        struct sp_mask_traffic_class *t = &masks->tuples[i];
        if (found && best >= t->most) return (uint32_t)found;
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        uint32_t at = (uint32_t)hash & SP_HOMES(12);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_traffic_class *e = sp_t12_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1
        && (uint16_t)(c->key[1] >> 0) >= e->low_5 && (uint16_t)(c->key[1] >> 0) <= e->high_5
        && (uint16_t)(c->key[1] >> 16) >= e->low_6 && (uint16_t)(c->key[1] >> 16) <= e->high_6 && (!found || e->rank > best)) {
                best = e->rank;
                found = at + 1ull;
            }
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4 || (found && best >= masks->tuples[4].most)) return (uint32_t)found;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_traffic_class walk = {c, masks};
    bpf_loop(1024, sp_step_traffic_class, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_traffic_class *sp_find_traffic_class(struct sp_context *c, struct sp_masks_traffic_class *masks)
{
    uint32_t found = sp_search_traffic_class(c, masks);
    if (!found) return 0;
    return sp_t12_at(found - 1);
}

SP_INLINE struct sp_cell_route_ipv4 *sp_default_route_ipv4(struct sp_context *c)
{
    struct sp_cell_route_ipv4 *e = sp_d13_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d13_at(1);
}

struct sp_walk_route_ipv4 {
    struct sp_context *c;
    struct sp_masks_route_ipv4 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_route_ipv4(uint64_t step, struct sp_walk_route_ipv4 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_route_ipv4 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & SP_HOMES(13);
    }
    uint32_t at = s->at;
    struct sp_cell_route_ipv4 *e = sp_t13_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0]
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_route_ipv4 *sp_masks_route_ipv4(struct sp_context *c)
{
    struct sp_masks_route_ipv4 *masks = sp_m13_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m13_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_route_ipv4(struct sp_context *c, struct sp_masks_route_ipv4 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return 0;
        struct sp_mask_route_ipv4 *t = &masks->tuples[i];
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        hash = SP_HASH(hash, w0);
        uint32_t at = (uint32_t)hash & SP_HOMES(13);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_route_ipv4 *e = sp_t13_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0) return at + 1;
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4) return 0;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_route_ipv4 walk = {c, masks};
    bpf_loop(1024, sp_step_route_ipv4, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_route_ipv4 *sp_find_route_ipv4(struct sp_context *c, struct sp_masks_route_ipv4 *masks)
{
    uint32_t found = sp_search_route_ipv4(c, masks);
    if (!found) return 0;
    return sp_t13_at(found - 1);
}

SP_INLINE struct sp_cell_route_ipv6 *sp_default_route_ipv6(struct sp_context *c)
{
    struct sp_cell_route_ipv6 *e = sp_d14_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d14_at(1);
}

struct sp_walk_route_ipv6 {
    struct sp_context *c;
    struct sp_masks_route_ipv6 *masks;
};

/* One step: the home of the next mask, or the next cell of a chain. */
SP_CALL long sp_step_route_ipv6(uint64_t step, struct sp_walk_route_ipv6 *walk)
{
    struct sp_context *c = walk->c;
    struct sp_scan *s = &c->scan;
    if (!s->walking) {
        uint64_t next = s->next;
        if (next >= walk->masks->count || next >= 64) return 1;
        struct sp_mask_route_ipv6 *t = &walk->masks->tuples[next];
        if (s->found && s->best >= t->most) return 1;
        s->next = next + 1;
        s->tuple = t->tuple;
        uint64_t hash = sp_seed ^ t->tuple, word;
        word = c->key[0] & t->mask[0];
        c->masked[0] = word;
        hash = SP_HASH(hash, word);
        word = c->key[1] & t->mask[1];
        c->masked[1] = word;
        hash = SP_HASH(hash, word);
        word = c->key[2] & t->mask[2];
        c->masked[2] = word;
        hash = SP_HASH(hash, word);
        s->at = (uint32_t)hash & SP_HOMES(14);
    }
    uint32_t at = s->at;
    struct sp_cell_route_ipv6 *e = sp_t14_at(at);
    if (!e) return 1;
    if (e->tuple == s->tuple && SP_LIVE(e, c->generation) && e->key[0] == c->masked[0] && e->key[1] == c->masked[1] && e->key[2] == c->masked[2]
        && (!s->found || e->rank > s->best)) {
        s->best = e->rank;
        s->found = at + 1ull;
    }
    s->at = e->next;
    s->walking = e->next != 0;
    return 0;
}

SP_INLINE struct sp_masks_route_ipv6 *sp_masks_route_ipv6(struct sp_context *c)
{
    struct sp_masks_route_ipv6 *masks = sp_m14_at(0);
    return SP_LIVE(masks, c->generation) ? masks : sp_m14_at(1);
}

/* Gives the cell's number plus one, 0 for none. */
SP_GLOBAL uint32_t sp_search_route_ipv6(struct sp_context *c, struct sp_masks_route_ipv6 *masks)
{
    if (!c || !masks) return 0;
    // Few masks and short chains, as nearly always: no loop of the kernel's is needed, nor a state that outlives a step.
    const uint32_t generation = c->generation;
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (i >= masks->count) return 0;
        struct sp_mask_route_ipv6 *t = &masks->tuples[i];
        uint64_t hash = sp_seed ^ t->tuple;
        const uint64_t w0 = c->key[0] & t->mask[0];
        const uint64_t w1 = c->key[1] & t->mask[1];
        const uint64_t w2 = c->key[2] & t->mask[2];
        hash = SP_HASH(hash, w0);
        hash = SP_HASH(hash, w1);
        hash = SP_HASH(hash, w2);
        uint32_t at = (uint32_t)hash & SP_HOMES(14);
        // What a change has replaced is in the chain for a while.
#pragma unroll
        for (uint32_t n = 0; n < 3; n++) {
            struct sp_cell_route_ipv6 *e = sp_t14_at(at);
            if (!e) return 0;
            if (e->tuple == t->tuple && SP_LIVE(e, generation) && e->key[0] == w0 && e->key[1] == w1 && e->key[2] == w2) return at + 1;
            at = e->next;
            if (!at) break;
            if (n == 3 - 1) goto slow;
        }
    }
    if (masks->count <= 4) return 0;
slow:
    c->scan.next = 0;
    c->scan.walking = 0;
    c->scan.found = 0;
    c->scan.best = 0;
    struct sp_walk_route_ipv6 walk = {c, masks};
    bpf_loop(1024, sp_step_route_ipv6, &walk, 0);
    return (uint32_t)c->scan.found;
}

SP_INLINE struct sp_cell_route_ipv6 *sp_find_route_ipv6(struct sp_context *c, struct sp_masks_route_ipv6 *masks)
{
    uint32_t found = sp_search_route_ipv6(c, masks);
    if (!found) return 0;
    return sp_t14_at(found - 1);
}

SP_INLINE struct sp_cell_nexthop *sp_default_nexthop(struct sp_context *c)
{
    struct sp_cell_nexthop *e = sp_d15_at(0);
    return SP_LIVE(e, c->generation) ? e : sp_d15_at(1);
}

SP_INLINE struct sp_cell_nexthop *sp_find_nexthop(struct sp_context *c, uint64_t k0)
{
    uint64_t hash = sp_seed;
    hash = SP_HASH(hash, k0);
    uint32_t at = (uint32_t)hash & SP_HOMES(15);
    const uint32_t generation = c->generation;
    for (int n = 0; n < 16; n++) {
        struct sp_cell_nexthop *e = sp_t15_at(at);
        if (!e) return 0;
        if (e->key[0] == k0 && SP_LIVE(e, generation)) return e;
        at = e->next;
        if (!at) return 0;
    }
    return 0;
}

SP_INLINE void sp_clear(struct sp_context *c)
{
    sp_zero((uint8_t *)&c->v, __builtin_offsetof(struct sp_vars, written));
    c->count[0].at = 0;
    c->undo_meter[0].at = 0;
    c->undo_meter[1].at = 0;
    c->undo_meter[2].at = 0;
    c->undo_meter[3].at = 0;
}

SP_INLINE void sp_commit(struct sp_context *c)
{
    sp_count(c, sp_n0_at, SP_CELLS(0), &c->count[0]);
    (void)c;
}

SP_INLINE void sp_undo(struct sp_context *c)
{
    sp_undo_meter(sp_p1_at, sp_q1_at, &c->undo_meter[3]);
    sp_undo_meter(sp_p0_at, sp_q0_at, &c->undo_meter[2]);
    sp_undo_meter(sp_p0_at, sp_q0_at, &c->undo_meter[1]);
    sp_undo_meter(sp_p0_at, sp_q0_at, &c->undo_meter[0]);
    (void)c;
}

#define SP_REASON(c) ((uint32_t)c->v.meta_reason)
#define SP_MARK(c) ((uint32_t)c->v.meta_mark)

/* One packet. Gives what becomes of it. */
SP_CALL int sp_packet(struct xdp_md *ctx, struct sp_context *c)
{
    uint8_t *data = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
    uint32_t cursor = 0, rounds = 0, turns = 0, emitted = 0;
    struct sp_control *control = sp_control_at(0);
    const uint64_t seen = *(volatile uint64_t *)&control->generation;
    c->generation = (uint32_t)seen;
    c->empty = (uint32_t)(seen >> 32);
    c->subset = control->subset;
    c->slow_path = *(volatile uint32_t *)&control->slow_path;
    c->length = (uint32_t)SP_LENGTH;
    uint64_t valid = 0;
    c->valid = 0;
    c->flow = 0;
    c->follows = 0;
    sp_clear(c);
    (void)rounds, (void)turns, (void)valid;
    c->keep = 0xffffffffu;
    c->v.standard_metadata_ingress_port = c->port;
    c->v.standard_metadata_packet_length = c->length;
    
    goto state_0_start_at_0;
state_0_start_at_0:;
    c->v.meta_user_offset = 0xeu;
    {
        const uint32_t key1_0 = (((uint32_t)c->v.standard_metadata_ingress_port) & 0x100u);
        if (key1_0 == 0u) {
            goto state_5_parse_ethernet_at_0;
        }
        goto state_1_parse_underlay_at_0;
    }
state_5_parse_ethernet_at_0:;
    {
        uint8_t *p = data + 0;
        SP_OPAQUE(p);
        if (p + 14 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 0;
            goto parsed;
        }
        sp_copy(c->h_ethernet, p, 14);
        SP_VALID |= SP_BIT(V_ethernet);
    }
    {
        const uint32_t key2_0 = sp_ld16(c->h_ethernet + 12);
        if (key2_0 == 0x800u) {
            goto state_6_parse_ipv4_at_14;
        }
        if (key2_0 == 0x86ddu) {
            goto state_9_parse_ipv6_at_14;
        }
        cursor = 14;
        goto parsed;
    }
state_9_parse_ipv6_at_14:;
    {
        uint8_t *p = data + 14;
        SP_OPAQUE(p);
        if (p + 40 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 14;
            goto parsed;
        }
        sp_copy(c->h_ipv6, p, 40);
        SP_VALID |= SP_BIT(V_ipv6);
    }
    if (!((sp_ld8(c->h_ipv6) >> 4) == 6u)) {
        c->v.standard_metadata_parser_error = 8u;
        cursor = 54;
        goto parsed;
    }
    {
        const uint32_t key3_0 = sp_ld8(c->h_ipv6 + 6);
        if (key3_0 == 0x11u) {
            goto state_11_parse_ports_at_54;
        }
        if (key3_0 == 6u) {
            goto state_11_parse_ports_at_54;
        }
        if (key3_0 == 0x84u) {
            goto state_11_parse_ports_at_54;
        }
        if (key3_0 == 0u) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        if (key3_0 == 0x2bu) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        if (key3_0 == 0x2cu) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        if (key3_0 == 0x3cu) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        if (key3_0 == 0x87u) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        if (key3_0 == 0x8bu) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        if (key3_0 == 0x8cu) {
            goto state_10_parse_extensions_of_ipv6_at_54;
        }
        cursor = 54;
        goto parsed;
    }
state_11_parse_ports_at_54:;
    {
        uint8_t *p = data + 54;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 54;
            goto parsed;
        }
        sp_copy(c->h_ports, p, 4);
        SP_VALID |= SP_BIT(V_ports);
    }
    cursor = 58;
    goto parsed;
state_6_parse_ipv4_at_14:;
    {
        uint8_t *p = data + 14;
        SP_OPAQUE(p);
        if (p + 20 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 14;
            goto parsed;
        }
        sp_copy(c->h_ipv4, p, 20);
        SP_VALID |= SP_BIT(V_ipv4);
    }
    if (!(((sp_ld8(c->h_ipv4) >> 4) == 4u) && ((sp_ld8(c->h_ipv4) & 0xf) >= 5u))) {
        c->v.standard_metadata_parser_error = 8u;
        cursor = 34;
        goto parsed;
    }
    {
        const uint32_t key4_0 = (sp_ld8(c->h_ipv4) & 0xf);
        if (key4_0 == 5u) {
            goto state_8_parse_ipv4_payload_at_34;
        }
        goto state_7_parse_ipv4_options_at_34;
    }
state_7_parse_ipv4_options_at_34:;
    {
        uint8_t *p = data + 34;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 34;
            goto parsed;
        }
        c->v.UpfParser_tmp = sp_ld32(p);
    }
    c->v.meta_options = (uint32_t)c->v.UpfParser_tmp;
    {
        cursor = 34;
        const uint64_t bits5 = (uint64_t)((((sp_ld8(c->h_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits5 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits5 / 8 > 0xffff || cursor + 0 + bits5 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits5 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit5 = (uint32_t)(bits5 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_ipv4_options + 0, 40);
        SP_OPAQUE(varbit5);
        if (varbit5 > 0 && varbit5 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_ipv4_options + 0, varbit5)) goto failed;
        }
        c->len_ipv4_options = varbit5;
        cursor += 0 + varbit5;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_ipv4_options);
    }
    goto state_8_parse_ipv4_payload;
state_8_parse_ipv4_payload:;
    {
        const uint32_t key6_0 = (sp_ld16(c->h_ipv4 + 6) & 0x1fff);
        const uint32_t key6_1 = sp_ld8(c->h_ipv4 + 9);
        if (key6_0 == 0u && key6_1 == 0x11u) {
            goto state_12_parse_udp;
        }
        if (key6_0 == 0u && key6_1 == 6u) {
            goto state_11_parse_ports;
        }
        if (key6_0 == 0u && key6_1 == 0x84u) {
            goto state_11_parse_ports;
        }
        goto parsed;
    }
state_11_parse_ports:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_ports, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_ports);
    }
    goto parsed;
state_12_parse_udp:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_ports, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_ports);
    }
    {
        const uint32_t key7_0 = (((uint32_t)c->v.standard_metadata_ingress_port) & 0x80u);
        const uint32_t key7_1 = ((sp_ld8(c->h_ipv4 + 6) >> 5) & 0x1);
        const uint32_t key7_2 = sp_ld16(c->h_ports + 2);
        if (key7_0 == 0u && key7_1 == 0u && key7_2 == 0x868u) {
            goto state_13_parse_gtpu;
        }
        goto parsed;
    }
state_13_parse_gtpu:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_udp_rest, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_udp_rest);
    }
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu, p, 8);
        cursor += 8;
        SP_VALID |= SP_BIT(V_gtpu);
    }
    c->v.meta_user_offset = ((((((uint32_t)c->v.meta_user_offset) + 0x10u) & 0xffff) + (((sp_ld8(c->h_ipv4) & 0xf) << 2) & 0xffff)) & 0xffff);
    {
        const uint32_t key8_0 = (sp_ld8(c->h_gtpu) >> 5);
        const uint32_t key8_1 = ((sp_ld8(c->h_gtpu) >> 4) & 0x1);
        const uint32_t key8_2 = ((sp_ld8(c->h_gtpu) >> 2) & 0x1);
        const uint32_t key8_3 = ((sp_ld8(c->h_gtpu) >> 1) & 0x1);
        const uint32_t key8_4 = (sp_ld8(c->h_gtpu) & 0x1);
        const uint32_t key8_5 = sp_ld8(c->h_gtpu + 1);
        if (key8_0 == 1u && key8_1 == 1u && key8_2 == 0u && key8_3 == 0u && key8_4 == 0u && key8_5 == 0xffu) {
            goto state_42_parse_user;
        }
        if (key8_0 == 1u && key8_1 == 1u && key8_2 == 1u && key8_5 == 0xffu) {
            goto state_15_parse_extensions;
        }
        if (key8_0 == 1u && key8_1 == 1u && key8_2 == 0u && key8_5 == 0xffu) {
            goto state_18_parse_numbers;
        }
        if (key8_0 == 1u && key8_1 == 1u && key8_2 == 0u && key8_3 == 0u && key8_4 == 0u) {
            goto parsed;
        }
        if (key8_0 == 1u && key8_1 == 1u) {
            goto state_14_parse_gtpu_optional;
        }
        goto parsed;
    }
state_15_parse_extensions:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_2 = sp_ld32(p);
    }
    c->v.UpfParser_optional = (uint32_t)c->v.UpfParser_tmp_2;
    {
        const uint32_t key9_0 = ((uint32_t)c->v.UpfParser_optional & 0xff);
        if (key9_0 == 0x85u) {
            goto state_16_parse_container;
        }
        goto state_19_parse_row;
    }
state_16_parse_container:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_3 = sp_ld64(p);
    }
    c->v.UpfParser_head = (uint64_t)c->v.UpfParser_tmp_3;
    {
        const uint32_t key10_0 = ((uint32_t)(((uint64_t)c->v.UpfParser_head) >> 24) & 0xff);
        const uint32_t key10_1 = ((uint32_t)((uint64_t)c->v.UpfParser_head) & 0xff);
        if (key10_0 == 1u && key10_1 == 0u) {
            goto state_17_parse_psc;
        }
        goto state_19_parse_row;
    }
state_17_parse_psc:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_optional, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_gtpu_optional);
    }
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_psc, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_gtpu_psc);
    }
    c->v.meta_qfi = (sp_ld8(c->h_gtpu_psc + 2) & 0x3f);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 8u) & 0xffff);
    goto state_42_parse_user;
state_42_parse_user:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_13 = (sp_ld8(p) >> 4);
    }
    {
        const uint32_t key11_0 = (uint32_t)c->v.UpfParser_tmp_13;
        if (key11_0 == 4u) {
            goto state_43_parse_inner_ipv4;
        }
        if (key11_0 == 6u) {
            goto state_46_parse_inner_ipv6;
        }
        goto parsed;
    }
state_46_parse_inner_ipv6:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 40 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_inner_ipv6, p, 40);
        cursor += 40;
        SP_VALID |= SP_BIT(V_inner_ipv6);
    }
    {
        const uint32_t key12_0 = sp_ld8(c->h_inner_ipv6 + 6);
        if (key12_0 == 0x11u) {
            goto state_66_parse_inner_ports;
        }
        if (key12_0 == 6u) {
            goto state_66_parse_inner_ports;
        }
        if (key12_0 == 0x84u) {
            goto state_66_parse_inner_ports;
        }
        if (key12_0 == 0u) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        if (key12_0 == 0x2bu) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        if (key12_0 == 0x2cu) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        if (key12_0 == 0x3cu) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        if (key12_0 == 0x87u) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        if (key12_0 == 0x8bu) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        if (key12_0 == 0x8cu) {
            goto state_47_parse_extensions_of_inner_ipv6;
        }
        goto parsed;
    }
state_66_parse_inner_ports:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_inner_ports, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_inner_ports);
    }
    goto parsed;
state_43_parse_inner_ipv4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 20 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_inner_ipv4, p, 20);
        cursor += 20;
        SP_VALID |= SP_BIT(V_inner_ipv4);
    }
    if (!((sp_ld8(c->h_inner_ipv4) & 0xf) >= 5u)) {
        c->v.standard_metadata_parser_error = 8u;
        goto parsed;
    }
    {
        const uint32_t key13_0 = (sp_ld8(c->h_inner_ipv4) & 0xf);
        if (key13_0 == 5u) {
            goto state_45_parse_inner_ipv4_payload;
        }
        goto state_44_parse_inner_ipv4_options;
    }
state_44_parse_inner_ipv4_options:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_14 = sp_ld32(p);
    }
    c->v.meta_inner_options = (uint32_t)c->v.UpfParser_tmp_14;
    {
        const uint64_t bits14 = (uint64_t)((((sp_ld8(c->h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits14 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits14 / 8 > 0xffff || cursor + 0 + bits14 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits14 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit14 = (uint32_t)(bits14 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_inner_ipv4_options + 0, 40);
        SP_OPAQUE(varbit14);
        if (varbit14 > 0 && varbit14 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_inner_ipv4_options + 0, varbit14)) goto failed;
        }
        c->len_inner_ipv4_options = varbit14;
        cursor += 0 + varbit14;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_inner_ipv4_options);
    }
    goto state_45_parse_inner_ipv4_payload;
state_45_parse_inner_ipv4_payload:;
    {
        const uint32_t key15_0 = (sp_ld16(c->h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t key15_1 = sp_ld8(c->h_inner_ipv4 + 9);
        if (key15_0 == 0u && key15_1 == 0x11u) {
            goto state_66_parse_inner_ports;
        }
        if (key15_0 == 0u && key15_1 == 6u) {
            goto state_66_parse_inner_ports;
        }
        if (key15_0 == 0u && key15_1 == 0x84u) {
            goto state_66_parse_inner_ports;
        }
        goto parsed;
    }
state_8_parse_ipv4_payload_at_34:;
    {
        const uint32_t key16_0 = (sp_ld16(c->h_ipv4 + 6) & 0x1fff);
        const uint32_t key16_1 = sp_ld8(c->h_ipv4 + 9);
        if (key16_0 == 0u && key16_1 == 0x11u) {
            goto state_12_parse_udp_at_34;
        }
        if (key16_0 == 0u && key16_1 == 6u) {
            goto state_11_parse_ports_at_34;
        }
        if (key16_0 == 0u && key16_1 == 0x84u) {
            goto state_11_parse_ports_at_34;
        }
        cursor = 34;
        goto parsed;
    }
state_11_parse_ports_at_34:;
    {
        uint8_t *p = data + 34;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 34;
            goto parsed;
        }
        sp_copy(c->h_ports, p, 4);
        SP_VALID |= SP_BIT(V_ports);
    }
    cursor = 38;
    goto parsed;
state_12_parse_udp_at_34:;
    {
        uint8_t *p = data + 34;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 34;
            goto parsed;
        }
        sp_copy(c->h_ports, p, 4);
        SP_VALID |= SP_BIT(V_ports);
    }
    {
        const uint32_t key17_0 = (((uint32_t)c->v.standard_metadata_ingress_port) & 0x80u);
        const uint32_t key17_1 = ((sp_ld8(c->h_ipv4 + 6) >> 5) & 0x1);
        const uint32_t key17_2 = sp_ld16(c->h_ports + 2);
        if (key17_0 == 0u && key17_1 == 0u && key17_2 == 0x868u) {
            goto state_13_parse_gtpu_at_38;
        }
        cursor = 38;
        goto parsed;
    }
state_13_parse_gtpu_at_38:;
    {
        uint8_t *p = data + 38;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 38;
            goto parsed;
        }
        sp_copy(c->h_udp_rest, p, 4);
        SP_VALID |= SP_BIT(V_udp_rest);
    }
    {
        uint8_t *p = data + 42;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 42;
            goto parsed;
        }
        sp_copy(c->h_gtpu, p, 8);
        SP_VALID |= SP_BIT(V_gtpu);
    }
    c->v.meta_user_offset = ((((((uint32_t)c->v.meta_user_offset) + 0x10u) & 0xffff) + (((sp_ld8(c->h_ipv4) & 0xf) << 2) & 0xffff)) & 0xffff);
    {
        const uint32_t key18_0 = (sp_ld8(c->h_gtpu) >> 5);
        const uint32_t key18_1 = ((sp_ld8(c->h_gtpu) >> 4) & 0x1);
        const uint32_t key18_2 = ((sp_ld8(c->h_gtpu) >> 2) & 0x1);
        const uint32_t key18_3 = ((sp_ld8(c->h_gtpu) >> 1) & 0x1);
        const uint32_t key18_4 = (sp_ld8(c->h_gtpu) & 0x1);
        const uint32_t key18_5 = sp_ld8(c->h_gtpu + 1);
        if (key18_0 == 1u && key18_1 == 1u && key18_2 == 0u && key18_3 == 0u && key18_4 == 0u && key18_5 == 0xffu) {
            goto state_42_parse_user_at_50;
        }
        if (key18_0 == 1u && key18_1 == 1u && key18_2 == 1u && key18_5 == 0xffu) {
            goto state_15_parse_extensions_at_50;
        }
        if (key18_0 == 1u && key18_1 == 1u && key18_2 == 0u && key18_5 == 0xffu) {
            goto state_18_parse_numbers_at_50;
        }
        if (key18_0 == 1u && key18_1 == 1u && key18_2 == 0u && key18_3 == 0u && key18_4 == 0u) {
            cursor = 50;
            goto parsed;
        }
        if (key18_0 == 1u && key18_1 == 1u) {
            goto state_14_parse_gtpu_optional_at_50;
        }
        cursor = 50;
        goto parsed;
    }
state_15_parse_extensions_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        c->v.UpfParser_tmp_2 = sp_ld32(p);
    }
    c->v.UpfParser_optional = (uint32_t)c->v.UpfParser_tmp_2;
    {
        const uint32_t key19_0 = ((uint32_t)c->v.UpfParser_optional & 0xff);
        if (key19_0 == 0x85u) {
            goto state_16_parse_container_at_50;
        }
        goto state_19_parse_row_at_50;
    }
state_16_parse_container_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        c->v.UpfParser_tmp_3 = sp_ld64(p);
    }
    c->v.UpfParser_head = (uint64_t)c->v.UpfParser_tmp_3;
    {
        const uint32_t key20_0 = ((uint32_t)(((uint64_t)c->v.UpfParser_head) >> 24) & 0xff);
        const uint32_t key20_1 = ((uint32_t)((uint64_t)c->v.UpfParser_head) & 0xff);
        if (key20_0 == 1u && key20_1 == 0u) {
            goto state_17_parse_psc_at_50;
        }
        goto state_19_parse_row_at_50;
    }
state_17_parse_psc_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        sp_copy(c->h_gtpu_optional, p, 4);
        SP_VALID |= SP_BIT(V_gtpu_optional);
    }
    {
        uint8_t *p = data + 54;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 54;
            goto parsed;
        }
        sp_copy(c->h_gtpu_psc, p, 4);
        SP_VALID |= SP_BIT(V_gtpu_psc);
    }
    c->v.meta_qfi = (sp_ld8(c->h_gtpu_psc + 2) & 0x3f);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 8u) & 0xffff);
    goto state_42_parse_user_at_58;
state_42_parse_user_at_58:;
    {
        uint8_t *p = data + 58;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 58;
            goto parsed;
        }
        c->v.UpfParser_tmp_13 = (sp_ld8(p) >> 4);
    }
    {
        const uint32_t key21_0 = (uint32_t)c->v.UpfParser_tmp_13;
        if (key21_0 == 4u) {
            goto state_43_parse_inner_ipv4_at_58;
        }
        if (key21_0 == 6u) {
            goto state_46_parse_inner_ipv6_at_58;
        }
        cursor = 58;
        goto parsed;
    }
state_46_parse_inner_ipv6_at_58:;
    {
        uint8_t *p = data + 58;
        SP_OPAQUE(p);
        if (p + 40 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 58;
            goto parsed;
        }
        sp_copy(c->h_inner_ipv6, p, 40);
        SP_VALID |= SP_BIT(V_inner_ipv6);
    }
    {
        const uint32_t key22_0 = sp_ld8(c->h_inner_ipv6 + 6);
        if (key22_0 == 0x11u) {
            goto state_66_parse_inner_ports_at_98;
        }
        if (key22_0 == 6u) {
            goto state_66_parse_inner_ports_at_98;
        }
        if (key22_0 == 0x84u) {
            goto state_66_parse_inner_ports_at_98;
        }
        if (key22_0 == 0u) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key22_0 == 0x2bu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key22_0 == 0x2cu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key22_0 == 0x3cu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key22_0 == 0x87u) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key22_0 == 0x8bu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key22_0 == 0x8cu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_98;
        }
        cursor = 98;
        goto parsed;
    }
state_66_parse_inner_ports_at_98:;
    {
        uint8_t *p = data + 98;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 98;
            goto parsed;
        }
        sp_copy(c->h_inner_ports, p, 4);
        SP_VALID |= SP_BIT(V_inner_ports);
    }
    cursor = 102;
    goto parsed;
state_43_parse_inner_ipv4_at_58:;
    {
        uint8_t *p = data + 58;
        SP_OPAQUE(p);
        if (p + 20 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 58;
            goto parsed;
        }
        sp_copy(c->h_inner_ipv4, p, 20);
        SP_VALID |= SP_BIT(V_inner_ipv4);
    }
    if (!((sp_ld8(c->h_inner_ipv4) & 0xf) >= 5u)) {
        c->v.standard_metadata_parser_error = 8u;
        cursor = 78;
        goto parsed;
    }
    {
        const uint32_t key23_0 = (sp_ld8(c->h_inner_ipv4) & 0xf);
        if (key23_0 == 5u) {
            goto state_45_parse_inner_ipv4_payload_at_78;
        }
        goto state_44_parse_inner_ipv4_options_at_78;
    }
state_44_parse_inner_ipv4_options_at_78:;
    {
        uint8_t *p = data + 78;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 78;
            goto parsed;
        }
        c->v.UpfParser_tmp_14 = sp_ld32(p);
    }
    c->v.meta_inner_options = (uint32_t)c->v.UpfParser_tmp_14;
    {
        cursor = 78;
        const uint64_t bits24 = (uint64_t)((((sp_ld8(c->h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits24 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits24 / 8 > 0xffff || cursor + 0 + bits24 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits24 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit24 = (uint32_t)(bits24 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_inner_ipv4_options + 0, 40);
        SP_OPAQUE(varbit24);
        if (varbit24 > 0 && varbit24 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_inner_ipv4_options + 0, varbit24)) goto failed;
        }
        c->len_inner_ipv4_options = varbit24;
        cursor += 0 + varbit24;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_inner_ipv4_options);
    }
    goto state_45_parse_inner_ipv4_payload;
state_45_parse_inner_ipv4_payload_at_78:;
    {
        const uint32_t key25_0 = (sp_ld16(c->h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t key25_1 = sp_ld8(c->h_inner_ipv4 + 9);
        if (key25_0 == 0u && key25_1 == 0x11u) {
            goto state_66_parse_inner_ports_at_78;
        }
        if (key25_0 == 0u && key25_1 == 6u) {
            goto state_66_parse_inner_ports_at_78;
        }
        if (key25_0 == 0u && key25_1 == 0x84u) {
            goto state_66_parse_inner_ports_at_78;
        }
        cursor = 78;
        goto parsed;
    }
state_66_parse_inner_ports_at_78:;
    {
        uint8_t *p = data + 78;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 78;
            goto parsed;
        }
        sp_copy(c->h_inner_ports, p, 4);
        SP_VALID |= SP_BIT(V_inner_ports);
    }
    cursor = 82;
    goto parsed;
state_42_parse_user_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        c->v.UpfParser_tmp_13 = (sp_ld8(p) >> 4);
    }
    {
        const uint32_t key26_0 = (uint32_t)c->v.UpfParser_tmp_13;
        if (key26_0 == 4u) {
            goto state_43_parse_inner_ipv4_at_50;
        }
        if (key26_0 == 6u) {
            goto state_46_parse_inner_ipv6_at_50;
        }
        cursor = 50;
        goto parsed;
    }
state_46_parse_inner_ipv6_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 40 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        sp_copy(c->h_inner_ipv6, p, 40);
        SP_VALID |= SP_BIT(V_inner_ipv6);
    }
    {
        const uint32_t key27_0 = sp_ld8(c->h_inner_ipv6 + 6);
        if (key27_0 == 0x11u) {
            goto state_66_parse_inner_ports_at_90;
        }
        if (key27_0 == 6u) {
            goto state_66_parse_inner_ports_at_90;
        }
        if (key27_0 == 0x84u) {
            goto state_66_parse_inner_ports_at_90;
        }
        if (key27_0 == 0u) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key27_0 == 0x2bu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key27_0 == 0x2cu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key27_0 == 0x3cu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key27_0 == 0x87u) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key27_0 == 0x8bu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key27_0 == 0x8cu) {
            goto state_47_parse_extensions_of_inner_ipv6_at_90;
        }
        cursor = 90;
        goto parsed;
    }
state_66_parse_inner_ports_at_90:;
    {
        uint8_t *p = data + 90;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 90;
            goto parsed;
        }
        sp_copy(c->h_inner_ports, p, 4);
        SP_VALID |= SP_BIT(V_inner_ports);
    }
    cursor = 94;
    goto parsed;
state_43_parse_inner_ipv4_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 20 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        sp_copy(c->h_inner_ipv4, p, 20);
        SP_VALID |= SP_BIT(V_inner_ipv4);
    }
    if (!((sp_ld8(c->h_inner_ipv4) & 0xf) >= 5u)) {
        c->v.standard_metadata_parser_error = 8u;
        cursor = 70;
        goto parsed;
    }
    {
        const uint32_t key28_0 = (sp_ld8(c->h_inner_ipv4) & 0xf);
        if (key28_0 == 5u) {
            goto state_45_parse_inner_ipv4_payload_at_70;
        }
        goto state_44_parse_inner_ipv4_options_at_70;
    }
state_44_parse_inner_ipv4_options_at_70:;
    {
        uint8_t *p = data + 70;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 70;
            goto parsed;
        }
        c->v.UpfParser_tmp_14 = sp_ld32(p);
    }
    c->v.meta_inner_options = (uint32_t)c->v.UpfParser_tmp_14;
    {
        cursor = 70;
        const uint64_t bits29 = (uint64_t)((((sp_ld8(c->h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits29 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits29 / 8 > 0xffff || cursor + 0 + bits29 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits29 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit29 = (uint32_t)(bits29 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_inner_ipv4_options + 0, 40);
        SP_OPAQUE(varbit29);
        if (varbit29 > 0 && varbit29 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_inner_ipv4_options + 0, varbit29)) goto failed;
        }
        c->len_inner_ipv4_options = varbit29;
        cursor += 0 + varbit29;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_inner_ipv4_options);
    }
    goto state_45_parse_inner_ipv4_payload;
state_45_parse_inner_ipv4_payload_at_70:;
    {
        const uint32_t key30_0 = (sp_ld16(c->h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t key30_1 = sp_ld8(c->h_inner_ipv4 + 9);
        if (key30_0 == 0u && key30_1 == 0x11u) {
            cursor = 70;
            goto state_66_parse_inner_ports;
        }
        if (key30_0 == 0u && key30_1 == 6u) {
            cursor = 70;
            goto state_66_parse_inner_ports;
        }
        if (key30_0 == 0u && key30_1 == 0x84u) {
            cursor = 70;
            goto state_66_parse_inner_ports;
        }
        cursor = 70;
        goto parsed;
    }
state_47_parse_extensions_of_inner_ipv6_at_90:;
    c->v.meta_next_header = sp_ld8(c->h_inner_ipv6 + 6);
    goto state_48_extension_1_at_90;
state_48_extension_1_at_90:;
    {
        const uint32_t key31_0 = (uint32_t)c->v.meta_next_header;
        if (key31_0 == 0x11u) {
            goto state_65_parse_inner_ports_behind_extensions_at_90;
        }
        if (key31_0 == 6u) {
            goto state_65_parse_inner_ports_behind_extensions_at_90;
        }
        if (key31_0 == 0x84u) {
            goto state_65_parse_inner_ports_behind_extensions_at_90;
        }
        if (key31_0 == 0x2cu) {
            goto state_49_fragment_1_at_90;
        }
        if (key31_0 == 0x2bu) {
            goto state_50_routing_1_at_90;
        }
        if (key31_0 == 0u) {
            goto state_51_options_1_at_90;
        }
        if (key31_0 == 0x3cu) {
            goto state_51_options_1_at_90;
        }
        if (key31_0 == 0x87u) {
            goto state_51_options_1_at_90;
        }
        if (key31_0 == 0x8bu) {
            goto state_51_options_1_at_90;
        }
        if (key31_0 == 0x8cu) {
            goto state_51_options_1_at_90;
        }
        cursor = 90;
        goto parsed;
    }
state_51_options_1_at_90:;
    {
        uint8_t *p = data + 90;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 90;
            goto parsed;
        }
        c->v.UpfParser_tmp_16 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_16 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        cursor = 90;
        goto parsed;
    }
    {
        cursor = 90;
        const uint64_t bits32 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_16 & 0xff) << 6);
        if (bits32 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits32 / 8 > 0xffff || cursor + 8 + bits32 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits32 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit32 = (uint32_t)(bits32 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit32);
        if (varbit32 > 0 && varbit32 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit32)) goto failed;
        }
        c->len_extension_1 = varbit32;
        cursor += 8 + varbit32;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_16) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_16 & 0xff) << 3));
    goto state_52_extension_2;
state_52_extension_2:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        const uint32_t key33_0 = (uint32_t)c->v.meta_next_header;
        if (key33_0 == 0x11u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key33_0 == 6u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key33_0 == 0x84u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key33_0 == 0x2cu) {
            goto state_53_fragment_2;
        }
        if (key33_0 == 0x2bu) {
            goto state_54_routing_2;
        }
        if (key33_0 == 0u) {
            goto state_55_options_2;
        }
        if (key33_0 == 0x3cu) {
            goto state_55_options_2;
        }
        if (key33_0 == 0x87u) {
            goto state_55_options_2;
        }
        if (key33_0 == 0x8bu) {
            goto state_55_options_2;
        }
        if (key33_0 == 0x8cu) {
            goto state_55_options_2;
        }
        goto parsed;
    }
state_55_options_2:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_18 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_18 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits34 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_18 & 0xff) << 6);
        if (bits34 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits34 / 8 > 0xffff || cursor + 8 + bits34 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits34 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit34 = (uint32_t)(bits34 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_2, p, 8);
        sp_zero(c->h_extension_2 + 8, 56);
        SP_OPAQUE(varbit34);
        if (varbit34 > 0 && varbit34 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_2 + 8, varbit34)) goto failed;
        }
        c->len_extension_2 = varbit34;
        cursor += 8 + varbit34;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_2);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_18) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_18 & 0xff) << 3));
    goto state_56_extension_3;
state_56_extension_3:;
    {
        const uint32_t key35_0 = (uint32_t)c->v.meta_next_header;
        if (key35_0 == 0x11u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key35_0 == 6u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key35_0 == 0x84u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key35_0 == 0x2cu) {
            goto state_57_fragment_3;
        }
        if (key35_0 == 0x2bu) {
            goto state_58_routing_3;
        }
        if (key35_0 == 0u) {
            goto state_59_options_3;
        }
        if (key35_0 == 0x3cu) {
            goto state_59_options_3;
        }
        if (key35_0 == 0x87u) {
            goto state_59_options_3;
        }
        if (key35_0 == 0x8bu) {
            goto state_59_options_3;
        }
        if (key35_0 == 0x8cu) {
            goto state_59_options_3;
        }
        goto parsed;
    }
state_59_options_3:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_20 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_20 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits36 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_20 & 0xff) << 6);
        if (bits36 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits36 / 8 > 0xffff || cursor + 8 + bits36 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits36 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit36 = (uint32_t)(bits36 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_3, p, 8);
        sp_zero(c->h_extension_3 + 8, 56);
        SP_OPAQUE(varbit36);
        if (varbit36 > 0 && varbit36 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_3 + 8, varbit36)) goto failed;
        }
        c->len_extension_3 = varbit36;
        cursor += 8 + varbit36;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_3);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_20) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_20 & 0xff) << 3));
    goto state_60_extension_4;
state_60_extension_4:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        const uint32_t key37_0 = (uint32_t)c->v.meta_next_header;
        if (key37_0 == 0x11u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key37_0 == 6u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key37_0 == 0x84u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key37_0 == 0x2cu) {
            goto state_61_fragment_4;
        }
        if (key37_0 == 0x2bu) {
            goto state_62_routing_4;
        }
        if (key37_0 == 0u) {
            goto state_63_options_4;
        }
        if (key37_0 == 0x3cu) {
            goto state_63_options_4;
        }
        if (key37_0 == 0x87u) {
            goto state_63_options_4;
        }
        if (key37_0 == 0x8bu) {
            goto state_63_options_4;
        }
        if (key37_0 == 0x8cu) {
            goto state_63_options_4;
        }
        goto parsed;
    }
state_63_options_4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_22 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_22 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits38 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_22 & 0xff) << 6);
        if (bits38 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits38 / 8 > 0xffff || cursor + 8 + bits38 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits38 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit38 = (uint32_t)(bits38 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_4, p, 8);
        sp_zero(c->h_extension_4 + 8, 56);
        SP_OPAQUE(varbit38);
        if (varbit38 > 0 && varbit38 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_4 + 8, varbit38)) goto failed;
        }
        c->len_extension_4 = varbit38;
        cursor += 8 + varbit38;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_4);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_22) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_22 & 0xff) << 3));
    goto state_64_extension_5;
state_64_extension_5:;
    if (!(((((((((uint32_t)c->v.meta_next_header) != 0u) && (((uint32_t)c->v.meta_next_header) != 0x2bu)) && (((uint32_t)c->v.meta_next_header) != 0x2cu)) && (((uint32_t)c->v.meta_next_header) != 0x3cu)) && (((uint32_t)c->v.meta_next_header) != 0x87u)) && (((uint32_t)c->v.meta_next_header) != 0x8bu)) && (((uint32_t)c->v.meta_next_header) != 0x8cu))) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint32_t key39_0 = (uint32_t)c->v.meta_next_header;
        if (key39_0 == 0x11u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key39_0 == 6u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key39_0 == 0x84u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        goto parsed;
    }
state_62_routing_4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_21 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_21 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_63_options_4;
state_61_fragment_4:;
    {
        const uint64_t bits40 = (uint64_t)0u;
        if (bits40 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits40 / 8 > 0xffff || cursor + 8 + bits40 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits40 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit40 = (uint32_t)(bits40 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_4, p, 8);
        sp_zero(c->h_extension_4 + 8, 56);
        SP_OPAQUE(varbit40);
        if (varbit40 > 0 && varbit40 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_4 + 8, varbit40)) goto failed;
        }
        c->len_extension_4 = varbit40;
        cursor += 8 + varbit40;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_4);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_4);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key41_0 = (sp_ld16(c->h_extension_4 + 2) >> 3);
        if (key41_0 == 0u) {
            goto state_64_extension_5;
        }
        goto parsed;
    }
state_58_routing_3:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_19 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_19 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_59_options_3;
state_57_fragment_3:;
    {
        const uint64_t bits42 = (uint64_t)0u;
        if (bits42 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits42 / 8 > 0xffff || cursor + 8 + bits42 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits42 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit42 = (uint32_t)(bits42 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_3, p, 8);
        sp_zero(c->h_extension_3 + 8, 56);
        SP_OPAQUE(varbit42);
        if (varbit42 > 0 && varbit42 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_3 + 8, varbit42)) goto failed;
        }
        c->len_extension_3 = varbit42;
        cursor += 8 + varbit42;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_3);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_3);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key43_0 = (sp_ld16(c->h_extension_3 + 2) >> 3);
        if (key43_0 == 0u) {
            goto state_60_extension_4;
        }
        goto parsed;
    }
state_54_routing_2:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_17 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_17 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_55_options_2;
state_53_fragment_2:;
    {
        const uint64_t bits44 = (uint64_t)0u;
        if (bits44 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits44 / 8 > 0xffff || cursor + 8 + bits44 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits44 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit44 = (uint32_t)(bits44 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_2, p, 8);
        sp_zero(c->h_extension_2 + 8, 56);
        SP_OPAQUE(varbit44);
        if (varbit44 > 0 && varbit44 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_2 + 8, varbit44)) goto failed;
        }
        c->len_extension_2 = varbit44;
        cursor += 8 + varbit44;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_2);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_2);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key45_0 = (sp_ld16(c->h_extension_2 + 2) >> 3);
        if (key45_0 == 0u) {
            goto state_56_extension_3;
        }
        goto parsed;
    }
state_65_parse_inner_ports_behind_extensions:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_inner_ports, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_inner_ports);
    }
    goto parsed;
state_50_routing_1_at_90:;
    {
        uint8_t *p = data + 90;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 90;
            goto parsed;
        }
        c->v.UpfParser_tmp_15 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_15 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_51_options_1_at_90;
state_49_fragment_1_at_90:;
    {
        cursor = 90;
        const uint64_t bits46 = (uint64_t)0u;
        if (bits46 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits46 / 8 > 0xffff || cursor + 8 + bits46 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits46 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit46 = (uint32_t)(bits46 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit46);
        if (varbit46 > 0 && varbit46 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit46)) goto failed;
        }
        c->len_extension_1 = varbit46;
        cursor += 8 + varbit46;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_1);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key47_0 = (sp_ld16(c->h_extension_1 + 2) >> 3);
        if (key47_0 == 0u) {
            goto state_52_extension_2;
        }
        goto parsed;
    }
state_65_parse_inner_ports_behind_extensions_at_90:;
    {
        uint8_t *p = data + 90;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 90;
            goto parsed;
        }
        sp_copy(c->h_inner_ports, p, 4);
        SP_VALID |= SP_BIT(V_inner_ports);
    }
    cursor = 94;
    goto parsed;
state_47_parse_extensions_of_inner_ipv6_at_98:;
    c->v.meta_next_header = sp_ld8(c->h_inner_ipv6 + 6);
    cursor = 98;
    goto state_48_extension_1;
state_48_extension_1:;
    {
        const uint32_t key48_0 = (uint32_t)c->v.meta_next_header;
        if (key48_0 == 0x11u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key48_0 == 6u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key48_0 == 0x84u) {
            goto state_65_parse_inner_ports_behind_extensions;
        }
        if (key48_0 == 0x2cu) {
            goto state_49_fragment_1;
        }
        if (key48_0 == 0x2bu) {
            goto state_50_routing_1;
        }
        if (key48_0 == 0u) {
            goto state_51_options_1;
        }
        if (key48_0 == 0x3cu) {
            goto state_51_options_1;
        }
        if (key48_0 == 0x87u) {
            goto state_51_options_1;
        }
        if (key48_0 == 0x8bu) {
            goto state_51_options_1;
        }
        if (key48_0 == 0x8cu) {
            goto state_51_options_1;
        }
        goto parsed;
    }
state_51_options_1:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_16 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_16 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits49 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_16 & 0xff) << 6);
        if (bits49 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits49 / 8 > 0xffff || cursor + 8 + bits49 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits49 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit49 = (uint32_t)(bits49 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit49);
        if (varbit49 > 0 && varbit49 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit49)) goto failed;
        }
        c->len_extension_1 = varbit49;
        cursor += 8 + varbit49;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_16) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_16 & 0xff) << 3));
    goto state_52_extension_2;
state_50_routing_1:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_15 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_15 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_51_options_1;
state_49_fragment_1:;
    {
        const uint64_t bits50 = (uint64_t)0u;
        if (bits50 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits50 / 8 > 0xffff || cursor + 8 + bits50 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits50 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit50 = (uint32_t)(bits50 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit50);
        if (varbit50 > 0 && varbit50 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit50)) goto failed;
        }
        c->len_extension_1 = varbit50;
        cursor += 8 + varbit50;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_1);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key51_0 = (sp_ld16(c->h_extension_1 + 2) >> 3);
        if (key51_0 == 0u) {
            goto state_52_extension_2;
        }
        goto parsed;
    }
state_19_parse_row_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        sp_copy(c->h_gtpu_numbers, p, 3);
        SP_VALID |= SP_BIT(V_gtpu_numbers);
    }
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    cursor = 53;
    goto state_20_gtpu_extension_1;
state_20_gtpu_extension_1:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_4 = sp_ld8(p);
    }
    {
        const uint32_t key52_0 = (uint32_t)c->v.UpfParser_tmp_4;
        if (key52_0 == 0u) {
            goto state_41_end_of_extensions;
        }
        goto state_21_take_gtpu_extension_1;
    }
state_21_take_gtpu_extension_1:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_5 = sp_ld16(p);
    }
    c->v.UpfParser_head_2 = (uint32_t)c->v.UpfParser_tmp_5;
    if (!((((uint32_t)c->v.UpfParser_tmp_5 & 0xff) != 0u) && (((uint32_t)c->v.UpfParser_tmp_5 & 0xff) <= 0x10u))) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    {
        const uint64_t bits53 = (uint64_t)((((uint32_t)c->v.UpfParser_tmp_5 & 0xff) - 1u) << 5);
        if (bits53 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits53 / 8 > 0xffff || cursor + 4 + bits53 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits53 > 480) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit53 = (uint32_t)(bits53 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_extension_1, p, 4);
        sp_zero(c->h_gtpu_extension_1 + 4, 60);
        SP_OPAQUE(varbit53);
        if (varbit53 > 0 && varbit53 <= 60) {
            if (bpf_xdp_load_bytes(ctx, cursor + 4, c->h_gtpu_extension_1 + 4, varbit53)) goto failed;
        }
        c->len_gtpu_extension_1 = varbit53;
        cursor += 4 + varbit53;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_gtpu_extension_1);
    }
    c->v.UpfParser_bytes = ((((uint32_t)c->v.UpfParser_tmp_5 & 0xff) << 2) & 0xffff);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + ((uint32_t)c->v.UpfParser_bytes)) & 0xffff);
    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + ((((((uint32_t)c->v.UpfParser_tmp_5) >> 14) & 0x3) == 1u) ? 0u : ((uint32_t)c->v.UpfParser_bytes))) & 0xffff);
    {
        const uint32_t key54_0 = ((((uint32_t)c->v.UpfParser_head_2) >> 8) & 0xff);
        if (key54_0 == 0x85u) {
            goto state_22_gtpu_container_1;
        }
        if (key54_0 == 0xc0u) {
            goto state_23_gtpu_for_endpoint_1;
        }
        if ((key54_0 & 0xc0u) == 0x80u) {
            goto state_23_gtpu_for_endpoint_1;
        }
        if ((key54_0 & 0xc0u) == 0xc0u) {
            goto state_24_gtpu_mandatory_1;
        }
        goto state_25_gtpu_extension_2;
    }
state_25_gtpu_extension_2:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_6 = sp_ld8(p);
    }
    {
        const uint32_t key55_0 = (uint32_t)c->v.UpfParser_tmp_6;
        if (key55_0 == 0u) {
            goto state_41_end_of_extensions;
        }
        goto state_26_take_gtpu_extension_2;
    }
state_26_take_gtpu_extension_2:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_7 = sp_ld16(p);
    }
    c->v.UpfParser_head_3 = (uint32_t)c->v.UpfParser_tmp_7;
    if (!((((uint32_t)c->v.UpfParser_tmp_7 & 0xff) != 0u) && (((uint32_t)c->v.UpfParser_tmp_7 & 0xff) <= 0x10u))) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    {
        const uint64_t bits56 = (uint64_t)((((uint32_t)c->v.UpfParser_tmp_7 & 0xff) - 1u) << 5);
        if (bits56 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits56 / 8 > 0xffff || cursor + 4 + bits56 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits56 > 480) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit56 = (uint32_t)(bits56 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_extension_2, p, 4);
        sp_zero(c->h_gtpu_extension_2 + 4, 60);
        SP_OPAQUE(varbit56);
        if (varbit56 > 0 && varbit56 <= 60) {
            if (bpf_xdp_load_bytes(ctx, cursor + 4, c->h_gtpu_extension_2 + 4, varbit56)) goto failed;
        }
        c->len_gtpu_extension_2 = varbit56;
        cursor += 4 + varbit56;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_gtpu_extension_2);
    }
    c->v.UpfParser_bytes_2 = ((((uint32_t)c->v.UpfParser_tmp_7 & 0xff) << 2) & 0xffff);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + ((uint32_t)c->v.UpfParser_bytes_2)) & 0xffff);
    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + ((((((uint32_t)c->v.UpfParser_tmp_7) >> 14) & 0x3) == 1u) ? 0u : ((uint32_t)c->v.UpfParser_bytes_2))) & 0xffff);
    {
        const uint32_t key57_0 = ((((uint32_t)c->v.UpfParser_head_3) >> 8) & 0xff);
        if (key57_0 == 0x85u) {
            goto state_27_gtpu_container_2;
        }
        if (key57_0 == 0xc0u) {
            goto state_28_gtpu_for_endpoint_2;
        }
        if ((key57_0 & 0xc0u) == 0x80u) {
            goto state_28_gtpu_for_endpoint_2;
        }
        if ((key57_0 & 0xc0u) == 0xc0u) {
            goto state_29_gtpu_mandatory_2;
        }
        goto state_30_gtpu_extension_3;
    }
state_30_gtpu_extension_3:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_8 = sp_ld8(p);
    }
    {
        const uint32_t key58_0 = (uint32_t)c->v.UpfParser_tmp_8;
        if (key58_0 == 0u) {
            goto state_41_end_of_extensions;
        }
        goto state_31_take_gtpu_extension_3;
    }
state_31_take_gtpu_extension_3:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_9 = sp_ld16(p);
    }
    c->v.UpfParser_head_4 = (uint32_t)c->v.UpfParser_tmp_9;
    if (!((((uint32_t)c->v.UpfParser_tmp_9 & 0xff) != 0u) && (((uint32_t)c->v.UpfParser_tmp_9 & 0xff) <= 0x10u))) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    {
        const uint64_t bits59 = (uint64_t)((((uint32_t)c->v.UpfParser_tmp_9 & 0xff) - 1u) << 5);
        if (bits59 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits59 / 8 > 0xffff || cursor + 4 + bits59 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits59 > 480) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit59 = (uint32_t)(bits59 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_extension_3, p, 4);
        sp_zero(c->h_gtpu_extension_3 + 4, 60);
        SP_OPAQUE(varbit59);
        if (varbit59 > 0 && varbit59 <= 60) {
            if (bpf_xdp_load_bytes(ctx, cursor + 4, c->h_gtpu_extension_3 + 4, varbit59)) goto failed;
        }
        c->len_gtpu_extension_3 = varbit59;
        cursor += 4 + varbit59;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_gtpu_extension_3);
    }
    c->v.UpfParser_bytes_3 = ((((uint32_t)c->v.UpfParser_tmp_9 & 0xff) << 2) & 0xffff);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + ((uint32_t)c->v.UpfParser_bytes_3)) & 0xffff);
    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + ((((((uint32_t)c->v.UpfParser_tmp_9) >> 14) & 0x3) == 1u) ? 0u : ((uint32_t)c->v.UpfParser_bytes_3))) & 0xffff);
    {
        const uint32_t key60_0 = ((((uint32_t)c->v.UpfParser_head_4) >> 8) & 0xff);
        if (key60_0 == 0x85u) {
            goto state_32_gtpu_container_3;
        }
        if (key60_0 == 0xc0u) {
            goto state_33_gtpu_for_endpoint_3;
        }
        if ((key60_0 & 0xc0u) == 0x80u) {
            goto state_33_gtpu_for_endpoint_3;
        }
        if ((key60_0 & 0xc0u) == 0xc0u) {
            goto state_34_gtpu_mandatory_3;
        }
        goto state_35_gtpu_extension_4;
    }
state_35_gtpu_extension_4:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_10 = sp_ld8(p);
    }
    {
        const uint32_t key61_0 = (uint32_t)c->v.UpfParser_tmp_10;
        if (key61_0 == 0u) {
            goto state_41_end_of_extensions;
        }
        goto state_36_take_gtpu_extension_4;
    }
state_36_take_gtpu_extension_4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_11 = sp_ld16(p);
    }
    c->v.UpfParser_head_5 = (uint32_t)c->v.UpfParser_tmp_11;
    if (!((((uint32_t)c->v.UpfParser_tmp_11 & 0xff) != 0u) && (((uint32_t)c->v.UpfParser_tmp_11 & 0xff) <= 0x10u))) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    {
        const uint64_t bits62 = (uint64_t)((((uint32_t)c->v.UpfParser_tmp_11 & 0xff) - 1u) << 5);
        if (bits62 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits62 / 8 > 0xffff || cursor + 4 + bits62 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits62 > 480) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit62 = (uint32_t)(bits62 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_extension_4, p, 4);
        sp_zero(c->h_gtpu_extension_4 + 4, 60);
        SP_OPAQUE(varbit62);
        if (varbit62 > 0 && varbit62 <= 60) {
            if (bpf_xdp_load_bytes(ctx, cursor + 4, c->h_gtpu_extension_4 + 4, varbit62)) goto failed;
        }
        c->len_gtpu_extension_4 = varbit62;
        cursor += 4 + varbit62;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_gtpu_extension_4);
    }
    c->v.UpfParser_bytes_4 = ((((uint32_t)c->v.UpfParser_tmp_11 & 0xff) << 2) & 0xffff);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + ((uint32_t)c->v.UpfParser_bytes_4)) & 0xffff);
    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + ((((((uint32_t)c->v.UpfParser_tmp_11) >> 14) & 0x3) == 1u) ? 0u : ((uint32_t)c->v.UpfParser_bytes_4))) & 0xffff);
    {
        const uint32_t key63_0 = ((((uint32_t)c->v.UpfParser_head_5) >> 8) & 0xff);
        if (key63_0 == 0x85u) {
            goto state_37_gtpu_container_4;
        }
        if (key63_0 == 0xc0u) {
            goto state_38_gtpu_for_endpoint_4;
        }
        if ((key63_0 & 0xc0u) == 0x80u) {
            goto state_38_gtpu_for_endpoint_4;
        }
        if ((key63_0 & 0xc0u) == 0xc0u) {
            goto state_39_gtpu_mandatory_4;
        }
        goto state_40_gtpu_extension_5;
    }
state_40_gtpu_extension_5:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_12 = sp_ld8(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_12) == 0u)) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    goto state_41_end_of_extensions;
state_39_gtpu_mandatory_4:;
    c->v.meta_unknown_extension = 1u;
    goto state_40_gtpu_extension_5;
state_38_gtpu_for_endpoint_4:;
    c->v.meta_endpoint_extension = 1u;
    goto state_40_gtpu_extension_5;
state_37_gtpu_container_4:;
    c->v.meta_qfi = (sp_ld8(c->h_gtpu_extension_4 + 3) & 0x3f);
    c->v.meta_container_bytes = ((((uint32_t)c->v.meta_container_bytes) + ((sp_ld8(c->h_gtpu_extension_4 + 1) << 2) & 0xffff)) & 0xffff);
    goto state_40_gtpu_extension_5;
state_34_gtpu_mandatory_3:;
    c->v.meta_unknown_extension = 1u;
    goto state_35_gtpu_extension_4;
state_33_gtpu_for_endpoint_3:;
    c->v.meta_endpoint_extension = 1u;
    goto state_35_gtpu_extension_4;
state_32_gtpu_container_3:;
    c->v.meta_qfi = (sp_ld8(c->h_gtpu_extension_3 + 3) & 0x3f);
    c->v.meta_container_bytes = ((((uint32_t)c->v.meta_container_bytes) + ((sp_ld8(c->h_gtpu_extension_3 + 1) << 2) & 0xffff)) & 0xffff);
    goto state_35_gtpu_extension_4;
state_29_gtpu_mandatory_2:;
    c->v.meta_unknown_extension = 1u;
    goto state_30_gtpu_extension_3;
state_28_gtpu_for_endpoint_2:;
    c->v.meta_endpoint_extension = 1u;
    goto state_30_gtpu_extension_3;
state_27_gtpu_container_2:;
    c->v.meta_qfi = (sp_ld8(c->h_gtpu_extension_2 + 3) & 0x3f);
    c->v.meta_container_bytes = ((((uint32_t)c->v.meta_container_bytes) + ((sp_ld8(c->h_gtpu_extension_2 + 1) << 2) & 0xffff)) & 0xffff);
    goto state_30_gtpu_extension_3;
state_24_gtpu_mandatory_1:;
    c->v.meta_unknown_extension = 1u;
    goto state_25_gtpu_extension_2;
state_23_gtpu_for_endpoint_1:;
    c->v.meta_endpoint_extension = 1u;
    goto state_25_gtpu_extension_2;
state_22_gtpu_container_1:;
    c->v.meta_qfi = (sp_ld8(c->h_gtpu_extension_1 + 3) & 0x3f);
    c->v.meta_container_bytes = ((((uint32_t)c->v.meta_container_bytes) + ((sp_ld8(c->h_gtpu_extension_1 + 1) << 2) & 0xffff)) & 0xffff);
    goto state_25_gtpu_extension_2;
state_41_end_of_extensions:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_end, p, 1);
        cursor += 1;
        SP_VALID |= SP_BIT(V_gtpu_end);
    }
    goto state_42_parse_user;
state_14_parse_gtpu_optional_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        sp_copy(c->h_gtpu_optional, p, 4);
        SP_VALID |= SP_BIT(V_gtpu_optional);
    }
    cursor = 54;
    goto parsed;
state_18_parse_numbers_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        sp_copy(c->h_gtpu_numbers, p, 3);
        SP_VALID |= SP_BIT(V_gtpu_numbers);
    }
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    cursor = 53;
    goto state_41_end_of_extensions;
state_47_parse_extensions_of_inner_ipv6:;
    c->v.meta_next_header = sp_ld8(c->h_inner_ipv6 + 6);
    goto state_48_extension_1;
state_19_parse_row:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_numbers, p, 3);
        cursor += 3;
        SP_VALID |= SP_BIT(V_gtpu_numbers);
    }
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    goto state_20_gtpu_extension_1;
state_14_parse_gtpu_optional:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_optional, p, 4);
        cursor += 4;
        SP_VALID |= SP_BIT(V_gtpu_optional);
    }
    goto parsed;
state_18_parse_numbers:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_gtpu_numbers, p, 3);
        cursor += 3;
        SP_VALID |= SP_BIT(V_gtpu_numbers);
    }
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    goto state_41_end_of_extensions;
state_10_parse_extensions_of_ipv6_at_54:;
    c->v.meta_next_header = sp_ld8(c->h_ipv6 + 6);
    cursor = 54;
    goto state_48_extension_1;
state_1_parse_underlay_at_0:;
    {
        uint8_t *p = data + 0;
        SP_OPAQUE(p);
        if (p + 14 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 0;
            goto parsed;
        }
        sp_copy(c->h_underlay_ethernet, p, 14);
        SP_VALID |= SP_BIT(V_underlay_ethernet);
    }
    {
        const uint32_t key64_0 = sp_ld16(c->h_underlay_ethernet + 12);
        if (key64_0 == 0x800u) {
            cursor = 14;
            goto state_2_parse_underlay_ipv4;
        }
        cursor = 14;
        goto parsed;
    }
state_2_parse_underlay_ipv4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 20 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_underlay_ipv4, p, 20);
        cursor += 20;
        SP_VALID |= SP_BIT(V_underlay_ipv4);
    }
    {
        const uint32_t key65_0 = (sp_ld8(c->h_underlay_ipv4) & 0xf);
        const uint32_t key65_1 = ((sp_ld8(c->h_underlay_ipv4 + 6) >> 5) & 0x1);
        const uint32_t key65_2 = (sp_ld16(c->h_underlay_ipv4 + 6) & 0x1fff);
        const uint32_t key65_3 = sp_ld8(c->h_underlay_ipv4 + 9);
        if (key65_0 == 5u && key65_1 == 0u && key65_2 == 0u && key65_3 == 0x11u) {
            goto state_3_parse_underlay_udp;
        }
        goto parsed;
    }
state_3_parse_underlay_udp:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_underlay_udp, p, 8);
        cursor += 8;
        SP_VALID |= SP_BIT(V_underlay_udp);
    }
    {
        const uint32_t key66_0 = sp_ld16(c->h_underlay_udp + 2);
        if (key66_0 == 0x12b5u) {
            goto state_4_parse_vxlan;
        }
        goto parsed;
    }
state_4_parse_vxlan:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_vxlan, p, 8);
        cursor += 8;
        SP_VALID |= SP_BIT(V_vxlan);
    }
    c->v.meta_user_offset = 0x40u;
    goto state_5_parse_ethernet;
state_5_parse_ethernet:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 14 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_ethernet, p, 14);
        cursor += 14;
        SP_VALID |= SP_BIT(V_ethernet);
    }
    {
        const uint32_t key67_0 = sp_ld16(c->h_ethernet + 12);
        if (key67_0 == 0x800u) {
            goto state_6_parse_ipv4;
        }
        if (key67_0 == 0x86ddu) {
            goto state_9_parse_ipv6;
        }
        goto parsed;
    }
state_9_parse_ipv6:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 40 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_ipv6, p, 40);
        cursor += 40;
        SP_VALID |= SP_BIT(V_ipv6);
    }
    if (!((sp_ld8(c->h_ipv6) >> 4) == 6u)) {
        c->v.standard_metadata_parser_error = 8u;
        goto parsed;
    }
    {
        const uint32_t key68_0 = sp_ld8(c->h_ipv6 + 6);
        if (key68_0 == 0x11u) {
            goto state_11_parse_ports;
        }
        if (key68_0 == 6u) {
            goto state_11_parse_ports;
        }
        if (key68_0 == 0x84u) {
            goto state_11_parse_ports;
        }
        if (key68_0 == 0u) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key68_0 == 0x2bu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key68_0 == 0x2cu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key68_0 == 0x3cu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key68_0 == 0x87u) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key68_0 == 0x8bu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key68_0 == 0x8cu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        goto parsed;
    }
state_6_parse_ipv4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 20 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_ipv4, p, 20);
        cursor += 20;
        SP_VALID |= SP_BIT(V_ipv4);
    }
    if (!(((sp_ld8(c->h_ipv4) >> 4) == 4u) && ((sp_ld8(c->h_ipv4) & 0xf) >= 5u))) {
        c->v.standard_metadata_parser_error = 8u;
        goto parsed;
    }
    {
        const uint32_t key69_0 = (sp_ld8(c->h_ipv4) & 0xf);
        if (key69_0 == 5u) {
            goto state_8_parse_ipv4_payload;
        }
        goto state_7_parse_ipv4_options;
    }
state_7_parse_ipv4_options:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp = sp_ld32(p);
    }
    c->v.meta_options = (uint32_t)c->v.UpfParser_tmp;
    {
        const uint64_t bits70 = (uint64_t)((((sp_ld8(c->h_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits70 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits70 / 8 > 0xffff || cursor + 0 + bits70 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits70 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit70 = (uint32_t)(bits70 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_ipv4_options + 0, 40);
        SP_OPAQUE(varbit70);
        if (varbit70 > 0 && varbit70 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_ipv4_options + 0, varbit70)) goto failed;
        }
        c->len_ipv4_options = varbit70;
        cursor += 0 + varbit70;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_ipv4_options);
    }
    goto state_8_parse_ipv4_payload;
state_10_parse_extensions_of_ipv6:;
    c->v.meta_next_header = sp_ld8(c->h_ipv6 + 6);
    goto state_48_extension_1;
parsed:;
    c->cursor = cursor;
    c->valid = SP_VALID;
    SP_BARRIER();
    
#ifndef SP_SIMPLE
    if (!c->slow_path) {
        if (c->cursor == 74 && c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports) | SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) goto class_1;
        if (c->cursor == 94 && c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports) | SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) goto class_2;
        if (c->cursor == 82 && c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports) | SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) goto class_3;
        if (c->cursor == 102 && c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports) | SP_BIT(V_udp_rest) | SP_BIT(V_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) goto class_4;
        if (c->cursor == 38 && c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports))) goto class_5;
        if (c->cursor == 58 && c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) goto class_6;
    }
#endif
    /* verify_checksum */
    {
        if (((uint32_t)(c->valid >> V_underlay_ipv4 & 1)) && ((sp_ld8(c->h_underlay_ipv4) & 0xf) == 5u)) {
            uint64_t sum157 = 0;
            sum157 += *(const uint32_t *)(c->h_underlay_ipv4);
            sum157 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
            sum157 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
            sum157 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
            sum157 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
            if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum157))) != sp_ld16(c->h_underlay_ipv4 + 10)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if (((uint32_t)(c->valid >> V_ipv4 & 1)) && (!((uint32_t)(c->valid >> V_ipv4_options & 1)))) {
            uint64_t sum158 = 0;
            sum158 += *(const uint32_t *)(c->h_ipv4);
            sum158 += *(const uint32_t *)(c->h_ipv4 + 4);
            sum158 += *(const uint16_t *)(c->h_ipv4 + 8);
            sum158 += *(const uint32_t *)(c->h_ipv4 + 12);
            sum158 += *(const uint32_t *)(c->h_ipv4 + 16);
            if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum158))) != sp_ld16(c->h_ipv4 + 10)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if ((uint32_t)(c->valid >> V_ipv4_options & 1)) {
            uint64_t sum159 = 0;
            if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                sum159 += (uint64_t)sp_ld32(c->h_ipv4);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4 + 4);
                sum159 += (uint64_t)sp_ld16(c->h_ipv4 + 8);
            }
            if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                sum159 += (uint64_t)sp_ld32(c->h_ipv4 + 12);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4 + 16);
            }
            if (1u) {
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 4);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 8);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 12);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 16);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 20);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 24);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 28);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 32);
                sum159 += (uint64_t)sp_ld32(c->h_ipv4_options + 36);
            }
            if (sp_fold(sum159) != (((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld16(c->h_ipv4 + 10) : 0)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if (((uint32_t)(c->valid >> V_inner_ipv4 & 1)) && (!((uint32_t)(c->valid >> V_inner_ipv4_options & 1)))) {
            uint64_t sum160 = 0;
            sum160 += *(const uint32_t *)(c->h_inner_ipv4);
            sum160 += *(const uint32_t *)(c->h_inner_ipv4 + 4);
            sum160 += *(const uint16_t *)(c->h_inner_ipv4 + 8);
            sum160 += *(const uint32_t *)(c->h_inner_ipv4 + 12);
            sum160 += *(const uint32_t *)(c->h_inner_ipv4 + 16);
            if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum160))) != sp_ld16(c->h_inner_ipv4 + 10)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if ((uint32_t)(c->valid >> V_inner_ipv4_options & 1)) {
            uint64_t sum161 = 0;
            if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4 + 4);
                sum161 += (uint64_t)sp_ld16(c->h_inner_ipv4 + 8);
            }
            if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4 + 12);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4 + 16);
            }
            if (1u) {
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 4);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 8);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 12);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 16);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 20);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 24);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 28);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 32);
                sum161 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 36);
            }
            if (sp_fold(sum161) != (((uint32_t)(c->valid >> V_inner_ipv4 & 1)) ? sp_ld16(c->h_inner_ipv4 + 10) : 0)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
    }
    /* ingress */
    {
        if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
            if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                c->v.meta_reason = 0x26u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_reason = 0x10u;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
        }
        if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
            c->v.meta_reason = 0x11u;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
        }
        c->v.UpfIngress_user_packet_reason = 0u;
        if ((uint32_t)(c->valid >> V_ipv4_options & 1)) {
            c->v.UpfIngress_user_packet_options_ihl = (((uint32_t)(c->valid >> V_ipv4 & 1)) ? (sp_ld8(c->h_ipv4) & 0xf) : 0);
            c->v.UpfIngress_user_packet_options_reason = 0u;
            c->v.UpfIngress_user_packet_options_option = ((uint32_t)c->v.meta_options & 0xff);
            c->v.UpfIngress_user_packet_options_seen = 4u;
            if (((((uint32_t)c->v.meta_options) >> 24) & 0xff) != 1u) {
                c->v.UpfIngress_user_packet_options_option = ((((uint32_t)c->v.meta_options) >> 24) & 0xff);
                c->v.UpfIngress_user_packet_options_seen = ((((uint32_t)c->v.meta_options) >> 16) & 0xff);
            } else {
                if (((((uint32_t)c->v.meta_options) >> 16) & 0xff) != 1u) {
                    c->v.UpfIngress_user_packet_options_option = ((((uint32_t)c->v.meta_options) >> 16) & 0xff);
                    c->v.UpfIngress_user_packet_options_seen = ((((((uint32_t)c->v.meta_options) >> 8) & 0xff) + 1u) & 0xff);
                } else {
                    if (((((uint32_t)c->v.meta_options) >> 8) & 0xff) != 1u) {
                        c->v.UpfIngress_user_packet_options_option = ((((uint32_t)c->v.meta_options) >> 8) & 0xff);
                        c->v.UpfIngress_user_packet_options_seen = ((((uint32_t)c->v.meta_options & 0xff) + 2u) & 0xff);
                    }
                }
            }
            c->v.UpfIngress_user_packet_options_all = ((((((uint32_t)c->v.UpfIngress_user_packet_options_ihl) - 5u) & 0xff) << 2) & 0xff);
            if ((((uint32_t)c->v.UpfIngress_user_packet_options_option) == 0x83u) || (((uint32_t)c->v.UpfIngress_user_packet_options_option) == 0x89u)) {
                c->v.UpfIngress_user_packet_options_reason = 0x27u;
            } else {
                if ((((uint32_t)c->v.UpfIngress_user_packet_options_option) != 0u) && ((((uint32_t)c->v.UpfIngress_user_packet_options_seen) < 2u) || ((((uint32_t)c->v.UpfIngress_user_packet_options_seen) < ((uint32_t)c->v.UpfIngress_user_packet_options_all)) && (((((uint32_t)c->v.UpfIngress_user_packet_options_all) - ((uint32_t)c->v.UpfIngress_user_packet_options_seen)) & 0xff) > 6u)))) {
                    c->v.UpfIngress_user_packet_options_reason = 0x26u;
                }
            }
            c->v.UpfIngress_user_packet_reason = (uint32_t)c->v.UpfIngress_user_packet_options_reason;
        }
        if (((uint32_t)(c->valid >> V_inner_ipv4_options & 1)) && (((uint32_t)c->v.UpfIngress_user_packet_reason) == 0u)) {
            c->v.UpfIngress_user_packet_options_ihl = (((uint32_t)(c->valid >> V_inner_ipv4 & 1)) ? (sp_ld8(c->h_inner_ipv4) & 0xf) : 0);
            c->v.UpfIngress_user_packet_options_reason = 0u;
            c->v.UpfIngress_user_packet_options_option_2 = ((uint32_t)c->v.meta_inner_options & 0xff);
            c->v.UpfIngress_user_packet_options_seen_2 = 4u;
            if (((((uint32_t)c->v.meta_inner_options) >> 24) & 0xff) != 1u) {
                c->v.UpfIngress_user_packet_options_option_2 = ((((uint32_t)c->v.meta_inner_options) >> 24) & 0xff);
                c->v.UpfIngress_user_packet_options_seen_2 = ((((uint32_t)c->v.meta_inner_options) >> 16) & 0xff);
            } else {
                if (((((uint32_t)c->v.meta_inner_options) >> 16) & 0xff) != 1u) {
                    c->v.UpfIngress_user_packet_options_option_2 = ((((uint32_t)c->v.meta_inner_options) >> 16) & 0xff);
                    c->v.UpfIngress_user_packet_options_seen_2 = ((((((uint32_t)c->v.meta_inner_options) >> 8) & 0xff) + 1u) & 0xff);
                } else {
                    if (((((uint32_t)c->v.meta_inner_options) >> 8) & 0xff) != 1u) {
                        c->v.UpfIngress_user_packet_options_option_2 = ((((uint32_t)c->v.meta_inner_options) >> 8) & 0xff);
                        c->v.UpfIngress_user_packet_options_seen_2 = ((((uint32_t)c->v.meta_inner_options & 0xff) + 2u) & 0xff);
                    }
                }
            }
            c->v.UpfIngress_user_packet_options_all_2 = ((((((uint32_t)c->v.UpfIngress_user_packet_options_ihl) - 5u) & 0xff) << 2) & 0xff);
            if ((((uint32_t)c->v.UpfIngress_user_packet_options_option_2) == 0x83u) || (((uint32_t)c->v.UpfIngress_user_packet_options_option_2) == 0x89u)) {
                c->v.UpfIngress_user_packet_options_reason = 0x27u;
            } else {
                if ((((uint32_t)c->v.UpfIngress_user_packet_options_option_2) != 0u) && ((((uint32_t)c->v.UpfIngress_user_packet_options_seen_2) < 2u) || ((((uint32_t)c->v.UpfIngress_user_packet_options_seen_2) < ((uint32_t)c->v.UpfIngress_user_packet_options_all_2)) && (((((uint32_t)c->v.UpfIngress_user_packet_options_all_2) - ((uint32_t)c->v.UpfIngress_user_packet_options_seen_2)) & 0xff) > 6u)))) {
                    c->v.UpfIngress_user_packet_options_reason = 0x26u;
                }
            }
            c->v.UpfIngress_user_packet_reason = (uint32_t)c->v.UpfIngress_user_packet_options_reason;
        }
        if (((uint32_t)c->v.meta_source_routed) == 1u) {
            c->v.UpfIngress_user_packet_reason = 0x27u;
        }
        if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
            c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
        }
        if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
            c->v.meta_user_is_inner = 1u;
            c->v.meta_ip_version = 4u;
            c->v.meta_src_v4 = sp_ld32(c->h_inner_ipv4 + 12);
            c->v.meta_dst_v4 = sp_ld32(c->h_inner_ipv4 + 16);
            c->v.meta_protocol = sp_ld8(c->h_inner_ipv4 + 9);
            c->v.meta_tos = sp_ld8(c->h_inner_ipv4 + 1);
            c->v.meta_pdu_length = sp_ld16(c->h_inner_ipv4 + 2);
            c->v.meta_header_length = ((sp_ld8(c->h_inner_ipv4) & 0xf) << 2);
        } else {
            if ((uint32_t)(c->valid >> V_inner_ipv6 & 1)) {
                c->v.meta_user_is_inner = 1u;
                c->v.meta_ip_version = 6u;
                c->v.meta_src_v6 = sp_ld128(c->h_inner_ipv6 + 8);
                c->v.meta_dst_v6 = sp_ld128(c->h_inner_ipv6 + 24);
                c->v.meta_protocol = sp_ld8(c->h_inner_ipv6 + 6);
                c->v.meta_tos = ((sp_ld16(c->h_inner_ipv6) >> 4) & 0xff);
                c->v.meta_pdu_length = (sp_ld16(c->h_inner_ipv6 + 4) + 0x28u);
                c->v.meta_header_length = 0x28u;
            } else {
                if ((uint32_t)(c->valid >> V_gtpu & 1)) {
                    c->v.meta_user_is_inner = 1u;
                } else {
                    if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                        c->v.meta_ip_version = 4u;
                        c->v.meta_src_v4 = sp_ld32(c->h_ipv4 + 12);
                        c->v.meta_dst_v4 = sp_ld32(c->h_ipv4 + 16);
                        c->v.meta_protocol = sp_ld8(c->h_ipv4 + 9);
                        c->v.meta_tos = sp_ld8(c->h_ipv4 + 1);
                        c->v.meta_pdu_length = sp_ld16(c->h_ipv4 + 2);
                        c->v.meta_header_length = ((sp_ld8(c->h_ipv4) & 0xf) << 2);
                    } else {
                        if ((uint32_t)(c->valid >> V_ipv6 & 1)) {
                            c->v.meta_ip_version = 6u;
                            c->v.meta_src_v6 = sp_ld128(c->h_ipv6 + 8);
                            c->v.meta_dst_v6 = sp_ld128(c->h_ipv6 + 24);
                            c->v.meta_protocol = sp_ld8(c->h_ipv6 + 6);
                            c->v.meta_tos = ((sp_ld16(c->h_ipv6) >> 4) & 0xff);
                            c->v.meta_pdu_length = (sp_ld16(c->h_ipv6 + 4) + 0x28u);
                            c->v.meta_header_length = 0x28u;
                        }
                    }
                }
            }
        }
        if ((uint32_t)(c->valid >> V_extension_1 & 1)) {
            c->v.meta_protocol = (uint32_t)c->v.meta_next_header;
            c->v.meta_header_length = (((uint32_t)c->v.meta_header_length) + ((uint32_t)c->v.meta_extension_bytes));
        }
        if ((uint32_t)(c->valid >> V_inner_ports & 1)) {
            c->v.meta_src_port = sp_ld16(c->h_inner_ports);
            c->v.meta_dst_port = sp_ld16(c->h_inner_ports + 2);
            c->v.meta_header_length = (((uint32_t)c->v.meta_header_length) + 4u);
        } else {
            if ((((uint32_t)c->v.meta_user_is_inner) == 0u) && ((uint32_t)(c->valid >> V_ports & 1))) {
                c->v.meta_src_port = sp_ld16(c->h_ports);
                c->v.meta_dst_port = sp_ld16(c->h_ports + 2);
                c->v.meta_header_length = (((uint32_t)c->v.meta_header_length) + 4u);
            }
        }
        if (((uint32_t)c->v.meta_ip_version) != 0u) {
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((uint32_t)(c->valid >> V_gtpu & 1)) {
                c->v.UpfIngress_user_packet_tunnel = (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu);
                c->v.UpfIngress_user_packet_udp = (((uint32_t)c->v.UpfIngress_user_packet_tunnel) + ((((uint32_t)(c->valid >> V_ipv4 & 1)) ? (sp_ld8(c->h_ipv4) & 0xf) : 0) << 2));
                c->v.UpfIngress_user_packet_gtpu_end = ((((uint32_t)c->v.UpfIngress_user_packet_udp) + 0x10u) + sp_ld16(c->h_gtpu + 2));
                c->v.UpfIngress_user_packet_udp_end = (((uint32_t)c->v.UpfIngress_user_packet_udp) + (((uint32_t)(c->valid >> V_udp_rest & 1)) ? sp_ld16(c->h_udp_rest) : 0));
                c->v.UpfIngress_user_packet_tunnel_end = (((uint32_t)c->v.UpfIngress_user_packet_tunnel) + (((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld16(c->h_ipv4 + 2) : 0));
                if ((((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.UpfIngress_user_packet_gtpu_end)) || (((uint32_t)c->v.UpfIngress_user_packet_gtpu_end) > ((uint32_t)c->v.UpfIngress_user_packet_udp_end))) || (((uint32_t)c->v.UpfIngress_user_packet_udp_end) > ((uint32_t)c->v.UpfIngress_user_packet_tunnel_end))) || (((uint32_t)c->v.UpfIngress_user_packet_tunnel_end) > ((uint32_t)c->v.standard_metadata_packet_length))) {
                    c->v.meta_reason = 0x12u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
        }
        if (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) && (!((uint32_t)(c->valid >> V_vxlan & 1)))) {
            if (sp_ld16(c->h_underlay_ethernet + 12) == 0x806u) {
                c->v.meta_reason = 1u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                goto end_of_ingress;
            }
            c->v.meta_reason = 0x19u;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
        }
        {
            if (c->slow_path & SP_BIT(0)) goto hand_on;
            struct sp_cell_station *e = sp_find_station(c, (((uint32_t)(c->valid >> V_ethernet & 1)) ? (sp_ld64(c->h_ethernet) >> 16) : 0), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
            if (e) {
                c->hits[0]++;
            } else {
                c->misses[0]++;
                e = sp_default_station(c);
            }
            c->v.UpfIngress_station_tmp = e->action;
            if (e->action == ACTION_route) {
                c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
            }
            else if (e->action == ACTION_loopback) {
                c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                c->v.meta_loopback = 1u;
            }
            else if (e->action == ACTION_group) {
                c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
            }
            else if (e->action == ACTION_UpfIngress_station_drop) {
                c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        {
            const uint32_t on162 = (uint32_t)c->v.UpfIngress_station_tmp;
            if (on162 == 2u) {
                if (((uint32_t)(c->valid >> V_ipv4 & 1)) || (((uint32_t)(c->valid >> V_ipv6 & 1)) && (((uint32_t)(sp_ld128(c->h_ipv6 + 24) >> 120) & 0xff) != 0xffu))) {
                    c->v.meta_reason = 0x2au;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
        }
        if ((uint32_t)(c->valid >> V_vxlan & 1)) {
            if (((uint32_t)((((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? (sp_ld64(c->h_underlay_ethernet) >> 16) : 0) >> 40) & 0x1) == 1u) {
                c->v.meta_reason = 0x2au;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                if (c->slow_path & SP_BIT(1)) goto hand_on;
                struct sp_cell_vxlan_termination *e = sp_find_vxlan_termination(c, (uint64_t)(((uint32_t)(c->valid >> V_underlay_ipv4 & 1)) ? sp_ld32(c->h_underlay_ipv4 + 16) : 0) | ((uint64_t)(sp_ld32(c->h_vxlan + 4) >> 8)) << 32);
                if (e) {
                    c->hits[1]++;
                } else {
                    c->misses[1]++;
                    e = sp_default_vxlan_termination(c);
                }
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
        }
        c->v.UpfIngress_session_remote_v4 = 0u;
        c->v.UpfIngress_session_local_v4 = 0u;
        c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
        c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
        c->v.UpfIngress_session_remote_port = 0u;
        c->v.UpfIngress_session_local_port = 0u;
        c->v.UpfIngress_session_flow_label = 0u;
        if ((uint32_t)(c->valid >> V_gtpu & 1)) {
            c->v.meta_uplink = 1u;
            c->v.UpfIngress_session_src = (((((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 12) : 0) >> 24) & 0xff);
            if (((((uint32_t)c->v.UpfIngress_session_src) == 0u) || (((uint32_t)c->v.UpfIngress_session_src) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src) == 0x7fu) || ((((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 12) : 0) == (((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 16) : 0))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                c->v.meta_reason = 0x28u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((sp_ld8(c->h_gtpu) >> 5) != 1u) || (((sp_ld8(c->h_gtpu) >> 4) & 0x1) != 1u)) {
                c->v.meta_reason = 0x16u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (sp_ld8(c->h_gtpu + 1) != 0xffu) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp = ACTION_not_local;
                } else {
                    if (c->slow_path & SP_BIT(5)) goto hand_on;
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)(((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 16) : 0));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on163 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on163 == 7u) {
                        c->v.meta_reason = 4u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_pdr_by_teid *e = sp_find_pdr_by_teid(c, (uint64_t)(((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 16) : 0) | ((uint64_t)sp_ld32(c->h_gtpu + 4)) << 32);
                if (e) {
                    c->hits[2]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_2 = 1u;
                } else {
                    c->misses[2]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_2 = 0u;
                    e = sp_default_pdr_by_teid(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_2)) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp_3 = ACTION_not_local;
                } else {
                    if (c->slow_path & SP_BIT(5)) goto hand_on;
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)(((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 16) : 0));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp_3 = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on164 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on164 == 7u) {
                        c->v.meta_reason = 5u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
        } else {
            if (((uint32_t)c->v.meta_ip_version) == 4u) {
                {
                    struct sp_cell_pdr_by_ue_ipv4 *e = sp_find_pdr_by_ue_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4));
                    if (e) {
                        c->hits[3]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                        c->v.UpfIngress_session_tmp_4 = 1u;
                    } else {
                        c->misses[3]++;
                        if (c->subset) goto hand_on;
                        c->v.UpfIngress_session_tmp_4 = 0u;
                        e = sp_default_pdr_by_ue_ipv4(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_classify) {
                        c->v.meta_classified = 1u;
                        c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                        c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                    }
                }
                if (!((uint32_t)c->v.UpfIngress_session_tmp_4)) {
                    c->v.UpfIngress_session_src_2 = (((((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 12) : 0) >> 24) & 0xff);
                    if (((((uint32_t)c->v.UpfIngress_session_src_2) == 0u) || (((uint32_t)c->v.UpfIngress_session_src_2) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src_2) == 0x7fu) || ((((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 12) : 0) == (((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 16) : 0))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                        c->v.meta_reason = 0x28u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    if (c->empty & SP_BIT(5)) {
                        c->misses[5]++;
                        c->v.UpfIngress_session_tmp_5 = ACTION_not_local;
                    } else {
                        if (c->slow_path & SP_BIT(5)) goto hand_on;
                        struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)(((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld32(c->h_ipv4 + 16) : 0));
                        if (e) {
                            c->hits[5]++;
                        } else {
                            c->misses[5]++;
                            e = sp_default_local_ipv4(c);
                        }
                        c->v.UpfIngress_session_tmp_5 = e->action;
                        if (e->action == ACTION_host) {
                            c->v.meta_reason = 3u;
                            c->v.standard_metadata_egress_spec = 0x1feu;
                            goto end_of_ingress;
                        }
                    }
                    {
                        const uint32_t on165 = (uint32_t)c->v.UpfIngress_session_tmp_5;
                        if (on165 == 7u) {
                            if (((((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld8(c->h_ipv4 + 9) : 0) == 0x11u) && (((((uint32_t)(c->valid >> V_ipv4 & 1)) ? ((sp_ld8(c->h_ipv4 + 6) >> 5) & 0x1) : 0) == 1u) || ((((uint32_t)(c->valid >> V_ipv4 & 1)) ? (sp_ld16(c->h_ipv4 + 6) & 0x1fff) : 0) != 0u))) {
                                c->v.meta_reason = 0x15u;
                                c->v.standard_metadata_egress_spec = 511u;
                                c->v.standard_metadata_mcast_grp = 0u;
                                goto end_of_ingress;
                            }
                            c->v.meta_reason = 3u;
                            c->v.standard_metadata_egress_spec = 0x1feu;
                            goto end_of_ingress;
                        }
                        else {
                            c->v.meta_reason = 0x1au;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
            } else {
                if (((uint32_t)c->v.meta_ip_version) == 6u) {
                    {
                        struct sp_cell_pdr_by_ue_ipv6 *e = sp_find_pdr_by_ue_ipv6(c, ((uint64_t)(((sp_u128)c->v.meta_dst_v6) >> 64)), (uint64_t)((uint32_t)c->v.meta_vrf));
                        if (e) {
                            c->hits[4]++;
                            if (!c->flow) {
                                c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                                *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                            } else {
                                if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                            }
                            c->v.UpfIngress_session_tmp_6 = 1u;
                        } else {
                            c->misses[4]++;
                            if (c->subset) goto hand_on;
                            c->v.UpfIngress_session_tmp_6 = 0u;
                            e = sp_default_pdr_by_ue_ipv6(c);
                        }
                        if (e->action == ACTION_set_pdr) {
                            if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                            if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                            if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                            if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                            if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                            c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                            c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                            c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                            c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                            c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                            c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                            c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                            c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                            c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                            c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                            c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                            c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                            c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                            c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                            c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                            c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                        }
                        else if (e->action == ACTION_classify) {
                            c->v.meta_classified = 1u;
                            c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                            c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                        }
                    }
                    if (!((uint32_t)c->v.UpfIngress_session_tmp_6)) {
                        if (((((((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) && (((uint32_t)((sp_u128)c->v.meta_src_v6)) != 0u)) || (((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 120) & 0xff) == 0xffu)) || (((sp_u128)c->v.meta_src_v6) == ((sp_u128)c->v.meta_dst_v6))) {
                            c->v.meta_reason = 0x28u;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                        if (c->empty & SP_BIT(6)) {
                            c->misses[6]++;
                        } else {
                            if (c->slow_path & SP_BIT(6)) goto hand_on;
                            struct sp_cell_local_ipv6 *e = 0;
                            struct sp_masks_local_ipv6 *masks = sp_masks_local_ipv6(c);
                            if (masks->count) {
                                const sp_u128 wide166 = (((uint32_t)(c->valid >> V_ipv6 & 1)) ? sp_ld128(c->h_ipv6 + 24) : 0);
                                c->key[0] = (uint64_t)wide166;
                                c->key[1] = (uint64_t)(wide166 >> 64);
                                c->key[2] = (uint64_t)((uint32_t)c->v.meta_vrf);
                                e = sp_find_local_ipv6(c, masks);
                            }
                            if (e) {
                                c->hits[6]++;
                            } else {
                                c->misses[6]++;
                                e = sp_default_local_ipv6(c);
                            }
                            if (e->action == ACTION_host) {
                                c->v.meta_reason = 3u;
                                c->v.standard_metadata_egress_spec = 0x1feu;
                                goto end_of_ingress;
                            }
                        }
                        c->v.meta_reason = 0x1au;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                } else {
                    if ((((uint32_t)(c->valid >> V_ethernet & 1)) ? sp_ld16(c->h_ethernet + 12) : 0) == 0x806u) {
                        c->v.meta_reason = 1u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    } else {
                        c->v.meta_reason = 0x14u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
        }
        if (((uint32_t)c->v.meta_ip_version) == 0u) {
            c->v.meta_reason = 0x14u;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
        }
        if (((uint32_t)c->v.meta_classified) == 1u) {
            if (((uint32_t)c->v.meta_uplink) == 1u) {
                c->v.UpfIngress_session_remote_v4 = (uint32_t)c->v.meta_dst_v4;
                c->v.UpfIngress_session_local_v4 = (uint32_t)c->v.meta_src_v4;
                c->v.UpfIngress_session_remote_v6 = (sp_u128)c->v.meta_dst_v6;
                c->v.UpfIngress_session_local_v6 = (sp_u128)c->v.meta_src_v6;
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_dst_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_src_port;
            } else {
                c->v.UpfIngress_session_remote_v4 = (uint32_t)c->v.meta_src_v4;
                c->v.UpfIngress_session_local_v4 = (uint32_t)c->v.meta_dst_v4;
                c->v.UpfIngress_session_remote_v6 = (sp_u128)c->v.meta_src_v6;
                c->v.UpfIngress_session_local_v6 = (sp_u128)c->v.meta_dst_v6;
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_src_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_dst_port;
            }
            if (((uint32_t)c->v.meta_ip_version) == 4u) {
                {
                    if (c->slow_path & SP_BIT(7)) goto hand_on;
                    struct sp_cell_sdf_ipv4 *e = 0;
                    struct sp_masks_sdf_ipv4 *masks = sp_masks_sdf_ipv4(c);
                    if (masks->count) {
                        c->key[0] = (uint64_t)((uint32_t)c->v.UpfIngress_session_remote_v4) | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_v4)) << 32;
                        c->key[1] = (uint64_t)((uint32_t)c->v.meta_filter_set) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 16 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_port)) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 56;
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_qfi);
                        e = sp_find_sdf_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[7]++;
                    } else {
                        c->misses[7]++;
                        e = sp_default_sdf_ipv4(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                c->v.UpfIngress_session_flow_label = ((((uint32_t)c->v.meta_user_is_inner) == 1u) ? (((uint32_t)(c->valid >> V_inner_ipv6 & 1)) ? ((sp_ld32(c->h_inner_ipv6 + 1) >> 8) & 0xfffff) : 0) : (((uint32_t)(c->valid >> V_ipv6 & 1)) ? ((sp_ld32(c->h_ipv6 + 1) >> 8) & 0xfffff) : 0));
                {
                    if (c->slow_path & SP_BIT(8)) goto hand_on;
                    struct sp_cell_sdf_ipv6 *e = 0;
                    struct sp_masks_sdf_ipv6 *masks = sp_masks_sdf_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide167 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide168 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide167;
                        c->key[1] = (uint64_t)(wide167 >> 64);
                        c->key[2] = (uint64_t)wide168;
                        c->key[3] = (uint64_t)(wide168 >> 64);
                        c->key[4] = ((uint64_t)((uint32_t)c->v.meta_filter_set)) << 32 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 48 | (uint64_t)((uint32_t)c->v.UpfIngress_session_flow_label);
                        c->key[5] = ((uint64_t)((uint32_t)c->v.meta_protocol)) << 16 | (uint64_t)((uint32_t)c->v.UpfIngress_session_local_port) | ((uint64_t)((uint32_t)c->v.meta_tos)) << 24 | ((uint64_t)((uint32_t)c->v.meta_qfi)) << 32;
                        e = sp_find_sdf_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[8]++;
                    } else {
                        c->misses[8]++;
                        e = sp_default_sdf_ipv6(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                if (e) {
                    c->hits[9]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                } else {
                    c->misses[9]++;
                    if (c->subset) goto hand_on;
                    e = sp_default_pdr_by_class(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_no_pdr) {
                    c->v.meta_reason = 0x1bu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
        }
        if (((uint32_t)c->v.meta_ip_version) == 4u) {
            if (c->empty & SP_BIT(10)) {
                c->misses[10]++;
            } else {
                if (c->slow_path & SP_BIT(10)) goto hand_on;
                struct sp_cell_firewall_v4 *e = 0;
                struct sp_masks_firewall_v4 *masks = sp_masks_firewall_v4(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v4(c, masks);
                }
                if (e) {
                    c->hits[10]++;
                } else {
                    c->misses[10]++;
                    e = sp_default_firewall_v4(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
        } else {
            if (((uint32_t)c->v.meta_ip_version) == 6u) {
                if (c->empty & SP_BIT(11)) {
                    c->misses[11]++;
                } else {
                    if (c->slow_path & SP_BIT(11)) goto hand_on;
                    struct sp_cell_firewall_v6 *e = 0;
                    struct sp_masks_firewall_v6 *masks = sp_masks_firewall_v6(c);
                    if (masks->count) {
                        const sp_u128 wide169 = (sp_u128)c->v.meta_src_v6;
                        const sp_u128 wide170 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide169;
                        c->key[1] = (uint64_t)(wide169 >> 64);
                        c->key[2] = (uint64_t)wide170;
                        c->key[3] = (uint64_t)(wide170 >> 64);
                        c->key[4] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                        e = sp_find_firewall_v6(c, masks);
                    }
                    if (e) {
                        c->hits[11]++;
                    } else {
                        c->misses[11]++;
                        e = sp_default_firewall_v6(c);
                    }
                    if (e->action == ACTION_deny) {
                        c->v.meta_reason = 0x21u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
        }
        if (((uint32_t)c->v.meta_disposition) != 0u) {
            if (((uint32_t)c->v.meta_disposition) == 2u) {
                c->v.standard_metadata_egress_spec = 0x1fdu;
                goto end_of_ingress;
            } else {
                if (((uint32_t)c->v.meta_disposition) == 3u) {
                    c->v.meta_reason = 0x1du;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 4u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            c->v.meta_reason = 0x1cu;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
        }
        if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
            if (((uint32_t)c->v.meta_ip_version) == 4u) {
                if ((((uint32_t)c->v.meta_ue_ipv4) == 0u) || (((uint32_t)c->v.meta_src_v4) != ((uint32_t)c->v.meta_ue_ipv4))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            } else {
                if ((((uint64_t)c->v.meta_ue_prefix) == 0x0ull) || (((uint64_t)(((sp_u128)c->v.meta_src_v6) >> 64)) != ((uint64_t)c->v.meta_ue_prefix))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
        }
        if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
            if (((uint32_t)c->v.meta_ip_version) == 4u) {
                c->v.UpfIngress_enforce_src = ((((uint32_t)c->v.meta_src_v4) >> 24) & 0xff);
                c->v.UpfIngress_enforce_dst = ((((uint32_t)c->v.meta_dst_v4) >> 24) & 0xff);
                if (((((((uint32_t)c->v.UpfIngress_enforce_src) == 0u) || (((uint32_t)c->v.UpfIngress_enforce_src) >= 0xe0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xf0u)) || (((((uint32_t)c->v.UpfIngress_enforce_src) == 0x7fu) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0x7fu)) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xe0u) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                if (((((((((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 118) & 0x3ff) == 0x3fau)) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 118) & 0x3ff) == 0x3fau)) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 120) & 0xff) == 0xffu) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
        }
        if ((uint32_t)(c->valid >> V_gtpu_numbers & 1)) {
            if ((((uint32_t)c->v.meta_unknown_extension) == 1u) || ((((uint32_t)c->v.meta_endpoint_extension) == 1u) && (((uint32_t)c->v.meta_encapsulation) == 0u))) {
                c->v.meta_reason = 4u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                goto end_of_ingress;
            }
        }
        if (c->empty & SP_BIT(12)) {
            c->misses[12]++;
        } else {
            if (c->slow_path & SP_BIT(12)) goto hand_on;
            struct sp_cell_traffic_class *e = 0;
            struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
            if (masks->count) {
                c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                c->key[1] = ((uint64_t)((uint32_t)c->v.meta_ip_version)) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                e = sp_find_traffic_class(c, masks);
            }
            if (e) {
                c->hits[12]++;
            } else {
                c->misses[12]++;
                e = sp_default_traffic_class(c);
            }
            if (e->action == ACTION_set_class) {
                if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
            }
        }
        c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
        if (((uint32_t)c->v.meta_encapsulation) == 1u) {
            c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
        } else {
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
            }
        }
        if (((uint32_t)c->v.meta_encapsulation) != 0u) {
            c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
            {
                if (c->slow_path & SP_BIT(13)) goto hand_on;
                struct sp_cell_route_ipv4 *e = 0;
                struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                if (masks->count) {
                    c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                    e = sp_find_route_ipv4(c, masks);
                }
                if (e) {
                    c->hits[13]++;
                } else {
                    c->misses[13]++;
                    e = sp_default_route_ipv4(c);
                }
                if (e->action == ACTION_set_nexthop) {
                    c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)(c->valid >> V_gtpu_psc & 1)) || ((uint32_t)(c->valid >> V_gtpu_numbers & 1))) {
                if ((uint32_t)(c->valid >> V_gtpu_psc & 1)) {
                    c->v.meta_relayed_bytes = 4u;
                    c->v.meta_container_bytes = 4u;
                }
                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) - ((uint32_t)c->v.meta_container_bytes)) & 0xffff);
                    c->v.meta_container_bytes = 0u;
                }
                if ((((uint32_t)c->v.meta_encapsulation) != 1u) && (((uint32_t)c->v.meta_container_bytes) == 0u)) {
                    c->v.meta_new_container = 1u;
                    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + 4u) & 0xffff);
                }
                c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + ((uint32_t)c->v.meta_relayed_bytes));
                if (((((uint32_t)c->v.meta_relayed_bytes) != 0u) || ((((uint32_t)(c->valid >> V_gtpu & 1)) ? ((sp_ld8(c->h_gtpu) >> 1) & 0x1) : 0) == 1u)) || ((((uint32_t)(c->valid >> V_gtpu & 1)) ? (sp_ld8(c->h_gtpu) & 0x1) : 0) == 1u)) {
                    c->v.meta_out_length = (((uint32_t)c->v.meta_out_length) + 4u);
                }
            }
        } else {
            if (((uint32_t)c->v.meta_ip_version) == 4u) {
                {
                    if (c->slow_path & SP_BIT(13)) goto hand_on;
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                {
                    if (c->slow_path & SP_BIT(14)) goto hand_on;
                    struct sp_cell_route_ipv6 *e = 0;
                    struct sp_masks_route_ipv6 *masks = sp_masks_route_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide171 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide171;
                        c->key[1] = (uint64_t)(wide171 >> 64);
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_out_vrf);
                        e = sp_find_route_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[14]++;
                    } else {
                        c->misses[14]++;
                        e = sp_default_route_ipv6(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
        }
        {
            if (c->slow_path & SP_BIT(15)) goto hand_on;
            struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
            if (e) {
                c->hits[15]++;
            } else {
                c->misses[15]++;
                e = sp_default_nexthop(c);
            }
            if (e->action == ACTION_send) {
                c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                c->valid &= ~SP_BIT(V_underlay_ethernet);
                c->valid &= ~SP_BIT(V_underlay_ipv4);
                c->valid &= ~SP_BIT(V_underlay_udp);
                c->valid &= ~SP_BIT(V_vxlan);
                c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac)); }
                if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac)); }
            }
            else if (e->action == ACTION_send_vxlan) {
                c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                c->valid &= ~SP_BIT(V_underlay_ethernet);
                c->valid &= ~SP_BIT(V_underlay_ipv4);
                c->valid &= ~SP_BIT(V_underlay_udp);
                c->valid &= ~SP_BIT(V_vxlan);
                c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac)); }
                if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac)); }
                c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                sp_zero(c->h_underlay_ethernet, 14);
                c->valid |= SP_BIT(V_underlay_ethernet);
                sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                sp_zero(c->h_underlay_ipv4, 20);
                c->valid |= SP_BIT(V_underlay_ipv4);
                sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_underlay_ipv4 + 1, 0u);
                sp_st16(c->h_underlay_ipv4 + 4, 0u);
                sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st16(c->h_underlay_ipv4 + 10, 0u);
                sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                sp_zero(c->h_underlay_udp, 8);
                c->valid |= SP_BIT(V_underlay_udp);
                sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                sp_st16(c->h_underlay_udp + 6, 0u);
                sp_zero(c->h_vxlan, 8);
                c->valid |= SP_BIT(V_vxlan);
                sp_st8(c->h_vxlan, 8u);
                sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                sp_st24(c->h_vxlan + 1, 0u);
                sp_st8(c->h_vxlan + 7, 0u);
            }
            else if (e->action == ACTION_unresolved) {
                c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                c->v.meta_reason = 6u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                goto end_of_ingress;
            }
            else if (e->action == ACTION_UpfIngress_route_drop) {
                c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
            if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_inner_ipv4 + 8);
            } else {
                if ((uint32_t)(c->valid >> V_inner_ipv6 & 1)) {
                    c->v.UpfIngress_route_ttl = sp_ld8(c->h_inner_ipv6 + 7);
                } else {
                    if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                        c->v.UpfIngress_route_ttl = sp_ld8(c->h_ipv4 + 8);
                    } else {
                        c->v.UpfIngress_route_ttl = (((uint32_t)(c->valid >> V_ipv6 & 1)) ? sp_ld8(c->h_ipv6 + 7) : 0);
                    }
                }
            }
            if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                c->valid &= ~SP_BIT(V_underlay_ethernet);
                c->valid &= ~SP_BIT(V_underlay_ipv4);
                c->valid &= ~SP_BIT(V_underlay_udp);
                c->valid &= ~SP_BIT(V_vxlan);
                c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                c->v.meta_reason = 0x23u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                c->valid &= ~SP_BIT(V_underlay_ethernet);
                c->valid &= ~SP_BIT(V_underlay_ipv4);
                c->valid &= ~SP_BIT(V_underlay_udp);
                c->valid &= ~SP_BIT(V_vxlan);
                c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 0x1feu;
                goto end_of_ingress;
            }
        } else {
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        c->v.UpfIngress_police_colour = 0u;
        if (((uint32_t)c->v.meta_meter_1) != 0u) {
            {
                uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                if (colour == SP_BUSY) goto failed;
                c->v.UpfIngress_police_colour = (colour & 0x3);
            }
            if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                    c->v.meta_reason = 0x1eu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x20u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        if (((uint32_t)c->v.meta_meter_2) != 0u) {
            {
                uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                if (colour == SP_BUSY) goto failed;
                c->v.UpfIngress_police_colour = (colour & 0x3);
            }
            if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                    c->v.meta_reason = 0x1eu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x20u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        if (((uint32_t)c->v.meta_meter_3) != 0u) {
            {
                uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                if (colour == SP_BUSY) goto failed;
                c->v.UpfIngress_police_colour = (colour & 0x3);
            }
            if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                    c->v.meta_reason = 0x1eu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x20u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        if (((uint32_t)c->v.meta_class_meter) != 0u) {
            {
                uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                if (colour == SP_BUSY) goto failed;
                c->v.UpfIngress_police_colour = (colour & 0x3);
            }
            if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                c->v.meta_reason = 0x22u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
            if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(c->h_inner_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(c->h_inner_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl);
                sp_st16(c->h_inner_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum);
            } else {
                if ((uint32_t)(c->valid >> V_inner_ipv6 & 1)) {
                    sp_st8(c->h_inner_ipv6 + 7, ((sp_ld8(c->h_inner_ipv6 + 7) - 1u) & 0xff));
                } else {
                    if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                        c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2 = sp_ld8(c->h_ipv4 + 8);
                        c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2 = sp_ld16(c->h_ipv4 + 10);
                        c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2) - 1u) & 0xff);
                        c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2) + 0x100u) & 0x1ffff);
                        c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff));
                        sp_st8(c->h_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2);
                        sp_st16(c->h_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2);
                    } else {
                        if ((uint32_t)(c->valid >> V_ipv6 & 1)) { sp_st8(c->h_ipv6 + 7, (((((uint32_t)(c->valid >> V_ipv6 & 1)) ? sp_ld8(c->h_ipv6 + 7) : 0) - 1u) & 0xff)); }
                    }
                }
            }
        }
        if (((uint32_t)c->v.meta_encapsulation) == 0u) {
            if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st16(c->h_ethernet + 12, ((((uint32_t)c->v.meta_ip_version) == 4u) ? 0x800u : 0x86ddu)); }
            if ((uint32_t)(c->valid >> V_gtpu & 1)) {
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ipv4_options);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
                c->valid &= ~SP_BIT(V_gtpu_optional);
                c->valid &= ~SP_BIT(V_gtpu_psc);
                c->valid &= ~SP_BIT(V_gtpu_numbers);
                c->valid &= ~SP_BIT(V_gtpu_extension_1);
                c->valid &= ~SP_BIT(V_gtpu_extension_2);
                c->valid &= ~SP_BIT(V_gtpu_extension_3);
                c->valid &= ~SP_BIT(V_gtpu_extension_4);
                c->valid &= ~SP_BIT(V_gtpu_end);
            }
        } else {
            if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st16(c->h_ethernet + 12, 0x800u); }
            c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
            if (!(c->valid & SP_BIT(V_tunnel_ipv4))) { sp_zero(c->h_tunnel_ipv4, 20); }
            c->valid |= SP_BIT(V_tunnel_ipv4);
            sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
            sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
            sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
            sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
            sp_st16(c->h_tunnel_ipv4 + 4, 0u);
            sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
            sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
            sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
            sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
            sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
            sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
            sp_st16(c->h_tunnel_ipv4 + 10, 0u);
            sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
            sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
            if (!(c->valid & SP_BIT(V_tunnel_udp))) { sp_zero(c->h_tunnel_udp, 8); }
            c->valid |= SP_BIT(V_tunnel_udp);
            sp_st16(c->h_tunnel_udp, 0x868u);
            sp_st16(c->h_tunnel_udp + 2, 0x868u);
            sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
            sp_st16(c->h_tunnel_udp + 6, 0u);
            if (!(c->valid & SP_BIT(V_tunnel_gtpu))) { sp_zero(c->h_tunnel_gtpu, 8); }
            c->valid |= SP_BIT(V_tunnel_gtpu);
            sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
            sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
            sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
            sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
            sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
            sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
            sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
            sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
            sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
            if (((uint32_t)(c->valid >> V_gtpu_psc & 1)) || ((uint32_t)(c->valid >> V_gtpu_numbers & 1))) {
                c->v.UpfIngress_tunnel_relay_pdu_type = 0u;
                c->v.UpfIngress_tunnel_relay_qfi = 0u;
                c->v.UpfIngress_tunnel_relay_kept = 0xffu;
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_relay_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 0x10u : 0u);
                    if ((((uint32_t)c->v.meta_flags) & 0x40u) == 0u) {
                        c->v.UpfIngress_tunnel_relay_qfi = (uint32_t)c->v.meta_psc_qos;
                        c->v.UpfIngress_tunnel_relay_kept = 0xc0u;
                    }
                }
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(((((uint32_t)c->v.meta_relayed_bytes) == 0u) ? 0u : 1u)) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)((((uint32_t)(c->valid >> V_gtpu & 1)) ? ((sp_ld8(c->h_gtpu) >> 1) & 0x1) : 0)) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)((((uint32_t)(c->valid >> V_gtpu & 1)) ? (sp_ld8(c->h_gtpu) & 0x1) : 0)));
                c->v.UpfIngress_tunnel_relay_empty = (((((uint32_t)c->v.meta_relayed_bytes) == 0u) && ((((uint32_t)(c->valid >> V_gtpu & 1)) ? ((sp_ld8(c->h_gtpu) >> 1) & 0x1) : 0) == 0u)) && ((((uint32_t)(c->valid >> V_gtpu & 1)) ? (sp_ld8(c->h_gtpu) & 0x1) : 0) == 0u));
                if ((uint32_t)(c->valid >> V_gtpu_psc & 1)) {
                    if (((uint32_t)c->v.meta_new_container) == 1u) {
                        sp_st8(c->h_gtpu_psc + 1, (sp_ld8(c->h_gtpu_psc + 1) & 0xfu) | ((uint32_t)(((((uint32_t)c->v.UpfIngress_tunnel_relay_pdu_type) >> 4) & 0xf)) << 4));
                        sp_st8(c->h_gtpu_psc + 1, (sp_ld8(c->h_gtpu_psc + 1) & 0xf0u) | (uint32_t)(0u));
                        sp_st8(c->h_gtpu_psc + 2, (uint32_t)c->v.meta_psc_qos);
                    } else {
                        if ((((uint32_t)c->v.meta_flags) & 0x20u) == 0u) {
                            sp_st8(c->h_gtpu_psc + 2, ((sp_ld8(c->h_gtpu_psc + 2) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                        } else {
                            c->valid &= ~SP_BIT(V_gtpu_psc);
                            if ((uint32_t)(c->valid >> V_gtpu_optional & 1)) { sp_st8(c->h_gtpu_optional + 3, 0u); }
                            if ((uint32_t)c->v.UpfIngress_tunnel_relay_empty) {
                                c->valid &= ~SP_BIT(V_gtpu_optional);
                            }
                        }
                    }
                } else {
                    if ((uint32_t)(c->valid >> V_gtpu_extension_1 & 1)) {
                        if (((sp_ld8(c->h_gtpu_extension_1) >> 6) & 0x3) == 1u) {
                            c->valid &= ~SP_BIT(V_gtpu_extension_1);
                        } else {
                            if (sp_ld8(c->h_gtpu_extension_1) == 0x85u) {
                                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                                    c->valid &= ~SP_BIT(V_gtpu_extension_1);
                                } else {
                                    sp_st8(c->h_gtpu_extension_1 + 3, ((sp_ld8(c->h_gtpu_extension_1 + 3) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                                }
                            }
                        }
                    }
                    if ((uint32_t)(c->valid >> V_gtpu_extension_2 & 1)) {
                        if (((sp_ld8(c->h_gtpu_extension_2) >> 6) & 0x3) == 1u) {
                            c->valid &= ~SP_BIT(V_gtpu_extension_2);
                        } else {
                            if (sp_ld8(c->h_gtpu_extension_2) == 0x85u) {
                                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                                    c->valid &= ~SP_BIT(V_gtpu_extension_2);
                                } else {
                                    sp_st8(c->h_gtpu_extension_2 + 3, ((sp_ld8(c->h_gtpu_extension_2 + 3) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                                }
                            }
                        }
                    }
                    if ((uint32_t)(c->valid >> V_gtpu_extension_3 & 1)) {
                        if (((sp_ld8(c->h_gtpu_extension_3) >> 6) & 0x3) == 1u) {
                            c->valid &= ~SP_BIT(V_gtpu_extension_3);
                        } else {
                            if (sp_ld8(c->h_gtpu_extension_3) == 0x85u) {
                                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                                    c->valid &= ~SP_BIT(V_gtpu_extension_3);
                                } else {
                                    sp_st8(c->h_gtpu_extension_3 + 3, ((sp_ld8(c->h_gtpu_extension_3 + 3) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                                }
                            }
                        }
                    }
                    if ((uint32_t)(c->valid >> V_gtpu_extension_4 & 1)) {
                        if (((sp_ld8(c->h_gtpu_extension_4) >> 6) & 0x3) == 1u) {
                            c->valid &= ~SP_BIT(V_gtpu_extension_4);
                        } else {
                            if (sp_ld8(c->h_gtpu_extension_4) == 0x85u) {
                                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                                    c->valid &= ~SP_BIT(V_gtpu_extension_4);
                                } else {
                                    sp_st8(c->h_gtpu_extension_4 + 3, ((sp_ld8(c->h_gtpu_extension_4 + 3) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                                }
                            }
                        }
                    }
                    if ((uint32_t)(c->valid >> V_gtpu_end & 1)) { sp_st8(c->h_gtpu_end, 0u); }
                    if (((uint32_t)c->v.meta_new_container) == 1u) {
                        if (!(c->valid & SP_BIT(V_gtpu_container))) { sp_zero(c->h_gtpu_container, 4); }
                        c->valid |= SP_BIT(V_gtpu_container);
                        sp_st8(c->h_gtpu_container, 0x85u);
                        sp_st8(c->h_gtpu_container + 1, 1u);
                        sp_st8(c->h_gtpu_container + 2, (uint32_t)c->v.UpfIngress_tunnel_relay_pdu_type);
                        sp_st8(c->h_gtpu_container + 3, (uint32_t)c->v.meta_psc_qos);
                    } else {
                        if ((uint32_t)c->v.UpfIngress_tunnel_relay_empty) {
                            c->valid &= ~SP_BIT(V_gtpu_numbers);
                            c->valid &= ~SP_BIT(V_gtpu_end);
                        }
                    }
                }
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_add_session_container_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 1u : 0u);
                    sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2));
                    if (!(c->valid & SP_BIT(V_tunnel_optional))) { sp_zero(c->h_tunnel_optional, 4); }
                    c->valid |= SP_BIT(V_tunnel_optional);
                    sp_st16(c->h_tunnel_optional, 0u);
                    sp_st8(c->h_tunnel_optional + 2, 0u);
                    sp_st8(c->h_tunnel_optional + 3, 0x85u);
                    if (!(c->valid & SP_BIT(V_tunnel_psc))) { sp_zero(c->h_tunnel_psc, 4); }
                    c->valid |= SP_BIT(V_tunnel_psc);
                    sp_st8(c->h_tunnel_psc, 1u);
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xfu) | ((uint32_t)((uint32_t)c->v.UpfIngress_tunnel_add_session_container_pdu_type) << 4));
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_tunnel_psc + 2, (uint32_t)c->v.meta_psc_qos);
                    sp_st8(c->h_tunnel_psc + 3, 0u);
                }
            }
            if ((uint32_t)(c->valid >> V_gtpu & 1)) {
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ipv4_options);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            }
        }
        c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
        if (((uint32_t)c->v.meta_usage) != 0u) {
            sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
        }
    }
end_of_ingress:;
    if (c->v.standard_metadata_egress_spec == 511) goto dropped;
    c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
    /* compute_checksum */
    {
        if ((uint32_t)(c->valid >> V_tunnel_ipv4 & 1)) {
            uint64_t sum172 = 0;
            sum172 += *(const uint32_t *)(c->h_tunnel_ipv4);
            sum172 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
            sum172 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
            sum172 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
            sum172 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
            sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum172)));
        }
        if ((uint32_t)(c->valid >> V_underlay_ipv4 & 1)) {
            uint64_t sum173 = 0;
            sum173 += *(const uint32_t *)(c->h_underlay_ipv4);
            sum173 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
            sum173 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
            sum173 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
            sum173 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
            sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum173)));
        }
    }
    /* deparser */
    {
        c->v.emit[0] = 0;
        if ((uint32_t)(c->valid >> V_underlay_ethernet & 1)) { c->v.emit[0] = (uint16_t)(emitted + 1); emitted += 14; }
        c->v.emit[1] = 0;
        if ((uint32_t)(c->valid >> V_underlay_ipv4 & 1)) { c->v.emit[1] = (uint16_t)(emitted + 1); emitted += 20; }
        c->v.emit[2] = 0;
        if ((uint32_t)(c->valid >> V_underlay_udp & 1)) { c->v.emit[2] = (uint16_t)(emitted + 1); emitted += 8; }
        c->v.emit[3] = 0;
        if ((uint32_t)(c->valid >> V_vxlan & 1)) { c->v.emit[3] = (uint16_t)(emitted + 1); emitted += 8; }
        c->v.emit[4] = 0;
        if ((uint32_t)(c->valid >> V_ethernet & 1)) { c->v.emit[4] = (uint16_t)(emitted + 1); emitted += 14; }
        c->v.emit[5] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_ipv4 & 1)) { c->v.emit[5] = (uint16_t)(emitted + 1); emitted += 20; }
        c->v.emit[6] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_udp & 1)) { c->v.emit[6] = (uint16_t)(emitted + 1); emitted += 8; }
        c->v.emit[7] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_gtpu & 1)) { c->v.emit[7] = (uint16_t)(emitted + 1); emitted += 8; }
        c->v.emit[8] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_optional & 1)) { c->v.emit[8] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[9] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_psc & 1)) { c->v.emit[9] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[10] = 0;
        if ((uint32_t)(c->valid >> V_ipv4 & 1)) { c->v.emit[10] = (uint16_t)(emitted + 1); emitted += 20; }
        c->v.emit[11] = 0;
        if ((uint32_t)(c->valid >> V_ipv4_options & 1)) { c->v.emit[11] = (uint16_t)(emitted + 1); emitted += 0 + c->len_ipv4_options; }
        c->v.emit[12] = 0;
        if ((uint32_t)(c->valid >> V_ipv6 & 1)) { c->v.emit[12] = (uint16_t)(emitted + 1); emitted += 40; }
        c->v.emit[13] = 0;
        if ((uint32_t)(c->valid >> V_ports & 1)) { c->v.emit[13] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[14] = 0;
        if ((uint32_t)(c->valid >> V_udp_rest & 1)) { c->v.emit[14] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[15] = 0;
        if ((uint32_t)(c->valid >> V_gtpu & 1)) { c->v.emit[15] = (uint16_t)(emitted + 1); emitted += 8; }
        c->v.emit[16] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_optional & 1)) { c->v.emit[16] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[17] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_psc & 1)) { c->v.emit[17] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[18] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_numbers & 1)) { c->v.emit[18] = (uint16_t)(emitted + 1); emitted += 3; }
        c->v.emit[19] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_container & 1)) { c->v.emit[19] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[20] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_extension_1 & 1)) { c->v.emit[20] = (uint16_t)(emitted + 1); emitted += 4 + c->len_gtpu_extension_1; }
        c->v.emit[21] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_extension_2 & 1)) { c->v.emit[21] = (uint16_t)(emitted + 1); emitted += 4 + c->len_gtpu_extension_2; }
        c->v.emit[22] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_extension_3 & 1)) { c->v.emit[22] = (uint16_t)(emitted + 1); emitted += 4 + c->len_gtpu_extension_3; }
        c->v.emit[23] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_extension_4 & 1)) { c->v.emit[23] = (uint16_t)(emitted + 1); emitted += 4 + c->len_gtpu_extension_4; }
        c->v.emit[24] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_end & 1)) { c->v.emit[24] = (uint16_t)(emitted + 1); emitted += 1; }
        c->v.emit[25] = 0;
        if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) { c->v.emit[25] = (uint16_t)(emitted + 1); emitted += 20; }
        c->v.emit[26] = 0;
        if ((uint32_t)(c->valid >> V_inner_ipv4_options & 1)) { c->v.emit[26] = (uint16_t)(emitted + 1); emitted += 0 + c->len_inner_ipv4_options; }
        c->v.emit[27] = 0;
        if ((uint32_t)(c->valid >> V_inner_ipv6 & 1)) { c->v.emit[27] = (uint16_t)(emitted + 1); emitted += 40; }
        c->v.emit[28] = 0;
        if ((uint32_t)(c->valid >> V_extension_1 & 1)) { c->v.emit[28] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_1; }
        c->v.emit[29] = 0;
        if ((uint32_t)(c->valid >> V_extension_2 & 1)) { c->v.emit[29] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_2; }
        c->v.emit[30] = 0;
        if ((uint32_t)(c->valid >> V_extension_3 & 1)) { c->v.emit[30] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_3; }
        c->v.emit[31] = 0;
        if ((uint32_t)(c->valid >> V_extension_4 & 1)) { c->v.emit[31] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_4; }
        c->v.emit[32] = 0;
        if ((uint32_t)(c->valid >> V_inner_ports & 1)) { c->v.emit[32] = (uint16_t)(emitted + 1); emitted += 4; }
    }
    if (emitted > SP_HEADROOM + c->cursor || emitted + (c->length - c->cursor) > SP_MAX_PACKET) goto no_room;
    c->out_port = c->v.standard_metadata_egress_port;
    const int here = c->out_port != 510 && c->out_port != 509;
    if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
    const uint32_t whole = c->length - c->cursor + emitted;
    if (whole > c->keep && c->keep < 14) goto failed;
    c->keep = whole > c->keep ? whole - c->keep : 0;
    if (emitted != c->cursor) {
        if (bpf_xdp_adjust_head(ctx, (int32_t)c->cursor - (int32_t)emitted)) goto failed;
    }
    data = (uint8_t *)(long)ctx->data;
    end = (uint8_t *)(long)ctx->data_end;
    if (*(volatile uint16_t *)&c->v.emit[0]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[0] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 14 > end) goto failed;
        sp_copy(p, c->h_underlay_ethernet, 14);
    }
    if (*(volatile uint16_t *)&c->v.emit[1]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[1] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 20 > end) goto failed;
        sp_copy(p, c->h_underlay_ipv4, 20);
    }
    if (*(volatile uint16_t *)&c->v.emit[2]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[2] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_underlay_udp, 8);
    }
    if (*(volatile uint16_t *)&c->v.emit[3]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[3] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_vxlan, 8);
    }
    if (*(volatile uint16_t *)&c->v.emit[4]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[4] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 14 > end) goto failed;
        sp_copy(p, c->h_ethernet, 14);
    }
    if (*(volatile uint16_t *)&c->v.emit[5]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[5] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 20 > end) goto failed;
        sp_copy(p, c->h_tunnel_ipv4, 20);
    }
    if (*(volatile uint16_t *)&c->v.emit[6]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[6] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_tunnel_udp, 8);
    }
    if (*(volatile uint16_t *)&c->v.emit[7]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[7] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_tunnel_gtpu, 8);
    }
    if (*(volatile uint16_t *)&c->v.emit[8]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[8] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_tunnel_optional, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[9]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[9] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_tunnel_psc, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[10]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[10] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 20 > end) goto failed;
        sp_copy(p, c->h_ipv4, 20);
    }
    if (*(volatile uint16_t *)&c->v.emit[11]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[11] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 0 > end) goto failed;
        uint32_t varbit = *(volatile uint32_t *)&c->len_ipv4_options;
        if (varbit > 0 && varbit <= 40) {
            if (bpf_xdp_store_bytes(ctx, at + 0, c->h_ipv4_options + 0, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[12]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[12] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 40 > end) goto failed;
        sp_copy(p, c->h_ipv6, 40);
    }
    if (*(volatile uint16_t *)&c->v.emit[13]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[13] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_ports, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[14]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[14] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_udp_rest, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[15]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[15] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_gtpu, 8);
    }
    if (*(volatile uint16_t *)&c->v.emit[16]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[16] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_optional, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[17]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[17] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_psc, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[18]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[18] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 3 > end) goto failed;
        sp_copy(p, c->h_gtpu_numbers, 3);
    }
    if (*(volatile uint16_t *)&c->v.emit[19]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[19] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_container, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[20]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[20] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_extension_1, 4);
        uint32_t varbit = *(volatile uint32_t *)&c->len_gtpu_extension_1;
        if (varbit > 0 && varbit <= 60) {
            if (bpf_xdp_store_bytes(ctx, at + 4, c->h_gtpu_extension_1 + 4, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[21]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[21] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_extension_2, 4);
        uint32_t varbit = *(volatile uint32_t *)&c->len_gtpu_extension_2;
        if (varbit > 0 && varbit <= 60) {
            if (bpf_xdp_store_bytes(ctx, at + 4, c->h_gtpu_extension_2 + 4, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[22]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[22] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_extension_3, 4);
        uint32_t varbit = *(volatile uint32_t *)&c->len_gtpu_extension_3;
        if (varbit > 0 && varbit <= 60) {
            if (bpf_xdp_store_bytes(ctx, at + 4, c->h_gtpu_extension_3 + 4, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[23]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[23] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_extension_4, 4);
        uint32_t varbit = *(volatile uint32_t *)&c->len_gtpu_extension_4;
        if (varbit > 0 && varbit <= 60) {
            if (bpf_xdp_store_bytes(ctx, at + 4, c->h_gtpu_extension_4 + 4, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[24]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[24] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 1 > end) goto failed;
        sp_copy(p, c->h_gtpu_end, 1);
    }
    if (*(volatile uint16_t *)&c->v.emit[25]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[25] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 20 > end) goto failed;
        sp_copy(p, c->h_inner_ipv4, 20);
    }
    if (*(volatile uint16_t *)&c->v.emit[26]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[26] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 0 > end) goto failed;
        uint32_t varbit = *(volatile uint32_t *)&c->len_inner_ipv4_options;
        if (varbit > 0 && varbit <= 40) {
            if (bpf_xdp_store_bytes(ctx, at + 0, c->h_inner_ipv4_options + 0, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[27]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[27] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 40 > end) goto failed;
        sp_copy(p, c->h_inner_ipv6, 40);
    }
    if (*(volatile uint16_t *)&c->v.emit[28]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[28] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_extension_1, 8);
        uint32_t varbit = *(volatile uint32_t *)&c->len_extension_1;
        if (varbit > 0 && varbit <= 56) {
            if (bpf_xdp_store_bytes(ctx, at + 8, c->h_extension_1 + 8, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[29]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[29] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_extension_2, 8);
        uint32_t varbit = *(volatile uint32_t *)&c->len_extension_2;
        if (varbit > 0 && varbit <= 56) {
            if (bpf_xdp_store_bytes(ctx, at + 8, c->h_extension_2 + 8, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[30]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[30] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_extension_3, 8);
        uint32_t varbit = *(volatile uint32_t *)&c->len_extension_3;
        if (varbit > 0 && varbit <= 56) {
            if (bpf_xdp_store_bytes(ctx, at + 8, c->h_extension_3 + 8, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[31]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[31] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_extension_4, 8);
        uint32_t varbit = *(volatile uint32_t *)&c->len_extension_4;
        if (varbit > 0 && varbit <= 56) {
            if (bpf_xdp_store_bytes(ctx, at + 8, c->h_extension_4 + 8, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[32]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[32] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_inner_ports, 4);
    }
    if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
    sp_commit(c);
    return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
    
#ifndef SP_SIMPLE
class_1:;
    {
        /* verify_checksum */
        {
            {
                uint64_t sum71 = 0;
                sum71 += *(const uint32_t *)(c->h_ipv4);
                sum71 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum71 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum71 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum71 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum71))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
            {
                uint64_t sum72 = 0;
                sum72 += *(const uint32_t *)(c->h_inner_ipv4);
                sum72 += *(const uint32_t *)(c->h_inner_ipv4 + 4);
                sum72 += *(const uint16_t *)(c->h_inner_ipv4 + 8);
                sum72 += *(const uint32_t *)(c->h_inner_ipv4 + 12);
                sum72 += *(const uint32_t *)(c->h_inner_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum72))) != sp_ld16(c->h_inner_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
        }
        /* ingress */
        {
            if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
                if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                    c->v.meta_reason = 0x26u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x10u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
                c->v.meta_reason = 0x11u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_reason = 0u;
            if (((uint32_t)c->v.meta_source_routed) == 1u) {
                c->v.UpfIngress_user_packet_reason = 0x27u;
            }
            if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
                c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_user_is_inner = 1u;
            c->v.meta_ip_version = 4u;
            c->v.meta_src_v4 = sp_ld32(c->h_inner_ipv4 + 12);
            c->v.meta_dst_v4 = sp_ld32(c->h_inner_ipv4 + 16);
            c->v.meta_protocol = sp_ld8(c->h_inner_ipv4 + 9);
            c->v.meta_tos = sp_ld8(c->h_inner_ipv4 + 1);
            c->v.meta_pdu_length = sp_ld16(c->h_inner_ipv4 + 2);
            c->v.meta_header_length = ((sp_ld8(c->h_inner_ipv4) & 0xf) << 2);
            c->v.meta_src_port = sp_ld16(c->h_inner_ports);
            c->v.meta_dst_port = sp_ld16(c->h_inner_ports + 2);
            c->v.meta_header_length = (((uint32_t)c->v.meta_header_length) + 4u);
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_tunnel = 0xeu;
            c->v.UpfIngress_user_packet_udp = (0xeu + ((sp_ld8(c->h_ipv4) & 0xf) << 2));
            c->v.UpfIngress_user_packet_gtpu_end = ((((uint32_t)c->v.UpfIngress_user_packet_udp) + 0x10u) + sp_ld16(c->h_gtpu + 2));
            c->v.UpfIngress_user_packet_udp_end = (((uint32_t)c->v.UpfIngress_user_packet_udp) + sp_ld16(c->h_udp_rest));
            c->v.UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(c->h_ipv4 + 2));
            if ((((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.UpfIngress_user_packet_gtpu_end)) || (((uint32_t)c->v.UpfIngress_user_packet_gtpu_end) > ((uint32_t)c->v.UpfIngress_user_packet_udp_end))) || (((uint32_t)c->v.UpfIngress_user_packet_udp_end) > ((uint32_t)c->v.UpfIngress_user_packet_tunnel_end))) || (((uint32_t)c->v.UpfIngress_user_packet_tunnel_end) > ((uint32_t)c->v.standard_metadata_packet_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                struct sp_cell_station *e = sp_find_station(c, (sp_ld64(c->h_ethernet) >> 16), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
                if (e) {
                    c->hits[0]++;
                } else {
                    c->misses[0]++;
                    e = sp_default_station(c);
                }
                c->v.UpfIngress_station_tmp = e->action;
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_group) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            {
                const uint32_t on73 = (uint32_t)c->v.UpfIngress_station_tmp;
                if (on73 == 2u) {
                    c->v.meta_reason = 0x2au;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_session_remote_v4 = 0u;
            c->v.UpfIngress_session_local_v4 = 0u;
            c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_remote_port = 0u;
            c->v.UpfIngress_session_local_port = 0u;
            c->v.UpfIngress_session_flow_label = 0u;
            c->v.meta_uplink = 1u;
            c->v.UpfIngress_session_src = ((sp_ld32(c->h_ipv4 + 12) >> 24) & 0xff);
            if (((((uint32_t)c->v.UpfIngress_session_src) == 0u) || (((uint32_t)c->v.UpfIngress_session_src) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src) == 0x7fu) || (sp_ld32(c->h_ipv4 + 12) == sp_ld32(c->h_ipv4 + 16))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                c->v.meta_reason = 0x28u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((sp_ld8(c->h_gtpu) >> 5) != 1u) || (((sp_ld8(c->h_gtpu) >> 4) & 0x1) != 1u)) {
                c->v.meta_reason = 0x16u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (sp_ld8(c->h_gtpu + 1) != 0xffu) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on74 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on74 == 7u) {
                        c->v.meta_reason = 4u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_pdr_by_teid *e = sp_find_pdr_by_teid(c, (uint64_t)sp_ld32(c->h_ipv4 + 16) | ((uint64_t)sp_ld32(c->h_gtpu + 4)) << 32);
                if (e) {
                    c->hits[2]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_2 = 1u;
                } else {
                    c->misses[2]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_2 = 0u;
                    e = sp_default_pdr_by_teid(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_2)) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp_3 = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp_3 = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on75 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on75 == 7u) {
                        c->v.meta_reason = 5u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (((uint32_t)c->v.meta_classified) == 1u) {
                c->v.UpfIngress_session_remote_v4 = (uint32_t)c->v.meta_dst_v4;
                c->v.UpfIngress_session_local_v4 = (uint32_t)c->v.meta_src_v4;
                c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
                c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_dst_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_src_port;
                {
                    struct sp_cell_sdf_ipv4 *e = 0;
                    struct sp_masks_sdf_ipv4 *masks = sp_masks_sdf_ipv4(c);
                    if (masks->count) {
                        c->key[0] = (uint64_t)((uint32_t)c->v.UpfIngress_session_remote_v4) | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_v4)) << 32;
                        c->key[1] = (uint64_t)((uint32_t)c->v.meta_filter_set) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 16 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_port)) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 56;
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_qfi);
                        e = sp_find_sdf_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[7]++;
                    } else {
                        c->misses[7]++;
                        e = sp_default_sdf_ipv4(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                {
                    struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                    if (e) {
                        c->hits[9]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                    } else {
                        c->misses[9]++;
                        if (c->subset) goto hand_on;
                        e = sp_default_pdr_by_class(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_no_pdr) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(10)) {
                c->misses[10]++;
            } else {
                struct sp_cell_firewall_v4 *e = 0;
                struct sp_masks_firewall_v4 *masks = sp_masks_firewall_v4(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v4(c, masks);
                }
                if (e) {
                    c->hits[10]++;
                } else {
                    c->misses[10]++;
                    e = sp_default_firewall_v4(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_disposition) != 0u) {
                if (((uint32_t)c->v.meta_disposition) == 2u) {
                    c->v.standard_metadata_egress_spec = 0x1fdu;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 3u) {
                        c->v.meta_reason = 0x1du;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    } else {
                        if (((uint32_t)c->v.meta_disposition) == 4u) {
                            c->v.meta_reason = 0x1eu;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
                c->v.meta_reason = 0x1cu;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
                if ((((uint32_t)c->v.meta_ue_ipv4) == 0u) || (((uint32_t)c->v.meta_src_v4) != ((uint32_t)c->v.meta_ue_ipv4))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_enforce_src = ((((uint32_t)c->v.meta_src_v4) >> 24) & 0xff);
                c->v.UpfIngress_enforce_dst = ((((uint32_t)c->v.meta_dst_v4) >> 24) & 0xff);
                if (((((((uint32_t)c->v.UpfIngress_enforce_src) == 0u) || (((uint32_t)c->v.UpfIngress_enforce_src) >= 0xe0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xf0u)) || (((((uint32_t)c->v.UpfIngress_enforce_src) == 0x7fu) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0x7fu)) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xe0u) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(12)) {
                c->misses[12]++;
            } else {
                struct sp_cell_traffic_class *e = 0;
                struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = ((uint64_t)4u) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                    e = sp_find_traffic_class(c, masks);
                }
                if (e) {
                    c->hits[12]++;
                } else {
                    c->misses[12]++;
                    e = sp_default_traffic_class(c);
                }
                if (e->action == ACTION_set_class) {
                    if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                    c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                    c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
                }
            }
            c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
            if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                    c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
                }
            }
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
                if (e) {
                    c->hits[15]++;
                } else {
                    c->misses[15]++;
                    e = sp_default_nexthop(c);
                }
                if (e->action == ACTION_send) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac));
                }
                else if (e->action == ACTION_send_vxlan) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac));
                    c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                    sp_zero(c->h_underlay_ethernet, 14);
                    c->valid |= SP_BIT(V_underlay_ethernet);
                    sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                    sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                    sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                    sp_zero(c->h_underlay_ipv4, 20);
                    c->valid |= SP_BIT(V_underlay_ipv4);
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                    sp_st8(c->h_underlay_ipv4 + 1, 0u);
                    sp_st16(c->h_underlay_ipv4 + 4, 0u);
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                    sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                    sp_st16(c->h_underlay_ipv4 + 10, 0u);
                    sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                    sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                    sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                    sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                    sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                    sp_zero(c->h_underlay_udp, 8);
                    c->valid |= SP_BIT(V_underlay_udp);
                    sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                    sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                    sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                    sp_st16(c->h_underlay_udp + 6, 0u);
                    sp_zero(c->h_vxlan, 8);
                    c->valid |= SP_BIT(V_vxlan);
                    sp_st8(c->h_vxlan, 8u);
                    sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                    sp_st24(c->h_vxlan + 1, 0u);
                    sp_st8(c->h_vxlan + 7, 0u);
                }
                else if (e->action == ACTION_unresolved) {
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                    c->v.meta_reason = 6u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
            } else {
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_police_colour = 0u;
            if (((uint32_t)c->v.meta_meter_1) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_2) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_3) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_class_meter) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    c->v.meta_reason = 0x22u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(c->h_inner_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(c->h_inner_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl);
                sp_st16(c->h_inner_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum);
            }
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            } else {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
                sp_zero(c->h_tunnel_ipv4, 20);
                c->valid |= SP_BIT(V_tunnel_ipv4);
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
                sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
                sp_st16(c->h_tunnel_ipv4 + 4, 0u);
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
                sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
                sp_st16(c->h_tunnel_ipv4 + 10, 0u);
                sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
                sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
                sp_zero(c->h_tunnel_udp, 8);
                c->valid |= SP_BIT(V_tunnel_udp);
                sp_st16(c->h_tunnel_udp, 0x868u);
                sp_st16(c->h_tunnel_udp + 2, 0x868u);
                sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
                sp_st16(c->h_tunnel_udp + 6, 0u);
                sp_zero(c->h_tunnel_gtpu, 8);
                c->valid |= SP_BIT(V_tunnel_gtpu);
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
                sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
                sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_add_session_container_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 1u : 0u);
                    sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2));
                    sp_zero(c->h_tunnel_optional, 4);
                    c->valid |= SP_BIT(V_tunnel_optional);
                    sp_st16(c->h_tunnel_optional, 0u);
                    sp_st8(c->h_tunnel_optional + 2, 0u);
                    sp_st8(c->h_tunnel_optional + 3, 0x85u);
                    sp_zero(c->h_tunnel_psc, 4);
                    c->valid |= SP_BIT(V_tunnel_psc);
                    sp_st8(c->h_tunnel_psc, 1u);
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xfu) | ((uint32_t)((uint32_t)c->v.UpfIngress_tunnel_add_session_container_pdu_type) << 4));
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_tunnel_psc + 2, (uint32_t)c->v.meta_psc_qos);
                    sp_st8(c->h_tunnel_psc + 3, 0u);
                }
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            }
            c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
            if (((uint32_t)c->v.meta_usage) != 0u) {
                sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
            }
        }
        if (c->v.standard_metadata_egress_spec == 511) goto dropped;
        c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
            }
            if (c->length + 38 > SP_MAX_PACKET + 74) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 74 + 38;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 36)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 34 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum76 = 0;
                    sum76 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum76 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum76 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum76 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum76 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum76)));
                }
            }
            if (c->length + 74 > SP_MAX_PACKET + 74) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 74 + 74;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 70 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum77 = 0;
                    sum77 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum77 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum77 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum77 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum77 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum77)));
                }
            }
            if (c->length + 88 > SP_MAX_PACKET + 74) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 74 + 88;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -14)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 84 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum78 = 0;
                    sum78 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum78 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum78 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum78 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum78 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum78)));
                }
            }
            if (c->length + 82 > SP_MAX_PACKET + 74) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 74 + 82;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -8)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 78 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_tunnel_optional, 4);
            sp_copy(data + 54, c->h_tunnel_psc, 4);
            sp_copy(data + 58, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum79 = 0;
                    sum79 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum79 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum79 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum79 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum79 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum79)));
                }
                {
                    uint64_t sum80 = 0;
                    sum80 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum80 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum80 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum80 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum80 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum80)));
                }
            }
            if (c->length + 124 > SP_MAX_PACKET + 74) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 74 + 124;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -50)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 120 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum81 = 0;
                    sum81 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum81 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum81 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum81 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum81 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum81)));
                }
                {
                    uint64_t sum82 = 0;
                    sum82 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum82 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum82 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum82 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum82 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum82)));
                }
            }
            if (c->length + 132 > SP_MAX_PACKET + 74) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 74 + 132;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -58)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 128 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_tunnel_optional, 4);
            sp_copy(data + 104, c->h_tunnel_psc, 4);
            sp_copy(data + 108, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
    }
class_2:;
    {
        /* verify_checksum */
        {
            {
                uint64_t sum83 = 0;
                sum83 += *(const uint32_t *)(c->h_ipv4);
                sum83 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum83 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum83 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum83 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum83))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
        }
        /* ingress */
        {
            if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
                if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                    c->v.meta_reason = 0x26u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x10u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
                c->v.meta_reason = 0x11u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_reason = 0u;
            if (((uint32_t)c->v.meta_source_routed) == 1u) {
                c->v.UpfIngress_user_packet_reason = 0x27u;
            }
            if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
                c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_user_is_inner = 1u;
            c->v.meta_ip_version = 6u;
            c->v.meta_src_v6 = sp_ld128(c->h_inner_ipv6 + 8);
            c->v.meta_dst_v6 = sp_ld128(c->h_inner_ipv6 + 24);
            c->v.meta_protocol = sp_ld8(c->h_inner_ipv6 + 6);
            c->v.meta_tos = ((sp_ld16(c->h_inner_ipv6) >> 4) & 0xff);
            c->v.meta_pdu_length = (sp_ld16(c->h_inner_ipv6 + 4) + 0x28u);
            c->v.meta_header_length = 0x28u;
            c->v.meta_src_port = sp_ld16(c->h_inner_ports);
            c->v.meta_dst_port = sp_ld16(c->h_inner_ports + 2);
            c->v.meta_header_length = (0x28u + 4u);
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_tunnel = 0xeu;
            c->v.UpfIngress_user_packet_udp = (0xeu + ((sp_ld8(c->h_ipv4) & 0xf) << 2));
            c->v.UpfIngress_user_packet_gtpu_end = ((((uint32_t)c->v.UpfIngress_user_packet_udp) + 0x10u) + sp_ld16(c->h_gtpu + 2));
            c->v.UpfIngress_user_packet_udp_end = (((uint32_t)c->v.UpfIngress_user_packet_udp) + sp_ld16(c->h_udp_rest));
            c->v.UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(c->h_ipv4 + 2));
            if ((((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.UpfIngress_user_packet_gtpu_end)) || (((uint32_t)c->v.UpfIngress_user_packet_gtpu_end) > ((uint32_t)c->v.UpfIngress_user_packet_udp_end))) || (((uint32_t)c->v.UpfIngress_user_packet_udp_end) > ((uint32_t)c->v.UpfIngress_user_packet_tunnel_end))) || (((uint32_t)c->v.UpfIngress_user_packet_tunnel_end) > ((uint32_t)c->v.standard_metadata_packet_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                struct sp_cell_station *e = sp_find_station(c, (sp_ld64(c->h_ethernet) >> 16), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
                if (e) {
                    c->hits[0]++;
                } else {
                    c->misses[0]++;
                    e = sp_default_station(c);
                }
                c->v.UpfIngress_station_tmp = e->action;
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_group) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            {
                const uint32_t on84 = (uint32_t)c->v.UpfIngress_station_tmp;
                if (on84 == 2u) {
                    c->v.meta_reason = 0x2au;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_session_remote_v4 = 0u;
            c->v.UpfIngress_session_local_v4 = 0u;
            c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_remote_port = 0u;
            c->v.UpfIngress_session_local_port = 0u;
            c->v.UpfIngress_session_flow_label = 0u;
            c->v.meta_uplink = 1u;
            c->v.UpfIngress_session_src = ((sp_ld32(c->h_ipv4 + 12) >> 24) & 0xff);
            if (((((uint32_t)c->v.UpfIngress_session_src) == 0u) || (((uint32_t)c->v.UpfIngress_session_src) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src) == 0x7fu) || (sp_ld32(c->h_ipv4 + 12) == sp_ld32(c->h_ipv4 + 16))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                c->v.meta_reason = 0x28u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((sp_ld8(c->h_gtpu) >> 5) != 1u) || (((sp_ld8(c->h_gtpu) >> 4) & 0x1) != 1u)) {
                c->v.meta_reason = 0x16u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (sp_ld8(c->h_gtpu + 1) != 0xffu) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on85 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on85 == 7u) {
                        c->v.meta_reason = 4u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_pdr_by_teid *e = sp_find_pdr_by_teid(c, (uint64_t)sp_ld32(c->h_ipv4 + 16) | ((uint64_t)sp_ld32(c->h_gtpu + 4)) << 32);
                if (e) {
                    c->hits[2]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_2 = 1u;
                } else {
                    c->misses[2]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_2 = 0u;
                    e = sp_default_pdr_by_teid(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_2)) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp_3 = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp_3 = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on86 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on86 == 7u) {
                        c->v.meta_reason = 5u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (((uint32_t)c->v.meta_classified) == 1u) {
                c->v.UpfIngress_session_remote_v4 = 0u;
                c->v.UpfIngress_session_local_v4 = 0u;
                c->v.UpfIngress_session_remote_v6 = (sp_u128)c->v.meta_dst_v6;
                c->v.UpfIngress_session_local_v6 = (sp_u128)c->v.meta_src_v6;
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_dst_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_src_port;
                c->v.UpfIngress_session_flow_label = ((sp_ld32(c->h_inner_ipv6 + 1) >> 8) & 0xfffff);
                {
                    struct sp_cell_sdf_ipv6 *e = 0;
                    struct sp_masks_sdf_ipv6 *masks = sp_masks_sdf_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide87 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide88 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide87;
                        c->key[1] = (uint64_t)(wide87 >> 64);
                        c->key[2] = (uint64_t)wide88;
                        c->key[3] = (uint64_t)(wide88 >> 64);
                        c->key[4] = ((uint64_t)((uint32_t)c->v.meta_filter_set)) << 32 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 48 | (uint64_t)((uint32_t)c->v.UpfIngress_session_flow_label);
                        c->key[5] = ((uint64_t)((uint32_t)c->v.meta_protocol)) << 16 | (uint64_t)((uint32_t)c->v.UpfIngress_session_local_port) | ((uint64_t)((uint32_t)c->v.meta_tos)) << 24 | ((uint64_t)((uint32_t)c->v.meta_qfi)) << 32;
                        e = sp_find_sdf_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[8]++;
                    } else {
                        c->misses[8]++;
                        e = sp_default_sdf_ipv6(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                {
                    struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                    if (e) {
                        c->hits[9]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                    } else {
                        c->misses[9]++;
                        if (c->subset) goto hand_on;
                        e = sp_default_pdr_by_class(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_no_pdr) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(11)) {
                c->misses[11]++;
            } else {
                struct sp_cell_firewall_v6 *e = 0;
                struct sp_masks_firewall_v6 *masks = sp_masks_firewall_v6(c);
                if (masks->count) {
                    const sp_u128 wide89 = (sp_u128)c->v.meta_src_v6;
                    const sp_u128 wide90 = (sp_u128)c->v.meta_dst_v6;
                    c->key[0] = (uint64_t)wide89;
                    c->key[1] = (uint64_t)(wide89 >> 64);
                    c->key[2] = (uint64_t)wide90;
                    c->key[3] = (uint64_t)(wide90 >> 64);
                    c->key[4] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v6(c, masks);
                }
                if (e) {
                    c->hits[11]++;
                } else {
                    c->misses[11]++;
                    e = sp_default_firewall_v6(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_disposition) != 0u) {
                if (((uint32_t)c->v.meta_disposition) == 2u) {
                    c->v.standard_metadata_egress_spec = 0x1fdu;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 3u) {
                        c->v.meta_reason = 0x1du;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    } else {
                        if (((uint32_t)c->v.meta_disposition) == 4u) {
                            c->v.meta_reason = 0x1eu;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
                c->v.meta_reason = 0x1cu;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
                if ((((uint64_t)c->v.meta_ue_prefix) == 0x0ull) || (((uint64_t)(((sp_u128)c->v.meta_src_v6) >> 64)) != ((uint64_t)c->v.meta_ue_prefix))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                if (((((((((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 118) & 0x3ff) == 0x3fau)) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 118) & 0x3ff) == 0x3fau)) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 120) & 0xff) == 0xffu) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(12)) {
                c->misses[12]++;
            } else {
                struct sp_cell_traffic_class *e = 0;
                struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)0u | ((uint64_t)0u) << 32;
                    c->key[1] = ((uint64_t)6u) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                    e = sp_find_traffic_class(c, masks);
                }
                if (e) {
                    c->hits[12]++;
                } else {
                    c->misses[12]++;
                    e = sp_default_traffic_class(c);
                }
                if (e->action == ACTION_set_class) {
                    if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                    c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                    c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
                }
            }
            c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
            if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                    c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
                }
            }
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                {
                    struct sp_cell_route_ipv6 *e = 0;
                    struct sp_masks_route_ipv6 *masks = sp_masks_route_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide91 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide91;
                        c->key[1] = (uint64_t)(wide91 >> 64);
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_out_vrf);
                        e = sp_find_route_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[14]++;
                    } else {
                        c->misses[14]++;
                        e = sp_default_route_ipv6(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
                if (e) {
                    c->hits[15]++;
                } else {
                    c->misses[15]++;
                    e = sp_default_nexthop(c);
                }
                if (e->action == ACTION_send) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac));
                }
                else if (e->action == ACTION_send_vxlan) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac));
                    c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                    sp_zero(c->h_underlay_ethernet, 14);
                    c->valid |= SP_BIT(V_underlay_ethernet);
                    sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                    sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                    sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                    sp_zero(c->h_underlay_ipv4, 20);
                    c->valid |= SP_BIT(V_underlay_ipv4);
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                    sp_st8(c->h_underlay_ipv4 + 1, 0u);
                    sp_st16(c->h_underlay_ipv4 + 4, 0u);
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                    sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                    sp_st16(c->h_underlay_ipv4 + 10, 0u);
                    sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                    sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                    sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                    sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                    sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                    sp_zero(c->h_underlay_udp, 8);
                    c->valid |= SP_BIT(V_underlay_udp);
                    sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                    sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                    sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                    sp_st16(c->h_underlay_udp + 6, 0u);
                    sp_zero(c->h_vxlan, 8);
                    c->valid |= SP_BIT(V_vxlan);
                    sp_st8(c->h_vxlan, 8u);
                    sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                    sp_st24(c->h_vxlan + 1, 0u);
                    sp_st8(c->h_vxlan + 7, 0u);
                }
                else if (e->action == ACTION_unresolved) {
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                    c->v.meta_reason = 6u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_inner_ipv6 + 7);
                if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
            } else {
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_police_colour = 0u;
            if (((uint32_t)c->v.meta_meter_1) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_2) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_3) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_class_meter) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    c->v.meta_reason = 0x22u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                sp_st8(c->h_inner_ipv6 + 7, ((sp_ld8(c->h_inner_ipv6 + 7) - 1u) & 0xff));
            }
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                sp_st16(c->h_ethernet + 12, 0x86ddu);
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            } else {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
                sp_zero(c->h_tunnel_ipv4, 20);
                c->valid |= SP_BIT(V_tunnel_ipv4);
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
                sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
                sp_st16(c->h_tunnel_ipv4 + 4, 0u);
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
                sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
                sp_st16(c->h_tunnel_ipv4 + 10, 0u);
                sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
                sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
                sp_zero(c->h_tunnel_udp, 8);
                c->valid |= SP_BIT(V_tunnel_udp);
                sp_st16(c->h_tunnel_udp, 0x868u);
                sp_st16(c->h_tunnel_udp + 2, 0x868u);
                sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
                sp_st16(c->h_tunnel_udp + 6, 0u);
                sp_zero(c->h_tunnel_gtpu, 8);
                c->valid |= SP_BIT(V_tunnel_gtpu);
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
                sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
                sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_add_session_container_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 1u : 0u);
                    sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2));
                    sp_zero(c->h_tunnel_optional, 4);
                    c->valid |= SP_BIT(V_tunnel_optional);
                    sp_st16(c->h_tunnel_optional, 0u);
                    sp_st8(c->h_tunnel_optional + 2, 0u);
                    sp_st8(c->h_tunnel_optional + 3, 0x85u);
                    sp_zero(c->h_tunnel_psc, 4);
                    c->valid |= SP_BIT(V_tunnel_psc);
                    sp_st8(c->h_tunnel_psc, 1u);
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xfu) | ((uint32_t)((uint32_t)c->v.UpfIngress_tunnel_add_session_container_pdu_type) << 4));
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_tunnel_psc + 2, (uint32_t)c->v.meta_psc_qos);
                    sp_st8(c->h_tunnel_psc + 3, 0u);
                }
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            }
            c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
            if (((uint32_t)c->v.meta_usage) != 0u) {
                sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
            }
        }
        if (c->v.standard_metadata_egress_spec == 511) goto dropped;
        c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
            }
            if (c->length + 58 > SP_MAX_PACKET + 94) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 94 + 58;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 36)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 54 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum92 = 0;
                    sum92 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum92 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum92 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum92 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum92 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum92)));
                }
            }
            if (c->length + 94 > SP_MAX_PACKET + 94) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 94 + 94;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 90 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum93 = 0;
                    sum93 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum93 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum93 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum93 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum93 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum93)));
                }
            }
            if (c->length + 108 > SP_MAX_PACKET + 94) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 94 + 108;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -14)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 104 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum94 = 0;
                    sum94 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum94 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum94 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum94 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum94 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum94)));
                }
            }
            if (c->length + 102 > SP_MAX_PACKET + 94) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 94 + 102;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -8)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 98 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_tunnel_optional, 4);
            sp_copy(data + 54, c->h_tunnel_psc, 4);
            sp_copy(data + 58, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum95 = 0;
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum95 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum95)));
                }
                {
                    uint64_t sum96 = 0;
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum96 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum96)));
                }
            }
            if (c->length + 144 > SP_MAX_PACKET + 94) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 94 + 144;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -50)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 140 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum97 = 0;
                    sum97 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum97 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum97 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum97 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum97 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum97)));
                }
                {
                    uint64_t sum98 = 0;
                    sum98 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum98 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum98 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum98 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum98 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum98)));
                }
            }
            if (c->length + 152 > SP_MAX_PACKET + 94) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 94 + 152;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -58)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 148 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_tunnel_optional, 4);
            sp_copy(data + 104, c->h_tunnel_psc, 4);
            sp_copy(data + 108, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
    }
class_3:;
    {
        /* verify_checksum */
        {
            {
                uint64_t sum99 = 0;
                sum99 += *(const uint32_t *)(c->h_ipv4);
                sum99 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum99 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum99 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum99 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum99))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
            {
                uint64_t sum100 = 0;
                sum100 += *(const uint32_t *)(c->h_inner_ipv4);
                sum100 += *(const uint32_t *)(c->h_inner_ipv4 + 4);
                sum100 += *(const uint16_t *)(c->h_inner_ipv4 + 8);
                sum100 += *(const uint32_t *)(c->h_inner_ipv4 + 12);
                sum100 += *(const uint32_t *)(c->h_inner_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum100))) != sp_ld16(c->h_inner_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
        }
        /* ingress */
        {
            if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
                if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                    c->v.meta_reason = 0x26u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x10u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
                c->v.meta_reason = 0x11u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_reason = 0u;
            if (((uint32_t)c->v.meta_source_routed) == 1u) {
                c->v.UpfIngress_user_packet_reason = 0x27u;
            }
            if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
                c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_user_is_inner = 1u;
            c->v.meta_ip_version = 4u;
            c->v.meta_src_v4 = sp_ld32(c->h_inner_ipv4 + 12);
            c->v.meta_dst_v4 = sp_ld32(c->h_inner_ipv4 + 16);
            c->v.meta_protocol = sp_ld8(c->h_inner_ipv4 + 9);
            c->v.meta_tos = sp_ld8(c->h_inner_ipv4 + 1);
            c->v.meta_pdu_length = sp_ld16(c->h_inner_ipv4 + 2);
            c->v.meta_header_length = ((sp_ld8(c->h_inner_ipv4) & 0xf) << 2);
            c->v.meta_src_port = sp_ld16(c->h_inner_ports);
            c->v.meta_dst_port = sp_ld16(c->h_inner_ports + 2);
            c->v.meta_header_length = (((uint32_t)c->v.meta_header_length) + 4u);
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_tunnel = 0xeu;
            c->v.UpfIngress_user_packet_udp = (0xeu + ((sp_ld8(c->h_ipv4) & 0xf) << 2));
            c->v.UpfIngress_user_packet_gtpu_end = ((((uint32_t)c->v.UpfIngress_user_packet_udp) + 0x10u) + sp_ld16(c->h_gtpu + 2));
            c->v.UpfIngress_user_packet_udp_end = (((uint32_t)c->v.UpfIngress_user_packet_udp) + sp_ld16(c->h_udp_rest));
            c->v.UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(c->h_ipv4 + 2));
            if ((((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.UpfIngress_user_packet_gtpu_end)) || (((uint32_t)c->v.UpfIngress_user_packet_gtpu_end) > ((uint32_t)c->v.UpfIngress_user_packet_udp_end))) || (((uint32_t)c->v.UpfIngress_user_packet_udp_end) > ((uint32_t)c->v.UpfIngress_user_packet_tunnel_end))) || (((uint32_t)c->v.UpfIngress_user_packet_tunnel_end) > ((uint32_t)c->v.standard_metadata_packet_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                struct sp_cell_station *e = sp_find_station(c, (sp_ld64(c->h_ethernet) >> 16), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
                if (e) {
                    c->hits[0]++;
                } else {
                    c->misses[0]++;
                    e = sp_default_station(c);
                }
                c->v.UpfIngress_station_tmp = e->action;
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_group) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            {
                const uint32_t on101 = (uint32_t)c->v.UpfIngress_station_tmp;
                if (on101 == 2u) {
                    c->v.meta_reason = 0x2au;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_session_remote_v4 = 0u;
            c->v.UpfIngress_session_local_v4 = 0u;
            c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_remote_port = 0u;
            c->v.UpfIngress_session_local_port = 0u;
            c->v.UpfIngress_session_flow_label = 0u;
            c->v.meta_uplink = 1u;
            c->v.UpfIngress_session_src = ((sp_ld32(c->h_ipv4 + 12) >> 24) & 0xff);
            if (((((uint32_t)c->v.UpfIngress_session_src) == 0u) || (((uint32_t)c->v.UpfIngress_session_src) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src) == 0x7fu) || (sp_ld32(c->h_ipv4 + 12) == sp_ld32(c->h_ipv4 + 16))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                c->v.meta_reason = 0x28u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((sp_ld8(c->h_gtpu) >> 5) != 1u) || (((sp_ld8(c->h_gtpu) >> 4) & 0x1) != 1u)) {
                c->v.meta_reason = 0x16u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (sp_ld8(c->h_gtpu + 1) != 0xffu) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on102 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on102 == 7u) {
                        c->v.meta_reason = 4u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_pdr_by_teid *e = sp_find_pdr_by_teid(c, (uint64_t)sp_ld32(c->h_ipv4 + 16) | ((uint64_t)sp_ld32(c->h_gtpu + 4)) << 32);
                if (e) {
                    c->hits[2]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_2 = 1u;
                } else {
                    c->misses[2]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_2 = 0u;
                    e = sp_default_pdr_by_teid(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_2)) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp_3 = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp_3 = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on103 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on103 == 7u) {
                        c->v.meta_reason = 5u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (((uint32_t)c->v.meta_classified) == 1u) {
                c->v.UpfIngress_session_remote_v4 = (uint32_t)c->v.meta_dst_v4;
                c->v.UpfIngress_session_local_v4 = (uint32_t)c->v.meta_src_v4;
                c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
                c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_dst_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_src_port;
                {
                    struct sp_cell_sdf_ipv4 *e = 0;
                    struct sp_masks_sdf_ipv4 *masks = sp_masks_sdf_ipv4(c);
                    if (masks->count) {
                        c->key[0] = (uint64_t)((uint32_t)c->v.UpfIngress_session_remote_v4) | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_v4)) << 32;
                        c->key[1] = (uint64_t)((uint32_t)c->v.meta_filter_set) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 16 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_port)) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 56;
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_qfi);
                        e = sp_find_sdf_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[7]++;
                    } else {
                        c->misses[7]++;
                        e = sp_default_sdf_ipv4(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                {
                    struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                    if (e) {
                        c->hits[9]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                    } else {
                        c->misses[9]++;
                        if (c->subset) goto hand_on;
                        e = sp_default_pdr_by_class(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_no_pdr) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(10)) {
                c->misses[10]++;
            } else {
                struct sp_cell_firewall_v4 *e = 0;
                struct sp_masks_firewall_v4 *masks = sp_masks_firewall_v4(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v4(c, masks);
                }
                if (e) {
                    c->hits[10]++;
                } else {
                    c->misses[10]++;
                    e = sp_default_firewall_v4(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_disposition) != 0u) {
                if (((uint32_t)c->v.meta_disposition) == 2u) {
                    c->v.standard_metadata_egress_spec = 0x1fdu;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 3u) {
                        c->v.meta_reason = 0x1du;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    } else {
                        if (((uint32_t)c->v.meta_disposition) == 4u) {
                            c->v.meta_reason = 0x1eu;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
                c->v.meta_reason = 0x1cu;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
                if ((((uint32_t)c->v.meta_ue_ipv4) == 0u) || (((uint32_t)c->v.meta_src_v4) != ((uint32_t)c->v.meta_ue_ipv4))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_enforce_src = ((((uint32_t)c->v.meta_src_v4) >> 24) & 0xff);
                c->v.UpfIngress_enforce_dst = ((((uint32_t)c->v.meta_dst_v4) >> 24) & 0xff);
                if (((((((uint32_t)c->v.UpfIngress_enforce_src) == 0u) || (((uint32_t)c->v.UpfIngress_enforce_src) >= 0xe0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xf0u)) || (((((uint32_t)c->v.UpfIngress_enforce_src) == 0x7fu) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0x7fu)) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xe0u) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(12)) {
                c->misses[12]++;
            } else {
                struct sp_cell_traffic_class *e = 0;
                struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = ((uint64_t)4u) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                    e = sp_find_traffic_class(c, masks);
                }
                if (e) {
                    c->hits[12]++;
                } else {
                    c->misses[12]++;
                    e = sp_default_traffic_class(c);
                }
                if (e->action == ACTION_set_class) {
                    if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                    c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                    c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
                }
            }
            c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
            if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                    c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
                }
            }
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                c->v.meta_relayed_bytes = 4u;
                c->v.meta_container_bytes = 4u;
                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                    c->v.meta_relayed_bytes = ((4u - 4u) & 0xffff);
                    c->v.meta_container_bytes = 0u;
                }
                if ((((uint32_t)c->v.meta_encapsulation) != 1u) && (((uint32_t)c->v.meta_container_bytes) == 0u)) {
                    c->v.meta_new_container = 1u;
                    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + 4u) & 0xffff);
                }
                c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + ((uint32_t)c->v.meta_relayed_bytes));
                if (((((uint32_t)c->v.meta_relayed_bytes) != 0u) || (((sp_ld8(c->h_gtpu) >> 1) & 0x1) == 1u)) || ((sp_ld8(c->h_gtpu) & 0x1) == 1u)) {
                    c->v.meta_out_length = (((uint32_t)c->v.meta_out_length) + 4u);
                }
            } else {
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
                if (e) {
                    c->hits[15]++;
                } else {
                    c->misses[15]++;
                    e = sp_default_nexthop(c);
                }
                if (e->action == ACTION_send) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac));
                }
                else if (e->action == ACTION_send_vxlan) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac));
                    c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                    sp_zero(c->h_underlay_ethernet, 14);
                    c->valid |= SP_BIT(V_underlay_ethernet);
                    sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                    sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                    sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                    sp_zero(c->h_underlay_ipv4, 20);
                    c->valid |= SP_BIT(V_underlay_ipv4);
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                    sp_st8(c->h_underlay_ipv4 + 1, 0u);
                    sp_st16(c->h_underlay_ipv4 + 4, 0u);
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                    sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                    sp_st16(c->h_underlay_ipv4 + 10, 0u);
                    sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                    sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                    sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                    sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                    sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                    sp_zero(c->h_underlay_udp, 8);
                    c->valid |= SP_BIT(V_underlay_udp);
                    sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                    sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                    sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                    sp_st16(c->h_underlay_udp + 6, 0u);
                    sp_zero(c->h_vxlan, 8);
                    c->valid |= SP_BIT(V_vxlan);
                    sp_st8(c->h_vxlan, 8u);
                    sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                    sp_st24(c->h_vxlan + 1, 0u);
                    sp_st8(c->h_vxlan + 7, 0u);
                }
                else if (e->action == ACTION_unresolved) {
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                    c->v.meta_reason = 6u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
            } else {
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_police_colour = 0u;
            if (((uint32_t)c->v.meta_meter_1) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_2) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_3) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_class_meter) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    c->v.meta_reason = 0x22u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(c->h_inner_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(c->h_inner_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl);
                sp_st16(c->h_inner_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum);
            }
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
                c->valid &= ~SP_BIT(V_gtpu_optional);
                c->valid &= ~SP_BIT(V_gtpu_psc);
            } else {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
                sp_zero(c->h_tunnel_ipv4, 20);
                c->valid |= SP_BIT(V_tunnel_ipv4);
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
                sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
                sp_st16(c->h_tunnel_ipv4 + 4, 0u);
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
                sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
                sp_st16(c->h_tunnel_ipv4 + 10, 0u);
                sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
                sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
                sp_zero(c->h_tunnel_udp, 8);
                c->valid |= SP_BIT(V_tunnel_udp);
                sp_st16(c->h_tunnel_udp, 0x868u);
                sp_st16(c->h_tunnel_udp + 2, 0x868u);
                sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
                sp_st16(c->h_tunnel_udp + 6, 0u);
                sp_zero(c->h_tunnel_gtpu, 8);
                c->valid |= SP_BIT(V_tunnel_gtpu);
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
                sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
                sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
                c->v.UpfIngress_tunnel_relay_pdu_type = 0u;
                c->v.UpfIngress_tunnel_relay_qfi = 0u;
                c->v.UpfIngress_tunnel_relay_kept = 0xffu;
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_relay_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 0x10u : 0u);
                    if ((((uint32_t)c->v.meta_flags) & 0x40u) == 0u) {
                        c->v.UpfIngress_tunnel_relay_qfi = (uint32_t)c->v.meta_psc_qos;
                        c->v.UpfIngress_tunnel_relay_kept = 0xc0u;
                    }
                }
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(((((uint32_t)c->v.meta_relayed_bytes) == 0u) ? 0u : 1u)) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(((sp_ld8(c->h_gtpu) >> 1) & 0x1)) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)((sp_ld8(c->h_gtpu) & 0x1)));
                c->v.UpfIngress_tunnel_relay_empty = (((((uint32_t)c->v.meta_relayed_bytes) == 0u) && (((sp_ld8(c->h_gtpu) >> 1) & 0x1) == 0u)) && ((sp_ld8(c->h_gtpu) & 0x1) == 0u));
                if (((uint32_t)c->v.meta_new_container) == 1u) {
                    sp_st8(c->h_gtpu_psc + 1, (sp_ld8(c->h_gtpu_psc + 1) & 0xfu) | ((uint32_t)(((((uint32_t)c->v.UpfIngress_tunnel_relay_pdu_type) >> 4) & 0xf)) << 4));
                    sp_st8(c->h_gtpu_psc + 1, (sp_ld8(c->h_gtpu_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_gtpu_psc + 2, (uint32_t)c->v.meta_psc_qos);
                } else {
                    if ((((uint32_t)c->v.meta_flags) & 0x20u) == 0u) {
                        sp_st8(c->h_gtpu_psc + 2, ((sp_ld8(c->h_gtpu_psc + 2) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                    } else {
                        c->valid &= ~SP_BIT(V_gtpu_psc);
                        sp_st8(c->h_gtpu_optional + 3, 0u);
                        if ((uint32_t)c->v.UpfIngress_tunnel_relay_empty) {
                            c->valid &= ~SP_BIT(V_gtpu_optional);
                        }
                    }
                }
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            }
            c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
            if (((uint32_t)c->v.meta_usage) != 0u) {
                sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
            }
        }
        if (c->v.standard_metadata_egress_spec == 511) goto dropped;
        c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
            }
            if (c->length + 38 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 38;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 44)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 34 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum104 = 0;
                    sum104 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum104 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum104 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum104 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum104 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum104)));
                }
            }
            if (c->length + 74 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 74;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 8)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 70 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum105 = 0;
                    sum105 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum105 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum105 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum105 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum105 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum105)));
                }
            }
            if (c->length + 88 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 88;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -6)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 84 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum106 = 0;
                    sum106 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum106 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum106 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum106 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum106 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum106)));
                }
            }
            if (c->length + 78 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 78;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 4)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 74 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_gtpu_optional, 4);
            sp_copy(data + 54, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum107 = 0;
                    sum107 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum107 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum107 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum107 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum107 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum107)));
                }
            }
            if (c->length + 82 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 82;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 78 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_gtpu_optional, 4);
            sp_copy(data + 54, c->h_gtpu_psc, 4);
            sp_copy(data + 58, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum108 = 0;
                    sum108 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum108 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum108 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum108 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum108 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum108)));
                }
                {
                    uint64_t sum109 = 0;
                    sum109 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum109 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum109 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum109 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum109 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum109)));
                }
            }
            if (c->length + 124 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 124;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -42)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 120 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum110 = 0;
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum110 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum110)));
                }
                {
                    uint64_t sum111 = 0;
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum111 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum111)));
                }
            }
            if (c->length + 128 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 128;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -46)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 124 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_gtpu_optional, 4);
            sp_copy(data + 104, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum112 = 0;
                    sum112 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum112 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum112 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum112 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum112 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum112)));
                }
                {
                    uint64_t sum113 = 0;
                    sum113 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum113 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum113 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum113 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum113 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum113)));
                }
            }
            if (c->length + 132 > SP_MAX_PACKET + 82) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 82 + 132;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -50)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 128 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_gtpu_optional, 4);
            sp_copy(data + 104, c->h_gtpu_psc, 4);
            sp_copy(data + 108, c->h_inner_ipv4, 20);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
    }
class_4:;
    {
        /* verify_checksum */
        {
            {
                uint64_t sum114 = 0;
                sum114 += *(const uint32_t *)(c->h_ipv4);
                sum114 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum114 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum114 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum114 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum114))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
        }
        /* ingress */
        {
            if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
                if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                    c->v.meta_reason = 0x26u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x10u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
                c->v.meta_reason = 0x11u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_reason = 0u;
            if (((uint32_t)c->v.meta_source_routed) == 1u) {
                c->v.UpfIngress_user_packet_reason = 0x27u;
            }
            if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
                c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_user_is_inner = 1u;
            c->v.meta_ip_version = 6u;
            c->v.meta_src_v6 = sp_ld128(c->h_inner_ipv6 + 8);
            c->v.meta_dst_v6 = sp_ld128(c->h_inner_ipv6 + 24);
            c->v.meta_protocol = sp_ld8(c->h_inner_ipv6 + 6);
            c->v.meta_tos = ((sp_ld16(c->h_inner_ipv6) >> 4) & 0xff);
            c->v.meta_pdu_length = (sp_ld16(c->h_inner_ipv6 + 4) + 0x28u);
            c->v.meta_header_length = 0x28u;
            c->v.meta_src_port = sp_ld16(c->h_inner_ports);
            c->v.meta_dst_port = sp_ld16(c->h_inner_ports + 2);
            c->v.meta_header_length = (0x28u + 4u);
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_tunnel = 0xeu;
            c->v.UpfIngress_user_packet_udp = (0xeu + ((sp_ld8(c->h_ipv4) & 0xf) << 2));
            c->v.UpfIngress_user_packet_gtpu_end = ((((uint32_t)c->v.UpfIngress_user_packet_udp) + 0x10u) + sp_ld16(c->h_gtpu + 2));
            c->v.UpfIngress_user_packet_udp_end = (((uint32_t)c->v.UpfIngress_user_packet_udp) + sp_ld16(c->h_udp_rest));
            c->v.UpfIngress_user_packet_tunnel_end = (0xeu + sp_ld16(c->h_ipv4 + 2));
            if ((((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.UpfIngress_user_packet_gtpu_end)) || (((uint32_t)c->v.UpfIngress_user_packet_gtpu_end) > ((uint32_t)c->v.UpfIngress_user_packet_udp_end))) || (((uint32_t)c->v.UpfIngress_user_packet_udp_end) > ((uint32_t)c->v.UpfIngress_user_packet_tunnel_end))) || (((uint32_t)c->v.UpfIngress_user_packet_tunnel_end) > ((uint32_t)c->v.standard_metadata_packet_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                struct sp_cell_station *e = sp_find_station(c, (sp_ld64(c->h_ethernet) >> 16), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
                if (e) {
                    c->hits[0]++;
                } else {
                    c->misses[0]++;
                    e = sp_default_station(c);
                }
                c->v.UpfIngress_station_tmp = e->action;
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_group) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            {
                const uint32_t on115 = (uint32_t)c->v.UpfIngress_station_tmp;
                if (on115 == 2u) {
                    c->v.meta_reason = 0x2au;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_session_remote_v4 = 0u;
            c->v.UpfIngress_session_local_v4 = 0u;
            c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_remote_port = 0u;
            c->v.UpfIngress_session_local_port = 0u;
            c->v.UpfIngress_session_flow_label = 0u;
            c->v.meta_uplink = 1u;
            c->v.UpfIngress_session_src = ((sp_ld32(c->h_ipv4 + 12) >> 24) & 0xff);
            if (((((uint32_t)c->v.UpfIngress_session_src) == 0u) || (((uint32_t)c->v.UpfIngress_session_src) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src) == 0x7fu) || (sp_ld32(c->h_ipv4 + 12) == sp_ld32(c->h_ipv4 + 16))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                c->v.meta_reason = 0x28u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((sp_ld8(c->h_gtpu) >> 5) != 1u) || (((sp_ld8(c->h_gtpu) >> 4) & 0x1) != 1u)) {
                c->v.meta_reason = 0x16u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (sp_ld8(c->h_gtpu + 1) != 0xffu) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on116 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on116 == 7u) {
                        c->v.meta_reason = 4u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_pdr_by_teid *e = sp_find_pdr_by_teid(c, (uint64_t)sp_ld32(c->h_ipv4 + 16) | ((uint64_t)sp_ld32(c->h_gtpu + 4)) << 32);
                if (e) {
                    c->hits[2]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_2 = 1u;
                } else {
                    c->misses[2]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_2 = 0u;
                    e = sp_default_pdr_by_teid(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_2)) {
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp_3 = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp_3 = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on117 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on117 == 7u) {
                        c->v.meta_reason = 5u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x18u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (((uint32_t)c->v.meta_classified) == 1u) {
                c->v.UpfIngress_session_remote_v4 = 0u;
                c->v.UpfIngress_session_local_v4 = 0u;
                c->v.UpfIngress_session_remote_v6 = (sp_u128)c->v.meta_dst_v6;
                c->v.UpfIngress_session_local_v6 = (sp_u128)c->v.meta_src_v6;
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_dst_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_src_port;
                c->v.UpfIngress_session_flow_label = ((sp_ld32(c->h_inner_ipv6 + 1) >> 8) & 0xfffff);
                {
                    struct sp_cell_sdf_ipv6 *e = 0;
                    struct sp_masks_sdf_ipv6 *masks = sp_masks_sdf_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide118 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide119 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide118;
                        c->key[1] = (uint64_t)(wide118 >> 64);
                        c->key[2] = (uint64_t)wide119;
                        c->key[3] = (uint64_t)(wide119 >> 64);
                        c->key[4] = ((uint64_t)((uint32_t)c->v.meta_filter_set)) << 32 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 48 | (uint64_t)((uint32_t)c->v.UpfIngress_session_flow_label);
                        c->key[5] = ((uint64_t)((uint32_t)c->v.meta_protocol)) << 16 | (uint64_t)((uint32_t)c->v.UpfIngress_session_local_port) | ((uint64_t)((uint32_t)c->v.meta_tos)) << 24 | ((uint64_t)((uint32_t)c->v.meta_qfi)) << 32;
                        e = sp_find_sdf_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[8]++;
                    } else {
                        c->misses[8]++;
                        e = sp_default_sdf_ipv6(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                {
                    struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                    if (e) {
                        c->hits[9]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                    } else {
                        c->misses[9]++;
                        if (c->subset) goto hand_on;
                        e = sp_default_pdr_by_class(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_no_pdr) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(11)) {
                c->misses[11]++;
            } else {
                struct sp_cell_firewall_v6 *e = 0;
                struct sp_masks_firewall_v6 *masks = sp_masks_firewall_v6(c);
                if (masks->count) {
                    const sp_u128 wide120 = (sp_u128)c->v.meta_src_v6;
                    const sp_u128 wide121 = (sp_u128)c->v.meta_dst_v6;
                    c->key[0] = (uint64_t)wide120;
                    c->key[1] = (uint64_t)(wide120 >> 64);
                    c->key[2] = (uint64_t)wide121;
                    c->key[3] = (uint64_t)(wide121 >> 64);
                    c->key[4] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v6(c, masks);
                }
                if (e) {
                    c->hits[11]++;
                } else {
                    c->misses[11]++;
                    e = sp_default_firewall_v6(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_disposition) != 0u) {
                if (((uint32_t)c->v.meta_disposition) == 2u) {
                    c->v.standard_metadata_egress_spec = 0x1fdu;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 3u) {
                        c->v.meta_reason = 0x1du;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    } else {
                        if (((uint32_t)c->v.meta_disposition) == 4u) {
                            c->v.meta_reason = 0x1eu;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
                c->v.meta_reason = 0x1cu;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
                if ((((uint64_t)c->v.meta_ue_prefix) == 0x0ull) || (((uint64_t)(((sp_u128)c->v.meta_src_v6) >> 64)) != ((uint64_t)c->v.meta_ue_prefix))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                if (((((((((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 118) & 0x3ff) == 0x3fau)) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 118) & 0x3ff) == 0x3fau)) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 120) & 0xff) == 0xffu) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(12)) {
                c->misses[12]++;
            } else {
                struct sp_cell_traffic_class *e = 0;
                struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)0u | ((uint64_t)0u) << 32;
                    c->key[1] = ((uint64_t)6u) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                    e = sp_find_traffic_class(c, masks);
                }
                if (e) {
                    c->hits[12]++;
                } else {
                    c->misses[12]++;
                    e = sp_default_traffic_class(c);
                }
                if (e->action == ACTION_set_class) {
                    if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                    c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                    c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
                }
            }
            c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
            if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                    c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
                }
            }
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                c->v.meta_relayed_bytes = 4u;
                c->v.meta_container_bytes = 4u;
                if ((((uint32_t)c->v.meta_flags) & 0x20u) != 0u) {
                    c->v.meta_relayed_bytes = ((4u - 4u) & 0xffff);
                    c->v.meta_container_bytes = 0u;
                }
                if ((((uint32_t)c->v.meta_encapsulation) != 1u) && (((uint32_t)c->v.meta_container_bytes) == 0u)) {
                    c->v.meta_new_container = 1u;
                    c->v.meta_relayed_bytes = ((((uint32_t)c->v.meta_relayed_bytes) + 4u) & 0xffff);
                }
                c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + ((uint32_t)c->v.meta_relayed_bytes));
                if (((((uint32_t)c->v.meta_relayed_bytes) != 0u) || (((sp_ld8(c->h_gtpu) >> 1) & 0x1) == 1u)) || ((sp_ld8(c->h_gtpu) & 0x1) == 1u)) {
                    c->v.meta_out_length = (((uint32_t)c->v.meta_out_length) + 4u);
                }
            } else {
                {
                    struct sp_cell_route_ipv6 *e = 0;
                    struct sp_masks_route_ipv6 *masks = sp_masks_route_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide122 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide122;
                        c->key[1] = (uint64_t)(wide122 >> 64);
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_out_vrf);
                        e = sp_find_route_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[14]++;
                    } else {
                        c->misses[14]++;
                        e = sp_default_route_ipv6(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
                if (e) {
                    c->hits[15]++;
                } else {
                    c->misses[15]++;
                    e = sp_default_nexthop(c);
                }
                if (e->action == ACTION_send) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac));
                }
                else if (e->action == ACTION_send_vxlan) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac));
                    c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                    sp_zero(c->h_underlay_ethernet, 14);
                    c->valid |= SP_BIT(V_underlay_ethernet);
                    sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                    sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                    sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                    sp_zero(c->h_underlay_ipv4, 20);
                    c->valid |= SP_BIT(V_underlay_ipv4);
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                    sp_st8(c->h_underlay_ipv4 + 1, 0u);
                    sp_st16(c->h_underlay_ipv4 + 4, 0u);
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                    sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                    sp_st16(c->h_underlay_ipv4 + 10, 0u);
                    sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                    sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                    sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                    sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                    sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                    sp_zero(c->h_underlay_udp, 8);
                    c->valid |= SP_BIT(V_underlay_udp);
                    sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                    sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                    sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                    sp_st16(c->h_underlay_udp + 6, 0u);
                    sp_zero(c->h_vxlan, 8);
                    c->valid |= SP_BIT(V_vxlan);
                    sp_st8(c->h_vxlan, 8u);
                    sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                    sp_st24(c->h_vxlan + 1, 0u);
                    sp_st8(c->h_vxlan + 7, 0u);
                }
                else if (e->action == ACTION_unresolved) {
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                    c->v.meta_reason = 6u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_inner_ipv6 + 7);
                if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
            } else {
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_police_colour = 0u;
            if (((uint32_t)c->v.meta_meter_1) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_2) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_3) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_class_meter) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    c->v.meta_reason = 0x22u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                sp_st8(c->h_inner_ipv6 + 7, ((sp_ld8(c->h_inner_ipv6 + 7) - 1u) & 0xff));
            }
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                sp_st16(c->h_ethernet + 12, 0x86ddu);
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
                c->valid &= ~SP_BIT(V_gtpu_optional);
                c->valid &= ~SP_BIT(V_gtpu_psc);
            } else {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
                sp_zero(c->h_tunnel_ipv4, 20);
                c->valid |= SP_BIT(V_tunnel_ipv4);
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
                sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
                sp_st16(c->h_tunnel_ipv4 + 4, 0u);
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
                sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
                sp_st16(c->h_tunnel_ipv4 + 10, 0u);
                sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
                sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
                sp_zero(c->h_tunnel_udp, 8);
                c->valid |= SP_BIT(V_tunnel_udp);
                sp_st16(c->h_tunnel_udp, 0x868u);
                sp_st16(c->h_tunnel_udp + 2, 0x868u);
                sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
                sp_st16(c->h_tunnel_udp + 6, 0u);
                sp_zero(c->h_tunnel_gtpu, 8);
                c->valid |= SP_BIT(V_tunnel_gtpu);
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
                sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
                sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
                c->v.UpfIngress_tunnel_relay_pdu_type = 0u;
                c->v.UpfIngress_tunnel_relay_qfi = 0u;
                c->v.UpfIngress_tunnel_relay_kept = 0xffu;
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_relay_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 0x10u : 0u);
                    if ((((uint32_t)c->v.meta_flags) & 0x40u) == 0u) {
                        c->v.UpfIngress_tunnel_relay_qfi = (uint32_t)c->v.meta_psc_qos;
                        c->v.UpfIngress_tunnel_relay_kept = 0xc0u;
                    }
                }
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(((((uint32_t)c->v.meta_relayed_bytes) == 0u) ? 0u : 1u)) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(((sp_ld8(c->h_gtpu) >> 1) & 0x1)) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)((sp_ld8(c->h_gtpu) & 0x1)));
                c->v.UpfIngress_tunnel_relay_empty = (((((uint32_t)c->v.meta_relayed_bytes) == 0u) && (((sp_ld8(c->h_gtpu) >> 1) & 0x1) == 0u)) && ((sp_ld8(c->h_gtpu) & 0x1) == 0u));
                if (((uint32_t)c->v.meta_new_container) == 1u) {
                    sp_st8(c->h_gtpu_psc + 1, (sp_ld8(c->h_gtpu_psc + 1) & 0xfu) | ((uint32_t)(((((uint32_t)c->v.UpfIngress_tunnel_relay_pdu_type) >> 4) & 0xf)) << 4));
                    sp_st8(c->h_gtpu_psc + 1, (sp_ld8(c->h_gtpu_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_gtpu_psc + 2, (uint32_t)c->v.meta_psc_qos);
                } else {
                    if ((((uint32_t)c->v.meta_flags) & 0x20u) == 0u) {
                        sp_st8(c->h_gtpu_psc + 2, ((sp_ld8(c->h_gtpu_psc + 2) & ((uint32_t)c->v.UpfIngress_tunnel_relay_kept)) | ((uint32_t)c->v.UpfIngress_tunnel_relay_qfi)));
                    } else {
                        c->valid &= ~SP_BIT(V_gtpu_psc);
                        sp_st8(c->h_gtpu_optional + 3, 0u);
                        if ((uint32_t)c->v.UpfIngress_tunnel_relay_empty) {
                            c->valid &= ~SP_BIT(V_gtpu_optional);
                        }
                    }
                }
                c->valid &= ~SP_BIT(V_ipv4);
                c->valid &= ~SP_BIT(V_ports);
                c->valid &= ~SP_BIT(V_udp_rest);
                c->valid &= ~SP_BIT(V_gtpu);
            }
            c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
            if (((uint32_t)c->v.meta_usage) != 0u) {
                sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
            }
        }
        if (c->v.standard_metadata_egress_spec == 511) goto dropped;
        c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
            }
            if (c->length + 58 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 58;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 44)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 54 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum123 = 0;
                    sum123 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum123 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum123 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum123 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum123 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum123)));
                }
            }
            if (c->length + 94 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 94;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 8)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 90 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum124 = 0;
                    sum124 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum124 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum124 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum124 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum124 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum124)));
                }
            }
            if (c->length + 108 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 108;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -6)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 104 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum125 = 0;
                    sum125 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum125 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum125 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum125 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum125 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum125)));
                }
            }
            if (c->length + 98 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 98;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, 4)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 94 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_gtpu_optional, 4);
            sp_copy(data + 54, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_gtpu_psc) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum126 = 0;
                    sum126 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum126 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum126 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum126 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum126 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum126)));
                }
            }
            if (c->length + 102 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 102;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 98 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_gtpu_optional, 4);
            sp_copy(data + 54, c->h_gtpu_psc, 4);
            sp_copy(data + 58, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum127 = 0;
                    sum127 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum127 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum127 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum127 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum127 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum127)));
                }
                {
                    uint64_t sum128 = 0;
                    sum128 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum128 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum128 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum128 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum128 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum128)));
                }
            }
            if (c->length + 144 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 144;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -42)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 140 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_gtpu_optional) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum129 = 0;
                    sum129 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum129 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum129 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum129 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum129 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum129)));
                }
                {
                    uint64_t sum130 = 0;
                    sum130 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum130 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum130 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum130 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum130 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum130)));
                }
            }
            if (c->length + 148 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 148;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -46)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 144 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_gtpu_optional, 4);
            sp_copy(data + 104, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum131 = 0;
                    sum131 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum131 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum131 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum131 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum131 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum131)));
                }
                {
                    uint64_t sum132 = 0;
                    sum132 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum132 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum132 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum132 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum132 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum132)));
                }
            }
            if (c->length + 152 > SP_MAX_PACKET + 102) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 102 + 152;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -50)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 148 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_gtpu_optional, 4);
            sp_copy(data + 104, c->h_gtpu_psc, 4);
            sp_copy(data + 108, c->h_inner_ipv6, 40);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
    }
class_5:;
    {
        /* verify_checksum */
        {
            {
                uint64_t sum133 = 0;
                sum133 += *(const uint32_t *)(c->h_ipv4);
                sum133 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum133 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum133 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum133 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum133))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
        }
        /* ingress */
        {
            if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
                if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                    c->v.meta_reason = 0x26u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x10u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
                c->v.meta_reason = 0x11u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_reason = 0u;
            if (((uint32_t)c->v.meta_source_routed) == 1u) {
                c->v.UpfIngress_user_packet_reason = 0x27u;
            }
            if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
                c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_ip_version = 4u;
            c->v.meta_src_v4 = sp_ld32(c->h_ipv4 + 12);
            c->v.meta_dst_v4 = sp_ld32(c->h_ipv4 + 16);
            c->v.meta_protocol = sp_ld8(c->h_ipv4 + 9);
            c->v.meta_tos = sp_ld8(c->h_ipv4 + 1);
            c->v.meta_pdu_length = sp_ld16(c->h_ipv4 + 2);
            c->v.meta_header_length = ((sp_ld8(c->h_ipv4) & 0xf) << 2);
            c->v.meta_src_port = sp_ld16(c->h_ports);
            c->v.meta_dst_port = sp_ld16(c->h_ports + 2);
            c->v.meta_header_length = (((uint32_t)c->v.meta_header_length) + 4u);
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                struct sp_cell_station *e = sp_find_station(c, (sp_ld64(c->h_ethernet) >> 16), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
                if (e) {
                    c->hits[0]++;
                } else {
                    c->misses[0]++;
                    e = sp_default_station(c);
                }
                c->v.UpfIngress_station_tmp = e->action;
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_group) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            {
                const uint32_t on134 = (uint32_t)c->v.UpfIngress_station_tmp;
                if (on134 == 2u) {
                    c->v.meta_reason = 0x2au;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_session_remote_v4 = 0u;
            c->v.UpfIngress_session_local_v4 = 0u;
            c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_remote_port = 0u;
            c->v.UpfIngress_session_local_port = 0u;
            c->v.UpfIngress_session_flow_label = 0u;
            {
                struct sp_cell_pdr_by_ue_ipv4 *e = sp_find_pdr_by_ue_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4));
                if (e) {
                    c->hits[3]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_4 = 1u;
                } else {
                    c->misses[3]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_4 = 0u;
                    e = sp_default_pdr_by_ue_ipv4(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_4)) {
                c->v.UpfIngress_session_src_2 = ((sp_ld32(c->h_ipv4 + 12) >> 24) & 0xff);
                if (((((uint32_t)c->v.UpfIngress_session_src_2) == 0u) || (((uint32_t)c->v.UpfIngress_session_src_2) >= 0xe0u)) || (((((uint32_t)c->v.UpfIngress_session_src_2) == 0x7fu) || (sp_ld32(c->h_ipv4 + 12) == sp_ld32(c->h_ipv4 + 16))) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                if (c->empty & SP_BIT(5)) {
                    c->misses[5]++;
                    c->v.UpfIngress_session_tmp_5 = ACTION_not_local;
                } else {
                    struct sp_cell_local_ipv4 *e = sp_find_local_ipv4(c, ((uint64_t)((uint32_t)c->v.meta_vrf)) << 32 | (uint64_t)sp_ld32(c->h_ipv4 + 16));
                    if (e) {
                        c->hits[5]++;
                    } else {
                        c->misses[5]++;
                        e = sp_default_local_ipv4(c);
                    }
                    c->v.UpfIngress_session_tmp_5 = e->action;
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                {
                    const uint32_t on135 = (uint32_t)c->v.UpfIngress_session_tmp_5;
                    if (on135 == 7u) {
                        if ((sp_ld8(c->h_ipv4 + 9) == 0x11u) && ((((sp_ld8(c->h_ipv4 + 6) >> 5) & 0x1) == 1u) || ((sp_ld16(c->h_ipv4 + 6) & 0x1fff) != 0u))) {
                            c->v.meta_reason = 0x15u;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                    else {
                        c->v.meta_reason = 0x1au;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (((uint32_t)c->v.meta_classified) == 1u) {
                c->v.UpfIngress_session_remote_v4 = (uint32_t)c->v.meta_src_v4;
                c->v.UpfIngress_session_local_v4 = (uint32_t)c->v.meta_dst_v4;
                c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
                c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_src_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_dst_port;
                {
                    struct sp_cell_sdf_ipv4 *e = 0;
                    struct sp_masks_sdf_ipv4 *masks = sp_masks_sdf_ipv4(c);
                    if (masks->count) {
                        c->key[0] = (uint64_t)((uint32_t)c->v.UpfIngress_session_remote_v4) | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_v4)) << 32;
                        c->key[1] = (uint64_t)((uint32_t)c->v.meta_filter_set) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 16 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_local_port)) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 56;
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_qfi);
                        e = sp_find_sdf_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[7]++;
                    } else {
                        c->misses[7]++;
                        e = sp_default_sdf_ipv4(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                {
                    struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                    if (e) {
                        c->hits[9]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                    } else {
                        c->misses[9]++;
                        if (c->subset) goto hand_on;
                        e = sp_default_pdr_by_class(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_no_pdr) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(10)) {
                c->misses[10]++;
            } else {
                struct sp_cell_firewall_v4 *e = 0;
                struct sp_masks_firewall_v4 *masks = sp_masks_firewall_v4(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v4(c, masks);
                }
                if (e) {
                    c->hits[10]++;
                } else {
                    c->misses[10]++;
                    e = sp_default_firewall_v4(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_disposition) != 0u) {
                if (((uint32_t)c->v.meta_disposition) == 2u) {
                    c->v.standard_metadata_egress_spec = 0x1fdu;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 3u) {
                        c->v.meta_reason = 0x1du;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    } else {
                        if (((uint32_t)c->v.meta_disposition) == 4u) {
                            c->v.meta_reason = 0x1eu;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
                c->v.meta_reason = 0x1cu;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
                if ((((uint32_t)c->v.meta_ue_ipv4) == 0u) || (((uint32_t)c->v.meta_src_v4) != ((uint32_t)c->v.meta_ue_ipv4))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_enforce_src = ((((uint32_t)c->v.meta_src_v4) >> 24) & 0xff);
                c->v.UpfIngress_enforce_dst = ((((uint32_t)c->v.meta_dst_v4) >> 24) & 0xff);
                if (((((((uint32_t)c->v.UpfIngress_enforce_src) == 0u) || (((uint32_t)c->v.UpfIngress_enforce_src) >= 0xe0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0u)) || (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xf0u)) || (((((uint32_t)c->v.UpfIngress_enforce_src) == 0x7fu) || (((uint32_t)c->v.UpfIngress_enforce_dst) == 0x7fu)) && (((uint32_t)c->v.meta_loopback) == 0u))) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.UpfIngress_enforce_dst) >= 0xe0u) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(12)) {
                c->misses[12]++;
            } else {
                struct sp_cell_traffic_class *e = 0;
                struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)((uint32_t)c->v.meta_src_v4) | ((uint64_t)((uint32_t)c->v.meta_dst_v4)) << 32;
                    c->key[1] = ((uint64_t)4u) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                    e = sp_find_traffic_class(c, masks);
                }
                if (e) {
                    c->hits[12]++;
                } else {
                    c->misses[12]++;
                    e = sp_default_traffic_class(c);
                }
                if (e->action == ACTION_set_class) {
                    if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                    c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                    c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
                }
            }
            c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
            if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                    c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
                }
            }
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
                if (e) {
                    c->hits[15]++;
                } else {
                    c->misses[15]++;
                    e = sp_default_nexthop(c);
                }
                if (e->action == ACTION_send) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac));
                }
                else if (e->action == ACTION_send_vxlan) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac));
                    c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                    sp_zero(c->h_underlay_ethernet, 14);
                    c->valid |= SP_BIT(V_underlay_ethernet);
                    sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                    sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                    sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                    sp_zero(c->h_underlay_ipv4, 20);
                    c->valid |= SP_BIT(V_underlay_ipv4);
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                    sp_st8(c->h_underlay_ipv4 + 1, 0u);
                    sp_st16(c->h_underlay_ipv4 + 4, 0u);
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                    sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                    sp_st16(c->h_underlay_ipv4 + 10, 0u);
                    sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                    sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                    sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                    sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                    sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                    sp_zero(c->h_underlay_udp, 8);
                    c->valid |= SP_BIT(V_underlay_udp);
                    sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                    sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                    sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                    sp_st16(c->h_underlay_udp + 6, 0u);
                    sp_zero(c->h_vxlan, 8);
                    c->valid |= SP_BIT(V_vxlan);
                    sp_st8(c->h_vxlan, 8u);
                    sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                    sp_st24(c->h_vxlan + 1, 0u);
                    sp_st8(c->h_vxlan + 7, 0u);
                }
                else if (e->action == ACTION_unresolved) {
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                    c->v.meta_reason = 6u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_ipv4 + 8);
                if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
            } else {
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_police_colour = 0u;
            if (((uint32_t)c->v.meta_meter_1) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_2) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_3) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_class_meter) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    c->v.meta_reason = 0x22u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2 = sp_ld8(c->h_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2 = sp_ld16(c->h_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff));
                sp_st8(c->h_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2);
                sp_st16(c->h_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2);
            }
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                sp_st16(c->h_ethernet + 12, 0x800u);
            } else {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
                sp_zero(c->h_tunnel_ipv4, 20);
                c->valid |= SP_BIT(V_tunnel_ipv4);
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
                sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
                sp_st16(c->h_tunnel_ipv4 + 4, 0u);
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
                sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
                sp_st16(c->h_tunnel_ipv4 + 10, 0u);
                sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
                sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
                sp_zero(c->h_tunnel_udp, 8);
                c->valid |= SP_BIT(V_tunnel_udp);
                sp_st16(c->h_tunnel_udp, 0x868u);
                sp_st16(c->h_tunnel_udp + 2, 0x868u);
                sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
                sp_st16(c->h_tunnel_udp + 6, 0u);
                sp_zero(c->h_tunnel_gtpu, 8);
                c->valid |= SP_BIT(V_tunnel_gtpu);
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
                sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
                sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_add_session_container_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 1u : 0u);
                    sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2));
                    sp_zero(c->h_tunnel_optional, 4);
                    c->valid |= SP_BIT(V_tunnel_optional);
                    sp_st16(c->h_tunnel_optional, 0u);
                    sp_st8(c->h_tunnel_optional + 2, 0u);
                    sp_st8(c->h_tunnel_optional + 3, 0x85u);
                    sp_zero(c->h_tunnel_psc, 4);
                    c->valid |= SP_BIT(V_tunnel_psc);
                    sp_st8(c->h_tunnel_psc, 1u);
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xfu) | ((uint32_t)((uint32_t)c->v.UpfIngress_tunnel_add_session_container_pdu_type) << 4));
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_tunnel_psc + 2, (uint32_t)c->v.meta_psc_qos);
                    sp_st8(c->h_tunnel_psc + 3, 0u);
                }
            }
            c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
            if (((uint32_t)c->v.meta_usage) != 0u) {
                sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
            }
        }
        if (c->v.standard_metadata_egress_spec == 511) goto dropped;
        c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
            }
            if (c->length + 38 > SP_MAX_PACKET + 38) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 38 + 38;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 38 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_ipv4, 20);
            sp_copy(data + 34, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_ipv4) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum136 = 0;
                    sum136 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum136 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum136 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum136 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum136 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum136)));
                }
            }
            if (c->length + 74 > SP_MAX_PACKET + 38) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 38 + 74;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -36)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 74 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_ipv4, 20);
            sp_copy(data + 70, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_ipv4) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum137 = 0;
                    sum137 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum137 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum137 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum137 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum137 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum137)));
                }
            }
            if (c->length + 88 > SP_MAX_PACKET + 38) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 38 + 88;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -50)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 88 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_ipv4, 20);
            sp_copy(data + 84, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc) | SP_BIT(V_ipv4) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum138 = 0;
                    sum138 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum138 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum138 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum138 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum138 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum138)));
                }
            }
            if (c->length + 82 > SP_MAX_PACKET + 38) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 38 + 82;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -44)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 82 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_tunnel_optional, 4);
            sp_copy(data + 54, c->h_tunnel_psc, 4);
            sp_copy(data + 58, c->h_ipv4, 20);
            sp_copy(data + 78, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_ipv4) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum139 = 0;
                    sum139 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum139 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum139 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum139 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum139 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum139)));
                }
                {
                    uint64_t sum140 = 0;
                    sum140 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum140 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum140 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum140 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum140 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum140)));
                }
            }
            if (c->length + 124 > SP_MAX_PACKET + 38) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 38 + 124;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -86)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 124 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_ipv4, 20);
            sp_copy(data + 120, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum141 = 0;
                    sum141 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum141 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum141 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum141 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum141 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum141)));
                }
                {
                    uint64_t sum142 = 0;
                    sum142 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum142 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum142 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum142 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum142 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum142)));
                }
            }
            if (c->length + 132 > SP_MAX_PACKET + 38) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 38 + 132;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -94)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 132 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_tunnel_optional, 4);
            sp_copy(data + 104, c->h_tunnel_psc, 4);
            sp_copy(data + 108, c->h_ipv4, 20);
            sp_copy(data + 128, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
    }
class_6:;
    {
        /* verify_checksum */
        {
        }
        /* ingress */
        {
            if (((uint32_t)c->v.standard_metadata_parser_error) != 0u) {
                if (((uint32_t)c->v.standard_metadata_parser_error) == 9u) {
                    c->v.meta_reason = 0x26u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.meta_reason = 0x10u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.standard_metadata_checksum_error) == 1u) {
                c->v.meta_reason = 0x11u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.UpfIngress_user_packet_reason = 0u;
            if (((uint32_t)c->v.meta_source_routed) == 1u) {
                c->v.UpfIngress_user_packet_reason = 0x27u;
            }
            if (((uint32_t)c->v.UpfIngress_user_packet_reason) != 0u) {
                c->v.meta_reason = (uint32_t)c->v.UpfIngress_user_packet_reason;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            c->v.meta_ip_version = 6u;
            c->v.meta_src_v6 = sp_ld128(c->h_ipv6 + 8);
            c->v.meta_dst_v6 = sp_ld128(c->h_ipv6 + 24);
            c->v.meta_protocol = sp_ld8(c->h_ipv6 + 6);
            c->v.meta_tos = ((sp_ld16(c->h_ipv6) >> 4) & 0xff);
            c->v.meta_pdu_length = (sp_ld16(c->h_ipv6 + 4) + 0x28u);
            c->v.meta_header_length = 0x28u;
            c->v.meta_src_port = sp_ld16(c->h_ports);
            c->v.meta_dst_port = sp_ld16(c->h_ports + 2);
            c->v.meta_header_length = (0x28u + 4u);
            c->v.UpfIngress_user_packet_end = (((uint32_t)c->v.meta_pdu_length) + ((uint32_t)c->v.meta_user_offset));
            if ((((uint32_t)c->v.UpfIngress_user_packet_end) > ((uint32_t)c->v.standard_metadata_packet_length)) || (((uint32_t)c->v.meta_pdu_length) < ((uint32_t)c->v.meta_header_length))) {
                c->v.meta_reason = 0x12u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            {
                struct sp_cell_station *e = sp_find_station(c, (sp_ld64(c->h_ethernet) >> 16), (uint64_t)((uint32_t)c->v.standard_metadata_ingress_port));
                if (e) {
                    c->hits[0]++;
                } else {
                    c->misses[0]++;
                    e = sp_default_station(c);
                }
                c->v.UpfIngress_station_tmp = e->action;
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_group) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.group.p0_vrf);
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            {
                const uint32_t on143 = (uint32_t)c->v.UpfIngress_station_tmp;
                if (on143 == 2u) {
                    if (((uint32_t)(sp_ld128(c->h_ipv6 + 24) >> 120) & 0xff) != 0xffu) {
                        c->v.meta_reason = 0x2au;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            c->v.UpfIngress_session_remote_v4 = 0u;
            c->v.UpfIngress_session_local_v4 = 0u;
            c->v.UpfIngress_session_remote_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_local_v6 = SP_U128(0x0ull, 0x0ull);
            c->v.UpfIngress_session_remote_port = 0u;
            c->v.UpfIngress_session_local_port = 0u;
            c->v.UpfIngress_session_flow_label = 0u;
            {
                struct sp_cell_pdr_by_ue_ipv6 *e = sp_find_pdr_by_ue_ipv6(c, ((uint64_t)(((sp_u128)c->v.meta_dst_v6) >> 64)), (uint64_t)((uint32_t)c->v.meta_vrf));
                if (e) {
                    c->hits[4]++;
                    if (!c->flow) {
                        c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                        *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                    } else {
                        if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                    }
                    c->v.UpfIngress_session_tmp_6 = 1u;
                } else {
                    c->misses[4]++;
                    if (c->subset) goto hand_on;
                    c->v.UpfIngress_session_tmp_6 = 0u;
                    e = sp_default_pdr_by_ue_ipv6(c);
                }
                if (e->action == ACTION_set_pdr) {
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                    if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                    if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                    c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                    c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                    c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                    c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                    c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                    c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                    c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                    c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                    c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                    c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                    c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                    c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                    c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                    c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                    c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                }
                else if (e->action == ACTION_classify) {
                    c->v.meta_classified = 1u;
                    c->v.meta_group = (uint32_t)((uint32_t)e->args.classify.p0_group);
                    c->v.meta_filter_set = (uint32_t)((uint32_t)e->args.classify.p1_filter_set);
                }
            }
            if (!((uint32_t)c->v.UpfIngress_session_tmp_6)) {
                if (((((((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) && (((uint32_t)((sp_u128)c->v.meta_src_v6)) != 0u)) || (((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 120) & 0xff) == 0xffu)) || (((sp_u128)c->v.meta_src_v6) == ((sp_u128)c->v.meta_dst_v6))) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                if (c->empty & SP_BIT(6)) {
                    c->misses[6]++;
                } else {
                    struct sp_cell_local_ipv6 *e = 0;
                    struct sp_masks_local_ipv6 *masks = sp_masks_local_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide144 = sp_ld128(c->h_ipv6 + 24);
                        c->key[0] = (uint64_t)wide144;
                        c->key[1] = (uint64_t)(wide144 >> 64);
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_vrf);
                        e = sp_find_local_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[6]++;
                    } else {
                        c->misses[6]++;
                        e = sp_default_local_ipv6(c);
                    }
                    if (e->action == ACTION_host) {
                        c->v.meta_reason = 3u;
                        c->v.standard_metadata_egress_spec = 0x1feu;
                        goto end_of_ingress;
                    }
                }
                c->v.meta_reason = 0x1au;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if (((uint32_t)c->v.meta_classified) == 1u) {
                c->v.UpfIngress_session_remote_v4 = 0u;
                c->v.UpfIngress_session_local_v4 = 0u;
                c->v.UpfIngress_session_remote_v6 = (sp_u128)c->v.meta_src_v6;
                c->v.UpfIngress_session_local_v6 = (sp_u128)c->v.meta_dst_v6;
                c->v.UpfIngress_session_remote_port = (uint32_t)c->v.meta_src_port;
                c->v.UpfIngress_session_local_port = (uint32_t)c->v.meta_dst_port;
                c->v.UpfIngress_session_flow_label = ((sp_ld32(c->h_ipv6 + 1) >> 8) & 0xfffff);
                {
                    struct sp_cell_sdf_ipv6 *e = 0;
                    struct sp_masks_sdf_ipv6 *masks = sp_masks_sdf_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide145 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide146 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide145;
                        c->key[1] = (uint64_t)(wide145 >> 64);
                        c->key[2] = (uint64_t)wide146;
                        c->key[3] = (uint64_t)(wide146 >> 64);
                        c->key[4] = ((uint64_t)((uint32_t)c->v.meta_filter_set)) << 32 | ((uint64_t)((uint32_t)c->v.UpfIngress_session_remote_port)) << 48 | (uint64_t)((uint32_t)c->v.UpfIngress_session_flow_label);
                        c->key[5] = ((uint64_t)((uint32_t)c->v.meta_protocol)) << 16 | (uint64_t)((uint32_t)c->v.UpfIngress_session_local_port) | ((uint64_t)((uint32_t)c->v.meta_tos)) << 24 | ((uint64_t)((uint32_t)c->v.meta_qfi)) << 32;
                        e = sp_find_sdf_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[8]++;
                    } else {
                        c->misses[8]++;
                        e = sp_default_sdf_ipv6(c);
                    }
                    if (e->action == ACTION_set_filter) {
                        c->v.meta_class = (uint32_t)((uint32_t)e->args.set_filter.p0_class);
                    }
                    else if (e->action == ACTION_no_filter) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
                {
                    struct sp_cell_pdr_by_class *e = sp_find_pdr_by_class(c, (uint64_t)((uint32_t)c->v.meta_group) | ((uint64_t)((uint32_t)c->v.meta_class)) << 32);
                    if (e) {
                        c->hits[9]++;
                        if (!c->flow) {
                            c->flow = (c->home & (SP_FLOWS - 1)) + 1;
                            *(volatile uint32_t *)&c->follows = e->pending ? 1 : sp_follows(c, control);
                        } else {
                            if (e->pending) *(volatile uint32_t *)&c->follows = 1;
                        }
                    } else {
                        c->misses[9]++;
                        if (c->subset) goto hand_on;
                        e = sp_default_pdr_by_class(c);
                    }
                    if (e->action == ACTION_set_pdr) {
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) | ((uint32_t)e->args.set_pdr.p5_meter_2) | ((uint32_t)e->args.set_pdr.p6_meter_3)) (void)sp_now(c);
                        if (((uint32_t)e->args.set_pdr.p3_usage) && ((uint32_t)e->args.set_pdr.p3_usage) < SP_CELLS(0) && !sp_touch(sp_n0_at(c->cpu * SP_CELLS(0) + (uint32_t)((uint32_t)e->args.set_pdr.p3_usage)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p4_meter_1) && ((uint32_t)e->args.set_pdr.p4_meter_1) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p5_meter_2) && ((uint32_t)e->args.set_pdr.p5_meter_2) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2)))) goto failed;
                        if (((uint32_t)e->args.set_pdr.p6_meter_3) && ((uint32_t)e->args.set_pdr.p6_meter_3) < SP_ENTRIES(sp_p0) && !sp_touch(sp_p0_at((uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3)))) goto failed;
                        c->v.meta_mark = (uint32_t)((uint32_t)e->args.set_pdr.p0_pdr);
                        c->v.meta_disposition = (uint32_t)((uint32_t)e->args.set_pdr.p1_disposition);
                        c->v.meta_flags = (uint32_t)((uint32_t)e->args.set_pdr.p2_flags);
                        c->v.meta_usage = (uint32_t)((uint32_t)e->args.set_pdr.p3_usage);
                        c->v.meta_meter_1 = (uint32_t)((uint32_t)e->args.set_pdr.p4_meter_1);
                        c->v.meta_meter_2 = (uint32_t)((uint32_t)e->args.set_pdr.p5_meter_2);
                        c->v.meta_meter_3 = (uint32_t)((uint32_t)e->args.set_pdr.p6_meter_3);
                        c->v.meta_ue_ipv4 = (uint32_t)((uint32_t)e->args.set_pdr.p7_ue_ipv4);
                        c->v.meta_ue_prefix = (uint64_t)((uint64_t)e->args.set_pdr.p8_ue_prefix);
                        c->v.meta_encapsulation = (uint32_t)((uint32_t)e->args.set_pdr.p9_encapsulation);
                        c->v.meta_tunnel_teid = (uint32_t)((uint32_t)e->args.set_pdr.p10_tunnel_teid);
                        c->v.meta_tunnel_dst = (uint32_t)((uint32_t)e->args.set_pdr.p11_tunnel_dst);
                        c->v.meta_tunnel_src = (uint32_t)((uint32_t)e->args.set_pdr.p12_tunnel_src);
                        c->v.meta_psc_qos = (uint32_t)((uint32_t)e->args.set_pdr.p13_psc_qos);
                        c->v.meta_tunnel_tos = (uint32_t)((uint32_t)e->args.set_pdr.p14_tunnel_tos);
                        c->v.meta_out_vrf = (uint32_t)((uint32_t)e->args.set_pdr.p15_out_vrf);
                    }
                    else if (e->action == ACTION_no_pdr) {
                        c->v.meta_reason = 0x1bu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(11)) {
                c->misses[11]++;
            } else {
                struct sp_cell_firewall_v6 *e = 0;
                struct sp_masks_firewall_v6 *masks = sp_masks_firewall_v6(c);
                if (masks->count) {
                    const sp_u128 wide147 = (sp_u128)c->v.meta_src_v6;
                    const sp_u128 wide148 = (sp_u128)c->v.meta_dst_v6;
                    c->key[0] = (uint64_t)wide147;
                    c->key[1] = (uint64_t)(wide147 >> 64);
                    c->key[2] = (uint64_t)wide148;
                    c->key[3] = (uint64_t)(wide148 >> 64);
                    c->key[4] = (uint64_t)((uint32_t)c->v.meta_vrf) | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | ((uint64_t)((uint32_t)c->v.meta_src_port)) << 16 | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 32;
                    e = sp_find_firewall_v6(c, masks);
                }
                if (e) {
                    c->hits[11]++;
                } else {
                    c->misses[11]++;
                    e = sp_default_firewall_v6(c);
                }
                if (e->action == ACTION_deny) {
                    c->v.meta_reason = 0x21u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_disposition) != 0u) {
                if (((uint32_t)c->v.meta_disposition) == 2u) {
                    c->v.standard_metadata_egress_spec = 0x1fdu;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)c->v.meta_disposition) == 3u) {
                        c->v.meta_reason = 0x1du;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    } else {
                        if (((uint32_t)c->v.meta_disposition) == 4u) {
                            c->v.meta_reason = 0x1eu;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                    }
                }
                c->v.meta_reason = 0x1cu;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
            if ((((uint32_t)c->v.meta_flags) & 2u) != 0u) {
                if ((((uint64_t)c->v.meta_ue_prefix) == 0x0ull) || (((uint64_t)(((sp_u128)c->v.meta_src_v6) >> 64)) != ((uint64_t)c->v.meta_ue_prefix))) {
                    c->v.meta_reason = 0x1fu;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                if (((((((((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull)) || (((((sp_u128)c->v.meta_src_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 120) & 0xff) == 0xffu)) || (((uint32_t)(((sp_u128)c->v.meta_src_v6) >> 118) & 0x3ff) == 0x3fau)) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0x0ull))) || (((((sp_u128)c->v.meta_dst_v6) >> 32) & SP_U128(0xffffffffull, 0xffffffffffffffffull)) == SP_U128(0x0ull, 0xffffull))) || (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 118) & 0x3ff) == 0x3fau)) {
                    c->v.meta_reason = 0x28u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                } else {
                    if (((uint32_t)(((sp_u128)c->v.meta_dst_v6) >> 120) & 0xff) == 0xffu) {
                        c->v.meta_reason = 0x29u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            if (c->empty & SP_BIT(12)) {
                c->misses[12]++;
            } else {
                struct sp_cell_traffic_class *e = 0;
                struct sp_masks_traffic_class *masks = sp_masks_traffic_class(c);
                if (masks->count) {
                    c->key[0] = (uint64_t)0u | ((uint64_t)0u) << 32;
                    c->key[1] = ((uint64_t)6u) << 32 | ((uint64_t)((uint32_t)c->v.meta_tos)) << 40 | ((uint64_t)((uint32_t)c->v.meta_protocol)) << 48 | (uint64_t)((uint32_t)c->v.meta_src_port) | ((uint64_t)((uint32_t)c->v.meta_dst_port)) << 16;
                    e = sp_find_traffic_class(c, masks);
                }
                if (e) {
                    c->hits[12]++;
                } else {
                    c->misses[12]++;
                    e = sp_default_traffic_class(c);
                }
                if (e->action == ACTION_set_class) {
                    if (((uint32_t)e->args.set_class.p1_meter_cell)) (void)sp_now(c);
                    c->v.standard_metadata_priority = (uint32_t)((uint32_t)e->args.set_class.p0_queue);
                    c->v.meta_class_meter = (uint32_t)((uint32_t)e->args.set_class.p1_meter_cell);
                }
            }
            c->v.meta_out_length = (uint32_t)c->v.meta_pdu_length;
            if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_pdu_length) + 0x24u);
            } else {
                if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                    c->v.meta_out_length = ((((uint32_t)c->v.meta_pdu_length) + 0x24u) + 8u);
                }
            }
            if (((uint32_t)c->v.meta_encapsulation) != 0u) {
                c->v.meta_dst_v4 = (uint32_t)c->v.meta_tunnel_dst;
                {
                    struct sp_cell_route_ipv4 *e = 0;
                    struct sp_masks_route_ipv4 *masks = sp_masks_route_ipv4(c);
                    if (masks->count) {
                        c->key[0] = ((uint64_t)((uint32_t)c->v.meta_out_vrf)) << 32 | (uint64_t)((uint32_t)c->v.meta_dst_v4);
                        e = sp_find_route_ipv4(c, masks);
                    }
                    if (e) {
                        c->hits[13]++;
                    } else {
                        c->misses[13]++;
                        e = sp_default_route_ipv4(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            } else {
                {
                    struct sp_cell_route_ipv6 *e = 0;
                    struct sp_masks_route_ipv6 *masks = sp_masks_route_ipv6(c);
                    if (masks->count) {
                        const sp_u128 wide149 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide149;
                        c->key[1] = (uint64_t)(wide149 >> 64);
                        c->key[2] = (uint64_t)((uint32_t)c->v.meta_out_vrf);
                        e = sp_find_route_ipv6(c, masks);
                    }
                    if (e) {
                        c->hits[14]++;
                    } else {
                        c->misses[14]++;
                        e = sp_default_route_ipv6(c);
                    }
                    if (e->action == ACTION_set_nexthop) {
                        c->v.meta_nexthop = (uint32_t)((uint32_t)e->args.set_nexthop.p0_nexthop);
                    }
                    else if (e->action == ACTION_UpfIngress_route_drop) {
                        c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                }
            }
            {
                struct sp_cell_nexthop *e = sp_find_nexthop(c, (uint64_t)((uint32_t)c->v.meta_nexthop));
                if (e) {
                    c->hits[15]++;
                } else {
                    c->misses[15]++;
                    e = sp_default_nexthop(c);
                }
                if (e->action == ACTION_send) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send.p3_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send.p2_dst_mac));
                }
                else if (e->action == ACTION_send_vxlan) {
                    c->v.meta_mtu = (uint32_t)((uint32_t)e->args.send_vxlan.p8_mtu);
                    c->v.standard_metadata_egress_spec = (uint32_t)((uint32_t)e->args.send_vxlan.p0_port);
                    sp_st48(c->h_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p1_src_mac));
                    sp_st48(c->h_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p2_dst_mac));
                    c->v.UpfIngress_route_send_vxlan_frame = ((((uint32_t)c->v.meta_out_length & 0xffff) + 0xeu) & 0xffff);
                    sp_zero(c->h_underlay_ethernet, 14);
                    c->valid |= SP_BIT(V_underlay_ethernet);
                    sp_st48(c->h_underlay_ethernet, (uint64_t)((uint64_t)e->args.send_vxlan.p7_underlay_dst_mac));
                    sp_st48(c->h_underlay_ethernet + 6, (uint64_t)((uint64_t)e->args.send_vxlan.p6_underlay_src_mac));
                    sp_st16(c->h_underlay_ethernet + 12, 0x800u);
                    sp_zero(c->h_underlay_ipv4, 20);
                    c->valid |= SP_BIT(V_underlay_ipv4);
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                    sp_st8(c->h_underlay_ipv4, (sp_ld8(c->h_underlay_ipv4) & 0xf0u) | (uint32_t)(5u));
                    sp_st8(c->h_underlay_ipv4 + 1, 0u);
                    sp_st16(c->h_underlay_ipv4 + 4, 0u);
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                    sp_st16(c->h_underlay_ipv4 + 6, (sp_ld16(c->h_underlay_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                    sp_st16(c->h_underlay_ipv4 + 10, 0u);
                    sp_st16(c->h_underlay_ipv4 + 2, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x24u) & 0xffff));
                    sp_st8(c->h_underlay_ipv4 + 6, (sp_ld8(c->h_underlay_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                    sp_st8(c->h_underlay_ipv4 + 8, 0x40u);
                    sp_st8(c->h_underlay_ipv4 + 9, 0x11u);
                    sp_st32(c->h_underlay_ipv4 + 12, (uint32_t)((uint32_t)e->args.send_vxlan.p4_vtep_src));
                    sp_st32(c->h_underlay_ipv4 + 16, (uint32_t)((uint32_t)e->args.send_vxlan.p5_vtep_dst));
                    sp_zero(c->h_underlay_udp, 8);
                    c->valid |= SP_BIT(V_underlay_udp);
                    sp_st16(c->h_underlay_udp, ((((uint32_t)c->v.meta_dst_v4 & 0xffff) ^ ((uint32_t)c->v.meta_src_port)) | 0xc000u));
                    sp_st16(c->h_underlay_udp + 2, 0x12b5u);
                    sp_st16(c->h_underlay_udp + 4, ((((uint32_t)c->v.UpfIngress_route_send_vxlan_frame) + 0x10u) & 0xffff));
                    sp_st16(c->h_underlay_udp + 6, 0u);
                    sp_zero(c->h_vxlan, 8);
                    c->valid |= SP_BIT(V_vxlan);
                    sp_st8(c->h_vxlan, 8u);
                    sp_st24(c->h_vxlan + 4, (uint32_t)((uint32_t)e->args.send_vxlan.p3_vni));
                    sp_st24(c->h_vxlan + 1, 0u);
                    sp_st8(c->h_vxlan + 7, 0u);
                }
                else if (e->action == ACTION_unresolved) {
                    c->v.meta_mark = (uint32_t)((uint32_t)e->args.unresolved.p0_nexthop);
                    c->v.meta_reason = 6u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                else if (e->action == ACTION_UpfIngress_route_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_route_drop.p0_reason);
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                c->v.UpfIngress_route_ttl = sp_ld8(c->h_ipv6 + 7);
                if (((uint32_t)c->v.UpfIngress_route_ttl) <= 1u) {
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | 0u);
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.UpfIngress_route_tell_fits = ((((uint32_t)c->v.meta_mtu) - ((((uint32_t)c->v.meta_out_length) - ((uint32_t)c->v.meta_pdu_length)) & 0xffff)) & 0xffff);
                    c->valid &= ~SP_BIT(V_underlay_ethernet);
                    c->valid &= ~SP_BIT(V_underlay_ipv4);
                    c->valid &= ~SP_BIT(V_underlay_udp);
                    c->valid &= ~SP_BIT(V_vxlan);
                    c->v.meta_mark = ((uint32_t)((uint32_t)c->v.meta_out_vrf) << 16 | ((uint32_t)c->v.UpfIngress_route_tell_fits));
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 0x1feu;
                    goto end_of_ingress;
                }
            } else {
                if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                    c->v.meta_reason = 0x25u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            c->v.UpfIngress_police_colour = 0u;
            if (((uint32_t)c->v.meta_meter_1) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_1), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[0]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 0x10u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_2) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_2), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[1]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 8u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_meter_3) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p0_at, sp_q0_at, (uint64_t)((uint32_t)c->v.meta_meter_3), SP_ENTRIES(sp_p0), c->v.meta_pdu_length, &c->undo_meter[2]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    if ((((uint32_t)c->v.meta_flags) & 4u) != 0u) {
                        c->v.meta_reason = 0x1eu;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    c->v.meta_reason = 0x20u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if (((uint32_t)c->v.meta_class_meter) != 0u) {
                {
                    uint32_t colour = sp_execute(c, sp_p1_at, sp_q1_at, (uint64_t)((uint32_t)c->v.meta_class_meter), 0, c->v.meta_pdu_length, &c->undo_meter[3]);
                    if (colour == SP_BUSY) goto failed;
                    c->v.UpfIngress_police_colour = (colour & 0x3);
                }
                if (((uint32_t)c->v.UpfIngress_police_colour) == 2u) {
                    c->v.meta_reason = 0x22u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
            }
            if ((((uint32_t)c->v.meta_flags) & 1u) != 0u) {
                sp_st8(c->h_ipv6 + 7, ((sp_ld8(c->h_ipv6 + 7) - 1u) & 0xff));
            }
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                sp_st16(c->h_ethernet + 12, 0x86ddu);
            } else {
                sp_st16(c->h_ethernet + 12, 0x800u);
                c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload = ((((uint32_t)c->v.meta_out_length) - 0x24u) & 0xffff);
                sp_zero(c->h_tunnel_ipv4, 20);
                c->valid |= SP_BIT(V_tunnel_ipv4);
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xfu) | ((uint32_t)(4u) << 4));
                sp_st8(c->h_tunnel_ipv4, (sp_ld8(c->h_tunnel_ipv4) & 0xf0u) | (uint32_t)(5u));
                sp_st8(c->h_tunnel_ipv4 + 1, (uint32_t)c->v.meta_tunnel_tos);
                sp_st16(c->h_tunnel_ipv4 + 2, ((uint32_t)c->v.meta_out_length & 0xffff));
                sp_st16(c->h_tunnel_ipv4 + 4, 0u);
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0x7fu) | ((uint32_t)(0u) << 7));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xbfu) | ((uint32_t)(1u) << 6));
                sp_st8(c->h_tunnel_ipv4 + 6, (sp_ld8(c->h_tunnel_ipv4 + 6) & 0xdfu) | ((uint32_t)(0u) << 5));
                sp_st16(c->h_tunnel_ipv4 + 6, (sp_ld16(c->h_tunnel_ipv4 + 6) & 0xe000u) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_ipv4 + 8, 0x40u);
                sp_st8(c->h_tunnel_ipv4 + 9, 0x11u);
                sp_st16(c->h_tunnel_ipv4 + 10, 0u);
                sp_st32(c->h_tunnel_ipv4 + 12, (uint32_t)c->v.meta_tunnel_src);
                sp_st32(c->h_tunnel_ipv4 + 16, (uint32_t)c->v.meta_tunnel_dst);
                sp_zero(c->h_tunnel_udp, 8);
                c->valid |= SP_BIT(V_tunnel_udp);
                sp_st16(c->h_tunnel_udp, 0x868u);
                sp_st16(c->h_tunnel_udp + 2, 0x868u);
                sp_st16(c->h_tunnel_udp + 4, ((((uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload) + 0x10u) & 0xffff));
                sp_st16(c->h_tunnel_udp + 6, 0u);
                sp_zero(c->h_tunnel_gtpu, 8);
                c->valid |= SP_BIT(V_tunnel_gtpu);
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0x1fu) | ((uint32_t)(1u) << 5));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xefu) | ((uint32_t)(1u) << 4));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xf7u) | ((uint32_t)(0u) << 3));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(0u) << 2));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfdu) | ((uint32_t)(0u) << 1));
                sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfeu) | (uint32_t)(0u));
                sp_st8(c->h_tunnel_gtpu + 1, 0xffu);
                sp_st16(c->h_tunnel_gtpu + 2, (uint32_t)c->v.UpfIngress_tunnel_put_in_tunnel_gtpu_payload);
                sp_st32(c->h_tunnel_gtpu + 4, (uint32_t)c->v.meta_tunnel_teid);
                if (((uint32_t)c->v.meta_encapsulation) != 1u) {
                    c->v.UpfIngress_tunnel_add_session_container_pdu_type = ((((uint32_t)c->v.meta_encapsulation) == 3u) ? 1u : 0u);
                    sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2));
                    sp_zero(c->h_tunnel_optional, 4);
                    c->valid |= SP_BIT(V_tunnel_optional);
                    sp_st16(c->h_tunnel_optional, 0u);
                    sp_st8(c->h_tunnel_optional + 2, 0u);
                    sp_st8(c->h_tunnel_optional + 3, 0x85u);
                    sp_zero(c->h_tunnel_psc, 4);
                    c->valid |= SP_BIT(V_tunnel_psc);
                    sp_st8(c->h_tunnel_psc, 1u);
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xfu) | ((uint32_t)((uint32_t)c->v.UpfIngress_tunnel_add_session_container_pdu_type) << 4));
                    sp_st8(c->h_tunnel_psc + 1, (sp_ld8(c->h_tunnel_psc + 1) & 0xf0u) | (uint32_t)(0u));
                    sp_st8(c->h_tunnel_psc + 2, (uint32_t)c->v.meta_psc_qos);
                    sp_st8(c->h_tunnel_psc + 3, 0u);
                }
            }
            c->keep = (((uint32_t)c->v.meta_out_length) + (((uint32_t)(c->valid >> V_underlay_ethernet & 1)) ? 0x40u : 0xeu));
            if (((uint32_t)c->v.meta_usage) != 0u) {
                sp_pend(&c->count[0], (uint64_t)((uint32_t)c->v.meta_usage), SP_CELLS(0), 1, c->v.meta_pdu_length);
            }
        }
        if (c->v.standard_metadata_egress_spec == 511) goto dropped;
        c->v.standard_metadata_egress_port = c->v.standard_metadata_egress_spec;
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
            }
            if (c->length + 58 > SP_MAX_PACKET + 58) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 58 + 58;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 58 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_ipv6, 40);
            sp_copy(data + 54, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum150 = 0;
                    sum150 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum150 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum150 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum150 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum150 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum150)));
                }
            }
            if (c->length + 94 > SP_MAX_PACKET + 58) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 58 + 94;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -36)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 94 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_ipv6, 40);
            sp_copy(data + 90, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum151 = 0;
                    sum151 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum151 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum151 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum151 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum151 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum151)));
                }
            }
            if (c->length + 108 > SP_MAX_PACKET + 58) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 58 + 108;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -50)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 108 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_ipv6, 40);
            sp_copy(data + 104, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum152 = 0;
                    sum152 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum152 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum152 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum152 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum152 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum152)));
                }
            }
            if (c->length + 102 > SP_MAX_PACKET + 58) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 58 + 102;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -44)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 102 > end) goto failed;
            sp_copy(data + 0, c->h_ethernet, 14);
            sp_copy(data + 14, c->h_tunnel_ipv4, 20);
            sp_copy(data + 34, c->h_tunnel_udp, 8);
            sp_copy(data + 42, c->h_tunnel_gtpu, 8);
            sp_copy(data + 50, c->h_tunnel_optional, 4);
            sp_copy(data + 54, c->h_tunnel_psc, 4);
            sp_copy(data + 58, c->h_ipv6, 40);
            sp_copy(data + 98, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        if (c->valid == (SP_BIT(V_underlay_ethernet) | SP_BIT(V_underlay_ipv4) | SP_BIT(V_underlay_udp) | SP_BIT(V_vxlan) | SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_ipv6) | SP_BIT(V_ports))) {
            /* compute_checksum */
            {
                {
                    uint64_t sum153 = 0;
                    sum153 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum153 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum153 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum153 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum153 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum153)));
                }
                {
                    uint64_t sum154 = 0;
                    sum154 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum154 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum154 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum154 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum154 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum154)));
                }
            }
            if (c->length + 144 > SP_MAX_PACKET + 58) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 58 + 144;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -86)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 144 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_ipv6, 40);
            sp_copy(data + 140, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum155 = 0;
                    sum155 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum155 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum155 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum155 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum155 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum155)));
                }
                {
                    uint64_t sum156 = 0;
                    sum156 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum156 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum156 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum156 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum156 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum156)));
                }
            }
            if (c->length + 152 > SP_MAX_PACKET + 58) goto no_room;
            c->out_port = c->v.standard_metadata_egress_port;
            const int here = c->out_port != 510 && c->out_port != 509;
            if (c->subset && (!here || *(volatile uint32_t *)&c->follows || !sp_leaves(c))) goto hand_on;
            const uint32_t whole = c->length - 58 + 152;
            if (whole > c->keep && c->keep < 14) goto failed;
            c->keep = whole > c->keep ? whole - c->keep : 0;
            if (bpf_xdp_adjust_head(ctx, -94)) goto failed;
            data = (uint8_t *)(long)ctx->data;
            end = (uint8_t *)(long)ctx->data_end;
            if (data + 152 > end) goto failed;
            sp_copy(data + 0, c->h_underlay_ethernet, 14);
            sp_copy(data + 14, c->h_underlay_ipv4, 20);
            sp_copy(data + 34, c->h_underlay_udp, 8);
            sp_copy(data + 42, c->h_vxlan, 8);
            sp_copy(data + 50, c->h_ethernet, 14);
            sp_copy(data + 64, c->h_tunnel_ipv4, 20);
            sp_copy(data + 84, c->h_tunnel_udp, 8);
            sp_copy(data + 92, c->h_tunnel_gtpu, 8);
            sp_copy(data + 100, c->h_tunnel_optional, 4);
            sp_copy(data + 104, c->h_tunnel_psc, 4);
            sp_copy(data + 108, c->h_ipv6, 40);
            sp_copy(data + 148, c->h_ports, 4);
            if (c->keep && bpf_xdp_adjust_tail(ctx, -(int32_t)c->keep)) goto failed;
            sp_commit(c);
            return here ? SP_FORWARD : c->out_port == 510 ? SP_PUNT : SP_BUFFER;
            
        }
    }
#endif
dropped:;
    sp_commit(c);
    return SP_DROP;
no_room:;
    sp_commit(c);
    c->reason = SP_NO_HEADROOM;
    return SP_DROP;
stuck:;
    goto failed;
failed:;
    if (!c->subset) {
        c->reason = SP_TARGET_FAILED;
        return SP_DROP;
    }
    goto hand_on;
hand_on:;
    sp_undo(c);
    return SP_NEXT;
}

/* ... entry.h ... */

