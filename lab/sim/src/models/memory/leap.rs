//! Loops, computed in three ways that give the same result.
//!
//! 1. **Iteration by iteration**, as [`MemorySystem::access`] does it.
//! 2. **Line by line.** As long as no access of the body comes to another line, all
//!    iterations are alike. If the lines of an iteration fit the ways of a set, its second
//!    time finds all of them in the first cache, in the same order: the state does not
//!    change any more, and further iterations only cost time.
//! 3. **All at once.** If all strides are equal, the iterations that move the body by a whole
//!    number of lines are a *round*. A cache treats lines alike: accesses that are moved by a
//!    number of lines have the same effects, moved by that number. So once a round leaves the
//!    caches as it found them, moved, every later round has the same effects, moved further, and
//!    the caches are not touched any more. The requests of the rounds to memory are counted: page
//!    by page if the order makes no difference, that is if the processor blocks and no page has to
//!    be brought in. With pages that come and go, rounds that stay in the same pages cost the same
//!    as the first of them. A processor that overlaps transactions takes them one by one.
//!
//! The test `loops_are_what_their_accesses_are` compares the ways on random loops.

use crate::engine::Ps;

use super::cache::Caches;
use super::system::{Item, Watch};
use super::{Access, AccessKind, Loop, MemoryError, MemorySystem};

/// Rounds before caches are compared for the first time, and at least between two times.
const ROUNDS_TO_COMPARE: u64 = 64;

/// The common properties of a loop's iterations.
struct Round {
    iterations: u64,
    lines: u64,
}

impl MemorySystem {
    /// A loop. Pages that its accesses touch for the first time get their regions before
    /// it begins, array by array in the order of the body.
    ///
    /// # Errors
    /// As [`access`](Self::access), and [`MemoryError::Interrupted`].
    pub fn run(&mut self, program: &Loop<'_>, watch: Watch<'_>) -> Result<(), MemoryError> {
        if program.iterations == 0 {
            return Ok(());
        }
        for access in program.body {
            let (first, last) = access.range(program.iterations)?;
            self.memory.pages.place_all(first, last)?;
        }
        let round = self.round(program);
        let mut at = 0;
        let mut rounds = 0_u64;
        let mut compare_at = ROUNDS_TO_COMPARE;
        while at < program.iterations {
            let whole = round.as_ref().filter(|round| {
                let left = program.iterations - at;
                left >= round.iterations
            });
            let Some(round) = whole else {
                let left = program.iterations - at;
                at += self.chunk(program, at, left, None, watch)?;
                continue;
            };
            rounds += 1;
            if rounds < compare_at {
                self.whole_round(program, at, round, None, watch)?;
                at += round.iterations;
                continue;
            }
            compare_at = rounds.saturating_mul(2);
            let before = self.caches.clone();
            let touches = self.touches;
            let mut items = Vec::new();
            self.whole_round(program, at, round, Some(&mut items), watch)?;
            at += round.iterations;
            if before.is_shifted(&self.caches, round.lines) {
                let left = (program.iterations - at) / round.iterations;
                self.repeat(&items, left, round.lines, watch)?;
                self.touches += (self.touches - touches) * left;
                at += left * round.iterations;
            }
        }
        Ok(())
    }

    /// `None` if the strides differ.
    fn round(&self, program: &Loop<'_>) -> Option<Round> {
        let stride = program.body.first()?.stride_bytes;
        if stride == 0 || program.body.iter().any(|a| a.stride_bytes != stride) {
            return None;
        }
        let common = stride.trailing_zeros().min(self.line_shift);
        let iterations = 1 << (self.line_shift - common);
        // Whole lines, and no more than the range of the loop if it has so many iterations.
        let lines = (u128::from(stride) * u128::from(iterations)) >> self.line_shift;
        Some(Round {
            iterations,
            lines: u64::try_from(lines).ok()?,
        })
    }

    fn whole_round(
        &mut self,
        program: &Loop<'_>,
        first: u64,
        round: &Round,
        mut record: Option<&mut Vec<Item>>,
        watch: Watch<'_>,
    ) -> Result<(), MemoryError> {
        let mut done = 0;
        while done < round.iterations {
            let left = round.iterations - done;
            let record = record.as_deref_mut();
            done += self.chunk(program, first + done, left, record, watch)?;
        }
        Ok(())
    }

