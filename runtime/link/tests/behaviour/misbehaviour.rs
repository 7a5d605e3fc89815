//! Peers that break the rules, and frames that are for another endpoint.

use hostwire_link::{CloseReason, Config, DropCause, Misbehaviour, Node};
use hostwire_packet::ht::VirtualChannel;
use hostwire_packet::htoe::{self, Contents, FrameRepr, HeaderRepr, SessionRepr, seal};

use crate::credits;
use crate::peer::{ME, PEER, Pair, hello, line, session_frame};

#[test]
fn who_overruns_credits_is_cut_off() {
    let mut pair = Pair::new(Config {
        buffers: [2, 2, 2],
        ..Config::default()
    });
    let data = [1; 64];
    let three = [line(0, &data), line(64, &data), line(128, &data)];
    let frame = pair.data(&[], &three);
    assert_eq!(pair.give(&frame), Err(DropCause::Misbehaved));
    let reason = pair.closed().unwrap();
    assert_eq!(
        reason,
        CloseReason::Misbehaved(Misbehaviour::CreditOverrun {
            channel: VirtualChannel::Posted,
            granted_command: 2,
            granted_data: 2,
            used_command: 3,
            used_data: 3,
        })
    );
    let error = pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "node 2: cut off: overran its posted credits: had 2 command and 2 data, used 3 and 3"
    );
    assert_eq!(pair.told(), Some(htoe::CloseReason::CreditOverrun));
    // A later frame gets the same answer.
    pair.seq = pair.seq.wrapping_add(1);
    let late = pair.data(&[], &three[..1]);
    assert_eq!(pair.give(&late), Err(DropCause::NotOpen));
    assert_eq!(pair.told(), Some(htoe::CloseReason::CreditOverrun));
}

#[test]
fn held_buffers_are_not_credits() {
    let mut pair = Pair::new(Config {
        buffers: [2, 2, 2],
        ..Config::default()
    });
    let data = [1; 64];
    let frame = pair.data(&[], &[line(0, &data), line(64, &data)]);
    let delivery = pair.endpoint.receive(pair.now, &frame).unwrap().unwrap();
    let (link, filled) = (delivery.link, delivery.filled());
    pair.pass(1_000_000);
    for header in pair.all_sent() {
        assert_eq!(header.frame_type, htoe::FrameType::Ack);
    }
    let credits = pair.endpoint.credits(pair.link, VirtualChannel::Posted);
    assert_eq!((credits.granted.command, credits.filled.command), (0, 2));
    assert_eq!(pair.endpoint.release(pair.now, link, filled), Ok(()));
    assert!(pair.endpoint.release(pair.now, link, filled).is_err());
    // The peer has no credits left: they go back at once.
    let bytes = pair.sent().unwrap();
    let frame = FrameRepr::parse(&bytes).unwrap();
    assert_eq!(frame.credits(VirtualChannel::Posted), (2, 2));
}

#[test]
fn who_returns_too_many_credits_is_cut_off() {
    let mut pair = Pair::new(Config::default());
    assert_eq!(
        pair.give(&pair.data(&[credits(1, 0)], &[])),
        Err(DropCause::Misbehaved)
    );
    assert_eq!(
        pair.closed(),
        Some(CloseReason::Misbehaved(Misbehaviour::CreditExcess {
            channel: VirtualChannel::Posted
        }))
    );
    assert_eq!(pair.told(), Some(htoe::CloseReason::CreditExcess));
}

/// The header announces one packet, but it is a NOP.
fn broken(header: HeaderRepr) -> Vec<u8> {
    let mut bytes = vec![0; 24];
    let contents = Contents {
        packets: 1,
        nops: 0,
        len: 4,
    };
    seal(&header, contents, &mut bytes).unwrap();
    bytes
}

#[test]
fn who_makes_malformed_frames_is_cut_off_but_not_for_strays() {
    let mut pair = Pair::new(Config::default());
    for stray in [
        broken(pair.header().with_key(pair.key ^ 1)),
        broken(HeaderRepr {
            sequence: pair.seq.wrapping_add(1),
            ..pair.header()
        }),
        broken(HeaderRepr {
            virtual_link: 77,
            ..pair.header()
        }),
    ] {
        assert_eq!(pair.give(&stray), Err(DropCause::Malformed));
        assert_eq!(pair.closed(), None);
    }
    assert_eq!(pair.give(&broken(pair.header())), Err(DropCause::Malformed));
    assert!(matches!(
        pair.closed(),
        Some(CloseReason::Misbehaved(Misbehaviour::Malformed(_)))
    ));
    assert_eq!(pair.told(), Some(htoe::CloseReason::Malformed));
    assert_eq!(pair.endpoint.counters().dropped(DropCause::Malformed), 4);
}

