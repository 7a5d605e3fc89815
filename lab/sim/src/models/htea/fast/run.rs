//! A whole run.

use serde::Serialize;

use super::config::{Config, ConfigError, PAYLOAD_BYTES, wire_bytes};
use super::event::Event;
use super::ingress::{Ingress, IngressCounters};
use super::multiplexer::Multiplexer;
use super::receiver::Receiver;
use super::sender::Sender;
use crate::engine::{ComponentId, Ps, RunError, Sim, Summary};

/// Why a run gave no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HteaError {
    /// The configuration cannot be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The run did not come to its end.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Adapters and a switch, ready to run.
pub struct Model {
    config: Config,
    sim: Sim<Event>,
    senders: Vec<ComponentId>,
    /// Ports of the accelerator's node.
    ingresses: Vec<ComponentId>,
    /// One port of each sender.
    returns: Vec<ComponentId>,
    receiver: ComponentId,
}

/// The results of a run.
///
/// Units are in the names; counts are of all senders together. Everything but `summary` is
/// the same for the same configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// When the last packet was out of its queue on the far side.
    pub latency: Ps,
    /// When the last packet had gone on to the accelerator.
    pub time: Ps,
    /// Data of all packets over `time`, in 10^9 bits per second.
    pub throughput_gb_s: f64,
    /// Use of the ports that the accelerator's node receives on, all together, as a share.
    pub incoming_use: f64,
    /// Use of the ports that it sends on.
    pub outgoing_use: f64,
    /// The bytes over its ports in both directions, with everything that Ethernet adds.
    pub wire_gb_s: f64,
    /// Use of the busiest de-encapsulation stage of that node, as a share.
    pub deencapsulation_use: f64,
    /// Mean of the credits that a sender has, while it has something to send.
    pub credits_mean: f64,
    /// Mean time that a packet with a credit waits for its encapsulation, in ns.
    pub outgoing_delay_ns: f64,
    /// Mean time that a frame waits for de-encapsulation in the accelerator's node, in ns.
    pub incoming_delay_ns: f64,
    /// Mean time that a frame of NOPs waits for its encapsulation there, in ns.
    pub nop_delay_ns: f64,
    /// Longest time that a frame waited for a port of the switch.
    pub switch_wait_max: Ps,
    /// What was sent and received.
    pub counts: Counts,
    /// Credits at the end.
    pub credits: CreditsLeft,
    /// Frames that were lost, and what came of it.
    pub losses: Losses,
    /// Cost of the run.
    pub summary: Summary,
}

/// Counts of frames for which an incoming MAC had no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Frames lost.
    pub lost: u64,
    /// Frames that took their time in de-encapsulation and were thrown away, as one in front of
    /// them was missing.
    pub discarded: u64,
    /// Frames sent again.
    pub resent: u64,
}

/// Use of one direction of a port.
#[derive(Clone, Debug, PartialEq)]
pub struct PortUse {
    /// Where the port is, and where it leads.
    pub name: String,
    /// Whether this is the direction away from the accelerator.
    pub back: bool,
    /// Data that crossed.
    pub payload_bytes: u64,
    /// Share of the run in which the port was busy, 0 to 1.
    pub utilisation: f64,
}

/// What was sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Packets whose encapsulation began.
    pub packets_sent: u64,
    /// Packets that came through de-encapsulation.
    pub packets_received: u64,
    /// Packets that went on to the accelerator.
    pub packets_delivered: u64,
    /// Frames with packets.
    pub frames_sent: u64,
    /// Bytes of them, without Ethernet.
    pub frame_bytes_sent: u64,
    /// Of these, received.
    pub frames_received: u64,
    /// Frames with NOPs.
    pub nop_frames_sent: u64,
    /// Of these, received.
    pub nop_frames_received: u64,
    /// NOPs.
    pub nops_sent: u64,
    /// Of these, received.
    pub nops_received: u64,
}

/// The place of the credits at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditsLeft {
    /// In the senders' hands.
    pub held: u64,
    /// Owed: not enough for a batch.
    pub owed: u64,
    /// The credits at the beginning.
    pub total: u64,
}

/// Runs a configuration to its end.
///
/// # Errors
/// [`HteaError`].
pub fn run(config: Config) -> Result<Report, HteaError> {
    let mut model = Model::new(config)?;
    model.sim.run()?;
    Ok(model.report())
}

