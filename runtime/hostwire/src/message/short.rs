//! The short ways of messages of a station: into the ring without the steps of [`Sending`](super::send::Sending), and out of
//! it straight into the memory of a receive, without those of [`Receiving`](super::receive::Receiving). What these ways do
//! not take, the long ways do.

use hostwire_transport::PeId;
use hostwire_transport::ring::{FRONT_WORDS, Head, KIND_CONTINUED, PAYLOAD_BYTES, Sent};

use super::buffer::Buffer;
use super::header::{PREFIX_BYTES, entry, short};
use super::pattern::{Envelope, Pattern, Source};
use super::peer::{Arriving, Peer};
use super::receive::Receiving;
use super::requests::{QueueId, Ticket};
use super::target::Target;
use super::{Kind, Messages, PAIR_BYTES};

/// The longest message with a prefix in two lines.
const PAIR_BYTES_MAX: usize = PAIR_BYTES - PREFIX_BYTES;

/// What a [look](crate::station::Station::glance) at messages has found.
pub enum Glance {
    /// Nothing to do and nothing to tell.
    Nothing,
    /// What only a turn of progress can see to.
    More,
    /// A receive has ended.
    Received(Received),
}

/// A receive that a [look](crate::station::Station::glance) has ended.
pub struct Received {
    /// Which one.
    pub ticket: Ticket,
    /// What is known of its message.
    pub envelope: Envelope,
    /// What was given away for it.
    pub buffer: Box<dyn Buffer>,
    /// More has come of the same peer.
    pub has_more: bool,
}

impl Messages {
    /// Stores a message to a station that this one has met and whose memory is mapped, if nothing is before it and there is room
    /// for it.
    #[inline(always)]
    pub(crate) fn send_short(
        &mut self,
        to: PeId,
        (kind, tag, data): (Kind, u64, Option<u64>),
        bytes: &[u8],
    ) -> Sent {
        let Some(peer) = self.peers.get_mut(to).filter(|peer| peer.sender.is_open()) else {
            return Sent::No;
        };
        if !peer.is_answer() {
            peer.sender.expect();
        }
        let (kind, front) = entry(kind, tag, data);
        let tag = tag as u32;
        match (front, bytes.len()) {
            (None, ..=PAYLOAD_BYTES) => peer.sender.send_line_at_once(kind, tag, bytes),
            (None, ..=PAIR_BYTES) => peer.sender.send_pair_at_once(kind, tag, bytes),
            (Some(front), ..=PAIR_BYTES_MAX) => {
                peer.sender.send_behind_at_once(kind, tag, front, bytes)
            }
            _ => peer.sender.send_whole_at_once(kind, tag, front, bytes),
        }
    }

    /// What has to follow [`Sent::Ring`].
    #[cold]
    pub(crate) fn ring_peer(&mut self, to: PeId) {
        if let Some(peer) = self.peers.get(to) {
            // The bell of mapped memory is a word there: nothing fails.
            let _ = peer.sender.ring();
        }
    }

    /// Receives a message that comes next in the ring of one station, if the pattern takes it,
    /// it fits and nothing is before it.
    #[inline(always)]
    pub(crate) fn receive_short(&mut self, pattern: &Pattern, room: &mut [u8]) -> Option<Envelope> {
        let Source::Pe(pe) = pattern.from else {
            return None;
        };
        if self.requests.has_posted() {
            return None;
        }
        let peer = self.peers.get_mut(pe)?;
        if !peer.plain {
            return None;
        }
        take_short(peer, pattern, |len| room.get_mut(..len))
    }

    /// Whether nothing has come of one station that was not received, or of any.
    #[inline(always)]
    pub(crate) fn is_silent(&self, from: Source) -> bool {
        match from {
            Source::Pe(pe) => self.is_idle(pe),
            Source::Any => self.are_idle(),
        }
    }

    /// Posts a receive for which nothing has come.
    #[inline(always)]
    pub(crate) fn post(
        &mut self,
        queue: QueueId,
        pattern: Pattern,
        target: Target<'static>,
    ) -> Ticket {
        let ticket = self.requests.add_receive(queue, pattern, target);
        self.requests.post(ticket);
        ticket
    }

