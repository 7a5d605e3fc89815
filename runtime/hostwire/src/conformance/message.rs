//! Messages: every length, from and to every kind of memory.

use super::{Setup, left, right, values};
use crate::{Job, PeId, Symmetric};

/// Lengths around lines of 56 bytes, the longest message of a ring, a piece of the
/// staging memory, and all of it.
fn lengths(setup: &Setup<'_>) -> Vec<usize> {
    let eager = setup.eager_bytes();
    let mut lengths = vec![
        0, 1, 7, 8, 9, 55, 56, 57, 63, 64, 65, 111, 112, 113, 168, 169, 1000,
    ];
    for around in [eager, setup.buffered_bytes(), 64 << 10, 256 << 10] {
        lengths.extend([around - 1, around, around + 1]);
    }
    lengths.push((3 << 20) + 5);
    lengths
}

/// Passes one message around the job with blocking calls: even PEs send first.
fn around(job: &Job, send: impl FnOnce(PeId), receive: impl FnOnce(PeId)) {
    // If the number of PEs is odd, two even PEs are neighbours, so the last one receives
    // first.
    let last = job.pe() + 1 == job.pes();
    if job.pes() == 1 || (job.pe().is_multiple_of(2) && !last) {
        send(right(job));
        receive(left(job));
    } else {
        receive(left(job));
        send(right(job));
    }
}

/// Whatever its length, a message arrives whole and unchanged.
pub fn messages_of_all_lengths(setup: &Setup<'_>) {
    setup.job(|job| {
        for (round, len) in lengths(setup).into_iter().enumerate() {
            let expected: Vec<u8> = values(left(job), round, len);
            let mut room = vec![0xaa; len + 3];
            around(
                job,
                |to| {
                    job.send(to, 7, &values::<u8>(job.pe(), round, len))
                        .unwrap()
                },
                |from| assert_eq!(job.recv(from, 7, &mut room), Ok(len)),
            );
            assert!(room[..len] == expected, "{len} bytes are damaged");
            assert_eq!(room[len..], [0xaa; 3], "{len} bytes");
        }
    });
}

/// Symmetric or private memory on either side, by every call that there is.
pub fn messages_between_all_kinds_of_memory(setup: &Setup<'_>) {
    setup.job(|job| {
        let most = (270 << 10) / 4;
        let source = job.alloc::<u32>(most + 8).unwrap();
        let target = job.alloc::<u32>(most + 8).unwrap();
        let eager = setup.eager_bytes() / 4;
        let mut round = 0;
        for len in [
            0,
            1,
            14,
            15,
            eager,
            eager + 1,
            5000,
            (64 << 10) / 4 + 3,
            most,
        ] {
            for from_segment in [false, true] {
                for way in 0..4 {
                    round += 1;
                    let own: Vec<u32> = values(job.pe(), round, len);
                    source.write(3, &own).unwrap();
                    let mut got = Vec::new();
                    around(
                        job,
                        |to| match from_segment {
                            false => job.send(to, round as u64, &own).unwrap(),
                            true => job.send_from(to, round as u64, &source, 3, len).unwrap(),
                        },
                        |from| got = receive(job, from, round as u64, way, &target, len),
                    );
                    let expected: Vec<u32> = values(left(job), round, len);
                    assert!(got == expected, "{len} words, {from_segment}, way {way}");
                }
            }
        }
    });
}

fn receive(
    job: &Job,
    from: PeId,
    tag: u64,
    way: usize,
    target: &Symmetric<u32>,
    len: usize,
) -> Vec<u32> {
    let mut room = vec![0; len + 2];
    let got = match way {
        0 => return job.recv_vec(from, tag).unwrap(),
        1 => job.recv(from, tag, &mut room).unwrap(),
        2 => loop {
            if let Some(got) = job.try_recv(from, tag, &mut room).unwrap() {
                break got;
            }
        },
        _ => {
            target.write(0, &vec![9; target.len()]).unwrap();
            let got = job.recv_into(from, tag, target, 5, len + 1).unwrap();
            let all = target.to_vec().unwrap();
            let nines = vec![9; all.len()];
            let kept = all[..5] == nines[..5] && all[5 + got..] == nines[5 + got..];
            assert!(kept, "something was stored beside {len} words");
            room[..got].copy_from_slice(&all[5..5 + got]);
            got
        }
    };
    room.truncate(got);
    room
}

/// A message to oneself needs no second party, however long it is.
pub fn messages_to_oneself(setup: &Setup<'_>) {
    setup.job(|job| {
        let me = job.pe();
        let memory = job.alloc::<u8>(500_000).unwrap();
        let lengths = [(0, 0), (1, 1), (2, 56), (3, 5000), (u64::MAX, 500_000)];
        for (tag, len) in lengths {
            job.send(me, tag, &values::<u8>(me, len, len)).unwrap();
        }
        for (tag, len) in lengths.into_iter().rev() {
            assert_eq!(job.recv_vec(me, tag), Ok(values::<u8>(me, len, len)));
        }
        memory.write(0, &values(me, 1, 500_000)).unwrap();
        job.send_from(me, 1, &memory, 0, 500_000).unwrap();
        memory.write(0, &[0; 500_000]).unwrap();
        assert_eq!(job.recv_into(me, 1, &memory, 0, 500_000), Ok(500_000));
        assert!(memory.to_vec().unwrap() == values::<u8>(me, 1, 500_000));
        let mut into = [0; 3];
        assert_eq!(job.exchange(me, &[1u8, 2, 3], me, &mut into, 4), Ok(3));
        assert_eq!(into, [1, 2, 3]);
    });
}

/// Exchanges cannot wait for each other, however long the messages are.
pub fn exchange_with_everybody(setup: &Setup<'_>) {
    setup.job(|job| {
        let (own, pes) = (job.pe(), job.pes());
        for (round, len) in [0, 1, 2000, setup.eager_bytes() + 1, 300_000]
            .into_iter()
            .enumerate()
        {
            for step in 0..pes {
                let (to, from) = ((own + step) % pes, (own + pes - step) % pes);
                let out: Vec<u64> = values(own, round, len / 8);
                let mut into = vec![0; len / 8];
                assert_eq!(job.exchange(to, &out, from, &mut into, 3), Ok(len / 8));
                assert!(
                    into == values::<u64>(from, round, len / 8),
                    "{len} from {from}"
                );
            }
        }
    });
}

/// `try_recv` finds nothing, then the right message, then nothing again.
pub fn trying_to_receive(setup: &Setup<'_>) {
    setup.job(|job| {
        let mut room = vec![0u8; 400_000];
        assert_eq!(job.try_recv(left(job), 1, &mut room), Ok(None));
        job.barrier().unwrap();
        for len in [0, 5, 100, 1000] {
            job.send(right(job), 1, &vec![6u8; len]).unwrap();
            job.barrier().unwrap();
            assert_eq!(job.try_recv(left(job), 2, &mut room), Ok(None));
            assert_eq!(job.try_recv(left(job), 1, &mut room), Ok(Some(len)));
            assert_eq!(job.try_recv(left(job), 1, &mut room), Ok(None));
            job.barrier().unwrap();
        }
        assert!(job.try_recv(job.pes(), 1, &mut room).is_err());
    });
}
