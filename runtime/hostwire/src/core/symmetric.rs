//! Operations over the same offsets in all segments. A member may store into the targets of the
//! others as soon as it has begun itself, so data goes straight there, and a line reports its
//! arrival.

use hostwire_transport::PeId;

use super::small::Given;
use super::{
    Block, Buffers, Caller, Combine, Fold, Kind, LINE_DATA_BYTES, Operands, Source, Tag, Target,
    Team,
};
use crate::error::Result;

/// From this size on, all members pull a broadcast at the same time. Below, the root pushes it
/// to one after the other. Fitted.
const PULL_BYTES: usize = 32 << 10;

/// The bytes that fit into a line beside a length.
const BESIDE_LENGTH: usize = LINE_DATA_BYTES - 8;

/// Elements that lie apart, of a strided all-to-all.
#[derive(Debug, Clone, Copy)]
pub struct Strides {
    /// From one element of the target to the next, in bytes.
    pub target: usize,
    /// From one element of the source to the next.
    pub source: usize,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Elements for each member.
    pub count: usize,
}

impl Team {
    /// Copies the `len` bytes of `root` at `source` to `target` of all members. The root has
    /// both at offsets of its segment, the others only the target.
    pub fn broadcast<C: Caller>(
        &self,
        caller: &C,
        root: usize,
        len: usize,
        source: usize,
        target: usize,
    ) -> Result<()> {
        if let Some(tree) = self.tree() {
            return self.broadcast_along(caller, (tree, root), len, (source, target));
        }
        let mut buffers = Buffers::own(source, target);
        if len <= LINE_DATA_BYTES {
            let what = (len, Operands::UNKNOWN);
            return self.broadcast_small(caller, root, what, &mut buffers);
        }
        let attachment = caller.attachment();
        let segment = attachment.segment();
        let number = self.begin(caller)?;
        let tag = self.with_roots(Tag::new(Kind::Broadcast, len).with_root(root as u64));
        let answer = Tag::new(Kind::Answer, len).with_root(root as u64);
        let is_pulled = len >= PULL_BYTES && self.size() > 2 && attachment.is_plain();
        if self.rank == root {
            for rank in self.others() {
                if !is_pulled {
                    attachment.put_own(self.members[rank], target, source, len)?;
                }
                self.send(caller, number, rank, tag, &[])?;
            }
            buffers.keep(segment, 0, 0, len)?;
            if is_pulled {
                // They read the source until they report that they are done. The root then
                // knows that all have begun, but the others do not, so the root must not use
                // it.
                for rank in self.others() {
                    self.receive(caller, number, rank, answer)?;
                }
            }
            return Ok(());
        }
        self.receive(caller, number, root, tag)?;
        if is_pulled {
            let pe = self.members[root];
            // All segments are mapped, except those of lost PEs.
            let window = attachment.window(pe);
            let window = window.ok_or_else(|| attachment.lost.error(pe))?;
            segment.copy_from(target, window, source, len)?;
            self.send(caller, number, root, answer, &[])?;
        }
        Ok(())
    }

    /// Puts the `len` bytes of all members at `source` behind each other, at `target` of all.
    pub fn gather<C: Caller>(
        &self,
        caller: &C,
        len: usize,
        source: usize,
        target: usize,
    ) -> Result<()> {
        self.give(caller, Given::Same, len, (source, target))
    }

    /// Gives each member a piece of `len` bytes.
    pub fn all_to_all<C: Caller>(
        &self,
        caller: &C,
        len: usize,
        source: usize,
        target: usize,
    ) -> Result<()> {
        self.give(caller, Given::Pieces, len, (source, target))
    }

    fn give<C: Caller>(
        &self,
        caller: &C,
        given: Given,
        len: usize,
        (source, target): (usize, usize),
    ) -> Result<()> {
        let mut buffers = Buffers::own(source, target);
        if len <= LINE_DATA_BYTES {
            let what = (len, Operands::UNKNOWN);
            return self.give_small(caller, given, what, &mut buffers);
        }
        let mine = self.rank * len;
        self.put_to_all(caller, given.tag(len), |caller, rank| {
            let (pe, bytes) = (self.members[rank], source + given.start(rank, len));
            caller.attachment().put_own(pe, target + mine, bytes, len)
        })?;
        let own = given.start(self.rank, len);
        buffers.keep(caller.attachment().segment(), mine, own, len)
    }

    /// As [`all_to_all`](Self::all_to_all), of elements that lie apart.
    pub fn all_to_all_strided<C: Caller>(
        &self,
        caller: &C,
        strides: Strides,
        source: usize,
        target: usize,
    ) -> Result<()> {
        let tag = Tag::new(Kind::Scattered, strides.count);
        self.put_to_all(caller, tag, |caller, rank| {
            let ranks = (self.rank, rank);
            strides.put(
                caller,
                ranks,
                self.members[rank],
                Source::Own(source),
                target,
            )
        })?;
        let ranks = (self.rank, self.rank);
        let own = self.members[self.rank];
        strides.put(caller, ranks, own, Source::Own(source), target)
    }

