//! One line of a trace.

use crate::models::memory::{Access, AccessKind};

use super::{Event, Format};

/// The fault of a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// It is not text.
    #[error("the line is not UTF-8")]
    NotUtf8,
    /// It is longer than any line of a trace.
    #[error("the line is longer than {bytes_max} bytes")]
    TooLong {
        /// Bytes.
        bytes_max: u64,
    },
    /// It begins with an unknown word.
    #[error("`{got}`: expected {expected}")]
    Word {
        /// The word, clipped.
        got: String,
        /// The words that are possible here.
        expected: &'static str,
    },
    /// Something is no number, or too large.
    #[error("`{got}` is no {what}")]
    Number {
        /// The meaning of the number.
        what: &'static str,
        /// The text of the file, clipped.
        got: String,
    },
    /// An access of no bytes, or beyond the last address.
    #[error("{bytes} bytes at {address:#x}: expected 1 to 1048576, below 2^64")]
    Range {
        /// First byte.
        address: u64,
        /// Bytes.
        bytes: u64,
    },
    /// There is more or less on the line than there should be.
    #[error("expected {expected}")]
    Shape {
        /// How the line should look.
        expected: &'static str,
    },
}

type Parsed = Result<[Option<Event>; 2], Wrong>;

/// Most bytes of one access: an instruction that stores registers has a few thousand.
const ACCESS_BYTES_MAX: u64 = 1 << 20;

/// The events of a line: none, one, or a load and a store.
pub(super) fn parse(line: &[u8], format: Format) -> Parsed {
    let line = std::str::from_utf8(line).map_err(|_| Wrong::NotUtf8)?;
    match format {
        Format::Simple => simple(line),
        Format::Lackey => lackey(line),
    }
}

/// The meaning of the first word of a line.
#[derive(Clone, Copy)]
enum Verb {
    Load,
    Store,
    Modify,
    Work,
}

fn simple(line: &str) -> Parsed {
    let line = line.split('#').next().unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    let Some(word) = words.next() else {
        return Ok([None, None]);
    };
    let verb = match word {
        "load" => Verb::Load,
        "store" => Verb::Store,
        "modify" => Verb::Modify,
        "work" => Verb::Work,
        other => {
            return Err(Wrong::Word {
                got: clip(other),
                expected: "`load`, `store`, `modify`, `work` or a comment",
            });
        }
    };
    let number = |what, text: &str| {
        let parsed = match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => text.parse(),
        };
        parsed.map_err(|_| Wrong::Number {
            what,
            got: clip(text),
        })
    };
    match (verb, words.next(), words.next(), words.next()) {
        (Verb::Work, Some(count), None, None) => {
            let count = number("count of instructions", count)?;
            Ok([Some(Event::Instructions(count)), None])
        }
        (Verb::Work, ..) => Err(Wrong::Shape {
            expected: "`work COUNT`",
        }),
        (verb, Some(address), Some(bytes), None) => {
            accesses(verb, number("address", address)?, number("size", bytes)?)
        }
        _ => Err(Wrong::Shape {
            expected: "`load ADDRESS BYTES`",
        }),
    }
}

fn lackey(line: &str) -> Parsed {
    let line = line.trim_end();
    // Valgrind's own messages, and the program's blank lines.
    if line.is_empty() || line.starts_with("==") || line.starts_with("--") {
        return Ok([None, None]);
    }
    let (verb, rest) = match line.get(..3) {
        Some("I  ") => (Verb::Work, &line[3..]),
        Some(" L ") => (Verb::Load, &line[3..]),
        Some(" S ") => (Verb::Store, &line[3..]),
        Some(" M ") => (Verb::Modify, &line[3..]),
        _ => {
            return Err(Wrong::Word {
                got: clip(line),
                expected: "`I  `, ` L `, ` S `, ` M ` or `==`",
            });
        }
    };
    let Some((address, bytes)) = rest.split_once(',') else {
        return Err(Wrong::Shape {
            expected: "ADDRESS,BYTES",
        });
    };
    let address = u64::from_str_radix(address, 16).map_err(|_| Wrong::Number {
        what: "hexadecimal address",
        got: clip(address),
    })?;
    let bytes = bytes.parse().map_err(|_| Wrong::Number {
        what: "size",
        got: clip(bytes),
    })?;
    match verb {
        // Where the instruction lies does not matter here: fetching it is work.
        Verb::Work => Ok([Some(Event::Instructions(1)), None]),
        verb => accesses(verb, address, bytes),
    }
}

fn accesses(verb: Verb, address: u64, bytes: u64) -> Parsed {
    let fits = bytes
        .checked_sub(1)
        .and_then(|more| address.checked_add(more));
    if fits.is_none() || bytes > ACCESS_BYTES_MAX {
        return Err(Wrong::Range { address, bytes });
    }
    let event = |kind| {
        Some(Event::Access(Access {
            address,
            bytes,
            kind,
        }))
    };
    Ok(match verb {
        Verb::Store => [event(AccessKind::Store), None],
        Verb::Modify => [event(AccessKind::Load), event(AccessKind::Store)],
        Verb::Load | Verb::Work => [event(AccessKind::Load), None],
    })
}

/// At most 40 characters, without control characters.
fn clip(text: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(40).map(clean).collect()
}
