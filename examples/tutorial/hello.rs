//! Step 1: a job, and the number of each PE.

use hostwire::{Job, Result};

fn main() -> Result<()> {
    let job = Job::attach()?;
    println!("PE {} of {}", job.pe(), job.pes());
    job.finalize()
}
