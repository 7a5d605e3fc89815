//! Jobs of one kernel: with each contract, several in a region, and those that are killed.

use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::job::{Ended, eventually, run};
use crate::programs::{all_fine, fault_probe, run_probe};
use crate::regions::Pool;

const CONTRACTS: [&str; 3] = ["coherent", "flushed", "write-combining"];

/// `fault_probe ARGUMENTS...` over the wire, with a small heap.
fn probe(pes: u32, window: &str, more: &[&str], arguments: &[&str]) -> Ended {
    let options = ["--wire", "window", "--heap", "8M", "--window", window];
    run_probe(pes, &[&options, more].concat(), arguments)
}

fn assert_fine(ended: &Ended, pes: u32) {
    assert_eq!(ended.sorted_lines(), all_fine(pes), "{ended:#?}");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{ended:#?}");
}

#[test]
fn everything_works_with_each_contract() {
    for contract in CONTRACTS {
        for pes in [1, 2, 5] {
            let own = probe(pes, &format!("contract={contract}"), &[], &["everything"]);
            assert_fine(&own, pes);
        }
        let pool = Pool::new(128, contract);
        assert_fine(&probe(3, &pool.path, &[], &["everything"]), 3);
        assert_eq!(pool.jobs(), 0, "{}", pool.show());
        assert_fine(&probe(2, &pool.path, &[], &["everything"]), 2);
    }
}

#[test]
fn everything_works_between_network_namespaces() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for contract in CONTRACTS {
        let window = format!("contract={contract}");
        assert_fine(&probe(4, &window, &["--hosts", "2"], &["everything"]), 4);
    }
}

#[test]
fn two_jobs_share_a_region() {
    for contract in CONTRACTS {
        let pool = Pool::new(256, contract);
        let options = ["--heap", "8M", "--window", &pool.path];
        let probe = fault_probe();
        let start = || Steady::start_over("window", 2, &options, &[], &[&probe, "steady", "2000"]);
        let (one, two) = (start(), start());
        assert_eq!(pool.jobs(), 2, "{}", pool.show());
        assert_eq!(pool.show().matches("lives").count(), 4, "{}", pool.show());
        let living = run(&["window", "make", &pool.path]);
        assert!(
            living.stderr.contains("2 of its jobs still live"),
            "{living:#?}"
        );
        one.end_well();
        assert_eq!(pool.jobs(), 1, "{}", pool.show());
        two.end_well();
        assert_eq!(pool.jobs(), 0, "{}", pool.show());
    }
}

#[test]
fn what_a_killed_job_has_left_is_taken_back() {
    for contract in CONTRACTS {
        // Room for one job.
        let pool = Pool::new(48, contract);
        let options = ["--heap", "8M", "--window", &pool.path];
        let own = [&fault_probe()[..], "steady", "2000"];
        let job = Steady::start_over("window", 2, &options, &[], &own);
        job.signal_launcher(Signal::KILL);
        let pids = job.pids.clone();
        job.end_by_itself();
        for pid in pids {
            let pid = pid.as_raw_pid().to_string();
            eventually("the PEs end", || !crate::job::is_running(&pid));
        }
        assert_eq!(pool.show().matches("gone").count(), 2, "{}", pool.show());
        assert_fine(&probe(2, &pool.path, &[], &["everything"]), 2);
        assert_eq!(pool.jobs(), 0, "{}", pool.show());
        let cleared = run(&["window", "clear", &pool.path]);
        assert_eq!(cleared.status, 0, "{cleared:#?}");
        assert!(
            cleared.stdout.starts_with("0 jobs taken back, 0 jobs left"),
            "{cleared:#?}"
        );
    }
}

/// A job is killed while another one works beside it, and a third one takes the room that is free.
#[test]
fn a_killed_job_leaves_the_other_one_alone() {
    for contract in CONTRACTS {
        // Room for two jobs.
        let pool = Pool::new(96, contract);
        let options = ["--heap", "8M", "--window", &pool.path];
        let probe_path = fault_probe();
        let own = [&probe_path[..], "steady", "2000"];
        let start = || Steady::start_over("window", 2, &options, &[], &own);
        let (lives, dies) = (start(), start());
        dies.signal_launcher(Signal::KILL);
        let pids = dies.pids.clone();
        dies.end_by_itself();
        for pid in pids {
            let pid = pid.as_raw_pid().to_string();
            eventually("the PEs end", || !crate::job::is_running(&pid));
        }
        let show = pool.show();
        assert_eq!(show.matches("gone").count(), 2, "{show}");
        assert_eq!(show.matches("lives").count(), 2, "{show}");
        assert_fine(&probe(2, &pool.path, &[], &["everything"]), 2);
        lives.end_well();
        assert_eq!(pool.jobs(), 0, "{}", pool.show());
    }
}

#[test]
fn the_others_see_that_a_pe_is_killed() {
    for stage in ["send", "recv", "barrier", "wait", "reduce"] {
        let ended = probe(4, "contract=coherent", &["--keep-going"], &["die", stage]);
        assert!(ended.stdout.contains("PE 3 lost"), "{stage}: {ended:#?}");
        assert_eq!(ended.sorted_lines().len(), 3, "{stage}: {ended:#?}");
    }
}

#[test]
fn why_pe_0_finds_no_room_is_what_all_pes_say() {
    let pool = Pool::new(16, "coherent");
    for (window, text) in [
        (pool.path.clone(), "more are needed"),
        (
            format!("{},contract=flushed", pool.path),
            "its contract is coherent, expected flushed",
        ),
        (format!("{},size=4M", pool.path), "expected 16777216"),
        (format!("{}-not", pool.path), "No such file"),
    ] {
        let ended = probe(2, &window, &[], &["everything"]);
        assert_eq!(ended.status, 1, "{ended:#?}");
        let said = ended.stderr.lines();
        let said: Vec<&str> = said
            .filter(|line| line.starts_with("fault_probe: "))
            .collect();
        assert!(said.iter().all(|line| line.contains(text)), "{ended:#?}");
        // Either job may have been ended before it said why. Then the other one said it.
        assert!((1..=2).contains(&said.len()), "{ended:#?}");
    }
}

#[test]
fn pes_that_map_different_regions_are_refused() {
    let (one, other) = (Pool::new(64, "coherent"), Pool::new(64, "coherent"));
    let script = format!(
        "if [ $PMI_RANK = 1 ]; then HOSTWIRE_WINDOW={}; fi; export HOSTWIRE_WINDOW; exec {} everything",
        other.path,
        fault_probe()
    );
    let options = [
        "run", "-n", "2", "--wire", "window", "--heap", "8M", "--window", &one.path,
    ];
    let ended = run(&[&options[..], &["sh", "-c", &script]].concat());
    assert_eq!(ended.status, 1, "{ended:#?}");
    assert!(
        ended.stderr.contains("and the job is in region"),
        "{ended:#?}"
    );
    assert_eq!((one.jobs(), other.jobs()), (1, 0));
    assert_fine(&probe(2, &one.path, &[], &["everything"]), 2);
}
