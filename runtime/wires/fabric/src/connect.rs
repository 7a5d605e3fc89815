//! From a provider to a connected wire.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hostwire_frames::ControlConnections;
use hostwire_transport::addresses::Addresses;
use hostwire_transport::error::{EnvironmentFault, PeId, Silence, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::os::{random, signals};
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::wire::Liveness;
use hostwire_transport::worker;

use super::agent::AgentShared;
use super::core::{BUFFER_BYTES, FabricCore, MESSAGE_BYTES, TOKENS};
use super::ffi::Endpoint;
use super::ffi::endpoint::Key;
use super::home::Home;
use super::offers::{Choice, choose, failed};
use super::peer::Peer;
use super::ticket::Ticket;
use super::{Fabric, LOOK_AGAIN};

/// An endpoint of a PE that is not connected yet.
pub struct Opened {
    endpoint: Endpoint,
    segment: Window,
    ticket: Ticket,
}

/// What a PE has to know to connect.
pub struct Party {
    /// Its number.
    pub pe: PeId,
    /// By PE: where it is reached; `None` for PEs of this host.
    pub tickets: Vec<Option<Ticket>>,
    /// A number that only the PEs of this job know.
    pub job: u64,
    /// How many PEs this host has.
    pub here: u32,
    /// How the end of other PEs is noticed.
    pub watch: Option<Arc<ControlConnections>>,
    /// A PE that has been silent for so long is lost.
    pub lost_after: Duration,
    /// How long to wait until all others answer.
    pub deadline: Instant,
}

impl Opened {
    /// Opens an endpoint of the chosen provider, or of the first one, for this segment. If the
    /// provider has IPv4 addresses, it uses the given one, which may become usable only some
    /// time before `deadline`.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn open(
        choice: Option<&Choice>,
        address: Option<Ipv4Addr>,
        segment: &Window,
        deadline: Instant,
    ) -> Result<Self, TransportError> {
        let info = choose(choice, address, deadline)?;
        let provider = info.provider();
        let what = format!("opening an endpoint of {provider} with");
        let key = u64::from_ne_bytes(random()?);
        let bytes = (BUFFER_BYTES, MESSAGE_BYTES);
        let opened = signals::kept(|| Endpoint::open(info, TOKENS, bytes, key));
        let mut endpoint = opened.map_err(|error| failed(&what, &error))?;
        let key = u64::from_ne_bytes(random()?);
        let key = endpoint.expose(segment.memory(), key);
        let Key { key, base } = key.map_err(|error| failed(&what, &error))?;
        let name = endpoint.name().map_err(|error| failed(&what, &error))?;
        Ok(Self {
            segment: segment.clone(),
            ticket: Ticket {
                provider,
                key,
                base,
                name,
            },
            endpoint,
        })
    }

    /// The ticket for the other PEs.
    pub const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Connects to the others, and waits until each has answered.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn connect(mut self, party: Party) -> Result<Fabric, TransportError> {
        let pes = party.tickets.len() as u32;
        let mut peers: Vec<Option<Peer>> = Vec::new();
        for (pe, ticket) in (0..).zip(&party.tickets) {
            peers.push(match ticket {
                Some(ticket) => Some(self.peer(pe, party.pe, ticket)?),
                None => None,
            });
        }
        let Self {
            endpoint, segment, ..
        } = self;
        let promises = endpoint.promises();
        let home = Home::new(segment.clone());
        let core = FabricCore::new(endpoint, (party.pe, party.job), peers.into(), home);
        let shared = Arc::new(AgentShared::new(core)?);
        let mut wire = Fabric {
            fork_guard: ForkGuard::new(party.pe)?,
            pe: party.pe,
            pes,
            addresses: Addresses::new(pes, segment.memory())?,
            segment,
            shared: Arc::clone(&shared),
            agent: None,
            limits: WaitLimits::looking(party.here),
            leads: party.tickets.iter().map(Option::is_some).collect(),
            watch: party.watch,
            lost_after: party.lost_after,
            orders_writes: promises.orders_writes,
            copies: promises.local_keys,
            operation_bytes_max: promises.operation_bytes_max,
            copying: Mutex::new(()),
        };
        wire.greet(party.deadline)?;
        let agent = worker::start("hostwire-fabric", 1 << 20, move || shared.serve())
            .map_err(|e| TransportError::environment("starting the agent", e))?;
        wire.agent = Some(agent);
        Ok(wire)
    }

    fn peer(&mut self, pe: PeId, own: PeId, ticket: &Ticket) -> Result<Peer, TransportError> {
        let ours = &self.ticket.provider;
        if ticket.provider != *ours {
            let fault = EnvironmentFault::unexpected(
                format_args!("one provider of libfabric for all PEs ({ours} of PE {own})"),
                format_args!("{} of PE {pe}", ticket.provider),
            );
            return Err(TransportError::environment("joining the job", fault));
        }
        let what = format!("connecting to PE {pe} with");
        let to = self.endpoint.insert(&ticket.name);
        let to = to.map_err(|error| failed(&what, &error))?;
        let Ticket { key, base, .. } = *ticket;
        Ok(Peer::new(to, Key { key, base }))
    }
}

impl Fabric {
    /// Asks all peers for an echo, and waits for the echoes.
    fn greet(&self, deadline: Instant) -> Result<(), TransportError> {
        let others: Vec<PeId> = self.shared.lock().others().collect();
        loop {
            let mut core = self.shared.lock();
            let mut silent = None;
            for &pe in &others {
                if core.open(pe)?.is_none_or(|peer| peer.echoed > 0) {
                    continue;
                }
                core.ask(pe, 1)?;
                silent.get_or_insert(pe);
            }
            let came = core.drive();
            let provider = core.endpoint.provider();
            drop(core);
            let Some(pe) = silent else {
                return Ok(());
            };
            if Instant::now() >= deadline {
                let fault = EnvironmentFault::NoAnswer {
                    pe,
                    address: provider.into(),
                    silence: Silence::Unknown,
                };
                return Err(TransportError::environment(
                    format!("connecting to PE {pe} with libfabric"),
                    fault,
                ));
            }
            if !came {
                self.shared.wait(LOOK_AGAIN);
                if !self.is_alive(pe)? {
                    self.shared.lock().open(pe)?;
                }
            }
        }
    }
}
