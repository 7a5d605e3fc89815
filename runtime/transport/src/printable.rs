//! Text from outside that a user reads: a launcher's reason, a peer's refusal, the value of a
//! variable. They may contain anything. A terminal obeys control characters, and some characters
//! make it show text in another order (U+202E and similar ones).

/// The most characters of such text in an error.
const PRINTABLE_CHARS_MAX: usize = 1000;
/// Most characters of a value that is quoted because it is wrong.
const QUOTED_CHARS_MAX: usize = 80;

/// `text` as one line without characters that a terminal obeys, and not longer than can be
/// read.
pub fn printable(text: &str) -> String {
    let text: String = cut(text, PRINTABLE_CHARS_MAX).collect();
    visible(&text.replace('\n', " "))
}

/// `text` of any number of lines, without characters that a terminal obeys: control
/// characters except line ends become spaces, and format characters, which have no
/// width, are shown by their numbers. The output of commands goes through this.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if c.is_control() => shown.push(' '),
            c if is_format(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

/// Characters that reorder, join or hide other characters, or end lines: those of Unicode's
/// categories Cf, Zl and Zp that texts of files and peers do not need.
const fn is_format(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// `text` in quotes, with escapes, cut to a length that is enough to see the fault.
pub fn quoted(text: &str) -> String {
    format!("{:?}", cut(text, QUOTED_CHARS_MAX).collect::<String>())
}

/// Says by three dots that there is more.
fn cut(text: &str, chars_max: usize) -> impl Iterator<Item = char> {
    let is_cut = text.chars().nth(chars_max).is_some();
    let more = if is_cut { "..." } else { "" };
    text.chars().take(chars_max).chain(more.chars())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        assert_eq!(printable("a\u{1b}[2J\nb\u{9b}é"), "a [2J b é");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(visible("a\n\u{2066}b\u{7f}"), "a\n\\u{2066}b ");
        assert_eq!(quoted("\u{202e}"), "\"\\u{202e}\"");
        assert_eq!(quoted("a\u{1b}\n\"é"), "\"a\\u{1b}\\n\\\"é\"");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..Default::default()
        })]

        /// For any text: no character is left that a terminal obeys, and harmless ones
        /// remain.
        #[test]
        fn nothing_that_is_obeyed_is_left(
            text in proptest::collection::vec(
                proptest::prop_oneof![
                    proptest::prelude::any::<char>(),
                    proptest::char::range('\u{0}', '\u{a0}'),
                    proptest::char::range('\u{2000}', '\u{206f}'),
                ],
                0..100,
            ),
        ) {
            let text: String = text.into_iter().collect();
            let obeyed = |c: char| {
                (c.is_control() && c != '\n')
                    || ('\u{202a}'..='\u{202e}').contains(&c)
                    || ('\u{2066}'..='\u{2069}').contains(&c)
                    || ['\u{200e}', '\u{200f}', '\u{61c}', '\u{2028}', '\u{2029}'].contains(&c)
            };
            for shown in [visible(&text), printable(&text), quoted(&text)] {
                proptest::prop_assert!(!shown.contains(obeyed), "{shown:?}");
            }
            proptest::prop_assert!(!printable(&text).contains('\n'));
            let letters: String = text.chars().filter(|c| c.is_alphanumeric()).collect();
            proptest::prop_assert!(letters.chars().all(|c| visible(&text).contains(c)));
        }
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
