//! The one table that hostwire's C interface is generated from.
//!
//! `types.table` and `functions.table` beside this crate describe OpenSHMEM 1.6: types,
//! constants, and families of functions with a page of the manual each. This crate reads
//! them ([`Table`]), makes the single functions of the families ([`Table::functions`]) and
//! writes the Rust entry points ([`glue`]), for the build script of `hostwire-shmem`. `cargo
//! xtask` writes headers, man pages and linker scripts from the same table.
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
    /// TYPENAME: the part of function names for the type.
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
    /// Its value, as in C without suffixes and quotes.
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
    /// A short description of its functions.
    pub summary: String,
    /// A long description: paragraphs. May be empty.
    pub text: Vec<String>,
    /// Their return value. May be empty.
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
    /// There are also forms with a context as first argument.
    pub has_ctx: bool,
    /// The type-generic name that chooses among the functions.
    pub generic: Option<String>,
    /// The version of OpenSHMEM that brought it, if the table says so.
    pub since: Option<String>,
    /// The version of OpenSHMEM that deprecated it.
    pub deprecated: Option<String>,
    /// An extension of this library.
    pub is_extension: bool,
    /// Inlined into programs that ask for it, except for the forms with a context.
    pub is_inline: bool,
    /// It does not return.
    pub is_noreturn: bool,
    /// Implemented in the C file.
    pub is_c: bool,
    /// Its routine checks its arguments itself, if nothing is in reach.
    pub is_short: bool,
    /// Its routine takes the name of the function first.
    pub is_named: bool,
    /// The roles of its parameters, where they differ from those that the table has for
    /// the name.
    pub pointers: Vec<(String, Pointer)>,
    /// The routine that the glue calls, if it does not follow from the name.
    pub rust: Option<String>,
}

impl Family {
    /// Declared in `shmemx.h`: an extension that no type-generic name of `shmem.h` chooses.
    pub fn is_in_shmemx(&self) -> bool {
        self.is_extension && self.generic.is_none()
    }
}

/// The contents of the table.
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
    /// The meaning of parameters, by name.
    pub parameters: Vec<(String, String)>,
    /// The roles of pointers, by name.
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

    /// The meaning of a parameter, or an empty text.
    pub fn meaning(&self, parameter: &str) -> &str {
        find(&self.parameters, parameter).map_or("", String::as_str)
    }
}

fn find<'a, T>(pairs: &'a [(String, T)], name: &str) -> Option<&'a T> {
    let pair = pairs.iter().find(|(known, _)| known == name);
    pair.map(|(_, value)| value)
}
