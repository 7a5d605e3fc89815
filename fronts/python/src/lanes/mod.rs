//! Lanes between the members of a group, and collective operations over them, on bytes.
//!
//! A *group* is any set of PEs, and PEs outside it take no part in making it: the members exchange by other means what
//! they need to know of each other. Each member has a *slot* of its arena (`python/hostwire/_lanes.py`), and each pair
//! of members a *lane* in each direction: buffers in the slot of the receiver, with a word for each that says what is
//! in it, and in the slot of the sender a word by which the receiver gives buffers back. All of it is puts.
//!
//! | module | what it is |
//! |---|---|
//! | `lane` | one piece from a member to another |
//! | `circle` | members that do something together, those of a host above all |
//! | `collective` | collective operations, made of pieces |
//! | `by_hosts` | long all-reduces between hosts that have several members each |

mod by_hosts;
mod circle;
mod collective;
mod lane;

use core::marker::PhantomData;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use hostwire::Element;
use hostwire::core::Operands;
use pyo3::exceptions::PyTimeoutError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;

use crate::arguments::{Whole, limit};
use crate::array::Array;
use crate::buffer::{with_exchanged, with_plain_bytes_mut};
use crate::dtype::Number;
use crate::errors;
use crate::reduce::{self, Op, Operation, elements, elements_mut};
use crate::shared::SharedJob;
use crate::waiting::blocking;
use collective::Combine;
use lane::{Done, Fault, Kind, Members, What};

/// Buffers of a lane: what an operation that is cut into pieces has on its way at a time.
const BUFFERS: usize = 4;

/// This member's lanes. It is in one operation at a time; after an error, in none.
#[pyclass(frozen, module = "hostwire")]
pub struct Lanes {
    members: Mutex<Members>,
    pes: Vec<u32>,
    rank: usize,
    shared: Arc<SharedJob>,
}

impl Lanes {
    /// Does `operation`, whose waits all together end after `limit_s` seconds. If the members do it
    /// together, `what` says what it is.
    fn run(
        &self,
        py: Python<'_>,
        what: Option<What>,
        limit_s: Option<f64>,
        operation: impl FnOnce(&mut Members) -> Done + Send,
    ) -> PyResult<()> {
        let limit = limit_s.map(|limit_s| limit(py, limit_s)).transpose()?;
        let job = self.shared.job(py)?;
        let mut members = match self.members.try_lock() {
            Ok(members) => members,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let text = "another thread is in an operation of this group";
                return Err(errors::caller(py, text));
            }
        };
        let deadline = limit.and_then(|limit| Some((Instant::now().checked_add(limit)?, limit)));
        if let Some(what) = what {
            members.begin(what, deadline);
        }
        let members = &mut *members;
        let done = blocking(py, || {
            let _job = job;
            match operation(members) {
                Err(Fault::Core(error)) => Err(error),
                done => Ok(done),
            }
        })?;
        done.map_err(|fault| self.raise(py, fault, limit))
    }

    fn raise(&self, py: Python<'_>, fault: Fault, limit: Option<Duration>) -> PyErr {
        match fault {
            Fault::Core(error) => errors::raise(py, &error),
            Fault::Mistake(text) => errors::caller(py, &text),
            Fault::Left(member) => {
                let pe = self.pes[member];
                let what = "has left the group, while this rank still waits for it";
                errors::left(py, pe, &format!("rank {member} (PE {pe}) {what}"))
            }
            Fault::Late(member) => PyTimeoutError::new_err(format!(
                "rank {member} (PE {}) has not done its part within {} s",
                self.pes[member],
                limit.unwrap_or_default().as_secs_f64()
            )),
        }
    }
}

/// Calls its function with the operation on bytes. So most of the code exists once, and not for each kind of element.
struct Untyped<'a>(&'a mut (dyn FnMut(&dyn Combine) -> Done + 'a));

impl Operation for Untyped<'_> {
    type Result = Done;
    fn run<T: Element>(self, _: Operands, combine: impl Fn(T, T) -> T) -> Done {
        (self.0)(&Typed(combine, PhantomData))
    }
}

