//! What lies at which addresses.

use std::collections::BTreeMap;
use std::ops::Range;

/// Values of ranges. Neighbours with one value are one range, as the kernel has one mapping for them.
#[derive(Debug)]
pub struct Ranges<T> {
    /// By first address: the end, and the value.
    parts: BTreeMap<usize, (usize, T)>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        let parts = BTreeMap::new();
        Self { parts }
    }
}

impl<T: Copy + PartialEq> Ranges<T> {
    /// From now on all of `range` has this value, or none.
    pub fn set(&mut self, range: Range<usize>, value: Option<T>) {
        if range.is_empty() {
            return;
        }
        let mut new = range.clone();
        // The parts that overlap the range or touch it.
        let near = self.parts.range(..=range.end).rev();
        let near = near.take_while(|(_, (end, _))| *end >= range.start);
        let near: Vec<_> = near
            .map(|(start, (end, its))| (*start, *end, *its))
            .collect();
        for (start, end, its) in near {
            self.parts.remove(&start);
            if Some(its) == value {
                new = new.start.min(start)..new.end.max(end);
                continue;
            }
            if start < range.start {
                self.parts.insert(start, (range.start.min(end), its));
            }
            if end > range.end {
                self.parts.insert(range.end.max(start), (end, its));
            }
        }
        if let Some(value) = value {
            self.parts.insert(new.start, (new.end, value));
        }
    }

    /// The pieces of `range`, in order, each with its value.
    pub fn pieces(&self, range: Range<usize>) -> Vec<(Range<usize>, Option<T>)> {
        let before = self.parts.range(..=range.start).next_back();
        let first = before.map_or(range.start, |(start, _)| *start);
        let mut at = range.start;
        let mut pieces = Vec::new();
        for (start, (end, value)) in self.parts.range(first..range.end.max(first)) {
            let piece = at.max(*start)..range.end.min(*end);
            if piece.is_empty() {
                continue;
            }
            if at < piece.start {
                pieces.push((at..piece.start, None));
            }
            at = piece.end;
            pieces.push((piece, Some(*value)));
        }
        if at < range.end {
            pieces.push((at..range.end, None));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ranges_are_as_an_array(sets in prop::collection::vec((0..40_usize, 0..12_usize, 0..4_u8), 0..40)) {
            let mut ranges = Ranges::default();
            let mut array = [None; 64];
            for (start, len, value) in sets {
                let value = (value > 0).then_some(value);
                ranges.set(start..start + len, value);
                array[start..start + len].fill(value);
                for (start, end) in [(0, 64), (7, 30), (start, start + len)] {
                    let pieces = ranges.pieces(start..end);
                    let mut at = start;
                    let mut last = None;
                    for (piece, value) in pieces {
                        prop_assert_eq!(piece.start, at);
                        prop_assert!(piece.end > at && last != Some(value));
                        prop_assert!(array[piece.clone()].iter().all(|has| *has == value));
                        (at, last) = (piece.end, Some(value));
                    }
                    prop_assert_eq!(at, end);
                }
            }
        }
    }
}
