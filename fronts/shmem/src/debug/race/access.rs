//! Accesses: which pairs of them conflict, and which are ordered.

use super::bytes::{Reader, Writer};
use super::clock::{self, Clock, Epoch, STORES, Who};

/// Operands of atomics that are atomic with each other: the same type, and contexts of teams
/// that were split from the same predefined team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operands {
    /// As [`Word::CLASS`](crate::element::Word).
    pub(crate) class: u8,
    pub(crate) is_of_shared: bool,
}

/// The kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The program's own load.
    Load,
    /// The program's own store.
    Store,
    /// An atomic of the language changes it.
    Language,
    /// A get reads it.
    Get,
    /// A put writes it.
    Put,
    /// A blocking operation reads it: a local source.
    Source,
    /// A blocking operation writes it: a local destination.
    Destination,
    /// A non-blocking put reads it, until it is complete.
    NbiSource,
    /// A non-blocking operation writes it, until it is complete.
    NbiDestination,
    /// An atomic that only reads.
    AtomicRead(Operands),
    Atomic(Operands),
    SignalSet,
    SignalAdd,
    /// A collective operation of the team with this number reads or writes it.
    CollectiveRead(u32),
    CollectiveWrite(u32),
    /// The library's own, of a lock.
    Lock,
    /// The end of the block that it is in.
    Free,
}

use Kind::*;

impl Kind {
    fn reads_only(self) -> bool {
        matches!(
            self,
            Load | Get | Source | NbiSource | AtomicRead(_) | CollectiveRead(_)
        )
    }

    /// Whether instructions of its PE make it, in the order of the program.
    fn is_local(self) -> bool {
        matches!(
            self,
            Load | Store | Language | Source | Destination | NbiSource | NbiDestination | Free
        )
    }

    /// Whether an instruction that stores makes it.
    pub(super) fn is_store(self) -> bool {
        matches!(self, Store | Language)
    }

    /// Whether a fence orders it with others of its context: what stores, and no get.
    pub(super) fn is_fenced(self) -> bool {
        matches!(
            self,
            Put | Atomic(_) | AtomicRead(_) | SignalSet | SignalAdd
        )
    }

    /// Whether the two may not happen at the same time.
    pub(super) fn conflicts_with(self, other: Self) -> bool {
        match (self, other) {
            (Atomic(a), Atomic(b) | AtomicRead(b)) | (AtomicRead(a), Atomic(b)) => a != b,
            (SignalSet, SignalSet) | (SignalAdd, SignalAdd) | (Lock, Lock) => false,
            (Language, Language) => false,
            // Those of a team happen one after the other.
            (CollectiveRead(a) | CollectiveWrite(a), CollectiveRead(b) | CollectiveWrite(b))
                if a == b =>
            {
                false
            }
            (a, b) => !(a.reads_only() && b.reads_only()),
        }
    }

    /// Whether every access that conflicts with `other` also conflicts with this one.
    fn covers(self, other: Self) -> bool {
        let is_plain_write = matches!(self, Store | Put | Destination | NbiDestination);
        self == other
            || is_plain_write
            || (self.reads_only() && other.reads_only() && {
                !matches!(self, AtomicRead(_) | CollectiveRead(_))
            })
    }

