//! How detectors of different PEs talk: a stream of messages between each two of them, over
//! anything that stores reach.
//!
//! | in each segment | written by | |
//! |---|---|---|
//! | box per PE | that PE | a word: number of the letter and its bytes; then up to 8 KiB |
//! | receipt per PE | that PE | the number of the last letter from here that it has dealt with |
//! | doorbell | all | whether somebody here sleeps until something comes |
//!
//! A letter has as much of the stream as there is. The next one follows when the receipt
//! has arrived. So a PE with all its receipts knows that all its messages were received.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostwire_transport::wait::Doorbell;

use crate::buffer::Input;
use crate::mapped::Mapped;
use crate::remote::{done, resolve};
use crate::runtime::Runtime;

const BOX_BYTES: usize = 8 << 10;
const HEADER_BYTES: usize = 64;
const LETTER_BYTES: usize = BOX_BYTES - HEADER_BYTES;
/// One line for each, so that no PE waits for the line of another.
const RECEIPT_BYTES: usize = 64;
const WHAT: &str = "SHMEM_DEBUG=race";

/// Bytes that it needs in each segment.
pub(super) fn area_bytes(pes: u32) -> usize {
    pes as usize * (BOX_BYTES + RECEIPT_BYTES) + RECEIPT_BYTES
}

#[derive(Debug, Default)]
struct Peer {
    /// The messages to send, from `said` on.
    queue: Vec<u8>,
    said: usize,
    /// The number of the last letter to it.
    sent: u32,
    /// The number of the last letter from it.
    taken: u32,
    /// The beginning of a message of which more will come.
    part: Vec<u8>,
}

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Mail {
    /// Where in a segment it is.
    area: usize,
    me: u32,
    peers: Box<[Peer]>,
}

impl Mail {
    pub(super) fn new(area: usize, me: u32, pes: u32) -> Self {
        Self {
            area,
            me,
            peers: (0..pes).map(|_| Peer::default()).collect(),
        }
    }

    /// Where the letters of `from` are, in the segment of the receiver.
    fn letters(&self, from: u32) -> usize {
        self.area + from as usize * BOX_BYTES
    }

    /// Where the receipts of `from` are, in the segment of the receiver.
    fn receipts(&self, from: u32) -> usize {
        self.area + self.peers.len() * BOX_BYTES + from as usize * RECEIPT_BYTES
    }

    /// A message to `pe`, behind all that were sent to it before.
    pub(super) fn send(&mut self, runtime: &Runtime, pe: u32, message: &[u8]) {
        let peer = &mut self.peers[pe as usize];
        peer.queue
            .extend_from_slice(&(message.len() as u32).to_le_bytes());
        peer.queue.extend_from_slice(message);
        self.post(runtime, pe);
    }

    /// Bytes that wait to be sent.
    pub(super) fn backlog(&self, pe: u32) -> usize {
        let peer = &self.peers[pe as usize];
        peer.queue.len() - peer.said
    }

    /// Whether `pe` has processed all messages to it.
    pub(super) fn is_heard(&self, runtime: &Runtime, pe: u32) -> bool {
        self.backlog(pe) == 0 && self.may_post(runtime, pe)
    }

    fn may_post(&self, runtime: &Runtime, pe: u32) -> bool {
        let receipt = own_word(runtime, self.receipts(pe)).load(Ordering::Acquire);
        receipt == u64::from(self.peers[pe as usize].sent)
    }

    fn post(&mut self, runtime: &Runtime, pe: u32) {
        if self.backlog(pe) == 0 || !self.may_post(runtime, pe) {
            return;
        }
        let at = self.letters(self.me);
        let peer = &mut self.peers[pe as usize];
        let rest = &peer.queue[peer.said..];
        let letter = &rest[..rest.len().min(LETTER_BYTES)];
        peer.sent = peer.sent.wrapping_add(1);
        let header = u64::from(peer.sent) << 32 | letter.len() as u64;
        store(runtime, pe, at + HEADER_BYTES, letter);
        store_word(runtime, pe, at, header);
        peer.said += letter.len();
        if peer.said == peer.queue.len() {
            peer.queue.clear();
            peer.said = 0;
        }
        self.ring(runtime, pe);
    }

