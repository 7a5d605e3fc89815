//! The events that devices exchange.

use crate::engine::{Event, Sim};

use super::ethernet::EtherEvent;
use super::flit::{Flit, FlitEvent};
use super::ht::Ht;
use super::htea::AdapterEvent;
use super::link::{Family, LinkEvent};
use super::link_port::LinkPortEvent;
use super::nic::NicEvent;
use super::opteron::OpteronEvent;
use super::packet::Frame;
use super::pcie::Pcie;
use super::peach2::{ChipEvent, HostEvent};

/// A simulation of devices.
pub type Fabric = Sim<DeviceEvent>;

/// Events from one device to another, or to itself: devices of all families can stand in one
/// machine.
#[derive(Debug)]
pub enum DeviceEvent {
    /// HyperTransport: between a link and its devices.
    Ht(LinkEvent<Ht>),
    /// PCI Express: between a link and its devices.
    Pcie(LinkEvent<Pcie>),
    /// Links of today: between a link and its devices.
    Flit(LinkEvent<Flit>),
    /// A switch or a host on links of today to itself.
    FlitDevice(FlitEvent),
    /// Between link ports, cables and switches: a frame has arrived whole.
    Frame {
        /// Port of the receiving device.
        port: u8,
        /// The frame.
        frame: Box<Frame>,
    },
    /// Between hosts or adapters with the project's own links and their switch.
    Ethernet(EtherEvent),
    /// An adapter to itself.
    Adapter(AdapterEvent),
    /// An Opteron to itself.
    Opteron(OpteronEvent),
    /// A NIC to itself.
    Nic(NicEvent),
    /// A NIC or a switch to itself, about one of its link ports.
    LinkPort(LinkPortEvent),
    /// A PEACH2 chip to itself.
    Chip(ChipEvent),
    /// To a host with PEACH2 chips, from its programs or itself.
    Host(HostEvent),
}

/// Events are moved several times on their way through the queue: a large part of one belongs
/// behind a pointer.
const _: () = assert!(size_of::<DeviceEvent>() <= 32);

impl Event for DeviceEvent {
    fn digest(&self) -> u64 {
        match self {
            DeviceEvent::Ht(event) => Ht::digest(event),
            DeviceEvent::Pcie(event) => Pcie::digest(event),
            DeviceEvent::Frame { port, frame } => 5 | u64::from(*port) << 8 | frame.digest() << 16,
            DeviceEvent::Opteron(event) => 7 | event.digest() << 8,
            DeviceEvent::Nic(event) => 8 | event.digest() << 8,
            DeviceEvent::LinkPort(event) => 9 | event.digest() << 8,
            DeviceEvent::Ethernet(event) => 10 | event.digest() << 8,
            DeviceEvent::Flit(event) => 11 | Flit::digest(event) << 8,
            DeviceEvent::FlitDevice(event) => 12 | event.digest() << 8,
            DeviceEvent::Adapter(event) => 13 | event.digest() << 8,
            DeviceEvent::Chip(event) => event.digest().rotate_left(7) ^ 6,
            DeviceEvent::Host(event) => event.digest().rotate_left(7) ^ 7,
        }
    }
}
