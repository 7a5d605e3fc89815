//! What it costs a PE to be one of many: `docs/costs.md` has the results, and `bench/costs.sh` runs this.
//!
//! ```text
//! hostwire run -n N costs [--rounds N] [--talk N] [--hold SECONDS]
//! ```
//!
//! All PEs pass `--rounds` barriers and as many all-reduces of one word, and check the sums. With `--talk`
//! each sends a message to so many PEs after it. Then PE 0 prints what the kernel has counted for the PEs.
//! With `--hold` all wait for so long before they leave, without another word.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod kernel;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use hostwire::Job;
use kernel::Counted;

type Failed = Box<dyn std::error::Error>;

/// The command line.
struct Wanted {
    rounds: u32,
    talk: u32,
    hold: Duration,
}

fn main() -> ExitCode {
    match costs() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("costs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn costs() -> Result<(), Failed> {
    let wanted = Wanted::read(std::env::args().skip(1))?;
    let begin = Instant::now();
    let job = Job::attach()?;
    let attached = begin.elapsed();
    job.barrier()?;
    let barrier = each(wanted.rounds, || Ok(job.barrier()?))?;
    let all_reduce = each(wanted.rounds, || sum_of_all(&job))?;
    talk(&job, wanted.talk)?;
    job.barrier()?;
    let counted = Counted::of_this_process()?;
    show(&job, [attached, barrier, all_reduce], counted)?;
    std::thread::sleep(wanted.hold);
    job.barrier()?;
    job.finalize()?;
    Ok(())
}

/// The mean time of one of so many rounds.
fn each(rounds: u32, mut round: impl FnMut() -> Result<(), Failed>) -> Result<Duration, Failed> {
    let begin = Instant::now();
    for _ in 0..rounds {
        round()?;
    }
    Ok(begin.elapsed() / rounds.max(1))
}

/// Every PE adds its number, and checks the sum.
fn sum_of_all(job: &Job) -> Result<(), Failed> {
    let mut sum = [u64::from(job.pe())];
    job.all_reduce(&mut sum, |a, b| a + b)?;
    let pes = u64::from(job.pes());
    match pes * (pes - 1) / 2 {
        expected if sum == [expected] => Ok(()),
        expected => Err(format!("all-reduce gave {}, expected {expected}", sum[0]).into()),
    }
}

/// Sends a message to each of the next `others` PEs, and receives one from as many.
fn talk(job: &Job, others: u32) -> Result<(), Failed> {
    let (pe, pes) = (job.pe(), job.pes());
    for step in 1..=others.min(pes - 1) {
        let (to, from) = ((pe + step) % pes, (pe + pes - step) % pes);
        let mut got = [0];
        job.send(to, 0, &[pe])?;
        job.recv(from, 0, &mut got)?;
        if got != [from] {
            return Err(format!("PE {from} sent {}, expected its number", got[0]).into());
        }
    }
    Ok(())
}

/// PE 0 prints the largest time of a PE, and mean and maximum of what the kernel counts.
fn show(job: &Job, times: [Duration; 3], counted: Counted) -> Result<(), Failed> {
    let mut largest: Vec<u64> = times.iter().map(|time| time.as_micros() as u64).collect();
    largest.extend(counted.values());
    let mut sums = counted.values().to_vec();
    job.all_reduce(&mut largest, u64::max)?;
    job.all_reduce(&mut sums, |a, b| a + b)?;
    if job.pe() != 0 {
        return Ok(());
    }
    let pes = u64::from(job.pes());
    println!("{:<24} {pes:>10}", "PEs");
    let (times, largest) = largest.split_at(times.len());
    for (name, time) in ["attach, us", "barrier, us", "all-reduce, us"]
        .iter()
        .zip(times)
    {
        println!("{name:<24} {time:>10}");
    }
    for ((name, sum), most) in Counted::NAMES.iter().zip(&sums).zip(largest) {
        println!("{name:<24} {:>10} {most:>10}", sum / pes);
    }
    Ok(())
}

impl Wanted {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Failed> {
        let mut wanted = Self {
            rounds: 10,
            talk: 0,
            hold: Duration::ZERO,
        };
        while let Some(option) = words.next() {
            let value: u32 = match words.next() {
                Some(value) => value
                    .parse()
                    .map_err(|_| format!("{option} {value}: expected a number"))?,
                None => return Err(format!("{option} needs a number").into()),
            };
            match option.as_str() {
                "--rounds" => wanted.rounds = value,
                "--talk" => wanted.talk = value,
                "--hold" => wanted.hold = Duration::from_secs(value.into()),
                _ => return Err(format!("{option}: expected --rounds, --talk or --hold").into()),
            }
        }
        Ok(wanted)
    }
}
