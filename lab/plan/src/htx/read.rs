//! The keys of a file with HTX boards.

use super::net::Lendable;
use super::region::{self, RegionSpec};
use super::{BoardKind, PortKind};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::file::Section;
use crate::spec::Policy;
use crate::spec::units::{FREQUENCY, Length, SIZE, WIDTH};
use crate::spec::{RouteSpec, check_name, read_policy, read_routes};

/// Most ports of a switch. **Assumed.**
const SWITCH_PORTS_MAX: u64 = 64;
/// Clocks of user logic, in MHz. Source: paper, sections 3 and 5.
const USER_MHZ: [u64; 2] = [100, 200];
/// Clocks of the link. Source: paper, section 2: the pins take at most 1 Gbit/s.
const LINK_MHZ: [u64; 2] = [200, 400];
const LINK_WIDTH_BITS: [u64; 2] = [8, 16];
const CORES_MAX: u64 = 16;
const RING_BYTES: u64 = 128 << 10;
/// The link ports count messages in 16 bits, of which half can be told apart.
const RING_SLOTS_MAX: u64 = 1 << 14;

pub(crate) struct Spec {
    pub hosts: Vec<HostSpec>,
    pub switches: Vec<SwitchSpec>,
    pub cables: Vec<CableSpec>,
    pub regions: Vec<RegionSpec>,
    pub policy: Policy,
    pub routes: Vec<RouteSpec>,
}

pub(crate) struct HostSpec {
    pub name: Located<String>,
    /// The table header.
    pub span: Span,
    pub memory_bytes: u64,
    pub cores: u8,
    pub board: Board,
    /// Hosts of one node have the same number.
    pub node: usize,
    pub lendable: Lendable,
}

/// A board as a file describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Board {
    pub link_width_bits: u64,
    pub link_mhz: u64,
    pub user_mhz: u64,
    pub device: Located<BoardKind>,
    pub port: PortKind,
    pub ports: Located<Option<u64>>,
    pub ring_bytes: Located<u64>,
}

#[derive(Debug)]
pub(crate) struct SwitchSpec {
    pub name: Located<String>,
    pub port: PortKind,
    pub ports: u8,
    pub clock_mhz: u32,
}

#[derive(Debug)]
pub(crate) struct CableSpec {
    pub span: Span,
    pub ends: [Located<(String, u8)>; 2],
    pub length: Option<Located<Length>>,
}

pub(super) fn read(mut file: Section<'_>, out: &mut Findings) -> Spec {
    file.value("fabric");
    let mut usual = Board::default();
    if let Some(mut section) = file.table("board", "[board]", out) {
        usual = read_board(&mut section, usual, out);
        read_own(&mut section, &mut usual, out);
        section.finish(out);
    }
    let policy = file
        .table("routing", "[routing]", out)
        .and_then(|section| read_policy(section, out));
    let routes = read_routes(&mut file, policy, out);
    let nodes = file.tables("node", "[[node]]", out);
    let hosts: Vec<_> = nodes
        .into_iter()
        .enumerate()
        .filter_map(|(node, section)| read_host(section, node, usual, out))
        .collect();
    let switches = file.tables("switch", "[[switch]]", out);
    let switches: Vec<_> = switches
        .into_iter()
        .filter_map(|section| read_switch(section, out))
        .collect();
    let cables = file.tables("cable", "[[cable]]", out);
    let cables = cables
        .into_iter()
        .filter_map(|section| read_cable(section, out))
        .collect();
    let regions = file.tables("region", "[[region]]", out);
    let regions = regions
        .into_iter()
        .filter_map(|section| region::read(section, out))
        .collect();
    if !file.has("node") {
        out.push(
            Diagnostic::error("empty", "the file describes no hosts")
                .help("add [[node]] and [[cable]] tables"),
        );
    }
    file.finish(out);
    Spec {
        hosts,
        switches,
        cables,
        regions,
        policy: policy.map_or(Policy::Auto, |policy| policy.value),
        routes,
    }
}

