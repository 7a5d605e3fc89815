//! Collective operations of active sets: the old way, with a `pSync` array.
//!
//! The members share only this array, so they meet in it. Its words are counters: a
//! member that signals another one adds one to a word, and the other one subtracts one
//! when it has seen this. So the words are zero again when no member is in an
//! operation, as the specification demands, and a member that is ahead does no harm.
//!
//! | word | counts |
//! |---|---|
//! | 0 to 11 | who has come, per round of a barrier |
//! | 12 | broadcasts that have arrived |
//! | 13 | bytes that the members before this one collect |

use core::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostwire::PeId;
use hostwire::attachment::{Operation, Watch};
use hostwire::board::Activity;
use hostwire::core::{
    Block, Buffers, Combine, Fold, Kind, Source, Strides, Tag, Target, fold_values,
};
use hostwire::{FromZeros, IntoBytes};

use crate::buffer::Input;
use crate::collective::source_at;
use crate::debug::{
    self,
    race::{self, Flow, Footprint, Members},
};
use crate::fail::fatal;
use crate::fast::What;
use crate::reduction::{Reduce, combine};
use crate::remote::{atomic_at, done, symmetric};
use crate::runtime::{self, Runtime};

/// Up to here each member of a reduction sends its values to all others; beyond, it combines its part of
/// them for all. Fitted.
const AT_ONCE_BYTES: usize = 1 << 10;

const ARRIVED: usize = 12;
const BEFORE: usize = 13;
const WORDS: usize = 14;

/// The PEs `start`, `start + 2^log_stride`, and so on.
pub(crate) struct ActiveSet {
    runtime: &'static Runtime,
    what: &'static str,
    members: Box<[PeId]>,
    rank: usize,
    /// The first, the logarithm of the stride, and how many.
    triplet: [c_int; 3],
    /// The array, in a segment.
    psync: usize,
}

/// Held during an exchange by lines: a PE may have threads although it said otherwise when it
/// initialised the library first.
fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    runtime::may_have_threads().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

impl ActiveSet {
    /// Ends the job if this PE is not a member, or if the set is not valid.
    pub(crate) fn new(
        what: What,
        start: c_int,
        log_stride: c_int,
        size: c_int,
        psync: *mut c_long,
    ) -> Self {
        let what = *what;
        let runtime = runtime::get(what);
        let psync = symmetric(runtime, what, "pSync", psync.cast(), WORDS * 8);
        let pes = i64::from(runtime.attachment.pes());
        let stride = u32::try_from(log_stride)
            .ok()
            .and_then(|log| 1i64.checked_shl(log));
        let last = stride.and_then(|stride| {
            let steps = stride.checked_mul(i64::from(size) - 1)?;
            steps.checked_add(i64::from(start))
        });
        let (Some(stride), true, Some(true)) =
            (stride, start >= 0 && size > 0, last.map(|last| last < pes))
        else {
            fatal(
                what,
                format_args!(
                    "PE_start {start}, logPE_stride {log_stride} and PE_size {size} name PEs \
                     that are not in the job of {pes}"
                ),
            );
        };
        let members: Box<[PeId]> = (0..i64::from(size))
            .map(|index| (i64::from(start) + index * stride) as PeId)
            .collect();
        let me = runtime.attachment.pe();
        let Some(rank) = members.iter().position(|pe| *pe == me) else {
            fatal(
                what,
                format_args!("PE {me} is not in the active set that it names"),
            );
        };
        Self {
            runtime,
            what,
            members,
            rank,
            triplet: [start, log_stride, size],
            psync,
        }
    }

    /// With `SHMEM_DEBUG`, all members must be about to do the same: with this destination, so many
    /// bytes or elements, and this other argument.
    fn compare(&self, dest: *const u8, amount: usize, other: usize) {
        if self.runtime.debug.is_on() && self.is_serial() {
            let place = self.runtime.locate(dest.addr(), 0).unwrap_or(0);
            self.compare_signatures([place as u64, amount as u64, other as u64]);
        }
    }

    /// Not through `pSync`, which may be another array there, but by lines of a team of all PEs,
    /// which needs no `pSync`.
    #[cold]
    fn compare_signatures(&self, arguments: [u64; 3]) {
        let ours = debug::signature(self.what, arguments);
        self.exchange(&ours, |pe, theirs| {
            debug::must_agree(self.what, pe, theirs, &ours);
        });
        let [start, log_stride, size] = self.triplet.map(|part| part as u32 as u64);
        let set = [start, log_stride, size, self.psync as u64, 0, 0];
        self.exchange(&set, |pe, theirs| {
            if *theirs != set {
                let says = |set: &debug::Signature| {
                    format!(
                        "{}, {}, {} with the pSync at {:#x}",
                        set[0], set[1], set[2], set[3]
                    )
                };
                fatal(
                    self.what,
                    format_args!(
                        "the PEs disagree: PE {pe} calls it for {}, this PE for {} (PE_start, \
                         logPE_stride, PE_size; pSync as its offset in a segment); {}",
                        says(theirs),
                        says(&set),
                        debug::here()
                    ),
                );
            }
        });
    }

