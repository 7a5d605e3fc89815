//! Frames that only the PEs of a job can read and make.
//!
//! A whole frame of an [`Endpoint`](crate::Endpoint) goes into a sealed one, encrypted
//! and authenticated with AES-128-GCM, and comes out of it again. The endpoint is not
//! involved: seal what [`poll_transmit`](crate::Endpoint::poll_transmit) gives, and
//! give [`receive`](crate::Endpoint::receive) what [`Seals::open`] gives.
//!
//! Every sealed frame has a number of its own. A frame that is sent again is sealed again under
//! another number, so no key is used twice with the same number. A receiver drops frames whose number
//! it has seen.
//!
//! A process can be copied, by `fork` or from a checkpoint. If the copy continued to count, it would
//! seal other frames under the numbers of the original. So [`Seals`] does not count by itself: its
//! creator provides [`Numbers`] that a copy cannot use.
//!
//! `docs/wire/sealed.md` describes the layout, the keys, and what is protected and what is not.

mod keys;
mod window;

use hostwire_packet::htoe::sealed::{self, LEN, OVERHEAD as SEAL_OVERHEAD, TAG_LEN};
use ring::aead::{Aad, LessSafeKey};

pub use self::keys::{JobKey, JobKeyError, Life, PROOF_LEN, Proof};

use self::keys::{FrameKey, Secret};
use self::window::Window;
use crate::counters::DropCause;
use crate::names::{Called, Node};

/// How many bytes longer a sealed frame is than the frame in it. The longest frame of an endpoint
/// must be shorter than that of the network by so much.
pub const OVERHEAD: usize = SEAL_OVERHEAD;

/// Frames that are sealed with one key. Far below the limit of AES-GCM: RFC 9001,
/// section 6.6 and appendix B.1.
const FRAMES_PER_KEY_LOG2: u32 = 24;

/// One end of sealed frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its number.
    pub node: Node,
    /// Its life.
    pub life: Life,
}

/// Gives the numbers of the frames that a node seals.
///
/// # Contract
/// [`next`](Self::next) gives each number once for each peer: not twice in this process,
/// nor in any kind of copy of it. AES-GCM loses both secrecy and authenticity if a
/// number is used twice.
pub trait Numbers: core::fmt::Debug {
    /// The number of the next frame to `peer`: counts up from 0. `None` if all have been
    /// used, if there is no such peer, and in a copy.
    fn next(&mut self, peer: Node) -> Option<u64>;

    /// Whether this process is a copy of the one that gave the numbers first. Called
    /// for every frame.
    fn is_copy(&self) -> bool;
}

/// A frame that cannot be sealed. The first two are the caller's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// No keys were made for this peer.
    #[error("no keys for {0}")]
    NoPeer(Node),
    /// The buffer does not hold the sealed frame.
    #[error("a sealed frame of {expected_bytes} bytes does not fit {got_bytes}")]
    BufferTooSmall {
        /// Bytes needed.
        expected_bytes: usize,
        /// Bytes given.
        got_bytes: usize,
    },
    /// All numbers have been used.
    #[error("no number left for a frame to {0}")]
    Exhausted(Node),
    /// This is a copy of the process that has the keys and continues to count.
    #[error("a copy of the process that seals frames must not seal any")]
    Copied,
}

/// Seals the frames of one node to its peers and opens theirs.
///
/// There is no `Clone`: a clone would count for itself.
#[derive(Debug)]
pub struct Seals<N> {
    own: Node,
    numbers: N,
    /// By the number of the peer.
    peers: Vec<Option<Box<Pair>>>,
}

impl<N: Numbers> Seals<N> {
    /// For the node `own` of the job with `key`. `numbers` must be unused.
    ///
    /// `peers` are the others by number, densely, as PEs are; `None` for those with
    /// which this one exchanges no sealed frames.
    pub fn new(
        key: &JobKey,
        own: End,
        peers: impl IntoIterator<Item = Option<Life>>,
        numbers: N,
    ) -> Self {
        let peers = (0..).zip(peers).map(|(node, life)| {
            let peer = End {
                node: Node(node),
                life: life?,
            };
            let called = Called {
                own: own.node,
                peer: peer.node,
            };
            Some(Box::new(Pair::new(key, own, peer, called)))
        });
        Self {
            own: own.node,
            numbers,
            peers: peers.collect(),
        }
    }

    /// Seals without peers: see [`join`](Self::join).
    pub const fn alone(own: Node, numbers: N) -> Self {
        let peers = Vec::new();
        Self {
            own,
            numbers,
            peers,
        }
    }

    /// Adds a peer: from now on frames from it can be opened, and frames to it can be sealed. Headers
    /// contain the peer's numbers for both ends (`called`). The keys depend only on `ends`, the own
    /// end first. A peer that has joined before keeps its keys, and its numbers continue.
    pub fn join(&mut self, peer: Node, called: Called, key: &JobKey, ends: [End; 2]) {
        let at = peer.0 as usize;
        if at >= self.peers.len() {
            self.peers.resize_with(at + 1, || None);
        }
        if let Some(place @ None) = self.peers.get_mut(at) {
            let [own, other] = ends;
            *place = Some(Box::new(Pair::new(key, own, other, called)));
        }
    }

    /// The source of the numbers.
    pub const fn numbers(&self) -> &N {
        &self.numbers
    }

