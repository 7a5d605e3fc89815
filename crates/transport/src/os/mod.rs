//! What the launcher and the bootstrap need of the operating system.

pub mod hosts;
pub(crate) mod netlink;
pub mod process;
