//! The same on two hosts: those of the tests of `hostwire run`, `fa` and `fb`, made of network namespaces.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use hostwire_testing::{is_installed, left_out, need, open_mpi_5, or_long};
use tempfile::TempDir;

use super::{
    MPI_PROGRAMS, OPEN_MPI_TAKES_IT, assert_fine, compiled, folder, mpich_over_libfabric,
    with_provider,
};

/// Makes the hosts and runs a command on the first.
const HOSTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tools/cli/tests/launchers/hosts.sh"
);
/// Frames that are lost, damaged, late and doubled on their way, in both directions.
const FAULTS: &str = "drop=0.005,dup=0.005,reorder=0.01,flip=0.005,seed=7";

/// Whether there can be hosts. Says so if not.
fn can_be_made() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    if !is_installed("ip", &need::IP) {
        return false;
    }
    *CAN.get_or_init(|| {
        let tried = Command::new("bash").args([HOSTS, "true"]).output().unwrap();
        if !tried.status.success() {
            let why = String::from_utf8_lossy(&tried.stderr).into_owned();
            left_out(&need::NAMESPACES, format!("no hosts can be made: {why}"));
        }
        tried.status.success()
    })
}

/// A command on the first host.
fn on_two_hosts(folder: &TempDir, command: &[&str]) -> Command {
    let mut hosts = with_provider(folder, "bash");
    hosts.arg(HOSTS).args(command);
    hosts
}

#[test]
fn fi_pingpong_checks_its_data_between_hosts() {
    if !is_installed("fi_pingpong", &need::LIBFABRIC_TOOLS) || !can_be_made() {
        return;
    }
    let folder = folder();
    // Its own connection is of TCP: the client does not try again. Each host has ports of its own.
    let script = "set -e; run='fi_pingpong -p hostwire -e rdm -c -I 20 -m '$0\n\
                  ip netns exec fb $run -B 4711 & server=$!\n\
                  until ip netns exec fb grep -q ':1267 .* 0A ' /proc/net/tcp; do kill -0 $server || exit 3; sleep 0.05; done\n\
                  $run -P 4711 10.9.0.2; wait $server";
    for messages in ["tagged", "msg"] {
        let output = on_two_hosts(&folder, &["bash", "-c", script, messages]).output();
        let table = assert_fine(&output.unwrap());
        for size in ["64 ", "64k", "1m"] {
            // Both say it.
            let lines = table.lines().filter(|line| line.starts_with(size));
            assert_eq!(lines.count(), 2, "{size} in {table}");
        }
    }
}

/// Two of the processes are on each host, and one is killed while all do everything.
#[test]
fn kill_9_is_an_error_for_what_needs_that_process_and_nothing_else_on_two_hosts() {
    if !can_be_made() {
        return;
    }
    let folder = folder();
    let program = match compiled("cc", "kills", &["-lfabric", "-pthread"], &folder) {
        Ok(program) => program,
        Err(why) => return left_out(&need::LIBFABRIC_HEADERS, why),
    };
    let command = [program.to_str().unwrap(), "/run/netns/fb"];
    for &wire in or_long(&["udp"][..], &["udp", "ether", "tcp"]) {
        let mut hosts = on_two_hosts(&folder, &command);
        let output = hosts.env("HOSTWIRE_WIRE", wire).output().unwrap();
        assert_eq!(assert_fine(&output), "ok\n", "{wire}");
    }
}

#[test]
fn open_mpi_runs_over_it_on_two_hosts() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) || !can_be_made() {
        return;
    }
    let folder = folder();
    for name in MPI_PROGRAMS {
        let program = match compiled("mpicc.openmpi", name, &[], &folder) {
            Ok(program) => program,
            Err(why) => return left_out(&need::OPEN_MPI_HEADERS, why),
        };
        let program = program.to_str().unwrap();
        for (ranks, wire, faults) in [
            ("2", "udp", FAULTS),
            ("4", "udp", ""),
            ("2", "ether", FAULTS),
            ("4", "ether", ""),
        ] {
            let mpirun = [
                "mpirun.openmpi",
                "-x",
                "FI_PROVIDER_PATH",
                "-x",
                "HOSTWIRE_FAULTS",
                "-x",
                "HOSTWIRE_WIRE",
            ];
            let chosen: Vec<&str> = OPEN_MPI_TAKES_IT.split_whitespace().collect();
            let here = ["-H", "fa:2,fb:2", "-np", ranks, program];
            let command = [&mpirun[..], &chosen, &here].concat();
            let output = on_two_hosts(&folder, &command)
                .env("HOSTWIRE_FAULTS", faults)
                .env("HOSTWIRE_WIRE", wire)
                .output()
                .unwrap();
            assert_eq!(assert_fine(&output), format!("ok {ranks}\n"), "{wire}");
        }
    }
}

