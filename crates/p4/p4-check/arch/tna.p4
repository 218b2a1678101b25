// tna.p4: the Tofino Native Architecture, as its public documentation has it; of the second generation where __TARGET_TOFINO__ is 2.
// Part of Splitplane; served for #include <tna.p4>, and for <t2na.p4>, which sets that. Programs for it are parsed and checked; nothing here
// runs them. Of the second generation's externs those that learn or look for extremes with several results are not declared.

#ifndef _TNA_P4_
#define _TNA_P4_

#include <core.p4>

// Which generation a program is compiled for, as the vendor's compiler says it: headers that several share ask for it.
#ifndef __TARGET_TOFINO__
#define __TARGET_TOFINO__ 1
#endif

// -- sizes --------------------------------------------------------------------------------------------------------------------

#define PORT_ID_WIDTH 9
#if __TARGET_TOFINO__ == 2
#define QUEUE_ID_WIDTH 7
#define MIRROR_ID_WIDTH 8
#define MIRROR_TYPE_WIDTH 4
#else
#define QUEUE_ID_WIDTH 5
#define MIRROR_ID_WIDTH 10
#define MIRROR_TYPE_WIDTH 3
#endif
#define RESUBMIT_TYPE_WIDTH 3
#define DIGEST_TYPE_WIDTH 3
#define MULTICAST_GROUP_ID_WIDTH 16
#define REPLICATION_ID_WIDTH 16
#define L1_EXCLUSION_ID_WIDTH 16
#define L2_EXCLUSION_ID_WIDTH 9

typedef bit<PORT_ID_WIDTH>            PortId_t;
typedef bit<QUEUE_ID_WIDTH>           QueueId_t;
typedef bit<MIRROR_ID_WIDTH>          MirrorId_t;
typedef bit<MIRROR_TYPE_WIDTH>        MirrorType_t;
typedef bit<RESUBMIT_TYPE_WIDTH>      ResubmitType_t;
typedef bit<DIGEST_TYPE_WIDTH>        DigestType_t;
typedef bit<MULTICAST_GROUP_ID_WIDTH> MulticastGroupId_t;
typedef bit<REPLICATION_ID_WIDTH>     ReplicationId_t;
typedef bit<L1_EXCLUSION_ID_WIDTH>    L1ExclusionId_t;
typedef bit<L2_EXCLUSION_ID_WIDTH>    L2ExclusionId_t;
typedef error                         ParserError_t;

// Bits that a port's own metadata takes in front of each packet from it.
#if __TARGET_TOFINO__ == 2
typedef MirrorType_t CloneId_t;
const bit<32> PORT_METADATA_SIZE = 32w192;
#else
const bit<32> PORT_METADATA_SIZE = 32w64;
#endif

// A port number is a pipe (two bits) and a port of that pipe (seven).
#define DEVPORT_PIPE_MASK 0x180
#define DEVPORT_PIPE(port) (port)[8:7]
#define DEVPORT_PORT_MASK 0x7f
#define DEVPORT_PORT(port) (port)[6:0]

match_kind {
    range,                  // from low to high, both included
    selector,               // input of an ActionSelector
#if __TARGET_TOFINO__ == 2
    dleft_hash,             // key of a table that learns
#endif
    atcam_partition_index   // which partition of an algorithmic TCAM
}

error {
    CounterRange,
    Timeout,
    PhvOwner,
    MultiWrite,
    IbufOverflow,
    IbufUnderflow
}

// Bits of `parser_err`.
const bit<16> PARSER_ERROR_OK           = 16w0x0000;
const bit<16> PARSER_ERROR_NO_MATCH     = 16w0x0001;
const bit<16> PARSER_ERROR_PARTIAL_HDR  = 16w0x0002;
const bit<16> PARSER_ERROR_CTR_RANGE    = 16w0x0004;
const bit<16> PARSER_ERROR_TIMEOUT_USER = 16w0x0008;
const bit<16> PARSER_ERROR_TIMEOUT_HW   = 16w0x0010;
const bit<16> PARSER_ERROR_SRC_EXT      = 16w0x0020;
const bit<16> PARSER_ERROR_DST_CONT     = 16w0x0040;
const bit<16> PARSER_ERROR_PHV_OWNER    = 16w0x0080;
const bit<16> PARSER_ERROR_MULTIWRITE   = 16w0x0100;
const bit<16> PARSER_ERROR_ARAM_MBE     = 16w0x0400;
const bit<16> PARSER_ERROR_FCS          = 16w0x0800;
#if __TARGET_TOFINO__ == 2
const bit<16> PARSER_ERROR_CSUM_MBE     = 16w0x1000;
#endif

