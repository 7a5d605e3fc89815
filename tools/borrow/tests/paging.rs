//! The pager against a simulated program, cache and store, with an oracle of what the program wrote.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::ops::Range;

use hostwire_borrow::paging::{Access, Backing, Content, Fault, Limits, Page, Pager};
use proptest::prelude::*;

const PAGES: Page = 4096;

/// The content of a page is one word.
#[derive(Default)]
struct Machine {
    here: BTreeMap<Page, (u64, bool)>,
    saved: BTreeMap<Page, u64>,
    under_way: Vec<(Page, u64)>,
    /// What was asked for ahead, as it was then.
    asked: BTreeMap<Page, u64>,
    asked_most: usize,
    /// Stores that another thread of the program does as soon as a step of the pager gives it a
    /// chance, and that were done.
    racing: VecDeque<(Page, u64)>,
    done: Vec<(Page, u64)>,
    most: usize,
    /// Another thread stores to the very pages that the pager is at, whenever it may: this often.
    intrusions: u64,
}

impl Machine {
    /// A store to a page that is about to leave, or was just saved, if the page may be written.
    fn intrude(&mut self, page: Page) {
        if self.intrusions == 0 {
            return;
        }
        if let Some((word, true)) = self.here.get_mut(&page) {
            self.intrusions -= 1;
            *word = u64::MAX - self.intrusions;
            self.done.push((page, *word));
        }
    }

    /// Another thread runs for a moment: a store to a page that it may write is done at once.
    fn race(&mut self) {
        if let Some((page, value)) = self.racing.pop_front() {
            match self.here.get_mut(&page) {
                Some((word, true)) => {
                    *word = value;
                    self.done.push((page, value));
                }
                _ => self.racing.push_back((page, value)),
            }
        }
    }
}

impl Backing for Machine {
    type Error = Infallible;

    fn ask(&mut self, pages: Range<Page>) {
        for page in pages {
            assert!(!self.here.contains_key(&page), "page {page} is here");
            let is_safe = self.under_way.iter().all(|(other, _)| *other != page);
            assert!(is_safe, "the save of page {page} is under way");
            let before = self.asked.insert(page, self.saved[&page]);
            assert_eq!(before, None, "page {page} was asked for");
        }
        self.asked_most = self.asked_most.max(self.asked.len());
        self.race();
    }

    fn forget(&mut self, pages: Range<Page>) {
        self.asked.retain(|page, _| !pages.contains(page));
    }

    fn install(
        &mut self,
        pages: Range<Page>,
        content: Content,
        access: Access,
    ) -> Result<(), Infallible> {
        for page in pages {
            let word = match content {
                Content::Zeros => 0,
                Content::Saved => match self.asked.get(&page) {
                    Some(word) => *word,
                    None => {
                        let is_safe = self.under_way.iter().all(|(other, _)| *other != page);
                        assert!(is_safe, "the save of page {page} is under way");
                        self.saved[&page]
                    }
                },
            };
            let before = self.here.insert(page, (word, access == Access::Write));
            assert_eq!(before, None, "page {page} was here");
        }
        self.most = self.most.max(self.here.len());
        self.race();
        Ok(())
    }

    fn set_access(&mut self, pages: Range<Page>, access: Access) -> Result<(), Infallible> {
        self.race();
        self.intrude(pages.start);
        for page in pages {
            self.here.get_mut(&page).unwrap().1 = access == Access::Write;
        }
        self.race();
        Ok(())
    }

    fn save(&mut self, pages: Range<Page>) -> Result<(), Infallible> {
        for page in pages {
            let word = self.here[&page].0;
            assert!(
                self.under_way.iter().all(|(other, _)| *other != page),
                "saves have no order"
            );
            self.under_way.push((page, word));
            self.race();
            self.intrude(page);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        self.saved.extend(self.under_way.drain(..));
        Ok(())
    }

    fn remove(&mut self, pages: Range<Page>) -> Result<(), Infallible> {
        self.race();
        for page in pages {
            self.intrude(page);
            self.here.remove(&page);
        }
        Ok(())
    }

    fn wake(&mut self, _: Page) -> Result<(), Infallible> {
        Ok(())
    }
}

/// What a program does.
#[derive(Debug, Clone)]
enum Step {
    Read(Page),
    Write(Page, u64),
    /// Walks along pages, and writes each if it has a value.
    Walk(Page, Page, Option<u64>),
    /// As `Walk`, down.
    WalkDown(Page, Page, Option<u64>),
    Race(Page, u64),
    Discard(Page, Page),
    Intrude(u64),
    Background,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let page = prop_oneof![0..PAGES, 0..64u32];
    let step = prop_oneof![
        4 => page.clone().prop_map(Step::Read),
        4 => (page.clone(), 1..u64::MAX).prop_map(|(page, value)| Step::Write(page, value)),
        2 => (page.clone(), 1..400u32, any::<Option<u64>>()).prop_map(|(p, n, v)| Step::Walk(p, n, v)),
        2 => (page.clone(), 1..400u32, any::<Option<u64>>()).prop_map(|(p, n, v)| Step::WalkDown(p, n, v)),
        2 => (page.clone(), 1..u64::MAX).prop_map(|(page, value)| Step::Race(page, value)),
        1 => (page, 1..200u32).prop_map(|(page, count)| Step::Discard(page, count)),
        1 => (1..50u64).prop_map(Step::Intrude),
        3 => Just(Step::Background),
    ];
    proptest::collection::vec(step, 1..120)
}

struct World {
    pager: Pager,
    machine: Machine,
    oracle: BTreeMap<Page, u64>,
    limits: Limits,
}

impl World {
    fn new() -> Self {
        let limits = Limits::for_cache(0);
        Self {
            pager: Pager::new(PAGES as usize, limits),
            machine: Machine::default(),
            oracle: BTreeMap::new(),
            limits,
        }
    }

