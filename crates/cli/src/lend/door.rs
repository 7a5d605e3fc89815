//! Who has connected and not shown yet that it may borrow: not more than a few, and none for ever.

use std::collections::VecDeque;
use std::io;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, PoisonError};

use super::channel::Socket;

/// Connections that have not asked for a loan yet. One more, and the first of them has to go.
const STRANGERS_MAX: usize = 64;

/// See the [module text](self).
#[derive(Debug, Default)]
pub struct Strangers(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// In the order of coming.
    sockets: VecDeque<(u64, Socket)>,
    number: u64,
}

/// A place among them, until it is dropped.
#[derive(Debug)]
pub struct Stranger {
    waiting: Arc<Mutex<Waiting>>,
    number: u64,
}

impl Strangers {
    /// One more. The oldest hears that its connection has ended if there are too many.
    ///
    /// # Errors
    /// As the system says.
    pub fn admit(&self, socket: &Socket) -> io::Result<Stranger> {
        let socket = socket.try_clone()?;
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.sockets.len() >= STRANGERS_MAX
            && let Some((_, oldest)) = waiting.sockets.pop_front()
        {
            oldest.shut_down(Shutdown::Both);
        }
        waiting.number += 1;
        let number = waiting.number;
        waiting.sockets.push_back((number, socket));
        drop(waiting);
        let waiting = Arc::clone(&self.0);
        Ok(Stranger { waiting, number })
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.sockets.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    #[test]
    fn one_too_many_ends_the_oldest() {
        let strangers = Strangers::default();
        let pairs: Vec<_> = (0..=STRANGERS_MAX)
            .map(|_| UnixStream::pair().unwrap())
            .collect();
        let mut kept = Vec::new();
        for (here, there) in pairs {
            let stranger = strangers.admit(&Socket::Unix(here)).unwrap();
            kept.push((stranger, there));
        }
        let ended = |there: &mut UnixStream| {
            there.set_nonblocking(true).unwrap();
            there.read(&mut [0]).is_ok_and(|len| len == 0)
        };
        assert!(ended(&mut kept[0].1));
        assert!(!ended(&mut kept[1].1));
        // Who has asked for a loan is no stranger any more.
        drop(kept.remove(1).0);
        let (here, _there) = UnixStream::pair().unwrap();
        let _more = strangers.admit(&Socket::Unix(here)).unwrap();
        assert!(!ended(&mut kept[1].1));
    }
}
