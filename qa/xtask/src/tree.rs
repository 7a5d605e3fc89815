//! Files that are written together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::Error;

/// The root of this repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// `path` without `.` and `..`.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => (),
            other => plain.push(other),
        }
    }
    plain
}

/// Texts by path below some folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<PathBuf, String>,
}

impl Tree {
    /// Adds a file.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.files.insert(path.into(), text.into());
    }

    /// The files, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// Writes all files below `folder`; those that are as they should be stay untouched.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        for (path, text) in self.iter() {
            let path = folder.join(path);
            if fs::read_to_string(&path).is_ok_and(|there| there == text) {
                continue;
            }
            write(&path, text)?;
        }
        Ok(())
    }

    /// Says which file below `folder` is not as it should be.
    pub fn check(&self, folder: &Path) -> Result<(), Error> {
        for (path, text) in self.iter() {
            let path = folder.join(path);
            if !fs::read_to_string(&path).is_ok_and(|there| there == text) {
                return Err(Error::Drift { path });
            }
        }
        Ok(())
    }
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
    }
    fs::write(path, text).map_err(Error::file(path))
}
