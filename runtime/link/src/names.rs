//! Names of nodes and of their links.

/// Number of a node: one end of virtual links. Chosen by the caller, the same
/// on all nodes unless it says [otherwise](crate::Endpoint::link_as).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

impl core::fmt::Display for Node {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "node {}", self.0)
    }
}

/// A link of one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u16);

impl LinkId {
    /// 0 for the first link of an endpoint, and so on: for tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node's numbers for the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called {
    /// The other end.
    pub own: Node,
    /// Itself.
    pub peer: Node,
}
