//! Lines: 64 bytes that a member stores into the segment of another.
//!
//! A line is valid if its stamp is that of the present operation; lines are never cleared. A
//! member may use an entry again when all members have completed the operation that used it
//! before. They have if all members are known to have *begun* a later operation. Otherwise a barrier
//! is inserted.

use std::sync::atomic::Ordering;

use hostwire_transport::PeId;
use zerocopy::{FromZeros, IntoBytes};

use super::deadlock::{Looks, Step};
use super::{Caller, Operands, Team};
use crate::attachment::{Pace, Watch};
use crate::board::Activity;
use crate::error::{Error, PeerWord, Result};
use crate::layout::{ENTRIES, STAGE_BYTES};

/// Bytes of data in a line, behind its stamp and its tag.
pub const LINE_DATA_BYTES: usize = 48;
/// Where in a line the tag is, and where the data.
const TAG: usize = 8;
pub(super) const DATA: usize = 16;

/// The operation of the writer of a line, and the arguments that must be the same at all members:
/// elements, root, and a number. All of it is one word of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag {
    kind: Kind,
    operands: Operands,
    /// The root. For operations without one, [`Team::with_roots`] puts a hash of earlier roots here.
    root: u64,
    number: u64,
}

/// Text for a code that names no operation.
const UNKNOWN: &str = "something unknown";

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal $text:literal $unit:literal $($rooted:ident)?),* $(,)?) => {
        /// An operation, by its [`Tag`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $code),* }

        impl Kind {
            /// All of them.
            #[cfg(feature = "fuzzing")]
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }

        /// The name of the operation with this code, and the unit of its number.
        fn describe(code: u8) -> (&'static str, &'static str) {
            match code {
                $($code => ($text, $unit),)*
                _ => (UNKNOWN, ""),
            }
        }

        /// Whether the operation with this code has a root.
        #[inline(always)]
        fn is_rooted(code: u8) -> bool {
            match code {
                $($code => !stringify!($($rooted)?).is_empty(),)*
                _ => false,
            }
        }
    };
}

kinds! {
    /// The first operation of a job.
    Start = 1 "the start of the job" "",
    /// Making teams.
    Split = 2 "a split of the team" "",
    /// Allocating symmetric memory.
    Allocate = 3 "an allocation" " bytes",
    /// Giving it back.
    Free = 4 "a release of memory" " (offset in the heap)",
    /// From one to all.
    Broadcast = 5 "a broadcast" " bytes" rooted,
    /// From all to all, of any length each.
    Collect = 6 "a gather of different lengths" "",
    /// From all to all, of one length.
    Gather = 7 "a gather from all" " bytes",
    /// A piece from each to each.
    Exchange = 8 "an all-to-all" " bytes",
    /// The same, of elements that lie apart.
    Scattered = 9 "a strided all-to-all" " elements",
    /// Combining the values of all.
    Reduce = 10 "a reduction" " bytes",
    /// Combining those up to each.
    Scan = 11 "a scan" " bytes",
    /// Comparing what the members are about to do.
    Agree = 12 "a check of arguments" "",
    /// Changing the size of symmetric memory.
    Resize = 13 "a change of an allocation" " bytes",
    /// A member that has taken what it got.
    Answer = 14 "the end of a broadcast" " bytes" rooted,
    /// What some members do that are no team.
    Subset = 15 "an operation of some members" "",
    /// From all to one.
    Collected = 16 "a gather at one member" "" rooted,
    /// From one, a piece to each.
    Scatter = 17 "a scatter" "" rooted,
    /// A piece of any length from each to each.
    Pieces = 18 "an all-to-all of different lengths" "",
    /// Combining, a piece of the result for each.
    ReduceScatter = 19 "a reduction in pieces" " bytes",
    /// Combining the values of all at one member.
    ReduceTo = 20 "a reduction at one member" " bytes" rooted,
    /// Combining those before each.
    ScanBefore = 21 "an exclusive scan" " bytes",
}

