//! Numbers of the papers, what an agreement with each is worth, and how the simulated
//! values compare.

mod file;
mod judge;
mod summary;
#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use file::{Assumed, Claim, Claims, Source};
pub use judge::{Row, Verdict};
pub use summary::{ClassCount, Summary};

/// The value of an agreement with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Comes out of parameters that were not set from any result of the paper.
    Predicted,
    /// The paper gives a limit or a direction, and no parameter was set for it.
    Bound,
    /// A parameter that is not known was assumed, and with other values of it the row fails.
    TunedAssumption,
    /// A parameter was set so that this number, or one that it is a function of, comes out.
    Fitted,
    /// An input, a quotation, or arithmetic on inputs.
    Identity,
    /// A value of ours that the paper does not print.
    OwnNumber,
    /// The paper's text does not say enough to compare anything.
    Unknowable,
}

impl Class {
    /// All classes, from the highest to the lowest value of an agreement.
    pub const ALL: [Class; 7] = [
        Class::Predicted,
        Class::Bound,
        Class::TunedAssumption,
        Class::Fitted,
        Class::Identity,
        Class::OwnNumber,
        Class::Unknowable,
    ];

    /// Whether a value that fits says something about the model.
    pub fn counts(self) -> bool {
        matches!(self, Class::Predicted | Class::Bound)
    }

    /// The class in one sentence, for readers of results.
    pub fn meaning(self) -> &'static str {
        match self {
            Class::Predicted => {
                "comes out of parameters that were not set from any result of the paper"
            }
            Class::Bound => {
                "the paper gives a limit or a direction, and no parameter was set for it"
            }
            Class::TunedAssumption => {
                "a parameter that is not known was assumed, and with other values of it the row fails"
            }
            Class::Fitted => {
                "a parameter was set so that this number, or one that it is a function of, comes out"
            }
            Class::Identity => "an input, a quotation, or arithmetic on inputs",
            Class::OwnNumber => "a value of ours that the paper does not print",
            Class::Unknowable => "the paper's text does not say enough to compare anything",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Class::Predicted => "predicted",
            Class::Bound => "bound",
            Class::TunedAssumption => "tuned-assumption",
            Class::Fitted => "fitted",
            Class::Identity => "identity",
            Class::OwnNumber => "own-number",
            Class::Unknowable => "unknowable",
        })
    }
}

/// Direction of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// The value must be below the published one.
    Below,
    /// The value must be above the published one.
    Above,
}