// -- what goes with each packet ------------------------------------------------------------------------------------------------

// In front of a packet when the ingress parser sees it.
@__intrinsic_metadata
header ingress_intrinsic_metadata_t {
    bit<1>   resubmit_flag;
    @padding bit<1> _pad1;
    bit<2>   packet_version;
    @padding bit<(4 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t ingress_port;
    bit<48>  ingress_mac_tstamp;
}

@__intrinsic_metadata
struct ingress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;
    bit<32> global_ver;
    bit<16> parser_err;
}

// What ingress tells the traffic manager.
@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_tm_t {
    PortId_t           ucast_egress_port;
    bit<1>             bypass_egress;
    bit<1>             deflect_on_drop;
    bit<3>             ingress_cos;
    QueueId_t          qid;
    bit<3>             icos_for_copy_to_cpu;
    bit<1>             copy_to_cpu;
    bit<2>             packet_color;
    bit<1>             disable_ucast_cutthru;
    bit<1>             enable_mcast_cutthru;
    MulticastGroupId_t mcast_grp_a;
    MulticastGroupId_t mcast_grp_b;
    bit<13>            level1_mcast_hash;
    bit<13>            level2_mcast_hash;
    L1ExclusionId_t    level1_exclusion_id;
    L2ExclusionId_t    level2_exclusion_id;
    bit<16>            rid;
}

#if __TARGET_TOFINO__ == 2
// What a mirrored packet is sent with, and where packets are cut.
#define TNA_MIRRORED                                        \
    bit<1>    mirror_io_select;     /* as it came, or as it left */  \
    bit<13>   mirror_hash;                                  \
    bit<3>    mirror_ingress_cos;                           \
    bit<1>    mirror_deflect_on_drop;                       \
    bit<1>    mirror_multicast_ctrl;                        \
    PortId_t  mirror_egress_port;                           \
    QueueId_t mirror_qid;                                   \
    bit<8>    mirror_coalesce_length;                       \
    bit<32>   adv_flow_ctl;                                 \
    bit<14>   mtu_trunc_len;                                \
    bit<1>    mtu_trunc_err_f;
#else
#define TNA_MIRRORED
#endif

@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_deparser_t {
    bit<3>         drop_ctl;        // bit 0: this packet, bit 1: its copy to the CPU, bit 2: its mirror
    DigestType_t   digest_type;
    ResubmitType_t resubmit_type;
    MirrorType_t   mirror_type;
    TNA_MIRRORED
#if __TARGET_TOFINO__ == 2
    // A packet that the generator is to make.
    bit<1>         pktgen;
    bit<14>        pktgen_address;
    bit<10>        pktgen_length;
#endif
}

#if __TARGET_TOFINO__ == 2
// What the ghost thread learns of a queue.
@__intrinsic_metadata @__ghost_metadata
header ghost_intrinsic_metadata_t {
    bit<1>  ping_pong;
    bit<18> qlength;
    bit<11> qid;
    bit<2>  pipe_id;
}
#endif

