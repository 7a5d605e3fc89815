//! Makes a text of a wanted length, the same every time, for `wordcount` to count.
//!
//! Words are drawn from a vocabulary of made-up ones, the first far more often than the
//! last, as in real texts (Zipf's law). Some are capitalised, some lines empty.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Makes a text, the same every time.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Where to write it.
    file: PathBuf,
    /// At least so many bytes; the last line is finished.
    #[arg(long, default_value_t = 52_428_800)]
    bytes: u64,
    /// How many different words there are.
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    words: u32,
    /// Another number, another text.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const SYLLABLES: [&str; 32] = [
    "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
    "ta", "ve", "wi", "xo", "yu", "za", "bre", "cli", "dro", "fru", "gla", "kre", "pli", "spo",
    "tru", "sha", "the",
];

fn main() -> ExitCode {
    let args = Args::parse();
    match make(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("maketext: {}: {error}", args.file.display());
            ExitCode::FAILURE
        }
    }
}

fn make(args: &Args) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(1 << 16, File::create(&args.file)?);
    let mut random = SplitMix(args.seed);
    let vocabulary: Vec<String> = (0..args.words).map(word).collect();
    let mut line = String::new();
    let mut written = 0;
    while written < args.bytes {
        line.clear();
        for place in 0..random.below(16) {
            let rank = zipf(&mut random, vocabulary.len());
            let begin = line.len();
            if place > 0 {
                line.push_str(if random.below(9) == 0 { ", " } else { " " });
            }
            line.push_str(&vocabulary[rank]);
            if place == 0 {
                line[begin..][..1].make_ascii_uppercase();
            }
        }
        line.push_str(if line.is_empty() { "\n" } else { ".\n" });
        file.write_all(line.as_bytes())?;
        written += line.len() as u64;
    }
    file.flush()
}

/// The word of this rank: the number in base 32, written in syllables.
fn word(rank: u32) -> String {
    let mut word = String::new();
    let mut left = rank;
    loop {
        word.push_str(SYLLABLES[left as usize % SYLLABLES.len()]);
        left /= SYLLABLES.len() as u32;
        if left == 0 {
            return word;
        }
    }
}

/// A rank that falls off about as one through itself: its logarithm is even.
fn zipf(random: &mut SplitMix, ranks: usize) -> usize {
    let even = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    let rank = ((ranks as f64 + 1.0).ln() * even).exp() - 1.0;
    (rank as usize).min(ranks - 1)
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}
