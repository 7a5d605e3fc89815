//! The one waiting strategy: spin, then yield, then sleep.
//!
//! Two PEs on two cores must see nanoseconds, and eight on two cores must not collapse.
//! So a wait spins for about as long as a cache line needs to cross the machine, then yields the core,
//! then sleeps on the doorbell of its PE until a store of a peer rings it. Sleeps are bounded: between
//! them the waiter checks whether the awaited peers are alive. So no wait hangs without an error, and
//! a damaged doorbell costs milliseconds, not a hang.

use core::time::Duration;

use crate::sync::{AtomicU32, Ordering, fence, heavy_fence, light_fence};

/// How often to spin and to yield before sleeping. All values are fitted: see
/// `docs/decisions/2026-11-20-waiting.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitLimits {
    /// Polls back to back.
    pub spins: u32,
    /// Polls with a CPU pause between them.
    pub pauses: u32,
    /// Polls with a poll of the wire between them: for wires on which data arrives only when the wire
    /// is polled.
    pub looks: u32,
    /// Polls with the core given away between them.
    pub yields: u32,
    /// First sleep; each further one is twice as long.
    pub sleep_min: Duration,
    /// Longest sleep. Bounds how late the death of a peer is noticed.
    pub sleep_max: Duration,
}

impl WaitLimits {
    /// Every PE has a core of its own.
    pub const DEDICATED: Self = Self {
        spins: 4_000,
        pauses: 2_000,
        looks: 0,
        yields: 200,
        sleep_min: Duration::from_millis(1),
        sleep_max: Duration::from_millis(100),
    };
    /// PEs share cores: the awaited peer may need this one.
    pub const SHARED: Self = Self {
        spins: 100,
        pauses: 0,
        yields: 200,
        ..Self::DEDICATED
    };
    /// Waiting costs only an event: for simulated time.
    pub const SLEEP_ONLY: Self = Self {
        spins: 0,
        pauses: 0,
        looks: 0,
        yields: 0,
        ..Self::DEDICATED
    };

    /// The limits for `local_pes` PEs on the CPUs this process may use.
    pub fn for_pes(local_pes: u32) -> Self {
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
        // A PE bound to one CPU sees only that one: ask the machine then.
        let cpus = if cpus == 1 {
            online_cpus().max(1)
        } else {
            cpus
        };
        if local_pes as usize <= cpus {
            Self::DEDICATED
        } else {
            Self::SHARED
        }
    }

    /// The limits for `local_pes` PEs on a wire that makes progress only when it is polled: a waiting
    /// PE polls it early.
    pub fn looking(local_pes: u32) -> Self {
        let local = Self::for_pes(local_pes);
        let (looks, yields) = match local == Self::DEDICATED {
            true => (LOOKS, LOOK_YIELDS),
            false => (0, local.yields),
        };
        Self {
            spins: LOOK_SPINS,
            pauses: 0,
            looks,
            yields,
            ..local
        }
    }

    /// The limits of a PE that waits on two wires at a time. A wire that has to be polled sets the
    /// pace.
    pub fn joined(self, other: Self) -> Self {
        Self {
            spins: self.spins.min(other.spins),
            pauses: self.pauses.min(other.pauses),
            looks: self.looks.max(other.looks),
            yields: self.yields.max(other.yields),
            sleep_min: self.sleep_min.min(other.sleep_min),
            sleep_max: self.sleep_max.min(other.sleep_max),
        }
    }
}

fn online_cpus() -> usize {
    // SAFETY: `sysconf` with a constant name has no preconditions.
    let n = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    usize::try_from(n).unwrap_or(1)
}

/// The action before the next poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitStep {
    /// Poll again at once.
    Spin,
    /// Poll again after a CPU pause.
    Pause,
    /// Look at the wire first.
    Look,
    /// Make progress for others first.
    Work,
    /// Give the core away first.
    Yield,
    /// Sleep this long, without a wake-up.
    Nap(Duration),
    /// Arm the doorbell, poll once more, and sleep at most this long.
    Sleep(Duration),
}

/// How often a wait on a dedicated core polls the wire before it yields between polls. Fitted to about
/// 200 us.
const LOOKS: u32 = 4000;
/// How many polls with a yield follow before it sleeps. Fitted to about a millisecond.
const LOOK_YIELDS: u32 = 1000;
const LOOK_SPINS: u32 = 16;

