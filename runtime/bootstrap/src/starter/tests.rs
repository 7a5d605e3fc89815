use proptest::prelude::*;

use super::super::{Description, Errand, How, Look, News, Order, Report, Stream};
use super::*;

const LAST: Look = Look {
    pe: 3,
    activity: 0x1_0000_0004,
    lost: 2,
};

fn description() -> Description {
    Description {
        pes: 8,
        first: 4,
        count: 4,
        behind: 32,
        lost_after_s: 10,
        folder: b"/home/me".to_vec(),
        may_be_elsewhere: true,
        bind: "0,2-5".to_owned(),
        front: vec![b"gdb".to_vec(), b"5".to_vec()],
        command: vec![b"./prog".to_vec(), Vec::new()],
        environment: vec![
            (b"A".to_vec(), b"b=c".to_vec()),
            (b"D".to_vec(), Vec::new()),
        ],
    }
}

#[test]
fn literal_frames() {
    let pmi = Order::Pmi {
        pe: 258,
        bytes: b"ab".to_vec(),
    };
    assert_eq!(pmi.emit(), b"\x07\0\0\0\x02\x02\x01\0\0ab");
    let closed = Report::Closed {
        pe: 1,
        stream: Stream::Stderr,
    };
    assert_eq!(closed.emit(), b"\x06\0\0\0\x06\x01\0\0\0\x02");
    let ended = Report::Ended {
        how: How::Signal(9),
        last: LAST,
        core: "x".to_owned(),
    };
    assert_eq!(
        ended.emit(),
        b"\x1f\0\0\0\x07\x01\x09\0\0\0\x03\0\0\0\x04\0\0\0\x01\0\0\0\x02\0\0\0\0\0\0\0\x01\0\0\0x"
    );
}

#[test]
fn what_is_said_of_hosts_behind_a_host_comes_back() {
    let host = 33;
    let reach = Errand::Reach {
        ssh: "ssh -F config".to_owned(),
        target: "me@b".to_owned(),
        copies: true,
    };
    for errand in [
        reach,
        Errand::Bytes(b"ab".to_vec()),
        Errand::Program,
        Errand::Close,
        Errand::Cut,
    ] {
        let order = Order::Behind { host, errand };
        assert_eq!(Order::parse(&order.emit()[4..]), Ok(order));
    }
    for news in [
        News::Bytes(b"ab".to_vec()),
        News::Said(b"no".to_vec()),
        News::Passed(7),
        News::Left(None),
        News::Left(Some(How::Exited(255))),
    ] {
        let report = Report::Behind { host, news };
        assert_eq!(Report::parse(&report.emit()[4..]), Ok(report));
    }
}

#[test]
fn a_stream_in_single_bytes_is_the_same_messages() {
    let orders = [
        Order::Program(b"\x7fELF".to_vec()),
        Order::Describe(description()),
        Order::Go,
        Order::Input(b"x".repeat(100)),
        Order::Done,
    ];
    let stream: Vec<u8> = orders.iter().flat_map(Message::emit).collect();
    let mut received = Received::<Order>::default();
    let mut seen = Vec::new();
    for byte in stream {
        received.extend(&[byte]);
        while let Some(order) = received.next_message().unwrap() {
            seen.push(order);
        }
    }
    assert_eq!(seen, orders);
}

#[test]
fn what_is_no_message_is_told() {
    let error = |bytes: &[u8]| {
        let mut received = Received::<Order>::default();
        received.extend(bytes);
        received.next_message().unwrap_err().to_string()
    };
    assert_eq!(
        error(b"SSH-"),
        "a message of 759714643 bytes; expected 1 to 8388608"
    );
    assert_eq!(
        error(&[0; 4]),
        "a message of 0 bytes; expected 1 to 8388608"
    );
    assert_eq!(error(b"\x01\0\0\0\x63"), "a message of the unknown kind 99");
    assert_eq!(
        error(b"\x02\0\0\0\x01\0"),
        "a message of the kind 1 with bytes behind its end"
    );
    let problem = |change: fn(&mut Description)| {
        let mut changed = description();
        change(&mut changed);
        error(&Order::Describe(changed).emit())
    };
    for change in [
        (|it| it.count = 5) as fn(&mut Description),
        |it| it.count = 0,
        |it| it.first = u32::MAX,
        |it| (it.pes, it.count) = (crate::PES_MAX + 1, 1),
    ] {
        let text = "a message of the kind 0 with PEs that no job has";
        assert_eq!(problem(change), text);
    }
    for change in [
        (|it| it.command.push(b"a\0".to_vec())) as fn(&mut Description),
        |it| it.folder.push(0),
        |it| it.environment.push((b"A=".to_vec(), Vec::new())),
        |it| it.environment.push((Vec::new(), Vec::new())),
    ] {
        let text = "a message of the kind 0 with a name that the system does not take";
        assert_eq!(problem(change), text);
    }
}

#[test]
fn a_greeting_is_found_behind_what_a_shell_prints() {
    let mut greeted = Greeted::default();
    assert_eq!(greeted.extend(b"Welcome!\n\0hwst"), Ok(None));
    assert_eq!(greeted.extend(b"art\x01rest"), Ok(Some(b"rest".to_vec())));
    let mut greeted = Greeted::default();
    assert_eq!(greeted.extend(b"\0hwstart\x02"), Ok(None));
    let error = greeted.extend(&[b'x'; NOISE_BYTES_MAX]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("something else answers there")
    );
}

proptest! {
    #[test]
    fn any_bytes_are_a_message_or_an_error(kind in 0u8..17, content in proptest::collection::vec(any::<u8>(), 0..64)) {
        let body = [&[kind], &content[..]].concat();
        if let Ok(order) = Order::parse(&body) {
            prop_assert_eq!(&order.emit()[4..], &body);
        }
        if let Ok(report) = Report::parse(&body) {
            prop_assert_eq!(&report.emit()[4..], &body);
        }
    }
}
