//! The handles of C programs: contexts and teams, opaque. Only the modules that make them know what
//! is behind them.

use core::ffi::c_void;
use core::ptr::{null_mut, without_provenance_mut};

/// `shmem_ctx_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Ctx(pub(crate) *mut c_void);

impl Ctx {
    /// The bit of a context that says that it is of the world: contexts are aligned, so it is free.
    pub(crate) const OF_WORLD: usize = 1;

    /// Whether its PE numbers are those of the job. Then operations need not read the context.
    #[inline(always)]
    pub(crate) fn is_of_world(self) -> bool {
        self.0.addr() & Self::OF_WORLD != 0
    }
}

/// `SHMEM_CTX_DEFAULT`.
pub const CTX_DEFAULT: Ctx = Ctx(without_provenance_mut(1));
/// `SHMEM_CTX_INVALID`.
pub const CTX_INVALID: Ctx = Ctx(null_mut());

/// `shmem_team_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Team(pub(crate) *mut c_void);

/// `SHMEM_TEAM_INVALID`.
pub const TEAM_INVALID: Team = Team(null_mut());
/// `SHMEM_TEAM_WORLD`.
pub const TEAM_WORLD: Team = Team(without_provenance_mut(1));
/// `SHMEM_TEAM_SHARED`.
pub const TEAM_SHARED: Team = Team(without_provenance_mut(2));

/// `shmem_team_config_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct TeamConfig {
    /// Contexts that the team will need.
    pub num_contexts: core::ffi::c_int,
}

/// `shmem_ctx_session_config_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct SessionConfig {
    /// Operations that the session will have, at most.
    pub total_ops: usize,
}
