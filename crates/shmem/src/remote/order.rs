//! The long way of fences and quiets.

use core::ffi::c_int;

use hostwire::PeId;

use super::{done, target};
use crate::context;
use crate::handle::{CTX_INVALID, Ctx};
use crate::runtime;

/// The long way of a fence. Does nothing on the invalid context.
#[cold]
pub(crate) fn fence(what: &'static str, ctx: Ctx) {
    let runtime = runtime::get(what);
    if ctx == CTX_INVALID {
        return;
    }
    context::team_of(runtime, what, ctx);
    if let Some(race) = runtime.debug.race() {
        race.fence(runtime, what, context::of_race(runtime, what, ctx).0);
    }
    done(what, runtime.attachment.fence());
}

/// The long way of a quiet. Does nothing on the invalid context.
#[cold]
pub(crate) fn quiet(what: &'static str, ctx: Ctx) {
    let runtime = runtime::get(what);
    if ctx == CTX_INVALID {
        return;
    }
    context::team_of(runtime, what, ctx);
    if let Some(race) = runtime.debug.race() {
        race.quiet(runtime, what, context::of_race(runtime, what, ctx).0);
    }
    done(what, runtime.attachment.quiet());
}

/// `shmem_pe_quiet`.
///
/// # Safety
/// `npes` numbers at `target_pes`.
pub(crate) unsafe fn pe_quiet(ctx: Ctx, target_pes: *const c_int, npes: usize) {
    const WHAT: &str = "shmem_pe_quiet";
    let runtime = runtime::get(WHAT);
    if npes == 0 || ctx == CTX_INVALID {
        return;
    }
    let targets = (0..npes).map(|index| {
        // SAFETY: as the caller promises.
        let pe = unsafe { target_pes.wrapping_add(index).read() };
        target(runtime, WHAT, ctx, pe)
    });
    // All of them first: one that does not exist ends the job.
    let pes: Vec<PeId> = targets.collect();
    if let Some(race) = runtime.debug.race() {
        let slot = context::of_race(runtime, WHAT, ctx).0;
        race.pe_quiet(runtime, WHAT, slot, &pes);
    }
    for pe in pes {
        done(WHAT, runtime.attachment.quiet_of(pe));
    }
}