    fn exchange(&self, words: &debug::Signature, each: impl Fn(PeId, &debug::Signature)) {
        let tag = Tag::new(Kind::Subset, 0);
        let (attachment, team) = (&self.runtime.attachment, &self.runtime.leaving);
        let _turn = turn();
        for rank in self.others() {
            let number = self.next_number(rank);
            let sent = team.send(attachment, number, self.pe(rank), tag, words.as_bytes());
            done(self.what, sent);
        }
        for rank in self.others() {
            let received = team.receive(attachment, self.number(rank), self.pe(rank), tag);
            let mut theirs = debug::Signature::new_zeroed();
            let segment = attachment.segment();
            let got = segment.get(done(self.what, received), theirs.as_mut_bytes());
            done(self.what, got);
            each(self.members[rank], &theirs);
        }
    }

    /// A member as its rank in a team of all.
    fn pe(&self, rank: usize) -> usize {
        self.members[rank] as usize
    }

    /// Whether members may meet by lines of a team of all PEs, numbered for each two of them. The
    /// threads of two PEs may arrive in different orders, so this is not for threads: each of them
    /// has its own `pSync`.
    fn is_serial(&self) -> bool {
        self.runtime.is_serial.load(Ordering::Relaxed)
    }

    /// The number of the next exchange with a member, which begins now. Every exchange goes both
    /// ways, so a member is at most one exchange ahead, and no line is overwritten while another
    /// member reads it.
    fn next_number(&self, rank: usize) -> u64 {
        let pair = &self.runtime.pairs[self.pe(rank)];
        let number = pair.load(Ordering::Relaxed) + 1;
        pair.store(number, Ordering::Relaxed);
        number
    }

    /// That of the present exchange.
    fn number(&self, rank: usize) -> u64 {
        self.runtime.pairs[self.pe(rank)].load(Ordering::Relaxed)
    }

    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    fn word(&self, index: usize) -> usize {
        self.psync + index * 8
    }

    fn own(&self, index: usize) -> &AtomicU64 {
        let segment = self.runtime.attachment.segment();
        done(self.what, segment.word(self.word(index)))
    }

    fn tell(&self, rank: usize, word: usize, by: i64) {
        let (pe, offset) = (self.members[rank], self.word(word));
        let by = by as u64;
        atomic_at(
            self.runtime,
            self.what,
            pe,
            offset,
            8,
            Operation::Add,
            by,
            0,
        );
    }

    /// Waits until `rank` has raised a counter above zero, and takes one off.
    fn take(&self, rank: usize, index: usize) {
        let word = self.own(index);
        let attachment = &self.runtime.attachment;
        attachment.activity(Activity::Collective, None);
        // Others may have passed and be leaving. The PE that has to raise the counter must not be.
        let watch = Watch::Next {
            members: &self.members,
            next: self.members[rank],
        };
        let there = || Ok((word.load(Ordering::Acquire) as i64 > 0).then_some(()));
        done(self.what, attachment.wait(watch, there));
        attachment.activity(Activity::Computing, None);
        self.tell(self.rank, index, -1);
    }

