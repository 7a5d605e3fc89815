//! Collective operations of teams.
//!
//! OpenSHMEM lets a member store into the destinations of the others as soon as it has
//! begun itself, so data goes straight to its destination, and a line reports its
//! arrival. Data that fits into a line goes with it.
//!
//! Reductions and scans combine in the order of ranks, whatever their size and
//! whichever member comes first: results are the same in every run, to the last bit.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::copy;
use crate::debug::race::{Flow, Footprint};
use crate::fast::What;
use crate::handle::Team;
use crate::line::{
    self, Kind, PAYLOAD_BYTES, STAGE_BYTES, Tag, all_began, begin, others, receive, send,
};
use crate::owner::{self, Combine, Mode};
use crate::reduction::Reduce;
use crate::remote::{put_at, resolve, symmetric};
use crate::runtime::{self, Runtime};
use crate::team::{self, TeamState};

/// From here on a broadcast to several is pulled by each of them at the same time instead
/// of pushed to one after the other. Fitted.
const PULL_BYTES: usize = 32 << 10;

const EMPTY: (*const u8, usize) = (core::ptr::null(), 0);

/// The inputs of every operation: its team, and symmetric buffers.
struct Call {
    runtime: &'static Runtime,
    team: &'static TeamState,
    what: &'static str,
    /// Of the destination and the source, in a segment.
    dest: usize,
    source: usize,
}

impl Call {
    /// `None` for the invalid team. Empty buffers may be at any address.
    fn new(
        what: &'static str,
        team: Team,
        (dest, dest_bytes): (*mut u8, usize),
        (source, source_bytes): (*const u8, usize),
        argument: usize,
    ) -> Option<Self> {
        let runtime = runtime::get(what);
        let team = team::find(runtime, team)?;
        let offset = |role, address, len| match len {
            0 => 0,
            len => symmetric(runtime, what, role, address, len),
        };
        let call = Self {
            runtime,
            team,
            what,
            dest: offset("the destination", dest.cast_const(), dest_bytes),
            source: offset("the source", source, source_bytes),
        };
        let arguments = [call.dest, source_bytes, argument];
        runtime
            .debug
            .compare_arguments(runtime, what, team, arguments);
        Some(call)
    }

    fn begin(&self) -> u64 {
        begin(self.runtime, self.what, self.team)
    }

    /// Reports the accesses of this member to the detector of races: it reads these own
    /// bytes, and stores to these bytes of the members with those ranks.
    fn comes(
        &self,
        flow: Flow,
        source: Footprint,
        destinations: impl Iterator<Item = (usize, Footprint)>,
    ) {
        if let Some(race) = self.runtime.debug.race() {
            let (members, source) = (self.team.meeting(), Some(source));
            race.collective(self.runtime, self.what, members, flow, source, destinations);
        }
    }

    /// # Safety
    /// As [`send`].
    unsafe fn send(&self, number: u64, rank: usize, tag: Tag, data: (*const u8, usize)) {
        // SAFETY: as the caller promises.
        unsafe { send(self.runtime, self.what, self.team, number, rank, tag, data) }
    }

    fn receive(&self, number: u64, rank: usize, tag: Tag) -> *const u8 {
        receive(self.runtime, self.what, self.team, number, rank, tag)
    }

    /// # Safety
    /// `source` has `len` bytes, and the destination of all members from `offset`.
    unsafe fn put(&self, rank: usize, offset: usize, source: *const u8, len: usize) {
        let pe = self.team.members[rank];
        // SAFETY: as the caller promises; the offset was checked by `new`.
        unsafe { put_at(self.runtime, self.what, pe, offset, source, len) };
    }
}