/// Where in the word of a tag its parts begin. A number is compared as far as it fits: 4 GiB.
const KIND_BIT: u32 = 56;
const OPERANDS_BIT: u32 = KIND_BIT - Operands::BITS;
const ROOT_BIT: u32 = OPERANDS_BIT - crate::layout::PES_MAX.ilog2();
const NUMBER: u64 = (1 << ROOT_BIT) - 1;
const ROOT: u64 = (1 << (OPERANDS_BIT - ROOT_BIT)) - 1;

impl Tag {
    /// The tag of an operation with this number, on any elements.
    #[inline(always)]
    pub fn new(kind: Kind, number: usize) -> Self {
        Self {
            kind,
            operands: Operands::UNKNOWN,
            root: 0,
            number: number as u64 & NUMBER,
        }
    }

    /// On these elements.
    #[inline(always)]
    pub fn on(self, operands: Operands) -> Self {
        Self { operands, ..self }
    }

    #[inline(always)]
    pub(super) fn with_root(self, root: u64) -> Self {
        Self {
            root: root & ROOT,
            ..self
        }
    }

    #[inline(always)]
    pub(crate) fn word(self) -> u64 {
        (self.kind as u64) << KIND_BIT
            | self.operands.word() << OPERANDS_BIT
            | self.root << ROOT_BIT
            | self.number
    }

    /// Texts of this operation and of the other member's, as far as they differ.
    fn told_from(self, theirs: u64) -> (String, String) {
        let ours = self.word();
        let differ = |mask: u64, bit| (ours ^ theirs) >> bit & mask != 0;
        let is_same_kind = !differ(0xff, KIND_BIT);
        let operands = Operands::from_word(theirs >> OPERANDS_BIT);
        let differs = Differing {
            kind: !is_same_kind,
            number: !is_same_kind || differ(NUMBER, 0),
            operands: !is_same_kind || !operands.agree(self.operands),
            root: !is_same_kind || differ(ROOT, ROOT_BIT),
        };
        match (differs.text(theirs), differs.text(ours)) {
            (theirs, ours) if theirs.is_empty() && ours.is_empty() => {
                ("other roots in earlier operations".into(), "its own".into())
            }
            texts => texts,
        }
    }

    /// All of it but the number. The end of a broadcast is the broadcast.
    pub(super) fn label(self) -> Label {
        let kind = match self.kind {
            Kind::Answer => Kind::Broadcast,
            kind => kind,
        };
        Label(Self { kind, ..self }.word() >> ROOT_BIT)
    }
}

/// Which parts of a tag the text of an error names.
struct Differing {
    kind: bool,
    number: bool,
    operands: bool,
    root: bool,
}

impl Differing {
    fn text(&self, word: u64) -> String {
        let code = (word >> KIND_BIT) as u8;
        let (text, unit) = describe(code);
        if text == UNKNOWN {
            return text.into();
        }
        let number = format!("{}{unit}", word & NUMBER);
        let mut parts = Vec::new();
        match (self.kind, self.number && !unit.is_empty()) {
            (true, true) => parts.push(format!("{text} of {number}")),
            (true, false) => parts.push(text.into()),
            (false, _) if self.number => parts.push(number),
            (false, _) => {}
        }
        let operands = Operands::from_word(word >> OPERANDS_BIT);
        parts.extend(operands.text().filter(|_| self.operands));
        if self.root && is_rooted(code) {
            parts.push(format!("root {}", word >> ROOT_BIT & ROOT));
        }
        parts.join(", ")
    }
}

/// An operation without its number: see [`Tag::label`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(u64);

impl Label {
    pub(super) const BITS: u32 = u64::BITS - ROOT_BIT;

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Whether both are the same, as far as both are known.
    pub(super) fn fits(self, other: Self) -> bool {
        fits(self.0 << ROOT_BIT, other.0 << ROOT_BIT)
    }

