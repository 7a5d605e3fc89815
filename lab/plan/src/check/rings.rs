//! The ring buffers of all peers fit into every node's memory.

use crate::address_map::AddressMap;
use crate::diagnostic::{Diagnostic, Findings, Located};
use crate::spec::units::display_bytes;
use crate::topology::Topology;

/// Each node keeps one ring for each other node (tccluster, section IV.A: 4 KB per endpoint).
pub(crate) fn check(
    topology: &Topology,
    map: &AddressMap,
    ring: Located<u64>,
    region: Option<Located<u64>>,
    out: &mut Findings,
) {
    let peers = (topology.nodes.len() as u64).saturating_sub(1);
    let needed = peers.saturating_mul(ring.value);
    let Some((smallest, memory)) = map
        .entries()
        .iter()
        .map(|e| e.memory_bytes())
        .enumerate()
        .min_by_key(|(_, bytes)| *bytes)
    else {
        return;
    };
    let (limit, span, what) = match region {
        Some(region) if region.value <= memory => (region.value, region.span, "the region"),
        _ => {
            let span = topology.nodes[smallest].template.memory.span;
            (memory, span, "the memory of the smallest node")
        }
    };
    if let Some(region) = region.filter(|r| r.value > memory) {
        out.push(
            Diagnostic::error("ring-memory", "the ring region is larger than a node")
                .label(
                    region.span,
                    format!(
                        "expected at most {}, got {}",
                        display_bytes(memory),
                        display_bytes(region.value)
                    ),
                )
                .help("make the region smaller"),
        );
    }
    if needed > limit {
        out.push(
            Diagnostic::error(
                "ring-memory",
                format!("the rings of {peers} peers need {}", display_bytes(needed)),
            )
            .label(span, format!("{what} holds {}", display_bytes(limit)))
            .note(format!(
                "{peers} rings of {} each",
                display_bytes(ring.value)
            ))
            .help("make the rings smaller ([rings] size), or give them more memory"),
        );
    }
}