/// `shmem_broadcast`.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn broadcast(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    root: c_int,
) -> c_int {
    let what = *what;
    let Some(call) = Call::new(what, team, (dest, len), (source, len), root as usize) else {
        return -1;
    };
    let Some(root) = usize::try_from(root)
        .ok()
        .filter(|root| *root < call.team.size())
    else {
        call.runtime.debug.say(what, || {
            let size = call.team.size();
            format!("there is no PE_root {root} in a team of {size} PEs: -1 is returned")
        });
        return -1;
    };
    let is_root = call.team.rank == root;
    let bytes = |of| Footprint::run(of, if is_root { len } else { 0 });
    let ranks = (0..call.team.size()).filter(|_| is_root);
    let destinations = ranks.map(|rank| (rank, bytes(call.dest)));
    call.comes(Flow::From(root as u32), bytes(call.source), destinations);
    let number = call.begin();
    let tag = Tag::new(Kind::Broadcast, len);
    let small = len <= PAYLOAD_BYTES;
    let pull = len >= PULL_BYTES && call.team.size() > 2 && call.runtime.mapped.is_some();
    if call.team.rank == root {
        for rank in others(call.team) {
            let payload = if small { (source, len) } else { EMPTY };
            if !small && !pull {
                // SAFETY: both buffers were checked.
                unsafe { call.put(rank, call.dest, source, len) };
            }
            // SAFETY: the source has `len` bytes.
            unsafe { call.send(number, rank, tag, payload) };
        }
        // SAFETY: both have `len` bytes; they may be the same.
        unsafe { core::ptr::copy(source, dest, len) };
        if pull {
            // They read the source until they report that they are done.
            for rank in others(call.team) {
                call.receive(number, rank, Tag::new(Kind::Answer, len));
            }
            // The others do not know that all have begun, so this one must not assume
            // it either.
        }
        return 0;
    }
    let payload = call.receive(number, root, tag);
    if small {
        // SAFETY: the payload has `len` bytes, and so has the destination.
        unsafe { copy::run(dest, payload, len) };
    } else if pull {
        if let Some(from) = resolve(call.runtime, call.team.members[root], call.source) {
            // SAFETY: the source of the root, which leaves it alone until all have answered.
            unsafe { copy::run(dest, from, len) };
        }
        // SAFETY: no bytes.
        unsafe { call.send(number, root, Tag::new(Kind::Answer, len), EMPTY) };
    }
    0
}

/// `shmem_fcollect`.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn fcollect(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
) -> c_int {
    let what = *what;
    let size = team::find(runtime::get(what), team).map_or(0, TeamState::size);
    let all = len.saturating_mul(size);
    let Some(call) = Call::new(what, team, (dest, all), (source, len), 0) else {
        return -1;
    };
    let mine = call.team.rank * len;
    let destinations = (0..size).map(|rank| (rank, Footprint::run(call.dest + mine, len)));
    call.comes(Flow::All, Footprint::run(call.source, len), destinations);
    let number = call.begin();
    let tag = Tag::new(Kind::Fcollect, len);
    let small = len <= PAYLOAD_BYTES;
    for rank in others(call.team) {
        if !small {
            // SAFETY: both buffers were checked.
            unsafe { call.put(rank, call.dest + mine, source, len) };
        }
        let payload = if small { (source, len) } else { EMPTY };
        // SAFETY: the source has `len` bytes.
        unsafe { call.send(number, rank, tag, payload) };
    }
    // SAFETY: `len` bytes for each member.
    unsafe { core::ptr::copy(source, dest.wrapping_add(mine), len) };
    for rank in others(call.team) {
        let payload = call.receive(number, rank, tag);
        if small {
            // SAFETY: as above.
            unsafe { copy::run(dest.wrapping_add(rank * len), payload, len) };
        }
    }
    all_began(call.team, number);
    0
}

