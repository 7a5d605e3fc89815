//! What is published of the HTX board and its core, on boards that are RTL, beside the model.

use hostwire_plan::htx::PortKind;

use crate::engine::{Component, ComponentId, Context, Ps};
use crate::machine::htx::device::{counters, phases};
use crate::machine::htx::rtl::{core_times, outcome, rtl_core_alone};
use crate::machine::htx::{BoardKind, SETTLE, Setup, WINDOW};
use crate::models::ht::nic::NicConfig;
use crate::models::ht::opteron::{LINE_BYTES, OpteronConfig};
use crate::models::ht::{Packet, PacketBuffers};
use crate::models::link::{End, LinkEvent};
use crate::models::{DeviceEvent, Fabric};

use super::htx_board::{
    LATER_BOARD, LOOP_BACK, both_directions_mb_s, end_to_end, load_steps, read_with_ns,
    write_bytes_s,
};
use super::htx_host::{bench, start};
use super::htx_ping_pong::{Pair, phases as ping_pong_phases, ping_pong};
use super::programs::Timed;
use super::{Claims, ExperimentError, Row, mb_per_s};

const CLAIMS: &str = include_str!("../../experiments/rtl/claims.toml");
/// Lines each way, of both at once.
const LINES: u64 = 400;
const MIB: f64 = (1 << 20) as f64;

/// The published numbers.
///
/// # Errors
/// [`ExperimentError::Claims`] if the file is wrong.
pub fn claims() -> Result<Claims, ExperimentError> {
    Claims::parse(CLAIMS)
}

