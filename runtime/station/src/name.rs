//! The name by which others reach a station.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;

use hostwire_transport::error::{EnvironmentFault, TransportError};
use hostwire_transport::os::random;
use hostwire_transport::shm::key::Key;
use rustix::net::SocketAddrUnix;

/// "hwst" and the version of names and of the exchanges between stations.
const MAGIC: [u8; 6] = *b"hwst\x02\0";
/// A random number of the kernel, new at each boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Abstract sockets are visible within a network namespace.
const NETWORK: &str = "/proc/self/ns/net";

/// The name of a station: where it is, and the key that callers have to show. Any process with the
/// name can reach the station, so give it only to those that may.
///
/// | bytes | |
/// |---|---|
/// | 0 to 5 | "hwst", version, 0 |
/// | 6, 7 | the TCP port on which it listens for stations of other hosts, big-endian; 0 if it does
/// not |
/// | 8 to 15 | the host: its boot and its network namespace |
/// | 16 to 31 | the abstract socket, random |
/// | 32 to 47 | the key, random |
/// | 48 to 63 | the address of that port as IPv6, with IPv4 mapped into it; 0 without a port |
///
/// With only zeros after the host it is a [name of the host](Self::of_this_host) without a
/// station.
///
/// `Debug` does not show the key.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    host: u64,
    socket: u128,
    key: Key,
    outside: Option<SocketAddr>,
}

impl Name {
    /// Its length: the most that users of libfabric accept.
    pub const BYTES: usize = 64;

    /// A new name on this host. `outside` is where the station listens for other hosts.
    pub(super) fn draw(outside: Option<SocketAddr>) -> Result<Self, TransportError> {
        Ok(Self {
            host: this_host()?,
            socket: u128::from_ne_bytes(random()?),
            key: Key::new(u128::from_ne_bytes(random()?)),
            outside,
        })
    }

    /// The name of a PE of a job in virtual time. Its host differs from every real host.
    pub(super) fn of_pe(job: u128, pe: u32) -> Self {
        Self {
            host: (job ^ job >> 64) as u64,
            // Never 0, which stands for no station.
            socket: u128::from(pe) + 1,
            key: Key::new(job),
            outside: None,
        }
    }

    /// The number of the PE with this name, if it belongs to that job.
    pub(super) fn pe_of(&self, job: u128) -> Option<u32> {
        let pe = u32::try_from(self.socket.checked_sub(1)?).ok()?;
        (Self::of_pe(job, pe).to_bytes() == self.to_bytes()).then_some(pe)
    }

    /// The part of a name that is known before a station is opened here: the host. It does not
    /// lead to a station.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: the kernel does not say on which host this is.
    pub fn of_this_host() -> Result<[u8; Self::BYTES], TransportError> {
        let name = Self {
            host: this_host()?,
            socket: 0,
            key: Key::new(0),
            outside: None,
        };
        Ok(name.to_bytes())
    }

    /// The same, on another host.
    pub(super) fn moved(self, host: u64) -> Self {
        Self { host, ..self }
    }

    /// Its bytes, to be sent to others.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let [low, high] = self.key.to_words();
        bytes[..6].copy_from_slice(&MAGIC);
        if let Some(outside) = self.outside {
            bytes[6..8].copy_from_slice(&outside.port().to_be_bytes());
            let ip = match outside.ip() {
                IpAddr::V4(ip) => ip.to_ipv6_mapped(),
                IpAddr::V6(ip) => ip,
            };
            bytes[48..].copy_from_slice(&ip.octets());
        }
        bytes[8..16].copy_from_slice(&self.host.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.socket.to_le_bytes());
        bytes[32..40].copy_from_slice(&low.to_le_bytes());
        bytes[40..48].copy_from_slice(&high.to_le_bytes());
        bytes
    }

    /// Reads a name; `None` if these bytes are not the name of a station of this version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else {
            return None;
        };
        let [
            head,
            host,
            socket_low,
            socket_high,
            low,
            high,
            ip_high,
            ip_low,
        ] = words
        else {
            return None;
        };
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let wide = |low, high| u128::from(word(high)) << 64 | u128::from(word(low));
        let (magic, port) = head.split_first_chunk::<6>()?;
        let socket = wide(socket_low, socket_high);
        (*magic == MAGIC && socket != 0).then_some(())?;
        let port = u16::from_be_bytes(port.try_into().ok()?);
        let ip = u128::from(u64::from_be_bytes(*ip_high)) << 64
            | u128::from(u64::from_be_bytes(*ip_low));
        Some(Self {
            host: word(host),
            socket,
            key: Key::from_words(word(low), word(high)),
            outside: outside(Ipv6Addr::from(ip), port)?,
        })
    }

    /// A number that is different for each station.
    pub fn id(&self) -> u128 {
        self.socket
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Whether the two are on one host, so that sockets connect them.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.host == other.host
    }

    /// The address at which stations of other hosts reach it.
    pub(super) fn outside(&self) -> Option<SocketAddr> {
        self.outside
    }

    pub(super) fn address(&self) -> Result<SocketAddrUnix, TransportError> {
        SocketAddrUnix::new_abstract_name(format!("hostwire-{:032x}", self.socket).as_bytes())
            .map_err(|e| TransportError::environment("naming the socket of a station", e))
    }
}

