extern crate std;
use std::string::ToString;

use super::*;

/// Data, ACK valid, NAK, link 0x0102, SEQ 0x0304, ACK 0x0506, 1 packet,
/// 2 NOPs, 80 bytes.
const BYTES: [u8; 12] = [0x11, 0b011, 1, 2, 3, 4, 5, 6, 1, 2, 0, 80];

fn with_hcrc(bytes: [u8; 12]) -> [u8; 16] {
    let mut out = [0; 16];
    out[..12].copy_from_slice(&bytes);
    out[12..14].copy_from_slice(&crc16_ccitt(&bytes).to_be_bytes());
    out
}

fn repr() -> Repr {
    Repr {
        nak: true,
        ..Repr::data(0x0102, 0x0304, Some(0x0506))
    }
}

const CONTENTS: Contents = Contents {
    nops: 2,
    packets: 1,
    len: 80,
};

#[test]
fn crc16_check_value() {
    assert_eq!(crc16_ccitt(b"123456789"), 0x29b1);
    for seed in 0..=255_u8 {
        let bytes = core::array::from_fn(|i| seed.wrapping_mul(37).wrapping_add(i as u8 * 11));
        assert_eq!(hcrc_over(&bytes), crc16_ccitt(&bytes), "{bytes:?}");
    }
}

#[test]
fn both_ways() {
    let bytes = with_hcrc(BYTES);
    assert_eq!(Repr::parse(&bytes), Ok((repr(), CONTENTS)));
    let mut out = [0xee; 16];
    assert_eq!(repr().emit(&CONTENTS, &mut out), Ok(16));
    assert_eq!(out, bytes);
    assert_eq!(repr().to_string(), "HToE data vl=258 seq=772 nak=1286");
}

#[test]
fn ack_and_reset() {
    let ack = with_hcrc([0x12, 0b001, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0]);
    assert_eq!(
        Repr::parse(&ack),
        Ok((Repr::ack(7, 9, false), Contents::default()))
    );
    let session = Contents {
        len: 48,
        ..Contents::default()
    };
    let reset = with_hcrc([0x13, 0b100, 0, 7, 0, 1, 0, 0, 0, 0, 0, 48]);
    assert_eq!(Repr::parse(&reset), Ok((Repr::reset(7, 1), session)));
    let close = with_hcrc([0x14, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 48]);
    assert_eq!(Repr::parse(&close), Ok((Repr::close(7), session)));
    let bare = with_hcrc([0x13, 0b100, 0, 7, 0, 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        Repr::parse(&bare),
        Err(Error::Length {
            field: "htoe.payload_len",
            expected_bytes: 48,
            got_bytes: 0
        })
    );
}

#[test]
fn key_and_ack_wanted() {
    let mut bytes = with_hcrc([0x12, 0b1001, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0]);
    bytes[14..].copy_from_slice(&[0xab, 0xcd]);
    let (repr, _) = Repr::parse(&bytes).unwrap();
    assert!(repr.ack_wanted);
    assert_eq!(repr.key, 0xabcd);
    assert_eq!(
        repr.to_string(),
        "HToE ack vl=7 seq=0 ack=9 ack-wanted key=43981"
    );
    let mut out = [0xee; 16];
    repr.emit(&Contents::default(), &mut out).unwrap();
    assert_eq!(out, bytes);
}

#[test]
fn marked() {
    let bytes = with_hcrc([0x12, 0b1_0001, 0, 7, 0, 0, 0, 9, 0, 0, 0, 0]);
    let (repr, _) = Repr::parse(&bytes).unwrap();
    let ack = Repr::ack(7, 9, false);
    assert_eq!(
        repr,
        Repr {
            marked: true,
            ..ack
        }
    );
    assert_eq!(repr.to_string(), "HToE ack vl=7 seq=0 ack=9 marked");
    let mut out = [0xee; 16];
    repr.emit(&Contents::default(), &mut out).unwrap();
    assert_eq!(out, bytes);
}

#[test]
fn changed_in_place() {
    let mut bytes = with_hcrc(BYTES);
    let mut header = Header::new_checked(&mut bytes[..]).unwrap();
    header.set_ack(Some(0x0507));
    header.set_nak(false);
    header.fill_hcrc();
    let (changed, _) = Repr::parse(&bytes).unwrap();
    assert_eq!(changed, Repr::data(0x0102, 0x0304, Some(0x0507)));
}

#[test]
fn errors() {
    let parse = |index: usize, value: u8| {
        let mut bytes = BYTES;
        bytes[index] = value;
        Repr::parse(&with_hcrc(bytes)).unwrap_err()
    };
    let value = |field, expected, got| Error::Value {
        field,
        expected,
        got,
    };
    assert_eq!(parse(0, 0x21), value("htoe.version", "1", 2));
    assert_eq!(
        parse(0, 0x10),
        value("htoe.type", "1 (data), 2 (ack), 3 (reset) or 4 (close)", 0)
    );
    assert_eq!(
        parse(1, 0b010),
        value("htoe.flags.ack_valid", "1 with NAK and in ack frames", 0)
    );
    assert_eq!(
        parse(0, 0x12),
        value(
            "htoe.packet_count",
            "no NOPs and packets outside data frames",
            3
        )
    );
    assert_eq!(
        parse(11, 7),
        Error::Length {
            field: "htoe.payload_len",
            expected_bytes: 8,
            got_bytes: 7
        }
    );
    // Bytes that belong to no packet.
    assert_eq!(
        parse(8, 0),
        Error::Length {
            field: "htoe.payload_len",
            expected_bytes: 8,
            got_bytes: 80
        }
    );
    let mut bytes = with_hcrc(BYTES);
    bytes[13] ^= 1;
    assert!(matches!(
        Repr::parse(&bytes),
        Err(Error::Checksum {
            field: "htoe.hcrc",
            ..
        })
    ));
}
