//! Long gets whose bytes are copied by who asks, straight out of private memory of their owner.
//!
//! Who asks says that it can. When the get is to be answered, the owner says where the bytes lie ([`What::At`]); who has
//! asked copies them, piece by piece, and says that it has ([`What::Copied`]). Only then the owner answers: that it is done, if
//! all that time the memory was registered as it had been, and else that it is not there. Where a copy fails, the bytes come
//! through the ring, and nobody hears of it.
//!
//! Nobody writes into memory of another: who asks writes into its own buffer, as long as it has it. Answers behind this one wait,
//! but not the owner, nor its peers.

use hostwire_transport::PeId;

use super::super::Messages;
use super::super::header::ANSWER;
use super::super::receive::COPIED_BYTES;
use super::ask::{AskState, Asking, unasked};
use super::serve::Answer;
use super::words::{Header, Message, PLACES_MAX, What, bad_length};
use crate::error::{PeerWord, Result};
use hostwire_station::memory_region::{Loan, Refusal, RegionRange, Rights};

/// What the owner knows of such a get.
pub(super) struct Lent {
    places: Vec<RegionRange>,
    len: usize,
    /// What the peer has been told.
    told: Option<Vec<Loan>>,
}

impl Lent {
    pub(super) fn new(places: Vec<RegionRange>, len: usize) -> Self {
        Self {
            places,
            len,
            told: None,
        }
    }
}

/// What who asks knows of it: where the places lie, and how much has been copied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copying {
    at: [u64; PLACES_MAX],
    done: usize,
}

impl Messages {
    /// Says where the bytes of the get lie that `pe` is to be answered next. False if it has been said, or if there is no room.
    pub(super) fn lend(&mut self, pe: PeId) -> Result<bool> {
        let Some(Answer::Lent(Lent { places, told, .. })) = self.serving(pe)?.answers.front()
        else {
            return Ok(false);
        };
        if told.is_some() {
            return Ok(false);
        }
        let places = places.clone();
        let loans = match self.remote.regions.lend(&places) {
            Ok(loans) => loans,
            Err(why) => {
                if let Some(front) = self.serving(pe)?.answers.front_mut() {
                    *front = Answer::Refused(why);
                }
                return Ok(true);
            }
        };
        // Who reads this may copy at once.
        self.wire.fence_of(pe)?;
        let flags = self.answer_flags(pe)?;
        let mut bytes = Header::new(What::At).with_flags(flags).emit(&[]);
        for loan in &loans {
            bytes.extend_from_slice(&loan.address.to_le_bytes());
        }
        let is_sent = self.peer(pe)?.sender.try_send_held(ANSWER, 0, &bytes)?;
        if is_sent && let Some(Answer::Lent(lent)) = self.serving(pe)?.answers.front_mut() {
            lent.told = Some(loans);
        }
        Ok(is_sent)
    }

    /// `pe` has copied what was lent to it, or cannot.
    pub(super) fn end_lent(&mut self, pe: PeId, word: u64) -> Result<()> {
        if word > 1 {
            return Err(PeerWord::MemoryWord.out_of(0..=1, pe, word));
        }
        let front = self.serving(pe)?.answers.pop_front();
        let Some(Answer::Lent(Lent {
            places,
            len,
            told: Some(told),
        })) = front
        else {
            return Err(unasked(pe));
        };
        let answer = match word {
            0 => Answer::Places(places, 0, len),
            _ if self.remote.regions.lend(&places).as_ref() == Ok(&told) => {
                self.remote.tell(&places, Rights::READ);
                self.news = true;
                Answer::Done(1)
            }
            // It has been unregistered since, whatever is there now.
            _ => Answer::Refused(Refusal::NoKey),
        };
        self.serving(pe)?.answers.push_front(answer);
        Ok(())
    }

    /// The owner has said where the bytes lie of the get that waits longest for an answer.
    pub(super) fn begin_copying(&mut self, pe: PeId, message: &Message<'_>) -> Result<()> {
        let asked = self.peer(pe)?.far().remote.asked.front().copied();
        self.end_asked(pe, |asking| {
            let asking = asking.ok_or_else(|| unasked(pe))?;
            asking.begin_copying(message.rest)?;
            Ok(None)
        })?;
        if let Some(ticket) = asked {
            self.requests.run_again(ticket);
        }
        Ok(())
    }
}

impl Asking {
    fn begin_copying(&mut self, addresses: &[u8]) -> Result<()> {
        if !matches!(self.state, AskState::MayCopy) {
            return Err(unasked(self.to));
        }
        let (words, rest) = addresses.as_chunks::<{ size_of::<u64>() }>();
        if words.len() != self.places.len() || !rest.is_empty() {
            return Err(bad_length(self.to, addresses.len()));
        }
        let mut at = [0; PLACES_MAX];
        for (at, word) in at.iter_mut().zip(words) {
            *at = u64::from_le_bytes(*word);
        }
        self.state = AskState::Copying(Copying { at, done: 0 });
        Ok(())
    }

    /// Copies the next piece. Whether there is more to do at once.
    pub(super) fn copy_more(
        &mut self,
        messages: &mut Messages,
        Copying { at, done }: Copying,
    ) -> Result<bool> {
        let mut before = 0;
        let mut next = None;
        for (place, at) in self.places.iter().zip(at) {
            let skip = done as u64 - before;
            if skip < place.len {
                next = Some((at.wrapping_add(skip), (place.len - skip) as usize));
                break;
            }
            before += place.len;
        }
        let end = next.map_or(done, |(_, left)| done + left.min(COPIED_BYTES));
        let room = self.buffer.bytes_mut().get_mut(done..end);
        let copied = match (next, room) {
            (None, _) => true,
            (Some((from, _)), Some(room)) => messages.wire.copy_private(self.to, from, room),
            (Some(_), None) => false,
        };
        if !copied {
            // Memory of a device, for one; or the owner has forbidden it meanwhile.
            messages.serving(self.to)?.reads = Some(false);
        }
        if copied && end < self.len {
            // Others get on meanwhile; and nobody but this PE wakes it to go on with it.
            self.state = AskState::Copying(Copying { at, done: end });
            messages.wire.segment().notify();
            return Ok(false);
        }
        self.state = AskState::Telling(copied);
        Ok(true)
    }

    /// Says to the owner whether the bytes have been copied. Whether there was room for it.
    pub(super) fn tell_owner(&mut self, messages: &mut Messages, copied: bool) -> Result<bool> {
        let peer = messages.peer(self.to)?;
        let said = Header::new(What::Copied).with_word(u64::from(copied));
        let is_sent = peer.sender.try_send_held(ANSWER, 0, &said.emit(&[]))?;
        if is_sent {
            self.state = match copied {
                true => AskState::Copied,
                false => AskState::Waiting(0),
            };
        }
        Ok(is_sent)
    }
}
