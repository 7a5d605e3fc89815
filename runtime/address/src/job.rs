//! The map of a job: from a PE and a place to an address, and back.
//!
//! The adjacent segments of a PE are one range of addresses. The ranges begin at multiples of one power
//! of two, the first at 0. So the addresses of jobs of common size fit the 40 bits of HyperTransport
//! packets without an address extension. Registered memory lies above these ranges:
//!
//! | bits | |
//! |---|---|
//! | 63 | 1 |
//! | 62 to 51 | PE |
//! | 50 to 40 | number of the segment |
//! | 39 to 0 | offset in it |
//!
//! In a job of more than 4,096 PEs the number of the PE takes up to four bits more, and the offset has as many less.
//!
//! After the ranges of all PEs comes a range that belongs to no PE: the table in which each host notes
//! which PEs have ended. Every host has its own table at these addresses.

use crate::address::{AddressRange, GlobalAddress};
use crate::place::{OFFSET_BITS, Place, SEGMENT_BITS, SegmentId};

/// Most PEs of a job.
pub const PES_MAX: u32 = 1 << 16;

const REGISTERED: u64 = 1 << 63;
/// Bits of the number of a PE beside offsets of all bits.
const PE_BITS: u32 = 63 - OFFSET_BITS - SEGMENT_BITS;

/// See the [module text](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobMap {
    pes: u32,
    /// From the range of one PE to that of the next: a power of two.
    stride: u64,
    /// Bytes of a range.
    near_bytes: u64,
    /// Bits of an offset in registered memory.
    offset_bits: u32,
    host_table: AddressRange,
}

/// Bytes of a word of the table of a host.
const WORD_BYTES: u64 = 8;

impl JobMap {
    /// The map of `pes` PEs, each with `near_bytes` bytes of adjacent segments; `None` if there are more
    /// than [`PES_MAX`], or not enough addresses.
    pub fn new(pes: u32, near_bytes: u64) -> Option<Self> {
        let stride = near_bytes.max(1).checked_next_power_of_two()?;
        let host_table = AddressRange {
            start: GlobalAddress(u64::from(pes).checked_mul(stride)?),
            bytes: (u64::from(pes) + 1) * WORD_BYTES,
        };
        let fits = host_table.start.0.checked_add(host_table.bytes)? <= REGISTERED;
        let pe_bits = u32::BITS - pes.saturating_sub(1).leading_zeros();
        let is_possible = pes <= PES_MAX && near_bytes > 0 && fits;
        is_possible.then_some(Self {
            pes,
            stride,
            near_bytes,
            offset_bits: OFFSET_BITS - pe_bits.saturating_sub(PE_BITS),
            host_table,
        })
    }

    /// How many PEs it has.
    pub fn pes(&self) -> u32 {
        self.pes
    }

    /// Registered memory has addresses up to this offset.
    pub fn registered_bytes_max(&self) -> u64 {
        1 << self.offset_bits
    }

    fn pe_shift(&self) -> u32 {
        self.offset_bits + SEGMENT_BITS
    }

    /// The addresses of the adjacent segments of `pe`.
    #[inline]
    pub fn near(&self, pe: u32) -> Option<AddressRange> {
        (pe < self.pes).then(|| AddressRange {
            start: GlobalAddress(u64::from(pe) * self.stride),
            bytes: self.near_bytes,
        })
    }

    /// The addresses of the table of a host: a word for each PE, and one before them.
    #[inline]
    pub fn host_table(&self) -> AddressRange {
        self.host_table
    }

    /// The address of a place of `pe`; `None` if it has none.
    #[inline]
    pub fn address(&self, pe: u32, place: Place) -> Option<GlobalAddress> {
        let near = self.near(pe)?;
        match place {
            Place::Near(offset) if offset < near.bytes => {
                Some(GlobalAddress(near.start.0 + offset))
            }
            Place::Near(_) => None,
            Place::Registered(segment, offset) => (offset >> self.offset_bits == 0).then(|| {
                let segment = u64::from(segment.get()) << self.offset_bits;
                GlobalAddress(REGISTERED | u64::from(pe) << self.pe_shift() | segment | offset)
            }),
        }
    }

