//! The side of a PE that asks agents: requests under way, several of each target at once.
//!
//! Requests to one target are numbered, and its agent answers them in that order. There are
//! [`REQUEST_LINES`] request lines and as many reply lines; the number of a request says which of them
//! it uses. They are used again when the reply has been read. Until then the request also owns some
//! pieces of the landing place, where its data arrives.
//!
//! No function here waits: the one loop that waits calls them again. If a reply has come, its caller has
//! not fetched it, and others need its room, its data is moved to private memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostwire_transport::ring::PAYLOAD_BYTES;
use hostwire_transport::{PeId, Route, TransportError, Visibility, Window};

use super::{DONE, REFUSED, REPLY_HEAD_BYTES};
use crate::attachment::Attachment;
use crate::error::{PeerWord, Result};
use crate::layout::{LANDING_BYTES, NOT_YET, REQUEST_LINES};

/// The landing place is given out in pieces of this size.
const PIECE_BYTES: usize = LANDING_BYTES / PIECES as usize;
const PIECES: u32 = u64::BITS;
/// Most bytes that one request brings back: its share of the landing place.
pub(super) const LANDED_BYTES_MAX: usize = LANDING_BYTES / REQUEST_LINES as usize;

/// What is stored in a request line: the header without the number, and the payload.
pub(super) type Line = (u64, [u8; PAYLOAD_BYTES]);

/// Where the data of a request goes, and how many bytes it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// It comes in the reply.
    Reply(usize),
    /// In the landing place; at most [`LANDED_BYTES_MAX`].
    Landing(usize),
}

impl Data {
    /// There is none.
    pub(super) const NONE: Self = Self::Reply(0);

    fn bytes(self) -> usize {
        match self {
            Self::Reply(bytes) | Self::Landing(bytes) => bytes,
        }
    }
}

/// What an agent has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Done; the old value.
    Done(u64),
    Refused,
}

/// Names a request. Its target and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestId {
    pe: PeId,
    number: u32,
}

/// All requests of a PE. See the [module text](self).
#[derive(Debug, Default)]
pub(super) struct Asking(Mutex<Requests>);

#[derive(Debug, Default)]
struct Requests {
    /// Those that were asked.
    targets: BTreeMap<PeId, Target>,
    /// A bit for each piece that belongs to a request.
    landing: u64,
    /// A request has found no room since the last time a line or a piece became free.
    is_short: bool,
    /// Replies that were read before their callers came.
    kept: BTreeMap<RequestId, Result<(Answer, Vec<u8>)>>,
}

#[derive(Debug, Default)]
struct Target {
    /// The number of the last request.
    last: u32,
    /// Requests whose reply has not been read yet, in order.
    under_way: VecDeque<UnderWay>,
}

#[derive(Debug)]
struct UnderWay {
    number: u32,
    line: Line,
    data: Data,
    /// The pieces of the landing place that the request owns.
    pieces: u64,
    /// Whether the caller still wants the reply.
    is_wanted: bool,
}

impl UnderWay {
    /// Where in the segment its data is.
    fn place(&self, inner: &Attachment, pe: PeId) -> usize {
        let layout = &inner.layout;
        match self.data {
            Data::Reply(_) => layout.reply(pe, self.number) + 8 + REPLY_HEAD_BYTES,
            Data::Landing(_) => {
                let piece = self.pieces.trailing_zeros() as usize;
                // A request without data has no piece.
                layout.landing() + piece % PIECES as usize * PIECE_BYTES
            }
        }
    }
}

impl Asking {
    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a request, if there is room for it and its data. `line` gets the place of the data.
    pub(super) fn start(
        &self,
        inner: &Attachment,
        pe: PeId,
        data: Data,
        line: impl FnOnce(usize) -> Result<Line>,
    ) -> Result<Option<RequestId>> {
        let mut requests = self.lock();
        let requests = &mut *requests;
        if requests.target(inner, pe)?.under_way.len() == REQUEST_LINES as usize {
            requests.read_replies(inner, pe)?;
            if requests.target(inner, pe)?.under_way.len() == REQUEST_LINES as usize {
                requests.is_short = true;
                return Ok(None);
            }
        }
        let landed_bytes = match data {
            Data::Reply(_) => 0,
            Data::Landing(bytes) => bytes,
        };
        let Some(pieces) = requests.take_pieces(inner, landed_bytes)? else {
            requests.is_short = true;
            return Ok(None);
        };
        let last = requests.target(inner, pe)?.last;
        if last == 0 {
            say_that_it_asks(inner, pe)?;
        }
        let number = last.wrapping_add(1);
        let mut request = UnderWay {
            number,
            line: (0, [0; PAYLOAD_BYTES]),
            data,
            pieces,
            is_wanted: true,
        };
        let stored = line(request.place(inner, pe)).and_then(|line| {
            request.line = line;
            let reply = inner.layout.reply(pe, number);
            inner
                .segment()
                .put_word(reply, NOT_YET | u64::from(number))?;
            // The agent must see earlier puts: a get after a put to the same PE returns the new bytes.
            inner.fence()?;
            request.store(inner, pe)
        });
        if let Err(error) = stored {
            // The next request gets this number.
            requests.landing &= !pieces;
            return Err(error);
        }
        requests.landing |= pieces;
        let target = requests.target(inner, pe)?;
        target.last = number;
        target.under_way.push_back(request);
        Ok(Some(RequestId { pe, number }))
    }