/// `shmem_collect`: as [`fcollect`], with as many bytes as each member likes.
///
/// # Safety
/// The destination has room for all, and the source has `len` bytes.
pub(crate) unsafe fn collect(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
) -> c_int {
    let what = *what;
    let runtime = runtime::get(what);
    let Some(team) = team::find(runtime, team) else {
        return -1;
    };
    let place = runtime.locate(dest.addr(), 0).unwrap_or(0);
    runtime
        .debug
        .compare_arguments(runtime, what, team, [place, 0, 0]);
    // First every member sends its length, and as much of its data as fits.
    let number = begin(runtime, what, team);
    let tag = Tag::new(Kind::Collect, 0);
    // SAFETY: as the caller promises.
    let lens = unsafe { exchange_lens(runtime, what, team, number, tag, (source, len)) };
    all_began(team, number);
    let all = lens
        .iter()
        .fold(0usize, |sum, len| sum.saturating_add(*len));
    let start = |rank: usize| lens[..rank].iter().sum::<usize>();
    let dest_offset = match all {
        0 => return 0,
        all => symmetric(runtime, what, "the destination", dest, all),
    };
    if let Some(race) = runtime.debug.race() {
        let mine = Footprint::run(dest_offset + start(team.rank), len);
        let destinations = (0..team.size()).map(|rank| (rank, mine));
        let source = runtime.locate(source as usize, len);
        let source = source.map(|source| Footprint::run(source, len));
        race.collective(
            runtime,
            what,
            team.meeting(),
            Flow::All,
            source,
            destinations,
        );
    }
    // SAFETY: room for all was checked; the source has `len` bytes.
    unsafe { core::ptr::copy(source, dest.wrapping_add(start(team.rank)), len) };
    for rank in (0..team.size()).filter(|rank| *rank != team.rank && lens[*rank] <= ROOM) {
        let payload = receive(runtime, what, team, number, rank, tag);
        // SAFETY: as above; a member that has no more than that put it behind its length.
        unsafe {
            copy::run(
                dest.wrapping_add(start(rank)),
                payload.wrapping_add(8),
                lens[rank],
            )
        };
    }
    // Then those who have more store it.
    if lens.iter().all(|len| *len <= ROOM) {
        return 0;
    }
    let number = begin(runtime, what, team);
    if len > ROOM {
        let offset = dest_offset + start(team.rank);
        for rank in others(team) {
            // SAFETY: room for all was checked, here as there.
            unsafe { put_at(runtime, what, team.members[rank], offset, source, len) };
            // SAFETY: no bytes.
            unsafe { send(runtime, what, team, number, rank, tag, EMPTY) };
        }
    }
    for rank in others(team).filter(|rank| lens[*rank] > ROOM) {
        receive(runtime, what, team, number, rank, tag);
    }
    0
}

/// The bytes that fit into a line beside the length.
const ROOM: usize = PAYLOAD_BYTES - 8;

/// Says how much this PE has, and as much of it as there is room for. Returns what all have.
///
/// # Safety
/// The source has `len` bytes.
unsafe fn exchange_lens(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    number: u64,
    tag: Tag,
    (source, len): (*const u8, usize),
) -> Vec<usize> {
    let mut words = [0u64; PAYLOAD_BYTES / 8];
    words[0] = len as u64;
    let small = len <= ROOM;
    if small {
        // SAFETY: the source has `len` bytes, which fit behind the length.
        unsafe { copy::run(words[1..].as_mut_ptr().cast(), source, len) };
    }
    let bytes = if small { 8 + len } else { 8 };
    for rank in others(team) {
        let line = (words.as_ptr().cast(), bytes);
        // SAFETY: at most a whole payload.
        unsafe { send(runtime, what, team, number, rank, tag, line) };
    }
    let mut lens = vec![0; team.size()];
    lens[team.rank] = len;
    for rank in others(team) {
        let payload = receive(runtime, what, team, number, rank, tag);
        // SAFETY: the payload is aligned, and begins with the length.
        lens[rank] = unsafe { payload.cast::<u64>().read() } as usize;
    }
    lens
}

/// `shmem_alltoall`.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn alltoall(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    len: usize,
) -> c_int {
    let what = *what;
    let size = team::find(runtime::get(what), team).map_or(0, TeamState::size);
    let all = len.saturating_mul(size);
    let Some(call) = Call::new(what, team, (dest, all), (source, all), 0) else {
        return -1;
    };
    let mine = call.team.rank * len;
    let destinations = (0..size).map(|rank| (rank, Footprint::run(call.dest + mine, len)));
    call.comes(Flow::All, Footprint::run(call.source, all), destinations);
    let number = call.begin();
    let tag = Tag::new(Kind::Alltoall, len);
    let small = len <= PAYLOAD_BYTES;
    for rank in others(call.team) {
        let block = source.wrapping_add(rank * len);
        if !small {
            // SAFETY: both buffers were checked.
            unsafe { call.put(rank, call.dest + mine, block, len) };
        }
        let payload = if small { (block, len) } else { EMPTY };
        // SAFETY: each block has `len` bytes.
        unsafe { call.send(number, rank, tag, payload) };
    }
    // SAFETY: `len` bytes for each member, in both.
    unsafe { core::ptr::copy(source.wrapping_add(mine), dest.wrapping_add(mine), len) };
    for rank in others(call.team) {
        let payload = call.receive(number, rank, tag);
        if small {
            // SAFETY: as above.
            unsafe { copy::run(dest.wrapping_add(rank * len), payload, len) };
        }
    }
    all_began(call.team, number);
    0
}

