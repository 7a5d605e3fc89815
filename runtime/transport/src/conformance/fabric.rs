//! Where the PEs of a test run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

#[cfg(target_os = "linux")]
use crate::shm::{self, ShmOptions};
use crate::wire::Wire;
use crate::wrap::StoresOnly;

/// The program of each PE of a test, with its end of the wire.
pub type Program<'a> = dyn Fn(Arc<dyn Wire>) + Sync + 'a;

/// Makes connected transports and runs one program on each PE.
pub trait Testbed: Sync {
    /// Connects `pes` PEs with segments of `segment_bytes` zeroed bytes, runs `program`
    /// once for each with its own transport, at the same time, and returns when all
    /// have ended.
    ///
    /// # Panics
    /// If the program panicked on a PE, with the message of the first one.
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>);
}

/// PEs are threads of this process and the wire is shared memory.
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Threads {
    /// The properties of the wire.
    pub options: ShmOptions,
}

/// Another fabric, with a wrapper around the wire of each PE.
pub struct Wrapping<'a> {
    /// The fabric.
    pub fabric: &'a dyn Testbed,
    /// Makes the wire of a PE from that of the fabric.
    pub wrap: &'a Wrap<'a>,
}

/// Wraps a wire.
pub type Wrap<'a> = dyn Fn(Arc<dyn Wire>) -> Arc<dyn Wire> + Sync + 'a;

impl<'a> Wrapping<'a> {
    /// Uses only posted stores of the wire.
    pub fn stores_only(fabric: &'a dyn Testbed) -> Self {
        let wrap = &|wire| {
            let wire = StoresOnly::new(wire).expect("making the wire");
            Arc::new(wire) as Arc<dyn Wire>
        };
        Self { fabric, wrap }
    }
}

impl Testbed for Wrapping<'_> {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wrapped = |wire| program((self.wrap)(wire));
        self.fabric.run(pes, segment_bytes, &wrapped);
    }
}

/// For a hang; no test takes this long.
const LIMIT: Duration = Duration::from_secs(180);

#[cfg(target_os = "linux")]
impl Testbed for Threads {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wires = shm::local(pes, segment_bytes, self.options).expect("making the wire");
        run_on_threads(wires, program);
    }
}

/// Runs one program on each of some connected transports, each on a thread of its own.
/// For a [`Testbed`] whose PEs are threads.
///
/// # Panics
/// If the program panicked on a PE, with the message of the first one.
pub fn run_on_threads<T: Wire + 'static>(wires: Vec<T>, program: &Program<'_>) {
    let mut running: Vec<bool> = vec![true; wires.len()];
    let (ended, end) = channel();
    let mut panics: Vec<Box<dyn Any + Send>> = Vec::new();
    std::thread::scope(|scope| {
        for (pe, wire) in wires.into_iter().enumerate() {
            let ended = ended.clone();
            let body = move || {
                let result = catch_unwind(AssertUnwindSafe(|| program(Arc::new(wire))));
                // The test may have been given up.
                let _ = ended.send((pe, result));
            };
            std::thread::Builder::new()
                .name(format!("PE {pe}"))
                .spawn_scoped(scope, body)
                .expect("starting a thread");
        }
        while running.contains(&true) {
            match end.recv_timeout(LIMIT) {
                Ok((pe, result)) => {
                    running[pe] = false;
                    panics.extend(result.err());
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    give_up(&running)
                }
            }
        }
    });
    // A PE that panics looks dead to the others, which then panic too.
    if let Some(first) = panics.into_iter().next() {
        resume_unwind(first);
    }
}

/// Threads cannot be ended from outside, so a hang ends the whole test process.
#[expect(clippy::print_stderr, reason = "a test process that is about to abort")]
fn give_up(running: &[bool]) -> ! {
    let pes: Vec<String> = (0..running.len())
        .filter(|pe| running[*pe])
        .map(|pe| pe.to_string())
        .collect();
    let test = std::thread::current().name().unwrap_or("?").to_owned();
    eprintln!("{test}: PE {} still runs after {LIMIT:?}", pes.join(", "));
    std::process::abort();
}
