//! Operations over private memory, of any length: what does not fit into lines goes by messages.
//!
//! Small ones are *direct*: see `small`. Large ones move each byte as few times as possible:
//! rings, pairs, reduction in pieces. A line with the tag of the operation precedes the first message
//! between two members. So members that call different operations, or pass different lengths, get an
//! error.

use core::cell::Cell;
use core::ops::Range;

use hostwire_transport::{PeId, Values};

use super::deadlock::{Looks, Step};
use super::small::Given;
use super::tree::{Steps, Tree, down};
use super::{Buffers, Caller, Combine, Fold, Kind, LINE_DATA_BYTES, Operands, Tag, Team};
use crate::error::{Error, Result};

/// The members of a team that do something together, for a wait for a message.
#[derive(Clone, Copy)]
pub struct Company<'a> {
    /// All of them.
    pub members: &'a [PeId],
    /// Called from time to time in a long wait.
    pub look: &'a dyn Fn() -> Result<()>,
}

impl Company<'_> {
    /// For a message of the program.
    pub const NONE: Company<'static> = Company {
        members: &[],
        look: &|| Ok(()),
    };
}

/// Sends and receives bytes in private memory, of any length.
pub trait Messages: Caller {
    /// Sends `bytes` to `to`; waits until they may be reused.
    ///
    /// # Errors
    /// [`Error::PeerLost`]; [`Error::PeerLeft`].
    fn send(&self, company: Company<'_>, to: PeId, tag: u64, bytes: &[u8]) -> Result<()>;

    /// Receives the message of `from`, which has as many bytes as `into`.
    ///
    /// # Errors
    /// [`Error::CollectiveMismatch`] if it has not.
    fn receive(&self, company: Company<'_>, from: PeId, tag: u64, into: &mut [u8]) -> Result<()>;

    /// Both at a time.
    ///
    /// # Errors
    /// As of both.
    fn exchange(
        &self,
        company: Company<'_>,
        to: (PeId, &[u8]),
        from: (PeId, &mut [u8]),
        tag: u64,
    ) -> Result<()>;
}

/// Most PEs of a team in which each sends directly to each. Fitted.
const DIRECT_PES_MAX: usize = 64;
/// Up to this many bytes of result, an all-gather doubles what each has in every step; beyond
/// it, pieces go around. Fitted.
const DOUBLING_BYTES_MAX: usize = 64 << 10;
/// Up to this many bytes from each, a reduction in a team that is too large for direct sends gathers
/// the values of all. Fitted.
const GATHERED_BYTES_MAX: usize = 512;

/// With more members, nothing goes around a ring of all.
const RING_PES_MAX: usize = 1024;

/// Where the piece of each rank lies, in bytes. Each piece begins where the last one ends.
#[derive(Debug)]
pub struct Pieces {
    /// By rank, and then the end of the last.
    begins: Vec<usize>,
}

impl Pieces {
    /// Of these lengths.
    pub fn new(lens: impl IntoIterator<Item = usize>) -> Self {
        let mut begins = vec![0];
        let mut end = 0_usize;
        for len in lens {
            end = end.saturating_add(len);
            begins.push(end);
        }
        Self { begins }
    }

    /// Bytes of all.
    pub fn all(&self) -> usize {
        self.begins.last().copied().unwrap_or(0)
    }

    /// That of a rank.
    pub fn of_rank(&self, rank: usize) -> Range<usize> {
        self.begins[rank]..self.begins[rank + 1]
    }
}

/// One operation under way.
pub(super) struct Operation<'a, M> {
    team: &'a Team,
    caller: &'a M,
    number: u64,
    tag: Tag,
    /// The member to which the last line went, and the one from which the last line came.
    to: Cell<Option<usize>>,
    from: Cell<Option<usize>>,
}

impl<'a, M: Messages> Operation<'a, M> {
    pub(super) fn new(team: &'a Team, caller: &'a M, tag: Tag) -> Result<Self> {
        Ok(Self {
            number: team.begin(caller)?,
            team,
            caller,
            tag: team.with_roots(tag),
            to: Cell::new(None),
            from: Cell::new(None),
        })
    }

    /// All members are known to have begun it.
    pub(super) fn all_began(&self) {
        self.team.all_began(self.number);
    }

    /// The tag that separates its messages from those of the next operation.
    fn message_tag(&self) -> u64 {
        (self.team.slot() as u64) << 24 | self.team.stamp(self.number) & 0xff_ffff
    }

