//! Step 3: put with signal. A block of numbers travels once around the ring of PEs.

use hostwire::{Compare, Job, Result, SignalOp};

fn main() -> Result<()> {
    let job = Job::attach()?;
    let block = job.alloc::<u64>(4)?;
    let signal = job.alloc::<u64>(1)?;
    let right = (job.pe() + 1) % job.pes();

    let mut values = [0; 4];
    if job.pe() > 0 {
        // Wait until the block has come from the left neighbour.
        signal.wait_until(0, Compare::Eq, 1)?;
        block.read(0, &mut values)?;
    }
    for value in &mut values {
        *value += u64::from(job.pe()) + 1;
    }
    // The signal is never seen before the block.
    block.put_with_signal(right, 0, &values, &signal, 0, SignalOp::Set(1))?;

    if job.pe() == 0 {
        signal.wait_until(0, Compare::Eq, 1)?;
        println!("the block came back as {:?}", block.to_vec()?);
    }
    job.finalize()
}
