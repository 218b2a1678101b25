// ubpf_model.p4: a packet program in a user-space BPF machine: parser, pipeline, deparser.
// Part of Splitplane; served for #include <ubpf_model.p4>. Programs for it are parsed and checked; nothing here runs them.

#ifndef _UBPF_MODEL_P4_
#define _UBPF_MODEL_P4_

#include <core.p4>

// Versions before 20200515 have no standard metadata.
#ifndef UBPF_MODEL_VERSION
#define UBPF_MODEL_VERSION 20200515
#endif

const bit<32> __ubpf_model_version = UBPF_MODEL_VERSION;

#if UBPF_MODEL_VERSION >= 20200515
#define UBPF_STANDARD_METADATA , inout standard_metadata std

enum ubpf_action {
    ABORT,
    DROP,
    PASS,
    REDIRECT
}

struct standard_metadata {
    bit<32>     input_port;
    bit<32>     packet_length;
    ubpf_action output_action;
    bit<32>     output_port;        // for REDIRECT
    bool        clone;
    bit<32>     clone_port;         // if clone
}
#else
#define UBPF_STANDARD_METADATA
#endif

extern void mark_to_drop();
extern void mark_to_pass();

extern Register<T, S> {
    Register(bit<32> size);
    T read(in S index);
    void write(in S index, in T value);
}

extern bit<48> ubpf_time_get_ns();
extern void truncate(in bit<32> len);

enum HashAlgorithm {
    lookup3
}
extern void hash<D>(out bit<32> result, in HashAlgorithm algo, in D data);

// A checksum after a field of 2 or 4 bytes changed from `old` to `new` (RFC 1624).
extern bit<16> csum_replace2(in bit<16> csum, in bit<16> old, in bit<16> new);
extern bit<16> csum_replace4(in bit<16> csum, in bit<32> old, in bit<32> new);

parser parse<H, M>(packet_in packet, out H headers, inout M meta UBPF_STANDARD_METADATA);
control pipeline<H, M>(inout H headers, inout M meta UBPF_STANDARD_METADATA);
@deparser control deparser<H>(packet_out b, in H headers);

package ubpf<H, M>(parse<H, M> prs, pipeline<H, M> p, deparser<H> dprs);

#endif
