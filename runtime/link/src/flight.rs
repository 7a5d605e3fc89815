//! Frames that are packed and not acknowledged.

use std::collections::VecDeque;
use std::ops::Range;

use hostwire_packet::ht::LINE_LEN;
use hostwire_packet::htoe::LINE_CONTROL_LEN;

use crate::pool::BufferId;
use crate::seq::{HALF, Seq};
use crate::time::Ns;

/// One frame, packed or being packed.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) buffer: BufferId,
    /// Where the frame begins in its buffer. Known when it is sealed.
    pub(crate) start: u16,
    pub(crate) nops: u8,
    pub(crate) packets: u8,
    /// Posted ones among the packets.
    pub(crate) posted: u8,
    /// Bytes of the packets.
    pub(crate) packets_len: u16,
    /// The lines that the packets end with.
    pub(crate) burst: Burst,
    /// Sent at least once; accepts no more packets.
    pub(crate) sealed: bool,
    pub(crate) resent: bool,
    pub(crate) sent_at: Ns,
}

impl Slot {
    pub(crate) const fn new(buffer: BufferId) -> Self {
        Self {
            buffer,
            start: 0,
            nops: 0,
            packets: 0,
            posted: 0,
            packets_len: 0,
            burst: Burst::NONE,
            sealed: false,
            resent: false,
            sent_at: Ns(0),
        }
    }

    /// The burst to which a line at `address` belongs: the one at the end of the packets if
    /// the line follows it, else a new one.
    #[inline]
    pub(crate) fn burst_for(&self, address: u64) -> Burst {
        let Burst {
            address: first,
            lines,
            ..
        } = self.burst;
        let end = first.wrapping_add(u64::from(lines) * LINE_LEN as u64);
        if lines > 0 && end == address {
            self.burst
        } else {
            Burst {
                address,
                at: self.packets_len,
                lines: 0,
            }
        }
    }

    /// The place for the data of a line that is added to that burst.
    #[inline]
    pub(crate) fn data_at(&self, burst: Burst) -> usize {
        let control_len = match burst.lines {
            0 => LINE_CONTROL_LEN,
            _ => 0,
        };
        usize::from(self.packets_len) + control_len
    }
}

/// Lines that follow each other in memory, behind one control packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// Of the first line.
    pub(crate) address: u64,
    /// Where the control packet lies among the packets.
    pub(crate) at: u16,
    /// 0 if the packets do not end with a burst.
    pub(crate) lines: u8,
}

impl Burst {
    pub(crate) const NONE: Self = Self {
        address: 0,
        at: 0,
        lines: 0,
    };
}

/// The frames of one link in order: first those sent (up to `sealed`), then
/// those to be sent. `cursor` is the next to be sent; it goes back when
/// something is lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    slots: VecDeque<Slot>,
    base: Seq,
    sealed: usize,
    cursor: usize,
    /// The frames that the peer keeps, as far as known.
    kept: Range<usize>,
    /// The cursor is before these frames, and jumps over them.
    leaps: bool,
}

/// The meaning of an ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acked {
    /// Nothing new.
    Nothing,
    /// It is older than what is known.
    Old,
    /// It acknowledges a frame never sent.
    Bad,
    /// So many frames have arrived.
    Frames(usize),
}

impl Flight {
    pub(crate) fn restart(&mut self, base: Seq) {
        debug_assert!(self.slots.is_empty());
        self.base = base;
        self.sealed = 0;
        self.cursor = 0;
        self.forget_kept();
    }

