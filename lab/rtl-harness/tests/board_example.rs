//! The example design: random writes and reads of a host against a plain memory, and the registers.

mod common;

use common::{WIDTHS, example, figure};
use hostwire_packet::ht::{Dwords, ReadSize};
use hostwire_rtl_harness::board::memory::Memory;
use hostwire_rtl_harness::ht::BringUp as _;
use hostwire_rtl_harness::ht::Width;
use hostwire_rtl_harness::ht::requests::{Data, dword, read, write};

fn answers() -> u64 {
    let packets = std::env::var("HOSTWIRE_RTL_PACKETS").ok();
    let packets = packets.and_then(|text| text.parse::<u64>().ok());
    packets.map_or(10_000, |packets| packets / 10)
}

#[test]
fn the_block_ram_is_a_memory() {
    const RUN: u64 = 2_000;
    for width in WIDTHS {
        let (mut writes, mut reads, mut clocks) = (0, 0, 0);
        for seed in 0..answers().div_ceil(2 * RUN) {
            let Some((host, random)) = example(width, seed, 3) else {
                return;
            };
            let mut memory = Memory::new(host, random).unwrap();
            if let Err(failure) = memory.run(RUN) {
                panic!("{width:?}, seed {seed}, {:?}: {failure}", memory.counts);
            }
            let counts = memory.counts;
            writes += counts.posted + counts.non_posted;
            reads += counts.reads;
            clocks += counts.clocks;
        }
        figure(&format!(
            "example | {} bit | {writes} writes and {reads} reads of the block RAM right, in {clocks} clocks",
            width.bits()
        ));
    }
}

#[test]
fn registers_count() {
    for width in WIDTHS {
        let Some((mut host, mut random)) = example(width, 77, 3) else {
            return;
        };
        let registers = host.bars[1];
        assert_eq!(host.read_dword(registers), Ok(0x4845_5831));
        assert_eq!(
            host.read_dword(registers + 0x100),
            Ok(0),
            "behind the registers"
        );
        let value = random.next() as u32;
        host.partner.outbox[0].push_back(dword(registers + 4, value).unwrap());
        assert_eq!(
            host.read_dword(registers + 4),
            Ok(value),
            "a read does not pass a write"
        );
        let mut memory = Memory::new(host, random).unwrap();
        memory.host.partner.outbox[0].push_back(dword(registers + 0x20, 0).unwrap());
        for at in [0x0c, 0x10, 0x14, 0x18] {
            assert_eq!(
                memory.host.read_dword(registers + at),
                Ok(0),
                "register {at:#x}"
            );
        }
        memory.host.partner.sent.clear();
        memory.run(200).unwrap();
        let Memory { host, counts, .. } = &mut memory;
        let expected = [
            counts.posted,
            counts.posted_dwords + counts.non_posted_dwords,
        ];
        let reads = counts.reads + 4;
        for (at, expected) in [0x0c, 0x10].into_iter().zip(expected) {
            assert_eq!(
                host.read_dword(registers + at),
                Ok(expected as u32),
                "register {at:#x}"
            );
        }
        let mut register = |at| host.read_dword(registers + at).unwrap();
        let (begin, end, now) = (register(0x14), register(0x18), register(0x08));
        assert!(0 < begin && begin < end && end < now, "{begin} {end} {now}");
        assert_eq!(register(0x1c), reads as u32 + 5);
    }
}

/// Writes of one size without a break, as in the paper's Table IV; there the host is part of it.
#[test]
fn writes_as_fast_as_the_link_brings_them() {
    const CLOCKS: u64 = 8_000;
    for (len, paper) in [(4, 95), (8, 189), (16, 253), (32, 303), (64, 337)] {
        let Some((mut host, _)) = example(Width::Eight, len, 0) else {
            return;
        };
        host.partner.change(0, 0);
        host.partner.sent.clear();
        let packet = write(
            host.bars[0] + 64,
            Data::Dwords(&vec![7; len as usize]),
            None,
        )
        .unwrap();
        let mut writes = 0;
        for _ in 0..CLOCKS {
            while host.partner.outbox[0].len() < 4 {
                host.partner.outbox[0].push_back(packet.clone());
            }
            host.step().unwrap();
            writes += host.partner.sent.drain(..).count() as u64;
        }
        let megabytes = (len * writes * 100) as f64 / CLOCKS as f64;
        figure(&format!(
            "bandwidth | example, 8 bit at HT200, writes of {len} B | {megabytes:.0} MB/s (paper, with its host: {paper})"
        ));
        // Two dwords of command; CRCs and NOPs.
        let most = 400.0 * len as f64 / (len + 8) as f64;
        assert!(megabytes > 0.9 * most, "{megabytes} of {most}");
    }
}

/// From the edge that samples the last dword of a read to the first bit-time of its answer.
#[test]
fn how_long_a_read_takes() {
    for dwords in [1, 2, 16] {
        let mut times = Vec::new();
        for seed in 0..16 {
            let Some((mut host, _)) = example(Width::Eight, seed, 0) else {
                return;
            };
            host.partner.change(0, 0);
            for _ in 0..20 {
                host.partner.sent.clear();
                let read = read(
                    host.bars[0],
                    ReadSize::Dwords(Dwords::new(dwords).unwrap()),
                    1,
                )
                .unwrap();
                host.partner.outbox[1].push_back(read);
                for _ in 0..61 {
                    for (_, time) in host.step().unwrap() {
                        times.push((time - host.partner.sent[0].1) as f64 / 16.0);
                    }
                }
            }
        }
        assert_eq!(times.len(), 16 * 20);
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        // 11 and 7 clocks of the link are the HT-Core's.
        figure(&format!(
            "reads | example, {dwords} dwords: read on HT to answer on HT | {mean:.1} clocks, without the HT-Core {:.1}",
            mean - 9.0
        ));
    }
}
