//! Messages that do not fit, and PEs that do not exist.

use super::{Setup, left, right, values};
use crate::{Error, Job};

/// A message that is too long or of another shape is an error, and can still be
/// received.
pub fn a_refused_message_stays(setup: &Setup<'_>) {
    setup.job(|job| {
        for len in [57, setup.eager_bytes(), setup.eager_bytes() + 1, 100_001] {
            let message: Vec<u8> = values(job.pe(), len, len);
            let other = job.pe() ^ 1;
            if other >= job.pes() {
                continue;
            }
            // A second message behind it is not disturbed.
            if job.pe() < other {
                job.send(other, 1, &message).unwrap();
                job.send(other, 1, &[len as u64]).unwrap();
                refused(job, other, len);
            } else {
                refused(job, other, len);
                job.send(other, 1, &message).unwrap();
                job.send(other, 1, &[len as u64]).unwrap();
            }
        }
        to_oneself(job);
        exchanged(job);
    });
}

/// An exchange that refuses its incoming message has sent its outgoing one.
fn exchanged(job: &Job) {
    for len in [100, 100_000] {
        let mut short = vec![0u8; len - 1];
        let own: Vec<u8> = values(job.pe(), len, len);
        if job.pes() > 1 && job.pe() == 0 {
            let got = job.exchange(1, &own, 1, &mut short, 2);
            assert!(matches!(got, Err(Error::MessageTooLong { from: 1, .. })));
            assert!(job.recv_vec(1, 2) == Ok(values::<u8>(1, len, len)));
        } else if job.pe() == 1 {
            let mut into = vec![0u8; len];
            // The long one stays until PE 0 receives it.
            assert_eq!(job.exchange(0, &own, 0, &mut into, 2), Ok(len));
            assert!(into == values::<u8>(0, len, len));
        }
    }
}

fn refused(job: &Job, from: crate::PeId, len: usize) {
    let too_long = |room_bytes| Error::MessageTooLong {
        from,
        tag: 1,
        message_bytes: len,
        room_bytes,
    };
    let mut short = vec![0u8; len - 1];
    // Both ways to look, both twice: a refusal changes nothing.
    for _ in 0..2 {
        assert_eq!(job.recv(from, 1, &mut short), Err(too_long(len - 1)));
        let tried = job.try_recv(from, 1, &mut short[..5]);
        assert_eq!(tried, Err(too_long(5)));
    }
    if !len.is_multiple_of(8) {
        let shape = Error::MessageShape {
            from,
            tag: 1,
            message_bytes: len,
            element_bytes: 8,
        };
        assert_eq!(job.recv(from, 1, &mut vec![0u64; len]), Err(shape.clone()));
        assert_eq!(job.recv_vec::<u64>(from, 1), Err(shape));
    }
    assert!(short.iter().all(|byte| *byte == 0), "something was stored");
    let got: Vec<u8> = job.recv_vec(from, 1).unwrap();
    assert!(got == values::<u8>(from, len, len));
    let mut next = [0u64];
    assert_eq!(job.recv(from, 1, &mut next), Ok(1));
    assert_eq!(next, [len as u64]);
}

fn to_oneself(job: &Job) {
    let me = job.pe();
    job.send(me, 1, &[1u8, 2, 3]).unwrap();
    assert!(job.recv(me, 1, &mut [0u8; 2]).is_err());
    assert!(job.recv(me, 1, &mut [0u16; 2]).is_err());
    assert_eq!(job.recv_vec::<u8>(me, 1), Ok(vec![1, 2, 3]));
}

/// A PE that does not exist is the caller's mistake, in every call that names one.
pub fn nobody_there(setup: &Setup<'_>) {
    setup.job(|job| {
        let pes = job.pes();
        let memory = job.alloc::<u8>(8).unwrap();
        for pe in [pes, u32::MAX] {
            let nobody = Error::NoSuchPe {
                what: "PE",
                pe,
                pes,
            };
            assert_eq!(job.send(pe, 0, &[1u8]), Err(nobody.clone()));
            assert_eq!(job.send_from(pe, 0, &memory, 0, 8), Err(nobody.clone()));
            assert_eq!(job.recv(pe, 0, &mut [1u8]), Err(nobody.clone()));
            assert_eq!(job.try_recv(pe, 0, &mut [1u8]), Err(nobody.clone()));
            assert_eq!(job.recv_vec::<u8>(pe, 0), Err(nobody.clone()));
            assert_eq!(job.recv_into(pe, 0, &memory, 0, 8), Err(nobody.clone()));
            let exchange = job.exchange(pe, &[1u8], left(job), &mut [0], 0);
            assert_eq!(exchange, Err(nobody.clone()));
            let exchange = job.exchange(right(job), &[1u8], pe, &mut [0], 0);
            assert_eq!(exchange, Err(nobody));
            assert!(job.broadcast(pe, &mut [1u8]).is_err());
        }
        assert!(job.send_from(right(job), 0, &memory, 1, 8).is_err());
        assert!(job.recv_into(left(job), 0, &memory, 9, 0).is_err());
        // None of these has left a message behind.
        assert_eq!(job.try_recv(left(job), 0, &mut [1u8]), Ok(None));
    });
}
