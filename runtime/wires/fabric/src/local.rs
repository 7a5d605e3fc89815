//! A whole job in one process: for tests.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_transport::error::{LOST_AFTER, PeId, TransportError};
use hostwire_transport::shm;
use hostwire_transport::wire::Wire;
use hostwire_transport::wires::Wires;

use super::{Choice, Fabric, Opened, Party, Ticket};

/// For a hang: longer than any wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of all jobs of one process: only their endpoints distinguish them.
const JOB: u64 = 0x6c6f_6361_6c00;

/// The PEs of a job of `pes` on `hosts` hosts, taken in turn, one for a thread each.
///
/// # Errors
/// [`TransportError::Environment`].
pub fn local(
    pes: u32,
    hosts: u32,
    segment_bytes: usize,
    choice: &Choice,
) -> Result<Vec<Wires>, TransportError> {
    let hosts = hosts.clamp(1, pes.max(1));
    let by_host = shm::local_hosts(pes, hosts, segment_bytes)?;
    let mut by_host: Vec<_> = by_host.into_iter().map(Vec::into_iter).collect();
    let mut near: Vec<Arc<dyn Wire>> = Vec::new();
    for pe in 0..pes {
        let shm = by_host.get_mut((pe % hosts) as usize);
        let shm = shm.and_then(Iterator::next);
        near.push(Arc::new(shm.ok_or(TransportError::NoWire { pe })?));
    }
    let far = connect(&near, hosts, choice)?;
    let wires = near.into_iter().zip(far).map(|(near, far)| {
        let far: Arc<dyn Wire> = Arc::new(far);
        Wires::new(near, [far])
    });
    wires.collect()
}

/// Connects PEs over the segments of other wires.
fn connect(
    others: &[Arc<dyn Wire>],
    hosts: u32,
    choice: &Choice,
) -> Result<Vec<Fabric>, TransportError> {
    let mut opened = Vec::new();
    for other in others {
        let address = Some(Ipv4Addr::LOCALHOST);
        opened.push(Opened::open(
            Some(choice),
            address,
            other.segment(),
            Instant::now(),
        )?);
    }
    let tickets: Vec<Ticket> = opened.iter().map(|it| it.ticket().clone()).collect();
    // Each waits until the others answer.
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (pe, opened) in (0..).zip(opened) {
            let others = (0..).zip(&tickets);
            let others = others.map(|(other, ticket): (PeId, _)| {
                (other % hosts != pe % hosts).then(|| ticket.clone())
            });
            let party = Party {
                pe,
                tickets: others.collect(),
                job: JOB,
                here: tickets.len() as u32,
                watch: None,
                lost_after: LOST_AFTER,
                deadline: Instant::now() + PATIENCE,
            };
            threads.push(scope.spawn(move || opened.connect(party)));
        }
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| {
                let panicked = std::io::Error::other("its thread panicked");
                Err(TransportError::environment("connecting a PE", panicked))
            })
        });
        joined.collect()
    })
}
