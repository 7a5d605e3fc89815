//! Pieces that another PE has put here for devices of this one.

use std::collections::VecDeque;
use std::sync::Arc;

use hostwire_device::Ticket;
use hostwire_transport::PeId;
use hostwire_transport::sync::{Ordering, fence};
use zerocopy::IntoBytes;

use super::Awaited;
use crate::error::Result;
use crate::tca::devices::Allocation;
use crate::tca::door::{HEAD_WORDS, Head, Outcome, SLOTS};
use crate::tca::shared::TcaShared;

/// See the [module text](self).
#[derive(Default)]
pub(super) struct Arrivals {
    /// The number of the last piece that was taken.
    last: u64,
    /// Pieces that are not acknowledged yet, in order.
    under_way: VecDeque<Arrival>,
}

struct Arrival {
    number: u64,
    state: ArrivalState,
}

enum ArrivalState {
    /// The device writes it.
    Writing {
        there: Arc<Allocation>,
        ticket: Ticket,
    },
    /// A word of the own segment gets a value when all before it is done.
    Signal {
        at: usize,
        value: u64,
    },
    Ended(Outcome),
}

impl Arrivals {
    /// Takes the pieces of `pe` that are there, and acknowledges those that are done.
    pub(super) fn step(&mut self, shared: &TcaShared, pe: PeId) -> Result<bool> {
        let mut worked = self.acknowledge(shared, pe)?;
        while let Some(state) = self.next(shared, pe)? {
            self.last += 1;
            let number = self.last;
            self.under_way.push_back(Arrival { number, state });
            worked = true;
        }
        Ok(worked)
    }

    /// What becomes of the next piece, if it is there and can be begun.
    fn next(&self, shared: &TcaShared, pe: PeId) -> Result<Option<ArrivalState>> {
        let (inner, door) = (&shared.inner, &shared.door);
        let number = self.last + 1;
        let slot = (number % SLOTS as u64) as usize;
        let segment = inner.segment();
        if segment.load_word(door.head(pe, slot))? != number {
            return Ok(None);
        }
        fence(Ordering::Acquire);
        let mut words = [0_u64; HEAD_WORDS];
        segment.get(door.head(pe, slot) + 8, words.as_mut_bytes())?;
        let (device, len, address) = match Head::read(words) {
            Some(Head::Write {
                device,
                len,
                address,
            }) => (device, len as usize, address),
            Some(Head::Signal { at, value }) => {
                let is_word = at.is_multiple_of(8) && at < door.pool_bytes as u64;
                return Ok(Some(match is_word {
                    true => ArrivalState::Signal {
                        at: door.pool + at as usize,
                        value,
                    },
                    false => ArrivalState::Ended(Outcome::NotThere),
                }));
            }
            None => return Ok(Some(ArrivalState::Ended(Outcome::NotThere))),
        };
        let found = shared.devices.find(device, address, len as u64);
        let Some((there, offset)) = found.filter(|_| len <= door.piece_bytes) else {
            return Ok(Some(ArrivalState::Ended(Outcome::NotThere)));
        };
        let to = there.at + offset;
        let landing = door.landing(pe, slot);
        Ok(
            match there.device.write(to, segment.memory(), landing, len) {
                Ok(ticket) => ticket.map(|ticket| ArrivalState::Writing { there, ticket }),
                Err(_) => Some(ArrivalState::Ended(Outcome::Failed)),
            },
        )
    }

    fn acknowledge(&mut self, shared: &TcaShared, pe: PeId) -> Result<bool> {
        let mut worked = false;
        while let Some(first) = self.under_way.front() {
            let outcome = match &first.state {
                ArrivalState::Ended(outcome) => *outcome,
                ArrivalState::Signal { at, value } => {
                    let segment = shared.inner.segment();
                    segment.put_word(*at, *value)?;
                    Outcome::Done
                }
                ArrivalState::Writing { there, ticket } => match there.device.finished() {
                    Ok(finished) if finished < *ticket => break,
                    Ok(_) => Outcome::Done,
                    Err(_) => Outcome::Failed,
                },
            };
            let number = first.number;
            let slot = (number % SLOTS as u64) as usize;
            self.under_way.pop_front();
            worked = true;
            let (inner, at) = (&shared.inner, shared.door.ack(shared.inner.pe, slot));
            let said = inner.put_word(pe, at, outcome.of(number));
            // A PE that cannot be told is lost; other PEs are not affected.
            if said.and_then(|()| inner.fence_of(pe)).is_err() {
                inner.check_is_here()?;
                self.under_way.clear();
                break;
            }
        }
        Ok(worked)
    }

    /// A copy of a device for which a piece waits.
    pub(super) fn awaited(&self) -> Option<Awaited> {
        match &self.under_way.front()?.state {
            ArrivalState::Writing { there, ticket } => Some((Arc::clone(&there.device), *ticket)),
            _ => None,
        }
    }
}
