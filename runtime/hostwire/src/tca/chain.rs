//! Chains of copies: as the program describes them, and after the check.

use std::sync::Arc;

use hostwire_transport::{Block as Put, PeId};

use super::buffer::Block;
use super::devices::Allocation;
use super::shared::TcaShared;
use super::spot::Spot;
use super::table::tables;
use crate::error::{Result, TcaError};

/// Blocks at regular distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// Bytes of a block.
    pub block_bytes: u64,
    /// How many blocks.
    pub blocks: u64,
    /// From the start of a block to that of the next one, at the destination.
    pub to_step: u64,
    /// The same, at the source.
    pub from_step: u64,
}

/// Copies and signals, in order: the input of [`Tca::prepare`](super::Tca).
///
/// It may have any number of descriptors; a block-stride transfer is one. (A table of the PEACH2 chip has 255
/// of them, one for each block.)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    descriptors: Vec<Descriptor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Descriptor {
    Copy {
        to: Spot,
        from: Spot,
        stride: Stride,
    },
    Signal {
        word: Spot,
        value: u64,
    },
}

impl Chain {
    /// An empty chain.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a copy of consecutive bytes.
    pub fn copy(&mut self, to: Spot, from: Spot, len: u64) -> &mut Self {
        let stride = Stride {
            block_bytes: len,
            blocks: 1,
            to_step: 0,
            from_step: 0,
        };
        self.block_stride(to, from, stride)
    }

    /// Adds a copy of blocks.
    pub fn block_stride(&mut self, to: Spot, from: Spot, stride: Stride) -> &mut Self {
        self.descriptors.push(Descriptor::Copy { to, from, stride });
        self
    }

    /// Adds a signal: a word of host memory that gets a value when all earlier copies of the chain are there.
    pub fn signal(&mut self, word: Spot, value: u64) -> &mut Self {
        self.descriptors.push(Descriptor::Signal { word, value });
        self
    }

    /// How many descriptors it has.
    pub fn len(&self) -> usize {
        self.descriptors.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.descriptors.is_empty()
    }
}

/// A chain that was checked, and can be started as often as wanted: [`Stream::start`](super::Stream::start).
/// The memory of its sources stays until it is dropped.
#[derive(Clone)]
pub struct Prepared(pub(super) Arc<Steps>);

/// What a chain does.
pub(super) struct Steps {
    pub(super) steps: Vec<Step>,
    /// The PEs that it leads to.
    pub(super) pes: Vec<PeId>,
    /// Bytes of all copies.
    pub(super) bytes: u64,
    /// If the wire makes all copies itself: its tables.
    pub(super) tables: Option<Vec<Vec<Put>>>,
}

pub(super) enum Step {
    Copy {
        to: Target,
        from: Source,
        stride: Stride,
    },
    /// At this offset in the segments.
    Signal { pe: PeId, at: usize, value: u64 },
}

/// Where bytes go.
pub(super) enum Target {
    /// To host memory of a PE, at this offset in the segments.
    Host { pe: PeId, at: usize },
    /// To a device of this PE.
    Near { there: Arc<Allocation>, at: u64 },
    /// To a device of another PE.
    Far(Spot),
}

/// Where bytes come from.
pub(super) enum Source {
    /// The own segment, and the owner that keeps the memory allocated.
    Host {
        at: usize,
        _block: Arc<Block>,
    },
    Device {
        there: Arc<Allocation>,
        at: u64,
    },
}

impl Prepared {
    /// Bytes of all its copies.
    pub fn len_bytes(&self) -> u64 {
        self.0.bytes
    }

    /// Checks a chain that is started more than once, so that it is worth while to give all of it to the
    /// wire.
    pub(super) fn for_wire(shared: &TcaShared, chain: &Chain) -> Result<Self> {
        let mut steps = Self::steps(shared, chain)?;
        steps.tables = tables(shared, &steps.steps);
        Ok(Self(Arc::new(steps)))
    }

    /// Checks a chain whose copies are made one by one.
    pub(super) fn check(shared: &TcaShared, chain: &Chain) -> Result<Self> {
        Ok(Self(Arc::new(Self::steps(shared, chain)?)))
    }

