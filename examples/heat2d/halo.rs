//! The rows beyond a PE's own, from the PEs above and below.
//!
//! There are two places for each halo row, used in turn. That is enough without
//! any answer: a PE puts its row of step `s + 2` after it has got the neighbour's of
//! step `s + 1`, which the neighbour sends after it has used the row of step `s`.

use hostwire::{Compare, Job, PeId, SignalOp, Symmetric};

use crate::grid::Plate;

pub struct Halo {
    above: Option<PeId>,
    below: Option<PeId>,
    columns: usize,
    /// By parity of the step and [`Side`].
    rows: Symmetric<f64>,
    /// By [`Side`]: how many steps' rows have come.
    arrived: Symmetric<u64>,
}

/// Which halo row of the PE that has it.
#[derive(Clone, Copy)]
enum Side {
    Above = 0,
    Below = 1,
}

impl Halo {
    pub fn new(job: &Job, columns: usize) -> hostwire::Result<Self> {
        Ok(Self {
            above: job.pe().checked_sub(1),
            below: Some(job.pe() + 1).filter(|pe| *pe < job.pes()),
            columns,
            rows: job.alloc(4 * columns)?,
            arrived: job.alloc(2)?,
        })
    }

    /// Puts this PE's edge rows where its neighbours need them.
    pub fn put(&self, plate: &Plate, step: u64) -> hostwire::Result<()> {
        // Our first row lies below the PE above us.
        if let Some(pe) = self.above {
            self.put_row(pe, Side::Below, plate.row(1), step)?;
        }
        if let Some(pe) = self.below {
            self.put_row(pe, Side::Above, plate.row(plate.last()), step)?;
        }
        Ok(())
    }

    fn put_row(&self, pe: PeId, side: Side, row: &[f64], step: u64) -> hostwire::Result<()> {
        let signal = SignalOp::Set(step + 1);
        let (place, word) = (self.place(side, step), side as usize);
        self.rows
            .put_with_signal(pe, place, row, &self.arrived, word, signal)
    }

    /// Waits for the neighbours' rows and lays them around this PE's.
    pub fn wait(&self, plate: &mut Plate, step: u64) -> hostwire::Result<()> {
        if self.above.is_some() {
            self.wait_row(Side::Above, plate.row_mut(0), step)?;
        }
        if self.below.is_some() {
            let halo = plate.last() + 1;
            self.wait_row(Side::Below, plate.row_mut(halo), step)?;
        }
        Ok(())
    }

    fn wait_row(&self, side: Side, row: &mut [f64], step: u64) -> hostwire::Result<()> {
        self.arrived.wait_until(side as usize, Compare::Gt, step)?;
        self.rows.read(self.place(side, step), row)
    }

    fn place(&self, side: Side, step: u64) -> usize {
        ((step % 2) as usize * 2 + side as usize) * self.columns
    }
}
