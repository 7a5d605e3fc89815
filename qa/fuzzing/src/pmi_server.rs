//! The launcher's side of PMI-1, against a plain model of it.

use std::collections::BTreeMap;

use hostwire_bootstrap::pmi::wire::{LINE_BYTES_MAX, Line};
use hostwire_transport::fuzzing::kit::{Input, Script, Seeds, mark, named, shown};

use crate::Target;

#[path = "../../../tools/cli/src/run/pmi_server.rs"]
#[allow(dead_code, reason = "what only the command needs")]
mod server;

use server::{Effect, Server};

/// A script of steps, each with the PE that it is about.
///
/// | byte, modulo 8 | arguments | |
/// |---|---|---|
/// | 0 | PE | `init` |
/// | 1 | PE, key, value | `put` |
/// | 2 | PE, key | `get` |
/// | 3 | PE | `barrier_in` |
/// | 4 | PE | `finalize` |
/// | 5 | PE | its process has ended |
/// | 6, 7 | PE, bytes | these; from then on the model knows nothing of this PE but limits |
pub(crate) const TARGETS: &[Target] = &[Target {
    name: "pmi_server",
    check: serve,
    seeds,
    cost: 2,
}];

const PES: usize = 3;
const KEYS: [&str; 4] = ["a", "b", "c", "PMI_process_mapping"];

/// The expected state of a server.
struct Model {
    values: BTreeMap<String, String>,
    in_barrier: [bool; PES],
    left: [bool; PES],
    gone: [bool; PES],
}

impl Model {
    /// The PEs that are released from the barrier, and whether all are in it.
    fn settle(&mut self) -> Option<bool> {
        let absent = (0..PES).any(|pe| self.gone[pe] || self.left[pe]);
        let anybody = self.in_barrier.contains(&true);
        let all = !self.in_barrier.contains(&false);
        (anybody && (absent || all)).then_some(!absent && all)
    }

    /// The answers to a step: command and `rc` per PE.
    fn step(
        &mut self,
        what: u8,
        pe: usize,
        key: &str,
        value: &str,
    ) -> Vec<(usize, &'static str, bool)> {
        if self.gone[pe] {
            return Vec::new();
        }
        let mut answers = Vec::new();
        match what {
            0 => {
                // A PE that has left may come back: an MPI library in the process may have
                // left for both.
                self.left[pe] = false;
                answers.push((pe, "response_to_init", true));
            }
            1 => {
                let taken = self
                    .values
                    .entry(key.to_owned())
                    .or_insert(value.to_owned());
                answers.push((pe, "put_result", taken == value));
            }
            2 => answers.push((pe, "get_result", self.values.contains_key(key))),
            3 if self.left[pe] => answers.push((pe, "barrier_out", false)),
            3 => self.in_barrier[pe] = true,
            4 => {
                self.left[pe] = true;
                answers.push((pe, "finalize_ack", true));
            }
            _ => {
                self.gone[pe] = true;
                self.in_barrier[pe] = false;
            }
        }
        if matches!(what, 3..=5)
            && let Some(all) = self.settle()
        {
            for (pe, waits) in self.in_barrier.iter_mut().enumerate() {
                if std::mem::take(waits) {
                    answers.push((pe, "barrier_out", all));
                }
            }
        }
        answers
    }
}

