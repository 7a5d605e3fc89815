//! Registered memory and offloaded operations, where the wire has them.

use hostwire_address::{Place, SegmentId};

use super::pe::{AREA, Pe, rounds, run};
use super::{Random, Testbed};
use crate::error::PeId;
use crate::memory::Memory;
use crate::operation::{Operation, Request};
use crate::route::Route;
use crate::window::Window;

const LEN: usize = 4096;
const FLAG: usize = AREA;

fn segment(number: u16) -> SegmentId {
    SegmentId::new(number).unwrap()
}

fn place(number: u16, offset: usize) -> usize {
    let place = Place::Registered(segment(number), offset as u64);
    place.offset().unwrap() as usize
}

/// Registers memory of this PE.
fn registered(pe: &Pe, number: u16) -> Memory {
    let memory = Memory::anonymous(LEN);
    let window = Window::registered(memory.clone());
    pe.wire.register(segment(number), &window).unwrap();
    memory
}

/// Stores to registered memory of a PE arrive, in the order of stores to its segment.
pub fn registered_memory_is_stored_to(fabric: &dyn Testbed, pes: u32) {
    const NUMBERS: [u16; 2] = [3, 700];
    run(fabric, pes, |pe| {
        let memories = NUMBERS.map(|number| registered(pe, number));
        pe.meet();
        let right = pe.right();
        let reaches = pe.wire.registered_route(right, segment(3)).is_some();
        let mut random = Random::new(9);
        for round in 1..=rounds(20) {
            for number in NUMBERS {
                let len = random.below(300);
                let at = random.below(LEN - len);
                let bytes = vec![round as u8; len];
                if reaches {
                    pe.wire.store(right, place(number, at), &bytes).unwrap();
                }
            }
            if reaches {
                let value = round << 32;
                pe.wire.store_word(right, place(3, 8), value).unwrap();
            }
            let flag = round << 1 | u64::from(reaches);
            pe.wire.store_word(right, FLAG, flag).unwrap();
            pe.until(|| pe.word(FLAG) >> 1 >= round);
            if pe.word(FLAG) & 1 == 1 {
                let mut word = [0; 8];
                memories[0].copy_out(8, &mut word).unwrap();
                assert_eq!(u64::from_ne_bytes(word), round << 32, "round {round}");
            }
            pe.meet();
        }
        for number in NUMBERS {
            pe.wire.unregister(segment(number));
        }
        pe.meet();
    });
}

fn is_offloaded(route: Option<Route>) -> bool {
    matches!(route, Some(Route::Offloaded))
}

/// An offloaded operation comes after earlier stores, is done when it returns, and is atomic
/// with respect to those of others.
pub fn offloaded_operations_are_done(fabric: &dyn Testbed, pes: u32) {
    const COUNTER: usize = AREA + 320;
    run(fabric, pes, |pe| {
        registered(pe, 3);
        pe.meet();
        let target = pe.right();
        let offloads = |other| other != pe.pe && is_offloaded(pe.wire.route(other));
        if offloads(target) {
            gets_and_atomics(pe, target, AREA + 64);
            if is_offloaded(pe.wire.registered_route(target, segment(3))) {
                gets_and_atomics(pe, target, place(3, 64));
            }
        }
        pe.meet();
        let others = (0..pe.pes).filter(|other| offloads(*other));
        for other in others.clone() {
            for _ in 0..20 {
                atomic(pe, other, (Operation::Add, 1, 0), COUNTER);
            }
        }
        pe.meet();
        assert_eq!(pe.word(COUNTER), 20 * others.count() as u64);
        pe.meet();
        pe.wire.unregister(segment(3));
    });
}

fn gets_and_atomics(pe: &Pe, target: PeId, at: usize) {
    let wire = pe.wire.offload().expect("what its routes say");
    let bytes: Vec<u8> = (0..200).map(|byte| byte ^ pe.pe as u8).collect();
    pe.wire.store(target, at, &bytes).unwrap();
    let mut got = vec![0; 200];
    wire.get(target, at, &mut got).unwrap();
    assert_eq!(got, bytes);
    atomic(pe, target, (Operation::Swap, 5, 0), at);
    assert_eq!(atomic(pe, target, (Operation::Add, 7, 0), at), 5);
    assert_eq!(atomic(pe, target, (Operation::CompareSwap, 1, 12), at), 12);
    assert_eq!(atomic(pe, target, (Operation::Fetch, 0, 0), at), 1);
}

fn atomic(
    pe: &Pe,
    target: PeId,
    (operation, operand, compare): (Operation, u64, u64),
    at: usize,
) -> u64 {
    let wire = pe.wire.offload().expect("what its routes say");
    let request = Request {
        operation,
        offset_bytes: at,
        operand_bytes: 8,
        operand,
        compare,
    };
    wire.atomic(target, request).unwrap()
}
