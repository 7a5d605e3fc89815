//! Copies between memory of hosts and of devices: bytes per second over size, for one copy, a chain of 255 and 255
//! blocks at a distance, as the figures of the TCA paper.
//!
//! The limit of what goes from host to host is a memcpy of as many bytes. Devices are GPUs if there are any, and
//! modelled otherwise: there is no bare limit for them (`bench/peers/cuda.sh` compares GPUs with the driver alone).

use hostwire::Result;
use hostwire::tca::{Buffer, Chain, Config, DeviceId, Prepared, Spot, Stride, Tca};

use super::bandwidth::memcpy;
use super::hosts;
use super::measure::{Limits, Unit, measure};
use super::pe::Context;

/// Descriptors of a chain, as many as the table of the chip has.
pub const CHAIN: u64 = 255;
/// Sizes of one copy, and of the blocks of the others.
pub const SINGLE_BYTES: [u64; 8] = [
    256,
    1 << 10,
    4 << 10,
    32 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    32 << 20,
];
pub const BLOCK_BYTES: [u64; 5] = [64, 256, 1 << 10, 4 << 10, 16 << 10];
/// Bytes of each buffer: the blocks of the longest chain, twice as far apart as they are long.
const BUFFER_BYTES: usize = 2 * 255 * (16 << 10);
/// The same on a device, where longer copies pay.
const DEVICE_BUFFER_BYTES: usize = 64 << 20;

/// What is copied in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One copy.
    Single,
    /// A chain of copies that lie behind each other.
    Chain,
    /// As many blocks, at distances of twice their length.
    Stride,
}

impl Shape {
    pub const ALL: [Self; 3] = [Self::Single, Self::Chain, Self::Stride];

    /// The name of its figures, between hosts and between devices.
    pub fn names(self) -> [&'static str; 2] {
        match self {
            Self::Single => ["tca-copy", "tca-copy-device"],
            Self::Chain => ["tca-chain", "tca-chain-device"],
            Self::Stride => ["tca-stride", "tca-stride-device"],
        }
    }

    /// Lengths of its blocks.
    pub fn sizes(self) -> &'static [u64] {
        match self {
            Self::Single => &SINGLE_BYTES,
            Self::Chain | Self::Stride => &BLOCK_BYTES,
        }
    }

    /// Bytes of a turn with blocks of `size`.
    pub fn bytes(self, size: u64) -> u64 {
        match self {
            Self::Single => size,
            Self::Chain | Self::Stride => CHAIN * size,
        }
    }
}

pub fn run(bench: &Context) -> Result<()> {
    let config = Config {
        host_bytes: BUFFER_BYTES + 4096,
        devices: None,
    };
    let tca = Tca::new(&bench.job, config)?;
    let kinds = [
        (DeviceId::HOST, BUFFER_BYTES),
        (DeviceId::new(0), DEVICE_BUFFER_BYTES),
    ];
    for (index, (device, buffer_bytes)) in kinds.into_iter().enumerate() {
        if device != DeviceId::HOST && tca.devices() == 0 {
            continue;
        }
        bench.say(&format!("copies from and to {}", tca.device_name(device)?));
        let buffer = tca.malloc(device, buffer_bytes, 64)?;
        let mut spots = [buffer.spot(); 2];
        bench.job.all_gather(&[buffer.spot()], &mut spots)?;
        for shape in Shape::ALL {
            for size in bench.sizes(shape.sizes()) {
                let bytes = shape.bytes(size);
                if bytes * 2 <= buffer_bytes as u64 {
                    one(
                        bench,
                        &tca,
                        (shape, shape.names()[index]),
                        (&buffer, spots[1]),
                        size,
                    )?;
                }
            }
        }
        bench.job.barrier()?;
    }
    Ok(())
}

fn one(
    bench: &Context,
    tca: &Tca,
    (shape, name): (Shape, &'static str),
    (from, to): (&Buffer, Spot),
    size: u64,
) -> Result<()> {
    let bytes = shape.bytes(size);
    let prepared = prepare(tca, shape, (to, from.spot()), size)?;
    let stream = tca.stream();
    let copy = bench.towards(|n| {
        for _ in 0..n {
            stream.start(&prepared)?;
            stream.synchronize()?;
        }
        Ok(())
    });
    let source = vec![1; bytes as usize];
    let limits = match from.device() {
        DeviceId::HOST if bench.is_mapped() => vec![memcpy(bench, &source)?].into(),
        DeviceId::HOST => hosts::NO_LIMIT,
        _ => Limits::None("no bare copy between devices is measured"),
    };
    let unit = Unit::GBPerS {
        bytes: bytes as f64,
    };
    let plan = bench.plan(3, 1000, bytes);
    let line = measure(bench, name, size, unit, plan, copy, limits)?;
    bench.print(&line);
    Ok(())
}

fn prepare(tca: &Tca, shape: Shape, (to, from): (Spot, Spot), size: u64) -> Result<Prepared> {
    let mut chain = Chain::new();
    match shape {
        Shape::Single => {
            chain.copy(to, from, size);
        }
        Shape::Chain => {
            for number in 0..CHAIN {
                chain.copy(to.at(number * size), from.at(number * size), size);
            }
        }
        Shape::Stride => {
            let (blocks, step) = (CHAIN, 2 * size);
            let stride = Stride {
                block_bytes: size,
                blocks,
                to_step: step,
                from_step: step,
            };
            chain.block_stride(to, from, stride);
        }
    }
    tca.prepare(&chain)
}
