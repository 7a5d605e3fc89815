//! The speed of a wire between hosts without the code of hostwire: bare frames, bare
//! datagrams or a TCP stream between the two PEs of a benchmark.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use hostwire::{Compare, EnvironmentFault, Error, Result};
use hostwire_transport::TransportError;
use hostwire_transport::ether::{Interface, MacAddress};
use hostwire_transport::limits::ether::{self, BareEther};

use super::measure::Loop;
use super::pe::{Context, time};
use super::stream::{Stream, word_of};
use hostwire::settings::Wire;

/// IEEE 802: local experimental EtherType 2. The first one is the wire's.
const ETHER_TYPE: u16 = 0x88b6;
/// Longest datagram.
const BUFFER_BYTES: usize = 2048;
/// Ends a hang: no side is silent for so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Looks between looks at the clock.
const LOOKS: u32 = 20_000;
/// A datagram begins with what it is and the number of its round.
const HEAD_BYTES: usize = 2;
const DATA: u8 = 1;
const END: u8 = 2;
const COUNT: u8 = 3;

/// Opens packet sockets for a PE that has given up the right to do so by then.
pub struct Opener {
    ask: Sender<(Interface, MacAddress)>,
    answer: Receiver<std::result::Result<BareEther, TransportError>>,
}

impl Opener {
    /// Has to be made before the PE attaches to its job.
    pub fn new() -> Self {
        let (ask, asked) = channel::<(Interface, MacAddress)>();
        let (give, answer) = channel();
        std::thread::spawn(move || {
            for (interface, peer) in asked {
                let opened = BareEther::open(&interface, ETHER_TYPE, peer);
                if give.send(opened).is_err() {
                    return;
                }
            }
        });
        Self { ask, answer }
    }

    fn open(&self, interface: Interface, peer: MacAddress) -> Result<BareEther> {
        let gone = || failed(io::Error::other("the thread that opens sockets has ended"));
        self.ask.send((interface, peer)).map_err(|_| gone())?;
        Ok(self.answer.recv().map_err(|_| gone())??)
    }
}

/// A bare socket to the other PE.
pub enum Bare {
    /// Of the wire ether.
    Frames(Box<BareEther>),
    /// Of the wires udp, tcp and fabric.
    Ip {
        /// For what is as long as a frame.
        datagrams: Datagrams,
        /// For what is longer: nobody streams by handing every datagram to the kernel alone.
        stream: Stream,
    },
}

impl Bare {
    /// Opens a socket here and there. Both PEs have to call it.
    pub fn open(bench: &Context) -> Result<Self> {
        let interface = Interface::choose(None)?;
        if matches!(bench.wire(), Wire::Udp | Wire::Tcp | Wire::Fabric) {
            return Ok(Self::Ip {
                datagrams: Datagrams::open(bench, &interface)?,
                stream: Stream::open(bench, interface.address()?)?,
            });
        }
        let [a, b, c, d, e, f] = interface.station.0;
        let theirs = exchange(bench, u64::from_be_bytes([0, 1, a, b, c, d, e, f]))?;
        let [_, _, a, b, c, d, e, f] = theirs.to_be_bytes();
        let peer = MacAddress([a, b, c, d, e, f]);
        let opened = bench.opener.open(interface, peer)?;
        // No side sends before both are ready.
        bench.job.barrier()?;
        Ok(Self::Frames(Box::new(opened)))
    }

    /// Round trips of `size` bytes.
    pub fn ping_pong<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        match self {
            Self::Ip { datagrams, .. } => datagrams.ping_pong(bench, size),
            Self::Frames(end) => vec![Box::new(move |n| {
                time(|| {
                    ether::ping_pong(end, bench.side(), size as usize, n)?;
                    Ok(())
                })
            })],
        }
    }

    /// One frame for each `size` bytes.
    pub fn frames_of<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        match self {
            Self::Ip { datagrams, .. } => datagrams.flood(bench, size),
            Self::Frames(end) => vec![Box::new(move |n| {
                time(|| {
                    ether::frames_per_second(end, bench.side(), size as usize, n)?;
                    Ok(())
                })
            })],
        }
    }

    /// Full frames, enough for `size` bytes each turn, or a stream of as many bytes.
    pub fn flood_of<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        match self {
            Self::Ip { stream, .. } => stream.flood(bench, size),
            Self::Frames(end) => vec![Box::new(move |n| {
                let len = end.frame_len_max();
                let frames = (n * size).div_ceil(len as u64);
                time(|| {
                    ether::flood(end, bench.side(), len, frames)?;
                    Ok(())
                })
            })],
        }
    }
}

