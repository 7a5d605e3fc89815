//! Pairs of PEs of two hosts that store to each other, and check every byte. A fault in one pair must not harm another.

use std::error::Error;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hostwire::Job;

use crate::steady::{end_of_input, expect, pattern};

type Done = Result<(), Box<dyn Error>>;

/// Goes on until the standard input of PE 0 ends. A PE whose partner is lost says so and stores
/// nothing more.
pub fn pairs(block_bytes: usize) -> Done {
    let job = Job::attach()?;
    let (pe, pes) = (job.pe(), job.pes());
    let partner = (pe + pes / 2) % pes;
    let block = job.alloc::<u8>(block_bytes)?;
    // Set when all is over.
    let over = job.alloc::<u64>(1)?;
    job.barrier()?;
    println!("PE {pe} is process {}", std::process::id());
    let end = end_of_input(pe == 0);
    let mut lost = false;
    for round in 1.. {
        // PE 0 says when it is over, whether its own partner lives or not.
        if pe == 0 && end.load(Ordering::Relaxed) {
            for other in 0..pes {
                // Dead PEs cannot receive it.
                let _ = over.put(other, 0, &[1]);
            }
        }
        let is_over = over.load(0)? == 1;
        if lost {
            if is_over {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
            continue;
        }
        let data = pattern(pe, round, block_bytes);
        let mut theirs = [0_u8];
        // A wait for a word would also fail if another PE is lost: any PE could have written it.
        let exchanged = block.put(partner, 0, &data).and_then(|()| {
            let ours = [u8::from(is_over)];
            job.exchange(partner, &ours, partner, &mut theirs, 1)?;
            let got = block.to_vec()?;
            // The partner must not put before that was read.
            job.exchange(partner, &[0_u8], partner, &mut [0_u8], 2)?;
            Ok(got == pattern(partner, round, block_bytes))
        });
        match exchanged {
            Ok(right) => expect("a put", round, right)?,
            Err(error) => {
                println!("PE {pe} saw: {error}");
                lost = true;
            }
        }
        // Both know of both, and end in the same round.
        if is_over || theirs[0] == 1 {
            break;
        }
    }
    if !lost {
        println!("PE {pe} is fine");
    }
    // Not a collective end: a PE may be missing.
    drop((block, over, job));
    Ok(())
}
