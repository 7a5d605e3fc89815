//! Newcomers under loom: a ring comes into being while both of a pair, and a third PE, begin.

use std::convert::Infallible;

use loom::sync::Arc;

use super::*;
use crate::sync::AtomicU64;

/// The words of an owner, and a line of the ring of each other.
struct Owner {
    words: Vec<AtomicU64>,
    lines: [AtomicU64; 2],
}

impl Owner {
    fn new(pes: u32) -> Self {
        let count = Newcomers::bytes(pes) / WORD_BYTES;
        Self {
            words: (0..count).map(|_| AtomicU64::new(0)).collect(),
            lines: [AtomicU64::new(0), AtomicU64::new(0)],
        }
    }

    fn store(&self, at: usize, value: u64) -> Result<(), Infallible> {
        self.words[at / WORD_BYTES].store(value, Ordering::Release);
        Ok(())
    }

    /// As a sender does: it tells that it begins, and then stores a line.
    fn begin(&self, newcomers: Newcomers, (pe, line): (PeId, usize)) {
        let Ok(()) = newcomers.say(pe, |at, value| self.store(at, value));
        self.lines[line].store(1, Ordering::Release);
    }

    fn look(&self, newcomers: Newcomers, found: &mut Vec<PeId>) {
        let load = |at: usize| Ok(self.words[at / WORD_BYTES].load(Ordering::Acquire));
        let store = |at, value| self.store(at, value);
        let Ok(()) = newcomers.look(load, store, |pe| {
            if !found.contains(&pe) {
                found.push(pe);
            }
        });
    }
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(check);
}

/// Two PEs begin while the owner takes words back: of the same group, or not. Neither is missed.
fn two_begin(pes: u32, others: [PeId; 2]) {
    model(move || {
        let owner = Arc::new(Owner::new(pes));
        let newcomers = Newcomers::new(0, pes);
        let begin = |line: usize| {
            let (owner, pe) = (Arc::clone(&owner), others[line]);
            loom::thread::spawn(move || owner.begin(newcomers, (pe, line)))
        };
        let both = [begin(0), begin(1)];
        let mut found = Vec::new();
        owner.look(newcomers, &mut found);
        for one in both {
            one.join().unwrap();
        }
        owner.look(newcomers, &mut found);
        found.sort_unstable();
        assert_eq!(found, others);
    });
}

#[test]
fn two_of_a_group_begin() {
    two_begin(2, [0, 1]);
}

#[test]
fn two_of_different_groups_begin() {
    two_begin(GROUP as u32 + 1, [0, GROUP as u32]);
}

/// Both of a pair begin at the same time: each finds the other, and then its line.
#[test]
fn both_of_a_pair_begin() {
    model(|| {
        let owners = [0, 1].map(|_| Arc::new(Owner::new(2)));
        let newcomers = Newcomers::new(0, 2);
        let pe = |own: usize| {
            let owners = owners.clone();
            move || {
                let other = 1 - own;
                owners[other].begin(newcomers, (own as PeId, own));
                let mut found = Vec::new();
                while found.is_empty() {
                    owners[own].look(newcomers, &mut found);
                    loom::thread::yield_now();
                }
                assert_eq!(found, [other as PeId]);
                while owners[own].lines[other].load(Ordering::Acquire) == 0 {
                    loom::thread::yield_now();
                }
            }
        };
        let first = loom::thread::spawn(pe(0));
        pe(1)();
        first.join().unwrap();
    });
}
