//! One table of the file: typed access to its keys, and what is wrong with them.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::units::{LENGTH, Length, Quantity, Unit, UnitError};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};

/// Unknown keys reported per table; a binary file can have very many.
const UNKNOWN_KEYS_MAX: usize = 10;
/// The code of a key that has to be there and is not.
const MISSING_KEY: &str = "missing-key";
/// Keys longer than this are not compared with the known ones.
const COMPARED_CHARS_MAX: usize = 64;

/// A table that is being read. Every key that was looked up counts as known;
/// [`Section::finish`] reports the others.
pub struct Section<'t> {
    table: &'t DeTable<'t>,
    span: Span,
    title: &'static str,
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    /// A table; `title` names it in messages (`[map]`), `span` is its place.
    pub fn new(title: &'static str, table: &'t DeTable<'t>, span: Span) -> Self {
        Self {
            table,
            span,
            title,
            asked: Vec::new(),
        }
    }

    /// The place of the table.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The value of `key`; the key is known from now on.
    pub fn value(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.asked.push(key);
        self.table
            .iter()
            .find(|(k, _)| k.get_ref().as_ref() == key)
            .map(|(_, v)| v)
    }

    /// Whether `key` is present; this does not make it known.
    pub fn has(&self, key: &str) -> bool {
        self.table.iter().any(|(k, _)| k.get_ref().as_ref() == key)
    }

    /// Reports a missing key; `example` is a value for it.
    pub fn missing(&self, key: &str, example: &str, out: &mut Findings) {
        out.push(
            Diagnostic::error(MISSING_KEY, self.lacks(key))
                .label(self.span, format!("`{key}` is required here"))
                .help(format!("add `{key} = {example}`")),
        );
    }

    fn lacks(&self, key: &str) -> String {
        format!("{} has no `{key}`", self.title)
    }

    /// A string; `example` is one, with its quotes, for messages.
    pub fn text(
        &mut self,
        key: &'static str,
        example: &str,
        out: &mut Findings,
    ) -> Option<Located<&'t str>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some(Located {
                value: text.as_ref(),
                span: span_of(value),
            }),
            _ => {
                wrong_type(key, &format!("a string such as {example}"), value, out);
                None
            }
        }
    }

    /// A number with a unit, in the smallest unit of the quantity.
    pub fn quantity(
        &mut self,
        key: &'static str,
        quantity: &Quantity,
        out: &mut Findings,
    ) -> Option<Located<u64>> {
        let read = self.with_unit(key, quantity, out)?;
        Some(Located {
            value: read.value.0,
            span: read.span,
        })
    }

    /// A length, which is shown in its own unit.
    pub fn length(&mut self, key: &'static str, out: &mut Findings) -> Option<Located<Length>> {
        let read = self.with_unit(key, &LENGTH, out)?;
        let (um, unit) = read.value;
        Some(Located {
            value: Length::new(um, unit),
            span: read.span,
        })
    }

    fn with_unit(
        &mut self,
        key: &'static str,
        quantity: &Quantity,
        out: &mut Findings,
    ) -> Option<Located<(u64, Unit)>> {
        let value = self.value(key)?;
        let span = span_of(value);
        let expected = format!("expected {} such as {}", quantity.noun, quantity.example);
        let text = match value.get_ref() {
            DeValue::String(text) => text.as_ref(),
            DeValue::Integer(_) | DeValue::Float(_) => {
                out.push(
                    Diagnostic::error("unit", format!("`{key}` has no unit"))
                        .label(span, format!("{expected}, got a bare number"))
                        .help(format!(
                            "write it in quotes with one of {}",
                            quantity.unit_names()
                        )),
                );
                return None;
            }
            _ => {
                wrong_type(
                    key,
                    &format!("{} such as {}", quantity.noun, quantity.example),
                    value,
                    out,
                );
                return None;
            }
        };
        let (message, help) = match quantity.parse_with_unit(text) {
            Ok(value) => return Some(Located { value, span }),
            Err(UnitError::NotANumber) => (
                format!("`{key}` does not start with a number"),
                format!("write a number and one of {}", quantity.unit_names()),
            ),
            Err(UnitError::MissingUnit) => (
                format!("`{key}` has no unit"),
                format!("append one of {}", quantity.unit_names()),
            ),
            Err(UnitError::UnknownUnit(unit)) => (
                format!("`{key}` has the unknown unit `{}`", clip(&unit)),
                format!("the units are {}", quantity.unit_names()),
            ),
            Err(UnitError::NotExact) => (
                format!("`{key}` is too large, or not a whole number of the smallest unit"),
                format!("the units are {}", quantity.unit_names()),
            ),
        };
        out.push(
            Diagnostic::error("unit", message)
                .label(span, format!("{expected}, got \"{}\"", clip(text)))
                .help(help),
        );
        None
    }

    /// An address: a size (`"4GiB"`) or a hexadecimal number in quotes (`"0x1_0000_0000"`).
    pub fn address(&mut self, key: &'static str, out: &mut Findings) -> Option<Located<u64>> {
        let hex = self
            .table
            .iter()
            .find(|(k, _)| k.get_ref().as_ref() == key)
            .and_then(|(_, v)| {
                let digits: String = v
                    .get_ref()
                    .as_str()?
                    .strip_prefix("0x")?
                    .chars()
                    .filter(|&c| c != '_')
                    .collect();
                let value = u64::from_str_radix(&digits, 16).ok()?;
                Some(Located {
                    value,
                    span: span_of(v),
                })
            });
        if hex.is_some() {
            self.asked.push(key);
            return hex;
        }
        self.quantity(key, &super::units::ADDRESS, out)
    }

    /// An integer out of a short list.
    pub fn integer(
        &mut self,
        key: &'static str,
        allowed: &[u64],
        out: &mut Findings,
    ) -> Option<Located<u64>> {
        let list: Vec<_> = allowed.iter().map(u64::to_string).collect();
        let list = list.join(", ");
        let value = self.value(key)?;
        let number = as_u64(value);
        if !matches!(value.get_ref(), DeValue::Integer(_)) {
            wrong_type(key, &format!("one of {list}"), value, out);
            return None;
        }
        match number.filter(|n| allowed.contains(n)) {
            Some(number) => Some(Located {
                value: number,
                span: span_of(value),
            }),
            None => {
                let got = value.get_ref().as_integer().map_or("", |i| i.as_str());
                out.push(
                    Diagnostic::error("value", format!("`{key}` cannot be {}", clip(got)))
                        .label(span_of(value), format!("expected one of {list}"))
                        .help(format!("use one of {list}")),
                );
                None
            }
        }
    }

    /// An integer from `least` to `most`.
    pub fn count(
        &mut self,
        key: &'static str,
        least: u64,
        most: u64,
        out: &mut Findings,
    ) -> Option<Located<u64>> {
        let value = self.value(key)?;
        if !matches!(value.get_ref(), DeValue::Integer(_)) {
            wrong_type(key, &format!("a number from {least} to {most}"), value, out);
            return None;
        }
        let number = as_u64(value).filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let got = value.get_ref().as_integer().map_or("", |i| i.as_str());
            out.push(
                Diagnostic::error("value", format!("`{key}` cannot be {}", clip(got)))
                    .label(span_of(value), format!("expected {least} to {most}"))
                    .help(format!("use a number from {least} to {most}")),
            );
        }
        Some(Located {
            value: number?,
            span: span_of(value),
        })
    }

    /// One of a few words.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&str, T)],
        out: &mut Findings,
    ) -> Option<Located<T>> {
        let list: Vec<_> = choices
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let list = list.join(", ");
        let value = self.value(key)?;
        let Some(text) = value.get_ref().as_str() else {
            wrong_type(key, &format!("one of {list}"), value, out);
            return None;
        };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text) {
            return Some(Located {
                value: *choice,
                span: span_of(value),
            });
        }
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let help = nearest(text, &names).map_or(format!("use one of {list}"), |near| {
            format!("did you mean \"{near}\"?")
        });
        out.push(
            Diagnostic::error("value", format!("`{key}` cannot be \"{}\"", clip(text)))
                .label(span_of(value), format!("expected one of {list}"))
                .help(help),
        );
        None
    }

    /// The table at `key`.
    pub fn table(
        &mut self,
        key: &'static str,
        title: &'static str,
        out: &mut Findings,
    ) -> Option<Section<'t>> {
        let value = self.value(key)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(Section::new(title, table, span_of(value))),
            _ => {
                wrong_type(key, &format!("a table, written `[{key}]`"), value, out);
                None
            }
        }
    }

    /// The tables of the array at `key`.
    pub fn tables(
        &mut self,
        key: &'static str,
        title: &'static str,
        out: &mut Findings,
    ) -> Vec<Section<'t>> {
        let Some(value) = self.value(key) else {
            return Vec::new();
        };
        let DeValue::Array(array) = value.get_ref() else {
            wrong_type(
                key,
                &format!("an array of tables, written `[[{key}]]`"),
                value,
                out,
            );
            return Vec::new();
        };
        let mut sections = Vec::new();
        for item in array.iter() {
            match item.get_ref() {
                DeValue::Table(table) => {
                    sections.push(Section::new(title, table, span_of(item)));
                }
                _ => wrong_type(key, &format!("tables, written `[[{key}]]`"), item, out),
            }
        }
        sections
    }

    /// Keys and values, for a table whose keys are names.
    pub fn entries(&self) -> impl Iterator<Item = (Located<&'t str>, &'t Spanned<DeValue<'t>>)> {
        self.table.iter().map(|(k, v)| {
            (
                Located {
                    value: k.get_ref().as_ref(),
                    span: k.span().into(),
                },
                v,
            )
        })
    }

    /// Reports the keys that were never looked up, each with the nearest known key. That one is not missing
    /// then, but misspelt: one mistake is one error.
    pub fn finish(self, out: &mut Findings) {
        let mut unknown: Vec<_> = self
            .entries()
            .filter(|(key, _)| !self.asked.contains(&key.value))
            .collect();
        unknown.sort_by_key(|(key, _)| key.span);
        for (key, _) in unknown.into_iter().take(UNKNOWN_KEYS_MAX) {
            let mut known = self.asked.clone();
            known.sort_unstable();
            let help = match nearest(key.value, &known) {
                Some(near) => {
                    out.retract(MISSING_KEY, &self.lacks(near), self.span);
                    format!("did you mean `{near}`?")
                }
                None => format!("the keys here are {}", known.join(", ")),
            };
            out.push(
                Diagnostic::error(
                    "unknown-key",
                    format!("{} has no key `{}`", self.title, clip(key.value)),
                )
                .label(key.span, "not a known key")
                .help(help),
            );
        }
    }
}

/// The place of a value.
pub fn span_of<T>(value: &Spanned<T>) -> Span {
    value.span().into()
}

/// A non-negative integer.
pub fn as_u64(value: &Spanned<DeValue<'_>>) -> Option<u64> {
    let integer = value.get_ref().as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// At most 40 characters of a text from the file, for messages.
pub fn clip(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(40)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if short.len() < text.len() && text.chars().count() > 40 {
        short.push_str("...");
    }
    short
}

/// The known name nearest to `name`, if one is near.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    if name.len() > COMPARED_CHARS_MAX {
        return None;
    }
    let name = name.to_lowercase();
    known
        .iter()
        .map(|&k| (strsim::jaro_winkler(&name, k), k))
        .filter(|(score, _)| *score >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// Reports a value of the wrong TOML type.
pub fn wrong_type(key: &str, expected: &str, value: &Spanned<DeValue<'_>>, out: &mut Findings) {
    let got = value.get_ref().type_str();
    let article = if got.starts_with(['a', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    out.push(
        Diagnostic::error("type", format!("`{key}` has the wrong type"))
            .label(
                span_of(value),
                format!("expected {expected}, got {article} {got}"),
            )
            .help(format!("give {expected}")),
    );
}
