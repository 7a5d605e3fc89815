//! The check sum of a header.

/// CRC-16/CCITT: polynomial 0x1021, init all ones, bits most significant
/// first, not complemented. Stored most significant byte first.
pub fn crc16_ccitt(bytes: &[u8]) -> u16 {
    bytes.iter().fold(u16::MAX, |crc, &byte| {
        let [high, low] = crc.to_be_bytes();
        CRC16[usize::from(high ^ byte)] ^ u16::from(low) << 8
    })
}

/// Bytes that the HCRC covers.
const COVERED: usize = super::field::HCRC.start;

/// [`crc16_ccitt`] of exactly so many bytes. Each byte is looked up independently, so that
/// no step waits for the previous one.
#[inline]
pub(super) fn hcrc_over(bytes: &[u8; COVERED]) -> u16 {
    let mut mixed = *bytes;
    // The initial value of the register.
    if let Some(first) = mixed.first_chunk_mut::<2>() {
        *first = first.map(|byte| byte ^ 0xff);
    }
    let tables = SLICES.iter().rev();
    tables
        .zip(mixed)
        .fold(0, |crc, (table, byte)| crc ^ table[usize::from(byte)])
}

/// Table `i` is for a byte after which `i` more bytes follow.
static SLICES: [[u16; 256]; COVERED] = {
    let mut tables = [CRC16_TABLE; COVERED];
    let mut slice = 1;
    while slice < COVERED {
        let mut i = 0;
        while i < 256 {
            let before = tables[slice - 1][i];
            tables[slice][i] = (before << 8) ^ CRC16_TABLE[(before >> 8) as usize];
            i += 1;
        }
        slice += 1;
    }
    tables
};

static CRC16: [u16; 256] = CRC16_TABLE;

const CRC16_TABLE: [u16; 256] = {
    let mut table = [0u16; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc << 1) ^ if crc >> 15 == 1 { 0x1021 } else { 0 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
};
