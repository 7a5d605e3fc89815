//! The network interfaces of this host, and which one the wire takes.

use core::ffi::CStr;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{EnvironmentFault, TransportError};

/// An Ethernet interface that is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
    /// Its MAC address.
    pub station: MacAddress,
    /// Longest packet, in bytes.
    pub mtu_bytes: usize,
    /// Its first IPv4 address.
    pub ip: Option<Ipv4Addr>,
}

impl Interface {
    /// The Ethernet interfaces of this network namespace that are up, in the order of
    /// their numbers.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn all() -> Result<Vec<Self>, TransportError> {
        let failed = |e| TransportError::environment("listing the network interfaces", e);
        let mut interfaces = list().map_err(failed)?;
        for interface in &mut interfaces {
            let mtu = mtu_bytes(&interface.name).map_err(|e| {
                TransportError::environment(format!("asking for the MTU of {}", interface.name), e)
            })?;
            interface.mtu_bytes = mtu;
        }
        interfaces.sort_by_key(|interface| interface.index);
        Ok(interfaces)
    }

    /// The one called `name`; without a name the only one, else that of the default route.
    ///
    /// # Errors
    /// [`TransportError::Environment`] that names the existing interfaces.
    pub fn choose(name: Option<&str>) -> Result<Self, TransportError> {
        let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
        choose(Self::all()?, name, default_route(&routes))
    }

    /// Those with these names, in this order; without a name as [`choose`](Self::choose).
    ///
    /// # Errors
    /// As those of [`choose`](Self::choose).
    pub fn choose_all(names: &[String]) -> Result<Vec<Self>, TransportError> {
        match names {
            [] => Ok(vec![Self::choose(None)?]),
            names => names.iter().map(|name| Self::choose(Some(name))).collect(),
        }
    }

    /// How many queues it has, where the driver says so.
    pub(super) fn queues(&self) -> Option<QueueCounts> {
        queues(&self.name).ok()
    }

    /// Its address for UDP.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if it has no IPv4 address.
    pub fn address(&self) -> Result<IpAddr, TransportError> {
        self.ip.map(IpAddr::V4).ok_or_else(|| {
            TransportError::environment(
                format!("finding an address for UDP on {}", self.name),
                EnvironmentFault::NoAddress {
                    interface: self.name.as_str().into(),
                },
            )
        })
    }
}

/// Of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueueCounts {
    pub(super) receive: u32,
    pub(super) transmit: u32,
}

fn choose(
    interfaces: Vec<Interface>,
    name: Option<&str>,
    default: Option<&str>,
) -> Result<Interface, TransportError> {
    let called = |name: &str| interfaces.iter().find(|one| one.name == name);
    let chosen = match (name, &interfaces[..]) {
        (Some(name), _) => called(name),
        (None, [only]) => Some(only),
        (None, _) => default.and_then(called),
    };
    chosen.cloned().ok_or_else(|| {
        TransportError::environment(
            "choosing a network interface",
            EnvironmentFault::NoInterface {
                named: name.map(Into::into),
                up: interfaces.into_iter().map(|one| one.name).collect(),
            },
        )
    })
}

/// The interface of the first default route in `/proc/net/route`: its name, destination
/// and more per line.
pub(crate) fn default_route(routes: &str) -> Option<&str> {
    routes.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        (words.next()? == "00000000").then_some(name)
    })
}

/// Everything except their MTUs.
fn list() -> io::Result<Vec<Interface>> {
    let (mut interfaces, addresses) = list_all()?;
    for interface in &mut interfaces {
        let own = addresses.iter().find(|(name, _)| *name == interface.name);
        interface.ip = own.map(|(_, ip)| *ip);
    }
    Ok(interfaces)
}

/// IPv4 addresses, each with the name of its interface.
type Addresses = Vec<(String, Ipv4Addr)>;

/// The IPv4 addresses of this network namespace.
///
/// # Errors
/// The error of the system.
pub(super) fn addresses() -> io::Result<Addresses> {
    list_all().map(|(_, addresses)| addresses)
}

/// The Ethernet interfaces that are up, without MTUs and addresses, and the addresses of all interfaces.
fn list_all() -> io::Result<(Vec<Interface>, Addresses)> {
    let mut first = core::ptr::null_mut();
    // SAFETY: writes a pointer to `first`, which outlives the call.
    if unsafe { libc::getifaddrs(&raw mut first) } == -1 {
        return Err(io::Error::last_os_error());
    }
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut addresses = Addresses::new();
    let mut next = first;
    // SAFETY: null, or an entry of the list, which lives until it is freed below.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        let up = entry.ifa_flags & (libc::IFF_UP as u32) != 0;
        // SAFETY: null, or an address of the entry, which begins with its family.
        let family = unsafe { entry.ifa_addr.as_ref() }.map(|address| i32::from(address.sa_family));
        // SAFETY: the name of an entry is a terminated string that lives as long.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) };
        let name = name.to_string_lossy().into_owned();
        match family {
            Some(libc::AF_PACKET) if up => {
                // SAFETY: an address of this family is a `sockaddr_ll`.
                let address =
                    unsafe { entry.ifa_addr.cast::<libc::sockaddr_ll>().read_unaligned() };
                let [a, b, c, d, e, f, ..] = address.sll_addr;
                if address.sll_hatype == libc::ARPHRD_ETHER {
                    interfaces.push(Interface {
                        name,
                        index: u32::try_from(address.sll_ifindex).unwrap_or(0),
                        station: MacAddress([a, b, c, d, e, f]),
                        mtu_bytes: 0,
                        ip: None,
                    });
                }
            }
            Some(libc::AF_INET) => {
                // SAFETY: an address of this family is a `sockaddr_in`.
                let address =
                    unsafe { entry.ifa_addr.cast::<libc::sockaddr_in>().read_unaligned() };
                addresses.push((name, Ipv4Addr::from(address.sin_addr.s_addr.to_ne_bytes())));
            }
            _ => {}
        }
    }
    // SAFETY: the list that `getifaddrs` made, freed once; nothing above keeps a
    // reference.
    unsafe { libc::freeifaddrs(first) };
    Ok((interfaces, addresses))
}

