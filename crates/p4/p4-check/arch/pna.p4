// pna.p4: the Portable NIC Architecture, as its public draft (0.5) has it.
// Part of Splitplane; served for #include <pna.p4> and <dpdk/pna.p4> (the latter with PNA_DPDK_EXTRAS: hash algorithms,
// packet lengths given by the program, an IPsec engine). What of it runs stands at the top of `src/pna.rs`.
// `@host_ports(2, 3)` in front of the instance of PNA_NIC says which ports are the host's; the others are the network's.

#ifndef _PNA_P4_
#define _PNA_P4_

#include <core.p4>

// -- numbers that the data plane carries ------------------------------------------------------------------------------------
// As in PSA: `XUint_t` the bare number, `X_t` what the control plane may translate, `InHeader` their twins in headers.

#define PNA_NUMBER(X, W, V)                                                                     \
    typedef bit<W> X##Uint_t;                                                                   \
    typedef bit<V> X##InHeaderUint_t;

PNA_NUMBER(PortId, 32, 32)
PNA_NUMBER(InterfaceId, 32, 32)
PNA_NUMBER(MulticastGroup, 32, 32)
PNA_NUMBER(MirrorSessionId, 16, 16)
PNA_NUMBER(MirrorSlotId, 8, 8)
PNA_NUMBER(ClassOfService, 8, 8)
PNA_NUMBER(PacketLength, 16, 16)
PNA_NUMBER(MulticastInstance, 16, 16)
PNA_NUMBER(Timestamp, 64, 64)
PNA_NUMBER(FlowId, 32, 32)
PNA_NUMBER(ExpireTimeProfileId, 8, 8)
PNA_NUMBER(PassNumber, 3, 8)
PNA_NUMBER(SecurityAssocId, 32, 32)

@p4runtime_translation("p4.org/pna/v1/PortId_t", 32)                       type PortIdUint_t PortId_t;
@p4runtime_translation("p4.org/pna/v1/InterfaceId_t", 32)                  type InterfaceIdUint_t InterfaceId_t;
@p4runtime_translation("p4.org/pna/v1/MulticastGroup_t", 32)               type MulticastGroupUint_t MulticastGroup_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSessionId_t", 16)              type MirrorSessionIdUint_t MirrorSessionId_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSlotId_t", 8)                  type MirrorSlotIdUint_t MirrorSlotId_t;
@p4runtime_translation("p4.org/pna/v1/ClassOfService_t", 8)                type ClassOfServiceUint_t ClassOfService_t;
@p4runtime_translation("p4.org/pna/v1/PacketLength_t", 16)                 type PacketLengthUint_t PacketLength_t;
@p4runtime_translation("p4.org/pna/v1/MulticastInstance_t", 16)            type MulticastInstanceUint_t MulticastInstance_t;
@p4runtime_translation("p4.org/pna/v1/Timestamp_t", 64)                    type TimestampUint_t Timestamp_t;
@p4runtime_translation("p4.org/pna/v1/FlowId_t", 32)                       type FlowIdUint_t FlowId_t;
@p4runtime_translation("p4.org/pna/v1/ExpireTimeProfileId_t", 8)           type ExpireTimeProfileIdUint_t ExpireTimeProfileId_t;
@p4runtime_translation("p4.org/pna/v1/PassNumber_t", 8)                    type PassNumberUint_t PassNumber_t;
@p4runtime_translation("p4.org/pna/v1/SecurityAssocId_t", 64)              type SecurityAssocIdUint_t SecurityAssocId_t;

@p4runtime_translation("p4.org/pna/v1/PortIdInHeader_t", 32)               type PortIdInHeaderUint_t PortIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/InterfaceIdInHeader_t", 32)          type InterfaceIdInHeaderUint_t InterfaceIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MulticastGroupInHeader_t", 32)       type MulticastGroupInHeaderUint_t MulticastGroupInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSessionIdInHeader_t", 16)      type MirrorSessionIdInHeaderUint_t MirrorSessionIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MirrorSlotIdInHeader_t", 8)          type MirrorSlotIdInHeaderUint_t MirrorSlotIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/ClassOfServiceInHeader_t", 8)        type ClassOfServiceInHeaderUint_t ClassOfServiceInHeader_t;
@p4runtime_translation("p4.org/pna/v1/PacketLengthInHeader_t", 16)         type PacketLengthInHeaderUint_t PacketLengthInHeader_t;
@p4runtime_translation("p4.org/pna/v1/MulticastInstanceInHeader_t", 16)    type MulticastInstanceInHeaderUint_t MulticastInstanceInHeader_t;
@p4runtime_translation("p4.org/pna/v1/TimestampInHeader_t", 64)            type TimestampInHeaderUint_t TimestampInHeader_t;
@p4runtime_translation("p4.org/pna/v1/FlowIdInHeader_t", 32)               type FlowIdInHeaderUint_t FlowIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/ExpireTimeProfileIdInHeader_t", 8)   type ExpireTimeProfileIdInHeaderUint_t ExpireTimeProfileIdInHeader_t;
@p4runtime_translation("p4.org/pna/v1/PassNumberInHeader_t", 8)            type PassNumberInHeaderUint_t PassNumberInHeader_t;
@p4runtime_translation("p4.org/pna/v1/SecurityAssocIdInHeader_t", 64)      type SecurityAssocIdInHeaderUint_t SecurityAssocIdInHeader_t;

