//! Mistakes of the caller.

use super::pe::AREA;
use super::{Testbed, run};
use crate::error::TransportError::{self, Misaligned, NoSuchPe, OutOfRange};

/// A PE, a place or an alignment that does not exist is the documented error, and
/// nothing is stored.
pub fn bad_arguments_store_nothing(fabric: &dyn Testbed, pes: u32) {
    run(fabric, pes, |pe| {
        let (wire, to) = (&pe.wire, pe.right());
        let end = wire.segment().memory().len_bytes();
        let clean = vec![0xaa; end - AREA];
        wire.segment().put(AREA, &clean).unwrap();
        pe.meet();

        for nobody in [pe.pes, u32::MAX] {
            let expected = Err(NoSuchPe {
                pe: nobody,
                pes: pe.pes,
            });
            assert_eq!(wire.store(nobody, AREA, &[1]), expected);
            assert_eq!(wire.store_word(nobody, AREA, 1), expected);
            assert_eq!(wire.store_line(nobody, AREA, 1, &[1]), expected);
            assert!(wire.route(nobody).is_none());
        }
        let out = |result: Result<(), TransportError>| matches!(result, Err(OutOfRange { .. }));
        for (at, len) in [
            (end, 1),
            (end - 1, 2),
            (end + 1, 0),
            (0, end + 1),
            (usize::MAX, 1),
            (usize::MAX - 7, 8),
        ] {
            assert!(out(wire.store(to, at, &vec![1; len])), "{len} at {at}");
        }
        for at in [end, end + 8, usize::MAX - 7] {
            assert!(out(wire.store_word(to, at, 1)), "{at}");
        }
        for at in [end, end + 64, usize::MAX - 63] {
            assert!(out(wire.store_line(to, at, 1, &[1])), "{at}");
        }
        for len in [57, 64, 1000] {
            let payload = vec![1; len];
            assert!(out(wire.store_line(to, AREA + 64, 1, &payload)), "{len}");
        }
        for off in 1..8 {
            let got = wire.store_word(to, AREA + off, 1);
            assert!(matches!(got, Err(Misaligned { .. })), "{off}: {got:?}");
        }
        for off in [1, 8, 32, 63] {
            let got = wire.store_line(to, AREA + off, 1, &[1]);
            assert!(matches!(got, Err(Misaligned { .. })), "{off}: {got:?}");
        }
        // An empty range is valid everywhere up to the end.
        assert_eq!(wire.store(to, end, &[]), Ok(()));
        pe.meet();
        assert!(pe.bytes(AREA, clean.len()) == clean);
        pe.meet();
    });
}