fn mtu_bytes(name: &str) -> io::Result<usize> {
    let mut request = request(name);
    // SAFETY: this request reads the name and fills the MTU, and no pointer in it is followed.
    unsafe { ask(libc::SIOCGIFMTU, &mut request)? };
    // SAFETY: the field that this request fills.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    Ok(usize::try_from(mtu).unwrap_or(0))
}

/// linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
/// linux/ethtool.h.
const ETHTOOL_GCHANNELS: u32 = 0x3c;

/// `struct ethtool_channels` of linux/ethtool.h.
#[repr(C)]
struct Channels {
    command: u32,
    max: [u32; 4],
    receive: u32,
    transmit: u32,
    other: u32,
    combined: u32,
}

const _: () = assert!(size_of::<Channels>() == 36);

fn queues(name: &str) -> io::Result<QueueCounts> {
    let mut channels = Channels {
        command: ETHTOOL_GCHANNELS,
        max: [0; 4],
        receive: 0,
        transmit: 0,
        other: 0,
        combined: 0,
    };
    let mut request = request(name);
    request.ifr_ifru.ifru_data = (&raw mut channels).cast();
    // SAFETY: this request reads the name and follows the pointer, to a command that reads and
    // writes as many bytes as `Channels` has; they outlive the call.
    unsafe { ask(SIOCETHTOOL, &mut request)? };
    Ok(QueueCounts {
        receive: channels.receive.saturating_add(channels.combined),
        transmit: channels.transmit.saturating_add(channels.combined),
    })
}

/// A request about the interface of this name, otherwise empty.
fn request(name: &str) -> libc::ifreq {
    // SAFETY: all-zero bytes are an `ifreq`.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *to = from as libc::c_char;
    }
    request
}

/// Asks the kernel about an interface.
///
/// # Safety
/// Everything that the request `number` reads from `request`, and through pointers in it, must be
/// valid.
unsafe fn ask(number: libc::c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // Any socket of the namespace may ask.
    let socket = std::net::UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    // SAFETY: reads and writes the `ifreq`, which outlives the call; the rest is the caller's.
    if unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            number as _,
            core::ptr::from_mut(request),
        )
    } == -1
    {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(name: &str) -> Interface {
        Interface {
            name: name.into(),
            index: 1,
            station: MacAddress([2, 0, 0, 0, 0, 1]),
            mtu_bytes: 1500,
            ip: None,
        }
    }

    #[test]
    fn the_name_comes_first_then_the_only_one_then_the_route() {
        let two = || vec![interface("a"), interface("b")];
        let name = |chosen: Result<Interface, TransportError>| chosen.unwrap().name;
        assert_eq!(name(choose(two(), Some("b"), Some("a"))), "b");
        assert_eq!(name(choose(two(), None, Some("a"))), "a");
        assert_eq!(name(choose(vec![interface("c")], None, Some("a"))), "c");
        let none = |named: Option<&str>, up: &[&str]| {
            let fault = EnvironmentFault::NoInterface {
                named: named.map(Into::into),
                up: up.iter().map(|name| (*name).to_owned()).collect(),
            };
            Err(TransportError::environment(
                "choosing a network interface",
                fault,
            ))
        };
        for (name, default) in [(Some("x"), None), (None, None), (None, Some("tun0"))] {
            assert_eq!(choose(two(), name, default), none(name, &["a", "b"]));
        }
        assert_eq!(choose(vec![], None, None), none(None, &[]));
    }

    #[test]
    fn the_default_route_is_the_one_to_everywhere() {
        let routes = "Iface\tDestination\tGateway\n\
                      eth1\t0000090A\t00000000\n\
                      eth0\t00000000\t0100090A\n";
        assert_eq!(default_route(routes), Some("eth0"));
        for none in ["", "Iface\tDestination\n", "Iface\tDestination\neth0\n"] {
            assert_eq!(default_route(none), None);
        }
    }

    #[test]
    fn this_host_has_interfaces_that_make_sense() {
        for interface in Interface::all().unwrap() {
            assert!(
                interface.index > 0 && interface.mtu_bytes > 0,
                "{interface:?}"
            );
        }
    }
}
