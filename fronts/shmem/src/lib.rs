//! OpenSHMEM 1.6 over hostwire: what is behind `libshmem`.
//!
//! C programs use `shmem.h`; the routines it declares are thin entry points that call
//! [`api`]. Rust programs are better served by the crate `hostwire`.
//!
//! | module | what it is |
//! |---|---|
//! | [`abi`] | the C entry points, generated |
//! | [`api`] | every routine once, for all types |
//! | `buffer` | memory that a program hands to a routine, with its length |
//! | `mapped` | memory of PEs that loads and stores reach |
//! | `fast`, `copy` | the short way of puts, gets and atomics: a few compares and the store |
//! | `remote` | the long way: contexts, checks, wires that do not map memory |
//! | `lifecycle`, `runtime`, `statics`, `fork` | start and end; static objects onto shared memory |
//! | `heap` | the symmetric heap |
//! | `team`, `context` | which PEs operations reach |
//! | `collective`, `active` | collective operations of teams and of active sets |
//! | `wait`, `lock` | waiting for own memory, and locks made of that |
//! | `arguments` | arguments of programs, checked with `SHMEM_DEBUG` |
//! | `debug`, `settings`, `fail` | `SHMEM_DEBUG`, the environment, the error texts |

pub mod abi;
mod active;
pub mod api;
mod arguments;
mod buffer;
mod collective;
pub mod constants;
mod context;
mod copy;
mod debug;
pub mod element;
mod fail;
mod fast;
mod fork;
#[cfg(all(feature = "fuzzing", target_os = "linux"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod handle;
mod heap;
mod lifecycle;
mod lock;
mod mapped;
mod mpi;
mod query;
pub mod reduction;
mod remote;
mod runtime;
mod settings;
mod statics;
mod team;
mod wait;
