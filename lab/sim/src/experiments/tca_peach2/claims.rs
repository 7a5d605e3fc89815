//! Published and simulated numbers.

use super::measure::{Dma, LOOPBACK_BYTES, loopback, ping_pong, planned, ring, run_dma, two_nodes};
use super::three_copies::{Grade, ThreeCopies, direct, three_copies};
use super::{CHAIN, LARGE_BYTES};
use crate::engine::Ps;
use crate::experiments::{Claims, ExperimentError, Row};
use crate::models::link::{End, LinkEvent};
use crate::models::pcie::peach2::chip::DESCRIPTORS_MAX;
use crate::models::pcie::peach2::host::HostConfig;
use crate::models::pcie::{Link, LinkConfig, Tlp};
use crate::models::{DeviceEvent, Fabric};
use crate::tca::{Config, Device, DeviceAddress, Engine, SubCluster};

const CLAIMS: &str = include_str!("../../../experiments/tca-peach2/claims.toml");

/// Payload of the paper's TLPs.
const PAYLOAD_BYTES: usize = 256;
/// The data size that represents small ones.
const SMALL_BYTES: u64 = 64;
/// The chip's memory.
const CHIP: (u16, Device) = (0, Device::Internal);

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
    let (raw_gb_s, peak_gb_s) = saturated()?;
    let local = |device, bytes, count| write_gb_s((0, device), bytes, count);
    let remote = |device, bytes, count| write_gb_s((1, device), bytes, count);
    let max = local(Device::Host, LARGE_BYTES, CHAIN)?;
    let of_max = |count| local(Device::Host, LARGE_BYTES, count).map(|rate| rate / max * 100.0);
    let one_of_16k = local(Device::Host, 4 * LARGE_BYTES, 1)?;
    let gpu = local(Device::Gpu0, LARGE_BYTES, CHAIN)?;
    let small = local(Device::Host, SMALL_BYTES, CHAIN)?;
    let gpu_small = local(Device::Gpu0, SMALL_BYTES, CHAIN)?;
    let read = |device, bytes| {
        let dma = Dma::new((0, device), CHIP, bytes, CHAIN);
        Ok::<_, ExperimentError>(run_dma(&mut two_nodes(&Config::default())?, &dma)?.gb_s())
    };
    let eight = SubCluster::new(&planned(&ring(8))?, &Config::default())?;
    let sixteen = SubCluster::new(&planned(&ring(16))?, &Config::default())?;
    let (block_gib, node_gib, window_gib) = window(&sixteen)?;
    let mut eight = eight;
    let neighbours_ns = ping_pong(&mut eight, [0, 1], LOOPBACK_BYTES, 10)?;
    let far_ns = ping_pong(&mut eight, [0, 4], LOOPBACK_BYTES, 10)?;
    let pipelined = Dma {
        engine: Engine::Pipelined,
        ..Dma::new((0, Device::Host), (1, Device::Host), LARGE_BYTES, CHAIN)
    };
    let pipelined = run_dma(&mut two_nodes(&Config::default())?, &pipelined)?.gb_s();
    let two_phase = Dma::new((0, Device::Host), (1, Device::Host), LARGE_BYTES, CHAIN);
    let two_phase = run_dma(&mut two_nodes(&Config::default())?, &two_phase)?.gb_s();
    let cpu_gflops = 2.0 * 8.0 * 2.6 * 8.0;
    let gpu_gflops = 4.0 * 665.0;
    let mut simulated = vec![
        ("A1", peak_gb_s),
        ("A2", raw_gb_s),
        ("A3", max / peak_gb_s * 100.0),
        ("A3-bandwidth", max),
        ("A4", max),
        ("A4-read", read(Device::Host, LARGE_BYTES)? / max),
        ("A4-read-small", read(Device::Host, SMALL_BYTES)? / small),
        ("A5", of_max(4)?),
        ("A5-1", of_max(1)?),
        ("A5-2", of_max(2)?),
        ("A5-16", of_max(16)?),
        ("A6", of_max(4)? / 100.0 * max / one_of_16k),
        ("A7", gpu / max),
        ("A8", read(Device::Gpu0, LARGE_BYTES)? * 1e3),
        ("A9", over_qpi_mb_s()?),
        (
            "A10",
            loopback(LOOPBACK_BYTES, &Config::default(), &|_| Ok(()))?.latency_ns,
        ),
        ("A11", remote(Device::Host, LARGE_BYTES, CHAIN)? / max),
        (
            "A11-small",
            remote(Device::Host, SMALL_BYTES, CHAIN)? / small,
        ),
        ("A12", remote(Device::Gpu0, LARGE_BYTES, CHAIN)? / gpu),
        (
            "A12-small",
            remote(Device::Gpu0, SMALL_BYTES, CHAIN)? / gpu_small,
        ),
        ("A13", window_gib),
        ("A13-node", node_gib),
        ("A13-block", block_gib),
        ("A15-cpu", cpu_gflops),
        ("A15-gpu", gpu_gflops),
        ("A15-total", 268.0 * (cpu_gflops + gpu_gflops) / 1e3),
        ("A15-clock", Config::default().chip.clock_mhz as f64),
        ("A19", DESCRIPTORS_MAX as f64),
        ("A20", neighbours_ns / 1e3),
        ("A20-far", far_ns / 1e3),
        ("A20-bandwidth", max / peak_gb_s * 100.0),
        ("A21-two-phase", two_phase),
        ("A21-pipelined", pipelined),
    ];
    simulated.extend(beside_infiniband()?);
    Ok(claims()?.judge(&simulated))
}

