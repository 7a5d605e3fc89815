//! Parts of the operating system that the launcher and the bootstrap use.

pub mod hosts;
pub(crate) mod netlink;
pub mod process;
mod random;

pub use random::random;