    /// As a processor does: faults until the access succeeds.
    fn touch(&mut self, page: Page, value: Option<u64>) {
        for _ in 0..8 {
            let fault = match (self.machine.here.get_mut(&page), value) {
                (None, None) => Fault::Read,
                (None, Some(_)) => Fault::Write,
                (Some((_, false)), Some(_)) => Fault::Protected,
                (Some((word, _)), None) => {
                    assert_eq!(
                        *word,
                        self.oracle.get(&page).copied().unwrap_or(0),
                        "page {page}"
                    );
                    return;
                }
                (Some((word, true)), Some(value)) => {
                    *word = value;
                    self.oracle.insert(page, value);
                    return;
                }
            };
            let Ok(()) = self
                .pager
                .fault(&mut self.machine, page, fault, &(0..PAGES));
            self.learn();
        }
        panic!("page {page} does not come");
    }

    fn learn(&mut self) {
        self.oracle.extend(self.machine.done.drain(..));
        assert!(
            self.machine.most <= self.limits.cache_pages,
            "the cache overflows"
        );
        assert_eq!(self.machine.here.len(), self.pager.resident());
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Read(page) => self.touch(page, None),
            Step::Write(page, value) => self.touch(page, Some(value)),
            Step::Walk(page, count, value) => {
                for page in page..(page + count).min(PAGES) {
                    self.touch(page, value);
                }
            }
            Step::WalkDown(page, count, value) => {
                for page in (page..(page + count).min(PAGES)).rev() {
                    self.touch(page, value);
                }
            }
            Step::Race(page, value) => self.machine.racing.push_back((page, value)),
            Step::Discard(page, count) => {
                let pages = page..(page + count).min(PAGES);
                // A program does not store to what it gives up.
                self.machine
                    .racing
                    .retain(|(page, _)| !pages.contains(page));
                let Ok(()) = self.pager.discard(&mut self.machine, pages.clone());
                self.learn();
                self.oracle.retain(|page, _| !pages.contains(page));
            }
            Step::Intrude(times) => self.machine.intrusions = times,
            Step::Background => {
                let Ok(_) = self.pager.background(&mut self.machine);
                self.learn();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_program_reads_what_it_wrote_last(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
        for page in 0..PAGES {
            world.touch(page, None);
        }
    }
}

#[test]
fn a_program_that_walks_along_faults_once_per_window() {
    let mut world = World::new();
    for page in 0..PAGES {
        world.touch(page, Some(u64::from(page)));
        while world.pager.background(&mut world.machine).unwrap() {}
    }
    let faults = world.pager.stats.faults_missing;
    let windows = u64::from(PAGES) / world.limits.window_pages as u64;
    assert!(faults <= windows + 8, "{faults} faults, {windows} windows");
    assert_eq!(world.pager.stats.faults_protected, 0);
}

#[test]
fn so_does_one_that_walks_down() {
    let mut world = World::new();
    for page in (0..PAGES).rev() {
        world.touch(page, Some(u64::from(page)));
        while world.pager.background(&mut world.machine).unwrap() {}
    }
    let faults = world.pager.stats.faults_missing;
    let windows = u64::from(PAGES) / world.limits.window_pages as u64;
    assert!(faults <= windows + 8, "{faults} faults, {windows} windows");
}

#[test]
fn pages_that_come_back_soon_stay_longer_than_others() {
    let mut world = World::new();
    let mut of_hot = 0;
    for round in 0..400u32 {
        for hot in 0..32 {
            let before = world.pager.stats.faults_missing;
            world.touch(3 * hot, None);
            of_hot += world.pager.stats.faults_missing - before;
        }
        for cold in 0..32 {
            world.touch(1024 + (7 * (32 * round + cold)) % 3000, None);
        }
    }
    // First come, first gone would fetch them every seventh round: 32 * 400 / 7.
    assert!(of_hot < 1400, "{of_hot}");
}

#[test]
fn two_windows_are_on_their_way_ahead_of_a_program_that_walks_along() {
    let mut world = World::new();
    for round in 0..2 {
        for page in 0..PAGES {
            world.touch(page, (round == 0).then_some(u64::from(page)));
        }
    }
    let windows = 2 * world.limits.window_pages;
    assert_eq!(world.machine.asked_most, windows);
}

/// A program steps over the page at which a window begins, so that what came with it is kept.
#[test]
fn what_came_ahead_is_not_used_for_a_page_that_was_written_meanwhile() {
    let mut world = World::new();
    let rest = |world: &mut World| while world.pager.background(&mut world.machine).unwrap() {};
    for page in 0..PAGES {
        world.touch(page, Some(1));
    }
    for page in 0..64 {
        world.touch(page, None);
        rest(&mut world);
    }
    let next = (64..PAGES).find(|page| !world.machine.here.contains_key(page));
    let written = next.unwrap() + 1;
    assert!(world.machine.here.contains_key(&written));
    world.touch(written, Some(2));
    for page in (1024..3000).step_by(3) {
        world.touch(page, None);
    }
    assert!(!world.machine.here.contains_key(&written));
    world.touch(written, None);
}
