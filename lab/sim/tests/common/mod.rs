//! What several modules of tests use.

pub mod boards;
#[macro_use]
pub mod cases;
pub mod clusters;
pub mod protobuf;
pub mod seeds;
pub mod seven_senders;
pub mod sockets;
#[macro_use]
pub mod suites;
pub mod threads;
