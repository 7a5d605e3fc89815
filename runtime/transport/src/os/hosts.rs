//! Several hosts on one machine: network namespaces with own host names and a network
//! between them. For jobs of several hosts on a single machine.
//!
//! The namespaces have no name, so nobody can find them. They and their interfaces last
//! as long as a process holds their descriptors or runs in them; so nothing is left behind,
//! however the processes end.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::netlink::Netlink;
use crate::error::{EnvironmentFault, TransportError};

/// Most hosts that can be made.
pub const HOSTS_MAX: u32 = 64;
/// The interface of every host.
pub const INTERFACE: &str = "wire";
const BRIDGE: &str = "switch";
const PREFIX_BITS: u8 = 24;
/// More hosts are told of each other, instead of asking. All namespaces share one table of at most 1,024 neighbours that are asked for
/// (gc_thresh3), in which 64 hosts would need 4,032. Fewer hosts ask, as those of a real network do: they then notice if a MAC address changes.
const ASKING_HOSTS_MAX: u32 = 24;

/// Some hosts and the network between them. See the [module text](self).
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<Arc<OwnedFd>>,
    /// The bridge that joins more than two.
    _switch: Option<OwnedFd>,
}

impl Hosts {
    /// Makes `count` hosts: two have a cable between them, more a switch. Each has the
    /// interface [`INTERFACE`] with an [`address`](Self::address).
    ///
    /// # Errors
    /// [`TransportError::Misused`] for fewer than 2 or more than [`HOSTS_MAX`];
    /// [`TransportError::Environment`], without the right to make namespaces
    /// [`EnvironmentFault::NotPermitted`].
    pub fn new(count: u32, mtu_bytes: u32) -> Result<Self, TransportError> {
        if !(2..=HOSTS_MAX).contains(&count) {
            return Err(TransportError::misused(
                "making hosts of this machine",
                format_args!("2 to {HOSTS_MAX}"),
                count,
            ));
        }
        let hosts = (0..count)
            .map(|_| namespace().map(Arc::new))
            .collect::<io::Result<Vec<_>>>()
            .map_err(refused)?;
        let failed = |e| TransportError::environment("connecting the hosts of this machine", e);
        let switch = match &hosts[..] {
            [a, b] => {
                let there = b.as_fd();
                let cable = || Netlink::open()?.add_cable(INTERFACE, INTERFACE, there);
                inside(a.as_fd(), cable).map_err(failed)?;
                None
            }
            all => Some(switch(all, mtu_bytes).map_err(failed)?),
        };
        for (number, host) in (0..).zip(&hosts) {
            let set_up = || {
                let netlink = Netlink::open()?;
                netlink.set_up("lo")?;
                netlink.set_mtu(INTERFACE, mtu_bytes)?;
                netlink.set_hardware_address(INTERFACE, hardware_address(number))?;
                netlink.add_address(INTERFACE, Self::address(number), PREFIX_BITS)?;
                netlink.set_up(INTERFACE)?;
                if count <= ASKING_HOSTS_MAX {
                    return Ok(());
                }
                let index = netlink.index(INTERFACE)?;
                let mut others = (0..count).filter(|other| *other != number);
                others.try_for_each(|other| {
                    netlink.add_neighbour(index, Self::address(other), hardware_address(other))
                })
            };
            inside(host.as_fd(), set_up).map_err(failed)?;
        }
        Ok(Self {
            hosts,
            _switch: switch,
        })
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        // At most HOSTS_MAX.
        self.hosts.len() as u32
    }

    /// The IPv4 address of a host: 10.9.0.1 for host 0.
    pub fn address(host: u32) -> Ipv4Addr {
        Ipv4Addr::new(10, 9, 0, host.saturating_add(1).min(254) as u8)
    }

    /// The place in which a process has to start to be on this host.
    pub fn place(&self, host: u32) -> Option<HostPlace> {
        let namespace = Arc::clone(self.hosts.get(host as usize)?);
        Some(HostPlace {
            namespace,
            name: format!("host{host}"),
        })
    }
}

/// A host, for [`ChildSetup`](super::process::ChildSetup).
#[derive(Debug, Clone)]
pub struct HostPlace {
    namespace: Arc<OwnedFd>,
    name: String,
}

impl HostPlace {
    /// Its name, as `uname` returns it there.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Moves the calling thread there, and gives it a host name of its own. Makes system
    /// calls only, so that it may be called between `fork` and `exec`.
    pub(super) fn enter(&self) -> io::Result<()> {
        enter(self.namespace.as_fd())?;
        // SAFETY: a host name is no descriptor: nothing that other threads hold changes.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUTS) }?;
        Ok(rustix::system::sethostname(self.name.as_bytes())?)
    }
}

