//! Programs that measure, written as a user writes them: a [`Job`] per PE that sends,
//! receives and puts. The code of the message rings is the project's own; only the time
//! is simulated.

use std::cell::RefCell;

use hostwire::{AgentMode, Job, Layout, PeId, SendOrder, Sizes};

use crate::engine::Ps;
use crate::machine::Machine;
use crate::wire::{self, Settings, VirtualWire};

use super::{ExperimentError, mib_per_s};

/// What a line of a ring carries behind its header: the longest message that is one
/// packet.
pub(super) const LINE_PAYLOAD_BYTES: usize = hostwire_transport::ring::PAYLOAD_BYTES;

const TAG: u32 = 0;
/// Messages of this size and less are measured at all phases of a poll, eight times.
const SHORT_BYTES: usize = 1024;
/// Messages of this size and less are measured at all phases, once.
const MEDIUM_BYTES: usize = 8 << 10;
/// Rounds with longer messages: the poll is a small part of their time.
const LONG_ROUNDS: u64 = 2;

type Outcome = Result<(), hostwire::Error>;

/// The two ways of storing that the TCCluster paper compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreOrder {
    /// All at once; no fence but that before a wait.
    Weak,
    /// A store fence behind each line of 64 bytes.
    FencePerLine,
}

impl StoreOrder {
    /// The way by its name in experiments.
    pub fn new(ordered: bool) -> Self {
        match ordered {
            true => Self::FencePerLine,
            false => Self::Weak,
        }
    }
}

/// Runs a job of one PE on each of `sockets`.
fn run(
    machine: &mut Machine,
    sockets: &[usize],
    heap_bytes: usize,
    message_work: Ps,
    program: &dyn Fn(&Job, &VirtualWire) -> Outcome,
) -> Result<(), ExperimentError> {
    let sizes = Sizes {
        heap_bytes,
        ..Sizes::default()
    };
    let layout = Layout::new(sockets.len() as u32, sizes)?;
    let settings = Settings {
        sockets: sockets.to_vec(),
        message_work,
        ..Settings::new(sockets.len(), layout.segment_bytes())
    };
    let failed = RefCell::new(None);
    let ran = wire::run(machine, &settings, &|wire| {
        let result = Job::over(wire.clone(), sizes, AgentMode::Polled).and_then(|job| {
            program(&job, &wire)?;
            job.finalize()
        });
        if let Err(error) = result {
            failed.borrow_mut().get_or_insert(error);
        }
    });
    // It is the cause of what happened to the others.
    match failed.into_inner() {
        Some(error) => Err(error.into()),
        None => Ok(ran?),
    }
}

/// When the sides of a ping-pong wait on purpose, so that messages arrive at all phases
/// of the other side's poll loop.
#[derive(Clone, Copy)]
struct Phases {
    /// One per nanosecond of a poll.
    count: u64,
    rounds: u64,
}

impl Phases {
    fn new(poll: Ps, message_bytes: usize) -> Self {
        let count = (poll.0 / 1_000).max(1);
        let rounds = if message_bytes <= SHORT_BYTES {
            8 * count
        } else if message_bytes <= MEDIUM_BYTES {
            count
        } else {
            LONG_ROUNDS
        };
        Self { count, rounds }
    }

    fn first(self, round: u64) -> Ps {
        Ps::from_ns(round % self.count)
    }

    /// Paired differently in each pass through the phases.
    fn second(self, round: u64) -> Ps {
        Ps::from_ns((round * 31 + round / self.count * 9) % self.count)
    }
}

