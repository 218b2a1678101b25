// v1model.p4: the v1model architecture, as the simple_switch target runs it.
// Part of Splitplane; served by the compiler for #include <v1model.p4>. Declares what the public v1model declares, so that
// programs written for other compilers fit; what this system does with each is said beside it.

#ifndef _V1_MODEL_P4_
#define _V1_MODEL_P4_

#include <core.p4>

// Programs that want the newer interface (index types as parameters, PortId_t) define this as 20200408.
#ifndef V1MODEL_VERSION
#define V1MODEL_VERSION 20180101
#endif
#if V1MODEL_VERSION < 20180101 || V1MODEL_VERSION > 20200408
#error "V1MODEL_VERSION is no version of v1model: the first is 20180101, the latest 20200408"
#endif

match_kind {
    range,      // from low to high, both included
    optional,   // one value or any
    selector    // input of an action selector: no part of the key
}

const bit<32> __v1model_version = V1MODEL_VERSION;

#if V1MODEL_VERSION >= 20200408
typedef bit<9> PortId_t;
#endif

// What goes with each packet. Ports 511, 510 and 509 of egress_spec mean drop, punt to the control plane, and buffer.
@metadata @name("standard_metadata")
struct standard_metadata_t {
#if V1MODEL_VERSION >= 20200408
    PortId_t ingress_port;
    PortId_t egress_spec;
    PortId_t egress_port;
#else
    bit<9>  ingress_port;               // where it came in
    bit<9>  egress_spec;                // where it is to go; written by ingress
    bit<9>  egress_port;                // where it goes; to be read in egress
#endif
    bit<32> instance_type;              // 0: an ordinary packet; others are clones and the like
    bit<32> packet_length;              // bytes received
    bit<32> enq_timestamp;              // microseconds; queueing is outside of this program
    bit<19> enq_qdepth;
    bit<32> deq_timedelta;
    bit<19> deq_qdepth;
    bit<48> ingress_global_timestamp;   // microseconds at arrival
    bit<48> egress_global_timestamp;    // microseconds at the start of egress
    bit<16> mcast_grp;                  // multicast group, 0 for none
    bit<16> egress_rid;                 // which copy of a multicast packet this is
    bit<1>  checksum_error;             // 1 if a checksum was found wrong
    error   parser_error;               // why the parser stopped
    bit<3>  priority;                   // queue, larger first
}

// Counters --------------------------------------------------------------------------------------------------------------

enum CounterType {
    packets,
    bytes,
    packets_and_bytes
}

// An array of counters. An index beyond its end counts nothing.
extern counter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    counter(bit<32> size, CounterType type);
#if V1MODEL_VERSION >= 20200408
    void count(in I index);
#else
    void count(in bit<32> index);
#endif
}

// A counter for each entry of the table that names it in `counters`. Each hit counts; `count` says so explicitly.
extern direct_counter {
    direct_counter(CounterType type);
    void count();
}

// Meters (RFC 2698, colour-blind) -----------------------------------------------------------------------------------------

#define V1MODEL_METER_COLOR_GREEN  0
#define V1MODEL_METER_COLOR_YELLOW 1
#define V1MODEL_METER_COLOR_RED    2

enum MeterType {
    packets,
    bytes
}

// An array of meters. A cell that is not configured, or beyond the end, is green.
extern meter
#if V1MODEL_VERSION >= 20200408
<I>
#endif
{
    meter(bit<32> size, MeterType type);
#if V1MODEL_VERSION >= 20200408
    void execute_meter<T>(in I index, out T result);
#else
    void execute_meter<T>(in bit<32> index, out T result);
#endif
}

// A meter for each entry of the table that names it in `meters`.
extern direct_meter<T> {
    direct_meter(MeterType type);
    void read(out T result);
}

// Registers ---------------------------------------------------------------------------------------------------------------

// An array of cells that the program reads and writes. Beyond its end a read gives 0 and a write does nothing.
extern register
#if V1MODEL_VERSION >= 20200408
<T, I>
#else
<T>
#endif
{
    register(bit<32> size);
#if V1MODEL_VERSION >= 20200408
    @noSideEffects
    void read(out T result, in I index);
    void write(in I index, in T value);
#else
    @noSideEffects
    void read(out T result, in bit<32> index);
    void write(in bit<32> index, in T value);
#endif
}

