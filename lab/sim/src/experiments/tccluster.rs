//! Experiments of the TCCluster paper.

use crate::firmware;
use crate::machine::{Machine, Reset};
use crate::models::DeviceEvent;
use crate::models::ht::opteron::registers::{EXTENDED_INDEX, Registers};
use crate::models::ht::opteron::route::{AbortReason, Origin, Target, route};
use crate::models::ht::opteron::{LINE_BYTES, OpteronConfig};
use crate::models::ht::{Link, LinkMode};
use crate::models::ht::{Packet, cable};
use crate::models::link::{End, LinkEvent};
use hostwire_plan::{LinkRole, NodeId};

use super::jobs::{self, LINE_PAYLOAD_BYTES, Order, Pair, Put};
use super::{Claims, ExperimentError, MEMORY_OFFSET, Row, mb_per_s};

/// The paper's second prototype as a cluster file.
pub const TWO_BOARDS: &str = include_str!("../../clusters/two-boards.toml");
/// The paper's first prototype.
pub const ONE_BOARD: &str = include_str!("../../clusters/one-board.toml");
/// Two boards with two sockets each; processes can be bound to either.
pub const TWO_BOARDS_FOUR_SOCKETS: &str =
    include_str!("../../experiments/tccluster/two-boards-four-sockets.toml");
const CLAIMS: &str = include_str!("../../experiments/tccluster/claims.toml");

/// A stream that counts as sustained.
const SUSTAINED_BYTES: usize = 1 << 20;
const SUSTAINED_MESSAGES: u64 = 16_384;
/// Sizes of the puts among which the peak is looked for: 8 B to 4 MiB, as in figure 6.
const PEAK_EXPONENTS: std::ops::RangeInclusive<u32> = 3..=22;
/// A peak is above all other values by at least this share: 0.05 of 5,300 MiB/s. A smaller
/// difference is rounding.
const PEAK_MARGIN: f64 = 1e-5;

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
    let far = half_round_trip_ns(
        TWO_BOARDS_FOUR_SOCKETS,
        [0, 2],
        LINE_PAYLOAD_BYTES,
        Order::Weak,
    )?;
    let near = half_round_trip_ns(
        TWO_BOARDS_FOUR_SOCKETS,
        [1, 2],
        LINE_PAYLOAD_BYTES,
        Order::Weak,
    )?;
    let fenced = put_on_two_boards(SUSTAINED_BYTES, Order::Fenced)?;
    let messages = jobs::stream(
        &mut Pair::new(&mut booted(TWO_BOARDS)?, [0, 1]),
        LINE_PAYLOAD_BYTES,
        SUSTAINED_MESSAGES,
        Order::Weak,
    )?;
    // The paper counts what it stores: a line.
    let lines_mib_s = messages.messages_per_s * LINE_BYTES as f64 / f64::from(1 << 20);
    let sizes = apparent_over_size()?;
    let peak_mib_s = sizes.iter().map(|point| point.1).fold(0.0, f64::max);
    let (before, after) = lane_rates_mbit_s()?;
    let mut simulated = vec![
        (
            "T1",
            half_round_trip_ns(TWO_BOARDS, [0, 1], LINE_PAYLOAD_BYTES, Order::Weak)?,
        ),
        (
            "T2",
            half_round_trip_ns(TWO_BOARDS, [0, 1], 1024, Order::Fenced)?,
        ),
        ("T3", far - near),
        ("T4", sustained_mib_s()?),
        ("T5", fenced.arrived_mib_s),
        ("T6", lines_mib_s),
        ("T7", peak_mib_s),
        // Of one of the 16 lanes.
        (
            "T8",
            raw_mb_s(LinkMode::symmetric(16, 800))? * 8.0 / 16.0 / 1e3,
        ),
        ("T9-before", before),
        ("T9-after", after),
        ("T10", raw_mb_s(LinkMode::symmetric(16, 3_200))?),
        (
            "T11",
            reach_bytes() / f64::from(1u32 << 20) / f64::from(1u32 << 20),
        ),
        ("T12", ring_bytes()? / 1024.0),
        ("T13", f64::from(Registers::cold(false).node_id())),
        ("T14", cable::TRACE_INCHES_MAX),
        ("T15", OpteronConfig::shanghai().wc_buffers as f64),
    ];
    // Without a peak there is no value, and the row fails.
    if let Some(bytes) = strict_peak(&sizes) {
        simulated.push(("T7-size", bytes as f64 / 1024.0));
    }
    Ok(claims()?.judge(&simulated))
}

