//! Memory that programs map where it lies: what is left to do is zeros.

use std::ops::Range;

use super::frames::{Frames, offsets};
use super::{ServeError, Store};
use crate::paging::{Page, Stats};

/// What is known of mapped pages.
#[derive(Debug, Default)]
pub(super) struct Mapped {
    pub stats: Stats,
    /// From here on no program has had a page: the lender's zeros are there.
    fresh: Page,
}

impl Mapped {
    /// A program has taken these pages: they become zeros, before it maps them.
    pub fn take<S: Store>(
        &mut self,
        frames: &mut Frames<S>,
        pages: &Range<Page>,
    ) -> Result<(), ServeError<S::Error>> {
        let used = pages.start..pages.end.min(self.fresh);
        self.fresh = self.fresh.max(pages.end);
        self.stats.mapped += pages.len() as u64;
        match used.is_empty() {
            true => Ok(()),
            false => clear(frames, &used),
        }
    }
}

/// Makes pages zeros.
pub(super) fn clear<S: Store>(
    frames: &mut Frames<S>,
    pages: &Range<Page>,
) -> Result<(), ServeError<S::Error>> {
    let cleared = frames.store.clear(offsets(pages));
    cleared.map_err(ServeError::Store)
}
