//! An adapter in a thread, with two PEs, and another host with one.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_transport::error::{Loss, TransportError};
use hostwire_transport::shm::{Shm, ShmOptions, local_part};
use hostwire_transport::wire::{Liveness, PerTarget, Wire};

use super::queue::Record;
use super::{Adapter, AdapterMemory, Guest};
use crate::{Ether, EtherOptions, FramePort, Roster, Socket};

/// For a hang.
const PATIENCE: Duration = Duration::from_secs(60);
const AT: usize = 4096;

struct Job {
    adapter_memory: AdapterMemory,
    guests: [Guest; 2],
    /// PE 2.
    other: Ether,
    /// Its PEs count as alive as long as these exist.
    shm: Vec<Shm>,
}

fn job() -> Job {
    let deadline = Instant::now() + PATIENCE;
    let socket = || Socket::of(FramePort::open(IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap());
    let sockets = [socket(), socket()];
    let addresses = [0, 1].map(|host: usize| sockets[host].address());
    let host_of: Arc<[u32]> = Arc::new([0, 0, 1]);
    let roster = |host: usize| Roster {
        host: host as u32,
        host_of: Arc::clone(&host_of),
        job: 7,
        peers: (0..2)
            .map(|other| (other != host).then_some(addresses[other]))
            .collect(),
        secrets: None,
    };
    let part = |members: &[u32]| local_part(3, members, 1 << 20, ShmOptions::default()).unwrap();
    let (shm, alone) = (part(&[0, 1]), part(&[2]));
    let adapter_memory =
        AdapterMemory::open(&AdapterMemory::create(3, 2, 2).unwrap(), 3, 2, 2).unwrap();
    let [first, second] = sockets;
    Adapter::new(&shm[0], &adapter_memory, roster(0), deadline)
        .start_thread(first)
        .unwrap();
    let segments = vec![alone[0].segment().clone()];
    let options = EtherOptions::default();
    let other = Ether::connect(segments, second, &roster(1), &options, deadline).unwrap();
    let guests = [0, 1].map(|local: usize| {
        Guest::join(
            &shm[local],
            &adapter_memory,
            Arc::clone(&host_of),
            1,
            deadline,
        )
        .unwrap()
    });
    let shm = shm.into_iter().chain(alone).collect();
    Job {
        adapter_memory,
        guests,
        other,
        shm,
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A store of a guest arrives, and one to it.
fn is_fine(job: &Job, guest: usize, value: u64) {
    let guest = &job.guests[guest];
    guest.store_word(2, AT, value).unwrap();
    guest.quiet_of(2).unwrap();
    assert_eq!(job.other.segment().load_word(AT), Ok(value));
    job.other.store_word(guest.pe(), AT, value + 1).unwrap();
    job.other.quiet().unwrap();
    assert_eq!(guest.segment().load_word(AT), Ok(value + 1));
}

#[test]
fn both_pes_of_a_host_store_over_one_link() {
    let job = job();
    for value in 1..50 {
        is_fine(&job, value as usize % 2, value);
    }
    let data: Vec<u8> = (0..300_000_u32).map(|at| (at * 7) as u8).collect();
    job.guests[1].store(2, 8192, &data).unwrap();
    job.guests[1].quiet().unwrap();
    let mut got = vec![0; data.len()];
    job.other.segment().get(8192, &mut got).unwrap();
    assert!(got == data);
    // Two links would have had two sessions.
    let sessions = job.other.counters().values().count();
    assert!(sessions > 0);
    assert_eq!(
        job.other
            .hosts
            .iter()
            .filter(|host| host.link().is_some())
            .count(),
        1
    );
}

#[test]
fn a_store_to_nowhere_is_dropped_and_cuts_nobody_off() {
    let job = job();
    let near = |pe: u32| u64::from(pe) << 21;
    for (pe, address) in [
        (2, near(2) - 8),
        (2, 1 << 50),
        (2, u64::MAX),
        (1, near(1)),
        (9, 0),
    ] {
        let mut mine = job.guests[0].hold().unwrap();
        let record = Record::Store {
            pe,
            address,
            len: 8,
        };
        assert!(mine.writer.write(record, &[1; 8]));
        mine.writer.show();
        drop(mine);
        is_fine(&job, 0, address >> 8);
        is_fine(&job, 1, address >> 8);
    }
}

#[test]
fn who_writes_nonsense_has_ended_for_others_and_harms_nobody() {
    let job = job();
    is_fine(&job, 0, 1);
    job.adapter_memory.set_written(0, 1 << 40);
    job.adapter_memory.window().notify();
    until("PE 0 has ended", || job.other.is_alive(0) == Ok(false));
    let lost = TransportError::PeerLost {
        pe: 0,
        loss: Loss::Ended,
    };
    assert_eq!(job.other.store_word(0, AT, 1), Err(lost.clone()));
    // The word for news is stored after that of the PE.
    until("a quiet tells of it", || {
        job.other.quiet() == Err(lost.clone())
    });
    assert_eq!(job.other.quiet(), Ok(()), "it tells once");
    // The PE itself gets an error too, instead of waiting for ever.
    job.guests[0].store_word(2, AT, 9).unwrap();
    let error = job.guests[0].quiet().unwrap_err().to_string();
    assert!(error.contains("makes no sense any more"), "{error}");
    is_fine(&job, 1, 3);
}

/// A PE that writes anywhere in the shared memory: PEs of other hosts are not blamed, and not
/// reported as ended.
#[test]
fn shared_memory_that_makes_no_sense_is_told_as_what_it_is() {
    let job = job();
    is_fine(&job, 0, 1);
    let guest = &job.guests[0];
    // The hosts begin at the next line after the words of three PEs; host 1 is the second.
    let (table, hosts) = (4096, 4096 + 64);
    for at in [table + 8 * 3, hosts + 256] {
        let before = job.adapter_memory.window().load_word(at).unwrap();
        let damage = |value| {
            job.adapter_memory
                .window()
                .put_word_unannounced(at, value)
                .unwrap()
        };
        damage(0x4242_4242_4242_4242);
        let errors = [
            guest.store_word(2, AT, 1).unwrap_err().to_string(),
            guest.is_alive(2).unwrap_err().to_string(),
        ];
        for error in errors {
            assert!(error.contains("has written there by mistake"), "{error}");
        }
        damage(before);
        is_fine(&job, 0, 3);
    }
}

#[test]
fn a_pe_that_ends_is_told_behind_what_it_has_stored() {
    let Job {
        guests: [first, second],
        other,
        adapter_memory: _region,
        mut shm,
    } = job();
    for (value, guest, is_farewell) in [(5, first, true), (6, second, false)] {
        let pe = guest.pe();
        guest.store_word(2, AT, value).unwrap();
        if is_farewell {
            drop(guest);
        } else {
            // Its liveness ends with its memory.
            guest.die();
        }
        drop(shm.remove(0));
        until("the end is known", || other.is_alive(pe) == Ok(false));
        assert_eq!(other.segment().load_word(AT), Ok(value));
        let stored = other.store_word(pe, AT, 1);
        assert_eq!(stored.is_ok(), is_farewell, "{stored:?}");
    }
}