/// T4: one put that counts as sustained, until all of it has arrived.
pub(super) fn sustained_mib_s() -> Result<f64, ExperimentError> {
    Ok(put_on_two_boards(SUSTAINED_BYTES, Order::Weak)?.arrived_mib_s)
}

/// Plans, builds and boots a cluster of Shanghai processors.
///
/// # Errors
/// [`ExperimentError`] if it cannot be planned or does not boot.
pub fn booted(cluster: &str) -> Result<Machine, ExperimentError> {
    let plan = hostwire_plan::plan("cluster.toml", cluster.as_bytes())
        .map_err(|rejected| ExperimentError::Plan(rejected.to_string()))?;
    let mut machine = Machine::new(plan, &OpteronConfig::shanghai())?;
    firmware::boot_all(&mut machine)?;
    Ok(machine)
}

/// First byte that experiments use in a socket's memory.
pub(super) fn memory(machine: &Machine, socket: usize) -> Result<u64, ExperimentError> {
    let socket = machine
        .sockets()
        .get(socket)
        .ok_or(ExperimentError::NoMeasurement("no such socket"))?;
    let plan = machine.plan().processor(socket.id);
    Ok(plan.map_or(0, |plan| plan.memory.start.0) + MEMORY_OFFSET)
}

/// [`jobs::ping_pong()`] on a cluster.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn half_round_trip_ns(
    cluster: &str,
    sockets: [usize; 2],
    bytes: usize,
    order: Order,
) -> Result<f64, ExperimentError> {
    let mut machine = booted(cluster)?;
    let ran = jobs::ping_pong(&mut Pair::new(&mut machine, sockets), bytes, order)?;
    Ok(ran.half_round_trip_ns)
}

/// [`jobs::put()`] from one board to the other.
///
/// # Errors
/// [`ExperimentError`] if the run does not come to its end.
pub fn put_on_two_boards(bytes: usize, order: Order) -> Result<Put, ExperimentError> {
    let mut machine = booted(TWO_BOARDS)?;
    jobs::put(&mut Pair::new(&mut machine, [0, 1]), bytes, order)
}

/// Apparent bandwidth of one put over its size: bytes and MiB/s.
fn apparent_over_size() -> Result<Vec<(u64, f64)>, ExperimentError> {
    PEAK_EXPONENTS
        .map(|exponent| {
            let bytes = 1_usize << exponent;
            let put = put_on_two_boards(bytes, Order::Weak)?;
            Ok((bytes as u64, put.apparent_mib_s))
        })
        .collect()
}

/// The size whose value is above the values of all other sizes by more than
/// [`PEAK_MARGIN`]; none if the largest value is an edge of a plateau.
fn strict_peak(sizes: &[(u64, f64)]) -> Option<u64> {
    let (best, most) = sizes
        .iter()
        .copied()
        .max_by(|one, other| one.1.total_cmp(&other.1))?;
    let others = || sizes.iter().filter(|(bytes, _)| *bytes != best);
    others()
        .all(|(_, value)| *value < most * (1.0 - PEAK_MARGIN))
        .then_some(best)
}

