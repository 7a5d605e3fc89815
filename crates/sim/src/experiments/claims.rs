//! Published values and verdicts.

use serde::{Deserialize, Serialize};

use super::ExperimentError;

/// What kind of statement a published number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Follows from public constants; nothing was adjusted to it.
    Derived,
    /// A parameter of the model was set from this number: no prediction.
    Fitted,
    /// The paper gives a limit.
    Bound,
    /// Configuration or a quotation, not a result.
    Context,
    /// Cannot be known from the paper.
    Undetermined,
    /// A mechanism that the paper does not describe, studied because it could explain a number:
    /// free parameters were varied, so nothing is compared.
    Studied,
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

/// One published number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// As in the list of claims: T1 ... H18, with a suffix for parts.
    pub id: String,
    /// What it is.
    pub quantity: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// The number, if there is one.
    pub published: Option<f64>,
    /// What kind of statement.
    pub class: Class,
    /// Deviation allowed, in percent of the published value.
    pub tolerance_pct: Option<f64>,
    /// Instead of a tolerance, for numbers that the paper prints roundly: they are
    /// multiples of this, and the simulated value must round to the published one.
    pub rounded_to: Option<f64>,
    /// For class `bound`.
    pub bound: Option<Bound>,
    /// For class `fitted`: what was fitted.
    pub parameter: Option<String>,
    /// Anything a reader should know.
    pub note: Option<String>,
}

/// The claims of one paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Name of the paper, as of its folder.
    pub paper: String,
    /// Its numbers.
    pub claim: Vec<Claim>,
}

/// How a simulated value compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Within the tolerance, or on the right side of the bound.
    Pass,
    /// Outside.
    Fail,
    /// There is a value but nothing to compare it with, or no value because
    /// none can be had.
    NotCompared,
    /// The experiment that yields it has not run.
    NotSimulated,
}

impl Verdict {
    /// Whether a reproduction has failed here.
    pub fn is_failure(self) -> bool {
        self == Verdict::Fail
    }
}

