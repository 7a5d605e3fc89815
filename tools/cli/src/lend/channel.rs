//! The connection between a borrower of memory and a lender: frames, sealed between hosts.
//!
//! On one machine a Unix socket between processes of one user needs no key. Over TCP both ends have the same key file.
//! They exchange random public values (X25519), and every frame after that is sealed with AES-256-GCM by keys that are
//! derived from these values and the key file (HKDF-SHA-256). Without the key nobody can make a frame that opens, and a
//! recorded connection stays secret even if the key is lost later.
//!
//! | frame | bytes |
//! |---|---|
//! | length of what follows | 4, little-endian |
//! | sealed: kind and content | the rest, 16 of them a tag |

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, X25519, agree_ephemeral};
use ring::error::Unspecified;
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::SystemRandom;

/// What both ends begin with.
const MAGIC: [u8; 8] = *b"hwlend\0\x01";
const PUBLIC_BYTES: usize = 32;
/// The longest frame that is taken.
const FRAME_BYTES_MAX: usize = 128 << 10;
const TAG_BYTES: usize = 16;
/// How long a borrower has for all of the first exchange. A peer that has not shown the key by then is no borrower.
const LENDERS_PATIENCE: Duration = Duration::from_secs(20);
/// The same for a lender, which may wait until another loan is given back.
const BORROWERS_PATIENCE: Duration = Duration::from_secs(120);

/// What the two say to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A request for a loan.
    Ask(Vec<u8>),
    /// It is granted.
    Granted,
    /// It is not, or it is over: why.
    Over(String),
    /// Bytes of the launcher's protocol.
    Pmi(Vec<u8>),
}

impl Frame {
    fn to_bytes(&self) -> Vec<u8> {
        let (kind, content) = match self {
            Self::Ask(bytes) => (1, bytes.as_slice()),
            Self::Granted => (2, [].as_slice()),
            Self::Over(why) => (3, why.as_bytes()),
            Self::Pmi(bytes) => (4, bytes.as_slice()),
        };
        [&[kind], content].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, content) = bytes.split_first()?;
        match kind {
            1 => Some(Self::Ask(content.to_vec())),
            2 if content.is_empty() => Some(Self::Granted),
            3 => Some(Self::Over(String::from_utf8_lossy(content).into_owned())),
            4 => Some(Self::Pmi(content.to_vec())),
            _ => None,
        }
    }
}

/// A secret that both ends have in a file.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl Secret {
    /// The content of a key file.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// The socket below.
#[derive(Debug)]
pub enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(socket) => Self::Unix(socket.try_clone()?),
            Self::Tcp(socket) => Self::Tcp(socket.try_clone()?),
        })
    }

    fn set_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(socket) => socket.set_read_timeout(limit),
            Self::Tcp(socket) => socket.set_read_timeout(limit),
        }
    }

    /// Fills `bytes`, until `deadline` at the latest, even if the other end sends a byte at a time.
    fn read_all(&mut self, bytes: &mut [u8], deadline: Option<Instant>) -> io::Result<()> {
        let mut at = 0;
        while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
            if let Some(deadline) = deadline {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                self.set_timeout(Some(left))?;
            }
            match self.read(rest) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(len) => at += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Ends the connection. Its readers see the end.
    pub fn shut_down(&self, how: Shutdown) {
        // It may be closed already.
        let _ = match self {
            Self::Unix(socket) => socket.shutdown(how),
            Self::Tcp(socket) => socket.shutdown(how),
        };
    }
}

