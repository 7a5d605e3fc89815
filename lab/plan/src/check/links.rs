//! Width, clock and length of cables.

use crate::diagnostic::{Diagnostic, Findings, Located, Span};
use crate::route::Scheme;
use crate::spec::units::Length;
use crate::spec::{CableKind, Medium};
use crate::topology::{Cable, Topology};

/// Longest trace between two processors on FR4 (tccluster, section IV.F).
const TRACE_MAX: Length = Length::inches(24);
/// Longest coaxial cable to be expected to carry [`Medium::mhz_max`]: twice the prototype's, **assumed**. The paper
/// says only that coaxial cables may be longer than traces (tccluster, section IV.F).
const COAX_MAX: Length = Length::inches(50);
/// Beyond so many times that, nothing arrives. **Assumed.**
const COAX_TIMES_MAX: u64 = 10;

/// A property both ends of a cable must agree on.
pub(crate) struct Property {
    code: &'static str,
    noun: &'static str,
    unit: &'static str,
}

/// Lanes per direction.
pub(crate) const WIDTH: Property = Property {
    code: "link-width",
    noun: "width",
    unit: "bit",
};
/// Link clock.
pub(crate) const FREQUENCY: Property = Property {
    code: "link-frequency",
    noun: "frequency",
    unit: "MHz",
};

/// The value at which a link runs: the one in the file if both ends support it, else the
/// lower one of the two ends.
pub(crate) fn agree(
    property: &Property,
    asked: Option<Located<u64>>,
    ends: [(&str, u64); 2],
    cable: Span,
    out: &mut Findings,
) -> u64 {
    let Property { code, noun, unit } = property;
    let [(a, a_max), (b, b_max)] = ends;
    let common = a_max.min(b_max);
    let Some(asked) = asked else {
        if a_max != b_max {
            out.push(
                Diagnostic::warning(
                    code,
                    format!("the ends of a cable differ in {noun}; it runs at {common} {unit}"),
                )
                .label(
                    cable,
                    format!("{a} can do {a_max} {unit}, {b} can do {b_max} {unit}"),
                )
                .help(format!("give the cable a {noun} to say that this is meant")),
            );
        }
        return common;
    };
    if asked.value > common {
        let (weak, max) = if a_max <= b_max {
            (a, a_max)
        } else {
            (b, b_max)
        };
        out.push(
            Diagnostic::error(
                code,
                format!(
                    "the cable asks for {} {unit}, {weak} can do {max} {unit}",
                    asked.value
                ),
            )
            .label(
                asked.span,
                format!("expected at most {max}{unit}, got {}{unit}", asked.value),
            )
            .label(cable, "the cable")
            .help(format!(
                "lower the {noun}, or raise what the link of the node can do"
            )),
        );
    }
    asked.value.min(common)
}

/// The clock that a link runs at on its medium: `frequency_mhz` as agreed on, at most what the
/// medium carries. A faster one that the file asks for is an error: such a link never trains.
pub(crate) fn carry(
    medium: Option<Located<Medium>>,
    asked: Option<Located<u64>>,
    frequency_mhz: u64,
    cable: Span,
    out: &mut Findings,
) -> u64 {
    let kind = medium.map_or(Medium::Backplane, |medium| medium.value);
    let max = u64::from(kind.mhz_max());
    if let Some(asked) = asked.filter(|asked| asked.value > max) {
        let noun = kind.noun();
        let text = format!(
            "{noun} carries at most {max} MHz, the file asks for {} MHz",
            asked.value
        );
        let place = medium.map_or(cable, |medium| medium.span);
        let help = match kind {
            Medium::Coax => format!(
                "lower the frequency to \"{max}MHz\", or use `medium = \"backplane\"` (up to 24in)"
            ),
            Medium::Backplane | Medium::Board => format!("lower the frequency to \"{max}MHz\""),
        };
        out.push(
            Diagnostic::error("medium-frequency", text)
                .label(
                    asked.span,
                    format!("expected at most {max}MHz, got {}MHz", asked.value),
                )
                .label(place, noun)
                .note(
                    "the limits are those of the TCCluster paper, section VI: 1.6 Gb/s per lane over \
                     the prototype's cable, 5.2 Gb/s on a board",
                )
                .help(help),
        );
    }
    frequency_mhz.min(max)
}

/// Traces and cables must be short enough for their clock.
pub(crate) fn check_lengths(topology: &Topology, out: &mut Findings) {
    let mut seen = std::collections::HashSet::new();
    for cable in &topology.cables {
        let Some(length) = cable.length.filter(|_| seen.insert(cable.span)) else {
            continue;
        };
        if cable.medium == Medium::Coax {
            if let Some(found) = coax_length(cable, length) {
                out.push(found);
            }
            continue;
        }
        if length.um <= TRACE_MAX.um {
            continue;
        }
        out.push(
            Diagnostic::error(
                "trace-length",
                format!("a trace of {length} is longer than {TRACE_MAX}"),
            )
            .label(cable.span, "expected at most 24in on FR4")
            .note("the limit is the HyperTransport specification's for copper on FR4 (TCCluster paper, section IV.F)")
            .help("shorten the trace, or use `medium = \"coax\"`"),
        );
    }
}

