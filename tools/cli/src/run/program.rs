//! Finds the program before anything is started.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64};
use object::read::ReadCache;
use object::read::elf::{Dyn, FileHeader};
use rustix::fs::{Access, access};

use super::start_error::StartError;

/// This program, whatever its file is called. A PE that a starter starts by this name is the starter's own.
pub const OWN: &str = "/proc/self/exe";

/// The file that `name` means: itself when it has a slash, otherwise the first
/// executable file of that name in `search_path`.
pub fn find(name: &OsStr, search_path: Option<&OsStr>) -> Result<PathBuf, StartError> {
    let error = |problem| StartError::Program {
        name: Path::new(name).display().to_string(),
        problem,
    };
    if name.is_empty() {
        return Err(error("its name is empty"));
    }
    if name.as_bytes().contains(&b'/') {
        let path = PathBuf::from(name);
        return match problem_with(&path) {
            None => Ok(path),
            Some(problem) => Err(error(problem)),
        };
    }
    // As execvp does: if the file may not be run, the search goes on for one that may.
    let search_path = search_path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut found = "not found in PATH";
    for folder in std::env::split_paths(search_path) {
        let path = if folder.as_os_str().is_empty() {
            Path::new(".").join(name)
        } else {
            folder.join(name)
        };
        match problem_with(&path) {
            None => return Ok(path),
            Some(NO_SUCH_FILE | DIRECTORY) => {}
            Some(problem) => found = problem,
        }
    }
    Err(error(found))
}

const NO_SUCH_FILE: &str = "no such file";
const DIRECTORY: &str = "it is a directory";

/// The reason why the file at `path` cannot be run, as far as it can be found without
/// running it.
fn problem_with(path: &Path) -> Option<&'static str> {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Some(DIRECTORY),
        Ok(metadata) if !metadata.is_file() => Some("it is not a regular file"),
        Ok(_) if access(path, Access::EXEC_OK).is_err() => {
            Some("permission denied: the file is not executable")
        }
        Ok(_) => None,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Some("permission denied: a folder on the way to it may not be entered")
        }
        Err(_) => Some(NO_SUCH_FILE),
    }
}

/// With this number the interface of Open MPI's libraries begins to have names that MPICH does not have.
const OPEN_MPI_FIRST: u32 = 20;

/// The library of Open MPI that a program is linked with. Open MPI knows its own launchers only: with others each
/// process is a job of one PE, and nothing reports it.
pub fn open_mpi(program: &Path) -> Option<String> {
    let libraries = libraries(program)?;
    libraries.into_iter().find(|name| is_of_open_mpi(name))
}

fn is_of_open_mpi(library: &str) -> bool {
    let number = |of| library.strip_prefix(of)?.parse::<u32>().ok();
    let number = number("libmpi.so.").or_else(|| number("liboshmem.so."));
    number.is_some_and(|number| number >= OPEN_MPI_FIRST)
}

/// The libraries that a program is linked with. Reads only the parts of the file that list them: programs can be long.
fn libraries(program: &Path) -> Option<Vec<String>> {
    let file = ReadCache::new(File::open(program).ok()?);
    let header = FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &file).ok()?;
    let (entries, strings) = sections.dynamic(endian, &file).ok()??;
    let strings = sections.strings(endian, &file, strings).ok()?;
    let needed = entries.iter().filter(|it| it.tag(endian) == DT_NEEDED);
    let names = needed.filter_map(|it| strings.get(u32::try_from(it.val(endian)).ok()?).ok());
    Some(
        names
            .filter_map(|it| str::from_utf8(it).ok())
            .map(str::to_owned)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn problem(name: &OsStr, path: Option<&OsStr>) -> &'static str {
        match find(name, path) {
            Err(StartError::Program { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn programs_of_open_mpi_are_recognized() {
        for (library, is) in [
            ("libmpi.so.40", true),
            ("liboshmem.so.40", true),
            // MPICH's, for programs of others.
            ("libmpi.so.12", false),
            ("libmpi.so.4x", false),
            ("libshmem.so.1", false),
            ("libmpi.so", false),
        ] {
            assert_eq!(is_of_open_mpi(library), is, "{library}");
        }
    }

    #[test]
    fn the_libraries_of_a_program_are_read() {
        let own = libraries(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.iter().any(|name| name == "libc.so.6"), "{own:?}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        assert_eq!(libraries(&file), None);
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &[0x7f; 4096]] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(libraries(&file), None);
        }
    }

    #[test]
    fn paths_and_names() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, tool) = (folder.path().join("plain"), folder.path().join("tool"));
        std::fs::write(&plain, "").unwrap();
        std::fs::write(&tool, "").unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = Some(folder.path().as_os_str());

        assert_eq!(find(tool.as_os_str(), None).unwrap(), tool);
        assert_eq!(find(OsStr::new("tool"), path).unwrap(), tool);
        assert_eq!(problem(OsStr::new("absent"), path), "not found in PATH");
        assert_eq!(problem(OsStr::new(""), path), "its name is empty");
        assert_eq!(problem(OsStr::new("/no/such/file"), path), "no such file");
        assert_eq!(
            problem(folder.path().as_os_str(), path),
            "it is a directory"
        );
        assert_eq!(
            problem(OsStr::new("/dev/null"), path),
            "it is not a regular file"
        );
        for name in [plain.as_os_str(), OsStr::new("plain")] {
            assert_eq!(
                problem(name, path),
                "permission denied: the file is not executable"
            );
        }
    }
}
