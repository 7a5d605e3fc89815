//! Runs the commands of a page as its reader would, and compares what they print with the page.
//!
//! | in the page | what is done |
//! |---|---|
//! | a fence `console` | lines that begin with `$ ` are run, one after the other in one shell; `> ` continues one |
//! | the other lines of it | have to be in the output, in any order; `...` stands for any text, a number with a point for any other |
//! | a fence with a language and a name | is written to a file of that name |
//! | `<!-- not run: WHY -->` | leaves the next fence out |
//! | `<!-- within: COMMAND -->` | all of it runs below that command, seen from the root of the sources |
//!
//! Lines of the output that the page does not show are allowed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Error, root};

/// The options of `cargo xtask guide`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The home folder of the reader: made if it is not there, with a folder for each page.
    #[arg(long, value_name = "DIR")]
    home: PathBuf,
    /// The pages.
    #[arg(required = true, value_name = "PAGE")]
    pages: Vec<PathBuf>,
}

/// Seconds that all commands of a page may take.
const PAGE_MAX_S: u32 = 900;

/// Runs all pages up to the first command that does not do what its page says. `report` is told of each page.
pub fn run(args: &Args, mut report: impl FnMut(&str)) -> Result<(), Error> {
    fs::create_dir_all(&args.home).map_err(Error::file(&args.home))?;
    let home = args.home.canonicalize().map_err(Error::file(&args.home))?;
    for path in &args.pages {
        let text = fs::read_to_string(path).map_err(Error::file(path))?;
        let name = path.file_stem().unwrap_or_default();
        let page = Page::parse(&text);
        let shown = path.display();
        let folder = home.join("guides").join(name);
        page.follow(&home, &folder)
            .map_err(|why| Error::Argument(format!("{shown}:{why}")))?;
        report(&format!("{shown}: {} commands", page.commands().count()));
    }
    Ok(())
}

/// A page, as far as it can be run.
#[derive(Debug, Default, PartialEq)]
struct Page {
    within: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug, PartialEq)]
enum Step {
    File {
        name: String,
        text: String,
    },
    Command {
        /// Of the page, from 1.
        line: usize,
        text: String,
        prints: Vec<String>,
    },
}

impl Page {
    fn parse(text: &str) -> Self {
        let mut page = Self::default();
        let mut lines = text.lines().enumerate();
        let mut is_skipped = false;
        while let Some((_, line)) = lines.next() {
            if let Some(command) = comment(line, "within:") {
                page.within = Some(command.to_owned());
            }
            is_skipped |= comment(line, "not run:").is_some();
            let Some(info) = line.strip_prefix("```") else {
                continue;
            };
            let inside: Vec<(usize, &str)> = lines
                .by_ref()
                .take_while(|(_, line)| *line != "```")
                .map(|(number, line)| (number + 1, line))
                .collect();
            if std::mem::take(&mut is_skipped) {
                continue;
            }
            match info.split_once(' ') {
                Some((_, name)) => page.steps.push(file(name, &inside)),
                None if info == "console" => page.steps.extend(commands(&inside)),
                None => {}
            }
        }
        page
    }

    fn commands(&self) -> impl Iterator<Item = (usize, &str, &[String])> {
        self.steps.iter().filter_map(|step| match step {
            Step::Command { line, text, prints } => Some((*line, text.as_str(), prints.as_slice())),
            Step::File { .. } => None,
        })
    }

    /// A script for bash. What the n-th command prints goes to `$GUIDE_OUTPUT/n`.
    fn script(&self) -> String {
        let mut script = "set -euo pipefail\ncd \"$GUIDE_OUTPUT/..\"\n".to_owned();
        for (number, (_, text, _)) in self.commands().enumerate() {
            script += &format!("{{\n{text}\n}} >\"$GUIDE_OUTPUT/{number}\" 2>&1\n");
        }
        script
    }

    /// Runs all in `folder`, which is made anew.
    fn follow(&self, home: &Path, folder: &Path) -> Result<(), String> {
        let output = folder.join(".output");
        let said = |error: std::io::Error| format!(" {}: {error}", folder.display());
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(said)?;
        }
        fs::create_dir_all(&output).map_err(said)?;
        for step in &self.steps {
            if let Step::File { name, text } = step {
                fs::write(folder.join(name), text).map_err(said)?;
            }
        }
        fs::write(output.join("script"), self.script()).map_err(said)?;
        let within = self.within.as_deref().unwrap_or("");
        let within = within.split_whitespace().map(|word| {
            let path = root().join(word);
            if word.contains('/') && path.exists() {
                path.into_os_string()
            } else {
                word.into()
            }
        });
        let status = Command::new("timeout")
            .args(["--kill-after=10", &PAGE_MAX_S.to_string()])
            .args(within)
            .arg("bash")
            .arg(output.join("script"))
            .current_dir(folder)
            .env("HOME", home)
            .env("GUIDE_OUTPUT", &output)
            .stdin(Stdio::null())
            .status()
            .map_err(said)?;
        let printed = |number: usize| {
            let bytes = fs::read(output.join(number.to_string())).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let begun = (0_usize..).find(|number| !output.join(number.to_string()).exists());
        if !status.success() {
            let last = begun.unwrap_or(0).saturating_sub(1);
            let (line, text, _) = self.commands().nth(last).unwrap_or((0, "", &[]));
            return Err(format!(
                "{line}: `{text}` ended with {status}\n{}",
                printed(last)
            ));
        }
        for (number, (line, text, prints)) in self.commands().enumerate() {
            missing(prints, &printed(number)).map_or(Ok(()), |absent| {
                let all = printed(number);
                Err(format!(
                    "{line}: `{text}` does not print\n  {absent}\nbut\n{all}"
                ))
            })?;
        }
        Ok(())
    }
}