// In front of a packet when the egress parser sees it.
@__intrinsic_metadata
header egress_intrinsic_metadata_t {
    @padding bit<(8 - PORT_ID_WIDTH % 8)> _pad0;
    PortId_t  egress_port;
    @padding bit<5> _pad1;
    bit<19>   enq_qdepth;
    @padding bit<6> _pad2;
    bit<2>    enq_congest_stat;
#if __TARGET_TOFINO__ == 2
    bit<32>   enq_tstamp;
#else
    @padding bit<14> _pad3;
    bit<18>   enq_tstamp;
#endif
    @padding bit<5> _pad4;
    bit<19>   deq_qdepth;
    @padding bit<6> _pad5;
    bit<2>    deq_congest_stat;
    bit<8>    app_pool_congest_stat;
#if __TARGET_TOFINO__ == 2
    bit<32>   deq_timedelta;
#else
    @padding bit<14> _pad6;
    bit<18>   deq_timedelta;
#endif
    bit<16>   egress_rid;
    @padding bit<7> _pad7;
    bit<1>    egress_rid_first;
    @padding bit<(8 - QUEUE_ID_WIDTH % 8)> _pad8;
    QueueId_t egress_qid;
    @padding bit<5> _pad9;
    bit<3>    egress_cos;
    @padding bit<7> _pad10;
    bit<1>    deflection_flag;
    bit<16>   pkt_length;
#if __TARGET_TOFINO__ == 2
    @padding bit<8> _pad11;
#endif
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;
    bit<32> global_ver;
    bit<16> parser_err;
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_deparser_t {
    bit<3>       drop_ctl;
    MirrorType_t mirror_type;
    bit<1>       coalesce_flush;
    bit<7>       coalesce_length;
    TNA_MIRRORED
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;
    bit<1> update_delay_on_tx;
}

// Headers that the packet generator puts in front of its packets.
#if __TARGET_TOFINO__ == 2
#define TNA_GENERATED @padding bit<2> _pad1; bit<2> pipe_id; bit<4> app_id;
#else
#define TNA_GENERATED @padding bit<3> _pad1; bit<2> pipe_id; bit<3> app_id;
#endif

header pktgen_timer_header_t {
    TNA_GENERATED
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    TNA_GENERATED
    @padding bit<(16 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t port_num;
    bit<16>  packet_id;
}

header pktgen_recirc_header_t {
    TNA_GENERATED
#if __TARGET_TOFINO__ == 2
    @padding bit<8> _pad2;
    bit<16> batch_id;
#else
    bit<24> key;
#endif
    bit<16> packet_id;
}

#if __TARGET_TOFINO__ == 2
header pktgen_deparser_header_t {
    TNA_GENERATED
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_pfc_header_t {
    TNA_GENERATED
    @padding bit<40> _pad2;
}
#endif

header ptp_metadata_t {
    bit<8>  udp_cksum_byte_offset;
    bit<8>  cf_byte_offset;
    bit<48> updated_cf;
}

// -- extern functions -----------------------------------------------------------------------------------------------------------

extern T max<T>(in T t1, in T t2);
extern T min<T>(in T t1, in T t2);
// The low bits of src1 ++ src2 shifted right.
#if __TARGET_TOFINO__ == 2
extern void funnel_shift_right<T>(out T dst, in T src1, in T src2, int shift_amount);
#else
extern void funnel_shift_right<T>(inout T dst, in T src1, in T src2, int shift_amount);
#endif
extern void invalidate<T>(in T field);
extern bool is_validated<T>(in T field);
// In the ingress parser: the port's metadata as a struct or header.
extern T port_metadata_unpack<T>(packet_in pkt);
extern bit<32> sizeInBits<H>(in H h);
extern bit<32> sizeInBytes<H>(in H h);

// -- parsers and deparsers -------------------------------------------------------------------------------------------------------

extern Checksum {
    Checksum();
    void add<T>(in T data);
    void subtract<T>(in T data);
    bool verify();
    bit<16> get();
    void subtract_all_and_deposit<T>(out T residual);
    bit<16> update<T>(in T data, @optional in bool zeros_as_ones);
}

extern ParserCounter {
    ParserCounter();
    void set<T>(in T value);
    // From a field: rotated right, masked to 2^(mask+1)-1, capped at max, then added to.
#if __TARGET_TOFINO__ == 2
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<8> mask, in bit<8> add);
    // The counter has a stack of its own.
    void push<T>(in T value, @optional bool update_with_top);
    void push<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<8> mask, in bit<8> add, @optional bool update_with_top);
    void pop();
#else
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<3> mask, in bit<8> add);
#endif
    bool is_zero();
    bool is_negative();
    void increment(in bit<8> value);
    void decrement(in bit<8> value);
}

