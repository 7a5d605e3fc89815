//! Operations of large teams, along a [`Tree`]: each member speaks to few others, and one of each host to other hosts.
//!
//! A reduction combines the values of neighbouring ranks first, along the tree; so it is in the order of ranks, and the same in every run of a
//! job on as many hosts.

use hostwire_transport::Values;
use zerocopy::IntoBytes;

use super::tree::{Tree, Turn};
use super::{Buffers, Caller, Combine, Fold, Kind, LINE_DATA_BYTES, Operands, Tag, Team};
use crate::attachment::Watch;
use crate::board::Activity;
use crate::error::Result;
use crate::layout::{ACROSS, BACK, GATHER};

/// Bytes that are combined at a time: they stay in the nearest cache.
const PIECE_BYTES: usize = 4 << 10;

/// Up to this many bytes for each member, a reduction goes along the tree. With more, each member combines a part of the values.
const BYTES_OF_EACH: usize = 64;

impl Team {
    /// Along which tree operations of so many members go; none in a team in which each may speak to each.
    #[inline(always)]
    pub(super) fn tree(&self) -> Option<&Tree> {
        self.tree.as_deref()
    }

    /// Whether a reduction of `len` bytes goes along the tree.
    pub(super) fn folds_along_tree(&self, len: usize) -> bool {
        self.tree().is_some() && len <= BYTES_OF_EACH * self.size()
    }

    /// A barrier: within each host, among the hosts, and back.
    #[cold]
    pub(super) fn meet_by_hosts<C: Caller>(
        &self,
        caller: &C,
        (tree, number): (&Tree, u64),
        doing: Activity,
        watch: Watch<'_>,
    ) -> Result<()> {
        let stamp = self.stamp(number);
        self.walk_by_hosts(caller, tree, number, |flag, from| {
            let flag = self.slot.flag(flag);
            self.hear_flag(caller, (flag, stamp), from, doing, watch)
        })
    }

    /// What this member tells others in such a barrier, without a wait.
    #[cold]
    pub(super) fn tell_by_hosts<C: Caller>(
        &self,
        caller: &C,
        tree: &Tree,
        number: u64,
    ) -> Result<()> {
        self.walk_by_hosts(caller, tree, number, |_, _| Ok(()))
    }

    /// The steps of such a barrier; `hear` waits for a flag that a rank stores.
    fn walk_by_hosts<C: Caller>(
        &self,
        caller: &C,
        tree: &Tree,
        number: u64,
        hear: impl Fn(usize, usize) -> Result<()>,
    ) -> Result<()> {
        let stamp = self.stamp(number);
        let tell = |flag, to| self.put_word(caller, to, self.slot.flag(flag), stamp);
        let meeting = tree.meeting();
        for (round, turn) in meeting.gather {
            match turn {
                Turn::Hear(from) => hear(GATHER + round, from)?,
                Turn::Tell(to) => tell(GATHER + round, to)?,
            }
        }
        for (round, (to, from)) in meeting.across.into_iter().enumerate() {
            tell(ACROSS + round, to)?;
            hear(ACROSS + round, from)?;
        }
        for from in meeting.release.from {
            hear(BACK, from)?;
        }
        meeting
            .release
            .to
            .into_iter()
            .try_for_each(|to| tell(BACK, to))
    }

    /// Copies what `root` has to all others: at most [`LINE_DATA_BYTES`].
    #[cold]
    pub(super) fn broadcast_lines<C: Caller>(
        &self,
        caller: &C,
        (tree, root): (&Tree, usize),
        (number, tag): (u64, Tag),
        len: usize,
        buffers: &mut Buffers<'_>,
    ) -> Result<()> {
        let segment = caller.attachment().segment();
        let (mut line, mut room) = ([0; LINE_DATA_BYTES], [0; LINE_DATA_BYTES]);
        let steps = tree.down(root);
        match self.rank == root {
            true => line[..len].copy_from_slice(buffers.bytes(segment, 0, len, &mut room)?),
            false => self.hear_line(caller, (number, tag), &steps.from, &mut line[..len])?,
        }
        for to in steps.to {
            self.send(caller, number, to, tag, &line[..len])?;
        }
        match self.rank == root && buffers.source.is_none() {
            true => Ok(()),
            false => buffers.write(segment, 0, &line[..len]),
        }
    }

