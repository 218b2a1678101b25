/* upf.p4: generated; changes are lost. */

/* ... prelude.h ... */


enum { V_underlay_ethernet = 0, V_underlay_ipv4 = 1, V_underlay_udp = 2, V_vxlan = 3, V_ethernet = 4, V_tunnel_ipv4 = 5, V_tunnel_udp = 6, V_tunnel_gtpu = 7, V_tunnel_optional = 8, V_tunnel_psc = 9, V_tunnel_unit_4 = 10, V_tunnel_unit_3 = 11, V_tunnel_unit_2 = 12, V_tunnel_unit_1 = 13, V_ipv4 = 14, V_ipv4_options = 15, V_ipv6 = 16, V_ports = 17, V_udp_rest = 18, V_gtpu = 19, V_gtpu_optional = 20, V_gtpu_psc = 21, V_gtpu_chain = 22, V_inner_ipv4 = 23, V_inner_ipv4_options = 24, V_inner_ipv6 = 25, V_extension_1 = 26, V_extension_2 = 27, V_extension_3 = 28, V_extension_4 = 29, V_inner_ports = 30 };
enum { ACTION_route = 0, ACTION_loopback = 1, ACTION_UpfIngress_station_drop = 2, ACTION_set_pdr = 3, ACTION_classify = 4, ACTION_p4_miss = 5, ACTION_gtpu_endpoint = 6, ACTION_host = 7, ACTION_not_local = 8, ACTION_set_filter = 9, ACTION_no_filter = 10, ACTION_no_pdr = 11, ACTION_permit = 12, ACTION_deny = 13, ACTION_best_effort = 14, ACTION_set_class = 15, ACTION_set_nexthop = 16, ACTION_UpfIngress_route_drop = 17, ACTION_send = 18, ACTION_send_vxlan = 19, ACTION_unresolved = 20 };

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
    sp_kept128 meta_relayed;
    uint64_t meta_ue_prefix;
    uint32_t meta_src_v4;
    uint32_t meta_dst_v4;
    uint32_t meta_pdu_length;
    uint32_t meta_header_length;
    uint32_t meta_extension_bytes;
    uint32_t meta_options;
    uint32_t meta_inner_options;
    uint32_t meta_chain_bits;
    uint32_t meta_relayed_bits;
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
    uint8_t meta_relayed_type;
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
    sp_kept128 meta_chain_window;
    sp_kept128 UpfParser_tmp_3;
    sp_kept128 UpfParser_before;
    sp_kept128 UpfParser_kept;
    sp_kept128 UpfIngress_session_remote_v6;
    sp_kept128 UpfIngress_session_local_v6;
    uint32_t meta_out_length;
    uint32_t UpfParser_tmp;
    uint32_t UpfParser_tmp_5;
    uint32_t UpfParser_tmp_6;
    uint32_t UpfParser_tmp_8;
    uint32_t UpfParser_tmp_10;
    uint32_t UpfParser_tmp_12;
    uint32_t UpfIngress_user_packet_end;
    uint32_t UpfIngress_user_packet_tunnel;
    uint32_t UpfIngress_user_packet_udp;
    uint32_t UpfIngress_user_packet_gtpu_end;
    uint32_t UpfIngress_user_packet_udp_end;
    uint32_t UpfIngress_user_packet_tunnel_end;
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
    uint16_t UpfParser_tmp_7;
    uint16_t UpfParser_tmp_9;
    uint16_t UpfParser_tmp_11;
    uint16_t UpfParser_tmp_13;
    uint16_t UpfIngress_session_remote_port;
    uint16_t UpfIngress_session_local_port;
    uint16_t UpfIngress_route_send_vxlan_frame;
    uint16_t UpfIngress_tunnel_decrement_ipv4_checksum;
    uint16_t UpfIngress_tunnel_decrement_ipv4_checksum_2;
    uint16_t UpfIngress_tunnel_put_in_tunnel_gtpu_payload;
    uint8_t meta_next_extension;
    uint8_t meta_class;
    uint8_t UpfParser_tmp_2;
    uint8_t UpfParser_units;
    uint8_t UpfParser_shift;
    uint8_t UpfParser_units_2;
    uint8_t UpfParser_shift_2;
    uint8_t UpfParser_tmp_4;
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
    uint8_t UpfIngress_police_colour;
    uint8_t UpfIngress_tunnel_decrement_ipv4_ttl;
    uint8_t UpfIngress_tunnel_decrement_ipv4_ttl_2;
    uint8_t UpfIngress_tunnel_add_session_container_pdu_type;
    uint16_t emit[31];
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
    uint8_t h_tunnel_unit_4[16] __attribute__((aligned(8)));
    uint8_t h_tunnel_unit_3[16] __attribute__((aligned(8)));
    uint8_t h_tunnel_unit_2[16] __attribute__((aligned(8)));
    uint8_t h_tunnel_unit_1[16] __attribute__((aligned(8)));
    uint8_t h_ipv4[32] __attribute__((aligned(8)));
    uint8_t h_ipv4_options[48] __attribute__((aligned(8)));
    uint32_t len_ipv4_options;
    uint8_t h_ipv6[48] __attribute__((aligned(8)));
    uint8_t h_ports[16] __attribute__((aligned(8)));
    uint8_t h_udp_rest[16] __attribute__((aligned(8)));
    uint8_t h_gtpu[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_optional[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_psc[16] __attribute__((aligned(8)));
    uint8_t h_gtpu_chain[24] __attribute__((aligned(8)));
    uint32_t len_gtpu_chain;
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
            goto state_27_parse_user;
        }
        if (key8_0 == 1u && key8_1 == 1u && key8_2 == 0u && key8_3 == 0u && key8_4 == 0u) {
            goto parsed;
        }
        if (key8_0 == 1u && key8_1 == 1u) {
            goto state_14_parse_gtpu_optional;
        }
        goto parsed;
    }
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
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    c->v.meta_next_extension = ((((sp_ld8(c->h_gtpu) >> 2) & 0x1) == 1u) ? sp_ld8(c->h_gtpu_optional + 3) : 0u);
    {
        const uint32_t key9_0 = sp_ld8(c->h_gtpu + 1);
        if (key9_0 == 0xffu) {
            goto state_15_parse_extensions;
        }
        goto parsed;
    }
state_15_parse_extensions:;
    {
        const uint32_t key10_0 = (uint32_t)c->v.meta_next_extension;
        if (key10_0 == 0u) {
            goto state_16_parse_no_extension;
        }
        if (key10_0 == 0x85u) {
            goto state_17_parse_psc;
        }
        goto state_19_parse_chain;
    }
state_19_parse_chain:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 16 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_3 = sp_ld128(p);
    }
    c->v.meta_chain_window = (sp_u128)c->v.UpfParser_tmp_3;
    goto state_20_walk_chain;
state_20_walk_chain:;
    if (++rounds > SP_ROUNDS) goto stuck;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        const uint32_t key11_0 = (uint32_t)c->v.meta_next_extension;
        if (key11_0 == 0u) {
            goto state_26_take_chain;
        }
        if (key11_0 == 0x85u) {
            goto state_21_walk_psc;
        }
        if (key11_0 == 0xc0u) {
            goto state_23_walk_for_endpoint;
        }
        if ((key11_0 & 0xc0u) == 0u) {
            goto state_24_walk_and_relay;
        }
        if ((key11_0 & 0xc0u) == 0x80u) {
            goto state_23_walk_for_endpoint;
        }
        if ((key11_0 & 0xc0u) == 0xc0u) {
            goto state_22_walk_mandatory;
        }
        goto state_25_walk_over;
    }
state_25_walk_over:;
    c->v.UpfParser_units_2 = ((uint32_t)(((sp_u128)c->v.meta_chain_window) >> 120) & 0xff);
    if (!((((uint32_t)c->v.UpfParser_units_2) != 0u) && (((uint32_t)c->v.UpfParser_units_2) <= 4u))) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    c->v.UpfParser_shift_2 = ((((uint32_t)c->v.UpfParser_units_2) << 5) & 0xff);
    c->v.meta_next_extension = ((uint32_t)(((0x80u - ((uint32_t)c->v.UpfParser_shift_2)) & 0xff) < 128 ? sp_shr128(((sp_u128)c->v.meta_chain_window), (uint32_t)((0x80u - ((uint32_t)c->v.UpfParser_shift_2)) & 0xff)) : 0) & 0xff);
    c->v.meta_chain_window = (((uint32_t)c->v.UpfParser_shift_2) < 128 ? sp_shl128(((sp_u128)c->v.meta_chain_window), (uint32_t)((uint32_t)c->v.UpfParser_shift_2)) : 0);
    c->v.meta_chain_bits = (((uint32_t)c->v.meta_chain_bits) + ((uint32_t)c->v.UpfParser_shift_2));
    if (!(((uint32_t)c->v.meta_chain_bits) <= 0x80u)) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    goto state_20_walk_chain;
state_22_walk_mandatory:;
    c->v.meta_unknown_extension = 1u;
    goto state_25_walk_over;
