//! Whether hosts hear each other over a wire, with short frames and with those of full length: for `hostwire doctor`.
//!
//! Each host sends both to each other host again and again, and says in them what it has heard. So each learns whether its
//! own frames arrive, and, from the times in them, how the clocks differ.

use core::fmt;
use core::time::Duration;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use hostwire_bootstrap::{Bootstrap, LaunchError, all_gather, unclear};
use hostwire_packet::htoe::sealed;
use hostwire_transport::os::random;
use hostwire_transport::{TransportError, printable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::sockets::Open;
use crate::{Address, FrameWire, Interface, Socket};

/// Between two rounds of frames.
const ROUND: Duration = Duration::from_millis(20);
/// Rounds after all have heard each other: the last frames of this host may be lost.
const LAST_ROUNDS: u32 = 3;
/// A short frame, behind the header.
const SHORT_BYTES: usize = 64;

/// What a host offers on a wire: the length of its longest frame in bytes, or why it cannot use it.
pub type Offer = Result<usize, String>;

/// What a host has found out about its way from another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heard {
    /// The longest frame that came, in bytes; 0 if none did.
    pub longest_bytes: usize,
    /// The longest frame that the other host could have sent.
    pub full_bytes: usize,
    /// By how much its clock is ahead.
    pub clock: Option<Clock>,
}

/// How another clock differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// It shows so many nanoseconds more.
    pub ahead_ns: i64,
    /// It may be off by so many nanoseconds.
    pub error_ns: u64,
}

/// What all hosts have found out about a wire. Each host has one PE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// By host.
    pub offers: Vec<Offer>,
    /// By host that has heard, then by host that was heard. Nothing about itself.
    pub heard: Vec<Vec<Heard>>,
}

/// Tries `wire` between all PEs of a job, each on a host of its own, for at most `limit`. All call it together. A host that
/// has no interface says why.
///
/// # Errors
/// Errors of the launcher, and values of other PEs that make no sense.
pub fn attempt(
    launcher: &mut dyn Bootstrap,
    wire: FrameWire,
    interfaces: Result<&[Interface], &TransportError>,
    ether_type: u16,
    limit: Duration,
) -> Result<Trial, LaunchError> {
    let (host, hosts) = (launcher.rank(), launcher.size());
    let socket = interfaces.map_err(ToString::to_string).and_then(|found| {
        let open = Open {
            interfaces: found,
            ether_type,
            faults: None,
            host,
            hosts,
        };
        open.socket(wire).map_err(|error| error.to_string())
    });
    let own = Card::of(&socket);
    let cards = all_gather(
        launcher,
        &format!("trial-{wire}"),
        own.to_string().as_bytes(),
    )?;
    let cards = (0..).zip(&cards).map(|(pe, text)| Card::parse(pe, text));
    let cards: Vec<Card> = cards.collect::<Result<_, _>>()?;
    let heard = match socket {
        Ok(socket) => Exchange::new(socket, host, &cards)
            .map(|exchange| exchange.run(limit))
            .unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let heard = heard_text(&heard, hosts as usize);
    let all = all_gather(launcher, &format!("heard-{wire}"), heard.as_bytes())?;
    let all = (0..)
        .zip(&all)
        .map(|(pe, text)| parse_heard(pe, text, hosts));
    Ok(Trial {
        heard: all.collect::<Result<_, _>>()?,
        offers: cards.into_iter().map(Card::offer).collect(),
    })
}

/// What a host publishes about itself: a random number, and its address with the length of its longest frame, or why it
/// has none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Card {
    trial: u64,
    offer: Result<(usize, Address), String>,
}

impl Card {
    fn of(socket: &Result<Socket, String>) -> Self {
        let offer = |socket: &Socket| (socket.frame_len_max(), socket.address());
        Self {
            trial: random().map(u64::from_ne_bytes).unwrap_or_default(),
            offer: socket.as_ref().map(offer).map_err(Clone::clone),
        }
    }

