//! The pager and a program that maps the memory of a store, in one process.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hostwire_borrow::RemoteHeap;
use hostwire_borrow::client::Client;
use hostwire_borrow::server::{FilePart, Pages, Server, Store};
use hostwire_borrow::uffd::memory_file;

const MIB: u64 = 1 << 20;
/// Bytes of each of the two lenders.
const EACH: u64 = 4 * MIB;
/// Where in its file the memory of a lender begins.
const BEGIN: u64 = 64 << 10;

/// Two files, of which each has a half of the memory.
struct Files([File; 2]);

impl Files {
    fn new() -> Self {
        Self([(); 2].map(|()| memory_file(BEGIN + EACH).unwrap()))
    }

    fn place(offset_bytes: u64) -> (usize, u64) {
        ((offset_bytes / EACH) as usize, BEGIN + offset_bytes % EACH)
    }

    fn word(&self, offset_bytes: u64) -> u64 {
        let (lender, at) = Self::place(offset_bytes);
        let mut word = [0; 8];
        self.0[lender].read_exact_at(&mut word, at).unwrap();
        u64::from_ne_bytes(word)
    }
}

impl Store for Files {
    type Error = io::Error;
    type Coming = Vec<u8>;

    fn save(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        Err(io::Error::other("mapped pages are not saved"))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn begin(&mut self, _: u64, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }

    fn finish(&mut self, _: Vec<u8>) -> io::Result<Vec<u8>> {
        Err(io::Error::other("mapped pages are not fetched"))
    }

    fn forget(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }

    fn part_at(&self, offset_bytes: u64) -> Option<FilePart<'_>> {
        let (lender, at) = Self::place(offset_bytes);
        Some(FilePart {
            file: self.0.get(lender)?.as_fd(),
            offset_bytes: at,
            len_bytes: BEGIN + EACH - at,
        })
    }

    fn clear(&mut self, bytes: Range<u64>) -> io::Result<()> {
        for at in bytes.step_by(4096) {
            let (lender, at) = Self::place(at);
            self.0[lender].write_all_at(&[0; 4096], at)?;
        }
        Ok(())
    }
}

/// Runs a program with memory of two lenders, and gives back what these have at the end.
fn with_heap(program: impl FnOnce(RemoteHeap) + Send) -> Server<Files> {
    let mut server = Server::open(2 * EACH as usize, Pages::Mapped, Files::new()).unwrap();
    let name = server.name().to_owned();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                server.turn(&[], Duration::from_millis(10)).unwrap();
            }
        });
        let end = scope.spawn(|| program(RemoteHeap::of(Client::connect(&name).unwrap())));
        let result = end.join();
        is_over.store(true, Ordering::Relaxed);
        result.unwrap();
    });
    server
}

#[test]
fn what_a_program_stores_is_in_the_memory_of_the_lenders() {
    let words = 6 << 17;
    let mut server = with_heap(|heap| {
        let mut slice = heap.alloc::<u64>(words).unwrap();
        for (at, word) in slice.iter_mut().enumerate() {
            *word = at as u64 + 1;
        }
        assert!(heap.alloc::<u8>(3 << 20).is_err());
    });
    for at in 0..words as u64 {
        assert_eq!(server.store().word(8 * at), at + 1);
    }
    assert_eq!(server.stats().mapped, 6 * MIB / 4096);
    assert_eq!(server.stats().faults_missing, 0);
    assert_eq!(server.used_pages(), (0, (6 * MIB / 4096) as u32));
}

#[test]
fn memory_begins_with_zeros_also_when_it_is_taken_again() {
    with_heap(|heap| {
        for round in 0..3 {
            // The second one reaches into memory that nobody has had.
            let mut slice = heap.alloc::<u8>((5 + round) << 20).unwrap();
            assert!(slice.iter().all(|byte| *byte == 0), "round {round}");
            slice.fill(0xff);
        }
    });
}

#[test]
fn what_is_discarded_has_zeros() {
    let server = Server::open(2 * EACH as usize, Pages::Mapped, Files::new()).unwrap();
    let name = server.name().to_owned();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (mut server, is_over) = (server, &is_over);
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                server.turn(&[], Duration::from_millis(10)).unwrap();
            }
        });
        let client = Client::connect(&name).unwrap();
        assert!(client.fds()[1..].iter().all(|fd| *fd == -1));
        let address = client.take(3 * 4096).unwrap();
        let page = |at: usize| core::ptr::with_exposed_provenance_mut::<u64>(address + 4096 * at);
        for at in 0..3 {
            // SAFETY: the page was just taken, and only this thread has it.
            unsafe { page(at).write_volatile(7) };
        }
        client.discard(address + 4096, 4096).unwrap();
        // SAFETY: the pages are taken, and only this thread has them.
        let left = [0, 1, 2].map(|at| unsafe { page(at).read_volatile() });
        assert_eq!(left, [7, 0, 7]);
        client.give_back(address, 3 * 4096).unwrap();
        is_over.store(true, Ordering::Relaxed);
    });
}
