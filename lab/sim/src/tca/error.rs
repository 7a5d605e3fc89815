//! Errors, and who is at fault.

use crate::engine::{Ps, RunError};
use crate::models::pcie::Role;
use crate::models::pcie::peach2::chip::{DESCRIPTORS_MAX, DmaStatus, ManagementCommand};

use super::device_address::{Device, DeviceAddress};

/// Most nodes of a sub-cluster.
pub const NODES_MAX: usize = 16;

/// Why a sub-cluster cannot be built. The caller is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The plan is for another fabric.
    #[error("the plan is not for PEACH2: a sub-cluster needs `fabric = \"peach2\"`")]
    NotPeach2,
    /// The plan has too few or too many nodes.
    #[error("a sub-cluster has 2 to {NODES_MAX} nodes, got {nodes}")]
    NodeCount {
        /// Nodes of the plan.
        nodes: usize,
    },
    /// A host has too little memory for the driver.
    #[error("node {node} has {bytes} bytes of memory; the driver keeps {needed} for itself")]
    Memory {
        /// Which node.
        node: u16,
        /// Its memory.
        bytes: u64,
        /// The requirement of the driver.
        needed: u64,
    },
}

/// The reason why a call did nothing, or why a transfer failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TcaError {
    /// The caller names a node that does not exist.
    #[error("there is no node {node}: the sub-cluster has {nodes}")]
    NoNode {
        /// The number.
        node: u16,
        /// How many there are.
        nodes: usize,
    },
    /// The caller names a device that the node does not have.
    #[error("node {node} has no {device}")]
    NoDevice {
        /// The node.
        node: u16,
        /// The device.
        device: Device,
    },
    /// The caller's bytes do not lie in the device's memory.
    #[error("{place} and {len} bytes: expected a part of {first:#x}..{end:#x}")]
    OutOfRange {
        /// Where.
        place: DeviceAddress,
        /// How many.
        len: u64,
        /// First offset for programs.
        first: u64,
        /// Offset behind the last one.
        end: u64,
    },
    /// The caller asks to read another node: PEACH2 carries writes only.
    #[error(
        "node {node} cannot read {target}: only writes cross between nodes; let node {} put it",
        target.node
    )]
    RemoteRead {
        /// The node that asks.
        node: u16,
        /// For what.
        target: DeviceAddress,
    },
    /// A descriptor moves whole dwords.
    #[error("{place} and {len} bytes: DMA needs multiples of 4")]
    Misaligned {
        /// Where.
        place: DeviceAddress,
        /// How many.
        len: u64,
    },
    /// The chain needs more descriptors than a table has.
    #[error("{descriptors} descriptors: a table has {DESCRIPTORS_MAX}")]
    TooManyDescriptors {
        /// How many it would need.
        descriptors: u64,
    },
    /// The chain is empty.
    #[error("a chain without descriptors")]
    EmptyChain,
    /// A transfer of this node is still at work.
    #[error("the DMA controller of node {node} is at work: wait for its transfer")]
    Busy {
        /// The node.
        node: u16,
    },
    /// The controller has ended the table early.
    #[error("the DMA controller of node {node} ended with {status:?}")]
    Dma {
        /// The node.
        node: u16,
        /// Why.
        status: DmaStatus,
    },
    /// A read was answered by Unsupported Request.
    #[error("{target}: the read was refused (Unsupported Request)")]
    Refused {
        /// The place that the caller wanted to read.
        target: DeviceAddress,
    },
    /// The cluster has no second ring to couple.
    #[error("no cable joins two ports south: a double ring has them")]
    NoSouth,
    /// The caller gave both ends of a cable the same role.
    #[error(
        "ports {} and {} are both {role}: a PCI Express link needs a root complex at one end and \
         an endpoint at the other",
        ports[0],
        ports[1]
    )]
    SameRoles {
        /// Their names.
        ports: [String; 2],
        /// What both are.
        role: Role,
    },
    /// A port is on and has no cable.
    #[error("port {port} has no cable, or its cable is pulled")]
    NoCable {
        /// Its name.
        port: String,
    },
    /// A link does not come up.
    #[error("the link at port {port} does not come up: is the port at its other end on?")]
    LinkDown {
        /// The name of a port of it.
        port: String,
    },
    /// A management processor does not answer.
    #[error("the management processor of node {node} has not answered {command:?} in a second")]
    Management {
        /// Its node.
        node: u16,
        /// The command.
        command: ManagementCommand,
    },
    /// The awaited event cannot happen any more.
    #[error("node {node} waits for {what}, and nothing is under way any more")]
    Never {
        /// The node.
        node: u16,
        /// For what.
        what: &'static str,
    },
    /// The simulation did not come to its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Somebody ended the run.
    #[error("interrupted at {time} after {events} events")]
    Interrupted {
        /// Events handled.
        events: u64,
        /// Simulated time reached.
        time: Ps,
    },
}