impl Model {
    /// Checks and builds.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: Config) -> Result<Model, ConfigError> {
        config.check()?;
        let mut config = config;
        config.timing.port_gb_s = config.port_gb_s();
        let mut sim = Sim::new();
        let receiver = sim.add("accelerator", Receiver::new(config));
        // At most 3, as checked.
        let credits_per_nop = config.credits_per_nop as u32;
        let ingress = |target| Ingress::new(config.timing, target, credits_per_nop);
        let ingresses: Vec<_> = (0..config.stages_in)
            .map(|port| sim.add(format!("accelerator port {port}"), ingress(receiver)))
            .collect();
        let towards = match config.multiplexed {
            true => {
                let port = Multiplexer::new(config.timing, ingresses.clone());
                vec![sim.add("accelerator port", port)]
            }
            false => ingresses.clone(),
        };
        let (mut senders, mut returns) = (Vec::new(), Vec::new());
        let mut limited = Vec::new();
        let count = config.senders();
        for link in 0..count {
            let place = link % config.ports(config.stages_in);
            let Some(&port) = towards.get(place as usize) else {
                continue;
            };
            let extra = u64::from(link < config.packets % count);
            let total = config.packets / count + extra;
            // At most 31 links, as checked.
            let sender = Sender::new(config, link as u16, total, port);
            let sender = sim.add(format!("sender {link}"), sender);
            let back = sim.add(format!("sender {link} port"), ingress(sender));
            if let Some(receiver) = sim.component_mut::<Receiver>(receiver) {
                receiver.attach(back, total);
            }
            if config.incoming_frames > 0 {
                // The receiver counts all links in the same order.
                limited.push(sender);
            }
            // An event at time zero for a component just added.
            let injected = sim.inject(Ps::ZERO, sender, Event::Wake);
            debug_assert!(injected.is_ok());
            senders.push(sender);
            returns.push(back);
        }
        if config.multiplexed {
            let port = Multiplexer::new(config.timing, returns.clone());
            let port = sim.add("port of the accelerator", port);
            if let Some(receiver) = sim.component_mut::<Receiver>(receiver) {
                receiver.share(port);
            }
        }
        if config.gets > 0 {
            let injected = sim.inject(Ps::ZERO, receiver, Event::Wake);
            debug_assert!(injected.is_ok());
        }
        for ingress in &ingresses {
            if let Some(ingress) = sim.component_mut::<Ingress>(*ingress) {
                ingress.limit(config.incoming_frames, &limited);
            }
        }
        Ok(Model {
            config,
            sim,
            senders,
            ingresses,
            returns,
            receiver,
        })
    }

    pub(crate) fn sim(&mut self) -> &mut Sim<Event> {
        &mut self.sim
    }

    /// The counts so far.
    pub fn report(&self) -> Report {
        let none = Receiver::new(self.config);
        let receiver = self.sim.component::<Receiver>(self.receiver);
        let receiver = receiver.unwrap_or(&none);
        let time = receiver.counters.end;
        let incoming = self.ingress_counters(&self.ingresses);
        let returned = self.ingress_counters(&self.returns);
        let busiest = self.each_ingress(&self.ingresses).map(|c| c.busy).max();
        let mut counts = Counts {
            packets_received: incoming.packets,
            packets_delivered: receiver.counters.packets,
            frames_received: incoming.frames,
            nop_frames_sent: receiver.counters.nop_frames,
            nop_frames_received: returned.frames - returned.requests,
            nops_sent: receiver.counters.nops,
            nops_received: returned.nops,
            ..Counts::default()
        };
        let mut credits = CreditsLeft {
            owed: receiver.owed(),
            total: self.config.credits() * self.config.senders(),
            ..CreditsLeft::default()
        };
        let (mut waited, mut credit_time, mut sending) = (0, 0, 0);
        let mut resent = 0;
        for sender in &self.senders {
            let Some(sender) = self.sim.component::<Sender>(*sender) else {
                continue;
            };
            counts.packets_sent += sender.sent();
            counts.frames_sent += sender.counters.frames;
            counts.frame_bytes_sent += sender.counters.frame_bytes;
            credits.held += sender.credits();
            resent += sender.counters.resent;
            waited += sender.counters.waited;
            credit_time += sender.counters.credit_time;
            sending += u128::from(sender.counters.end.0);
        }
        let mean_ns = |sum: u128, count: u64| sum as f64 / count.max(1) as f64 / 1e3;
        let per_time = |bits: f64| bits / time.0.max(1) as f64 * 1e3;
        let bits = |bytes: u64| bytes as f64 * 8.0;
        let rate = |bytes: u64| per_time(bits(bytes));
        let port_use = |bytes: u64, ports: u64| {
            rate(bytes) / (ports * self.config.timing.port_gb_s).max(1) as f64
        };
        let nop_bytes = receiver.wire_bytes().sum();
        Report {
            latency: receiver.counters.delivered,
            time,
            throughput_gb_s: rate(counts.packets_delivered * PAYLOAD_BYTES),
            incoming_use: port_use(
                incoming.wire_bytes,
                self.config.ports(self.config.stages_in),
            ),
            outgoing_use: port_use(nop_bytes, self.config.ports(self.config.stages_out)),
            wire_gb_s: rate(incoming.wire_bytes + nop_bytes),
            deencapsulation_use: busiest.unwrap_or_default().0 as f64 / time.0.max(1) as f64,
            credits_mean: credit_time as f64 / sending.max(1) as f64,
            outgoing_delay_ns: mean_ns(waited, counts.packets_sent),
            incoming_delay_ns: mean_ns(incoming.waited, incoming.frames),
            nop_delay_ns: mean_ns(receiver.counters.waited, receiver.counters.nop_frames),
            switch_wait_max: incoming.switch_wait_max,
            counts,
            credits,
            losses: Losses {
                lost: incoming.lost,
                discarded: incoming.discarded,
                resent,
            },
            summary: self.sim.summary(),
        }
    }

    /// Use of every port over the whole run: those of the senders, then those of the
    /// accelerator's node, each towards the accelerator and back.
    pub fn ports(&self) -> Vec<PortUse> {
        let none = Receiver::new(self.config);
        let receiver = self.sim.component::<Receiver>(self.receiver);
        let receiver = receiver.unwrap_or(&none);
        let time_ps = receiver.counters.end.0.max(1) as f64;
        let port = |name: &str, back, payload_bytes, wire_bytes: u64| PortUse {
            name: name.to_owned(),
            back,
            payload_bytes,
            utilisation: wire_bytes as f64 * 8_000.0
                / self.config.timing.port_gb_s.max(1) as f64
                / time_ps,
        };
        let mut ports = Vec::new();
        let returns = self.each_ingress(&self.returns);
        for ((link, sender), back) in self.senders.iter().enumerate().zip(returns) {
            let Some(sender) = self.sim.component::<Sender>(*sender) else {
                continue;
            };
            let name = format!("sender {link} - switch");
            let payload_bytes = sender.sent() * PAYLOAD_BYTES;
            ports.push(port(&name, false, payload_bytes, sender.wire_bytes()));
            ports.push(port(&name, true, 0, back.wire_bytes));
        }
        for (number, counters) in self.each_ingress(&self.ingresses).enumerate() {
            let name = format!("switch - accelerator port {number}");
            let payload_bytes = counters.packets * PAYLOAD_BYTES;
            ports.push(port(&name, false, payload_bytes, counters.wire_bytes));
        }
        for (number, wire_bytes) in receiver.wire_bytes().enumerate() {
            let name = format!("switch - accelerator port {number}");
            ports.push(port(&name, true, 0, wire_bytes));
        }
        ports
    }

    fn each_ingress<'m>(
        &'m self,
        ids: &'m [ComponentId],
    ) -> impl Iterator<Item = IngressCounters> + 'm {
        ids.iter()
            .filter_map(|id| self.sim.component::<Ingress>(*id))
            .map(|ingress| ingress.counters)
    }

    fn ingress_counters(&self, ids: &[ComponentId]) -> IngressCounters {
        self.each_ingress(ids)
            .fold(IngressCounters::default(), |sum, one| IngressCounters {
                frames: sum.frames + one.frames,
                packets: sum.packets + one.packets,
                nops: sum.nops + one.nops,
                requests: sum.requests + one.requests,
                wire_bytes: sum.wire_bytes + one.wire_bytes,
                waited: sum.waited + one.waited,
                switch_wait_max: sum.switch_wait_max.max(one.switch_wait_max),
                busy: sum.busy + one.busy,
                lost: sum.lost + one.lost,
                discarded: sum.discarded + one.discarded,
            })
    }
}

/// Share of the port that is data, when full frames of packets follow each other.
pub fn port_data_share(packets_per_frame: u64) -> f64 {
    let data = packets_per_frame * PAYLOAD_BYTES;
    data as f64 / wire_bytes(packets_per_frame, 0) as f64
}
