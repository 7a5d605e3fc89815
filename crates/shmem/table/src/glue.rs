//! The Rust entry points: for each function, a strong `pshmem_NAME` that calls
//! `crate::api`, and a weak alias `shmem_NAME`.

use std::fmt::Write;

use crate::expand::{Function, Instance};
use crate::{Constant, Table};

/// The constants of the header, as Rust has them.
pub fn constants(table: &Table) -> String {
    let mut out = String::new();
    for constant in &table.constants {
        let Constant {
            kind, name, value, ..
        } = constant;
        let item = match kind.as_str() {
            "string" => format!("pub const {name}: &core::ffi::CStr = c\"{value}\";"),
            _ => format!("pub const {name}: core::ffi::c_{kind} = {value};"),
        };
        writeln!(out, "/// `{name}` of `shmem.h`.\n{item}").expect("a string takes all");
    }
    out
}

/// The entry points of all functions that are not written in C.
///
/// # Errors
/// A C type that has no Rust twin here.
pub fn entry_points(table: &Table) -> Result<String, String> {
    let mut out = String::new();
    for function in table.functions().iter().filter(|function| !function.is_c()) {
        out.push_str(&entry_point(table, function)?);
    }
    Ok(out)
}

fn entry_point(table: &Table, function: &Function<'_>) -> Result<String, String> {
    let element = element(table, function);
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for parameter in &function.prototype.parameters {
        let name = parameter.name.to_lowercase();
        let rust = rust_type(table, &parameter.c)?;
        // Sized functions and those for bytes take `void *`: the element is known here.
        let cast = parameter.c.ends_with("void *") && element.is_some();
        arguments.push(if cast {
            format!("{name}.cast()")
        } else {
            name.clone()
        });
        parameters.push(format!("{name}: {rust}"));
    }
    let returns = match function.prototype.returns.as_str() {
        "void" if function.family.is_noreturn => " -> !".to_string(),
        "void" => String::new(),
        c => format!(" -> {}", rust_type(table, c)?),
    };
    let call = call(function, element, arguments);
    let (name, strong) = (function.name(), function.profiling_name());
    let parameters = parameters.join(", ");
    Ok(format!(
        "\
/// `{name}`: {summary}.
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn {strong}({parameters}){returns} {{
    // SAFETY: the same promise that C programs give by calling this.
    unsafe {{ {call} }}
}}
core::arch::global_asm!(\".weak {name}\", \".set {name}, {{}}\", sym {strong});
",
        summary = function.page.summary,
    ))
}

/// The Rust type that the generic routine is instantiated with.
fn element<'a>(table: &'a Table, function: &Function<'_>) -> Option<&'a str> {
    match &function.instance {
        Instance::Type(name) => {
            let of = table.types.iter().find(|of| of.name == *name)?;
            Some(&of.rust)
        }
        Instance::Size(bits) => crate::find(&table.sizes, bits).map(String::as_str),
        // What copies data without saying of which type copies bytes: shmem_putmem and its kin.
        Instance::Single => {
            let mut parameters = function.prototype.parameters.iter();
            parameters
                .any(|parameter| parameter.name == "source")
                .then_some("u8")
        }
    }
}

fn call(function: &Function<'_>, element: Option<&str>, mut arguments: Vec<String>) -> String {
    let family = function.family;
    if family.has_ctx && !function.is_ctx {
        arguments.insert(0, "CTX_DEFAULT".into());
    }
    let own_name = || {
        let name = family.prototype.name.strip_prefix("shmem_");
        let name = name
            .unwrap_or(&family.prototype.name)
            .trim_start_matches('_');
        name.replace("TYPENAME_", "")
    };
    let mut path = family.rust.clone().unwrap_or_else(own_name);
    if let Some(element) = element {
        if path.contains("TYPE") {
            path = path.replace("TYPE", element);
        } else if !path.contains("::<") {
            path = format!("{path}::<{element}>");
        }
    }
    if path.ends_with(')') {
        return format!("api::{path}");
    }
    format!("api::{path}({})", arguments.join(", "))
}

/// The Rust type of a C type.
fn rust_type(table: &Table, c: &str) -> Result<String, String> {
    if let Some(pointee) = c.strip_suffix('*') {
        let (mutability, pointee) = match pointee.trim().strip_prefix("const ") {
            Some(pointee) => ("*const", pointee),
            None => ("*mut", pointee.trim()),
        };
        return Ok(format!("{mutability} {}", rust_type(table, pointee)?));
    }
    let rust = match c {
        "void" => "c_void",
        "shmem_ctx_t" => "Ctx",
        "shmem_team_t" => "Team",
        "shmem_team_config_t" => "TeamConfig",
        "shmem_ctx_session_config_t" => "SessionConfig",
        _ => {
            let of = table.types.iter().find(|of| of.c == c);
            return of
                .map(|of| of.rust.clone())
                .ok_or(format!("no Rust type for '{c}'"));
        }
    };
    Ok(rust.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glue_of(name: &str) -> String {
        let table = Table::load().expect("the table");
        let functions = table.functions();
        let function = functions.iter().find(|function| function.name() == name);
        entry_point(&table, function.expect(name)).expect(name)
    }

    #[test]
    fn entry_points_call_the_routine_that_is_meant() {
        for (name, call) in [
            (
                "shmem_int_put",
                "api::put::<c_int>(CTX_DEFAULT, dest, source, nelems, pe)",
            ),
            ("shmem_ctx_size_p", "api::p::<usize>(ctx, dest, value, pe)"),
            (
                "shmem_put128_nbi",
                "api::put_nbi::<Bits128>(CTX_DEFAULT, dest.cast(), source.cast(), nelems, pe)",
            ),
            (
                "shmem_ctx_getmem",
                "api::get::<u8>(ctx, dest.cast(), source.cast(), nelems, pe)",
            ),
            (
                "shmem_long_fadd",
                "api::atomic_fetch_add::<c_long>(CTX_DEFAULT, dest, value, pe)",
            ),
            ("shmem_short_wait", "api::wait::<c_short>(ivar, cmp_value)"),
            (
                "shmem_float_max_reduce",
                "api::reduce::<Max, f32>(team, dest, source, nreduce)",
            ),
            ("shmem_ctx_quiet", "api::quiet(ctx)"),
            ("shmem_quiet", "api::quiet(CTX_DEFAULT)"),
            ("shmem_ctx_create", "api::ctx_create(options, ctx)"),
            ("_my_pe", "api::my_pe()"),
            ("shmemalign", "api::align(alignment, size)"),
            ("shmem_realloc", "api::realloc(ptr, size)"),
        ] {
            let glue = glue_of(name);
            assert!(glue.contains(&format!("{{ {call} }}")), "{glue}");
        }
    }
}
