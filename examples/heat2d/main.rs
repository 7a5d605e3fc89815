//! Heat spreading in a plate whose rim is kept cold, heated by a few discs.
//!
//! The plate is a grid of cells, its rows split among the PEs. In each step a cell
//! moves towards its four neighbours; the rows at the edge of a PE's part need the row
//! beyond, the *halo*, from the PE above or below. That PE puts the halo straight into
//! its place with a signal that names its step; at the same time both PEs compute their
//! inner rows.
//!
//! The result is checked twice: against what the theory of the discrete equation says
//! about its slowest waves, which works at any size, and, where that is quick enough,
//! against the same steps done by one PE alone, bit by bit.

mod check;
mod grid;
mod halo;
mod picture;
mod scale;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use hostwire::Job;
use hostwire_examples::{Failure, run, share};

use grid::{Plate, Size};
use halo::Halo;

/// Solves the heat equation on a plate and writes a picture of it.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Example: hostwire run -n 4 heat2d --size 512x512 --picture plate.png

The exit status is 0 if the result passes its checks."
)]
struct Args {
    /// Cells of the plate: columns x rows.
    #[arg(long, value_name = "WxH", default_value = "256x256")]
    size: Size,
    /// Stop when no cell changes by more than this in a step.
    #[arg(long, value_name = "CHANGE", default_value_t = 1e-6, value_parser = tolerance)]
    tolerance: f64,
    /// Stop after so many steps in any case.
    #[arg(long, value_name = "STEPS", default_value_t = 100_000)]
    steps: u64,
    /// Write a PNG picture of the temperatures there.
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Once forget to update a row of cells, to see the checks fail.
    #[arg(long)]
    sabotage: bool,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        _ => Err("expected a number from 0 to 1".into()),
    }
}

/// Steps between two looks at how much the cells still change.
const STEPS_PER_LOOK: u64 = 100;
/// The step that `--sabotage` spoils, and which row: the one this far down the plate,
/// through the middle of a disc.
const SABOTAGED_STEP: u64 = 3;
const SABOTAGED_PART: f64 = 0.3;
/// For up to so many cell updates, PE 0 does them all again alone.
const SERIAL_UPDATES_MAX: u64 = 1_000_000_000;

fn main() -> ExitCode {
    run("heat2d", heat2d)
}

fn heat2d(job: &Job, args: Args) -> Result<(), Failure> {
    let Size { columns, rows } = args.size;
    if job.pes() as usize > rows {
        return Err(Failure::Usage(format!(
            "{} PEs cannot share {rows} rows: each needs one",
            job.pes()
        )));
    }
    let picture = create_picture(job, args.picture.as_deref())?;
    let own = share(rows as u64, job.pe(), job.pes());
    let mut plate = Plate::new(args.size, own.start as usize..own.end as usize);
    let halo = Halo::new(job, columns)?;

    job.barrier()?;
    let begin = Instant::now();
    let mut steps = 0;
    let mut change = f64::INFINITY;
    while change > args.tolerance && steps < args.steps {
        halo.put(&plate, steps)?;
        plate.update_inner();
        halo.wait(&mut plate, steps)?;
        plate.update_edges();
        if args.sabotage && steps == SABOTAGED_STEP {
            plate.forget_row(SABOTAGED_PART);
        }
        plate.advance();
        steps += 1;
        if steps % STEPS_PER_LOOK == 0 || steps == args.steps {
            let mut largest = [plate.change()];
            job.all_reduce(&mut largest, f64::max)?;
            change = largest[0];
        }
    }
    job.barrier()?;
    let seconds = begin.elapsed().as_secs_f64();

    let waves = check::waves(job, &plate, steps)?;
    let field = gather(job, &plate)?;
    let mut verdict = [u8::from(waves.hold())];
    if let Some(field) = &field {
        let updates = steps as f64 * (columns * rows) as f64;
        let (low, high) = picture::extremes(field);
        let end = if change <= args.tolerance {
            "settled"
        } else {
            "not settled"
        };
        println!(
            "{columns}x{rows} cells, {} PEs: {end} after {steps} steps, last change {change:.1e}, \
             temperatures {low:.3} to {high:.3}",
            job.pes()
        );
        println!(
            "{:.1} million cell updates/s ({seconds:.3} s)",
            updates / seconds * 1e-6
        );
        // For comparisons: hostwire compare reads such lines.
        println!("step: {:.1} ns", seconds * 1e9 / steps.max(1) as f64);
        println!("check: {waves}");
        if updates <= SERIAL_UPDATES_MAX as f64 {
            let differing = check::differing_from_serial(args.size, steps, field);
            println!("check: {differing} cells differ from those of one PE alone");
            verdict[0] &= u8::from(differing == 0);
        }
        if let Some((path, file)) = picture {
            picture::write(file, args.size, field)
                .map_err(|error| Failure::alone(path.display(), error))?;
            println!("picture: {}", path.display());
        }
    }
    job.broadcast(0, &mut verdict)?;
    if verdict == [1] {
        Ok(())
    } else {
        Err(Failure::Together("check failed".into()))
    }
}

/// Creates the file before the work is done, not after.
fn create_picture<'a>(
    job: &Job,
    path: Option<&'a Path>,
) -> Result<Option<(&'a Path, File)>, Failure> {
    let Some(path) = path.filter(|_| job.pe() == 0) else {
        return Ok(None);
    };
    match File::create(path) {
        Ok(file) => Ok(Some((path, file))),
        Err(error) => Err(Failure::alone(path.display(), error)),
    }
}

/// All cells, row by row, at PE 0.
fn gather(job: &Job, plate: &Plate) -> hostwire::Result<Option<Vec<f64>>> {
    const TAG: u64 = 1;
    let own = plate.cells();
    if job.pe() != 0 {
        job.send(0, TAG, &own)?;
        return Ok(None);
    }
    let mut field = own;
    for pe in 1..job.pes() {
        field.extend(job.recv_vec::<f64>(pe, TAG)?);
    }
    Ok(Some(field))
}
