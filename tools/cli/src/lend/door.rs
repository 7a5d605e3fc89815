//! Peers that have connected and not shown yet that they may borrow: few, and none for ever.

use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};

use hostwire_transport::os::strangers::Strangers;

use super::channel::Socket;

/// Connections that have not asked for a loan yet. One more, and the first of them has to go.
const STRANGERS_MAX: usize = 64;

/// See the [module text](self).
#[derive(Debug)]
pub struct Door(Arc<Mutex<Waiting>>);

#[derive(Debug)]
struct Waiting {
    sockets: Strangers<(u64, Socket)>,
    number: u64,
}

/// A place among them, until it is dropped.
#[derive(Debug)]
pub struct Stranger {
    waiting: Arc<Mutex<Waiting>>,
    number: u64,
}

impl Door {
    /// A door at which nobody waits.
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(Waiting {
            sockets: Strangers::new(STRANGERS_MAX),
            number: 0,
        })))
    }

    /// One more. The oldest hears that its connection has ended if there are too many.
    ///
    /// # Errors
    /// As the system says.
    pub fn admit(&self, socket: &Socket) -> io::Result<Stranger> {
        let socket = socket.try_clone()?;
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.number += 1;
        let number = waiting.number;
        if let Some((_, oldest)) = waiting.sockets.come((number, socket)) {
            oldest.shut_down(Shutdown::Both);
        }
        drop(waiting);
        let waiting = Arc::clone(&self.0);
        Ok(Stranger { waiting, number })
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting
            .sockets
            .retain_mut(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn one_too_many_ends_the_oldest() {
        let door = Door::new();
        let pairs: Vec<_> = (0..=STRANGERS_MAX)
            .map(|_| UnixStream::pair().unwrap())
            .collect();
        let mut kept = Vec::new();
        for (here, there) in pairs {
            let stranger = door.admit(&Socket::Unix(here)).unwrap();
            kept.push((stranger, there));
        }
        let ended = |there: &mut UnixStream| {
            there.set_nonblocking(true).unwrap();
            there.read(&mut [0]).is_ok_and(|len| len == 0)
        };
        assert!(ended(&mut kept[0].1));
        assert!(!ended(&mut kept[1].1));
        // A peer that has asked for a loan is no stranger any more.
        drop(kept.remove(1).0);
        let (here, _there) = UnixStream::pair().unwrap();
        let _more = door.admit(&Socket::Unix(here)).unwrap();
        assert!(!ended(&mut kept[1].1));
    }
}