extern ParserPriority {
    ParserPriority();
    void set(in bit<3> prio);
}

extern Mirror {
    @deprecated("give the mirror type: Mirror(type)")
    Mirror();
    Mirror(MirrorType_t mirror_type);
    void emit(in MirrorId_t session_id);
    void emit<T>(in MirrorId_t session_id, in T hdr);
}

extern Resubmit {
    @deprecated("give the resubmit type: Resubmit(type)")
    Resubmit();
    Resubmit(ResubmitType_t resubmit_type);
    void emit();
    void emit<T>(in T hdr);
}

#if __TARGET_TOFINO__ == 2
// In the ingress deparser: has the generator make a packet.
extern Pktgen {
    Pktgen();
    void emit<T>(in T hdr);
}
#endif

extern Digest<T> {
    @deprecated("give the digest type: Digest(type)")
    Digest();
    Digest(DigestType_t digest_type);
    void pack(in T data);
}

// -- hashes and random numbers -----------------------------------------------------------------------------------------------------

enum HashAlgorithm_t {
    IDENTITY,
    RANDOM,
    XOR8,
    XOR16,
    XOR32,
    CRC8,
    CRC16,
    CRC32,
    CRC64,
    CUSTOM
}

extern CRCPolynomial<T> {
    CRCPolynomial(T coeff, bool reversed, bool msb, bool extended, T init, T xor);
}

extern Hash<W> {
    Hash(HashAlgorithm_t algo);
    Hash(HashAlgorithm_t algo, CRCPolynomial<_> poly);
    W get<D>(in D data);
}

extern Random<W> {
    Random();
    W get();
}

// -- counters, meters, filters --------------------------------------------------------------------------------------------------------

enum CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

// Bytes and packets that left, not those that were to leave.
#if __TARGET_TOFINO__ == 2
#define TNA_TRUE_EGRESS , @optional bool true_egress_accounting
#else
#define TNA_TRUE_EGRESS
#endif

