//! Atomic operations: one at a time against plain arithmetic, and all at once.

use super::{Setup, right, values};
use crate::{AtomicInteger, Compare, Job, Symmetric};

/// Every operation on a word gives the old value and leaves the new one.
pub fn atomics_do_what_the_integers_do(setup: &Setup<'_>) {
    setup.job(|job| {
        integers::<u32>(job, u32::wrapping_add);
        integers::<i32>(job, i32::wrapping_add);
        integers::<u64>(job, u64::wrapping_add);
        integers::<i64>(job, i64::wrapping_add);
    });
}

fn integers<T>(job: &Job, add: fn(T, T) -> T)
where
    T: AtomicInteger
        + std::fmt::Debug
        + Ord
        + std::ops::BitAnd<Output = T>
        + std::ops::BitOr<Output = T>
        + std::ops::BitXor<Output = T>,
{
    let words = job.alloc::<T>(3).unwrap();
    let pe = right(job);
    // Extremes come from the random bits: half of them are negative.
    for (round, pair) in values::<T>(job.pe(), 1, 36).chunks_exact(2).enumerate() {
        let (old, new) = (pair[0], pair[1]);
        words.set(pe, 1, old).unwrap();
        assert_eq!(words.fetch(pe, 1), Ok(old));
        let (got, expected) = match round % 9 {
            0 => (words.swap(pe, 1, new), new),
            1 => (words.compare_swap(pe, 1, old, new), new),
            2 => (words.compare_swap(pe, 1, new, new), old),
            3 => (words.fetch_add(pe, 1, new), add(old, new)),
            4 => (words.fetch_and(pe, 1, new), old & new),
            5 => (words.fetch_or(pe, 1, new), old | new),
            6 => (words.fetch_min(pe, 1, new), old.min(new)),
            7 => (words.fetch_max(pe, 1, new), old.max(new)),
            _ => (words.fetch_xor(pe, 1, new), old ^ new),
        };
        assert_eq!(got, Ok(old), "round {round}");
        assert_eq!(words.fetch(pe, 1), Ok(expected), "round {round}");
        words.add(pe, 1, old).unwrap();
        assert_eq!(words.fetch(pe, 1), Ok(add(expected, old)));
    }
    job.barrier().unwrap();
    let zero = T::new_zeroed();
    assert_eq!((words.load(0), words.load(2)), (Ok(zero), Ok(zero)));
    job.barrier().unwrap();
}

/// Floats are moved as bits: no NaN is quietened, no zero loses its sign.
pub fn atomic_floats_keep_their_bits(setup: &Setup<'_>) {
    setup.job(|job| {
        let pe = right(job);
        let doubles = job.alloc::<f64>(1).unwrap();
        let patterns = [
            1.5f64.to_bits(),
            (-0.0f64).to_bits(),
            0x7ff0_0000_0000_0001,
            1,
        ];
        let mut before = 0;
        for bits in patterns {
            let old = doubles.swap(pe, 0, f64::from_bits(bits)).unwrap();
            assert_eq!(old.to_bits(), before);
            assert_eq!(doubles.fetch(pe, 0).unwrap().to_bits(), bits);
            before = bits;
        }
        let singles = job.alloc::<f32>(2).unwrap();
        for bits in [2.5f32.to_bits(), (-0.0f32).to_bits(), 0x7f80_0001, 1] {
            singles.set(pe, 1, f32::from_bits(bits)).unwrap();
            assert_eq!(singles.fetch(pe, 1).unwrap().to_bits(), bits);
            assert_eq!(singles.fetch(pe, 0).unwrap().to_bits(), 0);
        }
    });
}

/// No update is lost when all PEs change the same words, each in its own way.
pub fn atomics_of_all_pes_exclude_each_other(setup: &Setup<'_>) {
    const ROUNDS: u64 = 12;
    setup.job(|job| {
        let (pes, own) = (u64::from(job.pes()), job.pe());
        let sums = job.alloc::<u64>(1).unwrap();
        let turns = job.alloc::<u32>(2).unwrap();
        let bits = job.alloc::<u64>(1).unwrap();
        for round in 0..ROUNDS {
            for pe in 0..job.pes() {
                sums.fetch_add(pe, 0, round).unwrap();
                increment_by_compare_swap(&turns, pe);
                bits.fetch_xor(pe, 0, 1 << own).unwrap();
            }
        }
        job.barrier().unwrap();
        assert_eq!(sums.load(0), Ok(pes * (0..ROUNDS).sum::<u64>()));
        assert_eq!(turns.load(1), Ok((pes * ROUNDS) as u32));
        assert_eq!(turns.load(0), Ok(0));
        // An even number of flips.
        assert_eq!(bits.load(0), Ok(0));
        job.barrier().unwrap();
        // Every PE draws a number, and each is drawn once.
        let ticket = sums.fetch_add(0, 0, 1 << 32).unwrap() >> 32;
        let mut drawn = vec![0; job.pes() as usize];
        job.all_gather(&[ticket], &mut drawn).unwrap();
        drawn.sort_unstable();
        assert_eq!(drawn, (0..pes).collect::<Vec<_>>());
    });
}

fn increment_by_compare_swap(words: &Symmetric<u32>, pe: crate::PeId) {
    let mut seen = words.fetch(pe, 1).unwrap();
    loop {
        let old = words.compare_swap(pe, 1, seen, seen + 1).unwrap();
        if old == seen {
            return;
        }
        seen = old;
    }
}

/// The two halves of a 64-bit word do not disturb each other.
pub fn halves_of_a_word_are_independent(setup: &Setup<'_>) {
    setup.job(|job| {
        let halves = job.alloc::<i32>(2).unwrap();
        let half = usize::from(job.pe() % 2 == 1);
        for _ in 0..40 {
            halves
                .fetch_add(0, half, if half == 1 { -1 } else { 1 })
                .unwrap();
        }
        job.barrier().unwrap();
        if job.pe() == 0 {
            let odd = job.pes() as i32 / 2;
            let even = job.pes() as i32 - odd;
            assert_eq!(halves.to_vec().unwrap(), [40 * even, -40 * odd]);
            halves.wait_until(0, Compare::Eq, 40 * even).unwrap();
        }
    });
}
