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
use hostwire::attachment::Watch;
use hostwire::board::Activity;

use crate::collective::combine_ranks;
use crate::debug::{
    self,
    race::{self, Flow, Footprint, Members},
};
use crate::fail::fatal;
use crate::fast::What;
use crate::lifecycle;
use crate::line::{self, Kind, PAYLOAD_BYTES, Tag, add};
use crate::owner::{Combine, Fold, Mode};
use crate::reduction::Reduce;
use crate::remote::{done, put_at, symmetric};
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
    lifecycle::may_have_threads().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
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
        let tag = Tag::new(Kind::ActiveSet, 0);
        let line = (words.as_ptr().cast(), size_of_val(words));
        let _turn = turn();
        for rank in self.others() {
            // SAFETY: the words are a whole payload.
            unsafe { self.send(rank, tag, line, None) };
        }
        for rank in self.others() {
            let payload = self.receive(rank, tag);
            // SAFETY: aligned, with room for as many words; its writer is done with it, and is at
            // most one exchange ahead.
            let theirs = unsafe { payload.cast::<debug::Signature>().read() };
            each(self.members[rank], &theirs);
        }
    }

    /// Whether members may meet by lines of a team of all PEs, numbered for each two of them. The
    /// threads of two PEs may arrive in different orders, so this is not for threads: each of them
    /// has its own `pSync`.
    fn is_serial(&self) -> bool {
        self.runtime.is_serial.load(Ordering::Relaxed)
    }

    /// Sends a member the next line. Data that does not fit into the line goes to its stage
    /// first. Every exchange goes both ways, so a member is at most one exchange ahead, and no
    /// line is overwritten while another member reads it.
    ///
    /// # Safety
    /// The payload fits a line, and what is staged fits a stage.
    unsafe fn send(
        &self,
        rank: usize,
        tag: Tag,
        payload: (*const u8, usize),
        staged: Option<(*const u8, usize)>,
    ) {
        let (runtime, what, team) = (self.runtime, self.what, &self.runtime.leaving);
        let pe = self.members[rank];
        let pair = &runtime.pairs[pe as usize];
        let number = pair.load(Ordering::Relaxed) + 1;
        pair.store(number, Ordering::Relaxed);
        if let Some((from, len)) = staged {
            let stage = line::stage(runtime, team, number, team.rank);
            // SAFETY: as the caller promises.
            unsafe { put_at(runtime, what, pe, stage, from, len) };
        }
        // SAFETY: as the caller promises. The ranks of that team are the PEs.
        unsafe { line::send(runtime, what, team, number, pe as usize, tag, payload) };
    }

    /// The data that a member has sent in the present exchange.
    fn receive(&self, rank: usize, tag: Tag) -> *const u8 {
        let (team, pe) = (&self.runtime.leaving, self.members[rank] as usize);
        line::receive(self.runtime, self.what, team, self.number(rank), pe, tag)
    }

    fn number(&self, rank: usize) -> u64 {
        let pe = self.members[rank] as usize;
        self.runtime.pairs[pe].load(Ordering::Relaxed)
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn word(&self, index: usize) -> usize {
        self.psync + index * 8
    }

    fn own(&self, index: usize) -> &AtomicU64 {
        let at = self.runtime.own_at(self.word(index)).cast::<AtomicU64>();
        // SAFETY: a word of `pSync`, which was checked; an array of `long` is aligned, and
        // it is the library's while an operation uses it.
        unsafe { &*at }
    }

    fn tell(&self, rank: usize, word: usize, by: i64) {
        add(
            self.runtime,
            self.what,
            self.members[rank],
            self.word(word),
            by,
        );
    }

    /// Waits until `rank` has raised a counter above zero, and takes one off.
    fn take(&self, rank: usize, index: usize) {
        let word = self.own(index);
        let attachment = &self.runtime.attachment;
        attachment.activity(Activity::Collective, None);
        // Others may have been through and be leaving; who has to raise it must not.
        let watch = Watch::Next {
            members: &self.members,
            next: self.members[rank],
        };
        let there = || Ok((word.load(Ordering::Acquire) as i64 > 0).then_some(()));
        done(self.what, attachment.wait(watch, there));
        attachment.activity(Activity::Computing, None);
        add(
            self.runtime,
            self.what,
            attachment.pe(),
            self.word(index),
            -1,
        );
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

    /// # Safety
    /// The source has the bytes; the offset was checked.
    unsafe fn put(&self, rank: usize, offset: usize, source: *const u8, len: usize) {
        // SAFETY: as the caller promises.
        unsafe {
            put_at(
                self.runtime,
                self.what,
                self.members[rank],
                offset,
                source,
                len,
            )
        };
    }

    fn locate(&self, role: &str, address: *const u8, len: usize) -> usize {
        match len {
            0 => 0,
            len => symmetric(self.runtime, self.what, role, address, len),
        }
    }
}

/// `shmem_broadcast32` and similar routines. The root's own destination stays as it is.
///
/// # Safety
/// The source has the bytes.
pub(crate) unsafe fn broadcast(
    set: &ActiveSet,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    root: c_int,
) {
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
        Footprint::run(source as usize, bytes),
        destinations,
    );
    if !is_root {
        return set.take(root, ARRIVED);
    }
    for rank in set.others() {
        // SAFETY: the destination was checked; the caller has the source.
        unsafe { set.put(rank, offset, source, len) };
        done(set.what, set.runtime.attachment.fence());
        set.tell(rank, ARRIVED, 1);
    }
}

/// `shmem_fcollect32` and similar routines.
///
/// # Safety
/// The source has the bytes.
pub(crate) unsafe fn fcollect(set: &ActiveSet, dest: *mut u8, source: *const u8, len: usize) {
    let all = len.saturating_mul(set.size());
    set.compare(dest, len, 0);
    // SAFETY: as the caller promises.
    unsafe { place(set, dest, source, len, set.rank * len, all) };
}

