extern crate std;
use std::string::ToString;
use std::vec::Vec;

use super::*;
use crate::ht::{
    Address, ChannelCredits, Dwords, RequestRepr, ResponseKind, ResponseRepr, ResponseStatus,
    RqUid, SrcTag, UnitId,
};
use crate::htoe::{FrameBuilder, crc16_ccitt};

/// One NOP and one posted write of 4 bytes; CRCs to be filled in.
const BYTES: [u8; 36] = [
    0x11,
    0b001,
    0,
    7,
    0,
    5,
    0,
    9,
    1,
    1,
    0,
    16,
    0,
    0,
    0,
    0, // header
    0,
    0b0000_0101,
    0,
    0, // NOP: one credit of each kind for posted
    0b0010_1100,
    0,
    0,
    0x40,
    0,
    0,
    0,
    0, // write to 0x40
    0xde,
    0xad,
    0xbe,
    0xef, // data
    0,
    0,
    0,
    0, // CRC-32
];

fn sealed(mut bytes: [u8; 36]) -> [u8; 36] {
    let hcrc = crc16_ccitt(&bytes[..12]);
    bytes[12..14].copy_from_slice(&hcrc.to_be_bytes());
    let crc = crc32_ieee(&bytes[..32]);
    bytes[32..].copy_from_slice(&crc.to_be_bytes());
    bytes
}

fn nop() -> NopRepr {
    NopRepr {
        posted: ChannelCredits::new(1, 1).unwrap(),
        ..NopRepr::default()
    }
}

fn write(data: &[u8]) -> PacketRepr<'_> {
    let dwords = Dwords::from_len_bytes(data.len()).unwrap();
    let address = Address::new(0x40).unwrap();
    PacketRepr::new(
        RequestRepr::posted_write(UnitId::MIN, address, dwords),
        data,
    )
    .unwrap()
}

#[test]
fn parse_and_emit() {
    let bytes = sealed(BYTES);
    let frame = Repr::parse(&bytes).unwrap();
    assert_eq!(*frame.header(), header::Repr::data(7, 5, Some(9)));
    assert_eq!(frame.nops().collect::<Vec<_>>(), [nop()]);
    let packets: Vec<_> = frame.packets().collect();
    assert_eq!(packets, [write(&[0xde, 0xad, 0xbe, 0xef])]);
    assert_eq!(frame.credits(VirtualChannel::Posted), (1, 1));
    assert_eq!(frame.credits(VirtualChannel::Response), (0, 0));
    assert_eq!(
        frame.to_string(),
        "HToE data vl=7 seq=5 ack=9 nops=1 packets=1 len=36"
    );

    let mut out = [0; 40];
    assert_eq!(frame.emit(&mut out), Ok(36));
    assert_eq!(out[..36], bytes);
}

#[test]
fn built_in_place() {
    let mut buffer = [0xee; 64];
    let mut builder = FrameBuilder::new(header::Repr::data(7, 5, Some(9)), &mut buffer).unwrap();
    builder.push_nop(&nop()).unwrap();
    builder
        .push_packet(&write(&[0xde, 0xad, 0xbe, 0xef]))
        .unwrap();
    assert_eq!(builder.finish(), Ok(36));
    assert_eq!(buffer[..36], sealed(BYTES));
}

#[test]
fn padding_is_left_alone() {
    let mut padded = [0; 46];
    padded[..36].copy_from_slice(&sealed(BYTES));
    assert_eq!(Repr::parse(&padded).unwrap().buffer_len(), 36);
}

/// The paper's 20 packets of 8 + 64 bytes and 10 NOPs fill an MTU of 1500
/// exactly; with extended addresses 20 packets do not fit.
#[test]
fn twenty_lines_fill_an_mtu() {
    let line = [0x5a; 64];
    let mut buffer = [0; 1500];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    for _ in 0..10 {
        builder.push_nop(&nop()).unwrap();
    }
    for _ in 0..20 {
        assert!(builder.fits_packet(72));
        builder.push_packet(&write(&line)).unwrap();
    }
    assert_eq!(builder.room_len(), 0);
    assert_eq!(
        builder.push_packet(&write(&line)),
        Err(Error::BufferTooSmall {
            field: "htoe.payload",
            expected_bytes: 72,
            got_bytes: 0
        })
    );
    assert_eq!(builder.finish(), Ok(1500));
    let frame = Repr::parse(&buffer).unwrap();
    assert_eq!(frame.packets().len(), 20);
    assert_eq!(frame.credits(VirtualChannel::Posted), (10, 10));

    let mut buffer = [0; 1500];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    let address = Address::new(1 << 40).unwrap();
    let write = RequestRepr::posted_write(UnitId::MIN, address, Dwords::MAX);
    let packet = PacketRepr::new(write, &line).unwrap();
    while builder.fits_packet(packet.buffer_len()) {
        builder.push_packet(&packet).unwrap();
    }
    assert_eq!(builder.contents().packets, 19);
}

