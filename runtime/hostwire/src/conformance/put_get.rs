//! Puts, gets, and what orders them.

use super::{Random, Setup, apart, left, right, values};
use crate::{Compare, Element, Error, Job};

/// Around words, lines, pages, and the largest piece that an agent gets at once.
const SIZES: &[usize] = &[
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 55, 56, 57, 63, 64, 65, 127, 128, 129, 255,
    1000, 4095, 4096, 4097, 65_537, 262_143, 262_145, 700_001,
];

/// Bytes arrive unchanged at any alignment, and no byte beside them changes.
pub fn puts_and_gets_of_all_sizes(setup: &Setup<'_>) {
    setup.job(|job| {
        let most = SIZES.iter().max().copied().unwrap_or(0) + 32;
        let place = job.alloc::<u8>(most).unwrap();
        for (round, size) in SIZES.iter().copied().enumerate() {
            let offset = 8 + (round * 5 + size) % 11;
            place.write(0, &vec![0xaa; size + 32]).unwrap();
            job.barrier().unwrap();
            place
                .put(right(job), offset, &values(job.pe(), round, size))
                .unwrap();
            job.barrier().unwrap();

            let mut here = vec![0; size + 32];
            place.read(0, &mut here).unwrap();
            let expected: Vec<u8> = values(left(job), round, size);
            assert!(
                here[offset..offset + size] == expected,
                "{size} at {offset}"
            );
            assert_eq!(here[..offset], [0xaa; 32][..offset], "{size} at {offset}");
            let behind = &here[offset + size..];
            assert_eq!(behind, &[0xaa; 32][..behind.len()], "{size} at {offset}");

            let mut got = vec![0; size + 2];
            place.get(right(job), offset, &mut got[1..=size]).unwrap();
            assert!(got[1..=size] == values::<u8>(job.pe(), round, size));
            assert_eq!((got[0], got[size + 1]), (0, 0));
            job.barrier().unwrap();
        }
    });
}

/// Elements of all widths keep their values, at every PE.
pub fn elements_of_every_width(setup: &Setup<'_>) {
    fn check<T: Element + PartialEq + std::fmt::Debug>(job: &Job) {
        const EACH: usize = 13;
        let each = apart(job, EACH);
        let all = job.alloc::<T>(each * job.pes() as usize).unwrap();
        let own: Vec<T> = values(job.pe(), 0, EACH);
        for pe in 0..job.pes() {
            all.put(pe, each * job.pe() as usize, &own).unwrap();
        }
        job.barrier().unwrap();
        for pe in 0..job.pes() {
            let mut got = vec![T::new_zeroed(); all.len()];
            all.get(pe, 0, &mut got).unwrap();
            for (writer, part) in (0..).zip(got.chunks_exact(each)) {
                // NaN differs from itself: look at the bytes.
                let expected: Vec<T> = values(writer, 0, EACH);
                let part = part[..EACH].as_bytes();
                assert_eq!(part, expected.as_bytes(), "from PE {writer}");
            }
        }
        job.barrier().unwrap();
    }
    use zerocopy::IntoBytes;
    setup.job(|job| {
        check::<u8>(job);
        check::<i16>(job);
        check::<u32>(job);
        check::<f32>(job);
        check::<u64>(job);
        check::<f64>(job);
        check::<u128>(job);
        check::<[u8; 3]>(job);
        check::<[u32; 5]>(job);
    });
}

/// Strided copies touch every `stride`-th element and no other.
pub fn strided_copies(setup: &Setup<'_>) {
    setup.job(|job| {
        let place = job.alloc::<u32>(100).unwrap();
        for (index, stride, local_stride, count) in [
            (0, 1, 1, 100),
            (3, 7, 1, 14),
            (0, 2, 3, 33),
            (99, 50, 9, 1),
            (5, 5, 5, 0),
        ] {
            let source: Vec<u32> = (1000..1100).collect();
            place.write(0, &[7; 100]).unwrap();
            job.barrier().unwrap();
            place
                .put_strided(right(job), index, stride, &source, local_stride, count)
                .unwrap();
            job.barrier().unwrap();
            let mut expected = vec![7; 100];
            for i in 0..count {
                expected[index + i * stride] = source[i * local_stride];
            }
            assert_eq!(place.to_vec().unwrap(), expected);

            let mut got = vec![1; 100];
            place
                .get_strided(right(job), index, stride, &mut got, local_stride, count)
                .unwrap();
            for (at, value) in got.into_iter().enumerate() {
                let taken = at % local_stride == 0 && at / local_stride < count;
                let expected = if taken { source[at] } else { 1 };
                assert_eq!(value, expected, "at {at}");
            }
            job.barrier().unwrap();
        }
        let mut local = [0; 10];
        for (index, stride, local_stride, count) in [
            (0, 0, 1, 1),
            (0, 1, 0, 1),
            (0, 50, 1, 3),
            (0, 1, 5, 3),
            (101, 1, 1, 0),
            (0, usize::MAX, 1, 3),
            (0, 1, usize::MAX, 3),
            (0, 1, 1, usize::MAX),
        ] {
            let put = place.put_strided(0, index, stride, &local, local_stride, count);
            assert!(put.is_err(), "{index} {stride} {local_stride} {count}");
            let get = place.get_strided(0, index, stride, &mut local, local_stride, count);
            assert_eq!(get, put);
        }
    });
}

