//! A tunnel: services of this host, peers, and what goes from one to the other.
//!
//! Each tunnel *offers* its peers the services that programs of its host use. A peer opens each of them on its own host, so programs
//! there find it. A tunnel *wants* what programs of other hosts write as long as programs of its own host read it. So a sample crosses
//! the wire once for each host that reads it, and not at all if none does.

mod receive;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hostwire::station::{Buffer, Finished, Label, Lane, Name, Station, Wanted};
use hostwire::{Error, PeId, Source, Tag, Ticket};
use iceoryx2::node::Node;
use iceoryx2::prelude::{CallbackProgression, Service as _};

use crate::description::Description;
use crate::message::{self, Kind};
use crate::peers::{AHEAD_BYTES_MAX, Coming, Peer, State};
use crate::ports::{Ports, Room, Shared, Taken};

/// Samples of one service that are taken before another has its turn.
const IN_A_ROW: usize = 16;
/// A service that nobody uses is kept for so long.
const KEPT_FOR: Duration = Duration::from_secs(1);
/// Services of one peer.
const OFFERS_MAX: usize = 4096;

/// What has happened, to be told to whoever runs the tunnel.
#[derive(Debug)]
pub enum Notice {
    /// Another tunnel is there.
    Met(PeId),
    /// It is no longer.
    Lost(PeId, Error),
    /// Here and on other hosts this service is one from now on.
    Carries(Description),
    /// Nobody uses it any longer.
    Leaves(Description),
    /// Something about a service does not work.
    Fails(String, Box<dyn std::error::Error>),
    /// A peer says what this tunnel does not understand.
    Unclear(PeId, &'static str),
}

/// A service of this host.
struct Service {
    description: Description,
    ports: Ports,
    /// Programs of this host use it.
    is_used: bool,
    /// They read it.
    is_read: bool,
    /// Peers do.
    is_wanted: bool,
    /// Since then nobody has used it.
    unused_since: Option<Instant>,
}

/// What a ticket of the station is for.
enum Under {
    Send(PeId, usize),
    Receive(PeId),
    /// It ends with the peer.
    Watch(PeId),
}

/// See the [module text](self).
pub struct Tunnel {
    station: Station,
    node: Node<Shared>,
    /// Whether it carries a service of this name.
    carries: Box<dyn Fn(&str) -> bool>,
    services: BTreeMap<u32, Service>,
    numbers: BTreeMap<(String, &'static str), u32>,
    last_number: u32,
    peers: BTreeMap<PeId, Peer>,
    under_way: BTreeMap<Ticket, Under>,
    notices: Vec<Notice>,
}

impl Tunnel {
    /// A tunnel without peers.
    pub fn new(
        station: Station,
        node: Node<Shared>,
        carries: impl Fn(&str) -> bool + 'static,
    ) -> Self {
        Self {
            station,
            node,
            carries: Box::new(carries),
            services: BTreeMap::new(),
            numbers: BTreeMap::new(),
            last_number: 0,
            peers: BTreeMap::new(),
            under_way: BTreeMap::new(),
            notices: Vec::new(),
        }
    }

    /// What has happened since the last call.
    pub fn notices(&mut self) -> Vec<Notice> {
        core::mem::take(&mut self.notices)
    }

    /// Meets the tunnel of that name, if it is there.
    ///
    /// # Errors
    /// Those of [`Station::number`] and [`Station::send_at_once`].
    pub fn meet(&mut self, name: &Name) -> Result<(), Error> {
        let pe = self.station.number(name)?;
        match pe == 0 || self.peers.contains_key(&pe) {
            true => Ok(()),
            false => self.begin(pe),
        }
    }

