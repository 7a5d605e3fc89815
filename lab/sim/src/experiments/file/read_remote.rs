//! The keys of processors that use memory of other hosts.

use hostwire_plan::Diagnostic;
use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{Findings, SIZE, Section, TIME, display_bytes};

use crate::experiments::pgas_cluster::{KERNELS, Kernel};
use crate::experiments::remote::{Accesses, Cache, Hosts, LOCAL_BASE, Walk};
use crate::models::ht::opteron::LINE_BYTES;
use crate::models::memory::Misses;

use super::read_memory::FORMATS;
use super::workload::Workload;

/// Loads or lines of all processors together: some minutes of simulation.
pub(super) const LOADS_MAX: u64 = 1 << 23;
/// Lines of eight elements that move for each element of an array, at most: two loads, a line
/// for the store, and one written back.
const LINES_PER_EIGHT: u64 = 4;
/// HyperTransport has five bits for source tags.
const IN_FLIGHT_MAX: u64 = 32;

#[derive(Clone, Copy)]
enum Pattern {
    Sequential,
    Random,
    Stream(Option<Kernel>),
    Trace,
}

const PATTERNS: [(&str, Pattern); 8] = [
    ("sequential", Pattern::Sequential),
    ("random", Pattern::Random),
    ("stream", Pattern::Stream(None)),
    ("copy", Pattern::Stream(Some(Kernel::Copy))),
    ("scale", Pattern::Stream(Some(Kernel::Scale))),
    ("add", Pattern::Stream(Some(Kernel::Add))),
    ("triad", Pattern::Stream(Some(Kernel::Triad))),
    ("trace", Pattern::Trace),
];

/// Reads `remote-memory`.
pub(super) fn read(
    section: &mut Section<'_>,
    hosts: Option<&Hosts>,
    out: &mut Findings,
) -> Option<Workload> {
    let span = section.span();
    let pattern = section.choice("pattern", &PATTERNS, out);
    let pattern = pattern.map_or(Pattern::Sequential, |pattern| pattern.value);
    let processors = section.count("processors", 1, 1 << 14, out);
    let local = section.quantity("local", &SIZE, out);
    let read_size = section.quantity("read_size", &SIZE, out);
    let in_flight = section.count("in_flight", 1, IN_FLIGHT_MAX, out);
    let work = section.quantity("work", &TIME, out);
    let accesses = read_accesses(section, pattern, out);
    let hosts = hosts?;
    check_read_size(read_size, out)?;
    let walk = Walk {
        processors: processors.map_or(1, |processors| processors.value),
        local_bytes: local.map_or(0, |local| local.value),
        read_bytes: read_size.map_or(8, |size| size.value),
        in_flight: in_flight.map_or(1, |in_flight| in_flight.value),
        work_ps: work.map_or(0, |work| work.value),
        accesses: accesses?,
    };
    check_processors(hosts, &walk, processors.map_or(span, |at| at.span), out)?;
    check_local(hosts, local, out)?;
    check_cache(hosts, &walk, span, out)?;
    check_lines(hosts, &walk, span, out)?;
    Some(Workload::RemoteMemory(Box::new(walk)))
}

fn read_accesses(
    section: &mut Section<'_>,
    pattern: Pattern,
    out: &mut Findings,
) -> Option<Accesses> {
    match pattern {
        Pattern::Sequential | Pattern::Random => {
            let size = section.quantity("size", &SIZE, out);
            let loads = section.count("loads", 1, LOADS_MAX, out);
            let size_bytes = match size {
                Some(size) => check_size(size, out)?,
                None => LINE_BYTES,
            };
            let loads = loads.map_or(10_000, |loads| loads.value);
            if matches!(pattern, Pattern::Sequential) {
                return Some(Accesses::Sequential { size_bytes, loads });
            }
            let seed = section.count("seed", 0, i64::MAX as u64, out);
            Some(Accesses::Random {
                size_bytes,
                loads,
                seed: seed.map_or(1, |seed| seed.value),
            })
        }
        Pattern::Stream(kernel) => {
            let elements = section.count("elements", 1, LOADS_MAX, out);
            let cache = read_cache(section, out);
            Some(Accesses::Stream {
                kernels: kernel.map_or(KERNELS.to_vec(), |kernel| vec![kernel]),
                elements: elements.map_or(100_000, |elements| elements.value),
                cache,
            })
        }
        Pattern::Trace => {
            if !section.has("trace") {
                section.missing("trace", "\"program.trace\"", out);
            }
            let path = section.text("trace", "\"program.trace\"", out);
            let format = section.choice("format", &FORMATS, out);
            let cache = read_cache(section, out);
            Some(Accesses::Trace {
                path: path?.value.to_owned(),
                format: format.map_or(FORMATS[1].1, |format| format.value),
                trace_hash: None,
                cache,
            })
        }
    }
}

fn read_cache(section: &mut Section<'_>, out: &mut Findings) -> Cache {
    let usual = Cache::default();
    let cache = section.quantity("cache", &SIZE, out);
    let page = section.quantity("page", &SIZE, out);
    Cache {
        cache_bytes: cache.map_or(usual.cache_bytes, |cache| cache.value),
        page_bytes: page.map_or(usual.page_bytes, |page| page.value),
    }
}