    fn parse(pe: u32, text: &[u8]) -> Result<Self, LaunchError> {
        let text = String::from_utf8_lossy(text);
        let read = || {
            let (trial, rest) = text.split_once(' ')?;
            let offer = match rest.strip_prefix("! ") {
                Some(why) => Err(printable(why)),
                None => {
                    let (len, address) = rest.split_once(' ')?;
                    Ok((len.parse().ok()?, address.parse().ok()?))
                }
            };
            let trial = trial.parse().ok()?;
            Some(Self { trial, offer })
        };
        read().ok_or_else(|| unclear(pe, &text))
    }

    fn offer(self) -> Offer {
        self.offer.map(|(len, _)| len)
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let trial = self.trial;
        match &self.offer {
            Ok((len, address)) => write!(f, "{trial} {len} {address}"),
            Err(why) => write!(f, "{trial} ! {why}"),
        }
    }
}

/// `1500/1500/-120/35`, with commas between hosts.
fn heard_text(heard: &[Heard], hosts: usize) -> String {
    let nothing = Heard::default();
    let of = (0..hosts).map(|host| {
        let Heard {
            longest_bytes,
            full_bytes,
            clock,
        } = heard.get(host).unwrap_or(&nothing);
        match clock {
            Some(Clock { ahead_ns, error_ns }) => {
                format!("{longest_bytes}/{full_bytes}/{ahead_ns}/{error_ns}")
            }
            None => format!("{longest_bytes}/{full_bytes}"),
        }
    });
    of.collect::<Vec<_>>().join(",")
}

fn parse_heard(pe: u32, text: &[u8], hosts: u32) -> Result<Vec<Heard>, LaunchError> {
    let text = String::from_utf8_lossy(text);
    let of = |word: &str| {
        let mut parts = word.split('/');
        let longest_bytes = parts.next()?.parse().ok()?;
        let full_bytes = parts.next()?.parse().ok()?;
        let clock = match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => None,
            (Some(ahead), Some(error), None) => Some(Clock {
                ahead_ns: ahead.parse().ok()?,
                error_ns: error.parse().ok()?,
            }),
            _ => return None,
        };
        Some(Heard {
            longest_bytes,
            full_bytes,
            clock,
        })
    };
    let heard: Option<Vec<Heard>> = text.split(',').map(of).collect();
    heard
        .filter(|heard| heard.len() == hosts as usize)
        .ok_or_else(|| unclear(pe, &text))
}

/// The content of a frame: numbers in big-endian order, behind a header by which sockets of the wire let it pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Message {
    trial: u64,
    /// The length of the whole frame.
    len: u64,
    /// The longest frame that its sender has heard from its receiver.
    heard: u64,
    /// When it was sent, by the clock of its sender.
    sent_ns: u64,
    /// When the last frame of its receiver was sent, by that one's clock, and when it came.
    echo_sent_ns: u64,
    echo_came_ns: u64,
}

impl Message {
    fn write(&self, host: u32, to: u32) -> Vec<u8> {
        let header = sealed::Repr {
            destination: to,
            source: host,
            number: self.trial,
        };
        let mut frame = header.to_bytes().to_vec();
        let Self {
            trial: _,
            len,
            heard,
            sent_ns,
            echo_sent_ns,
            echo_came_ns,
        } = *self;
        for number in [len, heard, sent_ns, echo_sent_ns, echo_came_ns] {
            frame.extend(number.to_be_bytes());
        }
        frame.resize(len as usize, 0x5a);
        frame
    }

    /// `None` for a frame of anything else, or one that was cut off.
    fn read(frame: &[u8], host: u32) -> Option<Self> {
        let header = sealed::Repr::parse(frame).ok()?;
        let (numbers, _) = frame.get(sealed::LEN..)?.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|bytes| u64::from_be_bytes(*bytes));
        let mut number = || numbers.next();
        let message = Self {
            trial: header.number,
            len: number()?,
            heard: number()?,
            sent_ns: number()?,
            echo_sent_ns: number()?,
            echo_came_ns: number()?,
        };
        // Bare Ethernet pads short frames.
        let is_whole = message.len <= frame.len() as u64;
        (header.destination == host && is_whole).then_some(message)
    }
}

/// Another host that can use the wire.
#[derive(Debug, Clone, Copy, Default)]
struct Peer {
    heard: Heard,
    /// The longest frame of this host that it has heard.
    arrived_bytes: usize,
    echo_sent_ns: u64,
    echo_came_ns: u64,
}

