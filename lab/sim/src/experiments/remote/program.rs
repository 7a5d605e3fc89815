//! What runs on a processor.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::engine::Ps;
use crate::experiments::load::Arrived;
use crate::models::ht::opteron::{Arrival, LINE_BYTES, Local, Op, Outcome, Program};

use super::walk::{Range, Step, Walk};

/// What all processors have seen.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) arrived: Vec<Arrived>,
    pub(super) local_loads: u64,
    pub(super) stores: u64,
    /// When each was done.
    pub(super) ends: Vec<Ps>,
    pub(super) failed: bool,
}

/// Walks through memory: loads in pieces, so many at once; stores without waiting.
pub(super) struct Walker {
    host: usize,
    ranges: Vec<Range>,
    read_bytes: u64,
    in_flight: usize,
    steps: Box<dyn Iterator<Item = Step>>,
    next: VecDeque<Op>,
    drains: bool,
    seen: Rc<RefCell<Seen>>,
}

impl Walker {
    pub(super) fn new(
        host: usize,
        ranges: Vec<Range>,
        walk: &Walk,
        steps: Box<dyn Iterator<Item = Step>>,
        seen: &Rc<RefCell<Seen>>,
    ) -> Walker {
        Walker {
            host,
            ranges,
            read_bytes: walk.read_bytes.clamp(1, LINE_BYTES),
            in_flight: usize::try_from(walk.in_flight).unwrap_or(usize::MAX).max(1),
            steps,
            next: VecDeque::new(),
            drains: false,
            seen: Rc::clone(seen),
        }
    }

    fn note(&self, arrivals: Vec<Arrival>) {
        let mut seen = self.seen.borrow_mut();
        for arrival in arrivals {
            let Some(data) = arrival.data else {
                seen.failed = true;
                continue;
            };
            let holds = |range: &&Range| range.holds(arrival.address);
            let owner = self.ranges.iter().find(holds).map(|range| range.owner);
            match owner {
                Some(owner) if owner != self.host => seen.arrived.push(Arrived {
                    flow: (self.host as u32, owner as u32),
                    bytes: data.len() as u64,
                    latency: arrival.arrived - arrival.issued,
                }),
                _ => seen.local_loads += 1,
            }
        }
    }

    /// A load as pieces. After each it waits until another one may begin.
    fn load(&mut self, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        let owner = self.ranges.iter().find(|range| range.holds(address));
        let piece = match owner {
            Some(range) if range.owner == self.host => LINE_BYTES,
            _ => self.read_bytes,
        };
        let mut at = address;
        while at < end {
            let piece_end = (at / piece + 1) * piece;
            let bytes = piece_end.min(end) - at;
            self.next.push_back(Op::LoadAhead {
                address: at,
                bytes: bytes as usize,
            });
            self.next.push_back(Op::AwaitLoads {
                in_flight: self.in_flight - 1,
            });
            at += bytes;
        }
    }
}

impl Program for Walker {
    fn resume(&mut self, local: Local<'_>, outcome: Outcome) -> Op {
        match outcome {
            Outcome::Arrived(arrivals) => self.note(arrivals),
            Outcome::Aborted => {
                self.seen.borrow_mut().failed = true;
                return Op::Halt;
            }
            _ => {}
        }
        loop {
            if let Some(op) = self.next.pop_front() {
                return op;
            }
            match self.steps.next() {
                Some(Step::Work(Ps::ZERO)) => {}
                Some(Step::Work(time)) => return Op::Compute(time),
                Some(Step::Load { address, bytes }) => self.load(address, bytes),
                Some(Step::Store { address, bytes }) => {
                    self.seen.borrow_mut().stores += 1;
                    return Op::Store {
                        address,
                        data: vec![0; bytes as usize],
                    };
                }
                None if !self.drains => {
                    self.drains = true;
                    self.next.push_back(Op::AwaitLoads { in_flight: 0 });
                    self.next.push_back(Op::Fence);
                }
                None => {
                    self.seen.borrow_mut().ends.push(local.now);
                    return Op::Halt;
                }
            }
        }
    }
}
