//! Non-posted requests: tags, and which answer belongs to which request.

use hostwire_packet::ht::{
    Address, AtomicOperation, ControlRepr, Dwords, PacketRepr, Read, ReadSize, RequestKind,
    RequestRepr, ResponseKind, ResponseRepr, ResponseStatus, RqUid, SeqId, SrcTag, UnitId,
};
use thiserror::Error;

use crate::error::{Misbehaviour, Misuse};

/// Requests that can be outstanding per link: they differ in a UnitID of 5 bits and a
/// SrcTag of 5 bits.
pub const OUTSTANDING_MAX: usize = 32 * 32;

/// The requests of one link that wait for their answer.
///
/// Sits beside the endpoint: make a request here, send the packet, and show each
/// response that is delivered to [`answer`](Self::answer). Each tag is in use from the
/// request to its answer. `cookie` is a value that the caller gets back with the
/// answer. Drop this object when the session ends.
///
/// ```
/// # use hostwire_link::{respond_done, Requests};
/// # use hostwire_packet::ht::ControlRepr;
/// let mut requests = Requests::new();
/// let flush = requests.flush(7)?;
/// // ... at the other end:
/// # let ControlRepr::Request(request) = flush.control() else { unreachable!() };
/// let done = respond_done(request, Default::default()).unwrap();
/// // ... and back:
/// assert_eq!(requests.answer(&done)?.cookie, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Requests {
    pending: Vec<Option<Pending>>,
    free: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    data_len: u8,
    cookie: u64,
}

/// Why a request could not be made. Caller's fault, or back-pressure.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// All tags are in use; wait for an answer.
    #[error("{OUTSTANDING_MAX} requests have no answer yet")]
    NoTag,
    /// The request breaks a rule of the packet format.
    #[error("{0}")]
    Packet(#[from] hostwire_packet::Error),
}

/// The answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The cookie of the request.
    pub cookie: u64,
    /// How it ended.
    pub status: ResponseStatus,
    /// The data that was read; empty if the request reads nothing.
    pub data: &'a [u8],
}

impl Default for Requests {
    fn default() -> Self {
        Self::new()
    }
}

impl Requests {
    /// No requests. Allocates with the first one.
    pub const fn new() -> Self {
        Self {
            pending: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Requests without answer.
    pub fn outstanding(&self) -> usize {
        self.pending.len() - self.free.len()
    }

    /// A read of `dwords` at `address`, inside one aligned block of 64 bytes.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn read(
        &mut self,
        address: Address,
        dwords: Dwords,
        cookie: u64,
    ) -> Result<PacketRepr<'static>, RequestError> {
        self.make(dwords.len_bytes(), cookie, &[], |src_tag| {
            RequestKind::Read(Read {
                src_tag,
                address,
                size: ReadSize::Dwords(dwords),
                response_pass_pw: false,
                isoc: false,
                coherent: false,
                compat: false,
            })
        })
    }

    /// An atomic operation on the qword at `address`; the answer is its old
    /// value. `operands` is 8 bytes for fetch-and-add, 16 for compare-and-swap.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn atomic<'a>(
        &mut self,
        address: Address,
        operation: AtomicOperation,
        operands: &'a [u8],
        cookie: u64,
    ) -> Result<PacketRepr<'a>, RequestError> {
        self.make(8, cookie, operands, |src_tag| RequestKind::Atomic {
            src_tag,
            address,
            operation,
            compat: false,
        })
    }

    /// A flush: answered when all posted writes before it have been done.
    ///
    /// # Errors
    /// [`RequestError`].
    pub fn flush(&mut self, cookie: u64) -> Result<PacketRepr<'static>, RequestError> {
        self.make(0, cookie, &[], |src_tag| RequestKind::Flush {
            src_tag,
            isoc: false,
        })
    }

    fn make<'a>(
        &mut self,
        data_len: usize,
        cookie: u64,
        data: &'a [u8],
        kind: impl FnOnce(SrcTag) -> RequestKind,
    ) -> Result<PacketRepr<'a>, RequestError> {
        if self.pending.is_empty() {
            self.pending = vec![None; OUTSTANDING_MAX];
            self.free = (0..OUTSTANDING_MAX as u16).rev().collect();
        }
        let &tag = self.free.last().ok_or(RequestError::NoTag)?;
        let request = RequestRepr {
            unit_id: UnitId::new((tag >> 5) as u8)?,
            seq_id: SeqId::MIN,
            pass_pw: false,
            kind: kind(SrcTag::new((tag & 31) as u8)?),
        };
        let packet = PacketRepr::new(request, data)?;
        self.free.pop();
        if let Some(slot) = self.pending.get_mut(usize::from(tag)) {
            *slot = Some(Pending {
                data_len: data_len as u8,
                cookie,
            });
        }
        Ok(packet)
    }

    /// Gives back the tag of a request that could not be sent.
    pub fn cancel(&mut self, request: &PacketRepr<'_>) {
        if let ControlRepr::Request(request) = request.control()
            && let Some(src_tag) = request.src_tag()
        {
            self.take(request.unit_id, src_tag);
        }
    }

    /// Finds the request that a response answers.
    ///
    /// # Errors
    /// [`Misbehaviour::Misuse`] for an answer to no request, or of the wrong size: pass
    /// it to [`Endpoint::cut_off`](crate::Endpoint::cut_off).
    pub fn answer<'a>(&mut self, response: &PacketRepr<'a>) -> Result<Answer<'a>, Misbehaviour> {
        let ControlRepr::Response(repr) = response.control() else {
            return Err(Misbehaviour::Misuse(Misuse::NoResponse));
        };
        let index = usize::from(index(repr.unit_id, repr.src_tag));
        let pending = self.pending.get(index).copied().flatten();
        let pending = pending.ok_or(Misbehaviour::Misuse(Misuse::Unasked))?;
        let data = response.data();
        let failed = repr.status != ResponseStatus::Normal;
        if data.len() != usize::from(pending.data_len) && !(failed && data.is_empty()) {
            return Err(Misbehaviour::Misuse(Misuse::AnswerSize));
        }
        self.take(repr.unit_id, repr.src_tag);
        Ok(Answer {
            cookie: pending.cookie,
            status: repr.status,
            data,
        })
    }

    fn take(&mut self, unit_id: UnitId, src_tag: SrcTag) {
        let tag = index(unit_id, src_tag);
        if let Some(slot) = self.pending.get_mut(usize::from(tag))
            && slot.take().is_some()
        {
            self.free.push(tag);
        }
    }
}

