//! PMI in text, both versions: lines, conversations with any launcher, and bytes as words.

use std::io::Write;
use std::net::Shutdown;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use hostwire_transport::fuzzing::kit::{
    Input, Script, Seeds, Target, blames, mark, named, shown, texts,
};

use crate::pmi::wire::{LINE_BYTES_MAX, Line, LineBuffer, escape, is_word, unescape};
use crate::pmi::wire2::{MESSAGE_BYTES_MAX, Message, MessageBuffer};
use crate::pmi::{Client, Client2};
use crate::words::{Pieces, pack};
use crate::{Bootstrap, Deadline, LaunchError};

/// For a hang: the other end is closed.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Lines. The first byte: how many bytes come at a time.
pub(super) const LINE: Target = Target {
    name: "pmi_line",
    check: line,
    seeds: || {
        texts(&[
            ("init", "\u{1}cmd=init pmi_version=1 pmi_subversion=1\n"),
            (
                "put",
                "\u{5}cmd=put kvsname=kvs_1_0 key=a  value=b=c \ncmd=x\n",
            ),
            ("twice", "\u{50}cmd=put a=1 a=2\n"),
            ("no_command", "\u{50}GET / HTTP/1.1\r\n\n"),
            ("escaped", "\u{7f}cmd=abort message=a%20b%0A%25%zz%\n"),
            ("control", "\u{7f}cmd=x a=\u{9b}31m\n"),
        ])
    },
    cost: 1,
};

/// The answers of a launcher to a process that uses PMI-1. The first byte: 0 over a descriptor,
/// else over a port.
pub(super) const CLIENT: Target = Target {
    name: "pmi_client",
    check: |bytes| {
        let mut input = Input::new(bytes);
        let by_descriptor = input.byte() == 0;
        let (socket, _launcher) = answered(input.rest());
        let client = match by_descriptor {
            true => Client::start(socket, 1, 2, Deadline::after(PATIENCE)),
            false => Client::start_from_port(socket, 1, Deadline::after(PATIENCE)),
        };
        converse(client.map_err(LaunchError::from));
    },
    seeds: client_seeds,
    cost: 4,
};

/// The same of PMI-2.
pub(super) const CLIENT2: Target = Target {
    name: "pmi_client2",
    check: |bytes| {
        let (socket, _launcher) = answered(bytes);
        let fd = socket.as_raw_fd().to_string();
        let client = Client2::from_lookup(
            |name| match name {
                "PMI_FD" => Some(fd.clone()),
                "PMI_RANK" => Some("1".to_owned()),
                "PMI_SIZE" => Some("2".to_owned()),
                _ => None,
            },
            Deadline::after(PATIENCE),
        );
        let client = client.transpose().expect("PMI_FD is set");
        converse(client.map_err(LaunchError::from));
    },
    seeds: client2_seeds,
    cost: 4,
};

/// Messages of PMI-2. The first byte: how many bytes come at a time.
pub(super) const MESSAGE: Target = Target {
    name: "pmi_message",
    check: message,
    seeds: || {
        texts(&[
            ("put", "\u{1}29    cmd=kvs-put;key=k;value=a;;b;"),
            ("hydra", "\u{7}    10cmd=x;a=1;15    cmd=y;errmsg=;;"),
            ("twice", "\u{50}14    cmd=x;a=1;a=2;"),
            ("http", "\u{50}HTTP/1.1 400\n"),
            ("too_long", "\u{50}999999cmd=x;"),
            ("cut", "\u{50}99    cmd=x;"),
            ("longest", "\u{50}65536 cmd=x;"),
            ("one_more", "\u{50}65537 cmd=x;"),
            (
                "line",
                "\u{50}cmd=response_to_init pmi_version=2 rc=0\n6     cmd=x;",
            ),
        ])
    },
    cost: 1,
};

/// Bytes as words of a text protocol: a script of words.
pub(super) const WORDS: Target = Target {
    name: "pmi_words",
    check: words,
    seeds: || {
        let words = |words: &[&str]| {
            let script = words
                .iter()
                .fold(Script::new(), |s, word| s.chunk(word.as_bytes()));
            script.done()
        };
        named(vec![
            ("one", words(&["1:00ff41"])),
            ("two", words(&["2:00ff", "41"])),
            ("none", words(&["0:"])),
            ("signed", words(&["+1:00"])),
            ("odd", words(&["1:0"])),
            ("many", words(&["16384:00", "01", "02"])),
        ])
    },
    cost: 1,
};

fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut input = Input::new(bytes);
    let len = usize::from(input.byte()).max(1) * 8;
    input.rest().chunks(len)
}