    /// The data of the lines of these ranks; of one, at most.
    fn hear_line<C: Caller>(
        &self,
        caller: &C,
        (number, tag): (u64, Tag),
        from: &[usize],
        data: &mut [u8],
    ) -> Result<()> {
        for from in from {
            let at = self.receive(caller, number, *from, tag)?;
            caller.attachment().segment().get(at, data)?;
        }
        Ok(())
    }

    /// Copies the `len` bytes of `root` at `source` to `target` of all members: each passes them on.
    #[cold]
    pub(super) fn broadcast_along<C: Caller>(
        &self,
        caller: &C,
        (tree, root): (&Tree, usize),
        len: usize,
        (source, target): (usize, usize),
    ) -> Result<()> {
        let number = self.begin(caller)?;
        let tag = self.with_roots(Tag::new(Kind::Broadcast, len).with_root(root as u64));
        let mut buffers = Buffers::own(source, target);
        if len <= LINE_DATA_BYTES {
            let along = (tree, root);
            return self.broadcast_lines(caller, along, (number, tag), len, &mut buffers);
        }
        let attachment = caller.attachment();
        let steps = tree.down(root);
        for from in &steps.from {
            self.receive(caller, number, *from, tag)?;
        }
        let at = if self.rank == root { source } else { target };
        for to in &steps.to {
            attachment.put_own(self.members[*to], target, at, len)?;
            self.send(caller, number, *to, tag, &[])?;
        }
        // The next broadcast of the root may be stored over what a member still passes on.
        let answer = Tag::new(Kind::Answer, len).with_root(root as u64);
        for from in steps.from {
            self.send(caller, number, from, answer, &[])?;
        }
        for to in steps.to {
            self.receive(caller, number, to, answer)?;
        }
        match self.rank == root {
            true => buffers.keep(attachment.segment(), 0, 0, len),
            false => Ok(()),
        }
    }