    fn write(self, to: &mut Writer) {
        let (code, detail) = match self {
            Load => (0, 0),
            Store => (1, 0),
            Get => (2, 0),
            Put => (3, 0),
            Source => (4, 0),
            Destination => (5, 0),
            NbiSource => (6, 0),
            NbiDestination => (7, 0),
            AtomicRead(of) => (8, u64::from(of.class) << 1 | u64::from(of.is_of_shared)),
            Atomic(of) => (9, u64::from(of.class) << 1 | u64::from(of.is_of_shared)),
            SignalSet => (10, 0),
            SignalAdd => (11, 0),
            CollectiveRead(team) => (12, team.into()),
            CollectiveWrite(team) => (13, team.into()),
            Lock => (14, 0),
            Free => (15, 0),
            Language => (16, 0),
        };
        to.number(code);
        to.number(detail);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (code, detail) = (from.number()?, from.number()?);
        let operands = Operands {
            class: (detail >> 1) as u8,
            is_of_shared: detail & 1 == 1,
        };
        Some(match code {
            0 => Load,
            1 => Store,
            2 => Get,
            3 => Put,
            4 => Source,
            5 => Destination,
            6 => NbiSource,
            7 => NbiDestination,
            8 => AtomicRead(operands),
            9 => Atomic(operands),
            10 => SignalSet,
            11 => SignalAdd,
            12 => CollectiveRead(detail as u32),
            13 => CollectiveWrite(detail as u32),
            14 => Lock,
            15 => Free,
            16 => Language,
            _ => return None,
        })
    }
}

/// One access, without its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(super) pe: u32,
    pub(super) thread: u16,
    pub(super) epoch: Epoch,
    /// The epoch up to which a fence orders earlier operations of its context before it.
    pub(super) fenced: Epoch,
    /// The place in the program ([`location::place`](crate::debug::location::place)).
    pub(super) place: u64,
    pub(super) kind: Kind,
    /// Its context.
    pub(super) slot: u16,
    /// Whether it continues after the end of its routine.
    pub(super) is_open: bool,
    /// The routine, as a number that means something at the owner of the memory only.
    pub(super) name: u16,
}

impl Access {
    pub(super) fn who(&self) -> Who {
        Who {
            pe: self.pe,
            thread: self.thread,
        }
    }

    /// Whether this access happens before `next`, by a thread with `clock`, to memory of `owner`.
    pub(super) fn is_before(&self, next: &Self, clock: &Clock, owner: u32) -> bool {
        if self.is_open && clock.is_complete(self.who(), self.slot, self.epoch, owner) {
            return true;
        }
        let is_begun = self.who() == next.who() || clock.passed(self.who()) >= self.epoch;
        if !self.is_open || !is_begun {
            return is_begun;
        }
        let is_fenced = || {
            let are_fenced = self.kind.is_fenced() && next.kind.is_fenced();
            are_fenced && next.slot == self.slot && next.fenced >= self.epoch
        };
        // A PE sees its own stores in order.
        self.pe == next.pe && (self.kind.is_store() || is_fenced())
    }

    /// Whether a later access that conflicts with `old` is also found without `old`.
    pub(super) fn replaces(&self, old: &Self, old_is_before: bool) -> bool {
        let way = |of: &Self| (of.who(), of.slot, of.is_open);
        let is_same_way = way(self) == way(old);
        self.kind.covers(old.kind) && (old_is_before || is_same_way)
    }

    /// Whether the two are instructions of one thread.
    pub(super) fn is_program_order(&self, next: &Self) -> bool {
        self.who() == next.who() && !self.is_open && next.kind.is_local()
    }

    pub(super) fn write(&self, to: &mut Writer, name: &str) {
        to.number(self.thread.into());
        to.number(self.epoch);
        to.number(self.fenced);
        to.number(self.place);
        self.kind.write(to);
        to.number(self.slot.into());
        to.number(self.is_open.into());
        to.text(name);
    }

    /// That of `pe`, and the name of the routine.
    pub(super) fn read<'a>(from: &mut Reader<'a>, pe: u32) -> Option<(Self, &'a str)> {
        let access = Self {
            pe,
            thread: clock::read_thread(from)?,
            epoch: from.number()?,
            fenced: from.number()?,
            place: from.number()?,
            kind: Kind::read(from)?,
            slot: from.small()?,
            is_open: from.number()? != 0,
            name: 0,
        };
        Some((access, from.text()?))
    }

    pub(super) fn is_of_program(&self) -> bool {
        matches!(self.kind, Load | Store | Language) && self.slot == STORES
    }
}

/// The bytes of an access: blocks at equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Where the first block begins.
    pub(crate) start: usize,
    pub(crate) block_bytes: usize,
    /// The distance from one block to the next.
    pub(crate) stride_bytes: isize,
    pub(crate) blocks: usize,
}