fn index(unit_id: UnitId, src_tag: SrcTag) -> u16 {
    u16::from(unit_id.get()) << 5 | u16::from(src_tag.get())
}

/// The answer to a read or an atomic. `None` if the request is posted or `data`
/// is not 4 to 64 bytes in whole dwords.
pub fn respond_data<'a>(request: &RequestRepr, data: &'a [u8]) -> Option<PacketRepr<'a>> {
    let dwords = Dwords::from_len_bytes(data.len()).ok()?;
    let kind = ResponseKind::Read { dwords };
    PacketRepr::new(response(request, kind, ResponseStatus::Normal)?, data).ok()
}

/// The answer to a flush or a non-posted write, or to any request that failed.
/// `None` if the request is posted.
pub fn respond_done(request: &RequestRepr, status: ResponseStatus) -> Option<PacketRepr<'static>> {
    PacketRepr::new(response(request, ResponseKind::TargetDone, status)?, &[]).ok()
}

fn response(
    request: &RequestRepr,
    kind: ResponseKind,
    status: ResponseStatus,
) -> Option<ResponseRepr> {
    Some(ResponseRepr {
        kind,
        unit_id: request.unit_id,
        src_tag: request.src_tag()?,
        rq_uid: RqUid::new(request.unit_id.get() & 3).ok()?,
        // Sent by the host: UnitID is that of the requester.
        bridge: true,
        pass_pw: false,
        isoc: false,
        status,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_of(packet: &PacketRepr<'_>) -> RequestRepr {
        match packet.control() {
            ControlRepr::Request(request) => *request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_tags_and_no_more() {
        let mut requests = Requests::new();
        let address = Address::new(0x40).unwrap();
        let packets: Vec<_> = (0..OUTSTANDING_MAX as u64)
            .map(|cookie| requests.read(address, Dwords::MAX, cookie).unwrap())
            .collect();
        assert_eq!(requests.flush(0), Err(RequestError::NoTag));
        assert_eq!(requests.outstanding(), OUTSTANDING_MAX);
        for (cookie, packet) in packets.iter().enumerate().rev() {
            let response = respond_data(&request_of(packet), &[9; 64]).unwrap();
            let answer = requests.answer(&response).unwrap();
            assert_eq!((answer.cookie, answer.data.len()), (cookie as u64, 64));
            assert!(requests.answer(&response).is_err());
        }
        assert_eq!(requests.outstanding(), 0);
    }

    #[test]
    fn wrong_answers() {
        let mut requests = Requests::new();
        let atomic = requests
            .atomic(
                Address::new(8).unwrap(),
                AtomicOperation::FetchAndAdd,
                &[1; 8],
                5,
            )
            .unwrap();
        let request = request_of(&atomic);
        let short = respond_data(&request, &[0; 4]).unwrap();
        assert_eq!(
            requests.answer(&short),
            Err(Misbehaviour::Misuse(Misuse::AnswerSize))
        );
        assert!(requests.answer(&atomic).is_err());
        let abort = respond_done(&request, ResponseStatus::TargetAbort).unwrap();
        assert_eq!(
            requests.answer(&abort).map(|answer| answer.status),
            Ok(ResponseStatus::TargetAbort)
        );
        let flush = requests.flush(1).unwrap();
        requests.cancel(&flush);
        assert_eq!(requests.outstanding(), 0);
    }
}
