//! Queries about PEs, addresses and the version.

use core::ffi::{CStr, c_int};

use crate::handle::Team;
use crate::mapped::Mapped;
use crate::remote::resolve;
use crate::runtime::{self, Runtime};
use crate::team;

pub(crate) const MAJOR_VERSION: c_int = 1;
pub(crate) const MINOR_VERSION: c_int = 6;
/// `SHMEM_VENDOR_STRING`.
pub(crate) const VENDOR_STRING: &CStr = c"hostwire OpenSHMEM";

fn is_pe(runtime: &Runtime, pe: c_int) -> bool {
    u32::try_from(pe).is_ok_and(|pe| pe < runtime.attachment.pes())
}

pub(crate) fn pe_accessible(pe: c_int) -> bool {
    is_pe(runtime::get("shmem_pe_accessible"), pe)
}

pub(crate) fn addr_accessible(address: *const u8, pe: c_int) -> bool {
    let runtime = runtime::get("shmem_addr_accessible");
    is_pe(runtime, pe) && runtime.locate(address as usize, 1).is_some()
}

/// Where the object at `address` here lies at `pe` of `team`, if stores reach it.
pub(crate) fn team_ptr(what: &'static str, team: Team, address: *const u8, pe: c_int) -> *mut u8 {
    let runtime = runtime::get(what);
    let Some(team) = team::find(runtime, team) else {
        return core::ptr::null_mut();
    };
    let member = usize::try_from(pe)
        .ok()
        .and_then(|rank| team.members().get(rank));
    let (Some(&pe), Some(offset)) = (member, runtime.locate(address as usize, 1)) else {
        return core::ptr::null_mut();
    };
    if pe == runtime.attachment.pe() {
        return address.cast_mut();
    }
    resolve(runtime, pe, offset, 1).map_or(core::ptr::null_mut(), Mapped::at)
}
