//! A child that the program forks gets static objects of its own, as it would without
//! this library: what it writes must not appear in its parent. It is no PE, and the
//! library does nothing in it.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::fast;
use crate::runtime::{self, State};
use crate::statics::{self, Statics};

static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static LEN_BYTES: AtomicUsize = AtomicUsize::new(0);
thread_local! {
    /// The copy that is under way; 0 where there is none. Of the thread that forks, whose
    /// memory is private: in a program that has this library linked in, the library's own
    /// static objects are among those that parent and child share until they are replaced.
    static COPY: Cell<usize> = const { Cell::new(0) };
}

/// From now on children are looked after.
pub(crate) fn prepare_children(statics: Statics) {
    ADDRESS.store(statics.address, Ordering::Relaxed);
    LEN_BYTES.store(statics.len_bytes, Ordering::Relaxed);
    // SAFETY: three functions that stay where they are. (If it fails there is no memory;
    // children then share, which is no reason to stop.)
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

fn shared() -> Statics {
    Statics {
        address: ADDRESS.load(Ordering::Relaxed),
        len_bytes: LEN_BYTES.load(Ordering::Relaxed),
        digest: 0,
    }
}

unsafe extern "C" fn before() {
    if runtime::state() != State::Forked && shared().len_bytes > 0 {
        let copy = statics::snapshot(shared()).unwrap_or(0);
        COPY.set(copy);
    }
}

unsafe extern "C" fn in_parent() {
    let copy = COPY.take();
    if copy != 0 {
        statics::discard(shared(), copy);
    }
}

unsafe extern "C" fn in_child() {
    let copy = COPY.take();
    if shared().len_bytes > 0 && (copy == 0 || statics::replace(shared(), copy).is_err()) {
        // What this wrote would appear in the parent: leave things as they are.
        return;
    }
    if runtime::state() != State::Fresh {
        runtime::set_state(State::Forked);
        fast::close();
        fast::set_identity(None);
    }
}
