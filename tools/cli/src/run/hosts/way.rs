//! How a host is reached: by a process here, or through the starter of another host.

use std::os::fd::OwnedFd;
use std::time::Instant;

use hostwire_bootstrap::starter::{Errand, Order, PIECE_BYTES_MAX, ROOM_BYTES};
use rustix::process::Pid;

use super::super::pes::End;
use super::super::ssh::Connection;
use super::far::Outgoing;

/// A way to a starter.
pub enum Way {
    /// It has not been reached for yet.
    None,
    Direct(Connection),
    Through(Through),
}

/// A way through the starter of another host.
pub struct Through {
    /// The number by which that starter knows the host.
    host: u32,
    parent: Outgoing,
    /// Bytes that may be sent before that starter says that it has passed some on.
    room_bytes: usize,
    is_open: bool,
    /// How the way has ended, if it has.
    end: Option<Option<End>>,
}

impl Through {
    pub fn new(host: u32, parent: Outgoing) -> Through {
        Through {
            host,
            parent,
            room_bytes: ROOM_BYTES,
            is_open: true,
            end: None,
        }
    }

    /// The starter on the way has passed so many bytes on.
    pub fn give_room(&mut self, bytes: usize) {
        self.room_bytes = self.room_bytes.saturating_add(bytes).min(ROOM_BYTES);
    }

    /// The starter on the way says that the way has ended.
    pub fn note_end(&mut self, status: Option<End>) {
        self.end = Some(status);
    }

    fn ask(&self, errand: Errand) {
        let host = self.host;
        if self.end.is_none() {
            self.parent.push(&Order::Behind { host, errand });
        }
    }

    /// How many bytes may be sent now.
    fn room(&self) -> usize {
        match self.is_open && self.parent.len() < ROOM_BYTES {
            true => self.room_bytes.min(PIECE_BYTES_MAX),
            false => 0,
        }
    }
}

impl Way {
    pub fn pid(&self) -> Option<Pid> {
        self.direct().map(Connection::pid)
    }

    fn direct(&self) -> Option<&Connection> {
        match self {
            Self::Direct(connection) => Some(connection),
            Self::None | Self::Through(_) => None,
        }
    }

    /// What the starter writes to, if that is here.
    pub fn from(&self) -> Option<&OwnedFd> {
        self.direct()?.from()
    }

    /// What ssh complains on, if that is here.
    pub fn says(&self) -> Option<&OwnedFd> {
        self.direct()?.says()
    }

    /// What the starter reads, if that is here.
    pub fn to(&self) -> Option<&OwnedFd> {
        self.direct()?.to()
    }

    /// Starts the starter, by an order to the one on the way.
    pub fn reach(&self, ssh: &str, target: &str, copies: bool) {
        let (ssh, target) = (ssh.to_owned(), target.to_owned());
        self.ask(Errand::Reach {
            ssh,
            target,
            copies,
        });
    }

    /// The starter on the way is to hand on the program that it has got, behind all that was sent. `false` if there is none.
    pub fn hand_on_program(&self) -> bool {
        self.ask(Errand::Program)
    }

    fn ask(&self, errand: Errand) -> bool {
        match self {
            Self::Through(through) => through.ask(errand),
            Self::None | Self::Direct(_) => return false,
        }
        true
    }

    /// What has come, if that is read here.
    pub fn read(&mut self) -> Vec<u8> {
        match self {
            Self::Direct(connection) => connection.read(),
            Self::None | Self::Through(_) => Vec::new(),
        }
    }

    /// What ssh says, if that is read here.
    pub fn read_said(&mut self) -> Vec<u8> {
        match self {
            Self::Direct(connection) => connection.read_said(),
            Self::None | Self::Through(_) => Vec::new(),
        }
    }

    /// Sends bytes, as far as it goes. How many have gone.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::None => 0,
            Self::Direct(connection) => connection.write(bytes),
            Self::Through(through) => {
                let room = through.room().min(bytes.len());
                let piece = bytes.get(..room).unwrap_or_default();
                if !piece.is_empty() {
                    through.room_bytes -= piece.len();
                    through.ask(Errand::Bytes(piece.to_vec()));
                }
                piece.len()
            }
        }
    }

    /// Whether bytes will never go any more.
    pub fn is_closed(&self) -> bool {
        match self {
            Self::None => false,
            Self::Direct(connection) => connection.to().is_none(),
            Self::Through(through) => !through.is_open,
        }
    }

    /// Whether bytes can be sent now, without waiting for a descriptor.
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Through(through) if through.room() > 0)
    }

    /// No more is sent: the starter ends at the latest then.
    pub fn close(&mut self) {
        self.ask(Errand::Close);
        match self {
            Self::None => {}
            Self::Direct(connection) => connection.close(),
            Self::Through(through) => through.is_open = false,
        }
    }

    /// Uses the way no more: ssh is killed, and with it the starter's end of it.
    pub fn cut(&mut self) {
        self.ask(Errand::Cut);
        match self {
            Self::None => {}
            Self::Direct(connection) => connection.cut(),
            Self::Through(through) => through.is_open = false,
        }
    }

    /// Whether ssh has ended.
    pub fn has_ended(&self) -> bool {
        match self {
            Self::None => false,
            Self::Direct(connection) => connection.has_ended(),
            Self::Through(through) => through.end.is_some(),
        }
    }

    /// Whether the connection has ended, and then how ssh has, as far as is known.
    pub fn end(&self, now: Instant) -> Option<Option<End>> {
        match self {
            Self::None => None,
            Self::Direct(connection) => connection.end(now),
            Self::Through(through) => through.end,
        }
    }

    /// When [`end`](Self::end) is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.direct()?.deadline()
    }
}
