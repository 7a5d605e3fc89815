//! One piece from a member to another.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire::{Compare, Error, SignalOp, Symmetric};

use super::BUFFERS;
use super::circle::{Circle, Hosts};
use crate::dtype::Number;
use crate::reduce::Op;

/// When all waits of an operation end, and how long that is from its begin.
pub(super) type Deadline = Option<(Instant, Duration)>;

/// How an operation ends.
pub(super) type Done<T = ()> = Result<T, Fault>;

/// Why an operation cannot go on.
pub(super) enum Fault {
    Core(Error),
    /// What the members call does not fit.
    Mistake(String),
    /// This member has not come in time.
    Late(usize),
    /// This member will not come any more.
    Left(usize),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

/// The operations, to notice that members call different ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    AllReduce = 1,
    Reduce,
    ReduceScatter,
    AllGather,
    AllToAll,
    Broadcast,
    Gather,
    Scatter,
    Barrier,
}

impl Kind {
    const ALL: [(Self, &'static str); 9] = [
        (Self::AllReduce, "all_reduce"),
        (Self::Reduce, "reduce"),
        (Self::ReduceScatter, "reduce_scatter"),
        (Self::AllGather, "all_gather"),
        (Self::AllToAll, "all_to_all"),
        (Self::Broadcast, "broadcast"),
        (Self::Gather, "gather"),
        (Self::Scatter, "scatter"),
        (Self::Barrier, "barrier"),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, of)| *of == name);
        found.map(|(kind, _)| *kind)
    }

    /// The name of what a peer has sent, which may be no operation.
    fn name_of(code: u64) -> String {
        let found = Self::ALL.iter().find(|(kind, _)| *kind as u64 == code);
        found.map_or_else(|| format!("operation {code}"), |(_, name)| (*name).into())
    }
}

/// What a member is doing: an operation, of which elements, and how it combines them.
#[derive(Clone, Copy)]
pub(super) struct What {
    kind: Kind,
    number: Option<Number>,
    op: Option<Op>,
    /// A hash of the bytes of all pieces between two members.
    total: u64,
}

impl What {
    pub(super) fn new(kind: Kind, number: Option<Number>, op: Option<Op>) -> Self {
        Self {
            kind,
            number,
            op,
            total: 0,
        }
    }
}

/// The word of a buffer, as the first bit of each part and its number of bits: bytes of the piece, the operation with
/// its elements and how it combines them, which operation of the group it is, a hash of the bytes of all its pieces,
/// and the number of the piece.
struct Word;

impl Word {
    const LEN: (u32, u32) = (0, 20);
    const KIND: (u32, u32) = (20, 4);
    const ELEMENT: (u32, u32) = (24, 5);
    const OP: (u32, u32) = (29, 3);
    const CALL: (u32, u32) = (32, 14);
    const TOTAL: (u32, u32) = (46, 12);
    /// No more pieces than buffers are on their way.
    const NUMBER: (u32, u32) = (58, 6);

    fn put(value: u64, (bit, bits): (u32, u32)) -> u64 {
        (value & ((1 << bits) - 1)) << bit
    }

    fn get(word: u64, (bit, bits): (u32, u32)) -> u64 {
        word >> bit & ((1 << bits) - 1)
    }

    fn pack(number: u64, call: u64, what: What, len_bytes: usize) -> u64 {
        Self::put(number, Self::NUMBER)
            | Self::put(call, Self::CALL)
            | Self::put(what.total, Self::TOTAL)
            | Self::put(what.op.map_or(0, |op| op as u64 + 1), Self::OP)
            | Self::put(what.number.map_or(0, |of| of as u64 + 1), Self::ELEMENT)
            | Self::put(what.kind as u64, Self::KIND)
            | Self::put(len_bytes as u64, Self::LEN)
    }

    fn len_bytes(word: u64) -> u64 {
        Self::get(word, Self::LEN)
    }

    /// What a member with this word does, as a part of a sentence.
    fn text(word: u64) -> String {
        let kind = Kind::name_of(Self::get(word, Self::KIND));
        let of = |field| usize::try_from(Self::get(word, field)).ok()?.checked_sub(1);
        let element = of(Self::ELEMENT).map(Number::name_at);
        let of_elements = match (of(Self::OP).map(Op::name_at), element) {
            (Some(op), Some(element)) => format!(" ({op} of {element})"),
            (None, Some(element)) => format!(" ({element})"),
            _ => String::new(),
        };
        let (bytes, call) = (Self::len_bytes(word), Self::get(word, Self::CALL));
        let total = Self::get(word, Self::TOTAL);
        format!(
            "{bytes} bytes in {kind}{of_elements}, operation {call} of the group (total {total:03x})"
        )
    }
}

/// Parts of a slot begin at multiples of this: any element fits.
pub(super) const ALIGN_BYTES: usize = 64;

/// How long a wait sleeps before it looks whether the member has left.
const LOOK: Duration = Duration::from_millis(100);

