//! What a launcher and its starters on other hosts say to each other.

use hostwire_transport::fuzzing::kit::{Input, Seeds, Target, blames, named};

use crate::starter::{
    Description, Errand, GREETING, Greeted, How, Look, Message, Order, Received, Report, Stream,
};

/// What a launcher says. The first byte: how many bytes come at a time.
pub(super) const ORDERS: Target = Target {
    name: "starter_orders",
    check: |bytes| {
        let mut input = Input::new(bytes);
        let step = usize::from(input.byte()).max(1);
        messages::<Order>(input.rest(), step);
    },
    seeds: || {
        let orders = [
            Order::Program(b"\x7fELF".to_vec()),
            Order::Describe(Description {
                pes: 4,
                first: 2,
                count: 2,
                behind: 1,
                lost_after_s: 10,
                folder: b"/tmp".to_vec(),
                may_be_elsewhere: true,
                bind: "auto".to_owned(),
                front: vec![b"wrap".to_vec(), b"time".to_vec()],
                command: vec![b"prog".to_vec(), b"-x".to_vec()],
                environment: vec![(b"A".to_vec(), b"b".to_vec())],
            }),
            Order::Pmi {
                pe: 2,
                bytes: b"cmd=finalize_ack\n".to_vec(),
            },
            Order::Input(b"text".to_vec()),
            Order::Signal { pe: 3, signal: 15 },
            Order::Took(64),
            Order::Behind {
                host: 2,
                errand: Errand::Reach {
                    ssh: "ssh".to_owned(),
                    target: "b".to_owned(),
                    copies: true,
                },
            },
            Order::Done,
        ];
        seeds(&orders)
    },
    cost: 1,
};

/// What a starter says, behind its greeting. The first byte: how many bytes come at a time.
pub(super) const REPORTS: Target = Target {
    name: "starter_reports",
    check: |bytes| {
        let mut input = Input::new(bytes);
        let step = usize::from(input.byte()).max(1);
        let stream = input.rest();
        let mut greeted = Greeted::default();
        for piece in stream.chunks(step) {
            match greeted.extend(piece) {
                Ok(None) => {}
                Ok(Some(behind)) => {
                    let at = stream.windows(GREETING.len()).position(|it| it == GREETING);
                    let begin = at.expect("a greeting") + GREETING.len();
                    assert!(stream[begin..].starts_with(&behind));
                    return messages::<Report>(&stream[begin..], step);
                }
                Err(error) => return blames(error, &["something else"]),
            }
        }
        let noise = greeted.noise();
        assert!(!noise.contains(char::is_control), "{noise:?}");
    },
    seeds: || {
        let last = Look {
            pe: 3,
            activity: 4,
            lost: 0,
        };
        let reports = [
            Report::Hello {
                version: "0.1.0".to_owned(),
                machine: b"x86_64 with pages of 4096 bytes".to_vec(),
            },
            Report::Refused("no such file".to_owned()),
            Report::Output {
                pe: 1,
                stream: Stream::Stdout,
                bytes: b"hello\n".to_vec(),
            },
            Report::Ended {
                how: How::Signal(11),
                last,
                core: "core file: /tmp/core".to_owned(),
            },
            Report::Seen {
                is_dying: true,
                last,
            },
            Report::Swept,
        ];
        let mut seeds = seeds(&reports);
        for (_, bytes) in &mut seeds {
            bytes.splice(1..1, GREETING);
        }
        seeds
    },
    cost: 1,
};

fn seeds(messages: &[impl Message]) -> Seeds {
    let stream: Vec<u8> = messages.iter().flat_map(Message::emit).collect();
    let cut = stream.get(..stream.len() - 3).unwrap_or_default();
    named(vec![
        ("all", [&[255], &*stream].concat()),
        ("in_pieces", [&[3], &*stream].concat()),
        ("cut_off", [&[255], cut].concat()),
        ("no_length", b"\xff\0\0\0\0\x01".to_vec()),
    ])
}

/// What is read is written as the same bytes, or an error says what is wrong.
fn messages<M: Message>(stream: &[u8], step: usize) {
    let mut received = Received::<M>::default();
    let mut written = Vec::new();
    for piece in stream.chunks(step) {
        received.extend(piece);
        loop {
            match received.next_message() {
                Ok(Some(message)) => written.extend(message.emit()),
                Ok(None) => break,
                Err(error) => {
                    assert!(stream.starts_with(&written));
                    return blames(error, &["a message"]);
                }
            }
        }
    }
    assert!(stream.starts_with(&written));
}
