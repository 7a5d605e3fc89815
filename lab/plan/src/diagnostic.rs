//! Diagnostics: what is wrong with a cluster file, where, and what to do.
//!
//! A [`Diagnostic`] holds byte spans only; [`Source::render`] turns it into text
//! with file, line and column, the source line and carets, in the manner of rustc.

use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;

/// A byte range of the cluster file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
        }
    }
}

/// A value and where in the file it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub span: Span,
}

/// Whether a diagnostic stops the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// There is no plan.
    Error,
    /// There is a plan, and something about it deserves a look.
    Warning,
}

/// A place in the file with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark, printed behind the carets.
    pub text: String,
}

/// One finding about a cluster file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A short stable name of the check, such as `link-width`.
    pub code: &'static str,
    /// The fault, in one line.
    pub message: String,
    /// Where: the first label is the main one. Empty for findings about the file as a whole.
    pub labels: Vec<Label>,
    /// More facts, one per line.
    pub notes: Vec<String>,
    /// What the user can do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A finding that stops the plan.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// A finding that does not stop the plan.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(code, message)
        }
    }

    /// Adds a place with a remark.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Adds a line of facts.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// A cluster file: its name, for messages, and its text; and further texts, if the input came
/// from several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    file: Text,
    others: Vec<Text>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    name: String,
    text: String,
    /// The offset that its first byte has in spans.
    start: usize,
}

impl Source {
    /// A source called `name` with this text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let file = Text {
            name: name.into(),
            text: text.into(),
            start: 0,
        };
        Self {
            file,
            others: Vec::new(),
        }
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// Adds another text that spans may point into, such as an option of the command
    /// line.
    ///
    /// Returns the offset of its first byte: a span begins there for the text's first
    /// character.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> usize {
        let last = self.others.last().unwrap_or(&self.file);
        // The end of a text is a place in it.
        let start = last.start + last.text.len() + 1;
        self.others.push(Text {
            name: name.into(),
            text: text.into(),
            start,
        });
        start
    }

    /// The text that an offset is in.
    fn text_at(&self, offset: usize) -> &Text {
        let mut others = self.others.iter().rev();
        others
            .find(|text| text.start <= offset)
            .unwrap_or(&self.file)
    }

    /// Line and column (both from 1; columns count characters) of a byte offset, in the text
    /// that it is in.
    ///
    /// Offsets past the end, or inside a character, mean the nearest place before.
    pub fn line_and_column(&self, offset: usize) -> (usize, usize) {
        self.text_at(offset).line_and_column(offset)
    }

    /// The diagnostic as text, several lines, ending in a newline.
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out, diagnostic);
        out
    }

    fn write(&self, out: &mut String, diagnostic: &Diagnostic) -> fmt::Result {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        writeln!(
            out,
            "{severity}[{}]: {}",
            diagnostic.code, diagnostic.message
        )?;
        let places: Vec<_> = diagnostic
            .labels
            .iter()
            .map(|label| {
                let text = self.text_at(label.span.start);
                (text, text.line_and_column(label.span.start), label)
            })
            .collect();
        let gutter = places
            .iter()
            .map(|(_, (line, _), _)| line.to_string().len())
            .max()
            .unwrap_or(1);
        for (i, (text, (line, column), label)) in places.iter().enumerate() {
            let arrow = if i == 0 { "-->" } else { ":::" };
            writeln!(out, "{:gutter$}{arrow} {}:{line}:{column}", "", text.name)?;
            text.write_label(out, gutter, *line, *column, label)?;
        }
        if places.is_empty() {
            writeln!(out, "{:gutter$}--> {}", "", self.file.name)?;
        }
        for note in &diagnostic.notes {
            writeln!(out, "{:gutter$} = note: {note}", "")?;
        }
        if let Some(help) = &diagnostic.help {
            writeln!(out, "{:gutter$} = help: {help}", "")?;
        }
        Ok(())
    }
}

impl Text {
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..self.floor(offset)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        (line, column)
    }

    /// The place in `text` that an offset means, at the beginning of a character.
    fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.saturating_sub(self.start).min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }

    fn write_label(
        &self,
        out: &mut String,
        gutter: usize,
        line: usize,
        column: usize,
        label: &Label,
    ) -> fmt::Result {
        const SHOWN_CHARS_MAX: usize = 160;
        let text = self.text.lines().nth(line - 1).unwrap_or_default();
        let marked = self
            .text
            .get(self.floor(label.span.start)..self.floor(label.span.end.max(label.span.start)))
            .unwrap_or_default();
        let marked_chars = marked
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            .max(1);
        let (shown, column) = if column > SHOWN_CHARS_MAX {
            // A very long line: show the part around the place.
            let skip = column - SHOWN_CHARS_MAX / 2;
            (
                text.chars()
                    .skip(skip)
                    .take(SHOWN_CHARS_MAX)
                    .collect::<String>(),
                column - skip,
            )
        } else {
            (
                text.chars().take(SHOWN_CHARS_MAX).collect::<String>(),
                column,
            )
        };
        let shown: String = shown
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let carets =
            "^".repeat(marked_chars.min(SHOWN_CHARS_MAX.saturating_sub(column - 1).max(1)));
        writeln!(out, "{:gutter$} |", "")?;
        writeln!(out, "{line:gutter$} | {shown}")?;
        let marker = format!("{:1$}{carets} {2}", "", column - 1, label.text);
        writeln!(out, "{:gutter$} | {}", "", marker.trim_end())
    }
}

/// A cluster file that cannot be planned: the file and everything wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The file. Bytes that are not UTF-8 are shown as U+FFFD.
    pub source: Source,
    /// The findings; at least one of them is an error.
    pub diagnostics: Vec<Diagnostic>,
}

/// Diagnostics printed in full; a generated topology can repeat one finding a thousand times.
const PRINTED_MAX: usize = 20;

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.iter().take(PRINTED_MAX).enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}", self.source.render(diagnostic))?;
        }
        if let Some(more) = self
            .diagnostics
            .len()
            .checked_sub(PRINTED_MAX)
            .filter(|&n| n > 0)
        {
            writeln!(f, "\nand {more} more")?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejected {}

/// Findings collected while a file is read or a plan is checked.
#[derive(Debug, Default)]
pub struct Findings(Vec<Diagnostic>);

impl Findings {
    /// Adds a finding, unless it is the same as one of the last ones: generated nodes share one
    /// place in the file.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.0.iter().rev().take(16).any(|d| *d == diagnostic) {
            self.0.push(diagnostic);
        }
    }

    /// Takes back what turned out to be a part of another finding: the last one with this code and this text
    /// at this place.
    pub(crate) fn retract(&mut self, code: &str, message: &str, span: Span) {
        let is_it = |found: &Diagnostic| {
            let place = found.labels.first().map(|label| label.span);
            found.code == code && found.message == message && place == Some(span)
        };
        if let Some(place) = self.0.iter().rposition(is_it) {
            self.0.remove(place);
        }
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Runs one step with its own findings, and takes them over. Returns whether this step
    /// found no error; findings of earlier steps do not count.
    pub(crate) fn step<R>(&mut self, step: impl FnOnce(&mut Findings) -> R) -> (R, bool) {
        let mut own = Findings::default();
        let result = step(&mut own);
        let is_sound = !own.has_errors();
        own.0.into_iter().for_each(|finding| self.push(finding));
        (result, is_sound)
    }

    /// All of them, in the order found.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.0
    }
}
