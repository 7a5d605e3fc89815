//! Which addresses belong to borrowed memory. A signal handler may read these words, too.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// How many ancestors in a row of forks can leave addresses here.
const ABANDONED_MAX: usize = 16;

/// The addresses of the region; none if both are 0.
static BEGIN: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
/// Addresses of the processes that this one was forked from.
static ABANDONED: [(AtomicUsize, AtomicUsize); ABANDONED_MAX] =
    [const { (AtomicUsize::new(0), AtomicUsize::new(0)) }; ABANDONED_MAX];

/// Where an address lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// Not in borrowed memory.
    Elsewhere,
    Here,
    /// In that of a process that this one was forked from.
    Abandoned,
}

/// Whether an address is of borrowed memory.
pub(crate) fn place_of(address: usize) -> Where {
    let within = |begin: &AtomicUsize, end: &AtomicUsize| {
        address >= begin.load(Ordering::Relaxed) && address < end.load(Ordering::Relaxed)
    };
    if within(&BEGIN, &END) {
        Where::Here
    } else if ABANDONED.iter().any(|(begin, end)| within(begin, end)) {
        Where::Abandoned
    } else {
        Where::Elsewhere
    }
}

/// Whether this library has some of these addresses. Nothing else has to be asked if not.
pub(crate) fn is_near(range: &Range<usize>) -> bool {
    let overlaps = |begin: &AtomicUsize, end: &AtomicUsize| {
        range.start < end.load(Ordering::Relaxed) && begin.load(Ordering::Relaxed) < range.end
    };
    overlaps(&BEGIN, &END) || ABANDONED.iter().any(|(begin, end)| overlaps(begin, end))
}

/// The addresses of the region are these.
pub(crate) fn set(range: &Range<usize>) {
    BEGIN.store(range.start, Ordering::Relaxed);
    END.store(range.end, Ordering::Relaxed);
}

/// The addresses of the processes that this one was forked from, as begin and end.
pub(crate) fn abandoned() -> impl Iterator<Item = (usize, usize)> {
    ABANDONED
        .iter()
        .map(|(begin, end)| (begin.load(Ordering::Relaxed), end.load(Ordering::Relaxed)))
}

/// Remembers that this process does not have the region any more. Returns whether there was a place for that.
pub(crate) fn abandon() -> bool {
    let free = ABANDONED
        .iter()
        .find(|(_, end)| end.load(Ordering::Relaxed) == 0);
    let Some((begin, end)) = free else {
        return false;
    };
    begin.store(BEGIN.load(Ordering::Relaxed), Ordering::Relaxed);
    end.store(END.load(Ordering::Relaxed), Ordering::Relaxed);
    set(&(0..0));
    true
}
