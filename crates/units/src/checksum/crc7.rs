//! CRC-7 (MMC): polynomial x^7 + x^3 + 1, from 0, not inverted. No library here has one of 7 bits.

/// The polynomial without its top bit, shifted up by one: the remainder is in the upper seven bits.
const POLYNOMIAL: u8 = 0x09 << 1;

/// Remainders of all bytes.
const TABLE: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u8;
        let mut bit = 0;
        while bit < 8 {
            remainder = if remainder & 0x80 == 0 { remainder << 1 } else { (remainder << 1) ^ POLYNOMIAL };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

/// The remainder of some bytes, 0 to 127.
pub(super) fn crc7(data: &[u8]) -> u8 {
    data.iter().fold(0, |remainder: u8, byte| TABLE[usize::from(remainder ^ byte)]) >> 1
}
