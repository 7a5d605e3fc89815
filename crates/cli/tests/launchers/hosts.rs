//! A job whose PEs cannot share memory.

use std::process::{Command, Stdio};

use hostwire_transport::os::process::die_with_parent;

use crate::job::{Ended, Job};
use crate::programs::{fault_probe, is_installed, run_script};
use crate::slurm::may_make_namespaces;

/// PE 1 of 3 on a host of its own, as far as sharing memory goes: another network
/// namespace.
#[test]
fn a_job_that_spans_hosts_is_told_which_pe_is_where() {
    if !may_make_namespaces() {
        return;
    }
    let ended = run_script(
        "exec $HOSTWIRE run -n 3 --keep-going sh -c '\
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
    assert_eq!(said("the wire ether is needed"), 1, "{ended:#?}");
    assert_eq!(said("PE 1 runs on far, "), 1, "{ended:#?}");
    assert_eq!(said("see what PE 0 says"), 2, "{ended:#?}");
}

/// Runs a command on the host fa of hosts.sh. `None` where that cannot be.
fn on_two_hosts(command: &[&str]) -> Option<Ended> {
    if !may_make_namespaces() || !is_installed("ip", "iproute2") {
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/hosts.sh");
    let namespaces = [
        "--mount",
        "--net",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
    ];
    let mut unshare = Command::new("unshare");
    unshare
        .args(namespaces)
        .args(["bash", script])
        .args(command)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut unshare);
    Some(Job::start(unshare).end())
}

/// Two PEs on each of two hosts.
const LAUNCHERS: [(&str, &str, &str, &[&str]); 2] = [
    (
        "mpirun.openmpi",
        "openmpi-bin",
        "PMIx",
        &[
            "--mca",
            "plm_rsh_agent",
            "/run/agent",
            "--mca",
            "oob_tcp_if_include",
            "10.9.0.0/24",
            "--bind-to",
            "none",
            "-H",
            "fa:2,fb:2",
            "-np",
            "4",
        ],
    ),
    (
        "mpiexec.hydra",
        "mpich",
        "PMI-1",
        &[
            "-launcher",
            "ssh",
            "-launcher-exec",
            "/run/agent",
            "-hosts",
            "fa:2,fb:2",
            "-n",
            "4",
        ],
    ),
];

#[test]
fn pes_of_two_hosts_exchange_bytes_and_know_who_is_where() {
    for (launcher, package, name, options) in LAUNCHERS {
        if !is_installed(launcher, package) {
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
        assert_ne!(ended.status, 0, "{ended:#?}");
        assert!(!ended.stdout.contains("has met all"), "{ended:#?}");
    }
}
