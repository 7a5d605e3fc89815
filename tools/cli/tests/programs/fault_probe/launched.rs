//! Interaction of a PE with its launcher.

use std::error::Error;
use std::time::Duration;

use hostwire::Job;
use hostwire_bootstrap::pmi::Client2;
use hostwire_bootstrap::{Bootstrap, Deadline, Nodes};

type Done = Result<(), Box<dyn Error>>;

/// Bytes that no text protocol carries as they are, of any length.
fn blob(pe: u32) -> Vec<u8> {
    let len = [0, 1, 700, 5000][pe as usize % 4];
    (0..len).map(|n| (n + pe) as u8).collect()
}

/// All PEs exchange bytes through the launcher, without shared memory; with `way` "pmi2" by PMI-2.
pub fn blobs(way: &str) -> Done {
    let deadline = Deadline::after(Duration::from_secs(60));
    let launcher = match way {
        "pmi2" => Client2::from_env(deadline)?.map(|client| Box::new(client) as Box<dyn Bootstrap>),
        _ => hostwire_bootstrap::connect(false, deadline)?,
    };
    let mut launcher = launcher.ok_or("no launcher in the environment")?;
    let (pe, pes) = (launcher.rank(), launcher.size());
    let nodes = Nodes::meet(&mut *launcher)?;
    for round in ["first", "second"] {
        let all = hostwire_bootstrap::all_gather(&mut *launcher, round, &blob(pe))?;
        for (peer, got) in (0..).zip(all) {
            if got != blob(peer) {
                return Err(format!("the bytes of PE {peer} are wrong").into());
            }
        }
    }
    if launcher.get(0, "nothing").is_ok() {
        return Err("there is something that nobody has put".into());
    }
    let (name, count) = (launcher.name(), nodes.nodes().len());
    launcher.fence()?;
    launcher.finalize()?;
    println!("PE {pe} of {pes} over {name}, nodes: {count}");
    Ok(())
}

/// PE `pe` ends the job with `status` while the others wait for it.
pub fn abort(pe: u32, status: i32) -> Done {
    let mut job = Job::attach()?;
    job.barrier()?;
    if job.pe() == pe {
        job.abort(status, "no more paper")?;
        std::thread::sleep(Duration::from_secs(1000));
    }
    Ok(job.barrier()?)
}

/// PE `pe` exits with status 0 without leaving the job, while the others wait for it.
pub fn leave(pe: u32) -> Done {
    let job = Job::attach()?;
    job.barrier()?;
    if job.pe() == pe {
        return Ok(());
    }
    Ok(job.barrier()?)
}
