//! Programs on boards that are RTL.

use std::path::Path;

use hostwire_testing::{left_out, need};

use super::job::{self, Job, hostwire};
use super::{arguments, probe, simulated};

/// Two hosts whose boards are hardware of `lab/rtl`.
#[test]
fn a_program_runs_on_boards_that_are_rtl() {
    let probe = probe();
    let pair = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sim/experiments/rtl/pair.toml");
    let pair = pair.display().to_string();
    let program = ["--stats", &probe, "everything"];
    let arguments = arguments(&pair, "2", &program);
    let nothing = tempfile::tempdir().unwrap();
    let mut command = hostwire(&arguments);
    command.env("HOSTWIRE_RTL", nothing.path());
    let ended = Job::start(command).end();
    assert_eq!(ended.status, 2, "{ended:?}");
    assert!(
        ended.stderr.contains("scripts/rtl.sh build makes it"),
        "{ended:?}"
    );
    let first = job::run(&arguments);
    if first.status == 2 && first.stderr.contains("scripts/rtl.sh build makes it") {
        left_out(&need::RTL_MODELS, first.stderr);
        return;
    }
    assert_eq!(first.status, 0, "{first:?}");
    assert_eq!(simulated(&first), simulated(&job::run(&arguments)));
}
