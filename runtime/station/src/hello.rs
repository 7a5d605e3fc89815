//! The messages of two stations that meet on one host.
//!
//! Little-endian words over `SOCK_SEQPACKET`, with the descriptor of the sender's segment:
//!
//! | message | words |
//! |---|---|
//! | hello | magic, key of the other (2), its number at the sender, version, bytes of a segment, address of its [proof](super::private::Proof) or 0, [name](Name) of the sender (8) |
//! | answer | magic, number of the other at the sender, address of its proof or 0 |
//! | refusal | magic, `u64::MAX`, then text; no descriptor |

use std::os::fd::{AsFd, OwnedFd};

use hostwire_transport::error::{EnvironmentFault, PeId};
use hostwire_transport::printable;
use hostwire_transport::shm::handover::{MAGIC, REFUSED};
use hostwire_transport::shm::handover::{
    from_bytes, receive_with, send_refusal, send_with, to_bytes,
};
use hostwire_transport::shm::key::Key;
use rustix::io::Errno;

use super::{Name, PEERS_MAX, Terms};

const NAME_WORDS: usize = Name::BYTES / 8;
const HELLO_WORDS: usize = 7 + NAME_WORDS;

/// The message of the connecting station.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hello {
    pub(super) from: Name,
    /// Its number for the other one.
    pub(super) number: PeId,
    pub(super) terms: Terms,
    pub(super) proof_at: u64,
}

impl Hello {
    fn to_words(self, key: Key) -> Vec<u64> {
        let [low, high] = key.to_words();
        let Terms {
            version,
            segment_bytes,
        } = self.terms;
        let number = self.number.into();
        let mut words = vec![
            MAGIC,
            low,
            high,
            number,
            version,
            segment_bytes,
            self.proof_at,
        ];
        words.extend(from_bytes(&self.from.to_bytes()));
        words
    }

    /// `None` if it does not show `key`, or is no hello.
    fn from_words(words: &[u64], key: Key) -> Option<Self> {
        let [
            magic,
            low,
            high,
            number,
            version,
            segment_bytes,
            proof_at,
            ref name @ ..,
        ] = *words
        else {
            return None;
        };
        let shown = Key::from_words(low, high);
        (magic == MAGIC && key.is(shown)).then_some(())?;
        Some(Self {
            from: Name::from_bytes(&to_bytes(name))?,
            number: numbered(number)?,
            terms: Terms {
                version,
                segment_bytes,
            },
            proof_at,
        })
    }

    pub(super) fn send(self, socket: &OwnedFd, key: Key, file: &OwnedFd) -> Result<(), Errno> {
        send_with(socket, &to_bytes(&self.to_words(key)), &[file.as_fd()])
    }

    /// Receives the hello of a station that shows the key.
    pub(super) fn receive(socket: &OwnedFd, key: Key) -> Option<(Self, OwnedFd)> {
        // Room for one more word, so that a message that is too long does not look like one that
        // fits.
        let mut bytes = [0; 8 * (HELLO_WORDS + 1)];
        let (len, fds) = receive_with(socket, &mut bytes).ok()?;
        let hello = Self::from_words(&from_bytes(&bytes[..len]), key)?;
        let [file] = <[OwnedFd; 1]>::try_from(fds).ok()?;
        Some((hello, file))
    }
}

/// A number that a station can give another: 0 is itself.
fn numbered(word: u64) -> Option<PeId> {
    let number = u32::try_from(word).ok()?;
    (1..PEERS_MAX).contains(&number).then_some(number)
}

/// The answer of the other one.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) number: PeId,
    pub(super) proof_at: u64,
    pub(super) file: OwnedFd,
}

impl Answer {
    pub(super) fn send(
        socket: &OwnedFd,
        number: PeId,
        proof_at: u64,
        file: &OwnedFd,
    ) -> Result<(), Errno> {
        let words = [MAGIC, number.into(), proof_at];
        send_with(socket, &to_bytes(&words), &[file.as_fd()])
    }

    pub(super) fn refuse(socket: &OwnedFd, why: &str) {
        send_refusal(socket, why);
    }

    /// `None` if it has gone without an answer.
    pub(super) fn receive(socket: &OwnedFd) -> Result<Option<Self>, EnvironmentFault> {
        let mut bytes = [0; 512];
        let (len, fds) = match receive_with(socket, &mut bytes) {
            Ok(received) => received,
            Err(Errno::CONNRESET) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let unexpected = || {
            let got = format_args!("a message of {len} bytes that is neither");
            EnvironmentFault::unexpected("the segment of a station, or why not", got)
        };
        match from_bytes(&bytes[..len])[..] {
            [] => Ok(None),
            [MAGIC, REFUSED, ..] => {
                let text = String::from_utf8_lossy(&bytes[16..len]);
                let why = printable(text.trim_end_matches('\0')).into();
                Err(EnvironmentFault::Refused { why })
            }
            [MAGIC, number, proof_at] => {
                let number = numbered(number).ok_or_else(unexpected)?;
                let [file] = <[OwnedFd; 1]>::try_from(fds).map_err(|_| unexpected())?;
                Ok(Some(Self {
                    number,
                    proof_at,
                    file,
                }))
            }
            _ => Err(unexpected()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hellos_survive_the_wire_and_each_word_is_checked() {
        let (from, other) = (Name::draw(None).unwrap(), Name::draw(None).unwrap());
        let terms = Terms {
            version: 2,
            segment_bytes: 1 << 20,
        };
        let number = 7;
        let hello = Hello {
            from,
            number,
            terms,
            proof_at: 0x7000,
        };
        let words = hello.to_words(other.key());
        let read = Hello::from_words(&words, other.key()).unwrap();
        assert_eq!((read.number, read.terms, read.proof_at), (7, terms, 0x7000));
        assert_eq!(read.from.to_bytes(), from.to_bytes());
        assert!(Hello::from_words(&words, from.key()).is_none());
        // Magic, key, number, magic of the name.
        for (at, bad) in [(0, 1), (1, 1), (2, 1), (3, 1 << 40), (7, 1)] {
            let mut words = words.clone();
            words[at] ^= bad;
            assert!(Hello::from_words(&words, other.key()).is_none(), "{at}");
        }
        for number in [0, u64::from(PEERS_MAX)] {
            let mut words = words.clone();
            words[3] = number;
            assert!(Hello::from_words(&words, other.key()).is_none());
        }
        assert!(Hello::from_words(&words[..12], other.key()).is_none());
        assert!(Hello::from_words(&[&words[..], &[0]].concat(), other.key()).is_none());
    }
}