/// The memory of every host that walks, with this cache and these pages.
fn check_cache(hosts: &Hosts, walk: &Walk, place: Span, out: &mut Findings) -> Option<()> {
    let (Accesses::Stream { cache, .. } | Accesses::Trace { cache, .. }) = &walk.accesses else {
        return Some(());
    };
    for (number, host) in hosts.all().iter().enumerate() {
        let memory = hosts.ranges(number, walk.local_bytes);
        let uses = hosts.is_user(number);
        if let (true, Err(wrong)) = (uses, Misses::new(&cache.config(&memory))) {
            out.push(
                Diagnostic::error("value", wrong.to_string())
                    .label(place, format!("of `{}`", host.name))
                    .help("change `cache`, `page` or `local`"),
            );
            return None;
        }
    }
    Some(())
}

fn check_size(size: Located<u64>, out: &mut Findings) -> Option<u64> {
    if size.value.is_power_of_two() && (8..=4096).contains(&size.value) {
        return Some(size.value);
    }
    out.push(
        Diagnostic::error("value", "no load has this `size`")
            .label(size.span, "expected a power of two from 8B to 4KiB")
            .help("use \"64B\", a line"),
    );
    None
}

fn check_read_size(size: Option<Located<u64>>, out: &mut Findings) -> Option<()> {
    match size {
        Some(size) if !(size.value.is_power_of_two() && (4..=LINE_BYTES).contains(&size.value)) => {
            out.push(
                Diagnostic::error("value", "no processor reads so much at once")
                    .label(size.span, "expected 4B, 8B, 16B, 32B or 64B")
                    .note("a packet has at most 64 bytes; the paper's processor reads 8")
                    .help("use \"8B\", or \"64B\" for whole lines"),
            );
            None
        }
        _ => Some(()),
    }
}

fn check_processors(hosts: &Hosts, walk: &Walk, place: Span, out: &mut Findings) -> Option<()> {
    let most = hosts.processors().len() as u64;
    if walk.processors <= most {
        return Some(());
    }
    let wrong = match most {
        0 => Diagnostic::error(
            "workload",
            "no host of the cluster uses memory of another one",
        )
        .label(place, "nothing to walk through")
        .help("add a [[region]] to the cluster"),
        _ => Diagnostic::error(
            "workload",
            "the cluster has fewer processors that use regions",
        )
        .label(place, format!("expected at most {most}"))
        .note("the cores of hosts that a [[region]] names as `at` count")
        .help("give hosts more `cores`, or add regions"),
    };
    out.push(wrong);
    None
}

/// The own memory lies between the ring and what others use.
fn check_local(hosts: &Hosts, local: Option<Located<u64>>, out: &mut Findings) -> Option<()> {
    let Some(local) = local else { return Some(()) };
    for (number, host) in hosts.all().iter().enumerate() {
        let lent = hosts.regions_of(number);
        let end = lent
            .map(|region| region.offset)
            .min()
            .unwrap_or(host.memory_bytes);
        let room = end.saturating_sub(LOCAL_BASE);
        if hosts.is_user(number) && local.value > room {
            out.push(
                Diagnostic::error(
                    "value",
                    format!("`{}` has no such part of its own memory", host.name),
                )
                .label(local.span, format!("{} are free", display_bytes(room)))
                .note(format!(
                    "it lies from {} on, below the regions that other hosts use",
                    display_bytes(LOCAL_BASE)
                ))
                .help("use less, or give the host more `memory`"),
            );
            return None;
        }
    }
    Some(())
}

/// Neither more than can be simulated, nor more than there is memory for.
fn check_lines(hosts: &Hosts, walk: &Walk, place: Span, out: &mut Findings) -> Option<()> {
    let each = match &walk.accesses {
        Accesses::Sequential { size_bytes, loads }
        | Accesses::Random {
            size_bytes, loads, ..
        } => loads.saturating_mul(size_bytes.div_ceil(walk.read_bytes)),
        Accesses::Stream {
            kernels, elements, ..
        } => {
            let lines = elements.div_ceil(8).saturating_mul(LINES_PER_EIGHT);
            let lines = lines.saturating_mul(kernels.len() as u64);
            lines.saturating_mul(LINE_BYTES / walk.read_bytes)
        }
        Accesses::Trace { .. } => 0,
    };
    let all = each.saturating_mul(walk.processors);
    if all > LOADS_MAX {
        out.push(
            Diagnostic::error("value", format!("{all} loads are too many"))
                .label(place, format!("by {} processors", walk.processors))
                .help(format!("stay below {LOADS_MAX} in all")),
        );
        return None;
    }
    if let Accesses::Stream { elements, .. } = &walk.accesses {
        let bytes = elements.saturating_mul(24);
        for (number, host) in hosts.all().iter().enumerate() {
            let memory = hosts.ranges(number, walk.local_bytes);
            let room: u64 = memory.iter().map(|range| range.bytes).sum();
            if hosts.is_user(number) && bytes > room {
                let name = &host.name;
                out.push(
                    Diagnostic::error("value", "the arrays do not fit")
                        .label(
                            place,
                            format!("three arrays of {elements} elements of 8 bytes"),
                        )
                        .note(format!("`{name}` has {} for them", display_bytes(room)))
                        .help("use fewer `elements`, or larger regions"),
                );
                return None;
            }
        }
    }
    Some(())
}