/// An operation on elements.
struct Typed<T, C>(C, PhantomData<T>);

impl<T: Element, C: Fn(T, T) -> T> Combine for Typed<T, C> {
    fn set_left(&self, left: &mut [u8], right: &[u8]) -> hostwire::Result<()> {
        let (left, right) = (elements_mut::<T>(left)?, elements::<T>(right)?);
        for (left, right) in left.iter_mut().zip(right) {
            *left = (self.0)(*left, *right);
        }
        Ok(())
    }

    fn set_right(&self, left: &[u8], right: &mut [u8]) -> hostwire::Result<()> {
        let (left, right) = (elements::<T>(left)?, elements_mut::<T>(right)?);
        for (left, right) in left.iter().zip(right) {
            *right = (self.0)(*left, *right);
        }
        Ok(())
    }
}

/// The names of elements and of an operation.
type Names = (PyBackedStr, PyBackedStr);

/// Elements and an operation by their names, and whether so many bytes are such elements.
fn combining(py: Python<'_>, (dtype, op): &Names, len_bytes: usize) -> PyResult<(Number, Op)> {
    let (number, op_named) = (Number::named(py, dtype)?, Op::named(py, op)?);
    if !op_named.takes(number) {
        let text = format!("{op} does not combine elements of {dtype}");
        return Err(errors::caller(py, &text));
    }
    if !len_bytes.is_multiple_of(number.size_bytes()) {
        let text = format!("{len_bytes} bytes are no elements of {dtype}");
        return Err(errors::caller(py, &text));
    }
    Ok((number, op_named))
}

#[pymethods]
impl Lanes {
    /// The lanes of member `rank` of the group `number`: `pes` and `slots` are those of all members,
    /// by rank; `data` and `words` are the arena's, with so many bytes and words for each slot.
    #[new]
    #[pyo3(signature = (arena, rank, pes, slots, number))]
    fn new(
        py: Python<'_>,
        arena: (Bound<'_, Array>, usize, Bound<'_, Array>, usize),
        rank: Whole,
        pes: Vec<u32>,
        slots: Vec<usize>,
        number: Whole,
    ) -> PyResult<Self> {
        let (data, slot_bytes, words, slot_words) = arena;
        let (data, words) = (data.get(), words.get());
        let raise = |error| errors::raise(py, &error);
        let slots = lane::Slots {
            data: data.bytes().map_err(raise)?,
            bytes: slot_bytes,
            words: words.signals(py)?.part(..).map_err(raise)?,
            words_each: slot_words,
            of_members: slots,
        };
        let job = data.shared().job(py)?;
        let host_of: Vec<_> = pes.iter().map(|pe| job.nodes().node_of(*pe)).collect();
        let made = Members::new(slots, rank.index(), &pes, &host_of, number.0);
        let members = made.map_err(|text| errors::caller(py, &text))?;
        Ok(Self {
            members: Mutex::new(members),
            pes,
            rank: rank.index(),
            shared: Arc::clone(data.shared()),
        })
    }

    #[getter]
    fn rank(&self) -> usize {
        self.rank
    }

    #[getter]
    fn size(&self) -> usize {
        self.pes.len()
    }

    #[getter]
    fn pes(&self) -> Vec<u32> {
        self.pes.clone()
    }

    /// Combines `values` of all members, in place, in the order of ranks.
    fn all_reduce(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        names: Names,
        limit_s: Option<f64>,
    ) -> PyResult<()> {
        self.combine(
            py,
            values,
            (Kind::AllReduce, &names),
            limit_s,
            Members::all_reduce,
        )
    }

    /// Combines `values` with those that all others send by `exchange`, as "reduce", to this one.
    fn reduce(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        names: Names,
        limit_s: Option<f64>,
    ) -> PyResult<()> {
        self.combine(py, values, (Kind::Reduce, &names), limit_s, Members::reduce)
    }

