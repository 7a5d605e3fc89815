//! Teams.

use core::ffi::{c_int, c_long};

use crate::fast::What;
use crate::handle::{Team, TeamConfig};
use crate::team;

/// `shmem_team_my_pe`. -1 for the invalid team.
#[inline]
pub unsafe fn team_my_pe(team: Team) -> c_int {
    team::my_pe(team)
}

/// `shmem_team_n_pes`. -1 for the invalid team.
#[inline]
pub unsafe fn team_n_pes(team: Team) -> c_int {
    team::n_pes(team)
}

/// `shmem_team_get_config`.
pub unsafe fn team_get_config(team: Team, config_mask: c_long, config: *mut TeamConfig) -> c_int {
    // SAFETY: C programs promise that `config` can be written, if the mask names a field.
    unsafe { team::get_config(team, config_mask, config) }
}

/// `shmem_team_translate_pe`.
#[inline]
pub unsafe fn team_translate_pe(src_team: Team, src_pe: c_int, dest_team: Team) -> c_int {
    team::translate_pe(src_team, src_pe, dest_team)
}

/// `shmem_team_split_strided`.
pub unsafe fn team_split_strided(
    parent_team: Team,
    start: c_int,
    stride: c_int,
    size: c_int,
    config: *const TeamConfig,
    config_mask: c_long,
    new_team: *mut Team,
) -> c_int {
    // SAFETY: C programs promise that `config` is valid, if the mask names a field.
    let config = unsafe { team::config(config, config_mask) };
    let (code, team) = team::split_strided(parent_team, (start, stride, size), config);
    // SAFETY: C programs promise that `new_team` can be written.
    unsafe { new_team.write(team) };
    code
}

/// `shmem_team_split_2d`.
pub unsafe fn team_split_2d(
    parent_team: Team,
    xrange: c_int,
    xaxis_config: *const TeamConfig,
    xaxis_mask: c_long,
    xaxis_team: *mut Team,
    yaxis_config: *const TeamConfig,
    yaxis_mask: c_long,
    yaxis_team: *mut Team,
) -> c_int {
    // SAFETY: C programs promise that `xaxis_config` is valid, if the mask names a field.
    let x_config = unsafe { team::config(xaxis_config, xaxis_mask) };
    // SAFETY: C programs promise that `yaxis_config` is valid, if the mask names a field.
    let y_config = unsafe { team::config(yaxis_config, yaxis_mask) };
    let (code, x, y) = team::split_2d(parent_team, xrange, x_config, y_config);
    // SAFETY: C programs promise that `xaxis_team` can be written.
    unsafe { xaxis_team.write(x) };
    // SAFETY: C programs promise that `yaxis_team` can be written.
    unsafe { yaxis_team.write(y) };
    code
}

/// `shmem_team_destroy`.
pub unsafe fn team_destroy(team: Team) {
    team::destroy(team);
}

/// `shmem_team_sync`, and `shmem_sync` of a team. Takes its name.
#[inline]
pub unsafe fn team_sync(what: What, team: Team) -> c_int {
    team::sync(what, team)
}

/// `shmem_pcontrol`: profiling levels are for tools that interpose.
#[inline]
pub unsafe fn pcontrol(_level: c_int) {}
