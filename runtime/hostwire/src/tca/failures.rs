//! Streams of this PE that have failed and whose owner has not been told.
//!
//! Another PE may wait for something after a failed copy, which never comes. As long as this PE computes, it may
//! still call `synchronize` and repeat the copy. But if it waits long for something else, both may wait for ever. So
//! in each long sleep it warns each PE to which the stream was to write: it stores its number and its count of
//! warnings in the [`stuck`](Door::stuck) word there. A PE gives up when it sees two more warnings after the first
//! one in its wait: so an old warning does no harm.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire_transport::PeId;

use super::door::Door;
use super::progress::StreamProgress;
use crate::error::{Error, Result, TcaError};
use crate::inner::Inner;

/// Bits of a warning that are the number of the PE and 1; those above are how often it has warned.
const NUMBER_BITS: u32 = 32;
/// So many warnings after the first end a wait. The first may be older than the wait.
const LATER_WARNINGS: u64 = 2;

/// See the [module text](self).
#[derive(Default)]
pub(super) struct Failures {
    is_any: AtomicBool,
    all: Mutex<All>,
}

#[derive(Default)]
struct All {
    streams: Vec<Arc<StreamProgress>>,
    /// How often this PE has warned.
    warnings: u32,
}

impl Failures {
    /// A stream has failed.
    pub(super) fn add(&self, state: &Arc<StreamProgress>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.streams.push(Arc::clone(state));
        self.is_any.store(true, Ordering::Release);
    }

    /// Failed streams whose owner has not been told, if there are any.
    fn untold(&self) -> Option<MutexGuard<'_, All>> {
        if !self.is_any.load(Ordering::Acquire) {
            return None;
        }
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.streams.retain(|state| state.has_error());
        let is_any = !all.streams.is_empty();
        self.is_any.store(is_any, Ordering::Release);
        is_any.then_some(all)
    }

    /// The error of a failed stream whose owner has not been told yet. If the owner has dropped the stream, this
    /// counts as telling it.
    pub(super) fn tell(&self) -> Option<Error> {
        let all = self.untold()?;
        all.streams.iter().find_map(|state| state.tell())
    }

    /// Warns the PEs that may wait for something after a failed copy, because this PE waits long.
    pub(super) fn warn(&self, inner: &Inner, door: &Door) -> Result<()> {
        let (Some(word), Some(mut all)) = (door.stuck(), self.untold()) else {
            return Ok(());
        };
        all.warnings = all.warnings.wrapping_add(1);
        let warning = u64::from(all.warnings) << NUMBER_BITS | (u64::from(inner.pe) + 1);
        let mut pes: Vec<PeId> = all.streams.iter().flat_map(|s| s.written_to()).collect();
        drop(all);
        pes.sort_unstable();
        pes.dedup();
        for pe in pes {
            let warned = inner.put_word(pe, word, warning);
            // A PE that cannot be warned is lost; other PEs are not affected.
            if warned.and_then(|()| inner.fence_of(pe)).is_err() {
                inner.check_is_here()?;
            }
        }
        Ok(())
    }
}

/// Warnings that a wait has seen: by PE, the first one.
#[derive(Default)]
pub(super) struct Warnings(BTreeMap<PeId, u32>);

impl Warnings {
    /// An error if a copy of another PE to this one has failed and that PE has been in a long wait during this wait.
    pub(super) fn heed(&mut self, inner: &Inner, door: &Door) -> Result<()> {
        let Some(word) = door.stuck() else {
            return Ok(());
        };
        match inner.segment().load_word(word)? {
            0 => Ok(()),
            warning => self.take(warning, inner.pes),
        }
    }

    /// Any PE may have stored anything.
    #[cold]
    fn take(&mut self, warning: u64, pes: u32) -> Result<()> {
        let (number, count) = (warning as u32, (warning >> NUMBER_BITS) as u32);
        if number == 0 || number > pes {
            return Ok(());
        }
        let pe = number - 1;
        let first = self.0.entry(pe).or_insert(count);
        match u64::from(count.wrapping_sub(*first)) < LATER_WARNINGS {
            true => Ok(()),
            false => Err(TcaError::StreamFailed { pe }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(pe: PeId, count: u64) -> u64 {
        count << NUMBER_BITS | u64::from(pe + 1)
    }

    #[test]
    fn an_old_warning_does_no_harm() {
        let mut warnings = Warnings::default();
        for _ in 0..3 {
            warnings.take(warning(1, 9), 2).unwrap();
        }
        warnings.take(warning(1, 10), 2).unwrap();
    }

    #[test]
    fn the_second_later_warning_of_a_pe_ends_a_wait() {
        let mut warnings = Warnings::default();
        for (pe, count) in [(0, u64::from(u32::MAX)), (1, 7), (0, 0), (1, 8)] {
            warnings.take(warning(pe, count), 2).unwrap();
        }
        let failed = warnings.take(warning(0, 1), 2).unwrap_err();
        let Error::Tca(why) = failed else {
            panic!("{failed}");
        };
        assert!(matches!(*why, TcaError::StreamFailed { pe: 0 }), "{why}");
    }

    #[test]
    fn what_no_pe_can_have_stored_is_ignored() {
        let mut warnings = Warnings::default();
        for count in [1, 20, 300] {
            warnings.take(warning(2, count), 2).unwrap();
            warnings.take(count << NUMBER_BITS, 2).unwrap();
        }
    }
}
