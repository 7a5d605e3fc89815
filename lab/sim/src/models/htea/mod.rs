//! HyperTransport over Ethernet adapters (HTEA).
//!
//! | module | |
//! |---|---|
//! | [`adapter`] | a device on a HyperTransport link, with the real frames of `hostwire-link` |
//! | [`fast`] | many senders and one accelerator: stages and counts, without bytes |
//!
//! `docs/sim/htea.md` says when to take which, and what holds them equal.

pub mod adapter;
pub mod fast;
