//! Copies from device to device around a ring, by one chain: what the TCA interface is for.
//!
//! Each PE has a field of rows, and a margin of its right neighbour's first columns behind each row. In every
//! step the PE starts one chain, which was checked once: a block-stride transfer of its own first columns to
//! the margin of its left neighbour, and a word behind it, for which the neighbour waits. Then it checks the
//! margin. The same program runs on memory of hosts and devices, and in virtual time on modelled hardware.

use std::process::ExitCode;

use clap::Parser;
use hostwire::Job;
use hostwire::tca::{Chain, Config, DeviceId, Spot, Stride, Tca};
use hostwire_examples::{Failure, run};

/// Hands the first columns of a field around a ring of PEs, and says how long a step takes.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Steps.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    steps: u64,

    /// Rows of a field. One block is copied of each.
    #[arg(long, value_name = "N", default_value_t = 255, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    rows: u64,

    /// Bytes of a block.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(8..=1 << 20))]
    block: u64,

    /// The device of the field; on the host if none is named.
    #[arg(long, value_name = "DEVICE")]
    device: Option<u32>,

    /// Each PE prints the processes of its devices, and then waits for this long in the middle: for tests.
    #[arg(long, value_name = "SECONDS", hide = true)]
    rest: Option<u64>,
}

fn main() -> ExitCode {
    run("chain", chain)
}

fn chain(job: &Job, args: Args) -> Result<(), Failure> {
    let device = args.device.map_or(DeviceId::HOST, DeviceId::new);
    let (block, pitch) = (
        args.block.next_multiple_of(8),
        2 * args.block.next_multiple_of(8),
    );
    let bytes = (args.rows * pitch) as usize;
    let host_bytes = bytes + 4096;
    let tca = Tca::new(
        job,
        Config {
            host_bytes,
            devices: None,
        },
    )?;
    let field = tca.malloc(device, bytes, 64)?;
    let words = tca.malloc(DeviceId::HOST, 16, 64)?;
    let left = (job.pe() + job.pes() - 1) % job.pes();
    let (fields, words_of) = (all(job, field.spot())?, all(job, words.spot())?);
    if job.pe() == 0 {
        println!("{} PEs, fields in {}", job.pes(), tca.device_name(device)?);
    }
    if let Some(seconds) = args.rest {
        println!("PE {} has {}", job.pe(), tca.device_name(device)?);
        job.barrier()?;
        std::thread::sleep(std::time::Duration::from_secs(seconds));
    }

    let mut own = Chain::new();
    let stride = Stride {
        block_bytes: block,
        blocks: args.rows,
        to_step: pitch,
        from_step: pitch,
    };
    own.block_stride(fields[left as usize].at(block), field.spot(), stride);
    let own = tca.prepare(&own)?;
    let stream = tca.stream();
    job.barrier()?;
    let begin = job.clock();
    for step in 1..=args.steps {
        // The first word of a row says which.
        if step == 1 || step == args.steps {
            for row in 0..args.rows {
                field.write(
                    (row * pitch) as usize,
                    &mark(job.pe(), row, step).to_ne_bytes(),
                )?;
            }
        }
        stream.start(&own)?;
        stream.signal(words_of[left as usize], step)?;
        words.wait_until(0, step)?;
        // A PE overwrites its left neighbour's margin only after this neighbour has said so.
        let right = (job.pe() + 1) % job.pes();
        stream.signal(words_of[right as usize].at(8), step)?;
        words.wait_until(8, step)?;
    }
    stream.synchronize()?;
    let time = job.clock() - begin;
    let right = (job.pe() + 1) % job.pes();
    for row in 0..args.rows {
        let mut word = [0; 8];
        field.read((row * pitch + block) as usize, &mut word)?;
        let (got, expected) = (u64::from_ne_bytes(word), mark(right, row, args.steps));
        if got != expected {
            let text = format!("row {row}: expected {expected:#x} of PE {right}, got {got:#x}");
            return Err(Failure::Alone(text));
        }
    }
    job.barrier()?;
    if job.pe() == 0 {
        let step_us = time.as_secs_f64() * 1e6 / args.steps as f64;
        let rate = (args.rows * block) as f64 / step_us / 1e3;
        println!("step: {step_us:.2} us, {rate:.2} GB/s");
    }
    Ok(())
}

/// What a PE marks a row with.
fn mark(pe: u32, row: u64, step: u64) -> u64 {
    u64::from(pe) << 48 | row << 20 | step & 0xf_ffff
}

/// The spots of all PEs.
fn all(job: &Job, own: Spot) -> Result<Vec<Spot>, Failure> {
    let mut spots = vec![own; job.pes() as usize];
    job.all_gather(&[own], &mut spots)?;
    Ok(spots)
}
