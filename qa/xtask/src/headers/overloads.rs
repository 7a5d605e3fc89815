//! The same names for C++, as overloads.

use hostwire_shmem_table::{Family, Prototype, Table, Type};

use super::{generic, portable};

/// All overloads.
pub fn all(table: &Table) -> String {
    let mut out = String::from("\n/* Complex numbers as C++ has them. */\n\n");
    for function in table.functions() {
        out.push_str(&with_std_complex(&function.prototype, &function.prototype));
    }
    out.push_str("\n/* The type-generic interface, as overloads. */\n\n");
    let functions = table.functions();
    let is_taken = |overload: &Prototype| {
        // A C function of that name with the same parameters is the overload already.
        functions
            .iter()
            .any(|function| same_parameters(&function.prototype, overload))
    };
    for (name, families) in generic::by_name(table) {
        let mut seen: Vec<String> = Vec::new();
        for family in families {
            for (types, target) in targets(table, family) {
                if types.is_some_and(|of| seen.contains(&key(of, &target))) {
                    continue;
                }
                if let Some(of) = types {
                    seen.push(key(of, &target));
                }
                let mut overload = target.clone();
                overload.name.clone_from(&name);
                if !is_taken(&overload) {
                    out.push_str(&definition(&overload, &target));
                    out.push_str(&with_std_complex(&overload, &target));
                }
            }
        }
    }
    out
}

fn key(of: &Type, target: &Prototype) -> String {
    format!("{} {}", of.distinct, target.parameters.len())
}

/// The functions that overloads of a family call: one for each type that is distinct.
fn targets<'a>(table: &'a Table, family: &Family) -> Vec<(Option<&'a Type>, Prototype)> {
    let mut forms = vec![family.prototype.clone()];
    if family.has_ctx {
        forms.push(family.prototype.with_ctx());
    }
    let mut targets = Vec::new();
    for form in forms {
        match &family.types {
            None => targets.push((None, form)),
            Some(list) => {
                for of in table.distinct(list) {
                    let named = form.replaced("TYPENAME", &of.name, "TYPENAME");
                    targets.push((Some(of), named.replaced("TYPE", "TYPE", &of.c)));
                }
            }
        }
    }
    targets
}

fn same_parameters(one: &Prototype, other: &Prototype) -> bool {
    let types = |of: &Prototype| {
        of.parameters
            .iter()
            .map(|of| of.c.clone())
            .collect::<Vec<_>>()
    };
    one.name == other.name && types(one) == types(other)
}

fn definition(overload: &Prototype, target: &Prototype) -> String {
    let returns = if target.returns == "void" {
        ""
    } else {
        "return "
    };
    let (name, arguments) = (&target.name, target.arguments());
    let head = portable(&overload.to_string());
    format!("static inline {head} {{ {returns}{name}({arguments}); }}\n")
}

/// An overload that takes `std::complex`, which has the same layout, and calls `target`;
/// nothing if there are no complex numbers in it.
fn with_std_complex(overload: &Prototype, target: &Prototype) -> String {
    let mut overload = overload.clone();
    let mut arguments = Vec::new();
    for parameter in &mut overload.parameters {
        let complex = parameter.c.contains("_Complex");
        arguments.push(match complex {
            true => format!(
                "reinterpret_cast<{}>({})",
                portable(&parameter.c),
                parameter.name
            ),
            false => parameter.name.clone(),
        });
        for of in ["double", "float"] {
            let in_cxx = format!("std::complex<{of}>");
            parameter.c = parameter.c.replace(&format!("{of} _Complex"), &in_cxx);
        }
    }
    if overload
        .parameters
        .iter()
        .all(|parameter| !parameter.c.contains("std::"))
    {
        return String::new();
    }
    let returns = if target.returns == "void" {
        ""
    } else {
        "return "
    };
    let (name, arguments) = (&target.name, arguments.join(", "));
    format!("static inline {overload} {{ {returns}{name}({arguments}); }}\n")
}
