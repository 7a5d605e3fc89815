//! The keys of `[workload]`.

use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{
    FREQUENCY, Findings, LENGTH, SIZE, Section, WIDTH, clip, display_bytes, nearest,
};
use hostwire_plan::htx::{HtxPlan, PortKind};
use hostwire_plan::{Diagnostic, Plan};

use crate::machine::htx::BoardKind;
use crate::models::ht::opteron::LINE_BYTES;
use crate::models::ht::opteron::registers::FREQUENCY_MHZ;

use crate::experiments::MEMORY_OFFSET;
use crate::experiments::jobs::{LINE_PAYLOAD_BYTES, Order, segment_bytes};
use crate::experiments::remote::Hosts;

use super::parameters::{Family, Models};
use super::workload::{HtxLink, Workload};
use super::{ethernet, links, program, read_htea, read_load, read_memory, read_remote, read_tca};

const MIB: u64 = 1 << 20;
/// Lines that all processors together may store: some minutes of simulation.
pub(super) const LINES_MAX: u64 = 1 << 23;
/// Longest message.
const MESSAGE_BYTES_MAX: u64 = 16 * MIB;
/// Largest put. Both PEs have that much memory on the host.
const PUT_BYTES_MAX: u64 = 64 * MIB;
/// A message of this size is one line in a ring.
const LINE_PAYLOAD: u64 = LINE_PAYLOAD_BYTES as u64;

#[derive(Clone, Copy)]
enum Kind {
    PingPong,
    Stream,
    Put,
    AllToAll,
    Traffic,
    MessageTrace,
    HtxWrite,
    HtxRead,
    HtxMessage,
    HtxPingPong,
    MemoryStream,
    MemoryTrace,
    BreakEven,
    TcaPingPong,
    TcaLoopback,
    TcaRings,
    TcaThreeCopies,
    TcaDma,
    Htea,
    Ethernet,
    Links,
    RemoteMemory,
    Program,
}

const KINDS: [(&str, Kind); 23] = [
    ("ping-pong", Kind::PingPong),
    ("stream", Kind::Stream),
    ("put", Kind::Put),
    ("all-to-all", Kind::AllToAll),
    ("traffic", Kind::Traffic),
    ("message-trace", Kind::MessageTrace),
    ("htx-write", Kind::HtxWrite),
    ("htx-read", Kind::HtxRead),
    ("htx-message", Kind::HtxMessage),
    ("htx-ping-pong", Kind::HtxPingPong),
    ("memory-stream", Kind::MemoryStream),
    ("memory-trace", Kind::MemoryTrace),
    ("break-even", Kind::BreakEven),
    ("tca-ping-pong", Kind::TcaPingPong),
    ("tca-loopback", Kind::TcaLoopback),
    ("tca-rings", Kind::TcaRings),
    ("tca-three-copies", Kind::TcaThreeCopies),
    ("tca-dma", Kind::TcaDma),
    ("htea", Kind::Htea),
    ("ethernet", Kind::Ethernet),
    ("links", Kind::Links),
    ("remote-memory", Kind::RemoteMemory),
    ("program", Kind::Program),
];

/// The kind of machine for the section's workload; `None` for one that any cluster runs. Reports no
/// faults.
pub(super) fn family(section: &Section<'_>) -> Option<Family> {
    let kind = section
        .entries()
        .find(|(key, _)| key.value == "kind")
        .and_then(|(_, value)| value.get_ref().as_str());
    Some(match kind {
        Some("program") => return None,
        Some("tca-loopback") => Family::TcaHost,
        Some("tca-three-copies") => Family::TcaCopies,
        Some(kind) if kind.starts_with("tca-") => Family::Tca,
        Some(kind) if kind.starts_with("htx-") => Family::Htx,
        Some(kind) if kind.starts_with("memory-") || kind == "break-even" => Family::Memory,
        Some("htea") => Family::Htea,
        Some("ethernet") => Family::Ethernet,
        Some("links") => Family::Links,
        Some("remote-memory") => Family::HtxBoards,
        _ => Family::Cluster,
    })
}