    fn begin(&mut self, pe: PeId) -> Result<(), Error> {
        let hello = label(Kind::Hello, 0, None);
        if !self.station.send_at_once(pe, hello, &[])? {
            let ticket = self.station.send(pe, hello, Box::new(Vec::<u8>::new()))?;
            self.under_way.insert(ticket, Under::Send(pe, 0));
        }
        self.watch(pe)?;
        self.peers.insert(pe, Peer::default());
        self.notices.push(Notice::Met(pe));
        let used = self.services.iter().filter(|(_, it)| it.is_used);
        let offers: Vec<_> = used
            .map(|(&number, it)| (number, message::write(&it.description)))
            .collect();
        for (number, bytes) in offers {
            self.say(pe, Kind::Offer, number, None, bytes);
        }
        Ok(())
    }

    /// What it waits for ends with the peer.
    fn watch(&mut self, pe: PeId) -> Result<(), Error> {
        let end = Wanted {
            tag: Tag::from(Kind::End.tag(0)),
            ..from(pe)
        };
        let ticket = self.station.receive(end, Box::new(Vec::<u8>::new()))?;
        self.under_way.insert(ticket, Under::Watch(pe));
        Ok(())
    }

    fn lose(&mut self, pe: PeId, why: Error) {
        if self.peers.remove(&pe).is_some() {
            self.notices.push(Notice::Lost(pe, why));
        }
    }

    fn say(&mut self, to: PeId, kind: Kind, number: u32, data: Option<u64>, bytes: Vec<u8>) {
        let label = label(kind, number, data);
        let said = match self.station.send_at_once(to, label, &bytes) {
            Ok(true) => Ok(()),
            Ok(false) => self.station.send(to, label, Box::new(bytes)).map(|ticket| {
                self.under_way.insert(ticket, Under::Send(to, 0));
            }),
            Err(error) => Err(error),
        };
        if let Err(error) = said {
            self.lose(to, error);
        }
    }

    /// Looks which services there are on this host, and leaves those that nobody uses.
    pub fn look_around(&mut self) {
        let mut found = Vec::new();
        let listed = Shared::list(self.node.config(), |details| {
            found.extend(Description::of(&details.static_details));
            CallbackProgression::Continue
        });
        if let Err(why) = listed {
            let what = "the list of services".into();
            self.notices.push(Notice::Fails(what, Box::new(why)));
        }
        for description in found {
            let is_known = (self.numbers)
                .contains_key(&(description.name.clone(), description.pattern.name()));
            if !is_known && (self.carries)(&description.name) {
                self.open(description);
            }
        }
        self.leave();
    }

    /// Removes what processes have left that have died.
    pub fn clean_up(&self) {
        self.node.try_cleanup_dead_nodes();
    }

    /// The number of a service, which is opened if it is not known.
    fn open(&mut self, description: Description) -> Option<u32> {
        let key = (description.name.clone(), description.pattern.name());
        if let Some(&number) = self.numbers.get(&key) {
            return Some(number);
        }
        match Ports::open(&self.node, &description) {
            Ok(ports) => {
                let number = self.last_number.checked_add(1)?;
                self.last_number = number;
                self.numbers.insert(key, number);
                let service = Service {
                    description,
                    ports,
                    is_used: false,
                    is_read: false,
                    is_wanted: false,
                    unused_since: None,
                };
                self.services.insert(number, service);
                Some(number)
            }
            Err(why) => {
                let name = description.name;
                self.notices.push(Notice::Fails(name, Box::new(why)));
                None
            }
        }
    }

    /// Does what there is to do now. Gives whether that was anything.
    ///
    /// # Errors
    /// Those of [`Station::poll`] that are of no peer.
    pub fn step(&mut self) -> Result<bool, Error> {
        let mut has_done = false;
        while let Some(finished) = self.station.poll()? {
            has_done = true;
            self.has_finished(finished);
        }
        has_done |= self.claim()?;
        has_done |= self.hear();
        has_done |= self.settle();
        has_done |= self.send_on();
        Ok(has_done)
    }