impl Footprint {
    pub(crate) fn run(start: usize, len_bytes: usize) -> Self {
        Self {
            start,
            block_bytes: len_bytes,
            stride_bytes: 0,
            blocks: 1,
        }
    }

    /// The same bytes elsewhere.
    pub(crate) fn at(self, start: usize) -> Self {
        Self { start, ..self }
    }

    /// The distance from the first block to the last; `None` if that is longer than memory.
    pub(super) fn distance(self) -> Option<isize> {
        let steps = isize::try_from(self.blocks).ok()?.checked_sub(1)?;
        steps.checked_mul(self.stride_bytes)
    }

    /// Beginning and length of each block.
    pub(super) fn runs(self) -> impl Iterator<Item = (usize, usize)> {
        let is_run = self.stride_bytes == self.block_bytes as isize || self.blocks == 1;
        let (blocks, len) = match is_run {
            true => (1, self.block_bytes.saturating_mul(self.blocks)),
            // All of them are the same bytes, whatever number the peer sent.
            false if self.stride_bytes == 0 => (self.blocks.min(1), self.block_bytes),
            false => (self.blocks, self.block_bytes),
        };
        (0..blocks as isize).map(move |block| {
            let distance = block.wrapping_mul(self.stride_bytes);
            (self.start.wrapping_add_signed(distance), len)
        })
    }

