//! What the HT-Core does with errors: it reports each, logs it, and floods the link with Sync where software wants that.

mod common;

use common::{LINKS, bench, figure, name};
use hostwire_rtl_harness::ht::BringUp as _;
use hostwire_rtl_harness::ht::bench::{Bench, Fault};
use hostwire_rtl_harness::ht::partner::Wrong;
use hostwire_rtl_harness::ht::{Options, Width};
use hostwire_rtl_harness::random::Random;

const CRC_FLOOD: u32 = 1 << 1;
const FORCE_CRC_ERROR: u32 = 1 << 3;
const LINK_FAIL: u32 = 1 << 4;

fn fault(random: &mut Random, wide: bool) -> Fault {
    let lanes = if wide { 17 } else { 9 };
    let bit = random.below(lanes) as u32;
    Fault {
        after: random.below(3000),
        bit: if u64::from(bit) == lanes - 1 { 16 } else { bit },
    }
}

/// A flipped bit is never a wrong packet that nobody hears of.
#[test]
fn each_flipped_bit_is_reported() {
    for (width, wide) in LINKS {
        let (mut crc, mut protocol) = (0, 0);
        for seed in 0..60 {
            let Some(mut bench) = bench(&Options::new(width, wide, seed)) else {
                return;
            };
            let mut random = Random::new(seed);
            let mut faults = vec![fault(&mut random, wide.0)];
            if seed % 3 == 0 {
                // A burst.
                for _ in 0..4 {
                    faults.push(Fault {
                        after: random.below(3),
                        ..fault(&mut random, wide.0)
                    });
                }
            }
            let reported = bench.traffic_with(&faults);
            let reported = reported
                .unwrap_or_else(|failure| panic!("{}, seed {seed}: {failure}", name(width, wide)));
            crc += u64::from(reported.crc != 0);
            protocol += u64::from(reported.protocol);
        }
        figure(&format!(
            "faults | {} | 60 reported: {crc} by CRC, {protocol} by protocol",
            name(width, wide)
        ));
    }
}

/// CTL that changes inside a dword is seen at once, not only by the CRC.
#[test]
fn a_flipped_ctl_is_reported_at_once() {
    for (width, wide) in LINKS {
        for after in 0..24 {
            let Some(mut bench) = bench(&Options::new(width, wide, after)) else {
                return;
            };
            bench.partner.flips.push_back((after, 16));
            bench.let_pass(30);
            assert!(bench.reported.protocol, "{}, {after}", name(width, wide));
        }
    }
}

fn flooded(bench: &mut Bench) -> bool {
    bench.let_pass(300);
    let before = bench.partner.syncs;
    bench.let_pass(100);
    bench.core.chip.is_broken() && bench.partner.syncs > before
}

/// The log is there after the reset that the flood makes necessary.
#[test]
fn a_crc_error_floods_and_is_logged() {
    for (width, wide) in LINKS {
        for flood in [false, true] {
            let Some(mut bench) = bench(&Options::new(width, wide, 7)) else {
                return;
            };
            let widths = u32::from(wide.0) << 24 | u32::from(wide.1) << 28;
            bench
                .write_register(0x44, widths | if flood { CRC_FLOOD } else { 0 })
                .unwrap();
            // In a CRC there is no packet that could be wrong.
            let lane = u32::from(wide.0);
            bench.flip_in_crc(8 * lane + 3);
            let reported = bench.traffic_until_reported().unwrap();
            assert_eq!(
                (reported.crc, reported.protocol),
                (1 << lane, false),
                "{}",
                name(width, wide)
            );
            assert_eq!(flooded(&mut bench), flood);
            bench.reset(false, wide).unwrap();
            bench.configure().unwrap();
            let logged = 0x100 << lane;
            let control = bench.read_register(0x44).unwrap() & 0xffff;
            assert_eq!(control, 0x20 | logged | if flood { LINK_FAIL } else { 0 });
            bench
                .write_register(0x44, widths | logged | LINK_FAIL)
                .unwrap();
            assert_eq!(bench.read_register(0x44).unwrap() & 0xffff, 0x20);
            bench.traffic(500).unwrap();
        }
    }
}

#[test]
fn sync_is_passed_on() {
    for (width, wide) in LINKS {
        let Some(mut bench) = bench(&Options::new(width, wide, 8)) else {
            return;
        };
        bench.traffic(200).unwrap();
        bench.partner.flood();
        assert!(flooded(&mut bench));
        bench.reset(false, wide).unwrap();
        bench.configure().unwrap();
        assert_eq!(
            bench.read_register(0x54),
            Ok(1 << 24),
            "the chain has failed"
        );
        bench.write_register(0x54, 1 << 24).unwrap();
        assert_eq!(bench.read_register(0x54), Ok(0));
        bench.traffic(200).unwrap();
    }
}

#[test]
fn the_partner_sees_a_forced_error() {
    for (width, wide) in LINKS {
        let Some(mut bench) = bench(&Options::new(width, wide, 9)) else {
            return;
        };
        let widths = u32::from(wide.0) << 24 | u32::from(wide.1) << 28;
        bench
            .write_register(0x44, widths | FORCE_CRC_ERROR)
            .unwrap();
        let wrong = bench.let_pass(300);
        assert!(wrong.contains(&Wrong::Crc(0)));
        assert_eq!(wrong.contains(&Wrong::Crc(1)), wide.1);
        assert!(
            wrong.iter().all(|wrong| matches!(wrong, Wrong::Crc(_))),
            "{wrong:?}"
        );
    }
}

#[test]
fn a_partner_without_credit_is_reported() {
    let Some(mut bench) = bench(&Options::new(Width::Sixteen, (true, true), 10)) else {
        return;
    };
    bench.user.readiness.take = 0;
    bench.partner.cheat();
    let reported = bench.traffic_until_reported().unwrap();
    assert!(reported.overflow && reported.crc == 0);
    bench.reset(false, (true, true)).unwrap();
    assert_eq!(bench.read_register(0x4c), Ok(0x0005_2040));
}
