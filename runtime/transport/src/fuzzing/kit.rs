//! The common parts of checks: reading a script from any bytes, and the rules for every text
//! that a user may read.

use core::fmt::Display;
use core::str::FromStr;
use std::cell::RefCell;

/// The longest text that an error may have. A terminal shows it on one page.
const TEXT_BYTES_MAX: usize = 4096;

/// A check with the name of its fuzz target, and seeds that reach into every part of it.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name: of the target, and of the folder of its corpus.
    pub name: &'static str,
    /// Takes any bytes and returns; panics if something is wrong.
    pub check: fn(&[u8]),
    /// The first files of its corpus.
    pub seeds: fn() -> Seeds,
    /// Its cost: it gets so many times fewer inputs than the cheapest check.
    pub cost: u32,
}

/// Names and contents of files.
pub type Seeds = Vec<(String, Vec<u8>)>;

/// Seeds whose names are string literals.
pub fn named(seeds: Vec<(&str, Vec<u8>)>) -> Seeds {
    let seeds = seeds.into_iter();
    seeds
        .map(|(name, bytes)| (name.to_owned(), bytes))
        .collect()
}

/// Seeds that are texts.
pub fn texts(seeds: &[(&str, &str)]) -> Seeds {
    let bytes = |(name, text): &(&str, &str)| ((*name).to_owned(), text.as_bytes().to_vec());
    seeds.iter().map(bytes).collect()
}

thread_local! {
    static MARKS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The most marks of one input.
const MARKS_MAX: usize = 64;

/// Notes that an input reached a place. An input that reaches a new place is a good base for
/// further changes. Numbers and quoted text make no difference.
pub fn mark(place: &str) {
    let mut is_quoted = false;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut bytes = place.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' {
            bytes.next();
            continue;
        }
        is_quoted ^= b"\"`".contains(&byte);
        if !is_quoted && !byte.is_ascii_digit() {
            // FNV-1a.
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    MARKS.with_borrow_mut(|marks| {
        if marks.len() < MARKS_MAX {
            marks.push(hash);
        }
    });
}

/// The places that were noted since the last call.
pub fn take_marks() -> Vec<u64> {
    MARKS.take()
}

/// Any bytes as a script. Missing bytes at its end read as zero.
#[derive(Debug, Clone)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// Reads `bytes` from their beginning.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Whether all of it was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that were not read.
    pub fn rest(&mut self) -> &'a [u8] {
        core::mem::take(&mut self.0)
    }

    /// The next `len` bytes, or as many as there are.
    pub fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (now, later) = self.0.split_at(len.min(self.0.len()));
        self.0 = later;
        now
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// A byte with the length, then so many bytes; 255 stands for all that there is.
    pub fn chunk(&mut self) -> &'a [u8] {
        match self.byte() {
            u8::MAX => self.rest(),
            len => self.bytes(len.into()),
        }
    }

    /// As [`chunk`](Self::chunk), as text.
    pub fn text(&mut self) -> String {
        String::from_utf8_lossy(self.chunk()).into_owned()
    }

    /// Eight bytes, little endian.
    pub fn word(&mut self) -> u64 {
        let mut word = [0; 8];
        let bytes = self.bytes(8);
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    }

    /// A small number is one byte. Some bytes above 199 stand for numbers close to limits, and
    /// 255 for the number in the next eight bytes.
    pub fn number(&mut self) -> u64 {
        match self.byte() {
            u8::MAX => self.word(),
            small @ ..200 => small.into(),
            edge => {
                let power = [8, 12, 13, 16, 18, 20, 24, 31, 32, 40, 48, 62, 63, 64];
                let index = usize::from(edge - 200);
                let power = power.get(index / 4).copied().unwrap_or(64);
                let edge = 1_u128 << power;
                // At most 2^64 + 1, which wraps around.
                (edge + index as u128 % 4).wrapping_sub(2) as u64
            }
        }
    }
}

/// A script out of steps: see [`Input`].
#[derive(Debug, Default, Clone)]
pub struct Script(Vec<u8>);

impl Script {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends one byte.
    #[must_use]
    pub fn byte(mut self, byte: u8) -> Self {
        self.0.push(byte);
        self
    }

