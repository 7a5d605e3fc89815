//! Groups of PEs and collective operations.

use std::sync::Arc;

use hostwire::Error;
use hostwire::core::messages::Pieces;
use pyo3::prelude::*;

use crate::arguments::Whole;
use crate::buffer::{in_place, with_bytes};
use crate::dtype::{self, DType, Number};
use crate::errors;
use crate::reduce::{self, AllReduce, Op, Reduce, ReduceScatter, Scan};
use crate::shared::SharedJob;
use crate::waiting::blocking;

/// A group of PEs; `Job.world` has all of them.
#[pyclass(frozen, module = "hostwire")]
pub struct Team {
    /// Nothing for the team of all PEs, which the job has.
    own: Option<hostwire::Team>,
    shared: Arc<SharedJob>,
}

impl Team {
    pub(crate) fn world(shared: &Arc<SharedJob>) -> Self {
        Self {
            own: None,
            shared: Arc::clone(shared),
        }
    }

    /// Calls `operation` with the team.
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce(&hostwire::Team) -> hostwire::Result<R> + Send,
    ) -> PyResult<R> {
        let job = self.shared.job(py)?;
        let team = self.own.as_ref().unwrap_or(job.world());
        blocking(py, || operation(team))
    }

    /// What the team knows without asking anybody.
    fn know<R>(&self, py: Python<'_>, look: impl FnOnce(&hostwire::Team) -> R) -> PyResult<R> {
        let job = self.shared.job(py)?;
        Ok(look(self.own.as_ref().unwrap_or(job.world())))
    }

    /// Teams of PEs with equal colors.
    fn split_by(&self, py: Python<'_>, color: Option<u32>, key: u32) -> PyResult<Option<Self>> {
        let own = self.run(py, |team| team.split(color, key))?;
        Ok(own.map(|team| Self {
            own: Some(team),
            shared: Arc::clone(&self.shared),
        }))
    }
}

/// An array that NumPy makes of `values`, whose elements lie behind each other.
fn input<'py>(values: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    dtype::values(values.py(), "as_input", (values,))
}

/// Checks a length in bytes.
fn check_length(what: &'static str, expected: usize, got: usize) -> hostwire::Result<()> {
    match expected == got {
        true => Ok(()),
        false => Err(Error::Length {
            what,
            expected,
            got,
        }),
    }
}

/// The elements of an array, and the operation, if they fit.
fn combining(values: &Bound<'_, PyAny>, op: &str) -> PyResult<(Number, Op)> {
    let py = values.py();
    let op_named = Op::named(py, op)?;
    let dtype = DType::of(values.getattr("dtype")?)?;
    match dtype.number {
        Some(number) if op_named.takes(number) => Ok((number, op_named)),
        _ => {
            let text = format!("{op} does not combine elements of {}", dtype.object(py));
            Err(errors::caller(py, &text))
        }
    }
}

#[pymethods]
impl Team {
    /// The number of this PE in the team, `0 .. size`.
    #[getter]
    fn rank(&self, py: Python<'_>) -> PyResult<u32> {
        self.know(py, hostwire::Team::rank)
    }

    /// How many PEs the team has.
    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<u32> {
        self.know(py, hostwire::Team::size)
    }

    /// The number in the job of the PE with this rank.
    fn pe(&self, py: Python<'_>, rank: Whole) -> PyResult<u32> {
        let (pe, pes) = self.know(py, |team| (team.pe(rank.pe()), team.size()))?;
        pe.ok_or_else(|| {
            let (what, pe) = ("rank", rank.pe());
            errors::raise(py, &Error::NoSuchPe { what, pe, pes })
        })
    }

    /// The rank of the PE with this number in the job; None if it is not in the team.
    fn rank_of(&self, py: Python<'_>, pe: Whole) -> PyResult<Option<u32>> {
        self.know(py, |team| team.rank_of(pe.pe()))
    }

    /// Makes teams of the PEs with equal `color`, ranked by `key` and then by their rank here. A PE
    /// that passes None as color gets None. Collective over this team.
    #[pyo3(signature = (color, key=Whole::ZERO))]
    fn split(&self, py: Python<'_>, color: Option<Whole>, key: Whole) -> PyResult<Option<Self>> {
        let number = |whole: Whole| {
            let text = "a color and a key are numbers below 2^32";
            u32::try_from(whole.0).map_err(|_| errors::caller(py, text))
        };
        let color = color.map(number).transpose()?;
        self.split_by(py, color, number(key)?)
    }

