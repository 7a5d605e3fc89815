//! Atomic operations and gets: requests to the owner of the memory, or to the wire.

use crate::error::TransportError;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::window::Window;

/// Operations on the memory of another PE other than stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Copy bytes back.
    Get = 1,
    /// Read a word.
    Fetch = 2,
    /// Set a word.
    Swap = 3,
    /// Set a word that has a certain value.
    CompareSwap = 4,
    /// Add.
    Add = 5,
    /// Bitwise and.
    And = 6,
    /// Bitwise or.
    Or = 7,
    /// Bitwise exclusive or.
    Xor = 8,
    /// The lesser, unsigned.
    Min = 9,
    /// The greater, unsigned.
    Max = 10,
    /// The lesser, signed.
    SignedMin = 11,
    /// The greater, signed.
    SignedMax = 12,
}

/// One operation on an atomic word of either width; `$signed` is as wide.
macro_rules! apply {
    ($operation:expr, $word:expr, $operand:expr, $compare:expr, $signed:ty) => {{
        const ORDER: Ordering = Ordering::SeqCst;
        let (word, operand) = ($word, $operand);
        let signed = |choose: fn($signed, $signed) -> $signed| {
            let new = |old| Some(choose(old as $signed, operand as $signed) as _);
            match word.fetch_update(ORDER, ORDER, new) {
                Ok(old) | Err(old) => old,
            }
        };
        match $operation {
            Operation::Get | Operation::Fetch => word.load(ORDER),
            Operation::Swap => word.swap(operand, ORDER),
            Operation::CompareSwap => {
                match word.compare_exchange($compare, operand, ORDER, ORDER) {
                    Ok(old) | Err(old) => old,
                }
            }
            Operation::Add => word.fetch_add(operand, ORDER),
            Operation::And => word.fetch_and(operand, ORDER),
            Operation::Or => word.fetch_or(operand, ORDER),
            Operation::Xor => word.fetch_xor(operand, ORDER),
            Operation::Min => word.fetch_min(operand, ORDER),
            Operation::Max => word.fetch_max(operand, ORDER),
            Operation::SignedMin => signed(Ord::min),
            Operation::SignedMax => signed(Ord::max),
        }
    }};
}

impl Operation {
    /// The operation with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        use Operation::*;
        let all = [
            Get,
            Fetch,
            Swap,
            CompareSwap,
            Add,
            And,
            Or,
            Xor,
            Min,
            Max,
            SignedMin,
            SignedMax,
        ];
        all.into_iter().find(|operation| *operation as u8 == code)
    }

    /// Does it to a 64-bit word and returns the old value.
    #[inline(always)]
    pub fn apply_64(self, word: &AtomicU64, operand: u64, compare: u64) -> u64 {
        apply!(self, word, operand, compare, i64)
    }

    /// Does it to a 32-bit word and returns the old value.
    #[inline(always)]
    pub fn apply_32(self, word: &AtomicU32, operand: u32, compare: u32) -> u32 {
        apply!(self, word, operand, compare, i32)
    }
}

/// A request for one atomic operation.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// Where: an offset as in stores.
    pub offset_bytes: usize,
    /// 4 or 8; 0 for a get.
    pub operand_bytes: u8,
    /// The operand, in its lower end.
    pub operand: u64,
    /// What [`Operation::CompareSwap`] compares with.
    pub compare: u64,
}

/// Does an atomic operation on memory that is mapped here.
#[inline(always)]
pub fn apply(window: &Window, request: &Request) -> Result<u64, TransportError> {
    let &Request {
        operation,
        offset_bytes,
        operand_bytes,
        operand,
        compare,
    } = request;
    if operand_bytes == 8 {
        let word = window.word(offset_bytes)?;
        let change = || operation.apply_64(word, operand, compare);
        Ok(window.change(offset_bytes, 8, change))
    } else {
        let word = window.half(offset_bytes)?;
        let change = || operation.apply_32(word, operand as u32, compare as u32);
        Ok(window.change(offset_bytes, 4, change).into())
    }
}