extern Counter<W, I> {
    Counter(bit<32> size, CounterType_t type TNA_TRUE_EGRESS);
    void count(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectCounter<W> {
    DirectCounter(CounterType_t type TNA_TRUE_EGRESS);
    void count(@optional in bit<32> adjust_byte_count);
}

enum MeterType_t { PACKETS, BYTES }

enum bit<8> MeterColor_t { GREEN = 8w0, YELLOW = 8w1, RED = 8w3 }

extern Meter<I> {
    Meter(bit<32> size, MeterType_t type TNA_TRUE_EGRESS);
    // With the values that `execute` gives for each colour.
    Meter(bit<32> size, MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green TNA_TRUE_EGRESS);
    bit<8> execute(in I index, in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectMeter {
    DirectMeter(MeterType_t type TNA_TRUE_EGRESS);
    DirectMeter(MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green TNA_TRUE_EGRESS);
    bit<8> execute(in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(@optional in bit<32> adjust_byte_count);
}

// Low-pass filters, and random early detection.
extern Lpf<T, I> {
    Lpf(bit<32> size);
    T execute(in T val, in I index);
}
extern DirectLpf<T> {
    DirectLpf();
    T execute(in T val);
}
extern Wred<T, I> {
    Wred(bit<32> size, bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val, in I index);
}
extern DirectWred<T> {
    DirectWred(bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val);
}

// -- registers --------------------------------------------------------------------------------------------------------------------------

extern Register<T, I> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in I index);
    T write(in I index, in T value);
}

extern DirectRegister<T> {
    DirectRegister();
    DirectRegister(T initial_value);
    T read();
    T write(in T value);
}

// A constant of a register action that the control plane may change.
extern RegisterParam<T> {
    RegisterParam(T initial_value);
    T read();
}

enum MathOp_t {
    MUL,
    SQR,
    SQRT,
    DIV,
    RSQR,
    RSQRT
}

// An approximate function by table.
extern MathUnit<T> {
    MathUnit(bool invert, int<2> shift, int<6> scale,
             tuple<bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>, bit<8>> data);
    MathUnit(MathOp_t op, int factor);
    MathUnit(MathOp_t op, int A, int B);
    T execute(in T x);
}

// What is done to a register's cell in one go: `apply`, which the program supplies.
#if __TARGET_TOFINO__ == 2
// Inside of `apply`: what a cell was found by, the conditions as bits, and the least and largest part of a cell.
#define TNA_INSIDE                                                                                                          \
    U address<U>(@optional bit<1> subword);                                                                                 \
    U predicate<U>(@optional in bool cmp0, @optional in bool cmp1, @optional in bool cmp2, @optional in bool cmp3);         \
    bit<8> min8<V>(in V val, in bit<16> mask, @optional out bit<4> index);                                                  \
    bit<8> max8<V>(in V val, in bit<16> mask, @optional out bit<4> index);                                                  \
    bit<16> min16<V>(in V val, in bit<8> mask, @optional out bit<3> index);                                                 \
    bit<16> max16<V>(in V val, in bit<8> mask, @optional out bit<3> index);

#define TNA_MORE @optional out U rv2, @optional out U rv3, @optional out U rv4

extern RegisterAction<T, I, U> {
    RegisterAction(Register<_, _> reg);
    U execute(@optional in I index, TNA_MORE);
    U execute_log(TNA_MORE);
    // The register as a queue, and as a stack.
    U enqueue(TNA_MORE);
    U dequeue(TNA_MORE);
    U push(TNA_MORE);
    U pop(TNA_MORE);
    void sweep(@optional in U busy);
    @synchronous(execute, execute_log, enqueue, dequeue, push, pop, sweep)
    abstract void apply(inout T value, @optional out U rv, TNA_MORE);
    @synchronous(enqueue, push)
    @optional abstract void overflow(@optional inout T value, @optional out U rv, TNA_MORE);
    @synchronous(dequeue, pop)
    @optional abstract void underflow(@optional inout T value, @optional out U rv, TNA_MORE);
    TNA_INSIDE
}

// Several results of types of their own.
#define TNA_REGISTER_ACTION(NAME, TYPES, MORE)                                              \
extern NAME<T, I, U1, TYPES> {                                                              \
    NAME(Register<_, _> reg);                                                               \
    U1 execute(in I index, MORE);                                                           \
    U1 execute_log(MORE);                                                                   \
    U1 enqueue(MORE);                                                                       \
    U1 dequeue(MORE);                                                                       \
    U1 push(MORE);                                                                          \
    U1 pop(MORE);                                                                           \
    @synchronous(execute, execute_log, enqueue, dequeue, push, pop)                         \
    abstract void apply(inout T value, out U1 rv1, MORE);                                   \
    @synchronous(enqueue, push)                                                             \
    @optional abstract void overflow(@optional inout T value, out U1 rv1, MORE);            \
    @synchronous(dequeue, pop)                                                              \
    @optional abstract void underflow(@optional inout T value, out U1 rv1, MORE);           \
    TNA_INSIDE                                                                              \
}
#define TNA_TWO U2, U3
#define TNA_THREE U2, U3, U4
#define TNA_OUT_TWO out U2 rv2, out U3 rv3
#define TNA_OUT_THREE out U2 rv2, out U3 rv3, out U4 rv4
TNA_REGISTER_ACTION(RegisterAction2, U2, out U2 rv2)
TNA_REGISTER_ACTION(RegisterAction3, TNA_TWO, TNA_OUT_TWO)
TNA_REGISTER_ACTION(RegisterAction4, TNA_THREE, TNA_OUT_THREE)

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute(TNA_MORE);
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U rv, TNA_MORE);
    TNA_INSIDE
}

// A cell that is found by its digest, or else learns it.
extern LearnAction<T, I, D, U> {
    LearnAction(Register<T, I> reg);
    U execute(in I index, TNA_MORE);
    @synchronous(execute)
    abstract void apply(inout T value, in D digest, in bool learn, @optional out U rv, TNA_MORE);
    TNA_INSIDE
}

// The least or largest part of a cell of 128 bits.
extern MinMaxAction<T, I, U> {
    MinMaxAction(Register<T, _> reg);
    U execute(@optional in I index, TNA_MORE);
    @synchronous(execute)
    abstract void apply(inout bit<128> value, @optional out U rv, TNA_MORE);
    U address(@optional bit<1> subword);
    U predicate(@optional in bool cmp0, @optional in bool cmp1, @optional in bool cmp2, @optional in bool cmp3);
    bit<8> min8(in bit<128> val, in bit<16> mask, @optional out bit<4> index, @optional in int<8> postmod);
    bit<8> max8(in bit<128> val, in bit<16> mask, @optional out bit<4> index, @optional in int<8> postmod);
    bit<16> min16(in bit<128> val, in bit<8> mask, @optional out bit<3> index, @optional in int<8> postmod);
    bit<16> max16(in bit<128> val, in bit<8> mask, @optional out bit<3> index, @optional in int<8> postmod);
}
#else
extern RegisterAction<T, I, U> {
    RegisterAction(Register<_, _> reg);
    U execute(in I index);
    U execute_log();
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute();
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}
#endif

// -- action profiles and selectors --------------------------------------------------------------------------------------------------------

enum SelectorMode_t { FAIR, RESILIENT }

extern ActionProfile {
    ActionProfile(bit<32> size);
}

extern ActionSelector {
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode,
                   bit<32> max_group_size, bit<32> num_groups);
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode, Register<bit<1>, _> reg,
                   bit<32> max_group_size, bit<32> num_groups);
    @deprecated("give the action profile")
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode);
    @deprecated("give the action profile")
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode, Register<bit<1>, _> reg);
}