    /// Combines `values[i]` of all members in `out` of rank `i`.
    fn reduce_scatter(
        &self,
        py: Python<'_>,
        values: Vec<Bound<'_, PyAny>>,
        out: Bound<'_, PyAny>,
        names: Names,
        limit_s: Option<f64>,
    ) -> PyResult<()> {
        let outs = [out];
        with_exchanged(&values, &outs, |values, outs| {
            let [out] = outs else {
                return Ok(());
            };
            let (number, op) = combining(py, &names, out.len())?;
            self.check(py, values.len())?;
            let what = What::new(Kind::ReduceScatter, Some(number), Some(op));
            self.run(py, Some(what), limit_s, |members| {
                let mut combined =
                    |combine: &dyn Combine| members.reduce_scatter(values, out, combine);
                reduce::run(number, op, Untyped(&mut combined))
            })
        })
    }

    /// Sends `values[i]` to rank `i`, and receives `outs[i]` from it, in the operation that `names`
    /// say, with elements of a dtype, and how they are combined, if they are. Any may be empty.
    fn exchange(
        &self,
        py: Python<'_>,
        values: Vec<Bound<'_, PyAny>>,
        outs: Vec<Bound<'_, PyAny>>,
        names: (PyBackedStr, PyBackedStr, Option<PyBackedStr>),
        limit_s: Option<f64>,
    ) -> PyResult<()> {
        let (name, dtype, op) = &names;
        let op = op.as_ref().map(|op| Op::named(py, op)).transpose()?;
        let Some(kind) = Kind::named(name) else {
            let text = format!("there is no operation {name:?}");
            return Err(errors::caller(py, &text));
        };
        self.check(py, values.len())?;
        self.check(py, outs.len())?;
        with_exchanged(&values, &outs, |values, outs| {
            let what = What::new(kind, Number::with_name(dtype), op);
            self.run(py, Some(what), limit_s, |members| {
                members.exchange(values, outs)
            })
        })
    }

    /// Waits for all members.
    fn barrier(&self, py: Python<'_>, limit_s: Option<f64>) -> PyResult<()> {
        let what = What::new(Kind::Barrier, None, None);
        self.run(py, Some(what), limit_s, Members::barrier)
    }

    /// Tells the members that nothing more will come from here: one that waits for it gets PeerLeft.
    fn leave(&self, py: Python<'_>) -> PyResult<()> {
        let job = self.shared.job(py)?;
        self.run(py, None, None, move |members| {
            job.fence()?;
            members.leave()
        })
    }

    /// Whether all that this member has sent was taken: nobody writes its slot any more.
    fn are_quiet(&self, py: Python<'_>) -> PyResult<bool> {
        let mut are_quiet = false;
        self.run(py, None, None, |members| {
            are_quiet = members.are_quiet()?;
            Ok(())
        })?;
        Ok(are_quiet)
    }
}

impl Lanes {
    /// Combines `values` in place, with those of others, as `how` does.
    fn combine(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        (kind, names): (Kind, &Names),
        limit_s: Option<f64>,
        how: fn(&mut Members, &mut [u8], &dyn Combine) -> lane::Done,
    ) -> PyResult<()> {
        with_plain_bytes_mut(values, |bytes| {
            let (number, op) = combining(py, names, bytes.len())?;
            let what = What::new(kind, Some(number), Some(op));
            self.run(py, Some(what), limit_s, |members| {
                let mut combined = |combine: &dyn Combine| how(members, bytes, combine);
                reduce::run(number, op, Untyped(&mut combined))
            })
        })
    }

    fn check(&self, py: Python<'_>, count: usize) -> PyResult<()> {
        if count == self.pes.len() {
            return Ok(());
        }
        let text = format!("expected {} buffers, got {count}", self.pes.len());
        Err(errors::caller(py, &text))
    }
}
