//! The endpoint of a PE and the state of its peers, under one lock.

use std::time::Instant;

use hostwire_transport::error::{EnvironmentFault, Loss, Misbehaviour, PeId, TransportError};

use super::ffi::{Completion, Endpoint, FabricError, Token};
use super::home::Home;
use super::keys::Keys;
use super::message::{HEAD_BYTES, Head, Kind, Outgoing, RECORD_BYTES, Record, records, u64_at};
use super::peer::{End, Peer};

/// Longest message.
pub(super) const MESSAGE_BYTES: usize = 8 << 10;
/// Most bytes of a store that go in one message.
pub(super) const DATA_BYTES_MAX: usize = MESSAGE_BYTES - HEAD_BYTES - RECORD_BYTES;
/// Messages of full length that may come between two polls.
const RECEIVES: usize = 64;
/// Posted receives, if each takes several messages: while one is full, the other has room.
const SHARED_RECEIVES: usize = 2;
/// Messages of this PE that may be in flight.
const SENDS: usize = 64;
/// Most concurrent reads and writes of remote memory.
const TRANSFERS: usize = 16;
const TRANSFER: Token = RECEIVES + SENDS;
/// Most concurrent operations.
pub(super) const TOKENS: usize = TRANSFER + TRANSFERS;
/// The offset of the buffer to which the caller's bytes are copied if they cannot be sent in place.
pub(super) const COPIED: usize = (RECEIVES + SENDS) * MESSAGE_BYTES;
/// The size of this buffer.
pub(super) const COPIED_BYTES: usize = 256 << 10;
/// Bytes of all buffers.
pub(super) const BUFFER_BYTES: usize = COPIED + COPIED_BYTES;

/// A read or a write of remote memory.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Transfer {
    Free,
    Running,
    Done(Result<(), FabricError>),
}

hostwire_link::counters! {
    /// The counters of the wire.
    #[derive(Debug, Clone, Copy, Default)]
    pub(super) struct Counted {
        /// Messages sent over libfabric
        pub(super) messages_sent: u64 = ["fabric_messages_sent"],
        /// Messages that came over libfabric
        pub(super) messages_received: u64 = ["fabric_messages_received"],
        /// Long puts, as writes of libfabric
        pub(super) writes: u64 = ["fabric_writes"],
        /// Gets, as reads of libfabric
        pub(super) reads: u64 = ["fabric_reads"],
        /// Messages that came over libfabric and are of no PE of the job
        pub(super) strangers: u64 = ["fabric_strangers"],
    }
}

/// See the [module text](self).
pub(super) struct FabricCore {
    pub(super) endpoint: Endpoint,
    /// How many receives are posted.
    receives: usize,
    pe: PeId,
    /// A number that only the PEs of this job know.
    job: u64,
    /// By PE; `None` for PEs to which the wire does not lead.
    peers: Box<[Option<Peer>]>,
    pub(super) home: Home,
    pub(super) keys: Keys,
    free_sends: Vec<Token>,
    /// By token, from [`RECEIVES`] on: the target.
    send_to: Box<[PeId]>,
    transfers: Box<[Transfer]>,
    unposted: Vec<Token>,
    completions: Vec<Completion>,
    received: Box<[u8]>,
    /// Peers that wait for an echo.
    owing: Vec<PeId>,
    /// The error of all operations: the endpoint is closed, or the provider has broken a promise.
    fault: Option<TransportError>,
    pub(super) counted: Counted,
}

impl FabricCore {
    pub(super) fn new(
        endpoint: Endpoint,
        (pe, job): (PeId, u64),
        peers: Box<[Option<Peer>]>,
        home: Home,
    ) -> Self {
        let receives = match endpoint.promises().shares_receives {
            true => SHARED_RECEIVES,
            false => RECEIVES,
        };
        let mut core = Self {
            endpoint,
            receives,
            pe,
            job,
            send_to: vec![pe; SENDS].into(),
            peers,
            home,
            keys: Keys::default(),
            free_sends: (RECEIVES..TRANSFER).collect(),
            transfers: vec![Transfer::Free; TRANSFERS].into(),
            unposted: (0..receives).collect(),
            completions: Vec::new(),
            received: vec![0; MESSAGE_BYTES].into(),
            owing: Vec::new(),
            fault: None,
            counted: Counted::default(),
        };
        core.post_receives();
        core
    }

    /// A PE to which this wire leads.
    pub(super) fn peer(&self, pe: PeId) -> Option<&Peer> {
        self.peers.get(pe as usize)?.as_ref()
    }

    pub(super) fn peer_mut(&mut self, pe: PeId) -> Option<&mut Peer> {
        self.peers.get_mut(pe as usize)?.as_mut()
    }

    /// The PEs to which this wire leads.
    pub(super) fn others(&self) -> impl Iterator<Item = PeId> + use<> {
        let leads: Vec<PeId> = (0..)
            .zip(&self.peers)
            .filter_map(|(pe, peer)| peer.as_ref().map(|_| pe))
            .collect();
        leads.into_iter()
    }

