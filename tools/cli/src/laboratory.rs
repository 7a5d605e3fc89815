//! Commands of `hostwire-lab`, the program of the laboratory: it lies beside this one, if it is installed.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::{USAGE_STATUS, beside, report};

/// The name of the program.
const PROGRAM: &str = "hostwire-lab";

/// Its commands that are this one's, too.
const COMMANDS: [&str; 5] = ["compare", "events", "plan", "reproduce", "sim"];

/// The arguments of a command that the other program reads.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _any: Vec<OsString>,
}

/// The program.
///
/// # Errors
/// Says where it was looked for, and how it comes there.
pub fn program() -> Result<PathBuf, String> {
    beside::command(PROGRAM).map_err(|why| {
        format!(
            "{why}; `cargo products --release` builds it, `make install PREFIX=DIR` installs it"
        )
    })
}

/// Goes on as that program, with the arguments of this one. If it cannot, the error names `what` the user wanted.
pub fn start(what: &str) -> ExitCode {
    go_on(what, std::env::args_os().skip(1).collect())
}

/// Answers `hostwire help COMMAND` if the command is one of the laboratory's.
pub fn help() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let (help, name) = (arguments.next()?, arguments.next()?);
    let is_its = help == "help" && COMMANDS.contains(&&*name) && program().is_ok();
    is_its.then(|| go_on(&name, vec![(&name).into(), "--help".into()]))
}

fn go_on(what: &str, arguments: Vec<OsString>) -> ExitCode {
    let why = match program() {
        Ok(program) => {
            let mut command = Command::new(&program);
            let error = command.args(arguments).exec();
            format!("cannot start {}: {error}", program.display())
        }
        Err(why) => why,
    };
    report::line(&format!("{what} needs the program {PROGRAM}: {why}"));
    ExitCode::from(USAGE_STATUS)
}
