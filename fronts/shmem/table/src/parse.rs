//! Reads the table.
//!
//! Plain text; `#` begins a comment line. A line that is indented further than the statement
//! before it and is nothing else continues it. At the margin:
//!
//! ```text
//! type NAME = C | RUST [| DISTINCT C]     a TYPENAME
//! list NAME = TYPENAME...                 types that a family may be for
//! size BITS = RUST                        a SIZE, and the element that is moved
//! sizes NAME = BITS...                    sizes that a family may be for
//! constant KIND NAME [OLD NAME] = VALUE   a macro; KIND is int, long or string
//! handle C NAME = VALUE                   a macro for an opaque pointer
//! parameter NAME = TEXT                   what a parameter means
//! pointer NAME = ROLE [COUNT] [optional]  what a parameter points to, unless a family says otherwise
//! chapter TITLE                           of the pages that follow
//! page NAME: SUMMARY                      of the manual
//! ```
//!
//! In a page, indented once: prototypes, each with its properties (indented twice, separated
//! by `;`), lines of text behind `|`, and `returns:`. The properties:
//!
//! ```text
//! for LIST            one function for each type: TYPENAME and TYPE are replaced
//! sizes LIST          one function for each size: SIZE is replaced
//! ctx                 and the same again with a context
//! generic NAME        the C11 macro and C++ overload that choose by type
//! since VERSION       of OpenSHMEM
//! deprecated VERSION  of OpenSHMEM
//! extension           not of OpenSHMEM; declared in shmemx.h if it is not generic
//! inline              without a context, an inline function in programs that ask for it
//! noreturn            does not return
//! c                   implemented in the C file
//! short               its routine looks at its arguments itself, where nothing is in reach
//! named               its routine takes the name of the function as first argument
//! symmetric NAME [COUNT] [optional]
//!                     the parameter points to symmetric memory; COUNT is a number, the name of a
//!                     parameter, `elements` (`nelems`, `nreduce` or one), `COUNT*team` or
//!                     `COUNT*PE_size` for each member, `span(BLOCKS,STRIDE[,BLOCK])`, or `mask(NAME)`:
//!                     one, unless that parameter is 0. `elements` if there is none
//! reads, writes ...   the same for memory of the calling process
//! any NAME            any address
//! rust CALL           what the glue calls: a path below crate::api, with arguments if they
//!                     are not the function's own
//! ```

use std::fmt::{self, Display, Formatter};

use crate::pointers::Pointer;
use crate::{Constant, Family, Handle, Page, Prototype, Table, Type};

/// A fault of the table, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The fault.
    pub what: String,
}

impl Display for TableError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

impl std::error::Error for TableError {}

/// Reads files one after another into one table, and checks that all names in them exist.
pub fn parse(files: &[(&str, &str)]) -> Result<Table, TableError> {
    let mut reader = Reader::default();
    for (file, text) in files {
        for statement in statements(text) {
            reader.statement(&statement).map_err(|what| TableError {
                file: (*file).to_string(),
                line: statement.line,
                what,
            })?;
        }
    }
    Ok(reader.table)
}

/// One line of the table, with those that continue it.
struct Statement {
    line: usize,
    indent: usize,
    text: String,
}

