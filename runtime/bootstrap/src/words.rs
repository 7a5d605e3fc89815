//! Encodes any bytes as words for a text protocol.
//!
//! The first word is `COUNT:HEX`, where COUNT is the decimal number of words. The others
//! are only hexadecimal digits.

/// The most words that a value of another process may have: 8 MiB and more.
const WORDS_MAX: usize = 1 << 14;
/// Room for `16384:`.
const HEAD_BYTES: usize = 6;

/// Errors in words from a launcher.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WordsError {
    /// The first word does not begin with a number of words.
    #[error("expected a number of words and a colon, got {word:?}")]
    NoCount {
        /// How the word begins.
        word: String,
    },
    /// A value is too long to be put: the caller's fault.
    #[error("{got_bytes} bytes are too many for the launcher")]
    TooLong {
        /// How long it is.
        got_bytes: usize,
    },
    /// A word is not of pairs of hexadecimal digits.
    #[error("expected pairs of hexadecimal digits, got {word:?}")]
    NotHex {
        /// How the word begins.
        word: String,
    },
}

/// `value` as words of at most `word_bytes_max` bytes each.
pub(crate) fn pack(value: &[u8], word_bytes_max: usize) -> Result<Vec<String>, WordsError> {
    let per_word = word_bytes_max.saturating_sub(HEAD_BYTES).max(2) / 2;
    let count = value.len().div_ceil(per_word).max(1);
    if count > WORDS_MAX {
        return Err(WordsError::TooLong {
            got_bytes: value.len(),
        });
    }
    let mut words = Vec::with_capacity(count);
    let mut chunks = value.chunks(per_word);
    for index in 0..count {
        let mut word = match index {
            0 => format!("{count}:"),
            _ => String::new(),
        };
        for byte in chunks.next().unwrap_or_default() {
            word.push_str(&format!("{byte:02x}"));
        }
        words.push(word);
    }
    Ok(words)
}

/// Puts the words of one value together again.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    bytes: Vec<u8>,
    taken: usize,
    count: usize,
}

impl Pieces {
    /// How many words were taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken
    }

    /// Adds the next word; returns whether it was the last.
    pub(crate) fn take(&mut self, word: &str) -> Result<bool, WordsError> {
        let quoted = || word.chars().take(40).collect();
        let digits = if self.taken == 0 {
            let (count, digits) = word
                .split_once(':')
                // The parser of numbers would also accept a sign.
                .filter(|(count, _)| count.bytes().all(|digit| digit.is_ascii_digit()))
                .and_then(|(count, digits)| Some((count.parse::<usize>().ok()?, digits)))
                .filter(|(count, _)| (1..=WORDS_MAX).contains(count))
                .ok_or_else(|| WordsError::NoCount { word: quoted() })?;
            self.count = count;
            digits
        } else {
            word
        };
        let nibble = |digit: u8| (digit as char).to_digit(16).map(|n| n as u8);
        for pair in digits.as_bytes().chunks(2) {
            let byte = match pair {
                [high, low] => nibble(*high).zip(nibble(*low)),
                _ => None,
            };
            let (high, low) = byte.ok_or_else(|| WordsError::NotHex { word: quoted() })?;
            self.bytes.push(high << 4 | low);
        }
        self.taken += 1;
        Ok(self.taken >= self.count)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpack(words: &[String]) -> Result<Vec<u8>, WordsError> {
        let mut pieces = Pieces::default();
        for word in words {
            if pieces.take(word)? {
                break;
            }
        }
        assert_eq!(pieces.taken(), words.len());
        Ok(pieces.into_bytes())
    }

    #[test]
    fn literal_words() {
        let pack = |bytes, max| super::pack(bytes, max).unwrap();
        assert_eq!(pack(b"", 100), ["1:"]);
        assert_eq!(pack(b"\x00\xffA", 100), ["1:00ff41"]);
        assert_eq!(pack(b"\x00\xffA", 10), ["2:00ff", "41"]);
        let long = vec![0; WORDS_MAX + 1];
        let got_bytes = long.len();
        assert_eq!(
            super::pack(&long, 8),
            Err(WordsError::TooLong { got_bytes })
        );
        assert_eq!(unpack(&["1:".into()]), Ok(vec![]));
        assert_eq!(unpack(&["2:0a".into(), "FF".into()]), Ok(vec![10, 255]));
    }

    #[test]
    fn what_is_no_word_of_ours_is_named() {
        let error = |word: &str| Pieces::default().take(word).unwrap_err();
        for bad in [
            "", "00", ":00", "x:00", "0:00", "-1:00", "+1:00", "99999:00", "1é:",
        ] {
            assert_eq!(error(bad), WordsError::NoCount { word: bad.into() });
        }
        for bad in ["1:0", "1:0g", "1:é", "1:00 "] {
            assert_eq!(error(bad), WordsError::NotHex { word: bad.into() });
        }
    }

    proptest! {
        #[test]
        fn any_bytes_come_back(
            value in proptest::collection::vec(any::<u8>(), 0..3000),
            word_bytes_max in 8usize..1024,
        ) {
            let words = pack(&value, word_bytes_max).unwrap();
            prop_assert!(words.iter().all(|word| word.len() <= word_bytes_max));
            prop_assert_eq!(unpack(&words), Ok(value));
        }

        #[test]
        fn no_word_panics(words in proptest::collection::vec("[0-9a-f:é ]{0,12}|\\PC{0,9}", 0..5)) {
            let mut pieces = Pieces::default();
            for word in words {
                if pieces.take(&word).is_err() {
                    break;
                }
            }
        }
    }
}
