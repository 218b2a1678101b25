/* The hash algorithms of v1model over `len` bytes, a constant. Zero bytes follow an odd number of them. */
SP_INLINE uint32_t sp_csum16(const uint8_t *data, uint32_t len)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < len; i += 2) sum += sp_ld16(data + i);
    return sp_fold(sum);
}

SP_INLINE uint32_t sp_xor16(const uint8_t *data, uint32_t len)
{
    uint32_t x = 0;
    for (uint32_t i = 0; i < len; i += 2) x ^= sp_ld16(data + i);
    return x;
}

/* One bit of a remainder. Branches would be as many paths as there are values. */
SP_INLINE uint32_t sp_shift_out(uint32_t crc, uint32_t polynomial)
{
    uint32_t low = crc & 1;
    SP_OPAQUE(low);
    return crc >> 1 ^ low * polynomial;
}

/* CRC-16/ARC: polynomial 0x8005 reflected. */
SP_INLINE uint32_t sp_crc16(const uint8_t *data, uint32_t len)
{
    uint32_t crc = 0;
    for (uint32_t i = 0; i < len; i++) {
        crc ^= data[i];
#pragma unroll
        for (int bit = 0; bit < 8; bit++) crc = sp_shift_out(crc, 0xa001);
    }
    return crc;
}

/* CRC-32 (IEEE 802.3 3.2.9): polynomial 0x04c11db7 reflected. */
SP_INLINE uint32_t sp_crc32(const uint8_t *data, uint32_t len)
{
    uint32_t crc = ~0u;
    for (uint32_t i = 0; i < len; i++) {
        crc ^= data[i];
#pragma unroll
        for (int bit = 0; bit < 8; bit++) crc = sp_shift_out(crc, 0xedb88320);
    }
    return ~crc;
}

/* The first eight bytes, or as many as there are. */
SP_INLINE uint64_t sp_identity(const uint8_t *data, uint32_t len)
{
    uint64_t v = 0;
#pragma unroll
    for (uint32_t i = 0; i < 8; i++) {
        if (i < len) v = v << 8 | data[i];
    }
    return v;
}