/// Polls of the wire per check for other work.
const LOOKS_PER_WORK: u32 = 16;
/// Unneeded rings before a wait takes naps instead.
const RINGS_IN_VAIN_MAX: u32 = 2;
/// Naps before it asks to be rung again.
const NAPS_PER_SLEEP: u32 = 16;
/// Short compared with a busy stream of puts, long compared with a system call.
const NAP: Duration = Duration::from_micros(50);
/// The time between two rings from which on a ring costs less than the naps that would stand for it.
const RARE: Duration = NAP.saturating_mul(NAPS_PER_SLEEP);

/// The state of one wait.
#[derive(Debug, Clone)]
pub struct Backoff {
    limits: WaitLimits,
    polls: u32,
    sleep: Duration,
    rung_in_vain: u32,
}

impl Backoff {
    /// A wait that begins.
    #[inline]
    pub fn new(limits: WaitLimits) -> Self {
        Self {
            limits,
            polls: 0,
            sleep: limits.sleep_min,
            rung_in_vain: 0,
        }
    }

    /// A sleep of `slept` ended without the awaited event: because a store of a peer rang, or at its limit. A peer that stores all
    /// the time pays for every ring. So after some rings in a row that came soon, the sleeper stops asking for rings and polls by
    /// itself: see [`WaitStep::Nap`]. Rings that are rare cost less than such naps.
    #[inline]
    pub fn woke(&mut self, rung: bool, slept: Duration) {
        if rung && slept < RARE {
            self.rung_in_vain = self.rung_in_vain.saturating_add(1);
            self.sleep = self.limits.sleep_min;
        } else {
            self.rung_in_vain = 0;
        }
    }

    /// Something other than the awaited event came. More is likely to follow, so the wait polls
    /// closely again.
    #[inline]
    pub fn came(&mut self) {
        let WaitLimits { spins, pauses, .. } = self.limits;
        self.polls = self.polls.min(spins.saturating_add(pauses));
        self.sleep = self.limits.sleep_min;
    }

    /// The next step.
    #[inline]
    pub fn step(&mut self) -> WaitStep {
        let WaitLimits {
            spins,
            pauses,
            looks,
            yields,
            sleep_max,
            ..
        } = self.limits;
        let polls = self.polls;
        // Wraps around below the maximum, so that the last step continues to sleep.
        self.polls = polls
            .checked_add(1)
            .unwrap_or(u32::MAX - NAPS_PER_SLEEP + 1);
        if polls < spins {
            WaitStep::Spin
        } else if polls - spins < pauses {
            WaitStep::Pause
        } else if polls - spins - pauses < looks {
            match polls.is_multiple_of(LOOKS_PER_WORK) {
                true => WaitStep::Work,
                false => WaitStep::Look,
            }
        } else if polls - spins - pauses - looks < yields {
            WaitStep::Yield
        } else if self.rung_in_vain > RINGS_IN_VAIN_MAX && !polls.is_multiple_of(NAPS_PER_SLEEP) {
            WaitStep::Nap(NAP)
        } else {
            let sleep = self.sleep;
            self.sleep = (sleep * 2).min(sleep_max);
            WaitStep::Sleep(sleep)
        }
    }
}

/// The longest sleep of a PE whose peers cannot wake it: see [`crate::window::Bell::None`].
pub const UNRUNG_SLEEP_MAX: Duration = Duration::from_millis(1);

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;
/// Set by a peer that found the PE dead.
const DEAD: u32 = 2;

/// The word of a PE that says whether it sleeps. It lies in the PE's own segment;
/// any peer may ring it.
#[derive(Debug, Clone, Copy)]
pub struct Doorbell<'a>(&'a AtomicU32);

impl<'a> Doorbell<'a> {
    /// The doorbell at `word`.
    #[inline(always)]
    pub fn new(word: &'a AtomicU32) -> Self {
        Self(word)
    }

