//! The page of `make run`: the output of its programs, the picture, the benchmarks with
//! their limits, and the failures, in one file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::html::{WHAT, base64, escape, page};
use crate::{bench, file};

/// The hidden command.
pub const COMMAND: &str = "run-page";
/// Exit status if a file cannot be read or written.
const FAILED: u8 = 1;
/// How a report begins.
const TITLE: &str = "HOSTWIRE: WHAT WAS SEEN";
/// Larger pictures would make a page that no browser likes.
const PICTURE_BYTES_MAX: u64 = 16 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The report as text: blocks with a heading and indented lines
    #[arg(long, value_name = "FILE")]
    report: PathBuf,
    /// The figures of the benchmarks, as `hostwire bench --csv` writes them
    #[arg(long, value_name = "FILE")]
    figures: Option<PathBuf>,
    /// What other libraries reach, as `bench/peers/page.sh` writes it
    #[arg(long, value_name = "FILE", requires = "figures")]
    peers: Option<PathBuf>,
    /// A picture (PNG), and what it shows
    #[arg(long, num_args = 2, value_names = ["FILE", "CAPTION"])]
    picture: Vec<String>,
    /// What failed; may be given several times
    #[arg(long, value_name = "TEXT")]
    failure: Vec<String>,
    /// The page
    #[arg(value_name = "OUT.html")]
    out: PathBuf,
}

/// Runs the command.
pub fn main(args: &Args) -> ExitCode {
    let written = whole(args).and_then(|page| file::write_whole(&args.out, page.as_bytes()));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            crate::report::line(&format!("{COMMAND}: {why}"));
            ExitCode::from(FAILED)
        }
    }
}

fn whole(args: &Args) -> Result<String, String> {
    let report = fs::read(&args.report).map_err(unread(&args.report))?;
    let report = String::from_utf8_lossy(&report);
    let (head, blocks) = parted(&report);
    let (bars, figures) = figures(args)?;
    let picture = match &args.picture[..] {
        [path, caption] => figure(Path::new(path), caption)?,
        _ => String::new(),
    };
    let body = format!(
        "<header>\n<h1>hostwire: what was seen</h1>\n<p>{WHAT}</p>\n<p class=\"cite\">{}</p>\n{}</header>\n<main>\n{bars}\
         <section>\n<h2>Programs</h2>\n{}{picture}</section>\n{figures}</main>\n",
        escape(&head),
        outcome(&args.failure),
        programs(&blocks),
    );
    Ok(page("hostwire: what was seen", body, ""))
}

/// The bars, which a stranger sees first, and all figures.
fn figures(args: &Args) -> Result<(String, String), String> {
    let Some(path) = &args.figures else {
        return Ok(Default::default());
    };
    let lines = read(path, bench::csv::parse)?;
    let peers = match &args.peers {
        Some(path) => read(path, bench::bars::parse)?,
        None => Vec::new(),
    };
    let section = |title: &str, body: &str| match body {
        "" => String::new(),
        body => format!("<section>\n<h2>{title}</h2>\n{body}</section>\n"),
    };
    Ok((
        section("How fast it is", &bench::bars::section(&lines, &peers)),
        section("Benchmarks", &bench::html::section(&lines)),
    ))
}

/// What `parse` makes of a file.
fn read<T>(path: &Path, parse: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(unread(path))?;
    parse(&text).map_err(|why| format!("{}, {why}", path.display()))
}

fn unread(path: &Path) -> impl Fn(std::io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("cannot read {path}: {error}")
}

/// The failures, if there are any.
fn outcome(failures: &[String]) -> String {
    if failures.is_empty() {
        return "<p class=\"lead good\">All checks passed.</p>\n".to_owned();
    }
    let items: String = failures
        .iter()
        .map(|failure| format!("<li>{}</li>\n", escape(failure)))
        .collect();
    format!("<p class=\"lead bad\">What failed:</p>\n<ul class=\"bad\">\n{items}</ul>\n")
}

/// The lines above the first empty one, without the title, and the blocks behind them.
fn parted(report: &str) -> (String, Vec<Vec<&str>>) {
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in report.lines() {
        match blocks.last_mut() {
            Some(block) if !line.trim().is_empty() => block.push(line),
            Some(block) if block.is_empty() => {}
            _ => blocks.push(Vec::new()),
        }
    }
    let mut blocks = blocks.into_iter().filter(|block| !block.is_empty());
    let head = blocks.next().unwrap_or_default().join("; ");
    // The page has the title already.
    let head = head.trim_start_matches(TITLE).trim_start().to_owned();
    (head, blocks.collect())
}

/// Each block with its heading; the benchmarks have a section of their own.
fn programs(blocks: &[Vec<&str>]) -> String {
    let mut out = String::new();
    for block in blocks {
        let Some((heading, lines)) = block.split_first() else {
            continue;
        };
        if heading.starts_with("hostwire bench") {
            continue;
        }
        let _ = write!(
            out,
            "<h3>{}</h3>\n<pre class=\"said\">{}</pre>\n",
            escape(heading),
            escape(&lines.join("\n"))
        );
    }
    out
}

fn figure(path: &Path, caption: &str) -> Result<String, String> {
    let place = path.display();
    let bytes = fs::read(path).map_err(|error| format!("cannot read {place}: {error}"))?;
    if bytes.len() as u64 > PICTURE_BYTES_MAX {
        return Err(format!("{place} is larger than {PICTURE_BYTES_MAX} bytes"));
    }
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Err(format!("{place} is no PNG picture"));
    }
    Ok(format!(
        "<figure class=\"picture\"><figcaption>{0}</figcaption>\
         <img alt=\"{0}\" src=\"data:image/png;base64,{1}\"/></figure>\n",
        escape(caption),
        base64(&bytes)
    ))
}
