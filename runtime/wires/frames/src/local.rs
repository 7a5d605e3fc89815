//! A whole job in one process: for tests.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_link::seal::{JobKey, Life};
use hostwire_transport::error::TransportError;
use hostwire_transport::faults::Faults;
use hostwire_transport::shm::{self, Shm};
use hostwire_transport::wire::Wire;
use hostwire_transport::wires::Wires;

use super::{
    Adapter, AdapterMemory, Ether, EtherOptions, FramePort, Guest, Interface, PacketSocket, Roster,
    Secrets, Socket, StreamPort, XdpSocket,
};

/// How the hosts of a job in one process reach each other.
#[derive(Debug, Clone)]
pub enum LocalWire {
    /// By UDP on the loopback interface.
    Udp,
    /// By TCP on the loopback interface.
    Tcp,
    /// As [`Packet`](Self::Packet), but past the network stack.
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
    /// By several wires of one kind at once.
    Several(Vec<Self>),
}

/// Options of a job in one process.
#[derive(Debug, Clone, Default)]
pub struct LocalOptions {
    /// Whether frames are sent without encryption.
    pub insecure: bool,
    /// Faults that frames meet.
    pub faults: Option<Faults>,
    /// Options of the wire.
    pub ether: EtherOptions,
}

impl LocalOptions {
    /// The same in every job: tests do not check secrecy of keys.
    fn secrets(&self, hosts: u32) -> Option<Secrets> {
        let life = |host: u32| Life([host as u8; 16]);
        (!self.insecure).then(|| Secrets {
            key: JobKey::new([0x6c; 32]),
            lives: (0..hosts).map(life).collect(),
        })
    }
}

/// A PE of such a job.
pub struct LocalPe {
    /// Its wires: shared memory within its host, and the one between hosts.
    pub wires: Wires,
    /// The wire between hosts, if this PE is the only one of its host.
    pub ether: Option<Arc<Ether>>,
}

/// For a hang: longer than any wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// The number of all jobs of one process: only their sockets distinguish them.
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
    let shared = shm::local_hosts(pes, hosts, segment_bytes)?;
    let sockets = (0..hosts)
        .map(|host| {
            let socket = open(host, hosts, wire)?;
            Ok(match options.faults {
                Some(faults) => socket.with_faults(faults, host),
                None => socket,
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let addresses: Vec<_> = sockets.iter().map(|socket| socket.address()).collect();
    let host_of: Arc<[u32]> = (0..pes).map(|pe| pe % hosts).collect();
    let deadline = Instant::now() + PATIENCE;
    // Each waits until the others answer.
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for ((host, socket), shm) in (0..).zip(sockets).zip(shared) {
            let peers = (0..).zip(&addresses);
            let peers = peers.map(|(other, address)| (other != host).then_some(*address));
            let roster = Roster {
                host,
                host_of: Arc::clone(&host_of),
                job: JOB,
                peers: peers.collect(),
                secrets: options.secrets(hosts),
            };
            let host = LocalHost {
                shm,
                roster,
                options: options.ether.clone(),
                deadline,
            };
            threads.push(scope.spawn(move || host.connect(socket)));
        }
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| {
                let panicked = std::io::Error::other("its thread panicked");
                Err(TransportError::environment("connecting a host", panicked))
            })
        });
        let by_host: Vec<Vec<LocalPe>> = joined.collect::<Result<_, _>>()?;
        let mut by_host: Vec<_> = by_host.into_iter().map(Vec::into_iter).collect();
        let in_order = (0..pes).filter_map(|pe| by_host.get_mut((pe % hosts) as usize)?.next());
        Ok(in_order.collect())
    })
}

/// A host of such a job.
struct LocalHost {
    /// The wires within it, of each PE.
    shm: Vec<Shm>,
    roster: Roster,
    options: EtherOptions,
    deadline: Instant,
}

impl LocalHost {
    fn connect(self, socket: Socket) -> Result<Vec<LocalPe>, TransportError> {
        let Self {
            shm,
            roster,
            options,
            deadline,
        } = self;
        if let [only] = &shm[..] {
            let segments = vec![only.segment().clone()];
            let ether = Ether::connect(segments, socket, &roster, &options, deadline)?;
            let ether = Arc::new(ether);
            let only = shm.into_iter().map(|shm| {
                let between = Arc::clone(&ether) as Arc<dyn Wire>;
                LocalPe::new(shm, between, Some(Arc::clone(&ether)))
            });
            return only.collect();
        }
        let (pes, hosts) = (roster.host_of.len() as u32, roster.peers.len() as u32);
        let here = shm.len() as u32;
        let file = AdapterMemory::create(pes, hosts, here)?;
        let adapter_memory = AdapterMemory::open(&file, pes, hosts, here)?;
        let host_of = Arc::clone(&roster.host_of);
        if let Some(first) = shm.first() {
            let adapter = Adapter {
                options,
                ..Adapter::new(first, &adapter_memory, roster, deadline)
            };
            adapter.start_thread(socket)?;
        }
        let join = |shm: Shm| {
            let guest = Guest::join(&shm, &adapter_memory, Arc::clone(&host_of), 1, deadline)?;
            LocalPe::new(shm, Arc::new(guest), None)
        };
        shm.into_iter().map(join).collect()
    }
}

impl LocalPe {
    fn new(
        shm: Shm,
        between: Arc<dyn Wire>,
        ether: Option<Arc<Ether>>,
    ) -> Result<Self, TransportError> {
        let wires = Wires::new(Arc::new(shm), [between])?;
        Ok(Self { wires, ether })
    }
}

fn open(host: u32, hosts: u32, wire: &LocalWire) -> Result<Socket, TransportError> {
    let of_host = |interfaces: &[Interface]| {
        interfaces.get(host as usize).cloned().ok_or_else(|| {
            let (what, got) = ("choosing an interface", interfaces.len());
            TransportError::misused(what, format_args!("one for each of {hosts} hosts"), got)
        })
    };
    match wire {
        LocalWire::Several(wires) => {
            let sockets = wires.iter().map(|wire| open(host, hosts, wire));
            Socket::several(sockets.collect::<Result<_, _>>()?)
        }
        LocalWire::Udp => Ok(Socket::of(FramePort::open(IpAddr::V4(
            Ipv4Addr::LOCALHOST,
        ))?)),
        LocalWire::Tcp => {
            let socket = StreamPort::open(IpAddr::V4(Ipv4Addr::LOCALHOST))?;
            Ok(Socket::of(socket))
        }
        LocalWire::Xdp {
            interfaces,
            ether_type,
        } => {
            let socket = XdpSocket::open(&of_host(interfaces)?, *ether_type)?;
            Ok(Socket::of(socket))
        }
        LocalWire::Packet {
            interfaces,
            ether_type,
        } => {
            let interface = of_host(interfaces)?;
            let socket = PacketSocket::open(&interface, *ether_type, host, hosts - 1)?;
            Ok(Socket::of(socket))
        }
    }
}
