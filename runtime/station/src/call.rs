//! How two stations of different hosts meet: over TCP, in sealed frames (`docs/wire/sealed.md`).
//!
//! | who | what |
//! |---|---|
//! | the called | [`MAGIC`], 16 bytes that it draws for this call |
//! | the caller | 16 bytes that it draws, a length of 2 bytes, a sealed frame: [`Hello`] |
//! | the called | a length of 2 bytes, a sealed frame: [`Answer`] |
//!
//! The caller is node 0 and the called is node 1. The drawn bytes are their lives, and the key is that in the
//! name of the called. So recorded frames of an earlier call do not open. A caller without the key gets no
//! answer. Numbers are little-endian.
//!
//! | hello, bytes | |
//! |---|---|
//! | 0 to 63 | the [name](Name) of the caller |
//! | 64 to 67 | its number for the called |
//! | 68 to 83 | its terms: version, bytes of a segment |
//! | 84 | 1 if its frames are sealed, 0 if they are bare |
//! | 85 and more | where its frames come from and go to: an [`Address`], as text |
//!
//! | answer, bytes | |
//! |---|---|
//! | 0 to 3 | its number for the caller; 0: it refuses |
//! | 4 and more | its address as text, or why it refuses |

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use hostwire_frames::Address;
use hostwire_link::seal::{End, JobKey, Life, Numbers, OVERHEAD, Seals};
use hostwire_link::{Called, Node};
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::os::random;
use hostwire_transport::printable;
use hostwire_transport::shm::key::Key;

use super::{Name, PEERS_MAX, Terms};

/// "hwcall" and the version of this exchange.
const MAGIC: [u8; 8] = *b"hwcall\0\x01";
/// The length of the first message of the called.
const GREETING_BYTES: usize = MAGIC.len() + DRAWN_BYTES;
const DRAWN_BYTES: usize = 16;
const LENGTH_BYTES: usize = 2;
/// The longest frame that is accepted.
const FRAME_BYTES_MAX: usize = 1024;
/// The longest text in one.
const TEXT_BYTES_MAX: usize = FRAME_BYTES_MAX - OVERHEAD - HELLO_BYTES_MIN;
const HELLO_BYTES_MIN: usize = Name::BYTES + 4 + 16 + 1;
const ANSWER_BYTES_MIN: usize = 4;
const CALLER: Node = Node(0);
const CALLED: Node = Node(1);

/// The message of the calling station.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hello {
    pub(crate) from: Name,
    /// Its number for the other one.
    pub(crate) number: PeId,
    pub(crate) terms: Terms,
    pub(crate) is_sealed: bool,
    pub(crate) address: Address,
}

impl Hello {
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let Terms {
            version,
            segment_bytes,
        } = self.terms;
        let mut bytes = self.from.to_bytes().to_vec();
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(version.to_le_bytes());
        bytes.extend(segment_bytes.to_le_bytes());
        bytes.push(self.is_sealed.into());
        bytes.extend(self.address.to_string().into_bytes());
        bytes
    }

    /// `None` for bytes that are none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (name, rest) = bytes.split_first_chunk::<{ Name::BYTES }>()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (segment_bytes, rest) = rest.split_first_chunk()?;
        let (is_sealed, address) = rest.split_first()?;
        Some(Self {
            from: Name::from_bytes(name)?,
            number: numbered(u32::from_le_bytes(*number))?,
            terms: Terms {
                version: u64::from_le_bytes(*version),
                segment_bytes: u64::from_le_bytes(*segment_bytes),
            },
            is_sealed: match is_sealed {
                0 => false,
                1 => true,
                _ => return None,
            },
            address: parse_address(address)?,
        })
    }
}

/// The answer of the called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Met {
        /// Its number for the caller.
        number: PeId,
        address: Address,
    },
    Refused {
        why: Box<str>,
    },
}

impl Answer {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let (number, text) = match self {
            Self::Met { number, address } => (*number, address.to_string()),
            Self::Refused { why } => (0, printable(why)),
        };
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.extend(text.bytes().take(TEXT_BYTES_MAX));
        bytes
    }

    /// `None` for bytes that are none.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (number, text) = bytes.split_first_chunk::<ANSWER_BYTES_MIN>()?;
        match u32::from_le_bytes(*number) {
            0 => {
                let why = printable(&String::from_utf8_lossy(text)).into();
                Some(Self::Refused { why })
            }
            number => Some(Self::Met {
                number: numbered(number)?,
                address: parse_address(text)?,
            }),
        }
    }
}

