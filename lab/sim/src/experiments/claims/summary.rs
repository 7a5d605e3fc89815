//! How many numbers there are of each class, and how many of them agree.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Class, Row, Verdict};

/// Rows of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// The class.
    pub class: Class,
    /// All rows.
    pub rows: usize,
    /// Those that agree.
    pub agree: usize,
    /// Predictions that do not come out, as the claims say.
    pub disagree: usize,
    /// Numbers that fit because they were set to fit.
    pub as_set: usize,
    /// Those outside.
    pub fail: usize,
    /// Those without anything to compare, or without a value.
    pub not_compared: usize,
}

/// The result of a set of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Counts by class, in the order of [`Class::ALL`].
    pub classes: Vec<ClassCount>,
    /// Rows that agree: predicted, or within a bound.
    pub agree: usize,
    /// Statements of the models that these rows rest on: rows that share a relation are one.
    pub statements: usize,
}

impl Summary {
    /// Counts the rows of the papers, those that stand elsewhere, and those of RTL.
    pub fn apart(rows: &[Row]) -> [Summary; 3] {
        let (rtl, models): (Vec<Row>, Vec<Row>) =
            rows.iter().cloned().partition(|row| row.device.is_some());
        let (elsewhere, papers): (Vec<Row>, Vec<Row>) =
            models.into_iter().partition(|row| row.elsewhere);
        [papers, elsewhere, rtl].map(|rows| Summary::of(&rows))
    }

    /// Counts `rows`.
    pub fn of(rows: &[Row]) -> Summary {
        let classes: Vec<ClassCount> = Class::ALL.map(|class| count(class, rows)).into();
        let agreeing = rows.iter().filter(|row| row.verdict == Verdict::Agrees);
        let statements: BTreeSet<(&str, &str)> = agreeing
            .map(|row| match &row.relation {
                Some(relation) => ("relation", relation.as_str()),
                None => ("row", row.id.as_str()),
            })
            .collect();
        Summary {
            agree: classes.iter().map(|count| count.agree).sum(),
            statements: statements.len(),
            classes,
        }
    }

    /// All rows.
    pub fn rows(&self) -> usize {
        self.classes.iter().map(|count| count.rows).sum()
    }

    /// Rows that failed.
    pub fn fail(&self) -> usize {
        self.classes.iter().map(|count| count.fail).sum()
    }

    /// Predictions that do not come out, as the claims say.
    pub fn disagree(&self) -> usize {
        self.classes.iter().map(|count| count.disagree).sum()
    }
}

fn count(class: Class, rows: &[Row]) -> ClassCount {
    let own = || rows.iter().filter(|row| row.class == class);
    let with = |verdict: Verdict| own().filter(|row| row.verdict == verdict).count();
    ClassCount {
        class,
        rows: own().count(),
        agree: with(Verdict::Agrees),
        disagree: with(Verdict::Disagrees),
        as_set: with(Verdict::AsSet),
        fail: with(Verdict::Fail),
        not_compared: with(Verdict::NotCompared) + with(Verdict::NotSimulated),
    }
}