    /// Sends the waiting messages, and returns the PEs with a letter here.
    pub(super) fn look(&mut self, runtime: &Runtime) -> Vec<u32> {
        let mut arrived = Vec::new();
        for pe in 0..self.peers.len() as u32 {
            if pe == self.me {
                continue;
            }
            self.post(runtime, pe);
            let header = own_word(runtime, self.letters(pe)).load(Ordering::Acquire);
            let next = self.peers[pe as usize].taken.wrapping_add(1);
            if header >> 32 == u64::from(next) {
                arrived.push(pe);
            }
        }
        arrived
    }

    /// The messages that the letter of `pe` makes whole.
    pub(super) fn open(&mut self, runtime: &Runtime, pe: u32) -> Vec<Vec<u8>> {
        let at = self.letters(pe);
        let header = own_word(runtime, at).load(Ordering::Acquire);
        // The letter of a peer: never more than there is room for.
        let len = (header as u32 as usize).min(LETTER_BYTES);
        let peer = &mut self.peers[pe as usize];
        let old = peer.part.len();
        peer.part.resize(old + len, 0);
        let segment = runtime.attachment.segment();
        done(WHAT, segment.get(at + HEADER_BYTES, &mut peer.part[old..]));
        let mut messages = Vec::new();
        let mut rest = &peer.part[..];
        while let Some((len, more)) = rest.split_first_chunk::<4>()
            && let Some((message, more)) = more.split_at_checked(u32::from_le_bytes(*len) as usize)
        {
            messages.push(message.to_vec());
            rest = more;
        }
        let used = peer.part.len() - rest.len();
        peer.part.drain(..used);
        messages
    }

    /// Tells `pe` that its letter was dealt with.
    pub(super) fn sign(&mut self, runtime: &Runtime, pe: u32) {
        let at = self.receipts(self.me);
        let peer = &mut self.peers[pe as usize];
        peer.taken = peer.taken.wrapping_add(1);
        store_word(runtime, pe, at, peer.taken.into());
        for pe in [pe, self.me] {
            // Other threads of this PE may wait for what came.
            self.ring(runtime, pe);
        }
    }

    fn ring(&self, runtime: &Runtime, pe: u32) {
        if let Some(bell) = bell(runtime, pe, self.area, self.peers.len()) {
            bell.notify();
        }
    }
}

/// The doorbell of `pe`, if it is in reach.
fn bell(runtime: &Runtime, pe: u32, area: usize, pes: usize) -> Option<Doorbell<'static>> {
    let bell = resolve(runtime, pe, area + pes * (BOX_BYTES + RECEIPT_BYTES), 4)?;
    bell.half().map(Doorbell::new)
}

/// How a thread waits for letters and receipts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sleep {
    bell: Doorbell<'static>,
    limit: Duration,
}

impl Sleep {
    pub(super) fn new(runtime: &Runtime, area: usize) -> Option<Self> {
        let pes = runtime.attachment.pes();
        let own = bell(runtime, runtime.attachment.pe(), area, pes as usize)?;
        // Stores from another host do not ring the doorbell.
        let all_ring = (0..pes).all(|pe| resolve(runtime, pe, 0, 1).is_some());
        let limit = match all_ring {
            true => Duration::from_millis(20),
            false => Duration::from_micros(300),
        };
        Some(Self { bell: own, limit })
    }

    /// After this, and one more look, [`sleep`](Self::sleep) misses no message.
    pub(super) fn arm(&mut self) {
        self.limit = self.bell.arm(self.limit);
    }

    pub(super) fn sleep(self) {
        self.bell.sleep(self.limit);
    }
}

fn own_word(runtime: &Runtime, offset: usize) -> &AtomicU64 {
    done(WHAT, runtime.attachment.segment().word(offset))
}

fn store(runtime: &Runtime, pe: u32, offset: usize, bytes: &[u8]) {
    match resolve(runtime, pe, offset, bytes.len()) {
        Some(memory) => memory.put(Input::from(bytes)),
        None => done(WHAT, runtime.attachment.put(pe, offset, bytes)),
    }
}

/// After everything stored before.
fn store_word(runtime: &Runtime, pe: u32, offset: usize, value: u64) {
    match resolve(runtime, pe, offset, 8).and_then(Mapped::word) {
        Some(word) => word.store(value, Ordering::Release),
        None => done(WHAT, runtime.attachment.put_word(pe, offset, value)),
    }
}
