//! Puts with signal.

use super::{Setup, apart, left, right, values};
use crate::{Compare, Error, SignalOp};

/// Sizes around words, lines and pages.
const SIZES: &[usize] = &[0, 1, 8, 63, 64, 65, 1000, 4096, 100_000];

/// A PE that sees the signal sees the data.
pub fn signals_come_after_their_data(setup: &Setup<'_>) {
    setup.job(|job| {
        let data = job.alloc::<u8>(100_000).unwrap();
        let signal = job.alloc::<u64>(2).unwrap();
        let taken = job.alloc::<u64>(1).unwrap();
        for (round, size) in (1..).zip(SIZES.iter().copied().chain([8; 50])) {
            let bytes: Vec<u8> = values(job.pe(), round, size);
            let op = match round % 2 {
                0 => SignalOp::Set(round as u64),
                _ => SignalOp::Add(1),
            };
            data.put_with_signal(right(job), 0, &bytes, &signal, 1, op)
                .unwrap();
            signal.wait_until(1, Compare::Eq, round as u64).unwrap();
            let mut got = vec![0; size];
            data.read(0, &mut got).unwrap();
            assert_eq!(got, values::<u8>(left(job), round, size));
            taken.put(left(job), 0, &[round as u64]).unwrap();
            taken.wait_until(0, Compare::Eq, round as u64).unwrap();
        }
        let beyond = data.put_with_signal(0, 0, &[1], &signal, 2, SignalOp::Set(1));
        assert!(matches!(beyond, Err(Error::OutOfRange { index: 2, .. })));
    });
}

/// All PEs signal one word, and none gets lost.
pub fn signals_of_all_pes_add_up(setup: &Setup<'_>) {
    const ROUNDS: u64 = 20;
    setup.job(|job| {
        let step = apart(job, 1);
        let parts = job.alloc::<u64>(job.pes() as usize * step).unwrap();
        let signal = job.alloc::<u64>(1).unwrap();
        for _ in 0..ROUNDS {
            for target in 0..job.pes() {
                let own = job.pe() as usize * step;
                parts
                    .put_with_signal(
                        target,
                        own,
                        &[u64::from(target)],
                        &signal,
                        0,
                        SignalOp::Add(1),
                    )
                    .unwrap();
            }
        }
        let all = ROUNDS * u64::from(job.pes());
        signal.wait_until(0, Compare::Ge, all).unwrap();
        assert_eq!(signal.load(0), Ok(all));
        let got = parts.to_vec().unwrap();
        assert!(got.iter().step_by(step).all(|p| *p == u64::from(job.pe())));
    });
}
