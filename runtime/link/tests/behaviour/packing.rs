//! How sent data is packed into frames.

use hostwire_link::{Config, SendError};
use hostwire_packet::ht::VirtualChannel;
use hostwire_packet::htoe::FrameRepr;

use super::credits;
use super::peer::{PEER, Pair};

fn packets_in(bytes: &[u8]) -> usize {
    FrameRepr::parse(bytes).unwrap().packets().len()
}

#[test]
fn a_lone_packet_is_not_held_and_a_stream_is_packed() {
    let mut pair = Pair::new(Config::default());
    let hold_ns = Config::default().packing.hold_ns;
    pair.pass(hold_ns);
    // The first one leaves at once.
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    assert_eq!(packets_in(&pair.sent().unwrap()), 1);
    // Later ones wait for each other, but no longer than `hold_ns`.
    for i in 1..4 {
        pair.endpoint.put(pair.link, i * 64, &[2; 64]).unwrap();
    }
    assert_eq!(pair.sent(), None);
    assert_eq!(pair.endpoint.deadline(), Some(pair.now.after(hold_ns)));
    pair.pass(hold_ns);
    assert_eq!(packets_in(&pair.sent().unwrap()), 3);
    // Or for `flush`.
    pair.endpoint.put(pair.link, 0, &[3; 64]).unwrap();
    assert_eq!(pair.sent(), None);
    pair.endpoint.flush(pair.link);
    assert_eq!(packets_in(&pair.sent().unwrap()), 1);
    // A full frame leaves at once: 1500 bytes hold 20 lines from different places, or 23
    // that follow each other.
    for (stride, full) in [(128, 20), (64, 23)] {
        for i in 0..2 * full + 1 {
            pair.endpoint.put(pair.link, i * stride, &[4; 64]).unwrap();
        }
        assert_eq!(packets_in(&pair.sent().unwrap()), full as usize);
        assert_eq!(packets_in(&pair.sent().unwrap()), full as usize);
        assert_eq!(pair.sent(), None);
        pair.endpoint.flush(pair.link);
        assert_eq!(packets_in(&pair.sent().unwrap()), 1);
    }
}

#[test]
fn many_lines_at_once_make_the_frames_of_one_by_one() {
    let bytes: Vec<u8> = (0..64 * 64 + 7).map(|i| (i % 251) as u8).collect();
    for address in [0, 64, 0x1_2345_6700, 20, (1 << 40) - 640] {
        let (mut all, mut each) = (Pair::new(Config::default()), Pair::new(Config::default()));
        let accepted = all.endpoint.put(all.link, address, &bytes);
        assert_eq!(accepted, Ok(bytes.len()));
        let mut at = address;
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            // To the end of a line.
            let len = rest.len().min(64 - (at % 64) as usize);
            let accepted = each.endpoint.put(each.link, at, &rest[..len]);
            assert_eq!(accepted, Ok(len));
            at += len as u64;
            rest = &rest[len..];
        }
        for pair in [&mut all, &mut each] {
            pair.endpoint.flush(pair.link);
        }
        while let Some(frame) = each.sent() {
            assert_eq!(all.sent(), Some(frame), "{address:#x}");
        }
        assert_eq!(all.sent(), None, "{address:#x}");
    }
}

#[test]
fn a_put_alone_is_the_frame_of_a_put_and_a_flush() {
    for (address, len) in [(0, 64), (4096, 8), (20, 44), (3, 1), (61, 3), (8, 20)] {
        let bytes: Vec<u8> = (0..len).collect();
        let (mut alone, mut each) = (Pair::new(Config::default()), Pair::new(Config::default()));
        // The second follows at once, the third later.
        for wait_ns in [0, 0, 1_000_000] {
            alone.pass(wait_ns);
            each.pass(wait_ns);
            let sent = alone.endpoint.put_alone(alone.link, address, &bytes);
            let frame = sent.map(|transmit| transmit.frame.to_vec());
            alone.endpoint.has_left(alone.now, alone.link);
            assert_eq!(
                each.endpoint.put(each.link, address, &bytes),
                Ok(bytes.len())
            );
            each.endpoint.flush(each.link);
            assert_eq!(frame, each.sent(), "{len} bytes to {address}");
            assert_eq!((alone.sent(), each.sent()), (None, None));
            assert_eq!(alone.endpoint.deadline(), each.endpoint.deadline());
            assert_eq!(
                alone.endpoint.frames_kept(alone.link),
                each.endpoint.frames_kept(each.link)
            );
        }
    }
}

#[test]
fn what_does_not_go_alone_is_not_taken() {
    let refused = |pair: &mut Pair, address, bytes: &[u8]| {
        let before = pair.endpoint.credits(pair.link, VirtualChannel::Posted);
        let kept = pair.endpoint.frames_kept(pair.link);
        assert!(pair.endpoint.put_alone(pair.link, address, bytes).is_none());
        assert_eq!(
            pair.endpoint.credits(pair.link, VirtualChannel::Posted),
            before
        );
        assert_eq!(pair.endpoint.frames_kept(pair.link), kept);
    };
    let mut pair = Pair::new(Config::default());
    // More than one packet, none, and no address.
    refused(&mut pair, 0, &[1; 65]);
    refused(&mut pair, 60, &[1; 8]);
    refused(&mut pair, 0, &[]);
    refused(&mut pair, u64::MAX, &[1; 64]);
    // Behind other waiting packets.
    pair.pass(Config::default().packing.hold_ns);
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    refused(&mut pair, 0, &[2; 64]);
    assert_eq!(packets_in(&pair.sent().unwrap()), 1);
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    assert_eq!(pair.sent(), None);
    refused(&mut pair, 0, &[2; 64]);
    // Without credits: the peer has 100 buffers.
    assert_eq!(pair.endpoint.put(pair.link, 0, &[3; 98 * 64]), Ok(98 * 64));
    assert!(!pair.all_sent().is_empty());
    refused(&mut pair, 0, &[4; 64]);
    // To an unknown peer.
    pair.endpoint.finish(pair.now, pair.link);
    refused(&mut pair, 0, &[5; 64]);
}

