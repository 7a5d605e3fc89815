//! Which of several failures led to the others.
//!
//! The first failure that the launcher sees need not be the first one: the neighbours of a
//! killed PE notice its loss as soon as its locks are gone, and one of them may end because of
//! it before the killed PE has ended. So a failure that may be the result of another one is
//! held back while a PE is ending, and while a PE that another one has lost has not ended.

use std::time::{Duration, Instant};

use super::outcome::{Cause, Failure};

/// How long a failure is held back for a lost PE that is not ending yet. A failing PE leaves the job before it reports
/// why and cleans up, which takes Python seconds on a busy machine. It may also run on, on a host that cannot be
/// reached.
const HOLD: Duration = Duration::from_secs(5);
/// How long it is held back at most. An ending PE takes long to give back much memory, or on a busy machine, and it may
/// get stuck.
const HOLD_MAX: Duration = Duration::from_secs(10);

/// A failure, and the PE that the failed one has lost.
#[derive(Clone, Debug)]
struct Suspect {
    failure: Failure,
    lost: Option<u32>,
}

/// Failures that have not been judged.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    held: Vec<Suspect>,
    /// When the first of them was seen.
    since: Option<Instant>,
    /// The time at which they are judged in any case.
    deadline: Option<Instant>,
}

impl Suspects {
    /// Adds a failure. The PE reports that it has lost `lost`.
    pub fn add(&mut self, failure: Failure, lost: Option<u32>, now: Instant) {
        // A PE that aborts the job also ends, and that is the same failure.
        let has_asked = |held: &Suspect| {
            held.failure.pe == failure.pe && matches!(held.failure.cause, Cause::Abort { .. })
        };
        if !failure.is_cause() && self.held.iter().any(has_asked) {
            return;
        }
        self.held.push(Suspect { failure, lost });
        self.since = self.since.or(Some(now));
        self.deadline = self.deadline.or(now.checked_add(HOLD));
    }

    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The latest time to [judge](Self::judge). `None` if there is nothing to judge.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The failures in order of cause, each once. None while the first one may still be missing.
    pub fn judge(
        &mut self,
        now: Instant,
        is_running: impl Fn(u32) -> bool,
        somebody_dies: impl FnOnce() -> bool,
    ) -> Vec<Failure> {
        let certain = |suspect: &Suspect| suspect.failure.is_cause();
        let missed = |suspect: &Suspect| suspect.lost.is_some_and(&is_running);
        let late = self.deadline.is_none_or(|deadline| deadline <= now);
        let decided = self.held.iter().any(certain);
        if !decided && !self.held.is_empty() {
            if somebody_dies() {
                let last = self.since.and_then(|since| since.checked_add(HOLD_MAX));
                if last.is_some_and(|last| last > now) {
                    // The launcher learns of its end.
                    self.deadline = last.filter(|_| late).or(self.deadline);
                    return Vec::new();
                }
            } else if !late && self.held.iter().any(missed) {
                return Vec::new();
            }
        }
        self.deadline = None;
        self.since = None;
        let mut judged = std::mem::take(&mut self.held);
        // A PE that reports a lost PE may have failed because of it. A stable sort: among
        // equals the one that was seen first.
        judged.sort_by_key(|suspect| (suspect.failure.rank(), suspect.lost.is_some()));
        judged.into_iter().map(|suspect| suspect.failure).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KILLED: Cause = Cause::Signal(9);

    fn failure(pe: u32, cause: Cause) -> Failure {
        Failure {
            pe,
            cause,
            last: None,
            core: None,
        }
    }

    /// The PEs of the failures, in the order in which they are judged.
    fn judge(
        suspects: &mut Suspects,
        now: Instant,
        running: &[u32],
        somebody_dies: bool,
    ) -> Vec<u32> {
        let is_running = |pe: u32| running.contains(&pe);
        let judged = suspects.judge(now, is_running, || somebody_dies);
        assert!(judged.is_empty() || suspects.is_empty());
        judged.iter().map(|failure| failure.pe).collect()
    }

    #[test]
    fn a_neighbour_that_ends_first_waits_for_the_one_that_was_killed() {
        let now = Instant::now();
        for neighbours in [
            Cause::Exited(1),
            Cause::Signal(6),
            Cause::NotFinalized,
            Cause::Abort {
                code: 1,
                message: String::new(),
            },
        ] {
            let mut suspects = Suspects::default();
            suspects.add(failure(0, neighbours), None, now);
            assert!(judge(&mut suspects, now, &[1], true).is_empty());
            suspects.add(failure(1, KILLED), None, now);
            assert_eq!(judge(&mut suspects, now, &[], false), [1, 0]);
            assert_eq!(suspects.deadline(), None);
        }
    }

    #[test]
    fn a_pe_that_somebody_lost_is_waited_for() {
        let now = Instant::now();
        let mut suspects = Suspects::default();
        suspects.add(failure(0, Cause::Exited(1)), Some(2), now);
        assert!(judge(&mut suspects, now, &[1, 2], false).is_empty());
        suspects.add(failure(2, Cause::Exited(7)), None, now);
        assert_eq!(judge(&mut suspects, now, &[1], false), [2, 0]);
    }

    #[test]
    fn a_failure_of_its_own_is_judged_at_once() {
        let now = Instant::now();
        let mut suspects = Suspects::default();
        assert!(judge(&mut suspects, now, &[0], true).is_empty());
        suspects.add(failure(3, KILLED), None, now);
        assert_eq!(judge(&mut suspects, now, &[0, 1, 2], true), [3]);
        suspects.add(failure(2, Cause::Exited(4)), None, now);
        assert_eq!(judge(&mut suspects, now, &[0, 1], false), [2]);
    }

    #[test]
    fn nothing_is_held_back_for_longer_than_the_hold() {
        let now = Instant::now();
        let mut suspects = Suspects::default();
        suspects.add(failure(0, Cause::Exited(1)), Some(1), now);
        // Later ones do not put it off.
        suspects.add(failure(2, Cause::Exited(1)), Some(1), now + HOLD / 2);
        assert_eq!(suspects.deadline(), Some(now + HOLD));
        let nanosecond = Duration::from_nanos(1);
        let mut stuck = suspects.clone();
        assert!(judge(&mut suspects, now + HOLD - nanosecond, &[1], false).is_empty());
        assert_eq!(judge(&mut suspects, now + HOLD, &[1], false), [0, 2]);
        // One that is ending is waited for longer.
        assert!(judge(&mut stuck, now + HOLD, &[1], true).is_empty());
        assert_eq!(stuck.deadline(), Some(now + HOLD_MAX));
        assert!(judge(&mut stuck, now + HOLD_MAX - nanosecond, &[1], true).is_empty());
        assert_eq!(judge(&mut stuck, now + HOLD_MAX, &[1], true), [0, 2]);
        assert_eq!(stuck.deadline(), None);
    }

    #[test]
    fn the_end_of_a_pe_that_asked_for_it_is_no_failure_of_its_own() {
        let now = Instant::now();
        let asked = |pe| {
            let message = String::new();
            failure(pe, Cause::Abort { code: 0, message })
        };
        let mut suspects = Suspects::default();
        suspects.add(asked(1), None, now);
        suspects.add(failure(1, Cause::NotFinalized), None, now);
        suspects.add(failure(2, Cause::Exited(1)), Some(1), now);
        assert_eq!(judge(&mut suspects, now, &[0], false), [1, 2]);
        // The end of another PE is a failure of its own.
        suspects.add(asked(1), None, now);
        suspects.add(failure(0, Cause::NotFinalized), None, now);
        assert_eq!(judge(&mut suspects, now, &[2], false), [0, 1]);
    }

    #[test]
    fn among_equals_the_one_seen_first_is_first() {
        let now = Instant::now();
        let mut suspects = Suspects::default();
        for pe in [5, 3, 4] {
            suspects.add(failure(pe, Cause::Exited(1)), None, now);
        }
        assert_eq!(judge(&mut suspects, now, &[], false), [5, 3, 4]);
    }
}
