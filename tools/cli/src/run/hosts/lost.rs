//! Hosts that are lost, and those behind them with them.

use std::time::Instant;

use hostwire_bootstrap::starter::BEAT;

use super::super::pipe::Which;
use super::link::{Link, Stage};
use super::{Event, FAIL_TOGETHER, Hosts, Loss};

/// The most names of hosts in a line.
const NAMES_MAX: usize = 4;

impl Hosts {
    /// Nothing more is expected of a host, and of those behind it.
    pub(super) fn lose(&mut self, index: usize, why: String) -> Vec<Event> {
        let behind = self.behind(index);
        let Some(link) = self.links.get(index).filter(|link| !link.is_over()) else {
            return Vec::new();
        };
        let stage = link.stage;
        let loss = Loss {
            host: link.name.clone(),
            first: link.first,
            pes: link.pes() + &self.and_behind(&behind),
            why,
            has_run: self.has_started,
        };
        let mut events = Vec::new();
        if !self.has_started {
            self.failed.push(loss);
            self.fail_at = self.fail_at.or(Some(Instant::now() + FAIL_TOGETHER));
        } else if stage != Stage::Swept {
            // One that has swept has done all it had to.
            events.push(Event::Lost(loss));
        }
        for index in behind.into_iter().chain([index]) {
            let Some(link) = self.links.get_mut(index) else {
                continue;
            };
            link.cut();
            if !self.has_started {
                continue;
            }
            for (pe, state) in (link.first as usize..).zip(&link.states) {
                state.borrow_mut().give_up();
                events.push(Event::Output(pe, Which::Stdout));
                events.push(Event::Output(pe, Which::Stderr));
            }
        }
        if self.has_started {
            events.push(Event::Ended);
        }
        events
    }

    /// All hosts that are reached through this one and not over, the nearest first.
    pub(super) fn behind(&self, index: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![index];
        while let Some(link) = open.pop().and_then(|index| self.links.get(index)) {
            open.extend(&link.behind);
            found.extend(&link.behind);
        }
        let is_over = |index: &usize| self.links.get(*index).is_none_or(Link::is_over);
        found.retain(|index| !is_over(index));
        found
    }

    /// The hosts that are lost with another one, in words.
    fn and_behind(&self, behind: &[usize]) -> String {
        let links = || behind.iter().filter_map(|index| self.links.get(*index));
        let pes: u32 = links().map(|link| link.count).sum();
        let pes = match pes {
            1 => "1 PE".to_owned(),
            pes => format!("{pes} PEs"),
        };
        let names: Vec<&str> = links().map(|link| link.name.as_str()).collect();
        match &names[..] {
            [] => String::new(),
            few if few.len() <= NAMES_MAX => {
                format!(", and with it {} behind it with {pes}", few.join(", "))
            }
            many => format!(", and with it {} hosts behind it with {pes}", many.len()),
        }
    }

    /// If a host has been silent for too long: the host that is to blame, which may be on the way to it, and its seconds.
    pub(super) fn silence(&self, index: usize, now: Instant) -> Option<(usize, u64)> {
        let of = |index: usize| self.links.get(index)?.silence(now);
        of(index).filter(|silence| *silence >= self.lost_after)?;
        let mut blamed = index;
        while let Some((parent, _)) = self.links.get(blamed)?.parent {
            if of(parent).is_none_or(|silence| silence < BEAT * 2) {
                break;
            }
            blamed = parent;
        }
        Some((blamed, of(blamed)?.as_secs()))
    }
}
