//! Puts of programs on hosts with PEACH2 chips: which way they go, and how long they take.

use std::cell::RefCell;
use std::sync::Arc;

use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::sub_clusters::SubClusters;
use hostwire_sim::models::link::Damage;
use hostwire_sim::tca::{Chain, Config, Device, DeviceAddress, Engine, Puts, Stride};
use hostwire_sim::wire::{Settings, VirtualWire, run};
use hostwire_transport::{Block, BlockSource, ChainLimits, Wire};

const SEGMENT_BYTES: usize = 4 << 20;
const NEVER: u64 = u64::MAX;

/// A ring of hosts whose puts go by this controller from so many bytes on.
fn ring(pes_per_node: usize, dma_from_bytes: u64, engine: Engine) -> SubClusters {
    SubClusters {
        pes_per_node,
        config: Config {
            puts: Puts {
                dma_from_bytes,
                engine,
            },
            ..Config::default()
        },
        ..SubClusters::default()
    }
}

/// What `program` returns on each PE.
fn on<R: Clone>(
    ring: &SubClusters,
    pes: usize,
    program: impl Fn(&VirtualWire) -> R,
) -> Vec<Option<R>> {
    let (mut cluster, nodes) = ring.ring(pes).unwrap();
    let settings = Settings {
        sockets: nodes,
        ..Settings::new(0, SEGMENT_BYTES)
    };
    let results = RefCell::new(vec![None; pes]);
    run(&mut cluster, &settings, &|wire: Arc<VirtualWire>| {
        let result = program(&wire);
        results.borrow_mut()[wire.pe() as usize] = Some(result);
    })
    .unwrap();
    results.into_inner()
}

/// How long PE 0 is in a put of so many bytes to the other host.
fn put_ns(ring: &SubClusters, bytes: usize) -> f64 {
    let times = on(ring, 2, |wire| {
        let begin = wire.now();
        if wire.pe() == 0 {
            wire.store(1, 0, &vec![7; bytes]).unwrap();
        }
        wire.now() - begin
    });
    times[0].unwrap().as_ns()
}

/// The default of `dma_from` is the first power of two from which on DMA is the faster way.
#[test]
fn long_puts_go_the_faster_way() {
    let by_lines = |bytes| put_ns(&ring(1, NEVER, Engine::Pipelined), bytes);
    let by_dma = |bytes| put_ns(&ring(1, 0, Engine::Pipelined), bytes);
    assert!(by_lines(8 << 10) < by_dma(8 << 10));
    assert!(by_lines(16 << 10) > by_dma(16 << 10));
    let usual = Puts::default();
    assert_eq!(usual.dma_from_bytes, 16 << 10);
    assert_eq!(usual.engine, Engine::Pipelined);
    let default = SubClusters::default();
    for bytes in [(16 << 10) - 1, 16 << 10] {
        let expected = match bytes < 16 << 10 {
            true => by_lines(bytes),
            false => by_dma(bytes),
        };
        assert_eq!(put_ns(&default, bytes), expected);
    }
    // Through the chip's memory and back takes longer.
    assert!(put_ns(&ring(1, 0, Engine::TwoPhase), 16 << 10) > 1.5 * by_dma(16 << 10));
}

/// Lines leave at the rate of the link, 88 bytes on the wire for 64, if no ring port holds its
/// buffers.
#[test]
fn lines_leave_at_the_rate_of_the_link() {
    let rate = |ring: &SubClusters| {
        let more = put_ns(ring, 2 << 20) - put_ns(ring, 1 << 20);
        (1 << 20) as f64 / more
    };
    let mut ring = ring(1, NEVER, Engine::Pipelined);
    let held = rate(&ring);
    // 16 header credits; a buffer is held for 400 ns, and its credit needs time to come back.
    assert!(held < 16.0 * 64.0 / 400.0, "{held}");
    ring.config.chip.host_hold = Ps::ZERO;
    let (free, most) = (rate(&ring), 4.0 * 64.0 / 88.0);
    assert!(
        free < 1.001 * most && free > 0.95 * most,
        "{free} of {most}"
    );
}

#[test]
fn pes_of_a_host_take_turns_at_the_controller() {
    let bytes = 1 << 20;
    let ring = ring(3, 0, Engine::Pipelined);
    let alone = on(&ring, 6, |wire| {
        if wire.pe() == 0 {
            wire.store(3, 0, &vec![1; bytes]).unwrap();
        }
        wire.now()
    });
    let together = on(&ring, 6, |wire| {
        if wire.pe() < 3 {
            wire.store(3 + wire.pe(), 0, &vec![1; bytes]).unwrap();
        }
        wire.now()
    });
    let alone = alone[0].unwrap().as_ns();
    for (pe, expected) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
        let took = together[pe].unwrap().as_ns();
        assert!((took / alone - expected).abs() < 0.02, "{took} of {alone}");
    }
}

