//! Experiments of the HTX board paper.

use hostwire_plan::htx::PortKind;

use crate::engine::Ps;
use crate::machine::htx::device::{add, cable, counters, offset, phases, slot, window_bytes};
use crate::machine::htx::rtl::outcome;
use crate::machine::htx::{BoardKind, Purpose, SETTLE, WINDOW, join, link_port};
use crate::models::ht::Packet;
use crate::models::ht::link_port::LinkPortConfig;
use crate::models::ht::nic::{Nic, NicConfig};
use crate::models::ht::opteron::registers::FREQUENCY_MHZ;
use crate::models::ht::opteron::{LINE_BYTES, Op, OpteronConfig};
use crate::models::ht::{Link, LinkMode};
use crate::models::link::{End, LinkEvent};
use crate::models::{DeviceEvent, Fabric};

pub use crate::machine::htx::{HtxHost, Setup, add_host};

use super::htx_host::{bare_link, bench, start};
use super::programs::{BareStores, Marks, Step, Timed};
use super::{Claims, ExperimentError, Row, mb_per_s, mib_per_s};

const CLAIMS: &str = include_str!("../../experiments/htx-board/claims.toml");

/// Stores per bandwidth measurement.
const WRITES: u64 = 5_000;
/// Propagation in the cable that loops a network port back. **Assumed.**
pub(super) const LOOP_BACK: Ps = Ps::from_ns(5);
/// Highest bit rate of an input pin. Source: paper, section 2.
const PIN_MBIT_S: u32 = 1_000;

/// The setup of a read in a later article on the same core (TRETS 2008). That its user logic
/// runs at half of the link's clock, as in the paper, is **assumed**.
pub(super) const LATER_BOARD: Setup = Setup {
    device: BoardKind::Model,
    width_bits: 16,
    link_mhz: 400,
    user_mhz: 200,
};

/// The published numbers.
///
/// # Errors
/// [`ExperimentError::Claims`] if the file is wrong.
pub fn claims() -> Result<Claims, ExperimentError> {
    Claims::parse(CLAIMS)
}

/// Runs everything and compares.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn reproduce() -> Result<Vec<Row>, ExperimentError> {
    let core_200 = core_latencies_ns(200)?;
    let core_400 = core_latencies_ns(400)?;
    let wide_and_fast = both_directions_mb_s(16, 400)?;
    let slow = end_to_end(&Setup::default())?;
    let wide = end_to_end(&Setup {
        width_bits: 16,
        ..Setup::default()
    })?;
    let fast = end_to_end(&Setup {
        link_mhz: 400,
        user_mhz: 200,
        ..Setup::default()
    })?;
    let (nodes, aggregate_gb_s) = fully_connected()?;
    let [full, half] = [write_mib_s(64)?, write_mib_s(32)?];
    let [quarter, eighth] = [write_mib_s(16)?, write_mib_s(8)?];
    let simulated = [
        ("H1", full),
        ("H2", half),
        ("H3", quarter),
        ("H4", eighth),
        ("H5", write_mib_s(4)?),
        ("H2-ratio", half / full),
        ("H3-ratio", quarter / full),
        ("H4-ratio", eighth / full),
        ("H6", read_ns(4)?),
        ("H7", read_ns(8)?),
        ("H8", read_ns(64)?),
        ("H9-in-200", core_200.0),
        ("H9-out-200", core_200.1),
        ("H9-in-400", core_400.0),
        ("H9-out-400", core_400.1),
        ("H10-8-200", both_directions_mb_s(8, 200)?),
        ("H10-8-400", both_directions_mb_s(8, 400)?),
        ("H10-16-200", both_directions_mb_s(16, 200)?),
        ("H10-16-400", wide_and_fast),
        ("H11", aggregate_gb_s),
        ("H12", wide_and_fast / 500.0),
        ("H13", slow.latency_ns),
        ("H14", slow.wire_ns / wide.wire_ns),
        (
            "H15",
            (slow.hardware_ns - LOOP_BACK.as_ns()) / (fast.hardware_ns - LOOP_BACK.as_ns()),
        ),
        ("H15-cable", slow.hardware_ns / fast.hardware_ns),
        ("H16", nodes),
        ("H18", f64::from(fastest_mhz())),
    ];
    Ok(claims()?.judge(&simulated))
}

