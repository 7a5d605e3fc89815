//! A job that spans hosts: its errors, and the wires `ether`, `xdp` and `udp`.

mod control;

use core::fmt;
use core::str::FromStr;
use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

use hostwire_transport::error::Disagreement;
use hostwire_transport::ether::{
    Address, ControlConnections, Door, Ether, EtherOptions, FramePort, Interface, JobKey, Life,
    PacketSocket, Roster, Secrets, Socket, XdpSocket,
};
use hostwire_transport::shm::{Gathering, Host, Meeting};
use hostwire_transport::{EnvironmentFault, PeId, Transport, TransportError, Wires};

use super::{Segment, launch_failed};
use crate::error::{Error, Result};
use crate::launch::{self, Bootstrap, LaunchError, Nodes, NodesError};
use crate::settings::{Settings, Wire};

/// In the place of a life: no encryption.
const BARE: &str = "bare";
/// Key of what every PE publishes.
const CARD: &str = "hostwire-ether";

/// Whether the settings allow this job to span hosts.
pub(super) fn allow(settings: &Settings, pe: PeId, nodes: &Nodes) -> Result<()> {
    match settings.wire().spans_hosts() {
        true => Ok(()),
        false => Err(several_hosts(pe, nodes, settings.wire())),
    }
}

fn several_hosts(pe: PeId, nodes: &Nodes, wire: Wire) -> Error {
    let nodes = nodes.clone();
    launch_failed(LaunchError::SeveralHosts { pe, nodes, wire })
}

/// Joins the PEs of this host by shared memory and those of others by the wire.
pub(super) fn attach(
    settings: &Settings,
    segment: &Segment,
    launcher: &mut dyn Bootstrap,
    nodes: &Nodes,
) -> Result<Wires> {
    let (pe, pes) = (launcher.rank(), launcher.size());
    let here = host(pe, pes, nodes)?;
    let interface = Interface::choose(settings.interface.as_deref())?;
    let mut socket = open(settings, &interface, pe, nodes, &here)?;
    if let Some(faults) = settings.faults {
        socket = socket.with_faults(faults, pe);
    }
    let gathering = match here.local() {
        0 if here.count() > 1 => Some(Gathering::open(here.count())?),
        _ => None,
    };
    let door = match here.local() {
        0 => control::listen(&interface),
        _ => None,
    };
    let own = Card {
        len_bytes: segment.len_bytes as u64,
        ring_bytes: segment.ring_bytes as u64,
        job: u64::from_ne_bytes(random()?),
        life: match settings.insecure_wire {
            true => None,
            false => Some(Life(random()?)),
        },
        key: match (settings.insecure_wire, pe) {
            (false, 0) => Some(JobKey::new(random()?)),
            _ => None,
        },
        address: socket.address(),
        ticket: gathering.as_ref().map(|door| door.ticket().to_string()),
        control: door.as_ref().map(Door::address),
    };
    let cards = launch::all_gather(launcher, CARD, own.to_string().as_bytes());
    let cards = cards.map_err(launch_failed)?;
    let cards = read_cards(&cards, pe, &own)?;
    let connections = control::connect(launcher, nodes, &cards, door, segment.deadline)?;
    let card = |pe: PeId| {
        let none = TransportError::NoSuchPe { pe, pes };
        cards.get(pe as usize).ok_or(none)
    };

    let first = here.first();
    let mut alone = Vec::new();
    let meeting = match (gathering, &card(first)?.ticket) {
        (Some(gathering), _) => Meeting::Host(gathering.with_more(connections)),
        (None, _) if here.count() == 1 => {
            alone = connections;
            Meeting::Alone
        }
        (None, Some(ticket)) => Meeting::Guest(ticket.parse()?),
        (None, None) => return Err(unclear(first, "no ticket")),
    };
    let peers = (0..).zip(&cards);
    let peers = peers.map(|(other, card)| match here.local_of(other) {
        Some(_) => None,
        None => Some(card.address),
    });
    let roster = Roster {
        pe,
        job: card(0)?.job,
        peers: peers.collect(),
        secrets: secrets(&cards)?,
    };
    let mut shm = segment.attach(here, meeting)?;
    alone.extend(shm.take_more());
    let host_of = (0..pes).map(|pe| nodes.node_of(pe).unwrap_or(u32::MAX));
    let control = ControlConnections::new(host_of, alone);
    let options = EtherOptions {
        lost_after: Duration::from_secs(settings.lost_after_s),
    };
    let own = shm.segment().clone();
    let ether = Ether::connect(own, socket, &roster, &options, segment.deadline)?;
    let between: [Arc<dyn Transport>; 1] = [Arc::new(ether.with_control(control))];
    Ok(Wires::new(Arc::new(shm), between)?)
}

/// The PEs of the host of `pe`.
fn host(pe: PeId, pes: u32, nodes: &Nodes) -> Result<Host> {
    let node = nodes.node_of(pe).map(|node| node as usize);
    let members = node.and_then(|node| nodes.nodes().get(node));
    let members = members.map(|node| node.pes.clone()).unwrap_or_default();
    match members.iter().position(|other| *other == pe) {
        Some(local) => Ok(Host::new(pes, members, local as u32)?),
        None => Err(launch_failed(NodesError::Missing { pe }.into())),
    }
}