/// A number that a station can give another: 0 is itself.
fn numbered(number: u32) -> Option<PeId> {
    (1..PEERS_MAX).contains(&number).then_some(number)
}

fn parse_address(text: &[u8]) -> Option<Address> {
    let text = core::str::from_utf8(text).ok()?;
    text.parse().ok()
}

/// Each of the two seals only one frame in a call, under keys that are used for nothing else.
#[derive(Debug, Default)]
struct Once {
    is_used: bool,
}

impl Numbers for Once {
    fn next(&mut self, _: Node) -> Option<u64> {
        (!core::mem::replace(&mut self.is_used, true)).then_some(0)
    }

    fn is_copy(&self) -> bool {
        false
    }
}

type Drawn = [u8; DRAWN_BYTES];

/// One end of a call: the caller's, or the called one's.
fn seals(own: Node, key: Key, caller: Drawn, called: Drawn) -> Seals<Once> {
    let (caller, called) = (
        End {
            node: CALLER,
            life: Life(caller),
        },
        End {
            node: CALLED,
            life: Life(called),
        },
    );
    let mut job = [0; 32];
    let [low, high] = key.to_words();
    job[..8].copy_from_slice(&low.to_le_bytes());
    job[8..16].copy_from_slice(&high.to_le_bytes());
    let ends = match own == CALLER {
        true => [caller, called],
        false => [called, caller],
    };
    let peer = ends[1].node;
    let mut seals = Seals::alone(own, Once::default());
    seals.join(peer, Called { own, peer }, &JobKey::new(job), ends);
    seals
}

/// The bytes to send: the length and the sealed frame.
fn sealed(seals: &mut Seals<Once>, peer: Node, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let len = bytes.len() + OVERHEAD;
    let mut frame = vec![0; LENGTH_BYTES + len];
    let (length, place) = frame.split_at_mut(LENGTH_BYTES);
    length.copy_from_slice(&(len as u16).to_le_bytes());
    seals.seal(peer, bytes, place).map_err(io::Error::other)?;
    Ok(frame)
}

/// The frame at the beginning of the received bytes; `None` if it is not complete.
fn frame(bytes: &mut [u8]) -> io::Result<Option<&mut [u8]>> {
    let Some((length, rest)) = bytes.split_first_chunk_mut::<LENGTH_BYTES>() else {
        return Ok(None);
    };
    let len = usize::from(u16::from_le_bytes(*length));
    match len {
        0..=FRAME_BYTES_MAX => Ok(rest.get_mut(..len)),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The result of a call.
#[derive(Debug)]
pub(super) enum Call {
    Answered(TcpStream, Answer),
    /// The connection has ended without an answer.
    Closed,
    /// No process listens there any more.
    NobodyThere,
}

/// Calls a station, and reads its answer.
///
/// # Errors
/// The error of the system.
pub(super) fn call(
    at: SocketAddr,
    key: Key,
    hello: &Hello,
    deadline: Instant,
) -> Result<Call, TransportError> {
    let failed = |e: io::Error| {
        let what = format!("calling a station at {at}");
        TransportError::environment(what, e)
    };
    let mut stream = match TcpStream::connect_timeout(&at, left(deadline)) {
        Ok(stream) => stream,
        Err(e) => return unconnected(&e).ok_or_else(|| failed(e)),
    };
    let mut talk = || -> io::Result<Option<Answer>> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(left(deadline)))?;
        let mut greeting = [0; GREETING_BYTES];
        let Some(()) = read_all(&mut stream, &mut greeting, deadline)? else {
            return Ok(None);
        };
        let (magic, called) = greeting.split_at(MAGIC.len());
        let Ok(called) = Drawn::try_from(called) else {
            return Ok(None);
        };
        if magic != MAGIC {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "no station of this version listens there",
            ));
        }
        let caller: Drawn = random().map_err(io::Error::other)?;
        let mut seals = seals(CALLER, key, caller, called);
        let mut first = caller.to_vec();
        first.extend(sealed(&mut seals, CALLED, &hello.to_bytes())?);
        stream.write_all(&first)?;
        let mut length = [0; LENGTH_BYTES];
        let Some(()) = read_all(&mut stream, &mut length, deadline)? else {
            return Ok(None);
        };
        let len = usize::from(u16::from_le_bytes(length));
        let mut bytes = vec![0; len.min(FRAME_BYTES_MAX)];
        let Some(()) = read_all(&mut stream, &mut bytes, deadline)? else {
            return Ok(None);
        };
        let opened = seals.open(&mut bytes).ok();
        let answer = opened.and_then(|(_, answer)| Answer::parse(answer));
        let unclear = || io::Error::new(io::ErrorKind::InvalidData, "its answer is none");
        answer.map(Some).ok_or_else(unclear)
    };
    match talk() {
        Ok(Some(answer)) => Ok(Call::Answered(stream, answer)),
        Ok(None) => Ok(Call::Closed),
        Err(e) if is_end(&e) => Ok(Call::Closed),
        Err(e) => Err(failed(e)),
    }
}