// Action profiles and selectors: tables behind the table that names them as its `implementation` -----------------------------

extern action_profile {
    action_profile(bit<32> size);
}

// Random numbers, messages to the control plane, hashes ---------------------------------------------------------------------

// A number from lo to hi, both included.
extern void random<T>(out T result, in T lo, in T hi);

// Sends the values to the control plane.
extern void digest<T>(in bit<32> receiver, in T data);

enum HashAlgorithm {
    crc32,
    crc32_custom,
    crc16,
    crc16_custom,
    random,
    identity,
    csum16,
    xor16
}

extern action_selector {
    action_selector(HashAlgorithm algorithm, bit<32> size, bit<32> outputWidth);
}

// Drops the packet at the end of the stage: egress_spec becomes 511 and mcast_grp 0.
@deprecated("Please use mark_to_drop(standard_metadata) instead.")
extern void mark_to_drop();
@pure
extern void mark_to_drop(inout standard_metadata_t standard_metadata);

// base + hash(data) mod max; base where max is 0.
@pure
extern void hash<O, T, D, M>(out O result, in HashAlgorithm algo, in T base, in D data, in M max);

// Checksums ---------------------------------------------------------------------------------------------------------------

enum CloneType {
    I2E,
    E2E
}

// In the VerifyChecksum control: sets checksum_error where the sum is not that of the data. The forms with payload add
// what the parser has not read.
extern void verify_checksum<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);
extern void verify_checksum_with_payload<T, O>(in bool condition, in T data, in O checksum, HashAlgorithm algo);

// In the ComputeChecksum control: writes the sum.
@pure
extern void update_checksum<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);
@noSideEffects
extern void update_checksum_with_payload<T, O>(in bool condition, in T data, inout O checksum, HashAlgorithm algo);

// The form before verify_checksum and update_checksum (declared; calls are refused).
@deprecated("Please use verify_checksum and update_checksum instead.")
extern Checksum16 {
    Checksum16();
    bit<16> get<D>(in D data);
}

// Copies of packets -------------------------------------------------------------------------------------------------------

extern void clone(in CloneType type, in bit<32> session);
extern void clone_preserving_field_list(in CloneType type, in bit<32> session, bit<8> index);
@deprecated("Please use 'clone_preserving_field_list' instead")
extern void clone3<T>(in CloneType type, in bit<32> session, in T data);

@deprecated("Please use 'resubmit_preserving_field_list' instead")
extern void resubmit<T>(in T data);
extern void resubmit_preserving_field_list(bit<8> index);

@deprecated("Please use 'recirculate_preserving_field_list' instead")
extern void recirculate<T>(in T data);
extern void recirculate_preserving_field_list(bit<8> index);

// Cuts the packet to so many bytes.
extern void truncate(in bit<32> length);

// For tests and formal tools ------------------------------------------------------------------------------------------------

extern void assert(in bool check);
extern void assume(in bool check);

// `{}` in the text stands for the next of the values.
extern void log_msg(string msg);
extern void log_msg<T>(string msg, in T data);

// The pipeline, in the order in which it runs -------------------------------------------------------------------------------

parser Parser<H, M>(
    packet_in b,
    out H parsedHdr,
    inout M meta,
    inout standard_metadata_t standard_metadata);

control VerifyChecksum<H, M>(
    inout H hdr,
    inout M meta);

@pipeline
control Ingress<H, M>(
    inout H hdr,
    inout M meta,
    inout standard_metadata_t standard_metadata);

@pipeline
control Egress<H, M>(
    inout H hdr,
    inout M meta,
    inout standard_metadata_t standard_metadata);

control ComputeChecksum<H, M>(
    inout H hdr,
    inout M meta);

@deparser
control Deparser<H>(
    packet_out b,
    in H hdr);

package V1Switch<H, M>(
    Parser<H, M> p,
    VerifyChecksum<H, M> vr,
    Ingress<H, M> ig,
    Egress<H, M> eg,
    ComputeChecksum<H, M> ck,
    Deparser<H> dep);

#endif