/// What a cable loses grows with its length and with the root of the clock (skin effect): at a quarter of the clock one
/// of twice the length loses as much.
fn coax_length(cable: &Cable, length: Length) -> Option<Diagnostic> {
    let shown_mhz = f64::from(Medium::Coax.mhz_max());
    let clock = (shown_mhz / f64::from(cable.frequency_mhz.max(1))).sqrt();
    let reach_in = COAX_MAX.um as f64 / 25_400.0 * clock;
    let times = length.um as f64 / 25_400.0 / reach_in;
    if times <= 1.0 {
        return None;
    }
    let (mhz, reach_in) = (cable.frequency_mhz, reach_in.floor());
    let text = format!("a coaxial cable of {length} at {mhz} MHz");
    let found = match times <= COAX_TIMES_MAX as f64 {
        true => Diagnostic::warning("cable-length", format!("{text} is not known to work")),
        false => Diagnostic::error("cable-length", format!("{text} carries nothing")),
    };
    Some(
        found
            .label(cable.span, format!("expected at most {reach_in}in at this clock"))
            .note(format!(
                "the prototype's cable ran at {shown_mhz} MHz (TCCluster paper, section VI); its length is not printed, \
                 and up to {COAX_MAX} are assumed to do so; losses grow with the length and the root of the clock"
            ))
            .help("shorten the cable, lower the frequency, or join the nodes by adapters: HTX boards, HTEA"),
    )
}

/// Warns about an entry for a link without a cable: it has no effect.
pub(crate) fn check_overrides(topology: &Topology, out: &mut Findings) {
    if topology.shape.is_some() {
        return;
    }
    for (number, node) in topology.nodes.iter().enumerate() {
        for special in &node.template.overrides {
            let used = topology.cables.iter().flat_map(|c| c.ends).any(|end| {
                end.node == number && end.processor == special.processor && end.link == special.link
            });
            let coherent = node
                .coherent
                .iter()
                .flat_map(|c| c.ends)
                .any(|end| end == (special.processor, special.link));
            if !used && !coherent {
                out.push(
                    Diagnostic::warning("unused-link", "nothing is plugged into this link")
                        .label(special.span, "has no cable")
                        .help("remove the entry, or plug a cable in"),
                );
            }
        }
    }
}

/// Cables named in a note.
const LISTED_MAX: usize = 8;

/// Warns about a cable that no route uses: the cable is not needed, or the routing does
/// not use it.
pub(crate) fn check_unused(topology: &Topology, scheme: Scheme, used: &[bool], out: &mut Findings) {
    let unused: Vec<_> = topology
        .cables
        .iter()
        .zip(used)
        .filter(|(cable, used)| !**used && cable.kind == CableKind::Fabric)
        .map(|(cable, _)| cable)
        .collect();
    let name = |cable: &Cable| {
        let [a, b] = cable.ends.map(|p| topology.port_name(p));
        format!("{a} to {b}")
    };
    if topology.shape.is_none() {
        for cable in unused {
            out.push(
                Diagnostic::warning(
                    "unused-cable",
                    format!("no route uses the cable {}", name(cable)),
                )
                .label(cable.span, "carries nothing")
                .help(match scheme {
                    Scheme::File => "remove it, or send packets over it",
                    _ => "remove it, or change [routing] policy",
                }),
            );
        }
        return;
    }
    // All generated cables come from one place in the file.
    if let Some(first) = unused.first() {
        let listed: Vec<_> = unused.iter().take(LISTED_MAX).map(|c| name(c)).collect();
        let more = if unused.len() > LISTED_MAX {
            ", ..."
        } else {
            ""
        };
        out.push(
            Diagnostic::warning(
                "unused-cable",
                format!(
                    "no route uses {} of {} cables",
                    unused.len(),
                    topology.cables.len()
                ),
            )
            .label(first.span, "generated here")
            .note(format!("{}{more}", listed.join(", ")))
            .note(match scheme {
                Scheme::DimensionOrder => {
                    "routes do not wrap around in a dimension whose cables are on two processors of a \
                     node: that could deadlock"
                }
                Scheme::File => "the routes of the file lead elsewhere",
                Scheme::UpDown => {
                    "a node uses cables towards the root on one of its processors only: over those of two \
                     processors packets could wait for each other in a cycle on the coherent links \
                     between these"
                }
                _ => "routes follow a spanning tree; docs/plan.md says when and why",
            })
            .help(match scheme {
                Scheme::File => "send packets over them",
                _ => {
                    "with all cables of a node on one processor no packet crosses coherent links on its \
                     way: use `links = 8`"
                }
            }),
        );
    }
}