// pna_X_header_to_int and pna_X_int_to_header: between the two forms of a number.
#define PNA_CONVERSIONS(X)                                                                      \
    X##_t pna_##X##_header_to_int(in X##InHeader_t x) {                                         \
        return (X##_t) (X##Uint_t) (X##InHeaderUint_t) x;                                       \
    }                                                                                           \
    X##InHeader_t pna_##X##_int_to_header(in X##_t x) {                                         \
        return (X##InHeader_t) (X##InHeaderUint_t) (X##Uint_t) x;                               \
    }

PNA_CONVERSIONS(PortId)
PNA_CONVERSIONS(InterfaceId)
PNA_CONVERSIONS(MulticastGroup)
PNA_CONVERSIONS(MirrorSessionId)
PNA_CONVERSIONS(ClassOfService)
PNA_CONVERSIONS(PacketLength)
PNA_CONVERSIONS(MulticastInstance)
PNA_CONVERSIONS(Timestamp)
PNA_CONVERSIONS(FlowId)
PNA_CONVERSIONS(ExpireTimeProfileId)
PNA_CONVERSIONS(PassNumber)

typedef error ParserError_t;

const InterfaceId_t PNA_PORT_CPU = (InterfaceId_t) 0xfffffffd;
const MirrorSessionId_t PNA_MIRROR_SESSION_TO_CPU = (MirrorSessionId_t) 0;

match_kind {
    range,      // from low to high, both included
    selector,   // input of an ActionSelector
    optional    // one value or any
}

// Value of the table property `pna_idle_timeout`.
enum PNA_IdleTimeout_t {
    NO_TIMEOUT,
    NOTIFY_CONTROL
}

// -- what goes with each packet ------------------------------------------------------------------------------------------

enum PNA_Direction_t {
    NET_TO_HOST,
    HOST_TO_NET
}

enum PNA_PacketPath_t {
    FROM_NET_PORT,
    FROM_NET_LOOPEDBACK,
    FROM_NET_RECIRCULATED,
    FROM_HOST,
    FROM_HOST_LOOPEDBACK,
    FROM_HOST_RECIRCULATED
}

struct pna_pre_input_metadata_t {
    PortId_t        input_port;
    ParserError_t   parser_error;
    PNA_Direction_t direction;
    PassNumber_t    pass;
    bool            loopedback;
}

struct pna_pre_output_metadata_t {
    bool              decrypt;              // whether the inline engine decrypts before the main parser
    SecurityAssocId_t said;                 // if so, with what
    bit<16>           decrypt_start_offset; // and from which byte on
}

struct pna_main_parser_input_metadata_t {
    PNA_Direction_t direction;
    PassNumber_t    pass;
    bool            loopedback;
    PortId_t        input_port;
}

struct pna_main_input_metadata_t {
    PNA_Direction_t  direction;
    PassNumber_t     pass;
    bool             loopedback;
    Timestamp_t      timestamp;
    ParserError_t    parser_error;
    ClassOfService_t class_of_service;
    PortId_t         input_port;
}

struct pna_main_output_metadata_t {
    ClassOfService_t class_of_service;
}

// -- extern functions of the main control ----------------------------------------------------------------------------------

extern void drop_packet();
extern void send_to_port(PortId_t dest_port);
extern void mirror_packet(MirrorSlotId_t mirror_slot_id, MirrorSessionId_t mirror_session_id);
extern void recirculate();

// In the miss action of a table with `add_on_miss`: adds an entry with the key just missed. True if it was added.
extern bool add_entry<T>(string action_name, in T action_params, in ExpireTimeProfileId_t expire_time_profile_id);
extern FlowId_t allocate_flow_id();

// In an action of a table whose entries age: for the entry just hit.
extern void set_entry_expire_time(in ExpireTimeProfileId_t expire_time_profile_id);
extern void restart_expire_timer();

// n2h_value on the way to the host, else h2n_value: for keys that are one for both directions.
@pure extern T SelectByDirection<T>(in PNA_Direction_t direction, in T n2h_value, in T h2n_value);