/// Reads the workload; `plan` and `boards` are the cluster's, if there is one.
pub(super) fn read(
    mut section: Section<'_>,
    (plan, boards): (Option<&Plan>, Option<&HtxPlan>),
    models: &Models,
    events_max: u64,
    out: &mut Findings,
) -> Option<Workload> {
    if !section.has("kind") {
        section.missing("kind", "\"ping-pong\"", out);
    }
    let kind = section.choice("kind", &KINDS, out)?.value;
    let (memory, tca) = (&models.memory, &models.tca);
    let workload = match kind {
        Kind::PingPong => read_ping_pong(&mut section, plan, out),
        Kind::Stream => read_stream(&mut section, plan, out),
        Kind::Put => read_put(&mut section, plan, out),
        Kind::AllToAll => read_all_to_all(&mut section, plan, out),
        Kind::Traffic => read_load::traffic(&mut section, plan, out),
        Kind::MessageTrace => read_load::trace(&mut section, plan, out),
        Kind::HtxWrite => {
            let size = size(&mut section, 4, &store_size, out);
            let stores = section.count("stores", 2, 1_000_000, out);
            let link = read_link(&mut section, out);
            size.zip(link).map(|(size, link)| Workload::HtxWrite {
                size_bytes: size.value,
                stores: stores.map_or(5_000, |stores| stores.value),
                link,
            })
        }
        Kind::HtxRead => {
            let size = size(&mut section, 4, &store_size, out);
            let link = read_link(&mut section, out);
            size.zip(link).map(|(size, link)| Workload::HtxRead {
                size_bytes: size.value,
                link,
            })
        }
        Kind::HtxMessage => {
            let size = size(&mut section, 16, &store_size, out);
            let link = read_link(&mut section, out);
            size.zip(link).map(|(size, link)| Workload::HtxMessage {
                size_bytes: size.value,
                link,
            })
        }
        Kind::HtxPingPong => read_htx_ping_pong(&mut section, out),
        Kind::MemoryStream => read_memory::stream(&mut section, memory, events_max, out),
        Kind::MemoryTrace => read_memory::trace(&mut section, memory, events_max, out),
        Kind::BreakEven => read_memory::break_even(&mut section, memory, events_max, out),
        Kind::TcaPingPong => read_tca::ping_pong(&mut section, plan, tca, out),
        Kind::TcaLoopback => read_tca::loopback(&mut section, out),
        Kind::TcaThreeCopies => read_tca::three_copies(&mut section, plan, tca, out),
        Kind::TcaRings => read_tca::rings(&mut section, plan, tca, out),
        Kind::TcaDma => read_tca::dma(&mut section, plan, tca, out),
        Kind::Htea => read_htea::read(&mut section, &models.htea, out),
        Kind::Ethernet => ethernet::read(&mut section, &models.ethernet, out),
        Kind::Links => links::read(&mut section, &models.links, out),
        Kind::RemoteMemory => {
            let hosts = match (boards, plan) {
                (Some(boards), _) => Some(Hosts::of_boards(boards)),
                (None, plan) => plan.map(Hosts::of_sockets),
            };
            read_remote::read(&mut section, hosts.as_ref(), out)
        }
        Kind::Program => program::read(&mut section, out),
    };
    section.finish(out);
    workload
}

