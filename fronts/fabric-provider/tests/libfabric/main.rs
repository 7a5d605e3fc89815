//! The provider as libfabric and MPI use it: loaded from a folder, by programs that know nothing of it.
#![cfg(target_os = "linux")]

mod hosts;

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use hostwire_testing::{
    built, is_installed, left_out, mpich_over_libfabric, need, open_mpi_5, own_session,
};
use tempfile::TempDir;

/// For a program that hangs. It is killed: a handler of one of libfabric's providers can keep a
/// process from ending by anything less.
const LIMIT_S: &str = "120";
const C: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/c");

/// A folder with the library under the name that libfabric looks for.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("libhostwire-fi.so");
    std::fs::copy(built::library("libhostwire_fi.so"), named).unwrap();
    folder
}

/// A command that finds the provider in `folder`, and is killed if it takes too long.
fn with_provider(folder: &TempDir, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", LIMIT_S]).arg(program);
    command.env("FI_PROVIDER_PATH", folder.path());
    command.stdin(Stdio::null());
    command
}

fn assert_fine(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{}\n{text}\n{errors}",
        output.status
    );
    text
}

#[test]
fn libfabric_lists_the_provider() {
    if !is_installed("fi_info", &need::LIBFABRIC_TOOLS) {
        return;
    }
    let folder = folder();
    let listed = with_provider(&folder, "fi_info")
        .args(["-p", "hostwire", "-v"])
        .output();
    let text = assert_fine(&listed.unwrap());
    let caps = text.lines().find(|line| line.contains("caps: [ FI_MSG"));
    let caps = caps.unwrap_or_else(|| panic!("{text}"));
    for one in [
        "FI_TAGGED",
        "FI_RMA",
        "FI_ATOMIC",
        "FI_RMA_EVENT",
        "FI_MULTI_RECV",
        "FI_DIRECTED_RECV",
        "FI_SOURCE",
        "FI_LOCAL_COMM",
        "FI_REMOTE_COMM",
    ] {
        assert!(caps.contains(one), "{one} in {caps}");
    }
    assert!(!caps.contains("FI_SHARED_AV"), "{caps}");
}

#[test]
fn fi_pingpong_checks_its_data() {
    if !is_installed("fi_pingpong", &need::LIBFABRIC_TOOLS) {
        return;
    }
    let folder = folder();
    for messages in ["tagged", "msg"] {
        // The port of its own connection; somebody else may take it meanwhile, but then both fail.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let run = || {
            let mut command = with_provider(&folder, "fi_pingpong");
            command.args([
                "-p", "hostwire", "-e", "rdm", "-c", "-I", "20", "-m", messages,
            ]);
            command
        };
        let mut server = run();
        server.args(["-B", &port.to_string()]);
        let server = server
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        // The client does not try again.
        let listens = || {
            let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
            // At any address: a station of another test may have that port at one.
            let local = format!(" 00000000:{port:04X} ");
            table
                .lines()
                .any(|line| line.contains(&local) && line.contains(" 0A "))
        };
        while !listens() {
            assert!(Instant::now() < deadline, "no server");
            std::thread::yield_now();
        }
        let client = run()
            .args(["-P", &port.to_string(), "127.0.0.1"])
            .output()
            .unwrap();
        let table = assert_fine(&client);
        assert_fine(&server.wait_with_output().unwrap());
        for size in ["64 ", "64k", "1m"] {
            assert!(
                table.lines().any(|line| line.starts_with(size)),
                "{size} in {table}"
            );
        }
    }
}

/// The program of this C file, or why it cannot be made.
fn compiled(
    compiler: &str,
    name: &str,
    options: &[&str],
    folder: &TempDir,
) -> Result<PathBuf, String> {
    let program = folder.path().join(name);
    let source = format!("{C}/{name}.c");
    let mut command = Command::new(compiler);
    command
        .args(["-O1", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(source);
    let output = command
        .args(options)
        .output()
        .map_err(|e| format!("{compiler}: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.success() {
        true => Ok(program),
        // What a machine may lack. Anything else is wrong with the program.
        false if said.contains("No such file or directory") => Err(said),
        false => panic!("{said}"),
    }
}

fn program_is_fine(name: &str) {
    let folder = folder();
    match compiled("cc", name, &["-lfabric", "-pthread"], &folder) {
        Ok(program) => {
            let output = with_provider(&folder, program).output().unwrap();
            assert_eq!(assert_fine(&output), "ok\n");
        }
        Err(why) => left_out(&need::LIBFABRIC_HEADERS, why),
    }
}

#[test]
fn a_program_does_all_that_is_offered() {
    program_is_fine("messages");
}

#[test]
fn a_program_waits_in_all_ways_that_are_offered() {
    program_is_fine("waits");
}

#[test]
fn a_program_closes_endpoints_whoever_is_at_them() {
    program_is_fine("closes");
}

#[test]
fn a_program_uses_memory_of_others_in_all_ways_that_are_offered() {
    program_is_fine("memory");
}

/// Whichever of four processes is killed, and whatever they do just then.
#[test]
fn kill_9_of_a_process_is_an_error_for_what_needs_it_and_for_nothing_else() {
    program_is_fine("kills");
}

/// Programs of MPI: messages, and memory of others.
const MPI_PROGRAMS: [&str; 2] = ["mpi", "mpi_memory"];
/// What Open MPI has to be told.
const OPEN_MPI_TAKES_IT: &str = "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hostwire --mca osc ^ucx \
     --mca btl_ofi_progress_mode auto";
/// The same, with its one-sided calls by the memory operations of libfabric and not by messages. Open MPI 5.0 takes
/// them by itself.
const OPEN_MPI_TAKES_MEMORY: &str = "--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include hostwire --mca osc rdma \
     --mca btl ofi,self --mca btl_ofi_provider_include hostwire --mca btl_ofi_progress_mode auto";

#[test]
fn open_mpi_runs_over_it() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) {
        return;
    }
    let folder = folder();
    for name in MPI_PROGRAMS {
        let program = match compiled("mpicc.openmpi", name, &[], &folder) {
            Ok(program) => program,
            Err(why) => return left_out(&need::OPEN_MPI_HEADERS, why),
        };
        for ranks in ["1", "2", "4"] {
            let mpirun = with_provider(&folder, "mpirun.openmpi");
            let mut mpirun = open_mpi(mpirun, &folder, OPEN_MPI_TAKES_IT, ranks, &program);
            let output = mpirun.output().unwrap();
            assert_eq!(assert_fine(&output), format!("ok {ranks}\n"));
        }
    }
}

/// By the memory operations of libfabric: [`OPEN_MPI_TAKES_MEMORY`].
#[test]
fn open_mpi_4_uses_memory_of_others_over_it() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) {
        return;
    }
    let folder = folder();
    let program = match compiled("mpicc.openmpi", "mpi_memory", &[], &folder) {
        Ok(program) => program,
        Err(why) => return left_out(&need::OPEN_MPI_HEADERS, why),
    };
    let mpirun = with_provider(&folder, "mpirun.openmpi");
    let mut mpirun = open_mpi(mpirun, &folder, OPEN_MPI_TAKES_MEMORY, "2", &program);
    let output = mpirun.output().unwrap();
    assert_eq!(assert_fine(&output), "ok 2\n");
}