/// The hardware address of a host's interface: one of those that belong to no maker.
fn hardware_address(host: u32) -> [u8; 6] {
    let [a, b, c, d] = Hosts::address(host).octets();
    [2, 0, a, b, c, d]
}

/// Joins hosts by a bridge in a namespace of its own.
fn switch(hosts: &[Arc<OwnedFd>], mtu_bytes: u32) -> io::Result<OwnedFd> {
    let switch = namespace()?;
    inside(switch.as_fd(), || {
        let netlink = Netlink::open()?;
        netlink.add_bridge(BRIDGE)?;
        for (number, host) in hosts.iter().enumerate() {
            let port = format!("port{number}");
            netlink.add_cable(&port, INTERFACE, host.as_fd())?;
            netlink.set_mtu(&port, mtu_bytes)?;
            netlink.set_master(&port, BRIDGE)?;
            netlink.set_up(&port)?;
        }
        netlink.set_up(BRIDGE)
    })?;
    Ok(switch)
}

/// A new network namespace.
fn namespace() -> io::Result<OwnedFd> {
    in_a_thread(|| {
        // SAFETY: a network namespace is no descriptor table; only sockets that this thread
        // opens from here on are in another place, and it ends below.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        Ok(open("/proc/thread-self/ns/net", flags, Mode::empty())?)
    })
}

/// Runs something on a host.
fn inside<R: Send>(
    host: BorrowedFd<'_>,
    run: impl FnOnce() -> io::Result<R> + Send,
) -> io::Result<R> {
    in_a_thread(|| {
        enter(host)?;
        run()
    })
}

fn enter(host: BorrowedFd<'_>) -> io::Result<()> {
    let network = Some(LinkNameSpaceType::Network);
    Ok(move_into_link_name_space(host, network)?)
}

/// Namespaces belong to threads: they end with their thread.
fn in_a_thread<R: Send>(run: impl FnOnce() -> io::Result<R> + Send) -> io::Result<R> {
    std::thread::scope(|scope| {
        let joined = scope.spawn(run).join();
        joined.unwrap_or_else(|_| Err(io::Error::other("its thread panicked")))
    })
}

fn refused(cause: io::Error) -> TransportError {
    let what = "making network namespaces, the hosts of this machine";
    match cause.raw_os_error() {
        Some(libc::EPERM) => TransportError::environment(
            what,
            EnvironmentFault::NotPermitted {
                rights: "CAP_SYS_ADMIN",
                advice: "run as root, or in a user namespace of your own (unshare --user \
                         --map-root-user --net)",
            },
        ),
        _ => TransportError::environment(what, cause),
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use hostwire_testing::{left_out, need};

    use super::*;

    /// Hosts, if this process may make some. Says so if it may not.
    fn hosts(count: u32) -> Option<Hosts> {
        if !rustix::process::geteuid().is_root() {
            assert!(matches!(
                Hosts::new(count, 1500),
                Err(TransportError::Environment {
                    fault: EnvironmentFault::NotPermitted { .. },
                    ..
                })
            ));
            left_out(&need::ROOT, "only root may make namespaces");
            return None;
        }
        Some(Hosts::new(count, 1400).unwrap())
    }

    #[test]
    fn hosts_reach_each_other_and_end_with_their_descriptors() {
        for count in [2, 3] {
            let Some(hosts) = hosts(count) else {
                return;
            };
            let last = count - 1;
            let open = |host: u32| {
                let place = hosts.place(host).unwrap();
                inside(place.namespace.as_fd(), move || {
                    UdpSocket::bind((Hosts::address(host), 0))
                })
                .unwrap()
            };
            let (a, b) = (open(0), open(last));
            b.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            a.send_to(b"hello", b.local_addr().unwrap()).unwrap();
            let mut got = [0; 8];
            // Children of other tests end meanwhile, and an emulator lets their signals interrupt the call.
            let (len, from) = loop {
                match b.recv_from(&mut got) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    received => break received.unwrap(),
                }
            };
            assert_eq!(
                (&got[..len], from),
                (&b"hello"[..], a.local_addr().unwrap())
            );
            assert_eq!(hosts.place(last).unwrap().name(), format!("host{last}"));
            assert!(hosts.place(count).is_none());
        }
    }

    #[test]
    fn too_few_and_too_many_are_refused() {
        for count in [0, 1, HOSTS_MAX + 1] {
            let refused = TransportError::misused("making hosts of this machine", "2 to 64", count);
            assert_eq!(Hosts::new(count, 1500).unwrap_err(), refused);
        }
    }
}
