//! The meaning of a peer's silence.
//!
//! A process that does not run is as silent as a dead host. The kernel of the host distinguishes the two, if it is
//! asked: it answers without the process. So a peer whose kernel answers gets much more time. The time is bounded, so
//! that waits for a process that was stopped for good end with an error.

/// How often a kernel is asked.
pub const HOST_ASKED_EVERY_NS: u64 = 1_000_000_000;
/// While the kernel of its host answers, a peer may be silent for so many times the limit.
pub const STOPPED_LIMITS: u64 = 10;
/// A kernel that has not answered for half of the limit counts as silent. It has this minimum time, so that one answer
/// may be missing and the next one late.
const HOST_SILENT_MIN_NS: u64 = 5 * HOST_ASKED_EVERY_NS / 2;

/// See [`judge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is not lost yet.
    Waits,
    /// It is lost. Nothing is known about its host.
    Silent,
    /// It is lost, and its host does not answer either.
    HostSilent,
    /// It is lost although its host answers.
    Stopped,
}

/// Judges a peer that has been silent for `silent_ns`. `limit_ns` is the allowed time. `host_silent_ns` is the time
/// since the last answer of its host's kernel; `None` if it is not asked.
pub const fn judge(silent_ns: u64, limit_ns: u64, host_silent_ns: Option<u64>) -> Verdict {
    if silent_ns < limit_ns {
        return Verdict::Waits;
    }
    let host_limit_ns = if limit_ns / 2 > HOST_SILENT_MIN_NS {
        limit_ns / 2
    } else {
        HOST_SILENT_MIN_NS
    };
    match host_silent_ns {
        None => Verdict::Silent,
        Some(host_silent_ns) if host_silent_ns >= host_limit_ns => Verdict::HostSilent,
        Some(_) if silent_ns >= limit_ns.saturating_mul(STOPPED_LIMITS) => Verdict::Stopped,
        Some(_) => Verdict::Waits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    #[test]
    fn without_a_kernel_that_is_asked_silence_decides() {
        assert_eq!(judge(0, 10 * S, None), Verdict::Waits);
        assert_eq!(judge(10 * S - 1, 10 * S, None), Verdict::Waits);
        assert_eq!(judge(10 * S, 10 * S, None), Verdict::Silent);
        assert_eq!(judge(u64::MAX, 10 * S, None), Verdict::Silent);
        assert_eq!(judge(u64::MAX - 1, u64::MAX, None), Verdict::Waits);
    }

    #[test]
    fn a_process_whose_kernel_answers_has_ten_times_the_limit() {
        assert_eq!(judge(10 * S, 10 * S, Some(0)), Verdict::Waits);
        assert_eq!(judge(99 * S, 10 * S, Some(1100 * MS)), Verdict::Waits);
        assert_eq!(judge(100 * S, 10 * S, Some(1100 * MS)), Verdict::Stopped);
        assert_eq!(judge(9 * S, S, Some(2499 * MS)), Verdict::Waits);
        assert_eq!(judge(10 * S, S, Some(2499 * MS)), Verdict::Stopped);
        let longest = u64::MAX / 2;
        assert_eq!(judge(longest, longest, Some(0)), Verdict::Waits);
    }

    #[test]
    fn a_cable_that_is_out_counts_after_the_limit() {
        // The kernel answered last when the peer did.
        assert_eq!(judge(9 * S, 10 * S, Some(9 * S)), Verdict::Waits);
        assert_eq!(judge(10 * S, 10 * S, Some(10 * S)), Verdict::HostSilent);
        // The process was silent before.
        assert_eq!(judge(20 * S, 10 * S, Some(4999 * MS)), Verdict::Waits);
        assert_eq!(judge(20 * S, 10 * S, Some(5 * S)), Verdict::HostSilent);
    }

    #[test]
    fn a_short_limit_leaves_the_kernel_time_to_answer() {
        assert_eq!(judge(S, S, Some(S)), Verdict::Waits);
        assert_eq!(judge(2400 * MS, S, Some(2400 * MS)), Verdict::Waits);
        assert_eq!(judge(2500 * MS, S, Some(2500 * MS)), Verdict::HostSilent);
        assert_eq!(judge(S, S, None), Verdict::Silent);
    }
}
