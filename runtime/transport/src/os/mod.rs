//! Parts of the operating system that the launcher, the bootstrap and threads of the library use.

pub mod hosts;
pub mod library;
pub mod neighbour;
pub mod netlink;
pub mod process;
mod random;
pub mod signals;
pub mod strangers;

pub use random::random;
