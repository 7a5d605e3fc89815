//! Initialisation and configuration space of the HT-Core.

mod common;

use common::{LINKS, bench, name};
use hostwire_packet::ht::{ResponseRepr, ResponseStatus};
use hostwire_rtl_harness::ht::BringUp as _;
use hostwire_rtl_harness::ht::bench::{BAR0, UNIT};
use hostwire_rtl_harness::ht::bring_up::config_packet;
use hostwire_rtl_harness::ht::packets::{Source, Targets};
use hostwire_rtl_harness::ht::{Options, Width};
use hostwire_rtl_harness::random::Random;

#[test]
fn the_core_tells_of_all_its_buffers() {
    for (width, wide) in LINKS {
        let Some(mut bench) = bench(&Options::new(width, wide, 1)) else {
            return;
        };
        for _ in 0..200 {
            bench.clock().unwrap();
        }
        assert_eq!(bench.partner.told, [[32, 32]; 3]);
    }
}

/// Also while the core sends without a break, so that no NOP is due for itself.
#[test]
fn one_free_buffer_is_told_of_soon() {
    for (width, wide) in LINKS {
        let mut options = Options::new(width, wide, 6);
        options.buffers = Some(200);
        let Some(mut bench) = bench(&options) else {
            return;
        };
        let mut source = Source::new(Random::new(1), UNIT - 1, false);
        bench.partner.change(40, 0);
        for clock in 0..400 {
            while bench.user.outbox[0].len() < 3 {
                bench.user.outbox[0].push_back(source.packet(0, Targets::Anywhere));
            }
            if clock == 250 {
                bench.partner.outbox[2].push_back(source.packet(2, Targets::Anywhere));
            }
            bench.clock().unwrap();
            for (packet, _) in std::mem::take(&mut bench.partner.inbox) {
                bench.partner.free(&packet);
            }
        }
        assert_eq!(
            bench.partner.granted(),
            [[32; 2]; 3],
            "{}",
            name(width, wide)
        );
    }
}

#[test]
fn the_header() {
    let Some(mut bench) = bench(&Options::new(Width::Eight, (false, false), 2)) else {
        return;
    };
    assert_eq!(bench.core.chip.settings(), (UNIT.into(), true, 0));
    assert_eq!(bench.read_register(0x00), Ok(0x0001_1022));
    assert_eq!(bench.read_register(0x04), Ok(0x0010_0006));
    assert_eq!(bench.read_register(0x08), Ok(0x0280_0000));
    assert_eq!(bench.read_register(0x34), Ok(0x40));
    assert_eq!(bench.read_register(0x3c), Ok(0), "reserved");
    // Sizes are what stays zero.
    assert_eq!(bench.read_register(0x10), Ok(BAR0.0 as u32 | 0xc));
    for at in [0x10, 0x14, 0x18, 0x1c] {
        bench.write_register(at, u32::MAX).unwrap();
    }
    assert_eq!(bench.read_register(0x10), Ok(0xfff0_000c));
    assert_eq!(bench.read_register(0x14), Ok(u32::MAX));
    assert_eq!(bench.read_register(0x18), Ok(0xffff_f00c));
    assert_eq!(bench.read_register(0x1c), Ok(u32::MAX));
}

#[test]
fn the_capability() {
    for (width, max) in [(Width::Eight, 0x00), (Width::Sixteen, 0x11)] {
        let Some(mut bench) = bench(&Options::new(width, (false, false), 3)) else {
            return;
        };
        assert_eq!(
            bench.read_register(0x40),
            Ok(0x0020_0008 | u32::from(UNIT) << 16)
        );
        assert_eq!(
            bench.read_register(0x44),
            Ok(max << 16 | 0x20),
            "initialised, no error"
        );
        assert_eq!(bench.read_register(0x48), Ok(0x7777_00c0), "no second link");
        assert_eq!(
            bench.read_register(0x4c),
            Ok(0x0005_0040),
            "200 and 400 MHz"
        );
        bench.write_register(0x54, 0x0003_abcd).unwrap();
        assert_eq!(bench.read_register(0x54), Ok(0x0003_abcd));
    }
}

/// What software writes takes effect with the next reset of the link, and power clears it.
#[test]
fn width_and_frequency_are_negotiated() {
    let Some(mut bench) = bench(&Options::new(Width::Sixteen, (false, false), 4)) else {
        return;
    };
    bench.write_register(0x44, 0x1100_0000).unwrap();
    bench.write_register(0x4c, 0x0000_0200).unwrap();
    assert_eq!(bench.read_register(0x44), Ok(0x1111_0020));
    assert_eq!(bench.core.chip.settings().2, 0);
    bench.traffic(500).unwrap();
    bench.reset(false, (true, true)).unwrap();
    assert_eq!(bench.core.chip.settings().2, 2);
    assert_eq!(bench.read_register(0x44), Ok(0x1111_0020));
    assert_eq!(bench.read_register(0x10), Ok(0xc), "reset");
    bench.configure().unwrap();
    bench.traffic(500).unwrap();
    bench.reset(true, (false, false)).unwrap();
    assert_eq!(bench.core.chip.settings().2, 0);
    assert_eq!(bench.read_register(0x44), Ok(0x0011_0020));
}

#[test]
fn others_are_aborted() {
    let Some(mut bench) = bench(&Options::new(Width::Eight, (false, false), 5)) else {
        return;
    };
    let mut status = |unit: u8, at: u64, value| {
        let answer = bench.ask(config_packet(unit, at, value).unwrap()).unwrap();
        ResponseRepr::parse(&answer.bytes).unwrap().status
    };
    assert_eq!(status(UNIT, 0, None), ResponseStatus::Normal);
    assert_eq!(status(UNIT + 1, 0, None), ResponseStatus::MasterAbort);
    assert_eq!(status(UNIT + 1, 0x10, Some(7)), ResponseStatus::MasterAbort);
    assert_eq!(
        status(UNIT, 1 << 8, None),
        ResponseStatus::MasterAbort,
        "another function"
    );
    assert_eq!(
        status(UNIT, 1 << 24, None),
        ResponseStatus::MasterAbort,
        "behind a bridge"
    );
    assert_eq!(
        bench.read_register(0x10),
        Ok(BAR0.0 as u32 | 0xc),
        "not written"
    );
}
