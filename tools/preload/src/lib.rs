//! `libhostwire_remote.so`: large allocations of a program in memory of other hosts.
//!
//! `hostwire borrow` has it loaded into programs before the C library (`LD_PRELOAD`), so that its functions take the
//! place of `malloc` and `mmap`. Allocations larger than `HOSTWIRE_BORROW_ABOVE` go to borrowed memory. All others go
//! to the C library and the kernel, as does everything where nothing is borrowed. Programs that want to choose what is
//! borrowed use `include/hostwire_remote.h`.
//!
//! | file | |
//! |---|---|
//! | `region.rs` | the one region of this process: who has what, and what a fork does |
//! | `addresses.rs` | which addresses are of borrowed memory |
//! | `allocation.rs` | `malloc` and its family |
//! | `mapping.rs`, `mapping/remap.rs` | `mmap` and its family |
//! | `descriptors.rs` | `close` and its family, which spare the descriptors of this library |
//! | `remote.rs` | the functions of `hostwire_remote.h` |
//! | `last_words.rs` | the line before the end of a child that touches its parent's borrowed memory |
//! | `lock.rs` | a lock that can be held across a fork |
//!
//! Nothing here may ask for much memory itself. Small requests go to the C library without any lock,
//! so the code may use them.

mod addresses;
mod allocation;
mod descriptors;
mod last_words;
mod lock;
mod mapping;
mod region;
mod remote;