/// A number of RTL, and that of the model.
type Both = (&'static str, f64, Option<f64>);

/// Runs everything and compares. Each row says what the model has.
///
/// # Errors
/// [`ExperimentError::Board`] if a design was not built, or does what it must not; others if a run does not come to its
/// end.
pub fn reproduce() -> Result<Vec<Row>, ExperimentError> {
    let mut all = core()?;
    all.extend(writes()?);
    all.extend(reads()?);
    all.extend(messages()?);
    let simulated: Vec<_> = all.iter().map(|(id, rtl, _)| (*id, *rtl)).collect();
    let mut rows = claims()?.judge(&simulated);
    for row in &mut rows {
        let model = all.iter().find(|(id, ..)| row.id == *id);
        let Some((_, rtl, Some(model))) = model else {
            continue;
        };
        let pct = (rtl / model - 1.0) * 100.0;
        let unit = &row.unit;
        let beside = format!("the model: {model:.2} {unit}, from which RTL is {pct:+.2} % away");
        let remark = row.remark.take();
        row.remark = Some(match remark {
            Some(remark) => format!("{beside}; {remark}"),
            None => beside,
        });
    }
    Ok(rows)
}

fn setup(device: BoardKind, width_bits: u8, link_mhz: u32) -> Setup {
    Setup {
        device,
        width_bits,
        link_mhz,
        user_mhz: link_mhz / 2,
    }
}

/// Tables II and III.
fn core() -> Result<Vec<Both>, ExperimentError> {
    let [at_200, at_400] = [core_times_ns(200)?, core_times_ns(400)?];
    let clocks = |cycles, mhz| Some(Ps::from_cycles(cycles, mhz).as_ns());
    let nic = NicConfig::htx_board(0);
    let (in_cycles, out_cycles) = (nic.core_in_cycles, nic.core_out_cycles);
    let mut rows = vec![
        ("R1-in-200", at_200.0, clocks(in_cycles, 200)),
        ("R1-out-200", at_200.1, clocks(out_cycles, 200)),
        ("R1-in-400", at_400.0, clocks(in_cycles, 400)),
        ("R1-out-400", at_400.1, clocks(out_cycles, 400)),
    ];
    for (id, width, mhz) in [
        ("R2-8-200", 8, 200),
        ("R2-8-400", 8, 400),
        ("R2-16-200", 16, 200),
        ("R2-16-400", 16, 400),
    ] {
        let rtl = lines_both_ways_mb_s(&setup(BoardKind::RtlCore, width, mhz))?;
        rows.push((id, rtl, Some(both_directions_mb_s(width, mhz)?)));
    }
    Ok(rows)
}

/// Table IV, and the bandwidth of a later article.
fn writes() -> Result<Vec<Both>, ExperimentError> {
    let mut rows = Vec::new();
    for (id, bytes) in [
        ("R3-64", 64),
        ("R3-32", 32),
        ("R3-16", 16),
        ("R3-8", 8),
        ("R3-4", 4),
    ] {
        let of = |device| Ok(write_bytes_s(&setup(device, 8, 200), bytes)? / MIB);
        rows.push(both(id, BoardKind::Rtl, of)?);
    }
    let ratio = |at: usize| {
        let (rtl, model) = (rows[at].1 / rows[0].1, rows[at].2.zip(rows[0].2));
        (rtl, model.map(|(part, whole)| part / whole))
    };
    let ratios = [("R3-32-ratio", 1), ("R3-16-ratio", 2), ("R3-8-ratio", 3)];
    let ratios = ratios.map(|(id, at)| (id, ratio(at).0, ratio(at).1));
    rows.extend(ratios);
    let of = |device| Ok(write_bytes_s(&later(device), LINE_BYTES as usize)? / 1e9);
    rows.push(both("R6", BoardKind::RtlCore, of)?);
    rows.push(both("R6-own", BoardKind::Rtl, of)?);
    Ok(rows)
}

/// Table V, and the latency of a later article.
fn reads() -> Result<Vec<Both>, ExperimentError> {
    let mut rows = Vec::new();
    for (ids, bytes) in [
        (["R4-4", "R4-4-own"], 4),
        (["R4-8", "R4-8-own"], 8),
        (["R4-64", "R4-64-own"], 64),
    ] {
        let of = |device| read_with_ns(&setup(device, 8, 200), bytes);
        rows.push(both(ids[0], BoardKind::RtlCore, of)?);
        rows.push(both(ids[1], BoardKind::Rtl, of)?);
    }
    let of = |device| read_with_ns(&later(device), 4);
    rows.push(both("R5", BoardKind::RtlCore, of)?);
    rows.push(both("R5-own", BoardKind::Rtl, of)?);
    Ok(rows)
}

/// Section 5's second experiment, and two boards.
fn messages() -> Result<Vec<Both>, ExperimentError> {
    let looped = |device| Ok(end_to_end(&setup(device, 8, 200))?.latency_ns);
    Ok(vec![
        both("R7", BoardKind::RtlCore, looped)?,
        both("R7-own", BoardKind::Rtl, looped)?,
        both("R8", BoardKind::RtlCore, half_round_trip_ns)?,
        both("R8-own", BoardKind::Rtl, half_round_trip_ns)?,
    ])
}

fn later(device: BoardKind) -> Setup {
    Setup {
        device,
        ..LATER_BOARD
    }
}

fn both(
    id: &'static str,
    device: BoardKind,
    of: impl Fn(BoardKind) -> Result<f64, ExperimentError>,
) -> Result<Both, ExperimentError> {
    Ok((id, of(device)?, Some(of(BoardKind::Model)?)))
}

fn half_round_trip_ns(device: BoardKind) -> Result<f64, ExperimentError> {
    let (mut total, mut messages) = (Ps::ZERO, 0);
    for phase in ping_pong_phases(device) {
        let pair = Pair {
            setup: setup(device, 8, 200),
            phase,
            port: PortKind::Atoll,
            propagation: LOOP_BACK,
            nic: NicConfig::htx_board(0),
            processor: OpteronConfig::opteron_246(),
        };
        let ran = ping_pong(&pair, 16, |sim, _, each| {
            while sim.step().is_some() {
                each(sim);
            }
            Ok(sim.check_stall()?)
        })?;
        total += ran.total;
        messages += ran.messages;
    }
    Ok(total.as_ns() / messages as f64)
}

/// Table II: mean over all places that words on the link can have in a clock of the core, of a read and its answer.
fn core_times_ns(link_mhz: u32) -> Result<(f64, f64), ExperimentError> {
    let setup = setup(BoardKind::RtlCore, 8, link_mhz);
    let phases = phases(setup.device);
    let (mut into, mut out) = (Ps::ZERO, Ps::ZERO);
    for phase in 0..phases {
        let (mut sim, host) = bench(&setup, phase)?;
        let (program, _) = Timed::new(load_steps(&setup, phase, 4));
        start(&mut sim, host.host, program)?;
        sim.run()?;
        outcome(&sim)?;
        let times = core_times(&sim, host.link);
        let times = times.ok_or(ExperimentError::NoMeasurement("core"))?;
        into += times.0;
        out += times.1;
    }
    let mean = |sum: Ps| sum.as_ns() / f64::from(phases);
    Ok((mean(into), mean(out)))
}

/// A host or a board's logic that takes all packets at once.
struct Sink {
    link: ComponentId,
    end: End,
}

impl Component<DeviceEvent> for Sink {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        if let DeviceEvent::Ht(LinkEvent::Deliver { packet, .. }) = event {
            let (end, cost) = (self.end, PacketBuffers::of(&packet));
            let release = DeviceEvent::Ht(LinkEvent::Release { end, cost });
            ctx.schedule(self.link, Ps::ZERO, release);
        }
    }
}

/// Table III: bytes of packets over the time that both directions need for many lines at once.
fn lines_both_ways_mb_s(setup: &Setup) -> Result<f64, ExperimentError> {
    let mut sim = Fabric::new();
    let sink = |link, end| Sink { link, end };
    let link = rtl_core_alone(&mut sim, setup, sink)?;
    sim.run_until(SETTLE);
    let now = sim.now();
    for end in [End::A, End::B] {
        for line in 0..LINES {
            let address = WINDOW + line * LINE_BYTES;
            let packet = Packet::write(address, vec![line as u8; LINE_BYTES as usize]);
            let packet = Box::new(packet);
            let event = DeviceEvent::Ht(LinkEvent::Submit { end, packet });
            sim.inject(now, link, event)
                .map_err(|_| ExperimentError::NoMeasurement("link"))?;
        }
    }
    sim.run()?;
    outcome(&sim)?;
    let rate = |end| {
        let counters = counters(&sim, link, end)?;
        let bytes = counters.packets * (LINE_BYTES + 8);
        Some(mb_per_s(bytes, counters.last_end - counters.first_begin?))
    };
    let rates = rate(End::A).zip(rate(End::B));
    let (down, up) = rates.ok_or(ExperimentError::NoMeasurement("link"))?;
    Ok(down + up)
}

#[cfg(all(test, target_os = "linux"))]
mod clusters;
#[cfg(all(test, target_os = "linux"))]
mod tests;
