//! A parameter: its bounds, the source of its default, and the value that it changes.

use std::borrow::Cow;

use hostwire_plan::file::{
    BANDWIDTH, FREQUENCY, Findings, LENGTH, Quantity, RATE, SIZE, Section, TIME, display_bytes,
    display_inches,
};
use hostwire_plan::{Diagnostic, diagnostic::Located};
use serde::Serialize;

use crate::models::pcie::{LANES, RATES_MT_S};

use super::parameters::Models;
use super::read_tca::ENGINES;

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
    /// Key in `[parameters]`; behind the name of its table, if it is in a table there.
    pub key: Cow<'static, str>,
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
    /// Of a trace or a cable.
    Length,
    /// A power of two of bytes.
    Block,
    Clock,
    /// Of a lane of PCI Express.
    Rate,
    /// Of PCI Express.
    Lanes,
    Count,
    /// Buffers that credits stand for.
    Credits,
    /// A DMA controller of a PEACH2 chip.
    Engine,
}

impl Kind {
    fn quantity(self) -> Option<&'static Quantity> {
        match self {
            Kind::Time => Some(&TIME),
            Kind::Bandwidth => Some(&BANDWIDTH),
            Kind::Bytes | Kind::Block => Some(&SIZE),
            Kind::Length => Some(&LENGTH),
            Kind::Clock => Some(&FREQUENCY),
            Kind::Rate => Some(&RATE),
            Kind::Lanes | Kind::Count | Kind::Credits | Kind::Engine => None,
        }
    }

    /// What it can be within its bounds, if that is not everything.
    fn choices(self) -> Option<Vec<u64>> {
        match self {
            Kind::Block => Some((0..64).map(|bit| 1 << bit).collect()),
            Kind::Rate => Some(RATES_MT_S.map(u64::from).to_vec()),
            Kind::Lanes => Some(LANES.map(u64::from).to_vec()),
            _ => None,
        }
    }

    fn display(self, value: u64) -> String {
        match self {
            Kind::Time => decimal(value, 1_000, "ns"),
            Kind::Bandwidth => decimal(value / 1_000_000, 1_000, "GB/s"),
            Kind::Bytes | Kind::Block => display_bytes(value),
            // Configurations are told apart by the values that are shown.
            Kind::Length if value.is_multiple_of(254) => display_inches(value),
            Kind::Length => decimal(value, 1_000, "mm"),
            Kind::Clock => format!("{value}MHz"),
            Kind::Rate => decimal(value, 1_000, "GT/s"),
            Kind::Lanes | Kind::Count | Kind::Credits => value.to_string(),
            Kind::Engine => {
                let engine = ENGINES.get(usize::try_from(value).unwrap_or(0));
                engine.map_or("?", |(name, _)| name).to_owned()
            }
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
            key: self.key.into(),
            value: self.kind.display(value),
            default: self.kind.display(usual),
            class: self.class,
            overridden: value != usual,
        }
    }

    fn value(&self, section: &mut Section<'_>, out: &mut Findings) -> Option<u64> {
        let value = match self.kind.quantity() {
            None if matches!(self.kind, Kind::Engine) => {
                let numbered = [0, 1].map(|index: usize| (ENGINES[index].0, index as u64));
                section.choice(self.key, &numbered, out)?
            }
            Some(quantity) => section.quantity(self.key, quantity, out)?,
            None => section.count(self.key, 0, self.most, out)?,
        };
        let choices = self.kind.choices();
        let is_choice = choices.is_none_or(|choices| choices.contains(&value.value));
        if !is_choice || !(self.least..=self.most).contains(&value.value) {
            self.refuse(&value, out);
            return None;
        }
        Some(value.value)
    }

    /// What it can be, for messages.
    fn expected(&self) -> String {
        let [least, most] = [self.least, self.most].map(|bound| self.kind.display(bound));
        let Some(choices) = self.kind.choices() else {
            return format!("{least} to {most}");
        };
        let allowed = choices.into_iter();
        let allowed = allowed.filter(|choice| (self.least..=self.most).contains(choice));
        let allowed: Vec<String> = allowed.map(|choice| self.kind.display(choice)).collect();
        format!("one of {}", allowed.join(", "))
    }

    fn refuse(&self, value: &Located<u64>, out: &mut Findings) {
        let expected = self.expected();
        let refused = match self.kind {
            Kind::Credits => Diagnostic::error(
                "no-credit",
                format!(
                    "`{}` of {} keeps packets of that channel waiting for ever",
                    self.key, value.value
                ),
            )
            .label(value.span, format!("expected {expected}"))
            .note("a link sends a packet only into buffers that the other end has announced"),
            _ if self.kind.choices().is_some() => {
                let what = format!(
                    "`{}` cannot be {}",
                    self.key,
                    self.kind.display(value.value)
                );
                Diagnostic::error("value", what).label(value.span, format!("expected {expected}"))
            }
            _ => Diagnostic::error("value", format!("`{}` is out of range", self.key))
                .label(value.span, format!("expected {expected}")),
        };
        out.push(refused.help(format!("use {expected}")));
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