    /// The members that meet, for the detector of races.
    fn meeting(&self) -> Members<'_> {
        let members = self.members.iter().map(|pe| u64::from(*pe));
        let set = [u64::MAX, self.psync as u64].into_iter().chain(members);
        Members {
            team: race::hash(set),
            members: &self.members,
            rank: self.rank,
        }
    }

    /// As [`crate::collective`] does; the source is given by its address.
    fn comes(
        &self,
        flow: Flow,
        source: Footprint,
        destinations: impl Iterator<Item = (usize, Footprint)>,
    ) {
        if let Some(race) = self.runtime.debug.race() {
            let offset = self.runtime.locate(source.start, source.block_bytes);
            let source = offset.map(|offset| source.at(offset));
            let members = self.meeting();
            race.collective(self.runtime, self.what, members, flow, source, destinations);
        }
    }

    /// `shmem_sync` of an active set.
    pub(crate) fn sync_all(&self) {
        self.compare(core::ptr::null(), 0, 0);
        self.meet();
        if let Some(race) = self.runtime.debug.race() {
            race.sync(self.runtime, self.what, self.meeting());
        }
    }

    /// `shmem_barrier`.
    pub(crate) fn barrier_all(&self) {
        self.compare(core::ptr::null(), 0, 0);
        self.meet_quiet();
        if let Some(race) = self.runtime.debug.race() {
            race.barrier(self.runtime, self.what, self.meeting());
        }
    }

    /// Waits for all members.
    fn meet(&self) {
        let mut round = 0;
        while 1 << round < self.size() {
            let to = (self.rank + (1 << round)) % self.size();
            self.tell(to, round, 1);
            let from = (self.rank + self.size() - (1 << round)) % self.size();
            self.take(from, round);
            round += 1;
        }
    }

    /// Completes what this PE has issued, and waits for all members.
    fn meet_quiet(&self) {
        done(self.what, self.runtime.attachment.quiet());
        self.meet();
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        (self.rank + 1..self.size()).chain(0..self.rank)
    }

    /// Stores `len` bytes of the source, from `at` on, at an offset that was checked.
    fn put(&self, rank: usize, offset: usize, source: Source<'_>, at: usize, len: usize) {
        let attachment = &self.runtime.attachment;
        let put = source.put(attachment, self.members[rank], offset, at, len);
        done(self.what, put);
    }

    /// Copies `len` bytes of the source, from `at` on, to an offset here.
    fn keep(&self, offset: usize, source: Source<'_>, at: usize, len: usize) {
        let mut buffers = Buffers {
            source: Some(source),
            target: Target::Own(offset),
        };
        let kept = buffers.keep(self.runtime.attachment.segment(), 0, at, len);
        done(self.what, kept);
    }

    fn locate(&self, role: &str, address: *const u8, len: usize) -> usize {
        match len {
            0 => 0,
            len => symmetric(self.runtime, self.what, role, address, len),
        }
    }
}

/// `shmem_broadcast32` and similar routines. The root's own destination stays as it is.
pub(crate) fn broadcast(set: &ActiveSet, dest: *mut u8, source: Input<'_>, root: c_int) {
    let len = source.len();
    let Some(root) = usize::try_from(root).ok().filter(|root| *root < set.size()) else {
        fatal(
            set.what,
            format_args!("there is no root {root} among {} PEs", set.size()),
        );
    };
    set.compare(dest, len, root);
    let is_root = set.rank == root;
    let offset = match is_root {
        true => set.locate("the destination", dest, len),
        false => 0,
    };
    let bytes = if is_root { len } else { 0 };
    let ranks = set.others().filter(|_| is_root);
    let destinations = ranks.map(|rank| (rank, Footprint::run(offset, bytes)));
    set.comes(
        Flow::From(root as u32),
        Footprint::run(source.address(), bytes),
        destinations,
    );
    if !is_root {
        return set.take(root, ARRIVED);
    }
    let source = source_at(set.runtime, source);
    for rank in set.others() {
        set.put(rank, offset, source, 0, len);
        done(set.what, set.runtime.attachment.fence());
        set.tell(rank, ARRIVED, 1);
    }
}

/// `shmem_fcollect32` and similar routines.
pub(crate) fn fcollect(set: &ActiveSet, dest: *mut u8, source: Input<'_>) {
    let len = source.len();
    let all = len.saturating_mul(set.size());
    set.compare(dest, len, 0);
    place(set, dest, source, set.rank * len, all);
}

/// `shmem_collect32` and similar routines.
pub(crate) fn collect(set: &ActiveSet, dest: *mut u8, source: Input<'_>) {
    let len = source.len();
    set.compare(dest, 0, 0);
    for rank in set.rank + 1..set.size() {
        set.tell(rank, BEFORE, len as i64);
    }
    set.meet_quiet();
    let start = set.own(BEFORE).swap(0, Ordering::SeqCst) as usize;
    place(set, dest, source, start, start.saturating_add(len));
}

/// Stores the source at byte `start` of the destination of every member, which has `end`
/// bytes, and waits for all.
fn place(set: &ActiveSet, dest: *mut u8, source: Input<'_>, start: usize, end: usize) {
    let len = source.len();
    let offset = set.locate("the destination", dest, end);
    let destinations = (0..set.size()).map(|rank| (rank, Footprint::run(offset + start, len)));
    set.comes(
        Flow::All,
        Footprint::run(source.address(), len),
        destinations,
    );
    if len > 0 {
        let source = source_at(set.runtime, source);
        for rank in set.others() {
            set.put(rank, offset + start, source, 0, len);
        }
        set.keep(offset + start, source, 0, len);
    }
    set.meet_quiet();
}

