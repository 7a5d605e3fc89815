//! What some wires can do better.

use std::sync::atomic::Ordering;

use super::pe::AREA;
use super::{Fabric, run};
use crate::reach::Access;

/// Windows exist where they are declared, and what goes through them is the same as what
/// goes over the wire.
pub fn windows_are_as_declared(fabric: &dyn Fabric, pes: u32) {
    run(fabric, pes, |pe| {
        let capabilities = pe.wire.capabilities();
        assert!(!capabilities.loads || capabilities.mapped_stores);
        assert!(!capabilities.cpu_atomics || capabilities.mapped_stores);
        assert!(pe.wire.window(pe.pe).is_some(), "the own segment is mapped");
        for other in (0..pe.pes).filter(|other| *other != pe.pe) {
            let window = pe.wire.window(other);
            assert_eq!(window.is_some(), capabilities.mapped_stores, "PE {other}");
        }
        let Some(window) = pe.wire.window(pe.right()) else {
            pe.meet();
            return pe.meet();
        };
        assert_eq!(window.visibility(), capabilities.visibility);
        let len = window.memory().len_bytes();
        assert_eq!(len, pe.wire.segment().memory().len_bytes());
        window.put(AREA + 1, &[pe.pe as u8; 500]).unwrap();
        window.put_word(AREA + 1000, u64::from(pe.pe) + 1).unwrap();
        pe.until(|| pe.word(AREA + 1000) == u64::from(pe.left()) + 1);
        assert_eq!(pe.bytes(AREA + 1, 500), vec![pe.left() as u8; 500]);
        pe.meet();
        if capabilities.loads {
            let mut got = [0; 500];
            window.get(AREA + 1, &mut got).unwrap();
            assert_eq!(got, [pe.pe as u8; 500]);
            let word = window.load_word(AREA + 1000);
            assert_eq!(word, Ok(u64::from(pe.pe) + 1));
        }
        pe.meet();
    });
}

/// Where CPU atomics are declared, no update is lost, of whole words and of halves.
pub fn cpu_atomics_exclude_each_other(fabric: &dyn Fabric, pes: u32) {
    const ROUNDS: u32 = 500;
    run(fabric, pes, |pe| {
        if pe.wire.capabilities().cpu_atomics {
            for _ in 0..ROUNDS {
                for other in 0..pe.pes {
                    let window = pe.wire.window(other).unwrap();
                    let word = window.word(AREA).unwrap();
                    word.fetch_add(1 << 20, Ordering::SeqCst);
                    let half = window.half(AREA + 12).unwrap();
                    half.fetch_add(1, Ordering::SeqCst);
                    window.notify();
                }
            }
            pe.meet();
            let all = u64::from(ROUNDS * pe.pes);
            assert_eq!(pe.word(AREA), all << 20);
            assert_eq!(pe.word(AREA + 8), all << 32);
        }
        pe.meet();
    });
}

/// Where the wire has a [`crate::Reach`], it reaches the same bytes as the windows.
pub fn all_segments_are_within_reach(fabric: &dyn Fabric, pes: u32) {
    run(fabric, pes, |pe| {
        if let Some(reach) = pe.wire.reach() {
            let capabilities = pe.wire.capabilities();
            assert!(capabilities.cpu_atomics && capabilities.loads);
            let object = reach.extent::<u8>(AREA.next_multiple_of(64), 4096).unwrap();
            let at = AREA.next_multiple_of(64);
            let own = [pe.pe as u8 + 1; 100];
            for other in 0..pe.pes {
                assert_ne!(
                    object.put(other, 100 * pe.pe as usize, &own),
                    Access::OutOfReach
                );
            }
            assert_eq!(object.put(pe.pes, 0, &own), Access::OutOfReach);
            pe.meet();
            for writer in 0..pe.pes {
                let place = 100 * writer as usize;
                assert_eq!(pe.bytes(at + place, 100), vec![writer as u8 + 1; 100]);
                let mut got = [0; 100];
                assert_ne!(object.get(pe.right(), place, &mut got), Access::OutOfReach);
                assert_eq!(got, [writer as u8 + 1; 100]);
            }
        }
        pe.meet();
    });
}
