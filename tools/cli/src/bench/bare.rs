//! The speed of a wire between hosts without the code of hostwire: bare frames, bare
//! datagrams or a TCP stream between the two PEs of a benchmark.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use hostwire::settings::WireName;
use hostwire::{Compare, EnvironmentFault, Error, Result};
use hostwire_frames::limits::{self, BareEther};
use hostwire_frames::{Interface, MacAddress};
use hostwire_transport::TransportError;

use super::measure::Loop;
use super::pe::{Context, time};
use super::stream::{Stream, word_of};

/// IEEE 802: local experimental EtherType 2. The first one is the wire's.
const ETHER_TYPE: u16 = 0x88b6;
/// Longer data does not fit into a frame of any wire, and goes over the stream.
const DATAGRAM_BYTES_MAX: usize = 1400;
/// Ends a hang: no side is silent for so long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Looks between looks at the clock.
const LOOKS: u32 = 20_000;
/// A datagram begins with the number of its round.
const HEAD_BYTES: usize = 1;

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
        /// For longer data: nobody sends a stream one datagram at a time.
        stream: Stream,
    },
}

impl Bare {
    /// Opens a socket here and there. Both PEs have to call it.
    pub fn open(bench: &Context) -> Result<Self> {
        let interface = Interface::choose(None)?;
        if matches!(
            bench.wire(),
            WireName::Udp | WireName::Tcp | WireName::Fabric
        ) {
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

    /// Round trips of `size` bytes: of one frame, or of as many as it takes.
    pub fn ping_pong<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        match self {
            Self::Ip { datagrams, .. } if size as usize <= DATAGRAM_BYTES_MAX => {
                datagrams.ping_pong(bench, size)
            }
            Self::Ip { stream, .. } => stream.ping_pong(bench, size),
            Self::Frames(end) => vec![Box::new(move |n| {
                let half_ns = limits::ping_pong(end, bench.side(), size as usize, n)?;
                Ok(Duration::from_secs_f64(half_ns * 2.0 * n as f64 / 1e9))
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
                let per_second = limits::frames_per_second(end, bench.side(), len, frames)?;
                Ok(Duration::from_secs_f64(frames as f64 / per_second))
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

    /// One datagram at a time on a cable: none is lost.
    fn ping_pong<'a>(&'a mut self, bench: &'a Context, size: u64) -> Vec<Loop<'a>> {
        let mut out = vec![0; (size as usize).max(HEAD_BYTES)];
        vec![Box::new(move |n| {
            self.begin(&mut out);
            time(|| {
                for _ in 0..n {
                    if bench.is_first() {
                        self.send(&out)?;
                        self.receive()?;
                    } else {
                        self.receive()?;
                        self.send(&out)?;
                    }
                }
                Ok(())
            })
        })]
    }

    /// Begins a round. Datagrams that are left from the round before do not count.
    fn begin(&mut self, out: &mut [u8]) {
        self.round = self.round.wrapping_add(1);
        if let Some(head) = out.first_mut() {
            *head = self.round;
        }
    }

    /// Tries again until the kernel takes it.
    fn send(&self, datagram: &[u8]) -> Result<()> {
        until(|| match self.socket.send(datagram) {
            Ok(_) => Ok(Some(())),
            Err(error) if is_for_now(&error) => Ok(None),
            Err(error) => Err(failed(error)),
        })
    }

    /// Waits until a datagram of this round has come.
    fn receive(&self) -> Result<()> {
        let mut buffer = [0; DATAGRAM_BYTES_MAX];
        until(|| match self.socket.recv(&mut buffer) {
            Ok(len) => Ok(buffer
                .get(..len)
                .and_then(<[u8]>::first)
                .filter(|head| **head == self.round)
                .map(|_| ())),
            Err(error) if is_for_now(&error) => Ok(None),
            Err(error) => Err(failed(error)),
        })
    }
}

/// Looks again and again, but not for ever.
fn until(mut look: impl FnMut() -> Result<Option<()>>) -> Result<()> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        for _ in 0..LOOKS {
            if look()?.is_some() {
                return Ok(());
            }
        }
    }
    Err(silent())
}

/// Whether there was no room, or no datagram, at this moment.
fn is_for_now(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    let is_full = error.raw_os_error() == Some(rustix::io::Errno::NOBUFS.raw_os_error());
    is_full || matches!(error.kind(), WouldBlock | Interrupted)
}

pub fn failed(error: io::Error) -> Error {
    TransportError::environment("measuring the limit with a bare socket", error).into()
}

pub fn silent() -> Error {
    let within = format_args!(
        "an answer of the other side within {} s",
        PATIENCE.as_secs()
    );
    let fault = EnvironmentFault::unexpected(within, "none");
    TransportError::environment("measuring the limit", fault).into()
}