/// `shmem_alltoall32` and similar routines.
///
/// The source has `len` bytes for each member.
pub(crate) fn alltoall(set: &ActiveSet, dest: *mut u8, source: Input<'_>, len: usize) {
    let offset = set.locate("the destination", dest, source.len());
    set.compare(dest, len, 0);
    let mine = set.rank * len;
    let destinations = (0..set.size()).map(|rank| (rank, Footprint::run(offset + mine, len)));
    let all = Footprint::run(source.address(), source.len());
    set.comes(Flow::All, all, destinations);
    let source = source_at(set.runtime, source);
    for rank in set.others() {
        set.put(rank, offset + mine, source, rank * len, len);
    }
    set.keep(offset + mine, source, mine, len);
    set.meet_quiet();
}

/// `shmem_alltoalls32` and similar routines; strides as in [`crate::collective::alltoalls`].
///
/// # Safety
/// The elements at `source` can be read, `nelems` for each member; nobody writes them meanwhile.
pub(crate) unsafe fn alltoalls(
    set: &ActiveSet,
    dest: *mut u8,
    source: *const u8,
    (dst, sst, element): (isize, isize, usize),
    nelems: usize,
) {
    if dst < 1 || sst < 1 {
        fatal(set.what, "strides have to be at least 1");
    }
    let (dst, sst) = (dst as usize * element, sst as usize * element);
    let span = |step: usize| match nelems.saturating_mul(set.size()) {
        0 => 0,
        count => step.saturating_mul(count - 1).saturating_add(element),
    };
    let (dest_span, source_span) = (span(dst), span(sst));
    let offset = set.locate("the destination", dest, dest_span);
    set.compare(dest, nelems, dst << 32 ^ sst);
    let mine = set.rank * nelems;
    let elements = Footprint {
        start: offset + mine * dst,
        block_bytes: element,
        stride_bytes: dst as isize,
        blocks: nelems,
    };
    let destinations = (0..set.size()).map(|rank| (rank, elements));
    let sources = Footprint {
        start: source as usize,
        stride_bytes: sst as isize,
        blocks: nelems * set.size(),
        ..elements
    };
    set.comes(Flow::All, sources, destinations);
    let strides = Strides {
        target: dst,
        source: sst,
        element_bytes: element,
        count: nelems,
    };
    // SAFETY: the caller has the elements for all members, and they span so many bytes.
    let source = source_at(set.runtime, unsafe { Input::new(source, source_span) });
    for rank in (0..set.size()).filter(|_| nelems > 0) {
        let ranks = (set.rank, rank);
        let attachment = &set.runtime.attachment;
        let put = strides.put(attachment, ranks, set.members[rank], source, offset);
        done(set.what, put);
    }
    set.meet_quiet();
}

/// `shmem_sum_to_all` and similar routines.
pub(crate) fn to_all<Op: 'static, T: Reduce<Op>>(
    set: &ActiveSet,
    dest: *mut T,
    source: *const T,
    count: c_int,
) {
    let Ok(count) = usize::try_from(count) else {
        fatal(set.what, format_args!("{count} is no number of elements"));
    };
    let combine = combine::<Op, T>();
    let len = count.saturating_mul(combine.element_bytes);
    let places = [
        ("the destination", dest.cast_const()),
        ("the source", source),
    ];
    let [to, from] = places.map(|(role, address)| set.locate(role, address.cast(), len));
    set.compare(dest.cast(), count, combine.element_bytes);
    let destinations = (0..set.size()).map(|rank| (rank, Footprint::run(to, len)));
    set.comes(
        Flow::All,
        Footprint::run(source as usize, len),
        destinations,
    );
    if set.is_serial() && len <= AT_ONCE_BYTES.min(set.runtime.leaving.room()) {
        return to_all_at_once(set, len, Buffers::own(from, to), combine);
    }
    let block = Block {
        members: &set.members,
        rank: set.rank,
        target: to,
        source: from,
        count,
        combine,
        fold: Fold::All,
    };
    set.meet_quiet();
    done(set.what, block.run(&set.runtime.attachment));
    set.meet_quiet();
}

/// A reduction of so few elements that each member sends them to all others.
fn to_all_at_once(set: &ActiveSet, len: usize, mut buffers: Buffers<'_>, combine: Combine<'_>) {
    let tag = Tag::new(Kind::Reduce, len).on(combine.operands);
    let (attachment, team) = (&set.runtime.attachment, &set.runtime.leaving);
    let _turn = turn();
    let send = |bytes: &[u8]| {
        for rank in set.others() {
            let number = set.next_number(rank);
            team.send_staged(attachment, number, set.pe(rank), tag, bytes)?;
        }
        Ok(())
    };
    let receive = |rank| team.receive_staged(attachment, set.number(rank), set.pe(rank), tag, len);
    let ranks = (set.rank, set.size());
    let segment = attachment.segment();
    let folded = fold_values(ranks, segment, len, &mut buffers, combine, send, receive);
    done(set.what, folded);
}
