//! The files that a packager installs with the command, made from its options: completions for
//! shells, pages of the manual.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap_complete::shells;

use crate::{file, report};

const BAD_OUTPUT: u8 = 1;

/// A shell that completions are made for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Shell {
    /// For `source <(hostwire completions bash)`
    Bash,
    /// For a file `_hostwire` in a folder of `$fpath`
    Zsh,
    /// For `~/.config/fish/completions/hostwire.fish`
    Fish,
}

/// A program that completions are made for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Program {
    /// This one
    Hostwire,
    /// The launcher of OpenSHMEM programs
    Oshrun,
}

/// Print completions of the options of hostwire, or oshrun, for a shell
///
/// `make install` installs them for all three. Without: `source <(hostwire completions bash)` in
/// ~/.bashrc.
#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
    /// Of which program
    #[arg(long = "for", value_enum, default_value = "hostwire")]
    program: Program,
}

/// Write the pages of the manual: hostwire.1, and one per command.
#[derive(Debug, clap::Args)]
pub struct ManualArgs {
    /// The folder that gets them
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints completions for the command `whole`.
pub fn completions(args: &CompletionsArgs, whole: clap::Command) -> ExitCode {
    let (name, mut command) = match args.program {
        Program::Hostwire => ("hostwire", hostwire(&whole)),
        Program::Oshrun => ("oshrun", oshrun()),
    };
    let mut script = Vec::new();
    match args.shell {
        Shell::Bash => clap_complete::generate(shells::Bash, &mut command, name, &mut script),
        Shell::Zsh => clap_complete::generate(shells::Zsh, &mut command, name, &mut script),
        Shell::Fish => clap_complete::generate(shells::Fish, &mut command, name, &mut script),
    }
    match std::io::stdout().write_all(&script) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            report::line(&format!("cannot write the completions: {error}"));
            ExitCode::from(BAD_OUTPUT)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn hostwire(whole: &clap::Command) -> clap::Command {
    // Completions do not know which commands are hidden.
    let shown = whole.get_subcommands().filter(|part| !part.is_hide_set());
    clap::Command::new("hostwire")
        .version(env!("CARGO_PKG_VERSION"))
        .args(whole.get_arguments().cloned())
        .subcommands(shown.cloned())
}

/// `oshrun` is a script, fronts/shmem/wrappers/oshrun: it has the long options of `hostwire run`, and those that
/// users of other launchers know.
fn oshrun() -> clap::Command {
    use clap::{Arg, ArgAction, ValueHint};
    let run = <crate::run::Args as clap::Args>::augment_args(clap::Command::new("run"));
    let shown = run.get_arguments().filter(|arg| !arg.is_hide_set());
    let value = |name: &'static str, help: &'static str| {
        Arg::new(name).action(ArgAction::Append).help(help)
    };
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    clap::Command::new("oshrun")
        .version(env!("CARGO_PKG_VERSION"))
        .args(shown.cloned())
        .arg(
            value(
                "variable",
                "Set an environment variable of the PEs: NAME or NAME=VALUE",
            )
            .short('x'),
        )
        .arg(
            value("folder", "Start the PEs in this folder")
                .long("wdir")
                .value_hint(ValueHint::DirPath),
        )
        .arg(
            value("bound", "A CPU for each PE, or none")
                .long("bind-to")
                .value_parser(["core", "none"]),
        )
        .arg(switch("tag-output", "Begin each line of output with its PE").short('l'))
        .arg(switch(
            "oversubscribe",
            "More PEs than CPUs (always allowed)",
        ))
}

/// Writes the pages of the manual: of the command `whole`, and of each of its commands.
pub fn manual(args: &ManualArgs, whole: clap::Command) -> ExitCode {
    match write_manual(&args.folder, whole) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            report::line(&why);
            ExitCode::from(BAD_OUTPUT)
        }
    }
}

fn write_manual(folder: &Path, whole: clap::Command) -> Result<(), String> {
    let failed =
        |error: std::io::Error| format!("cannot write the manual to {}: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mut command = whole.disable_help_subcommand(true);
    // Sets the full name of each command.
    command.build();
    let parts = command.get_subcommands().filter(|part| !part.is_hide_set());
    for page in [&command].into_iter().chain(parts) {
        let page = clap_mangen::Man::new(page.clone());
        let mut text = Vec::new();
        page.render(&mut text).map_err(failed)?;
        let text = typeset(&String::from_utf8_lossy(&text));
        file::write_whole(&folder.join(page.get_filename()), text.as_bytes())?;
    }
    Ok(())
}

/// The blocks of the help in the form of the manual: headings become sections, and preformatted
/// lines stay so.
fn typeset(page: &str) -> String {
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    let mut is_extra = false;
    while let Some(line) = lines.next() {
        if line == ".SH EXTRA" {
            is_extra = true;
        } else if is_extra && is_heading(line) {
            out += &format!(".SH {line}\n");
        } else if line.starts_with("    ") {
            let mut block = vec![line];
            while let Some(next) = lines.next_if(|next| next.starts_with("    ")) {
                block.push(next);
            }
            out += &set_block(&block);
        } else {
            out += &format!("{line}\n");
        }
    }
    out
}

fn is_heading(line: &str) -> bool {
    let is_capital = |c: char| c.is_ascii_uppercase() || c == ' ';
    line.len() > 3 && line.chars().all(is_capital) && !line.starts_with(' ')
}

/// Indented lines: preformatted if they have columns or a deeper indent, else a paragraph.
fn set_block(lines: &[&str]) -> String {
    let bare = |line: &str| {
        let line = line.strip_prefix("    ").unwrap_or(line).trim_end();
        // A point or a quote in front would be an instruction.
        let guard = if line.starts_with(['.', '\'']) {
            "\\&"
        } else {
            ""
        };
        format!("{guard}{line}\n")
    };
    let text: String = lines.iter().map(|line| bare(line)).collect();
    let is_laid_out = text.lines().any(|line| line.trim_end().contains("  "));
    match is_laid_out {
        true => format!(".PP\n.nf\n{text}.fi\n"),
        false => format!(".PP\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_the_help_are_set_as_the_manual_does() {
        let page = ".SH DESCRIPTION\ntext\n    a      one\n    b      two\n.SH EXTRA\nEXAMPLES\n    \
                    Do this:\n\n        ./it \\-n\n\nEXIT STATUS\n    .point and more\n";
        let expected = ".SH DESCRIPTION\ntext\n.PP\n.nf\na      one\nb      two\n.fi\n.SH EXAMPLES\n\
                        .PP\nDo this:\n\n.PP\n.nf\n    ./it \\-n\n.fi\n\n.SH EXIT STATUS\n.PP\n\
                        \\&.point and more\n";
        assert_eq!(typeset(page), expected);
    }
}
