//! Teams: who is in them, and the memory through which their members meet.
//!
//! A team has a *slot*, the same number at all its members, agreed on when it is made. In
//! each segment a slot has flags for barriers and *lines*, 64 bytes each: a stamp that
//! says to which operation the line belongs, a tag that names the operation of its
//! writer, and up to 48 bytes. There are `entries` of them per member and slot, so that a
//! member may be a few operations ahead.

use core::ffi::{c_int, c_long};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};

use hostwire::PeId;

use crate::debug::race::{self, Members};
use crate::fail::fatal;
use crate::fast::What;
use crate::handle::{TEAM_INVALID, TEAM_SHARED, TEAM_WORLD, Team, TeamConfig};
use crate::lifecycle;
use crate::line::{self, LINE_BYTES, Tag};
use crate::runtime::{self, Runtime};

/// Most teams at a time, the predefined ones included.
pub(crate) const SLOTS: usize = 256;
/// Slots of the predefined teams.
pub(crate) const WORLD_SLOT: usize = 0;
const SHARED_SLOT: usize = 1;
/// That of all PEs when they leave the job.
const LEAVING_SLOT: usize = 2;
/// `SHMEM_TEAM_NUM_CONTEXTS`.
const NUM_CONTEXTS: c_long = 1;
const ALIVE: u64 = u64::from_le_bytes(*b"hwteam\0\0");

/// The object to which a `shmem_team_t` points.
#[derive(Debug)]
pub struct TeamState {
    alive: AtomicU64,
    pub(crate) slot: usize,
    /// Stamps begin behind this value: earlier teams with this slot used no higher one.
    base: u64,
    pub(crate) rank: usize,
    /// The PEs, by rank.
    pub(crate) members: Box<[PeId]>,
    config: TeamConfig,
    /// Split from `SHMEM_TEAM_SHARED`, or that itself.
    pub(crate) is_of_shared: bool,
    /// Operations by lines that have begun here.
    pub(crate) operations: AtomicU64,
    /// An operation that all members are known to have begun.
    pub(crate) known: AtomicU64,
    pub(crate) barriers: AtomicU64,
}

/// Which slots this PE has in use.
#[derive(Debug)]
pub(crate) struct Slots {
    used: [u64; SLOTS / 64],
    /// The highest stamp of all teams that were destroyed.
    newest: u64,
    /// Teams that were destroyed; kept, so that their use is noticed.
    destroyed: Vec<usize>,
    /// Addresses of those that live.
    live: Vec<usize>,
}

impl Slots {
    pub(crate) fn new() -> Self {
        let mut used = [0; SLOTS / 64];
        used[0] = 1 << WORLD_SLOT | 1 << SHARED_SLOT | 1 << LEAVING_SLOT;
        Self {
            used,
            newest: 0,
            destroyed: Vec::new(),
            live: Vec::new(),
        }
    }

    /// Whether `slot` was free; it no longer is.
    fn take(&mut self, slot: usize) -> bool {
        let (word, bit) = (&mut self.used[slot / 64], 1 << (slot % 64));
        let was_free = *word & bit == 0;
        *word |= bit;
        was_free
    }

    fn give_back(&mut self, slot: usize) {
        self.used[slot / 64] &= !(1 << (slot % 64));
    }
}

impl TeamState {
    fn new(slot: usize, base: u64, members: Box<[PeId]>, rank: usize, config: TeamConfig) -> Self {
        Self {
            is_of_shared: slot == SHARED_SLOT,
            alive: AtomicU64::new(ALIVE),
            slot,
            base,
            rank,
            members,
            config,
            operations: AtomicU64::new(0),
            known: AtomicU64::new(1),
            barriers: AtomicU64::new(0),
        }
    }

    /// A predefined team: `pe` is one of the members.
    fn predefined(slot: usize, pe: PeId, members: Box<[PeId]>) -> Self {
        let rank = members.iter().position(|member| *member == pe);
        Self::new(slot, 0, members, rank.unwrap_or(0), TeamConfig::default())
    }

    pub(crate) fn world(pe: PeId, pes: u32) -> Self {
        Self::predefined(WORLD_SLOT, pe, (0..pes).collect())
    }

    /// Those whose memory `pe` reaches by loads and stores, itself included.
    pub(crate) fn shared(pe: PeId, members: Box<[PeId]>) -> Self {
        Self::predefined(SHARED_SLOT, pe, members)
    }

