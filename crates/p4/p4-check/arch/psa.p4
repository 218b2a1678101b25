// psa.p4: the Portable Switch Architecture, version 1.2, as its public specification has it.
// Part of Splitplane; served for #include <psa.p4>, <bmv2/psa.p4> and <dpdk/psa.p4> (the last with PSA_DPDK_EXTRAS: packet
// lengths given by the program). Programs for it run on the interpreter and on x86; XDP refuses them.

#ifndef _PSA_P4_
#define _PSA_P4_

#include <core.p4>

// -- numbers that the data plane carries (§4.1) ------------------------------------------------------------------------
// `XUint_t` is the bare number, `X_t` the type that the control plane may translate; the `InHeader` twins are the same
// numbers where they stand in a header. W is this implementation's width.

#define PSA_NUMBER(X, W)                                                                        \
    typedef bit<W> X##Uint_t;                                                                   \
    typedef bit<W> X##InHeaderUint_t;

PSA_NUMBER(PortId, 32)
PSA_NUMBER(MulticastGroup, 32)
PSA_NUMBER(CloneSessionId, 16)
PSA_NUMBER(ClassOfService, 8)
PSA_NUMBER(PacketLength, 16)
PSA_NUMBER(EgressInstance, 16)
PSA_NUMBER(Timestamp, 64)

@p4runtime_translation("p4.org/psa/v1/PortId_t", 32)                   type PortIdUint_t PortId_t;
@p4runtime_translation("p4.org/psa/v1/MulticastGroup_t", 32)           type MulticastGroupUint_t MulticastGroup_t;
@p4runtime_translation("p4.org/psa/v1/CloneSessionId_t", 16)           type CloneSessionIdUint_t CloneSessionId_t;
@p4runtime_translation("p4.org/psa/v1/ClassOfService_t", 8)            type ClassOfServiceUint_t ClassOfService_t;
@p4runtime_translation("p4.org/psa/v1/PacketLength_t", 16)             type PacketLengthUint_t PacketLength_t;
@p4runtime_translation("p4.org/psa/v1/EgressInstance_t", 16)           type EgressInstanceUint_t EgressInstance_t;
@p4runtime_translation("p4.org/psa/v1/Timestamp_t", 64)                type TimestampUint_t Timestamp_t;

@p4runtime_translation("p4.org/psa/v1/PortIdInHeader_t", 32)           type PortIdInHeaderUint_t PortIdInHeader_t;
@p4runtime_translation("p4.org/psa/v1/MulticastGroupInHeader_t", 32)   type MulticastGroupInHeaderUint_t MulticastGroupInHeader_t;
@p4runtime_translation("p4.org/psa/v1/CloneSessionIdInHeader_t", 16)   type CloneSessionIdInHeaderUint_t CloneSessionIdInHeader_t;
@p4runtime_translation("p4.org/psa/v1/ClassOfServiceInHeader_t", 8)    type ClassOfServiceInHeaderUint_t ClassOfServiceInHeader_t;
@p4runtime_translation("p4.org/psa/v1/PacketLengthInHeader_t", 16)     type PacketLengthInHeaderUint_t PacketLengthInHeader_t;
@p4runtime_translation("p4.org/psa/v1/EgressInstanceInHeader_t", 16)   type EgressInstanceInHeaderUint_t EgressInstanceInHeader_t;
@p4runtime_translation("p4.org/psa/v1/TimestampInHeader_t", 64)        type TimestampInHeaderUint_t TimestampInHeader_t;

// psa_X_header_to_int and psa_X_int_to_header: between the two forms of a number.
#define PSA_CONVERSIONS(X)                                                                      \
    X##_t psa_##X##_header_to_int(in X##InHeader_t x) {                                         \
        return (X##_t) (X##Uint_t) (X##InHeaderUint_t) x;                                       \
    }                                                                                           \
    X##InHeader_t psa_##X##_int_to_header(in X##_t x) {                                         \
        return (X##InHeader_t) (X##InHeaderUint_t) (X##Uint_t) x;                               \
    }

PSA_CONVERSIONS(PortId)
PSA_CONVERSIONS(MulticastGroup)
PSA_CONVERSIONS(CloneSessionId)
PSA_CONVERSIONS(ClassOfService)
PSA_CONVERSIONS(PacketLength)
PSA_CONVERSIONS(EgressInstance)
PSA_CONVERSIONS(Timestamp)

typedef error ParserError_t;

const PortId_t PSA_PORT_RECIRCULATE = (PortId_t) 0xfffffffa;
const PortId_t PSA_PORT_CPU = (PortId_t) 0xfffffffd;
const CloneSessionId_t PSA_CLONE_SESSION_TO_CPU = (CloneSessionId_t) 0;

