//! The launcher's side of PMI-1, without any input or output: it takes the bytes of a
//! PE and returns [`Effect`]s.
//!
//! No input of a PE makes the server panic or grow without bounds. A line that is not
//! PMI-1 ends the PE that sent it.

use std::collections::BTreeMap;

use hostwire_bootstrap::pmi::wire::{
    self, KEY_BYTES_MAX, KVSNAME_BYTES_MAX, LINE_BYTES_MAX, Line, LineBuffer, VALUE_BYTES_MAX,
};

/// The largest size of all keys and values of a job together.
const VALUES_BYTES_MAX: usize = 64 << 20;

/// The effects of a PE's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Send these bytes to `pe`.
    Reply { pe: u32, bytes: Vec<u8> },
    /// `pe` aborts the job.
    Abort { pe: u32, code: i32, message: String },
    /// `pe` does not use PMI-1; its further input is ignored.
    Violation { pe: u32, reason: String },
}

/// How far a PE has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Has sent nothing: perhaps the program does not use hostwire.
    Silent,
    Initialised,
    Finalized,
}

#[derive(Debug)]
struct Pe {
    received: LineBuffer,
    stage: Stage,
    in_barrier: bool,
    /// The process has ended, or broke the protocol.
    gone: bool,
    /// Inside `mcmd=...`, which ends with a line `endcmd`.
    in_multi_line: bool,
}

/// The key-value space and the barrier of one job.
#[derive(Debug)]
pub struct Server {
    kvsname: String,
    values: BTreeMap<String, String>,
    values_bytes: usize,
    pes: Vec<Pe>,
}

impl Server {
    /// A server for `pes` PEs of one host, whose key-value space is called `kvsname`.
    pub fn new(kvsname: &str, pes: u32) -> Server {
        Server::of_hosts(kvsname, &[pes])
    }

    /// The same for PEs of several hosts, the first ones on the first host, and so on.
    pub fn of_hosts(kvsname: &str, counts: &[u32]) -> Server {
        let pes = counts.iter().sum();
        debug_assert!(wire::is_word(kvsname) && kvsname.len() < KVSNAME_BYTES_MAX);
        let silent = || Pe {
            received: LineBuffer::default(),
            stage: Stage::Silent,
            in_barrier: false,
            gone: false,
            in_multi_line: false,
        };
        // MPICH asks for this key to learn which processes share a host.
        let hosts = (0..).zip(counts);
        let hosts: Vec<String> = hosts
            .map(|(host, count)| format!("({host},1,{count})"))
            .collect();
        let mapping = format!("(vector,{})", hosts.join(","));
        Server {
            kvsname: kvsname.to_owned(),
            values: BTreeMap::from([("PMI_process_mapping".to_owned(), mapping)]),
            values_bytes: 0,
            pes: (0..pes).map(|_| silent()).collect(),
        }
    }

    /// Takes what `pe` sent.
    pub fn receive(&mut self, pe: u32, bytes: &[u8]) -> Vec<Effect> {
        let mut effects = Vec::new();
        match self.pes.get_mut(pe as usize) {
            Some(state) if !state.gone => state.received.extend(bytes),
            _ => return effects,
        }
        loop {
            let next = match self.pes.get_mut(pe as usize) {
                Some(state) if !state.gone => state.received.next_line(),
                _ => return effects,
            };
            let handled = match next {
                Ok(Some(line)) => self.handle(pe, &line, &mut effects),
                Ok(None) => return effects,
                Err(error) => Err(error.to_string()),
            };
            if let Err(reason) = handled {
                effects.push(Effect::Violation { pe, reason });
                effects.extend(self.gone(pe));
            }
        }
    }

    /// Notes that `pe` has ended. PEs in a barrier that it will never enter get an
    /// error.
    pub fn gone(&mut self, pe: u32) -> Vec<Effect> {
        if let Some(state) = self.pes.get_mut(pe as usize) {
            state.gone = true;
            state.in_barrier = false;
        }
        self.settle_barrier()
    }

    /// Whether `pe` joined the job and has not left it in order.
    pub fn has_joined(&self, pe: u32) -> bool {
        self.pes
            .get(pe as usize)
            .is_some_and(|state| state.stage == Stage::Initialised)
    }

    fn handle(&mut self, pe: u32, line: &[u8], effects: &mut Vec<Effect>) -> Result<(), String> {
        let Some(state) = self.pes.get_mut(pe as usize) else {
            return Ok(());
        };
        if state.in_multi_line {
            if line == b"endcmd" {
                state.in_multi_line = false;
                effects.push(reply(pe, refusal("spawn_result", "spawn is not supported")));
            }
            return Ok(());
        }
        if line.starts_with(b"mcmd=") {
            state.in_multi_line = true;
            return Ok(());
        }
        let line = Line::parse(line).map_err(|error| error.to_string())?;
        let answer = match line.command() {
            "init" => self.init(pe, &line),
            "finalize" => {
                state.stage = Stage::Finalized;
                effects.push(reply(pe, Line::new("finalize_ack").with("rc", 0)));
                effects.extend(self.settle_barrier());
                return Ok(());
            }
            "abort" => {
                let code = line
                    .value("exitcode")
                    .and_then(|code| code.parse().ok())
                    .unwrap_or(1);
                let message = wire::unescape(line.value("message").unwrap_or_default());
                effects.push(Effect::Abort { pe, code, message });
                return Ok(());
            }
            "barrier_in" => {
                if state.stage == Stage::Finalized {
                    refusal("barrier_out", "barrier after finalize")
                } else {
                    state.in_barrier = true;
                    effects.extend(self.settle_barrier());
                    return Ok(());
                }
            }
            "get_maxes" => Line::new("maxes")
                .with("rc", 0)
                .with("kvsname_max", KVSNAME_BYTES_MAX)
                .with("keylen_max", KEY_BYTES_MAX)
                .with("vallen_max", VALUE_BYTES_MAX),
            "get_appnum" => Line::new("appnum").with("rc", 0).with("appnum", 0),
            "get_my_kvsname" => Line::new("my_kvsname")
                .with("rc", 0)
                .with("kvsname", &self.kvsname),
            "get_universe_size" => Line::new("universe_size")
                .with("rc", 0)
                .with("size", self.pes.len()),
            "put" => self.put(&line),
            "get" => self.get(&line),
            "getbyidx" => self.get_by_index(&line),
            "publish_name" => refusal("publish_result", "publish_name is not supported"),
            "unpublish_name" => refusal("unpublish_result", "unpublish_name is not supported"),
            "lookup_name" => refusal("lookup_result", "lookup_name is not supported"),
            "spawn" => refusal("spawn_result", "spawn is not supported"),
            other => {
                let reason = format!("unknown command {other}");
                // PMI-1 names each reply after its command; this is the closest form
                // for an unknown command.
                refusal("error", &reason)
            }
        };
        effects.push(reply(pe, answer));
        Ok(())
    }

