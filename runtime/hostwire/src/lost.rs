//! Which peers are lost, and the thread that finds out.
//!
//! An operation that never waits does not check whether its peer lives, and a program may consist only
//! of such operations. So a thread of each PE checks four times a second, and the operations read its
//! results.
//!
//! A check of a peer on the same host is a system call, and its cost grows with the number of PEs. If
//! each PE checked all others, hundreds of PEs would do nothing else. So each PE checks the few that
//! follow it. A PE that finds a loss tells all others: through the membership of the host, where there
//! is one, else by a store to each. In a large job it tells its host and one PE of each other host; so does a PE that leaves.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_bootstrap::{Node, Nodes};
use hostwire_transport::fork_guard::ProcessWords;
use hostwire_transport::sync::AtomicU64;
use hostwire_transport::{
    Entry, Loss, Membership, PeId, Reach, Route, TransportError, Window, Wire, worker,
};

use crate::counters::Publisher;
use crate::error::{Error, Result};
use crate::layout::{LOST, Layout, Mail};
use crate::status::Obituaries;

/// How far a PE is on its way out of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Departure {
    /// Not at all.
    Here = 0,
    /// It will start nothing more.
    Leaving = 1,
    /// It knows that all PEs are leaving: its end is no loss.
    Gone = 2,
}

const INTERVAL: Duration = Duration::from_millis(250);
/// How many living peers of its host a PE checks; others tell it of the rest. So each PE is checked by
/// another one, unless this many PEs before it have stopped at once.
const LOOKED_AT: usize = 8;
/// With up to this many PEs on a host, a wait checks all PEs that it needs. With more, it leaves this
/// to the threads.
const LOOKED_AT_IN_WAITS_MAX: u32 = 64;

/// How a PE was lost.
#[derive(Debug, Default)]
struct End {
    loss: Option<Loss>,
    /// Whether a wait for any PE has reported it.
    is_reported: bool,
}

/// In a job of more PEs, one PE of each other host is told of a loss, and tells the others of its host.
const TOLD_MAX: u32 = 64;

/// See the [module text](self). A lost PE stays lost. In a copy of the process all PEs count as lost,
/// also the PE itself: so the short ways are not taken there.
#[derive(Debug)]
pub(crate) struct Lost {
    /// 1 while no PE is lost; then, by PE, 1 while it is not lost.
    there: ProcessWords,
    /// What else is known of those that are lost: few.
    ends: Mutex<BTreeMap<PeId, End>>,
    reach: Option<Arc<Reach>>,
    layout: Layout,
    nodes: Nodes,
    obituaries: Obituaries,
    /// Threads of all PEs look for losses.
    watched: AtomicBool,
}

impl Lost {
    pub(crate) fn new(
        wire: &Arc<dyn Wire>,
        layout: Layout,
        nodes: Nodes,
        obituaries: Obituaries,
    ) -> Result<Self> {
        let there = ProcessWords::new(1 + wire.pes() as usize)?;
        for word in &*there {
            word.store(1, Ordering::Relaxed);
        }
        Ok(Self {
            there,
            ends: Mutex::default(),
            reach: wire.reach().cloned(),
            layout,
            nodes,
            obituaries,
            watched: AtomicBool::new(false),
        })
    }

    /// Whether threads look for losses from now on, in this PE and in all others.
    pub(crate) fn set_watched(&self, watched: bool) {
        self.watched.store(watched, Ordering::Relaxed);
    }

    fn membership(&self) -> Option<&Membership> {
        self.reach.as_ref().and_then(|reach| reach.membership())
    }