/// A part of an array has the same memory, indices of its own, and ends where it ends.
pub fn parts_of_arrays(setup: &Setup<'_>) {
    setup.job(|job| {
        let step = apart(job, 2);
        let all = 34 + step * job.pes() as usize;
        let triples = job.alloc::<[u16; 3]>(all).unwrap();
        let part = triples.part(7..7 + step * job.pes() as usize).unwrap();
        let odd = part.part(1..).unwrap();
        drop(part);
        let own = [job.pe() as u16 + 1; 3];
        for pe in 0..job.pes() {
            odd.put(pe, step * job.pe() as usize, &[own]).unwrap();
        }
        job.barrier().unwrap();
        let mut got = vec![[0; 3]; all];
        triples.get(right(job), 0, &mut got).unwrap();
        for (index, got) in got.into_iter().enumerate() {
            let pe = index.wrapping_sub(8) / step;
            let is_put = index % step == 8 % step && pe < job.pes() as usize;
            assert_eq!(
                got,
                if is_put { [pe as u16 + 1; 3] } else { [0; 3] },
                "{index}"
            );
        }
        let len = odd.len();
        assert_eq!(len, step * job.pes() as usize - 1);
        assert!(odd.put(0, len, &[own]).is_err() && odd.part(len + 1..).is_err());
        assert!(triples.part(..=all).is_err() && triples.part(..=usize::MAX).is_err());
        assert!(odd.part(len..).unwrap().is_empty());
        job.barrier().unwrap();
        // Words of 4 and 8 bytes, wherever a part begins.
        let halves = job.alloc::<u32>(10).unwrap();
        let halves = halves.part(1..).unwrap();
        halves.put(right(job), 0, &[1, 2]).unwrap();
        halves.put(right(job), 3, &[3]).unwrap();
        halves.add(right(job), 3, 4).unwrap();
        job.barrier().unwrap();
        assert_eq!(halves.to_vec().unwrap()[..5], [1, 2, 0, 7, 0]);
        halves.wait_until(3, crate::Compare::Eq, 7).unwrap();
        job.barrier().unwrap();
    });
}

/// Several gets are under way at once, from one PE and from all. They end in any order, or are
/// dropped.
pub fn gets_that_do_not_wait(setup: &Setup<'_>) {
    const LENGTHS: [usize; 6] = [1, 8, 500, 9, 40_000, 0];
    setup.job(|job| {
        let all = job.alloc::<u64>(50_000).unwrap();
        let own: Vec<u64> = values(job.pe(), 3, all.len());
        all.write(0, &own).unwrap();
        job.barrier().unwrap();
        for turn in 0..3 {
            let mut rooms: Vec<Vec<u64>> = (0..4 * job.pes())
                .flat_map(|_| LENGTHS)
                .map(|len| vec![0; len])
                .collect();
            let from = |index: usize| (index as u32 % job.pes(), index * 11);
            let mut gets = Vec::new();
            for (index, room) in rooms.iter_mut().enumerate() {
                let (pe, at) = from(index);
                gets.push(all.get_nbi(pe, at, room).unwrap());
            }
            match turn {
                0 => {}
                1 => gets.reverse(),
                _ => Random::new(9).shuffle(&mut gets),
            }
            // Atomics and other gets come between.
            assert_eq!(
                all.fetch(right(job), 0),
                Ok(values::<u64>(right(job), 3, 1)[0])
            );
            if turn == 2 {
                gets.truncate(gets.len() / 2);
            }
            for get in gets {
                get.wait().unwrap();
            }
            if turn < 2 {
                for (index, room) in rooms.iter().enumerate() {
                    let (pe, at) = from(index);
                    let theirs: Vec<u64> = values(pe, 3, all.len());
                    assert!(room[..] == theirs[at..][..room.len()], "get {index}");
                }
            }
        }
        job.barrier().unwrap();
    });
}

