//! A modelled device compared with a plain array.

use std::time::Instant;

use proptest::prelude::*;

use super::*;

fn finish(device: &Modelled, ticket: Ticket) {
    let begin = Instant::now();
    while device.finished().unwrap() < ticket {
        assert!(begin.elapsed() < Duration::from_secs(20));
        device.wait(ticket, Duration::from_millis(10), Duration::ZERO);
    }
}

/// Starts a copy when there is room for it.
fn started(device: &Modelled, mut start: impl FnMut() -> Result<Option<Ticket>>) -> Ticket {
    loop {
        match start().unwrap() {
            Some(ticket) => return ticket,
            None => device.wait(Ticket::MAX, Duration::from_millis(10), Duration::ZERO),
        }
    }
}

const BYTES: usize = 3000;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn copies_in_a_queue_are_done_in_their_order(
        copies in prop::collection::vec((0..3_u8, 0..BYTES, 0..BYTES, 0..BYTES), 1..120)
    ) {
        let device = Modelled::start(0).unwrap();
        let at = device.allocate(BYTES, 256).unwrap();
        prop_assert!(at.is_multiple_of(256));
        let host = Memory::anonymous(BYTES);
        let mut there = vec![0_u8; BYTES];
        let mut here: Vec<u8> = (0..BYTES).map(|byte| byte as u8).collect();
        host.copy_in(0, &here).unwrap();
        for (kind, to, from, len) in copies {
            let len = len.min(BYTES - to).min(BYTES - from);
            let place = at + to as u64;
            match kind {
                0 => {
                    started(&device, || device.write(place, &host, from, len));
                    there[to..to + len].copy_from_slice(&here[from..from + len]);
                }
                1 => {
                    let ticket = started(&device, || {
                        device.read(at + from as u64, &host, to, len)
                    });
                    here[to..to + len].copy_from_slice(&there[from..from + len]);
                    finish(&device, ticket);
                }
                _ => {
                    started(&device, || device.copy(place, at + from as u64, len));
                    there.copy_within(from..from + len, to);
                }
            }
        }
        let ticket = started(&device, || device.read(at, &host, 0, BYTES));
        finish(&device, ticket);
        let mut got = vec![0; BYTES];
        host.copy_out(0, &mut got).unwrap();
        prop_assert_eq!(got, there);
    }
}

#[test]
fn what_is_not_allocated_is_refused() {
    let device = Modelled::start(1).unwrap();
    let at = device.allocate(100, 8192).unwrap();
    assert!(at.is_multiple_of(8192));
    let host = Memory::anonymous(200);
    for (to, len) in [(at, 101), (at + 100, 1), (at + 101, 0), (at - 1, 1), (0, 8)] {
        let refused = device.write(to, &host, 0, len).unwrap_err();
        assert!(
            matches!(refused, DeviceError::OutOfRange { .. }),
            "{refused}"
        );
    }
    device.release(at).unwrap();
    assert!(matches!(
        device.release(at),
        Err(DeviceError::OutOfRange { .. })
    ));
    assert!(matches!(
        device.write(at, &host, 0, 1),
        Err(DeviceError::OutOfRange { .. })
    ));
    let full = device.allocate(1 << 60, 64).unwrap_err();
    assert!(
        full.to_string()
            .contains("has no 1152921504606846976 bytes"),
        "{full}"
    );
}

#[test]
fn a_device_that_was_killed_is_lost_and_says_so() {
    let device = Modelled::start(2).unwrap();
    let at = device.allocate(64, 64).unwrap();
    let pid = Pid::from_raw(device.process() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let host = Memory::anonymous(64);
    let begin = Instant::now();
    let lost = loop {
        assert!(begin.elapsed() < Duration::from_secs(20));
        if let Err(lost) = device
            .write(at, &host, 0, 64)
            .and_then(|_| device.finished())
        {
            break lost;
        }
    };
    assert!(lost.to_string().contains("signal 9"), "{lost}");
    assert_eq!(device.finished(), Err(lost));
}

#[test]
fn memory_of_another_device_is_opened() {
    let (one, other) = (Modelled::start(4).unwrap(), Modelled::start(5).unwrap());
    for align in [64, 16384] {
        let (from, to) = (
            one.allocate(200, 64).unwrap(),
            other.allocate(100, align).unwrap(),
        );
        let host = Memory::anonymous(200);
        let bytes: Vec<u8> = (0..200).collect();
        host.copy_in(0, &bytes).unwrap();
        one.write(from, &host, 0, 200).unwrap().unwrap();
        let export = other.export(to).unwrap();
        let there = one.open(&export, 100).unwrap();
        let refused = one.copy(there + 1, from, 100).unwrap_err();
        assert!(
            matches!(refused, DeviceError::OutOfRange { .. }),
            "{refused}"
        );
        let ticket = one.copy(there, from + 50, 100).unwrap();
        finish(&one, ticket.unwrap());
        let ticket = other.read(to, &host, 0, 100).unwrap();
        finish(&other, ticket.unwrap());
        let mut got = [0; 100];
        host.copy_out(0, &mut got).unwrap();
        assert_eq!(got[..], bytes[50..150]);
        one.close(there);
        assert!(one.copy(there, from, 1).is_err());
        // The name is not valid any more.
        other.release(to).unwrap();
        assert!(one.open(&export, 100).is_err());
    }
}

#[test]
fn its_process_ends_with_it() {
    let device = Modelled::start(3).unwrap();
    let entry = format!("/proc/{}", device.process());
    assert!(std::fs::exists(&entry).unwrap());
    let descriptors = std::fs::read_dir(format!("{entry}/fd"));
    // The first answer comes after it has closed all other descriptors.
    device.allocate(1, 1).unwrap();
    // The queue, the PE, and the file of the memory.
    assert_eq!(std::fs::read_dir(format!("{entry}/fd")).unwrap().count(), 3);
    drop(descriptors);
    drop(device);
    assert!(!std::fs::exists(&entry).unwrap());
}

use rustix::process::Pid;
