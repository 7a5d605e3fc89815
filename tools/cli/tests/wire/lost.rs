//! PEs that are killed: the errors of the others name which, and on which host.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::hosts::{Steady, may_make_hosts};
use crate::job::Ended;
use crate::programs::fault_probe;

/// Nobody may learn it by silence.
const NOT_BY_SILENCE: [(&str, &str); 1] = [("HOSTWIRE_LOST_AFTER", "600")];

/// A shell around a PE that does not end while the file is there: the launcher does not see the end of the PE.
fn shell_that_goes_on() -> (tempfile::NamedTempFile, String) {
    let goes_on = tempfile::NamedTempFile::new().unwrap();
    let script = format!(
        "{} steady 20000; status=$?; while [ -e {} ]; do sleep 0.05; done; exit $status",
        fault_probe(),
        goes_on.path().display()
    );
    (goes_on, script)
}

/// Checks that exactly these PEs have seen one of `lost` as lost on `host`.
fn assert_seen(ended: &Ended, survivors: &[u32], lost: &[u32], host: &str) {
    let lines = ended.sorted_lines();
    assert_eq!(lines.len(), survivors.len(), "{ended:#?}");
    for (line, pe) in lines.iter().zip(survivors) {
        let who = format!("PE {pe} saw: PE ");
        let seen = line.strip_prefix(&who).unwrap_or_default();
        let right = lost.iter().any(|lost| {
            let expected = format!("{lost} on {host} is lost: ");
            seen.starts_with(&expected)
        });
        assert!(right, "{line}: {ended:#?}");
    }
}

/// The PEs of its host see it at once, and inform the others.
#[test]
fn a_pe_that_is_killed_is_told_by_its_host() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start(4, &["--keep-going"], &NOT_BY_SILENCE);
    steady.signal(3, Signal::KILL);
    let ended = steady.end_by_itself();
    // The locks of a process go before it has ended, so a neighbour may end first.
    assert_eq!(ended.status, 137, "{ended:#?}");
    let killed = "PE 3 was killed by SIGKILL";
    assert!(ended.stderr.contains(killed), "{ended:#?}");
    // Another PE may see a PE that has given up and left.
    assert!(ended.stdout.contains("PE 0 saw: PE "), "{ended:#?}");
    assert!(
        ended.stdout.contains("PE 3 on host1 is lost: "),
        "{ended:#?}"
    );
    assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
}

/// No PE of its host is left to inform the others; the launcher does it, at once. An agent is
/// a thread of its PE, so it dies with the PE.
#[test]
fn a_host_that_dies_is_told_by_the_launcher() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for thread in ["", "hostwire-ether"] {
        let steady = Steady::start(2, &["--keep-going"], &NOT_BY_SILENCE);
        match thread {
            "" => steady.signal(1, Signal::KILL),
            name => kill_process(thread_of(steady.pids[1], name), Signal::KILL).unwrap(),
        }
        let ended = steady.end_by_itself();
        assert_eq!(ended.status, 137, "{ended:#?}");
        assert_seen(&ended, &[0], &[1], "host1");
        // Leaving the job is not a failure either.
        assert!(!ended.stderr.contains("broke the protocol"), "{ended:#?}");
    }
}

/// The number of the thread of a process that has this name. A thread takes its name when it has its first turn.
fn thread_of(process: Pid, name: &str) -> Pid {
    let begin = Instant::now();
    loop {
        if let Some(thread) = look_for_thread(process, name) {
            return thread;
        }
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{process:?} has no thread {name}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn look_for_thread(process: Pid, name: &str) -> Option<Pid> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", process.as_raw_pid())).unwrap();
    let found = tasks.flatten().find(|task| {
        let comm = std::fs::read_to_string(task.path().join("comm"));
        comm.is_ok_and(|comm| comm.trim() == name)
    });
    let number = found?.file_name().into_string().unwrap();
    Pid::from_raw(number.parse().unwrap())
}

/// No PE is left there to inform the others, and the launcher sees only a shell that goes on. The control connection of
/// the PE shows its end.
#[test]
fn a_host_that_dies_behind_a_script_is_known_by_its_control_connection() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let (goes_on, script) = shell_that_goes_on();
    let options = ["--keep-going"];
    let mut steady = Steady::start_command(2, &options, &NOT_BY_SILENCE, &["sh", "-c", &script]);
    steady.signal(1, Signal::KILL);
    let seen = steady.line();
    assert_eq!(
        seen,
        "PE 0 saw: PE 1 on host1 is lost: its process has ended"
    );
    drop(goes_on);
    // Both shells end now, in any order.
    let ended = steady.end_by_itself();
    assert!([1, 137].contains(&ended.status), "{ended:#?}");
    assert!(
        ended.stderr.contains("PE 1 exited with status 137"),
        "{ended:#?}"
    );
}