/// A PE or an element that does not exist is an error, and nothing is stored.
pub fn bad_places_store_nothing(setup: &Setup<'_>) {
    setup.job(|job| {
        let place = job.alloc::<u64>(4).unwrap();
        let pes = job.pes();
        let nobody = Err(Error::NoSuchPe {
            what: "PE",
            pe: pes,
            pes,
        });
        assert_eq!(place.put(pes, 0, &[1]), nobody);
        assert_eq!(place.get(pes, 0, &mut [1]), nobody);
        assert_eq!(place.set(pes, 0, 1), nobody);
        assert!(place.put(u32::MAX, 0, &[1]).is_err());
        assert_eq!(place.get_nbi(pes, 0, &mut [1]).map(drop), nobody);
        for (index, count) in [(4, 1), (5, 0), (0, 5), (3, 2), (usize::MAX, 1)] {
            let expected = Err(Error::OutOfRange {
                index,
                count,
                elements: 4,
            });
            let mut many = vec![1; count];
            assert_eq!(place.put(right(job), index, &many), expected);
            assert_eq!(place.get(right(job), index, &mut many), expected);
            let get = place.get_nbi(right(job), index, &mut many).map(drop);
            assert_eq!(get, expected);
            assert_eq!(place.write(index, &many), expected);
            assert_eq!(place.read(index, &mut many), expected);
        }
        for index in [4, usize::MAX] {
            let expected = Error::OutOfRange {
                index,
                count: 1,
                elements: 4,
            };
            assert_eq!(place.fetch_add(right(job), index, 1), Err(expected.clone()));
            assert_eq!(place.load(index), Err(expected.clone()));
            assert_eq!(place.store(index, 1), Err(expected.clone()));
            assert_eq!(place.wait_until(index, Compare::Eq, 0), Err(expected));
        }
        job.barrier().unwrap();
        assert_eq!(place.to_vec().unwrap(), [0; 4]);
    });
}

/// A flag put behind a fence is never seen before the data in front of it.
pub fn stores_behind_a_fence_are_seen_in_order(setup: &Setup<'_>) {
    const WORDS: usize = 40;
    setup.job(|job| {
        let data = job.alloc::<u64>(WORDS).unwrap();
        let flag = job.alloc::<u64>(1).unwrap();
        let taken = job.alloc::<u64>(1).unwrap();
        for round in 1..=100 {
            data.put(right(job), 0, &[round; WORDS]).unwrap();
            job.fence().unwrap();
            flag.put(right(job), 0, &[round]).unwrap();

            flag.wait_until(0, Compare::Ge, round).unwrap();
            assert_eq!(data.to_vec().unwrap(), [round; WORDS]);
            taken.put(left(job), 0, &[round]).unwrap();
            taken.wait_until(0, Compare::Ge, round).unwrap();
        }
    });
}

/// Behind quiet, a third PE that hears of a put finds it at its target.
pub fn quiet_is_visible_to_third_parties(setup: &Setup<'_>) {
    setup.job(|job| {
        let place = job.alloc::<u64>(3).unwrap();
        for round in 1..=20u64 {
            let (writer, target, reader) = (0, 1 % job.pes(), 2 % job.pes());
            if job.pe() == writer {
                place.put(target, 0, &[round, round, round]).unwrap();
                job.quiet().unwrap();
                job.send(reader, 1, &[round]).unwrap();
            }
            if job.pe() == reader {
                let mut heard = [0];
                job.recv(writer, 1, &mut heard).unwrap();
                let mut got = [0; 3];
                place.get(target, 0, &mut got).unwrap();
                assert_eq!(got, [heard[0]; 3]);
            }
            job.barrier().unwrap();
        }
    });
}

/// The own copy is there without a wire: load, store, read, write, pointer.
pub fn own_memory(setup: &Setup<'_>) {
    setup.job(|job| {
        let place = job.alloc::<u16>(5).unwrap();
        assert_eq!(place.len(), 5);
        assert!(!place.is_empty());
        place.write(1, &[1, 2, 3]).unwrap();
        place.store(0, 9).unwrap();
        assert_eq!(place.load(3), Ok(3));
        assert_eq!(place.to_vec().unwrap(), [9, 1, 2, 3, 0]);
        let pointer = place.local_ptr(job.pe()).expect("the own segment");
        assert_eq!(pointer.addr() % 64, 0);
        assert_eq!(place.local_ptr(job.pes()), None);
        let nothing = job.alloc::<u64>(0).unwrap();
        assert!(nothing.is_empty());
        nothing.put(right(job), 0, &[]).unwrap();
        assert!(nothing.put(right(job), 0, &[1]).is_err());
    });
}
