//! A trace of messages: CSV with time, sender, receiver and size.

use std::io::BufRead;

use super::{Message, Messages};

/// The first line.
const HEAD: &str = "time_ns,from,to,bytes";
/// Longest line.
const LINE_BYTES_MAX: u64 = 4096;

/// Why a trace cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line is wrong.
    #[error("line {line}: {what}")]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong.
        what: String,
    },
    /// There are too many messages, or too many bytes.
    #[error("more than {max} lines of 64 bytes: split the trace")]
    Long {
        /// Lines that can be simulated.
        max: u64,
    },
    /// There is no message.
    #[error("no message")]
    Empty,
}

/// What the reader has to know of the cluster.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'n> {
    /// Names of the processors, by index.
    pub names: &'n [String],
    /// Largest message that the memory of each takes.
    pub bytes_max: u64,
    /// Lines of 64 bytes in all.
    pub lines_max: u64,
}

/// Reads a trace: the messages of each processor, and the size of the largest one.
///
/// # Errors
/// [`TraceError`] names the first line that is wrong.
pub fn read(
    mut input: impl BufRead,
    bounds: &Bounds<'_>,
) -> Result<(Vec<Messages>, u64), TraceError> {
    let mut senders: Vec<Vec<Message>> = vec![Vec::new(); bounds.names.len()];
    let (mut number, mut lines, mut largest) = (0, 0u64, 0);
    let mut text = Vec::new();
    loop {
        text.clear();
        let mut limited = std::io::Read::take(&mut input, LINE_BYTES_MAX);
        if limited.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        number += 1;
        let wrong = |what| TraceError::Line { line: number, what };
        let line = std::str::from_utf8(&text).map_err(|_| wrong("no UTF-8".to_owned()))?;
        let line = line.trim();
        if number == 1 {
            if line != HEAD {
                return Err(wrong(format!("expected `{HEAD}`")));
            }
            continue;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (from, message) = parse(line, bounds).map_err(wrong)?;
        lines = lines.saturating_add(message.bytes.div_ceil(64));
        if lines > bounds.lines_max {
            let max = bounds.lines_max;
            return Err(TraceError::Long { max });
        }
        let sent = &mut senders[from];
        if sent.last().is_some_and(|last| last.due_ps > message.due_ps) {
            let before = "a message of the same sender before it is later";
            return Err(wrong(before.to_owned()));
        }
        largest = largest.max(message.bytes);
        sent.push(message);
    }
    if largest == 0 {
        return Err(TraceError::Empty);
    }
    let senders = senders.into_iter();
    let senders = senders.map(|sent| Box::new(sent.into_iter()) as Messages);
    Ok((senders.collect(), largest))
}

fn parse(line: &str, bounds: &Bounds<'_>) -> Result<(usize, Message), String> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [time, from, to, bytes] = fields[..] else {
        return Err(format!("{} fields, expected 4: {HEAD}", fields.len()));
    };
    let processor = |name: &str| {
        let found = bounds.names.iter().position(|known| known == name);
        found.ok_or_else(|| format!("there is no processor `{}`", clip(name)))
    };
    let (from, to) = (processor(from)?, processor(to)?);
    if from == to {
        return Err("a processor does not send to itself".to_owned());
    }
    let due_ps = time_ps(time).ok_or_else(|| {
        let time = clip(time);
        format!("`{time}` is no time: expected nanoseconds such as 12.5")
    })?;
    let max = bounds.bytes_max;
    let bytes = bytes.parse().ok().filter(|bytes| (1..=max).contains(bytes));
    let bytes = bytes.ok_or_else(|| format!("`bytes` has to be 1 to {max}"))?;
    let message = Message {
        due_ps: Some(due_ps),
        to,
        bytes,
    };
    Ok((from, message))
}

/// Nanoseconds with up to three decimals, in picoseconds.
fn time_ps(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 3 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let part: u64 = format!("{part:0<3}").parse().ok()?;
    // A day: later times are a mistake in the unit.
    let day_ps = 86_400 * 1_000_000_000_000;
    let ps = whole.checked_mul(1_000)?.checked_add(part)?;
    (ps <= day_ps).then_some(ps)
}

fn clip(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn outcome(text: &[u8]) -> Result<(Vec<Vec<Message>>, u64), String> {
        let names = ["a", "b"].map(str::to_owned);
        let bounds = Bounds {
            names: &names,
            bytes_max: 4096,
            lines_max: 100,
        };
        let read = read(text, &bounds).map_err(|error| error.to_string())?;
        let senders = read.0.into_iter().map(|messages| messages.collect());
        Ok((senders.collect(), read.1))
    }

    #[test]
    fn reads_messages_by_sender() {
        let text = b"time_ns,from,to,bytes\n# comment\n0,a,b,64\n\n1.5, b ,a,1\r\n2,a,b,4096";
        let (senders, largest) = outcome(text).unwrap();
        let message = |due_ps, to, bytes| Message {
            due_ps: Some(due_ps),
            to,
            bytes,
        };
        assert_eq!(senders[0], [message(0, 1, 64), message(2_000, 1, 4096)]);
        assert_eq!(senders[1], [message(1_500, 0, 1)]);
        assert_eq!(largest, 4096);
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        let head = "time_ns,from,to,bytes\n";
        for (text, want) in [
            ("0,a,b,64\n", "line 1: expected `time_ns"),
            ("1,a,b\n", "line 2: 3 fields"),
            ("1,a,c,64\n", "line 2: there is no processor `c`"),
            ("1,a,a,64\n", "line 2: a processor does not send to itself"),
            ("x,a,b,64\n", "line 2: `x` is no time"),
            ("-1,a,b,64\n", "is no time"),
            ("1.0001,a,b,64\n", "is no time"),
            ("99999999999999999999,a,b,64\n", "is no time"),
            ("1,a,b,0\n", "line 2: `bytes` has to be 1 to 4096"),
            ("1,a,b,4097\n", "1 to 4096"),
            (
                "2,a,b,64\n1,a,b,64\n",
                "line 3: a message of the same sender",
            ),
            ("1,a,b,4096\n1,b,a,4096\n", "more than 100 lines"),
            ("# nothing\n", "no message"),
        ] {
            let text = match want.starts_with("line 1") {
                true => text.to_owned(),
                false => format!("{head}{text}"),
            };
            let error = outcome(text.as_bytes()).unwrap_err();
            assert!(error.contains(want), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let text = [b"time_ns,from,to,bytes\n".as_slice(), &bytes].concat();
            let _ = outcome(&text);
        }
    }
}
