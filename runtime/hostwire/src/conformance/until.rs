//! Waiting for words.

use std::time::Duration;

use super::{Setup, apart, left, right};
use crate::{Compare, Job};

/// Each comparison holds exactly when it should, and ends a wait.
pub fn every_comparison(setup: &Setup<'_>) {
    use Compare::{Eq, Ge, Gt, Le, Lt, Ne};
    setup.job(|job| {
        let word = job.alloc::<i32>(1).unwrap();
        let expected = [
            (-1, [false, true, true, true, false, false]),
            (0, [true, false, false, true, false, true]),
            (1, [false, true, false, false, true, true]),
        ];
        for (value, holds) in expected {
            word.store(0, value).unwrap();
            for (compare, holds) in [Eq, Ne, Lt, Le, Gt, Ge].into_iter().zip(holds) {
                assert_eq!(word.test(0, compare, 0), Ok(holds), "{value} {compare:?} 0");
            }
        }
        job.barrier().unwrap();
        let steps: [(i32, Compare, i32); 6] = [
            (5, Eq, 5),
            (6, Ne, 5),
            (-7, Lt, -6),
            (-8, Le, -8),
            (9, Gt, 8),
            (10, Ge, 10),
        ];
        for (value, compare, than) in steps {
            word.put(right(job), 0, &[value]).unwrap();
            word.wait_until(0, compare, than).unwrap();
            assert_eq!(word.load(0), Ok(value));
            job.barrier().unwrap();
        }
        let float = job.alloc::<f64>(1).unwrap();
        float.put(right(job), 0, &[2.5]).unwrap();
        float.wait_until(0, Gt, 2.0).unwrap();
        // Nothing compares with a NaN, except that it differs.
        float.put(left(job), 0, &[2.5]).unwrap();
        job.barrier().unwrap();
        assert_eq!(float.test(0, Le, f64::NAN), Ok(false));
        assert_eq!(float.test(0, Ne, f64::NAN), Ok(true));
    });
}

/// A wait with a limit ends with the word or with the time, whichever comes first.
pub fn waits_may_have_a_limit(setup: &Setup<'_>) {
    const SHORT: Duration = Duration::from_millis(5);
    /// For a hang.
    const LONG: Duration = Duration::from_secs(60);
    setup.job(|job| {
        let word = job.alloc::<u64>(1).unwrap();
        let begin = job.clock();
        assert_eq!(word.wait_until_for(0, Compare::Eq, 1, SHORT), Ok(false));
        let waited = job.clock() - begin;
        assert!(waited >= SHORT, "{waited:?}");
        assert_eq!(
            word.wait_until_for(0, Compare::Eq, 0, Duration::ZERO),
            Ok(true)
        );
        assert_eq!(
            word.wait_until_for(0, Compare::Ne, 0, Duration::ZERO),
            Ok(false)
        );
        job.barrier().unwrap();
        word.put(right(job), 0, &[7]).unwrap();
        job.quiet_of(right(job)).unwrap();
        assert_eq!(word.wait_until_for(0, Compare::Eq, 7, LONG), Ok(true));
        assert!(
            word.wait_until_for(1, Compare::Eq, 7, LONG).is_err(),
            "there is no word 1"
        );
        job.barrier().unwrap();
    });
}

/// Waiting for several words: the first, all, or whichever there are.
pub fn waiting_for_any_all_and_some(setup: &Setup<'_>) {
    setup.job(|job| {
        let pes = job.pes() as usize;
        let step = apart(job, 1);
        let flag = |pe: u32| pe as usize * step;
        let flags = job.alloc::<u64>(pes * step).unwrap();
        let everybody: Vec<usize> = (0..job.pes()).map(flag).collect();
        nothing_to_wait_for(job, &flags);

        // One PE at a time signals all others.
        for teller in 0..job.pes() {
            if job.pe() == teller {
                for pe in 0..job.pes() {
                    flags.put(pe, flag(teller), &[1]).unwrap();
                }
            }
            let rest = &everybody[teller as usize..];
            let found = flags.wait_until_any(rest, Compare::Eq, 1).unwrap();
            assert_eq!(found, Some(flag(teller)));
            job.barrier().unwrap();
        }
        // All at once: collect them as they come.
        for pe in 0..job.pes() {
            flags.put(pe, flag(job.pe()), &[2]).unwrap();
        }
        let mut waiting = everybody.clone();
        while !waiting.is_empty() {
            let come = flags.wait_until_some(&waiting, Compare::Eq, 2).unwrap();
            assert!(!come.is_empty());
            waiting.retain(|index| !come.contains(index));
        }
        job.barrier().unwrap();
        for pe in 0..job.pes() {
            flags.put(pe, flag(job.pe()), &[3]).unwrap();
        }
        flags.wait_until_all(&everybody, Compare::Ge, 3).unwrap();
        assert_eq!(flags.test_all(&everybody, Compare::Eq, 3), Ok(true));
        assert_eq!(flags.test_some(&everybody, Compare::Eq, 3), Ok(everybody));
        assert_eq!(flags.test_any(&[0], Compare::Lt, 3), Ok(None));
    });
}

fn nothing_to_wait_for(job: &Job, flags: &crate::Symmetric<u64>) {
    assert_eq!(flags.wait_until_any(&[], Compare::Eq, 9), Ok(None));
    assert_eq!(flags.wait_until_some(&[], Compare::Eq, 9), Ok(Vec::new()));
    assert_eq!(flags.wait_until_all(&[], Compare::Eq, 9), Ok(()));
    assert_eq!(flags.test_all(&[], Compare::Eq, 9), Ok(true));
    let beyond = job.pes() as usize * apart(job, 1);
    assert!(flags.wait_until_any(&[beyond], Compare::Eq, 9).is_err());
    assert!(flags.test_some(&[0, beyond], Compare::Eq, 0).is_err());
}

/// A PE that only ever tests a word still serves the others: its agent answers and its
/// rings are emptied.
pub fn polling_makes_progress(setup: &Setup<'_>) {
    const MESSAGES: u32 = 300;
    setup.job(|job| {
        let flag = job.alloc::<u64>(1).unwrap();
        let count = job.alloc::<u64>(1).unwrap();
        if job.pe() == 0 {
            while !flag.test(0, Compare::Eq, u64::from(job.pes()) - 1).unwrap() {}
            for from in 1..job.pes() {
                for tag in 0..MESSAGES {
                    assert_eq!(job.recv(from, tag.into(), &mut [0u64; 4]), Ok(4));
                }
            }
            let all = u64::from(MESSAGES) * (u64::from(job.pes()) - 1);
            assert_eq!(count.load(0), Ok(all));
        } else {
            for tag in 0..MESSAGES {
                job.send(0, tag.into(), &[u64::from(tag); 4]).unwrap();
                count.fetch_add(0, 0, 1).unwrap();
            }
            flag.fetch_add(0, 0, 1).unwrap();
        }
    });
}
