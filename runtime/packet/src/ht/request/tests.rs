extern crate std;
use std::string::ToString;

use super::*;

fn address(bytes: u64) -> Address {
    Address::new(bytes).unwrap()
}

fn assert_both_ways(bytes: &[u8], repr: Repr) {
    assert_eq!(Repr::parse(bytes), Ok(repr));
    let mut out = [0xee; 12];
    assert_eq!(repr.emit(&mut out), Ok(bytes.len()));
    assert_eq!(&out[..bytes.len()], bytes);
    assert_eq!(repr.buffer_len(), bytes.len());
}

/// Posted dword write of 64 bytes to 0x12_3456_7840 by unit 3.
///
/// Dword 0: `Addr[7:2]` = 010000, Count = 1111, UnitID = 00011, cmd = 101100.
const LINE: [u8; 8] = [
    0b0010_1100,
    0b0000_0011,
    0b1100_0000,
    0b0100_0011, // dword 0
    0x78,
    0x56,
    0x34,
    0x12, // Addr[39:8]
];

#[test]
fn posted_line() {
    let repr = Repr::posted_write(
        UnitId::new(3).unwrap(),
        address(0x12_3456_7840),
        Dwords::MAX,
    );
    assert_both_ways(&LINE, repr);
    assert_eq!(repr.data_len(), 64);
    assert_eq!(repr.virtual_channel(), VirtualChannel::Posted);
    assert_eq!(repr.to_string(), "PWr unit=3 addr=0x1234567840 len=64");
}

#[test]
fn posted_write_with_every_flag() {
    // cmd 101111, SeqID 0110 = [7:6] 01 and [14:13] 10, UnitID 17, PassPW,
    // DataError, Chain, Compat, Count 0, Addr[7:2] = 000001.
    let bytes = [
        0b0110_1111,
        0b1101_0001,
        0b0011_1000,
        0b0000_0100,
        0,
        0,
        0,
        0,
    ];
    let repr = Repr {
        unit_id: UnitId::new(17).unwrap(),
        seq_id: SeqId::new(6).unwrap(),
        pass_pw: true,
        kind: Kind::Write(Write {
            mode: WriteMode::Posted {
                data_error: true,
                chain: true,
            },
            address: address(4),
            size: WriteSize::Dwords(Dwords::MIN),
            isoc: true,
            coherent: true,
            compat: true,
        }),
    };
    assert_both_ways(&bytes, repr);
}

#[test]
fn extended_line() {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&[0b0011_1110, 0x9a, 0x78, 0x56]); // Addr[63:40]
    bytes[4..].copy_from_slice(&LINE);
    let repr = Repr::posted_write(
        UnitId::new(3).unwrap(),
        address(0x5678_9a12_3456_7840),
        Dwords::MAX,
    );
    assert_both_ways(&bytes, repr);

    // An extension of zero is kept: it is on the wire.
    bytes[1..4].fill(0);
    let short = address(0x12_3456_7840).with_extension();
    assert_both_ways(
        &bytes,
        Repr::posted_write(UnitId::new(3).unwrap(), short, Dwords::MAX),
    );
}

#[test]
fn non_posted_byte_write() {
    // cmd 001000, UnitID 1, SrcTag 10101, Count 1 (mask and one dword),
    // Addr[7:2] = 000111.
    let bytes = [
        0b0000_1000,
        0b0000_0001,
        0b0101_0101,
        0b0001_1100,
        0,
        0,
        0,
        0,
    ];
    let repr = Repr {
        unit_id: UnitId::new(1).unwrap(),
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind: Kind::Write(Write {
            mode: WriteMode::NonPosted {
                src_tag: SrcTag::new(0b10101).unwrap(),
            },
            address: address(0x1c),
            size: WriteSize::Bytes(MaskedDwords::MIN),
            isoc: false,
            coherent: false,
            compat: false,
        }),
    };
    assert_both_ways(&bytes, repr);
    assert_eq!(repr.data_len(), 8);
    assert_eq!(repr.virtual_channel(), VirtualChannel::NonPosted);
}

#[test]
fn reads() {
    // cmd 011101: response may pass, dwords, coherent. SrcTag 7, Count 3.
    let bytes = [0b0001_1101, 0, 0b1100_0111, 0, 1, 0, 0, 0];
    let read = Read {
        src_tag: SrcTag::new(7).unwrap(),
        address: address(0x100),
        size: ReadSize::Dwords(Dwords::new(4).unwrap()),
        response_pass_pw: true,
        isoc: false,
        coherent: true,
        compat: false,
    };
    let repr = |read| Repr {
        unit_id: UnitId::MIN,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind: Kind::Read(read),
    };
    assert_both_ways(&bytes, repr(read));
    assert_eq!(repr(read).data_len(), 0);

    // cmd 010000: bytes; mask 0110 stands where the count was.
    let bytes = [0b0001_0000, 0, 0b1000_0111, 0b0000_0001, 1, 0, 0, 0];
    assert_both_ways(
        &bytes,
        repr(Read {
            size: ReadSize::Bytes(ByteEnables::new(0b0110).unwrap()),
            response_pass_pw: false,
            coherent: false,
            ..read
        }),
    );
}

