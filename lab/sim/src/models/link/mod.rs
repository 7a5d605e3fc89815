//! A link of any family: both directions, credits, digests, repetition, training.
//!
//! The link is one component that stands for the wires and for the link layer at both ends.
//! Devices submit packets and release buffers; the link serialises, spends and returns credits,
//! damages units on request, repeats what was not received, and delivers. What differs between
//! HyperTransport and PCI Express is a [`Family`]: [`Ht`](super::ht::Ht),
//! [`Pcie`](super::pcie::Pcie).

mod config;
mod event;
mod family;
mod ports;
mod report;
mod side;

pub use config::{Damage, End, Terms};
pub use event::{LinkEvent, PortState};
pub use family::{Family, Heard, Number, Received, Unit, Verdict};
pub use side::LinkCounters;

use crate::engine::{Component, ComponentId, Context, Ps, Wait};

use crate::models::DeviceEvent;
use ports::Ports;
use side::Side;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TrainingState {
    /// Not trained, or training failed.
    Down,
    Training,
    Up,
    /// It has trained too often without progress.
    Failed,
}

/// Sees everything that crosses the wires; see [`Link::set_tap`].
pub type Tap<F> = Box<dyn FnMut(&Tapped<'_, F>)>;

/// One unit on the wires.
#[derive(Debug)]
pub struct Tapped<'a, F: Family> {
    /// When it begins.
    pub begin: Ps,
    /// When it ends, at the transmitter.
    pub end: Ps,
    /// Where it comes from.
    pub from: End,
    /// What it is.
    pub unit: &'a Unit<F>,
}

/// The component.
pub struct Link<F: Family> {
    config: F::Config,
    terms: Terms,
    state: TrainingState,
    mode: Option<F::Mode>,
    generation: u32,
    ends: [Side<F>; 2],
    /// Trainings without progress.
    trainings: u32,
    /// Why it is down, if that is known.
    why_down: Option<String>,
    tap: Option<Tap<F>>,
    ports: Ports<F::Role>,
}

impl<F: Family> Link<F> {
    /// A link; down, until [`train`](Self::train) brings it up, if its family needs that.
    pub fn new(config: F::Config) -> Link<F> {
        let mode = F::trained(&config);
        Link {
            terms: F::terms(&config),
            state: if mode.is_some() {
                TrainingState::Up
            } else {
                TrainingState::Down
            },
            mode,
            generation: 0,
            ends: [End::A, End::B].map(|end| Side::new(&config, end)),
            trainings: 0,
            why_down: None,
            tap: None,
            ports: Ports::default(),
            config,
        }
    }

    /// Changes what training does not decide. Takes effect at the next training;
    /// buffers must not change while packets are on the way.
    pub fn configure(&mut self, change: impl FnOnce(&mut F::Config)) {
        change(&mut self.config);
        self.terms = F::terms(&self.config);
    }

    /// Attaches port `port` of `device` to `end`.
    pub fn attach(&mut self, end: End, device: ComponentId, port: u8) {
        self.ends[end as usize].device = Some((device, port));
    }

    /// The device at `end`.
    pub fn device(&self, end: End) -> Option<ComponentId> {
        let (device, _) = self.ends[end as usize].device?;
        Some(device)
    }

    /// Resets the link and trains it to `mode`. Packets that are queued or in flight
    /// are lost, as on a reset. Returns the time that training takes; inject the
    /// returned event that much later.
    pub fn train(&mut self, now: Ps, mode: F::Mode) -> (Ps, DeviceEvent) {
        let time = F::training_time(&self.config, &mode, false);
        self.generation += 1;
        self.trainings = 0;
        self.mode = Some(mode);
        self.state = TrainingState::Training;
        for end in [End::A, End::B] {
            let side = &mut self.ends[end as usize];
            side.clear();
            side.layer
                .train(&self.config, end, &mode, now + time, false);
        }
        let generation = self.generation;
        (time, F::wrap(LinkEvent::Trained { generation }))
    }

    /// Takes the link down, as a failed training does; `why` stands in reports.
    pub fn take_down(&mut self, why: impl Into<String>) {
        self.generation += 1;
        self.state = TrainingState::Down;
        self.why_down = Some(why.into());
    }

    /// The trained mode; `None` if the link is down or has failed.
    pub fn mode(&self) -> Option<F::Mode> {
        match self.state {
            TrainingState::Up | TrainingState::Training => self.mode,
            TrainingState::Down | TrainingState::Failed => None,
        }
    }

