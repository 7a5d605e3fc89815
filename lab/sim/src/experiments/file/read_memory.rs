//! The keys of workloads of memory systems.

use hostwire_plan::Diagnostic;
use hostwire_plan::diagnostic::Located;
use hostwire_plan::file::{Findings, SIZE, Section, TIME, display_bytes};

use crate::engine::Ps;
use crate::experiments::pgas_cluster::{MEMORY_BYTES, Pattern, REGIONS, SCENARIOS, STREAM};
use crate::models::memory::trace::Format;
use crate::models::memory::{
    CacheConfig, Config, Medium, MemorySystem, Paging, Placement, ProcessorKind, Region, RegionKind,
};

use super::memory_parameters::MemoryModels;
use super::memory_workload::MemoryFigures;
use super::workload::Workload;

const PLACEMENTS: [(&str, Placement); 2] = [
    ("spread", Placement::Spread),
    ("contiguous", Placement::Contiguous),
];
const KINDS: [(&str, RegionKind); 4] = [
    ("local", RegionKind::Local),
    ("same-board", RegionKind::SameBoard),
    ("remote", RegionKind::Remote),
    ("swap", RegionKind::Swap),
];
pub(super) const FORMATS: [(&str, Format); 2] =
    [("simple", Format::Simple), ("lackey", Format::Lackey)];
/// Most elements of an array: 10 million pages, if they are small.
const ELEMENTS_MAX: u64 = 200_000_000;
/// Largest memory. Pages that are never touched cost nothing.
const MEMORY_MAX: u64 = 1 << 40;
/// Largest working set of `break-even`: its random accesses cover no more.
const WORKING_SET_MAX: u64 = 1 << 30;

/// Reads `memory-stream`.
pub(super) fn stream(
    section: &mut Section<'_>,
    models: &MemoryModels,
    events_max: u64,
    out: &mut Findings,
) -> Option<Workload> {
    let elements = section.count("elements", 1, ELEMENTS_MAX, out);
    let series = section.count("series", 1, 100, out);
    let system = system(section, models, events_max, out)?;
    Some(Workload::MemoryStream {
        system,
        elements: elements.map_or(STREAM.elements, |elements| elements.value),
        series: series.map_or(STREAM.series, |series| series.value),
    })
}

/// Reads `memory-trace`.
pub(super) fn trace(
    section: &mut Section<'_>,
    models: &MemoryModels,
    events_max: u64,
    out: &mut Findings,
) -> Option<Workload> {
    if !section.has("trace") {
        section.missing("trace", "\"program.trace\"", out);
    }
    let path = section.text("trace", "\"program.trace\"", out);
    let format = section.choice("format", &FORMATS, out);
    let system = system(section, models, events_max, out)?;
    Some(Workload::MemoryTrace {
        system,
        path: path?.value.to_owned(),
        format: format.map_or(Format::Lackey, |format| format.value),
        trace_hash: None,
    })
}

/// Reads `break-even`.
pub(super) fn break_even(
    section: &mut Section<'_>,
    models: &MemoryModels,
    events_max: u64,
    out: &mut Findings,
) -> Option<Workload> {
    let pattern = section.choice("pattern", &Pattern::ALL, out);
    let memory = section.quantity("memory", &SIZE, out);
    let set = section.quantity("working_set", &SIZE, out);
    let memory_bytes = memory.map_or(1 << 20, |memory| memory.value);
    let working_set_bytes = set.map_or(memory_bytes.saturating_mul(4), |set| set.value);
    let place = set.or(memory).map_or(section.span(), |size| size.span);
    if working_set_bytes <= memory_bytes || working_set_bytes > WORKING_SET_MAX {
        out.push(
            Diagnostic::error("value", "there is nothing to compare")
                .label(
                    place,
                    format!(
                        "{} in a memory of {}",
                        display_bytes(working_set_bytes),
                        display_bytes(memory_bytes)
                    ),
                )
                .help(format!(
                    "use a working set that is larger than the memory and at most {}",
                    display_bytes(WORKING_SET_MAX)
                )),
        );
        return None;
    }
    // Stands for both, which have the same pages and caches.
    let whole = Region::new(
        "node",
        RegionKind::Local,
        memory_bytes,
        Medium::uniform(models.media.local),
    );
    let system = finish(section, models, vec![whole], None, events_max, out)?;
    if !working_set_bytes.is_multiple_of(models.page_bytes) {
        out.push(
            Diagnostic::error("value", "the working set is not made of whole pages")
                .label(
                    place,
                    format!("a page has {}", display_bytes(models.page_bytes)),
                )
                .help("use a multiple of `parameters.page`"),
        );
        return None;
    }
    Some(Workload::BreakEven {
        pattern: pattern.map_or(Pattern::Random, |pattern| pattern.value),
        memory_bytes,
        working_set_bytes,
        config: system.config,
    })
}