    /// Makes a team of `size` ranks of this one: `start`, `start + stride` and so on. The others get
    /// None. Collective over this team.
    #[pyo3(signature = (start, stride, size))]
    fn split_strided(
        &self,
        py: Python<'_>,
        start: Whole,
        stride: Whole,
        size: Whole,
    ) -> PyResult<Option<Self>> {
        let (rank, ranks) = self.know(py, |team| (u64::from(team.rank()), team.size()))?;
        let (start, stride, size) = (start.0, stride.0, size.0);
        let steps = size.checked_sub(1);
        let last = steps.and_then(|steps| start.checked_add(steps.checked_mul(stride)?));
        let is_there = last.is_some_and(|last| last < u64::from(ranks));
        if !is_there || (stride == 0 && size > 1) {
            let text = format!(
                "expected a start, a stride of 1 or more and a size of 1 or more within {ranks} \
                 ranks, got {start}, {stride} and {size}"
            );
            return Err(errors::caller(py, &text));
        }
        let distance = rank.checked_sub(start);
        let is_in = distance.is_some_and(|distance| {
            distance.is_multiple_of(stride.max(1)) && distance / stride.max(1) < size
        });
        self.split_by(py, is_in.then_some(0), 0)
    }

    /// Waits until all PEs of the team have called it. Everything that they stored before is then
    /// visible to all of them.
    fn barrier(&self, py: Python<'_>) -> PyResult<()> {
        self.run(py, hostwire::Team::barrier)
    }

