//! Sockets at the two ends of a cable with several queues.

use std::collections::HashSet;
use std::process::Command;

use hostwire_testing::{is_installed, left_out, need};

use super::*;

const ETHER_TYPE: u16 = 0x88b5;
const QUEUES: u32 = 4;
/// For a hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// The sockets at both ends of a cable with several queues, in a network namespace of this thread
/// alone.
fn ends() -> Option<[XdpSocket; 2]> {
    // SAFETY: changes the network namespace of this thread alone, which runs one test.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == -1 {
        let error = io::Error::last_os_error();
        let why = format!("a network namespace of its own needs root: {error}");
        left_out(&need::NAMESPACES, why);
        return None;
    }
    let queues = format!("numrxqueues {QUEUES} numtxqueues {QUEUES}");
    for arguments in [
        &format!("link add left {queues} type veth peer name right {queues}"),
        "link set left up",
        "link set right up",
    ] {
        let done = Command::new("ip").args(arguments.split(' ')).status();
        if !done.is_ok_and(|status| status.success()) {
            if is_installed("ip", &need::IP) {
                left_out(&need::NAMESPACES, format!("`ip {arguments}` fails"));
            }
            return None;
        }
    }
    let interfaces = ["left", "right"].map(|name| Interface::choose(Some(name)).unwrap());
    let mut sockets = interfaces
        .each_ref()
        .map(|interface| XdpSocket::open(interface, ETHER_TYPE).unwrap());
    for (pe, (socket, peer)) in (0..).zip(sockets.iter_mut().zip(interfaces.iter().rev())) {
        let mut peers = vec![Some(Address::Station(peer.station)); 2];
        peers[pe as usize] = None;
        socket.set_peers(pe, peers).unwrap();
    }
    Some(sockets)
}

/// Waits for a frame as a sleeping thread does. Returns the first byte of the last one.
fn next(socket: &mut XdpSocket) -> Option<u8> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let timeout = Timespec::try_from(PATIENCE).unwrap();
    let fd = socket.fd();
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout)).unwrap();
    let mut first = None;
    socket.receive(&mut |_, frame| first = frame.first().copied());
    first
}

/// The kernel chooses the queue of a frame: without NAPI a cable between namespaces takes the one
/// before the queue by which the frame left.
#[test]
fn frames_of_all_queues_are_received() {
    let Some([mut left, mut right]) = ends() else {
        return;
    };
    assert_eq!(right.queues.count(), QUEUES as usize);
    let mut seen = HashSet::new();
    for (number, queue) in (0..QUEUES).chain((0..QUEUES).rev()).enumerate() {
        left.queues.send_as(queue);
        assert!(right.is_empty());
        assert_eq!(left.send(&[(1, &[number as u8; 64])]), Ok(1));
        assert_eq!(next(&mut right), Some(number as u8));
        seen.insert(right.queues.next);
    }
    assert!(seen.len() >= QUEUES as usize - 1, "{seen:?}");
}

/// A queue that is never empty does not block others.
#[test]
fn no_queue_waits_for_another() {
    let Some([mut left, mut right]) = ends() else {
        return;
    };
    for (queue, frames) in [(0, 3 * BATCH_FRAMES), (2, 1)] {
        left.queues.send_as(queue);
        for _ in 0..frames {
            assert_eq!(left.send(&[(1, &[queue as u8; 64])]), Ok(1));
        }
    }
    let mut seen = Vec::new();
    for _ in 0..2 {
        right.receive(&mut |_, frame| seen.push(frame[0]));
    }
    assert_eq!(seen.len(), 2 * BATCH_FRAMES);
    assert_eq!(seen[BATCH_FRAMES], 2);
}

/// A forked process sends and receives, although its parent wrote to the memory before.
#[test]
fn a_forked_process_has_the_sockets() {
    let Some([mut left, mut right]) = ends() else {
        return;
    };
    assert_eq!(left.send(&[(1, &[1; 64])]), Ok(1));
    assert_eq!(next(&mut right), Some(1));
    // SAFETY: the child calls nothing that allocates or locks: sending, receiving and exiting.
    let child = unsafe { libc::fork() };
    assert_ne!(child, -1);
    if child == 0 {
        let mut all_well = true;
        // More than there are places.
        for number in 0..3000_u32 {
            left.queues.send_as(number);
            let byte = number as u8;
            all_well = all_well
                && left.send(&[(1, &[byte; 64])]) == Ok(1)
                && next(&mut right) == Some(byte);
        }
        // SAFETY: ends the process, without its destructors.
        unsafe { libc::_exit(i32::from(!all_well)) };
    }
    let mut status = 0;
    // SAFETY: writes to `status`, which outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}
