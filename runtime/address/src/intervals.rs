//! Which owner has which addresses.

use crate::address::{AddressRange, GlobalAddress};

/// One range for each owner, in the order of addresses. Owners are numbered in that order, too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals {
    ranges: Box<[AddressRange]>,
}

impl Intervals {
    /// The ranges of all owners; `None` if they are not in the order of addresses, or two of
    /// them overlap.
    pub fn new(ranges: impl IntoIterator<Item = AddressRange>) -> Option<Self> {
        let ranges: Box<[_]> = ranges.into_iter().collect();
        let in_order = |pair: &[AddressRange]| pair[0].end() <= pair[1].start.0;
        ranges.windows(2).all(in_order).then_some(Self { ranges })
    }

    /// How many owners there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are no owners.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The range of an owner.
    #[inline]
    pub fn range(&self, owner: usize) -> Option<AddressRange> {
        self.ranges.get(owner).copied()
    }

    /// The owner of an address, and how far the address is from the start of its range.
    pub fn owner_of(&self, address: GlobalAddress) -> Option<(usize, u64)> {
        let after = self.ranges.partition_point(|range| range.start <= address);
        let owner = after.checked_sub(1)?;
        let range = self.range(owner).filter(|range| range.contains(address))?;
        Some((owner, address.0 - range.start.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(bounds: &[(u64, u64)]) -> Option<Intervals> {
        Intervals::new(
            bounds
                .iter()
                .map(|(start, end)| AddressRange::new(*start..*end).unwrap()),
        )
    }

    #[test]
    fn addresses_between_two_ranges_belong_to_nobody() {
        let map = intervals(&[(16, 32), (32, 40), (64, 65)]).unwrap();
        let owner = |address| map.owner_of(GlobalAddress(address));
        assert_eq!(owner(15), None);
        assert_eq!(owner(16), Some((0, 0)));
        assert_eq!(owner(31), Some((0, 15)));
        assert_eq!(owner(32), Some((1, 0)));
        assert_eq!(owner(40), None);
        assert_eq!(owner(64), Some((2, 0)));
        assert_eq!(owner(65), None);
        assert_eq!(owner(u64::MAX), None);
    }

    #[test]
    fn ranges_that_overlap_or_are_not_in_order_are_no_map() {
        assert_eq!(intervals(&[(0, 2), (1, 3)]), None);
        assert_eq!(intervals(&[(4, 8), (0, 4)]), None);
        assert!(Intervals::default().is_empty());
    }
}
