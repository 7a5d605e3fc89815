//! A station's way to stations of other hosts: they meet over TCP, and stores travel in frames.
//!
//! The TCP port exists from the beginning, because it is in the name. The socket for frames, the links
//! and their thread are made for the first station of another host.

use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hostwire_frames::{
    Address, Connections, Door, Ether, FramePort, Interface, Lead, Links, Meets, OnLink,
    PortedSocket, Socket, StreamPort,
};
use hostwire_link::Node;
use hostwire_link::seal::{End, JobKey, Life};
use hostwire_transport::error::{EnvironmentFault, Loss, PeId, TransportError};
use hostwire_transport::faults::Faults;
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::window::Window;
use hostwire_transport::wire::{Lifetime, Liveness};

use super::bell::Bell;
use super::call::{self, Answer, Call, Hello};
use super::table::Table;
use super::{ANSWER_WITHIN, Name, PEERS_MAX, Terms, failed, no_such};

/// How a station reaches those of other hosts.
#[derive(Debug, Clone)]
pub struct Network {
    /// Where it listens.
    pub place: NetworkPlace,
    /// The wire that carries stores: the same at all stations.
    pub wire: NetworkWire,
    /// Whether its frames are sealed: the same at all stations.
    pub is_sealed: bool,
    /// How long a station may be silent before it is lost.
    pub lost_after: Duration,
    /// Injected faults of its frames.
    pub faults: Option<Faults>,
}

/// The wire to stations of other hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkWire {
    /// UDP datagrams.
    Udp,
    /// TCP connections.
    Tcp,
    /// Ethernet frames of this EtherType. Needs the right to open raw sockets.
    Ether(u16),
}

/// Where a station listens for stations of other hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkPlace {
    /// At the interfaces of these names; without a name at the one that [`Interface::choose`] chooses.
    Interfaces(Vec<String>),
    /// At the loopback interface, as if this were the host of this number: for tests.
    Loopback {
        /// The number.
        host: u64,
    },
}

/// An interface at which a station listens.
struct At {
    ip: IpAddr,
    /// `None` for loopback, which has no MAC address.
    interface: Option<Interface>,
}

impl At {
    fn of(interface: Interface) -> Result<Self, TransportError> {
        Ok(Self {
            ip: interface.address()?,
            interface: Some(interface),
        })
    }

    fn open(&self, wire: NetworkWire) -> Result<Socket, TransportError> {
        match (wire, &self.interface) {
            (NetworkWire::Udp, _) => Ok(Socket::of(FramePort::open(self.ip)?)),
            (NetworkWire::Tcp, _) => Ok(Socket::of(StreamPort::open(self.ip)?)),
            (NetworkWire::Ether(ether_type), Some(interface)) => {
                Ok(Socket::of(PortedSocket::open(interface, ether_type)?))
            }
            (NetworkWire::Ether(_), None) => {
                let expected = "an Ethernet interface";
                let fault = EnvironmentFault::unexpected(expected, "the loopback interface");
                Err(TransportError::environment(
                    "sending bare Ethernet frames",
                    fault,
                ))
            }
        }
    }
}

impl NetworkPlace {
    fn interfaces(&self) -> Result<Vec<At>, TransportError> {
        match self {
            Self::Interfaces(names) => {
                let interfaces = Interface::choose_all(names)?;
                interfaces.into_iter().map(At::of).collect()
            }
            Self::Loopback { .. } => Ok(vec![At {
                ip: Ipv4Addr::LOCALHOST.into(),
                interface: None,
            }]),
        }
    }
}

/// The listening sockets, before a station has a name.
pub(super) struct Ears {
    network: Network,
    interfaces: Vec<At>,
    door: Door,
}

impl Ears {
    pub(super) fn open(network: Network) -> Result<Self, TransportError> {
        let interfaces = network.place.interfaces()?;
        let what = "listening for stations of other hosts";
        let Some(first) = interfaces.first() else {
            let fault = EnvironmentFault::unexpected("an interface", "none");
            return Err(TransportError::environment(what, fault));
        };
        let door = Door::open(first.ip).map_err(|e| TransportError::environment(what, e))?;
        Ok(Self {
            network,
            interfaces,
            door,
        })
    }

    /// A name for the station.
    pub(super) fn name(&self) -> Result<Name, TransportError> {
        let name = Name::draw(Some(self.door.address()))?;
        match self.network.place {
            NetworkPlace::Interfaces(_) => Ok(name),
            NetworkPlace::Loopback { host } => Ok(name.moved(host)),
        }
    }
}

/// See the [module text](self).
pub(super) struct Outside {
    network: Network,
    interfaces: Vec<At>,
    fork_guard: ForkGuard,
    name: Name,
    terms: Terms,
    segment: Window,
    table: Arc<Table>,
    /// Makes the acceptor thread check the table again.
    bell: Arc<Bell>,
    /// They show whether the hosts of silent stations answer.
    connections: Arc<Connections>,
    wire: OnceLock<(Ether, Address)>,
    opening: Mutex<()>,
}

