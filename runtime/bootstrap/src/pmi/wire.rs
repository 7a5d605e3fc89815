//! The lines of PMI-1: `cmd=NAME key=value key=value\n`.
//!
//! [`Line::parse`] takes one line without its newline and never panics.
//! Keys and values hold no white space and no control characters; a value may
//! hold `=`. Free text, such as the reason of an abort, travels with spaces and
//! other unfit bytes as `%XX` ([`escape`], [`unescape`]).

use std::fmt;

/// The longest line, newline included, that either side sends or accepts.
///
/// MPICH allows lines of 1024 + 256 + 64 bytes plus the words around them.
pub const LINE_BYTES_MAX: usize = 4096;
/// The longest name of a key-value space that `hostwire run` announces.
pub const KVSNAME_BYTES_MAX: usize = 256;
/// The longest key that `hostwire run` accepts.
pub const KEY_BYTES_MAX: usize = 64;
/// Values are shorter than this many bytes.
pub const VALUE_BYTES_MAX: usize = 1024;

/// One parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    command: String,
    fields: Vec<(String, String)>,
}

/// Why a line is not one of PMI-1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// Longer than [`LINE_BYTES_MAX`].
    #[error("a line of {got_bytes} bytes or more; the longest allowed is {LINE_BYTES_MAX}")]
    TooLong {
        /// Bytes seen so far.
        got_bytes: usize,
    },
    /// Bytes that are not UTF-8, or control characters.
    #[error("a line with the byte {byte:#04x} in it, at {at}")]
    NotText {
        /// The first offending byte.
        byte: u8,
        /// Where it is in the line.
        at: usize,
    },
    /// The line does not begin with `cmd=NAME`.
    #[error("a line that does not begin with \"cmd=\": {begin:?}")]
    NoCommand {
        /// How it begins instead.
        begin: String,
    },
    /// A word without `=`, or with nothing before it.
    #[error("a word that is not key=value: {word:?}")]
    NotKeyValue {
        /// The word.
        word: String,
    },
    /// A key occurs twice.
    #[error("the key {key:?} twice in one line")]
    Twice {
        /// The key.
        key: String,
    },
}

/// The most of a malformed line that an error quotes.
const QUOTED_CHARS_MAX: usize = 40;

pub(super) fn quoted(text: &str) -> String {
    text.chars().take(QUOTED_CHARS_MAX).collect()
}

/// `cmd=NAME` and the `key=value` words after it, from the words of `text`.
pub(super) fn command_and_fields(
    text: &str,
    words: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<(String, Vec<(String, String)>), LineError> {
    let mut words = words.into_iter();
    let first = words.next();
    let command = first.as_ref().and_then(|w| w.as_ref().strip_prefix("cmd="));
    let Some(command) = command.filter(|command| !command.is_empty()) else {
        let begin = quoted(text);
        return Err(LineError::NoCommand { begin });
    };
    let mut fields: Vec<(String, String)> = Vec::new();
    for word in words {
        let word = word.as_ref();
        let (key, value) = match word.split_once('=') {
            Some((key, value)) if !key.is_empty() => (key, value),
            _ => return Err(LineError::NotKeyValue { word: quoted(word) }),
        };
        if fields.iter().any(|(seen, _)| seen == key) {
            return Err(LineError::Twice { key: quoted(key) });
        }
        fields.push((key.to_owned(), value.to_owned()));
    }
    Ok((command.to_owned(), fields))
}

impl Line {
    /// An outgoing line: `cmd=command`, to be completed by [`Line::with`].
    pub fn new(command: &str) -> Line {
        debug_assert!(is_word(command));
        Line {
            command: command.to_owned(),
            fields: Vec::new(),
        }
    }

    /// Appends `key=value`. The caller has checked both with [`is_word`].
    #[must_use]
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Line {
        let value = value.to_string();
        debug_assert!(is_word(key) && !key.contains('='), "{key:?}");
        debug_assert!(value.is_empty() || is_word(&value), "{value:?}");
        self.fields.push((key.to_owned(), value));
        self
    }

    /// Reads one line, given without its newline.
    ///
    /// # Errors
    /// [`LineError`]; the peer's fault.
    pub fn parse(line: &[u8]) -> Result<Line, LineError> {
        if line.len() >= LINE_BYTES_MAX {
            return Err(LineError::TooLong {
                got_bytes: line.len(),
            });
        }
        let text = match std::str::from_utf8(line) {
            Ok(text) => text,
            Err(error) => {
                let at = error.valid_up_to();
                return Err(LineError::NotText {
                    byte: line.get(at).copied().unwrap_or(0),
                    at,
                });
            }
        };
        if let Some(at) = line
            .iter()
            .position(|byte| byte.is_ascii_control() && *byte != b'\t')
        {
            return Err(LineError::NotText {
                byte: line.get(at).copied().unwrap_or(0),
                at,
            });
        }
        let words = text.split([' ', '\t']).filter(|word| !word.is_empty());
        let (command, fields) = command_and_fields(text, words)?;
        Ok(Line { command, fields })
    }

    /// The line as it is sent, newline included.
    pub fn emit(&self) -> Vec<u8> {
        format!("{self}\n").into_bytes()
    }

    /// The name after `cmd=`.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The value of `key`, if the line has it.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cmd={}", self.command)?;
        for (key, value) in &self.fields {
            write!(f, " {key}={value}")?;
        }
        Ok(())
    }
}

