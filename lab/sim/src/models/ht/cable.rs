//! Cables and traces.
//!
//! A HyperTransport link's cable is passive: it sets propagation time and the
//! highest clock ([`Medium`]). A cable between link ports of NICs is a component
//! of its own, because it delays and damages frames.

use crate::engine::{Component, ComponentId, Context, Ps};

use crate::models::DeviceEvent;
use crate::models::ht::Frame;
use crate::models::link::{Damage, End};

/// What a HyperTransport link runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// Traces on a board or backplane.
    Trace,
    /// The coaxial HTX cable of the prototype.
    HtxCable,
}

const INCH_UM: u64 = 25_400;
/// Longest trace between two processors. Source: paper, IV.F.
pub const TRACE_INCHES_MAX: f64 = 24.0;

impl Medium {
    /// Highest link clock: what the planner accepts.
    pub fn mhz_max(self) -> u32 {
        match self {
            Medium::Trace => hostwire_plan::Medium::Board.mhz_max(),
            Medium::HtxCable => hostwire_plan::Medium::Coax.mhz_max(),
        }
    }
}

/// How far signals go, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// The PHYs of both ends.
    pub phys: Ps,
    /// An inch of a trace.
    pub trace_inch: Ps,
    /// An inch of a cable.
    pub cable_inch: Ps,
    /// Length of a trace where the plan gives none, in micrometres.
    pub trace_um: u64,
    /// The same of a cable.
    pub cable_um: u64,
}

impl Default for Wiring {
    /// Source: 170 ps per inch on FR4 and 120 ps per inch in a coaxial cable are
    /// textbook values; all others are assumed. The prototype's cable of
    /// 25 inches comes to the 5 ns of T1's budget.
    fn default() -> Self {
        Wiring {
            phys: Ps(2_000),
            trace_inch: Ps(170),
            cable_inch: Ps(120),
            trace_um: 6 * INCH_UM,
            cable_um: 25 * INCH_UM,
        }
    }
}

impl Wiring {
    /// From pin to pin, with both PHYs. Without a length, that of the usual length.
    pub fn propagation(&self, medium: Medium, length_um: Option<u64>) -> Ps {
        let (inch, usual_um) = match medium {
            Medium::Trace => (self.trace_inch, self.trace_um),
            Medium::HtxCable => (self.cable_inch, self.cable_um),
        };
        let inches = length_um.unwrap_or(usual_um) as f64 / INCH_UM as f64;
        self.phys + Ps((inches * inch.0 as f64) as u64)
    }
}

/// Sees every frame on a cable; see [`Cable::set_tap`].
pub type Tap = Box<dyn FnMut(&Tapped<'_>)>;

/// A frame on a cable.
#[derive(Debug)]
pub struct Tapped<'a> {
    /// When its last bit leaves the transmitter.
    pub end: Ps,
    /// The end that it comes from.
    pub from: End,
    /// The frame, as it arrives.
    pub frame: &'a Frame,
}

/// A cable between two link ports, ends 0 and 1.
pub struct Cable {
    propagation: Ps,
    damage: [Damage; 2],
    frames: [u64; 2],
    ends: [Option<(ComponentId, u8)>; 2],
    tap: Option<Tap>,
}

impl Cable {
    /// A cable with its one-way delay, and damage from end 0 and from end 1.
    pub fn new(propagation: Ps, damage: [Damage; 2]) -> Cable {
        Cable {
            propagation,
            damage,
            frames: [0; 2],
            ends: [None; 2],
            tap: None,
        }
    }

    /// The device and port at each end.
    pub fn ends(&self) -> [Option<(ComponentId, u8)>; 2] {
        self.ends
    }

    /// Shows every frame to `tap` from now on. Nothing else changes.
    pub fn set_tap(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    /// Plugs `end` into port `port` of `device`. `false` if there is no such end.
    pub fn plug(&mut self, end: u8, device: ComponentId, port: u8) -> bool {
        match self.ends.get_mut(usize::from(end)) {
            Some(slot) => {
                *slot = Some((device, port));
                true
            }
            None => false,
        }
    }
}

impl Component<DeviceEvent> for Cable {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        let DeviceEvent::Frame {
            port: from,
            mut frame,
        } = event
        else {
            return;
        };
        let from = usize::from(from & 1);
        self.frames[from] += 1;
        frame.damaged |= self.damage[from].hits(self.frames[from]);
        if let Some(tap) = &mut self.tap {
            tap(&Tapped {
                end: ctx.now(),
                from: [End::A, End::B][from],
                frame: &frame,
            });
        }
        if let Some((device, port)) = self.ends[1 - from] {
            ctx.schedule(device, self.propagation, DeviceEvent::Frame { port, frame });
        }
    }
}
