//! A get of any length, as several requests.

use std::collections::VecDeque;

use hostwire_transport::PeId;

use super::asking::{Answer, LANDED_BYTES_MAX, RequestId};
use super::{Asked, refused};
use crate::attachment::Attachment;
use crate::error::{Error, Result};

/// A get that has begun, by [`Attachment::begin_get`]. It ends with [`finish`](Self::finish) or
/// [`forget`](Self::forget).
#[derive(Debug)]
#[must_use = "the bytes come with `finish`"]
pub struct Getting {
    pe: PeId,
    offset_bytes: usize,
    len_bytes: usize,
    /// Bytes that were asked for.
    asked_bytes: usize,
    /// The requests without a reply, in order, and where the bytes of each begin.
    under_way: VecDeque<(RequestId, usize)>,
}

impl Getting {
    /// Asks `pe` for as much of `len_bytes` bytes at `offset_bytes` as there is room for now.
    pub(crate) fn begin(
        inner: &Attachment,
        pe: PeId,
        offset_bytes: usize,
        len_bytes: usize,
    ) -> Result<Self> {
        let mut getting = Self {
            pe,
            offset_bytes,
            len_bytes,
            asked_bytes: 0,
            under_way: VecDeque::new(),
        };
        getting.ask(inner)?;
        Ok(getting)
    }

    /// Waits until all of it is in `out`, which is as long as what was asked for.
    ///
    /// # Errors
    /// As [`Attachment::get`]. If `out` has another length, [`Error::OutOfRange`].
    pub fn finish(mut self, inner: &Attachment, out: &mut [u8]) -> Result<()> {
        if out.len() != self.len_bytes {
            self.forget(inner);
            return Err(Error::OutOfRange {
                index: 0,
                count: out.len(),
                elements: self.len_bytes,
            });
        }
        let got = self.run(inner, out);
        self.forget(inner);
        got
    }

    fn run(&mut self, inner: &Attachment, out: &mut [u8]) -> Result<()> {
        let mut done_bytes = 0;
        while done_bytes < self.len_bytes {
            let len_bytes = inner.agent.wait(inner, self.pe, || {
                self.ask(inner)?;
                self.take_first(inner, out)
            })?;
            done_bytes += len_bytes;
        }
        Ok(())
    }

    /// Asks for what was not asked for yet, as far as there is room.
    fn ask(&mut self, inner: &Attachment) -> Result<()> {
        while self.asked_bytes < self.len_bytes {
            let len = LANDED_BYTES_MAX.min(self.len_bytes - self.asked_bytes);
            let at = self.offset_bytes + self.asked_bytes;
            match inner.agent.start_get(inner, self.pe, at, len)? {
                Some(asked) => self.under_way.push_back((asked, self.asked_bytes)),
                None => return Ok(()),
            }
            self.asked_bytes += len;
        }
        Ok(())
    }

    /// Takes the first piece, if it has come, and says how long it is.
    fn take_first(&mut self, inner: &Attachment, out: &mut [u8]) -> Result<Option<usize>> {
        let Some((asked, start)) = self.under_way.front().copied() else {
            return Ok(None);
        };
        let len = LANDED_BYTES_MAX.min(self.len_bytes - start);
        let asking = &inner.agent.asking;
        let Some(answer) = asking.finish(inner, asked, Some(&mut out[start..start + len]))? else {
            return Ok(None);
        };
        self.under_way.pop_front();
        match answer {
            Answer::Done(_) => Ok(Some(len)),
            Answer::Refused => Err(refused(
                self.pe,
                &Asked::get(self.offset_bytes + start, len),
            )),
        }
    }

    /// Replies that have not come yet are not wanted any more.
    pub fn forget(&mut self, inner: &Attachment) {
        // In a copy of the process the lock may belong to a thread that does not exist there.
        if inner.is_here() {
            for (asked, _) in self.under_way.drain(..) {
                inner.agent.asking.forget(asked);
            }
        }
    }
}
