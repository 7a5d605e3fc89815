//! Packets to be sent: credits, queues, packing.

use hostwire_packet::ht::{
    Address, LINE_LEN, LINE_PACKET_LEN, NOP_LEN, PacketRepr, VirtualChannel,
};
use hostwire_packet::htoe::{HEADER_LEN, OVERHEAD, line_control};

use super::{EndpointShared, Link, LinkState};
use crate::error::SendError;
use crate::flight::{Burst, Slot};
use crate::pool::Pool;
use crate::queue::pass_pw;

/// Room before the packets for NOPs, which are only known when the frame leaves. A frame of 22
/// lines in 1500 bytes has room for so many.
pub(super) const NOPS_WITH_PACKETS_MAX: usize = 16;

/// NOPs for which a burst leaves room while credits are owed: as many as 20 lines of 72 bytes
/// left.
const NOPS_WITH_LINES_MIN: usize = 10;

/// Where the packets of a frame begin in its buffer.
pub(super) const PACKETS_AT: usize = HEADER_LEN + NOP_LEN * NOPS_WITH_PACKETS_MAX;

/// Bytes that a buffer needs for frames of `frame_len` bytes.
pub(crate) const fn buffer_len(frame_len: usize) -> usize {
    (PACKETS_AT + frame_len - HEADER_LEN).next_multiple_of(64)
}

/// The result of adding whole lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// So many are packed.
    Packed {
        count: usize,
        /// There may be a new frame to send, or a new time to wait for.
        news: bool,
    },
    /// No credits or frames now.
    Full,
    /// They have to go the long way.
    OneByOne,
}

impl Link {
    /// Accepts a packet: packs it if it has credits and may go before all waiting
    /// packets, else queues it, else refuses it. `Ok(true)`: there may be a new frame
    /// to send, or a new time to wait for.
    #[inline]
    pub(crate) fn send(
        &mut self,
        packet: &PacketRepr<'_>,
        shared: &mut EndpointShared,
    ) -> Result<bool, SendError> {
        self.check_open()?;
        let cost = packet.control().credit_cost();
        let cost = cost.ok_or(SendError::NotCarried)?;
        let with_data = cost.data > 0;
        let len = packet.buffer_len();
        let news = if self.queues.lets_pass(cost.channel, pass_pw(packet))
            && self.wallet.covers(cost.channel, with_data)
            && self.make_room(len, shared)
        {
            let news = self.pack(cost.channel, len, shared, |buffer| {
                packet.emit(buffer).map(|_| ())
            })?;
            self.wallet.spend(cost.channel, with_data);
            news
        } else {
            self.enqueue(cost.channel, packet, shared)?;
            true
        };
        self.posted_accepted += u64::from(cost.channel == VirtualChannel::Posted);
        Ok(news)
    }

    /// Accepts whole lines for `address`, as many as have credits and room in the frame that is
    /// being packed.
    #[inline]
    pub(crate) fn send_lines(
        &mut self,
        address: u64,
        lines: &[[u8; LINE_LEN]],
        shared: &mut EndpointShared,
    ) -> Lines {
        let channel = VirtualChannel::Posted;
        let lines_below = Address::PLAIN_END.saturating_sub(address) / LINE_LEN as u64;
        if lines.is_empty()
            || lines_below == 0
            || !address.is_multiple_of(LINE_LEN as u64)
            || self.check_open().is_err()
        {
            return Lines::OneByOne;
        }
        let covered = self.wallet.covered(channel);
        if covered == 0
            || !self.queues.lets_pass(channel, false)
            || !self.make_room_for_line(address, shared)
        {
            // A queue holds few packets, and each packet in it costs one more copy. So a
            // caller with many lines keeps them.
            return match lines.len() {
                1 => Lines::OneByOne,
                _ => {
                    self.counters.credit_stalls += 1;
                    Lines::Full
                }
            };
        }
        let payload_max = self.frame_len - OVERHEAD;
        let lines_end = self.lines_end();
        let Some(slot) = self.flight.filling() else {
            return Lines::OneByOne;
        };
        let burst = slot.burst_for(address);
        let count = lines
            .len()
            .min(lines_end.saturating_sub(slot.data_at(burst)) / LINE_LEN)
            .min((u8::MAX - slot.packets).into())
            .min(covered.into())
            .min(lines_below as usize)
            // Room for one has been made.
            .max(1);
        let lines = lines.get(..count).unwrap_or_default();
        let news = slot.packets == 0;
        if !append(slot, burst, lines, &mut shared.pool) {
            return Lines::OneByOne;
        }
        let news = news || is_full(slot, payload_max);
        self.lines_are_packed(count);
        Lines::Packed { count, news }
    }