    fn init(&mut self, pe: u32, line: &Line) -> Line {
        let answer = Line::new("response_to_init");
        if line.value("pmi_version") != Some("1") {
            return answer
                .with("rc", -1)
                .with("pmi_version", 1)
                .with("pmi_subversion", 1)
                .with("msg", wire::escape("this launcher has only PMI version 1"));
        }
        if let Some(state) = self.pes.get_mut(pe as usize) {
            state.stage = Stage::Initialised;
        }
        answer
            .with("rc", 0)
            .with("pmi_version", 1)
            .with("pmi_subversion", 1)
    }

    fn put(&mut self, line: &Line) -> Line {
        let name = "put_result";
        if let Some(refusal) = self.wrong_space(name, line) {
            return refusal;
        }
        let (Some(key), Some(value)) = (line.value("key"), line.value("value")) else {
            return refusal(name, "put without key or value");
        };
        if key.is_empty() || key.len() >= KEY_BYTES_MAX {
            return refusal(name, &format!("keys have 1 to {} bytes", KEY_BYTES_MAX - 1));
        }
        if value.len() >= VALUE_BYTES_MAX {
            return refusal(
                name,
                &format!("values have at most {} bytes", VALUE_BYTES_MAX - 1),
            );
        }
        match self.values.get(key) {
            Some(present) if present == value => {}
            Some(_) => return refusal(name, &format!("the key {key} has another value already")),
            None => {
                let bytes = self.values_bytes + key.len() + value.len();
                if bytes > VALUES_BYTES_MAX {
                    return refusal(name, "the key-value space is full");
                }
                self.values_bytes = bytes;
                self.values.insert(key.to_owned(), value.to_owned());
            }
        }
        Line::new(name).with("rc", 0).with("msg", "success")
    }

    fn get(&self, line: &Line) -> Line {
        let name = "get_result";
        if let Some(refusal) = self.wrong_space(name, line) {
            return refusal;
        }
        match line.value("key").and_then(|key| self.values.get(key)) {
            Some(value) => Line::new(name)
                .with("rc", 0)
                .with("msg", "success")
                .with("value", value),
            None => refusal(name, "key_not_found").with("value", "unknown"),
        }
    }

    fn get_by_index(&self, line: &Line) -> Line {
        let name = "getbyidx_results";
        if let Some(refusal) = self.wrong_space(name, line) {
            return refusal;
        }
        let index = line
            .value("idx")
            .and_then(|index| index.parse::<usize>().ok());
        match index.and_then(|index| Some((index, self.values.iter().nth(index)?))) {
            Some((index, (key, value))) => Line::new(name)
                .with("rc", 0)
                .with("nextidx", index + 1)
                .with("key", key)
                .with("val", value),
            None => Line::new(name)
                .with("rc", -2)
                .with("reason", "no_more_keyvals"),
        }
    }

    fn wrong_space(&self, name: &str, line: &Line) -> Option<Line> {
        (line.value("kvsname") != Some(&self.kvsname)).then(|| refusal(name, "kvs_not_found"))
    }

    /// Releases the barrier when all PEs are in it, and refuses it when a PE will never
    /// enter it.
    fn settle_barrier(&mut self) -> Vec<Effect> {
        if !self.pes.iter().any(|state| state.in_barrier) {
            return Vec::new();
        }
        let absent = self
            .pes
            .iter()
            .position(|state| state.gone || state.stage == Stage::Finalized);
        let answer = if let Some(absent) = absent {
            refusal("barrier_out", &format!("PE {absent} has left the job"))
        } else if self.pes.iter().all(|state| state.in_barrier) {
            Line::new("barrier_out").with("rc", 0)
        } else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        for (pe, state) in (0..).zip(&mut self.pes) {
            if std::mem::take(&mut state.in_barrier) {
                effects.push(reply(pe, answer.clone()));
            }
        }
        effects
    }
}

fn refusal(name: &str, reason: &str) -> Line {
    let reason: String = reason.chars().take(LINE_BYTES_MAX / 16).collect();
    Line::new(name)
        .with("rc", -1)
        .with("msg", wire::escape(&reason))
}

fn reply(pe: u32, line: Line) -> Effect {
    Effect::Reply {
        pe,
        bytes: line.emit(),
    }
}

#[cfg(test)]
#[path = "pmi_server_tests.rs"]
mod tests;
