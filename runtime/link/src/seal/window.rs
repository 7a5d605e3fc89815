//! Which numbers have been seen: RFC 4303, section 3.4.3, with a longer window.

const WORD_BITS: u64 = u64::BITS as u64;
const WORDS: usize = 32;
/// A frame may come so many numbers late. This is more than the frames in flight, and a
/// frame that is dropped as too old is sent again.
const WIDTH: u64 = (WORDS as u64 - 1) * WORD_BITS;

/// The highest number seen and, as bits of a ring, which of those below it.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// One more than the highest number seen.
    end: u64,
    bits: [u64; WORDS],
}

impl Window {
    /// Whether a number may be accepted: it was not seen, and it is not too old to know
    /// this.
    pub(super) fn is_new(&self, number: u64) -> bool {
        if number >= self.end {
            return true;
        }
        self.end - number <= WIDTH && self.word(number) & bit(number) == 0
    }

    /// Remembers a number that is new.
    pub(super) fn mark(&mut self, number: u64) {
        debug_assert!(self.is_new(number));
        if number >= self.end {
            // Words that enter the window hold bits of old numbers.
            let first = self.end.div_ceil(WORD_BITS);
            let last = number / WORD_BITS;
            for word in (first..=last).take(WORDS) {
                self.bits[index(word)] = 0;
            }
            if last >= first.saturating_add(WORDS as u64) {
                self.bits = [0; WORDS];
            }
            self.end = number.saturating_add(1);
        }
        self.bits[index(number / WORD_BITS)] |= bit(number);
    }

    fn word(&self, number: u64) -> u64 {
        self.bits[index(number / WORD_BITS)]
    }
}

const fn bit(number: u64) -> u64 {
    1 << (number % WORD_BITS)
}

const fn index(word: u64) -> usize {
    (word % WORDS as u64) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Numbers with short and long steps to both sides.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let step = prop_oneof![
            8 => -70_i64..70,
            1 => -3000_i64..5000,
            1 => Just(1 << 40),
            1 => Just(i64::MAX),
        ];
        prop::collection::vec(step, 1..300).prop_map(|steps| {
            let mut at = 0_u64;
            let add = |step| {
                at = at.saturating_add_signed(step).min(u64::MAX - 1);
                at
            };
            steps.into_iter().map(add).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Compared with a set of all numbers ever seen.
        #[test]
        fn every_number_once(numbers in numbers()) {
            let (mut window, mut seen) = (Window::default(), HashSet::new());
            let mut highest = None;
            for number in numbers {
                let late = highest.is_some_and(|highest: u64| highest.saturating_sub(number) >= WIDTH);
                let expected = !seen.contains(&number) && !late;
                prop_assert_eq!(window.is_new(number), expected, "{}", number);
                if expected {
                    window.mark(number);
                    seen.insert(number);
                    highest = highest.max(Some(number));
                }
            }
        }
    }
}
