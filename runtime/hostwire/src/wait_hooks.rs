//! What a wait of the PE runs beside the agent and messages. In most programs this is nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, TryLockError, Weak};

use crate::error::Result;

/// Does what can be done now, and does not wait.
pub(crate) trait Helper: Send + Sync {
    /// # Errors
    /// If the PE cannot go on.
    fn step(&self) -> Result<()>;

    /// As [`step`](Self::step), in a wait that has taken long.
    ///
    /// # Errors
    /// If the PE cannot go on.
    fn audit(&self) -> Result<()>;
}

/// See the [module text](self).
#[derive(Default)]
pub(crate) struct WaitHooks {
    is_any: AtomicBool,
    all: Mutex<Vec<Weak<dyn Helper>>>,
}

impl WaitHooks {
    /// Waits run this helper from now on, as long as it exists. One call is enough.
    pub(crate) fn add(&self, helper: Weak<dyn Helper>) {
        let mut all = self
            .all
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        if !all.iter().any(|known| known.ptr_eq(&helper)) {
            all.push(helper);
        }
        self.is_any.store(true, Ordering::Release);
    }

    /// Runs all helpers, unless they already run: in another thread, or because a helper itself
    /// waits.
    #[inline]
    pub(crate) fn help(&self) -> Result<()> {
        self.each(|helper| helper.step())
    }

    /// As [`help`](Self::help), in a wait that has taken long.
    pub(crate) fn audit(&self) -> Result<()> {
        self.each(|helper| helper.audit())
    }

    #[inline]
    fn each(&self, work: impl Fn(&dyn Helper) -> Result<()>) -> Result<()> {
        match self.is_any.load(Ordering::Relaxed) {
            true => self.each_of_some(&work),
            false => Ok(()),
        }
    }

    #[cold]
    fn each_of_some(&self, work: &dyn Fn(&dyn Helper) -> Result<()>) -> Result<()> {
        let all = match self.all.try_lock() {
            Ok(all) => all,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        let here = all.iter().filter_map(Weak::upgrade);
        here.into_iter().try_for_each(|helper| work(&*helper))
    }
}
