//! Models of hardware.
//!
//! | module | models | page |
//! |---|---|---|
//! | [`link`] | a link of any family, both directions | `docs/sim/link.md` |
//! | [`ht`] | HyperTransport: the family of links, packets | `docs/sim/link.md` |
//! | [`ht::opteron`] | an Opteron socket: cores, write combining, northbridge, memory | `docs/sim/opteron.md` |
//! | [`ht::nic`] | the HTX board: HT-Core, ports, completer | `docs/sim/nic.md` |
//! | [`ht::link_port`] | one end of a link between boards: framing, Go-Back-N | `docs/sim/nic.md` |
//! | [`ht::southbridge`] | the end of a non-coherent chain | `docs/sim/opteron.md` |
//! | [`ht::switch`] | a frame switch between boards | `docs/sim/switch.md` |
//! | [`ht::cable`] | a cable between two link ports | `docs/sim/cable.md` |
//! | [`pcie`] | PCI Express: flow control, Ack, Nak, replay | `docs/sim/tca.md` |
//! | [`pcie::bridge`] | a bridge from HyperTransport to PCI Express | `docs/sim/bridge.md` |
//! | [`pcie::peach2`] | a PEACH2 chip, and a host with such chips | `docs/sim/tca.md` |
//! | [`pcie::mover`] | a device with a DMA engine: a GPU, a network adapter | `docs/sim/tca.md` |
//! | [`htea`] | adapters for HyperTransport over Ethernet | `docs/sim/htea.md` |
//! | [`ethernet`] | hosts with the project's own links, and a switch | `docs/sim/ethernet.md` |
//! | [`flit`] | links of today, and a switch between them | `docs/sim/links-of-today.md` |
//! | [`memory`] | a processor with caches over regions of memory | `docs/sim/pgas.md` |
//!
//! Devices talk through [`DeviceEvent`]. A device never looks into another
//! one; what crosses between them is an event with a time.

pub mod ethernet;
mod event;
pub mod flit;
pub mod ht;
pub mod htea;
mod kind;
pub mod link;
pub mod memory;
pub mod pcie;

pub use event::{DeviceEvent, Fabric};