#[test]
fn flush_and_fence() {
    // cmd 000010, UnitID 2, SrcTag 5, Isoc.
    let repr = |kind| Repr {
        unit_id: UnitId::new(2).unwrap(),
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind,
    };
    assert_both_ways(
        &[0b0000_0010, 2, 0b0010_0101, 0],
        repr(Kind::Flush {
            src_tag: SrcTag::new(5).unwrap(),
            isoc: true,
        }),
    );
    let fence = repr(Kind::Fence { isoc: false });
    assert_both_ways(&[0b0011_1100, 2, 0, 0], fence);
    assert_eq!(fence.virtual_channel(), VirtualChannel::Posted);
}

#[test]
fn broadcast() {
    let repr = Repr {
        unit_id: UnitId::MIN,
        seq_id: SeqId::MIN,
        pass_pw: true,
        kind: Kind::Broadcast {
            address: address(0xfd_f800_0000),
        },
    };
    assert_both_ways(&[0b0011_1010, 0x80, 0, 0, 0, 0, 0xf8, 0xfd], repr);
    assert_eq!(repr.virtual_channel(), VirtualChannel::Posted);
}

#[test]
fn atomics() {
    let repr = |operation| Repr {
        unit_id: UnitId::MIN,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind: Kind::Atomic {
            src_tag: SrcTag::new(9).unwrap(),
            address: address(0x108),
            operation,
            compat: false,
        },
    };
    // Count 1 and 3; Addr[7:2] = 000010.
    let add = [0b0011_1101, 0, 0b0100_1001, 0b0000_1000, 1, 0, 0, 0];
    let swap = [0b0011_1101, 0, 0b1100_1001, 0b0000_1000, 1, 0, 0, 0];
    assert_both_ways(&add, repr(AtomicOperation::FetchAndAdd));
    assert_both_ways(&swap, repr(AtomicOperation::CompareAndSwap));
    assert_eq!(repr(AtomicOperation::FetchAndAdd).data_len(), 8);
    assert_eq!(repr(AtomicOperation::CompareAndSwap).data_len(), 16);

    // Address bit 2 is taken as zero.
    let mut odd = add;
    odd[3] |= 0b0000_0100;
    assert_eq!(Repr::parse(&odd), Ok(repr(AtomicOperation::FetchAndAdd)));
    // Count 2 is not defined.
    let mut bad = add;
    bad[2] = 0b1000_1001;
    assert_eq!(
        Repr::parse(&bad),
        Err(Error::Value {
            field: "ht.atomic.count",
            expected: "1 (fetch and add) or 3 (compare and swap)",
            got: 2
        })
    );
}

#[test]
fn block_limits() {
    // 64 bytes from 0x44 leave their block.
    let mut bytes = LINE;
    bytes[3] |= 0b0000_0100;
    assert_eq!(
        Repr::parse(&bytes),
        Err(Error::CrossesBlock {
            field: "ht.write.count",
            block_bytes: 64,
            address: 0x12_3456_7844,
            len_bytes: 64
        })
    );
    // A byte write has Count 1 to 8.
    let bytes = [0b0010_1000, 0, 0b0000_0000, 0, 0, 0, 0, 0];
    assert_eq!(
        Repr::parse(&bytes),
        Err(Error::OutOfRange {
            field: "ht.masked_dwords",
            min: 1,
            max: 8,
            got: 0
        })
    );
    let repr = Repr::posted_write(UnitId::MIN, address(0x20), Dwords::MAX);
    let mut out = [0xee; 8];
    assert!(matches!(
        repr.emit(&mut out),
        Err(Error::CrossesBlock { .. })
    ));
    assert_eq!(out, [0xee; 8]);
}

#[test]
fn wrong_packets() {
    assert_eq!(
        Repr::parse(&LINE[..7]),
        Err(Error::Truncated {
            field: "ht.request",
            expected_bytes: 8,
            got_bytes: 7
        })
    );
    // A NOP is no request.
    assert_eq!(
        Repr::parse(&[0; 8]),
        Err(Error::Value {
            field: "ht.request.command",
            expected: "a request",
            got: 0
        })
    );
    // A Fence has no address to extend, nor has a second extension.
    for inner in [0b0011_1100, 0b0011_1110] {
        assert_eq!(
            Repr::parse(&[0b0011_1110, 0, 0, 0, inner, 0, 0, 0, 0, 0, 0, 0]),
            Err(Error::Value {
                field: "ht.request.extended_command",
                expected: "a request with an address",
                got: inner.into()
            })
        );
    }
}

#[test]
fn setters_change_one_field() {
    let mut bytes = LINE;
    let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
    packet.set_unit_id(UnitId::MAX);
    packet.set_seq_id(SeqId::new(9).unwrap());
    packet.set_pass_pw(true);
    packet.set_chain(true);
    let repr = Repr::parse(&bytes).unwrap();
    assert_eq!(repr.unit_id, UnitId::MAX);
    assert_eq!(repr.seq_id.get(), 9);
    assert!(repr.pass_pw);
    assert_eq!(repr.address(), Some(address(0x12_3456_7840)));
    assert_eq!(repr.data_len(), 64);
}
