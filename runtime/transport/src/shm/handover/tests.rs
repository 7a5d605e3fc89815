//! Which connections are accepted, and what they get.

use super::*;
use crate::shm::memfd;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

const TERMS: Terms = Terms {
    version: 1,
    size_names: &["rings", "b", "c", "d", "e", "f", "g"],
    sizes: [256, 0, 0, 0, 0, 0, 0],
    segment_bytes: 4096,
    settings: &["HOSTWIRE_RECORD"],
    set: 0,
};

fn hello(pe: PeId, pes: u32) -> Hello {
    let terms = TERMS.to_words();
    Hello { pe, pes, terms }
}

fn own(pes: u32) -> Own<'static> {
    Own {
        pe: 0,
        pes,
        terms: &TERMS,
    }
}

fn files() -> Result<Files, TransportError> {
    Ok(Files {
        memory: memfd::create("test", 4096)?,
        liveness: memfd::create("test", 4096)?,
        more: Vec::new(),
    })
}

#[track_caller]
fn fault(error: TransportError) -> EnvironmentFault {
    match error {
        TransportError::Environment { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

fn different(pe: PeId, about: Disagreement) -> EnvironmentFault {
    EnvironmentFault::Disagreement { pe, with: 0, about }
}

fn refused(why: String) -> EnvironmentFault {
    EnvironmentFault::Refused { why: why.into() }
}

#[test]
fn tickets_survive_being_written_down() {
    let ticket = Ticket {
        name: 1,
        key: Key::new(u128::MAX),
    };
    let parsed: Ticket = ticket.to_string().parse().unwrap();
    assert_eq!(parsed.to_string(), ticket.to_string());
    assert!(!format!("{ticket:?}").contains("ffff"), "{ticket:?}");
    let signed = "+1".repeat(32);
    for bad in ["", "xyz", &"g".repeat(64), &"é".repeat(32), &signed] {
        assert!(bad.parse::<Ticket>().is_err(), "{bad}");
    }
}

#[test]
fn everybody_gets_the_same_files_and_no_more() {
    for pes in [2, 3, 9] {
        let gathering = Gathering::open(pes).unwrap();
        let ticket = gathering.ticket();
        std::thread::scope(|scope| {
            let others: Vec<_> = (1..pes)
                .map(|pe| scope.spawn(move || join(ticket, &hello(pe, pes), soon()).unwrap()))
                .collect();
            let own = gathering.serve(&own(pes), files, soon()).unwrap();
            let inode = |file: &OwnedFd| rustix::fs::fstat(file).unwrap().st_ino;
            let inodes = |files: &Files| (inode(&files.memory), inode(&files.liveness));
            for thread in others {
                assert_eq!(inodes(&thread.join().unwrap()), inodes(&own));
            }
        });
    }
}

#[test]
fn more_descriptors_come_with_their_numbers() {
    let gathering = Gathering::open(2).unwrap();
    let ticket = gathering.ticket();
    let more = |numbers: core::ops::Range<u32>| -> Vec<(u32, OwnedFd)> {
        let file = |_| memfd::create("more", 4096).unwrap();
        numbers.map(|number| (number, file(number))).collect()
    };
    let inodes = |files: &Files| -> Vec<(u32, u64)> {
        let inode = |file: &OwnedFd| rustix::fs::fstat(file).unwrap().st_ino;
        let more = files.more.iter();
        more.map(|(number, file)| (*number, inode(file))).collect()
    };
    let gathering = gathering.with_more(more(7..7 + MORE_MAX as u32));
    std::thread::scope(|scope| {
        let guest = scope.spawn(move || join(ticket, &hello(1, 2), soon()).unwrap());
        let own = gathering.serve(&own(2), files, soon()).unwrap();
        let (own, got) = (inodes(&own), inodes(&guest.join().unwrap()));
        assert_eq!(own.len(), MORE_MAX);
        assert_eq!(own, got);
    });
}

/// The kernel never restarts a wait with a time limit, not even with `SA_RESTART`.
#[test]
fn signals_of_the_program_do_not_end_the_wait_at_a_full_door() {
    use std::os::unix::thread::JoinHandleExt;
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: the handler does nothing, and nothing else here uses this signal.
    unsafe { libc::signal(libc::SIGUSR2, nothing as *const () as libc::sighandler_t) };
    let gathering = Gathering::open(2).unwrap();
    let ticket = gathering.ticket();
    let mut strangers = Vec::new();
    loop {
        let stranger = socket().unwrap();
        rustix::io::ioctl_fionbio(&stranger, true).unwrap();
        match rustix::net::connect(&stranger, &address(ticket).unwrap()) {
            Ok(()) => strangers.push(stranger),
            Err(error) => break assert_eq!(error, Errno::AGAIN),
        }
    }
    let guest = std::thread::spawn(move || join(ticket, &hello(1, 2), soon()).map(drop));
    for _ in 0..100 {
        // SAFETY: a thread that was not joined yet.
        unsafe { libc::pthread_kill(guest.as_pthread_t(), libc::SIGUSR2) };
        std::thread::sleep(Duration::from_millis(1));
    }
    gathering.serve(&own(2), files, soon()).unwrap();
    assert_eq!(guest.join().unwrap(), Ok(()));
}

#[test]
fn a_stranger_without_the_key_is_ignored() {
    let gathering = Gathering::open(2).unwrap();
    let ticket = gathering.ticket();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let [low, high] = ticket.key.to_words();
            let wrong = Ticket {
                key: Key::from_words(low ^ 1, high),
                ..ticket
            };
            assert!(join(wrong, &hello(1, 2), soon()).is_err());
            join(ticket, &hello(1, 2), soon()).unwrap();
        });
        gathering.serve(&own(2), files, soon()).unwrap();
    });
}

