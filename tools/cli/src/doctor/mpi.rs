//! `hostwire doctor --mpi`: whether programs that this `mpirun` starts use hostwire, and why not.
//!
//! Each step of the way is looked at: the provider, libfabric, which MPI it is and whether it has a way to libfabric,
//! what the environment tells it, and other providers of the same name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::launchers::{read_complaint, shown};
use super::other::{self, Kind, said};
use super::{Finding, Verdict};
use crate::beside;
use crate::env::{MPI, PROVIDER_PATH};

const TOPIC: &str = "MPI over hostwire";
/// What sets the environment.
const CURE: &str = "eval \"$(hostwire env mpi)\"";
/// Which MPI libraries go over libfabric.
const OTHERS: &str =
    "take Open MPI (Debian package openmpi-bin), or MPICH of PyPI (pip install mpich)";

/// Whether programs started by `mpirun` use hostwire: they do if nothing is [`Verdict::No`].
pub fn findings(mpirun: &Path) -> Vec<Finding> {
    let provider = beside::provider();
    let mut findings = vec![match &provider {
        Ok(file) => Finding::ok(TOPIC, "provider", file.display().to_string()),
        Err(why) => Finding::no(TOPIC, "provider", "not beside this command", why.as_str()),
    }];
    if let Ok(provider) = &provider {
        findings.push(libfabric(provider));
        findings.extend(rivals(provider));
    }
    let (kind, found) = library(mpirun);
    findings.extend(found);
    findings.push(environment(kind, provider.as_deref().ok()));
    findings
}

/// The launcher, and the MPI that it belongs to.
fn library(mpirun: &Path) -> (Kind, Vec<Finding>) {
    let unknown = |found: String, advice: String| {
        let finding = Finding::no(TOPIC, "launcher", found, advice);
        (Kind::Unknown, vec![finding])
    };
    let mut version = Command::new(mpirun);
    let text = match said(version.arg("--version")) {
        Some(Ok(text)) => text,
        Some(Err(error)) => {
            let why = read_complaint(&error);
            return unknown(
                format!("{} --version fails: {why}", mpirun.display()),
                "name the mpirun that starts the programs: hostwire doctor --mpi MPIRUN".into(),
            );
        }
        None => {
            return unknown(
                format!("{} cannot be started", mpirun.display()),
                format!("name another one, hostwire doctor --mpi MPIRUN; or {OTHERS}"),
            );
        }
    };
    let kind = Kind::of(&text);
    let name = match kind {
        Kind::OpenMpi => text.lines().find(|line| line.contains("Open MPI")),
        _ => text.lines().find(|line| line.contains("Version")),
    };
    let name = shown(name.or(text.lines().next()).unwrap_or_default());
    let file = other::file(mpirun).unwrap_or_else(|| mpirun.to_path_buf());
    let launcher = |found: String| Finding::ok(TOPIC, "launcher", found);
    let place = file.display();
    let findings = match kind {
        Kind::OpenMpi => vec![launcher(format!("{place}: {name}")), open_mpi(&file)],
        Kind::Mpich => {
            let found = launcher(format!("{place}: MPICH, {name}"));
            vec![found, mpich(&file, &text)]
        }
        Kind::Unknown => {
            return unknown(
                format!("{place}: neither Open MPI's nor MPICH's ({name})"),
                format!("this command knows no other; {OTHERS}"),
            );
        }
    };
    (kind, findings)
}

/// Whether this Open MPI has `mtl:ofi`, and that its libfabric.
fn open_mpi(mpirun: &Path) -> Finding {
    let name = "MPI library";
    let info = other::tool(mpirun, "ompi_info");
    let Some(Ok(text)) = said(Command::new(&info).args(["--all", "--parsable"])) else {
        return Finding::note(
            TOPIC,
            name,
            format!("{} does not say what this Open MPI has", info.display()),
            "ompi_info | grep 'MCA mtl' must show ofi",
        );
    };
    if !text.lines().any(|line| line.starts_with("mca:mtl:ofi:")) {
        return Finding::no(
            TOPIC,
            name,
            "this Open MPI was built without mtl:ofi",
            format!("build it with --with-libfabric, or {OTHERS}"),
        );
    }
    let folder = text
        .lines()
        .find_map(|line| line.strip_prefix("path:pkglibdir:"));
    let module = folder.map(|folder| Path::new(folder).join("mca_mtl_ofi.so"));
    let Some(module) = module.filter(|module| module.is_file()) else {
        return Finding::ok(TOPIC, name, "mtl:ofi");
    };
    match other::needed(&module, "libfabric.so.1") {
        Some(Some(file)) => Finding::ok(TOPIC, name, format!("mtl:ofi, {}", file.display())),
        Some(None) => Finding::no(
            TOPIC,
            name,
            "mtl:ofi, but the loader does not find its libfabric.so.1",
            "Debian package libfabric1, or its folder in LD_LIBRARY_PATH",
        ),
        None => Finding::ok(TOPIC, name, "mtl:ofi"),
    }
}

