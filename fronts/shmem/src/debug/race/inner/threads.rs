//! The threads of this PE: what each of them knows, and how they learn of each other.
//!
//! A new thread knows what the thread knew that started it, and a joined thread has passed on all it knew. In between,
//! threads pass on knowledge by *objects*: whatever has an address, or a number that nothing has as its address.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hostwire::PeId;

use super::super::clock::{Clock, Epoch, THREADS_MAX, Who};
use super::Inner;
use crate::fail::say;

/// What a thread knows, and what it has told.
#[derive(Debug)]
pub(super) struct Thread {
    /// About its own PE: the complete operations.
    pub(super) clock: Clock,
    /// The same, as it was given to others.
    shared: Option<Arc<Clock>>,
    /// Counts its changes.
    version: u64,
    /// The version that each PE has got.
    told: Box<[u64]>,
    /// A word that it looked at, perhaps to wait for it.
    pub(super) looked_at: Option<usize>,
    /// The last epoch in which it did anything.
    pub(super) used: Epoch,
    is_over: bool,
    /// What relaxed atomics have read, for a fence behind them.
    read: Option<Clock>,
    /// What it knew at its last fence, for relaxed atomics behind that.
    fenced: Option<Clock>,
}

impl Thread {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            told: vec![0; clock.pes() as usize].into(),
            clock,
            shared: None,
            version: 1,
            looked_at: None,
            used: 0,
            is_over: false,
            read: None,
            fenced: None,
        }
    }

    /// Changes what it knows; `change` says whether that is news.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Clock) -> bool) {
        if change(&mut self.clock) {
            self.version += 1;
            self.shared = None;
        }
    }

    pub(super) fn learn(&mut self, known: &Clock) {
        self.change(|clock| clock.join(known));
    }

    pub(super) fn shared(&mut self) -> Arc<Clock> {
        let clock = &self.clock;
        let shared = self.shared.get_or_insert_with(|| Arc::new(clock.clone()));
        Arc::clone(shared)
    }

    /// What it knows, if `pe` has not got this version.
    pub(super) fn news_for(&mut self, pe: PeId) -> Option<Clock> {
        let told = self.told.get_mut(pe as usize)?;
        let is_news = core::mem::replace(told, self.version) != self.version;
        is_news.then(|| self.clock.clone())
    }
}

/// How an atomic of the language is ordered, and what it does.
#[derive(Debug, Clone, Copy)]
pub(in crate::debug::race) struct Atomic {
    pub(in crate::debug::race) reads: bool,
    pub(in crate::debug::race) writes: bool,
    /// The order, by its number in C.
    pub(in crate::debug::race) order: u8,
}

impl Atomic {
    fn acquires(self) -> bool {
        matches!(self.order, 1 | 2 | 4 | 5)
    }

    fn releases(self) -> bool {
        matches!(self.order, 3..=5)
    }
}

/// Threads that go on when so many have come.
#[derive(Debug, Default)]
struct Barrier {
    threads: u64,
    arrivals: u64,
    /// By round: what the threads that come know, and how many have left.
    rounds: BTreeMap<u64, (Clock, u64)>,
}

/// What threads tell each other by.
#[derive(Debug, Default)]
pub(super) struct Syncs {
    objects: HashMap<u64, Clock>,
    barriers: HashMap<u64, Barrier>,
    /// Threads that can be joined, by what the system calls them.
    handles: HashMap<u64, u16>,
    is_full: bool,
}

impl Inner {
    /// From now on, until the lock is given up, this is the calling thread.
    pub(in crate::debug::race) fn enter(&mut self, thread: u16) {
        self.now = usize::from(thread).min(self.threads.len() - 1);
    }

    pub(super) fn who(&self) -> Who {
        Who {
            pe: self.me,
            thread: self.now as u16,
        }
    }

    pub(super) fn thread(&mut self) -> &mut Thread {
        &mut self.threads[self.now]
    }

    /// What the thread has done by now, for threads that learn of it.
    fn told(&mut self) -> Clock {
        let mut clock = self.thread().clock.clone();
        clock.pass(self.who(), self.epoch);
        self.epoch += 1;
        clock
    }

