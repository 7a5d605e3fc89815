//! The sockets of the wires between hosts that this host can use.

use hostwire_transport::faults::Faults;
use hostwire_transport::{EnvironmentFault, TransportError};

use super::offers::{Offers, Refusal};
use crate::{FramePort, FrameWire, Interface, PacketSocket, Socket, StreamPort, XdpSocket};

type Result<T> = core::result::Result<T, TransportError>;

/// What opening sockets needs.
pub(super) struct Open<'a> {
    pub(super) interfaces: &'a [Interface],
    pub(super) ether_type: u16,
    pub(super) faults: Option<Faults>,
    /// The number of this host.
    pub(super) host: u32,
    /// How many there are.
    pub(super) hosts: u32,
}

/// A socket for each wire that may be used, or why there is none.
pub(super) struct Sockets(Vec<(FrameWire, core::result::Result<Socket, Refusal>)>);

impl Sockets {
    /// Opens the socket of the wanted wire, or of all wires.
    ///
    /// # Errors
    /// If the wire that is wanted cannot be used.
    pub(super) fn open(wanted: Option<FrameWire>, open: &Open<'_>) -> Result<Self> {
        let opened = |wire| open.socket(wire);
        let sockets = match wanted {
            Some(wire) => vec![(wire, Ok(opened(wire)?))],
            None => FrameWire::fastest_first()
                .into_iter()
                .map(|wire| {
                    let socket = opened(wire).map_err(|error| refusal(&error));
                    (wire, socket)
                })
                .collect(),
        };
        Ok(Self(sockets))
    }

    /// The offers of this host.
    pub(super) fn offers(&self) -> Offers {
        let offer = |socket: &core::result::Result<Socket, Refusal>| match socket {
            Ok(socket) => Ok(socket.address()),
            Err(refusal) => Err(*refusal),
        };
        let all = self.0.iter();
        Offers(all.map(|(wire, socket)| (*wire, offer(socket))).collect())
    }

    /// Closes the sockets of all other wires: frames of one kind may come to the socket of another.
    pub(super) fn keep(&mut self, wires: &[FrameWire]) {
        self.0.retain(|(wire, _)| wires.contains(wire));
    }

    /// The socket of a wire, which can be taken once.
    pub(super) fn take(&mut self, wire: FrameWire) -> Option<Socket> {
        let at = self.0.iter().position(|(kept, _)| *kept == wire)?;
        self.0.swap_remove(at).1.ok()
    }
}

/// Why a wire cannot be used, in short.
fn refusal(error: &TransportError) -> Refusal {
    match error {
        TransportError::Environment { fault, .. } => match fault {
            EnvironmentFault::NotPermitted { .. } => Refusal::NotPermitted,
            EnvironmentFault::InUse { .. } => Refusal::InUse,
            EnvironmentFault::NoAddress { .. } => Refusal::NoAddress,
            _ => Refusal::Failed,
        },
        _ => Refusal::Failed,
    }
}

impl Open<'_> {
    /// One socket for all interfaces.
    pub(super) fn socket(&self, wire: FrameWire) -> Result<Socket> {
        let sockets = self.interfaces.iter().map(|interface| {
            Ok(match wire {
                FrameWire::Udp => Socket::of(FramePort::open(interface.address()?)?),
                FrameWire::Tcp => Socket::of(StreamPort::open(interface.address()?)?),
                FrameWire::Xdp => Socket::of(XdpSocket::open(interface, self.ether_type)?),
                FrameWire::Ether => {
                    let (host, links) = (self.host, self.hosts.saturating_sub(1));
                    let socket = PacketSocket::open(interface, self.ether_type, host, links)?;
                    Socket::of(socket)
                }
            })
        });
        let socket = Socket::several(sockets.collect::<Result<_>>()?)?;
        Ok(match self.faults {
            Some(faults) => socket.with_faults(faults, self.host),
            None => socket,
        })
    }
}
