//! Serving: what peers ask of the memory that this station lets others use.

use std::collections::VecDeque;

use hostwire_transport::PeId;

use super::super::Messages;
use super::super::header::ANSWER;
use super::super::peer::{Arriving, Peer};
use super::super::receive::COPIED_BYTES;
use super::lent::Lent;
use super::words::{
    CAN_COPY, COPIES, HAS_DATA, HEADER_BYTES, Header, Message, WANTS_OLD, What, bad_length,
};
use super::{ATOMIC_BYTES_MAX, Event, KEPT_BYTES_MAX, OPERATIONS_MAX};
use crate::error::{Misbehaviour, PeerWord, Result};
use hostwire_station::memory_region::{
    Atomic, Change, MemoryRegions, Number, Refusal, RegionRange, Rights,
};

/// What a peer has asked, and is owed.
#[derive(Default)]
pub(crate) struct Serving {
    /// A put of which pieces are to come.
    put: Option<Put>,
    pub(super) answers: VecDeque<Answer>,
    /// Operations that these answers are for.
    owed: usize,
    /// Whether this station can copy private memory of the peer, once that was asked.
    pub(super) reads: Option<bool>,
}

/// A put whose bytes are being copied out of private memory of the peer.
pub(crate) struct Pull {
    put: Put,
    /// Where they are.
    address: u64,
}

struct Put {
    places: Vec<RegionRange>,
    data: Option<u64>,
    len: u64,
    come: u64,
    refused: Option<Refusal>,
}

pub(super) enum Answer {
    /// So many in a row have been done.
    Done(usize),
    Refused(Refusal),
    /// Bytes, of which so many have left.
    Kept(Vec<u8>, usize),
    /// Bytes of places, of which so many of so many have left.
    Places(Vec<RegionRange>, usize, usize),
    /// As `Places`, which the peer copies.
    Lent(Lent),
}

impl Serving {
    /// Takes note of an operation that has been done, or refused.
    fn owe(&mut self, pe: PeId, answer: Answer) -> Result<()> {
        if self.owed >= OPERATIONS_MAX {
            let how = Misbehaviour::Unanswered {
                max: OPERATIONS_MAX,
            };
            return Err(crate::error::Error::PeerMisbehaved { pe, how });
        }
        self.owed += 1;
        match (self.answers.back_mut(), answer) {
            (Some(Answer::Done(count)), Answer::Done(more)) => *count += more,
            (_, answer) => self.answers.push_back(answer),
        }
        Ok(())
    }
}

impl Messages {
    /// A message of `pe` about memory, of either side.
    pub(in super::super) fn take_memory(&mut self, pe: PeId, bytes: &[u8]) -> Result<()> {
        let message = Message::parse(pe, bytes)?;
        match message.header.what {
            What::Done | What::Bytes | What::Refused | What::At => self.heed_memory(pe, &message),
            What::Copied => self.end_lent(pe, message.header.word),
            What::Put => self.begin_put(pe, message),
            What::PutFrom => self.begin_pull(pe, message),
            What::More => self.go_on_with_put(pe, message.rest),
            What::Get => self.serve_get(pe, message),
            What::Atomic => self.serve_atomic(pe, message),
        }
    }

    pub(super) fn serving(&mut self, pe: PeId) -> Result<&mut Serving> {
        Ok(&mut self.peer(pe)?.far().remote.serving)
    }

    fn put_of(&self, message: Message<'_>) -> Put {
        let Message {
            header,
            places,
            len,
            ..
        } = message;
        let refused = self.remote.regions.check(&places, Rights::WRITE).err();
        Put {
            places,
            data: (header.flags & HAS_DATA != 0).then_some(header.word),
            len,
            come: 0,
            refused,
        }
    }

    fn begin_put(&mut self, pe: PeId, message: Message<'_>) -> Result<()> {
        let rest = message.rest;
        let put = self.put_of(message);
        if self.serving(pe)?.put.replace(put).is_some() {
            return Err(bad_length(pe, rest.len()));
        }
        self.go_on_with_put(pe, rest)
    }