    /// Accepts a line that joins a waiting frame and leaves room in it, so that there is
    /// no new frame to send and no new time to wait for. Returns whether it did.
    #[inline]
    pub(crate) fn join_line(
        &mut self,
        address: u64,
        line: &[u8; LINE_LEN],
        shared: &mut EndpointShared,
    ) -> bool {
        if !self.takes_more() {
            return false;
        }
        let lines_end = self.lines_end();
        let Some(slot) = self.flight.filling() else {
            return false;
        };
        let burst = slot.burst_for(address);
        let joins = (1..u8::MAX - 1).contains(&slot.packets)
            && slot.data_at(burst) + LINE_LEN + LINE_PACKET_LEN <= lines_end
            && append(slot, burst, core::slice::from_ref(line), &mut shared.pool);
        if joins {
            self.lines_are_packed(1);
        }
        joins
    }

    #[inline]
    fn lines_are_packed(&mut self, count: usize) {
        let channel = VirtualChannel::Posted;
        self.wallet.spend_many(channel, count as u16);
        self.counters.packets_sent[channel.index()] += count as u64;
        self.posted_accepted += count as u64;
    }

    /// Whether a new posted packet has credits and no packet waits before it.
    #[inline]
    fn takes_more(&self) -> bool {
        self.check_open().is_ok()
            && self.queues.is_empty()
            && self.wallet.covered(VirtualChannel::Posted) > 0
    }

    /// Whether any single packet of a put joins a waiting frame and leaves room in it, so
    /// that there is no new frame to send and no new time to wait for.
    #[inline]
    pub(crate) fn lets_join(&mut self) -> bool {
        let payload_max = self.frame_len - OVERHEAD;
        self.takes_more()
            && self.flight.filling().is_some_and(|slot| {
                let packed = usize::from(slot.packets_len);
                (1..u8::MAX - 1).contains(&slot.packets)
                    && packed + 2 * LINE_PACKET_LEN <= payload_max
            })
    }

    /// Whether no packet waits, so that a new packet can be a frame at once.
    pub(crate) fn can_send_alone(&self) -> bool {
        self.check_open().is_ok()
            && !self.session.frame_is_due()
            && self.queues.is_empty()
            && self.frames_unsent() == 0
            && !self.probing
            && self.wallet.covered(VirtualChannel::Posted) > 0
    }

    /// Frames that have not been sent, including the one that is being packed.
    pub(crate) fn frames_unsent(&self) -> usize {
        self.flight.len().saturating_sub(self.flight.cursor())
    }

    #[cold]
    fn enqueue(
        &mut self,
        channel: VirtualChannel,
        packet: &PacketRepr<'_>,
        shared: &mut EndpointShared,
    ) -> Result<(), SendError> {
        self.counters.credit_stalls += 1;
        let packets_max = shared.config.queue_packets_max[channel.index()];
        let queued = self.queues.push(channel, packet, packets_max);
        if queued.map_err(SendError::Packet)? {
            Ok(())
        } else {
            Err(SendError::Full {
                peer: self.peer,
                channel,
            })
        }
    }

    #[inline]
    fn check_open(&self) -> Result<(), SendError> {
        let peer = self.peer;
        match self.state {
            LinkState::Open if !self.finishing => Ok(()),
            LinkState::Open => Err(SendError::Closed {
                peer,
                reason: crate::CloseReason::Finished,
            }),
            LinkState::Opening => Err(SendError::Opening(peer)),
            LinkState::Closed(reason) => Err(SendError::Closed { peer, reason }),
        }
    }

    /// Packs waiting packets, as far as credits and frames allow.
    pub(super) fn drain_queues(&mut self, shared: &mut EndpointShared) {
        if self.queues.is_empty() {
            return;
        }
        loop {
            let wallet = &self.wallet;
            let covers = |channel, with_data| wallet.covers(channel, with_data);
            let Some((channel, waiting)) = self.queues.next(covers) else {
                return;
            };
            let waiting = waiting.clone();
            let len = waiting.bytes().len();
            if !self.make_room(len, shared) {
                return;
            }
            self.wallet.spend(channel, waiting.with_data);
            self.queues.pop(channel);
            let packed = self.pack(channel, len, shared, |buffer| {
                buffer.copy_from_slice(waiting.bytes());
                Ok(())
            });
            debug_assert!(packed.is_ok());
        }
    }

    /// Makes sure that the frame being packed has room for `len` bytes;
    /// `false` if there can be no such frame now.
    #[inline]
    fn make_room(&mut self, len: usize, shared: &mut EndpointShared) -> bool {
        let payload_max = self.frame_len - OVERHEAD;
        debug_assert!(len <= payload_max, "FRAME_LEN_MIN holds any packet");
        self.make_room_to(payload_max, len, shared)
    }

