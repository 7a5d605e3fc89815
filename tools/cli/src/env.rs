//! `hostwire env`: what a shell has to set so that other programs use hostwire.

mod quote;

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;

use crate::{beside, report};

/// Exit status if there is nothing to be used.
const NOT_THERE: u8 = 1;

/// Print what makes MPI programs of a shell use hostwire
#[derive(Debug, clap::Args)]
#[command(
    long_about = "Print what makes MPI programs of a shell use hostwire\n\n    eval \"$(hostwire env mpi)\"",
    after_long_help = "\
WHAT IT SETS
    FI_PROVIDER_PATH tells libfabric where hostwire's provider is; folders that it names already stay. The rest
    makes Open MPI (OMPI_MCA_*) and MPICH with ch4:ofi (FI_PROVIDER, MPIR_CVAR_*) take that provider, within
    a host as well. `hostwire doctor --mpi` says whether a launcher will.

    In the shells:      eval \"$(hostwire env mpi)\"                     sh, bash, zsh
                        hostwire env mpi --shell fish | source         fish
                        eval `hostwire env mpi --shell csh`            csh, tcsh
    As a module file:   hostwire env mpi --module > FOLDER/hostwire

EXIT STATUS
    0, or 1 if there is no provider beside this command."
)]
pub struct Args {
    /// For what
    #[arg(value_enum)]
    what: What,
    /// Whose syntax
    #[arg(long, value_enum, default_value = "sh", conflicts_with = "module")]
    shell: Shell,
    /// Print a module file in Tcl, for Environment Modules and Lmod
    #[arg(long)]
    module: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    /// Open MPI and MPICH, by libfabric
    Mpi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    /// sh, bash, zsh and others like them
    Sh,
    Fish,
    /// csh and tcsh
    Csh,
}

/// Where libfabric looks for providers, before the folders of its own.
pub const PROVIDER_PATH: &str = "FI_PROVIDER_PATH";

/// What MPI libraries have to be told beside that.
pub const MPI: [(&str, &str); 8] = [
    ("OMPI_MCA_pml", "cm"),
    ("OMPI_MCA_mtl", "ofi"),
    ("OMPI_MCA_mtl_ofi_provider_include", "hostwire"),
    ("OMPI_MCA_osc", "^ucx"),
    // Its one-sided calls over `btl:ofi` wait in loops that call nothing of libfabric.
    ("OMPI_MCA_btl_ofi_progress_mode", "auto"),
    ("FI_PROVIDER", "hostwire"),
    ("MPIR_CVAR_CH4_NETMOD", "ofi"),
    // Else messages within a host never come to libfabric.
    ("MPIR_CVAR_NOLOCAL", "1"),
];

/// What a process gets so that MPI libraries in it use hostwire, as far as it has nothing else. Without a
/// provider beside this command they say that there is none.
pub fn for_mpi() -> Vec<(&'static str, String)> {
    let provider = beside::provider().ok();
    let folder = provider.as_deref().and_then(Path::parent);
    let path = folder.and_then(|folder| {
        let before = std::env::var(PROVIDER_PATH).ok();
        Some((
            PROVIDER_PATH,
            path(in_path(folder).ok()?, before.as_deref()),
        ))
    });
    let others = MPI.into_iter();
    let others = others.filter(|(name, _)| std::env::var_os(name).is_none());
    let others = others.map(|(name, value)| (name, value.to_owned()));
    path.into_iter().chain(others).collect()
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let What::Mpi = args.what;
    let printed = beside::provider().and_then(|provider| {
        let folder = provider.parent().unwrap_or(Path::new("/"));
        let folder = in_path(folder)?;
        report::out(
            match args.module {
                true => module(folder),
                false => settings(args.shell, folder),
            }
            .trim_end(),
        );
        Ok(provider)
    });
    match printed {
        Ok(provider) => {
            say(&provider, args.module);
            ExitCode::SUCCESS
        }
        Err(error) => {
            report::line(&error);
            ExitCode::from(NOT_THERE)
        }
    }
}

/// What libfabric takes for one folder, and shells for one line.
fn in_path(folder: &Path) -> Result<&str, String> {
    let text = folder.to_str().filter(|text| {
        let is_bad = |c: char| c == ':' || c.is_control();
        !text.contains(is_bad)
    });
    text.ok_or_else(|| {
        let folder = folder.display();
        format!(
            "the folder of the provider, {folder}, has a colon or a character that is not shown in its \
             name: libfabric cannot take it; install hostwire elsewhere"
        )
    })
}

/// The folders of libfabric with ours in front, and what was set without it. An `@` before all of them lets the
/// first provider of a name win.
fn path(folder: &str, before: Option<&str>) -> String {
    let before = before.unwrap_or_default();
    let (mark, others) = match before.strip_prefix('@') {
        Some(others) => ("@", others),
        None => ("", before),
    };
    let others = others.split(':');
    let others = others.filter(|other| !other.is_empty() && *other != folder);
    let folders: Vec<&str> = core::iter::once(folder).chain(others).collect();
    format!("{mark}{}", folders.join(":"))
}

fn settings(shell: Shell, folder: &str) -> String {
    let before = std::env::var(PROVIDER_PATH).ok();
    let path = path(folder, before.as_deref());
    let all = [(PROVIDER_PATH, path.as_str())].into_iter().chain(MPI);
    let line = |(name, value)| match shell {
        Shell::Sh => format!("export {name}={}\n", quote::sh(value)),
        Shell::Fish => format!("set -gx {name} {};\n", quote::fish(value)),
        Shell::Csh => format!("setenv {name} {};\n", quote::csh(value)),
    };
    all.map(line).collect()
}

fn module(folder: &str) -> String {
    let folder = quote::tcl(folder);
    let set: String = MPI
        .map(|(name, value)| format!("setenv {name} {}\n", quote::tcl(value)))
        .concat();
    format!(
        "#%Module1.0\nmodule-whatis {{MPI over hostwire}}\n\
         prepend-path {PROVIDER_PATH} {folder}\n{set}"
    )
}

/// What was done, where the shell does not read it.
fn say(provider: &Path, is_module: bool) {
    let who = match is_module {
        true => "who loads this module",
        false => "MPI in this shell",
    };
    report::line(&format!(
        "{who} uses {}: Open MPI, and MPICH with ch4:ofi; `hostwire doctor --mpi` looks whether it \
         will",
        provider.display()
    ));
    if is_module {
        return;
    }
    for (name, value) in MPI {
        if let Ok(before) = std::env::var(name)
            && before != value
        {
            report::line(&format!("{name} was {before}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_first_and_once() {
        assert_eq!(path("/a", None), "/a");
        assert_eq!(path("/a", Some("/b:/a::/c")), "/a:/b:/c");
        assert_eq!(path("/a", Some("@/b:/a")), "@/a:/b");
    }

    #[test]
    fn a_folder_that_libfabric_would_split_is_refused() {
        assert!(in_path(Path::new("/a b/lib")).is_ok());
        for bad in ["/a:b", "/a\nb"] {
            assert!(in_path(Path::new(bad)).is_err());
        }
    }
}
