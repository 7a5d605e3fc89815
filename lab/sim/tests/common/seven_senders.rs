//! The engine's reference workload: seven senders of 64-byte packets share one
//! output of a switch, with credits on every link. `bench/peers/ns3/` holds the
//! same model for ns-3.

use std::collections::VecDeque;

use hostwire_sim::engine::{Component, ComponentId, Context, Event, Ps, Sim, Wait};

pub const SENDERS: usize = 7;
/// 8 B command and 64 B data at 3.2 GB/s.
pub const PACKET_PS: Ps = Ps(22_500);
pub const WIRE_PS: Ps = Ps(5_000);
pub const CREDITS: u32 = 32;

#[derive(Clone, Copy)]
pub enum Msg {
    /// The transmitter of the addressed component is free.
    TxReady,
    Packet {
        from: u16,
        number: u32,
    },
    /// A buffer at the other end is free again.
    Credit,
}

impl Event for Msg {
    fn digest(&self) -> u64 {
        match *self {
            Msg::TxReady => 1,
            Msg::Packet { from, number } => 2 | u64::from(from) << 8 | u64::from(number) << 32,
            Msg::Credit => 3,
        }
    }
}

pub struct Sender {
    pub index: u16,
    pub switch: ComponentId,
    pub credits: u32,
    pub left: u32,
    pub idle: bool,
}

impl Sender {
    fn try_send(&mut self, ctx: &mut Context<'_, Msg>) {
        if self.left == 0 || self.credits == 0 {
            self.idle = true;
            return;
        }
        self.idle = false;
        self.left -= 1;
        self.credits -= 1;
        ctx.schedule(
            self.switch,
            PACKET_PS + WIRE_PS,
            Msg::Packet {
                from: self.index,
                number: self.left,
            },
        );
        ctx.schedule(ctx.me(), PACKET_PS, Msg::TxReady);
    }
}

impl Component<Msg> for Sender {
    fn handle(&mut self, event: Msg, ctx: &mut Context<'_, Msg>) {
        match event {
            Msg::TxReady => self.try_send(ctx),
            Msg::Credit => {
                self.credits += 1;
                if self.idle {
                    self.try_send(ctx);
                }
            }
            Msg::Packet { .. } => {}
        }
    }

    fn waits(&self) -> Vec<Wait> {
        if self.left == 0 {
            return Vec::new();
        }
        vec![Wait {
            resource: format!("credit for {} packets", self.left),
            holder: Some(self.switch),
        }]
    }
}

#[derive(Default)]
pub struct Switch {
    pub senders: Vec<ComponentId>,
    pub sink: Option<ComponentId>,
    pub queue: VecDeque<(u16, u32)>,
    pub credits: u32,
    pub busy: bool,
}

impl Switch {
    fn try_send(&mut self, ctx: &mut Context<'_, Msg>) {
        if self.busy || self.credits == 0 {
            return;
        }
        let (Some((from, number)), Some(sink)) = (self.queue.pop_front(), self.sink) else {
            return;
        };
        self.busy = true;
        self.credits -= 1;
        ctx.schedule(sink, PACKET_PS + WIRE_PS, Msg::Packet { from, number });
        ctx.schedule(ctx.me(), PACKET_PS, Msg::TxReady);
        ctx.schedule(self.senders[from as usize], WIRE_PS, Msg::Credit);
    }
}

impl Component<Msg> for Switch {
    fn handle(&mut self, event: Msg, ctx: &mut Context<'_, Msg>) {
        match event {
            Msg::Packet { from, number } => self.queue.push_back((from, number)),
            Msg::TxReady => self.busy = false,
            Msg::Credit => self.credits += 1,
        }
        self.try_send(ctx);
    }

    fn waits(&self) -> Vec<Wait> {
        if self.queue.is_empty() {
            return Vec::new();
        }
        vec![Wait {
            resource: "credit of the sink".into(),
            holder: self.sink,
        }]
    }
}

pub struct Sink {
    pub switch: ComponentId,
    pub received: u64,
    pub returns_credits: bool,
}

impl Component<Msg> for Sink {
    fn handle(&mut self, event: Msg, ctx: &mut Context<'_, Msg>) {
        if let Msg::Packet { .. } = event {
            self.received += 1;
            if self.returns_credits {
                ctx.schedule(self.switch, WIRE_PS, Msg::Credit);
            }
        }
    }
}

/// Builds the workload; returns the sink.
pub fn build(sim: &mut Sim<Msg>, packets: u32, returns_credits: bool) -> ComponentId {
    let switch = sim.add(
        "switch",
        Switch {
            credits: CREDITS,
            ..Switch::default()
        },
    );
    let mut senders = Vec::new();
    for index in 0..SENDERS {
        let left = packets / SENDERS as u32 + u32::from((index as u32) < packets % SENDERS as u32);
        let sender = Sender {
            index: index as u16,
            switch,
            credits: CREDITS,
            left,
            idle: true,
        };
        let id = sim.add(format!("sender {index}"), sender);
        sim.inject(Ps::ZERO, id, Msg::TxReady).expect("time zero");
        senders.push(id);
    }
    let sink = sim.add(
        "sink",
        Sink {
            switch,
            received: 0,
            returns_credits,
        },
    );
    let switch = sim.component_mut::<Switch>(switch).expect("just added");
    switch.senders = senders;
    switch.sink = Some(sink);
    sink
}
