//! Memory regions of other hosts: whose memory, who uses it, at which addresses.

use toml::Spanned;
use toml::de::DeValue;

use super::Region;
use super::net::{Lendable, Net};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::file::{Section, span_of, wrong_type};
use crate::spec::units::{SIZE, display_bytes};

/// First address of the regions that a host uses: above the window of the board's example design,
/// below that of its messages.
pub const REGION_BASE: u64 = 0xa0_0000_0000;
/// The end of the last one.
const REGION_END: u64 = 0xfc_0000_0000;
/// The northbridge counts I/O ranges in 64 KiB.
const GRANULE: u64 = 64 << 10;

/// A `[[region]]` as the file has it.
#[derive(Debug)]
pub(crate) struct RegionSpec {
    pub span: Span,
    of: Located<String>,
    at: Vec<Located<String>>,
    bytes: Located<u64>,
    offset: Option<Located<u64>>,
}

impl RegionSpec {
    /// Whether it lets this board use memory of that one's host.
    pub(crate) fn joins(&self, at: &str, of: &str) -> bool {
        self.of.value == of && self.at.iter().any(|user| user.value == at)
    }
}

pub(crate) fn read(mut section: Section<'_>, out: &mut Findings) -> Option<RegionSpec> {
    let span = section.span();
    let of = section.text("of", "\"right\"", out);
    if of.is_none() && !section.has("of") {
        section.missing("of", "\"right\"", out);
    }
    let at = match section.value("at") {
        Some(value) => read_users(value, out),
        None => {
            section.missing("at", "\"left\"", out);
            None
        }
    };
    let size = section.quantity("size", &SIZE, out);
    if size.is_none() && !section.has("size") {
        section.missing("size", "\"1GiB\"", out);
    }
    let bytes = size.and_then(|size| whole(size, 1, "size", out));
    let given = section.quantity("offset", &SIZE, out);
    let offset = given.map(|offset| whole(offset, 0, "offset", out));
    section.finish(out);
    let of = of?;
    Some(RegionSpec {
        span,
        of: Located {
            value: of.value.to_owned(),
            span: of.span,
        },
        at: at?,
        bytes: bytes?,
        // A wrong one has been reported.
        offset: match offset {
            Some(offset) => Some(offset?),
            None => None,
        },
    })
}

/// A name, or a list of names.
fn read_users(value: &Spanned<DeValue<'_>>, out: &mut Findings) -> Option<Vec<Located<String>>> {
    let name = |value: &Spanned<DeValue<'_>>| {
        let text = value.get_ref().as_str()?.to_owned();
        Some(Located {
            value: text,
            span: span_of(value),
        })
    };
    let names = match value.get_ref() {
        DeValue::Array(list) if !list.is_empty() => list.iter().map(name).collect(),
        _ => name(value).map(|name| vec![name]),
    };
    if names.is_none() {
        let expected = "the name of a host, or a list such as [\"left\", \"right\"]";
        wrong_type("at", expected, value, out);
    }
    names
}

fn whole(got: Located<u64>, least: u64, key: &str, out: &mut Findings) -> Option<Located<u64>> {
    if got.value.is_multiple_of(GRANULE) && got.value / GRANULE >= least {
        return Some(got);
    }
    out.push(
        Diagnostic::error("region-size", format!("a region cannot have this `{key}`"))
            .label(got.span, "expected a multiple of 64KiB")
            .note("the processor's ranges of I/O addresses count in 64 KiB")
            .help("use a size such as \"1GiB\""),
    );
    None
}

/// A part of an owner's memory that has been given away, and where the file says so.
struct Taken {
    host: usize,
    first: u64,
    end: u64,
    span: Span,
}

/// Finds places in the memory of owners, and addresses at the users, in the order of the file.
pub(super) fn place(specs: &[RegionSpec], net: &Net, out: &mut Findings) -> Vec<Region> {
    let mut taken = Vec::new();
    // Regions that say where they lie come first: the others make room.
    for spec in specs.iter().filter(|spec| spec.offset.is_some()) {
        let owner = host(&spec.of, net, out);
        if let (Some(owner), Some(offset)) = (owner, spec.offset) {
            take(spec, owner, offset, &mut taken, net, out);
        }
    }
    // Those of a node lie one behind the other.
    let mut ends = vec![REGION_BASE; net.hosts.len()];
    let node = |host: usize| net.lenders[host].0;
    let mut regions = Vec::new();
    for spec in specs {
        let users: Vec<_> = spec.at.iter().map(|at| host(at, net, out)).collect();
        let offset = match spec.offset {
            Some(offset) => Some(offset.value),
            None => host(&spec.of, net, out).and_then(|of| find(spec, of, &mut taken, net, out)),
        };
        let of = net.hosts.iter().position(|host| host.name == spec.of.value);
        let (Some(of), Some(offset)) = (of, offset) else {
            continue;
        };
        for (at, name) in users.into_iter().zip(&spec.at) {
            let Some(at) = at else { continue };
            let first = (0..net.hosts.len()).find(|host| node(*host) == node(at));
            if node(at) == node(of) {
                own_memory(name, spec, out);
            } else if let Some(address) = address(&mut ends[first.unwrap_or(at)], name, spec, out) {
                regions.push(Region {
                    of,
                    at,
                    bytes: spec.bytes.value,
                    address,
                    offset,
                });
            }
        }
    }
    regions
}