    /// The number of a thread that begins with this knowledge.
    fn begin(&mut self, clock: Clock) -> u16 {
        // A number is used again when all that was done under it is known: then both are like one thread.
        let is_known = |(number, thread): &(usize, &Thread)| {
            let who = Who {
                pe: self.me,
                thread: *number as u16,
            };
            *number > 0 && thread.is_over && clock.passed(who) >= thread.used
        };
        let all = || self.threads.iter().enumerate();
        let free = all().find(is_known).map(|(number, _)| number);
        let number = match free {
            Some(number) => number,
            None if self.threads.len() < usize::from(THREADS_MAX) => {
                self.threads.push(Thread::new(clock));
                return (self.threads.len() - 1) as u16;
            }
            None => {
                let over = all().find(|(number, thread)| *number > 0 && thread.is_over);
                let number = over.map_or(0, |(number, _)| number);
                if !core::mem::replace(&mut self.syncs.is_full, true) {
                    say(&format!(
                        "SHMEM_DEBUG=race tells {THREADS_MAX} threads or tasks of a PE apart that know \
                         nothing of each other, and there are more: it may miss races of further ones"
                    ));
                }
                number
            }
        };
        // What was done by this number before counts as done by the same thread.
        let (used, mut clock) = (self.threads[number].used, clock);
        if number == 0 {
            clock.join(&self.threads[0].clock);
        }
        self.threads[number] = Thread {
            used,
            ..Thread::new(clock)
        };
        number as u16
    }

    /// This thread starts another one: its number.
    pub(in crate::debug::race) fn fork(&mut self) -> u16 {
        let clock = self.told();
        self.begin(clock)
    }

    /// A thread begins whose start was not seen here. It gets its knowledge from `object`.
    pub(in crate::debug::race) fn adopt(&mut self, object: u64) -> u16 {
        let known = self.syncs.objects.get(&object).cloned();
        self.begin(known.unwrap_or_else(|| Clock::new(self.pes)))
    }

    /// The thread that calls can be joined by this handle.
    pub(in crate::debug::race) fn can_be_joined(&mut self, handle: u64) {
        self.syncs.handles.insert(handle, self.who().thread);
    }

    /// The thread with this handle is over, and the one that calls knows that.
    pub(in crate::debug::race) fn join(&mut self, handle: u64) {
        let Some(number) = self.syncs.handles.remove(&handle) else {
            return;
        };
        let now = core::mem::replace(&mut self.now, usize::from(number));
        let known = self.told();
        self.thread().is_over = number > 0;
        self.now = now;
        self.learn(&known);
    }

    /// The thread that calls does nothing any more, and nobody joins it.
    pub(in crate::debug::race) fn end(&mut self) {
        self.thread().is_over = self.now > 0;
    }

    pub(in crate::debug::race) fn acquire(&mut self, object: u64) {
        if let Some(known) = self.syncs.objects.get(&object) {
            self.threads[self.now].learn(known);
        }
    }

    pub(in crate::debug::race) fn release(&mut self, object: u64) {
        let known = self.told();
        match self.syncs.objects.get_mut(&object) {
            Some(old) => _ = old.join(&known),
            None => _ = self.syncs.objects.insert(object, known),
        }
    }

    pub(in crate::debug::race) fn forget(&mut self, object: u64) {
        self.syncs.objects.remove(&object);
        self.syncs.barriers.remove(&object);
    }

    /// Comes to a barrier of so many threads. Returns how often all had come before.
    pub(in crate::debug::race) fn arrive(&mut self, object: u64, threads: u64) -> u64 {
        let known = self.told();
        let barrier = self.syncs.barriers.entry(object).or_default();
        barrier.threads = threads.max(1);
        let round = barrier.arrivals / barrier.threads;
        barrier.arrivals += 1;
        let empty = || (Clock::new(known.pes()), 0);
        barrier
            .rounds
            .entry(round)
            .or_insert_with(empty)
            .0
            .join(&known);
        round
    }

    /// Leaves it.
    pub(in crate::debug::race) fn leave(&mut self, object: u64, round: u64) {
        let Some(barrier) = self.syncs.barriers.get_mut(&object) else {
            return;
        };
        if let Some((known, left)) = barrier.rounds.get_mut(&round) {
            self.threads[self.now].learn(known);
            *left += 1;
            if *left >= barrier.threads {
                barrier.rounds.remove(&round);
            }
        }
    }

    /// An atomic of the language on the object at this address. Nobody else is at it.
    pub(in crate::debug::race) fn language(&mut self, object: u64, atomic: Atomic) {
        let Atomic { reads, writes, .. } = atomic;
        if reads && let Some(known) = self.syncs.objects.get(&object) {
            let thread = &mut self.threads[self.now];
            match &mut thread.read {
                _ if atomic.acquires() => thread.learn(known),
                Some(read) => _ = read.join(known),
                None => thread.read = Some(known.clone()),
            }
        }
        if !writes {
            return;
        }
        let tells = match atomic.releases() {
            true => Some(self.told()),
            false => self.thread().fenced.clone(),
        };
        // A change passes on the knowledge behind the old value; a replacement does not.
        if !reads {
            self.syncs.objects.remove(&object);
        }
        if let Some(known) = tells {
            match self.syncs.objects.get_mut(&object) {
                Some(old) => _ = old.join(&known),
                None => _ = self.syncs.objects.insert(object, known),
            }
        }
    }