/// All PEs of a host die, so none of them can report another one. Their adapter does.
#[test]
fn several_pes_of_a_host_that_die_are_told_by_their_adapter() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let (goes_on, script) = shell_that_goes_on();
    let options = ["--keep-going", "--hosts", "2"];
    let mut steady = Steady::start_command(4, &options, &NOT_BY_SILENCE, &["sh", "-c", &script]);
    for signal in [Signal::STOP, Signal::KILL] {
        for pe in [2, 3] {
            steady.signal(pe, signal);
        }
    }
    let seen = steady.line();
    assert!(
        seen.ends_with(" on host1 is lost: its process has ended"),
        "{seen}"
    );
    drop(goes_on);
    let ended = steady.end_by_itself();
    assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
}

/// Pairs of PEs of two hosts talk to each other. Some PEs are killed in the middle of it, among them one that has
/// started an adapter. All others go on, and every byte is right.
#[test]
fn pes_that_are_killed_harm_nobody_else() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let options = ["--keep-going", "--hosts", "2"];
    let probe = fault_probe();
    let command = [probe.as_str(), "pairs", "3000"];
    let mut pairs = Steady::start_command(10, &options, &NOT_BY_SILENCE, &command);
    // PE 5 has started the adapter of its host.
    for (pe, partner) in [(1, 6), (5, 0), (8, 3)] {
        pairs.signal(pe, Signal::KILL);
        let expected = format!("PE {partner} saw: PE {pe} on ");
        let seen = pairs.line();
        assert!(seen.starts_with(&expected), "{seen}");
        assert!(seen.ends_with(" is lost: its process has ended"), "{seen}");
    }
    let ended = pairs.end();
    assert_eq!(ended.status, 137, "{ended:#?}");
    let fine = [2, 4, 7, 9].map(|pe| format!("PE {pe} is fine"));
    assert_eq!(ended.sorted_lines(), fine, "{ended:#?}");
}

/// No PE can be reached without the adapter, and the error names it.
#[test]
fn an_adapter_that_is_killed_is_named() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let options = ["--keep-going", "--hosts", "2"];
    let steady = Steady::start_command(
        4,
        &options,
        &NOT_BY_SILENCE,
        &[&fault_probe(), "steady", "20000"],
    );
    kill_process(adapter_beside(steady.pids[0]), Signal::KILL).unwrap();
    let ended = steady.end_by_itself();
    let lines = ended.sorted_lines();
    assert_eq!(lines.len(), 4, "{ended:#?}");
    let named =
        "the process hw-adapter, which sends and receives for all PEs of this host, has ended";
    let here: Vec<_> = lines.iter().filter(|line| line.contains(named)).collect();
    assert!(!here.is_empty(), "{ended:#?}");
    let there = lines
        .iter()
        .filter(|line| line.contains(" on host0 is lost: "));
    assert!(there.count() > 0, "{ended:#?}");
    assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
}

/// How the last host of a job goes.
#[derive(Debug, Clone, Copy)]
enum Going {
    /// All its processes are killed.
    Killed,
    /// Its cable is pulled.
    Unplugged,
}

/// Two PEs on each of so many hosts, which all wait for each other. The last host goes, and all other PEs end with an error by themselves.
/// Says how long that takes.
#[expect(clippy::print_stdout, reason = "its figures are for docs/costs.md")]
fn all_know_of_a_lost_host(hosts: u32, going: Going) {
    let count = hosts.to_string();
    let options = ["--keep-going", "--hosts", &count];
    let pes = 2 * hosts;
    let probe = fault_probe();
    let mut steady = Steady::start_over("udp", pes, &options, &[], &[&probe, "steady", "64"]);
    let last = pes as usize - 2;
    let begin = Instant::now();
    match going {
        Going::Killed => {
            kill_process(adapter_beside(steady.pids[last]), Signal::KILL).unwrap();
            steady.signal(last, Signal::KILL);
            steady.signal(last + 1, Signal::KILL);
        }
        Going::Unplugged => {
            steady.on_host_of(last, &["ip", "link", "set", "wire", "down"]);
        }
    }
    // The PEs behind the cable lose the others, too.
    let ending = match going {
        Going::Killed => last,
        Going::Unplugged => pes as usize,
    };
    let survivors: Vec<String> = (0..ending).map(|_| steady.line()).collect();
    let known = begin.elapsed();
    println!("{hosts} hosts, {going:?}: all others know after {known:?}");
    assert!(
        survivors.iter().all(|line| line.contains(" saw: ")),
        "{survivors:#?}"
    );
    let named = format!(" on host{} is lost: ", hosts - 1);
    let naming = survivors.iter().filter(|line| line.contains(&named));
    // Others see a PE that has given up.
    assert!(naming.count() > 0, "{survivors:#?}");
    steady.end_by_itself();
}

#[test]
fn a_host_of_sixteen_that_dies_is_known_to_all() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    all_know_of_a_lost_host(16, Going::Killed);
}

/// All learn it by silence, after ten seconds.
#[test]
fn a_host_of_sixteen_that_is_unplugged_is_known_to_all() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    all_know_of_a_lost_host(16, Going::Unplugged);
}

