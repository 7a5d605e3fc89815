//! Collective operations of teams. All take the name of the C routine, and return 0, or nonzero for
//! the invalid team.

use core::ffi::c_int;

use hostwire::core::Fold;

use crate::buffer::Input;
use crate::collective as inner;
use crate::element::Element;
use crate::fast::What;
use crate::handle::Team;
use crate::reduction::Reduce;

/// `shmem_broadcast`, of all types.
pub unsafe fn broadcast<T: Element>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe_root: c_int,
) -> c_int {
    let len = nelems.saturating_mul(size_of::<T>());
    inner::broadcast(what, team, dest.cast(), source.cast(), len, pe_root)
}

/// `shmem_collect`, of all types.
pub unsafe fn collect<T: Element>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    let len = nelems.saturating_mul(size_of::<T>());
    // SAFETY: C programs promise the elements at `source`.
    let source = unsafe { Input::new(source.cast(), len) };
    inner::collect(what, team, dest.cast(), source)
}

/// `shmem_fcollect`, of all types.
pub unsafe fn fcollect<T: Element>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    let len = nelems.saturating_mul(size_of::<T>());
    inner::fcollect(what, team, dest.cast(), source.cast(), len)
}

/// `shmem_alltoall`, of all types.
pub unsafe fn alltoall<T: Element>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    let len = nelems.saturating_mul(size_of::<T>());
    inner::alltoall(what, team, dest.cast(), source.cast(), len)
}

/// `shmem_alltoalls`, of all types.
pub unsafe fn alltoalls<T: Element>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    dst: isize,
    sst: isize,
    nelems: usize,
) -> c_int {
    let strides = (dst, sst, size_of::<T>());
    inner::alltoalls(what, team, dest.cast(), source.cast(), strides, nelems)
}

/// `shmem_and_reduce` and similar routines, of all types.
pub unsafe fn reduce<Op: 'static, T: Reduce<Op>>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nreduce: usize,
) -> c_int {
    inner::fold::<Op, T>(what, team, dest, source, nreduce, Fold::All)
}

/// `shmem_sum_inscan`, of all types.
pub unsafe fn inscan<Op: 'static, T: Reduce<Op>>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    inner::fold::<Op, T>(what, team, dest, source, nelems, Fold::UpTo)
}

/// `shmem_sum_exscan`, of all types.
pub unsafe fn exscan<Op: 'static, T: Reduce<Op>>(
    what: What,
    team: Team,
    dest: *mut T,
    source: *const T,
    nelems: usize,
) -> c_int {
    inner::fold::<Op, T>(what, team, dest, source, nelems, Fold::Before)
}
