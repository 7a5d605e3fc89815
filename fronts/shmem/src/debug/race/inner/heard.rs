//! The messages of other PEs, and the reports of races.

use hostwire::PeId;

use super::super::clock::{Clock, Who};
use super::super::finding::Finding;
use super::super::meetings::{Entry, Flow, Key};
use super::super::message::Message;
use super::Inner;
use crate::fail::{fatal, say};
use crate::runtime::Runtime;

/// After so many reports, further ones bring no news.
const REPORTS_MAX: usize = 100;

impl Inner {
    /// Receives all messages. Returns whether there were any, or whether messages still have
    /// to be sent.
    pub(in crate::debug::race) fn listen(&mut self, runtime: &Runtime) -> bool {
        let arrived = self.mail.look(runtime);
        for &pe in &arrived {
            for message in self.mail.open(runtime, pe) {
                if self.hear(runtime, pe, &message).is_none() {
                    fatal(
                        "SHMEM_DEBUG=race",
                        format_args!(
                            "PE {pe} sent a message of {} bytes that makes no sense: is its \
                             library another version?",
                            message.len()
                        ),
                    );
                }
            }
            self.mail.sign(runtime, pe);
        }
        !arrived.is_empty()
    }

    /// Whether all messages to PEs other than `except` have been received.
    pub(in crate::debug::race) fn is_heard(&self, runtime: &Runtime, except: Option<PeId>) -> bool {
        (0..self.pes)
            .filter(|pe| *pe != self.me && Some(*pe) != except)
            .all(|pe| self.mail.is_heard(runtime, pe))
    }

    fn hear(&mut self, runtime: &Runtime, pe: PeId, message: &[u8]) -> Option<()> {
        let who = |thread| Who { pe, thread };
        match Message::read(message, pe, self.pes)? {
            Message::Clock { thread, clock } => self.owner.knows(who(thread), clock),
            Message::Touch(touch) => {
                let clock = self.owner.clock(touch.access.who());
                let found = self.owner.touch(runtime, &touch, &clock)?;
                self.report(runtime, &found, false);
            }
            Message::Word {
                touch,
                change,
                data,
                question,
            } => {
                let clock = self.owner.clock(touch.access.who());
                let how = (change, data);
                let is_fetching = question.is_some();
                let done = self.owner.word(runtime, &touch, &clock, how, is_fetching);
                let (found, old, known) = done?;
                self.report(runtime, &found, false);
                if let Some(question) = question {
                    self.reply(runtime, pe, question, old, known);
                }
            }
            Message::Unlock {
                thread,
                offset,
                passed,
            } => {
                let clock = self.owner.clock(who(thread));
                (self.owner).unlock(offset, Clock::clone(&clock), who(thread), passed);
            }
            Message::Lock { touch, question } => {
                let clock = self.owner.clock(touch.access.who());
                let found = self.owner.touch(runtime, &touch, &clock)?;
                self.report(runtime, &found, false);
                let known = self.owner.lock(touch.footprint.start, self.pes);
                self.reply(runtime, pe, question, 0, known);
            }
            Message::Come {
                key,
                rank,
                size,
                flow,
                thread,
                passed,
                stores,
                gives,
                question,
            } => {
                let entry = Entry {
                    who: who(thread),
                    passed,
                    clock: self.owner.clock(who(thread)),
                    stores,
                    gives,
                    question,
                };
                self.meet(runtime, key, (rank, size), flow, entry);
            }
            Message::Answer {
                question,
                old,
                known,
            } => {
                self.answers.insert(question, (old, known));
            }
            Message::Report { pair, text } => self.print(pair, text),
        }
        Some(())
    }

    pub(super) fn meet(
        &mut self,
        runtime: &Runtime,
        key: Key,
        place: (usize, usize),
        flow: Flow,
        entry: Entry,
    ) {
        let who = entry.who.pe;
        let Some(answers) = self.owner.meetings.come(key, place, flow, entry) else {
            fatal(
                "SHMEM_DEBUG=race",
                format_args!("PE {who} is in another collective operation than the others"),
            );
        };
        for (pe, question, known) in answers {
            self.reply(runtime, pe, question, 0, known);
        }
    }

    fn reply(&mut self, runtime: &Runtime, pe: PeId, question: u64, old: u64, known: Clock) {
        if pe == self.me {
            self.answers.insert(question, (old, known));
            return;
        }
        let answer = Message::Answer {
            question,
            old,
            known,
        };
        self.mail.send(runtime, pe, &answer.write());
    }

    /// Lets PE 0 print it, which gets all races and prints each once.
    pub(super) fn report(&mut self, runtime: &Runtime, found: &[Finding], is_private: bool) {
        for finding in found {
            let pair = finding.pair();
            if self.pairs.contains(&pair) || self.pairs.len() >= REPORTS_MAX {
                continue;
            }
            let text = finding.text(runtime, &self.owner, is_private);
            if self.me == 0 {
                self.print(pair, &text);
            } else {
                self.pairs.insert(pair);
                self.mail
                    .send(runtime, 0, &Message::Report { pair, text: &text }.write());
            }
            self.has_reported = true;
        }
    }

    fn print(&mut self, pair: u64, text: &str) {
        self.has_reported = true;
        if self.pairs.len() < REPORTS_MAX && self.pairs.insert(pair) {
            say(text);
        }
    }
}
