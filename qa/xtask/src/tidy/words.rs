//! Marks of unfinished work. Such work belongs into an issue, or has to be done.

use super::Finding;
use super::source::Sources;

/// Words that stand alone.
const WORDS: [&str; 3] = ["TODO", "FIXME", "XXX"];
/// Macros that stand for code that is not there.
const MACROS: [&str; 2] = ["todo!", "unimplemented!"];

pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources.iter() {
        for (line, text) in source.text.lines().enumerate() {
            for word in WORDS
                .into_iter()
                .chain(MACROS)
                .filter(|word| has(text, word))
            {
                let what = format!("{word}: do it, or open an issue and leave the mark out");
                found.push(source.finding(line + 1, "word", word, what));
            }
        }
    }
    found
}

/// Whether it is there by itself, not as a part of a longer word.
fn has(text: &str, word: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    text.match_indices(word).any(|(at, _)| {
        let before = at.checked_sub(1).and_then(|at| text.as_bytes().get(at));
        let behind = text.as_bytes().get(at + word.len());
        !is_part(before) && (word.ends_with('!') || !is_part(behind))
    })
}
