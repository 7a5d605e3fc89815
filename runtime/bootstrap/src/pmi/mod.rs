//! PMI in text, the protocol between a launcher and the processes it started.
//!
//! A process finds its launcher in the environment ([`launch_environment`](crate::launch_environment)), asks it for its number, and
//! exchanges short strings with the other processes of the job through it ([`Client`]). That is
//! enough to set up faster ways. `hostwire run`, MPICH's `mpiexec.hydra` and Slurm's `srun
//! --mpi=pmi2` have this protocol.
//!
//! # Source
//! PMI version 1, wire protocol as spoken by MPICH's simple PMI client and by
//! the Hydra process manager. There is no normative text; where the two
//! disagree the client accepts both.

#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod client2;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod error;
#[cfg(target_os = "linux")]
pub(crate) mod variables;
pub mod wire;
#[cfg(target_os = "linux")]
pub(crate) mod wire2;

#[cfg(target_os = "linux")]
pub use client::Client;
#[cfg(target_os = "linux")]
use client::{check_key, check_word};
#[cfg(target_os = "linux")]
pub use client2::Client2;
#[cfg(target_os = "linux")]
pub use error::PmiError;
