//! Memory that a PE has registered by itself.

use hostwire_transport::Memory;

use super::{Random, Setup, right};
use crate::{Compare, Error, Job, Key, Registered};

const TAG: u64 = 5;

/// Gives the key to everybody, and returns those of all PEs.
fn keys(job: &Job, own: Key) -> Vec<Key> {
    let mut keys = vec![own; job.pes() as usize];
    job.all_gather(&[own], &mut keys).unwrap();
    keys
}

/// Puts, gets and atomics reach it, in order, at every alignment, from everybody.
pub fn registered_memory_is_reached(setup: &Setup<'_>) {
    setup.job(|job| {
        let bytes: Registered<u8> = job.register(5000).unwrap();
        let flag: Registered<u64> = job.register(2).unwrap();
        assert_eq!((bytes.len(), flag.len()), (5000, 2));
        let (of_bytes, of_flags) = (keys(job, bytes.key()), keys(job, flag.key()));
        let target = right(job);
        let there = job.open::<u8>(of_bytes[target as usize]).unwrap();
        let flag_there = job.open::<u64>(of_flags[target as usize]).unwrap();
        let mut random = Random::new(3);
        let mut model = vec![0; 5000];
        for round in 1..=5_u64 {
            let len = [0, 1, 31, 33, 3000][random.below(5)];
            let at = random.below(5000 - len + 1);
            let data = vec![round as u8 + target as u8; len];
            there.put(at, &data).unwrap();
            job.fence_of(target).unwrap();
            flag_there.put(0, &[round]).unwrap();
            let mut got = vec![0xff; len];
            there.get(at, &mut got).unwrap();
            assert_eq!(got, data);

            flag.wait_until(0, Compare::Ge, round).unwrap();
            model[at..at + len].fill(round as u8 + job.pe() as u8);
            let mut own = vec![0xff; 5000];
            bytes.read(0, &mut own).unwrap();
            assert_eq!(own, model, "round {round}");
            job.barrier().unwrap();
        }

        let counter = job.open::<u64>(of_flags[0]).unwrap();
        for _ in 0..3 {
            counter.fetch_add(1, 2).unwrap();
        }
        job.barrier().unwrap();
        assert_eq!(counter.fetch(1).unwrap(), 6 * u64::from(job.pes()));
        job.barrier().unwrap();
        if target == 0 {
            let all = 6 * u64::from(job.pes());
            assert_eq!(counter.compare_swap(1, all, 1).unwrap(), all);
            assert_eq!(counter.compare_swap(1, all, 2).unwrap(), 1);
            assert_eq!(counter.swap(1, 9).unwrap(), 1);
        }
        job.barrier().unwrap();
        if job.pe() == 0 {
            assert_eq!(flag.load(1).unwrap(), 9);
        }
        job.barrier().unwrap();
    });
}

/// Places that are not there, and memory that is no longer registered, are errors that store
/// nothing.
pub fn what_is_not_registered_is_refused(setup: &Setup<'_>) {
    setup.job(|job| {
        let memory = Memory::anonymous(64);
        let own: Registered<u64> = job.register_memory(memory.clone()).unwrap();
        let key = own.key();
        let keys = keys(job, key);
        let there = job.open::<u64>(keys[right(job) as usize]).unwrap();
        let outside = |result| assert!(matches!(result, Err(Error::OutOfRange { .. })));
        outside(there.put(8, &[1]));
        outside(there.put(usize::MAX, &[1]));
        outside(there.get(7, &mut [0, 0]));
        outside(there.fetch(8).map(|_| ()));
        outside(own.read(8, &mut [0]));
        outside(own.write(7, &[1, 2]));
        job.barrier().unwrap();
        assert_eq!(own.load(7).unwrap(), 0);

        drop(own);
        job.barrier().unwrap();
        let gone = |result| assert!(matches!(result, Err(Error::NotRegistered { .. })));
        gone(there.get(0, &mut [0]));
        gone(there.fetch_add(0, 1).map(|_| ()));
        job.barrier().unwrap();
        let mut bytes = [1; 64];
        memory.copy_out(0, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 64]);

        // Other memory has another number, and a key is nothing but a value.
        let again: Registered<u64> = job.register(8).unwrap();
        assert_ne!(again.key(), key);
        if job.pe() == 0 {
            job.send(right(job), TAG, &[again.key()]).unwrap();
        }
        if job.pe() == 1 % job.pes() {
            let key = job.recv_vec::<Key>(0, TAG).unwrap()[0];
            assert_eq!((key.pe(), key.len_bytes()), (0, 64));
            job.open::<u64>(key).unwrap().put(3, &[77]).unwrap();
            job.quiet().unwrap();
        }
        job.barrier().unwrap();
        if job.pe() == 0 {
            assert_eq!(again.load(3).unwrap(), 77);
        }
        job.barrier().unwrap();
    });
}
