//! The short way of a message that is in the ring whole: straight into the memory of its receive, without the steps of
//! [`Receiving`](super::receive::Receiving). What this way does not take, the long way does.

use std::cell::Cell;

use hostwire_transport::PeId;

use super::Messages;
use super::buffer::Buffer;
use super::front::whole;
use super::pattern::{Pattern, Source};
use super::peer::Arriving;
use super::receive::Target;
use super::requests::{QueueId, Ticket, Work};
use crate::error::Result;

impl Messages {
    /// Gives the message at hand in the ring of `pe` to the receive that was posted first of all, if that takes
    /// it and has memory that it fits. Whether it has done so.
    pub(super) fn hand_over(&mut self, pe: PeId) -> Result<bool> {
        let Some(peer) = self.peers.get_mut(pe as usize) else {
            return Ok(false);
        };
        let Some((kind, envelope, skip)) = whole(peer)? else {
            return Ok(false);
        };
        let Some((ticket, receiving)) = self.requests.first_of_posted() else {
            return Ok(false);
        };
        if !receiving.pattern().takes(kind, &envelope) {
            return Ok(false);
        }
        let Some(room) = receiving.room_for(envelope.len_bytes) else {
            return Ok(false);
        };
        if !peer.receiver.take_behind(skip, room)? {
            receiving.begin_taking(envelope, skip);
            peer.arriving = Arriving::Request(ticket);
            peer.settle();
            self.requests.unpost(ticket);
            return Ok(true);
        }
        self.news = true;
        self.requests.unpost(ticket);
        if let Some(request) = self.requests.take(ticket) {
            self.requests.finish(ticket, request, Ok(envelope));
        }
        Ok(true)
    }

    /// Receives the message at hand in the ring of one PE, if the pattern takes it and nothing is before it.
    pub(super) fn receive_at_once(
        &mut self,
        queue: QueueId,
        pattern: &Pattern,
        room: &Cell<Option<Box<dyn Buffer>>>,
    ) -> Result<Option<Ticket>> {
        let Source::Pe(pe) = pattern.from else {
            return Ok(None);
        };
        if self.requests.has_posted() {
            return Ok(None);
        }
        let peer = self.peers.get_mut(pe as usize).filter(|peer| peer.plain);
        let Some(peer) = peer else {
            return Ok(None);
        };
        let Some((kind, envelope, skip)) = whole(peer)? else {
            return Ok(None);
        };
        if !pattern.takes(kind, &envelope) {
            return Ok(None);
        }
        let Some(mut buffer) = room.take() else {
            return Ok(None);
        };
        let taken = match buffer.bytes_mut().get_mut(..envelope.len_bytes) {
            Some(out) => peer.receiver.take_behind(skip, out).map(Some),
            None => Ok(None),
        };
        match taken {
            Ok(Some(true)) => Ok(Some(self.requests.receive_at_once(queue, buffer, envelope))),
            Ok(Some(false)) => {
                let target = Target::Owned(buffer);
                let ticket = self.requests.add_receive(queue, *pattern, target);
                if let Some(Work::Receive(receiving)) = self.requests.work(ticket) {
                    receiving.begin_taking(envelope, skip);
                }
                let peer = self.peer(pe)?;
                peer.arriving = Arriving::Request(ticket);
                peer.settle();
                Ok(Some(ticket))
            }
            Ok(None) => {
                room.set(Some(buffer));
                Ok(None)
            }
            Err(error) => {
                room.set(Some(buffer));
                Err(error.into())
            }
        }
    }
}
