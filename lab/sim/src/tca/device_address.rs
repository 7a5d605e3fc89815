//! Node and device ids, and places in the memory of devices.

use std::fmt;

use hostwire_plan::address_map::Peach2Block;
use serde::Serialize;

/// A device of a node that the window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// The first GPU.
    Gpu0,
    /// The second GPU.
    Gpu1,
    /// The host's memory.
    Host,
    /// The chip's memory; its first 4 KiB are registers.
    Internal,
}

impl Device {
    /// Its block of the node's part of the window, 0 to 3.
    pub fn block(self) -> usize {
        self as usize
    }

    pub(super) fn planned(self) -> Peach2Block {
        Peach2Block::ALL[self.block()]
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Device::Gpu0 => "gpu0",
            Device::Gpu1 => "gpu1",
            Device::Host => "host",
            Device::Internal => "internal",
        })
    }
}

/// A byte of a device of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceAddress {
    /// The node, by its number in the plan.
    pub node: u16,
    /// The device.
    pub device: Device,
    /// Offset in the device's memory, in bytes.
    pub offset: u64,
}

impl DeviceAddress {
    /// Byte `offset` of `device` of `node`.
    pub fn new(node: u16, device: Device, offset: u64) -> DeviceAddress {
        DeviceAddress {
            node,
            device,
            offset,
        }
    }

    /// The place so many bytes further, or `None` past the largest offset.
    pub fn after(self, bytes: u64) -> Option<DeviceAddress> {
        let offset = self.offset.checked_add(bytes)?;
        Some(DeviceAddress { offset, ..self })
    }
}

impl fmt::Display for DeviceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {} {}+{:#x}", self.node, self.device, self.offset)
    }
}