#[test]
fn strangers_are_counted_by_cause() {
    let mut pair = Pair::new(Config::default());
    let good = pair.data(&[], &[line(0, &[1; 64])]);
    let cases = [
        (good[..15].to_vec(), DropCause::Truncated),
        (good[..60].to_vec(), DropCause::Truncated),
        (vec![0; 64], DropCause::Corrupt),
        (
            pair.frame(pair.header().with_key(pair.key.wrapping_add(1)), &[], &[]),
            DropCause::Stale,
        ),
        (
            pair.frame(
                HeaderRepr {
                    virtual_link: 1,
                    ..pair.header()
                },
                &[],
                &[],
            ),
            DropCause::NoLink,
        ),
        (
            pair.frame(
                HeaderRepr {
                    ack: Some(pair.expected.wrapping_add(1)),
                    ..pair.header()
                },
                &[],
                &[],
            ),
            DropCause::BadAck,
        ),
    ];
    // No frame in flight can have this number: even its ack is ignored.
    let far = HeaderRepr {
        sequence: pair.seq.wrapping_sub(8193),
        ack: Some(pair.expected.wrapping_add(1)),
        ..pair.header()
    };
    assert_eq!(pair.give(&pair.frame(far, &[], &[])), Err(DropCause::Stale));
    let mut flipped = good.clone();
    flipped[30] ^= 1;
    assert_eq!(pair.give(&flipped), Err(DropCause::Corrupt));
    are_counted(&mut pair, cases);
    // None of these had an effect.
    assert_eq!(pair.closed(), None);
    assert_eq!(pair.give(&good), Ok(1));
}

/// Gives frames to the endpoint, which has to drop and count each for this cause.
fn are_counted(pair: &mut Pair, cases: impl IntoIterator<Item = (Vec<u8>, DropCause)>) {
    for (bytes, cause) in cases {
        let before = pair.endpoint.counters().dropped(cause);
        assert_eq!(pair.give(&bytes), Err(cause));
        assert_eq!(pair.endpoint.counters().dropped(cause), before + 1);
    }
}

#[test]
fn sessions_of_others_are_counted_by_cause() {
    let mut pair = Pair::new(Config::default());
    let good = pair.data(&[], &[line(0, &[1; 64])]);
    let hello = hello(&pair);
    let reset = HeaderRepr::reset(0, 5);
    let cases = [
        (
            session_frame(reset, SessionRepr { job: 41, ..hello }),
            DropCause::Foreign,
        ),
        (
            session_frame(
                reset,
                SessionRepr {
                    destination_node: 3,
                    ..hello
                },
            ),
            DropCause::Foreign,
        ),
        (
            session_frame(
                reset,
                SessionRepr {
                    source_node: 3,
                    ..hello
                },
            ),
            DropCause::NoLink,
        ),
        (
            session_frame(
                reset,
                SessionRepr {
                    source_incarnation: 499,
                    ..hello
                },
            ),
            DropCause::Stale,
        ),
        (
            session_frame(
                HeaderRepr::close(0),
                SessionRepr {
                    destination_incarnation: 999,
                    reason: Some(htoe::CloseReason::Finished),
                    ..hello
                },
            ),
            DropCause::Stale,
        ),
    ];
    are_counted(&mut pair, cases);
    assert_eq!(pair.closed(), None);
    assert_eq!(pair.give(&good), Ok(1));
}

/// A peer that can seal frames cannot send for the link of another peer: such frames are dropped. This
/// includes frames for which the other would be cut off, and frames that open and close a link.
#[test]
fn frames_of_another_link_than_that_of_their_maker_are_counted_and_dropped() {
    let mut pair = Pair::new(Config::default());
    let other = Node(7);
    pair.endpoint.link(other).unwrap();
    let good = pair.data(&[], &[line(0, &[1; 64])]);
    let bad = broken(pair.header());
    let hello = hello(&pair);
    let close = SessionRepr {
        reason: Some(htoe::CloseReason::Finished),
        ..hello
    };
    let frames = [
        (&good, DropCause::OfAnother),
        (&bad, DropCause::Malformed),
        (
            &session_frame(HeaderRepr::reset(0, 5), hello),
            DropCause::OfAnother,
        ),
        (
            &session_frame(HeaderRepr::close(0), close),
            DropCause::OfAnother,
        ),
    ];
    for (bytes, cause) in frames {
        for maker in [other, ME] {
            let before = pair.endpoint.counters().dropped(cause);
            let taken = pair.endpoint.receive_from(pair.now, Some(maker), bytes);
            assert_eq!(taken.unwrap_err(), cause);
            assert_eq!(pair.endpoint.counters().dropped(cause), before + 1);
            assert_eq!(pair.closed(), None);
        }
    }
    let taken = pair.endpoint.receive_from(pair.now, Some(PEER), &good);
    assert_eq!(taken.unwrap().unwrap().packets.len(), 1);
    pair.seq = pair.seq.wrapping_add(1);
    let bad = broken(pair.header());
    let taken = pair.endpoint.receive_from(pair.now, Some(PEER), &bad);
    assert_eq!(taken.unwrap_err(), DropCause::Malformed);
    assert!(pair.closed().is_some());
}
