//! From families to single functions.

use crate::{Family, Page, Prototype, Table};

/// The purpose of a function of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instance {
    /// The only one.
    Single,
    /// One of a list of types: its TYPENAME.
    Type(String),
    /// One of a list of sizes, in bits.
    Size(String),
}

/// One function of the C interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function<'a> {
    /// Its prototype, without placeholders.
    pub prototype: Prototype,
    /// Its purpose.
    pub instance: Instance,
    /// It takes a context.
    pub is_ctx: bool,
    /// The family it is of.
    pub family: &'a Family,
    /// The page it is on.
    pub page: &'a Page,
}

impl Function<'_> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.prototype.name
    }

    /// The strong name behind it.
    pub fn profiling_name(&self) -> String {
        format!("p{}", self.name())
    }

    /// It is an inline function in programs that ask for it.
    pub fn is_inline(&self) -> bool {
        self.family.is_inline && !self.is_ctx && !self.is_c()
    }

    /// It has to be written in C, because Rust cannot express the types that it passes
    /// by value.
    pub fn is_c(&self) -> bool {
        self.family.is_c || self.prototype.has_value_of("long double")
    }
}

impl Table {
    /// All functions, in the order of the table; those with a context behind those without.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let mut functions = Vec::new();
        for page in &self.pages {
            for family in &page.families {
                self.expand(page, family, &mut functions);
            }
        }
        functions
    }

    fn expand<'a>(&self, page: &'a Page, family: &'a Family, into: &mut Vec<Function<'a>>) {
        let plain = (false, family.prototype.clone());
        let mut forms = vec![plain];
        if family.has_ctx {
            forms.push((true, family.prototype.with_ctx()));
        }
        for (is_ctx, form) in forms {
            for (instance, prototype) in self.instances(family, &form) {
                into.push(Function {
                    prototype,
                    instance,
                    is_ctx,
                    family,
                    page,
                });
            }
        }
    }

    fn instances(&self, family: &Family, form: &Prototype) -> Vec<(Instance, Prototype)> {
        if let Some(list) = &family.types {
            let types = self.list(list).into_iter();
            return types
                .map(|of| {
                    let named = form.replaced("TYPENAME", &of.name, "TYPENAME");
                    (
                        Instance::Type(of.name.clone()),
                        named.replaced("TYPE", "TYPE", &of.c),
                    )
                })
                .collect();
        }
        if let Some(list) = &family.sizes {
            let sizes = crate::find(&self.size_lists, list).into_iter().flatten();
            return sizes
                .map(|bits| {
                    (
                        Instance::Size(bits.clone()),
                        form.replaced("SIZE", bits, "SIZE"),
                    )
                })
                .collect();
        }
        vec![(Instance::Single, form.clone())]
    }
}