// -- externs -----------------------------------------------------------------------------------------------------------------

enum PNA_HashAlgorithm_t {
#ifdef PNA_DPDK_EXTRAS
    IDENTITY,
    CRC32,
    CRC32_CUSTOM,
    CRC16,
    CRC16_CUSTOM,
    ONES_COMPLEMENT16,
    TOEPLITZ,
#endif
    TARGET_DEFAULT
}

extern Hash<O> {
    Hash(PNA_HashAlgorithm_t algo);
    O get_hash<D>(in D data);
    O get_hash<T, D>(in T base, in D data, in T max);
}

extern Checksum<W> {
    Checksum(PNA_HashAlgorithm_t hash);
    void clear();
    void update<T>(in T data);
    W get();
}

extern InternetChecksum {
    InternetChecksum();
    void clear();
    void add<T>(in T data);
    void subtract<T>(in T data);
    bit<16> get();
    bit<16> get_state();
    void set_state(in bit<16> checksum_state);
}

enum PNA_CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

extern Counter<W, S> {
    Counter(bit<32> n_counters, PNA_CounterType_t type);
#ifdef PNA_DPDK_EXTRAS
    void count(in S index);
    void count(in S index, in bit<32> pkt_len);
#else
    void count(in S index, @optional in bit<32> increment);
#endif
}

extern DirectCounter<W> {
    DirectCounter(PNA_CounterType_t type);
#ifdef PNA_DPDK_EXTRAS
    void count();
    void count(in bit<32> pkt_len);
#else
    void count(@optional in bit<32> increment);
#endif
}

enum PNA_MeterType_t {
    PACKETS,
    BYTES
}

enum PNA_MeterColor_t { RED, GREEN, YELLOW }

extern Meter<S> {
    Meter(bit<32> n_meters, PNA_MeterType_t type);
    PNA_MeterColor_t execute(in S index, in PNA_MeterColor_t color);
    PNA_MeterColor_t execute(in S index);
#ifdef PNA_DPDK_EXTRAS
    PNA_MeterColor_t dpdk_execute(in S index, in PNA_MeterColor_t color, in bit<32> pkt_len);
    PNA_MeterColor_t dpdk_execute(in S index, in bit<32> pkt_len);
#endif
}

extern DirectMeter {
    DirectMeter(PNA_MeterType_t type);
#ifdef PNA_DPDK_EXTRAS
    PNA_MeterColor_t execute(in PNA_MeterColor_t color);
    PNA_MeterColor_t execute();
    PNA_MeterColor_t dpdk_execute(in PNA_MeterColor_t color, in bit<32> pkt_len);
    PNA_MeterColor_t dpdk_execute(in bit<32> pkt_len);
#else
    PNA_MeterColor_t execute(in PNA_MeterColor_t color, @optional in bit<32> pkt_len);
    PNA_MeterColor_t execute(@optional in bit<32> pkt_len);
#endif
}

extern Register<T, S> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in S index);
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
    ActionSelector(PNA_HashAlgorithm_t algo, bit<32> size, bit<32> outputWidth);
}

extern Digest<T> {
    Digest();
    void pack(in T data);
}

#ifdef PNA_DPDK_EXTRAS
enum ipsec_status {
    IPSEC_SUCCESS,
    IPSEC_ERROR
}

extern ipsec_accelerator {
    ipsec_accelerator();
    void set_sa_index<T>(in T sa_index);
    void set_ip_header_offset<T>(in T offset);
    void enable();
    void disable();
    // Whether the packet comes from the engine, and with what result.
    bool from_ipsec(out ipsec_status status);
}
#endif

// -- programmable blocks and the package -------------------------------------------------------------------------------------

control PreControlT<PH, PM>(
    in PH pre_hdr,
    inout PM pre_user_meta,
    in pna_pre_input_metadata_t istd,
    inout pna_pre_output_metadata_t ostd);

parser MainParserT<MH, MM>(
    packet_in pkt,
    out MH main_hdr,
    inout MM main_user_meta,
    in pna_main_parser_input_metadata_t istd);

control MainControlT<MH, MM>(
    inout MH main_hdr,
    inout MM main_user_meta,
    in pna_main_input_metadata_t istd,
    inout pna_main_output_metadata_t ostd);

control MainDeparserT<MH, MM>(
    packet_out pkt,
    in MH main_hdr,
    in MM main_user_meta,
    in pna_main_output_metadata_t ostd);

package PNA_NIC<PH, PM, MH, MM>(
    MainParserT<MH, MM> main_parser,
    PreControlT<PH, PM> pre_control,
    MainControlT<MH, MM> main_control,
    MainDeparserT<MH, MM> main_deparser);

#endif