state_24_walk_and_relay:;
    c->v.UpfParser_units = ((uint32_t)(((sp_u128)c->v.meta_chain_window) >> 120) & 0xff);
    if (!((((uint32_t)c->v.UpfParser_units) != 0u) && (((uint32_t)c->v.UpfParser_units) <= 4u))) {
        c->v.standard_metadata_parser_error = 7u;
        goto parsed;
    }
    c->v.UpfParser_shift = ((((uint32_t)c->v.UpfParser_units) << 5) & 0xff);
    c->v.meta_relayed_type = ((((uint32_t)c->v.meta_relayed_bits) == 0u) ? ((uint32_t)c->v.meta_next_extension) : ((uint32_t)c->v.meta_relayed_type));
    c->v.UpfParser_before = ((((uint32_t)c->v.meta_relayed_bits) == 0u) ? SP_U128(0x0ull, 0x0ull) : (((sp_u128)c->v.meta_relayed) | ((sp_u128)((uint32_t)c->v.meta_next_extension))));
    c->v.UpfParser_kept = ((((0x80u - ((uint32_t)c->v.UpfParser_shift)) & 0xff) < 128 ? sp_shr128(((sp_u128)c->v.meta_chain_window), (uint32_t)((0x80u - ((uint32_t)c->v.UpfParser_shift)) & 0xff)) : 0) & SP_U128(0xffffffffffffffffull, 0xffffffffffffff00ull));
    c->v.meta_relayed = ((((uint32_t)c->v.UpfParser_shift) < 128 ? sp_shl128(((sp_u128)c->v.UpfParser_before), (uint32_t)((uint32_t)c->v.UpfParser_shift)) : 0) | ((sp_u128)c->v.UpfParser_kept));
    c->v.meta_relayed_bits = (((uint32_t)c->v.meta_relayed_bits) + ((uint32_t)c->v.UpfParser_shift));
    goto state_25_walk_over;
state_23_walk_for_endpoint:;
    c->v.meta_endpoint_extension = 1u;
    goto state_24_walk_and_relay;
state_21_walk_psc:;
    c->v.meta_qfi = ((uint32_t)(((sp_u128)c->v.meta_chain_window) >> 104) & 0x3f);
    goto state_25_walk_over;
state_26_take_chain:;
    {
        const uint64_t bits12 = (uint64_t)((uint32_t)c->v.meta_chain_bits);
        if (bits12 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits12 / 8 > 0xffff || cursor + 0 + bits12 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits12 > 128) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit12 = (uint32_t)(bits12 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_gtpu_chain + 0, 16);
        SP_OPAQUE(varbit12);
        if (varbit12 > 0 && varbit12 <= 16) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_gtpu_chain + 0, varbit12)) goto failed;
        }
        c->len_gtpu_chain = varbit12;
        cursor += 0 + varbit12;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_gtpu_chain);
    }
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + ((((uint32_t)c->v.meta_chain_bits) >> 3) & 0xffff)) & 0xffff);
    goto state_27_parse_user;
state_17_parse_psc:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_2 = sp_ld8(p);
    }
    {
        const uint32_t key13_0 = (uint32_t)c->v.UpfParser_tmp_2;
        if (key13_0 == 1u) {
            goto state_18_take_psc;
        }
        goto state_19_parse_chain;
    }
state_18_take_psc:;
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
    c->v.meta_next_extension = sp_ld8(c->h_gtpu_psc + 3);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    {
        const uint32_t key14_0 = (uint32_t)c->v.meta_next_extension;
        if (key14_0 == 0u) {
            goto state_27_parse_user;
        }
        goto state_19_parse_chain;
    }
state_27_parse_user:;
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
        c->v.UpfParser_tmp_4 = (sp_ld8(p) >> 4);
    }
    {
        const uint32_t key15_0 = (uint32_t)c->v.UpfParser_tmp_4;
        if (key15_0 == 4u) {
            goto state_28_parse_inner_ipv4;
        }
        if (key15_0 == 6u) {
            goto state_31_parse_inner_ipv6;
        }
        goto parsed;
    }
state_31_parse_inner_ipv6:;
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
        const uint32_t key16_0 = sp_ld8(c->h_inner_ipv6 + 6);
        if (key16_0 == 0x11u) {
            goto state_51_parse_inner_ports;
        }
        if (key16_0 == 6u) {
            goto state_51_parse_inner_ports;
        }
        if (key16_0 == 0x84u) {
            goto state_51_parse_inner_ports;
        }
        if (key16_0 == 0u) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        if (key16_0 == 0x2bu) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        if (key16_0 == 0x2cu) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        if (key16_0 == 0x3cu) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        if (key16_0 == 0x87u) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        if (key16_0 == 0x8bu) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        if (key16_0 == 0x8cu) {
            goto state_32_parse_extensions_of_inner_ipv6;
        }
        goto parsed;
    }
state_51_parse_inner_ports:;
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
state_28_parse_inner_ipv4:;
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
        const uint32_t key17_0 = (sp_ld8(c->h_inner_ipv4) & 0xf);
        if (key17_0 == 5u) {
            goto state_30_parse_inner_ipv4_payload;
        }
        goto state_29_parse_inner_ipv4_options;
    }
