//! How the PEs of a job meet over libfabric: every PE has an endpoint.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hostwire_bootstrap::{
    Bootstrap, Entry, JoinError, Joined, Joining, Meets, Nodes, host, unclear,
};
use hostwire_frames::join::card::Card;
use hostwire_frames::join::control;
use hostwire_frames::settings as network;
use hostwire_frames::{ControlConnections, Door, Interface};
use hostwire_transport::faults::Faulty;
use hostwire_transport::shm::Gathering;
use hostwire_transport::{Window, Wire, Wires};

use crate::core::Counted;
use crate::settings::{self, Settings};
use crate::{Choice, Fabric, Opened, Party, Ticket};

type Result<T> = core::result::Result<T, JoinError>;

/// `fabric`.
pub static FABRIC: Entry = Entry {
    needs: "libfabric.so.1, HOSTWIRE_INSECURE_WIRE=1",
    is_network: true,
    wants_insecure: true,
    named_by_all: Some("HOSTWIRE_WIRE=fabric"),
    settings: settings::TABLE,
    counters: || Counted::table().collect(),
    ..Entry::new(
        "fabric",
        "libfabric between hosts: RDMA, or TCP; shared memory within them",
        Meets::BetweenHosts(join),
    )
};

/// How long libfabric may take to see an interface that is up.
const OFFER_LIMIT: Duration = Duration::from_secs(3);
/// The launcher's key under which a PE publishes its endpoint.
const TICKET: &str = "hostwire-fabric";

/// Joins the PEs of this host by shared memory and those of others by libfabric.
fn join(joining: Joining<'_>) -> Result<Joined> {
    let choice = Settings::from_lookup(joining.lookup)?.fabric;
    let interface = interface(network::Settings::from_lookup(joining.lookup)?)?;
    let Joining {
        launcher,
        nodes,
        segment,
        ..
    } = joining;
    let (pe, pes) = (launcher.rank(), launcher.size());
    let here = host(pe, pes, nodes)?;
    let door = interface.as_ref().and_then(control::listen);
    let gathering = match here.local() {
        0 if here.count() > 1 => Some(Gathering::open(here.count())?),
        _ => None,
    };
    let own = Card {
        ticket: gathering.as_ref().map(|door| door.ticket().to_string()),
        control: door.as_ref().map(Door::address),
        ..Card::new(&segment.terms, joining.is_insecure, pe)?
    };
    // Each PE speaks for itself.
    let all: Vec<u32> = (0..pes).collect();
    let cards = own.exchange(launcher, &segment.terms, all.iter().copied())?;
    let connections = control::connect(launcher, (pe, &all), &cards, door, segment.deadline)?;
    let ticket = cards.get(&here.first());
    let ticket = ticket.and_then(|card| card.ticket.as_deref());
    let shm = segment.share(&here, gathering, ticket)?;

    let watch = Arc::new(ControlConnections::new(all, connections));
    let endpoint = Endpoint {
        choice: choice.as_ref(),
        lost_after: joining.lost_after,
        deadline: segment.deadline,
        nodes,
        interface,
        job: cards.get(&0).map_or(0, |card| card.job),
        watch,
    };
    let wire: Arc<dyn Wire> = Arc::new(endpoint.connect(launcher, shm.segment())?);
    let wires = Wires::new(Arc::new(shm), [wire])?;
    let wire: Arc<dyn Wire> = match joining.faults {
        Some(faults) => Arc::new(Faulty::new(Arc::new(wires), faults)?),
        None => Arc::new(wires),
    };
    let name = FABRIC.name;
    Ok(Joined { wire, name })
}

/// The interface whose network libfabric has to use. Not every network of libfabric has one, but a
/// named interface must exist.
fn interface(settings: network::Settings) -> Result<Option<Interface>> {
    let names = settings.interfaces.as_deref().unwrap_or_default();
    match (Interface::choose_all(names), names) {
        (Ok(interfaces), _) => Ok(interfaces.into_iter().next()),
        (Err(_), []) => Ok(None),
        (Err(error), _) => Err(error.into()),
    }
}

/// What joining the PEs of other hosts needs.
struct Endpoint<'a> {
    choice: Option<&'a Choice>,
    lost_after: Duration,
    deadline: Instant,
    nodes: &'a Nodes,
    interface: Option<Interface>,
    job: u64,
    watch: Arc<ControlConnections>,
}

impl Endpoint<'_> {
    /// Opens an endpoint for this memory, and connects to the endpoints of all others.
    fn connect(self, launcher: &mut dyn Bootstrap, window: &Window) -> Result<Fabric> {
        let Self { nodes, .. } = self;
        let (pe, pes) = (launcher.rank(), launcher.size());
        let address = self.interface.and_then(|interface| interface.ip);
        let deadline = self.deadline;
        let offered_by = deadline.min(Instant::now() + OFFER_LIMIT);
        let opened = Opened::open(self.choice, address, window, offered_by)?;
        let ticket = opened.ticket().to_string();
        let tickets = hostwire_bootstrap::all_gather(launcher, TICKET, ticket.as_bytes());
        let tickets = tickets?;
        let others = (0..).zip(&tickets).map(|(other, text)| {
            if nodes.node_of(other) == nodes.node_of(pe) {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(text);
            let ticket = text.parse::<Ticket>();
            ticket
                .map(Some)
                .map_err(|()| JoinError::from(unclear(other, "no endpoint")))
        });
        Ok(opened.connect(Party {
            pe,
            tickets: others.collect::<Result<_>>()?,
            job: self.job,
            here: host(pe, pes, nodes)?.count(),
            watch: Some(self.watch),
            lost_after: self.lost_after,
            deadline,
        })?)
    }
}
