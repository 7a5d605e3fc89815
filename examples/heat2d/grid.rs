//! The cells of one PE and how they change.

use std::ops::Range;
use std::str::FromStr;

/// Cells of the whole plate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let side = |text: &str| text.parse().ok().filter(|n| (1..=32_768).contains(n));
        text.split_once('x')
            .and_then(|(columns, rows)| Some((side(columns)?, side(rows)?)))
            .map(|(columns, rows)| Self { columns, rows })
            .ok_or("expected columns x rows, such as 512x256, each from 1 to 32768")
    }
}

/// How far a cell moves towards its neighbours in a step: `dt * conductivity / dx^2`.
/// Stable up to 1/4.
pub const RATE: f64 = 0.2;

/// Discs that heat or cool: place and radius as parts of the plate, and strength.
const DISCS: [([f64; 2], f64, f64); 4] = [
    ([0.28, 0.30], 0.13, 1.0),
    ([0.72, 0.38], 0.09, 1.6),
    ([0.45, 0.74], 0.16, 0.7),
    ([0.68, 0.66], 0.06, -0.8),
];

/// The heat that a cell gets in each step. Scaled so that the hottest place has a
/// temperature of about 1 in the end, whatever the size of the plate.
pub fn source(size: Size, column: usize, row: usize) -> f64 {
    let shorter = size.columns.min(size.rows) as f64;
    let across = (column as f64 + 0.5) / size.columns as f64;
    let down = (row as f64 + 0.5) / size.rows as f64;
    let strength: f64 = DISCS
        .iter()
        .filter(|([x, y], radius, _)| (across - x).hypot(down - y) < *radius)
        .map(|(_, _, strength)| strength)
        .sum();
    strength * 48.0 * RATE / (shorter * shorter)
}

/// Some rows of the plate, with a halo row above and below and a column of rim at
/// either side.
pub struct Plate {
    size: Size,
    rows: Range<usize>,
    /// Cells of a row with its rim.
    stride: usize,
    now: Vec<f64>,
    next: Vec<f64>,
    source: Vec<f64>,
}

impl Plate {
    /// Cold rows `rows` of a plate.
    pub fn new(size: Size, rows: Range<usize>) -> Self {
        let stride = size.columns + 2;
        let cells = stride * (rows.len() + 2);
        let mut heat = vec![0.0; cells];
        for (place, row) in rows.clone().enumerate() {
            for column in 0..size.columns {
                heat[(place + 1) * stride + column + 1] = source(size, column, row);
            }
        }
        Self {
            size,
            rows,
            stride,
            now: vec![0.0; cells],
            next: vec![0.0; cells],
            source: heat,
        }
    }

    pub fn size(&self) -> Size {
        self.size
    }

    /// Which rows of the whole plate these are.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// The cells of a row, counted from the halo row above.
    pub fn row(&self, place: usize) -> &[f64] {
        &self.now[place * self.stride + 1..][..self.size.columns]
    }

    /// As [`row`](Self::row).
    pub fn row_mut(&mut self, place: usize) -> &mut [f64] {
        &mut self.now[place * self.stride + 1..][..self.size.columns]
    }

    /// The place of the last row that is not halo.
    pub fn last(&self) -> usize {
        self.rows.len()
    }

    /// Computes the rows that need no halo.
    pub fn update_inner(&mut self) {
        for place in 2..self.last() {
            self.update_row(place);
        }
    }

    /// Computes the first and the last row.
    pub fn update_edges(&mut self) {
        self.update_row(1);
        if self.last() > 1 {
            self.update_row(self.last());
        }
    }

    fn update_row(&mut self, place: usize) {
        let (stride, columns) = (self.stride, self.size.columns);
        let at = place * stride + 1;
        // One slice per neighbour: the compiler makes vector code of the loop.
        let cell = &self.now[at..][..columns];
        let left = &self.now[at - 1..][..columns];
        let right = &self.now[at + 1..][..columns];
        let above = &self.now[at - stride..][..columns];
        let below = &self.now[at + stride..][..columns];
        let source = &self.source[at..][..columns];
        let next = &mut self.next[at..][..columns];
        for i in 0..columns {
            let around = (above[i] + below[i]) + (left[i] + right[i]);
            next[i] = cell[i] + (RATE * (around - 4.0 * cell[i]) + source[i]);
        }
    }

    /// Does not update one row, this part of the plate's height down, if this PE has it.
    pub fn forget_row(&mut self, part: f64) {
        let row = (self.size.rows as f64 * part) as usize;
        if self.rows.contains(&row) {
            let first = (row - self.rows.start + 1) * self.stride;
            let cells = first..first + self.stride;
            self.next[cells.clone()].copy_from_slice(&self.now[cells]);
        }
    }

    /// Makes the computed cells the current ones.
    pub fn advance(&mut self) {
        std::mem::swap(&mut self.now, &mut self.next);
    }

    /// The largest change of a cell in the last step.
    pub fn change(&self) -> f64 {
        let mut largest: f64 = 0.0;
        for place in 1..=self.last() {
            let before = &self.next[place * self.stride + 1..][..self.size.columns];
            for (now, before) in self.row(place).iter().zip(before) {
                largest = largest.max((now - before).abs());
            }
        }
        largest
    }

    /// The cells, row by row.
    pub fn cells(&self) -> Vec<f64> {
        (1..=self.last())
            .flat_map(|place| self.row(place).iter().copied())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_or_refused() {
        let size = Size {
            columns: 3,
            rows: 40,
        };
        assert_eq!("3x40".parse(), Ok(size));
        for bad in [
            "", "3", "3x", "x3", "0x3", "3x32769", "-1x3", "3x4x5", "3X4",
        ] {
            assert!(bad.parse::<Size>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_step_is_that_of_the_equation() {
        let size = Size {
            columns: 3,
            rows: 3,
        };
        let mut plate = Plate::new(size, 0..3);
        plate.source.fill(0.0);
        plate.row_mut(2)[1] = 1.0;
        plate.update_inner();
        plate.update_edges();
        plate.advance();
        let r = RATE;
        assert_eq!(
            plate.cells(),
            [0.0, r, 0.0, r, 1.0 - 4.0 * r, r, 0.0, r, 0.0]
        );
        assert_eq!(plate.change(), 4.0 * r);
    }
}
