//! The programs.

use hostwire::{Error, Job};
use hostwire_sim::engine::Ps;

/// Why a PE could not go on.
#[derive(Debug)]
pub enum Failed {
    /// The library says so.
    Library(Error),
    /// A result is wrong.
    Result {
        /// What it should be.
        expected: u64,
        /// What it is.
        got: u64,
    },
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Library(error) => error.fmt(f),
            Self::Result { expected, got } => {
                write!(f, "expected {expected} from an all-reduce, got {got}")
            }
        }
    }
}

type Result<T> = std::result::Result<T, Failed>;

/// A program: what it does as one PE, and what this PE prints.
type Run = fn(&Job, &dyn Fn() -> Ps) -> Result<Option<String>>;

/// One of them.
pub struct Program {
    /// Its name in the command line.
    pub name: &'static str,
    /// See [`Run`].
    pub run: Run,
}

/// All programs.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "hello",
        run: hello,
    },
    Program {
        name: "collectives",
        run: collectives,
    },
];

/// As `examples/hello.rs`: every PE puts its number into the memory of its right neighbour.
fn hello(job: &Job, _now: &dyn Fn() -> Ps) -> Result<Option<String>> {
    let inbox = job.alloc::<u32>(1)?;
    let right = (job.pe() + 1) % job.pes();
    inbox.put(right, 0, &[job.pe()])?;
    job.barrier()?;
    let heard = inbox.load(0)?;
    Ok(Some(format!("PE {} heard from PE {heard}", job.pe())))
}

/// How often each operation is measured.
const ROUNDS: u32 = 3;

/// Measures a message, a barrier and an all-reduce, in the time of PE 0.
fn collectives(job: &Job, now: &dyn Fn() -> Ps) -> Result<Option<String>> {
    let message = match job.pes() {
        1 => Ps::ZERO,
        _ => Ps(mean(job, now, || there_and_back(job))?.0 / 2),
    };
    let barrier = mean(job, now, || Ok(job.barrier()?))?;
    let expected = u64::from(job.pes()) * u64::from(job.pes() - 1) / 2;
    let all_reduce = mean(job, now, || {
        let mut sum = [u64::from(job.pe())];
        job.all_reduce(&mut sum, |a, b| a + b)?;
        match sum {
            [got] if got == expected => Ok(()),
            [got] => Err(Failed::Result { expected, got }),
        }
    })?;
    Ok((job.pe() == 0).then(|| {
        format!(
            "{} PEs: message to PE 1 {message}, barrier {barrier}, all-reduce of 8 B {all_reduce}",
            job.pes()
        )
    }))
}

/// The mean time of an operation, after one that is not counted.
fn mean(job: &Job, now: &dyn Fn() -> Ps, operation: impl Fn() -> Result<()>) -> Result<Ps> {
    operation()?;
    job.barrier()?;
    let begin = now();
    for _ in 0..ROUNDS {
        operation()?;
    }
    let time = now() - begin;
    job.barrier()?;
    Ok(Ps(time.0 / u64::from(ROUNDS)))
}

/// PE 0 sends PE 1 a word, and gets it back.
fn there_and_back(job: &Job) -> Result<()> {
    let mut word = [u64::from(job.pe())];
    match job.pe() {
        0 => {
            job.send(1, 0, &word)?;
            job.recv(1, 0, &mut word)?;
        }
        1 => {
            job.recv(0, 0, &mut word)?;
            job.send(0, 0, &word)?;
        }
        _ => {}
    }
    Ok(())
}
