//! The values of each assumed parameter with which the rows that rest on it pass, as the
//! claims state them, from runs with other values.
//!
//! These are tests only: [`Assumed`](super::Assumed) holds what they confirm.

use std::ops::ControlFlow;

use crate::engine::Ps;
use crate::firmware;
use crate::machine::Machine;
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::OpteronConfig;
use crate::models::htea::fast::{self, Timing};
use crate::models::memory::{self, MemorySystem, RegionKind};
use crate::tca::{Config, Device};

use super::htoe::{Optimised, Q1, Q21, Query};
use super::htx_board::{LOOP_BACK, end_to_end_with};
use super::jobs::{LINE_PAYLOAD_BYTES, Order, Pair, ping_pong};
use super::pgas_cluster::Scenario;
use super::tca_peach2::{CHAIN, Dma, LARGE_BYTES, run_dma, two_nodes};
use super::tccluster::TWO_BOARDS_FOUR_SOCKETS;
use super::{Claims, Verdict, elsewhere, htoe, htx_board, pgas_cluster, tca_peach2, tccluster};
use crate::machine::htx::Setup;

fn ps(ns: f64) -> Ps {
    Ps((ns * 1e3).round() as u64)
}

/// T3 with another time from link to link.
fn hop(ns: f64) -> f64 {
    let processor = OpteronConfig {
        hop: ps(ns),
        ..OpteronConfig::shanghai()
    };
    let half_round_trip = |sockets| {
        let plan = hostwire_plan::plan("cluster.toml", TWO_BOARDS_FOUR_SOCKETS.as_bytes()).unwrap();
        let mut machine = Machine::new(plan, &processor).unwrap();
        firmware::boot_all(&mut machine).unwrap();
        let mut pair = Pair::new(&mut machine, sockets);
        let ran = ping_pong(&mut pair, LINE_PAYLOAD_BYTES, Order::Weak).unwrap();
        ran.half_round_trip_ns
    };
    half_round_trip([0, 2]) - half_round_trip([1, 2])
}

/// H13 with other cycles of the board's logic in all.
fn board_cycles(cycles: f64) -> f64 {
    let board = NicConfig::htx_board(0);
    let others = board.network_out_cycles + board.network_in_cycles + board.completer_cycles;
    let board = NicConfig {
        requester_cycles: cycles as u64 - others,
        ..board
    };
    let models = (board, OpteronConfig::opteron_246());
    let ran = end_to_end_with((&Setup::default(), LOOP_BACK), models, 16, |sim, _| {
        Ok(_ = sim.run()?)
    });
    ran.unwrap().latency_ns
}

fn dma_gb_s(config: &Config, from: (u16, Device), to: (u16, Device), bytes: u64) -> f64 {
    let dma = Dma::new(from, to, bytes, CHAIN);
    run_dma(&mut two_nodes(config).unwrap(), &dma)
        .unwrap()
        .gb_s()
}

/// The data size that represents small ones.
const SMALL_BYTES: u64 = 64;
const CHIP: (u16, Device) = (0, Device::Internal);
const HOST: (u16, Device) = (0, Device::Host);
const OTHER_HOST: (u16, Device) = (1, Device::Host);

/// A4-read with another gap between completions.
fn completion_gap(ns: f64) -> f64 {
    let mut config = Config::default();
    config.host.completion_gap = ps(ns);
    let read = dma_gb_s(&config, HOST, CHIP, LARGE_BYTES);
    read / dma_gb_s(&config, CHIP, HOST, LARGE_BYTES)
}

/// A11 and A11-small with another hold of a buffer.
fn host_hold(ns: f64, bytes: u64) -> f64 {
    let mut config = Config::default();
    config.chip.host_hold = ps(ns);
    let remote = dma_gb_s(&config, CHIP, OTHER_HOST, bytes);
    remote / dma_gb_s(&config, CHIP, HOST, bytes)
}

/// Runs a part of the paper's data with another time of a further packet in encapsulation.
fn encapsulation(ns: f64, optimised: Optimised, nodes: u64, nops: u64) -> fast::Report {
    let config = optimised.config(nodes, 20, nops);
    let config = fast::Config {
        packets: config.packets / 8,
        timing: Timing {
            encapsulation_packet: ps(ns),
            ..Timing::PAPER
        },
        ..config
    };
    fast::run(config).unwrap()
}

/// E9 with other bits in a Gb.
fn printed_gb_s(seconds: f64, megabits: f64) -> f64 {
    8_000.0 / megabits / seconds
}

/// The range that the claims state for row `id` is that with which it passes, to `step`.
#[track_caller]
fn holds(claims: &Claims, id: &'static str, step: f64, value: impl Fn(f64) -> f64) {
    let passes = |parameter: f64| {
        let rows = claims.judge(&[(id, value(parameter))]);
        let row = rows.iter().find(|row| row.id == id).unwrap();
        row.verdict == Verdict::AsSet
    };
    let claim = claims.claim.iter().find(|claim| claim.id == id).unwrap();
    let assumed = claim.assumed.as_ref().unwrap();
    assert!(passes(assumed.value), "{id} with what is assumed");
    match assumed.passes_from {
        Some(from) => {
            assert!(passes(from), "{id} with {from}");
            assert!(!passes(from - step), "{id} with less than {from}");
        }
        None => assert!(passes(step), "{id} with hardly anything"),
    }
    if let Some(to) = assumed.passes_to {
        assert!(passes(to), "{id} with {to}");
        assert!(!passes(to + step), "{id} with more than {to}");
    }
}

