// core.p4: what every P4_16 architecture shares (P4_16 language specification, appendix D).
// Part of Splitplane; served by the compiler for #include <core.p4>.

#ifndef _CORE_P4_
#define _CORE_P4_

// What can go wrong while parsing. The order fixes the codes: NoError is 0.
error {
    NoError,                // all is well
    PacketTooShort,         // fewer bits left than `extract` or `advance` wants
    NoMatch,                // no case of a `select` fits
    StackOutOfBounds,       // `next` or `last` beyond the ends of a header stack
    HeaderTooShort,         // a varbit field longer than its maximum
    ParserTimeout,          // the parser ran for too long
    ParserInvalidArgument   // an argument that the target cannot take, such as a varbit length that is no whole byte
}

// The packet while it is parsed.
extern packet_in {
    // Fills a header from the packet, makes it valid and moves on behind it.
    void extract<T>(out T hdr);
    // As above for a header with one varbit field, which gets that many bits.
    void extract<T>(out T variableSizeHeader, in bit<32> variableFieldSizeInBits);
    // Reads without moving on.
    T lookahead<T>();
    // Skips bits.
    void advance(in bit<32> sizeInBits);
    // Length of the whole packet in bytes.
    bit<32> length();
}

// The packet while it is put together.
extern packet_out {
    // Appends a header if it is valid; of a stack, union or struct, each header in turn.
    void emit<T>(in T hdr);
}

// In a parser: rejects the packet with this error unless the condition holds.
extern void verify(in bool check, in error toSignal);

// The action that does nothing.
action NoAction() { }

// How a table's key field can be compared.
match_kind {
    exact,      // all bits
    ternary,    // the bits of a mask
    lpm         // a prefix; the longest wins
}

// Compile-time checks; the text is shown when one fails. The result is true, so that a constant can hold it.
extern bool static_assert(bool check, string message);
extern bool static_assert(bool check);

#endif
