//! The state that the coroutines, the modelled cores and the driver share.
//!
//! All of them run on one thread, one at a time; the lock is needed only because a
//! transport is `Sync`, and is never contended.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::devices::opteron::{Op, Outcome};
use crate::engine::Ps;

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
    /// A peer's store, as the loop of an uncached poll that began at `since` sees it.
    Store { since: Ps },
    /// All stores that its socket has sent are in memory.
    Arrival,
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
    /// Stores of its socket that have reached a memory.
    pub(super) arrived: u64,
    /// Wait until that many have; set by the driver.
    pub(super) awaited: Option<u64>,
    /// A wake-up for it is on its way.
    pub(super) woken: bool,
    pub(super) ended: bool,
}

/// See the [module text](self).
#[derive(Debug, Default)]
pub(super) struct Board {
    pub(super) now: Ps,
    pub(super) pes: Vec<Pe>,
    /// PEs that can go on now.
    pub(super) ready: VecDeque<usize>,
    /// PEs whose cores are to be woken, and when.
    pub(super) wakes: VecDeque<(usize, Ps)>,
}

impl Board {
    /// A PE has ended, so the sleeping ones look again. The modelled hardware has no such
    /// signal; it replaces the time limit that a sleep has on a real wire.
    pub(super) fn ring_all(&mut self) {
        let now = self.now;
        for (index, pe) in self.pes.iter_mut().enumerate() {
            pe.rings += 1;
            if matches!(pe.request, Request::Store { .. }) && !pe.woken {
                pe.woken = true;
                self.wakes.push_back((index, now));
            }
        }
    }
}

/// A handle to the board.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedBoard(Arc<Mutex<Board>>);

impl SharedBoard {
    pub(super) fn new(pes: usize) -> Self {
        let board = Board {
            pes: (0..pes).map(|_| Pe::default()).collect(),
            ..Board::default()
        };
        Self(Arc::new(Mutex::new(board)))
    }

    /// The board. A PE that panicked has left a consistent board.
    pub(super) fn lock(&self) -> MutexGuard<'_, Board> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