    pub(super) fn operation(self) -> &'static str {
        describe((self.0 << ROOT_BIT >> KIND_BIT) as u8).0
    }
}

impl core::fmt::Display for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let all = Differing {
            kind: true,
            number: false,
            operands: true,
            root: true,
        };
        f.write_str(&all.text(self.0 << ROOT_BIT))
    }
}

/// Whether two members that say these words do the same, as far as both know.
#[cold]
fn fits(one: u64, other: u64) -> bool {
    let [here, there] = [one, other].map(|word| Operands::from_word(word >> OPERANDS_BIT));
    let operands = ((1 << Operands::BITS) - 1) << OPERANDS_BIT;
    (one ^ other) & !operands == 0 && here.agree(there)
}

/// The text of any word in the place of a tag.
#[cfg(feature = "fuzzing")]
pub fn describe_any(word: u64) -> String {
    Tag::new(Kind::Start, 0).told_from(word).0
}

/// How many changes to another value a wait looks at before it prepares for a longer wait. Fitted.
const FIRST_CHANGES: u32 = 16;

/// A word of the own segment that another member stores.
pub(super) struct Awaited<'a> {
    pub(super) offset: usize,
    pub(super) doing: Activity,
    pub(super) watch: Watch<'a>,
    pub(super) step: Step<'a>,
}

impl Awaited<'_> {
    /// Waits until the word meets a condition.
    #[inline(always)]
    pub(super) fn meets<C: Caller>(
        &self,
        caller: &C,
        is_there: impl Fn(u64) -> Result<bool>,
    ) -> Result<()> {
        let attachment = caller.attachment();
        let segment = attachment.segment();
        for _ in 0..FIRST_CHANGES {
            let seen = segment.load_word(self.offset)?;
            if is_there(seen)? {
                return Ok(());
            }
            if !segment.await_change(self.offset, seen, attachment.spins())? {
                break;
            }
        }
        self.meets_later(caller, &is_there)
    }

    #[cold]
    #[inline(never)]
    fn meets_later<C: Caller>(
        &self,
        caller: &C,
        is_there: &dyn Fn(u64) -> Result<bool>,
    ) -> Result<()> {
        let attachment = caller.attachment();
        attachment.activity(self.doing, None);
        let looks = Looks::default();
        let progress = |pace: Pace| {
            if pace == Pace::Slow {
                self.step.look(caller, &looks)?;
            }
            caller.progress(pace)
        };
        let met = attachment.wait_and(self.watch, progress, || {
            let seen = attachment.segment().load_word(self.offset)?;
            Ok(is_there(seen)?.then_some(()))
        });
        attachment.activity(Activity::Computing, None);
        met.and_then(|()| self.step.ended(caller, &looks))
    }
}

impl Team {
    /// The tag of an operation that has begun. The tag of a rooted operation contains the root. Tags
    /// of later operations without a root contain a hash of all roots so far: members with different
    /// roots may complete a rooted operation without hearing of each other, but not the next
    /// operation in which all hear of all.
    #[inline(always)]
    pub(super) fn with_roots(&self, tag: Tag) -> Tag {
        let roots = self.roots.load(Ordering::Relaxed);
        if !is_rooted(tag.kind as u8) {
            return tag.with_root(roots ^ roots >> 16 ^ roots >> 32);
        }
        // An odd factor, so that different sums stay different.
        let word = (tag.kind as u64) << 16 | tag.root;
        let roots = roots
            .wrapping_mul(0x2_9d5b)
            .wrapping_add(word.wrapping_mul(0x9e37) + 1);
        self.roots.store(roots, Ordering::Relaxed);
        tag
    }

    /// Begins an operation by lines and returns its number.
    #[inline(always)]
    pub fn begin<C: Caller>(&self, caller: &C) -> Result<u64> {
        let number = self.operations.load(Ordering::Relaxed) + 1;
        if number >= self.known.load(Ordering::Relaxed) + ENTRIES {
            self.meet(caller, Activity::Collective, Watch::All(&self.members))?;
        }
        self.operations.store(number, Ordering::Relaxed);
        Ok(number)
    }

