//! PMI in text, the protocol between a launcher and the processes it started.
//!
//! A process finds its launcher in the environment ([`crate::launch`]), asks it who it is, and exchanges short strings with the other processes of
//! the job through it ([`Client`]). That is all that is needed to set up faster
//! ways. `hostwire run` and MPICH's `mpiexec.hydra` speak it, and so does
//! Slurm's `srun --mpi=pmi2`.
//!
//! # Source
//! PMI version 1, wire protocol as spoken by MPICH's simple PMI client and by
//! the Hydra process manager. There is no normative text; where the two
//! disagree the client accepts both.

mod client;
mod client2;
mod connection;
mod variables;
pub mod wire;
mod wire2;

pub use client::{Client, PmiError};
pub use client2::Client2;

use client::{check_key, check_word};
