//! The behaviour of an endpoint, frame by frame, with a peer that the test writes by
//! hand.

mod misbehaviour;
mod packing;
mod peer;

use hostwire_link::{
    CloseReason, Config, DropCause, Endpoint, Identity, Misbehaviour, Node, Progress, SendError,
};
use hostwire_packet::ht::{
    ChannelCredits, ControlRepr, NopRepr, RequestKind, RequestRepr, SeqId, SrcTag, UnitId,
    VirtualChannel,
};
use hostwire_packet::htoe::{self, FrameRepr, FrameType, HeaderRepr, SessionRepr};
use peer::{ME, PEER, Pair, hello, line, session_frame};

fn credits(command: u8, data: u8) -> NopRepr {
    NopRepr {
        posted: ChannelCredits::new(command, data).unwrap(),
        ..NopRepr::default()
    }
}

#[test]
fn an_ack_waits_for_a_frame_that_carries_it() {
    let mut pair = Pair::new(Config::default());
    let frame = pair.data(&[], &[line(0, &[1; 64])]);
    assert_eq!(pair.give(&frame), Ok(1));
    pair.seq = pair.seq.wrapping_add(1);
    assert_eq!(pair.sent(), None);
    pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap();
    let bytes = pair.sent().unwrap();
    let frame = FrameRepr::parse(&bytes).unwrap();
    assert_eq!(frame.header().ack, Some(pair.seq));
    // The credit leaves with the frame.
    assert_eq!(frame.credits(VirtualChannel::Posted), (1, 1));
    pair.expected = pair.expected.wrapping_add(1);
    // Without a data frame it leaves after `ack_delay_ns`.
    let frame = pair.data(&[], &[line(0, &[1; 64])]);
    assert_eq!(pair.give(&frame), Ok(1));
    pair.pass(Config::default().ack_delay_ns - 1);
    assert_eq!(pair.all_sent(), []);
    pair.pass(1);
    let acks = pair.all_sent();
    assert_eq!(acks.len(), 1);
    assert_eq!(acks[0].ack, Some(pair.seq.wrapping_add(1)));
    assert_eq!(acks[0].frame_type, htoe::FrameType::Ack);
}

#[test]
fn a_gap_is_reported_once() {
    let mut pair = Pair::new(Config::default());
    let first = pair.seq;
    for ahead in 1..4 {
        pair.seq = first.wrapping_add(ahead);
        let frame = pair.data(&[], &[line(0, &[1; 64])]);
        assert_eq!(pair.give(&frame), Err(DropCause::OutOfOrder));
    }
    let acks = pair.all_sent();
    assert_eq!(acks.len(), 1);
    assert_eq!((acks[0].ack, acks[0].nak), (Some(first), true));
    // Closed, and another one opened.
    pair.seq = first;
    assert_eq!(pair.give(&pair.data(&[], &[])), Ok(0));
    pair.seq = first.wrapping_add(2);
    assert_eq!(pair.give(&pair.data(&[], &[])), Err(DropCause::OutOfOrder));
    assert_eq!(pair.all_sent().len(), 1);
    let counters = pair.endpoint.counters();
    assert_eq!(counters.naks_sent, 2);
    assert_eq!(counters.dropped(DropCause::OutOfOrder), 4);
    // A duplicate is answered at once: its ack may have been lost.
    pair.seq = first;
    assert_eq!(pair.give(&pair.data(&[], &[])), Err(DropCause::Duplicate));
    assert_eq!(pair.all_sent()[0].ack, Some(first.wrapping_add(1)));
}

#[test]
fn numbers_wrap() {
    let mut pair = Pair::new(Config::default());
    for i in 0..12u16 {
        assert_eq!(pair.seq, 65_530u16.wrapping_add(i));
        let frame = pair.data(&[], &[line(0, &[1; 64])]);
        assert_eq!(pair.give(&frame), Ok(1));
        assert_eq!(pair.give(&frame), Err(DropCause::Duplicate));
        pair.seq = pair.seq.wrapping_add(1);
        assert_eq!(pair.all_sent()[0].ack, Some(pair.seq));
    }
}