    /// Whether no PE is known to be lost.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.there.first().load(Ordering::Relaxed) != 0
    }

    /// Whether `pe` is known to be lost.
    #[inline(always)]
    pub(crate) fn contains(&self, pe: PeId) -> bool {
        !self.is_empty()
            && self
                .there_of(pe)
                .is_some_and(|there| there.load(Ordering::Relaxed) == 0)
    }

    fn there_of(&self, pe: PeId) -> Option<&AtomicU64> {
        self.there.get(1 + pe as usize)
    }

    /// From now on it is lost. Whether that was known.
    fn add(&self, there: &AtomicU64) -> bool {
        let was_known = there.swap(0, Ordering::Relaxed) == 0;
        self.there.first().store(0, Ordering::Relaxed);
        was_known
    }

    /// The error that `pe` is lost.
    pub(crate) fn error(&self, pe: PeId) -> Error {
        let loss = self.ends().get(&pe).and_then(|end| end.loss);
        Error::PeerLost {
            pe,
            loss: loss.unwrap_or_default(),
        }
    }

    /// Notes that `pe` has ended, as the wire says. No other PE has to be told.
    pub(crate) fn end(&self, pe: PeId, loss: Loss) {
        if let Some(there) = self.there_of(pe) {
            self.note(pe, loss);
            self.add(there);
        }
    }

    /// Checks whether `pe` is lost. Where the check is slow and a thread of some PE does it anyway, it
    /// only reads what others have told.
    pub(crate) fn look_or_hear(&self, wire: &dyn Wire, pe: PeId) -> Result<bool> {
        let own = wire.pe();
        let crowded = self.watched.load(Ordering::Relaxed)
            && self.nodes.share_memory(own, pe)
            && self.nodes.beside(own) > LOOKED_AT_IN_WAITS_MAX;
        if crowded && !self.contains(pe) && !self.is_told(wire, pe)? {
            return Ok(false);
        }
        self.look(wire, pe)
    }

    /// Looks whether `pe` is lost. May cost a system call.
    pub(crate) fn look(&self, wire: &dyn Wire, pe: PeId) -> Result<bool> {
        let Some(there) = self.there_of(pe) else {
            return Err(TransportError::NoSuchPe {
                pe,
                pes: wire.pes(),
            }
            .into());
        };
        if there.load(Ordering::Relaxed) == 0 {
            return Ok(true);
        }
        let told = self.is_told(wire, pe)?;
        if told || !wire.is_alive(pe)? {
            // Before `give_up`, so that the reason is the wire's own.
            self.note(pe, wire.loss(pe));
            let known = self.add(there);
            if let Some(reach) = &self.reach {
                reach.cut(pe);
            }
            wire.give_up(pe);
            if !known && !self.has_left(wire, pe) {
                self.obituaries.add(pe);
                if self.nodes.share_memory(wire.pe(), pe) {
                    self.tell(wire, pe, told);
                } else if told && self.speaks(wire.pe()) {
                    self.tell_those(wire, pe, self.beside(wire.pe()));
                }
            }
        }
        Ok(there.load(Ordering::Relaxed) == 0)
    }

    /// Whether another PE of its host, or the launcher, says that it is lost.
    fn is_told(&self, wire: &dyn Wire, pe: PeId) -> Result<bool> {
        // Where there is a membership, all PEs share memory, and their locks show whether they live. So
        // losses are told only through the membership.
        if let Some(membership) = self.membership() {
            return Ok(membership.said(pe, Entry::Others) == LOST);
        }
        if self.obituaries.contains(pe) {
            return Ok(true);
        }
        let word = wire
            .segment()
            .load_word(self.end_word(wire, pe, Mail::Lost))?;
        Ok(word == LOST)
    }

    /// Where in every segment this is said about `pe`. PEs reach each other in the same way.
    fn end_word(&self, wire: &dyn Wire, pe: PeId, word: Mail) -> usize {
        self.layout.end(pe, word, wire.segment().visibility())
    }

    /// Whether `pe` has left in good order.
    fn has_left(&self, wire: &dyn Wire, pe: PeId) -> bool {
        self.departure(wire, pe) == Ok(Departure::Gone as u64)
    }

    /// How far `pe` is on its way out, as it says: a [`Departure`], if the peer is correct.
    pub(crate) fn departure(&self, wire: &dyn Wire, pe: PeId) -> Result<u64> {
        if let Some(membership) = self.membership() {
            return Ok(membership.said(pe, Entry::Own));
        }
        if let Some(word) = wire.announced(pe) {
            return Ok(word);
        }
        let at = self.end_word(wire, pe, Mail::Departure);
        let own = wire.pe();
        let is_far = wire.pes() > TOLD_MAX && !self.nodes.share_memory(own, pe);
        let node = self.node_of(own).filter(|_| is_far);
        for speaker in node.into_iter().flat_map(|node| self.speakers(node)) {
            let route = wire.route(speaker);
            let window = route.as_ref().and_then(Route::window);
            if let Some(window) = window.filter(|window| window.allows_loads()) {
                match window.load_word(at)? {
                    0 => {}
                    word => return Ok(word),
                }
            }
        }
        Ok(wire.segment().load_word(at)?)
    }

    /// Tells all peers how far this PE is on its way out: in a large job those of its host, and of each other host one that the
    /// others read.
    pub(crate) fn tell_departure(&self, wire: &dyn Wire, departure: Departure) {
        let own = wire.pe();
        if let Some(membership) = self.membership() {
            membership.say(own, Entry::Own, departure as u64);
            return;
        }
        if wire.announce(departure as u64) {
            return;
        }
        let at = self.end_word(wire, own, Mail::Departure);
        // It is no error if that PE is lost: it need not know.
        let tell = |pe| _ = wire.store_word(pe, at, departure as u64);
        let here = self.nodes.node_of(own);
        let once = self.hears_once(wire);
        for (number, node) in (0..).zip(self.nodes.nodes()) {
            match once && Some(number) != here {
                true => self.speakers(node).for_each(tell),
                false => self.living(node).filter(|pe| *pe != own).for_each(tell),
            }
        }
    }

    /// Whether one PE of a host hears for all of it, because they can read its memory. The same at all PEs: all share the memory of
    /// their hosts, or none does.
    fn hears_once(&self, wire: &dyn Wire) -> bool {
        let own = wire.pe();
        let node = self.node_of(own).map_or(&[][..], |node| &node.pes);
        wire.pes() > TOLD_MAX
            && node.iter().find(|pe| **pe != own).is_none_or(|pe| {
                let route = wire.route(*pe);
                let window = route.as_ref().and_then(Route::window);
                window.is_some_and(Window::allows_loads)
            })
    }

    /// Those that hear for a host: its first PE, also when it has left, and, if it is lost, the first that lives.
    fn speakers(&self, node: &Node) -> impl Iterator<Item = PeId> {
        let first = node.first_pe();
        let next = self.living(node).next().filter(|pe| *pe != first);
        [first].into_iter().chain(next)
    }

    fn node_of(&self, pe: PeId) -> Option<&Node> {
        let number = self.nodes.node_of(pe)?;
        self.nodes.nodes().get(number as usize)
    }

    /// The PEs of a host that are not known to be lost.
    fn living(&self, node: &Node) -> impl Iterator<Item = PeId> {
        node.pes.iter().copied().filter(|pe| !self.contains(*pe))
    }

    /// Tells others of a PE that has died on this host, where a death shows at once: the PEs of other
    /// hosts, which would have to wait for a long silence, and those of this host, unless this PE knows
    /// it from them.
    fn tell(&self, wire: &dyn Wire, pe: PeId, told: bool) {
        if let Some(membership) = self.membership() {
            membership.say(pe, Entry::Others, LOST);
            return;
        }
        let own = self.nodes.node_of(wire.pe());
        let is_large = wire.pes() > TOLD_MAX;
        for (number, node) in (0..).zip(self.nodes.nodes()) {
            let is_near = Some(number) == own;
            let is_far = is_large && !is_near;
            if !(is_near && told) {
                let most = if is_far { 1 } else { node.pes.len() };
                self.tell_those(wire, pe, self.living(node).take(most));
            }
        }
    }

    fn tell_those(&self, wire: &dyn Wire, pe: PeId, others: impl Iterator<Item = PeId>) {
        let at = self.end_word(wire, pe, Mail::Lost);
        let own = wire.pe();
        for other in others.filter(|other| *other != own && *other != pe) {
            // It is no error if that PE is lost, too.
            let _ = wire.store_word(other, at, LOST);
        }
    }

    /// The PEs of the host of `pe` that are not known to be lost.
    fn beside(&self, pe: PeId) -> impl Iterator<Item = PeId> {
        self.node_of(pe)
            .into_iter()
            .flat_map(|node| self.living(node))
    }

    /// Whether `pe` is the one of its host that is told of losses on other hosts, and tells the others.
    fn speaks(&self, pe: PeId) -> bool {
        self.beside(pe).next() == Some(pe)
    }

    /// Checks the PEs of other hosts, the next few of this host, and those that others have reported.
    /// Errors are ignored: the operation that needs the peer will show them.
    fn look_around(&self, wire: &dyn Wire) {
        let own = wire.pe();
        let mut near = 0;
        for pe in (own + 1..wire.pes()).chain(0..own) {
            if self.contains(pe) {
                continue;
            }
            if self.nodes.share_memory(own, pe) {
                near += 1;
                if near > LOOKED_AT && self.is_told(wire, pe) != Ok(true) {
                    continue;
                }
            }
            let _ = self.look(wire, pe);
        }
    }

    /// True the first time that it is called for `pe`.
    pub(crate) fn report(&self, pe: PeId) -> bool {
        let is_known = self.there_of(pe).is_some();
        is_known && !core::mem::replace(&mut self.ends().entry(pe).or_default().is_reported, true)
    }

    fn ends(&self) -> MutexGuard<'_, BTreeMap<PeId, End>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes how `pe` was lost, if that is not known yet.
    fn note(&self, pe: PeId, loss: Loss) {
        let ends = &mut *self.ends();
        let known = &mut ends.entry(pe).or_default().loss;
        *known = known.or(Some(loss));
    }
}

