//! Words of others in texts that a user reads: a launcher's reason, a peer's refusal, the value of
//! a variable. They may hold anything, and a terminal obeys control characters.

/// Most characters of somebody else's words in an error.
const PRINTABLE_CHARS_MAX: usize = 1000;
/// Most characters of a value that is quoted because it is wrong.
const QUOTED_CHARS_MAX: usize = 80;

/// `text` as one line without control characters, and not longer than can be read.
pub fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    cut(text, PRINTABLE_CHARS_MAX).map(shown).collect()
}

/// `text` in quotes, with escapes, and no more of it than tells what is wrong.
pub fn quoted(text: &str) -> String {
    format!("{:?}", cut(text, QUOTED_CHARS_MAX).collect::<String>())
}

/// Says by three dots that there is more.
fn cut(text: &str, chars_max: usize) -> impl Iterator<Item = char> {
    let is_cut = text.chars().nth(chars_max).is_some();
    let more = if is_cut { "..." } else { "" };
    text.chars().take(chars_max).chain(more.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        assert_eq!(printable("a\u{1b}[2J\nb\u{9b}é"), "a [2J b é");
        assert_eq!(quoted("a\u{1b}\n\"é"), "\"a\\u{1b}\\n\\\"é\"");
    }

    #[test]
    fn long_texts_end_with_dots() {
        assert_eq!(printable(&"é".repeat(1000)), "é".repeat(1000));
        assert_eq!(printable(&"é".repeat(1001)), "é".repeat(1000) + "...");
        assert_eq!(
            quoted(&"x".repeat(5000)),
            format!("{:?}", "x".repeat(80) + "...")
        );
    }
}