/// A put has the bytes of the moment of the call, and what is stored behind it is seen behind it:
/// lines, DMA and lines again, over cables that damage what crosses them.
#[test]
fn lines_and_dma_keep_their_order() {
    const FLAG: usize = 3 << 20;
    let damage = |seed| Damage::Random {
        hits: 2_000,
        of: 1_000_000,
        seed,
    };
    for engine in [Engine::Pipelined, Engine::TwoPhase] {
        let mut ring = ring(1, 4096, engine);
        ring.config.link.tlp_damage = [damage(1), damage(2)];
        ring.config.link.dllp_damage = [damage(3), damage(4)];
        let arrived = on(&ring, 2, |wire| {
            let memory = wire.segment().memory();
            let mut data = vec![0_u8; 40_001];
            for round in 1..=20_u8 {
                if wire.pe() == 0 {
                    data.fill(round);
                    // Nothing of it is aligned.
                    wire.store(1, 3, &data[..5]).unwrap();
                    wire.store(1, 9, &data).unwrap();
                    data.fill(0);
                    wire.store_word(1, FLAG, round.into()).unwrap();
                }
                let mut word = [0; 8];
                while wire.pe() == 1 && u64::from_ne_bytes(word) < round.into() {
                    memory.copy_out(FLAG, &mut word).unwrap();
                    wire.poll().unwrap();
                }
                if wire.pe() == 1 {
                    memory.copy_out(9, &mut data).unwrap();
                    // The next round may have begun to arrive.
                    assert!(data.iter().all(|byte| *byte >= round));
                }
            }
            wire.now()
        });
        assert!(arrived.iter().all(|time| *time > Some(Ps::ZERO)));
    }
}

/// Stores to PEs of the same host take the time that is set for them, and use no link.
#[test]
fn stores_within_a_host_stay_there() {
    let mut ring = ring(2, NEVER, Engine::Pipelined);
    ring.config.host.processor.local_store = Ps::from_ns(1_000);
    let times = on(&ring, 2, |wire| {
        if wire.pe() == 0 {
            wire.store(1, 0, &[1; 1024]).unwrap();
        }
        wire.now()
    });
    // A KiB at 10 GB/s.
    assert_eq!(times[0].unwrap().as_ns(), 1_000.0 + 102.4);
}

/// A chain has 255 descriptors of 262,140 bytes; and two phases go through the chip's memory.
#[test]
fn puts_longer_than_a_chain_take_several() {
    let mut ring = ring(1, 0, Engine::TwoPhase);
    ring.config.chip.memory_bytes = 1 << 20;
    const DATA: usize = 4097;
    let data: Vec<u8> = (0..251).cycle().take(SEGMENT_BYTES - DATA).collect();
    let results = on(&ring, 2, |wire| {
        if wire.pe() == 0 {
            wire.store(1, DATA, &data).unwrap();
            wire.store_word(1, 0, 1).unwrap();
            return true;
        }
        let memory = wire.segment().memory();
        let mut word = [0; 8];
        while u64::from_ne_bytes(word) == 0 {
            memory.copy_out(0, &mut word).unwrap();
            wire.poll().unwrap();
        }
        let mut got = vec![0; data.len()];
        memory.copy_out(DATA, &mut got).unwrap();
        got == data
    });
    assert_eq!(results, [Some(true), Some(true)]);
}

/// A quiet waits for what its PE has stored, whatever another PE of the host stores meanwhile: to a nearer host,
/// or to a PE beside it.
#[test]
fn a_quiet_waits_for_its_own_bytes() {
    const BYTES: usize = 4096;
    for dma_from_bytes in [NEVER, 1024] {
        let (mut cluster, _) = ring(1, dma_from_bytes, Engine::Pipelined).ring(4).unwrap();
        let settings = Settings {
            // PE 2 is on the opposite host, PE 3 on the next one, PE 4 beside 0 and 1.
            sockets: vec![0, 0, 2, 1, 0],
            ..Settings::new(0, SEGMENT_BYTES)
        };
        let far = RefCell::new(None);
        let done = RefCell::new(0);
        run(
            &mut cluster,
            &settings,
            &|wire: Arc<VirtualWire>| match wire.pe() {
                0 => {
                    for round in 1..=20 {
                        let bytes = vec![round; BYTES];
                        wire.store(2, 0, &bytes).unwrap();
                        wire.quiet().unwrap();
                        let memory: &hostwire_transport::Memory = &far.borrow().clone().unwrap();
                        let mut got = vec![0; BYTES];
                        memory.copy_out(0, &mut got).unwrap();
                        let missing = got.iter().filter(|byte| **byte != round).count();
                        assert_eq!(missing, 0, "round {round}, DMA from {dma_from_bytes}");
                        *done.borrow_mut() = round;
                    }
                }
                1 => {
                    while *done.borrow() < 20 {
                        wire.store(3, 0, &[1; 128]).unwrap();
                        wire.store(4, 0, &[1; 128]).unwrap();
                    }
                }
                2 => *far.borrow_mut() = Some(wire.segment().memory().clone()),
                _ => {}
            },
        )
        .unwrap();
        assert_eq!(*done.borrow(), 20);
    }
}

