//! Models of hardware.
//!
//! | module | models | page |
//! |---|---|---|
//! | [`link`] | a link of any family, both directions | `docs/sim/link.md` |
//! | [`ht`] | HyperTransport: clock, credits, retry | `docs/sim/link.md` |
//! | [`pcie`] | PCI Express: flow control, Ack, Nak, replay | `docs/sim/tca.md` |
//! | [`opteron`] | an Opteron socket: cores, write combining, northbridge, memory | `docs/sim/opteron.md` |
//! | [`link_port`] | one end of a link between NICs: framing, Go-Back-N | `docs/sim/nic.md` |
//! | [`nic`] | the HTX board: HT-Core, ports, completer | `docs/sim/nic.md` |
//! | [`southbridge`] | the end of a non-coherent chain | `docs/sim/opteron.md` |
//! | [`switch`] | a frame switch between NICs | `docs/sim/switch.md` |
//! | [`cable`] | a cable between two link ports | `docs/sim/cable.md` |
//! | [`ethernet`] | hosts with the project's own links, and a switch | `docs/sim/ethernet.md` |
//! | [`flit`] | links of today, and a switch between them | `docs/sim/links-of-today.md` |
//! | [`htea`] | an adapter for HyperTransport over Ethernet | `docs/sim/htea.md` |
//! | [`peach2`] | a PEACH2 chip, and a host with such chips | `docs/sim/tca.md` |
//!
//! Devices talk through [`DeviceEvent`]. A device never looks into another
//! one; what crosses between them is an event with a time.

mod bytes;
pub mod cable;
pub mod ethernet;
mod event;
pub mod flit;
pub mod ht;
pub mod htea;
pub mod link;
pub mod link_port;
pub mod nic;
pub mod opteron;
mod packet;
pub mod pcie;
pub mod peach2;
mod port;
pub mod southbridge;
pub mod switch;

pub use bytes::{EncodeError, packet_bytes};
pub use event::{DeviceEvent, Fabric};
pub use packet::{Command, Frame, PAYLOAD_BYTES_MAX, Packet, VirtualChannel};
pub use port::Port;
