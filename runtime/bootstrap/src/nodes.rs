//! Which PEs share a host.
//!
//! Processes share memory here by passing descriptors through an abstract Unix socket
//! (`hostwire_transport::shm`). This works exactly within one network namespace of one
//! running kernel, whatever the host names, the launcher's nodes and other namespaces are.
//! So a *node* is the boot id of the kernel plus the number of the network namespace. Host
//! names are only for texts. If a container shows no boot id, they are used instead.

use std::sync::Arc;

use hostwire_transport::PeId;

use super::{Bootstrap, LaunchError};

/// The keys of every PE's values about its host, and of the table that PE 0 makes of
/// them.
const HOST: &str = "hostwire-host";
const NODES: &str = "hostwire-nodes";

/// The longest host name that is kept, in bytes; the kernel has no longer names.
const NAME_BYTES_MAX: usize = 64;
/// The beginning of a table, with its version.
const MAGIC: [u8; 4] = *b"hwn\x01";

/// A host, or a part of one that counts as a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The host name of its first PE. Not unique, and never empty.
    pub host: String,
    /// The PEs on it, in rising order; at least one.
    pub pes: Vec<PeId>,
}

impl Node {
    /// The PE with the smallest number. It does the work that is done once per node.
    pub fn first_pe(&self) -> PeId {
        self.pes.first().copied().unwrap_or(0)
    }
}

/// Which PEs are on which node. The same on all PEs of a job. A clone shares the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// By the number of their first PE.
    nodes: Arc<[Node]>,
    node_of: Arc<[u32]>,
    one_kernel: bool,
}

/// Errors in the values of other PEs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodesError {
    /// A PE's value about its host.
    #[error("PE {pe} does not say clearly what host it runs on: {seen:?}")]
    Host {
        /// Which one.
        pe: PeId,
        /// What it says.
        seen: String,
    },
    /// PE 0's table.
    #[error("the table of hosts from PE 0 is not one of {pes} PEs: {problem}")]
    Table {
        /// How many PEs the job has.
        pes: u32,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The table leaves out a PE.
    #[error("PE {pe} is on none of the hosts in the table from PE 0")]
    Missing {
        /// The PE.
        pe: PeId,
    },
}

/// The values of a PE about its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    kernel: String,
    namespace: String,
    name: String,
}

impl Nodes {
    /// `pes` PEs, all on this node.
    pub fn one(pes: u32) -> Self {
        let here = Host::here();
        Self {
            one_kernel: !here.kernel.is_empty(),
            nodes: Arc::new([Node {
                host: here.name,
                pes: (0..pes).collect(),
            }]),
            node_of: vec![0; pes as usize].into(),
        }
    }

    /// PEs whose hosts are known by a number: for each PE, that of its host. All are as far from each other as hosts are.
    pub fn numbered(hosts: impl IntoIterator<Item = u32>) -> Self {
        let host = |number: u32| Host {
            kernel: number.to_string(),
            namespace: "one".to_owned(),
            name: format!("host{number}"),
        };
        let hosts: Vec<Host> = hosts.into_iter().map(host).collect();
        Self::of(&hosts)
    }

    /// Finds the nodes together with all other PEs of the job. Takes two fences, and PE 0
    /// makes `size` gets.
    ///
    /// # Errors
    /// Errors of the launcher, and [`NodesError`].
    pub fn meet(bootstrap: &mut dyn Bootstrap) -> Result<Self, LaunchError> {
        let pes = bootstrap.size();
        if pes == 1 {
            return Ok(Self::one(1));
        }
        bootstrap.put(HOST, &Host::here().emit())?;
        bootstrap.fence()?;
        if bootstrap.rank() != 0 {
            bootstrap.fence()?;
            let table = bootstrap.get(0, NODES)?;
            return Ok(Self::parse(&table, pes)?);
        }
        let mut hosts = Vec::new();
        for pe in 0..pes {
            hosts.push(Host::parse(pe, &bootstrap.get(pe, HOST)?)?);
        }
        let nodes = Self::of(&hosts);
        bootstrap.put(NODES, &nodes.emit())?;
        bootstrap.fence()?;
        Ok(nodes)
    }