    fn announce(&self, to: usize) -> Result<()> {
        if self.to.replace(Some(to)) == Some(to) {
            return Ok(());
        }
        self.team.send(self.caller, self.number, to, self.tag, &[])
    }

    fn hear(&self, from: usize) -> Result<()> {
        if self.from.replace(Some(from)) == Some(from) {
            return Ok(());
        }
        let heard = self.team.receive(self.caller, self.number, from, self.tag);
        heard.map(|_| ())
    }

    /// Does `what` with the ranks `next`. If it takes long, the members check for a deadlock.
    fn together(&self, next: &[usize], what: impl FnOnce(Company<'_>) -> Result<()>) -> Result<()> {
        let (looks, team) = (Looks::default(), self.team);
        let step = Step {
            team,
            line: Some((self.number, self.tag)),
            next,
        };
        what(Company {
            members: &team.members,
            look: &|| step.look(self.caller, &looks),
        })?;
        step.ended(self.caller, &looks)
    }

    pub(super) fn send(&self, to: usize, bytes: &[u8]) -> Result<()> {
        self.announce(to)?;
        let (caller, pe) = (self.caller, self.team.members[to]);
        self.together(&[to], |company| {
            caller.send(company, pe, self.message_tag(), bytes)
        })
    }

    pub(super) fn receive(&self, from: usize, into: &mut [u8]) -> Result<()> {
        self.hear(from)?;
        let (caller, pe) = (self.caller, self.team.members[from]);
        self.together(&[from], |company| {
            caller.receive(company, pe, self.message_tag(), into)
        })
    }

    /// Receives `values` of those from which this member has them, and sends them on.
    fn pass_on(&self, steps: &Steps, values: &mut [u8]) -> Result<()> {
        for from in steps.from.iter().copied() {
            self.receive(from, values)?;
        }
        for to in steps.to.iter().copied() {
            self.send(to, values)?;
        }
        Ok(())
    }

    fn exchange(&self, to: usize, out: &[u8], from: usize, into: &mut [u8]) -> Result<()> {
        self.announce(to)?;
        self.hear(from)?;
        let members = &self.team.members;
        let next = [to, from];
        let (to, from) = ((members[to], out), (members[from], into));
        self.together(&next, |company| {
            let caller = self.caller;
            caller.exchange(company, to, from, self.message_tag())
        })
    }
}

impl Team {
    fn check_rank(&self, rank: u32) -> Result<usize> {
        match (rank as usize) < self.size() {
            true => Ok(rank as usize),
            false => Err(Error::NoSuchPe {
                what: "rank",
                pe: rank,
                pes: self.size() as u32,
            }),
        }
    }

    /// Whether each member sends to each at once.
    pub(super) fn is_direct(&self, len: usize) -> bool {
        len <= self.room() && self.size() <= DIRECT_PES_MAX
    }

    /// Copies the `values` of rank `root` to all others: directly, or by a binomial tree.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`]. This function and all that follow: [`Error::PeerLost`],
    /// [`Error::CollectiveMismatch`], [`Error::PeerMisbehaved`].
    pub fn broadcast_private<M: Messages>(
        &self,
        caller: &M,
        root: u32,
        values: &mut [u8],
        operands: Operands,
    ) -> Result<()> {
        let root = self.check_rank(root)?;
        let len = values.len();
        if self.is_direct(len) {
            let buffers = &mut Buffers::in_place(values);
            return self.broadcast_small(caller, root, (len, operands), buffers);
        }
        if let Some(tree) = self.tree().filter(|_| len <= LINE_DATA_BYTES) {
            let buffers = &mut Buffers::in_place(values);
            return self.broadcast_small_along(caller, (tree, root), (len, operands), buffers);
        }
        let tag = Tag::new(Kind::Broadcast, len).on(operands);
        let operation = Operation::new(self, caller, tag.with_root(root as u64))?;
        let steps = match self.tree() {
            Some(tree) => tree.down(root),
            None => down(self.size(), self.rank, root),
        };
        operation.pass_on(&steps, values)
    }

