//! Networks that change or lose much under a job. `docs/bad-networks.md` says what jobs survive.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::hosts::{Steady, may_make_hosts};
use crate::job::Ended;
use crate::lost::adapter_beside;
use crate::programs::{fault_probe, run};

impl Steady {
    /// Waits until many more packets have come to the host of a PE than lost ones that are sent again.
    fn wait_for_traffic(&self, pe: usize) {
        let begin = Instant::now();
        let end = self.packets(pe) + 2000;
        while self.packets(pe) < end {
            assert!(begin.elapsed() < Duration::from_secs(120), "no traffic");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Packets that have come to the host of a PE.
    fn packets(&self, pe: usize) -> u64 {
        let table = self.on_host_of(pe, &["cat", "/proc/self/net/dev"]).stdout;
        let mut wire = table
            .lines()
            .filter_map(|line| line.trim().strip_prefix("wire:"));
        let counters = wire.next().unwrap();
        counters.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// The host of a PE, which is alone there or the first of two, gets another IP address. For a moment it has none.
    fn change_address(&self, host: usize, pe: usize) {
        let (old, new) = (
            format!("10.9.0.{}/24", host + 1),
            format!("10.9.0.{}/24", host + 71),
        );
        self.on_host_of(pe, &["ip", "address", "delete", &old, "dev", "wire"]);
        self.on_host_of(pe, &["ip", "address", "add", &new, "dev", "wire"]);
    }
}

/// Checks that a peer was found at a new address.
fn assert_moved(ended: &Ended) {
    assert!(
        ended.stderr.contains("peers at a new address"),
        "{ended:#?}"
    );
}

const PATIENT: [(&str, &str); 1] = [("HOSTWIRE_LOST_AFTER", "20")];

/// Either host, the one that calls with `tcp` and the other one; with an endpoint in the PE and in an adapter.
#[test]
fn a_host_whose_address_changes_is_found_again() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "6")];
    for (wire, pes, host) in [("udp", 2, 0), ("udp", 4, 1), ("tcp", 2, 0), ("tcp", 4, 1)] {
        let options = ["--hosts", "2", "--stats"];
        let steady = Steady::start_program_over(wire, pes, &options, &variables);
        steady.change_address(host, host * pes as usize / 2);
        steady.wait_for_traffic(0);
        assert_moved(&steady.end_well());
    }
}

#[test]
fn a_host_whose_mac_address_changes_is_found_again() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in ["ether", "udp", "tcp"] {
        let steady = Steady::start_program_over(wire, 2, &["--stats"], &PATIENT);
        for pe in [1, 0] {
            let mac = format!("02:00:00:00:77:0{pe}");
            steady.on_host_of(pe, &["ip", "link", "set", "wire", "address", &mac]);
            steady.wait_for_traffic(0);
        }
        let ended = steady.end_well();
        if wire == "ether" {
            assert_moved(&ended);
        }
    }
}

/// The control connection of the two hosts is over, and still a process that is stopped is not lost.
#[test]
fn a_process_is_stopped_after_a_change_of_address() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "3")];
    let steady = Steady::start_program_over("udp", 2, &[], &variables);
    steady.change_address(1, 1);
    steady.wait_for_traffic(0);
    for pe in [1, 0] {
        steady.signal(pe, Signal::STOP);
        std::thread::sleep(Duration::from_secs(7));
        steady.signal(pe, Signal::CONT);
        steady.wait_for_traffic(0);
    }
    steady.end_well();
}

/// Nothing shows that frames from the new address are the peer's.
#[test]
fn without_encryption_a_new_address_is_a_loss() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "3")];
    let options = ["--insecure-wire", "--keep-going"];
    let steady = Steady::start_program_over("udp", 2, &options, &variables);
    steady.change_address(1, 1);
    let ended = steady.end_by_itself();
    assert!(
        ended.stdout.contains("PE 0 saw: PE 1 on host1 is lost: "),
        "{ended:#?}"
    );
    assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
}

/// The port of the switch to a host forwards nothing more to it, and all that comes from it.
fn deafen(steady: &Steady, host: u32) {
    let port = format!("port{host}");
    let deaf = [
        &[
            "ip",
            "link",
            "set",
            &port,
            "type",
            "bridge_slave",
            "learning",
            "off",
            "flood",
            "off",
        ][..],
        &["mcast_flood", "off", "bcast_flood", "off", "fdb_flush"],
    ]
    .concat();
    // The launcher holds the namespace of the switch.
    let fds = format!("/proc/{}/fd", steady.launcher().as_raw_pid());
    let fds = std::fs::read_dir(fds).unwrap().map(|fd| fd.unwrap().path());
    let is_namespace = |path: &std::path::PathBuf| {
        std::fs::read_link(path).is_ok_and(|to| to.to_string_lossy().starts_with("net:"))
    };
    let done = fds.filter(is_namespace).filter(|path| {
        let net = format!("--net={}", path.display());
        run("nsenter", &[&[&net[..]], &deaf[..]].concat()).status == 0
    });
    assert_eq!(done.count(), 1, "the namespace of the switch");
}