impl Read for Socket {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.read(bytes),
            Self::Tcp(socket) => socket.read(bytes),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.write(bytes),
            Self::Tcp(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One direction's key, and how many frames it has sealed.
struct Seal {
    key: LessSafeKey,
    frames: u64,
}

impl Seal {
    fn nonce(&mut self) -> Nonce {
        let mut bytes = [0; NONCE_LEN];
        for (place, byte) in bytes.iter_mut().zip(self.frames.to_le_bytes()) {
            *place = byte;
        }
        self.frames += 1;
        Nonce::assume_unique_for_key(bytes)
    }
}

/// Which of the two this end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Borrower,
    Lender,
}

/// The sending half.
pub struct Sender {
    socket: Socket,
    seal: Option<Seal>,
}

/// The receiving half.
pub struct Receiver {
    socket: Socket,
    seal: Option<Seal>,
    /// Until when all frames have to be here.
    deadline: Option<Instant>,
}

/// Makes the two halves of a connection, sealed if there is a secret.
///
/// # Errors
/// If the other end does not speak this protocol. Whether it has the same secret shows in the first
/// frame.
pub fn open(
    mut socket: Socket,
    end: End,
    secret: Option<&Secret>,
) -> io::Result<(Sender, Receiver)> {
    if let Socket::Tcp(tcp) = &socket {
        tcp.set_nodelay(true)?;
    }
    let deadline = Instant::now()
        + match end {
            End::Borrower => BORROWERS_PATIENCE,
            End::Lender => LENDERS_PATIENCE,
        };
    let (seal, unseal) = match secret {
        Some(secret) => {
            let (ours, theirs) = agree(&mut socket, end, secret, deadline)?;
            (Some(ours), Some(theirs))
        }
        None => (None, None),
    };
    let sender = Sender {
        socket: socket.try_clone()?,
        seal,
    };
    let receiver = Receiver {
        socket,
        seal: unseal,
        deadline: Some(deadline),
    };
    Ok((sender, receiver))
}

/// The keys of this end and of the other.
fn agree(
    socket: &mut Socket,
    end: End,
    secret: &Secret,
    deadline: Instant,
) -> io::Result<(Seal, Seal)> {
    let failed = |_| io::Error::other("no keys could be agreed");
    let random = SystemRandom::new();
    let own = EphemeralPrivateKey::generate(&X25519, &random).map_err(failed)?;
    let public = own.compute_public_key().map_err(failed)?;
    socket.write_all(&[&MAGIC, public.as_ref()].concat())?;
    let mut theirs = [0; MAGIC.len() + PUBLIC_BYTES];
    socket.read_all(&mut theirs, Some(deadline))?;
    let Some(theirs) = theirs.strip_prefix(&MAGIC) else {
        return Err(io::Error::other(
            "this is no hostwire lend or borrow of this version",
        ));
    };
    let (borrower, lender) = match end {
        End::Borrower => (public.as_ref(), theirs),
        End::Lender => (theirs, public.as_ref()),
    };
    let salt = [borrower, lender].concat();
    let peer = UnparsedPublicKey::new(&X25519, theirs);
    agree_ephemeral(own, &peer, |shared| {
        let material = [shared, &secret.0].concat();
        let derived = Salt::new(HKDF_SHA256, &salt).extract(&material);
        let seal = |name: &[u8]| -> Result<Seal, Unspecified> {
            let mut key = [0; 32];
            derived.expand(&[name], HKDF_SHA256)?.fill(&mut key)?;
            Ok(Seal {
                key: LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key)?),
                frames: 0,
            })
        };
        let (of_borrower, of_lender) = (seal(b"borrower")?, seal(b"lender")?);
        Ok(match end {
            End::Borrower => (of_borrower, of_lender),
            End::Lender => (of_lender, of_borrower),
        })
    })
    .map_err(failed)?
    .map_err(failed)
}

impl Sender {
    /// Sends a frame.
    ///
    /// # Errors
    /// If the connection is broken.
    pub fn send(&mut self, frame: &Frame) -> io::Result<()> {
        let mut bytes = frame.to_bytes();
        if let Some(seal) = &mut self.seal {
            let nonce = seal.nonce();
            let sealed = seal
                .key
                .seal_in_place_append_tag(nonce, Aad::empty(), &mut bytes);
            sealed.map_err(|_| io::Error::other("a frame could not be sealed"))?;
        }
        let len = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.socket
            .write_all(&[&len.to_le_bytes(), bytes.as_slice()].concat())
    }

    /// Ends the connection, in both directions.
    pub fn close(&self) {
        self.socket.shut_down(Shutdown::Both);
    }