    /// Announces that this PE is about to sleep. Poll once more after this: stores made before it are
    /// visible then, and stores made after it will ring.
    ///
    /// This is not undone: a PE that then finds its data leaves the doorbell armed, and the next store
    /// rings it once without need. So several threads of a PE can sleep on one doorbell.
    ///
    /// Returns how long it is safe to sleep at most.
    pub fn arm(self, wanted: Duration) -> Duration {
        self.0.store(ASLEEP, Ordering::SeqCst);
        if heavy_fence() {
            wanted
        } else {
            // No barrier: a ring may be missed, so look often.
            wanted.min(UNRUNG_SLEEP_MAX)
        }
    }

    /// As [`arm`](Self::arm), for peers that [`call`](Self::call). These are on other kernels, which
    /// the barrier of this kernel does not reach.
    pub fn arm_for_calls(self) {
        self.0.store(ASLEEP, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Whether the PE sleeps and has to be woken by something other than this word. Only one caller
    /// gets `true`. Earlier stores are then visible to the PE.
    pub fn call(self) -> bool {
        fence(Ordering::SeqCst);
        self.is_armed()
            && self
                .0
                .compare_exchange(ASLEEP, AWAKE, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
    }

    /// Whether no peer has rung since it was armed.
    pub fn is_armed(self) -> bool {
        self.0.load(Ordering::SeqCst) == ASLEEP
    }

    /// Whether the PE does not sleep.
    pub fn is_awake(self) -> bool {
        self.0.load(Ordering::Relaxed) == AWAKE
    }

    /// Sleeps until a peer rings, or for `limit`.
    ///
    /// Returns whether a peer rang.
    #[cfg(not(loom))]
    pub fn sleep(self, limit: Duration) -> bool {
        crate::futex::wait(self.0, ASLEEP, limit);
        self.is_awake()
    }

    /// Whether there is nothing to do for this PE. If it goes to sleep meanwhile, it does not miss
    /// stores made before this.
    #[inline(always)]
    pub fn is_at_rest(self) -> bool {
        light_fence();
        self.0.load(Ordering::Relaxed) == AWAKE
    }

    /// Whether a peer has marked the PE as dead. Any peer may have written this, so it is only a
    /// reason for a check.
    #[inline(always)]
    pub fn says_dead(self) -> bool {
        self.0.load(Ordering::Relaxed) == DEAD
    }

    /// Makes [`is_at_rest`](Self::is_at_rest) false permanently.
    pub fn mark_dead(self) {
        self.0.store(DEAD, Ordering::Relaxed);
    }

    /// Wakes the PE if it sleeps. Everything stored before is visible to it then.
    #[inline(always)]
    pub fn notify(self) {
        if !self.is_at_rest() {
            self.ring();
        }
    }

    #[cold]
    #[inline(never)]
    fn ring(self) {
        // A mark of death stays: a PE that has not seen the death must not remove it.
        let woken = self
            .0
            .compare_exchange(ASLEEP, AWAKE, Ordering::SeqCst, Ordering::Relaxed);
        if woken.is_ok() {
            #[cfg(not(loom))]
            crate::futex::wake(self.0);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wait_spins_then_pauses_then_yields_then_sleeps_longer_and_longer() {
        let limits = WaitLimits {
            spins: 1,
            pauses: 1,
            looks: 0,
            yields: 1,
            sleep_min: Duration::from_millis(1),
            sleep_max: Duration::from_millis(3),
        };
        let mut backoff = Backoff::new(limits);
        let steps: Vec<_> = (0..6).map(|_| backoff.step()).collect();
        let ms = Duration::from_millis;
        assert_eq!(
            steps,
            [
                WaitStep::Spin,
                WaitStep::Pause,
                WaitStep::Yield,
                WaitStep::Sleep(ms(1)),
                WaitStep::Sleep(ms(2)),
                WaitStep::Sleep(ms(3)),
            ]
        );
    }

    #[test]
    fn a_wait_on_a_wire_that_has_to_be_looked_at_works_for_others_now_and_then() {
        let limits = WaitLimits {
            looks: 2 * LOOKS_PER_WORK,
            yields: 1,
            ..WaitLimits::SLEEP_ONLY
        };
        let mut backoff = Backoff::new(limits);
        let steps: Vec<_> = (0..limits.looks).map(|_| backoff.step()).collect();
        let count = |step| steps.iter().filter(|s| **s == step).count();
        let worked = count(WaitStep::Work);
        assert_eq!(
            (worked, count(WaitStep::Look)),
            (2, limits.looks as usize - 2)
        );
        assert_eq!(backoff.step(), WaitStep::Yield);
        backoff.came();
        assert!(matches!(backoff.step(), WaitStep::Work | WaitStep::Look));
    }

    /// How many of as many steps as there are for each sleep among naps are sleeps.
    fn sleeps(backoff: &mut Backoff) -> usize {
        let steps = (0..NAPS_PER_SLEEP).map(|_| backoff.step());
        steps
            .filter(|step| matches!(step, WaitStep::Sleep(_)))
            .count()
    }

    #[test]
    fn rings_in_vain_turn_sleeps_into_naps_until_they_become_rare() {
        let all = NAPS_PER_SLEEP as usize;
        for end in [(true, RARE), (false, Duration::ZERO)] {
            let mut backoff = Backoff::new(WaitLimits::SLEEP_ONLY);
            for _ in 0..=RINGS_IN_VAIN_MAX {
                assert_eq!(sleeps(&mut backoff), all);
                backoff.woke(true, Duration::ZERO);
            }
            assert_eq!(sleeps(&mut backoff), 1);
            backoff.woke(end.0, end.1);
            assert_eq!(sleeps(&mut backoff), all, "{end:?}");
        }
    }

    #[test]
    fn so_they_do_after_more_polls_than_can_be_counted() {
        let mut backoff = Backoff::new(WaitLimits::SLEEP_ONLY);
        backoff.rung_in_vain = RINGS_IN_VAIN_MAX + 1;
        backoff.polls = u32::MAX - 3;
        let steps: Vec<_> = (0..3 * NAPS_PER_SLEEP).map(|_| backoff.step()).collect();
        let sleeps = steps.iter().filter(|s| matches!(s, WaitStep::Sleep(_)));
        assert_eq!(sleeps.count(), 3, "{steps:?}");
    }

    #[test]
    fn a_ring_ends_a_sleep() {
        let word = AtomicU32::new(AWAKE);
        let data = AtomicU32::new(0);
        let begin = std::time::Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let bell = Doorbell::new(&word);
                loop {
                    let limit = bell.arm(Duration::from_secs(60));
                    if data.load(Ordering::Acquire) == 1 {
                        break;
                    }
                    bell.sleep(limit);
                }
            });
            std::thread::sleep(Duration::from_millis(20));
            data.store(1, Ordering::Release);
            Doorbell::new(&word).notify();
        });
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    /// No interleaving of "store, look for a sleeper" with "say that I sleep, look
    /// for data" leaves the sleeper asleep with data waiting.
    #[test]
    fn no_wake_up_is_lost() {
        loom::model(|| {
            let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(AWAKE)));
            let writer = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || {
                    shared.0.store(1, Ordering::Release);
                    Doorbell::new(&shared.1).notify();
                })
            };
            let bell = Doorbell::new(&shared.1);
            let _ = bell.arm(Duration::from_secs(1));
            if shared.0.load(Ordering::Acquire) == 0 {
                // The futex: sleeps while the word says so.
                while shared.1.load(Ordering::SeqCst) == ASLEEP {
                    loom::thread::yield_now();
                }
                assert_eq!(shared.0.load(Ordering::Acquire), 1);
            }
            writer.join().unwrap();
        });
    }

    /// The same between two kernels: a sleeper is called.
    #[test]
    fn no_call_is_lost() {
        loom::model(|| {
            let words = || AtomicU32::new(0);
            let shared = Arc::new((words(), AtomicU32::new(AWAKE), words()));
            let writer = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || {
                    shared.0.store(1, Ordering::Release);
                    if Doorbell::new(&shared.1).call() {
                        // The interrupt.
                        shared.2.store(1, Ordering::Release);
                    }
                })
            };
            Doorbell::new(&shared.1).arm_for_calls();
            if shared.0.load(Ordering::Acquire) == 0 {
                while shared.2.load(Ordering::Acquire) == 0 {
                    loom::thread::yield_now();
                }
                assert_eq!(shared.0.load(Ordering::Acquire), 1);
            }
            writer.join().unwrap();
        });
    }
}
