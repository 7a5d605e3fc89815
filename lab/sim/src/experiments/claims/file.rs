//! A file of claims: its keys for each number.

use std::collections::BTreeSet;

use hostwire_plan::file::clip;
use hostwire_transport::visible;
use serde::{Deserialize, Serialize};

use super::super::ExperimentError;
use super::{Bound, Class};

/// The place of a number that the paper does not print.
const NOT_PRINTED: &str = "not printed";

/// One number of a paper, or one of this project that is shown with it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// As in the list of claims: T1 ... E18, with a suffix for parts.
    pub id: String,
    /// What it is.
    pub quantity: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// Section of the paper, as the paper numbers it, or `Abstract`.
    pub section: String,
    /// `text`, `table IV`, `figure 7`, or `not printed` for numbers of ours.
    pub at: String,
    /// The number, if the paper prints one.
    pub published: Option<f64>,
    /// The value of an agreement.
    pub class: Class,
    /// Why it has this class.
    pub reason: String,
    /// Rows with the same name here are one statement of the model, made several times.
    pub relation: Option<String>,
    /// Deviation allowed, in percent of the published value.
    pub tolerance_pct: Option<f64>,
    /// Instead of a tolerance, for numbers that the paper prints roundly: they are
    /// multiples of this, and the simulated value must round to the published one.
    pub rounded_to: Option<f64>,
    /// Instead of a tolerance, for limits and directions.
    pub bound: Option<Bound>,
    /// For class `fitted`: what was fitted.
    pub parameter: Option<String>,
    /// For class `tuned-assumption`: what was assumed.
    pub assumed: Option<Assumed>,
    /// Of a prediction that does not come out: what is known of it.
    pub disagrees: Option<String>,
    /// A remark for the reader.
    pub note: Option<String>,
    /// Where the number is published, if not in the file's paper.
    pub source: Option<Source>,
}

/// Another publication about the hardware of one of the papers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its title, as far as it is known here.
    pub title: String,
    /// Its authors, if they are known here.
    #[serde(default)]
    pub authors: Vec<String>,
    /// The year in which it appeared, if it is known here.
    pub year: Option<u16>,
}

/// A parameter that was assumed, and the values of it with which a row passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumed {
    /// Name of the parameter.
    pub parameter: String,
    /// Its value in the model.
    pub value: f64,
    /// Unit of the values.
    pub unit: String,
    /// Least value with which the row passes; absent if no value is too small.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_from: Option<f64>,
    /// Largest value with which the row passes; absent if no value that was tried is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes_to: Option<f64>,
}

/// The claims of one paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Name of the paper, as of its folder.
    pub paper: String,
    /// Title of the paper.
    pub title: String,
    /// Its authors, in its order; none if each number has a source of its own.
    #[serde(default)]
    pub authors: Vec<String>,
    /// The year in which it appeared.
    pub year: Option<u16>,
    /// What gives the simulated values, if not the models. Such a file may have numbers of other publications.
    pub device: Option<String>,
    /// Its numbers.
    pub claim: Vec<Claim>,
}

impl Claims {
    /// Reads a claims file.
    ///
    /// # Errors
    /// [`ExperimentError::Claims`] for files that are no claims, for unknown keys and
    /// classes, and for claims that lack what their class needs or have what it excludes.
    pub fn parse(text: &str) -> Result<Claims, ExperimentError> {
        // The message quotes the file.
        let wrong = |paper: &str, message: &str| ExperimentError::Claims {
            paper: clip(paper),
            message: visible(message),
        };
        let claims: Claims =
            toml::from_str(text).map_err(|error| wrong(&name(text), &error.to_string()))?;
        match claims.fault() {
            None => Ok(claims),
            Some(message) => Err(wrong(&claims.paper, &message)),
        }
    }

    /// Faults other than those of the form.
    fn fault(&self) -> Option<String> {
        if self.title.is_empty() {
            return Some("expected a title".to_owned());
        }
        let one_paper = !self.authors.is_empty() && self.year.is_some();
        let sources = || self.claim.iter().map(|claim| claim.source.is_some());
        let fits = match self.device {
            Some(_) => one_paper,
            None => sources().all(|has| has != one_paper),
        };
        if !fits {
            return Some(
                "expected at least one author and a year, or a source of each claim".to_owned(),
            );
        }
        let mut ids = BTreeSet::new();
        self.claim.iter().find_map(|claim| {
            if !ids.insert(&claim.id) {
                return Some(format!("{} is there twice", claim.id));
            }
            let fault = claim.fault()?;
            Some(format!("{} ({}): {fault}", claim.id, claim.class))
        })
    }
}

