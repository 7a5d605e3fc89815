//! The plan for people.

use std::fmt::{self, Write as _};

use crate::plan::{LinkRole, NodePlan, Plan, ViewKind};
use crate::registers::RegisterWrite;
use crate::spec::Fabric;
use crate::spec::units::{display_bytes, display_count};

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
    write_channels(out, plan)?;
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
        if let Some(length) = cable.length {
            write!(out, ", {length}")?;
        }
        writeln!(out)?;
    }
    write_adapters(out, plan, options)?;
    for node in plan.nodes() {
        write_node(out, plan, node, options)?;
    }
    Ok(())
}

fn write_adapters(out: &mut String, plan: &Plan, options: TextOptions) -> fmt::Result {
    let adapters = plan.adapters();
    if adapters.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nadapters")?;
    for adapter in adapters {
        let name = plan.port_name(adapter.port);
        writeln!(out, "  {name}  {}", adapter.kind.noun())?;
        for (range, target) in &adapter.targets {
            let to = adapters.get(*target).map(|to| plan.port_name(to.port));
            let size = display_bytes(range.bytes);
            writeln!(out, "    {range}  {size:>8}  to {}", to.unwrap_or_default())?;
        }
    }
    if let Some(boards) = plan.boards() {
        writeln!(out, "\nboards")?;
        for cable in boards.cables() {
            let [a, b] = cable.ends.map(|end| boards.port_name(end));
            write!(out, "  {a} -- {b}")?;
            if let Some(length) = cable.length {
                write!(out, "  {length}")?;
            }
            writeln!(out)?;
        }
    }
    if let Some(boards) = plan.boards() {
        boards.write_regions(out)?;
    }
    if !plan.chips().is_empty() {
        writeln!(out, "\nchips")?;
    }
    for ends in plan.chip_cables() {
        let [a, b] = ends.map(|end| plan.chip_port_name(end));
        writeln!(out, "  {a} -- {b}")?;
    }
    for chip in plan.chips().iter().filter(|_| options.registers) {
        writeln!(out, "  registers of {}", chip.name)?;
        write_registers(out, &chip.registers)?;
    }
    Ok(())
}

/// The proof that routes cannot deadlock, and the use of cables.
fn write_channels(out: &mut String, plan: &Plan) -> fmt::Result {
    let statistics = plan.channel_statistics();
    if statistics.routes == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "no deadlock: {}, {} between them, no cycle",
        display_count(statistics.channels, "channel"),
        match statistics.dependencies {
            1 => "1 dependency".to_owned(),
            count => format!("{count} dependencies"),
        },
    )?;
    if statistics.cables > 0 {
        writeln!(
            out,
            "use: {} of {}, the busiest direction has {} of {} routes",
            statistics.cables_used,
            display_count(statistics.cables, "cable"),
            statistics.busiest_routes,
            statistics.routes,
        )?;
    }
    Ok(())
}

pub(super) fn scheme_name(plan: &Plan) -> &'static str {
    use crate::route::Scheme;
    match plan.scheme() {
        Scheme::DimensionOrder => "dimension order",
        Scheme::Direct => "direct",
        Scheme::Minimal => "shortest paths",
        Scheme::Ring => "ring",
        Scheme::Tree => "spanning tree with shortcuts",
        Scheme::UpDown => "up to a root and down",
        Scheme::Islands => "over adapters between islands",
        Scheme::File => "routes of the file",
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
                LinkRole::Fabric => "to".into(),
                LinkRole::Coherent => "coherent, to".into(),
                LinkRole::Configuration => "coherent, for configuration, to".into(),
                LinkRole::Southbridge => "southbridge".into(),
                LinkRole::Host => "host".into(),
                LinkRole::Adapter => {
                    let port = crate::PortId {
                        processor: processor.id,
                        link: link.link,
                    };
                    let mut adapters = plan.adapters().iter();
                    let own = adapters.find(|adapter| adapter.port == port);
                    own.map_or("adapter".into(), |own| own.kind.name(own.index))
                }
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
            write_registers(out, &processor.registers)?;
        }
    }
    Ok(())
}

fn write_registers(out: &mut String, writes: &[RegisterWrite]) -> fmt::Result {
    for write in writes {
        let name = write.register.to_string();
        write!(out, "    {name:<12} {:#018x}", write.value)?;
        if write.mask == u64::MAX || write.mask == 0xFFFF_FFFF {
            writeln!(out, "                     {}", write.what)?;
        } else {
            writeln!(out, " /{:#018x} {}", write.mask, write.what)?;
        }
    }
    Ok(())
}