    pub(crate) fn leaving(pe: PeId, pes: u32) -> Self {
        Self::predefined(LEAVING_SLOT, pe, (0..pes).collect())
    }

    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.members.len()
    }

    /// The stamp of the operation with this number.
    #[inline(always)]
    pub(crate) fn stamp(&self, number: u64) -> u64 {
        self.base + number
    }

    /// Whether it has the same PEs as `other`, in the same order.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.members == other.members
    }

    /// The members that meet, for the detector of races.
    pub(crate) fn meeting(&self) -> Members<'_> {
        let members = self.members.iter().map(|pe| u64::from(*pe));
        let team = [self.slot as u64, self.base].into_iter().chain(members);
        Members {
            team: race::hash(team),
            members: &self.members,
            rank: self.rank,
        }
    }

    /// The highest stamp that it has used.
    fn newest(&self) -> u64 {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        self.stamp(count(&self.barriers).max(count(&self.operations)))
    }
}

/// The team behind a handle; `None` for the invalid one.
#[inline]
pub(crate) fn find(runtime: &'static Runtime, team: Team) -> Option<&'static TeamState> {
    if team == TEAM_WORLD {
        return Some(&runtime.world);
    }
    if team == TEAM_SHARED {
        return Some(&runtime.shared);
    }
    if team == TEAM_INVALID || !(team.0 as usize).is_multiple_of(align_of::<TeamState>()) {
        return None;
    }
    // SAFETY: not null and aligned; made by `split` and never given back, or the program
    // is wrong in a way that cannot be noticed in C.
    let team = unsafe { &*team.0 };
    (team.alive.load(Ordering::Relaxed) == ALIVE).then_some(team)
}

fn named(what: &str, team: Team) -> Option<&'static TeamState> {
    find(runtime::get(what), team)
}

pub(crate) fn my_pe(team: Team) -> c_int {
    named("shmem_team_my_pe", team).map_or(-1, |team| team.rank as c_int)
}

pub(crate) fn n_pes(team: Team) -> c_int {
    named("shmem_team_n_pes", team).map_or(-1, |team| team.size() as c_int)
}

/// `shmem_team_get_config`.
///
/// # Safety
/// `config` can be written, unless the mask is 0.
pub(crate) unsafe fn get_config(team: Team, config_mask: c_long, config: *mut TeamConfig) -> c_int {
    let Some(team) = named("shmem_team_get_config", team) else {
        return -1;
    };
    if config_mask & NUM_CONTEXTS != 0 && !config.is_null() {
        // SAFETY: as the caller promises.
        unsafe { config.write(team.config) };
    }
    0
}

/// The fields of `config` that the mask names; defaults for the others.
///
/// # Safety
/// `config` is valid if the mask names a field.
pub(crate) unsafe fn config(config: *const TeamConfig, mask: c_long) -> TeamConfig {
    if mask & NUM_CONTEXTS != 0 && !config.is_null() {
        // SAFETY: as the caller promises.
        unsafe { config.read() }
    } else {
        TeamConfig::default()
    }
}

pub(crate) fn translate_pe(src_team: Team, src_pe: c_int, dest_team: Team) -> c_int {
    const WHAT: &str = "shmem_team_translate_pe";
    let (Some(from), Some(to)) = (named(WHAT, src_team), named(WHAT, dest_team)) else {
        return -1;
    };
    let pe = usize::try_from(src_pe)
        .ok()
        .and_then(|rank| from.members.get(rank));
    let Some(pe) = pe else {
        return -1;
    };
    let rank = match to.slot {
        WORLD_SLOT => Some(*pe as usize),
        _ => to.members.iter().position(|member| member == pe),
    };
    rank.map_or(-1, |rank| rank as c_int)
}

/// `shmem_team_split_strided`: the code to return, and the team.
pub(crate) fn split_strided(
    parent: Team,
    (start, stride, size): (c_int, c_int, c_int),
    config: TeamConfig,
) -> (c_int, Team) {
    const WHAT: &str = "shmem_team_split_strided";
    let runtime = runtime::get(WHAT);
    let Some(parent) = find(runtime, parent) else {
        return (-1, TEAM_INVALID);
    };
    let fits = size > 0 && (stride != 0 || size == 1);
    let ranks: Option<Box<[usize]>> = (0..i64::from(size.max(0)))
        .take_while(|_| fits)
        .map(|index| {
            let rank = i64::from(start) + i64::from(stride) * index;
            usize::try_from(rank)
                .ok()
                .filter(|rank| *rank < parent.size())
        })
        .collect();
    match ranks {
        Some(ranks) if !ranks.is_empty() => split(runtime, WHAT, parent, &ranks, config),
        _ => (-1, TEAM_INVALID),
    }
}