    fn steps(shared: &TcaShared, chain: &Chain) -> Result<Steps> {
        shared.inner.check_is_here()?;
        if chain.is_empty() {
            return Err(TcaError::EmptyChain.into());
        }
        let mut steps = Vec::with_capacity(chain.len());
        let (mut pes, mut bytes) = (Vec::new(), 0_u64);
        for descriptor in &chain.descriptors {
            let pe = match *descriptor {
                Descriptor::Signal { word, value } => {
                    let at = word_at(shared, word)?;
                    let pe = word.pe();
                    steps.push(Step::Signal { pe, at, value });
                    pe
                }
                Descriptor::Copy { to, from, stride } => {
                    let Some(len) = stride.block_bytes.checked_mul(stride.blocks) else {
                        return Err(not_allocated(from, u64::MAX));
                    };
                    if len == 0 {
                        continue;
                    }
                    let source = source(shared, from, span(stride, stride.from_step))?;
                    let target = target(shared, to, span(stride, stride.to_step))?;
                    steps.push(Step::Copy {
                        to: target,
                        from: source,
                        stride,
                    });
                    bytes = bytes.saturating_add(len);
                    to.pe()
                }
            };
            if !pes.contains(&pe) {
                pes.push(pe);
            }
        }
        Ok(Steps {
            steps,
            pes,
            bytes,
            tables: None,
        })
    }
}

/// Bytes from the first of all blocks to the last; `u64::MAX` on overflow.
fn span(stride: Stride, step: u64) -> u64 {
    let skipped = step.checked_mul(stride.blocks - 1);
    let span = skipped.and_then(|skipped| skipped.checked_add(stride.block_bytes));
    span.unwrap_or(u64::MAX)
}

fn not_allocated(from: Spot, len: u64) -> crate::Error {
    TcaError::NotAllocated {
        place: from.to_string(),
        len,
    }
    .into()
}

fn source(shared: &TcaShared, from: Spot, len: u64) -> Result<Source> {
    let pe = shared.inner.pe;
    if from.pe() != pe {
        return Err(TcaError::RemoteRead {
            pe,
            of: from.pe(),
            source_place: from.to_string(),
        }
        .into());
    }
    match from.device().number() {
        None => {
            let block = shared.pool.find(from.address(), len);
            let block = block.ok_or_else(|| not_allocated(from, len))?;
            let at = shared.door.pool + from.address() as usize;
            Ok(Source::Host { at, _block: block })
        }
        Some(number) => {
            let found = shared.devices.find(number, from.address(), len);
            let (there, at) = found.ok_or_else(|| not_allocated(from, len))?;
            Ok(Source::Device { there, at })
        }
    }
}

fn target(shared: &TcaShared, to: Spot, len: u64) -> Result<Target> {
    shared.inner.check(to.pe())?;
    match to.device().number() {
        None => Ok(Target::Host {
            pe: to.pe(),
            at: host_at(shared, to, len)?,
        }),
        Some(number) if to.pe() == shared.inner.pe => {
            let found = shared.devices.find(number, to.address(), len);
            let (there, at) = found.ok_or_else(|| not_there(to, len))?;
            Ok(Target::Near { there, at })
        }
        // Only its PE knows the memory of its devices: the check happens there.
        Some(_) => match to.address().checked_add(len) {
            Some(_) if shared.is_serving(to.pe())? => Ok(Target::Far(to)),
            _ => Err(not_there(to, len)),
        },
    }
}

pub(super) fn not_there(to: Spot, len: u64) -> crate::Error {
    let (pe, place) = (to.pe(), to.to_string());
    TcaError::NotThere { pe, place, len }.into()
}

/// Where host memory lies in the segment of its PE.
fn host_at(shared: &TcaShared, to: Spot, len: u64) -> Result<usize> {
    let end = to.address().checked_add(len);
    let fits = end.is_some_and(|end| end <= shared.door.pool_bytes as u64);
    match fits {
        true => Ok(shared.door.pool + to.address() as usize),
        false => Err(not_there(to, len)),
    }
}

/// Where a word of host memory lies in the segment of its PE.
pub(super) fn word_at(shared: &TcaShared, word: Spot) -> Result<usize> {
    shared.inner.check(word.pe())?;
    if word.device().number().is_some() || !word.address().is_multiple_of(8) {
        return Err(TcaError::NoWord {
            place: word.to_string(),
        }
        .into());
    }
    host_at(shared, word, 8)
}