/// With one control packet for all, 22 lines and 16 NOPs fill the same MTU.
#[test]
fn a_burst_of_lines_is_so_many_packets() {
    let lines: [[u8; 64]; 22] = core::array::from_fn(|i| [i as u8; 64]);
    let at = |i: usize| 0x1000 + 64 * i as u64;
    let mut buffer = [0; 1500];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    for _ in 0..16 {
        builder.push_nop(&nop()).unwrap();
    }
    builder.push_lines(at(0), &lines).unwrap();
    assert_eq!(builder.room_len(), 0);
    assert_eq!(builder.finish(), Ok(1500));

    let frame = Repr::parse(&buffer).unwrap();
    let taken = frame.taken(VirtualChannel::Posted);
    assert_eq!((taken.command, taken.data), (22, 22));
    let expected = lines.iter().enumerate().map(|(i, line)| {
        let to = Address::new(at(i)).unwrap();
        let write = RequestRepr::posted_write(UnitId::MIN, to, Dwords::MAX);
        PacketRepr::new(write, line).unwrap()
    });
    assert_eq!(frame.packets().len(), 22);
    assert!(frame.packets().eq(expected.clone()));

    let mut packets = frame.packets();
    assert!(packets.next().into_iter().eq(expected.take(1)));
    let rest = packets.next_plain().unwrap();
    assert_eq!(
        (rest.address, rest.data),
        (at(1), lines[1..].as_flattened())
    );
    assert_eq!(
        (packets.len(), packets.next_plain(), packets.next()),
        (0, None, None)
    );
}

#[test]
fn bursts_between_other_packets() {
    let lines = [[1; 64], [2; 64], [3; 64]];
    let mut buffer = [0; 1500];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    builder.push_packet(&write(&[9; 64])).unwrap();
    builder.push_lines(0x1000, &lines).unwrap();
    builder.push_lines(0x2000, &lines[..1]).unwrap();
    builder.push_lines(0x3000, &lines[1..]).unwrap();
    assert_eq!(builder.contents().packets, 7);
    let len = builder.finish().unwrap();
    assert_eq!(len, OVERHEAD + 72 + (8 + 192) + 72 + (8 + 128));
    let frame = Repr::parse(&buffer[..len]).unwrap();
    let firsts: Vec<u8> = frame.packets().map(|packet| packet.data()[0]).collect();
    assert_eq!(firsts, [9, 1, 2, 3, 1, 2, 3]);
    let mut packets = frame.packets();
    let runs: Vec<usize> = std::iter::from_fn(|| packets.next_plain())
        .map(|write| write.data.len())
        .collect();
    assert_eq!(runs, [64, 192, 64, 128]);
}

#[test]
fn lines_that_may_not_be_pushed() {
    let mut buffer = [0; 2000];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    let lines = [[0; 64]; 256];
    let bounds = |max, got| {
        Err(Error::OutOfRange {
            field: "htoe.burst.lines",
            min: 1,
            max,
            got,
        })
    };
    assert_eq!(builder.push_lines(0, &[]), bounds(255, 0));
    assert_eq!(builder.push_lines(0, &lines), bounds(255, 256));
    let end = 1 << 40;
    assert_eq!(builder.push_lines(end - 64, &lines[..2]), bounds(1, 2));
    assert_eq!(
        builder.push_lines(32, &lines[..2]),
        Err(Error::Misaligned {
            field: "htoe.burst.address",
            align_bytes: 64,
            got: 32
        })
    );
    assert_eq!(
        builder.push_lines(0, &lines[..31]),
        Err(Error::BufferTooSmall {
            field: "htoe.payload",
            expected_bytes: 8 + 31 * 64,
            got_bytes: 1980
        })
    );
    builder.push_lines(0, &lines[..2]).unwrap();
    assert_eq!(builder.push_lines(0, &lines[..254]), bounds(253, 254));
    assert_eq!(builder.finish(), Ok(OVERHEAD + 8 + 128));
}

/// A header that announces fewer packets than there are lines.
#[test]
fn a_burst_longer_than_its_frame_says() {
    let mut buffer = [0; 200];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    builder.push_lines(0, &[[7; 64]; 2]).unwrap();
    let len = builder.finish().unwrap();
    buffer[8] = 1;
    let mut header = header::Header::new_checked(&mut buffer[..len]).unwrap();
    header.fill_hcrc();
    Frame::new_checked(&mut buffer[..len])
        .unwrap()
        .update_ack(None, false);
    assert_eq!(
        Repr::parse(&buffer[..len]),
        Err(Error::OutOfRange {
            field: "htoe.burst.lines",
            min: 2,
            max: 1,
            got: 2
        })
    );
}

