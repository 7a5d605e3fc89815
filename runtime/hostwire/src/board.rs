//! The board: the activity of each PE of a job, for the launcher.
//!
//! The launcher creates one sealed memory file for the job and every PE inherits it
//! (`HOSTWIRE_BOARD_FD`). PE `i` owns the record at byte `i * RECORD_BYTES` and stores
//! its activity there. No PE waits for it, and only the text of an error depends on it.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0..4 | activity | [`Activity`], little endian |
//! | 4..8 | peer | the PE concerned, little endian; [`NO_PEER`] where there is none |
//! | 8..16 | ended | [`ENDED`], stored by the launcher |
//! | 16..24 | lost | 1 + the PE that this PE has found to be lost, little endian; 0 for none |
//! | 24..64 | | zero |
//!
//! Activity and peer are written together, by one relaxed store of 64 bits. A
//! record full of zeros says [`Activity::NotAttached`].
//!
//! The launcher sees at once when a process ends. If the process had joined the job and
//! not left it, the launcher stores [`ENDED`]. So PEs that have no better sign of its end
//! need not wait for a long silence.
//!
//! The launcher may see two ends in the wrong order: the locks and sockets of a dying
//! process go before the process, so a PE that noticed this may end first. The field `lost`
//! shows which of two failures led to the other.

use std::fmt;

/// Length of the record of one PE: one cache line, so that no two PEs write to
/// the same one.
pub const RECORD_BYTES: usize = 64;

/// Environment variable that carries the number of the board's descriptor.
pub const BOARD_FD_VARIABLE: &str = "HOSTWIRE_BOARD_FD";

/// Where [`ENDED`] is in a record.
pub const ENDED_AT: usize = 8;

/// The process of this PE has ended without leaving the job.
pub const ENDED: [u8; 8] = *b"hw-ended";

/// Where the PE that is found to be lost is in a record.
pub const LOST_AT: usize = 16;

/// The peer of an activity that concerns no single peer.
pub const NO_PEER: u32 = u32::MAX;

/// The activity of a PE. The numbers are the format of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[repr(u32)]
pub enum Activity {
    /// The process runs and has not called the library.
    NotAttached = 0,
    /// In `Job::attach`.
    Attaching = 1,
    /// In the program's own code.
    Computing = 2,
    /// In a barrier.
    Barrier = 3,
    /// Sending a message, or waiting for room to send it.
    Sending = 4,
    /// Waiting for a message.
    Receiving = 5,
    /// Waiting for a word in its own memory to change.
    Waiting = 6,
    /// In a collective operation other than a barrier.
    Collective = 7,
    /// Leaving the job.
    Finalizing = 8,
    /// Left the job.
    Finished = 9,
    /// Allocating or freeing symmetric memory.
    Allocating = 10,
}

impl Activity {
    /// The activity with this number, if there is one.
    pub fn from_code(code: u32) -> Option<Activity> {
        Some(match code {
            0 => Activity::NotAttached,
            1 => Activity::Attaching,
            2 => Activity::Computing,
            3 => Activity::Barrier,
            4 => Activity::Sending,
            5 => Activity::Receiving,
            6 => Activity::Waiting,
            7 => Activity::Collective,
            8 => Activity::Finalizing,
            9 => Activity::Finished,
            10 => Activity::Allocating,
            _ => return None,
        })
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activity::NotAttached => "not attached to the job",
            Activity::Attaching => "attaching to the job",
            Activity::Computing => "computing",
            Activity::Barrier => "in a barrier",
            Activity::Sending => "sending",
            Activity::Receiving => "receiving",
            Activity::Waiting => "waiting for its memory to change",
            Activity::Collective => "in a collective operation",
            Activity::Finalizing => "leaving the job",
            Activity::Finished => "done with the job",
            Activity::Allocating => "allocating symmetric memory",
        })
    }
}

/// The record of one PE on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Record {
    /// The activity of the PE.
    pub activity: Activity,
    /// The peer concerned, if there is one.
    pub peer: Option<u32>,
}

impl Record {
    /// Reads the first word of a record. `None` when it holds no known
    /// activity, which a healthy PE never writes.
    pub fn parse(word: [u8; 8]) -> Option<Record> {
        let word = u64::from_le_bytes(word);
        let peer = (word >> 32) as u32;
        let activity = Activity::from_code(word as u32)?;
        // A record that was never written is zero, and its peer is not PE 0.
        let none = peer == NO_PEER || activity == Activity::NotAttached;
        Some(Record {
            activity,
            peer: (!none).then_some(peer),
        })
    }

    /// The first word of a record, as it is stored.
    pub fn to_word(self) -> u64 {
        u64::from(self.peer.unwrap_or(NO_PEER)) << 32 | u64::from(self.activity as u32)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.activity, self.peer) {
            (Activity::Sending, Some(peer)) => write!(f, "sending to PE {peer}"),
            (Activity::Receiving, Some(peer)) => write!(f, "receiving from PE {peer}"),
            (Activity::Waiting, Some(peer)) => write!(f, "waiting for PE {peer}"),
            (activity, Some(peer)) => write!(f, "{activity} with PE {peer}"),
            (activity, None) => activity.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_names_itself() {
        let known: Vec<Activity> = (0..64).filter_map(Activity::from_code).collect();
        assert_eq!(known.len(), 11);
        for activity in known {
            assert_eq!(Activity::from_code(activity as u32), Some(activity));
            for peer in [None, Some(0), Some(7)] {
                if activity == Activity::NotAttached && peer.is_some() {
                    continue;
                }
                let record = Record { activity, peer };
                assert_eq!(Record::parse(record.to_word().to_le_bytes()), Some(record));
            }
        }
    }

    #[test]
    fn records_read_as_a_user_would_say_it() {
        let literal = |word: [u8; 8]| Record::parse(word).map(|record| record.to_string());
        assert_eq!(literal([0; 8]).unwrap(), "not attached to the job");
        assert_eq!(
            literal([3, 0, 0, 0, 255, 255, 255, 255]).unwrap(),
            "in a barrier"
        );
        assert_eq!(
            literal([4, 0, 0, 0, 2, 0, 0, 0]).unwrap(),
            "sending to PE 2"
        );
        assert_eq!(
            literal([5, 0, 0, 0, 0, 1, 0, 0]).unwrap(),
            "receiving from PE 256"
        );
        assert_eq!(literal([11, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(literal([255; 8]), None);
    }
}
