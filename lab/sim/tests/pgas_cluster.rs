//! The PGAS cluster paper: calibration, claims, predictions.

use std::ops::ControlFlow;

use hostwire_sim::experiments::pgas_cluster::{
    self as pgas, KERNELS, MEMORY_BYTES, Media, REGIONS, SCENARIOS, STREAM, Scenario, Stream,
};
use hostwire_sim::experiments::{Class, Row, Verdict};
use hostwire_sim::models::memory::{Config, MemorySystem, Placement, RegionKind};

/// The shipped constants are the solution of the three equations, to their last digit.
#[test]
fn the_calibration_gives_the_shipped_constants() {
    let solved = pgas::calibrate().unwrap();
    let local_ps = (solved.local_ns * 1e3).round();
    assert_eq!(local_ps, Media::PAPER.local.0 as f64, "{solved:?}");
    let per_million = (solved.transactions_per_line * 1e6).round();
    assert_eq!(
        per_million,
        pgas::TRANSACTIONS_PER_MILLION_LINES as f64,
        "{solved:?}"
    );
    let work_ps = (solved.work_per_access_ns * 1e3).round();
    assert_eq!(work_ps, STREAM.work_per_access.0 as f64, "{solved:?}");
}

/// Three numbers were fitted with three constants: they cannot fail. The order of the
/// scenarios can.
#[test]
fn claims_hold() {
    let rows: Vec<Row> = pgas::reproduce().unwrap_or_else(|error| panic!("{error}"));
    let bad = [Verdict::Fail, Verdict::NotSimulated];
    assert!(
        rows.iter().all(|row| !bad.contains(&row.verdict)),
        "{rows:#?}"
    );
    let fitted = rows.iter().filter(|row| row.class == Class::Fitted);
    assert_eq!(
        fitted.count(),
        6,
        "P1 follows from two of the three, and P3 from all"
    );
    let simulated = |id: &str| {
        rows.iter()
            .find(|row| row.id == id)
            .unwrap()
            .simulated
            .unwrap()
    };
    // The result of a calibration by hand, for swap with an access per line.
    assert!((simulated("P7-1P-SW") - 675.0).abs() < 1.0);
    assert!((simulated("P7-4P-SW-U") - 544.0).abs() < 1.0);
    assert!(
        simulated("P7-paged") < 1.0,
        "pages that stay turn the paper's result round"
    );
}

/// Lines per function, as they follow from the arrays: 2.5 M lines each.
#[test]
fn stream_moves_the_lines_of_its_arrays() {
    let mut memory = MemorySystem::new(pgas::config(Scenario::Remote)).unwrap();
    let times = STREAM
        .run(&mut memory, &|_| ControlFlow::Continue(()))
        .unwrap();
    let reads: u64 = times.regions.iter().map(|region| region.reads).sum();
    let writes: u64 = times.regions.iter().map(|region| region.writes).sum();
    assert_eq!((reads, writes), (25_000_000, 10_000_000));
    // Pages are spread: a sixteenth in each region, to a page.
    for region in &times.regions {
        assert!(
            (region.reads as f64 / (25e6 / 16.0) - 1.0).abs() < 1e-3,
            "{region:?}"
        );
    }
}

/// The order 1P, 4P, 16P, swap; and swap maps matter only where pages are not spread.
#[test]
fn scenarios_are_ordered_and_maps_count_where_pages_do() {
    let small = Stream {
        elements: 200_000,
        ..STREAM
    };
    let time = |scenario: Scenario, placement| {
        let config = Config {
            regions: scenario.regions(&Media::PAPER, MEMORY_BYTES / REGIONS / 64),
            placement,
            ..pgas::config(scenario)
        };
        let mut memory = MemorySystem::new(config).unwrap();
        let times = small.run(&mut memory, &|_| ControlFlow::Continue(()));
        times.unwrap().mean_s()
    };
    let spread = |scenario| time(scenario, Placement::Spread);
    let order = [
        Scenario::Local,
        Scenario::SameBoard,
        Scenario::Remote,
        Scenario::BoardSwapUniform,
        Scenario::LocalSwap,
    ];
    let times = order.map(spread);
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    let [uniform, interleaved] =
        [Scenario::BoardSwapUniform, Scenario::BoardSwapInterleaved].map(spread);
    assert!(
        (uniform / interleaved - 1.0).abs() < 2e-3,
        "{uniform} {interleaved}"
    );
    let contiguous = |scenario| time(scenario, Placement::Contiguous);
    let [uniform, interleaved] =
        [Scenario::BoardSwapUniform, Scenario::BoardSwapInterleaved].map(contiguous);
    assert!(
        (uniform / interleaved - 1.0).abs() > 0.05,
        "{uniform} {interleaved}"
    );
}

#[test]
fn scenarios_have_the_regions_of_the_paper() {
    for (name, scenario) in SCENARIOS {
        let regions = scenario.regions(&Media::PAPER, 1 << 20);
        assert_eq!(regions.len() as u64, REGIONS, "{name}");
        assert_eq!(scenario.name(), name);
    }
    let count = |scenario: Scenario, kind| {
        let regions = scenario.regions(&Media::PAPER, 1 << 20);
        regions.iter().filter(|region| region.kind == kind).count()
    };
    assert_eq!(count(Scenario::Remote, RegionKind::Remote), 12);
    assert_eq!(count(Scenario::LocalSwap, RegionKind::Swap), 15);
    assert_eq!(count(Scenario::BoardSwapUniform, RegionKind::Swap), 12);
    assert_eq!(count(Scenario::BoardSwapInterleaved, RegionKind::Swap), 12);
    assert_eq!(KERNELS.map(|kernel| kernel.accesses()), [2, 2, 3, 3]);
}

/// The same in debug and release, on any machine.
#[test]
fn state_hashes_are_pinned() {
    for (scenario, hash) in [
        (Scenario::Local, "13b2ebf7995a1325"),
        (Scenario::Remote, "9bac1f2ba72cb1dd"),
        (Scenario::BoardSwapInterleaved, "6d6c0bd5ba24cb42"),
        (Scenario::LocalSwapPaged, "cad68760468ed363"),
    ] {
        let mut memory = MemorySystem::new(pgas::config(scenario)).unwrap();
        STREAM
            .run(&mut memory, &|_| ControlFlow::Continue(()))
            .unwrap();
        assert_eq!(memory.state_hash().to_string(), hash, "{scenario:?}");
    }
}

/// The committed tables are what `cargo run --example break_even` prints.
#[test]
fn break_even_tables_are_current() {
    let committed = include_str!("../../../experiments/pgas-cluster/break-even.md");
    for table in [pgas::hit_rate_table(), pgas::working_set_table().unwrap()] {
        assert!(committed.contains(&table), "it should be:\n{table}");
    }
}
