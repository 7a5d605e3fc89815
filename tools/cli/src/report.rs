//! Messages of the command itself, on standard error, one line at a time.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use hostwire::settings::nearest;
use hostwire_transport::visible;

use crate::USAGE_STATUS;
use crate::text::paint;

/// Prints `hostwire: text`. It is no failure if nobody reads it.
pub fn line(text: &str) {
    let name = paint::styled(paint::NAME, "hostwire:");
    let _ = writeln!(anstream::stderr().lock(), "{name} {}", visible(text));
}

/// Whether something was to be printed on standard output and could not be.
static OUT_FAILED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
/// Prints `text` on standard output. It is no failure if nobody reads it. The [exit status](status)
/// reports any other error.
pub fn out(text: &str) {
    let Err(error) = writeln!(std::io::stdout().lock(), "{text}") else {
        return;
    };
    let is_read = error.kind() != std::io::ErrorKind::BrokenPipe;
    if is_read && !OUT_FAILED.swap(true, Ordering::Relaxed) {
        line(&format!("cannot write standard output: {error}"));
    }
}

/// The exit status of a command that has ended with `status`: a success becomes a failure if
/// [output](out) was lost.
pub fn status(status: ExitCode) -> ExitCode {
    match OUT_FAILED.load(Ordering::Relaxed) && status == ExitCode::SUCCESS {
        true => ExitCode::FAILURE,
        false => status,
    }
}

/// Prints help, version, or the error in the command line.
///
/// `command` is what was parsed.
pub fn usage(command: &clap::Command, error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name))) => {
            no_command(command, name)
        }
        _ => one_line(&error.render().to_string()),
    };
    line(&text);
    ExitCode::from(USAGE_STATUS)
}

/// There is no command of this name; a similar one, or all of them.
fn no_command(command: &clap::Command, name: &str) -> String {
    let commands = command
        .get_subcommands()
        .filter(|known| !known.is_hide_set());
    let known: Vec<&str> = commands.map(clap::Command::get_name).collect();
    let is_program = name.contains('/') || std::path::Path::new(name).is_file();
    match nearest(name, &known) {
        Some(near) => format!("there is no command '{name}'; did you mean '{near}'?"),
        None if is_program => {
            format!("there is no command '{name}'; to start it: hostwire run -n 4 {name}")
        }
        None => format!(
            "there is no command '{name}'; there are {}",
            known.join(", ")
        ),
    }
}

/// The message of clap as one line: the error, and its advice if there is one.
fn one_line(rendered: &str) -> String {
    let mut paragraphs = rendered
        .split("\n\n")
        .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let wrong = paragraphs.next().unwrap_or_default();
    let wrong = wrong.strip_prefix("error: ").unwrap_or(&wrong);
    if wrong.starts_with("Program a cluster") {
        return "no command given; try: hostwire run -n 4 PROGRAM, or hostwire --help".to_owned();
    }
    let mut line = wrong.to_owned();
    let mut advised = wrong.contains("invalid value");
    for paragraph in paragraphs {
        if let Some(tip) = paragraph.strip_prefix("tip: ") {
            line += &format!("; {tip}");
            advised = true;
        } else if let Some(usage) = paragraph.strip_prefix("Usage: ")
            && !advised
        {
            line += &format!("; usage: {usage}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_errors_become_one_line() {
        let missing = "error: the following required arguments were not provided:\n  -n <N>\n\nUsage: x -n N\n";
        let expected = "the following required arguments were not provided: -n <N>; usage: x -n N";
        assert_eq!(one_line(missing), expected);
        let unknown = "error: unrecognized subcommand 'runn'\n\n  tip: a similar subcommand \
                       exists: 'run'\n\nUsage: hostwire <COMMAND>\n\nFor more information";
        let expected = "unrecognized subcommand 'runn'; a similar subcommand exists: 'run'";
        assert_eq!(one_line(unknown), expected);
        let value = "error: invalid value '0' for '-n': too few\n\nFor more information, try";
        assert_eq!(one_line(value), "invalid value '0' for '-n': too few");
    }
}
