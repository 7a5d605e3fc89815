//! The elements of an operation, and how it combines them. Members compare this beside the
//! operation and its length, so that a member that adds integers gets an error and no number if
//! another one multiplies floats.

/// The code of an unknown type or operator. It agrees with all others.
const UNKNOWN: u8 = 0;

macro_rules! elements {
    ($($code:literal $name:literal $($rust:literal)*),* $(,)?) => {
        /// The name of elements with this code.
        fn element_text(code: u8) -> &'static str {
            match code {
                $($code => $name,)*
                UNKNOWN => "elements",
                _ => "elements of another type",
            }
        }

        /// The code of elements with this name, which is Rust's or that of other languages.
        #[inline(always)]
        fn element_code(name: &str) -> u8 {
            match name {
                $($name $(| $rust)* => $code,)*
                _ => OTHER,
            }
        }
    };
}

/// All types that have no name here: structures above all.
const OTHER: u8 = 31;

elements! {
    1 "bool",
    2 "int8" "i8",
    3 "int16" "i16",
    4 "int32" "i32",
    5 "int64" "i64" "isize",
    6 "uint8" "u8",
    7 "uint16" "u16",
    8 "uint32" "u32",
    9 "uint64" "u64" "usize",
    10 "float16",
    11 "bfloat16",
    12 "float32" "f32",
    13 "float64" "f64",
    14 "complex64",
    15 "complex128",
    16 "int128" "i128",
    17 "uint128" "u128",
}

/// How two elements are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Operator {
    /// By a function of the program, which has no name that means something elsewhere.
    Own = UNKNOWN,
    /// Added.
    Sum = 1,
    /// Multiplied.
    Prod = 2,
    /// The lesser.
    Min = 3,
    /// The greater.
    Max = 4,
    /// Bitwise and.
    And = 5,
    /// Bitwise or.
    Or = 6,
    /// Bitwise exclusive or.
    Xor = 7,
}

impl Operator {
    /// The operator of a function of [`op`](crate::op), by the name of its type. Other functions
    /// are not known: each closure has a type of its own, whatever it computes.
    #[inline(always)]
    fn of<F>() -> Self {
        // The compiler evaluates all of this.
        let is = |name| core::any::type_name::<F>().starts_with(name);
        if is("hostwire::op::sum<") {
            Self::Sum
        } else if is("hostwire::op::product<") {
            Self::Prod
        } else if is("hostwire::op::min<") {
            Self::Min
        } else if is("hostwire::op::max<") {
            Self::Max
        } else if is("hostwire::op::and<") {
            Self::And
        } else if is("hostwire::op::or<") {
            Self::Or
        } else if is("hostwire::op::xor<") {
            Self::Xor
        } else {
            Self::Own
        }
    }

    fn text(code: u8) -> Option<&'static str> {
        Some(match code {
            1 => "sum",
            2 => "product",
            3 => "minimum",
            4 => "maximum",
            5 => "and",
            6 => "or",
            7 => "exclusive or",
            _ => return None,
        })
    }
}

/// The elements of an operation, and how it combines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operands {
    element: u8,
    operator: u8,
}

impl Operands {
    /// Bits of [`word`](Self::word).
    pub(super) const BITS: u32 = 8;
    /// Bytes of unknown elements.
    pub const UNKNOWN: Self = Self {
        element: UNKNOWN,
        operator: UNKNOWN,
    };

    /// Elements that only move, by the name of their type.
    #[inline(always)]
    pub fn named(element: &str) -> Self {
        Self {
            element: element_code(element),
            operator: UNKNOWN,
        }
    }

    /// Elements `T` that only move.
    #[inline(always)]
    pub fn of<T>() -> Self {
        Self::named(core::any::type_name::<T>())
    }

    /// Elements `T` that a function of this type combines.
    #[inline(always)]
    pub fn combined<T, F>() -> Self {
        Self::of::<T>().by(Operator::of::<F>())
    }

    /// These elements, combined so.
    #[inline(always)]
    pub fn by(self, operator: Operator) -> Self {
        Self {
            operator: operator as u8,
            ..self
        }
    }

    #[inline(always)]
    pub(super) fn word(self) -> u64 {
        u64::from(self.element) << 3 | u64::from(self.operator)
    }

    pub(super) fn from_word(word: u64) -> Self {
        Self {
            element: (word >> 3 & 31) as u8,
            operator: (word & 7) as u8,
        }
    }

    /// Whether they are the same as far as both are known.
    pub(super) fn agree(self, other: Self) -> bool {
        let same = |one, other| one == other || one == UNKNOWN || other == UNKNOWN;
        same(self.element, other.element) && same(self.operator, other.operator)
    }

    /// As a part of a sentence; nothing if they are not known.
    pub(super) fn text(self) -> Option<String> {
        let element = element_text(self.element);
        match Operator::text(self.operator) {
            Some(operator) => Some(format!("{operator} of {element}")),
            None if self.element == UNKNOWN => None,
            None => Some(element.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op;

    fn of_function<F: Fn(f64, f64) -> f64>(_: F) -> Operands {
        Operands::combined::<f64, F>()
    }

    #[test]
    fn functions_and_elements_have_their_names() {
        for (function, text) in [
            (of_function(op::sum), "sum of float64"),
            (of_function(op::product), "product of float64"),
            (of_function(op::min), "minimum of float64"),
            (of_function(op::max), "maximum of float64"),
            (of_function(|a, b| a - b), "float64"),
            (Operands::combined::<u8, ()>(), "uint8"),
            (Operands::of::<[f32; 2]>(), "elements of another type"),
            (
                Operands::named("complex64").by(Operator::Xor),
                "exclusive or of complex64",
            ),
        ] {
            assert_eq!(function.text().as_deref(), Some(text));
            assert_eq!(Operands::from_word(function.word()), function);
        }
        fn bits<F: Fn(u8, u8) -> u8>(_: F) -> Operands {
            Operands::combined::<u8, F>()
        }
        let names = [bits(op::and), bits(op::or), bits(op::xor)];
        let names = names.map(|of| of.text().unwrap());
        assert_eq!(
            names,
            ["and of uint8", "or of uint8", "exclusive or of uint8"]
        );
    }

    #[test]
    fn what_is_not_known_agrees_with_all() {
        let (sum, most) = (of_function(op::sum), of_function(op::max));
        assert!(!sum.agree(most) && sum.agree(sum) && sum.agree(Operands::UNKNOWN));
        assert!(sum.agree(of_function(|a, b| a + b)));
        assert!(!sum.agree(Operands::named("int64").by(Operator::Sum)));
        assert_eq!(Operands::UNKNOWN.text(), None);
    }
}