    /// Combines `len` bytes of all members, at most [`LINE_DATA_BYTES`], in the order of ranks.
    #[cold]
    pub(super) fn fold_lines<C: Caller>(
        &self,
        caller: &C,
        (tree, tag): (&Tree, Tag),
        len: usize,
        buffers: &mut Buffers<'_>,
        combine: &dyn Fn(&mut [u8], Values<'_>),
    ) -> Result<()> {
        let number = self.begin(caller)?;
        let tag = self.with_roots(tag);
        let segment = caller.attachment().segment();
        let (mut sum, mut room) = ([0; LINE_DATA_BYTES], [0; LINE_DATA_BYTES]);
        sum[..len].copy_from_slice(buffers.bytes(segment, 0, len, &mut room)?);
        let steps = tree.up();
        for from in steps.from {
            let at = self.receive(caller, number, from, tag)?;
            segment.get(at, &mut room[..len])?;
            if len > 0 {
                combine(&mut sum[..len], Values::private(&room[..len]));
            }
        }
        for to in steps.to {
            self.send(caller, number, to, tag, &sum[..len])?;
        }
        let steps = tree.down(0);
        self.hear_line(caller, (number, tag), &steps.from, &mut sum[..len])?;
        for to in steps.to {
            self.send(caller, number, to, tag, &sum[..len])?;
        }
        self.all_began(number);
        buffers.write(segment, 0, &sum[..len])
    }

    /// All members are in the operation with this tag, before any of them is through.
    #[cold]
    pub(super) fn gather_along<C: Caller>(&self, caller: &C, tree: &Tree, tag: Tag) -> Result<()> {
        let buffers = &mut Buffers::in_place(&mut []);
        self.fold_lines(caller, (tree, tag), 0, buffers, &|_, _| {})
    }

    /// Combines `len` bytes of all members at `source`; the results go to `target`. Until then partial results are there.
    #[cold]
    pub(super) fn fold_along<C: Caller>(
        &self,
        caller: &C,
        tree: &Tree,
        len: usize,
        (source, target): (usize, usize),
        combine: Combine<'_>,
    ) -> Result<()> {
        let tag = Tag::new(Fold::All.kind(), len).on(combine.operands);
        if len <= LINE_DATA_BYTES {
            let buffers = &mut Buffers::own(source, target);
            return self.fold_lines(caller, (tree, tag), len, buffers, combine.function);
        }
        let number = self.begin(caller)?;
        let tag = self.with_roots(tag);
        let attachment = caller.attachment();
        Buffers::own(source, target).keep(attachment.segment(), 0, 0, len)?;
        let steps = tree.up();
        for from in steps.from {
            self.receive(caller, number, from, tag)?;
            self.combine_from(caller, from, len, target, combine)?;
        }
        for to in steps.to {
            self.send(caller, number, to, tag, &[])?;
        }
        let steps = tree.down(0);
        for from in steps.from {
            self.receive(caller, number, from, tag)?;
        }
        for to in steps.to {
            attachment.put_own(self.members[to], target, target, len)?;
            self.send(caller, number, to, tag, &[])?;
        }
        self.all_began(number);
        Ok(())
    }

    /// Combines `len` own bytes with those of `rank`, both at `at`.
    fn combine_from<C: Caller>(
        &self,
        caller: &C,
        rank: usize,
        len: usize,
        at: usize,
        combine: Combine<'_>,
    ) -> Result<()> {
        let attachment = caller.attachment();
        let segment = attachment.segment();
        let (mut sum, mut theirs) = ([0; PIECE_BYTES], [0; PIECE_BYTES]);
        let element_bytes = combine.element_bytes.max(1);
        let step = (PIECE_BYTES / element_bytes * element_bytes).max(1);
        for begin in (0..len).step_by(step) {
            let end = len.min(begin + step);
            let (sum, theirs) = (&mut sum[..end - begin], &mut theirs[..end - begin]);
            segment.get(at + begin, sum)?;
            attachment.get(self.members[rank], at + begin, theirs)?;
            (combine.function)(sum, Values::private(theirs));
            segment.put_unannounced(at + begin, sum)?;
        }
        Ok(())
    }

    /// As [`broadcast_small`](Self::broadcast_small) along the tree.
    #[cold]
    pub(super) fn broadcast_small_along<C: Caller>(
        &self,
        caller: &C,
        (tree, root): (&Tree, usize),
        (len, operands): (usize, Operands),
        buffers: &mut Buffers<'_>,
    ) -> Result<()> {
        let number = self.begin(caller)?;
        let tag = Tag::new(Kind::Broadcast, len).on(operands);
        let tag = self.with_roots(tag.with_root(root as u64));
        self.broadcast_lines(caller, (tree, root), (number, tag), len, buffers)
    }

    /// Combines words of all members; `words` are then the result at all of them. Ends like a barrier.
    #[cold]
    pub(super) fn fold_words<C: Caller, const N: usize>(
        &self,
        caller: &C,
        (tree, tag): (&Tree, Tag),
        words: &mut [u64; N],
        combine: impl Fn(&mut [u64; N], &[u64; N]),
    ) -> Result<()> {
        const { assert!(N * 8 <= LINE_DATA_BYTES) };
        self.quiet(caller)?;
        let function = |sum: &mut [u8], values: Values<'_>| {
            let [mut ours, mut theirs] = [[0; N]; 2];
            ours.as_mut_bytes().copy_from_slice(sum);
            values.copy_to(theirs.as_mut_bytes());
            combine(&mut ours, &theirs);
            sum.copy_from_slice(ours.as_bytes());
        };
        let buffers = &mut Buffers::in_place(words.as_mut_bytes());
        self.fold_lines(caller, (tree, tag), N * 8, buffers, &function)
    }
}
