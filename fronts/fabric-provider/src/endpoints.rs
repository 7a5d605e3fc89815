//! The endpoints that make progress when somebody looks at an object that they are bound to.

use std::sync::{Arc, OnceLock};

use hostwire::Error;
use hostwire::station::{Guard, OwnerLock};

use crate::backoff::Backoff;
use crate::cq::Reader;
use crate::ep::Endpoint;
use crate::object::Code;

/// See the [module text](self). An endpoint leaves all of them when it is closed.
///
/// An atomic exchange at each look would wait for the lines that a send has just stored to another core.
pub(crate) struct Endpoints {
    all: OwnerLock<Vec<Arc<Endpoint>>>,
    backoff: Backoff,
}

impl Default for Endpoints {
    fn default() -> Self {
        Self {
            all: OwnerLock::new(Vec::new()),
            backoff: Backoff::default(),
        }
    }
}

impl Endpoints {
    /// Nothing that is done meanwhile looks at the same object again.
    fn all(&self) -> Guard<'_, Vec<Arc<Endpoint>>> {
        self.all.lock()
    }

    /// Sets the object of these endpoints at all these places of `endpoint`. The endpoint is added only when a place
    /// has the object, since [`Endpoint::leave`] looks there.
    pub(crate) fn bind<T>(
        &self,
        endpoint: &Arc<Endpoint>,
        places: &[&OnceLock<T>],
        object: impl Fn() -> T,
    ) -> Result<(), Code> {
        if places.is_empty() || places.iter().any(|place| place.get().is_some()) {
            return Err(-libc::EINVAL);
        }
        // Not all, if another thread has bound something meanwhile.
        let set = places.iter().filter(|place| place.set(object()).is_ok());
        let set = set.count();
        if set > 0 {
            self.add(endpoint);
        }
        match set == places.len() {
            true => Ok(()),
            false => Err(-libc::EINVAL),
        }
    }

    pub(crate) fn add(&self, endpoint: &Arc<Endpoint>) {
        let mut all = self.all();
        if !all.iter().any(|known| Arc::ptr_eq(known, endpoint)) {
            all.push(Arc::clone(endpoint));
        }
    }

    /// From now on no look makes progress for it, and none is under way.
    pub(crate) fn remove(&self, endpoint: &Arc<Endpoint>) {
        let retain =
            |all: &mut Vec<Arc<Endpoint>>| all.retain(|known| !Arc::ptr_eq(known, endpoint));
        if endpoint.is_here() {
            return retain(&mut self.all());
        }
        // In a copy of the process no thread gives the lock back, and none looks.
        if let Some(mut all) = self.all.try_lock_owned() {
            retain(&mut all);
        }
    }

    /// Makes progress, for `reader` if there is one. Returns whether anything has ended. A thread that looks again and again and finds nothing gives
    /// its core away [now and then](Backoff).
    #[inline]
    pub(crate) fn progress(&self, mut reader: Option<&mut Reader<'_>>) -> Result<bool, Error> {
        let mut any = false;
        let mut looks_max = u32::MAX;
        for endpoint in self.all().iter() {
            any |= endpoint.progress(reader.as_deref_mut())?;
            looks_max = looks_max.min(endpoint.station.looks_max());
        }
        if any {
            self.backoff.clear();
        } else if self.backoff.add(looks_max) {
            std::thread::yield_now();
        }
        Ok(any)
    }

    /// A look has found something, whichever way it came.
    #[inline(always)]
    pub(crate) fn have_brought(&self) {
        self.backoff.clear();
    }

    /// The endpoint, if there is one and no other.
    pub(crate) fn only(&self) -> Option<Arc<Endpoint>> {
        match self.all().as_slice() {
            [one] => Some(Arc::clone(one)),
            _ => None,
        }
    }

    /// Does something with each.
    pub(crate) fn each<E>(
        &self,
        mut act: impl FnMut(&Arc<Endpoint>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.all().iter().try_for_each(&mut act)
    }
}