    /// The PE to which an address belongs, and the place there; `None` if it belongs to no PE.
    pub fn locate(&self, address: GlobalAddress) -> Option<(u32, Place)> {
        if address.0 < REGISTERED {
            let pe = u32::try_from(address.0 / self.stride).ok()?;
            let near = self.near(pe).filter(|near| near.contains(address))?;
            return Some((pe, Place::Near(address.0 - near.start.0)));
        }
        let pe = (address.0 ^ REGISTERED) >> self.pe_shift();
        let segment = (address.0 >> self.offset_bits) & ((1 << SEGMENT_BITS) - 1);
        let segment = SegmentId::new(segment as u16)?;
        let offset = address.0 & ((1 << self.offset_bits) - 1);
        (pe < u64::from(self.pes())).then_some((pe as u32, Place::Registered(segment, offset)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(number: u16) -> SegmentId {
        SegmentId::new(number).unwrap()
    }

    #[test]
    fn literal_addresses() {
        let map = JobMap::new(3, 0x11_0000).unwrap();
        let address = |pe, place| map.address(pe, place).map(|address| address.0);
        assert_eq!(address(0, Place::Near(0x1000)), Some(0x1000));
        assert_eq!(address(2, Place::Near(8)), Some(0x40_0008));
        assert_eq!(address(2, Place::Near(0x11_0000)), None);
        assert_eq!(address(3, Place::Near(0)), None);
        assert_eq!(
            address(2, Place::Registered(segment(5), 0x20)),
            Some(0x8010_0500_0000_0020)
        );
        assert_eq!(address(0, Place::Registered(segment(0), 1 << 40)), None);
        let nobody = |address| map.locate(GlobalAddress(address)).is_none();
        assert!(nobody(0x11_0000), "between PE 0 and PE 1");
        assert!(nobody(0x60_0000), "behind all");
        let table = map.host_table();
        assert_eq!((table.start.0, table.bytes), (0x60_0000, 32));
        assert!(nobody(0x8018_0000_0000_0000), "registered by PE 3");
    }

    #[test]
    fn jobs_that_are_too_large_have_no_map() {
        assert!(JobMap::new(PES_MAX, 1 << 46).is_some());
        assert!(JobMap::new(PES_MAX, 1 << 47).is_none());
        assert!(JobMap::new(PES_MAX + 1, 64).is_none());
        assert!(JobMap::new(1, 0).is_none());
        assert!(JobMap::new(1, u64::MAX).is_none());
    }

    #[test]
    fn the_largest_job_has_shorter_offsets_in_registered_memory() {
        for (pes, bits) in [(4096, 40), (4097, 39), (PES_MAX, 36)] {
            let map = JobMap::new(pes, 1 << 30).unwrap();
            assert_eq!(map.registered_bytes_max(), 1 << bits, "{pes}");
            let place = |offset| Place::Registered(segment(2047), offset);
            let last = place((1 << bits) - 1);
            let address = map.address(pes - 1, last).unwrap();
            assert_eq!(map.locate(address), Some((pes - 1, last)));
            assert_eq!(map.address(pes - 1, place(1 << bits)), None);
        }
    }

    proptest! {
        #[test]
        fn an_address_leads_back_to_its_place(
            pes in 1_u32..40,
            bytes in 1_u64..1 << 40,
            pe in 0_u32..40,
            offset: u64,
            number in 0_u16..2048,
        ) {
            let map = JobMap::new(pes, bytes).unwrap();
            for place in [
                Place::Near(offset % bytes),
                Place::Registered(segment(number), offset & ((1 << 40) - 1)),
            ] {
                let address = map.address(pe, place);
                prop_assert_eq!(address.is_some(), pe < pes);
                if let Some(address) = address {
                    prop_assert_eq!(map.locate(address), Some((pe, place)));
                }
            }
        }

        #[test]
        fn a_place_leads_back_to_its_address(bytes in 1_u64..1 << 40, address: u64) {
            let map = JobMap::new(7, bytes).unwrap();
            let address = GlobalAddress(address);
            if let Some((pe, place)) = map.locate(address) {
                prop_assert_eq!(map.address(pe, place), Some(address));
            }
        }
    }
}
