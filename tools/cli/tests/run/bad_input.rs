//! A job that cannot work is refused before any PE is started: one line, status 2.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use hostwire_testing::{built, is_installed, need};

use crate::job::{Job, hostwire};

/// The one line that `hostwire run ARGUMENTS` says.
fn refusal(arguments: &[&str]) -> String {
    refusal_with(&[], arguments)
}

/// The same, with these variables in its environment.
fn refusal_with(variables: &[(&str, &str)], arguments: &[&str]) -> String {
    let mut command = hostwire(&[&["run"], arguments].concat());
    command.envs(variables.iter().copied());
    let ended = Job::start(command).end();
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (2, ""),
        "{arguments:?}: {ended:?}"
    );
    let mut lines = ended.stderr.lines();
    let line = lines
        .next()
        .and_then(|line| line.strip_prefix("hostwire: "));
    assert_eq!(lines.next(), None, "{arguments:?}: {}", ended.stderr);
    line.unwrap_or_else(|| panic!("{arguments:?}: {}", ended.stderr))
        .to_owned()
}

#[test]
fn numbers_of_pes() {
    let one = refusal(&["-n", "0", "true"]);
    assert_eq!(
        one,
        "invalid value '0' for '--pes <N>': a job has at least one PE"
    );
    assert!(refusal(&["-n", "4097", "true"]).ends_with("at most 4096 PEs"));
    assert!(refusal(&["-np", "4", "true"]).ends_with("`-np N` of mpirun is `-n N` here"));
    assert!(refusal(&["-n", "many", "true"]).ends_with("expected a number from 1 to 65536"));
    assert!(refusal(&["-n", "-1", "true"]).contains("-1"));
    assert!(refusal(&["true"]).contains("--pes <N>"));
    assert!(refusal(&["-n", "2"]).contains("<PROGRAM>"));
}

/// The user may have set them.
#[test]
fn a_variable_that_is_nearly_a_setting_is_named() {
    let mut command = hostwire(&["run", "-n", "1", "true"]);
    for (rest, value) in [("WIER", "udp"), ("OTHER_THINGS", "1")] {
        command.env(format!("HOSTWIRE_{rest}"), value);
    }
    let ended = Job::start(command).end();
    assert_eq!(ended.status, 0, "{ended:?}");
    let said = format!(
        "hostwire: warning: HOSTWIRE_{} sets nothing; did you mean HOSTWIRE_WIRE?\n",
        "WIER"
    );
    assert_eq!(ended.stderr, said);
}