impl Peer {
    fn take(&mut self, message: &Message, now_ns: u64) {
        let len = message.len as usize;
        self.heard.longest_bytes = self.heard.longest_bytes.max(len);
        self.arrived_bytes = self.arrived_bytes.max(message.heard as usize);
        if message.echo_sent_ns != 0 {
            let clock = clock(message, now_ns);
            let is_better = |known: Clock| clock.error_ns < known.error_ns;
            if self.heard.clock.is_none_or(is_better) {
                self.heard.clock = Some(clock);
            }
        }
        self.echo_sent_ns = message.sent_ns;
        self.echo_came_ns = now_ns;
    }

    fn is_done(&self) -> bool {
        let full = self.heard.full_bytes;
        self.heard.longest_bytes >= full && self.arrived_bytes >= full
    }
}

/// From four times, as NTP does it. A peer may write any.
fn clock(message: &Message, now_ns: u64) -> Clock {
    let [sent, there, back, now] = [
        message.echo_sent_ns,
        message.echo_came_ns,
        message.sent_ns,
        now_ns,
    ]
    .map(i128::from);
    let ahead = ((there - sent) + (back - now)) / 2;
    let error = ((now - sent) - (back - there)).unsigned_abs() / 2;
    Clock {
        ahead_ns: i64::try_from(ahead).unwrap_or(if ahead < 0 { i64::MIN } else { i64::MAX }),
        error_ns: u64::try_from(error).unwrap_or(u64::MAX),
    }
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}

/// The frames of one host.
struct Exchange {
    socket: Socket,
    host: u32,
    trial: u64,
    peers: Vec<Option<Peer>>,
}

impl Exchange {
    fn new(mut socket: Socket, host: u32, cards: &[Card]) -> Result<Self, TransportError> {
        let offers = (0..).zip(cards).map(|(other, card)| match &card.offer {
            Ok(offer) if other != host => Some(*offer),
            _ => None,
        });
        let offers: Vec<_> = offers.collect();
        let addresses = offers.iter().map(|offer| offer.map(|(_, address)| address));
        socket.set_peers(host, addresses.collect())?;
        let own = socket.frame_len_max();
        let peer = |(len, _): (usize, Address)| Peer {
            heard: Heard {
                full_bytes: len.min(own),
                ..Heard::default()
            },
            ..Peer::default()
        };
        Ok(Self {
            socket,
            host,
            trial: cards.first().map_or(0, |card| card.trial),
            peers: offers.into_iter().map(|offer| offer.map(peer)).collect(),
        })
    }

    fn run(mut self, limit: Duration) -> Vec<Heard> {
        let end = Instant::now() + limit;
        let mut rounds_left = LAST_ROUNDS;
        while Instant::now() < end && rounds_left > 0 {
            if self.peers.iter().flatten().all(Peer::is_done) {
                rounds_left -= 1;
            }
            self.send();
            let round_end = Instant::now() + ROUND;
            while Instant::now() < round_end {
                self.receive();
                self.wait(round_end);
            }
        }
        let heard = |peer: Option<Peer>| peer.unwrap_or_default().heard;
        self.peers.into_iter().map(heard).collect()
    }

    fn send(&mut self) {
        for (to, peer) in (0..).zip(&self.peers) {
            let Some(peer) = peer else { continue };
            for len in [sealed::LEN + SHORT_BYTES, peer.heard.full_bytes] {
                let message = Message {
                    trial: self.trial,
                    len: len as u64,
                    heard: peer.heard.longest_bytes as u64,
                    sent_ns: now_ns(),
                    echo_sent_ns: peer.echo_sent_ns,
                    echo_came_ns: peer.echo_came_ns,
                };
                // One that does not leave is sent again in the next round.
                let _ = self.socket.send(&[(to, &message.write(self.host, to))]);
            }
        }
    }

    fn receive(&mut self) {
        let Self {
            socket,
            host,
            trial,
            peers,
        } = self;
        loop {
            let received = socket.receive(&mut |came, frame| {
                let message = Message::read(frame, *host).filter(|it| it.trial == *trial);
                let peer = peers.get_mut(came.host as usize).and_then(Option::as_mut);
                if let (Some(message), Some(peer)) = (message, peer) {
                    peer.take(&message, now_ns());
                }
            });
            if received.frames == 0 {
                return;
            }
        }
    }

