//! Stores between hosts with boards that carry messages: the driver in the library of a PE.
//!
//! A store to a PE of another host is one message or several; each begins with a word that says
//! where its bytes go. A PE of the target takes the messages of its host from the ring when it
//! looks, and copies them. A sender knows by answers how much has been taken, so that no board
//! writes over a message that nobody has taken.

mod header;
mod ring;

use std::ops::Range;

use hostwire_transport::{Memory, PeId, TransportError};

use crate::engine::Ps;
use crate::machine::htx::DESTINATION_BYTES;
use crate::models::ht::opteron::{OpteronConfig, WriteObserver};

use super::board::{Board, Op, Request, SharedBoard};
use super::socket::NetworkBoard;
use super::transport::VirtualWire;

pub use header::HOST_PES_MAX;
use header::{BODY_BYTES, Header, Kind};
pub(super) use ring::Ring;
use ring::{ANSWER_SLOTS, Arrived, RingObserver};

const HEADER_BYTES: usize = 8;
const LINE: usize = 64;

/// How a loop of loads sees memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    /// From the begin of a load to the moment when it sees memory.
    sample: Ps,
    /// A whole load.
    load: Ps,
}

impl Looks {
    pub(super) fn new(config: &OpteronConfig) -> Self {
        Self {
            sample: config.memory_sample(),
            load: config.memory_read,
        }
    }

    /// When a PE that began to look at `since` has seen a write of this moment: the loads of its
    /// loop follow each other without a gap.
    pub(super) fn seen_at(self, now: Ps, since: Ps) -> Ps {
        let first = since + self.sample;
        let period = self.load.0.max(1);
        let loads = now.0.saturating_sub(first.0).div_ceil(period);
        first + Ps(loads * period) + (self.load - self.sample)
    }
}

/// A PE's way to other PEs, over the board of its host.
#[derive(Debug)]
pub(super) struct Messages {
    /// The own host.
    host: usize,
    /// The host of each PE, and its number there.
    seats: Vec<(usize, u8)>,
    segments: Vec<Memory>,
    looks: Looks,
    send_base: u64,
    store_line: Ps,
    /// Messages that a host may have sent to another without knowing that they were taken.
    window: u64,
}

/// What a PE waits for when it looks at its ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RingWait {
    /// Room in the ring of a host.
    Room(usize),
    /// The answer of a host.
    Answer(usize),
}

impl Messages {
    /// Makes the ways of all PEs, of which `hosts` has the hosts, and the drivers' state.
    pub(super) fn of_all(
        shared: &SharedBoard,
        hosts: &[usize],
        boards: &[(NetworkBoard, OpteronConfig)],
        segments: &[Memory],
    ) -> Vec<Self> {
        let board = &mut *shared.lock();
        let count = boards.first().map_or(0, |(board, _)| board.hosts);
        board.rings = (0..count).map(|_| Ring::new(count)).collect();
        let mut seats = Vec::new();
        for (pe, host) in hosts.iter().enumerate() {
            let pes = board.ring(*host).map(|ring| {
                ring.pes.push(pe);
                ring.pes.len() - 1
            });
            seats.push((*host, pes.unwrap_or(0) as u8));
        }
        let slots = boards.iter().map(|(board, _)| board.config.ring_slots);
        let share = slots.min().unwrap_or(0) / (count as u64).saturating_sub(1).max(1);
        let ways = hosts
            .iter()
            .zip(boards)
            .map(|(host, (board, config))| Self {
                host: *host,
                seats: seats.clone(),
                segments: segments.to_vec(),
                looks: Looks::new(config),
                send_base: board.config.send_base,
                store_line: config.store_line,
                window: share.saturating_sub(ANSWER_SLOTS).max(1),
            });
        ways.collect()
    }