    /// What follows in the ring waits until all bytes are here: they come without the peer's doing.
    fn begin_pull(&mut self, pe: PeId, message: Message<'_>) -> Result<()> {
        let rest = message.rest;
        let address = <[u8; 8]>::try_from(rest).map_err(|_| bad_length(pe, rest.len()))?;
        let put = self.put_of(message);
        if self.serving(pe)?.put.is_some() {
            return Err(bad_length(pe, rest.len()));
        }
        let address = u64::from_le_bytes(address);
        let peer = self.peer(pe)?;
        peer.arriving = Arriving::Pulling(Box::new(Pull { put, address }));
        peer.settle();
        self.pull(pe).map(drop)
    }

    /// Copies the next piece. Whether that was the last.
    pub(in super::super) fn pull(&mut self, pe: PeId) -> Result<bool> {
        let peer = self.peer(pe)?;
        let Arriving::Pulling(mut pull) = core::mem::replace(&mut peer.arriving, Arriving::Nothing)
        else {
            return Ok(true);
        };
        let Pull { put, address } = &mut *pull;
        if put.refused.is_none() {
            let now = (put.len - put.come).min(COPIED_BYTES as u64);
            let from = address.wrapping_add(put.come);
            let (regions, wire) = (&self.remote.regions, &self.wire);
            let filled = regions.fill(&put.places, put.come, now as usize, |to, before| {
                wire.copy_private_to(pe, from.wrapping_add(before), to)
            });
            match filled {
                Ok(true) => put.come += now,
                Ok(false) => put.refused = Some(Refusal::NotCopied),
                // It may have been unregistered since the first piece.
                Err(why) => put.refused = Some(why),
            }
        }
        if put.refused.is_none() && put.come < put.len {
            // Others get on meanwhile; and nobody but this PE wakes it to go on with it.
            self.peer(pe)?.arriving = Arriving::Pulling(pull);
            self.wire.segment().notify();
            return Ok(false);
        }
        if put.refused == Some(Refusal::NotCopied) {
            self.serving(pe)?.reads = Some(false);
        }
        self.peer(pe)?.settle();
        self.end_put(pe, pull.put)?;
        Ok(true)
    }

    fn go_on_with_put(&mut self, pe: PeId, bytes: &[u8]) -> Result<()> {
        let Some(mut put) = self.serving(pe)?.put.take() else {
            return Err(bad_length(pe, bytes.len()));
        };
        let come = put.come + bytes.len() as u64;
        if come > put.len || (bytes.is_empty() && put.len > 0) {
            return Err(bad_length(pe, bytes.len()));
        }
        if put.refused.is_none() {
            // It may have been unregistered since the first piece.
            let stored = self.remote.regions.store(&put.places, put.come, bytes);
            put.refused = stored.err();
        }
        put.come = come;
        if come < put.len {
            self.serving(pe)?.put = Some(put);
            return Ok(());
        }
        self.end_put(pe, put)
    }

    fn end_put(&mut self, pe: PeId, put: Put) -> Result<()> {
        let answer = match put.refused {
            Some(why) => Answer::Refused(why),
            None => Answer::Done(1),
        };
        let is_done = put.refused.is_none();
        self.serving(pe)?.owe(pe, answer)?;
        // A put of nothing asks for its answer alone: see `ask_whether_taken`.
        let is_use = !put.places.is_empty() || put.data.is_some();
        if is_done && is_use {
            self.remote.tell(&put.places, Rights::WRITE);
            self.news = true;
            if let Some(data) = put.data {
                self.remote.events.push_back(Event {
                    from: pe,
                    data,
                    len_bytes: put.len as usize,
                });
            }
        }
        Ok(())
    }