#[test]
fn a_nak_is_answered_by_all_that_is_missing() {
    let mut pair = Pair::new(Config::default());
    let first = pair.expected;
    for i in 0..3 {
        pair.endpoint.put(pair.link, i * 64, &[1; 64]).unwrap();
        pair.endpoint.flush(pair.link);
        assert!(pair.sent().is_some());
    }
    pair.expected = first.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    // A second nak for the same gap is a duplicate.
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    let resent: Vec<_> = pair.all_sent().iter().map(|h| h.sequence).collect();
    assert_eq!(resent, [first.wrapping_add(1), first.wrapping_add(2)]);
    assert_eq!(pair.endpoint.counters().naks_received, 1);
    assert_eq!(pair.endpoint.counters().frames_resent, 2);
}

/// A nak may be lost: every frame to the sender repeats it while the gap exists, and the
/// sender may ask for it.
#[test]
fn a_gap_is_repeated_by_every_frame_until_it_is_closed() {
    let mut pair = Pair::new(Config::default());
    let first = pair.seq;
    pair.seq = first.wrapping_add(1);
    assert_eq!(pair.give(&pair.data(&[], &[])), Err(DropCause::OutOfOrder));
    assert!(pair.all_sent()[0].nak);
    let header = HeaderRepr {
        ack_wanted: true,
        sequence: first.wrapping_add(2),
        ..pair.header()
    };
    let asks = pair.frame(header, &[], &[]);
    assert_eq!(pair.give(&asks), Err(DropCause::OutOfOrder));
    let acks = pair.all_sent();
    assert_eq!((acks.len(), acks[0].nak), (1, true));
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    pair.endpoint.flush(pair.link);
    assert!(pair.all_sent()[0].nak);
    assert_eq!(pair.endpoint.counters().naks_sent, 1);
    pair.seq = first;
    assert_eq!(pair.give(&pair.data(&[], &[])), Ok(0));
    pair.seq = first.wrapping_add(1);
    pair.pass(25_000);
    let acks = pair.all_sent();
    assert_eq!((acks.len(), acks[0].nak), (1, false));
}

/// The repair of a gap may also be lost: a nak that arrives later than a round trip and its usual deviation shows
/// this.
#[test]
fn a_repair_that_is_lost_is_repeated_without_a_timer() {
    let mut pair = Pair::new(Config::default());
    let send = |pair: &mut Pair| {
        pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
        pair.endpoint.flush(pair.link);
        pair.all_sent().len()
    };
    // A round trip takes 20 us.
    assert_eq!(send(&mut pair), 1);
    pair.pass(20_000);
    pair.expected = pair.expected.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(false)), Ok(0));
    // Two frames, the first is lost.
    assert_eq!((send(&mut pair), send(&mut pair)), (1, 1));
    pair.pass(20_000);
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    assert_eq!(pair.all_sent().len(), 2);
    // A nak from before the repair came.
    pair.pass(20_000);
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    assert_eq!(pair.all_sent(), []);
    // A nak from after it should have come: after one sample the deviation counts as half of the round trip (RFC
    // 6298).
    pair.pass(11_000);
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    assert_eq!(pair.all_sent().len(), 2);
    assert_eq!(pair.endpoint.counters().timeouts, 0);
}

/// After losses fewer frames are in flight, also of those that are sent again.
#[test]
fn after_a_loss_fewer_frames_are_on_their_way() {
    let mut pair = Pair::new(Config {
        frames_in_flight_max: 64,
        ..Config::default()
    });
    let fill = |pair: &mut Pair| {
        let mut frames = 0;
        while pair.endpoint.put(pair.link, 0, &[1; 64]).is_ok() {
            pair.endpoint.flush(pair.link);
            frames += pair.all_sent().len();
        }
        frames
    };
    assert_eq!(fill(&mut pair), 10);
    pair.pass(20_000);
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    let again = pair.all_sent();
    assert_eq!(again.len(), 5);
    assert!(again[4].ack_wanted);
    // One has arrived, so one more may go; nothing new before the old ones have.
    pair.expected = pair.expected.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(false)), Ok(0));
    assert_eq!((pair.all_sent().len(), fill(&mut pair)), (1, 0));
}

