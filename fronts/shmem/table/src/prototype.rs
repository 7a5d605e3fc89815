//! C prototypes, as far as OpenSHMEM needs them.

use std::fmt::{self, Display, Formatter};

/// A parameter of a C function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// The type, with its stars: `const TYPE *`.
    pub c: String,
    /// The name.
    pub name: String,
}

/// The parameters and the result of a C function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prototype {
    /// The type returned, with its stars.
    pub returns: String,
    /// The name.
    pub name: String,
    /// Its parameters, none for `void`.
    pub parameters: Vec<Parameter>,
    /// It ends in `...`.
    pub is_variadic: bool,
}

impl Prototype {
    /// Reads `TYPE *name(TYPE *dest, int pe)`; `None` if it is not that.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, rest) = text.split_once('(')?;
        let inside = rest.trim_end().strip_suffix(')')?;
        let (returns, name) = type_and_name(head)?;
        let mut parameters = Vec::new();
        let mut is_variadic = false;
        for part in inside.split(',').map(str::trim) {
            match part {
                "void" | "" => {}
                "..." => is_variadic = true,
                _ => {
                    let (c, name) = type_and_name(part)?;
                    parameters.push(Parameter { c, name });
                }
            }
        }
        Some(Self {
            returns,
            name,
            parameters,
            is_variadic,
        })
    }

    /// The same with `ctx` as first parameter.
    pub fn with_ctx(&self) -> Self {
        let mut with = self.clone();
        let first = Parameter {
            c: "shmem_ctx_t".into(),
            name: "ctx".into(),
        };
        with.parameters.insert(0, first);
        if let Some(name) = with.name.strip_prefix("shmem_") {
            with.name = format!("shmem_ctx_{name}");
        }
        with
    }

    /// The same with every `from` in names and types replaced.
    pub fn replaced(&self, from: &str, in_name: &str, in_type: &str) -> Self {
        let mut replaced = self.clone();
        replaced.name = replaced.name.replace(from, in_name);
        replaced.returns = replaced.returns.replace(from, in_type);
        for parameter in &mut replaced.parameters {
            parameter.c = parameter.c.replace(from, in_type);
        }
        replaced
    }

    /// A value of `c` is passed or returned, not only its address.
    pub fn has_value_of(&self, c: &str) -> bool {
        self.returns == c || self.parameters.iter().any(|parameter| parameter.c == c)
    }

    /// Whether it has a parameter of this name.
    pub fn has_parameter(&self, name: &str) -> bool {
        self.parameters.iter().any(|of| of.name == name)
    }

    /// The parameters as C has them between the parentheses.
    pub fn c_parameters(&self) -> String {
        let mut parts: Vec<String> = self.parameters.iter().map(Parameter::to_string).collect();
        if self.is_variadic {
            parts.push("...".into());
        }
        if parts.is_empty() {
            "void".into()
        } else {
            parts.join(", ")
        }
    }

    /// The names of the parameters, as in a call.
    pub fn arguments(&self) -> String {
        let names: Vec<&str> = self.parameters.iter().map(|of| of.name.as_str()).collect();
        names.join(", ")
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&declare(&self.c, &self.name))
    }
}

impl Display for Prototype {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({})",
            declare(&self.returns, &self.name),
            self.c_parameters()
        )
    }
}

/// `int` and `pe` to `int pe`; `int *` and `dest` to `int *dest`.
fn declare(c: &str, name: &str) -> String {
    let space = if c.ends_with('*') { "" } else { " " };
    format!("{c}{space}{name}")
}

/// `const TYPE *dest` to `const TYPE *` and `dest`.
fn type_and_name(text: &str) -> Option<(String, String)> {
    let text = text.trim();
    let at = text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))? + 1;
    let (c, name) = text.split_at(at);
    let c = c.trim();
    (!c.is_empty() && !name.is_empty()).then(|| (c.to_string(), name.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_come_back_as_they_were() {
        for text in [
            "void shmem_init(void)",
            "void *shmem_ptr(const void *dest, int pe)",
            "void shmem_pcontrol(int level, ...)",
            "unsigned long long shmem_ulonglong_g(const unsigned long long *source, int pe)",
        ] {
            let prototype = Prototype::parse(text).expect(text);
            assert_eq!(prototype.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_prototype_is_refused() {
        for text in [
            "",
            "shmem_init(void)",
            "void shmem_init",
            "void shmem_init(int)",
            "void f(int *",
        ] {
            assert_eq!(Prototype::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_context_becomes_the_first_parameter() {
        let prototype = Prototype::parse("void shmem_quiet(void)").expect("a prototype");
        let with = prototype.with_ctx();
        assert_eq!(with.to_string(), "void shmem_ctx_quiet(shmem_ctx_t ctx)");
    }
}
