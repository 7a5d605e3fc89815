//! The members of a team meet here: barriers use flags, all other operations use lines.
//!
//! | in each segment, per slot | written by | |
//! |---|---|---|
//! | flag of round `k` | the member `2^k` ranks before | the number of the barrier |
//! | counter | all members, at rank 0 | stamp of the barrier and arrivals, where PEs share cores |
//! | release | the last to arrive | the number of the barrier |
//! | line `entry`, `rank` | that member | stamp, tag, 48 bytes |
//! | stage `entry`, `rank` | that member | 2 KiB that belong to the line; in jobs of up to 64 PEs |
//!
//! A line is valid if its stamp is that of the present operation; lines are never
//! cleared. An operation may use an entry again when all members have completed the
//! operation that used it before. This holds if all members are known to have *begun* a
//! later one; otherwise a barrier is put in between.

use std::sync::atomic::{AtomicU64, Ordering};

use hostwire::attachment::{Departure, Operation, Watch};
use hostwire::board::Activity;
use hostwire::{Error, PES_MAX};
use hostwire_transport::arrival::word_changes;

use crate::copy;
use crate::fail::fatal;
use crate::remote::{self, done, resolve, stored};
use crate::runtime::Runtime;
use crate::team::TeamState;

pub(crate) const LINE_BYTES: usize = 64;
/// Bytes of data in a line.
pub(crate) const PAYLOAD_BYTES: usize = 48;
const PAYLOAD: usize = LINE_BYTES - PAYLOAD_BYTES;
/// Rounds of a barrier of the largest job.
const ROUNDS: usize = PES_MAX.ilog2() as usize;
const COUNTER: usize = ROUNDS;
const RELEASE: usize = ROUNDS + 1;
const FIRST: usize = ROUNDS + 2;
/// Low bits of the counter in which a barrier counts who has come; the stamp is above them.
const ARRIVALS_BITS: u32 = PES_MAX.ilog2() + 1;
/// Operations that a member may be ahead of another.
const ENTRIES: u64 = 4;

/// Bytes of a stage.
pub(crate) const STAGE_BYTES: usize = 2 << 10;
/// Most PEs of a job that has stages: address space is not endless.
const STAGED_PES_MAX: u32 = 64;

/// Lines of one slot, the stages included.
pub(crate) fn slot_lines(pes: u32) -> usize {
    let entries = ENTRIES as usize * pes as usize;
    let stages = if has_stages(pes) {
        entries * STAGE_BYTES
    } else {
        0
    };
    FIRST + entries + stages / LINE_BYTES
}

/// Whether a job of so many PEs has stages.
pub(crate) fn has_stages(pes: u32) -> bool {
    pes <= STAGED_PES_MAX
}

/// Bytes that go with a line, in it or in the stage that belongs to it.
pub(crate) fn room(runtime: &Runtime) -> usize {
    match has_stages(runtime.attachment.pes()) {
        true => STAGE_BYTES,
        false => PAYLOAD_BYTES,
    }
}

/// Where the stage of `rank` for operation `number` is.
pub(crate) fn stage(runtime: &Runtime, team: &TeamState, number: u64, rank: usize) -> usize {
    let pes = runtime.attachment.pes() as usize;
    let entry = (number % ENTRIES) as usize;
    let lines = (FIRST + ENTRIES as usize * pes) * LINE_BYTES;
    slot(runtime, team.slot) + lines + (entry * pes + rank) * STAGE_BYTES
}

fn slot(runtime: &Runtime, slot: usize) -> usize {
    runtime.lines + slot * slot_lines(runtime.attachment.pes()) * LINE_BYTES
}

/// The operation of the writer of a line: its kind, and a number that has to be the same
/// at all members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag {
    kind: Kind,
    number: u64,
}

macro_rules! kinds {
    ($($name:ident = $code:literal $text:literal $unit:literal),* $(,)?) => {
        /// See [`Tag`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind { $($name = $code),* }

        /// The name of the operation with this code, and the unit of its number.
        fn describe(code: u8) -> (&'static str, &'static str) {
            match code {
                $($code => ($text, $unit),)*
                _ => ("something unknown", ""),
            }
        }
    };
}

