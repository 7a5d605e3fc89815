//! The copies of one stream.
//!
//! Pieces on the same way (from one memory to one memory of one PE) overlap: while a device reads the next
//! one, the last one is on the wire. Before a piece takes another way, all earlier ones must have arrived.

use std::collections::VecDeque;
use std::sync::Arc;

use hostwire_device::{Blocks, Device, Ticket};
use hostwire_transport::{Block, PeId};

use super::channel::{Channel, Landed};
use super::{Awaited, Work, failed};
use crate::error::{Result, TcaError};
use crate::tca::chain::{Source, Step, Steps, Stride, Target, not_there};
use crate::tca::devices::Allocation;
use crate::tca::door::{Head, Outcome};
use crate::tca::progress::StreamProgress;
use crate::tca::shared::TcaShared;
use crate::tca::spot::{DeviceId, Spot};

/// Bytes that are copied from host to host at a time, so that the engine can look at other work. In virtual
/// time all bytes are copied at once, so that the wire may use its method for long puts.
const HOST_PIECE_BYTES: u64 = 256 << 10;

/// What streams take from the engine.
pub(super) struct Room<'a> {
    pub(super) channels: &'a mut [Channel],
    pub(super) staging: &'a mut Vec<usize>,
}

/// See the [module text](self).
pub(super) struct Outgoing {
    state: Arc<StreamProgress>,
    work: VecDeque<Work>,
    /// The next step of the first piece of work.
    step: usize,
    block: u64,
    done_bytes: u64,
    way: Option<Way>,
    flights: VecDeque<Flight>,
    /// It has failed, and pieces under way still use its memory.
    has_failed: bool,
}

/// From which device to which device of which PE.
type Way = (DeviceId, PeId, DeviceId);

/// A piece that has not arrived.
enum Flight {
    /// A device reads it into staging memory; then it is sent on.
    Reading {
        from: Arc<Allocation>,
        ticket: Ticket,
        piece: usize,
        to: To,
        len: usize,
    },
    /// A device of this PE writes it; perhaps from staging memory.
    Writing {
        there: Arc<Allocation>,
        ticket: Ticket,
        piece: Option<usize>,
    },
    /// Another PE has it.
    Landed {
        pe: PeId,
        landed: Landed,
        to: Spot,
        len: usize,
    },
}

impl Flight {
    /// The copy of a device that it waits for.
    fn copy(&self) -> Option<(&Arc<Allocation>, Ticket)> {
        match self {
            Self::Reading { from, ticket, .. } => Some((from, *ticket)),
            Self::Writing { there, ticket, .. } => Some((there, *ticket)),
            Self::Landed { .. } => None,
        }
    }
}

/// Where a piece goes.
#[derive(Clone)]
enum To {
    Host { pe: PeId, at: usize },
    Near { there: Arc<Allocation>, at: u64 },
    Far(Spot),
}

impl To {
    /// The place `bytes` after a target.
    fn behind(target: &Target, bytes: u64) -> Self {
        match target {
            Target::Host { pe, at } => Self::Host {
                pe: *pe,
                at: at + bytes as usize,
            },
            Target::Near { there, at } => Self::Near {
                there: Arc::clone(there),
                at: at + bytes,
            },
            Target::Far(spot) => Self::Far(spot.at(bytes)),
        }
    }
}

impl Outgoing {
    pub(super) fn new(state: Arc<StreamProgress>) -> Self {
        Self {
            state,
            work: VecDeque::new(),
            step: 0,
            block: 0,
            done_bytes: 0,
            way: None,
            flights: VecDeque::new(),
            has_failed: false,
        }
    }

