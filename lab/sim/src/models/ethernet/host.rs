//! A host: an endpoint of `hostwire-link`, a port, and a program that sends or takes lines.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use hostwire_link::{Endpoint, LinkId, SendError};
use hostwire_packet::ht::PacketRepr;

use crate::engine::{Component, ComponentId, Context, Ps};
use crate::models::DeviceEvent;

use super::{Driver, EtherEvent, EtherFrame};

const LINE_BYTES: usize = 64;
/// Distance of two lines: none follows another, so that each is a packet of its own.
const LINE_STEP: u64 = 128;

/// A host's port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Rate of the port.
    pub bytes_per_s: u64,
    /// Cable to the switch.
    pub cable: Ps,
}

/// What the hosts have sent and got, kept together.
#[derive(Debug, Default)]
pub struct Log {
    /// When lines that are on the way were accepted, by sender, each with its receiver.
    accepted: Vec<VecDeque<Ps>>,
    /// Sender, receiver and latency of each line that has arrived.
    pub arrived: Vec<(u16, u16, Ps)>,
    /// Lines that are still to arrive.
    pub left: u64,
    /// When the last one so far has arrived.
    pub last: Ps,
    /// Why not all lines can arrive any more.
    pub failed: Option<String>,
}

impl Log {
    /// A log of `left` lines between so many hosts.
    pub fn new(hosts: usize, left: u64) -> Log {
        Log {
            accepted: vec![VecDeque::new(); hosts],
            left,
            ..Log::default()
        }
    }
}

/// The component.
pub struct Host {
    config: HostConfig,
    switch: ComponentId,
    driver: Driver,
    /// Where lines go, if anywhere.
    sending: Option<(LinkId, u16)>,
    /// Lines to be sent, and those accepted.
    lines: u64,
    accepted: u64,
    /// Lines that have come.
    taken: u64,
    /// The number of the next line from each host.
    expected: Vec<u64>,
    busy: bool,
    log: Rc<RefCell<Log>>,
}

impl Host {
    /// Host `me`, which opens links to `peers` and sends `lines` lines to the host of `to`.
    ///
    /// # Errors
    /// A text, if the endpoint takes no link to a peer: two hosts with one number.
    pub fn new(
        config: HostConfig,
        (me, switch): (u16, ComponentId),
        endpoint: Endpoint,
        (peers, to, lines): (&[u16], Option<u16>, u64),
        log: &Rc<RefCell<Log>>,
    ) -> Result<Host, String> {
        let mut driver = Driver::new(me, endpoint);
        let mut sending = None;
        for peer in peers {
            let link = driver.open(*peer)?;
            if to == Some(*peer) {
                sending = Some((link, *peer));
            }
        }
        let hosts = log.borrow().accepted.len();
        Ok(Host {
            config,
            switch,
            driver,
            sending,
            lines,
            accepted: 0,
            taken: 0,
            expected: vec![0; hosts],
            busy: false,
            log: Rc::clone(log),
        })
    }

    /// The endpoint, to read its counters.
    pub fn endpoint(&self) -> &Endpoint {
        self.driver.endpoint()
    }

    /// Bytes of data that its link has accepted, and that have come.
    pub fn data_bytes(&self) -> [u64; 2] {
        [self.accepted, self.taken].map(|lines| lines * LINE_BYTES as u64)
    }

    /// Hands over as many lines as the link takes.
    fn put(&mut self, now: Ps) {
        let Some((link, _)) = self.sending else {
            return;
        };
        let before = self.accepted;
        while self.accepted < self.lines {
            let line = line(self.accepted);
            match self
                .driver
                .endpoint_mut()
                .put(link, self.accepted * LINE_STEP, &line)
            {
                Ok(_) => {
                    self.accepted += 1;
                    self.log.borrow_mut().accepted[usize::from(self.driver.me())].push_back(now);
                }
                Err(SendError::Full { .. } | SendError::Opening(_)) => break,
                Err(error) => {
                    let text = format!("host {}: {error}", self.driver.me());
                    self.log.borrow_mut().failed.get_or_insert(text);
                    return;
                }
            }
        }
        if self.accepted == self.lines && self.accepted > before {
            self.driver.endpoint_mut().flush(link);
        }
    }

    fn receive(&mut self, frame: &EtherFrame, now: Ps) {
        let Some(delivery) = self.driver.receive(frame, now) else {
            return;
        };
        let (link, filled) = (delivery.link, delivery.filled());
        for packet in delivery.packets.clone() {
            self.take(frame.from, &packet, now);
        }
        if let Err(error) = self.driver.release(link, filled, now) {
            let text = format!("host {}: {error}", self.driver.me());
            self.log.borrow_mut().failed.get_or_insert(text);
        }
    }

    /// A packet has come: it has to be the next line, with its bytes.
    fn take(&mut self, from: u16, packet: &PacketRepr<'_>, now: Ps) {
        let log = &mut *self.log.borrow_mut();
        let sender = usize::from(from);
        let (Some(expected), Some(accepted)) =
            (self.expected.get_mut(sender), log.accepted.get_mut(sender))
        else {
            return;
        };
        if packet.data() != line(*expected) {
            let text = format!(
                "host {}: line {expected} of host {from} is not what it was",
                self.driver.me()
            );
            log.failed.get_or_insert(text);
            return;
        }
        *expected += 1;
        self.taken += 1;
        if let Some(since) = accepted.pop_front() {
            log.arrived.push((from, self.driver.me(), now - since));
            log.left = log.left.saturating_sub(1);
            log.last = now;
        }
    }

    /// Sends what is there, and sets the timer.
    fn work(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let now = ctx.now();
        self.driver.catch_up(now);
        self.put(now);
        if !self.busy
            && let Some(frame) = self.driver.next_frame(now)
        {
            let time = frame.time(self.config.bytes_per_s);
            self.busy = true;
            ctx.schedule(ctx.me(), time, DeviceEvent::Ethernet(EtherEvent::Free));
            let arrive = DeviceEvent::Ethernet(EtherEvent::Arrive(frame));
            ctx.schedule(self.switch, time + self.config.cable, arrive);
        }
        self.driver.set_timer(ctx);
    }
}

/// The bytes of a line: its number, in eight forms.
fn line(number: u64) -> [u8; LINE_BYTES] {
    let mut bytes = [0; LINE_BYTES];
    for (turn, word) in bytes.chunks_mut(8).enumerate() {
        let word_of = number.rotate_left(8 * turn as u32) ^ turn as u64;
        word.copy_from_slice(&word_of.to_le_bytes());
    }
    bytes
}

impl Component<DeviceEvent> for Host {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        let DeviceEvent::Ethernet(event) = event else {
            return;
        };
        match event {
            EtherEvent::Arrive(frame) => self.receive(&frame, ctx.now()),
            EtherEvent::Free => self.busy = false,
            EtherEvent::Timer if self.driver.is_due(ctx.now()) => {}
            // A timer that an earlier one has replaced.
            EtherEvent::Timer | EtherEvent::Join(_) => return,
            EtherEvent::Start => {}
        }
        self.work(ctx);
    }
}
