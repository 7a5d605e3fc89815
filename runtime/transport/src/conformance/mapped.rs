//! Tests of optional capabilities.

use std::sync::atomic::Ordering;

use super::pe::{AREA, rounds};
use super::{Testbed, run};
use crate::reach::Access;
use crate::route::Route;
use crate::visibility::LINE_BYTES;
use crate::window::Window;

/// There is a route to every PE, and accesses through a window have the same results as those
/// over the wire.
pub fn routes_are_as_declared(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let own = pe.wire.route(pe.pe).unwrap();
        assert!(!own.needs_agent(), "the own segment is mapped");
        for other in 0..pe.pes {
            assert!(pe.wire.route(other).is_some(), "PE {other}");
        }
        let window = match pe.wire.route(pe.right()) {
            Some(Route::Mapped(window)) => Some(window),
            _ => None,
        };
        let value = u64::from(pe.pe) + 1;
        let bytes = [pe.pe as u8; 500];
        match &window {
            Some(window) => {
                let len = window.memory().len_bytes();
                assert_eq!(len, pe.wire.segment().memory().len_bytes());
                window.put(AREA + 1, &bytes).unwrap();
                window.put_word(AREA + 1000, value).unwrap();
            }
            None => {
                pe.wire.store(pe.right(), AREA + 1, &bytes).unwrap();
                pe.wire.store_word(pe.right(), AREA + 1000, value).unwrap();
            }
        }
        pe.until(|| pe.word(AREA + 1000) == u64::from(pe.left()) + 1);
        assert_eq!(pe.bytes(AREA + 1, 500), vec![pe.left() as u8; 500]);
        pe.meet();
        if let Some(window) = window.filter(Window::allows_loads) {
            let mut got = [0; 500];
            window.get(AREA + 1, &mut got).unwrap();
            assert_eq!(got, bytes);
            assert_eq!(window.load_word(AREA + 1000), Ok(value));
        }
        pe.meet();
    });
}

/// Where a window allows CPU atomics, no update of a whole word or a half is lost.
pub fn cpu_atomics_exclude_each_other(fabric: &dyn Testbed, pes: u32) {
    const ROUNDS: u32 = rounds(500) as u32;
    /// Where the counters of a PE lie: a whole word, and behind it halves. A line has one writer.
    const BYTES: usize = LINE_BYTES;
    run(fabric, pes, |pe| {
        let routes = (0..pe.pes).filter_map(|other| pe.wire.route(other));
        let windows = routes.filter_map(|route| route.window().cloned());
        let windows: Vec<Window> = windows.filter(Window::allows_atomics).collect();
        for _ in 0..ROUNDS {
            for window in &windows {
                let word = window.word(AREA).unwrap();
                word.fetch_add(1 << 20, Ordering::SeqCst);
                let half = window.half(AREA + 12).unwrap();
                half.fetch_add(1, Ordering::SeqCst);
                window.notify();
            }
        }
        // The PEs that have done so here.
        for other in 0..pe.pes {
            let is_counted = pe
                .wire
                .route(other)
                .is_some_and(|route| route.window().is_some_and(Window::allows_atomics));
            let at = AREA + BYTES + pe.pe as usize * LINE_BYTES;
            pe.wire.store_word(other, at, is_counted.into()).unwrap();
        }
        pe.meet();
        let counted = (0..pe.pes as usize).map(|from| pe.word(AREA + BYTES + from * LINE_BYTES));
        let all = u64::from(ROUNDS) * counted.sum::<u64>();
        assert_eq!(pe.word(AREA), all << 20);
        assert_eq!(pe.word(AREA + 8), all << 32);
        pe.meet();
    });
}

/// Where the wire has a [`crate::Reach`], it reaches the same bytes as the windows, and this PE
/// is in it.
pub fn what_is_within_reach_is_mapped(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let at = AREA.next_multiple_of(64);
        let own = [pe.pe as u8 + 1; 100];
        let reach = pe.wire.reach();
        let near = reach.map_or(pe.pe..pe.pe + 1, |reach| reach.pes());
        if let Some(reach) = reach {
            assert!(near.contains(&pe.pe) && near.end <= pe.pes);
            let object = reach.extent::<u8>(at, 4096).unwrap();
            for other in 0..=pe.pes {
                let access = object.put(other, 100 * pe.pe as usize, &own);
                assert_eq!(access == Access::OutOfReach, !near.contains(&other));
                let is_mapped = pe
                    .wire
                    .route(other)
                    .is_some_and(|route| !route.needs_agent());
                assert!(!near.contains(&other) || is_mapped, "PE {other}");
            }
        }
        pe.meet();
        if let Some(reach) = reach {
            let object = reach.extent::<u8>(at, 4096).unwrap();
            for writer in near.clone() {
                let place = 100 * writer as usize;
                assert_eq!(pe.bytes(at + place, 100), vec![writer as u8 + 1; 100]);
                for other in near.clone() {
                    let mut got = [0; 100];
                    assert_ne!(object.get(other, place, &mut got), Access::OutOfReach);
                    assert_eq!(got, [writer as u8 + 1; 100]);
                }
            }
        }
        pe.meet();
    });
}