/// The paper's name in a file that may be wrong otherwise.
fn name(text: &str) -> String {
    let table: Option<toml::Table> = text.parse().ok();
    let paper = table
        .as_ref()
        .and_then(|table| table.get("paper")?.as_str());
    paper.unwrap_or("a file without a name").to_owned()
}

impl Claim {
    /// How many of the ways to compare it has.
    fn margins(&self) -> usize {
        let all = [
            self.tolerance_pct.is_some(),
            self.rounded_to.is_some(),
            self.bound.is_some(),
        ];
        all.into_iter().filter(|there| *there).count()
    }

    fn fault(&self) -> Option<String> {
        let required = [&self.id, &self.quantity, &self.reason];
        let mut required = required.into_iter().chain(match &self.source {
            // Talks have no sections.
            Some(source) => [&source.title],
            None => [&self.section],
        });
        if required.any(|text| text.trim().is_empty()) {
            return Some(
                "expected an id, a quantity, a section or source, and a reason".to_owned(),
            );
        }
        let printed = ["table ", "figure ", "figures "];
        let known = ["text", NOT_PRINTED].contains(&self.at.as_str());
        if !known && !printed.iter().any(|start| self.at.starts_with(start)) {
            let got = &self.at;
            return Some(format!(
                "expected at = \"text\", \"table ...\", \"figure ...\" or \"{NOT_PRINTED}\", got \"{got}\""
            ));
        }
        let margins = self.margins();
        let own = self.class == Class::OwnNumber;
        let compared =
            self.class.counts() || matches!(self.class, Class::TunedAssumption | Class::Fitted);
        let rules = [
            (
                margins > 1,
                "one of tolerance_pct, rounded_to and bound at most",
            ),
            (
                own != (self.at == NOT_PRINTED),
                "at = \"not printed\" for numbers of ours, and for no others",
            ),
            (
                own && self.published.is_some(),
                "no published value, since it is not the paper's",
            ),
            (compared && self.published.is_none(), "a published value"),
            (
                compared && margins == 0,
                "a tolerance, what it is rounded to, or a bound",
            ),
            (
                self.published.is_none() && margins > 0,
                "no tolerance and no bound, since there is nothing to compare",
            ),
            (
                self.class == Class::Unknowable && margins > 0,
                "no tolerance and no bound, since nothing is compared",
            ),
            (
                (self.class == Class::Bound) && self.bound.is_none(),
                "a bound",
            ),
            (
                self.class == Class::Predicted && self.bound.is_some(),
                "a tolerance; a limit is of class bound",
            ),
            (
                (self.class == Class::Fitted) != self.parameter.is_some(),
                "parameter for fitted numbers, and for no others",
            ),
            (
                (self.class == Class::TunedAssumption) != self.assumed.is_some(),
                "assumed for tuned assumptions, and for no others",
            ),
            (
                self.disagrees.is_some() && !self.class.counts(),
                "disagrees for predictions and bounds only",
            ),
        ];
        if let Some((_, expected)) = rules.into_iter().find(|(broken, _)| *broken) {
            return Some(format!("expected {expected}"));
        }
        self.assumed.as_ref().and_then(Assumed::fault)
    }
}

impl Assumed {
    /// Whether a row passes with `value` of the parameter, as the file says.
    pub fn passes(&self, value: f64) -> bool {
        self.passes_from.is_none_or(|from| value >= from)
            && self.passes_to.is_none_or(|to| value <= to)
    }

    fn fault(&self) -> Option<String> {
        if self.passes_from.is_none() && self.passes_to.is_none() {
            return Some(
                "expected passes_from or passes_to: an assumption without which it fails"
                    .to_owned(),
            );
        }
        (!self.passes(self.value)).then(|| {
            let (value, unit) = (self.value, &self.unit);
            format!("expected the assumed value in the range that passes, got {value} {unit}")
        })
    }

    /// As a sentence: the parameter, its value, and the range that passes.
    pub fn sentence(&self) -> String {
        let (parameter, value, unit) = (&self.parameter, self.value, &self.unit);
        let range = match (self.passes_from, self.passes_to) {
            (Some(from), Some(to)) => format!("for {from} to {to} {unit}"),
            (Some(from), None) => format!("from {from} {unit} on"),
            (None, Some(to)) => format!("up to {to} {unit}"),
            (None, None) => "always".to_owned(),
        };
        format!("assumed: {parameter}, {value} {unit}; the row passes {range}")
    }
}