/// Raw bandwidth of a direction: one packet on a freshly trained link, its bytes
/// on the wire over its time on the wire.
///
/// # Errors
/// [`ExperimentError::NoMeasurement`] if the packet was not sent.
pub fn raw_mb_s(mode: LinkMode) -> Result<f64, ExperimentError> {
    let (mut sim, link) = super::htx_host::bare_link(mode);
    let packet = Box::new(Packet::write(0x1000, vec![0; LINE_BYTES as usize]));
    let counters = |sim: &crate::models::Fabric| {
        sim.component::<Link>(link)
            .map(|link| link.counters(End::A))
            .unwrap_or_default()
    };
    let before = counters(&sim).wire_bytes;
    let now = sim.now();
    let inject = sim.inject(
        now,
        link,
        DeviceEvent::Ht(LinkEvent::Submit {
            end: End::A,
            packet,
        }),
    );
    inject.map_err(|_| ExperimentError::NoMeasurement("link"))?;
    sim.run()?;
    let after = counters(&sim);
    let begin = after
        .first_begin
        .ok_or(ExperimentError::NoMeasurement("link"))?;
    Ok(mb_per_s(after.wire_bytes - before, after.last_end - begin))
}

/// Bit rate of a lane of the TCCluster link of one board, after the cold reset
/// and after the boot.
fn lane_rates_mbit_s() -> Result<(f64, f64), ExperimentError> {
    let plan = hostwire_plan::plan("one-board.toml", ONE_BOARD.as_bytes())
        .map_err(|rejected| ExperimentError::Plan(rejected.to_string()))?;
    let mut machine = Machine::new(plan, &OpteronConfig::shanghai())?;
    let rate = |machine: &Machine| {
        let wire = machine
            .wires()
            .iter()
            .position(|wire| wire.role == LinkRole::Fabric)?;
        machine
            .link(wire)
            .mode()
            .map(|mode| 2.0 * f64::from(mode.mhz))
    };
    machine.reset(Reset::Cold, &[0]);
    let before = rate(&machine);
    firmware::boot_all(&mut machine)?;
    before
        .zip(rate(&machine))
        .ok_or(ExperimentError::NoMeasurement("link training"))
}

/// Size of the address space that one extended MMIO range over everything can
/// route: the first power of two that it no longer holds.
fn reach_bytes() -> f64 {
    let mut registers = Registers::cold(true);
    for (index, value) in [(2 << 28, 0), (3 << 28, u32::MAX)] {
        registers.write(1, EXTENDED_INDEX, index);
        registers.write(1, EXTENDED_INDEX + 4, value);
    }
    // The link behind it is down; that the range was found is enough.
    let held = |bits: &u32| {
        let target = route(&registers, Origin::Link(1), 1 << bits, 0);
        target != Target::Abort(AbortReason::NoRange)
    };
    let bits = (27..64).find(|bits| !held(bits)).unwrap_or(64);
    2f64.powi(bits as i32)
}

/// Size of the ring that a node keeps for a peer.
fn ring_bytes() -> Result<f64, ExperimentError> {
    let machine = booted(TWO_BOARDS)?;
    let ring = machine.plan().ring(NodeId(1), NodeId(0));
    ring.map(|ring| ring.bytes as f64)
        .ok_or(ExperimentError::NoMeasurement("rings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_of_a_plateau_is_no_peak() {
        assert_eq!(strict_peak(&[(1, 2.0), (2, 3.0), (4, 2.5)]), Some(2));
        assert_eq!(strict_peak(&[(1, 2.0), (2, 3.0), (4, 3.0)]), None);
        assert_eq!(strict_peak(&[(1, 3.0), (2, 3.0 + 1e-6), (4, 2.0)]), None);
        assert_eq!(strict_peak(&[]), None);
    }

    /// T6 and figure 6 are one sender: a put of 64 bytes leaves as fast as a message of one
    /// line arrives.
    #[test]
    fn messages_and_puts_of_a_line_cost_their_sender_the_same() {
        let put = put_on_two_boards(64, Order::Weak).unwrap().apparent_mib_s;
        let mut machine = booted(TWO_BOARDS).unwrap();
        let mut pair = Pair::new(&mut machine, [0, 1]);
        let stream = jobs::stream(&mut pair, LINE_PAYLOAD_BYTES, 4_096, Order::Weak).unwrap();
        let lines = stream.messages_per_s * LINE_BYTES as f64 / f64::from(1 << 20);
        assert!((put / 2500.0 - 1.0).abs() < 0.001, "{put}");
        assert!((lines / put - 1.0).abs() < 0.01, "{lines} {put}");
    }
}