    /// Looks at what a turn of progress would look at. A message of a line or two that comes next in a ring goes to the
    /// receive that was posted first of all, if that is of `queue` and takes it.
    #[inline(always)]
    pub(crate) fn glance(&mut self, queue: QueueId) -> Glance {
        let has_more = !self.sending.is_empty()
            || self.requests.has_runnable()
            || self.requests.has_finished(queue)
            || self.remote.has_notes()
            || self.listens
            || self.are_weak()
            || self.accused.is_some();
        if has_more {
            return Glance::More;
        }
        for pe in &self.talking {
            let Some(peer) = self.peers.get_mut(*pe) else {
                return Glance::More;
            };
            if peer.is_idle() {
                peer.receiver.expect_eager();
                continue;
            }
            let nothing = matches!(peer.arriving, Arriving::Nothing);
            if !nothing || peer.own || peer.shut || peer.has_backlog() || peer.owes() {
                return Glance::More;
            }
            let requests = &mut self.requests;
            let taken = requests.end_first_posted(queue, |it| take_short_for(peer, it));
            return match taken {
                Some((ticket, envelope, buffer)) => Glance::Received(Received {
                    ticket,
                    envelope,
                    buffer,
                    has_more: peer.receiver.has_arrived(),
                }),
                // It was only owed credit.
                None if peer.is_idle() => continue,
                None => Glance::More,
            };
        }
        Glance::Nothing
    }

    /// Gives the message at hand in the ring of `pe` to the receive that was posted first of all, if that takes
    /// it and has memory that it fits. Whether it has done so.
    pub(super) fn hand_over(&mut self, pe: PeId) -> bool {
        let Some(peer) = self.peers.get_mut(pe) else {
            return false;
        };
        let Some((ticket, receiving)) = self.requests.first_of_posted() else {
            return false;
        };
        let Some(envelope) = take_short_for(peer, receiving) else {
            return false;
        };
        self.news = true;
        self.requests.finish_first(ticket, envelope);
        true
    }
}

/// As [`take_short`], for a receive that was posted, into its memory.
#[inline(always)]
fn take_short_for(peer: &mut Peer, receiving: &mut Receiving<'static>) -> Option<Envelope> {
    let pattern = *receiving.pattern();
    take_short(peer, &pattern, |len| receiving.room_for(len))
}

/// Takes the message that comes next in the ring of a peer, if the pattern takes it and all of it is there, into the room that there
/// is for so many bytes.
#[inline(always)]
fn take_short<'a>(
    peer: &mut Peer,
    pattern: &Pattern,
    room: impl FnOnce(usize) -> Option<&'a mut [u8]>,
) -> Option<Envelope> {
    let (head, words) = peer.receiver.front_at_once()?;
    if head.kind == KIND_CONTINUED || head.len_bytes > PAIR_BYTES {
        return take_long(peer, pattern, (head, words), room);
    }
    let (kind, envelope, is_wide) = short(peer.pe, head, words)?;
    if !pattern.takes(kind, &envelope) {
        return None;
    }
    let room = room(envelope.len_bytes)?;
    // A branch, so that each of the two is compiled for its own front.
    let is_taken = match is_wide {
        true => peer.receiver.take_front_at_once(head, true, room),
        false => peer.receiver.take_front_at_once(head, false, room),
    };
    is_taken.then_some(envelope)
}

/// The same, of more than two lines.
#[inline(never)]
fn take_long<'a>(
    peer: &mut Peer,
    pattern: &Pattern,
    (head, words): (Head, [u64; FRONT_WORDS]),
    room: impl FnOnce(usize) -> Option<&'a mut [u8]>,
) -> Option<Envelope> {
    let receiver = &mut peer.receiver;
    let eager = match head.kind {
        KIND_CONTINUED => Some(receiver.eager_front_at_once(head.tag)?),
        _ => None,
    };
    let (head, words) = eager.map_or((head, words), |front| (front.head(), front.words()));
    let (kind, envelope, is_wide) = short(peer.pe, head, words)?;
    if !pattern.takes(kind, &envelope) {
        return None;
    }
    let room = room(envelope.len_bytes)?;
    let skip = if is_wide { PREFIX_BYTES } else { 0 };
    let is_taken = match eager {
        Some(front) => receiver.take_eager_at_once(front, skip, room),
        None => receiver.take_whole_at_once(head, skip, room),
    };
    is_taken.then_some(envelope)
}
