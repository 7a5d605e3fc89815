//! The HT-Core: its pins and clocks ([`pins`]), a design behind them ([`chip`]), its queues ([`core`]), the partner on the link ([`partner`]), the user's logic behind its
//! queues ([`user`]), and all of them together ([`mod@bench`]). [`bring_up`] is what a host does first, with [`requests`].

pub mod bench;
pub mod bring_up;
pub mod chip;
pub mod core;
pub mod packets;
pub mod partner;
pub mod pins;
pub mod requests;
pub mod user;

pub use bench::{Bench, Fault, Options};
pub use bring_up::BringUp;
pub use chip::Chip;
pub use core::{Core, Width};