    /// Puts the `values` of all behind each other into `all`. All members give equally many.
    pub fn gather_private<M: Messages>(
        &self,
        caller: &M,
        values: &[u8],
        all: &mut [u8],
        operands: Operands,
    ) -> Result<()> {
        if self.is_direct(values.len()) {
            let mut buffers = Buffers::private(values, all);
            let what = (values.len(), operands);
            return self.give_small(caller, Given::Same, what, &mut buffers);
        }
        let tag = Tag::new(Kind::Gather, values.len()).on(operands);
        if self.is_in_pieces(1) {
            return self.give_in_pieces(caller, (Given::Same, tag), values, all);
        }
        self.gather_long(caller, tag, values, all)
    }

    pub(super) fn gather_long<M: Messages>(
        &self,
        caller: &M,
        tag: Tag,
        values: &[u8],
        all: &mut [u8],
    ) -> Result<()> {
        let (size, own, each) = (self.size(), self.rank, values.len());
        let operation = Operation::new(self, caller, tag)?;
        all[own * each..][..each].copy_from_slice(values);
        if all.len() <= DOUBLING_BYTES_MAX || size > RING_PES_MAX {
            double(&operation, values, all)?;
        } else {
            // Around a ring: each step passes on what the last one brought.
            let (next, previous) = ((own + 1) % size, (own + size - 1) % size);
            let mut passed = values.to_vec();
            for step in 1..size {
                let from = (own + size - step) % size;
                let place = &mut all[from * each..][..each];
                operation.exchange(next, &passed, previous, place)?;
                passed.copy_from_slice(place);
            }
        }
        operation.all_began();
        Ok(())
    }

    /// Gives each rank a piece of `out`, and puts what each has for this one into `into`.
    pub fn all_to_all_private<M: Messages>(
        &self,
        caller: &M,
        out: &[u8],
        into: &mut [u8],
        operands: Operands,
    ) -> Result<()> {
        let (own, each) = (self.rank, out.len() / self.size());
        if self.is_direct(each) {
            let mut buffers = Buffers::private(out, into);
            return self.give_small(caller, Given::Pieces, (each, operands), &mut buffers);
        }
        let tag = Tag::new(Kind::Exchange, each).on(operands);
        if self.is_in_pieces(1) {
            return self.give_in_pieces(caller, (Given::Pieces, tag), out, into);
        }
        into[own * each..][..each].copy_from_slice(&out[own * each..][..each]);
        self.exchange_pieces(caller, tag, out, into)
    }

    /// In step `k`, a piece of `out` goes to the rank `k` after this one, and a piece of `into` comes
    /// from the rank `k` before it. Both hold a piece for each rank; the own one stays as it is.
    fn exchange_pieces<M: Messages>(
        &self,
        caller: &M,
        tag: Tag,
        out: &[u8],
        into: &mut [u8],
    ) -> Result<()> {
        let operation = Operation::new(self, caller, tag)?;
        let (size, own) = (self.size(), self.rank);
        let each = out.len() / size;
        for step in 1..size {
            let (to, from) = ((own + step) % size, (own + size - step) % size);
            let (out, into) = (&out[to * each..][..each], &mut into[from * each..][..each]);
            operation.exchange(to, out, from, into)?;
        }
        operation.all_began();
        Ok(())
    }

    /// Puts the piece of each rank into `all` of rank `root`.
    pub fn gather_to<M: Messages>(
        &self,
        caller: &M,
        root: u32,
        (values, operands): (&[u8], Operands),
        pieces: &Pieces,
        all: &mut [u8],
    ) -> Result<()> {
        let tag = Tag::new(Kind::Collected, 0).on(operands);
        self.collect_at(caller, (root, tag), values, pieces, all)
    }

    fn collect_at<M: Messages>(
        &self,
        caller: &M,
        (root, tag): (u32, Tag),
        values: &[u8],
        pieces: &Pieces,
        all: &mut [u8],
    ) -> Result<()> {
        let root = self.check_rank(root)?;
        let operation = Operation::new(self, caller, tag.with_root(root as u64))?;
        if self.rank != root {
            return operation.send(root, values);
        }
        all[pieces.of_rank(root)].copy_from_slice(values);
        for rank in self.ranks().filter(|rank| *rank != root) {
            operation.receive(rank, &mut all[pieces.of_rank(rank)])?;
        }
        Ok(())
    }

