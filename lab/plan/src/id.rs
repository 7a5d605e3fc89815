//! The nouns of a plan: nodes, processors and links.

use std::fmt;

use serde::Serialize;

/// A host with its own entry in the global address map.
///
/// Nodes are numbered in address order: node 0 owns the lowest addresses. A
/// supernode (several processors in one coherent domain) is one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NodeId(pub u16);

impl NodeId {
    /// The number as an index into [`Plan::nodes`](crate::Plan::nodes).
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

/// One processor (or one PEACH2 chip) of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ProcessorId {
    /// The node it belongs to.
    pub node: NodeId,
    /// Its number inside the node, 0 to 7; 0 is the bootstrap processor.
    pub index: u8,
}

impl fmt::Display for ProcessorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.p{}", self.node, self.index)
    }
}

/// A link of one processor, 0 to 7.
///
/// On an Opteron links 4 to 7 are sublink 1 of links 0 to 3. On a PEACH2 chip
/// links 0 to 3 are the ports east, west, south and north.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LinkIndex(u8);

impl LinkIndex {
    /// Links a processor can have at most.
    pub const COUNT: u8 = 8;

    /// The link with this number, or `None` past 7.
    pub fn new(index: u8) -> Option<Self> {
        (index < Self::COUNT).then_some(Self(index))
    }

    /// The link with the low three bits of `bits` as its number.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 7)
    }

    /// The number, 0 to 7.
    pub fn get(self) -> u8 {
        self.0
    }

    /// The number as an index, 0 to 7.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for LinkIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l{}", self.0)
    }
}

/// One end of a cable: a link of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PortId {
    /// The processor.
    pub processor: ProcessorId,
    /// Its link.
    pub link: LinkIndex,
}

impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.processor, self.link)
    }
}
