//! Which addresses are of borrowed memory: words that a signal handler may read, too.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// How many processes back in a row of forks have left addresses here at most.
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

/// Whether some of these addresses are of this library. Only then anything below has to be asked.
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

/// Remembers the region as one that this process does not have any more. Whether there was a place for that.
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