    /// The answer to a request, if it has come. Its data is copied to `out`, which has the same length.
    pub(super) fn finish(
        &self,
        inner: &Attachment,
        asked: RequestId,
        out: Option<&mut [u8]>,
    ) -> Result<Option<Answer>> {
        let requests = &mut *self.lock();
        if let Some(kept) = requests.kept.remove(&asked) {
            let (answer, bytes) = kept?;
            if let Some(out) = out.filter(|out| out.len() == bytes.len()) {
                out.copy_from_slice(&bytes);
            }
            return Ok(Some(answer));
        }
        loop {
            let front = requests.target(inner, asked.pe)?.under_way.front();
            if front.is_some_and(|front| front.number == asked.number) {
                return requests.read_reply(inner, asked.pe, |inner, request| match out {
                    Some(out) => Ok(inner.segment().get(request.place(inner, asked.pe), out)?),
                    None => Ok(()),
                });
            }
            if !requests.keep_reply(inner, asked.pe)? {
                return Ok(None);
            }
        }
    }

    /// The caller does not want the reply any more.
    pub(super) fn forget(&self, asked: RequestId) {
        let requests = &mut *self.lock();
        requests.kept.remove(&asked);
        if let Some(target) = requests.targets.get_mut(&asked.pe)
            && let Some(request) = target.find(asked.number)
        {
            request.is_wanted = false;
        }
    }

    /// Stores all requests to `pe` again that have no reply: somebody may have overwritten one. An agent
    /// serves each number once.
    pub(super) fn ask_again(&self, inner: &Attachment, pe: PeId) -> Result<()> {
        let requests = &mut *self.lock();
        say_that_it_asks(inner, pe)?;
        for request in &requests.target(inner, pe)?.under_way {
            request.store(inner, pe)?;
        }
        Ok(())
    }
}

impl Requests {
    fn target(&mut self, inner: &Attachment, pe: PeId) -> Result<&mut Target> {
        match pe < inner.pes {
            true => Ok(self.targets.entry(pe).or_default()),
            false => Err(TransportError::NoSuchPe { pe, pes: inner.pes }.into()),
        }
    }

    /// Takes adjacent pieces, if there are enough. If not, it first reads the replies that have come,
    /// because that frees pieces.
    fn take_pieces(&mut self, inner: &Attachment, len_bytes: usize) -> Result<Option<u64>> {
        let count = len_bytes.div_ceil(PIECE_BYTES) as u32;
        if count == 0 {
            return Ok(Some(0));
        }
        if let Some(pieces) = free_pieces(self.landing, count) {
            return Ok(Some(pieces));
        }
        let asked: Vec<PeId> = self.targets.keys().copied().collect();
        for pe in asked {
            if inner.is_there(pe) {
                self.read_replies(inner, pe)?;
            } else {
                self.give_up(inner, pe)?;
            }
        }
        Ok(free_pieces(self.landing, count))
    }

    /// Reads all replies of `pe` that have come.
    fn read_replies(&mut self, inner: &Attachment, pe: PeId) -> Result<()> {
        while self.keep_reply(inner, pe)? {}
        Ok(())
    }

    /// Reads the next reply of `pe`, if it has come, and keeps it for its caller. Returns whether it
    /// has.
    fn keep_reply(&mut self, inner: &Attachment, pe: PeId) -> Result<bool> {
        let Some(front) = self.target(inner, pe)?.under_way.front() else {
            return Ok(false);
        };
        let (number, is_wanted) = (front.number, front.is_wanted);
        let mut bytes = Vec::new();
        let answer = self.read_reply(inner, pe, |inner, request| {
            if is_wanted {
                bytes.resize(request.data.bytes(), 0);
                let place = request.place(inner, pe);
                inner.segment().get(place, &mut bytes)?;
            }
            Ok(())
        });
        let kept = match answer {
            Ok(None) => return Ok(false),
            Ok(Some(answer)) => Ok((answer, bytes)),
            Err(error) => Err(error),
        };
        if is_wanted {
            self.kept.insert(RequestId { pe, number }, kept);
        }
        Ok(true)
    }

