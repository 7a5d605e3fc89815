//! The one table that hostwire's C interface is generated from.
//!
//! `types.table` and `functions.table` beside this crate say what OpenSHMEM 1.6 consists of:
//! types, constants, and families of functions with a page of the manual each. This crate
//! reads them ([`Table`]), makes the single functions of the families ([`Table::functions`])
//! and writes the Rust entry points ([`glue`]), for the build script of `hostwire-shmem`.
//! `cargo xtask` writes headers, man pages and linker scripts from the same table.
#![forbid(unsafe_code)]

pub mod glue;

mod expand;
mod parse;
mod pointers;
mod prototype;

pub use expand::{Function, Instance};
pub use parse::TableError;
pub use pointers::{Count, Pointer, Role};
pub use prototype::{Parameter, Prototype};

/// The text of `types.table`.
pub const TYPES: &str = include_str!("../types.table");
/// The text of `functions.table`.
pub const FUNCTIONS: &str = include_str!("../functions.table");

/// A type that functions exist for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// TYPENAME: what stands in names of functions.
    pub name: String,
    /// The C type.
    pub c: String,
    /// The Rust type of the glue.
    pub rust: String,
    /// The C type it is a name of, on 64-bit Linux: its own where that is distinct.
    pub distinct: String,
}

/// A macro of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// `int`, `long` or `string`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The deprecated name for the same.
    pub old_name: Option<String>,
    /// Its value, as in C but for suffixes and quotes.
    pub value: String,
}

/// A macro of the header for an opaque pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle {
    /// The C type.
    pub c: String,
    /// Its name.
    pub name: String,
    /// The value of the pointer.
    pub value: String,
}

/// A page of the manual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The chapter it is in.
    pub chapter: String,
    /// Its name.
    pub name: String,
    /// What its functions do, in some words.
    pub summary: String,
    /// What they do, at length: paragraphs. May be empty.
    pub text: Vec<String>,
    /// What they return. May be empty.
    pub returns: String,
    /// The families of functions on the page.
    pub families: Vec<Family>,
}

/// A prototype that stands for one function, or for one of each type or size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The prototype, with placeholders.
    pub prototype: Prototype,
    /// The list of types that TYPENAME and TYPE stand for.
    pub types: Option<String>,
    /// The list of sizes that SIZE stands for.
    pub sizes: Option<String>,
    /// There are forms with a context as first argument, too.
    pub has_ctx: bool,
    /// The type-generic name that chooses among the functions.
    pub generic: Option<String>,
    /// The version of OpenSHMEM that brought it, if the table says so.
    pub since: Option<String>,
    /// The version of OpenSHMEM that deprecated it.
    pub deprecated: Option<String>,
    /// An extension of this library.
    pub is_extension: bool,
    /// Inlined into programs that ask for it, but for the forms with a context.
    pub is_inline: bool,
    /// It does not return.
    pub is_noreturn: bool,
    /// Implemented in the C file.
    pub is_c: bool,
    /// Its routine looks at its arguments itself, where nothing is in reach.
    pub is_short: bool,
    /// Its routine takes the name of the function first.
    pub is_named: bool,
    /// What its parameters point to, where that is not what the table says of the name.
    pub pointers: Vec<(String, Pointer)>,
    /// What the glue calls, if that does not follow from the name.
    pub rust: Option<String>,
}

impl Family {
    /// Declared in `shmemx.h`: an extension that no type-generic name of `shmem.h` chooses.
    pub fn is_in_shmemx(&self) -> bool {
        self.is_extension && self.generic.is_none()
    }
}

/// All that the table says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Types, in the order of the table.
    pub types: Vec<Type>,
    /// Names of types, by the name of the list.
    pub lists: Vec<(String, Vec<String>)>,
    /// Rust elements, by size in bits.
    pub sizes: Vec<(String, String)>,
    /// Sizes in bits, by the name of the list.
    pub size_lists: Vec<(String, Vec<String>)>,
    /// Macros for numbers and strings.
    pub constants: Vec<Constant>,
    /// Macros for handles.
    pub handles: Vec<Handle>,
    /// What parameters mean, by name.
    pub parameters: Vec<(String, String)>,
    /// What parameters point to, by name.
    pub pointers: Vec<(String, Pointer)>,
    /// Pages, in the order of the table.
    pub pages: Vec<Page>,
}

impl Table {
    /// Reads the two files of this crate.
    ///
    /// # Errors
    /// The first thing that is wrong with them.
    pub fn load() -> Result<Self, TableError> {
        parse::parse(&[("types.table", TYPES), ("functions.table", FUNCTIONS)])
    }

    /// The types of a list.
    pub fn list(&self, name: &str) -> Vec<&Type> {
        let names = find(&self.lists, name).map_or(&[][..], Vec::as_slice);
        names
            .iter()
            .filter_map(|name| self.types.iter().find(|of| of.name == *name))
            .collect()
    }

    /// The types of a list that are distinct in C: those that `_Generic` may name.
    pub fn distinct(&self, list: &str) -> Vec<&Type> {
        let mut types: Vec<&Type> = Vec::new();
        for of in self.list(list) {
            if types.iter().all(|known| known.distinct != of.distinct) {
                types.push(of);
            }
        }
        types
    }

    /// What a parameter means, or nothing.
    pub fn meaning(&self, parameter: &str) -> &str {
        find(&self.parameters, parameter).map_or("", String::as_str)
    }
}

fn find<'a, T>(pairs: &'a [(String, T)], name: &str) -> Option<&'a T> {
    let pair = pairs.iter().find(|(known, _)| known == name);
    pair.map(|(_, value)| value)
}
