//! `tidy.toml`: which arrows are allowed, and what is excepted from which rule, and why.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::Finding;
use crate::Error;

/// The name of the table, at the root of the tree.
pub(super) const FILE: &str = "tidy.toml";

/// What `tidy.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// By the name of the package: which packages of the tree it may use.
    #[serde(default)]
    pub(super) crates: BTreeMap<Spanned<String>, Arrows>,
    /// By the folder of a product: which products its code may use besides itself.
    #[serde(default)]
    pub(super) products: BTreeMap<Spanned<String>, Vec<Spanned<String>>>,
    /// By the folder of a crate: its modules in layers.
    #[serde(default)]
    pub(super) modules: BTreeMap<Spanned<String>, Layers>,
    #[serde(default, rename = "exception")]
    exceptions: Vec<Spanned<Exception>>,
    /// The file itself, for lines.
    #[serde(skip)]
    text: String,
}

/// The packages of the tree that a package may use.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arrows {
    /// In its code and its build script.
    #[serde(default)]
    pub(super) uses: Vec<Spanned<String>>,
    /// In its tests only.
    #[serde(default)]
    pub(super) tests_use: Vec<Spanned<String>>,
}

/// The modules at the root of a crate, the lowest layer first. A module may use those of
/// the layers below its own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Layers {
    pub(super) layers: Vec<Vec<Spanned<String>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    rule: String,
    /// A file or folder below the root.
    at: PathBuf,
    /// What of it: functions, arrows, words. All of it if nothing is said.
    #[serde(default)]
    what: Vec<Spanned<String>>,
    reason: String,
}

impl Exception {
    /// Whether it is for this one, by the name `what` or by any.
    fn is_for(&self, finding: &Finding, what: Option<&str>) -> bool {
        self.rule == finding.rule
            && finding.file.starts_with(&self.at)
            && what.is_none_or(|what| what == finding.what)
    }

    fn excepts(&self, finding: &Finding) -> bool {
        match self.what.as_slice() {
            [] => self.is_for(finding, None),
            names => names
                .iter()
                .any(|name| self.is_for(finding, Some(name.get_ref()))),
        }
    }
}

impl Table {
    pub(super) fn load(root: &Path) -> Result<Self, Error> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        let problem = |error: toml::de::Error| Error::Argument(format!("{FILE}: {error}"));
        let mut table: Self = toml::from_str(&text).map_err(problem)?;
        table.text = text;
        Ok(table)
    }

    /// The line of something in the table.
    pub(super) fn line<T>(&self, of: &Spanned<T>) -> usize {
        let before = self.text.get(..of.span().start).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    /// A finding in the table itself.
    pub(super) fn finding<T>(
        &self,
        of: &Spanned<T>,
        rule: &'static str,
        text: impl Into<String>,
    ) -> Finding {
        Finding {
            file: FILE.into(),
            line: self.line(of),
            rule,
            what: String::new(),
            text: text.into(),
        }
    }

    /// The findings without an exception, and the exceptions without a finding.
    pub(super) fn without_exceptions(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut useless = Vec::new();
        for exception in &self.exceptions {
            let Exception { what, reason, .. } = exception.get_ref();
            let is_needed = |what: Option<&str>| {
                findings
                    .iter()
                    .any(|found| exception.get_ref().is_for(found, what))
            };
            if reason.trim().is_empty() {
                let text = "an exception without a reason: say why";
                useless.push(self.finding(exception, "exception", text));
            }
            if what.is_empty() && !is_needed(None) {
                let text = "this exception is not needed any more: remove it";
                useless.push(self.finding(exception, "exception", text));
            }
            for name in what.iter().filter(|name| !is_needed(Some(name.get_ref()))) {
                let text = format!(
                    "the exception for `{}` is not needed any more: remove it",
                    name.get_ref()
                );
                useless.push(self.finding(name, "exception", text));
            }
        }
        let is_excepted = |found: &Finding| {
            let mut exceptions = self.exceptions.iter().map(Spanned::get_ref);
            exceptions.any(|exception| exception.excepts(found))
        };
        let left = findings.into_iter().filter(|found| !is_excepted(found));
        left.chain(useless).collect()
    }
}