    /// Notes that all members have begun operation `number`. Either all members call this or
    /// none, because they have to agree when [`begin`](Self::begin) puts a barrier in between.
    #[inline]
    pub fn all_began(&self, number: u64) {
        self.known.store(number, Ordering::Relaxed);
    }

    /// Stores a line of operation `number` to `rank`, after everything stored to it before.
    ///
    /// # Errors
    /// [`Error::PeerLost`]; [`Error::Length`] with more than [`LINE_DATA_BYTES`].
    #[inline(always)]
    pub fn send<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        rank: usize,
        tag: Tag,
        data: &[u8],
    ) -> Result<()> {
        let (pe, offset) = (self.members[rank], self.slot.line(number, self.rank));
        let words = [self.stamp(number), tag.word()];
        match caller.attachment().window(pe) {
            Some(window) => Ok(window.put_two_words(offset, words, data)?),
            None => send_by_wire(caller, pe, offset, words, data),
        }
    }

    /// Waits for the line of `rank` of operation `number`, and returns where in the own segment
    /// its data is. It stays until the operation is over.
    ///
    /// # Errors
    /// [`Error::CollectiveMismatch`] if the member is in another operation; what ends a wait.
    #[inline(always)]
    pub fn receive<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        rank: usize,
        tag: Tag,
    ) -> Result<usize> {
        let (offset, stamp) = (self.slot.line(number, rank), self.stamp(number));
        let next = [rank];
        let line = Awaited {
            offset,
            doing: Activity::Collective,
            // Other members may have completed the operation and be leaving. The sender may not.
            watch: Watch::Next {
                members: &self.members,
                next: self.members[rank],
            },
            step: Step {
                team: self,
                line: Some((number, tag)),
                next: &next,
            },
        };
        line.meets(caller, |got| match got == stamp {
            true => Ok(true),
            false if got < stamp && (got != 0 || !self.marks_lines) => Ok(false),
            false => {
                let least = u64::from(self.marks_lines);
                Err(PeerWord::TeamLine.out_of(least..=stamp, self.members[rank], got))
            }
        })?;
        let theirs = caller.attachment().segment().load_word(offset + TAG)?;
        if theirs != tag.word() && !fits(theirs, tag.word()) {
            return Err(mismatch(self.members[rank], theirs, tag));
        }
        Ok(offset + DATA)
    }

    /// The most bytes that go with a line, in it or in the stage that belongs to it.
    pub fn room(&self) -> usize {
        match self.has_stages {
            true => STAGE_BYTES,
            false => LINE_DATA_BYTES,
        }
    }

    /// As [`send`](Self::send), with up to [`room`](Self::room) bytes.
    #[inline(always)]
    pub fn send_staged<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        rank: usize,
        tag: Tag,
        data: &[u8],
    ) -> Result<()> {
        if data.len() <= LINE_DATA_BYTES {
            return self.send(caller, number, rank, tag, data);
        }
        let stage = self.slot.stage(number, self.rank);
        let attachment = caller.attachment();
        attachment.put(self.members[rank], stage, data)?;
        self.send(caller, number, rank, tag, &[])
    }

    /// As [`receive`](Self::receive), of `len` bytes.
    #[inline(always)]
    pub fn receive_staged<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        rank: usize,
        tag: Tag,
        len: usize,
    ) -> Result<usize> {
        let line = self.receive(caller, number, rank, tag)?;
        Ok(match len <= LINE_DATA_BYTES {
            true => line,
            false => self.slot.stage(number, rank),
        })
    }

    /// The other members, beginning after this one, so that not all members start with the same
    /// target.
    #[inline]
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        (self.rank + 1..self.size()).chain(0..self.rank)
    }

    /// Every member sends a few words to all others; `each` gets them, in any order. Ends like a
    /// barrier.
    pub fn exchange<C: Caller, const N: usize>(
        &self,
        caller: &C,
        tag: Tag,
        words: &[u64; N],
        mut each: impl FnMut(usize, &[u64; N]),
    ) -> Result<()> {
        const { assert!(N * 8 <= LINE_DATA_BYTES) };
        self.quiet(caller)?;
        let number = self.begin(caller)?;
        let tag = self.with_roots(tag);
        for rank in self.others() {
            self.send(caller, number, rank, tag, words.as_bytes())?;
        }
        for rank in self.others() {
            let data = self.receive(caller, number, rank, tag)?;
            let mut theirs = <[u64; N]>::new_zeroed();
            let segment = caller.attachment().segment();
            segment.get(data, theirs.as_mut_bytes())?;
            each(rank, &theirs);
        }
        self.all_began(number);
        Ok(())
    }

    /// Every member tells all others that it is here, and waits for them.
    pub(super) fn gather_all<C: Caller>(&self, caller: &C, tag: Tag) -> Result<()> {
        if let Some(tree) = self.tree() {
            return self.gather_along(caller, tree, tag);
        }
        let number = self.begin(caller)?;
        let tag = self.with_roots(tag);
        for rank in self.others() {
            self.send(caller, number, rank, tag, &[])?;
        }
        for rank in self.others() {
            self.receive(caller, number, rank, tag)?;
        }
        self.all_began(number);
        Ok(())
    }
}