state_29_parse_inner_ipv4_options:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_5 = sp_ld32(p);
    }
    c->v.meta_inner_options = (uint32_t)c->v.UpfParser_tmp_5;
    {
        const uint64_t bits18 = (uint64_t)((((sp_ld8(c->h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits18 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits18 / 8 > 0xffff || cursor + 0 + bits18 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits18 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit18 = (uint32_t)(bits18 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_inner_ipv4_options + 0, 40);
        SP_OPAQUE(varbit18);
        if (varbit18 > 0 && varbit18 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_inner_ipv4_options + 0, varbit18)) goto failed;
        }
        c->len_inner_ipv4_options = varbit18;
        cursor += 0 + varbit18;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_inner_ipv4_options);
    }
    goto state_30_parse_inner_ipv4_payload;
state_30_parse_inner_ipv4_payload:;
    {
        const uint32_t key19_0 = (sp_ld16(c->h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t key19_1 = sp_ld8(c->h_inner_ipv4 + 9);
        if (key19_0 == 0u && key19_1 == 0x11u) {
            goto state_51_parse_inner_ports;
        }
        if (key19_0 == 0u && key19_1 == 6u) {
            goto state_51_parse_inner_ports;
        }
        if (key19_0 == 0u && key19_1 == 0x84u) {
            goto state_51_parse_inner_ports;
        }
        goto parsed;
    }
state_8_parse_ipv4_payload_at_34:;
    {
        const uint32_t key20_0 = (sp_ld16(c->h_ipv4 + 6) & 0x1fff);
        const uint32_t key20_1 = sp_ld8(c->h_ipv4 + 9);
        if (key20_0 == 0u && key20_1 == 0x11u) {
            goto state_12_parse_udp_at_34;
        }
        if (key20_0 == 0u && key20_1 == 6u) {
            goto state_11_parse_ports_at_34;
        }
        if (key20_0 == 0u && key20_1 == 0x84u) {
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
        const uint32_t key21_0 = (((uint32_t)c->v.standard_metadata_ingress_port) & 0x80u);
        const uint32_t key21_1 = ((sp_ld8(c->h_ipv4 + 6) >> 5) & 0x1);
        const uint32_t key21_2 = sp_ld16(c->h_ports + 2);
        if (key21_0 == 0u && key21_1 == 0u && key21_2 == 0x868u) {
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
        const uint32_t key22_0 = (sp_ld8(c->h_gtpu) >> 5);
        const uint32_t key22_1 = ((sp_ld8(c->h_gtpu) >> 4) & 0x1);
        const uint32_t key22_2 = ((sp_ld8(c->h_gtpu) >> 2) & 0x1);
        const uint32_t key22_3 = ((sp_ld8(c->h_gtpu) >> 1) & 0x1);
        const uint32_t key22_4 = (sp_ld8(c->h_gtpu) & 0x1);
        const uint32_t key22_5 = sp_ld8(c->h_gtpu + 1);
        if (key22_0 == 1u && key22_1 == 1u && key22_2 == 0u && key22_3 == 0u && key22_4 == 0u && key22_5 == 0xffu) {
            goto state_27_parse_user_at_50;
        }
        if (key22_0 == 1u && key22_1 == 1u && key22_2 == 0u && key22_3 == 0u && key22_4 == 0u) {
            cursor = 50;
            goto parsed;
        }
        if (key22_0 == 1u && key22_1 == 1u) {
            goto state_14_parse_gtpu_optional_at_50;
        }
        cursor = 50;
        goto parsed;
    }
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
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    c->v.meta_next_extension = ((((sp_ld8(c->h_gtpu) >> 2) & 0x1) == 1u) ? sp_ld8(c->h_gtpu_optional + 3) : 0u);
    {
        const uint32_t key23_0 = sp_ld8(c->h_gtpu + 1);
        if (key23_0 == 0xffu) {
            goto state_15_parse_extensions_at_54;
        }
        cursor = 54;
        goto parsed;
    }
state_15_parse_extensions_at_54:;
    {
        const uint32_t key24_0 = (uint32_t)c->v.meta_next_extension;
        if (key24_0 == 0u) {
            goto state_16_parse_no_extension_at_54;
        }
        if (key24_0 == 0x85u) {
            goto state_17_parse_psc_at_54;
        }
        goto state_19_parse_chain_at_54;
    }
state_19_parse_chain_at_54:;
    {
        uint8_t *p = data + 54;
        SP_OPAQUE(p);
        if (p + 16 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 54;
            goto parsed;
        }
        c->v.UpfParser_tmp_3 = sp_ld128(p);
    }
    c->v.meta_chain_window = (sp_u128)c->v.UpfParser_tmp_3;
    cursor = 54;
    goto state_20_walk_chain;
state_17_parse_psc_at_54:;
    {
        uint8_t *p = data + 54;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 54;
            goto parsed;
        }
        c->v.UpfParser_tmp_2 = sp_ld8(p);
    }
    {
        const uint32_t key25_0 = (uint32_t)c->v.UpfParser_tmp_2;
        if (key25_0 == 1u) {
            goto state_18_take_psc_at_54;
        }
        goto state_19_parse_chain_at_54;
    }
state_18_take_psc_at_54:;
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
    c->v.meta_next_extension = sp_ld8(c->h_gtpu_psc + 3);
    c->v.meta_user_offset = ((((uint32_t)c->v.meta_user_offset) + 4u) & 0xffff);
    {
        const uint32_t key26_0 = (uint32_t)c->v.meta_next_extension;
        if (key26_0 == 0u) {
            goto state_27_parse_user_at_58;
        }
        goto state_19_parse_chain_at_58;
    }
state_19_parse_chain_at_58:;
    {
        uint8_t *p = data + 58;
        SP_OPAQUE(p);
        if (p + 16 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 58;
            goto parsed;
        }
        c->v.UpfParser_tmp_3 = sp_ld128(p);
    }
    c->v.meta_chain_window = (sp_u128)c->v.UpfParser_tmp_3;
    cursor = 58;
    goto state_20_walk_chain;
state_27_parse_user_at_58:;
    {
        uint8_t *p = data + 58;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 58;
            goto parsed;
        }
        c->v.UpfParser_tmp_4 = (sp_ld8(p) >> 4);
    }
    {
        const uint32_t key27_0 = (uint32_t)c->v.UpfParser_tmp_4;
        if (key27_0 == 4u) {
            goto state_28_parse_inner_ipv4_at_58;
        }
        if (key27_0 == 6u) {
            goto state_31_parse_inner_ipv6_at_58;
        }
        cursor = 58;
        goto parsed;
    }
state_31_parse_inner_ipv6_at_58:;
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
        const uint32_t key28_0 = sp_ld8(c->h_inner_ipv6 + 6);
        if (key28_0 == 0x11u) {
            goto state_51_parse_inner_ports_at_98;
        }
        if (key28_0 == 6u) {
            goto state_51_parse_inner_ports_at_98;
        }
        if (key28_0 == 0x84u) {
            goto state_51_parse_inner_ports_at_98;
        }
        if (key28_0 == 0u) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key28_0 == 0x2bu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key28_0 == 0x2cu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key28_0 == 0x3cu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key28_0 == 0x87u) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key28_0 == 0x8bu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        if (key28_0 == 0x8cu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_98;
        }
        cursor = 98;
        goto parsed;
    }
state_51_parse_inner_ports_at_98:;
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
state_28_parse_inner_ipv4_at_58:;
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
        const uint32_t key29_0 = (sp_ld8(c->h_inner_ipv4) & 0xf);
        if (key29_0 == 5u) {
            goto state_30_parse_inner_ipv4_payload_at_78;
        }
        goto state_29_parse_inner_ipv4_options_at_78;
    }
state_29_parse_inner_ipv4_options_at_78:;
    {
        uint8_t *p = data + 78;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 78;
            goto parsed;
        }
        c->v.UpfParser_tmp_5 = sp_ld32(p);
    }
    c->v.meta_inner_options = (uint32_t)c->v.UpfParser_tmp_5;
    {
        cursor = 78;
        const uint64_t bits30 = (uint64_t)((((sp_ld8(c->h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits30 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits30 / 8 > 0xffff || cursor + 0 + bits30 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits30 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit30 = (uint32_t)(bits30 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_inner_ipv4_options + 0, 40);
        SP_OPAQUE(varbit30);
        if (varbit30 > 0 && varbit30 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_inner_ipv4_options + 0, varbit30)) goto failed;
        }
        c->len_inner_ipv4_options = varbit30;
        cursor += 0 + varbit30;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_inner_ipv4_options);
    }
    goto state_30_parse_inner_ipv4_payload;
state_30_parse_inner_ipv4_payload_at_78:;
    {
        const uint32_t key31_0 = (sp_ld16(c->h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t key31_1 = sp_ld8(c->h_inner_ipv4 + 9);
        if (key31_0 == 0u && key31_1 == 0x11u) {
            goto state_51_parse_inner_ports_at_78;
        }
        if (key31_0 == 0u && key31_1 == 6u) {
            goto state_51_parse_inner_ports_at_78;
        }
        if (key31_0 == 0u && key31_1 == 0x84u) {
            goto state_51_parse_inner_ports_at_78;
        }
        cursor = 78;
        goto parsed;
    }
state_51_parse_inner_ports_at_78:;
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
state_27_parse_user_at_50:;
    {
        uint8_t *p = data + 50;
        SP_OPAQUE(p);
        if (p + 1 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 50;
            goto parsed;
        }
        c->v.UpfParser_tmp_4 = (sp_ld8(p) >> 4);
    }
    {
        const uint32_t key32_0 = (uint32_t)c->v.UpfParser_tmp_4;
        if (key32_0 == 4u) {
            goto state_28_parse_inner_ipv4_at_50;
        }
        if (key32_0 == 6u) {
            goto state_31_parse_inner_ipv6_at_50;
        }
        cursor = 50;
        goto parsed;
    }
state_31_parse_inner_ipv6_at_50:;
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
        const uint32_t key33_0 = sp_ld8(c->h_inner_ipv6 + 6);
        if (key33_0 == 0x11u) {
            goto state_51_parse_inner_ports_at_90;
        }
        if (key33_0 == 6u) {
            goto state_51_parse_inner_ports_at_90;
        }
        if (key33_0 == 0x84u) {
            goto state_51_parse_inner_ports_at_90;
        }
        if (key33_0 == 0u) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key33_0 == 0x2bu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key33_0 == 0x2cu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key33_0 == 0x3cu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key33_0 == 0x87u) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key33_0 == 0x8bu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        if (key33_0 == 0x8cu) {
            goto state_32_parse_extensions_of_inner_ipv6_at_90;
        }
        cursor = 90;
        goto parsed;
    }
state_51_parse_inner_ports_at_90:;
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
state_28_parse_inner_ipv4_at_50:;
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
        const uint32_t key34_0 = (sp_ld8(c->h_inner_ipv4) & 0xf);
        if (key34_0 == 5u) {
            goto state_30_parse_inner_ipv4_payload_at_70;
        }
        goto state_29_parse_inner_ipv4_options_at_70;
    }
state_29_parse_inner_ipv4_options_at_70:;
    {
        uint8_t *p = data + 70;
        SP_OPAQUE(p);
        if (p + 4 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 70;
            goto parsed;
        }
        c->v.UpfParser_tmp_5 = sp_ld32(p);
    }
    c->v.meta_inner_options = (uint32_t)c->v.UpfParser_tmp_5;
    {
        cursor = 70;
        const uint64_t bits35 = (uint64_t)((((sp_ld8(c->h_inner_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits35 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits35 / 8 > 0xffff || cursor + 0 + bits35 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits35 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit35 = (uint32_t)(bits35 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_inner_ipv4_options + 0, 40);
        SP_OPAQUE(varbit35);
        if (varbit35 > 0 && varbit35 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_inner_ipv4_options + 0, varbit35)) goto failed;
        }
        c->len_inner_ipv4_options = varbit35;
        cursor += 0 + varbit35;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_inner_ipv4_options);
    }
    goto state_30_parse_inner_ipv4_payload;
state_30_parse_inner_ipv4_payload_at_70:;
    {
        const uint32_t key36_0 = (sp_ld16(c->h_inner_ipv4 + 6) & 0x1fff);
        const uint32_t key36_1 = sp_ld8(c->h_inner_ipv4 + 9);
        if (key36_0 == 0u && key36_1 == 0x11u) {
            cursor = 70;
            goto state_51_parse_inner_ports;
        }
        if (key36_0 == 0u && key36_1 == 6u) {
            cursor = 70;
            goto state_51_parse_inner_ports;
        }
        if (key36_0 == 0u && key36_1 == 0x84u) {
            cursor = 70;
            goto state_51_parse_inner_ports;
        }
        cursor = 70;
        goto parsed;
    }
state_32_parse_extensions_of_inner_ipv6_at_90:;
    c->v.meta_next_header = sp_ld8(c->h_inner_ipv6 + 6);
    goto state_33_extension_1_at_90;
state_33_extension_1_at_90:;
    {
        const uint32_t key37_0 = (uint32_t)c->v.meta_next_header;
        if (key37_0 == 0x11u) {
            goto state_50_parse_inner_ports_behind_extensions_at_90;
        }
        if (key37_0 == 6u) {
            goto state_50_parse_inner_ports_behind_extensions_at_90;
        }
        if (key37_0 == 0x84u) {
            goto state_50_parse_inner_ports_behind_extensions_at_90;
        }
        if (key37_0 == 0x2cu) {
            goto state_34_fragment_1_at_90;
        }
        if (key37_0 == 0x2bu) {
            goto state_35_routing_1_at_90;
        }
        if (key37_0 == 0u) {
            goto state_36_options_1_at_90;
        }
        if (key37_0 == 0x3cu) {
            goto state_36_options_1_at_90;
        }
        if (key37_0 == 0x87u) {
            goto state_36_options_1_at_90;
        }
        if (key37_0 == 0x8bu) {
            goto state_36_options_1_at_90;
        }
        if (key37_0 == 0x8cu) {
            goto state_36_options_1_at_90;
        }
        cursor = 90;
        goto parsed;
    }
state_36_options_1_at_90:;
    {
        uint8_t *p = data + 90;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 90;
            goto parsed;
        }
        c->v.UpfParser_tmp_7 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_7 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        cursor = 90;
        goto parsed;
    }
    {
        cursor = 90;
        const uint64_t bits38 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_7 & 0xff) << 6);
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
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit38);
        if (varbit38 > 0 && varbit38 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit38)) goto failed;
        }
        c->len_extension_1 = varbit38;
        cursor += 8 + varbit38;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_7) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_7 & 0xff) << 3));
    goto state_37_extension_2;
state_37_extension_2:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        const uint32_t key39_0 = (uint32_t)c->v.meta_next_header;
        if (key39_0 == 0x11u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key39_0 == 6u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key39_0 == 0x84u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key39_0 == 0x2cu) {
            goto state_38_fragment_2;
        }
        if (key39_0 == 0x2bu) {
            goto state_39_routing_2;
        }
        if (key39_0 == 0u) {
            goto state_40_options_2;
        }
        if (key39_0 == 0x3cu) {
            goto state_40_options_2;
        }
        if (key39_0 == 0x87u) {
            goto state_40_options_2;
        }
        if (key39_0 == 0x8bu) {
            goto state_40_options_2;
        }
        if (key39_0 == 0x8cu) {
            goto state_40_options_2;
        }
        goto parsed;
    }
