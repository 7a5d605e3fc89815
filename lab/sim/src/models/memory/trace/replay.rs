//! A trace through a memory system.

use std::io::BufRead;

use crate::engine::Ps;
use crate::models::memory::{MemoryError, MemorySystem, Watch};

use super::{Event, Reader, TraceError};

/// The contents of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Loads and stores.
    pub accesses: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Instructions.
    pub instructions: u64,
}

/// Why a trace was not replayed to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The trace.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The memory system.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Sends every access of a trace through `memory`; an instruction takes `instruction`.
///
/// # Errors
/// [`ReplayError`]; what was replayed before counts.
pub fn replay<R: BufRead>(
    memory: &mut MemorySystem,
    trace: Reader<R>,
    instruction: Ps,
    watch: Watch<'_>,
) -> Result<Replayed, ReplayError> {
    let mut replayed = Replayed::default();
    for event in trace {
        match event? {
            Event::Access(access) => {
                memory.access(access)?;
                replayed.accesses += 1;
                replayed.bytes = replayed.bytes.saturating_add(access.bytes);
            }
            Event::Instructions(count) => {
                memory.work(Ps(instruction.0.saturating_mul(count)));
                replayed.instructions = replayed.instructions.saturating_add(count);
            }
        }
        memory.look(watch)?;
    }
    memory.drain();
    Ok(replayed)
}
