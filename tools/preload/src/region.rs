//! The borrowed memory of this process.

use core::ffi::c_int;
use core::ops::Range;
use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::io::Write;

pub(crate) use hostwire_borrow::PAGE_BYTES;
use hostwire_borrow::client::{BorrowError, Client};
use hostwire_borrow::message::{ABOVE_VARIABLE, SOCKET_VARIABLE};
use hostwire_borrow::ranges::Ranges;

use crate::lock::Lock;
use crate::{addresses, last_words};

/// Nothing is borrowed by itself.
const NEVER: usize = usize::MAX;
/// The environment was not read yet.
const UNKNOWN: usize = 0;

/// What a process has.
struct Region {
    client: Client,
    /// By address: the bytes of what `malloc` and the like have given.
    blocks: BTreeMap<usize, usize>,
    /// What the program has. All other addresses are reserved.
    held: Ranges<Held>,
}

/// What a program has at addresses of the region. The pager keeps the pages for it in either case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    /// It is borrowed memory. Otherwise the program has mapped something else in its place.
    pub is_borrowed: bool,
    pub protection: c_int,
}

impl Held {
    /// Borrowed memory as it is given.
    pub const NEW: Self = Self {
        is_borrowed: true,
        protection: libc::PROT_READ | libc::PROT_WRITE,
    };
}

/// How far it is.
enum JoinState {
    /// Nothing was asked for yet.
    Idle,
    Joined(Region),
    /// It cannot be had.
    Failed(BorrowError),
}

static STATE: Lock<JoinState> = Lock::new(JoinState::Idle);
/// The size above which allocations are borrowed.
static ABOVE: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// The descriptors of the region; -1 for none.
static FDS: [AtomicI32; 3] = [const { AtomicI32::new(-1) }; 3];

/// The descriptors that borrowed memory needs.
pub(crate) fn own_fds() -> [i32; 3] {
    [0, 1, 2].map(|at: usize| FDS.get(at).map_or(-1, |fd| fd.load(Ordering::Relaxed)))
}

/// Whether a descriptor is one of them.
pub(crate) fn is_own(fd: i32) -> bool {
    fd >= 0 && own_fds().contains(&fd)
}

fn set_own(fds: [i32; 3]) {
    for (place, fd) in FDS.iter().zip(fds) {
        place.store(fd, Ordering::Relaxed);
    }
}

/// Whether an allocation of this size is to be borrowed.
pub(crate) fn is_wanted(bytes: usize) -> bool {
    match ABOVE.load(Ordering::Relaxed) {
        // Small ones are most, and come before there is an environment.
        UNKNOWN if bytes < 4096 => false,
        UNKNOWN => bytes > read_threshold(),
        above => bytes > above,
    }
}

/// The size above which allocations are borrowed, from the environment.
fn read_threshold() -> usize {
    let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
    let above = text(SOCKET_VARIABLE).and_then(|_| text(ABOVE_VARIABLE)?.parse().ok());
    let above = above.unwrap_or(NEVER).max(4096);
    ABOVE.store(above, Ordering::Relaxed);
    above
}

/// What lies at addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Not of this library.
    Outside,
    /// Reserved: the process from which this one was forked had something there.
    Abandoned,
    /// Reserved for the kernel. The program has nothing there.
    Free,
    Held(Held),
}

/// The pieces of a range, in order.
pub(crate) fn pieces(range: Range<usize>) -> Vec<(Range<usize>, Piece)> {
    let mut all = Ranges::default();
    all.set(range.clone(), Some(Piece::Outside));
    let mut within = |begin: usize, end: usize, piece: Piece| {
        all.set(begin.max(range.start)..end.min(range.end), Some(piece));
    };
    for (begin, end) in addresses::abandoned() {
        within(begin, end, Piece::Abandoned);
    }
    STATE.with(|state| {
        if let JoinState::Joined(region) = state {
            let own = region.client.range();
            let own = own.start.max(range.start)..own.end.min(range.end);
            for (part, held) in region.held.pieces(own) {
                within(part.start, part.end, held.map_or(Piece::Free, Piece::Held));
            }
        }
    });
    let pieces = all.pieces(range).into_iter();
    pieces
        .map(|(part, piece)| (part, piece.unwrap_or(Piece::Outside)))
        .collect()
}

