//! Faults of stores, on any wire.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{COUNTER, Dice, Faults};
use crate::error::{PeId, TransportError};
use crate::wire::Wire;
use crate::wrap::{Stage, Store, Wrapped};

/// A wrapper around a wire. Stores to other PEs meet [`Faults`].
///
/// - `reorder` holds a store back until the next one to the same PE has been made, but never
///   beyond a fence, a quiet or a `store_word`, and not while this PE waits. A wire may do so:
///   programs must not see a difference.
/// - `dup` makes a store twice, one right after the other, and then a fence. Without the fence a
///   later store to the same place could pass the second copy. It leaves single words alone: the
///   target may have written another word there before the second copy comes. Here too programs
///   must not see a difference.
/// - `drop` loses a store and `flip` changes one bit of it. **This breaks the promise of a
///   wire**: the program misses stores or reads wrong ones. It may end with an error, compute
///   something wrong, or wait for ever.
pub type Faulty = Wrapped<FaultyStores>;

/// The stage of [`Faulty`].
#[derive(Debug)]
pub struct FaultyStores {
    state: Mutex<FaultState>,
}

#[derive(Debug)]
struct FaultState {
    dice: Dice,
    /// By PE: a store that later ones go before.
    held: BTreeMap<PeId, Store<'static>>,
    /// Faults that stores have met.
    met: u64,
}

impl Faulty {
    /// Around `wire`.
    ///
    /// # Errors
    /// As [`Wrapped::around`].
    pub fn new(wire: Arc<dyn Wire>, faults: Faults) -> Result<Self, TransportError> {
        let stage = FaultyStores {
            state: Mutex::new(FaultState {
                dice: Dice::new(faults, wire.pe()),
                held: BTreeMap::new(),
                met: 0,
            }),
        };
        Self::around(wire, stage)
    }

    /// Faults that stores have met.
    pub fn met(&self) -> u64 {
        self.stage().lock().met
    }
}

impl FaultyStores {
    fn lock(&self) -> MutexGuard<'_, FaultState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FaultState {
    /// Makes the store to `pe` that was held back, if there is one.
    fn let_out(&mut self, wire: &dyn Wire, pe: PeId) -> Result<(), TransportError> {
        let held = self.held.remove(&pe);
        held.map_or(Ok(()), |store| store.send(wire, pe))
    }

    /// As [`let_out`](Self::let_out), to all PEs; the first error when all have been tried.
    fn let_all_out(&mut self, wire: &dyn Wire) -> Result<(), TransportError> {
        let mut all = Ok(());
        while let Some((pe, store)) = self.held.pop_first() {
            all = all.and(store.send(wire, pe));
        }
        all
    }
}

/// The lock is held while the wire stores, so a word that waits for it comes after the stores
/// that another thread makes.
impl Stage for FaultyStores {
    fn store(&self, wire: &dyn Wire, pe: PeId, mut store: Store<'_>) -> Result<(), TransportError> {
        let mut state = self.lock();
        if store.is_ordered() {
            state.let_out(wire, pe)?;
        }
        let fate = state.dice.roll();
        if fate.drop {
            state.met += 1;
            return Ok(());
        }
        if fate.flip {
            state.met += 1;
            store = store.changed(|bytes| fate.change_a_bit(bytes));
        }
        if fate.reorder && !state.held.contains_key(&pe) {
            state.held.insert(pe, store.into_owned());
            state.met += 1;
            return Ok(());
        }
        store.send(wire, pe)?;
        if fate.dup && !store.is_awaited() {
            state.met += 1;
            let _ = store.send(wire, pe).and_then(|()| wire.fence_of(pe));
        }
        // The error belongs to an earlier store. Other operations find a lost PE.
        let _ = state.let_out(wire, pe);
        Ok(())
    }

    fn settle(&self, wire: &dyn Wire, pe: Option<PeId>) -> Result<(), TransportError> {
        let mut state = self.lock();
        match pe {
            Some(pe) => state.let_out(wire, pe),
            None => state.let_all_out(wire),
        }
    }

    fn look(&self, wire: &dyn Wire) {
        // The thread that has the lock is storing; no need to wait for it.
        if let Ok(mut state) = self.state.try_lock() {
            let _ = state.let_all_out(wire);
        }
    }

    fn tally(&self) -> Vec<(String, u64)> {
        let [(name, _)] = COUNTER;
        vec![(name.to_owned(), self.lock().met)]
    }
}

#[cfg(test)]
mod tests {
    use crate::wire::{Bell, Clock, Counting, Lifetime, PerTarget};
    use core::time::Duration;
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::wrap::log::{Asked, Log};

    const AT: usize = 8192;

