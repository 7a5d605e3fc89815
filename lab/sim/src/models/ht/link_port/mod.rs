//! A link port of a NIC or switch: protocol, framing and serialisation.

mod protocol;

pub use protocol::{Message, Protocol};

use crate::engine::{ComponentId, Context, Ps};

use crate::models::DeviceEvent;
use crate::models::ht::{Carried, Frame};

/// Events of a device about one of its link ports.
#[derive(Debug)]
pub enum LinkPortEvent {
    /// The transmitter is free.
    Free {
        /// Port of the device.
        port: u8,
    },
    /// A message has passed the crossbar (switch and NIC with crossbar only).
    Crossed {
        /// Port it came in on.
        port: u8,
    },
    /// Time to check for acknowledgements.
    Timer {
        /// Port of the device.
        port: u8,
        /// Sequence that was unacknowledged when the timer was set.
        base: u16,
    },
}

impl LinkPortEvent {
    /// The port it is about.
    pub fn port(&self) -> u8 {
        match *self {
            LinkPortEvent::Free { port }
            | LinkPortEvent::Crossed { port }
            | LinkPortEvent::Timer { port, .. } => port,
        }
    }

    pub(in crate::models) fn digest(&self) -> u64 {
        match self {
            LinkPortEvent::Free { port } => 1 | u64::from(*port) << 8,
            LinkPortEvent::Crossed { port } => 3 | u64::from(*port) << 8,
            LinkPortEvent::Timer { port, base } => {
                2 | u64::from(*port) << 8 | u64::from(*base) << 16
            }
        }
    }
}

/// How fast a link port puts bits on its cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhitRate {
    /// Data bits of one phit.
    pub bits: u32,
    /// Phits per microsecond.
    pub mhz: u32,
}

impl PhitRate {
    /// The ATOLL port as in the paper's experiment: 18-bit words, of which 16
    /// are taken to be data, at the user clock. Source: paper, section 5; the
    /// split into 16 and 2 is an inference.
    pub fn atoll(user_mhz: u32) -> PhitRate {
        PhitRate {
            bits: 16,
            mhz: user_mhz,
        }
    }

    /// One SFP at 4 Gbit/s with 8b/10b: 8 data bits per 10 line bits.
    /// Source: paper, section 3.
    pub fn sfp_4g() -> PhitRate {
        PhitRate { bits: 8, mhz: 400 }
    }

    /// Time for `bytes`, in whole phits.
    pub fn time(&self, bytes: usize) -> Ps {
        let phits = (bytes as u64 * 8).div_ceil(u64::from(self.bits.max(1)));
        Ps::from_cycles(phits, self.mhz)
    }
}

/// Sizes and times of a link port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkPortConfig {
    /// Speed.
    pub rate: PhitRate,
    /// Header and CRC of a frame. Assumed: destination, source, sequence,
    /// acknowledge, CRC in eight bytes.
    pub overhead_bytes: usize,
    /// Frames that may be unacknowledged. Assumed.
    pub frames_in_flight_max: usize,
    /// Messages that may wait or be in flight; beyond, the port takes no more.
    pub messages_max: usize,
    /// When to repeat without having heard anything. Assumed: ten times the
    /// round trip of a full frame.
    pub timeout: Ps,
    /// SERDES of both ends of a serial link: what coding and (de)serialisation delay a frame beside its time on the
    /// wire. The paper names it (section 6) and prints no time: none is **assumed**, so SFPs are too fast here.
    pub serdes: Ps,
}

impl LinkPortConfig {
    /// Bytes of a frame on the cable.
    fn wire_bytes(&self, frame: &Frame) -> usize {
        let carried = frame.carried.map_or(0, Carried::bytes);
        frame.payload.len() + carried + self.overhead_bytes
    }

    /// Time for which a frame occupies the transmitter.
    pub fn time(&self, frame: &Frame) -> Ps {
        self.rate.time(self.wire_bytes(frame))
    }

    /// The paper's experiment.
    pub fn atoll(user_mhz: u32) -> LinkPortConfig {
        LinkPortConfig {
            rate: PhitRate::atoll(user_mhz),
            overhead_bytes: 8,
            frames_in_flight_max: 16,
            messages_max: 32,
            timeout: Ps::from_us(8),
            serdes: Ps::ZERO,
        }
    }

