//! hostwire as a backend of NIXL: what `libplugin_HOSTWIRE.so` does behind the C++ class that NIXL asks for.
//!
//! An agent of NIXL is a [`Station`](hostwire::station::Station), its connection information is the name of that station, and
//! registered memory is a region with a key. `csrc/plugin.cpp` translates between the types of NIXL and [`abi`].
//!
//! | file | |
//! |---|---|
//! | `abi` | the functions that C++ calls |
//! | `agent` | an agent: its engine, and a thread for progress |
//! | `engine` | its station, its memory, the others that it knows |
//! | `transfer` | reads and writes under way, and when they have ended |
//! | `bytes` | memory of the program that is under way |
//! | `notice` | a notification as bytes |
//! | `inbox` | notifications that have come |
//! | `progress` | the thread that makes progress while the program does not look |
//! | `status` | which error is which number of NIXL |
//!
//! # Safety
//! What C++ calls rests on what NIXL demands of its users, and says so as *the contract*: memory is there from its registration
//! to the end of it, and nobody else uses it while a transfer of this agent does. What comes from other agents is checked. A panic
//! would end the process: it does not leave an `extern "C"` function.

#![cfg(target_os = "linux")]
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "what a call of C does with its arguments rests on one contract"
)]

pub mod abi;
mod agent;
mod bytes;
mod engine;
mod inbox;
mod notice;
mod status;
mod transfer;
