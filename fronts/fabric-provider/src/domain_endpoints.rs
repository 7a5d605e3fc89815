//! The endpoints of a domain, and the counters of its memory. A look at such a counter makes
//! progress for all of the endpoints, since any may bring what it counts.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::cntr::Counter;
use crate::ep::Endpoint;

/// See the [module text](self).
#[derive(Default)]
pub(crate) struct DomainEndpoints(Mutex<Books>);

#[derive(Default)]
struct Books {
    endpoints: Vec<Weak<Endpoint>>,
    counters: Vec<Arc<Counter>>,
}

impl DomainEndpoints {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn enter(&self, endpoint: &Arc<Endpoint>) {
        let books = &mut *self.books();
        books.endpoints.retain(|known| known.strong_count() > 0);
        books.endpoints.push(Arc::downgrade(endpoint));
        for counter in &books.counters {
            counter.endpoints().add(endpoint);
        }
    }

    /// A counter counts what is done to memory of the domain.
    pub(crate) fn watch(&self, counter: &Arc<Counter>) {
        let books = &mut *self.books();
        if !books
            .counters
            .iter()
            .any(|known| Arc::ptr_eq(known, counter))
        {
            books.counters.push(Arc::clone(counter));
        }
        for endpoint in books.endpoints.iter().filter_map(Weak::upgrade) {
            counter.endpoints().add(&endpoint);
        }
    }

    /// The counters make no progress for it any more.
    pub(crate) fn leave(&self, endpoint: &Arc<Endpoint>) {
        let books = &mut *self.books();
        books
            .endpoints
            .retain(|known| !known.ptr_eq(&Arc::downgrade(endpoint)));
        for counter in &books.counters {
            counter.endpoints().remove(endpoint);
        }
    }
}
