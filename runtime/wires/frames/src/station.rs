//! The endpoint of a station: links to others are added one by one.
//!
//! Each station chooses its own numbers for others, and 0 for itself. So frames name both ends by the receiver's
//! numbers ([`Called`]), and addresses lie in the receiver's segment. Each pair of stations has its own keys.

use core::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hostwire_link::seal::{End, JobKey, Seals};
use hostwire_link::{Called, Endpoint, Event, Identity, Node};
use hostwire_transport::addresses::Addresses;
use hostwire_transport::error::{PeId, Silence, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;

use super::agent::AgentShared;
use super::alarm::Alarm;
use super::connect::{config, no_link, silence, wall_clock_ns};
use super::control::kernel::Connections;
use super::core::FramesCore;
use super::ended_pes::EndedPes;
use super::own::Own;
use super::patience::Cores;
use super::{Address, Ether, FrameNumbers, HostPath, Socket};

/// The job number in the frames of all stations. Their keys show for whom they are.
const JOB: u64 = 0x73_7461_7469_6f6e;
/// Stations that are assumed to send at the same time, for the number of frames in flight.
const AT_ONCE: usize = 8;

/// Most turns of a look for frames.
const TURNS_MAX: u32 = 256;

/// What happens to the link to a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLink {
    /// It can be stored to.
    Opened,
    /// It cannot be used any more.
    Closed,
}

/// A callback for that. It runs under the lock of the wire, so it must not use the wire.
pub struct Meets(Box<dyn Fn(PeId, OnLink) + Send>);

impl Meets {
    /// Calls `tell` with the number of the station and what happened.
    pub fn new(tell: impl Fn(PeId, OnLink) + Send + 'static) -> Self {
        Self(Box::new(tell))
    }

    pub(super) fn tell(&self, event: &Event) {
        match event {
            Event::Opened { peer, .. } => (self.0)(peer.0, OnLink::Opened),
            Event::Closed { peer, .. } => (self.0)(peer.0, OnLink::Closed),
        }
    }
}

impl fmt::Debug for Meets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meets(..)")
    }
}

/// The way to a station.
#[derive(Debug)]
pub struct Lead {
    /// Its number here.
    pub pe: PeId,
    /// The number of this station there.
    pub number: PeId,
    /// Where it is reached.
    pub address: Address,
    /// The key of the pair and its ends, the own one first; `None` without encryption.
    pub keys: Option<(JobKey, [End; 2])>,
}

impl Lead {
    pub(super) const fn called(&self) -> Called {
        Called {
            own: Node(self.number),
            peer: Node(0),
        }
    }
}

/// The settings of a station's links.
#[derive(Debug, Clone, Copy)]
pub struct Links {
    /// Most stations, itself included.
    pub peers: u32,
    /// Whether frames are encrypted.
    pub is_sealed: bool,
    /// How long a link may take to open.
    pub patience: Duration,
    /// How long a station may be silent before it is lost.
    pub lost_after: Duration,
}

impl Ether {
    /// The wire of a station with this segment, which leads nowhere yet.
    pub fn of_station(
        fork_guard: &ForkGuard,
        segment: &Window,
        socket: Socket,
        links: Links,
        meets: Meets,
        kernels: Arc<Connections>,
    ) -> Result<Self, TransportError> {
        let Links {
            peers,
            is_sealed,
            patience,
            lost_after,
        } = links;
        let seals = match is_sealed {
            true => Some(Seals::alone(
                Node(0),
                FrameNumbers::of(fork_guard, &socket, peers as usize)?,
            )),
            false => None,
        };
        let config = config(&socket, is_sealed, AT_ONCE, patience, lost_after);
        let identity = Identity {
            node: Node(0),
            job: JOB,
            incarnation: wall_clock_ns(),
        };
        let endpoint = Endpoint::new(config, identity, wall_clock_ns()).map_err(no_link)?;
        let addresses = Addresses::of_stations(segment.memory())?;
        let own = Own::of_station(segment.clone(), *addresses.map())?;
        let alarm = Alarm::new()
            .map_err(|e| TransportError::environment("making the timer of the agent", e))?;
        let mut core = FramesCore::new(endpoint, socket, alarm, own, seals).that_meets(meets);
        core.ask_kernels(kernels);
        let path = |pe| HostPath {
            link: OnceLock::new(),
            first: pe,
            pes: 1,
        };
        let wire = Self {
            fork_guard: fork_guard.clone(),
            pe: 0,
            limits: WaitLimits::looking(1),
            cores: Cores::default(),
            host_of: (0..peers).collect(),
            hosts: (0..peers).map(path).collect(),
            ended: EndedPes::alone(peers)?,
            segment: segment.clone(),
            addresses,
            shared: Arc::new(AgentShared::new(core)?),
            agent: None,
            control: None,
            has_finished: AtomicBool::new(false),
        };
        wire.start()
    }

    /// Opens a link to a station, unless it is already open. Both ends have to call this. [`Meets`] is told of
    /// the result.
    pub fn lead(&self, lead: &Lead) -> Result<(), TransportError> {
        let pe = lead.pe;
        let no_such = || TransportError::NoSuchPe {
            pe,
            pes: self.hosts.len() as u32,
        };
        let path = self.path_to(pe).ok_or_else(no_such)?;
        let mut core = self.hold()?;
        if path.link().is_some() {
            return Ok(());
        }
        core.add_station(lead)?;
        let link = core.endpoint.link_as(Node(pe), lead.called());
        let link = *path.link.get_or_init({
            let link = link.map_err(no_link)?;
            move || link
        });
        let now = core.now();
        core.endpoint.open(now, link).map_err(no_link)?;
        core.transmit(now);
        self.shared.release(core);
        Ok(())
    }

    /// Applies what has come by now.
    pub fn take_what_came(&self) {
        if let Ok(mut core) = self.hold() {
            // Bounded, because a peer may send without end.
            for _ in 0..TURNS_MAX {
                if !core.drive() {
                    break;
                }
            }
            self.shared.release(core);
        }
    }

    /// Why stations do not answer, as far as received frames show.
    pub fn silence(&self) -> Silence {
        silence(&self.counters())
    }
}
