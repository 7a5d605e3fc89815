//! Looks that find nothing, and when a program that looks again and again gives its core away.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// After the first time, the core is given away again after this part of the looks before it. Not after each look: a
/// program also looks between steps of other work, as long as nothing comes. To give the core away takes as long as 20
/// looks, and a third of the time of a short copy to another process by the kernel.
const SHARE: u32 = 16;

/// About how many looks in a row have found nothing: threads that look at the same time may miss some.
#[derive(Default)]
pub(crate) struct Backoff(AtomicU32);

impl Backoff {
    /// A look has found nothing. Returns whether the core should be given away before the next one: after `looks_max`
    /// looks, and then each time that a [share](SHARE) of as many has followed.
    #[inline(always)]
    pub(crate) fn add(&self, looks_max: u32) -> bool {
        let looks = self.0.load(Relaxed).saturating_add(1);
        let is_enough = looks > looks_max;
        let left = match is_enough {
            true => looks_max - looks_max / SHARE,
            false => looks,
        };
        self.0.store(left, Relaxed);
        is_enough
    }

    /// A look has found something.
    #[inline(always)]
    pub(crate) fn clear(&self) {
        self.0.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At which of so many looks that find nothing the core is given away.
    fn given_away(backoff: &Backoff, looks: u32, looks_max: u32) -> Vec<u32> {
        (1..=looks).filter(|_| backoff.add(looks_max)).collect()
    }

    #[test]
    fn one_that_only_looks_gives_its_core_away_after_many_looks_and_then_now_and_then() {
        let backoff = Backoff::default();
        assert_eq!(given_away(&backoff, 4750, 4000), [4001, 4252, 4503]);
    }

    #[test]
    fn it_begins_again_when_something_was_found() {
        let backoff = Backoff::default();
        assert_eq!(given_away(&backoff, 110, 100), [101, 108]);
        backoff.clear();
        assert_eq!(given_away(&backoff, 110, 100), [101, 108]);
    }

    #[test]
    fn without_a_limit_it_never_does() {
        let backoff = Backoff(AtomicU32::new(u32::MAX - 1));
        assert_eq!(given_away(&backoff, 10, u32::MAX), []);
    }

    #[test]
    fn a_limit_that_has_become_lower_holds_at_once() {
        let backoff = Backoff::default();
        assert_eq!(given_away(&backoff, 3000, 4000), []);
        assert_eq!(given_away(&backoff, 10, 100), [1, 8]);
    }
}
