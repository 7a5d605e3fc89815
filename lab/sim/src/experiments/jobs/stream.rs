//! A stream of messages through a ring.

use std::cell::{Cell, RefCell};

use crate::engine::{Ps, Summary};
use crate::experiments::{ExperimentError, mib_per_s};

use super::{Needs, Order, Pair};

/// The results of a stream. Bytes are those of the user, without headers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// All bytes over the time until the last send has returned.
    pub sent_mib_s: f64,
    /// The bytes behind the first message over the time from its receipt to the last one's.
    pub received_mib_s: f64,
    /// Messages per second, between the same two moments.
    pub messages_per_s: f64,
    /// From the first send to the last receipt.
    pub time: Ps,
    /// The cost of the simulation, with the boot.
    pub summary: Summary,
}

/// Sends `messages` messages, at least two, of `bytes` bytes from PE 0 to PE 1, which
/// receives them.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn stream(
    pair: &mut Pair<'_>,
    bytes: usize,
    messages: u64,
    order: Order,
) -> Result<Stream, ExperimentError> {
    let sent = Cell::new(None);
    let received = RefCell::new((None, None));
    let summary = pair.run(Needs::default(), &|job, wire| {
        job.set_send_order(order.send_order());
        let mut message = vec![0x5a_u8; bytes];
        let begin = wire.now();
        for _ in 0..messages {
            if job.pe() == 0 {
                order.send(job, 1, &message)?;
                sent.set(Some((begin, wire.now())));
            } else {
                order.receive(job, 0, &mut message)?;
                let (first, last) = &mut *received.borrow_mut();
                first.get_or_insert(wire.now());
                *last = Some(wire.now());
            }
        }
        Ok(())
    })?;
    let (Some((begin, sent)), (Some(first), Some(last))) = (sent.get(), received.into_inner())
    else {
        return Err(ExperimentError::NoMeasurement("stream of messages"));
    };
    if messages < 2 {
        return Err(ExperimentError::NoMeasurement("stream of one message"));
    }
    let bytes = bytes as u64;
    Ok(Stream {
        sent_mib_s: mib_per_s(messages * bytes, sent - begin),
        received_mib_s: mib_per_s((messages - 1) * bytes, last - first),
        messages_per_s: (messages - 1) as f64 / (last - first).as_s(),
        time: last - begin,
        summary,
    })
}