    /// Sleeps until peers send something, or for `limit`.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn rest(&mut self, limit: Duration) -> Result<(), Error> {
        let limit = self.station.arm(limit);
        if !self.step()? {
            self.station.sleep(limit);
        }
        Ok(())
    }

    fn has_finished(&mut self, finished: Finished) {
        let Some(what) = self.under_way.remove(&finished.ticket) else {
            return;
        };
        match (what, finished.result) {
            (Under::Send(pe, len_bytes), Ok(_)) => {
                if let Some(peer) = self.peers.get_mut(&pe) {
                    peer.ahead_bytes = peer.ahead_bytes.saturating_sub(len_bytes);
                }
            }
            (Under::Receive(pe), Ok(_)) => {
                if let Some(peer) = self.peers.get_mut(&pe) {
                    peer.has_come(finished.ticket, finished.buffer);
                }
            }
            (Under::Watch(pe), Ok(_)) => {
                let what = "sends what no tunnel sends";
                self.notices.push(Notice::Unclear(pe, what));
                if let Err(why) = self.watch(pe) {
                    self.lose(pe, why);
                }
            }
            (Under::Send(pe, _) | Under::Receive(pe) | Under::Watch(pe), Err(why)) => {
                self.lose(pe, why);
            }
        }
    }

    /// Does what messages of peers say, in their order.
    fn hear(&mut self) -> bool {
        let mut has_done = false;
        let peers: Vec<PeId> = self.peers.keys().copied().collect();
        for pe in peers {
            while let Some(one) = self.peers.get_mut(&pe).and_then(Peer::next) {
                has_done = true;
                self.obey(pe, one);
            }
        }
        has_done
    }

    fn obey(&mut self, pe: PeId, one: Coming) {
        let State::Here(Some(buffer)) = one.state else {
            return;
        };
        let bytes = buffer.bytes();
        match one.kind {
            Kind::Hello | Kind::End => {}
            Kind::Offer => match message::read(bytes) {
                Some(description) => self.accept(pe, one.number, description),
                None => {
                    let what = "describes a service in a way that is none";
                    self.notices.push(Notice::Unclear(pe, what));
                }
            },
            Kind::Withdraw => {
                if let Some(peer) = self.peers.get_mut(&pe) {
                    peer.offers.remove(&one.number);
                }
            }
            Kind::Want | Kind::Enough => self.is_wanted(pe, one.number, one.kind == Kind::Want),
            Kind::Header => {
                if let Some(peer) = self.peers.get_mut(&pe) {
                    peer.header = bytes.to_vec();
                }
            }
            Kind::Sample => self.publish(pe, one.number, buffer),
            Kind::Event => {
                let times = bytes.try_into().map_or(1, u64::from_le_bytes);
                self.notify(pe, one.number, one.data, times);
            }
        }
    }

    fn accept(&mut self, pe: PeId, theirs: u32, description: Description) {
        if !(self.carries)(&description.name) {
            return;
        }
        if let Err(why) = description.check() {
            let notice = Notice::Fails(description.name, Box::new(why));
            return self.notices.push(notice);
        }
        let Some(ours) = self.open(description.clone()) else {
            return;
        };
        if self
            .services
            .get(&ours)
            .is_none_or(|it| it.description != description)
        {
            let why = "here and there are services of this name with different types or settings";
            let notice = Notice::Fails(description.name, why.into());
            return self.notices.push(notice);
        }
        let Some(peer) = self.peers.get_mut(&pe) else {
            return;
        };
        if peer.offers.len() >= OFFERS_MAX {
            let what = "has more services than a tunnel takes";
            return self.notices.push(Notice::Unclear(pe, what));
        }
        peer.offers.insert(theirs, ours);
        if let Some(service) = self.services.get(&ours) {
            let notice = Notice::Carries(service.description.clone());
            self.notices.push(notice);
            if service.is_read {
                self.say(pe, Kind::Want, theirs, None, Vec::new());
            }
        }
    }

