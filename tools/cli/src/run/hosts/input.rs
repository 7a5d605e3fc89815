//! Standard input of the launcher, for a PE 0 on another host.

use std::os::fd::BorrowedFd;

use hostwire_bootstrap::starter::{Order, PIECE_BYTES_MAX, ROOM_BYTES};
use rustix::io::Errno;

use super::super::stdin::Pump;
use super::far::Outgoing;

/// It is read only as far as PE 0 reads it.
pub struct Input {
    room: usize,
    is_open: bool,
    is_terminal: bool,
}

impl Input {
    pub fn new() -> Input {
        Input {
            room: ROOM_BYTES,
            is_open: true,
            is_terminal: Pump::is_needed(),
        }
    }

    /// What to wait for, if there is room.
    pub fn fd(&self) -> Option<BorrowedFd<'static>> {
        let may_read = self.is_open && self.room > 0 && !self.is_in_background();
        may_read.then(rustix::stdio::stdin)
    }

    /// Whether it is a terminal that is another's now.
    pub fn is_in_background(&self) -> bool {
        self.is_open && self.is_terminal && !Pump::is_in_foreground()
    }

    /// Passes on what is there.
    pub fn read(&mut self, outgoing: &Outgoing) {
        let mut bytes = vec![0; self.room.min(PIECE_BYTES_MAX)];
        match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Ok(read) if read > 0 => {
                bytes.truncate(read);
                self.room -= read.min(self.room);
                outgoing.push(&Order::Input(bytes));
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(_) | Err(_) => {
                self.is_open = false;
                outgoing.push(&Order::InputEnd);
            }
        }
    }

    /// PE 0 has taken so much.
    pub fn give_room(&mut self, bytes: usize) {
        self.room = self.room.saturating_add(bytes).min(ROOM_BYTES);
    }

    /// PE 0 reads no more.
    pub fn close(&mut self) {
        self.is_open = false;
    }
}
