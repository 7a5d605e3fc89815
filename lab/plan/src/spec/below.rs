//! What a cluster file says of the devices below sockets that have cables of their own: HTX boards,
//! their switches, and PEACH2 chips.

use serde::Serialize;
use toml::de::DeValue;

use super::ethernet::Key;
use super::link::FREQUENCIES_MHZ;
use super::section::{Section, clip};
use super::units::{FREQUENCY, SIZE, WIDTH};
use super::{AdapterKind, PEACH2_PORTS};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::htx;

/// A bridge from HyperTransport to PCI Express, with a PEACH2 chip below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BridgePlan {
    /// Width of the HyperTransport link that it can do. Source: AMD SR5650 databook (47062): 16 bit.
    pub link_width_bits: u8,
    /// Clock of that link that it can do. Source: as the width: up to 2.6 GHz.
    pub link_mhz: u16,
    /// From a packet at the pins of the HyperTransport link to the PCI Express link, in picoseconds.
    /// **Assumed.**
    pub down_ps: u64,
    /// The other way. **Assumed.**
    pub up_ps: u64,
    /// Reads of memory that may be under way: source tags. Source: HyperTransport has five bits for them.
    pub read_tags: u8,
    /// Room for the data of these reads, until completions have taken them. **Assumed.**
    pub read_buffer_bytes: u64,
    /// Completions end at multiples of this. **Assumed**: the payload of a PEACH2 chip.
    pub completion_bytes: u64,
}

/// Source tags of a unit on a HyperTransport link.
const READ_TAGS_MAX: u64 = 32;
/// The read completion boundary of a root complex, and the largest payload.
const COMPLETION_BYTES: [u64; 2] = [64, 4_096];

impl Default for BridgePlan {
    fn default() -> Self {
        Self {
            link_width_bits: 16,
            link_mhz: 2_600,
            down_ps: 100_000,
            up_ps: 100_000,
            read_tags: READ_TAGS_MAX as u8,
            read_buffer_bytes: 4_096,
            completion_bytes: 256,
        }
    }
}

/// Everything about HTX boards and PEACH2 chips below sockets.
#[derive(Debug, Default)]
pub(crate) struct BelowSpec {
    /// `[board]`, if the file has it.
    pub board: Option<Located<htx::Board>>,
    /// `[bridge]`, if the file has it.
    pub bridge: Option<Located<BridgePlan>>,
    pub switches: Vec<htx::SwitchSpec>,
    /// Between link ports of boards and switches.
    pub board_cables: Vec<htx::CableSpec>,
    pub chip_cables: Vec<ChipCableSpec>,
    /// Memory of the processor above a board, for the one above another board.
    pub regions: Vec<htx::RegionSpec>,
}

/// A cable between two chips.
#[derive(Debug)]
pub(crate) struct ChipCableSpec {
    pub span: Span,
    pub ends: [Located<ChipPort>; 2],
}

/// A port of a chip as written: `a.chip.east`, `a.chip1.west`.
#[derive(Debug)]
pub(crate) struct ChipPort {
    pub node: String,
    /// Which of the chips of that node.
    pub index: usize,
    pub port: u8,
}

/// Reads `[board]`, `[bridge]`, `[[switch]]` and `[[region]]`.
pub(super) fn read_below(file: &mut Section<'_>, out: &mut Findings) -> BelowSpec {
    let board = file.table("board", "[board]", out).map(|mut section| {
        let span = section.span();
        let value = htx::read_board(&mut section, htx::Board::default(), out);
        section.finish(out);
        Located { value, span }
    });
    let bridge = file.table("bridge", "[bridge]", out).map(|section| {
        let span = section.span();
        let value = read_bridge(section, out);
        Located { value, span }
    });
    let switches = file.tables("switch", "[[switch]]", out);
    let switches = switches.into_iter();
    let regions = file.tables("region", "[[region]]", out);
    let regions = regions.into_iter();
    BelowSpec {
        regions: regions
            .filter_map(|section| htx::read_region(section, out))
            .collect(),
        board,
        bridge,
        switches: switches
            .filter_map(|section| htx::read_switch(section, out))
            .collect(),
        ..BelowSpec::default()
    }
}