    /// Whether it has trained too often without progress.
    pub fn has_failed(&self) -> bool {
        self.state == TrainingState::Failed
    }

    /// Static configuration.
    pub fn config(&self) -> &F::Config {
        &self.config
    }

    /// Counters of the direction that begins at `end`.
    pub fn counters(&self, end: End) -> LinkCounters {
        self.ends[end as usize].counters
    }

    /// Lets `tap` see everything that crosses the wires from now on. A tap
    /// changes nothing.
    pub fn set_tap(&mut self, tap: Tap<F>) {
        self.tap = Some(tap);
    }

    fn transmit(&mut self, end: End, ctx: &mut Context<'_, DeviceEvent>) {
        let side = &mut self.ends[end as usize];
        if self.state != TrainingState::Up || side.busy {
            return;
        }
        let Some(mut unit) = side.next(ctx.now(), &self.config, &self.terms) else {
            return;
        };
        side.damage(&mut self.config, end, &mut unit);
        let bytes = side.layer.wire_bytes(&unit);
        let times = side.layer.serialise(ctx.now(), bytes, &self.config);
        side.busy = true;
        side.count(&unit, bytes, times);
        let [begin, done] = times;
        if let Some(tap) = &mut self.tap {
            tap(&Tapped {
                begin,
                end: done,
                from: end,
                unit: &unit,
            });
        }
        if let (
            Unit::Packet {
                packet,
                replayed: false,
                ..
            },
            Some((device, port)),
        ) = (&unit, side.device)
        {
            let channel = F::channel(&F::cost(packet));
            ctx.schedule_at(device, begin, F::wrap(LinkEvent::Sent { port, channel }));
        }
        let generation = self.generation;
        let free = LinkEvent::Free { end, generation };
        ctx.schedule_at(ctx.me(), done, F::wrap(free));
        let arrive = LinkEvent::Arrive {
            end: end.other(),
            generation,
            unit,
        };
        ctx.schedule_at(ctx.me(), done + self.terms.propagation, F::wrap(arrive));
        self.arm(end, ctx);
    }

    fn arm(&mut self, end: End, ctx: &mut Context<'_, DeviceEvent>) {
        let side = &mut self.ends[end as usize];
        if side.timer_armed {
            return;
        }
        if let Some(at) = side.timeout_at(ctx.now(), &self.terms) {
            side.timer_armed = true;
            ctx.schedule_at(ctx.me(), at, F::wrap(LinkEvent::ReplayTimer { end }));
        }
    }

    fn arrive(&mut self, end: End, unit: Unit<F>, ctx: &mut Context<'_, DeviceEvent>) {
        match unit {
            Unit::Control { control, damaged } => {
                if damaged.is_some_and(|number| !F::control_holds(&control, number)) {
                    return self.lose_control(end, control, ctx);
                }
                let side = &mut self.ends[end as usize];
                let heard = side.layer.hear(&control);
                if let Some(next) = heard.acknowledged {
                    side.acknowledge(next);
                }
                if heard.repeat {
                    self.replay(end, ctx);
                }
            }
            Unit::Packet {
                number,
                mut packet,
                damaged,
                ..
            } => {
                let side = &mut self.ends[end as usize];
                let verdict = damaged.map_or(Verdict::Sound, |transmission| {
                    side.layer.judge(number, &mut packet, transmission)
                });
                let errors = u64::from(verdict != Verdict::Sound);
                self.ends[end.other() as usize].counters.crc_errors += errors;
                match verdict {
                    Verdict::Trains => return self.train_again(ctx),
                    Verdict::Refused => self.refuse(end, &packet, ctx.now()),
                    Verdict::Lost => self.lose(end, number, &packet, ctx.now()),
                    Verdict::Sound | Verdict::Used => self.receive(end, number, packet, ctx),
                }
            }
        }
        self.transmit(end, ctx);
    }

    fn refuse(&mut self, end: End, packet: &F::Packet, now: Ps) {
        let layer = &mut self.ends[end as usize].layer;
        layer.received(Received::Damaged, &F::cost(packet), now);
    }

    fn lose(&mut self, end: End, number: F::Number, packet: &F::Packet, now: Ps) {
        let side = &mut self.ends[end as usize];
        side.expected = number.next();
        side.layer.received(Received::Lost, &F::cost(packet), now);
    }

