//! Whether a pointer of the program points to memory.

use super::location;
use crate::fail::fatal;
use crate::runtime::Runtime;
use crate::statics::page_bytes;

/// Ends the job if these bytes are not memory of this process.
pub(crate) fn must_be_memory(runtime: &Runtime, what: &str, name: &str, start: usize, len: usize) {
    if len == 0 || runtime.locate(start, len).is_some() || is_mapped(start, len) {
        return;
    }
    let why = match start {
        0 => "NULL".into(),
        start => format!("{start:#x}, and not all of its {len} bytes are memory of this process"),
    };
    fatal(what, format_args!("{name} is {why}; {}", location::here()));
}

/// Whether there is memory; does not check how it may be used.
fn is_mapped(start: usize, len: usize) -> bool {
    let Some(end) = start.checked_add(len) else {
        return false;
    };
    let page = page_bytes();
    let first = start / page * page;
    // Only checks whether the pages exist. SAFETY: an address and a length, whatever
    // they name; nothing is changed.
    let code = unsafe {
        libc::msync(
            core::ptr::without_provenance_mut(first),
            end - first,
            libc::MS_ASYNC,
        )
    };
    if code == 0 {
        return true;
    }
    let error = std::io::Error::last_os_error().raw_os_error();
    error != Some(libc::ENOMEM) || is_on_stack(start, end)
}

/// Whether it is a part of this thread's stack, whose pages exist only after they are touched.
fn is_on_stack(start: usize, end: usize) -> bool {
    let mut attributes = core::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: returns the calling thread.
    let this = unsafe { libc::pthread_self() };
    // SAFETY: a thread that runs; fills the attributes.
    if unsafe { libc::pthread_getattr_np(this, attributes.as_mut_ptr()) } != 0 {
        return false;
    }
    let (mut lowest, mut len) = (core::ptr::null_mut(), 0);
    // SAFETY: filled above; two places to write to.
    let code =
        unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut len) };
    // SAFETY: filled above, and not used any more.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    let lowest = lowest.addr();
    code == 0 && (lowest..=lowest.saturating_add(len)).contains(&end) && lowest <= start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_from_none() {
        let here = [0u64; 4];
        let start = here.as_ptr().addr();
        assert!(is_mapped(start, 32) && is_mapped(start + 1, 1));
        assert!(!is_mapped(0, 1) && !is_mapped(8, 100));
        assert!(!is_mapped(start, usize::MAX / 2) && !is_mapped(start, usize::MAX));
    }

    /// The address is below the part of the stack that was touched so far.
    #[test]
    fn an_array_on_the_stack_is_memory_before_it_is_touched() {
        let here = 0u8;
        let below = (&raw const here).addr() - (600 << 10);
        let is_there = std::thread::Builder::new()
            .stack_size(1 << 20)
            .spawn(move || {
                let here = 0u8;
                let below = (&raw const here).addr() - (600 << 10);
                is_mapped(below, 4096)
            });
        assert!(is_there.unwrap().join().unwrap());
        assert!(is_on_stack(below, below + 10) || std::thread::current().name() != Some("main"));
    }
}
