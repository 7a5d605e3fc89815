//! Checks the arguments of functions before they do anything: with `SHMEM_DEBUG`.
//!
//! The table says for each pointer of each function to what it has to point
//! (`fronts/shmem/table`), and the entry points check this here. Short puts, gets and atomics
//! check it on their long way, which is the only one while `SHMEM_DEBUG` is set.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::debug;
use crate::fail::{fatal, say};
use crate::handle::{TEAM_INVALID, Team};
use crate::remote::{NotSymmetric, check_bounds};
use crate::runtime;
use crate::team as teams;

static CHECKED: AtomicBool = AtomicBool::new(false);

/// Whether checks are on, and the library is in use.
#[inline(always)]
pub(crate) fn are_checked() -> bool {
    CHECKED.load(Relaxed)
}

pub(crate) fn set_checked(are_checked: bool) {
    CHECKED.store(are_checked, Relaxed);
}

/// A number of things, as C passes it.
pub(crate) trait Number {
    fn get(self) -> usize;
}

impl Number for usize {
    fn get(self) -> usize {
        self
    }
}

/// A negative one is refused by the function itself.
impl Number for c_int {
    fn get(self) -> usize {
        usize::try_from(self).unwrap_or(0)
    }
}

pub(crate) fn count(number: impl Number) -> usize {
    number.get()
}

/// Members of a team; none of an invalid one.
pub(crate) fn members(team: Team) -> usize {
    let team = runtime::any().and_then(|runtime| teams::find(runtime, team));
    team.map_or(0, teams::TeamState::size)
}

/// Where memory lies around the address that a pointer holds, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    /// The place of the first element, relative to the address: not positive.
    first: isize,
    elements: usize,
}

impl Extent {
    const ENDLESS: Self = Self {
        first: 0,
        elements: usize::MAX,
    };

    /// So many elements.
    pub(crate) fn run(elements: usize) -> Self {
        Self { first: 0, elements }
    }

    /// Blocks of so many elements, this far from the beginning of one to that of the next.
    pub(crate) fn blocks(blocks: usize, stride: isize, elements: usize) -> Self {
        if blocks == 0 || elements == 0 {
            return Self::run(0);
        }
        let last = isize::try_from(blocks - 1).ok();
        let span = last
            .and_then(|last| last.checked_mul(stride))
            .and_then(|last| Some((last, last.unsigned_abs().checked_add(elements)?)));
        span.map_or(Self::ENDLESS, |(last, elements)| Self {
            first: last.min(0),
            elements,
        })
    }

    /// Where it begins, and its bytes.
    fn at<T>(self, address: *const T) -> (usize, usize) {
        let size = size_of::<T>();
        let first = self.first.wrapping_mul(size as isize);
        (
            address.addr().wrapping_add_signed(first),
            self.elements.saturating_mul(size),
        )
    }
}

/// A pointer to symmetric memory.
#[cold]
#[inline(never)]
pub(crate) fn symmetric<T>(what: &str, name: &str, address: *const T, extent: Extent) {
    let (start, len) = extent.at(address);
    let runtime = runtime::get(what);
    if len == 0 {
        return;
    }
    if runtime.locate(start, len).is_none() {
        let why = NotSymmetric::new(runtime, name, start, len);
        fatal(what, format_args!("{why}; {}", debug::here()));
    }
    check_bounds(runtime, what, name, start, len);
}

/// A pointer to memory that is read.
#[cold]
#[inline(never)]
pub(crate) fn reads<T>(what: &str, name: &str, address: *const T, extent: Extent) {
    let (start, len) = extent.at(address);
    debug::must_be_memory(runtime::get(what), what, name, start, len);
}

/// A pointer to memory that is written.
#[cold]
#[inline(never)]
pub(crate) fn writes<T>(what: &str, name: &str, address: *const T, extent: Extent) {
    let (start, len) = extent.at(address);
    debug::must_be_memory(runtime::get(what), what, name, start, len);
}

/// The team of a collective operation. With an invalid team the operation does nothing, as the
/// specification says, and returns a value that programs rarely check.
#[cold]
#[inline(never)]
pub(crate) fn team(what: &str, team: Team) {
    let runtime = runtime::get(what);
    if teams::find(runtime, team).is_some() {
        return;
    }
    let which = match team == TEAM_INVALID {
        true => "SHMEM_TEAM_INVALID",
        false => "a team that was destroyed, or is none",
    };
    say(&format!(
        "{what}: team is {which}: nothing is done, and -1 returned; {}",
        debug::here()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_reach_from_the_lowest_to_the_highest_byte() {
        let at = core::ptr::without_provenance::<u32>(1000);
        assert_eq!(Extent::run(3).at(at), (1000, 12));
        assert_eq!(Extent::blocks(3, 4, 2).at(at), (1000, 40));
        assert_eq!(Extent::blocks(3, -4, 2).at(at), (1000 - 32, 40));
        assert_eq!(Extent::blocks(0, 4, 2).at(at).1, 0);
        assert_eq!(Extent::blocks(usize::MAX, 4, 2).at(at).1, usize::MAX);
        assert_eq!(Extent::run(usize::MAX).at(at).1, usize::MAX);
    }
}