/// Not 0, which would be no limit.
fn left(deadline: Instant) -> Duration {
    let left = deadline.saturating_duration_since(Instant::now());
    left.max(Duration::from_millis(1))
}

/// The result of a call without a connection. `None` if the error is not caused by the called station.
fn unconnected(error: &io::Error) -> Option<Call> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(Call::NobodyThere),
        // The kernel there accepted it, and then its process ended.
        _ if is_end(error) => Some(Call::Closed),
        _ => None,
    }
}

fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    [BrokenPipe, ConnectionReset].contains(&error.kind())
}

/// `None` if the connection ends before the buffer is full.
fn read_all(
    stream: &mut TcpStream,
    mut place: &mut [u8],
    deadline: Instant,
) -> io::Result<Option<()>> {
    while !place.is_empty() {
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left(deadline)))?;
        match stream.read(place) {
            Ok(0) => return Ok(None),
            Ok(len) => place = place.get_mut(len..).unwrap_or_default(),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(Some(()))
}

/// An accepted connection whose other end has not identified itself yet. Nothing here waits.
pub(super) struct Incoming {
    pub(super) stream: TcpStream,
    drawn: Drawn,
    got: Vec<u8>,
}

/// The state of one.
pub(super) enum Said {
    /// More has to come.
    Nothing,
    /// It has shown the key.
    Hello(Box<Hello>, Reply),
    /// It is not accepted.
    Stranger,
}

/// What an answer needs.
pub(super) struct Reply(Seals<Once>);

impl Incoming {
    /// Greets a caller.
    pub(super) fn greet(mut stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let drawn: Drawn = random().map_err(io::Error::other)?;
        // Nothing was sent before, so there is room for the whole greeting.
        stream.write_all(&[&MAGIC[..], &drawn].concat())?;
        Ok(Self {
            stream,
            drawn,
            got: Vec::new(),
        })
    }

    /// Reads what has come.
    pub(super) fn read(&mut self, key: Key) -> Said {
        const ALL_MAX: usize = DRAWN_BYTES + LENGTH_BYTES + FRAME_BYTES_MAX;
        let mut place = [0; ALL_MAX + 1];
        match self.stream.read(&mut place) {
            Ok(0) => return Said::Stranger,
            Ok(len) => self.got.extend(place.get(..len).unwrap_or_default()),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Said::Nothing,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Said::Nothing,
            Err(_) => return Said::Stranger,
        }
        if self.got.len() > ALL_MAX {
            return Said::Stranger;
        }
        let Some((caller, rest)) = self.got.split_first_chunk_mut() else {
            return Said::Nothing;
        };
        let caller = *caller;
        let frame = match frame(rest) {
            Ok(Some(frame)) => frame,
            Ok(None) => return Said::Nothing,
            Err(_) => return Said::Stranger,
        };
        let mut seals = seals(CALLED, key, caller, self.drawn);
        let opened = seals.open(frame).ok();
        match opened.and_then(|(_, hello)| Hello::parse(hello)) {
            Some(hello) => Said::Hello(Box::new(hello), Reply(seals)),
            None => Said::Stranger,
        }
    }