/// Joins the pager if that was not done yet.
fn joined(state: &mut JoinState) -> Result<&mut Region, BorrowError> {
    if let JoinState::Idle = state {
        *state = match Client::from_env() {
            Ok(client) => {
                at_fork();
                addresses::set(&client.range());
                set_own(client.fds());
                JoinState::Joined(Region {
                    client,
                    blocks: BTreeMap::new(),
                    held: Ranges::default(),
                })
            }
            Err(error) => {
                // Without a pager, only a program that asks for borrowed memory itself comes here, and the result tells
                // it.
                if error != BorrowError::NoPager {
                    say(&error);
                }
                JoinState::Failed(error)
            }
        };
    }
    match state {
        JoinState::Joined(region) => Ok(region),
        JoinState::Failed(error) => Err(error.clone()),
        JoinState::Idle => Err(BorrowError::NoPager),
    }
}

/// One line for the user. It is no error if nobody reads it.
fn say(error: &BorrowError) {
    let text = format!("hostwire borrow: a program uses local memory: {error}\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Takes zeroed pages; as a block, they can be [freed](free) by their address alone.
pub(crate) fn take(bytes: usize, is_block: bool) -> Result<usize, BorrowError> {
    STATE.with(|state| {
        let region = joined(state)?;
        let address = region.client.take(bytes)?;
        let end = address + bytes.next_multiple_of(PAGE_BYTES);
        region.held.set(address..end, Some(Held::NEW));
        if is_block {
            region.blocks.insert(address, bytes);
        }
        Ok(address)
    })
}

/// The bytes of a block.
pub(crate) fn block_bytes(address: usize) -> Option<usize> {
    STATE.with(|state| match state {
        JoinState::Joined(region) => region.blocks.get(&address).copied(),
        _ => None,
    })
}

/// Gives a block back. Whether there is one.
pub(crate) fn free(address: usize) -> bool {
    let taken = STATE.with(|state| match state {
        JoinState::Joined(region) => region.blocks.remove(&address),
        _ => None,
    });
    taken.is_some_and(|bytes| {
        give_back(address..address + bytes.next_multiple_of(PAGE_BYTES)).is_ok()
    })
}

/// Does something with the region of a process that has joined.
fn with_region<T>(
    body: impl FnOnce(&mut Region) -> Result<T, BorrowError>,
) -> Result<T, BorrowError> {
    STATE.with(|state| body(joined(state)?))
}

/// Gives a range of pages back.
pub(crate) fn give_back(range: Range<usize>) -> Result<(), BorrowError> {
    with_region(|region| {
        region.held.set(range.clone(), None);
        region.client.give_back(range.start, range.len())
    })
}

/// Makes a range of borrowed pages zeros.
pub(crate) fn discard(range: Range<usize>) -> Result<(), BorrowError> {
    with_region(|region| region.client.discard(range.start, range.len()))
}

/// Puts new borrowed memory, zeros, in place of what the program has there.
pub(crate) fn renew(range: Range<usize>) -> Result<(), BorrowError> {
    with_region(|region| {
        region.held.set(range.clone(), Some(Held::NEW));
        region.client.renew(range.start, range.len())
    })
}

/// The program has mapped something else in place of what it had there.
pub(crate) fn replace(range: Range<usize>, protection: c_int) -> Result<(), BorrowError> {
    let held = Held {
        is_borrowed: false,
        protection,
    };
    set_held(range.clone(), held)?;
    discard(range)
}

/// Notes what the program has there.
pub(crate) fn set_held(range: Range<usize>, held: Held) -> Result<(), BorrowError> {
    with_region(|region| {
        region.held.set(range, Some(held));
        Ok(())
    })
}

/// Lets a child of a fork begin anew.
fn at_fork() {
    static IS_SET: Lock<bool> = Lock::new(false);
    if IS_SET.with(|is_set| core::mem::replace(is_set, true)) {
        return;
    }
    // SAFETY: the handlers are functions that stay as long as the process. This library is never
    // unloaded, because the program calls its functions.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

extern "C" fn before_fork() {
    STATE.take();
}

extern "C" fn in_parent() {
    STATE.give_back();
}

extern "C" fn in_child() {
    // SAFETY: the child has one thread, this one, whose parent has taken the lock before the fork.
    let state = unsafe { STATE.with_taken(|state| core::mem::replace(state, JoinState::Idle)) };
    if let JoinState::Joined(Region {
        client,
        blocks,
        held,
    }) = state
    {
        set_own([-1; 3]);
        if !addresses::abandon() {
            // The addresses cannot be remembered, so they stay the region, and nothing more is borrowed.
            ABOVE.store(NEVER, Ordering::Relaxed);
        }
        client.abandon();
        core::mem::forget((blocks, held));
        last_words::prepare();
    }
    STATE.give_back();
}
