//! The memory system: fast ways against the plain one, and known values.

use std::ops::ControlFlow;

use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::models::memory::trace::{Format, Reader, replay};
use hostwire_sim::models::memory::{
    Access, AccessKind, CacheConfig, Config, Loop, Medium, MemoryError, MemorySystem, Paging,
    Placement, ProcessorKind, Region, RegionKind, Strided,
};
use proptest::prelude::*;

const GO_ON: &dyn Fn(&Summary) -> ControlFlow<()> = &|_| ControlFlow::Continue(());

fn medium(read_ns: u64, write_ns: u64) -> Medium {
    Medium {
        read: Ps::from_ns(read_ns),
        read_bytes: 8,
        write: Ps::from_ns(write_ns),
        write_bytes: 64,
    }
}

/// Four regions that cost different sums, one of them swap if `paging`.
fn regions(paging: Option<Paging>) -> Vec<Region> {
    let region = |owner: &str, kind, bytes, cost: (u64, u64)| {
        Region::new(owner, kind, bytes, medium(cost.0, cost.1))
    };
    let mut regions = vec![
        region("n0", RegionKind::Local, 1 << 20, (1, 7)),
        region("n1", RegionKind::SameBoard, 3 << 19, (10, 70)),
        region("n2", RegionKind::Remote, 1 << 20, (100, 700)),
        region("disk", RegionKind::Swap, 1 << 23, (1_000, 7_000)),
    ];
    regions[3].paging = paging;
    regions
}

fn configs() -> impl Strategy<Value = Config> {
    let caches = prop::collection::vec((1..5u64, 1..9u64, 0..3u64), 0..3);
    let processor = prop_oneof![
        Just(ProcessorKind::Blocking),
        (1..9u32).prop_map(|in_flight| ProcessorKind::Overlapped { in_flight }),
    ];
    let placement = prop_oneof![Just(Placement::Spread), Just(Placement::Contiguous)];
    let paging = prop::option::of(1..20u64);
    (3..8u32, caches, any::<bool>(), processor, placement, paging).prop_map(
        |(line_bits, caches, write_allocate, processor, placement, resident)| {
            let line_bytes = 1 << line_bits;
            let cache = |(ways, sets, hit): (u64, u64, u64)| CacheConfig {
                bytes: ways * sets * line_bytes,
                ways,
                hit: Ps(hit),
            };
            let page_bytes = 512;
            Config {
                line_bytes,
                caches: caches.into_iter().map(cache).collect(),
                write_allocate,
                processor,
                page_bytes,
                placement,
                regions: regions(resident.map(|pages| Paging {
                    resident_bytes: pages * page_bytes,
                    page_in: Ps::from_us(3),
                    page_out: Ps::from_us(2),
                })),
                transactions_per_million_lines: 1_754_340,
                events_max: u64::MAX,
            }
        },
    )
}

/// Loops over up to four arrays, mostly with equal strides: those have the short ways.
fn loops() -> impl Strategy<Value = (Vec<Strided>, u64, Ps)> {
    let access = (0..1u64 << 18, 1..20u64, any::<bool>(), 0..40u64, 0..8u32);
    let body = prop::collection::vec(access, 1..5);
    let stride = prop_oneof![Just(8u64), Just(4), Just(64), Just(24), 0..200u64];
    (body, stride, 0..1_500u64, 0..9u64).prop_map(|(body, stride, iterations, work)| {
        let strided = |(address, bytes, store, other, odd): (u64, u64, bool, u64, u32)| Strided {
            first: Access {
                address,
                bytes,
                kind: if store {
                    AccessKind::Store
                } else {
                    AccessKind::Load
                },
            },
            stride_bytes: if odd == 0 { other } else { stride },
        };
        (
            body.into_iter().map(strided).collect(),
            iterations,
            Ps(work),
        )
    })
}

