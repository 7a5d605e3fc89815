//! Colours as escape sequences. All output goes through `anstream`, which removes them where
//! they are not wanted (`--color`, `NO_COLOR`, `CLICOLOR`, no terminal).

use anstyle::{AnsiColor, Style};
use hostwire_transport::visible;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const PLACE: Style = AnsiColor::Blue.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
/// The name of the command in front of its messages.
pub const NAME: Style = Style::new().bold();

/// `text` in this style.
pub fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Findings about a file, as `hostwire-plan` renders them, with its lines. Characters that a
/// terminal would obey are made visible.
pub fn diagnostics(text: &str) -> String {
    let text = visible(text);
    let mut severity = ERROR;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        if line.starts_with("warning[") {
            severity = WARNING;
        } else if line.starts_with("error[") {
            severity = ERROR;
        }
        out += &diagnostic(line, severity);
        out += end;
    }
    out
}

fn diagnostic(line: &str, severity: Style) -> String {
    let text = line.trim_start();
    let indent = line.get(..line.len() - text.len()).unwrap_or_default();
    if (line.starts_with("error[") || line.starts_with("warning["))
        && let Some((code, message)) = line.split_once("]: ")
    {
        let code = styled(severity, &format!("{code}]"));
        return format!("{code}: {}", styled(NAME, message));
    }
    for (mark, style) in [
        ("-->", PLACE),
        (":::", PLACE),
        ("= note:", HELP),
        ("= help:", HELP),
    ] {
        if let Some(rest) = text.strip_prefix(mark) {
            return format!("{indent}{}{rest}", styled(style, mark));
        }
    }
    if let Some((number, rest)) = text.split_once('|')
        && number.trim().bytes().all(|byte| byte.is_ascii_digit())
    {
        let marked = rest.trim_start();
        let rest = if number.trim().is_empty() && marked.starts_with('^') {
            let blanks = rest.get(..rest.len() - marked.len()).unwrap_or_default();
            format!("{blanks}{}", styled(severity, marked))
        } else {
            rest.to_owned()
        };
        return format!("{indent}{}{rest}", styled(PLACE, &format!("{number}|")));
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_colours_is_added() {
        let text = "error[unit]: no unit\n  --> a.toml:24:8\n   |\n24 | size = 64\n   |        ^^ expected \
                    a | b\n   = help: write \"64B\"\nwarning[x]: y\nplain";
        let painted = diagnostics(text);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), text);
        let styles: Vec<&str> = painted.split('\u{1b}').collect();
        assert!(styles.len() > 10, "{painted:?}");
        assert!(
            painted.contains(&styled(ERROR, "^^ expected a | b")),
            "{painted:?}"
        );
        assert!(
            painted.contains(&styled(WARNING, "warning[x]")),
            "{painted:?}"
        );
        assert!(painted.ends_with("plain"));
    }
}