#[test]
#[ignore = "a minute of all cores; see make test-long"]
fn a_host_of_sixty_four_that_goes_is_known_to_all() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    all_know_of_a_lost_host(64, Going::Killed);
    all_know_of_a_lost_host(64, Going::Unplugged);
}

/// The adapter of the host of a process.
pub fn adapter_beside(process: Pid) -> Pid {
    let net = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/net")).ok();
    let own = net(&process.as_raw_pid().to_string());
    let all = std::fs::read_dir("/proc").unwrap();
    let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut found = names.filter(|pid| {
        let comm = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        comm.is_ok_and(|comm| comm.trim() == "hw-adapter") && net(pid) == own
    });
    Pid::from_raw(found.next().unwrap().parse().unwrap()).unwrap()
}

/// No process of a host gets a turn for several times the time that silence may last, but its kernel answers: no PE
/// takes it for lost.
#[test]
fn a_host_whose_processes_get_no_turn_is_not_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "1")];
    for (wire, pes, options) in [
        ("ether", 2, &[][..]),
        ("udp", 4, &["--hosts", "2"]),
        ("tcp", 2, &[]),
    ] {
        let steady = Steady::start_program_over(wire, pes, options, &variables);
        let mut there = steady.pids[pes as usize / 2..].to_vec();
        if !options.is_empty() {
            there.push(adapter_beside(there[0]));
        }
        for signal in [Signal::STOP, Signal::CONT] {
            for process in &there {
                kill_process(*process, signal).unwrap();
            }
            if signal == Signal::STOP {
                std::thread::sleep(Duration::from_secs(4));
            }
        }
        steady.end_well();
    }
}

/// A PE that is stopped does not end, and its host answers. It is lost only if its silence lasts ten times as long. The
/// text says what may cause that and what sets the time.
#[test]
fn a_host_that_is_stopped_for_long_is_lost_by_its_silence() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "1")];
    for wire in ["ether", "tcp"] {
        let mut steady = Steady::start_program_over(wire, 2, &["--keep-going"], &variables);
        let begin = Instant::now();
        steady.signal(1, Signal::STOP);
        let seen = steady.line();
        // Silence cannot be noticed before it has lasted.
        assert!(begin.elapsed() >= Duration::from_secs(10), "{seen}");
        for part in [
            "PE 0 saw: PE 1 on host1 is lost: it has not been heard for ",
            " s, although its host answers: its process is stopped or gets no processor, ",
            "A PE whose host answers is given up after 10 times HOSTWIRE_LOST_AFTER seconds",
        ] {
            assert!(seen.contains(part), "{seen}");
        }
        steady.signal(1, Signal::CONT);
        let ended = steady.end_by_itself();
        assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
    }
}

/// Its host does not answer either. It is lost after the time that is set, not after ten times as much.
#[test]
fn a_cable_that_is_out_for_long_is_a_loss() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "3")];
    for wire in ["ether", "udp"] {
        let mut steady = Steady::start_program_over(wire, 2, &["--keep-going"], &variables);
        let begin = Instant::now();
        steady.on_host_of(0, &["ip", "link", "set", "wire", "down"]);
        let seen = steady.line();
        let lasted = begin.elapsed();
        let limits = Duration::from_secs(3)..Duration::from_secs(30);
        assert!(limits.contains(&lasted), "{lasted:?}: {seen}");
        for part in [
            " is lost: it has not been heard for ",
            " s, and its host does not answer either: ",
            "A PE is given up after HOSTWIRE_LOST_AFTER seconds",
        ] {
            assert!(seen.contains(part), "{seen}");
        }
        let ended = steady.end_by_itself();
        assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
    }
}

/// More keepalive probes stay without an answer than Linux allows by default. That ends no control connection: no PE
/// takes a pulled cable for the end of a process, and a true end is seen when the cable is back.
#[test]
fn a_cable_that_is_out_ends_no_control_connection() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let (goes_on, script) = shell_that_goes_on();
    let options = ["--keep-going"];
    let mut steady = Steady::start_command(2, &options, &NOT_BY_SILENCE, &["sh", "-c", &script]);
    steady.on_host_of(0, &["ip", "link", "set", "wire", "down"]);
    // 9 questions, one a second.
    std::thread::sleep(Duration::from_secs(13));
    steady.on_host_of(0, &["ip", "link", "set", "wire", "up"]);
    steady.signal(1, Signal::KILL);
    assert_eq!(
        steady.line(),
        "PE 0 saw: PE 1 on host1 is lost: its process has ended"
    );
    drop(goes_on);
    steady.end_by_itself();
}

/// Without --keep-going the launcher ends all of them.
#[test]
fn the_job_ends_with_its_pe() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start(4, &[], &[]);
    steady.signal(2, Signal::KILL);
    let ended = steady.end_by_itself();
    assert_eq!(ended.status, 137, "{ended:#?}");
    assert!(
        ended.stderr.contains("PE 2 was killed by SIGKILL"),
        "{ended:#?}"
    );
}