#[test]
fn a_pe_with_another_heap_ends_the_attach_with_a_reason_on_both_sides() {
    let about = &Disagreement::SegmentBytes {
        theirs: 8192,
        ours: 4096,
    };
    let gathering = Gathering::open(2).unwrap();
    let ticket = gathering.ticket();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let odd = Hello {
                terms: [1, 8192, 0, 256, 0, 0, 0, 0, 0, 0],
                ..hello(1, 2)
            };
            let error = join(ticket, &odd, soon()).unwrap_err();
            assert_eq!(
                fault(error),
                refused(different(1, about.clone()).to_string())
            );
        });
        let error = gathering.serve(&own(2), files, soon()).unwrap_err();
        assert_eq!(fault(error), different(1, about.clone()));
    });
}

#[test]
fn why_one_pe_does_not_fit_is_told_to_all_that_have_come() {
    let gathering = Gathering::open(3).unwrap();
    // Both have connected, in this order, before PE 0 accepts.
    let guests = [(1, 0), (2, 1)].map(|(pe, set)| {
        let hello = Hello {
            terms: [1, 4096, set, 256, 0, 0, 0, 0, 0, 0],
            ..hello(pe, 3)
        };
        let socket = socket().unwrap();
        rustix::net::connect(&socket, &address(gathering.ticket()).unwrap()).unwrap();
        send_hello(&socket, gathering.ticket().key, &hello).unwrap();
        (socket, hello)
    });
    let about = Disagreement::Setting {
        setting: "HOSTWIRE_RECORD",
        theirs: true,
    };
    let told = gathering.serve(&own(3), files, soon()).unwrap_err();
    let text = told.to_string();
    assert_eq!(fault(told), different(2, about.clone()));
    for (guest, text) in guests.iter().zip([text, different(2, about).to_string()]) {
        let error = receive_files(&guest.0, &guest.1, soon()).unwrap_err();
        assert_eq!(fault(error), refused(text));
    }
}

#[test]
fn pes_that_never_come_are_named() {
    let gathering = Gathering::open(3).unwrap();
    let error = gathering.serve(&own(3), files, Instant::now()).unwrap_err();
    let pes = [1, 2].into();
    assert_eq!(fault(error), EnvironmentFault::Absent { pes });
}