    /// The peer for a store; an error if it is lost, `None` if it has finished.
    pub(super) fn open(&self, pe: PeId) -> Result<Option<&Peer>, TransportError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let pes = self.peers.len() as u32;
        let peer = self.peer(pe).ok_or(TransportError::NoSuchPe { pe, pes })?;
        match peer.end {
            None => Ok(Some(peer)),
            Some(end) => end.result(pe).map(|()| None),
        }
    }

    /// The error that ends all operations, if there is one.
    pub(super) fn fault(&self) -> Result<(), TransportError> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// Sends a message and returns its number; `None` if there is no room for it now.
    pub(super) fn send(
        &mut self,
        pe: PeId,
        message: &mut Outgoing,
    ) -> Result<Option<u64>, TransportError> {
        let Some(peer) = self.peers.get_mut(pe as usize).and_then(Option::as_mut) else {
            return Ok(None);
        };
        let number = peer.sent + 1;
        let bytes = message.with_head(Head {
            job: self.job,
            number,
            from: self.pe,
        });
        let endpoint = &mut self.endpoint;
        let taken = match bytes.len() <= endpoint.promises().inject_bytes {
            true => endpoint.inject(bytes, peer.to),
            false => {
                let Some(&token) = self.free_sends.last() else {
                    return Ok(None);
                };
                let at = token * MESSAGE_BYTES;
                endpoint.buffers().copy_in(at, bytes)?;
                let taken = endpoint.send(token, at, bytes.len(), peer.to);
                if let (Ok(true), Some(to)) = (&taken, self.send_to.get_mut(token - RECEIVES)) {
                    *to = pe;
                    self.free_sends.pop();
                }
                taken
            }
        };
        match taken {
            Ok(true) => {
                peer.sent = number;
                self.counted.messages_sent += 1;
                Ok(Some(number))
            }
            Ok(false) => Ok(None),
            Err(_) => {
                self.failed(pe);
                self.open(pe).map(|_| None)
            }
        }
    }

    /// An operation to a PE has failed: the connection to it is broken.
    pub(super) fn failed(&mut self, pe: PeId) {
        if let Some(peer) = self.peer_mut(pe) {
            peer.ends(End::Lost(Loss::Disconnected));
        }
    }

    /// Handles completions and due work. Returns whether anything has come.
    pub(super) fn drive(&mut self) -> bool {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self
            .endpoint
            .poll(|completion| completions.push(completion));
        let came = match polled {
            Ok(came) => came,
            Err(error) => {
                self.breaks(format!("its completion queue: {error}"));
                false
            }
        };
        let mut has_stored = false;
        for completion in completions.drain(..) {
            has_stored |= self.complete(completion);
        }
        self.completions = completions;
        if has_stored {
            self.home.ring();
        }
        self.post_receives();
        self.pay_echoes();
        self.pay_keys();
        came
    }

    /// Returns whether memory of this PE has changed.
    fn complete(&mut self, completion: Completion) -> bool {
        let Completion {
            token,
            len,
            at,
            is_last,
            result,
        } = completion;
        match token {
            None => false,
            Some(token) if token < self.receives => {
                if is_last {
                    self.unposted.push(token);
                }
                // A completion that only returns the buffer has no bytes.
                let at = at.unwrap_or(token * self.receive_bytes());
                result.is_ok() && len > 0 && self.take(at, len)
            }
            Some(token) if token < TRANSFER => {
                self.free_sends.push(token);
                if let (Err(_), Some(to)) = (result, self.send_to.get(token - RECEIVES)) {
                    self.failed(*to);
                }
                false
            }
            Some(token) => {
                if let Some(transfer) = self.transfers.get_mut(token - TRANSFER) {
                    *transfer = Transfer::Done(result);
                }
                false
            }
        }
    }

    /// The room of a receive.
    const fn receive_bytes(&self) -> usize {
        RECEIVES / self.receives * MESSAGE_BYTES
    }

    /// Takes a message that has come to that place of the buffers. Returns whether memory of this PE has changed.
    fn take(&mut self, at: usize, len: usize) -> bool {
        let mut received = std::mem::take(&mut self.received);
        let message = received.get_mut(..len).unwrap_or_default();
        let copied = self.endpoint.buffers().copy_out(at, message);
        let head = Head::of(message).filter(|head| copied.is_ok() && head.job == self.job);
        let has_stored = match head {
            Some(head) if self.peer(head.from).is_some() => self.take_from(head, message),
            _ => {
                self.counted.strangers += 1;
                false
            }
        };
        self.received = received;
        has_stored
    }

    fn take_from(&mut self, head: Head, message: &[u8]) -> bool {
        let Head { from, number, .. } = head;
        let Some(peer) = self.peers.get_mut(from as usize).and_then(Option::as_mut) else {
            return false;
        };
        if number != peer.received + 1 {
            let expected = peer.received + 1;
            self.breaks(format!(
                "it promises to keep messages in order: expected message {expected} of PE {from}, \
                 got message {number}"
            ));
            return false;
        }
        peer.received = number;
        peer.heard_at = Instant::now();
        self.counted.messages_received += 1;
        let mut has_stored = false;
        for record in records(message) {
            let done = record.and_then(|record| self.apply(from, number, &record));
            match done {
                Some(stored) => has_stored |= stored,
                None => {
                    let (place, len) = record.map_or((0, 0), |it| (it.place, it.data.len()));
                    let how = Misbehaviour::Record {
                        offset_bytes: place,
                        len_bytes: len,
                    };
                    if let Some(peer) = self.peer_mut(from) {
                        peer.ends(End::Misbehaved(how));
                    }
                    break;
                }
            }
        }
        has_stored
    }

    /// Carries out a record. Returns whether it changes memory of this PE. `None` if it cannot be
    /// carried out.
    fn apply(&mut self, from: PeId, number: u64, record: &Record<'_>) -> Option<bool> {
        match record.kind {
            Kind::Store | Kind::Word | Kind::Line => {
                self.home.apply(record)?;
                return Some(true);
            }
            Kind::Bell => return Some(true),
            Kind::Echo => {
                if self.peer_mut(from)?.owed.replace(number).is_none() {
                    self.owing.push(from);
                }
            }
            Kind::Echoed => self.peer_mut(from)?.heard_echo(u64_at(record.data, 0)?),
            Kind::Farewell => self.peer_mut(from)?.ends(End::Finished),
            Kind::Wanted | Kind::Key | Kind::Forget => {
                self.apply_key(from, record.kind, record.place, record.data)?;
            }
        }
        Some(false)
    }

    fn post_receives(&mut self) {
        let bytes = self.receive_bytes();
        while let Some(&token) = self.unposted.last() {
            match self.endpoint.recv(token, token * bytes, bytes) {
                Ok(true) => {
                    self.unposted.pop();
                }
                // Tried again at the next turn. A closed endpoint takes none.
                Ok(false) | Err(_) => return,
            }
        }
    }

    fn pay_echoes(&mut self) {
        for _ in 0..self.owing.len() {
            let Some(pe) = self.owing.pop() else {
                return;
            };
            let owed = self.peer_mut(pe).and_then(|peer| peer.owed.take());
            let Some(number) = owed else {
                continue;
            };
            let mut echo = Outgoing::one(Kind::Echoed, 0, &[&number.to_le_bytes()]);
            if let (Ok(None), None) = (self.send(pe, &mut echo), self.fault.as_ref())
                && let Some(peer) = self.peer_mut(pe)
                && !matches!(peer.end, Some(End::Lost(_)))
            {
                // No room: at the next turn, after those of others.
                peer.owed = Some(number);
                self.owing.insert(0, pe);
            }
        }
    }

    /// Asks for an echo of the messages up to `number`, unless it was asked before. Returns whether
    /// there was room for the question.
    pub(super) fn ask(&mut self, pe: PeId, number: u64) -> Result<bool, TransportError> {
        if self.peer(pe).is_none_or(|peer| peer.asked >= number) {
            return Ok(true);
        }
        let mut question = Outgoing::one(Kind::Echo, 0, &[]);
        let Some(number) = self.send(pe, &mut question)? else {
            return Ok(false);
        };
        if let Some(peer) = self.peer_mut(pe) {
            peer.asked = number;
            peer.asked_at.get_or_insert_with(Instant::now);
        }
        Ok(true)
    }

    /// Begins a transfer; `None` if there is no room for it now. `begin` returns whether the
    /// provider took it.
    pub(super) fn begin_transfer(
        &mut self,
        begin: impl FnOnce(&mut Endpoint, Token) -> Result<bool, FabricError>,
    ) -> Result<Option<Token>, FabricError> {
        let free = self.transfers.iter().position(|it| *it == Transfer::Free);
        let Some(free) = free else {
            return Ok(None);
        };
        let token = TRANSFER + free;
        if !begin(&mut self.endpoint, token)? {
            return Ok(None);
        }
        self.transfers[free] = Transfer::Running;
        Ok(Some(token))
    }

    /// The result of a transfer, once; `None` while it is under way.
    pub(super) fn end_of_transfer(&mut self, token: Token) -> Option<Result<(), FabricError>> {
        let transfer = self.transfers.get_mut(token - TRANSFER)?;
        match std::mem::replace(transfer, Transfer::Free) {
            Transfer::Done(result) => Some(result),
            other => {
                *transfer = other;
                None
            }
        }
    }

    /// The endpoint ends: a peer was lost in the middle of a transfer, and the provider may still
    /// use memory of the caller.
    pub(super) fn close(&mut self, error: TransportError) {
        self.endpoint.close();
        self.fault.get_or_insert(error);
    }

    /// The provider breaks its promise: ends the endpoint.
    fn breaks(&mut self, detail: String) {
        let provider = self.endpoint.provider();
        let fault = EnvironmentFault::Links {
            detail: detail.into(),
        };
        let error = TransportError::environment(format!("libfabric's provider {provider}"), fault);
        self.fault.get_or_insert(error);
    }
}