fn read_bridge(mut section: Section<'_>, out: &mut Findings) -> BridgePlan {
    let mut plan = BridgePlan::default();
    if let Some(width) = section.quantity("link_width", &WIDTH, out) {
        plan.link_width_bits = match width.value {
            2 | 4 | 8 | 16 => width.value as u8,
            _ => {
                out.push(
                    Diagnostic::error("link-width", "no bridge has a link of this width")
                        .label(width.span, "expected 2bit, 4bit, 8bit or 16bit")
                        .help("use \"16bit\""),
                );
                plan.link_width_bits
            }
        };
    }
    if let Some(clock) = section.quantity("link_frequency", &FREQUENCY, out) {
        match FREQUENCIES_MHZ.contains(&clock.value) {
            true => plan.link_mhz = clock.value as u16,
            false => out.push(
                Diagnostic::error("link-frequency", "this is not a HyperTransport link clock")
                    .label(clock.span, "not in the table of clocks")
                    .note(format!("the clocks are {FREQUENCIES_MHZ:?} MHz"))
                    .help("use \"2600MHz\""),
            ),
        }
    }
    Key::time("down").read(&mut section, &mut plan.down_ps, out);
    Key::time("up").read(&mut section, &mut plan.up_ps, out);
    if let Some(tags) = section.count("read_tags", 1, READ_TAGS_MAX, out) {
        plan.read_tags = tags.value as u8;
    }
    let [least, most] = COMPLETION_BYTES;
    // Less than a completion would wait for itself.
    Key::size("read_buffer", [most, 1 << 20]).read(&mut section, &mut plan.read_buffer_bytes, out);
    if let Some(size) = section.quantity("completion", &SIZE, out) {
        match (least..=most).contains(&size.value) && size.value.is_power_of_two() {
            true => plan.completion_bytes = size.value,
            false => out.push(
                Diagnostic::error("value", "no completion ends there")
                    .label(
                        size.span,
                        format!("expected a power of two, {least} to {most} bytes"),
                    )
                    .help("use \"256B\""),
            ),
        }
    }
    section.finish(out);
    plan
}

/// What an end of a cable is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndKind {
    /// A HyperTransport link: `a.l2`, `a.p1.l2`.
    Link,
    /// A link port of a board or a switch: `a.board.p0`, `a.board1.p0`, `s.p3`.
    LinkPort,
    /// A port of a chip: `a.chip.east`, `a.chip1.east`.
    ChipPort,
}

fn kind(end: &str) -> EndKind {
    let Some((before, port)) = end.rsplit_once('.') else {
        return EndKind::Link;
    };
    if chip_of(before).is_some() {
        EndKind::ChipPort
    } else if port.starts_with('p') {
        EndKind::LinkPort
    } else {
        EndKind::Link
    }
}

/// Node and place of a chip: `a.chip`, `a.chip1`.
fn chip_of(name: &str) -> Option<(&str, usize)> {
    let (node, chip) = name.rsplit_once('.')?;
    Some((node, AdapterKind::Peach2.index_of(chip)?))
}

/// Whether an end of a cable is plugged into a board, a switch or a chip.
pub(super) fn is_below(section: &Section<'_>) -> bool {
    let mut ends = section
        .entries()
        .filter(|(key, _)| ["from", "to"].contains(&key.value));
    ends.any(|(_, value)| match value.get_ref() {
        DeValue::String(text) => kind(text) != EndKind::Link,
        _ => false,
    })
}

/// Reads a cable between boards and switches, or between chips.
pub(super) fn read_below_cable(
    mut section: Section<'_>,
    below: &mut BelowSpec,
    out: &mut Findings,
) {
    let mut ends = [EndKind::Link; 2];
    for (key, value) in section.entries() {
        let Some(at) = ["from", "to"].iter().position(|end| *end == key.value) else {
            continue;
        };
        ends[at] = value.get_ref().as_str().map_or(EndKind::Link, kind);
    }
    match ends {
        [EndKind::LinkPort, EndKind::LinkPort] => {
            below.board_cables.extend(htx::read_cable(section, out));
        }
        [EndKind::ChipPort, EndKind::ChipPort] => {
            let span = section.span();
            let ends = ["from", "to"].map(|key| read_chip_port(&mut section, key, out));
            section.finish(out);
            if let [Some(from), Some(to)] = ends {
                let ends = [from, to];
                below.chip_cables.push(ChipCableSpec { span, ends });
            }
        }
        _ => out.push(
            Diagnostic::error("port", "the ends of the cable do not fit each other")
                .label(section.span(), "joins ports of two kinds")
                .note(
                    "links are `a.l2`, link ports of boards and switches `a.board.p0` and `s.p3`, \
                     ports of chips `a.chip.east`",
                )
                .help("plug both ends into ports of one kind"),
        ),
    }
}

fn read_chip_port(
    section: &mut Section<'_>,
    key: &'static str,
    out: &mut Findings,
) -> Option<Located<ChipPort>> {
    let example = "\"a.chip.east\"";
    let text = section.text(key, example, out)?;
    let parsed = text.value.rsplit_once('.').and_then(|(chip, port)| {
        let (node, index) = chip_of(chip)?;
        // Port north leads to the bridge.
        let ports = PEACH2_PORTS.iter().take(3);
        let port = ports.into_iter().position(|name| *name == port)?;
        Some(ChipPort {
            node: node.to_owned(),
            index,
            port: u8::try_from(port).ok()?,
        })
    });
    if parsed.is_none() {
        let got = clip(text.value);
        out.push(
            Diagnostic::error("port", format!("`{got}` is not a port of a chip"))
                .label(text.span, "expected `node.chip.east`, `.west` or `.south`")
                .help(format!("write it as {example}")),
        );
    }
    Some(Located {
        value: parsed?,
        span: text.span,
    })
}