    /// Appends bytes as they are.
    #[must_use]
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Appends what [`Input::chunk`] reads: up to 254 bytes.
    #[must_use]
    pub fn chunk(self, bytes: &[u8]) -> Self {
        let len = bytes.len().min(254);
        self.byte(len as u8)
            .bytes(bytes.get(..len).unwrap_or_default())
    }

    /// Appends what [`Input::number`] reads.
    #[must_use]
    pub fn number(self, number: u64) -> Self {
        match u8::try_from(number) {
            Ok(small @ ..200) => self.byte(small),
            _ => self.byte(u8::MAX).bytes(&number.to_le_bytes()),
        }
    }

    /// The bytes.
    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// Checks a text that a user may read: it is not empty, fits one page, and has no
/// control characters, which a terminal would obey.
///
/// # Panics
/// If the rule is broken.
#[track_caller]
pub fn shown(text: impl core::fmt::Display) {
    let text = text.to_string();
    mark(&text);
    assert!(!text.trim().is_empty(), "an error without a text");
    let control = text.chars().find(|c| c.is_control());
    assert_eq!(control, None, "a control character in {text:?}");
    let cut: String = text.chars().take(200).collect();
    assert!(
        text.len() <= TEXT_BYTES_MAX,
        "an error of {} bytes: {cut:?} ...",
        text.len()
    );
}

/// As [`shown`], and it names one of `who`, the one at fault.
///
/// # Panics
/// If the rule is broken.
#[track_caller]
pub fn blames(text: impl core::fmt::Display, who: &[&str]) {
    let text = text.to_string();
    shown(&text);
    assert!(
        who.iter().any(|name| text.contains(name)),
        "{text:?} names none of {who:?}"
    );
}

/// A parsed value is printed, and parses to the same value again. An error blames one of
/// `who`. Returns the text.
pub fn comes_back<T>(bytes: &[u8], who: &[&str]) -> Option<String>
where
    T: FromStr<Err: Display> + Display,
{
    let text = String::from_utf8_lossy(bytes);
    match text.parse::<T>() {
        Ok(value) => {
            let again = value.to_string();
            shown(&again);
            // Compared by text: values with a key cannot be compared.
            let parsed = again.parse::<T>().ok();
            assert_eq!(parsed.map(|value| value.to_string()), Some(again.clone()));
            Some(again)
        }
        Err(error) => {
            blames(error, who);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_reads_as_it_was_written() {
        let numbers = [0, 7, 199, 200, 4096, u64::MAX];
        let script = numbers
            .into_iter()
            .fold(Script::new().byte(9).chunk(b"abc"), Script::number);
        let bytes = script.bytes(b"rest").done();
        let mut input = Input::new(&bytes);
        assert_eq!((input.byte(), input.chunk()), (9, &b"abc"[..]));
        assert_eq!(numbers.map(|_| input.number()), numbers);
        assert_eq!(input.rest(), b"rest");
        assert!(input.is_empty());
        assert_eq!(
            (input.byte(), input.number(), input.chunk()),
            (0, 0, &[][..])
        );
    }

    #[test]
    fn a_mark_is_of_the_kind_of_a_text() {
        let marks = |text: &str| {
            mark(text);
            take_marks()
        };
        assert_eq!(marks("PE 1: \"a\" is bad"), marks("PE 27: \"bc\" is bad"));
        assert_eq!(marks("`a` is bad"), marks("`bc` is bad"));
        assert_ne!(marks("PE 1 is bad"), marks("PE 1 is lost"));
        assert!(take_marks().is_empty());
    }

    #[test]
    fn one_byte_names_the_numbers_around_a_limit() {
        let numbers: Vec<u64> = (200..255)
            .map(|byte| Input::new(&[byte]).number())
            .collect();
        for edge in [
            254,
            256,
            4096,
            8191,
            (1 << 32) - 1,
            1 << 32,
            u64::MAX - 1,
            u64::MAX,
            0,
        ] {
            assert!(numbers.contains(&edge), "{edge}");
        }
    }

    #[test]
    fn texts_for_terminals_are_told_from_others() {
        let is_shown = |text: String| std::panic::catch_unwind(|| shown(text)).is_ok();
        assert!(is_shown("PE 3 broke the protocol".to_owned()));
        for bad in ["", " ", "a\u{1b}[2J", "a\nb", "\u{9b}31m"] {
            assert!(!is_shown(bad.to_owned()), "{bad:?}");
        }
        assert!(!is_shown("x".repeat(5000)));
    }
}
