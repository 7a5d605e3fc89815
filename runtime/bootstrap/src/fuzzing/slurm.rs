//! The messages between the tasks of a Slurm step.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hostwire_transport::fuzzing::kit::{Input, Script, Seeds, Target, blames, mark, named, shown};

use crate::Deadline;
use crate::slurm::SlurmError;
use crate::slurm::door;
use crate::slurm::exchange::{Exchange, Rendezvous};
use crate::slurm::frame::{Entry, Frame, FrameBuffer};

/// Frames, in pieces. The first byte: how many bytes come at a time.
pub(super) const FRAME: Target = Target {
    name: "slurm_frame",
    check: frame,
    seeds: frame_seeds,
    cost: 1,
};

/// Tasks that meet. A script: 0 for task 0 and how many tasks there are, or 1 for another task;
/// then what each connection brings.
///
/// | byte, modulo 4 | arguments | |
/// |---|---|---|
/// | 0, 1 | from, tasks, rank, value | values of this task |
/// | 2 | text | a refusal |
/// | 3 | bytes | these |
pub(super) const EXCHANGE: Target = Target {
    name: "slurm_exchange",
    check: exchange,
    seeds: exchange_seeds,
    cost: 10,
};

/// For task 0 all bytes are there before it looks. Another task waits for an answer, or for the
/// end of the connection.
const PATIENCE: Duration = Duration::from_secs(30);

fn frame(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let len = usize::from(input.byte()).max(1);
    let mut buffer = FrameBuffer::default();
    for piece in input.rest().chunks(len) {
        buffer.extend(piece);
        loop {
            match buffer.next_frame() {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    let mut again = FrameBuffer::default();
                    again.extend(&frame.emit());
                    assert_eq!(again.next_frame(), Ok(Some(frame)));
                }
                Err(error) => return shown(error),
            }
        }
    }
}

fn values(from: u32, tasks: u32, entries: &[(u32, &str, &[u8])]) -> Frame {
    let entries = entries.iter().map(|(rank, key, value)| Entry {
        rank: *rank,
        key: (*key).to_owned(),
        value: value.to_vec(),
    });
    Frame::Values {
        from,
        tasks,
        entries: entries.collect(),
    }
}

fn frame_seeds() -> Seeds {
    let two = values(1, 4, &[(1, "ab", b"\0x"), (1, "c", b"")]).emit();
    let refusal = Frame::Refusal("no room".into()).emit();
    let piece = |len: u8, bytes: &[u8]| [&[len], bytes].concat();
    named(vec![
        ("values", piece(200, &two)),
        ("pieces", piece(3, &[&two[..], &refusal].concat())),
        ("refusal", piece(200, &refusal)),
        ("other_version", piece(9, b"\x05\0\0\0hws\x02\0")),
        ("too_long", piece(9, b"GET / HTTP/1.1\r\n")),
        (
            "cut_key",
            piece(
                99,
                b"\x13\0\0\0hws\x01\0\x01\0\0\0\x04\0\0\0\x01\0\0\0\x09a",
            ),
        ),
        ("unknown", piece(9, b"\x05\0\0\0hws\x01\x07")),
    ])
}

/// The bytes of a connection, and the task of a correct one.
fn brought(input: &mut Input<'_>, size: u32) -> (Vec<u8>, Option<(u32, Vec<u8>)>) {
    match input.byte() % 4 {
        0 | 1 => {
            let from = input.number() as u32;
            let tasks = input.number() as u32;
            let rank = input.number() as u32;
            let value = input.chunk();
            let correct = from < size && tasks == size && rank == from;
            let frame = values(from, tasks, &[(rank, "key", value)]);
            (frame.emit(), correct.then(|| (from, value.to_vec())))
        }
        2 => (Frame::Refusal(input.text()).emit(), None),
        _ => (input.chunk().to_vec(), None),
    }
}

/// A name that no other check and no other process uses.
fn place(rank: u32, size: u32) -> Rendezvous {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let place = format!("hostwire-fuzzing-{process}-{number}");
    Rendezvous { rank, size, place }
}

fn exchange(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    match input.byte() % 2 {
        0 => hub(&mut input),
        _ => leaf(&mut input),
    }
}

/// Task 0 and any others.
fn hub(input: &mut Input<'_>) {
    let size = u32::from(input.byte() % 4) + 2;
    let me = place(0, size);
    let beginning = me.place.clone();
    let mut exchange = Exchange::open(me, Deadline::after(Duration::ZERO)).expect("a free name");
    exchange.put("key", b"own").expect("a short value");
    let mut connections = Vec::new();
    let mut correct = Vec::new();
    while !input.is_empty() && connections.len() < 8 {
        let (bytes, task) = brought(input, size);
        let mut stream = door::enter(&beginning)
            .expect("a list")
            .expect("a listener");
        stream.write_all(&bytes).expect("room in a socket");
        connections.push(stream);
        correct.extend(task);
    }
    match exchange.fence() {
        Ok(()) => {
            mark("met");
            assert_eq!(exchange.get(0, "key").ok().as_deref(), Some(&b"own"[..]));
            for task in 1..size {
                // Every task arrived, with its own values and not those of others.
                let said = correct.iter().find(|(of, _)| *of == task);
                let got = exchange.get(task, "key").ok();
                if let Some(got) = got {
                    assert_eq!(said.map(|(_, value)| value), Some(&got), "task {task}");
                }
            }
        }
        Err(error) => faulty(&error),
    }
}

/// Another task, and any process that listens in the place of task 0.
fn leaf(input: &mut Input<'_>) {
    let me = place(1, 2);
    let listener = door::open(&me.place).expect("a free name");
    listener.set_nonblocking(false).expect("a socket");
    let mut answer = Vec::new();
    while !input.is_empty() && answer.len() < 4096 {
        answer.extend(brought(input, 2).0);
    }
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = listener.accept().expect("a task that connects");
            let _ = stream.write_all(&answer);
        });
        let mut exchange = Exchange::open(me, Deadline::after(PATIENCE)).expect("a place");
        exchange.put("key", b"own").expect("a short value");
        match exchange.fence() {
            Ok(()) => mark("answered"),
            Err(error) => faulty(&error),
        }
    });
}

fn faulty(error: &SlurmError) {
    blames(error, &["task"]);
}

fn exchange_seeds() -> Seeds {
    let task = |script: Script, from: u64, tasks: u64, rank: u64| {
        script
            .byte(0)
            .number(from)
            .number(tasks)
            .number(rank)
            .chunk(b"value")
    };
    let hub = || Script::new().bytes(&[0, 1]);
    let leaf = || Script::new().byte(1);
    named(vec![
        ("all", task(task(hub(), 1, 3, 1), 2, 3, 2).done()),
        ("of_another", task(task(hub(), 1, 3, 2), 2, 3, 2).done()),
        ("twice", task(task(hub(), 1, 3, 1), 1, 3, 1).done()),
        ("another_size", task(hub(), 1, 4, 1).done()),
        ("no_such_task", task(hub(), 9, 3, 9).done()),
        (
            "stranger",
            task(hub().byte(3).chunk(b"GET / HTTP/1.1"), 1, 3, 1).done(),
        ),
        ("answered", task(leaf(), 0, 2, 0).done()),
        ("refused", leaf().byte(2).chunk(b"no\x1b[2Jroom").done()),
        ("wrong_one", task(leaf(), 7, 2, 0).done()),
        ("silent", leaf().done()),
        (
            "nonsense",
            leaf().byte(3).chunk(b"\x05\0\0\0hws\x01\x07").done(),
        ),
    ])
}
