//! Combining values of all members of a team, by the name of an operation and the type of elements.

use hostwire::{Element, Error, FromBytes, Result, Team, op};
use pyo3::prelude::*;

use crate::dtype::Number;
use crate::errors;

/// How values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Sum,
    Prod,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// A collective operation that combines.
pub(crate) trait Operation {
    /// Does it with elements `T`.
    fn run<T: Element>(self, team: &Team, combine: impl Fn(T, T) -> T) -> Result<()>;
}

/// Into `values` of all.
pub(crate) struct AllReduce<'a>(pub(crate) &'a mut [u8]);

/// Into `values` of one.
pub(crate) struct Reduce<'a> {
    pub(crate) root: u32,
    pub(crate) values: &'a mut [u8],
}

/// A piece of the result into `into`.
pub(crate) struct ReduceScatter<'a> {
    pub(crate) values: &'a [u8],
    pub(crate) into: &'a mut [u8],
}

/// Those of all ranks up to the own one.
pub(crate) struct Scan<'a>(pub(crate) &'a mut [u8]);

impl Operation for AllReduce<'_> {
    fn run<T: Element>(self, team: &Team, combine: impl Fn(T, T) -> T) -> Result<()> {
        team.all_reduce::<T>(elements_mut(self.0)?, combine)
    }
}

impl Operation for Reduce<'_> {
    fn run<T: Element>(self, team: &Team, combine: impl Fn(T, T) -> T) -> Result<()> {
        team.reduce::<T>(self.root, elements_mut(self.values)?, combine)
    }
}

impl Operation for ReduceScatter<'_> {
    fn run<T: Element>(self, team: &Team, combine: impl Fn(T, T) -> T) -> Result<()> {
        team.reduce_scatter::<T>(elements(self.values)?, elements_mut(self.into)?, combine)
    }
}

impl Operation for Scan<'_> {
    fn run<T: Element>(self, team: &Team, combine: impl Fn(T, T) -> T) -> Result<()> {
        team.scan::<T>(elements_mut(self.0)?, combine)
    }
}

fn elements<T: Element>(bytes: &[u8]) -> Result<&[T]> {
    // Where none are may be anywhere.
    if bytes.is_empty() {
        return Ok(&[]);
    }
    <[T]>::ref_from_bytes(bytes).map_err(|_| misplaced::<T>(bytes))
}

fn elements_mut<T: Element>(bytes: &mut [u8]) -> Result<&mut [T]> {
    if bytes.is_empty() {
        return Ok(&mut []);
    }
    let error = misplaced::<T>(bytes);
    <[T]>::mut_from_bytes(bytes).map_err(|_| error)
}

/// They come from an array of these elements; only one over odd memory is not aligned.
fn misplaced<T>(bytes: &[u8]) -> Error {
    Error::Length {
        what: "values that do not lie as their elements have to",
        expected: 0,
        got: bytes.len() / size_of::<T>().max(1),
    }
}

fn complex_prod_32([a, b]: [f32; 2], [c, d]: [f32; 2]) -> [f32; 2] {
    [a * c - b * d, a * d + b * c]
}

fn complex_prod_64([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}

impl Op {
    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        Ok(match name {
            "sum" => Self::Sum,
            "prod" => Self::Prod,
            "min" => Self::Min,
            "max" => Self::Max,
            "and" => Self::And,
            "or" => Self::Or,
            "xor" => Self::Xor,
            other => {
                let text = format!("expected sum, prod, min, max, and, or or xor, got {other:?}");
                return Err(errors::caller(py, &text));
            }
        })
    }

    /// Whether values of this type can be combined so.
    pub(crate) fn takes(self, number: Number) -> bool {
        let is_bitwise = matches!(self, Self::And | Self::Or | Self::Xor);
        match number {
            Number::Bool => is_bitwise,
            Number::F32 | Number::F64 => !is_bitwise,
            Number::C64 | Number::C128 => matches!(self, Self::Sum | Self::Prod),
            _ => true,
        }
    }
}

macro_rules! arithmetic {
    ($type:ty, $op:expr, $team:expr, $operation:expr) => {
        match $op {
            Op::Prod => $operation.run::<$type>($team, op::product),
            Op::Min => $operation.run::<$type>($team, op::min),
            Op::Max => $operation.run::<$type>($team, op::max),
            // What else `Op::takes` lets through.
            _ => $operation.run::<$type>($team, op::sum),
        }
    };
}

macro_rules! bitwise {
    ($type:ty, $op:expr, $team:expr, $operation:expr) => {
        match $op {
            Op::And => $operation.run::<$type>($team, op::and),
            Op::Or => $operation.run::<$type>($team, op::or),
            _ => $operation.run::<$type>($team, op::xor),
        }
    };
}

macro_rules! integer {
    ($type:ty, $op:expr, $team:expr, $operation:expr) => {
        match $op {
            Op::And | Op::Or | Op::Xor => bitwise!($type, $op, $team, $operation),
            _ => arithmetic!($type, $op, $team, $operation),
        }
    };
}

macro_rules! complex {
    ($type:ty, $prod:ident, $op:expr, $team:expr, $operation:expr) => {
        match $op {
            Op::Prod => $operation.run::<[$type; 2]>($team, $prod),
            _ => $operation.run::<[$type; 2]>($team, |a, b| [a[0] + b[0], a[1] + b[1]]),
        }
    };
}

/// Does `operation` with elements that are `number`s, which `op` takes.
pub(crate) fn run(team: &Team, number: Number, op: Op, operation: impl Operation) -> Result<()> {
    match number {
        // 0 or 1, which these operations keep.
        Number::Bool => bitwise!(u8, op, team, operation),
        Number::I8 => integer!(i8, op, team, operation),
        Number::I16 => integer!(i16, op, team, operation),
        Number::I32 => integer!(i32, op, team, operation),
        Number::I64 => integer!(i64, op, team, operation),
        Number::U8 => integer!(u8, op, team, operation),
        Number::U16 => integer!(u16, op, team, operation),
        Number::U32 => integer!(u32, op, team, operation),
        Number::U64 => integer!(u64, op, team, operation),
        Number::F32 => arithmetic!(f32, op, team, operation),
        Number::F64 => arithmetic!(f64, op, team, operation),
        Number::C64 => complex!(f32, complex_prod_32, op, team, operation),
        Number::C128 => complex!(f64, complex_prod_64, op, team, operation),
    }
}