    /// Ends the first request to `pe` if there is a reply, right or wrong. `take` gets the request if
    /// its data has arrived.
    fn read_reply(
        &mut self,
        inner: &Attachment,
        pe: PeId,
        take: impl FnOnce(&Attachment, &UnderWay) -> Result<()>,
    ) -> Result<Option<Answer>> {
        let under_way = &mut self.target(inner, pe)?.under_way;
        let Some(request) = under_way.front() else {
            return Ok(None);
        };
        let answer = match reply(inner, pe, request.number) {
            Ok(None) => return Ok(None),
            Ok(Some(Answer::Done(old))) => take(inner, request).map(|()| Some(Answer::Done(old))),
            other => other,
        };
        let pieces = request.pieces;
        under_way.pop_front();
        self.landing &= !pieces;
        if core::mem::take(&mut self.is_short) {
            // Another thread may wait for room, and no store of a peer would wake it.
            inner.segment().notify();
        }
        answer
    }

    /// Ends all requests to a PE that is lost.
    fn give_up(&mut self, inner: &Attachment, pe: PeId) -> Result<()> {
        let under_way = core::mem::take(&mut self.target(inner, pe)?.under_way);
        for request in under_way {
            self.landing &= !request.pieces;
            if request.is_wanted {
                let asked = RequestId {
                    pe,
                    number: request.number,
                };
                self.kept.insert(asked, Err(inner.lost.error(pe)));
            }
        }
        Ok(())
    }
}

impl Target {
    fn find(&mut self, number: u32) -> Option<&mut UnderWay> {
        let mut requests = self.under_way.iter_mut();
        requests.find(|request| request.number == number)
    }
}

impl UnderWay {
    fn store(&self, inner: &Attachment, pe: PeId) -> Result<()> {
        let at = inner.layout.request(inner.pe, self.number);
        let (header, payload) = &self.line;
        let header = header | u64::from(self.number);
        Ok(inner.wire.store_line(pe, at, header, payload)?)
    }
}

/// Tells the agent of `pe` to look for requests of this PE, if that has to be said.
fn say_that_it_asks(inner: &Attachment, pe: PeId) -> Result<()> {
    // A segment to which no window leads is coherent memory of its host.
    let window = inner.route(pe).and_then(Route::window);
    let contract = window.map_or(Visibility::Coherent, Window::visibility);
    if let Some(asks) = inner.layout.asks(contract) {
        asks.say(inner.pe, |at, value| inner.wire.store_word(pe, at, value))?;
    }
    Ok(())
}

/// What the agent of `pe` says about the request with this number.
fn reply(inner: &Attachment, pe: PeId, number: u32) -> Result<Option<Answer>> {
    let (segment, at) = (inner.segment(), inner.layout.reply(pe, number));
    let got = segment.load_word(at)?;
    if got == NOT_YET | u64::from(number) {
        return Ok(None);
    }
    if got != u64::from(number) {
        let number = u64::from(number);
        return Err(PeerWord::ReplyNumber.out_of(number..=number, pe, got));
    }
    match segment.load_word(at + 16)? {
        DONE => Ok(Some(Answer::Done(segment.load_word(at + 8)?))),
        REFUSED => Ok(Some(Answer::Refused)),
        other => Err(PeerWord::ReplyStatus.out_of(DONE..=DONE, pe, other)),
    }
}

/// `count` adjacent free pieces.
fn free_pieces(taken: u64, count: u32) -> Option<u64> {
    let all = u64::MAX >> (PIECES - count);
    (0..=PIECES - count)
        .map(|first| all << first)
        .find(|pieces| pieces & taken == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other() {
        assert_eq!(free_pieces(0, 1), Some(1));
        assert_eq!(free_pieces(0b1011, 1), Some(0b100));
        assert_eq!(free_pieces(0b1011, 2), Some(0b11_0000));
        assert_eq!(free_pieces(u64::MAX >> 1, 1), Some(1 << 63));
        assert_eq!(free_pieces(u64::MAX >> 1, 2), None);
        assert_eq!(free_pieces(0, 64), Some(u64::MAX));
        assert_eq!(free_pieces(1, 64), None);
    }
}