    pub(crate) const fn base(&self) -> Seq {
        self.base
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Frames sent at least once and not acknowledged.
    #[inline]
    pub(crate) const fn sealed(&self) -> usize {
        self.sealed
    }

    #[inline]
    pub(crate) const fn cursor(&self) -> usize {
        self.cursor
    }

    /// Number of the frame at the cursor.
    pub(crate) fn cursor_seq(&self) -> Seq {
        // Far below 65536 slots: see FRAMES_IN_FLIGHT_MAX.
        self.base.plus(self.cursor as u16)
    }

    /// Frames that have been sent at least once, also before the last loss.
    fn reached(&self) -> usize {
        match self.leaps {
            true => self.kept.end,
            false => self.cursor,
        }
    }

    /// Number of the first frame that has not been sent.
    pub(crate) fn reached_seq(&self) -> Seq {
        self.base.plus(self.reached() as u16)
    }

    /// Frames that are not acknowledged but not in flight either, because the peer keeps
    /// them.
    #[inline]
    pub(crate) const fn kept(&self) -> usize {
        self.kept.end - self.kept.start
    }

    /// Whether the frame at the cursor is the last of the missing ones.
    pub(crate) fn ends_repair(&self) -> bool {
        self.leaps && self.cursor + 1 == self.kept.start
    }

    /// Number that the next new frame gets.
    pub(crate) fn end_seq(&self) -> Seq {
        self.base.plus(self.slots.len() as u16)
    }

    /// When the first frame that is not acknowledged was sent last.
    pub(crate) fn front_sent_at(&self) -> Option<Ns> {
        self.slots.front().map(|slot| slot.sent_at)
    }

    pub(crate) fn at_cursor(&mut self) -> Option<&mut Slot> {
        self.slots.get_mut(self.cursor)
    }

    /// The frame that was sent last.
    pub(crate) fn before_cursor(&mut self) -> Option<&mut Slot> {
        self.slots.get_mut(self.cursor.checked_sub(1)?)
    }

    pub(crate) fn cursor_is_last(&self) -> bool {
        self.cursor + 1 == self.slots.len()
    }

    /// The frame at the end, if it still takes packets.
    #[inline]
    pub(crate) fn filling(&mut self) -> Option<&mut Slot> {
        self.slots.back_mut().filter(|slot| !slot.sealed)
    }

    #[inline]
    pub(crate) fn has_filling(&self) -> bool {
        self.slots.len() > self.sealed
    }

    pub(crate) fn push(&mut self, slot: Slot) {
        self.slots.push_back(slot);
    }

    /// Gives memory back, if it has no frames.
    pub(crate) fn rest(&mut self) {
        if self.slots.is_empty() {
            self.slots = VecDeque::new();
        }
    }

    /// The frame at the cursor was sent. [`leap`](Self::leap) has to follow.
    pub(crate) fn advance(&mut self) {
        self.cursor += 1;
        self.sealed = self.sealed.max(self.cursor);
    }

    /// Skips the frames that the peer keeps.
    #[inline]
    pub(crate) fn leap(&mut self) {
        if self.leaps && self.cursor >= self.kept.start {
            self.cursor = self.kept.end;
            self.leaps = false;
        }
    }

    const fn forget_kept(&mut self) {
        self.kept = 0..0;
        self.leaps = false;
    }

    /// Go-Back-N: everything that is not acknowledged is to be sent again.
    pub(crate) const fn go_back(&mut self) {
        self.cursor = 0;
        self.forget_kept();
    }

    /// The first `missing` frames are to be sent again; the peer keeps the one after them,
    /// and perhaps more.
    pub(crate) fn repair(&mut self, missing: u16) {
        let reached = self.reached();
        self.cursor = 0;
        let missing = usize::from(missing);
        self.kept = missing..reached.max(missing);
        self.leaps = !self.kept.is_empty();
    }

    /// Reads an ack: the number of the next frame that the peer expects.
    pub(crate) fn read_ack(&self, ack: Seq) -> Acked {
        match ack.ahead_of(self.base) {
            0 => Acked::Nothing,
            ahead if usize::from(ahead) <= self.sealed => Acked::Frames(ahead.into()),
            ahead if ahead >= HALF => Acked::Old,
            _ => Acked::Bad,
        }
    }

    /// Removes the first frame, because it has arrived.
    pub(crate) fn pop(&mut self) -> Option<Slot> {
        let slot = self.slots.pop_front()?;
        self.base = self.base.plus(1);
        self.sealed = self.sealed.saturating_sub(1);
        self.cursor = self.cursor.saturating_sub(1);
        let Range { start, end } = self.kept;
        self.kept = start.saturating_sub(1)..end.saturating_sub(1);
        self.leap();
        Some(slot)
    }

    /// Removes all frames, because no link waits for them.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Slot> + '_ {
        self.sealed = 0;
        self.cursor = 0;
        self.forget_kept();
        self.slots.drain(..)
    }

    #[cfg(test)]
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Pool;

    fn flight(frames: usize) -> Flight {
        let mut pool = Pool::new(64, frames);
        let mut flight = Flight::default();
        flight.restart(Seq(65_534));
        for _ in 0..frames {
            let mut slot = Slot::new(pool.take(true).unwrap());
            slot.sealed = true;
            flight.push(slot);
            flight.advance();
        }
        flight
    }

    #[test]
    fn acks_across_the_wrap() {
        let flight = flight(4);
        assert_eq!(flight.read_ack(Seq(65_534)), Acked::Nothing);
        assert_eq!(flight.read_ack(Seq(65_535)), Acked::Frames(1));
        assert_eq!(flight.read_ack(Seq(2)), Acked::Frames(4));
        assert_eq!(flight.read_ack(Seq(3)), Acked::Bad);
        assert_eq!(flight.read_ack(Seq(65_533)), Acked::Old);
    }

    #[test]
    fn a_repair_leaves_out_what_the_peer_keeps() {
        let mut flight = flight(6);
        flight.repair(2);
        let mut sent = Vec::new();
        while flight.cursor() < 6 {
            sent.push((flight.cursor(), flight.ends_repair()));
            flight.advance();
            flight.leap();
        }
        assert_eq!(sent, [(0, false), (1, true)]);
        // The first one has arrived. After the second one there is another gap of three.
        flight.repair(2);
        assert_eq!(flight.reached_seq(), Seq(65_534).plus(6));
        flight.pop();
        assert_eq!((flight.cursor(), flight.ends_repair()), (0, true));
        flight.pop();
        assert_eq!((flight.cursor(), flight.kept()), (4, 4));
        flight.pop();
        assert_eq!(flight.kept(), 3);
        flight.repair(3);
        assert_eq!(
            (flight.cursor(), flight.leaps, flight.kept()),
            (0, false, 0)
        );
    }

    #[test]
    fn going_back_does_not_unsend() {
        let mut flight = flight(3);
        flight.go_back();
        assert_eq!(flight.cursor_seq(), Seq(65_534));
        // An ack that was under way meanwhile counts.
        assert_eq!(flight.read_ack(Seq(1)), Acked::Frames(3));
        flight.advance();
        flight.pop();
        assert_eq!((flight.cursor(), flight.sealed()), (0, 2));
        assert_eq!(flight.end_seq(), Seq(1));
    }
}
