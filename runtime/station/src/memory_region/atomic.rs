//! Atomic operations on numbers in a region: what they do, and how.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use hostwire_transport::{Memory, TransportError};

use super::Rights;

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names of the types of Rust")]
pub enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
    /// Two `F32`: real and imaginary part.
    C32,
    /// Two `F64`.
    C64,
}

/// What is done to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Change {
    /// The lesser of it and the operand.
    Min,
    /// The greater.
    Max,
    /// The sum. Integers wrap.
    Sum,
    /// The product. Integers wrap.
    Product,
    /// 1 if one of both is not 0, else 0.
    LogicalOr,
    /// 1 if both are not 0, else 0.
    LogicalAnd,
    /// Bitwise or.
    Or,
    /// Bitwise and.
    And,
    /// 1 if exactly one of both is not 0, else 0.
    LogicalXor,
    /// Bitwise exclusive or.
    Xor,
    /// Nothing.
    Read,
    /// The operand.
    Write,
    /// The operand, if the number to compare with equals it.
    CompareEqual,
    /// The operand, if the number to compare with differs.
    CompareUnequal,
    /// The operand, if the number to compare with is not greater.
    CompareLessEqual,
    /// The operand, if the number to compare with is less.
    CompareLess,
    /// The operand, if the number to compare with is not less.
    CompareGreaterEqual,
    /// The operand, if the number to compare with is greater.
    CompareGreater,
    /// The bits of the operand that are set in the number to compare with; the others stay.
    Masked,
}

impl Number {
    const ALL: [Self; 12] = [
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F32,
        Self::F64,
        Self::C32,
        Self::C64,
    ];

    /// The one with this place in the list above.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// How long it is.
    pub fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::C32 => 8,
            Self::C64 => BYTES_MAX,
        }
    }

    fn is_integer(self) -> bool {
        (self as u8) < Self::F32 as u8
    }

    fn is_complex(self) -> bool {
        matches!(self, Self::C32 | Self::C64)
    }
}

impl Change {
    const ALL: [Self; 19] = [
        Self::Min,
        Self::Max,
        Self::Sum,
        Self::Product,
        Self::LogicalOr,
        Self::LogicalAnd,
        Self::Or,
        Self::And,
        Self::LogicalXor,
        Self::Xor,
        Self::Read,
        Self::Write,
        Self::CompareEqual,
        Self::CompareUnequal,
        Self::CompareLessEqual,
        Self::CompareLess,
        Self::CompareGreaterEqual,
        Self::CompareGreater,
        Self::Masked,
    ];

    /// The one with this place in the list above.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Whether it looks at a number beside the operand.
    pub fn compares(self) -> bool {
        self as u8 >= Self::CompareEqual as u8
    }
}

/// The longest number.
const BYTES_MAX: usize = 16;
/// Numbers that no instruction of the processor changes in one piece: those that a process changes
/// here exclude each other.
static IN_PIECES: Mutex<()> = Mutex::new(());

/// An atomic operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    /// On what.
    pub number: Number,
    /// What it does.
    pub change: Change,
}

/// What an operation takes beside the number that it changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) operand: &'a [u8],
    pub(super) compare: &'a [u8],
}

impl Atomic {
    /// The operation, if there is one with such numbers.
    pub fn new(number: Number, change: Change) -> Option<Self> {
        use Change::{And, Masked, Or, Xor};
        let is_there = match change {
            Or | And | Xor | Masked => number.is_integer(),
            Change::Min
            | Change::Max
            | Change::CompareLessEqual
            | Change::CompareLess
            | Change::CompareGreaterEqual
            | Change::CompareGreater => !number.is_complex(),
            _ => true,
        };
        is_there.then_some(Self { number, change })
    }

    /// What it needs of a region: one that gives back what was there reads as well.
    pub fn rights(self, wants_old: bool) -> Rights {
        let changes = self.change != Change::Read;
        Rights {
            read: wants_old || !changes,
            write: changes,
        }
    }

    /// Does it with the number at `offset`, and gives what was there.
    pub(super) fn apply(
        self,
        memory: &Memory,
        offset: usize,
        cell: Cell<'_>,
    ) -> Result<[u8; BYTES_MAX], TransportError> {
        let size = self.number.bytes();
        let mut old = [0; BYTES_MAX];
        let order = Ordering::SeqCst;
        // The memory may be there to be read alone: even an exchange that changes nothing writes.
        let reads = self.change == Change::Read;
        // So that atomic instructions of the owner's program are atomic to these.
        if size == 8 && memory.is_aligned(offset, 8) {
            let new =
                |word: u64| Some(u64::from_ne_bytes(self.new_value(word.to_ne_bytes(), cell)));
            let word = memory.word(offset)?;
            let was = match reads {
                true => word.load(order),
                false => word
                    .fetch_update(order, order, new)
                    .unwrap_or_else(|was| was),
            };
            old[..8].copy_from_slice(&was.to_ne_bytes());
        } else if size == 4 && memory.is_aligned(offset, 4) {
            let new =
                |half: u32| Some(u32::from_ne_bytes(self.new_value(half.to_ne_bytes(), cell)));
            let half = memory.half(offset)?;
            let was = match reads {
                true => half.load(order),
                false => half
                    .fetch_update(order, order, new)
                    .unwrap_or_else(|was| was),
            };
            old[..4].copy_from_slice(&was.to_ne_bytes());
        } else {
            let _alone = IN_PIECES.lock().unwrap_or_else(PoisonError::into_inner);
            memory.copy_out(offset, &mut old[..size])?;
            if !reads {
                let new = self.new_value(old, cell);
                memory.copy_in(offset, &new[..size])?;
            }
        }
        Ok(old)
    }