    fn is_wanted(&mut self, pe: PeId, number: u32, is_wanted: bool) {
        if let Some(peer) = self.peers.get_mut(&pe)
            && self.services.contains_key(&number)
        {
            match is_wanted {
                true => peer.wants.insert(number),
                false => peer.wants.remove(&number),
            };
        }
    }

    /// The service that a peer means by this number.
    fn offered(&mut self, pe: PeId, theirs: u32) -> Option<(&mut Peer, &mut Service)> {
        let peer = self.peers.get_mut(&pe)?;
        let service = self.services.get_mut(peer.offers.get(&theirs)?)?;
        Some((peer, service))
    }

    fn publish(&mut self, pe: PeId, number: u32, buffer: Box<dyn Buffer>) {
        let Ok(room) = buffer.into_any().downcast::<Room>() else {
            return;
        };
        let Some((peer, service)) = self.offered(pe, number) else {
            return;
        };
        let Ports::Topic(topic) = &service.ports else {
            return;
        };
        let header = core::mem::take(&mut peer.header);
        if let Err(why) = room.publish(&header, topic.header_bytes()) {
            let name = service.description.name.clone();
            self.notices.push(Notice::Fails(name, Box::new(why)));
        }
    }

    fn notify(&mut self, pe: PeId, number: u32, id: u64, times: u64) {
        let Some((_, service)) = self.offered(pe, number) else {
            return;
        };
        let Ports::Event(signal) = &mut service.ports else {
            return;
        };
        if let Err(why) = signal.notify(id, times) {
            let name = service.description.name.clone();
            self.notices.push(Notice::Fails(name, Box::new(why)));
        }
    }

    /// Tells peers what has changed in the use of services here.
    fn settle(&mut self) -> bool {
        let mut changed = Vec::new();
        for (&number, service) in &mut self.services {
            let is_wanted = self.peers.values().any(|it| it.wants.contains(&number));
            if is_wanted != service.is_wanted {
                service.is_wanted = is_wanted;
                if let Err(why) = service.ports.listen(is_wanted) {
                    let name = service.description.name.clone();
                    self.notices.push(Notice::Fails(name, Box::new(why)));
                }
            }
            if let Err(why) = service.ports.greet() {
                let name = service.description.name.clone();
                self.notices.push(Notice::Fails(name, Box::new(why)));
            }
            let (is_used, is_read) = (service.ports.is_used(), service.ports.is_read());
            if (is_used, is_read) != (service.is_used, service.is_read) {
                changed.push((number, service.is_used, service.is_read));
                (service.is_used, service.is_read) = (is_used, is_read);
            }
        }
        for &(number, was_used, was_read) in &changed {
            self.tell_of_use(number, was_used, was_read);
        }
        !changed.is_empty()
    }

    fn tell_of_use(&mut self, number: u32, was_used: bool, was_read: bool) {
        let Some(service) = self.services.get(&number) else {
            return;
        };
        let (is_used, is_read) = (service.is_used, service.is_read);
        let offer = match (was_used, is_used) {
            (false, true) => Some((Kind::Offer, message::write(&service.description))),
            (true, false) => Some((Kind::Withdraw, Vec::new())),
            _ => None,
        };
        let peers: Vec<PeId> = self.peers.keys().copied().collect();
        for pe in peers {
            if let Some((kind, bytes)) = &offer {
                self.say(pe, *kind, number, None, bytes.clone());
            }
            let Some(peer) = self.peers.get_mut(&pe) else {
                continue;
            };
            if offer
                .as_ref()
                .is_some_and(|(kind, _)| *kind == Kind::Withdraw)
            {
                peer.wants.remove(&number);
            }
            let is_it = |offer: &(&u32, &u32)| *offer.1 == number;
            let theirs = peer.offers.iter().find(is_it).map(|(&theirs, _)| theirs);
            if let Some(theirs) = theirs
                && was_read != is_read
            {
                let kind = if is_read { Kind::Want } else { Kind::Enough };
                self.say(pe, kind, theirs, None, Vec::new());
            }
        }
    }