/// No later frame shows that the last one is lost. So the peer is asked after two round trips plus the delay of an
/// ack, by a frame with the number of frames sent.
#[test]
fn a_last_frame_that_is_lost_is_asked_for() {
    let config = Config::default();
    let mut pair = Pair::new(config.clone());
    let send = |pair: &mut Pair| {
        pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
        pair.endpoint.flush(pair.link);
        pair.all_sent().len()
    };
    assert_eq!(send(&mut pair), 1);
    pair.pass(20_000);
    pair.expected = pair.expected.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(false)), Ok(0));
    assert_eq!(send(&mut pair), 1);
    let wait_ns = 2 * 20_000 + config.ack_delay_ns;
    for wait_ns in [wait_ns, 2 * wait_ns] {
        pair.pass(wait_ns - 1);
        assert_eq!(pair.all_sent(), []);
        pair.pass(1);
        let asked = pair.all_sent();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].frame_type, FrameType::Ack);
        assert!(asked[0].ack_wanted);
        assert_eq!(asked[0].sequence, pair.expected.wrapping_add(1));
    }
    assert_eq!(pair.give(&pair.ack(true)), Ok(0));
    assert_eq!(pair.all_sent().len(), 1);
    assert_eq!(pair.endpoint.counters().timeouts, 0);
}

/// A frame that only asks shows what is missing before it.
#[test]
fn a_question_behind_a_lost_frame_is_answered_by_a_nak() {
    let mut pair = Pair::new(Config::default());
    let expected = pair.seq;
    for (ahead, nak) in [(0, false), (1, true), (1, true)] {
        pair.seq = expected.wrapping_add(ahead);
        let question = pair.question();
        assert_eq!(pair.give(&question), Ok(0));
        let answers = pair.all_sent();
        assert_eq!(answers.len(), 1);
        assert_eq!((answers[0].ack, answers[0].nak), (Some(expected), nak));
    }
}

/// A receiver with memory for early frames says how many are missing, and only those come again.
#[test]
fn only_what_is_missing_is_sent_again() {
    let mut pair = Pair::new(Config::default());
    let send = |pair: &mut Pair| {
        pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
        pair.endpoint.flush(pair.link);
        pair.all_sent().len()
    };
    for _ in 0..6 {
        assert_eq!(send(&mut pair), 1);
    }
    pair.pass(20_000);
    let first = pair.expected;
    assert_eq!(pair.give(&pair.missing(2)), Ok(0));
    let again = pair.all_sent();
    let numbers: Vec<_> = again.iter().map(|header| header.sequence).collect();
    assert_eq!(numbers, [first, first.wrapping_add(1)]);
    assert!(again[1].ack_wanted);
    // New frames continue after those that were sent before.
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    pair.endpoint.flush(pair.link);
    let next = pair.all_sent();
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].sequence, first.wrapping_add(6));
    assert_eq!(pair.endpoint.counters().frames_resent, 2);
}

#[test]
fn frames_behind_a_gap_are_kept_for_their_turn() {
    let mut pair = Pair::new(Config {
        early_frames_max: 2,
        ..Config::default()
    });
    let first = pair.seq;
    let frame = |pair: &mut Pair, ahead: u16| {
        pair.seq = first.wrapping_add(ahead);
        pair.data(&[], &[line(u64::from(ahead) * 64, &[1; 64])])
    };
    // There is no room for the third.
    for (ahead, taken) in [(3, Ok(0)), (1, Ok(0)), (4, Err(DropCause::OutOfOrder))] {
        let frame = frame(&mut pair, ahead);
        assert_eq!(pair.give(&frame), taken);
    }
    let said = FrameRepr::parse(&pair.sent().unwrap()).unwrap().missing();
    assert_eq!(said, Some(1));
    assert_eq!(pair.endpoint.take_early(pair.link), None);
    let missing = frame(&mut pair, 0);
    assert_eq!(pair.give(&missing), Ok(1));
    let next = pair.endpoint.take_early(pair.link).unwrap();
    assert_eq!(pair.give(&next), Ok(1));
    assert_eq!(pair.endpoint.take_early(pair.link), None);
    let bytes = pair.sent().unwrap();
    let frame = FrameRepr::parse(&bytes).unwrap();
    assert_eq!(frame.header().ack, Some(first.wrapping_add(2)));
    assert_eq!((frame.header().nak, frame.missing()), (true, Some(1)));
    assert_eq!(pair.endpoint.counters().frames_early, 2);
}

