//! Two hosts with HTX boards answer each other, and where the time of a message goes.

use std::cell::Cell;
use std::rc::Rc;

use hostwire_plan::htx::PortKind;

use crate::engine::Ps;
use crate::machine::htx::{
    DESTINATION_BYTES, HtxHost, SETTLE, Setup, add_host_with, join, link_port,
};
use crate::models::Fabric;
use crate::models::ht::Link;
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

/// What two hosts with boards are like.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Link and clocks.
    pub setup: Setup,
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
    /// The time in parts: the sum of each over all messages, by [`PARTS`].
    pub sums: [Ps; PARTS.len()],
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
    let hosts = [0, 1].map(|id| add(&mut sim, pair, id, rounds));
    let ends = [(hosts[0].nic, 0), (hosts[1].nic, 0)];
    join(
        &mut sim,
        "board 0 - board 1".to_owned(),
        ends,
        pair.propagation,
    );
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
    let mut sums = [Ps::ZERO; PARTS.len()];
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

fn add(sim: &mut Fabric, pair: &Pair, id: u16, rounds: u64) -> HtxHost {
    let nic = NicConfig {
        id,
        ports: vec![link_port(pair.port, pair.setup.user_mhz, &pair.nic)],
        // Each message finds a slot that is still zero.
        ring_slots: rounds,
        ..pair.nic.clone()
    };
    let name = format!("host {id}");
    add_host_with(sim, &name, &pair.setup, nic, pair.processor.clone())
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
) -> Option<[Ps; PARTS.len() + 1]> {
    let out = sim.component::<Link>(from.host.link)?.counters(End::A);
    let into = sim.component::<Link>(to.host.link)?.counters(End::B);
    let sent = sim.component::<Nic>(from.host.nic)?.counters();
    let got = sim.component::<Nic>(to.host.nic)?.counters();
    // From the end of a packet on the wires to its delivery, the same both ways.
    let behind = sent.last_write - out.last_end;
    let user = |cycles| Ps::from_cycles(cycles, pair.setup.user_mhz);
    Some([
        begin,
        out.last_begin,
        sent.last_write,
        sent.stages.from_core,
        sent.stages.from_core + user(pair.nic.requester_cycles),
        sent.stages.to_port,
        got.stages.arrived - pair.propagation,
        got.stages.arrived,
        got.stages.from_network,
        got.stages.completed,
        got.stages.to_link,
        into.last_end + behind,
        to.written.0.get(),
        end,
    ])
}
