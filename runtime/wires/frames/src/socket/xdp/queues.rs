//! The sockets of all receive queues of an interface.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_transport::error::PeId;
use rustix::event::epoll;

use super::program::Program;
use super::queue::Queue;

/// More queues than this get no socket of their own: an interface may have one for each core.
pub(super) const QUEUES_MAX: u32 = 64;
/// Most places for received frames, of one queue and, approximately, of all queues.
const RECEIVE_PLACES_MAX: u32 = 1024;
const RECEIVE_PLACES_ALL: u32 = 16 * RECEIVE_PLACES_MAX;

/// One socket for each receive queue. A frame comes in on a queue that the sender or the interface
/// has chosen. All queues are checked in turn.
#[derive(Debug)]
pub(super) struct Queues {
    queues: Vec<Queue>,
    /// Where the next look begins: after the last queue that had a frame.
    pub(super) next: usize,
    sending: usize,
    /// How many queues, from the first on, can send frames.
    sending_max: usize,
    /// Becomes readable with any of them.
    readable: OwnedFd,
}

impl Queues {
    /// Opens the sockets of `receive` queues of an interface that sends by `transmit` queues.
    pub(super) fn open(receive: u32, transmit: u32, place_bytes: u64) -> io::Result<Self> {
        let places = receive_places(receive);
        let queues = (0..receive).map(|_| Queue::open(places, place_bytes));
        let queues = queues.collect::<io::Result<Vec<_>>>()?;
        let readable = match &queues[..] {
            [only] => only.as_fd().try_clone_to_owned()?,
            several => readable_with_any(several)?,
        };
        Ok(Self {
            queues,
            next: 0,
            sending: 0,
            sending_max: receive.min(transmit).max(1) as usize,
            readable,
        })
    }

    /// Gives each queue its socket.
    pub(super) fn bind(&self, interface: u32, program: &Program) -> io::Result<()> {
        for (number, queue) in (0..).zip(&self.queues) {
            queue.bind(interface, number)?;
            program.add(number, queue.as_fd())?;
        }
        Ok(())
    }

    /// Frames leave by one queue, so that those for one peer stay in order. Each sender takes
    /// another one: on virtual cables a frame comes in on the queue by which it left, so that
    /// senders do not share a receive ring.
    pub(super) fn send_as(&mut self, own: PeId) {
        self.sending = own as usize % self.sending_max;
    }

    /// The queue by which frames leave.
    #[inline]
    pub(super) fn sending(&mut self) -> Option<&mut Queue> {
        self.queues.get_mut(self.sending)
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.queues.len()
    }

    /// Frames that one queue holds before it loses some.
    pub(super) fn frames_max(&self) -> usize {
        receive_places(self.queues.len() as u32) as usize
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queues.iter().all(Queue::is_empty)
    }

    /// Gives up to `frames_max` received frames to `take`. The next call begins with another
    /// queue.
    #[inline]
    pub(super) fn receive(&mut self, frames_max: usize, mut take: impl FnMut(Option<&mut [u8]>)) {
        let mut left = frames_max;
        let first = self.next;
        for at in (first..self.queues.len()).chain(0..first) {
            let Some(queue) = self.queues.get_mut(at) else {
                continue;
            };
            let frames = queue.receive(left, &mut take);
            if frames > 0 {
                self.next = if at + 1 == self.queues.len() {
                    0
                } else {
                    at + 1
                };
            }
            left -= frames;
            if left == 0 {
                break;
            }
        }
    }

    /// All descriptors that it needs.
    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let queues = self.queues.iter().map(Queue::as_fd);
        queues.chain([self.readable.as_fd()]).collect()
    }

    /// Becomes readable when a frame comes.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }

    /// The socket of one queue.
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.queues.first().map_or(self.fd(), Queue::as_fd)
    }
}

fn readable_with_any(queues: &[Queue]) -> io::Result<OwnedFd> {
    let any = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for queue in queues {
        let nothing = epoll::EventData::new_u64(0);
        epoll::add(&any, queue, nothing, epoll::EventFlags::IN)?;
    }
    Ok(any)
}

/// Places of each queue, a power of two. Fewer if there are many queues, because all of this
/// memory is locked.
const fn receive_places(queues: u32) -> u32 {
    let each = RECEIVE_PLACES_ALL / queues.next_power_of_two();
    if each < RECEIVE_PLACES_MAX {
        each
    } else {
        RECEIVE_PLACES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_queues_have_few_places_each() {
        for (queues, places) in [
            (1, 1024),
            (4, 1024),
            (16, 1024),
            (17, 512),
            (QUEUES_MAX, 256),
        ] {
            assert_eq!(receive_places(queues), places, "{queues}");
        }
    }
}
