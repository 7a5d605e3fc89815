//! CRC-32 with polynomial 0x04C11DB7, the polynomial of every 32-bit CRC in
//! this crate.
//!
//! Two registers occur. In the *reflected* one bits enter least significant
//! first (Ethernet, PCIe LCRC, HToE, and HyperTransport per-packet CRC after
//! reversal of the register). The *direct* one is shifted towards its most
//! significant bit (HyperTransport periodic CRC).

/// Polynomial, most significant bit first.
pub(crate) const POLYNOMIAL: u32 = 0x04c1_1db7;

const SLICES: usize = 16;

/// Reflected tables for 16 bytes per step ("slicing by 16").
static REFLECTED: [[u32; 256]; SLICES] = reflected_tables();

/// Direct table for one byte per step.
static DIRECT: [u32; 256] = direct_table();

const fn reflected_tables() -> [[u32; 256]; SLICES] {
    let polynomial = POLYNOMIAL.reverse_bits();
    let mut tables = [[0u32; 256]; SLICES];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ if crc & 1 == 1 { polynomial } else { 0 };
            bit += 1;
        }
        tables[0][i] = crc;
        i += 1;
    }
    let mut slice = 1;
    while slice < SLICES {
        let mut i = 0;
        while i < 256 {
            let previous = tables[slice - 1][i];
            tables[slice][i] = (previous >> 8) ^ tables[0][(previous & 0xff) as usize];
            i += 1;
        }
        slice += 1;
    }
    tables
}

const fn direct_table() -> [u32; 256] {
    let mut table = [0u32; 256];
    let mut i = 0;
    while i < 256 {
        let mut crc = (i as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc << 1) ^ if crc >> 31 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
}

/// Feeds bytes into a reflected register.
pub(crate) fn reflected(mut crc: u32, bytes: &[u8]) -> u32 {
    let (chunks, rest) = bytes.as_chunks::<SLICES>();
    for chunk in chunks {
        let mut mixed = *chunk;
        for (byte, old) in mixed.iter_mut().zip(crc.to_le_bytes()) {
            *byte ^= old;
        }
        // The first byte has the longest way to go: 15 more bytes.
        crc = 0;
        for (table, byte) in REFLECTED.iter().rev().zip(mixed) {
            crc ^= table[usize::from(byte)];
        }
    }
    for &byte in rest {
        crc = (crc >> 8) ^ REFLECTED[0][usize::from(crc.to_le_bytes()[0] ^ byte)];
    }
    crc
}

/// Feeds one bit into a reflected register.
pub(crate) const fn reflected_bit(crc: u32, bit: bool) -> u32 {
    let out = (crc & 1 == 1) ^ bit;
    (crc >> 1) ^ if out { POLYNOMIAL.reverse_bits() } else { 0 }
}

/// Shifts one byte, least significant bit first, into the low end of a direct
/// register.
pub(crate) fn direct_shift(crc: u32, byte: u8) -> u32 {
    let [top, ..] = crc.to_be_bytes();
    ((crc << 8) | u32::from(byte.reverse_bits())) ^ DIRECT[usize::from(top)]
}

/// Shifts one bit into the low end of a direct register.
pub(crate) const fn direct_shift_bit(crc: u32, bit: bool) -> u32 {
    ((crc << 1) | bit as u32) ^ if crc >> 31 == 1 { POLYNOMIAL } else { 0 }
}

/// CRC-32 of IEEE 802.3: init all ones, reflected, complemented.
///
/// Stored least significant byte first it is an Ethernet FCS and a PCIe LCRC.
///
/// ```
/// assert_eq!(hostwire_packet::crc32_ieee(b"123456789"), 0xcbf4_3926);
/// ```
pub fn crc32_ieee(bytes: &[u8]) -> u32 {
    #[cfg(feature = "fast-crc")]
    return crc32fast::hash(bytes);
    #[cfg(not(feature = "fast-crc"))]
    return !reflected(u32::MAX, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_value() {
        assert_eq!(crc32_ieee(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32_ieee(b""), 0);
    }

    #[test]
    fn features_agree() {
        let bytes: [u8; 1500] = core::array::from_fn(|i| (i * 37 + 11) as u8);
        for len in [0, 1, 15, 16, 64, 127, 128, 129, 1500] {
            assert_eq!(
                crc32_ieee(&bytes[..len]),
                !reflected(u32::MAX, &bytes[..len]),
                "{len} bytes"
            );
        }
    }

    #[test]
    fn slices_agree_with_single_bits() {
        let bytes: [u8; 61] = core::array::from_fn(|i| (i * 37 + 11) as u8);
        for len in 0..bytes.len() {
            let mut bitwise = u32::MAX;
            for byte in &bytes[..len] {
                for bit in 0..8 {
                    bitwise = reflected_bit(bitwise, byte >> bit & 1 == 1);
                }
            }
            assert_eq!(reflected(u32::MAX, &bytes[..len]), bitwise, "{len} bytes");
        }
    }

    #[test]
    fn direct_byte_agrees_with_single_bits() {
        let mut table = u32::MAX;
        let mut bitwise = u32::MAX;
        for byte in 0..=255u8 {
            table = direct_shift(table, byte);
            for bit in 0..8 {
                bitwise = direct_shift_bit(bitwise, byte >> bit & 1 == 1);
            }
            assert_eq!(table, bitwise);
        }
    }
}