/// The address at which a station listens, if it does. `None` outside if no station can have this
/// address.
#[allow(clippy::option_option, reason = "none is right, and none can be read")]
fn outside(ip: Ipv6Addr, port: u16) -> Option<Option<SocketAddr>> {
    let ip = ip.to_canonical();
    match (port, ip.is_unspecified() || ip.is_multicast()) {
        (0, _) => (ip == IpAddr::V6(Ipv6Addr::UNSPECIFIED)).then_some(None),
        (_, true) => None,
        (port, false) => Some(Some(SocketAddr::new(ip, port))),
    }
}

/// A number that is the same for two processes if they can reach each other's sockets.
fn this_host() -> Result<u64, TransportError> {
    let failed = |what: &str, e: &std::io::Error| {
        let code = e.raw_os_error().unwrap_or(libc::EIO);
        let errno = rustix::io::Errno::from_raw_os_error(code);
        TransportError::environment(format!("reading {what}"), errno)
    };
    let boot = std::fs::read_to_string(BOOT_ID).map_err(|e| failed(BOOT_ID, &e))?;
    let digits: String = boot.chars().filter(char::is_ascii_hexdigit).collect();
    let boot = u128::from_str_radix(&digits, 16).map_err(|_| {
        let got = format_args!("{} characters", boot.len());
        let fault = EnvironmentFault::unexpected("128 bits of hexadecimal digits", got);
        TransportError::environment(format!("reading {BOOT_ID}"), fault)
    })?;
    let network = std::fs::metadata(NETWORK).map_err(|e| failed(NETWORK, &e))?;
    Ok(boot as u64 ^ (boot >> 64) as u64 ^ network.ino())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_the_wire_and_others_are_none() {
        let places = [None, Some("10.9.0.1:4000"), Some("[fd00::9]:65535")];
        for place in places.map(|place| place.map(|text| text.parse().unwrap())) {
            let name = Name::draw(place).unwrap();
            let bytes = name.to_bytes();
            let read = Name::from_bytes(&bytes).unwrap();
            assert_eq!(read.to_bytes(), bytes);
            assert!(read.is_beside(&name) && read.key().is(name.key()));
            assert_eq!((read.id(), read.outside()), (name.id(), place));
            assert!(!name.moved(name.host ^ 1).is_beside(&name));
            assert!(Name::from_bytes(&bytes[..63]).is_none());
            assert!(Name::from_bytes(&bytes[..48]).is_none());
            assert!(Name::from_bytes(&[&bytes[..], &[0; 8]].concat()).is_none());
            for at in 0..6 {
                let mut bad = bytes;
                bad[at] ^= 1;
                assert!(Name::from_bytes(&bad).is_none(), "{at}");
            }
        }
    }

    #[test]
    fn places_where_no_station_is_are_none() {
        let bytes = |port: u16, ip: &str| {
            let mut bytes = Name::draw(None).unwrap().to_bytes();
            bytes[6..8].copy_from_slice(&port.to_be_bytes());
            bytes[48..].copy_from_slice(&ip.parse::<Ipv6Addr>().unwrap().octets());
            bytes
        };
        assert!(Name::from_bytes(&bytes(9, "::ffff:10.0.0.1")).is_some());
        for (port, ip) in [
            (0, "::1"),
            (9, "::"),
            (9, "::ffff:0.0.0.0"),
            (9, "ff02::1"),
            (9, "::ffff:224.0.0.1"),
        ] {
            assert!(Name::from_bytes(&bytes(port, ip)).is_none(), "{port} {ip}");
        }
    }

    #[test]
    fn the_name_of_a_host_is_that_of_no_station() {
        let host = Name::of_this_host().unwrap();
        assert!(Name::from_bytes(&host).is_none());
        let station = Name::draw(None).unwrap().to_bytes();
        assert_eq!(host[..16], station[..16]);
        assert_eq!(host[16..], [0; 48]);
    }

    #[test]
    fn all_pes_of_a_job_have_names() {
        for pe in [0, 1, 4095] {
            let name = Name::from_bytes(&Name::of_pe(7, pe).to_bytes()).unwrap();
            assert_eq!((name.pe_of(7), name.pe_of(8)), (Some(pe), None));
        }
        assert_eq!(Name::draw(None).unwrap().pe_of(7), None);
    }

    #[test]
    fn debug_does_not_show_the_key() {
        let name = Name::draw(None).unwrap();
        assert!(format!("{name:?}").contains("key: Key(..)"));
    }
}
