//! A switch that stores and forwards, with a queue for each port, and what goes wrong on the way.

use crate::engine::random::Random;
use crate::engine::{Component, ComponentId, Context, Ps};
use crate::models::DeviceEvent;

use super::{EtherEvent, EtherFrame};

/// A switch with its cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Rate of each port.
    pub bytes_per_s: u64,
    /// From the end of a frame at the switch to its begin at the port where it leaves, and over
    /// the cable.
    pub latency: Ps,
    /// A frame leaves while it still comes, if its port is free. Otherwise when it is there whole.
    pub cuts_through: bool,
    /// Bytes that wait at a port; frames for which there is no room are lost.
    pub buffer_bytes: u64,
    /// Frames lost, in a million.
    pub lost_per_million: u32,
    /// Frames that come twice, in a million.
    pub doubled_per_million: u32,
    /// Frames that are held back, in a million.
    pub delayed_per_million: u32,
    /// For how long.
    pub delay: Ps,
    /// Start of all that is random.
    pub seed: u64,
}

/// Sees every frame on every cable; see [`Switch::set_tap`].
pub type Tap = Box<dyn FnMut(&Tapped<'_>)>;

/// A frame on the cable between a host and the switch, as the end sees it that gets it.
#[derive(Debug)]
pub struct Tapped<'a> {
    /// When its first bit arrives.
    pub begin: Ps,
    /// When it has arrived whole.
    pub end: Ps,
    /// The host at the cable.
    pub host: u16,
    /// Whether it comes from the host.
    pub from_host: bool,
    /// The frame.
    pub frame: &'a EtherFrame,
}

/// What became of frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounters {
    /// Frames that came.
    pub frames: u64,
    /// Lost by chance.
    pub lost: u64,
    /// Lost for want of room.
    pub dropped: u64,
    /// Sent twice.
    pub doubled: u64,
    /// Held back.
    pub delayed: u64,
}

/// The component.
pub struct Switch {
    config: SwitchConfig,
    hosts: Vec<ComponentId>,
    /// When each port has sent what waits.
    free: Vec<Ps>,
    /// Time in which frames occupied the cable of each host: from the host, and to it.
    busy: Vec<[Ps; 2]>,
    tap: Option<Tap>,
    random: Random,
    /// Its counters.
    pub counters: SwitchCounters,
}

impl Switch {
    /// A switch without hosts.
    pub fn new(config: SwitchConfig) -> Switch {
        Switch {
            config,
            hosts: Vec::new(),
            free: Vec::new(),
            busy: Vec::new(),
            tap: None,
            random: Random::new(config.seed),
            counters: SwitchCounters::default(),
        }
    }

    /// Plugs the next host in; frames name hosts in this order.
    pub fn plug(&mut self, host: ComponentId) {
        self.hosts.push(host);
        self.free.push(Ps::ZERO);
        self.busy.push([Ps::ZERO; 2]);
    }

    /// Its hosts, as frames name them.
    pub fn hosts(&self) -> &[ComponentId] {
        &self.hosts
    }

    /// The time in which frames occupied the cable of a host so far: from the host, and to it.
    pub fn busy(&self, host: usize) -> [Ps; 2] {
        self.busy.get(host).copied().unwrap_or_default()
    }

    /// Shows every frame on a cable to `tap` from now on. Nothing else changes.
    pub fn set_tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    /// Counts and shows a frame that arrives whole at `end` over the cable of `host`.
    fn crossed(&mut self, frame: &EtherFrame, (host, from_host): (u16, bool), end: Ps, time: Ps) {
        if let Some(busy) = self.busy.get_mut(usize::from(host)) {
            busy[usize::from(!from_host)] += time;
        }
        if let Some(tap) = &mut self.tap {
            tap(&Tapped {
                begin: end.saturating_sub(time),
                end,
                host,
                from_host,
                frame,
            });
        }
    }

    fn happens(&mut self, per_million: u32) -> bool {
        // Without chances nothing is drawn, so that they do not change each other.
        per_million > 0 && self.random.below(1_000_000) < u64::from(per_million)
    }

    fn arrive(&mut self, frame: Box<EtherFrame>, ctx: &mut Context<'_, DeviceEvent>) {
        self.counters.frames += 1;
        let time = frame.time(self.config.bytes_per_s);
        self.crossed(&frame, (frame.from, true), ctx.now(), time);
        if self.happens(self.config.lost_per_million) {
            self.counters.lost += 1;
            return;
        }
        if self.happens(self.config.doubled_per_million) {
            self.counters.doubled += 1;
            self.queue(frame.clone(), ctx);
        }
        if self.happens(self.config.delayed_per_million) {
            self.counters.delayed += 1;
            let join = DeviceEvent::Ethernet(EtherEvent::Join(frame));
            return ctx.schedule(ctx.me(), self.config.delay, join);
        }
        self.queue(frame, ctx);
    }

    fn queue(&mut self, frame: Box<EtherFrame>, ctx: &mut Context<'_, DeviceEvent>) {
        let port = usize::from(frame.to);
        let (Some(host), Some(free)) = (self.hosts.get(port), self.free.get_mut(port)) else {
            return;
        };
        // Its first bit was here one time on the wire ago, as all ports have one rate.
        let time = frame.time(self.config.bytes_per_s);
        let now = match self.config.cuts_through {
            true => ctx.now() - time,
            false => ctx.now(),
        };
        let begin = now.max(*free);
        // Waiting frames take the time until the port is free.
        let waiting = u128::from((begin - now).0) * u128::from(self.config.bytes_per_s);
        if waiting / 1_000_000_000_000 > u128::from(self.config.buffer_bytes) {
            self.counters.dropped += 1;
            return;
        }
        *free = begin + time;
        let arrival = *free + self.config.latency;
        let host = *host;
        self.crossed(&frame, (frame.to, false), arrival, time);
        ctx.schedule_at(
            host,
            arrival,
            DeviceEvent::Ethernet(EtherEvent::Arrive(frame)),
        );
    }
}

impl Component<DeviceEvent> for Switch {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Ethernet(EtherEvent::Arrive(frame)) => self.arrive(frame, ctx),
            DeviceEvent::Ethernet(EtherEvent::Join(frame)) => self.queue(frame, ctx),
            _ => {}
        }
    }
}