    fn faulty(faults: &str, pes: u32) -> (Faulty, Arc<Log>) {
        let log = Arc::new(Log::new(pes));
        let wire = Faulty::new(Arc::clone(&log) as _, faults.parse().unwrap()).unwrap();
        (wire, log)
    }

    fn stored(pe: PeId, store: Store<'static>) -> Asked {
        Asked::Store(pe, store)
    }

    fn bytes(byte: u8) -> Store<'static> {
        Store::bytes(AT, &[0; 16]).changed(|bytes| bytes.fill(byte))
    }

    #[test]
    fn without_faults_all_goes_as_it_came() {
        let (wire, log) = faulty("seed=3", 2);
        wire.store(1, AT, &[1; 16]).unwrap();
        wire.store_word(1, AT, 7).unwrap();
        wire.store_line(1, AT, 9, b"line").unwrap();
        let expected = [bytes(1), Store::word(AT, 7), Store::line(AT, 9, b"line")];
        assert_eq!(log.take(), expected.map(|store| stored(1, store)));
        assert_eq!(wire.met(), 0);
        assert_eq!(wire.tally(), [("faults injected".to_owned(), 0)]);
    }

    #[test]
    fn a_store_waits_for_the_next_one_to_the_same_pe() {
        let (wire, log) = faulty("reorder=1", 3);
        wire.store(1, AT, &[1; 16]).unwrap();
        wire.store(2, AT, &[2; 16]).unwrap();
        assert_eq!(log.take(), []);
        wire.store(1, AT, &[3; 16]).unwrap();
        let expected = [(1, 3), (1, 1)].map(|(pe, byte)| stored(pe, bytes(byte)));
        assert_eq!(log.take(), expected);
        wire.poll().unwrap();
        assert_eq!(log.take(), [stored(2, bytes(2))]);
        assert_eq!(wire.tally(), [("faults injected".to_owned(), 2)]);
    }

    #[test]
    fn nothing_waits_beyond_what_orders_it() {
        let orders: [fn(&Faulty); 10] = [
            |wire| wire.fence().unwrap(),
            |wire| wire.fence_of(1).unwrap(),
            |wire| wire.quiet().unwrap(),
            |wire| wire.quiet_of(1).unwrap(),
            |wire| wire.store_word(1, AT, 7).unwrap(),
            |wire| drop(wire.poll()),
            |wire| assert!(wire.arm(Duration::ZERO) <= Duration::ZERO),
            |wire| wire.nap(Duration::ZERO),
            |wire| wire.yield_now(),
            |wire| wire.finish(),
        ];
        for (index, order) in orders.iter().enumerate() {
            let (wire, log) = faulty("reorder=1", 3);
            wire.store(1, AT, &[1; 16]).unwrap();
            order(&wire);
            assert_eq!(log.take().first(), Some(&stored(1, bytes(1))), "{index}");
        }
        let (wire, log) = faulty("reorder=1", 3);
        wire.store(1, AT, &[1; 16]).unwrap();
        drop(wire);
        assert_eq!(log.take(), [stored(1, bytes(1))]);
    }

    #[test]
    fn words_come_once_and_all_else_twice_before_what_is_next() {
        let (wire, log) = faulty("dup=1", 2);
        let line = || Store::line(AT, 9, b"line");
        wire.store(1, AT, &[1; 16]).unwrap();
        wire.store(1, AT, &[1; 8]).unwrap();
        wire.store_word(1, AT, 7).unwrap();
        wire.store_line(1, AT, 9, b"line").unwrap();
        let once = |store| stored(1, store);
        let fence = || Asked::Fence(Some(1));
        let expected = [
            once(bytes(1)),
            once(bytes(1)),
            fence(),
            once(Store::bytes(AT, &[1; 8])),
            once(Store::word(AT, 7)),
            once(line()),
            once(line()),
            fence(),
        ];
        assert_eq!(log.take(), expected);
        assert_eq!(wire.met(), 2);
    }

    #[test]
    fn some_are_lost_and_of_some_one_bit_is_changed() {
        let (wire, log) = faulty("drop=0.25,seed=5", 2);
        for _ in 0..4000 {
            wire.store(1, AT, &[1; 16]).unwrap();
        }
        assert_eq!(log.take().len() as u64, 4000 - wire.met());
        assert!((800..1200).contains(&wire.met()), "{}", wire.met());

        let (wire, log) = faulty("flip=1", 2);
        for _ in 0..100 {
            wire.store(1, AT, &[0; 16]).unwrap();
            wire.store_word(1, AT, 0).unwrap();
            wire.store_line(1, AT, 0, &[0; 56]).unwrap();
        }
        for asked in log.take() {
            let Asked::Store(1, store) = asked else {
                panic!("{asked:?}");
            };
            let mut ones = 0;
            store.changed(|bytes| ones = bytes.iter().map(|byte| byte.count_ones()).sum());
            assert_eq!(ones, 1);
        }
        assert_eq!(wire.met(), 300);
    }

    #[test]
    fn what_cannot_be_stored_is_refused_at_once() {
        let (wire, log) = faulty("reorder=1,drop=0.5", 2);
        let end = wire.segment().memory().len_bytes();
        assert!(wire.store(1, end, &[1]).is_err());
        assert!(wire.store(2, AT, &[1]).is_err());
        assert!(wire.store_word(1, AT + 4, 1).is_err());
        assert!(wire.store_line(1, AT, 1, &[1; 57]).is_err());
        wire.poll().unwrap();
        assert_eq!((log.take(), wire.met()), (vec![], 0));
    }

    #[derive(Debug, Clone, Copy)]
    enum Op {
        Bytes(PeId),
        Word(PeId),
        Line(PeId),
        Fence(Option<PeId>),
        Poll,
    }

    fn op() -> impl Strategy<Value = Op> {
        let pe = 1..3_u32;
        prop_oneof![
            4 => pe.clone().prop_map(Op::Bytes),
            1 => pe.clone().prop_map(Op::Word),
            3 => pe.clone().prop_map(Op::Line),
            1 => prop::option::of(pe).prop_map(Op::Fence),
            1 => Just(Op::Poll),
        ]
    }

    /// A requested store, with its number, and how many fences to its target came before it.
    struct Issued {
        pe: PeId,
        epoch: u64,
        is_word: bool,
    }

    /// The number in a store of the test below.
    fn number(store: &Store<'static>) -> usize {
        let mut number = 0;
        store.clone().changed(|bytes| {
            number = u64::from_ne_bytes(*bytes.first_chunk().unwrap());
        });
        number as usize
    }

    proptest! {
        /// All requested stores arrive, in an order that is legal for a wire.
        #[test]
        fn order_is_that_of_a_wire(ops in prop::collection::vec(op(), 1..80), seed: u64) {
            let (wire, log) = faulty(&format!("reorder=0.6,dup=0.3,seed={seed}"), 3);
            let mut issued: Vec<Issued> = Vec::new();
            let mut arrived: Vec<usize> = Vec::new();
            let mut epochs: HashMap<PeId, u64> = HashMap::new();
            for op in ops {
                let value = issued.len() as u64;
                let mut issue = |pe, is_word| {
                    let epoch = *epochs.entry(pe).or_default();
                    issued.push(Issued { pe, epoch, is_word });
                };
                match op {
                    Op::Bytes(pe) => {
                        wire.store(pe, AT, &[value.to_ne_bytes(), [0; 8]].concat()).unwrap();
                        issue(pe, false);
                    }
                    Op::Word(pe) => {
                        wire.store_word(pe, AT, value).unwrap();
                        issue(pe, true);
                    }
                    Op::Line(pe) => {
                        wire.store_line(pe, AT, value, b"behind it").unwrap();
                        issue(pe, false);
                    }
                    Op::Fence(pe) => {
                        match pe {
                            Some(pe) => wire.fence_of(pe).unwrap(),
                            None => wire.fence().unwrap(),
                        }
                        for pe in pe.map_or(1..3, |pe| pe..pe + 1) {
                            *epochs.entry(pe).or_default() += 1;
                        }
                    }
                    Op::Poll => drop(wire.poll().unwrap()),
                }
                for asked in log.take() {
                    if let Asked::Store(pe, store) = asked {
                        prop_assert_eq!(pe, issued[number(&store)].pe);
                        arrived.push(number(&store));
                    }
                }
                if matches!(op, Op::Poll | Op::Fence(None)) {
                    let seen = (0..issued.len()).all(|number| arrived.contains(&number));
                    prop_assert!(seen, "something is still held: {:?}", arrived);
                }
            }
            for (place, later) in arrived.iter().enumerate() {
                let copies = arrived.iter().filter(|other| *other == later).count();
                prop_assert!(copies == 1 || copies == 2 && !issued[*later].is_word);
                // Stores that arrive after this one but were requested before it.
                for earlier in arrived[place + 1..].iter().filter(|other| *other < later) {
                    let (earlier, later) = (&issued[*earlier], &issued[*later]);
                    let may_pass = earlier.pe != later.pe
                        || earlier.epoch == later.epoch && !later.is_word;
                    prop_assert!(may_pass, "{:?}", arrived);
                }
            }
        }
    }
}