    pub(crate) fn of(hosts: &[Host]) -> Self {
        let mut nodes: Vec<(&Host, Node)> = Vec::new();
        let mut node_of = Vec::new();
        for (pe, host) in (0..).zip(hosts) {
            let known = nodes.iter().position(|(seen, _)| seen.shares_memory(host));
            let index = known.unwrap_or(nodes.len());
            match nodes.get_mut(index) {
                Some((_, node)) => node.pes.push(pe),
                None => nodes.push((
                    host,
                    Node {
                        host: host.name.clone(),
                        pes: vec![pe],
                    },
                )),
            }
            node_of.push(index as u32);
        }
        let one_kernel = hosts.windows(2).all(|pair| match pair {
            [a, b] => a.kernel == b.kernel && !a.kernel.is_empty(),
            _ => true,
        });
        Self {
            nodes: nodes.into_iter().map(|(_, node)| node).collect(),
            node_of: node_of.into(),
            one_kernel,
        }
    }

    /// All nodes; a node's number is its place here.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The number of the node that `pe` is on, if there is such a PE.
    pub fn node_of(&self, pe: PeId) -> Option<u32> {
        self.node_of.get(pe as usize).copied()
    }

    /// How many PEs are on the node of `pe`.
    pub fn beside(&self, pe: PeId) -> u32 {
        let node = self
            .node_of(pe)
            .and_then(|node| self.nodes.get(node as usize));
        node.map_or(0, |node| node.pes.len() as u32)
    }

    /// Whether memory can be shared between these two PEs.
    pub fn share_memory(&self, a: PeId, b: PeId) -> bool {
        self.node_of(a).is_some() && self.node_of(a) == self.node_of(b)
    }

    /// Whether several nodes are containers or network namespaces of one machine.
    pub fn is_one_kernel(&self) -> bool {
        self.one_kernel
    }

    /// The table as bytes: magic, flag, number of nodes; per node the length of its name
    /// and the name; then per run of PEs on one node, how many and which node. Numbers are
    /// little endian.
    pub(crate) fn emit(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(u8::from(self.one_kernel));
        out.extend((self.nodes.len() as u32).to_le_bytes());
        for node in &*self.nodes {
            out.push(node.host.len().min(NAME_BYTES_MAX) as u8);
            out.extend(node.host.bytes().take(NAME_BYTES_MAX));
        }
        for run in self.node_of.chunk_by(|a, b| a == b) {
            out.extend((run.len() as u32).to_le_bytes());
            out.extend(run.first().copied().unwrap_or(0).to_le_bytes());
        }
        out
    }

    pub(crate) fn parse(table: &[u8], pes: u32) -> Result<Self, NodesError> {
        let bad = |problem| NodesError::Table { pes, problem };
        let mut rest = table;
        if take(&mut rest) != Some(MAGIC) {
            return Err(bad("its beginning is unknown"));
        }
        let truncated = || bad("it is cut off");
        let [one_kernel] = take(&mut rest).ok_or_else(truncated)?;
        let count = u32::from_le_bytes(take(&mut rest).ok_or_else(truncated)?);
        if count == 0 || count > pes {
            return Err(bad("its number of hosts"));
        }
        let mut nodes = Vec::new();
        for _ in 0..count {
            let [len] = take(&mut rest).ok_or_else(truncated)?;
            let (name, behind) = rest.split_at_checked(len.into()).ok_or_else(truncated)?;
            rest = behind;
            nodes.push(Node {
                host: printable(name),
                pes: Vec::new(),
            });
        }
        let mut node_of = Vec::new();
        while (node_of.len() as u64) < u64::from(pes) {
            let run = u32::from_le_bytes(take(&mut rest).ok_or_else(truncated)?);
            let index = u32::from_le_bytes(take(&mut rest).ok_or_else(truncated)?);
            let left = u64::from(pes) - node_of.len() as u64;
            if run == 0 || u64::from(run) > left {
                return Err(bad("a number of PEs"));
            }
            let node = nodes
                .get_mut(index as usize)
                .ok_or_else(|| bad("a number of a host"))?;
            for _ in 0..run {
                node.pes.push(node_of.len() as PeId);
                node_of.push(index);
            }
        }
        if !rest.is_empty() || nodes.iter().any(|node| node.pes.is_empty()) {
            return Err(bad("not as many PEs as it says"));
        }
        Ok(Self {
            nodes: nodes.into(),
            node_of: node_of.into(),
            one_kernel: one_kernel == 1,
        })
    }
}

