//! The interface of a socket that is bound to an address, and that address when it changes.

use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};

use super::super::interface::addresses;

/// The addresses are listed no more often than this: it costs some system calls.
const LIST_AGAIN: Duration = Duration::from_millis(20);

/// Follows the address of an interface.
#[derive(Debug)]
pub(super) struct Following {
    /// `None` if it is no interface with an IPv4 address.
    interface: Option<String>,
    listed: Option<Instant>,
    moves: u32,
}

impl Following {
    /// For a socket that is bound to this address.
    pub(super) fn new(address: IpAddr) -> Self {
        let all = addresses().unwrap_or_default();
        let own = all.into_iter().find(|(_, ip)| IpAddr::V4(*ip) == address);
        Self {
            interface: own.map(|(name, _)| name),
            listed: None,
            moves: 0,
        }
    }

    /// How often a socket was made for another address.
    pub(super) const fn moves(&self) -> u32 {
        self.moves
    }

    pub(super) const fn has_moved(&mut self) {
        self.moves += 1;
    }

    /// The present address of the interface, if `address` has gone from this host.
    #[cold]
    pub(super) fn instead_of(&mut self, address: IpAddr) -> Option<IpAddr> {
        let interface = self.interface.as_deref()?;
        let now = Instant::now();
        if self.listed.is_some_and(|at| now - at < LIST_AGAIN) {
            return None;
        }
        self.listed = Some(now);
        instead_of(&addresses().ok()?, interface, address).map(IpAddr::V4)
    }
}

fn instead_of(all: &[(String, Ipv4Addr)], interface: &str, address: IpAddr) -> Option<Ipv4Addr> {
    let is_there = all.iter().any(|(_, ip)| IpAddr::V4(*ip) == address);
    let mut its = all.iter().filter(|(name, _)| name == interface);
    match is_there {
        true => None,
        false => its.next().map(|(_, ip)| *ip),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_that_has_gone_is_replaced() {
        let ip = |last| Ipv4Addr::new(10, 0, 0, last);
        let all = [("lo", ip(1)), ("eth1", ip(2)), ("eth1", ip(3))];
        let all = all.map(|(name, ip)| (name.to_owned(), ip));
        let new = |interface, last| instead_of(&all, interface, IpAddr::V4(ip(last)));
        assert_eq!(new("eth1", 2), None);
        // On another interface now: the routes lead there.
        assert_eq!(new("eth1", 1), None);
        assert_eq!(new("eth1", 9), Some(ip(2)));
        assert_eq!(new("eth2", 9), None);
    }
}
