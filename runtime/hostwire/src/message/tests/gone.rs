//! What has come whole is received, though its sender has gone since.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hostwire_transport::shm::{ShmOptions, local};
use hostwire_transport::wrap::{Stage, Store, StoresOnly, Wrapped};
use hostwire_transport::{Loss, TransportError, Wire};

use super::SIZES;
use crate::agent::AgentMode;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::layout::{CHUNK_BYTES, CHUNKS, Layout};
use crate::queue::Completion;
use crate::{PeId, Source};

/// All that staging memory takes at a time: who sends as much is through before any of it is received.
const LONG_BYTES: usize = CHUNKS as usize * CHUNK_BYTES;
const GONE: PeId = 1;

/// A wire whose peers go at some moment: stores to them fail from then on.
#[derive(Default)]
struct Leads(AtomicBool);

impl Stage for Leads {
    fn store(
        &self,
        wire: &dyn Wire,
        pe: PeId,
        store: Store<'_>,
    ) -> core::result::Result<(), TransportError> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(lost(pe)),
            false => store.send(wire, pe),
        }
    }
}

fn lost(pe: PeId) -> TransportError {
    let loss = Loss::Ended;
    TransportError::PeerLost { pe, loss }
}

/// A message whose sender is through, and goes before its receiver looks again; whether the receive has got it.
///
/// - `is_heard`: it has heard of that, too.
fn received(is_heard: bool) -> Result<bool> {
    let layout = Layout::new(2, SIZES).unwrap();
    let wires = local(2, layout.segment_bytes(), ShmOptions::default()).unwrap();
    let [here, there] = <[_; 2]>::try_from(wires).ok().unwrap().map(Arc::new);
    let here = Arc::new(Wrapped::around(here, Leads::default()).unwrap());
    let there = Arc::new(StoresOnly::new(there).unwrap());
    let job = |wire| Job::over(wire, SIZES, AgentMode::Polled).unwrap();
    let (receiver, sender) = (job(Arc::clone(&here) as _), job(there));
    let (into, from) = (receiver.queue().unwrap(), sender.queue::<u8>().unwrap());
    into.recv(Source::Pe(GONE), 7, vec![0; LONG_BYTES]).unwrap();
    let sent = from.send(0, 7, vec![5; LONG_BYTES]).unwrap();
    // The one accepts what the other has announced, which puts all of it in one step.
    let mut turns = (0..100).map(|_| {
        let accepted = receiver.messages(|messages| messages.progress(&receiver.inner));
        accepted.and_then(|()| from.poll()).unwrap()
    });
    let done = turns.find_map(|done| done).expect("it is through");
    assert_eq!(done.ticket, sent);
    here.stage().0.store(true, Ordering::Relaxed);
    receiver.messages(|messages| match is_heard {
        true => messages.ended(&receiver.inner, GONE, &Error::from(lost(GONE))),
        false => messages.progress(&receiver.inner),
    })?;
    let done: Completion<u8> = into.poll().unwrap().expect("it has ended");
    done.result.map(|_| done.values == [5; LONG_BYTES])
}

#[test]
fn a_long_message_is_received_though_its_sender_is_lost_before_it_hears_so() {
    for is_heard in [false, true] {
        assert_eq!(received(is_heard), Ok(true), "{is_heard}");
    }
}
