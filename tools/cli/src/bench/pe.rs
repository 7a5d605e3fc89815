//! The work of each PE of a benchmark.

use std::cell::Cell;
use std::fs::File;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hostwire::settings::WireName;
use hostwire::{Element, EnvironmentFault, Error, Job, Result, Symmetric};
use hostwire_transport::limits::Side;
use hostwire_transport::sync::{AtomicU64, Ordering};
use hostwire_transport::{Memory, TransportError, Visibility};

use super::args::{Bench, PeArgs};
use super::bare::Opener;
use super::measure::{Loop, Plan};
use super::report::{self, Line};
use super::{atomic, bandwidth, collective, cores, hosts, latency, rate, record, rma, tca};

/// Runs one PE.
pub fn main(args: &PeArgs) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            crate::report::line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(args: &PeArgs) -> Result<()> {
    // Before the wire gives up its rights.
    let opener = Opener::new();
    let record = args.record.as_deref().map(record::open).transpose();
    let record = record.map_err(|error| {
        TransportError::environment("opening the record of this benchmark", error)
    })?;
    let job = Job::attach()?;
    let bench = Context {
        arena: job.alloc(ARENA_BYTES)?,
        job,
        sizes: args.size.clone(),
        repeats: args.repeats,
        json: args.json,
        says_progress: args.progress,
        said: Cell::new(Instant::now()),
        wire: args.wire,
        opener,
        record,
        turn: Cell::new(0),
        has_two_cores: args.two_cores,
        probed: Cell::new(0),
    };
    if args.bench == Bench::Line {
        cores::run(&bench)?;
    }
    let mapped: [(Bench, Run); 9] = [
        (Bench::Latency, latency::run),
        (Bench::Rate, rate::run),
        (Bench::Bandwidth, bandwidth::run),
        (Bench::Put, rma::put),
        (Bench::Get, rma::get),
        (Bench::Atomic, atomic::run),
        (Bench::Barrier, collective::barrier),
        (Bench::Allreduce, collective::all_reduce),
        (Bench::Tca, tca::run),
    ];
    let between_hosts: [(Bench, Run); 10] = [
        (Bench::Pingpong, hosts::ping_pong),
        (Bench::Latency, hosts::messages),
        (Bench::Rate, hosts::message_rate),
        (Bench::Bandwidth, hosts::message_bandwidth),
        (Bench::Put, hosts::put),
        (Bench::Get, hosts::get),
        (Bench::Atomic, hosts::atomic),
        (Bench::Barrier, collective::barrier),
        (Bench::Allreduce, collective::all_reduce),
        (Bench::Tca, tca::run),
    ];
    let all = match bench.is_mapped() {
        true => &mapped[..],
        false => &between_hosts[..],
    };
    for (name, run) in all.iter().copied() {
        let is_wanted = args.bench == name || (args.bench == Bench::All && name != Bench::Tca);
        if is_wanted {
            if bench.job.pes() != 2 && !name.is_collective() {
                return Err(Error::Length {
                    what: "PEs for this benchmark",
                    expected: 2,
                    got: bench.job.pes() as usize,
                });
            }
            run(&bench)?;
        }
    }
    let Context { job, arena, .. } = bench;
    drop(arena);
    job.finalize()
}

/// A benchmark.
type Run = fn(&Context) -> Result<()>;

/// Room for the largest size twice.
const ARENA_BYTES: usize = 160 << 20;

/// Progress is said at least this often.
const SILENCE_MAX: Duration = Duration::from_secs(5);

/// The state that all benchmarks share.
pub struct Context {
    pub job: Job,
    /// Symmetric memory for the limits and for long messages.
    pub arena: Symmetric<u8>,
    sizes: Vec<u64>,
    repeats: u32,
    json: bool,
    /// Whether somebody watches the progress.
    says_progress: bool,
    /// When anything was said last.
    said: Cell<Instant>,
    wire: WireName,
    pub opener: Opener,
    /// Files for the figures, in addition to standard output.
    record: Option<File>,
    /// The number of the last one-sided work.
    turn: Cell<u64>,
    has_two_cores: bool,
    /// Round trips of a line that [`cores`] has made.
    pub probed: Cell<u64>,
}

impl Context {
    /// The sizes of the command line, or these.
    pub fn sizes(&self, usual: &[u64]) -> Vec<u64> {
        if self.sizes.is_empty() {
            usual.to_vec()
        } else {
            self.sizes.clone()
        }
    }

    /// For turns that move so many bytes each.
    pub fn plan(&self, batches: u32, turns: u64, turn_bytes: u64) -> Plan {
        Plan::new(self.repeats, batches, turns, turn_bytes)
    }

    /// PE 0 says how far a measurement is, if it takes long and somebody looks on.
    pub fn progress(&self, bench: &str, size_bytes: u64, (repeat, repeats): (u32, u32)) {
        if self.says_progress && self.is_first() && self.said.get().elapsed() >= SILENCE_MAX {
            let size = report::size(size_bytes);
            crate::report::line(&format!(
                "{bench} of {size}: {repeat} of {repeats} repeats done"
            ));
            self.said.set(Instant::now());
        }
    }

    pub fn is_first(&self) -> bool {
        self.job.pe() == 0
    }

    pub fn side(&self) -> Side {
        if self.is_first() {
            Side::First
        } else {
            Side::Second
        }
    }

    /// The PE on the other side of a benchmark of two.
    pub fn peer(&self) -> u32 {
        1 - self.job.pe().min(1)
    }