    /// What notes the messages that come to a host.
    pub(super) fn observer(
        board: &SharedBoard,
        host: usize,
        network: &NetworkBoard,
        config: &OpteronConfig,
    ) -> impl WriteObserver + 'static {
        let start = network.config.ring_base;
        let ring: Range<u64> =
            start..start + network.config.ring_slots * hostwire_plan::htx::SLOT_BYTES;
        RingObserver {
            board: board.clone(),
            host,
            ring,
            payload: Vec::new(),
            looks: Looks::new(config),
        }
    }

    fn seat(&self, pe: PeId) -> Option<(usize, u8)> {
        self.seats.get(pe as usize).copied()
    }
}

impl VirtualWire {
    /// Stores bytes in the segment of another PE.
    pub(super) fn put_messages(
        &self,
        way: &Messages,
        pe: PeId,
        offset_bytes: usize,
        src: &[u8],
    ) -> Result<(), TransportError> {
        let Some((host, number)) = way.seat(pe) else {
            return Ok(());
        };
        if host == way.host {
            return self.put_beside(way, pe, offset_bytes, src);
        }
        let mut at = offset_bytes;
        let mut rest = src;
        while !rest.is_empty() {
            // Words of eight bytes stay whole.
            let (now, later) = rest.split_at(rest.len().min(BODY_BYTES - at % HEADER_BYTES));
            let header = Header {
                kind: Kind::Put,
                pe: number,
                len: now.len() as u8,
                offset_bytes: at as u64,
                taken: 0,
            };
            self.wait_for_room(way, host)?;
            self.send_message(way, host, header, now)?;
            at += now.len();
            rest = later;
        }
        Ok(())
    }

    /// Stores a line of which `payload_bytes` behind its header count; the header comes last, or
    /// together with them.
    pub(super) fn put_line(
        &self,
        way: &Messages,
        pe: PeId,
        offset_bytes: usize,
        line: &[u8; LINE],
        payload_bytes: usize,
    ) -> Result<(), TransportError> {
        let (whole, _) = line.split_at(HEADER_BYTES + payload_bytes.min(BODY_BYTES));
        if whole.len() <= BODY_BYTES {
            return self.put_messages(way, pe, offset_bytes, whole);
        }
        let (head, body) = whole.split_at(HEADER_BYTES);
        self.put_messages(way, pe, offset_bytes + HEADER_BYTES, body)?;
        self.put_messages(way, pe, offset_bytes, head)
    }

    /// A copy within the memory of the host.
    fn put_beside(
        &self,
        way: &Messages,
        pe: PeId,
        offset_bytes: usize,
        src: &[u8],
    ) -> Result<(), TransportError> {
        let words = (src.len() as u64).div_ceil(8);
        self.compute(self.send_work + Ps(way.store_line.0 * words / 8))?;
        let board = &mut *self.board.lock();
        deliver(board, way, pe as usize, offset_bytes, src)
    }

    /// Sends a message. If it is counted, there must be room for it.
    fn send_message(
        &self,
        way: &Messages,
        host: usize,
        header: Header,
        body: &[u8],
    ) -> Result<(), TransportError> {
        let taken = {
            let board = &mut *self.board.lock();
            let peer = board.peer(way.host, host);
            peer.map_or(0, |peer| {
                peer.sent += u64::from(header.kind != Kind::Answer);
                if header.kind == Kind::Ask {
                    peer.asked = Some(peer.sent);
                }
                peer.tell()
            })
        };
        let mut data = Header { taken, ..header }.word().to_le_bytes().to_vec();
        data.extend_from_slice(body);
        // The smallest message has 16 bytes (paper, section 5).
        let bytes = data.len().next_multiple_of(8).max(2 * HEADER_BYTES);
        data.resize(bytes, 0);
        let line = way.seats.get(self.pe).map_or(0, |(_, number)| *number);
        let address =
            way.send_base + host as u64 * DESTINATION_BYTES + u64::from(line) * LINE as u64;
        self.work_to_send()?;
        self.perform(Op::Store { address, data })?;
        if bytes < LINE {
            // A full line leaves by itself.
            self.perform(Op::Fence)?;
        }
        Ok(())
    }

