//! What is run.

use hostwire_plan::htx::PortKind;
use serde::Serialize;

use crate::experiments::ethernet::Towards;
use crate::experiments::jobs::Order;
use crate::experiments::links::Network;
use crate::experiments::load::Load;
use crate::experiments::pgas_cluster::Pattern;
use crate::experiments::remote::{Accesses, Walk};
use crate::experiments::tca_peach2::Grade;
use crate::machine::htx::BoardKind;
use crate::models::memory::Config;
use crate::models::memory::trace::Format;
use crate::tca::{Device, Engine};

use crate::experiments::htoe::Transfer;
use crate::models::htea::fast;

use super::memory_workload::MemoryFigures;
use super::program::Program;

/// Link and clocks of an HTX board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HtxLink {
    /// What the board is.
    #[serde(skip_serializing_if = "BoardKind::is_model")]
    pub device: BoardKind,
    /// Lanes per direction.
    pub width_bits: u8,
    /// HyperTransport clock.
    pub frequency_mhz: u32,
    /// Clock of the board's own logic.
    pub user_clock_mhz: u32,
}

impl Workload {
    /// Whether it runs on a TCA sub-cluster.
    pub(super) fn is_tca(&self) -> bool {
        matches!(
            self,
            Self::TcaPingPong { .. }
                | Self::TcaLoopback { .. }
                | Self::TcaDma { .. }
                | Self::TcaRings { .. }
                | Self::TcaThreeCopies { .. }
        )
    }

    /// Whether there are links that a recording could watch.
    pub(super) fn has_links(&self) -> bool {
        !self.is_memory()
            && !matches!(
                self,
                // Their units have no bytes.
                Self::Htea { .. } | Self::Links(_)
            )
    }

    /// Whether there are events that a recording could have.
    pub(super) fn has_events(&self) -> bool {
        !self.is_memory()
    }

    /// The path of its trace, if it has one.
    pub(super) fn trace(&self) -> Option<&str> {
        match self {
            Self::MemoryTrace { path, .. } | Self::MessageTrace { path, .. } => Some(path),
            Self::RemoteMemory(walk) => match &walk.accesses {
                Accesses::Trace { path, .. } => Some(path),
                _ => None,
            },
            _ => None,
        }
    }

    /// Notes the hash of the trace that was read.
    pub(super) fn set_trace_hash(&mut self, hash: Option<String>) {
        match self {
            Self::MemoryTrace { trace_hash, .. } | Self::MessageTrace { trace_hash, .. } => {
                *trace_hash = hash;
            }
            Self::RemoteMemory(walk) => {
                if let Accesses::Trace { trace_hash, .. } = &mut walk.accesses {
                    *trace_hash = hash;
                }
            }
            _ => {}
        }
    }

