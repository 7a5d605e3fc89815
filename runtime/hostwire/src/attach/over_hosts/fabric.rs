//! The wire `fabric`: every PE has an endpoint of libfabric.

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use hostwire_fabric::{Fabric, Opened, Party, Ticket};
use hostwire_frames::{ControlConnections, Door, Interface};
use hostwire_transport::faults::Faulty;
use hostwire_transport::shm::Gathering;
use hostwire_transport::watch::Watch;
use hostwire_transport::{Window, Wire, Wires};

use super::card::{Card, read_cards};
use super::{CARD, Segment, control, host, launch_failed, share, unclear};
use crate::error::Result;
use crate::settings::Settings;
use hostwire_bootstrap::{Bootstrap, Nodes};

/// How long libfabric may take to see an interface that is up.
const OFFER_LIMIT: Duration = Duration::from_secs(3);
/// Key of what a PE publishes about its endpoint.
const TICKET: &str = "hostwire-fabric";

/// Joins the PEs of this host by shared memory and those of others by libfabric.
pub(super) fn attach(
    settings: &Settings,
    segment: &Segment,
    launcher: &mut dyn Bootstrap,
    nodes: &Nodes,
) -> Result<Arc<dyn Wire>> {
    let (pe, pes) = (launcher.rank(), launcher.size());
    let here = host(pe, pes, nodes)?;
    let interface = interface(settings)?;
    let door = interface.as_ref().and_then(control::listen);
    let gathering = match here.local() {
        0 if here.count() > 1 => Some(Gathering::open(here.count())?),
        _ => None,
    };
    let own = Card {
        ticket: gathering.as_ref().map(|door| door.ticket().to_string()),
        control: door.as_ref().map(Door::address),
        ..Card::new(&segment.terms, settings.insecure_wire, pe)?
    };
    let cards = hostwire_bootstrap::all_gather(launcher, CARD, own.to_string().as_bytes());
    let cards = read_cards(&cards.map_err(launch_failed)?, pe, (&own, &segment.terms))?;
    // Each PE speaks for itself.
    let all: Vec<u32> = (0..pes).collect();
    let connections = control::connect(launcher, (pe, &all), &cards, door, segment.deadline)?;
    let shm = share(segment, &here, &cards, gathering)?;

    let watch = Arc::new(ControlConnections::new(all, connections));
    let joining = Joining {
        settings,
        segment,
        nodes,
        interface,
        job: cards.first().map_or(0, |card| card.job),
        watch,
    };
    let wire: Arc<dyn Wire> = Arc::new(joining.connect(launcher, shm.segment())?);
    let wires = Wires::new(Arc::new(shm), [wire])?;
    Ok(match settings.faults {
        Some(faults) => Arc::new(Faulty::new(Arc::new(wires), faults)?),
        None => Arc::new(wires),
    })
}

/// The interface whose network libfabric is to use. Not every network of libfabric has one; whoever
/// names one has to have it.
fn interface(settings: &Settings) -> Result<Option<Interface>> {
    let names = settings.interfaces.as_deref().unwrap_or_default();
    match (Interface::choose_all(names), names) {
        (Ok(interfaces), _) => Ok(interfaces.into_iter().next()),
        (Err(_), []) => Ok(None),
        (Err(error), _) => Err(error.into()),
    }
}

/// What it takes to join the PEs of other hosts.
struct Joining<'a> {
    settings: &'a Settings,
    segment: &'a Segment,
    nodes: &'a Nodes,
    interface: Option<Interface>,
    job: u64,
    watch: Arc<dyn Watch>,
}

impl Joining<'_> {
    /// Opens an endpoint with this memory behind it, and connects to those of all others.
    fn connect(self, launcher: &mut dyn Bootstrap, window: &Window) -> Result<Fabric> {
        let Self {
            settings, nodes, ..
        } = self;
        let (pe, pes) = (launcher.rank(), launcher.size());
        let address = self.interface.and_then(|interface| interface.ip);
        let deadline = self.segment.deadline;
        let offered_by = deadline.min(Instant::now() + OFFER_LIMIT);
        let opened = Opened::open(settings.fabric.as_ref(), address, window, offered_by)?;
        let ticket = opened.ticket().to_string();
        let tickets = hostwire_bootstrap::all_gather(launcher, TICKET, ticket.as_bytes());
        let tickets = tickets.map_err(launch_failed)?;
        let others = (0..).zip(&tickets).map(|(other, text)| {
            if nodes.node_of(other) == nodes.node_of(pe) {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(text);
            let ticket = text.parse::<Ticket>();
            ticket.map(Some).map_err(|()| unclear(other, "no endpoint"))
        });
        Ok(opened.connect(Party {
            pe,
            tickets: others.collect::<Result<_>>()?,
            job: self.job,
            here: host(pe, pes, nodes)?.count(),
            watch: Some(self.watch),
            lost_after: Duration::from_secs(settings.lost_after_s),
            deadline,
        })?)
    }
}