/// The regions and the processor.
fn system(
    section: &mut Section<'_>,
    models: &MemoryModels,
    events_max: u64,
    out: &mut Findings,
) -> Option<MemoryFigures> {
    let scenario = section.choice("scenario", &SCENARIOS, out);
    let memory = section.quantity("memory", &SIZE, out);
    let tables = section.tables("region", "[[workload.region]]", out);
    if tables.is_empty() {
        if scenario.is_none() && !section.has("scenario") {
            section.missing("scenario", "\"16P\"", out);
        }
        let region_bytes = memory.map_or(MEMORY_BYTES, |memory| memory.value) / REGIONS;
        let place = memory.map_or(section.span(), |memory| memory.span);
        check_size(region_bytes, REGIONS, models.page_bytes, place, out)?;
        let scenario = scenario?.value;
        let regions = scenario.regions(&models.media, region_bytes);
        return finish(
            section,
            models,
            regions,
            Some(scenario.name()),
            events_max,
            out,
        );
    }
    for (what, place) in [
        ("scenario", scenario.map(|scenario| scenario.span)),
        ("memory", memory.map(|memory| memory.span)),
    ] {
        if let Some(place) = place {
            out.push(
                Diagnostic::error("contradiction", format!("`{what}` beside regions"))
                    .label(place, "the regions say it themselves")
                    .help(format!(
                        "remove `{what}`, or the [[workload.region]] tables"
                    )),
            );
        }
    }
    let mut regions = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        if let Some(more) = region(index, table, models, out) {
            regions.extend(more);
        }
        if regions.len() > 4096 {
            break;
        }
    }
    finish(section, models, regions, None, events_max, out)
}

/// One table: `count` equal regions.
fn region(
    index: usize,
    mut table: Section<'_>,
    models: &MemoryModels,
    out: &mut Findings,
) -> Option<Vec<Region>> {
    for (key, example) in [("kind", "\"remote\""), ("size", "\"32MiB\"")] {
        if !table.has(key) {
            table.missing(key, example, out);
        }
    }
    let kind = table.choice("kind", &KINDS, out).map(|kind| kind.value);
    let size = table.quantity("size", &SIZE, out);
    let count = table
        .count("count", 1, 4096, out)
        .map_or(1, |count| count.value);
    let owner = table.text("owner", "\"n1\"", out).map(|owner| owner.value);
    let mut medium = kind.map_or(models.media.remote, |kind| models.media.of(kind));
    let mut paging = None;
    if kind == Some(RegionKind::Swap) {
        let resident = table.quantity("resident", &SIZE, out);
        let [page_in, page_out, access] =
            ["page_in", "page_out", "resident_access"].map(|key| table.quantity(key, &TIME, out));
        match resident {
            Some(resident) => {
                medium = Medium::uniform(time(access, models.media.local));
                paging = Some(Paging {
                    resident_bytes: resident.value,
                    page_in: time(page_in, models.media.page_in),
                    page_out: time(page_out, models.media.page_out),
                });
            }
            None => {
                for key in [page_in, page_out, access].into_iter().flatten() {
                    out.push(
                        Diagnostic::error("missing-key", "pages without memory to stay in")
                            .label(key.span, "needs `resident`")
                            .help("add `resident = \"32MiB\"`, or remove this key"),
                    );
                }
            }
        }
    }
    if paging.is_none() {
        medium = medium_of(&mut table, medium, out);
    }
    let place = size.map_or(table.span(), |size| size.span);
    table.finish(out);
    let (kind, size) = kind.zip(size)?;
    check_size(size.value, count, models.page_bytes, place, out)?;
    let owner = owner.map_or_else(|| format!("region {index}"), str::to_owned);
    let region = Region {
        paging,
        ..Region::new(owner, kind, size.value, medium)
    };
    Some(vec![region; usize::try_from(count).ok()?])
}

