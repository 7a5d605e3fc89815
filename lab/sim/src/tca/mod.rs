//! The TCA programming interface, in virtual time.
//!
//! The paper describes it by what it has to offer (section III.H): node ids beside device ids, a
//! copy between devices as `cudaMemcpyPeer` is one, block and block-stride transfers through
//! chained DMA. The names are this project's. Every call acts at the simulation's current time;
//! those that wait let it pass.
//!
//! Only writes cross between nodes. A chain runs on the node that has the data; asking for
//! another node's memory is an error before anything happens.
//!
//! ```
//! use hostwire_sim::tca::{Chain, Config, Device, Engine, DeviceAddress, SubCluster};
//!
//! let file = include_bytes!("../../clusters/peach2-double-ring.toml");
//! let plan = hostwire_plan::plan("cluster.toml", file)?;
//! let mut cluster = SubCluster::new(&plan, &Config::default())?;
//! let source = DeviceAddress::new(0, Device::Gpu0, 0);
//! let destination = DeviceAddress::new(5, Device::Gpu1, 4096);
//! cluster.set_memory(source, &[7; 1000])?;
//! let mut chain = Chain::new();
//! chain.copy(destination, source, 1000)?;
//! let transfer = cluster.launch(0, &chain, Engine::Pipelined)?;
//! cluster.wait(transfer)?;
//! cluster.settle()?;
//! assert_eq!(cluster.memory(destination, 1000)?, [7; 1000]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Scope, sources of parameters and validation: `docs/sim/tca.md`.

mod build;
mod chain;
mod cluster;
mod device_address;
mod dma;
mod driver;
mod error;
mod manage;

pub use build::{Config, LOOPBACK, Puts, Start};
pub use chain::{Chain, Piece, Stride};
pub use cluster::{LinkUse, SubCluster};
pub use device_address::{Device, DeviceAddress};
pub use dma::Engine;
pub use driver::Transfer;
pub use error::{BuildError, NODES_MAX, TcaError};
