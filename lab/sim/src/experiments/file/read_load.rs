//! The keys of messages between all processors.

use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{Findings, Section, TIME, clip, nearest};
use hostwire_plan::{Diagnostic, Plan};

use crate::experiments::MEMORY_OFFSET;
use crate::experiments::load::{Arrivals, Load, Pacing, Pattern};
use crate::models::ht::opteron::LINE_BYTES;

use super::read_workload::{LINES_MAX, check_fits, check_lines, processors, size, up_to};
use super::workload::Workload;

/// Largest message.
pub(super) const SIZE_MAX: u64 = 1 << 20;
/// Shortest and longest mean time between two messages.
const INTERVAL_PS: [u64; 2] = [1_000, 1_000_000_000_000];
const IN_FLIGHT_MAX: u64 = 1 << 20;

pub(super) const PATTERNS: [(&str, Pattern); 5] = [
    ("uniform", Pattern::Uniform),
    ("incast", Pattern::Incast),
    ("permutation", Pattern::Permutation),
    ("hot-spot", Pattern::HotSpot),
    ("all-to-all", Pattern::AllToAll),
];
const ARRIVALS: [(&str, Arrivals); 2] =
    [("random", Arrivals::Random), ("regular", Arrivals::Regular)];

/// Largest message of a trace: every processor has a place for one of each other one.
pub(super) fn bytes_max(plan: &Plan) -> u64 {
    let processors = processors(plan);
    let memory = processors.iter().map(|(_, bytes)| *bytes).min();
    let room = memory.unwrap_or(0).saturating_sub(MEMORY_OFFSET);
    let place = room / processors.len().max(1) as u64;
    (place - place % LINE_BYTES).min(SIZE_MAX)
}

/// Reads `traffic`.
pub(super) fn traffic(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<Workload> {
    if !section.has("pattern") {
        section.missing("pattern", "\"uniform\"", out);
    }
    let pattern = section.choice("pattern", &PATTERNS, out)?.value;
    let has_target = matches!(pattern, Pattern::Incast | Pattern::HotSpot);
    let to = has_target.then(|| target(section, plan, out));
    let share = match pattern {
        Pattern::HotSpot => Some(section.count("share", 1, 100, out)),
        _ => None,
    };
    let size = size(section, LINE_BYTES, &up_to(SIZE_MAX), out);
    let messages = section.count("messages", 1, LINES_MAX, out);
    let pacing = pacing(section, out);
    let seed = section.count("seed", 0, i64::MAX as u64, out);
    let to = match to {
        Some(found) => Some(found?),
        None => None,
    };
    let size = size?;
    let load = Load {
        pattern,
        target: to.as_ref().map_or(0, |(index, _)| *index),
        share_pct: share.map(|share| share.map_or(50, |share| share.value)),
        size_bytes: size.value,
        messages: messages.map_or(1_000, |messages| messages.value),
        pacing: pacing?,
        seed: seed.map_or(1, |seed| seed.value),
    };
    let place = messages.map_or(size.span, |messages| messages.span);
    check(section.span(), plan?, &load, (&size, place), out)?;
    Some(Workload::Traffic {
        to: to.map(|(_, name)| name),
        load,
    })
}

/// Reads `message-trace`.
pub(super) fn trace(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<Workload> {
    if !section.has("trace") {
        section.missing("trace", "\"messages.csv\"", out);
    }
    let path = section.text("trace", "\"messages.csv\"", out)?;
    check_count(section.span(), plan?, out)?;
    Some(Workload::MessageTrace {
        path: path.value.to_owned(),
        trace_hash: None,
    })
}

/// Whether the cluster takes it.
fn check(
    section: Span,
    plan: &Plan,
    load: &Load,
    (size, place): (&Located<u64>, Span),
    out: &mut Findings,
) -> Option<()> {
    let count = check_count(section, plan, out)?;
    let senders = match load.pattern {
        Pattern::Incast => count - 1,
        _ => count,
    };
    let lines = load.size_bytes.div_ceil(LINE_BYTES);
    let all = lines.saturating_mul(load.messages).saturating_mul(senders);
    check_lines(all, place, &format!("{senders} processors send"), out);
    let memory = processors(plan).iter().map(|(_, bytes)| *bytes).min();
    let places = lines.saturating_mul(LINE_BYTES).saturating_mul(count);
    check_fits(size, places, memory.unwrap_or(0), out);
    Some(())
}

/// The number of processors, two or more.
fn check_count(section: Span, plan: &Plan, out: &mut Findings) -> Option<u64> {
    let count = processors(plan).len() as u64;
    if count < 2 {
        out.push(
            Diagnostic::error("workload", "the cluster has only one processor")
                .label(section, "nobody to send to")
                .help("use a cluster of at least two processors"),
        );
        return None;
    }
    Some(count)
}

pub(super) fn pacing(section: &mut Section<'_>, out: &mut Findings) -> Option<Pacing> {
    let is_open = section.has("interval");
    let interval = section.quantity("interval", &TIME, out);
    let in_flight = section.count("in_flight", 1, IN_FLIGHT_MAX, out);
    if let (true, Some(in_flight)) = (is_open, in_flight) {
        out.push(
            Diagnostic::error("contradiction", "an open and a closed loop")
                .label(in_flight.span, "`interval` says when messages are sent")
                .help("remove `interval` or `in_flight`"),
        );
        return None;
    }
    if !is_open {
        let in_flight = in_flight.map_or(1, |in_flight| in_flight.value);
        return Some(Pacing::Closed { in_flight });
    }
    let arrivals = section.choice("arrivals", &ARRIVALS, out);
    let interval = interval?;
    let [least, most] = INTERVAL_PS;
    if !(least..=most).contains(&interval.value) {
        out.push(
            Diagnostic::error("value", "`interval` is out of range")
                .label(interval.span, "expected 1ns to 1000ms")
                .help("it is the mean time between two messages of a processor"),
        );
        return None;
    }
    Some(Pacing::Open {
        interval_ps: interval.value,
        arrivals: arrivals.map_or(Arrivals::Random, |arrivals| arrivals.value),
    })
}

/// The processor that `to` names, with its index.
fn target(
    section: &mut Section<'_>,
    plan: Option<&Plan>,
    out: &mut Findings,
) -> Option<(usize, String)> {
    if !section.has("to") {
        section.missing("to", "\"n0\"", out);
    }
    let text = section.text("to", "\"n0\"", out)?;
    let known = processors(plan?);
    let found = known.iter().position(|(name, _)| name == text.value);
    if found.is_none() {
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let help = match nearest(text.value, &names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the first is \"{}\"", names.first().unwrap_or(&"?")),
        };
        let what = format!("there is no processor `{}`", clip(text.value));
        out.push(
            Diagnostic::error("processor", what)
                .label(
                    text.span,
                    "expected a node, or `node.p1` in a node of several",
                )
                .help(help),
        );
    }
    found.map(|index| (index, text.value.to_owned()))
}
