//! Published and simulated numbers.

use super::scenario::{Media, REGIONS, Scenario};
use super::{MEMORY_BYTES, STREAM, config, costs_on_links, run, run_with};
use crate::experiments::{Claims, ExperimentError, Row};
use crate::models::memory::RegionKind;

const CLAIMS: &str = include_str!("../../../experiments/pgas-cluster/claims.toml");

/// Delays that the paper's write to remote memory is made of.
const TRANSFER_NS: f64 = 130.0;
const ENDS_NS: f64 = 300.0;

/// The published numbers.
///
/// # Errors
/// [`ExperimentError::Claims`] if the file is wrong.
pub fn claims() -> Result<Claims, ExperimentError> {
    Claims::parse(CLAIMS)
}

/// Runs everything and compares.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn reproduce() -> Result<Vec<Row>, ExperimentError> {
    let local = run(Scenario::Local)?;
    let board = run(Scenario::SameBoard)?;
    let remote = run(Scenario::Remote)?;
    let swap = [
        run(Scenario::LocalSwap)?.mean_s(),
        run(Scenario::BoardSwapUniform)?.mean_s(),
        run(Scenario::BoardSwapInterleaved)?.mean_s(),
    ];
    let paged = [
        run(Scenario::LocalSwapPaged)?.mean_s(),
        run(Scenario::BoardSwapPaged)?.mean_s(),
    ];
    let link_costs = [1, 4, 16].map(costs_on_links);
    let [one, four, all] = link_costs;
    let (one, four, all) = (one?, four?, all?);
    let on_links = [one, four, all].map(run_with);
    let [one_time, four_time, all_time] = on_links;
    let (one_time, four_time, all_time) = (one_time?, four_time?, all_time?);
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let more_s = |s: f64| s - local.mean_s();
    let more_pct = |s: f64| (s / local.mean_s() - 1.0) * 100.0;
    let less_mb_s = |mb_s: f64| local.mean_mb_s() - mb_s;
    let less_pct = |mb_s: f64| (1.0 - mb_s / local.mean_mb_s()) * 100.0;
    let line = config(Scenario::Remote).line_bytes;
    let megabytes = STREAM.bytes() as f64 / f64::from(1 << 20);
    let simulated = [
        ("P1", more_s(board.mean_s())),
        ("P1-pct", more_pct(board.mean_s())),
        ("P2", more_s(remote.mean_s())),
        ("P2-pct", more_pct(remote.mean_s())),
        ("P3-4P", less_mb_s(board.mean_mb_s())),
        ("P3-4P-pct", less_pct(board.mean_mb_s())),
        ("P3-16P", less_mb_s(remote.mean_mb_s())),
        ("P3-16P-pct", less_pct(remote.mean_mb_s())),
        ("P4", megabytes),
        ("P5-board", Media::PAPER.same_board.as_ns()),
        ("P5-write", TRANSFER_NS + ENDS_NS),
        ("P5-read", Media::PAPER.remote.line_read(line).as_ns()),
        ("P5-swap", Media::PAPER.swap.as_ns()),
        ("P6", REGIONS as f64),
        ("P6-swap", swap_pct(Scenario::LocalSwap)),
        ("P7", least(&swap) / remote.mean_s()),
        ("P7-1P-SW", swap[0]),
        ("P7-4P-SW-U", swap[1]),
        ("P7-4P-SW-D", swap[2]),
        ("P7-1P-SW-paged", paged[0]),
        ("P7-4P-SW-paged", paged[1]),
        ("P7-paged", least(&paged) / remote.mean_s()),
        ("P9", megabytes / (MEMORY_BYTES >> 20) as f64 * 100.0),
        ("P10-links", one.read.as_ns()),
        ("P10-links-16", all.read.as_ns()),
        ("P2-links", more_pct(one_time.mean_s())),
        ("P2-links-4", more_pct(four_time.mean_s())),
        ("P2-links-16", more_pct(all_time.mean_s())),
        ("P3-links", less_pct(one_time.mean_mb_s())),
        ("P3-links-4", less_pct(four_time.mean_mb_s())),
        ("P3-links-16", less_pct(all_time.mean_mb_s())),
        ("P10", Media::PAPER.remote.read.as_ns()),
    ];
    Ok(claims()?.judge(&simulated))
}

/// The part of a scenario's memory that is swap.
fn swap_pct(scenario: Scenario) -> f64 {
    let regions = scenario.regions(&Media::PAPER, MEMORY_BYTES / REGIONS);
    let swap = regions
        .iter()
        .filter(|region| region.kind == RegionKind::Swap);
    swap.count() as f64 / regions.len() as f64 * 100.0
}
