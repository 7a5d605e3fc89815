//! Teams: the handles of C programs, and their rules, around those of [`hostwire::core`].

use core::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hostwire::attachment::Attachment;
use hostwire::core::{self as teams, Kind, Tag};
use hostwire::{Error, PeId};

use crate::debug::race::{self, Members};
use crate::fail::fatal;
use crate::fast::What;
use crate::handle::{TEAM_INVALID, TEAM_SHARED, TEAM_WORLD, Team, TeamConfig};
use crate::remote::done;
use crate::runtime::{self, Runtime};

/// `SHMEM_TEAM_NUM_CONTEXTS`.
const NUM_CONTEXTS: c_long = 1;
const ALIVE: u64 = u64::from_le_bytes(*b"hwteam\0\0");

/// The object to which a `shmem_team_t` points.
#[derive(Debug)]
pub struct TeamState {
    alive: AtomicU64,
    /// Who is in it, and where they meet.
    pub(crate) core: teams::Team,
    config: TeamConfig,
    /// Whether it is `SHMEM_TEAM_SHARED` or was split from it.
    pub(crate) is_of_shared: bool,
}

/// The addresses of teams that the program has made.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// Teams that were destroyed; kept, so that their use is noticed.
    destroyed: Vec<usize>,
    /// Teams that live.
    live: Vec<usize>,
}

fn handles(runtime: &Runtime) -> MutexGuard<'_, Handles> {
    let handles: &Mutex<Handles> = &runtime.handles;
    handles.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TeamState {
    fn new(core: teams::Team, config: TeamConfig, is_of_shared: bool) -> Self {
        Self {
            alive: AtomicU64::new(ALIVE),
            core,
            config,
            is_of_shared,
        }
    }

    /// A predefined team: this PE is one of the members.
    pub(crate) fn predefined(
        attachment: &Attachment,
        slot: usize,
        members: Box<[PeId]>,
    ) -> hostwire::Result<Self> {
        let core = teams::Team::predefined(attachment, slot, members)?;
        let is_of_shared = slot == teams::team::SHARED;
        Ok(Self::new(core, TeamConfig::default(), is_of_shared))
    }

    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.core.size()
    }

    #[inline(always)]
    pub(crate) fn rank(&self) -> usize {
        self.core.rank()
    }

    /// The PEs, by rank.
    #[inline(always)]
    pub(crate) fn members(&self) -> &[PeId] {
        self.core.members()
    }

    /// Whether it has the same PEs as `other`, in the same order.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.members() == other.members()
    }

    /// The members that meet, for the detector of races.
    pub(crate) fn meeting(&self) -> Members<'_> {
        let members = self.members().iter().map(|pe| u64::from(*pe));
        let team = self.core.identity().into_iter().chain(members);
        Members {
            team: race::hash(team),
            members: self.members(),
            rank: self.rank(),
        }
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
    let team = unsafe { &*team.0.cast::<TeamState>() };
    (team.alive.load(Ordering::Relaxed) == ALIVE).then_some(team)
}

fn named(what: &str, team: Team) -> Option<&'static TeamState> {
    find(runtime::get(what), team)
}

pub(crate) fn my_pe(team: Team) -> c_int {
    named("shmem_team_my_pe", team).map_or(-1, |team| team.rank() as c_int)
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
        // SAFETY: not null, and the caller promises that it can be written then.
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
        // SAFETY: not null, and the caller promises that it is valid then.
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
        .and_then(|rank| from.members().get(rank));
    let Some(pe) = pe else {
        return -1;
    };
    to.core.rank_of(*pe).map_or(-1, |rank| rank as c_int)
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
    let (x, y) = (parent.rank() % width, parent.rank() / width);
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
/// one new team with the same ranks; different new teams have no member in common.
fn split(
    runtime: &'static Runtime,
    what: &'static str,
    parent: &TeamState,
    ranks: &[usize],
    config: TeamConfig,
) -> (c_int, Team) {
    let has_threads = runtime::may_have_threads();
    let core = match parent.core.split(&runtime.attachment, ranks, has_threads) {
        Err(Error::TooManyTeams { max }) => {
            crate::fail::say(&format!(
                "{what}: there are {max} teams already; destroy one first"
            ));
            return (-1, TEAM_INVALID);
        }
        made => done(what, made),
    };
    let Some(core) = core else {
        return (0, TEAM_INVALID);
    };
    let state = TeamState::new(core, config, parent.is_of_shared);
    let mut handles = handles(runtime);
    let address = match handles.destroyed.pop() {
        Some(address) => {
            let old = core::ptr::with_exposed_provenance_mut::<TeamState>(address);
            // SAFETY: made below, and destroyed: no correct program uses it.
            drop(unsafe { old.replace(state) });
            address
        }
        None => Box::into_raw(Box::new(state)).expose_provenance(),
    };
    handles.live.push(address);
    (0, Team(core::ptr::with_exposed_provenance_mut(address)))
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
    barrier(runtime, WHAT, state);
    forget(runtime, state, team.0.expose_provenance());
}

fn forget(runtime: &Runtime, state: &TeamState, address: usize) {
    let mut handles = handles(runtime);
    state.core.give_up(&runtime.attachment);
    handles.live.retain(|live| *live != address);
    handles.destroyed.push(address);
    state.alive.store(0, Ordering::Relaxed);
}

/// Destroys all teams that the program made: all PEs are in `shmem_finalize`.
pub(crate) fn forget_all(runtime: &Runtime) {
    let live = handles(runtime).live.clone();
    for address in live {
        let state = core::ptr::with_exposed_provenance::<TeamState>(address);
        // SAFETY: made by `split`, and lives.
        forget(runtime, unsafe { &*state }, address);
    }
}

/// Waits for all members. All their earlier stores have then arrived.
#[inline]
pub(crate) fn barrier(runtime: &Runtime, what: &'static str, team: &TeamState) {
    runtime.debug.before_barrier(runtime, what, team);
    done(what, team.core.barrier(&runtime.attachment));
}

/// Every member sends a few words to all others; `each` gets them, in any order. Ends like a
/// barrier.
pub(crate) fn exchange<const N: usize>(
    runtime: &Runtime,
    what: &'static str,
    team: &TeamState,
    tag: Tag,
    words: &[u64; N],
    each: impl FnMut(usize, &[u64; N]),
) {
    let exchanged = team.core.exchange(&runtime.attachment, tag, words, each);
    done(what, exchanged);
}

/// A barrier of all PEs in which they compare what they are about to do.
pub(crate) fn agree(runtime: &Runtime, what: &'static str, kind: Kind, number: usize) {
    let tag = Tag::new(kind, number);
    exchange(runtime, what, &runtime.world, tag, &[], |_, []| {});
    if let Some(race) = runtime.debug.race() {
        race.barrier(runtime, what, runtime.world.meeting());
    }
}

/// `shmem_barrier_all`.
#[inline]
pub(crate) fn barrier_all() {
    const WHAT: &str = "shmem_barrier_all";
    let runtime = runtime::get(WHAT);
    barrier(runtime, WHAT, &runtime.world);
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
    runtime.debug.before_barrier(runtime, what, team);
    done(what, team.core.sync(&runtime.attachment));
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
