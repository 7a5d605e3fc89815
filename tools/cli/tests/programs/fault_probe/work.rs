//! Programs without fault.

use std::error::Error;
use std::process::Command;

use hostwire::{Compare, Job, SignalOp};
use rustix::process::{Signal, getpid, kill_process};

type Done = Result<(), Box<dyn Error>>;

/// The least that a job can do.
pub fn meet() -> Done {
    let job = Job::attach()?;
    job.barrier()?;
    println!("PE {} of {} has met all", job.pe(), job.pes());
    Ok(job.finalize()?)
}

/// A bit of everything.
pub fn everything() -> Done {
    let job = Job::attach()?;
    once(&job)?;
    println!("PE {} of {} is fine", job.pe(), job.pes());
    Ok(job.finalize()?)
}

fn once(job: &Job) -> Done {
    let (me, pes) = (job.pe(), job.pes());
    let (left, right) = ((me + pes - 1) % pes, (me + 1) % pes);
    let words = job.alloc::<u64>(2)?;
    words.put(right, 0, &[me.into()])?;
    job.barrier()?;
    expect("what the left one put", words.load(0)?, left.into())?;
    job.barrier()?;
    words.put_with_signal(right, 0, &[7], &words, 1, SignalOp::Add(1))?;
    words.wait_until(1, Compare::Eq, 1)?;
    expect("what came before the signal", words.load(0)?, 7)?;
    job.barrier()?;
    words.fetch_add(0, 0, 1)?;
    job.barrier()?;
    let mut sum = [0];
    words.get(0, 0, &mut sum)?;
    job.barrier()?;
    expect("the sum of all", sum[0], 7 + u64::from(pes))?;
    for len in [0, 1, 56, 57, 3000, 300_000] {
        let mut into = vec![0; len];
        let got = job.exchange(right, &vec![me as u8; len], left, &mut into, 3)?;
        expect("the length of a message", got, len)?;
        expect("a message", into, vec![left as u8; len])?;
    }
    let mut ones = vec![1u32; 10_000];
    job.all_reduce(&mut ones, |a, b| a + b)?;
    job.barrier()?;
    expect("a reduction", ones, vec![pes; 10_000])
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Done {
    if got == expected {
        return Ok(());
    }
    Err(format!("{what} is wrong").into())
}

/// Every PE puts a text with its number to its neighbour.
pub fn put(text: &str) -> Done {
    let job = Job::attach()?;
    let (me, pes) = (job.pe(), job.pes());
    let text_of = |pe: u32| format!("{text} of PE {pe}").into_bytes();
    let memory = job.alloc::<u8>(text.len() + 20)?;
    memory.put((me + 1) % pes, 0, &text_of(me))?;
    job.barrier()?;
    let expected = text_of((me + pes - 1) % pes);
    expect(
        "a text",
        memory.to_vec()?[..expected.len()].to_vec(),
        expected,
    )?;
    println!("PE {me} of {pes} is fine");
    Ok(job.finalize()?)
}

/// Every PE writes to `bytes` bytes of its heap, and reads those of its neighbour.
pub fn fill(bytes: usize) -> Done {
    let job = Job::attach()?;
    let memory = job.alloc::<u8>(bytes)?;
    let right = (job.pe() + 1) % job.pes();
    memory.write(0, &vec![job.pe() as u8 + 1; bytes])?;
    job.barrier()?;
    let mut got = vec![0; bytes];
    memory.get(right, 0, &mut got)?;
    expect(
        "the memory of the neighbour",
        got,
        vec![right as u8 + 1; bytes],
    )?;
    println!("PE {} of {} is fine", job.pe(), job.pes());
    Ok(job.finalize()?)
}

/// PE 1 is stopped in the middle, and goes on after `seconds`.
pub fn pause(seconds: u32) -> Done {
    let job = Job::attach()?;
    for round in 0..40 {
        if job.pe() == 1 && round == 20 {
            let pid = getpid();
            let wake = format!("sleep {seconds}; kill -CONT {}", pid.as_raw_pid());
            let mut waker = Command::new("sh").args(["-c", &wake]).spawn()?;
            kill_process(pid, Signal::STOP)?;
            waker.wait()?;
        }
        once(&job)?;
    }
    println!("PE {} of {} is fine", job.pe(), job.pes());
    Ok(job.finalize()?)
}

/// Prints how many KiB of memory a PE takes, from before attaching until after a message to and
/// from every PE, a barrier and a sum. Pages of segments count in part for each PE that has
/// them, so that the sum is what the host pays. Pages of the program's file do not count: how
/// many are touched depends on how the program was built, and all PEs share them.
pub fn memory() -> Done {
    let before = own_kib()?;
    let job = Job::attach()?;
    let (pe, pes) = (job.pe(), job.pes());
    for distance in 0..pes {
        let (to, from) = ((pe + distance) % pes, (pe + pes - distance) % pes);
        job.send(to, 1, &[pe])?;
        let mut got = [0];
        job.recv(from, 1, &mut got)?;
    }
    job.barrier()?;
    let mut sum = [1];
    job.all_reduce(&mut sum, |a, b| a + b)?;
    println!("{}", own_kib()?.saturating_sub(before));
    Ok(job.finalize()?)
}

fn own_kib() -> Result<u64, Box<dyn Error>> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let kib = |name: &str| -> Result<u64, Box<dyn Error>> {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        Ok(number
            .ok_or_else(|| format!("no {name} in /proc/self/smaps_rollup"))?
            .parse()?)
    };
    Ok(kib("Pss_Anon:")? + kib("Pss_Shmem:")?)
}