/// Table IV: what arrives at the board if every store of `bytes` is a packet.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn write_mib_s(bytes: usize) -> Result<f64, ExperimentError> {
    Ok(write_bytes_s(&Setup::default(), bytes)? / f64::from(1 << 20))
}

/// The same with another link and clock of the board, in bytes per second.
pub(super) fn write_bytes_s(setup: &Setup, bytes: usize) -> Result<f64, ExperimentError> {
    let (mut sim, host) = bench(setup, 0)?;
    let stores = BareStores {
        address: WINDOW,
        lines: WRITES,
        bytes,
        window_bytes: window_bytes(setup.device),
    };
    start(&mut sim, host.host, stores.program())?;
    sim.run()?;
    outcome(&sim)?;
    Ok(written(&sim, &host, bytes as u64)?.0 * f64::from(1 << 20))
}

/// How fast writes of `bytes` have come to the board, in MiB/s, from the first to the last; and
/// when that was.
pub(super) fn written(
    sim: &Fabric,
    host: &HtxHost,
    bytes: u64,
) -> Result<(f64, Ps), ExperimentError> {
    let (first, last, all) = match sim.component::<Nic>(host.nic).map(Nic::counters) {
        Some(counters) => (
            counters.first_write,
            counters.last_write,
            counters.write_bytes,
        ),
        // RTL does not tell: when they were on the link.
        None => {
            let down = counters(sim, host.link, End::A).unwrap_or_default();
            (down.first_begin, down.last_begin, down.packets * bytes)
        }
    };
    let first = first.ok_or(ExperimentError::NoMeasurement("writes"))?;
    let rate = mib_per_s(all.saturating_sub(bytes), last - first);
    Ok((rate, last))
}

/// Table V: an uncached load of `bytes`.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn read_ns(bytes: usize) -> Result<f64, ExperimentError> {
    read_with_ns(&Setup::default(), bytes)
}

/// The same with another link and clock of the board.
pub(super) fn read_with_ns(setup: &Setup, bytes: usize) -> Result<f64, ExperimentError> {
    let mut sum = Ps::ZERO;
    let phases = phases(setup.device);
    for phase in 0..phases {
        let (mut sim, host) = bench(setup, phase)?;
        let (program, marks) = Timed::new(load_steps(setup, phase, bytes));
        start(&mut sim, host.host, program)?;
        sim.run()?;
        sum += load_time(&sim, &marks)?;
    }
    Ok(sum.as_ns() / f64::from(phases))
}

/// A load between two marks.
pub(super) fn load_steps(setup: &Setup, phase: u8, bytes: usize) -> Vec<Step> {
    let load = Op::Load {
        address: WINDOW,
        bytes,
    };
    let offset = (phase > 0).then(|| Step::Do(Op::Compute(offset(setup, phase))));
    let steps = [Step::Mark, Step::Do(load), Step::Mark];
    offset.into_iter().chain(steps).collect()
}

/// How long it took.
pub(super) fn load_time(sim: &Fabric, marks: &Marks) -> Result<Ps, ExperimentError> {
    outcome(sim)?;
    match marks.times()[..] {
        [begin, end] => Ok(end - begin),
        _ => Err(ExperimentError::NoMeasurement("read")),
    }
}

/// Table II: time of a read and of its response in the HT-Core.
fn core_latencies_ns(link_mhz: u32) -> Result<(f64, f64), ExperimentError> {
    let setup = Setup {
        link_mhz,
        ..Setup::default()
    };
    let (mut sim, host) = bench(&setup, 0)?;
    let load = Op::Load {
        address: WINDOW,
        bytes: 4,
    };
    start(&mut sim, host.host, Timed::new(vec![Step::Do(load)]).0)?;
    sim.run()?;
    let counters = sim
        .component::<Nic>(host.nic)
        .map(Nic::counters)
        .unwrap_or_default();
    Ok((counters.core_in.as_ns(), counters.core_out.as_ns()))
}