#[test]
fn timeouts_back_off_and_probe_with_one_frame() {
    let config = Config {
        rto_initial_ns: 5_000_000,
        rto_max_ns: 50_000_000,
        ..Config::default()
    };
    let mut pair = Pair::new(config);
    for _ in 0..3 {
        pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
        pair.endpoint.flush(pair.link);
        assert!(pair.sent().is_some());
    }
    for wait_ns in [5_000_000, 10_000_000, 20_000_000, 40_000_000, 50_000_000] {
        // Nothing but questions.
        pair.pass(wait_ns - 1);
        let is_data = |header: &HeaderRepr| header.frame_type == FrameType::Data;
        assert!(!pair.all_sent().iter().any(is_data), "before {wait_ns}");
        pair.pass(1);
        let mut probe = pair.all_sent();
        probe.retain(is_data);
        assert_eq!(probe.len(), 1);
        assert_eq!(probe[0].sequence, pair.expected);
        assert!(probe[0].ack_wanted);
    }
    // One answer, and the rest follows.
    pair.expected = pair.expected.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(false)), Ok(0));
    assert_eq!(pair.all_sent().len(), 2);
    assert_eq!(pair.endpoint.counters().timeouts, 5);
}

#[test]
fn quiet_asks_for_an_ack() {
    let mut pair = Pair::new(Config::default());
    let nothing = pair.endpoint.ticket(pair.link).unwrap();
    assert_eq!(
        pair.endpoint.progress(pair.link, nothing),
        Progress::Arrived
    );
    assert_eq!(pair.sent(), None);
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    let ticket = pair.endpoint.ticket(pair.link).unwrap();
    let sent = pair.all_sent();
    assert!(sent.len() == 1 && sent[0].ack_wanted);
    assert_eq!(pair.endpoint.progress(pair.link, ticket), Progress::Pending);
    // Asked again with nothing new to send: a frame that only asks.
    pair.endpoint.ticket(pair.link).unwrap();
    let asked = pair.all_sent();
    assert!(asked.len() == 1 && asked[0].ack_wanted);
    assert_eq!(asked[0].frame_type, htoe::FrameType::Ack);
    pair.expected = pair.expected.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(false)), Ok(0));
    assert_eq!(pair.endpoint.progress(pair.link, ticket), Progress::Arrived);
    assert_eq!(pair.all_sent(), []);
}

#[test]
fn a_restarted_peer_is_a_new_session() {
    let mut pair = Pair::new(Config::default());
    let (old_key, old_seq) = (pair.key, pair.expected);
    pair.peer_incarnation = 501;
    let call = SessionRepr {
        destination_incarnation: 0,
        ready: false,
        ..hello(&pair)
    };
    assert_eq!(
        pair.give(&session_frame(HeaderRepr::reset(0, 1), call)),
        Ok(0)
    );
    assert_eq!(
        pair.closed(),
        Some(CloseReason::Restarted {
            before: 500,
            now: 501
        })
    );
    pair.open();
    assert_ne!(pair.key, old_key);
    assert_eq!(pair.expected.wrapping_sub(old_seq), 16_384);
    assert_eq!(pair.incarnation, 1_001);
    // A frame of the earlier life.
    let stale = pair.frame(pair.header().with_key(old_key), &[], &[]);
    assert_eq!(pair.give(&stale), Err(DropCause::Stale));
}

#[test]
fn finish_waits_for_the_last_ack() {
    let mut pair = Pair::new(Config::default());
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    pair.endpoint.finish(pair.now, pair.link);
    assert!(matches!(
        pair.endpoint.put(pair.link, 0, &[1; 64]),
        Err(SendError::Closed { .. })
    ));
    assert_eq!(pair.all_sent().len(), 1);
    assert_eq!(pair.closed(), None);
    pair.expected = pair.expected.wrapping_add(1);
    assert_eq!(pair.give(&pair.ack(false)), Ok(0));
    assert_eq!(pair.closed(), Some(CloseReason::Finished));
    assert_eq!(pair.told(), Some(htoe::CloseReason::Finished));
    // It is said to have ended.
    let mut pair = Pair::new(Config::default());
    pair.endpoint.give_up(pair.now, pair.link);
    assert_eq!(pair.closed(), Some(CloseReason::GivenUp));
    assert_eq!(pair.told(), Some(htoe::CloseReason::Silent));
    // And the other way round.
    let mut pair = Pair::new(Config::default());
    let close = SessionRepr {
        reason: Some(htoe::CloseReason::CreditOverrun),
        ..hello(&pair)
    };
    assert_eq!(
        pair.give(&session_frame(HeaderRepr::close(0), close)),
        Ok(0)
    );
    let reason = pair.closed().unwrap();
    assert_eq!(
        reason.to_string(),
        "cut off by the peer: a packet without a credit for it"
    );
}

