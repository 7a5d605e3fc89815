//! `[calls]`: what calls of programs cost.

use hostwire_plan::Diagnostic;
use hostwire_plan::file::{Findings, Section, TIME};

use crate::wire::CallCosts;

/// A second: no call takes longer.
const COST_MAX_PS: u64 = 1_000_000_000_000;

/// Reads the table, if there is one.
pub(super) fn read(section: Option<Section<'_>>, out: &mut Findings) -> CallCosts {
    let Some(mut section) = section else {
        return CallCosts::default();
    };
    let mut cost = |key| {
        let time = section.quantity(key, &TIME, out)?;
        if time.value > COST_MAX_PS {
            out.push(
                Diagnostic::error("value", format!("`{key}` is out of range"))
                    .label(time.span, "expected at most 1000ms")
                    .help("it is the time of a processor for one call"),
            );
        }
        Some(time.value)
    };
    let costs = CallCosts {
        store_ps: cost("store").unwrap_or_default(),
        fence_ps: cost("fence").unwrap_or_default(),
        look_ps: cost("look").unwrap_or_default(),
    };
    section.finish(out);
    costs
}
