//! Communication contexts.
//!
//! Every operation is complete when it returns, or with the next quiet of the thread that
//! issued it, so a context carries no queue: it is the team that its PE numbers belong
//! to, and the options it was made with. If these numbers are those of the job, a bit of
//! its handle says so, and operations on it are as short as those on the default context.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicU64, Ordering};

use std::sync::{Mutex, PoisonError};

use crate::debug::race;
use crate::fail::fatal;
use crate::handle::{CTX_DEFAULT, CTX_INVALID, Ctx, Team};
use crate::runtime::{self, Runtime};
use crate::team::{self, TeamState};

/// `SHMEM_CTX_PRIVATE`, `SHMEM_CTX_SERIALIZED` and `SHMEM_CTX_NOSTORE`.
const OPTIONS: c_long = 1 | 2 | NOSTORE;
const NOSTORE: c_long = 4;
const ALIVE: u64 = u64::from_le_bytes(*b"hwcontxt");

/// The object to which a `shmem_ctx_t` points.
#[derive(Debug)]
pub struct Context {
    alive: AtomicU64,
    team: Team,
    /// Its number in the detector of races.
    slot: u16,
}

// SAFETY: addresses of what lives as long as the process, given to C, whose threads share
// contexts; behind them are atomics and what never changes.
unsafe impl Sync for Context {}

static DEFAULT: Context = Context {
    alive: AtomicU64::new(ALIVE),
    team: crate::handle::TEAM_WORLD,
    slot: race::DEFAULT,
};

fn untagged(ctx: Ctx) -> *mut Context {
    ctx.0.map_addr(|address| address & !Ctx::OF_WORLD).cast()
}

fn find(what: &str, ctx: Ctx) -> &'static Context {
    if ctx == CTX_DEFAULT {
        return &DEFAULT;
    }
    let context = untagged(ctx);
    if ctx == CTX_INVALID || !context.addr().is_multiple_of(align_of::<Context>()) {
        fatal(what, "called with an invalid context");
    }
    // SAFETY: not null and aligned; made by `create` and not destroyed, or the program is
    // wrong in a way that cannot be noticed in C. What was destroyed stays allocated.
    let context = unsafe { &*context };
    if context.alive.load(Ordering::Relaxed) != ALIVE {
        fatal(what, "called with a context that was destroyed");
    }
    context
}

/// The team that PE numbers of `ctx` belong to.
#[inline]
pub(crate) fn team_of(runtime: &'static Runtime, what: &str, ctx: Ctx) -> &'static TeamState {
    if ctx == CTX_DEFAULT {
        return &runtime.world;
    }
    match team::find(runtime, find(what, ctx).team) {
        Some(team) => team,
        None => fatal(what, "called with a context whose team was destroyed"),
    }
}

/// The number of `ctx` in the detector of races, and whether its team is one of those that
/// share memory.
pub(crate) fn of_race(runtime: &'static Runtime, what: &str, ctx: Ctx) -> (u16, bool) {
    let team = team_of(runtime, what, ctx);
    (find(what, ctx).slot, team.is_of_shared)
}

/// The PE of the job for number `pe` in the team of `ctx`, if both are valid.
#[inline]
pub(crate) fn member(runtime: &'static Runtime, ctx: Ctx, pe: c_int) -> Option<c_int> {
    let context = untagged(ctx);
    if context.is_null() || !context.addr().is_multiple_of(align_of::<Context>()) {
        return None;
    }
    // SAFETY: not null and aligned; made by `create`, or the program is wrong in a way that cannot
    // be noticed in C. A context that was destroyed stays allocated.
    let context = unsafe { &*context };
    if context.alive.load(Ordering::Relaxed) != ALIVE {
        return None;
    }
    let team = team::find(runtime, context.team)?;
    let pe = *team.members().get(usize::try_from(pe).ok()?)?;
    c_int::try_from(pe).ok()
}

/// `shmem_ctx_create` and `shmem_team_create_ctx`. Contexts cost nothing, so there may
/// be as many as fit into memory.
///
/// # Safety
/// `ctx` can be written.
pub(crate) unsafe fn create(
    what: &'static str,
    team: Team,
    options: c_long,
    ctx: *mut Ctx,
) -> c_int {
    let runtime = runtime::get(what);
    let state = team::find(runtime, team).filter(|_| options & !OPTIONS == 0);
    let made = state.map_or(CTX_INVALID, |state| {
        let of_world = match state.is_like(&runtime.world) {
            true => Ctx::OF_WORLD,
            false => 0,
        };
        let race = runtime.debug.race();
        let slot = race.map_or(0, |race| race.context_made(options & NOSTORE != 0));
        Ctx(make(team, slot)
            .map_addr(|address| address | of_world)
            .cast())
    });
    // SAFETY: the caller promises that `ctx` can be written.
    unsafe { ctx.write(made) };
    state.is_none().into()
}

/// The addresses of contexts that were destroyed: they stay allocated, so that their use
/// is noticed, until new ones take their place.
static DESTROYED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

fn make(team: Team, slot: u16) -> *mut Context {
    let context = Context {
        alive: AtomicU64::new(ALIVE),
        team,
        slot,
    };
    let old = DESTROYED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop();
    match old {
        Some(address) => {
            let old = core::ptr::with_exposed_provenance_mut::<Context>(address);
            // SAFETY: made here, and destroyed: no correct program uses it.
            unsafe { old.write(context) };
            old
        }
        None => {
            let context = Box::into_raw(Box::new(context));
            context.expose_provenance();
            context
        }
    }
}

/// `shmem_ctx_destroy`: with an implicit quiet.
pub(crate) fn destroy(ctx: Ctx) {
    const WHAT: &str = "shmem_ctx_destroy";
    if ctx == CTX_INVALID {
        return;
    }
    if ctx == CTX_DEFAULT {
        fatal(WHAT, "the default context cannot be destroyed");
    }
    crate::remote::quiet(WHAT, ctx);
    let context = find(WHAT, ctx);
    if let Some(race) = runtime::get(WHAT).debug.race() {
        race.context_gone(context.slot);
    }
    context.alive.store(0, Ordering::Relaxed);
    DESTROYED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(untagged(ctx).expose_provenance());
}

/// `shmem_ctx_get_team`. Nonzero, and the invalid team, for the invalid context.
///
/// # Safety
/// `team` can be written.
pub(crate) unsafe fn get_team(ctx: Ctx, team: *mut Team) -> c_int {
    const WHAT: &str = "shmem_ctx_get_team";
    runtime::get(WHAT);
    let known = ctx != CTX_INVALID;
    let its = match known {
        true => find(WHAT, ctx).team,
        false => crate::handle::TEAM_INVALID,
    };
    // SAFETY: the caller promises that `team` can be written.
    unsafe { team.write(its) };
    (!known).into()
}

/// `shmem_ctx_session_start` and `shmem_ctx_session_stop`: hints, in any number and order.
/// A put is a store, so there is nothing to gather.
pub(crate) fn session(what: &'static str, ctx: Ctx) {
    runtime::get(what);
    if ctx != CTX_INVALID {
        find(what, ctx);
    }
}
