//! A parameter: its bounds, the source of its default, and the value that it changes.

use hostwire_plan::file::{BANDWIDTH, Findings, Quantity, SIZE, Section, TIME, display_bytes};
use hostwire_plan::{Diagnostic, diagnostic::Located};
use serde::Serialize;

use super::parameters::Models;

/// Where a default comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Printed in the paper or in public documentation.
    Published,
    /// Follows from published numbers.
    Derived,
    /// Measured by others on the hardware.
    Measured,
    /// Set so that one published number comes out; it predicts nothing.
    Fitted,
    /// A guess.
    Assumed,
}

/// A parameter with the value of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterValue {
    /// Key in `[parameters]`.
    pub key: &'static str,
    /// Its value, with unit.
    pub value: String,
    /// The value without the file, with unit.
    pub default: String,
    /// Where the default comes from.
    pub class: Origin,
    /// The value is not the default.
    pub overridden: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Time,
    Bandwidth,
    Bytes,
    Count,
    /// Buffers that credits stand for.
    Credits,
}

impl Kind {
    fn quantity(self) -> Option<&'static Quantity> {
        match self {
            Kind::Time => Some(&TIME),
            Kind::Bandwidth => Some(&BANDWIDTH),
            Kind::Bytes => Some(&SIZE),
            Kind::Count | Kind::Credits => None,
        }
    }

    fn display(self, value: u64) -> String {
        match self {
            Kind::Time => decimal(value, 1_000, "ns"),
            Kind::Bandwidth => decimal(value / 1_000_000, 1_000, "GB/s"),
            Kind::Bytes => display_bytes(value),
            Kind::Count | Kind::Credits => value.to_string(),
        }
    }
}

/// Thousandths without trailing zeros.
fn decimal(value: u64, scale: u64, unit: &str) -> String {
    let fraction = format!("{:03}", value % scale);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}{unit}", value / scale)
}

pub(super) struct Parameter {
    pub(super) key: &'static str,
    pub(super) kind: Kind,
    pub(super) least: u64,
    pub(super) most: u64,
    pub(super) class: Origin,
    pub(super) read: fn(&Models) -> u64,
    pub(super) write: fn(&mut Models, u64),
}

impl Parameter {
    /// Takes the value that `section` has for it, if there is one.
    pub(super) fn set(&self, models: &mut Models, section: &mut Section<'_>, out: &mut Findings) {
        if let Some(value) = self.value(section, out) {
            (self.write)(models, value);
        }
    }

    /// Its value in `models`, and its default.
    pub(super) fn shown(&self, models: &Models, default: &Models) -> ParameterValue {
        let (value, usual) = ((self.read)(models), (self.read)(default));
        ParameterValue {
            key: self.key,
            value: self.kind.display(value),
            default: self.kind.display(usual),
            class: self.class,
            overridden: value != usual,
        }
    }

    fn value(&self, section: &mut Section<'_>, out: &mut Findings) -> Option<u64> {
        let (least, most) = (self.least, self.most);
        let Some(quantity) = self.kind.quantity() else {
            let value = section.count(self.key, 0, most, out)?;
            if value.value < least {
                self.refuse(&value, out);
                return None;
            }
            return Some(value.value);
        };
        let value = section.quantity(self.key, quantity, out)?;
        if !(least..=most).contains(&value.value) {
            self.refuse(&value, out);
            return None;
        }
        Some(value.value)
    }

    fn refuse(&self, value: &Located<u64>, out: &mut Findings) {
        let [least, most] = [self.least, self.most].map(|bound| self.kind.display(bound));
        let refused = match self.kind {
            Kind::Credits => Diagnostic::error(
                "no-credit",
                format!(
                    "`{}` of {} keeps packets of that channel waiting for ever",
                    self.key, value.value
                ),
            )
            .label(value.span, format!("expected {least} to {most}"))
            .note("a link sends a packet only into buffers that the other end has announced"),
            _ => Diagnostic::error("value", format!("`{}` is out of range", self.key))
                .label(value.span, format!("expected {least} to {most}")),
        };
        out.push(refused.help(format!("use {least} to {most}")));
    }
}

/// A time: `time!("switch", htea.timing.switch, 0, TIME_MAX, Published)` is the field
/// `htea.timing.switch` of [`Models`], from 0 to `TIME_MAX` picoseconds.
macro_rules! time {
    ($key:expr, $($field:ident).+, $least:expr, $most:expr, $class:ident) => {
        $crate::experiments::file::parameter::Parameter {
            key: $key,
            kind: $crate::experiments::file::parameter::Kind::Time,
            least: $least,
            most: $most,
            class: $crate::experiments::file::parameter::Origin::$class,
            read: |models| models.$($field).+.0,
            write: |models, value| models.$($field).+ = $crate::engine::Ps(value),
        }
    };
}
pub(super) use time;

/// An integer of any type, as [`time!`]; the bounds are within those of its type.
macro_rules! number {
    ($kind:ident, $key:expr, $($field:ident).+, $least:expr, $most:expr, $class:ident) => {
        $crate::experiments::file::parameter::Parameter {
            key: $key,
            kind: $crate::experiments::file::parameter::Kind::$kind,
            least: $least,
            most: $most,
            class: $crate::experiments::file::parameter::Origin::$class,
            read: |models| models.$($field).+ as u64,
            write: |models, value| models.$($field).+ = value as _,
        }
    };
}
pub(super) use number;