kinds! {
    Start = 1 "shmem_init" "",
    Split = 2 "a split of the team" "",
    Malloc = 3 "shmem_malloc" " bytes",
    Free = 4 "shmem_free" " (offset in the heap)",
    Broadcast = 5 "shmem_broadcast" " bytes",
    Collect = 6 "shmem_collect" "",
    Fcollect = 7 "shmem_fcollect" " bytes",
    Alltoall = 8 "shmem_alltoall" " bytes",
    Alltoalls = 9 "shmem_alltoalls" " elements",
    Reduce = 10 "a reduction" " bytes",
    Scan = 11 "a scan" " bytes",
    Agree = 12 "a check of arguments" "",
    Realloc = 13 "shmem_realloc" " bytes",
    Answer = 14 "the end of a broadcast" " bytes",
    ActiveSet = 15 "an operation on an active set" "",
}

const NUMBER: u64 = (1 << 56) - 1;

impl Tag {
    pub(crate) fn new(kind: Kind, number: usize) -> Self {
        Self {
            kind,
            number: number as u64 & NUMBER,
        }
    }

    pub(crate) fn split() -> Self {
        Self::new(Kind::Split, 0)
    }

    fn word(self) -> u64 {
        (self.kind as u64) << 56 | self.number
    }
}

pub(crate) fn describe_word(word: u64) -> String {
    let (text, unit) = describe((word >> 56) as u8);
    match unit {
        "" => text.into(),
        unit => format!("{text} of {}{unit}", word & NUMBER),
    }
}

/// Where the line of `rank` for operation `number` is.
#[inline(always)]
fn line(runtime: &Runtime, team: &TeamState, number: u64, rank: usize) -> usize {
    let entry = (number % ENTRIES) as usize;
    slot(runtime, team.slot)
        + (FIRST + entry * runtime.attachment.pes() as usize + rank) * LINE_BYTES
}

/// The own word at `offset`.
#[inline(always)]
fn own_word(runtime: &Runtime, offset: usize) -> &AtomicU64 {
    // SAFETY: a word of the lines, in the own segment, aligned, only ever an atomic.
    unsafe { &*runtime.own_at(offset).cast() }
}

/// Changes to some other value that a wait looks at before it gets ready to wait longer.
/// Fitted.
const FIRST_CHANGES: u32 = 16;

/// Waits until a word of the own lines meets a condition. Members must neither die nor
/// leave.
#[inline(always)]
fn await_word(
    runtime: &Runtime,
    what: &str,
    watch: Watch<'_>,
    offset: usize,
    is_there: impl Fn(u64) -> bool,
) {
    await_word_or(runtime, what, watch, offset, is_there, || false);
}

/// As [`await_word`]; if a PE leaves during the wait, `is_over` says whether this does no
/// harm.
#[inline(always)]
fn await_word_or(
    runtime: &Runtime,
    what: &str,
    watch: Watch<'_>,
    offset: usize,
    is_there: impl Fn(u64) -> bool,
    is_over: impl Fn() -> bool,
) {
    let word = own_word(runtime, offset);
    for _ in 0..FIRST_CHANGES {
        let seen = word.load(Ordering::Acquire);
        if is_there(seen) {
            return;
        }
        if !word_changes(word, seen, runtime.attachment.spins()) {
            break;
        }
    }
    await_longer(runtime, what, watch, word, &is_there, &is_over);
}

