//! Whom a station knows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::private::Beside;
use super::{Name, PEERS_MAX, no_such};
use crate::error::{EnvironmentFault, PeId, TransportError};
use crate::window::Window;

/// What a station hears of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// They have met: there is a way to it.
    Met(PeId),
    /// Its process has ended, or it has closed its station.
    Ended(PeId),
}

/// A station that this one has met.
#[derive(Debug)]
pub(super) struct Met {
    pub(super) window: Window,
    /// What this station is called there.
    pub(super) number: PeId,
    /// Its private memory, if there is a way.
    pub(super) beside: Option<Beside>,
}

/// See the [module text](self).
pub(super) struct Table {
    /// By number. The way to a peer is found without a lock.
    met: Box<[OnceLock<Met>]>,
    ended: Box<[AtomicBool]>,
    own: Window,
    books: Mutex<Books>,
    has_news: AtomicBool,
}

struct Books {
    names: Vec<Name>,
    numbers: BTreeMap<u128, PeId>,
    news: Vec<News>,
}

impl Table {
    pub(super) fn new(name: Name, own: Window) -> Result<Self, TransportError> {
        let table = Self {
            met: (0..PEERS_MAX).map(|_| OnceLock::new()).collect(),
            ended: (0..PEERS_MAX).map(|_| AtomicBool::new(false)).collect(),
            own: own.clone(),
            books: Mutex::new(Books {
                names: vec![name],
                numbers: BTreeMap::from([(name.id(), 0)]),
                news: Vec::new(),
            }),
            has_news: AtomicBool::new(false),
        };
        if let Some(me) = table.met.first() {
            let _ = me.set(Met {
                window: own,
                number: 0,
                beside: None,
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
            return match books.names.get(pe as usize) {
                Some(known) if known.key().is(name.key()) => Ok(pe),
                _ => Err(failed(EnvironmentFault::unexpected(
                    "the key of that station",
                    "another one",
                ))),
            };
        }
        if !books.names.iter().all(|known| known.is_beside(name)) {
            return Err(failed(EnvironmentFault::Unsupported {
                missing: "it is on another host, or in another network namespace; stations of \
                          different hosts cannot meet yet",
            }));
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

    /// They have met. They may have done so before, with the same result.
    pub(super) fn join(&self, pe: PeId, met: Met) -> Result<(), TransportError> {
        let place = self.met.get(pe as usize).ok_or_else(|| no_such(pe))?;
        let number = met.number;
        if place.set(met).is_ok() {
            self.tell(News::Met(pe));
        } else if place.get().is_some_and(|known| known.number != number) {
            let expected = format_args!("number {}", place.get().map_or(0, |met| met.number));
            let fault = EnvironmentFault::unexpected(expected, format_args!("{number}"));
            let what = format!("meeting station {pe} again");
            return Err(TransportError::environment(what, fault));
        }
        Ok(())
    }

    pub(super) fn has_ended(&self, pe: PeId) -> bool {
        let ended = self.ended.get(pe as usize);
        ended.is_none_or(|ended| ended.load(Ordering::Acquire))
    }

    pub(super) fn end(&self, pe: PeId) {
        if let Some(ended) = self.ended.get(pe as usize)
            && !ended.swap(true, Ordering::AcqRel)
        {
            self.tell(News::Ended(pe));
        }
    }

    /// Wakes the program, which may wait for it.
    fn tell(&self, news: News) {
        self.books().news.push(news);
        self.has_news.store(true, Ordering::Release);
        self.own.notify();
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