// -- what goes with each packet (§4.3) -----------------------------------------------------------------------------------

// How a packet came to where it is.
enum PSA_PacketPath_t {
    NORMAL,             // ingress: from a port
    NORMAL_UNICAST,     // egress: from ingress, one copy
    NORMAL_MULTICAST,   // egress: from ingress, one of several copies
    CLONE_I2E,
    CLONE_E2E,
    RESUBMIT,
    RECIRCULATE
}

struct psa_ingress_parser_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_ingress_input_metadata_t {
    PortId_t         ingress_port;
    PSA_PacketPath_t packet_path;
    Timestamp_t      ingress_timestamp;
    ParserError_t    parser_error;
}

// What ingress decides. `drop` starts as true, so that a packet nobody forwards ends.
struct psa_ingress_output_metadata_t {
    ClassOfService_t class_of_service;
    bool             clone;
    CloneSessionId_t clone_session_id;      // if clone
    bool             drop;
    bool             resubmit;              // if not drop
    MulticastGroup_t multicast_group;       // if neither; 0 means unicast
    PortId_t         egress_port;           // if unicast
}

struct psa_egress_parser_input_metadata_t {
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
}

struct psa_egress_input_metadata_t {
    ClassOfService_t class_of_service;
    PortId_t         egress_port;
    PSA_PacketPath_t packet_path;
    EgressInstance_t instance;              // tells copies of one multicast apart
    Timestamp_t      egress_timestamp;
    ParserError_t    parser_error;
}

struct psa_egress_output_metadata_t {
    bool             clone;
    CloneSessionId_t clone_session_id;      // if clone
    bool             drop;
}

struct psa_egress_deparser_input_metadata_t {
    PortId_t         egress_port;
}

// In a deparser: whether the packet takes the path named. To emit what only that path carries.
@pure extern bool psa_clone_i2e(in psa_ingress_output_metadata_t istd);
@pure extern bool psa_resubmit(in psa_ingress_output_metadata_t istd);
@pure extern bool psa_normal(in psa_ingress_output_metadata_t istd);
@pure extern bool psa_clone_e2e(in psa_egress_output_metadata_t istd);
@pure extern bool psa_recirculate(in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd);

// For tools that prove things; they change nothing.
extern void assert(in bool check);
extern void assume(in bool check);

match_kind {
    range,      // from low to high, both included
    selector,   // input of an ActionSelector
    optional    // one value or any
}

// Value of the table property `psa_idle_timeout`.
enum PSA_IdleTimeout_t {
    NO_TIMEOUT,
    NOTIFY_CONTROL
}

// -- actions that set the fate of a packet (§6.2) ------------------------------------------------------------------------

action send_to_port(inout psa_ingress_output_metadata_t meta, in PortId_t egress_port) {
    meta.egress_port = egress_port;
    meta.multicast_group = (MulticastGroup_t) 0;
    meta.drop = false;
}

action multicast(inout psa_ingress_output_metadata_t meta, in MulticastGroup_t multicast_group) {
    meta.multicast_group = multicast_group;
    meta.drop = false;
}

action ingress_drop(inout psa_ingress_output_metadata_t meta) {
    meta.drop = true;
}

action egress_drop(inout psa_egress_output_metadata_t meta) {
    meta.drop = true;
}

// -- externs (§7) ----------------------------------------------------------------------------------------------------------

extern PacketReplicationEngine {
    PacketReplicationEngine();
}

extern BufferingQueueingEngine {
    BufferingQueueingEngine();
}

enum PSA_HashAlgorithm_t {
    IDENTITY,
    CRC32,
    CRC32_CUSTOM,
    CRC16,
    CRC16_CUSTOM,
    ONES_COMPLEMENT16,
    TARGET_DEFAULT
}

extern Hash<O> {
    Hash(PSA_HashAlgorithm_t algo);
    @pure O get_hash<D>(in D data);
    // base + hash modulo max
    @pure O get_hash<T, D>(in T base, in D data, in T max);
}

extern Checksum<W> {
    Checksum(PSA_HashAlgorithm_t hash);
    void clear();
    void update<T>(in T data);
    @noSideEffects W get();
}

// RFC 1071, with the incremental update of RFC 1624. Data is a whole number of 16-bit words.
extern InternetChecksum {
    InternetChecksum();
    void clear();
    void add<T>(in T data);
    void subtract<T>(in T data);
    @noSideEffects bit<16> get();
    @noSideEffects bit<16> get_state();
    void set_state(in bit<16> checksum_state);
}

enum PSA_CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

extern Counter<W, S> {
    Counter(bit<32> n_counters, PSA_CounterType_t type);
    void count(in S index);
#ifdef PSA_DPDK_EXTRAS
    void count(in S index, in bit<32> pkt_len);
#endif
}