/// Blocks of the own segment from its begin on, twice as far apart as they are long, to the same places of
/// another PE.
fn blocks(pe: u32, count: usize, bytes: usize) -> Vec<Block> {
    let block = |number: usize| {
        let at = 2 * bytes * number;
        let source = BlockSource::Own {
            offset_bytes: at,
            len_bytes: bytes,
        };
        Block {
            pe,
            offset_bytes: at,
            source,
        }
    };
    (0..count).map(block).collect()
}

/// A chain of a program is one of the chip: it takes as long, from the doorbell to the handler of the
/// interrupt, as the programming interface of the model says.
#[test]
fn a_chain_of_a_program_is_one_of_the_chip() {
    for engine in [Engine::Pipelined, Engine::TwoPhase] {
        let ring = ring(1, NEVER, engine);
        for (count, bytes) in [(255, 64), (255, 4096), (3, 65_536), (1, 4)] {
            let took = on(&ring, 2, |wire| {
                let begin = wire.now();
                if wire.pe() == 0 {
                    let chain = blocks(1, count, bytes);
                    wire.capabilities()
                        .chains
                        .unwrap()
                        .put_chain(&chain)
                        .unwrap();
                }
                wire.now() - begin
            });
            let (mut cluster, _) = ring.ring(2).unwrap();
            let mut chain = Chain::new();
            let stride = Stride {
                block_bytes: bytes as u64,
                blocks: count as u64,
                destination_step: 2 * bytes as u64,
                source_step: 2 * bytes as u64,
            };
            let place = |node| DeviceAddress::new(node, Device::Host, 1 << 20);
            chain.block_stride(place(1), place(0), stride).unwrap();
            let transfer = cluster.launch(0, &chain, engine).unwrap();
            let begin = transfer.launched();
            let expected = cluster.wait(transfer).unwrap() - begin;
            assert_eq!(took[0], Some(expected), "{count} x {bytes} B, {engine:?}");
        }
    }
}

/// Stores, chains and their words: all in order, with the bytes of the moment of the call, also to a PE of the
/// same host, and over cables that damage what crosses them.
#[test]
fn chains_keep_their_order() {
    const FLAG: usize = 3 << 20;
    let mut ring = ring(2, NEVER, Engine::Pipelined);
    ring.config.link.tlp_damage = [1, 2].map(|seed| Damage::Random {
        hits: 2_000,
        of: 1_000_000,
        seed,
    });
    on(&ring, 4, |wire| {
        let memory = wire.segment().memory();
        let bytes = 2 * 60 * 256;
        for round in 1..=10_u8 {
            for to in [1, 2] {
                if wire.pe() == 0 {
                    memory.copy_in(0, &vec![round; bytes]).unwrap();
                    let before = [round; 8];
                    wire.store(to, 256, &before).unwrap();
                    let mut chain = blocks(to, 60, 256);
                    chain.push(Block {
                        pe: to,
                        offset_bytes: FLAG,
                        source: BlockSource::Word(round.into()),
                    });
                    wire.capabilities()
                        .chains
                        .unwrap()
                        .put_chain(&chain)
                        .unwrap();
                    memory.copy_in(0, &vec![0; bytes]).unwrap();
                }
                if wire.pe() == to {
                    let mut word = [0; 8];
                    while u64::from_ne_bytes(word) < round.into() {
                        memory.copy_out(FLAG, &mut word).unwrap();
                        wire.poll().unwrap();
                    }
                    let mut got = vec![0; bytes];
                    memory.copy_out(0, &mut got).unwrap();
                    // The next round may have begun to arrive.
                    assert!(got[256..264].iter().all(|byte| *byte >= round));
                    let blocks = got.chunks(512).map(|block| &block[..256]);
                    assert!(blocks.flatten().all(|byte| *byte >= round));
                }
            }
        }
    });
}

#[test]
fn chains_that_no_table_holds_are_refused() {
    let ring = ring(1, NEVER, Engine::Pipelined);
    let refused = on(&ring, 2, |wire| {
        let chains = wire.capabilities().chains.unwrap();
        let limits = ChainLimits {
            blocks_max: 255,
            block_bytes_max: 262_140,
            bytes_max: 255 * 262_140,
            align_bytes: 4,
        };
        assert_eq!(chains.chain_limits(), limits);
        let wrong = [blocks(1, 256, 4), blocks(1, 2, 6), blocks(2, 1, 4)];
        wrong.map(|chain| chains.put_chain(&chain).is_err())
    });
    assert_eq!(refused[0], Some([true; 3]));
}
