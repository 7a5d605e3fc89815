//! Files of results, which are complete or absent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Writes `bytes` to `path` such that no reader sees a part of them: first under another name
/// in the same folder. A path that exists and is not a regular file (a pipe, `/dev/stdout`) is
/// written to directly.
///
/// # Errors
/// A sentence with the path and what went wrong.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, bytes).map_err(failed);
    }
    let unfinished = unfinished(path);
    let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    written.map_err(|error| {
        // It may never have come to be.
        let _ = fs::remove_file(&unfinished);
        failed(error)
    })
}

/// Whether a file could be written to `path` later, so that an error is reported before the work
/// is done.
///
/// # Errors
/// As [`write_whole`].
pub fn check(path: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot write {}: {error}", path.display());
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
        Ok(there) if !there.is_file() => return Ok(()),
        _ => {}
    }
    let unfinished = unfinished(path);
    fs::write(&unfinished, b"")
        .and_then(|()| fs::remove_file(&unfinished))
        .map_err(failed)
}

/// The name while it is written. Hosts that share a folder may have processes of equal
/// numbers.
fn unfinished(path: &Path) -> PathBuf {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy().replace('/', "-");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{host}.{}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write_whole(&path, b"first").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing/a.csv");
        let error = write_whole(&missing, b"x").unwrap_err();
        assert!(error.contains("missing/a.csv"), "{error}");
        assert!(check(&missing).unwrap_err().contains("missing/a.csv"));
        assert!(check(folder.path()).is_err());
        check(&folder.path().join("a.csv")).unwrap();
        let error = write_whole(folder.path(), b"x").unwrap_err();
        assert!(error.contains("cannot write"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
