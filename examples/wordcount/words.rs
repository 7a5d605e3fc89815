//! From bytes to words.

use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::counts::{Counts, Totals};
use crate::files::Input;

/// Longer runs of letters are no words, and the file no text.
pub const WORD_BYTES_MAX: usize = 16 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// Why a file could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("ended at byte {at} of {expected}: it was cut short meanwhile")]
    CutShort { at: u64, expected: u64 },
    #[error("a word at byte {at} has more than {WORD_BYTES_MAX} bytes")]
    WordTooLong { at: u64 },
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Counts the words that begin in `range`, to their ends, and says what the bytes in
/// the range look like, one by one.
pub fn count(
    input: &Input,
    range: Range<u64>,
    lower: bool,
    counts: &mut Counts,
) -> Result<Totals, CountError> {
    let mut seen = Totals::default();
    let mut before = match range.start.checked_sub(1) {
        None => b' ',
        Some(at) => byte_at(input, at)?,
    };
    // A word that began earlier belongs to another PE.
    let mut skipping = in_word(before);
    let mut word = Vec::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut at = range.start;
    // After the range, only the rest of the last word is read.
    while at < range.end || (at < input.bytes && !word.is_empty()) {
        let got = read(input, at, &mut buffer)?;
        let inside = range.end.saturating_sub(at).min(got.len() as u64) as usize;
        for byte in &got[..inside] {
            seen.words += u64::from(in_word(*byte) && !in_word(before));
            seen.bytes += u64::from(in_word(*byte));
            before = *byte;
        }
        let mut rest = got;
        while !rest.is_empty() {
            let length = rest.iter().position(|byte| !in_word(*byte));
            let (run, behind) = rest.split_at(length.unwrap_or(rest.len()));
            if !skipping {
                word.extend_from_slice(run);
            }
            if word.len() > WORD_BYTES_MAX {
                let end = at + (got.len() - behind.len()) as u64;
                return Err(CountError::WordTooLong {
                    at: end - word.len() as u64,
                });
            }
            let Some((_, behind)) = behind.split_first() else {
                break; // the word may go on in the next buffer
            };
            skipping = false;
            if !word.is_empty() {
                if lower {
                    word.make_ascii_lowercase();
                }
                counts.add(&word, 1);
                word.clear();
            }
            rest = behind;
            if at + (got.len() - rest.len()) as u64 >= range.end {
                return Ok(seen);
            }
        }
        at += got.len() as u64;
    }
    if !word.is_empty() {
        if lower {
            word.make_ascii_lowercase();
        }
        counts.add(&word, 1);
    }
    Ok(seen)
}

fn byte_at(input: &Input, at: u64) -> Result<u8, CountError> {
    let mut byte = [0];
    Ok(read(input, at, &mut byte)?[0])
}

/// At least one byte from `at` on.
fn read<'a>(input: &Input, at: u64, buffer: &'a mut [u8]) -> Result<&'a [u8], CountError> {
    let left = usize::try_from(input.bytes - at).unwrap_or(usize::MAX);
    let room = buffer.len().min(left);
    loop {
        match input.file.read_at(&mut buffer[..room], at) {
            Ok(0) => {
                return Err(CountError::CutShort {
                    at,
                    expected: input.bytes,
                });
            }
            Ok(got) => return Ok(&buffer[..got]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::pieces;
    use hostwire_examples::share;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The count of all `pes` PEs together.
    fn count_shared(texts: &[Vec<u8>], pes: u32, lower: bool) -> (BTreeMap<Vec<u8>, u64>, Totals) {
        let directory = tempfile::tempdir().unwrap();
        let inputs: Vec<Input> = (0..)
            .zip(texts)
            .map(|(name, text): (u32, _)| {
                let path = directory.path().join(name.to_string());
                std::fs::write(&path, text).unwrap();
                Input::open(&path).unwrap()
            })
            .collect();
        let bytes = texts.iter().map(|text| text.len() as u64).sum();
        let (mut counts, mut seen) = (Counts::new(), Totals::default());
        for pe in 0..pes {
            for (input, range) in pieces(&inputs, share(bytes, pe, pes)) {
                seen += count(input, range, lower, &mut counts).unwrap();
            }
        }
        assert_eq!(seen, counts.totals());
        let counts = counts.into_iter();
        (
            counts
                .map(|entry| (entry.word.into(), entry.count))
                .collect(),
            seen,
        )
    }

    fn count_plainly(texts: &[Vec<u8>]) -> BTreeMap<Vec<u8>, u64> {
        let mut counts = BTreeMap::new();
        for text in texts {
            for word in text.split(|byte| !byte.is_ascii_alphanumeric()) {
                if !word.is_empty() {
                    *counts.entry(word.to_vec()).or_default() += 1;
                }
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn however_it_is_shared_each_word_counts_once(
            texts in proptest::collection::vec("[ab1 \u{e9}.\n]{0,30}", 0..4),
            pes in 1..9_u32,
        ) {
            let texts: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
            prop_assert_eq!(count_shared(&texts, pes, false).0, count_plainly(&texts));
        }
    }

    #[test]
    fn words_longer_than_a_buffer_and_than_a_share_are_whole() {
        let long = vec![b'w'; 3 * BUFFER_BYTES + 5];
        let text = [b"a ", &long[..], b" b", &[b' '; 100], &long[..]].concat();
        for pes in [1, 2, 7, 50] {
            let counts = count_shared(std::slice::from_ref(&text), pes, false).0;
            assert_eq!(counts.get(&long), Some(&2));
            assert_eq!(counts.len(), 3);
        }
    }

    #[test]
    fn words_end_at_the_edge_of_a_buffer() {
        for shift in 0..4 {
            let mut text = vec![b' '; BUFFER_BYTES - 2 + shift];
            text.extend(b"xy z");
            let counts = count_shared(&[text], 1, false).0;
            assert_eq!(counts.get(&b"xy"[..]), Some(&1));
            assert_eq!(counts.get(&b"z"[..]), Some(&1));
        }
    }

    #[test]
    fn letters_are_made_small_on_request() {
        let (counts, _) = count_shared(&[b"Word WORD word W\xc3\x84".to_vec()], 2, true);
        let expected = [(b"w".to_vec(), 1), (b"word".to_vec(), 3)];
        assert_eq!(counts, BTreeMap::from(expected));
    }

    #[test]
    fn endless_words_and_cut_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, vec![b'x'; WORD_BYTES_MAX + 2]).unwrap();
        let input = Input::open(&path).unwrap();
        let error = |range: Range<u64>| {
            let error = count(&input, range, false, &mut Counts::new()).unwrap_err();
            error.to_string()
        };
        assert!(error(0..10).starts_with("a word at byte 0 has more than"));
        std::fs::write(&path, "short").unwrap();
        assert!(error(0..10).starts_with("ended at byte 5 of"));
        assert!(error(10..20).starts_with("ended at byte 9 of"));
    }
}