    /// Seals a frame for `peer` into `out`; returns the length of the sealed frame: that of the frame
    /// plus [`OVERHEAD`].
    ///
    /// # Errors
    /// [`SealError`]; `out` holds nothing of use then.
    pub fn seal(&mut self, peer: Node, frame: &[u8], out: &mut [u8]) -> Result<usize, SealError> {
        let pair = self.peers.get_mut(peer.0 as usize).and_then(Option::as_mut);
        let pair = pair.ok_or(SealError::NoPeer(peer))?;
        let (expected_bytes, got_bytes) = (frame.len() + OVERHEAD, out.len());
        let short = SealError::BufferTooSmall {
            expected_bytes,
            got_bytes,
        };
        let sealed = out.get_mut(..expected_bytes).ok_or(short)?;
        let (head, rest) = sealed.split_at_mut_checked(LEN).ok_or(short)?;
        let (body, tag) = rest.split_at_mut_checked(frame.len()).ok_or(short)?;
        let Some(number) = self.numbers.next(peer) else {
            return Err(match self.numbers.is_copy() {
                true => SealError::Copied,
                false => SealError::Exhausted(peer),
            });
        };
        let header = sealed::Repr {
            destination: pair.called.peer.0,
            source: pair.called.own.0,
            number,
        };
        let header = header.to_bytes();
        head.copy_from_slice(&header);
        body.copy_from_slice(frame);
        let key = pair.sending.at(epoch(number));
        let made = key
            .aead
            .seal_in_place_separate_tag(key.nonce(number), Aad::from(header), body)
            // This fails only from 64 GiB on.
            .map_err(|_| SealError::Exhausted(peer))?;
        tag.copy_from_slice(made.as_ref());
        // A signal handler may have copied the process since the number was drawn.
        if self.numbers.is_copy() {
            sealed.fill(0);
            return Err(SealError::Copied);
        }
        Ok(expected_bytes)
    }

    /// Opens a sealed frame in place. Returns the peer that sealed it, and the frame in it.
    ///
    /// # Errors
    /// The reason why it is dropped; for any bytes. The contents of `bytes` are then
    /// undefined.
    pub fn open<'a>(&mut self, bytes: &'a mut [u8]) -> Result<(Node, &'a [u8]), DropCause> {
        let header = match sealed::Repr::parse(bytes) {
            Ok(header) => header,
            Err(hostwire_packet::Error::Truncated { .. }) => return Err(DropCause::Truncated),
            Err(_) => return Err(DropCause::Unsealed),
        };
        if header.destination != self.own.0 {
            return Err(DropCause::Foreign);
        }
        let peer = Node(header.source);
        let pair = self.peers.get_mut(peer.0 as usize).and_then(Option::as_mut);
        let pair = pair.ok_or(DropCause::Foreign)?;
        if !pair.window.is_new(header.number) {
            return Err(DropCause::Replayed);
        }
        let (head, sealed) = bytes
            .split_first_chunk_mut::<LEN>()
            .ok_or(DropCause::Truncated)?;
        // The whole header as it was received: reserved bytes are also authenticated.
        let authenticated = Aad::from(*head);
        let key = pair
            .receiving
            .near(epoch(header.number))
            .ok_or(DropCause::Forged)?;
        let opened = key
            .aead
            .open_in_place(key.nonce(header.number), authenticated, sealed)
            .map_err(|_| DropCause::Forged)?
            .len();
        pair.receiving.used(epoch(header.number));
        pair.window.mark(header.number);
        debug_assert_eq!(opened + TAG_LEN, sealed.len());
        Ok((peer, sealed.get(..opened).unwrap_or_default()))
    }
}

const fn epoch(number: u64) -> u64 {
    number >> FRAMES_PER_KEY_LOG2
}

/// The keys between the own node and one peer, and the numbers of its frames that have come.
#[derive(Debug)]
struct Pair {
    called: Called,
    sending: Keys,
    receiving: Keys,
    window: Window,
}

impl Pair {
    fn new(job: &JobKey, own: End, peer: End, called: Called) -> Self {
        Self {
            called,
            sending: Keys::new(job.secret(own, peer)),
            receiving: Keys::new(job.secret(peer, own)),
            window: Window::default(),
        }
    }
}

/// The keys of one direction: that of the present epoch, the one before and the next
/// one.
#[derive(Debug)]
struct Keys {
    secret: Secret,
    now: FrameKey,
    before: Option<FrameKey>,
    after: Option<FrameKey>,
}

impl Keys {
    fn new(secret: Secret) -> Self {
        Self {
            now: secret.key(0),
            secret,
            before: None,
            after: None,
        }
    }

    /// For the sender, whose numbers only grow.
    fn at(&mut self, epoch: u64) -> &FrameKey {
        if self.now.epoch != epoch {
            self.now = self.secret.key(epoch);
        }
        &self.now
    }

    /// For the receiver: a genuine frame is never further away, and an attacker cannot make the
    /// receiver derive keys without end.
    fn near(&mut self, epoch: u64) -> Option<&FrameKey> {
        let now = self.now.epoch;
        if epoch == now {
            Some(&self.now)
        } else if epoch == now + 1 {
            let secret = &self.secret;
            Some(self.after.get_or_insert_with(|| secret.key(epoch)))
        } else {
            self.before.as_ref().filter(|key| key.epoch == epoch)
        }
    }

    /// A frame of this epoch was authentic.
    fn used(&mut self, epoch: u64) {
        if epoch > self.now.epoch
            && let Some(after) = self.after.take()
        {
            self.before = Some(core::mem::replace(&mut self.now, after));
        }
    }
}

/// AES-128-GCM with one key, for the numbers of one epoch.
#[derive(Debug)]
pub(crate) struct Aead(LessSafeKey);

impl core::ops::Deref for Aead {
    type Target = LessSafeKey;

    fn deref(&self) -> &LessSafeKey {
        &self.0
    }
}

#[cfg(test)]
mod tests;