    /// Stores what each other member gets, and waits for what all others store here.
    fn put_to_all<C: Caller>(
        &self,
        caller: &C,
        tag: Tag,
        put: impl Fn(&C, usize) -> Result<()>,
    ) -> Result<()> {
        let number = self.begin(caller)?;
        let tag = self.with_roots(tag);
        for rank in self.others() {
            put(caller, rank)?;
            self.send(caller, number, rank, tag, &[])?;
        }
        for rank in self.others() {
            self.receive(caller, number, rank, tag)?;
        }
        self.all_began(number);
        Ok(())
    }

    /// As [`gather`](Self::gather), with `len` bytes of this member and any number from each
    /// other one. `place` gets the lengths of all, and returns where in a segment they go.
    pub fn collect<C: Caller>(
        &self,
        caller: &C,
        source: Source<'_>,
        len: usize,
        place: impl FnOnce(&[usize]) -> Option<usize>,
    ) -> Result<()> {
        // First every member sends its length, and as much of its data as fits.
        let number = self.begin(caller)?;
        let tag = self.with_roots(Tag::new(Kind::Collect, 0));
        let lens = self.exchange_lens(caller, number, tag, source, len)?;
        self.all_began(number);
        let Some(target) = place(&lens) else {
            return Ok(());
        };
        let start = |rank: usize| lens[..rank].iter().sum::<usize>();
        let attachment = caller.attachment();
        let segment = attachment.segment();
        let mut buffers = Buffers {
            source: Some(source),
            target: Target::Own(target),
        };
        buffers.keep(segment, start(self.rank), 0, len)?;
        for rank in self.others().filter(|rank| lens[*rank] <= BESIDE_LENGTH) {
            let from = self.receive(caller, number, rank, tag)? + 8;
            buffers.take(segment, start(rank), from, lens[rank])?;
        }
        // Then members with more data store the rest.
        if lens.iter().all(|len| *len <= BESIDE_LENGTH) {
            return Ok(());
        }
        let number = self.begin(caller)?;
        if len > BESIDE_LENGTH {
            let offset = target + start(self.rank);
            for rank in self.others() {
                source.put(caller, self.members[rank], offset, 0, len)?;
                self.send(caller, number, rank, tag, &[])?;
            }
        }
        for rank in self.others().filter(|rank| lens[*rank] > BESIDE_LENGTH) {
            self.receive(caller, number, rank, tag)?;
        }
        Ok(())
    }

    /// Sends how much this member has, and as much data as fits beside it. Returns the lengths
    /// of all.
    fn exchange_lens<C: Caller>(
        &self,
        caller: &C,
        number: u64,
        tag: Tag,
        source: Source<'_>,
        len: usize,
    ) -> Result<Vec<usize>> {
        let segment = caller.attachment().segment();
        let mut line = [0; LINE_DATA_BYTES];
        line[..8].copy_from_slice(&(len as u64).to_ne_bytes());
        let small = if len <= BESIDE_LENGTH { len } else { 0 };
        match source {
            Source::Private(bytes) => line[8..8 + small].copy_from_slice(&bytes[..small]),
            Source::Own(offset) => segment.get(offset, &mut line[8..8 + small])?,
        }
        for rank in self.others() {
            self.send(caller, number, rank, tag, &line[..8 + small])?;
        }
        let mut lens = vec![0; self.size()];
        lens[self.rank] = len;
        for rank in self.others() {
            let from = self.receive(caller, number, rank, tag)?;
            lens[rank] = usize::try_from(segment.load_word(from)?).unwrap_or(usize::MAX);
        }
        Ok(lens)
    }

    /// Combines `count` elements of all members at `source`; the results go to `target`.
    pub fn fold<C: Caller>(
        &self,
        caller: &C,
        count: usize,
        (source, target): (usize, usize),
        combine: Combine<'_>,
        fold: Fold,
    ) -> Result<()> {
        let len = count * combine.element_bytes;
        if let Some(tree) = self.tree()
            && fold == Fold::All
            && self.folds_along_tree(len)
        {
            return self.fold_along(caller, tree, len, (source, target), combine);
        }
        if len <= self.room() {
            let mut buffers = Buffers::own(source, target);
            return self.fold_small(caller, len, &mut buffers, combine, fold);
        }
        let tag = Tag::new(fold.kind(), len).on(combine.operands);
        // All have begun: sources may be read and targets written.
        self.gather_all(caller, tag)?;
        let block = Block {
            members: &self.members,
            rank: self.rank,
            source,
            target,
            count,
            combine,
            fold,
        };
        block.run(caller)?;
        self.gather_all(caller, tag)
    }
}

impl Strides {
    /// Stores what rank `from` has for rank `to`, which is `pe`.
    ///
    /// # Errors
    /// [`Error::PeerLost`](crate::Error::PeerLost).
    pub fn put<C: Caller>(
        &self,
        caller: &C,
        (from, to): (usize, usize),
        pe: PeId,
        source: Source<'_>,
        target: usize,
    ) -> Result<()> {
        for index in 0..self.count {
            let at = (to * self.count + index) * self.source;
            let place = target + (from * self.count + index) * self.target;
            source.put(caller, pe, place, at, self.element_bytes)?;
        }
        Ok(())
    }
}