    /// What is there after it. The number is at the front of `old`.
    fn new_value<const N: usize>(self, old: [u8; N], cell: Cell<'_>) -> [u8; N] {
        let mut new = old;
        let (old, out) = (&old[..], &mut new[..]);
        macro_rules! as_a {
            ($how:ident, $($type:ty)?) => { $how!(self.change, $($type,)? old, cell, out) };
        }
        match self.number {
            Number::I8 => as_a!(integer, i8),
            Number::U8 => as_a!(integer, u8),
            Number::I16 => as_a!(integer, i16),
            Number::U16 => as_a!(integer, u16),
            Number::I32 => as_a!(integer, i32),
            Number::U32 => as_a!(integer, u32),
            Number::I64 => as_a!(integer, i64),
            Number::U64 => as_a!(integer, u64),
            Number::F32 => as_a!(float, f32),
            Number::F64 => as_a!(float, f64),
            Number::C32 => as_a!(complex, f32),
            Number::C64 => as_a!(complex, f64),
        }
        new
    }
}

/// The `$at`th number of this type in bytes; 0 if they are not there.
macro_rules! number {
    ($type:ty, $bytes:expr, $at:expr) => {{
        const SIZE: usize = size_of::<$type>();
        let bytes: &[u8] = $bytes;
        let bytes = bytes.get($at * SIZE..($at + 1) * SIZE);
        bytes
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(<$type>::default(), <$type>::from_ne_bytes)
    }};
}
use number;

/// Of all numbers that have an order: what is there afterwards, if that is not what was there.
macro_rules! compared {
    ($change:expr, $old:expr, $operand:expr, $compare:expr) => {{
        let does = match $change {
            Change::Min => $operand < $old,
            Change::Max => $operand > $old,
            Change::Write => true,
            Change::CompareEqual => $compare == $old,
            Change::CompareUnequal => $compare != $old,
            Change::CompareLessEqual => $compare <= $old,
            Change::CompareLess => $compare < $old,
            Change::CompareGreaterEqual => $compare >= $old,
            Change::CompareGreater => $compare > $old,
            _ => false,
        };
        if does { $operand } else { $old }
    }};
}
use compared;

fn logical(change: Change, old: bool, operand: bool) -> bool {
    match change {
        Change::LogicalOr => old || operand,
        Change::LogicalAnd => old && operand,
        _ => old != operand,
    }
}

macro_rules! integer {
    ($change:expr, $type:ty, $old:expr, $cell:expr, $out:expr) => {{
        let old = number!($type, $old, 0);
        let operand = number!($type, $cell.operand, 0);
        let compare = number!($type, $cell.compare, 0);
        let new: $type = match $change {
            Change::Sum => old.wrapping_add(operand),
            Change::Product => old.wrapping_mul(operand),
            Change::LogicalOr | Change::LogicalAnd | Change::LogicalXor => {
                logical($change, old != 0, operand != 0).into()
            }
            Change::Or => old | operand,
            Change::And => old & operand,
            Change::Xor => old ^ operand,
            Change::Masked => (operand & compare) | (old & !compare),
            other => compared!(other, old, operand, compare),
        };
        $out[..size_of::<$type>()].copy_from_slice(&new.to_ne_bytes());
    }};
}
use integer;

macro_rules! float {
    ($change:expr, $type:ty, $old:expr, $cell:expr, $out:expr) => {{
        let old = number!($type, $old, 0);
        let operand = number!($type, $cell.operand, 0);
        let compare = number!($type, $cell.compare, 0);
        let new: $type = match $change {
            Change::Sum => old + operand,
            Change::Product => old * operand,
            Change::LogicalOr | Change::LogicalAnd | Change::LogicalXor => {
                f32::from(u8::from(logical($change, old != 0.0, operand != 0.0))).into()
            }
            other => compared!(other, old, operand, compare),
        };
        $out[..size_of::<$type>()].copy_from_slice(&new.to_ne_bytes());
    }};
}
use float;

macro_rules! complex {
    ($change:expr, $type:ty, $old:expr, $cell:expr, $out:expr) => {{
        let pair = |bytes: &[u8]| (number!($type, bytes, 0), number!($type, bytes, 1));
        let (old, operand, compare) = (pair($old), pair($cell.operand), pair($cell.compare));
        let is_some = |(re, im): ($type, $type)| re != 0.0 || im != 0.0;
        let new: ($type, $type) = match $change {
            Change::Sum => (old.0 + operand.0, old.1 + operand.1),
            Change::Product => (
                old.0 * operand.0 - old.1 * operand.1,
                old.0 * operand.1 + old.1 * operand.0,
            ),
            Change::LogicalOr | Change::LogicalAnd | Change::LogicalXor => {
                let is = logical($change, is_some(old), is_some(operand));
                (f32::from(u8::from(is)).into(), 0.0)
            }
            Change::Write => operand,
            Change::CompareEqual if compare == old => operand,
            Change::CompareUnequal if compare != old => operand,
            _ => old,
        };
        let size = size_of::<$type>();
        $out[..size].copy_from_slice(&new.0.to_ne_bytes());
        $out[size..2 * size].copy_from_slice(&new.1.to_ne_bytes());
    }};
}
use complex;