/// `shmem_team_split_2d`: the code to return, and the teams of both axes.
pub(crate) fn split_2d(
    parent: Team,
    xrange: c_int,
    x_config: TeamConfig,
    y_config: TeamConfig,
) -> (c_int, Team, Team) {
    const WHAT: &str = "shmem_team_split_2d";
    let invalid = (-1, TEAM_INVALID, TEAM_INVALID);
    let runtime = runtime::get(WHAT);
    let (Some(parent), Ok(width)) = (find(runtime, parent), usize::try_from(xrange)) else {
        return invalid;
    };
    if width == 0 {
        return invalid;
    }
    let width = width.min(parent.size());
    let (x, y) = (parent.rank % width, parent.rank / width);
    let row: Box<[usize]> = (0..width)
        .map(|x| y * width + x)
        .filter(|rank| *rank < parent.size())
        .collect();
    let column: Box<[usize]> = (x..parent.size()).step_by(width).collect();
    let (x_code, x_team) = split(runtime, WHAT, parent, &row, x_config);
    let (y_code, y_team) = split(runtime, WHAT, parent, &column, y_config);
    if x_code | y_code != 0 {
        [x_team, y_team]
            .into_iter()
            .filter(|team| *team != TEAM_INVALID)
            .for_each(destroy);
        return invalid;
    }
    (0, x_team, y_team)
}

/// Makes a team of these ranks of `parent`. All members of the parent call it, those of
/// one new team with the same ranks; different new teams have no member in common, and so
/// may have the same slot.
fn split(
    runtime: &'static Runtime,
    what: &'static str,
    parent: &TeamState,
    ranks: &[usize],
    config: TeamConfig,
) -> (c_int, Team) {
    let rank = ranks.iter().position(|rank| *rank == parent.rank);
    let Some((slot, base)) = agree_on_slot(runtime, what, parent, rank.is_some()) else {
        crate::fail::say(&format!(
            "{what}: there are {SLOTS} teams already; destroy one first"
        ));
        return (-1, TEAM_INVALID);
    };
    let Some(rank) = rank else {
        return (0, TEAM_INVALID);
    };
    let members = ranks.iter().map(|rank| parent.members[*rank]).collect();
    let mut state = TeamState::new(slot, base, members, rank, config);
    state.is_of_shared = parent.is_of_shared;
    let mut slots = runtime.slots.lock().unwrap_or_else(PoisonError::into_inner);
    let address = match slots.destroyed.pop() {
        Some(address) => {
            let old = core::ptr::with_exposed_provenance_mut::<TeamState>(address);
            // SAFETY: made below, and destroyed: no correct program uses it.
            drop(unsafe { old.replace(state) });
            address
        }
        None => Box::into_raw(Box::new(state)).expose_provenance(),
    };
    slots.live.push(address);
    (0, Team(core::ptr::with_exposed_provenance_mut(address)))
}

/// The words that members of a team exchange to agree on a slot.
#[derive(Debug, Clone, Copy)]
struct Knowledge {
    used: [u64; SLOTS / 64],
    /// The highest stamp of the teams that any of them has destroyed.
    newest: u64,
    /// Whether threads may split other teams at the same time, or that a slot was lost
    /// to one of them.
    contended: bool,
}

impl Knowledge {
    fn exchange(mut self, runtime: &Runtime, what: &'static str, team: &TeamState) -> Self {
        let used = self.used;
        let last = [self.newest, u64::from(self.contended)];
        let words: [u64; 6] = [used[0], used[1], used[2], used[3], last[0], last[1]];
        let tag = Tag::split();
        line::exchange(runtime, what, team, tag, &words, |_, theirs: &[u64; 6]| {
            (self.used.iter_mut().zip(theirs)).for_each(|(ours, theirs)| *ours |= theirs);
            self.newest = self.newest.max(theirs[4]);
            self.contended |= theirs[5] != 0;
        });
        self
    }

    /// The first free slot from `start` on.
    fn free_from(&self, start: usize) -> Option<usize> {
        (start..SLOTS + start)
            .map(|slot| slot % SLOTS)
            .find(|slot| self.used[slot / 64] >> (slot % 64) & 1 == 0)
    }
}