#[test]
fn a_program_of_open_mpi_is_named() {
    if !is_installed("cc", &need::C) {
        return;
    }
    // An empty library of that name, and a program that does nothing.
    let folder = tempfile::tempdir().unwrap();
    let (library, program) = ("libmpi.so.40", folder.path().join("program"));
    let (source, main) = ("int mpi;", "extern int mpi; int main(void) { return mpi; }");
    for (name, text) in [("mpi.c", source), ("main.c", main)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    for arguments in [
        &[
            "-shared",
            "-fPIC",
            "-Wl,-soname,libmpi.so.40",
            "-o",
            library,
            "mpi.c",
        ][..],
        &["-Wl,-rpath,$ORIGIN", "-o", "program", "main.c", library],
    ] {
        let compiled = Command::new("cc")
            .args(arguments)
            .current_dir(folder.path())
            .status();
        assert!(compiled.unwrap().success(), "cc {arguments:?}");
    }
    let program = program.to_str().unwrap();
    let run = |pes| Job::start(hostwire(&["run", "-n", pes, program])).end();
    assert_eq!((run("1").status, run("1").stderr.as_str()), (0, ""));
    let ended = run("2");
    assert_eq!(ended.status, 0, "{ended:?}");
    for part in ["Open MPI (libmpi.so.40)", "a job of one", "mpirun -n 2"] {
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
}

#[test]
fn programs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    let cannot = |name: &str, problem: &str| {
        assert_eq!(
            refusal(&["-n", "2", name]),
            format!("cannot run '{name}': {problem}")
        );
    };
    cannot("no-such-program", "not found in PATH");
    cannot("./no/such/file", "no such file");
    cannot("/", "it is a directory");
    cannot("", "its name is empty");
    cannot(path, "permission denied: the file is not executable");

    // Only the kernel knows that the interpreter is missing.
    std::fs::write(&file, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(refusal(&["-n", "2", path]).starts_with(&format!("cannot start PE 0 ('{path}'): ")));
}

#[test]
fn options() {
    let wire = refusal(&["-n", "2", "--wire", "string", "true"]);
    assert_eq!(
        wire,
        "invalid value 'string' for '--wire <WIRE>' [possible values: auto, shm, ether, xdp, udp, tcp, window, fabric]"
    );
    let heap = refusal(&["-n", "2", "--heap", "900T", "true"]);
    assert!(
        heap.starts_with("--heap: 900 TiB for each of 2 PEs is more than the "),
        "{heap}"
    );
    assert!(refusal(&["-n", "2", "--heap", "64MB", "true"]).ends_with("say MiB"));
    assert!(refusal(&["-n", "2", "--heap", "0", "true"]).ends_with("must be more than 0"));
    assert!(refusal(&["-n", "2", "--ring", "192", "true"]).ends_with("from 256 to 1M"));
    assert!(refusal(&["-n", "2", "--heap", "-1", "true"]).contains("expected bytes"));
    assert!(refusal(&["-n", "2", "--insecure-wire", "true"]).starts_with("--insecure-wire: "));
    assert!(
        refusal(&["-n", "2", "--wire", "shm", "--hosts", "2", "true"]).starts_with("--hosts: ")
    );
    assert!(refusal(&["-n", "2", "--timeout", "soon", "true"]).contains("expected a time"));
    assert!(refusal(&["-n", "2", "--timeout", "0", "true"]).ends_with("must be more than 0"));
    assert!(refusal(&["-n", "2", "--bind", "all", "true"]).contains("expected auto, none, or"));
    let file = tempfile::NamedTempFile::new().unwrap();
    for folder in [file.path().to_owned(), file.path().join("below")] {
        let folder = folder.to_str().unwrap();
        let record = refusal(&["-n", "2", "--record", folder, "true"]);
        let expected = format!("--record: recording to \"{folder}\": ");
        assert!(record.starts_with(&expected), "{record}");
    }
    let cpu = refusal(&["-n", "2", "--bind", "0,1023", "true"]);
    assert!(
        cpu.starts_with("--bind: CPU 1023 does not exist here"),
        "{cpu}"
    );
    assert!(refusal(&["-n", "2", "--no-such-option", "true"]).contains("--no-such-option"));
}

/// The library would also refuse them, once for each PE.
#[test]
fn variables_of_the_library() {
    for (variable, value) in [
        ("HOSTWIRE_WIRE", "string"),
        ("HOSTWIRE_HEAP", "much"),
        ("HOSTWIRE_RING", "100"),
        ("HOSTWIRE_STATS", "x"),
        ("HOSTWIRE_FAULTS", "drop=9"),
    ] {
        let line = refusal_with(&[(variable, value)], &["-n", "2", "true"]);
        let expected = format!("{variable}=\"{value}\" is not usable: ");
        assert!(line.starts_with(&expected), "{line}");
    }
    let heap = refusal_with(&[("HOSTWIRE_HEAP", "900T")], &["-n", "2", "true"]);
    assert!(
        heap.starts_with("HOSTWIRE_HEAP: 900 TiB for each"),
        "{heap}"
    );
}

#[test]
fn benchmarks() {
    for (arguments, problem) in [
        (&["put", "--pes", "4"][..], "bench put takes 2 PEs, not 4"),
        (&["all", "--pes", "4"], "bench all takes 2 PEs, not 4"),
        (&["pingpong"], "bench pingpong is for wires between hosts"),
        (&["put", "--insecure-wire"], "--insecure-wire: the wire shm"),
        (&["put", "--size", "8,"], "invalid value '' for '--size"),
        (&["put", "--size", "65M"], "invalid value '65M' for '--size"),
    ] {
        let ended = Job::start(hostwire(&[&["bench"], arguments].concat())).end();
        let expected = format!("hostwire: {problem}");
        assert!(ended.stderr.starts_with(&expected), "{ended:?}");
        assert_eq!(
            (ended.status, ended.stderr.lines().count()),
            (2, 1),
            "{ended:?}"
        );
    }
}

#[test]
fn too_few_descriptors() {
    let hostwire = env!("CARGO_BIN_EXE_hostwire");
    let script = format!("ulimit -n 64 && exec '{hostwire}' run -n 64 true");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("hostwire: 64 PEs need "), "{said}");
    assert!(
        said.contains("the limit is 64; raise it with 'ulimit -Hn "),
        "{said}"
    );
}

#[test]
fn no_file_may_be_written() {
    let hostwire = env!("CARGO_BIN_EXE_hostwire");
    let script = format!("ulimit -f 0 && exec '{hostwire}' run -n 2 true");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("raise the limit with 'ulimit -f'"), "{said}");
}