/// Whether this MPICH has `ch4:ofi`.
fn mpich(mpirun: &Path, hydra: &str) -> Finding {
    let name = "MPI library";
    let version = other::tool(mpirun, "mpichversion");
    let text = said(&mut Command::new(&version));
    let text = text.and_then(Result::ok);
    match other::device(text.as_deref().unwrap_or_default(), hydra) {
        Some(device) if device.contains("ofi") => {
            Finding::ok(TOPIC, name, format!("device {device}"))
        }
        Some(device) => Finding::no(
            TOPIC,
            name,
            format!("built with device {device}: it never uses libfabric, whatever is set"),
            OTHERS,
        ),
        None => Finding::note(
            TOPIC,
            name,
            format!("{} does not say which device it has", version.display()),
            "mpichversion must show ch4:ofi",
        ),
    }
}

/// Whether libfabric loads the provider.
fn libfabric(provider: &Path) -> Finding {
    let name = "fi_info";
    let folder = provider.parent().unwrap_or(Path::new("/"));
    let mut command = Command::new("fi_info");
    command.args(["-p", "hostwire"]).env(PROVIDER_PATH, folder);
    // What is set for other programs does not hide it here.
    match said(command.env_remove("FI_PROVIDER")) {
        Some(Ok(text)) if text.contains("provider: hostwire") => {
            let version = said(Command::new("fi_info").arg("--version"));
            let version = version.and_then(Result::ok).unwrap_or_default();
            let of = version
                .lines()
                .find_map(|line| line.strip_prefix("libfabric: "));
            Finding::ok(
                TOPIC,
                name,
                format!(
                    "libfabric {} loads it",
                    shown(of.unwrap_or("of unknown version"))
                ),
            )
        }
        Some(_) => Finding::no(
            TOPIC,
            name,
            "libfabric does not list it",
            match other::needed(provider, "not found") {
                Some(None) => format!("`ldd {}` shows what is missing", provider.display()),
                _ => "`LD_DEBUG=libs fi_info -p hostwire` shows why the library was not loaded"
                    .into(),
            },
        ),
        None => Finding::note(
            TOPIC,
            name,
            "not installed",
            "only to see whether libfabric loads the provider (Debian package libfabric-bin)",
        ),
    }
}

/// What the environment has to say to that MPI.
fn environment(kind: Kind, provider: Option<&Path>) -> Finding {
    let name = "environment";
    let folder = provider.and_then(Path::parent);
    let has_folder = std::env::var_os(PROVIDER_PATH).is_some_and(|path| {
        let path = path.to_string_lossy();
        let mut folders = path.trim_start_matches('@').split(':');
        folders.any(|one| fs::canonicalize(one).ok().as_deref() == folder)
    });
    let concerns = |name: &str| match kind {
        Kind::OpenMpi => name.starts_with("OMPI_"),
        Kind::Mpich => !name.starts_with("OMPI_"),
        Kind::Unknown => true,
    };
    let wrong = |(name, value): (&str, &str)| match std::env::var(name) {
        _ if !concerns(name) => None,
        Ok(is) if is == value => None,
        Ok(is) => Some(format!("{name} is {}", shown(&is))),
        Err(_) => Some(format!("no {name}")),
    };
    let path = (!has_folder).then(|| format!("{PROVIDER_PATH} has no folder of the provider"));
    let wrong: Vec<String> = path
        .into_iter()
        .chain(MPI.into_iter().filter_map(wrong))
        .collect();
    match wrong.as_slice() {
        [] => Finding::ok(TOPIC, name, "as `hostwire env mpi` sets it"),
        _ => Finding::no(TOPIC, name, wrong.join(", "), CURE),
    }
}

/// Other providers of this name that libfabric could load.
fn rivals(provider: &Path) -> Vec<Finding> {
    let path = std::env::var(PROVIDER_PATH).unwrap_or_default();
    let folders = path
        .trim_start_matches('@')
        .split(':')
        .filter(|one| !one.is_empty());
    let files = folders.flat_map(|folder| {
        ["libhostwire-fi.so", "libhostwire_fi.so"].map(|name| Path::new(folder).join(name))
    });
    let is_other = |file: &PathBuf| {
        let same_place = file.canonicalize().is_ok_and(|file| file == provider);
        let same_bytes =
            || matches!((fs::read(file), fs::read(provider)), (Ok(a), Ok(b)) if a == b);
        file.is_file() && !same_place && !same_bytes()
    };
    files
        .filter(is_other)
        .map(|file| {
            Finding::no(
                TOPIC,
                "another one",
                format!(
                    "{} in {PROVIDER_PATH}, which is not that one",
                    file.display()
                ),
                format!("libfabric may take it: remove it, or unset {PROVIDER_PATH}; then {CURE}"),
            )
        })
        .collect()
}

/// Whether something of this keeps programs from using hostwire.
pub fn is_broken(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.state == Verdict::No)
}