fn line(bytes: &[u8]) {
    let mut buffer = LineBuffer::default();
    let whole = bytes.get(1..).unwrap_or_default();
    let mut expected = whole.split(|byte| *byte == b'\n');
    for piece in pieces(bytes) {
        buffer.extend(piece);
        loop {
            match buffer.next_line() {
                Ok(Some(line)) => {
                    assert_eq!(Some(&line[..]), expected.next());
                    one_line(&line);
                }
                Ok(None) => break,
                Err(error) => {
                    shown(error);
                    // Lines before it were taken, and the present one is too long.
                    assert!(
                        expected
                            .next()
                            .is_some_and(|line| line.len() >= LINE_BYTES_MAX - 1)
                    );
                    return;
                }
            }
        }
    }
}

fn one_line(bytes: &[u8]) {
    match Line::parse(bytes) {
        Err(error) => shown(error),
        Ok(line) => {
            let again = line.emit();
            let (newline, body) = again.split_last().expect("a line is not empty");
            assert_eq!((*newline, Line::parse(body).as_ref()), (b'\n', Ok(&line)));
            assert!(again.len() <= bytes.len() + 1 && is_word(line.command()));
            if let Some(text) = line.value("message") {
                let plain = unescape(text);
                assert_eq!(unescape(&escape(&plain)), plain);
                assert!(plain.is_empty() || is_word(&escape(&plain)));
            }
        }
    }
}

fn message(bytes: &[u8]) {
    first_line(bytes.get(1..).unwrap_or_default());
    let mut buffer = MessageBuffer::default();
    let whole = bytes.get(1..).unwrap_or_default();
    let (mut come, mut taken) = (0, 0);
    for piece in pieces(bytes) {
        buffer.extend(piece);
        come += piece.len();
        loop {
            match buffer.next_message() {
                Ok(Some(body)) => {
                    taken += 6 + body.len();
                    assert!(taken < bytes.len(), "more than there was");
                    assert!(body.len() <= MESSAGE_BYTES_MAX);
                    one_message(&body);
                }
                Ok(None) => {
                    // It reads no more than a message may have.
                    let awaited = whole.get(taken..come).and_then(announced);
                    assert!(awaited.is_none_or(|len| len <= MESSAGE_BYTES_MAX));
                    break;
                }
                Err(error) => return shown(error),
            }
        }
    }
}

/// The length that a message begins with.
fn announced(rest: &[u8]) -> Option<usize> {
    str::from_utf8(rest.get(..6)?).ok()?.trim().parse().ok()
}

/// The line that a conversation begins with.
fn first_line(bytes: &[u8]) {
    let mut buffer = MessageBuffer::default();
    buffer.extend(bytes);
    let expected = bytes.iter().position(|byte| *byte == b'\n');
    match buffer.next_line() {
        Ok(Some(line)) => {
            assert!(line.len() < LINE_BYTES_MAX);
            assert_eq!(
                (Some(line.len()), &line[..]),
                (expected, &bytes[..line.len()])
            );
        }
        Ok(None) => assert!(expected.is_none() && bytes.len() < LINE_BYTES_MAX),
        Err(error) => {
            shown(error);
            assert!(expected.unwrap_or(bytes.len()) >= LINE_BYTES_MAX - 1);
        }
    }
}

fn one_message(body: &[u8]) {
    let message = match Message::parse(body) {
        Ok(message) => message,
        Err(error) => return shown(error),
    };
    let mut buffer = MessageBuffer::default();
    buffer.extend(&message.emit());
    let again = buffer
        .next_message()
        .expect("a message")
        .expect("all of it");
    // A semicolon at the end of a value looks like the separator after it.
    let text = String::from_utf8_lossy(body).into_owned();
    if !text.contains(";;") {
        assert_eq!(Message::parse(&again), Ok(message), "{text:?}");
    }
}

/// A socket on which `answers` have come already, and the other end.
fn answered(answers: &[u8]) -> (OwnedFd, UnixStream) {
    let (here, mut there) = UnixStream::pair().expect("sockets");
    // A message that does not fit the socket is not sent, because the other end does not read
    // meanwhile.
    there.set_nonblocking(true).expect("sockets");
    let _ = there.write_all(answers);
    there.shutdown(Shutdown::Write).expect("sockets");
    (here.into(), there)
}