fn statements(text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let lines = text.lines().enumerate();
    for (number, line) in lines.filter(|(_, line)| !line.trim_start().starts_with('#')) {
        let content = line.trim();
        if content.is_empty() {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        match statements.last_mut() {
            Some(last) if continues(last, indent) => {
                last.text.push(' ');
                last.text.push_str(content);
            }
            _ => statements.push(Statement {
                line: number + 1,
                indent,
                text: content.into(),
            }),
        }
    }
    statements
}

/// A prototype that is not closed continues, and so does text that is not a list of
/// prototypes or properties.
fn continues(last: &Statement, indent: usize) -> bool {
    let is_open = last.text.contains('(') && !last.text.contains(')');
    let takes_lines = match last.indent {
        0 => !last.text.starts_with("page ") && !last.text.starts_with("chapter "),
        4 => last.text.starts_with("returns:"),
        _ => false,
    };
    indent > last.indent && ((last.indent == 4 && is_open) || takes_lines)
}

#[derive(Default)]
struct Reader {
    table: Table,
    chapter: String,
}

impl Reader {
    fn statement(&mut self, statement: &Statement) -> Result<(), String> {
        match statement.indent {
            0 => self.top(&statement.text),
            4 => self.in_page(&statement.text),
            8 => self.properties(&statement.text),
            other => Err(format!("indented by {other}, not by 0, 4 or 8")),
        }
    }

    fn top(&mut self, text: &str) -> Result<(), String> {
        let (keyword, rest) = text.split_once(' ').ok_or("only one word")?;
        match keyword {
            "chapter" => self.chapter = rest.trim().to_string(),
            "page" => self.page(rest)?,
            _ => {
                let (name, value) = rest.split_once('=').ok_or("there is no '='")?;
                self.definition(keyword, name.trim(), value.trim())?;
            }
        }
        Ok(())
    }

    fn page(&mut self, text: &str) -> Result<(), String> {
        let (name, summary) = text.split_once(':').ok_or("a page is NAME: SUMMARY")?;
        self.table.pages.push(Page {
            chapter: self.chapter.clone(),
            name: name.trim().to_string(),
            summary: summary.trim().to_string(),
            text: Vec::new(),
            returns: String::new(),
            families: Vec::new(),
        });
        Ok(())
    }

    fn definition(&mut self, keyword: &str, name: &str, value: &str) -> Result<(), String> {
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_string)
                .collect::<Vec<_>>()
        };
        let table = &mut self.table;
        match keyword {
            "type" => table.types.push(type_of(name, value)?),
            "list" => {
                let names = words(value);
                let unknown = names
                    .iter()
                    .find(|name| table.types.iter().all(|of| of.name != **name));
                if let Some(unknown) = unknown {
                    return Err(format!("there is no type {unknown}"));
                }
                table.lists.push((name.into(), names));
            }
            "size" => table.sizes.push((name.into(), value.into())),
            "sizes" => table.size_lists.push((name.into(), words(value))),
            "parameter" => table.parameters.push((name.into(), value.into())),
            "pointer" => {
                let pointer = Pointer::parse(value)
                    .ok_or_else(|| format!("'{value}' does not say what a pointer names"))?;
                table.pointers.push((name.into(), pointer));
            }
            "handle" => {
                let (c, name) = name
                    .split_once(' ')
                    .ok_or("a handle is TYPE NAME = VALUE")?;
                let (c, name, value) = (c.into(), name.trim().into(), value.into());
                table.handles.push(Handle { c, name, value });
            }
            "constant" => {
                let mut names = name.split_whitespace().map(str::to_string);
                let kind = names.next().unwrap_or_default();
                let name = names.next().ok_or("a constant is KIND NAME = VALUE")?;
                if !["int", "long", "string"].contains(&kind.as_str()) {
                    return Err(format!("a constant is int, long or string, not {kind}"));
                }
                let (old_name, value) = (names.next(), value.into());
                table.constants.push(Constant {
                    kind,
                    name,
                    old_name,
                    value,
                });
            }
            other => return Err(format!("there is no statement '{other}'")),
        }
        Ok(())
    }

    fn in_page(&mut self, text: &str) -> Result<(), String> {
        let page = self.table.pages.last_mut().ok_or("this is on no page")?;
        if let Some(line) = text.strip_prefix('|') {
            add_line(&mut page.text, line.trim());
        } else if let Some(returns) = text.strip_prefix("returns:") {
            page.returns = returns.trim().to_string();
        } else {
            let prototype = Prototype::parse(text).ok_or("this is no prototype")?;
            page.families.push(Family {
                prototype,
                types: None,
                sizes: None,
                has_ctx: false,
                generic: None,
                since: None,
                deprecated: None,
                is_extension: false,
                is_inline: false,
                is_noreturn: false,
                is_c: false,
                is_short: false,
                is_named: false,
                pointers: Vec::new(),
                rust: None,
            });
        }
        Ok(())
    }

    fn properties(&mut self, text: &str) -> Result<(), String> {
        let page = self.table.pages.last_mut().ok_or("this is on no page")?;
        let family = page
            .families
            .last_mut()
            .ok_or("there is no prototype before this")?;
        for property in text.split(';').map(str::trim) {
            let (keyword, value) = property.split_once(' ').unwrap_or((property, ""));
            let value = value.trim().to_string();
            match keyword {
                "for" if self.table.lists.iter().any(|(name, _)| *name == value) => {
                    family.types = Some(value);
                }
                "sizes" if self.table.size_lists.iter().any(|(name, _)| *name == value) => {
                    family.sizes = Some(value);
                }
                "ctx" => family.has_ctx = true,
                "generic" => family.generic = Some(value),
                "since" => family.since = Some(value),
                "deprecated" => family.deprecated = Some(value),
                "extension" => family.is_extension = true,
                "inline" => (family.is_inline, family.is_short) = (true, true),
                "short" => family.is_short = true,
                "named" => family.is_named = true,
                "symmetric" | "reads" | "writes" | "any" => {
                    let named = Pointer::parse_named(property).filter(|(name, _)| {
                        let prototype = &family.prototype;
                        prototype.has_parameter(name)
                    });
                    let pointer = named.ok_or_else(|| {
                        format!("'{property}' does not say what a pointer of it names")
                    })?;
                    family.pointers.push(pointer);
                }
                "noreturn" => family.is_noreturn = true,
                "c" => family.is_c = true,
                "rust" => family.rust = Some(value),
                _ => return Err(format!("there is no property '{property}'")),
            }
        }
        Ok(())
    }
}

