//! The computing of a PE, where it takes virtual time: the processor time of the thread that uses the job,
//! while the PE has the turn. Each reading of the time, and each request, counts it first.

use hostwire_transport::os;

use super::desk::{Desk, Part};

/// Counts what this thread has computed since the last count. Returns its time in the model, in ps. Only
/// the thread that uses the job counts anything.
pub(super) fn count(desk: &Desk) -> u64 {
    let ns_per_s = desk.compute_ns_per_s();
    if ns_per_s == 0 || !is_user(desk) {
        return 0;
    }
    let now_ns = now_ns();
    let computed_ns = now_ns.saturating_sub(desk.counted_ns());
    desk.set_counted_ns(now_ns);
    let time_ps = u128::from(computed_ns) * u128::from(ns_per_s) / 1_000_000;
    let time_ps = u64::try_from(time_ps).unwrap_or(u64::MAX);
    desk.compute_ps(time_ps);
    time_ps
}

/// This thread has the turn back: the processor time of its wait does not count.
pub(super) fn begin(desk: &Desk) {
    if desk.compute_ns_per_s() > 0 {
        desk.set_counted_ns(now_ns());
    }
}

/// Whether this is the thread that uses the job, and it takes part now.
pub(super) fn is_user(desk: &Desk) -> bool {
    desk.part() == Part::During && desk.thread() == Some(os::process::thread())
}

fn now_ns() -> u64 {
    u64::try_from(os::process::thread_time().as_nanos()).unwrap_or(u64::MAX)
}
