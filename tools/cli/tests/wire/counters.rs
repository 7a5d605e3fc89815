//! `hostwire stats` and `hostwire doctor`.

use hostwire_testing::{is_installed, need};

use crate::hosts::{Steady, may_make_hosts};
use crate::job::{hostwire, run};
use crate::programs::{fault_probe, is_root, run_script};

#[test]
fn the_counters_of_a_running_job_are_seen() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start(4, &["--hosts", "2"], &[]);
    let launcher = steady.launcher().as_raw_pid().to_string();
    let pe = steady.pids[1].as_raw_pid().to_string();
    for pid in [&launcher, &pe] {
        let seen = run(&["stats", pid, "--json"]);
        assert_eq!(seen.status, 0, "{seen:#?}");
        let records: Vec<serde_json::Value> = seen
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(records.len(), 4, "{seen:#?}");
        for (number, record) in records.iter().enumerate() {
            assert_eq!((&record["pe"], &record["pes"]), (&number.into(), &4.into()));
            assert_eq!(record["wire"], "ether");
            // One link to the other host. The first PE of each host reports it.
            let sessions = u64::from(number % 2 == 0);
            assert_eq!(record["counters"]["sessions opened"], sessions, "{record}");
            assert_eq!(record["counters"]["dropped, misbehaved"], 0, "{record}");
        }
    }
    let table = run(&["stats"]);
    assert!(
        table.stdout.contains("4 of 4 PEs here, wire ether"),
        "{table:#?}"
    );
    assert!(table.stdout.contains("frames sent"), "{table:#?}");

    if is_root() && is_installed("setpriv", &need::UTIL_LINUX) {
        let binary = env!("CARGO_BIN_EXE_hostwire");
        let other = run_script(&format!(
            "cp {binary} /tmp/$$ 2>/dev/null; chmod 755 /tmp/$$; \
             setpriv --reuid 65534 --clear-groups /tmp/$$ stats {pe}; status=$?; \
             rm /tmp/$$; exit $status"
        ));
        assert_eq!((other.status, other.stdout.as_str()), (1, ""), "{other:#?}");
        assert!(
            other.stderr.contains("could not be looked into"),
            "{other:#?}"
        );
    }
    steady.end_well();
}

#[test]
fn who_is_in_no_job_has_no_counters() {
    let seen = run_script("exec $HOSTWIRE stats $$");
    assert_eq!((seen.status, seen.stdout.as_str()), (1, ""), "{seen:#?}");
    assert!(seen.stderr.contains("is no PE with counters"), "{seen:#?}");
    let seen = run(&["stats", "many"]);
    assert_eq!(seen.status, 2, "{seen:#?}");
}

#[test]
fn pes_print_their_own_when_they_are_asked_to() {
    let ended = run_script("HOSTWIRE_STATS=1 $HOSTWIRE run -n 2 $PROBE meet");
    assert_eq!(ended.status, 0, "{ended:#?}");
    for pe in 0..2 {
        let line = format!("hostwire: PE {pe}: nothing has crossed a wire between hosts\n");
        assert!(ended.stderr.contains(&line), "{ended:#?}");
    }
}

#[test]
fn a_job_on_one_host_says_that_nothing_was_sent() {
    let ended = run(&["run", "-n", "2", "--stats", &fault_probe(), "meet"]);
    assert_eq!(ended.status, 0, "{ended:#?}");
    let text = "hostwire: what the wire shm has counted\n\
                hostwire: nothing has crossed a wire between hosts\n";
    assert_eq!(ended.stderr, text);
}

#[test]
fn the_doctor_finds_shared_memory() {
    let ended = run(&["doctor"]);
    assert_eq!(ended.status, 0, "{ended:#?}");
    for word in [
        "wire shm\n  ok    memory files",
        "wire ether\n",
        "wire udp\n",
        "wire tcp\n",
        "wire auto\n",
        "launchers\n",
    ] {
        assert!(ended.stdout.contains(word), "{word}: {ended:#?}");
    }
    let ended = run(&["doctor", "--json"]);
    let topics: Vec<serde_json::Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        topics
            .iter()
            .any(|one| one["topic"] == "wire shm" && one["state"] == "ok")
    );
    // Without an interface that is up it still answers.
    if is_root() && is_installed("unshare", &need::UTIL_LINUX) {
        let mut command = hostwire(&[]);
        let binary = command.get_program().to_string_lossy().into_owned();
        command = std::process::Command::new("unshare");
        let ended = command.args(["--net", &binary, "doctor"]).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success(), "{said}");
        assert!(said.contains("no Ethernet interface is up"), "{said}");
    }
}