#[test]
fn a_low_soft_limit_is_raised_for_the_launcher_only() {
    let hostwire = env!("CARGO_BIN_EXE_hostwire");
    let script = format!("ulimit -Sn 64 && exec '{hostwire}' run -n 40 sh -c 'ulimit -Sn'");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), printed),
        (Some(0), "64\n".repeat(40))
    );
}

#[test]
fn help_and_version_are_no_errors() {
    for (arguments, expected) in [
        (&["--version"][..], "hostwire 0."),
        (&["--help"], "hostwire run -n 4"),
        (&["run", "--help"], "EXIT STATUS"),
        (&["run", "-h"], "--keep-going"),
    ] {
        let ended = Job::start(hostwire(arguments)).end();
        assert_eq!(
            (ended.status, ended.stderr.as_str()),
            (0, ""),
            "{arguments:?}"
        );
        assert!(
            ended.stdout.contains(expected),
            "{arguments:?}: {}",
            ended.stdout
        );
    }
    let ended = Job::start(hostwire(&["help", "run"])).end();
    assert!(ended.stdout.contains("EXIT STATUS"), "{ended:?}");
    for arguments in [&[][..], &["bogus"]] {
        let ended = Job::start(hostwire(arguments)).end();
        assert_eq!(
            (ended.status, ended.stderr.lines().count()),
            (2, 1),
            "{ended:?}"
        );
    }
}

/// Right-to-left override, its isolate, a mark, C1 and DEL: a terminal would obey them.
const OBEYED: &str = "\u{202e}\u{2066}\u{200f}\u{9b}\u{7f}\u{1b}";

#[test]
fn nothing_that_a_terminal_obeys_gets_into_messages() {
    built::laboratory();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("a{OBEYED}.toml"));
    let name = file.to_str().unwrap();
    let text = format!("[topology]\nkind = \"{OBEYED}\" # {OBEYED}\n{OBEYED} = 1\n");
    std::fs::write(&file, text).unwrap();
    let program = format!("./no{OBEYED}program");
    let abort = format!("printf '\\33[2J\\342\\200\\256' >&$PMI_FD; exit {OBEYED}");
    let commands: [&[&str]; 8] = [
        &["run", "-n", "1", &program],
        &["run", "-n", OBEYED, "true"],
        &["run", "-n", "1", "--wire", OBEYED, "true"],
        &[OBEYED],
        &["plan", name],
        &["plan", &program],
        &["sim", name],
        &["reproduce", OBEYED],
    ];
    for command in commands
        .into_iter()
        .chain([&["run", "-n", "1", "sh", "-c", &abort][..]])
    {
        let mut started = hostwire(command);
        started.env("HOSTWIRE_HEAP", "1M").env("NO_COLOR", "1");
        let ended = crate::job::Job::start(started).end();
        assert_ne!(ended.status, 0, "{command:?}: {ended:#?}");
        let own = ended
            .stderr
            .lines()
            .filter(|line| !line.starts_with("sh: "));
        for line in own {
            let obeyed = |c: char| OBEYED.contains(c);
            assert!(!line.contains(obeyed), "{command:?}: {line:?}");
        }
    }
    let mut started = hostwire(&["run", "-n", "1", "true"]);
    started.env("HOSTWIRE_HEAP", OBEYED);
    let ended = crate::job::Job::start(started).end();
    assert_eq!(ended.status, 2, "{ended:#?}");
    assert!(!ended.stderr.contains(|c| OBEYED.contains(c)), "{ended:#?}");
}
