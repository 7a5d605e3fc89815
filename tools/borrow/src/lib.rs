//! Memory of other hosts as a program's own.
//!
//! A program touches a page that is not there. The kernel stops the thread and tells the *pager*, by
//! `userfaultfd`. The pager fetches the page from where it lies, the [`Store`](server::Store), and the
//! thread goes on. When the *cache*, the pages that are here, is full, the pager writes the oldest ones
//! back and takes them away.
//!
//! | module | what it is |
//! |---|---|
//! | [`paging`] | which pages to fetch, to keep and to write back; no I/O |
//! | [`room`] | which part of the borrowed memory belongs to whom; no I/O |
//! | [`ranges`] | what lies at which addresses of a program; no I/O |
//! | [`uffd`] | the system calls; the unsafe code |
//! | [`server`] | the pager: faults and requests in, pages out |
//! | [`client`] | the program's side |
//! | [`heap`] | [`RemoteHeap`], for programs that ask for it |

#![cfg(target_os = "linux")]

pub mod client;
pub mod heap;
pub mod message;
pub mod paging;
pub mod ranges;
pub mod room;
pub mod server;
pub mod uffd;

pub use heap::RemoteHeap;

/// Bytes of a page.
pub const PAGE_BYTES: usize = 4096;

/// Pages that hold `bytes`.
pub fn pages_of(bytes: usize) -> usize {
    bytes.div_ceil(PAGE_BYTES)
}
