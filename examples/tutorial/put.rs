//! Step 2: symmetric memory. Every PE puts its number into the memory of all others.

use hostwire::{Job, Result};

fn main() -> Result<()> {
    let job = Job::attach()?;
    // One array in the memory of every PE, with a place for each PE.
    let seen = job.alloc::<u32>(job.pes() as usize)?;
    for pe in 0..job.pes() {
        seen.put(pe, job.pe() as usize, &[job.pe() * 10])?;
    }
    job.barrier()?; // all puts of all PEs have arrived
    println!("PE {} sees {:?}", job.pe(), seen.to_vec()?);

    // A get reads the memory of another PE.
    let mut theirs = [0];
    seen.get((job.pe() + 1) % job.pes(), job.pe() as usize, &mut theirs)?;
    assert_eq!(theirs, [job.pe() * 10]);
    job.finalize()
}
