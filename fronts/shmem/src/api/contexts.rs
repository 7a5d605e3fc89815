//! Communication contexts and their sessions.

use core::ffi::{c_int, c_long};

use crate::context;
use crate::handle::{Ctx, SessionConfig, TEAM_WORLD, Team};

/// `shmem_ctx_create`.
pub unsafe fn ctx_create(options: c_long, ctx: *mut Ctx) -> c_int {
    // SAFETY: C programs promise that `ctx` can be written.
    unsafe { context::create("shmem_ctx_create", TEAM_WORLD, options, ctx) }
}

/// `shmem_team_create_ctx`.
pub unsafe fn team_create_ctx(team: Team, options: c_long, ctx: *mut Ctx) -> c_int {
    // SAFETY: C programs promise that `ctx` can be written.
    unsafe { context::create("shmem_team_create_ctx", team, options, ctx) }
}

/// `shmem_ctx_destroy`.
pub unsafe fn ctx_destroy(ctx: Ctx) {
    context::destroy(ctx);
}

/// `shmem_ctx_get_team`.
pub unsafe fn ctx_get_team(ctx: Ctx, team: *mut Team) -> c_int {
    // SAFETY: C programs promise that `team` can be written.
    unsafe { context::get_team(ctx, team) }
}

/// `shmem_ctx_session_start`.
pub unsafe fn ctx_session_start(
    ctx: Ctx,
    _options: c_long,
    _config: *const SessionConfig,
    _config_mask: c_long,
) {
    context::session("shmem_ctx_session_start", ctx);
}

/// `shmem_ctx_session_stop`.
pub unsafe fn ctx_session_stop(ctx: Ctx) {
    context::session("shmem_ctx_session_stop", ctx);
}