fn host(name: &Located<String>, net: &Net, out: &mut Findings) -> Option<usize> {
    let found = net.hosts.iter().position(|host| host.name == name.value);
    if found.is_none() {
        let known: Vec<&str> = net.hosts.iter().map(|host| host.name.as_str()).collect();
        let near = crate::spec::nearest_name(&name.value, &known);
        let help = near.map_or("name a [[node]] of this file".into(), |near| {
            format!("did you mean `{near}`?")
        });
        let got = crate::spec::clip_name(&name.value);
        out.push(
            Diagnostic::error("unknown-node", format!("there is no host `{got}`"))
                .label(name.span, "not the name of a host")
                .help(help),
        );
    }
    found
}

/// The part of a host's memory that can be given away, in whole granules.
fn lendable(owner: usize, net: &Net) -> (u64, u64) {
    let Lendable { first, end, .. } = net.lenders[owner].1;
    (first.next_multiple_of(GRANULE), end / GRANULE * GRANULE)
}

/// Takes the place that the file names.
fn take(
    spec: &RegionSpec,
    owner: usize,
    offset: Located<u64>,
    taken: &mut Vec<Taken>,
    net: &Net,
    out: &mut Findings,
) {
    let (low, high) = lendable(owner, net);
    let (first, end) = (offset.value, offset.value.saturating_add(spec.bytes.value));
    let name = &spec.of.value;
    if first < low || end > high {
        out.push(
            Diagnostic::error(
                "region-size",
                format!("the region lies outside of the memory of `{name}` that others can use"),
            )
            .label(
                offset.span,
                format!("from {} to {}", display_bytes(first), display_bytes(end)),
            )
            .note(format!(
                "that is {} to {}: {}",
                display_bytes(low),
                display_bytes(high),
                net.lenders[owner].1.around
            ))
            .help("use another `offset`, or none: the planner finds a place"),
        );
        return;
    }
    let other = taken
        .iter()
        .find(|other| other.host == owner && first < other.end && other.first < end);
    if let Some(other) = other {
        let overlap = (first.max(other.first), end.min(other.end));
        out.push(
            Diagnostic::error(
                "region-overlap",
                format!("two regions share memory of `{name}`"),
            )
            .label(
                offset.span,
                format!(
                    "{} from {} on are in both",
                    display_bytes(overlap.1 - overlap.0),
                    display_bytes(overlap.0)
                ),
            )
            .label(other.span, "the other region")
            .help(
                "move one of them; for memory that several hosts use write `at = [\"a\", \"b\"]`",
            ),
        );
        return;
    }
    taken.push(Taken {
        host: owner,
        first,
        end,
        span: spec.span,
    });
}

/// The highest place of the owner's memory that is free.
fn find(
    spec: &RegionSpec,
    owner: usize,
    taken: &mut Vec<Taken>,
    net: &Net,
    out: &mut Findings,
) -> Option<u64> {
    let (low, high) = lendable(owner, net);
    let bytes = spec.bytes.value;
    let mut blocks: Vec<(u64, u64)> = taken
        .iter()
        .filter(|other| other.host == owner)
        .map(|other| (other.end, other.first))
        .collect();
    blocks.sort_unstable();
    let mut end = high;
    for (block_end, first) in blocks.into_iter().rev() {
        if end.saturating_sub(block_end) >= bytes {
            break;
        }
        end = end.min(first);
    }
    if let Some(first) = end.checked_sub(bytes).filter(|first| *first >= low) {
        taken.push(Taken {
            host: owner,
            first,
            end,
            span: spec.span,
        });
        return Some(first);
    }
    let given: u64 = taken
        .iter()
        .filter(|other| other.host == owner)
        .map(|other| other.end - other.first)
        .sum();
    let name = &spec.of.value;
    out.push(
        Diagnostic::error(
            "region-size",
            format!("the memory of `{name}` has no room for this region"),
        )
        .label(
            spec.bytes.span,
            format!("{} in one piece", display_bytes(bytes)),
        )
        .note(format!(
            "others can use {} to {} of it, of which other regions take {}: {}",
            display_bytes(low),
            display_bytes(high),
            display_bytes(given),
            net.lenders[owner].1.around
        ))
        .help("make regions smaller, or give the host more `memory`"),
    );
    None
}

fn own_memory(name: &Located<String>, spec: &RegionSpec, out: &mut Findings) {
    out.push(
        Diagnostic::error(
            "region-own",
            format!("`{}` would use its own memory as a region", name.value),
        )
        .label(name.span, "the owner of the memory")
        .label(spec.of.span, "named here")
        .help("a host has its own memory without a region: name another one"),
    );
}

/// The next free address of a user.
fn address(
    end: &mut u64,
    name: &Located<String>,
    spec: &RegionSpec,
    out: &mut Findings,
) -> Option<u64> {
    let address = *end;
    let next = address.saturating_add(spec.bytes.value);
    if next > REGION_END {
        out.push(
            Diagnostic::error(
                "region-space",
                format!("`{}` has no addresses left for this region", name.value),
            )
            .label(
                spec.bytes.span,
                format!("{} more", display_bytes(spec.bytes.value)),
            )
            .note(format!(
                "regions lie from {REGION_BASE:#x} to {REGION_END:#x}, {} in all",
                display_bytes(REGION_END - REGION_BASE)
            ))
            .help("let this host use less memory of others"),
        );
        return None;
    }
    *end = next;
    Some(address)
}