/// All requests of a process to its launcher while it joins a job.
fn converse<C: Bootstrap>(client: Result<C, LaunchError>) {
    let who = ["the launcher", "of PE 0"];
    let mut client = match client {
        Ok(client) => client,
        Err(error) => return blames(error, &["the launcher", "PMI_RANK"]),
    };
    assert!(client.rank() < client.size());
    let mut all = || -> Result<(), LaunchError> {
        client.put("key", b"value")?;
        mark("put");
        client.fence()?;
        mark("fence");
        let value = client.get(0, "key")?;
        mark("got");
        assert!(value.len() <= 64 << 10);
        client.finalize()
    };
    match all() {
        Ok(()) => mark("left"),
        Err(error) => blames(error, &who),
    }
}

fn client_seeds() -> Seeds {
    let init = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n\
                cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n\
                cmd=my_kvsname kvsname=kvs_7\n";
    let rest = "cmd=put_result rc=0 msg=success\ncmd=barrier_out\n\
                cmd=get_result rc=0 msg=success value=2:76616c\ncmd=get_result value=7565\n\
                cmd=finalize_ack\n";
    let port = "cmd=initack\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n";
    texts(&[
        ("whole", &format!("\0{init}{rest}")),
        ("port", &format!("\u{1}{port}{init}{rest}")),
        (
            "rank",
            "\u{1}cmd=initack\ncmd=set size=4\ncmd=set rank=4\ncmd=set debug=0\n",
        ),
        ("version", "\0cmd=response_to_init pmi_version=2 rc=0\n"),
        (
            "refused",
            "\0cmd=response_to_init pmi_version=1 rc=-1 msg=no%1b[2Jway\n",
        ),
        (
            "refused_put",
            &format!("\0{init}cmd=put_result rc=7 msg=key%0Atwice\n"),
        ),
        (
            "no_key",
            &format!(
                "\0{init}cmd=put_result\ncmd=barrier_out\ncmd=get_result rc=-1 msg=key_not_found\n"
            ),
        ),
        (
            "short_values",
            "\0cmd=response_to_init pmi_version=1\ncmd=maxes keylen_max=64 vallen_max=3\ncmd=my_kvsname kvsname=k\n",
        ),
        ("http", "\0HTTP/1.1 400\n"),
    ])
}

fn client2_seeds() -> Seeds {
    let message = |body: &str| format!("{:<6}{body}", body.len());
    let begin = "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n";
    let joined = message("cmd=fullinit-response;rc=0;rank=1;size=2;");
    let rest = [
        "cmd=kvs-put-response;rc=0;",
        "cmd=kvs-fence-response;rc=0;",
        "cmd=kvs-get-response;rc=0;found=TRUE;value=1:76;",
        "cmd=finalize-response;rc=0;",
    ];
    let rest: String = rest.map(message).concat();
    let refused = message("cmd=fullinit-response;rc=1;errmsg=a\u{1b}[2Jb;");
    let absent = message("cmd=kvs-get-response;rc=0;found=FALSE;");
    let put = message("cmd=kvs-put-response;rc=0;");
    let fence = message("cmd=kvs-fence-response;rc=0;");
    texts(&[
        ("whole", &format!("{begin}{joined}{rest}")),
        ("version", "cmd=response_to_init pmi_version=1 rc=0\n"),
        (
            "rank",
            &format!("{begin}{}", message("cmd=fullinit-response;rank=2;size=2;")),
        ),
        ("refused", &format!("{begin}{refused}")),
        ("no_key", &format!("{begin}{joined}{put}{fence}{absent}")),
        ("other", &format!("{begin}{joined}{fence}")),
        ("cut", &format!("{begin}{joined}99    cmd=kvs")),
    ])
}

fn words(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut taken = Pieces::default();
    let mut digits = 0;
    while !input.is_empty() {
        let word = input.text();
        let is_digit = word.starts_with(|c: char| c.is_ascii_hexdigit());
        digits += word.len();
        match taken.take(&word) {
            Ok(_) if !is_digit && !word.is_empty() => panic!("{word:?} is taken for a word"),
            Ok(false) => {}
            Ok(true) => break,
            Err(error) => return shown(error),
        }
    }
    let value = taken.into_bytes();
    assert!(value.len() <= digits / 2);
    for word_bytes_max in [8, 100, 1023] {
        let words = pack(&value, word_bytes_max).expect("a short value");
        let mut again = Pieces::default();
        let last = words
            .iter()
            .map(|word| again.take(word))
            .collect::<Result<Vec<_>, _>>();
        assert_eq!(last.expect("own words").last(), Some(&true));
        assert!(
            words
                .iter()
                .all(|word| word.len() <= word_bytes_max && is_word(word))
        );
        assert_eq!(again.into_bytes(), value);
    }
}
