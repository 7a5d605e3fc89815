//! OpenSHMEM 1.6 over hostwire: what is behind `libshmem`.
//!
//! C programs use `shmem.h`; the routines it declares are thin entry points that call
//! [`api`]. Rust programs are better served by the crate `hostwire`.

pub mod abi;
pub mod api;
pub mod element;
pub mod handle;
pub mod reduction;