/// The thread that looks. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Watcher {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

/// Tells a thread to end. Not a channel: there the side that ends last frees memory of the other side.
/// ThreadSanitizer sees a program's `free` and the joining of threads but not the atomics of this
/// library, and would report this as a race.
#[derive(Debug, Default)]
struct Stop {
    is_told: Mutex<bool>,
    changed: Condvar,
}

impl Stop {
    fn tell(&self) {
        *self.is_told.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for at most `time`, and returns whether the thread was told to end.
    fn comes_within(&self, time: Duration) -> bool {
        let is_told = self.is_told.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .changed
            .wait_timeout_while(is_told, time, |is_told| !*is_told);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Watcher {
    /// Starts the thread. It also publishes the counters of the wire.
    pub(crate) fn start(
        wire: Arc<dyn Wire>,
        lost: Arc<Lost>,
        publisher: Option<Arc<Publisher>>,
    ) -> Result<Self> {
        let stop = Arc::new(Stop::default());
        let stopped = Arc::clone(&stop);
        let look = move || {
            while !stopped.comes_within(INTERVAL) {
                lost.look_around(&*wire);
                if let Some(publisher) = &publisher {
                    publisher.publish(&*wire);
                }
            }
        };
        let thread = worker::start("hostwire-watch", 64 << 10, look);
        let thread = thread.map_err(|e| {
            TransportError::environment("starting the thread that watches peers", e)
        })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.tell();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
