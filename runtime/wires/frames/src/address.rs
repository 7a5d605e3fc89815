//! The address at which a PE is reached, and its text form, which PEs exchange.

use core::fmt;
use core::str::FromStr;
use std::net::SocketAddr;

use hostwire_packet::htoe::ethernet::MacAddress;

/// Most interfaces that reach one host.
pub const INTERFACES_MAX: usize = 4;

/// Where the frames of a PE are sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// A station of the own layer-2 network.
    Station(MacAddress),
    /// A port of UDP.
    Udp(SocketAddr),
    /// A port of a station of the own layer-2 network.
    StationPort(PortAt),
    /// A port of TCP.
    Tcp(SocketAddr),
    /// A station for each of several interfaces.
    Stations(Several<MacAddress>),
    /// A port of UDP for each of several interfaces.
    Ports(Several<SocketAddr>),
    /// A port of TCP for each of several interfaces.
    TcpPorts(Several<SocketAddr>),
    /// A port of a station for each of several interfaces.
    StationPorts(Several<PortAt>),
}

/// One of several endpoints at a station. The head of a frame says for which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PortAt {
    /// The station.
    pub station: MacAddress,
    /// Drawn at random by its owner.
    pub port: u32,
}

impl fmt::Display for PortAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:08x}", self.station, self.port)
    }
}

/// Two values or more, one for each interface, in their order; up to [`INTERFACES_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Several<T> {
    count: u8,
    /// Unused places hold the first value.
    places: [T; INTERFACES_MAX],
}

impl<T: Copy> Several<T> {
    /// `None` for any other number of values.
    pub fn new(values: &[T]) -> Option<Self> {
        let &[first, _, ..] = values else {
            return None;
        };
        let mut places = [first; INTERFACES_MAX];
        places.get_mut(..values.len())?.copy_from_slice(values);
        let count = values.len() as u8;
        Some(Self { count, places })
    }

    /// All of them.
    pub fn values(&self) -> &[T] {
        self.places
            .get(..usize::from(self.count))
            .unwrap_or_default()
    }
}

impl Address {
    /// The address of an endpoint with `addresses`, one for each of its interfaces. `None` if
    /// there are none or more than [`INTERFACES_MAX`], or if they are not all of one kind.
    pub fn of_interfaces(addresses: &[Self]) -> Option<Self> {
        match addresses {
            [Self::Station(_) | Self::Udp(_) | Self::Tcp(_) | Self::StationPort(_)] => {
                addresses.first().copied()
            }
            [Self::Station(_), ..] => all(addresses, Self::station).map(Self::Stations),
            [Self::Udp(_), ..] => all(addresses, Self::udp).map(Self::Ports),
            [Self::Tcp(_), ..] => all(addresses, Self::tcp).map(Self::TcpPorts),
            [Self::StationPort(_), ..] => {
                all(addresses, Self::station_port).map(Self::StationPorts)
            }
            _ => None,
        }
    }

    /// The address of one of the interfaces.
    pub fn of_interface(&self, number: usize) -> Option<Self> {
        match self {
            Self::Station(_) | Self::Udp(_) | Self::Tcp(_) | Self::StationPort(_) => {
                (number == 0).then_some(*self)
            }
            Self::Stations(stations) => stations.values().get(number).copied().map(Self::Station),
            Self::Ports(ports) => ports.values().get(number).copied().map(Self::Udp),
            Self::TcpPorts(ports) => ports.values().get(number).copied().map(Self::Tcp),
            Self::StationPorts(ports) => ports.values().get(number).copied().map(Self::StationPort),
        }
    }

    /// How many interfaces it is for.
    pub fn interfaces(&self) -> usize {
        match self {
            Self::Station(_) | Self::Udp(_) | Self::Tcp(_) | Self::StationPort(_) => 1,
            Self::Stations(stations) => stations.values().len(),
            Self::Ports(ports) | Self::TcpPorts(ports) => ports.values().len(),
            Self::StationPorts(ports) => ports.values().len(),
        }
    }

    const fn station(&self) -> Option<MacAddress> {
        match self {
            Self::Station(station) => Some(*station),
            _ => None,
        }
    }

    const fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(port) => Some(*port),
            _ => None,
        }
    }

    const fn udp(&self) -> Option<SocketAddr> {
        match self {
            Self::Udp(port) => Some(*port),
            _ => None,
        }
    }

    const fn station_port(&self) -> Option<PortAt> {
        match self {
            Self::StationPort(port) => Some(*port),
            _ => None,
        }
    }
}

/// The result of `one` for each of `addresses`.
fn all<T: Copy>(addresses: &[Address], one: fn(&Address) -> Option<T>) -> Option<Several<T>> {
    Several::new(&addresses.iter().map(one).collect::<Option<Vec<_>>>()?)
}