#[cold]
#[inline(never)]
fn await_longer(
    runtime: &Runtime,
    what: &str,
    watch: Watch<'_>,
    word: &AtomicU64,
    is_there: &dyn Fn(u64) -> bool,
    is_over: &dyn Fn() -> bool,
) {
    let doing = match what {
        "shmem_barrier_all" => Activity::Barrier,
        "shmem_finalize" => Activity::Finalizing,
        _ => Activity::Collective,
    };
    runtime.attachment.activity(doing, None);
    let met = runtime.attachment.wait(watch, || {
        Ok(is_there(word.load(Ordering::Acquire)).then_some(()))
    });
    match (watch, met) {
        // At the end, a member that has passed knows that all have arrived.
        (Watch::TheEnd(_), Err(Error::PeerLeft { pe } | Error::PeerLost { pe, .. }))
            if runtime.attachment.departure(pe) == Ok(Some(Departure::Gone)) => {}
        (_, Err(Error::PeerLeft { .. })) if is_over() => {}
        (_, met) => done(what, met),
    }
    runtime.attachment.activity(Activity::Computing, None);
}

/// Stores one word into the lines of `rank`, after everything stored before. It does no harm
/// if the PE has seen the word and left before this returns, or if it has died: the caller
/// then waits for all members, and learns it there.
#[inline(always)]
fn put_word(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    rank: usize,
    offset: usize,
    value: u64,
) {
    let pe = team.members[rank];
    match resolve(runtime, pe, offset) {
        Some(at) => {
            // SAFETY: a word of the lines of `pe`, aligned, only ever an atomic.
            let word = unsafe { &*at.cast::<AtomicU64>() };
            word.store(value, Ordering::Release);
            remote::wake(runtime, pe);
        }
        None => match runtime.attachment.put_word(pe, offset, value) {
            Err(Error::PeerLost { .. }) => {}
            told => done(what, told),
        },
    }
}

/// If some PEs are not in reach, waits until all stores to them have arrived.
#[inline]
fn quiet(runtime: &Runtime, what: &str) {
    if runtime.mapped.is_none() {
        done(what, runtime.attachment.quiet());
    }
}

/// Waits for all members. All their earlier stores have then arrived.
#[inline]
pub(crate) fn barrier(runtime: &Runtime, what: &'static str, team: &TeamState) {
    quiet(runtime, what);
    // In reach, the flags below are stored after all data, and no member passes before
    // it has seen them.
    sync(runtime, what, team);
}

/// Waits for all PEs to initialise the library again. A PE that is still leaving from the
/// last time will come; only a dead PE will not.
pub(crate) fn sync_again(runtime: &Runtime, what: &'static str) {
    // A PE that has passed must not treat this one as a PE that has left.
    quiet(runtime, what);
    let team = &runtime.world;
    let (members, next) = (&team.members[..], runtime.attachment.pe());
    meet(runtime, what, team, Watch::Next { members, next });
}

/// Waits for all members.
#[inline]
pub(crate) fn sync(runtime: &Runtime, what: &'static str, team: &TeamState) {
    runtime.debug.before_barrier(runtime, what, team);
    meet(runtime, what, team, Watch::All(&team.members));
}

/// The last barrier of the job: a PE that has passed it may have ended.
pub(crate) fn last_barrier(runtime: &Runtime, what: &'static str) {
    quiet(runtime, what);
    // By the flags of another team than those that shmem_barrier_all uses: a PE that is
    // still in a barrier must not take this one for it, and learns that a member is
    // leaving.
    let team = &runtime.leaving;
    meet(runtime, what, team, Watch::TheEnd(&team.members));
}

#[inline]
fn meet(runtime: &Runtime, what: &'static str, team: &TeamState, watch: Watch<'_>) {
    let size = team.size();
    if size > 1 {
        let number = team.barriers.load(Ordering::Relaxed) + 1;
        team.barriers.store(number, Ordering::Relaxed);
        if runtime.crowded && size > 2 && runtime.mapped.is_some() {
            meet_crowded(runtime, what, team, watch, number);
        } else {
            meet_in_rounds(runtime, what, team, watch, number);
        }
    }
    let begun = team.operations.load(Ordering::Relaxed);
    team.known.store(begun + 1, Ordering::Relaxed);
}

