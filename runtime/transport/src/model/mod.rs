//! A model of the memories behind windows. It makes missing fences visible.
//!
//! With `--cfg memory_model` (`scripts/model.sh`) the atomics, fences, flushes and copies
//! of this crate come here if they touch a window of a [`run`]. A modelled machine then
//! decides when a store becomes visible and what a load finds; it may do everything that
//! real machines may do. The model lies below [`crate::Window`] and [`crate::Memory`], so
//! the code above it is the code that is shipped. Other builds do not contain it.
//!
//! | what | how |
//! |---|---|
//! | store | into the store buffer of the PE; leaves it in order on x86, in any order that
//! release and barriers allow on Arm |
//! | through a coherent window | then it is seen by all |
//! | through a write-combining window | then it merges into one of four buffers of 64 bytes. A full one leaves as one packet, any other, at any time, as chunks of 8 bytes in any order. Packets of a PE to another arrive in order, at any time |
//! | into flushed memory | then it is in the cache of the host, which takes the whole line first |
//! | load | own store buffer; or memory, or on flushed memory the cache of the host, however old its line is. On Arm it may be done early, back to the last acquire or barrier |
//! | load or atomic through a write-combining window | the test fails |
//! | caches of flushed memory | take lines that nobody asked for, drop clean ones, write back dirty ones as a whole; clean ones as well if [`Setting::clean_write_backs`] says so |
//! | `clflush` | through the store buffer, so loads pass it |
//! | `clwb`, `clflushopt` | through the store buffer behind stores to the line; passed by, and passing, all other stores and flushes up to a fence |
//! | `dc cvac`, `dc civac` | in order with accesses to the same line; with all others only by `dsb` |
//! | `sfence` | store buffer and combining buffers go before later stores; loads pass it |
//! | `mfence`, locked instructions, `dsb` | all of that, and loads wait |
//! | `dmb` (fences of the language) | orders what the PEs of one host see; does not wait for `dc`, nor for write-combining buffers |
//! | futex, `membarrier` | reach the PEs of the same host |
//!
//! PEs are coroutines of one thread, and any access may switch to another PE. A seed
//! decides everything, and a failure prints it. There is no clock: a sleeping PE is woken
//! by a ring, or when nothing else can happen.
//!
//! # What it leaves out
//! - Loads are never done after later stores (load buffering); on Arm they may be.
//! - Dependencies of addresses and data order nothing, as in the language; on Arm they do.
//! - Read-modify-writes are done behind all earlier stores, whatever order they ask for.
//! - `movdir64b`, which this crate does not use.
//! - [`crate::Reach`] and other code that takes addresses of windows instead of their
//!   words.

mod atomic;
mod buffer;
mod cache;
mod combine;
pub(crate) mod door;
mod fabric;
mod log;
mod machine;
mod named_fences;
mod run;
mod segment;
mod setting;
mod steps;
mod wire;

pub use atomic::{AtomicU16, AtomicU32, AtomicU64};
pub use fabric::Modelled;
#[doc(hidden)]
pub use named_fences::left_out;
pub use run::{Outcome, chosen, explore, run};
pub use setting::{Processor, Setting};
pub use wire::ModelWire;
