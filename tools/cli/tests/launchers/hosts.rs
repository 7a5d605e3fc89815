//! A job whose PEs cannot share memory.

use std::process::{Command, Stdio};

use hostwire_testing::{Need, is_installed, left_out, need};
use hostwire_transport::os::process::die_with_parent;

use crate::assert_fine;
use crate::job::{Ended, Job};
use crate::programs::{fault_probe, run_script};
use crate::slurm::{self, may_make_namespaces};

/// PE 1 of 3 on a host of its own, as far as sharing memory goes: another network
/// namespace.
#[test]
fn a_job_that_spans_hosts_is_told_which_pe_is_where() {
    if !may_make_namespaces() {
        return;
    }
    let ended = run_script(
        "exec $HOSTWIRE run -n 3 --wire shm --keep-going sh -c '\
         [ $PMI_RANK = 1 ] || exec \"$0\" everything; \
         exec unshare --uts --net sh -c \"hostname far; exec $0 everything\"' $PROBE",
    );
    assert_ne!(ended.status, 0, "{ended:#?}");
    assert_eq!(ended.stdout, "", "{ended:#?}");
    let said = |word: &str| ended.stderr.matches(word).count();
    assert_eq!(said("the job spans 2 network namespaces"), 3, "{ended:#?}");
    // The whole text once.
    assert_eq!(said("PEs 0, 2 on "), 1, "{ended:#?}");
    assert_eq!(said("; PE 1 on far; "), 1, "{ended:#?}");
    assert_eq!(
        said("HOSTWIRE_WIRE has to be auto, ether, xdp, udp, tcp, window or fabric"),
        1,
        "{ended:#?}"
    );
    assert_eq!(said("PE 1 runs on far, "), 1, "{ended:#?}");
    assert_eq!(said("see what PE 0 says"), 2, "{ended:#?}");
}

/// Runs a command on the host fa of hosts.sh. `None` where that cannot be.
pub fn on_two_hosts(command: &[&str]) -> Option<Ended> {
    if !may_make_namespaces() || !is_installed("ip", &need::IP) {
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/hosts.sh");
    let mut hosts = Command::new("bash");
    hosts
        .arg(script)
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut hosts);
    Some(Job::start(hosts).end())
}

/// Two PEs on each of two hosts.
const LAUNCHERS: [(&str, Need, &str, &[&str]); 2] = [
    (
        "mpirun.openmpi",
        need::OPEN_MPI,
        "PMIx",
        &["-H", "fa:2,fb:2", "-np", "4"],
    ),
    (
        "mpiexec.hydra",
        need::MPICH,
        "PMI-1",
        &["-hosts", "fa:2,fb:2", "-n", "4"],
    ),
];

#[test]
fn pes_of_two_hosts_exchange_bytes_and_know_who_is_where() {
    for (launcher, need, name, options) in LAUNCHERS {
        if !is_installed(launcher, &need) {
            continue;
        }
        let probe = fault_probe();
        let start = |what| on_two_hosts(&[&[launcher], options, &[&probe, what]].concat());
        let Some(ended) = start("blobs") else {
            return;
        };
        assert_eq!(ended.status, 0, "{ended:#?}");
        let expected: Vec<String> = (0..4)
            .map(|pe| format!("PE {pe} of 4 over {name}, nodes: 2"))
            .collect();
        assert_eq!(ended.sorted_lines(), expected, "{ended:#?}");

        let Some(ended) = start("meet") else {
            return;
        };
        assert_eq!(ended.status, 0, "{ended:#?}");
        assert_eq!(ended.stdout.matches("has met all").count(), 4, "{ended:#?}");

        let one_host = [("HOSTWIRE_WIRE", "shm")];
        let Some(ended) = start_on_two_hosts((launcher, options), &one_host, &["meet"]) else {
            return;
        };
        assert_ne!(ended.status, 0, "{ended:#?}");
        assert!(!ended.stdout.contains("has met all"), "{ended:#?}");
    }
}

/// What makes a launcher set these variables for its PEs.
fn with_environment(launcher: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let setting = |(name, value): &(&str, &str)| match launcher {
        "mpirun.openmpi" => ["-x".to_owned(), format!("{name}={value}")].to_vec(),
        _ => ["-genv", name, value].map(str::to_owned).to_vec(),
    };
    variables.iter().flat_map(setting).collect()
}