extern SelectorAction {
    SelectorAction(ActionSelector sel);
    bit<1> execute(@optional in bit<32> index);
    @synchronous(execute)
    abstract void apply(inout bit<1> value, @optional out bit<1> rv);
}

// Values of the table properties `atcam` and `alpm`.
extern Atcam {
    Atcam(@optional bit<32> number_partitions);
}
extern Alpm {
    Alpm(@optional bit<32> number_partitions, @optional bit<32> subtrees_per_partition,
         @optional bit<32> atcam_subset_width, @optional bit<32> shift_granularity);
}

// -- programmable blocks and packages ---------------------------------------------------------------------------------------------------------
// H: headers, M: the user's metadata. What is `@optional` may be left out at the end of a parameter list.

parser IngressParserT<H, M>(
    packet_in pkt,
    out H hdr,
    out M ig_md,
    @optional out ingress_intrinsic_metadata_t ig_intr_md,
    @optional out ingress_intrinsic_metadata_for_tm_t ig_intr_md_for_tm,
    @optional out ingress_intrinsic_metadata_from_parser_t ig_intr_md_from_prsr);

control IngressT<H, M>(
    inout H hdr,
    inout M ig_md,
    @optional in ingress_intrinsic_metadata_t ig_intr_md,
    @optional in ingress_intrinsic_metadata_from_parser_t ig_intr_md_from_prsr,
    @optional inout ingress_intrinsic_metadata_for_deparser_t ig_intr_md_for_dprsr,
    @optional inout ingress_intrinsic_metadata_for_tm_t ig_intr_md_for_tm
#if __TARGET_TOFINO__ == 2
    , @optional in ghost_intrinsic_metadata_t gh_intr_md
#endif
    );

#if __TARGET_TOFINO__ == 2
control GhostT(in ghost_intrinsic_metadata_t gh_intr_md);
#define TNA_GHOST , @optional GhostT ghost
#define TNA_ARCHITECTURE @pkginfo(arch="T2NA", version="1.0.1")
#else
#define TNA_GHOST
#define TNA_ARCHITECTURE @pkginfo(arch="TNA", version="2.0.1")
#endif

control IngressDeparserT<H, M>(
    packet_out pkt,
    inout H hdr,
    in M metadata,
    @optional in ingress_intrinsic_metadata_for_deparser_t ig_intr_md_for_dprsr,
    @optional in ingress_intrinsic_metadata_t ig_intr_md);