    /// A fence of the language.
    pub(in crate::debug::race) fn language_fence(&mut self, atomic: Atomic) {
        if atomic.acquires()
            && let Some(read) = self.thread().read.take()
        {
            self.learn(&read);
        }
        if atomic.releases() {
            let known = self.told();
            self.thread().fenced = Some(known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner() -> Inner {
        Inner::new(0, 0, 2)
    }

    /// Whether the thread that calls knows what thread `of` has done so far.
    fn knows(inner: &Inner, of: u16) -> bool {
        let who = Who { pe: 0, thread: of };
        inner.threads[inner.now].clock.passed(who) >= inner.threads[usize::from(of)].used
    }

    /// Thread `number` does something.
    fn works(inner: &mut Inner, number: u16) {
        inner.enter(number);
        inner.thread().used = inner.epoch;
    }

    #[test]
    fn a_thread_knows_its_beginning_and_who_joins_it_its_end() {
        let mut inner = inner();
        works(&mut inner, 0);
        let one = inner.fork();
        works(&mut inner, 0);
        inner.enter(one);
        inner.can_be_joined(77);
        assert!(!knows(&inner, 0), "what was done behind the start");
        works(&mut inner, one);
        inner.enter(0);
        assert!(!knows(&inner, one));
        inner.join(78);
        assert!(!knows(&inner, one), "another handle");
        inner.join(77);
        assert!(knows(&inner, one));
    }

    #[test]
    fn a_number_serves_again_for_who_knows_its_end() {
        let mut inner = inner();
        let one = inner.fork();
        let two = inner.fork();
        assert_eq!((one, two), (1, 2));
        works(&mut inner, one);
        inner.can_be_joined(5);
        inner.enter(0);
        inner.join(5);
        inner.enter(two);
        assert_eq!(
            inner.fork(),
            3,
            "thread 2 does not know that thread 1 is over"
        );
        inner.enter(0);
        assert_eq!(inner.fork(), one);
    }

    #[test]
    fn too_many_threads_are_bounded() {
        let mut inner = inner();
        for number in 1..THREADS_MAX {
            assert_eq!(inner.fork(), number);
        }
        assert_eq!(inner.fork(), 0);
        works(&mut inner, 9);
        inner.end();
        inner.enter(0);
        assert_eq!(inner.fork(), 9);
    }

    #[test]
    fn a_barrier_tells_of_its_own_round_only() {
        let mut inner = inner();
        let one = inner.fork();
        works(&mut inner, 0);
        assert_eq!(inner.arrive(8, 2), 0);
        works(&mut inner, one);
        assert_eq!(inner.arrive(8, 2), 0);
        inner.leave(8, 0);
        assert!(knows(&inner, 0));
        works(&mut inner, one);
        assert_eq!(inner.arrive(8, 2), 1);
        inner.enter(0);
        inner.leave(8, 0);
        assert!(!knows(&inner, one), "it has come to the next round");
        assert_eq!(inner.arrive(8, 2), 1);
        inner.leave(8, 1);
        assert!(knows(&inner, one));
        assert_eq!(inner.syncs.barriers[&8].rounds.len(), 1);
    }

    #[test]
    fn atomics_tell_by_their_order() {
        let atomic = |reads, writes, order| Atomic {
            reads,
            writes,
            order,
        };
        let [store, load] = [(false, true), (true, false)];
        for (write, fence, read, behind, knows_it) in [
            (3, false, 2, false, true),
            (5, false, 5, false, true),
            (0, false, 2, false, false),
            (3, false, 0, false, false),
            (3, false, 0, true, true),
            (0, true, 2, false, true),
            (0, true, 0, true, true),
        ] {
            let mut inner = inner();
            let one = inner.fork();
            works(&mut inner, 0);
            if fence {
                inner.language_fence(atomic(false, false, 3));
            }
            inner.language(8, atomic(store.0, store.1, write));
            inner.enter(one);
            inner.language(8, atomic(load.0, load.1, read));
            if behind {
                inner.language_fence(atomic(false, false, 2));
            }
            assert_eq!(
                knows(&inner, 0),
                knows_it,
                "{write} {fence} {read} {behind}"
            );
        }
    }

    #[test]
    fn who_adds_hands_on_and_who_stores_does_not() {
        for (reads, knows_it) in [(true, true), (false, false)] {
            let mut inner = inner();
            let (one, two) = (inner.fork(), inner.fork());
            works(&mut inner, 0);
            let release = Atomic {
                reads: false,
                writes: true,
                order: 3,
            };
            inner.language(8, release);
            inner.enter(one);
            inner.language(
                8,
                Atomic {
                    reads,
                    writes: true,
                    order: 0,
                },
            );
            inner.enter(two);
            inner.language(
                8,
                Atomic {
                    reads: true,
                    writes: false,
                    order: 2,
                },
            );
            assert_eq!(knows(&inner, 0), knows_it);
        }
    }
}
