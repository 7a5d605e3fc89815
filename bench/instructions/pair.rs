//! Two PEs on two threads of one process that take turns, so that every run does the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use hostwire::{AgentMode, Job, Layout, Sizes, Symmetric};
use hostwire_transport::Wire;
use hostwire_transport::shm::{Shm, ShmOptions, local};

pub type Failed = Box<dyn std::error::Error + Send + Sync>;
pub type Result = std::result::Result<(), Failed>;

/// What is counted, in a function that callgrind knows by its name: it gets the end that does it, and elements of its own.
pub type Operation = fn(&End, &mut [u64]) -> hostwire::Result<()>;

/// How often an operation is done before it is counted: rings have gone round, and nobody sleeps.
pub const WARM_UP: usize = 150;
/// How often it is counted. What happens once in many operations is part of each.
pub const COUNTED: usize = 512;

/// How often an operation is done, before it counts and while it does.
#[derive(Clone, Copy)]
pub struct Turns {
    alone: (usize, usize),
    /// Where a PE has to go to sleep each time.
    together: (usize, usize),
}

/// For instructions.
pub const OFTEN: Turns = Turns {
    alone: (WARM_UP, COUNTED),
    together: (10, 50),
};
/// For lines: lackey writes each access down. A ring of 64 slots goes round once.
pub const SELDOM: Turns = Turns {
    alone: (16, 64),
    together: (2, 4),
};
/// Elements of the longest operation.
const WORDS: usize = 2048;
/// The PE that waits in an operation of both.
const WAITING: u32 = 0;

/// One PE.
pub struct End {
    pub job: Job,
    pub words: Symmetric<u64>,
    way: Arc<Way>,
    turns: Turns,
}

/// The way to the thread of the other PE, outside of the library.
struct Way {
    to: Sender<()>,
    from: Mutex<Receiver<()>>,
    /// This PE waits in an operation of both, and the other one has not begun.
    is_waiting: AtomicBool,
}

/// Runs the program on both PEs.
pub fn run(program: fn(&End) -> Result, turns: Turns) -> Result {
    let bytes = Layout::new(2, Sizes::USUAL)?.segment_bytes();
    let wires = local(2, bytes, ShmOptions::default())?;
    let (to_first, of_first) = channel();
    let (to_second, of_second) = channel();
    let ways = [(to_second, of_first), (to_first, of_second)];
    std::thread::scope(|scope| {
        let pes = wires.into_iter().zip(ways);
        let threads: Vec<_> = pes
            .map(|(wire, way)| {
                scope.spawn(move || End::new(wire, way, turns).and_then(|end| program(&end)))
            })
            .collect();
        let ended: Vec<Result> = threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("a PE has panicked".into()))
            })
            .collect();
        ended.into_iter().collect()
    })
}

impl End {
    fn new(
        wire: Shm,
        (to, from): (Sender<()>, Receiver<()>),
        turns: Turns,
    ) -> std::result::Result<Self, Failed> {
        let wire: Arc<dyn Wire> = Arc::new(wire);
        let job = Job::over(wire, Sizes::USUAL, AgentMode::Polled)?;
        let way = Arc::new(Way {
            to,
            from: Mutex::new(from),
            is_waiting: AtomicBool::new(false),
        });
        let there = Arc::clone(&way);
        // It is asked after each sleep. The other PE then does its part, and this one does not get on meanwhile.
        job.end_waits_if(move || {
            if there.is_waiting.swap(false, Ordering::Relaxed) {
                return there.meet().and_then(|()| there.meet()).is_err();
            }
            false
        });
        Ok(Self {
            words: job.alloc(2 * WORDS)?,
            job,
            way,
            turns,
        })
    }

    /// PE 0 does `operation` with `bytes`.
    pub fn alone(&self, bytes: usize, operation: Operation) -> Result {
        self.in_turn(bytes, &[(0, operation)])
    }

    /// The PEs do these operations one after the other; the other PE does nothing meanwhile.
    pub fn in_turn(&self, bytes: usize, operations: &[(u32, Operation)]) -> Result {
        let mut values = [7; WORDS];
        let (warm_up, times) = self.turns.alone;
        for counts in [false, true] {
            for _ in 0..if counts { times } else { warm_up } {
                for (pe, operation) in operations {
                    if self.job.pe() == *pe {
                        self.call(counts, *operation, &mut values[..bytes / 8])?;
                    }
                    self.way.meet()?;
                }
            }
        }
        Ok(())
    }

    /// Both PEs do `operation`. It counts on the one that comes when the other one waits in it already.
    pub fn together(&self, bytes: usize, operation: Operation) -> Result {
        let mut values = [7; WORDS];
        let (warm_up, times) = self.turns.together;
        for turn in 0..warm_up + times {
            let values = &mut values[..bytes / 8];
            if self.job.pe() == WAITING {
                self.way.is_waiting.store(true, Ordering::Relaxed);
                self.warm_up(operation, values)?;
                continue;
            }
            self.way.meet()?;
            // The next store to a PE that has slept finds that out, which is no part of the operation.
            self.words.put(WAITING, 0, &[0])?;
            let done = self.call(turn >= warm_up, operation, values);
            self.way.meet()?;
            done?;
        }
        Ok(())
    }

    fn call(&self, counts: bool, operation: Operation, values: &mut [u64]) -> hostwire::Result<()> {
        match counts {
            true => self.count(operation, values),
            false => self.warm_up(operation, values),
        }
    }

    /// What is called from here counts: see `callgrind`.
    #[inline(never)]
    fn count(&self, operation: Operation, values: &mut [u64]) -> hostwire::Result<()> {
        let done = operation(self, values);
        std::hint::black_box("counted");
        done
    }

    #[inline(never)]
    fn warm_up(&self, operation: Operation, values: &mut [u64]) -> hostwire::Result<()> {
        let done = operation(self, values);
        std::hint::black_box("not counted");
        done
    }
}

impl Way {
    /// Waits for the thread of the other PE.
    fn meet(&self) -> Result {
        self.to.send(())?;
        let from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(from.recv()?)
    }
}

/// What is called from here counts: see `callgrind`.
#[inline(never)]
pub fn count<R>(operation: impl FnOnce() -> R) -> R {
    operation()
}
