/* Downlink: headers of SDAP and PDCP, and the ciphers (TS 37.324 §5.2.1, TS 38.323 §5.2.1, §5.8, §5.9). */
#ifndef GNB_PDCP_P4
#define GNB_PDCP_P4

struct cipher_request_t {
    bit<16> key_index;
    bit<32> count;
    bit<8>  bearer;
    bit<8>  direction;
    bit<8>  step;          // 0 protects, 1 recovers
    bit<16> clear_bytes;
    bit<32> prefix;
    bit<8>  prefix_bytes;
}

struct cipher_answer_t {
    bit<16> payload_bytes;
}

control PdcpHeader(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {
    apply {
        if (meta.pdcp_long == 1) {
            hdr.pdcp18.setValid();
            hdr.pdcp18.data = 1;
            hdr.pdcp18.sn = meta.count[17:0];
            meta.prefix = 32w0x800000 | (bit<32>)meta.count[17:0];
            meta.prefix_bytes = 3;
        } else {
            hdr.pdcp12.setValid();
            hdr.pdcp12.data = 1;
            hdr.pdcp12.sn = meta.count[11:0];
            meta.prefix = 32w0x8000 | (bit<32>)meta.count[11:0];
            meta.prefix_bytes = 2;
        }
        if (meta.sdap_header == 1) {
            // RQI as the UPF says it. It cannot be passed on without a header.
            bit<1> rqi = hdr.gtpu_psc.isValid() ? hdr.gtpu_psc.qos[6:6] : 0;
            hdr.sdap.setValid();
            hdr.sdap.rdi = meta.reflective;
            hdr.sdap.rqi = rqi;
            hdr.sdap.qfi = meta.qfi;
            meta.prefix = meta.prefix << 8 | (bit<32>)(meta.reflective ++ rqi ++ meta.qfi);
            meta.prefix_bytes = meta.prefix_bytes + 1;
        }
    }
}

control Protect(inout gnb_metadata_t meta) {
    Service<cipher_request_t, cipher_answer_t>("cipher") cipher;

    apply {
        if (meta.is_protected == 1) {
            cipher_answer_t answer;
            cipher.call({ meta.key_index, meta.count, meta.drb - 1, DOWNLINK, 0, 0, meta.prefix, meta.prefix_bytes }, answer);
            meta.payload_bytes = answer.payload_bytes;
        }
    }
}

#endif
