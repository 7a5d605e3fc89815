//! Symmetric memory: making it and giving it back.

use super::{Random, Setup, right};
use crate::{Error, Symmetric};

/// Memory is zeroed, whatever its earlier contents, and `free` gives it back at once.
pub fn memory_is_zeroed_and_reused(setup: &Setup<'_>) {
    setup.job(|job| {
        let all = job.free_bytes();
        for len in [1, 64, 65, 5000, 100_000] {
            let first = job.alloc::<u8>(len).unwrap();
            let second = job.alloc::<u64>(len).unwrap();
            assert_eq!(first.to_vec().unwrap(), vec![0; len]);
            assert_eq!(second.to_vec().unwrap(), vec![0; len]);
            assert!(job.free_bytes() <= all - 9 * len);
            job.barrier().unwrap();
            first.put(right(job), 0, &vec![0xff; len]).unwrap();
            second.put(right(job), 0, &vec![u64::MAX; len]).unwrap();
            first.free().unwrap();
            second.free().unwrap();
            assert_eq!(job.free_bytes(), all);
        }
    });
}

/// Handles dropped in any order on each PE never wait, and the memory is there again
/// when all have dropped theirs.
pub fn dropped_memory_comes_back(setup: &Setup<'_>) {
    setup.job(|job| {
        let all = job.free_bytes();
        let own_order = &mut Random::new(job.pe().into());
        for round in 0..5 {
            let mut handles: Vec<Symmetric<u32>> =
                (0..20).map(|i| job.alloc(1 + i * 100).unwrap()).collect();
            for handle in &handles {
                handle.put(right(job), 0, &[round + 1]).unwrap();
            }
            own_order.shuffle(&mut handles);
            // The first half before a collective operation, the rest behind it.
            handles.truncate(10);
            job.barrier().unwrap();
            handles.clear();
        }
        // Nothing else is dropped now, so one allocation collects everything.
        job.alloc::<u8>(1).unwrap().free().unwrap();
        assert_eq!(job.free_bytes(), all);

        // An object that one PE still holds stays allocated.
        let kept = job.alloc::<u64>(1000).unwrap();
        kept.write(0, &[5; 1000]).unwrap();
        let kept = (job.pe() + 1 == job.pes()).then_some(kept);
        for _ in 0..3 {
            let other = job.alloc::<u64>(1000).unwrap();
            other.put(right(job), 0, &[6; 1000]).unwrap();
            job.barrier().unwrap();
            other.free().unwrap();
        }
        if let Some(kept) = kept {
            assert_eq!(kept.to_vec().unwrap(), [5; 1000]);
        }
        job.alloc::<u8>(1).unwrap().free().unwrap();
        assert_eq!(job.free_bytes(), all);
    });
}

/// Out of memory is the same error everywhere, and nothing is lost by it.
pub fn memory_runs_out_for_all_alike(setup: &Setup<'_>) {
    const HEAP_BYTES: usize = 1 << 20;
    setup.with_heap(HEAP_BYTES).job(|job| {
        assert_eq!(job.free_bytes(), HEAP_BYTES);
        let full = |asked_bytes, free_bytes, largest_bytes| Error::OutOfMemory {
            asked_bytes,
            free_bytes,
            largest_bytes,
            heap_bytes: HEAP_BYTES,
        };
        let refused = |len| job.alloc::<u64>(len).map(|_| ());
        let words = HEAP_BYTES / 8;
        assert_eq!(
            refused(words + 1),
            Err(full(HEAP_BYTES + 8, HEAP_BYTES, HEAP_BYTES))
        );
        for len in [
            usize::MAX,
            usize::MAX / 8 + 1,
            usize::MAX / 8,
            isize::MAX as usize,
        ] {
            assert!(
                matches!(refused(len), Err(Error::OutOfMemory { .. })),
                "{len}"
            );
        }
        let quarters: Vec<_> = (0..4)
            .map(|_| job.alloc::<u64>(words / 4).unwrap())
            .collect();
        assert_eq!(refused(1), Err(full(8, 0, 0)));
        // Two free quarters that are not adjacent do not make a half.
        for (index, quarter) in quarters.into_iter().enumerate() {
            if index % 2 == 0 {
                quarter.free().unwrap();
            } else {
                drop(quarter);
            }
            if index == 2 {
                let (half, quarter) = (HEAP_BYTES / 2, HEAP_BYTES / 4);
                // The dropped one comes back with the next call.
                assert_eq!(job.free_bytes(), half);
                assert_eq!(
                    refused(words),
                    Err(full(HEAP_BYTES, half + quarter, half + quarter))
                );
            }
        }
        job.alloc::<u64>(words).unwrap().free().unwrap();
    });
}

/// If PEs ask for different sizes, all of them get an error, and may go on.
pub fn different_sizes_are_told(setup: &Setup<'_>) {
    setup.job(|job| {
        let odd_one = job.pes() - 1;
        let asked = if job.pe() == odd_one { 11 } else { 10 };
        let result = job.alloc::<u64>(asked);
        if job.pes() == 1 {
            assert!(result.is_ok());
        } else {
            let (pe, theirs) = if job.pe() == odd_one {
                (0, 80)
            } else {
                (odd_one, 88)
            };
            let expected = Error::CollectiveMismatch {
                operation: "alloc",
                pe,
                theirs: format!("{theirs} bytes"),
                ours: format!("{} bytes", asked * 8),
            };
            assert_eq!(result.map(|_| ()), Err(expected));
        }
        let memory = job.alloc::<u64>(10).unwrap();
        memory.put(right(job), 0, &[1; 10]).unwrap();
        job.barrier().unwrap();
        assert_eq!(memory.to_vec().unwrap(), [1; 10]);
    });
}