state_40_options_2:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_9 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_9 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits40 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_9 & 0xff) << 6);
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
        sp_copy(c->h_extension_2, p, 8);
        sp_zero(c->h_extension_2 + 8, 56);
        SP_OPAQUE(varbit40);
        if (varbit40 > 0 && varbit40 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_2 + 8, varbit40)) goto failed;
        }
        c->len_extension_2 = varbit40;
        cursor += 8 + varbit40;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_2);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_9) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_9 & 0xff) << 3));
    goto state_41_extension_3;
state_41_extension_3:;
    {
        const uint32_t key41_0 = (uint32_t)c->v.meta_next_header;
        if (key41_0 == 0x11u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key41_0 == 6u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key41_0 == 0x84u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key41_0 == 0x2cu) {
            goto state_42_fragment_3;
        }
        if (key41_0 == 0x2bu) {
            goto state_43_routing_3;
        }
        if (key41_0 == 0u) {
            goto state_44_options_3;
        }
        if (key41_0 == 0x3cu) {
            goto state_44_options_3;
        }
        if (key41_0 == 0x87u) {
            goto state_44_options_3;
        }
        if (key41_0 == 0x8bu) {
            goto state_44_options_3;
        }
        if (key41_0 == 0x8cu) {
            goto state_44_options_3;
        }
        goto parsed;
    }
state_44_options_3:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_11 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_11 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits42 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_11 & 0xff) << 6);
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
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_11) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_11 & 0xff) << 3));
    goto state_45_extension_4;
state_45_extension_4:;
    *(volatile uint32_t *)&c->cursor = cursor;
    cursor = *(volatile uint32_t *)&c->cursor;
    if (cursor > SP_FARTHEST) goto stuck;
    {
        const uint32_t key43_0 = (uint32_t)c->v.meta_next_header;
        if (key43_0 == 0x11u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key43_0 == 6u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key43_0 == 0x84u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key43_0 == 0x2cu) {
            goto state_46_fragment_4;
        }
        if (key43_0 == 0x2bu) {
            goto state_47_routing_4;
        }
        if (key43_0 == 0u) {
            goto state_48_options_4;
        }
        if (key43_0 == 0x3cu) {
            goto state_48_options_4;
        }
        if (key43_0 == 0x87u) {
            goto state_48_options_4;
        }
        if (key43_0 == 0x8bu) {
            goto state_48_options_4;
        }
        if (key43_0 == 0x8cu) {
            goto state_48_options_4;
        }
        goto parsed;
    }
state_48_options_4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_13 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_13 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits44 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_13 & 0xff) << 6);
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
        sp_copy(c->h_extension_4, p, 8);
        sp_zero(c->h_extension_4 + 8, 56);
        SP_OPAQUE(varbit44);
        if (varbit44 > 0 && varbit44 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_4 + 8, varbit44)) goto failed;
        }
        c->len_extension_4 = varbit44;
        cursor += 8 + varbit44;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_4);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_13) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_13 & 0xff) << 3));
    goto state_49_extension_5;
state_49_extension_5:;
    if (!(((((((((uint32_t)c->v.meta_next_header) != 0u) && (((uint32_t)c->v.meta_next_header) != 0x2bu)) && (((uint32_t)c->v.meta_next_header) != 0x2cu)) && (((uint32_t)c->v.meta_next_header) != 0x3cu)) && (((uint32_t)c->v.meta_next_header) != 0x87u)) && (((uint32_t)c->v.meta_next_header) != 0x8bu)) && (((uint32_t)c->v.meta_next_header) != 0x8cu))) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint32_t key45_0 = (uint32_t)c->v.meta_next_header;
        if (key45_0 == 0x11u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key45_0 == 6u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key45_0 == 0x84u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        goto parsed;
    }
state_47_routing_4:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_12 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_12 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_48_options_4;
state_46_fragment_4:;
    {
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
        sp_copy(c->h_extension_4, p, 8);
        sp_zero(c->h_extension_4 + 8, 56);
        SP_OPAQUE(varbit46);
        if (varbit46 > 0 && varbit46 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_4 + 8, varbit46)) goto failed;
        }
        c->len_extension_4 = varbit46;
        cursor += 8 + varbit46;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_4);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_4);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key47_0 = (sp_ld16(c->h_extension_4 + 2) >> 3);
        if (key47_0 == 0u) {
            goto state_49_extension_5;
        }
        goto parsed;
    }
state_43_routing_3:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_10 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_10 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_44_options_3;
state_42_fragment_3:;
    {
        const uint64_t bits48 = (uint64_t)0u;
        if (bits48 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits48 / 8 > 0xffff || cursor + 8 + bits48 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits48 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit48 = (uint32_t)(bits48 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_3, p, 8);
        sp_zero(c->h_extension_3 + 8, 56);
        SP_OPAQUE(varbit48);
        if (varbit48 > 0 && varbit48 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_3 + 8, varbit48)) goto failed;
        }
        c->len_extension_3 = varbit48;
        cursor += 8 + varbit48;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_3);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_3);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key49_0 = (sp_ld16(c->h_extension_3 + 2) >> 3);
        if (key49_0 == 0u) {
            goto state_45_extension_4;
        }
        goto parsed;
    }
state_39_routing_2:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_8 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_8 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_40_options_2;
state_38_fragment_2:;
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
        sp_copy(c->h_extension_2, p, 8);
        sp_zero(c->h_extension_2 + 8, 56);
        SP_OPAQUE(varbit50);
        if (varbit50 > 0 && varbit50 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_2 + 8, varbit50)) goto failed;
        }
        c->len_extension_2 = varbit50;
        cursor += 8 + varbit50;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_2);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_2);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key51_0 = (sp_ld16(c->h_extension_2 + 2) >> 3);
        if (key51_0 == 0u) {
            goto state_41_extension_3;
        }
        goto parsed;
    }
state_50_parse_inner_ports_behind_extensions:;
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
state_35_routing_1_at_90:;
    {
        uint8_t *p = data + 90;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            cursor = 90;
            goto parsed;
        }
        c->v.UpfParser_tmp_6 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_6 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_36_options_1_at_90;
state_34_fragment_1_at_90:;
    {
        cursor = 90;
        const uint64_t bits52 = (uint64_t)0u;
        if (bits52 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits52 / 8 > 0xffff || cursor + 8 + bits52 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits52 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit52 = (uint32_t)(bits52 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit52);
        if (varbit52 > 0 && varbit52 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit52)) goto failed;
        }
        c->len_extension_1 = varbit52;
        cursor += 8 + varbit52;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_1);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key53_0 = (sp_ld16(c->h_extension_1 + 2) >> 3);
        if (key53_0 == 0u) {
            goto state_37_extension_2;
        }
        goto parsed;
    }
state_50_parse_inner_ports_behind_extensions_at_90:;
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
state_32_parse_extensions_of_inner_ipv6_at_98:;
    c->v.meta_next_header = sp_ld8(c->h_inner_ipv6 + 6);
    cursor = 98;
    goto state_33_extension_1;
state_33_extension_1:;
    {
        const uint32_t key54_0 = (uint32_t)c->v.meta_next_header;
        if (key54_0 == 0x11u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key54_0 == 6u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key54_0 == 0x84u) {
            goto state_50_parse_inner_ports_behind_extensions;
        }
        if (key54_0 == 0x2cu) {
            goto state_34_fragment_1;
        }
        if (key54_0 == 0x2bu) {
            goto state_35_routing_1;
        }
        if (key54_0 == 0u) {
            goto state_36_options_1;
        }
        if (key54_0 == 0x3cu) {
            goto state_36_options_1;
        }
        if (key54_0 == 0x87u) {
            goto state_36_options_1;
        }
        if (key54_0 == 0x8bu) {
            goto state_36_options_1;
        }
        if (key54_0 == 0x8cu) {
            goto state_36_options_1;
        }
        goto parsed;
    }
state_36_options_1:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 2 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_7 = sp_ld16(p);
    }
    if (!(((uint32_t)c->v.UpfParser_tmp_7 & 0xff) <= 7u)) {
        c->v.standard_metadata_parser_error = 9u;
        goto parsed;
    }
    {
        const uint64_t bits55 = (uint64_t)(((uint32_t)c->v.UpfParser_tmp_7 & 0xff) << 6);
        if (bits55 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits55 / 8 > 0xffff || cursor + 8 + bits55 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits55 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit55 = (uint32_t)(bits55 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit55);
        if (varbit55 > 0 && varbit55 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit55)) goto failed;
        }
        c->len_extension_1 = varbit55;
        cursor += 8 + varbit55;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = ((((uint32_t)c->v.UpfParser_tmp_7) >> 8) & 0xff);
    c->v.meta_extension_bytes = ((((uint32_t)c->v.meta_extension_bytes) + 8u) + (((uint32_t)c->v.UpfParser_tmp_7 & 0xff) << 3));
    goto state_37_extension_2;
state_35_routing_1:;
    {
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 3 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        c->v.UpfParser_tmp_6 = (uint32_t)sp_get_bits(p, 0, 24);
    }
    c->v.meta_source_routed = ((((uint32_t)c->v.UpfParser_tmp_6 & 0xff) == 0u) ? 1u : ((uint32_t)c->v.meta_source_routed));
    goto state_36_options_1;