/// The memory of a group.
pub(super) struct Slots {
    pub(super) data: Symmetric<u8>,
    /// Bytes of each slot.
    pub(super) bytes: usize,
    pub(super) words: Symmetric<u64>,
    pub(super) words_each: usize,
    /// The number of each member's slot.
    pub(super) of_members: Vec<usize>,
}

/// What is known of a member here.
struct Member {
    pe: u32,
    /// Whether its memory is reached by stores.
    is_near: bool,
    /// In its memory: this member's buffers and their words, the word of taken pieces, and the word
    /// that says that this member has left.
    far_data: usize,
    far_words: usize,
    far_taken: usize,
    far_left: usize,
    /// In this one's memory: the same of that member.
    data: usize,
    words: usize,
    taken: usize,
    left: usize,
    /// Pieces sent, those of them that are known to be taken, and pieces received.
    sent: u64,
    known_taken: u64,
    received: u64,
    /// What the words said before.
    last_words: [u64; BUFFERS],
}

/// All members, seen from this one.
pub(super) struct Members {
    data: Symmetric<u8>,
    words: Symmetric<u64>,
    rank: usize,
    /// The number of the group. No other group that has had a slot here has the same.
    number: u64,
    buffer_bytes: usize,
    members: Vec<Member>,
    all: Arc<Circle>,
    /// If they are spread over hosts evenly.
    hosts: Option<Arc<Hosts>>,
    deadline: Deadline,
    /// The present operation, and how many there were with it.
    what: What,
    calls: u64,
}

impl Members {
    /// # Errors
    /// If these are no members, or too many.
    pub(super) fn new(
        slots: Slots,
        rank: usize,
        pes: &[u32],
        host_of: &[Option<u32>],
        number: u64,
    ) -> Result<Self, String> {
        let size = pes.len();
        let out_of_range = || format!("rank {rank} is none of {size} members");
        let all = Circle::new(rank, 0..size).ok_or_else(out_of_range)?;
        let buffer_bytes = slots.bytes / (BUFFERS * size.max(1)) / ALIGN_BYTES * ALIGN_BYTES;
        if buffer_bytes == 0 {
            let most = slots.bytes / BUFFERS / ALIGN_BYTES;
            return Err(format!("a group has {most} members at most"));
        }
        let word_base = |slot: usize| slot * slots.words_each;
        let has_words = size * (BUFFERS + 2) <= slots.words_each;
        let own = match slots.of_members.get(rank) {
            Some(own) if has_words && slots.of_members.len() == size => *own,
            _ => return Err(format!("rank {rank} of {size} members has no slot")),
        };
        let lane_bytes = BUFFERS * buffer_bytes;
        // Words of a slot: those of buffers, then of taken pieces, then of members that left.
        let (taken, left) = (BUFFERS * size, (BUFFERS + 1) * size);
        let member = |(other, (pe, slot)): (usize, (&u32, &usize))| Member {
            pe: *pe,
            is_near: slots.data.local_ptr(*pe).is_some(),
            far_data: slot * slots.bytes + rank * lane_bytes,
            far_words: word_base(*slot) + BUFFERS * rank,
            far_taken: word_base(*slot) + taken + rank,
            far_left: word_base(*slot) + left + rank,
            data: own * slots.bytes + other * lane_bytes,
            words: word_base(own) + BUFFERS * other,
            taken: word_base(own) + taken + other,
            left: word_base(own) + left + other,
            sent: 0,
            known_taken: 0,
            received: 0,
            last_words: [0; BUFFERS],
        };
        let members = pes.iter().zip(&slots.of_members).enumerate().map(member);
        let members = members.collect();
        Ok(Self {
            data: slots.data,
            words: slots.words,
            rank,
            number,
            buffer_bytes,
            members,
            all: Arc::new(all),
            hosts: Hosts::of(rank, host_of).map(Arc::new),
            deadline: None,
            what: What::new(Kind::Barrier, None, None),
            calls: 0,
        })
    }

    /// An operation begins, whose waits end at `deadline`.
    pub(super) fn begin(&mut self, what: What, deadline: Deadline) {
        (self.what, self.deadline) = (what, deadline);
        self.calls += 1;
    }

