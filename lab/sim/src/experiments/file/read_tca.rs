//! The keys of workloads of TCA sub-clusters.

use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{Findings, SIZE, Section, clip, nearest};
use hostwire_plan::{Diagnostic, Plan};

use crate::experiments::tca_peach2::{Dma, Grade, LOOPBACK_BYTES};
use crate::tca::{Device, Engine, SubCluster};

use super::tca_parameters::TcaModels;
use super::workload::Workload;

const DEVICES: [(&str, Device); 4] = [
    ("gpu0", Device::Gpu0),
    ("gpu1", Device::Gpu1),
    ("host", Device::Host),
    ("internal", Device::Internal),
];
/// The controllers, by name.
pub(super) const ENGINES: [(&str, Engine); 2] = [
    ("two-phase", Engine::TwoPhase),
    ("pipelined", Engine::Pipelined),
];
const ENDS: [(&str, Device); 2] = [("gpu", Device::Gpu0), ("host", Device::Host)];
const GPUS: [(&str, Device); 2] = [("gpu0", Device::Gpu0), ("gpu1", Device::Gpu1)];
/// Longest message by PIO.
const PIO_BYTES_MAX: u64 = 64 << 10;
/// Most bytes of three copies.
const COPY_BYTES_MAX: u64 = 16 << 20;
/// Most bytes of a chain: some 60 million events.
const CHAIN_BYTES_MAX: u64 = 1 << 30;

/// Reads `tca-ping-pong`.
pub(super) fn ping_pong(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    models: &TcaModels,
    out: &mut Findings,
) -> Option<Workload> {
    let nodes = ends(section, plan, out);
    let size_bytes = pio_size(section, out);
    let rounds = section.count("rounds", 1, 10_000, out);
    let ((from, to), size_bytes) = nodes.zip(size_bytes)?;
    if from.1 == to.1 {
        out.push(
            Diagnostic::error("workload", "a node does not answer itself")
                .label(section.span(), "`from` and `to` are the same")
                .help("name another node, or use \"tca-loopback\""),
        );
        return None;
    }
    sub_cluster(plan?, models, section.span(), out)?;
    Some(Workload::TcaPingPong {
        from: from.0,
        to: to.0,
        size_bytes,
        rounds: rounds.map_or(10, |rounds| rounds.value),
    })
}

/// Reads `tca-loopback`.
pub(super) fn loopback(section: &mut Section<'_>, out: &mut Findings) -> Option<Workload> {
    let size_bytes = pio_size(section, out)?;
    Some(Workload::TcaLoopback { size_bytes })
}

/// Reads `tca-dma`.
pub(super) fn dma(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    models: &TcaModels,
    out: &mut Findings,
) -> Option<Workload> {
    let nodes = ends(section, plan, out);
    let [source, target] = ["source", "target"].map(|key| {
        let device = section.choice(key, &DEVICES, out);
        if device.is_none() && !section.has(key) {
            section.missing(key, "\"gpu0\"", out);
        }
        device
    });
    let size = section.quantity("size", &SIZE, out);
    let [source_step, target_step] =
        ["source_step", "target_step"].map(|key| section.quantity(key, &SIZE, out));
    let descriptors = section.count("descriptors", 1, 1 << 20, out);
    let engine = section.choice("engine", &ENGINES, out);
    let other_socket = section.choice("other_socket", &GPUS, out);
    let ((from, to), (source, target)) = nodes.zip(source.zip(target))?;
    let bytes = |size: Option<Located<u64>>, usual| size.map_or(usual, |size| size.value);
    let workload = Workload::TcaDma {
        from: from.0,
        source: source.value,
        to: to.0,
        target: target.value,
        size_bytes: bytes(size, 4096),
        descriptors: descriptors.map_or(255, |count| count.value),
        source_step_bytes: bytes(source_step, 0),
        target_step_bytes: bytes(target_step, 0),
        engine: engine.map_or(Engine::Pipelined, |engine| engine.value),
        other_socket: other_socket.map(|gpu| gpu.value),
    };
    let place = descriptors.or(size).map_or(section.span(), |key| key.span);
    let plan = plan?;
    let cluster = sub_cluster(plan, models, section.span(), out)?;
    let dma = workload.dma(plan)?;
    let Some(refused) = refused(&dma, &cluster) else {
        return Some(workload);
    };
    out.push(
        Diagnostic::error("transfer", refused)
            .label(place, "this chain cannot be run")
            .note("a table has 255 descriptors; larger blocks than 262140B take several")
            .help("use fewer or smaller blocks, in steps of 4B, inside of both devices"),
    );
    None
}

