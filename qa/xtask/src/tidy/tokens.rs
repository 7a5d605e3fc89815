//! Rust as tokens: enough to find functions, modules, attributes and paths, in macros as well.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

pub(super) fn list(stream: &TokenStream) -> Vec<TokenTree> {
    stream.clone().into_iter().collect()
}

pub(super) fn ident(token: Option<&TokenTree>) -> Option<&Ident> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident),
        _ => None,
    }
}

pub(super) fn is_ident(token: Option<&TokenTree>, name: &str) -> bool {
    ident(token).is_some_and(|ident| ident == name)
}

pub(super) fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// The group with this delimiter, if the token is one.
pub(super) fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Whether `::` stands at `at`.
pub(super) fn is_colons(tokens: &[TokenTree], at: usize) -> bool {
    is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':')
}

/// Whether one of these functions is called in it, or handed on by its path.
pub(super) fn calls(stream: &TokenStream, wanted: &dyn Fn(&str) -> bool) -> bool {
    calls_any(&list(stream), wanted)
}

/// As [`calls`], of tokens.
pub(super) fn calls_any(tokens: &[TokenTree], wanted: &dyn Fn(&str) -> bool) -> bool {
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Ident(name) => {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let is_called = group(tokens.get(at + 1), Delimiter::Parenthesis).is_some();
            // The method of some value is another function, whatever it is called.
            (is_called && !is_punct(before, '.') || is_punct(before, ':'))
                && wanted(&name.to_string())
        }
        TokenTree::Group(group) => calls(&group.stream(), wanted),
        _ => false,
    })
}

/// Attributes in front of the item whose keyword stands at `at`: what is in their brackets.
pub(super) fn attributes(tokens: &[TokenTree], at: usize) -> Vec<TokenStream> {
    let mut found = Vec::new();
    let mut at = at;
    while let Some(before) = at.checked_sub(1) {
        match tokens.get(before) {
            Some(TokenTree::Ident(word)) if is_modifier(word) => at = before,
            // `extern "C"`, `pub(crate)`.
            Some(TokenTree::Literal(_)) => at = before,
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => {
                at = before;
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => {
                if !before
                    .checked_sub(1)
                    .is_some_and(|sign| is_punct(tokens.get(sign), '#'))
                {
                    break;
                }
                found.push(group.stream());
                at = before - 1;
            }
            _ => break,
        }
    }
    found
}

fn is_modifier(word: &Ident) -> bool {
    ["pub", "async", "unsafe", "const", "extern", "safe"]
        .iter()
        .any(|modifier| word == modifier)
}

/// Whether these attributes leave the item to tests: `cfg(test)`, `cfg(all(test, ..))`.
pub(super) fn is_for_tests(attributes: &[TokenStream]) -> bool {
    attributes.iter().any(|attribute| {
        let attribute = list(attribute);
        let Some(condition) = group(attribute.get(1), Delimiter::Parenthesis) else {
            return false;
        };
        is_ident(attribute.first(), "cfg") && demands_test(&condition.stream())
    })
}

fn demands_test(condition: &TokenStream) -> bool {
    let condition = list(condition);
    if is_ident(condition.first(), "all") {
        let inner = group(condition.get(1), Delimiter::Parenthesis);
        return inner.is_some_and(|inner| {
            list(&inner.stream())
                .iter()
                .any(|token| is_ident(Some(token), "test"))
        });
    }
    is_ident(condition.first(), "test") && condition.len() == 1
}

/// A function with a body.
pub(super) struct Function {
    pub(super) name: String,
    /// Where `fn` stands.
    pub(super) line: usize,
    /// How many lines it has, from `fn` to the closing brace.
    pub(super) lines: usize,
    pub(super) attributes: Vec<TokenStream>,
    /// The first word of what it returns; empty if that is nothing.
    pub(super) output: String,
    /// Whether it is in a module that only tests have.
    pub(super) is_for_tests: bool,
    pub(super) body: TokenStream,
}

impl Function {
    /// Whether it is a test.
    pub(super) fn is_test(&self) -> bool {
        self.attributes.iter().any(|attribute| {
            let attribute = list(attribute);
            attribute.len() == 1 && is_ident(attribute.first(), "test")
        })
    }
}

/// All functions in it, those in other functions as well.
pub(super) fn functions(stream: &TokenStream) -> Vec<Function> {
    let mut found = Vec::new();
    add_functions(stream, false, &mut found);
    found
}

fn add_functions(stream: &TokenStream, in_tests: bool, found: &mut Vec<Function>) {
    let tokens = list(stream);
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            let module = at
                .checked_sub(2)
                .filter(|module| is_ident(tokens.get(*module), "mod"));
            let in_tests =
                in_tests || module.is_some_and(|module| is_for_tests(&attributes(&tokens, module)));
            add_functions(&group.stream(), in_tests, found);
        }
        if is_ident(Some(token), "fn") {
            found.extend(function(&tokens, at, in_tests));
        }
    }
}

/// The function whose `fn` stands at `at`. A type of functions has no name, and some have no body.
fn function(tokens: &[TokenTree], at: usize, is_for_tests: bool) -> Option<Function> {
    let name = ident(tokens.get(at + 1))?;
    let rest = tokens.get(at..)?;
    let ends = |token: &TokenTree| {
        is_punct(Some(token), ';') || group(Some(token), Delimiter::Brace).is_some()
    };
    let end = rest.iter().position(ends)?;
    let body = group(rest.get(end), Delimiter::Brace)?;
    let arrow = (0..end).find(|&at| is_punct(rest.get(at), '-') && is_punct(rest.get(at + 1), '>'));
    let output = arrow.and_then(|arrow| ident(rest.get(arrow + 2)));
    let line = name.span().start().line;
    Some(Function {
        name: name.to_string(),
        line,
        lines: body.span_close().end().line - line + 1,
        attributes: attributes(tokens, at),
        output: output.map(ToString::to_string).unwrap_or_default(),
        is_for_tests,
        body: body.stream(),
    })
}
