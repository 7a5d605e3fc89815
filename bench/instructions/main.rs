//! Instructions of one operation. `scripts/instructions.sh` runs this under callgrind, and then again to read what that has
//! written.
//!
//! ```text
//! instructions run                      does each operation many times
//! instructions few                      does those on shared memory less often, for lackey
//! instructions socket KIND              sends and takes frames by sockets of a kind: udp, tcp, ether or xdp
//! instructions lines PROGRAM SYMBOLS MAPS TRACE   prints the lines of shared memory that lackey saw
//! instructions table FILE...            prints the table of what callgrind wrote to these files
//! instructions check COMMITTED FILE...  compares it with a table
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod callgrind;
mod lines;
mod link;
mod pair;
mod rows;
mod sockets;
mod table;

use std::path::Path;
use std::process::ExitCode;

use pair::Failed;
use table::Table;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run"] => pair::run(rows::all, pair::OFTEN)
            .and_then(|()| link::rows())
            .map(|()| true),
        ["few"] => pair::run(rows::all, pair::SELDOM).map(|()| true),
        ["socket", kind] => sockets::rows(kind).map(|()| true),
        ["lines", program, symbols, maps, trace] => {
            lines(program, symbols, maps, trace).map(|table| {
                print!("{table}");
                true
            })
        }
        ["table", ref files @ ..] => count(files).map(|table| {
            print!("{table}");
            true
        }),
        ["check", committed, ref files @ ..] => check(committed, files),
        _ => Err("see the text in bench/instructions/main.rs".into()),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

fn lines(program: &str, symbols: &str, maps: &str, trace: &str) -> Result<Table, Failed> {
    let places = lines::Places::new(&read(symbols)?, &read(maps)?, program)?;
    let trace = std::io::BufReader::new(std::fs::File::open(trace)?);
    Ok(lines::rows(trace, &places)?)
}

/// A file is a table of lines by its name, or of callgrind.
fn count(files: &[&str]) -> Result<Table, Failed> {
    let mut table = Table::default();
    for file in files {
        let text = read(file)?;
        match file.ends_with(".lines") {
            true => text.parse().map(|lines| table.extend(lines)),
            false => callgrind::rows(&text, &mut table),
        }
        .map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(table)
}

fn check(committed: &str, files: &[&str]) -> Result<bool, Failed> {
    let was: Table = read(committed)?
        .parse()
        .map_err(|error| format!("{committed}: {error}"))?;
    let (text, is_kept) = was.compared_with(&count(files)?);
    print!("{text}");
    Ok(is_kept)
}

fn read(file: &str) -> Result<String, Failed> {
    std::fs::read_to_string(Path::new(file)).map_err(|error| format!("{file}: {error}").into())
}