/// What a comment of this kind says, if the line is one.
fn comment<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    Some(inner.strip_prefix(kind)?.trim())
}

fn file(name: &str, lines: &[(usize, &str)]) -> Step {
    let text = lines.iter().flat_map(|(_, line)| [*line, "\n"]).collect();
    let name = name.to_owned();
    Step::File { name, text }
}

fn commands(lines: &[(usize, &str)]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (number, content) in lines {
        if let Some(text) = content.strip_prefix("$ ") {
            steps.push(Step::Command {
                line: *number,
                text: text.to_owned(),
                prints: Vec::new(),
            });
        } else if let Some(Step::Command { text, prints, .. }) = steps.last_mut() {
            match content.strip_prefix("> ") {
                Some(more) if prints.is_empty() => *text += &format!("\n{more}"),
                _ => prints.push((*content).to_owned()),
            }
        }
    }
    steps
}

/// The first line of the page that is not among those that were printed.
fn missing<'a>(expected: &'a [String], printed: &str) -> Option<&'a str> {
    let mut left: Vec<&str> = printed.lines().collect();
    let shown = expected.iter().filter(|line| line.trim() != "...");
    for line in shown {
        let place = left.iter().position(|candidate| agrees(line, candidate));
        match place {
            Some(place) => drop(left.remove(place)),
            None => return Some(line),
        }
    }
    None
}

/// Whether a line is what the page shows, up to `...`, the values of numbers with a point, and the width of gaps.
fn agrees(shown: &str, printed: &str) -> bool {
    let [shown, printed] = [shown, printed].map(plain);
    let parts: Vec<&str> = shown.split("...").collect();
    let [first, middle @ .., last] = &parts[..] else {
        return shown == printed;
    };
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    for part in middle {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// With one blank for each gap, and 0.0 for each number with a point.
fn plain(line: &str) -> String {
    let words = line.split_whitespace().map(|word| {
        let number = word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let is_measured = number.contains('.') && number.parse::<f64>().is_ok();
        if is_measured {
            format!("0.0{}", &word[number.len()..])
        } else {
            word.to_owned()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# A page
<!-- within: env A=1 -->
```c hello.c
int main(void) {}
```
```sh
not a command
```
```console
$ echo one; \\
> echo two
two
one
$ true
```
<!-- not run: it takes an hour -->
```console
$ sleep 3600
```
";

    #[test]
    fn a_page_has_files_and_commands() {
        let page = Page::parse(PAGE);
        assert_eq!(page.within.as_deref(), Some("env A=1"));
        let Step::File { name, text } = &page.steps[0] else {
            panic!("{page:?}");
        };
        assert_eq!(
            (name.as_str(), text.as_str()),
            ("hello.c", "int main(void) {}\n")
        );
        let commands: Vec<_> = page.commands().collect();
        let prints = ["two".to_owned(), "one".to_owned()];
        assert_eq!(commands[0], (10, "echo one; \\\necho two", &prints[..]));
        assert_eq!(commands[1], (14, "true", &[][..]));
        assert_eq!(commands.len(), 2);
    }

    #[test]
    fn lines_agree_up_to_what_differs_from_run_to_run() {
        for (shown, printed) in [
            ("PE 1 of 2", "PE 1 of 2"),
            ("took 0.25 s, 4 PEs", "took 13.5 s, 4 PEs"),
            ("a   b", "a b"),
            ("host ... of 4", "host h1, cores 2 of 4"),
            ("ready ...", "ready at 7"),
        ] {
            assert!(agrees(shown, printed), "{shown} | {printed}");
        }
        for (shown, printed) in [
            ("PE 1 of 2", "PE 1 of 3"),
            ("took 0.25 s", "took 1 s"),
            ("host ... of 4", "host h1 of 5"),
            ("PE 1", "PE 1 of 2"),
        ] {
            assert!(!agrees(shown, printed), "{shown} | {printed}");
        }
    }

    #[test]
    fn a_line_is_found_once() {
        let expected = ["a".to_owned(), "...".to_owned(), "a".to_owned()];
        assert_eq!(missing(&expected, "a\nb\na\n"), None);
        assert_eq!(missing(&expected, "a\nb\n"), Some("a"));
    }

    #[test]
    fn a_page_is_followed_and_what_is_wrong_is_named() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("page");
        let follow = |text: &str| Page::parse(text).follow(home.path(), &folder);
        assert_eq!(follow(PAGE), Ok(()));
        assert!(folder.join("hello.c").exists());
        let wrong = follow("```console\n$ export A=5\n$ echo $A\n6\n```\n").unwrap_err();
        assert!(
            wrong.starts_with("3: `echo $A` does not print\n  6\n"),
            "{wrong}"
        );
        let failed = follow("```console\n$ true\n$ echo why; false\n```\n").unwrap_err();
        assert!(
            failed.starts_with("3: `echo why; false` ended with exit status: 1"),
            "{failed}"
        );
        assert!(failed.ends_with("why\n"), "{failed}");
    }
}
