//! Static and global objects of the program are symmetric: the writable part of the main
//! executable is moved onto the own segment.
//!
//! A part of the segment is set aside for it. At initialisation its contents are copied
//! there, and then the same pages of the segment are mapped over it: the program goes on
//! with the same addresses and values, and peers reach them as they reach the heap. The
//! offset from the beginning of the part is the same everywhere, so the program may be
//! loaded at another address in each process.
//!
//! Large objects may be in a part of their own (`-mcmodel=medium`), with a few unused pages in
//! front of it; these become part of the whole.

use core::ffi::c_void;
use core::ops::Range;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::mm::{MapFlags, MremapFlags, ProtFlags};

/// The writable part of the main executable, without what the loader protects against
/// writing after relocation. Whole pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Statics {
    pub(crate) address: usize,
    pub(crate) len_bytes: usize,
    /// Equal for two processes if their executables have the same layout.
    pub(crate) digest: u64,
}

/// Finds it; empty if the executable has none.
pub(crate) fn find() -> Statics {
    let mut found = Statics::default();
    let data = (&raw mut found).cast();
    // SAFETY: the callback gets the pointer back, while `found` is alive.
    unsafe { libc::dl_iterate_phdr(Some(look), data) };
    found
}

/// Looks at the first object alone: the main executable.
unsafe extern "C" fn look(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    data: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: `find` passed a pointer to this.
    let found = unsafe { &mut *data.cast::<Statics>() };
    // SAFETY: the loader's description of an object, valid during the call.
    let info = unsafe { &*info };
    // SAFETY: the object's program headers, as many as it says.
    let headers =
        unsafe { core::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)) };
    *found = measure(info.dlpi_addr as usize, headers, page_bytes(), claim);
    1
}

/// Makes free pages between two parts readable: zeros. `false` if they are not free.
fn claim(gap: Range<usize>) -> bool {
    let address = core::ptr::with_exposed_provenance_mut::<c_void>(gap.start);
    let flags = MapFlags::PRIVATE | MapFlags::FIXED_NOREPLACE | MapFlags::NORESERVE;
    // SAFETY: replaces nothing.
    let mapped = unsafe { rustix::mm::mmap_anonymous(address, gap.len(), ProtFlags::READ, flags) };
    // Kernels before 4.17 may choose another address.
    if let Ok(elsewhere) = mapped
        && elsewhere != address
    {
        // SAFETY: what was just mapped, and nobody knows of.
        let _ = unsafe { rustix::mm::munmap(elsewhere, gap.len()) };
    }
    mapped == Ok(address)
}

/// From the C library. Other ways read the data that the loader was given, which may differ from the process (under
/// Valgrind, for example).
pub(crate) fn page_bytes() -> usize {
    // SAFETY: `sysconf` with a constant name has no preconditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes)
        .ok()
        .filter(|bytes| bytes.is_power_of_two())
        .unwrap_or(4096)
}

/// Between two parts there are less than two pages of the largest kind that linkers align to.
const GAP_BYTES_MAX: usize = 4 << 20;

/// The largest of the writable parts, with those next to it as far as `claim` gets what is between.
fn measure(
    base: usize,
    headers: &[libc::Elf64_Phdr],
    page: usize,
    claim: impl Fn(Range<usize>) -> bool,
) -> Statics {
    let span = |header: &libc::Elf64_Phdr| {
        let start = header.p_vaddr as usize;
        start..start.saturating_add(header.p_memsz as usize)
    };
    let protected = headers
        .iter()
        .find(|header| header.p_type == libc::PT_GNU_RELRO)
        .map_or(0..0, span);
    // If a page is protected only in part, loaders leave it writable: linkers may align for pages that are smaller than
    // those of this kernel (Arm has 4, 16 and 64 KiB).
    let protected = protected.start / page * page..protected.end / page * page;
    let (mut best, mut last) = (0..0, 0..0);
    for header in headers {
        let is_writable = header.p_flags & libc::PF_W != 0 && header.p_flags & libc::PF_X == 0;
        if header.p_type != libc::PT_LOAD || !is_writable {
            continue;
        }
        let mut part = span(header);
        if protected.contains(&part.start) {
            part.start = protected.end;
        }
        let part = part.start / page * page..part.end.next_multiple_of(page);
        if part.is_empty() {
            continue;
        }
        // They come in the order of their addresses.
        let gap = last.end..part.start.max(last.end);
        let is_next = !last.is_empty() && last.start < part.start && gap.len() <= GAP_BYTES_MAX;
        let joins = is_next && (gap.is_empty() || claim(base + gap.start..base + gap.end));
        last = match joins {
            true => last.start..part.end.max(last.end),
            false => part,
        };
        if last.len() > best.len() {
            best = last.clone();
        }
    }
    Statics {
        address: base + best.start,
        len_bytes: best.len(),
        digest: digest(headers),
    }
}