    /// Copies `values`, a writable array of the same size on all PEs, of rank `root` to all others, in
    /// place, and returns it.
    #[pyo3(signature = (values, root=Whole::ZERO))]
    fn broadcast<'py>(
        &self,
        py: Python<'py>,
        values: Bound<'py, PyAny>,
        root: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        let operands = DType::operands(&values)?;
        in_place(&values, |bytes| {
            self.run(py, |team| {
                let (core, caller) = team.untyped()?;
                core.broadcast_private(caller, root.pe(), bytes, operands)
            })
        })?;
        Ok(values)
    }

    /// Combines `values` of all PEs element by element, in the order of ranks, and returns the result:
    /// the same on all PEs, to the last bit.
    ///
    /// `op` is sum, prod, min or max of numbers (integers wrap; min and max are a NaN where one of the
    /// values is, and -0.0 is less than 0.0), and, or, xor of integers and bools. float16 is combined as float32, and rounded each time. With `out`, an array of
    /// the same shape and dtype, the result goes there; `out` may be `values`.
    ///
    /// Raises CallerError if the elements cannot be combined so, or if the PEs call different operations, or
    /// pass other operations, dtypes or lengths.
    #[pyo3(signature = (values, op="sum", out=None))]
    fn all_reduce<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        op: &str,
        out: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.shared.check(py)?;
        let (number, op, out) = match out {
            None => {
                let copy = dtype::values(py, "copied", (values,))?;
                let (number, op) = combining(&copy, op)?;
                (number, op, copy)
            }
            Some(out) => {
                dtype::values(py, "check_out", (&out, values))?;
                let (number, op) = combining(&out, op)?;
                // What is refused changes nothing.
                dtype::values(py, "assign", (&out, values))?;
                (number, op, out)
            }
        };
        in_place(&out, |bytes| {
            self.run(py, |team| reduce::run(number, op, AllReduce(team, bytes)))
        })?;
        Ok(out)
    }

    /// As `all_reduce`, but rank `root` alone gets the result; the others get None.
    #[pyo3(signature = (values, op="sum", root=Whole::ZERO))]
    fn reduce<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        op: &str,
        root: Whole,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let out = dtype::values(py, "copied", (values,))?;
        let (number, op) = combining(&out, op)?;
        let root = root.pe();
        let is_root = in_place(&out, |values| {
            self.run(py, |team| {
                reduce::run(number, op, Reduce { team, root, values })?;
                Ok(team.rank() == root)
            })
        })?;
        Ok(is_root.then_some(out))
    }

    /// As `all_reduce`, but rank `i` gets piece `i` of the result alone: `values` has a first axis of
    /// a multiple of `size`, the result has `1 / size` of it.
    #[pyo3(signature = (values, op="sum"))]
    fn reduce_scatter<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        op: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = input(values)?;
        let (number, op) = combining(&values, op)?;
        let out = dtype::values(py, "piece", (&values, self.size(py)?))?;
        with_bytes(&values, |values| {
            in_place(&out, |into| {
                self.run(py, |team| {
                    reduce::run(number, op, ReduceScatter { team, values, into })
                })
            })
        })?;
        Ok(out)
    }

    /// Combines `values` of all ranks up to and including this one.
    #[pyo3(signature = (values, op="sum"))]
    fn scan<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        op: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let out = dtype::values(py, "copied", (values,))?;
        let (number, op) = combining(&out, op)?;
        in_place(&out, |bytes| {
            self.run(py, |team| reduce::run(number, op, Scan(team, bytes)))
        })?;
        Ok(out)
    }

    /// The `values` of all ranks, of equal shape: an array of shape `(size, *values.shape)`.
    fn all_gather<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = input(values)?;
        let operands = DType::operands(&values)?;
        let out = dtype::values(py, "gathered", (&values, self.size(py)?))?;
        with_bytes(&values, |values| {
            in_place(&out, |all| {
                self.run(py, |team| {
                    let (core, caller) = team.untyped()?;
                    core.gather_private(caller, values, all, operands)
                })
            })
        })?;
        Ok(out)
    }

    /// The rows of `values` of all ranks behind each other, any number of each: the first axes may
    /// differ in length, the others not.
    fn collect<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = input(values)?;
        let row_bytes: u64 = dtype::values(py, "row_bytes", (&values,))?.extract()?;
        let rows = values.len()? as u64;
        let mut all = vec![0; 2 * self.size(py)? as usize];
        self.run(py, |team| team.all_gather(&[row_bytes, rows], &mut all))?;
        for (rank, of_rank) in all.chunks_exact(2).enumerate() {
            if of_rank[0] != row_bytes {
                let text = format!(
                    "the rows of rank {rank} have {} bytes, those of this one {row_bytes}",
                    of_rank[0]
                );
                return Err(errors::caller(py, &text));
            }
        }
        // These numbers of the peers are checked by the data that come.
        let counts = all.chunks_exact(2).map(|of_rank| of_rank[1]);
        let rows = counts.clone().fold(0, u64::saturating_add);
        let counts = counts.map(|rows| rows.saturating_mul(row_bytes) as usize);
        let pieces = Pieces::new(counts);
        let operands = DType::operands(&values)?;
        let out = dtype::values(py, "joined", (&values, rows))?;
        with_bytes(&values, |values| {
            in_place(&out, |all| {
                self.run(py, |team| {
                    check_length("result of an all-gather", pieces.all(), all.len())?;
                    let (core, caller) = team.untyped()?;
                    core.gather_pieces(caller, (values, operands), &pieces, all)
                })
            })
        })?;
        Ok(out)
    }

    /// Sends piece `i` of `values`, whose first axis is a multiple of `size`, to rank `i`; returns the
    /// pieces from all ranks, in an array of the same shape.
    fn all_to_all<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = input(values)?;
        let operands = DType::operands(&values)?;
        let out = dtype::values(py, "exchanged", (&values, self.size(py)?))?;
        with_bytes(&values, |values| {
            in_place(&out, |into| {
                self.run(py, |team| {
                    let (core, caller) = team.untyped()?;
                    core.all_to_all_private(caller, values, into, operands)
                })
            })
        })?;
        Ok(out)
    }

    /// As `all_gather`, for rank `root` alone; the others get None.
    #[pyo3(signature = (values, root=Whole::ZERO))]
    fn gather<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
        root: Whole,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let values = input(values)?;
        let (size, root) = (self.size(py)?, root.pe());
        let is_root = self.rank(py)? == root;
        let operands = DType::operands(&values)?;
        let out = dtype::values(py, "gathered", (&values, if is_root { size } else { 0 }))?;
        with_bytes(&values, |values| {
            in_place(&out, |all| {
                self.run(py, |team| {
                    let (core, caller) = team.untyped()?;
                    let pieces = Pieces::new((0..size).map(|_| values.len()));
                    core.gather_to(caller, root, (values, operands), &pieces, all)
                })
            })
        })?;
        Ok(is_root.then_some(out))
    }

    /// Gives rank `i` piece `i` of `values` of rank `root`, in `out`, and returns it. `values` has `size`
    /// times as many elements as `out`; the others pass None.
    #[pyo3(signature = (values, out, root=Whole::ZERO))]
    fn scatter<'py>(
        &self,
        py: Python<'py>,
        values: Option<Bound<'py, PyAny>>,
        out: Bound<'py, PyAny>,
        root: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (is_root, size) = (self.rank(py)? == root.pe(), self.size(py)?);
        let all = dtype::values(py, "scattered", (values, &out, is_root))?;
        let operands = DType::operands(&out)?;
        with_bytes(&all, |all| {
            in_place(&out, |values| {
                self.run(py, |team| {
                    let pieces = Pieces::new((0..size).map(|_| values.len()));
                    if is_root {
                        check_length("pieces of a scatter", pieces.all(), all.len())?;
                    }
                    let (core, caller) = team.untyped()?;
                    core.scatter_from(caller, root.pe(), all, &pieces, (values, operands))
                })
            })
        })?;
        Ok(out)
    }
}
