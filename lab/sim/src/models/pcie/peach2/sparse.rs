//! Memory that exists where it was written.

use std::collections::BTreeMap;

const PAGE: u64 = 4096;

/// Bytes by address; what was never written is zero.
#[derive(Default)]
pub(super) struct Sparse {
    pages: BTreeMap<u64, Box<[u8; PAGE as usize]>>,
}

impl Sparse {
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut at = address;
        let mut left = bytes;
        while !left.is_empty() {
            let skip = (at % PAGE) as usize;
            let (now, later) = left.split_at(left.len().min(PAGE as usize - skip));
            let page = self
                .pages
                .entry(at / PAGE)
                .or_insert_with(|| Box::new([0; PAGE as usize]));
            page[skip..skip + now.len()].copy_from_slice(now);
            at = at.wrapping_add(now.len() as u64);
            left = later;
        }
    }

    pub(super) fn read(&self, address: u64, into: &mut [u8]) {
        let mut at = address;
        let mut left = into;
        while !left.is_empty() {
            let skip = (at % PAGE) as usize;
            let room = left.len().min(PAGE as usize - skip);
            let (now, later) = left.split_at_mut(room);
            match self.pages.get(&(at / PAGE)) {
                Some(page) => now.copy_from_slice(&page[skip..skip + room]),
                None => now.fill(0),
            }
            at = at.wrapping_add(room as u64);
            left = later;
        }
    }

    pub(super) fn bytes(&self, address: u64, len: u64) -> Vec<u8> {
        let mut bytes = vec![0; len as usize];
        self.read(address, &mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Sparse;

    #[test]
    fn pages_join() {
        let mut memory = Sparse::default();
        let bytes: Vec<u8> = (0..=255).cycle().take(9_000).collect();
        memory.write(4_000, &bytes);
        assert_eq!(memory.bytes(4_000, 9_000), bytes);
        assert_eq!(memory.bytes(3_998, 3), [0, 0, 0]);
        assert_eq!(memory.bytes(12_999, 3), [bytes[8_999], 0, 0]);
    }
}
