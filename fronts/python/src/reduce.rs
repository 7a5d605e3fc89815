//! Combining values of all members of a team, by the name of an operation and the type of elements.

use half::{bf16, f16};
use hostwire::core::{Combine, Fold, Operands, Operator};
use hostwire::{Element, Error, FromBytes, Result, Team, op, untyped_as};
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
    type Result;

    /// Does it with elements `T`, which are called `operands` where members compare them.
    fn run<T: Element>(self, operands: Operands, combine: impl Fn(T, T) -> T) -> Self::Result;
}

/// Into `values` of all.
pub(crate) struct AllReduce<'a>(pub(crate) &'a Team, pub(crate) &'a mut [u8]);

/// Into `values` of one.
pub(crate) struct Reduce<'a> {
    pub(crate) team: &'a Team,
    pub(crate) root: u32,
    pub(crate) values: &'a mut [u8],
}

/// A piece of the result into `into`.
pub(crate) struct ReduceScatter<'a> {
    pub(crate) team: &'a Team,
    pub(crate) values: &'a [u8],
    pub(crate) into: &'a mut [u8],
}

/// Those of all ranks up to the own one.
pub(crate) struct Scan<'a>(pub(crate) &'a Team, pub(crate) &'a mut [u8]);

impl Operation for AllReduce<'_> {
    type Result = Result<()>;
    fn run<T: Element>(self, operands: Operands, combine: impl Fn(T, T) -> T) -> Result<()> {
        let (core, caller) = self.0.untyped()?;
        let reduce = |combine: Combine<'_>| core.reduce_private(caller, self.1, combine);
        untyped_as(operands, combine, reduce)
    }
}

impl Operation for Reduce<'_> {
    type Result = Result<()>;
    fn run<T: Element>(self, operands: Operands, combine: impl Fn(T, T) -> T) -> Result<()> {
        let (core, caller) = self.team.untyped()?;
        let reduce = |combine: Combine<'_>| core.reduce_to(caller, self.root, self.values, combine);
        untyped_as(operands, combine, reduce)
    }
}

impl Operation for ReduceScatter<'_> {
    type Result = Result<()>;
    fn run<T: Element>(self, operands: Operands, combine: impl Fn(T, T) -> T) -> Result<()> {
        let (core, caller) = self.team.untyped()?;
        let reduce =
            |combine: Combine<'_>| core.reduce_scatter(caller, self.values, self.into, combine);
        untyped_as(operands, combine, reduce)
    }
}

impl Operation for Scan<'_> {
    type Result = Result<()>;
    fn run<T: Element>(self, operands: Operands, combine: impl Fn(T, T) -> T) -> Result<()> {
        let (core, caller) = self.0.untyped()?;
        let scan = |combine: Combine<'_>| core.scan_private(caller, self.1, combine, Fold::UpTo);
        untyped_as(operands, combine, scan)
    }
}

pub(crate) fn elements<T: Element>(bytes: &[u8]) -> Result<&[T]> {
    // An empty slice may lie anywhere.
    if bytes.is_empty() {
        return Ok(&[]);
    }
    <[T]>::ref_from_bytes(bytes).map_err(|_| misplaced::<T>(bytes))
}

pub(crate) fn elements_mut<T: Element>(bytes: &mut [u8]) -> Result<&mut [T]> {
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
    const ALL: [(Self, &'static str, Operator); 7] = [
        (Self::Sum, "sum", Operator::Sum),
        (Self::Prod, "prod", Operator::Prod),
        (Self::Min, "min", Operator::Min),
        (Self::Max, "max", Operator::Max),
        (Self::And, "and", Operator::And),
        (Self::Or, "or", Operator::Or),
        (Self::Xor, "xor", Operator::Xor),
    ];

    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        let found = Self::ALL.iter().find(|(_, of, _)| *of == name);
        found.map(|(op, ..)| *op).ok_or_else(|| {
            let text = format!("expected sum, prod, min, max, and, or or xor, got {name:?}");
            errors::caller(py, &text)
        })
    }

    /// The name of that with this code.
    pub(crate) fn name_at(code: usize) -> &'static str {
        Self::ALL.get(code).map_or("unknown", |(_, name, _)| *name)
    }

    /// As members compare it.
    pub(crate) fn operator(self) -> Operator {
        let found = Self::ALL.iter().find(|(op, ..)| *op == self);
        found.map_or(Operator::Own, |(_, _, operator)| *operator)
    }

    /// Whether values of this type can be combined so.
    pub(crate) fn takes(self, number: Number) -> bool {
        let is_bitwise = matches!(self, Self::And | Self::Or | Self::Xor);
        match number {
            Number::Bool => is_bitwise,
            Number::F16 | Number::BF16 | Number::F32 | Number::F64 => !is_bitwise,
            Number::C64 | Number::C128 => matches!(self, Self::Sum | Self::Prod),
            _ => true,
        }
    }
}

