//! The input files, and which PE reads which part of them.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file whose bytes can be shared out.
pub struct Input {
    pub path: PathBuf,
    pub file: File,
    pub bytes: u64,
}

/// Why a file is of no use.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("is a directory")]
    Directory,
    #[error("is not a regular file: its length is needed to share it out")]
    NotRegular,
    #[error("says that it is empty, but is not: its length is needed to share it out")]
    NoLength,
}

impl Input {
    pub fn open(path: &Path) -> Result<Self, InputError> {
        // Before it is opened: opening a FIFO would wait for a writer.
        let kind = std::fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Err(InputError::Directory);
        }
        if !kind.is_file() {
            return Err(InputError::NotRegular);
        }
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        // As most files in /proc.
        if bytes == 0 && file.read_at(&mut [0], 0)? > 0 {
            return Err(InputError::NoLength);
        }
        Ok(Self {
            path: path.into(),
            file,
            bytes,
        })
    }
}

/// What `share` of all bytes of all files is in each.
pub fn pieces(inputs: &[Input], share: Range<u64>) -> impl Iterator<Item = (&Input, Range<u64>)> {
    let mut begin = 0_u64;
    inputs.iter().filter_map(move |input| {
        let within = |at: u64| at.saturating_sub(begin).min(input.bytes);
        let range = within(share.start)..within(share.end);
        begin = begin.saturating_add(input.bytes);
        (!range.is_empty()).then_some((input, range))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostwire_examples::share;

    #[test]
    fn pieces_cover_every_byte_of_every_file_once() {
        let directory = tempfile::tempdir().unwrap();
        let lengths = [0, 3, 1, 0, 10, 0];
        let inputs: Vec<Input> = (0..)
            .zip(lengths)
            .map(|(name, length): (u32, usize)| {
                let path = directory.path().join(name.to_string());
                std::fs::write(&path, vec![b'x'; length]).unwrap();
                Input::open(&path).unwrap()
            })
            .collect();
        for pes in 1..20 {
            let mut ends = vec![0; lengths.len()];
            for pe in 0..pes {
                for (input, range) in pieces(&inputs, share(14, pe, pes)) {
                    let name = input.path.file_name().unwrap().to_str().unwrap();
                    let end: &mut u64 = &mut ends[name.parse::<usize>().unwrap()];
                    assert_eq!(*end, range.start);
                    *end = range.end;
                }
            }
            assert_eq!(ends, lengths.map(|length| length as u64));
        }
    }

    #[test]
    fn what_cannot_be_shared_out_is_refused() {
        let refused = |path| Input::open(Path::new(path)).err().unwrap().to_string();
        assert_eq!(refused("/"), "is a directory");
        assert!(refused("/dev/null").contains("not a regular file"));
        assert!(refused("/nowhere").contains("No such file"));
        assert!(refused("/proc/self/status").contains("says that it is empty"));
    }
}
