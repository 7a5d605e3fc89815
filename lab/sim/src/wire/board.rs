//! The state that the coroutines, the modelled cores and the driver share.
//!
//! All of them run on one thread, one at a time; the lock is needed only because a
//! transport is `Sync`, and is never contended.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::Ps;

use super::messages::{Looks, Ring, RingWait};

/// A block of a chain: what the chip's controller moves to an address.
#[derive(Debug)]
pub(super) struct Moved {
    pub(super) address: u64,
    /// Where in the segment of the PE it comes from; otherwise it is a word of the chain itself.
    pub(super) from: Option<u64>,
    pub(super) bytes: Vec<u8>,
}

/// What a PE asks of its core.
#[derive(Debug)]
pub(super) enum Op {
    /// Stores bytes at an address.
    Store { address: u64, data: Vec<u8> },
    /// `sfence`: goes on when all earlier stores have left the core.
    Fence,
    /// Computes for a while.
    Compute(Ps),
}

/// How that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// No register claims the address.
    Aborted,
}

/// The reason why a PE is suspended.
#[derive(Debug, Default)]
pub(super) enum Request {
    /// It is not suspended: it runs, or has not begun.
    #[default]
    None,
    /// Its core shall do this.
    Do(Op),
    /// Its core is doing it.
    Doing,
    /// The DMA controller of the chip of its host shall run this chain.
    Chain(Vec<Moved>),
    /// The DMA controller of its chip shall move these bytes; until it has been started.
    Launch { address: u64, data: Vec<u8> },
    /// The end of that, as the loop of an uncached poll that began at `since` sees it.
    Transfer { since: Ps },
    /// A peer's store, as the loop of an uncached poll that began at `since` sees it. The loop ends at
    /// `until` if none comes before.
    Store { since: Ps, until: Option<Ps> },
    /// All stores that its node has sent are in memory.
    Arrival,
    /// This time. Its core does nothing for it meanwhile.
    Nap { until: Ps },
}

/// One PE.
#[derive(Debug, Default)]
pub(super) struct Pe {
    pub(super) request: Request,
    pub(super) outcome: Option<Outcome>,
    /// Reasons to look at its segment so far: writes to it, and PEs that ended.
    pub(super) rings: u64,
    /// The number of rings when it began to look before a sleep.
    pub(super) armed: Option<u64>,
    /// The sleep that it is about to begin pays for this look.
    pub(super) look_is_paid: bool,
    /// Lines may be open in the write-combining buffers.
    pub(super) open_lines: bool,
    /// Something has been stored since the last fence.
    pub(super) unfenced: bool,
    /// What it waits for to arrive; set by the driver.
    pub(super) awaited: Vec<Awaited>,
    /// The controller that it has started is done.
    pub(super) is_moved: bool,
    /// When the sleep or the wait that it is in ends, as far as that is known.
    pub(super) wakes_at: Option<Ps>,
    /// What it looks for in the ring of its host; otherwise for a store to its segment.
    pub(super) ring_wait: Option<RingWait>,
    pub(super) ended: bool,
}

impl Pe {
    /// Whether its wait for a store ends because of the time, as far as that is known.
    fn ends_by_itself(&self) -> bool {
        match self.request {
            Request::Store { until, .. } => until.is_some() && self.wakes_at == until,
            _ => false,
        }
    }

    /// Whether everything has arrived that it waits for.
    pub(super) fn all_arrived(&self) -> bool {
        self.awaited.iter().all(|awaited| awaited.left == 0)
    }
}

/// A core that runs PEs, one operation at a time.
#[derive(Debug, Default)]
pub(super) struct Core {
    /// Its PEs.
    pub(super) pes: Vec<usize>,
    /// Those whose operation waits for the core, the first come first.
    pub(super) queue: VecDeque<usize>,
    /// The one whose operation it carries out.
    pub(super) current: Option<usize>,
}

/// What a component has sent since the job began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) component: usize,
    /// Stores of a socket or a host, writes of a chip.
    pub(super) amount: u64,
    /// The number of its last packet.
    pub(super) last: u64,
}

/// What a component had sent when a PE began to wait, and how much of that has not arrived. What it sends
/// later may arrive earlier, and does not count.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) sent: Sent,
    pub(super) left: u64,
}

/// A DMA controller that PEs of a socket use.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// The PE whose transfer it carries out.
    pub(super) at_work: Option<usize>,
    /// The one whose transfer has just ended.
    pub(super) ended: Option<usize>,
}

/// A socket or a host that runs PEs, or a chip that moves what they put.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Its PEs.
    pub(super) pes: Vec<usize>,
    /// How much of what it has sent has arrived: stores of a socket or a host, writes of a chip.
    pub(super) arrived: u64,
}

/// The words that PEs show each other without stores.
#[derive(Debug)]
pub(super) struct Announcements {
    /// By PE.
    pub(super) words: Vec<u64>,
    /// One has changed since all sleepers were woken.
    pub(super) has_news: bool,
}

