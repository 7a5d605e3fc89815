//! The pager and a program with real faults, in one process, over a store that is an array.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hostwire_borrow::client::Client;
use hostwire_borrow::paging::Limits;
use hostwire_borrow::server::{FilePart, Pages, Server, Store};
use hostwire_borrow::uffd::Uffd;
use hostwire_borrow::{PAGE_BYTES, RemoteHeap};
use hostwire_testing::{left_out, need};
use rustix::mm::MprotectFlags;

struct Array(Vec<u8>);

impl Store for Array {
    type Error = Infallible;
    type Coming = Vec<u8>;

    fn save(&mut self, at: u64, bytes: &[u8]) -> Result<(), Infallible> {
        self.0[at as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn begin(&mut self, at: u64, mut bytes: Vec<u8>) -> Vec<u8> {
        let len = bytes.len();
        bytes.copy_from_slice(&self.0[at as usize..][..len]);
        bytes
    }

    fn finish(&mut self, bytes: Vec<u8>) -> Result<Vec<u8>, Infallible> {
        Ok(bytes)
    }

    fn forget(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }

    fn part_at(&self, _: u64) -> Option<FilePart<'_>> {
        None
    }

    fn clear(&mut self, bytes: std::ops::Range<u64>) -> Result<(), Infallible> {
        self.0[bytes.start as usize..bytes.end as usize].fill(0);
        Ok(())
    }
}

/// Runs a program with 64 MiB of borrowed memory and a cache of 1 MiB.
fn with_heap(program: impl FnOnce(RemoteHeap) + Send) {
    if let Err(why) = Uffd::new() {
        left_out(&need::USERFAULTFD, why);
        return;
    }
    let bytes = 64 << 20;
    let limits = Limits::for_cache(0);
    let mut server = Server::open(bytes, Pages::Moved(limits), Array(vec![0xa5; bytes])).unwrap();
    let name = server.name().to_owned();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                server.turn(&[], Duration::from_millis(10)).unwrap();
                assert!(server.resident() <= limits.cache_pages);
            }
        });
        let end = scope.spawn(|| program(RemoteHeap::of(Client::connect(&name).unwrap())));
        let result = end.join();
        is_over.store(true, Ordering::Relaxed);
        result.unwrap();
    });
}

#[test]
fn what_was_written_is_read_again() {
    with_heap(|heap| {
        let words = 32 << 17;
        let mut slice = heap.alloc::<u64>(words).unwrap();
        for (at, word) in slice.iter_mut().enumerate() {
            *word = at as u64;
        }
        for round in 1..4u64 {
            for (at, word) in slice.iter_mut().enumerate() {
                assert_eq!(*word, at as u64 * round);
                *word += at as u64;
            }
        }
        // A walk that jumps, and threads that store to the same pages.
        thread::scope(|scope| {
            for (thread, part) in slice.chunks_mut(words / 4).enumerate() {
                scope.spawn(move || {
                    for step in 0..part.len() / 512 {
                        let at = step * 7919 % part.len();
                        let value = (thread * words / 4 + at) as u64;
                        assert_eq!(part[at], 4 * value);
                        part[at] = 4 * value;
                    }
                });
            }
        });
        let wrong = slice
            .iter()
            .enumerate()
            .find(|(at, word)| **word != 4 * *at as u64);
        assert_eq!(wrong, None);
    });
}

#[test]
fn memory_begins_with_zeros_also_when_it_is_taken_again() {
    with_heap(|heap| {
        for round in 0..3 {
            let mut slice = heap.alloc::<u8>(40 << 20).unwrap();
            let step = PAGE_BYTES / 2;
            assert!(
                slice.iter().step_by(step).all(|byte| *byte == 0),
                "round {round}"
            );
            slice.fill(0xff);
        }
    });
}

#[test]
fn threads_that_store_to_one_page_while_it_leaves_lose_nothing() {
    with_heap(|heap| {
        let mut slice = heap.alloc::<u64>(4 << 17).unwrap();
        let words: &mut [u64] = &mut slice;
        // Word i of each page belongs to thread i.
        let words = core::sync::atomic::AtomicU64::from_mut_slice_of(words);
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for _ in 0..20 {
                        for page in words.chunks_exact(PAGE_BYTES / 8) {
                            page[thread].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        for page in words.chunks_exact(PAGE_BYTES / 8) {
            for word in &page[..4] {
                assert_eq!(word.load(Ordering::Relaxed), 20);
            }
        }
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    with_heap(|heap| {
        assert!(heap.alloc::<u8>(65 << 20).is_err());
        let most = heap.alloc::<u8>(60 << 20).unwrap();
        assert!(heap.alloc::<u8>(5 << 20).is_err());
        drop(most);
        heap.alloc::<u8>(5 << 20).unwrap();
        assert_eq!(heap.alloc::<u64>(0).unwrap().len(), 0);
    });
}

/// The pager brings and protects runs of pages. A program that protects a part of its memory has several mappings there.
#[test]
fn a_run_of_pages_may_lie_in_several_mappings() {
    with_heap(|heap| {
        let mut slice = heap.alloc::<u8>(8 << 20).unwrap();
        let begin = slice.as_ptr() as usize;
        let protect = |page: usize, flags| {
            let at = core::ptr::with_exposed_provenance_mut(begin + page * PAGE_BYTES);
            // SAFETY: the page belongs to the slice, and stays readable.
            unsafe { rustix::mm::mprotect(at, PAGE_BYTES, flags) }.unwrap();
        };
        let pages = [0, 1, 500, 1024, 1026, 1027, 2047];
        // SAFETY: a number of seconds. The alarm ends a thread that waits for a page for ever.
        unsafe { libc::alarm(300) };
        slice.fill(7);
        pages
            .iter()
            .for_each(|page| protect(*page, MprotectFlags::READ));
        for _ in 0..2 {
            assert!(slice.iter().step_by(512).all(|byte| *byte == 7));
        }
        for page in (0..2048).filter(|page| !pages.contains(page)) {
            slice[page * PAGE_BYTES + 5] = 9;
        }
        let both = MprotectFlags::READ | MprotectFlags::WRITE;
        pages.iter().for_each(|page| protect(*page, both));
        for page in 0..2048 {
            let at = page * PAGE_BYTES + 5;
            let expected = if pages.contains(&page) { 7 } else { 9 };
            assert_eq!((slice[at], slice[at + 1]), (expected, 7), "page {page}");
        }
        // SAFETY: as above.
        unsafe { libc::alarm(0) };
    });
}

/// Atomic words over exclusive ones.
trait FromMutSliceOf: Sized {
    fn from_mut_slice_of(words: &mut [u64]) -> &[Self];
}

impl FromMutSliceOf for core::sync::atomic::AtomicU64 {
    fn from_mut_slice_of(words: &mut [u64]) -> &[Self] {
        // SAFETY: an `AtomicU64` has the size, alignment and valid values of a `u64`, and the words
        // are borrowed exclusively as long as the result lives.
        unsafe { &*(core::ptr::from_mut(words) as *const [Self]) }
    }
}
