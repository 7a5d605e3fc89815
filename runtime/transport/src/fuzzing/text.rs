//! Texts that come through the launcher, the environment or the kernel.

use super::kit::{Target, blames, comes_back, named, texts};
use crate::faults::Faults;
use crate::shm::Ticket;

/// The ticket of a job.
pub(super) const TICKET: Target = Target {
    name: "ticket",
    check: |bytes| {
        if let Some(ticket) = comes_back::<Ticket>(bytes, &["launcher"]) {
            // There is only one way to write it, except for capitals.
            let text = String::from_utf8_lossy(bytes);
            assert!(ticket.eq_ignore_ascii_case(&text), "{text:?} is {ticket}");
        }
    },
    seeds: || {
        named(vec![
            ("zero", vec![b'0'; 64]),
            ("digits", b"0123456789abcdef".repeat(4)),
            ("capitals", b"0123456789ABCDEF".repeat(4)),
            ("short", vec![b'1'; 63]),
            ("signs", [&b"+"[..], &[b'1'; 63]].concat()),
        ])
    },
    cost: 1,
};

/// Faults on purpose.
pub(super) const FAULTS: Target = Target {
    name: "faults",
    check: |bytes| match String::from_utf8_lossy(bytes).parse::<Faults>() {
        Err(error) => blames(error, &["faults"]),
        Ok(Faults {
            drop,
            dup,
            reorder,
            flip,
            seed,
        }) => {
            for probability in [drop, dup, reorder, flip] {
                assert!((0.0..=1.0).contains(&probability));
            }
            let again = format!("drop={drop},dup={dup},reorder={reorder},flip={flip},seed={seed}");
            let faults = Faults {
                drop,
                dup,
                reorder,
                flip,
                seed,
            };
            assert_eq!(again.parse(), Ok(faults));
        }
    },
    seeds: || {
        texts(&[
            ("all", "drop=0.01,dup=0,reorder=0.1,flip=0,seed=7"),
            ("one", "drop=1"),
            ("twice", "drop=1,drop=0"),
            ("more_than_all", "flip=1.5"),
            ("no_number", "flip=nan"),
        ])
    },
    cost: 1,
};