fn read_ping_pong(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<Workload> {
    let ends = read_ends(section, plan, out);
    let size = size(section, LINE_PAYLOAD, &up_to(MESSAGE_BYTES_MAX), out);
    let order = read_order(section, &MESSAGE_ORDERS, out);
    let ((from, to, memory), size) = ends.zip(size)?;
    check_segment(&size, 0, memory, out);
    Some(Workload::PingPong {
        from,
        to,
        size_bytes: size.value,
        order,
    })
}

fn read_stream(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<Workload> {
    let ends = read_ends(section, plan, out);
    let size = size(section, LINE_PAYLOAD, &up_to(MESSAGE_BYTES_MAX), out);
    let messages = section.count("messages", 2, LINES_MAX, out);
    let order = read_order(section, &MESSAGE_ORDERS, out);
    let ((from, to, memory), size) = ends.zip(size)?;
    check_segment(&size, 0, memory, out);
    let count = messages.map_or(10_000, |messages| messages.value);
    let lines = count.saturating_mul(size.value.div_ceil(LINE_PAYLOAD));
    let place = messages.map_or(size.span, |messages| messages.span);
    check_lines(lines, place, &format!("{count} messages"), out);
    Some(Workload::Stream {
        from,
        to,
        size_bytes: size.value,
        messages: count,
        order,
    })
}

fn read_put(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<Workload> {
    let ends = read_ends(section, plan, out);
    let size = size(section, MIB, &up_to(PUT_BYTES_MAX), out);
    let order = read_order(section, &PUT_ORDERS, out);
    let ((from, to, memory), size) = ends.zip(size)?;
    check_segment(&size, size.value, memory, out);
    Some(Workload::Put {
        from,
        to,
        size_bytes: size.value,
        order,
    })
}

fn read_all_to_all(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<Workload> {
    let whole_lines = |bytes: u64| {
        (bytes > 0 && bytes.is_multiple_of(LINE_BYTES))
            .then_some(())
            .ok_or("a multiple of 64B".to_string())
    };
    let size = size(section, 256, &whole_lines, out)?;
    let processors = processors(plan?);
    let count = processors.len() as u64;
    let lines = (size.value / LINE_BYTES).saturating_mul(count * count.saturating_sub(1));
    if count < 2 {
        out.push(
            Diagnostic::error("workload", "the cluster has only one processor")
                .label(section.span(), "nobody to store to")
                .help("use a cluster of at least two processors"),
        );
    }
    let each_other = format!("{count} processors store this to each other");
    check_lines(lines, size.span, &each_other, out);
    let memory = processors.iter().map(|(_, bytes)| *bytes).min();
    let all = size.value.saturating_mul(count);
    check_fits(&size, all, memory.unwrap_or(0), out);
    Some(Workload::AllToAll {
        size_bytes: size.value,
    })
}

/// Not more lines than can be simulated; `place` says, as `label`, where they come from.
pub(super) fn check_lines(lines: u64, place: Span, label: &str, out: &mut Findings) {
    if lines > LINES_MAX {
        out.push(
            Diagnostic::error("value", format!("{lines} lines of 64 bytes are too many"))
                .label(place, label)
                .help(format!("stay below {LINES_MAX} lines in all")),
        );
    }
}

/// Names of all processors with the sizes of their memory.
pub(super) fn processors(plan: &Plan) -> Vec<(String, u64)> {
    let of_node = plan.nodes().iter().flat_map(|node| {
        node.processors.iter().map(|processor| {
            let name = match node.processors.len() {
                1 => node.name.clone(),
                _ => format!("{}.p{}", node.name, processor.id.index),
            };
            (name, processor.memory.bytes)
        })
    });
    of_node.collect()
}

/// `from` and `to`, and the smaller of their memories.
fn read_ends(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<(String, String, u64)> {
    let mut texts = Vec::new();
    for key in ["from", "to"] {
        match section.text(key, "\"left\"", out) {
            Some(text) => texts.push(text),
            None if !section.has(key) => section.missing(key, "\"left\"", out),
            None => {}
        }
    }
    let known = processors(plan?);
    let find = |text: &Located<&str>, out: &mut Findings| {
        let found = known.iter().find(|(name, _)| name == text.value);
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
            let help = match nearest(text.value, &names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("the first is \"{}\"", names.first().unwrap_or(&"?")),
            };
            out.push(
                Diagnostic::error(
                    "processor",
                    format!("there is no processor `{}`", clip(text.value)),
                )
                .label(
                    text.span,
                    "expected a node, or `node.p1` in a node of several",
                )
                .help(help),
            );
        }
        found
    };
    let [from, to] = texts[..] else { return None };
    let (a, b) = (find(&from, out), find(&to, out));
    let ((from_name, from_bytes), (to_name, to_bytes)) = a.zip(b)?;
    if from_name == to_name {
        out.push(
            Diagnostic::error("workload", "a processor does not send to itself")
                .label(to.span, "the same as `from`")
                .help("name another processor"),
        );
        return None;
    }
    Some((
        from_name.clone(),
        to_name.clone(),
        *from_bytes.min(to_bytes),
    ))
}

const MESSAGE_ORDERS: [(&str, Order); 3] = [
    ("weak", Order::Weak),
    ("strict", Order::Strict),
    ("fenced", Order::Fenced),
];
/// A put has no order of its own.
const PUT_ORDERS: [(&str, Order); 2] = [("weak", Order::Weak), ("fenced", Order::Fenced)];

fn read_order(section: &mut Section<'_>, orders: &[(&str, Order)], out: &mut Findings) -> Order {
    let order = section.choice("order", orders, out);
    order.map_or(Order::Weak, |order| order.value)
}

fn read_link(section: &mut Section<'_>, out: &mut Findings) -> Option<HtxLink> {
    let device = BoardKind::read(section, out);
    let width = section.quantity("width", &WIDTH, out);
    let clock = section.quantity("frequency", &FREQUENCY, out);
    let user = section.quantity("user_clock", &FREQUENCY, out);
    let mut one_of = |value: Option<Located<u64>>, usual: u64, allowed: &[u64], unit: &str| {
        let Some(value) = value else {
            return Some(usual);
        };
        if allowed.contains(&value.value) {
            return Some(value.value);
        }
        let list: Vec<_> = allowed.iter().map(|v| format!("{v}{unit}")).collect();
        out.push(
            Diagnostic::error("value", "the board has no such link")
                .label(value.span, format!("expected one of {}", list.join(", ")))
                .help(format!("use one of {}", list.join(", "))),
        );
        None
    };
    let width = one_of(width, 8, &[2, 4, 8, 16], "bit");
    // Above 1,000 MHz a link has retry, which the board does not support.
    let clocks: Vec<u64> = FREQUENCY_MHZ.into_iter().map(u64::from).collect();
    let clocks: Vec<u64> = clocks
        .into_iter()
        .filter(|mhz| (1..=1_000).contains(mhz))
        .collect();
    let clock = one_of(clock, 200, &clocks, "MHz");
    let user = user.map_or((100, None), |user| (user.value, Some(user.span)));
    if let (value, Some(span)) = user
        && !(1..=1_000).contains(&value)
    {
        out.push(
            Diagnostic::error("value", "`user_clock` is out of range")
                .label(span, "expected 1MHz to 1000MHz")
                .help("the paper's boards ran at \"100MHz\" and \"200MHz\""),
        );
        return None;
    }
    let link = HtxLink {
        device: device.map_or(BoardKind::Model, |device| device.value),
        width_bits: u8::try_from(width?).ok()?,
        frequency_mhz: u32::try_from(clock?).ok()?,
        user_clock_mhz: u32::try_from(user.0).ok()?,
    };
    check_rtl(&link, device.map(|device| device.span), out)?;
    Some(link)
}

/// Hardware that was built has widths and clocks of its own.
fn check_rtl(link: &HtxLink, place: Option<Span>, out: &mut Findings) -> Option<()> {
    let half = link.frequency_mhz / 2;
    let fits = [8, 16].contains(&link.width_bits) && 2 * link.user_clock_mhz == link.frequency_mhz;
    let place = place.filter(|_| link.device != BoardKind::Model && !fits);
    let Some(place) = place else {
        return Some(());
    };
    let text = "a board that is RTL has no such link";
    let expected = format!("expected 8 or 16 bit, and a user clock of half the link's, {half}MHz");
    let help = format!("set `user_clock = \"{half}MHz\"` and a width that it has");
    out.push(
        Diagnostic::error("value", text)
            .label(place, expected)
            .help(help),
    );
    None
}

fn read_htx_ping_pong(section: &mut Section<'_>, out: &mut Findings) -> Option<Workload> {
    /// The cable of the TCCluster prototype, whose 5 ns the loop back has too.
    const CABLE_UM: u64 = 25 * 25_400;
    let size = size(section, 16, &store_size, out);
    let ports = [PortKind::Atoll, PortKind::Sfp].map(|kind| (kind.name(), kind));
    let port = section.choice("port", &ports, out);
    let cable = section.quantity("length", &LENGTH, out);
    let link = read_link(section, out);
    if let (Some(link), Some(port)) = (&link, &port)
        && (link.device, port.value) == (BoardKind::Rtl, PortKind::Sfp)
    {
        let text = "boards that are RTL have no SFPs";
        let error = Diagnostic::error("value", text);
        out.push(
            error
                .label(port.span, "expected \"atoll\"")
                .help("leave `port` out"),
        );
        return None;
    }
    size.zip(link).map(|(size, link)| Workload::HtxPingPong {
        size_bytes: size.value,
        port: port.map_or(PortKind::Atoll, |port| port.value),
        cable_um: cable.map_or(CABLE_UM, |cable| cable.value),
        link,
    })
}

pub(super) type SizeRule = dyn Fn(u64) -> Result<(), String>;

pub(super) fn size(
    section: &mut Section<'_>,
    usual: u64,
    rule: &SizeRule,
    out: &mut Findings,
) -> Option<Located<u64>> {
    let span = section.span();
    if !section.has("size") {
        // Makes the key known.
        let _ = section.value("size");
        return Some(Located { value: usual, span });
    }
    let size = section.quantity("size", &SIZE, out)?;
    match rule(size.value) {
        Ok(()) => Some(size),
        Err(expected) => {
            out.push(
                Diagnostic::error(
                    "value",
                    format!("`size` cannot be {}", display_bytes(size.value)),
                )
                .label(size.span, format!("expected {expected}"))
                .help(format!("use {expected}")),
            );
            None
        }
    }
}

pub(super) fn up_to(most: u64) -> impl Fn(u64) -> Result<(), String> {
    move |bytes| {
        let expected = || format!("1B to {}", display_bytes(most));
        (1..=most)
            .contains(&bytes)
            .then_some(())
            .ok_or_else(expected)
    }
}

fn store_size(bytes: u64) -> Result<(), String> {
    let fits = (4..=LINE_BYTES).contains(&bytes) && bytes.is_multiple_of(4);
    fits.then_some(())
        .ok_or_else(|| "4B to 64B in steps of 4B".to_string())
}

/// The memory that a PE with a heap of `heap_bytes` needs, compared with that of a
/// node.
fn check_segment(size: &Located<u64>, heap_bytes: u64, memory: u64, out: &mut Findings) {
    // Sizes are limited: this one has a layout.
    let bytes = segment_bytes(heap_bytes).unwrap_or(u64::MAX);
    check_fits(size, bytes, memory, out);
}

pub(super) fn check_fits(size: &Located<u64>, bytes: u64, memory: u64, out: &mut Findings) {
    let room = memory.saturating_sub(MEMORY_OFFSET);
    if bytes > room {
        out.push(
            Diagnostic::error("memory", "this does not fit into a processor's memory")
                .label(
                    size.span,
                    format!(
                        "needs {}, there is {}",
                        display_bytes(bytes),
                        display_bytes(room)
                    ),
                )
                .note("the first MiB is left to firmware and rings")
                .help("use less, or give the processors more memory"),
        );
    }
}
