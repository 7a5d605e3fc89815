//! Which pages are here, and what happens when the program touches one that is not.
//!
//! No I/O: [`Pager`] decides, and a [`Backing`] does it. The rules that keep bytes right:
//!
//! - A page that the program may write is *dirty*. Before it leaves, it is protected, then saved, then
//!   taken away, in this order. A store in between waits for the pager, and is done on the page when
//!   it has come back.
//! - A page whose save may still be under way is not fetched before a [`Backing::flush`].
//! - A page that was asked for ahead is absent until it is installed, so it is not saved in between.
//! - A page that was never saved has zeros.
//!
//! Pages come and go in *runs* of neighbours. They leave in the order in which they came, with a second chance for
//! pages that had to be fetched again soon after they had left. The hardware does not tell a pager which pages a
//! program uses, so this is the only sign there is.

mod state;
mod stats;
mod streams;

use std::collections::VecDeque;
use std::ops::Range;

use state::Table;
pub use stats::{Histogram, Stats};
use streams::{Streams, Way};

/// The number of a page of the borrowed memory.
pub type Page = u32;

/// The contents of a page that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Zeros: it was never saved.
    Zeros,
    /// What was saved last.
    Saved,
}

/// What the program may do with a page that is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read it; a store is a fault.
    Read,
    /// Read and write it.
    Write,
}

/// What a thread wanted when it was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// To read a page that is not here.
    Read,
    /// To write one that is not here.
    Write,
    /// To write one that it may only read.
    Protected,
}

/// Carries out what the [`Pager`] decides. Each range lies in one allocation.
pub trait Backing {
    /// Why it failed. The program cannot go on then.
    type Error;

    /// Begins to fetch pages that were saved, and does not wait. [`install`](Self::install) of a part
    /// of them uses what comes, until [`forget`](Self::forget).
    fn ask(&mut self, pages: Range<Page>);

    /// Stops installing these pages from what was asked for. They are one end of it, or all of it.
    fn forget(&mut self, pages: Range<Page>);

    /// Puts pages into the program's memory and wakes the threads that wait for them.
    ///
    /// # Errors
    /// If they cannot be fetched.
    fn install(
        &mut self,
        pages: Range<Page>,
        content: Content,
        access: Access,
    ) -> Result<(), Self::Error>;

    /// Changes what the program may do with pages that are here. [`Access::Write`] wakes the threads that wait for
    /// them.
    ///
    /// # Errors
    /// If the system refuses.
    fn set_access(&mut self, pages: Range<Page>, access: Access) -> Result<(), Self::Error>;

    /// Begins to save pages that are here.
    ///
    /// # Errors
    /// If they cannot be saved.
    fn save(&mut self, pages: Range<Page>) -> Result<(), Self::Error>;

    /// Returns when all that was saved can be fetched.
    ///
    /// # Errors
    /// If something cannot.
    fn flush(&mut self) -> Result<(), Self::Error>;

    /// Takes pages away.
    ///
    /// # Errors
    /// If the system refuses.
    fn remove(&mut self, pages: Range<Page>) -> Result<(), Self::Error>;

    /// Wakes the threads that wait for a page. They try again.
    ///
    /// # Errors
    /// If the system refuses.
    fn wake(&mut self, page: Page) -> Result<(), Self::Error>;
}

/// Runs at the end of the queue that may still grow.
const RECENT_RUNS: usize = 8;
/// Pages that leave in one step at most.
const LEAVING_MAX: usize = 32;
/// Saves that are remembered at most: a flush waits for lenders, and mostly none is needed.
const UNFLUSHED_MAX: usize = 256;
/// Windows of a stream that are asked for ahead of the program.
const DEPTH: usize = 2;
/// Windows that are asked for at most.
const AHEAD_MAX: usize = 8;

/// The sizes of the cache and of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pages that are here at most.
    pub cache_pages: usize,
    /// Pages that come at once at most.
    pub window_pages: usize,
}

impl Limits {
    /// The least cache: a system call of the program may need several pages at the same time.
    pub const CACHE_PAGES_MIN: usize = 256;
    /// 128 KiB: two of them are as much as gets of one process have under way on a network.
    const WINDOW_PAGES_MAX: usize = 32;

    /// For a cache of this size.
    pub fn for_cache(cache_pages: usize) -> Self {
        let cache_pages = cache_pages.max(Self::CACHE_PAGES_MIN);
        Self {
            cache_pages,
            window_pages: (cache_pages / 32).clamp(4, Self::WINDOW_PAGES_MAX),
        }
    }

    /// Room that is made when nothing else is to be done.
    fn headroom(&self) -> usize {
        (4 * self.window_pages).min(self.cache_pages / 4)
    }
}

/// Pages that have come together.
#[derive(Debug, Clone)]
struct Run {
    pages: Range<Page>,
}