    /// Gives each rank its piece of `all` of rank `root`.
    pub fn scatter_from<M: Messages>(
        &self,
        caller: &M,
        root: u32,
        all: &[u8],
        pieces: &Pieces,
        (values, operands): (&mut [u8], Operands),
    ) -> Result<()> {
        let root = self.check_rank(root)?;
        let tag = Tag::new(Kind::Scatter, 0).on(operands);
        let operation = Operation::new(self, caller, tag.with_root(root as u64))?;
        if self.rank != root {
            return operation.receive(root, values);
        }
        // Not all begin with rank 0, if several do this one after another.
        for rank in self.others() {
            operation.send(rank, &all[pieces.of_rank(rank)])?;
        }
        values.copy_from_slice(&all[pieces.of_rank(root)]);
        Ok(())
    }

    /// Puts the piece of each rank into `all` of all.
    pub fn gather_pieces<M: Messages>(
        &self,
        caller: &M,
        (values, operands): (&[u8], Operands),
        pieces: &Pieces,
        all: &mut [u8],
    ) -> Result<()> {
        let operation = Operation::new(self, caller, Tag::new(Kind::Collect, 0).on(operands))?;
        let (size, own) = (self.size(), self.rank);
        all[pieces.of_rank(own)].copy_from_slice(values);
        for step in 1..size {
            let (to, from) = ((own + step) % size, (own + size - step) % size);
            operation.exchange(to, values, from, &mut all[pieces.of_rank(from)])?;
        }
        operation.all_began();
        Ok(())
    }

    /// Gives each rank its piece of `out`, and puts that of each rank for this one into `into`.
    pub fn exchange_any<M: Messages>(
        &self,
        caller: &M,
        (out, going): (&[u8], &Pieces),
        (into, coming): (&mut [u8], &Pieces),
        operands: Operands,
    ) -> Result<()> {
        let operation = Operation::new(self, caller, Tag::new(Kind::Pieces, 0).on(operands))?;
        let (size, own) = (self.size(), self.rank);
        into[coming.of_rank(own)].copy_from_slice(&out[going.of_rank(own)]);
        for step in 1..size {
            let (to, from) = ((own + step) % size, (own + size - step) % size);
            let (out, into) = (&out[going.of_rank(to)], &mut into[coming.of_rank(from)]);
            operation.exchange(to, out, from, into)?;
        }
        operation.all_began();
        Ok(())
    }

    /// Combines the `values` of all. Afterwards `values` holds the result.
    pub fn reduce_private<M: Messages>(
        &self,
        caller: &M,
        values: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        let len = values.len();
        if self.size() == 1 {
            return Ok(());
        }
        // Also without values: other members may have some, and must get an error.
        if self.is_direct(len) {
            let mut buffers = Buffers::in_place(values);
            return self.fold_small(caller, len, &mut buffers, combine, Fold::All);
        }
        if self.is_in_pieces(combine.element_bytes) {
            return self.reduce_in_pieces(caller, values, combine);
        }
        let tag = Tag::new(Kind::Reduce, len).on(combine.operands);
        if let Some(tree) = self.tree().filter(|_| self.folds_along_tree(len)) {
            return self.reduce_along(caller, (tree, tag), values, combine);
        }
        if len <= GATHERED_BYTES_MAX && len * self.size() <= DOUBLING_BYTES_MAX {
            let mut all = vec![0; len * self.size()];
            self.gather_long(caller, tag, values, &mut all)?;
            fold(values, &all, combine);
            return Ok(());
        }
        // Each rank reduces one piece of all values, then all gather the pieces.
        let (reduced, mut all) = self.reduce_piece(caller, tag, values, combine)?;
        self.gather_private(caller, &reduced, &mut all, combine.operands)?;
        values.copy_from_slice(&all[..len]);
        Ok(())
    }

    /// Combines neighbours first: the values of a host, and then those of hosts.
    fn reduce_along<M: Messages>(
        &self,
        caller: &M,
        (tree, tag): (&Tree, Tag),
        values: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        if values.len() <= LINE_DATA_BYTES {
            let (len, buffers) = (values.len(), &mut Buffers::in_place(values));
            return self.fold_lines(caller, (tree, tag), len, buffers, combine.function);
        }
        let operation = Operation::new(self, caller, tag)?;
        let steps = tree.up();
        let mut theirs = vec![0; values.len()];
        for from in steps.from {
            operation.receive(from, &mut theirs)?;
            (combine.function)(values, Values::private(&theirs));
        }
        for to in steps.to {
            operation.send(to, values)?;
        }
        operation.pass_on(&tree.down(0), values)?;
        operation.all_began();
        Ok(())
    }