fn serve(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut server = Server::new("kvs_1", PES as u32);
    let mapping = format!("(vector,(0,1,{PES}))");
    let mut model = Some(Model {
        values: BTreeMap::from([(KEYS[3].to_owned(), mapping)]),
        in_barrier: [false; PES],
        left: [false; PES],
        gone: [false; PES],
    });
    let mut has_ended = [false; PES];
    while !input.is_empty() {
        let what = input.byte() % 8;
        let pe = usize::from(input.byte()) % PES;
        let key = KEYS[usize::from(input.byte()) % KEYS.len()];
        let value = format!("v{}", input.byte() % 3);
        let number = pe as u32;
        let mut say = |line: String| server.receive(number, format!("{line}\n").as_bytes());
        let effects = match what {
            0 => say("cmd=init pmi_version=1 pmi_subversion=1".to_owned()),
            1 => say(format!("cmd=put kvsname=kvs_1 key={key} value={value}")),
            2 => say(format!("cmd=get kvsname=kvs_1 key={key}")),
            3 => say("cmd=barrier_in".to_owned()),
            4 => say("cmd=finalize".to_owned()),
            5 => {
                has_ended[pe] = true;
                server.gone(number)
            }
            _ => {
                // The effect of a line in pieces is known when it is complete.
                model = None;
                server.receive(number, input.chunk())
            }
        };
        let mut answers = Vec::new();
        for effect in effects {
            match effect {
                Effect::Reply { pe, bytes } => {
                    assert!(!has_ended[pe as usize], "an answer to nobody");
                    let line = one_line(&bytes);
                    let is_granted = line.value("rc").is_none_or(|rc| rc == "0");
                    if let Some(model) = model.as_ref().filter(|_| what == 2 && is_granted) {
                        let value = model.values.get(key).map(String::as_str);
                        assert_eq!(line.value("value"), value);
                    }
                    answers.push((pe as usize, line.command().to_owned(), is_granted));
                }
                Effect::Violation { pe, reason } => {
                    mark("violation");
                    assert_eq!((pe, model.is_none()), (number, true), "{reason}");
                    has_ended[pe as usize] = true;
                    shown(reason);
                }
                // Its words are made fit for a terminal where they are shown.
                Effect::Abort { pe, .. } => assert_eq!(pe, number),
            }
        }
        if let Some(model) = &mut model {
            let expected = model.step(what, pe, key, &value).into_iter();
            let expected: Vec<_> = expected
                .map(|(pe, name, rc)| (pe, name.to_owned(), rc))
                .collect();
            assert_eq!(answers, expected, "step {what} of PE {pe}");
        }
    }
}

/// A reply is one line that a client reads.
fn one_line(bytes: &[u8]) -> Line {
    let (newline, body) = bytes.split_last().expect("a reply is not empty");
    assert!(*newline == b'\n' && bytes.len() < LINE_BYTES_MAX);
    Line::parse(body).unwrap_or_else(|error| panic!("{error}: {}", bytes.escape_ascii()))
}

fn seeds() -> Seeds {
    let step = |script: Script, what: u8, pe: u8| script.bytes(&[what, pe, 0, 1]);
    let all = |script: Script, what: u8| (0..3).fold(script, |s, pe| step(s, what, pe));
    let bytes = |pe: u8, text: &[u8]| Script::new().bytes(&[6, pe, 0, 0]).chunk(text);
    named(vec![
        ("barrier", all(all(Script::new(), 0), 3).done()),
        ("values", all(all(Script::new(), 1), 2).done()),
        (
            "other_value",
            Script::new()
                .bytes(&[1, 0, 0, 1, 1, 1, 0, 2, 2, 2, 0, 0])
                .done(),
        ),
        (
            "mapping",
            Script::new().bytes(&[2, 0, 3, 0, 1, 0, 3, 0]).done(),
        ),
        (
            "left",
            step(step(step(Script::new(), 3, 0), 4, 1), 3, 2).done(),
        ),
        (
            "ended",
            step(step(step(Script::new(), 3, 0), 5, 1), 3, 1).done(),
        ),
        (
            "http",
            bytes(1, b"GET / HTTP/1.1\r\n\r\ncmd=get_appnum\n").done(),
        ),
        (
            "spawn",
            bytes(0, b"mcmd=spawn\nnprocs=1\nendcmd\ncmd=get_appnum\n").done(),
        ),
        (
            "index",
            bytes(
                0,
                b"cmd=getbyidx kvsname=kvs_1 idx=0\ncmd=getbyidx kvsname=kvs_1 idx=9\n",
            )
            .done(),
        ),
        (
            "abort",
            bytes(2, b"cmd=abort exitcode=3 message=a%0Ab\n").done(),
        ),
        (
            "unknown",
            bytes(2, "cmd=w\u{9b}31m a=b\ncmd=publish_name\n".as_bytes()).done(),
        ),
        (
            "two_pieces",
            bytes(0, b"cmd=get_")
                .bytes(&[7, 0, 0, 0])
                .chunk(b"maxes\n")
                .done(),
        ),
    ])
}