#[test]
fn counts_end_at_255() {
    let mut buffer = [0; 9000];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    for _ in 0..255 {
        builder.push_nop(&nop()).unwrap();
    }
    assert!(!builder.fits_nop());
    assert_eq!(
        builder.push_nop(&nop()),
        Err(Error::OutOfRange {
            field: "htoe.nop_count",
            min: 0,
            max: 255,
            got: 256
        })
    );
    let response = ResponseRepr {
        kind: ResponseKind::TargetDone,
        unit_id: UnitId::MIN,
        src_tag: SrcTag::MIN,
        rq_uid: RqUid::MIN,
        bridge: true,
        pass_pw: false,
        isoc: false,
        status: ResponseStatus::Normal,
    };
    let response = PacketRepr::new(response, &[]).unwrap();
    for _ in 0..255 {
        builder.push_packet(&response).unwrap();
    }
    assert!(!builder.fits_packet(4));
    assert!(builder.push_packet(&response).is_err());
    let len = builder.finish().unwrap();
    let frame = Repr::parse(&buffer[..len]).unwrap();
    assert_eq!(frame.credits(VirtualChannel::Posted), (255, 255));
    assert_eq!(frame.packets().count(), 255);
}

#[test]
fn what_may_not_be_packed() {
    let mut buffer = [0; 100];
    let mut builder = FrameBuilder::new(header::Repr::data(0, 0, None), &mut buffer).unwrap();
    let nop_packet = PacketRepr::new(nop(), &[]).unwrap();
    assert_eq!(
        builder.push_packet(&nop_packet),
        Err(Error::Value {
            field: "htoe.packet.command",
            expected: "a request or a response",
            got: 0
        })
    );
    builder.push_packet(&write(&[0; 4])).unwrap();
    assert!(matches!(
        builder.push_nop(&nop()),
        Err(Error::Value {
            field: "htoe.nop",
            ..
        })
    ));
    let mut buffer = [0; 100];
    let mut ack = FrameBuilder::new(header::Repr::ack(0, 1, false), &mut buffer).unwrap();
    assert!(ack.push_nop(&nop()).is_err());
    assert_eq!(ack.finish(), Ok(OVERHEAD));
    assert_eq!(
        FrameBuilder::new(header::Repr::ack(0, 1, false), &mut [0; 19]).unwrap_err(),
        Error::BufferTooSmall {
            field: "htoe.frame",
            expected_bytes: 20,
            got_bytes: 19
        }
    );
}

#[test]
fn ack_is_updated_for_the_next_try() {
    let mut bytes = sealed(BYTES);
    Frame::new_checked(&mut bytes[..])
        .unwrap()
        .update_ack(Some(10), true);
    let frame = Repr::parse(&bytes).unwrap();
    assert_eq!(frame.header().ack, Some(10));
    assert!(frame.header().nak);
    assert_eq!(frame.packets().len(), 1);
}

#[test]
fn errors() {
    let damaged = |index: usize| {
        let mut bytes = sealed(BYTES);
        bytes[index] ^= 1;
        Repr::parse(&bytes).unwrap_err()
    };
    assert!(matches!(
        damaged(0),
        Error::Checksum {
            field: "htoe.hcrc",
            ..
        }
    ));
    // The reserved bytes, the payload and the CRC itself.
    for index in [14, 20, 30, 35] {
        assert!(matches!(
            damaged(index),
            Error::Checksum {
                field: "htoe.crc",
                ..
            }
        ));
    }
    let resealed = |index: usize, value: u8| {
        let mut bytes = BYTES;
        bytes[index] = value;
        Repr::parse(&sealed(bytes)).unwrap_err()
    };
    // The NOP turned into something else, and a second packet that is not there.
    assert!(matches!(
        resealed(16, 0b11_1111),
        Error::Value {
            field: "ht.nop.command",
            ..
        }
    ));
    assert!(matches!(resealed(8, 2), Error::Truncated { .. }));
    // A NOP among the packets.
    assert!(matches!(
        resealed(20, 0),
        Error::Value {
            field: "htoe.packet.command",
            ..
        }
    ));
    // A Fence of 4 bytes leaves 8 bytes unaccounted for.
    assert_eq!(
        resealed(20, 0b11_1100),
        Error::Length {
            field: "htoe.payload",
            expected_bytes: 8,
            got_bytes: 16
        }
    );
    // More payload than there is.
    assert_eq!(
        resealed(11, 17),
        Error::Truncated {
            field: "htoe.payload",
            expected_bytes: 37,
            got_bytes: 36
        }
    );
}

#[test]
fn an_ack_frame_says_how_many_are_missing() {
    let header = header::Repr {
        sequence: 5,
        ..header::Repr::ack(7, 9, true)
    };
    let frame = Repr::of_missing(header, 0x0102);
    let mut bytes = [0; 22];
    assert_eq!(frame.emit(&mut bytes), Ok(22));
    assert_eq!(bytes[..12], [0x12, 0b11, 0, 7, 0, 5, 0, 9, 0, 0, 0, 2]);
    assert_eq!(bytes[16..18], [1, 2]);
    assert_eq!(Repr::parse(&bytes), Ok(frame));
    assert_eq!(frame.missing(), Some(0x0102));
    assert_eq!(Repr::empty(header).missing(), None);
    // Nothing is missing without a NAK.
    let wrong = Repr::of_missing(
        header::Repr {
            nak: false,
            ..header
        },
        1,
    );
    let expected = Error::Length {
        field: "htoe.payload_len",
        expected_bytes: 0,
        got_bytes: 2,
    };
    assert_eq!(wrong.emit(&mut bytes), Err(expected));
}