    fn serve_get(&mut self, pe: PeId, message: Message<'_>) -> Result<()> {
        let Message {
            header,
            places,
            len,
            ..
        } = message;
        let len = len as usize;
        let lends = header.flags & CAN_COPY != 0 && self.wire.lends_private(pe);
        let regions = &self.remote.regions;
        let answer = match regions.check(&places, Rights::READ) {
            Err(why) => Answer::Refused(why),
            Ok(()) if len == 0 => Answer::Done(1),
            Ok(()) if len <= KEPT_BYTES_MAX => {
                let mut bytes = vec![0; len];
                let loaded = regions.load(&places, 0, &mut bytes);
                loaded.map_or_else(Answer::Refused, |()| Answer::Kept(bytes, 0))
            }
            Ok(()) if lends => Answer::Lent(Lent::new(places.clone(), len)),
            Ok(()) => Answer::Places(places.clone(), 0, len),
        };
        let is_done = matches!(answer, Answer::Done(_) | Answer::Kept(..));
        self.serving(pe)?.owe(pe, answer)?;
        if is_done {
            self.remote.tell(&places, Rights::READ);
        }
        Ok(())
    }

    fn serve_atomic(&mut self, pe: PeId, message: Message<'_>) -> Result<()> {
        let Message {
            header,
            places,
            len,
            rest,
        } = message;
        let number = Number::from_code(header.number);
        let atomic = number
            .zip(Change::from_code(header.change))
            .and_then(|(number, change)| Atomic::new(number, change));
        let code = u64::from(header.number) << 8 | u64::from(header.change);
        let atomic = atomic.ok_or_else(|| PeerWord::MemoryWord.out_of(0..=u64::MAX, pe, code))?;
        let len = len as usize;
        let has_operands = atomic.change != Change::Read;
        let operands_len = if has_operands { len } else { 0 };
        let compares_len = if atomic.change.compares() { len } else { 0 };
        let size = atomic.number.bytes() as u64;
        let is_whole = places.iter().all(|place| place.len.is_multiple_of(size));
        if len > ATOMIC_BYTES_MAX || rest.len() != operands_len + compares_len || !is_whole {
            return Err(bad_length(pe, rest.len()));
        }
        let (operands, compares) = rest.split_at(operands_len);
        let wants_old = header.flags & WANTS_OLD != 0;
        let did = atomic.rights(wants_old);
        // Nothing is done unless it has a place among what is owed.
        if self.serving(pe)?.owed >= OPERATIONS_MAX {
            return self.serving(pe)?.owe(pe, Answer::Done(1));
        }
        let regions = &self.remote.regions;
        let checked = regions.check(&places, did);
        let changed = checked.and_then(|()| regions.change(&places, atomic, operands, compares));
        let is_done = changed.is_ok();
        let answer = match changed {
            Err(why) => Answer::Refused(why),
            Ok(old) if wants_old && len > 0 => Answer::Kept(old, 0),
            Ok(_) => Answer::Done(1),
        };
        self.serving(pe)?.owe(pe, answer)?;
        if is_done {
            self.remote.tell(&places, did);
            self.news = true;
        }
        Ok(())
    }

    /// Whether peers are owed answers.
    pub(crate) fn owes(&mut self) -> bool {
        let owes = |peer: &Peer| peer.owes() || peer.has_backlog();
        self.peers.iter().any(|peer| !peer.shut && owes(peer))
    }

    /// Answers `pe`, as far as there is room in the ring.
    pub(in super::super) fn answer_memory(&mut self, pe: PeId) -> Result<()> {
        let mut any = false;
        while !self.remote.is_full() && self.answer_one(pe)? {
            any = true;
        }
        if any && self.are_weak() {
            self.wire.fence()?;
        }
        Ok(())
    }

    /// Whether this station can copy private memory of `pe`, as far as is known.
    pub(super) fn can_copy(&mut self, pe: PeId) -> Result<bool> {
        if let Some(reads) = self.serving(pe)?.reads {
            return Ok(reads);
        }
        let reads = self.wire.copy_private(pe, 0, &mut []);
        self.serving(pe)?.reads = Some(reads);
        Ok(reads)
    }