    fn wait(&self, until: Instant) {
        let rest = until.saturating_duration_since(Instant::now());
        let limit = Timespec {
            tv_sec: 0,
            tv_nsec: rest.subsec_nanos().into(),
        };
        let fd = self.socket.fd();
        // What cannot be waited for is looked for again.
        let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&limit));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_and_what_was_heard_come_back() {
        for text in [
            "7 1472 udp=10.9.0.1:4000",
            "8 ! opening a socket: not allowed",
        ] {
            let card = Card::parse(1, text.as_bytes()).unwrap();
            assert_eq!(card.to_string(), text);
        }
        for bad in ["", "7", "7 1472", "x 1 udp=10.9.0.1:4000", "7 1 pigeon"] {
            assert!(Card::parse(1, bad.as_bytes()).is_err(), "{bad}");
        }
        let text = "0/0,84/1500,1500/1500/-120/35";
        let heard = parse_heard(1, text.as_bytes(), 3).unwrap();
        assert_eq!(heard_text(&heard, 3), text);
        for bad in [
            "",
            "0/0",
            "0/0,1/1/1,0/0",
            "0/0,0/0,1/1/1/1/1",
            "0/0,0/0,-1/0",
        ] {
            assert!(parse_heard(1, bad.as_bytes(), 3).is_err(), "{bad}");
        }
    }

    #[test]
    fn messages_come_back_and_others_do_not_count() {
        let message = Message {
            trial: 7,
            len: 200,
            heard: 84,
            sent_ns: 1,
            echo_sent_ns: 2,
            echo_came_ns: 3,
        };
        let frame = message.write(4, 5);
        assert_eq!(frame.len(), 200);
        assert_eq!(Message::read(&frame, 5), Some(message));
        assert_eq!(Message::read(&frame, 4), None);
        for len in 0..200 {
            assert_eq!(Message::read(&frame[..len], 5), None);
        }
    }

    #[test]
    fn clocks_are_compared_by_four_times() {
        // It is 100 ahead, a way takes 10, and it answered after 5.
        let message = Message {
            echo_sent_ns: 1000,
            echo_came_ns: 1110,
            sent_ns: 1115,
            ..Message::default()
        };
        let expected = Clock {
            ahead_ns: 100,
            error_ns: 10,
        };
        assert_eq!(clock(&message, 1025), expected);
        let wild = Message {
            echo_sent_ns: 0,
            echo_came_ns: u64::MAX,
            sent_ns: u64::MAX,
            ..message
        };
        assert_eq!(clock(&wild, 0).ahead_ns, i64::MAX);
    }

    /// Two hosts that are threads, over the loopback interface.
    #[test]
    fn two_hosts_hear_each_other() {
        for wire in [FrameWire::Udp, FrameWire::Tcp] {
            let ip = std::net::Ipv4Addr::LOCALHOST;
            let open = || match wire {
                FrameWire::Tcp => Socket::of(crate::StreamPort::open(ip.into()).unwrap()),
                _ => Socket::of(crate::FramePort::open(ip.into()).unwrap()),
            };
            let sockets = [Ok(open()), Ok(open())];
            let mut cards = sockets.each_ref().map(Card::of).to_vec();
            cards.push(Card {
                trial: 1,
                offer: Err("none".into()),
            });
            let threads = (0..).zip(sockets).map(|(host, socket)| {
                let cards = cards.clone();
                std::thread::spawn(move || {
                    let exchange = Exchange::new(socket.unwrap(), host, &cards).unwrap();
                    exchange.run(Duration::from_secs(20))
                })
            });
            let threads: Vec<_> = threads.collect();
            for (host, thread) in threads.into_iter().enumerate() {
                let heard = thread.join().unwrap();
                let of_peer = heard[1 - host];
                assert_eq!(
                    of_peer.longest_bytes, of_peer.full_bytes,
                    "{wire} {heard:?}"
                );
                assert!(of_peer.clock.unwrap().error_ns < 1_000_000_000);
                assert_eq!(heard[2], Heard::default());
            }
        }
    }
}