fn open(
    settings: &Settings,
    interface: &Interface,
    pe: PeId,
    nodes: &Nodes,
    here: &Host,
) -> Result<Socket> {
    let wire = settings.wire();
    if wire.takes_one_pe_per_host() && here.count() > 1 {
        let here = here.count();
        return Err(launch_failed(LaunchError::OnePePerHost { wire, here }));
    }
    match wire {
        Wire::Udp => Ok(Socket::Udp(FramePort::open(interface.address()?)?)),
        Wire::Xdp => {
            let socket = XdpSocket::open(interface, settings.ether_type)?;
            Ok(Socket::Xdp(Box::new(socket)))
        }
        Wire::Ether => open_packets(settings, interface, pe, here),
        Wire::Shm | Wire::Stores => Err(several_hosts(pe, nodes, wire)),
    }
}

fn open_packets(
    settings: &Settings,
    interface: &Interface,
    pe: PeId,
    here: &Host,
) -> Result<Socket> {
    // Virtual links have 16-bit numbers, and the PEs of a host share them.
    let remote = u64::from(here.pes()) - u64::from(here.count());
    let end = (u64::from(here.local()) + 1) * remote;
    if u64::from(here.count()) * remote > 1 << 16 {
        let here = here.count();
        return Err(launch_failed(LaunchError::TooManyLinks { here, remote }));
    }
    // At most 65536.
    let links = (end - remote) as u32..end as u32;
    let socket = PacketSocket::open(interface, settings.ether_type, pe, links)?;
    Ok(Socket::Packet(socket))
}

/// Encrypts the frames of the job; `None` without encryption.
fn secrets(cards: &[Card]) -> Result<Option<Secrets>> {
    let lives: Vec<Life> = cards.iter().filter_map(|card| card.life).collect();
    if lives.is_empty() {
        return Ok(None);
    }
    let key = cards.first().and_then(|card| card.key.clone());
    let key = key.ok_or_else(|| unclear(0, "no key"))?;
    Ok(Some(Secrets { key, lives }))
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|e| TransportError::environment("drawing a random number", e))?;
    Ok(bytes)
}

/// The values that a PE publishes about itself: eight words.
#[derive(Debug, Clone)]
pub(crate) struct Card {
    len_bytes: u64,
    ring_bytes: u64,
    /// That of PE 0 is the number of the job.
    job: u64,
    /// `None` if it runs without encryption.
    life: Option<Life>,
    /// From PE 0, if it runs with encryption.
    key: Option<JobKey>,
    address: Address,
    /// For the other PEs of its host.
    ticket: Option<String>,
    /// Where its host listens for control connections, from the first PE there.
    control: Option<SocketAddr>,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            len_bytes,
            ring_bytes,
            job,
            life,
            key,
            address,
            ticket,
            control,
        } = self;
        let life = life.map_or_else(|| BARE.to_owned(), |life| life.to_string());
        let key = key.as_ref().map_or_else(|| "-".to_owned(), JobKey::to_hex);
        let ticket = ticket.as_deref().unwrap_or("-");
        let control = control.map_or_else(|| "-".to_owned(), |address| address.to_string());
        write!(
            f,
            "{len_bytes} {ring_bytes} {job} {life} {key} {address} {ticket} {control}"
        )
    }
}

impl FromStr for Card {
    type Err = ();

    fn from_str(text: &str) -> core::result::Result<Self, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let [
            len_bytes,
            ring_bytes,
            job,
            life,
            key,
            address,
            ticket,
            control,
        ] = words[..]
        else {
            return Err(());
        };
        let number = |word: &str| word.parse().map_err(drop);
        Ok(Self {
            len_bytes: number(len_bytes)?,
            ring_bytes: number(ring_bytes)?,
            job: number(job)?,
            life: match life {
                BARE => None,
                life => Some(life.parse()?),
            },
            key: match key {
                "-" => None,
                key => Some(key.parse().map_err(drop)?),
            },
            address: address.parse().map_err(drop)?,
            ticket: (ticket != "-").then(|| ticket.to_owned()),
            control: match control {
                "-" => None,
                address => Some(address.parse().map_err(drop)?),
            },
        })
    }
}

/// The cards of all PEs, which fit to the own.
pub(crate) fn read_cards(cards: &[Vec<u8>], pe: PeId, own: &Card) -> Result<Vec<Card>> {
    let with = pe;
    let mut read = Vec::new();
    for (pe, card) in (0..).zip(cards) {
        let text = String::from_utf8_lossy(card);
        // Not the text itself: it may hold the key.
        let seen = format!("{} words", text.split(' ').count());
        let card: Card = text.parse().map_err(|()| unclear(pe, &seen))?;
        if let Some(about) = card.differs(own) {
            let fault = EnvironmentFault::Disagreement { pe, with, about };
            return Err(TransportError::environment("joining the job", fault).into());
        }
        read.push(card);
    }
    Ok(read)
}