    /// Start of what is random in it, if anything is.
    pub(super) fn seed(&self) -> Option<u64> {
        match self {
            Self::Traffic { load, .. } => Some(load.seed),
            Self::Links(network) => Some(network.load.seed),
            Self::RemoteMemory(walk) => match walk.accesses {
                Accesses::Random { seed, .. } => Some(seed),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it runs on a memory system, without processors and links.
    pub(super) fn is_memory(&self) -> bool {
        matches!(
            self,
            Self::MemoryStream { .. } | Self::MemoryTrace { .. } | Self::BreakEven { .. }
        )
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A workload with all its keys resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// Two PEs answer each other by messages through their rings.
    PingPong {
        /// Processor that begins.
        from: String,
        /// Processor that answers.
        to: String,
        /// Message size.
        size_bytes: u64,
        /// Order of what is sent.
        order: Order,
    },
    /// One PE sends messages through a ring, the other receives them.
    Stream {
        /// Processor that sends.
        from: String,
        /// Processor that receives.
        to: String,
        /// Size of a message.
        size_bytes: u64,
        /// Number of messages.
        messages: u64,
        /// Order of what is sent.
        order: Order,
    },
    /// One PE puts into the other's memory.
    Put {
        /// Processor that puts.
        from: String,
        /// Owner of the memory.
        to: String,
        /// All bytes together.
        size_bytes: u64,
        /// Order of the lines.
        order: Order,
    },
    /// Every processor stores into every other one's memory: bare stores, without the library.
    AllToAll {
        /// Bytes from each to each.
        size_bytes: u64,
    },
    /// Messages between all processors, as bare stores.
    Traffic {
        /// The processor of incast and hot spot.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// Everything else.
        #[serde(flatten)]
        load: Load,
    },
    /// Messages at the times of a trace, as bare stores.
    MessageTrace {
        /// Where the trace is; no part of the configuration.
        #[serde(skip)]
        path: String,
        /// FNV-1a over the trace, once it was read.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace_hash: Option<String>,
    },
    /// Stores of a processor into an HTX board.
    HtxWrite {
        /// Bytes per store.
        size_bytes: u64,
        /// Number of stores.
        stores: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
    /// An uncached load from an HTX board.
    HtxRead {
        /// Bytes loaded.
        size_bytes: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
    /// A message through an HTX board whose network port is looped back.
    HtxMessage {
        /// Bytes of the message.
        size_bytes: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
    /// Two hosts with HTX boards answer each other.
    HtxPingPong {
        /// Bytes of a message.
        size_bytes: u64,
        /// The link ports.
        port: PortKind,
        /// Length of the cable between them, in micrometres.
        cable_um: u64,
        /// Link and clocks.
        #[serde(flatten)]
        link: HtxLink,
    },
    /// Two nodes of a TCA sub-cluster answer each other by stores.
    TcaPingPong {
        /// Node that begins.
        from: String,
        /// Node that answers.
        to: String,
        /// Bytes of a message.
        size_bytes: u64,
        /// How often.
        rounds: u64,
    },
    /// A store through two PEACH2 boards in one host.
    TcaLoopback {
        /// Bytes stored.
        size_bytes: u64,
    },
    /// A chain of a PEACH2 chip's DMA controller.
    TcaDma {
        /// Node whose controller it is, and that has the data.
        from: String,
        /// Device that has the data.
        source: Device,
        /// Node that gets it.
        to: String,
        /// Device that gets it.
        target: Device,
        /// Bytes of each block.
        size_bytes: u64,
        /// Number of blocks.
        descriptors: u64,
        /// From a block to the next one at the source; 0: they follow each other.
        source_step_bytes: u64,
        /// The same at the target.
        target_step_bytes: u64,
        /// How it is run.
        engine: Engine,
        /// A GPU that is attached to the other socket, on every node.
        #[serde(skip_serializing_if = "Option::is_none")]
        other_socket: Option<Device>,
    },
    /// Two rings of a TCA sub-cluster are coupled and separated while a chain within one of them
    /// runs, from host to host.
    TcaRings {
        /// Node whose controller it is.
        from: String,
        /// Node of the same ring that gets the data.
        to: String,
        /// Bytes of each block.
        size_bytes: u64,
        /// Number of blocks.
        descriptors: u64,
    },
    /// A transfer by PEACH2, and the same by three copies over InfiniBand.
    TcaThreeCopies {
        /// Node that has the data.
        from: String,
        /// Node that gets it.
        to: String,
        /// Where the data are on both: a GPU or the host.
        devices: Device,
        /// Bytes.
        size_bytes: u64,
        /// The InfiniBand links.
        network: Grade,
    },
    /// STREAM on a memory system.
    MemoryStream {
        /// The memory.
        #[serde(flatten)]
        system: MemoryFigures,
        /// Elements of each of its three arrays.
        elements: u64,
        /// How often its functions are run.
        series: u64,
    },
    /// A recorded trace on a memory system.
    MemoryTrace {
        /// The memory.
        #[serde(flatten)]
        system: MemoryFigures,
        /// Where the trace is; no part of the configuration.
        #[serde(skip)]
        path: String,
        /// How it is written.
        format: Format,
        /// FNV-1a over the trace, once it was read.
        #[serde(skip_serializing_if = "Option::is_none")]
        trace_hash: Option<String>,
    },
    /// Nodes that send to the accelerator of one of them, over Ethernet adapters.
    Htea {
        /// All nodes.
        nodes: u64,
        /// Data of all senders together, in packets of 64 bytes.
        packets: u64,
        /// Packets that a payload waits for.
        packets_per_frame: u64,
        /// NOPs that a frame of credits waits for.
        nops_per_frame: u64,
        /// Credits that a NOP returns.
        credits_per_nop: u64,
        /// De-encapsulation stages and ports.
        incoming_stages: u64,
        /// Encapsulation stages and ports.
        outgoing_stages: u64,
        /// The stages of an adapter share a port that is as fast as theirs together.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        multiplexed: bool,
        /// Gets that are open on each virtual link; 0: senders send of themselves.
        #[serde(skip_serializing_if = "is_zero")]
        gets: u64,
        /// Packets that a get asks for.
        #[serde(skip_serializing_if = "Option::is_none")]
        get_packets: Option<u64>,
        /// The rate of the way to the accelerator.
        transfer: Transfer,
        /// These and the parameters.
        #[serde(skip)]
        config: fast::Config,
    },
    /// Hosts that send lines by the project's own links, over a switch.
    Ethernet {
        /// All hosts.
        hosts: u16,
        /// Who sends to whom.
        pattern: Towards,
        /// Lines of each sender.
        lines: u64,
    },
    /// Puts between hosts over links of today.
    Links(Box<Network>),
    /// Processors that use memory of other hosts by loads and stores, over HTX boards.
    RemoteMemory(Box<Walk>),
    /// A program, as processes in virtual time.
    Program(Program),
    /// A program with swap and with remote memory.
    BreakEven {
        /// The order of its accesses to the working set.
        pattern: Pattern,
        /// Memory of the node.
        memory_bytes: u64,
        /// Its working set.
        working_set_bytes: u64,
        /// Lines, pages and caches; its regions are not used.
        #[serde(skip)]
        config: Config,
    },
}