/// Four ranks are on two hosts: its one-sided calls take long where there are fewer processors than threads.
#[test]
fn open_mpi_5_runs_over_it() {
    let tools = match open_mpi_5() {
        Ok(tools) => tools,
        Err(why) => return left_out(&need::OPEN_MPI_5, why),
    };
    let folder = folder();
    let compiler = tools.join("mpicc");
    for name in MPI_PROGRAMS {
        let program = compiled(compiler.to_str().unwrap(), name, &[], &folder).unwrap();
        for ranks in ["1", "2"] {
            let mpirun = with_provider(&folder, tools.join("mpirun"));
            let mut mpirun = open_mpi(mpirun, &folder, OPEN_MPI_TAKES_IT, ranks, &program);
            let output = mpirun.output().unwrap();
            assert_eq!(assert_fine(&output), format!("ok {ranks}\n"));
        }
    }
}

/// This `mpirun` of a program, over hostwire.
fn open_mpi(
    mut mpirun: Command,
    folder: &TempDir,
    options: &str,
    ranks: &str,
    program: &Path,
) -> Command {
    own_session(&mut mpirun, folder.path())
        .arg("--oversubscribe")
        .args(options.split_whitespace())
        .args(["-n", ranks])
        .arg(program);
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    mpirun
}

/// A rank or the launcher is killed. The MPI ends the others, and nothing of hostwire is left.
#[test]
fn kill_9_in_open_mpi_leaves_nothing() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) {
        return;
    }
    let folder = folder();
    let program = match compiled("mpicc.openmpi", "mpi_endless", &[], &folder) {
        Ok(program) => program,
        Err(why) => return left_out(&need::OPEN_MPI_HEADERS, why),
    };
    for kills_a_rank in [true, false] {
        let mut mpirun = Command::new("mpirun.openmpi");
        mpirun.env("FI_PROVIDER_PATH", folder.path());
        let mut mpirun = open_mpi(mpirun, &folder, OPEN_MPI_TAKES_IT, "4", &program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(mpirun.stdout.take().unwrap()).lines();
        let ranks: Vec<u32> = lines
            .take(4)
            .map(|line| line.unwrap().parse().unwrap())
            .collect();
        assert_eq!(ranks.len(), 4);
        let victim = if kills_a_rank { ranks[2] } else { mpirun.id() };
        let killed = Command::new("kill")
            .args(["-9", &victim.to_string()])
            .status();
        assert!(killed.unwrap().success());
        assert!(!mpirun.wait().unwrap().success());
        for rank in ranks {
            let since = Instant::now();
            while Path::new(&format!("/proc/{rank}")).exists() {
                assert!(since.elapsed() < Duration::from_secs(60), "{rank} goes on");
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
    let left = std::fs::read_dir("/dev/shm").unwrap().flatten();
    let mut left = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert_eq!(left.find(|name| name.contains("hostwire")), None);
}

#[test]
fn mpich_runs_over_it() {
    let tools = match mpich_over_libfabric() {
        Ok(tools) => tools,
        Err(why) => return left_out(&need::MPICH_OVER_LIBFABRIC, why),
    };
    let folder = folder();
    let compiler = tools.join("mpicc");
    for name in MPI_PROGRAMS {
        let program = compiled(compiler.to_str().unwrap(), name, &[], &folder).unwrap();
        for ranks in ["1", "2", "4"] {
            let output = with_provider(&folder, tools.join("mpiexec"))
                .args(["-n", ranks])
                .arg(&program)
                .env("FI_PROVIDER", "hostwire")
                .env("MPIR_CVAR_CH4_NETMOD", "ofi")
                .env("MPIR_CVAR_NOLOCAL", "1")
                .output()
                .unwrap();
            assert_eq!(assert_fine(&output), format!("ok {ranks}\n"));
        }
    }
}
