//! Text for people: lines that fit, tables, and figures in units that read well. Output for
//! programs keeps base units and is not made here.
//!
//! | file | |
//! |---|---|
//! | [`figure`] | a value and its unit, scaled |
//! | [`table`] | columns as wide as what is in them, in blocks as wide as the terminal |
//! | [`paint`] | colours of what is wrong |

mod figure;
pub mod paint;
mod table;

use std::io::IsTerminal;

#[cfg(target_os = "linux")]
pub use figure::scale;
pub use figure::{figure, significant};
pub use table::{Align, Table};

/// The width of a text that goes to a file or a pipe.
const COLUMNS: usize = 100;
/// A narrower text would not be readable.
const COLUMNS_MIN: usize = 40;

/// How many columns a text on standard output may have: those of the terminal, or of the
/// variable `COLUMNS`, or 100.
pub fn columns() -> usize {
    let stdout = std::io::stdout();
    let terminal = stdout
        .is_terminal()
        .then(|| rustix::termios::tcgetwinsize(stdout).ok())
        .flatten()
        .map(|size| usize::from(size.ws_col));
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal
        .filter(|columns| *columns > 0)
        .or_else(variable)
        .unwrap_or(COLUMNS)
        .max(COLUMNS_MIN)
}

/// `text` with its words in lines of at most `columns`, each behind `indent`. Ends in a newline.
pub fn wrapped(indent: &str, text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in words_of_lines(text, columns.saturating_sub(indent.chars().count())) {
        out += &format!("{indent}{line}\n");
    }
    out
}

/// The words of `text` in lines of at most `columns`; a longer word has a line of its own. At
/// least one line.
fn words_of_lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { break };
        let length = line.chars().count();
        if length == 0 {
            line.push_str(word);
        } else if length + 1 + word.chars().count() <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// Wraps each line that is too long: it continues below its last column if columns are two or
/// more blanks apart, else a little further in.
pub fn fit(text: &str, columns: usize) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if line.trim_end().chars().count() <= columns {
            out.push_str(line);
            continue;
        }
        let (fixed, words) = hang(line, columns);
        let indent = " ".repeat(fixed.chars().count());
        let room = columns.saturating_sub(indent.len());
        for (index, part) in words_of_lines(words, room).iter().enumerate() {
            let before = if index == 0 { fixed } else { &indent };
            out += &format!("{before}{part}\n");
        }
    }
    out
}

/// The fixed front part of a line, and the part behind it that can be wrapped.
fn hang(line: &str, columns: usize) -> (&str, &str) {
    let line = line.trim_end();
    let text_at = line.len() - line.trim_start().len();
    // Columns are ASCII as far as they are looked at: a byte is a column.
    let last = line.rfind("  ").map(|at| at + 2).filter(|at| *at > text_at);
    match last {
        Some(at) if at <= columns * 2 / 3 && line.is_char_boundary(at) => line.split_at(at),
        _ => line.split_at(text_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widest(text: &str) -> usize {
        text.lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0)
    }

    #[test]
    fn sentences_are_wrapped_between_words() {
        let text = wrapped("    ", &"word ".repeat(40), 50);
        assert_eq!(widest(&text), 48);
        assert!(
            text.lines().all(|line| line.starts_with("    word")),
            "{text}"
        );
        assert_eq!(text.split_whitespace().count(), 40);
        assert_eq!(wrapped("", "a b", 40), "a b\n");
        assert_eq!(wrapped("", "", 40), "\n");
        let long = "x".repeat(60);
        assert_eq!(
            wrapped("", &format!("a {long} b"), 40),
            format!("a\n{long}\nb\n")
        );
    }

    #[test]
    fn long_lines_go_on_below_their_last_column() {
        let text = "short\n  name  0x1   one two three four five six seven eight\n";
        let expected =
            "short\n  name  0x1   one two three four five\n              six seven eight\n";
        assert_eq!(fit(text, 40), expected);
        let text = "one two three four five six seven eight nine";
        assert_eq!(
            fit(text, 40),
            "one two three four five six seven eight\nnine\n"
        );
        assert_eq!(fit("as it is", 40), "as it is");
    }
}
