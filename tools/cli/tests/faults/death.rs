//! One PE is killed by SIGKILL, in every stage, while the others do all kinds of things.

use hostwire_testing::{is_installed, need};

use crate::job::Ended;
use crate::programs::{all_fine, fault_probe, run, run_probe};

/// The library promises one second.
const NOTICED_MS_MAX: u64 = 5000;

/// Checks what `survivors` PEs have printed: number, what they did, after how many
/// milliseconds it ended, and how.
fn all_noticed(ended: &Ended, survivors: usize, expected: impl Fn(&str) -> bool) {
    let lines = ended.sorted_lines();
    assert_eq!(lines.len(), survivors, "{ended:#?}");
    for line in lines {
        let mut words = line.splitn(4, ' ').skip(2);
        let ms: u64 = words.next().unwrap_or_default().parse().unwrap();
        let seen = words.next().unwrap_or_default();
        assert!(expected(seen), "{line}\n{ended:#?}");
        assert!(ms < NOTICED_MS_MAX, "{line}");
    }
}

const SURVIVORS: usize = 9;
const STAGES: [&str; 5] = ["send", "recv", "barrier", "wait", "reduce"];

/// Survivors end one after the other, so each may see any of them as lost.
fn lost(seen: &str) -> bool {
    seen.starts_with("PE ") && seen.ends_with(" lost")
}

#[test]
fn the_others_see_the_loss_whatever_they_do() {
    for stage in STAGES {
        let ended = run_probe(SURVIVORS as u32 + 1, &["--keep-going"], &["die", stage]);
        all_noticed(&ended, SURVIVORS, lost);
        assert!(ended.stdout.contains("PE 9 lost"), "{stage}: {ended:#?}");
        assert!(
            ended.stderr.contains("PE 9 was killed by SIGKILL"),
            "{ended:#?}"
        );
    }
}

#[test]
fn who_waits_for_a_pe_in_finalize_is_told_that_it_leaves_or_is_lost() {
    let pes = SURVIVORS as u32 + 1;
    let ended = run_probe(pes, &["--keep-going"], &["die", "finalize"]);
    all_noticed(&ended, SURVIVORS, |seen| lost(seen) || seen == "PE 9 left");
}

#[test]
fn a_launcher_ends_the_others_at_once() {
    for stage in STAGES
        .into_iter()
        .chain(["finalize", "attach", "attach-late"])
    {
        let ended = run_probe(4, &[], &["die", stage]);
        assert_eq!(ended.status, 137, "{stage}: {ended:#?}");
        let line = "hostwire: PE 3 was killed by SIGKILL";
        assert!(ended.stderr.starts_with(line), "{stage}: {ended:#?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{stage}: {ended:#?}");
    }
}

#[test]
fn a_pe_that_dies_before_it_has_attached_is_told_to_the_others() {
    let ended = run_probe(3, &["--keep-going"], &["die", "attach"]);
    all_noticed(&ended, 2, |seen| seen.starts_with("the launcher: "));
}

#[test]
fn a_pe_that_never_comes_is_named() {
    let probe = fault_probe();
    let ended = run(
        "env",
        &[
            "HOSTWIRE_ATTACH_TIMEOUT=1",
            env!("CARGO_BIN_EXE_hostwire"),
            "run",
            "-n",
            "3",
            "--keep-going",
            &probe,
            "die",
            "attach-late",
        ],
    );
    all_noticed(&ended, 2, |seen| seen != "nothing");
    assert!(ended.stdout.contains(" PE [2] absent\n"), "{ended:#?}");
}

#[test]
fn the_others_see_the_loss_under_mpiexec_hydra() {
    if !is_installed("mpiexec.hydra", &need::MPICH) {
        return;
    }
    // It ends all PEs as soon as it sees one die, so each gets a shell that outlives all of them.
    let pes = (SURVIVORS + 1).to_string();
    for stage in ["send", "barrier"] {
        let ended_pes = tempfile::tempdir().unwrap();
        let script = format!(
            "\"$0\" die {stage}; : >\"$1/$$\"; turns=0
            while [ \"$(ls \"$1\" | wc -l)\" -lt {pes} ] && [ $turns -lt 600 ]; do
                sleep 0.1; turns=$((turns + 1))
            done"
        );
        let folder = ended_pes.path().to_str().unwrap();
        let ended = run(
            "mpiexec.hydra",
            &["-n", &pes, "sh", "-c", &script, &fault_probe(), folder],
        );
        let seen = ended.stdout.lines().filter(|line| line.contains("PE "));
        let stdout = seen.map(|line| format!("{line}\n")).collect();
        all_noticed(&Ended { stdout, ..ended }, SURVIVORS, lost);
    }
}

#[test]
fn mpiexec_hydra_ends_the_others() {
    if !is_installed("mpiexec.hydra", &need::MPICH) {
        return;
    }
    for stage in ["barrier", "attach", "attach-late", "finalize"] {
        let ended = run("mpiexec.hydra", &["-n", "4", &fault_probe(), "die", stage]);
        // Its status is 0 if the others have ended by themselves before it sees the death.
        let told = |line: &&str| line.ends_with(" lost") || line.ends_with(" absent");
        let told = ended.stdout.lines().filter(told).count();
        assert!(ended.status != 0 || told == 3, "{stage}: {ended:#?}");
    }
}

#[test]
fn a_stopped_pe_is_waited_for() {
    let ended = run_probe(4, &[], &["pause", "2"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.sorted_lines(), all_fine(4));
}