impl Outside {
    /// For a station, with the sockets on which it listens.
    pub(super) fn new(
        ears: Ears,
        (fork_guard, name, terms): (ForkGuard, Name, Terms),
        segment: Window,
        (table, bell): (Arc<Table>, Arc<Bell>),
    ) -> (Self, TcpListener) {
        let Ears {
            network,
            interfaces,
            door,
        } = ears;
        let outside = Self {
            network,
            interfaces,
            fork_guard,
            name,
            terms,
            segment,
            table,
            bell,
            connections: Arc::default(),
            wire: OnceLock::new(),
            opening: Mutex::new(()),
        };
        (outside, door.into_listener())
    }

    /// The wire to stations that this one has met.
    #[inline]
    pub(super) fn wire(&self) -> Option<&Ether> {
        self.wire.get().map(|(wire, _)| wire)
    }

    fn open(&self) -> Result<&(Ether, Address), TransportError> {
        let _one = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = self.wire.get() {
            return Ok(opened);
        }
        let interfaces = self.interfaces.iter();
        let sockets = interfaces.map(|at| at.open(self.network.wire));
        let mut socket = Socket::several(sockets.collect::<Result<_, TransportError>>()?)?;
        if let Some(faults) = self.network.faults {
            socket = socket.with_faults(faults, self.name.id() as u32);
        }
        let address = socket.address();
        let (table, bell) = (Arc::clone(&self.table), Arc::clone(&self.bell));
        let meets = Meets::new(move |pe, what| match what {
            OnLink::Opened => table.opened(pe),
            OnLink::Closed => {
                table.end(pe);
                bell.ring();
            }
        });
        let links = Links {
            peers: PEERS_MAX,
            is_sealed: self.network.is_sealed,
            patience: ANSWER_WITHIN,
            lost_after: self.network.lost_after,
        };
        let kernels = Arc::clone(&self.connections);
        let wire = Ether::of_station(
            &self.fork_guard,
            &self.segment,
            socket,
            links,
            meets,
            kernels,
        )?;
        Ok(self.wire.get_or_init(|| (wire, address)))
    }

    /// Meets a station. When this returns, it can be stored to. Its connection is passed to `watch`.
    pub(super) fn meet(
        &self,
        pe: PeId,
        name: &Name,
        deadline: Instant,
        watch: impl FnOnce(Arc<OwnedFd>),
    ) -> Result<(), TransportError> {
        let (stream, answer) = loop {
            match self.call(pe, name, deadline)? {
                Call::Answered(stream, answer) => break (stream, answer),
                Call::Closed => {}
                Call::NobodyThere => {
                    self.table.end(pe);
                    return Err(super::ended(pe));
                }
            }
            // As within a host, this may be temporary.
            if Instant::now() >= deadline {
                let fault = EnvironmentFault::unexpected("an answer", "closed connections");
                return Err(failed(pe, fault));
            }
            std::thread::sleep(super::AGAIN_AFTER);
        };
        let (number, theirs) = match answer {
            Answer::Met { number, address } => (number, address),
            Answer::Refused { why } => {
                return Err(failed(pe, EnvironmentFault::Refused { why }));
            }
        };
        self.lead(pe, name, number, theirs)?;
        // From now on an end of its process is noticed, and nothing waits for the link.
        watch(self.keep(pe, stream));
        match self.table.wait_until_met(pe, deadline) {
            true => Ok(()),
            false => Err(self.not_met(pe, &theirs)),
        }
    }

    /// The error if a station has answered but its link does not open.
    fn not_met(&self, pe: PeId, at: &Address) -> TransportError {
        if self.table.has_ended(pe) {
            let loss = self.loss(pe);
            if !matches!(loss, Loss::Unreachable { .. }) {
                return TransportError::PeerLost { pe, loss };
            }
        }
        self.table.end(pe);
        self.bell.ring();
        let silence = self.wire().map(Ether::silence);
        failed(
            pe,
            EnvironmentFault::NoAnswer {
                pe,
                address: at.to_string().into(),
                silence: silence.unwrap_or(hostwire_transport::error::Silence::Unknown),
            },
        )
    }

    /// The connection to a met station, for the code that keeps it open.
    pub(super) fn keep(&self, pe: PeId, stream: TcpStream) -> Arc<OwnedFd> {
        let stream = Arc::new(stream.into());
        self.connections.add(pe, &stream);
        stream
    }

