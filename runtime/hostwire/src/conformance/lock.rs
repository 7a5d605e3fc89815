//! Locks.

use super::Setup;
use crate::Job;

/// What is done under a lock is done by one PE at a time, and the next one sees it.
pub fn locks_let_one_in_at_a_time(setup: &Setup<'_>) {
    const ROUNDS: u64 = 12;
    setup.job(|job| {
        let mut locks = [job.lock().unwrap(), job.lock().unwrap()];
        let sums = job.alloc::<u64>(2).unwrap();
        let home = job.pes() - 1;
        for round in 0..ROUNDS {
            for (index, lock) in locks.iter_mut().enumerate() {
                let guard = lock.acquire().unwrap();
                // Neither is atomic.
                let mut sum = [0];
                sums.get(home, index, &mut sum).unwrap();
                sums.put(home, index, &[sum[0] + round]).unwrap();
                match round % 2 {
                    0 => guard.release().unwrap(),
                    _ => drop(guard),
                }
            }
        }
        job.barrier().unwrap();
        let expected = u64::from(job.pes()) * (0..ROUNDS).sum::<u64>();
        if job.pe() == home {
            assert_eq!(sums.to_vec(), Ok(vec![expected; 2]));
        }
        trying(job);
    });
}

fn trying(job: &Job) {
    let mut lock = job.lock().unwrap();
    job.barrier().unwrap();
    if job.pe() == 0 {
        let guard = lock.try_acquire().unwrap();
        assert!(guard.is_some(), "it is free");
        job.barrier().unwrap();
        job.barrier().unwrap();
    } else {
        job.barrier().unwrap();
        assert!(lock.try_acquire().unwrap().is_none(), "PE 0 has it");
        job.barrier().unwrap();
    }
    // PE 0 has given it back by dropping the guard.
    drop(lock.acquire().unwrap());
    job.barrier().unwrap();
}
