//! The Rust entry points: for each function, a strong `pshmem_NAME` that calls
//! `crate::api`, and a weak alias `shmem_NAME`.

use std::fmt::Write;

use crate::expand::{Function, Instance};
use crate::{Constant, Count, Pointer, Prototype, Role, Table};

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
    let pairs = table.types.iter().filter_map(|of| {
        let same = table.types.iter().find(|same| same.c == of.distinct)?;
        (of.name != same.name).then(|| format!("    (\"{}\", \"{}\"),\n", of.name, same.name))
    });
    let pairs: String = pairs.collect();
    writeln!(
        out,
        "/// Types that are another one of C: their names in those of functions, and its name.\n\
         pub const SAME_TYPES: &[(&str, &str)] = &[\n{pairs}];"
    )
    .expect("a string takes all");
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
    let checks = checks(table, function, element)?;
    let call = call(function, element, arguments);
    let (name, strong) = (function.name(), function.profiling_name());
    let parameters = parameters.join(", ");
    Ok(format!(
        "\
/// `{name}`: {summary}.
#[unsafe(no_mangle)]
pub unsafe extern \"C\" fn {strong}({parameters}){returns} {{
{checks}    // SAFETY: the same promise that C programs give by calling this.
    unsafe {{ {call} }}
}}
core::arch::global_asm!(\".weak {name}\", \".set {name}, {{}}\", sym {strong});
",
        summary = function.page.summary,
    ))
}

/// Code that checks the arguments if checks are on. Empty for functions whose routines do it.
fn checks(table: &Table, function: &Function<'_>, element: Option<&str>) -> Result<String, String> {
    // Those of short functions also have to exist, because the tests use them.
    let pointers = function.pointers(table)?;
    if function.family.is_short {
        return Ok(String::new());
    }
    let name = function.name();
    let mut out = String::new();
    for (parameter, pointer) in &pointers {
        if pointer.role != Role::Any {
            let check = pointer_check(&function.prototype, parameter, pointer, element);
            writeln!(out, "        {check}").expect("a string takes all");
        }
    }
    let takes_team = |of: &crate::Parameter| of.c == "shmem_team_t" && of.name == "team";
    if function.family.is_named && function.prototype.parameters.iter().any(takes_team) {
        writeln!(out, "        arguments::team(\"{name}\", team);").expect("a string takes all");
    }
    if out.is_empty() {
        return Ok(out);
    }
    Ok(format!("    if arguments::are_checked() {{\n{out}    }}\n"))
}

fn pointer_check(
    prototype: &Prototype,
    parameter: &crate::Parameter,
    pointer: &Pointer,
    element: Option<&str>,
) -> String {
    let name = &parameter.name;
    let mut address = name.to_lowercase();
    if let Some(element) = element.filter(|_| parameter.c.ends_with("void *")) {
        address = format!("{address}.cast::<{element}>()");
    }
    let role = match pointer.role {
        Role::Symmetric => "symmetric",
        Role::Reads => "reads",
        Role::Writes | Role::Any => "writes",
    };
    let extent = extent(prototype, &pointer.count);
    let check = format!(
        "arguments::{role}(\"{}\", \"{name}\", {address}, {extent});",
        prototype.name
    );
    match pointer.is_optional {
        true => format!("if !{}.is_null() {{ {check} }}", name.to_lowercase()),
        false => check,
    }
}

/// How far it reaches from where the pointer points, in elements.
fn extent(prototype: &Prototype, count: &Count) -> String {
    match count {
        Count::Span(blocks, stride, block) => {
            let block = block.as_deref().unwrap_or("1usize");
            let blocks = count_of(prototype, blocks);
            format!("Extent::blocks({blocks}, {stride}, arguments::count({block}))")
        }
        count => format!("Extent::run({})", count_of(prototype, count)),
    }
}

fn count_of(prototype: &Prototype, count: &Count) -> String {
    let parameter = |name: &str| format!("arguments::count({})", name.to_lowercase());
    match count {
        Count::Fixed(count) => count.to_string(),
        Count::Elements => count.parameter(prototype).map_or("1".into(), parameter),
        Count::Parameter(name) => parameter(name),
        Count::ForEach(each, of) if of == "team" => {
            format!(
                "{}.saturating_mul(arguments::members(team))",
                count_of(prototype, each)
            )
        }
        Count::ForEach(each, of) => {
            format!(
                "{}.saturating_mul({})",
                count_of(prototype, each),
                parameter(of)
            )
        }
        Count::Mask(name) => format!("usize::from({} != 0)", name.to_lowercase()),
        Count::Span(blocks, ..) => count_of(prototype, blocks),
    }
}

/// The Rust type that the generic routine is instantiated with.
fn element<'a>(table: &'a Table, function: &Function<'_>) -> Option<&'a str> {
    match &function.instance {
        Instance::Type(name) => {
            let of = table.types.iter().find(|of| of.name == *name)?;
            Some(&of.rust)
        }
        Instance::Size(bits) => crate::find(&table.sizes, bits).map(String::as_str),
        // Functions that copy data without a type copy bytes: shmem_putmem and so on.
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
    if family.is_named {
        arguments.insert(0, format!("&\"{}\"", function.name()));
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
    fn entry_points_look_at_what_their_pointers_name() {
        for (name, checks) in [
            (
                "shmem_int_wait_until_all",
                &[
                    "arguments::symmetric(\"shmem_int_wait_until_all\", \"ivars\", ivars, \
                     Extent::run(arguments::count(nelems)));",
                    "if !status.is_null() { arguments::reads(\"shmem_int_wait_until_all\", \
                     \"status\", status, Extent::run(arguments::count(nelems))); }",
                ][..],
            ),
            (
                "shmem_ctx_ibget32",
                &[
                    "arguments::writes(\"shmem_ctx_ibget32\", \"dest\", dest.cast::<u32>(), \
                   Extent::blocks(arguments::count(nblocks), dst, arguments::count(bsize)));",
                ],
            ),
            (
                "shmem_fcollectmem",
                &[
                    "arguments::symmetric(\"shmem_fcollectmem\", \"dest\", dest.cast::<u8>(), \
                     Extent::run(arguments::count(nelems).saturating_mul(arguments::members(team))));",
                    "arguments::team(\"shmem_fcollectmem\", team);",
                ],
            ),
            (
                "shmem_query_thread",
                &["\"provided\", provided, Extent::run(1));"],
            ),
        ] {
            let glue = glue_of(name);
            for check in checks {
                assert!(glue.contains(check), "{check}\n{glue}");
            }
        }
        assert!(!glue_of("shmem_int_put").contains("arguments"));
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
                "api::reduce::<Max, f32>(&\"shmem_float_max_reduce\", team, dest, source, nreduce)",
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
