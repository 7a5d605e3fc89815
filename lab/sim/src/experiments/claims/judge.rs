//! Compares simulated values with the claims.

use serde::Serialize;

use super::{Assumed, Bound, Claim, Claims, Class};

/// How a simulated value compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A prediction within its tolerance, or a value on the right side of a limit.
    Agrees,
    /// A prediction that does not come out, which the claims already say.
    Disagrees,
    /// Within its tolerance because it is an input, fitted or assumed. This is no
    /// agreement.
    AsSet,
    /// Outside of its tolerance, and the claims do not say so: the model or the claims
    /// are wrong.
    Fail,
    /// There is nothing to compare the value with, or there can be no value.
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
    /// Paper, by the name of its folder.
    pub paper: String,
    /// Title of the paper.
    pub title: String,
    /// Its authors.
    pub authors: Vec<String>,
    /// The year in which it appeared; of a source that is cited without one, none.
    pub year: Option<u16>,
    /// Whether the number is published outside of the five papers. Such rows are counted apart.
    pub elsewhere: bool,
    /// What gave the simulated value, if not the models. Such rows are counted apart too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Section of the paper.
    pub section: String,
    /// Table, figure or text; `not printed` for a number of ours.
    pub at: String,
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
    /// Both numbers have to round to the same multiple of this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded_to: Option<f64>,
    /// Direction of a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// The value of an agreement.
    pub class: Class,
    /// Why it has this class.
    pub reason: String,
    /// Rows of the same relation are one statement, made several times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The assumed parameter, and its values with which the row passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed: Option<Assumed>,
    /// Comparison.
    pub verdict: Verdict,
    /// The fitted or assumed parameter, the known reason of a disagreement, and notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Row {
    /// First author and year, section, and table or figure.
    pub fn place(&self) -> String {
        let name = match &self.authors[..] {
            [] => format!("\"{}\"", self.title),
            [first, others @ ..] => {
                let name = first.rsplit(' ').next().unwrap_or(first);
                let others = if others.is_empty() { "" } else { " et al." };
                format!("{name}{others}")
            }
        };
        let year = self.year.map(|year| format!(" {year}")).unwrap_or_default();
        let section = match self.section.as_str() {
            "" => String::new(),
            "Abstract" => ", abstract".to_owned(),
            section => format!(", section {section}"),
        };
        match self.at.as_str() {
            "text" => format!("{name}{year}{section}"),
            at => format!("{name}{year}{section}, {at}"),
        }
    }
}

impl Claims {
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
            .map(|claim| claim.judge(self, value_of(&claim.id)))
            .collect()
    }
}

impl Claim {
    fn judge(&self, paper: &Claims, simulated: Option<f64>) -> Row {
        let both = self.published.zip(simulated);
        let deviation_pct = both
            .filter(|_| self.bound.is_none())
            .map(|(published, simulated)| {
                // A deviation smaller than this is rounding in the last digits.
                let deviation = (simulated / published - 1.0) * 100.0;
                if deviation.abs() < 1e-9 {
                    0.0
                } else {
                    deviation
                }
            });
        let (title, authors, year) = match &self.source {
            Some(source) => (&source.title, &source.authors, source.year),
            None => (&paper.title, &paper.authors, paper.year),
        };
        Row {
            paper: paper.paper.clone(),
            title: title.clone(),
            authors: authors.clone(),
            year,
            elsewhere: self.source.is_some(),
            device: paper.device.clone(),
            section: self.section.clone(),
            at: self.at.clone(),
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
            reason: self.reason.clone(),
            relation: self.relation.clone(),
            assumed: self.assumed.clone(),
            verdict: self.verdict(simulated),
            remark: self.remark(),
        }
    }

    fn verdict(&self, simulated: Option<f64>) -> Verdict {
        let Some(simulated) = simulated else {
            return match self.class {
                // Quotations, and what is shown in pictures only, have no value of ours.
                Class::Identity | Class::Unknowable => Verdict::NotCompared,
                _ => Verdict::NotSimulated,
            };
        };
        if matches!(self.class, Class::OwnNumber | Class::Unknowable) {
            return Verdict::NotCompared;
        }
        match (self.fits(simulated), self.class.counts(), &self.disagrees) {
            (None, ..) => Verdict::NotCompared,
            (Some(true), true, None) => Verdict::Agrees,
            (Some(false), true, Some(_)) => Verdict::Disagrees,
            (Some(true), false, _) => Verdict::AsSet,
            // Also a number that comes out although the claims say that it does not.
            (Some(_), ..) => Verdict::Fail,
        }
    }

    /// Whether a value is within the tolerance, or on the right side; `None` if there is
    /// nothing to compare it with.
    fn fits(&self, simulated: f64) -> Option<bool> {
        let published = self.published?;
        let bound = self.bound.map(|bound| match bound {
            Bound::Below => simulated < published,
            Bound::Above => simulated > published,
        });
        let tolerance = self
            .tolerance_pct
            .map(|pct| ((simulated / published - 1.0) * 100.0).abs() <= pct);
        let rounded = self
            .rounded_to
            .map(|unit| (simulated - published).abs() <= unit / 2.0);
        bound.or(tolerance).or(rounded)
    }

    fn remark(&self) -> Option<String> {
        let parameter = self.parameter.as_ref();
        let rounded = self.rounded_to.map(|unit| {
            let unit = format!("{unit} {}", self.unit);
            format!("printed to {}: has to round to it", unit.trim_end())
        });
        let remarks = [
            parameter.map(|parameter| format!("fitted: {parameter}")),
            self.assumed.as_ref().map(Assumed::sentence),
            self.disagrees.clone(),
            rounded,
            self.note.clone(),
        ];
        let remarks: Vec<_> = remarks.into_iter().flatten().collect();
        (!remarks.is_empty()).then(|| remarks.join("; "))
    }
}