    /// Returns when the host's ring has room for one more, or nobody is there to take it.
    fn wait_for_room(&self, way: &Messages, host: usize) -> Result<(), TransportError> {
        self.wait_at_ring(way, (Some(RingWait::Room(host)), None), |board| {
            let full = board
                .peer(way.host, host)
                .is_some_and(|peer| peer.sent - peer.known >= way.window);
            !full || !board.has_pes(host)
        })
    }

    /// Returns when all that this host has sent to others is in their segments.
    pub(super) fn quiet_messages(&self, way: &Messages) -> Result<(), TransportError> {
        let hosts = self.board.lock().rings.len();
        for host in (0..hosts).filter(|host| *host != way.host) {
            let all = match self.board.lock().peer(way.host, host) {
                Some(peer) => peer.sent,
                None => continue,
            };
            let is_known = |board: &mut Board| {
                board
                    .peer(way.host, host)
                    .is_none_or(|peer| peer.known >= all)
                    || !board.has_pes(host)
            };
            while !is_known(&mut self.board.lock()) {
                let asks = |board: &mut Board| {
                    board
                        .peer(way.host, host)
                        .is_some_and(|peer| peer.asked.is_some())
                };
                let has_asked = asks(&mut self.board.lock());
                if !has_asked {
                    self.ask(way, host)?;
                }
                let wait = Some(RingWait::Answer(host));
                self.wait_at_ring(way, (wait, None), |board| is_known(board) || !asks(board))?;
            }
        }
        Ok(())
    }

    fn ask(&self, way: &Messages, host: usize) -> Result<(), TransportError> {
        self.wait_for_room(way, host)?;
        let has_asked = {
            let board = &mut *self.board.lock();
            board
                .peer(way.host, host)
                .is_some_and(|peer| peer.asked.is_some())
        };
        match has_asked {
            // Another PE of the host has asked in the meantime.
            true => Ok(()),
            false => self.send_message(way, host, Header::bare(Kind::Ask), &[]),
        }
    }

    /// Takes messages until something has become true. A wait that ends at a time is woken then.
    fn wait_at_ring(
        &self,
        way: &Messages,
        (wait, until): (Option<RingWait>, Option<Ps>),
        is_done: impl Fn(&mut Board) -> bool,
    ) -> Result<(), TransportError> {
        let mut has_looked = false;
        while !is_done(&mut self.board.lock()) {
            self.take_messages(way, has_looked)?;
            has_looked = false;
            let sleeps = {
                let board = &mut *self.board.lock();
                let more = board
                    .ring(way.host)
                    .is_some_and(|ring| !ring.arrived.is_empty() && !ring.is_taking);
                !is_done(board) && !more
            };
            if sleeps {
                self.own(|pe| pe.ring_wait = wait)?;
                let since = self.now();
                self.request(Request::Store { since, until })?;
                self.own(|pe| pe.ring_wait = None)?;
                // The load that ended the sleep has seen the status.
                has_looked = true;
            }
        }
        Ok(())
    }

    /// Sleeps until something is stored to the own segment, or a PE ends, or for `limit`.
    pub(super) fn sleep_at_ring(
        &self,
        way: &Messages,
        limit: Option<Ps>,
    ) -> Result<(), TransportError> {
        let until = limit.map(|limit| self.now() + limit);
        let before = self.own(|pe| {
            pe.look_is_paid = false;
            pe.armed.take().unwrap_or(pe.rings)
        })?;
        if self.own(|pe| pe.rings != before)? {
            return self.compute(self.look);
        }
        let me = self.pe;
        let is_rung = |board: &mut Board| {
            let is_over = until.is_some_and(|until| board.now >= until);
            // What has come meanwhile is seen by one more look.
            let is_empty = |ring: &mut Ring| ring.arrived.is_empty();
            is_over && board.ring(way.host).is_none_or(is_empty)
                || board.pes.get(me).is_none_or(|pe| pe.rings != before)
        };
        self.wait_at_ring(way, (None, until), is_rung)
    }