fn medium_of(table: &mut Section<'_>, usual: Medium, out: &mut Findings) -> Medium {
    let [read, write] = ["read", "write"].map(|key| table.quantity(key, &TIME, out));
    let [read_size, write_size] = ["read_size", "write_size"].map(|key| {
        let size = table.quantity(key, &SIZE, out);
        if let Some(size) = size.filter(|size| size.value == 0) {
            out.push(
                Diagnostic::error("value", format!("`{key}` is 0"))
                    .label(size.span, "expected at least 1B")
                    .help("use the bytes that one operation moves"),
            );
        }
        size
    });
    Medium {
        read: time(read, usual.read),
        read_bytes: read_size.map_or(usual.read_bytes, |size| size.value),
        write: time(write, usual.write),
        write_bytes: write_size.map_or(usual.write_bytes, |size| size.value),
    }
}

fn time(written: Option<Located<u64>>, usual: Ps) -> Ps {
    written.map_or(usual, |time| Ps(time.value))
}

fn check_size(
    bytes: u64,
    count: u64,
    page_bytes: u64,
    place: hostwire_plan::diagnostic::Span,
    out: &mut Findings,
) -> Option<()> {
    let sound = bytes > 0
        && bytes.is_multiple_of(page_bytes.max(1))
        && bytes
            .checked_mul(count)
            .is_some_and(|all| all <= MEMORY_MAX);
    if sound {
        return Some(());
    }
    out.push(
        Diagnostic::error("value", format!("no region has {}", display_bytes(bytes)))
            .label(
                place,
                format!(
                    "expected a multiple of the page of {}, {} at most in all",
                    display_bytes(page_bytes),
                    display_bytes(MEMORY_MAX)
                ),
            )
            .help(format!(
                "a scenario divides its memory into {REGIONS} regions"
            )),
    );
    None
}

/// The rest of the keys; then the whole is tried.
fn finish(
    section: &mut Section<'_>,
    models: &MemoryModels,
    regions: Vec<Region>,
    scenario: Option<&'static str>,
    events_max: u64,
    out: &mut Findings,
) -> Option<MemoryFigures> {
    let placement = section.choice("placement", &PLACEMENTS, out);
    let allocate = section.choice("write_allocate", &[("yes", true), ("no", false)], out);
    let in_flight = section.count("in_flight", 1, 1024, out);
    let processor = match in_flight {
        None => ProcessorKind::Blocking,
        Some(in_flight) => ProcessorKind::Overlapped {
            in_flight: u32::try_from(in_flight.value).ok()?,
        },
    };
    let config = Config {
        line_bytes: models.line_bytes,
        caches: vec![CacheConfig {
            bytes: models.cache_bytes,
            ways: models.cache_ways,
            hit: models.cache_hit,
        }],
        write_allocate: allocate.is_none_or(|allocate| allocate.value),
        processor,
        page_bytes: models.page_bytes,
        placement: placement.map_or(Placement::Spread, |placement| placement.value),
        regions,
        transactions_per_million_lines: models.transactions_per_million_lines,
        events_max,
    };
    if let Err(error) = MemorySystem::new(config.clone()) {
        out.push(
            Diagnostic::error("memory", error.to_string())
                .label(section.span(), "this workload's memory")
                .help("see [parameters] and [[workload.region]]"),
        );
        return None;
    }
    Some(MemoryFigures::of(config, scenario))
}