    /// Calls it once.
    fn call(&self, pe: PeId, name: &Name, deadline: Instant) -> Result<Call, TransportError> {
        let at = name.outside().ok_or_else(|| nowhere(pe))?;
        let (_, address) = self.open()?;
        let hello = Hello {
            from: self.name,
            number: pe,
            terms: self.terms,
            is_sealed: self.network.is_sealed,
            address: *address,
        };
        call::call(at, name.key(), &hello, deadline)
    }

    #[cfg(test)]
    pub(super) fn call_once(&self, pe: PeId, name: &Name) -> Result<Call, TransportError> {
        self.call(pe, name, Instant::now() + ANSWER_WITHIN)
    }

    /// Accepts a station that has called. Returns its number and the answer to it.
    pub(super) fn admit(&self, hello: &Hello) -> Result<(PeId, Answer), TransportError> {
        let unlike = |expected: &dyn core::fmt::Debug, got: &dyn core::fmt::Debug| {
            let (expected, got) = (format_args!("{expected:?}"), format_args!("{got:?}"));
            let fault = EnvironmentFault::unexpected(expected, got);
            TransportError::environment("letting a station in", fault)
        };
        if hello.from.is_beside(&self.name) {
            return Err(unlike(&"a station of another host", &"one of this"));
        }
        if hello.terms != self.terms {
            return Err(unlike(&self.terms, &hello.terms));
        }
        if hello.is_sealed != self.network.is_sealed {
            let missing = "HOSTWIRE_INSECURE_WIRE has to be the same for all stations";
            let fault = EnvironmentFault::Unsupported { missing };
            return Err(TransportError::environment("letting a station in", fault));
        }
        let pe = self.table.number(&hello.from)?;
        if pe == 0 {
            return Err(super::own_name());
        }
        // A name contains its host: a station that was met on this host cannot call from another one.
        if self
            .table
            .name_of(pe)
            .is_none_or(|known| known.is_beside(&self.name))
        {
            return Err(unlike(
                &"a station of this host",
                &"one of another, of that name",
            ));
        }
        if self.table.has_ended(pe) {
            return Err(super::ended(pe));
        }
        let (_, address) = self.open()?;
        self.lead(pe, &hello.from, hello.number, hello.address)?;
        let number = pe;
        let address = *address;
        Ok((pe, Answer::Met { number, address }))
    }

    fn lead(
        &self,
        pe: PeId,
        name: &Name,
        number: PeId,
        address: Address,
    ) -> Result<(), TransportError> {
        self.table.expect(pe, number)?;
        let wire = self.wire().ok_or_else(|| no_such(pe))?;
        let keys = self.network.is_sealed.then(|| keys(&self.name, name));
        wire.lead(&Lead {
            pe,
            number,
            address,
            keys,
        })
    }

    /// The process of a station has ended: all its frames have been processed when this returns.
    pub(super) fn take_last(&self) {
        if let Some(wire) = self.wire() {
            wire.take_what_came();
        }
    }

    /// Ends the contact with a station.
    pub(super) fn part(&self, pe: PeId) {
        if let Some(wire) = self.wire() {
            wire.give_up(pe);
        }
    }

    pub(super) fn loss(&self, pe: PeId) -> Loss {
        self.wire().map_or(Loss::Ended, |wire| wire.loss(pe))
    }

    /// When this returns, all stores have arrived or cannot arrive.
    pub(super) fn finish(&self) {
        if let Some(wire) = self.wire() {
            wire.finish();
        }
    }
}

fn nowhere(pe: PeId) -> TransportError {
    let missing = "it is on another host, and its name says no address of a network: its process has none, \
                   or HOSTWIRE_WIRE keeps it within its host";
    failed(pe, EnvironmentFault::Unsupported { missing })
}

/// The key of a pair, and its ends, the own one first. Both stations compute the same keys, whichever
/// called: the one with the lower number in its name is the first.
fn keys(own: &Name, other: &Name) -> (JobKey, [End; 2]) {
    let is_first = own.id() < other.id();
    let (first, second) = if is_first { (own, other) } else { (other, own) };
    let mut key = [0; 32];
    let words = [first, second].map(|name| name.key().to_words());
    for (place, word) in key.chunks_exact_mut(8).zip(words.as_flattened()) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    let end = |node, name: &Name| End {
        node: Node(node),
        life: Life(name.id().to_le_bytes()),
    };
    let (own_node, other_node) = if is_first { (0, 1) } else { (1, 0) };
    (
        JobKey::new(key),
        [end(own_node, own), end(other_node, other)],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_find_the_same_key_and_each_its_own_end() {
        let [a, b, c] = [(); 3].map(|()| Name::draw(None).unwrap());
        let ((key, [own, other]), (same, [theirs, mine])) = (keys(&a, &b), keys(&b, &a));
        assert_eq!(key.to_hex(), same.to_hex());
        assert_eq!((own, other), (mine, theirs));
        assert_ne!(own, other);
        assert_ne!(keys(&a, &c).0.to_hex(), key.to_hex());
    }
}
