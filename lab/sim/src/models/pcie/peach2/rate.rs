//! Rates as the time of a KiB.

use crate::engine::Ps;

/// Time of a KiB at a rate.
pub(crate) const fn kib_at(bytes_per_s: u64) -> Ps {
    Ps(1024 * 1_000_000_000_000 / if bytes_per_s == 0 { 1 } else { bytes_per_s })
}

pub(super) fn per_kib(kib: Ps, bytes: u64) -> Ps {
    Ps((u128::from(kib.0) * u128::from(bytes) / 1024).min(u128::from(u64::MAX)) as u64)
}