/// FNV-1a of the layout: where each part of the executable lies, and how long it is.
fn digest(headers: &[libc::Elf64_Phdr]) -> u64 {
    let words = headers.iter().flat_map(|header| {
        [
            u64::from(header.p_type),
            header.p_vaddr,
            header.p_memsz,
            header.p_filesz,
        ]
    });
    words
        .flat_map(u64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Copies the pages of `from` that are not zero to `to`, which is.
///
/// Word by word, by volatile loads: nothing may be assumed about this program's own
/// variables, and a `memmove` over those of a program under AddressSanitizer is reported,
/// because it touches what lies between them.
///
/// # Safety
/// Both are valid for `len_bytes`, a multiple of 4096, and aligned to it.
unsafe fn copy_pages(from: *const u8, to: *mut u8, len_bytes: usize) {
    const PAGE_WORDS: usize = 4096 / 8;
    let (from, to) = (from.cast::<u64>(), to.cast::<u64>());
    for page in (0..len_bytes / 8).step_by(PAGE_WORDS) {
        let words = page..page + PAGE_WORDS;
        // SAFETY: in a page of `from`.
        let load = |word: usize| unsafe { from.wrapping_add(word).read_volatile() };
        if words.clone().any(|word| load(word) != 0) {
            for word in words {
                // SAFETY: in a page of `to`.
                unsafe { to.wrapping_add(word).write_volatile(load(word)) };
            }
        }
    }
}

/// Moves `statics` onto the pages of the own segment at `offset` of its `file`, which are
/// mapped at `alias`, too.
///
/// # Safety
/// `alias` is that mapping, `statics` what [`find`] found, and no other thread of the
/// program changes its static objects meanwhile.
pub(crate) unsafe fn share(
    statics: Statics,
    file: BorrowedFd<'_>,
    offset: usize,
    alias: *mut u8,
) -> Result<(), Errno> {
    if statics.len_bytes == 0 {
        return Ok(());
    }
    let address = core::ptr::with_exposed_provenance_mut::<u8>(statics.address);
    // SAFETY: whole pages, mapped at both places.
    unsafe { copy_pages(address, alias, statics.len_bytes) };
    // SAFETY: replaces pages by shared ones with the same contents, at once.
    let mapped = unsafe {
        rustix::mm::mmap(
            address.cast(),
            statics.len_bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::FIXED | MapFlags::NORESERVE,
            file,
            offset as u64,
        )
    };
    mapped.map(|_| ())
}

/// A copy of the static objects, for a child that is about to be forked.
pub(crate) fn snapshot(statics: Statics) -> Result<usize, Errno> {
    // SAFETY: a fresh mapping touches no memory of this process.
    let copy = unsafe {
        rustix::mm::mmap_anonymous(
            core::ptr::null_mut(),
            statics.len_bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    };
    let copy = copy?.cast::<u8>();
    let from = core::ptr::with_exposed_provenance(statics.address);
    // SAFETY: whole pages; the copy is fresh and so zero.
    unsafe { copy_pages(from, copy, statics.len_bytes) };
    Ok(copy.expose_provenance())
}

/// Gives the copy back: this is the parent.
pub(crate) fn discard(statics: Statics, copy: usize) {
    // SAFETY: the mapping that `snapshot` made, which nobody uses.
    let _ = unsafe {
        rustix::mm::munmap(
            core::ptr::with_exposed_provenance_mut(copy),
            statics.len_bytes,
        )
    };
}

/// Puts the copy in place of what is shared with the parent: this is the child.
pub(crate) fn replace(statics: Statics, copy: usize) -> Result<(), Errno> {
    // SAFETY: moves private pages over shared ones with the same contents, at once.
    let moved = unsafe {
        rustix::mm::mremap_fixed(
            core::ptr::with_exposed_provenance_mut(copy),
            statics.len_bytes,
            statics.len_bytes,
            MremapFlags::MAYMOVE,
            core::ptr::with_exposed_provenance_mut(statics.address),
        )
    };
    moved.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(kind: u32, flags: u32, start: u64, len: u64) -> libc::Elf64_Phdr {
        libc::Elf64_Phdr {
            p_type: kind,
            p_flags: flags,
            p_offset: 0,
            p_vaddr: start,
            p_paddr: start,
            p_filesz: len / 2,
            p_memsz: len,
            p_align: 4096,
        }
    }

    const RW: u32 = libc::PF_R | libc::PF_W;

    fn measure(base: usize, headers: &[libc::Elf64_Phdr], page: usize) -> Statics {
        super::measure(base, headers, page, |gap| panic!("{gap:x?} is claimed"))
    }

    #[test]
    fn parts_that_are_next_to_each_other_are_one() {
        // As GNU ld lays out large objects: .data, .bss and .lbss, and behind them .ldata.
        let first = header(libc::PT_LOAD, RW, 0x3db0, 0x8350);
        let large = header(libc::PT_LOAD, RW, 0xe100, 0x3500);
        let joined = super::measure(0x1_0000, &[first, large], 4096, |gap| {
            assert_eq!(gap, 0x1_d000..0x1_e000);
            true
        });
        assert_eq!((joined.address, joined.len_bytes), (0x1_3000, 0xf000));
        // If something else is between them, the larger one counts.
        let apart = super::measure(0x1_0000, &[first, large], 4096, |_| false);
        assert_eq!((apart.address, apart.len_bytes), (0x1_3000, 0xa000));
        let close = header(libc::PT_LOAD, RW, 0xd100, 0x100);
        assert_eq!(measure(0, &[first, close], 4096).len_bytes, 0xb000);
        let far = header(libc::PT_LOAD, RW, 0x80_0000, 0x100);
        assert_eq!(measure(0, &[first, far], 4096).len_bytes, 0xa000);
    }

    #[test]
    fn pages_in_use_are_not_claimed() {
        let found = find();
        let page = page_bytes();
        assert!(!claim(found.address..found.address + page));
    }

    #[test]
    fn the_part_behind_what_is_protected_is_found() {
        // As GNU ld lays it out: one writable part, its beginning protected.
        let text = header(libc::PT_LOAD, libc::PF_R | libc::PF_X, 0x1000, 0x500);
        let data = header(libc::PT_LOAD, RW, 0x3d98, 0x1400);
        let relro = header(libc::PT_GNU_RELRO, libc::PF_R, 0x3d98, 0x268);
        let found = measure(0x7000_0000, &[text, data, relro], 4096);
        assert_eq!(found.address, 0x7000_4000);
        assert_eq!(found.len_bytes, 0x2000);
        // As lld does: the protected part is a separate one.
        let first = header(libc::PT_LOAD, RW, 0x3000, 0x800);
        let relro = header(libc::PT_GNU_RELRO, libc::PF_R, 0x3000, 0x1000);
        let second = header(libc::PT_LOAD, RW, 0x4800, 0x100);
        let found = measure(0, &[text, first, relro, second], 4096);
        assert_eq!((found.address, found.len_bytes), (0x4000, 0x1000));
        // Nothing writable at all.
        assert_eq!(measure(5, &[text], 4096).len_bytes, 0);
    }

    #[test]
    fn a_page_that_is_protected_in_part_is_the_programs() {
        // Protected for pages of 4 KiB, on a kernel with larger ones.
        let data = header(libc::PT_LOAD, RW, 0x1_fd98, 0x1_4000);
        let relro = header(libc::PT_GNU_RELRO, libc::PF_R, 0x1_fd98, 0x3268);
        let found = measure(0, &[data, relro], 0x1_0000);
        assert_eq!((found.address, found.len_bytes), (0x2_0000, 0x2_0000));
        let found = measure(0, &[data, relro], 4096);
        assert_eq!((found.address, found.len_bytes), (0x2_3000, 0x1_1000));
        // Less than a page of it: nothing is protected at all.
        let small = header(libc::PT_GNU_RELRO, libc::PF_R, 0x1_fd98, 0x200);
        let found = measure(0, &[data, small], 0x1_0000);
        assert_eq!((found.address, found.len_bytes), (0x1_0000, 0x3_0000));
    }

    #[test]
    fn they_are_whole_pages_of_any_size() {
        // As the linker of Arm lays it out, for pages of up to 64 KiB.
        let text = header(libc::PT_LOAD, libc::PF_R | libc::PF_X, 0, 0x1234);
        let data = header(libc::PT_LOAD, RW, 0x1_fda0, 0x2_0300);
        let relro = header(libc::PT_GNU_RELRO, libc::PF_R, 0x1_fda0, 0x260);
        for page in [4 << 10, 16 << 10, 64 << 10] {
            let found = measure(0x5555_0000, &[text, data, relro], page);
            assert_eq!(found.address, 0x5557_0000);
            assert_eq!(found.len_bytes, 0x2_00a0_usize.next_multiple_of(page));
        }
    }

    #[test]
    fn another_layout_has_another_digest() {
        let layout = |len| measure(0, &[header(libc::PT_LOAD, RW, 0x1000, len)], 4096).digest;
        assert_eq!(layout(100), layout(100));
        assert_ne!(layout(100), layout(108));
    }

    #[test]
    fn this_program_has_static_objects() {
        static WORD: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(7);
        let found = find();
        let address = (&raw const WORD).addr();
        assert!((found.address..found.address + found.len_bytes).contains(&address));
    }
}
