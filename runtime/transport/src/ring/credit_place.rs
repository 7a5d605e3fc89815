//! Where credits lie: in mapped memory, or behind a wire that only takes packets.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::{CreditLoad, CreditStore};
use crate::error::{PeId, TransportError};
use crate::route::Route;
use crate::window::Window;
use crate::wire::Wire;

/// Words in a peer's segment that only this PE writes: a credit count, and that of an eager buffer.
pub enum WordOutlet {
    /// The peer's segment is mapped.
    Mapped {
        /// The peer's segment.
        window: Window,
        /// Where the word lies.
        offset_bytes: usize,
        /// Where that of the eager buffer lies, if there is one.
        eager_offset_bytes: Option<NonZeroUsize>,
    },
    /// The wire takes whole words.
    Posted {
        /// The wire.
        wire: Arc<dyn Wire>,
        /// Whose segment.
        pe: PeId,
        /// Where the word lies.
        offset_bytes: usize,
        /// Where that of the eager buffer lies, if there is one.
        eager_offset_bytes: Option<NonZeroUsize>,
    },
}

impl WordOutlet {
    /// The word at `offset_bytes` in the segment of `pe`.
    pub fn new(
        wire: &Arc<dyn Wire>,
        pe: PeId,
        offset_bytes: usize,
    ) -> Result<Self, TransportError> {
        Ok(match wire.route(pe) {
            Some(Route::Mapped(window)) => {
                window.word(offset_bytes)?;
                Self::Mapped {
                    window,
                    offset_bytes,
                    eager_offset_bytes: None,
                }
            }
            Some(Route::Carried | Route::Read { .. } | Route::Offloaded) | None => Self::Posted {
                wire: Arc::clone(wire),
                pe,
                offset_bytes,
                eager_offset_bytes: None,
            },
        })
    }

    /// With a word for the eager buffer of this end.
    pub fn with_eager(mut self, offset_bytes: usize) -> Self {
        let (Self::Mapped {
            eager_offset_bytes, ..
        }
        | Self::Posted {
            eager_offset_bytes, ..
        }) = &mut self;
        *eager_offset_bytes = NonZeroUsize::new(offset_bytes);
        self
    }
}

impl CreditStore for WordOutlet {
    fn store_eager_credit(&self, word: u64) -> Result<(), TransportError> {
        match self {
            Self::Mapped {
                window,
                eager_offset_bytes: Some(at),
                ..
            } => window.put_word(at.get(), word),
            Self::Posted {
                wire,
                pe,
                eager_offset_bytes: Some(at),
                ..
            } => wire.store_word(*pe, at.get(), word),
            _ => Ok(()),
        }
    }

    #[inline]
    fn store_credit(&self, word: u64) -> Result<(), TransportError> {
        match self {
            Self::Mapped {
                window,
                offset_bytes,
                ..
            } => window.put_word(*offset_bytes, word),
            Self::Posted {
                wire,
                pe,
                offset_bytes,
                ..
            } => wire.store_word(*pe, *offset_bytes, word),
        }
    }
}

/// A word in the own segment that a peer writes: a credit count.
#[derive(Debug)]
pub struct CreditInlet {
    segment: Window,
    offset_bytes: usize,
    eager_offset_bytes: Option<NonZeroUsize>,
}

impl CreditInlet {
    /// The word at `offset_bytes` in the own segment.
    pub fn new(segment: &Window, offset_bytes: usize) -> Result<Self, TransportError> {
        segment.word(offset_bytes)?;
        Ok(Self {
            segment: segment.clone(),
            offset_bytes,
            eager_offset_bytes: None,
        })
    }

    /// With a word for the eager buffer.
    pub fn with_eager(mut self, offset_bytes: usize) -> Result<Self, TransportError> {
        self.segment.word(offset_bytes)?;
        self.eager_offset_bytes = NonZeroUsize::new(offset_bytes);
        Ok(self)
    }
}

impl CreditLoad for CreditInlet {
    fn load_eager_credit(&self) -> u64 {
        let at = self.eager_offset_bytes;
        at.and_then(|at| self.segment.load_word(at.get()).ok())
            .unwrap_or(0)
    }

    #[inline]
    fn load_credit(&self) -> u64 {
        // `new` has checked the offset, so the fallback is never taken.
        self.segment.load_word(self.offset_bytes).unwrap_or(0)
    }
}