state_34_fragment_1:;
    {
        const uint64_t bits56 = (uint64_t)0u;
        if (bits56 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits56 / 8 > 0xffff || cursor + 8 + bits56 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits56 > 448) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit56 = (uint32_t)(bits56 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        if (p + 8 + SP_BEHIND > end) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        sp_copy(c->h_extension_1, p, 8);
        sp_zero(c->h_extension_1 + 8, 56);
        SP_OPAQUE(varbit56);
        if (varbit56 > 0 && varbit56 <= 56) {
            if (bpf_xdp_load_bytes(ctx, cursor + 8, c->h_extension_1 + 8, varbit56)) goto failed;
        }
        c->len_extension_1 = varbit56;
        cursor += 8 + varbit56;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_extension_1);
    }
    c->v.meta_next_header = sp_ld8(c->h_extension_1);
    c->v.meta_extension_bytes = (((uint32_t)c->v.meta_extension_bytes) + 8u);
    {
        const uint32_t key57_0 = (sp_ld16(c->h_extension_1 + 2) >> 3);
        if (key57_0 == 0u) {
            goto state_37_extension_2;
        }
        goto parsed;
    }
state_16_parse_no_extension_at_54:;
    cursor = 54;
    goto state_27_parse_user;
state_32_parse_extensions_of_inner_ipv6:;
    c->v.meta_next_header = sp_ld8(c->h_inner_ipv6 + 6);
    goto state_33_extension_1;
state_16_parse_no_extension:;
    goto state_27_parse_user;
