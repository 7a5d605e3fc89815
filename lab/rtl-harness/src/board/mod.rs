//! Designs on the HT-Core with pins only: a board in the slot of a host ([`host`]), cables between boards ([`cable`]), and
//! a switch ([`switch`]). [`network`] is several hosts that send each other messages; [`memory`] is one that writes and
//! reads.

pub mod cable;
pub mod host;
pub mod memory;
pub mod network;
pub mod switch;

pub use cable::{Cable, Faults};
pub use host::Host;
pub use network::Network;