#[test]
fn a_peer_that_never_answers() {
    let mut pair = Pair::unopened(Config::default());
    pair.endpoint.open(pair.now, pair.link).unwrap();
    assert!(matches!(
        pair.endpoint.put(pair.link, 0, &[1]),
        Err(SendError::Opening(PEER))
    ));
    let mut hellos = 0;
    for _ in 0..40_000 {
        pair.pass(1_000_000);
        while pair.sent().is_some() {
            hellos += 1;
        }
    }
    assert!(matches!(
        pair.closed(),
        Some(CloseReason::Unreachable {
            after_ns: 30_000_000_000..
        })
    ));
    assert!((10..100).contains(&hellos), "{hellos}");
}

#[test]
fn offers_that_no_packet_fits() {
    for (change, field) in [
        (
            (|h: &mut SessionRepr| h.frame_len_max = 127) as fn(&mut SessionRepr),
            "frames",
        ),
        (|h| h.buffers[2] = 0, "buffers"),
    ] {
        let mut pair = Pair::unopened(Config::default());
        pair.endpoint.open(pair.now, pair.link).unwrap();
        pair.incarnation = 1_000;
        let mut offer = hello(&pair);
        change(&mut offer);
        let frame = session_frame(HeaderRepr::reset(0, 1), offer);
        assert_eq!(pair.give(&frame), Ok(0));
        match pair.closed() {
            Some(CloseReason::Misbehaved(Misbehaviour::Offer { field: got, .. })) => {
                assert_eq!(got, field);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn posted_packets_pass_requests_that_wait_for_credits() {
    let mut pair = Pair::new(Config::default());
    let flush = |tag| RequestRepr {
        unit_id: UnitId::MIN,
        seq_id: SeqId::MIN,
        pass_pw: false,
        kind: RequestKind::Flush {
            src_tag: SrcTag::new(tag).unwrap(),
            isoc: false,
        },
    };
    let mut sent = 0;
    // The peer has 100 buffers; 32 more wait here.
    while let Ok(()) = {
        let packet = hostwire_packet::ht::PacketRepr::new(flush(sent as u8 % 32), &[]).unwrap();
        pair.endpoint.send(pair.link, &packet)
    } {
        sent += 1;
    }
    assert_eq!(sent, 132);
    assert_eq!(
        pair.endpoint.queued(pair.link, VirtualChannel::NonPosted),
        32
    );
    pair.endpoint.put(pair.link, 0, &[1; 64]).unwrap();
    pair.endpoint.flush(pair.link);
    let mut last = None;
    while let Some(bytes) = pair.sent() {
        let frame = FrameRepr::parse(&bytes).unwrap();
        last = frame.packets().last().map(|packet| *packet.control());
    }
    assert!(matches!(
        last,
        Some(ControlRepr::Request(RequestRepr {
            kind: RequestKind::Write(_),
            ..
        }))
    ));
}

#[test]
fn bad_settings() {
    let identity = Identity {
        node: ME,
        job: 1,
        incarnation: 1,
    };
    for config in [
        Config {
            frame_len_max: 127,
            ..Config::default()
        },
        Config {
            frame_len_max: 70_000,
            ..Config::default()
        },
        Config {
            buffers: [1, 0, 1],
            ..Config::default()
        },
        Config {
            frames_in_flight_max: 0,
            ..Config::default()
        },
        Config {
            frames_in_flight_max: 8193,
            ..Config::default()
        },
        Config {
            rto_min_ns: 2,
            rto_max_ns: 1,
            ..Config::default()
        },
        Config {
            hello_ns: 0,
            ..Config::default()
        },
    ] {
        let error = Endpoint::new(config, identity, 0).unwrap_err();
        assert!(error.to_string().starts_with("link config: "));
    }
    let nobody = Identity {
        incarnation: 0,
        ..identity
    };
    assert!(Endpoint::new(Config::default(), nobody, 0).is_err());
    let mut endpoint = Endpoint::new(Config::default(), identity, 0).unwrap();
    assert!(endpoint.link(ME).is_err());
    let link = endpoint.link(Node(5)).unwrap();
    assert_eq!(endpoint.link(Node(5)), Ok(link));
    assert!(matches!(
        endpoint.put(link, 0, &[1]),
        Err(SendError::Closed {
            reason: CloseReason::NotOpened,
            ..
        })
    ));
}

/// A process that does not run for longer than the limit of silence does not blame the peer. The peer may also
/// need a while to answer.
#[test]
fn time_in_which_nobody_listened_is_not_the_silence_of_the_peer() {
    const S: u64 = 1_000_000_000;
    let dead_after_ns = Config::default().dead_after_ns;
    let mut pair = Pair::new(Config::default());
    pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap();
    assert_eq!(pair.all_sent().len(), 1);
    // Served in time for a moment, then not at all for three times the limit of silence, and then in time again.
    pair.listen(S / 10);
    pair.now = pair.now.after(3 * dead_after_ns);
    pair.listen(dead_after_ns / 2);
    assert_eq!(pair.closed(), None);
    pair.expected = pair.expected.wrapping_add(1);
    let ack = pair.ack(false);
    pair.give(&ack).unwrap();
    // Many short pauses, none of them long.
    pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap();
    for _ in 0..30 {
        pair.now = pair.now.after(S / 2);
        pair.endpoint.on_timeout(pair.now);
        pair.all_sent();
    }
    assert_eq!(pair.closed(), None);
    // An endpoint that listens notices a silent peer.
    pair.listen(dead_after_ns + S);
    assert!(matches!(pair.closed(), Some(CloseReason::Silent { .. })));
}

/// A peer whose process does not run is not lost while its kernel answers. When it is heard again, missing acks of
/// that time do not count against it.
#[test]
fn a_peer_whose_host_answers_has_more_time() {
    const S: u64 = 1_000_000_000;
    let mut pair = Pair::new(Config::default());
    let limit_ns = Config::default().dead_after_ns;
    let peer = pair.endpoint.peer(pair.link).unwrap();
    pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap();
    pair.all_sent();
    assert_eq!(pair.endpoint.in_doubt(pair.now).count(), 0);
    let answers_for = |pair: &mut Pair, ns: u64| {
        for _ in 0..ns / S {
            let now = pair.now;
            pair.endpoint.host_answered(peer, Some(now));
            pair.listen(S);
        }
    };
    answers_for(&mut pair, 3 * limit_ns);
    assert_eq!(pair.endpoint.in_doubt(pair.now).next(), Some(peer));
    assert_eq!(pair.closed(), None);
    // It is heard again, at first with an ack of nothing new.
    let ack = pair.ack(false);
    pair.give(&ack).unwrap();
    pair.listen(S);
    assert_eq!(pair.closed(), None);
    pair.expected = pair.expected.wrapping_add(1);
    let ack = pair.ack(false);
    pair.give(&ack).unwrap();
    // It is stopped for good.
    pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap();
    answers_for(&mut pair, 10 * limit_ns - S);
    assert_eq!(pair.closed(), None);
    answers_for(&mut pair, 2 * S);
    assert!(matches!(pair.closed(), Some(CloseReason::Stopped { .. })));
}

#[test]
fn a_peer_whose_host_is_silent_too_is_lost_after_the_limit() {
    let mut pair = Pair::new(Config::default());
    let limit_ns = Config::default().dead_after_ns;
    let peer = pair.endpoint.peer(pair.link).unwrap();
    pair.endpoint.put(pair.link, 0, &[1; 4]).unwrap();
    pair.all_sent();
    pair.endpoint.host_answered(peer, Some(pair.now));
    pair.listen(limit_ns + 1_000_000_000);
    assert!(matches!(
        pair.closed(),
        Some(CloseReason::HostSilent { .. })
    ));
}

#[test]
fn a_mark_goes_back_with_the_next_frame_once() {
    let mut pair = Pair::new(Config::default());
    let write = [line(0, &[1; 8])];
    pair.give(&pair.data(&[], &write)).unwrap();
    pair.endpoint.note_mark(PEER);
    pair.pass(1_000_000);
    let told: Vec<bool> = pair.all_sent().iter().map(|header| header.marked).collect();
    assert_eq!(told, [true]);
    // There is no link to tell.
    pair.endpoint.note_mark(Node(77));
    assert_eq!(pair.endpoint.counters().frames_marked, 1);
}
