//! The short ways of short messages.

use hostwire::station::Received;

use super::*;

#[test]
fn a_short_receive_takes_what_a_receive_would_get() {
    let (a, b) = pair();
    let from_a = |tag: u64| Wanted {
        lane: Lane::Tagged,
        from: Source::Pe(1),
        tag: Tag::from(tag),
    };
    let label = |tag: u64, data| Label {
        lane: Lane::Tagged,
        tag,
        data,
    };
    // The stations meet by the first message.
    assert!(a.send_at_once(1, label(1, Some(5)), b"first").unwrap());
    receive(&b, from_a(1), 16);
    assert_eq!(bytes(next(&b, &[&a])), b"first");
    for (tag, data) in [(2, Some(7)), (1 << 40, None), (4, Some(8))] {
        assert!(a.send_at_once(1, label(tag, data), b"0123456789").unwrap());
    }
    let mut room = [0; 16];
    assert_eq!(b.receive_at_once(from_a(3), &mut room), None, "another tag");
    assert_eq!(
        b.receive_at_once(from_a(2), &mut room[..9]),
        None,
        "it does not fit"
    );
    let plain = Wanted {
        lane: Lane::Plain,
        ..from_a(2)
    };
    assert_eq!(b.receive_at_once(plain, &mut room), None, "another lane");
    let got = b.receive_at_once(from_a(2), &mut room).unwrap();
    assert_eq!(
        (got.from, got.tag, got.data, got.has_data, got.len_bytes),
        (1, 2, 7, true, 10)
    );
    assert_eq!(&room[..10], b"0123456789");
    // Messages before one that a receive has taken are not in the ring any more.
    let last = receive(&b, from_a(4), 16);
    assert_eq!(b.receive_at_once(from_a(1 << 40), &mut room), None);
    let done = next(&b, &[&a]);
    assert_eq!((done.ticket, done.result.unwrap().data), (last, 8));
    receive(&b, from_a(1 << 40), 16);
    assert_eq!(bytes(next(&b, &[&a])), b"0123456789");
    // While a receive waits, no message may take this way.
    let posted = receive(&b, from_a(5), 16);
    assert!(a.send_at_once(1, label(6, Some(1)), b"6").unwrap());
    assert!(a.send_at_once(1, label(5, Some(1)), b"5").unwrap());
    assert_eq!(b.receive_at_once(from_a(6), &mut room), None);
    let done = next(&b, &[&a]);
    assert_eq!((done.ticket, bytes(done)), (posted, b"5".to_vec()));
}

/// What a look gives, when there is something.
fn glance(station: &Station) -> Option<Received> {
    let deadline = Instant::now() + SOON;
    while Instant::now() < deadline {
        match station.glance() {
            Glance::Nothing => {}
            Glance::More => return None,
            Glance::Received(received) => return Some(received),
        }
    }
    panic!("there is nothing for a minute");
}

#[test]
fn a_look_gives_a_short_message_to_the_receive_that_was_posted_first() {
    let (a, b) = pair();
    let of_tag = |tag: u64| Wanted {
        lane: Lane::Tagged,
        from: Source::Any,
        tag: Tag::from(tag << 40),
    };
    let send = |tag: u64, bytes: &[u8]| {
        assert!(a.send_at_once(1, tagged(tag << 40), bytes).unwrap());
    };
    // The stations meet by the first message.
    send(9, b"first");
    receive(&b, of_tag(9), 16);
    assert_eq!(bytes(next(&b, &[&a])), b"first");
    assert!(matches!(b.glance(), Glance::Nothing));
    let (one, two) = (receive(&b, of_tag(1), 16), receive(&b, of_tag(2), 16));
    send(1, b"one");
    send(2, b"two");
    for (ticket, tag, expected, has_more) in [(one, 1, b"one", true), (two, 2, b"two", false)] {
        let got = glance(&b).unwrap();
        assert_eq!((got.ticket, got.has_more), (ticket, has_more));
        assert_eq!(got.envelope.tag, tag << 40);
        let buffer = got.buffer.into_any().downcast::<Vec<u8>>().unwrap();
        assert_eq!(&buffer[..got.envelope.len_bytes], expected);
    }
    assert!(matches!(b.glance(), Glance::Nothing));
    assert!(b.poll().unwrap().is_none(), "each ends once");
    // These need a turn: a message for another receive than the first, one that does not fit, and
    // one behind it.
    let (three, four) = (receive(&b, of_tag(3), 2), receive(&b, of_tag(4), 16));
    send(4, b"four");
    send(3, b"three");
    assert!(glance(&b).is_none());
    let done = next(&b, &[]);
    assert_eq!((done.ticket, bytes(done)), (four, b"four".to_vec()));
    assert!(glance(&b).is_none());
    assert_eq!(next(&b, &[]).ticket, three);
}

#[test]
fn a_receive_from_anybody_gets_what_has_come_first() {
    let (a, b) = pair();
    let label = Label {
        lane: Lane::Plain,
        tag: 0,
        data: None,
    };
    let send = |bytes: &[u8]| assert!(a.send_at_once(1, label, bytes).unwrap());
    // They have not met.
    receive(&b, any(Lane::Plain), 16);
    send(b"first");
    assert_eq!(bytes(next(&b, &[&a])), b"first");
    receive(&b, any(Lane::Plain), 16);
    receive(&b, any(Lane::Plain), 56);
    // Messages of one line, without a tag and without data. The second is the longest possible.
    send(b"second");
    send(&[7; 56]);
    for expected in [&b"second"[..], &[7; 56]] {
        let got = glance(&b).unwrap();
        assert_eq!((got.envelope.from, got.envelope.tag), (1, 0));
        let buffer = got.buffer.into_any().downcast::<Vec<u8>>().unwrap();
        assert_eq!(&buffer[..got.envelope.len_bytes], expected);
    }
    // Messages that are there already go first: those in the ring and those set aside.
    send(b"third");
    assert!(b.poll().unwrap().is_none());
    send(b"fourth");
    for expected in [&b"third"[..], b"fourth"] {
        receive(&b, any(Lane::Plain), 16);
        assert_eq!(bytes(next(&b, &[&a])), expected);
    }
}