/// The board of the paper.
impl Default for Board {
    fn default() -> Self {
        Self {
            link_width_bits: 8,
            link_mhz: 200,
            user_mhz: 100,
            device: Located {
                value: BoardKind::Model,
                span: Span::default(),
            },
            port: PortKind::Atoll,
            ports: Located {
                value: None,
                span: Span::default(),
            },
            ring_bytes: Located {
                value: RING_BYTES,
                span: Span::default(),
            },
        }
    }
}

/// Reads the keys that [board] and [[node]] share, except those that boards below sockets do not have; those
/// that are missing are as `usual`.
pub(crate) fn read_board(section: &mut Section<'_>, usual: Board, out: &mut Findings) -> Board {
    let mut board = usual;
    if let Some(width) = section.quantity("link_width", &WIDTH, out) {
        let code = "link-width";
        board.link_width_bits =
            one_of((code, "bit"), width, &LINK_WIDTH_BITS, out).unwrap_or(usual.link_width_bits);
    }
    if let Some(clock) = section.quantity("link_frequency", &FREQUENCY, out) {
        let code = "link-frequency";
        board.link_mhz = one_of((code, "MHz"), clock, &LINK_MHZ, out).unwrap_or(usual.link_mhz);
    }
    if let Some(clock) = section.quantity("user_frequency", &FREQUENCY, out) {
        let code = "user-frequency";
        board.user_mhz = one_of((code, "MHz"), clock, &USER_MHZ, out).unwrap_or(usual.user_mhz);
    }
    if let Some(port) = read_port_kind(section, out) {
        board.port = port;
    }
    let most = u64::from(PortKind::Sfp.ports_max());
    if let Some(ports) = section.count("ports", 1, most, out) {
        board.ports = Located {
            value: Some(ports.value),
            span: ports.span,
        };
    }
    board
}

/// Reads what a board in the slot of a host has, as far as the file gives it.
fn read_own(section: &mut Section<'_>, board: &mut Board, out: &mut Findings) {
    if let Some(device) = BoardKind::read(section, out) {
        board.device = device;
    }
    if let Some(ring) = section.quantity("ring", &SIZE, out) {
        board.ring_bytes = check_ring(ring, out).unwrap_or(board.ring_bytes);
    }
}

fn check_ring(ring: Located<u64>, out: &mut Findings) -> Option<Located<u64>> {
    let slots = ring.value / super::SLOT_BYTES;
    let whole = ring.value.is_multiple_of(super::SLOT_BYTES);
    if whole && (1..=RING_SLOTS_MAX).contains(&slots) {
        return Some(ring);
    }
    out.push(
        Diagnostic::error("ring-size", "a board cannot have such a ring")
            .label(ring.span, format!("got {} bytes", ring.value))
            .note(format!(
                "a ring is 1 to {RING_SLOTS_MAX} slots of {} bytes",
                super::SLOT_BYTES
            ))
            .help("use a multiple of 128B; 128KiB is usual"),
    );
    None
}

