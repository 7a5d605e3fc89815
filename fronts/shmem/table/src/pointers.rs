//! The use of the memory to which the pointers of a function point.
//!
//! Every pointer of every function has a role, so that none can be forgotten: the entry points
//! check them if checks are on, and a test calls each function with each of its pointers wrong.

use crate::expand::Function;
use crate::{Parameter, Prototype, Table};

/// The memory to which a pointer has to point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Symmetric memory.
    Symmetric,
    /// Memory of the calling process that is read.
    Reads,
    /// Memory of the calling process that is written.
    Writes,
    /// Any address: the function reports what it is, or does not read it.
    Any,
}

/// How many elements there have to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Fixed(usize),
    /// `nelems` or `nreduce`; one where there is no such parameter.
    Elements,
    /// As a parameter says.
    Parameter(String),
    /// So many for each member of the team or active set; the parameter that names it.
    ForEach(Box<Count>, String),
    /// Blocks, the parameter with their stride, and the one with the elements of a block.
    Span(Box<Count>, String, Option<String>),
    /// One, unless the parameter is 0.
    Mask(String),
}

/// A pointer of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// Its role.
    pub role: Role,
    /// How much of it.
    pub count: Count,
    /// It may be null.
    pub is_optional: bool,
}

impl Role {
    fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "symmetric" => Self::Symmetric,
            "reads" => Self::Reads,
            "writes" => Self::Writes,
            "any" => Self::Any,
            _ => return None,
        })
    }
}

impl Pointer {
    /// Reads `ROLE [COUNT] [optional]`; `None` if it is not that.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let is_optional = words.last() == Some(&"optional");
        if is_optional {
            words.pop();
        }
        let (role, count) = match words[..] {
            [role] => (role, Count::Elements),
            [role, count] => (role, Count::parse(count)?),
            _ => return None,
        };
        Some(Self {
            role: Role::parse(role)?,
            count,
            is_optional,
        })
    }

    /// Reads `ROLE NAME [COUNT] [optional]`: the name, and the pointer.
    pub(crate) fn parse_named(text: &str) -> Option<(String, Self)> {
        let (role, rest) = text.split_once(' ')?;
        let rest = rest.trim();
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        Some((name.to_string(), Self::parse(&format!("{role} {rest}"))?))
    }
}

impl Count {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(count) = text.parse() {
            return Some(Self::Fixed(count));
        }
        let arguments = |name: &str| {
            let rest = text.strip_prefix(name)?.strip_prefix('(')?;
            let inside = rest.strip_suffix(')')?;
            Some(inside.split(',').collect::<Vec<_>>())
        };
        if let Some(arguments) = arguments("span") {
            return match arguments[..] {
                [blocks, stride] => Self::span(blocks, stride, None),
                [blocks, stride, block] => Self::span(blocks, stride, Some(block.into())),
                _ => None,
            };
        }
        if let Some(arguments) = arguments("mask") {
            let [mask] = arguments[..] else { return None };
            return Some(Self::Mask(mask.into()));
        }
        if let Some((each, of)) = text.split_once('*') {
            return Some(Self::ForEach(Box::new(Self::parse(each)?), of.into()));
        }
        Some(match text {
            "elements" => Self::Elements,
            name => Self::Parameter(name.into()),
        })
    }

    fn span(blocks: &str, stride: &str, block: Option<String>) -> Option<Self> {
        let blocks = Box::new(Self::parse(blocks)?);
        Some(Self::Span(blocks, stride.into(), block))
    }

    /// The parameter that says how many elements there are, if one does.
    pub fn parameter<'a>(&'a self, prototype: &'a Prototype) -> Option<&'a str> {
        match self {
            Self::Fixed(_) | Self::Mask(_) => None,
            Self::Elements => ["nelems", "nreduce"]
                .into_iter()
                .find(|name| prototype.has_parameter(name)),
            Self::Parameter(name) => Some(name),
            Self::ForEach(each, _) => each.parameter(prototype),
            Self::Span(blocks, ..) => blocks.parameter(prototype),
        }
    }

    /// All parameters that it names.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Fixed(_) | Self::Elements => Vec::new(),
            Self::Parameter(name) | Self::Mask(name) => vec![name],
            Self::ForEach(each, of) => [each.names(), vec![of]].concat(),
            Self::Span(blocks, stride, block) => {
                let mut names = blocks.names();
                names.push(stride);
                names.extend(block.as_deref());
                names
            }
        }
    }
}

impl Function<'_> {
    /// The roles of its pointers, with their parameters.
    ///
    /// # Errors
    /// The table has no role for one of them, or names a parameter that does not exist.
    pub fn pointers(&self, table: &Table) -> Result<Vec<(&Parameter, Pointer)>, String> {
        let parameters = self.prototype.parameters.iter();
        let pointers = parameters.filter(|parameter| parameter.c.ends_with('*'));
        pointers
            .map(|parameter| {
                let name = &parameter.name;
                let of = crate::find(&self.family.pointers, name)
                    .or_else(|| crate::find(&table.pointers, name))
                    .ok_or_else(|| format!("{}: what does {name} point to?", self.name()))?;
                let mut names = of.count.names().into_iter();
                match names.find(|name| !self.prototype.has_parameter(name)) {
                    Some(unknown) => Err(format!("{}: it has no {unknown}", self.name())),
                    None => Ok((parameter, of.clone())),
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_counts_are_read() {
        let pointer = |role, count, is_optional| {
            Some(Pointer {
                role,
                count,
                is_optional,
            })
        };
        let parameter = |name: &str| Count::Parameter(name.into());
        for (text, expected) in [
            (
                "symmetric",
                pointer(Role::Symmetric, Count::Elements, false),
            ),
            (
                "reads nelems optional",
                pointer(Role::Reads, parameter("nelems"), true),
            ),
            ("writes 1", pointer(Role::Writes, Count::Fixed(1), false)),
            (
                "reads mask(m)",
                pointer(Role::Reads, Count::Mask("m".into()), false),
            ),
            (
                "symmetric elements*team",
                pointer(
                    Role::Symmetric,
                    Count::ForEach(Box::new(Count::Elements), "team".into()),
                    false,
                ),
            ),
            (
                "reads span(nblocks,sst,bsize)",
                pointer(
                    Role::Reads,
                    Count::Span(
                        Box::new(parameter("nblocks")),
                        "sst".into(),
                        Some("bsize".into()),
                    ),
                    false,
                ),
            ),
            ("borrows 1", None),
            ("reads span(1)", None),
            ("reads 1 2", None),
        ] {
            assert_eq!(Pointer::parse(text), expected, "{text}");
        }
        let (name, of) = Pointer::parse_named("any dest").expect("a pointer");
        assert_eq!((name.as_str(), of.role), ("dest", Role::Any));
    }
}
