//! Where a PE is reached, and the text in which PEs tell each other.

use core::fmt;
use core::str::FromStr;
use std::net::SocketAddr;

use hostwire_packet::htoe::ethernet::MacAddress;

/// Where the frames of a PE are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// A station of the own layer-2 network.
    Station(MacAddress),
    /// A port.
    Udp(SocketAddr),
}

/// A text that is no [`Address`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the address of a PE, such as ether=02:00:00:00:00:01 or udp=10.0.0.1:4000, got {got:?}"
)]
pub struct AddressError {
    /// What was there.
    pub got: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Station(station) => write!(f, "ether={station}"),
            Self::Udp(port) => write!(f, "udp={port}"),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let parsed = match text.split_once('=') {
            Some(("ether", station)) => mac(station).map(Self::Station),
            Some(("udp", port)) => port.parse().ok().map(Self::Udp),
            _ => None,
        };
        parsed.ok_or_else(|| AddressError {
            got: text.chars().take(80).collect(),
        })
    }
}

/// Six pairs of hexadecimal digits with colons between them. A group is no station.
fn mac(text: &str) -> Option<MacAddress> {
    let mut station = [0; 6];
    let mut pairs = text.split(':');
    for byte in &mut station {
        let pair = pairs.next().filter(|pair| pair.len() == 2)?;
        if !pair.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    let station = MacAddress(station);
    (pairs.next().is_none() && !station.is_multicast()).then_some(station)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back() {
        for text in [
            "ether=02:00:00:00:ab:01",
            "udp=10.9.0.1:4000",
            "udp=[fe80::1]:9",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_named() {
        for text in [
            "",
            "10.9.0.1:4000",
            "udp=10.9.0.1",
            "udp=host:1",
            "ether=02:00:00:00:00",
            "ether=02:00:00:00:00:01:02",
            "ether=+2:00:00:00:00:01",
            "ether=ff:ff:ff:ff:ff:ff",
            "ether=é2:00:00:00:00:1",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.got, text);
        }
    }
}