/// Does `$operation` with elements that are stored as `$type`, and combined as `$wide`.
macro_rules! arithmetic {
    ($type:ty, $op:expr, $operands:expr, $operation:expr) => {
        arithmetic!(
            $type,
            $type,
            |wide| wide,
            |stored| stored,
            $op,
            $operands,
            $operation
        )
    };
    ($type:ty, $wide:ty, $store:expr, $load:expr, $op:expr, $operands:expr, $operation:expr) => {{
        let (store, load) = (
            |wide: $wide| -> $type { $store(wide) },
            |stored: $type| -> $wide { $load(stored) },
        );
        macro_rules! by {
            ($combine:expr) => {
                $operation.run::<$type>($operands, |a, b| store($combine(load(a), load(b))))
            };
        }
        match $op {
            Op::Prod => by!(op::product::<$wide>),
            Op::Min => by!(op::min::<$wide>),
            Op::Max => by!(op::max::<$wide>),
            // What else `Op::takes` lets through.
            _ => by!(op::sum::<$wide>),
        }
    }};
}

macro_rules! bitwise {
    ($type:ty, $op:expr, $operands:expr, $operation:expr) => {
        match $op {
            Op::And => $operation.run::<$type>($operands, op::and),
            Op::Or => $operation.run::<$type>($operands, op::or),
            _ => $operation.run::<$type>($operands, op::xor),
        }
    };
}

macro_rules! integer {
    ($type:ty, $op:expr, $operands:expr, $operation:expr) => {
        match $op {
            Op::And | Op::Or | Op::Xor => bitwise!($type, $op, $operands, $operation),
            _ => arithmetic!($type, $op, $operands, $operation),
        }
    };
}

/// Floats of 16 bits: each result is that of float32, rounded.
macro_rules! half {
    ($type:ident, $op:expr, $operands:expr, $operation:expr) => {
        arithmetic!(
            u16,
            f32,
            |wide| $type::from_f32(wide).to_bits(),
            |stored| $type::from_bits(stored).to_f32(),
            $op,
            $operands,
            $operation
        )
    };
}

macro_rules! complex {
    ($type:ty, $prod:ident, $op:expr, $operands:expr, $operation:expr) => {
        match $op {
            Op::Prod => $operation.run::<[$type; 2]>($operands, $prod),
            _ => $operation.run::<[$type; 2]>($operands, |a, b| [a[0] + b[0], a[1] + b[1]]),
        }
    };
}

/// Does `operation` with elements that are `number`s, which `op` takes.
pub(crate) fn run<O: Operation>(number: Number, op: Op, operation: O) -> O::Result {
    let operands = number.operands().by(op.operator());
    match number {
        // 0 or 1, which these operations keep.
        Number::Bool => bitwise!(u8, op, operands, operation),
        Number::I8 => integer!(i8, op, operands, operation),
        Number::I16 => integer!(i16, op, operands, operation),
        Number::I32 => integer!(i32, op, operands, operation),
        Number::I64 => integer!(i64, op, operands, operation),
        Number::U8 => integer!(u8, op, operands, operation),
        Number::U16 => integer!(u16, op, operands, operation),
        Number::U32 => integer!(u32, op, operands, operation),
        Number::U64 => integer!(u64, op, operands, operation),
        Number::F16 => half!(f16, op, operands, operation),
        Number::BF16 => half!(bf16, op, operands, operation),
        Number::F32 => arithmetic!(f32, op, operands, operation),
        Number::F64 => arithmetic!(f64, op, operands, operation),
        Number::C64 => complex!(f32, complex_prod_32, op, operands, operation),
        Number::C128 => complex!(f64, complex_prod_64, op, operands, operation),
    }
}