/// Dissemination: in round `k` a member signals the one `2^k` ranks after it and waits
/// for the one `2^k` ranks before it.
#[inline]
fn meet_in_rounds(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    watch: Watch<'_>,
    number: u64,
) {
    let (size, stamp) = (team.size(), team.stamp(number));
    let mut round = 0;
    while 1 << round < size {
        let to = team.rank + (1 << round);
        let to = if to >= size { to - size } else { to };
        let flag = slot(runtime, team.slot) + round * LINE_BYTES;
        put_word(runtime, what, team, to, flag, stamp);
        // Other members may have passed and leave, but not the one whose signal this
        // one needs.
        let watch = match watch {
            Watch::All(members) => Watch::Next {
                members,
                next: team.members[(team.rank + size - (1 << round)) % size],
            },
            watch => watch,
        };
        await_word(runtime, what, watch, flag, |got| got >= stamp);
        round += 1;
    }
}

/// If PEs share cores, each of them should be scheduled only once: all count themselves
/// at rank 0, and the last one to arrive informs the others.
#[cold]
fn meet_crowded(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    watch: Watch<'_>,
    number: u64,
) {
    let (size, stamp) = (team.size(), team.stamp(number));
    let counter = slot(runtime, team.slot) + COUNTER * LINE_BYTES;
    let release = slot(runtime, team.slot) + RELEASE * LINE_BYTES;
    let first = team.members[0];
    let Some(at) = resolve(runtime, first, counter) else {
        return meet_in_rounds(runtime, what, team, watch, number);
    };
    // SAFETY: a word of the lines, aligned, only ever an atomic.
    let counter = unsafe { &*at.cast::<AtomicU64>() };
    // It never decreases, also for later teams and barriers: a member that is late and reads it
    // once more sees that its own barrier is over.
    let nobody = stamp << ARRIVALS_BITS;
    let all = nobody + size as u64;
    let (Ok(before) | Err(before)) =
        counter.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |count| {
            Some(count.max(nobody) + 1)
        });
    if before.max(nobody) + 1 == all {
        for rank in (0..size).filter(|rank| *rank != team.rank) {
            put_word(runtime, what, team, rank, release, stamp);
        }
    } else {
        // A member that has passed may leave before this one is informed. But then it and
        // all others have counted themselves. So if a member leaves while some are still
        // missing, the barrier never ends.
        let all_came = || counter.load(Ordering::Acquire) >= all;
        await_word_or(runtime, what, watch, release, |got| got >= stamp, all_came);
    }
}

/// Begins an operation by lines and returns its number.
#[inline]
pub(crate) fn begin(runtime: &Runtime, what: &'static str, team: &TeamState) -> u64 {
    let number = team.operations.load(Ordering::Relaxed) + 1;
    if number >= team.known.load(Ordering::Relaxed) + ENTRIES {
        meet(runtime, what, team, Watch::All(&team.members));
    }
    team.operations.store(number, Ordering::Relaxed);
    number
}

/// Notes that all members have begun operation `number`. Either all members call this or
/// none, because they have to agree when [`begin`] puts a barrier in between.
#[inline]
pub(crate) fn all_began(team: &TeamState, number: u64) {
    team.known.store(number, Ordering::Relaxed);
}

/// Stores a line of operation `number` to `rank`, after everything stored to it before.
///
/// # Safety
/// `len` bytes at `payload`, at most [`PAYLOAD_BYTES`].
#[inline]
pub(crate) unsafe fn send(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    number: u64,
    rank: usize,
    tag: Tag,
    (payload, len): (*const u8, usize),
) {
    debug_assert!(len <= PAYLOAD_BYTES);
    let (pe, offset) = (team.members[rank], line(runtime, team, number, team.rank));
    let stamp = team.stamp(number);
    match resolve(runtime, pe, offset) {
        Some(at) => {
            let word = |index: usize| {
                let at = at.wrapping_add(index * 8).cast::<AtomicU64>();
                // SAFETY: stamp and tag of a line in the segment of `pe`: aligned, and only
                // ever atomics.
                unsafe { &*at }
            };
            word(1).store(tag.word(), Ordering::Relaxed);
            // SAFETY: the rest of the line, which this PE alone writes; the caller has the
            // payload, and it fits.
            unsafe { copy::to_peer(at.wrapping_add(PAYLOAD), payload, len) };
            word(0).store(stamp, Ordering::Release);
            stored(runtime, what, pe);
        }
        None => {
            let mut bytes = [0; LINE_BYTES - 8];
            bytes[..8].copy_from_slice(&tag.word().to_le_bytes());
            // SAFETY: as the caller promises; 48 bytes fit behind the tag.
            unsafe { core::ptr::copy_nonoverlapping(payload, bytes[8..].as_mut_ptr(), len) };
            done(what, runtime.attachment.fence());
            let wire = runtime.attachment.wire();
            done(what, wire.store_line(pe, offset, stamp, &bytes[..8 + len]));
        }
    }
}

