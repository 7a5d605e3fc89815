//! The TCA programming interface, in virtual time.
//!
//! The paper describes it by what it has to offer (section III.H): node ids beside device ids, a
//! copy between devices as `cudaMemcpyPeer` is one, block and block-stride transfers through
//! chained DMA. The names are this project's. Every call acts at the simulation's current time;
//! those that wait let it pass.
//!
//! Only writes cross between nodes. A chain runs on the node that has the data; asking for
//! another node's memory is an error before anything happens.

mod build;
mod chain;
mod cluster;
mod error;
mod place;

pub use build::{Config, LOOPBACK};
pub use chain::{Chain, Piece, Stride};
pub use cluster::{Engine, LinkUse, SubCluster, Transfer};
pub use error::{BuildError, NODES_MAX, TcaError};
pub use place::{Device, Place};
