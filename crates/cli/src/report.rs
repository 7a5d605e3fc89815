//! What the command itself has to say, on standard error, one line at a time.

use std::io::Write;
use std::process::ExitCode;

use crate::USAGE_STATUS;

/// Prints `hostwire: text`. That nobody reads it is no reason to fail.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "hostwire: {text}");
}

#[cfg(target_os = "linux")]
/// Prints `text` on standard output. That nobody reads it is no reason to fail.
pub fn out(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints help or version as asked for, or what is wrong with the command line.
pub fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    line(&one_line(&error.render().to_string()));
    ExitCode::from(USAGE_STATUS)
}

/// What clap says, as one line: what is wrong, and what to do if it says that, too.
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
