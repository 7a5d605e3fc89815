//! `hostwire lend` and `hostwire borrow`, end to end: real processes, unmodified programs.
//!
//! Without userfaultfd or a C compiler the tests are left out, and say so. Limits of time are for a hang
//! only.

mod calls;
mod death;
mod kit;
mod lenders;
mod network;
mod programs;