impl Card {
    /// What this PE and the own one would have to agree about, and do not.
    fn differs(&self, own: &Self) -> Option<Disagreement> {
        let (theirs, ours) = (self.len_bytes, own.len_bytes);
        if theirs != ours {
            return Some(Disagreement::SegmentBytes { theirs, ours });
        }
        let (theirs, ours) = (self.ring_bytes, own.ring_bytes);
        if theirs != ours {
            return Some(Disagreement::RingBytes { theirs, ours });
        }
        let theirs = self.life.is_some();
        (theirs != own.life.is_some()).then_some(Disagreement::Encryption { theirs })
    }
}

fn unclear(pe: PeId, seen: &str) -> Error {
    let seen = seen.chars().take(80).collect();
    launch_failed(LaunchError::Card { pe, seen })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "4194304 4096 7 bare - udp=10.9.0.1:4000 - -";
    const LIFE: &str = "000102030405060708090a0b0c0d0e0f";
    const KEY: &str = "77777777777777777777777777777777777777777777777777777777777777ff";

    /// What PE 1 and this PE, PE 0, have to agree about.
    fn different(about: Disagreement) -> Error {
        let fault = EnvironmentFault::Disagreement {
            pe: 1,
            with: 0,
            about,
        };
        TransportError::environment("joining the job", fault).into()
    }

    #[test]
    fn cards_come_back() {
        let sealed = format!("1 2 3 {LIFE} {KEY} ether=02:00:00:00:00:01 some:ticket 10.9.0.1:99");
        for text in [TEXT, &sealed] {
            assert_eq!(text.parse::<Card>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn cards_that_do_not_fit_are_named() {
        let own: Card = TEXT.parse().unwrap();
        let read = |text: &str| read_cards(&[TEXT.into(), text.into()], 0, &own);
        let read_texts: Vec<_> = read(TEXT).unwrap().iter().map(Card::to_string).collect();
        assert_eq!(read_texts, [TEXT; 2]);
        for bad in [
            "",
            "1 2 3",
            "1 2 3 bare - pigeon - -",
            "1 2 3 bare - udp=10.9.0.1:4000 - - -",
            "1 2 3 bare - udp=10.9.0.1:4000 - nowhere",
            "1 2 3 secret - udp=10.9.0.1:4000 - -",
            "1 2 3 bare key udp=10.9.0.1:4000 - -",
        ] {
            let error = read(bad).unwrap_err();
            let Error::Launch { fault, .. } = &error else {
                panic!("{error}");
            };
            assert!(
                matches!(**fault, LaunchError::Card { pe: 1, .. }),
                "{error}"
            );
        }
        let (theirs, ours) = (8, 4_194_304);
        assert_eq!(
            read("8 4096 7 bare - udp=10.9.0.1:4000 - -").unwrap_err(),
            different(Disagreement::SegmentBytes { theirs, ours })
        );
        let (theirs, ours) = (8, 4096);
        assert_eq!(
            read("4194304 8 7 bare - udp=10.9.0.1:4000 - -").unwrap_err(),
            different(Disagreement::RingBytes { theirs, ours })
        );
    }

    #[test]
    fn no_wire_between_hosts_by_accident() {
        let nodes = Nodes::one(2);
        let settings = |wire| Settings {
            wire: Some(wire),
            ..Settings::from_lookup(|_| None).unwrap()
        };
        for wire in [Wire::Ether, Wire::Xdp, Wire::Udp] {
            assert_eq!(allow(&settings(wire), 0, &nodes), Ok(()));
        }
        for wire in [Wire::Shm, Wire::Stores] {
            let refused = allow(&settings(wire), 0, &nodes);
            let nodes = nodes.clone();
            let fault = LaunchError::SeveralHosts { pe: 0, nodes, wire };
            assert_eq!(refused, Err(launch_failed(fault)));
        }
    }

    #[test]
    fn all_or_none_encrypt_with_the_key_of_pe_0() {
        let card = |life: &str, key: &str| format!("8 8 7 {life} {key} udp=10.9.0.1:4000 - -");
        let read = |own: &str, other: &str| {
            let own: Card = own.parse().unwrap();
            read_cards(&[own.to_string().into(), other.into()], 0, &own)
        };
        let (first, other, bare) = (card(LIFE, KEY), card(LIFE, "-"), card("bare", "-"));
        let made = secrets(&read(&first, &other).unwrap()).unwrap().unwrap();
        assert_eq!(made.key.to_hex(), KEY);
        assert_eq!(made.lives.len(), 2);
        assert!(secrets(&read(&bare, &bare).unwrap()).unwrap().is_none());
        assert!(secrets(&read(&other, &other).unwrap()).is_err());
        for (own, other, theirs) in [(&first, &bare, false), (&bare, &other, true)] {
            assert_eq!(
                read(own, other).unwrap_err(),
                different(Disagreement::Encryption { theirs })
            );
        }
        // A card that is broken is not repeated: the key may be in it.
        let error = read(&first, &format!("{first} more"))
            .unwrap_err()
            .to_string();
        assert!(!error.contains(KEY), "{error}");
    }
}
