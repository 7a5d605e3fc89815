//! Two hosts with HTX boards answer each other, and where the time of a message goes.

use std::cell::Cell;
use std::rc::Rc;

use hostwire_plan::htx::PortKind;

use crate::engine::Ps;
use crate::machine::htx::device::{add as add_board, cable, counters, phases as all_phases, slot};
use crate::machine::htx::rtl::{first_answer, outcome};
use crate::machine::htx::{
    BoardKind, DESTINATION_BYTES, HtxHost, Purpose, SETTLE, Setup, link_port,
};
use crate::models::Fabric;
use crate::models::ht::Packet;
use crate::models::ht::nic::{Nic, NicConfig};
use crate::models::ht::opteron::{LINE_BYTES, Op, Opteron, OpteronConfig, WriteObserver};
use crate::models::link::End;

use super::ExperimentError;
use super::htx_host::start;
use super::programs::{Marks, Step, Timed};

/// Bytes of a slot of the ring.
const SLOT_BYTES: u64 = 2 * LINE_BYTES;

/// The parts of a message's time, in order.
pub const PARTS: [&str; 13] = [
    "processor_out",
    "ht_link_out",
    "ht_core_in",
    "requester",
    "network_port_out",
    "link_port",
    "cable",
    "network_port_in",
    "completer",
    "ht_core_out",
    "ht_link_in",
    "processor_in",
    "poll",
];

/// The parts if the boards are RTL, which does not say what happens inside of them.
const PARTS_OUTSIDE: [&str; 6] = [
    "processor_out",
    "ht_link_out",
    "boards",
    "ht_link_in",
    "processor_in",
    "poll",
];

/// The parts that are known of a device.
pub fn parts(device: BoardKind) -> &'static [&'static str] {
    match device {
        BoardKind::Model | BoardKind::RtlCore => &PARTS,
        BoardKind::Rtl => &PARTS_OUTSIDE,
    }
}

/// The phases of which a mean is taken: of RTL a fourth of all, because each poll moves them too.
pub fn phases(device: BoardKind) -> impl Iterator<Item = u8> {
    (0..all_phases(device)).step_by(4)
}

/// What two hosts with boards are like.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Link and clocks.
    pub setup: Setup,
    /// Of RTL: which of the phases of words on the link.
    pub phase: u8,
    /// The link ports.
    pub port: PortKind,
    /// Time in the cable between them.
    pub propagation: Ps,
    /// The boards.
    pub nic: NicConfig,
    /// The processors.
    pub processor: OpteronConfig,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct PingPong {
    /// The time in parts: the sum of each over all messages, by [`parts`].
    pub sums: Vec<Ps>,
    /// Messages.
    pub messages: u64,
    /// From the first store to the end of the last poll.
    pub total: Ps,
}

/// When the last write came to the memory of a host.
#[derive(Clone, Default)]
struct LastWrite(Rc<Cell<Ps>>);

impl WriteObserver for LastWrite {
    fn wrote(&mut self, now: Ps, _: &Packet) {
        self.0.set(now);
    }
}

struct Side {
    host: HtxHost,
    written: LastWrite,
    marks: Marks,
}

/// Sends `payload` bytes to and fro, once for each nanosecond of a poll's phase. `run` runs the
/// simulation and calls what it is given behind each event.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn ping_pong(
    pair: &Pair,
    payload: usize,
    run: impl FnOnce(&mut Fabric, &HtxHost, &mut dyn FnMut(&mut Fabric)) -> Result<(), ExperimentError>,
) -> Result<PingPong, ExperimentError> {
    let rounds = (pair.processor.memory_read.0 / 1_000).max(1);
    let mut sim = Fabric::new();
    let hosts = [
        add(&mut sim, pair, 0, rounds)?,
        add(&mut sim, pair, 1, rounds)?,
    ];
    let ends = [(hosts[0].nic, 0), (hosts[1].nic, 0)];
    let (device, name) = (pair.setup.device, "board 0 - board 1".to_owned());
    cable(&mut sim, device, name, ends, pair.propagation);
    sim.run_until(SETTLE);
    let mut sides = Vec::new();
    for (id, host) in (0..).zip(hosts) {
        let (program, marks) = Timed::new(steps(pair, id, rounds, payload));
        let written = LastWrite::default();
        if let Some(opteron) = sim.component_mut::<Opteron>(host.host) {
            opteron.observe(written.clone());
        }
        start(&mut sim, host.host, program)?;
        sides.push(Side {
            host,
            written,
            marks,
        });
    }
    let mut sums = vec![Ps::ZERO; parts(pair.setup.device).len()];
    let mut messages = 0_u64;
    let mut lost = false;
    run(&mut sim, &sides[0].host, &mut |sim| {
        if messages == 2 * rounds {
            return;
        }
        // A mark of a receiver ends a message: what the devices know is about this one.
        let (from, to) = match messages % 2 {
            0 => (&sides[0], &sides[1]),
            _ => (&sides[1], &sides[0]),
        };
        let (sent, seen) = (messages / 2, messages.div_ceil(2));
        let begin = from.marks.times().get(sent as usize).copied();
        let end = to.marks.times().get(seen as usize).copied();
        if let (Some(begin), Some(end)) = (begin, end) {
            messages += 1;
            match stamps(sim, pair, from, to, [begin, end]) {
                Some(stamps) => {
                    for (sum, pair) in sums.iter_mut().zip(stamps.windows(2)) {
                        *sum += pair[1] - pair[0];
                    }
                    lost |= stamps.windows(2).any(|pair| pair[1] < pair[0]);
                }
                None => lost = true,
            }
        }
    })?;
    outcome(&sim)?;
    let times = sides[0].marks.times();
    let (Some(begin), Some(end)) = (times.first(), times.last()) else {
        return Err(ExperimentError::NoMeasurement("ping-pong"));
    };
    if lost || messages != 2 * rounds {
        return Err(ExperimentError::NoMeasurement("the parts of a message"));
    }
    let total = *end - *begin;
    Ok(PingPong {
        sums,
        messages,
        total,
    })
}

