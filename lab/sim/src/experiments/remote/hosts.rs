//! Processors that have boards, and the regions between them: hosts of a cluster of boards, or sockets of a
//! machine.

use hostwire_plan::htx::{HtxPlan, Region};
use hostwire_plan::{AdapterKind, Plan, ProcessorId};

use super::walk::Range;

/// Where the part of the own memory begins that a processor walks through, in its memory.
pub const LOCAL_BASE: u64 = 32 << 20;

/// A processor with a board, or with several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name in the file.
    pub name: String,
    /// Its cores.
    pub cores: u8,
    /// Its memory.
    pub memory_bytes: u64,
    /// The first address of that.
    pub memory_start: u64,
    /// The processor, below which the boards are.
    pub processor: Option<ProcessorId>,
}

/// Processors with boards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    all: Vec<Host>,
    /// `of` and `at` are places in the list of all.
    regions: Vec<Region>,
}

impl Hosts {
    /// Those of a cluster of boards.
    pub fn of_boards(plan: &HtxPlan) -> Hosts {
        let all = plan.hosts().iter().map(|host| Host {
            name: host.name.clone(),
            cores: host.cores,
            memory_bytes: host.memory_bytes,
            memory_start: 0,
            processor: None,
        });
        Hosts {
            all: all.collect(),
            regions: plan.regions().to_vec(),
        }
    }

    /// The sockets with boards of a machine.
    pub fn of_sockets(plan: &Plan) -> Hosts {
        let mut hosts = Hosts::default();
        let Some(boards) = plan.boards() else {
            return hosts;
        };
        let mut of_board = vec![0; boards.hosts().len()];
        let adapters = plan.adapters().iter();
        for board in adapters.filter(|adapter| adapter.kind == AdapterKind::Htx) {
            let id = board.port.processor;
            let (Some(node), Some(processor), Some(figures)) = (
                plan.node(id.node),
                plan.processor(id),
                boards.hosts().get(board.member),
            ) else {
                continue;
            };
            let known = hosts.all.iter().position(|host| host.processor == Some(id));
            of_board[board.member] = known.unwrap_or(hosts.all.len());
            if known.is_some() {
                continue;
            }
            hosts.all.push(Host {
                name: match node.processors.len() {
                    1 => node.name.clone(),
                    _ => format!("{}.p{}", node.name, id.index),
                },
                cores: figures.cores,
                memory_bytes: processor.memory.bytes,
                memory_start: processor.memory.start.0,
                processor: Some(id),
            });
        }
        let regions = boards.regions().iter().map(|region| Region {
            of: of_board[region.of],
            at: of_board[region.at],
            ..*region
        });
        hosts.regions = regions.collect();
        hosts
    }

    /// All of them.
    pub fn all(&self) -> &[Host] {
        &self.all
    }

    /// The regions that a host uses.
    pub fn regions_at(&self, host: usize) -> impl Iterator<Item = &Region> {
        self.regions.iter().filter(move |region| region.at == host)
    }

    /// The regions that lie in the memory of a host.
    pub fn regions_of(&self, host: usize) -> impl Iterator<Item = &Region> {
        self.regions.iter().filter(move |region| region.of == host)
    }

    /// Whether a host uses memory of another one.
    pub fn is_user(&self, host: usize) -> bool {
        self.regions_at(host).next().is_some()
    }

    /// The processors that can use memory of other hosts: all cores of the first host
    /// that does, then those of the next one.
    pub fn processors(&self) -> Vec<usize> {
        let hosts = self.all.iter().enumerate();
        let using = hosts.filter(|(host, _)| self.is_user(*host));
        using
            .flat_map(|(host, figures)| std::iter::repeat_n(host, figures.cores.into()))
            .collect()
    }

    /// The memory that processors of a host walk through: `local_bytes` of their own, then the
    /// regions.
    pub fn ranges(&self, host: usize, local_bytes: u64) -> Vec<Range> {
        let start = self.all.get(host).map_or(0, |host| host.memory_start);
        let own = (local_bytes > 0).then_some(Range {
            base: start + LOCAL_BASE,
            bytes: local_bytes,
            owner: host,
        });
        let regions = self.regions_at(host).map(|region| Range {
            base: region.address,
            bytes: region.bytes,
            owner: region.of,
        });
        own.into_iter().chain(regions).collect()
    }
}
