//! What a PE in virtual time does beside messages.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use hostwire::Job;
use rustix::process::{Signal, getpid, kill_process};

type Done = Result<(), Box<dyn Error>>;

/// Sleeps before, in and after the job, and looks at all clocks.
pub fn clocks() -> Done {
    let whole = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    let job = Job::attach()?;
    let begin = Instant::now();
    std::thread::sleep(Duration::from_millis(3));
    let slept = begin.elapsed();
    job.barrier()?;
    let date = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let pe = job.pe();
    job.finalize()?;
    let after = Instant::now();
    std::thread::sleep(Duration::from_secs(3600));
    println!(
        "PE {pe} slept {} ns, an hour later by {} s, {} ms in all, in year {}",
        slept.as_nanos(),
        after.elapsed().as_secs(),
        whole.elapsed().as_millis(),
        1970 + date.as_secs() / 31_536_000,
    );
    Ok(())
}

/// Each PE waits for a message that nobody sends.
pub fn deadlock() -> Done {
    let job = Job::attach()?;
    let from = (job.pe() + 1) % job.pes();
    let mut nothing = [0_u64];
    job.recv(from, 0, &mut nothing)?;
    Ok(())
}

/// PE 1 does not call the library until there is this file.
pub fn spin(file: &str) -> Done {
    let job = Job::attach()?;
    println!("PE {} has begun", job.pe());
    while job.pe() == 1 && !Path::new(file).exists() {
        std::hint::spin_loop();
    }
    job.barrier()?;
    Ok(job.finalize()?)
}

/// Computes for about so long before a barrier, and says how long that took, with the barrier and without.
pub fn compute(milliseconds: u64) -> Done {
    let job = Job::attach()?;
    let begin = Instant::now();
    let mut value = std::hint::black_box(1_u64);
    for _ in 0..milliseconds * 100_000 {
        value = std::hint::black_box(value.wrapping_mul(3));
    }
    let computed = begin.elapsed();
    job.barrier()?;
    let took = begin.elapsed();
    println!("PE {} took {} ns", job.pe(), took.as_nanos());
    println!("PE {} computed {} ns", job.pe(), computed.as_nanos());
    Ok(job.finalize()?)
}

/// Writes lines at times that are different for each PE.
pub fn lines() -> Done {
    let job = Job::attach()?;
    let pe = job.pe();
    job.barrier()?;
    for round in 0..3 {
        std::thread::sleep(Duration::from_micros(u64::from(pe) * 2 + 3));
        println!("PE {pe}, round {round}");
    }
    job.barrier()?;
    Ok(job.finalize()?)
}

/// Prints the time of a barrier, as programs of experiments do.
pub fn figures() -> Done {
    let job = Job::attach()?;
    job.barrier()?;
    let begin = Instant::now();
    job.barrier()?;
    println!("barrier: {} ns", begin.elapsed().as_nanos());
    Ok(job.finalize()?)
}

/// PE 1 kills itself while it has the turn.
pub fn die() -> Done {
    let job = Job::attach()?;
    if job.pe() == 1 {
        kill_process(getpid(), Signal::KILL)?;
    }
    let mut nothing = [0_u64];
    job.recv(1, 0, &mut nothing)?;
    Ok(())
}
