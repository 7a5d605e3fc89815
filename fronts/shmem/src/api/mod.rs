//! Every routine of OpenSHMEM 1.6, once for all types: what the C entry points call.
//!
//! A routine has the name of its C twin without `shmem_`, `ctx_` and the name of the
//! type. Those that work on a context take it first; the C routine without one passes
//! [`CTX_DEFAULT`]. They look like C: raw pointers, C integers, no `Result`. An error of
//! the caller ends the job with an error text, except where the specification names a
//! value to return.
//!
//! # Safety
//! They are as unsafe as C: local addresses are valid for what the routine reads and writes there.
//! The conditions of each routine are those of its C twin in the specification. Symmetric addresses
//! are checked before use, so atomics and signals that take no other address are safe.

#![allow(clippy::missing_safety_doc, clippy::too_many_arguments)]

mod active;
mod atomic;
mod collective;
mod contexts;
mod lock;
mod memory;
mod order;
mod rma;
mod setup;
mod signal;
mod strided;
mod teams;
mod wait;

pub use active::*;
pub use atomic::*;
pub use collective::*;
pub use contexts::*;
pub use lock::*;
pub use memory::*;
pub use order::*;
pub use rma::*;
pub use setup::*;
pub use signal::*;
pub use strided::*;
pub use teams::*;
pub use wait::*;

pub use crate::element::{
    Atomic, AtomicInteger, Bits128, ComplexF32, ComplexF64, Element, LongDouble, Waitable,
};
pub use crate::handle::{
    CTX_DEFAULT, CTX_INVALID, Ctx, SessionConfig, TEAM_INVALID, TEAM_SHARED, TEAM_WORLD, Team,
    TeamConfig,
};
pub use crate::reduction::{And, Max, Min, Or, Prod, Reduce, Sum, Xor};
