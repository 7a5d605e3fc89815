//! The files of the corpora, `qa/fuzz/corpus/TARGET/NAME`.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::Target;

/// Where the corpora are.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus")
}

/// Names and contents of the files of a target, in the order of the names.
///
/// # Errors
/// As the system refuses; a target without a folder is an error.
pub fn of(target: &Target) -> io::Result<Vec<(String, Vec<u8>)>> {
    let folder = folder().join(target.name);
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| at(&folder, &error))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        files.push((name.to_string_lossy().into_owned(), fs::read(&path)?));
    }
    files.sort();
    Ok(files)
}

/// Writes a file of a target.
///
/// # Errors
/// As the system refuses.
pub fn keep(target: &Target, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let folder = folder().join(target.name);
    fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
    let path = folder.join(name);
    fs::write(&path, bytes).map_err(|error| at(&path, &error))?;
    Ok(path)
}

fn at(path: &std::path::Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