/// The number of assumptions of each paper that [`holds`] checks below. A new one needs its run.
#[test]
fn every_tuned_assumption_has_its_range_checked_here() {
    let papers = [
        (tccluster::claims(), 2),
        (htx_board::claims(), 6),
        (pgas_cluster::claims(), 0),
        (tca_peach2::claims(), 5),
        (htoe::claims(), 5),
        (elsewhere::claims(), 1),
    ];
    for (claims, checked) in papers {
        let claims = claims.unwrap();
        let tuned = claims.claim.iter().filter(|claim| claim.assumed.is_some());
        assert_eq!(tuned.count(), checked, "{}", claims.paper);
    }
}

#[test]
fn a_hop_within_its_limit() {
    holds(&tccluster::claims().unwrap(), "T3", 1.0, hop);
}

#[test]
fn cycles_of_a_board_within_its_limit() {
    let least = NicConfig::htx_board(0);
    let others = least.network_out_cycles + least.network_in_cycles + least.completer_cycles;
    let cycles = |cycles: f64| board_cycles(cycles.max(others as f64));
    holds(&htx_board::claims().unwrap(), "H13", 1.0, cycles);
}

#[test]
fn gaps_and_holds_of_a_sub_cluster() {
    let claims = tca_peach2::claims().unwrap();
    holds(&claims, "A4-read", 0.1, completion_gap);
    let large = |ns| host_hold(ns, LARGE_BYTES);
    let small = |ns| host_hold(ns, SMALL_BYTES);
    holds(&claims, "A11", 10.0, large);
    holds(&claims, "A11-small", 10.0, small);
    // The model has no hold for writes to a GPU. It would be that of the same writes to a host.
    holds(&claims, "A12", 10.0, large);
    holds(&claims, "A12-small", 10.0, small);
}

#[test]
fn units_of_a_query() {
    let claims = htoe::claims().unwrap();
    for (id, seconds) in [
        ("E9-pcie-Q1", Q1.transfer_s),
        ("E9-pcie-Q21", Q21.transfer_s),
        ("E9-query-Q1", Q1.compute_s),
        ("E9-query-Q21", Q21.compute_s),
    ] {
        let shipped = Query::printed_gb_s(seconds);
        assert!(
            (printed_gb_s(seconds, 1024.0) - shipped).abs() < 1e-9,
            "{id}"
        );
        holds(&claims, id, 0.1, |megabits| printed_gb_s(seconds, megabits));
    }
}

#[test]
fn encapsulation_within_its_limits() {
    let claims = htoe::claims().unwrap();
    let ratio = |ns| {
        let [many, one] = [Optimised::Incoming, Optimised::Nothing]
            .map(|optimised| encapsulation(ns, optimised, 8, 50).throughput_gb_s);
        many / one
    };
    holds(&claims, "E4-ratio", 5.0, ratio);
}

/// E17-equal rests on no assumption about encapsulation: it holds from nothing to the most that the model allows, that of
/// a whole frame with one packet.
#[test]
fn equal_credits_whatever_encapsulation_takes() {
    for ns in [0.0, 60.0, Timing::PAPER.encapsulation.as_ns()] {
        let [some, many] =
            [10, 50].map(|nops| encapsulation(ns, Optimised::Nothing, 2, nops).credits_mean);
        assert!((many / some - 1.0).abs() < 0.01, "{ns}: {some} {many}");
    }
}

/// That MB are MiB is an assumption as well: in powers of ten no row passes.
#[test]
fn bytes_in_an_mb() {
    let in_mb = |mib_s: f64| move |bytes: f64| mib_s * f64::from(1 << 20) / bytes;
    let sustained = tccluster::sustained_mib_s().unwrap();
    holds(
        &tccluster::claims().unwrap(),
        "T4",
        1_000.0,
        in_mb(sustained),
    );
    let claims = htx_board::claims().unwrap();
    for (id, bytes) in [("H1", 64), ("H2", 32), ("H3", 16), ("H4", 8)] {
        let mib_s = htx_board::write_mib_s(bytes).unwrap();
        holds(&claims, id, 1_000.0, in_mb(mib_s));
    }
    // H5: so many bytes behind the 8 of the command.
    let lone = htx_board::write_mib_s(4).unwrap();
    holds(&claims, "H5", 1.0, |bytes| lone * 16.0 / (8.0 + bytes));
}

#[test]
fn clock_of_a_later_board() {
    let read_ns = |mhz: f64| elsewhere::later_read_ns(mhz as u32).unwrap();
    holds(&elsewhere::claims().unwrap(), "X2", 1.0, read_ns);
}

/// P7 rests on no map of the regions: with one of sixteen as swap it holds as well.
#[test]
fn one_region_of_swap_is_slower_than_remote_memory() {
    let small = pgas_cluster::Stream {
        elements: 200_000,
        ..pgas_cluster::STREAM
    };
    let region_bytes = pgas_cluster::MEMORY_BYTES / pgas_cluster::REGIONS / 64;
    let media = pgas_cluster::Media::PAPER;
    let time_s = |scenario: Scenario, swapped: usize| {
        let mut regions = scenario.regions(&media, region_bytes);
        for region in regions.iter_mut().rev().take(swapped) {
            region.medium = media.of(RegionKind::Swap);
        }
        let config = memory::Config {
            regions,
            ..pgas_cluster::config(scenario)
        };
        let mut memory = MemorySystem::new(config).unwrap();
        let times = small.run(&mut memory, &|_| ControlFlow::Continue(()));
        times.unwrap().mean_s()
    };
    let remote = time_s(Scenario::Remote, 0);
    for scenario in [Scenario::Local, Scenario::SameBoard] {
        let swap = time_s(scenario, 1);
        assert!(swap > remote, "{scenario:?}: {swap} {remote}");
    }
}
