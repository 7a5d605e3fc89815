//! A child that the program forks gets its own static objects, as it would without this
//! library, because its writes must not appear in its parent. It is not a PE, and the
//! library does nothing in it. If there is no memory for these objects, the child ends
//! with an error text.

use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::io::Errno;

use crate::fast;
use crate::runtime::{self, LibraryPhase};
use crate::statics::{self, Statics};

static ADDRESS: AtomicUsize = AtomicUsize::new(0);
static LEN_BYTES: AtomicUsize = AtomicUsize::new(0);

/// A copy of the static objects for a child.
#[derive(Clone, Copy)]
enum Snapshot {
    /// None is needed: nothing is shared.
    None,
    /// Where it is.
    At(usize),
    /// There is no memory for it.
    Failed(Errno),
}

thread_local! {
    /// The copy that is under way. It belongs to the thread that forks, because that memory is
    /// private. In a program with this library linked in, parent and child share the library's own
    /// static objects, too, until they are replaced.
    static COPY: Cell<Snapshot> = const { Cell::new(Snapshot::None) };
}

/// Prepares for the children that the program forks from now on.
///
/// # Errors
/// There is no memory to remember that.
pub(crate) fn prepare_children(statics: Statics) -> Result<(), Errno> {
    ADDRESS.store(statics.address, Ordering::Relaxed);
    LEN_BYTES.store(statics.len_bytes, Ordering::Relaxed);
    // SAFETY: three functions that stay where they are.
    match unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } {
        0 => Ok(()),
        code => Err(Errno::from_raw_os_error(code)),
    }
}

fn shared() -> Statics {
    Statics {
        address: ADDRESS.load(Ordering::Relaxed),
        len_bytes: LEN_BYTES.load(Ordering::Relaxed),
        digest: 0,
    }
}

unsafe extern "C" fn before() {
    if runtime::state() != LibraryPhase::Forked && shared().len_bytes > 0 {
        let copy = statics::snapshot(shared());
        COPY.set(copy.map_or_else(Snapshot::Failed, Snapshot::At));
    }
}

unsafe extern "C" fn in_parent() {
    if let Snapshot::At(copy) = COPY.replace(Snapshot::None) {
        statics::discard(shared(), copy);
    }
}

unsafe extern "C" fn in_child() {
    let replaced = match COPY.replace(Snapshot::None) {
        Snapshot::None => Ok(()),
        Snapshot::At(copy) => statics::replace(shared(), copy),
        Snapshot::Failed(error) => Err(error),
    };
    if let Err(error) = replaced {
        end(error);
    }
    if runtime::state() != LibraryPhase::Fresh {
        runtime::set_state(LibraryPhase::Forked);
        fast::close();
        fast::set_identity(None);
    }
}

/// Ends a child that still has the static objects of its parent, before it writes to them. It is
/// the only thread that is left of many, so this code must not allocate.
fn end(error: Errno) -> ! {
    let mut text = [0; 256];
    let mut rest = &mut text[..];
    // If the text does not fit, it is cut off.
    let _ = writeln!(
        rest,
        "hostwire: fork: there is no memory for static objects of the child's own (error {}), and \
         it would change those of the PE that has forked it: the child ends",
        error.raw_os_error()
    );
    let left = rest.len();
    let len = text.len() - left;
    // SAFETY: the bytes are there; whether they are written changes nothing.
    let _ = unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), len) };
    // SAFETY: ends the child without the exit handlers of its parent.
    unsafe { libc::_exit(1) }
}
