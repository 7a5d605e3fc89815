//! The offers of libfabric's providers on this machine.

use core::fmt;
use core::str::FromStr;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use hostwire_transport::error::{EnvironmentFault, TransportError};

use super::ffi::{Info, Library};

/// A provider and a domain: `provider[:domain]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// As libfabric names it: `tcp;ofi_rxm`.
    pub provider: String,
    /// A device or an interface.
    pub domain: Option<String>,
}

impl FromStr for Choice {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (provider, domain) = match text.split_once(':') {
            Some((provider, domain)) => (provider, Some(domain)),
            None => (text, None),
        };
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic());
        if !is_name(provider) || provider.contains(',') || !domain.is_none_or(is_name) {
            return Err(());
        }
        Ok(Self {
            provider: provider.to_owned(),
            domain: domain.map(str::to_owned),
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.provider)?;
        self.domain
            .iter()
            .try_for_each(|domain| write!(f, ":{domain}"))
    }
}

/// A provider of libfabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// As libfabric names it.
    pub provider: String,
    /// Its devices or interfaces.
    pub domains: Vec<String>,
    /// Why this wire cannot use it.
    pub refused: Option<&'static str>,
    /// Whether messages stay behind long puts.
    pub orders_writes: bool,
    /// A known fault of this version, although this wire can use it.
    pub known_fault: Option<&'static str>,
}

/// The time before libfabric is asked again.
const ASK_AGAIN: Duration = Duration::from_millis(50);
/// A provider that only works within a host, where PEs share memory anyway.
const WITHIN_A_HOST: &str = "shm";

/// The version of libfabric, and all its providers.
///
/// # Errors
/// [`TransportError::Environment`] if there is no libfabric.
pub fn offers() -> Result<((u32, u32), Vec<Offer>), TransportError> {
    let library = library()?;
    let usable = Info::all(library, None, None).map_err(|error| failed("asking", &error))?;
    let mut offers: Vec<Offer> = Vec::new();
    let everything = Info::everything(library).map_err(|error| failed("asking", &error))?;
    for (info, is_usable) in
        (usable.iter().map(|info| (info, true))).chain(everything.iter().map(|info| (info, false)))
    {
        let (provider, domain) = (info.provider(), info.domain());
        let known = offers.iter_mut().find(|offer| offer.provider == provider);
        match known {
            Some(known) if is_usable && !known.domains.contains(&domain) => {
                known.domains.push(domain);
            }
            Some(_) => {}
            None => offers.push(Offer {
                refused: (!is_usable).then_some(
                    "it has no reliable endpoints with messages in order and remote memory",
                ),
                orders_writes: info.promises().orders_writes,
                known_fault: known_fault(&provider, library.version()),
                domains: vec![domain],
                provider,
            }),
        }
    }
    Ok((library.version(), offers))
}

/// Observed with 1.17, and not with 2.5: docs/wire/fabric.md names the test.
fn known_fault(provider: &str, (major, _): (u32, u32)) -> Option<&'static str> {
    (provider == "udp;ofi_rxd" && major < 2)
        .then_some("it loses messages now and then, and the job ends with a peer that is silent")
}

/// The offer to take: of the chosen provider, or the first that leads to other hosts. If it has IPv4
/// addresses, the one with this address. libfabric leaves out an interface whose link has come up
/// within the last second: then it is asked again until `deadline`.
pub(super) fn choose(
    choice: Option<&Choice>,
    address: Option<Ipv4Addr>,
    deadline: Instant,
) -> Result<Info, TransportError> {
    loop {
        let mut offered = offered(choice)?;
        let seen: Vec<Ipv4Addr> = offered.iter().filter_map(Info::ipv4).collect();
        if !seen.is_empty() && address.is_some() {
            offered.retain(|info| info.ipv4() == address);
        }
        if let Some(info) = offered.into_iter().next() {
            return Ok(info.with_shared_receives());
        }
        if Instant::now() >= deadline {
            let seen: Vec<String> = seen.iter().map(Ipv4Addr::to_string).collect();
            let expected = address.map_or_else(String::new, |address| {
                format!("one of the interface's, {address}")
            });
            let fault = EnvironmentFault::unexpected(expected, seen.join(", "));
            return Err(TransportError::environment(
                "choosing an address for libfabric",
                fault,
            ));
        }
        std::thread::sleep(ASK_AGAIN);
    }
}

/// The offers of the chosen provider; at least one.
fn offered(choice: Option<&Choice>) -> Result<Vec<Info>, TransportError> {
    let library = library()?;
    let provider = choice.map(|choice| choice.provider.as_str());
    let domain = choice.and_then(|choice| choice.domain.as_deref());
    let all = Info::all(library, provider, domain);
    let mut all = all.map_err(|error| failed("asking", &error))?;
    match provider {
        // For a named provider, libfabric also gives providers that are layered on it.
        Some(provider) => all.retain(|info| info.provider() == provider),
        None => all.retain(|info| info.provider() != WITHIN_A_HOST),
    }
    let first = all.first().map(Info::provider);
    all.retain(|info| Some(info.provider()) == first);
    if all.is_empty() {
        let (major, minor) = library.version();
        let fault = EnvironmentFault::unexpected(
            match choice {
                Some(choice) => format!("a provider {choice}"),
                None => "a provider that leads to other hosts".to_owned(),
            },
            format_args!(
                "none with reliable endpoints, messages in order and remote memory (libfabric \
                 {major}.{minor}; see hostwire doctor)"
            ),
        );
        let doing = "choosing a provider of libfabric";
        return Err(TransportError::environment(doing, fault));
    }
    Ok(all)
}

fn library() -> Result<&'static Library, TransportError> {
    Library::get().map_err(|why| {
        let fault = EnvironmentFault::unexpected("libfabric.so.1 (package libfabric1)", why);
        TransportError::environment("loading libfabric", fault)
    })
}

pub(super) fn failed(what: &str, error: &super::ffi::FabricError) -> TransportError {
    let detail = error.to_string().into();
    TransportError::environment(
        format!("{what} libfabric"),
        EnvironmentFault::Links { detail },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_back() {
        for text in ["tcp;ofi_rxm", "udp;ofi_rxd:eth0", "verbs:mlx5_0:1"] {
            assert_eq!(text.parse::<Choice>().unwrap().to_string(), text);
        }
        for bad in ["", ":", "tcp:", ":eth0", "t cp", "tcp,udp", "tcp:e h"] {
            assert!(bad.parse::<Choice>().is_err(), "{bad}");
        }
    }
}