/// A slot that is free at all members of `parent`, and in use from now on at those that
/// are `inside` a new team, and what its stamps begin behind. `None` if there is none.
fn agree_on_slot(
    runtime: &Runtime,
    what: &'static str,
    parent: &TeamState,
    inside: bool,
) -> Option<(usize, u64)> {
    let slots = || runtime.slots.lock().unwrap_or_else(PoisonError::into_inner);
    let mut start = 0;
    loop {
        let (used, newest) = {
            let slots = slots();
            (slots.used, slots.newest)
        };
        let known = Knowledge {
            used,
            newest,
            contended: lifecycle::may_have_threads(),
        };
        let agreed = known.exchange(runtime, what, parent);
        let free = agreed.free_from(start);
        let (taken, newest) = {
            let mut slots = slots();
            let taken = !inside || free.is_some_and(|slot| slots.take(slot));
            (taken, slots.newest)
        };
        let slot = free?;
        if !agreed.contended {
            return Some((slot, agreed.newest));
        }
        // Another thread of some member may have taken it for another team meanwhile, or even
        // have given it back again.
        let lost = Knowledge {
            contended: !taken,
            newest,
            ..agreed
        };
        let lost = lost.exchange(runtime, what, parent);
        if !lost.contended {
            return Some((slot, lost.newest));
        }
        if inside && taken {
            slots().give_back(slot);
        }
        // Elsewhere than those that split other teams.
        start = (start + 1 + parent.slot * 5) % SLOTS;
    }
}

/// `shmem_team_destroy`. Nothing for the invalid team.
pub(crate) fn destroy(team: Team) {
    const WHAT: &str = "shmem_team_destroy";
    let runtime = runtime::get(WHAT);
    if team == TEAM_INVALID {
        return;
    }
    if team == TEAM_WORLD || team == TEAM_SHARED {
        fatal(WHAT, "a predefined team cannot be destroyed");
    }
    let Some(state) = find(runtime, team) else {
        fatal(WHAT, "called with a team that was destroyed");
    };
    // No member has an operation under way in the slot when it is released.
    line::barrier(runtime, WHAT, state);
    forget(runtime, state, team.0.expose_provenance());
}

fn forget(runtime: &Runtime, state: &TeamState, address: usize) {
    let mut slots = runtime.slots.lock().unwrap_or_else(PoisonError::into_inner);
    slots.newest = slots.newest.max(state.newest());
    slots.give_back(state.slot);
    slots.live.retain(|live| *live != address);
    slots.destroyed.push(address);
    state.alive.store(0, Ordering::Relaxed);
}

/// Destroys all teams that the program made: all PEs are in `shmem_finalize`.
pub(crate) fn forget_all(runtime: &Runtime) {
    let live = {
        let slots = runtime.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.live.clone()
    };
    for address in live {
        let state = core::ptr::with_exposed_provenance::<TeamState>(address);
        // SAFETY: made by `split`, and lives.
        forget(runtime, unsafe { &*state }, address);
    }
}

/// `shmem_barrier_all`.
#[inline]
pub(crate) fn barrier_all() {
    const WHAT: &str = "shmem_barrier_all";
    let runtime = runtime::get(WHAT);
    line::barrier(runtime, WHAT, &runtime.world);
    if let Some(race) = runtime.debug.race() {
        race.barrier(runtime, WHAT, runtime.world.meeting());
    }
}

/// `shmem_sync_all`.
#[inline]
pub(crate) fn sync_all() {
    const WHAT: &str = "shmem_sync_all";
    let runtime = runtime::get(WHAT);
    sync_members(runtime, WHAT, &runtime.world);
}

fn sync_members(runtime: &Runtime, what: &'static str, team: &TeamState) {
    line::sync(runtime, what, team);
    if let Some(race) = runtime.debug.race() {
        race.sync(runtime, what, team.meeting());
    }
}

/// `shmem_team_sync`.
#[inline]
pub(crate) fn sync(what: What, team: Team) -> c_int {
    let runtime = runtime::get(what);
    match find(runtime, team) {
        Some(team) => {
            sync_members(runtime, what, team);
            0
        }
        None => -1,
    }
}

/// Bytes of the lines of all slots, in each segment.
pub(crate) fn lines_bytes(pes: u32) -> usize {
    SLOTS * line::slot_lines(pes) * LINE_BYTES
}