    /// Those of every answer to `pe`.
    pub(super) fn answer_flags(&mut self, pe: PeId) -> Result<u8> {
        Ok(if self.can_copy(pe)? { COPIES } else { 0 })
    }

    /// The next piece of what `pe` is owed. False if there is none, or no room.
    fn answer_one(&mut self, pe: PeId) -> Result<bool> {
        let peer = self.peers.get_mut(pe).filter(|peer| !peer.shut);
        let Some(peer) = peer else {
            return Ok(false);
        };
        let left = match peer.far().remote.serving.answers.front() {
            None => return Ok(false),
            Some(Answer::Lent(_)) => return self.lend(pe),
            Some(answer) => answer.left(),
        };
        let Some(len) = self.piece_to(pe, HEADER_BYTES, left)? else {
            return Ok(false);
        };
        let flags = self.answer_flags(pe)?;
        let Some(peer) = self.peers.get_mut(pe) else {
            return Ok(false);
        };
        let Some(mut answer) = peer.far().remote.serving.answers.pop_front() else {
            return Ok(false);
        };
        let (bytes, ended) = answer.next_piece(&self.remote.regions, len, flags);
        if !peer.sender.try_send_held(ANSWER, 0, &bytes)? {
            return Ok(false);
        }
        let serving = &mut peer.far().remote.serving;
        match (ended, answer) {
            (None, answer) => serving.answers.push_front(answer),
            (Some(Ended::Read), Answer::Places(places, ..)) => {
                serving.owed -= 1;
                self.remote.tell(&places, Rights::READ);
            }
            (Some(_), Answer::Done(count)) => serving.owed -= count,
            (Some(_), _) => serving.owed -= 1,
        }
        Ok(true)
    }
}

/// How an answer has ended.
enum Ended {
    /// The operation was told of when it was done, or was refused.
    Told,
    /// All bytes have been read only now.
    Read,
}

impl Answer {
    /// Bytes that have not left.
    fn left(&self) -> usize {
        match self {
            Self::Done(_) | Self::Refused(_) | Self::Lent(_) => 0,
            Self::Kept(kept, gone) => kept.len() - gone,
            Self::Places(_, gone, len) => len - gone,
        }
    }

    /// Its next piece, which leaves now; and whether it is the last.
    fn next_piece(
        &mut self,
        regions: &MemoryRegions,
        len: usize,
        flags: u8,
    ) -> (Vec<u8>, Option<Ended>) {
        let header = |what| Header::new(what).with_flags(flags);
        let refused = |why: Refusal| header(What::Refused).with_word(why as u64).emit(&[]);
        let mut bytes = header(What::Bytes).emit(&[]);
        match self {
            Self::Done(count) => {
                let done = header(What::Done).with_word(*count as u64);
                (done.emit(&[]), Some(Ended::Told))
            }
            Self::Refused(why) => (refused(*why), Some(Ended::Told)),
            // It leaves in its own way.
            Self::Lent(_) => (refused(Refusal::NotCopied), Some(Ended::Told)),
            Self::Kept(kept, gone) => {
                bytes.extend_from_slice(&kept[*gone..*gone + len]);
                *gone += len;
                (bytes, (*gone == kept.len()).then_some(Ended::Told))
            }
            Self::Places(places, gone, all) => {
                bytes.resize(HEADER_BYTES + len, 0);
                match regions.load(places, *gone as u64, &mut bytes[HEADER_BYTES..]) {
                    Ok(()) => {
                        *gone += len;
                        (bytes, (*gone == *all).then_some(Ended::Read))
                    }
                    // It has been unregistered meanwhile.
                    Err(why) => (refused(why), Some(Ended::Told)),
                }
            }
        }
    }
}

impl super::Remote {
    pub(in super::super) fn owes(&self) -> bool {
        !self.serving.answers.is_empty()
    }
}