/// Mean half round trip of `bytes` bytes between PEs on two sockets; what the second side
/// waits on purpose does not count. In weak order the bytes are one message, otherwise a
/// message per line.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn half_round_trip_ns(
    machine: &mut Machine,
    sockets: [usize; 2],
    bytes: usize,
    order: StoreOrder,
) -> Result<f64, ExperimentError> {
    let poll = machine.socket(sockets[0]).config().memory_read;
    let phases = Phases::new(poll, bytes);
    let trips = RefCell::new(Vec::new());
    run(machine, &sockets, 0, Ps::ZERO, &|job, wire| {
        job.set_send_order(SendOrder::Weak);
        let out = vec![0x5a_u8; bytes];
        let mut into = vec![0_u8; bytes];
        let other: PeId = 1 - job.pe();
        for round in 0..phases.rounds {
            if job.pe() == 0 {
                wire.compute(phases.first(round))?;
                let begin = wire.now();
                send(job, other, &out, order)?;
                receive(job, other, &mut into, order)?;
                let trip = wire.now() - begin - phases.second(round);
                trips.borrow_mut().push(trip.as_ns());
            } else {
                receive(job, other, &mut into, order)?;
                wire.compute(phases.second(round))?;
                send(job, other, &out, order)?;
            }
        }
        Ok(())
    })?;
    let trips = trips.into_inner();
    match trips.is_empty() {
        true => Err(ExperimentError::NoMeasurement("ping-pong")),
        false => Ok(trips.iter().sum::<f64>() / trips.len() as f64 / 2.0),
    }
}

fn send(job: &Job, to: PeId, bytes: &[u8], order: StoreOrder) -> Outcome {
    match order {
        StoreOrder::Weak => job.send(to, TAG, bytes),
        StoreOrder::FencePerLine => bytes.chunks(LINE_PAYLOAD_BYTES).try_for_each(|line| {
            job.send(to, TAG, line)?;
            job.fence()
        }),
    }
}

fn receive(job: &Job, from: PeId, into: &mut [u8], order: StoreOrder) -> Outcome {
    let message_bytes = match order {
        StoreOrder::Weak => into.len().max(1),
        StoreOrder::FencePerLine => LINE_PAYLOAD_BYTES,
    };
    into.chunks_mut(message_bytes)
        .try_for_each(|part| job.recv(from, TAG, part).map(drop))
}

/// Rates of a stream of puts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PutRates {
    /// Bytes over the time until the last put has returned: what the sender believes.
    pub apparent_mib_s: f64,
    /// Bytes over the time until all have arrived.
    pub arrived_mib_s: f64,
}

/// Puts `bytes` bytes, in whole lines, from the first socket to the second.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn put_rates(
    machine: &mut Machine,
    sockets: [usize; 2],
    bytes: usize,
    order: StoreOrder,
) -> Result<PutRates, ExperimentError> {
    let times = RefCell::new(None);
    run(machine, &sockets, bytes, Ps::ZERO, &|job, wire| {
        let target = job.alloc::<u8>(bytes)?;
        if job.pe() == 0 {
            let source = vec![0x5a; bytes];
            let begin = wire.now();
            match order {
                StoreOrder::Weak => target.put(1, 0, &source)?,
                StoreOrder::FencePerLine => {
                    for (line, data) in source.chunks(64).enumerate() {
                        target.put(1, line * 64, data)?;
                        job.fence()?;
                    }
                }
            }
            let issued = wire.now() - begin;
            job.quiet()?;
            *times.borrow_mut() = Some((issued, wire.now() - begin));
        }
        job.barrier()
    })?;
    let (issued, arrived) = times
        .into_inner()
        .ok_or(ExperimentError::NoMeasurement("stream of puts"))?;
    Ok(PutRates {
        apparent_mib_s: mib_per_s(bytes as u64, issued),
        arrived_mib_s: mib_per_s(bytes as u64, arrived),
    })
}

/// Lines that a weakly ordered stream of messages of one line each brings per second, 64
/// bytes each, as the receiver sees it. `work` is what the sender's processor does for a message.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn message_mib_s(
    machine: &mut Machine,
    sockets: [usize; 2],
    messages: u64,
    work: Ps,
) -> Result<f64, ExperimentError> {
    let times = RefCell::new(Vec::new());
    run(machine, &sockets, 0, work, &|job, wire| {
        job.set_send_order(SendOrder::Weak);
        let mut message = [0x5a_u8; LINE_PAYLOAD_BYTES];
        for _ in 0..messages {
            if job.pe() == 0 {
                job.send(1, TAG, &message)?;
            } else {
                job.recv(0, TAG, &mut message)?;
                times.borrow_mut().push(wire.now());
            }
        }
        Ok(())
    })?;
    match times.into_inner()[..] {
        [first, .., last] => Ok(mib_per_s((messages - 1) * 64, last - first)),
        _ => Err(ExperimentError::NoMeasurement("stream of messages")),
    }
}
