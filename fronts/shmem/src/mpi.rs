//! An MPI library in the same program.
//!
//! MPICH and related libraries use the same socket to their launcher as this library, by PMI. The
//! first of the two that leaves closes it for both, so this library lets MPI close it if MPI goes
//! on. Open MPI has a client of its own.

use core::ffi::{CStr, c_int, c_void};

type Query = unsafe extern "C" fn(*mut c_int) -> c_int;

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: looks for a name in what is loaded.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

fn ask(name: &CStr) -> Option<bool> {
    let address = symbol(name)?;
    // SAFETY: MPI_Initialized and MPI_Finalized are of this type, by the standard of MPI.
    let query = unsafe { core::mem::transmute::<*mut c_void, Query>(address) };
    let mut flag = 0;
    // SAFETY: both may be called at any time, and store a flag.
    let code = unsafe { query(&raw mut flag) };
    Some(code == 0 && flag != 0)
}

/// Whether an MPI library is in use that will leave a launcher of PMI by itself.
pub(crate) fn will_leave() -> bool {
    symbol(c"ompi_mpi_comm_world").is_none()
        && ask(c"MPI_Initialized") == Some(true)
        && ask(c"MPI_Finalized") == Some(false)
}