/// Gives the other PE a word that is not 0, and returns its.
pub fn exchange(bench: &Context, word: u64) -> Result<u64> {
    let words = bench.job.alloc::<u64>(1)?;
    words.put(bench.peer(), 0, &[word])?;
    words.wait_until(0, Compare::Ne, 0)?;
    let theirs = words.load(0)?;
    bench.job.barrier()?;
    words.free()?;
    Ok(theirs)
}

/// A UDP socket that is connected to the other PE.
pub struct Datagrams {
    socket: UdpSocket,
    round: u8,
}

impl Datagrams {
    fn open(bench: &Context, interface: &Interface) -> Result<Self> {
        let socket = UdpSocket::bind((interface.address()?, 0)).map_err(failed)?;
        let own = socket.local_addr().map_err(failed)?;
        let theirs = exchange(bench, word_of(&own))?;
        let peer = (Ipv4Addr::from_bits((theirs >> 16) as u32), theirs as u16);
        let connect = || {
            socket.connect(peer)?;
            socket.set_nonblocking(true)
        };
        connect().map_err(failed)?;
        Ok(Self { socket, round: 0 })
    }

    /// A cable with one datagram on it loses nothing.
    fn ping_pong<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        let mut buffer = [0; BUFFER_BYTES];
        let mut out = vec![0; (size as usize).max(HEAD_BYTES)];
        vec![Box::new(move |n| {
            self.begin(&mut out);
            time(|| {
                for _ in 0..n {
                    if bench.is_first() {
                        self.send(&out);
                        self.receive(&mut buffer)?;
                    } else {
                        self.receive(&mut buffer)?;
                        self.send(&out);
                    }
                }
                Ok(())
            })
        })]
    }

    fn flood<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        let mut buffer = [0; BUFFER_BYTES];
        let mut out = vec![0; (size as usize).max(HEAD_BYTES)];
        vec![Box::new(move |n| {
            self.begin(&mut out);
            if !bench.is_first() {
                return time(|| self.sink(&mut buffer));
            }
            let mut arrived = 0;
            let took = time(|| {
                for _ in 0..n {
                    self.send(&out);
                }
                arrived = self.ask(&mut buffer)?;
                Ok(())
            })?;
            // Only frames that arrive count.
            Ok(took.mul_f64(n as f64 / arrived.max(1) as f64))
        })]
    }

    /// A new round, so that what is left of the one before is no part of it.
    fn begin(&mut self, out: &mut [u8]) {
        self.round = self.round.wrapping_add(1);
        if let Some((head, _)) = out.split_first_chunk_mut() {
            *head = [DATA, self.round];
        }
    }

    /// Counts until the end is announced, and answers.
    fn sink(&self, buffer: &mut [u8]) -> Result<()> {
        let mut arrived = 0_u64;
        loop {
            match self.receive(buffer)? {
                (END, _) => break,
                (DATA, _) => arrived += 1,
                _ => {}
            }
        }
        let mut answer = vec![COUNT, self.round];
        answer.extend(arrived.to_ne_bytes());
        self.send(&answer);
        Ok(())
    }

    /// Announces the end and waits for the answer. The other one takes what comes before
    /// in order, so that the end cannot be lost for want of room twice.
    fn ask(&self, buffer: &mut [u8]) -> Result<u64> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            self.send(&[END, self.round]);
            for _ in 0..LOOKS {
                let Some((COUNT, rest)) = self.look(buffer) else {
                    continue;
                };
                if let Ok(count) = rest.try_into() {
                    return Ok(u64::from_ne_bytes(count));
                }
            }
        }
        Err(silent())
    }

    /// Until it is taken.
    fn send(&self, datagram: &[u8]) {
        while self.socket.send(datagram).is_err() {}
    }

    fn receive<'b>(&self, buffer: &'b mut [u8]) -> Result<(u8, &'b [u8])> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            for _ in 0..LOOKS {
                if let Some((kind, rest)) = self.look(buffer) {
                    // Looked up again: a borrow cannot leave the loop.
                    let len = rest.len();
                    let rest = buffer.get(HEAD_BYTES..HEAD_BYTES + len);
                    return Ok((kind, rest.unwrap_or_default()));
                }
            }
        }
        Err(silent())
    }

    /// A datagram of this round, if there is one: its kind, and what is behind its head.
    fn look<'b>(&self, buffer: &'b mut [u8]) -> Option<(u8, &'b [u8])> {
        let len = self.socket.recv(buffer).ok()?;
        match buffer.get(..len)?.split_first_chunk()? {
            ([kind, round], rest) if *round == self.round => Some((*kind, rest)),
            _ => None,
        }
    }
}

pub fn failed(error: io::Error) -> Error {
    TransportError::environment("opening a socket for the limit", error).into()
}

pub fn silent() -> Error {
    let within = format_args!(
        "an answer of the other side within {} s",
        PATIENCE.as_secs()
    );
    let fault = EnvironmentFault::unexpected(within, "none");
    TransportError::environment("measuring the limit", fault).into()
}