/// What other papers and talks print of PEACH2, by the rows of `experiments/elsewhere`.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub(in crate::experiments) fn elsewhere() -> Result<Vec<(&'static str, f64)>, ExperimentError> {
    let us = |time: Ps| time.as_ns() / 1e3;
    let (gpus, _) = ways(8)?;
    let pipelined = Dma {
        engine: Engine::Pipelined,
        ..Dma::new((0, Device::Host), (1, Device::Host), 8, 1)
    };
    let hosts = run_dma(&mut two_nodes(&Config::default())?, &pipelined)?.arrived
        + Config::default().host.poll;
    let max = write_gb_s((0, Device::Host), LARGE_BYTES, CHAIN)?;
    let mut eight = SubCluster::new(&planned(&ring(8))?, &Config::default())?;
    let near_ns = ping_pong(&mut eight, [0, 1], LOOPBACK_BYTES, 10)?;
    let far_ns = ping_pong(&mut eight, [0, 4], LOOPBACK_BYTES, 10)?;
    let mut old = Config::default();
    old.link.speed.rate_mt_s = 2_500;
    old.chip.payload_bytes = 128;
    let write = Dma::new(CHIP, (0, Device::Host), LARGE_BYTES, CHAIN);
    let old = run_dma(&mut two_nodes(&old)?, &write)?.gb_s();
    Ok(vec![
        ("X5", us(gpus)),
        ("X6", us(gpus)),
        ("X7", us(hosts)),
        ("X8", near_ns / 1e3),
        ("X9", (far_ns - near_ns) / 3.0),
        ("X10", over_qpi_mb_s()?),
        ("X11", max),
        ("X12", old),
        ("X13", near_ns / 1e3),
        ("X14", max / saturated()?.1 * 100.0),
    ])
}

/// A DMA write from the chip of node 0.
fn write_gb_s(to: (u16, Device), bytes: u64, descriptors: u64) -> Result<f64, ExperimentError> {
    let dma = Dma::new(CHIP, to, bytes, descriptors);
    Ok(run_dma(&mut two_nodes(&Config::default())?, &dma)?.gb_s())
}

