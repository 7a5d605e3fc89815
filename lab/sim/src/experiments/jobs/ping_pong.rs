//! Messages back and forth.

use std::cell::RefCell;

use hostwire::PeId;

use crate::engine::{Ps, Summary};
use crate::experiments::ExperimentError;

use super::{Needs, Order, Pair};

/// Messages of this size and less are measured at all phases of a poll, eight times.
const SHORT_BYTES: usize = 1024;
/// Messages of this size and less are measured at all phases, once.
const MEDIUM_BYTES: usize = 8 << 10;
/// Rounds with longer messages: the poll is a small part of their time.
const LONG_ROUNDS: u64 = 2;

/// The results of a ping-pong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PingPong {
    /// Mean over all rounds.
    pub half_round_trip_ns: f64,
    /// The cost of the simulation, with the boot.
    pub summary: Summary,
}

/// When the sides wait on purpose, so that messages arrive at all phases of the other
/// side's poll loop.
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

/// Sends `bytes` bytes from PE 0 to PE 1 and back, at all phases of the poll; what the
/// second side waits on purpose does not count.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn ping_pong(
    pair: &mut Pair<'_>,
    bytes: usize,
    order: Order,
) -> Result<PingPong, ExperimentError> {
    let poll = pair.machine.socket(pair.sockets[0]).config().memory_read;
    let phases = Phases::new(poll, bytes);
    let trips = RefCell::new(Vec::new());
    let summary = pair.run(Needs::default(), &|job, wire| {
        job.set_send_order(order.send_order());
        let out = vec![0x5a_u8; bytes];
        let mut into = vec![0_u8; bytes];
        let other: PeId = 1 - job.pe();
        for round in 0..phases.rounds {
            if job.pe() == 0 {
                wire.compute(phases.first(round))?;
                let begin = wire.now();
                order.send(job, other, &out)?;
                order.receive(job, other, &mut into)?;
                let trip = wire.now() - begin - phases.second(round);
                trips.borrow_mut().push(trip.as_ns());
            } else {
                order.receive(job, other, &mut into)?;
                wire.compute(phases.second(round))?;
                order.send(job, other, &out)?;
            }
        }
        Ok(())
    })?;
    let trips = trips.into_inner();
    if trips.is_empty() {
        return Err(ExperimentError::NoMeasurement("ping-pong"));
    }
    Ok(PingPong {
        half_round_trip_ns: trips.iter().sum::<f64>() / trips.len() as f64 / 2.0,
        summary,
    })
}