fn one_of(
    (code, unit): (&'static str, &str),
    got: Located<u64>,
    allowed: &[u64],
    out: &mut Findings,
) -> Option<u64> {
    if allowed.contains(&got.value) {
        return Some(got.value);
    }
    let list: Vec<_> = allowed
        .iter()
        .map(|value| format!("\"{value}{unit}\""))
        .collect();
    let list = list.join(" or ");
    out.push(
        Diagnostic::error(code, format!("no HTX board has {} {unit}", got.value))
            .label(got.span, format!("expected {list}"))
            .help(format!("use {list}")),
    );
    None
}

fn read_port_kind(section: &mut Section<'_>, out: &mut Findings) -> Option<PortKind> {
    let kinds = [PortKind::Atoll, PortKind::Sfp].map(|kind| (kind.name(), kind));
    section.choice("port", &kinds, out).map(|kind| kind.value)
}

fn read_name(section: &mut Section<'_>, out: &mut Findings) -> Option<Located<String>> {
    let example = "\"left\"";
    let Some(name) = section.text("name", example, out) else {
        if !section.has("name") {
            section.missing("name", example, out);
        }
        return None;
    };
    check_name(name.value, name.span, out);
    Some(Located {
        value: name.value.to_owned(),
        span: name.span,
    })
}

fn read_host(
    mut section: Section<'_>,
    node: usize,
    usual: Board,
    out: &mut Findings,
) -> Option<HostSpec> {
    let span = section.span();
    let name = read_name(&mut section, out);
    let memory = section.quantity("memory", &SIZE, out);
    if memory.is_none() && !section.has("memory") {
        section.missing("memory", "\"2GiB\"", out);
    }
    let cores = section.count("cores", 1, CORES_MAX, out);
    let mut board = read_board(&mut section, usual, out);
    read_own(&mut section, &mut board, out);
    section.finish(out);
    let memory_bytes = memory.and_then(|memory| check_memory(memory, out))?;
    Some(HostSpec {
        name: name?,
        span,
        memory_bytes,
        cores: cores.map_or(1, |cores| u8::try_from(cores.value).unwrap_or(1)),
        node,
        lendable: Lendable {
            first: super::RING_BASE + board.ring_bytes.value,
            end: memory_bytes,
            around: "below lies the ring of its messages",
        },
        board,
    })
}

/// Memory lies below the windows of the board, and the northbridge counts it in 16 MiB.
fn check_memory(memory: Located<u64>, out: &mut Findings) -> Option<u64> {
    const GRANULE: u64 = 16 << 20;
    const MOST: u64 = 16 << 30;
    if memory.value.is_multiple_of(GRANULE) && (GRANULE..=MOST).contains(&memory.value) {
        return Some(memory.value);
    }
    out.push(
        Diagnostic::error("map-alignment", "a host cannot have this much memory")
            .label(memory.span, "expected a multiple of 16MiB up to 16GiB")
            .help("use \"2GiB\", as the paper's host has"),
    );
    None
}

pub(crate) fn read_switch(mut section: Section<'_>, out: &mut Findings) -> Option<SwitchSpec> {
    let name = read_name(&mut section, out);
    let port = read_port_kind(&mut section, out).unwrap_or(PortKind::Atoll);
    let ports = section.count("ports", 2, SWITCH_PORTS_MAX, out);
    if ports.is_none() && !section.has("ports") {
        section.missing("ports", "8", out);
    }
    let clock = section.quantity("frequency", &FREQUENCY, out);
    let code = ("user-frequency", "MHz");
    let clock = clock.and_then(|clock| one_of(code, clock, &USER_MHZ, out));
    section.finish(out);
    Some(SwitchSpec {
        name: name?,
        port,
        ports: u8::try_from(ports?.value).ok()?,
        clock_mhz: clock.map_or(100, |mhz| mhz as u32),
    })
}

pub(crate) fn read_cable(mut section: Section<'_>, out: &mut Findings) -> Option<CableSpec> {
    let span = section.span();
    let from = read_end(&mut section, "from", out);
    let to = read_end(&mut section, "to", out);
    let length = section.length("length", out);
    section.finish(out);
    Some(CableSpec {
        span,
        ends: [from?, to?],
        length,
    })
}

/// `p3`.
pub(super) fn parse_port(text: &str) -> Option<u8> {
    text.strip_prefix('p')?.parse().ok()
}

fn read_end(
    section: &mut Section<'_>,
    key: &'static str,
    out: &mut Findings,
) -> Option<Located<(String, u8)>> {
    let example = "\"left.p0\"";
    let Some(text) = section.text(key, example, out) else {
        if !section.has(key) {
            section.missing(key, example, out);
        }
        return None;
    };
    let parsed = text
        .value
        .rsplit_once('.')
        .and_then(|(name, port)| Some((name.to_owned(), parse_port(port)?)));
    if parsed.is_none() {
        let got = crate::spec::clip_name(text.value);
        out.push(
            Diagnostic::error("port", format!("`{got}` is not a link port"))
                .label(text.span, "expected `node.p0` or `switch.p3`")
                .help(format!("write it as {example}")),
        );
    }
    Some(Located {
        value: parsed?,
        span: text.span,
    })
}
