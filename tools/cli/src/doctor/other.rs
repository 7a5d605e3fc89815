//! What other programs say of themselves.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whose launcher it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    OpenMpi,
    Mpich,
    Unknown,
}

impl Kind {
    /// By what it says of its version.
    pub fn of(version: &str) -> Self {
        if version.contains("Open MPI") || version.contains("OpenRTE") {
            Self::OpenMpi
        } else if version.contains("HYDRA") {
            Self::Mpich
        } else {
            Self::Unknown
        }
    }
}

/// What it prints; if it fails, its errors. `None` if it cannot be started.
pub fn said(command: &mut Command) -> Option<Result<String, String>> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr)),
    })
}

/// The file of a program, as a shell finds it.
pub fn file(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return Some(program.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// The program `name` of the MPI that this launcher belongs to: beside it, with the same end of its
/// name if there is one (`mpirun.openmpi`), or else beside what it is a link to.
pub fn tool(mpirun: &Path, name: &str) -> PathBuf {
    let folder = |file: &Path| file.parent().map(Path::to_path_buf);
    let ends: Vec<String> = mpirun
        .file_name()
        .and_then(|file| file.to_str()?.split_once('.'))
        .map(|(_, end)| format!("{name}.{end}"))
        .into_iter()
        .chain([name.to_owned()])
        .collect();
    let target = mpirun.canonicalize().ok();
    let folders = [folder(mpirun), target.as_deref().and_then(folder)];
    let mut files = folders
        .into_iter()
        .flatten()
        .flat_map(|folder| ends.iter().map(move |end| folder.join(end)));
    files
        .find(|file| file.is_file())
        .unwrap_or_else(|| PathBuf::from(name))
}

/// Where the loader finds `library` for a file, or that it does not; `None` if the file does not need
/// it, or the loader says nothing.
pub fn needed(file: &Path, library: &str) -> Option<Option<PathBuf>> {
    let text = said(Command::new("ldd").arg(file))?.ok()?;
    found(&text, library)
}

fn found(ldd: &str, library: &str) -> Option<Option<PathBuf>> {
    let line = ldd.lines().find(|line| line.contains(library))?;
    let (_, place) = line.split_once("=>")?;
    let place = place
        .split_whitespace()
        .next()
        .filter(|word| word.starts_with('/'));
    Some(place.map(PathBuf::from))
}

/// The device of an MPICH: by `mpichversion`, or by how its launcher was configured.
pub fn device(mpichversion: &str, hydra: &str) -> Option<String> {
    let said = mpichversion
        .lines()
        .find_map(|line| line.trim().strip_prefix("MPICH Device:"));
    let configured = || {
        let (_, behind) = hydra.split_once("--with-device=")?;
        behind.split(['\'', ' ', '\n']).next()
    };
    said.or_else(configured)
        .map(|device| device.trim().to_owned())
        .filter(|device| !device.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_told_apart() {
        assert_eq!(Kind::of("mpirun (Open MPI) 4.1.4\n"), Kind::OpenMpi);
        assert_eq!(Kind::of("HYDRA build details:\n  Version: 4"), Kind::Mpich);
        assert_eq!(Kind::of("slurm 22"), Kind::Unknown);
    }

    #[test]
    fn devices_are_read_wherever_they_are_said() {
        let version = "MPICH Version:  4.0.2\nMPICH Device:    \tch4:ucx\n";
        assert_eq!(device(version, "").as_deref(), Some("ch4:ucx"));
        let hydra = "Configure options: '--with-device=ch4:ofi' 'CFLAGS=-g'";
        assert_eq!(device("", hydra).as_deref(), Some("ch4:ofi"));
        assert_eq!(device("", "nothing"), None);
    }

    #[test]
    fn what_the_loader_says_is_understood() {
        let ldd = "\tlibfabric.so.1 => /lib/x/libfabric.so.1 (0x7)\n\tliba.so => not found\n";
        let there = Some(Some(PathBuf::from("/lib/x/libfabric.so.1")));
        assert_eq!(found(ldd, "libfabric.so.1"), there);
        assert_eq!(found(ldd, "not found"), Some(None));
        assert_eq!(found(ldd, "libb.so"), None);
    }
}
