//! Step 4: an atomic counter distributes work, and a reduction adds up the results.

use hostwire::{Job, Result};

const LIMIT: u64 = 100_000;
const PIECE: u64 = 1_000;

fn is_prime(n: u64) -> bool {
    n > 1
        && (2..)
            .take_while(|divisor| divisor * divisor <= n)
            .all(|divisor| !n.is_multiple_of(divisor))
}

fn main() -> Result<()> {
    let job = Job::attach()?;
    let next = job.alloc::<u64>(1)?; // the counter is the word at PE 0
    let mut primes = 0;
    loop {
        // Take the next piece of work. Each PE takes as many as it can.
        let from = next.fetch_add(0, 0, PIECE)?;
        if from >= LIMIT {
            break;
        }
        primes += (from..from + PIECE).filter(|n| is_prime(*n)).count() as u64;
    }
    let mut total = [primes];
    job.all_reduce(&mut total, |a, b| a + b)?;
    if job.pe() == 0 {
        println!("{} primes below {LIMIT}", total[0]);
    }
    job.finalize()
}