    pub fn wire(&self) -> WireName {
        self.wire
    }

    /// Whether two PEs have a core each. Where they share one, each look for the other takes a turn of the scheduler.
    pub fn has_two_cores(&self) -> bool {
        self.has_two_cores
    }

    /// Whether the memory of all PEs is mapped here. All give the same answer: of more than two, some may share a host and others not.
    pub fn is_mapped(&self) -> bool {
        (0..self.job.pes()).all(|pe| self.arena.window(pe).is_some())
    }

    /// Whether atomics on memory of the other PE are instructions; elsewhere its agent does them.
    pub fn has_cpu_atomics(&self) -> bool {
        let window = self.arena.window(self.peer());
        window.is_some_and(|(window, _)| window.visibility() == Visibility::Coherent)
    }

    /// One-sided work where memory is not mapped: PE 0 runs it while PE 1 waits in the
    /// library.
    pub fn towards<'a>(&'a self, mut run: impl FnMut(u64) -> Result<()> + 'a) -> Loop<'a> {
        Box::new(move |n| {
            time(|| {
                if self.is_first() {
                    run(n)?;
                }
                self.job.barrier()
            })
        })
    }

    /// As many turns as wanted, of which PE 0 sends and PE 1 receives, until the last one has been received.
    pub fn one_way<'a>(&'a self, mut turn: impl FnMut() -> Result<()> + 'a) -> Loop<'a> {
        Box::new(move |n| {
            time(|| {
                for _ in 0..n {
                    turn()?;
                }
                self.job.barrier()
            })
        })
    }

    /// The arena of a PE, directly.
    pub fn memory(&self, pe: u32) -> Result<(&Memory, usize)> {
        self.mapped(&self.arena, pe)
    }

    /// What `pe` has of an object, directly.
    pub fn mapped<'a, T: Element>(
        &self,
        object: &'a Symmetric<T>,
        pe: u32,
    ) -> Result<(&'a Memory, usize)> {
        let missing = "this wire does not map memory";
        let none = || {
            let fault = EnvironmentFault::Unsupported { missing };
            TransportError::environment("measuring memory without hostwire", fault)
        };
        let window = object.window(pe).ok_or_else(none)?;
        Ok((window.0.memory(), window.1))
    }

    /// Whether the caches of that memory have to be flushed by hand.
    pub fn is_flushed(&self) -> bool {
        let window = self.arena.window(self.peer());
        window.is_some_and(|(window, _)| window.visibility() == Visibility::Flushed)
    }

    /// A word of the arena of `pe`, on a line of its own.
    pub fn word(&self, pe: u32, line: usize) -> Result<&AtomicU64> {
        let (memory, base) = self.memory(pe)?;
        Ok(memory.word(base + line * 256)?)
    }

    /// One-sided work: PE 0 runs it while PE 1 computes, without a call of the library, until
    /// it is done. This holds for benchmarks and for their limits, so that neither pays for a
    /// target that sleeps and is woken in the middle.
    pub fn one_sided(&self, run: impl FnOnce() -> Result<()>) -> Result<Duration> {
        let done = self.word(1, place::DONE)?;
        if self.is_first() {
            let time = time(run)?;
            done.fetch_add(1, Ordering::Release);
            return Ok(time);
        }
        let turn = self.turn.get() + 1;
        self.turn.set(turn);
        time(|| {
            while done.load(Ordering::Acquire) < turn {
                std::hint::spin_loop();
            }
            Ok(())
        })
    }

    /// PE 0 says something to people.
    pub fn say(&self, text: &str) {
        if self.is_first() && !self.json {
            crate::report::out(text);
        }
    }

    /// PE 0 prints.
    pub fn print(&self, line: &Line) {
        if self.is_first() {
            let wire = self.wire.name().to_owned();
            let line = Line {
                wire,
                ..line.clone()
            };
            line.print(self.json);
            self.said.set(Instant::now());
            self.record(&line);
        }
    }

    /// PE 0 hands a figure to the command.
    pub fn record(&self, line: &Line) {
        let file = self.record.as_ref().filter(|_| self.is_first());
        let recorded = file.map(|file| record::append(file, line));
        if let Some(Err(error)) = recorded {
            crate::report::line(&format!("cannot keep a figure: {error}"));
        }
    }
}

/// How long something takes.
pub fn time(run: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begin = Instant::now();
    run()?;
    Ok(begin.elapsed())
}

/// Where in the arena the limits keep their words, by line of 256 bytes.
pub mod place {
    pub const FROM_FIRST: usize = 0;
    pub const FROM_SECOND: usize = 1;
    pub const BARRIER: usize = 2;
    pub const CREDIT: usize = 3;
    pub const HEAD: usize = 4;
    pub const INDEX_CREDIT: usize = 5;
    pub const ATOMIC: usize = 6;
    pub const DONE: usize = 7;
    /// And the lines behind it: two for each of three ways to copy, one for each receiver.
    pub const STAGED: usize = 8;
    /// Bytes: rings of the limits.
    pub const RING_1: usize = 1 << 12;
    pub const RING_2: usize = 2 << 12;
    pub const RING_INDEX: usize = 3 << 12;
    /// Lines behind those rings: one of each PE.
    pub const PROBE: usize = 64;
    /// Credit of the second ring.
    pub const CREDIT_2: usize = 66;
    /// And the lines behind it: counters of all PEs.
    pub const COUNT: usize = 67;
    /// Bytes: everything else.
    pub const DATA: usize = 1 << 16;
}