extern DirectCounter<W> {
    DirectCounter(PSA_CounterType_t type);
    void count();
#ifdef PSA_DPDK_EXTRAS
    void count(in bit<32> pkt_len);
#endif
}

enum PSA_MeterType_t {
    PACKETS,
    BYTES
}

enum PSA_MeterColor_t { RED, GREEN, YELLOW }

extern Meter<S> {
    Meter(bit<32> n_meters, PSA_MeterType_t type);
    // Colour-aware, and colour-blind (as if the packet were green).
    PSA_MeterColor_t execute(in S index, in PSA_MeterColor_t color);
    PSA_MeterColor_t execute(in S index);
#ifdef PSA_DPDK_EXTRAS
    PSA_MeterColor_t dpdk_execute(in S index, in PSA_MeterColor_t color, in bit<32> pkt_len);
    PSA_MeterColor_t dpdk_execute(in S index, in bit<32> pkt_len);
#endif
}

extern DirectMeter {
    DirectMeter(PSA_MeterType_t type);
    PSA_MeterColor_t execute(in PSA_MeterColor_t color);
    PSA_MeterColor_t execute();
#ifdef PSA_DPDK_EXTRAS
    PSA_MeterColor_t dpdk_execute(in PSA_MeterColor_t color, in bit<32> pkt_len);
    PSA_MeterColor_t dpdk_execute(in bit<32> pkt_len);
#endif
}

extern Register<T, S> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    @noSideEffects T read(in S index);
    void write(in S index, in T value);
}

extern Random<T> {
    Random(T min, T max);
    T read();
}

extern ActionProfile {
    ActionProfile(bit<32> size);
}

extern ActionSelector {
    ActionSelector(PSA_HashAlgorithm_t algo, bit<32> size, bit<32> outputWidth);
}

extern Digest<T> {
    Digest();
    void pack(in T data);
}

// -- programmable blocks and packages (§5) --------------------------------------------------------------------------------
// H: headers, M: the user's metadata. What one block hands to another: NM to egress, CI2EM and CE2EM to clones, RESUBM and
// RECIRCM to the packet's next turn.

parser IngressParser<H, M, RESUBM, RECIRCM>(
    packet_in buffer,
    out H parsed_hdr,
    inout M user_meta,
    in psa_ingress_parser_input_metadata_t istd,
    in RESUBM resubmit_meta,
    in RECIRCM recirculate_meta);

control Ingress<H, M>(
    inout H hdr,
    inout M user_meta,
    in psa_ingress_input_metadata_t istd,
    inout psa_ingress_output_metadata_t ostd);

control IngressDeparser<H, M, CI2EM, RESUBM, NM>(
    packet_out buffer,
    out CI2EM clone_i2e_meta,
    out RESUBM resubmit_meta,
    out NM normal_meta,
    inout H hdr,
    in M meta,
    in psa_ingress_output_metadata_t istd);

parser EgressParser<H, M, NM, CI2EM, CE2EM>(
    packet_in buffer,
    out H parsed_hdr,
    inout M user_meta,
    in psa_egress_parser_input_metadata_t istd,
    in NM normal_meta,
    in CI2EM clone_i2e_meta,
    in CE2EM clone_e2e_meta);

control Egress<H, M>(
    inout H hdr,
    inout M user_meta,
    in psa_egress_input_metadata_t istd,
    inout psa_egress_output_metadata_t ostd);

control EgressDeparser<H, M, CE2EM, RECIRCM>(
    packet_out buffer,
    out CE2EM clone_e2e_meta,
    out RECIRCM recirculate_meta,
    inout H hdr,
    in M meta,
    in psa_egress_output_metadata_t istd,
    in psa_egress_deparser_input_metadata_t edstd);

package IngressPipeline<IH, IM, NM, CI2EM, RESUBM, RECIRCM>(
    IngressParser<IH, IM, RESUBM, RECIRCM> ip,
    Ingress<IH, IM> ig,
    IngressDeparser<IH, IM, CI2EM, RESUBM, NM> id);

package EgressPipeline<EH, EM, NM, CI2EM, CE2EM, RECIRCM>(
    EgressParser<EH, EM, NM, CI2EM, CE2EM> ep,
    Egress<EH, EM> eg,
    EgressDeparser<EH, EM, CE2EM, RECIRCM> ed);

package PSA_Switch<IH, IM, EH, EM, NM, CI2EM, CE2EM, RESUBM, RECIRCM>(
    IngressPipeline<IH, IM, NM, CI2EM, RESUBM, RECIRCM> ingress,
    PacketReplicationEngine pre,
    EgressPipeline<EH, EM, NM, CI2EM, CE2EM, RECIRCM> egress,
    BufferingQueueingEngine bqe);

#endif
