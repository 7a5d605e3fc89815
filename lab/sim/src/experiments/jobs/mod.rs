//! Programs that measure, written as a user writes them: a [`Job`] per PE that sends,
//! receives and puts. The code of the message rings is the project's own; only the time
//! is simulated.

mod ping_pong;
mod put;
mod stream;

use std::cell::RefCell;

use hostwire::{AgentMode, Job, Layout, PeId, SendOrder, Sizes};
use serde::Serialize;

use crate::engine::Summary;
use crate::machine::Machine;
use crate::wire::{self, Settings, VirtualWire, WireError};

use super::ExperimentError;
use super::monitor::Monitor;

pub use ping_pong::{PingPong, ping_pong};
pub use put::{Put, put};
pub use stream::{Stream, stream};

/// The bytes of a line behind its header: the longest message that is one packet.
pub const LINE_PAYLOAD_BYTES: usize = hostwire_transport::ring::PAYLOAD_BYTES;

const TAG: u64 = 0;

type Outcome = Result<(), hostwire::Error>;

/// How a program orders what it sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Order {
    /// [`SendOrder::Weak`]: no fence but that before a wait.
    Weak,
    /// [`SendOrder::Strict`], the library's default: a fence before and behind a message.
    Strict,
    /// A message or put per line, and a fence behind each: the ordered stores of the
    /// TCCluster paper.
    Fenced,
}

impl Order {
    /// The paper's two ways of storing.
    pub fn of_the_paper(ordered: bool) -> Self {
        match ordered {
            true => Self::Fenced,
            false => Self::Weak,
        }
    }

    fn send_order(self) -> SendOrder {
        match self {
            Self::Strict => SendOrder::Strict,
            Self::Weak | Self::Fenced => SendOrder::Weak,
        }
    }

    /// Sends `bytes`, in as many messages as the order asks for.
    fn send(self, job: &Job, to: PeId, bytes: &[u8]) -> Outcome {
        match self {
            Self::Weak | Self::Strict => job.send(to, TAG, bytes),
            Self::Fenced => bytes.chunks(LINE_PAYLOAD_BYTES).try_for_each(|line| {
                job.send(to, TAG, line)?;
                job.fence()
            }),
        }
    }

    /// Receives what [`send`](Self::send) has sent.
    fn receive(self, job: &Job, from: PeId, into: &mut [u8]) -> Outcome {
        match self {
            Self::Weak | Self::Strict => job.recv(from, TAG, into).map(drop),
            Self::Fenced => into
                .chunks_mut(LINE_PAYLOAD_BYTES)
                .try_for_each(|line| job.recv(from, TAG, line).map(drop)),
        }
    }
}

/// Two sockets of a booted machine, one PE on each, and what may end a job early.
pub struct Pair<'m> {
    /// The machine; idle.
    pub machine: &'m mut Machine,
    /// Where PE 0 and PE 1 run.
    pub sockets: [usize; 2],
    /// A job is given up after so many events.
    pub events_max: u64,
    /// Sees the job run, and may end it.
    pub monitor: Option<&'m Monitor>,
}

/// The settings of a program.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    /// Symmetric heap of each PE.
    heap_bytes: usize,
}

impl Needs {
    fn sizes(self) -> Sizes {
        Sizes {
            heap_bytes: self.heap_bytes,
            ..Sizes::default()
        }
    }
}

/// Bytes that each of two PEs of these jobs takes of its node's memory, with a heap of
/// `heap_bytes`; `None` if that is no size.
pub(super) fn segment_bytes(heap_bytes: u64) -> Option<u64> {
    let needs = Needs {
        heap_bytes: usize::try_from(heap_bytes).ok()?,
    };
    let layout = Layout::new(2, needs.sizes()).ok()?;
    u64::try_from(layout.segment_bytes()).ok()
}

impl<'m> Pair<'m> {
    /// Without limits.
    pub fn new(machine: &'m mut Machine, sockets: [usize; 2]) -> Self {
        Self {
            machine,
            sockets,
            events_max: u64::MAX,
            monitor: None,
        }
    }

    /// Runs `program` on both PEs.
    fn run(
        &mut self,
        needs: Needs,
        program: &dyn Fn(&Job, &VirtualWire) -> Outcome,
    ) -> Result<Summary, ExperimentError> {
        let sizes = needs.sizes();
        let layout = Layout::new(2, sizes)?;
        let settings = Settings {
            sockets: self.sockets.to_vec(),
            events_max: self.events_max,
            ..Settings::new(2, layout.segment_bytes())
        };
        let failed = RefCell::new(None);
        let body = |wire: std::sync::Arc<VirtualWire>| {
            let result = Job::over(wire.clone(), sizes, AgentMode::Polled).and_then(|job| {
                program(&job, &wire)?;
                job.finalize()
            });
            if let Err(error) = result {
                failed.borrow_mut().get_or_insert(error);
            }
        };
        let ran = match self.monitor {
            Some(monitor) => {
                let watch = |summary: &Summary| monitor.watch(summary);
                wire::run_watched(&mut *self.machine, &settings, &watch, &body)
            }
            None => wire::run(&mut *self.machine, &settings, &body),
        };
        if let Err(WireError::Interrupted { events, time }) = ran {
            return Err(ExperimentError::Cancelled { events, time });
        }
        // It is the cause of what happened to the others.
        match failed.into_inner() {
            Some(error) => Err(error.into()),
            None => Ok(ran?),
        }
    }
}
