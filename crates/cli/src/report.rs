//! What the command itself has to say, on standard error, one line at a time.

use std::io::Write;
use std::process::ExitCode;

use crate::USAGE_STATUS;

/// Prints `hostwire: text`. That nobody reads it is no reason to fail.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "hostwire: {text}");
}

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

/// The first paragraph of clap's error as one line.
fn one_line(rendered: &str) -> String {
    let paragraph = rendered.split("\n\n").next().unwrap_or(rendered);
    let text = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    if text.starts_with("Program a cluster") {
        return "no command given; try: hostwire run -n 4 PROGRAM, or hostwire --help".to_owned();
    }
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_errors_become_one_line() {
        let rendered =
            "error: the following required arguments were not provided:\n  -n <N>\n\nUsage: x";
        assert_eq!(
            one_line(rendered),
            "the following required arguments were not provided: -n <N>"
        );
    }
}