    /// Leaves services that nobody uses, here or on other hosts.
    fn leave(&mut self) {
        let peers = &self.peers;
        let mut left = Vec::new();
        self.services.retain(|number, service| {
            let is_offered = || {
                peers
                    .values()
                    .any(|it| it.offers.values().any(|n| n == number))
            };
            if service.is_used || is_offered() {
                service.unused_since = None;
                return true;
            }
            let since = *service.unused_since.get_or_insert_with(Instant::now);
            let stays = since.elapsed() < KEPT_FOR;
            if !stays {
                left.push(service.description.clone());
            }
            stays
        });
        for description in left {
            let key = (description.name.clone(), description.pattern.name());
            self.numbers.remove(&key);
            self.notices.push(Notice::Leaves(description));
        }
    }

    /// Sends what programs of this host have written to the peers that want it.
    fn send_on(&mut self) -> bool {
        let mut has_done = false;
        let numbers: Vec<u32> = self.services.keys().copied().collect();
        for number in numbers {
            let wanting = self
                .peers
                .iter()
                .filter(|(_, it)| it.wants.contains(&number));
            let wanting: Vec<PeId> = wanting.map(|(&pe, _)| pe).collect();
            if wanting.is_empty() {
                continue;
            }
            for _ in 0..IN_A_ROW {
                // A peer that is slow does not hold more samples than this: the service's own rules say what is lost.
                let is_far = |pe| {
                    self.peers
                        .get(pe)
                        .is_some_and(|it| it.ahead_bytes > AHEAD_BYTES_MAX)
                };
                if wanting.iter().any(is_far) || !self.send_one(number, &wanting) {
                    break;
                }
                has_done = true;
            }
        }
        has_done
    }

    fn send_one(&mut self, number: u32, wanting: &[PeId]) -> bool {
        let Some(service) = self.services.get_mut(&number) else {
            return false;
        };
        let taken = match &service.ports {
            Ports::Topic(topic) => topic.take().map(|sample| (sample, Vec::new())),
            Ports::Event(signal) => signal.take().map(|events| (None, events)),
        };
        match taken {
            Ok((Some(sample), _)) => {
                for &pe in wanting {
                    self.send_sample(pe, number, &sample);
                }
                true
            }
            Ok((None, events)) => {
                for &pe in wanting {
                    for &(id, times) in &events {
                        let times = times.to_le_bytes().to_vec();
                        self.say(pe, Kind::Event, number, Some(id), times);
                    }
                }
                !events.is_empty()
            }
            Err(why) => {
                let name = service.description.name.clone();
                self.notices.push(Notice::Fails(name, Box::new(why)));
                false
            }
        }
    }

    fn send_sample(&mut self, to: PeId, number: u32, sample: &Taken) {
        if !sample.header().is_empty() {
            self.say(to, Kind::Header, number, None, sample.header().to_vec());
        }
        let (label, bytes) = (label(Kind::Sample, number, None), sample.bytes());
        let sent = match self.station.send_at_once(to, label, bytes) {
            Ok(true) => Ok(()),
            Ok(false) => self
                .station
                .send(to, label, Box::new(sample.clone()))
                .map(|ticket| {
                    self.under_way.insert(ticket, Under::Send(to, bytes.len()));
                    if let Some(peer) = self.peers.get_mut(&to) {
                        peer.ahead_bytes += bytes.len();
                    }
                }),
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            self.lose(to, error);
        }
    }
}

fn label(kind: Kind, number: u32, data: Option<u64>) -> Label {
    let (lane, tag) = (Lane::Tagged, kind.tag(number));
    Label { lane, tag, data }
}

fn from(source: impl Into<Source>) -> Wanted {
    let (lane, tag) = (Lane::Tagged, Tag::ANY);
    let from = source.into();
    Wanted { lane, from, tag }
}