    pub(super) fn write(&self, to: &mut Writer) {
        to.number(self.start as u64);
        to.number(self.block_bytes as u64);
        to.number(self.stride_bytes as u64);
        to.number(self.blocks as u64);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            start: from.small()?,
            block_bytes: from.small()?,
            stride_bytes: from.number()? as isize,
            blocks: from.small()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::{CREATED, DEFAULT};
    use super::*;

    const LONG: Operands = Operands {
        class: 3,
        is_of_shared: false,
    };
    const ALL: [Kind; 17] = [
        Load,
        Store,
        Language,
        Get,
        Put,
        Source,
        Destination,
        NbiSource,
        NbiDestination,
        AtomicRead(LONG),
        Atomic(LONG),
        SignalSet,
        SignalAdd,
        CollectiveRead(7),
        CollectiveWrite(7),
        Lock,
        Free,
    ];

    fn access(pe: u32, epoch: Epoch, kind: Kind, slot: u16, is_open: bool) -> Access {
        Access {
            pe,
            thread: 0,
            epoch,
            fenced: 0,
            place: 1,
            kind,
            slot,
            is_open,
            name: 0,
        }
    }

    #[test]
    fn conflicts_are_symmetric_and_covering_is_true() {
        for a in ALL {
            for b in ALL {
                assert_eq!(a.conflicts_with(b), b.conflicts_with(a), "{a:?} {b:?}");
                if a.covers(b) {
                    for third in ALL {
                        assert!(
                            !b.conflicts_with(third) || a.conflicts_with(third),
                            "{a:?} covers {b:?}, but not against {third:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn atomics_agree_with_those_of_their_type_and_domain_only() {
        let other = |class, is_of_shared| {
            Atomic(Operands {
                class,
                is_of_shared,
            })
        };
        assert!(!Atomic(LONG).conflicts_with(other(3, false)));
        assert!(Atomic(LONG).conflicts_with(other(2, false)));
        assert!(Atomic(LONG).conflicts_with(other(3, true)));
        assert!(Atomic(LONG).conflicts_with(Get) && Atomic(LONG).conflicts_with(SignalSet));
        assert!(!AtomicRead(LONG).conflicts_with(Get));
        assert!(SignalSet.conflicts_with(SignalAdd));
        assert!(!CollectiveWrite(7).conflicts_with(CollectiveRead(7)));
        assert!(CollectiveWrite(7).conflicts_with(CollectiveWrite(8)));
    }

    #[test]
    fn a_fence_orders_puts_of_its_context_and_no_gets() {
        let clock = Clock::new(2);
        let put = access(0, 4, Put, DEFAULT, true);
        let behind = |kind, slot, fenced| Access {
            fenced,
            ..access(0, 5, kind, slot, false)
        };
        assert!(put.is_before(&behind(Put, DEFAULT, 4), &clock, 1));
        assert!(!put.is_before(&behind(Put, DEFAULT, 3), &clock, 1));
        assert!(!put.is_before(&behind(Put, CREATED, 4), &clock, 1));
        assert!(!put.is_before(&behind(Get, DEFAULT, 4), &clock, 1));
        let get = access(0, 4, Get, DEFAULT, true);
        assert!(!get.is_before(&behind(Put, DEFAULT, 4), &clock, 1));
        // Another PE has to know that it is complete, not that it was begun.
        let mut clock = Clock::new(2);
        clock.pass(Who::first(0), 9);
        let theirs = access(1, 1, Load, STORES, false);
        assert!(!put.is_before(&theirs, &clock, 1));
        clock.quiet(Who::first(0), DEFAULT, 4);
        assert!(put.is_before(&theirs, &clock, 1));
    }

    #[test]
    fn another_thread_has_to_know_what_this_one_sees() {
        let mut clock = Clock::new(1);
        let of = |thread, kind, fenced| Access {
            thread,
            fenced,
            ..access(0, 4, kind, DEFAULT, kind != Load)
        };
        let (put, load, store) = (of(1, Put, 0), of(1, Load, 0), of(1, Store, 0));
        let (next, behind) = (of(2, Put, 0), of(2, Put, 4));
        for before in [put, load, store] {
            assert!(!before.is_before(&behind, &clock, 0));
            assert!(!before.is_program_order(&of(2, Store, 0)));
        }
        clock.pass(put.who(), 4);
        assert!(load.is_before(&next, &clock, 0) && store.is_before(&next, &clock, 0));
        assert!(!put.is_before(&next, &clock, 0) && put.is_before(&behind, &clock, 0));
    }

    #[test]
    fn accesses_and_footprints_are_bytes_and_back() {
        for kind in ALL {
            let access = Access {
                thread: 3,
                ..access(1, 77, kind, 5, true)
            };
            let footprint = Footprint {
                start: 4096,
                block_bytes: 8,
                stride_bytes: -24,
                blocks: 3,
            };
            let mut writer = Writer::default();
            access.write(&mut writer, "shmem_iput");
            footprint.write(&mut writer);
            let bytes = writer.done();
            let mut reader = Reader::new(&bytes);
            assert_eq!(Access::read(&mut reader, 1), Some((access, "shmem_iput")));
            assert_eq!(Footprint::read(&mut reader), Some(footprint));
        }
    }

    #[test]
    fn runs_are_exact() {
        let strided = Footprint {
            start: 100,
            block_bytes: 4,
            stride_bytes: -12,
            blocks: 3,
        };
        let runs: Vec<_> = strided.runs().collect();
        assert_eq!(runs, [(100, 4), (88, 4), (76, 4)]);
        let dense = Footprint {
            stride_bytes: 4,
            ..strided
        };
        assert_eq!(dense.runs().collect::<Vec<_>>(), [(100, 12)]);
    }

    #[test]
    fn a_peer_cannot_say_blocks_without_end() {
        let blocks = |blocks, stride_bytes| Footprint {
            start: 4096,
            block_bytes: 8,
            stride_bytes,
            blocks,
        };
        for many in [1 << 40, isize::MAX as usize] {
            assert_eq!(blocks(many, 0).distance(), Some(0));
            assert_eq!(blocks(many, 0).runs().size_hint().0, 1);
        }
        for (many, stride) in [(1 << 63, 0), (usize::MAX, 8), (1 << 62, 16), (1 << 62, -16)] {
            assert_eq!(blocks(many, stride).distance(), None);
        }
        assert_eq!(blocks(3, -16).distance(), Some(-32));
        assert_eq!(blocks(0, 16).runs().size_hint().0, 0);
    }
}