    /// Iterations from `at` on that touch the same lines, at most `most`; their number.
    fn chunk(
        &mut self,
        program: &Loop<'_>,
        at: u64,
        most: u64,
        mut record: Option<&mut Vec<Item>>,
        watch: Watch<'_>,
    ) -> Result<u64, MemoryError> {
        self.look(watch)?;
        let shift = self.line_shift;
        let same = program.body.iter().map(|access| {
            let Access { address, bytes, .. } = access.at(at);
            match access.stride_bytes {
                0 => most,
                stride => {
                    // Until the first or the last byte leaves its line.
                    let line_end = |byte: u64| byte | ((1 << shift) - 1);
                    let last = address + (bytes - 1);
                    let steps = |byte: u64| (line_end(byte) - byte) / stride + 1;
                    steps(address).min(steps(last))
                }
            }
        });
        let same = same.min().unwrap_or(most).min(most);
        let touches = self.touches;
        self.iteration(program, at, record.as_deref_mut())?;
        let touches = self.touches - touches;
        if same == 1 {
            return Ok(1);
        }
        if touches <= self.caches.first_ways() as u64 && self.all_allocate(program) {
            let again = same - 1;
            let hits = Ps(self.caches.first_hit().0.saturating_mul(touches));
            let time = Ps((program.work + hits).0.saturating_mul(again));
            self.touches += touches * again;
            self.items.push(Item::Work(time));
            self.apply_recorded(record)?;
            return Ok(same);
        }
        for more in 1..same {
            self.look(watch)?;
            self.iteration(program, at + more, record.as_deref_mut())?;
        }
        Ok(same)
    }

    /// Whether the lines of an iteration are in the first cache after it.
    fn all_allocate(&self, program: &Loop<'_>) -> bool {
        let loads = || {
            program
                .body
                .iter()
                .all(|a| a.first.kind == AccessKind::Load)
        };
        self.caches.allocates_writes() || loads()
    }

    fn iteration(
        &mut self,
        program: &Loop<'_>,
        at: u64,
        record: Option<&mut Vec<Item>>,
    ) -> Result<(), MemoryError> {
        self.items.push(Item::Work(program.work));
        for access in program.body {
            let access = access.at(at);
            let last = access.address + (access.bytes - 1);
            for line in access.address >> self.line_shift..=last >> self.line_shift {
                self.touch(line, access.kind);
            }
        }
        self.apply_recorded(record)
    }

    fn apply_recorded(&mut self, record: Option<&mut Vec<Item>>) -> Result<(), MemoryError> {
        if let Some(record) = record {
            record.extend_from_slice(&self.items);
        }
        self.apply()
    }

    /// Repeats the effects of a round `rounds` times, each `lines` lines further on.
    fn repeat(
        &mut self,
        items: &[Item],
        rounds: u64,
        lines: u64,
        watch: Watch<'_>,
    ) -> Result<(), MemoryError> {
        let transactions = items.iter().filter(|i| matches!(i, Item::Transact(_)));
        let events = (transactions.count() as u64).saturating_mul(rounds);
        let left = self.memory.events_max - self.memory.events;
        match self.memory.is_sum() && events <= left {
            // Each item by itself, page by page.
            true => {
                for item in items {
                    self.look(watch)?;
                    self.memory.sum(*item, rounds, lines)?;
                }
            }
            false => self.repeat_in_order(items, rounds, lines, watch)?,
        }
        Caches::shift(&mut self.caches, rounds.wrapping_mul(lines));
        Ok(())
    }

    fn repeat_in_order(
        &mut self,
        items: &[Item],
        rounds: u64,
        lines: u64,
        watch: Watch<'_>,
    ) -> Result<(), MemoryError> {
        let mut round = 0;
        while round < rounds {
            for item in items {
                self.look(watch)?;
                self.memory.apply(item.shifted((round + 1) * lines))?;
            }
            round += 1;
            let alike = self.rounds_alike(items, round, rounds, lines);
            for item in items {
                self.memory.repeat(item.shifted(round * lines), alike)?;
            }
            round += alike;
        }
        Ok(())
    }

    /// Rounds behind round `round` that cost what it did: their lines lie in the same
    /// pages, which are all resident and in the same order of use as after it.
    fn rounds_alike(&self, items: &[Item], round: u64, rounds: u64, lines: u64) -> u64 {
        let memory = &self.memory;
        let transactions = || {
            items.iter().filter_map(|item| match item {
                Item::Transact(transaction) => Some(transaction.line() + round * lines),
                Item::Work(_) => None,
            })
        };
        let count = transactions().count() as u64;
        if !memory.repeats(count) {
            return 0;
        }
        let in_page = transactions().map(|line| {
            let page_end = line | ((1 << memory.page_shift) - 1);
            (page_end - line) / lines
        });
        let budget = (memory.events_max - memory.events).checked_div(count);
        let most = (rounds - round).min(budget.unwrap_or(u64::MAX));
        in_page.min().unwrap_or(most).min(most)
    }
}