state_10_parse_extensions_of_ipv6_at_54:;
    c->v.meta_next_header = sp_ld8(c->h_ipv6 + 6);
    cursor = 54;
    goto state_33_extension_1;
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
        const uint32_t key58_0 = sp_ld16(c->h_underlay_ethernet + 12);
        if (key58_0 == 0x800u) {
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
        const uint32_t key59_0 = (sp_ld8(c->h_underlay_ipv4) & 0xf);
        const uint32_t key59_1 = ((sp_ld8(c->h_underlay_ipv4 + 6) >> 5) & 0x1);
        const uint32_t key59_2 = (sp_ld16(c->h_underlay_ipv4 + 6) & 0x1fff);
        const uint32_t key59_3 = sp_ld8(c->h_underlay_ipv4 + 9);
        if (key59_0 == 5u && key59_1 == 0u && key59_2 == 0u && key59_3 == 0x11u) {
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
        const uint32_t key60_0 = sp_ld16(c->h_underlay_udp + 2);
        if (key60_0 == 0x12b5u) {
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
        const uint32_t key61_0 = sp_ld16(c->h_ethernet + 12);
        if (key61_0 == 0x800u) {
            goto state_6_parse_ipv4;
        }
        if (key61_0 == 0x86ddu) {
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
        const uint32_t key62_0 = sp_ld8(c->h_ipv6 + 6);
        if (key62_0 == 0x11u) {
            goto state_11_parse_ports;
        }
        if (key62_0 == 6u) {
            goto state_11_parse_ports;
        }
        if (key62_0 == 0x84u) {
            goto state_11_parse_ports;
        }
        if (key62_0 == 0u) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key62_0 == 0x2bu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key62_0 == 0x2cu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key62_0 == 0x3cu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key62_0 == 0x87u) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key62_0 == 0x8bu) {
            goto state_10_parse_extensions_of_ipv6;
        }
        if (key62_0 == 0x8cu) {
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
        const uint32_t key63_0 = (sp_ld8(c->h_ipv4) & 0xf);
        if (key63_0 == 5u) {
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
        const uint64_t bits64 = (uint64_t)((((sp_ld8(c->h_ipv4) & 0xf) - 5u) & 0xf) << 5);
        if (bits64 % 8) {
            c->v.standard_metadata_parser_error = 6u;
            goto parsed;
        }
        if (bits64 / 8 > 0xffff || cursor + 0 + bits64 / 8 > SP_LENGTH) {
            c->v.standard_metadata_parser_error = 1u;
            goto parsed;
        }
        if (bits64 > 320) {
            c->v.standard_metadata_parser_error = 4u;
            goto parsed;
        }
        uint32_t varbit64 = (uint32_t)(bits64 / 8);
        uint8_t *p = data + cursor;
        SP_OPAQUE(p);
        sp_zero(c->h_ipv4_options + 0, 40);
        SP_OPAQUE(varbit64);
        if (varbit64 > 0 && varbit64 <= 40) {
            if (bpf_xdp_load_bytes(ctx, cursor + 0, c->h_ipv4_options + 0, varbit64)) goto failed;
        }
        c->len_ipv4_options = varbit64;
        cursor += 0 + varbit64;
        *(volatile uint32_t *)&c->cursor = cursor;
        cursor = *(volatile uint32_t *)&c->cursor;
        if (cursor > SP_FARTHEST) goto stuck;
        SP_VALID |= SP_BIT(V_ipv4_options);
    }
    goto state_8_parse_ipv4_payload;
state_10_parse_extensions_of_ipv6:;
    c->v.meta_next_header = sp_ld8(c->h_ipv6 + 6);
    goto state_33_extension_1;
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
            uint64_t sum139 = 0;
            sum139 += *(const uint32_t *)(c->h_underlay_ipv4);
            sum139 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
            sum139 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
            sum139 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
            sum139 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
            if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum139))) != sp_ld16(c->h_underlay_ipv4 + 10)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if (((uint32_t)(c->valid >> V_ipv4 & 1)) && (!((uint32_t)(c->valid >> V_ipv4_options & 1)))) {
            uint64_t sum140 = 0;
            sum140 += *(const uint32_t *)(c->h_ipv4);
            sum140 += *(const uint32_t *)(c->h_ipv4 + 4);
            sum140 += *(const uint16_t *)(c->h_ipv4 + 8);
            sum140 += *(const uint32_t *)(c->h_ipv4 + 12);
            sum140 += *(const uint32_t *)(c->h_ipv4 + 16);
            if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum140))) != sp_ld16(c->h_ipv4 + 10)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if ((uint32_t)(c->valid >> V_ipv4_options & 1)) {
            uint64_t sum141 = 0;
            if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                sum141 += (uint64_t)sp_ld32(c->h_ipv4);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4 + 4);
                sum141 += (uint64_t)sp_ld16(c->h_ipv4 + 8);
            }
            if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                sum141 += (uint64_t)sp_ld32(c->h_ipv4 + 12);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4 + 16);
            }
            if (1u) {
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 4);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 8);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 12);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 16);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 20);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 24);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 28);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 32);
                sum141 += (uint64_t)sp_ld32(c->h_ipv4_options + 36);
            }
            if (sp_fold(sum141) != (((uint32_t)(c->valid >> V_ipv4 & 1)) ? sp_ld16(c->h_ipv4 + 10) : 0)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if (((uint32_t)(c->valid >> V_inner_ipv4 & 1)) && (!((uint32_t)(c->valid >> V_inner_ipv4_options & 1)))) {
            uint64_t sum142 = 0;
            sum142 += *(const uint32_t *)(c->h_inner_ipv4);
            sum142 += *(const uint32_t *)(c->h_inner_ipv4 + 4);
            sum142 += *(const uint16_t *)(c->h_inner_ipv4 + 8);
            sum142 += *(const uint32_t *)(c->h_inner_ipv4 + 12);
            sum142 += *(const uint32_t *)(c->h_inner_ipv4 + 16);
            if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum142))) != sp_ld16(c->h_inner_ipv4 + 10)) {
                c->v.standard_metadata_checksum_error = 1u;
            }
        }
        if ((uint32_t)(c->valid >> V_inner_ipv4_options & 1)) {
            uint64_t sum143 = 0;
            if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4 + 4);
                sum143 += (uint64_t)sp_ld16(c->h_inner_ipv4 + 8);
            }
            if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) {
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4 + 12);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4 + 16);
            }
            if (1u) {
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 4);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 8);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 12);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 16);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 20);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 24);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 28);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 32);
                sum143 += (uint64_t)sp_ld32(c->h_inner_ipv4_options + 36);
            }
            if (sp_fold(sum143) != (((uint32_t)(c->valid >> V_inner_ipv4 & 1)) ? sp_ld16(c->h_inner_ipv4 + 10) : 0)) {
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
            if (e->action == ACTION_route) {
                c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
            }
            else if (e->action == ACTION_loopback) {
                c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                c->v.meta_loopback = 1u;
            }
            else if (e->action == ACTION_UpfIngress_station_drop) {
                c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
            }
        }
        if ((uint32_t)(c->valid >> V_vxlan & 1)) {
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
                    const uint32_t on144 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on144 == 6u) {
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
                    const uint32_t on145 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on145 == 6u) {
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
                        const uint32_t on146 = (uint32_t)c->v.UpfIngress_session_tmp_5;
                        if (on146 == 6u) {
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
                                const sp_u128 wide147 = (((uint32_t)(c->valid >> V_ipv6 & 1)) ? sp_ld128(c->h_ipv6 + 24) : 0);
                                c->key[0] = (uint64_t)wide147;
                                c->key[1] = (uint64_t)(wide147 >> 64);
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
                        const sp_u128 wide148 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide149 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide148;
                        c->key[1] = (uint64_t)(wide148 >> 64);
                        c->key[2] = (uint64_t)wide149;
                        c->key[3] = (uint64_t)(wide149 >> 64);
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
                        const sp_u128 wide150 = (sp_u128)c->v.meta_src_v6;
                        const sp_u128 wide151 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide150;
                        c->key[1] = (uint64_t)(wide150 >> 64);
                        c->key[2] = (uint64_t)wide151;
                        c->key[3] = (uint64_t)(wide151 >> 64);
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
        if ((uint32_t)(c->valid >> V_gtpu_chain & 1)) {
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
        if ((uint32_t)(c->valid >> V_gtpu_chain & 1)) {
            if (((uint32_t)c->v.meta_encapsulation) == 0u) {
                c->v.meta_relayed_bits = 0u;
            }
            if (((uint32_t)c->v.meta_relayed_bits) != 0u) {
                c->v.meta_out_length = (((uint32_t)c->v.meta_out_length) + (((uint32_t)c->v.meta_relayed_bits) >> 3));
                if (((uint32_t)c->v.meta_encapsulation) == 1u) {
                    c->v.meta_out_length = (((uint32_t)c->v.meta_out_length) + 4u);
                }
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
                        const sp_u128 wide152 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide152;
                        c->key[1] = (uint64_t)(wide152 >> 64);
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
        if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
            c->v.meta_reason = 0x25u;
            c->v.standard_metadata_egress_spec = 511u;
            c->v.standard_metadata_mcast_grp = 0u;
            goto end_of_ingress;
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
                if (sp_ld8(c->h_inner_ipv4 + 8) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(c->h_inner_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(c->h_inner_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl);
                sp_st16(c->h_inner_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum);
            } else {
                if ((uint32_t)(c->valid >> V_inner_ipv6 & 1)) {
                    if (sp_ld8(c->h_inner_ipv6 + 7) <= 1u) {
                        c->v.meta_reason = 0x23u;
                        c->v.standard_metadata_egress_spec = 511u;
                        c->v.standard_metadata_mcast_grp = 0u;
                        goto end_of_ingress;
                    }
                    sp_st8(c->h_inner_ipv6 + 7, ((sp_ld8(c->h_inner_ipv6 + 7) - 1u) & 0xff));
                } else {
                    if ((uint32_t)(c->valid >> V_ipv4 & 1)) {
                        if (sp_ld8(c->h_ipv4 + 8) <= 1u) {
                            c->v.meta_reason = 0x23u;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                        c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2 = sp_ld8(c->h_ipv4 + 8);
                        c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2 = sp_ld16(c->h_ipv4 + 10);
                        c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2) - 1u) & 0xff);
                        c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2) + 0x100u) & 0x1ffff);
                        c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2 = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum_2 & 0xffff));
                        sp_st8(c->h_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl_2);
                        sp_st16(c->h_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum_2);
                    } else {
                        if ((((uint32_t)(c->valid >> V_ipv6 & 1)) ? sp_ld8(c->h_ipv6 + 7) : 0) <= 1u) {
                            c->v.meta_reason = 0x23u;
                            c->v.standard_metadata_egress_spec = 511u;
                            c->v.standard_metadata_mcast_grp = 0u;
                            goto end_of_ingress;
                        }
                        if ((uint32_t)(c->valid >> V_ipv6 & 1)) { sp_st8(c->h_ipv6 + 7, (((((uint32_t)(c->valid >> V_ipv6 & 1)) ? sp_ld8(c->h_ipv6 + 7) : 0) - 1u) & 0xff)); }
                    }
                }
            }
        }
        if ((uint32_t)(c->valid >> V_gtpu & 1)) {
            c->valid &= ~SP_BIT(V_ipv4);
            c->valid &= ~SP_BIT(V_ipv4_options);
            c->valid &= ~SP_BIT(V_ports);
            c->valid &= ~SP_BIT(V_udp_rest);
            c->valid &= ~SP_BIT(V_gtpu);
            c->valid &= ~SP_BIT(V_gtpu_optional);
            c->valid &= ~SP_BIT(V_gtpu_psc);
        }
        if (((uint32_t)c->v.meta_encapsulation) == 0u) {
            if ((uint32_t)(c->valid >> V_ethernet & 1)) { sp_st16(c->h_ethernet + 12, ((((uint32_t)c->v.meta_ip_version) == 4u) ? 0x800u : 0x86ddu)); }
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
        if ((uint32_t)(c->valid >> V_gtpu_chain & 1)) {
            c->valid &= ~SP_BIT(V_gtpu_chain);
            if (((uint32_t)c->v.meta_relayed_bits) != 0u) {
                if ((uint32_t)(c->valid >> V_tunnel_psc & 1)) {
                    sp_st8(c->h_tunnel_psc + 3, (uint32_t)c->v.meta_relayed_type);
                } else {
                    if ((uint32_t)(c->valid >> V_tunnel_gtpu & 1)) { sp_st8(c->h_tunnel_gtpu, (sp_ld8(c->h_tunnel_gtpu) & 0xfbu) | ((uint32_t)(1u) << 2)); }
                    if (!(c->valid & SP_BIT(V_tunnel_optional))) { sp_zero(c->h_tunnel_optional, 4); }
                    c->valid |= SP_BIT(V_tunnel_optional);
                    sp_st16(c->h_tunnel_optional, 0u);
                    sp_st8(c->h_tunnel_optional + 2, 0u);
                    sp_st8(c->h_tunnel_optional + 3, (uint32_t)c->v.meta_relayed_type);
                }
                if (!(c->valid & SP_BIT(V_tunnel_unit_1))) { sp_zero(c->h_tunnel_unit_1, 4); }
                c->valid |= SP_BIT(V_tunnel_unit_1);
                sp_st32(c->h_tunnel_unit_1, (uint32_t)((sp_u128)c->v.meta_relayed));
                if (((uint32_t)c->v.meta_relayed_bits) > 0x20u) {
                    if (!(c->valid & SP_BIT(V_tunnel_unit_2))) { sp_zero(c->h_tunnel_unit_2, 4); }
                    c->valid |= SP_BIT(V_tunnel_unit_2);
                    sp_st32(c->h_tunnel_unit_2, (uint32_t)(((sp_u128)c->v.meta_relayed) >> 32));
                }
                if (((uint32_t)c->v.meta_relayed_bits) > 0x40u) {
                    if (!(c->valid & SP_BIT(V_tunnel_unit_3))) { sp_zero(c->h_tunnel_unit_3, 4); }
                    c->valid |= SP_BIT(V_tunnel_unit_3);
                    sp_st32(c->h_tunnel_unit_3, (uint32_t)(((sp_u128)c->v.meta_relayed) >> 64));
                }
                if (((uint32_t)c->v.meta_relayed_bits) > 0x60u) {
                    if (!(c->valid & SP_BIT(V_tunnel_unit_4))) { sp_zero(c->h_tunnel_unit_4, 4); }
                    c->valid |= SP_BIT(V_tunnel_unit_4);
                    sp_st32(c->h_tunnel_unit_4, (uint32_t)(((sp_u128)c->v.meta_relayed) >> 96));
                }
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
            uint64_t sum153 = 0;
            sum153 += *(const uint32_t *)(c->h_tunnel_ipv4);
            sum153 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
            sum153 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
            sum153 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
            sum153 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
            sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum153)));
        }
        if ((uint32_t)(c->valid >> V_underlay_ipv4 & 1)) {
            uint64_t sum154 = 0;
            sum154 += *(const uint32_t *)(c->h_underlay_ipv4);
            sum154 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
            sum154 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
            sum154 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
            sum154 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
            sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum154)));
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
        if ((uint32_t)(c->valid >> V_tunnel_unit_4 & 1)) { c->v.emit[10] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[11] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_unit_3 & 1)) { c->v.emit[11] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[12] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_unit_2 & 1)) { c->v.emit[12] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[13] = 0;
        if ((uint32_t)(c->valid >> V_tunnel_unit_1 & 1)) { c->v.emit[13] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[14] = 0;
        if ((uint32_t)(c->valid >> V_ipv4 & 1)) { c->v.emit[14] = (uint16_t)(emitted + 1); emitted += 20; }
        c->v.emit[15] = 0;
        if ((uint32_t)(c->valid >> V_ipv4_options & 1)) { c->v.emit[15] = (uint16_t)(emitted + 1); emitted += 0 + c->len_ipv4_options; }
        c->v.emit[16] = 0;
        if ((uint32_t)(c->valid >> V_ipv6 & 1)) { c->v.emit[16] = (uint16_t)(emitted + 1); emitted += 40; }
        c->v.emit[17] = 0;
        if ((uint32_t)(c->valid >> V_ports & 1)) { c->v.emit[17] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[18] = 0;
        if ((uint32_t)(c->valid >> V_udp_rest & 1)) { c->v.emit[18] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[19] = 0;
        if ((uint32_t)(c->valid >> V_gtpu & 1)) { c->v.emit[19] = (uint16_t)(emitted + 1); emitted += 8; }
        c->v.emit[20] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_optional & 1)) { c->v.emit[20] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[21] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_psc & 1)) { c->v.emit[21] = (uint16_t)(emitted + 1); emitted += 4; }
        c->v.emit[22] = 0;
        if ((uint32_t)(c->valid >> V_gtpu_chain & 1)) { c->v.emit[22] = (uint16_t)(emitted + 1); emitted += 0 + c->len_gtpu_chain; }
        c->v.emit[23] = 0;
        if ((uint32_t)(c->valid >> V_inner_ipv4 & 1)) { c->v.emit[23] = (uint16_t)(emitted + 1); emitted += 20; }
        c->v.emit[24] = 0;
        if ((uint32_t)(c->valid >> V_inner_ipv4_options & 1)) { c->v.emit[24] = (uint16_t)(emitted + 1); emitted += 0 + c->len_inner_ipv4_options; }
        c->v.emit[25] = 0;
        if ((uint32_t)(c->valid >> V_inner_ipv6 & 1)) { c->v.emit[25] = (uint16_t)(emitted + 1); emitted += 40; }
        c->v.emit[26] = 0;
        if ((uint32_t)(c->valid >> V_extension_1 & 1)) { c->v.emit[26] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_1; }
        c->v.emit[27] = 0;
        if ((uint32_t)(c->valid >> V_extension_2 & 1)) { c->v.emit[27] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_2; }
        c->v.emit[28] = 0;
        if ((uint32_t)(c->valid >> V_extension_3 & 1)) { c->v.emit[28] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_3; }
        c->v.emit[29] = 0;
        if ((uint32_t)(c->valid >> V_extension_4 & 1)) { c->v.emit[29] = (uint16_t)(emitted + 1); emitted += 8 + c->len_extension_4; }
        c->v.emit[30] = 0;
        if ((uint32_t)(c->valid >> V_inner_ports & 1)) { c->v.emit[30] = (uint16_t)(emitted + 1); emitted += 4; }
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
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_tunnel_unit_4, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[11]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[11] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_tunnel_unit_3, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[12]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[12] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_tunnel_unit_2, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[13]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[13] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_tunnel_unit_1, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[14]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[14] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 20 > end) goto failed;
        sp_copy(p, c->h_ipv4, 20);
    }
    if (*(volatile uint16_t *)&c->v.emit[15]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[15] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 0 > end) goto failed;
        uint32_t varbit = *(volatile uint32_t *)&c->len_ipv4_options;
        if (varbit > 0 && varbit <= 40) {
            if (bpf_xdp_store_bytes(ctx, at + 0, c->h_ipv4_options + 0, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[16]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[16] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 40 > end) goto failed;
        sp_copy(p, c->h_ipv6, 40);
    }
    if (*(volatile uint16_t *)&c->v.emit[17]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[17] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_ports, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[18]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[18] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_udp_rest, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[19]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[19] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 8 > end) goto failed;
        sp_copy(p, c->h_gtpu, 8);
    }
    if (*(volatile uint16_t *)&c->v.emit[20]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[20] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_optional, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[21]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[21] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 4 > end) goto failed;
        sp_copy(p, c->h_gtpu_psc, 4);
    }
    if (*(volatile uint16_t *)&c->v.emit[22]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[22] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 0 > end) goto failed;
        uint32_t varbit = *(volatile uint32_t *)&c->len_gtpu_chain;
        if (varbit > 0 && varbit <= 16) {
            if (bpf_xdp_store_bytes(ctx, at + 0, c->h_gtpu_chain + 0, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[23]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[23] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 20 > end) goto failed;
        sp_copy(p, c->h_inner_ipv4, 20);
    }
    if (*(volatile uint16_t *)&c->v.emit[24]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[24] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 0 > end) goto failed;
        uint32_t varbit = *(volatile uint32_t *)&c->len_inner_ipv4_options;
        if (varbit > 0 && varbit <= 40) {
            if (bpf_xdp_store_bytes(ctx, at + 0, c->h_inner_ipv4_options + 0, varbit)) goto failed;
        }
    }
    if (*(volatile uint16_t *)&c->v.emit[25]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[25] - 1;
        if (at > SP_FARTHEST) goto failed;
        uint8_t *p = data + at;
        SP_OPAQUE(p);
        if (p + 40 > end) goto failed;
        sp_copy(p, c->h_inner_ipv6, 40);
    }
    if (*(volatile uint16_t *)&c->v.emit[26]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[26] - 1;
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
    if (*(volatile uint16_t *)&c->v.emit[27]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[27] - 1;
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
    if (*(volatile uint16_t *)&c->v.emit[28]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[28] - 1;
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
    if (*(volatile uint16_t *)&c->v.emit[29]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[29] - 1;
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
    if (*(volatile uint16_t *)&c->v.emit[30]) {
        uint32_t at = *(volatile uint16_t *)&c->v.emit[30] - 1;
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
                uint64_t sum65 = 0;
                sum65 += *(const uint32_t *)(c->h_ipv4);
                sum65 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum65 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum65 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum65 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum65))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
            {
                uint64_t sum66 = 0;
                sum66 += *(const uint32_t *)(c->h_inner_ipv4);
                sum66 += *(const uint32_t *)(c->h_inner_ipv4 + 4);
                sum66 += *(const uint16_t *)(c->h_inner_ipv4 + 8);
                sum66 += *(const uint32_t *)(c->h_inner_ipv4 + 12);
                sum66 += *(const uint32_t *)(c->h_inner_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum66))) != sp_ld16(c->h_inner_ipv4 + 10)) {
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
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
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
                    const uint32_t on67 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on67 == 6u) {
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
                    const uint32_t on68 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on68 == 6u) {
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
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
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
                if (sp_ld8(c->h_inner_ipv4 + 8) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(c->h_inner_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(c->h_inner_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl);
                sp_st16(c->h_inner_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum);
            }
            c->valid &= ~SP_BIT(V_ipv4);
            c->valid &= ~SP_BIT(V_ports);
            c->valid &= ~SP_BIT(V_udp_rest);
            c->valid &= ~SP_BIT(V_gtpu);
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
                    uint64_t sum69 = 0;
                    sum69 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum69 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum69 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum69 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum69 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum69)));
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
                    uint64_t sum70 = 0;
                    sum70 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum70 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum70 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum70 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum70 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum70)));
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
                    uint64_t sum71 = 0;
                    sum71 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum71 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum71 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum71 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum71 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum71)));
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
                    uint64_t sum72 = 0;
                    sum72 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum72 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum72 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum72 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum72 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum72)));
                }
                {
                    uint64_t sum73 = 0;
                    sum73 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum73 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum73 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum73 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum73 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum73)));
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
                    uint64_t sum74 = 0;
                    sum74 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum74 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum74 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum74 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum74 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum74)));
                }
                {
                    uint64_t sum75 = 0;
                    sum75 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum75 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum75 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum75 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum75 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum75)));
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
                uint64_t sum76 = 0;
                sum76 += *(const uint32_t *)(c->h_ipv4);
                sum76 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum76 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum76 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum76 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum76))) != sp_ld16(c->h_ipv4 + 10)) {
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
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
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
                    const uint32_t on77 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on77 == 6u) {
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
                    const uint32_t on78 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on78 == 6u) {
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
                        const sp_u128 wide79 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide80 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide79;
                        c->key[1] = (uint64_t)(wide79 >> 64);
                        c->key[2] = (uint64_t)wide80;
                        c->key[3] = (uint64_t)(wide80 >> 64);
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
                    const sp_u128 wide81 = (sp_u128)c->v.meta_src_v6;
                    const sp_u128 wide82 = (sp_u128)c->v.meta_dst_v6;
                    c->key[0] = (uint64_t)wide81;
                    c->key[1] = (uint64_t)(wide81 >> 64);
                    c->key[2] = (uint64_t)wide82;
                    c->key[3] = (uint64_t)(wide82 >> 64);
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
                        const sp_u128 wide83 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide83;
                        c->key[1] = (uint64_t)(wide83 >> 64);
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
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
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
                if (sp_ld8(c->h_inner_ipv6 + 7) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                sp_st8(c->h_inner_ipv6 + 7, ((sp_ld8(c->h_inner_ipv6 + 7) - 1u) & 0xff));
            }
            c->valid &= ~SP_BIT(V_ipv4);
            c->valid &= ~SP_BIT(V_ports);
            c->valid &= ~SP_BIT(V_udp_rest);
            c->valid &= ~SP_BIT(V_gtpu);
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
                    uint64_t sum84 = 0;
                    sum84 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum84 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum84 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum84 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum84 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum84)));
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
                    uint64_t sum85 = 0;
                    sum85 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum85 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum85 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum85 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum85 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum85)));
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
                    uint64_t sum86 = 0;
                    sum86 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum86 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum86 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum86 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum86 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum86)));
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
                    uint64_t sum87 = 0;
                    sum87 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum87 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum87 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum87 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum87 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum87)));
                }
                {
                    uint64_t sum88 = 0;
                    sum88 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum88 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum88 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum88 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum88 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum88)));
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
                    uint64_t sum89 = 0;
                    sum89 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum89 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum89 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum89 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum89 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum89)));
                }
                {
                    uint64_t sum90 = 0;
                    sum90 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum90 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum90 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum90 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum90 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum90)));
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
                uint64_t sum91 = 0;
                sum91 += *(const uint32_t *)(c->h_ipv4);
                sum91 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum91 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum91 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum91 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum91))) != sp_ld16(c->h_ipv4 + 10)) {
                    c->v.standard_metadata_checksum_error = 1u;
                }
            }
            {
                uint64_t sum92 = 0;
                sum92 += *(const uint32_t *)(c->h_inner_ipv4);
                sum92 += *(const uint32_t *)(c->h_inner_ipv4 + 4);
                sum92 += *(const uint16_t *)(c->h_inner_ipv4 + 8);
                sum92 += *(const uint32_t *)(c->h_inner_ipv4 + 12);
                sum92 += *(const uint32_t *)(c->h_inner_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum92))) != sp_ld16(c->h_inner_ipv4 + 10)) {
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
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
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
                    const uint32_t on93 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on93 == 6u) {
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
                    const uint32_t on94 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on94 == 6u) {
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
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
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
                if (sp_ld8(c->h_inner_ipv4 + 8) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = sp_ld8(c->h_inner_ipv4 + 8);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = sp_ld16(c->h_inner_ipv4 + 10);
                c->v.UpfIngress_tunnel_decrement_ipv4_ttl = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl) - 1u) & 0xff);
                c->v.UpfIngress_tunnel_decrement_ipv4_sum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum) + 0x100u) & 0x1ffff);
                c->v.UpfIngress_tunnel_decrement_ipv4_checksum = ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum) >= 0xffffu) ? ((((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff) + 1u) & 0xffff) : ((uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_sum & 0xffff));
                sp_st8(c->h_inner_ipv4 + 8, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_ttl);
                sp_st16(c->h_inner_ipv4 + 10, (uint32_t)c->v.UpfIngress_tunnel_decrement_ipv4_checksum);
            }
            c->valid &= ~SP_BIT(V_ipv4);
            c->valid &= ~SP_BIT(V_ports);
            c->valid &= ~SP_BIT(V_udp_rest);
            c->valid &= ~SP_BIT(V_gtpu);
            c->valid &= ~SP_BIT(V_gtpu_optional);
            c->valid &= ~SP_BIT(V_gtpu_psc);
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
                    uint64_t sum95 = 0;
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum95 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum95 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum95)));
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
                    uint64_t sum96 = 0;
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum96 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum96 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum96)));
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
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc) | SP_BIT(V_inner_ipv4) | SP_BIT(V_inner_ports))) {
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
                    uint64_t sum98 = 0;
                    sum98 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum98 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum98 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum98 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum98 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum98)));
                }
                {
                    uint64_t sum99 = 0;
                    sum99 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum99 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum99 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum99 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum99 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum99)));
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
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum100 = 0;
                    sum100 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum100 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum100 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum100 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum100 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum100)));
                }
                {
                    uint64_t sum101 = 0;
                    sum101 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum101 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum101 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum101 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum101 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum101)));
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
            sp_copy(data + 100, c->h_tunnel_optional, 4);
            sp_copy(data + 104, c->h_tunnel_psc, 4);
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
                uint64_t sum102 = 0;
                sum102 += *(const uint32_t *)(c->h_ipv4);
                sum102 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum102 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum102 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum102 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum102))) != sp_ld16(c->h_ipv4 + 10)) {
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
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
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
                    const uint32_t on103 = (uint32_t)c->v.UpfIngress_session_tmp;
                    if (on103 == 6u) {
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
                    const uint32_t on104 = (uint32_t)c->v.UpfIngress_session_tmp_3;
                    if (on104 == 6u) {
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
                        const sp_u128 wide105 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide106 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide105;
                        c->key[1] = (uint64_t)(wide105 >> 64);
                        c->key[2] = (uint64_t)wide106;
                        c->key[3] = (uint64_t)(wide106 >> 64);
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
                    const sp_u128 wide107 = (sp_u128)c->v.meta_src_v6;
                    const sp_u128 wide108 = (sp_u128)c->v.meta_dst_v6;
                    c->key[0] = (uint64_t)wide107;
                    c->key[1] = (uint64_t)(wide107 >> 64);
                    c->key[2] = (uint64_t)wide108;
                    c->key[3] = (uint64_t)(wide108 >> 64);
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
                        const sp_u128 wide109 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide109;
                        c->key[1] = (uint64_t)(wide109 >> 64);
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
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
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
                if (sp_ld8(c->h_inner_ipv6 + 7) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
                sp_st8(c->h_inner_ipv6 + 7, ((sp_ld8(c->h_inner_ipv6 + 7) - 1u) & 0xff));
            }
            c->valid &= ~SP_BIT(V_ipv4);
            c->valid &= ~SP_BIT(V_ports);
            c->valid &= ~SP_BIT(V_udp_rest);
            c->valid &= ~SP_BIT(V_gtpu);
            c->valid &= ~SP_BIT(V_gtpu_optional);
            c->valid &= ~SP_BIT(V_gtpu_psc);
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
                    uint64_t sum110 = 0;
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum110 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum110 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum110)));
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
                    uint64_t sum111 = 0;
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum111 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum111 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum111)));
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
        if (c->valid == (SP_BIT(V_ethernet) | SP_BIT(V_tunnel_ipv4) | SP_BIT(V_tunnel_udp) | SP_BIT(V_tunnel_gtpu) | SP_BIT(V_tunnel_optional) | SP_BIT(V_tunnel_psc) | SP_BIT(V_inner_ipv6) | SP_BIT(V_inner_ports))) {
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
                    uint64_t sum113 = 0;
                    sum113 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum113 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum113 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum113 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum113 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum113)));
                }
                {
                    uint64_t sum114 = 0;
                    sum114 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum114 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum114 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum114 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum114 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum114)));
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
        {
            /* compute_checksum */
            {
                {
                    uint64_t sum115 = 0;
                    sum115 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum115 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum115 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum115 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum115 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum115)));
                }
                {
                    uint64_t sum116 = 0;
                    sum116 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum116 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum116 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum116 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum116 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum116)));
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
            sp_copy(data + 100, c->h_tunnel_optional, 4);
            sp_copy(data + 104, c->h_tunnel_psc, 4);
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
                uint64_t sum117 = 0;
                sum117 += *(const uint32_t *)(c->h_ipv4);
                sum117 += *(const uint32_t *)(c->h_ipv4 + 4);
                sum117 += *(const uint16_t *)(c->h_ipv4 + 8);
                sum117 += *(const uint32_t *)(c->h_ipv4 + 12);
                sum117 += *(const uint32_t *)(c->h_ipv4 + 16);
                if (((uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum117))) != sp_ld16(c->h_ipv4 + 10)) {
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
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
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
                    const uint32_t on118 = (uint32_t)c->v.UpfIngress_session_tmp_5;
                    if (on118 == 6u) {
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
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
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
                if (sp_ld8(c->h_ipv4 + 8) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
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
                    uint64_t sum119 = 0;
                    sum119 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum119 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum119 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum119 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum119 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum119)));
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
                    uint64_t sum120 = 0;
                    sum120 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum120 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum120 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum120 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum120 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum120)));
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
                    uint64_t sum121 = 0;
                    sum121 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum121 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum121 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum121 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum121 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum121)));
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
                    uint64_t sum122 = 0;
                    sum122 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum122 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum122 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum122 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum122 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum122)));
                }
                {
                    uint64_t sum123 = 0;
                    sum123 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum123 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum123 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum123 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum123 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum123)));
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
                    uint64_t sum124 = 0;
                    sum124 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum124 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum124 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum124 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum124 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum124)));
                }
                {
                    uint64_t sum125 = 0;
                    sum125 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum125 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum125 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum125 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum125 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum125)));
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
                if (e->action == ACTION_route) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.route.p0_vrf);
                }
                else if (e->action == ACTION_loopback) {
                    c->v.meta_vrf = (uint32_t)((uint32_t)e->args.loopback.p0_vrf);
                    c->v.meta_loopback = 1u;
                }
                else if (e->action == ACTION_UpfIngress_station_drop) {
                    c->v.meta_reason = (uint32_t)((uint32_t)e->args.UpfIngress_station_drop.p0_reason);
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
                        const sp_u128 wide126 = sp_ld128(c->h_ipv6 + 24);
                        c->key[0] = (uint64_t)wide126;
                        c->key[1] = (uint64_t)(wide126 >> 64);
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
                        const sp_u128 wide127 = (sp_u128)c->v.UpfIngress_session_remote_v6;
                        const sp_u128 wide128 = (sp_u128)c->v.UpfIngress_session_local_v6;
                        c->key[0] = (uint64_t)wide127;
                        c->key[1] = (uint64_t)(wide127 >> 64);
                        c->key[2] = (uint64_t)wide128;
                        c->key[3] = (uint64_t)(wide128 >> 64);
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
                    const sp_u128 wide129 = (sp_u128)c->v.meta_src_v6;
                    const sp_u128 wide130 = (sp_u128)c->v.meta_dst_v6;
                    c->key[0] = (uint64_t)wide129;
                    c->key[1] = (uint64_t)(wide129 >> 64);
                    c->key[2] = (uint64_t)wide130;
                    c->key[3] = (uint64_t)(wide130 >> 64);
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
                        const sp_u128 wide131 = (sp_u128)c->v.meta_dst_v6;
                        c->key[0] = (uint64_t)wide131;
                        c->key[1] = (uint64_t)(wide131 >> 64);
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
            if (((uint32_t)c->v.meta_out_length) > ((uint32_t)c->v.meta_mtu)) {
                c->v.meta_reason = 0x25u;
                c->v.standard_metadata_egress_spec = 511u;
                c->v.standard_metadata_mcast_grp = 0u;
                goto end_of_ingress;
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
                if (sp_ld8(c->h_ipv6 + 7) <= 1u) {
                    c->v.meta_reason = 0x23u;
                    c->v.standard_metadata_egress_spec = 511u;
                    c->v.standard_metadata_mcast_grp = 0u;
                    goto end_of_ingress;
                }
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
                    uint64_t sum132 = 0;
                    sum132 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum132 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum132 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum132 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum132 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum132)));
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
                    uint64_t sum133 = 0;
                    sum133 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum133 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum133 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum133 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum133 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum133)));
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
                    uint64_t sum134 = 0;
                    sum134 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum134 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum134 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum134 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum134 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum134)));
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
                    uint64_t sum135 = 0;
                    sum135 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum135 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum135 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum135 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum135 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum135)));
                }
                {
                    uint64_t sum136 = 0;
                    sum136 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum136 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum136 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum136 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum136 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum136)));
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
                    uint64_t sum137 = 0;
                    sum137 += *(const uint32_t *)(c->h_tunnel_ipv4);
                    sum137 += *(const uint32_t *)(c->h_tunnel_ipv4 + 4);
                    sum137 += *(const uint16_t *)(c->h_tunnel_ipv4 + 8);
                    sum137 += *(const uint32_t *)(c->h_tunnel_ipv4 + 12);
                    sum137 += *(const uint32_t *)(c->h_tunnel_ipv4 + 16);
                    sp_st16(c->h_tunnel_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum137)));
                }
                {
                    uint64_t sum138 = 0;
                    sum138 += *(const uint32_t *)(c->h_underlay_ipv4);
                    sum138 += *(const uint32_t *)(c->h_underlay_ipv4 + 4);
                    sum138 += *(const uint16_t *)(c->h_underlay_ipv4 + 8);
                    sum138 += *(const uint32_t *)(c->h_underlay_ipv4 + 12);
                    sum138 += *(const uint32_t *)(c->h_underlay_ipv4 + 16);
                    sp_st16(c->h_underlay_ipv4 + 10, (uint32_t)__builtin_bswap16((uint16_t)sp_fold_words(sum138)));
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