#[test]
fn open_mpi_5_runs_over_it_on_two_hosts() {
    let tools = match open_mpi_5() {
        Ok(tools) if can_be_made() => tools,
        Ok(_) => return,
        Err(why) => return left_out(&need::OPEN_MPI_5, why),
    };
    let folder = folder();
    for name in MPI_PROGRAMS {
        let here = ["-H", "fa:2,fb:2", "-np", "4"];
        let output = open_mpi_5_of(&tools, &folder, name, &here).output();
        assert_eq!(assert_fine(&output.unwrap()), "ok 4\n");
    }
}

/// It runs one of our programs, which is compiled now.
fn open_mpi_5_of(tools: &Path, folder: &TempDir, name: &str, here: &[&str]) -> Command {
    let (compiler, mpirun) = (tools.join("mpicc"), tools.join("mpirun"));
    let program = compiled(compiler.to_str().unwrap(), name, &[], folder).unwrap();
    let mut hosts = on_two_hosts(folder, &[mpirun.to_str().unwrap()]);
    hosts
        .args(["-x", "FI_PROVIDER_PATH"])
        .args(OPEN_MPI_TAKES_IT.split_whitespace())
        .args(here)
        .arg(&program);
    hosts
}

#[test]
fn what_open_mpi_5_could_not_read_ends_the_job() {
    let tools = match open_mpi_5() {
        Ok(tools) if can_be_made() => tools,
        Ok(_) => return,
        Err(why) => return left_out(&need::OPEN_MPI_5, why),
    };
    let folder = folder();
    // Its host answers: it is lost after ten times that.
    let lost_after = "HOSTWIRE_LOST_AFTER=1";
    let here = ["-x", lost_after, "-H", "fa:1,fb:1", "-np", "2"];
    let output = open_mpi_5_of(&tools, &folder, "mpi_stopped", &here).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("Connection timed out"), "{said}");
    assert!(!said.contains("line "), "{said}");
}

#[test]
fn mpich_runs_over_it_on_two_hosts() {
    let tools = match mpich_over_libfabric() {
        Ok(tools) if can_be_made() => tools,
        Ok(_) => return,
        Err(why) => return left_out(&need::MPICH_OVER_LIBFABRIC, why),
    };
    let folder = folder();
    let (compiler, mpiexec) = (tools.join("mpicc"), tools.join("mpiexec"));
    for name in MPI_PROGRAMS {
        let program = compiled(compiler.to_str().unwrap(), name, &[], &folder).unwrap();
        // Within a host by MPICH's own shared memory, and not.
        for no_local in ["0", "1"] {
            let output = on_two_hosts(&folder, &[mpiexec.to_str().unwrap()])
                .args(["-hosts", "fa:2,fb:2", "-n", "4"])
                .arg(&program)
                .env("FI_PROVIDER", "hostwire")
                .env("MPIR_CVAR_CH4_NETMOD", "ofi")
                .env("MPIR_CVAR_NOLOCAL", no_local)
                .output()
                .unwrap();
            assert_eq!(assert_fine(&output), "ok 4\n");
        }
    }
}

/// A wire that `HOSTWIRE_WIRE` does not allow is refused, and not waited for.
#[test]
fn who_may_not_leave_its_host_is_told() {
    if !is_installed("fi_pingpong", &need::LIBFABRIC_TOOLS) || !can_be_made() {
        return;
    }
    let folder = folder();
    let script = "run='fi_pingpong -p hostwire -e rdm -I 20'\n\
                  ip netns exec fb $run -B 4711 & server=$!\n\
                  until ip netns exec fb grep -q ':1267 .* 0A ' /proc/net/tcp; do kill -0 $server || exit 3; sleep 0.05; done\n\
                  HOSTWIRE_WIRE=shm timeout 60 $run -P 4711 10.9.0.2; echo status $?; kill $server";
    let output = on_two_hosts(&folder, &["bash", "-c", script])
        .output()
        .unwrap();
    let (said, why) = (output.stdout, output.stderr);
    let (said, why) = (
        String::from_utf8_lossy(&said),
        String::from_utf8_lossy(&why),
    );
    let status = said.lines().find_map(|line| line.strip_prefix("status "));
    let status: Option<u32> = status.and_then(|status| status.parse().ok());
    // Neither done, nor ended by the time limit or a signal.
    let is_refused = status.is_some_and(|status| status != 0 && status < 124);
    assert!(is_refused, "{said}\n{why}");
}
