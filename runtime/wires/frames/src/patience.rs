//! How a thread waits for a peer.
//!
//! It polls, then it yields its core between polls, then it sleeps until a frame comes. If other threads want its core,
//! it sleeps early: on Linux 6.18 a thread that yields gets its core back after a whole time slice (milliseconds), but
//! a sleeping thread gets it soon after the frame. The number of threads that share the cores is unknown, because other
//! jobs and processes use them too. So the wait measures how long it was away from its core.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Ether;
use super::core::clock_ns;

/// How long a thread with a core of its own polls. Fitted.
const LOOKING_NS: u64 = 200_000;
/// How long a thread polls if others want its core. Fitted: longer than a running peer takes to answer.
const LOOKING_AMONG_OTHERS_NS: u64 = 20_000;
/// Polls with a yield between them, before a sleep.
const YIELDS: u32 = 200;
/// A thread that was away from its core for longer shares it with more than the agents of its own process, which take 3
/// to 15 us of it. Fitted.
const AWAY_NS: u64 = 50_000;
/// How long the core then counts as shared. Fitted: many time slices of the scheduler.
const GRANTED_NS: u64 = 100_000_000;

/// What waiting threads have measured about the cores.
#[derive(Debug, Default)]
pub(super) struct Cores {
    shared_until_ns: AtomicU64,
}

impl Cores {
    pub(super) fn are_shared(&self, now_ns: u64) -> bool {
        now_ns < self.shared_until_ns.load(Ordering::Relaxed)
    }

    /// Notes that a thread ran at these two times and wanted to run between them.
    pub(super) fn between(&self, before_ns: u64, now_ns: u64) {
        if now_ns.saturating_sub(before_ns) > AWAY_NS {
            let until_ns = now_ns.saturating_add(GRANTED_NS);
            self.shared_until_ns.store(until_ns, Ordering::Relaxed);
        }
    }
}

/// One wait.
#[derive(Debug, Default)]
pub(super) struct Patience {
    /// When it began and when it last continued.
    times_ns: Option<(u64, u64)>,
    yields: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Look,
    GiveAway,
    Sleep,
}

impl Patience {
    pub(super) fn wait(&mut self, wire: &Ether) {
        let has_core = wire.limits.looks > 0;
        match self.step(clock_ns(), has_core, &wire.cores) {
            Step::Look => std::hint::spin_loop(),
            Step::GiveAway => std::thread::yield_now(),
            Step::Sleep => {
                let limit = wire.shared.lock().idle_time(super::LOOK_AGAIN);
                wire.shared.wait_for_frames(limit);
                self.slept(clock_ns());
            }
        }
    }

    fn step(&mut self, now_ns: u64, has_core: bool, cores: &Cores) -> Step {
        let (begin_ns, last_ns) = *self.times_ns.get_or_insert((now_ns, now_ns));
        cores.between(last_ns, now_ns);
        self.times_ns = Some((begin_ns, now_ns));
        let are_shared = cores.are_shared(now_ns);
        let looking_ns = match (has_core, are_shared) {
            (false, _) => 0,
            (true, false) => LOOKING_NS,
            (true, true) => LOOKING_AMONG_OTHERS_NS,
        };
        if now_ns.saturating_sub(begin_ns) < looking_ns {
            return Step::Look;
        }
        if self.yields < YIELDS && !are_shared {
            self.yields += 1;
            return Step::GiveAway;
        }
        Step::Sleep
    }

    /// Notes that it was away because it slept.
    fn slept(&mut self, now_ns: u64) {
        if let Some((_, last_ns)) = &mut self.times_ns {
            *last_ns = now_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of steps of each kind in a wait in which each look takes so long.
    fn steps(look_ns: u64, has_core: bool, cores: &Cores) -> [usize; 3] {
        let mut patience = Patience::default();
        let mut counts = [0; 3];
        for at in 0..1_000 {
            let step = patience.step(1_000_000 + at * look_ns, has_core, cores);
            counts[step as usize] += 1;
        }
        counts
    }

    #[test]
    fn who_has_a_core_looks_long_before_it_sleeps() {
        let cores = Cores::default();
        assert_eq!(steps(1_000, true, &cores), [200, 200, 600]);
        assert_eq!(steps(1_000, false, &cores), [0, 200, 800]);
    }

    #[test]
    fn who_was_away_for_long_sleeps_soon() {
        let cores = Cores::default();
        assert_eq!(steps(AWAY_NS + 1, true, &cores), [1, 0, 999]);
        // The next wait knows it from its beginning.
        assert_eq!(steps(1_000, true, &cores), [20, 0, 980]);
        assert_eq!(steps(1_000, false, &cores), [0, 0, 1_000]);
    }

    #[test]
    fn what_was_seen_long_ago_is_forgotten() {
        let cores = Cores::default();
        cores.between(1_000, 2_000 + AWAY_NS);
        assert!(cores.are_shared(3_000 + AWAY_NS));
        assert!(!cores.are_shared(2_000 + AWAY_NS + GRANTED_NS));
    }

    #[test]
    fn a_sleep_is_no_sign_of_others() {
        let (cores, mut patience) = (Cores::default(), Patience::default());
        assert_eq!(patience.step(1, true, &cores), Step::Look);
        patience.slept(1_000_000);
        patience.step(1_001_000, true, &cores);
        assert!(!cores.are_shared(1_001_000));
    }
}
