//! The table of stations that a station knows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use hostwire_transport::error::{EnvironmentFault, PeId, TransportError};
use hostwire_transport::window::Window;

use super::private::Beside;
use super::{Name, PEERS_MAX, no_such};

/// News about another station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// They have met, and it can be reached.
    Met(PeId),
    /// Its process has ended, or it has closed its station.
    Ended(PeId),
}

/// A station that this one has met.
#[derive(Debug)]
pub(super) struct Met {
    pub(super) way: Way,
    /// The number of this station there.
    pub(super) number: PeId,
}

/// How its memory is reached.
#[derive(Debug)]
pub(super) enum Way {
    /// It is on this host.
    Mapped {
        window: Window,
        /// Its private memory, if it can be copied.
        beside: Option<Beside>,
    },
    /// It is on another one.
    Carried,
}

/// See the [module text](self).
pub(super) struct Table {
    /// By number. Finding a peer needs no lock.
    met: Box<[OnceLock<Met>]>,
    ended: Box<[AtomicBool]>,
    own: Window,
    books: Mutex<Books>,
    has_news: Arc<AtomicBool>,
    /// Threads may wait for news.
    told: Condvar,
    /// Why no other host can be reached, if that is so.
    inside: Option<TransportError>,
}

struct Books {
    names: Vec<Name>,
    /// For stations on other hosts, with an open link or not: the number of this station
    /// there.
    expected: BTreeMap<PeId, PeId>,
    numbers: BTreeMap<u128, PeId>,
    news: Vec<News>,
}

impl Table {
    /// - `inside`: why no other host can be reached, if so.
    pub(super) fn new(
        name: Name,
        own: Window,
        inside: Option<TransportError>,
    ) -> Result<Self, TransportError> {
        let table = Self {
            met: (0..PEERS_MAX).map(|_| OnceLock::new()).collect(),
            ended: (0..PEERS_MAX).map(|_| AtomicBool::new(false)).collect(),
            own: own.clone(),
            books: Mutex::new(Books {
                names: vec![name],
                expected: BTreeMap::new(),
                numbers: BTreeMap::from([(name.id(), 0)]),
                news: Vec::new(),
            }),
            has_news: Arc::default(),
            told: Condvar::new(),
            inside,
        };
        if let Some(me) = table.met.first() {
            let _ = me.set(Met {
                way: Way::Mapped {
                    window: own,
                    beside: None,
                },
                number: 0,
            });
        }
        Ok(table)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// See [`Stations::number`](super::Stations::number).
    pub(super) fn number(&self, name: &Name) -> Result<PeId, TransportError> {
        let failed = |fault| TransportError::environment("numbering a station", fault);
        let mut books = self.books();
        if let Some(pe) = books.numbers.get(&name.id()).copied() {
            let unlike = |expected| {
                Err(failed(EnvironmentFault::unexpected(
                    expected,
                    "another one",
                )))
            };
            return match books.names.get(pe as usize) {
                Some(known) if !known.key().is(name.key()) => unlike("the key of that station"),
                Some(known) if !known.is_beside(name) => unlike("the host of that station"),
                Some(_) => Ok(pe),
                None => Err(no_such(pe)),
            };
        }
        let own = books.names.first();
        if let Some(why) = &self.inside
            && !own.is_some_and(|own| own.is_beside(name))
        {
            return Err(why.clone());
        }
        let pe = books.names.len() as PeId;
        if pe >= PEERS_MAX {
            return Err(failed(EnvironmentFault::InUse {
                rule: "a station meets at most 1,023 others",
            }));
        }
        books.names.push(*name);
        books.numbers.insert(name.id(), pe);
        Ok(pe)
    }

    pub(super) fn name_of(&self, pe: PeId) -> Option<Name> {
        self.books().names.get(pe as usize).copied()
    }

    pub(super) fn met(&self, pe: PeId) -> Option<&Met> {
        self.met.get(pe as usize)?.get()
    }

    /// Notes the number of this station at a station of another host. They have met when
    /// the link is [open](Self::opened).
    pub(super) fn expect(&self, pe: PeId, number: PeId) -> Result<(), TransportError> {
        let known = *self.books().expected.entry(pe).or_insert(number);
        match known == number {
            true => Ok(()),
            false => Err(renumbered(pe, known, number)),
        }
    }

    /// The link to a station of another host is open.
    pub(super) fn opened(&self, pe: PeId) {
        let number = self.books().expected.get(&pe).copied();
        if let Some(number) = number {
            let way = Way::Carried;
            // It has used another number before: the two cannot have met.
            if self.join(pe, Met { way, number }).is_err() {
                self.end(pe);
            }
        }
    }

    /// Whether they have met, and neither has gone. If so, the news of it is already
    /// there.
    pub(super) fn have_met(&self, pe: PeId) -> bool {
        let _books = self.books();
        self.met(pe).is_some() && !self.has_ended(pe)
    }

    /// Waits until they have met or until `deadline`. Returns whether they have met.
    pub(super) fn wait_until_met(&self, pe: PeId, deadline: Instant) -> bool {
        let mut books = self.books();
        loop {
            if self.has_ended(pe) {
                return false;
            }
            if self.met(pe).is_some() {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.told.wait_timeout(books, left);
            books = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Notes that they have met. They may have met before, with the same result.
    pub(super) fn join(&self, pe: PeId, met: Met) -> Result<(), TransportError> {
        let place = self.met.get(pe as usize).ok_or_else(|| no_such(pe))?;
        let number = met.number;
        // Under the lock, so that a thread that sees that they have met finds the news as
        // well.
        let books = self.books();
        if place.set(met).is_ok() {
            self.tell(books, News::Met(pe));
        } else if let Some(known) = place.get().filter(|known| known.number != number) {
            return Err(renumbered(pe, known.number, number));
        }
        Ok(())
    }

    pub(super) fn has_ended(&self, pe: PeId) -> bool {
        let ended = self.ended.get(pe as usize);
        ended.is_none_or(|ended| ended.load(Ordering::Acquire))
    }

    pub(super) fn end(&self, pe: PeId) {
        let books = self.books();
        if let Some(ended) = self.ended.get(pe as usize)
            && !ended.swap(true, Ordering::AcqRel)
        {
            self.tell(books, News::Ended(pe));
        }
    }

    /// Adds the news, and wakes the program, which may wait for it.
    fn tell(&self, mut books: MutexGuard<'_, Books>, news: News) {
        books.news.push(news);
        self.has_news.store(true, Ordering::Release);
        drop(books);
        self.told.notify_all();
        self.own.notify();
    }

    /// Whether there is news to [take](Self::take_news).
    pub(super) fn news(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_news)
    }

    pub(super) fn take_news(&self) -> Vec<News> {
        if !self.has_news.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut books = self.books();
        self.has_news.store(false, Ordering::Release);
        core::mem::take(&mut books.news)
    }
}

fn renumbered(pe: PeId, known: PeId, number: PeId) -> TransportError {
    let expected = format_args!("number {known}");
    let fault = EnvironmentFault::unexpected(expected, format_args!("{number}"));
    TransportError::environment(format!("meeting station {pe} again"), fault)
}