#[test]
fn of_many_lines_those_without_credit_are_left_to_the_caller() {
    let mut pair = Pair::new(Config::default());
    let bytes = [5; 150 * 64];
    let put = |pair: &mut Pair| pair.endpoint.put(pair.link, 0, &bytes);
    // The peer has 100 buffers.
    assert_eq!(put(&mut pair), Ok(100 * 64));
    let full = Err(SendError::Full {
        peer: PEER,
        channel: VirtualChannel::Posted,
    });
    assert_eq!(put(&mut pair), full);
    assert_eq!(pair.endpoint.queued(pair.link, VirtualChannel::Posted), 0);
    pair.expected = pair.expected.wrapping_add(pair.all_sent().len() as u16);
    let frame = pair.data(&[credits(3, 2)], &[]);
    assert_eq!(pair.give(&frame), Ok(0));
    assert_eq!(put(&mut pair), Ok(2 * 64));
    assert_eq!(put(&mut pair), full);
}

#[test]
fn nearly_full_frames_are_of_one_length_where_that_is_asked_for() {
    let mut pair = Pair::new(Config {
        pads_full_frames: true,
        ..Config::default()
    });
    let sent = |pair: &mut Pair, puts: &[(u64, usize)]| {
        pair.pass(1_000_000);
        for (address, len) in puts {
            let bytes = [0xff; 64];
            let accepted = pair.endpoint.put(pair.link, *address, &bytes[..*len]);
            assert_eq!(accepted, Ok(*len));
        }
        pair.endpoint.flush(pair.link);
        let bytes = pair.sent().unwrap();
        let frame = FrameRepr::parse(&bytes).unwrap();
        assert_eq!(frame.packets().len(), puts.len());
        let (len, padding) = (frame.buffer_len(), &bytes[frame.buffer_len()..]);
        assert!(padding.iter().all(|byte| *byte == 0), "nobody else's bytes");
        assert_eq!(pair.sent(), None);
        take(pair, &bytes);
        (len, bytes.len())
    };
    let lines: Vec<(u64, usize)> = (0..23).map(|i| (i * 64, 64)).collect();
    assert_eq!(sent(&mut pair, &lines), (1500, 1500));
    assert_eq!(sent(&mut pair, &lines[..22]), (1436, 1500));
    assert_eq!(sent(&mut pair, &lines[..21]), (1372, 1372));
    let apart: Vec<(u64, usize)> = (0..19).map(|i| (i * 128, 64)).collect();
    assert_eq!(sent(&mut pair, &apart), (1388, 1500));
    assert_eq!(sent(&mut pair, &apart[..1]), (92, 92));
}

/// The peer takes a frame, acknowledges it and gives the credits back.
fn take(pair: &mut Pair, frame: &[u8]) {
    let packets = packets_in(frame) as u8;
    if packets == 0 {
        return;
    }
    pair.expected = pair.expected.wrapping_add(1);
    let owed = (0..packets).step_by(3).map(|i| 3.min(packets - i));
    let nops: Vec<_> = owed.map(|owed| credits(owed, owed)).collect();
    let frame = pair.data(&nops, &[]);
    assert_eq!(pair.give(&frame), Ok(0));
    pair.seq = pair.seq.wrapping_add(1);
}

/// Single lines, lines in a row, other packets between them, and other operations: frames,
/// credits and counters are the same whether lines joined a frame or not.
#[test]
fn who_joins_cannot_be_told_from_who_puts() {
    let (mut joins, mut puts) = (Pair::new(Config::default()), Pair::new(Config::default()));
    let mut joined = 0;
    for i in 0..2_000_u64 {
        let address = match i % 37 {
            0..20 => i * 64,
            20..30 => i * 192,
            _ => 4096 + i % 5 * 8,
        };
        let bytes = [i as u8; 64];
        let bytes = &bytes[..if i % 37 < 34 { 64 } else { 8 }];
        if joins.endpoint.join(joins.link, address, bytes) {
            joined += 1;
        } else {
            let accepted = joins.endpoint.put(joins.link, address, bytes);
            assert_eq!(accepted, Ok(bytes.len()));
        }
        let accepted = puts.endpoint.put(puts.link, address, bytes);
        assert_eq!(accepted, Ok(bytes.len()));
        for channel in VirtualChannel::ALL {
            assert_eq!(
                joins.endpoint.credits(joins.link, channel),
                puts.endpoint.credits(puts.link, channel)
            );
        }
        assert_eq!(joins.endpoint.counters(), puts.endpoint.counters());
        match i % 101 {
            50 => [&mut joins, &mut puts].map(|pair| pair.endpoint.flush(pair.link)),
            70 => [&mut joins, &mut puts].map(|pair| pair.pass(5_000)),
            90 => {
                assert_eq!(
                    joins.endpoint.ticket(joins.link),
                    puts.endpoint.ticket(puts.link)
                );
                [(), ()]
            }
            _ => [(), ()],
        };
        loop {
            let frame = puts.sent();
            assert_eq!(joins.sent(), frame, "after {i}");
            let Some(frame) = frame else { break };
            for pair in [&mut joins, &mut puts] {
                take(pair, &frame);
            }
        }
    }
    assert!(joined > 1_500, "{joined}");
}