/// Table III: one packet each way at the same time; bytes on the wires over the
/// time that both directions needed.
pub(super) fn both_directions_mb_s(width_bits: u8, mhz: u32) -> Result<f64, ExperimentError> {
    let (mut sim, link) = bare_link(LinkMode::symmetric(width_bits, mhz));
    let now = sim.now();
    for end in [End::A, End::B] {
        let packet = Box::new(Packet::write(0x1000, vec![0; LINE_BYTES as usize]));
        sim.inject(
            now,
            link,
            DeviceEvent::Ht(LinkEvent::Submit { end, packet }),
        )
        .map_err(|_| ExperimentError::NoMeasurement("link"))?;
    }
    sim.run()?;
    let model = sim
        .component::<Link>(link)
        .ok_or(ExperimentError::NoMeasurement("link"))?;
    let counters = [End::A, End::B].map(|end| model.counters(end));
    let begin = counters.iter().filter_map(|c| c.first_begin).min();
    let end = counters.iter().map(|c| c.last_end).max();
    let (begin, end) = begin
        .zip(end)
        .ok_or(ExperimentError::NoMeasurement("link"))?;
    let bytes: u64 = counters.iter().map(|c| c.packets * 72).sum();
    Ok(mb_per_s(bytes, end - begin))
}

/// The time of one message through a looped-back board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndToEnd {
    /// From the first store to the end of the poll, mean over the poll's phases.
    pub latency_ns: f64,
    /// Time on the HyperTransport wires: message in, payload and status out.
    pub wire_ns: f64,
    /// From the pins of the board back to them, the loop back's cable included.
    pub hardware_ns: f64,
}

/// Section 5's second experiment: 16 bytes out by PIO, through network port, link
/// port, a cable in loop back, and the completer into a ring that is polled.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn end_to_end(setup: &Setup) -> Result<EndToEnd, ExperimentError> {
    let models = (NicConfig::htx_board(0), OpteronConfig::opteron_246());
    end_to_end_with((setup, LOOP_BACK), models, 16, |sim, _| Ok(_ = sim.run()?))
}

/// As [`end_to_end`], with other models, propagation in the cable and `payload` bytes; `run` runs each of
/// the simulations.
pub(super) fn end_to_end_with(
    (setup, length): (&Setup, Ps),
    (nic, processor): (NicConfig, OpteronConfig),
    payload: usize,
    mut run: impl FnMut(&mut Fabric, &HtxHost) -> Result<(), ExperimentError>,
) -> Result<EndToEnd, ExperimentError> {
    let mut latencies = Vec::new();
    let mut one = None;
    let polls = (processor.memory_read.0 / 1_000).max(1);
    for phase in 0..polls {
        let mut sim = Fabric::new();
        let nic = NicConfig {
            ports: vec![link_port(PortKind::Atoll, setup.user_mhz, &nic)],
            ..nic.clone()
        };
        let (send, ring) = (nic.send_base, nic.ring_base);
        let place = (setup, (phase % u64::from(phases(setup.device))) as u8);
        let board = (Purpose::Messages, nic);
        let host = add(&mut sim, "host", place, board, processor.clone())?;
        let ends = [(host.nic, 0); 2];
        cable(
            &mut sim,
            setup.device,
            "board - cable".to_owned(),
            ends,
            length,
        );
        sim.run_until(SETTLE);
        // The poll starts after the fence; other work before it moves its phase.
        let steps = vec![
            Step::Mark,
            Step::Do(Op::Store {
                address: send,
                data: vec![0xa5; payload],
            }),
            Step::Do(Op::Fence),
            Step::Do(Op::Compute(Ps::from_ns(phase))),
            Step::Do(Op::Poll {
                address: ring + LINE_BYTES,
                not: vec![0; 4],
            }),
            Step::Mark,
        ];
        let (program, marks) = Timed::new(steps);
        start(&mut sim, host.host, program)?;
        run(&mut sim, &host)?;
        outcome(&sim)?;
        let [begin, end] = marks.times()[..] else {
            return Err(ExperimentError::NoMeasurement("end to end"));
        };
        latencies.push((end - begin).as_ns());
        one = one.or_else(|| measure_hardware(&sim, &host));
    }
    let latency_ns = latencies.iter().sum::<f64>() / latencies.len() as f64;
    let (wire_ns, hardware_ns) = one.ok_or(ExperimentError::NoMeasurement("end to end"))?;
    Ok(EndToEnd {
        latency_ns,
        wire_ns,
        hardware_ns,
    })
}