/// A loop as its accesses, one by one.
fn naive(memory: &mut MemorySystem, program: &Loop<'_>) -> Result<(), MemoryError> {
    let access = |strided: &Strided, iteration: u64| Access {
        address: strided.first.address + strided.stride_bytes * iteration,
        ..strided.first
    };
    if program.iterations == 0 {
        return Ok(());
    }
    for strided in program.body {
        let last = access(strided, program.iterations - 1);
        let first = strided.first.address;
        memory.place(first, last.address + last.bytes - first)?;
    }
    for iteration in 0..program.iterations {
        memory.work(program.work);
        for strided in program.body {
            memory.access(access(strided, iteration))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// The three ways to compute a loop give the same clock, counters, caches and pages.
    #[test]
    fn loops_are_what_their_accesses_are(
        config in configs(),
        programs in prop::collection::vec(loops(), 1..4),
        events_max in prop_oneof![4 => Just(u64::MAX), 1 => 0..20_000u64],
    ) {
        let config = Config { events_max, ..config };
        let mut fast = MemorySystem::new(config.clone()).unwrap();
        let mut plain = MemorySystem::new(config).unwrap();
        for (body, iterations, work) in &programs {
            let program = Loop { body, iterations: *iterations, work: *work };
            let (ran, expected) = (fast.run(&program, GO_ON), naive(&mut plain, &program));
            prop_assert_eq!(&ran, &expected);
            if ran.is_err() {
                return Ok(());
            }
            prop_assert_eq!(fast.time(), plain.time());
            prop_assert_eq!(fast.totals(), plain.totals());
            prop_assert_eq!(fast.regions(), plain.regions());
            prop_assert_eq!(fast.state_hash(), plain.state_hash());
        }
        fast.drain();
        plain.drain();
        prop_assert_eq!(fast.time(), plain.time());
    }
}

/// Long loops leap; the plain way takes each of 400,000 accesses.
#[test]
fn long_streams_are_what_their_accesses_are() {
    for (paging, processor) in [
        (None, ProcessorKind::Blocking),
        (None, ProcessorKind::Overlapped { in_flight: 4 }),
        (
            Some(Paging {
                resident_bytes: 64 << 10,
                page_in: Ps::from_us(3),
                page_out: Ps::from_us(2),
            }),
            ProcessorKind::Blocking,
        ),
    ] {
        let config = Config {
            caches: vec![
                CacheConfig {
                    bytes: 8 << 10,
                    ways: 2,
                    hit: Ps(100),
                },
                CacheConfig {
                    bytes: 64 << 10,
                    ways: 8,
                    hit: Ps(900),
                },
            ],
            regions: regions(paging),
            processor,
            ..Config::default()
        };
        let strided = |address, kind| Strided {
            first: Access {
                address,
                bytes: 8,
                kind,
            },
            stride_bytes: 8,
        };
        let body = [
            strided(0, AccessKind::Load),
            strided(1_000_008, AccessKind::Load),
            strided(2_000_080, AccessKind::Store),
        ];
        let program = Loop {
            body: &body,
            iterations: 100_001,
            work: Ps(77),
        };
        let mut fast = MemorySystem::new(config.clone()).unwrap();
        let mut plain = MemorySystem::new(config).unwrap();
        for _ in 0..2 {
            fast.run(&program, GO_ON).unwrap();
            naive(&mut plain, &program).unwrap();
        }
        assert_eq!(fast.totals(), plain.totals());
        assert_eq!(fast.time(), plain.time());
        assert_eq!(fast.state_hash(), plain.state_hash());
    }
}

fn two_regions(processor: ProcessorKind) -> Config {
    Config {
        processor,
        regions: vec![
            Region::new("a", RegionKind::Local, 1 << 20, medium(10, 30)),
            Region::new("b", RegionKind::Remote, 1 << 20, medium(100, 300)),
        ],
        ..Config::default()
    }
}

fn load(address: u64) -> Access {
    Access {
        address,
        bytes: 8,
        kind: AccessKind::Load,
    }
}

fn store(address: u64) -> Access {
    Access {
        kind: AccessKind::Store,
        ..load(address)
    }
}

#[test]
fn a_line_is_read_in_operations_and_written_at_once() {
    let mut memory = MemorySystem::new(two_regions(ProcessorKind::Blocking)).unwrap();
    memory.access(load(0)).unwrap();
    assert_eq!(memory.time(), Ps::from_ns(8 * 10));
    memory.access(load(8192)).unwrap();
    assert_eq!(
        memory.time(),
        Ps::from_ns(80 + 800),
        "the second page is in the second region"
    );
    // A store fetches its line, and the line is not written before it has to leave.
    memory.access(store(64)).unwrap();
    assert_eq!(memory.time(), Ps::from_ns(80 + 800 + 80));
    // Five lines of one set of 2048: the first store of it leaves.
    for way in 1..=4 {
        memory.access(load(64 + way * (128 << 10))).unwrap();
    }
    assert_eq!(memory.totals().memory.writes, 1);
    let times = memory.regions().iter().map(|r| r.reads * 8 + r.writes * 3);
    let ns: u64 = times.zip([10, 100]).map(|(parts, ns)| parts * ns).sum();
    assert_eq!(memory.time(), Ps::from_ns(ns));
}

#[test]
fn overlapped_transactions_share_their_time() {
    let mut memory =
        MemorySystem::new(two_regions(ProcessorKind::Overlapped { in_flight: 2 })).unwrap();
    for line in 0..4 {
        memory.access(load(line * 64)).unwrap();
    }
    assert_eq!(
        memory.time(),
        Ps::from_ns(80),
        "two are on their way, two are over"
    );
    memory.drain();
    assert_eq!(memory.time(), Ps::from_ns(160));
}

#[test]
fn pages_come_in_once_and_dirty_ones_go_out() {
    let mut config = two_regions(ProcessorKind::Blocking);
    config.regions.remove(0);
    config.caches.clear();
    config.regions[0].paging = Some(Paging {
        resident_bytes: 2 * 8192,
        page_in: Ps::from_us(50),
        page_out: Ps::from_us(40),
    });
    let mut memory = MemorySystem::new(config).unwrap();
    for access in [
        load(0),
        store(8192),
        load(16),
        load(2 * 8192),
        load(3 * 8192),
    ] {
        memory.access(access).unwrap();
    }
    let region = memory.regions()[0];
    assert_eq!(
        (region.page_ins, region.page_outs),
        (4, 1),
        "page 1 was dirty, page 0 was not"
    );
    let accesses = Ps::from_ns(4 * 800 + 300);
    assert_eq!(memory.time(), accesses + Ps::from_us(4 * 50 + 40));
}

#[test]
fn a_program_larger_than_the_memory_is_told() {
    let mut memory = MemorySystem::new(two_regions(ProcessorKind::Blocking)).unwrap();
    memory.place(0, 2 << 20).unwrap();
    let full = MemoryError::OutOfMemory {
        pages: 256,
        page_bytes: 8192,
    };
    assert_eq!(memory.access(load(2 << 20)), Err(full.clone()));
    let body = [Strided {
        first: load(0),
        stride_bytes: u64::MAX / 4,
    }];
    let program = Loop {
        body: &body,
        iterations: 4,
        work: Ps::ZERO,
    };
    assert_eq!(memory.run(&program, GO_ON), Err(full));
    let program = Loop {
        iterations: 9,
        ..program
    };
    let ran = memory.run(&program, GO_ON);
    assert!(
        matches!(ran, Err(MemoryError::AddressRange { .. })),
        "{ran:?}"
    );
    let none = Access {
        bytes: 0,
        ..load(0)
    };
    assert!(matches!(
        memory.access(none),
        Err(MemoryError::AddressRange { .. })
    ));
}

#[test]
fn a_run_can_be_interrupted() {
    let mut memory = MemorySystem::new(Config {
        caches: Vec::new(),
        ..two_regions(ProcessorKind::Blocking)
    })
    .unwrap();
    let body = [Strided {
        first: load(0),
        stride_bytes: 0,
    }];
    let program = Loop {
        body: &body,
        iterations: u64::MAX,
        work: Ps::ZERO,
    };
    let ended = memory.run(&program, &|_| ControlFlow::Break(()));
    assert!(
        matches!(ended, Err(MemoryError::Interrupted { .. })),
        "{ended:?}"
    );
}

#[test]
fn configurations_that_cannot_be() {
    let base = || two_regions(ProcessorKind::Blocking);
    let cache = |bytes, ways| {
        vec![CacheConfig {
            bytes,
            ways,
            hit: Ps::ZERO,
        }]
    };
    let wrong: Vec<(Config, &str)> = vec![
        (
            Config {
                line_bytes: 48,
                ..base()
            },
            "line of 48",
        ),
        (
            Config {
                line_bytes: 0,
                ..base()
            },
            "line of 0",
        ),
        (
            Config {
                page_bytes: 32,
                ..base()
            },
            "page of 32",
        ),
        (
            Config {
                caches: cache(100, 1),
                ..base()
            },
            "cache 1 of 100",
        ),
        (
            Config {
                caches: cache(64, 0),
                ..base()
            },
            "0 ways",
        ),
        (
            Config {
                caches: cache(u64::MAX, 1),
                ..base()
            },
            "cache 1",
        ),
        (
            Config {
                regions: Vec::new(),
                ..base()
            },
            "0 regions",
        ),
        (
            Config {
                processor: ProcessorKind::Overlapped { in_flight: 0 },
                ..base()
            },
            "0 accesses",
        ),
    ];
    for (config, said) in wrong {
        let text = MemorySystem::new(config).unwrap_err().to_string();
        assert!(text.contains(said), "{said}: {text}");
    }
    let mut config = base();
    config.regions[1].bytes = 8191;
    let text = MemorySystem::new(config).unwrap_err().to_string();
    assert!(text.contains("region 1 of 8191"), "{text}");
    let mut config = base();
    config.regions[0].medium.read_bytes = 0;
    let text = MemorySystem::new(config).unwrap_err().to_string();
    assert!(text.contains("region 0"), "{text}");
}

fn replayed(text: &str, format: Format) -> Result<(u64, u64, Ps), String> {
    let mut memory = MemorySystem::new(two_regions(ProcessorKind::Blocking)).unwrap();
    let reader = Reader::new(text.as_bytes(), format);
    let replayed = replay(&mut memory, reader, Ps::from_ns(1), GO_ON).map_err(|e| e.to_string())?;
    Ok((replayed.accesses, replayed.instructions, memory.time()))
}

#[test]
fn both_formats_say_the_same() {
    let lackey = "==7== Lackey\nI  04016000,3\n S 1ffefff2b8,8\nI  04016003,5\n M 04222c80,4\n";
    let simple = "# the same\nwork 2\nstore 0x1ffefff2b8 8\n\nmodify 0x4222c80 4 # both\n";
    let expected = Ok((3, 2, Ps::from_ns(2 + 80 + 800)));
    assert_eq!(replayed(lackey, Format::Lackey), expected);
    assert_eq!(replayed(simple, Format::Simple), expected);
}

#[test]
fn traces_that_are_none_say_where() {
    for (text, format, said) in [
        (
            "load 0 8\nlaod 8 8\n",
            Format::Simple,
            "line 2: `laod`: expected",
        ),
        (
            "load 0",
            Format::Simple,
            "line 1: expected `load ADDRESS BYTES`",
        ),
        ("load 0 8 9", Format::Simple, "line 1: expected"),
        ("work x", Format::Simple, "line 1: `x` is no count"),
        (
            "load 0xffffffffffffffff 2",
            Format::Simple,
            "line 1: 2 bytes at 0xffff",
        ),
        ("load 0 0", Format::Simple, "line 1: 0 bytes"),
        ("load 0 99999999", Format::Simple, "line 1: 99999999 bytes"),
        (
            " L 12,8\n L zz,8",
            Format::Lackey,
            "line 2: `zz` is no hexadecimal address",
        ),
        (" L 12", Format::Lackey, "line 1: expected ADDRESS,BYTES"),
        ("hello", Format::Lackey, "line 1: `hello`: expected"),
        ("\u{1F980}", Format::Lackey, "line 1: "),
    ] {
        let wrong = replayed(text, format).unwrap_err();
        assert!(wrong.starts_with(said), "{text}: {wrong}");
    }
    let long = format!("load {:>5000} 8", 0);
    assert!(
        replayed(&long, Format::Simple)
            .unwrap_err()
            .contains("longer than 4096")
    );
    let bytes: &[u8] = b"load 0 8\nload \xff 8\n";
    let mut reader = Reader::new(bytes, Format::Simple);
    assert!(reader.next().unwrap().is_ok());
    let wrong = reader.next().unwrap().unwrap_err().to_string();
    assert_eq!(wrong, "line 2: the line is not UTF-8");
    assert!(reader.next().is_none(), "it ends there");
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        lackey in any::<bool>(),
    ) {
        let format = if lackey { Format::Lackey } else { Format::Simple };
        let _ = Reader::new(bytes.as_slice(), format).count();
    }
}