    /// As [`make_room`](Self::make_room), for data that has to end at `end`.
    #[inline]
    fn make_room_to(&mut self, end: usize, len: usize, shared: &mut EndpointShared) -> bool {
        if let Some(slot) = self.flight.filling()
            && slot.packets < u8::MAX
            && usize::from(slot.packets_len) + len <= end
        {
            return true;
        }
        self.start_frame(shared)
    }

    /// As [`make_room`](Self::make_room), for a line that is written at `address`.
    #[inline]
    fn make_room_for_line(&mut self, address: u64, shared: &mut EndpointShared) -> bool {
        match self.flight.filling() {
            Some(slot) if slot.burst_for(address).lines > 0 => {
                self.make_room_to(self.lines_end(), LINE_LEN, shared)
            }
            _ => self.make_room(LINE_PACKET_LEN, shared),
        }
    }

    /// The last place where the lines of a burst may end. If lines filled frames to the last
    /// byte, an endless stream would leave no room for the credits of a stream in the other
    /// direction.
    #[inline]
    fn lines_end(&self) -> usize {
        let payload_max = self.frame_len - OVERHEAD;
        match self.ledger.owes() {
            true => payload_max.saturating_sub(NOPS_WITH_LINES_MIN * NOP_LEN),
            false => payload_max,
        }
    }

    /// Starts a frame; `false` if too many are kept.
    pub(crate) fn start_frame(&mut self, shared: &mut EndpointShared) -> bool {
        if self.flight.len() >= self.frames_allowed() {
            self.congestion.note_full();
            return false;
        }
        let Some(buffer) = shared.pool.take(self.flight.is_empty()) else {
            return false;
        };
        self.flight.push(Slot::new(buffer));
        true
    }

    /// Appends a packet to the frame being packed, which has room. `Ok(true)`: it is the first
    /// one of the frame, or the last.
    #[inline]
    fn pack(
        &mut self,
        channel: VirtualChannel,
        len: usize,
        shared: &mut EndpointShared,
        emit: impl FnOnce(&mut [u8]) -> hostwire_packet::Result<()>,
    ) -> Result<bool, SendError> {
        let payload_max = self.frame_len - OVERHEAD;
        let Some(slot) = self.flight.filling() else {
            debug_assert!(false, "make_room first");
            return Ok(true);
        };
        let at = PACKETS_AT + usize::from(slot.packets_len);
        let buffer = shared.pool.bytes_mut(slot.buffer);
        let place = buffer.get_mut(at..at + len).unwrap_or_default();
        emit(place).map_err(SendError::Packet)?;
        slot.burst = Burst::NONE;
        slot.packets += 1;
        slot.packets_len += len as u16;
        slot.posted += u8::from(channel == VirtualChannel::Posted);
        self.counters.packets_sent[channel.index()] += 1;
        Ok(slot.packets == 1 || is_full(slot, payload_max))
    }

    /// Whether the frame being packed has no room for one more line.
    pub(super) fn filling_is_full(&mut self) -> bool {
        let payload_max = self.frame_len - OVERHEAD;
        self.flight
            .filling()
            .is_some_and(|slot| is_full(slot, payload_max))
    }
}

/// Appends lines to a burst that [`burst_for`](Slot::burst_for) gave; there is room for them.
/// Returns `false` and writes nothing if lines may not be there.
#[inline]
fn append(slot: &mut Slot, burst: Burst, lines: &[[u8; LINE_LEN]], pool: &mut Pool) -> bool {
    // Bounded by the rest of 255 packets and of the longest frame.
    let count = lines.len() as u8;
    let data_at = slot.data_at(burst);
    let burst = Burst {
        lines: burst.lines + count,
        ..burst
    };
    let Some(control) = line_control(burst.address, burst.lines) else {
        return false;
    };
    let buffer = pool.bytes_mut(slot.buffer);
    let place = buffer.get_mut(PACKETS_AT..).unwrap_or_default();
    let data = lines.as_flattened();
    put(place, burst.at.into(), &control);
    put(place, data_at, data);
    slot.burst = burst;
    slot.packets += count;
    slot.posted += count;
    slot.packets_len = (data_at + data.len()) as u16;
    true
}

/// Copies `source` to `at`, where there is room for it.
#[inline]
fn put(place: &mut [u8], at: usize, source: &[u8]) {
    if let Some(place) = place.get_mut(at..at + source.len()) {
        place.copy_from_slice(source);
    } else {
        debug_assert!(false, "{} bytes at {at}", source.len());
    }
}

/// Whether there is no room even for a line that follows the last one.
fn is_full(slot: &Slot, payload_max: usize) -> bool {
    let line_len = match slot.burst.lines {
        0 => LINE_PACKET_LEN,
        _ => LINE_LEN,
    };
    slot.packets == u8::MAX || usize::from(slot.packets_len) + line_len > payload_max
}
