//! Stores within a host that are late, made twice, lost or damaged.

use crate::job::{Ended, Job, hostwire};
use crate::programs::{all_fine, fault_probe};

fn run(pes: u32, faults: &str, options: &[&str], arguments: &[&str]) -> Ended {
    let (pes, probe) = (pes.to_string(), fault_probe());
    let run = ["run", "-n", &pes, "--stats"];
    let mut command = hostwire(&[&run[..], options, &[&probe], arguments].concat());
    command.env("HOSTWIRE_FAULTS", faults);
    Job::start(command).end()
}

#[test]
fn programs_do_not_see_stores_that_are_late_or_made_twice() {
    for (pes, faults) in [
        (2, "reorder=0.3,dup=0.3,seed=1"),
        (3, "reorder=1,dup=1,seed=2"),
        (5, "reorder=0.1,dup=0.5,seed=3"),
    ] {
        let ended = run(pes, faults, &[], &["everything"]);
        assert_eq!(ended.status, 0, "{faults}: {ended:#?}");
        assert_eq!(ended.sorted_lines(), all_fine(pes), "{faults}");
        let met = ended.stderr.contains("faults injected");
        assert!(met, "{faults}: {ended:#?}");
    }
}

/// If one PE alone reached the others in another way, it would wait for ever for answers.
#[test]
fn what_one_pe_has_all_must_have() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    for (variable, value, setting) in [
        ("HOSTWIRE_FAULTS", "dup=0.1", "HOSTWIRE_FAULTS"),
        ("HOSTWIRE_RECORD", folder, "HOSTWIRE_RECORD"),
        ("HOSTWIRE_WIRE", "stores", "HOSTWIRE_WIRE=stores"),
    ] {
        for odd_one in [0, 1] {
            let (other, probe) = (1 - odd_one, fault_probe());
            let script = format!(
                "[ $PMI_RANK != {odd_one} ] || export {variable}={value}; exec {probe} everything"
            );
            let ended = Job::start(hostwire(&["run", "-n", "2", "sh", "-c", &script])).end();
            let told = format!(
                "PE {odd_one} has {setting} and PE {other} has not: it has to be set for all PEs, \
                 or for none"
            );
            assert_ne!(ended.status, 0, "{ended:#?}");
            assert!(ended.stderr.contains(&told), "{told}: {ended:#?}");
        }
    }
}

/// The promise of the wire is broken. The error says what becomes of the job, and names a PE.
#[test]
fn a_job_that_misses_stores_ends_and_says_who_waits() {
    for faults in [
        "drop=0.001,seed=1",
        "drop=0.01,seed=2",
        "drop=0.2,seed=3",
        "drop=1",
        "flip=0.01,seed=4",
        "flip=1,seed=5",
    ] {
        let ended = run(3, faults, &["--timeout", "4s"], &["everything"]);
        let named = |line: &str| {
            let behind = line.split("PE ").nth(1);
            behind.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        };
        let is_told = ended.stderr.lines().any(named);
        assert!(ended.status == 0 || is_told, "{faults}: {ended:#?}");
        assert!(!ended.stderr.contains("panicked"), "{faults}: {ended:#?}");
    }
}
