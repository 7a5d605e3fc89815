//! Two accesses that race, and the names of their routines.

use std::collections::HashMap;

use super::access::{Access, Kind};

/// Two accesses without an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Finding {
    /// A byte that both touch, in the segment of its owner; or an address of private memory.
    pub(super) offset: usize,
    pub(super) before: Access,
    /// Whether the PE of `access` knows that `before` was begun.
    pub(super) is_begun_before: bool,
    pub(super) access: Access,
}

impl Finding {
    /// The same for each time that these two places race.
    pub(super) fn pair(&self) -> u64 {
        let of = |access: &Access| [access.place, kind_number(access.kind)];
        let (mut a, mut b) = (of(&self.before), of(&self.access));
        if b < a {
            core::mem::swap(&mut a, &mut b);
        }
        let numbers = a.into_iter().chain(b);
        super::hash(numbers)
    }
}

fn kind_number(kind: Kind) -> u64 {
    match kind {
        Kind::Load | Kind::Get | Kind::Source | Kind::NbiSource => 0,
        Kind::CollectiveRead(_) => 1,
        Kind::CollectiveWrite(_) => 2,
        Kind::AtomicRead(_) | Kind::Atomic(_) => 3,
        Kind::SignalSet | Kind::SignalAdd => 4,
        Kind::Lock => 5,
        Kind::Free => 6,
        _ => 7,
    }
}

/// Names of routines that others have sent, by number.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Names {
    pub(super) fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        // There are fewer routines; any other number of a peer counts as the last one.
        if self.names.len() >= usize::from(u16::MAX) {
            return u16::MAX;
        }
        let number = self.names.len() as u16;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
    }

    pub(super) fn name(&self, number: u16) -> &str {
        let name = self.names.get(usize::from(number));
        name.map_or("an unknown routine", String::as_str)
    }
}