    pub(super) fn take(&mut self, work: Work) {
        match self.state.has_error() {
            true => self.state.end_one(),
            false => self.work.push_back(work),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.work.is_empty() && self.flights.is_empty()
    }

    /// Drops all work. The first piece of work ends when nothing of it is under way any more.
    pub(super) fn give_up(&mut self) {
        self.has_failed = true;
        for _ in self.work.drain(1.min(self.work.len())..) {
            self.state.end_one();
        }
    }

    /// The first copy of a device for which this waits.
    pub(super) fn awaited(&self) -> Option<Awaited> {
        let mut copies = self.flights.iter().filter_map(Flight::copy);
        copies
            .next()
            .map(|(there, ticket)| (Arc::clone(&there.device), ticket))
    }

    /// Does what can be done now. Returns whether it did anything.
    pub(super) fn step(&mut self, shared: &TcaShared, mut room: Room<'_>) -> bool {
        let before = self.state.is_done();
        let worked = self.settle(shared, &mut room).and_then(|settled| {
            let mut worked = settled;
            while self.begin(shared, &mut room)? {
                worked = true;
            }
            Ok(worked)
        });
        let worked = worked.unwrap_or_else(|error| {
            if !self.has_failed {
                self.state.fail(error);
                shared.has_failed(&self.state);
                self.give_up();
            }
            true
        });
        if !before && self.state.is_done() {
            // Its owner may sleep.
            shared.inner.segment().notify();
        }
        worked
    }

    /// Checks the pieces under way, and sends those on that a device has read, in order.
    fn settle(&mut self, shared: &TcaShared, room: &mut Room<'_>) -> Result<bool> {
        let mut worked = false;
        let mut is_blocked = false;
        let mut progress = Progress::default();
        let mut all = Ok(());
        for _ in 0..self.flights.len() {
            let Some(flight) = self.flights.pop_front() else {
                break;
            };
            let waits = is_blocked && matches!(flight, Flight::Reading { .. });
            let next = match all {
                Ok(()) if !waits => self.go_on(shared, room, &mut progress, flight),
                _ => Ok(Next::Stays(flight)),
            };
            match next {
                Ok(Next::Arrived) => worked = true,
                Ok(Next::Goes(flight)) => {
                    worked = true;
                    self.flights.push_back(flight);
                }
                Ok(Next::Stays(flight)) => {
                    is_blocked |= matches!(flight, Flight::Reading { .. });
                    self.flights.push_back(flight);
                }
                Err(error) => all = Err(error),
            }
        }
        all.map(|()| worked)
    }

    fn go_on(
        &self,
        shared: &TcaShared,
        room: &mut Room<'_>,
        progress: &mut Progress,
        flight: Flight,
    ) -> Result<Next> {
        let finished = match flight.copy() {
            None => Ok(()),
            Some((there, ticket)) => match progress.of(&there.device) {
                Ok(finished) if finished < ticket => return Ok(Next::Stays(flight)),
                other => other.map(|_| ()).map_err(|fault| failed(shared, fault)),
            },
        };
        match flight {
            Flight::Landed {
                pe,
                landed,
                to,
                len,
            } => {
                let outcome = room.channels[pe as usize].outcome(shared, pe, landed)?;
                match outcome {
                    Some(Outcome::Done) => Ok(Next::Arrived),
                    Some(Outcome::NotThere) => Err(not_there(to, len as u64)),
                    Some(Outcome::Failed) => {
                        let place = to.to_string();
                        Err(TcaError::FarDevice { pe, place }.into())
                    }
                    None => {
                        shared.inner.check(pe)?;
                        Ok(Next::Stays(Flight::Landed {
                            pe,
                            landed,
                            to,
                            len,
                        }))
                    }
                }
            }
            Flight::Writing { piece, .. } => {
                room.staging.extend(piece);
                finished.map(|()| Next::Arrived)
            }
            Flight::Reading { piece, .. } if finished.is_err() || self.has_failed => {
                room.staging.push(piece);
                finished.map(|()| Next::Arrived)
            }
            Flight::Reading {
                from,
                ticket,
                piece,
                to,
                len,
            } => {
                let own = shared.door.staging(piece);
                match send(shared, room, to.clone(), (own, len), Some(piece)) {
                    Ok(None) => Ok(Next::Stays(Flight::Reading {
                        from,
                        ticket,
                        piece,
                        to,
                        len,
                    })),
                    // A device of this PE still reads the staging memory to write its piece.
                    Ok(Some(next @ Next::Goes(Flight::Writing { .. }))) => Ok(next),
                    Ok(Some(next)) => {
                        room.staging.push(piece);
                        Ok(next)
                    }
                    Err(error) => {
                        room.staging.push(piece);
                        Err(error)
                    }
                }
            }
        }
    }

    /// Begins the next piece, if that can be done now.
    fn begin(&mut self, shared: &TcaShared, room: &mut Room<'_>) -> Result<bool> {
        let Some(work) = self.work.front() else {
            return Ok(false);
        };
        if self.has_failed {
            let is_over = self.flights.is_empty();
            if is_over {
                self.has_failed = false;
                self.end_work();
            }
            return Ok(is_over);
        }
        let steps = match work {
            Work::Wait { at, value } => {
                let there = shared.inner.segment().load_word(*at)? >= *value;
                // Work before and after the wait stays in order.
                if there && self.flights.is_empty() {
                    self.end_work();
                    return Ok(true);
                }
                return Ok(false);
            }
            Work::Steps(steps) => Arc::clone(steps),
        };
        if let Some(tables) = &steps.tables {
            return self.start_table(shared, &steps, tables);
        }
        match steps.steps.get(self.step) {
            None if self.flights.is_empty() => {
                self.end_work();
                Ok(true)
            }
            None => Ok(false),
            Some(Step::Signal { pe, at, value }) => self.signal(shared, room, *pe, *at, *value),
            Some(Step::Copy { to, from, stride }) => {
                self.copy(shared, room, &steps, (to, from, *stride))
            }
        }
    }

    /// Lets the wire make the next table of a chain.
    fn start_table(
        &mut self,
        shared: &TcaShared,
        steps: &Steps,
        tables: &[Vec<Block>],
    ) -> Result<bool> {
        if !self.flights.is_empty() {
            return Ok(false);
        }
        match (tables.get(self.step), shared.inner.wire.chains()) {
            (Some(table), Some(wire)) => {
                for pe in &steps.pes {
                    shared.inner.check(*pe)?;
                }
                wire.put_chain(table)?;
                self.step += 1;
            }
            _ => self.end_work(),
        }
        Ok(true)
    }

    fn end_work(&mut self) {
        self.work.pop_front();
        (self.step, self.block, self.done_bytes) = (0, 0, 0);
        self.state.end_one();
    }

    /// Stores a word behind all before it.
    fn signal(
        &mut self,
        shared: &TcaShared,
        room: &mut Room<'_>,
        pe: PeId,
        at: usize,
        value: u64,
    ) -> Result<bool> {
        let lands_there =
            |flight: &Flight| matches!(flight, Flight::Landed { pe: of, .. } if *of == pe);
        if self.flights.is_empty() {
            shared.inner.put_word(pe, at, value)?;
            shared.inner.fence_of(pe)?;
        } else if self.flights.iter().all(lands_there) {
            let word = (at - shared.door.pool) as u64;
            let head = Head::Signal { at: word, value };
            let channel = &mut room.channels[pe as usize];
            let Some(landed) = channel.send(shared, pe, head, (0, 0))? else {
                return Ok(false);
            };
            let to = Spot::new(pe, DeviceId::HOST, word);
            self.flights.push_back(Flight::Landed {
                pe,
                landed,
                to,
                len: 8,
            });
            // A later copy to the host must not overtake it.
            self.way = None;
        } else {
            return Ok(false);
        }
        self.step += 1;
        Ok(true)
    }

    /// Begins the next piece of a copy.
    fn copy(
        &mut self,
        shared: &TcaShared,
        room: &mut Room<'_>,
        steps: &Steps,
        (to, from, stride): (&Target, &Source, Stride),
    ) -> Result<bool> {
        let way = way(shared, to, from);
        if self.way != Some(way) {
            if !self.flights.is_empty() {
                return Ok(false);
            }
            self.way = Some(way);
        }
        let target = to;
        let to = To::behind(target, self.block * stride.to_step + self.done_bytes);
        let skipped = self.block * stride.from_step + self.done_bytes;
        let left = stride.block_bytes - self.done_bytes;
        let flight = match from {
            Source::Host { at, .. } => {
                let len = left.min(longest(shared, &to)) as usize;
                let sent = send(shared, room, to, (at + skipped as usize, len), None)?;
                sent.map(|next| (next, len, 1))
            }
            Source::Device { there, at } => {
                let rest = Blocks {
                    len: left as usize,
                    count: match self.done_bytes {
                        0 => (stride.blocks - self.block) as usize,
                        _ => 1,
                    },
                    to_step: stride.to_step as usize,
                    from_step: stride.from_step as usize,
                };
                self.read(shared, room, (there, at + skipped), to, rest)?
            }
        };
        let Some((next, len, blocks)) = flight else {
            return Ok(false);
        };
        if let Next::Goes(flight) | Next::Stays(flight) = next {
            self.fly(flight);
        }
        self.advance(steps, stride, len as u64, blocks);
        if let (Target::Host { pe, .. }, true) = (target, self.is_between_steps()) {
            // Steps are ordered, but a wire may reorder stores.
            shared.inner.fence_of(*pe)?;
        }
        Ok(true)
    }

    /// Whether all pieces of the last step have begun.
    fn is_between_steps(&self) -> bool {
        self.block == 0 && self.done_bytes == 0
    }

    /// Notes a piece under way. For copies that a device makes itself, one flight stands for all.
    fn fly(&mut self, flight: Flight) {
        if let (
            Some(Flight::Writing {
                there: of,
                ticket: last,
                piece: None,
            }),
            Flight::Writing {
                there,
                ticket,
                piece: None,
            },
        ) = (self.flights.back_mut(), &flight)
            && Arc::ptr_eq(of, there)
        {
            *last = *ticket;
            return;
        }
        self.flights.push_back(flight);
    }

    /// Begins to read a piece of a device, or to copy blocks within the device. How long each is, and how many.
    fn read(
        &self,
        shared: &TcaShared,
        room: &mut Room<'_>,
        (from, at): (&Arc<Allocation>, u64),
        to: To,
        rest: Blocks,
    ) -> Result<Option<(Next, usize, u64)>> {
        let fault = |fault| failed(shared, fault);
        let at = from.at + at;
        let direct = match &to {
            To::Near { there, at: to }
                if Arc::ptr_eq(&there.device, &from.device)
                    || from.device.reaches(&*there.device) =>
            {
                Some((there.at + to, rest))
            }
            To::Far(spot) => {
                let find = |len: u64| {
                    let (peers, device) = (&shared.peers, (&from.device, from.number));
                    peers.find((&shared.inner, &shared.door), device, (*spot, len))
                };
                let all = rest.extent(rest.to_step).map(|len| find(len as u64));
                let one = Blocks { count: 1, ..rest };
                match all.transpose()?.flatten() {
                    Some(there) => Some((there, rest)),
                    // An error of a block shows in its turn.
                    None => find(rest.len as u64)?.map(|there| (there, one)),
                }
            }
            _ => None,
        };
        if let Some((there, blocks)) = direct {
            let copying = from.device.copy_blocks(there, at, blocks).map_err(fault)?;
            return Ok(copying.map(|(ticket, count)| {
                // The device whose ticket it is; the steps keep what it writes to.
                let there = Arc::clone(from);
                let flight = Flight::Writing {
                    there,
                    ticket,
                    piece: None,
                };
                (Next::Goes(flight), blocks.len, count as u64)
            }));
        }
        let most = from.device.piece_bytes_max().min(shared.door.piece_bytes);
        let len = rest.len.min(most);
        let Some(piece) = room.staging.pop() else {
            return Ok(None);
        };
        let memory = shared.inner.segment().memory();
        let reading = from
            .device
            .read(at, memory, shared.door.staging(piece), len);
        let Some(ticket) = reading
            .map_err(fault)
            .inspect_err(|_| room.staging.push(piece))?
        else {
            room.staging.push(piece);
            return Ok(None);
        };
        let from = Arc::clone(from);
        Ok(Some((
            Next::Goes(Flight::Reading {
                from,
                ticket,
                piece,
                to,
                len,
            }),
            len,
            1,
        )))
    }

    /// Counts a piece that has begun, or whole blocks.
    fn advance(&mut self, steps: &Steps, stride: Stride, len: u64, blocks: u64) {
        debug_assert!(self.step < steps.steps.len());
        self.done_bytes += len;
        if self.done_bytes == stride.block_bytes {
            (self.block, self.done_bytes) = (self.block + blocks, 0);
        }
        if self.block == stride.blocks {
            (self.step, self.block) = (self.step + 1, 0);
        }
    }
}

/// How far a device is. It is asked once for all its pieces, because they end in order.
#[derive(Default)]
struct Progress(Option<(Arc<dyn Device>, Ticket)>);

impl Progress {
    fn of(&mut self, device: &Arc<dyn Device>) -> hostwire_device::Result<Ticket> {
        if let Some((known, finished)) = &self.0
            && Arc::ptr_eq(known, device)
        {
            return Ok(*finished);
        }
        let finished = device.finished()?;
        self.0 = Some((Arc::clone(device), finished));
        Ok(finished)
    }
}

/// What becomes of a piece.
enum Next {
    /// It is under way still, and nothing has happened.
    Stays(Flight),
    /// Its next state.
    Goes(Flight),
    Arrived,
}

fn way(shared: &TcaShared, to: &Target, from: &Source) -> Way {
    let own = |there: &Arc<Allocation>| DeviceId::new(there.number);
    let from = match from {
        Source::Host { .. } => DeviceId::HOST,
        Source::Device { there, .. } => own(there),
    };
    match to {
        Target::Host { pe, .. } => (from, *pe, DeviceId::HOST),
        Target::Near { there, .. } => (from, shared.inner.pe, own(there)),
        Target::Far(spot) => (from, spot.pe(), spot.device()),
    }
}

/// Bytes of the longest piece from the host.
fn longest(shared: &TcaShared, to: &To) -> u64 {
    match to {
        To::Host { .. } if shared.inner.wire.is_in_virtual_time() => u64::MAX,
        To::Host { .. } => HOST_PIECE_BYTES,
        To::Near { there, .. } => there.device.piece_bytes_max() as u64,
        To::Far(_) => shared.door.piece_bytes as u64,
    }
}

/// Sends bytes of the own segment to their target. `None` if that is not possible now.
fn send(
    shared: &TcaShared,
    room: &mut Room<'_>,
    to: To,
    (own, len): (usize, usize),
    piece: Option<usize>,
) -> Result<Option<Next>> {
    match to {
        To::Host { pe, at } => {
            shared.inner.put_own(pe, at, own, len)?;
            if piece.is_some() {
                // The next piece from the device may belong to another step, and a wire may reorder stores.
                shared.inner.fence_of(pe)?;
            }
            Ok(Some(Next::Arrived))
        }
        To::Near { there, at } => {
            let (memory, own) = shared.readable(own, len)?;
            let writing = there.device.write(there.at + at, &memory, own, len);
            let writing = writing.map_err(|fault| failed(shared, fault))?;
            Ok(writing.map(|ticket| {
                Next::Goes(Flight::Writing {
                    there,
                    ticket,
                    piece,
                })
            }))
        }
        To::Far(to) => {
            let pe = to.pe();
            let device = to.device().number().unwrap_or(u32::MAX);
            let head = Head::Write {
                device,
                len: len as u32,
                address: to.address(),
            };
            let channel = &mut room.channels[pe as usize];
            let landed = channel.send(shared, pe, head, (own, len))?;
            Ok(landed.map(|landed| {
                Next::Goes(Flight::Landed {
                    pe,
                    landed,
                    to,
                    len,
                })
            }))
        }
    }
}