    /// Says that nothing more comes. What the other end says is still heard.
    pub fn finish(&self) {
        self.socket.shut_down(Shutdown::Write);
    }
}

impl Receiver {
    /// The next frame; nothing at the end of the connection.
    ///
    /// # Errors
    /// If it is broken, or the frame was not made with the same key.
    pub fn receive(&mut self) -> io::Result<Option<Frame>> {
        let mut len = [0; 4];
        match self.socket.read_all(&mut len, self.deadline) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            result => result?,
        }
        let len = u32::from_le_bytes(len) as usize;
        if len > FRAME_BYTES_MAX + TAG_BYTES {
            return Err(io::Error::other("a frame is too long"));
        }
        let mut bytes = vec![0; len];
        self.socket.read_all(&mut bytes, self.deadline)?;
        let content = match &mut self.seal {
            Some(seal) => {
                let nonce = seal.nonce();
                let opened = seal.key.open_in_place(nonce, Aad::empty(), &mut bytes);
                opened.map_err(|_| io::Error::other("the two ends have different keys"))?
            }
            None => &mut bytes,
        };
        let frame = Frame::from_bytes(content);
        frame
            .map(Some)
            .ok_or_else(|| io::Error::other("a frame makes no sense"))
    }

    /// From now on it waits for frames without a time limit.
    ///
    /// # Errors
    /// As the system says.
    pub fn be_patient(&mut self) -> io::Result<()> {
        self.deadline = None;
        self.socket.set_timeout(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: Option<&str>, b: Option<&str>) -> [(Sender, Receiver); 2] {
        let (here, there) = UnixStream::pair().unwrap();
        let secret = |text: Option<&str>| text.map(|text| Secret::new(text.into()));
        let (a, b) = (secret(a), secret(b));
        std::thread::scope(|scope| {
            let lender =
                scope.spawn(move || open(Socket::Unix(there), End::Lender, b.as_ref()).unwrap());
            let borrower = open(Socket::Unix(here), End::Borrower, a.as_ref()).unwrap();
            [borrower, lender.join().unwrap()]
        })
    }

    #[test]
    fn frames_arrive_as_they_were_sent() {
        for secret in [None, Some("one key")] {
            let [(mut to, mut back), (mut answer, mut from)] = pair(secret, secret);
            let frames = [
                Frame::Ask(vec![1, 2]),
                Frame::Granted,
                Frame::Over("why".into()),
                Frame::Pmi(vec![0; 70_000]),
            ];
            for frame in &frames {
                to.send(frame).unwrap();
                assert_eq!(from.receive().unwrap().as_ref(), Some(frame));
                answer.send(frame).unwrap();
                assert_eq!(back.receive().unwrap().as_ref(), Some(frame));
            }
            to.close();
            assert_eq!(from.receive().unwrap(), None);
        }
    }

    #[test]
    fn another_key_opens_nothing() {
        let [(mut to, _), (_, mut from)] = pair(Some("one key"), Some("another key"));
        to.send(&Frame::Granted).unwrap();
        let error = from.receive().unwrap_err().to_string();
        assert_eq!(error, "the two ends have different keys");
    }

    /// A byte now and then is no reason to wait longer.
    #[test]
    fn the_first_exchange_ends_whatever_the_other_end_doles_out() {
        let (here, mut there) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let doled = scope.spawn(move || {
                while there.write_all(&[MAGIC[0]]).is_ok() {
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let deadline = Instant::now() + Duration::from_millis(50);
            let mut bytes = vec![0; 1 << 20];
            let mut socket = Socket::Unix(here);
            let error = socket.read_all(&mut bytes, Some(deadline)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(socket);
            doled.join().unwrap();
        });
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        for bytes in [&[][..], &[0], &[9, 1], &[2, 1]] {
            assert_eq!(Frame::from_bytes(bytes), None, "{bytes:?}");
        }
        let (here, there) = UnixStream::pair().unwrap();
        let (_, mut from) = open(Socket::Unix(there), End::Lender, None).unwrap();
        let mut here = here;
        here.write_all(&u32::MAX.to_le_bytes()).unwrap();
        assert!(from.receive().is_err());
    }
}
