//! Whether the result is right.
//!
//! The step is linear, and the waves `sin(p pi x) sin(q pi y)` that fit the plate are
//! its eigenvectors: each is multiplied by a factor `f(p, q)` in every step, whatever
//! the others do. So the part `a(p, q)` of a wave in the field is known after any
//! number of steps, from the part `s(p, q)` that it has in the source:
//!
//! ```text
//! f(p, q) = 1 - 4 RATE (sin^2(p pi / 2 (columns + 1)) + sin^2(q pi / 2 (rows + 1)))
//! a(p, q) = s(p, q) (1 - f^steps) / (1 - f)
//! ```
//!
//! A step rounds each cell by less than [`ROUNDINGS`] units in the last place of the
//! largest temperature, and a wave's part of that error never grows. That bounds how
//! far the computed parts may be from the formula.

use std::f64::consts::PI;
use std::fmt;

use hostwire::Job;

use crate::grid::{Plate, RATE, Size, source};

/// The waves that are looked at, as `(p, q)`.
const WAVES: [(usize, usize); 4] = [(1, 1), (2, 1), (1, 2), (3, 2)];
/// Operations of one cell in one step, each rounded once, of values up to eight
/// times the largest temperature.
const ROUNDINGS: f64 = 7.0 * 8.0;

/// How far each wave is from what it has to be.
pub struct Waves {
    /// The largest distance in parts of what rounding allows.
    worst: f64,
    relative: f64,
}

impl Waves {
    pub fn hold(&self) -> bool {
        self.worst <= 1.0
    }
}

impl fmt::Display for Waves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} waves agree with theory to {:.1e} of their size: {}",
            WAVES.len(),
            self.relative,
            if self.hold() {
                "no more than rounding explains"
            } else {
                "WRONG, more than rounding explains"
            }
        )
    }
}

/// Compares the waves in the plate with the formula. Collective.
pub fn waves(job: &Job, plate: &Plate, steps: u64) -> hostwire::Result<Waves> {
    let size = plate.size();
    let mut sums = [[0.0; 2]; WAVES.len()];
    let mut largest = [0.0_f64];
    for (place, row) in (1..).zip(plate.rows()) {
        for (sum, (p, q)) in sums.iter_mut().zip(WAVES) {
            let down = sine(q, row, size.rows);
            let mut of_row = [0.0; 2];
            for (column, cell) in plate.row(place).iter().enumerate() {
                let wave = sine(p, column, size.columns) * down;
                of_row[0] += cell * wave;
                of_row[1] += source(size, column, row) * wave;
            }
            sum[0] += of_row[0];
            sum[1] += of_row[1];
        }
        let row = plate.row(place).iter();
        largest[0] = row.fold(largest[0], |largest, cell| largest.max(cell.abs()));
    }
    job.all_reduce(sums.as_flattened_mut(), |a, b| a + b)?;
    job.all_reduce(&mut largest, f64::max)?;

    let cells = (size.columns * size.rows) as f64;
    let in_steps = ROUNDINGS * (steps + 1) as f64;
    // Adding up a row and then the rows rounds each term as often.
    let in_sums = (size.columns + size.rows) as f64;
    let allowed = (in_steps + in_sums) * f64::EPSILON * largest[0] * cells;
    let mut waves = Waves {
        worst: 0.0,
        relative: 0.0,
    };
    for ([in_field, in_source], (p, q)) in sums.into_iter().zip(WAVES) {
        let half = |n: usize, cells: usize| (n as f64 * PI / 2.0 / (cells + 1) as f64).sin();
        let decay = 4.0 * RATE * (half(p, size.columns).powi(2) + half(q, size.rows).powi(2));
        // 1 - (1 - decay)^steps, without losing a small decay to rounding.
        let grown = if decay < 1.0 {
            -(steps as f64 * (-decay).ln_1p()).exp_m1()
        } else {
            1.0 - (1.0 - decay).powf(steps as f64)
        };
        let expected = in_source * grown / decay;
        let distance = (in_field - expected).abs();
        // A distance that is not a number counts as infinite.
        let parts = if distance.is_finite() {
            distance / allowed.max(f64::MIN_POSITIVE)
        } else {
            f64::INFINITY
        };
        waves.worst = waves.worst.max(parts);
        let scale = expected.abs().max(f64::MIN_POSITIVE);
        waves.relative = waves.relative.max(distance / scale);
    }
    Ok(waves)
}

fn sine(n: usize, index: usize, cells: usize) -> f64 {
    (n as f64 * PI * (index + 1) as f64 / (cells + 1) as f64).sin()
}

/// Does all steps again alone, and says how many cells of `field` are not the same,
/// bit by bit.
pub fn differing_from_serial(size: Size, steps: u64, field: &[f64]) -> usize {
    let mut plate = Plate::new(size, 0..size.rows);
    for _ in 0..steps {
        plate.update_inner();
        plate.update_edges();
        plate.advance();
    }
    let alone = plate.cells();
    let missing = alone.len().abs_diff(field.len());
    let differ = |(a, b): &(&f64, &f64)| a.to_bits() != b.to_bits();
    alone.iter().zip(field).filter(differ).count() + missing
}
