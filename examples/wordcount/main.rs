//! Counts words in files, like `tr -cs '[:alnum:]' '\n' | sort | uniq -c | sort -rn`.
//!
//! The bytes of all files are shared out evenly; a word belongs to the PE in whose
//! share it begins. Each PE counts its own words, then every word goes to the PE that
//! its hash names. This PE adds up the counts of all PEs, and at last PE 0 collects and
//! prints.
//!
//! The result is checked: the words counted must be as many, and as many bytes long,
//! as beginnings of words and bytes of words are seen when the bytes are looked at
//! one by one.

mod counts;
mod exchange;
mod files;
mod words;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use hostwire::Job;
use hostwire_examples::{Failure, run, share};

use counts::{Counts, Entry, Totals};
use files::Input;

/// Counts how often each word occurs in FILES.
///
/// A word is a run of ASCII letters and digits, as for `tr -cs '[:alnum:]' '\n'` in the
/// C locale: all other bytes lie between words, those of UTF-8 letters, too. A word does
/// not go on from one file to the next.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: hostwire run -n 4 wordcount --lower --top 10 *.txt

The output is that of sort | uniq -c | sort -rn in the C locale: most frequent first,
equally frequent ones in reverse order of their bytes. A summary goes to standard error.
The exit status is 0 if all files were read and the check of the counts passes. A word
may have up to 16 MiB."
)]
struct Args {
    /// Files to read; regular files only.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Count Word, WORD and word as word.
    #[arg(long)]
    lower: bool,
    /// Print only the N most frequent words; 0 prints all.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Write all words with their counts there.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Lose a word on the way, to see the check fail.
    #[arg(long)]
    sabotage: bool,
}

fn main() -> ExitCode {
    run("wordcount", wordcount)
}

fn wordcount(job: &Job, args: Args) -> Result<(), Failure> {
    let begin = Instant::now();
    let inputs = open_inputs(job, &args.files)?;
    let output = create_output(job, args.output.as_deref())?;

    let mut counts = Counts::new();
    let mut seen = Totals::default();
    let bytes: u64 = inputs.iter().map(|input| input.bytes).sum();
    for (input, range) in files::pieces(&inputs, share(bytes, job.pe(), job.pes())) {
        let part = words::count(input, range, args.lower, &mut counts)
            .map_err(|error| Failure::alone(input.path.display(), error))?;
        seen += part;
    }
    let mut mine = exchange::by_owner(job, counts)?;
    if args.sabotage && job.pe() == 0 {
        mine.lose_one();
    }
    let [seen, counted] = add_up(job, [seen, mine.totals()])?;
    let different = add_up(job, [Totals::words(mine.len() as u64)])?[0].words;

    // PE 0 needs everything only to write everything.
    let wanted = match (args.top, &args.output) {
        (0, _) | (_, Some(_)) => usize::MAX,
        (top, None) => top,
    };
    let sorted = exchange::to_pe_0(job, mine.into_sorted(wanted))?;
    if let Some(sorted) = sorted {
        let say = |error| Failure::alone("cannot write the counts", error);
        let top = if args.top == 0 { usize::MAX } else { args.top };
        write_counts(io::stdout().lock(), sorted.iter().take(top)).map_err(say)?;
        if let Some(file) = output {
            write_counts(file, sorted.iter()).map_err(say)?;
        }
        let seconds = begin.elapsed().as_secs_f64();
        eprintln!(
            "{} words, {different} different; {:.1} MB in {} file(s), {} PEs, {seconds:.3} s, {:.0} MB/s",
            counted.words,
            bytes as f64 * 1e-6,
            inputs.len(),
            job.pes(),
            bytes as f64 * 1e-6 / seconds,
        );
        eprintln!(
            "check: {} words of {} bytes counted, {} of {} seen",
            counted.words, counted.bytes, seen.words, seen.bytes
        );
    }
    if seen == counted {
        Ok(())
    } else {
        Err(Failure::Together(
            "check failed: not all words that were seen were counted".into(),
        ))
    }
}

/// Opens all files on all PEs. If a PE cannot, all learn it, and the error names every
/// such file.
fn open_inputs(job: &Job, paths: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let mut inputs = Vec::new();
    let mut faults = Vec::new();
    for path in paths {
        match Input::open(path) {
            Ok(input) => inputs.push(input),
            Err(error) => faults.push(format!("{}: {error}", path.display())),
        }
    }
    let mut failed = [faults.len() as u64];
    job.all_reduce(&mut failed, u64::max)?;
    if failed[0] > 0 {
        faults.push("nothing counted".into());
        return Err(Failure::Together(faults.join("\nwordcount: ")));
    }
    Ok(inputs)
}

/// Creates the output before the work is done, not after.
fn create_output(job: &Job, path: Option<&Path>) -> Result<Option<File>, Failure> {
    match path.filter(|_| job.pe() == 0) {
        None => Ok(None),
        Some(path) => File::create(path)
            .map(Some)
            .map_err(|error| Failure::alone(path.display(), error)),
    }
}

fn write_counts<'a>(to: impl Write, entries: impl Iterator<Item = &'a Entry>) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(1 << 16, to);
    for entry in entries {
        write!(to, "{:7} ", entry.count)?;
        to.write_all(&entry.word)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

fn add_up<const N: usize>(job: &Job, totals: [Totals; N]) -> hostwire::Result<[Totals; N]> {
    let mut sums = totals.map(|total| [total.words, total.bytes]);
    job.all_reduce(sums.as_flattened_mut(), |a: u64, b| a.wrapping_add(b))?;
    Ok(sums.map(|[words, bytes]| Totals { words, bytes }))
}
