//! What all parts of a job share: its attachment, and what it keeps beside it.

use std::cell::RefCell;
use std::ops::Deref;
use std::time::Duration;

use crate::attachment::{Attachment, Pace};
pub(crate) use crate::attachment::{Departure, Watch};
use crate::core::Caller;
use crate::error::Result;
use crate::message::Messages;
use crate::symmetric::Heap;

/// See the [module text](self).
pub(crate) struct Inner {
    attachment: Attachment,
    pub(crate) heap: RefCell<Heap>,
    pub(crate) messages: RefCell<Messages>,
    /// Symmetric objects whose handles were dropped here, by offset in the segment.
    pub(crate) dropped: RefCell<Vec<usize>>,
}

impl Deref for Inner {
    type Target = Attachment;

    #[inline(always)]
    fn deref(&self) -> &Attachment {
        &self.attachment
    }
}

impl Inner {
    pub(crate) fn new(attachment: Attachment) -> Result<Self> {
        let layout = &attachment.layout;
        Ok(Self {
            heap: RefCell::new(Heap::new(layout.heap_bytes())),
            messages: RefCell::new(Messages::new(&attachment.wire, layout)?),
            dropped: RefCell::new(Vec::new()),
            attachment,
        })
    }

    /// As [`Attachment::wait`], and makes room in the rings meanwhile.
    #[inline]
    pub(crate) fn wait<R>(
        &self,
        watch: Watch<'_>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.wait_before(None, watch, poll)
    }

    /// As [`wait`](Self::wait), for at most `limit`: nothing if that is over.
    pub(crate) fn wait_for<R>(
        &self,
        limit: Duration,
        watch: Watch<'_>,
        mut poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let deadline = self.wire.now().saturating_add(limit);
        self.wait_before(Some(deadline), watch, || match poll()? {
            Some(result) => Ok(Some(Some(result))),
            None => Ok((self.wire.now() >= deadline).then_some(None)),
        })
    }

    #[inline]
    fn wait_before<R>(
        &self,
        deadline: Option<Duration>,
        watch: Watch<'_>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        let progress = |pace| self.get_on(pace);
        self.attachment.wait_before(deadline, watch, progress, poll)
    }

    /// As [`progress`](Self::progress), and looks for what is missing in a long wait.
    pub(crate) fn get_on(&self, pace: Pace) -> Result<()> {
        self.progress()?;
        match pace {
            Pace::Quick => Ok(()),
            Pace::Slow => self.audit(),
        }
    }

    #[cold]
    fn audit(&self) -> Result<()> {
        match self.messages.try_borrow_mut() {
            Ok(mut messages) => messages.audit(),
            Err(_) => Ok(()),
        }
    }

    /// As [`Attachment::progress`], and makes room in the rings, so that two PEs that
    /// send to each other before they receive do not wait for ever.
    pub(crate) fn progress(&self) -> Result<()> {
        self.attachment.progress()?;
        match self.messages.try_borrow_mut() {
            Ok(mut messages) => {
                if messages.are_weak() {
                    // What we wait for may be the answer to a message that is still here.
                    self.wire.fence()?;
                }
                messages.progress(self)
            }
            Err(_) => Ok(()),
        }
    }
}

impl Caller for Inner {
    #[inline(always)]
    fn attachment(&self) -> &Attachment {
        self
    }

    fn progress(&self, pace: Pace) -> Result<()> {
        self.get_on(pace)
    }
}