fn type_of(name: &str, value: &str) -> Result<Type, String> {
    let parts: Vec<&str> = value.split('|').map(str::trim).collect();
    let (c, rust, distinct) = match parts[..] {
        [c, rust] => (c, rust, c),
        [c, rust, distinct] => (c, rust, distinct),
        _ => return Err("a type is NAME = C | RUST [| DISTINCT C]".into()),
    };
    let (name, c, rust, distinct) = (name.into(), c.into(), rust.into(), distinct.into());
    Ok(Type {
        name,
        c,
        rust,
        distinct,
    })
}

/// Lines become paragraphs; an empty one begins the next.
fn add_line(paragraphs: &mut Vec<String>, line: &str) {
    match paragraphs.last_mut() {
        _ if line.is_empty() => paragraphs.push(String::new()),
        Some(last) if !last.is_empty() => {
            last.push(' ');
            last.push_str(line);
        }
        Some(last) => last.push_str(line),
        None => paragraphs.push(line.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let result = parse(&[("test", text)]);
        result.expect_err("must be refused").to_string()
    }

    #[test]
    fn a_mistake_is_told_with_its_line() {
        assert_eq!(
            error("\nfoo bar = 1\n"),
            "test:2: there is no statement 'foo'"
        );
        assert_eq!(error("    void f(void)\n"), "test:1: this is on no page");
        assert_eq!(error("list a = b\n"), "test:1: there is no type b");
        assert_eq!(error("page f: s\n    f\n"), "test:2: this is no prototype");
        assert_eq!(
            error("page f: s\n    void f(void)\n        for nothing\n"),
            "test:3: there is no property 'for nothing'"
        );
    }

    #[test]
    fn lines_of_text_become_paragraphs() {
        let text =
            "page f: s\n    | one\n    | two\n    |\n    | three\n    returns: a\n        b\n";
        let table = parse(&[("test", text)]).expect("a table");
        assert_eq!(table.pages[0].text, ["one two", "three"]);
        assert_eq!(table.pages[0].returns, "a b");
    }
}
