//! Whether the lengths of an operation on memory fit each other.

use super::{ATOMIC_BYTES_MAX, PLACES_MAX};
use crate::error::{Error, Result};
use crate::message::Deed;
use hostwire_station::memory_region::{Change, RegionRange};

/// What a peer could only take for a broken protocol.
pub(super) fn check(deed: &Deed, places: &[RegionRange], buffer_bytes: usize) -> Result<()> {
    let is = |what, expected, got| match expected == got {
        true => Ok(()),
        false => Err(Error::Length {
            what,
            expected,
            got,
        }),
    };
    is(
        "places in memory",
        places.len().min(PLACES_MAX),
        places.len(),
    )?;
    let mut len = 0_usize;
    for place in places {
        let sum = usize::try_from(place.len)
            .ok()
            .and_then(|more| len.checked_add(more));
        len = sum
            .filter(|len| isize::try_from(*len).is_ok())
            .ok_or(Error::Length {
                what: "bytes in memory",
                expected: isize::MAX as usize,
                got: usize::MAX,
            })?;
    }
    let Deed::Atomic {
        atomic,
        operands,
        compares,
        wants_old,
    } = deed
    else {
        return is("bytes to put or to get", len, buffer_bytes);
    };
    let size = atomic.number.bytes();
    for place in places {
        is("bytes of numbers", 0, place.len as usize % size)?;
    }
    is("bytes of numbers", len.min(ATOMIC_BYTES_MAX), len)?;
    let needs = |does: bool| if does { len } else { 0 };
    is(
        "bytes of operands",
        needs(atomic.change != Change::Read),
        operands.len(),
    )?;
    is(
        "bytes to compare with",
        needs(atomic.change.compares()),
        compares.len(),
    )?;
    match wants_old {
        true => is("bytes for what was there", len, buffer_bytes),
        false => Ok(()),
    }
}