    /// From now on, pieces sent and taken are of so many bytes in all.
    pub(super) fn set_total(&mut self, total_bytes: usize) {
        self.what.total = (total_bytes as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
    }

    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    pub(super) fn size(&self) -> usize {
        self.members.len()
    }

    /// The longest piece.
    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    pub(super) fn all(&self) -> Arc<Circle> {
        Arc::clone(&self.all)
    }

    pub(super) fn hosts(&self) -> Option<Arc<Hosts>> {
        self.hosts.clone()
    }

    /// Whether the others are reached by stores: then a piece may be put in parts.
    pub(super) fn are_near(&self, circle: &Circle) -> bool {
        let is_near = |(_, member): (usize, usize)| self.members[member].is_near;
        circle.others().all(is_near)
    }

    /// Sends `values`, at most a buffer, to member `to`. Waits for a free buffer.
    pub(super) fn put(&mut self, to: usize, values: &[u8]) -> Done {
        self.await_room(to)?;
        self.announce(to, values, values.len())
    }

    /// Puts `values` at `at` of the next piece for member `to`, whose buffer is free. They become visible with the
    /// piece, if that member is near.
    pub(super) fn put_part(&self, to: usize, at: usize, values: &[u8]) -> Done {
        let there = &self.members[to];
        let half = slot_of(there.sent + 1);
        let index = there.far_data + half * self.buffer_bytes + at;
        Ok(self.data.put(there.pe, index, values)?)
    }

    /// The next piece for member `to` is there: `len_bytes` of which `values` still have to be put, at
    /// its end.
    pub(super) fn announce(&mut self, to: usize, values: &[u8], len_bytes: usize) -> Done {
        let (call, what) = (self.calls, self.what);
        let there = &mut self.members[to];
        let number = there.sent + 1;
        let half = slot_of(number);
        let at = there.far_data + half * self.buffer_bytes + (len_bytes - values.len());
        let word = SignalOp::Set(Word::pack(number, call, what, len_bytes));
        let (words, word_at) = (&self.words, there.far_words + half);
        self.data
            .put_with_signal(there.pe, at, values, words, word_at, word)?;
        there.sent = number;
        Ok(())
    }

    /// Waits for a free buffer of member `to`.
    pub(super) fn await_room(&mut self, to: usize) -> Done {
        let there = &self.members[to];
        let (sent, buffers) = (there.sent, BUFFERS as u64);
        if sent - there.known_taken < buffers {
            return Ok(());
        }
        self.wait(there.taken, Compare::Ge, sent + 1 - buffers, to)?;
        // What a peer says is only compared: a wrong one harms no more than its own data.
        let taken = self.words.load(there.taken)?.min(sent);
        self.members[to].known_taken = taken;
        Ok(())
    }

    /// Waits for the next piece of member `from`, of this length and this operation. Returns where it is, until
    /// `release`.
    pub(super) fn take(&mut self, from: usize, len_bytes: usize) -> Done<usize> {
        let there = &self.members[from];
        let number = there.received + 1;
        let half = slot_of(number);
        let (at, last) = (there.words + half, there.last_words[half]);
        self.wait(at, Compare::Ne, last, from)?;
        let word = self.words.load(at)?;
        let expected = Word::pack(number, self.calls, self.what, len_bytes);
        if word != expected {
            return Err(Fault::Mistake(format!(
                "rank {from} (PE {}) sent {}; this rank expects {}: all ranks have to call the same \
                 operations, in the same order, with the same sizes, dtypes and roots",
                there.pe,
                Word::text(word),
                Word::text(expected)
            )));
        }
        let data = there.data + half * self.buffer_bytes;
        self.members[from].last_words[half] = word;
        Ok(data)
    }

    /// Copies bytes from `at` on, where `take` has said that they are.
    #[inline]
    pub(super) fn read(&self, at: usize, into: &mut [u8]) -> Done {
        Ok(self.data.read(at, into)?)
    }

    /// Gives the buffer back that `take` gave last.
    pub(super) fn release(&mut self, from: usize) -> Done {
        let there = &mut self.members[from];
        there.received += 1;
        // A signal is not seen before what this member has done with the buffer.
        let taken = SignalOp::Set(there.received);
        let words = &self.words;
        Ok(self
            .data
            .put_with_signal(there.pe, 0, &[], words, there.far_taken, taken)?)
    }

    /// Tells the others that nothing more will come from here.
    pub(super) fn leave(&self) -> Done {
        let left = SignalOp::Set(self.number);
        for (_, other) in self.all.others() {
            let there = &self.members[other];
            let words = &self.words;
            self.data
                .put_with_signal(there.pe, 0, &[], words, there.far_left, left)?;
        }
        Ok(())
    }

    /// Whether all that this member has sent was taken.
    pub(super) fn are_quiet(&self) -> Done<bool> {
        for there in &self.members {
            if self.words.load(there.taken)? != there.sent {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until own word `at` compares so with `value`, for which member `for_whom` has to do
    /// something.
    fn wait(&self, at: usize, compare: Compare, value: u64, for_whom: usize) -> Done {
        loop {
            let look = match self.deadline {
                Some((deadline, _)) => deadline.saturating_duration_since(Instant::now()).min(LOOK),
                None => LOOK,
            };
            // A member that has left the group may be leaving the job as well, which is another error.
            let waited = self.words.wait_until_for(at, compare, value, look);
            if matches!(waited, Ok(true)) {
                return Ok(());
            }
            let has_left = self.words.load(self.members[for_whom].left)? == self.number;
            // What it stored before is there by now.
            if self.words.test(at, compare, value)? {
                return Ok(());
            }
            if has_left {
                return Err(Fault::Left(for_whom));
            }
            waited?;
            if look.is_zero() {
                return Err(Fault::Late(for_whom));
            }
        }
    }
}

/// The buffer of the piece with this number.
fn slot_of(number: u64) -> usize {
    (number % BUFFERS as u64) as usize
}