/// Whether `text` can stand in a line as it is: not empty, no white space, no
/// control characters.
pub fn is_word(text: &str) -> bool {
    !text.is_empty()
        && !text
            .chars()
            .any(|c| c.is_ascii_whitespace() || c.is_ascii_control())
}

/// `text` in which `%`, and every byte that cannot stand in a line, is written as `%XX`.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() && (!c.is_ascii_graphic() || c == '%') {
            escaped.push_str(&format!("%{:02X}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// The reverse of [`escape`]. A `%` without two hexadecimal digits after it stands for
/// itself.
pub fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = bytes
            .get(at + 1..at + 3)
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if byte == b'%' => {
                plain.push(code);
                at += 3;
            }
            _ => {
                plain.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// Cuts a stream of bytes into lines.
#[derive(Debug, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
}

impl LineBuffer {
    /// Appends what was read.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next complete line, without its newline.
    ///
    /// # Errors
    /// [`LineError::TooLong`] when more than [`LINE_BYTES_MAX`] bytes hold no
    /// newline. The stream cannot be used any more then.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineError> {
        match self.bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) if end < LINE_BYTES_MAX => {
                let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
                line.pop();
                Ok(Some(line))
            }
            Some(end) => Err(LineError::TooLong { got_bytes: end }),
            None if self.bytes.len() >= LINE_BYTES_MAX => Err(LineError::TooLong {
                got_bytes: self.bytes.len(),
            }),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literal_lines() {
        let line = Line::parse(b"cmd=init pmi_version=1 pmi_subversion=1").unwrap();
        assert_eq!(line.command(), "init");
        assert_eq!(line.value("pmi_version"), Some("1"));
        assert_eq!(line.value("pmi_subversion"), Some("1"));
        assert_eq!(line.value("rc"), None);
        assert_eq!(line.emit(), b"cmd=init pmi_version=1 pmi_subversion=1\n");

        let line = Line::parse(b"cmd=put kvsname=kvs_1_0 key=a  value=b=c ").unwrap();
        assert_eq!(line.value("value"), Some("b=c"));
        assert_eq!(line.to_string(), "cmd=put kvsname=kvs_1_0 key=a value=b=c");

        assert_eq!(
            Line::parse(b"cmd=barrier_in").unwrap(),
            Line::new("barrier_in")
        );
        assert_eq!(
            Line::parse(b"cmd=x value=").unwrap().value("value"),
            Some("")
        );
        assert_eq!(
            Line::new("get_result")
                .with("rc", 0)
                .with("value", "v")
                .emit(),
            b"cmd=get_result rc=0 value=v\n"
        );
    }

    #[test]
    fn malformed_lines_say_what_is_wrong() {
        let error = |line: &[u8]| Line::parse(line).unwrap_err();
        assert_eq!(
            error(b""),
            LineError::NoCommand {
                begin: String::new()
            }
        );
        assert_eq!(
            error(b"cmd="),
            LineError::NoCommand {
                begin: "cmd=".into()
            }
        );
        assert_eq!(
            error(b"GET / HTTP/1.1"),
            LineError::NoCommand {
                begin: "GET / HTTP/1.1".into()
            }
        );
        assert_eq!(
            error(b"mcmd=spawn"),
            LineError::NoCommand {
                begin: "mcmd=spawn".into()
            }
        );
        assert_eq!(
            error(b"cmd=put key"),
            LineError::NotKeyValue { word: "key".into() }
        );
        assert_eq!(
            error(b"cmd=put =v"),
            LineError::NotKeyValue { word: "=v".into() }
        );
        assert_eq!(
            error(b"cmd=put a=1 a=2"),
            LineError::Twice { key: "a".into() }
        );
        assert_eq!(
            error(b"cmd=put a=\xff"),
            LineError::NotText { byte: 0xff, at: 10 }
        );
        assert_eq!(
            error(b"cmd=put a=\0"),
            LineError::NotText { byte: 0, at: 10 }
        );
        assert_eq!(error(&[b'x'; 5000]), LineError::TooLong { got_bytes: 5000 });
    }

    #[test]
    fn the_buffer_cuts_at_newlines_only() {
        let mut buffer = LineBuffer::default();
        assert_eq!(buffer.next_line(), Ok(None));
        buffer.extend(b"cmd=a\ncm");
        assert_eq!(buffer.next_line(), Ok(Some(b"cmd=a".to_vec())));
        assert_eq!(buffer.next_line(), Ok(None));
        buffer.extend(b"d=b\n\n");
        assert_eq!(buffer.next_line(), Ok(Some(b"cmd=b".to_vec())));
        assert_eq!(buffer.next_line(), Ok(Some(Vec::new())));
        buffer.extend(&[b'x'; LINE_BYTES_MAX]);
        assert_eq!(
            buffer.next_line(),
            Err(LineError::TooLong {
                got_bytes: LINE_BYTES_MAX
            })
        );
    }

    #[test]
    fn a_percent_sign_without_digits_stands_for_itself() {
        assert_eq!(unescape("100% %zz %2"), "100% %zz %2");
        assert_eq!(escape("a b\n%"), "a%20b%0A%25");
    }

    fn word() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[!-<>-~]{1,20}").unwrap()
    }

    proptest! {
        #[test]
        fn what_is_emitted_parses_to_the_same(
            command in word(),
            fields in proptest::collection::btree_map(word(), "[!-~é]{0,20}", 0..6),
        ) {
            let mut line = Line::new(&command);
            for (key, value) in &fields {
                line = line.with(key, value);
            }
            let bytes = line.emit();
            let (newline, body) = bytes.split_last().unwrap();
            prop_assert_eq!(*newline, b'\n');
            prop_assert_eq!(Line::parse(body), Ok(line));
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..6000)) {
            let _ = Line::parse(&bytes);
            let mut buffer = LineBuffer::default();
            buffer.extend(&bytes);
            while let Ok(Some(line)) = buffer.next_line() {
                let _ = Line::parse(&line);
            }
        }

        #[test]
        fn escaped_text_is_a_word_and_comes_back(text in "\\PC{1,40}|[ -~\n\t%]{1,40}") {
            let escaped = escape(&text);
            prop_assert!(is_word(&escaped), "{:?}", escaped);
            prop_assert_eq!(unescape(&escaped), text);
        }
    }
}
