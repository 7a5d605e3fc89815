//! Which peers are lost, and the thread that finds out.
//!
//! An operation that never waits has no occasion to look whether its peer lives, and a
//! program may be built of nothing but those. So a thread of each PE looks at all peers
//! four times a second; the operations only read what it found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_transport::{PeId, Reach, Transport, TransportError};

use crate::attachment::Departure;
use crate::counters::Publisher;
use crate::error::Result;
use crate::launch::Nodes;
use crate::layout::{LOST, Layout, Mail};
use crate::status::Obituaries;

const INTERVAL: Duration = Duration::from_millis(250);

/// See the [module text](self). A PE that is lost stays so.
#[derive(Debug)]
pub(crate) struct Lost {
    lost: Box<[AtomicBool]>,
    /// Whether a wait for anybody has told of it.
    reported: Box<[AtomicBool]>,
    reach: Option<Arc<Reach>>,
    layout: Layout,
    nodes: Nodes,
    obituaries: Obituaries,
}

impl Lost {
    pub(crate) fn new(
        wire: &Arc<dyn Transport>,
        layout: Layout,
        nodes: Nodes,
        obituaries: Obituaries,
    ) -> Self {
        let none = || (0..wire.pes()).map(|_| AtomicBool::new(false)).collect();
        Self {
            lost: none(),
            reported: none(),
            reach: wire.reach().cloned(),
            layout,
            nodes,
            obituaries,
        }
    }

    /// Whether `pe` is known to be lost.
    #[inline(always)]
    pub(crate) fn contains(&self, pe: PeId) -> bool {
        self.lost
            .get(pe as usize)
            .is_some_and(|lost| lost.load(Ordering::Relaxed))
    }

    /// Looks whether `pe` is lost.
    pub(crate) fn look(&self, wire: &dyn Transport, pe: PeId) -> Result<bool> {
        let Some(lost) = self.lost.get(pe as usize) else {
            return Err(TransportError::NoSuchPe {
                pe,
                pes: self.lost.len() as u32,
            }
            .into());
        };
        if !lost.load(Ordering::Relaxed) && (!wire.is_alive(pe)? || self.is_told(wire, pe)?) {
            let known = lost.swap(true, Ordering::Relaxed);
            if let Some(reach) = &self.reach {
                reach.cut(pe);
            }
            wire.give_up(pe);
            if !known && !self.has_left(wire, pe) {
                self.obituaries.add(pe);
                if self.nodes.share_memory(wire.pe(), pe) {
                    self.tell(wire, pe);
                }
            }
        }
        Ok(lost.load(Ordering::Relaxed))
    }

    /// Whether another PE of its host, or the launcher, has told that it is lost.
    fn is_told(&self, wire: &dyn Transport, pe: PeId) -> Result<bool> {
        if self.obituaries.contains(pe) {
            return Ok(true);
        }
        let word = wire.segment().load_word(self.layout.mail(pe, Mail::Lost))?;
        Ok(word == LOST)
    }

    /// Whether `pe` has said goodbye to everybody.
    fn has_left(&self, wire: &dyn Transport, pe: PeId) -> bool {
        let departure = self.layout.mail(pe, Mail::Departure);
        wire.segment().load_word(departure) == Ok(Departure::Gone as u64)
    }

    /// Tells the PEs of other hosts of one that has died on this host, where it shows at
    /// once, while others would have to wait until it has been silent for long.
    fn tell(&self, wire: &dyn Transport, pe: PeId) {
        let at = self.layout.mail(pe, Mail::Lost);
        let elsewhere = |other: &PeId| !self.nodes.share_memory(wire.pe(), *other);
        for other in (0..wire.pes()).filter(elsewhere) {
            if !self.contains(other) {
                // One that is lost as well need not know.
                let _ = wire.store_word(other, at, LOST);
            }
        }
    }

    /// True the first time that it is called for `pe`.
    pub(crate) fn report(&self, pe: PeId) -> bool {
        self.reported
            .get(pe as usize)
            .is_some_and(|reported| !reported.swap(true, Ordering::Relaxed))
    }
}

/// The thread that looks. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Watcher {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// It also shows what the wire has counted.
    pub(crate) fn start(
        wire: Arc<dyn Transport>,
        lost: Arc<Lost>,
        publisher: Option<Arc<Publisher>>,
    ) -> Result<Self> {
        let (stop, stopped) = channel();
        let look = move || {
            while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                for pe in 0..wire.pes() {
                    // An error shows itself in the operation that needs the peer.
                    let _ = lost.look(&*wire, pe);
                }
                if let Some(publisher) = &publisher {
                    publisher.publish(&*wire);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("hostwire-watch".into())
            .stack_size(64 << 10)
            .spawn(look)
            .map_err(|e| {
                TransportError::environment("starting the thread that watches peers", e)
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