/// See the [module text](self).
#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) now: Ps,
    pub(super) pes: Vec<Pe>,
    pub(super) cores: Vec<Core>,
    /// By component, as packets name their origin.
    pub(super) nodes: BTreeMap<usize, Node>,
    /// DMA controllers.
    pub(super) engines: Vec<Engine>,
    /// The rings of hosts with boards, by host.
    pub(super) rings: Vec<Ring>,
    /// Those that have ended, in order.
    pub(super) ended: Vec<usize>,
    /// Where there are any.
    pub(super) announcements: Option<Announcements>,
    /// PEs that can go on now.
    pub(super) ready: VecDeque<usize>,
    /// PEs whose cores are to be woken, and when.
    pub(super) wakes: VecDeque<(usize, Ps)>,
}

impl Board {
    /// The sleep or the wait of this PE ends at `time`, unless another PE's action ends it already. A time limit does
    /// not count: if something comes during the last look of a loop, one more look sees it.
    pub(super) fn wake(&mut self, pe: usize, time: Ps) {
        if let Some(entry) = self.pes.get_mut(pe)
            && (entry.wakes_at.is_none() || entry.ends_by_itself())
        {
            entry.wakes_at = Some(time);
            self.wakes.push_back((pe, time));
        }
    }

    /// A PE that sleeps sees a write of this moment by one of its looks.
    pub(super) fn wake_sleeper(&mut self, pe: usize, now: Ps, looks: Looks) {
        let request = self.pes.get(pe).map(|entry| &entry.request);
        if let Some(Request::Store { since, .. }) = request {
            let seen_at = looks.seen_at(now, *since);
            self.wake(pe, seen_at);
        }
    }

    /// How much of what a node has sent has reached a memory.
    pub(super) fn arrived_from(&self, component: usize) -> u64 {
        self.nodes.get(&component).map_or(0, |node| node.arrived)
    }

    /// So much more of what this node has sent has arrived, by the packet with this number.
    pub(super) fn arrived(&mut self, component: usize, amount: u64, number: u64, now: Ps) {
        let Some(node) = self.nodes.get_mut(&component) else {
            return;
        };
        node.arrived += amount;
        for pe in node.pes.clone() {
            let Some(entry) = self.pes.get_mut(pe) else {
                continue;
            };
            if !matches!(entry.request, Request::Arrival) {
                continue;
            }
            for awaited in &mut entry.awaited {
                if awaited.sent.component == component && number <= awaited.sent.last {
                    awaited.left = awaited.left.saturating_sub(amount);
                }
            }
            if entry.all_arrived() {
                self.wake(pe, now);
            }
        }
    }

    /// A PE waits for what these have sent.
    pub(super) fn await_arrival(&mut self, pe: usize, sent: Vec<Sent>) {
        let awaited = sent.into_iter().map(|sent| Awaited {
            sent,
            left: sent
                .amount
                .saturating_sub(self.arrived_from(sent.component)),
        });
        let awaited = awaited.collect();
        if let Some(entry) = self.pes.get_mut(pe) {
            entry.awaited = awaited;
        }
    }

    /// The request of this PE is done: it goes on.
    pub(super) fn release(&mut self, pe: usize, outcome: Outcome) {
        if let Some(entry) = self.pes.get_mut(pe) {
            entry.request = Request::None;
            entry.outcome = Some(outcome);
            entry.wakes_at = None;
            self.ready.push_back(pe);
        }
    }

    /// Lets this PE go on if its sleep or its wait is over.
    pub(super) fn release_due(&mut self, pe: usize, now: Ps) {
        let entry = self.pes.get(pe);
        if entry.is_some_and(|entry| entry.wakes_at.is_some_and(|time| time <= now)) {
            self.release(pe, Outcome::Done);
        }
    }

    /// This PE has ended, so the sleeping ones look again. The modelled hardware has no such
    /// signal; it replaces the time limit that a sleep has on a real wire.
    pub(super) fn end(&mut self, pe: usize) {
        self.ended.push(pe);
        self.ring_all(self.now);
    }

    /// No event is left. If a PE has shown a word since the last call, all sleeping ones look now, as those on a real wire do from
    /// time to time. Whether this is so.
    pub(super) fn pass_news(&mut self, now: Ps) -> bool {
        let announcements = self.announcements.as_mut();
        let has_news = announcements.is_some_and(|all| std::mem::take(&mut all.has_news));
        if has_news {
            self.ring_all(now);
        }
        has_news
    }

    fn ring_all(&mut self, now: Ps) {
        for entry in &mut self.pes {
            entry.rings += 1;
        }
        for pe in 0..self.pes.len() {
            if let Request::Store { .. } = self.pes[pe].request {
                self.wake(pe, now);
            }
        }
    }
}

/// A handle to the board.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedBoard(Arc<Mutex<Board>>);

impl SharedBoard {
    pub(super) fn new(pes: usize, announces: bool) -> Self {
        let announcements = Announcements {
            words: vec![0; pes],
            has_news: false,
        };
        let board = Board {
            pes: (0..pes).map(|_| Pe::default()).collect(),
            announcements: announces.then_some(announcements),
            ..Board::default()
        };
        Self(Arc::new(Mutex::new(board)))
    }

    /// The board. A PE that panicked has left a consistent board.
    pub(super) fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