/// `shmem_alltoalls`. `strides` are those of the destination and the source in elements,
/// and the bytes of an element.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn alltoalls(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    (dst, sst, element): (isize, isize, usize),
    nelems: usize,
) -> c_int {
    let what = *what;
    if dst < 1 || sst < 1 {
        crate::fail::fatal(what, "strides have to be at least 1");
    }
    let size = team::find(runtime::get(what), team).map_or(0, TeamState::size);
    let (dst, sst) = (dst as usize * element, sst as usize * element);
    let span = |step: usize| match nelems.saturating_mul(size) {
        0 => 0,
        count => step.saturating_mul(count - 1).saturating_add(element),
    };
    let buffers = ((dest, span(dst)), (source, span(sst)));
    let Some(call) = Call::new(what, team, buffers.0, buffers.1, dst << 32 ^ sst) else {
        return -1;
    };
    let mine = call.team.rank * nelems;
    let elements = |start: usize, stride: usize, count: usize| Footprint {
        start,
        block_bytes: element,
        stride_bytes: stride as isize,
        blocks: count,
    };
    let destinations = (0..size).map(|rank| (rank, elements(call.dest + mine * dst, dst, nelems)));
    let source_elements = elements(call.source, sst, nelems * size);
    call.comes(Flow::All, source_elements, destinations);
    let number = call.begin();
    let tag = Tag::new(Kind::Alltoalls, nelems);
    for rank in others(call.team) {
        for index in 0..nelems {
            let from = source.wrapping_add((rank * nelems + index) * sst);
            // SAFETY: in the spans that were checked.
            unsafe { call.put(rank, call.dest + (mine + index) * dst, from, element) };
        }
        // SAFETY: no bytes.
        unsafe { call.send(number, rank, tag, EMPTY) };
    }
    for index in mine..mine + nelems {
        let (to, from) = (
            dest.wrapping_add(index * dst),
            source.wrapping_add(index * sst),
        );
        // SAFETY: in the spans that were checked.
        unsafe { core::ptr::copy(from, to, element) };
    }
    for rank in others(call.team) {
        call.receive(number, rank, tag);
    }
    all_began(call.team, number);
    0
}

/// Reductions.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn reduce<Op: 'static, T: Reduce<Op>>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    count: usize,
) -> c_int {
    let combine = Combine::of::<Op, T>();
    // SAFETY: as the caller promises; the element is that of `combine`.
    unsafe {
        fold(
            what,
            team,
            dest.cast(),
            source.cast(),
            count,
            combine,
            Mode::Reduce,
        )
    }
}

/// Scans: of the values up to this rank, with the own one or without.
///
/// # Safety
/// No conditions beyond those that it checks.
pub(crate) unsafe fn scan<Op: 'static, T: Reduce<Op>>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    count: usize,
    inclusive: bool,
) -> c_int {
    let combine = Combine::of::<Op, T>();
    let mode = match inclusive {
        true => Mode::Inclusive,
        false => Mode::Exclusive,
    };
    // SAFETY: as the caller promises; the element is that of `combine`.
    unsafe { fold(what, team, dest.cast(), source.cast(), count, combine, mode) }
}

/// Values in private memory, aligned as any element.
#[repr(align(64))]
struct Values(MaybeUninit<[u8; STAGE_BYTES]>);