#[cold]
#[inline(never)]
fn send_by_wire<C: Caller>(
    caller: &C,
    pe: PeId,
    offset: usize,
    [stamp, tag]: [u64; 2],
    data: &[u8],
) -> Result<()> {
    let attachment = caller.attachment();
    attachment.check(pe)?;
    attachment.fence_of(pe)?;
    let bytes = [&tag.to_ne_bytes(), data].concat();
    let wire = attachment.wire();
    Ok(wire.store_line(pe, offset, stamp, &bytes)?)
}

#[cold]
#[inline(never)]
fn mismatch(pe: PeId, theirs: u64, ours: Tag) -> Error {
    let (operation, _) = describe(ours.kind as u8);
    let (theirs, ours) = ours.told_from(theirs);
    Error::CollectiveMismatch {
        operation,
        pe,
        theirs,
        ours,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mismatch_names_what_differs() {
        let ours = Tag::new(Kind::Broadcast, 10);
        let told = |theirs: Tag| ours.told_from(theirs.word());
        assert_eq!(
            told(Tag::new(Kind::Broadcast, 9)),
            ("9 bytes".into(), "10 bytes".into())
        );
        assert_eq!(
            told(Tag::new(Kind::Split, 0)),
            (
                "a split of the team".into(),
                "a broadcast of 10 bytes, root 0".into()
            )
        );
        assert_eq!(ours.told_from(0xff << 56).0, "something unknown");
        let sum = |name| Operands::named(name).by(super::super::Operator::Sum);
        let reduction = Tag::new(Kind::Reduce, 8).on(sum("int64"));
        let told = |theirs: Tag| reduction.told_from(theirs.word());
        assert_eq!(
            told(Tag::new(Kind::Reduce, 8).on(sum("float64"))),
            ("sum of float64".into(), "sum of int64".into())
        );
        let from_one = Tag::new(Kind::Broadcast, 8).on(Operands::named("bool"));
        assert_eq!(
            told(from_one.with_root(1)),
            (
                "a broadcast of 8 bytes, bool, root 1".into(),
                "a reduction of 8 bytes, sum of int64".into()
            )
        );
        assert_eq!(
            from_one.told_from(from_one.with_root(3).word()),
            ("root 3".into(), "root 0".into())
        );
        let fits_reduction = |tag: Tag| fits(reduction.word(), tag.word());
        assert!(fits_reduction(Tag::new(Kind::Reduce, 8)));
        assert!(!fits_reduction(Tag::new(Kind::Reduce, 9)));
    }
}