/// Waits for the line of `rank` of operation `number`, and returns its payload. It stays
/// until the operation is over.
#[inline]
pub(crate) fn receive(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    number: u64,
    rank: usize,
    tag: Tag,
) -> *const u8 {
    let offset = line(runtime, team, number, rank);
    let stamp = team.stamp(number);
    // Others may be done with it and be leaving; who has to send must not.
    let watch = Watch::Next {
        members: &team.members,
        next: team.members[rank],
    };
    await_word(runtime, what, watch, offset, |got| got == stamp);
    let theirs = own_word(runtime, offset + 8).load(Ordering::Relaxed);
    if theirs != tag.word() {
        mismatch(what, team, rank, theirs, tag);
    }
    runtime.own_at(offset + PAYLOAD)
}

#[cold]
fn mismatch(what: &str, team: &TeamState, rank: usize, theirs: u64, ours: Tag) -> ! {
    fatal(
        what,
        format_args!(
            "the PEs disagree: PE {} is in {}, this PE in {}",
            team.members[rank],
            describe_word(theirs),
            describe_word(ours.word())
        ),
    )
}

/// The other members, those behind this one first: so not all begin with the same.
#[inline]
pub(crate) fn others(team: &TeamState) -> impl Iterator<Item = usize> {
    let (size, rank) = (team.size(), team.rank);
    (rank + 1..size).chain(0..rank)
}

/// Every member sends a few words to all others; `each` gets them, in any order. Ends
/// like a barrier.
pub(crate) fn exchange<const N: usize>(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    tag: Tag,
    words: &[u64; N],
    mut each: impl FnMut(usize, &[u64; N]),
) {
    const { assert!(N * 8 <= PAYLOAD_BYTES) };
    quiet(runtime, what);
    let number = begin(runtime, what, team);
    for rank in others(team) {
        // SAFETY: `N` words, which fit.
        unsafe {
            send(
                runtime,
                what,
                team,
                number,
                rank,
                tag,
                (words.as_ptr().cast(), N * 8),
            )
        };
    }
    for rank in others(team) {
        let payload = receive(runtime, what, team, number, rank, tag);
        // SAFETY: the payload is aligned to 16 bytes and has room for `N` words; its
        // writer is done with it.
        let theirs = unsafe { payload.cast::<[u64; N]>().read() };
        each(rank, &theirs);
    }
    all_began(team, number);
}

/// A barrier of all PEs in which they compare what they are about to do.
pub(crate) fn agree(runtime: &Runtime, what: &'static str, kind: Kind, number: usize) {
    let tag = Tag::new(kind, number);
    exchange(
        runtime,
        what,
        &runtime.world,
        tag,
        &[],
        |_, _: &[u64; 0]| {},
    );
    if let Some(race) = runtime.debug.race() {
        race.barrier(runtime, what, runtime.world.meeting());
    }
}

/// Adds to a word of `pe` and returns the old value.
pub(crate) fn add(runtime: &Runtime, what: &'static str, pe: u32, offset: usize, by: i64) -> u64 {
    remote::atomic_at(runtime, what, pe, offset, 8, Operation::Add, by as u64, 0)
}