/// Pages of a stream that were asked for ahead of the program. They overlap no others. When the rest has been
/// installed, only the mark remains.
#[derive(Debug, Clone)]
struct Ahead {
    pages: Range<Page>,
    /// The first one on the way of the program. It stays absent: the fault on it tells how far the
    /// program is.
    mark: Page,
    access: Access,
}

impl Ahead {
    fn has_more(&self) -> bool {
        self.pages.len() > 1
    }

    /// All pages but the mark.
    fn behind_mark(&self) -> Range<Page> {
        match self.mark == self.pages.start {
            true => self.pages.start + 1..self.pages.end,
            false => self.pages.start..self.mark,
        }
    }
}

/// See the [module text](self).
#[derive(Debug)]
pub struct Pager {
    table: Table,
    /// In the order of coming.
    queue: VecDeque<Run>,
    limits: Limits,
    missing: Streams,
    protected: Streams,
    ahead: VecDeque<Ahead>,
    /// Saved since the last flush.
    unflushed: Vec<Range<Page>>,
    /// What happened.
    pub stats: Stats,
}

impl Pager {
    /// For this much borrowed memory, none of it in use.
    pub fn new(pages: usize, limits: Limits) -> Self {
        Self {
            table: Table::new(pages),
            queue: VecDeque::new(),
            limits,
            missing: Streams::new(limits.window_pages),
            protected: Streams::new(limits.window_pages),
            ahead: VecDeque::new(),
            unflushed: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Pages that are here.
    pub fn resident(&self) -> usize {
        self.table.resident()
    }

    /// A thread waits for `page`, which lies in the allocation `bounds`.
    ///
    /// # Errors
    /// Of the backing.
    pub fn fault<B: Backing>(
        &mut self,
        backing: &mut B,
        page: Page,
        fault: Fault,
        bounds: &Range<Page>,
    ) -> Result<(), B::Error> {
        if !bounds.contains(&page) || !self.table.contains(page) {
            self.stats.stray += 1;
            return backing.wake(page);
        }
        match (self.table.is_resident(page), fault) {
            (false, Fault::Read) => self.bring(backing, page, Access::Read, bounds),
            (false, Fault::Write) => self.bring(backing, page, Access::Write, bounds),
            (true, Fault::Protected) if !self.table.is_writable(page) => {
                self.allow_stores(backing, page, bounds)
            }
            // The page has left, come or become writable since the thread was stopped.
            _ => {
                self.stats.stray += 1;
                backing.wake(page)
            }
        }
    }

    /// The contents of these pages are not needed any more: they have zeros.
    ///
    /// # Errors
    /// Of the backing.
    pub fn discard<B: Backing>(
        &mut self,
        backing: &mut B,
        pages: Range<Page>,
    ) -> Result<(), B::Error> {
        while let Some(at) = self.ahead_at(|ahead| overlap(&ahead.pages, &pages)) {
            self.forget(backing, at);
        }
        // All of it, because the program may have touched what the pager gave no page for.
        if !pages.is_empty() {
            backing.remove(pages.clone())?;
        }
        self.table.clear(pages);
        Ok(())
    }

    /// Does a part of what can wait. Whether there is more to do.
    ///
    /// # Errors
    /// Of the backing.
    pub fn background<B: Backing>(&mut self, backing: &mut B) -> Result<bool, B::Error> {
        // Pages leave while others come.
        if self.is_short() {
            self.evict(backing)?;
        } else if let Some(at) = self.ahead_at(Ahead::has_more)
            && let Some(ahead) = self.ahead.get_mut(at)
        {
            let (pages, access) = (ahead.behind_mark(), ahead.access);
            ahead.pages = ahead.mark..ahead.mark + 1;
            self.stats.ahead += self.place_absent(backing, pages.clone(), access)?;
            // They may be written from now on.
            backing.forget(pages);
        } else if self.unflushed.len() > UNFLUSHED_MAX {
            self.flush(backing)?;
        }
        Ok(self.has_background())
    }

    /// Whether there is something to do that can wait.
    pub fn has_background(&self) -> bool {
        self.is_short()
            || self.unflushed.len() > UNFLUSHED_MAX
            || self.ahead.iter().any(Ahead::has_more)
    }

    /// Whether room should be made when nobody waits.
    fn is_short(&self) -> bool {
        self.table.resident() + self.limits.headroom() > self.limits.cache_pages
    }

    /// Brings a page that a thread waits for, and its next neighbours if the program goes along them.
    fn bring<B: Backing>(
        &mut self,
        backing: &mut B,
        page: Page,
        access: Access,
        bounds: &Range<Page>,
    ) -> Result<(), B::Error> {
        self.stats.faults_missing += 1;
        self.table.note_return(page, self.limits.cache_pages as u32);
        let (window, way) = self.missing.fault(page);
        let now = match self.ahead_at(|ahead| ahead.pages.contains(&page)) {
            Some(at) => self.bring_asked(backing, at, access)?,
            None => {
                let near = window_at(page, window, way, bounds);
                let near = self.without_ahead(near, way);
                let now = self.table.alike_in_residence(near, way);
                self.make_room(backing, now.len())?;
                self.stats.ahead += now.len() as u64 - 1;
                self.place(backing, now.clone(), access)?;
                now
            }
        };
        if window >= self.limits.window_pages {
            self.look_ahead(backing, &now, way, access, bounds)?;
        }
        Ok(())
    }

    /// Brings the rest of what was asked for, for a thread that waits for one of these pages.
    fn bring_asked<B: Backing>(
        &mut self,
        backing: &mut B,
        at: usize,
        access: Access,
    ) -> Result<Range<Page>, B::Error> {
        let Some(ahead) = self.ahead.get(at) else {
            return Ok(0..0);
        };
        let pages = ahead.pages.clone();
        let count = self.place_absent(backing, pages.clone(), access)?;
        self.stats.ahead += count.saturating_sub(1);
        self.forget(backing, at);
        Ok(pages)
    }

    /// The first window ahead for which `is_one` is true.
    fn ahead_at(&self, is_one: impl Fn(&Ahead) -> bool) -> Option<usize> {
        self.ahead.iter().position(is_one)
    }

    /// Gives up a window ahead.
    fn forget<B: Backing>(&mut self, backing: &mut B, at: usize) {
        if let Some(ahead) = self.ahead.remove(at) {
            backing.forget(ahead.pages);
        }
    }

    /// The part of a window before the first page that was asked for, in the direction of the program.
    fn without_ahead(&self, pages: Range<Page>, way: Way) -> Range<Page> {
        let cut = |pages: Range<Page>, ahead: &Ahead| match (overlap(&ahead.pages, &pages), way) {
            (false, _) => pages,
            (true, Way::Up) => pages.start..ahead.pages.start,
            (true, Way::Down) => ahead.pages.end..pages.end,
        };
        self.ahead.iter().fold(pages, cut)
    }

    /// Asks for the next windows of a stream behind `now`, if that was not done yet.
    fn look_ahead<B: Backing>(
        &mut self,
        backing: &mut B,
        now: &Range<Page>,
        way: Way,
        access: Access,
        bounds: &Range<Page>,
    ) -> Result<(), B::Error> {
        let window = self.limits.window_pages;
        let mut last = now.clone();
        for depth in 0..DEPTH {
            let behind = match way {
                Way::Up => last.end,
                // Below the first page there is nothing.
                Way::Down if last.start == 0 => return Ok(()),
                Way::Down => last.start - 1,
            };
            let mut near = window_at(behind, window, way, bounds);
            let is_absent = |page: &Page| !self.table.is_resident(*page);
            let mark = match way {
                Way::Up => near.find(is_absent),
                Way::Down => near.rfind(is_absent),
            };
            let Some(mark) = mark else {
                return Ok(());
            };
            let known = self.ahead_at(|ahead| ahead.pages.contains(&mark));
            let (mark, pages) = match known.and_then(|at| self.ahead.get(at)) {
                Some(ahead) => (ahead.mark, ahead.pages.clone()),
                None => {
                    let pages = self.without_ahead(window_at(mark, window, way, bounds), way);
                    self.ask(backing, mark, pages.clone(), access)?;
                    (mark, pages)
                }
            };
            if depth == 0 {
                self.missing.expect(mark);
            }
            last = pages;
        }
        Ok(())
    }

    /// Asks for the pages of a window that are not here.
    fn ask<B: Backing>(
        &mut self,
        backing: &mut B,
        mark: Page,
        pages: Range<Page>,
        access: Access,
    ) -> Result<(), B::Error> {
        // Under load the oldest are out of date.
        if self.ahead.len() >= AHEAD_MAX {
            self.forget(backing, 0);
        }
        self.flush_for(backing, &pages)?;
        for part in self.table.absent(pages.clone()) {
            let saved = self.table.by_saved(part).filter(|(_, is_saved)| *is_saved);
            saved.for_each(|(part, _)| backing.ask(part));
        }
        self.ahead.push_back(Ahead {
            pages,
            mark,
            access,
        });
        Ok(())
    }

    /// Puts those of these pages there that are not here. How many.
    fn place_absent<B: Backing>(
        &mut self,
        backing: &mut B,
        pages: Range<Page>,
        access: Access,
    ) -> Result<u64, B::Error> {
        self.make_room(backing, pages.len())?;
        let mut count = 0;
        for part in self.table.absent(pages) {
            count += part.len() as u64;
            self.place(backing, part, access)?;
        }
        Ok(count)
    }

    /// Puts absent pages there: runs of zeros and of saved pages.
    fn place<B: Backing>(
        &mut self,
        backing: &mut B,
        pages: Range<Page>,
        access: Access,
    ) -> Result<(), B::Error> {
        self.flush_for(backing, &pages)?;
        for (part, is_saved) in self.table.by_saved(pages.clone()) {
            let count = part.len() as u64;
            let content = match is_saved {
                true => Content::Saved,
                false => Content::Zeros,
            };
            backing.install(part, content, access)?;
            match content {
                Content::Saved => self.stats.fetched += count,
                Content::Zeros => self.stats.zeros += count,
            }
        }
        self.table.came(pages.clone(), access == Access::Write);
        self.enqueue(pages);
        Ok(())
    }

    /// Puts pages at the end of the queue: into the run of their neighbours, if that has just come.
    fn enqueue(&mut self, pages: Range<Page>) {
        let most = 2 * self.limits.window_pages;
        let mut late = self.queue.iter_mut().rev().take(RECENT_RUNS);
        let neighbour =
            late.find(|run| run.pages.end == pages.start && run.pages.len() + pages.len() <= most);
        match neighbour {
            Some(run) => run.pages.end = pages.end,
            None => self.queue.push_back(Run { pages }),
        }
    }

    /// Allows stores to a page that a thread wants to write, and to its next neighbours if the
    /// program goes along them.
    fn allow_stores<B: Backing>(
        &mut self,
        backing: &mut B,
        page: Page,
        bounds: &Range<Page>,
    ) -> Result<(), B::Error> {
        self.stats.faults_protected += 1;
        let (window, way) = self.protected.fault(page);
        let near = window_at(page, window, way, bounds);
        let pages = self.table.alike_in_access(near, way);
        backing.set_access(pages.clone(), Access::Write)?;
        self.table.set_writable(pages, true);
        Ok(())
    }

    /// Makes room for `count` pages.
    fn make_room<B: Backing>(&mut self, backing: &mut B, count: usize) -> Result<(), B::Error> {
        while self.table.resident() > 0 && self.table.resident() + count > self.limits.cache_pages {
            self.evict(backing)?;
        }
        Ok(())
    }

    /// Lets some of the oldest pages go, unless they have a second chance.
    fn evict<B: Backing>(&mut self, backing: &mut B) -> Result<(), B::Error> {
        let Some(Run { mut pages }) = self.queue.pop_front() else {
            return Ok(());
        };
        // A thread may begin to wait meanwhile, and shall not wait for long.
        if pages.len() > LEAVING_MAX {
            let rest = pages.start + LEAVING_MAX as Page..pages.end;
            pages.end = rest.start;
            self.queue.push_front(Run { pages: rest });
        }
        for part in self.table.present(pages) {
            if self.table.take_second_chance(part.clone()) {
                self.queue.push_back(Run { pages: part });
                continue;
            }
            self.save(backing, part.clone())?;
            backing.remove(part.clone())?;
            self.stats.removed += part.len() as u64;
            self.table.left(part);
        }
        Ok(())
    }

    /// Saves what is dirty in pages that are here. No store goes there from here on.
    fn save<B: Backing>(&mut self, backing: &mut B, pages: Range<Page>) -> Result<(), B::Error> {
        for part in self.table.dirty(pages) {
            backing.set_access(part.clone(), Access::Read)?;
            backing.save(part.clone())?;
            self.stats.saved += part.len() as u64;
            self.table.set_writable(part.clone(), false);
            self.table.set_saved(part.clone());
            self.unflushed.push(part);
        }
        Ok(())
    }

    /// A page whose save is under way cannot be fetched yet.
    fn flush_for<B: Backing>(
        &mut self,
        backing: &mut B,
        pages: &Range<Page>,
    ) -> Result<(), B::Error> {
        match self.unflushed.iter().any(|saved| overlap(saved, pages)) {
            true => self.flush(backing),
            false => Ok(()),
        }
    }

    fn flush<B: Backing>(&mut self, backing: &mut B) -> Result<(), B::Error> {
        backing.flush()?;
        self.unflushed.clear();
        Ok(())
    }
}

/// The pages of a window that a program enters at `page`, as far as they are in `bounds`.
fn window_at(page: Page, window: usize, way: Way, bounds: &Range<Page>) -> Range<Page> {
    let more = (window as Page).saturating_sub(1);
    let (start, last) = match way {
        Way::Up => (page, page.saturating_add(more)),
        Way::Down => (page.saturating_sub(more), page),
    };
    start.max(bounds.start)..last.saturating_add(1).min(bounds.end)
}

fn overlap(a: &Range<Page>, b: &Range<Page>) -> bool {
    a.start < b.end && b.start < a.end
}
