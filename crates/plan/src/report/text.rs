//! The plan for people.

use std::fmt::{self, Write as _};

use crate::plan::{LinkRole, NodePlan, Plan, ViewKind};
use crate::spec::Fabric;
use crate::spec::units::{display_bytes, display_count, display_inches};

/// What the text holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextOptions {
    /// Register offsets and values of every processor.
    pub registers: bool,
}

impl TextOptions {
    /// With or without registers.
    pub fn new(registers: bool) -> Self {
        Self { registers }
    }
}

/// The plan as text.
pub fn text(plan: &Plan, options: TextOptions) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan, options);
    out
}

fn write(out: &mut String, plan: &Plan, options: TextOptions) -> fmt::Result {
    let fabric = match plan.fabric() {
        Fabric::TcCluster => "TCCluster",
        Fabric::Peach2 => "PEACH2",
    };
    writeln!(
        out,
        "{fabric}: {}, {}, {}",
        display_count(plan.nodes().len(), "node"),
        display_count(plan.processor_count(), "processor"),
        display_count(plan.cables().len(), "cable")
    )?;
    let hops = plan.hop_statistics();
    writeln!(
        out,
        "routing: {}, at most {}, {:.2} on average",
        scheme_name(plan),
        display_count(hops.hops_max as usize, "hop"),
        hops.hops_mean
    )?;
    writeln!(
        out,
        "map: {} to {}, {}",
        plan.map().start(),
        plan.map().end(),
        display_bytes(plan.map().end().0 - plan.map().start().0)
    )?;
    writeln!(out, "\ncables")?;
    for cable in plan.cables() {
        let [a, b] = cable.ends.map(|end| plan.port_name(end));
        write!(out, "  {a} -- {b}")?;
        if let (Some(width), Some(frequency)) = (cable.width_bits, cable.frequency_mhz) {
            write!(out, "  {width} bit, {frequency} MHz")?;
        }
        if let Some(length) = cable.length_um {
            write!(out, ", {}", display_inches(length))?;
        }
        writeln!(out)?;
    }
    write_adapters(out, plan)?;
    for node in plan.nodes() {
        write_node(out, plan, node, options)?;
    }
    Ok(())
}

fn write_adapters(out: &mut String, plan: &Plan) -> fmt::Result {
    let adapters = plan.adapters();
    if adapters.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nadapters")?;
    for adapter in adapters {
        writeln!(out, "  {}", plan.port_name(adapter.port))?;
        for (range, target) in &adapter.targets {
            let to = adapters.get(*target).map(|to| plan.port_name(to.port));
            let size = display_bytes(range.bytes);
            writeln!(out, "    {range}  {size:>8}  to {}", to.unwrap_or_default())?;
        }
    }
    writeln!(
        out,
        "  no deadlock: links, adapters and virtual links do not wait for each other in a cycle"
    )
}

pub(super) fn scheme_name(plan: &Plan) -> &'static str {
    use crate::route::Scheme;
    match plan.scheme() {
        Scheme::DimensionOrder => "dimension order",
        Scheme::Direct => "direct",
        Scheme::Minimal => "shortest paths",
        Scheme::Ring => "ring",
        Scheme::Tree => "spanning tree with shortcuts",
        Scheme::Islands => "over adapters between islands",
    }
}

fn write_node(out: &mut String, plan: &Plan, node: &NodePlan, options: TextOptions) -> fmt::Result {
    writeln!(out, "\n{} {}", node.id, node.name)?;
    for processor in &node.processors {
        for link in &processor.links {
            let name = plan.port_name(crate::PortId {
                processor: processor.id,
                link: link.link,
            });
            let role = match link.role {
                LinkRole::Fabric => "to",
                LinkRole::Coherent => "coherent, to",
                LinkRole::Configuration => "coherent, for configuration, to",
                LinkRole::Southbridge => "southbridge",
                LinkRole::Host => "host",
                LinkRole::Adapter => "adapter",
            };
            match link.peer {
                Some(peer) => writeln!(out, "  {name}  {role} {}", plan.port_name(peer))?,
                None => writeln!(out, "  {name}  {role}")?,
            }
        }
    }
    if node.low_bytes > 0 {
        let low = display_bytes(node.low_bytes);
        writeln!(
            out,
            "  low memory at 0: {low}, the first of this node's memory"
        )?;
    }
    for entry in plan.view(node.id) {
        let size = display_bytes(entry.range.bytes);
        match entry.kind {
            ViewKind::Dram(processor) if node.processors.len() > 1 => {
                writeln!(
                    out,
                    "  {}  {size:>8}  DRAM of p{}",
                    entry.range, processor.index
                )?;
            }
            ViewKind::Dram(_) => writeln!(out, "  {}  {size:>8}  DRAM", entry.range)?,
            ViewKind::Mmio(exit) => {
                writeln!(
                    out,
                    "  {}  {size:>8}  MMIO by {}",
                    entry.range,
                    plan.port_name(exit)
                )?;
            }
        }
    }
    if options.registers {
        for processor in &node.processors {
            writeln!(out, "  registers of p{}", processor.id.index)?;
            for write in &processor.registers {
                let name = write.register.to_string();
                write!(out, "    {name:<12} {:#018x}", write.value)?;
                if write.mask == u64::MAX || write.mask == 0xFFFF_FFFF {
                    writeln!(out, "                     {}", write.what)?;
                } else {
                    writeln!(out, " /{:#018x} {}", write.mask, write.what)?;
                }
            }
        }
    }
    Ok(())
}
