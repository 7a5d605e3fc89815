//! Checks that a core can distinguish local memory from remote memory.

use crate::address_map::AddressMap;
use crate::diagnostic::{Diagnostic, Findings};
use crate::htx::REGION_BASE;
use crate::registers::opteron::{MemoryPlan, Shortage, plan_memory};
use crate::topology::Topology;

/// The settings of every node's cores.
pub(crate) fn plan_all(
    topology: &Topology,
    map: &AddressMap,
    low_bytes: &[u64],
    out: &mut Findings,
) -> Option<Vec<MemoryPlan>> {
    let span = (map.start().0, map.end().0);
    let boards = topology.below.boards.as_ref();
    let has_regions = boards.is_some_and(|boards| boards.region_span.is_some());
    let behind = Some(REGION_BASE).filter(|base| has_regions && span.1 <= *base);
    let mut plans = Vec::with_capacity(topology.nodes.len());
    for ((node, entry), &low) in topology.nodes.iter().zip(map.entries()).zip(low_bytes) {
        match plan_memory(entry.range, span, low, behind) {
            Ok(plan) => plans.push(plan),
            Err(shortage) => {
                let (code, message, note) = match shortage {
                    Shortage::Iorr => (
                        "iorr",
                        format!(
                            "a core of `{}` cannot tell its memory from remote memory",
                            node.name
                        ),
                        "TOP_MEM2 and two I/O range registers (aligned powers of two) cannot mark just its interval as memory",
                    ),
                    Shortage::Mtrr { needed } => (
                        "mtrr",
                        format!(
                            "`{}` needs {needed} MTRRs for its memory, there are 8",
                            node.name
                        ),
                        "an MTRR covers an aligned power of two",
                    ),
                };
                out.push(
                    Diagnostic::error(code, message)
                        .label(node.template.memory.span, format!("its interval is {}", entry.range))
                        .note(note)
                        .help("use a power of two as memory size, the same for all nodes, and a base that is a multiple of it"),
                );
                return None;
            }
        }
    }
    Some(plans)
}