/// A text that is no [`Address`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the address of a PE, such as ether=02:00:00:00:00:01 or udp=10.0.0.1:4000, or up to {INTERFACES_MAX} of one kind as in udp=10.0.0.1:4000+10.1.0.1:4000, got {got:?}"
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
            Self::Tcp(port) => write!(f, "tcp={port}"),
            Self::StationPort(port) => write!(f, "ether={port}"),
            Self::Stations(stations) => write_all(f, "ether=", stations.values()),
            Self::Ports(ports) => write_all(f, "udp=", ports.values()),
            Self::TcpPorts(ports) => write_all(f, "tcp=", ports.values()),
            Self::StationPorts(ports) => write_all(f, "ether=", ports.values()),
        }
    }
}

fn write_all(f: &mut fmt::Formatter<'_>, kind: &str, values: &[impl fmt::Display]) -> fmt::Result {
    let mut separator = kind;
    for value in values {
        write!(f, "{separator}{value}")?;
        separator = "+";
    }
    Ok(())
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let all = |values: &str, one: fn(&str) -> Option<Self>| {
            // One more than allowed is enough to be refused.
            let values = values.split('+').take(INTERFACES_MAX + 1).map(one);
            Self::of_interfaces(&values.collect::<Option<Vec<_>>>()?)
        };
        let parsed = match text.split_once('=') {
            Some(("ether", stations)) => all(stations, at_station),
            Some(("udp", ports)) => all(ports, |text| text.parse().ok().map(Self::Udp)),
            Some(("tcp", ports)) => all(ports, |text| text.parse().ok().map(Self::Tcp)),
            _ => None,
        };
        parsed.ok_or_else(|| AddressError {
            got: text.chars().take(80).collect(),
        })
    }
}

/// A station, or a station and a port after a slash: eight hexadecimal digits.
fn at_station(text: &str) -> Option<Address> {
    let Some((station, port)) = text.split_once('/') else {
        return mac(text).map(Address::Station);
    };
    let are_digits = port.len() == 8 && port.bytes().all(|digit| digit.is_ascii_hexdigit());
    let port = u32::from_str_radix(port, 16).ok().filter(|_| are_digits)?;
    let station = mac(station)?;
    Some(Address::StationPort(PortAt { station, port }))
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
            "tcp=10.9.0.1:4000",
            "tcp=[fe80::1]:9+10.8.0.1:1",
            "ether=02:00:00:00:00:01+02:00:00:00:00:02",
            "udp=10.9.0.1:4000+[fe80::1]:9+10.8.0.1:1+10.7.0.1:2",
            "ether=02:00:00:00:ab:01/00c0ffee",
            "ether=02:00:00:00:00:01/00000001+02:00:00:00:00:02/ffffffff",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn several_are_one_address() {
        let port = |number| Address::Udp(SocketAddr::from(([10, 0, 0, 1], number)));
        let tcp = |number| Address::Tcp(SocketAddr::from(([10, 0, 0, 1], number)));
        let station = |last| Address::Station(MacAddress([2, 0, 0, 0, 0, last]));
        for all in [
            &[port(1)][..],
            &[port(1), port(1)],
            &[tcp(1)],
            &[tcp(1), tcp(2), tcp(1)],
            &[station(1), station(2), station(3), station(4)],
        ] {
            let address = Address::of_interfaces(all).unwrap();
            assert_eq!(address.interfaces(), all.len());
            for number in 0..=INTERFACES_MAX {
                assert_eq!(address.of_interface(number), all.get(number).copied());
            }
        }
        let two = Address::of_interfaces(&[port(1), port(2)]).unwrap();
        for none in [
            &[][..],
            &[port(1), station(1)],
            &[station(1), port(1)],
            &[tcp(1), port(1)],
            &[port(1), tcp(1)],
            &[two],
            &[port(1), two],
            &[port(1); INTERFACES_MAX + 1],
        ] {
            assert_eq!(Address::of_interfaces(none), None, "{none:?}");
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
            "ether=02:00:00:00:00:01/",
            "ether=02:00:00:00:00:01/1",
            "ether=02:00:00:00:00:01/+0000001",
            "ether=02:00:00:00:00:01/00000001+02:00:00:00:00:02",
            "udp=1.2.3.4:1+",
            "tcp=1.2.3.4",
            "tcp=1.2.3.4:1+udp=1.2.3.4:1",
            "udp=1.2.3.4:1+ether=02:00:00:00:00:01",
            "udp=1.2.3.4:1+1.2.3.4:1+1.2.3.4:1+1.2.3.4:1+1.2.3.4:1",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert_eq!(error.got, text);
        }
    }
}
