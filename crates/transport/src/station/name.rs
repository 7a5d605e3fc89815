//! What a station is called by those who want to reach it.

use std::os::unix::fs::MetadataExt;

use rustix::net::SocketAddrUnix;

use crate::error::{EnvironmentFault, TransportError};
use crate::os::random;
use crate::shm::key::Key;

/// "hwstat" and the version of names and of the exchange between stations.
const MAGIC: [u8; 8] = *b"hwstat\0\x01";
/// The kernel draws it at each boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Abstract sockets are seen within a network namespace.
const NETWORK: &str = "/proc/self/ns/net";

/// The name of a station: where it is, and the key that it wants to be shown. Whoever has the name
/// can reach the station, so it goes to those alone who may.
///
/// | bytes | |
/// |---|---|
/// | 0 to 7 | "hwstat", 0, version |
/// | 8 to 15 | the host: its boot and its network namespace |
/// | 16 to 31 | the abstract socket, random |
/// | 32 to 47 | the key, random |
///
/// `Debug` does not show the key.
#[derive(Debug, Clone, Copy)]
pub struct Name {
    host: u64,
    socket: u128,
    key: Key,
}

impl Name {
    /// How long it is. Libfabric's users take up to 64 bytes: the rest is for addresses of networks.
    pub const BYTES: usize = 48;

    /// A new one, on this host.
    pub(super) fn draw() -> Result<Self, TransportError> {
        Ok(Self {
            host: this_host()?,
            socket: u128::from_ne_bytes(random()?),
            key: Key::new(u128::from_ne_bytes(random()?)),
        })
    }

    /// As it goes to others.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let [low, high] = self.key.to_words();
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.host.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.socket.to_le_bytes());
        bytes[32..40].copy_from_slice(&low.to_le_bytes());
        bytes[40..].copy_from_slice(&high.to_le_bytes());
        bytes
    }

    /// Reads one; `None` if these bytes are none of this version.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, []) = bytes.as_chunks::<8>() else {
            return None;
        };
        let [magic, host, socket_low, socket_high, low, high] = words else {
            return None;
        };
        let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        (*magic == MAGIC).then(|| Self {
            host: word(host),
            socket: u128::from(word(socket_high)) << 64 | u128::from(word(socket_low)),
            key: Key::from_words(word(low), word(high)),
        })
    }

    /// What tells stations apart.
    pub fn id(&self) -> u128 {
        self.socket
    }

    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Whether a socket of one leads to the other.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        self.host == other.host
    }

    pub(super) fn address(&self) -> Result<SocketAddrUnix, TransportError> {
        SocketAddrUnix::new_abstract_name(format!("hostwire-{:032x}", self.socket).as_bytes())
            .map_err(|e| TransportError::environment("naming the socket of a station", e))
    }
}

/// A number that two processes have in common if they can reach each other's sockets.
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
        let name = Name::draw().unwrap();
        let bytes = name.to_bytes();
        let read = Name::from_bytes(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        assert!(read.is_beside(&name) && read.key().is(name.key()));
        assert!(Name::from_bytes(&bytes[..47]).is_none());
        assert!(Name::from_bytes(&[&bytes[..], &[0; 8]].concat()).is_none());
        for at in 0..8 {
            let mut bad = bytes;
            bad[at] ^= 1;
            assert!(Name::from_bytes(&bad).is_none(), "{at}");
        }
    }

    #[test]
    fn debug_does_not_show_the_key() {
        let name = Name::draw().unwrap();
        assert!(format!("{name:?}").contains("key: Key(..)"));
    }
}
