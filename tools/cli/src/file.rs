//! Files of results, which are complete or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that somebody asked for. [`finish`](Self::finish) makes the whole file appear, or returns an error: no reader
/// sees a part of it. Until then it has another name in the same folder. A path that exists and is not a regular file
/// (a pipe, `/dev/stdout`) is written to directly.
#[must_use = "it is there only after `finish`"]
pub struct Wanted {
    path: PathBuf,
    /// Where the file is until it is whole.
    unfinished: Option<PathBuf>,
    file: BufWriter<File>,
}

impl Wanted {
    /// One that will be at `path`.
    ///
    /// # Errors
    /// A sentence with the path and what went wrong.
    pub fn new(path: &Path) -> Result<Self, String> {
        let is_regular = fs::metadata(path).map_or(true, |there| there.is_file());
        let unfinished = is_regular.then(|| unfinished(path));
        let file = match &unfinished {
            Some(unfinished) => File::create(unfinished),
            None => File::options().write(true).open(path),
        };
        let file = file.map_err(|error| failed(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            unfinished,
            file: BufWriter::new(file),
        })
    }

    /// Gives the file its name, when everything has been written.
    ///
    /// # Errors
    /// As [`new`](Self::new); there is no file then.
    pub fn finish(mut self) -> Result<(), String> {
        let written = self.settle();
        written.map_err(|error| failed(&self.path, &error))
    }

    fn settle(&mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(unfinished) = &self.unfinished else {
            return Ok(());
        };
        // Some file systems, those of other hosts among them, say only now that there is no room.
        self.file.get_ref().sync_all()?;
        fs::rename(unfinished, &self.path)?;
        self.unfinished = None;
        Ok(())
    }
}

impl Write for Wanted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Wanted {
    fn drop(&mut self) {
        if let Some(unfinished) = &self.unfinished {
            // It may not exist.
            let _ = fs::remove_file(unfinished);
        }
    }
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// Writes `bytes` to `path`, as a [`Wanted`] file.
///
/// # Errors
/// As [`Wanted::new`].
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let mut file = Wanted::new(path)?;
    file.write_all(bytes)
        .map_err(|error| failed(path, &error))?;
    file.finish()
}

/// Whether a file could be written to `path` later, so that an error is reported before the work
/// is done.
///
/// # Errors
/// As [`write_whole`].
pub fn check(path: &Path) -> Result<(), String> {
    let failed = |error: io::Error| failed(path, &error);
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
