//! The long way of fences and quiets.

use core::ffi::c_int;

use hostwire::PeId;

use super::{done, target};
use crate::buffer::Array;
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
pub(crate) fn pe_quiet(ctx: Ctx, target_pes: Array<'_, c_int>) {
    const WHAT: &str = "shmem_pe_quiet";
    let runtime = runtime::get(WHAT);
    if target_pes.is_empty() || ctx == CTX_INVALID {
        return;
    }
    let targets = target_pes.iter().map(|pe| target(runtime, WHAT, ctx, pe));
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