    /// Takes the messages that are there. `has_looked`: a load has just seen the first status.
    /// Returns whether there were any.
    pub(super) fn take_messages(
        &self,
        way: &Messages,
        has_looked: bool,
    ) -> Result<bool, TransportError> {
        let is_busy = match self.board.lock().ring(way.host) {
            Some(ring) => std::mem::replace(&mut ring.is_taking, true),
            None => return Ok(false),
        };
        if is_busy {
            self.compute(self.look)?;
            return Ok(false);
        }
        let took = self.take_all(way, has_looked);
        let now = self.now();
        let board = &mut *self.board.lock();
        let more = board.ring(way.host).is_some_and(|ring| {
            ring.is_taking = false;
            !ring.arrived.is_empty()
        });
        if more || took != Ok(0) {
            // They may wait for what the messages said, or could not take them.
            board.wake_host(way.host, now, way.looks);
        }
        took.map(|count| count > 0)
    }

    fn take_all(&self, way: &Messages, has_looked: bool) -> Result<u64, TransportError> {
        let mut has_looked = has_looked;
        let mut count = 0;
        loop {
            if !std::mem::take(&mut has_looked) {
                self.compute(self.look)?;
            }
            let now = self.now();
            let message = {
                let board = &mut *self.board.lock();
                let seen =
                    |message: &Arrived| message.at + way.looks.load <= now + way.looks.sample;
                board.ring(way.host).and_then(|ring| {
                    let is_seen = ring.arrived.front().is_some_and(seen);
                    is_seen.then(|| ring.arrived.pop_front()).flatten()
                })
            };
            let Some(message) = message else {
                return Ok(count);
            };
            count += 1;
            // The line with the payload, and the work.
            self.compute(self.look + self.send_work)?;
            self.take_one(way, &message)?;
        }
    }

    fn take_one(&self, way: &Messages, message: &Arrived) -> Result<(), TransportError> {
        let Arrived {
            source, payload, ..
        } = message;
        let word = payload.first_chunk().copied().map(u64::from_le_bytes);
        let Some(header) = word.and_then(Header::parse) else {
            return Ok(());
        };
        let answers = {
            let board = &mut *self.board.lock();
            let Some(peer) = board.peer(way.host, *source) else {
                return Ok(());
            };
            peer.learn(header.taken);
            peer.taken += u64::from(header.kind != Kind::Answer);
            let many = peer.taken - peer.told >= way.window.div_ceil(2);
            if header.kind == Kind::Put {
                let ring = board.ring(way.host);
                let pe = ring.and_then(|ring| ring.pes.get(usize::from(header.pe)).copied());
                let body = payload.get(HEADER_BYTES..HEADER_BYTES + usize::from(header.len));
                if let (Some(pe), Some(body)) = (pe, body) {
                    deliver(board, way, pe, header.offset_bytes as usize, body)?;
                }
            }
            many || header.kind == Kind::Ask
        };
        if answers {
            self.send_message(way, *source, Header::bare(Kind::Answer), &[])?;
        }
        Ok(())
    }
}

impl Header {
    /// One that brings no bytes.
    fn bare(kind: Kind) -> Self {
        Self {
            kind,
            pe: 0,
            len: 0,
            offset_bytes: 0,
            taken: 0,
        }
    }
}

/// Copies bytes to the segment of a PE of this host, and wakes it if it sleeps.
fn deliver(
    board: &mut Board,
    way: &Messages,
    pe: usize,
    offset_bytes: usize,
    bytes: &[u8],
) -> Result<(), TransportError> {
    if let Some(segment) = way.segments.get(pe) {
        segment.copy_in(offset_bytes, bytes)?;
    }
    if let Some(entry) = board.pes.get_mut(pe) {
        entry.rings += 1;
    }
    let now = board.now;
    board.wake_sleeper(pe, now, way.looks);
    Ok(())
}
