//! A TCA sub-cluster: PEACH2 chips that join nodes by PCI Express.
//!
//! | module | |
//! |---|---|
//! | [`link`] | a PCI Express link: flow control, Ack, Nak, replay |
//! | [`chip`] | a PEACH2 chip: routing, address conversion, DMA controller |
//! | [`host`] | processor, memory, GPUs and the root complex between them |
//! | [`tca`] | the programming interface, on a whole sub-cluster |
//!
//! ```
//! use hostwire_sim::peach2::tca::{Chain, Config, Device, Engine, Place, SubCluster};
//!
//! let file = include_bytes!("../../clusters/peach2-double-ring.toml");
//! let plan = hostwire_plan::plan("cluster.toml", file)?;
//! let mut cluster = SubCluster::new(&plan, &Config::default())?;
//! let source = Place::new(0, Device::Gpu0, 0);
//! let destination = Place::new(5, Device::Gpu1, 4096);
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

pub mod chip;
mod event;
pub mod host;
pub mod link;
mod sparse;
pub mod tca;
mod tlp;

pub use event::{Fabric, PcieEvent};
pub use tlp::Tlp;