    /// As [`reduce_private`](Self::reduce_private), for rank `root` alone: small ones are
    /// gathered and combined there; of long ones each rank combines a piece.
    pub fn reduce_to<M: Messages>(
        &self,
        caller: &M,
        root: u32,
        values: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        let (len, size) = (values.len(), self.size());
        let is_root = self.check_rank(root)? == self.rank;
        if size == 1 {
            return Ok(());
        }
        let tag = Tag::new(Kind::ReduceTo, len).on(combine.operands);
        let tag = tag.with_root(u64::from(root));
        let is_small = len <= GATHERED_BYTES_MAX && len * size <= DOUBLING_BYTES_MAX;
        if is_small || self.is_direct(len) {
            let pieces = Pieces::new((0..size).map(|_| len));
            let mut all = vec![0; if is_root { pieces.all() } else { 0 }];
            self.collect_at(caller, (root, tag), values, &pieces, &mut all)?;
            if is_root {
                fold(values, &all, combine);
            }
            return Ok(());
        }
        let (reduced, mut all) = self.reduce_piece(caller, tag, values, combine)?;
        let pieces = Pieces::new((0..size).map(|_| reduced.len()));
        self.collect_at(caller, (root, tag), &reduced, &pieces, &mut all)?;
        if is_root {
            values.copy_from_slice(&all[..len]);
        }
        Ok(())
    }

    /// The piece of the result that this rank combines, and room for the pieces of all, which
    /// may be longer than the values: the last piece is filled up with zeros, which are thrown
    /// away.
    fn reduce_piece<M: Messages>(
        &self,
        caller: &M,
        tag: Tag,
        values: &[u8],
        combine: Combine<'_>,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let element_bytes = combine.element_bytes.max(1);
        let count = (values.len() / element_bytes).div_ceil(self.size());
        let each = count * element_bytes;
        let mut padded = values.to_vec();
        padded.resize(each * self.size(), 0);
        let mut reduced = vec![0; each];
        self.scatter_reduced(caller, tag, &padded, &mut reduced, combine)?;
        Ok((reduced, padded))
    }

    /// Combines the pieces of all that are for this rank.
    pub fn reduce_scatter<M: Messages>(
        &self,
        caller: &M,
        values: &[u8],
        into: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        let tag = Tag::new(Kind::ReduceScatter, into.len()).on(combine.operands);
        self.scatter_reduced(caller, tag, values, into, combine)
    }

    fn scatter_reduced<M: Messages>(
        &self,
        caller: &M,
        tag: Tag,
        values: &[u8],
        into: &mut [u8],
        combine: Combine<'_>,
    ) -> Result<()> {
        if self.is_in_pieces(combine.element_bytes) {
            return self.reduce_scatter_in_pieces(caller, tag, values, into, combine);
        }
        let mut mine = values.to_vec();
        self.exchange_pieces(caller, tag, values, &mut mine)?;
        fold(into, &mine, combine);
        Ok(())
    }

    fn ranks(&self) -> Range<usize> {
        0..self.size()
    }
}

/// Combines the pieces of `all`, each as long as `into`, from the first to the last.
fn fold(into: &mut [u8], all: &[u8], combine: Combine<'_>) {
    if into.is_empty() {
        return;
    }
    let (first, rest) = all.split_at(into.len());
    into.copy_from_slice(first);
    for piece in rest.chunks_exact(into.len()) {
        (combine.function)(into, Values::private(piece));
    }
}

/// Bruck's algorithm: every PE has its own piece and those of the ranks before it, twice as many
/// after each step. The first step is the same as that of the ring, so that PEs with different
/// lengths notice this, whichever algorithm they use.
fn double<M: Messages>(operation: &Operation<'_, M>, values: &[u8], all: &mut [u8]) -> Result<()> {
    let (size, each, own) = (operation.team.size(), values.len(), operation.team.rank);
    // From the own rank backwards.
    let mut pieces = all.to_vec();
    pieces[..each].copy_from_slice(values);
    let mut have = 1;
    while have < size {
        let more = have.min(size - have);
        let (to, from) = ((own + have) % size, (own + size - have) % size);
        let (there, coming) = pieces.split_at_mut(have * each);
        let (out, into) = (&there[..more * each], &mut coming[..more * each]);
        operation.exchange(to, out, from, into)?;
        have += more;
    }
    for back in 1..size {
        let rank = (own + size - back) % size;
        all[rank * each..][..each].copy_from_slice(&pieces[back * each..][..each]);
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
#[path = "large_tests.rs"]
mod tests;