/// `PEs 0-3, 8 on n1; PE 4 on n2`, with an ellipsis after eight hosts.
impl core::fmt::Display for Nodes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        const SHOWN: usize = 8;
        for (index, node) in self.nodes.iter().take(SHOWN).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            let noun = if node.pes.len() == 1 { "PE" } else { "PEs" };
            let ranges: Vec<String> = node
                .pes
                .chunk_by(|a, b| a + 1 == *b)
                .map(|run| match run {
                    [first, .., last] => format!("{first}-{last}"),
                    _ => run.first().map(PeId::to_string).unwrap_or_default(),
                })
                .collect();
            write!(
                f,
                "{separator}{noun} {} on {}",
                ranges.join(", "),
                node.host
            )?;
        }
        match self.nodes.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl Host {
    /// The values of this process.
    fn here() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let name = rustix::system::uname();
        let kernel = read("/proc/sys/kernel/random/boot_id");
        let namespace = rustix::fs::stat("/proc/self/ns/net")
            .map(|stat| format!("{}:{}", stat.st_dev, stat.st_ino))
            .unwrap_or_default();
        Self {
            kernel: kernel.trim().to_owned(),
            namespace,
            name: printable(name.nodename().to_bytes()),
        }
    }

    fn shares_memory(&self, other: &Self) -> bool {
        let known = !self.kernel.is_empty() && !self.namespace.is_empty();
        self.kernel == other.kernel
            && self.namespace == other.namespace
            && (known || self.name == other.name)
    }

    /// Three lines.
    pub(crate) fn emit(&self) -> Vec<u8> {
        format!("{}\n{}\n{}", self.kernel, self.namespace, self.name).into_bytes()
    }

    pub(crate) fn parse(pe: PeId, bytes: &[u8]) -> Result<Self, NodesError> {
        let text = str::from_utf8(bytes).unwrap_or_default();
        let lines: Vec<&str> = text.split('\n').collect();
        match lines[..] {
            [kernel, namespace, name] if bytes.len() <= 4 * NAME_BYTES_MAX => Ok(Self {
                kernel: kernel.to_owned(),
                namespace: namespace.to_owned(),
                name: printable(name.as_bytes()),
            }),
            _ => Err(NodesError::Host {
                pe,
                seen: String::from_utf8_lossy(bytes)
                    .chars()
                    .take(NAME_BYTES_MAX)
                    .collect(),
            }),
        }
    }
}

/// A host name that may be shown: ASCII, no control characters, not empty.
fn printable(name: &[u8]) -> String {
    let name: String = name
        .iter()
        .take(NAME_BYTES_MAX)
        .map(|byte| match byte.is_ascii_graphic() || *byte == b' ' {
            true => char::from(*byte),
            false => '?',
        })
        .collect();
    match name.is_empty() {
        true => "a host without a name".to_owned(),
        false => name,
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*bytes)
}

#[cfg(test)]
#[path = "nodes_tests.rs"]
mod tests;