/// Reads `tca-rings`.
pub(super) fn rings(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    models: &TcaModels,
    out: &mut Findings,
) -> Option<Workload> {
    let nodes = ends(section, plan, out);
    let size = section.quantity("size", &SIZE, out);
    let descriptors = section.count("descriptors", 1, 1 << 20, out);
    let (from, to) = nodes?;
    let workload = Workload::TcaRings {
        from: from.0,
        to: to.0,
        size_bytes: size.map_or(64 << 10, |size| size.value),
        descriptors: descriptors.map_or(255, |count| count.value),
    };
    let place = descriptors.or(size).map_or(section.span(), |key| key.span);
    let plan = plan?;
    let cluster = sub_cluster(plan, models, section.span(), out)?;
    let dma = workload.dma(plan)?;
    let refused = if cluster.south_peer(from.1).is_none() {
        "no cable joins two ports south: there is nothing to couple".to_owned()
    } else if !cluster.in_one_ring(from.1, to.1) {
        "`from` and `to` are in two rings: they cannot reach each other at first".to_owned()
    } else {
        match refused(&dma, &cluster) {
            Some(refused) => refused,
            None => return Some(workload),
        }
    };
    out.push(
        Diagnostic::error("transfer", refused)
            .label(place, "this cannot be run")
            .help("use a double ring, two nodes of one of its rings, and at most 255 blocks"),
    );
    None
}

/// Reads `tca-three-copies`.
pub(super) fn three_copies(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    models: &TcaModels,
    out: &mut Findings,
) -> Option<Workload> {
    let nodes = ends(section, plan, out);
    let devices = section.choice("devices", &ENDS, out);
    let network = section.choice("network", &Grade::ALL, out);
    let size = section.quantity("size", &SIZE, out);
    let (from, to) = nodes?;
    let size_bytes = size.map_or(4096, |size| size.value);
    let place = size.map_or(section.span(), |size| size.span);
    let allowed = size_bytes > 0 && size_bytes <= COPY_BYTES_MAX && size_bytes.is_multiple_of(4);
    if !allowed || from.1 == to.1 {
        out.push(
            Diagnostic::error("transfer", "this cannot be copied")
                .label(
                    place,
                    "expected 4B to 16MiB in steps of 4B, from a node to another one",
                )
                .help("change `size`, or `from` and `to`"),
        );
        return None;
    }
    let workload = Workload::TcaThreeCopies {
        from: from.0,
        to: to.0,
        devices: devices.map_or(Device::Gpu0, |devices| devices.value),
        size_bytes,
        network: network.map_or(Grade::Qdr, |network| network.value),
    };
    let plan = plan?;
    let cluster = sub_cluster(plan, models, section.span(), out)?;
    if let Err(error) = workload.dma(plan)?.check(&cluster) {
        out.push(
            Diagnostic::error("transfer", error.to_string())
                .label(place, "this cannot be copied")
                .help("use devices that the nodes have, and less than their memory"),
        );
        return None;
    }
    Some(workload)
}

/// Why a chain cannot be run.
fn refused(dma: &Dma, cluster: &SubCluster<'_>) -> Option<String> {
    let bytes = dma.total_bytes();
    match dma.check(cluster) {
        Err(error) => Some(error.to_string()),
        Ok(()) if dma.bytes == 0 => Some("a transfer of 0 bytes".to_owned()),
        Ok(()) if bytes > CHAIN_BYTES_MAX => {
            Some(format!("{bytes} bytes are too many: at most 1GiB"))
        }
        Ok(()) => None,
    }
}

/// The cluster with these parameters, which later runs build again.
fn sub_cluster<'w>(
    plan: &Plan,
    models: &TcaModels,
    place: Span,
    out: &mut Findings,
) -> Option<SubCluster<'w>> {
    match SubCluster::new(plan, &models.resolved()) {
        Ok(cluster) => Some(cluster),
        Err(error) => {
            out.push(
                Diagnostic::error("sub-cluster", error.to_string())
                    .label(place, "this workload's cluster")
                    .help("use a ring of 2 to 16 nodes, or a double ring"),
            );
            None
        }
    }
}

type Node = (String, u16);

/// `from` and `to`: name and number.
fn ends(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<(Node, Node)> {
    let [from, to] = ["from", "to"].map(|key| {
        let text = section.text(key, "\"n0\"", out);
        if text.is_none() && !section.has(key) {
            section.missing(key, "\"n0\"", out);
        }
        let text = text?;
        let node = plan?.node_by_name(text.value);
        if node.is_none() {
            let names = plan.into_iter().flat_map(Plan::nodes);
            let names: Vec<&str> = names.map(|node| node.name.as_str()).collect();
            let help = match nearest(text.value, &names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the first is \"{}\"", names.first().unwrap_or(&"?")),
            };
            let what = format!("there is no node `{}`", clip(text.value));
            out.push(
                Diagnostic::error("node", what)
                    .label(text.span, "expected a node of the cluster")
                    .help(help),
            );
        }
        node.map(|node| (node.name.clone(), node.id.0))
    });
    from.zip(to)
}

fn pio_size(section: &mut Section<'_>, out: &mut Findings) -> Option<u64> {
    if !section.has("size") {
        // Makes the key known.
        let _ = section.value("size");
        return Some(LOOPBACK_BYTES);
    }
    let size = section.quantity("size", &SIZE, out)?;
    if (1..=PIO_BYTES_MAX).contains(&size.value) {
        return Some(size.value);
    }
    out.push(
        Diagnostic::error("value", "`size` is out of range")
            .label(size.span, "expected 1B to 64KiB")
            .help("use \"tca-dma\" for more"),
    );
    None
}
