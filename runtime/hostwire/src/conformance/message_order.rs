//! Messages: tags, order, and rings that are full.

use super::{Random, Setup, left, right, values};

const RING_BYTES_SMALLEST: usize = 256;

/// Messages with different tags may be received in any order, those with one tag come
/// in the order in which they were sent.
pub fn tags_in_any_order(setup: &Setup<'_>) {
    const TAGS: u64 = 40;
    const EACH: usize = 3;
    setup.job(|job| {
        for tag in 0..TAGS {
            for number in 0..EACH {
                let len = (tag as usize * 13 + number * 57) % 200;
                let message: Vec<u8> = values(job.pe(), tag as usize * EACH + number, len);
                // The high bits count, too.
                job.send(right(job), tag.rotate_right(3), &message).unwrap();
            }
        }
        let mut tags: Vec<u64> = (0..TAGS).collect();
        Random::new(5).shuffle(&mut tags);
        for tag in tags {
            for number in 0..EACH {
                let len = (tag as usize * 13 + number * 57) % 200;
                let expected: Vec<u8> = values(left(job), tag as usize * EACH + number, len);
                let got: Vec<u8> = job.recv_vec(left(job), tag.rotate_right(3)).unwrap();
                assert_eq!(got, expected, "tag {tag}, number {number}");
            }
        }
    });
}

/// A ring of four slots carries many messages: the sender waits for credit, and continues
/// when it comes.
pub fn credits_run_out_and_come_back(setup: &Setup<'_>) {
    const MESSAGES: usize = 400;
    let setup = setup.with_ring(RING_BYTES_SMALLEST);
    setup.job(|job| {
        // A chain, so that no PE sends while another waits to receive from it.
        for hop in 0..job.pes().saturating_sub(1) {
            for number in 0..MESSAGES {
                let len = (number * 37) % (setup.eager_bytes() + 1);
                let message: Vec<u8> = values(hop, number, len);
                if job.pe() == hop {
                    job.send(hop + 1, 0, &message).unwrap();
                } else if job.pe() == hop + 1 {
                    assert_eq!(job.recv_vec(hop, 0), Ok(message), "number {number}");
                }
            }
        }
    });
}

/// An eager buffer carries many messages of all lengths up to its longest, and longer ones between them: the sender waits for room.
pub fn eager_buffers_run_full_and_empty(setup: &Setup<'_>) {
    const MESSAGES: usize = 60;
    setup.job(|job| {
        let longest = setup.buffered_bytes();
        // A chain, so that no PE sends while another waits to receive from it.
        for hop in 0..job.pes().saturating_sub(1) {
            for number in 0..MESSAGES {
                let len = longest + 1 - number * 977 % (longest + 2);
                let message: Vec<u8> = values(hop, number, len);
                if job.pe() == hop {
                    job.send(hop + 1, 0, &message).unwrap();
                } else if job.pe() == hop + 1 {
                    let got: Vec<u8> = job.recv_vec(hop, 0).unwrap();
                    assert!(got == message, "number {number}");
                }
            }
        }
    });
}

/// PEs that all send more than their rings hold before they receive do not wait for
/// each other.
pub fn both_send_before_they_receive(setup: &Setup<'_>) {
    for ring_bytes in [RING_BYTES_SMALLEST, 4096] {
        let setup = setup.with_ring(ring_bytes);
        setup.job(|job| {
            for number in 0..300 {
                for to in 0..job.pes() {
                    let len = number % (setup.eager_bytes() + 1);
                    job.send(to, 0, &values::<u8>(job.pe(), number, len))
                        .unwrap();
                }
            }
            for number in 0..300 {
                for from in 0..job.pes() {
                    let len = number % (setup.eager_bytes() + 1);
                    let expected = values::<u8>(from, number, len);
                    assert_eq!(job.recv_vec(from, 0), Ok(expected), "{number} from {from}");
                }
            }
        });
    }
}

/// Between each pair, messages of all lengths with one tag come in order, while all
/// pairs are at it.
pub fn order_is_kept_per_pair(setup: &Setup<'_>) {
    const ROUNDS: usize = 12;
    setup.job(|job| {
        let (own, pes) = (job.pe(), job.pes());
        for round in 0..ROUNDS {
            for step in 0..pes {
                let (to, from) = ((own + step) % pes, (own + pes - step) % pes);
                let short = |number: usize| (round * 31 + number * 97) % (setup.eager_bytes() + 1);
                for number in 0..3 {
                    let message: Vec<u8> = values(own, round * 3 + number, short(number));
                    job.send(to, 0, &message).unwrap();
                }
                for number in 0..3 {
                    let expected: Vec<u8> = values(from, round * 3 + number, short(number));
                    let got: Vec<u8> = job.recv_vec(from, 0).unwrap();
                    assert!(got == expected, "round {round}, {number} of PE {from}");
                }
                // Long ones wait for their receiver: only an exchange can send both ways.
                let len = 50_000 + round * 1000;
                let mut into = vec![0; len];
                let got = job.exchange(to, &values::<u8>(own, round, len), from, &mut into, 0);
                assert_eq!(got, Ok(len));
                assert!(into == values::<u8>(from, round, len), "round {round}");
            }
        }
    });
}

/// In strict order a message is never seen before a put that came first. In weak order
/// messages keep their order among themselves, and a fence or a wait sends them off.
pub fn strict_messages_follow_puts_and_weak_ones_end_with_a_fence(setup: &Setup<'_>) {
    setup.job(|job| {
        let words = job.alloc::<u64>(64).unwrap();
        for round in 1..=20 {
            words.put(right(job), 0, &[round; 64]).unwrap();
            job.send(right(job), 1, &[round]).unwrap();
            let mut got = [0];
            assert_eq!(job.recv(left(job), 1, &mut got), Ok(1));
            assert_eq!((got, words.to_vec().unwrap()), ([round], vec![round; 64]));
            job.barrier().unwrap();
        }
        job.set_send_order(crate::SendOrder::Weak);
        for number in 0..100_u64 {
            job.send(right(job), 2, &values::<u8>(job.pe(), number as usize, 100))
                .unwrap();
        }
        job.fence().unwrap();
        for number in 0..100 {
            let got: Vec<u8> = job.recv_vec(left(job), 2).unwrap();
            assert_eq!(got, values::<u8>(left(job), number, 100), "number {number}");
        }
        // The wait for the answer is as good as a fence.
        job.send(right(job), 3, &[7_u8]).unwrap();
        assert_eq!(job.recv_vec(left(job), 3), Ok(vec![7_u8]));
        job.set_send_order(crate::SendOrder::Strict);
    });
}
