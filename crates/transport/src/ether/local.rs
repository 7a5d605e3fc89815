//! A whole job in one process: for tests.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_link::seal::{JobKey, Life};

use super::{
    Ether, EtherOptions, FramePort, Interface, PacketSocket, Roster, Secrets, Socket, XdpSocket,
};
use crate::error::{PeId, TransportError};
use crate::faults::Faults;
use crate::shm::{self, ShmOptions};
use crate::transport::Transport;
use crate::wires::Wires;

/// How the hosts of a job in one process reach each other.
#[derive(Debug, Clone)]
pub enum LocalWire {
    /// By UDP on the loopback interface.
    Udp,
    /// As [`Packet`](Self::Packet), but past the network stack; one PE per host.
    Xdp {
        /// One per host.
        interfaces: Vec<Interface>,
        /// The EtherType.
        ether_type: u16,
    },
    /// By frames of this EtherType; a host has the interface of its number.
    Packet {
        /// One per host.
        interfaces: Vec<Interface>,
        /// The EtherType.
        ether_type: u16,
    },
}

/// What a job in one process may be told beside how it is wired.
#[derive(Debug, Clone, Default)]
pub struct LocalOptions {
    /// Whether frames go bare.
    pub insecure: bool,
    /// Faults that frames meet.
    pub faults: Option<Faults>,
    /// The rest.
    pub ether: EtherOptions,
}

impl LocalOptions {
    /// The same in every job: what is tested is not how well they are kept.
    fn secrets(&self, pes: u32) -> Option<Secrets> {
        let life = |pe: u32| Life([pe as u8; 16]);
        (!self.insecure).then(|| Secrets {
            key: JobKey::new([0x6c; 32]),
            lives: (0..pes).map(life).collect(),
        })
    }
}

/// A PE of such a job.
pub struct LocalPe {
    /// Its wires: shared memory within its host, and the one between hosts.
    pub wires: Wires,
    /// The one between hosts alone.
    pub ether: Arc<Ether>,
}

/// For a hang: nobody waits so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of all jobs of one process: their sockets tell them apart.
const JOB: u64 = 0x6c6f_6361_6c00;

/// The PEs of a job of `pes` on `hosts` hosts, taken in turn, one for a thread each.
///
/// # Errors
/// [`TransportError::Environment`].
pub fn local(
    pes: u32,
    hosts: u32,
    segment_bytes: usize,
    wire: &LocalWire,
    options: &LocalOptions,
) -> Result<Vec<LocalPe>, TransportError> {
    let hosts = hosts.clamp(1, pes.max(1));
    let mut shared = Vec::new();
    for host in 0..hosts {
        let here: Vec<PeId> = (host..pes).step_by(hosts as usize).collect();
        let wires = shm::local_part(pes, &here, segment_bytes, ShmOptions::default())?;
        shared.push(wires.into_iter());
    }
    let sockets = (0..pes)
        .map(|pe| {
            let socket = open(pe, pes, hosts, wire)?;
            Ok(match options.faults {
                Some(faults) => socket.with_faults(faults, pe),
                None => socket,
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let addresses: Vec<_> = sockets.iter().map(Socket::address).collect();
    let deadline = Instant::now() + PATIENCE;
    // Each waits until the others answer.
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (pe, socket) in (0..pes).zip(sockets) {
            let host = (pe % hosts) as usize;
            let Some(shm) = shared.get_mut(host).and_then(Iterator::next) else {
                return Err(TransportError::NoSuchPe { pe, pes });
            };
            let peers = (0..pes).zip(&addresses);
            let peers =
                peers.map(|(other, address)| (other % hosts != pe % hosts).then_some(*address));
            let roster = Roster {
                pe,
                job: JOB,
                peers: peers.collect(),
                secrets: options.secrets(pes),
            };
            threads.push(scope.spawn(move || {
                let segment = shm.segment().clone();
                let ether = Ether::connect(segment, socket, &roster, &options.ether, deadline)?;
                let ether = Arc::new(ether);
                let between: [Arc<dyn Transport>; 1] = [Arc::clone(&ether) as _];
                let wires = Wires::new(Arc::new(shm), between)?;
                Ok(LocalPe { wires, ether })
            }));
        }
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| {
                let panicked = std::io::Error::other("its thread panicked");
                Err(TransportError::environment("connecting a PE", panicked))
            })
        });
        joined.collect()
    })
}

fn open(pe: PeId, pes: u32, hosts: u32, wire: &LocalWire) -> Result<Socket, TransportError> {
    match wire {
        LocalWire::Udp => Ok(Socket::Udp(FramePort::open(IpAddr::V4(
            Ipv4Addr::LOCALHOST,
        ))?)),
        LocalWire::Xdp {
            interfaces,
            ether_type,
        } => {
            let interface = interfaces.get(pe as usize).ok_or_else(|| {
                let (what, got) = ("choosing an interface", interfaces.len());
                TransportError::misused(what, format_args!("one for each of {pes} PEs"), got)
            })?;
            let socket = XdpSocket::open(interface, *ether_type)?;
            Ok(Socket::Xdp(Box::new(socket)))
        }
        LocalWire::Packet {
            interfaces,
            ether_type,
        } => {
            let (host, local) = (pe % hosts, pe / hosts);
            let interface = interfaces.get(host as usize).ok_or_else(|| {
                let (what, got) = ("choosing an interface", interfaces.len());
                TransportError::misused(what, format_args!("one for each of {hosts} hosts"), got)
            })?;
            let remote = pes - (pes - host).div_ceil(hosts);
            let links = local * remote..(local + 1) * remote;
            let socket = PacketSocket::open(interface, *ether_type, pe, links)?;
            Ok(Socket::Packet(socket))
        }
    }
}
