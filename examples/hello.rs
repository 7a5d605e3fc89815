//! Every PE puts its number into the memory of its right neighbour.

use hostwire::{Job, Result};

fn main() -> Result<()> {
    let job = Job::attach()?;
    let inbox = job.alloc::<u32>(1)?; // one word in the memory of every PE
    let right = (job.pe() + 1) % job.pes();
    inbox.put(right, 0, &[job.pe()])?; // a plain store into its memory
    job.barrier()?; // all puts have arrived
    println!("PE {} heard from PE {}", job.pe(), inbox.load(0)?);
    job.finalize()
}