fn add(sim: &mut Fabric, pair: &Pair, id: u16, rounds: u64) -> Result<HtxHost, ExperimentError> {
    let nic = NicConfig {
        id,
        ports: vec![link_port(pair.port, pair.setup.user_mhz, &pair.nic)],
        // Each message finds a slot that is still zero.
        ring_slots: rounds,
        ..pair.nic.clone()
    };
    let name = format!("host {id}");
    // The words of both links are elsewhere in the clocks of their cores.
    let phase = (pair.phase + 5 * id as u8) % all_phases(pair.setup.device);
    let board = (Purpose::Messages, nic);
    let setup = (&pair.setup, phase);
    let added = add_board(sim, &name, setup, board, pair.processor.clone());
    Ok(added?)
}

/// Host 0 begins. What each computes before it polls moves the phase of its poll.
fn steps(pair: &Pair, id: u64, rounds: u64, payload: usize) -> Vec<Step> {
    let send = pair.nic.send_base + (1 - id) * DESTINATION_BYTES;
    let status = pair.nic.ring_base + LINE_BYTES;
    let mut steps = Vec::new();
    for round in 0..rounds {
        let poll = Step::Do(Op::Poll {
            address: status + round * SLOT_BYTES,
            not: vec![0; 4],
        });
        let send = [
            Step::Mark,
            Step::Do(Op::Store {
                address: send,
                data: vec![0xa5; payload],
            }),
            Step::Do(Op::Fence),
            Step::Do(Op::Compute(Ps::from_ns(round))),
        ];
        match id {
            0 => steps.extend(send.into_iter().chain([poll])),
            _ => steps.extend([poll].into_iter().chain(send)),
        }
    }
    steps.push(Step::Mark);
    steps
}

/// When the message was at the borders of its parts.
fn stamps(
    sim: &Fabric,
    pair: &Pair,
    from: &Side,
    to: &Side,
    [begin, end]: [Ps; 2],
) -> Option<Vec<Ps>> {
    let out = counters(sim, from.host.link, End::A)?;
    let into = counters(sim, to.host.link, End::B)?;
    let slot = slot(sim, from.host.link)?;
    let at_board = out.last_end + slot;
    let written = to.written.0.get();
    let in_memory = [into.last_end + slot, written, end];
    let answered = first_answer(sim, to.host.link);
    if pair.setup.device == BoardKind::Rtl {
        let before = [begin, out.last_begin, at_board, answered?];
        return Some(before.into_iter().chain(in_memory).collect());
    }
    let sent = sim.component::<Nic>(from.host.nic)?.counters();
    let got = sim.component::<Nic>(to.host.nic)?.counters();
    let user = |cycles| Ps::from_cycles(cycles, pair.setup.user_mhz);
    let before = [
        begin,
        out.last_begin,
        at_board,
        sent.stages.from_core,
        sent.stages.from_core + user(pair.nic.requester_cycles),
        sent.stages.to_port,
        got.stages.arrived - pair.propagation,
        got.stages.arrived,
        got.stages.from_network,
        got.stages.completed,
        answered.unwrap_or(got.stages.to_link),
    ];
    Some(before.into_iter().chain(in_memory).collect())
}