impl Values {
    fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    fn at(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

unsafe fn fold(
    what: What,
    team: Team,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    combine: Combine,
    mode: Mode,
) -> c_int {
    let what = *what;
    let len = count.saturating_mul(combine.element_bytes);
    let Some(call) = Call::new(
        what,
        team,
        (dest, len),
        (source, len),
        combine.element_bytes,
    ) else {
        return -1;
    };
    let rank = call.team.rank;
    let (kind, flow, first) = match mode {
        Mode::Reduce => (Kind::Reduce, Flow::All, 0),
        Mode::Inclusive | Mode::Exclusive => (Kind::Scan, Flow::Up, rank),
    };
    let destinations = (first..call.team.size()).map(|rank| (rank, Footprint::run(call.dest, len)));
    call.comes(flow, Footprint::run(call.source, len), destinations);
    let tag = Tag::new(kind, len);
    if len <= line::room(call.runtime) {
        // SAFETY: both buffers have `len` bytes.
        unsafe { fold_small(&call, dest, source, count, combine, mode, tag) };
        return 0;
    }
    // Everybody has come: sources may be read and destinations written.
    let number = call.begin();
    others(call.team).for_each(|rank| {
        // SAFETY: no bytes.
        unsafe { call.send(number, rank, tag, EMPTY) };
    });
    others(call.team).for_each(|rank| {
        call.receive(number, rank, tag);
    });
    all_began(call.team, number);
    let sources = owner::Fold {
        runtime: call.runtime,
        what,
        members: &call.team.members,
        rank: call.team.rank,
        dest: call.dest,
        source: call.source,
        count,
        combine,
        mode,
    };
    // SAFETY: both buffers were checked, and all members are here until everybody is done.
    unsafe { sources.own_block() };
    let number = call.begin();
    others(call.team).for_each(|rank| {
        // SAFETY: no bytes.
        unsafe { call.send(number, rank, tag, EMPTY) };
    });
    others(call.team).for_each(|rank| {
        call.receive(number, rank, tag);
    });
    all_began(call.team, number);
    0
}

/// Data that fits into a line, or into its stage: every member gets all values, and
/// combines them itself.
///
/// # Safety
/// Both buffers have the elements.
unsafe fn fold_small(
    call: &Call,
    dest: *mut u8,
    source: *const u8,
    count: usize,
    combine: Combine,
    mode: Mode,
    tag: Tag,
) {
    let len = count * combine.element_bytes;
    let in_line = len <= PAYLOAD_BYTES;
    let (rank, size) = (call.team.rank, call.team.size());
    let number = call.begin();
    let all = mode == Mode::Reduce;
    for to in others(call.team).filter(|to| all || *to > rank) {
        let payload = if in_line { (source, len) } else { EMPTY };
        if !in_line {
            let (pe, stage) = (
                call.team.members[to],
                line::stage(call.runtime, call.team, number, rank),
            );
            // SAFETY: the source has `len` bytes, which fit the stage.
            unsafe { put_at(call.runtime, call.what, pe, stage, source, len) };
        }
        // SAFETY: the source has `len` bytes, which fit.
        unsafe { call.send(number, to, tag, payload) };
    }
    let ranks = match mode {
        Mode::Reduce => 0..size,
        Mode::Inclusive => 0..rank + 1,
        Mode::Exclusive => 0..rank,
    };
    let values = |from: usize| {
        let payload = call.receive(number, from, tag);
        match in_line {
            true => payload,
            false => {
                let stage = line::stage(call.runtime, call.team, number, from);
                call.runtime.own_at(stage)
            }
        }
    };
    // SAFETY: both buffers have the elements, and what others send has as many.
    unsafe { combine_ranks(dest, source, count, combine, (ranks, rank), values) };
    if all {
        all_began(call.team, number);
    }
}

/// Combines the values of these ranks in their order, of which one is this PE's, and stores the
/// result. The result of a member with none before it is zero.
///
/// # Safety
/// Both buffers have the elements, which fit a stage; `values` gives as many of other ranks.
pub(crate) unsafe fn combine_ranks(
    dest: *mut u8,
    source: *const u8,
    count: usize,
    combine: Combine,
    (ranks, rank): (Range<usize>, usize),
    values: impl Fn(usize) -> *const u8,
) {
    let len = count * combine.element_bytes;
    // Aligned, and safe from a destination that is the source.
    let (mut mine, mut sum) = (Values::new(), Values::new());
    let (mine, sum) = (mine.at(), sum.at());
    // SAFETY: `len` bytes, which fit.
    unsafe { copy::run(mine, source, len) };
    // SAFETY: as above.
    unsafe { sum.write_bytes(0, len) };
    for from in ranks {
        let values = match from == rank {
            true => mine.cast_const(),
            false => values(from),
        };
        if from == 0 {
            // SAFETY: `len` bytes, which fit.
            unsafe { copy::run(sum, values, len) };
        } else {
            // SAFETY: `count` elements at each, aligned.
            unsafe { (combine.function)(sum, sum, values, count) };
        }
    }
    // SAFETY: the destination has `len` bytes.
    unsafe { copy::run(dest, sum, len) };
}
