//! The same binary under every customary launcher: `srun` of a Slurm that is started for
//! the tests, Open MPI's `mpirun`, MPICH's `mpiexec.hydra`.
//!
//! A launcher that is not installed is left out, and a line says so; see
//! scripts/setup.sh.
#![allow(clippy::print_stderr)]

mod choice;
mod hosts;
#[path = "../run/job.rs"]
#[allow(dead_code)]
mod job;
mod lost;
mod mpi;
mod open_mpi;
#[path = "../faults/programs.rs"]
#[allow(dead_code)]
mod programs;
mod slurm;
mod srun;

use job::Ended;
use programs::all_fine;

/// Every PE has done its work, and none has reported an error.
fn assert_fine(ended: &Ended, pes: u32) {
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert_eq!(ended.sorted_lines(), all_fine(pes), "{ended:#?}");
}

/// Every PE has exchanged bytes over `name`.
fn assert_exchanged(ended: &Ended, pes: u32, name: &str) {
    let mut expected: Vec<String> = (0..pes)
        .map(|pe| format!("PE {pe} of {pes} over {name}, nodes: 1"))
        .collect();
    expected.sort_unstable();
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert_eq!(ended.sorted_lines(), expected, "{ended:#?}");
}