/// `shmem_collect32` and similar routines.
///
/// # Safety
/// The source has the bytes, and the destination room for all.
pub(crate) unsafe fn collect(set: &ActiveSet, dest: *mut u8, source: *const u8, len: usize) {
    set.compare(dest, 0, 0);
    for rank in set.rank + 1..set.size() {
        set.tell(rank, BEFORE, len as i64);
    }
    set.meet_quiet();
    let start = set.own(BEFORE).swap(0, Ordering::SeqCst) as usize;
    // SAFETY: as the caller promises.
    unsafe { place(set, dest, source, len, start, start.saturating_add(len)) };
}

/// Stores the source at byte `start` of the destination of every member, which has `end`
/// bytes, and waits for all.
unsafe fn place(
    set: &ActiveSet,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    start: usize,
    end: usize,
) {
    let offset = set.locate("the destination", dest, end);
    let destinations = (0..set.size()).map(|rank| (rank, Footprint::run(offset + start, len)));
    set.comes(
        Flow::All,
        Footprint::run(source as usize, len),
        destinations,
    );
    if len > 0 {
        for rank in set.others() {
            // SAFETY: the destination was checked; the caller has the source.
            unsafe { set.put(rank, offset + start, source, len) };
        }
        // SAFETY: as above.
        unsafe { core::ptr::copy(source, dest.wrapping_add(start), len) };
    }
    set.meet_quiet();
}

/// `shmem_alltoall32` and similar routines.
///
/// # Safety
/// The source has the bytes.
pub(crate) unsafe fn alltoall(set: &ActiveSet, dest: *mut u8, source: *const u8, len: usize) {
    let offset = set.locate("the destination", dest, len.saturating_mul(set.size()));
    set.compare(dest, len, 0);
    let mine = set.rank * len;
    let destinations = (0..set.size()).map(|rank| (rank, Footprint::run(offset + mine, len)));
    let all = Footprint::run(source as usize, len.saturating_mul(set.size()));
    set.comes(Flow::All, all, destinations);
    for rank in set.others() {
        let block = source.wrapping_add(rank * len);
        // SAFETY: the destination was checked; the caller has the source.
        unsafe { set.put(rank, offset + mine, block, len) };
    }
    // SAFETY: as above.
    unsafe { core::ptr::copy(source.wrapping_add(mine), dest.wrapping_add(mine), len) };
    set.meet_quiet();
}

/// `shmem_alltoalls32` and similar routines; strides as in [`crate::collective::alltoalls`].
///
/// # Safety
/// The source has the elements.
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
    let span = match nelems.saturating_mul(set.size()) {
        0 => 0,
        count => dst.saturating_mul(count - 1).saturating_add(element),
    };
    let offset = set.locate("the destination", dest, span);
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
    for rank in set.others() {
        for index in 0..nelems {
            let from = source.wrapping_add((rank * nelems + index) * sst);
            // SAFETY: the span was checked; the caller has the source.
            unsafe { set.put(rank, offset + (mine + index) * dst, from, element) };
        }
    }
    for index in mine..mine + nelems {
        let (to, from) = (
            dest.wrapping_add(index * dst),
            source.wrapping_add(index * sst),
        );
        // SAFETY: as above.
        unsafe { core::ptr::copy(from, to, element) };
    }
    set.meet_quiet();
}

/// `shmem_sum_to_all` and similar routines.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn to_all<Op: 'static, T: Reduce<Op>>(
    set: &ActiveSet,
    dest: *mut T,
    source: *const T,
    count: c_int,
) {
    let Ok(count) = usize::try_from(count) else {
        fatal(set.what, format_args!("{count} is no number of elements"));
    };
    let combine = Combine::of::<Op, T>();
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
    if set.is_serial() && len <= AT_ONCE_BYTES.min(line::room(set.runtime)) {
        // SAFETY: both were checked, and the elements fit.
        return unsafe { to_all_at_once(set, dest.cast(), source.cast(), count, combine) };
    }
    let fold = Fold {
        runtime: set.runtime,
        what: set.what,
        members: &set.members,
        rank: set.rank,
        dest: to,
        source: from,
        count,
        combine,
        mode: Mode::Reduce,
    };
    set.meet_quiet();
    // SAFETY: both were checked, and all members are here until the next barrier.
    unsafe { fold.own_block() };
    set.meet_quiet();
}

/// A reduction of so few elements that each member sends them to all others.
///
/// # Safety
/// Both buffers have the elements, which fit a line or its stage.
unsafe fn to_all_at_once(
    set: &ActiveSet,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    combine: Combine,
) {
    let len = count * combine.element_bytes;
    let tag = Tag::new(Kind::Reduce, len);
    let in_line = len <= PAYLOAD_BYTES;
    let (payload, staged) = match in_line {
        true => ((source, len), None),
        false => ((source, 0), Some((source, len))),
    };
    let _turn = turn();
    for rank in set.others() {
        // SAFETY: as the caller promises.
        unsafe { set.send(rank, tag, payload, staged) };
    }
    let values = |rank: usize| {
        let payload = set.receive(rank, tag);
        match in_line {
            true => payload,
            false => {
                let (team, pe) = (&set.runtime.leaving, set.members[rank] as usize);
                let stage = line::stage(set.runtime, team, set.number(rank), pe);
                set.runtime.own_at(stage)
            }
        }
    };
    let ranks = (0..set.size(), set.rank);
    // SAFETY: as the caller promises, here and at the members that send.
    unsafe { combine_ranks(dest, source, count, combine, ranks, values) };
}