/// As `start` above, with variables.
fn start_on_two_hosts(
    launcher: (&str, &[&str]),
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> Option<Ended> {
    let (launcher, options) = launcher;
    let variables = with_environment(launcher, variables);
    let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
    let probe = fault_probe();
    on_two_hosts(&[&[launcher], options, &variables, &[&probe], arguments].concat())
}

/// Two PEs on each of two hosts do everything with each other, over each wire.
#[test]
fn one_job_on_two_hosts() {
    for (launcher, need, _, options) in LAUNCHERS {
        if !is_installed(launcher, &need) {
            continue;
        }
        for (wire, insecure) in [
            ("ether", "0"),
            ("udp", "0"),
            ("tcp", "0"),
            ("ether", "1"),
            ("tcp", "1"),
        ] {
            let variables = [
                ("HOSTWIRE_WIRE", wire),
                ("HOSTWIRE_INSECURE_WIRE", insecure),
            ];
            let ended = start_on_two_hosts((launcher, options), &variables, &["everything"]);
            let Some(ended) = ended else {
                return;
            };
            assert_fine(&ended, 4);
            // PE 0 prints it, because here the launcher is not `hostwire run`.
            let warning = "hostwire: warning: HOSTWIRE_INSECURE_WIRE=1: anybody on the network";
            let warned = ended.stderr.matches(warning).count();
            assert_eq!(warned, usize::from(insecure == "1"), "{ended:#?}");
        }
    }
}

/// Another EtherType and the interface by name.
#[test]
fn interface_and_ethertype_may_be_set() {
    let (launcher, need, _, options) = LAUNCHERS[0];
    if !is_installed(launcher, &need) {
        return;
    }
    let common = [("HOSTWIRE_WIRE", "ether")];
    let start = |more: &[(&str, &str)]| {
        let variables = [&common, more].concat();
        start_on_two_hosts((launcher, options), &variables, &["everything"])
    };
    let named = [("HOSTWIRE_IFACE", "wire"), ("HOSTWIRE_ETHERTYPE", "0x88b6")];
    let Some(ended) = start(&named) else {
        return;
    };
    assert_fine(&ended, 4);

    let Some(ended) = start(&[("HOSTWIRE_IFACE", "eth7")]) else {
        return;
    };
    assert_ne!(ended.status, 0, "{ended:#?}");
    let text = "there is no \"eth7\" (HOSTWIRE_IFACE); the Ethernet interfaces that are up: wire";
    assert!(ended.stderr.contains(text), "{ended:#?}");
}

/// Two cables at once; one of them is pulled while bytes travel, and put in again.
#[test]
fn a_job_uses_two_cables_and_goes_on_over_one() {
    let (launcher, need, _, options) = LAUNCHERS[0];
    if !is_installed(launcher, &need) {
        return;
    }
    let plug =
        |state: &str| format!("ip link set spare {state}; /run/agent fb ip link set spare {state}");
    // From the first round on: to join, PEs need all interfaces.
    let script = format!(
        "{up}; touch /run/said; (until grep -q \" is process \" /run/said; do sleep 0.05; done; \
         for _ in 1 2 3; do {down}; sleep 0.3; {up}; sleep 0.2; done) & \
         \"$@\" | tee /run/said; status=${{PIPESTATUS[0]}}; cat /sys/class/net/spare/statistics/tx_packets; exit $status",
        up = plug("up"),
        down = plug("down"),
    );
    for wire in ["ether", "udp", "tcp", "xdp"] {
        let variables = [("HOSTWIRE_WIRE", wire), ("HOSTWIRE_IFACE", "wire,spare")];
        let variables = with_environment(launcher, &variables);
        let variables: Vec<&str> = variables.iter().map(String::as_str).collect();
        let probe = fault_probe();
        let rounds = [probe.as_str(), "steady", "20000", "400"];
        let shell = ["bash", "-c", &script, "bash", launcher];
        let Some(ended) = on_two_hosts(&[&shell, options, &variables, &rounds].concat()) else {
            return;
        };
        assert_eq!(ended.status, 0, "{ended:#?}");
        assert_eq!(ended.stdout.matches(" is fine").count(), 4, "{ended:#?}");
        let frames = ended
            .stdout
            .lines()
            .find_map(|line| line.parse::<u64>().ok());
        assert!(frames.is_some_and(|frames| frames > 100), "{ended:#?}");
    }
}

/// Open MPI's command line for a program of 4 PEs on both hosts, as words of a shell. Jobs that run at the same time have
/// sessions of different names, see `hostwire_testing::own_session`.
fn mpirun_line(session: &str, program: &str) -> String {
    let (launcher, _, _, options) = LAUNCHERS[0];
    let variables = [("HOSTWIRE_WIRE", "ether"), ("HOSTWIRE_STATS", "1")];
    let variables = with_environment(launcher, &variables).join(" ");
    let options = options.join(" ");
    format!(
        "OMPI_MCA_orte_tmpdir_base=/run/tmp/{session} {launcher} {options} {variables} {} {program}",
        fault_probe()
    )
}

/// Runs a script on the host fa. `None` where that cannot be.
fn script_on_two_hosts(script: &str) -> Option<Ended> {
    let (launcher, need, _, _) = LAUNCHERS[0];
    if !is_installed(launcher, &need) {
        return None;
    }
    on_two_hosts(&["bash", "-c", script])
}

/// All PEs of these jobs have seen the right bytes only.
fn assert_all_fine(ended: &Ended, jobs: usize) {
    assert_eq!(ended.status, 0, "{ended:#?}");
    for pe in 0..4 {
        let line = format!("PE {pe} of 4 is fine\n");
        assert_eq!(ended.stdout.matches(&line).count(), jobs, "{ended:#?}");
    }
}

#[test]
fn two_jobs_on_one_interface() {
    let [one, other] = ["one", "other"].map(|session| mpirun_line(session, "steady 20000"));
    // Both go on until neither has just begun.
    let script =
        format!("{one} < <(sleep 3) & first=$!; {other} < <(sleep 3) & wait $first && wait $!");
    if let Some(ended) = script_on_two_hosts(&script) {
        assert_all_fine(&ended, 2);
    }
}

#[test]
fn frames_of_an_earlier_job_are_dropped() {
    // Enough rounds for the frames to be recorded, however slow the machine is.
    let (job, probe) = (mpirun_line("jobs", "steady 20000 100"), fault_probe());
    let script = format!(
        "{probe} frames record /run/frames 300 & \
         {job} < <(sleep 1) && wait $! && \
         {{ for _ in {{1..20}}; do {probe} frames replay /run/frames 3; sleep 0.1; done & }} && \
         {job} < <(sleep 3)"
    );
    if let Some(ended) = script_on_two_hosts(&script) {
        assert_all_fine(&ended, 2);
        assert!(ended.stderr.contains("dropped, "), "{ended:#?}");
    }
}

/// Two nodes of Slurm that do not share memory, with each of its plugins that can do it.
#[test]
fn slurm_on_two_hosts() {
    if !slurm::is_here() {
        return;
    }
    let slurm = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/slurm.sh");
    let probe = fault_probe();
    // Slurm takes longer to start than a job.
    let script = format!(
        "export HOSTWIRE_WIRE=ether; for plugin in pmi2 pmix; do \
         srun --mpi=list 2>&1 | grep -qw $plugin || {{ echo \"no $plugin\"; continue; }}; \
         srun --quiet -N2 -n4 --mpi=$plugin {probe} everything || exit; echo \"$plugin done\"; \
         done"
    );
    let Some(ended) = on_two_hosts(&["bash", slurm, "bash", "-c", &script]) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let said = |text: String| ended.stdout.lines().any(|line| line == text);
    let plugins = ["pmi2", "pmix"];
    let ran: Vec<&str> = plugins
        .into_iter()
        .filter(|p| said(format!("{p} done")))
        .collect();
    eprintln!(
        "ran on two hosts of Slurm: srun --mpi={}",
        ran.join(", --mpi=")
    );
    // Slurm has pmi2 always, and pmix if it finds the library.
    assert!(ran.contains(&"pmi2"), "{ended:#?}");
    if said("no pmix".to_owned()) {
        left_out(&need::SLURM_PMIX, "no PMIx for srun");
    } else {
        assert!(ran.contains(&"pmix"), "{ended:#?}");
    }
    for pe in 0..4 {
        let line = format!("PE {pe} of 4 is fine\n");
        assert_eq!(ended.stdout.matches(&line).count(), ran.len(), "{ended:#?}");
    }
}
