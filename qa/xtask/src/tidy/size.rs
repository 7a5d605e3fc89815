//! Files and functions that are too long to be read at once.

use super::Finding;
use super::source::{Source, Sources};
use super::tokens;

/// The most lines of a file.
const FILE_LINES: usize = 700;
/// The most lines of a function, from its name to the closing brace.
const FUNCTION_LINES: usize = 80;
/// Files that are not read from beginning to end, or that a program writes.
const ANY_LENGTH: [&str; 4] = ["md", "toml", "h", "in"];

pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    sources
        .iter()
        .flat_map(|source| file(source).into_iter().chain(functions(source)))
        .collect()
}

fn file(source: &Source) -> Option<Finding> {
    let ending = source.path.extension()?.to_str()?;
    let lines = source.text.lines().count();
    if lines <= FILE_LINES || ANY_LENGTH.contains(&ending) {
        return None;
    }
    let text = format!("{lines} lines, more than {FILE_LINES}: split it by what its parts do");
    Some(source.finding(1, "file", "", text))
}

fn functions(source: &Source) -> Vec<Finding> {
    let Some(stream) = source.rust() else {
        return Vec::new();
    };
    let long = tokens::functions(stream)
        .into_iter()
        .filter(|function| function.lines > FUNCTION_LINES);
    let finding = |function: tokens::Function| {
        let tokens::Function {
            name, line, lines, ..
        } = function;
        let text = format!(
            "`{name}` has {lines} lines, more than {FUNCTION_LINES}: give its parts names of their own"
        );
        source.finding(line, "function", name, text)
    };
    long.map(finding).collect()
}
