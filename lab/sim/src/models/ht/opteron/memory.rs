//! DRAM of a socket: sparse, byte-addressed by the system address.

use std::collections::BTreeMap;

const PAGE_BYTES: u64 = 4096;

/// Memory that reads as zero where nothing was written.
#[derive(Debug, Default)]
pub struct Memory {
    pages: BTreeMap<u64, Box<[u8; PAGE_BYTES as usize]>>,
}

impl Memory {
    /// Copies bytes out.
    pub fn read(&self, address: u64, out: &mut [u8]) {
        for (offset, byte) in out.iter_mut().enumerate() {
            let at = address.wrapping_add(offset as u64);
            let page = self.pages.get(&(at / PAGE_BYTES));
            *byte = page.map_or(0, |page| page[(at % PAGE_BYTES) as usize]);
        }
    }

    /// Copies bytes in.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut address = address;
        let mut rest = bytes;
        while !rest.is_empty() {
            let within = (address % PAGE_BYTES) as usize;
            let (now, later) = rest.split_at(rest.len().min(PAGE_BYTES as usize - within));
            self.page(address)[within..within + now.len()].copy_from_slice(now);
            address = address.wrapping_add(now.len() as u64);
            rest = later;
        }
    }

    /// Writes the bytes whose mask bit is set; bit `i` belongs to byte `i` of
    /// the 32-byte block that `address` lies in, and `bytes` begin at `address`.
    pub fn write_masked(&mut self, address: u64, bytes: &[u8], mask: u32) {
        for (offset, &byte) in bytes.iter().enumerate() {
            let at = address.wrapping_add(offset as u64);
            if mask >> (at % 32) & 1 == 1 {
                self.page(at)[(at % PAGE_BYTES) as usize] = byte;
            }
        }
    }

    fn page(&mut self, address: u64) -> &mut [u8; PAGE_BYTES as usize] {
        self.pages
            .entry(address / PAGE_BYTES)
            .or_insert_with(|| Box::new([0; PAGE_BYTES as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn crosses_pages_and_reads_zero_elsewhere() {
        let mut memory = Memory::default();
        memory.write(0xffe, &[1, 2, 3, 4]);
        let mut got = [9; 6];
        memory.read(0xffd, &mut got);
        assert_eq!(got, [0, 1, 2, 3, 4, 0]);
    }

    #[test]
    fn mask_counts_from_the_32_byte_block() {
        let mut memory = Memory::default();
        memory.write_masked(0x24, &[1, 2, 3, 4], 0b0101_0000);
        let mut got = [0; 4];
        memory.read(0x24, &mut got);
        assert_eq!(got, [1, 0, 3, 0]);
    }
}
