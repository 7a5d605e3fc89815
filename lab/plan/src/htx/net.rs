//! What a file describes, as devices and cables that exist.

use super::{Cable, Host, Region, Switch};
use crate::diagnostic::Span;
use crate::spec::{Policy, RouteSpec};

/// Devices and cables, not yet with routes.
pub(crate) struct Net {
    pub hosts: Vec<Host>,
    /// Where each host is described.
    pub host_spans: Vec<Span>,
    pub switches: Vec<Switch>,
    pub cables: Vec<Cable>,
    pub regions: Vec<Region>,
    /// For each host the number of its node, and what others may use of its memory.
    pub lenders: Vec<(usize, Lendable)>,
    /// Where each cable is described.
    pub cable_spans: Vec<Span>,
    pub policy: Policy,
    pub routes: Vec<RouteSpec>,
}

/// The part of a host's memory that others may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lendable {
    pub first: u64,
    pub end: u64,
    /// What lies around it.
    pub around: &'static str,
}
