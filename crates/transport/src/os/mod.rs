//! What the launcher and the bootstrap need of the operating system.

pub mod hosts;
mod netlink;
pub mod process;