    /// A 4 Gbit/s SFP.
    pub fn sfp_4g() -> LinkPortConfig {
        LinkPortConfig {
            rate: PhitRate::sfp_4g(),
            ..LinkPortConfig::atoll(100)
        }
    }
}

/// Counters of a link port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkPortCounters {
    /// Frames sent, repeated ones and bare acknowledgements included.
    pub frames: u64,
    /// Bytes on the cable.
    pub bytes: u64,
    /// Payload bytes delivered here.
    pub delivered_bytes: u64,
    /// Time in which the transmitter was occupied.
    pub busy: Ps,
    /// Frames that came damaged.
    pub damaged: u64,
}

/// The port.
#[derive(Debug)]
pub struct LinkPort {
    index: u8,
    config: LinkPortConfig,
    protocol: Protocol,
    cable: Option<(ComponentId, u8)>,
    busy: bool,
    timer: bool,
    /// Its counters.
    pub counters: LinkPortCounters,
}

impl LinkPort {
    /// Port `index` of a device, not yet connected.
    pub fn new(index: u8, config: LinkPortConfig) -> LinkPort {
        LinkPort {
            index,
            config,
            protocol: Protocol::new(config.frames_in_flight_max),
            cable: None,
            busy: false,
            timer: false,
            counters: LinkPortCounters::default(),
        }
    }

    /// Plugs in a cable: frames go to port `end` of `cable`.
    pub fn connect(&mut self, cable: ComponentId, end: u8) {
        self.cable = Some((cable, end));
    }

    /// Parameters.
    pub fn config(&self) -> &LinkPortConfig {
        &self.config
    }

    /// The cable.
    pub fn cable(&self) -> Option<ComponentId> {
        self.cable.map(|(cable, _)| cable)
    }

    /// Whether the port takes another message.
    pub fn has_room(&self) -> bool {
        self.protocol.pending() < self.config.messages_max
    }

    /// Messages not yet acknowledged.
    pub fn pending(&self) -> usize {
        self.protocol.pending()
    }

    /// Frames sent again.
    pub fn repeated(&self) -> u64 {
        self.protocol.repeated
    }

    /// Sends a message.
    pub fn send(&mut self, message: Message, ctx: &mut Context<'_, DeviceEvent>) {
        self.protocol.push(message);
        self.transmit(ctx);
    }

    /// Takes a frame from the cable; returns its message if it is in order.
    pub fn receive(
        &mut self,
        frame: Frame,
        room: bool,
        ctx: &mut Context<'_, DeviceEvent>,
    ) -> Option<Message> {
        self.counters.damaged += u64::from(frame.damaged);
        let message = self.protocol.receive(frame, room);
        if let Some(message) = &message {
            self.counters.delivered_bytes += message.payload.len() as u64;
        }
        self.transmit(ctx);
        message
    }

    /// Handles the port's own events.
    pub fn handle(&mut self, event: &LinkPortEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match *event {
            LinkPortEvent::Free { .. } => self.busy = false,
            LinkPortEvent::Crossed { .. } => return,
            LinkPortEvent::Timer { base, .. } => {
                self.timer = false;
                if self.protocol.mark() == (base, false) {
                    self.protocol.timeout();
                }
                self.arm(ctx);
            }
        }
        self.transmit(ctx);
    }

    fn transmit(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let Some((cable, end)) = self.cable else {
            return;
        };
        if self.busy {
            return;
        }
        let Some(frame) = self.protocol.next_frame() else {
            return;
        };
        let bytes = self.config.wire_bytes(&frame);
        let time = self.config.time(&frame);
        self.counters.frames += 1;
        self.counters.bytes += bytes as u64;
        self.counters.busy += time;
        self.busy = true;
        let port = self.index;
        ctx.schedule(
            ctx.me(),
            time,
            DeviceEvent::LinkPort(LinkPortEvent::Free { port }),
        );
        ctx.schedule(
            cable,
            time + self.config.serdes,
            DeviceEvent::Frame {
                port: end,
                frame: Box::new(frame),
            },
        );
        self.arm(ctx);
    }

    /// Sets the timer while anything is unacknowledged.
    fn arm(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        let (base, nothing_in_flight) = self.protocol.mark();
        if !self.timer && !nothing_in_flight {
            self.timer = true;
            let timer = LinkPortEvent::Timer {
                port: self.index,
                base,
            };
            ctx.schedule(ctx.me(), self.config.timeout, DeviceEvent::LinkPort(timer));
        }
    }
}