    fn receive(
        &mut self,
        end: End,
        number: F::Number,
        packet: F::Packet,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let side = &mut self.ends[end as usize];
        let what = side.place(number);
        side.layer.received(what, &F::cost(&packet), ctx.now());
        if what != Received::InOrder {
            return;
        }
        self.trainings = 0;
        if let Some((device, port)) = side.device {
            let deliver = LinkEvent::Deliver { port, packet };
            ctx.schedule(device, Ps::ZERO, F::wrap(deliver));
        }
    }

    fn lose_control(&mut self, end: End, control: F::Control, ctx: &mut Context<'_, DeviceEvent>) {
        let from = end.other();
        self.ends[from as usize].counters.crc_errors += 1;
        if let Some(after) = F::sent_again_after(&control) {
            let again = LinkEvent::Again { end: from, control };
            ctx.schedule(ctx.me(), after, F::wrap(again));
        }
    }

    fn replay(&mut self, end: End, ctx: &mut Context<'_, DeviceEvent>) {
        let side = &mut self.ends[end as usize];
        if !side.replay() {
            return;
        }
        side.replays += 1;
        if side.replays < F::REPLAYS_MAX || self.state != TrainingState::Up {
            return;
        }
        side.replays = 0;
        self.train_again(ctx);
    }

    /// Trains again after damage. If that starts the ends over, both exchange what they have
    /// received and which buffers are free, and repeat the rest.
    fn train_again(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(mode) = self.mode else { return };
        self.trainings += 1;
        let time = F::training_time(&self.config, &mode, true);
        if F::TRAINING_STARTS_OVER {
            self.generation += 1;
            for end in [End::A, End::B] {
                let received = self.ends[end.other() as usize].expected;
                let side = &mut self.ends[end as usize];
                side.busy = false;
                side.acknowledge(received);
                let ready = ctx.now() + time;
                side.layer.train(&self.config, end, &mode, ready, true);
            }
        }
        if self.trainings > self.terms.trainings_max {
            self.state = TrainingState::Failed;
            return self.tell_ports(ctx);
        }
        self.state = TrainingState::Training;
        let generation = self.generation;
        ctx.schedule(ctx.me(), time, F::wrap(LinkEvent::Trained { generation }));
    }

    fn replay_timer(&mut self, end: End, ctx: &mut Context<'_, DeviceEvent>) {
        let side = &mut self.ends[end as usize];
        side.timer_armed = false;
        let at = side.timeout_at(ctx.now(), &self.terms);
        if self.state == TrainingState::Up && at.is_some_and(|at| at <= ctx.now()) {
            self.replay(end, ctx);
        }
        if self.state == TrainingState::Up {
            self.arm(end, ctx);
            self.transmit(end, ctx);
        }
    }
}

impl<F: Family> Component<DeviceEvent> for Link<F> {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(event) = F::unwrap(event) else {
            return;
        };
        match event {
            // A port that is off was told so. What it still submits is lost, as in the port itself.
            LinkEvent::Submit { end, .. }
                if self.state == TrainingState::Down && self.ports.are_managed() =>
            {
                self.ends[end as usize].counters.lost += 1;
            }
            LinkEvent::Submit { end, packet } => {
                self.ends[end as usize].push(packet);
                self.transmit(end, ctx);
            }
            LinkEvent::Release { end, cost } => {
                self.ends[end as usize].layer.release(&cost, ctx.now());
                self.transmit(end, ctx);
            }
            LinkEvent::Free { end, generation } if generation == self.generation => {
                self.ends[end as usize].busy = false;
                self.transmit(end, ctx);
            }
            LinkEvent::Arrive {
                end,
                generation,
                unit,
            } if generation == self.generation => self.arrive(end, unit, ctx),
            LinkEvent::Trained { generation } if generation == self.generation => {
                self.state = TrainingState::Up;
                self.count_training();
                for end in [End::A, End::B] {
                    self.ends[end as usize].replay();
                    self.arm(end, ctx);
                    self.transmit(end, ctx);
                }
                self.tell_ports(ctx);
            }
            LinkEvent::ReplayTimer { end } => self.replay_timer(end, ctx),
            LinkEvent::Again { end, control } => {
                self.ends[end as usize].layer.owe(&control, ctx.now());
                self.transmit(end, ctx);
            }
            LinkEvent::Port { end, role } => self.switch(end, role, ctx),
            LinkEvent::Cable { plugged } => self.plug(plugged, ctx),
            _ => {}
        }
        if self.ports.are_managed() {
            self.settle_ports(ctx);
        }
    }

    fn waits(&self) -> Vec<Wait> {
        self.report_waits()
    }

    fn faults(&self) -> Vec<String> {
        self.report_fault().into_iter().collect()
    }
}
