//! The names of wires, from the table that the settings have.

use hostwire::settings::WireName;
use pyo3::prelude::*;

/// The wires that go through network interfaces: the name of each, and whether it sends what it carries as it is,
/// so that `hostwire run` wants `--insecure-wire`.
#[pyfunction]
pub(crate) fn network_wires() -> Vec<(&'static str, bool)> {
    let wires = WireName::ALL.into_iter().filter(|wire| wire.is_network());
    wires
        .map(|wire| (wire.name(), wire.wants_insecure()))
        .collect()
}