/// One line of a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Paper.
    pub paper: String,
    /// Claim.
    pub id: String,
    /// What it is.
    pub quantity: String,
    /// Unit of both values.
    pub unit: String,
    /// Published value.
    pub published: Option<f64>,
    /// Simulated value.
    pub simulated: Option<f64>,
    /// Simulated over published, less one, in percent; absent for bounds.
    pub deviation_pct: Option<f64>,
    /// Deviation allowed, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance_pct: Option<f64>,
    /// What both have to round to the same multiple of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded_to: Option<f64>,
    /// Direction of a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// Kind of statement.
    pub class: Class,
    /// Comparison.
    pub verdict: Verdict,
    /// What was fitted, and notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Claims {
    /// Reads a claims file.
    ///
    /// # Errors
    /// [`ExperimentError::Claims`] for files that are no claims, for unknown
    /// keys, and for claims whose class lacks what it needs.
    pub fn parse(text: &str) -> Result<Claims, ExperimentError> {
        let wrong = |paper: &str, message: String| ExperimentError::Claims {
            paper: paper.into(),
            message,
        };
        let claims: Claims = toml::from_str(text).map_err(|error| wrong("?", error.to_string()))?;
        for claim in &claims.claim {
            let lacks = match claim.class {
                Class::Fitted if claim.parameter.is_none() => "a parameter",
                Class::Bound if claim.bound.is_none() => "a bound",
                Class::Derived | Class::Fitted
                    if claim.tolerance_pct.is_none() && claim.rounded_to.is_none() =>
                {
                    "a tolerance, or what it is rounded to"
                }
                Class::Derived | Class::Fitted | Class::Bound if claim.published.is_none() => {
                    "a published value"
                }
                _ => continue,
            };
            return Err(wrong(
                &claims.paper,
                format!("{} is {:?} and needs {lacks}", claim.id, claim.class),
            ));
        }
        Ok(claims)
    }

    /// Compares simulated values with the claims, in the order of the claims.
    pub fn judge(&self, simulated: &[(&'static str, f64)]) -> Vec<Row> {
        let value_of = |id: &str| {
            simulated
                .iter()
                .find(|(name, _)| *name == id)
                .map(|(_, value)| *value)
        };
        self.claim
            .iter()
            .map(|claim| claim.judge(&self.paper, value_of(&claim.id)))
            .collect()
    }
}

impl Claim {
    fn judge(&self, paper: &str, simulated: Option<f64>) -> Row {
        let both = self.published.zip(simulated);
        let deviation_pct =
            both.filter(|_| self.class != Class::Bound)
                .map(|(published, simulated)| {
                    // A deviation smaller than this is rounding in the last digits.
                    let deviation = (simulated / published - 1.0) * 100.0;
                    if deviation.abs() < 1e-9 {
                        0.0
                    } else {
                        deviation
                    }
                });
        let verdict = match (both, self.bound, self.tolerance_pct) {
            _ if matches!(self.class, Class::Undetermined | Class::Studied) => Verdict::NotCompared,
            (None, ..) if self.class == Class::Context => Verdict::NotCompared,
            (None, ..) => Verdict::NotSimulated,
            (Some((published, simulated)), Some(bound), _) => {
                let holds = match bound {
                    Bound::Below => simulated < published,
                    Bound::Above => simulated > published,
                };
                if holds { Verdict::Pass } else { Verdict::Fail }
            }
            (Some(_), None, Some(tolerance)) => {
                let within = deviation_pct.is_some_and(|deviation| deviation.abs() <= tolerance);
                if within { Verdict::Pass } else { Verdict::Fail }
            }
            (Some((published, simulated)), None, None) => match self.rounded_to {
                Some(unit) if (simulated - published).abs() <= unit / 2.0 => Verdict::Pass,
                Some(_) => Verdict::Fail,
                None => Verdict::NotCompared,
            },
        };
        let parameter = self
            .parameter
            .as_ref()
            .map(|parameter| format!("fitted: {parameter}"));
        let rounded = self.rounded_to.map(|unit| {
            let unit = format!("{unit} {}", self.unit);
            format!("printed to {}: has to round to it", unit.trim_end())
        });
        let remarks: Vec<_> = parameter
            .into_iter()
            .chain(rounded)
            .chain(self.note.clone())
            .collect();
        Row {
            paper: paper.into(),
            id: self.id.clone(),
            quantity: self.quantity.clone(),
            unit: self.unit.clone(),
            published: self.published,
            simulated,
            deviation_pct,
            tolerance_pct: self.tolerance_pct,
            rounded_to: self.rounded_to,
            bound: self.bound,
            class: self.class,
            verdict,
            remark: (!remarks.is_empty()).then(|| remarks.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(body: &str) -> Result<Claims, ExperimentError> {
        Claims::parse(&format!(
            "paper = \"p\"\n[[claim]]\nid = \"X\"\nquantity = \"q\"\nunit = \"ns\"\n{body}"
        ))
    }

    #[test]
    fn verdicts() {
        let derived =
            claims("published = 100.0\nclass = \"derived\"\ntolerance_pct = 1.0").unwrap();
        assert_eq!(derived.judge(&[("X", 100.9)])[0].verdict, Verdict::Pass);
        assert_eq!(derived.judge(&[("X", 101.1)])[0].verdict, Verdict::Fail);
        assert_eq!(derived.judge(&[("X", f64::NAN)])[0].verdict, Verdict::Fail);
        assert_eq!(derived.judge(&[])[0].verdict, Verdict::NotSimulated);
        let rounded = claims("published = 6.0\nclass = \"derived\"\nrounded_to = 1.0").unwrap();
        assert_eq!(rounded.judge(&[("X", 6.4)])[0].verdict, Verdict::Pass);
        assert_eq!(rounded.judge(&[("X", 6.6)])[0].verdict, Verdict::Fail);
        assert_eq!(rounded.judge(&[("X", f64::NAN)])[0].verdict, Verdict::Fail);
        let remark = rounded.judge(&[])[0].remark.clone().unwrap();
        assert_eq!(remark, "printed to 1 ns: has to round to it");
        let bound = claims("published = 50.0\nclass = \"bound\"\nbound = \"below\"").unwrap();
        assert_eq!(bound.judge(&[("X", 49.0)])[0].verdict, Verdict::Pass);
        assert_eq!(bound.judge(&[("X", 50.0)])[0].verdict, Verdict::Fail);
    }

    #[test]
    fn files_are_checked() {
        assert!(
            claims("class = \"derived\"\ntolerance_pct = 1.0").is_err(),
            "no published value"
        );
        assert!(
            claims("published = 1.0\nclass = \"fitted\"\ntolerance_pct = 1.0").is_err(),
            "no parameter"
        );
        let error = claims("published = 1.0\nclass = \"context\"\ntolerance = 1.0")
            .unwrap_err()
            .to_string();
        assert!(error.contains("tolerance"), "{error}");
    }
}