    /// Sends an answer. Returns whether it has been sent.
    pub(super) fn answer(&mut self, mut reply: Reply, answer: &Answer) -> bool {
        let frame = sealed(&mut reply.0, CALLER, &answer.to_bytes());
        // As in `greet`: there is room.
        frame.is_ok_and(|frame| self.stream.write_all(&frame).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const TERMS: Terms = Terms {
        version: 3,
        segment_bytes: 1 << 20,
    };

    fn hello(from: Name) -> Hello {
        Hello {
            from,
            number: 5,
            terms: TERMS,
            is_sealed: true,
            address: "udp=10.9.0.1:4000".parse().unwrap(),
        }
    }

    #[test]
    fn hellos_and_answers_come_back_and_nothing_else_is_one() {
        let from = Name::draw(Some("10.9.0.1:99".parse().unwrap())).unwrap();
        let bytes = hello(from).to_bytes();
        let read = Hello::parse(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!((read.number, read.terms, read.is_sealed), (5, TERMS, true));
        for at in 0..bytes.len() {
            let is_one = Hello::parse(&bytes[..at]).is_some();
            // Addresses are text, and a truncated one may still be valid.
            assert_eq!(is_one, (99..).contains(&at), "{at}");
        }
        for (at, value) in [(0, 1), (64, 0), (66, 9), (84, 2), (85, 9)] {
            let mut bad = bytes.clone();
            bad[at] = value;
            assert!(Hello::parse(&bad).is_none(), "{at}");
        }
        let address = "udp=10.9.0.1:4000".parse().unwrap();
        let why = "no".into();
        for answer in [Answer::Met { number: 7, address }, Answer::Refused { why }] {
            assert_eq!(Answer::parse(&answer.to_bytes()), Some(answer));
        }
        assert_eq!(Answer::parse(&[1, 0, 0]), None);
        assert_eq!(Answer::parse(&[1, 0, 0, 0]), None);
        let long = Answer::Refused {
            why: "x".repeat(5000).into(),
        };
        assert!(long.to_bytes().len() + OVERHEAD <= FRAME_BYTES_MAX);
    }

    /// A call that shows the key `shown` to a station with the key `key`. Returns whether the station accepts
    /// it, and the result of the caller.
    fn try_call(key: Key, shown: Key) -> (bool, Result<Option<Answer>, TransportError>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let from = Name::draw(None).unwrap();
        let called = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut incoming = Incoming::greet(stream).unwrap();
            loop {
                match incoming.read(key) {
                    Said::Nothing => std::thread::yield_now(),
                    Said::Stranger => return false,
                    Said::Hello(hello, reply) => {
                        assert_eq!(hello.number, 5);
                        let (number, address) = (9, hello.address);
                        assert!(incoming.answer(reply, &Answer::Met { number, address }));
                        return true;
                    }
                }
            }
        });
        let deadline = Instant::now() + Duration::from_secs(60);
        let answer = call(at, shown, &hello(from), deadline);
        let answer = answer.map(|called| match called {
            Call::Answered(_, answer) => Some(answer),
            Call::Closed | Call::NobodyThere => None,
        });
        (called.join().unwrap(), answer)
    }

    #[test]
    fn who_has_the_key_is_answered_and_nobody_else() {
        let (key, other) = (Key::new(77 << 70 | 5), Key::new(77 << 70 | 4));
        let (heard, answer) = try_call(key, key);
        let address = "udp=10.9.0.1:4000".parse().unwrap();
        let number = 9;
        assert!(heard);
        assert_eq!(answer, Ok(Some(Answer::Met { number, address })));
        assert_eq!(try_call(key, other), (false, Ok(None)));
    }

    /// So it is called again, and found to have ended: then operations that wait for it end.
    #[test]
    fn who_ends_before_the_connection_is_seen_has_closed_it() {
        use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, TimedOut};
        let unconnected = |kind: io::ErrorKind| unconnected(&kind.into());
        assert!(matches!(
            unconnected(ConnectionRefused),
            Some(Call::NobodyThere)
        ));
        for kind in [ConnectionReset, BrokenPipe] {
            assert!(matches!(unconnected(kind), Some(Call::Closed)), "{kind}");
        }
        assert!(unconnected(TimedOut).is_none());
    }

    #[test]
    fn what_was_recorded_opens_nothing() {
        let key = Key::new(5);
        let [first, second, third] = [[1; 16], [2; 16], [3; 16]];
        let mut frame = sealed(&mut seals(CALLER, key, first, second), CALLED, b"frame").unwrap();
        let body = &mut frame[LENGTH_BYTES..];
        let opens = |called| {
            seals(CALLED, key, first, called)
                .open(&mut body.to_vec())
                .is_ok()
        };
        assert!(opens(second) && !opens(third));
        // Nor does an answer open as a hello, or the other way round.
        let mut answer = sealed(&mut seals(CALLED, key, first, second), CALLER, b"frame").unwrap();
        let answer = &mut answer[LENGTH_BYTES..];
        assert!(seals(CALLED, key, first, second).open(answer).is_err());
    }
}