/// PEACH2 beside InfiniBand.
fn beside_infiniband() -> Result<[(&'static str, f64); 4], ExperimentError> {
    let fdr = ThreeCopies::new(Grade::Fdr, HostConfig::default());
    let (fdr, _) = three_copies(&fdr, 8, false)?;
    let (direct, copies) = ways(8)?;
    let us = |time: Ps| time.as_ns() / 1e3;
    Ok([
        ("A16-adapters", us(fdr.adapters)),
        ("A22", us(direct)),
        ("A22-copies", us(copies)),
        ("A22-crossover", crossover_kib()?),
    ])
}

/// From a GPU to the adjacent one: by PEACH2, and by three copies over InfiniBand QDR.
fn ways(bytes: u64) -> Result<(Ps, Ps), ExperimentError> {
    let gpu = |node| (node, Device::Gpu0);
    let dma = Dma {
        engine: Engine::Pipelined,
        ..Dma::new(gpu(0), gpu(1), bytes, 1)
    };
    let direct = direct(&mut two_nodes(&Config::default())?, &dma)?;
    let config = ThreeCopies::new(Grade::Qdr, HostConfig::default());
    let (steps, _) = three_copies(&config, bytes, true)?;
    Ok((direct, steps.total()))
}

/// The first power of two, in KiB, at which the three copies are earlier.
fn crossover_kib() -> Result<f64, ExperimentError> {
    for exponent in 3..24 {
        let (direct, copies) = ways(1 << exponent)?;
        if copies < direct {
            return Ok(f64::from(1 << exponent) / 1024.0);
        }
    }
    Err(ExperimentError::NoMeasurement("a size for InfiniBand"))
}

/// A DMA write to a GPU of the other socket.
fn over_qpi_mb_s() -> Result<f64, ExperimentError> {
    let config = Config {
        gpu_on_other_socket: [true, false],
        ..Config::default()
    };
    let dma = Dma::new(CHIP, (0, Device::Gpu0), LARGE_BYTES, CHAIN);
    Ok(run_dma(&mut two_nodes(&config)?, &dma)?.gb_s() * 1e3)
}

/// A link that never pauses, with only buffers behind it: symbols and payload in GB/s.
fn saturated() -> Result<(f64, f64), ExperimentError> {
    const TLPS: u64 = 50;
    let mut sim = Fabric::new();
    let mut config = LinkConfig::default();
    for credits in &mut config.credits {
        (credits.header, credits.data) = ([127; 3], [2047; 3]);
    }
    let link = sim.add("link", Link::new(config));
    for tlp in 0..TLPS {
        let address = (1 << 32) + tlp * PAYLOAD_BYTES as u64;
        let tlp = Tlp::write(Default::default(), address, &[0x3c; PAYLOAD_BYTES]);
        let tlp = tlp.map_err(|_| ExperimentError::NoMeasurement("a TLP"))?;
        let submit = LinkEvent::Submit {
            end: End::A,
            packet: tlp.into(),
        };
        let injected = sim.inject(Ps::ZERO, link, DeviceEvent::Pcie(submit));
        injected.map_err(|_| ExperimentError::NoMeasurement("a link"))?;
    }
    sim.run()?;
    let counters = sim
        .component::<Link>(link)
        .map(|link| link.counters(End::A));
    let counters = counters.ok_or(ExperimentError::NoMeasurement("a link"))?;
    let begin = counters.first_begin.unwrap_or_default();
    let time = (counters.last_end - begin).as_s();
    let gb_s = |bytes: u64| bytes as f64 / time / 1e9;
    Ok((gb_s(counters.wire_bytes), gb_s(counters.payload_bytes)))
}

/// Distances of blocks and nodes and the whole window, in GiB, from addresses of 16 nodes.
fn window(cluster: &SubCluster<'_>) -> Result<(f64, f64, f64), ExperimentError> {
    let at = |node, device| cluster.address(DeviceAddress::new(node, device, 0));
    let first = at(0, Device::Gpu0)?;
    let block = at(0, Device::Gpu1)? - first;
    let node = at(1, Device::Gpu0)? - first;
    let last = at(15, Device::Gpu0)?;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    Ok((gib(block), gib(node), gib(last + node - first)))
}