parser EgressParserT<H, M>(
    packet_in pkt,
    out H hdr,
    out M eg_md,
    @optional out egress_intrinsic_metadata_t eg_intr_md,
    @optional out egress_intrinsic_metadata_from_parser_t eg_intr_md_from_prsr,
    @optional out egress_intrinsic_metadata_for_deparser_t eg_intr_md_for_dprsr);

control EgressT<H, M>(
    inout H hdr,
    inout M eg_md,
    @optional in egress_intrinsic_metadata_t eg_intr_md,
    @optional in egress_intrinsic_metadata_from_parser_t eg_intr_md_from_prsr,
    @optional inout egress_intrinsic_metadata_for_deparser_t eg_intr_md_for_dprsr,
    @optional inout egress_intrinsic_metadata_for_output_port_t eg_intr_md_for_oport);

control EgressDeparserT<H, M>(
    packet_out pkt,
    inout H hdr,
    in M metadata,
    @optional in egress_intrinsic_metadata_for_deparser_t eg_intr_md_for_dprsr,
    @optional in egress_intrinsic_metadata_t eg_intr_md,
    @optional in egress_intrinsic_metadata_from_parser_t eg_intr_md_from_prsr);

package Pipeline<IH, IM, EH, EM>(
    IngressParserT<IH, IM> ingress_parser,
    IngressT<IH, IM> ingress,
    IngressDeparserT<IH, IM> ingress_deparser,
    EgressParserT<EH, EM> egress_parser,
    EgressT<EH, EM> egress,
    EgressDeparserT<EH, EM> egress_deparser TNA_GHOST);

TNA_ARCHITECTURE
package Switch<IH0, IM0, EH0, EM0, IH1, IM1, EH1, EM1, IH2, IM2, EH2, EM2, IH3, IM3, EH3, EM3>(
    Pipeline<IH0, IM0, EH0, EM0> pipe0,
    @optional Pipeline<IH1, IM1, EH1, EM1> pipe1,
    @optional Pipeline<IH2, IM2, EH2, EM2> pipe2,
    @optional Pipeline<IH3, IM3, EH3, EM3> pipe3);

// The same with a parser for each of a pipe's 18 port groups; those left out are as the first.
#define TNA_PARSERS(T)                                                                          \
    T<H, M> prsr0,                                                                              \
    @optional T<H, M> prsr1, @optional T<H, M> prsr2, @optional T<H, M> prsr3,                  \
    @optional T<H, M> prsr4, @optional T<H, M> prsr5, @optional T<H, M> prsr6,                  \
    @optional T<H, M> prsr7, @optional T<H, M> prsr8, @optional T<H, M> prsr9,                  \
    @optional T<H, M> prsr10, @optional T<H, M> prsr11, @optional T<H, M> prsr12,               \
    @optional T<H, M> prsr13, @optional T<H, M> prsr14, @optional T<H, M> prsr15,               \
    @optional T<H, M> prsr16, @optional T<H, M> prsr17

package IngressParsers<H, M>(TNA_PARSERS(IngressParserT));
package EgressParsers<H, M>(TNA_PARSERS(EgressParserT));

package MultiParserPipeline<IH, IM, EH, EM>(
    IngressParsers<IH, IM> ig_prsr,
    IngressT<IH, IM> ingress,
    IngressDeparserT<IH, IM> ingress_deparser,
    EgressParsers<EH, EM> eg_prsr,
    EgressT<EH, EM> egress,
    EgressDeparserT<EH, EM> egress_deparser TNA_GHOST);

TNA_ARCHITECTURE
package MultiParserSwitch<IH0, IM0, EH0, EM0, IH1, IM1, EH1, EM1, IH2, IM2, EH2, EM2, IH3, IM3, EH3, EM3>(
    MultiParserPipeline<IH0, IM0, EH0, EM0> pipe0,
    @optional MultiParserPipeline<IH1, IM1, EH1, EM1> pipe1,
    @optional MultiParserPipeline<IH2, IM2, EH2, EM2> pipe2,
    @optional MultiParserPipeline<IH3, IM3, EH3, EM3> pipe3);

#endif
