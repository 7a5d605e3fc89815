//! `hostwire env mpi` and `hostwire doctor --mpi`.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use hostwire_testing::{built, is_installed, need};
use tempfile::TempDir;

/// The command and something in the place of its provider, laid out as an installation.
struct Installation {
    folder: TempDir,
    prefix: PathBuf,
}

impl Installation {
    /// With these bytes for a provider.
    fn with(provider: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // What a user may call a folder.
        let prefix = folder.path().canonicalize().unwrap().join("it's $HOME");
        for below in ["bin", "lib/libfabric"] {
            fs::create_dir_all(prefix.join(below)).unwrap();
        }
        fs::copy(env!("CARGO_BIN_EXE_hostwire"), prefix.join("bin/hostwire")).unwrap();
        let all = Self { folder, prefix };
        fs::write(all.provider(), provider).unwrap();
        all
    }

    /// With the provider that was built with this command.
    fn real() -> Self {
        Self::with(&fs::read(built::library("libhostwire_fi.so")).unwrap())
    }

    fn provider(&self) -> PathBuf {
        self.prefix.join("lib/libfabric/libhostwire-fi.so")
    }

    fn providers(&self) -> String {
        self.prefix.join("lib/libfabric").to_str().unwrap().into()
    }

    fn hostwire(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.prefix.join("bin/hostwire"));
        command.args(arguments).env("COLUMNS", "1000");
        without(command)
    }

    /// What the shell has after `eval`.
    fn environment(&self, before: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"eval "$("$1" env mpi)" && env -0"#, "sh"]);
        shell.arg(self.prefix.join("bin/hostwire"));
        let output = without(shell)
            .envs(before.iter().copied())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stderr);
        assert!(said.contains(self.provider().to_str().unwrap()), "{said}");
        let all = text(&output.stdout);
        let split = |one: &str| {
            let (name, value) = one.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        };
        all.split('\0').filter_map(split).collect()
    }
}

/// Without what the shell of this test may have set.
fn without(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["OMPI_MCA_", "FI_", "MPIR_"]
            .iter()
            .any(|of| name.starts_with(of))
        {
            command.env_remove(name.as_ref());
        }
    }
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The line of this name, and the advice below it.
fn finding(output: &Output, name: &str) -> String {
    let all = text(&output.stdout);
    let mut lines = all
        .lines()
        .skip_while(|line| !line.contains(name))
        .peekable();
    let line = lines
        .next()
        .unwrap_or_else(|| panic!("no '{name}' in {all}"));
    let advice = lines
        .next_if(|line| line.contains("-> "))
        .unwrap_or_default();
    format!("{line}\n{advice}")
}

#[test]
fn a_shell_gets_all_variables_whatever_the_folder_is_called() {
    let here = Installation::with(b"");
    let environment = here.environment(&[("FI_PROVIDER_PATH", "/other"), ("OMPI_MCA_pml", "ob1")]);
    let value = |name: &str| {
        let is_it = |(key, _): &&(String, String)| key == name;
        environment
            .iter()
            .find(is_it)
            .map(|(_, value)| value.as_str())
    };
    let path = format!("{}:/other", here.providers());
    assert_eq!(value("FI_PROVIDER_PATH"), Some(path.as_str()));
    for (name, expected) in [
        ("OMPI_MCA_pml", "cm"),
        ("OMPI_MCA_mtl", "ofi"),
        ("OMPI_MCA_mtl_ofi_provider_include", "hostwire"),
        ("OMPI_MCA_osc", "^ucx"),
        ("OMPI_MCA_btl_ofi_progress_mode", "auto"),
        ("FI_PROVIDER", "hostwire"),
        ("MPIR_CVAR_CH4_NETMOD", "ofi"),
        ("MPIR_CVAR_NOLOCAL", "1"),
    ] {
        assert_eq!(value(name), Some(expected), "{name}");
    }
    let module = here.hostwire(&["env", "mpi", "--module"]).output().unwrap();
    let module = text(&module.stdout);
    assert!(module.starts_with("#%Module1.0\n"), "{module}");
    assert!(module.contains(r"it's \$HOME/lib/libfabric"), "{module}");
    let csh = here
        .hostwire(&["env", "mpi", "--shell", "csh"])
        .output()
        .unwrap();
    assert!(text(&csh.stdout).contains("setenv OMPI_MCA_osc '^ucx';\n"));
    let fish = here
        .hostwire(&["env", "mpi", "--shell", "fish"])
        .output()
        .unwrap();
    assert!(text(&fish.stdout).contains("set -gx FI_PROVIDER 'hostwire';\n"));
}

#[test]
fn without_a_provider_nothing_is_set() {
    let here = Installation::with(b"");
    fs::remove_file(here.provider()).unwrap();
    let output = here.hostwire(&["env", "mpi"]).output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stdout)),
        (Some(1), String::new())
    );
    assert!(text(&output.stderr).contains("make install"), "{output:?}");
    let output = here.hostwire(&["doctor", "--mpi"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(finding(&output, "provider").contains("make install"));
}

#[test]
fn the_doctor_says_why_an_mpi_does_not_use_it() {
    let here = Installation::with(b"no library");
    let look = |mpirun: &str| {
        here.hostwire(&["doctor", "--mpi", mpirun])
            .output()
            .unwrap()
    };
    let nowhere = look("/nonexistent/mpirun");
    assert!(finding(&nowhere, "launcher").contains("cannot be started"));
    let other = look("cargo");
    assert!(finding(&other, "launcher").contains("neither Open MPI's nor MPICH's"));
    let cure = r#"eval "$(hostwire env mpi)""#;
    assert!(finding(&nowhere, "environment").contains(cure));
    assert_eq!(
        (nowhere.status.code(), other.status.code()),
        (Some(1), Some(1))
    );
    if is_installed("fi_info", &need::LIBFABRIC_TOOLS) {
        assert!(finding(&nowhere, "fi_info").contains("libfabric does not list it"));
    }
    if is_installed("mpirun.mpich", &need::MPICH) {
        let version = Command::new("mpichversion").output().unwrap();
        // Debian's is; others may be what is asked for.
        if text(&version.stdout).contains("ch4:ucx\n") {
            let mpich = finding(&look("mpirun.mpich"), "MPI library");
            assert!(
                mpich.contains("device ch4:ucx: it never uses libfabric"),
                "{mpich}"
            );
            assert!(mpich.contains("pip install mpich"), "{mpich}");
        }
    }
    let old = here.folder.path().join("old");
    fs::create_dir(&old).unwrap();
    fs::write(old.join("libhostwire-fi.so"), b"older").unwrap();
    let mut command = here.hostwire(&["doctor", "--mpi", "/nonexistent/mpirun"]);
    let output = command.env("FI_PROVIDER_PATH", &old).output().unwrap();
    let rival = finding(&output, "another one");
    assert!(
        rival.contains(old.to_str().unwrap()) && rival.contains("remove it"),
        "{rival}"
    );
}

#[test]
fn the_doctor_is_content_with_open_mpi_in_that_environment() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI)
        || !is_installed("fi_info", &need::LIBFABRIC_TOOLS)
    {
        return;
    }
    let here = Installation::real();
    let mut command = here.hostwire(&["doctor", "--mpi", "mpirun.openmpi"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(finding(&output, "MPI library").contains("ok    MPI library    mtl:ofi"));
    let output = command.envs(here.environment(&[])).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let json = command.arg("--json").output().unwrap();
    assert!(text(&json.stdout).contains(r#""name":"environment","state":"ok""#));
}