/// Wire time of the three packets, and time from the board's pins to its pins.
fn measure_hardware(sim: &Fabric, host: &HtxHost) -> Option<(f64, f64)> {
    let [down, up] = [End::A, End::B].map(|end| counters(sim, host.link, end));
    let (down, up) = (down?, up?);
    let downward = down.last_end - down.first_begin?;
    let upward = up.last_end - up.first_begin?;
    let arrived = arrived(sim, host)?;
    Some((
        (downward + upward).as_ns(),
        (up.first_begin? - arrived).as_ns(),
    ))
}

/// When the last write was at the pins of the board.
pub(super) fn arrived(sim: &Fabric, host: &HtxHost) -> Option<Ps> {
    Some(counters(sim, host.link, End::A)?.last_end + slot(sim, host.link)?)
}

/// Seven hosts, each cabled to the six others by 4 Gbit/s SFPs; all send to all.
/// Returns how many hosts got the messages of all others, and what six ports
/// carry in both directions, in GB/s.
fn fully_connected() -> Result<(f64, f64), ExperimentError> {
    const HOSTS: usize = 7;
    let setup = Setup {
        device: BoardKind::Model,
        width_bits: 16,
        link_mhz: 400,
        user_mhz: 200,
    };
    let mut sim = Fabric::new();
    // Port towards another host: its number, less one if it comes after oneself.
    let port = |from: usize, to: usize| (to - usize::from(to > from)) as u8;
    let hosts: Vec<HtxHost> = (0..HOSTS)
        .map(|id| {
            let routes = (0..HOSTS)
                .map(|to| if to == id { 0 } else { port(id, to) })
                .collect();
            let ports = vec![LinkPortConfig::sfp_4g(); HOSTS - 1];
            let nic = NicConfig {
                ports,
                routes,
                ..NicConfig::htx_board(id as u16)
            };
            add_host(&mut sim, &format!("host {id}"), &setup, nic)
        })
        .collect();
    for a in 0..HOSTS {
        for b in a + 1..HOSTS {
            let ends = [(a, b), (b, a)].map(|(from, to)| (hosts[from].nic, port(from, to)));
            join(&mut sim, format!("cable {a}-{b}"), ends, Ps::from_ns(10));
        }
    }
    sim.run_until(Ps::from_us(20));
    let send = NicConfig::htx_board(0).send_base;
    for (id, host) in hosts.iter().enumerate() {
        let others = (0..HOSTS as u64).filter(|&to| to != id as u64);
        let messages = others.flat_map(|to| {
            [
                Step::Do(Op::Store {
                    address: send + (to << 12),
                    data: vec![id as u8; 64],
                }),
                Step::Do(Op::Fence),
            ]
        });
        start(
            &mut sim,
            host.host,
            Timed::new(messages.collect::<Vec<_>>()).0,
        )?;
    }
    sim.run()?;
    let nics: Vec<&Nic> = hosts
        .iter()
        .filter_map(|host| sim.component(host.nic))
        .collect();
    let served = nics
        .iter()
        .filter(|nic| nic.counters().completed == HOSTS as u64 - 1)
        .count();
    // Both directions of the six cables of host 0: bytes over time on the cable.
    let towards = (1..HOSTS).map(|other| (nics[0], port(0, other)));
    let back = (1..HOSTS).map(|other| (nics[other], port(other, 0)));
    let rates = towards.chain(back).filter_map(|(nic, port)| {
        let counters = nic.link_port(port)?.counters;
        Some(mb_per_s(counters.bytes, counters.busy) / 1e3)
    });
    Ok((served as f64, rates.sum()))
}

/// The fastest HyperTransport clock whose bit rate stays below what a pin takes.
fn fastest_mhz() -> u32 {
    FREQUENCY_MHZ
        .into_iter()
        .filter(|mhz| 2 * mhz < PIN_MBIT_S)
        .max()
        .unwrap_or(0)
}
