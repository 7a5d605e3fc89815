//! The suite of the API on modelled memory: see `hostwire_transport::model`. Run by
//! `scripts/model.sh`; in other builds there is nothing here.

#![cfg(memory_model)]

use hostwire::conformance::{CASES, Setup, Testbed};
use hostwire::{AgentMode, Job, Layout, Sizes, Source};
use hostwire_transport::Visibility;
use hostwire_transport::model::Modelled;

/// Cases that need more than two PEs. The others run with two, because the model moves words
/// one by one and some of them move many.
const OF_THREE: [&str; 5] = [
    "broadcasts",
    "quiet_is_visible_to_third_parties",
    "reductions_in_the_order_of_ranks",
    "scans",
    "signals_of_all_pes_add_up",
];

fn run(name: &str, visibility: Visibility) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    let (pes, seeds) = match name {
        // A case in which no PE hears from all others.
        "barriers_separate" => (5, 12),
        name if OF_THREE.contains(&name) => (3, 12),
        _ => (2, 2),
    };
    let fabric = Modelled {
        visibility,
        seeds,
        steps_max: 30_000_000,
    };
    (case.run)(&Setup::new(&fabric, pes, AgentMode::Polled));
}

/// In a large job a PE learns from words in separate lines which PEs use their rings to it.
#[test]
fn all_talkers_of_a_large_job_are_heard_on_flushed_memory() {
    const PES: u32 = 66;
    let sizes = Sizes {
        ring_bytes: 256,
        heap_bytes: 1 << 16,
        eager_bytes: 4 << 10,
        ..Sizes::default()
    };
    let fabric = Modelled {
        visibility: Visibility::Flushed,
        seeds: 2,
        steps_max: 30_000_000,
    };
    let segment_bytes = Layout::new(PES, sizes).unwrap().segment_bytes();
    fabric.run(PES, segment_bytes, &|wire| {
        let job = Job::over(wire, sizes, AgentMode::Polled).unwrap();
        job.barrier().unwrap();
        if job.pe() == 0 {
            let mut heard: Vec<u32> = (1..PES)
                .map(|_| job.recv_any_vec::<u32>(Source::Any, 1).unwrap().1[0])
                .collect();
            heard.sort_unstable();
            assert_eq!(heard, (1..PES).collect::<Vec<_>>());
        } else {
            job.send(0, 1, &[job.pe()]).unwrap();
        }
        job.finalize().unwrap();
    });
}

macro_rules! over {
    ($wire:ident, $visibility:ident; $($case:ident,)*) => {
        mod $wire {
            use super::*;

            $(#[test]
            fn $case() {
                run(stringify!($case), Visibility::$visibility);
            })*
        }
    };
}

hostwire::conformance_cases!(over!(api_coherent, Coherent));
hostwire::conformance_cases!(over!(api_write_combining, WriteCombining));
hostwire::conformance_cases!(over!(api_flushed, Flushed));
