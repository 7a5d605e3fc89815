//! The sockets of the wires between hosts that this host can use.

use hostwire_frames::{FramePort, Interface, PacketSocket, Socket, StreamPort, XdpSocket};
use hostwire_transport::EnvironmentFault;

use super::launch_failed;
use super::offers::{Offers, Refusal};
use crate::error::{Error, Result};
use crate::settings::{Settings, WireChoice, WireName};
use hostwire_bootstrap::LaunchError;

/// A socket for each wire that may be taken, or why there is none.
pub(super) struct Sockets(Vec<(WireName, core::result::Result<Socket, Refusal>)>);

impl Sockets {
    /// Of the wire that the settings name, or of all.
    ///
    /// # Errors
    /// If the wire that they name cannot be used.
    pub(super) fn open(
        settings: &Settings,
        interfaces: &[Interface],
        host: u32,
        hosts: u32,
    ) -> Result<Self> {
        let opened = |wire| open(settings, interfaces, (host, hosts), wire);
        let sockets = match settings.wire {
            WireChoice::Named(wire) => vec![(wire, Ok(opened(wire)?))],
            WireChoice::Auto => WireName::fastest_first()
                .into_iter()
                .map(|wire| {
                    let socket = opened(wire).map_err(|error| refusal(&error));
                    (wire, socket)
                })
                .collect(),
        };
        Ok(Self(sockets))
    }

    /// What this host says of them.
    pub(super) fn offers(&self) -> Offers {
        let offer = |socket: &core::result::Result<Socket, Refusal>| match socket {
            Ok(socket) => Ok(socket.address()),
            Err(refusal) => Err(*refusal),
        };
        let all = self.0.iter();
        Offers(all.map(|(wire, socket)| (*wire, offer(socket))).collect())
    }

    /// Closes those of all other wires: frames of one kind may come to the socket of another.
    pub(super) fn keep(&mut self, wires: &[WireName]) {
        self.0.retain(|(wire, _)| wires.contains(wire));
    }

    /// The socket of a wire, which can be taken once.
    pub(super) fn take(&mut self, wire: WireName) -> Option<Socket> {
        let at = self.0.iter().position(|(kept, _)| *kept == wire)?;
        self.0.swap_remove(at).1.ok()
    }
}

/// Why a wire cannot be used, in short.
fn refusal(error: &Error) -> Refusal {
    match error {
        Error::Environment { fault, .. } => match fault {
            EnvironmentFault::NotPermitted { .. } => Refusal::NotPermitted,
            EnvironmentFault::InUse { .. } => Refusal::InUse,
            EnvironmentFault::NoAddress { .. } => Refusal::NoAddress,
            _ => Refusal::Failed,
        },
        _ => Refusal::Failed,
    }
}

/// One socket for all interfaces.
fn open(
    settings: &Settings,
    interfaces: &[Interface],
    (host, hosts): (u32, u32),
    wire: WireName,
) -> Result<Socket> {
    let sockets = interfaces.iter().map(|interface| {
        Ok(match wire {
            WireName::Udp => Socket::of(FramePort::open(interface.address()?)?),
            WireName::Tcp => Socket::of(StreamPort::open(interface.address()?)?),
            WireName::Xdp => {
                let socket = XdpSocket::open(interface, settings.ether_type)?;
                Socket::of(socket)
            }
            WireName::Ether => {
                let links = hosts.saturating_sub(1);
                let socket = PacketSocket::open(interface, settings.ether_type, host, links)?;
                Socket::of(socket)
            }
            // Refused before, joined in another way, or without a socket.
            WireName::Shm | WireName::Window | WireName::Fabric | WireName::Stores => {
                return Err(launch_failed(LaunchError::NoWire { why: String::new() }));
            }
        })
    });
    let socket = Socket::several(sockets.collect::<Result<_>>()?)?;
    Ok(match settings.faults {
        Some(faults) => socket.with_faults(faults, host),
        None => socket,
    })
}