/// One host hears nothing more, and is heard by the others: each of both ends sees the other one lost, in time.
#[test]
fn loss_in_one_direction_is_a_loss_at_both_ends() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "3")];
    for (wire, deaf) in [("ether", 1), ("udp", 0), ("tcp", 1)] {
        let options = ["--hosts", "3", "--keep-going"];
        let mut steady = Steady::start_program_over(wire, 3, &options, &variables);
        let begin = Instant::now();
        deafen(&steady, deaf);
        let mut lines = [(); 3].map(|()| steady.line());
        let lasted = begin.elapsed();
        let limits = Duration::from_secs(3)..Duration::from_secs(60);
        assert!(limits.contains(&lasted), "{lasted:?}: {lines:?}");
        lines.sort_unstable();
        for (pe, line) in lines.iter().enumerate() {
            assert!(line.starts_with(&format!("PE {pe} saw: PE ")), "{lines:?}");
        }
        // Who gives up first is not determined, and the others may hear of its end instead.
        let by_silence = "A PE is given up after HOSTWIRE_LOST_AFTER seconds";
        let lost = |line: &String| line.contains(" is lost: ") && line.contains(by_silence);
        assert!(lines.iter().any(lost), "{lines:?}");
        steady.end_by_itself();
    }
}

/// Of the frames of each direction, three in ten. Half of all questions stay without an answer.
#[test]
fn three_frames_in_ten_are_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let program = [&fault_probe()[..], "steady", "20000", "5"];
    let variables = [("HOSTWIRE_FAULTS", "drop=0.3,seed=12")];
    for wire in ["ether", "udp", "tcp"] {
        let ended = Steady::start_over(wire, 2, &["--stats"], &variables, &program).end_well();
        assert!(ended.stderr.contains("faults injected"), "{ended:#?}");
    }
}

/// A job on two hosts with a second cable between them, `spare`, that is out.
fn with_two_cables(wire: &str) -> Steady {
    // The script is the process of the PE, and says so before the program can.
    let script = format!(
        "echo \"PE $PMI_RANK is process $$\"; until ip link show spare >/dev/null 2>&1; do sleep 0.02; done; \
         until ip link show spare | grep -q ,UP; do sleep 0.02; done; \
         HOSTWIRE_IFACE=wire,spare exec {} steady 20000",
        fault_probe()
    );
    let mut steady = Steady::start_over(wire, 2, &["--stats"], &PATIENT, &["sh", "-c", &script]);
    let pids: Vec<String> = steady
        .pids
        .iter()
        .map(|pid| pid.as_raw_pid().to_string())
        .collect();
    let cable = [
        "ip", "link", "add", "spare", "netns", &pids[0], "type", "veth", "peer", "name", "spare",
    ];
    let made = run(cable[0], &[&cable[1..], &["netns", &pids[1]]].concat());
    assert_eq!(made.status, 0, "{made:#?}");
    for pe in [0, 1] {
        let address = format!("10.8.0.{}/24", pe + 1);
        steady.on_host_of(pe, &["ip", "address", "add", &address, "dev", "spare"]);
    }
    // An interface that is up without a cable cannot be had here: both ends are up until the job runs.
    for pe in [0, 1] {
        steady.on_host_of(pe, &["ip", "link", "set", "spare", "up"]);
    }
    for _ in 0..2 {
        let line = steady.line();
        assert!(line.contains(" is process "), "{line}");
    }
    steady
}

/// The only cable moves from one interface to the other, and back.
#[test]
fn a_cable_moves_between_interfaces() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in ["ether", "udp", "tcp", "xdp"] {
        let steady = with_two_cables(wire);
        // The far end pulls it, so here the interface stays up without a carrier.
        let set = |cable: &str, state: &str| {
            steady.on_host_of(1, &["ip", "link", "set", cable, state]);
        };
        set("spare", "down");
        steady.wait_for_traffic(0);
        for (from, to) in [("wire", "spare"), ("spare", "wire"), ("wire", "spare")] {
            set(from, "down");
            std::thread::sleep(Duration::from_millis(300));
            set(to, "up");
            std::thread::sleep(Duration::from_millis(700));
        }
        steady.end_well();
    }
}

/// As long as a user may take to find a cable, with all settings as they are without any.
#[test]
#[ignore = "20 s for each wire; see make test-long"]
fn processes_that_are_stopped_for_twenty_seconds_are_not_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for (wire, pes) in [("ether", 4), ("udp", 2), ("tcp", 4), ("xdp", 2)] {
        let steady = Steady::start_program_over(wire, pes, &["--hosts", "2"], &[]);
        let there = &steady.pids[pes as usize / 2..];
        let adapter = (pes == 4).then(|| adapter_beside(there[0]));
        let all: Vec<Pid> = there.iter().copied().chain(adapter).collect();
        let send = |signal: Signal| {
            all.iter()
                .for_each(|pid| kill_process(*pid, signal).unwrap())
        };
        send(Signal::STOP);
        std::thread::sleep(Duration::from_secs(20));
        send(Signal::CONT);
        steady.end_well();
    }
}

/// Its PEs have turns, and no way to others.
#[test]
#[ignore = "20 s; see make test-long"]
fn an_adapter_that_is_stopped_for_twenty_seconds_is_not_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start_program_over("udp", 4, &["--hosts", "2"], &[]);
    let adapter = adapter_beside(steady.pids[0]);
    kill_process(adapter, Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_secs(20));
    kill_process(adapter, Signal::CONT).unwrap();
    steady.end_well();
}

/// Longer than the default allows. Who expects this says so.
#[test]
#[ignore = "20 s for each wire; see make test-long"]
fn a_cable_that_is_out_for_twenty_seconds() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for wire in ["ether", "udp", "tcp"] {
        let patient = [("HOSTWIRE_LOST_AFTER", "40")];
        let steady = Steady::start_program_over(wire, 2, &[], &patient);
        steady.on_host_of(0, &["ip", "link", "set", "wire", "down"]);
        std::thread::sleep(Duration::from_secs(20));
        steady.on_host_of(0, &["ip", "link", "set", "wire", "up"]);
        steady.end_well();
    }
}
